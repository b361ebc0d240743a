"""Engines agree with the evaluator and with each other, and errors planted in them are found."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

import pytest
from random_obligations import obligation as random_obligation

from hloproof.engines import door, portfolio, procedures
from hloproof.engines import enumeration as enumerate_points
from hloproof.engines.budget import DEFAULT, Budget
from hloproof.engines.gave_up import GaveUp, NotExpressible, OutOfMemory
from hloproof.engines.isl import encode as encode_isl
from hloproof.engines.isl.affine_rows import Conjunction
from hloproof.engines.isl.clause_search import ClauseSearch
from hloproof.engines.nonlinear import prove as nonlinear_prove
from hloproof.engines.portfolio import prove
from hloproof.engines.structural import mixed_radix
from hloproof.engines.z3 import encode as encode_z3
from hloproof.logic import reproduction
from hloproof.logic.evaluate import TooManySteps, holds, is_counterexample, truth
from hloproof.logic.formula import (
    FALSE,
    TRUE,
    Compare,
    Exists,
    Formula,
    Not,
    Or,
    conj,
    disj,
    eq,
    le,
    lt,
    ne,
    replace_variables,
)
from hloproof.logic.obligation import Obligation, Rounding, RoundingSemantics
from hloproof.models.expressions.expr import Const, Expr, Var, maximum, minimum
from hloproof.models.expressions.interval import Interval
from hloproof.models.rules.rule import Condition

d, e, x, w, k = (Var(name) for name in "dexwk")
HUGE = Interval(0, 2**40)
EMPTY_BESIDE = Exists((("w", Interval(0, 9)), ("v", Interval(1, 0))), conj(eq(w, x), le(0, w)))
ONE_OR_TWO = disj(eq(x, 1), eq(x, 2))
TWO_OR_THREE = disj(eq(x, 2), eq(x, 3))
TWO_CHOICES = disj(conj(eq(d, 0), ONE_OR_TWO, disj(eq(x, 3), eq(x, 4))), conj(eq(d, 1), ONE_OR_TWO, TWO_OR_THREE))
"""About one variable in two ways: without a point where d is 0, with one where it is 1."""
QUOTIENT_INSIDE = conj(eq(Var("v") // 3, x), le(w, Var("v")))
BRANCHES = disj(conj(eq(w, 0), eq(x, 0)), conj(eq(w, 1), eq(d, 0)))
EITHER = Or((TRUE, TRUE))
BOX = (("w", Interval(0, 1)), ("v", Interval(0, 1)))
FREE_INSIDE = Exists(BOX, conj(eq(w, x), eq(Var("v"), x), le(x, 0)))
"""Three shares: of each bound variable one, and of none."""
ENGINES = {
    "isl": lambda o: encode_isl.find_counterexample(o, 10**7),
    "z3": lambda o: encode_z3.find_counterexample(o, 10**7),
    "enumeration": lambda o: enumerate_points.find_counterexample(o, 2000),
}


def owed(conclusion: Formula, hypothesis: Formula = TRUE, **intervals: tuple[int, int] | Interval | None) -> Obligation:
    variables = tuple((name, Interval(*i) if isinstance(i, tuple) else i) for name, i in intervals.items())
    return Obligation(variables, conclusion, hypothesis)


def some(name: str, lower: int, upper: int, part: Formula) -> Formula:
    return Exists(((name, Interval(lower, upper)),), part)


TABLE: list[tuple[str, Obligation, bool]] = [
    ("quotient and remainder make the whole", owed(eq(d // 10 * 10 + d % 10, d), d=None), True),
    ("mod of a quotient does something", owed(eq(d // 10 % 5, d // 10), d=(0, 99)), False),
    ("... and nothing where the quotient is small", owed(eq(d // 10 % 5, d // 10), d=(0, 49)), True),
    ("a negative divisor rounds down too", owed(eq(d // 2 // -7, d // -14), d=None), False),
    ("floordiv by -7 is floordiv of the negation", owed(eq(d // -7, -d // 7), d=None), True),
    ("ceildiv is defined by floordiv", owed(eq(d.ceildiv(3), -(-d // 3)), d=None), True),
    ("ceildiv is not floordiv", owed(eq(d.ceildiv(3), d // 3), d=(0, 9)), False),
    ("mod of a negative number is not negative", owed(conj(le(0, d % 7), lt(d % 7, 7)), d=(-100, -1)), True),
    ("mod by a negative number is not positive", owed(conj(le(d % -7, 0), lt(-7, d % -7)), d=None), True),
    ("2 mod -3 is -1", owed(eq(d % -3, -1), d=(2, 2)), True),
    ("an empty domain has no counterexample", owed(FALSE, d=(5, 4)), True),
    ("a false hypothesis implies everything", owed(FALSE, FALSE, d=(0, 4)), True),
    ("a contradictory hypothesis implies everything", owed(FALSE, conj(lt(d, 3), lt(3, d)), d=(0, 9)), True),
    ("nothing but true is owed", owed(TRUE, d=(0, 9)), True),
    ("without variables", owed(FALSE), False),
    ("sizes of 2^40", owed(eq((d * 7 + e) // 7, d), d=HUGE, e=(0, 6)), True),
    ("sizes of 2^40, one too many", owed(eq((d * 7 + e) // 7, d), d=HUGE, e=(0, 7)), False),
    ("exists, given", owed(eq(x % 3, 1), Exists((("w", HUGE),), eq(x, w * 3 + 1)), x=HUGE), True),
    ("exists, owed", owed(Exists((("w", HUGE),), eq(x, w * 3 + 1)), eq(x % 3, 1), x=HUGE), True),
    ("exists, owed in vain", owed(Exists((("w", HUGE),), eq(x, w * 3 + 1)), x=HUGE), False),
    ("no exists, given", owed(ne(x % 3, 1), Not(Exists((("w", HUGE),), eq(x, w * 3 + 1))), x=HUGE), True),
    ("exists under two negations", owed(Not(Not(some("w", 0, 9, eq(w, x)))), x=(0, 9)), True),
    ("exists over an empty interval", owed(some("w", 1, 0, TRUE), x=(0, 9)), False),
    ("... beside one that is not empty", owed(EMPTY_BESIDE, x=(0, 9)), False),
    ("... given", owed(FALSE, EMPTY_BESIDE, x=(0, 9)), True),
    ("exists within not exists", owed(Not(some("w", 0, 3, Not(some("v", 0, 3, eq(Var("v"), w)))))), True),
    ("exists within not exists, false", owed(Not(some("w", 0, 4, Not(some("v", 0, 3, eq(Var("v"), w)))))), False),
    ("a bound name hides a free one", owed(some("d", 5, 6, eq(d, 5)), d=(0, 1)), True),
    ("quotients of bound variables", owed(some("w", 0, 20, conj(eq(w // 3, x), eq(w % 3, 2))), x=(0, 6)), True),
    ("quotients of bound variables, false", owed(some("w", 0, 19, conj(eq(w // 3, x), eq(w % 3, 2))), x=(0, 6)), False),
    ("min and max", owed(le(maximum(x, d) - minimum(x, d), 100), x=(0, 100), d=(0, 100)), True),
    ("min and max, false", owed(le(maximum(x, d) - minimum(x, d), 99), x=(0, 100), d=(0, 100)), False),
    ("disjunctions", owed(disj(lt(d, 5), lt(4, d)), d=None), True),
    ("disjunctions, false", owed(disj(lt(d, 5), lt(5, d)), d=None), False),
    ("a division by zero is not true", owed(eq(d // 0, d // 0), d=(0, 1)), False),
    ("... nor is its negation", owed(Not(eq(d // 0, 1)), d=(0, 1)), False),
    ("... nor given as a hypothesis", owed(FALSE, eq(d // 0, d // 0), d=(0, 1)), True),
    ("a symbolic divisor may be zero", owed(eq(d // k, d // k), d=(0, 3), k=(0, 3)), False),
    ("... on either side", owed(le(0, k % d), d=(0, 3), k=(0, 3)), False),
    ("... of the comparison", owed(le(-1, Const(5) // d), d=(0, 3)), False),
    ("quotients of quotients, with a number between", owed(eq((d // 3 + 2) // 4, (d + 6) // 12), d=None), True),
    ("... which counts in the inner divisor", owed(eq((d // 3 + 2) // 4, (d + 2) // 12), d=None), False),
    ("what cannot hold leaves no choices", owed(eq(x, 5), disj(conj(ONE_OR_TWO, eq(0, 1)), eq(x, 5)), x=(0, 9)), True),
    ("choices inside of one that holds", owed(ne(x, 0), disj(conj(le(0, x), ONE_OR_TWO), eq(x, 7)), x=(0, 9)), True),
    (
        "choices beside a bound",
        owed(ne(x, 5), disj(conj(le(x, 4), disj(eq(x, 2), eq(x, 5))), eq(x, 7)), x=(0, 9)),
        True,
    ),
    (
        "two choices at once",
        owed(disj(eq(x, 2), eq(x, 7)), disj(conj(ONE_OR_TWO, TWO_OR_THREE), eq(x, 7)), x=(0, 9)),
        True,
    ),
    ("choices that depend on another", owed(FALSE, TWO_CHOICES, x=(0, 9), d=(0, 1)), False),
    ("... both without a point", owed(lt(x, 0), conj(TWO_CHOICES, eq(d, 0)), x=(0, 9), d=(0, 1)), True),
    ("quotients two quantifiers in", owed(some("w", 0, 1, some("v", 0, 5, QUOTIENT_INSIDE)), x=(0, 3)), False),
    ("... that are met", owed(some("w", 0, 1, some("v", 0, 5, QUOTIENT_INSIDE)), x=(0, 1)), True),
    ("branches about different variables", owed(some("w", 0, 1, BRANCHES), x=(0, 1), d=(0, 1)), False),
    ("... one of which holds", owed(some("w", 0, 1, BRANCHES), ne(x, d), x=(0, 1), d=(0, 1)), True),
    ("choices in a branch", owed(some("w", 0, 9, conj(eq(w, x), le(w, 8), ONE_OR_TWO)), x=(0, 9)), False),
    (
        "... of several",
        owed(some("w", 0, 9, disj(conj(eq(w, x), ONE_OR_TWO), conj(eq(w, 9), eq(x, 9)))), x=(0, 9)),
        False,
    ),
    ("... that are all there are", owed(some("w", 0, 9, conj(eq(w, x), ONE_OR_TWO)), x=(1, 2)), True),
    (
        "no half within a quantifier",
        owed(some("w", 0, 1, Not(some("v", 0, 5, eq(w + x, Var("v") * 2)))), x=(0, 9)),
        True,
    ),
    ("... for each of two", owed(some("w", 0, 0, Not(some("v", 0, 5, eq(w + x, Var("v") * 2)))), x=(0, 9)), False),
    (
        "halves for all of a few",
        owed(Not(some("w", 0, 2, Not(some("v", 0, 9, eq(w, Var("v") * 2 + x))))), x=(0, 1)),
        False,
    ),
    (
        "what has no value is not said to be false",
        owed(FALSE, Not(some("w", 0, 3, conj(eq(x // 0, 1), le(w, 3)))), x=(0, 1)),
        True,
    ),
    ("... in parts", owed(FALSE, Not(some("w", 0, 3, conj(eq(x // 0, 1), eq(w, 2)))), x=(0, 1)), True),
    ("... beside what is false", owed(FALSE, Not(some("w", 0, 3, conj(eq(x // 0, 1), eq(w, 7)))), x=(0, 1)), False),
    ("beyond machine integers", owed(lt(x * 2**70, d), lt(x * 2**70, d + 1), x=None, d=None), False),
    ("... by one", owed(le(x * 2**70, d), lt(x * 2**70, d + 1), x=None, d=None), True),
    ("... exactly", owed(ne(x, 2**64 + 5), le(2**64, x), x=(0, 2**65)), False),
    ("... in a divisor", owed(lt(x // (2**64 + 1), 3), x=(0, 3 * 2**64 + 2)), True),
    ("... in a divisor, one more", owed(lt(x // (2**64 + 1), 3), x=(0, 3 * 2**64 + 3)), False),
    ("choices that all hold", owed(FALSE, Or((conj(EITHER, EITHER), conj(EITHER, EITHER))), x=(0, 9)), False),
    ("... beside one that does not", owed(ne(x, 1), conj(Or((Not(EITHER), EITHER)), ONE_OR_TWO), x=(0, 9)), False),
    ("digits under a quantifier", owed(some("w", 0, 5, eq((x * 6 + w) // 6, x)), x=(0, 9)), True),
    ("... and more of it", owed(some("w", 0, 5, conj(eq((x * 6 + w) // 6, x), le(5, w))), x=(0, 9)), True),
    ("... beyond the radix", owed(some("w", 6, 9, eq((x * 6 + w) // 6, x)), x=(0, 9)), False),
    ("a number is no variable", owed(eq(Const(3), e), e=(0, 5)), False),
    ("nothing is less than itself", owed(lt(d, d), d=(0, 1)), False),
    ("nothing differs from itself", owed(ne(d, d), d=(0, 1)), False),
    ("quotients by two numbers", owed(eq(d // 3, d // 4), d=(0, 3)), False),
    ("a quotient by one", owed(eq(d // 1, d + 1), d=None), False),
    ("... by minus one", owed(eq(d // -1, 1 - d), d=None), False),
    ("one value for each", owed(some("w", 0, 1, Not(some("v", 0, 20, eq(Var("v"), w + x)))), x=(0, 9)), False),
    ("two of a box differ", owed(Exists(BOX, ne(w, Var("v")))), True),
    ("two of a box in a sum", owed(Exists(BOX, conj(eq(w + Var("v"), x), le(w, Var("v")))), x=(0, 2)), True),
    ("... one too many", owed(Exists(BOX, conj(eq(w + Var("v"), x), le(w, Var("v")))), x=(0, 3)), False),
    ("a remainder by some divisor", owed(some("k", 2, 5, eq(x % k, 4)), x=(4, 4)), True),
    ("... that is negative", owed(some("k", -5, -2, eq(x % k, -4)), x=(1, 1)), True),
    ("a hypothesis by zero is none", owed(FALSE, eq(d // k, 7), d=(0, 3), k=(0, 0)), True),
    ("... nor what it is not", owed(FALSE, Not(eq(d // k, 7)), d=(0, 3), k=(0, 0)), True),
    ("what is said inside of free variables alone", owed(FREE_INSIDE, x=(0, 1)), False),
    ("... given", owed(eq(x, 0), FREE_INSIDE, x=(0, 1)), True),
    ("... said not to be", owed(lt(0, x), Not(FREE_INSIDE), x=(0, 1)), True),
    ("the less of two in a row", owed(eq(minimum(x, d), x), conj(le(d, x), le(x, d + 1)), x=None, d=None), False),
    ("the greater of two in a row", owed(eq(maximum(x, d), d), conj(le(d, x), le(x, d + 1)), x=None, d=None), False),
    ("... or is said not to be", owed(eq((d // k) * k + d % k, d), ne(k, 0), d=(-5, 5), k=(-3, 3)), True),
]

QUOTIENT: dict[str, None] = dict.fromkeys(("q'0", "x", "k"))
SYMBOLIC: list[tuple[str, Obligation, bool]] = [
    ("the whole by a symbol", owed(eq((d // k) * k + d % k, d), ne(k, 0), d=None, k=None), True),
    ("mod has the divisor's sign", owed(le(0, d % k), ne(k, 0), d=None, k=None), False),
    ("a product commutes", owed(eq(d * k, k * d), d=None, k=None), True),
    ("a symbolic digit", owed(eq((x * k + e) // k, x), conj(le(0, e), lt(e, k)), x=None, k=None, e=None), True),
    ("one too many", owed(eq((x * k + e) // k, x), conj(le(0, e), le(e, k), lt(0, k)), x=None, k=None, e=None), False),
    ("quotients by two symbols", owed(eq(x // k, x // e), conj(lt(0, k), lt(0, e)), x=None, k=None, e=None), False),
    ("rounded up by a symbol", owed(eq(d.ceildiv(k), -(-d // k)), ne(k, 0), d=None, k=None), True),
    ("... by what is added", owed(eq(d.ceildiv(k), (d + k - 1) // k), ne(k, 0), d=None, k=None), False),
    ("... to a positive one", owed(eq(d.ceildiv(k), (d + k - 1) // k), lt(0, k), d=None, k=None), True),
    ("a variable with the name of a quotient", owed(eq(x // k, Var("q'0")), ne(k, 0), **QUOTIENT), False),
    ("a bound name hides a divisor", owed(conj(eq(d % k, d % k), some("k", 0, 5, eq(k, 5))), d=(0, 3), k=(1, 4)), True),
    ("half of a multiple", owed(eq(x * 3 * k // (k * 2), x), ne(k, 0), x=None, k=None), False),
]


UNDEFINED = [
    owed(eq(d // k, d // k), d=None, k=None),
    owed(eq(d // 0, d // 0), d=None),
    owed(le(0, d % k), le(0, k), d=None, k=None),
    owed(eq(d // (k // e), d // (k // e)), conj(ne(e, 0), lt(0, k)), d=None, k=None, e=None),
]


@pytest.mark.parametrize("obligation", UNDEFINED)
def test_products_owe_that_divisors_are_not_zero(obligation: Obligation) -> None:
    for stage in ("products", "products at length"):
        with pytest.raises(GaveUp):
            procedures.asked(stage, obligation, DEFAULT)


@pytest.mark.parametrize("mod", ["floor", "euclidean"])
@pytest.mark.parametrize("stage", ["products at length", "z3 on SMT-LIB"])
def test_remainders_by_divisors_below_zero(mod: Rounding, stage: str) -> None:
    for goal, true in ((le(d % k, 0), mod == "floor"), (le(0, d % k), mod == "euclidean")):
        asked = replace(owed(goal, lt(k, 0), d=None, k=None), rounding=RoundingSemantics("floor", mod))
        try:
            assert (procedures.asked(stage, asked, replace(DEFAULT, z3_rlimit=2_000_000)) is None) == true
        except GaveUp:
            assert not true or stage != "products at length"


@pytest.mark.parametrize("division", ["floor", "trunc", "euclidean"])
@pytest.mark.parametrize("mod", ["floor", "trunc", "euclidean"])
@pytest.mark.parametrize("stage", ["products at length", "z3 on SMT-LIB"])
def test_quotients_that_round_apart_are_two(division: Rounding, mod: Rounding, stage: str) -> None:
    """By divisors above zero floor and euclidean are one; `ceildiv` is made of the floor whatever the others are."""
    trunc = division == "trunc"
    goals = [
        (eq(d, k * (d // k) + d % k), trunc == (mod == "trunc")),
        (eq(d.ceildiv(k), Const(0) - (Const(0) - d) // k), not trunc),
        (eq((Const(0) - d).ceildiv(k), Const(0) - d // k), not trunc),
    ]
    for goal, true in goals:
        asked = replace(owed(goal, lt(0, k), d=None, k=None), rounding=RoundingSemantics(division, mod))
        try:
            proved = procedures.asked(stage, asked, replace(DEFAULT, z3_rlimit=2_000_000)) is None
        except GaveUp:
            proved = False
        assert true or not proved
        assert proved or not true or stage != "products at length" or division != mod


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("obligation", "true"), [t[1:] for t in TABLE], ids=[t[0] for t in TABLE])
def test_each_engine_decides_or_declines(engine: str, obligation: Obligation, true: bool) -> None:
    try:
        found = ENGINES[engine](obligation)
    except NotExpressible:
        return
    assert (found is None) == true
    assert found is None or is_counterexample(obligation, found)


BRIEF = Budget(isl_operations=400_000, z3_rlimit=400_000, enumeration_points=3_000)


@pytest.mark.parametrize("stage", procedures.ENGINES)
def test_no_stage_says_what_is_not_so(stage: str) -> None:
    """Each by itself: behind others that answer first, a wrong one would not be heard."""
    for label, obligation, true in (*TABLE, *SYMBOLIC):
        try:
            found = procedures.asked(stage, obligation, BRIEF)
        except GaveUp:
            continue
        # The one stage whose None does not mean that it holds everywhere.
        assert (found is None) == true or (found is None and stage == "instances"), label
        assert found is None or is_counterexample(obligation, found), label


@pytest.mark.parametrize("cross", [False, True])
@pytest.mark.parametrize(
    ("obligation", "true"), [t[1:] for t in (*TABLE, *SYMBOLIC)], ids=[t[0] for t in (*TABLE, *SYMBOLIC)]
)
def test_the_portfolio_decides_all(obligation: Obligation, true: bool, cross: bool) -> None:
    outcome = prove(obligation, cross=cross)
    assert outcome.verdict == ("proved" if true else "refuted"), outcome.reason
    if not true:
        assert is_counterexample(obligation, dict(outcome.model))
    if cross:
        assert len(outcome.engines) >= 2


@pytest.mark.parametrize("seed", range(400))
def test_isl_agrees_with_enumeration(seed: int) -> None:
    obligation = random_obligation(seed)
    expected = enumerate_points.find_counterexample(obligation, 2000)
    found = encode_isl.find_counterexample(obligation, 10**8)
    assert (found is None) == (expected is None)
    assert found is None or is_counterexample(obligation, found)


@pytest.mark.parametrize("seed", range(120))
def test_z3_agrees_with_enumeration(seed: int) -> None:
    obligation = random_obligation(seed, symbolic=seed % 2 == 0)
    expected = enumerate_points.find_counterexample(obligation, 2000)
    found = encode_z3.find_counterexample(obligation, 10**8)
    assert (found is None) == (expected is None)
    assert found is None or is_counterexample(obligation, found)


EVALUATION: list[tuple[Formula, dict[str, int], bool | None]] = [
    (eq(x, 3), {"x": 3}, True),
    (eq(x // 0, 3), {"x": 3}, None),
    (Or((eq(x // 0, 3), eq(x, 3))), {"x": 3}, True),
    (Or((eq(x // 0, 3), eq(x, 4))), {"x": 3}, None),
    (conj(eq(x // 0, 3), eq(x, 4)), {"x": 3}, False),
    (some("w", 0, 2, eq(x // w, 3)), {"x": 3}, True),
    (some("w", 0, 0, eq(x // w, 3)), {"x": 3}, None),
    # What has no value settles nothing, as long as another part may still be true.
    (some("w", 0, 3, Or((eq(x // 0, 3), eq(w, 2)))), {"x": 3}, True),
    (some("w", 0, 3, Or((eq(w, 2), eq(x // 0, 3)))), {"x": 3}, True),
    (Not(some("w", 0, 3, conj(eq(x // 0, 3), eq(w, 2)))), {"x": 3}, None),
    (some("w", 0, 2, eq(x // w, 9)), {"x": 3}, None),
    (some("w", 1, 2, eq(x // w, 9)), {"x": 3}, False),
    (Exists((("w", HUGE),), eq(x, w * 3 + 1)), {"x": 3 * 10**11 + 1}, True),
    (Exists((("w", HUGE),), eq(x, w * 3 + 1)), {"x": 3 * 10**11 + 2}, False),
    (Exists((("w", HUGE), ("v", Interval(0, 999))), eq(x, w * 1000 + Var("v"))), {"x": 123456789}, True),
]


@pytest.mark.parametrize(("formula", "values", "expected"), EVALUATION)
def test_evaluation(formula: Formula, values: dict[str, int], expected: bool | None) -> None:
    assert truth(formula, values) is expected
    assert holds(formula, values) is (expected is True)


def test_evaluation_gives_up_rather_than_guess(monkeypatch: pytest.MonkeyPatch) -> None:
    collatz: Expr = w
    for _ in range(3):
        collatz = (collatz * 3 + 1) % 1000003
    searched = Exists((("w", HUGE),), eq(collatz * 2, x))
    with pytest.raises(TooManySteps):
        truth(searched, {"x": 5}, steps=1000)
    monkeypatch.setattr(enumerate_points, "is_counterexample", partial(is_counterexample, steps=1000))
    with pytest.raises(GaveUp, match="too long"):
        enumerate_points.find_counterexample(owed(searched, x=(5, 6)), 10)


def test_a_search_over_alternatives_ends() -> None:
    """Before isl has counted anything."""
    for steps in (0, 1):
        search = ClauseSearch({}, lambda _: {}, steps)
        if steps:
            assert search.find(Conjunction()) == {}
        else:
            with pytest.raises(GaveUp, match="too long"):
                search.find(Conjunction())


@pytest.mark.parametrize("engine", ["isl", "z3"])
def test_small_budgets_give_up(engine: str) -> None:
    lin = (Var("a") * 50257 + Var("b")) * 1023 + Var("c")
    obligation = owed(eq((lin // 77 * 77 + lin % 77) // 1023 % 50257, Var("b")), a=(0, 2046), b=(0, 50256), c=(0, 1022))
    module = encode_isl if engine == "isl" else encode_z3
    with pytest.raises(GaveUp):
        module.find_counterexample(obligation, 50)
    assert encode_isl.find_counterexample(obligation, 10**7) is None  # the context is usable afterwards


def test_no_point_is_a_counterexample_under_another_rounding() -> None:
    wrong = owed(le(0, d // 2), d=(-9, 9))
    assert is_counterexample(wrong, {"d": -1})
    assert not is_counterexample(replace(wrong, rounding=RoundingSemantics("trunc")), {"d": -1})


def test_none_and_one_without_bounds_are_two() -> None:
    both = (owed(FALSE, d=None), owed(FALSE))
    for asked in (both, both[::-1]):
        for obligation, outcome in zip(asked, door.prove(asked), strict=True):
            assert outcome.verdict == "refuted" and is_counterexample(obligation, dict(outcome.model))


@pytest.mark.parametrize("stage", ["z3 on SMT-LIB", "cvc5"])
def test_remarks_are_not_read(stage: str) -> None:
    """A label or a name of several lines: what stood behind the first was part of the question."""
    more = "a\n(assert false)\r\n(assert false)"
    for obligation in (replace(owed(FALSE, d=(0, 1)), label=more), Obligation(((more, Interval(0, 1)),), FALSE)):
        try:
            assert procedures.asked(stage, obligation, DEFAULT) is not None
        except NotExpressible:  # cvc5 is not installed
            pytest.skip("cvc5 is not installed")


def test_terms_are_put_in_the_place_of_free_variables_only() -> None:
    formula = conj(eq(w, x), some("w", 0, 9, eq(w, x)))
    assert replace_variables(formula, {"w": Const(3)}) == conj(eq(3, x), some("w", 0, 9, eq(w, x)))
    assert replace_variables(formula, {"x": d}) == conj(eq(w, d), some("w", 0, 9, eq(w, d)))
    with pytest.raises(ValueError, match="captured"):
        replace_variables(formula, {"x": w + 1})


def test_a_name_that_is_bound_twice_has_no_digits() -> None:
    """A step that holds where it is bound to less is no step where it is bound to more."""
    small, large = (some("w", 0, n, eq((w + x * 10) // 10, x)) for n in (9, 12))
    assert mixed_radix.take_apart(owed(conj(small, small), x=(0, 9)))
    for parts in ((large, small), (small, large), (small, large, small)):
        with pytest.raises(NotExpressible):
            mixed_radix.take_apart(owed(conj(*parts), x=(0, 9)))


def test_more_cases_than_are_gone_through_show_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left is one case more, which contradicts nothing."""
    problem = nonlinear_prove.Problem()
    for other in (k, e, x):
        problem.assume(Condition("!=", d, other))
    every = list(nonlinear_prove._cases(problem, 10**6))
    assert len(every) == 8 and [] not in every
    for most in (1, 5, 14):
        monkeypatch.setattr(nonlinear_prove, "_CASES", most)
        assert list(nonlinear_prove._cases(problem, 10**6))[-1] == []


TRUE_ONE = owed(eq(d // 2 * 2 + d % 2, d), d=(0, 9))
FALSE_ONE = owed(eq(d // 2 * 2, d), d=(0, 9))


def test_disagreement_is_an_internal_error_with_a_reproduction(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(procedures.ENGINES, "isl", lambda o, b: None)
    outcome = prove(FALSE_ONE, cross=True, reproductions=tmp_path)
    assert outcome.verdict == "internal"
    (path,) = tmp_path.iterdir()
    assert path.name in outcome.reason
    assert reproduction.read(path) == FALSE_ONE
    assert "disagree" in json.loads(path.read_text())["reason"]


def test_two_engines_are_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(portfolio.SECOND, "isl", ())
    for obligation in (TRUE_ONE, FALSE_ONE):
        assert prove(obligation, cross=True).verdict == "unknown"
        assert prove(obligation).verdict != "unknown"


@pytest.mark.parametrize("cross", [False, True])
def test_an_unknown_is_not_final_where_memory_decided_of_one_engine(
    monkeypatch: pytest.MonkeyPatch, cross: bool
) -> None:
    """Kept, it would be the answer of a machine with more memory too."""
    for short in ("", "isl", "enumeration"):

        def gave_up(name: str, *_: object, short: str = short) -> None:
            raise OutOfMemory("no memory") if name == short else GaveUp("no steps")

        monkeypatch.setattr(portfolio, "asked", gave_up)
        outcome = prove(TRUE_ONE, cross=cross)
        assert (outcome.verdict, outcome.final) == ("unknown", short == "")


def _said(answer: dict[str, int] | None, obligation: Obligation, budget: Budget) -> dict[str, int] | None:
    return answer


@pytest.mark.parametrize(
    ("first", "second", "instances", "verdict"),
    [
        (None, None, None, "proved"),
        (None, {"d": 0, "k": 5}, None, "internal"),
        (None, None, {"d": 0, "k": 5}, "internal"),
        ({"d": 0, "k": 5}, None, None, "internal"),
        ({"d": 0, "k": 5}, {"d": 1, "k": 3}, None, "refuted"),
        ({"d": 0, "k": 5}, {"d": 1, "k": 3}, {"d": 1, "k": 3}, "refuted"),
    ],
)
def test_instances_confirm_nothing_and_contradict_a_proof(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    first: dict[str, int] | None,
    second: dict[str, int] | None,
    instances: dict[str, int] | None,
    verdict: str,
) -> None:
    answers = {"z3 briefly": first, "products": second, "instances": instances}
    for stage, answer in answers.items():
        monkeypatch.setitem(procedures.ENGINES, stage, partial(_said, answer))
    obligation = owed(eq(d * k, k + 3), d=None, k=None)
    assert prove(obligation, cross=True, reproductions=tmp_path).verdict == verdict


@pytest.mark.parametrize("cross", [False, True])
def test_a_counterexample_that_does_not_replay_is_an_internal_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cross: bool
) -> None:
    for stage in ("isl", "isl briefly"):
        monkeypatch.setitem(procedures.ENGINES, stage, lambda o, b: {"d": 4})
    outcome = prove(TRUE_ONE, cross=cross, reproductions=tmp_path)
    assert outcome.verdict == "internal"
    assert list(tmp_path.iterdir())


@pytest.mark.parametrize("cross", [False, True])
def test_a_counterexample_whose_replay_does_not_end_refutes_nothing(
    monkeypatch: pytest.MonkeyPatch, cross: bool
) -> None:
    def endless(*_: object) -> bool:
        raise TooManySteps("too long")

    assert prove(FALSE_ONE, cross=cross).verdict == "refuted"
    monkeypatch.setattr(portfolio, "is_counterexample", endless)
    outcome = prove(FALSE_ONE, cross=cross)
    assert outcome.verdict == "unknown" and "could not be replayed (too long)" in outcome.reason


def test_a_wrong_quotient_in_the_isl_encoder_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    right = encode_isl._Encoder._floordiv

    def towards_zero(self: encode_isl._Encoder, form: dict[int, int], divisor: int, scope: object) -> dict[int, int]:
        negated = {c: -v for c, v in form.items()}
        if divisor < 0:  # rounds up: the quotient of the negation, negated
            return {c: -v for c, v in right(self, negated, divisor, scope).items()}  # type: ignore[arg-type]
        return right(self, form, divisor, scope)  # type: ignore[arg-type]

    monkeypatch.setattr(encode_isl._Encoder, "_floordiv", towards_zero)
    wrong = owed(eq(d // 2 // -7, -(d // 2 // 7)), d=(-50, 50))
    assert encode_isl.find_counterexample(wrong, 10**7) is None  # the planted error takes effect
    assert prove(wrong, cross=True, reproductions=tmp_path).verdict == "internal"


def test_reproductions_read_back(tmp_path: Path) -> None:
    for seed in range(50):
        obligation = random_obligation(seed, symbolic=True)
        for rounding in (RoundingSemantics(), RoundingSemantics("trunc", "euclidean")):
            asked = replace(obligation, rounding=rounding)
            assert reproduction.from_json(reproduction.to_json(asked)) == asked


def test_comparators_are_covered() -> None:
    for op in ("==", "!=", "<=", "<"):
        formula = Compare(op, Const(1), Const(2))
        assert (encode_isl.find_counterexample(Obligation((), formula), 10**6) is None) == (op != "==")


def test_an_empty_axis_leaves_no_points_beside_an_endless_one() -> None:
    assert enumerate_points.find_counterexample(owed(eq(Var("a"), Var("b")), a=(0, 10**15), b=(0, -1)), 10) is None


ROUNDED: Final = [
    # Read as quotients that round down the first two hold; the second pair holds as it is said, and not by floor.
    (RoundingSemantics("trunc", "trunc"), eq(Var("x") // 2, -2), False),
    (RoundingSemantics("floor", "trunc"), eq(Var("x") % 2, 1), False),
    (RoundingSemantics("trunc", "trunc"), eq(Var("x") // 2, -1), True),
    (RoundingSemantics("floor", "trunc"), eq(Var("x") % 2, -1), True),
]


@pytest.mark.parametrize("name", procedures.ENGINES)
@pytest.mark.parametrize(("reading", "goal", "right"), ROUNDED)
def test_no_stage_takes_one_rounding_for_another(
    reading: RoundingSemantics, goal: Formula, right: bool, name: str
) -> None:
    """A stage that knows floor alone gives up; and what another one refutes is not replayed by floor."""
    obligation = Obligation((("x", Interval(-3, -3)),), goal, rounding=reading)
    try:
        answer = procedures.asked(name, obligation, DEFAULT)
    except GaveUp:
        answered = False
    else:
        answered = True
        assert (answer is None) is right
    outcome = portfolio.prove_by(name, obligation, DEFAULT)
    assert outcome.verdict == ("proved" if answered and right else "unknown")
    assert ("by another rounding" in outcome.reason) is (answered and not right)


def test_some_stage_answers_for_each_rounding() -> None:
    for reading, goal, right in ROUNDED:
        obligation = Obligation((("x", Interval(-3, -3)),), goal, rounding=reading)
        outcome = portfolio.prove_by("z3 on SMT-LIB", obligation, DEFAULT)
        assert (outcome.verdict == "proved") is right
        assert right or "by another rounding" in outcome.reason
