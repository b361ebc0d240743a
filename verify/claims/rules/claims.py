"""What is claimed of a rewrite rule, and its verdict.

For all integers that meet the conditions, the right side is defined wherever the left side is, and equal; rules about
constraints keep the set of points; rules about variables keep the relation. The conditions can be met, the sides are
not written the same, and conditions that are not needed are named. A proof holds for all values of all metavariables;
beside it stand a thousand concrete instances, evaluated and given to isl.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from time import perf_counter
from typing import Final

from hloproof.claims.rules.asking import RuleQuestions, WrongEngine
from hloproof.claims.rules.crossed import crossed
from hloproof.claims.rules.instances import Instance, instances, meets
from hloproof.claims.rules.rounding import evaluate, proof_reading, reading_of
from hloproof.claims.rules.roundings import ways
from hloproof.claims.rules.statements import (
    NEVER,
    RuleStatement,
    defined,
    names_of,
    obligation_of,
    sign_cases,
    statements_of,
    valued,
)
from hloproof.claims.rules.witness import contradicted
from hloproof.engines.budget import Budget
from hloproof.engines.door import HOW, How, held_open
from hloproof.logic.formula import Compare, conj
from hloproof.logic.obligation import FLOOR, Obligation, RoundingSemantics
from hloproof.models.expressions.evaluate import UndefinedValue
from hloproof.models.expressions.expr import Const, Expr, substitute, to_text
from hloproof.models.interpreter.rules import left_out, try_instance
from hloproof.models.rules.rule import Condition, ConstraintRule, ExpressionRule, Rule, VariableRule
from hloproof.results.expectation import met
from hloproof.results.verdict import ClaimResult, Found, Related, Verdict, not_needed

RLIMIT: Final = 3_000_000
DIRECT_RLIMIT: Final = 300_000
INSTANCES: Final = 1_000
_TRIES: Final = 20_000
_ISL_CONSTANTS: Final = 12


@dataclass
class _Work:
    """What the stages of a judgement hand to each other."""

    asking: RuleQuestions
    instance: Instance | None = None
    """Where a statement fails, or the two sides differ."""
    statement: RuleStatement | None = None
    """The one that fails there; None where both sides were evaluated."""
    engines: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    used: set[tuple[str, Condition]] = field(default_factory=set)
    """The hints that were proved, each for the statement that it was proved for."""

    def found(self, verdict: Verdict, counterexample: str | None = None) -> Found:
        return Found(verdict, tuple(self.engines), counterexample, "; ".join(self.reasons) or None)


def check_rule(rule: Rule, file: str = "", how: How = HOW) -> ClaimResult:
    """The verdict on one rule. Where the file expects a refutation, a refutation counts as proved. `how.cross` asks
    for every statement to be proved by two engines that share no encoder; where no second one proves it the rule is
    unknown."""
    start = perf_counter()
    with held_open(how) as kept:
        found = judge(rule, how=kept)
        if how.cross and found.verdict is Verdict.PROVED:
            found = _twice_proved(rule, found, kept)
    return ClaimResult(
        id=f"{file}#{rule.name}",
        kind="rule",
        file=file,
        module="",
        line=rule.line,
        column=rule.column,
        instruction=rule.name,
        found=replace(met(rule.expect, found), claim="rule", ms=(perf_counter() - start) * 1e3),
        related=tuple(Related(*at, side) for at, side in zip(rule.sides, ("left side", "right side"), strict=False)),
    )


def _twice_proved(rule: Rule, found: Found, how: How) -> Found:
    """What is left of a proof where every statement needs two engines."""
    try:
        again = crossed(rule, how)
    except WrongEngine as error:
        return replace(found, verdict=Verdict.INTERNAL, reason=str(error))
    engines = (*again.engines, *(e for e in found.engines if e not in again.engines))
    verdict = Verdict.UNKNOWN if again.left else Verdict.PROVED
    reason = "; ".join(filter(None, (again.left, found.reason)))
    return replace(found, verdict=verdict, engines=engines, reason=reason or None)


def judge(rule: Rule, needed: bool = True, how: How = HOW) -> Found:
    """The verdict on a rule as it stands, whatever its file expects. `needed` asks whether each condition is.

    The order is that of what costs least to be sure of. A rule that says nothing is not looked at further; instances
    come before proofs, since one that fails is the better answer and a proof would only fail to be found; the witness
    that knows no statement comes last before the proofs, so that a wrong statement is not proved.
    """
    work = _Work(RuleQuestions(rule.name, how))
    try:
        return _judged(rule, needed, work)
    except WrongEngine as error:
        work.reasons.append(str(error))
        return work.found(Verdict.INTERNAL)


def _judged(rule: Rule, needed: bool, work: _Work) -> Found:
    if _trivial(rule):
        work.reasons.append("both sides are written the same")
        return work.found(Verdict.TRIVIAL)
    statements = statements_of(rule)
    nothing = _nothing_said(rule, work)
    if nothing is not None:
        return work.found(nothing)
    for s in statements:
        if _refuted(rule, s, work):
            return work.found(Verdict.REFUTED, _described(rule, work))
    work.instance = contradicted(rule)
    if work.instance is not None:
        work.engines, work.statement = ["evaluation"], None
        return work.found(Verdict.REFUTED, _described(rule, work))
    for s in statements:
        if not _shown_by_cases(rule, s, work):
            work.reasons.append(f"not proved: {s.what}")
            return work.found(Verdict.UNKNOWN)
    work.engines = ["z3", "enumeration"]
    if not _holds_by_isl(rule, statements, work):
        return work.found(Verdict.INTERNAL)
    if needed:
        computed = {c.name for c in rule.computed}
        # What defines a constant that the rule computes is not there to be left out.
        asked = [c for c in rule.conditions if computed.isdisjoint(c.lhs.free | c.rhs.free)]
        unneeded = [str(c) for c in asked if _unneeded(rule, c, work)]
        if unneeded:
            work.reasons.append(not_needed(unneeded))
    return work.found(Verdict.PROVED)


# --- verdicts ----------------------------------------------------------------------------------------------------


def _trivial(rule: Rule) -> bool:
    match rule:
        case ExpressionRule():
            return rule.lhs is rule.rhs
        case ConstraintRule():
            return not rule.never and set(rule.before) == set(rule.after)
        case VariableRule():
            return False


def _nothing_said(rule: Rule, work: _Work) -> Verdict | None:
    """None where some values meet the conditions and leave the left side with a value: there is something that the rule
    says. Else the verdict: vacuous where no values do, unknown where none were found."""
    names = [n for n, _ in rule.sorts]
    reading = reading_of(rule)
    where = valued(rule)
    if isinstance(rule, VariableRule):
        # What is undefined for single values of a variable that the rule binds says nothing of the others.
        owed = (d for b in rule.before for e in b.terms for d in defined(e) if rule.variable not in d.lhs.free)
        where = (tuple(owed),)
    ways_to_say = [(*rule.conditions, *at) for at in where]
    for given in ways_to_say:
        if not given or next(instances(rule, names, given, reading, _TRIES), None) is not None:
            return None
    asked = (obligation_of(given, NEVER, reading) for given in ways_to_say)
    if all(work.asking.verdict("products at length", o, RLIMIT, certify=False) == "proved" for o in asked):
        also = " and leave the left side with a value" if any(where) else ""
        work.reasons.append(f"no values meet the conditions{also}")
        return Verdict.VACUOUS
    work.reasons.append("no instance of the conditions was found, and none was shown not to exist")
    return Verdict.UNKNOWN


def _refuted(rule: Rule, s: RuleStatement, work: _Work) -> bool:
    """Looks for an instance at which a goal fails; the smallest of those found is kept. Where the goals are about a
    value that a hint names, an instance counts only if no other value will do; else the hint is what is wrong."""
    if s.exists and isinstance(rule, VariableRule):
        return _without_value(rule, s, work)
    reading = reading_of(rule)
    names = names_of(s)
    worst: Instance | None = None
    for count, values in enumerate(instances(rule, names, s.given, reading, _TRIES), start=1):
        if (worst is None or _size(values) < _size(worst)) and _fails(rule, s, values):
            worst = values
        if count >= (INSTANCES if worst is None else INSTANCES // 2):
            break
    if worst is None:
        return False
    work.instance, work.statement, work.engines = _shrunk(rule, s, worst), s, ["enumeration"]
    return True


def _fails(rule: Rule, s: RuleStatement, values: Instance) -> bool:
    """A goal of the statement fails, and with it the rule. What is stated of a rule about variables is more than it
    needs, so such a rule is looked at itself: its left side may have no value."""
    if meets(s.goals, values, reading_of(rule)):
        return False
    if not isinstance(rule, VariableRule):
        return True
    others = {n: 0 for n, _ in rule.sorts if n not in values}  # what the statement does not mention
    return try_instance(rule, {**others, **values}) == "fails"


def _without_value(rule: VariableRule, s: RuleStatement, work: _Work) -> bool:
    """Looks for constants with which a value that is said to exist does not, by listing all of them."""
    reading = reading_of(rule)
    bound = {rule.variable, rule.fresh}
    constants = [n for n, _ in rule.sorts if n not in bound]
    worst: Instance | None = None
    for values in islice(instances(rule, constants, rule.conditions, reading, _TRIES), INSTANCES):
        missing = left_out(rule, values)
        if missing:
            at = values if rule.image is None else {**values, rule.variable: missing[0]}
            worst = at if worst is None or _size(at) < _size(worst) else worst
    if worst is not None:
        work.instance, work.statement, work.engines = worst, s, ["enumeration"]
        return True
    for values in _first(rule, s, INSTANCES):
        if not meets(s.goals, values, reading):
            name = rule.variable if rule.image is None else rule.fresh
            hint = dict(rule.witness).get(name)
            point = ", ".join(f"{n} = {v}" for n, v in values.items() if n != name) or "always"
            said_so = (
                "no witness is given" if hint is None else f"the witness {name} = {to_text(hint)} is none ({point})"
            )
            work.reasons.append(said_so)
            break
    return False


def _size(values: Instance) -> tuple[int, int]:
    return max(map(abs, values.values()), default=0), sum(map(abs, values.values()))


def _shrunk(rule: Rule, s: RuleStatement, values: Instance) -> Instance:
    """Moves one value at a time towards zero while the statement still fails."""
    reading = reading_of(rule)
    best = dict(values)
    progress = True
    while progress:
        progress = False
        for name in best:
            v = best[name]
            for smaller in dict.fromkeys((0, v // 2 if v > 0 else -(-v // 2), v - (v > 0) + (v < 0))):
                candidate = {**best, name: smaller}
                if abs(smaller) < abs(v) and meets(s.given, candidate, reading) and _fails(rule, s, candidate):
                    best, progress = candidate, True
                    break
    return best


def _implied(
    given: Sequence[Condition], c: Condition, work: _Work, reading: RoundingSemantics, rlimit: int, certify: bool = True
) -> bool:
    """The condition is defined, and holds. Z3 looks first, with quotients named; what it does not see at once is for
    products."""
    for asked in work.asking.parts(given, c, reading):
        direct = work.asking.verdict("z3", asked, DIRECT_RLIMIT, certify) if reading == FLOOR else "unknown"
        if direct == "refuted":
            return False
        if direct != "proved" and work.asking.verdict("products at length", asked, rlimit, certify) != "proved":
            return False
    return True


def _shown_by_cases(rule: Rule, s: RuleStatement, work: _Work) -> bool:
    """By the engines that read the rule's rounding, or case by case under floor."""
    said = len(work.reasons)
    for reading, cases in ways(rule, s):
        if all(_shown(rule, case, work, reading) for case in cases):
            del work.reasons[said:]
            return True
    return False


def _shown(rule: Rule, s: RuleStatement, work: _Work, reading: RoundingSemantics) -> bool:
    given = list(s.given)
    helped: list[str] = []
    for c in rule.because:  # A hint may be meant for another statement of the rule: it is used where it is proved.
        if _implied(given, c, work, reading, RLIMIT):
            given.append(c)
            work.used.add((s.what, c))
        else:
            helped.append(str(c))
    for goal in s.goals:
        if not _implied(given, goal, work, reading, RLIMIT):
            shown = [] if goal == NEVER else [f"{goal} is not shown"]
            work.reasons += [*shown, *(f"the hint {h} is not shown" for h in helped)]
            return False
        given.append(goal)
    return True


def _unneeded(rule: Rule, c: Condition, work: _Work) -> bool:
    """The rule is proved without this condition, by the same hints."""
    weaker = replace(rule, conditions=tuple(x for x in rule.conditions if x != c))
    statements = statements_of(weaker)
    reading = reading_of(rule)
    for s in statements:
        if any(not meets(s.goals, v, reading) for v in _first(weaker, s, 400)):
            return False
    reading = proof_reading(rule)
    for s in (case for whole in statements for case in sign_cases(weaker, whole)):
        given = list(s.given)
        for goal in (*(b for b in rule.because if (s.what, b) in work.used), *s.goals):
            if not _implied(given, goal, work, reading, RLIMIT // 4, certify=False):
                return False
            given.append(goal)
    return True


def _first(rule: Rule, s: RuleStatement, count: int) -> Iterator[Instance]:
    return islice(instances(rule, names_of(s), s.given, reading_of(rule), 5_000), count)


def _holds_by_isl(rule: Rule, statements: Sequence[RuleStatement], work: _Work) -> bool:
    """Instances with concrete constants, for all values of the expressions, given to isl: False where it refutes one of
    what was proved. A limited look beside the proof, so what isl gives up is passed over."""
    reading = reading_of(rule)
    if reading != FLOOR:
        return True
    asked = 0
    for s in statements:
        names = names_of(s)
        open_names = [n for n in names if dict(rule.sorts).get(n, "expression") != "constant"]
        if isinstance(rule, VariableRule):
            open_names += [n for n in (rule.variable, rule.fresh) if n in names]
        constants = [n for n in names if n not in open_names]
        tried: set[tuple[int, ...]] = set()
        for values in instances(rule, names, s.given, reading, 4_000):
            k = tuple(values[n] for n in constants)
            if k in tried or max(map(abs, k), default=0) > 100:
                continue
            tried.add(k)
            fixed: dict[str, Expr] = {n: Const(values[n]) for n in constants}
            given = conj(*(Compare(c.op, substitute(c.lhs, fixed), substitute(c.rhs, fixed)) for c in s.given))
            goals = conj(*(Compare(c.op, substitute(c.lhs, fixed), substitute(c.rhs, fixed)) for c in s.goals))
            obligation = Obligation(tuple((n, None) for n in open_names), goals, given)
            outcome = work.asking.say("isl", obligation, Budget(isl_operations=2_000_000), certify=False)
            if outcome.verdict == "unknown":
                continue
            asked += 1
            if outcome.verdict == "refuted":
                work.reasons.append(f"isl refutes an instance that was proved: {values} {dict(outcome.model)}")
                return False
            if len(tried) >= _ISL_CONSTANTS:
                break
    if asked:
        work.engines.append("isl")
    return True


# --- answers -----------------------------------------------------------------------------------------------------


def _described(rule: Rule, work: _Work) -> str:
    """The counterexample in words, and a command that shows it again."""
    values, s = work.instance, work.statement
    assert values is not None
    reading = reading_of(rule)
    at = ", ".join(f"{n} = {v}" for n, v in values.items()) or "always"
    if isinstance(rule, ExpressionRule):
        left, right = (_value(e, values, reading) for e in (rule.lhs, rule.rhs))
        fixed: dict[str, Expr] = {n: Const(v) for n, v in values.items() if rule_sort(rule, n) == "constant"}
        opened = [n for n in values if n not in fixed]
        domain = "".join(f", {n} in [{values[n]}, {values[n]}]" for n in opened)[2:]
        maps = [
            f"({', '.join(opened)}) -> ({to_text(substitute(e, fixed))})" + (f", domain: {domain}" if domain else "")
            for e in (rule.lhs, rule.rhs)
        ]
        again = f"; to see it again: hloproof rewrite '{maps[0]}' '{maps[1]}'" if reading == FLOOR else ""
        return f"{at}: the left side is {left}, the right side {right}{again}"
    if s is None:
        return f"{at}: evaluated, the two sides do not say the same"
    if s.exists:
        return f"{at}: {s.fails}"
    failing = next(g for g in s.goals if not meets((g,), values, reading))
    return f"{at}: {s.fails}" + ("" if failing == NEVER else f", since {failing} does not hold")


def rule_sort(rule: Rule, name: str) -> str:
    """What a metavariable stands for; an expression where the rule does not say."""
    return dict(rule.sorts).get(name, "expression")


def _value(e: Expr, values: Instance, reading: RoundingSemantics) -> str:
    try:
        return str(evaluate(e, values, reading))
    except UndefinedValue:
        return "undefined"
