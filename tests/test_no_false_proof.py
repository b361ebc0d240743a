"""What was once proved and is wrong, beside what is right: one table, run as a user runs it, plain and under `--cross`.

Each row names the test that goes further into its matter. A row whose wrong side is proved, whose right side is not, or
whose test is gone, fails.
"""

from __future__ import annotations

import ast
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal

import pytest
import test_async_paths
import test_claim_guards
import test_claimed_maps_of_devices as of_devices
import test_claimed_maps_of_values as of_values
import test_copies_inserted
import test_dynamic_sizes
import test_effects_in_flight
import test_effects_of_callees
import test_in_place_buffers
import test_in_place_fusions
import test_written_beside
from claimed_in_modules import ADD, indented
from planted_kernels import KERNELS
from planted_layouts import HANDED_OVER, IN_FLIGHT, LIBRARIES, MADE, NAMED
from planted_plans import PLANTED
from planted_rounds import ROUNDS
from test_false_proofs_layouts import RIGHT, WRONG
from test_false_proofs_maps import CHOSEN, COPY, P4, SLICES
from test_tensor_rules import DIVIDED

from hloproof.cli import run

HERE: Final = Path(__file__).parent
Kind = Literal["layout", "map", "rules", "trules", "hlo"]


Ending = Literal["refuted", "unknown", "no input", "proved"]


@dataclass(frozen=True)
class Row:
    """One false proof, or false refutation, of long ago: what `wrong` comes to, and `right` beside it, which is proved.
    Under `--cross` nothing more is proved, and `right` comes to `crossed` where no second engine can be had."""

    what: str
    kind: Kind
    wrong: str
    right: str
    test: str
    comes_to: Ending = "refuted"
    crossed: Ending = "proved"
    plans: tuple[str, str] = ("", "")
    """The memory plans of both sides, where the row is about these."""


def _layout(
    wrong: str, right: str, what: str, test: str, comes_to: Ending = "refuted", crossed: Ending = "proved"
) -> Row:
    return Row(
        what,
        "layout",
        f"layout a\n{wrong}",
        f"layout a\n{right}",
        f"test_false_proofs_layouts::{test}",
        comes_to,
        crossed,
    )


def _map(wrong: str, right: str, what: str, test: str, comes_to: Ending = "refuted", crossed: Ending = "proved") -> Row:
    return Row(what, "map", f"map a\n{wrong}", f"map a\n{right}", f"test_false_proofs_maps::{test}", comes_to, crossed)


def _rule(
    wrong: str, right: str, what: str, test: str, comes_to: Ending = "refuted", crossed: Ending = "proved"
) -> Row:
    return Row(what, "rules", wrong, right, f"test_false_proofs_rules::{test}", comes_to, crossed)


def _tensors(
    wrong: str, right: str, what: str, test: str, comes_to: Ending = "refuted", crossed: Ending = "proved"
) -> Row:
    false, true = ("rule a\n  " + side.replace("\n", "\n  ") + "\n" for side in (wrong, right))
    return Row(what, "trules", false, true, f"test_tensor_rules::{test}", comes_to, crossed)


_FORMAT: Final = "  shape f32[?,?]{1,0:T(2,2)}\n"
_SIZED: Final = "  shape f32[3,5]{1,0:T(2,2)}\n"
_JUDGED: Final = "test_a_clause_of_a_format_is_judged_or_named"
_CLAUSE: Final = "test_a_wrong_clause_is_refuted_and_its_twin_proved"

LAYOUTS: Final = [
    *(
        _layout(
            f"{_FORMAT}  {word} {WRONG[word]}\n",
            f"{_SIZED}  {word} {RIGHT[word]}\n",
            f"1: `{word}` of a format",
            _JUDGED,
        )
        for word in ("padded", "position", "same", "formula", "bitcast")
    ),
    *(
        _layout(
            f"{_SIZED}  formula {RIGHT['formula']}\n  {word} {WRONG[word]}\n",
            f"{_SIZED}  formula {RIGHT['formula']}\n  {word} {RIGHT[word]}\n",
            f"1: `{word}` beside a formula",
            _CLAUSE,
        )
        for word in ("position", "positions", "bit", "at")
    ),
    _layout(
        "  shape f32[4]\n  formula (d0) -> (d0), domain: d0 in [5, 8]\n",
        "  shape f32[4]\n  formula (d0) -> (d0), domain: d0 in [0, 3]\n",
        "1: a formula over other indices",
        "test_a_formula_is_defined_over_the_indices_and_no_other",
    ),
]

_BOX: Final = "domain: d0 in [0, 3], s0 in [0, 3]"
_SHIFT: Final = (
    f"(d0)[s0]{{{{rt0}}}} -> ({{}}), {_BOX}, rt0 in [0, 9]\n      runtime variables:\n"
    f"      rt0: parameter(1); (d0)[s0] -> (s0), {_BOX}\n"
)
_READ_TWICE: Final = (
    "(d0){{rt0, rt1}} -> ({}), domain: d0 in [0, 3], rt0 in [0, 9], rt1 in [0, 9]\n      runtime variables:\n"
    "      rt0: parameter(1); (d0) -> (d0), domain: d0 in [0, 3]\n"
    "      rt1: parameter(1); (d0) -> ({}), domain: d0 in [0, 3]\n"
)
_CALLED: Final = (
    "(d0){{rt0}} -> (rt0), domain: d0 in [0, 3], rt0 in [0, {}]{}\n      runtime variables:\n"
    "      rt0: {}; (d0) -> (d0), domain: d0 in [0, 3]\n"
)
_NONE: Final = "(d0) -> (d0), domain: d0 in [1, 0]"
_NOUGHT: Final = "(d0) -> (0), domain: d0 in [0, 3]"
_READS: Final = (
    "(d0){{rt0}} -> (rt0), domain: d0 in [0, 9], rt0 in [0, 9]\n      runtime variables:\n"
    "      rt0: parameter(1); (d0) -> (d0), domain: d0 in [0, {}]\n"
)
_INNER: Final = (
    "(d0){{rt0}} -> (rt0), domain: d0 in [0, 9], rt0 in [0, 9]\n      runtime variables:\n"
    "      rt0: parameter(1); (d0){{a, b}} -> ({}), domain: d0 in [0, 9], a in [0, 9], b in [0, 9]\n"
)
_SEVENTH: Final = (
    "  map (d0) -> (7 floordiv d0), domain: d0 in [0, 9]{}\n  becomes (d0) -> (7 floordiv d0), domain: d0 in [0, 9]{}\n"
)


def _equal(word: str, one: str, two: str) -> str:
    return f"  map {one.rstrip()}\n  {word} {two.rstrip()}\n"


def _twice(text: str) -> str:
    return _equal("becomes", text, text)


def _gathered(indices: str) -> str:
    """Rows of an array, taken at indices."""
    return (
        "    p = f32[8,2] parameter(0)\n    q = s32[4] parameter(1)\n    i = s32[4] reverse(q), dimensions={0}\n"
        f"    ROOT g = f32[4,2] gather(p, {indices}), offset_dims={{1}}, collapsed_slice_dims={{0}}, "
        "start_index_map={0}, index_vector_dim=1, slice_sizes={1,2}\n"
    )


def _beside(one: str, two: str) -> str:
    return f"  hlo\n{one}  hlo-after\n{two}"


_ONE: Final = "test_one_equality_of_maps"
_ALL: Final = "test_modules_are_compared_by_all_that_they_read"
_DEFINED: Final = "test_definedness_is_owed"
_EMPTY: Final = "test_beside_an_empty_map_all_is_owed_that_is_owed_elsewhere"
_OWED: Final = "test_readings_have_values_where_they_are_asked"

_OF_NO_NUMBER: Final = test_dynamic_sizes.given(*test_dynamic_sizes.LEFT_OUT)
MAPS: Final = [
    Row(
        "`hlo-after` between arrays of other sizes",
        "map",
        test_claim_guards.compared("f32[4] negate(n)", "f32[8] copy(q)"),
        test_claim_guards.compared("f32[8] negate(q)", "f32[8] copy(q)"),
        "test_claim_guards::test_modules_that_give_arrays_of_other_sizes_are_not_alike",
    ),
    Row(
        "`hlo-after` between arrays that are not as long at run time",
        "map",
        "map a\n" + _beside(test_dynamic_sizes.LENGTHS[3][0], test_dynamic_sizes.LENGTHS[3][1]),
        "map a\n" + _beside(test_dynamic_sizes.LENGTHS[0][0], test_dynamic_sizes.LENGTHS[0][1]),
        "test_dynamic_sizes::test_modules_that_give_arrays_of_other_lengths_are_not_alike",
    ),
    Row(
        "`hlo-after` between arrays as long as a number that the text leaves out",
        "map",
        "map a\n" + _beside(_OF_NO_NUMBER, _OF_NO_NUMBER),
        "map a\n" + _beside(_OF_NO_NUMBER, _OF_NO_NUMBER).replace("{...}", "2"),
        "test_dynamic_sizes::test_modules_that_give_arrays_of_other_lengths_are_not_alike",
        "unknown",
    ),
    Row(
        "`hlo-after` between arrays whose sizes are those of two dimensions",
        "map",
        "map a\n" + _beside(test_dynamic_sizes.LENGTHS[19][0], test_dynamic_sizes.LENGTHS[19][1]),
        "map a\n" + _beside(test_dynamic_sizes.LENGTHS[12][0], test_dynamic_sizes.LENGTHS[12][1]),
        "test_dynamic_sizes::test_modules_that_give_arrays_of_other_lengths_are_not_alike",
        "unknown",
    ),
    _map(
        _equal("same-relation", _SHIFT.format("rt0 + s0"), _SHIFT.format("rt0 + 3 - s0")),
        _equal("same-relation", _SHIFT.format("rt0 + s0"), _SHIFT.format("s0 + rt0")),
        "2: a runtime variable of a range variable",
        _ONE,
        crossed="unknown",
    ),
    _map(
        _beside(_gathered("q"), _gathered("i")),
        _beside(_gathered("q"), _gathered("q")),
        "2: indices read in another order, `hlo-after`",
        _ALL,
        "unknown",
    ),
    _map(
        _equal("becomes", _READ_TWICE.format("rt0 - rt1", "3 - d0"), _NOUGHT),
        _equal("becomes", _READ_TWICE.format("rt0 - rt1", "d0"), _NOUGHT),
        "2: two variables that read one element",
        _ONE,
    ),
    Row(
        "2: a provider that is called as what has none",
        "map",
        "map a\n" + _equal("becomes", _CALLED.format(5, ", rt0 + 0 in [0, 3]", "?0"), _CALLED.format(3, "", "?0")),
        "map a\n"
        + _equal("becomes", _CALLED.format(5, ", rt0 in [0, 3]", "p"), _CALLED.format(5, ", rt0 + 0 in [0, 3]", "p")),
        "test_shared_readings::test_whatever_a_provider_is_called_it_is_read_and_cut",
    ),
    _map(_twice(_READS.format(3)), _twice(_READS.format(9)), "8: read where the own map has no point", _OWED),
    _map(
        _equal("becomes", _INNER.format("a"), _INNER.format("b")),
        _twice(_INNER.format("a")),
        "2: variables without a provider within another's map",
        "test_variables_without_a_provider_are_told_apart_by_their_place",
    ),
    _map(
        CHOSEN.replace("RESULT", "(s0 + rt0) mod 4").replace("INDEX", "s0"),
        CHOSEN.replace("RESULT", "(s0 + rt0) mod 4").replace("INDEX", "d0"),
        "2: range variables choose what is read, beside a definition that reads nothing at run time",
        "test_what_range_variables_choose_is_not_one_value",
        "unknown",
    ),
    _map(
        _twice("(d0) -> (d0 mod (d0 mod 3)), domain: d0 in [0, 9]"),
        _twice("(d0) -> (d0 mod (d0 mod 3)), domain: d0 in [0, 9], d0 mod 3 in [1, 2]"),
        "8: itself over divisors that are zero",
        _DEFINED,
    ),
    _map(
        _twice("(d0) -> (d0), domain: d0 in [0, 9], 7 mod d0 in [0, 6]"),
        _twice("(d0) -> (d0), domain: d0 in [0, 9], 7 mod d0 in [0, 6], d0 + 0 in [1, 9]"),
        "8: a constraint without a value",
        _DEFINED,
    ),
    _map(
        _equal("becomes", "(d0) -> (d0), domain: d0 in [0, 9], 7 mod d0 in [-3, -1]", _NONE),
        _equal("becomes", "(d0) -> (d0), domain: d0 in [1, 9], 7 mod d0 in [-3, -1]", _NONE),
        "8: a constraint without a value, before a map that is empty by its intervals",
        _EMPTY,
    ),
    _map(
        _equal("becomes", _NONE, "(d0) -> (d0), domain: d0 in [0, 9], 7 mod d0 in [-3, -1]"),
        _equal("becomes", _NONE, "(d0) -> (d0), domain: d0 in [1, 9], 7 mod d0 in [-3, -1]"),
        "8: a constraint without a value, after a map that is empty by its intervals",
        _EMPTY,
    ),
    _map(
        _equal("becomes", _READ_TWICE.format("rt0", "d0").replace("]\n", "], rt0 - rt1 in [0, 5]\n", 1), _NONE),
        _equal("becomes", _READ_TWICE.format("rt0", "d0").replace("]\n", "], rt0 - rt1 in [1, 5]\n", 1), _NONE),
        "false refuted: two variables that read one element, constrained to differ, beside an empty map",
        _EMPTY,
    ),
    _map(
        _equal("becomes", "(d0) -> (d0 mod 0 + d0), domain: d0 in [0, 9]", "(d0) -> (0), domain: d0 in [0, 9]"),
        _equal("becomes", "(d0) -> (d0 mod 1 + d0), domain: d0 in [0, 9]", "(d0) -> (d0), domain: d0 in [0, 9]"),
        "8: a remainder by zero",
        _DEFINED,
    ),
    _map(
        _SEVENTH.format("", ""),
        _SEVENTH.format(", d0 in [1, 5]", ", d0 in [1, 5]"),
        "smaller: a divisor that a constraint keeps from zero",
        _DEFINED,
    ),
    _map(
        _equal(
            "becomes",
            "(d0) -> (d0 mod -3), domain: d0 in [0, 9]",
            "(d0) -> (d0 - (d0 floordiv -3) * -3), domain: d0 in [0, 9]",
        ),
        _equal(
            "becomes",
            "(d0) -> (d0 floordiv -3), domain: d0 in [0, 9]",
            "(d0) -> ((-d0) floordiv 3), domain: d0 in [0, 9]",
        ),
        "remainders by negative numbers, under one reading",
        "test_remainders_by_negative_numbers_are_read_in_both_ways",
        comes_to="unknown",
    ),
    _map(
        _beside(SLICES % "1:3", COPY),
        _beside(SLICES % "2:4", COPY),
        "false refuted: slices concatenated back, `hlo-after`",
        _ALL,
    ),
    _map(
        f"  hlo\n{SLICES % '1:3'}  follow\n  output-to-input 0 (d0) -> (d0), domain: d0 in [0, 3]\n",
        f"  hlo\n{SLICES % '2:4'}  follow\n  output-to-input 0 (d0) -> (d0), domain: d0 in [0, 3]\n",
        "false refuted: slices concatenated back, `follow`",
        "test_what_is_followed_is_compared_as_a_union",
    ),
    _map(
        _beside(f"{P4}    ROOT t = (f32[4], f32[4]) tuple(p, p)\n", f"{P4}    ROOT t = (f32[4]) tuple(p)\n"),
        _beside(f"{P4}    ROOT t = (f32[4]) tuple(p)\n", f"{P4}    ROOT t = (f32[4]) tuple(p)\n"),
        "2: arrays that one module gives and the other does not",
        _ALL,
    ),
]

_HIDDEN: Final = "rule a\nx + 0 => x\n{}rule b\nx => x + {}\n"
_HOLE: Final = (
    "rule a\nx in [123 * 1000 + 456, 200000], 7 mod (x - 123 * 1000 - 455) in [0, 99999] => "
    "x in [123 * 1000 + {}, 200000]\n"
)
RULES: Final = [
    _rule(
        _HIDDEN.format('  note 5" wide\n', 1),
        _HIDDEN.format('  note 5" wide\n', 0),
        "7: a quote in a note",
        "test_a_quote_in_a_remark_hides_nothing",
    ),
    _rule(
        "rule a\nfor s in [0, 0] => for t in [0, 10] with s = t when t == 0\n",
        "rule a\nfor s in [0, 10] => for t in [0, 10] with s = t witness t = s\n",
        "7: a binder that captures",
        "test_names_are_not_captured",
        comes_to="no input",
    ),
    _rule(
        "rule a\nfor s in [0, 0] => for t in [0, 1] with s = t * (t_other - t_other) when t_other == 0 witness t = 0\n",
        "rule a\nfor s in [0, t_other] => for t in [0, t_other] with s = t when t_other >= 0 witness t = s\n",
        "7: a constant named as a second copy",
        "test_twins",
    ),
    _rule(
        "rule a\nx mod c => x - c * (x floordiv c) when c > 0 division trunc remainder floor\n",
        "rule a\nx mod c => x - c * (x floordiv c) when c > 0 division trunc\n",
        "7: a remainder beside a division",
        "test_twins",
    ),
    _rule(
        "rule a\nx => x + 0 * (1 mod c)\n",
        "rule a\nx => x + 0 * (1 mod c) when c != 0\n",
        "8: a right side without a value",
        "test_twins",
    ),
    _rule(
        _HOLE.format(455),
        _HOLE.format(456),
        "8: a constraint that is false beside one without a value",
        "test_a_constraint_without_a_value_does_not_hide_one_that_is_false",
        comes_to="unknown",
    ),
]


_EACH: Final = (
    "  output-to-input 0 (d0)[s0] -> (d0), domain: d0 in [0, 1], s0 in [0, 1]\n"
    "    replica id:\n    (d0)[s0] -> (s0{}), domain: d0 in [0, 1], s0 in [0, 1]\n"
)


_NO_SLICE: Final = """HloModule m
ENTRY e {
  x = f32[4,3] parameter(0)
  i = s32[2] parameter(1)
  ROOT r = f32[3,2] gather(x, i), offset_dims={0}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1,
    slice_sizes={0,3}
}
"""


def _gathered_bytes(interval: str) -> str:
    lines = "\n".join(f"    {line}" for line in of_values.GATHERED.format(300).split("\n"))
    return f"map a\n  hlo\n{lines}\n  {of_values.BYTES.format(interval)}\n"


def _followed_byte(interval: str) -> str:
    lines = "\n".join(f"    {line}" for line in of_values.FOLLOWED.format(400, "i").split("\n"))
    return f"map a\n  hlo\n{lines}\n  follow\n  {of_values.FROM_BYTE.format(interval, 'rt0', 'parameter(1)')}\n"


def _sliced_before(end: int) -> str:
    """A slice at a byte against the same of the first elements."""
    given = "    x = f32[400] parameter(0)\n    i = u8[] parameter(1)\n"
    root = "    ROOT r = f32[3] dynamic-slice({}, i), dynamic_slice_sizes={{3}}\n"
    first = f"    y = f32[{end}] slice(x), slice={{[0:{end}]}}\n"
    return f"map a\n  hlo\n{given}{root.format('x')}  hlo-after\n{given}{first}{root.format('y')}"


def _named_as_readers() -> list[Row]:
    """Of providers that were taken for others by how they are written."""
    c = of_values
    sliced = f"map a\n  hlo\n{indented(c.SLICED_AT.format('reader'))}  follow\n"
    body = "HloModule m\n" + c.CALLED.format("reader.1") + "\nENTRY e {\n" + c.CALLS.format("reader.1", "j") + "\n}"
    calls = f"map a\n  hlo\n{indented(body)}  follow\n"
    one, two = (f"  {c.AT_NAMED.format(f'{site}/reader.1', '6')}\n" for site in "ab")
    out, left = (indented(c.LEFT_OUT.format("{...}", index)) for index in "dc")
    named = "test_claimed_maps_of_values::test_two_constants_whose_numbers_are_left_out_need_not_be_equal"
    any_name = "test_claimed_maps_of_values::test_an_instruction_may_have_any_name"
    read = "  follow\n  output-to-input 0 (d0){rt0} -> (rt0), domain: d0 in [0, 3], rt0 in [0, 7]\n"
    read += "    runtime variables:\n    rt0: c; (d0) -> (d0, 0), domain: d0 in [0, 3]\n"
    return [
        Row(
            "an instruction called as the reader's own position, cut to more",
            "map",
            f"{sliced}  {c.AT_NAMED.format('%reader', '9')}\n",
            f"{sliced}  {c.AT_NAMED.format('%reader', '6')}\n",
            any_name,
        ),
        Row(
            "an instruction whose name begins so, called twice",
            "map",
            calls + one,
            calls + one + two,
            any_name,
            "unknown",
        ),
        Row(
            "two constants whose numbers are left out",
            "map",
            f"map a\n  hlo\n{out}{read}",
            f"map a\n  hlo\n{left}{read}",
            named,
            "unknown",
        ),
        Row(
            "two constants whose numbers are left out, in two modules",
            "map",
            f"map a\n  hlo\n{out}  hlo-after\n{left}",
            f"map a\n  hlo\n{out}  hlo-after\n{left}".replace("{...}", "{{0},{1},{2},{3}}"),
            named,
            "unknown",
        ),
    ]


def _of_claimed() -> list[Row]:
    """Of what one operation reads on several devices."""
    body = "\n".join(f"    {line}" for line in ADD.split("\n"))
    summed = f"map a\n  hlo\n    HloModule m, replica_count=2\n{body}\n    ENTRY e {{\n      x = f32[2] parameter(0)\n"
    summed += f"      ROOT r = f32[2] {of_devices.REDUCE}\n    }}\n"
    lines = "\n".join(f"    {line}" for line in of_devices.EXCHANGED.split("\n"))
    cut, whole = (of_devices.FROM_FIRST % (lines, interval) for interval in ("0, 0", "0, 1"))
    devices = "test_claimed_maps_of_devices::test_a_group_of_all_holds_the_devices_of_the_module"
    own = "test_claimed_maps_of_devices::test_the_readers_own_position_is_cut_to_its_interval_as_any_value_is"
    return [
        Row(
            "a device behind the last of the group",
            "map",
            summed + _EACH.format(" + 1"),
            summed + _EACH.format(""),
            devices,
        ),
        Row("the reader's own position, cut to less", "map", cut, whole, own),
        Row(
            "false refuted: a byte that is -1",
            "map",
            _gathered_bytes("0, 254"),
            _gathered_bytes("-1, 298"),
            "test_claimed_maps_of_values::test_a_value_is_one_that_its_type_can_hold",
        ),
        Row(
            "false refuted: a byte that is followed and is -1",
            "map",
            _followed_byte("0, 254"),
            _followed_byte("-1, 397"),
            "test_claimed_maps_of_values::test_a_value_that_is_followed_is_one_that_its_type_can_hold",
        ),
        Row(
            "false refuted: a byte of 256, in two modules",
            "map",
            _sliced_before(257),
            _sliced_before(258),
            "test_claimed_maps_of_values::test_a_value_that_is_followed_is_one_that_its_type_can_hold",
        ),
        Row(
            "false refuted: a slice of no element that is left out",
            "hlo",
            _NO_SLICE,
            _NO_SLICE.replace("{0,3}", "{1,3}"),
            "test_claimed_maps_of_values::test_a_gather_of_slices_without_an_element_is_not_modelled",
            "unknown",
        ),
    ]


def _of_pairs() -> list[Row]:
    rows: list[Row] = []
    for what, (_, wrong, right) in test_effects_of_callees.PAIRS.items():
        test = "test_effects_of_callees::test_a_write_that_is_not_handed_back_is_seen"
        rows.append(Row(f"3: {what}", "hlo", wrong, right, test))
    for what, (claim, wrong, right, _) in test_async_paths.PAIRS.items():
        item = 6 if claim == "async-done" else 4
        test = "test_async_paths::test_what_breaks_a_claim_is_refuted_and_its_twin_is_not"
        rows.append(Row(f"{item}: {what}", "hlo", wrong, right, test))
    for what, (_, wrong, right) in test_effects_in_flight.PAIRS.items():
        if what in test_effects_in_flight.PARTLY_UNKNOWN:
            continue
        test = "test_effects_in_flight::test_what_happens_in_flight_and_from_turn_to_turn_is_seen"
        rows.append(Row(f"5: {what}", "hlo", wrong, right, test))
    for what in ("one buffer twice", "one buffer twice, as a bitcast", "a declared alias"):
        wrong, (right, *_) = test_in_place_fusions.PAIRS[what]
        test = "test_in_place_fusions::test_what_is_read_after_it_was_overwritten_is_told"
        rows.append(Row(f"5: {what}", "hlo", wrong, right, test))
    for what, (wrong, comes_to, right) in test_in_place_buffers.IN_PLACE.items():
        test = "test_in_place_buffers::test_what_reads_where_a_result_is_made_is_judged_there"
        rows.append(Row(f"5: {what}", "hlo", wrong, right, test, comes_to=comes_to))
    for what in test_copies_inserted.WRITERS:
        wrong, right = (test_copies_inserted.written(what, into) for into in "pk")
        test = "test_copies_inserted::test_what_lies_in_a_constant_or_in_a_parameter_that_is_kept_is_not_written"
        rows.append(Row(f"5: {what} where the caller's parameter lies", "hlo", wrong, right, test))
    for what in test_copies_inserted.HANDED_BACK:
        wrong, right = (test_copies_inserted.handed_back(what, broken) for broken in (True, False))
        test = "test_copies_inserted::test_what_a_computation_hands_back_is_followed"
        rows.append(Row(f"5: {what} and the caller updates", "hlo", wrong, right, test))
    wrong, right = (test_copies_inserted.scattered(values) for values in "kq")
    test = "test_copies_inserted::test_an_array_that_is_turned_round_in_its_own_buffer_is_not_proved"
    rows.append(Row("5: an array turned round in its own buffer", "hlo", wrong, right, test, comes_to="unknown"))
    test = "test_written_beside::test_claims_about_an_operation_of_which_something_is_not_known_are_unknown"
    wrong, right = test_written_beside.fused("", test_written_beside.FOO), test_written_beside.fused("")
    rows.append(Row("words beside an operation that no table knows", "hlo", wrong, right, test, comes_to="unknown"))
    wrong = test_written_beside.bitcast('backend_config={"bitcast_backend_config":{"result_layout":{}}}')
    right = test_written_beside.bitcast('backend_config={"operation_queue_id":"1"}')
    rows.append(Row("a bitcast of layouts of its backend's", "hlo", wrong, right, test, comes_to="unknown"))
    return rows


_FALSE: Final = "test_what_is_false_is_not_proved"
_DIFFERS: Final = "test_a_run_beyond_the_numbers_of_a_rule_says_nothing"
_OFTEN: Final = "A: [k...]\n{}reshape(A, shape=[p]) => slice(reshape(A, shape=[p]), start=[0], limit=[{}])"
_SAME: Final = "compare(A, A, direction=EQ)"
_BRANCH: Final = "A: [n]  B: [n]  P: [n]\npred P\ntype reals\n"
_CHOICE: Final = "select(P, {}, B)"
_SAFELY: Final = "select(compare(A, 0, direction=NE), compare(divide(1, A), 1, direction=GT), {})"
_ENDED: Final = "slice(pad(P, false, low=[0], high=[n]), start=[0], limit=[n])"
_PADDED_TRUTH: Final = f"A: [n]  P: [n]\npred P\ntype reals\nwhere compare({_ENDED}, true, direction=EQ)\n"
_SHARED: Final = "reshape(broadcast(a, shape=[w...], dims=[]), shape=[p])"
_WIDE: Final = "broadcast(a, shape=[w], dims=[])"
_PADDED: Final = "reshape(pad(broadcast(a, shape=[1...], dims=[]), a, low=[1...]), shape=[p])"

_TAKEN: Final = (
    "A: [n]  P: [n]  Q: [n]\npred P, Q\ntype reals\nwhere compare(select(P, 1, Q), 1, direction=EQ)\nwhere not(P)\n"
)
_TWO: Final = (
    "A: [k...]  a: []\nwhere compare(a, reduce(slice(A, start=[1...], limit=[2...]), dims=[0], op=add), direction=EQ)\n"
    "where compare(a, reduce(slice(broadcast(a, shape=[1...], dims=[]), start=[k - 1...], limit=[k - 1...]), dims=[0],"
    " op=add), direction=EQ)\n{0} => slice({0}, start=[0], limit=[{1}])"
)

TENSORS: Final = [
    _tensors(
        DIVIDED.format("-2", "", "-1"),
        DIVIDED.format("2", "", "1"),
        "quotients of quotients by what is below 0, by a law for divisors above 0",
        _FALSE,
    ),
    _tensors(
        f"{_TAKEN}and(Q, and(compare(A, 0, direction=GT), compare(multiply(A, 4), 1, direction=LT))) => and(P, Q)",
        f"{_TAKEN}Q => not(P)",
        "a truth that a select takes beside 1, once a number over the denominator of the others",
        _FALSE,
        "unknown",
    ),
    _tensors(
        _TWO.format("reshape(A, shape=[p])", "min(p, 8)"),
        "A: [k...]\nreshape(dynamic-slice(A, start=[0...], size=[k...]), shape=[p]) =>\n"
        "reshape(slice(A, start=[0...], limit=[k...]), shape=[p])",
        "members of a group that are two by what slices of the left side demand",
        _FALSE,
        "unknown",
    ),
    _tensors(
        "A: [n]\nbitwise-not(A) => subtract(negate(A), 1)",
        "A: [n]\ntype integers\nnot(A) => subtract(negate(A), 1)",
        "a function of a rule's own by a name that proofs have for bits",
        "test_what_is_no_rule_is_refused_at_its_place",
        "no input",
    ),
    _tensors(
        "A: [n]\nreverse(sort(A), dims=[0]) => sort(reverse(A, dims=[0]))",
        "A: [n]\nreverse(f(A), dims=[0]) => f(reverse(A, dims=[0]))",
        "an operation that a rule may not name is no function of elements",
        "test_what_is_no_rule_is_refused_at_its_place",
        "no input",
    ),
    _tensors(
        "A: [n]\npred A\nsubtract(add(A, A), A) => A",
        "A: [n]\nsubtract(add(A, A), A) => A",
        "truth values are no numbers",
        "test_what_is_no_rule_is_refused_at_its_place",
        "no input",
    ),
    _tensors(
        "A: [n]\nA => slice(A, start=[0 * (n floordiv p)], limit=[n])",
        "A: [n]\nwhen p >= 1\nA => slice(A, start=[0 * (n floordiv p)], limit=[n])",
        "a start of the right side that is divided by 0",
        _FALSE,
    ),
    _tensors(
        _OFTEN.format("when (k == 2)...\n", "min(p, 8)"),
        _OFTEN.format("", "p"),
        "what holds of 8 elements, and not of 16 in a group of four dimensions",
        _FALSE,
        "unknown",
    ),
    _tensors(
        "A: [n]\nwhen n >= 1, m >= 1, n * n == 2 * m * m\nA => slice(A, start=[0], limit=[n])",
        "A: [n]\nwhen n >= 1, m >= 1, n * n == 4 * m * m\nA => slice(A, start=[0], limit=[n])",
        "conditions that no sizes meet, which no engine sees",
        "test_conditions_that_no_sizes_are_known_to_meet_prove_nothing",
        "unknown",
    ),
    _tensors(
        f"A: [n]\ntype integers\nwhere compare(A, 0, direction=GT)\n"
        f"compare(multiply(A, 1000000000), A, direction=LT) => {_SAME}",
        f"A: [n]\ntype integers\nwhere compare(A, 0, direction=GT)\n"
        f"compare(multiply(A, 1000000000), A, direction=GE) => {_SAME}",
        "an instance of a right rule whose numbers overflow",
        _DIFFERS,
    ),
    _tensors(
        f"A: [n]\ntype reals\ncompare(multiply(divide(2, A), A), 1, direction=EQ) => {_SAME}",
        f"A: [n]\ntype reals\ncompare(multiply(divide(1, A), A), 1, direction=EQ) => {_SAME}",
        "an instance of a right rule whose left side has no value within",
        _DIFFERS,
    ),
    _tensors(
        f"{_BRANCH}{_CHOICE.format('log(A)')} => add({_CHOICE.format('log(A)')}, multiply(0, log(A)))",
        f"{_BRANCH}{_CHOICE.format('log(A)')} => select(P, add(log(A), multiply(0, log(A))), B)",
        "a logarithm that has a value where the left side takes its branch, and elsewhere none",
        _FALSE,
        "unknown",
    ),
    _tensors(
        f"{_BRANCH}{_CHOICE.format('remainder(A, B)')} =>\n"
        f"add({_CHOICE.format('remainder(A, B)')}, multiply(0, remainder(A, B)))",
        f"{_BRANCH}{_CHOICE.format('remainder(A, B)')} =>\n"
        "select(P, add(remainder(A, B), multiply(0, remainder(A, B))), B)",
        "a remainder by zero in the branch that is not taken, once known from the one that is",
        _FALSE,
        "unknown",
    ),
    _tensors(
        "A: [n]  B: [n]\nB => add(B, multiply(asin(A), 0))",
        "A: [n]  B: [n]\nB => add(B, multiply(cosine(A), 0))",
        "a function of which nothing is known was taken to have a value everywhere",
        _FALSE,
        "unknown",
    ),
    _tensors(
        f"A: [n]\ntype reals\n{_SAFELY.format('true')} => {_SAFELY.format('false')}",
        f"A: [n]\ntype reals\n{_SAFELY.format('true')} => or(compare(A, 0, direction=EQ), {_SAFELY.format('false')})",
        "truths of a branch that is not taken need no value: 0 is no divisor there",
        _FALSE,
        "unknown",
    ),
    _tensors(
        f"a: []\nwhen w == 2\n{_SHARED} => slice({_SHARED}, start=[0], limit=[min(p, 8)])",
        f"a: []\nwhen w == 2\n{_WIDE} => slice({_WIDE}, start=[0], limit=[min(w, 8)])",
        "one size for all members of a group: 8 elements at rank three, 16 at rank four",
        _FALSE,
        "unknown",
    ),
    _tensors(
        f"a: []\n{_PADDED} => slice({_PADDED}, start=[0], limit=[min(p, 8)])",
        "A: [k...]\nreshape(A, shape=[p]) => slice(reshape(A, shape=[p]), start=[0], limit=[p])",
        "members of a group that were padded to two elements each",
        _FALSE,
        "unknown",
    ),
    _tensors(
        "B: [16]  U: [1...]\n"
        "scatter(reshape(B, shape=[k...]), U, start=[0 - (k floordiv 3)...]) => reshape(B, shape=[k...])",
        "B: [16]  U: [k...]\nscatter(reshape(B, shape=[k...]), U, start=[0...]) => U",
        "of 16 elements three members of a group have one of size 3 or more, and four need not",
        _FALSE,
        "unknown",
    ),
    _tensors(
        f"{_PADDED_TRUTH}where {_ENDED}\ncompare(multiply(A, 4), 2, direction=EQ) => compare(A, A, direction=NE)",
        f"{_PADDED_TRUTH}where {_ENDED}\n"
        "compare(multiply(A, 4), 2, direction=EQ) => compare(multiply(A, 2), 1, direction=EQ)",
        "a truth that is 1 in one place and a number over a denominator in another: the denominator was 1",
        _FALSE,
    ),
    _tensors(
        "A: [n]\ntype reals\nadd(A, 1) => add(A, subtract(broadcast(9007199254740993, shape=[n]), 9007199254740991))",
        "A: [n]\ntype reals\nadd(A, 1) => add(A, subtract(broadcast(9007199254740993, shape=[n]), 9007199254740992))",
        "a constant that f64 does not hold, which ended as an error of the tool",
        "test_a_run_beyond_the_numbers_of_a_rule_says_nothing",
        "unknown",
    ),
    _tensors(
        "P: [n]\npred P\nreduce(P, 0, dims=[0], op=and) => reduce(P, 1, dims=[0], op=and)",
        "P: [n]\npred P\nreduce(P, 1, dims=[0], op=and) => reduce(P, true, dims=[0], op=and)",
        "truths that are written as numbers, at which no instance could be run",
        "test_truths_written_as_numbers_are_run_as_truths",
    ),
    _tensors(
        "P: [n]\npred P\nP => select(P, 2, 0)",
        "P: [n]\npred P\nP => select(P, true, false)",
        "sides of which one holds truths and the other numbers, which ended as an error of the tool",
        "test_what_is_no_rule_is_refused_at_its_place",
        "no input",
    ),
]


_PROVED_PLANS: Final = (
    "beside: what the first step makes",
    "beside: what the second step makes",
    "a ragged exchange apart from its operand",
    "a computed value among constants",
    "a result among constants",
    "a parameter among constants",
    "a parameter's allocation twice",
    "a parameter that is not there",
    "a constant among temporaries",
    "a parameter among temporaries",
    "the operand of a gather whose note says that it is synchronous",
    "two constants in one place",
    "a result over the table of its operand",
    "a result over the initial value of a reduction",
    "a source that is read to the end of a copy in two branches",
    "a destination of a copy that ends in two branches",
    "beside: what ends in two branches",
    "an update in flight apart from its operand",
)


_REFUTED_BY_OTHERS: Final = (
    "a carried copy, read where it begins",
    "a copy of two branches, read early",
    "two sizes of one array",
)
"""Unknown as plans, and refuted by the claims about buffers of a module, which this table asks as well."""


def _of_plans() -> list[Row]:
    test = "test_planted_plans::test_what_is_wrong_in_a_plan_is_refuted_and_its_twin_is_not"
    planted = [p for p in [*PLANTED, *IN_FLIGHT] if p.what in _PROVED_PLANS] + [*NAMED, *MADE, *LIBRARIES, *HANDED_OVER]
    planted += [p for p in [*ROUNDS, *KERNELS] if p.what not in _REFUTED_BY_OTHERS]
    return [Row(f"plans: {p.what}", "hlo", *p.modules, test, p.comes_to, plans=p.plans) for p in planted]


TABLE: Final = [*TENSORS, *LAYOUTS, *MAPS, *RULES, *_of_claimed(), *_named_as_readers(), *_of_pairs(), *_of_plans()]

ELSEWHERE: Final = {
    "1: a wrong clause of each of a reader's words": (
        "test_false_proofs_layouts::test_every_word_of_the_reader_has_a_judge_and_a_planted_error",
        "test_false_proofs_maps::test_every_word_of_the_reader_has_a_planted_error",
    ),
    "4: a donated parameter that is not there": ("test_async_claims::test_every_claim_has_a_planted_violation",),
    "4: the order of a text that is no schedule": (
        "test_copies_inserted::test_the_order_of_the_text_is_a_schedule_only_where_the_module_says_so",
        "test_copies_inserted::test_two_arguments_in_one_buffer_are_told_apart_by_the_orders_of_the_body",
        "test_hazards_brute_force::test_hazards_are_those_of_brute_force",
    ),
    "5: an operand bound late, in a call or twice": (
        "test_effects_in_flight::test_what_happens_in_flight_and_from_turn_to_turn_is_seen",
        "test_effects_in_flight::test_one_array_bound_twice_by_an_update_is_not_proved",
    ),
    "5: a fused update in flight": ("test_hazards::test_planted_violation_is_refuted_and_its_repair_proved",),
    "4: sends and recvs in flight": ("test_async_claims::test_planted_violation_is_refuted_and_its_repair_is_not",),
    "4: devices that wait for a collective operation, a loop, or what is in flight": (
        "test_deadlocks::test_who_waits_for_ever_is_told",
    ),
    "4: a send in one branch and its recv in another": (
        "test_async_paths::test_a_send_in_a_branch_is_not_known_to_meet_a_recv_outside",
    ),
    "two random numbers within equal bounds": (
        "test_equivalence_effects::test_the_second_number_drawn_is_not_the_first",
    ),
    "7: the number of entries": (
        "test_false_proofs_rules::test_as_many_entries_are_read_as_the_lines_show",
        "test_false_proofs_rules::test_a_reader_that_passes_over_an_entry_is_noticed",
    ),
    "8: the simplifier": ("test_false_proofs_maps::test_definedness_is_owed",),
    "9: `_contained` without constraints": (
        "test_false_proofs_maps::test_a_wrong_statement_of_containment_is_noticed",
        "test_false_proofs_maps::test_a_wrong_statement_of_points_is_noticed",
    ),
    "9: statements of rules": (
        "test_false_proofs_rules::test_a_wrong_statement_is_noticed",
        "test_false_proofs_rules::test_the_witness_contradicts_no_rule_that_is_proved",
    ),
    "--cross: two engines that share no encoder and no statement": (
        "test_cross::test_no_second_engine_shares_an_encoder_with_the_first",
        "test_cross::test_a_second_statement_is_asked_and_counts",
        "test_second_statements::test_a_first_statement_that_says_too_little_is_noticed",
    ),
    "valid modules never end in 4": (
        "test_collective_chains::test_chains_of_collectives_read_whom_they_read",
        "test_device_modules::test_a_chain_of_collectives_in_a_call_has_an_answer",
    ),
    "smaller: simplifying twice": ("test_false_proofs_maps::test_simplifying_twice_changes_nothing",),
    "smaller: why a simplification is unknown": ("test_false_proofs_maps::test_an_unknown_simplification_says_why",),
    "--cross: a text beside a file": (
        "test_doors::test_a_text_is_judged_as_the_file_that_holds_it",
        "test_doors::test_a_text_needs_two_engines_where_two_are_asked_for",
    ),
    "a kept verdict answers for its own text": ("test_doors::test_a_module_that_ends_with_a_plan_is_none",),
    "two steps: effects": ("test_equivalence_effects::test_an_order_that_was_demanded_is_kept_however_it_is_written",),
    "bits that a function of a fold reads, or a turn of a loop": (
        "test_equivalence_bits_owed::test_bits_of_numbers_that_are_equal_over_the_reals_only_are_not_proved",
        "test_equivalence_bits_owed::test_the_numbers_beside_them_are_proved",
    ),
    "what the right side alone leaves out and has no value": (
        "test_equivalence_forged::test_what_the_right_side_has_alone_has_a_value",
    ),
    "a complex sum, or product, of one element": (
        "test_equivalence_folds::test_what_a_fold_of_one_element_begins_with_is_seen_in_zeros_and_infinities",
    ),
    "a contraction that loses imaginary parts, or all but truth": (
        "test_equivalence_held::test_a_contraction_that_loses_parts_is_no_sum_of_what_is_left",
        "test_equivalence_held::test_one_into_a_type_that_holds_all_is_one",
    ),
    "factors rounded at tier real where there is one product": (
        "test_equivalence_held::test_factors_that_are_rounded_are_so_over_one_point_too",
    ),
    "constants that are computed to NaN or infinity": (
        "test_equivalence_held::test_what_is_computed_from_constants_has_a_value_where_the_type_holds_it",
    ),
    "constants in the middle between two numbers of 16 bits": (
        "test_equivalence_held::test_a_constant_that_is_rounded_otherwise_on_the_way_through_f32_is_none",
        "test_equivalence_held::test_a_decimal_is_rounded_as_xla_reads_it",
    ),
    "constants that are read, or computed, otherwise where XLA runs": (
        "test_equivalence_constants::test_a_zero_that_two_programs_read_otherwise_is_told",
        "test_equivalence_constants::test_an_integer_of_64_bits_wraps_round",
        "test_equivalence_constants::test_a_nan_of_8_bits_is_the_quiet_one",
        "test_equivalence_constants::test_a_nan_that_is_made_narrow_has_bits_of_its_own",
        "test_equivalence_constants::test_what_processors_compute_otherwise_than_compilers_is_not_computed",
        "test_equivalence_constants::test_what_all_compute_alike_is_computed",
    ),
    "a sort of constants by a NaN that is computed": (
        "test_equivalence_constants::test_a_sort_of_constants_is_not_computed",
    ),
    "what a reduction over nothing, or on padding, begins with": (
        "test_equivalence_constants::test_what_a_reduction_of_constants_over_nothing_begins_with_is_not_used",
        "test_equivalence_constants::test_how_often_a_start_is_used_is_told_where_it_shows",
    ),
    "u8 through pred": (
        "test_equivalence_held::test_a_predicate_keeps_one_bit_of_eight",
        "test_equivalence_held::test_a_byte_that_is_neither_0_nor_1_is_no_predicate",
    ),
    "the sign of a zero in an angle, a complex logarithm, or topk": (
        "test_equivalence_bits_owed::test_what_the_sign_of_a_zero_decides_takes_both_zeros_for_one_and_says_so",
    ),
    "0/0 in a type without NaN": ("test_equivalence_identities::test_exact_identities_hold_bit_for_bit",),
    "two results of two calls": ("test_effects_of_callees::test_a_loops_state_whose_parts_are_always_one_value",),
    "a sharding at the operand": ("test_equivalence_devices::test_other_devices_are_not_proved",),
}
"""What no row of a file can say, and the tests that say it."""


def _endings(folder: Path, *options: str) -> dict[str, tuple[str, str]]:
    """What the two sides of each row come to when all are checked by one command."""
    paths: dict[str, tuple[Path, Path]] = {}
    for n, row in enumerate(TABLE):
        sides = folder / f"{n}_wrong.{row.kind}", folder / f"{n}_right.{row.kind}"
        for path, text, plan in zip(sides, (row.wrong, row.right), row.plans, strict=True):
            path.write_text(text)
            if plan:
                path.with_name(f"{path.stem}-buffer-assignment.txt").write_text(plan)
        paths[row.what] = sides
    report = folder / "report.json"
    run(["check", "--no-cache", *options, "--output", f"json={report}", str(folder)])
    found = json.loads(report.read_text())
    verdicts: dict[str, set[str]] = {}
    for record in found["obligations"]:
        verdicts.setdefault(record["file"], set()).add(record["verdict"])
    for problem in found["problems"]:
        verdicts.setdefault(problem["file"], set()).add("no input")

    def worst(path: Path) -> str:
        seen = verdicts[str(path)]
        return next(v for v in ("internal", "no input", "refuted", "unknown", "proved") if v in seen)

    return {what: (worst(wrong), worst(right)) for what, (wrong, right) in paths.items()}


def test_what_is_wrong_is_not_proved_and_its_twin_is(tmp_path: Path) -> None:
    assert len({row.what for row in TABLE}) == len(TABLE)
    assert _endings(tmp_path) == {row.what: (row.comes_to, "proved") for row in TABLE}


@pytest.mark.longer
def test_two_engines_prove_no_more(tmp_path: Path) -> None:
    assert _endings(tmp_path, "--cross") == {row.what: (row.comes_to, row.crossed) for row in TABLE}


@cache
def _tests_of(file: str) -> frozenset[str]:
    tree = ast.parse((HERE / f"{file}.py").read_text(encoding="utf-8"))
    return frozenset(n.name for n in tree.body if isinstance(n, ast.FunctionDef))


def test_the_tests_that_are_named_are_there() -> None:
    for named in [*(row.test for row in TABLE), *(t for tests in ELSEWHERE.values() for t in tests)]:
        file, _, name = named.partition("::")
        assert name in _tests_of(file), named
