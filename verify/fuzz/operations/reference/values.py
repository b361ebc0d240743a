"""What an operation computes, read a second time: every element from its coordinates, tensors as dictionaries.

Slow, and written from the semantics of the operations alone, in other terms than the interpreter: no strides and no
flat positions. Bodies are read by `applied`, numbers are those of Python. Given are integers, and floats that stand for
integers small enough that no sum is rounded.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

from hloproof.models.hlo.attributes import ComputationRef, PaddingDimension, SliceDimension, Word
from hloproof.models.hlo.module import Computation, Module, Operation
from hloproof.models.hlo.shape import COMBINE, ELEMENT_BITS, ArrayShape, Index, Shape, TupleShape

Tensor = dict[Index, Any]
"""Elements by index."""
Body = Callable[[Sequence[Any]], tuple[Any, ...]]


@dataclass(frozen=True)
class Call:
    """An operation, the values of its operands, and its module."""

    op: Operation
    operands: tuple[Tensor, ...]
    module: Module

    def sizes(self, operand: int) -> Index:
        shape = self.op.operands[operand]
        assert isinstance(shape, ArrayShape)
        return shape.dimensions

    def result(self, output: int = 0) -> ArrayShape:
        return results(self.op.shape)[output]

    def ints(self, name: str) -> Index:
        return self.op.attributes.integers(name)

    def body(self, name: str = "to_apply") -> Body:
        found = self.op.attributes.get(name)
        assert isinstance(found, ComputationRef)
        computation = self.module.by_name[found.name]
        return lambda arguments: applied(computation, arguments)

    def number(self, operand: int, index: Index = ()) -> int:
        return int(self.operands[operand][index])


def results(shape: Shape) -> tuple[ArrayShape, ...]:
    """The arrays of a result, in order."""
    if isinstance(shape, TupleShape):
        return tuple(a for e in shape.elements for a in results(e))
    assert isinstance(shape, ArrayShape)
    return (shape,)


def box(sizes: Sequence[int]) -> Iterator[Index]:
    """All indices, the last coordinate fastest."""
    return product(*(range(n) for n in sizes))


_ARITHMETIC: Final[Mapping[str, Callable[..., Any]]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "maximum": max,
    "minimum": min,
    "negate": lambda a: -a,
    "select": lambda p, a, b: a if p else b,
}
_ORDER: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "LT": lambda a, b: a < b,
    "LE": lambda a, b: a <= b,
    "GT": lambda a, b: a > b,
    "GE": lambda a, b: a >= b,
    "EQ": lambda a, b: a == b,
    "NE": lambda a, b: a != b,
}


def applied(computation: Computation, arguments: Sequence[Any]) -> tuple[Any, ...]:
    """A body on numbers: the elements of its root."""
    values: dict[str, Any] = {}
    for i in computation.instructions:
        given = [values[o] for o in i.operands]
        if i.opcode == "parameter":
            values[i.name] = arguments[i.parameter_number or 0]
        elif i.opcode == "constant":
            values[i.name] = float(i.literal or "0")
        elif i.opcode == "tuple":
            values[i.name] = tuple(given)
        elif i.opcode == "compare":
            direction = i.attributes.get("direction")
            assert isinstance(direction, Word)
            values[i.name] = _ORDER[direction.text](*given)
        else:
            values[i.name] = _rounded(_ARITHMETIC[i.opcode](*given))
    root = values[computation.root_name]
    return root if isinstance(root, tuple) else (root,)


def _rounded(v: Any) -> Any:
    """To 32 bits, where it is a float."""
    return struct.unpack("<f", struct.pack("<f", v))[0] if isinstance(v, float) and math.isfinite(v) else v


def broadcast(c: Call) -> list[Tensor]:
    sizes = c.sizes(0)
    return [
        {
            d: c.operands[0][tuple(d[i] if n > 1 else 0 for i, n in zip(c.ints("dimensions"), sizes, strict=True))]
            for d in box(c.result().dimensions)
        }
    ]


def reshape(c: Call) -> list[Tensor]:
    return [dict(zip(box(c.result().dimensions), (c.operands[0][x] for x in box(c.sizes(0))), strict=True))]


def transpose(c: Call) -> list[Tensor]:
    order = c.ints("dimensions")
    return [{tuple(x[j] for j in order): v for x, v in c.operands[0].items()}]


def reverse(c: Call) -> list[Tensor]:
    sizes, turned = c.sizes(0), c.ints("dimensions")
    return [
        {tuple(sizes[k] - 1 - i if k in turned else i for k, i in enumerate(x)): v for x, v in c.operands[0].items()}
    ]


def slice_(c: Call) -> list[Tensor]:
    bounds = [b for b in _entries(c, "slice") if isinstance(b, SliceDimension)]
    out: Tensor = {}
    for x, v in c.operands[0].items():
        if all(b.start <= i < b.limit and (i - b.start) % b.stride == 0 for i, b in zip(x, bounds, strict=True)):
            out[tuple((i - b.start) // b.stride for i, b in zip(x, bounds, strict=True))] = v
    return [out]


def pad(c: Call) -> list[Tensor]:
    padding = [p for p in _entries(c, "padding") if isinstance(p, PaddingDimension)]
    out: Tensor = dict.fromkeys(box(c.result().dimensions), c.operands[1][()])
    for x, v in c.operands[0].items():
        at = tuple(p.low + i + i * p.interior for i, p in zip(x, padding, strict=True))
        if at in out:
            out[at] = v
    return [out]


def concatenate(c: Call) -> list[Tensor]:
    (axis,) = c.ints("dimensions")
    out: Tensor = {}
    before = 0
    for k, part in enumerate(c.operands):
        out |= {(*x[:axis], x[axis] + before, *x[axis + 1 :]): v for x, v in part.items()}
        before += c.sizes(k)[axis]
    return [out]


def iota(c: Call) -> list[Tensor]:
    axis = c.op.attributes.integer("iota_dimension", 0)
    return [{d: d[axis] for d in box(c.result().dimensions)}]


def elementwise(c: Call) -> list[Tensor]:
    return [{d: c.body()([x[d] for x in c.operands])[0] for d in box(c.result().dimensions)}]


def copy(c: Call) -> list[Tensor]:
    return [c.operands[0]]


def _starts(c: Call, first: int, window: Sequence[int]) -> Index:
    """Where the window starts, moved inside."""
    vector = len(c.operands) > first and len(c.sizes(first)) == 1
    found = []
    for k, (n, w) in enumerate(zip(c.sizes(0), window, strict=True)):
        i = c.number(first, (k,)) if vector else c.number(first + k)
        found.append(0 if i < 0 else n - w if i > n - w else i)
    return tuple(found)


def dynamic_slice(c: Call) -> list[Tensor]:
    starts, sizes = _starts(c, 1, c.result().dimensions), c.result().dimensions
    return [{d: c.operands[0][_sum(d, starts)] for d in box(sizes)}]


def dynamic_update_slice(c: Call) -> list[Tensor]:
    starts = _starts(c, 2, c.sizes(1))
    return [c.operands[0] | {_sum(x, starts): v for x, v in c.operands[1].items()}]


def _sum(a: Sequence[int], b: Sequence[int]) -> Index:
    return tuple(i + j for i, j in zip(a, b, strict=True))


def bitcast(c: Call) -> list[Tensor]:
    """Through memory; an element of another type of the same width has the same bits."""
    held = {_place(_operand(c), x): v for x, v in c.operands[0].items()}
    kinds = _operand(c).element_type, c.result().element_type
    return [{d: _same_bits(held[_place(c.result(), d)], *kinds) for d in box(c.result().dimensions)}]


def readable(op: Operation) -> bool:
    """Whether a run can tell what a bitcast holds: every element of the result is an element of the operand, of one
    type, or of types of one width that both lie row by row."""
    operand, result = op.operands[0], op.shape
    assert isinstance(operand, ArrayShape) and isinstance(result, ArrayShape)
    if ELEMENT_BITS[operand.element_type] != ELEMENT_BITS[result.element_type]:
        return False
    in_rows = all(
        s.layout is None or (not s.layout.tiles and s.layout.minor_to_major == tuple(range(s.rank))[::-1])
        for s in (operand, result)
    )
    if operand.element_type != result.element_type and not in_rows:
        return False
    held = {_place(operand, x) for x in box(operand.dimensions)}
    return all(_place(result, d) in held for d in box(result.dimensions))


def _operand(c: Call) -> ArrayShape:
    shape = c.op.operands[0]
    assert isinstance(shape, ArrayShape)
    return shape


def _place(shape: ArrayShape, index: Index) -> int:
    """Position in memory, in elements."""
    minor_first = shape.layout.minor_to_major if shape.layout is not None else tuple(reversed(range(shape.rank)))
    digits = [(index[k], shape.dimensions[k]) for k in reversed(minor_first)]
    for tile in shape.layout.tiles if shape.layout is not None else ():
        entries = list(tile.dimensions)
        digits = [(0, 1)] * (len(entries) - len(digits)) + digits
        while COMBINE in entries:
            k = entries.index(COMBINE)
            entries.pop(k)
            at_k = len(digits) - len(entries) - 1 + k
            (i, n), (j, m) = digits[at_k : at_k + 2]
            digits[at_k : at_k + 2] = [(i * m + j, n * m)]
        cut = list(zip(digits[-len(entries) :], entries, strict=True))
        digits = digits[: -len(entries)] + [(i // t, math.ceil(n / t)) for (i, n), t in cut]
        digits += [(i % t, t) for (i, _), t in cut]
    at = 0
    for i, n in digits:
        at = at * n + i
    return at


def bitcast_convert(c: Call) -> list[Tensor]:
    source, target = _operand(c).element_type, c.result().element_type
    wide, narrow = (ELEMENT_BITS[k] for k in (source, target))
    if wide == narrow:
        return [{x: _same_bits(v, source, target) for x, v in c.operands[0].items()}]
    found: dict[Index, int] = {}
    for x, v in c.operands[0].items():
        bits = _bits(v, source)
        if wide > narrow:
            found |= {(*x, k): bits // 2 ** (narrow * k) % 2**narrow for k in range(wide // narrow)}
        else:
            found[x[:-1]] = found.get(x[:-1], 0) + bits * 2 ** (wide * x[-1])
    return [{d: _number(b, target) for d, b in found.items()}]


def _same_bits(v: Any, source: str, target: str) -> Any:
    return v if source == target else _number(_bits(v, source), target)


_FLOATS: Final = {"f32": ("<f", "<I"), "f64": ("<d", "<Q")}


def _bits(v: Any, kind: str) -> int:
    """Of an integer, or of a float of 32 or 64 bits."""
    if kind in _FLOATS:
        own, unsigned = _FLOATS[kind]
        (bits,) = struct.unpack(unsigned, struct.pack(own, v))
        return int(bits)
    whole: int = 2 ** ELEMENT_BITS[kind]
    return int(v) % whole


def _number(bits: int, kind: str) -> Any:
    if kind in _FLOATS:
        own, unsigned = _FLOATS[kind]
        return float(struct.unpack(own, struct.pack(unsigned, bits))[0])
    width = ELEMENT_BITS[kind]
    return bits - 2**width if kind[0] == "s" and bits >= 2 ** (width - 1) else bits


def get_dimension_size(c: Call) -> list[Tensor]:
    (axis,) = c.ints("dimensions")
    return [{(): c.sizes(0)[axis]}]


def _entries(c: Call, name: str) -> tuple[object, ...]:
    value = c.op.attributes.get(name)
    return value if isinstance(value, tuple) else ()
