"""Sugar of asynchronous operations and what it stands for, as functions from modules to modules.

`X-start`, `X-update`, `X-done` stand for `async-start`, `async-update`, `async-done` around a computation that holds X
alone; `call-start` with `to_apply=c` for `async-start` with `calls=c`. The computation that desugaring makes is called
after its start, `start.async`; by this name sugaring knows it again, so that the two are inverse. (Attributes of the
start come first in sugar, as they are printed.)
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from hloproof.models.dataflow.alias_classes import shape_at
from hloproof.models.dataflow.async_chain import AsyncChains, link_of
from hloproof.models.dataflow.value_flow import HloPosition, called
from hloproof.models.hlo.attributes import Attributes, AttributeValue, ComputationRef, Quoted
from hloproof.models.hlo.inference.infer import signatures_of, what_is_wrong
from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.hlo.shape import Shape, TupleShape

OF_THE_START: Final = frozenset({"async_execution_thread", "control-predecessors", "metadata", "frontend_attributes"})
"""Attributes of the start itself; the others belong to the operation that it wraps."""


def has_sugar(module: Module) -> bool:
    """Some start of the module is written with sugar."""
    return any(
        (link := link_of(i.opcode)) is not None and link.form == "sugared"
        for c in module.computations
        for i in c.instructions
        if i.opcode.endswith("-start")
    )


def desugar(module: Module) -> Module:
    """The module in generic form. Links without a start in the module stay as they are, and so do those of an operation
    that cannot be, or not with this result: the claims about chains say what is wrong."""
    chains = AsyncChains(module)
    changed: dict[HloPosition, Instruction] = {}
    made: dict[str, list[Computation]] = {}
    taken = {c.name for c in module.computations}
    signatures = signatures_of(module)
    for start, link in chains.links.items():
        if link.form != "sugared" or link.role != "start":
            continue
        i = chains.flow.instruction(start)
        if link.opcode == "call":
            pairs = tuple(("calls" if k == "to_apply" else k, v) for k, v in i.attributes.pairs)
        else:
            name = _unique(f"{i.name}.async", taken)
            wrapped = _wrapped(chains, start, name)
            root, operands = wrapped.root, tuple(p.shape for p in wrapped.parameters)
            if what_is_wrong(root.opcode, operands, root.attributes, root.shape, signatures):
                continue
            taken.add(name)
            made.setdefault(start.computation, []).append(wrapped)
            pairs = (("calls", ComputationRef(name)), *(p for p in i.attributes.pairs if p[0] in OF_THE_START))
        changed[start] = replace(i, opcode="async-start", attributes=Attributes(pairs))
        for member in chains.members[start]:
            other = chains.flow.instruction(member)
            changed[member] = replace(other, opcode=f"async-{chains.links[member].role}")
    return _rebuilt(module, changed, made, frozenset())


def sugar(module: Module) -> Module:
    """The module with sugar wherever there is one for it."""
    chains = AsyncChains(module)
    changed: dict[HloPosition, Instruction] = {}
    folded: set[str] = set()
    for start, link in chains.links.items():
        if link.form != "generic" or link.role != "start":
            continue
        i = chains.flow.instruction(start)
        inner = module.find(called(i, "calls"))
        if inner is None:
            continue
        if re.fullmatch(re.escape(i.name) + r"\.async(\.\d+)?", inner.name) and _is_one_operation(inner):
            opcode = inner.root.opcode
            folded.add(inner.name)
            own = tuple(p for p in i.attributes.pairs if p[0] != "calls")
            pairs: tuple[tuple[str, AttributeValue], ...] = (*own, *inner.root.attributes.pairs)
        else:
            opcode = "call"
            pairs = tuple(("to_apply" if k == "calls" else k, v) for k, v in i.attributes.pairs)
        changed[start] = replace(i, opcode=f"{opcode}-start", attributes=Attributes(pairs))
        for member in chains.members[start]:
            other = chains.flow.instruction(member)
            kept = tuple(p for p in other.attributes.pairs if p[0] != "calls")
            changed[member] = replace(
                other, opcode=f"{opcode}-{chains.links[member].role}", attributes=Attributes(kept)
            )
    return _rebuilt(module, changed, {}, frozenset(folded))


def _unique(base: str, taken: set[str]) -> str:
    name, n = base, 0
    while name in taken:
        n += 1
        name = f"{base}.{n}"
    return name


def _wrapped(chains: AsyncChains, start: HloPosition, name: str) -> Computation:
    """The computation that sugar leaves out: a parameter for each operand that the chain binds, and the operation."""
    i, link = chains.flow.instruction(start), chains.links[start]
    shapes = chains.bound_operands(start)
    parameters = tuple(
        Instruction(f"p{k}", "parameter", s, parameter_number=k, position=i.position) for k, s in enumerate(shapes)
    )
    result: Shape = chains.wrapped(start).result or shape_at(i.shape, (1,)) or TupleShape()
    kept = Attributes(tuple(p for p in i.attributes.pairs if p[0] not in OF_THE_START))
    root = Instruction(link.opcode, link.opcode, result, tuple(p.name for p in parameters), kept, position=i.position)
    thread = chains.thread(i)
    where = Attributes((("execution_thread", Quoted(thread)),)) if thread != "main" else Attributes()
    return Computation(name, (*parameters, root), root.name, where, i.position)


def _is_one_operation(computation: Computation) -> bool:
    """Parameters in order and an operation on exactly these."""
    *parameters, root = computation.instructions
    return (
        computation.root_name == root.name
        and all(p.opcode == "parameter" for p in parameters)
        and root.operands == tuple(p.name for p in computation.parameters)
        and link_of(root.opcode) is None
    )


def _rebuilt(
    module: Module,
    changed: dict[HloPosition, Instruction],
    made: dict[str, list[Computation]],
    left_out: frozenset[str],
) -> Module:
    """The module with instructions exchanged, computations put in before the one that needs them, and some left out."""
    computations: list[Computation] = []
    for c in module.computations:
        if c.name in left_out:
            continue
        computations.extend(made.get(c.name, ()))
        instructions = tuple(changed.get(HloPosition(c.name, i.name), i) for i in c.instructions)
        computations.append(replace(c, instructions=instructions) if instructions != c.instructions else c)
    return replace(module, computations=tuple(computations))
