"""Rule files and what is said of rules: proofs for all parameters, refutations, and planted errors of every kind."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path

import pytest
from spec_texts import check_rules_text

from hloproof.models.errors import InputError
from hloproof.models.expressions import bounds
from hloproof.models.expressions.interval import Interval
from hloproof.models.maps.text import parse_map
from hloproof.models.rules.rule import ConstraintRule, ExpressionRule, VariableRule
from hloproof.models.rules.text import parse_rules, project_rules
from hloproof.results.verdict import ClaimResult, Verdict

ROOT = Path(__file__).parents[1]


def checked(text: str) -> ClaimResult:
    (result,) = check_rules_text(f"rule under-test\n  {text}", "test.rules")
    return result


PLANTED = {
    "a sign lost": ("(x floordiv a) floordiv b => x floordiv (a * b)", "x = "),
    "a divisor's sign": ("(-x) mod 2 => (x mod (-2)) * -1 + x mod 3", "x = "),
    "a bound off by one": ("x mod d => x when 0 <= x <= d", "the left side is"),
    "a rest that is too large": ("(g * x + y) floordiv (g * m) => x floordiv m when g > 0, m > 0, 0 <= y <= g", "y = "),
    "a right side not defined": ("x => (x * y) floordiv y", "undefined"),
    "min for max": ("min(x, y) + max(x, y) => x + x", "the right side"),
    "a constraint's bound": ("x floordiv c in [l, u] => x in [l * c, u * c] when c > 0", "a point is lost, since "),
    "a constraint's rounding": (
        "c * x in [l, u] => x in [l floordiv c, u floordiv c] when c > 1",
        "a point is added, since ",
    ),
    "residues that clash": (
        "x mod a in [r, r], x mod b in [s, s] => never when a > 0, b > 0, r != s",
        "there is a point",
    ),
    "a range that grows": (
        "for s in [l, u] => for t in [l, u + 1] with s = t",
        "an image is no value of the variable, since ",
    ),
    "a value left out": ("for s in [l, u] => for t in [l + 1, u] with s = t", "a value of the variable is no image"),
    "a hint that hides a zero": ("x => x + min(1, a * a) - 1 because x floordiv a == x floordiv a", "a = 0"),
    "a bound not defined": ("c * x in [l, u] => x in [l ceildiv c, u floordiv c] when c >= 0", "c = 0"),
    "two for one": (
        "for s in [0, 1] => for t in [0, 3] with s = t floordiv 2 witness t = 2 * s",
        "a value is an image twice, since ",
    ),
    "a variable without values": (
        "for s in [l, u] => nothing when l <= u + 1 witness s = l",
        "the variable has no value",
    ),
}


@pytest.mark.parametrize("name", PLANTED)
def test_planted_errors_are_refuted(name: str) -> None:
    text, says = PLANTED[name]
    result = checked(text)
    assert result.verdict is Verdict.REFUTED
    assert says in (result.counterexample or "")


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("x mod d => 0 when 0 < d < 1", Verdict.VACUOUS),
        ("x floordiv 0 => 5", Verdict.VACUOUS),
        ("x mod c => x + 7 when c == 0", Verdict.VACUOUS),
        ("x mod (c + -1 * c) => 7", Verdict.VACUOUS),
        ("x + y => x + y", Verdict.TRIVIAL),
        ("x in [l, u] => x in [l, u]", Verdict.TRIVIAL),
        ("x + y => y + x", Verdict.PROVED),
        ("x => x + 1 expect refuted", Verdict.PROVED),
        ("x + 0 => x expect refuted", Verdict.REFUTED),
        ("(2 * x + 1) mod 2 => 1 remainder nonnegative", Verdict.PROVED),
        ("x - (x floordiv 4) * 4 in [0, 3] => always division euclidean", Verdict.PROVED),
        ("x - (x floordiv 4) * 4 in [0, 3] => always division trunc", Verdict.REFUTED),
        ("x ceildiv 2 => x floordiv 2 division trunc", Verdict.REFUTED),  # ceildiv rounds up whatever floordiv does
        ("x ceildiv 23 => x floordiv 23 division euclidean", Verdict.REFUTED),
        ("x ceildiv (-23) => x floordiv (-23) division euclidean", Verdict.PROVED),
        ("x * y * y => 0 when x * y == 0, x * x == 2", Verdict.UNKNOWN),
        # At c = 5000 the right side has no value: the witness tries numbers beside those of the rule.
        ("x * 0 => (x mod (c - 5000)) * 0 remainder nonnegative", Verdict.REFUTED),
        ("x * 0 => (x mod (c - 5000)) * 0 when c < 5000 remainder nonnegative", Verdict.PROVED),
    ],
)
def test_verdicts(text: str, verdict: Verdict) -> None:
    assert checked(text).verdict is verdict


HINTS = {
    # rule without its hint: the hint that proves it (none: it is wrong), and hints that are wrong
    "for s in [l, l] => nothing": ("s = l", ["s = l + 1", ""]),
    "for s in [0, 3] => for t in [0, 3] with s = 3 - t": ("t = 3 - s", ["t = s + 1", ""]),
    "for s in [0, 4] => for t in [0, 3] with s = 3 - t": (None, ["t = 3 - s", "t = s", ""]),
    "for s in [l, u], s floordiv c in [0, 0] => nothing when l <= u": (None, ["s = l", ""]),
    "for s in [0, 3] => for t in [0, 4] with s = min(t, 3)": (None, ["t = s", ""]),
}


@pytest.mark.parametrize("rule", HINTS)
def test_a_wrong_hint_refutes_no_rule(rule: str) -> None:
    """A value that exists need not be the one that a hint names: only where no value will do is the rule wrong."""
    right, wrong = HINTS[rule]
    for hint in wrong:
        result = checked(f"{rule} witness {hint}" if hint else rule)
        assert result.verdict is (Verdict.REFUTED if right is None else Verdict.UNKNOWN), hint
        if right is not None:
            assert "witness" in (result.reason or "")
    if right is not None:
        assert checked(f"{rule} witness {right}").verdict is Verdict.PROVED


def test_a_second_encoder_agrees() -> None:
    from hloproof.claims.rules.claims import check_rule
    from hloproof.engines.door import How

    rules = {r.name: r for r in (*project_rules("division"), *project_rules("order"))}
    for name in ("mod-of-small", "floordiv-of-multiples", "min-of-less"):
        assert "z3 (products)" in check_rule(rules[name], how=How(cross=True)).engines


def test_the_smallest_counterexample_and_a_line_to_paste_back() -> None:
    result = checked("(x floordiv 3 + y floordiv 3) floordiv 6 => (x + y) floordiv 18 when 0 <= x <= 60, 0 <= y <= 60")
    assert result.counterexample is not None
    assert "the left side is 0, the right side 1" in result.counterexample
    assert "hloproof rewrite '(x, y) -> ((x / 3 + y / 3) / 6), domain:" in result.counterexample


def test_conditions_that_are_not_needed_are_named() -> None:
    assert checked("x mod 1 => 0 when x >= 0").reason == "the proof does not need the condition 0 <= x"
    assert checked("x mod d => x when 0 <= x < d because x floordiv d == 0").reason is None


@pytest.mark.parametrize(
    ("text", "place", "says"),
    [
        ("rule a\n  x => x +\n", "3:1", "an expression"),
        ("x => x", "1:1", "'rule'"),
        ("rule a\n x = x", "2:4", "'=>'"),
        ("rule a\n x => x\n wenn x > 0", "3:2", "a clause"),
        ("rule a\n x => x when x\n", "3:1", "a comparison"),
        ("rule a\n x => x expect maybe", "2:16", "proved or refuted"),
        ("rule a\n x in [1 => x in [1, 2]", "2:10", "','"),
        ("rule a\n x => x\nrule a\n x => x", "4:8", "used twice"),
        ("rule a\n x => x compute k = gcd(x)", "2:27", "2 arguments"),
    ],
)
def test_errors_in_rule_files_have_a_place(text: str, place: str, says: str) -> None:
    with pytest.raises(InputError) as raised:
        parse_rules(text)
    assert str(raised.value).startswith(f"{place}:"), raised.value
    assert says in raised.value.message


def test_every_rule_file_of_the_project_reads_and_names_are_unique() -> None:
    names: list[str] = []
    for path in sorted((ROOT / "specs" / "rules").glob("*.rules")):
        names += [r.name for r in parse_rules(path.read_text(encoding="utf-8"), str(path))]
    assert len(names) == len(set(names)) > 50
    kinds = {type(r) for k in ("division", "constraints", "variables") for r in project_rules(k)}
    assert kinds == {ExpressionRule, ConstraintRule, VariableRule}


@pytest.mark.parametrize("kind", ["arithmetic", "order"])
def test_rules_of_the_project_are_proved(kind: str) -> None:
    """The quick ones; `hloproof check specs` proves all."""
    text = (ROOT / "specs" / "rules" / f"{kind}.rules").read_text(encoding="utf-8")
    for result in check_rules_text(text, kind):
        assert result.verdict is Verdict.PROVED, result


def test_a_planted_error_in_ranges_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A simplifier that believes a wrong range gives a wrong map, and the claim about it says so."""
    from hloproof.claims.maps.simplified import simplified
    from hloproof.models.simplifier import rewriter

    right = bounds.combine

    def wrong(op: str, x: Interval, y: Interval) -> Interval:
        r = right(op, x, y)
        return Interval(r.lower, r.upper - 1) if op == "floordiv" and r.upper > r.lower else r

    before = parse_map("(d0) -> ((d0 / 4) mod 5), domain: d0 in [0, 23]")
    assert simplified(before).found.verdict is Verdict.PROVED
    assert simplified(before).map == before
    monkeypatch.setattr(rewriter, "combine", wrong)
    again = parse_map("(e0) -> ((e0 / 4) mod 5), domain: e0 in [0, 23]")
    monkeypatch.setattr("hloproof.models.simplifier.simplify._done", OrderedDict())
    monkeypatch.setattr("hloproof.models.simplifier.simplify._rewriters", OrderedDict())
    result = simplified(again)
    assert result.found.verdict is Verdict.REFUTED
    assert result.found.counterexample is not None


def test_the_proof_alone_refuses_what_a_hint_with_a_zero_divisor_would_hide(monkeypatch: pytest.MonkeyPatch) -> None:
    from hloproof.claims.rules import claims as rule_claims

    monkeypatch.setattr(rule_claims, "_refuted", lambda *_: False)
    monkeypatch.setattr(rule_claims, "contradicted", lambda _: None)
    assert checked(PLANTED["a hint that hides a zero"][0]).verdict is Verdict.UNKNOWN
    assert checked(PLANTED["a bound not defined"][0]).verdict is Verdict.UNKNOWN


def test_a_verdict_names_the_places_of_both_sides() -> None:
    text = "rule wrong\n  (x floordiv a) floordiv b\n    => x floordiv (a * b)\n  when a != 0\n"
    [found] = check_rules_text(text, "f.rules")
    assert found.verdict is Verdict.REFUTED
    assert [(r.line, r.column, r.message) for r in found.related] == [(2, 3, "left side"), (3, 8, "right side")]


def test_what_engines_are_asked_about_a_rule_is_counted() -> None:
    from hloproof.claims.rules.claims import check_rule
    from hloproof.engines.door import How
    from hloproof.logic.obligation import Outcome

    (rule,) = parse_rules("rule r\n  (x floordiv c) * c + (x mod c) => x\n  when c > 0\n", "r.rules")
    told: list[Outcome] = []
    assert check_rule(rule, how=How(told=told.append)).verdict is Verdict.PROVED
    assert {o.engines for o in told if o.verdict == "proved"} >= {("z3",), ("isl",)}
    assert all(o.stages for o in told) and not any(o.model for o in told)
