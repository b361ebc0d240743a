"""Distances and sectors where neighbours read in blocks, where memory is padded, and where what is read at run time may
not be anything."""

from __future__ import annotations

import re
from itertools import pairwise
from math import gcd

import pytest
from hypothesis import given
from hypothesis import strategies as st
from map_points import points

from hloproof.analysis.coalescing import operand_position, stride_along
from hloproof.analysis.launch import parse_launch, parse_thread_map
from hloproof.analysis.printing import as_lines
from hloproof.analysis.report import analyze
from hloproof.analysis.requests import any_contents
from hloproof.models.hlo.parser import parse_module
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.hlo.text.shapes import parse_shape
from hloproof.models.maps.text import parse_map
from hloproof.server.method import BadParameters
from hloproof.server.methods import METHODS


def array(text: str) -> ArrayShape:
    found = parse_shape(text)
    assert isinstance(found, ArrayShape)
    return found


def best(positions: list[int]) -> dict[int, int]:
    """For every distance that holds in aligned blocks of two elements or more the largest such block, from the
    positions of neighbours in order; 0 where it holds along all of them."""
    apart = [(k, b - a) for k, (a, b) in enumerate(pairwise(positions))]
    found = {d: gcd(*(k + 1 for k, other in apart if other != d)) for _, d in apart}
    return {d: block for d, block in found.items() if block != 1}


BLOCKS = [
    *((f"(d0) -> (d0 / 2), domain: d0 in [0, {2 * n - 1}]", n) for n in (10, 50, 100, 256, 500, 1000)),
    *((f"(d0) -> (d0 mod 2 * {n} + d0 / 2), domain: d0 in [0, {2 * n - 1}]", 2 * n) for n in (10, 100, 300, 500, 1000)),
    ("(d0) -> (d0 / 3 * 5), domain: d0 in [0, 2999]", 5000),
    ("(d0) -> (d0 / 2 + d0 / 3), domain: d0 in [0, 599]", 600),
    ("(d0) -> (d0 * d0), domain: d0 in [0, 40]", 1700),
    ("(d0) -> (d0 / 64 mod 2), domain: d0 in [0, 4095]", 2),
]


@pytest.mark.parametrize(("text", "size"), BLOCKS)
def test_a_distance_that_holds_in_blocks_is_found_whatever_the_size(text: str, size: int) -> None:
    """It depended on how many of 300 random neighbours lie inside of a block."""
    m = parse_map(text)
    found = stride_along(m, operand_position(m, array(f"f32[{size}]")), 0, m.dims[0].interval.count)
    allowed = best([p for _, (p,) in points(m)])
    assert found.verdict == "proved"
    assert (found.distance is None) == (not allowed)
    if found.distance is not None:
        assert found.block == (allowed[found.distance] or found.size)


@given(st.integers(2, 9), st.integers(1, 9), st.integers(0, 9), st.integers(1, 60), st.sampled_from(["/", "mod"]))
def test_random_blocks(block: int, step: int, shift: int, size: int, op: str) -> None:
    m = parse_map(f"(d0) -> ((d0 + {shift}) {op} {block} * {step} + d0 * {shift % 2}), domain: d0 in [0, {size}]")
    found = stride_along(m, operand_position(m, array("f32[2000]")), 0, size + 1)
    allowed = best([p for _, (p,) in points(m)])
    assert found.verdict == "proved" and (found.distance in allowed if allowed else found.distance is None)


@pytest.mark.parametrize("sign", ["+", "-"])
def test_a_distance_that_only_a_counterexample_shows_is_tried(sign: str) -> None:
    """Which neighbours there are depends on a dim that 300 random points do not meet at 1."""
    m = parse_map(
        "(d0, d1) -> (d0 + 10 * (d0 / 6) + 100 * ((d0 + 1) / 2)), domain: d0 in [0, 7], d1 in [0, 999999], "
        f"d1 mod 1000000 in [0, 1], (d0 {sign} d1) mod 4 in [1, 2]"
    )
    found = stride_along(m, operand_position(m, array("f32[2000]")), 0, 8)
    assert (found.distance, found.block, found.verdict) == (101, 2, "proved")


FUSED = """HloModule m

f {{
{body}
}}

{more}ENTRY e {{
  p = {array} parameter(0)
  i = {index} parameter(1)
  {entry}
}}
"""


def told(body: str, array: str, index: str, entry: str, more: str = "", instruction: str = "y") -> list[str]:
    text = FUSED.format(body=body, array=array, index=index, entry=entry, more=more)
    (found,) = analyze(parse_module(text), instruction, None, parse_launch("threads=128", 32, 32))
    return list(as_lines(found))


GATHERED = (
    "gather(p, {}), offset_dims={{}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, index_vector_dim=1, "
    "slice_sizes={{1}}"
)
PLAIN = f"  p = f32[4096] parameter(0)\n  i = s32[1024,1] parameter(1)\n  ROOT r = f32[1024] {GATHERED.format('i')}"
MASKED = (
    "  p = f32[4096] parameter(0)\n  i = s32[1024,1] parameter(1)\n  z = s32[] constant(0)\n"
    "  zb = s32[1024,1] broadcast(z), dimensions={}\n  k = s32[1024,1] and(i, zb)\n"
    f"  ROOT r = f32[1024] {GATHERED.format('k')}"
)
CALL = "ROOT y = f32[1024] fusion(p, i), kind=kLoop, calls=f"
DEPENDS = "a distance that depends on values read at run time"


@pytest.mark.parametrize(
    ("body", "entry", "verdict", "sectors"),
    [
        (PLAIN, CALL, "proved", "reached"),
        (MASKED, CALL, "unknown", "a bound"),
        (PLAIN, "j = s32[1024,1] add(i, i)\n  " + CALL.replace("(p, i)", "(p, j)"), "unknown", "a bound"),
    ],
    ids=["what is given", "what is computed inside", "what is computed before"],
)
def test_what_is_computed_may_not_be_anything(body: str, entry: str, verdict: str, sectors: str) -> None:
    """Indices that are all 0 read one sector."""
    lines = told(body, "f32[4096]", "s32[1024,1]", entry)
    assert any(f"{DEPENDS} ({verdict})" in line for line in lines)
    (touched,) = [line for line in lines if "at most 32 sectors" in line]
    assert f"({sectors};" in touched


def test_nor_may_what_a_computation_is_given_that_is_called() -> None:
    called = "g {\n  p = f32[4096] parameter(0)\n  i = s32[1024,1] parameter(1)\n  " + CALL + "\n}\n\n"
    lines = told(PLAIN, "f32[4096]", "s32[1024,1]", "ROOT c = f32[1024] call(p, i), to_apply=g", called)
    assert any(f"{DEPENDS} (unknown)" in line for line in lines)


@pytest.mark.parametrize(("kind", "most"), [("u8", 256), ("u16", 1024), ("s32", 1024)])
def test_values_are_those_that_their_type_can_hold(kind: str, most: int) -> None:
    lines = told(PLAIN.replace("s32", kind), "f32[4096]", f"{kind}[1024,1]", CALL)
    assert any(re.search(rf"reads at most {most} of 4096 elements", line) for line in lines)


def test_neighbours_that_read_one_element_hold_one_value() -> None:
    """Each element that is gathered is given twice."""
    body = (
        "  p = f32[4096] parameter(0)\n  i = s32[512,1] parameter(1)\n  g = f32[512] gather(p, i), offset_dims={}, "
        "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}\n"
        "  b = f32[512,2] broadcast(g), dimensions={0}\n  ROOT r = f32[1024] reshape(b)"
    )
    lines = told(body, "f32[4096]", "s32[512,1]", CALL)
    assert any("along dimension 0: the same element in blocks of 2 (proved)" in line for line in lines)
    assert any("at most 16 sectors" in line and "reached" in line for line in lines)


def test_padding_lies_in_sectors_too() -> None:
    """15 elements in tiles of 8 x 128 lie in 3 rows: a warp reads from a sector of each."""
    text = """HloModule m
f { p = f32[3,5] parameter(0) ROOT r = f32[3,5] negate(p) }
ENTRY e { p = f32[3,5]{1,0:T(8,128)} parameter(0) ROOT y = f32[3,5]{1,0} fusion(p), kind=kLoop, calls=f }"""
    (found,) = analyze(parse_module(text), "y", None, parse_launch("threads=128", 32, 32))
    assert any("at most 3 sectors" in line and "reached" in line for line in as_lines(found))


DIVIDES = "(th_x, bl_x) -> (th_x floordiv bl_x), domain: th_x in [0, 3], bl_x in [0, 3]"


def test_a_thread_map_has_a_value_for_every_thread() -> None:
    with pytest.raises(ValueError, match="division by zero possible: bl_x is 0 at th_x = 0, bl_x = 0"):
        parse_thread_map(DIVIDES)
    assert (
        parse_thread_map(
            DIVIDES.replace("bl_x)", "(bl_x + 1))", 2).replace("(th_x, (bl_x + 1))", "(th_x, bl_x)")
        ).threads
        == 4
    )


@pytest.mark.parametrize(
    "given",
    [
        {"tile": [0]},
        {"tile": [-1]},
        {"tile": [True]},
        {"thread_map": DIVIDES},
        {"thread_map": "(th_x) -> (th_x), domain: th_x in [1, 3]"},
        {"launch": "blocks=x"},
    ],
)
def test_what_the_server_cannot_take_is_told(given: dict[str, object]) -> None:
    text = "HloModule m\nENTRY e {\n p = f32[4] parameter(0)\n ROOT r = f32[4] negate(p)\n}"
    with pytest.raises(BadParameters):
        METHODS["analyze"].run(hlo=text, instruction="r", **given)


def fused(array: str, start: str, *lines: str) -> str:
    """A fusion `z` of an array and what is read beside it, whose last line is its root."""
    *made, root = lines
    given = [f"p = {array} parameter(0)", f"i = {start} parameter(1)"]
    body = "\n  ".join([*given, *made, f"ROOT {root}"])
    shape = root.split()[2]
    entry = "\n  ".join([*given, f"ROOT z = {shape} fusion(p, i), kind=kLoop, calls=f"])
    return f"HloModule m\n\nf {{\n  {body}\n}}\n\nENTRY e {{\n  {entry}\n}}\n"


SLICED = fused(
    "f32[16,128]{0,1}",
    "s32[]",
    "r = f32[2048]{0} reshape(p)",
    "c = s32[] constant(128)",
    "k = s32[] multiply(i, c)",
    "d = f32[128]{0} dynamic-slice(r, START), dynamic_slice_sizes={128}",
)
PADDED = fused(
    "f32[64]{0}",
    "s32[]",
    "a = f32[4]{0} slice(p), slice={[8:12]}",
    "zero = f32[] constant(0)",
    "w = f32[12]{0} pad(a, zero), padding=4_4",
    "c = s32[] constant(0)",
    "k = s32[] multiply(i, c)",
    "d = f32[4]{0} dynamic-slice(w, START), dynamic_slice_sizes={4}",
)


def analyzed(text: str, **more: object) -> str:
    return "\n".join(line for one in analyze(parse_module(text), **more) for line in as_lines(one))  # type: ignore[arg-type]


@pytest.mark.parametrize(("start", "verdict"), [("k", "unknown"), ("i", "proved")])
def test_no_distance_is_ruled_out_by_a_start_that_may_not_be(start: str, verdict: str) -> None:
    """At multiples of 128 neighbours are 16 apart, at other starts they are not."""
    told = analyzed(SLICED.replace("START", start))
    assert f"along dimension 0: no constant distance ({verdict})" in told


@pytest.mark.parametrize(
    ("start", "words"), [("k", "tile (enclosing, proved)"), ("i", "tile (smallest enclosing, proved)")]
)
def test_no_tile_is_the_smallest_by_a_start_that_may_not_be(start: str, words: str) -> None:
    """At 0 nothing is read but padding."""
    assert words in analyzed(PADDED.replace("START", start), tile=(2,))


REVERSED = fused(
    "f32[16,128]{0,1}",
    "s32[]",
    "r = f32[2048]{0} reshape(p)",
    "a = f32[130]{0} slice(r), slice={[0:130]}",
    "b = f32[120]{0} dynamic-slice(a, i), dynamic_slice_sizes={120}",
    "c = f32[120]{0} reverse(b), dimensions={0}",
    "d = f32[111]{0} dynamic-slice(c, i), dynamic_slice_sizes={111}",
)
TWICE = fused(
    "f32[64]{0}",
    "s32[]",
    "a = f32[4]{0} slice(p), slice={[8:12]}",
    "zero = f32[] constant(0)",
    "w = f32[40]{0} pad(a, zero), padding=33_3",
    "b = f32[30]{0} dynamic-slice(w, i), dynamic_slice_sizes={30}",
    "c = f32[30]{0} reverse(b), dimensions={0}",
    "d = f32[21]{0} dynamic-slice(c, i), dynamic_slice_sizes={21}",
)
LOOKED_UP = fused(
    "f32[64]{0}",
    "s32[4]{0}",
    "g = f32[4]{0} gather(p, i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, "
    "slice_sizes={1}",
    "b = f32[4,2]{1,0} broadcast(g), dimensions={0}",
    "d = f32[8]{0} reshape(b)",
)


def test_one_start_that_is_cut_twice_is_one_value() -> None:
    """Neighbours are 16 apart for every start, and no element of p is read."""
    assert "along dimension 0: no constant distance (unknown)" in analyzed(REVERSED)
    told = analyzed(TWICE, tile=(21,), launch=parse_launch("1,32"))
    assert "tile (enclosing, proved)" in told and "at most 1 sector of 32 bytes (a bound" in told


@pytest.mark.parametrize(
    ("one", "other", "free"),
    [("0", "1", True), ("d0, 0", "d0, 1", True), ("0", "0", False), ("d0, 0", "d0, 0", False), ("d0", "1", False)],
)
def test_two_elements_of_one_array_may_be_anything_and_one_is_one_value(one: str, other: str, free: bool) -> None:
    row = "domain: d0 in [0, 3]"
    read = f"runtime variables:\nrt0: operand(1); (d0) -> ({one}), {row}\nrt1: operand(1); (d0) -> ({other}), {row}"
    m = parse_map(f"(d0){{rt0, rt1}} -> (d0 + rt0 - rt1), {row}, rt0 in [0, 9], rt1 in [0, 8]\n{read}")
    assert any_contents(m) is free


@pytest.mark.parametrize(("index", "free"), [("(d0) -> (d0)", True), ("(d0){rt0} -> (rt0)", False)])
def test_what_stands_at_a_place_that_is_looked_up_may_not_be_anything(index: str, free: bool) -> None:
    looked_up = "" if free else ", rt0 in [0, 3]; reading {rt0 = places; (d0) -> (d0), domain: d0 in [0, 3]}"
    read = f"runtime variables:\nrt0: parameter(1); {index}, domain: d0 in [0, 3]{looked_up}"
    assert any_contents(parse_map(f"(d0){{rt0}} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 9]\n{read}")) is free


def test_one_element_that_is_read_at_two_places_is_one_value() -> None:
    """Each tile reads one element, wherever it lies."""
    assert "tile (enclosing, proved)" in analyzed(LOOKED_UP, tile=(2,))


ROWS = "offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}"
TWICE_GATHERED = """HloModule m
f {
  p = f32[100]{0} parameter(0)
  i = s32[50]{0} parameter(1)
  j = s32[8]{0} parameter(2)
  k = s32[] parameter(3)
  q = f32[60]{0} dynamic-slice(p, k), dynamic_slice_sizes={60}
  g = f32[50]{0} gather(Q, i), ROWS
  ROOT h = f32[8]{0} gather(g, j), ROWS
}
ENTRY e {
  p = f32[100]{0} parameter(0)
  i = s32[50]{0} parameter(1)
  j = s32[8]{0} parameter(2)
  k = s32[] parameter(3)
  ROOT r = f32[8]{0} fusion(p, i, j, k), kind=kLoop, calls=f
}"""


@pytest.mark.parametrize("source", ["p", "q"])
def test_what_is_read_by_what_is_read_moves_too(source: str) -> None:
    """p[i[j[d0]]]: the element of i is another at each d0, though no dim says which; nor is a start beside it the value
    by which it is read."""
    text = TWICE_GATHERED.replace("gather(Q,", f"gather({source},").replace("ROWS", ROWS)
    found = next(iter(analyze(parse_module(text), "r", None, parse_launch("threads=8", 32, 32))))
    first = "\n".join(as_lines(found)).split("operand 1")[0]
    assert "reads at most 8 of 100 elements" in first and "at most 8 sectors" in first
    assert "a distance that depends on values read at run time (unknown)" in first and "(proved)" not in first
