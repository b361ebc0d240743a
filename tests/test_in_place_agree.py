"""Two claims speak of one thing: a fusion that declares its result to lie over an operand, and a memory plan that puts
the two into one place. What one of them proves the other does not refute, and a run with memory does not belie it."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from random import Random
from typing import Final, Literal

import pytest
from memory_cases import judged, roomy_plan

from hloproof.logic.obligation import Outcome
from hloproof.memory.plan import Plan
from hloproof.memory.replay import replay
from hloproof.models.dataflow.steps import _CHOSEN
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.parser import parse_module
from hloproof.models.memory.assignment import parse_assignment
from hloproof.pipeline.driver import check_hlo
from hloproof.pipeline.options import Options, Selection

_APPLIED: Final = """%sum (vx0: f32[], wx0: f32[]) -> f32[] {
  %vx0 = f32[] parameter(0)
  %wx0 = f32[] parameter(1)
  ROOT %sx0 = f32[] add(%vx0, %wx0)
}

%second (vx4: f32[], wx4: f32[]) -> f32[] {
  %vx4 = f32[] parameter(0)
  ROOT %wx4 = f32[] parameter(1)
}

%larger (vx5: f32[], wx5: f32[]) -> f32[] {
  %vx5 = f32[] parameter(0)
  %wx5 = f32[] parameter(1)
  ROOT %ox5 = f32[] maximum(%vx5, %wx5)
}

%ge (vx1: f32[], wx1: f32[]) -> pred[] {
  %vx1 = f32[] parameter(0)
  %wx1 = f32[] parameter(1)
  ROOT %ox1 = pred[] compare(%vx1, %wx1), direction=GE
}

%first (vx2: f32[], wx2: f32[], vx3: f32[], wx3: f32[]) -> pred[] {
  %vx2 = f32[] parameter(0)
  %wx2 = f32[] parameter(1)
  %vx3 = f32[] parameter(2)
  %wx3 = f32[] parameter(3)
  ROOT %ox2 = pred[] compare(%vx2, %wx2), direction=GE
}
"""
_BITS: Final = {"f32": 32, "u32": 32, "f16": 16, "s8": 8}
_INTO: Final = (
    "update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, "
    "to_apply=%sum"
)
_PLACES: Final = "%i = s32[8,1]{1,0} iota(), iota_dimension=0"


def _module(lines: list[str], results: list[tuple[str, str]], shapes: tuple[str, str], given: str) -> str:
    """A fusion of p, q and a number k; its result, or the first of several (name and shape), may lie over x, which is
    p. `given` are its operands. ALIAS stands where it is declared."""
    shape = results[0][1] if len(results) == 1 else "(" + ", ".join(s for _, s in results) + ")"
    parts = " ROOT %r = S negate(%y)"
    if len(results) == 1:
        lines = [line.replace(f"%{results[0][0]} =", f"ROOT %{results[0][0]} =") for line in lines]
    else:
        names = ", ".join(f"%{n}" for n, _ in results)
        lines = [*lines, f"ROOT %all = {shape} tuple({names})"]
        parts = "".join(
            f" %y{n} = {s} get-tuple-element(%y), index={n}\n %o{n} = {s} negate(%y{n})\n"
            for n, (_, s) in enumerate(results)
        )
        parts += f" ROOT %r = S tuple({', '.join(f'%o{n}' for n in range(len(results)))})"
    inside = "".join(f"  {line}\n" for line in lines)
    return (
        f"HloModule m, is_scheduled=true\n\n{_APPLIED}\n%fused {{\n"
        f"  %p = {shapes[0]} parameter(0)\n  %q = {shapes[1]} parameter(1)\n  %k = s32[] parameter(2)\n"
        f"  %z = f32[] constant(0)\n  %n = s32[] constant(0)\n{inside}}}\n\n"
        f"ENTRY %main {{\n %a = {shapes[0]} parameter(0)\n %b = {shapes[1]} parameter(1)\n"
        " %j = s32[] parameter(2)\n"
        f" %x = {shapes[0]} negate(%a)\n %w = {shapes[1]} negate(%b)\n"
        f" %y = S fusion({given}), kind=kLoop, calls=%fusedALIAS\n{parts}\n}}\n"
    ).replace(" S ", f" {shape} ")


def _verdicts(module: str, several: bool, over: tuple[str, ...] = ()) -> tuple[str, str]:
    """Of hazard-in-place, and of a plan that puts the result over x."""
    declared = (
        ", output_to_operand_aliasing={{0}: (0, {})}" if several else ", output_to_operand_aliasing={{}: (0, {})}"
    )
    only = Options(jobs=1, selection=Selection(only=("hazard-in-place",)))
    hazards = [str(r.verdict) for r in check_hlo(module.replace("ALIAS", declared), only).records()]
    plain = module.replace("ALIAS", "")
    pairs = [("y{0}" if several else "y", "x"), *([over] if over else [])]
    plan = [str(r.verdict) for r in judged(plain, roomy_plan(plain, tuple(pairs))) if r.claim.endswith("in-place")]
    return _worst(hazards), _worst(plan)


def _planned(module: str, place: str = "y", by: str = "x", at: tuple[int, int] = (0, 0)) -> list[str]:
    """Of plan-in-place, where the plan puts a result over a value: of so many bytes, that many behind it."""
    module = module.replace("ALIAS", "")
    plan, (size, offset) = roomy_plan(module, ((place, by),)), at
    if size:
        lies = f"{place} @0> (size={size},offset="
        assert f"{lies}0)" in plan
        plan = plan.replace(f"{lies}0)", f"{lies}{offset})")
    return [str(r.verdict) for r in judged(module, plan) if r.claim == "plan-in-place"]


def _worst(verdicts: list[str]) -> str:
    return next((v for v in ("refuted", "unknown", "internal") if v in verdicts), "proved" if verdicts else "")


_LINE: Final = "f32[8]{0}"
_NEGATED: Final = [
    "%s = f32[4]{0} slice(%p), slice={[0:4]}",
    "%e = f32[4]{0} negate(%s)",
    f"%d = {_LINE} dynamic-update-slice(%p, %e, %n)",
]
_BOTH: Final = f"%t = ({_LINE}, {_LINE}) sort(%p, %q), dimensions={{0}}, to_apply=%first"
_PARTS: Final = [f"%{n} = {_LINE} get-tuple-element(%t), index={k}" for k, n in enumerate("gh")]
_TURNED: Final = f"%t = {_LINE} reverse(%p), dimensions={{0}}"
_SORTED: Final = f"%d = {_LINE} sort(%e), dimensions={{0}}, to_apply=%ge"
_HALVES: Final = ["%s = f32[4]{0} slice(%p), slice={[0:4]}", f"%e = {_LINE} concatenate(%s, %s), dimensions={{0}}"]
_INTO_BOTH: Final = f"%d = {_LINE} scatter(%p, %i, %e), {_INTO}".replace("%sum", "%second")


_FOURTH: Final = ["%s = f32[1]{0} slice(%p), slice={[3:4]}", "%i = f32[] reshape(%s)"]
_OF_NOTHING: Final = (
    "%t = f32[0]{0} slice(%p), slice={[0:0]}\n  %e = f32[8,0]{1,0} broadcast(%t), dimensions={1}\n"
    f"  %d = {_LINE} reduce(%e, %i), dimensions={{1}}, to_apply=%sum"
)
_AROUND: Final = f"%d = {_LINE} reduce-window(%s, %i), window={{size=1 pad=PAD}}, to_apply=%sum"
_ALONG: Final = "%y2 = f32[1,8]{1,0} reduce-window(%t, %i), window={size=1x1 pad=0_0x8_-1}, to_apply=%sum"
_GAPS: Final = (
    "%s = f32[1]{0} slice(%p), slice={[0:1]}; %i = f32[] reshape(%s); %e = f32[4]{0} slice(%p), slice={[0:4]}; "
    f"%d = {_LINE} reduce-window(%e, %i), window={{size=4 rhs_dilate=2 pad=PAD}}, to_apply=%sum"
)
_REDUCED: Final = ["%h = f32[8,1]{1,0} reshape(%e)", f"%d = {_LINE} reduce(%h, %z), dimensions={{1}}, to_apply=%larger"]


def _moved(begin: int) -> list[str]:
    """Two elements from there on stand for the third and fourth as well, in an array of its own."""
    return [
        f"%s = f32[2]{{0}} slice(%p), slice={{[{begin}:{begin + 2}]}}",
        "%two = s32[] constant(2)",
        f"%d = {_LINE} dynamic-update-slice(%p, %s, %two)",
        f"%c = {_LINE} copy(%d)",
    ]


_BY_HAND: Final[Mapping[str, tuple[list[str], str, tuple[str, str]]]] = {
    "an update": (_NEGATED, "d", ("proved", "proved")),
    # The second is made whole in a loop of its own, which reads what the first one has written.
    "an update, twice": (_NEGATED, "dd", ("unknown", "unknown")),
    "negated, twice": ([f"%d = {_LINE} negate(%p)"], "dd", ("proved", "proved")),
    "a scatter": ([_PLACES, f"%d = {_LINE} scatter(%p, %i, %q), {_INTO}"], "d", ("proved", "proved")),
    "a scatter, twice": ([_PLACES, f"%d = {_LINE} scatter(%p, %i, %q), {_INTO}"], "dd", ("unknown", "unknown")),
    # Every update is combined into the element that it was read of.
    "a scatter of itself": ([_PLACES, f"%d = {_LINE} scatter(%p, %i, %p), {_INTO}"], "d", ("proved", "unknown")),
    "a sort beside itself": ([_BOTH, *_PARTS], "gg", ("unknown", "proved")),
    "a sort beside its other result": ([_BOTH, *_PARTS], "gh", ("unknown", "proved")),
    # There may be nothing to reduce where the size is not known before.
    "the fourth, where nothing may be added to it": (
        [
            *_FOURTH,
            "%t = f32[8,2]{1,0} broadcast(%i), dimensions={}",
            "%l = s32[] constant(0)",
            "%u = f32[8,<=2]{1,0} set-dimension-size(%t, %l), dimensions={1}",
            f"%d = {_LINE} reduce(%u, %i), dimensions={{1}}, to_apply=%sum",
        ],
        "d",
        ("unknown", "unknown"),
    ),
    # What is sorted beside it is made of it before either is sorted.
    "a sort by what is there": (
        [f"%e = {_LINE} reverse(%p), dimensions={{0}}", _BOTH.replace("sort(%p, %q)", "sort(%p, %e)"), *_PARTS],
        "gh",
        ("unknown", "proved"),
    ),
    "a sort by another": (
        [f"%e = {_LINE} reverse(%p), dimensions={{0}}", _BOTH.replace("sort(%p, %q)", "sort(%e, %p)"), *_PARTS],
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
    "a sort of what is negated": ([f"%e = {_LINE} negate(%p)", _SORTED], "d", ("unknown", "unknown")),
    "a sort of what is turned": ([f"%e = {_LINE} reverse(%p), dimensions={{0}}", _SORTED], "d", ("unknown", "refuted")),
    "a sort of two halves that are one": ([*_HALVES, _SORTED], "d", ("unknown", "unknown")),
    "a sort of two halves that are one, negated": (
        [*_HALVES[:1], "%f = f32[4]{0} negate(%s)", _HALVES[1].replace("%s", "%f"), _SORTED],
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
        ["%s = f32[8]{0:SC(0:4)} negate(%p)", f"%e = {_LINE} bitcast(%s)", _BOTH.replace("%p, %q", "%q, %e"), *_PARTS],
        "gh",
        ("unknown", "unknown"),
    ),
    # What a reduction begins with is read in every step of what is as large as its input.
    "a negation beside a sum that begins with what lies there": (
        [
            "%s = f32[1]{0} slice(%p), slice={[0:1]}",
            "%i = f32[] reshape(%s)",
            f"%c = {_LINE} negate(%q)",
            "%f = f32[] reduce(%q, %i), dimensions={0}, to_apply=%sum",
            f"%e = {_LINE} broadcast(%f), dimensions={{}}",
        ],
        "ce",
        ("refuted", "refuted"),
    ),
    "a sort beside another one, of what is negated": (
        [
            f"%d = {_LINE} sort(%p), dimensions={{0}}, to_apply=%ge",
            f"%m = {_LINE} negate(%p)",
            f"%e = {_LINE} sort(%m), dimensions={{0}}, to_apply=%ge",
        ],
        "de",
        ("unknown", "refuted"),
    ),
    "the first half for both, from a number on": (
        [
            "%s = f32[4]{0} dynamic-slice(%p, %n), dynamic_slice_sizes={4}",
            f"%d = {_LINE} concatenate(%s, %s), dimensions={{0}}",
        ],
        "d",
        ("unknown", "unknown"),
    ),
    "the first row for both": (
        [
            "%e = f32[2,4]{1,0} bitcast(%p)",
            "%s = f32[1,4]{1,0} slice(%e), slice={[0:1],[0:4]}",
            "%f = f32[2,4]{1,0} concatenate(%s, %s), dimensions={0}",
            f"%d = {_LINE} bitcast(%f)",
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
            f"%d = {_LINE} broadcast(%u), dimensions={{}}",
        ],
        "d",
        ("unknown", "unknown"),
    ),
    "a copy beside a sort of what is negated": (
        [f"%e = {_LINE} negate(%p)", f"%c = {_LINE} copy(%p)", _SORTED],
        "cd",
        ("unknown", "unknown"),
    ),
    "what is negated beside a sort of it": (
        [f"%e = {_LINE} negate(%p)", f"%c = {_LINE} abs(%e)", f"%f = {_LINE} sine(%c)", _SORTED],
        "fd",
        ("unknown", "refuted"),
    ),
    "a sort of another sort": (
        [_SORTED.replace("%d", "%f").replace("%e", "%p"), f"%e = {_LINE} negate(%f)", _SORTED],
        "d",
        ("unknown", "refuted"),
    ),
    "a sort over what is sorted beside it": (
        [f"%e = {_LINE} negate(%p)", _BOTH.replace("%p, %q", "%q, %e"), *_PARTS],
        "gh",
        ("unknown", "refuted"),
    ),
    "a sort of what is negated, beside another": (
        [f"%e = {_LINE} negate(%p)", _BOTH.replace("%p, %q", "%e, %q"), *_PARTS],
        "gh",
        ("unknown", "unknown"),
    ),
    "the second result of a sort of what is negated": (
        [f"%e = {_LINE} negate(%p)", _BOTH.replace("%p, %q", "%q, %e"), *_PARTS],
        "hg",
        ("unknown", "unknown"),
    ),
    "a sort, and apart what is negated": (
        [f"%f = {_LINE} negate(%p)", f"%e = {_LINE} negate(%q)", _SORTED.replace("%e", "%f"), f"%g = {_LINE} sine(%p)"],
        "gd",
        ("unknown", "refuted"),
    ),
    # What lies outside of the window is written over itself.
    "an update, copied": (_moved(6), "c", ("unknown", "unknown")),
    "an update by what it overwrites, copied": (_moved(3), "c", ("refuted", "refuted")),
    "an update, negated": ([*_moved(6), f"%m = {_LINE} negate(%c)"], "m", ("refuted", "refuted")),
    "the first half for both": (
        [*_HALVES, f"%d = {_LINE} dynamic-update-slice(%p, %e, %n)"],
        "d",
        ("unknown", "unknown"),
    ),
    "the first half, negated, for both": (
        [*_HALVES, f"%m = {_LINE} negate(%e)", f"%d = {_LINE} dynamic-update-slice(%p, %m, %n)"],
        "d",
        ("refuted", "refuted"),
    ),
    "the first half scattered over both": ([*_HALVES, _PLACES, _INTO_BOTH], "d", ("unknown", "unknown")),
    "the larger of two scattered over the first": (
        [f"%e = {_LINE} reverse(%p), dimensions={{0}}", _PLACES, _INTO_BOTH.replace("%second", "%larger")],
        "d",
        ("unknown", "unknown"),
    ),
    "the real part of the first half for both": ([*_HALVES, f"%d = {_LINE} real(%e)"], "d", ("unknown", "unknown")),
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
    "the fourth for all": ([*_FOURTH, f"%d = {_LINE} broadcast(%i), dimensions={{}}"], "d", ("unknown", "unknown")),
    "the fourth, in windows of nothing along the second of two": (
        [*_FOURTH, "%t = f32[1,1]{1,0} reshape(%s)", _ALONG, f"%d = {_LINE} reshape(%y2)"],
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
        [f'%d = {_LINE} custom-call(%p), custom_call_target="w"', f"%c = {_LINE} copy(%d)", _TURNED],
        "ct",
        ("unknown", "unknown"),
    ),
    "a bitcast of what is split over memories": (
        ["%s = f32[8]{0:SC(0:4)} negate(%p)", f"%b8 = {_LINE} bitcast(%s)", f"%c = {_LINE} negate(%b8)"],
        "c",
        ("unknown", "unknown"),
    ),
    "a copy beside what is turned round": ([f"%c = {_LINE} copy(%p)", _TURNED], "ct", ("unknown", "unknown")),
    "a number beside what is turned round": ([f"%c = {_LINE} negate(%p)", _TURNED], "ct", ("refuted", "refuted")),
    "what is turned round beside a copy": ([f"%c = {_LINE} copy(%p)", _TURNED], "tc", ("refuted", "refuted")),
    "an update of all beside what is made whole": (
        [f"%d = {_LINE} dynamic-update-slice(%p, %q, %n)", f"%e = {_LINE} exponential(%p)"],
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
        f"%d = {_LINE} dynamic-update-slice(%p, %e, %at)",
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
        f"%d = {_LINE} dynamic-update-slice(%p, %e, %at)",
    ]


def _scattered_over(function: str) -> list[str]:
    """All elements are scattered into an array of the fusion's own, which is negated and turned round."""
    scatter = f"%d = {_LINE} scatter(%p, %i, %q), {_INTO}".replace("%sum", function)
    return [_PLACES, scatter, f"%e = {_LINE} reverse(%d), dimensions={{0}}", f"%t = {_LINE} negate(%e)"]


def _gathered(at: str) -> list[str]:
    """Negated elements are gathered by numbers that nobody follows, which are 0, 1, 2, ...; all go to a place, 0."""
    taken = "offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}"
    lines = [
        _PLACES,
        "%c8 = s32[] constant(8)",
        "%b8 = s32[8,1]{1,0} broadcast(%c8), dimensions={}",
        "%i8 = s32[8,1]{1,0} remainder(%i, %b8)",
        f"%t = {_LINE} gather(%p, %i8), {taken}",
        f"%g = {_LINE} negate(%t)",
    ]
    return [*lines, f"%at = s32[] {at}", f"%d = {_LINE} dynamic-update-slice(%p, %g, %at)"] if at else lines


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
    module = _module(lines, [(n, _LINE) for n in names], (_LINE, _LINE), "%x, %w, %j")
    assert _verdicts(module, False) == expected


def test_what_the_program_computes_is_not_any_number() -> None:
    moved = _module(_put("copy(%k)"), [("d", _LINE)], (_LINE, _LINE), "%x, %w, %j")
    assert _verdicts(moved, False) == ("refuted", "refuted")
    given = " %j = s32[] parameter(2)\n"
    assert given in moved
    nothing = moved.replace(given, " %j0 = s32[] parameter(2)\n %j = s32[] remainder(%j0, %j0)\n")
    assert _verdicts(nothing, False) == ("unknown", "unknown")


_ONE_TURN: Final = """HloModule m, is_scheduled=true

%fused {
  %p = f32[8]{0} parameter(0)
  %k = s32[] parameter(1)
  %s = f32[3]{0} slice(%p), slice={[0:3]}
  %e = f32[3]{0} negate(%s)
  ROOT %d = f32[8]{0} dynamic-update-slice(%p, %e, %k)
}

%body {
  %state = (s32[], f32[8]{0}) parameter(0)
  %i = s32[] get-tuple-element(%state), index=0
  %v = f32[8]{0} get-tuple-element(%state), index=1
  %x = f32[8]{0} negate(%v)
  %y = f32[8]{0} fusion(%x, %i), kind=kLoop, calls=%fused
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %z = f32[8]{0} negate(%y)
  ROOT %t = (s32[], f32[8]{0}) tuple(%next, %z)
}

%more {
  %tested = (s32[], f32[8]{0}) parameter(0)
  %j = s32[] get-tuple-element(%tested), index=0
  %last = s32[] constant(1)
  ROOT %is = pred[] compare(%j, %last), direction=LT
}

ENTRY %main {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} negate(%a)
  %zero = s32[] constant(0)
  %first = (s32[], f32[8]{0}) tuple(%zero, %b)
  ROOT %w = (s32[], f32[8]{0}) while(%first), condition=%more, body=%body
}
"""


def test_what_a_loop_counts_is_not_any_number() -> None:
    """It is 0 in the only turn."""
    found = [str(r.verdict) for r in judged(_ONE_TURN, roomy_plan(_ONE_TURN, (("y", "x"),))) if "in-place" in r.claim]
    assert _worst(found) == "unknown"
    only = Options(jobs=1, selection=Selection(only=("hazard-in-place",)))
    assert {str(r.verdict) for r in check_hlo(_ONE_TURN, only).records()} == {"proved"}


@pytest.mark.parametrize(("offset", "found"), [(8, "unknown"), (12, "refuted"), (16, "unknown")])
def test_what_is_handed_on_lies_where_it_lay_by_the_offsets_of_both(offset: int, found: str) -> None:
    """Elements 4 and 5 twice: as elements 2 and 3 of four that begin 2 elements behind, or as 0 and 1 of 4 behind."""
    four = "f32[4]{0}"
    lines = ["%s = f32[2]{0} slice(%p), slice={[4:6]}", f"%d = {four} concatenate(%s, %s), dimensions={{0}}"]
    module = _module(lines, [("d", four)], (_LINE, _LINE), "%x, %w, %j")
    assert _planned(module, at=(16, offset)) == [found]


@pytest.mark.parametrize(
    ("given", "offset", "found"), [("p", 0, "proved"), ("p", 4, "refuted"), ("e", 0, "unknown"), ("e", 4, "refuted")]
)
def test_what_is_sorted_is_made_there_only_where_it_lies(given: str, offset: int, found: str) -> None:
    lines = [f"%e = {_LINE} negate(%p)", _SORTED.replace("%e", f"%{given}")]
    module = _module(lines, [("d", _LINE)], (_LINE, _LINE), "%x, %w, %j").replace("ALIAS", "")
    plan = roomy_plan(module, (("y", "x"),))
    assert "y @0> (size=32,offset=0)" in plan
    plan = plan.replace("(size=32,offset=0)", "(size=36,offset=0)").replace(
        "y @0> (size=36,offset=0)", f"y @0> (size=32,offset={offset})"
    )
    assert [str(r.verdict) for r in judged(module, plan) if r.claim == "plan-in-place"] == [found]


@pytest.mark.parametrize(("offset", "found"), [(0, "unknown"), (12, "refuted"), (16, "proved")])
def test_what_is_sorted_is_apart_from_where_it_goes(offset: int, found: str) -> None:
    """The first half is read, whenever that is, and not written where the result lies over the second."""
    lines = ["%s = f32[4]{0} slice(%p), slice={[0:4]}", "%d = f32[4]{0} sort(%s), dimensions={0}, to_apply=%ge"]
    module = _module(lines, [("d", "f32[4]{0}")], (_LINE, _LINE), "%x, %w, %j")
    assert _planned(module, at=(16, offset)) == [found]


@pytest.mark.parametrize(("start", "found"), [(4, "unknown"), (3, "refuted")])
def test_what_is_sorted_is_apart_from_what_is_updated(start: int, found: str) -> None:
    """The first half is sorted elsewhere, and another half put into the array behind it."""
    lines = [
        "%f = f32[4]{0} slice(%q), slice={[0:4]}",
        f"%at = s32[] constant({start})",
        f"%d = {_LINE} dynamic-update-slice(%p, %f, %at)",
        "%s = f32[4]{0} slice(%p), slice={[0:4]}",
        "%e = f32[4]{0} sort(%s), dimensions={0}, to_apply=%ge",
    ]
    module = _module(lines, [("d", _LINE), ("e", "f32[4]{0}")], (_LINE, _LINE), "%x, %w, %j")
    assert _planned(module, "y{0}") == [found]


@pytest.mark.parametrize(("offset", "found"), [(0, "refuted"), (16, "refuted"), (32, "proved")])
def test_all_that_is_sorted_is_apart_from_where_it_goes(offset: int, found: str) -> None:
    """The sums of the first half and the second of three."""
    four = "f32[4]{0}"
    lines = [
        *(f"%s{n} = {four} slice(%p), slice={{[{4 * n}:{4 * n + 4}]}}" for n in range(2)),
        f"%e = {four} add(%s0, %s1)",
        f"%f = {four} reverse(%e), dimensions={{0}}",
        f"%d = {four} sort(%f), dimensions={{0}}, to_apply=%ge",
    ]
    shapes = ("f32[12]{0}", "f32[12]{0}")
    module = _module(lines, [("d", four)], shapes, "%x, %w, %j")
    assert _planned(module, at=(16, offset)) == [found]


@pytest.mark.parametrize(
    ("made", "sorts", "gives", "found"),
    [
        ("negate(%p)", _LINE, "f32[2,4]{1,0}", "unknown"),
        ("reverse(%p), dimensions={0}", _LINE, "f32[2,4]{1,0}", "refuted"),
        ("negate(%p)", "f32[2,4]{0,1}", _LINE, "unknown"),
        ("negate(%p)", "f32[2,4]{1,0}", _LINE, "refuted"),
    ],
)
def test_what_is_sorted_and_given_in_another_shape(made: str, sorts: str, gives: str, found: str) -> None:
    given = "f32[2,4]{0,1}" if gives == _LINE else _LINE
    lines = [
        f"%e = {sorts} {made}",
        f"%f = {sorts} sort(%e), dimensions={{0}}, to_apply=%ge",
        f"%d = {gives} bitcast(%f)",
    ]
    module = _module(lines, [("d", gives)], (given, given), "%x, %w, %j")
    assert _verdicts(module, False) == ("unknown", found)


@pytest.mark.parametrize(("by", "found"), [("larger", "unknown"), ("sum", "refuted")])
def test_what_a_reduction_begins_with_beside_larger_results(by: str, found: str) -> None:
    """It lies where the result does, which may be it."""
    lines = [
        "%s = f32[1]{0} slice(%p), slice={[0:1]}",
        "%i = f32[] reshape(%s)",
        f"%e = f32[] reduce(%q, %i), dimensions={{0}}, to_apply=%{by}",
        f"%c = {_LINE} negate(%q)",
        _SORTED.replace("%e", "%p"),
    ]
    module = _module(lines, [("e", "f32[]"), ("c", _LINE), ("d", _LINE)], (_LINE, _LINE), "%x, %w, %j")
    assert _planned(module, "y{0}") == [found]


@pytest.mark.parametrize(
    ("first", "element", "found"),
    [(4, "f32[]", "unknown"), (4, "f32[2]{0}", "unknown"), (1, "f32[2]{0}", "refuted"), (0, "f32[]", "refuted")],
)
def test_what_is_sorted_is_apart_from_what_is_reduced(first: int, element: str, found: str) -> None:
    """The sums are put in front, beside results that are as large as what is summed."""
    rows = "f32[2,4]{1,0}"
    many = element != "f32[]"
    given = rows if many else _LINE
    lines = [
        f"%e = {element} reduce(%q, %z), dimensions={{{int(many)}}}, to_apply=%sum",
        f"%c = {given} negate(%q)",
        f"%s = f32[4]{{0}} slice(%p), slice={{[{first}:{first + 4}]}}",
        "%d = f32[4]{0} sort(%s), dimensions={0}, to_apply=%ge",
    ]
    module = _module(lines, [("e", element), ("c", given), ("d", "f32[4]{0}")], (_LINE, given), "%x, %w, %j")
    assert _planned(module, "y{0}") == [found]


def test_what_is_sorted_may_be_made_by_the_size_beside_it() -> None:
    """As many are added as the number behind the elements says, where the result lies."""
    lines = [
        "%s = f32[] reduce(%p, %z), dimensions={0}, to_apply=%sum",
        "%e = f32[1]{0} reshape(%s)",
        "%d = f32[1]{0} sort(%e), dimensions={0}, to_apply=%ge",
    ]
    module = _module(lines, [("d", "f32[1]{0}")], ("f32[<=8]{0}", _LINE), "%x, %w, %j")
    assert _planned(module, at=(4, 32)) == ["unknown"]


def test_where_a_scatter_goes_may_be_read_where_it_writes() -> None:
    line = "s32[8]{0}"
    lines = ["%i = s32[8,1]{1,0} reshape(%p)", f"%d = {line} scatter(%p, %i, %q), {_INTO}".replace("%sum", "%whole")]
    module = _module(lines, [("d", line)], (line, line), "%x, %w, %j")
    whole = "%whole {\n  %l = s32[] parameter(0)\n  %g = s32[] parameter(1)\n  ROOT %o = s32[] add(%l, %g)\n}\n\n"
    assert _verdicts(module.replace("%fused {", f"{whole}%fused {{", 1), False) == ("unknown", "unknown")


@pytest.mark.parametrize("written", ["sort(%q), dimensions={0}, to_apply=%ge", "negate(%q)"])
@pytest.mark.parametrize("made", ["sort(%s), dimensions={0}, to_apply=%ge", "negate(%s)"])
def test_beside_what_is_written_with_its_size(made: str, written: str) -> None:
    """The size lies behind the elements, where something is read."""
    sized = "f32[<=4]{0}"
    lines = [f"%d = {sized} {written}", "%s = f32[4]{0} slice(%p), slice={[4:8]}", f"%e = f32[4]{{0}} {made}"]
    module = _module(lines, [("d", sized), ("e", "f32[4]{0}")], (_LINE, sized), "%x, %w, %j")
    assert _planned(module, "y{0}") == ["unknown"]


_INTO_IT: Final = [
    "%u = f32[4]{0} slice(%q), slice={[0:4]}",
    "%l = f32[4]{0} slice(%p), slice={[0:4]}",
    f"%g = {_LINE} dynamic-update-slice(%p, %u, %at)",
]
_TAKEN: Final = [
    "%l = f32[4]{0} dynamic-slice(%p, %at), dynamic_slice_sizes={4}",
    "%g = f32[4]{0} slice(%q), slice={[0:4]}",
]


@pytest.mark.parametrize(
    ("lines", "at", "found"),
    [
        # An update of the upper half, or, where k is 1, of one place below it.
        (["%v = s32[] abs(%k)", "%at = s32[] add(%v, %h)", *_INTO_IT], (32, 0), "unknown"),
        (["%v = s32[] negate(%k)", "%at = s32[] add(%v, %h)", *_INTO_IT], (32, 0), "refuted"),
        # What is sorted begins at 0 always, or at -k, or at 4; the upper half is written.
        (["%v = s32[] abs(%k)", "%at = s32[] negate(%v)", *_TAKEN], (16, 16), "unknown"),
        (["%at = s32[] negate(%k)", *_TAKEN], (16, 16), "refuted"),
        (["%at = s32[] copy(%h)", *_TAKEN], (16, 16), "refuted"),
    ],
)
def test_what_is_sorted_may_be_read_where_another_output_is_written(
    lines: list[str], at: tuple[int, int], found: str
) -> None:
    """That nobody shows that they lie apart does not say that they meet."""
    lines = ["%h = s32[] constant(4)", *lines, "%e = f32[4]{0} sort(%l), dimensions={0}, to_apply=%ge"]
    written = _LINE if at[0] == 32 else "f32[4]{0}"
    module = _module(lines, [("g", written), ("e", "f32[4]{0}")], (_LINE, _LINE), "%x, %w, %j")
    assert _planned(module, "y{0}", at=at) == [found]


@pytest.mark.parametrize("offset", [0, 4])
def test_halves_that_are_sorted_may_be_read_where_another_output_is_written(offset: int) -> None:
    lines = ["%l = f32[8]{0} real(%p)", "%g = f32[1]{0} negate(%q)", "%e = f32[8]{0} sort(%l), dimensions={0}"]
    lines = [f"{line}, to_apply=%ge" if "sort" in line else line for line in lines]
    module = _module(lines, [("g", "f32[1]{0}"), ("e", _LINE)], ("c64[8]{0}", "f32[1]{0}"), "%x, %w, %j")
    assert _planned(module, "y{0}", at=(4, offset)) == ["unknown"]


_LOWER: Final = """%lower {
  %ha = u32[] parameter(0)
  %hb = u32[] parameter(1)
  %hc = u16[] convert(%hb)
  %hd = u16[] convert(%ha)
  %he = u16[] add(%hc, %hd)
  ROOT %hf = u32[] convert(%he)
}

%whole {
  %wa = u32[] parameter(0)
  %wb = u32[] parameter(1)
  ROOT %wc = u32[] add(%wa, %wb)
}

%maps {
  %ma = u32[] parameter(0)
  %mb = u32[] parameter(1)
  ROOT %mc = u32[] map(%ma, %mb), dimensions={}, to_apply=%lower
}

%larger_first {
  %ga = u32[] parameter(0)
  %gb = u32[] parameter(1)
  ROOT %gc = pred[] compare(%ga, %gb), direction=GE
}

"""


@pytest.mark.parametrize("shape", ["u32[8]{0} reduce-window(%p, %o), window={size=1}", "u32[8]{0} reduce(%l, %o)"])
@pytest.mark.parametrize(("function", "found"), [("lower", "unknown"), ("maps", "unknown"), ("whole", "refuted")])
def test_halves_that_a_function_takes_may_be_read_where_another_output_is_written(
    shape: str, function: str, found: str
) -> None:
    """Over the upper half of the first element."""
    line = "u32[8]{0}"
    folds = f"{shape}{', dimensions={1}' if 'reduce(' in shape else ''}"
    lines = [
        "%o = u32[] constant(0)",
        "%l = u32[8,1]{1,0} reshape(%p)",
        f"%h = {folds}, to_apply=%{function}",
        f"%e = {line} sort(%h), dimensions={{0}}, to_apply=%larger_first",
        "%g = u16[1]{0} negate(%q)",
    ]
    module = _module(lines, [("g", "u16[1]{0}"), ("e", line)], (line, "u16[1]{0}"), "%x, %w, %j")
    assert _planned(module.replace("%fused {", f"{_LOWER}%fused {{"), "y{0}", at=(2, 2)) == [found]


@pytest.mark.parametrize(("given", "part", "width"), [("c64", "f32", 4), ("c128", "f64", 8)])
@pytest.mark.parametrize(("made", "found"), [("convert(%p)", "unknown"), ("convert(%m)", "refuted")])
def test_the_real_part_that_is_sorted_may_be_read_beside_the_other_one(
    made: str, found: str, given: str, part: str, width: int
) -> None:
    lines = [
        f"%m = {given}[8]{{0}} sine(%p)",
        f"%l = f32[8]{{0}} {made}",
        "%e = f32[8]{0} sort(%l), dimensions={0}, to_apply=%ge",
        f"%g = {part}[1]{{0}} negate(%q)",
    ]
    shapes = (f"{given}[8]{{0}}", f"{part}[1]{{0}}")
    module = _module(lines, [("g", shapes[1]), ("e", _LINE)], shapes, "%x, %w, %j")
    assert _planned(module, "y{0}", at=(width, width)) == [found]


@pytest.mark.parametrize(("sorts", "found"), [("%q, %p", "unknown"), ("%p, %q", "refuted")])
def test_of_two_that_are_sorted_as_they_are_the_second_is_kept(sorts: str, found: str) -> None:
    """Along one element; it is read in any order by the sort beside it, and p may be written over itself."""
    line = "f32[8,1]{1,0}"
    lines = [
        f"%t = ({line}, {line}) sort({sorts}), dimensions={{1}}, to_apply=%first",
        f"%d = {line} get-tuple-element(%t), index=1",
        f"%e = {line} sort(%p), dimensions={{0}}, to_apply=%ge",
    ]
    module = _module(lines, [("d", line), ("e", line)], (line, line), "%x, %w, %j")
    assert _planned(module, "y{0}") == [found]


@pytest.mark.parametrize(
    ("shape", "along", "found"), [("1,8", 0, "unknown"), ("8,1", 1, "unknown"), ("1,8", 1, "refuted")]
)
def test_what_is_sorted_along_one_element_is_kept_in_another_shape(shape: str, along: int, found: str) -> None:
    """The sort beside it reads p in any order; what stays as it is may be written over itself."""
    wide = f"f32[{shape}]{{1,0}}"
    lines = [
        f"%l = {wide} bitcast(%p)",
        f"%s = {wide} sort(%l), dimensions={{{along}}}, to_apply=%ge",
        f"%d = {_LINE} bitcast(%s)",
        f"%e = {_LINE} sort(%p), dimensions={{0}}, to_apply=%ge",
    ]
    assert _planned(_module(lines, [("d", _LINE), ("e", _LINE)], (_LINE, _LINE), "%x, %w, %j"), "y{0}") == [found]


@pytest.mark.parametrize(("made", "layout", "found"), [("%p", "{1,0}", "unknown"), ("%m", "{0,1}", "refuted")])
def test_of_two_that_are_sorted_each_lies_as_its_own_operand(made: str, layout: str, found: str) -> None:
    """The first one lies by columns; the second, along which rows are sorted, is made over p."""
    rows, columns = f"f32[2,4]{layout}", "f32[2,4]{0,1}"
    lines = [
        f"%m = {_LINE} negate(%p)",
        f"%e = f32[2,4]{{1,0}} reshape({made})",
        f"%c = {columns} bitcast(%q)",
        f"%t = ({columns}, {rows}) sort(%c, %e), dimensions={{1}}, to_apply=%first",
        f"%s = {rows} get-tuple-element(%t), index=1",
        f"%h = {_LINE} bitcast(%s)",
        f"%v = {columns} get-tuple-element(%t), index=0",
        f"%g = {_LINE} bitcast(%v)",
    ]
    assert _planned(_module(lines, [("h", _LINE), ("g", _LINE)], (_LINE, _LINE), "%x, %w, %j"), "y{0}") == [found]


@pytest.mark.parametrize(("begins", "found"), [("%p", ("unknown", "refuted")), ("%q", ("proved", "proved"))])
def test_where_an_update_begins_is_read_where_it_is_put(begins: str, found: tuple[str, str]) -> None:
    line = "s32[8]{0}"
    lines = [
        f"%s = s32[1]{{0}} slice({begins}), slice={{[3:4]}}",
        "%at = s32[] reshape(%s)",
        "%u = s32[4]{0} slice(%q), slice={[0:4]}",
        f"%d = {line} dynamic-update-slice(%p, %u, %at)",
    ]
    assert _verdicts(_module(lines, [("d", line)], (line, line), "%x, %w, %j"), False) == found


@pytest.mark.parametrize(("offset", "found"), [(4, "unknown"), (0, "unknown")])
def test_a_half_is_read_outside_of_fusions(offset: int, found: str) -> None:
    """Real numbers are taken out of what lies under them."""
    module = (
        "HloModule m, is_scheduled=true\nENTRY %main {\n  %a = c64[3]{0} parameter(0)\n  %x = c64[3]{0} sine(%a)\n"
        "  %y = f32[3]{0} real(%x)\n  ROOT %r = f32[3]{0} cosine(%y)\n}\n"
    )
    assert _planned(module, at=(12, offset)) == [found]


@pytest.mark.parametrize(("offset", "found"), [(0, "proved"), (2, "refuted"), (4, "refuted"), (6, "refuted")])
def test_elements_that_lie_astride_others_meet_both(offset: int, found: str) -> None:
    module = _module([f"%d = {_LINE} negate(%p)"], [("d", _LINE)], (_LINE, _LINE), "%x, %w, %j")
    assert _planned(module, at=(32, offset)) == [found]


@pytest.mark.parametrize(("size", "found"), [("8,1", "unknown"), ("8,2", "refuted"), ("1,8", "refuted")])
def test_what_is_sorted_of_one_stays_as_it_is(size: str, found: str) -> None:
    """Along the second dimension in its place, and along the first one beside it, where it is read."""
    kind = f"f32[{size}]{{1,0}}"
    lines = [f"%{n} = {kind} sort(%p), dimensions={{{d}}}, to_apply=%ge" for n, d in (("d", 1), ("e", 0))]
    module = _module(lines, [("d", kind), ("e", kind)], (kind, kind), "%x, %w, %j")
    assert _planned(module, "y{0}") == [found]


@pytest.mark.parametrize("begins", ["constant(0)", "constant(1)"])
def test_where_an_update_goes_in_what_is_called_may_not_be_what_any_number_says(begins: str) -> None:
    """Where nobody follows what a call is given it may be the same place always."""
    module = (
        "HloModule m, is_scheduled=true\n\n%work {\n %x = f32[8]{0} parameter(0)\n %v = f32[4]{0} parameter(1)\n"
        " %c = s32[] parameter(2)\n %u = f32[4]{0} negate(%v)\n"
        " ROOT %y = f32[8]{0} dynamic-update-slice(%x, %u, %c)\n}\n\n"
        "ENTRY %main {\n %a = f32[8]{0} parameter(0)\n %b = f32[4]{0} parameter(1)\n"
        f" %j = s32[] {begins}\n %x0 = f32[8]{{0}} negate(%a)\n"
        " %z = f32[8]{0} call(%x0, %b, %j), to_apply=%work\n ROOT %r = f32[8]{0} negate(%z)\n}\n"
    )
    plan = roomy_plan(module, (("y", "x0"), ("u", "x0")))
    found = {r.verdict for r in judged(module, plan) if r.claim == "plan-in-place"}
    assert found == {"proved", "unknown"}


@pytest.mark.parametrize("places", [9, 0])
def test_when_a_fused_scatter_reads_beside_what_is_written_is_not_known(places: int) -> None:
    """Nor which updates are dropped."""
    lines = [
        f"%c = s32[] constant({places})",
        "%i = s32[8,1]{1,0} broadcast(%c), dimensions={}",
        f"%e = {_LINE} scatter(%q, %i, %p), {_INTO}",
        f"%d = {_LINE} broadcast(%z), dimensions={{}}",
    ]
    module = _module(lines, [("d", _LINE), ("e", _LINE)], (_LINE, _LINE), "%x, %w, %j").replace("ALIAS", "")
    found = judged(module, roomy_plan(module, (("y{0}", "x"), ("y{1}", "w"))))
    assert "unknown" in [r.verdict for r in found if r.claim == "plan-in-place"]
    assert "refuted" not in [r.verdict for r in found if r.claim == "plan-in-place"]


def test_all_numbers_that_say_where_an_update_begins_are_read() -> None:
    given = "s32[2,4]{1,0}"
    lines = [
        "%s = s32[1,1]{1,0} slice(%p), slice={[0:1],[0:1]}",
        "%at = s32[] reshape(%s)",
        "%u = s32[1,2]{1,0} slice(%q), slice={[0:1],[0:2]}",
        f"%d = {given} dynamic-update-slice(%p, %u, %n, %at)",
    ]
    found = _verdicts(_module(lines, [("d", given)], (given, given), "%x, %w, %j"), False)
    assert found[0] == "unknown" and found[1] != "proved"


def test_what_a_scatter_writes_is_not_said_beside_a_sort() -> None:
    """It may go to other places, or nowhere."""
    lines = [
        "%i = s32[8,1]{1,0} constant({{0},{1},{0},{1},{0},{1},{8},{9}})",
        f"%d = {_LINE} scatter(%p, %i, %q), {_INTO}",
        "%s = f32[4]{0} slice(%p), slice={[4:8]}",
        "%e = f32[4]{0} sort(%s), dimensions={0}, to_apply=%ge",
    ]
    module = _module(lines, [("d", _LINE), ("e", "f32[4]{0}")], (_LINE, _LINE), "%x, %w, %j")
    assert _planned(module, "y{0}") == ["unknown"]


@pytest.mark.parametrize(
    ("lines", "given", "made", "found"),
    [
        (
            ["%h = u16[8,2]{1,0} bitcast-convert(%p)", "%d = u16[8,2]{1,0} negate(%h)"],
            _LINE,
            "u16[8,2]{1,0}",
            "unknown",
        ),
        (
            ["%h = s32[8]{0} bitcast-convert(%p)", "%d = s32[8]{0} reverse(%h), dimensions={0}"],
            _LINE,
            "s32[8]{0}",
            "refuted",
        ),
        (["%h = f32[8]{0} imag(%p)", "%d = f32[8]{0} negate(%h)"], "c64[8]{0}", _LINE, "unknown"),
        (["%h = f32[8]{0} real(%p)", "%d = f32[8]{0} negate(%h)"], "c64[8]{0}", _LINE, "unknown"),
        (["%d = f32[8]{0} fusion(%p), kind=kLoop, calls=%halves"], "c64[8]{0}", _LINE, "unknown"),
        (["%d = f32[8]{0} fusion(%p), kind=kLoop, calls=%deeper"], "c64[8]{0}", _LINE, "unknown"),
        (["%m = c64[8]{0} negate(%p)", "%d = f32[8]{0} imag(%m)"], "c64[8]{0}", _LINE, "refuted"),
        (["%d = f32[8]{0} map(%p), dimensions={0}, to_apply=%half"], "c64[8]{0}", _LINE, "unknown"),
        (
            ["%m = c64[8]{0} negate(%p)", "%d = f32[8]{0} map(%m), dimensions={0}, to_apply=%half"],
            "c64[8]{0}",
            _LINE,
            "refuted",
        ),
        (
            ["%m = c64[8]{0} negate(%q)", "%d = f32[8]{0} map(%m, %p), dimensions={0}, to_apply=%half_of_second"],
            "c64[8]{0}",
            _LINE,
            "unknown",
        ),
        (["%h = f32[8]{0} convert(%p)", "%d = f32[8]{0} negate(%h)"], "c64[8]{0}", _LINE, "unknown"),
        # The lower half of an integer.
        (["%h = u16[8]{0} convert(%p)", "%d = u16[8]{0} negate(%h)"], "u32[8]{0}", "u16[8]{0}", "unknown"),
        (["%h = f16[8]{0} convert(%p)", "%d = f16[8]{0} negate(%h)"], _LINE, "f16[8]{0}", "refuted"),
        (["%h = u32[8]{0} convert(%p)", "%d = u32[8]{0} reverse(%h), dimensions={0}"], *["u32[8]{0}"] * 2, "refuted"),
    ],
)
def test_a_half_of_an_element_is_read(lines: list[str], given: str, made: str, found: str) -> None:
    """Where it is taken of the element as it is given, and the other half is read for nothing."""
    module = _module(lines, [("d", made)], (given, given), "%x, %w, %j")
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
    assert _verdicts(module, False)[1] == found


@pytest.mark.parametrize(("sizes", "found"), [((4, 8), "unknown"), ((8, 4), "unknown"), ((8, 8), "proved")])
def test_steps_of_results_of_other_sizes_are_other_steps(sizes: tuple[int, int], found: str) -> None:
    lines, results = [], []
    for n, size in enumerate(sizes):
        results.append((f"d{n}", f"f32[{size}]{{0}}"))
        lines.append(f"%s{n} = f32[{size}]{{0}} slice(%p), slice={{[0:{size}]}}")
        lines.append(f"%d{n} = f32[{size}]{{0}} negate(%s{n})")
    assert _planned(_module(lines, results, (_LINE, _LINE), "%x, %w, %j"), "y{0}") == [found]


@pytest.mark.parametrize("read", ["%p", "%q"])
def test_when_a_smaller_reduction_writes_beside_what_is_read_is_not_known(read: str) -> None:
    wide = "f32[2,8]{1,0}"
    lines = [
        f"%d = {_LINE} reduce(%q, %z), dimensions={{0}}, to_apply=%sum",
        f"%s = f32[1,1]{{1,0}} slice({read}), slice={{[0:1],[5:6]}}",
        "%i = f32[] reshape(%s)",
        f"%e = {wide} broadcast(%i), dimensions={{}}",
        f"%o = {wide} negate(%e)",
    ]
    module = _module(lines, [("d", _LINE), ("o", wide)], (wide, wide), "%x, %w, %j")
    assert _planned(module, "y{0}") == ["unknown" if read == "%p" else "proved"]


def test_what_a_smaller_reduction_begins_with_is_read_in_every_step() -> None:
    lines = [
        "%s = f32[1]{0} slice(%p), slice={[0:1]}",
        "%i = f32[] reshape(%s)",
        f"%c = {_LINE} negate(%q)",
        "%f = f32[] reduce(%q, %i), dimensions={0}, to_apply=%sum",
    ]
    module = _module(lines, [("c", _LINE), ("f", "f32[]")], (_LINE, _LINE), "%x, %w, %j")
    assert _verdicts(module, True) == ("unknown", "refuted")


@pytest.mark.parametrize(("given", "found"), [("%q, %t", "refuted"), ("%t, %q", "refuted"), ("%q, %e", "proved")])
def test_all_that_is_reduced_together_is_read(given: str, found: str) -> None:
    """Beside results that are as large; where it is read is where these are written, or not."""
    both = "%both (h0: f32[], h1: f32[], h2: f32[], h3: f32[]) -> (f32[], f32[]) {\n"
    both += "".join(f"  %h{n} = f32[] parameter({n})\n" for n in range(4))
    both += (
        "  %h4 = f32[] add(%h0, %h2)\n  %h5 = f32[] add(%h1, %h3)\n  ROOT %h6 = (f32[], f32[]) tuple(%h4, %h5)\n}\n\n"
    )
    lines = [
        _TURNED,
        f"%e = {_LINE} negate(%p)",
        f"%c = {_LINE} negate(%q)",
        f"%f = (f32[], f32[]) reduce({given}, %z, %z), dimensions={{0}}, to_apply=%both",
        *(f"%f{n} = f32[] get-tuple-element(%f), index={n}" for n in range(2)),
    ]
    module = _module(lines, [("c", _LINE), ("f0", "f32[]"), ("f1", "f32[]")], (_LINE, _LINE), "%x, %w, %j")
    module = module.replace("%fused {", f"{both}%fused {{")
    assert _planned(module, "y{0}") == [found]


@pytest.mark.parametrize(("layout", "found"), [("{1,0}", "proved"), ("{0,1}", "refuted")])
def test_an_update_is_in_place_where_its_result_lies_alike(layout: str, found: str) -> None:
    given = "f32[2,4]{1,0}"
    lines = [
        "%u = f32[1,4]{1,0} slice(%q), slice={[0:1],[0:4]}",
        f"%d = f32[2,4]{layout} dynamic-update-slice(%p, %u, %n, %n)",
    ]
    module = _module(lines, [("d", f"f32[2,4]{layout}")], (given, given), "%x, %w, %j")
    assert _planned(module) == [found]


def test_what_is_sorted_is_given_twice() -> None:
    """The first of two equal results is where it is made."""
    lines = [f"%e = {_LINE} negate(%p)", _SORTED]
    module = _module(lines, [("d", _LINE), ("d", _LINE)], (_LINE, _LINE), "%x, %w, %j")
    for place in ("y{0}", "y{1}"):
        assert _planned(module, place) == ["unknown"]


@pytest.mark.parametrize("moved", ["reshape", "bitcast"])
def test_what_is_sorted_is_made_where_it_lies_by_rows(moved: str) -> None:
    rows = "f32[2,4]{1,0}"
    for made, found in (("negate(%p)", "unknown"), ("reverse(%p), dimensions={0}", "refuted")):
        lines = [
            f"%e = {_LINE} {made}",
            f"%f = {rows} {moved}(%e)",
            f"%d = {rows} sort(%f), dimensions={{1}}, to_apply=%ge",
        ]
        module = _module(lines, [("d", rows)], (_LINE, _LINE), "%x, %w, %j")
        assert _verdicts(module, False) == ("unknown", found)


@pytest.mark.parametrize(
    ("made", "found"),
    [
        ("f32[16]{0} concatenate(%x, %x), dimensions={0}", "unknown"),
        ("f32[2,8]{1,0} broadcast(%x), dimensions={1}", "unknown"),
        ("f32[8,2]{1,0} broadcast(%x), dimensions={0}", "refuted"),
        ("f32[8]{0} reverse(%x), dimensions={0}", "refuted"),
        ("f32[8]{0} negate(%x)", "proved"),
    ],
)
def test_what_is_handed_on_outside_of_fusions(made: str, found: str) -> None:
    """What stays where it lies is not overwritten."""
    shape = made.split()[0]
    module = (
        "HloModule m, is_scheduled=true\nENTRY %main {\n  %a = f32[8]{0} parameter(0)\n  %x = f32[8]{0} sine(%a)\n"
        f"  %y = {made}\n  ROOT %r = {shape} cosine(%y)\n}}\n"
    )
    assert _planned(module) == [found]


@pytest.mark.parametrize(
    ("sorts", "layout", "found"),
    [("p", "{1,0}", "proved"), ("p", "{0,1}", "refuted"), ("e", "{1,0}", "unknown"), ("e", "{0,1}", "refuted")],
)
def test_what_is_sorted_is_made_there_only_as_it_lies(sorts: str, layout: str, found: str) -> None:
    given, made = "f32[2,4]{1,0}", f"f32[2,4]{layout}"
    lines = [f"%e = {made} negate(%p)", f"%d = {made} sort(%{sorts}), dimensions={{0}}, to_apply=%ge"]
    module = _module(lines, [("d", made)], (given, given), "%x, %w, %j")
    assert _planned(module) == [found]


def test_elements_of_two_names_are_handed_on_together() -> None:
    """The first half of it, by rows, and by its first name."""
    rows = "f32[2,4]{1,0}"
    lines = [
        "%s = f32[1,4]{1,0} slice(%q), slice={[0:1],[0:4]}",
        "%s1 = f32[4]{0} reshape(%s)",
        "%t = f32[4]{0} slice(%p), slice={[0:4]}",
        f"%d = {_LINE} concatenate(%s1, %t), dimensions={{0}}",
    ]
    module = _module(lines, [("d", _LINE)], (_LINE, rows), "%x, %w, %j")
    assert f" %w = {rows} negate(%b)" in module
    module = module.replace(f" %w = {rows} negate(%b)", f" %w = {rows} bitcast(%x)")
    assert _verdicts(module, False) == ("unknown", "unknown")
    made = module.replace(f"ROOT %d = {_LINE} con", f"%d = {_LINE} con").replace(
        "dimensions={0}\n}", f"dimensions={{0}}\n  ROOT %m = {_LINE} negate(%d)\n}}"
    )
    assert _verdicts(made, False) == ("refuted", "refuted")


@pytest.mark.parametrize(
    ("lines", "names", "found"),
    [
        ([*_HALVES[:1], f"%d = {_LINE} concatenate(%s, %s), dimensions={{0}}"], "d", "unknown"),
        ([*_HALVES, f"%d = {_LINE} negate(%e)"], "d", "refuted"),
        ([f"%c = {_LINE} copy(%p)", _TURNED, f"%m = {_LINE} negate(%t)"], "cm", "unknown"),
        ([f"%c = {_LINE} negate(%p)", _TURNED, f"%m = {_LINE} negate(%t)"], "cm", "refuted"),
    ],
)
def test_what_is_handed_on_by_another_parameter(lines: list[str], names: str, found: str) -> None:
    """The fusion is given one array twice: what it hands on it may read by either name."""
    module = _module(lines, [(n, _LINE) for n in names], (_LINE, _LINE), "%x, %x, %j")
    for text in (module, module.replace("(%p)", "(%q)")):
        assert _verdicts(text, len(names) > 1)[0] == found


@pytest.mark.parametrize(
    ("index", "found"), [("remainder(%i, %e8)", "unknown"), ("divide(%i, %e8)", "unknown"), ("copy(%i)", "unknown")]
)
def test_what_is_read_at_run_time_in_every_step_is_handed_on(index: str, found: str) -> None:
    """Whether each step hands on its own element depends on all the numbers, not on one for all."""
    lines = [
        _PLACES,
        "%e8 = s32[8,1]{1,0} constant({{8},{8},{8},{8},{8},{8},{8},{8}})",
        f"%h = s32[8,1]{{1,0}} {index}",
        f"%d = {_LINE} gather(%p, %h), offset_dims={{}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, "
        "index_vector_dim=1, slice_sizes={1}",
        _TURNED,
    ]
    module = _module(lines, [("d", _LINE), ("t", _LINE)], (_LINE, _LINE), "%x, %w, %j")
    assert _verdicts(module, True) == (found, found)
    larger = _module([*lines, f"%m = {_LINE} maximum(%d, %t)"], [("m", _LINE)], (_LINE, _LINE), "%x, %w, %j")
    assert _verdicts(larger, False) == (found, found)


_CALLED: Final = """HloModule m, is_scheduled=true

%inner {
 %x = s32[4]{0} parameter(0)
 %i = s32[2,2]{1,0} bitcast(%x)
 %d = s32[2,2]{0,1} gather(%x, %i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=2, \
slice_sizes={1}
 ROOT %e = s32[2,2]{0,1} negate(%d)
}

ENTRY %main {
 %a = s32[4]{0} parameter(0)
 %c = s32[4]{0} constant({0, 2, 1, 3})
 %v = s32[4]{0} copy(%c)
 ROOT %y = s32[2,2]{0,1} call(%v), to_apply=%inner
}
"""


def test_what_is_handed_on_by_numbers_of_the_program_is_not_by_any() -> None:
    """Each step hands on its own element, by the only numbers that come up."""
    found = [r for r in judged(_CALLED, roomy_plan(_CALLED, (("d", "v"),))) if r.claim == "plan-in-place"]
    assert "unknown" in [str(r.verdict) for r in found]
    assert "refuted" not in [str(r.verdict) for r in found]


def test_both_halves_of_an_element_are_read_before_it_is_written() -> None:
    halves = "u16[8,2]{1,0}"
    joined = _module([f"%d = {_LINE} bitcast-convert(%p)"], [("d", _LINE)], (halves, _LINE), "%x, %w, %j")
    assert _verdicts(joined, False) == ("unknown", "proved")
    # Each half is written where it lies; what is made of it first is not.
    for made, found in (("%p", "unknown"), ("%e", "refuted")):
        lines = [f"%e = {_LINE} negate(%p)", f"%d = {halves} bitcast-convert({made})"]
        assert _verdicts(_module(lines, [("d", halves)], (_LINE, _LINE), "%x, %w, %j"), False) == ("unknown", found)


def test_arrays_that_are_split_over_memories_lie_in_places_of_which_nothing_is_known() -> None:
    split = "f32[8]{0:SC(0:4)}"
    for made, found in (("negate(%p)", "proved"), ("reverse(%p), dimensions={0}", "unknown")):
        module = _module([f"%d = {split} {made}"], [("d", split)], (split, split), "%x, %w, %j")
        assert _verdicts(module, False)[1] == found


@pytest.mark.parametrize("what", ["an update", "negated, twice"])
def test_what_is_assumed_of_the_code_is_told(what: str) -> None:
    lines, names, _ = _BY_HAND[what]
    module = _module(lines, [(n, _LINE) for n in names], (_LINE, _LINE), "%x, %w, %j").replace("ALIAS", "")
    pair = ("y{0}" if len(names) > 1 else "y", "x")
    found = [r.found for r in judged(module, roomy_plan(module, (pair,))) if r.claim == "plan-in-place"]
    assert [len(f.assumptions) for f in found] == [1]
    assert "steps run in any order" in found[0].assumptions[0]


@pytest.mark.parametrize("verdict", ["unknown", "internal"])
def test_what_an_engine_leaves_open_is_left_open(
    verdict: Literal["unknown", "internal"], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines, _, _ = _BY_HAND["an update"]
    module = _module(lines, [("d", _LINE)], (_LINE, _LINE), "%x, %w, %j").replace("ALIAS", "")
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
    module = _module(lines, [(n, _LINE) for n in names], (_LINE, _LINE), "%x, %w, %j")
    assert _verdicts(module, len(names) > 1) == expected


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
    module = _module([*of, *(halves if first else []), made], [("d", line)], (line, line), "%x, %w, %j")
    assert _verdicts(module, False) == (found, found)


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
    line = "s32[8]{0}" if whole else _LINE
    made = "u32[8]{0}" if what == "bitcast-convert" else line
    of = [x.replace("f32", "s32") if whole else x for x in _HALVES]
    more = [f"%u = pred[8]{{0}} constant({{{', '.join(['true', 'false'] * 4)}}})", f"%o = {line} negate(%q)"]
    module = _module([*of, *more, f"%d = {made} {_MAY_HAND_ON[what]}"], [("d", made)], (line, line), "%x, %w, %j")
    assert _verdicts(module, False) == ("unknown", "unknown")


def test_two_updates_in_place_have_loops_of_their_own() -> None:
    lines = [*_NEGATED, "%a2 = f32[4]{0} abs(%s)", f"%f = {_LINE} dynamic-update-slice(%q, %a2, %n)"]
    two = _module(lines, [("d", _LINE), ("f", _LINE)], (_LINE, _LINE), "%x, %w, %j")
    assert _verdicts(two, True, ("y{1}", "w")) == ("unknown", "unknown")
    apart = two.replace("%s = f32[4]{0} slice(%p)", "%s = f32[4]{0} slice(%q)").replace("abs(%s)", "abs(%e)")
    assert _verdicts(apart, True, ("y{1}", "w"))[1] == "unknown"
    alone = two.replace("abs(%s)", "broadcast(%z), dimensions={}")
    assert _verdicts(alone, True, ("y{1}", "w")) == ("proved", "proved")


def test_an_update_beside_what_is_written_reads_in_a_loop_of_its_own() -> None:
    lines = [f"%d = {_LINE} negate(%p)", f"%e = {_LINE} abs(OF)", f"%f = {_LINE} dynamic-update-slice(%q, %e, %n)"]
    for read, found in (("%p", "unknown"), ("%q", "proved")):
        of = [line.replace("OF", read) for line in lines]
        two = _module(of, [("d", _LINE), ("f", _LINE)], (_LINE, _LINE), "%x, %w, %j")
        assert _verdicts(two, True, ("y{1}", "w")) == (found, found)


@pytest.mark.parametrize(
    ("first", "found"),
    [
        ("slice(%p), slice={[0:4]}", "proved"),
        ("slice(%p), slice={[4:8]}", "refuted"),
        ("dynamic-slice(%p, %k), dynamic_slice_sizes={4}", "refuted"),
        ("dynamic-slice(%p, %at), dynamic_slice_sizes={4}", "unknown"),
    ],
)
@pytest.mark.parametrize("swapped", [False, True])
def test_all_that_a_sort_reads_may_lie_where_another_one_writes(first: str, swapped: bool, found: str) -> None:
    """What lies apart is shown of one of the two reads, and says nothing of the other."""
    names = ("m", "l") if swapped else ("l", "m")
    lines = [
        "%at = s32[] abs(%k)",
        f"%{names[0]} = f32[4]{{0}} {first}",
        f"%{names[1]} = f32[4]{{0}} slice(%p), slice={{[0:4]}}",
        "%aa = f32[4]{0} add(%l, %m)",
        "%e = f32[4]{0} sort(%aa), dimensions={0}, to_apply=%ge",
        "%h = f32[4]{0} slice(%q), slice={[0:4]}",
        "%g = f32[4]{0} sort(%h), dimensions={0}, to_apply=%ge",
    ]
    module = _module(lines, [("g", "f32[4]{0}"), ("e", "f32[4]{0}")], (_LINE, _LINE), "%x, %w, %j")
    assert _planned(module, "y{0}", at=(16, 16)) == [found]


@pytest.mark.parametrize(
    ("moved", "found"), [("f32[2,4]{0,1} copy(%p)", "refuted"), ("f32[4,2]{0,1} bitcast(%p)", "proved")]
)
def test_what_an_update_goes_into_lies_otherwise(moved: str, found: str) -> None:
    """What is copied into another layout moves, also where nothing is written."""
    shape = moved.partition(" ")[0]
    row = shape.replace("[2,4]", "[1,4]").replace("[4,2]", "[1,2]")
    limits = "[0:1],[0:4]" if "[2,4]" in shape else "[0:1],[0:2]"
    lines = [f"%c = {moved}", f"%u = {row} slice(%q), slice={{{limits}}}"]
    lines.append(f"%d = {shape} dynamic-update-slice(%c, %u, %n, %n)")
    module = _module(lines, [("d", shape)], ("f32[2,4]{1,0}", shape), "%x, %w, %j")
    assert _planned(module) == [found]


@pytest.mark.parametrize(("by", "found"), [("x", "proved"), ("w", "refuted")])
def test_a_scatter_reads_all_its_updates_while_it_writes(by: str, found: str) -> None:
    """What it writes into is its first operand alone, also outside of fusions."""
    module = (
        f"HloModule m, is_scheduled=true\n\n{_APPLIED}\nENTRY %main {{\n %a = {_LINE} parameter(0)\n"
        f" %b = {_LINE} parameter(1)\n %i = s32[8,1]{{1,0}} parameter(2)\n %x = {_LINE} negate(%a)\n"
        f" %w = {_LINE} negate(%b)\n %y = {_LINE} scatter(%x, %i, %w), {_INTO.replace('%sum', '%second')}\n"
        f" ROOT %r = {_LINE} negate(%y)\n}}\n"
    )
    assert _planned(module, by=by) == [found]


@pytest.mark.parametrize(("layout", "found"), [("{1,0}", "proved"), ("{0,1}", "refuted")])
def test_a_sort_is_in_place_where_its_result_lies_alike(layout: str, found: str) -> None:
    module = (
        f"HloModule m, is_scheduled=true\n\n{_APPLIED}\nENTRY %main {{\n %a = f32[2,4]{{1,0}} parameter(0)\n"
        f" %x = f32[2,4]{{1,0}} negate(%a)\n %y = f32[2,4]{layout} sort(%x), dimensions={{1}}, to_apply=%ge\n"
        f" ROOT %r = f32[2,4]{layout} negate(%y)\n}}\n"
    )
    assert _planned(module) == [found]


@pytest.mark.parametrize(("names", "found"), [("hg", "proved"), ("gh", "refuted")])
def test_what_is_sorted_goes_through_tuples_in_tuples(names: str, found: str) -> None:
    """Each part is written over its own operand, or over the other one."""
    both = f"({_LINE}, {_LINE})"
    lines = [
        f"%both = {both} sort(%q, %p), dimensions={{0}}, to_apply=%first",
        f"%more = ({both}, {_LINE}) tuple(%both, %q)",
        f"%again = {both} get-tuple-element(%more), index=0",
        f"%g = {_LINE} get-tuple-element(%again), index=0",
        f"%h = {_LINE} get-tuple-element(%again), index=1",
    ]
    module = _module(lines, [(name, _LINE) for name in names], (_LINE, _LINE), "%x, %w, %j")
    assert _planned(module, "y{0}") == [found]


def _nested(lines: list[str], inner: str) -> str:
    """A fusion of x and w that gives ((d, e), f), which `inner` makes a tuple of."""
    both = f"({_LINE}, {_LINE})"
    shape = f"({both}, {_LINE})"
    body = "".join(f" {line}\n" for line in [*lines, f"%in = {both} {inner}", f"ROOT %all = {shape} tuple(%in, %f)"])
    return (
        f"HloModule m, is_scheduled=true\n\n{_APPLIED}\n%fused {{\n %p = {_LINE} parameter(0)\n"
        f" %q = {_LINE} parameter(1)\n %n = s32[] constant(0)\n{body}}}\n\nENTRY %main {{\n"
        f" %a = {_LINE} parameter(0)\n %b = {_LINE} parameter(1)\n %x = {_LINE} negate(%a)\n"
        f" %w = {_LINE} negate(%b)\n %y = {shape} fusion(%x, %w), kind=kLoop, calls=%fused\n"
        f" %yy = {both} get-tuple-element(%y), index=0\n %y0 = {_LINE} get-tuple-element(%yy), index=0\n"
        f" %y1 = {_LINE} get-tuple-element(%yy), index=1\n %y2 = {_LINE} get-tuple-element(%y), index=1\n"
        f" %n0 = {_LINE} negate(%y0)\n %n1 = {_LINE} negate(%y1)\n %n2 = {_LINE} negate(%y2)\n"
        f" ROOT %r = ({_LINE}, {_LINE}, {_LINE}) tuple(%n0, %n1, %n2)\n}}\n"
    )


_MOVED: Final = [
    "%s = f32[4]{0} slice(%p), slice={[0:4]}",
    "%t = f32[4]{0} reverse(%s), dimensions={0}",
    "%u = f32[4]{0} negate(%t)",
    f"%e = {_LINE} dynamic-update-slice(%p, %u, %n)",
    f"%d = {_LINE} negate(%q)",
    f"%f = {_LINE} sine(%q)",
]


@pytest.mark.parametrize(
    ("place", "by", "found"),
    [
        ("y{0,0}", "x", ("proved", "refuted")),
        ("y{0,1}", "x", ("refuted", "refuted")),
        ("y{0,0}", "w", ("refuted", "proved")),
        ("y{0,1}", "w", ("proved", "proved")),
    ],
)
def test_results_in_a_tuple_in_a_tuple_lie_each_by_itself(place: str, by: str, found: tuple[str, str]) -> None:
    """What is sorted, and what is updated and made element by element."""
    numbers = f"%f = {_LINE} iota(), iota_dimension=0"
    sort = _nested([numbers], "sort(%p, %q), dimensions={0}, to_apply=%first")
    assert (_planned(sort, place, by), _planned(_nested(_MOVED, "tuple(%d, %e)"), place, by)) == (
        [found[0]],
        [found[1]],
    )


@pytest.mark.parametrize(("by", "found"), [("x", "proved"), ("w", "refuted")])
def test_parts_of_a_tuple_that_a_fusion_is_given_lie_each_by_itself(by: str, found: str) -> None:
    both = f"({_LINE}, {_LINE})"
    module = (
        f"HloModule m, is_scheduled=true\n\n%fused {{\n %t = {both} parameter(0)\n"
        f" %p = {_LINE} get-tuple-element(%t), index=0\n %q = {_LINE} get-tuple-element(%t), index=1\n"
        f" %v = {_LINE} reverse(%q), dimensions={{0}}\n ROOT %d = {_LINE} add(%p, %v)\n}}\n\nENTRY %main {{\n"
        f" %a = {_LINE} parameter(0)\n %b = {_LINE} parameter(1)\n %x = {_LINE} negate(%a)\n"
        f" %w = {_LINE} negate(%b)\n %tt = {both} tuple(%x, %w)\n"
        f" %y = {_LINE} fusion(%tt), kind=kLoop, calls=%fused\n ROOT %r = {_LINE} negate(%y)\n}}\n"
    )
    assert _planned(module, by=by) == [found]


@pytest.mark.parametrize(("summed", "found"), [("p", "unknown"), ("q", "proved")])
@pytest.mark.parametrize(("shape", "along"), [("2,4", 1), ("4,2", 0)])
def test_when_a_sum_of_as_many_elements_reads_beside_what_is_written_is_not_known(
    shape: str, along: int, summed: str, found: str
) -> None:
    """Its result has the size of what is written, and a step of it reads more."""
    lines = [
        f"%rows = f32[{shape}]{{1,0}} bitcast(%{summed})",
        f"%m = f32[2]{{0}} reduce(%rows, %z), dimensions={{{along}}}, to_apply=%sum",
        "%s = f32[2]{0} slice(%p), slice={[0:2]}",
        "%g = f32[2]{0} negate(%s)",
        f"%e = {_LINE} sine(%q)",
    ]
    results = [("g", "f32[2]{0}"), ("m", "f32[2]{0}"), ("e", _LINE)]
    assert _planned(_module(lines, results, (_LINE, _LINE), "%x, %w, %j"), "y{0}", at=(8, 0)) == [found]


@pytest.mark.parametrize(
    ("made", "found"),
    [("reshape(%p)", "proved"), ("reshape(%v)", "refuted"), ("transpose(%g), dimensions={1,0}", "refuted")],
)
def test_what_is_summed_in_the_steps_of_what_is_written_is_read_there(made: str, found: str) -> None:
    """Each of the eight that are summed is read in the step at its own place, not at that of the sum."""
    lines = [
        f"%d = {_LINE} negate(%p)",
        f"%v = {_LINE} reverse(%p), dimensions={{0}}",
        "%g = f32[2,4]{1,0} reshape(%p)",
        f"%h = f32[4,2]{{1,0}} {made}",
        "%o = f32[4]{0} reduce(%h, %z), dimensions={1}, to_apply=%sum",
    ]
    module = _module(lines, [("d", _LINE), ("o", "f32[4]{0}")], (_LINE, _LINE), "%x, %w, %j")
    assert _planned(module, "y{0}") == [found]


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
        f"%d = {_LINE} dynamic-update-slice(%p, %u, %s)",
    ]
    assert _verdicts(_module(lines, [("d", _LINE)], (_LINE, _LINE), "%x, %w, %j"), False) == (found, found)


@pytest.mark.parametrize(("last", "found"), [("%a4", "unknown"), ("%a5", "refuted")])
@pytest.mark.parametrize(("given", "index"), [("%q, %s, %z, %e", 1), ("%s, %q, %e, %z", 0)])
def test_a_function_of_several_computes_if_it_hands_on_none(last: str, found: str, given: str, index: int) -> None:
    function = "%both {\n" + "".join(f"  %a{k + 1} = f32[] parameter({k})\n" for k in range(4))
    function += f"  %a5 = f32[] add(%a1, %a3)\n  ROOT %a6 = (f32[], f32[]) tuple(%a5, {last})\n}}\n\n"
    lines = [
        "%t = f32[1]{0} slice(%p), slice={[3:4]}",
        "%e = f32[] reshape(%t)",
        f"%s = {_LINE} broadcast(%e), dimensions={{}}",
        f"%two = (f32[], f32[]) reduce({given}), dimensions={{0}}, to_apply=%both",
        f"%one = f32[] get-tuple-element(%two), index={index}",
        f"%d = {_LINE} broadcast(%one), dimensions={{}}",
    ]
    module = _module(lines, [("d", _LINE)], (_LINE, _LINE), "%x, %w, %j")
    assert _verdicts(module.replace("%fused {", function + "%fused {", 1), False) == (found, found)


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
        f"%d = {_LINE} dynamic-update-slice(%p, %h, %at)",
    ]
    module = _module(lines, [("d", _LINE)], (_LINE, "s32[8]{0}"), "%x, %w, %j")
    assert _verdicts(module, False) == (found, found)


@pytest.mark.parametrize("given", ["%x, %x, %j", "%x, %w, %j"])
def test_a_sort_of_another_name_of_what_lies_there_is_not_refuted(given: str) -> None:
    sort = _module([f"%d = {_LINE} sort(%q), dimensions={{0}}, to_apply=%ge"], [("d", _LINE)], (_LINE, _LINE), given)
    assert _verdicts(sort, False) == ("unknown", "proved")


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
                self.add(sizes, f"scatter(%{name}, {i}, %{other[0]}), {_INTO}", layout=layout)
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
    return _module(body.lines, [(a[0], _text(a)) for a in results], shapes, given), len(results) > 1


_SEEDS: Final = 25
"""Modules of one test."""


@pytest.mark.parametrize("number", range(12))
def test_no_claim_refutes_what_the_other_one_proves(number: int) -> None:
    for seed in range(number * _SEEDS, (number + 1) * _SEEDS):
        drawn = _drawn(seed)
        if drawn is None:
            continue
        found = _verdicts(*drawn)
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
