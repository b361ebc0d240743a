"""What `indexing` prints can be claimed as it stands, and is proved; with one thing changed it is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from spec_texts import check_maps_text

from hloproof.cli import run
from hloproof.models.errors import InputError
from hloproof.models.hlo.parser import parse_module
from hloproof.models.maps.text import parse_map, print_map
from hloproof.queries.indexing import answer
from hloproof.results.verdict import Verdict

MODULES = {
    "empty": "p = s32[3] parameter(0)\n ROOT r = s32[0] slice(p), slice={[3:3]}",
    "start that is a parameter": "p = f32[8] parameter(0)\n q = s32[] parameter(1)\n"
    " ROOT r = f32[4] dynamic-slice(p, q), dynamic_slice_sizes={4}",
    "start that is computed": "p = f32[8] parameter(0)\n q = s32[] parameter(1)\n n = s32[] negate(q)\n"
    " ROOT r = f32[4] dynamic-slice(p, n), dynamic_slice_sizes={4}",
    "one start twice": "p = f32[8,8] parameter(0)\n q = s32[] parameter(1)\n"
    " ROOT r = f32[4,4] dynamic-slice(p, q, q), dynamic_slice_sizes={4,4}",
    "gather": "p = f32[8] parameter(0)\n q = s32[3] parameter(1)\n ROOT r = f32[3] gather(p, q), offset_dims={},"
    " collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}",
    "update": "p = f32[8] parameter(0)\n u = f32[2] parameter(1)\n q = s32[] parameter(2)\n"
    " ROOT r = f32[8] dynamic-update-slice(p, u, q)",
    "pad": "p = f32[4] parameter(0)\n z = f32[] parameter(1)\n ROOT r = f32[9] pad(p, z), padding=1_1_1",
    "concatenate": "p = f32[4] parameter(0)\n q = f32[4] parameter(1)\n"
    " ROOT r = f32[8] concatenate(p, q), dimensions={0}",
}
NESTED = (
    "p = f32[8] parameter(0)\n q = s32[6] parameter(1)\n k = s32[] parameter(2)\n"
    " g = f32[6] gather(p, q), offset_dims={},"
    " collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}\n"
    " ROOT r = f32[3] dynamic-slice(g, k), dynamic_slice_sizes={3}"
)


def claims(body: str, direction: str, fused: bool) -> str:
    """A map spec with what is printed of the root."""
    module = parse_module(f"ENTRY e {{\n {body}\n}}")
    sets = answer(module, "", direction, fused=fused)
    lines = [f"map a\n  hlo\n    {body.replace(chr(10), chr(10) + '   ')}"] + (["  follow"] if fused else [])
    for s in sets:
        number = s.operand if direction == "output-to-input" or fused else 0
        for m in s.maps:
            lines.append(f"  {direction} {number} " + print_map(m).replace("\n", "\n    "))
        if not s.maps:
            lines.append(f"  {direction} {number} nothing")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize("fused", [False, True])
def test_what_is_printed_can_be_claimed(name: str, fused: bool) -> None:
    text = claims(MODULES[name], "output-to-input", fused)
    (found,) = check_maps_text(text, "x.map")
    assert found.verdict is Verdict.PROVED, (text, found.counterexample, found.reason)


def test_what_is_printed_towards_the_output_can_be_claimed() -> None:
    for name in ("empty", "pad", "concatenate", "start that is a parameter"):
        text = claims(MODULES[name], "input-to-output", False)
        (found,) = check_maps_text(text, "x.map")
        assert found.verdict is Verdict.PROVED, (text, found.counterexample, found.reason)


def test_an_empty_claim_where_something_is_read_is_refuted() -> None:
    text = "map a\n  hlo\n    p = f32[4] parameter(0)\n    ROOT r = f32[4] copy(p)\n  output-to-input 0 KNOWN EMPTY\n"
    assert check_maps_text(text, "x.map")[0].verdict is Verdict.REFUTED


@pytest.mark.parametrize(
    ("old", "new"), [("parameter(1)", "parameter(0)"), ("rt0 in [0, 4]", "rt0 in [0, 3]"), ("d0 + rt0", "d0 + rt0 + 1")]
)
def test_another_source_or_clamp_or_result_is_not_proved(old: str, new: str) -> None:
    for fused in (False, True):
        text = claims(MODULES["start that is a parameter"], "output-to-input", fused)
        head, first, rest = text.partition("  output-to-input 0")
        changed = head + first + rest.replace(old, new, 1)
        assert changed != text
        assert check_maps_text(changed, "x.map")[0].verdict in ("unknown", "refuted")


def test_readings_inside_of_readings_name_their_sources(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sets = answer(parse_module(f"ENTRY e {{\n {NESTED}\n}}"), fused=True)
    (m,) = sets[0].maps
    text = print_map(m)
    assert "; reading {rt0 = parameter(2)" in text
    assert parse_map(text) == m and print_map(parse_map(text)) == text
    file = tmp_path / "m.hlo"
    file.write_text(f"ENTRY e {{\n {NESTED}\n}}")
    assert run(["indexing", str(file), "--fused", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["operands"][0]["maps"] == [text]
    spec = claims(NESTED, "output-to-input", True)
    assert check_maps_text(spec, "x.map")[0].verdict is Verdict.PROVED
    other = spec.replace("reading {rt0 = parameter(2)", "reading {rt0 = parameter(1)")
    assert other != spec and check_maps_text(other, "x.map")[0].verdict in ("unknown", "refuted")


def test_wrong_lists_of_readings_name_the_place() -> None:
    text = "(d0){rt0} -> (rt0), domain: d0 in [0, 2], rt0 in [0, 7]\nruntime variables:\nrt0: q; (d0){rt0} -> (rt0), "
    for rest, message in (
        ("domain: d0 in [0, 2], rt0 in [0, 5]; reading {rt1 = k}", "a runtime variable of the map"),
        ("domain: d0 in [0, 2], rt0 in [0, 5]; reading {rt0 = k, rt0 = k}", "each once"),
        ("domain: d0 in [0, 2], rt0 in [0, 5]; reading {rt0 = k", "a runtime variable of the map"),
        ("domain: d0 in [0, 2], rt0 in [0, 5]; other", "'replica id:' or 'reading {'"),
    ):
        with pytest.raises(InputError) as raised:
            parse_map(text + rest)
        assert message in raised.value.message
