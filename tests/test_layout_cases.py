"""Facts about shapes and layouts from XLA's own tests, where the material lies beside the project."""

from __future__ import annotations

import json
from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import Any

import pytest

from hloproof.models.errors import InputError
from hloproof.models.hlo.shape import ELEMENT_BITS, ArrayShape, Layout, Shape, SplitConfig, Tile, leaves
from hloproof.models.hlo.text.lexer import Scanner
from hloproof.models.hlo.text.shapes import parse_shape, print_layout, print_shape, read_layout
from hloproof.models.layouts.bitcast import (
    aligned_layout,
    decompose,
    is_decomposable,
    reshape_is_bitcast,
    transpose_of_bitcast,
)
from hloproof.models.layouts.memory_size import padded_elements, upstream_bytes
from hloproof.models.layouts.physical import default_layout, max_split_size
from hloproof.models.layouts.tiling import index_of, position_of, stages

CASES = Path(__file__).parents[1].parent / "shared" / "cases" / "layout.jsonl"
pytestmark = pytest.mark.skipif(not CASES.exists(), reason="the extracted cases are not beside the project")

Case = dict[str, Any]


def cases() -> list[Case]:
    if not CASES.exists():
        return []
    return [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]


def array(text: Any) -> ArrayShape:
    shape = parse_shape(text)
    assert isinstance(shape, ArrayShape)
    return shape


def with_default_layouts(text: str) -> str:
    """The text with the layouts that XLA fills in where none is written."""
    shape = parse_shape(text)
    if isinstance(shape, ArrayShape) and shape.rank and shape.layout is None:
        return print_shape(shape) + print_layout(default_layout(shape.rank))
    if not isinstance(shape, ArrayShape) and len(found := list(leaves(shape))) > 1:
        return "(" + ", ".join(with_default_layouts(print_shape(s)) for _, s in found) + ")"
    return print_shape(shape)


def layout(text: str) -> Layout:
    order = text.strip("{}").partition(":")[0]
    return read_layout(Scanner(text), len(order.split(",")) if order else 0)


def byte_size(shape: Shape) -> int:
    return sum(upstream_bytes(leaf) or 0 for _, leaf in leaves(shape) if isinstance(leaf, ArrayShape))


def reading(text: str) -> str:
    try:
        return "ok" if parse_shape(text) else ""
    except InputError as error:
        assert error.render().endswith("^")
        return "error"


FACTS: dict[str, Callable[..., Any]] = {
    "ParseShape": with_default_layouts,
    "ValidateLayoutInShape": lambda text, _: reading(text),
    "LinearIndexForNestedTiling": lambda text, index: position_of(array(text), index),
    "DelinearizeIndexForNestedTiling": lambda text, position: list(index_of(array(text), position) or ()),
    "ByteSizeOf": lambda text: byte_size(parse_shape(text)),
    "ByteSizeOfElementsRecursive": lambda text: byte_size(parse_shape(text)),
    "ByteSizeOfPrimitiveType": lambda name: -(-ELEMENT_BITS[name] // 8),
    "ArraySize": lambda text: upstream_bytes(array(text)),
    "ArrayDataSize": lambda text: upstream_bytes(array(text)),
    "MaxSplitSize": lambda text, k: max_split_size(array(text), k),
    "MaxElementsInPerSplit": lambda text: padded_elements(array(text)),
    "ElementsIn": lambda text: array(text).elements,
    "tile_bounds": lambda text: {
        "tile_counts": list(stages(array(text))[0].counts),
        "tile": list(stages(array(text))[0].sizes),
    },
    "ReshapeIsBitcast": lambda one, two, *_: reshape_is_bitcast(array(one), array(two)),
    "IsReshapeOrTransposeBitcast": lambda one, two: (
        reshape_is_bitcast(array(one), array(two)) or transpose_of_bitcast(array(one), array(two)) is not None
    ),
    "DeduceTransposeDimensionsForBitcast": lambda one, two: list(transpose_of_bitcast(array(one), array(two)) or ()),
    "AlignLayouts": lambda one, two: aligned_layout(array(one), array(two).dimensions) is not None,
    "AlignLayouts.minor_to_major": lambda one, two: list(aligned_layout(array(one), array(two).dimensions) or ()),
    "IsDecomposableBitcast": lambda one, two: is_decomposable(array(one), array(two)),
    "DecomposeBitcast": lambda one, two: {"has_value": is_decomposable(array(one), array(two))},
    "DecomposeBitcast is BitcastDecompositionReshape": lambda one, two: reshape_is_bitcast(array(one), array(two)),
    "DecomposeBitcast is BitcastDecompositionTrt": lambda one, two: (
        not reshape_is_bitcast(array(one), array(two)) and transpose_of_bitcast(array(one), array(two)) is None
    ),
    "DecomposeBitcast.transpose1_dims": lambda one, two: list(decompose(array(one), array(two)).first),
    "DecomposeBitcast.transpose2_dims": lambda one, two: list(decompose(array(one), array(two)).second),
    "DecomposeBitcast.transpose1_shape": lambda one, two: print_shape(decompose(array(one), array(two)).flattened),
    "DecomposeBitcast.reshape_shape": lambda one, two: print_shape(decompose(array(one), array(two)).reshaped),
    "DecomposeBitcast.IsTranspose1Identity": lambda one, two: _is_identity(decompose(array(one), array(two)).first),
    "DecomposeBitcast.IsTranspose2Identity": lambda one, two: _is_identity(decompose(array(one), array(two)).second),
}
"""What the facts of the cases are called there, and how they are computed here. (Editing of shapes and compatibility of
element types are not this project's business.)"""


def _is_identity(permutation: tuple[int, ...]) -> bool:
    return permutation == tuple(range(len(permutation)))


def facts() -> list[Case]:
    return [c for c in cases() if c.get("fn") in FACTS and all(not isinstance(a, dict) for a in c["args"])]


@pytest.mark.parametrize("case", facts(), ids=lambda c: c["id"])
def test_fact(case: Case) -> None:
    if "expected_error" in case or case["expected"] == "error":
        assert reading(case["args"][0]) == "error"
    elif case["kind"] == "parse":
        assert reading(case["args"][0]) == reading(case["text"]) == "ok"
        assert parse_shape(case["text"]) == parse_shape(case["args"][0])
    else:
        assert FACTS[case["fn"]](*case["args"]) == case["expected"]


@pytest.mark.parametrize("case", [c for c in cases() if c["kind"] == "print"], ids=lambda c: c["id"])
def test_printed_exactly(case: Case) -> None:
    f = case["fields"]
    assert not (f["split_configs"] or f["physical_shape"] or f["index_type"] or f["pointer_type"])
    made = Layout(
        tuple(f["minor_to_major"]),
        tuple(Tile(tuple(t)) for t in f["tiles"] or ()),
        f["L"] or 0,
        f["E"] or 0,
        f["S"] or 0,
        dynamic_prefix_bytes=f["M"] or 0,
    )
    assert print_layout(made) == case["expected"]
    assert layout(case["expected"]) == made


@pytest.mark.parametrize("case", [c for c in cases() if c["kind"] in ("equal", "not_equal")], ids=lambda c: c["id"])
def test_equality(case: Case) -> None:
    assert (layout(case["lhs"]) == layout(case["rhs"])) is (case["kind"] == "equal")


def test_most_cases_that_concern_layouts_are_here() -> None:
    assert len(facts()) >= 75


def test_combined_dimensions() -> None:
    (case,) = [c for c in cases() if c["kind"] == "doc_claim_combine"]
    combined = array(case["input"][:-1] + f":T{case['tile']}}}")
    assert stages(combined)[0].joined == array(case["expected_combined"]).dimensions
    assert prod(stages(combined)[0].sizes) == 6


def test_split_configs_follow_the_order_of_memory() -> None:
    """Deleting logical dimension 0 of {2,0,1:SC(0:10)(1:20)(2:30)} takes away the split called 1: the second most major
    dimension. So a split is named by its place in memory."""
    (case,) = [c for c in cases() if c["id"].endswith("DeleteDimensionUpdatesSplitConfigs.4")]
    found = layout(case["args"][0])
    place = found.minor_to_major[::-1].index(0)
    kept = [c for c in found.split_configs if c.dimension != place]
    assert list(kept[case["args"][1]].split_indices) == case["expected"]
    assert kept[0] == SplitConfig(0, (10,))
