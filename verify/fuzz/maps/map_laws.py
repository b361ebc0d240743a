"""What the simplifier, the reader and the printer owe every map, as tables: what may be broken, and whether it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import islice
from typing import Final

from hloproof.fuzz.maps.readings import Meaning, box_points, meaning, size
from hloproof.fuzz.target import Failure
from hloproof.models.expressions.bounds import range_of
from hloproof.models.expressions.expr import Binary, Const, Expr, postorder
from hloproof.models.expressions.interval import Interval
from hloproof.models.expressions.python_text import function_of
from hloproof.models.hlo.shape import Index
from hloproof.models.maps.indexing_map import IndexingMap
from hloproof.models.maps.text import KNOWN_EMPTY, parse_map, print_map
from hloproof.models.rules.text import project_rules
from hloproof.models.simplifier.rewriter import RewriteStep
from hloproof.models.simplifier.simplify import is_empty, simplify

POINTS_FOR_RANGES: Final = 150
WEIGHT: Final = {"floordiv": 1, "ceildiv": 3, "mod": 1, "min": 1, "max": 1}
MOST_STEPS: Final = 20
"""So many steps of a derivation are read, each at MOST_STEP_POINTS points."""
MOST_STEP_POINTS: Final = 60
FAR: Final = 2**200
KINDS_OF_RULES: Final = ("division", "sums", "order", "constraints")


@dataclass(frozen=True)
class BeforeAndAfter:
    """A map, its points, and the map that it was simplified to."""

    m: IndexingMap
    points: Meaning
    after: IndexingMap
    steps: tuple[RewriteStep, ...]

    @cached_property
    def found(self) -> Meaning:
        """The points of the map that it was simplified to."""
        return meaning(self.after)


def simplified(m: IndexingMap) -> BeforeAndAfter:
    """Raises Failure where a law is broken."""
    result = simplify(m)
    s = BeforeAndAfter(m, meaning(m), result.map, tuple(result.derivation))
    for cause, broken in (*ALWAYS, *(WITH_POINTS if s.points else WITHOUT_POINTS)):
        wrong = broken(s)
        if wrong:
            raise Failure(f"maps: {cause}", print_map(s.after) if wrong is True else wrong)
    return s


def check_map(m: IndexingMap) -> BeforeAndAfter:
    """As `simplified`, and ranges of all parts of its expressions."""
    for e, value, stated in _outside(m):
        raise Failure("maps: a value outside the computed range", f"{e!r} is {value}, not in {stated}")
    return simplified(m)


def check_printed(m: IndexingMap, text: str) -> None:
    """Names are read as they stand; what is printed reads as the same map with the same names."""
    head = "" if text.startswith("KNOWN EMPTY") else text.partition("->")[0]
    if list(m.display_names().values()) != re.findall(r"[A-Za-z_][\w.]*", head):
        raise Failure("maps: names are read as others", head)
    printed = print_map(m)
    if printed == "KNOWN EMPTY":
        return
    again = parse_map(printed)
    if again != m:
        raise Failure("maps: printing and parsing changes a map", printed)
    of_parts = [(m, again), (m.replica, again.replica)]
    of_parts += [(v.index, w.index) for v, w in zip(m.runtime, again.runtime, strict=True)]
    if any(x is not None and y is not None and x.display_names() != y.display_names() for x, y in of_parts):
        raise Failure("maps: printing and parsing changes names", printed)


# --- points ------------------------------------------------------------------------------------------------------


def _undefined(s: BeforeAndAfter) -> bool:
    return any(r is None for p, r in s.found.items() if s.points.get(p, ()) is not None)


def _other_points(s: BeforeAndAfter) -> bool:
    undefined = {p for p, r in s.points.items() if r is None}
    found = {p: r for p, r in s.found.items() if p not in undefined}
    return found != {p: r for p, r in s.points.items() if r is not None}


def _other_form_of_nothing(s: BeforeAndAfter) -> bool:
    said = () if list(s.after.intervals()) else KNOWN_EMPTY.constraints
    return s.after.constraints != said or print_map(s.after) != "KNOWN EMPTY"


def _recognised(s: BeforeAndAfter) -> bool:
    """All variables have the same empty interval, and all results are 0."""
    intervals = [i for _, i in s.after.intervals()]
    plain = all(i.is_empty for i in intervals) and all(e == Const(0) for e in s.after.results)
    return plain and s.after.replica is None and len({(i.lower, i.upper) for i in intervals}) <= 1


def _renamed(m: IndexingMap) -> IndexingMap:
    return replace(m, dims=tuple(replace(v, name=f"n{k}") for k, v in enumerate(m.dims)))


def _remembered(s: BeforeAndAfter) -> bool:
    """What is kept from earlier maps answers for equal ones, names apart."""
    again = simplify(_renamed(s.m)).map
    return again == s.after and again.display_names() == _renamed(s.after).display_names()


def _shape(m: IndexingMap) -> list[int]:
    return [len(v) for v in (m.dims, m.ranges, m.runtime, m.results)]


def operations(m: IndexingMap) -> int:
    """The weight of all operations, as often as they are written."""
    return sum(WEIGHT.get(e.op, 0) for root in roots(m) for e in nodes(root))


def roots(m: IndexingMap) -> tuple[Expr, ...]:
    return (*m.results, *(c.expr for c in m.constraints))


def nodes(root: Expr) -> Iterator[Binary]:
    """Every operation, as often as it is written."""
    todo = [root]
    while todo:
        e = todo.pop()
        if isinstance(e, Binary):
            yield e
            todo += (e.lhs, e.rhs)


def _outside(m: IndexingMap) -> Iterator[tuple[Expr, int, Interval]]:
    """Parts of expressions that leave the range which is computed for them, at some of the points."""
    box = dict(m.intervals())
    if any(i.is_empty for i in box.values()):
        return
    stated = {e: range_of(e, box) for root in roots(m) for e in postorder(root)}
    values_of = function_of(list(stated), list(box))
    for point in islice(box_points(m), POINTS_FOR_RANGES):
        try:
            values = values_of(*point)
        except ZeroDivisionError:
            continue
        for (e, interval), value in zip(stated.items(), values, strict=True):
            if value not in interval:
                yield e, value, interval


# --- derivations -------------------------------------------------------------------------------------------------


@cache
def _names_of_rules() -> frozenset[str]:
    return frozenset(r.name for kind in KINDS_OF_RULES for r in project_rules(kind))


def _wrong_step(s: BeforeAndAfter) -> str:
    """A step that names no rule, changes nothing or is shown otherwise, or does not hold at a point of the domain."""
    names = [n for n, _ in s.m.intervals()]
    points = [p for p, r in s.points.items() if r is not None][:MOST_STEP_POINTS]
    for step in s.steps[:MOST_STEPS]:
        shown = str(step) == f"{step.rule}: {step.before} => {step.after}"
        if step.rule not in _names_of_rules() or step.before == step.after or not shown:
            return str(step)
        if step.after == "no points" or " ... " in step.before:  # as long texts are cut
            continue
        sides = (_read_at(text, names, points) for text in (step.before, step.after))
        for p, x, y in zip(points, *sides, strict=True):
            if x is not None and y is not None and x != y:
                return f"{step} at {p}"
    return ""


def _untold(s: BeforeAndAfter) -> str:
    """Every interval that became narrower is what some step comes to."""
    if s.m.is_trivially_empty and [step.rule for step in s.steps] != ["no-interval"]:
        return print_map(s.m)
    for (name, old), (_, new) in zip(s.m.intervals(), s.after.intervals(), strict=True):
        if old != new and not new.is_empty and not any(f"{name} in {new}" in step.after for step in s.steps):
            return f"{name} in {new}"
    return ""


def _read_at(text: str, names: list[str], points: list[Index]) -> list[object]:
    """The value of an expression at each point; of constraints, whether they all hold; None where it is undefined.
    `always` is no constraint and `never` one that fails."""
    if text in ("always", "never"):
        return [text == "always"] * len(points)
    stated = " in [" in text
    domain = [*(f"{name} in [{-FAR}, {FAR}]" for name in names), *([text] if stated else [])]
    m = parse_map(f"({', '.join(names)}) -> ({'' if stated else text}), domain: {', '.join(domain)}")
    f = function_of([*m.results, *(c.expr for c in m.constraints)], [f"d{k}" for k in range(len(names))])
    found: list[object] = []
    for p in points:
        try:
            values = f(*p)
        except ZeroDivisionError:
            found.append(None)
            continue
        whole = all(v in c.interval for v, c in zip(values, m.constraints, strict=False))
        found.append(whole if stated else values[0])
    return found


# --- the laws ----------------------------------------------------------------------------------------------------

Law = tuple[str, Callable[[BeforeAndAfter], bool | str]]
"""What is broken, and whether it is, or how."""

ALWAYS: Final[tuple[Law, ...]] = (
    ("other variables or results", lambda s: _shape(s.after) != _shape(s.m)),
    ("other names", lambda s: s.after.display_names() != s.m.display_names()),
    ("other providers", lambda s: [v.provider for v in s.after.runtime] != [v.provider for v in s.m.runtime]),
    ("simplifying again changes the map", lambda s: simplify(s.after).map != s.after),
    ("other names, another answer", lambda s: not _remembered(s)),
    ("a step of the derivation", _wrong_step),
    ("an interval that no step tells", _untold),
)
WITHOUT_POINTS: Final[tuple[Law, ...]] = (
    ("an empty domain is not recognised", lambda s: not _recognised(s)),
    ("an empty map of another form", _other_form_of_nothing),
    ("a map without points is said to have some", lambda s: is_empty(s.m) is False),
    ("a small map is not seen to be empty", lambda s: is_empty(s.m) is None and size(s.m) < 500),
)
WITH_POINTS: Final[tuple[Law, ...]] = (
    ("undefined at a point", _undefined),
    ("other points", _other_points),
    (
        "another clamp",
        lambda s: any(
            old.provider is not None and old.interval != new.interval
            for old, new in zip(s.m.runtime, s.after.runtime, strict=True)
        ),
    ),
    (
        "another index map",
        lambda s: any(
            new.index != (None if old.index is None else simplify(old.index).map)
            for old, new in zip(s.m.runtime, s.after.runtime, strict=True)
        ),
    ),
    ("another replica part", lambda s: s.after.replica != (None if s.m.replica is None else simplify(s.m.replica).map)),
    (
        "a map with points is said to be empty",
        lambda s: bool(is_empty(s.m)) and any(r is not None for r in s.points.values()),
    ),
    (
        "more constraints",
        lambda s: (
            len(s.after.constraints) > len(s.m.constraints) + len([v for v in s.m.runtime if v.provider is not None])
        ),
    ),
    ("more operations", lambda s: operations(s.after) > operations(s.m)),
)
