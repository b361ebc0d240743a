"""The semantics `bounded`: what any allowed order of evaluation gives lies inside, and a planted error does not.

Real values are computed with fractions; other orders by drawing them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from math import inf, isfinite, nan
from operator import add as add_
from operator import mul, neg, sub, truediv
from random import Random
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hloproof.fuzz.compiler.derived_bounds import EXACTLY, LEFT_OPEN, WITHIN, bounds, outside, rough_inputs
from hloproof.fuzz.compiler.generate_rounding import rounding_modules
from hloproof.fuzz.modules.reference import arrays
from hloproof.models.hlo.attributes import Attributes, Word
from hloproof.models.hlo.parser import parse_module
from hloproof.models.interpreter.operations.collective import Devices
from hloproof.models.interpreter.run import Machine
from hloproof.models.interpreter.semantics.bounded import Bounded
from hloproof.models.interpreter.semantics.bounded_number import (
    UNSETTLED,
    FloatKind,
    Number,
    Undecided,
    add,
    at,
    kind_of,
    multiply,
)
from hloproof.models.interpreter.semantics.real import Real
from hloproof.models.interpreter.semantics.real_float import FLOAT_FUNCTIONS
from hloproof.models.interpreter.semantics.small_float import rounding
from hloproof.models.interpreter.value import Array

KINDS = ("f64", "f32", "bf16", "f16")
NUMBERS = st.floats(-1000, 1000, width=32).map(lambda v: v if abs(v) > 1e-3 else 1.0)


def _function(opcode: str, kind: str, arity: int) -> Callable[..., Number]:
    return Bounded().function(opcode, [kind] * arity, kind, Attributes())


def _total(k: FloatKind, terms: Sequence[float]) -> Number:
    found = at(0.0)
    for t in terms:
        found = add(k, found, at(t))
    return found


def _any_order(values: Sequence[float], kind: str, random: Random, times: bool) -> float:
    """Two of the values, drawn, are put together and rounded until one is left."""
    left, rounded = list(values), rounding(kind)
    while len(left) > 1:
        a, b = (left.pop(random.randrange(len(left))) for _ in range(2))
        left.append(rounded(a * b if times else a + b))
    return left[0]


def _sum_leaves(kind: str, drawn: Sequence[float], random: Random, k: FloatKind) -> bool:
    """Some order of this sum, or its real value, lies outside."""
    terms = [rounding(kind)(v) for v in drawn]
    found = _total(k, terms)
    if found.open:
        return False
    real = sum(map(Fraction, terms))
    inside = found.low <= real <= found.high
    return not (inside and all(found.low <= _any_order(terms, kind, random, False) <= found.high for _ in range(8)))


@given(st.sampled_from(KINDS), st.lists(NUMBERS, min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_a_sum_in_any_order_lies_inside(kind: str, drawn: list[float], random: Random) -> None:
    assert not _sum_leaves(kind, drawn, random, kind_of(kind))


def test_with_half_the_unit_some_sum_leaves_its_bounds() -> None:
    k = kind_of("f32")
    small = FloatKind(k.name, k.digits, k.unit / 2, k.tiny, k.top, k.least)
    random = Random(1)
    drawn = [[random.uniform(-1, 1) for _ in range(2)] for _ in range(50)]
    assert any(_sum_leaves("f32", terms, random, small) for terms in drawn)
    assert not any(_sum_leaves("f32", terms, random, k) for terms in drawn)


@given(st.sampled_from(KINDS), st.lists(st.integers(-9, 9), min_size=1, max_size=12), st.randoms())
def test_sums_of_small_whole_numbers_are_points(kind: str, drawn: list[int], random: Random) -> None:
    found = _total(kind_of(kind), [float(v) for v in drawn])
    assert found.low == found.high == sum(drawn) == _any_order([float(v) for v in drawn], kind, random, False)


@pytest.mark.parametrize(
    ("kind", "terms"),
    [("f32", (2.0**24, -(2.0**24), 1.0)), ("bf16", (256.0, -256.0, 1.0)), ("f64", (2.0**53, -(2.0**53), 1.0))],
)
def test_what_is_exact_in_one_order_only_is_no_point(kind: str, terms: tuple[float, ...]) -> None:
    found = _total(kind_of(kind), terms)
    assert not found.point
    assert found.low <= 0 <= 1 <= found.high  # the first and the last together, and then the second, give 0


@given(st.sampled_from(KINDS), st.lists(NUMBERS, min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_a_product_in_any_order_lies_inside(kind: str, drawn: list[float], random: Random) -> None:
    factors = [rounding(kind)(v) for v in drawn]
    found, k = at(1.0), kind_of(kind)
    for f in factors:
        found = multiply(k, found, at(f))
    if found.open:
        return
    real = Fraction(1)
    for f in factors:
        real *= Fraction(f)
    assert found.low <= real <= found.high
    assert all(found.low <= _any_order(factors, kind, random, True) <= found.high for _ in range(8))


@given(st.sampled_from(("f64", "f32", "f16")), NUMBERS, NUMBERS, NUMBERS)
def test_a_product_that_is_fused_with_an_addition_lies_inside(kind: str, x: float, y: float, z: float) -> None:
    k, rounded = kind_of(kind), rounding(kind)
    a, b, c = (rounded(v) for v in (x, y, z))
    found = add(k, multiply(k, at(a), at(b)), at(c))
    apart = rounded(rounded(a * b) + c)
    together = rounded(float(Fraction(a) * Fraction(b) + Fraction(c)))
    if not found.open:
        assert found.low <= apart <= found.high and found.low <= together <= found.high


REAL: dict[str, Callable[..., Fraction]] = {
    "add": add_,
    "subtract": sub,
    "multiply": mul,
    "divide": truediv,
    "maximum": max,
    "negate": neg,
    "abs": abs,
}


@given(st.sampled_from(KINDS), st.lists(NUMBERS, min_size=3, max_size=3), st.randoms(use_true_random=False))
def test_a_chain_of_operations_lies_inside_and_so_does_its_real_value(
    kind: str, drawn: list[float], random: Random
) -> None:
    rounded = rounding(kind)
    leaves = [rounded(v) for v in drawn]
    values: list[tuple[Number, float, Fraction]] = [(at(v), v, Fraction(v)) for v in leaves]
    for _ in range(5):
        opcode = random.choice(list(REAL))
        (p, a, x), (q, b, y) = random.choice(values), random.choice(values)
        if opcode == "divide" and (b == 0 or y == 0):
            continue
        one = opcode in ("negate", "abs")
        found = _function(opcode, kind, 2 - one)(*((p,) if one else (p, q)))
        plain = rounded(FLOAT_FUNCTIONS[opcode](*((a,) if one else (a, b))))
        real = REAL[opcode](*((x,) if one else (x, y)))
        if not isfinite(plain):
            return
        assert found.low <= plain <= found.high and found.low <= real <= found.high, opcode
        values.append((found, plain, real))


ONE = "exponential exponential-minus-one log log-plus-one logistic sqrt rsqrt cbrt sine cosine tan tanh atan sinh asinh"


@given(st.sampled_from(ONE.split()), st.floats(0.01, 6), st.floats(0, 0.01), st.floats(0, 1))
def test_a_function_of_an_interval_holds_that_of_each_number_in_it(
    opcode: str, low: float, wide: float, part: float
) -> None:
    high = low + wide
    found = _function(opcode, "f32", 1)(Number(low, high))
    value = FLOAT_FUNCTIONS[opcode](min(high, low + part * wide))
    unit = 2.0**-24
    assert all(found.low <= value * (1 + e) <= found.high for e in (-unit, 0, unit))


@pytest.mark.parametrize(
    ("opcode", "given_", "expected"),
    [
        ("floor", (Number(1.2, 1.4),), (1.0, 1.0)),
        ("sign", (Number(-0.1, 0.1),), (-1.0, 1.0)),
        ("maximum", (Number(1.0, 3.0), at(2.0)), (2.0, 3.0)),
        ("divide", (at(1.0), Number(-1.0, 1.0)), (-inf, inf)),
        ("add", (at(inf), at(1.0)), (inf, inf)),
        ("multiply", (at(3e38), at(3e38)), (-inf, inf)),
        ("abs", (Number(-2.0, 1.0),), (0.0, 2.0)),
        ("log", (Number(-1.0, 1.0),), (-inf, inf)),
    ],
    ids=str,
)
def test_intervals_of_an_operation(opcode: str, given_: tuple[Number, ...], expected: tuple[float, float]) -> None:
    found = _function(opcode, "f32", len(given_))(*given_)
    assert (found.low, found.high) == pytest.approx(expected)


def test_decisions_near_a_threshold_are_not_taken() -> None:
    scalars = Bounded()
    less = scalars.function("compare", ["f32", "f32"], "pred", Attributes((("direction", Word("LT")),)))
    assert less(at(1.0), at(2.0)) is True
    assert less(Number(1.0, 2.0), at(1.5)) is UNSETTLED
    assert less(Number(1.0, 1.5), at(1.0)) is False
    chosen = scalars.function("select", ["pred", "f32", "f32"], "f32", Attributes())(UNSETTLED, at(1.0), at(3.0))
    assert (chosen.low, chosen.high) == (1.0, 3.0)
    with pytest.raises(Undecided):
        scalars.integer(UNSETTLED)
    to_integer = scalars.function("convert", ["f32"], "s32", Attributes())
    assert to_integer(Number(1.25, 1.5)) == 1
    assert to_integer(Number(1.75, 2.25)) is UNSETTLED


def test_a_number_below_the_normal_ones_may_be_zero() -> None:
    found = Bounded().constant("f32", 1e-40)
    assert found.low == 0 < found.high


MODULE = """HloModule m

sum {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}

ENTRY e {
  p = f32[3,5] parameter(0)
  q = f32[5,2] parameter(1)
  d = f32[3,2] dot(p, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = f32[3,2] tanh(d)
  z = f32[] constant(0)
  r = f32[3] reduce(t, z), dimensions={1}, to_apply=sum
  w = f32[3,5] add(p, p)
  ROOT a = (f32[3], f32[3,5]) tuple(r, w)
}
"""


def test_an_error_of_twice_the_bound_is_found_and_the_bounds_themselves_are_not() -> None:
    module = parse_module(MODULE)
    inputs = rough_inputs(module, 7)
    assert inputs is not None
    allowed = bounds(module, inputs)
    assert allowed
    told: Counter[str] = Counter()
    ends = [[[getattr(x, "once", None) or getattr(x, end) for x in row] for row in allowed] for end in ("low", "high")]
    assert [outside(allowed, given, told) for given in ends] == ["", ""]
    assert told[WITHIN] == 6 and told[EXACTLY] == 30 and not told[LEFT_OPEN]
    assert all(x.high - x.low < 1e-3 for x in allowed[0])
    for k, x in enumerate(allowed[0]):
        for wrong in (x.high + (x.high - x.low), x.low - (x.high - x.low), nan, inf):
            planted = [list(row) for row in ends[0]]
            planted[0][k] = wrong
            assert f"output 0, element {k}" in outside(allowed, planted, Counter())
    planted = [list(row) for row in ends[0]]
    planted[1][4] += planted[1][4] * 2.0**-23
    assert "output 1, element 4" in outside(allowed, planted, Counter())


@settings(max_examples=60)
@given(rounding_modules())
def test_what_is_rounded_after_each_operation_in_its_order_lies_inside(text: str) -> None:
    module = parse_module(text)
    inputs = rough_inputs(module, crc32(text.encode()))
    assert inputs is not None
    allowed = bounds(module, inputs)
    assert allowed is not None
    own = [list(a.data) for a in arrays(Machine(module, Real(), Devices(), 0).run([inputs])[0])]
    assert outside(allowed, own, Counter()) == "" or not allowed


def test_small_whole_numbers_are_demanded_exactly() -> None:
    module = parse_module(MODULE.replace("tanh(d)", "negate(d)"))
    inputs = (Array("f32", (3, 5), [3.0, -2.0, 1.0] * 5), Array("f32", (5, 2), [2.0, 4.0] * 5))
    allowed = bounds(module, inputs)
    assert allowed and all(x.point for row in allowed for x in row)


@pytest.mark.parametrize(
    ("operation", "expected"),
    [("f32[3,3] cholesky(p)", None), ("f32[3,3] sort(p), dimensions={1}, to_apply=less", [9])],
)
def test_what_has_no_derived_bound_says_so(operation: str, expected: list[int] | None) -> None:
    text = f"""HloModule m

less {{
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = pred[] compare(x, y), direction=LT
}}

ENTRY e {{
  p = f32[3,3] parameter(0)
  ROOT r = {operation}
}}
"""
    module = parse_module(text)
    inputs = rough_inputs(module, 0)
    assert inputs is not None
    found = bounds(module, inputs)
    assert (found if found is None else [len(row) for row in found]) == expected
