"""Rules that were proved and are false, each beside a sound twin; and entries that a reader passed over."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path

import pytest
from spec_texts import check_rules_text

from hloproof.claims.rules import claims, statements
from hloproof.claims.rules.instances import meets
from hloproof.claims.rules.rounding import evaluate, reading_of
from hloproof.claims.rules.roundings import rounding_cases
from hloproof.claims.rules.witness import contradicted, points
from hloproof.engines.nonlinear import prove
from hloproof.engines.nonlinear.polynomial import Poly
from hloproof.logic.obligation import FLOOR, RoundingSemantics
from hloproof.models.errors import InputError
from hloproof.models.expressions.evaluate import UndefinedValue
from hloproof.models.expressions.expr import Const, to_text
from hloproof.models.interpreter.rules import try_instance
from hloproof.models.rules.rule import Bounded, Condition, ConstraintRule, ExpressionRule, Rule
from hloproof.models.rules.text import parse_rules
from hloproof.pipeline.driver import check
from hloproof.pipeline.entry_count import COUNTED, check_count
from hloproof.pipeline.folders import find_sources
from hloproof.pipeline.items import ITEM_KINDS
from hloproof.pipeline.sources import KINDS, SUFFIXES
from hloproof.results.verdict import Verdict

SPECS = Path(__file__).parents[1] / "specs"


def verdict(text: str, name: str = "a") -> Verdict:
    (found,) = check_rules_text(f"rule {name}\n{text}\n", "x.rules")
    return found.verdict


# --- what is read ------------------------------------------------------------------------------------------------


def test_a_quote_in_a_remark_hides_nothing() -> None:
    text = 'rule a\n x + 0 => x\n note the "old form\nrule b\n x => x + 1\n from "\nrule c\n x => x + 2\n'
    assert [r.name for r in parse_rules(text)] == ["a", "b", "c"]
    assert [r.verdict for r in check_rules_text(text, "x.rules")] == [Verdict.PROVED, *[Verdict.REFUTED] * 2]


def test_an_empty_remark_takes_its_own_line_only() -> None:
    assert [r.name for r in parse_rules("rule a\n x + 0 => x\n note\nrule b\n x => x + 1\n")] == ["a", "b"]


@pytest.mark.parametrize("path", sorted(p for p in SPECS.rglob("*") if p.suffix in SUFFIXES), ids=lambda p: p.name)
def test_as_many_entries_are_read_as_the_lines_show(path: Path) -> None:
    (source,) = find_sources([str(path)])
    text = source.read()
    if source.kind != "hlo":  # modules are counted wherever they are checked
        items = ITEM_KINDS[source.kind].parse(text, source.name)
        check_count(source.kind, text, len(items))
        assert items


def test_every_kind_of_file_is_counted() -> None:
    assert set(COUNTED) == set(KINDS)
    text = (
        "// first\nHloModule a\nENTRY e { ROOT p = f32[] parameter(0) }\n// -----\n// only words\n// -----\n/* x */ f\n"
    )
    assert COUNTED["hlo"](text) == 2
    assert COUNTED["map"]("# map a\nmap a\n  note map b\nmap c # d\n") == 2
    assert COUNTED["rules"]("rule a\n x => x\n note rule b\n  rule c\n# rule d\n") == 2


def test_a_reader_that_passes_over_an_entry_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.rules"
    file.write_text("rule a\n x + 0 => x\nrule b\n x => x + 1\n")
    assert check([str(file)]).files[0].entries == 2

    def first_only(text: str, name: str) -> Sequence[object]:
        return list(parse_rules(text, name))[:1]

    kind = ITEM_KINDS["rules"]
    monkeypatch.setitem(ITEM_KINDS, "rules", type(kind)(kind.claim, kind.record_kind, first_only, kind.judge))
    (problem,) = check([str(file)]).problems
    assert "1 entries were read, and by its lines the file has 2" in problem.message


UNREADABLE = [
    ("for s in [0, 0] => for t in [0, 10] with s = t when t == 0", "bound by the statement"),
    ("for s in [0, 10] => for t in [0, 10] with s = t when s == 0", "bound by the statement"),
    ("for s in [l, u] => nothing when l <= u witness l = l", "'l' is none"),
    ("for s in [0, t] => for t in [0, 3] with s = t", "bound by the other side"),
    ("for s in [0, 3] => for t in [s, s] with s = t", "bound by the other side"),
    ("for s in [0, 3] => for s in [0, 3] with s = s", "a name of its own"),
    ("for s in [s, s + 1] => nothing", "mention it"),
    ("for s in [0, 3] => for t in [0, 3] with s = s", "by means of itself"),
    ("x => x + 0 remainder floor remainder nonnegative", "not two"),
    ("x => x + 0 witness y = x", "'y' is none"),
    ("x => x + 0 rule b", "beginning of a line"),
]


@pytest.mark.parametrize(("text", "message"), UNREADABLE)
def test_names_are_not_captured(text: str, message: str) -> None:
    with pytest.raises(InputError) as raised:
        parse_rules(f"rule a\n{text}\n")
    assert message in raised.value.message and raised.value.line >= 1


# --- what is said ------------------------------------------------------------------------------------------------

TWINS = [
    # A constant that has the name of the second copy of a variable. (t = 0 and t = 1 both give 0.)
    ("for s in [0, 0] => for t in [0, 1] with s = t * (t_other - t_other) when t_other == 0 witness t = 0", "refuted"),
    ("for s in [0, t_other] => for t in [0, t_other] with s = t when t_other >= 0 witness t = s", "proved"),
    # The remainder that a rule names, beside a rounding of its quotients.
    ("x mod c => x - c * (x floordiv c) when c > 0 division trunc", "proved"),
    ("x mod c => x - c * (x floordiv c) when c > 0 division trunc remainder floor", "refuted"),
    ("(x mod c) floordiv c => 0 when c > 0 division trunc remainder floor", "proved"),
    ("max(0, -(x mod c)) => 0 when c > 0 division trunc remainder floor", "proved"),
    ("max(0, -(x mod c)) => 0 when c > 0 division trunc", "refuted"),
    ("max(0, -(x mod c)) => 0 when c != 0 division euclidean remainder floor", "refuted"),
    # Without a value: the right side has one wherever the left side has.
    ("x => x + 0 * (1 mod c)", "refuted"),
    ("x => x + 0 * (1 mod c) when c != 0", "proved"),
    ("x + 0 * (1 mod c) => x", "proved"),
    ("x in [1, 5] => x in [1, 5], 10 mod x in [0, 9]", "proved"),
    ("x in [0, 5] => x in [0, 5], 10 mod x in [0, 9]", "refuted"),
    ("x in [0, 5] => x in [0, 5], 10 mod x in [0, 10], 0 * (10 mod x) in [0, 0]", "refuted"),
    ("x in [0, -1] => 10 mod x in [0, -1]", "refuted"),
    ("10 mod x in [0, 9], x in [1, 9] => x in [1, 9]", "proved"),
    ("x in [1, 5], 7 mod x in [0, 9] => x in [0, 5]", "refuted"),
    ("x in [1, 5], 7 mod x in [0, 9] => x in [1, 5]", "proved"),
    ("for s in [0, 3] => for t in [0, 3] with s = t + 0 * (1 mod t) witness t = s", "refuted"),
    ("for s in [1, 3] => for t in [1, 3] with s = t + 0 * (1 mod t) witness t = s", "proved"),
    # The left side has no value at c = 0 (once refuted there), and at none at all.
    ("for s in [0, 7 floordiv c] => for t in [0, 7 floordiv c] with s = t witness t = s", "proved"),
    ("for s in [0, 7 floordiv c] => for t in [0, 7 floordiv d] with s = t witness t = s", "refuted"),
    ("for s in [7 floordiv c, 3 + 7 floordiv c] => nothing witness s = 7 floordiv c", "proved"),
    ("for s in [0, -1], 7 mod c in [0, 6] => for t in [0, 3], 7 mod c in [0, 6] with s = t witness t = s", "refuted"),
    ("for s in [0, 3], 7 mod c in [0, 6] => for t in [0, 3], 7 mod c in [0, 6] with s = t witness t = s", "unknown"),
    ("for s in [0, 3], s mod c in [0, 0] => for t in [1, 0] with s = t when c == 0 witness t = s", "vacuous"),
    # It has one wherever a constraint that has a value is false: the rule says something (once vacuous).
    ("x in [l, u], 1 mod (x - x) in [0, 0] => x in [l, u]", "proved"),
    ("x in [l, u], 1 mod (x - x) in [0, 0] => x in [l, u + 1]", "refuted"),
    ("y mod (x - x) in [0, 0] => x in [l, u]", "vacuous"),
]


@pytest.mark.parametrize(("text", "expected"), TWINS)
def test_twins(text: str, expected: str) -> None:
    assert verdict(text).value == expected


HOLES = [
    # One point, far from what is tried, at which one constraint is false and another has no value.
    "x in [123 * 1000 + 456, 200000], 7 mod (x - 123 * 1000 - 455) in [0, 99999] => x in [123 * 1000 + {}, 200000]",
    "7 mod (x - 123 * 1000 - 455) in [0, 99999], x in [123 * 1000 + 456, 200000] => x in [123 * 1000 + {}, 200000]",
]


@pytest.mark.parametrize("text", HOLES)
def test_a_constraint_without_a_value_does_not_hide_one_that_is_false(text: str) -> None:
    """Once proved: that no point is added was asked only where all of the left side has a value."""
    assert verdict(text.format(455)) is not Verdict.PROVED
    assert verdict(text.format(456)) is Verdict.PROVED


CONSTRAINTS = [
    "x in [1, 5], 7 mod x in [0, 9] => x in [0, 5]",
    "7 mod x in [1, 1], 7 mod y in [0, 9] => x in [2, 2], y in [0, 0]",
    "7 mod y in [0, 9], 7 mod x in [1, 1] => x in [2, 2], y in [0, 0]",
    "7 mod y in [0, 9], 7 mod x in [1, 1] => x in [2, 6], 7 mod y in [0, 7 mod x]",
    "y in [1, 2], 7 mod y in [0, 3] => 7 mod y in [0, 1], 0 * (1 mod x) in [0, 0]",
    "x in [1, 2], y mod x in [0, 1] => y in [0, 1], y mod x in [0, 1]",
    "y mod x in [0, 1] => y mod x in [0, 2], x in [-3, 3]",
    "x in [1, 9], 7 mod y in [0, 9] => x in [1, 8] , 7 mod x in [0, 9]",
    "x in [1, 9], 7 mod y in [0, 9] => x * 0 in [0, 0], 7 mod x in [0, 9]",
    "x mod 0 in [0, 1], y in [1, 2] => y in [1, 3]",
]


@pytest.mark.parametrize("text", CONSTRAINTS)
def test_statements_about_constraints_say_what_the_rule_says(text: str) -> None:
    """At every point: a side is false where a constraint is that always has a value, and else has a value where all
    have; where the left side has one the right side has the same. The witness says so too."""
    (rule,) = parse_rules(f"rule a\n {text}\n")
    assert isinstance(rule, ConstraintRule)
    said = statements.statements_of(rule)

    def value(side: Sequence[Bounded], at: dict[str, int]) -> bool | None:
        found = [
            (
                truth((Condition("<=", b.lower, b.expr), Condition("<=", b.expr, b.upper)), at, FLOOR),
                any(map(statements.defined, b.terms)),
            )
            for b in side
        ]
        if any(v is False and not partial for v, partial in found):
            return False
        return None if any(v is None for v, _ in found) else all(v for v, _ in found)

    for x, y in product(range(-4, 8), repeat=2):
        at = {"x": x, "y": y}
        expected = value(rule.before, at)
        broken = any(meets(s.given, at, FLOOR) and not meets(s.goals, at, FLOOR) for s in said)
        assert broken == (expected is not None and value(rule.after, at) != expected), at
        outcome = "inapplicable" if expected is None else "fails" if broken else "holds"
        assert try_instance(rule, at) == outcome, at


ROUNDED = [
    ("(x floordiv a) floordiv b => x floordiv (a * b) when a != 0, b != 0 division trunc", "proved"),
    ("(x floordiv a) floordiv b => x floordiv (a * b) when a != 0, b != 0 division euclidean", "refuted"),
    ("(x mod c) mod c => x mod c when c != 0 division trunc", "proved"),
    ("(0 - x) floordiv c => 0 - x floordiv c when c != 0 division trunc", "proved"),
    ("(0 - x) floordiv c => 0 - x floordiv c when c != 0 division euclidean", "refuted"),
    ("(x + c * k) mod c => x mod c when c != 0 division euclidean", "proved"),
    ("(x + c * k) mod c => x mod c when c != 0 division trunc remainder floor", "proved"),
    ("(x + c * k) mod c => x mod c when c != 0 division trunc", "refuted"),
    ("max(x, y) floordiv c => max(x floordiv c, y floordiv c) when c > 0 division trunc", "proved"),
    ("max(x, y) floordiv c => max(x floordiv c, y floordiv c) when c != 0 division trunc", "refuted"),
    ("a * (x mod b) => (a * x) mod (a * b) when a > 0, b != 0 division trunc", "proved"),
    ("a * (x mod b) => (a * x) mod (a * b) when a != 0, b != 0 division euclidean", "refuted"),
    ("x => x + 0 * (1 mod c) division trunc", "refuted"),
]


@pytest.mark.parametrize(("text", "expected"), ROUNDED)
def test_other_roundings(text: str, expected: str) -> None:
    assert verdict(text).value == expected


@pytest.mark.parametrize("division", ["floor", "trunc", "euclidean"])
@pytest.mark.parametrize("remainder", ["", "floor", "nonnegative"])
@pytest.mark.parametrize(
    "text",
    [
        "x floordiv (y mod 5 + c) => x mod c",
        "(x floordiv c) mod y => max(x, y) floordiv -3",
        "x ceildiv c + x mod -3 => min(x, y) mod (x floordiv y)",
    ],
)
def test_the_cases_of_a_rounding_say_what_the_statement_says(text: str, division: str, remainder: str) -> None:
    """At every point one case speaks, and says under floor what the statement says under the rule's rounding. Nothing
    is asked about a division by zero."""
    clauses = f"division {division}" + (f" remainder {remainder}" if remainder else "")
    (rule,) = parse_rules(f"rule a\n {text} when c != 0, x mod c != 2 {clauses}\n")
    ((whole,), reading) = statements.statements_of(rule), reading_of(rule)
    cases = rounding_cases(rule, whole)
    for x, y, c in product(range(-7, 8), range(-4, 5), range(-3, 4)):
        values = {"x": x, "y": y, "c": c}
        speak = [s for s in cases if meets(s.given, values, FLOOR)]
        assert len(speak) == meets(whole.given, values, reading)
        assert all(meets(s.goals, values, FLOOR) == meets(whole.goals, values, reading) for s in speak)


def test_of_too_many_cases_none_is_passed_over() -> None:
    """Wherever the statement fails, what stands for it fails: more cases than are looked at say that nothing holds."""
    names = [f"x{k}" for k in range(9)]
    for count in (2, 9):
        text = " + ".join(f"{n} floordiv 2" for n in names[:count])
        (rule,) = parse_rules(f"rule a\n {text} => {text} + 1 division trunc\n")
        ((whole,), reading) = statements.statements_of(rule), reading_of(rule)
        found = rounding_cases(rule, whole)
        for signs in product((-1, 1), repeat=count):
            values = dict(zip(names, signs, strict=False))
            assert not meets(whole.goals, values, reading)
            assert any(meets(s.given, values, FLOOR) and not meets(s.goals, values, FLOOR) for s in found)


# --- the second witness ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", sorted(SPECS.rglob("*.rules")), ids=lambda p: p.name)
def test_the_witness_contradicts_no_rule_that_is_proved(path: Path) -> None:
    for rule in parse_rules(path.read_text(encoding="utf-8"), path.name):
        assert rule.expect == "refuted" or contradicted(rule) is None


def test_points_of_the_witness_are_of_every_magnitude() -> None:
    from random import Random

    (rule,) = parse_rules("rule a\n x mod c => x mod c + 0 when c > 5\n")
    sizes = [abs(v) for p in points(rule, Random(1), 400) for v in p.values()]
    assert min(sizes) < 4 and max(sizes) > 2**64
    assert sum(10**5 < s < 10**13 for s in sizes) > 50


FAR = [
    # Wrong where a divisor is negative and beyond a thousand only.
    ("x mod c => x mod c + min(0, c + 50000) when c != 0 remainder nonnegative", "refuted"),
    ("x mod c => x mod c + min(0, c * 0) when c != 0 remainder nonnegative", "proved"),
    # More cases than are looked at.
    (
        " + ".join(f"min(x, {k} * y)" for k in range(2, 15))
        + " => "
        + " + ".join(f"min(x, {k} * y)" for k in range(2, 15))
        + " + min(0, x + y + 1000000)",
        "refuted",
    ),
]


@pytest.mark.parametrize(("text", "expected"), FAR)
def test_what_is_wrong_far_from_zero_is_found(text: str, expected: str) -> None:
    assert verdict(text).value == expected


def without_negative_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = statements.sign_cases

    def planted(rule: Rule, s: statements.RuleStatement) -> list[statements.RuleStatement]:
        cases = whole(rule, s)
        return [c for c in cases if not any(g.op == "<" and str(g.rhs) == str(Const(0)) for g in c.given)]

    monkeypatch.setattr(claims, "sign_cases", planted)


def without_too_many_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = prove._cases

    def planted(problem: prove.Problem, rlimit: int) -> Iterator[list[Poly]]:
        return (case for case in whole(problem, rlimit) if case)

    monkeypatch.setattr(prove, "_cases", planted)


@pytest.mark.parametrize(("plant", "text"), [(without_negative_signs, FAR[0][0]), (without_too_many_cases, FAR[2][0])])
def test_a_wrong_statement_is_noticed(plant: object, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All engines consume the same statements; the witness does not."""
    assert callable(plant)
    plant(monkeypatch)
    assert verdict(text) is Verdict.REFUTED


# --- what says nothing -------------------------------------------------------------------------------------------

WITHOUT_A_VALUE = [
    ("x floordiv (b - b) => 5", "vacuous"),
    ("x in [a floordiv (b - b), 5] => x in [7, 8]", "vacuous"),  # once proved: nothing meets its hypotheses
    ("x in [0, a mod 0] => never", "vacuous"),
    ("x in [a floordiv b, 5] => x in [a floordiv b, 6]", "refuted"),
    ("x in [a floordiv b, 5] => x in [a floordiv b, 5], x - 1 in [a floordiv b - 1, 4]", "proved"),
    ("for s in [0, a floordiv 0] => nothing witness s = 0", "vacuous"),
    ("for s in [0, a floordiv 2] => nothing witness s = 0", "refuted"),
    ("for s in [0, a floordiv 2] => nothing when a >= 0 witness s = 0", "proved"),
]


@pytest.mark.parametrize(("text", "expected"), WITHOUT_A_VALUE)
def test_a_rule_whose_left_side_never_has_a_value_is_vacuous(text: str, expected: str) -> None:
    assert verdict(text).value == expected


FOR = "for s in [0, 3] => for t in [0, 3] with s = 3 - t "
UNHEARD = [
    ("x mod a => 0 when a divides x <= 3", "no part of a chain"),  # once read as a <= 3
    ("x + 0 => x with q: constant", "a sort is given for 'q'"),
    (f"{FOR}witness t = 3 - s, t = s", "witness says twice"),
    (f"{FOR}witness t = 3 - s witness t = s", "witness says twice"),
    ("x * c => c * x compute c = 1, c = 2", "compute says twice"),
]


@pytest.mark.parametrize(("text", "message"), UNHEARD)
def test_a_clause_that_nothing_would_take_notice_of_is_an_error(text: str, message: str) -> None:
    with pytest.raises(InputError) as raised:
        parse_rules(f"rule a\n{text}\n")
    assert message in raised.value.message


def test_what_is_said_once_and_taken_notice_of_is_read() -> None:
    for text in (f"{FOR}witness t = 3 - s", "x mod a => 0 when a divides x, x <= 3", "s + 0 => s with s: variable"):
        assert verdict(text) is Verdict.PROVED


# --- signs of divisors -------------------------------------------------------------------------------------------


def truth(conditions: Sequence[Condition], at: dict[str, int], reading: RoundingSemantics) -> bool | None:
    """Whether all hold; None where one of them has no value."""
    try:
        return all(_COMPARED[c.op](evaluate(c.lhs, at, reading), evaluate(c.rhs, at, reading)) for c in conditions)
    except UndefinedValue:
        return None


_COMPARED: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
SIGNED = [
    "x mod c => x mod (0 - c) when x >= -3",
    "x mod c => x mod c + x mod (c - 2)",  # on the right alone: it may be zero
    "x mod -3 => x mod 3 + (x mod c) * 0 when c < 0",
    "x mod -3 + c => c + x mod -3 when x mod c <= 1, c + x != 0",
]


@pytest.mark.parametrize("text", SIGNED)
def test_each_point_is_in_the_case_of_its_signs_and_nothing_else_changes_there(text: str) -> None:
    (rule,) = parse_rules(f"rule a\n{text} remainder nonnegative\n")
    assert isinstance(rule, ExpressionRule)
    (whole,) = statements.statements_of(rule)
    cases = statements.sign_cases(rule, whole)
    assert len(cases) > 1
    for x, c in product(range(-5, 6), repeat=2):
        at = {"x": x, "c": c}
        if not truth(whole.given, at, reading_of(rule)):
            continue
        (case,) = [s for s in cases if truth(s.given, at, FLOOR)]
        assert truth(case.goals, at, FLOOR) is truth(whole.goals, at, reading_of(rule))


def test_divisors_of_which_the_signs_say_too_little_are_left_alone() -> None:
    """A remainder inside a divisor would have to be turned as well; beside quotients that round to zero none is."""
    (nested,) = parse_rules("rule a\nx mod (7 mod c) => x mod (7 mod c) when c > 7 remainder nonnegative\n")
    (case,) = statements.sign_cases(nested, statements.statements_of(nested)[0])
    assert case.goals == (statements.NEVER,) and not case.given
    (other,) = parse_rules("rule a\nx mod c => x mod c when c > 7 division trunc remainder nonnegative\n")
    (whole,) = statements.statements_of(other)
    assert statements.sign_cases(other, whole) == [whole]


# --- what a rule owes --------------------------------------------------------------------------------------------

NO_VALUE, IMAGE, BACK, ONCE = (
    "the variable has a value",
    "every image is a value of the variable",
    "every value of the variable is an image",
    "no value is an image twice",
)
OWED: list[tuple[str, list[str]]] = [
    # A divisor of the left side is not zero, one of the right side is shown not to be.
    (
        "(x mod a) floordiv 2 => x ceildiv b + 3 mod 0 when a > 0",
        ["both sides are equal: 0 < a, a != 0 |- b != 0, 0 != 0, (x mod a) / 2 == x ceildiv b + 3 mod 0"],
    ),
    # Constraints that have a value everywhere come first on both sides.
    (
        "x mod a in [0, 3], x in [l, 9] => x ceildiv b in [1, 2], x in [0, u] when l < u",
        [
            "the right side has a value: l < u, a != 0, 0 <= x, x <= u |- b != 0",
            "the right side has a value: l < u, x < l, 0 <= x, x <= u |- b != 0",
            "the right side has a value: l < u, 9 < x, 0 <= x, x <= u |- b != 0",
            "no point is lost: l < u, a != 0, 0 <= x mod a, x mod a <= 3, l <= x, x <= 9 |- "
            "b != 0, 1 <= x ceildiv b, x ceildiv b <= 2, 0 <= x, x <= u",
            "no point is added: l < u, b != 0, 1 <= x ceildiv b, x ceildiv b <= 2, 0 <= x, x <= u |- l <= x, x <= 9",
            "no point is added: a != 0, l < u, b != 0, 1 <= x ceildiv b, x ceildiv b <= 2, 0 <= x, x <= u, l <= x, "
            "x <= 9 |- 0 <= x mod a, x mod a <= 3",
        ],
    ),
    (
        "x in [l, u] => always when u < l",
        ["no point is lost: u < l, l <= x, x <= u |- ", "no point is added: u < l |- l <= x, x <= u"],
    ),
    ("x in [l, 3 mod l] => never when l > 3", ["there are no points: 3 < l, l != 0, l <= x, x <= 3 mod l |- 0 == 1"]),
    ("for s in [l, u] => nothing when l <= u", [f"{NO_VALUE} (some): l <= u |- 0 == 1"]),
    (
        "for s in [1, 4 mod c] => nothing when l <= u witness s = 1 - c",
        [f"{NO_VALUE} (some): l <= u, c != 0 |- c != 0, 1 <= 1 - c, 1 - c <= 4 mod c"],
    ),
    (
        "for s in [1, 9 mod a] => for t in [0, 5 floordiv c] with s = t * (7 ceildiv b) when a > 1 witness t = s + 1",
        [
            "the right side has a value: 1 < a, a != 0 |- c != 0, b != 0",
            f"{IMAGE}: 1 < a, a != 0, 0 <= t, t <= 5 / c |- "
            "a != 0, 1 <= t * (7 ceildiv b), t * (7 ceildiv b) <= 9 mod a",
            f"{BACK} (some): 1 < a, a != 0, 1 <= s, s <= 9 mod a |- "
            "0 <= s + 1, s + 1 <= 5 / c, (s + 1) * (7 ceildiv b) == s",
            f"{ONCE}: 1 < a, a != 0, 0 <= t, t <= 5 / c, 0 <= t_other, t_other <= 5 / c, "
            "t * (7 ceildiv b) == t_other * (7 ceildiv b) |- t == t_other",
        ],
    ),
    # The variable itself has the name of the second copy; what is hinted of it is not said of that.
    (
        "for t_other in [0, u] => for t in [1, u + 1] with t_other = t - 1 witness t = t_other + 1, t_other = t - 1",
        [
            f"{IMAGE}: 1 <= t, t <= u + 1 |- 0 <= t - 1, t - 1 <= u",
            f"{BACK} (some): 0 <= t_other, t_other <= u |- 1 <= t_other + 1, t_other + 1 <= u + 1, "
            "t_other + 1 - 1 == t_other",
            f"{ONCE}: 1 <= t, t <= u + 1, 1 <= t_other1, t_other1 <= u + 1, t - 1 == t_other1 - 1 |- t == t_other1",
        ],
    ),
    # A constant that has the name of the second copy of a variable.
    (
        "for s in [l, t_other] => for t in [l, t_other] with s = t when t_other >= l",
        [
            f"{IMAGE}: l <= t_other, l <= t, t <= t_other |- l <= t, t <= t_other",
            f"{BACK} (some): l <= t_other, l <= s, s <= t_other |- l <= t, t <= t_other, t == s",
            f"{ONCE}: l <= t_other, l <= t, t <= t_other, l <= t_other1, t_other1 <= t_other, t == t_other1 |- "
            "t == t_other1",
        ],
    ),
]


def written(conditions: Sequence[Condition]) -> str:
    return ", ".join(f"{to_text(c.lhs)} {c.op} {to_text(c.rhs)}" for c in conditions)


@pytest.mark.parametrize(("text", "owed"), OWED, ids=[text for text, _ in OWED])
def test_what_a_rule_owes(text: str, owed: list[str]) -> None:
    """In full: most of what is left out here a search for counterexamples would still find, and some of it not."""
    (rule,) = parse_rules(f"rule a\n{text}\n")
    assert [
        f"{s.what}{' (some)' if s.exists else ''}: {written(s.given)} |- {written(s.goals)}"
        for s in statements.statements_of(rule)
    ] == owed
