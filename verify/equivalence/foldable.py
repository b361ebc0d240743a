"""Which operations on constants are computed: on which types, and on which numbers. What stands in no row stays an
operation.

Trusted. A row stands here where XLA's own folding of constants and the code that it runs give the same bits, as every
other implementation does that rounds each operation once. So nothing is computed with NaNs, whose bits are open, with
subnormal numbers, which some take for 0, with integers of less than a byte or floats of one, which go by way of wider
types; nor what is rounded twice, overflows, or hangs on the order of the two zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import copysign, isfinite
from typing import Any, Final

from hloproof.equivalence.terms import may_be_flushed, rounds_alike
from hloproof.models.hlo.shape import ELEMENT_BITS
from hloproof.models.interpreter.semantics.element_type import COMPLEX, INTEGERS, highest, lowest, width
from hloproof.models.interpreter.semantics.small_float import NUMBERS

_FLOATS: Final = frozenset({"f64", "f32", "f16", "bf16"})
_WHOLE: Final = frozenset(t for t in INTEGERS if width(t) >= 8)
_PREDICATES: Final = frozenset({"pred"})
_ALL: Final = _FLOATS | _WHOLE | _PREDICATES
_BYTES: Final = frozenset(t for t in NUMBERS if width(t) == 8)
_WITH_BITS: Final = frozenset(t for t, n in ELEMENT_BITS.items() if n >= 8 and t not in COMPLEX | {"pred"})


@dataclass(frozen=True)
class ComputedNumber:
    """One operation on numbers: its operands with their types, and its result."""

    types: tuple[str, ...]
    values: tuple[Any, ...]
    type: str
    result: Any
    in_total_order: bool = False


NumbersTaken = Callable[[ComputedNumber], bool]
TypesTaken = Callable[[frozenset[str], Sequence[str], str], bool]


def _same(kinds: frozenset[str], types: Sequence[str], type_: str) -> bool:
    return type_ in kinds and set(types) == {type_}


def _compared(kinds: frozenset[str], types: Sequence[str], type_: str) -> bool:
    return type_ == "pred" and len(set(types)) == 1 and types[0] in kinds


def _chosen(kinds: frozenset[str], types: Sequence[str], type_: str) -> bool:
    return types[0] == "pred" and _same(kinds, types[1:], type_)


def _turned(kinds: frozenset[str], types: Sequence[str], type_: str) -> bool:
    return types[0] in kinds and type_ in kinds


def _any(_: ComputedNumber) -> bool:
    return True


def numbers(c: ComputedNumber) -> bool:
    """Infinities are numbers here; NaNs and what may be flushed are none."""
    pairs = [*zip(c.types, c.values, strict=True), (c.type, c.result)]
    return not any(v != v or may_be_flushed(t, v) for t, v in pairs)


def _finite(c: ComputedNumber) -> bool:
    return numbers(c) and all(isfinite(v) for v in (*c.values, c.result))


def _one_zero(c: ComputedNumber) -> bool:
    return numbers(c) and not only_bits_tell(c.values)


def _in_order(c: ComputedNumber) -> bool:
    return _one_zero(c) if c.in_total_order else numbers(c)


def _between(c: ComputedNumber) -> bool:
    """A clamp whose bounds do not cross."""
    low, _, high = c.values
    return _one_zero(c) and bool(low <= high)


def _divides(c: ComputedNumber) -> bool:
    dividend, divisor = c.values
    return divisor != 0 and not (divisor == -1 and dividend == lowest(c.type))


def _shifts(c: ComputedNumber) -> bool:
    return bool(0 <= c.values[1] < width(c.type))


def _converts(c: ComputedNumber) -> bool:
    """A number that the other type holds as one, rounded alike by way of f32; of an integer its lowest bits."""
    (value,) = c.values
    if c.type in _WHOLE and c.types[0] in _FLOATS:
        return _finite(c) and bool(lowest(c.type) <= int(value) <= highest(c.type))
    return _finite(c) and rounds_alike(c.type, value)


def _held(c: ComputedNumber) -> bool:
    """A number that the other type holds, but for -0, which it may not."""
    (value,) = c.values
    return _finite(c) and bool(value == c.result) and not (value == 0 and copysign(1.0, value) < 0)


def _read(c: ComputedNumber) -> bool:
    return ELEMENT_BITS[c.types[0]] == ELEMENT_BITS[c.type]


@dataclass(frozen=True)
class FoldRow:
    """Operations that are computed on these types, and of which numbers."""

    operations: str
    kinds: frozenset[str]
    numbers: NumbersTaken
    types: TypesTaken = _same


ROWS: Final = (
    FoldRow("add subtract multiply divide sqrt floor ceil", _FLOATS, _finite),
    FoldRow("negate abs", _FLOATS, numbers),
    FoldRow("maximum minimum", _FLOATS, _one_zero),
    FoldRow("clamp", _FLOATS | _WHOLE, _between),
    FoldRow("compare", _FLOATS, _in_order, _compared),
    FoldRow("compare", _WHOLE, _any, _compared),
    FoldRow("select", _ALL, numbers, _chosen),
    FoldRow("convert", _ALL, _converts, _turned),
    FoldRow("convert", _ALL | _BYTES, _held, _turned),
    FoldRow("bitcast-convert", _WITH_BITS, _read, _turned),
    FoldRow("add subtract multiply negate abs sign maximum minimum", _WHOLE, _any),
    FoldRow("divide remainder", _WHOLE, _divides),
    FoldRow("shift-left shift-right-arithmetic shift-right-logical", _WHOLE, _shifts),
    FoldRow("and or xor not", _WHOLE | _PREDICATES, _any),
)
FOLDABLE: Final = frozenset(op for row in ROWS for op in row.operations.split())


def row_of(op: str, types: Sequence[str], type_: str) -> FoldRow | None:
    """The row of the operation on these types; None where it is not computed."""
    return next((r for r in ROWS if op in r.operations.split() and r.types(r.kinds, types, type_)), None)


def only_bits_tell(values: Sequence[object]) -> bool:
    """Whether numbers are in a total order by their bits alone, as a NaN and zeros of both signs are: XLA has them in
    another when it folds."""
    zeros = {copysign(1.0, v) for v in values if isinstance(v, float) and v == 0}
    return any(v != v for v in values) or len(zeros) > 1
