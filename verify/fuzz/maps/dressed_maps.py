"""Maps with all that they may have: names, range variables, constraints, values read at run time, a replica part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from hloproof.fuzz.drawing import Writer
from hloproof.fuzz.maps.spellings import Box, expression, linear, respelled, times, within
from hloproof.models.expressions.expr import Const, Expr, Var
from hloproof.models.expressions.interval import Interval
from hloproof.models.maps.indexing_map import Constraint, IndexingMap, RuntimeVariable, Variable

NAMES: Final = ("", "", "", "", "a", "b", "x1", "runtime", "replica", "id", "domain", "KNOWN", "EMPTY", "rt9", "d7")
"""What variables are called, some by words of the syntax."""
_PROVIDERS: Final = ("parameter(1)", "operand(0)", "constant({1, 2})", "some.name")


def interval(w: Writer, widest: int = 2) -> Interval:
    """Mostly from 0; at times a point, negative, or empty."""
    low = w.one_of((0, 0, 0, 1, 2, -3))
    return Interval(low, low + (-1 if w.chance(40) else w.number(0, widest)))


def canonical(dims: Sequence[object], ranges: Sequence[object], runtime: Sequence[object] = ()) -> list[str]:
    """The names that variables have in expressions."""
    groups = (("d", dims), ("s", ranges), ("rt", runtime))
    return [f"{letter}{k}" for letter, group in groups for k in range(len(group))]


def dressed(
    w: Writer, dims: Sequence[Interval], depth: int = 1, names: Sequence[str] = NAMES, results: int = 0
) -> IndexingMap:
    """A map over these dims with at least so many results, whose values read at run time are read `depth` deep."""
    fresh = w.shuffled(names)
    own = tuple(Variable(i, fresh.pop()) for i in dims)
    ranges = tuple(Variable(interval(w), fresh.pop()) for _ in range(w.number(0, 2)))
    # Behind an index map without variables `domain:` begins its domain, whatever variable is meant.
    of_runtime = [name for name in fresh if name != "domain"]
    runtime = tuple(replace(r, name=of_runtime.pop()) for r in _read(w, own, ranges, depth))
    within_reach = canonical(own, ranges, runtime)
    constraints = _constraints(w, within_reach)
    if runtime and not runtime[0].interval.is_empty and w.chance(3):
        e, box = times(Var("rt0"), w.one_of((1, 2, -1, -3))) + w.one_of((0, 1, -2)), Box(rt0=runtime[0].interval)
        constraints = (*constraints, Constraint(respelled(w, e), within(w, e, box)))
    given = tuple(_result(w, within_reach) for _ in range(w.number(results, 2)))
    return _between(w, IndexingMap(own, given, ranges, runtime, constraints))


def _result(w: Writer, names: Sequence[str]) -> Expr:
    return respelled(w, expression(w, names, 2) if w.chance(3) else linear(w, w.shuffled(names, w.number(0, 2))))


def _constraints(w: Writer, names: Sequence[str]) -> tuple[Constraint, ...]:
    made = [
        Constraint(_result(w, names), Interval(low, low + w.one_of((1, 3, 6, 9)))) for low in (0, -2, -4) if w.chance(4)
    ]
    return tuple(c for c in made if c.expr.free)


def _between(w: Writer, m: IndexingMap) -> IndexingMap:
    """The map, from another device now and then."""
    if not w.chance(3):
        return m
    plain = tuple(RuntimeVariable(v.interval, v.name) for v in m.runtime)
    names = canonical(m.dims, m.ranges, m.runtime)
    steps = tuple(_result(w, names) for _ in range(w.one_of((1, 1, 2))))
    return replace(m, replica=IndexingMap(m.dims, steps, m.ranges, plain, _constraints(w, names)))


def _read(
    w: Writer, dims: tuple[Variable, ...], ranges: tuple[Variable, ...], depth: int
) -> tuple[RuntimeVariable, ...]:
    """Values read at run time; their index maps go over all range variables or none, and read values themselves."""
    found = []
    for _ in range(w.number(0, 2) if depth else 0):
        bounds = Interval(low := w.number(-2, 1), low + w.number(0, 5))
        provider, index = w.one_of((None, *_PROVIDERS, *_PROVIDERS)), None
        if provider and not w.chance(4):
            over = ranges if w.chance(2) else ()
            runtime = _read(w, dims, over, depth - 1)
            names = canonical(dims, over, runtime)
            results = tuple(_result(w, names) for _ in range(w.one_of((1, 1, 0, 2))))
            index = _between(w, IndexingMap(dims, results, over, runtime, _constraints(w, names)))
        found.append(RuntimeVariable(bounds, "", provider, index))
    return tuple(found)


def constant_constraint(w: Writer) -> tuple[Constraint, ...]:
    """A constraint on a constant now and then, which it may not meet."""
    met = Constraint(Const(w.number(0, 3)), Interval(1, w.number(1, 2)))
    return (met,) if w.chance(10) else ()
