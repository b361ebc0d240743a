"""A proof over the real numbers stands where a run on small numbers finds that none is lost."""

from __future__ import annotations

from itertools import chain, repeat
from time import process_time

import pytest
from red_pairs import ADD, entry

from hloproof.equivalence import decide
from hloproof.equivalence.refuting import inputs
from hloproof.equivalence.refuting.refute import Refuter
from hloproof.equivalence.refuting.witness import where_a_number_is_lost
from hloproof.models.hlo.module import Module
from hloproof.models.hlo.parser import parse_module
from hloproof.models.interpreter.compact.classed import MOST_WRITTEN_OUT
from hloproof.queries import equivalence
from hloproof.queries.equivalence import compare


def quotient(number: str, as_product: bool, kind: str = "f32") -> str:
    """x divided by a number or by 1, as an input chooses, in words or times a reciprocal."""
    last = (f"i = {kind}[4] divide(one, s)", f"ROOT r = {kind}[4] multiply(x, i)")
    return entry(
        f"x = {kind}[4] parameter(0)",
        "p = pred[4] parameter(1)",
        f"c = {kind}[] constant({number})",
        f"small = {kind}[4] broadcast(c), dimensions={{}}",
        f"nothing = {kind}[4] subtract(x, x)",
        f"low = {kind}[4] add(nothing, small)",
        f"o = {kind}[] constant(1)",
        f"one = {kind}[4] broadcast(o), dimensions={{}}",
        f"s = {kind}[4] select(p, low, one)",
        *(last if as_product else (f"ROOT r = {kind}[4] divide(x, s)",)),
    )


def inverse_root(of: str) -> str:
    lines = f"c = f32[] constant({of})", "y = f32[] rsqrt(c)", "ROOT r = f32[] add(x, y)"
    return entry("x = f32[] parameter(0)", *lines)


LOST = (quotient("1e-40", False), quotient("1e-40", True))
KEPT = (quotient("1e-30", False), quotient("1e-30", True))


@pytest.mark.parametrize("tier", ["real", "rounding"])
def test_a_number_that_is_lost_is_unknown(tier: str) -> None:
    """1 divided by 1e-40 is too large, and 0 times an infinity is no number. Over the reals the two are equal, so the
    prover says what it should."""
    before, after = map(parse_module, LOST)
    assert decide(before, after, tier, 5.0).verdict == "proved"  # type: ignore[arg-type]
    answer = compare(before, after, tier)  # type: ignore[arg-type]
    assert answer.verdict == "unknown" and answer.certificate is None
    assert "0 before and nan after for some small inputs" in answer.reason


@pytest.mark.parametrize("tier", ["real", "rounding"])
def test_a_number_that_has_a_reciprocal_is_proved(tier: str) -> None:
    before, after = map(parse_module, KEPT)
    answer = compare(before, after, tier)  # type: ignore[arg-type]
    assert answer.verdict == "proved" and ("reciprocal", "real") in answer.axioms


def test_what_has_no_value_before_may_be_anything_after() -> None:
    before, after = map(parse_module, LOST)
    assert where_a_number_is_lost(after, before, 5.0) == ""
    before, after = parse_module(inverse_root("-1")), parse_module(inverse_root("1"))
    assert where_a_number_is_lost(before, after, 5.0) == ""
    told = where_a_number_is_lost(after, before, 5.0)
    assert told.startswith("element [] is ") and told.endswith(" before and nan after for some small inputs")


def test_the_part_of_a_tuple_is_named() -> None:
    added = "\n  ROOT t = (f32[4], f32[4]) tuple(x, r)\n}\n"
    first, second = (parse_module(text.replace("ROOT r", "r").removesuffix("\n}\n") + added) for text in LOST)
    assert where_a_number_is_lost(first, second, 5.0).startswith("element [0] of result 1 is 0 before")


def through(kind: str, *lines: str) -> tuple[str, str]:
    """What these make of `x`, called `p`, through a type and back, and as it is."""
    given = ("x = f32[4] parameter(0)", *lines)
    back = (f"n = {kind}[4] convert(p)", "ROOT r = f32[4] convert(n)")
    return entry(*given, *back), entry(*given, "ROOT r = f32[4] copy(p)")


LOW = ("c = f32[] constant(1e-5)", "low = f32[4] broadcast(c), dimensions={}")
LOST_IN_THE_RESULT = {
    "a constant beside what is nothing": (*LOW, "y = f32[4] subtract(x, x)", "p = f32[4] add(y, low)"),
    "a small share": (*LOW, "y = f32[4] tanh(x)", "p = f32[4] multiply(y, low)"),
}


@pytest.mark.parametrize("what", LOST_IN_THE_RESULT)
@pytest.mark.parametrize("turned", [False, True])
def test_what_is_zero_in_one_module_alone_is_unknown(what: str, turned: bool) -> None:
    """f8e4m3fn holds nothing between 0 and 2^-10, bf16 does."""
    for kind, verdict in (("f8e4m3fn", "unknown"), ("bf16", "proved")):
        texts = through(kind, *LOST_IN_THE_RESULT[what])
        before, after = map(parse_module, texts[::-1] if turned else texts)
        assert decide(before, after, "rounding", 5.0).verdict == "proved"
        answer = compare(before, after, "rounding")
        assert answer.verdict == verdict
        assert ("element [0] is zero in one of the two alone" in answer.reason) == (verdict == "unknown")


def test_what_is_no_number_is_not_zero_in_the_other_alone() -> None:
    """0 times an infinity may be anything, whatever the inputs are."""
    lines = (*LOW, "y = f32[4] subtract(x, x)", "i = f32[] constant(inf)", "k = f32[4] broadcast(i), dimensions={}")
    none = parse_module(entry("x = f32[4] parameter(0)", *lines, "ROOT r = f32[4] multiply(y, k)"))
    zero = parse_module(entry("x = f32[4] parameter(0)", *lines, "ROOT r = f32[4] subtract(low, low)"))
    assert where_a_number_is_lost(none, zero, 5.0) == ""
    assert "zero before and nan after" in where_a_number_is_lost(zero, none, 5.0).replace(" 0 ", " zero ")


def test_what_rounding_makes_zero_for_some_inputs_is_proved() -> None:
    """0.5 * 2^-9 is a tie in f8e4m3fn, and taken for zero; 1 * 2^-9 is not."""
    lines = "c = f32[] constant(0.001953125)", "low = f32[4] broadcast(c), dimensions={}"
    before, after = map(parse_module, through("f8e4m3fn", *lines, "p = f32[4] multiply(x, low)"))
    assert compare(before, after, "rounding").verdict == "proved"


def test_what_cannot_be_run_in_the_time_says_nothing() -> None:
    before, after = map(parse_module, LOST)
    assert where_a_number_is_lost(before, after, -1.0) == ""
    outside = "p = pred[4] parameter(1)", 'p = pred[4] custom-call(x), custom_call_target="chosen"'
    before, after = (parse_module(text.replace(*outside)) for text in LOST)
    assert where_a_number_is_lost(before, after, 5.0) == ""


def lost(lines: str, kind: str = "f32[4]", size: str = "4", head: str = "HloModule m") -> str:
    """What is said of a module that hands on its first parameter, and of one that computes `r` of two."""
    given = f"p = {kind} parameter(0)", f"q = {kind} parameter(1)"
    before = entry(*given, f"ROOT r = {kind} negate(p)", before=ADD)
    z = f"z = {kind.partition('[')[0]}[] constant(0)", f"zero = {kind} broadcast(z), dimensions={{}}"
    after = entry(*given, *z, *lines.format(kind=kind, size=size).split("; "), before=ADD)
    ours, theirs = (parse_module(text.replace("HloModule m", head)) for text in (before, after))
    return where_a_number_is_lost(ours, theirs, 5.0)


INFINITE = "o = {kind} exponential(zero); i = {kind} divide(o, zero)"
CHOSEN = INFINITE + "; c = pred[{size}] and(a, b); ROOT r = {kind} select(c, i, p)"


@pytest.mark.parametrize("kind", ["f32[4]", "f64[4]", "f16[4]", "bf16[4]"])
def test_an_infinity_is_no_number(kind: str) -> None:
    assert "before and inf after" in lost(f"{INFINITE}; ROOT r = {{kind}} add(p, i)", kind)
    assert lost("o = {kind} exponential(zero); ROOT r = {kind} add(p, o)", kind) == ""


def test_a_complex_number_that_is_lost_is_told() -> None:
    complexes = (text.replace("ROOT r", "r").removesuffix("\n}\n") for text in LOST)
    before, after = (parse_module(text + "\n  ROOT w = c64[4] complex(x, r)\n}\n") for text in complexes)
    told = "element [0] is 0+0j before and 0+nanj after for some small inputs"
    assert where_a_number_is_lost(before, after, 5.0) == told


@pytest.mark.parametrize(("one", "other"), [("EQ", "EQ"), ("NE", "NE"), ("NE", "EQ")])
def test_zeros_are_tried_and_other_numbers_and_both_at_once(one: str, other: str) -> None:
    asked = (
        f"a = pred[{{size}}] compare(p, zero), direction={one}; b = pred[{{size}}] compare(q, zero), direction={other}"
    )
    assert lost(f"{asked}; {CHOSEN}") != ""


def test_what_is_too_large_is_run_in_parts_alone() -> None:
    assert lost(f"{INFINITE}; ROOT r = {{kind}} add(p, i)", "f32[100000,100000]").startswith("element [0, 0] is")


def test_inputs_that_cannot_be_made_up_in_the_time_are_not() -> None:
    """Six times eight million numbers were made up whatever the time."""
    lines = "p = f32[4194304] parameter(0)", "q = f32[4194304] parameter(1)", "ROOT r = f32[4194304] add(p, q)"
    module = parse_module(entry(*lines))
    start = process_time()
    assert where_a_number_is_lost(module, module, 0.2) == ""
    assert process_time() - start < 4.0


@pytest.mark.parametrize(("replicas", "parameters"), [(100_000, 1), (100, 1000)])
def test_inputs_for_more_devices_than_there_is_time_for_are_not_made_up(replicas: int, parameters: int) -> None:
    """Those in parts take no time for their sizes, and some for each device."""
    lines = [f"p{k} = f32[64,64] parameter({k})" for k in range(parameters)]
    text = entry(*lines, "ROOT r = f32[64,64] negate(p0)")
    module = parse_module(text.replace("HloModule m", f"HloModule m, replica_count={replicas}"))
    start = process_time()
    assert where_a_number_is_lost(module, module, 0.2) == ""
    assert Refuter(module, module).glance(0.2) is None
    assert process_time() - start < 4.0


def test_a_run_beside_a_proof_has_no_more_time_than_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[float] = []

    def run(before: Module, after: Module, seconds: float) -> str:
        given.append(seconds)
        return ""

    monkeypatch.setattr(equivalence, "where_a_number_is_lost", run)
    for seconds, most in ((0.0, 0.5), (9.9, 0.1)):  # what the proof took of ten
        clock = chain([100.0], repeat(100.0 + seconds))
        monkeypatch.setattr(equivalence, "monotonic", clock.__next__)
        assert compare(parse_module(KEPT[0]), parse_module(KEPT[1]), "real", 10.0).verdict == "proved"
        assert given.pop() == pytest.approx(most)


def test_what_follows_from_the_bits_of_a_nan_is_not_told() -> None:
    nan = "n = {kind} divide(zero, zero); u = u32[{size}] bitcast-convert(n); f = {kind} convert(u)"
    assert lost(f"{nan}; i = {{kind}} divide(f, zero); ROOT r = {{kind}} add(p, i)") == ""


def test_modules_are_run_without_sugar() -> None:
    flight = "s = (({kind}), {kind}, u32[]) negate-start(p); n = {kind} negate-done(s)"
    assert lost(f"{flight}; {INFINITE}; ROOT r = {{kind}} add(n, i)") != ""


def test_as_many_devices_run_as_the_modules_are_for() -> None:
    """The number of the second of two is no zero."""
    lines = "n = u32[] replica-id(); f = f32[] convert(n); a = f32[] all-reduce(f), replica_groups={{{{0,1}}}}, "
    lines += "to_apply=add; b = {kind} broadcast(a), dimensions={{}}; e = pred[{size}] compare(b, zero), direction=NE; "
    lines += INFINITE + "; ROOT r = {kind} select(e, i, p)"
    assert lost(lines, head="HloModule m, replica_count=2") != ""


@pytest.mark.parametrize("part", ["real", "imag"])
def test_complex_inputs_have_two_parts_that_may_be_zero(part: str) -> None:
    zero = entry("z = c64[4] parameter(0)", f"r = f32[4] {part}(z)", "ROOT q = f32[4] copy(r)")
    lines = (
        "z = c64[4] parameter(0)",
        f"r = f32[4] {part}(z)",
        "d = f32[4] divide(r, r)",
        "ROOT q = f32[4] multiply(r, d)",
    )
    assert "is 0 before and nan after" in where_a_number_is_lost(parse_module(zero), parse_module(entry(*lines)), 5.0)


def test_a_rounding_that_is_put_in_may_lose_a_number() -> None:
    def through(kind: str, number: str) -> str:
        most = f"c = f32[] constant({number})", "m = f32[] multiply(x, c)"
        return entry("x = f32[] parameter(0)", *most, f"h = {kind}[] convert(m)", "ROOT r = f32[] convert(h)")

    for number, verdict in (("1e6", "unknown"), ("1e3", "proved")):
        before, after = parse_module(through("f32", number)), parse_module(through("f16", number))
        assert "rounding" in {tier for _, tier in decide(before, after, "rounding", 5.0).axioms}
        assert compare(before, after, "rounding").verdict == verdict


def test_a_rounding_alone_may_lose_a_number() -> None:
    """e to the e to the e is no number of sixteen bits, and what it is the power of at 0 is."""

    def powers(*last: str) -> str:
        return entry(
            "x = f32[4] parameter(0)", *(f"{b} = f32[4] exponential({a})" for a, b in ("xy", "yz", "zw")), *last
        )

    straight = parse_module(powers("ROOT r = f32[4] copy(w)"))
    for kind, verdict in (("f16", "unknown"), ("bf16", "proved")):
        rounded = parse_module(powers(f"h = {kind}[4] convert(w)", "ROOT r = f32[4] convert(h)"))
        assert {tier for _, tier in decide(straight, rounded, "rounding", 5.0).axioms} == {"rounding"}
        assert compare(straight, rounded, "rounding").verdict == verdict


def test_a_number_may_be_lost_whatever_else_is_exact() -> None:
    def with_sum(text: str, total: str) -> str:
        whole = text.replace("ROOT r", "n = s32[] parameter(2)\n  r").removesuffix("\n}\n")
        return f"{whole}\n  m = s32[] {total}\n  ROOT t = (f32[4], s32[]) tuple(r, m)\n}}\n"

    for (first, second), verdict in ((LOST, "unknown"), (KEPT, "proved")):
        before, after = (
            parse_module(with_sum(first, "add(n, n)")),
            parse_module(with_sum(second, "subtract(n, k)").replace("m = s32", "k = s32[] negate(n)\n  m = s32")),
        )
        assert {tier for _, tier in decide(before, after, "real", 5.0).axioms} == {"exact", "real"}
        assert compare(before, after, "real").verdict == verdict


def scattered(size: int, seconds: float) -> str:
    """What is said of an array that is scattered into, for which inputs in parts are written out."""
    kind = f"f32[{size}]"
    lines = (
        f"p = {kind} parameter(0)",
        "j = s32[1] constant({1})",
        "u = f32[1] constant({1})",
        f"s = {kind} scatter(p, j, u), update_window_dims={{}}, inserted_window_dims={{0}}, "
        "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
    )
    infinite = INFINITE.format(kind=kind).split("; ")
    zero = "z = f32[] constant(0)", f"zero = {kind} broadcast(z), dimensions={{}}"
    before = entry(*lines, f"ROOT r = {kind} negate(s)", before=ADD)
    after = entry(*lines, *zero, *infinite, f"ROOT r = {kind} add(s, i)", before=ADD)
    return where_a_number_is_lost(parse_module(before), parse_module(after), seconds)


def test_what_cannot_be_run_in_parts_is_run_whole_where_there_is_time(monkeypatch: pytest.MonkeyPatch) -> None:
    assert scattered(MOST_WRITTEN_OUT + 1, 60.0) != ""
    monkeypatch.setattr(inputs, "_value", lambda *_: pytest.fail("made up"))
    assert scattered(MOST_WRITTEN_OUT + 1, 0.2) == ""
