"""Pairs of which one has a value where the other has none, each found by reading the prover: none may be proved."""

from __future__ import annotations

import pytest
from red_pairs import ADD, COPY, entry, one, proved, unproved

XY = ("x = f32[] parameter(0)", "y = f32[] parameter(1)")

ONES = one("f32[4]", "c = f32[] constant(1)", "ROOT r = f32[4] broadcast(c), dimensions={}")

ROOTS = one("f32[4]", "s = f32[4] sqrt(p)", "ROOT r = f32[4] multiply(s, s)")

QUOTIENT = one("f32[4]", "ROOT r = f32[4] divide(p, p)")

LOGARITHMS = one("f32[4]", "l = f32[4] log(p)", "m = f32[4] subtract(l, l)", "ROOT r = f32[4] add(p, m)")

NOUGHT = one(
    "f32[4]",
    "c = f32[] constant(0)",
    "z = f32[4] broadcast(c), dimensions={}",
    "q = f32[4] divide(p, z)",
    "n = f32[4] multiply(q, z)",
    "ROOT r = f32[4] add(p, n)",
)


def fourth_root(*lines: str) -> str:
    """Of a square it is the root of the magnitude."""
    return one("f32[]", *lines, "c = f32[] constant(0.25)", "ROOT r = f32[] power(s, c)")


def reciprocal_where(product: bool) -> str:
    """1/x where a predicate holds, as a choice or as a product."""
    return entry(
        "x = f32[] parameter(0)",
        "c = pred[] parameter(1)",
        "one = f32[] constant(1)",
        "z = f32[] constant(0)",
        "q = f32[] divide(one, x)",
        "k = f32[] convert(c)",
        f"ROOT r = f32[] {'multiply(q, k)' if product else 'select(c, q, z)'}",
    )


def branching(to_branch: bool, exchange: str) -> str:
    """An exchange between replicas that takes place in a branch, or before the choice."""
    lines = ("p = f32[4] parameter(0)", "c = pred[] parameter(1)")
    functions = "f {\n  x = f32[4] parameter(0)\n  ROOT r = f32[4] %s\n}\n\n"
    if to_branch:
        return entry(
            *lines,
            "ROOT r = f32[4] conditional(c, p, p), true_computation=exchanged, false_computation=f",
            before=ADD + functions.replace("f {", "exchanged {") % exchange.format("x") + functions % "copy(x)",
        ).replace("HloModule m", "HloModule m, replica_count=2")
    return entry(
        *lines,
        f"a = f32[4] {exchange.format('p')}",
        "m = pred[4] broadcast(c), dimensions={}",
        "ROOT r = f32[4] select(m, a, p)",
        before=ADD,
    ).replace("HloModule m", "HloModule m, replica_count=2")


EXCHANGES = (
    "all-reduce({}), to_apply=add",
    "all-reduce({}), to_apply=add, channel_id=1",
    "all-to-all({}), dimensions={{0}}",
    "collective-broadcast({})",
)


def plus_nothing(*lines: str, more: tuple[str, ...] = ()) -> str:
    """p + 0 * q, with the lines that make q."""
    return one(
        "f32[4]",
        *more,
        "n = f32[] constant(0)",
        "z = f32[4] broadcast(n), dimensions={}",
        *lines,
        "m = f32[4] multiply(q, z)",
        "ROOT r = f32[4] add(p, m)",
    )


NORMALISED = (
    *(f"v{k} = f32[2] slice(p), slice={{[{k}:{k + 2}]}}" for k in (0, 1, 2)),
    "w = f32[2,2] reshape(p)",
    "b = f32[2,2] batch-norm-inference(w, v0, v1, v2, v0), epsilon=0.1, feature_index=1",
    "q = f32[4] reshape(b)",
)

NO_NUMBERS = {
    "a power of what may be negative": ("q = f32[4] power(p, p)",),
    "an infinity": ("q = f32[4] constant({inf, 1, 2, 3})",),
    "numbers that the text leaves out": ("q = f32[4] constant({...})",),
    "a NaN": ("q = f32[4] constant({1, 2, 3, nan})",),
    "a normalisation": NORMALISED,
    "a tangent": ("q = f32[4] tan(p)",),
    "bits": ("i = s32[4] bitcast-convert(p)", "j = s32[4] add(i, i)", "q = f32[4] bitcast-convert(j)"),
    "a scale": ("e = f8e8m0fnu[4] convert(p)", "q = f32[4] convert(e)"),
    "a complex quotient": ("x = c64[4] complex(p, p)", "d = c64[4] divide(x, x)", "q = f32[4] real(d)"),
}
"""Numbers that may be none."""


def mean(first: bool) -> str:
    """A sum of quotients, or the quotient of a sum."""
    divided = ("b = f32[4] broadcast(y), dimensions={}", "q = f32[4] divide(x, b)")
    folded = "reduce(q, z)" if first else "reduce(x, z)"
    return entry(
        "x = f32[4] parameter(0)",
        "y = f32[] parameter(1)",
        "z = f32[] constant(0)",
        *(divided if first else ()),
        f"s = f32[] {folded}, dimensions={{0}}, to_apply=add",
        "ROOT r = f32[] copy(s)" if first else "ROOT r = f32[] divide(s, y)",
        before=ADD,
    )


EXTREME = """e = f32[] constant({0})
m = f32[] reduce(p, e), dimensions={{0}}, to_apply={1}
q = f32[4] broadcast(m), dimensions={{}}"""


def cancelled(*lines: str, sizes: str = "f32[4]") -> tuple[str, str, str]:
    """p, and p with q added and taken away again."""
    given = (f"p = {sizes} parameter(0)", "n = s32[4] parameter(1)", "s = f32[4] parameter(2)")
    last = (f"a = {sizes} add(p, q)", f"ROOT r = {sizes} subtract(a, q)")
    functions = "".join(ADD.replace("add", op) for op in ("maximum", "minimum"))
    plain = entry(*given, f"ROOT r = {sizes} copy(p)", before=functions)
    return plain, entry(*given, *lines, *last, before=functions), "rounding"


def spread(number: str) -> tuple[str, str]:
    return f"c = f32[] constant({number})", "q = f32[4] broadcast(c), dimensions={}"


def looped(start: str, *turn: str) -> str:
    """A loop over v that begins at `start` of x; a turn gives w."""
    states = "(s32[], f32[], f32[], pred[])"
    read = "".join(
        f"  {name} = {kind} get-tuple-element(s), index={k}\n"
        for k, (name, kind) in enumerate((("i", "s32[]"), ("v", "f32[]"), ("x", "f32[]"), ("p", "pred[]")))
    )
    functions = (
        f"c {{\n  s = {states} parameter(0)\n{read}  n = s32[] constant(300)\n"
        "  ROOT r = pred[] compare(i, n), direction=LT\n}\n\n"
        f"b {{\n  s = {states} parameter(0)\n{read}  o = s32[] constant(1)\n  j = s32[] add(i, o)\n"
        + "".join(f"  {line}\n" for line in turn)
        + f"  ROOT r = {states} tuple(j, w, x, p)\n}}\n\n"
    )
    return entry(
        "x = f32[] parameter(0)",
        "p = pred[] parameter(1)",
        f"a = f32[] {start}(x)",
        "z = s32[] constant(0)",
        f"t = {states} tuple(z, a, x, p)",
        f"l = {states} while(t), condition=c, body=b",
        "ROOT o = f32[] get-tuple-element(l), index=1",
        before=functions,
    )


CHOSEN = "w = f32[] select(p, v, x)"
"""Has a value where p does not hold, whether v has one or not."""

CHOSEN_AND_MORE = ("u = f32[] select(p, v, x)", "d = f32[] subtract(v, v)", "w = f32[] add(u, d)")

ROOT_OF_P = ("x = f32[4] parameter(0)", "p = f32[] parameter(1)", "n = f32[] constant(0)", "s = f32[] sqrt(p)")


def summed(*lines: str) -> str:
    """The sum of x; or what these lines make of it, with the root s of p."""
    return entry(*ROOT_OF_P, *(lines or ("ROOT r = f32[] reduce(x, n), dimensions={0}, to_apply=add",)), before=ADD)


def two_sums(factor: str) -> tuple[str, str, str]:
    """Nothing, and the difference of two sums of as many equal numbers."""
    lines = (
        "o = f32[] constant(1)",
        f"t = f32[] {factor}",
        "a = f32[4] broadcast(t), dimensions={}",
        "b = f32[2,2] broadcast(t), dimensions={}",
        "u = f32[] reduce(a, n), dimensions={0}, to_apply=add",
        "v = f32[] reduce(b, n), dimensions={0,1}, to_apply=add",
        "ROOT r = f32[] subtract(u, v)",
    )
    return summed("ROOT r = f32[] copy(n)"), summed(*lines), "real"


def beside(more: str) -> tuple[str, str, str]:
    """The sum of x, and that of x with something on either side."""
    lines = (f"z = f32[] {more}", "y = f32[6] pad(x, z), padding=1_1")
    return summed(), summed(*lines, "ROOT r = f32[] reduce(y, n), dimensions={0}, to_apply=add"), "real"


SENT = "q = f32[4] collective-permute(b), source_target_pairs={{0,0}}"
"""An operation of which nothing is known but that numbers give numbers."""

PAIRS = {
    "a maximum of nothing, sent": cancelled(
        "v = f32[0] slice(p), slice={[0:0]}",
        "c = f32[] constant(-inf)",
        "m = f32[] reduce(v, c), dimensions={0}, to_apply=maximum",
        "b = f32[4] broadcast(m), dimensions={}",
        SENT,
    ),
    "a maximum of infinities, sent": cancelled(
        "c = f32[] constant(-inf)", "d = f32[4] broadcast(c), dimensions={}", "b = f32[4] maximum(d, d)", SENT
    ),
    "bits in another shape, sent": cancelled("m = s32[2,2] reshape(n)", "b = f32[4] bitcast(m)", SENT),
    "a root less itself beside what is summed": beside("subtract(s, s)"),
    "sums of roots": two_sums("copy(s)"),
    "sums of quotients": two_sums("divide(o, p)"),
    "a state that begins without a value": (looped("log", CHOSEN), looped("log", *CHOSEN_AND_MORE), "rounding"),
    "a state that loses its value": (
        looped("copy", "y = f32[] log(v)", "w = f32[] select(p, y, x)"),
        looped("copy", "y = f32[] log(v)", "u = f32[] select(p, y, x)", *CHOSEN_AND_MORE[1:]),
        "rounding",
    ),
    "infinity less infinity": cancelled(*spread("inf")),
    "NaN less NaN": cancelled(*spread("nan")),
    "a constant of which one element is infinite": cancelled("q = f32[4] constant({1, 2, -inf, 3})"),
    "bits that may be NaN": cancelled("q = f32[4] bitcast-convert(n)"),
    "bits that may be NaN, in place": cancelled("q = f32[4] bitcast(n)"),
    "poles of the tangent": cancelled("q = f32[4] tan(p)"),
    "a multiple of infinity": cancelled(
        *spread("inf")[:1], "b = f32[4] broadcast(c), dimensions={}", "q = f32[4] multiply(p, b)"
    ),
    "a variance below zero": cancelled(
        "q = f32[2,4] batch-norm-inference(p, s, s, s, s), epsilon=0.001, feature_index=1", sizes="f32[2,4]"
    ),
    "a minimum that begins at the lowest": cancelled(*EXTREME.format("-inf", "minimum").splitlines()),
    "a root of a product of two negatives": (
        entry(*XY, "z = f32[] multiply(x, y)", "ROOT r = f32[] sqrt(z)"),
        entry(*XY, "a = f32[] sqrt(x)", "b = f32[] sqrt(y)", "ROOT r = f32[] multiply(a, b)"),
        "real",
    ),
    "a fourth root of a square": (
        fourth_root("s = f32[] multiply(p, p)"),
        one("f32[]", "ROOT r = f32[] sqrt(p)"),
        "real",
    ),
    "a reciprocal that is infinite": (
        one("f32[]", "c = f32[] constant(1e-45)", "ROOT r = f32[] divide(p, c)"),
        one("f32[]", "c = f32[] constant(inf)", "ROOT r = f32[] multiply(p, c)"),
        "real",
    ),
    "roots of what may be negative": (COPY, ROOTS, "rounding"),
    "a quotient of what may be zero": (ONES, QUOTIENT, "rounding"),
    "a difference of logarithms": (COPY, LOGARITHMS, "rounding"),
    "zero times a quotient": (COPY, NOUGHT, "rounding"),
    "zero times a reciprocal": (reciprocal_where(False), reciprocal_where(True), "rounding"),
    **{f"zero times {name}": (COPY, plus_nothing(*q), "rounding") for name, q in NO_NUMBERS.items()},
    "an infinity that cancels": (
        COPY,
        one("f32[4]", "c = f32[4] constant({inf, 1, 2, 3})", "s = f32[4] add(p, c)", "ROOT r = f32[4] subtract(s, c)"),
        "rounding",
    ),
    **{
        f"{swap.partition('(')[0]} {n} out of a branch": (branching(True, swap), branching(False, swap), "exact")
        for n, swap in enumerate(EXCHANGES)
    },
}


@pytest.mark.parametrize(("before", "after", "tier"), PAIRS.values(), ids=PAIRS)
def test_a_pair_that_differs_is_not_proved(before: str, after: str, tier: str) -> None:
    unproved(before, after, tier)


SOUND = {
    "a state that always has a value": (looped("cosine", CHOSEN), looped("cosine", *CHOSEN_AND_MORE), "real"),
    "a state without a value, left out": (looped("log", *CHOSEN_AND_MORE), looped("log", CHOSEN), "real"),
    "a number, and the same less it": (*cancelled(*spread("2"))[:2], "real"),
    "a constant of numbers": (*cancelled("q = f32[4] constant({1, 2, -4, 3})")[:2], "real"),
    "a maximum that begins at the lowest": (*cancelled(*EXTREME.format("-inf", "maximum").splitlines())[:2], "real"),
    "a minimum that begins at the highest": (*cancelled(*EXTREME.format("inf", "minimum").splitlines())[:2], "real"),
    "zero times a number": (COPY, plus_nothing("q = f32[4] cbrt(p)"), "real"),
    "zero times numbers": (COPY, plus_nothing("q = f32[4] constant({4, 1, 2, 3})"), "real"),
    "roots that are gone afterwards": (ROOTS, COPY, "real"),
    "a product that is a choice afterwards": (reciprocal_where(True), reciprocal_where(False), "real"),
    "a fourth root of a cube": (
        fourth_root("q = f32[] multiply(p, p)", "s = f32[] multiply(q, p)"),
        one("f32[]", "c = f32[] constant(0.75)", "ROOT r = f32[] power(p, c)"),
        "real",
    ),
    "a quotient taken out of a sum": (mean(True), mean(False), "real"),
    "a quotient put into a sum": (mean(False), mean(True), "real"),
}


@pytest.mark.parametrize(("before", "after", "tier"), SOUND.values(), ids=SOUND)
def test_a_pair_beside_them_is_proved(before: str, after: str, tier: str) -> None:
    proved(before, after, tier)


@pytest.mark.parametrize(
    "call", ["acos(q)", "asin(q)", "acosh(q)", "atanh(q)", "tan(q)", 'custom-call(q), custom_call_target="c"']
)
def test_what_may_have_no_value_is_not_taken_away(call: str) -> None:
    given = ("p = f32[4] parameter(0)", "q = f32[4] parameter(1)")

    def made(of: str) -> str:
        return entry(*given, f"a = f32[4] {of}", "s = f32[4] add(p, a)", "ROOT r = f32[4] subtract(s, a)")

    unproved(entry(*given, "ROOT r = f32[4] copy(p)"), made(call), "real")
    proved(entry(*given, "ROOT r = f32[4] copy(p)"), made("sine(q)"), "real")


def test_a_factor_that_goes_is_owed_to_be_other_than_zero() -> None:
    """Where it is zero is met by no input that is tried."""
    lines = ("c = f32[] constant(1000.5)", "s = f32[] subtract(p, c)", "a = f32[] abs(s)")
    plain = one("f32[]", *lines, "ROOT r = f32[] copy(a)")
    divided = one("f32[]", *lines, "q = f32[] multiply(a, a)", "ROOT r = f32[] divide(q, a)")
    unproved(plain, divided, "real")
    proved(divided, plain, "real")
