"""What is read at run time as its type lets it be: no byte is -1, and no array has fewer elements than none.

A runtime variable is what an element holds, cut to an interval. Of the interval only those values are taken that a
value of the element's type is cut to: the map with these intervals says the same of all contents that there can be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from hloproof.definitions.variables import values_of
from hloproof.models.errors import NotModelled
from hloproof.models.expressions.expr import Const
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.module import Computation, Module
from hloproof.models.hlo.shape import ArrayShape, Shape
from hloproof.models.indexing.composition.sizes import operand_number
from hloproof.models.maps.indexing_map import READER, IndexingMap, RuntimeVariable, array_of_sizes, instruction_of

ShapeOf = Callable[[str], Shape | None]
"""The shape of what a provider's text names; None where that is not known."""

_BIT = Interval(0, 1)


def of_types(m: IndexingMap, shape_of: ShapeOf) -> IndexingMap:
    """The map whose runtime variables, and those that say what is read, take no value that the type of what they read
    cannot hold."""
    runtime = tuple(_of_type(v, shape_of) for v in m.runtime)
    return m if runtime == m.runtime else replace(m, runtime=runtime)


def _of_type(v: RuntimeVariable, shape_of: ShapeOf) -> RuntimeVariable:
    index = None if v.index is None else of_types(v.index, shape_of)
    return replace(v, interval=_taken(v, shape_of), index=index)


def _taken(v: RuntimeVariable, shape_of: ShapeOf) -> Interval:
    sized = array_of_sizes(v.provider or "")
    shape = shape_of((v.provider or "") if sized is None else sized)
    if v.interval.is_empty or not isinstance(shape, ArrayShape):
        return v.interval
    held = _of_elements(shape) if sized is None else _of_sizes(shape, v)
    if held is None or held.is_empty:
        return v.interval
    low, high = (min(max(e, v.interval.lower), v.interval.upper) for e in (held.lower, held.upper))
    return Interval(low, high)


def _of_elements(shape: ArrayShape) -> Interval | None:
    return _BIT if shape.element_type == "pred" else values_of(shape)


def _of_sizes(shape: ArrayShape, v: RuntimeVariable) -> Interval | None:
    """The sizes that a dimension can have; None where it is not told which is meant."""
    at = v.index.results[0] if v.index is not None and len(v.index.results) == 1 else None
    if not isinstance(at, Const) or not 0 <= at.value < shape.rank:
        return None
    n = shape.dimensions[at.value]
    return Interval(0 if shape.dynamic and shape.dynamic[at.value] else n, n)


def never_negative(m: IndexingMap) -> IndexingMap:
    """The map whose runtime variables that are places of devices or sizes, which are numbers from 0 on, take no other
    value."""
    runtime = tuple(_from_zero(v) for v in m.runtime)
    return m if runtime == m.runtime else replace(m, runtime=runtime)


def _from_zero(v: RuntimeVariable) -> RuntimeVariable:
    index = None if v.index is None else never_negative(v.index)
    counts = v.provider == READER or array_of_sizes(v.provider or "") is not None
    if not counts or v.interval.is_empty:
        return replace(v, index=index)
    low = min(max(0, v.interval.lower), v.interval.upper)
    return replace(v, index=index, interval=Interval(low, v.interval.upper))


def require_sizes_by_number(maps: Iterable[IndexingMap]) -> None:
    """Raises NotModelled where which of the sizes of an array is read is not a number: each has a value of its own."""
    for v in (v for m in maps for v in m.runtime):
        at = () if v.index is None else v.index.results
        if array_of_sizes(v.provider or "") is not None and not all(isinstance(e, Const) for e in at):
            raise NotModelled(f"which of the {v.provider} is read")


def shapes_in(module: Module, computation: Computation) -> ShapeOf:
    """The shapes of providers as maps of the computation name them: `parameter(n)`, and the names of instructions,
    which may stand in what it calls. One name for several shapes is not followed."""
    parameters = {p.parameter_number: p.shape for p in computation.parameters}

    def shape_of(provider: str) -> Shape | None:
        number = operand_number(provider, "parameter")
        if number is not None:
            return parameters.get(number)
        name = instruction_of(provider.rsplit("/", 1)[-1])
        found = {c.by_name[name].shape for c in module.computations if name in c.by_name}
        return found.pop() if len(found) == 1 else None

    return shape_of
