"""Target `rules`: a rule that is proved fails no instance, and a random rule that fails an instance is not proved."""

from __future__ import annotations

from functools import cache
from typing import Final

from hypothesis import strategies as st

from hloproof.fuzz.drawing import Writer, from_choices
from hloproof.fuzz.mutation.rule_mutants import changes
from hloproof.fuzz.target import Failure, Target
from hloproof.models.interpreter.rules import try_instance
from hloproof.models.rules.rule import Rule, VariableRule
from hloproof.models.rules.text import parse_rules, rules_folder
from hloproof.models.specs.folder import specs_folder
from hloproof.results.verdict import Verdict

_AT: Final = "#at "
"""Opens the line with the number of a change, 0 for none, and the values of the metavariables."""

CHOICES: Final = 30


@cache
def rule_texts() -> tuple[str, ...]:
    """The text of every rule of the project, those to be refuted among them."""
    folders = [rules_folder(), specs_folder() / "xla", specs_folder() / "refuted"]
    found: list[str] = []
    for file in (f for folder in folders for f in sorted(folder.glob("*.rules"))):
        text = file.read_text(encoding="utf-8")
        for block in ("\n" + text).split("\nrule ")[1:]:
            one = "rule " + block.split("\n#")[0].rstrip() + "\n"
            if len(parse_rules(one)) == 1:
                found.append(one)
    return tuple(found)


def _case(w: Writer) -> str:
    """A rule as it stands or with one of the changes that make it another rule, and values for its metavariables."""
    text: str = w.one_of(rule_texts())
    change = w.number(0, len(_changes(text)) - 1) if w.chance(12) else 0
    return f"{text}{_AT}{change} {' '.join(str(_value(w)) for _ in range(12))}\n"


def _value(w: Writer) -> int:
    """Mostly small, now and then beyond what a machine word holds."""
    ends = w.one_of(((-4, 6), (-30, 40), None))
    return int(w.one_of((-(2**31), 2**31, 2**40 + 7))) if ends is None else w.number(*ends)


def cases() -> st.SearchStrategy[str]:
    return from_choices(_case, CHOICES)


@cache
def _changes(text: str) -> tuple[Rule, ...]:
    """The rule as it stands, and every rule that differs from it in one place."""
    (rule,) = parse_rules(text)
    return (rule, *(other for _, other in changes(rule)))


def metavariables(rule: Rule) -> list[str]:
    """Every name of the rule but those that it binds itself."""
    bound = {rule.variable, rule.fresh} if isinstance(rule, VariableRule) else set()
    return sorted({name for name, _ in rule.sorts} - bound)


def examine(text: str) -> tuple[str, ...]:
    from hloproof.claims.rules.claims import judge

    body, _, numbers = text.rpartition(_AT)
    change, *given = (int(n) for n in numbers.split())
    rule = _changes(body)[change % len(_changes(body))]
    names = metavariables(rule)
    # Every rotation of the numbers, and all of them small: most conditions are met by some.
    outcomes = set()
    failing: dict[str, int] | None = None
    for turn in range(len(given)):
        for scale in (10**12, 5, 3):
            at = {n: _folded(given[(k + turn) % len(given)], scale) for k, n in enumerate(names)}
            outcome = try_instance(rule, at)
            outcomes.add(outcome)
            if outcome == "fails" and failing is None:
                failing = at
    if failing is not None and judge(rule, needed=False).verdict == Verdict.PROVED:
        raise Failure(f"rules: {rule.name} is proved and fails", f"at {failing}")
    return (f"rule {rule.name}", *outcomes)


def _folded(value: int, scale: int) -> int:
    return value if abs(value) < scale else value % (2 * scale) - scale


TARGET = Target("rules", "a rule that is proved never fails an instance", cases, examine, ".rules", "#")
