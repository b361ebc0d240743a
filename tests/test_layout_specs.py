"""Layout specs: those of the project hold, and wrong ones are told apart from unreadable ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from spec_texts import check_layouts_text

from hloproof.models.errors import InputError
from hloproof.models.specs.entries import parse_entries
from hloproof.models.specs.layouts import parse_layouts
from hloproof.results.verdict import ClaimResult, Verdict

SPECS = Path(__file__).parents[1] / "specs"
FILES = sorted((SPECS / "layouts").glob("*.layout")) + sorted((SPECS / "refuted").glob("*.layout"))


def checked(text: str) -> ClaimResult:
    (found,) = check_layouts_text(text, "x.layout")
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_the_specs_hold(path: Path) -> None:
    found = check_layouts_text(path.read_text(encoding="utf-8"), path.name)
    assert found
    assert [(r.instruction, r.counterexample or r.reason) for r in found if r.verdict is not Verdict.PROVED] == []


def test_both_figures_state_every_number() -> None:
    specs = {s.name: s for s in parse_layouts((SPECS / "layouts" / "document.layout").read_text(encoding="utf-8"))}
    for name in ("figure-1", "figure-2"):
        shape, table = specs[name].shape, specs[name].table
        assert shape is not None and table is not None
        assert len(table) == shape.elements


WRONG = [
    ("padded 25", "padded is 24, not 25"),
    ("tiled [2,3,2,1]", "tiled is [2, 3, 2, 2], not [2, 3, 2, 1]"),
    ("position [2,3] = 18", "element [2, 3] lies at position 17 by the formula, not 18"),
    ("positions 0 1 4 5 8 2 3 6 7 10 12 13 16 17", "positions has 14 numbers for 15 elements"),
    ("positions 0 1 4 5 8 2 3 6 7 10 12 13 16 20 17", "element [2, 3] lies at position 17 by the formula, not 20"),
    ("bit [2,3] = 17", "element [2, 3] begins at bit 544 by the formula, not 17"),
    ("at 9 = [1,5]", "position 9 is padding, and is said to hold [1, 5]"),
    ("at 17 = padding", "position 17 holds [2, 3], and is said to be padding"),
    ("at 24 = padding", "position 24 is outside of the memory, and is said to be padding"),
    ("same f32[3,5]", "same-positions: element [0, 2] lies at position 4 in"),
    ("bitcast f32[5,3]{1,0:T(2,2)}", "kept: element [0, 3] of the operand"),
]


@pytest.mark.parametrize(("clause", "counterexample"), WRONG)
def test_wrong_statements_are_refuted(clause: str, counterexample: str) -> None:
    text = f"layout one\n  shape f32[3,5]{{1,0:T(2,2)}}\n  {clause}\n"
    found = checked(text)
    assert found.verdict is Verdict.REFUTED
    assert found.counterexample is not None and found.counterexample.startswith(counterexample)
    assert checked(text + "  expect refuted\n").verdict is Verdict.PROVED


def test_expectations_that_are_not_met() -> None:
    assert checked("layout one\n  shape f32[3]\n  expect refuted\n").verdict is Verdict.REFUTED
    assert checked("layout one\n  shape f32[3]\n  expect error\n").verdict is Verdict.REFUTED
    assert checked("layout one\n  shape f32[3\n  expect error\n").verdict is Verdict.PROVED


def test_an_index_outside_is_wrong() -> None:
    found = checked("layout one\n  shape f32[3]\n  position [3] = 3\n")
    assert (found.verdict, found.counterexample) == (Verdict.REFUTED, "[3] is no index of f32[3]")


UNREADABLE = [
    ("layout one\n  padded 3\n", 1, 1, "has a clause `shape`"),
    ("layout one\n  shape f32[3]{1}\n", 2, 16, "no permutation"),
    ("layout one\n  shape f32[3]\n  padded x\n", 3, 10, "expected a number"),
    ("layout one\n  shape f32[3]\n  paded 3\n", 3, 3, "unknown clause 'paded'"),
    ("layout one\n  shape f32[3]\n  padded 3\n  padded 3\n", 4, 3, "given twice"),
    ("layout one\n  shape f32[3]\n  expect maybe\n", 3, 3, "expect is"),
    ("layout one\n  shape (f32[3])\n", 2, 9, "expected an array"),
    ("layout one\n  shape f32[3]\nlayout one\n  shape f32[3]\n", 3, 8, "used twice"),
    ("layout\n  shape f32[3]\n", 1, 8, "expected a name"),
    ("map one\n", 1, 1, "expected 'layout'"),
    ("  shape f32[3]\n", 1, 1, "before the first entry"),
    ("layout one\n  shape f32[3]\n  at 3 = [\n", 3, 6, "expected a position"),
    ("layout one\n  shape f32[3]\n  formula (d0) -> (d0),\n    domain: d0 in [0 2]\n", 4, 22, ""),
]


@pytest.mark.parametrize(("text", "line", "column", "message"), UNREADABLE)
def test_unreadable_specs_name_the_place(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(InputError) as raised:
        parse_layouts(text, "x.layout")
    assert (raised.value.line, raised.value.column) == (line, column)
    assert message in raised.value.message
    assert raised.value.render().endswith("^")


def test_comments_and_continued_clauses() -> None:
    (entry,) = parse_entries(
        "# head\nlayout one  # tail\n  shape f32[2]{0:#(u32)} # not part of it\n\n  note first\n    second # c\n",
        "layout",
        ("shape", "note"),
    )
    assert [(c.word, c.text) for c in entry.clauses] == [("shape", "f32[2]{0:#(u32)}"), ("note", "first\n    second")]


PLACES = [
    ("f32[4]", "position [3] = 3", "proved"),
    ("f32[4]", "position [4] = 4", "refuted"),
    ("f32[4]", "position [1,1] = 1", "refuted"),
    ("f32[4]", "bit [3] = 96", "proved"),
    ("f32[4]", "bit [4] = 128", "refuted"),
    ("f32[?]{0:T(8)}", "position [4,0] = 4", "refuted"),
    ("f32[?]{0:T(8)}", "position [4] = 4", "unknown"),
    # As many bytes, and not as many bits: what the last byte holds beyond is not known.
    ("s4[3]{0:E(4)}", "bitcast u16[1]", "unknown"),
    ("s4[4]{0:E(4)}", "bitcast u16[1]", "proved"),
    ("s4[2]{0:E(4)}", "bitcast u16[1]", "refuted"),
    # Equally many elements, of other widths: what one side has beyond lies on padding, whole, whichever side it is.
    ("f32[2]{0:T(4)}", "bitcast f64[2]{0}", "proved"),
    ("f64[2]{0}", "bitcast f32[2]{0:T(4)}", "proved"),
    ("f32[3]{0:T(4)}", "bitcast f64[2]{0}", "refuted"),
    ("f64[2]{0}", "bitcast f32[3]{0:T(4)}", "refuted"),
    ("f32[2]{0:T(4)}", "bitcast f64[1]{0:T(2)}", "proved"),  # equally many bits of data: each is kept
    ("f32[2]{0:T(4)}", "bitcast f64[1]{0}", "refuted"),  # not the same memory
    ("f32[2,1]{1,0:T(1,2)}", "bitcast f64[2]{0}", "refuted"),  # each f64 is half padding
    ("f32[2,2]{1,0:T(1,4)}", "bitcast f64[2]{0:T(4)}", "refuted"),  # as much data, in other places
]


@pytest.mark.parametrize(("shape", "clause", "verdict"), PLACES)
def test_places_that_are_none(shape: str, clause: str, verdict: str) -> None:
    assert checked(f"layout a\n  shape {shape}\n  {clause}\n").verdict.value == verdict
