"""The SMT-LIB encoder against enumeration and a table of quotients: the second engine of proofs shares no encoder with
the first, so that nothing else tells what its text says."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import pytest
from random_obligations import obligation as random_obligation
from test_engines import SYMBOLIC, TABLE, d, k, owed

from hloproof.engines import enumeration, procedures
from hloproof.engines.budget import DEFAULT
from hloproof.engines.gave_up import GaveUp
from hloproof.engines.smtlib import cvc5
from hloproof.engines.smtlib.encode import to_smtlib
from hloproof.logic.evaluate import is_counterexample
from hloproof.logic.formula import TRUE, Exists, Formula, Not, conj, disj, eq, le, ne
from hloproof.logic.obligation import Obligation, Rounding, RoundingSemantics
from hloproof.models.expressions.expr import Const, Expr, Var
from hloproof.models.expressions.interval import Interval


def asked(obligation: Obligation) -> dict[str, int] | None:
    found = procedures.asked("z3 on SMT-LIB", obligation, DEFAULT)
    return None if found is None else dict(found)


@pytest.mark.parametrize(
    ("obligation", "true"), [t[1:] for t in (*TABLE, *SYMBOLIC)], ids=[t[0] for t in (*TABLE, *SYMBOLIC)]
)
def test_the_text_says_what_is_owed(obligation: Obligation, true: bool) -> None:
    try:
        found = asked(obligation)
    except GaveUp:
        return
    assert (found is None) == true
    assert found is None or is_counterexample(obligation, found)


@pytest.mark.parametrize("seed", range(150))
def test_the_text_agrees_with_enumeration(seed: int) -> None:
    obligation = random_obligation(seed, symbolic=seed % 2 == 0)
    expected = enumeration.find_counterexample(obligation, 2000)
    found = asked(obligation)
    assert (found is None) == (expected is None)
    assert found is None or is_counterexample(obligation, found)


def _rounded(a: int, b: int, rounding: Rounding) -> int:
    """The quotient; the remainder is what is left of a."""
    match rounding:
        case "floor":
            return a // b
        case "trunc":
            return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        case "euclidean":
            return (a - a % abs(b)) // b


@pytest.mark.parametrize("division", ["floor", "trunc", "euclidean"])
@pytest.mark.parametrize("mod", ["floor", "trunc", "euclidean"])
@pytest.mark.parametrize("by_number", [False, True])
def test_quotients_and_remainders_are_those_of_their_rounding(
    division: Rounding, mod: Rounding, by_number: bool
) -> None:
    parts = []
    for a, b in ((7, 2), (-7, 2), (7, -2), (-7, -2), (6, 3), (-6, 3), (6, -3), (-6, -3)):
        n: Expr = Const(b) if by_number else k
        values = [
            eq(d // n, _rounded(a, b, division)),
            eq(d % n, a - b * _rounded(a, b, mod)),
            eq(d.ceildiv(n), -(-a // b)),
        ]
        parts += [disj(ne(d, a), ne(k, b), v) for v in values]
    pinned = owed(conj(*parts), d=(-7, 7), k=(-3, 3))
    assert asked(replace(pinned, rounding=RoundingSemantics(division, mod))) is None
    # Nor do they have no value at all: where each is, is a counterexample to its having another.
    for a, b in ((-7, 2), (7, -2), (-7, -2)):
        n = Const(b) if by_number else k
        for one in (ne(d // n, _rounded(a, b, division)), ne(d % n, a - b * _rounded(a, b, mod))):
            there = replace(owed(one, d=(a, a), k=(b, b)), rounding=RoundingSemantics(division, mod))
            assert asked(there) == {"d": a, "k": b}


@pytest.mark.parametrize("negated", [False, True])
def test_long_terms_have_names_that_mean_them(negated: bool) -> None:
    total: Expr = d
    for n in range(60):
        total = total + Var("x") * (n + 1)
    goal = eq(total, d + Var("x") * 1830)
    long = owed(Not(goal) if negated else goal, d=(0, 9), x=(0, 9))
    assert (asked(long) is None) == (not negated)


def test_a_bound_variable_is_not_the_free_one_of_its_name() -> None:
    inside = Exists((("d", Interval(5, 6)),), eq(d, 5))
    assert asked(owed(conj(inside, eq(d, 0)), d=(0, 0))) is None
    assert asked(owed(Exists((), TRUE), d=(0, 0))) is None
    assert asked(owed(Exists((), eq(d, 1)), d=(0, 0))) == {"d": 0}


def test_products_are_not_called_linear() -> None:
    assert to_smtlib(owed(eq(d * 2, 3), d=None)).startswith("(set-logic")
    assert to_smtlib(owed(eq(d * k, 3), d=None, k=None)).startswith("(set-logic NIA)")


_LONG: Final = sum((Var("x") * n for n in range(1, 60)), start=d)
_BOUND: Final = (("w", Interval(0, 3)),)


@pytest.mark.parametrize(
    ("goal", "logic"),
    [
        (le(d // 4 * k, 4), "NIA"),
        (le(d % 4 * k, 12), "NIA"),
        (Not(Exists(_BOUND, eq(Var("w") * k, 13))), "NIA"),
        (le(_LONG * k, _LONG * 4), "NIA"),
        (le(d // 4 * (k // 2), 4), "NIA"),
        (le(d % (d // 4), 7), "NIA"),
        (Not(Exists(_BOUND, eq(d // Var("w"), 13))), "NIA"),
        (le(d // 4 * 4, d), "LIA"),
        (le(Const(4) * (d // 4), d), "LIA"),
    ],
    ids=[
        "quotient",
        "remainder",
        "bound",
        "named",
        "two quotients",
        "quotient as divisor",
        "bound divisor",
        "linear",
        "number first",
    ],
)
def test_a_product_of_what_has_a_name_of_its_own_is_none_of_linear_arithmetic(goal: Formula, logic: str) -> None:
    text = to_smtlib(owed(goal, d=(0, 7), k=(0, 4), x=(0, 1)))
    assert text.startswith(f"(set-logic {logic})\n")
    assert not cvc5.is_installed() or "linear" not in cvc5.decide(text, rlimit=100_000)[0]
