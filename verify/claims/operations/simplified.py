"""What a simplification owes: variable by variable the same domain, and the same results at every point of it."""

from __future__ import annotations

from hloproof.claims.statements.statement import Describe, Part, Point, Statement
from hloproof.logic.formula import FALSE, Formula, conjuncts, eq, within
from hloproof.logic.obligation import Obligation
from hloproof.models.expressions.evaluate import evaluate
from hloproof.models.expressions.expr import Expr, Var
from hloproof.models.maps.indexing_map import IndexingMap

_Goals = list[tuple[Formula, str]]


def same_points(before: IndexingMap, after: IndexingMap) -> list[Part]:
    """The obligations that `after` means what `before` meant; both have the same variables, matched by place."""
    if before == after or (before.is_trivially_empty and after.is_trivially_empty):
        return []
    names = [name for name, _ in before.intervals()]
    start = Statement(tuple(before.intervals()), _constraints(before))
    if after.is_trivially_empty:
        return [start.therefore(FALSE, "the map has no points", _words("has points", before, names))]
    if _arity(before) != _arity(after):
        return [_refuted("the simplified map has other variables or results")]
    parts: list[Part] = []
    for goal, label in _missing(after, before):
        parts += _drawn(start, goal, label, _words("lost a point", before, names))
    for old, new in zip(before.results, after.results, strict=True):
        if old is not new:
            parts += _drawn(start, eq(old, new), "the result is kept", _changed(old, new, names))
    back = Statement(tuple(after.intervals()), _constraints(after))
    for goal, label in _missing(before, after):
        parts += _drawn(back, goal, label, _words("gained a point", after, names))
    for v, w in zip(before.runtime, after.runtime, strict=True):
        if v.provider != w.provider:
            parts.append(_refuted(f"a runtime variable of {v.provider} is one of {w.provider} after"))
        elif v.provider is not None and v.interval != w.interval:
            parts.append(_refuted(f"a value of {v.provider} is clamped into {v.interval}, and into {w.interval} after"))
        parts += _same_inner(v.index, w.index, "what a runtime variable reads")
    return parts + _same_inner(before.replica, after.replica, "which device is read")


def _arity(m: IndexingMap) -> tuple[int, ...]:
    return len(m.dims), len(m.ranges), len(m.runtime), len(m.results)


def _same_inner(before: IndexingMap | None, after: IndexingMap | None, what: str) -> list[Part]:
    if before is None and after is None:
        return []
    if before is None or after is None:
        return [_refuted(f"{what} is said {'after' if before is None else 'before'} the simplification alone")]
    return same_points(before, after)


def _refuted(words: str) -> Part:
    return Part(Obligation((), FALSE, label=words), lambda _: words)


def _constraints(m: IndexingMap) -> tuple[Formula, ...]:
    return tuple(within(c.expr, c.interval) for c in m.constraints)


def _missing(wanted: IndexingMap, given: IndexingMap) -> _Goals:
    """What the domain of `wanted` asks for that the domain of `given` does not say in the same words."""
    known = dict(given.intervals())
    goals: _Goals = [
        (within(Var(name), i), "the domain is kept") for name, i in wanted.intervals() if not i.contains(known[name])
    ]
    said = set(given.constraints)
    goals += [(within(c.expr, c.interval), "the domain is kept") for c in wanted.constraints if c not in said]
    return goals


def _drawn(statement: Statement, goal: Formula, label: str, words: Describe) -> list[Part]:
    return [statement.therefore(piece, label, words) for piece in conjuncts(goal)]


def _words(what: str, m: IndexingMap, names: list[str]) -> Describe:
    def told(point: Point) -> str:
        at = ", ".join(f"{n} = {point[n]}" for n in names if n in point)
        return f"the simplified map {what} at {at}: {[evaluate(e, point) for e in m.results]}"

    return told


def _changed(old: Expr, new: Expr, names: list[str]) -> Describe:
    def told(point: Point) -> str:
        at = ", ".join(f"{n} = {point[n]}" for n in names if n in point)
        return f"{at} gave {evaluate(old, point)} and now gives {evaluate(new, point)}"

    return told
