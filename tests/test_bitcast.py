"""Bitcasts: legal or refuted with the element that lands elsewhere; taken apart as XLA does."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from random import Random

import pytest
from test_tiling import random_shape

from hloproof.claims.layouts.bitcasts import bitcast_claims, same_positions
from hloproof.claims.layouts.judge import judge
from hloproof.claims.layouts.owed import owed_layout
from hloproof.engines.portfolio import prove
from hloproof.models.errors import NotModelled
from hloproof.models.expressions.evaluate import evaluate
from hloproof.models.expressions.expr import Const, Expr
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.shape import ArrayShape, Layout
from hloproof.models.hlo.text.shapes import parse_shape, print_shape
from hloproof.models.interpreter.maps import relation
from hloproof.models.layouts.bitcast import (
    aligned_layout,
    common_factors,
    decompose,
    is_decomposable,
    reshape_is_bitcast,
    same_bits_map,
    transpose_of_bitcast,
)
from hloproof.models.layouts.memory_size import bit_offset, element_bits, padded_elements
from hloproof.models.layouts.pad_reshape_transpose import memory
from hloproof.models.layouts.tiling import delinearize, linear_index
from hloproof.models.maps.indexing_map import IndexingMap, boxed, dim
from hloproof.results.verdict import Verdict


def array(text: str) -> ArrayShape:
    shape = parse_shape(text)
    assert isinstance(shape, ArrayShape)
    return shape


LEGAL = [
    ("f32[3,4]{1,0}", "f32[6,2]{1,0}"),
    ("f32[3,4]{1,0}", "f32[4,3]{0,1}"),
    ("f32[3,2,2]{1,0,2}", "f32[6,2]{0,1}"),
    ("f32[7]{0:T(8)}", "f32[8]{0:T(8)}"),  # one side has more, and what it has beyond is padding on the other
    ("f32[8]{0:T(8)}", "f32[7]{0:T(8)}"),
    ("bf16[16,1023,1025]{2,1,0:T(8,128)(2,1)}", "bf16[16,1024,1025]{2,1,0:T(8,128)(2,1)}"),
    ("f32[16,8,128]{2,1,0:T(8,128)}", "f32[128,128]{1,0:T(8,128)}"),
    ("f32[8,128]{1,0:T(8,128)}", "f32[8,128]{1,0}"),
    ("bf16[4,2]", "f32[4]"),  # equal bits, other element sizes
    ("f32[4]", "bf16[4,2]"),
    ("s4[4]{0:E(4)}", "s8[2]"),
    ("bf16[6]{0:T(8)}", "f32[4]"),
    ("s4[4]", "s8[4]"),  # without E(4) an s4 takes a byte
    ("f32[0,3]", "f32[5,0]"),
    ("f32[]", "f32[1,1]"),
]
ILLEGAL = [
    (
        "f32[3,5]{1,0:T(2,2)}",
        "f32[5,3]{1,0:T(2,2)}",
        "kept",
        "element [0, 3] of the operand f32[3,5]{1,0:T(2,2)} lies at position 5 of the result, where no element is",
    ),
    (
        "f32[3,8]{1,0:T(4,8)}",
        "f32[4,7]{1,0:T(4,8)}",
        "kept",
        "element [0, 7] of the operand f32[3,8]{1,0:T(4,8)} lies at position 7 of the result, where no element is",
    ),
    ("s4[4]", "s8[2]", "same-size", "s4[4] takes 32 bits of memory, s8[2] takes 16"),
    (
        "f32[3,5]{1,0:T(2,2)}",
        "f32[3,5]",
        "same-size",
        "f32[3,5]{1,0:T(2,2)} takes 768 bits of memory, f32[3,5] takes 480",
    ),
    (
        "bf16[3]{0:T(4)}",
        "f32[2]",
        "whole",
        "element [1] of the result lies on position 2 of the operand, an element, and on 3, where no element is",
    ),
]


@pytest.mark.parametrize(("operand", "result"), LEGAL)
def test_legal(operand: str, result: str) -> None:
    found = judge(bitcast_claims(array(operand), array(result)), prove)
    assert {j.found.verdict for j in found} == {Verdict.PROVED}


@pytest.mark.parametrize(("operand", "result", "claim", "counterexample"), ILLEGAL)
def test_illegal(operand: str, result: str, claim: str, counterexample: str) -> None:
    found = judge(bitcast_claims(array(operand), array(result)), prove)
    refuted = [(j.claim.name, j.found.counterexample) for j in found if j.found.verdict is Verdict.REFUTED]
    assert (claim, counterexample) in refuted


def test_what_a_map_says_is_checked() -> None:
    """f32[2,3] to f32[3,2], both row-major, is a reshape and no transpose."""
    operand, result = array("f32[2,3]{1,0}"), array("f32[3,2]{1,0}")
    place = dim(0) * 2 + dim(1)
    right = IndexingMap(boxed((3, 2)), (place // 3, place % 3))
    wrong = IndexingMap(boxed((3, 2)), (dim(1), dim(0)))
    assert {j.found.verdict for j in judge(bitcast_claims(operand, result, [right]), prove)} == {Verdict.PROVED}
    (refuted,) = [
        j for j in judge(bitcast_claims(operand, result, [wrong]), prove) if j.found.verdict is Verdict.REFUTED
    ]
    assert refuted.found.counterexample == (
        "result [0, 1] lies at position 1, and operand [1, 0], which it is said to be, at position 3"
    )


@pytest.mark.parametrize(
    ("operand", "result", "right", "wrong"),
    [
        ("u32[4]", "u8[4,4]", (dim(0),), (dim(1),)),
        ("u16[6]", "u8[2,6]", (dim(0) * 3 + dim(1) // 2,), (dim(0) * 6 + dim(1),)),
    ],
)
def test_a_map_names_the_element_of_which_a_part_lies_there(
    operand: str, result: str, right: tuple[Expr, ...], wrong: tuple[Expr, ...]
) -> None:
    one, two = array(operand), array(result)
    for said, verdict in ((right, Verdict.PROVED), (wrong, Verdict.REFUTED)):
        named = bitcast_claims(one, two, [IndexingMap(boxed(two.dimensions), said)])[-1]
        (found,) = judge([named], prove)
        assert (found.claim.name, found.found.verdict) == ("said-to-be", verdict)
    # The other way round, any part of the element will do: here the last one.
    last = (dim(0), Const(3)) if operand == "u32[4]" else (dim(0) // 3, dim(0) % 3 * 2 + 1)
    for said, verdict in ((last, Verdict.PROVED), ((dim(0) * 0, dim(0) * 0), Verdict.REFUTED)):
        named = bitcast_claims(two, one, [IndexingMap(boxed(one.dimensions), said)])[-1]
        (found,) = judge([named], prove)
        assert (found.claim.name, found.found.verdict) == ("said-to-be", verdict)


def test_not_modelled() -> None:
    with pytest.raises(NotModelled, match="split"):
        bitcast_claims(array("f32[8]{0:SC(0:3)}"), array("f32[8]"))
    for split, plain in (("f32[8]{0:SC(0:3)}", "f32[8]"), ("f32[8]", "f32[8]{0:SC(0:3)}")):
        with pytest.raises(NotModelled, match="split over memories"):
            same_positions(array(split), array(plain))
    with pytest.raises(NotModelled, match="5 and 8 bits"):
        judge(bitcast_claims(array("s4[8]{0:E(5)}"), array("s8[5]")), prove)


def test_two_layouts_of_one_shape() -> None:
    (same,) = judge([same_positions(array("f32[4,1]{1,0}"), array("f32[4,1]{0,1}"))], prove)
    assert same.found.verdict is Verdict.PROVED
    (other,) = judge([same_positions(array("f32[3,5]{1,0:T(2,2)}"), array("f32[3,5]"))], prove)
    assert other.found.counterexample == (
        "element [0, 2] lies at position 4 in f32[3,5]{1,0:T(2,2)}, at position 2 in f32[3,5]"
    )


def test_owed_by_instructions() -> None:
    bad = Operation("bitcast", array("f32[5,3]{1,0:T(2,2)}"), (array("f32[3,5]{1,0:T(2,2)}"),))
    layout, bitcast = owed_layout(bad)
    assert [(o.claim, o.subject) for o in (layout, bitcast)] == [("layout", "output"), ("bitcast", "operand to output")]
    assert {prove(o).verdict for o in layout.obligations()} == {"proved"}
    refuted = [(o, found) for o in bitcast.obligations() if (found := prove(o)).verdict == "refuted"]
    assert refuted
    obligation, outcome = refuted[0]
    assert "where no element is" in bitcast.describe(dict(outcome.model), obligation)
    unwritten = Operation("bitcast", array("f32[6]"), (array("f32[2,3]"),))
    (only,) = owed_layout(unwritten)
    assert only.assumptions == ("no layout is written: row-major, without tiles",)
    assert {prove(o).verdict for o in only.obligations()} == {"proved"}
    assert owed_layout(Operation("add", array("f32[6]"), ())) == ()


def test_layouts_of_dynamic_and_unbounded_arrays() -> None:
    (dynamic,) = owed_layout(Operation("parameter", array("f32[<=3,5]{1,0}"), ()))
    assert dynamic.assumptions == ("dynamic dimensions take the space of their bound",)
    assert {prove(o).verdict for o in dynamic.obligations()} == {"proved"}
    (unbounded,) = owed_layout(Operation("parameter", array("f32[?,5]{1,0:T(8,128)}"), ()))
    assert unbounded.assumptions == ()
    assert {prove(o).verdict for o in unbounded.obligations()} == {"proved"}
    with pytest.raises(NotModelled):
        owed_layout(Operation("parameter", array("f32[?,5]{1,0:L(3)}"), ()))[0].obligations()
    with pytest.raises(NotModelled, match="sparse"):
        owed_layout(Operation("parameter", array("f32[8,8]{1,0:D(D,C)}"), ()))[0].obligations()


# Taken apart


@pytest.mark.parametrize(
    ("operand", "result", "first", "flattened", "reshaped", "second"),
    [
        (
            "f32[16,17,3,7]{3,2,1,0}",
            "f32[7,16,51]{0,2,1}",
            (0, 1, 2, 3),
            "f32[16,17,3,7]{3,2,1,0}",
            "f32[16,51,7]{2,1,0}",
            (2, 0, 1),
        ),
        ("f32[16,3,17]{1,2,0}", "f32[51,16]{1,0}", (0, 2, 1), "f32[16,17,3]{2,1,0}", "f32[51,16]{1,0}", (0, 1)),
        ("f32[16,3,17]{1,2,0}", "f32[16,51]{0,1}", (0, 2, 1), "f32[16,17,3]{2,1,0}", "f32[51,16]{1,0}", (1, 0)),
    ],
)
def test_transpose_reshape_transpose(
    operand: str, result: str, first: tuple[int, ...], flattened: str, reshaped: str, second: tuple[int, ...]
) -> None:
    d = decompose(array(operand), array(result))
    assert (d.first, d.second) == (first, second)
    assert (print_shape(d.flattened), print_shape(d.reshaped)) == (flattened, reshaped)
    # Each of the three moves nothing in memory: the transposes are bitcasts, and so is the reshape.
    assert transpose_of_bitcast(array(operand), d.flattened) == d.first
    assert reshape_is_bitcast(d.flattened, d.reshaped)
    assert transpose_of_bitcast(d.reshaped, array(result)) == d.second


@pytest.mark.parametrize(
    ("operand", "result", "expected"),
    [
        ("f32[3,4]{1,0}", "f32[6,2]{1,0}", True),
        ("f32[3,4]{1,0}", "f32[6,2]{0,1}", False),
        ("f32[3,4]{0,1}", "f32[6,2]{1,0}", False),
        ("f32[3,4]{0,1}", "f32[6,2]{0,1}", False),
        ("f32[3,2,2]{1,0,2}", "f32[6,2]{0,1}", True),
        ("f32[1,16,17,3]{3,2,1,0}", "f32[16,51]{1,0}", True),
        ("f32[3,1,4]{1,2,0}", "f32[12]{0}", True),
        ("f32[0,4]{0,1}", "f32[4,0]{1,0}", True),
        ("f32[3,4]{1,0}", "f32[5,2]{1,0}", False),
    ],
)
def test_reshape_is_bitcast(operand: str, result: str, expected: bool) -> None:
    one, two = array(operand), array(result)
    assert reshape_is_bitcast(one, two) is expected
    if is_decomposable(one, two) and one.elements:
        # By solver: the row-major reshape names the element that lies there.
        place = linear_index([dim(i) for i in range(two.rank)], two.dimensions, Const(0))
        m = IndexingMap(boxed(two.dimensions), delinearize(place, one.dimensions))
        found = judge(bitcast_claims(one, two, [m]), prove)
        assert ({j.found.verdict for j in found} == {Verdict.PROVED}) is expected


@pytest.mark.parametrize(
    ("operand", "sizes"),
    [
        ("f32[3,8,5,7,11]{3,2,1,0,4}", (4, 3, 2, 7, 5, 11)),
        ("f32[3,1,4]{1,2,0}", (1, 12, 1)),
        ("f32[2,3]{1,0}", (3, 2)),
        ("f32[1,1]{0,1}", ()),
    ],
)
def test_aligned_layouts_make_reshapes_bitcasts(operand: str, sizes: tuple[int, ...]) -> None:
    one = array(operand)
    order = aligned_layout(one, sizes)
    assert order is not None
    assert reshape_is_bitcast(one, ArrayShape("f32", sizes, (), Layout(order)))
    assert aligned_layout(array("f32[2,3]{0,1}"), (3, 2)) is None
    assert aligned_layout(array("f32[7]"), (8,)) is None


def test_decomposable_are_dense_shapes_of_equal_counts() -> None:
    assert not is_decomposable(array("s4[3,2]{1,0}"), array("s8[3]{0}"))
    assert is_decomposable(array("s4[3,2]{1,0}"), array("s8[3,2]{1,0}"))
    assert not is_decomposable(array("f32[8]{0:T(4)}"), array("f32[8]"))
    with pytest.raises(NotModelled):
        decompose(array("f32[7]"), array("f32[8]"))
    assert transpose_of_bitcast(array("f32[5,3]{1,0}"), array("f32[3,5]{0,1}")) == (1, 0)
    assert transpose_of_bitcast(array("f32[10,5]{1,0}"), array("f32[10,5]{0,1}")) is None
    assert common_factors((6, 1, 4), (2, 3, 4)) == [((0,), (0, 1)), ((2,), (2,))]


TILED = [
    ("f32[3,5]{1,0:T(2,2)}", "f32[3,6]{1,0:T(2,2)}"),
    ("f32[3,5]{1,0:T(2,2)}", "f32[24]{0}"),
    ("bf16[4,8]{1,0:T(2,4)(2,1)}", "f32[2,8]{1,0:T(1,4)}"),
    ("f32[2,8]{1,0:T(1,4)}", "bf16[4,8]{1,0:T(2,4)(2,1)}"),
    ("f32[2,3,4]{2,1,0:T(*,2,3)}", "f32[36]{0}"),
    ("f32[0,5]{1,0:T(2,2)}", "f32[3,0]"),
]


@pytest.mark.parametrize(("one", "two"), TILED)
def test_maps_between_tiled_layouts_keep_the_bits(one: str, two: str) -> None:
    """By enumeration: an element maps to exactly the elements of the other shape at its bits."""
    source, target = array(one), array(two)
    m = same_bits_map(source, target)
    widths = element_bits(source), element_bits(target)
    bits_of = {
        at: set(range(bit := bit_offset(target, at), bit + widths[1])) for at in product(*map(range, target.dimensions))
    }
    for index in product(*map(range, source.dimensions)):
        start = bit_offset(source, index)
        own = set(range(start, start + widths[0]))
        found = set()
        for extra in product(*(range(v.interval.lower, v.interval.upper + 1) for v in m.ranges)):
            values = {f"d{i}": e for i, e in enumerate(index)} | {f"s{j}": e for j, e in enumerate(extra)}
            if all(evaluate(c.expr, values) in c.interval for c in m.constraints):
                found.add(tuple(evaluate(e, values) for e in m.results))
        assert found == {at for at, bits in bits_of.items() if bits & own}


def by_enumeration(operand: ArrayShape, result: ArrayShape) -> bool:
    """Legal by the bits themselves, and by the other reading of layouts."""
    sides = []
    for shape in (operand, result):
        width = element_bits(shape)
        held = memory(shape)
        sides.append(
            (
                len(held) * width,
                {q * width + b for q, index in enumerate(held) if index is not None for b in range(width)},
                [{q * width + b for b in range(width)} for q, index in enumerate(held) if index is not None],
            )
        )
    (size, bits, elements), (other_size, other_bits, other_elements) = sides
    if size != other_size or not (bits <= other_bits or other_bits <= bits):
        return False
    return all(e <= other_bits or not e & other_bits for e in elements) and all(
        e <= bits or not e & bits for e in other_elements
    )


def test_random_bitcasts_are_judged_as_by_enumeration() -> None:
    draw = Random(5)
    seen = {True: 0, False: 0}
    for _ in range(4000):
        if sum(seen.values()) == 80:
            break
        operand, result = (
            replace(random_shape(draw), element_type=draw.choice(["bf16", "f32", "u8"])) for _ in range(2)
        )
        sizes = [padded_elements(s) * element_bits(s) for s in (operand, result)]
        if sizes[0] != sizes[1] or not sizes[0] or sizes[0] > 4000:
            continue
        expected = by_enumeration(operand, result)
        if seen[expected] >= 40:
            continue
        seen[expected] += 1
        found = judge(bitcast_claims(operand, result), prove)
        assert ({j.found.verdict for j in found} == {Verdict.PROVED}) is expected, (operand, result)
        assert expected or any(j.found.verdict is Verdict.REFUTED for j in found), (operand, result)
    assert min(seen.values()) >= 15, seen


def test_check_tells_wrong_bitcasts() -> None:
    from hloproof.pipeline.driver import check_hlo
    from hloproof.pipeline.options import Options, Selection

    text = """HloModule m
ENTRY e {
  p = f32[3,5]{1,0:T(2,2)} parameter(0)
  fine = f32[3,6]{1,0:T(2,2)} bitcast(p)
  ROOT wrong = f32[5,3]{1,0:T(2,2)} bitcast(p)
}
"""
    report = check_hlo(text, Options(selection=Selection(("layout", "bitcast")), jobs=1))
    found = {(r.instruction, r.claim): r for r in report.records()}
    assert {k: str(r.verdict) for k, r in found.items()} == {
        ("p", "layout"): "proved",
        ("fine", "layout"): "proved",
        ("fine", "bitcast"): "proved",
        ("wrong", "layout"): "proved",
        ("wrong", "bitcast"): "refuted",
    }
    told = found["wrong", "bitcast"].counterexample
    assert told is not None and "where no element is" in told


@pytest.mark.parametrize(
    ("source", "target"),
    [("s32[1]{0}", "s8[0,1]{1,0:L(4)}"), ("s32[]", "s32[0]{0}"), ("s8[0,1]{1,0:L(4)}", "s32[1]{0}")],
)
def test_an_empty_array_shares_bits_with_nothing(source: str, target: str) -> None:
    assert not relation(same_bits_map(array(source), array(target)))


def test_what_lies_behind_the_end_of_the_other_array_meets_nothing() -> None:
    """Rows of three in tiles of four: the last element lies at 6, and the other array has six."""
    pairs = relation(same_bits_map(array("f32[2,3]{1,0:T(2,4)}"), array("f32[6]{0}")))
    assert {(*a, *b) for a, b in pairs} == {(0, 0, 0), (0, 1, 1), (0, 2, 2), (1, 0, 4), (1, 1, 5)}


@pytest.mark.parametrize("more", ["T(2,4)", "L(1024)", "SC(0:1)"])
def test_only_what_lies_densely_is_taken_apart(more: str) -> None:
    plain = "f32[3,5]{1,0}"
    assert is_decomposable(array(plain), array("f32[15]{0}"))
    assert not is_decomposable(array(plain.replace("0}", f"0:{more}}}")), array("f32[15]{0}"))
    assert not is_decomposable(array("f32[15]{0}"), array(plain.replace("0}", f"0:{more}}}")))
