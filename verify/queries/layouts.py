"""Everything about the memory of a shape, as data: what `hloproof layout` prints and the server answers."""

from __future__ import annotations

from functools import partial
from typing import Any

from hloproof.claims.layouts.bitcasts import bitcast_claims, same_positions
from hloproof.claims.layouts.claims import ClaimedLayout, claims
from hloproof.claims.layouts.contiguity import judged_runs
from hloproof.claims.layouts.formats import format_claims, is_format
from hloproof.claims.layouts.judge import JudgedClaim, judge
from hloproof.engines.door import HOW, How, prove_one
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.shape import ArrayShape, BufferShape, Shape, leaves
from hloproof.models.hlo.text.shapes import parse_shape, print_shape
from hloproof.models.layouts.bitcast import decompose, is_decomposable
from hloproof.models.layouts.memory_size import (
    bit_offset,
    data_bytes,
    element_bits,
    padded_elements,
    padding_elements,
    padding_share,
    transfer_bytes,
    upstream_bytes,
)
from hloproof.models.layouts.physical import part_count, part_of, physical_dimensions
from hloproof.models.layouts.tiling import expanded_dimensions, index_map, index_of, position_map, position_of
from hloproof.results.results import worst
from hloproof.results.verdict import Verdict

LayoutAnswer = dict[str, Any]


def answer(
    text: str, index: tuple[int, ...] | None = None, linear_index: int | None = None, how: How = HOW
) -> LayoutAnswer:
    """Facts, the position of `index`, what lies at `linear_index`, and the claims with their verdicts.

    A tuple is answered leaf by leaf. Raises InputError for a text that is no shape, ValueError for an index outside of
    it, LookupError for a shape without memory of its own.
    """
    shape = parse_shape(text)
    arrays = [(path, array) for path, leaf in leaves(shape) if (array := _array(leaf)) is not None]
    if isinstance(shape, ArrayShape | BufferShape):
        return {"shape": print_shape(shape), **_array_answer(arrays[0][1], index, linear_index, how)}
    if not arrays:
        raise LookupError(f"{print_shape(shape)} has no elements in memory")
    if index is not None or linear_index is not None:
        raise LookupError("an index needs an array, and this is a tuple")
    found = [{"path": list(path), **_array_answer(a, None, None, how)} for path, a in arrays]
    return {
        "shape": print_shape(shape),
        "leaves": found,
        "elements": sum(f["elements"] for f in found),
        "padding": sum(f["padding"] for f in found),
        "verdict": str(worst(Verdict(f["verdict"]) for f in found)),
        "obligations": [],
    }


def _array(leaf: Shape) -> ArrayShape | None:
    if isinstance(leaf, BufferShape):
        return leaf.inner
    return leaf if isinstance(leaf, ArrayShape) else None


def _array_answer(shape: ArrayShape, index: tuple[int, ...] | None, linear_index: int | None, how: How) -> LayoutAnswer:
    assumptions = [] if shape.layout is not None else ["no layout is given: row-major, without tiles"]
    if shape.is_dynamic and not is_format(shape):
        assumptions.append("dynamic dimensions take the space of their bound")
    if shape.layout is not None and shape.layout.dynamic_prefix_bytes:
        prefix = shape.layout.dynamic_prefix_bytes
        assumptions.append(f"bytes and bits count from the data on, behind {prefix} bytes of metadata, M({prefix})")
    try:
        facts = format_facts(shape) if is_format(shape) else facts_of(shape)
        owed = format_claims(shape) if is_format(shape) else claims(ClaimedLayout.by_formula(shape))
    except NotModelled as error:
        return {
            "physical_dimensions": None,
            "elements": None,
            "padding": None,
            "verdict": "unknown",
            "reason": f"not modelled: {error}",
            "obligations": [],
            "assumptions": assumptions,
        }
    prove = partial(prove_one, how=how)
    judged = judge(owed, prove)
    if not is_format(shape):
        runs = judged_runs(shape, prove)
        facts["contiguous"] = [
            {"dimension": r.dimension, "run": r.length, "stride": r.stride, "bits": r.bits(element_bits(shape))}
            for r, _ in runs
        ]
        judged = (*judged, *(j for _, j in runs))
    return {
        **facts,
        **_places(shape, index, linear_index),
        "verdict": str(worst(j.found.verdict for j in judged)),
        "obligations": [as_json(j) for j in judged],
        "assumptions": assumptions,
    }


def as_json(j: JudgedClaim) -> dict[str, Any]:
    """A claim about a layout as JSON; `ms` in milliseconds."""
    return {
        "claim": j.claim.name,
        "statement": j.claim.statement,
        "verdict": str(j.found.verdict),
        "engines": list(j.found.engines),
        "ms": round(j.found.ms, 3),
        "goals": j.goals,
        "counterexample": j.found.counterexample,
        "reason": j.found.reason,
    }


def format_facts(shape: ArrayShape) -> LayoutAnswer:
    """What can be said of all sizes."""
    return {"physical_dimensions": None, "elements": None, "padding": None, "element_bits": element_bits(shape)}


def facts_of(shape: ArrayShape) -> LayoutAnswer:
    """Sizes and counts. Raises NotModelled."""
    share = padding_share(shape)
    return {
        "physical_dimensions": list(physical_dimensions(shape)),
        "tiled_dimensions": list(expanded_dimensions(shape)),
        "elements": shape.elements,
        "padded_elements": padded_elements(shape),
        "parts": part_count(shape),
        "padding": padding_elements(shape),
        "padding_share": round(float(share), 6),
        "replication": 1,  # a position is a function of the index: every element lies once, whatever the layout
        "element_bits": element_bits(shape),
        "data_bytes": data_bytes(shape),
        "transfer_bytes": transfer_bytes(shape),
        "upstream_bytes": upstream_bytes(shape),
    }


def _places(shape: ArrayShape, index: tuple[int, ...] | None, linear_index: int | None) -> LayoutAnswer:
    out: LayoutAnswer = {}
    if (index is not None or linear_index is not None) and is_format(shape):
        raise LookupError("positions need all sizes, and this shape has a `?`")
    if index is not None:
        if len(index) != shape.rank:
            raise ValueError(f"an index of {len(index)} numbers for a shape of rank {shape.rank}")
        out["linear_index"] = position_of(shape, index)
        out["bit_offset"] = bit_offset(shape, index)
        out["index"] = list(index)
        if part_count(shape) > 1:
            out["part"] = part_of(shape, index)
    if linear_index is not None:
        if not 0 <= linear_index < padded_elements(shape):
            raise ValueError(f"position {linear_index} is outside of the memory, [0, {padded_elements(shape)})")
        found = index_of(shape, linear_index)
        at = {"linear_index": linear_index, "index": None if found is None else list(found), "padding": found is None}
        if index is None:
            out |= {"linear_index": linear_index, "index": at["index"]}
        out["at"] = at
    return out


def maps_of(text: str) -> LayoutAnswer:
    """The position as an indexing map of the index, and the index as one of the position, simplified and the
    simplification proved. Raises InputError, LookupError for what is no array, NotModelled."""
    from hloproof.claims.maps.simplified import simplified
    from hloproof.models.maps.text import print_map

    shape = _array(parse_shape(text))
    if shape is None:
        raise LookupError("maps are those of one array")
    out: LayoutAnswer = {}
    verdicts = []
    for name, build in (("index-to-position", position_map), ("position-to-index", index_map)):
        try:
            found = simplified(build(shape))
        except NotModelled as error:
            out[name] = f"not modelled: {error}"
            continue
        verdicts.append(found.found.verdict)
        out[name] = print_map(found.map)
    return {**out, "verdict": str(worst(verdicts))}


def compared(one: str, two: str, how: How = HOW) -> LayoutAnswer:
    """Two shapes with layouts: whether every element has the same position in both (where their sizes agree), and
    whether a bitcast from one to the other is right, as the claim has it. The verdict is that of both.

    Raises InputError, and LookupError for what is no array.
    """
    shapes = [parse_shape(text) for text in (one, two)]
    operand, result = [_array(s) for s in shapes]
    if operand is None or result is None:
        raise LookupError("two arrays can be compared, not tuples or tokens")
    prove = partial(prove_one, how=how)
    same = operand.dimensions == result.dimensions
    try:
        positions = judge([same_positions(operand, result)] if same else [], prove)
        moved = judge(bitcast_claims(operand, result), prove)
    except NotModelled as error:
        reason = f"not modelled: {error}"
        return {"shape": print_shape(shapes[1]), "verdict": "unknown", "reason": reason, "obligations": []}
    out: LayoutAnswer = {
        "shape": print_shape(shapes[1]),
        "verdict": str(worst(j.found.verdict for j in (*positions, *moved))),
        "bitcast": str(worst(j.found.verdict for j in moved)),
        "obligations": [as_json(j) for j in positions]
        + [{**as_json(j), "claim": f"bitcast-{j.claim.name}"} for j in moved],
    }
    if is_decomposable(operand, result):
        d = decompose(operand, result)
        out["decomposition"] = {
            "first": list(d.first),
            "flattened": print_shape(d.flattened),
            "reshaped": print_shape(d.reshaped),
            "second": list(d.second),
        }
    return out
