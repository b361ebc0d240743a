"""Reductions of whole constants are the constants that they give; other folds of constants stay operations."""

from __future__ import annotations

import pytest
from red_pairs import entry, proved, unproved

from hloproof.equivalence import decide
from hloproof.models.hlo.parser import parse_module
from hloproof.results.verdict import Verdict


def function(name: str, root: str, kind: str = "f32") -> str:
    return f"{name} {{\n a = {kind}[] parameter(0)\n b = {kind}[] parameter(1)\n ROOT r = {root}\n}}\n"


BODIES = (
    function("larger", "f32[] maximum(a, b)")
    + function("added", "f32[] add(a, b)")
    + function("last", "f32[] copy(b)").replace("copy(b)", "maximum(b, b)")
    + function("most", "s32[] maximum(a, b)", "s32")
    + function("second", "s32[] maximum(b, b)", "s32")
    + function("few", "s4[] add(a, b)", "s4")
    + function("both", "pred[] and(a, b)", "pred")
    + function("counted", "s32[] add(a, b)", "s32")
    + function("shrunk", "s32[] subtract(a, b)", "s32")
    + function("below", "pred[] compare(a, b), direction=LT")
)


def verdict(before: str, after: str, more: str = "") -> Verdict:
    texts = (f"HloModule m{more}\n{BODIES}ENTRY e {{\n {body}\n}}\n" for body in (before, after))
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


def sort(values: str) -> str:
    return (
        f"x = f32[3] constant({{{values}}})\n y = f32[3] negate(x)\n"
        f" ROOT s = f32[3] sort(y), dimensions={{0}}, is_stable=true, to_apply=below"
    )


FOLDED = {
    "the largest": (reduce("3, 7, 5", "most", "-9", "s32"), "ROOT c = s32[] constant(7)"),
    "a sum of integers": (reduce("3, 7, 5", "counted", "1", "s32"), "ROOT c = s32[] constant(16)"),
    "what is computed from constants": (
        "x = s32[3] constant({3, 7, 5})\n y = s32[3] negate(x)\n v = s32[3] reverse(y), dimensions={0}\n"
        " z = s32[] constant(0)\n ROOT r = s32[] reduce(v, z), dimensions={0}, to_apply=counted",
        "ROOT c = s32[] constant(-15)",
    ),
    "whether all lie below": (
        "x = f32[3] constant({3, 7, 5})\n y = f32[3] constant({4, 8, inf})\n"
        " b = pred[3] compare(x, y), direction=LT\n z = pred[] constant(true)\n"
        " ROOT r = pred[] reduce(b, z), dimensions={0}, to_apply=both",
        "ROOT c = pred[] constant(true)",
    ),
}

KEPT = {
    "a scatter": (scatter(2, 0, by="added"), "ROOT c = f32[4] constant({20, 1, 12, 3})"),
    "two updates of one element": (scatter(2, 2, by="last"), "ROOT c = f32[4] constant({0, 1, 20, 3})"),
    "a sort": (sort("1, 3, 2"), "ROOT c = f32[3] constant({-3, -2, -1})"),
    "another order": (sort("1, 3, 2"), "ROOT c = f32[3] constant({-1, -2, -3})"),
    "the largest of floats": (reduce("3, 7, 5", "larger"), "ROOT c = f32[] constant(7)"),
    "the largest where there is none": (reduce("0, nan, 1", "larger"), "ROOT c = f32[] constant(1)"),
    "a sum of floats": (reduce("1e8, 1, -1e8", "added", "0"), "ROOT c = f32[] constant(0)"),
    "what associates in no way": (reduce("3, 7, 5", "shrunk", "1", "s32"), "ROOT c = s32[] constant(-14)"),
    "one of two": (reduce("3, 7, 5", "second", "1", "s32"), "ROOT c = s32[] constant(5)"),
    "what is counted by four bits": (
        "x = s4[3] constant({3, 1, 2})\n z = s4[] constant(0)\n"
        " ROOT r = s4[] reduce(x, z), dimensions={0}, to_apply=few",
        "ROOT c = s4[] constant(6)",
    ),
    "whether all lie below, a NaN among them": (
        "x = f32[3] constant({3, nan, 5})\n y = f32[3] constant({4, 8, inf})\n"
        " b = pred[3] compare(x, y), direction=LT\n z = pred[] constant(true)\n"
        " ROOT r = pred[] reduce(b, z), dimensions={0}, to_apply=both",
        "ROOT c = pred[] constant(false)",
    ),
    "the bits of NaNs": (
        "x = f32[3] constant({nan, nan, nan})\n b = s32[3] bitcast-convert(x)\n z = s32[] constant(0)\n"
        " ROOT r = s32[] reduce(b, z), dimensions={0}, to_apply=most",
        "ROOT c = s32[] constant(2143289344)",
    ),
    "a complex number": (
        "x = c64[3] constant({(1, 2), (1, 2), (1, 2)})\n y = c64[3] reverse(x), dimensions={0}\n"
        " b = pred[3] compare(x, y), direction=EQ\n z = pred[] constant(true)\n"
        " ROOT r = pred[] reduce(b, z), dimensions={0}, to_apply=both",
        "ROOT c = pred[] constant(true)",
    ),
    "the number of a device": (
        "i = u32[] partition-id()\n b = u32[3] broadcast(i), dimensions={}\n x = s32[3] convert(b)\n"
        " z = s32[] constant(0)\n ROOT r = s32[] reduce(x, z), dimensions={0}, to_apply=counted",
        "ROOT c = s32[] constant(0)",
    ),
    "a function of constants": (
        "x = f32[3] constant({0, 0, 0})\n y = f32[3] exponential(x)\n o = f32[3] constant({1, 1, 1})\n"
        " b = pred[3] compare(y, o), direction=EQ\n z = pred[] constant(true)\n"
        " ROOT r = pred[] reduce(b, z), dimensions={0}, to_apply=both",
        "ROOT c = pred[] constant(true)",
    ),
}


@pytest.mark.parametrize("name", FOLDED)
def test_a_fold_of_constants_is_the_constant(name: str) -> None:
    assert verdict(*FOLDED[name]) is Verdict.PROVED
    assert verdict(*reversed(FOLDED[name])) is Verdict.PROVED


@pytest.mark.parametrize("name", KEPT)
def test_what_another_implementation_may_give_is_not_proved(name: str) -> None:
    assert verdict(*KEPT[name]) is Verdict.UNKNOWN


def test_only_reductions_are_computed() -> None:
    """A sum over devices has two operands and a function too."""
    summed = (
        "x = s32[3] constant({3, 7, 5})\n y = s32[3] constant({0, 0, 0})\n"
        " r = (s32[3], s32[3]) all-reduce(x, y), replica_groups={}, to_apply=counted\n"
        " ROOT g = s32[3] get-tuple-element(r), index=0"
    )
    assert verdict(summed, summed, ", replica_count=2") is Verdict.PROVED
    assert verdict(summed, "ROOT c = s32[3] constant({3, 7, 5})", ", replica_count=2") is Verdict.UNKNOWN


@pytest.mark.parametrize("where", ["ROOT r = s32[] add(a, b)", "a = s32[] parameter(0)"])
def test_what_is_written_beside_the_operations_of_a_function_is_not_computed(where: str) -> None:
    """Nobody knows what they then compute: with other words, with none, and beside the constant it was proved."""
    body = entry_of("counted", "1, 2, 3")
    silent, loud, other = (
        said.replace(where, f"{where}, frontend_attributes={{{name}={{1}}}}")
        for said, name in ((body, "inlineable"), (body, "foo"), (body, "bar"))
    )
    one = entry_of("", "").partition("ENTRY")[0] + "ENTRY e {\n ROOT r = s32[] constant(6)\n}\n"
    assert found(body, one) == found(silent, one) == found(body, silent) == Verdict.PROVED
    assert found(loud, loud) is Verdict.PROVED
    for x, y in ((body, loud), (loud, body), (loud, other), (loud, one)):
        assert found(x, y) is Verdict.UNKNOWN


def entry_of(by: str, values: str) -> str:
    body = function("counted", "s32[] add(a, b)", "s32")
    return f"HloModule m\n{body}ENTRY e {{\n {reduce(values, by, '0', 's32')}\n}}\n"


def found(before: str, after: str) -> Verdict:
    return decide(parse_module(before), parse_module(after), "exact").verdict


@pytest.mark.parametrize(("which", "value"), [(0, 3), (1, 5)])
def test_a_fold_of_nothing_gives_what_each_part_begins_with(which: int, value: int) -> None:
    two = (
        "two { a = s32[] parameter(0)\n b = s32[] parameter(1)\n c = s32[] parameter(2)\n d = s32[] parameter(3)\n"
        " e = s32[] add(a, c)\n f = s32[] multiply(b, d)\n ROOT t = (s32[], s32[]) tuple(e, f)\n}\n"
    )
    given = ("x = s32[0] parameter(0)", "y = s32[0] parameter(1)", "a = s32[] constant(3)", "b = s32[] constant(5)")
    folded = "t = (s32[], s32[]) reduce(x, y, a, b), dimensions={0}, to_apply=two"
    before = entry(*given, folded, f"ROOT r = s32[] get-tuple-element(t), index={which}", before=two)
    proved(before, entry(*given, f"ROOT r = s32[] constant({value})"), "exact")
    unproved(before, entry(*given, f"ROOT r = s32[] constant({8 - value})"), "exact")
