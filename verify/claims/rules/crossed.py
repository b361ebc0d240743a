"""A rule proved twice: every statement by two engines that share no encoder.

The first that are asked are products of inequalities and Z3's own encoder; then the SMT-LIB text, by cvc5 where it is
installed and by Z3. Roundings other than floor are known to products alone, so that a rule which needs them stays
unknown. Beside both stands the witness that knows no statement.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from hloproof.claims.rules.rounding import proof_reading
from hloproof.claims.rules.statements import defined, obligation_of, sign_cases, statements_of
from hloproof.engines.door import HOW, How, implies, said
from hloproof.engines.gave_up import GaveUp
from hloproof.engines.independence import independent
from hloproof.logic.rounding import FLOOR, RoundingSemantics
from hloproof.models.rules.rule import Condition, Rule

_RLIMIT: Final = 3_000_000


@dataclass(frozen=True)
class Crossed:
    """The engines that proved something, and what had no second proof; empty where all had."""

    engines: tuple[str, ...]
    left: str = ""


def crossed(rule: Rule, how: How = HOW) -> Crossed:
    """Every statement of the rule, its hints included, by two engines."""
    reading = proof_reading(rule)
    engines: dict[str, None] = {}
    for s in (case for whole in statements_of(rule) for case in sign_cases(rule, whole)):
        given = list(s.given)
        for hint in rule.because:  # where it is not proved it is not used
            if _twice(given, hint, how, reading, engines):
                given.append(hint)
        for goal in s.goals:
            if not _twice(given, goal, how, reading, engines):
                return Crossed(tuple(engines), f"no two engines that share no encoder prove {goal} ({s.what})")
            given.append(goal)
    return Crossed(tuple(engines))


def _twice(
    given: Sequence[Condition], c: Condition, how: How, reading: RoundingSemantics, engines: dict[str, None]
) -> bool:
    """The condition is defined and holds, by two engines each time."""
    for part in (*defined(c.lhs), *defined(c.rhs), c):
        if part in given:
            continue
        proved: list[str] = []
        for name, ask in _ASKED:
            if all(independent(name, other) for other in proved) and ask(given, part, how, reading):
                proved.append(name)
                if len(proved) == 2:
                    break
        if len(proved) < 2:
            return False
        engines.update(dict.fromkeys(_NAMES.get(n, n) for n in proved))
    return True


_Asked = Callable[[Sequence[Condition], Condition, How, RoundingSemantics], bool]


def _by_products(given: Sequence[Condition], c: Condition, how: How, reading: RoundingSemantics) -> bool:
    return implies(given, c, replace(how, budget=replace(how.budget, z3_rlimit=_RLIMIT)), reading)


def _by(engine: str, rlimit: int) -> _Asked:
    def ask(given: Sequence[Condition], c: Condition, how: How, reading: RoundingSemantics) -> bool:
        if reading != FLOOR:
            return False
        try:
            limited = replace(how, budget=replace(how.budget, z3_rlimit=rlimit))
            return said(engine, obligation_of(given, c), limited) is None
        except GaveUp:
            return False

    return ask


_ASKED: Final = (
    ("products", _by_products),
    ("z3", _by("z3", _RLIMIT // 3)),
    ("cvc5", _by("cvc5", _RLIMIT * 10)),
    ("z3 on SMT-LIB", _by("z3 on SMT-LIB", _RLIMIT)),
)
_NAMES: Final = {"products": "z3 (products)"}
"""Engines that report under another name."""
