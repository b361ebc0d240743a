"""Operand utilization, coalescing and tile propagation, against counting by hand."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import islpy as isl
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from map_points import counted

from hloproof.analysis.coalescing import strides
from hloproof.analysis.launch import Launch
from hloproof.analysis.printing import as_json, as_lines
from hloproof.analysis.report import analyze
from hloproof.analysis.utilization import enumerated, joint_utilization, utilization
from hloproof.engines.isl.basic_sets import context
from hloproof.engines.isl.count import _factors, count_image, count_pairs, count_values
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.parser import parse_module
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.hlo.text.shapes import parse_shape
from hloproof.models.indexing.map_set import OperandMaps
from hloproof.models.maps.indexing_map import IndexingMap
from hloproof.models.maps.text import parse_map, print_map


def array(text: str) -> ArrayShape:
    found = parse_shape(text)
    assert isinstance(found, ArrayShape)
    return found


COUNTED = [
    (["(d0, d1) -> (d0 * 2, d1), domain: d0 in [0, 99], d1 in [0, 9]"], 1000, 1000, 1000),
    (["(d0)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 9], s0 in [0, 2]"], 21, 30, 30),
    (["(d0)[s0] -> (d0), domain: d0 in [0, 9], s0 in [0, 2]"], 10, 10, 30),
    (["(d0)[s0] -> (s0 / 2), domain: d0 in [0, 9], s0 in [0, 4]"], 3, 30, 50),
    (["(d0) -> (d0 / 3), domain: d0 in [0, 9]"], 4, 10, 10),
    (["(d0) -> (d0 mod 4), domain: d0 in [0, 9]", "(d0) -> (d0), domain: d0 in [0, 9]"], 10, 16, 20),
    (["(d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [0, 9]", "(d0) -> (d0), domain: d0 in [0, 9]"], 10, 100, 110),
    (["(d0)[s0] -> (d0 - s0), domain: d0 in [0, 9], s0 in [0, 9], d0 - s0 in [0, 5]"], 6, 45, 45),
    (["(d0, d1) -> (d0 + d1 * 3), domain: d0 in [0, 9], d1 in [0, 9], d0 + d1 in [5, 9]"], 22, 40, 40),
    (["(d0) -> (), domain: d0 in [0, 9]"], 1, 10, 10),
    (["() -> ()"], 1, 1, 1),
]


def by_isl(maps: Sequence[IndexingMap]) -> tuple[int, int, int]:
    reads = sum(count_values(m, [n for n, _ in m.intervals()]) for m in maps)
    return count_image(maps), count_pairs(maps), reads


@pytest.mark.parametrize(("texts", "elements", "pairs", "reads"), COUNTED)
def test_isl_and_enumeration_count_alike(texts: list[str], elements: int, pairs: int, reads: int) -> None:
    maps = [parse_map(t) for t in texts]
    assert enumerated(maps) == by_isl(maps) == (elements, pairs, reads)


def test_a_set_is_a_product_only_where_it_is_one() -> None:
    """Nothing that is written of two corners ties one side to the other, and they are not four."""
    for written, rank in (("(i = 0 and j = 0) or (i = 1 and j = 1)", [2]), ("0 <= i <= 1 and 0 <= j <= 1", [1, 1])):
        found = _factors(isl.Set.read_from_str(context(), f"{{ [i, j] : {written} }}"))
        assert [f.dim(isl.dim_type.set) for f in found] == rank


@st.composite
def map_sets(draw: st.DrawFn) -> list[IndexingMap]:
    """A few maps between the same small arrays, with range variables and constraints."""
    sizes = draw(st.lists(st.integers(1, 7), min_size=1, max_size=3))
    rank = draw(st.integers(1, 2))
    dims = ", ".join(f"d{i}" for i in range(len(sizes)))

    def term() -> str:
        parts = [f"d{i} * {draw(st.integers(-2, 3))}" for i in range(len(sizes))] + [f"s0 * {draw(st.integers(-1, 2))}"]
        e = " + ".join(parts)
        divisor = draw(st.integers(2, 5))
        return draw(st.sampled_from([e, e, f"({e}) / {divisor}", f"({e}) mod {divisor}"]))

    found = []
    for _ in range(draw(st.integers(1, 3))):
        domain = [f"d{i} in [0, {n - 1}]" for i, n in enumerate(sizes)] + [f"s0 in [0, {draw(st.integers(0, 4))}]"]
        if draw(st.booleans()):
            domain.append(f"{term()} in [{draw(st.integers(-5, 3))}, {draw(st.integers(0, 9))}]")
        results = ", ".join(term() for _ in range(rank))
        found.append(parse_map(f"({dims})[s0] -> ({results}), domain: {', '.join(domain)}"))
    return found


@settings(max_examples=120, deadline=None)
@given(map_sets())
def test_random_maps_are_counted_alike(maps: list[IndexingMap]) -> None:
    pairs = counted(maps)
    listed = (len({x for _, x in pairs}), len(pairs), sum(pairs.values()))
    assert enumerated(maps) == by_isl(maps) == listed


LARGE = [
    ("(d0, d1) -> (d0 * 2, d1 + 7), domain: d0 in [0, 999999], d1 in [0, 99999]", 10**11, 10**11, 10**11),
    (
        "(d0, d1, d2)[s0] -> (d1, s0 / 256, d0), domain: "
        "d0 in [0, 4095], d1 in [0, 15], d2 in [0, 4095], s0 in [0, 2047]",
        16 * 8 * 4096,
        4096 * 16 * 4096 * 8,
        4096 * 16 * 4096 * 2048,
    ),
    ("(d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 999], d1 in [0, 999], s0 in [0, 999]", 10**6, 10**9, 10**9),
    (
        "(d0, d1)[s0] -> (d0 * 67 + s0, 0), domain: d0 in [0, 31], d1 in [0, 99999], s0 in [0, 66], "
        "d0 * 67 + s0 in [0, 2127]",
        2128,
        2128 * 100000,
        2128 * 100000,
    ),
    ("(d0, d1) -> (d0 + d1), domain: d0 in [0, 2999], d1 in [0, 9999999]", 10002999, 3 * 10**10, 3 * 10**10),
    (
        "(d0, d1)[s0] -> (s0), domain: d0 in [0, 2999], d1 in [0, 9999], s0 in [0, 9999], s0 - d0 in [0, 9999]",
        10**4,
        sum(10000 - d for d in range(3000)) * 10**4,
        sum(10000 - d for d in range(3000)) * 10**4,
    ),
]


@pytest.mark.parametrize(("text", "elements", "pairs", "reads"), LARGE)
def test_large_sets_are_counted_and_not_listed(text: str, elements: int, pairs: int, reads: int) -> None:
    assert by_isl([parse_map(text)]) == (elements, pairs, reads)


def test_what_is_read_at_run_time_is_a_bound() -> None:
    m = parse_map("(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 5]")
    operand = array("f32[20]")
    u = utilization(OperandMaps(0, "moves", (m,)), operand)
    assert (u.elements, u.pairs, u.reads, u.exact, u.total) == (4, 4, 4, False, 20)
    assert utilization(OperandMaps(0, "reads", ()), operand).elements == 0
    assert utilization(OperandMaps(0, "bound", (m,)), operand).exact is False


def runtime(text: str, *providers: tuple[str, str]) -> IndexingMap:
    """A map whose runtime variables read these elements of these providers."""
    head, domain = text.split("{")[0], text.split("domain: ")[1]
    box = ", ".join(re.findall(r"[ds]\d in \[\d+, \d+\]", domain))
    lines = [f"rt{k}: {name}; {head} -> ({index}), domain: {box}" for k, (name, index) in enumerate(providers)]
    return parse_map(text + "\nruntime variables:\n" + "\n".join(lines))


AT_RUN_TIME = [
    # A window at a place that does not move: so many elements, whatever the place is.
    (runtime("(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 5]", ("a", "")), (4, 4, 4), True),
    (
        runtime(
            "(d0)[s0]{rt0} -> (d0 / 2 + rt0 * 2, s0), domain: d0 in [0, 3], s0 in [0, 1], rt0 in [0, 5]", ("a", "")
        ),
        (4, 8, 8),
        True,
    ),
    # A row for each element.
    (runtime("(d0){rt0} -> (rt0), domain: d0 in [0, 3], rt0 in [0, 5]", ("a", "d0")), (4, 4, 4), False),
    (runtime("(d0){rt0} -> (rt0), domain: d0 in [0, 9], rt0 in [0, 5]", ("a", "d0")), (6, 10, 10), False),
    # Updates at a place in the output, and what is left of the operand.
    (
        runtime("(d0){rt0} -> (d0 - rt0), domain: d0 in [0, 9], rt0 in [0, 7], d0 - rt0 in [0, 2]", ("a", "")),
        (3, 3, 3),
        True,
    ),
    (
        runtime(
            "(d0, d1){rt0} -> (d0 - rt0, d1), domain: d0 in [0, 9], d1 in [0, 1], rt0 in [0, 7], d0 - rt0 in [0, 2]",
            ("a", "d1"),
        ),
        (6, 6, 6),
        True,
    ),
    (
        runtime("(d0){rt0} -> (d0 - rt0), domain: d0 in [0, 9], rt0 in [0, 7], d0 - rt0 in [0, 2]", ("a", "d0")),
        (3, 10, 10),
        False,
    ),
    (
        runtime("(d0){rt0} -> (d0), domain: d0 in [0, 9], rt0 in [0, 7], d0 - rt0 in [-7, -1]", ("a", "")),
        (7, 7, 7),
        False,
    ),
    # Rows scattered by their number.
    (
        runtime(
            "(d0, d1)[s0]{rt0} -> (s0, d1), domain: d0 in [0, 9], d1 in [0, 1], s0 in [0, 2], rt0 in [-8, 20], "
            "d0 - rt0 in [0, 0]",
            ("a", "s0"),
        ),
        (6, 6, 6),
        False,
    ),
    # Each place depends on the other dim: one place in both windows stands for several points.
    (
        runtime(
            "(d0, d1){rt0, rt1} -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 3], rt0 in [0, 3], rt1 in [0, 3], "
            "d0 - rt0 in [0, 0], d1 - rt1 in [0, 0]",
            ("a", "d1"),
            ("b", "d0"),
        ),
        (4, 4, 4),
        False,
    ),
]


@pytest.mark.parametrize(("m", "expected", "exact"), AT_RUN_TIME)
def test_every_run_reads_at_most_the_bound(m: IndexingMap, expected: tuple[int, int, int], exact: bool) -> None:
    from random import Random

    u = utilization(OperandMaps(0, "reads", (m,)), array(f"f32[{','.join(['99'] * len(m.results))}]"))
    assert ((u.elements, u.pairs, u.reads), u.exact) == (expected, exact)
    # Contents made up at random seldom lead all places into windows of their own.
    moves = "d0 - rt0" in print_map(m) and "(d0) -> (d0)" in print_map(m)
    most = (0, 0, 0)
    for contents in range(300):

        def read(name: str, at: tuple[int, ...], contents: int = contents) -> int:
            return Random(repr((contents, name, at))).randint(-9, 25) // (1 + contents % 4)

        pairs = counted([m], read)
        found = (len({x for _, x in pairs}), len(pairs), sum(pairs.values()))
        most = max(most, found)
        assert all(a <= b for a, b in zip(found, expected, strict=True))
        assert not exact or found == expected
    assert most == expected or len(m.runtime) > 1 or moves


def test_reads_of_other_devices_are_told_apart() -> None:
    m = parse_map(
        "(d0)[s0] -> (d0), domain: d0 in [0, 9], s0 in [0, 1]\nreplica id:\n(d0)[s0] -> (s0), domain: d0 in [0, 9], "
        "s0 in [0, 1]"
    )
    for size in (10, 100_000):
        box = replace(m, dims=(replace(m.dims[0], interval=Interval.of_size(size)),))
        box = replace(box, replica=replace(box, results=m.replica.results, replica=None))  # type: ignore[union-attr]
        u = utilization(OperandMaps(0, "reads", (box,)), array(f"f32[{size}]"))
        assert (u.elements, u.pairs, u.reads, u.exact) == (size, 2 * size, 2 * size, True)


DISTANCES = [
    ("(d0, d1) -> (d0, d1), domain: d0 in [0, 7], d1 in [0, 15]", "f32[8,16]", "f32[8,16]", [(1, 1, 16), (0, 16, 8)]),
    (
        "(d0, d1) -> (d0, d1), domain: d0 in [0, 7], d1 in [0, 15]",
        "f32[8,16]{0,1}",
        "f32[8,16]",
        [(0, 16, 8), (1, 1, 16)],
    ),
    (
        "(d0, d1) -> (d1, d0), domain: d0 in [0, 7], d1 in [0, 15]",
        "f32[8,16]",
        "f32[16,8]{0,1}",
        [(1, 1, 16), (0, 16, 8)],
    ),
    ("(d0, d1) -> (d0), domain: d0 in [0, 7], d1 in [0, 15]", "f32[8,16]", "f32[8]", [(1, 0, 16), (0, 1, 8)]),
    ("(d0) -> (d0 / 4, d0 mod 4), domain: d0 in [0, 15]", "f32[16]", "f32[4,8]", [(0, 1, 4)]),
    ("(d0) -> (15 - d0), domain: d0 in [0, 15]", "f32[16]", "f32[16]", [(0, -1, 16)]),
    ("(d0) -> (0, d0), domain: d0 in [0, 255]", "f32[256]", "f32[8,256]{1,0:T(8,128)}", [(0, 1, 128)]),
]


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
        (4096, 8192, True),
        (64, 128, True),
    ]
    assert [s["distance"] for s in data["operands"][0]["maps"][0]["strides"]] == [128, 1]
    tile = data["operands"][1]["maps"][0]["tile"]
    assert (
        tile["exact"]
        and not tile["tiles_at_the_border_read_less"]
        and [(d["offset"], d["size"], d["stride"]) for d in tile["dimensions"]] == [("b0 * 64", 32, 2)]
    )
    assert any("50.0%" in line for line in as_lines(found))


READ_TWICE = """HloModule m
sum {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT s = f32[] add(x, y)
}
f {
  p = f32[10,4] parameter(0)
  z = f32[] constant(0)
  upper = f32[5,4] slice(p), slice={[0:5], [0:4]}
  lower = f32[5,4] slice(p), slice={[5:10], [0:4]}
  u = f32[4] reduce(upper, z), dimensions={0}, to_apply=sum
  l = f32[4] reduce(lower, z), dimensions={0}, to_apply=sum
  ul = f32[4] add(u, l)
  b = f32[10,4] broadcast(ul), dimensions={1}
  r = f32[4,10] transpose(p), dimensions={1,0}
  t = f32[10,4] transpose(r), dimensions={1,0}
  pb = f32[10,4] add(p, b)
  ROOT a = f32[10,4] add(pb, t)
}
ENTRY e {
  p = f32[10,4] parameter(0)
  ROOT fusion = f32[10,4] fusion(p), kind=kLoop, calls=f
}"""


def test_maps_that_others_contain_are_told(tmp_path) -> None:  # type: ignore[no-untyped-def]
    """The element itself is read in one half of the sum or in the other, so reading it costs nothing."""
    from hloproof.commands.analyze import command

    path = tmp_path / "m.hlo"
    path.write_text(READ_TWICE)
    lines = CliRunner().invoke(command, [str(path)]).output.splitlines()
    (k,) = (n for n, line in enumerate(lines) if "-> (d0, d1)" in line)
    others = " and ".join(line[8:9] for line in lines if "[s0]" in line)
    assert lines[k + 1] == f"      all of it is read through maps {others.replace(' and', ',')} together too (proved)"
    data = json.loads(CliRunner().invoke(command, [str(path), "--format", "json"]).output)
    (operand,) = data["instructions"][0]["operands"]
    assert [m["contained_in"] for m in operand["maps"]].count([]) == 2
    (contained,) = (m for m in operand["maps"] if m["contained_in"])
    assert "[s0]" not in contained["map"] and contained["contained_engines"] and len(contained["contained_in"]) == 2
    assert (operand["elements_read"], operand["pairs"], operand["reads"]) == (40, 400, 440)


TWO_OUTPUTS = """HloModule m
f {
  p = f32[10,4] parameter(0)
  t = f32[10,4] parameter(1)
  i = s32[] parameter(2)
  z = s32[] constant(0)
  a = f32[6,4] slice(p), slice={[0:6], [0:4]}
  b = f32[7,3] slice(p), slice={[3:10], [0:3]}
  c = f32[2,4] dynamic-slice(t, i, z), dynamic_slice_sizes={2,4}
  ROOT r = (f32[6,4], f32[7,3], f32[2,4]) tuple(a, b, c)
}
ENTRY e {
  p = f32[10,4] parameter(0)
  t = f32[10,4] parameter(1)
  i = s32[] parameter(2)
  ROOT fusion = (f32[6,4], f32[7,3], f32[2,4]) fusion(p, t, i), kind=kLoop, calls=f
}"""


def test_all_outputs_together() -> None:
    for few in (None, 0):
        with pytest.MonkeyPatch.context() as patch:
            if few is not None:
                patch.setattr("hloproof.analysis.utilization.FEW_POINTS", few)
            (found,) = analyze(parse_module(TWO_OUTPUTS))
        used = {t.name: t.utilization for t in found.together}
        assert (used["p"].elements, used["p"].pairs, used["p"].reads, used["p"].exact) == (24 + 21 - 9, 45, 45, True)
        assert (used["t"].elements, used["t"].exact) == (8, True)
        assert used["i"].elements == 1
        assert any("all outputs <- operand 0 p: reads 36 of 40 elements (90.0%)" in line for line in as_lines(found))
        assert as_json(found)["all_outputs"][0]["elements_read"] == 36


@pytest.mark.parametrize("few", [0, 20_000])
def test_all_outputs_together_read_nothing_where_steps_between_devices_lead_nowhere(
    few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hloproof.analysis.utilization.FEW_POINTS", few)
    own = "(d0) -> (d0), domain: d0 in [0, 7]"
    sets = [
        OperandMaps(0, "reads", (parse_map(f"{own}\nreplica id:\n(d0) -> (1), domain: d0 in [0, {last}]"),))
        for last in (2, 4)
    ]
    operand = array("f32[8]")
    assert joint_utilization(sets, [utilization(s, operand) for s in sets], operand).elements == 5


def test_sizes_that_are_bounds_or_missing_give_no_exact_numbers() -> None:
    text = "HloModule m\nENTRY e {{\n  p = f32[{0},3] parameter(0)\n  ROOT n = f32[{0},3] negate(p)\n}}\n"
    (found,) = analyze(parse_module(text.format("<=5")), "n", launch=Launch(32))
    assert [(o.utilization.elements, o.utilization.exact) for o in found.operands] == [(15, False)]
    (found,) = analyze(parse_module(text.format("?")), "n", (2, 2), Launch(32))
    assert "unbounded" in found.reason or all("unbounded" in o.utilization.reason for o in found.operands)
    assert list(as_lines(found)) and as_json(found)


def test_the_command(tmp_path) -> None:  # type: ignore[no-untyped-def]
    from hloproof.commands.analyze import command

    path = tmp_path / "m.hlo"
    path.write_text(FUSION)
    shown = CliRunner().invoke(command, [str(path), "--tile", "32,16", "--format", "json"])
    assert shown.exit_code == 0 and json.loads(shown.output)["instructions"][0]["instruction"] == "fusion"
    assert CliRunner().invoke(command, [str(path), "--tile", "32,x"]).exit_code == 2
    assert CliRunner().invoke(command, [str(path), "--instruction", "nothing"]).exit_code != 0


@pytest.mark.parametrize(("name", "form"), [("analysis.txt", "text"), ("analysis.json", "json")])
def test_analyses_are_told_as_kept(name: str, form: str) -> None:
    """With HLOPROOF_WRITE_GOLDEN=1 the files are written anew, to be read before they are committed."""
    from hloproof.commands.analyze import command

    module = Path(__file__).parent / "data" / "analyzed.hlo"
    kept = Path(__file__).parent / "golden" / name
    done = CliRunner().invoke(command, [str(module), "--tile", "16,40", "--launch", "12,128,4", "--format", form])
    assert done.exit_code == 0
    if os.environ.get("HLOPROOF_WRITE_GOLDEN"):
        kept.write_text(done.output)
    assert done.output == kept.read_text()
