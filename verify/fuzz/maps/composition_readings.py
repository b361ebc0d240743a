"""Target `maps`: compositions of maps between devices, whose values read at run time are read by other such values.

A case is a number, from which two maps are made up; names that clash, constraints on constants and maps that do not fit
are among them. The devices form one group, so that positions are devices.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from random import Random
from typing import Final
from zlib import crc32

from hloproof.fuzz.target import Failure
from hloproof.models.expressions.evaluate import evaluate
from hloproof.models.expressions.expr import Const, Expr, Var
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.shape import Index
from hloproof.models.maps.indexing_map import Constraint, IndexingMap, RuntimeVariable, Variable, compose

PREFIX: Final = "composition "
DEVICES: Final = 3
_NAMES: Final = ("", "", "", "a", "b", "a_0", "a_1", "b_0", "s0", "s1", "d1", "rt0")


def examine(text: str) -> tuple[str, ...]:
    """Raises Failure where a composition does not lead where its two maps lead, or is not named as it should be."""
    random = Random(text)
    first = _made_up(random, [_interval(random) for _ in range(random.randint(1, 2))], random.randint(0, 2))
    second = _made_up(random, [Interval(-2, random.randint(2, 6)) for _ in first.results], random.randint(0, 2))
    for m in (first, second):
        _check_empty(m)
    composed = compose(first, second)
    _check_empty(composed)
    _check_names(first, second, composed)
    try:
        found = compose(first, IndexingMap((*second.dims, Variable(Interval(0, 0))), ()))
    except ValueError:
        pass
    else:
        raise Failure("maps: what does not fit is composed", f"{first}: {found}")
    for device in range(DEVICES):
        for dims in product(*(range(v.interval.lower, v.interval.upper + 1) for v in first.dims)):
            leads: Counter[tuple[Index, Index]] = Counter()
            for middle, steps in _points(first, device, dims):
                for out, more in _points(second, (device, *steps)[-1], middle):
                    leads[out, (*steps, *more)] += 1
            if Counter(_points(composed, device, dims)) != leads:
                raise Failure("maps: a composition leads elsewhere", f"from {dims} of {device}: {first} then {second}")
    return ("composition between devices",)


def _interval(random: Random) -> Interval:
    low = random.choice((0, 0, -1, 2))
    return Interval(low, low + random.choice((0, 1, 1, 2)) - (random.random() < 0.03) * 3)


def _expression(random: Random, names: Sequence[str]) -> Expr:
    e: Expr = Const(random.randint(-1, 2))
    for name in random.sample(list(names), min(len(names), random.choice((0, 1, 1, 2, 3)))):
        e = e + Var(name) * random.choice((1, 1, -1, 2))
    match random.randint(0, 5):
        case 0:
            return e % 3
        case 1:
            return e // 2
    return e


def _made_up(random: Random, dims: Sequence[Interval], depth: int) -> IndexingMap:
    fresh = random.sample(_NAMES, len(_NAMES))
    own = tuple(Variable(i, fresh.pop()) for i in dims)
    ranges = tuple(Variable(_interval(random), fresh.pop()) for _ in range(random.choice((0, 1, 1, 2))))
    runtime = tuple(replace(r, name=fresh.pop()) for r in _read(random, own, ranges, depth))
    names = _names(own, ranges, runtime)
    constraints = [
        Constraint(_expression(random, names), Interval(random.randint(-4, 0), random.randint(1, 9)))
        for _ in range(random.choice((0, 1)))
    ]
    if random.random() < 0.1:
        constraints.append(Constraint(Const(random.randint(0, 3)), Interval(1, random.randint(1, 2))))
    results = tuple(_expression(random, names) for _ in range(random.randint(1, 2)))
    m = IndexingMap(own, results, ranges, runtime, tuple(constraints))
    return _between(random, m, names)


def _names(dims: Sequence[object], ranges: Sequence[object], runtime: Sequence[object]) -> list[str]:
    groups = (("d", dims), ("s", ranges), ("rt", runtime))
    return [f"{letter}{k}" for letter, group in groups for k in range(len(group))]


def _between(random: Random, m: IndexingMap, names: Sequence[str]) -> IndexingMap:
    """The map, from another device now and then."""
    if random.random() < 0.6:
        return m
    steps = tuple(_expression(random, names) % DEVICES for _ in range(random.choice((1, 1, 2))))
    return IndexingMap(
        m.dims,
        m.results,
        m.ranges,
        m.runtime,
        m.constraints,
        IndexingMap(m.dims, steps, m.ranges, m.runtime, m.constraints),
    )


def _read(
    random: Random, dims: tuple[Variable, ...], ranges: tuple[Variable, ...], depth: int
) -> tuple[RuntimeVariable, ...]:
    """Values read at run time; their index maps go over all range variables or none, and read values themselves."""
    found = []
    for _ in range(random.choice((0, 1, 2, 2)) if depth else 0):
        low = random.randint(-2, 1)
        interval, provider = Interval(low, low + random.randint(0, 5)), random.choice(("one", "two"))
        if random.random() < 0.15:
            found.append(RuntimeVariable(interval, "", provider))
            continue
        over = ranges if random.random() < 0.5 else ()
        runtime = _read(random, dims, over, depth - 1)
        names = _names(dims, over, runtime)
        results = tuple(_expression(random, names) for _ in range(random.choice((0, 1, 1, 2))))
        index = _between(random, IndexingMap(dims, results, over, runtime), names)
        found.append(RuntimeVariable(interval, "", provider, index))
    return tuple(found)


def _points(m: IndexingMap, device: int, dims: Index) -> Iterator[tuple[Index, Index]]:
    """Results and the devices passed, at every point over these dims."""
    if any(x not in v.interval for x, v in zip(dims, m.dims, strict=True)):
        return
    for ranges in product(*(range(v.interval.lower, v.interval.upper + 1) for v in m.ranges)):
        at = _values(m, device, dims, ranges)
        if all(evaluate(c.expr, at) in c.interval for c in m.constraints):
            yield tuple(evaluate(e, at) for e in m.results), _steps(m, at)


def _steps(m: IndexingMap, at: dict[str, int]) -> Index:
    return tuple(evaluate(e, at) for e in m.replica.results) if m.replica is not None else ()


def _values(m: IndexingMap, device: int, dims: Index, ranges: Index) -> dict[str, int]:
    """All variables of the map at a point; what is read is read on the device that its index map leads to."""
    at = {f"d{k}": x for k, x in enumerate(dims)} | {f"s{k}": x for k, x in enumerate(ranges)}
    for k, r in enumerate(m.runtime):
        held = crc32(repr(r.provider).encode())
        if r.index is not None:
            inner = _values(r.index, device, dims, ranges[: len(r.index.ranges)])
            place = tuple(evaluate(e, inner) for e in r.index.results)
            held = crc32(repr((r.provider, place, (device, *_steps(r.index, inner))[-1])).encode())
        at[f"rt{k}"] = max(r.interval.lower, min(held % 11 - 3, r.interval.upper))
    return at


def _check_empty(m: IndexingMap) -> None:
    """A map is seen to be empty where a variable or a constraint has no values, or a constant is not among them."""
    variables: list[Variable | RuntimeVariable] = [*m.dims, *m.ranges, *m.runtime]
    intervals = [v.interval for v in variables] + [c.interval for c in m.constraints]
    missed = [
        c
        for c in m.constraints
        if isinstance(c.expr, Const) and not c.interval.lower <= c.expr.value <= c.interval.upper
    ]
    if m.is_trivially_empty != (any(i.lower > i.upper for i in intervals) or bool(missed)):
        raise Failure("maps: whether a map is trivially empty", str(m))


def _check_names(first: IndexingMap, second: IndexingMap, composed: IndexingMap) -> None:
    """Dims, then range variables, then values read; a name that is taken gets the least number, from 0, that makes it
    new; a variable without a name has none, and its default is taken from the beginning."""
    variables: list[Variable | RuntimeVariable] = [*first.dims, *second.ranges, *first.ranges]
    given = [v.name for v in [*variables, *second.runtime, *first.runtime]]
    defaults = _names(composed.dims, composed.ranges, composed.runtime)
    taken = [default for default, name in zip(defaults, given, strict=True) if not name]
    for name in given:
        numbered = (f"{name}_{n}" for n in range(len(given)))
        taken.append(name if not name or name not in taken else next(n for n in numbered if n not in taken))
    variables = [*composed.dims, *composed.ranges, *composed.runtime]
    found, taken = [v.name for v in variables], taken[-len(given) :]
    if found != taken:
        raise Failure("maps: the names of a composition", f"{found}, not {taken}")
    shown = [name or default for name, default in zip(found, defaults, strict=True)]
    if list(composed.display_names().values()) != shown:
        raise Failure("maps: the names that are shown", f"{composed.display_names()}, not {shown}")
