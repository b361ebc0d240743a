"""The order of effects through calls, tuples, branches and loops: what was demanded cannot be left out in two steps."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Final

import pytest

from hloproof.equivalence.decide import decide
from hloproof.models.hlo.parser import parse_module

_GIVEN: Final = "  p0 = f32[] parameter(0)\n  p1 = f32[] parameter(1)\n  t = token[] after-all()\n"
_OUT: Final = "token[] outfeed({}, t), outfeed_shape=f32[]"
_FIRST: Final = f"a = {_OUT.format('p0')}"
_WAITS: Final = ", control-predecessors={{{}}}"


def _module(second: str, *lines: str, before: str = "") -> str:
    """A module whose second outfeed is of q."""
    body = "".join(f"  {line}\n" for line in (*lines, f"b = {_OUT.format('q')}{second}"))
    return f"HloModule m\n{before}ENTRY e {{\n{_GIVEN}{body}  ROOT r = f32[] negate(p0)\n}}\n"


def _after(name: str) -> str:
    return _WAITS.format(name)


def _function(root: str) -> str:
    return f"f {{\n{_GIVEN}  {_FIRST}\n  ROOT {root}\n}}\n"


_STARTED: Final = "s = ((f32[], f32[]), f32[], u32[]) async-start(p0, p1), calls=f"
_PAIR: Final = "(token[], f32[])"
_BESIDE: Final = _function("q = f32[] copy(p1)")

_HANDS_BACK: Final = "h {\n  p0 = f32[] parameter(0)\n  p1 = f32[] parameter(1)\n  ROOT q = f32[] copy(p1)\n}\n"


def _given_what_waits(used: str) -> str:
    """The second outfeed stands in a function of what waits for the first, and of what does not."""
    function = (
        "g {\n  w = f32[] parameter(0)\n  x = f32[] parameter(1)\n  t = token[] after-all()\n"
        f"  q = f32[] copy({used})\n  ROOT b = {_OUT.format('q')}\n}}\n"
    )
    lines = (_FIRST, "w = f32[] copy(p1), control-predecessors={a}", "c = token[] call(w, p1), to_apply=g")
    body = "".join(f"  {line}\n" for line in lines)
    return f"HloModule m\n{function}ENTRY e {{\n{_GIVEN}{body}  ROOT r = f32[] negate(p0)\n}}\n"


ONE_AFTER_THE_OTHER: Final = {
    "in line": (_module(_after("a"), _FIRST, "q = f32[] copy(p1)"), True),
    "in line, in no order": (_module("", _FIRST, "q = f32[] copy(p1)"), False),
    "behind what waits": (_module("", _FIRST, "q = f32[] copy(p1)" + _after("a")), True),
    "by a call": (_module(_after("q"), "q = f32[] call(p0, p1), to_apply=f", before=_BESIDE), True),
    "by a call, in no order": (_module("", "q = f32[] call(p0, p1), to_apply=f", before=_BESIDE), False),
    "by a call that waits inside": (
        _module("", "q = f32[] call(p0, p1), to_apply=f", before=_function("q = f32[] copy(p1)" + _after("a"))),
        True,
    ),
    "by another part of a call": (
        _module(
            "",
            f"c = {_PAIR} call(p0, p1), to_apply=f",
            "q = f32[] get-tuple-element(c), index=1",
            before=_function(f"r = {_PAIR} tuple(a, p1)"),
        ),
        False,
    ),
    "in flight": (_module(_after("q"), _STARTED, "q = f32[] async-done(s)", before=_BESIDE), True),
    "in flight, in no order": (_module("", _STARTED, "q = f32[] async-done(s)", before=_BESIDE), False),
    "in flight, behind the start alone": (
        _module(_after("s"), _STARTED, "q = f32[] async-done(s)", before=_BESIDE),
        False,
    ),
    "in flight, over an update": (
        _module(
            _after("q"),
            _STARTED,
            "u = ((f32[], f32[]), f32[], u32[]) async-update(s), calls=f",
            "q = f32[] async-done(u)",
            before=_BESIDE,
        ),
        True,
    ),
    "in a call that is given what waits, and uses it": (_given_what_waits("w"), True),
    "in a call that is given what waits, and does not use it": (_given_what_waits("x"), False),
    "in one tuple": (
        _module("", _FIRST, f"k = {_PAIR} tuple(a, p1)", "q = f32[] get-tuple-element(k), index=1"),
        False,
    ),
    "in one tuple that is waited for": (
        _module(_after("k"), _FIRST, f"k = {_PAIR} tuple(a, p1)", "q = f32[] get-tuple-element(k), index=1"),
        True,
    ),
    "behind a barrier": (
        _module(
            "",
            _FIRST,
            f"k = {_PAIR} tuple(a, p1)",
            f"g = {_PAIR} opt-barrier(k)",
            "q = f32[] get-tuple-element(g), index=1",
        ),
        False,
    ),
    "by add-dependency": (_module("", _FIRST, "q = f32[] add-dependency(p1, a)"), True),
    "behind a call that waits": (
        _module("", _FIRST, "q = f32[] call(p0, p1), to_apply=h" + _after("a"), before=_HANDS_BACK),
        True,
    ),
    "behind a done that waits": (
        _module("", _FIRST, _STARTED.replace("=f", "=h"), "q = f32[] async-done(s)" + _after("a"), before=_HANDS_BACK),
        True,
    ),
}
"""Two outfeeds, and whether the second waits for the first."""


@pytest.mark.parametrize("before", ONE_AFTER_THE_OTHER)
def test_an_order_that_was_demanded_is_kept_however_it_is_written(before: str) -> None:
    first, waits = ONE_AFTER_THE_OTHER[before]
    for name, (second, still_waits) in ONE_AFTER_THE_OTHER.items():
        found = decide(parse_module(first), parse_module(second), "exact", 5.0).verdict
        assert found == ("proved" if still_waits or not waits else "unknown"), name


def _drawn(first: str, second: str, root: str) -> str:
    """Two random numbers below q, whose lower bounds all are p, written in several ways."""
    ways = {"plain": "copy(p)", "once": "multiply(p, one)", "more": "add(p, nought)"}
    lines = [
        "p = s32[] parameter(0)",
        "q = s32[] parameter(1)",
        "one = s32[] constant(1)",
        "nought = s32[] constant(0)",
        *(f"{name} = s32[] {way}" for name, way in ways.items()),
        f"a = s32[] rng({first}, q), distribution=rng_uniform",
        f"b = s32[] rng({second}, q), distribution=rng_uniform",
        f"ROOT r = s32[] negate({root})",
    ]
    return "HloModule m\nENTRY e {\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


def test_the_second_number_drawn_is_not_the_first() -> None:
    """Where one module draws what the other draws elsewhere, equal bounds do not make the two draws one."""
    before = parse_module(_drawn("once", "plain", "b"))
    for first, second, root, verdict in (
        ("plain", "more", "a", "unknown"),
        ("plain", "once", "a", "unknown"),
        ("once", "plain", "a", "unknown"),
        ("once", "plain", "b", "proved"),
    ):
        found = decide(before, parse_module(_drawn(first, second, root)), "exact", 5.0).verdict
        assert found in (verdict, "refuted" if verdict == "unknown" else verdict), (first, second, root)


def _branch(name: str, part: str) -> str:
    return f"{name} {{\n  p0 = f32[] parameter(0)\n  t = token[] after-all()\n  {_FIRST}\n  {part}\n}}\n"


_BRANCHES: Final = "c = (token[], f32[]) conditional(w, p0, p0), true_computation=y, false_computation=n"


def _chosen(second: str, q: str, other: str = "p0") -> str:
    both = _branch("y", "ROOT k = (token[], f32[]) tuple(a, p0)") + _branch(
        "n", f"m = f32[] negate(p0)\n  ROOT k = (token[], f32[]) tuple(a, {other})"
    )
    return _module(second, "w = pred[] compare(p0, p1), direction=LT", _BRANCHES, q, before=both)


CHOSEN: Final = {
    "waited for": (_chosen(_after("c"), "q = f32[] copy(p0)"), True),
    "not waited for": (_chosen("", "q = f32[] copy(p0)"), False),
    "a part that no branch changes": (_chosen("", "q = f32[] get-tuple-element(c), index=1"), False),
}


@pytest.mark.parametrize(("before", "after"), [*product(CHOSEN, CHOSEN)])
def test_what_all_branches_hand_back_waits_for_none(before: str, after: str) -> None:
    (first, waits), (second, still) = CHOSEN[before], CHOSEN[after]
    found = decide(parse_module(first), parse_module(second), "exact", 5.0).verdict
    assert found == ("proved" if still or not waits else "unknown")


_COUNT: Final = "(s32[], f32[], token[])"
_TURNS: Final = (
    f"body {{\n  s = {_COUNT} parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n  one = s32[] constant(1)\n"
    "  j = s32[] add(i, one)\n  x = f32[] get-tuple-element(s), index=1\n  n = f32[] negate(x)\n"
    f"  u = token[] get-tuple-element(s), index=2\n  ROOT o = {_COUNT} tuple(j, n, u)\n}}\n"
    f"cond {{\n  s = {_COUNT} parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n  k = s32[] constant(3)\n"
    "  ROOT l = pred[] compare(i, k), direction=LT\n}\n"
)
_LOOP: Final = (
    _FIRST,
    "z = s32[] constant(0)",
    f"v = {_COUNT} tuple(z, p1, a)",
    f"l = {_COUNT} while(v), condition=cond, body=body",
    "q = f32[] get-tuple-element(l), index=1",
)


def test_a_part_of_a_loops_state_waits_for_what_it_is_made_from() -> None:
    waits, free = (_module(second, *_LOOP, before=_TURNS) for second in (_after("a"), ""))
    for before, after, verdict in ((waits, free, "unknown"), (free, waits, "proved"), (waits, waits, "proved")):
        assert decide(parse_module(before), parse_module(after), "exact", 5.0).verdict == verdict


def _selected(edge: str) -> str:
    branches = "".join(f"{n} {{\n  p = f32[] parameter(0)\n  ROOT k = f32[] {n}(p)\n}}\n" for n in ("negate", "abs"))
    return _module(
        "",
        _FIRST,
        "w = pred[] compare(p0, p1), direction=LT" + edge,
        "q = f32[] conditional(w, p0, p0), true_computation=negate, false_computation=abs",
        before=branches,
    )


def _added_up(edge: str) -> str:
    """A loop that adds one part of its state to the other, and gives the sum to the second outfeed."""
    state = "(s32[], f32[], f32[])"
    turns = _TURNS.replace(_COUNT, state).replace("u = token[]", "u = f32[]").replace("negate(x)", "add(x, u)")
    lines = turns.split("\n")
    n = next(k for k, line in enumerate(lines) if " n = " in line)
    lines[n], lines[n + 1] = lines[n + 1], lines[n]
    return _module(
        "",
        _FIRST,
        "z = s32[] constant(0)",
        "y = f32[] copy(p1)" + edge,
        f"v = {state} tuple(z, p0, y)",
        f"l = {state} while(v), condition=cond, body=body",
        "q = f32[] get-tuple-element(l), index=1",
        before="\n".join(lines),
    )


def _held_up(edge: str) -> str:
    """The sum leaves that part out, and waits for it in each turn."""
    return _added_up(edge).replace("add(x, u)", "add(x, x), control-predecessors={u}")


def _counted_to(edge: str) -> str:
    """Only the condition reads that part."""
    return (
        _added_up(edge)
        .replace("add(x, u)", "add(x, x)")
        .replace(
            "ROOT l = pred[] compare(i, k), direction=LT",
            "u = f32[] get-tuple-element(s), index=2\n  v = s32[] convert(u)\n"
            "  ROOT l = pred[] compare(i, v), direction=LT",
        )
    )


def _held_up_by_all(edge: str) -> str:
    return _added_up(edge).replace("add(x, u)", "add(x, x), control-predecessors={s}")


def _turn_after_turn(edge: str) -> str:
    """What waits comes to the sum in the third turn."""
    state, more = "(s32[], f32[], f32[])", "(s32[], f32[], f32[], f32[], f32[])"
    parts = (
        "  c = f32[] get-tuple-element(s), index=3\n  d = f32[] get-tuple-element(s), index=4\n  n = f32[] add(x, u)"
    )
    text = _added_up(edge).replace(state, more).replace("  n = f32[] add(x, u)", parts)
    return text.replace("tuple(j, n, u)", "tuple(j, n, c, d, d)").replace("tuple(z, p0, y)", "tuple(z, p0, p0, p0, y)")


@pytest.mark.parametrize("written", [_selected, _added_up, _held_up, _held_up_by_all, _counted_to, _turn_after_turn])
def test_what_is_chosen_or_added_up_waits_for_all_that_it_is_made_from(written: Callable[[str], str]) -> None:
    waits, free = written(_after("a")), written("")
    for before, after, verdict in ((waits, free, "unknown"), (free, waits, "proved"), (waits, waits, "proved")):
        assert decide(parse_module(before), parse_module(after), "exact", 5.0).verdict == verdict


def test_a_control_edge_in_a_turn_demands_what_the_state_waits_for() -> None:
    """The state holds the token of the first outfeed, which alone demands nothing."""
    lines = _TURNS.split("\n")
    n = next(k for k, line in enumerate(lines) if " n = " in line)
    lines[n], lines[n + 1] = lines[n + 1], lines[n]
    free = "\n".join(lines)
    waits = free.replace("negate(x)", "negate(x), control-predecessors={u}")
    for before, after, verdict in ((waits, free, "unknown"), (free, waits, "proved"), (waits, waits, "proved")):
        one, two = (parse_module(_module("", *_LOOP, before=turns)) for turns in (before, after))
        assert decide(one, two, "exact", 5.0).verdict == verdict


def test_what_no_turn_changes_does_not_wait_for_the_condition() -> None:
    """The loop may be left out for it, so that nothing would keep the order."""
    handed_on = (
        _counted_to(_after("a"))
        .replace("tuple(z, p0, y)", "tuple(z, p1, y)")
        .replace("tuple(j, n, u)", "tuple(j, x, u)")
    )
    in_line = _module(_after("a"), _FIRST, "q = f32[] copy(p1)")
    assert decide(parse_module(in_line), parse_module(handed_on), "exact", 5.0).verdict == "unknown"
    assert decide(parse_module(handed_on), parse_module(in_line), "exact", 5.0).verdict == "proved"


@pytest.mark.parametrize(("before", "after"), [(True, False), (False, True), (True, True), (False, False)])
def test_the_order_of_a_schedule_is_that_of_the_module_after(before: bool, after: bool) -> None:
    """A schedule runs one line behind the other; where there is none only what is written holds an order."""
    one = (
        "HloModule m\nENTRY e {\n p = f32[] parameter(0)\n q = f32[] parameter(1)\n t = token[] after-all()\n"
        " a = token[] outfeed(p, t), outfeed_shape=f32[]\n b = token[] outfeed(q, t), outfeed_shape=f32[]WAITS\n"
        " ROOT r = f32[] negate(p)\n}\n"
    )

    def written(scheduled: bool, waits: bool) -> str:
        text = one.replace("WAITS", ", control-predecessors={a}" if waits else "")
        return text.replace("HloModule m", "HloModule m, is_scheduled=true") if scheduled else text

    found = decide(parse_module(written(before, True)), parse_module(written(after, False)), "exact", 5.0)
    assert found.verdict == ("proved" if after else "unknown"), found


@pytest.mark.parametrize("more", ["before", "after"])
def test_an_effect_that_comes_or_goes_is_not_proved(more: str) -> None:
    def sent(times: int) -> str:
        sends = "".join(f" a{n} = token[] outfeed(p, t), outfeed_shape=f32[]\n" for n in range(times))
        return (
            f"HloModule m\nENTRY e {{\n p = f32[] parameter(0)\n t = token[] after-all()\n{sends}"
            " ROOT r = f32[] negate(p)\n}\n"
        )

    one, two = (parse_module(sent(n)) for n in (1, 2))
    found = decide(two, one, "exact", 5.0) if more == "before" else decide(one, two, "exact", 5.0)
    assert found.verdict == "unknown" and "effects" in found.reason


@pytest.mark.parametrize(
    ("after", "verdict"), [("a", "unknown"), ("b", "unknown"), ("a, b", "proved"), ("b, a", "proved")]
)
def test_each_of_two_control_edges_is_kept(after: str, verdict: str) -> None:
    def text(waits_for: str) -> str:
        lines = [f"{n} = f32[2] parameter({k})" for k, n in enumerate("xyz")]
        lines += [f"{t} = token[] after-all()" for t in "uvw"]
        lines += [f"{o} = token[] outfeed({x}, {t}), outfeed_shape=f32[2]" for o, x, t in ("axu", "byv")]
        lines += [f"c = token[] outfeed(z, w), outfeed_shape=f32[2], control-predecessors={{{waits_for}}}"]
        return (
            "HloModule m\n\nENTRY e {\n"
            + "".join(f"  {line}\n" for line in (*lines, "ROOT r = f32[2] copy(x)"))
            + "}\n"
        )

    assert decide(parse_module(text("a, b")), parse_module(text(after)), "exact", 5.0).verdict == verdict
