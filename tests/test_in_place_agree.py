"""Two claims speak of one thing: a fusion that declares its result to lie over an operand, and a memory plan that puts
the two into one place. What one of them proves the other does not refute, and a run with memory does not belie it."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from random import Random
from typing import Final, Literal

import pytest
from in_place_modules import INTO, LINE, SORTED, TURNED, both_say, fused_module
from memory_cases import judged, roomy_plan

from hloproof.logic.obligation import Outcome
from hloproof.memory.plan import Plan
from hloproof.memory.replay import replay
from hloproof.models.dataflow.steps import _CHOSEN
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.parser import parse_module
from hloproof.models.memory.assignment import parse_assignment
from hloproof.pipeline.driver import check_hlo
from hloproof.pipeline.options import Options

_BITS: Final = {"f32": 32, "u32": 32, "f16": 16, "s8": 8}


_PLACES: Final = "%i = s32[8,1]{1,0} iota(), iota_dimension=0"


_NEGATED: Final = [
    "%s = f32[4]{0} slice(%p), slice={[0:4]}",
    "%e = f32[4]{0} negate(%s)",
    f"%d = {LINE} dynamic-update-slice(%p, %e, %n)",
]


_BOTH: Final = f"%t = ({LINE}, {LINE}) sort(%p, %q), dimensions={{0}}, to_apply=%first"


_PARTS: Final = [f"%{n} = {LINE} get-tuple-element(%t), index={k}" for k, n in enumerate("gh")]


_HALVES: Final = ["%s = f32[4]{0} slice(%p), slice={[0:4]}", f"%e = {LINE} concatenate(%s, %s), dimensions={{0}}"]


_INTO_BOTH: Final = f"%d = {LINE} scatter(%p, %i, %e), {INTO}".replace("%sum", "%second")


_FOURTH: Final = ["%s = f32[1]{0} slice(%p), slice={[3:4]}", "%i = f32[] reshape(%s)"]


_OF_NOTHING: Final = (
    "%t = f32[0]{0} slice(%p), slice={[0:0]}\n  %e = f32[8,0]{1,0} broadcast(%t), dimensions={1}\n"
    f"  %d = {LINE} reduce(%e, %i), dimensions={{1}}, to_apply=%sum"
)


_AROUND: Final = f"%d = {LINE} reduce-window(%s, %i), window={{size=1 pad=PAD}}, to_apply=%sum"


_ALONG: Final = "%y2 = f32[1,8]{1,0} reduce-window(%t, %i), window={size=1x1 pad=0_0x8_-1}, to_apply=%sum"


_GAPS: Final = (
    "%s = f32[1]{0} slice(%p), slice={[0:1]}; %i = f32[] reshape(%s); %e = f32[4]{0} slice(%p), slice={[0:4]}; "
    f"%d = {LINE} reduce-window(%e, %i), window={{size=4 rhs_dilate=2 pad=PAD}}, to_apply=%sum"
)


_REDUCED: Final = ["%h = f32[8,1]{1,0} reshape(%e)", f"%d = {LINE} reduce(%h, %z), dimensions={{1}}, to_apply=%larger"]


def _moved(begin: int) -> list[str]:
    """Two elements from there on stand for the third and fourth as well, in an array of its own."""
    return [
        f"%s = f32[2]{{0}} slice(%p), slice={{[{begin}:{begin + 2}]}}",
        "%two = s32[] constant(2)",
        f"%d = {LINE} dynamic-update-slice(%p, %s, %two)",
        f"%c = {LINE} copy(%d)",
    ]


_BY_HAND: Final[Mapping[str, tuple[list[str], str, tuple[str, str]]]] = {
    "an update": (_NEGATED, "d", ("proved", "proved")),
    # The second is made whole in a loop of its own, which reads what the first one has written.
    "an update, twice": (_NEGATED, "dd", ("unknown", "unknown")),
    "negated, twice": ([f"%d = {LINE} negate(%p)"], "dd", ("proved", "proved")),
    "a scatter": ([_PLACES, f"%d = {LINE} scatter(%p, %i, %q), {INTO}"], "d", ("proved", "proved")),
    "a scatter, twice": ([_PLACES, f"%d = {LINE} scatter(%p, %i, %q), {INTO}"], "dd", ("unknown", "unknown")),
    # Every update is combined into the element that it was read of.
    "a scatter of itself": ([_PLACES, f"%d = {LINE} scatter(%p, %i, %p), {INTO}"], "d", ("proved", "unknown")),
    "a sort beside itself": ([_BOTH, *_PARTS], "gg", ("unknown", "proved")),
    "a sort beside its other result": ([_BOTH, *_PARTS], "gh", ("unknown", "proved")),
    # There may be nothing to reduce where the size is not known before.
    "the fourth, where nothing may be added to it": (
        [
            *_FOURTH,
            "%t = f32[8,2]{1,0} broadcast(%i), dimensions={}",
            "%l = s32[] constant(0)",
            "%u = f32[8,<=2]{1,0} set-dimension-size(%t, %l), dimensions={1}",
            f"%d = {LINE} reduce(%u, %i), dimensions={{1}}, to_apply=%sum",
        ],
        "d",
        ("unknown", "unknown"),
    ),
    # What is sorted beside it is made of it before either is sorted.
    "a sort by what is there": (
        [f"%e = {LINE} reverse(%p), dimensions={{0}}", _BOTH.replace("sort(%p, %q)", "sort(%p, %e)"), *_PARTS],
        "gh",
        ("unknown", "proved"),
    ),
    "a sort by another": (
        [f"%e = {LINE} reverse(%p), dimensions={{0}}", _BOTH.replace("sort(%p, %q)", "sort(%e, %p)"), *_PARTS],
        "gh",
        ("unknown", "refuted"),
    ),
    "a sort over what another result is sorted from": ([_BOTH, *_PARTS], "hg", ("unknown", "refuted")),
    "the second result of a sort over what it is sorted from": (
        [_BOTH.replace("%p, %q", "%q, %p"), *_PARTS],
        "hg",
        ("unknown", "proved"),
    ),
    # It may be made where it is sorted, element by element; in another place it is not what was there.
    "a sort of what is negated": ([f"%e = {LINE} negate(%p)", SORTED], "d", ("unknown", "unknown")),
    "a sort of what is turned": ([f"%e = {LINE} reverse(%p), dimensions={{0}}", SORTED], "d", ("unknown", "refuted")),
    "a sort of two halves that are one": ([*_HALVES, SORTED], "d", ("unknown", "unknown")),
    "a sort of two halves that are one, negated": (
        [*_HALVES[:1], "%f = f32[4]{0} negate(%s)", _HALVES[1].replace("%s", "%f"), SORTED],
        "d",
        ("unknown", "refuted"),
    ),
    "a sort of two halves that are one, negated, by another": (
        [
            *_HALVES[:1],
            "%f = f32[4]{0} negate(%s)",
            _HALVES[1].replace("%s", "%f"),
            _BOTH.replace("%p, %q", "%q, %e"),
            *_PARTS,
        ],
        "hg",
        ("unknown", "refuted"),
    ),
    "a sort by what lies nobody knows how": (
        ["%s = f32[8]{0:SC(0:4)} negate(%p)", f"%e = {LINE} bitcast(%s)", _BOTH.replace("%p, %q", "%q, %e"), *_PARTS],
        "gh",
        ("unknown", "unknown"),
    ),
    # What a reduction begins with is read in every step of what is as large as its input.
    "a negation beside a sum that begins with what lies there": (
        [
            "%s = f32[1]{0} slice(%p), slice={[0:1]}",
            "%i = f32[] reshape(%s)",
            f"%c = {LINE} negate(%q)",
            "%f = f32[] reduce(%q, %i), dimensions={0}, to_apply=%sum",
            f"%e = {LINE} broadcast(%f), dimensions={{}}",
        ],
        "ce",
        ("refuted", "refuted"),
    ),
    "a sort beside another one, of what is negated": (
        [
            f"%d = {LINE} sort(%p), dimensions={{0}}, to_apply=%ge",
            f"%m = {LINE} negate(%p)",
            f"%e = {LINE} sort(%m), dimensions={{0}}, to_apply=%ge",
        ],
        "de",
        ("unknown", "refuted"),
    ),
    "the first half for both, from a number on": (
        [
            "%s = f32[4]{0} dynamic-slice(%p, %n), dynamic_slice_sizes={4}",
            f"%d = {LINE} concatenate(%s, %s), dimensions={{0}}",
        ],
        "d",
        ("unknown", "unknown"),
    ),
    "the first row for both": (
        [
            "%e = f32[2,4]{1,0} bitcast(%p)",
            "%s = f32[1,4]{1,0} slice(%e), slice={[0:1],[0:4]}",
            "%f = f32[2,4]{1,0} concatenate(%s, %s), dimensions={0}",
            f"%d = {LINE} bitcast(%f)",
        ],
        "d",
        ("unknown", "unknown"),
    ),
    "the first of all, through rows and columns": (
        [
            "%e = f32[2,4]{1,0} reshape(%p)",
            "%f = f32[4,2]{1,0} transpose(%e), dimensions={1,0}",
            "%s = f32[1,1]{1,0} slice(%f), slice={[0:1],[0:1]}",
            "%u = f32[] reshape(%s)",
            f"%d = {LINE} broadcast(%u), dimensions={{}}",
        ],
        "d",
        ("unknown", "unknown"),
    ),
    "a copy beside a sort of what is negated": (
        [f"%e = {LINE} negate(%p)", f"%c = {LINE} copy(%p)", SORTED],
        "cd",
        ("unknown", "unknown"),
    ),
    "what is negated beside a sort of it": (
        [f"%e = {LINE} negate(%p)", f"%c = {LINE} abs(%e)", f"%f = {LINE} sine(%c)", SORTED],
        "fd",
        ("unknown", "refuted"),
    ),
    "a sort of another sort": (
        [SORTED.replace("%d", "%f").replace("%e", "%p"), f"%e = {LINE} negate(%f)", SORTED],
        "d",
        ("unknown", "refuted"),
    ),
    "a sort over what is sorted beside it": (
        [f"%e = {LINE} negate(%p)", _BOTH.replace("%p, %q", "%q, %e"), *_PARTS],
        "gh",
        ("unknown", "refuted"),
    ),
    "a sort of what is negated, beside another": (
        [f"%e = {LINE} negate(%p)", _BOTH.replace("%p, %q", "%e, %q"), *_PARTS],
        "gh",
        ("unknown", "unknown"),
    ),
    "the second result of a sort of what is negated": (
        [f"%e = {LINE} negate(%p)", _BOTH.replace("%p, %q", "%q, %e"), *_PARTS],
        "hg",
        ("unknown", "unknown"),
    ),
    "a sort, and apart what is negated": (
        [f"%f = {LINE} negate(%p)", f"%e = {LINE} negate(%q)", SORTED.replace("%e", "%f"), f"%g = {LINE} sine(%p)"],
        "gd",
        ("unknown", "refuted"),
    ),
    # What lies outside of the window is written over itself.
    "an update, copied": (_moved(6), "c", ("unknown", "unknown")),
    "an update by what it overwrites, copied": (_moved(3), "c", ("refuted", "refuted")),
    "an update, negated": ([*_moved(6), f"%m = {LINE} negate(%c)"], "m", ("refuted", "refuted")),
    "the first half for both": (
        [*_HALVES, f"%d = {LINE} dynamic-update-slice(%p, %e, %n)"],
        "d",
        ("unknown", "unknown"),
    ),
    "the first half, negated, for both": (
        [*_HALVES, f"%m = {LINE} negate(%e)", f"%d = {LINE} dynamic-update-slice(%p, %m, %n)"],
        "d",
        ("refuted", "refuted"),
    ),
    "the first half scattered over both": ([*_HALVES, _PLACES, _INTO_BOTH], "d", ("unknown", "unknown")),
    "the larger of two scattered over the first": (
        [f"%e = {LINE} reverse(%p), dimensions={{0}}", _PLACES, _INTO_BOTH.replace("%second", "%larger")],
        "d",
        ("unknown", "unknown"),
    ),
    "the real part of the first half for both": ([*_HALVES, f"%d = {LINE} real(%e)"], "d", ("unknown", "unknown")),
    "the fourth, where nothing is added to it": ([*_FOURTH, _OF_NOTHING], "d", ("unknown", "unknown")),
    "the fourth, where something is": (
        [*_FOURTH, _OF_NOTHING.replace("8,0]", "8,1]").replace("[0]", "[1]").replace("[0:0]", "[3:4]")],
        "d",
        ("refuted", "refuted"),
    ),
    "the fourth, in windows of nothing": ([*_FOURTH, _AROUND.replace("PAD", "8_-1")], "d", ("unknown", "unknown")),
    "the fourth, in windows behind": ([*_FOURTH, _AROUND.replace("PAD", "-1_8")], "d", ("unknown", "unknown")),
    "the first of three, in windows between": (
        _GAPS.replace("[4]", "[3]")
        .replace("0:4", "0:3")
        .replace("size=4 rhs_dilate=2 pad=PAD", "size=2 lhs_dilate=3 pad=1_1")
        .split("; "),
        "d",
        ("unknown", "unknown"),
    ),
    "the fourth, in windows astride": (
        [*_FOURTH, _AROUND.replace("size=1 pad=PAD", "size=7 rhs_dilate=2 pad=12_7")],
        "d",
        ("unknown", "unknown"),
    ),
    "the first of four, in windows with gaps": (_GAPS.replace("PAD", "6_4").split("; "), "d", ("refuted", "refuted")),
    "the first of four, in windows with gaps, and before": (
        _GAPS.replace("PAD", "7_3").split("; "),
        "d",
        ("unknown", "unknown"),
    ),
    "the first of four, in windows with gaps, and behind": (
        _GAPS.replace("PAD", "3_7").split("; "),
        "d",
        ("unknown", "unknown"),
    ),
    "the fourth, in windows of something": (
        [*_FOURTH, _AROUND.replace("size=1 pad=PAD", "size=8 pad=7_7")],
        "d",
        ("refuted", "refuted"),
    ),
    "the first half by the larger of one": ([*_HALVES, *_REDUCED], "d", ("unknown", "unknown")),
    "the first half by the second of one": (
        [*_HALVES, *(line.replace("%larger", "%second") for line in _REDUCED)],
        "d",
        ("unknown", "unknown"),
    ),
    "the fourth for all": ([*_FOURTH, f"%d = {LINE} broadcast(%i), dimensions={{}}"], "d", ("unknown", "unknown")),
    "the fourth, in windows of nothing along the second of two": (
        [*_FOURTH, "%t = f32[1,1]{1,0} reshape(%s)", _ALONG, f"%d = {LINE} reshape(%y2)"],
        "d",
        ("unknown", "unknown"),
    ),
    "the first of five, in windows with gaps, between": (
        _GAPS.replace("[4]", "[5]")
        .replace("0:4", "0:5")
        .replace("size=4 rhs", "size=2 lhs_dilate=2 rhs")
        .replace("PAD", "1_0")
        .split("; "),
        "d",
        ("unknown", "unknown"),
    ),
    "the first half by the sum of one": (
        [*_HALVES, *(line.replace("%larger", "%sum") for line in _REDUCED)],
        "d",
        ("refuted", "refuted"),
    ),
    "the first half added to both": (
        [*_HALVES, _PLACES, _INTO_BOTH.replace("%second", "%sum")],
        "d",
        ("refuted", "unknown"),
    ),
    # What is added up is made anew, but nobody says which elements are.
    "an update by sums, copied": (
        [
            "%h = f32[2,4]{1,0} reshape(%p)",
            "%s = f32[2]{0} reduce(%h, %z), dimensions={1}, to_apply=%sum",
            *_moved(6)[1:],
        ],
        "c",
        ("unknown", "unknown"),
    ),
    "what nobody knows beside what is turned round": (
        [f'%d = {LINE} custom-call(%p), custom_call_target="w"', f"%c = {LINE} copy(%d)", TURNED],
        "ct",
        ("unknown", "unknown"),
    ),
    "a bitcast of what is split over memories": (
        ["%s = f32[8]{0:SC(0:4)} negate(%p)", f"%b8 = {LINE} bitcast(%s)", f"%c = {LINE} negate(%b8)"],
        "c",
        ("unknown", "unknown"),
    ),
    "a copy beside what is turned round": ([f"%c = {LINE} copy(%p)", TURNED], "ct", ("unknown", "unknown")),
    "a number beside what is turned round": ([f"%c = {LINE} negate(%p)", TURNED], "ct", ("refuted", "refuted")),
    "what is turned round beside a copy": ([f"%c = {LINE} copy(%p)", TURNED], "tc", ("refuted", "refuted")),
    "an update of all beside what is made whole": (
        [f"%d = {LINE} dynamic-update-slice(%p, %q, %n)", f"%e = {LINE} exponential(%p)"],
        "de",
        ("unknown", "unknown"),
    ),
}


def _chosen(one: int, other: int) -> list[str]:
    """Elements 4 and 5, negated, go to one place or another by the sign of a number."""
    return [
        f"%c1 = s32[] constant({one})",
        f"%c2 = s32[] constant({other})",
        "%lt = pred[] compare(%k, %n), direction=LT",
        "%at = s32[] select(%lt, %c1, %c2)",
        "%s = f32[2]{0} slice(%p), slice={[4:6]}",
        "%e = f32[2]{0} negate(%s)",
        f"%d = {LINE} dynamic-update-slice(%p, %e, %at)",
    ]


_PRODUCT: Final = "multiply(%k, %o)"
"""0, as %o is."""


_NOTHING: Final = "remainder(%k, %k)"
"""0, if nobody follows why."""


def _put(at: str, of: str = "%p") -> list[str]:
    """The first three elements, negated, go to a place."""
    return [
        "%o = s32[] subtract(%k, %k)",
        f"%at = s32[] {at}",
        f"%s = f32[3]{{0}} slice({of}), slice={{[0:3]}}",
        "%e = f32[3]{0} negate(%s)",
        f"%d = {LINE} dynamic-update-slice(%p, %e, %at)",
    ]


def _scattered_over(function: str) -> list[str]:
    """All elements are scattered into an array of the fusion's own, which is negated and turned round."""
    scatter = f"%d = {LINE} scatter(%p, %i, %q), {INTO}".replace("%sum", function)
    return [_PLACES, scatter, f"%e = {LINE} reverse(%d), dimensions={{0}}", f"%t = {LINE} negate(%e)"]


def _gathered(at: str) -> list[str]:
    """Negated elements are gathered by numbers that nobody follows, which are 0, 1, 2, ...; all go to a place, 0."""
    taken = "offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}"
    lines = [
        _PLACES,
        "%c8 = s32[] constant(8)",
        "%b8 = s32[8,1]{1,0} broadcast(%c8), dimensions={}",
        "%i8 = s32[8,1]{1,0} remainder(%i, %b8)",
        f"%t = {LINE} gather(%p, %i8), {taken}",
        f"%g = {LINE} negate(%t)",
    ]
    return [*lines, f"%at = s32[] {at}", f"%d = {LINE} dynamic-update-slice(%p, %g, %at)"] if at else lines


_COMPUTED: Final[Mapping[str, tuple[list[str], str, tuple[str, str]]]] = {
    "to one of two places": (_chosen(2, 6), "d", ("proved", "proved")),
    "to one of two places that meets what is read": (_chosen(2, 5), "d", ("refuted", "refuted")),
    "to a product": (_put(_PRODUCT), "d", ("unknown", "unknown")),
    "to a product, from elsewhere": (_put(_PRODUCT, "%q"), "d", ("proved", "proved")),
    "to what nobody follows": (_put(_NOTHING), "d", ("unknown", "unknown")),
    "of places that nobody follows": (_gathered(""), "g", ("unknown", "unknown")),
    "of places to a place that nobody follows": (_gathered(_NOTHING), "d", ("unknown", "unknown")),
    # Nothing of what lies there is left to be read.
    "what overwrites all of it": (_scattered_over("%second"), "t", ("unknown", "unknown")),
}


@pytest.mark.parametrize("what", _COMPUTED)
def test_what_depends_on_numbers_at_run_time_in_a_fusion_and_in_a_plan(what: str) -> None:
    lines, names, expected = _COMPUTED[what]
    module = fused_module(lines, [(n, LINE) for n in names], (LINE, LINE), "%x, %w, %j")
    assert both_say(module, False) == expected


def test_what_the_program_computes_is_not_any_number() -> None:
    moved = fused_module(_put("copy(%k)"), [("d", LINE)], (LINE, LINE), "%x, %w, %j")
    assert both_say(moved, False) == ("refuted", "refuted")
    given = " %j = s32[] parameter(2)\n"
    assert given in moved
    nothing = moved.replace(given, " %j0 = s32[] parameter(2)\n %j = s32[] remainder(%j0, %j0)\n")
    assert both_say(nothing, False) == ("unknown", "unknown")


@pytest.mark.parametrize(
    ("made", "sorts", "gives", "found"),
    [
        ("negate(%p)", LINE, "f32[2,4]{1,0}", "unknown"),
        ("reverse(%p), dimensions={0}", LINE, "f32[2,4]{1,0}", "refuted"),
        ("negate(%p)", "f32[2,4]{0,1}", LINE, "unknown"),
        ("negate(%p)", "f32[2,4]{1,0}", LINE, "refuted"),
    ],
)
def test_what_is_sorted_and_given_in_another_shape(made: str, sorts: str, gives: str, found: str) -> None:
    given = "f32[2,4]{0,1}" if gives == LINE else LINE
    lines = [
        f"%e = {sorts} {made}",
        f"%f = {sorts} sort(%e), dimensions={{0}}, to_apply=%ge",
        f"%d = {gives} bitcast(%f)",
    ]
    module = fused_module(lines, [("d", gives)], (given, given), "%x, %w, %j")
    assert both_say(module, False) == ("unknown", found)


def test_where_a_scatter_goes_may_be_read_where_it_writes() -> None:
    line = "s32[8]{0}"
    lines = ["%i = s32[8,1]{1,0} reshape(%p)", f"%d = {line} scatter(%p, %i, %q), {INTO}".replace("%sum", "%whole")]
    module = fused_module(lines, [("d", line)], (line, line), "%x, %w, %j")
    whole = "%whole {\n  %l = s32[] parameter(0)\n  %g = s32[] parameter(1)\n  ROOT %o = s32[] add(%l, %g)\n}\n\n"
    assert both_say(module.replace("%fused {", f"{whole}%fused {{", 1), False) == ("unknown", "unknown")


@pytest.mark.parametrize(("begins", "found"), [("%p", ("unknown", "refuted")), ("%q", ("proved", "proved"))])
def test_where_an_update_begins_is_read_where_it_is_put(begins: str, found: tuple[str, str]) -> None:
    line = "s32[8]{0}"
    lines = [
        f"%s = s32[1]{{0}} slice({begins}), slice={{[3:4]}}",
        "%at = s32[] reshape(%s)",
        "%u = s32[4]{0} slice(%q), slice={[0:4]}",
        f"%d = {line} dynamic-update-slice(%p, %u, %at)",
    ]
    assert both_say(fused_module(lines, [("d", line)], (line, line), "%x, %w, %j"), False) == found


def test_all_numbers_that_say_where_an_update_begins_are_read() -> None:
    given = "s32[2,4]{1,0}"
    lines = [
        "%s = s32[1,1]{1,0} slice(%p), slice={[0:1],[0:1]}",
        "%at = s32[] reshape(%s)",
        "%u = s32[1,2]{1,0} slice(%q), slice={[0:1],[0:2]}",
        f"%d = {given} dynamic-update-slice(%p, %u, %n, %at)",
    ]
    found = both_say(fused_module(lines, [("d", given)], (given, given), "%x, %w, %j"), False)
    assert found[0] == "unknown" and found[1] != "proved"


@pytest.mark.parametrize(
    ("lines", "given", "made", "found"),
    [
        (["%h = u16[8,2]{1,0} bitcast-convert(%p)", "%d = u16[8,2]{1,0} negate(%h)"], LINE, "u16[8,2]{1,0}", "unknown"),
        (
            ["%h = s32[8]{0} bitcast-convert(%p)", "%d = s32[8]{0} reverse(%h), dimensions={0}"],
            LINE,
            "s32[8]{0}",
            "refuted",
        ),
        (["%h = f32[8]{0} imag(%p)", "%d = f32[8]{0} negate(%h)"], "c64[8]{0}", LINE, "unknown"),
        (["%h = f32[8]{0} real(%p)", "%d = f32[8]{0} negate(%h)"], "c64[8]{0}", LINE, "unknown"),
        (["%d = f32[8]{0} fusion(%p), kind=kLoop, calls=%halves"], "c64[8]{0}", LINE, "unknown"),
        (["%d = f32[8]{0} fusion(%p), kind=kLoop, calls=%deeper"], "c64[8]{0}", LINE, "unknown"),
        (["%m = c64[8]{0} negate(%p)", "%d = f32[8]{0} imag(%m)"], "c64[8]{0}", LINE, "refuted"),
        (["%d = f32[8]{0} map(%p), dimensions={0}, to_apply=%half"], "c64[8]{0}", LINE, "unknown"),
        (
            ["%m = c64[8]{0} negate(%p)", "%d = f32[8]{0} map(%m), dimensions={0}, to_apply=%half"],
            "c64[8]{0}",
            LINE,
            "refuted",
        ),
        (
            ["%m = c64[8]{0} negate(%q)", "%d = f32[8]{0} map(%m, %p), dimensions={0}, to_apply=%half_of_second"],
            "c64[8]{0}",
            LINE,
            "unknown",
        ),
        (["%h = f32[8]{0} convert(%p)", "%d = f32[8]{0} negate(%h)"], "c64[8]{0}", LINE, "unknown"),
        # The lower half of an integer.
        (["%h = u16[8]{0} convert(%p)", "%d = u16[8]{0} negate(%h)"], "u32[8]{0}", "u16[8]{0}", "unknown"),
        (["%h = f16[8]{0} convert(%p)", "%d = f16[8]{0} negate(%h)"], LINE, "f16[8]{0}", "refuted"),
        (["%h = u32[8]{0} convert(%p)", "%d = u32[8]{0} reverse(%h), dimensions={0}"], *["u32[8]{0}"] * 2, "refuted"),
    ],
)
def test_a_half_of_an_element_is_read(lines: list[str], given: str, made: str, found: str) -> None:
    """Where it is taken of the element as it is given, and the other half is read for nothing."""
    module = fused_module(lines, [("d", made)], (given, given), "%x, %w, %j")
    if "%halves" in module or "%deeper" in module:
        inside = "  %u = c64[8]{0} parameter(0)\n  %v = f32[8]{0} imag(%u)\n  ROOT %m = f32[8]{0} negate(%v)\n"
        module = module.replace("%fused {", f"%halves {{\n{inside}}}\n\n%fused {{")
    if "%deeper" in module:
        call = "  %t = c64[8]{0} parameter(0)\n  ROOT %l = f32[8]{0} fusion(%t), kind=kLoop, calls=%halves\n"
        module = module.replace("%fused {", f"%deeper {{\n{call}}}\n\n%fused {{")
    if "to_apply=%half" in module:
        half = "%half {\n  %hx = c64[] parameter(0)\n  ROOT %hy = f32[] real(%hx)\n}\n\n"
        second = "%half_of_second {\n  %hv = c64[] parameter(0)\n  %hw = c64[] parameter(1)\n"
        second += "  ROOT %hz = f32[] real(%hw)\n}\n\n"
        module = module.replace("%fused {", f"{half}{second}%fused {{")
    assert both_say(module, False)[1] == found


def test_what_a_smaller_reduction_begins_with_is_read_in_every_step() -> None:
    lines = [
        "%s = f32[1]{0} slice(%p), slice={[0:1]}",
        "%i = f32[] reshape(%s)",
        f"%c = {LINE} negate(%q)",
        "%f = f32[] reduce(%q, %i), dimensions={0}, to_apply=%sum",
    ]
    module = fused_module(lines, [("c", LINE), ("f", "f32[]")], (LINE, LINE), "%x, %w, %j")
    assert both_say(module, True) == ("unknown", "refuted")


@pytest.mark.parametrize("moved", ["reshape", "bitcast"])
def test_what_is_sorted_is_made_where_it_lies_by_rows(moved: str) -> None:
    rows = "f32[2,4]{1,0}"
    for made, found in (("negate(%p)", "unknown"), ("reverse(%p), dimensions={0}", "refuted")):
        lines = [
            f"%e = {LINE} {made}",
            f"%f = {rows} {moved}(%e)",
            f"%d = {rows} sort(%f), dimensions={{1}}, to_apply=%ge",
        ]
        module = fused_module(lines, [("d", rows)], (LINE, LINE), "%x, %w, %j")
        assert both_say(module, False) == ("unknown", found)


def test_elements_of_two_names_are_handed_on_together() -> None:
    """The first half of it, by rows, and by its first name."""
    rows = "f32[2,4]{1,0}"
    lines = [
        "%s = f32[1,4]{1,0} slice(%q), slice={[0:1],[0:4]}",
        "%s1 = f32[4]{0} reshape(%s)",
        "%t = f32[4]{0} slice(%p), slice={[0:4]}",
        f"%d = {LINE} concatenate(%s1, %t), dimensions={{0}}",
    ]
    module = fused_module(lines, [("d", LINE)], (LINE, rows), "%x, %w, %j")
    assert f" %w = {rows} negate(%b)" in module
    module = module.replace(f" %w = {rows} negate(%b)", f" %w = {rows} bitcast(%x)")
    assert both_say(module, False) == ("unknown", "unknown")
    made = module.replace(f"ROOT %d = {LINE} con", f"%d = {LINE} con").replace(
        "dimensions={0}\n}", f"dimensions={{0}}\n  ROOT %m = {LINE} negate(%d)\n}}"
    )
    assert both_say(made, False) == ("refuted", "refuted")


@pytest.mark.parametrize(
    ("lines", "names", "found"),
    [
        ([*_HALVES[:1], f"%d = {LINE} concatenate(%s, %s), dimensions={{0}}"], "d", "unknown"),
        ([*_HALVES, f"%d = {LINE} negate(%e)"], "d", "refuted"),
        ([f"%c = {LINE} copy(%p)", TURNED, f"%m = {LINE} negate(%t)"], "cm", "unknown"),
        ([f"%c = {LINE} negate(%p)", TURNED, f"%m = {LINE} negate(%t)"], "cm", "refuted"),
    ],
)
def test_what_is_handed_on_by_another_parameter(lines: list[str], names: str, found: str) -> None:
    """The fusion is given one array twice: what it hands on it may read by either name."""
    module = fused_module(lines, [(n, LINE) for n in names], (LINE, LINE), "%x, %x, %j")
    for text in (module, module.replace("(%p)", "(%q)")):
        assert both_say(text, len(names) > 1)[0] == found


@pytest.mark.parametrize(
    ("index", "found"), [("remainder(%i, %e8)", "unknown"), ("divide(%i, %e8)", "unknown"), ("copy(%i)", "unknown")]
)
def test_what_is_read_at_run_time_in_every_step_is_handed_on(index: str, found: str) -> None:
    """Whether each step hands on its own element depends on all the numbers, not on one for all."""
    lines = [
        _PLACES,
        "%e8 = s32[8,1]{1,0} constant({{8},{8},{8},{8},{8},{8},{8},{8}})",
        f"%h = s32[8,1]{{1,0}} {index}",
        f"%d = {LINE} gather(%p, %h), offset_dims={{}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, "
        "index_vector_dim=1, slice_sizes={1}",
        TURNED,
    ]
    module = fused_module(lines, [("d", LINE), ("t", LINE)], (LINE, LINE), "%x, %w, %j")
    assert both_say(module, True) == (found, found)
    larger = fused_module([*lines, f"%m = {LINE} maximum(%d, %t)"], [("m", LINE)], (LINE, LINE), "%x, %w, %j")
    assert both_say(larger, False) == (found, found)


def test_both_halves_of_an_element_are_read_before_it_is_written() -> None:
    halves = "u16[8,2]{1,0}"
    joined = fused_module([f"%d = {LINE} bitcast-convert(%p)"], [("d", LINE)], (halves, LINE), "%x, %w, %j")
    assert both_say(joined, False) == ("unknown", "proved")
    # Each half is written where it lies; what is made of it first is not.
    for made, found in (("%p", "unknown"), ("%e", "refuted")):
        lines = [f"%e = {LINE} negate(%p)", f"%d = {halves} bitcast-convert({made})"]
        assert both_say(fused_module(lines, [("d", halves)], (LINE, LINE), "%x, %w, %j"), False) == ("unknown", found)


def test_arrays_that_are_split_over_memories_lie_in_places_of_which_nothing_is_known() -> None:
    split = "f32[8]{0:SC(0:4)}"
    for made, found in (("negate(%p)", "proved"), ("reverse(%p), dimensions={0}", "unknown")):
        module = fused_module([f"%d = {split} {made}"], [("d", split)], (split, split), "%x, %w, %j")
        assert both_say(module, False)[1] == found


@pytest.mark.parametrize("what", ["an update", "negated, twice"])
def test_what_is_assumed_of_the_code_is_told(what: str) -> None:
    lines, names, _ = _BY_HAND[what]
    module = fused_module(lines, [(n, LINE) for n in names], (LINE, LINE), "%x, %w, %j").replace("ALIAS", "")
    pair = ("y{0}" if len(names) > 1 else "y", "x")
    found = [r.found for r in judged(module, roomy_plan(module, (pair,))) if r.claim == "plan-in-place"]
    assert [len(f.assumptions) for f in found] == [1]
    assert "steps run in any order" in found[0].assumptions[0]


@pytest.mark.parametrize("verdict", ["unknown", "internal"])
def test_what_an_engine_leaves_open_is_left_open(
    verdict: Literal["unknown", "internal"], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines, _, _ = _BY_HAND["an update"]
    module = fused_module(lines, [("d", LINE)], (LINE, LINE), "%x, %w, %j").replace("ALIAS", "")
    gives_up = Outcome(verdict, reason="no time", final=False)
    monkeypatch.setattr("hloproof.memory.in_place.prove_one", lambda *_, **__: gives_up)
    monkeypatch.setattr("hloproof.claims.asynchronous.in_place_checks.prove_one", lambda *_, **__: gives_up)
    plan = judged(module, roomy_plan(module, (("y", "x"),)))
    hazards = check_hlo(module, Options(jobs=1)).records()
    for claim, records in (("plan-in-place", plan), ("hazard-in-place", hazards)):
        found = [r for r in records if r.claim == claim]
        assert [str(r.verdict) for r in found] == [verdict]
        assert not found[0].found.final


@pytest.mark.parametrize("what", _BY_HAND)
def test_what_is_in_place_in_a_fusion_and_in_a_plan(what: str) -> None:
    lines, names, expected = _BY_HAND[what]
    module = fused_module(lines, [(n, LINE) for n in names], (LINE, LINE), "%x, %w, %j")
    assert both_say(module, len(names) > 1) == expected


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        ("real(%t)", "imag(%t)", "unknown"),
        ("imag(%t)", "imag(%t)", "unknown"),
        ("negate(%h)", "sine(%h)", "refuted"),
        ("", "", "refuted"),
    ],
)
def test_a_number_of_two_halves_is_handed_on_with_them(first: str, second: str, found: str) -> None:
    halves = [
        "%k2 = c64[8]{0} negate(%t)",
        "%h = f32[8]{0} imag(%k2)",
        f"%u = f32[8]{{0}} {first}",
        f"%v = f32[8]{{0}} {second}",
    ]
    made = "%d = c64[8]{0} complex(%u, %v)" if first else "%d = c64[8]{0} negate(%t)"
    of = [line.replace("f32", "c64").replace("%e =", "%t =") for line in _HALVES]
    line = "c64[8]{0}"
    module = fused_module([*of, *(halves if first else []), made], [("d", line)], (line, line), "%x, %w, %j")
    assert both_say(module, False) == (found, found)


_MAY_HAND_ON: Final = {
    "abs": "abs(%e)",
    "and": "and(%e, %e)",
    "bitcast-convert": "bitcast-convert(%e)",
    "ceil": "ceil(%e)",
    "clamp": "clamp(%o, %e, %o)",
    "clamp, below": "clamp(%e, %o, %o)",
    "convert": "convert(%e)",
    "copy": "copy(%e)",
    "floor": "floor(%e)",
    "map": "map(%o, %e), dimensions={0}, to_apply=%second",
    "maximum": "maximum(%o, %e)",
    "minimum": "minimum(%o, %e)",
    "or": "or(%e, %e)",
    "reduce-precision": "reduce-precision(%e), exponent_bits=8, mantissa_bits=23",
    "round-nearest-afz": "round-nearest-afz(%e)",
    "round-nearest-even": "round-nearest-even(%e)",
    "select": "select(%u, %o, %e)",
    "select, first": "select(%u, %e, %o)",
    "sign": "sign(%e)",
}
"""Of a number, or of a whole one; those of complex numbers stand by themselves."""


def test_every_operation_that_may_hand_on_is_tried() -> None:
    assert {what.split(",")[0] for what in _MAY_HAND_ON} == _CHOSEN - {"complex", "imag", "real"}


@pytest.mark.parametrize("what", _MAY_HAND_ON)
def test_what_an_operation_may_hand_on(what: str) -> None:
    """The first half for both, where the operation may give it as it is."""
    whole = what in ("and", "or")
    line = "s32[8]{0}" if whole else LINE
    made = "u32[8]{0}" if what == "bitcast-convert" else line
    of = [x.replace("f32", "s32") if whole else x for x in _HALVES]
    more = [f"%u = pred[8]{{0}} constant({{{', '.join(['true', 'false'] * 4)}}})", f"%o = {line} negate(%q)"]
    module = fused_module([*of, *more, f"%d = {made} {_MAY_HAND_ON[what]}"], [("d", made)], (line, line), "%x, %w, %j")
    assert both_say(module, False) == ("unknown", "unknown")


def test_two_updates_in_place_have_loops_of_their_own() -> None:
    lines = [*_NEGATED, "%a2 = f32[4]{0} abs(%s)", f"%f = {LINE} dynamic-update-slice(%q, %a2, %n)"]
    two = fused_module(lines, [("d", LINE), ("f", LINE)], (LINE, LINE), "%x, %w, %j")
    assert both_say(two, True, ("y{1}", "w")) == ("unknown", "unknown")
    apart = two.replace("%s = f32[4]{0} slice(%p)", "%s = f32[4]{0} slice(%q)").replace("abs(%s)", "abs(%e)")
    assert both_say(apart, True, ("y{1}", "w"))[1] == "unknown"
    alone = two.replace("abs(%s)", "broadcast(%z), dimensions={}")
    assert both_say(alone, True, ("y{1}", "w")) == ("proved", "proved")


def test_an_update_beside_what_is_written_reads_in_a_loop_of_its_own() -> None:
    lines = [f"%d = {LINE} negate(%p)", f"%e = {LINE} abs(OF)", f"%f = {LINE} dynamic-update-slice(%q, %e, %n)"]
    for read, found in (("%p", "unknown"), ("%q", "proved")):
        of = [line.replace("OF", read) for line in lines]
        two = fused_module(of, [("d", LINE), ("f", LINE)], (LINE, LINE), "%x, %w, %j")
        assert both_say(two, True, ("y{1}", "w")) == (found, found)


@pytest.mark.parametrize(
    ("way", "chosen", "found"),
    [
        ("GT", "%k, %c4", "proved"),
        ("GE", "%k, %c4", "refuted"),
        ("LT", "%c4, %k", "refuted"),
        ("LE", "%c4, %k", "proved"),
    ],
)
def test_where_an_update_begins_is_chosen_by_a_number(way: str, chosen: str, found: str) -> None:
    """At four or further up, or at three."""
    lines = [
        "%c3 = s32[] constant(3)",
        "%c4 = s32[] constant(4)",
        f"%g = pred[] compare(%k, %c3), direction={way}",
        f"%s = s32[] select(%g, {chosen})",
        "%v = f32[2]{0} slice(%p), slice={[2:4]}",
        "%u = f32[2]{0} negate(%v)",
        f"%d = {LINE} dynamic-update-slice(%p, %u, %s)",
    ]
    assert both_say(fused_module(lines, [("d", LINE)], (LINE, LINE), "%x, %w, %j"), False) == (found, found)


@pytest.mark.parametrize(("last", "found"), [("%a4", "unknown"), ("%a5", "refuted")])
@pytest.mark.parametrize(("given", "index"), [("%q, %s, %z, %e", 1), ("%s, %q, %e, %z", 0)])
def test_a_function_of_several_computes_if_it_hands_on_none(last: str, found: str, given: str, index: int) -> None:
    function = "%both {\n" + "".join(f"  %a{k + 1} = f32[] parameter({k})\n" for k in range(4))
    function += f"  %a5 = f32[] add(%a1, %a3)\n  ROOT %a6 = (f32[], f32[]) tuple(%a5, {last})\n}}\n\n"
    lines = [
        "%t = f32[1]{0} slice(%p), slice={[3:4]}",
        "%e = f32[] reshape(%t)",
        f"%s = {LINE} broadcast(%e), dimensions={{}}",
        f"%two = (f32[], f32[]) reduce({given}), dimensions={{0}}, to_apply=%both",
        f"%one = f32[] get-tuple-element(%two), index={index}",
        f"%d = {LINE} broadcast(%one), dimensions={{}}",
    ]
    module = fused_module(lines, [("d", LINE)], (LINE, LINE), "%x, %w, %j")
    assert both_say(module.replace("%fused {", function + "%fused {", 1), False) == (found, found)


@pytest.mark.parametrize(("highest", "found"), [(7, "proved"), (0, "refuted")])
def test_elements_of_one_array_at_one_place_are_one(highest: int, found: str) -> None:
    """The first number says where the update begins, and what its first element reads."""
    low = min(5, highest)
    lines = [
        f"%lo = s32[2]{{0}} constant({{0, {low}}})",
        f"%hi = s32[2]{{0}} constant({{1, {highest}}})",
        "%sx = s32[2]{0} slice(%q), slice={[0:2]}",
        "%least = s32[2]{0} minimum(%sx, %hi)",
        "%both = s32[2]{0} maximum(%least, %lo)",
        "%s = s32[1]{0} slice(%both), slice={[0:1]}",
        "%at = s32[] reshape(%s)",
        "%ix = s32[2,1]{1,0} reshape(%both)",
        "%g = f32[2]{0} gather(%p, %ix), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, "
        "index_vector_dim=1, slice_sizes={1}",
        "%h = f32[2]{0} negate(%g)",
        f"%d = {LINE} dynamic-update-slice(%p, %h, %at)",
    ]
    module = fused_module(lines, [("d", LINE)], (LINE, "s32[8]{0}"), "%x, %w, %j")
    assert both_say(module, False) == (found, found)


@pytest.mark.parametrize("given", ["%x, %x, %j", "%x, %w, %j"])
def test_a_sort_of_another_name_of_what_lies_there_is_not_refuted(given: str) -> None:
    sort = fused_module([f"%d = {LINE} sort(%q), dimensions={{0}}, to_apply=%ge"], [("d", LINE)], (LINE, LINE), given)
    assert both_say(sort, False) == ("unknown", "proved")


# -- at random -----------------------------------------------------------------------------------------------------

_Array = tuple[str, str, tuple[int, ...], str]
"""A name, an element type, sizes, and a layout."""


def _text(a: _Array) -> str:
    return f"{a[1]}[{','.join(map(str, a[2]))}]{a[3]}"


def _row_major(sizes: tuple[int, ...]) -> str:
    return "{" + ",".join(map(str, reversed(range(len(sizes))))) + "}"


class _Body:
    """A fused computation, written line by line."""

    def __init__(self, r: Random) -> None:
        self.r, self.lines, self.base = r, list[str](), r.choice([(4, 4), (16,), (8,), (2, 8)])
        self.given: tuple[_Array, _Array] = (self._array("p", self.base), self._array("q", self.base))
        self.arrays = list(self.given)
        for _ in range(r.randrange(1, 6)):
            self._step(*r.choice([a for a in self.arrays if a[1] == "f32" and a[2]]))

    def _array(self, name: str, sizes: tuple[int, ...], kind: str = "f32", layout: str = "") -> _Array:
        order = list(reversed(range(len(sizes))))
        if self.r.random() < 0.3:
            self.r.shuffle(order)
        return name, kind, sizes, layout or "{" + ",".join(map(str, order)) + "}"

    def add(self, sizes: tuple[int, ...], text: str, kind: str = "f32", layout: str = "") -> None:
        made = self._array(f"v{len(self.lines)}", sizes, kind, layout)
        self.lines.append(f"%{made[0]} = {_text(made)} {text}")
        self.arrays.append(made)

    def _of(self, sizes: tuple[int, ...]) -> _Array:
        return self.r.choice([a for a in self.arrays if a[1] == "f32" and a[2] == sizes])

    def _step(self, name: str, kind: str, sizes: tuple[int, ...], layout: str) -> None:
        r, other, k = self.r, self._of(sizes), self.r.randrange(len(sizes))
        starts = ", ".join(r.choice(("%k", "%n", "%n")) for _ in sizes)
        match r.choice("map add turn cut grow sum shape convert bits put put take scatter sort pair select".split()):
            case "map":
                self.add(sizes, f"{r.choice(('negate', 'copy', 'abs'))}(%{name})")
            case "add":
                self.add(sizes, f"add(%{name}, %{other[0]})")
            case "turn" if len(sizes) == 2 and r.random() < 0.5:
                self.add(sizes[::-1], f"transpose(%{name}), dimensions={{1,0}}")
            case "turn":
                self.add(sizes, f"reverse(%{name}), dimensions={{{k}}}")
            case "cut":
                box = [(low := r.randrange(n), r.randrange(low + 1, n + 1)) for n in sizes]
                bounds = ",".join(f"[{a}:{b}]" for a, b in box)
                self.add(tuple(b - a for a, b in box), f"slice(%{name}), slice={{{bounds}}}")
            case "grow":
                more = [(r.choice((0, 0, 1)), r.choice((0, 0, 2))) for _ in sizes]
                padding = "x".join(f"{a}_{b}" for a, b in more)
                self.add(
                    tuple(n + a + b for n, (a, b) in zip(sizes, more, strict=True)),
                    f"pad(%{name}, %z), padding={padding}",
                )
            case "sum":
                self.add(sizes[:k] + sizes[k + 1 :], f"reduce(%{name}, %z), dimensions={{{k}}}, to_apply=%sum")
            case "shape":
                fits = [s for s in ((4, 4), (16,), (2, 8), (4, 1, 4), (8,), (4, 2)) if prod(s) == prod(sizes)]
                for new in fits[:1] if r.random() < 0.5 else fits[-1:]:
                    moved = layout == _row_major(sizes)
                    self.add(
                        new, f"{'bitcast' if moved else 'reshape'}(%{name})", layout=_row_major(new) if moved else ""
                    )
            case "convert":
                self.add(sizes, f"convert(%{name})", r.choice(("f16", "s8", "u32")))
            case "bits":
                to = r.choice(("u32", "f16"))
                self.add(sizes if to == "u32" else (*sizes, 2), f"bitcast-convert(%{name})", to)
            case "put":
                parts = [a for a in self.arrays if a[1] == "f32" and len(a[2]) == len(sizes)]
                part = r.choice([a for a in parts if all(x <= y for x, y in zip(a[2], sizes, strict=True))])
                self.add(sizes, f"dynamic-update-slice(%{name}, %{part[0]}, {starts})", layout=layout)
            case "take":
                window = tuple(r.randrange(1, n + 1) for n in sizes)
                sized = ",".join(map(str, window))
                self.add(window, f"dynamic-slice(%{name}, {starts}), dynamic_slice_sizes={{{sized}}}")
            case "scatter" if len(sizes) == 1:
                i = f"%v{len(self.lines)}"
                self.lines.append(f"{i} = s32[{sizes[0]},1]{{1,0}} iota(), iota_dimension=0")
                self.add(sizes, f"scatter(%{name}, {i}, %{other[0]}), {INTO}", layout=layout)
            case "sort":
                self.add(sizes, f"sort(%{name}), dimensions={{{k}}}, to_apply=%ge", layout=layout)
            case "pair":
                t, one = f"%v{len(self.lines)}", (name, kind, sizes, layout)
                text = f"({_text(one)}, {_text(other)}) sort(%{name}, %{other[0]}), dimensions={{{k}}}, to_apply=%first"
                self.lines.append(f"{t} = {text}")
                self.add(sizes, f"get-tuple-element({t}), index=0", layout=layout)
                self.add(sizes, f"get-tuple-element({t}), index=1", layout=other[3])
            case "select" if len(sizes) == 2:
                how = "window={size=1x1}, select=%ge, scatter=%sum"
                self.add(sizes, f"select-and-scatter(%{name}, %{other[0]}, %z), {how}")


def _drawn(seed: int) -> tuple[str, bool] | None:
    """A module whose first result has as many bytes as x, and whether it has several; None where nothing has."""
    r = Random(seed)
    body = _Body(r)
    size = 32 * prod(body.base)
    made = [a for a in body.arrays[2:] if a[2]]
    over = [a for a in made if _BITS[a[1]] * prod(a[2]) == size]
    if not over:
        return None
    results = [r.choice(over[-3:]), *(r.choice(made) for _ in range(r.choice((0, 0, 1, 1, 2))))]
    again = body.given[0][3] == body.given[1][3] and r.random() < 0.2
    given = "%x, %x, %j" if again else "%x, %w, %j"
    shapes = (_text(body.given[0]), _text(body.given[1]))
    return fused_module(body.lines, [(a[0], _text(a)) for a in results], shapes, given), len(results) > 1


_SEEDS: Final = 25
"""Modules of one test."""


@pytest.mark.parametrize("number", range(12))
def test_no_claim_refutes_what_the_other_one_proves(number: int) -> None:
    for seed in range(number * _SEEDS, (number + 1) * _SEEDS):
        drawn = _drawn(seed)
        if drawn is None:
            continue
        found = both_say(*drawn)
        assert "refuted" not in found or "proved" not in found or _is_another_update(drawn[0]), (seed, found)
        if "proved" in found:
            assert not _is_belied(*drawn), (seed, found)


def _is_another_update(module: str) -> bool:
    """An update of q is judged as one in its own place, too, which the plan did not choose."""
    return "dynamic-update-slice" in module or "scatter(" in module


def _is_belied(module: str, several: bool) -> bool:
    plain = module.replace("ALIAS", "")
    plan = Plan(parse_module(plain), parse_assignment(roomy_plan(plain, (("y{0}" if several else "y", "x"),))))
    try:
        return any(replay(plan, seed) is not None for seed in range(2))
    except NotModelled:
        return False
