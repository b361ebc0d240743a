"""What an instruction runs: the computations behind it, what they are given, and what they hand back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hloproof.models.dataflow.accesses import Spot, Summary
from hloproof.models.dataflow.alias_classes import Buffers, positions, shape_at
from hloproof.models.dataflow.async_chain import link_of
from hloproof.models.dataflow.value_flow import HloPosition, branches, called, only_asks
from hloproof.models.hlo.module import Computation, Instruction
from hloproof.models.hlo.opcodes import IN_STEPS
from hloproof.models.hlo.shape import ArrayShape, BufferShape, ShapeIndex, TupleShape


class Callees:
    """Of the instructions of one computation. Of its callees the summaries are known."""

    def __init__(self, buffers: Buffers, computation: Computation, summaries: Mapping[str, Summary]) -> None:
        self.buffers, self.computation, self.summaries = buffers, computation, summaries

    def leaves(self, name: str) -> list[Spot]:
        """The parts of a result that have elements."""
        shape = self.computation.by_name[name].shape
        return [(name, at) for at in positions(shape) if isinstance(shape_at(shape, at), ArrayShape | BufferShape)]

    def bodies(self, i: Instruction) -> list[tuple[str, list[str]]]:
        """The computations an instruction runs, each with the operands that become its parameters."""
        if i.opcode == "call":
            name = called(i, "to_apply") or called(i, "calls")
            return [(name, list(i.operands))] if name else []
        if i.opcode == "while":
            names = [called(i, "body"), called(i, "condition")]
            return [(name, [i.operands[0]]) for name in names if name]
        if i.opcode == "conditional":
            return [(name, [i.operands[k + 1]]) for k, name in enumerate(branches(i)) if k + 1 < len(i.operands)]
        link = link_of(i.opcode)
        if link is not None and link.role == "start" and link.form != "explicit":
            name = self.buffers.chains.runs(i)
            return [(name, list(i.operands))] if name else []
        return []

    def handing_back(self, spot: Spot) -> list[tuple[str, list[Spot], ShapeIndex]]:
        """The computations whose result stands at a spot: each with where its parameters lie, and the position in its
        root."""
        i, at = self.computation.by_name[spot[0]], spot[1]
        if i.opcode in IN_STEPS:
            return [
                (body, [(o, ()) for o in operands], at) for body, operands in self.bodies(i) if not only_asks(i, body)
            ]
        link = link_of(i.opcode)
        if link is None or link.form == "explicit" or (link.role != "done" and at[:1] != (1,)):
            return []
        # Wherever they were bound, the state of the chain holds the operands at {0}; older text has one there.
        state = self.computation.by_name[i.operands[0]] if link.role == "done" else i
        held = shape_at(state.shape, (0,))
        parts = [(0, k) for k in range(len(held.elements))] if isinstance(held, TupleShape) else [(0,)]
        operands: list[Spot] = [(state.name, part) for part in parts]
        chains, here = self.buffers.chains, HloPosition(self.computation.name, i.name)
        runs = [
            chains.runs(chains.flow.instruction(start))
            for start in ((here,) if link.role == "start" else sorted(chains.starts[here]))
        ]
        return [(body, operands, at if link.role == "done" else at[1:]) for body in runs if body is not None]

    def handed(self, body: str, operands: Sequence[Spot], at: ShapeIndex) -> Spot | None:
        """Where the part of an argument lies that a computation hands back at a position of its root."""
        summary = self.summaries.get(body)
        origin = summary.passes.get(at) if summary is not None else None
        if origin is None or origin[0] >= len(operands):
            return None
        name, index = operands[origin[0]]
        return name, (*index, *origin[1])
