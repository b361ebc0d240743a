"""Target `maps` with values read at run time: the naive reading, and wrong simplifiers and compositions found by it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hloproof.fuzz.chunk import first_failure
from hloproof.fuzz.maps import runtime_readings
from hloproof.fuzz.maps.runtime_readings import Point, Undefined
from hloproof.fuzz.targets import target
from hloproof.models.expressions.expr import Binary, Const
from hloproof.models.expressions.interval import Interval
from hloproof.models.maps.indexing_map import IndexingMap, compose
from hloproof.models.maps.text import parse_map
from hloproof.models.simplifier.simplify import Simplified, simplify

READ = """(d0)[s0]{rt0} -> (d0 + rt0), domain: d0 in [0, 3], s0 in [0, 1], rt0 in [0, 2], d0 - rt0 in [0, 3]
runtime variables:
rt0: parameter(1); (d0)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 3], s0 in [0, 1]"""


@pytest.mark.parametrize(
    ("dims", "ranges", "held", "inside", "results"),
    [
        ((1,), (0,), {2: 1}, True, (2,)),
        ((1,), (1,), {3: 9}, False, None),
        ((3,), (1,), {7: 9}, True, (5,)),
        ((2,), (0,), {4: -5}, True, (2,)),
        ((4,), (0,), {}, False, None),
    ],
)
def test_a_value_is_read_where_the_map_says_and_clamped(
    dims: tuple[int, ...], ranges: tuple[int, ...], held: dict[int, int], inside: bool, results: Any
) -> None:
    point = Point(parse_map(READ), dims, ranges, lambda provider, index: held[index[0]], (0,))
    assert point.inside() is inside
    if inside:
        assert point.results() == results


def test_a_point_without_a_value_is_neither_inside_nor_outside() -> None:
    m = parse_map("(d0) -> (1 floordiv d0), domain: d0 in [0, 2], 4 floordiv d0 in [0, 3]")
    at = [Point(m, (n,), (), lambda provider, index: 0, ()) for n in range(3)]
    assert [p.inside() for p in at] == [None, False, True]
    with pytest.raises(Undefined):
        at[0].results()


def narrowing(m: IndexingMap) -> Simplified:
    """Clamps a value into what the domain leaves of it."""
    found = simplify(m).map
    runtime = tuple(replace(v, interval=Interval(min(0, v.interval.upper), v.interval.upper)) for v in found.runtime)
    return Simplified(replace(found, runtime=runtime), m)


def forgetting(m: IndexingMap) -> Simplified:
    """Reads element 0 always."""
    found = simplify(m).map
    runtime = tuple(
        v if v.index is None else replace(v, index=replace(v.index, results=tuple(Const(0) for _ in v.index.results)))
        for v in found.runtime
    )
    return Simplified(replace(found, runtime=runtime), m)


def dividing(m: IndexingMap) -> Simplified:
    """Divides by zero where the map did not."""
    found = simplify(m).map
    return Simplified(replace(found, results=tuple(Binary("floordiv", e, Const(0)) for e in found.results)), m)


def leaving_out(m: IndexingMap) -> Simplified:
    return Simplified(replace(simplify(m).map, constraints=()), m)


@pytest.mark.parametrize("wrong", [narrowing, forgetting, dividing, leaving_out])
def test_a_wrong_simplifier_is_found(wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime_readings, "simplify", wrong)
    found = first_failure(target("maps"), 1, 400)
    assert found is not None and "runtime variables" in found.cause


def reading_elsewhere(first: IndexingMap, second: IndexingMap) -> IndexingMap:
    """The producer's values are read where the consumer's dims are, not its results."""
    found = compose(first, second)
    kept = [
        v
        if v.index is None or second.runtime[k].index is None
        else replace(v, index=replace(v.index, results=tuple(e + 1 for e in v.index.results)))
        for k, v in enumerate(found.runtime[: len(second.runtime)])
    ]
    return replace(found, runtime=(*kept, *found.runtime[len(second.runtime) :]))


def turned_round(first: IndexingMap, second: IndexingMap) -> IndexingMap:
    """The consumer's runtime variables come first."""
    found, split = compose(first, second), len(second.runtime)
    return replace(found, runtime=(*found.runtime[split:], *found.runtime[:split]))


@pytest.mark.parametrize("wrong", [reading_elsewhere, turned_round])
def test_a_wrong_composition_is_found(wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime_readings, "compose", wrong)
    found = first_failure(target("maps"), 1, 900)
    assert found is not None and "composition" in found.cause


def test_divisors_that_are_zero_somewhere_are_drawn() -> None:
    drawn: set[str] = set()

    def look(text: str) -> tuple[str, ...]:
        drawn.update(word for word in ("/ 0", "mod 0", "/ d0", "mod rt0") if word in text)
        return ()

    first_failure(replace(target("maps"), examine=look), 3, 900)
    assert len(drawn) >= 3
