"""Instances of the simplifier's rules, drawn from the rules themselves: what the left side becomes where the conditions
hold at every point, and what they keep from being rewritten where they do not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import gcd, lcm, prod
from random import Random
from typing import Final

from hloproof.fuzz.drawing import Writer
from hloproof.fuzz.maps.spellings import (
    Box,
    all_respelled,
    linear,
    map_over,
    meeting,
    points_of,
    respelled,
    terms,
    times,
)
from hloproof.models.expressions.expr import Binary, Const, Expr, Var, substitute
from hloproof.models.expressions.interval import Interval
from hloproof.models.expressions.python_text import function_of
from hloproof.models.maps.indexing_map import IndexingMap
from hloproof.models.rules.rule import Bounded, Computed, ConstraintRule, ExpressionRule, Rule
from hloproof.models.rules.text import project_rules

Values = dict[str, int]
Owed = tuple[str, tuple[IndexingMap, ...]]
"""What is owed, such as `becomes nested-floordiv`, and a map, with the one that it becomes if it does."""

MOST_POINTS: Final = 300
_CONSTANTS: Final = (-7, -5, -4, -3, -2, -1, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 9, 10, 12, 15)
_SOLUTIONS: Final = 60
"""So many values of a rule's constants that meet its conditions are drawn from."""
_COMPARED: Final[dict[str, Callable[[int, int], bool]]] = {
    "==": lambda x, y: x == y,
    "!=": lambda x, y: x != y,
    "<=": lambda x, y: x <= y,
    "<": lambda x, y: x < y,
}

PLAIN: Final = {
    "quotient-and-remainder",
    "joined-remainders",
    "remainder",
    "merged-residues",
    "residue-narrows",
    "floordiv-of-mod",
}
"""Rules whose left side has one expression twice, which other rules may rewrite apart; sums of variables stay."""


@cache
def applied_rules() -> tuple[ExpressionRule, ...]:
    """The rules that the simplifier applies to expressions."""
    rules = (*project_rules("division"), *project_rules("order"), *project_rules("sums"))
    return tuple(r for r in rules if isinstance(r, ExpressionRule))


# --- metavariables -----------------------------------------------------------------------------------------------


@cache
def _constants(rule: Rule, met: bool) -> tuple[Values, ...]:
    """Values for the constants of a rule, with those computed of them; where `met`, such as meet the conditions that
    are about constants only."""
    random, found = Random(rule.name), list[Values]()
    names = [n for n, sort in rule.sorts if sort == "constant" and n not in {c.name for c in rule.computed}]
    for _ in range(4000):
        at: Values = {n: random.choice(_CONSTANTS) or (n == "q") for n in names}
        try:
            for c in rule.computed:
                if c.function not in ("range", "least", "greatest") and all(a.free <= at.keys() for a in c.arguments):
                    at[c.name] = _computed(c, at)
            known = [c for c in rule.conditions if c.lhs.free | c.rhs.free <= at.keys()]
            if not met or all(_COMPARED[c.op](*function_of((c.lhs, c.rhs), list(at))(**at)) for c in known):
                found.append(at)
        except (ZeroDivisionError, ValueError):
            continue
        if len(found) == _SOLUTIONS:
            break
    return tuple(found)


def _computed(c: Computed, at: Values) -> int:
    first, *others = function_of(c.arguments, list(at))(**at)
    match c.function:
        case "gcd":
            return gcd(first, *others)
        case "lcm":
            return lcm(first, *others)
        case "inverse":
            return pow(first, -1, others[0])
    return first


@dataclass(frozen=True, slots=True)
class Instance:
    """Metavariables with what they stand for, over a box; `holds`: all conditions hold at every point of it."""

    given: dict[str, Expr]
    box: Box
    holds: bool


def instance(w: Writer, rule: Rule) -> Instance | None:
    """Constants and expressions for the metavariables; no variable occurs in two of them, unless the rule compares two
    expressions. None where none was found."""
    spoilt = w.chance(7)
    for _ in range(6):
        found = _with_expressions(w, rule, w.one_of(_constants(rule, not spoilt)))
        if found is not None and (found.holds or spoilt):
            break
    return found


def _with_expressions(w: Writer, rule: Rule, at: Values) -> Instance | None:
    free, box, given = w.shuffled(["d0", "d1", "d2", "s0", "s1"]), Box(), dict[str, Expr]()
    names = sorted(n for n, sort in rule.sorts if sort != "constant")
    for name in names:
        least = 1 if name == names[0] else 0
        count = 1 if rule.sort(name) == "variable" else max(least, w.one_of((1, 1, 1, 0, 2)))
        used, free = free[:count], free[count:]
        for v in used:
            low = w.one_of((0, 0, 0, 1, 2, -3, 4, 7))
            box[v] = Interval(low, low + w.one_of((1, 1, 2, 3, 4, 6, 9)))
        given[name] = Var(used[0]) if used else Const(w.one_of((0, 0, 1, 2, 3, 5)))
        if rule.sort(name) == "expression" and used:
            given[name] = linear(w, used, rule.name in PLAIN)
            if rule.name in PLAIN and rule.name != "residue-narrows" and w.chance(3):
                given[name] //= w.one_of((2, 3, 4))
    compared = [c for c in rule.conditions if c.op == "<=" and {c.lhs, c.rhs} <= {Var(n) for n in names}]
    if compared and w.chance(2):
        (less,), (more,) = compared[0].lhs.free, compared[0].rhs.free
        given[more] = given[less] + given[more]
    if prod(i.count for i in box.values()) > MOST_POINTS:
        return None
    exact = function_of(list(given.values()), list(box))
    seen = [at | dict(zip(given, exact(*p), strict=True)) for p in points_of(box)]
    try:
        for c in rule.computed:
            if c.name not in seen[0]:
                argument = function_of(c.arguments, list(seen[0]))
                values = [argument(**s)[0] for s in seen]
                value = max(values) if c.function == "greatest" else min(values)
                seen = [s | {c.name: value} for s in seen]
        sides = [(_COMPARED[c.op], function_of((c.lhs, c.rhs), list(seen[0]))) for c in rule.conditions]
        holds = all(compare(*both(**s)) for compare, both in sides for s in seen)
    except ZeroDivisionError:
        return None
    constants = {n: Const(v) for n, v in seen[0].items() if n not in given}
    return Instance(given | constants, box, holds)


# --- cases -------------------------------------------------------------------------------------------------------


def rule_case(w: Writer) -> Owed | None:
    """An instance of a rule, among other terms; where its conditions hold it becomes the right side."""
    rule: ExpressionRule = w.one_of(applied_rules())
    found = instance(w, rule)
    if found is None:
        return None
    outside, rest = w.one_of((1, 1, 1, -1, 2, 3)), _rest(w, found.box)
    before, after = (times(substitute(e, found.given), outside) + rest for e in (rule.lhs, rule.rhs))
    if w.chance(12):
        return f"keeps spoilt {rule.name}", (map_over(found.box, (_spoilt(w, before, found.box),)),)
    left = map_over(found.box, (respelled(w, before),))
    divisor = found.given.get("c")
    negative = isinstance(divisor, Const) and divisor.value < 0
    if not found.holds or (negative and rule.name in PLAIN):  # quotients by negative numbers are rewritten first
        return f"keeps {rule.name}", (left,)
    return f"becomes {rule.name}", (widened(w, left), map_over(found.box, (after,)))


def _spoilt(w: Writer, e: Expr, box: Box) -> Expr:
    """Another summand somewhere within."""
    if not isinstance(e, Binary) or w.chance(3):
        more: Expr = w.one_of((Const(1), Const(-2), Var(w.one_of(list(box)))))
        return e + more
    if isinstance(e.rhs, Const) or not w.chance(3):
        return Binary(e.op, _spoilt(w, e.lhs, box), e.rhs)
    return Binary(e.op, e.lhs, _spoilt(w, e.rhs, box))


def _rest(w: Writer, box: Box) -> Expr:
    """Another summand; a variable of its own or none."""
    if not w.chance(3):
        return Const(w.one_of((0, 0, 0, 1, -2)))
    name = w.one_of([n for n in ("s2", "d3") if n not in box])
    box[name] = Interval(0, w.number(1, 2))
    return linear(w, [name])


def widened(w: Writer, m: IndexingMap) -> IndexingMap:
    """Now and then a wider interval of one variable, and a constraint that says the same as the narrower one."""
    box = dict(m.intervals())
    if m.is_trivially_empty or not box or not w.chance(3):
        return m
    name = w.one_of(list(box))
    i, c, shift = box[name], w.one_of((1, 1, 2, 3, -1, -2)), w.one_of((0, 0, 1, -4))
    box[name] = Interval(i.lower - w.one_of((0, 2)), i.upper + w.one_of((1, 3)))
    low, high = sorted((c * i.lower + shift, c * i.upper + shift))
    bounds = [(x.expr, x.interval) for x in m.constraints]
    bounds.insert(w.number(0, len(bounds)), (respelled(w, times(Var(name), c) + shift), Interval(low, high)))
    return map_over(box, m.results, bounds)


def constraint_case(w: Writer) -> Owed | None:
    """An instance of a rule about constraints."""
    rules = project_rules("constraints")
    rule = w.one_of([*rules, *(r for r in rules if r.computed for _ in range(2))])
    assert isinstance(rule, ConstraintRule)
    for _ in range(3):
        made = _constraints(w, rule)
        if made is not None and (rule.never or not made[0].startswith("empty")):
            break
    return made


def _constraints(w: Writer, rule: ConstraintRule) -> Owed | None:
    found = instance(w, rule)
    if found is None:
        return None

    def bounded(b: Bounded) -> tuple[Expr, Interval]:
        ends = function_of([substitute(end, found.given) for end in (b.lower, b.upper)], ())
        return substitute(b.expr, found.given), Interval(*ends())

    try:
        before, after = ([bounded(b) for b in side] for side in (rule.before, rule.after))
    except ZeroDivisionError:
        return None
    results = [Var(w.one_of(list(found.box)))]
    left = map_over(found.box, results, all_respelled(w, before))
    if not found.holds:
        return f"keeps {rule.name}", (left,)
    if rule.never or not meeting(found.box, before):
        return f"empty {rule.name}", (widened(w, left),)
    if w.chance(12):
        e, i = w.one_of(before)
        return f"keeps spoilt {rule.name}", (map_over(found.box, results, [(_spoilt(w, e, found.box), i)]),)
    return f"becomes {rule.name}", (widened(w, left), map_over(found.box, results, after))


def collected(e: Expr) -> dict[Expr, int]:
    """The coefficients of the terms of a sum, operators below them as they are written."""
    found: dict[Expr, int] = {}
    for atom, c in terms(e)[1]:
        found[atom] = found.get(atom, 0) + c
    return found
