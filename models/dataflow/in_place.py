"""Operations that a compiler performs in the buffer of an operand: which output shares with which operand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from hloproof.models.dataflow.async_chain import declared_aliases
from hloproof.models.dataflow.value_flow import called
from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.hlo.shape import ShapeIndex, leaves

Pair = tuple[ShapeIndex, int, ShapeIndex]
"""A position of the output, an operand number, a position of that operand."""

_FIRST_OPERAND: Final = frozenset({"dynamic-update-slice", "set-dimension-size"})
_WITH_OFFSETS: Final = 4
"""Operands of a permutation that moves slices: what is sent, where it goes, and the offsets in both."""


def in_place_operand(i: Instruction) -> tuple[Pair, ...]:
    """The pairs of a single instruction."""
    if i.opcode in _FIRST_OPERAND:
        return (((), 0, ()),)
    if i.opcode in ("scatter", "sort"):
        count = len(i.operands) if i.opcode == "sort" else len(i.operands) // 2
        if count == 1:
            return (((), 0, ()),)
        return tuple(((k,), k, ()) for k in range(count))
    # The second operand is where the parts go; what nobody sends to stays what it was.
    # Of several arrays each: the tables of a tuple are not written.
    if i.opcode == "ragged-all-to-all" or (i.opcode == "collective-permute" and len(i.operands) == _WITH_OFFSETS):
        return tuple((at, 1, at) for at, _ in leaves(i.shape))
    # One-sided memory of NVSHMEM needs two buffers, and XLA gives it two.
    if i.opcode == "all-reduce-start" and "nvshmem" not in str(i.attributes.get("backend_config")).lower():
        return tuple((at, at[0] if at else 0, ()) for at, _ in leaves(i.shape) if at[:1] < (len(i.operands),))
    if i.opcode == "collective-permute-start" and len(i.operands) == _WITH_OFFSETS:
        return tuple((at, 1, at[1:]) for at, _ in leaves(i.shape) if at[:1] == (1,))
    return ()


def fused_in_place(module: Module, i: Instruction) -> tuple[Pair, ...]:
    """The pairs of a fusion: results that are made in place of a parameter, or of a part of one, by what stands behind
    tuples and bitcasts, in a fusion inside of it, too."""
    body = module.find(called(i, "calls")) if i.opcode == "fusion" else None
    if body is None:
        return ()
    out: list[Pair] = []
    for output, _ in leaves(i.shape):
        made, at = _behind(body, body.root_name, output)
        for own, n, index in _alone_or_fused(module, made):
            number, part = _given(module, body, made.operands[n], index) if own == at else (None, ())
            if number is not None and number < len(i.operands):
                out.append((output, number, part))
    return tuple(out)


def _alone_or_fused(module: Module, i: Instruction) -> Iterator[Pair]:
    """A sort is left out: where its operands lie elsewhere it copies them, and nothing says that they do not."""
    declared = tuple((e.output_index, e.operand, e.operand_index) for e in declared_aliases(i))
    for pair in declared + (() if i.opcode == "sort" else in_place_operand(i)) + fused_in_place(module, i):
        if 0 <= pair[1] < len(i.operands):
            yield pair


def _behind(body: Computation, name: str, at: ShapeIndex) -> tuple[Instruction, ShapeIndex]:
    """The instruction that makes a part of a result, and which part of its own result that is."""
    i = body.by_name[name]
    while i.opcode == "tuple" and at and at[0] < len(i.operands):
        i, at = body.by_name[i.operands[at[0]]], at[1:]
    while i.opcode in ("get-tuple-element", "bitcast"):
        at = (i.attributes.integer("index", 0), *at) if i.opcode == "get-tuple-element" else at
        i = body.by_name[i.operands[0]]
    return i, at


def _given(module: Module, body: Computation, name: str, at: ShapeIndex) -> tuple[int | None, ShapeIndex]:
    """The parameter, and the part of it, in whose buffer an array of a fused computation lies."""
    i, at = _behind(body, name, at)
    pairs = _alone_or_fused(module, i) if i.opcode == "fusion" else ()
    inside = next(((n, part) for own, n, part in pairs if own == at), None)
    if inside is not None:
        return _given(module, body, i.operands[inside[0]], inside[1])
    return i.parameter_number, at


def updating(by_name: Mapping[str, Instruction], name: str) -> Instruction | None:
    """The dynamic-update-slice or scatter that an instruction is, behind bitcasts."""
    i = by_name[name]
    while i.opcode == "bitcast":
        i = by_name[i.operands[0]]
    return i if i.opcode in ("dynamic-update-slice", "scatter") else None


def is_update(body: Computation, output: ShapeIndex, number: int) -> bool:
    """This result of a fused computation is an update of all that a parameter holds, behind bitcasts alone."""
    if body.root.opcode == "tuple" and len(output) == 1:
        update = updating(body.by_name, body.root.operands[output[0]])
    else:
        update = None if output else updating(body.by_name, body.root_name)
    return update is not None and parameter_behind(body, update.operands[0]) == number


def parameter_behind(body: Computation, name: str) -> int | None:
    """The number of the parameter whose buffer an instruction of a fused computation passes on, or None."""
    i = body.by_name[name]
    while i.opcode == "bitcast":
        i = body.by_name[i.operands[0]]
    return i.parameter_number if i.opcode == "parameter" else None
