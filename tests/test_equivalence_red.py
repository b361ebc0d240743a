"""Pairs that compute different numbers, as types hold and round them, each found by reading the prover: none proved."""

from __future__ import annotations

import pytest
from red_pairs import ADD, COPY, entry, one, product, proved, turned, unproved

from hloproof.equivalence import computed_identities, decide
from hloproof.equivalence.graph import Graph
from hloproof.equivalence.polynomials import Polynomials, TooManyMonomials
from hloproof.equivalence.terms import App, Elem, Term, from_value
from hloproof.models.hlo.parser import parse_module
from hloproof.models.hlo.shape import ELEMENT_BITS
from hloproof.models.interpreter.semantics import small_float
from hloproof.models.interpreter.semantics.element_type import from_bits, rounded, to_bits


def against(kind: str, op: str, constant: str) -> str:
    return one(
        f"{kind}[4]",
        f"c = {kind}[] constant({constant})",
        f"b = {kind}[4] broadcast(c), dimensions={{}}",
        f"ROOT r = {kind}[4] {op}(p, b)",
    )


def summed(first: str, second: str) -> str:
    """The sum of p times two constants."""
    return entry(
        "p = f32[4] parameter(0)",
        f"c = f32[] constant({first})",
        "cb = f32[4] broadcast(c), dimensions={}",
        f"d = f32[] constant({second})",
        "db = f32[4] broadcast(d), dimensions={}",
        "a = f32[4] multiply(p, cb)",
        "b = f32[4] multiply(a, db)",
        "z = f32[] constant(0)",
        "ROOT r = f32[] reduce(b, z), dimensions={0}, to_apply=add",
        before=ADD,
    )


def weighted(kind: str, first: str, second: str) -> str:
    """One parameter times a constant, and another times another."""
    return entry(
        f"x = {kind}[] parameter(0)",
        f"y = {kind}[] parameter(1)",
        f"c = {kind}[] constant({first})",
        f"d = {kind}[] constant({second})",
        f"u = {kind}[] multiply(x, c)",
        f"v = {kind}[] multiply(y, d)",
        f"ROOT r = {kind}[] add(u, v)",
    )


def scaled(kind: str, *factors: str) -> str:
    """A parameter times constants, one after the other."""
    lines, last = [f"x0 = {kind}[] parameter(0)"], "x0"
    for k, factor in enumerate(factors):
        lines += [f"c{k} = {kind}[] constant({factor})", f"x{k + 1} = {kind}[] multiply({last}, c{k})"]
        last = f"x{k + 1}"
    return entry(*lines[:-1], f"ROOT {lines[-1]}")


def decayed(kind: str, factor: str) -> str:
    """p less a small part of it."""
    return one(
        f"{kind}[4]",
        f"c = {kind}[] constant({factor})",
        f"b = {kind}[4] broadcast(c), dimensions={{}}",
        f"m = {kind}[4] multiply(p, b)",
        f"ROOT r = {kind}[4] subtract(p, m)",
    )


def scaled_through(narrow: str, constant: str) -> str:
    """A parameter times a constant of f32 that goes through a narrow type and back."""
    return one(
        "f32[4]",
        f"c = f32[] constant({constant})",
        f"n = {narrow}[] convert(c)",
        "w = f32[] convert(n)",
        "b = f32[4] broadcast(w), dimensions={}",
        "ROOT r = f32[4] multiply(p, b)",
    )


def array_through(narrow: str) -> str:
    """A parameter times an array of constants that are too small for most narrow types."""
    return one(
        "f32[2]",
        "c = f32[2] constant({1e-9, 2e-9})",
        f"n = {narrow}[2] convert(c)",
        "w = f32[2] convert(n)",
        "ROOT r = f32[2] multiply(p, w)",
    )


def summed_in(kind: str) -> str:
    """A parameter times a sum of products of constants, which is added up in a type."""
    return entry(
        "x = f32[] parameter(0)",
        "c = f16[2] constant({1e-5, 2e-5})",
        "d = f16[2] constant({1e-5, 1e-5})",
        f"u = {kind}[2] convert(c)",
        f"v = {kind}[2] convert(d)",
        f"s = {kind}[] dot(u, v), lhs_contracting_dims={{0}}, rhs_contracting_dims={{0}}",
        "w = f32[] convert(s)",
        "ROOT r = f32[] multiply(x, w)",
    )


def contracted(constant: str) -> tuple[str, str]:
    """A product of arrays of bf16 in f16, one of which holds a constant; and the sum in f16 of products there."""
    given = ("p = bf16[4] parameter(0)", f"c = bf16[] constant({constant})", "b = bf16[4] broadcast(c), dimensions={}")
    return (
        entry(*given, "ROOT r = f16[] dot(p, b), lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
        entry(
            *given,
            "n = f16[4] convert(p)",
            "w = f16[4] convert(b)",
            "m = f16[4] multiply(n, w)",
            "z = f16[] constant(0)",
            "ROOT r = f16[] reduce(m, z), dimensions={0}, to_apply=add",
            before=ADD.replace("f32", "f16"),
        ),
    )


def divided(*divisors: str) -> str:
    """A parameter divided by constants, one after the other."""
    return scaled("f16", *divisors).replace("multiply", "divide")


def less_in_f32(factor: str) -> str:
    """Two products in f32, one less the other, in bf16."""
    return entry(
        "x = f32[] parameter(0)",
        "y = f32[] parameter(1)",
        f"c = f32[] constant({factor})",
        "d = f32[] constant(0.1)",
        "u = f32[] multiply(x, c)",
        "v = f32[] multiply(y, d)",
        "w = f32[] subtract(u, v)",
        "ROOT r = bf16[] convert(w)",
    )


def root_cubed(root: str, number: str = "3") -> str:
    """The sum of three times a root that is raised to the third power."""
    return entry(
        "p = f32[4] parameter(0)",
        f"a = f32[] constant({root})",
        "ab = f32[4] broadcast(a), dimensions={}",
        f"c = f32[] constant({number})",
        "cb = f32[4] broadcast(c), dimensions={}",
        "d = f32[4] power(p, ab)",
        "e = f32[4] power(d, cb)",
        "f = f32[4] multiply(e, cb)",
        "z = f32[] constant(0)",
        "ROOT r = f32[] reduce(f, z), dimensions={0}, to_apply=add",
        before=ADD,
    )


def powers_summed(exponent: str) -> str:
    """Three times the sum of a power."""
    return entry(
        "p = f32[4] parameter(0)",
        f"a = f32[] constant({exponent})",
        "ab = f32[4] broadcast(a), dimensions={}",
        "d = f32[4] power(p, ab)",
        "z = f32[] constant(0)",
        "s = f32[] reduce(d, z), dimensions={0}, to_apply=add",
        "c = f32[] constant(3)",
        "ROOT r = f32[] multiply(s, c)",
        before=ADD,
    )


def counted(kind: str, size: int) -> str:
    """Numbers from 0 on, in a type that may not hold them."""
    return one("pred[]", f"i = {kind}[{size}] iota(), iota_dimension=0", f"ROOT r = s32[{size}] convert(i)")


def exponential(accuracy: str) -> str:
    return one("f32[4]", f"ROOT r = f32[4] exponential(p), result_accuracy={accuracy}")


def cut(before: bool) -> str:
    """A sum of products of floats as an integer, of factors that are cut to integers before or not."""
    lines = ("x = f32[4] parameter(0)", "y = f32[4] parameter(1)")
    if not before:
        return entry(*lines, "ROOT r = s32[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}")
    return entry(
        *lines,
        "a = s32[4] convert(x)",
        "b = s32[4] convert(y)",
        "ROOT r = s32[] dot(a, b), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
    )


def where(kind: str, product: bool) -> str:
    """x times a predicate, or x or zero; in a type without zero what a number that it does not hold becomes."""
    zero = "nan" if kind == "f8e8m0fnu" else "0"
    return entry(
        f"x = {kind}[] parameter(0)",
        "c = pred[] parameter(1)",
        f"k = {kind}[] convert(c)",
        f"z = {kind}[] constant({zero})",
        f"ROOT r = {kind}[] multiply(x, k)" if product else f"ROOT r = {kind}[] select(c, x, z)",
    )


def narrow(product_first: bool) -> str:
    """A dot of f32 in bf16, and the same with factors that are rounded before."""
    lines = ("x = f32[4] parameter(0)", "y = f32[4] parameter(1)")
    if product_first:
        return entry(*lines, "ROOT r = bf16[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}")
    return entry(
        *lines,
        "a = bf16[4] convert(x)",
        "b = bf16[4] convert(y)",
        "m = bf16[4] multiply(a, b)",
        "z = bf16[] constant(0)",
        "ROOT r = bf16[] reduce(m, z), dimensions={0}, to_apply=add",
        before=ADD.replace("f32", "bf16"),
    )


def multiplied(more: str = "") -> str:
    return entry(
        "x = f32[4,4] parameter(0)",
        "y = f32[4,4] parameter(1)",
        f"ROOT r = f32[4,4] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}{more}",
    )


def padded(by_convolution: bool) -> str:
    """A convolution over padding, in a type without zero; what zero becomes in it is no padding either."""
    lines = ("x = f8e8m0fnu[1,4,1] parameter(0)", "w = f8e8m0fnu[2,1,1] parameter(1)")
    if by_convolution:
        window = "window={size=2 pad=1_0}, dim_labels=b0f_0io->b0f"
        return entry(*lines, f"ROOT r = f32[1,4,1] convolution(x, w), {window}")
    return entry(
        *lines,
        "c = f8e8m0fnu[] constant(nan)",
        "p = f8e8m0fnu[1,5,1] pad(x, c), padding=0_0x1_0x0_0",
        "ROOT r = f32[1,4,1] convolution(p, w), window={size=2}, dim_labels=b0f_0io->b0f",
    )


def convolved(more: str = "") -> str:
    return entry(
        "p = f32[1,4,1] parameter(0)",
        "q = f32[2,1,4] parameter(1)",
        f"ROOT r = f32[1,3,4] convolution(p, q), window={{size=2}}, dim_labels=b0f_0io->b0f{more}",
    )


PAIRS = {
    "a sparse convolution is no dense one": (convolved(), convolved(", sparsity_config={lhs={dimension=1}}"), "real"),
    "a gradient for a library is no plain convolution": (convolved(), convolved(", conv_kind=dgrad"), "rounding"),
    "a float saturates, an integer wraps": (
        one("s16[4]", "a = f32[4] convert(p)", "ROOT r = s8[4] convert(a)"),
        one("s16[4]", "ROOT r = s8[4] convert(p)"),
        "exact",
    ),
    "a reciprocal that the type does not hold": (
        one("f8e4m3fn[]", "c = f8e4m3fn[] constant(0.001953125)", "ROOT r = f8e4m3fn[] divide(p, c)"),
        one("f8e4m3fn[]", "c = f8e4m3fn[] constant(nan)", "ROOT r = f8e4m3fn[] multiply(p, c)"),
        "exact",
    ),
    "a complex number times one": (
        one("c64[]", "c = c64[] constant((1, 0))", "ROOT r = c64[] multiply(p, c)"),
        one("c64[]", "ROOT r = c64[] copy(p)"),
        "exact",
    ),
    "zero and minus zero make zero": (
        entry(
            "p = f32[1,4] parameter(0)",
            "z = f32[] constant(0)",
            "ROOT r = f32[4] reduce(p, z), dimensions={0}, to_apply=add",
            before=ADD,
        ),
        one("f32[1,4]", "ROOT r = f32[4] reshape(p)"),
        "exact",
    ),
    "neighbouring whole numbers": (
        one("f32[]", "c = f32[] constant(8388608)", "ROOT r = f32[] add(p, c)"),
        one("f32[]", "c = f32[] constant(8388607)", "ROOT r = f32[] add(p, c)"),
        "real",
    ),
    "whole numbers beside a fraction": (weighted("bf16", "100", "0.5"), weighted("bf16", "101", "0.5"), "rounding"),
    "whole numbers beside a fraction, in f32": (
        weighted("f32", "8388608", "0.5"),
        weighted("f32", "8388609", "0.5"),
        "rounding",
    ),
    "neighbours of f32 that nobody rounded": (
        weighted("f32", "0.1", "2"),
        weighted("f32", "0.10000001", "2"),
        "rounding",
    ),
    "neighbours of bf16 that nobody rounded": (
        weighted("bf16", "0.51", "3"),
        weighted("bf16", "0.515", "3"),
        "rounding",
    ),
    "a neighbour of 1": (scaled("bf16", "1.0078125"), scaled("bf16", "1"), "rounding"),
    "a product that bf16 holds, and its neighbour": (scaled("bf16", "0.5", "3"), scaled("bf16", "1.5078"), "rounding"),
    "a part that f32 loses": (decayed("f32", "1e-7"), one("f32[4]", "ROOT r = f32[4] copy(p)"), "rounding"),
    "a part that f64 loses": (decayed("f64", "1.9e-16"), one("f64[4]", "ROOT r = f64[4] copy(p)"), "rounding"),
    "a part that bf16 loses": (decayed("bf16", "0.00497"), one("bf16[4]", "ROOT r = bf16[4] copy(p)"), "rounding"),
    "neighbours that divide": (against("f32", "divide", "9"), against("f32", "divide", "9.000001"), "rounding"),
    "neighbours that divide, of one reciprocal": (
        against("f32", "divide", "1.99999976"),
        against("f32", "divide", "1.99999988"),
        "rounding",
    ),
    "whole numbers that bf16 does not tell apart": (
        one(
            "bf16[4]",
            "c = bf16[] constant(256)",
            "b = bf16[4] broadcast(c), dimensions={}",
            "m = bf16[4] multiply(p, b)",
            "ROOT r = bf16[4] add(m, p)",
        ),
        against("bf16", "multiply", "256"),
        "rounding",
    ),
    "products that are too small for f32": (
        scaled("f32", "1e-30", "1e-30"),
        scaled("f32", "1e-35", "1e-35"),
        "rounding",
    ),
    "products that f16 has few numbers for": (
        scaled("f16", "1e-4", "1e-4"),
        scaled("f16", "1.5e-4", "1.5e-4"),
        "rounding",
    ),
    "quotients that are too small for f16": (divided("1000", "20000"), divided("1000", "30000"), "rounding"),
    "constants of f32 that bf16 does not tell apart": (less_in_f32("0.1001"), less_in_f32("0.1"), "rounding"),
    "neighbours of bf16 that divide": (against("bf16", "divide", "9"), against("bf16", "divide", "9.0625"), "rounding"),
    "a reciprocal and the neighbour of its rounding": (
        against("f32", "divide", "9"),
        against("f32", "multiply", "0.11111112"),
        "rounding",
    ),
    **{
        f"a constant that {narrow} loses, {way}": (*pair[:: 1 if way == "there" else -1], "rounding")
        for narrow, number in (("f8e4m3fn", "1e-5"), ("f8e5m2", "1e-7"), ("f8e5m2", "1e6"), ("f4e2m1fn", "0.1"))
        for pair in [(scaled_through(narrow, number), against("f32", "multiply", number))]
        for way in ("there", "back")
    },
    "an array of constants that f16 loses": (array_through("f16"), array_through("f32"), "rounding"),
    "a sum of constants that f16 loses": (summed_in("f16"), summed_in("f32"), "rounding"),
    "factors that the type of the sum loses": (*contracted("1e-10"), "rounding"),
    "two steps of bf16": (weighted("bf16", "0.5", "3"), weighted("bf16", "0.5078125", "3"), "rounding"),
    "two steps of f16": (weighted("f16", "0.5", "3"), weighted("f16", "0.5009765625", "3"), "rounding"),
    "a rounded reciprocal that may be taken for zero": (
        against("bf16", "divide", "3.002e+38"),
        against("bf16", "multiply", "3.306e-39"),
        "rounding",
    ),
    "a reciprocal that may be taken for zero": (
        against("f32", "divide", "1.70141183e+38"),
        against("f32", "multiply", "5.87747175e-39"),
        "exact",
    ),
    "a divisor that may be taken for zero": (
        against("f32", "divide", "5.87747175e-39"),
        against("f32", "multiply", "1.70141183e+38"),
        "exact",
    ),
    "a reciprocal that is rounded": (against("f32", "divide", "3"), against("f32", "multiply", "0.333333343"), "real"),
    "a product of exponents that is rounded": (root_cubed("0.1"), powers_summed("0.3"), "real"),
    **{
        f"numbers that {kind} does not count to": (counted(kind, size), counted("s32", size), "exact")
        for kind, size in (("f16", 2050), ("bf16", 258), ("u8", 257), ("s8", 129))
    },
    "how near a function is": (exponential("{mode=highest}"), exponential("{mode=default}"), "real"),
    "how near a function is, by bounds": (
        exponential("{tolerance={atol=0,rtol=0,ulps=1}}"),
        exponential("{tolerance={atol=1,rtol=1,ulps=9}}"),
        "exact",
    ),
    "where floats are cut to integers": (cut(True), cut(False), "rounding"),
    "each operand has its precision": (product("highest,default"), product("default,highest"), "exact"),
    "a type without infinity holds NaN for the lowest value": (
        against("f8e4m3fn", "maximum", "nan"),
        one("f8e4m3fn[4]", "ROOT r = f8e4m3fn[4] copy(p)"),
        "exact",
    ),
    "a type without a negative zero holds NaN for it": (
        against("f8e8m0fnu", "add", "nan"),
        one("f8e8m0fnu[4]", "ROOT r = f8e8m0fnu[4] copy(p)"),
        "exact",
    ),
    "a type without zero has none to choose": (where("f8e8m0fnu", True), where("f8e8m0fnu", False), "real"),
    "a product of constants that is too small": (
        summed("1e-30", "1e-30"),
        one("f32[4]", "ROOT r = f32[] constant(0)"),
        "rounding",
    ),
    "a product of constants that is too large": (summed("1e30", "1e30"), summed("inf", "1"), "rounding"),
    "each factor's precision, exchanged": (turned("highest,default", False), turned("highest,default", True), "exact"),
    "a type without negative numbers": (
        one("f8e8m0fnu[4]", "n = f8e8m0fnu[4] negate(p)", "ROOT r = f8e8m0fnu[4] negate(n)"),
        one("f8e8m0fnu[4]", "ROOT r = f8e8m0fnu[4] copy(p)"),
        "rounding",
    ),
    "a type without zero has none to pad with": (padded(True), padded(False), "exact"),
    "factors that are rounded before": (narrow(True), narrow(False), "real"),
    "an algorithm that rounds": (multiplied(", algorithm=dot_bf16_bf16_f32"), multiplied(), "real"),
    "a precision that rounds": (multiplied(", operand_precision={highest,highest}"), multiplied(), "real"),
    "a conversion through a type without zero": (
        COPY,
        one("f32[4]", "e = f8e8m0fnu[4] convert(p)", "ROOT r = f32[4] convert(e)"),
        "rounding",
    ),
    "a difference in a type without negatives": (
        one("f8e8m0fnu[4]", "a = f32[4] convert(p)", "ROOT r = f32[4] subtract(a, a)"),
        one("f8e8m0fnu[4]", "a = f8e8m0fnu[4] subtract(p, p)", "ROOT r = f32[4] convert(a)"),
        "rounding",
    ),
}


@pytest.mark.parametrize(("before", "after", "tier"), PAIRS.values(), ids=PAIRS)
def test_a_pair_that_differs_is_not_proved(before: str, after: str, tier: str) -> None:
    unproved(before, after, tier)


SOUND = {
    "a convolution that a library is told to take as it is": (convolved(), convolved(", conv_kind=fprop"), "exact"),
    "a convolution is what it is however its groups are written": (
        convolved(),
        convolved(", feature_group_count=1"),
        "real",
    ),
    "the lowest number, where the type holds it": (
        against("f32", "maximum", "-inf"),
        one("f32[4]", "ROOT r = f32[4] copy(p)"),
        "exact",
    ),
    "the lowest number of a type without infinity and NaN": (
        against("f4e2m1fn", "maximum", "-6"),
        one("f4e2m1fn[4]", "ROOT r = f4e2m1fn[4] copy(p)"),
        "exact",
    ),
    "a constant that f8e4m3fn rounds": (
        scaled_through("f8e4m3fn", "1.1"),
        against("f32", "multiply", "1.1"),
        "rounding",
    ),
    "factors that f16 holds": (*contracted("0.5"), "rounding"),
    "a part that is as much in one step": (decayed("f32", "0.1"), against("f32", "multiply", "0.9"), "rounding"),
    "a reciprocal that bf16 rounds": (
        against("bf16", "divide", "9"),
        against("bf16", "multiply", "0.111328125"),
        "rounding",
    ),
    "a product of fractions that is rounded": (scaled("f32", "0.3", "0.7"), scaled("f32", "0.21"), "rounding"),
    "a product that bf16 rounds": (scaled("bf16", "0.51", "3"), scaled("bf16", "1.53"), "rounding"),
    "a product that bf16 holds": (scaled("bf16", "0.5", "3"), scaled("bf16", "1.5"), "rounding"),
    "a reciprocal that is rounded, rounding left out": (
        against("f32", "divide", "3"),
        against("f32", "multiply", "0.333333343"),
        "rounding",
    ),
    "a product of exponents that is rounded, rounding left out": (root_cubed("0.1"), powers_summed("0.3"), "rounding"),
    **{
        f"numbers that {kind} counts to": (counted(kind, size), counted("s32", size), "exact")
        for kind, size in (("f16", 2049), ("bf16", 257), ("u8", 256), ("s8", 128))
    },
    "a product of exponents that the type holds": (root_cubed("0.25"), powers_summed("0.75"), "real"),
    "a reciprocal that the type holds": (against("f32", "divide", "4"), against("f32", "multiply", "0.25"), "exact"),
    "the last reciprocal that is looked at": (
        against("f32", "divide", "16384"),
        against("f32", "multiply", "6.10351562e-05"),
        "exact",
    ),
    "the last divisor that is looked at": (
        against("f32", "divide", "6.10351562e-05"),
        against("f32", "multiply", "16384"),
        "exact",
    ),
    "how near a function is, left out": (exponential("{mode=highest}"), exponential("{mode=default}"), "rounding"),
    "as near as it has to be": (
        exponential("{mode=default}"),
        one("f32[4]", "ROOT r = f32[4] exponential(p)"),
        "exact",
    ),
    "plus negative zero": (
        against("f8e4m3fn", "add", "-0"),
        one("f8e4m3fn[4]", "ROOT r = f8e4m3fn[4] copy(p)"),
        "exact",
    ),
    "a choice of zero": (where("f32", True), where("f32", False), "real"),
    "a product of constants that the type holds": (summed("2", "3"), summed("6", "1"), "real"),
    "each factor's precision": (turned("highest,default", False), turned("default,highest", True), "exact"),
    "factors that are rounded before, rounding left out": (narrow(True), narrow(False), "rounding"),
    "an algorithm that rounds, rounding left out": (
        multiplied(", algorithm=dot_bf16_bf16_f32"),
        multiplied(),
        "rounding",
    ),
}


@pytest.mark.parametrize(("before", "after", "tier"), SOUND.values(), ids=SOUND)
def test_a_pair_beside_them_is_proved(before: str, after: str, tier: str) -> None:
    proved(before, after, tier)


def test_the_order_that_a_reduce_is_free_in_is_told() -> None:
    """The position of the largest element, where ties go to the first."""
    first = (
        "first {\n a = f32[] parameter(0)\n i = s32[] parameter(1)\n b = f32[] parameter(2)\n j = s32[] parameter(3)\n"
        " g = pred[] compare(a, b), direction=GE\n v = f32[] select(g, a, b)\n w = s32[] select(g, i, j)\n"
        " ROOT r = (f32[], s32[]) tuple(v, w)\n}\n"
    )

    def module(given: str) -> str:
        return entry(
            "p = f32[2,3] parameter(0)",
            "i = s32[2,3] parameter(1)",
            "q = f32[3,2] transpose(p), dimensions={1,0}",
            "j = s32[3,2] transpose(i), dimensions={1,0}",
            "z = f32[] constant(-inf)",
            "n = s32[] constant(0)",
            f"s = (f32[], s32[]) reduce({given}, z, n), dimensions={{0,1}}, to_apply=first",
            "ROOT r = s32[] get-tuple-element(s), index=1",
            before=first,
        )

    found = decide(parse_module(module("p, i")), parse_module(module("q, j")), "exact", 5.0)
    assert ("a reduce takes its elements in any order", "exact") in found.axioms


def test_an_exponent_beyond_the_type_is_no_error_of_the_tool() -> None:
    def module(number: str) -> str:
        text = root_cubed("1e300", "1e300").replace("f32", "f64").replace("multiply(e, cb)", f"multiply(e, {number})")
        return text.replace(ADD, ADD.replace("f32", "f64"))

    found = decide(
        parse_module(module("cb")), parse_module(module("ab").replace("add(a, b)", "add(b, a)")), "real", 5.0
    )
    assert found.verdict in ("proved", "unknown")
    other = decide(parse_module(module("cb")), parse_module(module("p")), "real", 1.0)
    assert other.verdict == "unknown"


def _times(a: Term, b: Term) -> Term:
    return App("multiply", "f32", (a, b))


def test_coefficients_stay_short() -> None:
    """2 * x to a power of 2^20, and 3 * x squared twenty times."""
    x: Term = Elem(Graph().node("parameter", "f32", (), (), 0), ())
    found = Polynomials(lambda t: t)
    power = App("power", "f32", (_times(x, from_value("f32", 2)), from_value("f32", 2**20)))
    assert list(found.read(power).values()) == [1]
    assert list(found.read(App("power", "f32", (power.args[0], from_value("f32", 8)))).values()) == [256]
    squared = _times(x, from_value("f32", 3))
    for _ in range(20):
        squared = _times(squared, squared)
    with pytest.raises(TooManyMonomials):
        found.read(squared)


NARROW = tuple(
    name for name in small_float.FLOATS if name in computed_identities.SIGNIFICANT and 4 <= ELEMENT_BITS[name] <= 8
)


@pytest.mark.parametrize("narrow", sorted(NARROW))
def test_a_type_that_is_said_to_hold_another_holds_each_of_its_numbers(narrow: str) -> None:
    """By every pattern of bits: the conversion to the wider type keeps it, and the one back gives the same bits."""
    for wide in sorted(computed_identities.SIGNIFICANT):
        if not computed_identities.holds_all(wide, narrow):
            continue
        for code in range(1 << ELEMENT_BITS[narrow]):
            number = from_bits(narrow, code)
            kept = rounded(wide, number)
            assert (kept != kept) == (number != number) and (kept == number or kept != kept), (narrow, wide, code)
            assert number != number or to_bits(narrow, rounded(narrow, kept)) == code, (narrow, wide, code)
