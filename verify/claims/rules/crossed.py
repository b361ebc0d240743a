"""A rule proved twice: every statement by two engines that share no encoder.

The first that are asked are products of inequalities and Z3's own encoder; then the SMT-LIB text, by cvc5 where it is
installed and by Z3. Roundings other than floor are known to products and to the SMT-LIB text. Beside both stands the
witness that knows no statement. Cases of signs, which speak of floor alone, are another way to the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hloproof.claims.rules.asking import RuleQuestions
from hloproof.claims.rules.roundings import ways
from hloproof.claims.rules.statements import RuleStatement, statements_of
from hloproof.engines.door import HOW, How
from hloproof.engines.independence import independent
from hloproof.logic.obligation import RoundingSemantics
from hloproof.models.rules.rule import Condition, Rule

_RLIMIT: Final = 3_000_000


@dataclass(frozen=True)
class Crossed:
    """The engines that proved something, and what had no second proof; empty where all had."""

    engines: tuple[str, ...]
    left: str = ""


def crossed(rule: Rule, how: How = HOW) -> Crossed:
    """Every statement of the rule, its hints included, by two engines."""
    asking = RuleQuestions(rule.name, how)
    engines: dict[str, None] = {}
    for whole in statements_of(rule):
        left = ""
        for reading, cases in ways(rule, whole):
            said = (_left(rule, case, asking, reading, engines) for case in cases)
            again = next(filter(None, said), "")
            left = left or again
            if not again:
                break
        else:
            return Crossed(tuple(engines), left)
    return Crossed(tuple(engines))


def _left(
    rule: Rule, s: RuleStatement, asking: RuleQuestions, reading: RoundingSemantics, engines: dict[str, None]
) -> str:
    """What had no second proof."""
    given = list(s.given)
    for hint in rule.because:  # where it is not proved it is not used
        if _twice(given, hint, asking, reading, engines):
            given.append(hint)
    for goal in s.goals:
        if not _twice(given, goal, asking, reading, engines):
            return f"no two engines that share no encoder prove {goal} ({s.what})"
        given.append(goal)
    return ""


def _twice(
    given: Sequence[Condition],
    c: Condition,
    asking: RuleQuestions,
    reading: RoundingSemantics,
    engines: dict[str, None],
) -> bool:
    """The condition is defined and holds, by two engines each time."""
    for asked in asking.parts(given, c, reading):
        proved: list[str] = []
        for name, rlimit in _ASKED:
            new = all(independent(name, other) for other in proved)
            if new and asking.verdict(name, asked, rlimit) == "proved":
                proved.append(name)
                if len(proved) == 2:
                    break
        if len(proved) < 2:
            return False
        engines.update(dict.fromkeys(_NAMES.get(n, n) for n in proved))
    return True


_ASKED: Final = (
    ("products at length", _RLIMIT),
    ("z3", _RLIMIT // 3),
    ("cvc5", _RLIMIT * 10),
    ("z3 on SMT-LIB", _RLIMIT),
)
_NAMES: Final = {"products at length": "z3 (products)"}
"""Engines that report under another name."""
