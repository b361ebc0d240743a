"""Instructions that hand on an array in another layout than it has.

Trusted. A layout is no part of what a module computes as long as nobody looks at bytes. A bitcast does, and calls and
exchanges that demand layouts: what they are given has to lie as its shape says. An operation that computes its result
writes it in any layout; a tuple, a call or a barrier writes nothing, and a collective hands on bytes, so that another
layout there is a change of elements, which nobody models: a copy that a pass has lost.

What calls, outfeeds and the header of a module demand is an order to whoever assigns layouts, before that is done; an
array that lies otherwise afterwards is another array.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any, Final

from hloproof.equivalence.boundary import entry_shapes, header_shapes
from hloproof.equivalence.meaning import EFFECTS, demanded_shapes, layouts_of
from hloproof.models.dataflow.value_flow import branches, called
from hloproof.models.hlo.async_syntax import step_of
from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.hlo.opcodes import COLLECTIVES, FIRST_CLASS_PAIRS, HANDS_ON
from hloproof.models.hlo.shape import Shape, TupleShape

_FIRST: Final = HANDS_ON | {"add-dependency", "all-reduce-done"}
"""Give their first operand."""
_RESULT: Final = {"copy-done": 0, "all-gather-done": 1, "collective-permute-done": 1}
"""Give this part of what is in flight."""

_LOOKS: Final = EFFECTS | {"custom-call"}
"""Look at bytes, or may do so, whether or not they say in which layout."""


def turned(module: Module) -> Iterator[tuple[Computation, Instruction]]:
    """The instructions that hand on an array in another layout, in a module in which somebody looks at bytes."""
    instructions = [(c, i) for c in module.computations for i in c.instructions]
    if not settled(module) and not any(i.opcode in _LOOKS for _, i in instructions):
        return
    for c, i in instructions:
        if any(_differ(a, b) for a, b in _handed(module, c, i)):
            yield c, i


def settled(module: Module) -> bool:
    """Whether layouts were assigned: bitcasts, fusions and schedules are made after that."""
    return module.attributes.flag("is_scheduled") or any(
        i.opcode in ("bitcast", "fusion") for c in module.computations for i in c.instructions
    )


def otherwise(module: Module) -> list[tuple[Any, ...]]:
    """What lies otherwise than who gives or takes it demands: its name, the number of each such array in it, and what
    of its layout should be which, and is which."""
    said, own = header_shapes(module), entry_shapes(module)
    names = [*(f"parameter {number} of the entry" for number in range(len(own) - 1)), "the result of the entry"]
    found = [*zip(names, said, own, strict=True)] if said else []
    for c in module.computations:
        for i in c.instructions:
            pairs = zip(demanded_shapes(i), c.operand_shapes(i), strict=False)
            who = f"{i.opcode} {i.name} of {c.name}"  # a name is of one instruction in its computation alone
            found += [(f"operand {number} of {who}", a, b) for number, (a, b) in enumerate(pairs)]
    return [
        (name, number, part, *both)
        for name, a, b in found
        for number, arrays in enumerate(zip_longest(layouts_of(a), layouts_of(b), fillvalue=()))
        for part, both in enumerate(zip_longest(*arrays))
        if both[0] != both[1]
    ]


def _differ(a: Shape, b: Shape) -> bool:
    return [*layouts_of(a)] != [*layouts_of(b)]


def _handed(module: Module, c: Computation, i: Instruction) -> Iterator[tuple[Shape, Shape]]:
    """What is one buffer, as two names of it say."""
    given = c.operand_shapes(i)
    bodies = [module.by_name[name] for name in i.attributes.computations()]
    step = step_of(i.opcode)  # `call-start` is what XLA writes for an `async-start` of a call
    if i.opcode in _FIRST:
        yield i.shape, given[0]
    elif i.opcode == "tuple":
        yield i.shape, TupleShape(given)
    elif i.opcode == "get-tuple-element" and isinstance(given[0], TupleShape):
        yield i.shape, given[0].elements[i.attributes.integer("index", 0)]
    elif i.opcode in _RESULT and isinstance(given[0], TupleShape):
        yield i.shape, given[0].elements[_RESULT[i.opcode]]
    elif i.opcode == "copy-start" and isinstance(i.shape, TupleShape):  # moves bytes as they are
        yield from ((part, given[0]) for part in i.shape.elements[:2])
    elif step == "update":
        yield i.shape, given[0]
    elif step == "done" and isinstance(given[0], TupleShape):
        yield i.shape, TupleShape(given[0].elements[1:2])
    elif i.opcode in ("send", "recv-done"):
        sent, was = i.shape, given[0]
        assert isinstance(sent, TupleShape)
        yield sent.elements[0], was.elements[0] if isinstance(was, TupleShape) and i.opcode == "recv-done" else was
    elif i.opcode in ("call", "fusion") or (step == "start" and bodies):
        # A fusion may be given more than it takes, and a start less, which is bound later.
        yield from zip((p.shape for p in bodies[0].parameters), given, strict=False)
        result = i.shape.elements[1] if step == "start" and isinstance(i.shape, TupleShape) else i.shape
        yield result, bodies[0].root.shape
    elif i.opcode in COLLECTIVES:
        whole = i.shape
        if i.opcode in FIRST_CLASS_PAIRS and i.opcode != "all-reduce-start" and isinstance(whole, TupleShape):
            whole = whole.elements[1]
        results = whole.elements if isinstance(whole, TupleShape) else (whole,)
        yield from zip(results, given, strict=False)
        if i.opcode == "ragged-all-to-all" or "slice_sizes" in i.attributes:  # writes into its second operand
            yield whole, given[1]
    elif i.opcode == "while":
        yield i.shape, given[0]
        yield from ((p.shape, given[0]) for one in bodies for p in one.parameters)
        yield from ((one.root.shape, given[0]) for one in bodies if one.name == called(i, "body"))
    elif i.opcode == "conditional":
        taken = [module.by_name[name] for name in branches(i)]
        yield from ((one.root.shape, i.shape) for one in taken)
        yield from ((p.shape, one) for branch, one in zip(taken, given[1:], strict=True) for p in branch.parameters)
