"""Maps that read values at run time: wrong simplifiers and compositions of them are found."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hloproof.fuzz.chunk import first_failure
from hloproof.fuzz.maps import compositions, map_laws
from hloproof.fuzz.targets import target
from hloproof.models.expressions.expr import Binary, Const
from hloproof.models.expressions.interval import Interval
from hloproof.models.maps.indexing_map import IndexingMap, compose
from hloproof.models.simplifier.simplify import Simplified, simplify


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
    monkeypatch.setattr(map_laws, "simplify", wrong)
    assert first_failure(target("rewrites"), 1, 100) is not None


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
    monkeypatch.setattr(compositions, "compose", wrong)
    found = first_failure(target("maps"), 1, 900)
    assert found is not None and "composition" in found.cause
