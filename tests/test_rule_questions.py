"""What a rule's judges ask the engines: each question is kept, certified and counted; quotients round as it says."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from hloproof.claims.rules.asking import RuleQuestions
from hloproof.claims.rules.claims import check_rule
from hloproof.claims.rules.rounding import quotient
from hloproof.engines.budget import DEFAULT
from hloproof.engines.certificate import MANIFEST
from hloproof.engines.door import How, prove_one
from hloproof.engines.nonlinear import prove as nonlinear
from hloproof.engines.portfolio import prove_by
from hloproof.engines.procedures import ENGINES, ROUNDINGS
from hloproof.engines.smtlib import cvc5
from hloproof.logic.formula import Compare, conj, eq, le, ne, replace_variables
from hloproof.logic.normal_form import key
from hloproof.logic.obligation import FLOOR, Obligation, Outcome, Rounding, RoundingSemantics
from hloproof.models.expressions.expr import Binary, Const, Expr, Operator, Var
from hloproof.models.expressions.interval import Interval
from hloproof.models.rules.rule import Condition, Rule
from hloproof.models.rules.text import parse_rules
from hloproof.results.verdict import Verdict

NESTED = "rule nested\n  (x floordiv a) floordiv b => x floordiv (a * b)\n  when a > 0, b > 0\n"
TRUNC = "rule halves\n  x floordiv 4 => -((-x) floordiv 4)\n  division trunc\n"
ROUNDINGS_OF: tuple[Rounding, ...] = ("floor", "trunc", "euclidean")


def rule(text: str) -> Rule:
    [found] = parse_rules(text, "r.rules")
    return found


def asked(told: list[Outcome]) -> set[str]:
    return {name for o in told for name, _ in o.stages if name != "replay"}


def test_what_was_asked_about_a_rule_is_not_asked_again(tmp_path: Path) -> None:
    first: list[Outcome] = []
    again: list[Outcome] = []
    how = How(cache=tmp_path / "kept.sqlite", told=first.append)
    found = check_rule(rule(NESTED), how=how)
    assert found.verdict is Verdict.PROVED
    assert "z3" in asked(first)
    kept = check_rule(rule(NESTED), how=How(cache=tmp_path / "kept.sqlite", told=again.append))
    assert asked(again) == {"cache"} and len(again) == len(first)
    assert (kept.verdict, kept.engines, kept.reason) == (found.verdict, found.engines, found.reason)


def test_an_answer_of_one_engine_is_not_that_of_another(tmp_path: Path) -> None:
    x = Var("x")
    obligation = Obligation((("x", None),), Compare("==", x, x))
    cache = tmp_path / "kept.sqlite"
    for engine in ("z3", "isl", ""):
        told: list[Outcome] = []
        how = How(cache=cache, engine=engine, told=told.append, where="here")
        assert prove_one(obligation, how).verdict == "proved"
        assert "cache" not in asked(told), engine
        told.clear()
        prove_one(obligation, how)
        assert asked(told) == {"cache"}, engine


def test_what_one_engine_leaves_open_is_kept_for_its_limits_alone(tmp_path: Path) -> None:
    x = Var("x")
    rest = Binary("+", x, Binary("*", Const(-4), Binary("floordiv", x, Const(4))))
    obligation = Obligation((("x", None),), Compare("<=", Const(0), rest))
    small = How(replace(DEFAULT, isl_operations=1), engine="isl")
    for how in (replace(small, known={}), replace(small, cache=tmp_path / "kept.sqlite")):
        assert prove_one(obligation, how).verdict == "unknown"
        assert prove_one(obligation, replace(how, budget=DEFAULT)).verdict == "proved"


def test_the_proof_of_a_rule_leaves_certificates(tmp_path: Path) -> None:
    assert check_rule(rule(NESTED), how=How(certify=tmp_path)).verdict is Verdict.PROVED
    lines = [json.loads(line) for line in (tmp_path / MANIFEST).read_text().splitlines()]
    labels = {line["label"] for line in lines}
    assert "rule nested: (x / a) / b == x / (a * b)" in labels
    assert "rule nested: a * b != 0" in labels  # a divisor of the right side: shown, and not taken for granted
    for line in lines:
        assert "(check-sat)" in (tmp_path / line["file"]).read_text()


def test_a_rule_that_is_not_proved_leaves_none_of_what_it_claims(tmp_path: Path) -> None:
    wrong = rule("rule wrong\n  x floordiv a => x floordiv (a + 1)\n  when a > 0\n")
    assert check_rule(wrong, how=How(certify=tmp_path)).verdict is Verdict.REFUTED
    assert not (tmp_path / MANIFEST).exists()


def at(op: Operator, x: int, y: int, value: int, reading: RoundingSemantics) -> Obligation:
    """That x op y is a number."""
    variables = (("x", Interval(x, x)), ("y", Interval(y, y)))
    return Obligation(variables, Compare("==", Binary(op, Var("x"), Var("y")), Const(value)), rounding=reading)


@pytest.mark.parametrize("rounding", ROUNDINGS_OF)
@pytest.mark.parametrize("engine", ["z3 on SMT-LIB", "products at length"])
def test_quotients_round_as_the_obligation_says(engine: str, rounding: Rounding) -> None:
    reading = RoundingSemantics(rounding, rounding)
    for x, y in [(7, 2), (-7, 2), (7, -2), (-7, -2), (6, -3), (-6, 3), (0, -5), (1, 3), (-1, 3), (-1, -3)]:
        q = quotient(x, y, rounding)
        up = -quotient(-x, y, "floor")  # ceildiv rounds up whatever floordiv does
        right: list[tuple[Operator, int]] = [("floordiv", q), ("mod", x - y * q), ("ceildiv", up)]
        for op, value in right:
            assert prove_by(engine, at(op, x, y, value, reading), DEFAULT).verdict == "proved", (op, x, y)
            assert prove_by(engine, at(op, x, y, value + 1, reading), DEFAULT).verdict != "proved", (op, x, y)


@pytest.mark.parametrize("division", ROUNDINGS_OF)
@pytest.mark.parametrize("mod", ROUNDINGS_OF)
@pytest.mark.parametrize("engine", ["z3 on SMT-LIB", "products at length"])
def test_a_quotient_and_a_remainder_may_round_in_two_ways(engine: str, division: Rounding, mod: Rounding) -> None:
    """Of the same two numbers; only where they round alike they make the whole again."""
    x, three = Var("x"), Const(3)
    whole = Binary("+", Binary("*", Binary("floordiv", x, three), three), Binary("mod", x, three))
    asked = Obligation((("x", Interval(-9, 9)),), eq(whole, x), rounding=RoundingSemantics(division, mod))
    alike = division == mod or {division, mod} == {"floor", "euclidean"}  # the divisor is above 0
    assert (prove_by(engine, asked, DEFAULT).verdict == "proved") is alike


@pytest.mark.parametrize("divisor", [1, -1])
def test_a_divisor_of_one_has_a_case(divisor: int) -> None:
    values: list[tuple[Operator, int]] = [("floordiv", 7 * divisor), ("mod", 0)]
    for op, value in values:
        right, wrong = (at(op, 7, divisor, v, FLOOR).conclusion for v in (value, value + 1))
        constant = [replace_variables(f, {"y": Const(divisor)}) for f in (right, wrong)]
        said = [prove_by("products at length", Obligation((("x", Interval(7, 7)),), f), DEFAULT) for f in constant]
        assert [o.verdict for o in said] == ["proved", "unknown"]


@pytest.mark.parametrize(("cases", "least", "verdict"), [(3, -3, "unknown"), (64, -3, "unknown"), (64, -4, "proved")])
def test_what_has_more_cases_than_are_looked_at_is_not_shown(
    cases: int, least: int, verdict: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sum of four numbers, each 1 or -1, is -4 in the last of sixteen cases alone; three do not reach one."""
    monkeypatch.setattr(nonlinear, "_CASES", cases)
    names = [f"x{k}" for k in range(4)]
    total: Expr = Const(0)
    for n in names:
        total = total + Var(n)
    given = conj(*(ne(Var(n), 0) for n in names))
    asked = Obligation(tuple((n, Interval(-1, 1)) for n in names), le(least, total), given)
    assert prove_by("products at length", asked, DEFAULT).verdict == verdict


@pytest.mark.skipif(not cvc5.is_installed(), reason="cvc5 is not installed")
def test_cvc5_tells_numbers_below_zero() -> None:
    outcome = prove_by("cvc5", Obligation((("x", None),), le(0, Var("x")), le(Var("x"), 5)), DEFAULT)
    assert outcome.verdict == "refuted" and outcome.model[0][1] < 0


@pytest.mark.parametrize("engine", sorted(ENGINES.keys() - ROUNDINGS))
def test_engines_that_know_floor_alone_are_not_asked_otherwise(engine: str) -> None:
    """Each of these would prove -7 floordiv 2 to be -4, which is not so where quotients round to zero."""
    reading = RoundingSemantics("trunc", "trunc")
    assert prove_by(engine, at("floordiv", -7, 2, -4, reading), DEFAULT).verdict == "unknown"


def test_two_readings_are_two_obligations() -> None:
    readings = [RoundingSemantics(d, m) for d in ROUNDINGS_OF for m in ROUNDINGS_OF]
    assert FLOOR in readings
    assert len({key(at("floordiv", 1, 2, 0, reading)) for reading in readings}) == len(readings)


def test_a_rule_of_another_rounding_has_two_engines_too(tmp_path: Path) -> None:
    """Products, and the SMT-LIB text, which says how it rounds; so do its certificates."""
    result = check_rule(rule(TRUNC), how=How(cross=True, certify=tmp_path))
    assert result.verdict is Verdict.PROVED
    assert {"z3 (products)"} < set(result.engines)
    by_floor = check_rule(rule(TRUNC.replace("  division trunc\n", "")), how=How(cross=True))
    assert by_floor.verdict is Verdict.REFUTED


def test_what_is_asked_of_a_condition_begins_with_its_divisors() -> None:
    """Innermost first; what is known by then is not asked again."""
    x, c, d = map(Var, "xcd")
    asked = RuleQuestions("a", How()).parts((Condition("!=", d, Const(0)),), Condition("==", x // (c // d), x), FLOOR)
    assert [o.conclusion for o in asked] == [ne(c // d, 0), eq(x // (c // d), x)]


@pytest.mark.parametrize("engine", ["products", "products at length"])
@pytest.mark.parametrize("made", [lambda x, c: x // c, lambda x, c: x % c, lambda x, c: (x % 5) // (c % 3)])
def test_what_products_show_has_a_value(engine: str, made: Callable[[Expr, Expr], Expr]) -> None:
    """Both sides alike, and no value where the divisor is zero."""
    x, c = Var("x"), Var("c")
    e = made(x, c)
    assert isinstance(e, Binary)
    claim = Obligation((("x", None), ("c", None)), eq(e + 0, e))
    assert prove_by(engine, claim, DEFAULT).verdict == "unknown"
    assert prove_by(engine, replace(claim, hypothesis=ne(e.rhs, 0)), DEFAULT).verdict == "proved"


@pytest.mark.parametrize(("name", "verdict"), [("q!1", "unknown"), ("q1", "unknown"), ("x", "proved")])
def test_a_variable_is_no_quotient(name: str, verdict: str) -> None:
    """That it is what x makes divided by 3, whatever it is called; only where it is 0 both is so."""
    x, q = Var("x"), Var(name)
    given = conj(le(0, x), le(x, 0), *(() if name == "x" else (le(0, q), le(q, 1))))
    claim = Obligation(tuple((n, None) for n in dict.fromkeys(("x", name))), eq(x // 3, q), given)
    assert prove_by("products at length", claim, DEFAULT).verdict == verdict
