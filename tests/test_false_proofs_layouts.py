"""Every clause of a layout entry is judged, or the entry is unknown and names it: no wrong clause is proved."""

from __future__ import annotations

import pytest
from spec_texts import check_layouts_text, check_maps_text

from hloproof.claims.layouts.clauses import JUDGES
from hloproof.models.specs.layouts import SILENT, WORDS, parse_layouts
from hloproof.pipeline.driver import check_hlo
from hloproof.pipeline.options import Options, Selection
from hloproof.results.verdict import ClaimResult, Verdict

SAYING = sorted(WORDS - SILENT)
"""The words that say something, from the reader's own table."""

RIGHT = {
    "padded": "24",
    "padding": "9",
    "element-bits": "32",
    "data-bytes": "60",
    "bytes": "96",
    "xla-bytes": "96",
    "parts": "1",
    "physical": "[3,5]",
    "tiled": "[2,3,2,2]",
    "position": "[2,3] = 17",
    "positions": "0 1 4 5 8 2 3 6 7 10 12 13 16 17 20",
    "bit": "[2,3] = 544",
    "at": "9 = padding",
    "formula": "(d0, d1) -> ((d0 floordiv 2) * 12 + (d1 floordiv 2) * 4 + (d0 mod 2) * 2 + d1 mod 2),"
    " domain: d0 in [0, 2], d1 in [0, 4]",
    "same": "s32[3,5]{1,0:T(2,2)}",
    "bitcast": "u32[3,5]{1,0:T(2,2)}",
}
"""What is so of f32[3,5]{1,0:T(2,2)}."""
WRONG = {
    "padded": "25",
    "padding": "8",
    "element-bits": "16",
    "data-bytes": "61",
    "bytes": "95",
    "xla-bytes": "92",
    "parts": "2",
    "physical": "[5,3]",
    "tiled": "[2,3,2,1]",
    "position": "[2,3] = 18",
    "positions": "0 1 4 5 8 2 3 6 7 10 12 13 16 20 17",
    "bit": "[2,3] = 545",
    "at": "17 = padding",
    "formula": RIGHT["formula"].replace("* 12", "* 16"),
    "same": "s32[3,5]{0,1:T(2,2)}",
    "bitcast": "u32[5,3]{1,0:T(2,2)}",
}
"""The same clauses, each with one thing wrong, for the shape and for all sizes of its format."""


def checked(*clauses: str) -> ClaimResult:
    (found,) = check_layouts_text("layout a\n" + "".join(f"  {c}\n" for c in clauses), "x.layout")
    return found


def test_every_word_of_the_reader_has_a_judge_and_a_planted_error() -> None:
    assert set(SAYING) == set(JUDGES) == set(WRONG) == set(RIGHT)


@pytest.mark.parametrize("word", SAYING)
def test_a_wrong_clause_is_refuted_and_its_twin_proved(word: str) -> None:
    shape = "shape f32[3,5]{1,0:T(2,2)}"
    assert checked(shape, f"{word} {RIGHT[word]}").verdict is Verdict.PROVED
    assert checked(shape, f"{word} {WRONG[word]}").verdict is Verdict.REFUTED
    # No other clause keeps one from being judged.
    formula = f"formula {RIGHT['formula']}"
    if word != "formula":
        assert checked(shape, formula, f"{word} {WRONG[word]}").verdict is Verdict.REFUTED
        assert checked(shape, formula, f"{word} {RIGHT[word]}").verdict is Verdict.PROVED


@pytest.mark.parametrize("word", SAYING)
def test_a_clause_of_a_format_is_judged_or_named(word: str) -> None:
    """`?` stands for all sizes: a clause that fails at one is refuted, one that is judged for given sizes only is
    named."""
    found = checked("shape f32[?,?]{1,0:T(2,2)}", f"{word} {WRONG[word]}")
    assert found.verdict in (Verdict.REFUTED, Verdict.UNKNOWN)
    assert word in f"{found.counterexample or ''} {found.reason or ''}" or found.verdict is Verdict.REFUTED


def test_what_holds_of_a_format() -> None:
    shape = "shape f32[?,?]{1,0:T(8,128)}"
    assert checked(shape).verdict is Verdict.PROVED
    assert checked(shape, "element-bits 32").verdict is Verdict.PROVED
    found = checked(shape, "same f32[?,?]{1,0:T(8,128)}")
    assert found.verdict is Verdict.UNKNOWN
    assert found.reason is not None and "`same`" in found.reason
    for wrong in ("padded 17", "position [0,0] = 5", "same f32[?,?]{0,1:T(8,128)}", "element-bits 16"):
        assert checked(shape, wrong).verdict is Verdict.REFUTED


@pytest.mark.parametrize(
    ("shape", "clause", "verdict"),
    [
        # Of square arrays the same positions are padding, and as many: 2 rows of 3 elements tell them apart.
        ("f32[?,?]{1,0:T(2,1)}", "bitcast f32[?,?]{0,1:T(2,1)}", "refuted"),
        ("f32[?,?]{1,0:T(2,1)}", "bitcast f32[?,?]{1,0:T(2,1)}", "unknown"),
        # Open sizes are taken for those of the entry in order, where there are as many.
        ("f32[?,?]{1,0}", "same f32[?,?,?]{2,1,0}", "unknown"),
        ("f32[?,?]{1,0}", "same f32[?,3]{1,0}", "unknown"),
        ("f32[?,?]{1,0}", "bitcast f32[?]{0}", "unknown"),
    ],
)
def test_formats_are_tried_at_sizes_that_differ(shape: str, clause: str, verdict: str) -> None:
    assert checked(f"shape {shape}", clause).verdict.value == verdict


FORMULAS = [
    ("f32[4]{0}", "(d0) -> (d0), domain: d0 in [0, 3]", "proved"),
    ("f32[4]{0}", "(d0) -> (d0 - 5), domain: d0 in [5, 8]", "refuted"),
    ("f32[4]{0}", "(d0) -> (d0), domain: d0 in [0, 4]", "refuted"),
    ("f32[4]{0}", "(d0) -> (d0, 0), domain: d0 in [0, 3]", "refuted"),
    ("f32[4]{0}", "(d0) -> (d0 floordiv d0), domain: d0 in [0, 3]", "refuted"),
    ("f32[4]{0}", "(d0) -> (d0 + 0 * (3 mod 0)), domain: d0 in [0, 3]", "refuted"),
    ("f32[4]{0}", "(d0) -> (d0 + 0 * (3 mod (d0 + 1))), domain: d0 in [0, 3]", "proved"),
    ("f32[4]{0}", "(d0) -> (d0 + 0 * (1 mod (3 mod (d0 + 1)))), domain: d0 in [0, 3]", "refuted"),
    ("f32[4]{0}", "(d0) -> (3 - d0), domain: d0 in [0, 3]", "refuted"),
    ("f32[4]{0}", "(d0) -> (d0), domain: d0 in [0, 3], d0 in [0, 2]", "unknown"),
    ("f32[4]{0}", "(d0)[s0] -> (d0), domain: d0 in [0, 3], s0 in [0, 0]", "unknown"),
    ("f32[4]{0:SC(0:2)}", "(d0) -> (d0 floordiv 2, d0 mod 2), domain: d0 in [0, 3]", "proved"),
    ("f32[4]{0:SC(0:2)}", "(d0) -> (d0 mod 2, d0 floordiv 2), domain: d0 in [0, 3]", "refuted"),
]


@pytest.mark.parametrize(("shape", "formula", "verdict"), FORMULAS)
def test_a_formula_is_defined_over_the_indices_and_no_other(shape: str, formula: str, verdict: str) -> None:
    assert checked(f"shape {shape}", f"formula {formula}").verdict.value == verdict


@pytest.mark.parametrize(
    ("clause", "verdict"),
    [
        ("positions 0 1 2 3", "proved"),
        ("positions 0 1 2", "refuted"),
        ("position [3] = 3", "proved"),
        ("position [4] = 4", "refuted"),
        ("at 3 = [3]", "proved"),
        ("at 4 = padding", "refuted"),
        ("at 4 = [4]", "refuted"),
    ],
)
def test_the_end_of_the_array_and_of_the_memory(clause: str, verdict: str) -> None:
    assert checked("shape f32[4]{0}", clause).verdict.value == verdict


def test_a_format_of_a_split_array_is_not_modelled() -> None:
    assert checked("shape f32[?]{0:SC(0:2)}").verdict is Verdict.UNKNOWN
    assert checked("shape f32[?]{0:T(2)}").verdict is Verdict.PROVED


def test_places_outside_of_the_shape_are_no_error_of_the_tool() -> None:
    """A bit beyond the elements (once an exception) is none, one inside is judged by both readings."""
    assert checked("shape s4[7]{0:E(4)}", "bit [9] = 12").verdict is Verdict.REFUTED
    assert checked("shape s4[7]{0:E(4)}", "bit [3] = 12").verdict is Verdict.PROVED
    assert checked("shape s4[7]{0:E(4)}", "bit [3] = 24").verdict is Verdict.REFUTED


def test_splits_are_not_compared_by_their_offsets_alone() -> None:
    """[0..3] over two memories: offsets 0 1 0 1, whichever memory they are in."""
    assert checked("shape f32[4]{0:SC(0:2)}", "same f32[4]{0:SC(0:2)}").verdict is Verdict.UNKNOWN
    assert checked("shape f32[4]{0:SC(0:2)}", "at 2 = [2]").verdict in ("unknown", "refuted")


@pytest.mark.parametrize(
    ("clause", "right", "wrong"),
    [
        # Two parts of one element each, in tiles of four: the sizes are of one part, but for padding and bytes.
        ("padded", 4, 8),
        ("padding", 6, 2),
        ("parts", 2, 1),
        ("data-bytes", 8, 4),
        ("bytes", 32, 16),
        ("xla-bytes", 16, 32),
    ],
)
def test_what_the_parts_of_a_split_array_take(clause: str, right: int, wrong: int) -> None:
    shape = "shape f32[2]{0:T(4)SC(0:1)}"
    assert checked(shape, f"{clause} {right}").verdict is Verdict.PROVED
    assert checked(shape, f"{clause} {wrong}").verdict is Verdict.REFUTED


@pytest.mark.parametrize("split", ["0:9", "0:8", "0:0", "0:3,3", "0:5,3"])
def test_a_split_that_cuts_nothing_off_proves_nothing_of_a_module(split: str) -> None:
    text = (
        "HloModule m\nENTRY e {{\n p = f32[8]{{0:SC({0})}} parameter(0)\n ROOT n = f32[8]{{0:SC({0})}} negate(p)\n}}\n"
    )
    options = Options(jobs=1, selection=Selection(only=("layout",)))
    assert {r.verdict for r in check_hlo(text.format(split), options).records()} == {Verdict.UNKNOWN}
    assert {r.verdict for r in check_hlo(text.format("0:3"), options).records()} == {Verdict.PROVED}


def test_the_words_of_an_entry_are_kept_in_order() -> None:
    (spec,) = parse_layouts("layout a\n  shape f32[4]\n  padded 4\n  note n\n  bytes 16\n", "x.layout")
    assert spec.said == ("padded", "bytes")


MEMORIES = [
    # Equal offsets are the same bits in one memory only.
    ("f32[8,130]{1,0:T(8,128)}", "bitcast f32[8,130]{1,0:T(8,128)S(1)}", "unknown"),
    ("f32[8,130]{1,0:T(8,128)S(1)}", "bitcast f32[1040]{0:S(1)}", "refuted"),
    ("f32[8,128]{1,0:T(8,128)S(1)}", "bitcast f32[1024]{0:S(1)}", "proved"),
    ("f32[8]{0}", "same f32[8]{0:S(1)}", "proved"),  # positions are compared, and no bits
    # M(n) bytes lie before the data: bytes and bits begin there, and positions count elements.
    ("f32[8]{0:M(64)}", "bitcast f32[8]{0}", "unknown"),
    ("f32[8]{0:M(64)}", "bitcast f32[2,4]{1,0:M(64)}", "proved"),
    ("f32[8]{0:M(64)}", "bytes 32", "unknown"),
    ("f32[8]{0:M(64)}", "xla-bytes 32", "unknown"),
    ("f32[8]{0:M(64)}", "bit [0] = 0", "unknown"),
    ("f32[8]{0:M(64)}", "padded 8", "proved"),
    # A split array lies in several memories, on whichever side it stands.
    ("f32[4]{0:SC(0:2)}", "bitcast f32[4]{0}", "unknown"),
    ("f32[4]{0}", "bitcast f32[4]{0:SC(0:2)}", "unknown"),
    # Half a byte more, in the byte that both end in.
    ("s4[3]{0:E(4)}", "bitcast s4[4]{0:E(4)}", "unknown"),
    ("f32[4]{0}", "same f32[5]{0}", "unknown"),
    ("f32[5]{0}", "same f32[4]{0}", "unknown"),
    # Which bits of a dynamic size belong to elements is known at run time.
    ("f32[<=8]{0}", "bitcast f32[8]{0}", "unknown"),
    # Where compilers keep the size beside the elements, these are 36 bytes.
    ("f32[<=8]{0}", "bytes 32", "unknown"),
    ("f32[<=8]{0}", "bytes 36", "unknown"),
    ("f32[<=8]{0}", "xla-bytes 32", "proved"),
    ("f32[<=8]{0}", "data-bytes 32", "proved"),
    # XLA's sum has no meaning where the first tile combines dimensions.
    ("f32[3,5]{1,0:T(*,4)}", "xla-bytes 64", "unknown"),
    ("f32[3,5]{1,0:T(*,4)}", "bytes 64", "proved"),
]


@pytest.mark.parametrize(("shape", "clause", "verdict"), MEMORIES)
def test_bits_are_those_of_one_memory(shape: str, clause: str, verdict: str) -> None:
    found = checked(f"shape {shape}", clause)
    assert found.verdict.value == verdict
    assert verdict != "unknown" or f"`{clause.split()[0]}`" in (found.reason or "")


@pytest.mark.parametrize(("space", "verdict"), [("", "proved"), ("S(1)", "unknown")])
def test_a_bitcast_stays_in_its_memory(space: str, verdict: str) -> None:
    """In a module and in a map spec as in a layout spec."""
    text = f"x = f32[4,2]{{1,0}} parameter(0)\n    ROOT r = f32[8]{{0{':' if space else ''}{space}}} bitcast(x)"
    options = Options(selection=Selection(("bitcast",)), jobs=1)
    assert {r.verdict.value for r in check_hlo(f"ENTRY e {{\n    {text}\n}}", options).records()} == {verdict}
    said = "output-to-input 0 (d0) -> (d0 / 2, d0 mod 2), domain: d0 in [0, 7]"
    (found,) = check_maps_text(f"map a\n  hlo\n    {text}\n  {said}\n", "x.map")
    assert found.verdict.value == verdict


@pytest.mark.parametrize("op", ["mod", "floordiv", "ceildiv"])
def test_a_formula_without_a_value_is_not_proved(op: str) -> None:
    text = "formula (d0) -> (d0 + 0 * (1 {} {})), domain: d0 in [0, 3]"
    assert checked("shape f32[4]{0}", text.format(op, "(d0 + 1)")).verdict is Verdict.PROVED
    assert checked("shape f32[4]{0}", text.format(op, "d0")).verdict in ("unknown", "refuted")


@pytest.mark.parametrize(
    ("shape", "clause", "said"),
    [
        ("f32[8]{0:E(16)}", "bytes 16", Verdict.UNKNOWN),
        ("f32[8]{0:E(32)}", "bytes 32", Verdict.PROVED),
        ("f32[8]{0:E(16)}", "bitcast bf16[8]", Verdict.UNKNOWN),
        ("s4[8]{0:E(3)}", "bytes 3", Verdict.UNKNOWN),
        ("s4[8]{0:E(4)}", "bytes 4", Verdict.PROVED),
        ("s8[8]{0:E(4)}", "bytes 4", Verdict.UNKNOWN),
        ("pred[8]{0:E(1)}", "bytes 1", Verdict.PROVED),
        ("f32[8]{0:D(D~)}", "bytes 32", Verdict.UNKNOWN),
        ("f32[8]{0:D(D)}", "bytes 32", Verdict.PROVED),
    ],
)
def test_elements_that_do_not_fit_or_lie_loosely_are_not_measured(shape: str, clause: str, said: Verdict) -> None:
    assert checked(f"shape {shape}", clause).verdict is said


@pytest.mark.parametrize(("one", "other"), [("f32[8]{0}", "f32[<=8]{0}"), ("f32[<=8]{0}", "f32[8]{0}")])
def test_a_bitcast_of_sizes_at_run_time_is_unknown_on_either_side(one: str, other: str) -> None:
    assert checked(f"shape {one}", f"bitcast {other}").verdict is Verdict.UNKNOWN
