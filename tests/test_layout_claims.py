"""Layout claims: proved for right layouts, refuted with the first counterexample for planted errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from math import prod
from random import Random

import pytest

import hloproof.models.layouts.tiling
from hloproof.claims.layouts.claims import ClaimedLayout, LayoutClaim, claims, one_to_one
from hloproof.claims.layouts.contiguity import ContiguousRun, judged_runs
from hloproof.claims.layouts.formats import format_claims
from hloproof.claims.layouts.judge import JudgedClaim, judge, judge_one
from hloproof.claims.layouts.steps import LayoutStep, chain
from hloproof.engines.portfolio import prove
from hloproof.logic.formula import FALSE, TRUE
from hloproof.logic.obligation import Obligation
from hloproof.models.expressions.expr import Var
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.hlo.text.shapes import parse_shape
from hloproof.models.layouts.tiling import TileStage
from hloproof.results.verdict import Verdict


def array(text: str) -> ArrayShape:
    shape = parse_shape(text)
    assert isinstance(shape, ArrayShape)
    return shape


def judged(claimed: ClaimedLayout) -> dict[str, JudgedClaim]:
    return {j.claim.name: j for j in judge(claims(claimed), prove)}


SHAPES = (
    "f32[3,5]{1,0:T(2,2)}",
    "bf16[4,8]{1,0:T(2,4)(2,1)}",
    "f32[2047,50257]{1,0:T(8,128)(4,1)}",
    "bf16[16,1023,1025]{2,1,0:T(8,128)(2,1)}",
    "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)(2,1)}",
    "f32[8]{0:T(2,2)}",
    "f32[8,8]{1,0:T(2,2)(2,2,2,2,2)}",
    "u32[]{:T(128)}",
    "f32[]",
    "f32[10,1,30]{2,0,1}",
    "f32[0,5]{0,1:T(4)}",
    "f32[8]{0:T(2,2)L(100)}",
)


@pytest.mark.parametrize("text", SHAPES)
def test_right_layouts_are_proved(text: str) -> None:
    found = judged(ClaimedLayout.by_formula(array(text)))
    assert set(found) == {"one-to-one", "inside", "onto", "inverse", "padding", "two-readings"}
    assert {name: j.found.verdict for name, j in found.items()} == dict.fromkeys(found, Verdict.PROVED)


@pytest.mark.parametrize(
    "text",
    [
        "f32[10,20,30]{2,0,1:T(8,128)SC(0:7)(2:10,15)}",
        "f32[8]{0:SC(0:3)}",  # the first part is the shorter one
        "f32[10]{0:SC(0:4,6)}",  # the one in the middle is
        "f32[8]{0:SC(0:4)}",  # none is
        "f32[6,6]{0,1:T(2,2)SC(0:1,5)(1:2,4)}",
        "f32[6,6]{0,1:T(2,2)L(100)SC(0:2,4)}",
    ],
)
def test_split_layouts_are_one_to_one_on_pairs(text: str) -> None:
    found = judged(ClaimedLayout.by_formula(array(text)))
    assert {name: j.found.verdict for name, j in found.items()} == dict.fromkeys(
        ("one-to-one", "inside", "onto"), "proved"
    )


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("f32[4,6]{1,0:T(2,2)}", "every position holds an element"),
        ("f32[3,5]{1,0:T(2,2)}", "not every position holds an element: position 23 is padding"),
        ("f32[8]{0:L(3)}", "not every position holds an element: position 8 is padding"),
    ],
)
def test_onto_exactly_when_nothing_is_padded(text: str, statement: str) -> None:
    found = judged(ClaimedLayout.by_formula(array(text)))["onto"]
    assert (found.found.verdict, found.claim.statement) == (Verdict.PROVED, statement)


# Planted errors


def floor_for_ceil(s: TileStage) -> TileStage:
    return replace(s, counts=tuple(n // t for n, t in zip(s.joined[s.untiled :], s.sizes, strict=True)))


def combine_off_by_one(s: TileStage) -> TileStage:
    """The combined dimension goes to the next more major one: `(0, 1), (2,)` becomes `(0,), (1, 2)`."""
    if all(len(g) == 1 for g in s.groups):
        return s
    groups = ((s.groups[0][0],), (*s.groups[0][1:], *s.groups[1]))
    joined = tuple(prod(s.before[i] for i in g) for g in groups)
    counts = tuple(-(-n // t) for n, t in zip(joined, s.sizes, strict=True))
    return replace(s, groups=groups, joined=joined, counts=counts)


def mutate_stage(change: Callable[[TileStage], TileStage]) -> Callable[[pytest.MonkeyPatch], None]:
    def plant(patch: pytest.MonkeyPatch) -> None:
        right = hloproof.models.layouts.tiling.stage
        patch.setattr(hloproof.models.layouts.tiling, "stage", lambda before, tile: change(right(before, tile)))

    return plant


def swap_tiles(patch: pytest.MonkeyPatch) -> None:
    right = hloproof.models.layouts.tiling.stages_of
    patch.setattr(hloproof.models.layouts.tiling, "stages_of", lambda dims, tiles: right(dims, tiles[::-1]))


@pytest.mark.parametrize(
    ("plant", "text", "claim", "counterexample"),
    [
        (
            swap_tiles,
            "f32[4,8]{1,0:T(2,4)(2,1)}",
            "two-readings",
            "element [0, 1]: the formula says position 8, pad-reshape-transpose says 2",
        ),
        (
            swap_tiles,
            "bf16[16,1023,1025]{2,1,0:T(8,128)(2,1)}",
            "two-readings",
            "element [0, 0, 1]: the formula says position 1024, pad-reshape-transpose says 2",
        ),
        (
            mutate_stage(floor_for_ceil),
            "f32[3,5]{1,0:T(2,2)}",
            "one-to-one",
            "elements [0, 4] and [2, 0] both lie at position 8",
        ),
        (
            mutate_stage(floor_for_ceil),
            "f32[2047,50257]{1,0:T(8,128)(4,1)}",
            "one-to-one",
            "elements [0, 50176] and [8, 0] both lie at position 401408",
        ),
        (
            mutate_stage(combine_off_by_one),
            "f32[4,6,5]{2,1,0:T(*,2,3)}",
            "two-readings",
            "element [0, 1, 0]: the formula says position 8, pad-reshape-transpose says 3",
        ),
    ],
)
def test_planted_errors_are_refuted(
    plant: Callable[[pytest.MonkeyPatch], None],
    text: str,
    claim: str,
    counterexample: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plant(monkeypatch)
    found = judged(ClaimedLayout.by_formula(array(text)))[claim]
    assert (found.found.verdict, found.found.counterexample) == (Verdict.REFUTED, counterexample)


def test_forgotten_padding_is_refuted() -> None:
    shape = array("f32[3,5]{1,0:T(2,2)}")
    found = judged(replace(ClaimedLayout.by_formula(shape), size=15))
    assert found["one-to-one"].found.verdict is Verdict.PROVED
    assert found["inside"].found.counterexample == "element [2, 2] lies at position 16, outside of 15"
    assert found["onto"].found.counterexample == "position 9 holds no element"


def test_a_wrong_way_back_is_refuted() -> None:
    shape = array("f32[3,5]{1,0:T(2,2)}")
    right = ClaimedLayout.by_formula(shape)
    assert right.inverse is not None
    swapped = replace(right.inverse, results=right.inverse.results[::-1])
    found = judged(replace(right, inverse=swapped))["inverse"]
    assert found.found.verdict is Verdict.REFUTED
    assert found.found.counterexample == "element [0, 1] lies at position 1, and the way back leads to [1, 0]"
    # Without its constraints the way back also leads from padding to indices outside of the shape.
    endless = judged(replace(right, inverse=replace(right.inverse, constraints=())))["padding"]
    assert (
        endless.found.counterexample == "the way back from position 9 leads to [0, 5], which is no index of the shape"
    )
    # And with constraints that are too narrow it is missing where an element lies.
    narrow = replace(right.inverse, constraints=(replace(right.inverse.constraints[0], interval=Interval(0, 1)),))
    assert judged(replace(right, inverse=narrow))["inverse"].found.verdict is Verdict.REFUTED


def verdicts(goals: tuple[Obligation, ...]) -> set[str]:
    return {prove(o).verdict for o in goals}


def test_a_wrong_step_is_refuted() -> None:
    """Each of the four goals of a step has a step that fails it."""
    right = chain(array("f32[3,5]{1,0:T(2,2)}")).steps[1]
    lossy = replace(right, forward=(right.forward[0], right.forward[1], right.forward[2], right.forward[2]))
    assert "refuted" in verdicts(lossy.one_to_one())
    assert "refuted" in verdicts(replace(right, after=(1, 3, 2, 2)).inside())
    assert "refuted" in verdicts(replace(right, backward=right.backward[::-1]).inverse())
    assert "refuted" in verdicts(right.onto())  # 3 by 5 is not filled by 2 by 2


def test_steps_of_random_layouts_hold() -> None:
    from test_tiling import random_shape

    draw = Random(7)
    for _ in range(25):
        shape = random_shape(draw)
        assert {j.found.verdict for j in judged(ClaimedLayout.by_formula(shape)).values()} == {Verdict.PROVED}, shape


# Formats


@pytest.mark.parametrize(
    "text",
    [
        "bf16[?,?]{1,0:T(8,128)(2,1)}",
        "f32[?,?,?,?,?]{4,3,2,1,0:T(*,*,2,*,3)(2,1)}",
        "f32[?]{0:T(2,2)}",
        "f32[?,7,?]{0,2,1}",
    ],
)
def test_formats_hold_for_all_sizes(text: str) -> None:
    found = judge(format_claims(array(text)), prove)
    assert [(j.claim.name, j.found.verdict) for j in found] == [
        (name, Verdict.PROVED) for name in ("one-to-one", "inside", "inverse")
    ]


def test_format_goals_can_fail() -> None:
    """The goals about joining need the coordinate to be inside of its size."""
    (claim, *_) = format_claims(array("f32[?,?]"))
    joins = [o for o in claim.steps if o.label.startswith("joining")]
    assert joins
    for o in joins:
        weaker = replace(o, hypothesis=o.hypothesis.parts[-1])  # type: ignore[union-attr]
        assert prove(weaker).verdict == "refuted"


def test_instances_of_a_format_hold_without_symbols() -> None:
    """A second look at a proof for all sizes, with no symbolic size in it."""
    small, random = list(product(range(1, 5), repeat=2)), Random(0)
    goals: dict[Obligation, None] = {}
    for sizes in (*small, *((random.randint(1, 300), random.randint(1, 300)) for _ in range(14))):
        shape = replace(array("bf16[1,1]{1,0:T(8,128)(2,1)}"), dimensions=sizes)
        goals |= dict.fromkeys(one_to_one(ClaimedLayout.by_formula(shape), chain(shape)).steps)
    assert {prove(g).verdict for g in goals} == {"proved"}


# Runs


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f32[4,6]", [ContiguousRun(0, 4, 6), ContiguousRun(1, 6, 1)]),
        (
            "bf16[16,1023,1025]{2,1,0:T(8,128)(2,1)}",
            [ContiguousRun(0, 16, 1179648), ContiguousRun(1, 2, 1), ContiguousRun(2, 128, 2)],
        ),
        ("f32[3,5]{1,0:T(*,4)(2,1)}", []),  # the combined dimension starts in the middle of tiles
        ("f32[1,3]", [ContiguousRun(1, 3, 1)]),
    ],
)
def test_runs(text: str, expected: list[ContiguousRun]) -> None:
    found = judged_runs(array(text), prove)
    assert [run for run, _ in found] == expected
    assert {j.found.verdict for _, j in found} <= {Verdict.PROVED}


def test_the_first_counterexample_is_the_smallest() -> None:
    from hloproof.claims.layouts.judge import first_counterexample
    from hloproof.logic.formula import lt

    o = Obligation((("d0", Interval(0, 99)), ("d1", Interval(0, 99))), lt(Var("d0") * 3 + Var("d1"), 200))
    assert dict(first_counterexample(o, prove(o), prove).model) == {"d0": 34, "d1": 98}


def test_a_step_is_data() -> None:
    assert isinstance(chain(array("f32[2]")).steps[0], LayoutStep)


@pytest.mark.parametrize(("complete", "said"), [(True, Verdict.PROVED), (False, Verdict.UNKNOWN)])
def test_what_says_part_of_a_claim_does_not_prove_it_where_another_part_fails(complete: bool, said: Verdict) -> None:
    part, rest = Obligation((), TRUE, label="a part"), Obligation((), FALSE, label="the rest")
    claim = LayoutClaim("c", "both hold", (part, rest), part, lambda _: "", complete)
    assert judge_one(claim, prove).found.verdict is said


def test_a_sub_goal_alone_refutes_nothing() -> None:
    claim = LayoutClaim("c", "it holds", (Obligation((), FALSE, label="a sufficient part"),), None, lambda _: "")
    found = judge_one(claim, prove).found
    assert (found.verdict, found.reason) == (Verdict.UNKNOWN, "the sub-goal `a sufficient part` does not hold")
