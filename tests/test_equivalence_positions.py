"""Sums taken apart otherwise: prefix sums in blocks, reductions in windows, sums written out; and what adds up to
something else."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hloproof.equivalence import decide
from hloproof.equivalence.answer import Tier
from hloproof.equivalence.decide import read_both
from hloproof.equivalence.kernel import Denied, Rules
from hloproof.equivalence.positions import positions
from hloproof.equivalence.rules import same
from hloproof.models.hlo.parser import parse_module


def module(operation: str, type_: str, initial: str, *lines: str) -> str:
    """An entry over p[12] and an initial value; `f` is the operation."""
    return (
        f"HloModule m\n\nf {{\n  a = {type_}[] parameter(0)\n  b = {type_}[] parameter(1)\n"
        f"  ROOT r = {type_}[] {operation}(a, b)\n}}\n\nENTRY e {{\n  p = {type_}[12] parameter(0)\n"
        f"  z = {type_}[] constant({initial})\n" + "".join(f"  {line}\n" for line in lines) + "}\n"
    )


def prefix(type_: str, pad: str = "11_0", size: int = 12) -> str:
    return f"ROOT r = {type_}[12] reduce-window(p, z), window={{size={size} pad={pad}}}, to_apply=f"


def blocks(
    type_: str,
    inner: str = "3_0",
    outer: str = "3_0",
    last: str = "3:4",
    first: str = "0:3",
    size: int = 4,
    function: str = "f",
) -> list[str]:
    """The prefix sums of three blocks of four, and those of the blocks before."""
    return [
        f"q = {type_}[3,4] reshape(p)",
        f"w = {type_}[3,4] reduce-window(q, z), window={{size=1x{size} pad=0_0x{inner}}}, to_apply=f",
        f"s = {type_}[3,1] slice(w), slice={{[0:3], [{last}]}}",
        f"t = {type_}[3] reshape(s)",
        f"v = {type_}[4] reduce-window(t, z), window={{size=3 pad={outer}}}, to_apply=f",
        f"y = {type_}[3] slice(v), slice={{[{first}]}}",
        f"b = {type_}[3,4] broadcast(y), dimensions={{0}}",
        f"m = {type_}[3,4] map(w, b), dimensions={{0,1}}, to_apply={function}",
        f"ROOT r = {type_}[12] reshape(m)",
    ]


def whole(type_: str, name: str = "r") -> str:
    return f"{'ROOT ' * (name == 'r')}{name} = {type_}[] reduce(p, z), dimensions={{0}}, to_apply=f"


def windows(type_: str, count: int, window: str) -> list[str]:
    return [
        f"w = {type_}[{count}] reduce-window(p, z), window={{{window}}}, to_apply=f",
        f"ROOT r = {type_}[] reduce(w, z), dimensions={{0}}, to_apply=f",
    ]


def halves(type_: str, operation: str, first: str, second: str) -> list[str]:
    sizes = [int(part.split(":")[1]) - int(part.split(":")[0]) for part in (first, second)]
    return [
        f"x = {type_}[{sizes[0]}] slice(p), slice={{[{first}]}}",
        f"y = {type_}[{sizes[1]}] slice(p), slice={{[{second}]}}",
        f"s = {type_}[] reduce(x, z), dimensions={{0}}, to_apply=f",
        f"t = {type_}[] reduce(y, z), dimensions={{0}}, to_apply=f",
        f"ROOT r = {type_}[] {operation}(s, t)",
    ]


KINDS = [
    ("add", "s32", "0"),
    ("add", "f32", "0"),
    ("multiply", "u8", "1"),
    ("maximum", "f32", "-inf"),
    ("or", "s32", "0"),
]


def verdict(before: str, after: str, tier: Tier = "rounding") -> str:
    return decide(parse_module(before), parse_module(after), tier).verdict.value


@pytest.mark.parametrize(("operation", "type_", "initial"), KINDS)
def test_sums_that_are_equal(operation: str, type_: str, initial: str) -> None:
    def made(*lines: str) -> str:
        return module(operation, type_, initial, *lines)

    pairs = [
        (made(prefix(type_)), made(*blocks(type_))),
        (made(whole(type_)), made(*windows(type_, 2, "size=8 stride=8 pad=2_2"))),
        (made(whole(type_)), made(*windows(type_, 3, "size=4 stride=4"))),
        (made(whole(type_)), made(*halves(type_, operation, "0:5", "5:12"))),
        (made(whole(type_)), made(*halves(type_, operation, "11:12", "0:11"))),
    ]
    for before, after in pairs:
        assert verdict(before, after) == verdict(after, before) == "proved"
        assert verdict(before, after, "exact") == ("unknown" if (operation, type_) == ("add", "f32") else "proved")


Wrong = Callable[[str], list[str]]
WRONG: dict[str, Wrong] = {
    "blocks that begin one later": lambda t: blocks(t, inner="2_1"),
    "a block that counts itself": lambda t: blocks(t, outer="2_1", first="0:3"),
    "the block after": lambda t: blocks(t, first="1:4"),
    "not the last of a block": lambda t: blocks(t, last="2:3"),
    "shorter blocks": lambda t: blocks(t, inner="2_0", size=3),
}


@pytest.mark.parametrize("name", WRONG)
def test_other_prefix_sums(name: str) -> None:
    before = module("add", "s32", "0", prefix("s32"))
    assert verdict(before, module("add", "s32", "0", *WRONG[name]("s32"))) == "unknown"


def test_elements_left_out_or_taken_twice() -> None:
    def made(*lines: str, operation: str = "add", initial: str = "0") -> str:
        return module(operation, "s32", initial, *lines)

    total = made(whole("s32"))
    for other in (
        made(*windows("s32", 3, "size=3 stride=4 pad=0_0")),  # every fourth is left out
        made(*windows("s32", 3, "size=6 stride=3")),  # windows that overlap
        made(*windows("s32", 2, "size=8 stride=8 pad=-4_8")),  # the first four are cropped
        made(*halves("s32", "add", "0:6", "5:12")),
        made(*halves("s32", "add", "0:5", "6:12")),
        made(*halves("s32", "subtract", "0:5", "5:12")),
        made(*halves("s32", "maximum", "0:5", "5:12")),
    ):
        assert verdict(total, other) == "unknown"


def test_the_initial_value_has_to_change_nothing() -> None:
    for initial, operation in (("1", "add"), ("0", "multiply"), ("5", "maximum")):
        before = module(operation, "s32", initial, whole("s32"))
        assert verdict(before, module(operation, "s32", initial, *halves("s32", operation, "0:5", "5:12"))) == "unknown"


def test_operations_that_do_not_associate() -> None:
    for operation in ("subtract", "divide", "power"):
        before = module(operation, "s32", "0", whole("s32"))
        assert verdict(before, module(operation, "s32", "0", *halves("s32", operation, "0:5", "5:12"))) == "unknown"


def test_a_maximum_may_be_taken_twice() -> None:
    before = module("maximum", "s32", "-2147483648", whole("s32"))
    after = module("maximum", "s32", "-2147483648", *halves("s32", "maximum", "0:8", "4:12"))
    assert verdict(before, after) == "proved"


@pytest.mark.parametrize(("padding", "owed"), [("0_0", 0), ("1_0", 1), ("0_1", 1), ("1_1", 2)])
def test_what_would_be_added_beside_the_tensor_is_owed_to_be_nothing(padding: str, owed: int) -> None:
    """A sum over ones beside the elements, below the first and above the last position."""
    size = 12 + sum(map(int, padding.split("_")))
    ones = module(
        "add",
        "s32",
        "0",
        "o = s32[] constant(1)",
        f"q = s32[{size}] pad(p, o), padding={padding}",
        "ROOT r = s32[] reduce(q, z), dimensions={0}, to_apply=f",
    )
    graph, (goal,), _ = read_both(parse_module(ones), parse_module(module("add", "s32", "0", whole("s32"))))
    rules = Rules(graph, "exact")
    *beside, _ = positions(rules, goal)
    assert len(beside) == owed
    for left in beside:
        with pytest.raises(Denied):
            same(rules, left)


def of_four(*lines: str) -> str:
    """An entry over the four integers p, and their sum by `f`."""
    return module("add", "s32", "0", *lines).replace("s32[12]", "s32[4]")


ONE_MORE = (
    "a = s32[] reduce(p, z), dimensions={0}, to_apply=f",
    "s = s32[1] slice(p), slice={[1:2]}",
    "t = s32[] reshape(s)",
    "ROOT r = s32[] add(a, t)",
)


def added(*parts: str) -> tuple[str, ...]:
    """The sum of p and of what stands beside its elements: `one` is the second element, alone or three times."""
    return (
        "s = s32[1] slice(p), slice={[1:2]}",
        "one = s32[1] copy(s)",
        "none = s32[1] constant({0})",
        "t = s32[] reshape(s)",
        "three = s32[3] broadcast(t), dimensions={}",
        "two = s32[2] constant({0, 0})",
        f"c = s32[4] concatenate({', '.join(parts)}), dimensions={{0}}",
        "m = s32[4] add(p, c)",
        "ROOT r = s32[] reduce(m, z), dimensions={0}, to_apply=f",
    )


WINDOWS = (
    "w = s32[3] reduce-window(p, z), window={size=2}, to_apply=f",
    "ROOT r = s32[] reduce(w, z), dimensions={0}, to_apply=f",
)


def with_middle(*middle: str) -> tuple[str, ...]:
    return ("s = s32[3] slice(p), slice={[0:3]}", *middle, "ROOT r = s32[] reduce(c, z), dimensions={0}, to_apply=f")


COUNTED: list[tuple[tuple[str, ...], tuple[str, ...], set[str]]] = [
    (ONE_MORE, added("none", "one", "two"), {"proved", "unknown"}),
    (ONE_MORE, added("none", "three"), {"refuted", "unknown"}),
    (ONE_MORE, added("three", "none"), {"refuted", "unknown"}),
    # Windows that overlap count the elements in the middle twice.
    (
        WINDOWS,
        with_middle(
            "t = s32[2] slice(p), slice={[1:3]}",
            "u = s32[1] slice(p), slice={[3:4]}",
            "c = s32[6] concatenate(s, t, u), dimensions={0}",
        ),
        {"proved", "unknown"},
    ),
    (
        WINDOWS,
        with_middle("t = s32[1] slice(p), slice={[1:2]}", "c = s32[4] concatenate(s, t), dimensions={0}"),
        {"refuted", "unknown"},
    ),
]


@pytest.mark.parametrize(("one", "other", "verdicts"), COUNTED)
def test_each_element_counts_as_often_as_it_is_added(
    one: tuple[str, ...], other: tuple[str, ...], verdicts: set[str]
) -> None:
    before, after = (parse_module(of_four(*lines)) for lines in (one, other))
    for x, y in ((before, after), (after, before)):
        assert decide(x, y, "exact").verdict in verdicts
