"""What each output element depends on, by nested loops written down from what the operations are documented to do.

Values are sets of elements: an arithmetic operation on sets is their union.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.shape import ArrayShape

Index = tuple[int, ...]
Read = tuple[Any, ...]
"""(operand, *tuple position, element)."""
Reads = dict[Index, set[Read]]
DEVICES = 1

_HEAD = """HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

ge {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=GE
}

step {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  s = f32[] add(a, b)
  ROOT t = (f32[], f32[]) tuple(s, s)
}

"""


def _text(operands: str, root: str) -> str:
    lines = [f"  p{n} = {shape} parameter({n})" for n, shape in enumerate(operands.split(" ; "))]
    body = "\n".join([*lines, f"  ROOT r = {root}"])
    return f"{_HEAD}ENTRY e {{\n{body}\n}}\n"


def _sizes(op: Operation, operand: int) -> tuple[int, ...]:
    shape = op.operands[operand]
    assert isinstance(shape, ArrayShape)
    return shape.dimensions


def _box(sizes: Sequence[int]) -> Iterator[Index]:
    return product(*(range(n) for n in sizes))


def pad_value(op: Operation, output: int) -> Reads:
    """[low 1, high -1, interior 2] and [low -1, high 2, interior 0] on f32[3,4]: elements are placed, the rest is
    filled, then the edges are cut."""
    row = [None, 0, None, None, 1, None, None]  # the last element is cut off
    column = [1, 2, 3, None, None]
    out: Reads = {}
    for i, a in enumerate(row):
        for j, b in enumerate(column):
            out[i, j] = {(1, ())} if a is None or b is None else {(0, (a, b))}
    return out


def select_and_scatter(op: Operation, output: int) -> Reads:
    """Window 3 every 2 over 6 elements with one padded in front; source of 3. The windows' elements are compared."""
    out: Reads = defaultdict(set)
    for s in range(3):
        window = [p - 1 for p in range(2 * s, 2 * s + 3) if 0 <= p - 1 < 6]
        for d in window:
            out[d,] |= {(1, (s,))} | {(0, (x,)) for x in window}
    for d in range(6):
        out[d,] |= {(2, ())}
    return out


def triangular_solve(op: Operation, output: int) -> Reads:
    """Substitution, element by element, with sets for numbers."""
    attributes = op.attributes
    left, lower, unit = (attributes.flag(name) for name in ("left_side", "lower", "unit_diagonal"))
    turned = getattr(attributes.get("transpose_a"), "text", "") == "TRANSPOSE"
    rows, columns = _sizes(op, 1)
    n = rows if left else columns

    def a(i: int, j: int) -> set[Read] | None:
        """Element of op(a); None where it counts as zero."""
        i, j = (j, i) if turned else (i, j)
        return {(0, (i, j))} if (j <= i if lower else i <= j) else None

    out: Reads = {}
    done: dict[Index, set[Read]] = {}
    # Repeatedly solve the unknown whose equation has no other unsolved one left.
    for line in range(columns if left else rows):
        unsolved = set(range(n))
        others: list[int] = []
        while unsolved:
            for k in sorted(unsolved):
                others = [m for m in range(n) if m != k and (a(k, m) if left else a(m, k)) is not None]
                if not set(others) & unsolved:
                    break
            at = (k, line) if left else (line, k)
            total = {(1, at)}
            for m in others:
                total |= (a(k, m) if left else a(m, k)) or set()
                total |= done[(m, line) if left else (line, m)]
            if not unit:
                total |= {(0, (k, k))}
            done[at] = total
            unsolved.remove(k)
    out.update(done)
    return out


def scan(op: Operation, output: int) -> Reads:
    """A running sum of f32[3], forwards or backwards, with the final carry."""
    order = range(2, -1, -1) if op.attributes.flag("is_reverse") else range(3)
    out: Reads = {}
    carry: set[Read] = {(1, ())}
    for i in order:
        carry = carry | {(0, (i,))}
        if output == 0:
            out[i,] = carry
    return out if output == 0 else {(): carry}


def batch_norm_training(op: Operation, output: int) -> Reads:
    """Feature dimension 1 of f32[2,3]: mean and variance over the rest, then normalised, scaled, shifted."""
    statistics = {f: {(0, (i, f)) for i in range(2)} for f in range(3)}
    if output > 0:
        return {(f,): set(statistics[f]) for f in range(3)}
    return {(i, f): {*statistics[f], (0, (i, f)), (1, (f,)), (2, (f,))} for i, f in _box((2, 3))}


def batch_norm_grad(op: Operation, output: int) -> Reads:
    of_gradient = {f: {(4, (i, f)) for i in range(2)} for f in range(3)}
    offset: Reads = {(f,): set(of_gradient[f]) for f in range(3)}
    if output == 2:
        return offset
    scale: Reads = {(f,): {*of_gradient[f], *((0, (i, f)) for i in range(2)), (2, (f,)), (3, (f,))} for f in range(3)}
    if output == 1:
        return scale
    return {(i, f): {*scale[f,], (1, (f,))} for i, f in _box((2, 3))}


def sort(op: Operation, output: int) -> Reads:
    return {(i, j): {(0, (m, j)) for m in range(3)} for i, j in _box((3, 2))}


def bitcast_layouts(op: Operation, output: int) -> Reads:
    """f32[2,6]{0,1} into f32[3,4]{1,0}: count through memory in both shapes."""
    memory: list[Index] = [(i, j) for j in range(6) for i in range(2)]
    out: Reads = {}
    for place, d in enumerate(_box((3, 4))):
        out[d] = {(0, memory[place])}
    return out


def bitcast_tiled(op: Operation, output: int) -> Reads:
    """f32[3,4]{1,0:T(2,2)} into f32[4,2,2]: memory holds tiles of two by two, row by row of tiles, and the rows past
    the third are padding."""
    memory: dict[int, Index] = {}
    for i, j in _box((3, 4)):
        memory[((i // 2) * 2 + j // 2) * 4 + (i % 2) * 2 + j % 2] = (i, j)
    return {d: ({(0, memory[p])} if p in memory else set()) for p, d in enumerate(_box((4, 2, 2)))}


def bitcast_convert_narrow(op: Operation, output: int) -> Reads:
    return {(i, k): {(0, (i,))} for i, k in _box((3, 4))}


def bitcast_convert_wide(op: Operation, output: int) -> Reads:
    return {(i,): {(0, (i, k)) for k in range(2)} for i in range(3)}


def tuple_element(op: Operation, output: int) -> Reads:
    return {(i,): {(0, 1, output, (i,))} for i in range(2 + output)}


def scaled_dot(op: Operation, output: int) -> Reads:
    """f32[2,4] by f32[4,3], one left scale for two columns."""
    out: Reads = {}
    for i, j in _box((2, 3)):
        out[i, j] = set()
        for k in range(4):
            out[i, j] |= {(0, (i, k)), (1, (k, j)), (2, (i, k // 2)), (3, (k // 4, j))}
    return out


def fft_real(op: Operation, output: int) -> Reads:
    return {(i, k): {(0, (i, m)) for m in range(4)} for i, k in _box((2, 3))}


_SOLVE = "f32[3,3] ; f32[3,2]", "f32[3,2] triangular-solve(p0, p1), left_side=true"
_SOLVE_RIGHT = "f32[3,3] ; f32[2,3]", "f32[2,3] triangular-solve(p0, p1), left_side=false"


def _solves() -> dict[str, tuple[str, Callable[[Operation, int], Reads]]]:
    out: dict[str, tuple[str, Callable[[Operation, int], Reads]]] = {}
    for operands, root in (_SOLVE, _SOLVE_RIGHT):
        for lower in ("true", "false"):
            for turned in ("NO_TRANSPOSE", "TRANSPOSE"):
                for unit in ("true", "false"):
                    text = f"{root}, lower={lower}, transpose_a={turned}, unit_diagonal={unit}"
                    out[f"solve {text.split('), ')[1]}"] = (_text(operands, text), triangular_solve)
    return out


DIRECT: dict[str, tuple[str, Callable[[Operation, int], Reads]]] = {
    "pad": (_text("f32[3,4] ; f32[]", "f32[7,5] pad(p0, p1), padding=1_-1_2x-1_2_0"), pad_value),
    "select-and-scatter": (
        _text(
            "f32[6] ; f32[3] ; f32[]",
            "f32[6] select-and-scatter(p0, p1, p2), window={size=3 stride=2 pad=1_0}, select=ge, scatter=add",
        ),
        select_and_scatter,
    ),
    "scan": (
        _text("f32[3] ; f32[]", "(f32[3], f32[]) scan(p0, p1), dimensions={0}, num_carries=1, to_apply=step"),
        scan,
    ),
    "scan reversed": (
        _text(
            "f32[3] ; f32[]",
            "(f32[3], f32[]) scan(p0, p1), dimensions={0}, num_carries=1, is_reverse=true, to_apply=step",
        ),
        scan,
    ),
    "batch-norm-training": (
        _text(
            "f32[2,3] ; f32[3] ; f32[3]",
            "(f32[2,3], f32[3], f32[3]) batch-norm-training(p0, p1, p2), epsilon=0.1, feature_index=1",
        ),
        batch_norm_training,
    ),
    "batch-norm-grad": (
        _text(
            "f32[2,3] ; f32[3] ; f32[3] ; f32[3] ; f32[2,3]",
            "(f32[2,3], f32[3], f32[3]) batch-norm-grad(p0, p1, p2, p3, p4), epsilon=0.1, feature_index=1",
        ),
        batch_norm_grad,
    ),
    "bitcast of layouts": (_text("f32[2,6]{0,1}", "f32[3,4]{1,0} bitcast(p0)"), bitcast_layouts),
    "bitcast of tiles": (_text("f32[3,4]{1,0:T(2,2)}", "f32[4,2,2]{2,1,0} bitcast(p0)"), bitcast_tiled),
    "bitcast-convert to bytes": (_text("s32[3]", "u8[3,4] bitcast-convert(p0)"), bitcast_convert_narrow),
    "bitcast-convert from halves": (_text("u16[3,2]", "f32[3] bitcast-convert(p0)"), bitcast_convert_wide),
    "get-tuple-element": (
        _text("(f32[4], (f32[2], f32[3]))", "(f32[2], f32[3]) get-tuple-element(p0), index=1"),
        tuple_element,
    ),
    "sort": (_text("f32[3,2]", "f32[3,2] sort(p0), dimensions={0}, to_apply=ge"), sort),
    "scaled-dot": (
        _text(
            "f32[2,4] ; f32[4,3] ; f32[2,2] ; f32[1,3]",
            "f32[2,3] scaled-dot(p0, p1, p2, p3), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        ),
        scaled_dot,
    ),
    "rfft": (_text("f32[2,4]", "c64[2,3] fft(p0), fft_type=RFFT, fft_length={4}"), fft_real),
    **_solves(),
}
