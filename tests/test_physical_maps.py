"""`indexing --layout physical`: maps between indices whose dimensions are in the order of memory."""

from __future__ import annotations

import json

import pytest
from map_points import points

import hloproof
from hloproof.cli import run
from hloproof.models.maps.indexing_map import Direction
from hloproof.models.maps.text import print_map

MODULES = [
    "ROOT r = f32[8,4]{0,1} transpose(f32[4,8]{1,0} p), dimensions={1,0}",
    "ROOT r = f32[8,4,3]{0,2,1} transpose(f32[4,8,3]{2,1,0} p), dimensions={1,0,2}",
    "ROOT r = f32[4,2,3]{1,2,0} broadcast(f32[3,4]{0,1} p), dimensions={2,0}",
    "ROOT r = f32[6,4]{0,1} reshape(f32[4,3,2]{0,1,2} p)",
    "ROOT r = f32[7,4]{0,1} concatenate(f32[4,4]{1,0} p, f32[3,4]{0,1} q), dimensions={0}",
]


def in_order(index: tuple[int, ...], minor_to_major: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(index[k] for k in reversed(minor_to_major))


@pytest.mark.parametrize("direction", ["output-to-input", "input-to-output"])
@pytest.mark.parametrize("text", MODULES)
def test_a_physical_map_is_the_logical_one_with_dimensions_in_the_order_of_memory(
    text: str, direction: Direction
) -> None:
    module = hloproof.parse(text)
    root = module.entry.root
    shapes = {i.name: i.shape for i in module.entry.instructions}
    orders = {name: s.layout.minor_to_major for name, s in shapes.items()}  # type: ignore[union-attr]
    logical = hloproof.maps(text, direction=direction)
    physical = hloproof.maps(text, direction=direction, layout="physical")
    for one, two in zip(logical.operands, physical.operands, strict=True):
        there = root.name if direction == "input-to-output" else root.operands[one.operand]
        here = root.operands[0] if direction == "input-to-output" else root.name
        expected = {(in_order(a, orders[here]), in_order(b, orders[there])) for m in one.maps for a, b in points(m)}
        assert {pair for m in two.maps for pair in points(m)} == expected


def test_a_transposition_that_moves_nothing_in_memory_is_the_identity() -> None:
    found = hloproof.maps(MODULES[0], layout="physical")
    assert str(found).splitlines()[1].strip().startswith("(d0, d1) -> (d0, d1)")


def test_the_order_is_followed_through_a_module(capsys: pytest.CaptureFixture[str], tmp_path_factory: object) -> None:
    text = """HloModule m
ENTRY e {
  p = f32[4,8]{0,1} parameter(0)
  n = f32[4,8]{1,0} negate(p)
  ROOT r = f32[8,4]{1,0} transpose(n), dimensions={1,0}
}"""
    found = hloproof.maps(text, fused=True, layout="physical")
    assert "(d0, d1) -> (d0, d1)" in str(found)  # out: [8,4] as it is; in: [4,8]{0,1}, so 8 comes first
    back = hloproof.maps(text, "p", "input-to-output", fused=True, layout="physical")
    assert "(d0, d1) -> (d0, d1)" in str(back)


def test_the_command_and_the_server_take_it(capsys: pytest.CaptureFixture[str], tmp_path: object) -> None:
    from pathlib import Path

    from hloproof.server.methods import METHODS

    path = Path(str(tmp_path)) / "m.hlo"
    path.write_text(MODULES[0])
    assert run(["indexing", str(path), "--layout", "physical", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)["operands"]
    assert METHODS["indexing"].run(hlo=MODULES[0], layout="physical")["operands"] == told
    assert "(d0, d1) -> (d0, d1)" in told[0]["maps"][0]
    with pytest.raises(Exception, match="layout is logical or physical"):
        METHODS["indexing"].run(hlo=MODULES[0], layout="other")


@pytest.mark.parametrize("first", ["f32[3,4]", "f32[]"])
def test_each_array_of_an_operand_has_its_own_order(first: str) -> None:
    """That of the first was taken for all, and maps were wrong, or could not be composed."""
    text = f"HloModule m\nENTRY e {{\n p = ({first}, f32[4,3]{{0,1}}) parameter(0)\n"
    text += " ROOT r = f32[4,3]{0,1} get-tuple-element(p), index=1\n}"
    (found,) = [o for o in hloproof.maps(text, direction="input-to-output", layout="physical").operands if o.maps]
    assert [print_map(m) for m in found.maps] == ["(d0, d1) -> (d0, d1), domain: d0 in [0, 2], d1 in [0, 3]"]


TWO = """HloModule m
ENTRY e {
  a = f32[3,4]{1,0} parameter(0)
  b = f32[4,3]{0,1} parameter(1)
  t = f32[4,3]{1,0} transpose(a), dimensions={1,0}
  n = f32[4,3]{0,1} negate(b)
  ROOT r = (f32[4,3]{1,0}, f32[4,3]{0,1}) tuple(t, n)
}"""


def test_each_parameter_and_each_output_that_is_followed_has_its_own_order() -> None:
    """Of four arrays each pair lies in memory alike but for the transposed one."""
    same = ["(d0, d1) -> (d0, d1), domain: d0 in [0, 2], d1 in [0, 3]"]
    turned = {n: ["(d0, d1) -> (d1, d0), domain: " + box] for n, box in
              (("a", "d0 in [0, 2], d1 in [0, 3]"), ("out", "d0 in [0, 3], d1 in [0, 2]"))}  # fmt: skip
    for output, expected in ((0, turned["out"]), (1, same)):
        found = hloproof.maps(TWO, fused=True, output=output, layout="physical").operands
        assert [[print_map(m) for m in o.maps] for o in found if o.maps] == [expected]
    for name, expected in (("a", turned["a"]), ("b", same)):
        found = hloproof.maps(TWO, name, "input-to-output", fused=True, layout="physical").operands
        assert [[print_map(m) for m in o.maps] for o in found if o.maps] == [expected]
