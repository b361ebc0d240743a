"""Bounds on numbers that follow from constants alone: they hold of all of them, and what a type loses is told."""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import cos, exp, isfinite, sin, sqrt, tanh

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from red_pairs import ADD, BOTH, LARGER, TIMES, entry

from hloproof.equivalence.constant_parts import ConstantParts, Magnitude
from hloproof.equivalence.graph import Graph, Node
from hloproof.equivalence.reading import GraphReader
from hloproof.equivalence.terms import App, Elem, Term, from_pattern, value_of
from hloproof.models.hlo.parser import parse_module
from hloproof.models.interpreter.semantics.element_type import rounded, to_bits

GRAPH = Graph()
KINDS = ("f32", "f16", "bf16", "f8e4m3fn", "f8e5m2")


def array(kind: str, numbers: tuple[float, ...]) -> Node:
    bits = tuple(to_bits(kind, rounded(kind, n)) for n in numbers)
    return GRAPH.node("constant", kind, (len(bits),), (), ("bits", bits))


class Lost(Exception):
    """A number became zero, or none, on the way."""


EXACT: dict[str, Callable[..., Fraction]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "negate": operator.neg,
    "abs": abs,
    "maximum": max,
    "convert": lambda x: x,
    "sqrt": lambda x: Fraction(sqrt(x)),
    "rsqrt": lambda x: Fraction(1 / sqrt(x)),
    "exponential": lambda x: Fraction(exp(x)),
    "logistic": lambda x: Fraction(exp(min(x, 0)) / (1 + exp(-abs(x)))),
    "tanh": lambda x: Fraction(tanh(x)),
    "sine": lambda x: Fraction(sin(x)),
    "cosine": lambda x: Fraction(cos(x)),
    "floor": lambda x: Fraction(x // 1),
    "power": lambda x, n: x ** int(n),
}


@st.composite
def arrays(draw: st.DrawFn, kind: str) -> Node:
    exponents = st.integers(-20, 8) | st.integers(-140, 30)
    numbers = st.builds(lambda m, e: m * 2.0**e, st.sampled_from((0.0, 1.0, -1.0, 1.3, -1.7)), exponents)
    held = numbers.filter(lambda n: isfinite(rounded(kind, n)))
    return array(kind, tuple(draw(st.lists(held, min_size=1, max_size=3))))


@st.composite
def computations(draw: st.DrawFn, kind: str, depth: int) -> Term:
    op = draw(st.sampled_from((*EXACT, "convert")))
    if not depth:
        return Elem(draw(arrays(kind)), ())
    if op == "convert":
        source = draw(st.sampled_from(KINDS))
        return App("convert", kind, (draw(computations(source, depth - 1)),))
    if op == "power":
        number = Elem(array(kind, (draw(st.sampled_from((-2.0, -1.0, 2.0, 3.0))),)), ())
        return App(op, kind, (draw(computations(kind, depth - 1)), number))
    count = 2 if op in ("add", "subtract", "multiply", "divide", "maximum") else 1
    return App(op, kind, tuple(draw(computations(kind, depth - 1)) for _ in range(count)))


def chosen(term: Term, picks: dict[Node, int]) -> Fraction:
    """What the term is for one element of each array, rounded at each step. Raises Lost, and ValueError,
    ZeroDivisionError or OverflowError where it is nothing."""
    if isinstance(term, Elem):
        value = value_of(from_pattern(term.node.type, term.node.key[1][picks[term.node]]))
        assert isinstance(value, int | float)
        return Fraction(value)
    assert isinstance(term, App)
    args: list[Fraction] = []
    lost = None
    for a in term.args:  # all of them: where one is nothing, it is no matter whether another is lost
        try:
            args.append(chosen(a, picks))
        except Lost as error:
            lost = error
    if lost:
        raise lost
    exact = EXACT[term.op](*args)
    found = rounded(term.type, float(exact))
    if (
        not isinstance(found, float)
        or not isfinite(found)
        or (bool(found) != bool(exact) and term.op not in ("floor", "exponential"))
    ):
        raise Lost
    return Fraction(found)


def leaves(term: Term) -> list[Node]:
    if isinstance(term, Elem):
        return [term.node]
    assert isinstance(term, App)
    return [n for a in term.args for n in leaves(a)]


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(KINDS).flatmap(lambda kind: computations(kind, 3)))
def test_what_is_said_to_be_kept_is_kept(term: Term) -> None:
    """For each choice of elements: nothing becomes zero, or no number, and the result lies within the bounds."""
    parts = ConstantParts()
    found = parts.of(term)
    if any(of is not None and of.masked for of in parts.terms.values()):
        return  # no more is known of what is made with it
    nodes = list(dict.fromkeys(leaves(term)))
    for picked in product(*(range(n.sizes[0]) for n in nodes)):
        try:
            value = chosen(term, dict(zip(nodes, picked, strict=True)))
        except (ValueError, ArithmeticError):
            continue
        except Lost:
            assert found is not None and found.lost
            continue
        assert found is not None
        # Roundings on the way are no part of the bounds.
        if not found.lost:
            assert not value or 2 * abs(value) >= found.least
            assert 2 * min(found.lowest, 0) <= value <= 2 * max(found.highest, 0)


DECAYS = (
    "decays { a = f32[] parameter(0)\n b = f32[] parameter(1)\n c = f32[] constant(1e-6)\n d = f32[] multiply(b, c)\n"
    " ROOT r = f32[] add(a, d)\n}\n"
)
TWICE = "twice { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, a)\n}\n"
FUNCTIONS = ADD.replace("f32", "s32").replace("add {", "add_s32 {") + TWICE + ADD + TIMES + LARGER + BOTH + DECAYS


def parts(*lines: str) -> Magnitude | None:
    """Of the result of a module of constants."""
    module = parse_module(entry(*lines, before=FUNCTIONS))
    (result,) = GraphReader().read(module, 0).results
    return ConstantParts().of(Elem(result, ()))


A = ("a = f32[2] constant({C, 2})", "b = f32[2] constant({C, -4})")
GONE = {
    "a square": (*A, "ROOT r = f32[2] multiply(a, a)"),
    "a power": (*A, "n = f32[2] constant({2, 2})", "ROOT r = f32[2] power(a, n)"),
    "an angle": (*A, "ROOT r = f32[2] atan2(a, b)"),
    "fewer digits": (*A, "ROOT r = f32[2] reduce-precision(a), exponent_bits=5, mantissa_bits=10"),
    "complex numbers": (*A, "c = c64[2] complex(a, b)", "ROOT r = c64[2] multiply(c, c)"),
    "a large power of e": ("a = f32[2] constant({100, 1})", "ROOT r = f32[2] exponential-minus-one(a)"),
    "a square that no float holds": ("a = f64[2] constant({1e-200, 1})", "ROOT r = f64[2] multiply(a, a)"),
    "a quotient that no float holds": (
        "a = f64[2] constant({1e-200, 1})",
        "b = f64[2] constant({1e200, 1})",
        "ROOT r = f64[2] divide(a, b)",
    ),
    "a product of many": (
        "c = f32[] constant(1e-10)",
        "a = f32[64] broadcast(c), dimensions={}",
        "o = f32[] constant(1)",
        "ROOT r = f32[] reduce(a, o), dimensions={0}, to_apply=times",
    ),
    "a power that no float holds": (*A, "n = f32[2] constant({20, 20})", "ROOT r = f32[2] power(a, n)"),
    "a sigmoid of a product of two signs": (
        "a = f32[2] constant({-10, 10})",
        "o = f32[] constant(1)",
        "m = f32[] reduce(a, o), dimensions={0}, to_apply=times",
        "ROOT r = f32[] logistic(m)",
    ),
    "what is smaller than all of them": (
        "a = f32[2,2] constant({{1e4, 1e4}, {1e4, 1e4}})",
        "o = f32[] constant(1)",
        "m = f32[2] reduce(a, o), dimensions={1}, to_apply=times",
        "b = f32[2] constant({1e-30, 1e-30})",
        "d = f32[2] constant({1e-20, 1e-20})",
        "u = f32[2] multiply(m, b)",
        "ROOT r = f32[2] multiply(u, d)",
    ),
    "a number added to itself": (
        "c = f32[] constant(1)",
        "a = f32[64] broadcast(c), dimensions={}",
        "s = f32[] reduce(a, c), dimensions={0}, to_apply=twice",
        "ROOT r = f16[] convert(s)",
    ),
    "its bits": (
        *A,
        "m = f32[2] multiply(a, a)",
        "n = s32[2] bitcast-convert(m)",
        "ROOT r = f32[2] bitcast-convert(n)",
    ),
    "large complex numbers": (
        "a = f32[2] constant({3e38, 1})",
        "c = c64[2] complex(a, a)",
        "ROOT r = c64[2] add(c, c)",
    ),
    "the size of a complex number": (
        "a = f32[2] constant({3e38, 1})",
        "c = c64[2] complex(a, a)",
        "ROOT r = f32[2] abs(c)",
    ),
    "a cosine in few digits": ("a = f8e3m4[2] constant({11, 11})", "ROOT r = f8e3m4[2] cosine(a)"),
    "the largest of few": ("a = f32[2] constant({50, 100})", "ROOT r = f4e2m1fn[2] convert(a)"),
    "a number that may be taken for zero": (
        "a = f32[2] constant({1e-39, 1})",
        "b = f32[2] constant({1e10, 1e10})",
        "ROOT r = f32[2] multiply(a, b)",
    ),
    "the largest, from what is given": (
        *A,
        "m = f32[2] multiply(a, a)",
        "p = f32[] parameter(0)",
        "ROOT r = f32[] reduce(m, p), dimensions={0}, to_apply=larger",
    ),
    "the largest of what is given": (
        *A,
        "m = f32[2] multiply(a, a)",
        "o = f32[1] slice(m), slice={[0:1]}",
        "s = f32[] reshape(o)",
        "p = f32[2] parameter(0)",
        "ROOT r = f32[] reduce(p, s), dimensions={0}, to_apply=larger",
    ),
    "the largest square": (
        *A,
        "m = f32[2] multiply(a, a)",
        "i = f32[] constant(-inf)",
        "ROOT r = f32[] reduce(m, i), dimensions={0}, to_apply=larger",
    ),
    "a sum of squares": (
        *A,
        "m = f32[2] multiply(a, a)",
        "z = f32[] constant(0)",
        "ROOT r = f32[] reduce(m, z), dimensions={0}, to_apply=add",
    ),
    "factors of a sum in another type": (
        *A,
        "d = f16[] dot(a, b), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
        "ROOT r = f32[] convert(d)",
    ),
    "what is put around": (
        "a = f32[2] constant({1, 2})",
        "i = f32[] constant(C)",
        "w = f32[2] reduce-window(a, i), window={size=2 pad=1_0}, to_apply=larger",
        "ROOT r = f16[2] convert(w)",
    ),
    "a sum with its place": (
        "a = f32[2,2] constant({{1, 2}, {3, -4}})",
        "i = s32[2,2] iota(), iota_dimension=1",
        "z = f32[] constant(0)",
        "k = s32[] constant(0)",
        "t = (f32[2], s32[2]) reduce(a, i, z, k), dimensions={0}, to_apply=both",
        "u = f32[2] get-tuple-element(t), index=0",
        "ROOT r = f16[2] convert(u)",
    ),
}


ROW = "a = f32[2] constant({C, 1})"
NARROW = "ROOT r = f16[2] convert(u)"
BY_A_FUNCTION = {
    "a root": (ROW, "u = f32[2] rsqrt(a)", "1e20"),
    "a sigmoid": (ROW, "u = f32[2] logistic(a)", "-20"),
    "a tangent": (ROW, "u = f32[2] tanh(a)", "1e-9"),
    "a square of a cosine": (ROW, "c = f32[2] cosine(a)", "u = f32[2] multiply(c, c)", "1.5707964"),
    "a whole number": (ROW, "u = f32[2] floor(a)", "1e10"),
    "what is left of a sum": (
        ROW,
        "b = f32[2] constant({1.0000001, 1})",
        "d = f32[2] subtract(a, b)",
        "u = f32[2] multiply(d, d)",
        "1",
    ),
    "a large sum": (
        "a = f32[2,2] constant({{C, C}, {1, 1}})",
        "z = f32[] constant(0)",
        "u = f32[2] reduce(a, z), dimensions={1}, to_apply=add",
        "40000",
    ),
    "a place": ("i = f32[1,70000] iota(), iota_dimension=1", "u = f32[70000] reshape(i)", "0"),
    "a large product": (
        "a = f32[2,2] constant({{C, C}, {1, 1}})",
        "o = f32[] constant(1)",
        "u = f32[2] reduce(a, o), dimensions={1}, to_apply=times",
        "300",
    ),
    "products that are written": (
        "a = f32[2] constant({C, C})",
        "k = s32[2,1] constant({{0}, {0}})",
        "u = f32[2] scatter(a, k, a), update_window_dims={}, inserted_window_dims={0}, "
        "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=times",
        "1e-4",
    ),
    "what a function makes smaller": (
        "a = f32[2,2] constant({{C, C}, {1, 1}})",
        "z = f32[] constant(0)",
        "u = f32[2] reduce(a, z), dimensions={1}, to_apply=decays",
        "1e-3",
    ),
}


@pytest.mark.parametrize("what", BY_A_FUNCTION)
def test_what_functions_make_of_constants_may_be_lost(what: str) -> None:
    *lines, constant = BY_A_FUNCTION[what]
    narrow = NARROW.replace("[2]", "[70000]") if what == "a place" else NARROW
    found = parts(*(line.replace("C", constant) for line in lines), narrow)
    assert found is not None and found.lost


@pytest.mark.parametrize("what", GONE)
def test_what_may_be_lost_is(what: str) -> None:
    found = parts(*(line.replace("C", "1e-25") for line in GONE[what]))
    assert found is not None and found.lost


def test_bounds_are_those_of_the_numbers() -> None:
    half = [line.replace("C", "0.5") for line in A]
    rows = parts(
        "a = f32[2,2] constant({{0.5, 0.5}, {-3, -3}})",
        "o = f32[] constant(1)",
        "ROOT r = f32[2] reduce(a, o), dimensions={1}, to_apply=times",
    )
    assert rows == Magnitude(0.5**4, -81, 81)
    doubled = parts(
        "a = f32[2,2] constant({{0.5, 0.5}, {-3, -3}})",
        "o = f32[] constant(2)",
        "ROOT r = f32[2] reduce(a, o), dimensions={1}, to_apply=times",
    )
    assert doubled == Magnitude(2 * 0.5**4, -162, 162)
    assert parts(*half, "n = f32[2] constant({3, 3})", "ROOT r = f32[2] power(b, n)") == Magnitude(0.125, -64, 64)
    counted = parts(
        "a = s32[10] iota(), iota_dimension=0",
        "z = s32[] constant(0)",
        "ROOT r = s32[] reduce(a, z), dimensions={0}, to_apply=add_s32",
    )
    assert counted is not None and counted.highest >= 45
    none = "a = f32[2] constant({0, 0})"
    assert parts(none, "ROOT r = f32[2] power(a, a)") == Magnitude(1, 1, 1)
    assert parts(*half, "ROOT r = f32[2] multiply(a, b)") == Magnitude(0.25, -8, 1)
    assert parts(*half, "ROOT r = f32[2] subtract(a, b)") == Magnitude(2.0**-24, 0, 6)
    assert parts(*half, "ROOT r = f32[2] negate(b)") == Magnitude(0.5, -0.5, 4)
    zero = [line.replace("C", "0") for line in A]
    assert parts(*zero, "z = f32[2] subtract(a, a)", "ROOT r = f32[2] maximum(a, b)") == Magnitude(2, -4, 2)
    whole = parts(*half, "n = f32[2] constant({0, -1})", "ROOT r = f32[2] multiply(n, b)")
    assert whole == Magnitude(0.5, -4, 4)
    nothing = "n = f32[2] constant({0, 0})", "d = f32[2] divide(a, n)"
    assert parts(*half, *nothing, "ROOT r = f32[2] maximum(d, a)") == Magnitude(0.5, 0, 2)
    large = "h = f16[2] constant({60000, 1})", "ROOT r = f16[2] add(h, h)"
    found = parts(*large)
    assert found is not None and found.lost
