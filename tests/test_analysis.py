"""Operand utilization, coalescing and tile propagation, against counting by hand."""

from __future__ import annotations

import json
from itertools import product

import pytest
from click.testing import CliRunner

from models.expr import to_text
from models.hlo.parser import parse_module
from models.hlo.shape_text import parse_shape
from models.indexing.map_set import OperandMaps
from models.interpreter.expression import evaluate
from models.map_text import parse_map
from verify.analysis.coalescing import strides
from verify.analysis.printing import as_json, as_lines
from verify.analysis.propagation import is_exact, operand_tile
from verify.analysis.report import analyze
from verify.analysis.utilization import enumerated, utilization
from verify.count_isl import count_image, count_pairs

COUNTED = [
    (["(d0, d1) -> (d0 * 2, d1), domain: d0 in [0, 99], d1 in [0, 9]"], 1000, 1000),
    (["(d0)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 9], s0 in [0, 2]"], 21, 30),
    (["(d0) -> (d0 / 3), domain: d0 in [0, 9]"], 4, 10),
    (["(d0) -> (d0 mod 4), domain: d0 in [0, 9]", "(d0) -> (d0), domain: d0 in [0, 9]"], 10, 16),
    (["(d0)[s0] -> (d0 - s0), domain: d0 in [0, 9], s0 in [0, 9], d0 - s0 in [0, 5]"], 6, 45),
    (["(d0) -> (), domain: d0 in [0, 9]"], 1, 10),
    (["() -> ()"], 1, 1),
]


@pytest.mark.parametrize(("texts", "elements", "pairs"), COUNTED)
def test_isl_and_enumeration_count_alike(texts: list[str], elements: int, pairs: int) -> None:
    maps = [parse_map(t) for t in texts]
    assert enumerated(maps) == (elements, pairs)
    assert (count_image(maps), count_pairs(maps)) == (elements, pairs)


def test_large_sets_are_counted_and_not_listed() -> None:
    m = parse_map("(d0, d1) -> (d0 * 2, d1 + 7), domain: d0 in [0, 999999], d1 in [0, 99999]")
    assert count_image([m]) == count_pairs([m]) == 10**11


def test_what_is_read_at_run_time_is_a_bound() -> None:
    m = parse_map("(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 5]")
    operand = parse_shape("f32[20]")
    u = utilization(OperandMaps(0, "moves", (m,)), operand)  # type: ignore[arg-type]
    assert (u.elements, u.exact, u.total) == (9, False, 20)
    assert utilization(OperandMaps(0, "reads", ()), operand).elements == 0  # type: ignore[arg-type]


DISTANCES = [
    ("(d0, d1) -> (d0, d1), domain: d0 in [0, 7], d1 in [0, 15]", "f32[8,16]", "f32[8,16]", [(1, 1, 16), (0, 16, 8)]),
    ("(d0, d1) -> (d0, d1), domain: d0 in [0, 7], d1 in [0, 15]", "f32[8,16]{0,1}", "f32[8,16]",
     [(0, 16, 8), (1, 1, 16)]),
    ("(d0, d1) -> (d1, d0), domain: d0 in [0, 7], d1 in [0, 15]", "f32[8,16]", "f32[16,8]{0,1}",
     [(1, 1, 16), (0, 16, 8)]),
    ("(d0, d1) -> (d0), domain: d0 in [0, 7], d1 in [0, 15]", "f32[8,16]", "f32[8]", [(1, 0, 16), (0, 1, 8)]),
    ("(d0) -> (d0 / 4, d0 mod 4), domain: d0 in [0, 15]", "f32[16]", "f32[4,8]", [(0, 1, 4)]),
    ("(d0) -> (15 - d0), domain: d0 in [0, 15]", "f32[16]", "f32[16]", [(0, -1, 16)]),
    ("(d0) -> (0, d0), domain: d0 in [0, 255]", "f32[256]", "f32[8,256]{1,0:T(8,128)}", [(0, 1, 128)]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "output", "operand", "expected"), DISTANCES)
def test_distances_in_memory(text: str, output: str, operand: str, expected: list[tuple[int, int, int]]) -> None:
    found = strides(parse_map(text), parse_shape(output), parse_shape(operand))  # type: ignore[arg-type]
    assert [(s.dimension, s.distance, s.block) for s in found] == expected
    assert {s.verdict for s in found} == {"proved"}


def test_distances_that_change_everywhere_are_said_to() -> None:
    m = parse_map("(d0) -> (d0 * 3 mod 7), domain: d0 in [0, 6]")
    (s,) = strides(m, parse_shape("f32[7]"), parse_shape("f32[7]"))  # type: ignore[arg-type]
    assert s.distance in (None, 3) and (s.distance is None or s.block < 7)


def test_maps_without_neighbours_say_so() -> None:
    m = parse_map("(d0) -> (d0), domain: d0 in [0, 8], d0 mod 4 in [0, 0]")
    (s,) = strides(m, parse_shape("f32[9]"), parse_shape("f32[9]"))  # type: ignore[arg-type]
    assert (s.distance, s.block, s.verdict) == (None, 0, "proved") and "no two neighbours" in s.words


BOX = ", domain: d0 in [0, 63], d1 in [0, 255]"
TILES = [
    ("(d0, d1) -> (d1, d0)" + BOX, (16, 32), True),
    ("(d0, d1)[s0] -> (d0, s0)" + BOX + ", s0 in [0, 99]", (16, 32), True),
    ("(d0, d1) -> (d0 * 256 + d1)" + BOX, (16, 256), True),
    ("(d0, d1) -> (d0 * 256 + d1)" + BOX, (16, 32), False),
    ("(d0, d1) -> (d1 / 8, d0)" + BOX, (16, 32), True),
    ("(d0, d1) -> (d1 / 64, d1 mod 64, 63 - d0)" + BOX, (16, 32), True),
    ("(d0, d1)[s0] -> (d0 * 2 + s0, d1)" + BOX + ", s0 in [0, 2]", (16, 32), True),
    ("(d0, d1)[s0] -> (d0 * 4 + s0, d1)" + BOX + ", s0 in [0, 2]", (16, 32), False),
    ("(d0, d1) -> (d0, d0)" + BOX, (16, 32), False),
    ("(d0, d1) -> ((d0 + d1) / 3)" + BOX, (16, 32), False),
    ("(d0, d1) -> (d0, d1 mod 12)" + BOX, (16, 32), False),
]


@pytest.mark.parametrize(("text", "tile", "exact"), TILES)
def test_operand_tiles_hold_what_is_read(text: str, tile: tuple[int, ...], exact: bool) -> None:
    m = parse_map(text)
    found = operand_tile(m, tile)
    assert {d.enclosing for d in found} == {"proved"} and is_exact(found) is exact
    sizes = [v.interval.count for v in m.dims]
    for corner in ([0, 0], [sizes[0] // tile[0] - 1, sizes[1] // tile[1] - 1]):
        base = {f"b{i}": b for i, b in enumerate(corner)}
        read = set()
        for place in product(*(range(t) for t in tile), *(range(v.interval.count) for v in m.ranges)):
            at = {f"d{i}": corner[i] * tile[i] + place[i] for i in range(2)}
            at |= {f"s{j}": v for j, v in enumerate(place[2:])}
            read.add(tuple(evaluate(e, at) for e in m.results))
        offered = set(product(*(
            [evaluate(d.offset, base) + k * d.stride for k in range(d.size)] for d in found
        )))  # fmt: skip
        assert read <= offered, text
        assert not exact or read == offered, text


def test_a_tile_of_the_wrong_rank_is_refused() -> None:
    with pytest.raises(ValueError, match="2 sizes"):
        operand_tile(parse_map(TILES[0][0]), (4,))


FUSION = """HloModule m
f {
  p0 = f32[64,128] parameter(0)
  p1 = f32[128] parameter(1)
  t = f32[128,64] transpose(p0), dimensions={1,0}
  b = f32[128,64] broadcast(p1), dimensions={0}
  s = f32[64,64] slice(t), slice={[0:64], [0:64]}
  c = f32[64,64] slice(b), slice={[0:128:2], [0:64]}
  ROOT a = f32[64,64] add(s, c)
}
ENTRY e {
  p0 = f32[64,128] parameter(0)
  p1 = f32[128] parameter(1)
  ROOT fusion = f32[64,64] fusion(p0, p1), kind=kLoop, calls=f
}"""


def test_analysis_of_a_fusion() -> None:
    (found,) = analyze(parse_module(FUSION), tile=(32, 16))
    data = as_json(found)
    assert [(o["elements_read"], o["elements"], o["exact"]) for o in data["operands"]] == [
        (4096, 8192, True), (64, 128, True),
    ]  # fmt: skip
    assert [s["distance"] for s in data["operands"][0]["maps"][0]["strides"]] == [128, 1]
    tile = data["operands"][1]["maps"][0]["tile"]
    assert tile["exact"] and [(d["offset"], d["size"], d["stride"]) for d in tile["dimensions"]] == [("b0 * 64", 32, 2)]
    assert any("50.0%" in line for line in as_lines(found))
    assert to_text(operand_tile(parse_map(TILES[0][0]), (16, 32))[0].offset) == "b1 * 32"


def test_the_command(tmp_path) -> None:  # type: ignore[no-untyped-def]
    from verify.commands.analyze import command

    path = tmp_path / "m.hlo"
    path.write_text(FUSION)
    shown = CliRunner().invoke(command, [str(path), "--tile", "32,16", "--format", "json"])
    assert shown.exit_code == 0 and json.loads(shown.output)["instructions"][0]["instruction"] == "fusion"
    assert CliRunner().invoke(command, [str(path), "--tile", "32,x"]).exit_code == 2
    assert CliRunner().invoke(command, [str(path), "--instruction", "nothing"]).exit_code != 0
