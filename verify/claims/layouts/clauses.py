"""What an entry says of a layout, clause by clause.

Every word that says something has a judge in `JUDGES`; an entry with a word that has none is unknown. Positions are
looked up by the formula and by the second reading (pad, reshape, transpose). Of a format, a shape with `?`, a clause is
about all sizes: one size at which it fails refutes it, and beyond that it is unknown, but where sizes do not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import prod
from typing import Final

from hloproof.claims.layouts.bitcasts import bitcast_claims, same_positions
from hloproof.claims.layouts.claims import ClaimedLayout, claims
from hloproof.claims.layouts.formats import is_format
from hloproof.claims.layouts.judge import judge, named
from hloproof.engines.door import Prove
from hloproof.logic.formula import conj, eq, ne
from hloproof.logic.obligation import Obligation
from hloproof.logic.replay import careful
from hloproof.models.errors import NotModelled
from hloproof.models.expressions.evaluate import evaluate
from hloproof.models.expressions.expr import Binary, Const, postorder, to_text
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.hlo.text.shapes import print_shape
from hloproof.models.layouts.memory_size import (
    check_no_metadata,
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
from hloproof.models.specs.layouts import LayoutSpec
from hloproof.results.verdict import Found, Verdict

_LOOKED_THROUGH: Final = 4096
"""Arrays of at most so many elements are looked through for what lies at a position said to be padding."""
SAMPLED_SIZES: Final = (1, 2, 3, 5, 130, 17)
"""Sizes that a format is tried at: each for all of its `?`, and each next to the one after it."""


Judge = Callable[[str, LayoutSpec, ArrayShape, Prove], Iterator[Found]]
"""From the word, the entry, its shape without `?` and the engines to what is wrong or open; nothing where it holds."""


def judge_clauses(spec: LayoutSpec, shape: ArrayShape, prove: Prove) -> Iterator[Found]:
    """Every clause of the entry, judged: what is wrong or open of each, nothing where all hold."""
    prove = careful(prove)
    for word in dict.fromkeys(spec.said):
        if word not in JUDGES:
            yield Found(Verdict.UNKNOWN, reason=f"nothing judges the clause `{word}`")
        elif is_format(shape) and word not in SIZELESS:
            yield from _at_sampled_sizes(word, spec, shape, prove)
        else:
            yield from _judged(word, spec, shape, prove)


def _judged(word: str, spec: LayoutSpec, shape: ArrayShape, prove: Prove) -> Iterator[Found]:
    try:
        yield from JUDGES[word](word, spec, shape, prove)
    except NotModelled as error:
        yield Found(Verdict.UNKNOWN, reason=f"the clause `{word}`: not modelled: {error}")


def _at_sampled_sizes(word: str, spec: LayoutSpec, shape: ArrayShape, prove: Prove) -> Iterator[Found]:
    for sizes in _samples(sum(n < 0 for n in shape.dimensions)):
        one = _sized(shape, sizes)
        try:
            others = {
                "same": tuple(_sized(s, sizes) for s in spec.same),
                "bitcasts": tuple(_sized(s, sizes) for s in spec.bitcasts),
            }
        except ValueError:
            break
        sized = replace(spec, same=others["same"], bitcasts=others["bitcasts"])
        for found in _judged(word, sized, one, prove):
            if found.verdict is Verdict.REFUTED:
                where = f"of {print_shape(one)}, one size of the format: {found.counterexample}"
                yield replace(found, counterexample=where)
                return
    reason = f"the clause `{word}` is about every size of {print_shape(shape)}, and is judged for given sizes only"
    yield Found(Verdict.UNKNOWN, reason=reason)


def _samples(free: int) -> Iterator[tuple[int, ...]]:
    for k, size in enumerate(SAMPLED_SIZES):
        yield (size,) * free
        if free > 1:
            yield tuple(SAMPLED_SIZES[(k + i) % len(SAMPLED_SIZES)] for i in range(free))


def _sized(shape: ArrayShape, sizes: tuple[int, ...]) -> ArrayShape:
    """The shape with these sizes for its `?`, in order. Raises ValueError where it has another number of them."""
    if not is_format(shape):
        return shape
    left = list(sizes)
    if sum(n < 0 for n in shape.dimensions) != len(left):
        raise ValueError("another number of open sizes")
    return replace(shape, dimensions=tuple(n if n >= 0 else left.pop(0) for n in shape.dimensions), dynamic=())


def _wrong(word: str, told: str) -> Found:
    return Found(Verdict.REFUTED, counterexample=told)


# --- numbers and sizes -------------------------------------------------------------------------------------------

_MEASURED: Final[dict[str, Callable[[ArrayShape], int | None]]] = {
    "padded": padded_elements,
    "padding": padding_elements,
    "element-bits": element_bits,
    "data-bytes": data_bytes,
    "bytes": transfer_bytes,
    "xla-bytes": upstream_bytes,
    "parts": part_count,
}
_OF_MEMORY: Final = frozenset({"bytes", "xla-bytes"})
"""Clauses that count what lies before the data, too."""
_SIZES: Final[dict[str, Callable[[ArrayShape], tuple[int, ...]]]] = {
    "physical": physical_dimensions,
    "tiled": expanded_dimensions,
}
SIZELESS: Final = frozenset({"element-bits"})
"""Clauses whose number is the same for all sizes of a format."""


def _number(word: str, spec: LayoutSpec, shape: ArrayShape, prove: Prove) -> Iterator[Found]:
    if word in _OF_MEMORY:
        check_no_metadata(shape)
    if word == "bytes" and shape.is_dynamic:  # XLA's ArraySize, `xla-bytes`, leaves them out
        raise NotModelled("bytes of memory with the sizes of dynamic dimensions beside the data")
    measured, said = _MEASURED[word](shape), dict(spec.numbers)[word]
    if measured is None:
        raise NotModelled("a size that XLA does not define")
    if measured != said:
        yield _wrong(word, f"{word} is {measured}, not {said}")


def _listed_sizes(word: str, spec: LayoutSpec, shape: ArrayShape, prove: Prove) -> Iterator[Found]:
    measured, said = _SIZES[word](shape), dict(spec.sizes)[word]
    if measured != said:
        yield _wrong(word, f"{word} is {list(measured)}, not {list(said)}")


# --- places ------------------------------------------------------------------------------------------------------


def _positions(word: str, spec: LayoutSpec, shape: ArrayShape, prove: Prove) -> Iterator[Found]:
    said = spec.positions
    if word == "positions":
        table = spec.table or ()
        if len(table) != shape.elements:
            yield _wrong(word, f"positions has {len(table)} numbers for {shape.elements} elements")
        said = tuple((_row_major(k, shape), p) for k, p in enumerate(table[: shape.elements]))
    for index, place in said:
        if _outside(index, spec, shape):
            yield _wrong(word, f"{list(index)} is no index of {print_shape(shape)}")
            continue
        for reading, found in both_readings(shape, index):
            if found != place:
                yield _wrong(word, f"element {list(index)} lies at position {found} by {reading}, not {place}")


def _outside(index: tuple[int, ...], spec: LayoutSpec, shape: ArrayShape) -> bool:
    """There is no such element; of a format, at none of its sizes."""
    sizes = (shape if spec.shape is None else spec.shape).dimensions
    return len(index) != len(sizes) or any(e >= n >= 0 for e, n in zip(index, sizes, strict=True))


def _bits(word: str, spec: LayoutSpec, shape: ArrayShape, prove: Prove) -> Iterator[Found]:
    check_no_metadata(shape)
    for index, bit in spec.bits:
        if _outside(index, spec, shape):
            yield _wrong(word, f"{list(index)} is no index of {print_shape(shape)}")
            continue
        for reading, found in both_readings(shape, index):
            begin = found * element_bits(shape)
            if begin != bit:
                yield _wrong(word, f"element {list(index)} begins at bit {begin} by {reading}, not {bit}")


def _at(word: str, spec: LayoutSpec, shape: ArrayShape, prove: Prove) -> Iterator[Found]:
    if part_count(shape) > 1:
        raise NotModelled("what lies at a position, in an array that is split over memories")
    for place, held in spec.at:
        inside = place < padded_elements(shape)
        found = index_of(shape, place)
        if found != held or not inside:
            said_to = "be padding" if held is None else f"hold {list(held)}"
            yield _wrong(word, f"position {place} {_content(found, inside)}, and is said to {said_to}")
        elif held is not None:
            for reading, there in both_readings(shape, held):
                if there != place:
                    yield _wrong(word, f"position {place} is said to hold {list(held)}, at {there} by {reading}")
        elif shape.elements <= _LOOKED_THROUGH:
            for k in range(shape.elements):
                index = _row_major(k, shape)
                for reading, there in both_readings(shape, index):
                    if there == place:
                        yield _wrong(word, f"position {place} holds {list(index)} by {reading}, and is not padding")


def _content(index: tuple[int, ...] | None, inside: bool) -> str:
    if not inside:
        return "is outside of the memory"
    return "is padding" if index is None else f"holds {list(index)}"


def _row_major(k: int, shape: ArrayShape) -> tuple[int, ...]:
    index: list[int] = []
    for n in reversed(shape.dimensions):
        k, e = divmod(k, n)
        index.append(e)
    return tuple(reversed(index))


def both_readings(shape: ArrayShape, index: tuple[int, ...]) -> Iterator[tuple[str, int]]:
    """The position of an element by each reading. Raises NotModelled for an index outside of the shape."""
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


# --- the formula, and other layouts ------------------------------------------------------------------------------


def _formula(word: str, spec: LayoutSpec, shape: ArrayShape, prove: Prove) -> Iterator[Found]:
    formula = spec.formula
    assert formula is not None
    if formula.ranges or formula.runtime or formula.constraints or formula.replica is not None:
        raise NotModelled("a formula that is not one position for every element")
    domain = [v.interval for v in formula.dims]
    if domain != [Interval.of_size(n) for n in shape.dimensions]:
        said = ", ".join(f"[{i.lower}, {i.upper}]" for i in domain) or "one point"
        yield _wrong(word, f"the domain of the formula is {said}, and not the indices of {print_shape(shape)}")
        return
    wanted = 1 if part_count(shape) == 1 else 2
    if len(formula.results) != wanted:
        yield _wrong(word, f"the formula has {len(formula.results)} results, and a position is {wanted} numbers")
        return
    undefined = list(_undefined(word, formula, prove))
    yield from undefined
    if undefined:
        return
    own = ClaimedLayout.by_formula(shape)
    if wanted > 1:  # no second reading is at hand: the formula is held against the tool's own
        alike = conj(*(eq(e, f) for e, f in zip(formula.results, own.position.results, strict=True)))
        outcome = prove(Obligation(tuple(formula.intervals()), alike, label="the formula is the layout's"))
        at = ", ".join(f"{n} = {v}" for n, v in outcome.model)
        told = f"at {at} the formula leads elsewhere than the layout" if outcome.verdict == "refuted" else None
        yield Found(Verdict(outcome.verdict), outcome.engines, told, outcome.reason or None)
    yield from named(judge(claims(replace(own, position=formula)), prove))


def _undefined(word: str, formula: IndexingMap, prove: Prove) -> Iterator[Found]:
    """Divisors that may be zero somewhere in the domain, or are not shown not to be."""
    box = tuple(formula.intervals())
    for e in formula.results:
        for node in postorder(e):  # what a divisor is made of comes before it
            if not isinstance(node, Binary) or node.op not in ("floordiv", "ceildiv", "mod"):
                continue
            if isinstance(node.rhs, Const) and node.rhs.value:
                continue
            outcome = prove(Obligation(box, ne(node.rhs, 0), label="the divisor is not zero"))
            if outcome.verdict == "refuted":
                at = ", ".join(f"{n} = {v}" for n, v in outcome.model) or "every index"
                yield _wrong(word, f"the formula divides by zero: {to_text(node.rhs)} is 0 at {at}")
                return
            if outcome.verdict != "proved":
                reason = f"the clause `{word}`: that {to_text(node.rhs)} is not zero is not shown"
                yield Found(Verdict(outcome.verdict), outcome.engines, reason=reason)
                return


def _same(word: str, spec: LayoutSpec, shape: ArrayShape, prove: Prove) -> Iterator[Found]:
    for other in spec.same:
        yield from named(judge([same_positions(shape, other)], prove))


def _bitcast(word: str, spec: LayoutSpec, shape: ArrayShape, prove: Prove) -> Iterator[Found]:
    for other in spec.bitcasts:
        yield from named(judge(bitcast_claims(shape, other), prove))


JUDGES: Final[dict[str, Judge]] = {
    **dict.fromkeys(_MEASURED, _number),
    **dict.fromkeys(_SIZES, _listed_sizes),
    "position": _positions,
    "positions": _positions,
    "bit": _bits,
    "at": _at,
    "formula": _formula,
    "same": _same,
    "bitcast": _bitcast,
}
"""Which function judges a clause, by its word."""
