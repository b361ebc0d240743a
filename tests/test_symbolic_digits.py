"""Quotients by variables: proved by sub-goals, each under the hypothesis, and by two engines under cross."""

from __future__ import annotations

import pytest

from hloproof.engines.budget import Budget
from hloproof.engines.gave_up import GaveUp, NotExpressible
from hloproof.engines.nonlinear import products
from hloproof.engines.portfolio import prove
from hloproof.engines.structural import symbolic_digits
from hloproof.engines.z3 import encode as encode_z3
from hloproof.logic.formula import Formula, conj, eq, le, lt, ne
from hloproof.logic.obligation import Obligation
from hloproof.models.expressions.expr import Const, Expr, Var, maximum
from hloproof.models.expressions.interval import Interval

x, y, a, b, c = (Var(name) for name in "xyabc")
POSITIVE = conj(lt(0, a), lt(0, b), lt(0, c))
NOT_ZERO = conj(ne(a, 0), ne(b, 0), ne(c, 0))


def owed(conclusion: Formula, hypothesis: Formula = POSITIVE) -> Obligation:
    return Obligation(tuple((name, None) for name in "xyabc"), conclusion, hypothesis)


def by_products(obligation: Obligation) -> None:
    products.find_counterexample(obligation, 10**6)


def z3(obligation: Obligation) -> dict[str, int] | None:
    return encode_z3.find_counterexample(obligation, 10**6)


TRUE: list[tuple[Expr, Expr]] = [
    ((x % (a * b)) // a, (x // a) % b),
    ((x % (a * b)) % a, x % a),
    (((x // (b * c)) * b + (x // c) % b) * c + x % c, x),
    (x // a // b // c, x // (a * b * c)),
]
FALSE: list[tuple[Expr, Expr, Formula]] = [
    (x // a // b, x // (a * b), NOT_ZERO),  # wrong for a negative b
    ((x % (a * b)) % b, x % a, POSITIVE),
    ((x * a + y) // a, x + y, POSITIVE),
    ((x * a) // a, x, conj()),  # a may be zero
]


@pytest.mark.parametrize(("left", "right"), TRUE)
def test_symbolic_digits_prove(left: Expr, right: Expr) -> None:
    symbolic_digits.find_counterexample(owed(eq(left, right)), z3)


@pytest.mark.longer
def test_where_one_encoding_alone_decides_there_are_no_two_engines() -> None:
    """Symbolic digits on Z3 and on SMT-LIB text are one way to encode, and products are a part of both."""
    outcome = prove(owed(eq(*TRUE[0])), Budget(z3_rlimit=2_000_000, seconds=5.0), cross=True)
    assert outcome.verdict == "unknown"
    assert "only symbolic digits answered" in outcome.reason


@pytest.mark.parametrize(("left", "right"), TRUE[1:3])
def test_two_engines_agree_on_them(left: Expr, right: Expr) -> None:
    outcome = prove(owed(eq(left, right)), cross=True)
    assert outcome.verdict == "proved", outcome.reason
    assert "instances" in outcome.engines
    assert len(outcome.engines) == 3


@pytest.mark.parametrize(("left", "right", "hypothesis"), FALSE)
def test_what_is_false_is_never_proved(left: Expr, right: Expr, hypothesis: Formula) -> None:
    wrong = owed(eq(left, right), hypothesis)
    with pytest.raises(GaveUp):
        symbolic_digits.find_counterexample(wrong, z3)
    assert prove(wrong).verdict == "refuted"


def test_without_symbolic_quotients_there_is_nothing_to_do() -> None:
    with pytest.raises(NotExpressible):
        symbolic_digits.take_apart(owed(lt(x, y)))


@pytest.mark.parametrize("part", ["_without", "multiply", "add"])
def test_a_planted_error_is_refuted(monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    right = getattr(symbolic_digits, part)
    planted = {
        "_without": lambda monomial, divisor: right((*monomial, *divisor), divisor),  # everything is a multiple
        "multiply": lambda p, q: dict.fromkeys(right(p, q), 1),  # coefficients are lost
        "add": lambda p, q, times: right(p, q, abs(times)),  # signs are lost
    }[part]
    monkeypatch.setattr(symbolic_digits, part, planted)
    claims = [eq((x * 3 + y) // a, x * 3 // a + y // a), eq((x - y) * 3 % a, (x + y) % a), eq((x + y) // a, x + y)]
    for claim in claims:
        with pytest.raises(GaveUp):
            symbolic_digits.find_counterexample(owed(claim), z3)
        assert prove(owed(claim)).verdict == "refuted"


def test_quotients_of_two_stages_are_not_taken_for_one_another() -> None:
    """What is left after this stage has quotients as variables; the products name quotients of the hypothesis too."""
    box = (("x", Interval(-5, 4)), ("y", Interval(-6, -2)), ("a", Interval(-2, 2)))
    hypothesis = lt(maximum(x + a, Const(-3) // 1), (a % x) * -2)
    wrong = Obligation(box, le((y % -2) // 5, a), hypothesis)  # fails at x = -5, y = -6, a = -2
    with pytest.raises(GaveUp):
        symbolic_digits.find_counterexample(wrong, by_products)
    with pytest.raises(NotExpressible):
        products.find_counterexample(Obligation((("q!1", None),), le(Var("q!1"), 0)), 10**6)
