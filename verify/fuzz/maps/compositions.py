"""Target `maps`: compositions of maps between devices, whose values read at run time are read by other such values.

A case is the choices from which two maps are made up, since not all that these have can be written as text; names that
clash, constraints on constants and maps that do not fit are among them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import product
from typing import Final

from hloproof.fuzz.drawing import Replayed
from hloproof.fuzz.maps.dressed_maps import canonical, constant_constraint, dressed, interval
from hloproof.fuzz.maps.map_laws import check_map
from hloproof.fuzz.maps.readings import leads, size
from hloproof.fuzz.target import Failure
from hloproof.models.expressions.expr import Const
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.shape import Index
from hloproof.models.interpreter.maps import relation_with_positions
from hloproof.models.maps.indexing_map import IndexingMap, RuntimeVariable, Variable, compose

PREFIX: Final = "composition "
DEVICES: Final = 3
CHOICES: Final = 220
"""Two maps take about so many."""
MOST_POINTS: Final = 300
"""Larger compositions are not simplified."""
_NAMES: Final = ("", "", "", "", "a", "b", "a_0", "a_1", "b_0", "s0", "s1", "d1", "rt0")


def examine(text: str) -> tuple[str, ...]:
    """Raises Failure where a composition does not lead where its two maps lead, or is not named as it should be."""
    w = Replayed(bytes.fromhex(text.removeprefix(PREFIX)))

    def made_up(dims: list[Interval]) -> IndexingMap:
        m = dressed(w, dims, 2, _NAMES, results=1)
        return IndexingMap(m.dims, m.results, m.ranges, m.runtime, (*m.constraints, *constant_constraint(w)), m.replica)

    first = made_up([interval(w) for _ in range(w.number(1, 2))])
    second = made_up([Interval(-2, w.number(2, 6)) for _ in first.results])
    composed = compose(first, second)
    for cause, broken in LAWS:
        wrong = broken(first, second, composed)
        if wrong:
            raise Failure(f"maps: {cause}", f"{wrong}: {first} then {second}")
    if size(composed) <= MOST_POINTS:
        check_map(composed)
    return ("composition between devices",)


def _seen_empty(*maps: IndexingMap) -> str:
    """A map is seen to be empty where a variable or a constraint has no values, or a constant is not among them."""
    for m in maps:
        intervals = [i for _, i in m.intervals()] + [c.interval for c in m.constraints]
        constants = [(c.expr.value, c.interval) for c in m.constraints if isinstance(c.expr, Const)]
        empty = any(i.lower > i.upper for i in intervals) or any(not i.lower <= n <= i.upper for n, i in constants)
        if m.is_trivially_empty != empty:
            return str(m)
    return ""


def _fits(first: IndexingMap, second: IndexingMap, composed: IndexingMap) -> str:
    try:
        return str(compose(first, IndexingMap((*second.dims, Variable(Interval(0, 0))), ())))
    except ValueError:
        return ""


def _elsewhere(first: IndexingMap, second: IndexingMap, composed: IndexingMap) -> str:
    """A pair of dims and results of the composition stands for one point of each map, the consumer's first."""
    plain = not composed.runtime and not composed.is_trivially_empty
    read = relation_with_positions(composed) if plain else None
    for device in range(1 if plain and composed.replica is None else DEVICES):
        for dims in product(*(range(v.interval.lower, v.interval.upper + 1) for v in first.dims)):
            expected: Counter[tuple[Index, Index]] = Counter()
            for middle, steps in leads(first, device, dims):
                for out, more in leads(second, (device, *steps)[-1], middle):
                    expected[out, (*steps, *more)] += 1
            if Counter(leads(composed, device, dims)) != expected:
                return f"from {dims} of {device}"
            if read is not None and any(read[dims, *key] != n for key, n in expected.items()):
                return f"as interpreted, from {dims}"
    return ""


def _names(first: IndexingMap, second: IndexingMap, composed: IndexingMap) -> str:
    """Dims, then range variables, then values read; a name that is taken gets the least number, from 0, that makes it
    new; a variable without a name has none, and its default is taken from the beginning."""
    variables: list[Variable | RuntimeVariable] = [*first.dims, *second.ranges, *first.ranges]
    given = [v.name for v in [*variables, *second.runtime, *first.runtime]]
    defaults = canonical(composed.dims, composed.ranges, composed.runtime)
    taken = [default for default, name in zip(defaults, given, strict=True) if not name]
    for name in given:
        numbered = (f"{name}_{n}" for n in range(len(given)))
        taken.append(name if not name or name not in taken else next(n for n in numbered if n not in taken))
    variables = [*composed.dims, *composed.ranges, *composed.runtime]
    found, expected = [v.name for v in variables], taken[-len(given) :]
    shown = [name or default for name, default in zip(found, defaults, strict=True)]
    if found != expected:
        return f"{found}, not {expected}"
    return f"{composed.display_names()}" if list(composed.display_names().values()) != shown else ""


LAWS: Final[tuple[tuple[str, Callable[[IndexingMap, IndexingMap, IndexingMap], str]], ...]] = (
    ("whether a map is trivially empty", _seen_empty),
    ("what does not fit is composed", _fits),
    ("a composition leads elsewhere", _elsewhere),
    ("the names of a composition", _names),
)
"""What is broken, and what tells how, of two maps and their composition; nothing where it holds."""
