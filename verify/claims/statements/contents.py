"""A map and a definition computed side by side at one point, for given contents of what is read at run time.

Nothing is solved for here, and no statement is used: the map is walked as it was given, and the definition's predicate
is evaluated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice, product
from random import Random
from typing import Final

from hloproof.definitions.definition import Definition, RuntimeRead
from hloproof.logic.evaluate import TooManySteps, holds
from hloproof.logic.formula import Exists
from hloproof.models.errors import NotModelled
from hloproof.models.expressions.evaluate import evaluate
from hloproof.models.expressions.expr import Expr, Var, maximum, minimum, substitute
from hloproof.models.expressions.interval import Interval
from hloproof.models.indexing.composition.sizes import operand_number
from hloproof.models.maps.indexing_map import (
    READER,
    Constraint,
    Direction,
    IndexingMap,
    RuntimeVariable,
    all_constraints,
    array_of_sizes,
)

RuntimeElement = tuple[int, bool, tuple[int, ...]]
"""An operand, whether its sizes are meant, and coordinates."""
Contents = Mapping[RuntimeElement, int]

TRIED: Final = 40
"""Points of a map that are looked at for a difference."""


def provider_operand(v: RuntimeVariable) -> tuple[int, bool] | None:
    """The operand number of `operand(n)`, and whether it is the vector of its sizes, `sizes(operand(n))`; None for the
    reader's position. Raises NotModelled for any other provider, and for the position of another device."""
    if v.provider == READER:
        if v.index is not None and (v.index.results or v.index.replica is not None):
            raise NotModelled("the place of another device")
        return None
    sized = array_of_sizes(v.provider or "")
    number = operand_number(v.provider or "" if sized is None else sized)
    if number is None or v.index is None:
        raise NotModelled(f"a runtime variable with the provider {v.provider!r}")
    return number, sized is not None


def of_positions(m: IndexingMap, group_size: int) -> IndexingMap:
    """The map over the positions of the group themselves: where a variable that is the reader's position has another
    interval, what it holds is the position cut to that, as of any value read at run time."""
    place, into = Interval.of_size(group_size), dict[str, Expr]()
    runtime = list(m.runtime)
    for k, v in enumerate(m.runtime):
        if group_size and v.provider == READER and v.interval != place and not v.interval.is_empty:
            if not v.interval.contains(place):
                into[f"rt{k}"] = minimum(maximum(Var(f"rt{k}"), v.interval.lower), v.interval.upper)
            runtime[k] = replace(v, interval=place)
    if tuple(runtime) == m.runtime:
        return m
    step = m.replica
    if step is not None:
        told = {f"rt{k}" for k, v in enumerate(m.runtime) if v.provider == READER}
        bounds = [(into.get(n, Var(n)), i) for n, i in step.intervals() if n in told and not i.contains(place)]
        own = [
            replace(v, interval=w.interval) if w.provider == READER else v
            for v, w in zip(step.runtime, runtime, strict=False)
        ]
        step = replace(
            step,
            results=tuple(substitute(e, into) for e in step.results),
            constraints=(
                *(Constraint(substitute(c.expr, into), c.interval) for c in step.constraints),
                *(Constraint(e, i) for e, i in bounds),
            ),
            runtime=(*own, *step.runtime[len(own) :]),
        )
    return replace(
        m,
        results=tuple(substitute(e, into) for e in m.results),
        constraints=tuple(Constraint(substitute(c.expr, into), c.interval) for c in m.constraints),
        runtime=tuple(runtime),
        replica=step,
    )


def _clamp(value: int, interval: Interval) -> int:
    return min(max(value, interval.lower), interval.upper)


def strays(
    m: IndexingMap, direction: Direction, definition: Definition, contents: Contents, at: dict[str, int]
) -> bool:
    """Whether the map has a pair at these dims and range values that the definition does not have, where the operands
    hold these contents (0 where nothing is said). Raises TooManySteps where that is not followed."""
    found = _pair(m, direction, contents, at)
    if found is None:
        return False
    values, position = found
    output = tuple(values[f"d{i}"] for i in range(len(definition.output_sizes)))
    operand = tuple(values[f"x{j}"] for j in range(len(definition.operand_sizes)))
    sizes = zip((*output, *operand), (*definition.output_sizes, *definition.operand_sizes), strict=True)
    if any(not 0 <= v < n for v, n in sizes):
        return True
    if definition.group_size:
        values |= {"p": at.get("p", 0), "q": at.get("p", 0) if position is None else position}
    types = {r.operand: r.held if r.clamped else r.interval for r in definition.runtime if not r.of_sizes}
    if any((i := types.get(e[0])) is not None and value not in i for e, value in contents.items()):
        return False  # contents that cannot be
    for k, read in enumerate(definition.runtime):
        held = contents.get(element_of(read, values), 0)
        values[f"r{k}"] = _clamp(held, read.interval)
    body = definition.predicate
    return not holds(Exists(definition.iteration, body) if definition.iteration else body, values)


def _pair(
    m: IndexingMap, direction: Direction, contents: Contents, at: dict[str, int]
) -> tuple[dict[str, int], int | None] | None:
    """Coordinates d0.. and x0.. of the pair, and the device's position; None where the map says nothing there."""
    values = dict(at)
    for k, v in enumerate(m.runtime):
        provided = provider_operand(v)
        if provided is None:
            values[f"rt{k}"] = _clamp(at.get("p", 0), v.interval)
            continue
        if v.index is None or v.index.runtime or provided[1]:
            raise TooManySteps("what says which element is read is not followed")
        element = tuple(evaluate(e, at) for e in v.index.results)
        values[f"rt{k}"] = _clamp(contents.get((*provided, element), 0), v.interval)
    inside = all(values[n] in i for n, i in m.intervals())
    if not inside or any(evaluate(c.expr, values) not in c.interval for c in all_constraints(m)):
        return None
    position = None if m.replica is None else evaluate(m.replica.results[0], values)
    source = [values[f"d{i}"] for i in range(len(m.dims))]
    target = [evaluate(e, values) for e in m.results]
    output, operand = (source, target) if direction == "output-to-input" else (target, source)
    pair = {f"d{i}": v for i, v in enumerate(output)} | {f"x{j}": v for j, v in enumerate(operand)}
    return pair, position


def element_of(read: RuntimeRead, pair: Mapping[str, int]) -> RuntimeElement:
    """The element that a definition reads for a pair."""
    return read.operand, read.of_sizes, tuple(evaluate(e, pair) for e in read.index)


def strays_somewhere(m: IndexingMap, direction: Direction, definition: Definition, held: Iterable[int]) -> bool:
    """Whether a few points and contents are found at which the map strays from the definition; `held` are numbers that
    elements may hold."""
    numbers = list(dict.fromkeys(held))
    for at in _points(m):
        reads = _elements(m, direction, definition, at)
        for values in islice(product(numbers, repeat=len(reads)), 4 * TRIED):
            if strays(m, direction, definition, dict(zip(reads, values, strict=True)), at):
                return True
    return False


def _elements(m: IndexingMap, direction: Direction, definition: Definition, at: dict[str, int]) -> list[RuntimeElement]:
    """What the map reads at run time at a point, and what the definition reads for the pair that comes of zeros."""
    out: dict[RuntimeElement, None] = {}
    for v in m.runtime:
        provided = provider_operand(v)
        if provided is not None and v.index is not None and not v.index.runtime:
            out[(*provided, tuple(evaluate(e, at) for e in v.index.results))] = None
    found = _pair(m, direction, {}, at)
    for read in definition.runtime if found is not None else ():
        assert found is not None
        out[element_of(read, found[0])] = None
    return list(out)


def _points(m: IndexingMap) -> Iterator[dict[str, int]]:
    """The lowest, the highest and some other dims and range values."""
    runtime = {f"rt{k}" for k in range(len(m.runtime))}
    boxes = [(n, i) for n, i in m.intervals() if n not in runtime]
    if any(i.is_empty for _, i in boxes):
        return
    yield {n: i.lower for n, i in boxes}
    yield {n: i.upper for n, i in boxes}
    random = Random(0)
    for _ in range(TRIED):
        yield {n: random.randint(i.lower, i.upper) for n, i in boxes}
