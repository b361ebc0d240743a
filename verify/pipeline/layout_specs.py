"""Layout specs judged: every number by the formula and by the second reading, every claim by the engines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from math import prod
from time import perf_counter

from hloproof.claims.layouts.bitcasts import bitcast_claims, same_positions
from hloproof.claims.layouts.claims import ClaimedLayout, claims
from hloproof.claims.layouts.formats import format_claims, is_format
from hloproof.claims.layouts.judge import JudgedClaim, judge
from hloproof.engines.budget import DEFAULT, Budget
from hloproof.logic.obligation import Obligation, Outcome
from hloproof.models.errors import NotModelled
from hloproof.models.expressions.evaluate import evaluate
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.layouts.memory_size import (
    data_bytes,
    element_bits,
    padded_elements,
    padding_elements,
    transfer_bytes,
    upstream_bytes,
)
from hloproof.models.layouts.pad_reshape_transpose import movements
from hloproof.models.layouts.physical import part_count, physical_dimensions
from hloproof.models.layouts.tiling import expanded_dimensions, index_of, position_of
from hloproof.models.maps.indexing_map import IndexingMap, dim
from hloproof.models.specs.layouts import LayoutSpec, parse_layouts
from hloproof.results.results import worst
from hloproof.results.verdict import ClaimResult, Verdict


def check_layouts_text(text: str, file: str, budget: Budget = DEFAULT, cross: bool = False) -> list[ClaimResult]:
    """The verdicts on all layouts of a text, one record each. Raises InputError."""
    return [check_layout(spec, file, budget, cross) for spec in parse_layouts(text, file)]


def check_layout(spec: LayoutSpec, file: str = "", budget: Budget = DEFAULT, cross: bool = False) -> ClaimResult:
    """The verdict on one layout. An expectation that is met counts as proved; one that is not, as refuted."""
    started = perf_counter()
    verdict, engines, counterexample, reason = _judged(spec, budget, cross)
    if spec.expect == "refuted" and verdict is Verdict.REFUTED:
        verdict, counterexample, reason = Verdict.PROVED, None, f"refuted, as expected: {counterexample}"
    elif spec.expect == "refuted" and verdict is Verdict.PROVED:
        verdict, counterexample = Verdict.REFUTED, "expected to be refuted, and all of it holds"
    return ClaimResult(
        f"{file}#{spec.name}",
        "layout",
        file,
        "",
        spec.line,
        spec.column,
        spec.name,
        "layout",
        verdict,
        engines,
        (perf_counter() - started) * 1e3,
        counterexample,
        reason,
    )


def _judged(spec: LayoutSpec, budget: Budget, cross: bool) -> tuple[Verdict, tuple[str, ...], str | None, str | None]:
    if spec.expect == "error":
        if spec.problem is not None:
            return Verdict.PROVED, (), None, f"an error, as expected: {spec.problem.message}"
        return Verdict.REFUTED, (), "expected to be an error, and it can be read", None
    assert spec.shape is not None
    try:
        wrong = next(_wrong_numbers(spec, spec.shape), None)
        if wrong is not None:
            return Verdict.REFUTED, (), wrong, None
        found = _claims(spec, spec.shape, budget, cross)
    except NotModelled as error:
        return Verdict.UNKNOWN, (), None, f"not modelled: {error}"
    verdict = worst(j.verdict for j in found)
    engines = tuple(sorted({e for j in found for e in j.engines}))
    told = next((j for j in found if j.verdict is verdict), None)
    if verdict is Verdict.PROVED or told is None:
        return verdict, engines, None, None
    return verdict, engines, told.counterexample and f"{told.claim}: {told.counterexample}", told.reason


def _claims(spec: LayoutSpec, shape: ArrayShape, budget: Budget, cross: bool) -> tuple[JudgedClaim, ...]:
    prove = partial(_prove, budget=budget, cross=cross)
    if is_format(shape):
        return judge(format_claims(shape), prove)
    claimed = ClaimedLayout.by_formula(shape)
    if spec.formula is not None:
        claimed = replace(claimed, position=_checked_formula(spec.formula, shape))
    owed = list(claims(claimed))
    owed += [same_positions(shape, other) for other in spec.same]
    owed += [c for other in spec.bitcasts for c in bitcast_claims(shape, other)]
    return judge(owed, prove)


def _checked_formula(formula: IndexingMap, shape: ArrayShape) -> IndexingMap:
    if tuple(v.interval.count for v in formula.dims) != shape.dimensions or formula.ranges or formula.runtime:
        raise NotModelled("a formula whose domain is not the shape")
    if len(formula.results) != (1 if part_count(shape) == 1 else 2) or formula.constraints:
        raise NotModelled("a formula that is not one position for every element")
    return formula


def _prove(obligation: Obligation, budget: Budget, cross: bool) -> Outcome:
    from hloproof.engines.portfolio import prove

    return prove(obligation, budget, cross)


def _wrong_numbers(spec: LayoutSpec, shape: ArrayShape) -> Iterator[str]:
    """What is said and is not so."""
    if is_format(shape):
        return
    measured = {
        "padded": padded_elements(shape),
        "padding": padding_elements(shape),
        "element-bits": element_bits(shape),
        "data-bytes": data_bytes(shape),
        "bytes": transfer_bytes(shape),
        "xla-bytes": upstream_bytes(shape),
        "parts": part_count(shape),
    }
    for word, said in spec.numbers:
        if measured[word] != said:
            yield f"{word} is {measured[word]}, not {said}"
    sizes = {"physical": physical_dimensions(shape), "tiled": expanded_dimensions(shape)}
    for word, said_sizes in spec.sizes:
        if sizes[word] != said_sizes:
            yield f"{word} is {list(sizes[word])}, not {list(said_sizes)}"
    if spec.formula is None:
        yield from _wrong_positions(spec, shape)


def _wrong_positions(spec: LayoutSpec, shape: ArrayShape) -> Iterator[str]:
    said = [*spec.positions, *_tabled(spec, shape)]
    if spec.table is not None and len(spec.table) != shape.elements:
        yield f"positions has {len(spec.table)} numbers for {shape.elements} elements"
    for index, place in said:
        for reading, found in _both_readings(shape, index):
            if found != place:
                yield f"element {list(index)} lies at position {found} by {reading}, not {place}"
    for index, bit in spec.bits:
        found = position_of(shape, index) * element_bits(shape)
        if found != bit:
            yield f"element {list(index)} begins at bit {found}, not {bit}"
    for place, held in spec.at:
        at = index_of(shape, place)
        if at != held or place >= padded_elements(shape):
            said_to = "be padding" if held is None else f"hold {list(held)}"
            yield f"position {place} {_held(at, place < padded_elements(shape))}, and is said to {said_to}"


def _held(index: tuple[int, ...] | None, inside: bool) -> str:
    if not inside:
        return "is outside of the memory"
    return "is padding" if index is None else f"holds {list(index)}"


def _tabled(spec: LayoutSpec, shape: ArrayShape) -> Iterator[tuple[tuple[int, ...], int]]:
    for k, place in enumerate(spec.table or ()):
        index: list[int] = []
        for n in reversed(shape.dimensions):
            k, e = divmod(k, n)
            index.append(e)
        if k == 0:
            yield tuple(reversed(index)), place


def _both_readings(shape: ArrayShape, index: tuple[int, ...]) -> Iterator[tuple[str, int]]:
    try:
        yield "the formula", position_of(shape, index)
    except ValueError as error:
        raise NotModelled(str(error)) from error
    if part_count(shape) > 1:
        return
    moves = movements(shape)
    at = tuple(dim(i) for i in range(shape.rank))
    for move in moves:
        at = move.index(at)
    values = {f"d{i}": e for i, e in enumerate(index)}
    sizes = moves[-1].after
    yield "pad, reshape, transpose", sum(evaluate(e, values) * prod(sizes[k + 1 :]) for k, e in enumerate(at))
