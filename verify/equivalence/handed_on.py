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
from typing import Final

from hloproof.equivalence.boundary import entry_shapes, header_shapes
from hloproof.equivalence.meaning import EFFECTS, demanded_shapes, layouts_of, memory_key
from hloproof.models.dataflow.value_flow import branches, called
from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.hlo.opcodes import COLLECTIVES, FIRST_CLASS_PAIRS
from hloproof.models.hlo.shape import Shape, TupleShape

_FIRST: Final = frozenset({"opt-barrier", "domain", "add-dependency", "all-reduce-done"})
"""Give their first operand."""
_RESULT: Final = {"copy-done": 0, "all-gather-done": 1, "collective-permute-done": 1, "async-done": 1}
"""Give this part of what is in flight."""


def turned(module: Module) -> Iterator[tuple[Computation, Instruction]]:
    """The instructions that hand on an array in another layout, in a module in which somebody looks at bytes."""
    instructions = [(c, i) for c in module.computations for i in c.instructions]
    if not settled(module) and not any(i.opcode in EFFECTS or memory_key(i) for _, i in instructions):
        return
    for c, i in instructions:
        if any(_differ(a, b) for a, b in _handed(module, c, i)):
            yield c, i


def settled(module: Module) -> bool:
    """Whether layouts were assigned: bitcasts and schedules are made after that."""
    return module.attributes.flag("is_scheduled") or any(
        i.opcode == "bitcast" for c in module.computations for i in c.instructions
    )


def otherwise(module: Module) -> list[str]:
    """What lies otherwise than who gives or takes it demands, by what it is."""
    out = [
        f"a parameter or the result of {module.entry.name}"
        for a, b in zip(header_shapes(module), entry_shapes(module), strict=False)
        if _differ(a, b)
    ]
    for c in module.computations:
        for i in c.instructions:
            demands = demanded_shapes(i)
            out += [
                f"an operand of {i.opcode} {i.name}"
                for a, b in zip(demands, c.operand_shapes(i), strict=False)
                if _differ(a, b)
            ]
    return out


def _differ(a: Shape, b: Shape) -> bool:
    return [*layouts_of(a)] != [*layouts_of(b)]


def _handed(module: Module, c: Computation, i: Instruction) -> Iterator[tuple[Shape, Shape]]:
    """What is one buffer, as two names of it say."""
    given = c.operand_shapes(i)
    bodies = [module.by_name[name] for name in i.attributes.computations()]
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
    elif i.opcode == "async-update":
        yield i.shape, given[0]
    elif i.opcode in ("send", "recv-done"):
        sent, was = i.shape, given[0]
        assert isinstance(sent, TupleShape)
        yield sent.elements[0], was.elements[0] if isinstance(was, TupleShape) and i.opcode == "recv-done" else was
    elif i.opcode in ("call", "fusion"):
        yield from zip((p.shape for p in bodies[0].parameters), given, strict=True)
        yield i.shape, bodies[0].root.shape
    elif i.opcode == "async-start" and isinstance(i.shape, TupleShape):
        yield from zip((p.shape for p in bodies[0].parameters), given, strict=True)
        yield i.shape.elements[1], bodies[0].root.shape
    elif i.opcode in COLLECTIVES:
        whole = i.shape
        if i.opcode in FIRST_CLASS_PAIRS and i.opcode != "all-reduce-start" and isinstance(whole, TupleShape):
            whole = whole.elements[1]
        results = whole.elements if isinstance(whole, TupleShape) else (whole,)
        yield from zip(results, given, strict=False)
    elif i.opcode == "while":
        yield i.shape, given[0]
        yield from ((p.shape, given[0]) for one in bodies for p in one.parameters)
        yield from ((one.root.shape, given[0]) for one in bodies if one.name == called(i, "body"))
    elif i.opcode == "conditional":
        taken = [module.by_name[name] for name in branches(i)]
        yield from ((one.root.shape, i.shape) for one in taken)
        yield from ((p.shape, one) for branch, one in zip(taken, given[1:], strict=True) for p in branch.parameters)
