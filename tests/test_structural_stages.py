"""Digits and intervals are proved, not trusted: an error planted in them is refuted in the default mode."""

from __future__ import annotations

import pytest
from benchmarks.hard_set import ALIGNED_CHAINS, COPRIME_CHAINS, reshape_chain

from hloproof.engines import procedures
from hloproof.engines.gave_up import GaveUp, NotExpressible
from hloproof.engines.isl import encode as encode_isl
from hloproof.engines.portfolio import prove
from hloproof.engines.structural import intervals, mixed_radix
from hloproof.engines.z3 import encode as encode_z3
from hloproof.logic.formula import Exists, Formula, conj, eq, le
from hloproof.logic.normal_form import identical, key, written_the_same
from hloproof.logic.obligation import Obligation
from hloproof.models.expressions.expr import Expr, Var, maximum, minimum
from hloproof.models.expressions.interval import Interval

d, e = Var("d"), Var("e")
SMALL, WIDE = Interval(0, 49), Interval(0, 99)


def isl(obligation: Obligation) -> dict[str, int] | None:
    return encode_isl.find_counterexample(obligation, 10**7)


def z3(obligation: Obligation) -> dict[str, int] | None:
    return encode_z3.find_counterexample(obligation, 10**7)


@pytest.mark.parametrize("ask", [isl, z3], ids=["isl", "z3"])
@pytest.mark.parametrize("chain", ALIGNED_CHAINS[:4] + COPRIME_CHAINS[:3])
@pytest.mark.parametrize("wrong", [False, True])
def test_reshape_chains_by_digits(ask: intervals.Ask, chain: list[tuple[int, ...]], wrong: bool) -> None:
    found = mixed_radix.find_counterexample(reshape_chain(chain, "", wrong), ask)
    assert (found is not None) == wrong


DIGITS: list[tuple[Expr, Expr]] = [
    ((d * 100 + e) // 100, d),
    ((d * 100 + e) % 100, e),
    ((d * 100 + e) // 50, (d * 100 + e) // 50),  # e does not fit below 50
    ((d * 100 + e) // 400, d // 4),
    ((d * 100 + e) % 400, (d % 4) * 100 + e),
    ((d * 100 + e + 700) // 100, d + 7),
    (d // 5 // 7, d // 35),
    ((d * 3 + e) // 7 * 7 + (d * 3 + e) % 7, d * 3 + e),
    (((d * 3 + e) // 5 // 7 * 7 + (d * 3 + e) // 5 % 7) * 5 + (d * 3 + e) % 5, d * 3 + e),
]


@pytest.mark.parametrize(("before", "after"), DIGITS)
def test_digits_of_a_term(before: Expr, after: Expr) -> None:
    obligation = Obligation((("d", SMALL), ("e", WIDE)), eq(before, after))
    try:
        left, goal = mixed_radix.take_apart(obligation)
    except NotExpressible:
        assert before is after
        return
    assert isl(goal) is None
    assert isl(left) is None


def test_steps_under_a_quantifier_are_for_all_its_values() -> None:
    body = conj(eq(Var("w") // 100, 0), eq(Var("w"), d))
    obligation = Obligation((("d", SMALL),), Exists((("w", WIDE),), body))
    assert mixed_radix.find_counterexample(obligation, isl) is None


def test_nothing_is_inferred_under_an_empty_quantifier() -> None:
    body: Formula = eq(d // 100, Var("w"))
    with pytest.raises(NotExpressible):
        mixed_radix.take_apart(Obligation((("d", SMALL),), Exists((("w", Interval(1, 0)),), body)))


def too_small(root: Expr, box: dict[str, intervals.Bounds]) -> dict[Expr, intervals.Bounds]:
    """The planted error: every upper bound is halved."""
    true = intervals.ranges(root, box)
    return {e: (lower, upper if upper is None else upper // 2) for e, (lower, upper) in true.items()}


def gives_up(obligation: Obligation, budget: object) -> None:
    raise GaveUp("asked to")


def test_a_digit_of_the_wrong_size_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """With (10, 5) for the digits of [0, 99], the mod seems to do nothing."""
    wrong = Obligation((("d", WIDE),), eq((d // 10) % 5, d // 10))
    monkeypatch.setattr(mixed_radix, "ranges", too_small)
    left, goal = mixed_radix.take_apart(wrong)
    assert isl(left) is None  # what is left would prove the wrong claim
    assert isl(goal) is not None
    monkeypatch.setitem(procedures.ENGINES, "isl briefly", gives_up)
    assert prove(wrong).verdict == "refuted"
    assert prove(Obligation((("d", SMALL),), eq((d // 10) % 5, d // 10))).verdict == "proved"


def test_a_wrong_split_into_digits_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mixed_radix, "gcd", lambda *values: values[0])  # a chain of divisors that is none
    wrong = Obligation((("d", WIDE), ("e", Interval(0, 9))), eq((d * 7 + e) // 14, d // 2))
    _, goal = mixed_radix.take_apart(wrong)
    assert isl(goal) is not None
    monkeypatch.setitem(procedures.ENGINES, "isl briefly", gives_up)
    assert prove(wrong).verdict == "refuted"


PRODUCTS: list[tuple[Formula, bool]] = [
    (le(d * e, 49 * 99), True),
    (le(d * e, 49 * 99 - 1), False),
    (conj(le(0, d * e), le(d // (e + 1), 49)), True),
    (le((d + e) * (d + e), 148 * 148), True),
]


@pytest.mark.parametrize(("conclusion", "true"), PRODUCTS)
def test_intervals_prove_or_give_up(conclusion: Formula, true: bool) -> None:
    obligation = Obligation((("d", SMALL), ("e", WIDE)), conclusion)
    if true:
        intervals.find_counterexample(obligation, z3)
    else:
        with pytest.raises(GaveUp):
            intervals.find_counterexample(obligation, z3)
    assert prove(obligation).verdict == ("proved" if true else "refuted")


def test_bounds_that_are_the_wrong_way_round_divide_nothing() -> None:
    nothing = (("a", Interval(1, 0)),)
    with pytest.raises(GaveUp):
        intervals.find_counterexample(Obligation(nothing, le(Var("a") // Var("a"), 3)), z3)


@pytest.mark.parametrize("op", ["*", "+", "floordiv", "ceildiv", "mod", "min", "max"])
def test_a_wrong_bound_is_refuted(monkeypatch: pytest.MonkeyPatch, op: str) -> None:
    right = intervals._range

    def planted(o: str, x: intervals.Bounds, y: intervals.Bounds) -> intervals.Bounds:
        lower, upper = right(o, x, y)
        return (lower, upper if o != op or upper is None else upper // 2)

    term, upper = {
        "*": (d * e, 49 * 99),
        "+": (d + e, 148),
        "floordiv": (d // 2, 24),
        "ceildiv": (d.ceildiv(2), 25),
        "mod": (e % 80, 79),
        "min": (minimum(e, 80), 80),
        "max": (maximum(d, 40), 49),
    }[op]
    wrong = Obligation((("d", SMALL), ("e", WIDE)), le(term, upper - 1))
    monkeypatch.setattr(intervals, "_range", planted)
    with pytest.raises(GaveUp):
        intervals.find_counterexample(wrong, z3)
    for stage in ("isl briefly", "digits", "isl"):
        monkeypatch.setitem(procedures.ENGINES, stage, gives_up)
    assert prove(wrong).verdict == "refuted"


WRITTEN: list[tuple[Expr, Expr, bool]] = [
    (d + e, e + d, True),
    (d * 2 + (e + 1), 1 + (e + d * 2), True),
    (d - e, e - d, False),
    (d // e, e // d, False),
    ((d + e) * 2, d * 2 + e * 2, False),  # true, but not written the same
    (d + 0, d, False),
    (d, e, False),
]


@pytest.mark.parametrize(("left", "right", "same"), WRITTEN)
def test_the_thin_normal_form_of_terms(left: Expr, right: Expr, same: bool) -> None:
    assert written_the_same(left, right) == same
    assert identical(Obligation((("d", None), ("e", None)), eq(left, right))) == (same and left is not d // e)


def test_identical_terms_that_may_be_undefined_are_not_identical() -> None:
    assert not identical(Obligation((("d", None), ("e", None)), eq(d // e, d // e)))
    assert not identical(Obligation((("d", None),), eq(d // 0, d // 0)))


def test_the_normal_form_renames_bound_and_free_variables() -> None:
    one = Obligation((("d", SMALL),), Exists((("w", WIDE),), eq(Var("w") + d, 3)), label="one")
    two = Obligation((("x", SMALL),), Exists((("v", WIDE),), eq(Var("x") + Var("v"), 3)), label="two")
    three = Obligation((("x", SMALL),), Exists((("x", WIDE),), eq(Var("x") + Var("x"), 3)))
    four = Obligation((("x", WIDE),), Exists((("v", WIDE),), eq(Var("x") + Var("v"), 3)))
    assert key(one) == key(two)
    assert len({key(one), key(three), key(four)}) == 3


def test_shared_terms_do_not_blow_up_the_normal_form() -> None:
    term: Expr = d
    for _ in range(200):
        term = term + term
    assert written_the_same(term, term + 0) is False
