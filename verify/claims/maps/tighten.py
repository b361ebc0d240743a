"""Where the rules stop, the engines may know more: finishes a simplification with facts that they prove.

Values of divisions, remainders, min and max over the domain are guessed from points of it and proved; with what is
proved as knowledge, the rules are applied again. Constraints that follow from the others are left out, and a domain
without points is recognised. Nothing is believed unproved, and the whole result is proved once more by the caller.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from hloproof.claims.maps.defined import constraint_formulas, defined_formula, open_divisors
from hloproof.claims.maps.rewrite import size
from hloproof.claims.statements.statement import Point
from hloproof.engines.budget import Budget
from hloproof.engines.door import How, prove_one
from hloproof.logic.formula import FALSE, Formula, conj, eq, within
from hloproof.logic.obligation import Obligation
from hloproof.models.expressions.evaluate import UndefinedValue, evaluate
from hloproof.models.expressions.expr import Binary, Const, Expr, postorder, to_text
from hloproof.models.expressions.interval import Interval
from hloproof.models.maps.indexing_map import Constraint, IndexingMap
from hloproof.models.maps.sample_point import find_point
from hloproof.models.simplifier.domain import known_intervals
from hloproof.models.simplifier.rewriter import Rewriter, RewriteStep
from hloproof.models.simplifier.simplify import empty_like, simplify

BRIEFLY: Final = How(Budget(isl_operations=400_000, z3_rlimit=200_000, enumeration_points=2_000))
LARGE: Final = 300
"""Maps with more operators are left as the rules leave them."""
_ATOMS: Final = 24
"""Atoms of one map that are asked about."""


def tighten(m: IndexingMap, how: How = BRIEFLY) -> tuple[IndexingMap, tuple[RewriteStep, ...]]:
    """A map that the simplifier has simplified, simpler where the engines know how, and by what steps."""
    if m.is_trivially_empty or size(m) > LARGE or not (m.constraints or any(_atoms(m))):
        return m, ()
    points = _points(m)
    if not points:
        if _proved(m, m.constraints, FALSE, how):
            return empty_like(m), (RewriteStep("no-points", "the domain", "never"),)
        return m, ()
    steps: list[RewriteStep] = []
    m = _without_implied(m, how, steps)
    facts = _facts(m, points, how, steps)
    if facts:
        knowledge = known_intervals(dict(m.intervals()), {c.expr: c.interval for c in m.constraints})
        if knowledge is not None:
            rewriter = Rewriter(knowledge, {**{c.expr: c.interval for c in m.constraints}, **facts}, explain=True)
            m = replace(m, results=tuple(rewriter.simplify(e) for e in m.results))
            steps += rewriter.steps or ()
    after = simplify(m)
    return after.map, (*steps, *after.derivation) if steps else ()


def _proved(m: IndexingMap, constraints: tuple[Constraint, ...], goal: Formula, how: How) -> bool:
    hypothesis = conj(*constraint_formulas(replace(m, constraints=constraints, replica=None)))
    return prove_one(Obligation(tuple(m.intervals()), goal, hypothesis), how).verdict == "proved"


def _without_implied(m: IndexingMap, how: How, steps: list[RewriteStep]) -> IndexingMap:
    for c in m.constraints:
        others = tuple(o for o in m.constraints if o != c)
        # What divides may have a value by this very constraint: it is no reason to leave it out.
        total = tuple(o for o in others if not open_divisors((o.expr,)))
        if _proved(m, total, conj(*defined_formula((c.expr,)), within(c.expr, c.interval)), how):
            m = replace(m, constraints=others)
            steps.append(RewriteStep("implied", f"{to_text(c.expr)} in {c.interval}", "always"))
    return m


def _atoms(m: IndexingMap) -> Iterator[Binary]:
    seen: set[Expr] = set()
    for root in m.results:
        for e in postorder(root):
            if isinstance(e, Binary) and e.op not in ("+", "*") and e not in seen:
                seen.add(e)
                yield e


def _facts(m: IndexingMap, points: list[Point], how: How, steps: list[RewriteStep]) -> dict[Expr, Interval]:
    """Intervals of subexpressions of the results that hold over the domain and that ranges alone do not give."""
    facts: dict[Expr, Interval] = {}
    for count, atom in enumerate(_atoms(m)):
        if count == _ATOMS:
            break
        for e, interval in _guesses(atom, points):
            held = within(e, interval) if e is not atom else eq(e, interval.lower)
            if _proved(m, m.constraints, conj(*defined_formula((e,)), held), how):
                facts[e] = interval
                steps.append(RewriteStep("proved-range", to_text(e), f"in {interval}"))
                break
    return facts


def _guesses(atom: Binary, points: list[Point]) -> Iterator[tuple[Expr, Interval]]:
    """What may hold of an atom, judging by the points: that it is constant; that `mod` does not wrap; that one argument
    of min or max is never the other side of the other."""
    values = _values(atom, points)
    if values is None:
        return
    if len(values) == 1:
        yield atom, Interval.point(next(iter(values)))
    match atom:
        case Binary("mod", lhs, Const(m)) if m > 0:
            inner = _values(lhs, points)
            if inner is not None and len({v // m for v in inner}) == 1:
                k = next(iter(inner)) // m
                yield lhs, Interval(k * m, k * m + m - 1)
        case Binary("min" | "max", lhs, rhs):
            difference = lhs - rhs
            found = _values(difference, points)
            large = 2**62
            if found is not None and max(found) <= 0:
                yield difference, Interval(-large, 0)
            elif found is not None and min(found) >= 0:
                yield difference, Interval(0, large)


def _values(e: Expr, points: list[Point]) -> set[int] | None:
    try:
        return {evaluate(e, p) for p in points}
    except UndefinedValue:
        return None


def _points(m: IndexingMap) -> list[Point]:
    """Some points of the domain: one in each half of each variable's interval, where there is one."""
    constraints = [(c.expr, c.interval) for c in m.constraints]
    intervals = dict(m.intervals())
    found: list[Point] = []
    boxes = [intervals]
    for name, i in intervals.items():
        middle = (i.lower + i.upper) // 2
        boxes += [{**intervals, name: Interval(i.lower, middle)}, {**intervals, name: Interval(middle + 1, i.upper)}]
        boxes += [{**intervals, name: Interval.point(i.lower)}, {**intervals, name: Interval.point(i.upper)}]
    for box in boxes[:25]:
        point = find_point(box, constraints, 300)
        if isinstance(point, dict) and point not in found:
            found.append(point)
    return found
