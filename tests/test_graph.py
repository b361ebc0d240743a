"""`hloproof graph` and `analyze --summary`: what a reader sees of a module at a glance."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hloproof.cli import run
from hloproof.report.layered import place

ROOT = Path(__file__).parents[1]
MODULE = """HloModule m
f {
  p = f32[128,256]{1,0} parameter(0)
  t = f32[256,128]{1,0} transpose(p), dimensions={1,0}
  q = f32[256]{0} parameter(1)
  b = f32[256,128]{1,0} broadcast(q), dimensions={0}
  s = f32[256,128]{1,0} add(t, b)
  z = f32[] constant(0)
  ROOT c = f32[256,140]{1,0} pad(s, z), padding=0_0x4_8
}
g {
  p = f32[256,140]{1,0} parameter(0)
  ROOT n = f32[256,140]{1,0} negate(p)
}
ENTRY e {
  x = f32[128,256]{1,0} parameter(0)
  y = f32[256]{0} parameter(1)
  slow = f32[256,140]{1,0} fusion(x, y), kind=kLoop, calls=f, metadata={op_name="jit(f)/t" source_file="a.py"
    source_line=7}
  quick = f32[256,140]{1,0} fusion(slow), kind=kLoop, calls=g
  row = f32[140]{0} custom-call(quick), custom_call_target="x"
  ROOT r = (f32[256,140]{1,0}, f32[140]{0}) tuple(quick, row)
}
"""


@pytest.fixture
def module(tmp_path: Path) -> str:
    path = tmp_path / "m.hlo"
    path.write_text(MODULE)
    return str(path)


def texts(drawing: str) -> list[str]:
    return [t.text or "" for t in ElementTree.fromstring(drawing).iter("{http://www.w3.org/2000/svg}text")]


def test_a_fusion_is_drawn_with_maps_on_its_arrows(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["graph", module, "--fusion", "slow"]) == 0
    shown = texts(capsys.readouterr().out)
    assert {"t", "transpose f32[256,128]{1,0}", "(d0, d1) -> (d1, d0)", "(d0, d1) -> (d0)"} <= set(shown)
    assert "(d0, d1) -> (d0, d1 - 4)" in shown


def test_the_entry_is_drawn_to_a_file_with_tuples_and_what_is_opaque(module: str, tmp_path: Path) -> None:
    drawing = tmp_path / "m.svg"
    assert run(["graph", module, "--output", str(drawing)]) == 0
    shown = texts(drawing.read_text())
    assert "slow" in shown and shown.count("(d0) -> (d0)") == 1 and "reads nothing" not in shown


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--fusion", "nobody"], "no instruction 'nobody'"),
        (["--fusion", "x"], "x is a parameter, and calls nothing"),
        (["--computation", "nobody"], "here are f, g, e"),
        (["--fusion", "slow", "--computation", "f"], "exclude each other"),
    ],
)
def test_what_cannot_be_drawn_is_told(
    module: str, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["graph", module, *arguments]) == 2
    assert said in capsys.readouterr().err


def test_too_many_instructions_are_no_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [f"  n{k} = f32[4] negate({f'n{k - 1}' if k else 'p'})" for k in range(200)]
    path = tmp_path / "long.hlo"
    path.write_text(
        "\n".join(["ENTRY e {", "  p = f32[4] parameter(0)", *lines, "  ROOT r = f32[4] negate(n199)", "}"])
    )
    assert run(["graph", str(path)]) == 2
    assert "a picture holds 150" in capsys.readouterr().err


@given(st.lists(st.lists(st.integers(0, 11), max_size=3), min_size=1, max_size=12), st.lists(st.integers(20, 300)))
@settings(max_examples=60)
def test_nodes_of_a_layer_do_not_overlap_and_arrows_lead_down(operands: list[list[int]], widths: list[int]) -> None:
    sizes = {str(n): float((widths[n : n + 1] or [80])[0]) for n in range(len(operands))}
    edges = [(str(o % n), str(n)) for n, given in enumerate(operands) for o in given if n]
    placed = place(sizes, edges)
    assert all(placed.layer[a] < placed.layer[b] for a, b in edges)
    for layer in range(placed.layers):
        row = sorted((placed.x[n], sizes[n]) for n in sizes if placed.layer[n] == layer)
        assert all(b - a > (wa + wb) / 2 for (a, wa), (b, wb) in pairwise(row))
    assert all(placed.x[n] - sizes[n] / 2 >= 0 and placed.x[n] + sizes[n] / 2 <= placed.width + 1e-6 for n in sizes)


def test_the_summary_has_the_worst_read_first(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["analyze", module, "--summary"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("slow f32[256,140]{1,0}: worst %x f32[128,256]{1,0}: 32 sectors a warp where 4 would do")
    assert "reads 129 KiB, writes 140 KiB; jit(f)/t; a.py:7" in first
    assert second.startswith("quick") and "reads side by side" in second
    assert run(["analyze", module, "--summary", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)["instructions"]
    assert [f["instruction"] for f in found] == ["slow", "quick"] and found[0]["bytes_read"] == 129 * 1024


def test_a_module_without_fusions_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "m.hlo"
    path.write_text("ROOT r = f32[4] negate(f32[4] p)")
    for more in ([], ["--summary"]):
        assert run(["analyze", str(path), *more]) == 0
        assert "no fusions; --instruction NAME" in capsys.readouterr().out


def test_a_tile_says_which_fusions_it_fits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = MODULE.replace(
        "row = f32[140]{0} custom-call(quick), custom_call_target",
        "row = f32[140]{0} fusion(y), kind=kLoop, calls=h, frontend",
    )
    text = text.replace(', frontend="x"', "")
    text = text.replace(
        "ENTRY e", "h {\n  p = f32[256]{0} parameter(0)\n  ROOT s = f32[140]{0} slice(p), slice={[0:140]}\n}\nENTRY e"
    )
    path = tmp_path / "m.hlo"
    path.write_text(text)
    assert run(["analyze", str(path), "--tile", "4"]) == 0
    assert "which fits 1 of 3: row" in capsys.readouterr().err
    assert run(["analyze", str(path), "--tile", "4,4,4"]) == 2
    assert "rank 1 (row) or 2 (slow, quick)" in capsys.readouterr().err
