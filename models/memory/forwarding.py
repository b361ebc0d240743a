"""What each shape index of an instruction's result holds: a value of its own, or one made elsewhere (XLA's dataflow
analysis).

The rules are data flow, not semantics: a bitcast, a get-tuple-element, the elements of a tuple, the done of an
asynchronous operation and what a call returns have no memory of their own; a loop's state and the result of a
conditional merge several values; everything else makes one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from hloproof.models.dataflow.async_chain import AsyncChains, link_of
from hloproof.models.dataflow.value_flow import branches, called
from hloproof.models.hlo.module import Instruction
from hloproof.models.hlo.opcodes import HANDS_ON, IN_STEPS
from hloproof.models.hlo.shape import Shape, ShapeIndex, TupleShape
from hloproof.models.memory.assignment import Key

PASS_ON: Final = HANDS_ON | {"bitcast", "add-dependency", "set-dimension-size"}
"""The result is the first operand, tuple tree and all."""
CALLS: Final = IN_STEPS
"""What runs other computations in its place in the order."""

_Kind = Literal["makes", "forwards", "merges"]
Root = Callable[[str | None, ShapeIndex], Key | None]
"""The place at a shape index of the root of a computation."""


@dataclass(frozen=True, slots=True)
class Origin:
    """`makes` has no sources; `forwards` has one; `merges` one for each way in. `optional`: a table that some versions
    of the compiler give no slot."""

    kind: _Kind
    sources: tuple[Key, ...] = ()
    optional: bool = False


MAKES: Final = Origin("makes")
_TABLE: Final = Origin("makes", optional=True)


def origin_of(i: Instruction, at: ShapeIndex, shape: Shape, root: Root) -> Origin:
    """The origin of shape index `at` of an instruction that is not a parameter. `shape` is the shape there."""
    opcode = i.opcode
    if opcode == "get-tuple-element":
        return _from(i, 0, (i.attributes.integer("index", 0), *at))
    if opcode == "tuple":
        return _from(i, at[0], at[1:]) if at else MAKES
    if opcode in PASS_ON or (opcode == "copy" and at):  # of a tuple only the outermost table is copied
        return _from(i, 0, at)
    if opcode == "while":
        return _merge((i.operands[0], at), root(called(i, "body"), at))
    if opcode == "conditional":
        return _merge(*(root(name, at) for name in branches(i)))
    if opcode == "call":
        return _merge(root(called(i, "to_apply") or called(i, "calls"), at))
    link = link_of(opcode)
    if link is None:
        return MAKES
    if link.form == "explicit":
        return _explicit(i, at, shape, link.role, link.opcode)
    return _generic(i, at, shape, link.role, root)


def _from(i: Instruction, operand: int, at: ShapeIndex) -> Origin:
    return Origin("forwards", ((i.operands[operand], at),))


def _merge(*sources: Key | None) -> Origin:
    found = tuple(s for s in sources if s is not None)
    return Origin("merges", found) if found else MAKES


def _explicit(i: Instruction, at: ShapeIndex, shape: Shape, role: str, opcode: str) -> Origin:
    table = isinstance(shape, TupleShape)
    match opcode, role:
        case "copy", "start":
            return _from(i, 0, ()) if at == (1,) else MAKES
        case "copy", "done":
            return _from(i, 0, (0, *at))
        case "all-reduce", "done":
            return _from(i, 0, at)
        case (("all-gather" | "collective-permute"), "start") if at[:1] == (0,):
            if len(i.operands) == 1:
                return _from(i, 0, at[1:])
            return _from(i, at[1], at[2:]) if len(at) > 1 else Origin("makes", optional=opcode == "collective-permute")
        case (("all-gather" | "collective-permute"), "done"):
            # The done of several makes a table of its own.
            return MAKES if table else _from(i, 0, (1, *at))
        case "send", "start" if at[:1] == (0,):
            return _from(i, 0, at[1:])
        case "recv", "done" if at[:1] == (0,):
            return _from(i, 0, at)
    return MAKES


def _generic(i: Instruction, at: ShapeIndex, shape: Shape, role: str, root: Root) -> Origin:
    """async-start: ((operands), result, contexts...). Tables around them are made anew."""
    if role == "start":
        if at[:1] == (0,) and len(at) > 1 and at[1] < len(i.operands):
            return _from(i, at[1], at[2:])
        if at == (0,) and not isinstance(shape, TupleShape) and len(i.operands) == 1:
            return _from(i, 0, ())  # older text has the only operand itself there
        if at[:1] == (1,):
            inner = root(AsyncChains.runs(i), at[1:])
            if inner is None or isinstance(shape, TupleShape):
                return _TABLE  # without a computation in the text the result is named after what is not there
            return Origin("forwards", (inner,))
        return Origin("makes", optional=at == (0,))
    if isinstance(shape, TupleShape):
        return _TABLE
    return _from(i, 0, at if role == "update" else (1, *at))
