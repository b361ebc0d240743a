"""Map specs: the documents' worked examples hold, their slips and historic rewrites are refuted."""

from __future__ import annotations

from pathlib import Path

import pytest
from spec_texts import check_maps_text

from hloproof.models.errors import InputError
from hloproof.models.specs.maps import parse_map_specs
from hloproof.pipeline.map_specs import check_map_spec
from hloproof.results.verdict import ClaimResult, Verdict

SPECS = Path(__file__).parents[1] / "specs"
FILES = sorted((SPECS / "examples").glob("*.map")) + sorted((SPECS / "refuted").glob("*.map"))


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_the_specs_hold(path: Path) -> None:
    found = check_maps_text(path.read_text(encoding="utf-8"), path.name)
    assert found
    assert [(r.instruction, r.counterexample or r.reason) for r in found if r.verdict is not Verdict.PROVED] == []


def test_every_slip_of_the_document_is_in_the_ledger() -> None:
    specs = parse_map_specs((SPECS / "refuted" / "indexing.map").read_text(encoding="utf-8"))
    assert {s.name: s.expect for s in specs if s.expect != "proved"} == {
        "broadcast-with-bounds-one-too-large": "refuted",
        "broadcast-names-a-variable-that-is-not-there": "error",
        "reduce-over-ten-of-256-rows": "refuted",
        "slice-without-its-starts": "refuted",
        "dot-takes-the-contracted-dimension": "refuted",
        "simplifier-4-with-the-minus-inside": "refuted",
    }
    assert all(s.source for s in specs if s.expect != "proved")


def checked(text: str) -> ClaimResult:
    (found,) = check_maps_text(text, "x.map")
    return found


REVERSE = "map one\n  hlo\n    p = f32[4] parameter(0)\n    ROOT r = f32[4] reverse(p), dimensions={0}\n"
SUM = (
    "map one\n  hlo\n    p = f32[4] parameter(0)\n    r = f32[4] reverse(p), dimensions={0}\n"
    "    ROOT s = f32[4] add(p, r)\n  follow\n"
)


@pytest.mark.parametrize(
    ("text", "verdict", "told"),
    [
        (REVERSE + "  output-to-input 0 (d0) -> (3 - d0), domain: d0 in [0, 3]\n", "proved", ""),
        (REVERSE + "  output-to-input 0 (d0) -> (d0), domain: d0 in [0, 3]\n", "refuted", "reads operand 0 at"),
        (REVERSE + "  output-to-input 0 (d0) -> (4 - d0), domain: d0 in [0, 3]\n", "refuted", "operand 0 is f32[4]"),
        (REVERSE + "  output-to-input 0 (d0) -> (3 - d0), domain: d0 in [0, 2]\n", "refuted", "by no map"),
        (REVERSE + "  output-to-input 0 nothing\n", "refuted", "by no map"),
        (REVERSE + "  output-to-input 1 (d0) -> (d0), domain: d0 in [0, 3]\n", "unknown", "no operand 1"),
        (REVERSE + "  instruction q\n  output-to-input 0 nothing\n", "unknown", "no instruction 'q'"),
        (SUM + "  output-to-input 0 (d0) -> (d0), domain: d0 in [0, 3]\n", "refuted", "the composition gives ("),
        (
            SUM + "  output-to-input 0 (d0) -> (d0), domain: d0 in [0, 3]\n"
            "  output-to-input 0 (d0) -> (3 - d0), domain: d0 in [0, 3]\n",
            "proved",
            "",
        ),
        (
            SUM + "  output-to-input 0 (d0)[s0] -> (s0), domain: d0 in [0, 3], s0 in [0, 3]\n",
            "refuted",
            "what is said gives (",
        ),
        (
            "map one\n  map (d0) -> (d0 mod 4), domain: d0 in [0, 3]\n  equals (d0) -> (d0), domain: d0 in [0, 3]\n",
            "proved",
            "",
        ),
        (
            "map one\n  map (d0) -> (d0 mod 4), domain: d0 in [0, 4]\n  equals (d0) -> (d0), domain: d0 in [0, 4]\n",
            "refuted",
            "d0 = 4",
        ),
    ],
)
def test_statements_are_judged(text: str, verdict: str, told: str) -> None:
    found = checked(text)
    assert found.verdict == verdict
    assert told in (found.counterexample or found.reason or "")
    if verdict != "unknown":
        turned = checked(text + "  expect refuted\n")
        assert turned.verdict == ("proved" if verdict == "refuted" else "refuted")


UNREADABLE = [
    ("map one\n", 1, 1, "a clause `hlo` or a clause `map`"),
    (REVERSE, 1, 1, "nothing is said"),
    ("map one\n  map (d0) -> (d0), domain: d0 in [0, 3]\n", 1, 1, "goes together"),
    ("map one\n  output-to-input 0 nothing\n", 2, 3, "there is none"),
    (REVERSE + "  output-to-input (d0) -> (d0)\n", 5, 19, "number of an operand"),
    (REVERSE + "  output-to-input 0 (d0) -> (d1),\n    domain: d0 in [0, 3]\n", 5, 30, "declared variable"),
    (
        "map one\n  hlo\n    p = f32[4] parameter(0)\n    ROOT r = f32[5] negate(q)\n  output-to-input 0 nothing\n",
        4,
        5,
        "operand q of r",
    ),
]


@pytest.mark.parametrize(("text", "line", "column", "message"), UNREADABLE)
def test_unreadable_specs_name_the_place(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(InputError) as raised:
        parse_map_specs(text, "x.map")
    assert (raised.value.line, raised.value.column) == (line, column)
    assert message in raised.value.message


SHARDED = """map sharded
  hlo
    HloModule m, frontend_attributes={xla.sdy.meshes="{mesh = #sdy.mesh<[\\"x\\"=2]>}"}
    ENTRY e {
      p = f32[4,8] parameter(0), frontend_attributes={xla.sdy.sharding="a # b"}  # a comment
      ROOT r = f32[8,4] transpose(p), dimensions={1,0}, frontend_attributes={xla.sdy.mesh=#sdy.mesh<1>}
    }
  output-to-input 0 (d0, d1) -> (d1, d0), domain: d0 in [0, 7], d1 in [0, 3]
  expect refuted  # since it is right: not met
"""


def test_a_sign_of_comments_inside_hlo_text_begins_none() -> None:
    """Strings and Shardy attributes are kept, comments behind them are not, and expectations are still read."""
    [spec] = parse_map_specs(SHARDED)
    assert spec.expect == "refuted" and spec.module is not None
    assert check_map_spec(spec).verdict == "refuted"
    [right] = parse_map_specs(SHARDED.replace("  expect refuted  # since it is right: not met\n", ""))
    assert check_map_spec(right).verdict == "proved"


def test_a_finding_points_at_its_clause() -> None:
    wrong = SHARDED.replace("-> (d1, d0)", "-> (d0, d1)").replace(
        "  expect refuted  # since it is right: not met\n", ""
    )
    found = check_map_spec(parse_map_specs(wrong)[0])
    assert (found.verdict, found.line, found.column) == ("refuted", 8, 3)
    assert [(r.line, r.column) for r in found.related] == [(1, 1)]
    maps = "map m\n  map (d0) -> (d0), domain: d0 in [0, 3]\n  equals (d0) -> (d0), domain: d0 in [0, 3]\n"
    found = check_map_spec(parse_map_specs(maps + "  becomes (d0) -> (0), domain: d0 in [0, 3]\n")[0])
    assert (found.verdict, found.line) == ("refuted", 4)


def test_a_suppression_beside_an_entry_is_beside_its_clauses(tmp_path: Path) -> None:
    from hloproof.pipeline.driver import check
    from hloproof.results.findings import Policy, judge

    text = "map m  # hloproof: allow definition because it is known\n  map (d0) -> (d0), domain: d0 in [0, 3]\n"
    (tmp_path / "a.map").write_text(text + "  becomes (d0) -> (0), domain: d0 in [0, 3]\n")
    report = check(str(tmp_path / "a.map"))
    judged = judge(report, Policy(comments=report.files[0].suppressions))
    assert len(judged.findings) == 1 and not judged.new and not judged.stale
