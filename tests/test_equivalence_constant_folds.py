"""Folds of constants are the constants that every implementation gives; what hangs on an order stays an operation."""

from __future__ import annotations

import pytest

from hloproof.equivalence import decide
from hloproof.models.hlo.parser import parse_module
from hloproof.results.verdict import Verdict


def function(name: str, root: str, kind: str = "f32") -> str:
    return f"{name} {{\n a = {kind}[] parameter(0)\n b = {kind}[] parameter(1)\n ROOT r = {root}\n}}\n"


BODIES = (
    function("larger", "f32[] maximum(a, b)")
    + function("added", "f32[] add(a, b)")
    + function("last", "f32[] copy(b)").replace("copy(b)", "maximum(b, b)")
    + function("counted", "s32[] add(a, b)", "s32")
    + function("shrunk", "s32[] subtract(a, b)", "s32")
    + function("below", "pred[] compare(a, b), direction=LT")
    + function("anything", "pred[] compare(a, a), direction=EQ")
    + function("grown", "f32[] exponential(b)")
)


def verdict(before: str, after: str) -> Verdict:
    texts = (f"HloModule m\n{BODIES}ENTRY e {{\n {body}\n}}\n" for body in (before, after))
    one, other = map(parse_module, texts)
    return decide(one, other, "exact").verdict


SCATTER = (
    "x = f32[4] constant({{0, 1, 2, 3}})\n i = s32[2,1] constant({{{{{at[0]}}}, {{{at[1]}}}}})\n"
    " u = f32[2] constant({{10, 20}})\n ROOT s = f32[4] scatter(x, i, u), update_window_dims={{}},"
    " inserted_window_dims={{0}}, scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply={by}"
)


def scatter(*at: int, by: str) -> str:
    return SCATTER.format(at=at, by=by)


def reduce(values: str, by: str, first: str = "-inf", kind: str = "f32") -> str:
    return (
        f"x = {kind}[3] constant({{{values}}})\n z = {kind}[] constant({first})\n"
        f" ROOT r = {kind}[] reduce(x, z), dimensions={{0}}, to_apply={by}"
    )


def sort(values: str, by: str = "below", stable: str = "true") -> str:
    return (
        f"x = f32[3] constant({{{values}}})\n y = f32[3] negate(x)\n"
        f" ROOT s = f32[3] sort(y), dimensions={{0}}, is_stable={stable}, to_apply={by}"
    )


FOLDED = {
    "a scatter to different places": (scatter(2, 0, by="added"), "ROOT c = f32[4] constant({20, 1, 12, 3})"),
    "a scatter partly outside": (scatter(2, 9, by="added"), "ROOT c = f32[4] constant({0, 1, 12, 3})"),
    "the largest": (reduce("3, 7, 5", "larger"), "ROOT c = f32[] constant(7)"),
    "the largest of what is counted": (
        "x = f32[3] iota(), iota_dimension=0\n z = f32[] constant(-inf)\n"
        " ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=larger",
        "ROOT c = f32[] constant(2)",
    ),
    "a sum of integers": (reduce("3, 7, 5", "counted", "1", "s32"), "ROOT c = s32[] constant(16)"),
    "sorted lines": (sort("1, 3, 2"), "ROOT c = f32[3] constant({-3, -2, -1})"),
}

KEPT = {
    "two updates of one element": (scatter(2, 2, by="last"), "ROOT c = f32[4] constant({0, 1, 20, 3})"),
    "a function that is rounded in other ways": (
        scatter(2, 0, by="grown"),
        "ROOT c = f32[4] constant({485165195, 1, 22026.4658, 3})",
    ),
    "the wrong place": (scatter(2, 0, by="added"), "ROOT c = f32[4] constant({10, 1, 22, 3})"),
    "the largest of zeros of both signs": (reduce("0, -0, 0", "larger"), "ROOT c = f32[] constant(0)"),
    "the largest where there is none": (reduce("0, nan, 1", "larger"), "ROOT c = f32[] constant(1)"),
    "a sum of floats": (reduce("1e8, 1, -1e8", "added", "0"), "ROOT c = f32[] constant(0)"),
    "what associates in no way": (reduce("3, 7, 5", "shrunk", "1", "s32"), "ROOT c = s32[] constant(-14)"),
    "no order": (sort("1, 3, 2", "anything"), "ROOT c = f32[3] constant({-1, -3, -2})"),
    "an order that knows no NaN": (sort("1, nan, 2"), "ROOT c = f32[3] constant({-1, nan, -2})"),
    "another order": (sort("1, 3, 2"), "ROOT c = f32[3] constant({-1, -2, -3})"),
}


@pytest.mark.parametrize("name", FOLDED)
def test_a_fold_of_constants_is_the_constant(name: str) -> None:
    assert verdict(*FOLDED[name]) is Verdict.PROVED
    assert verdict(*reversed(FOLDED[name])) is Verdict.PROVED


@pytest.mark.parametrize("name", KEPT)
def test_what_another_implementation_may_give_is_not_proved(name: str) -> None:
    assert verdict(*KEPT[name]) is Verdict.UNKNOWN
