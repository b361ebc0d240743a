"""What a callee writes in place and does not hand back is seen by its caller, as it is once the call is inlined."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pytest

from hloproof.pipeline.driver import check_hlo
from hloproof.pipeline.options import Options

_SPOIL: Final = (
    "f {\n x = f32[8] parameter(0)\n z = s32[] constant(0)\n o = f32[2] constant({1,2})\n"
    " w = f32[8] dynamic-update-slice(x, o, z)\n ROOT r = f32[4] slice(w), slice={[0:4]}\n}\n"
)
"""Overwrites the beginning of its argument and returns something else."""
_LOOK: Final = "g {\n x = f32[8] parameter(0)\n ROOT r = f32[4] slice(x), slice={[0:4]}\n}\n"
"""The same shapes, and nothing is written."""
_COUNT: Final = "(s32[], f32[8])"
_TAKEN: Final = (
    f"h {{\n t = {_COUNT} parameter(0)\n k = s32[] get-tuple-element(t), index=0\n"
    " n = s32[] constant(3)\n x = f32[8] get-tuple-element(t), index=1\n"
)


def _module(body: str, before: str = "", scheduled: bool = True) -> str:
    header = ", is_scheduled=true" if scheduled else ""
    return f"HloModule m{header}\n{_SPOIL}{_LOOK}{before}ENTRY e {{\n p = f32[8] parameter(0)\n{body}}}\n"


def _then_read(step: str) -> str:
    return _module(f" c = f32[8] copy(p)\n {step}\n n = f32[8] negate(c)\n ROOT t = (f32[4], f32[8]) tuple(y, n)\n")


def _branch(first: str, second: str) -> str:
    given = " q = pred[] parameter(1)\n c = f32[8] copy(p)\n"
    step = f" y = f32[4] conditional(q, c, c), true_computation={first}, false_computation={second}\n"
    return _module(f"{given}{step} n = f32[8] negate(c)\n ROOT t = (f32[4], f32[8]) tuple(y, n)\n")


def _loop(test: str, turn: str, after: str = "") -> str:
    """A loop over a counter and a copy of p."""
    before = (
        f"{_TAKEN}{test} ROOT l = pred[] compare(k, n), direction=LT\n}}\n"
        f"b {{\n t = {_COUNT} parameter(0)\n k = s32[] get-tuple-element(t), index=0\n"
        f" x = f32[8] get-tuple-element(t), index=1\n one = s32[] constant(1)\n j = s32[] add(k, one)\n{turn}}}\n"
    )
    main = (
        f" c = f32[8] copy(p)\n z = s32[] constant(0)\n i = s32[] copy(z)\n t = {_COUNT} tuple(i, c)\n"
        f" w = {_COUNT} while(t), condition=h, body=b\n{after} ROOT r = f32[8] get-tuple-element(w), index=1\n"
    )
    return _module(main, before)


_WRITE: Final = (
    " a = s32[] constant(0)\n o = f32[2] constant({1,2})\n w = f32[8] dynamic-update-slice(x, o, a)\n"
    " m = f32[8] negate(w)\n"
)
_READ: Final = " m = f32[8] negate(x)\n"
_HAND_ON: Final = f" ROOT u = {_COUNT} tuple(j, x)\n"


def _twice(body: str) -> str:
    """A computation that is given one buffer for both arguments, beside a call with two."""
    callee = f"k {{\n x = f32[8] parameter(0)\n y = f32[8] parameter(1)\n z = s32[] constant(0)\n{body}}}\n"
    main = (
        " c = f32[8] copy(p)\n d = f32[8] copy(p)\n s = f32[8] copy(p)\n v = f32[8] call(c, d), to_apply=k\n"
        " ROOT r = (f32[8], f32[8]) tuple(v, u)\n"
    )
    return _module(main.replace(" ROOT", " u = f32[8] call(s, s), to_apply=k\n ROOT"), callee)


_PAIR: Final = "(s32[], f32[8], f32[8])"


def _two_parts(first: str, second: str) -> str:
    """A loop that adds the second part of its state to the first."""
    taken = (
        f" t = {_PAIR} parameter(0)\n k = s32[] get-tuple-element(t), index=0\n"
        " x = f32[8] get-tuple-element(t), index=1\n y = f32[8] get-tuple-element(t), index=2\n"
    )
    before = (
        f"h {{\n{taken} n = s32[] constant(3)\n ROOT l = pred[] compare(k, n), direction=LT\n}}\n"
        f"b {{\n{taken} one = s32[] constant(1)\n j = s32[] add(k, one)\n v = f32[8] add(x, y)\n"
        f" ROOT u = {_PAIR} tuple(j, v, y)\n}}\n"
    )
    main = (
        " c = f32[8] copy(p)\n d = f32[8] copy(p)\n z = s32[] constant(0)\n i = s32[] copy(z)\n"
        f" t = {_PAIR} tuple(i, {first}, {second})\n w = {_PAIR} while(t), condition=h, body=b\n"
        " ROOT r = f32[8] get-tuple-element(w), index=1\n"
    )
    return _module(main, before)


_LATE: Final = (
    " o = f32[2] constant({1,2})\n w = f32[8] dynamic-update-slice(x, o, z)\n n = f32[8] negate(y)\n"
    " ROOT a = f32[8] add(w, n)\n"
)
_EARLY: Final = (
    " o = f32[2] constant({1,2})\n n = f32[8] negate(y)\n w = f32[8] dynamic-update-slice(x, o, z)\n"
    " ROOT a = f32[8] add(w, n)\n"
)

_AHEAD: Final = "copy-start(c)\n d = f32[8] copy-done(s)\n"


def _in_flight(callee: str) -> str:
    state = "(f32[8], f32[8], u32[])"
    return _module(
        f" c = f32[8] copy(p)\n s = {state} copy-start(c)\n y = f32[4] call(c), to_apply={callee}\n"
        " d = f32[8] copy-done(s)\n ROOT t = (f32[4], f32[8]) tuple(y, d)\n"
    )


def _started(callee: str) -> str:
    state = "((f32[8]), f32[4], u32[])"
    return _module(
        f" c = f32[8] copy(p)\n s = {state} call-start(c), to_apply={callee}\n n = f32[8] negate(c)\n"
        " y = f32[4] call-done(s)\n ROOT t = (f32[4], f32[8]) tuple(y, n)\n"
    )


PAIRS: Final[Mapping[str, tuple[str, str, str]]] = {
    "a call": (
        "hazard-overwrite",
        _then_read("y = f32[4] call(c), to_apply=f"),
        _then_read("y = f32[4] call(c), to_apply=g"),
    ),
    "a branch": ("hazard-overwrite", _branch("g", "f"), _branch("g", "g")),
    "a loop's condition": ("hazard-overwrite", _loop(_WRITE, _HAND_ON), _loop(_READ, _HAND_ON)),
    "a call in a call": (
        "hazard-overwrite",
        _then_read("y = f32[4] call(c), to_apply=k").replace(
            "ENTRY", "k {\n x = f32[8] parameter(0)\n ROOT r = f32[4] call(x), to_apply=f\n}\nENTRY"
        ),
        _then_read("y = f32[4] call(c), to_apply=k").replace(
            "ENTRY", "k {\n x = f32[8] parameter(0)\n ROOT r = f32[4] call(x), to_apply=g\n}\nENTRY"
        ),
    ),
    "a call while a copy of its argument is in flight": ("hazard-operand", _in_flight("f"), _in_flight("g")),
    "a call in flight while its argument is read": ("hazard-overwrite", _started("f"), _started("g")),
    "one buffer for two parts of a loop's state": ("hazard-overwrite", _two_parts("c", "c"), _two_parts("c", "d")),
    "one buffer for two arguments, read after it is written": ("hazard-overwrite", _twice(_LATE), _twice(_EARLY)),
}


def _refuted(text: str) -> set[str]:
    records = list(check_hlo(text, Options(jobs=1)).records())
    assert {r.verdict for r in records} <= {"proved", "refuted", "unknown"}
    return {r.claim for r in records if r.verdict == "refuted"}


@pytest.mark.parametrize(("claim", "broken", "kept"), PAIRS.values(), ids=PAIRS)
def test_a_write_that_is_not_handed_back_is_seen(claim: str, broken: str, kept: str) -> None:
    assert claim in _refuted(broken)
    assert _refuted(kept) == set()


def test_without_a_schedule_a_copy_is_asked_for_instead() -> None:
    text = _then_read("y = f32[4] call(c), to_apply=f").replace(", is_scheduled=true", "")
    assert _refuted(text) == set()


_SWAPPED: Final = """HloModule m, is_scheduled=true
cond {
  q = (s32[], f32[4], f32[4], f32[4]) parameter(0)
  k = s32[] get-tuple-element(q), index=0
  three = s32[] constant(3)
  ROOT lt = pred[] compare(k, three), direction=LT
}
body {
  q = (s32[], f32[4], f32[4], f32[4]) parameter(0)
  k = s32[] get-tuple-element(q), index=0
  one = s32[] constant(1)
  n = s32[] add(k, one)
  a = f32[4] get-tuple-element(q), index=1
  b = f32[4] get-tuple-element(q), index=2
  c = f32[4] get-tuple-element(q), index=3
  ROOT t = (s32[], f32[4], f32[4], f32[4]) tuple(n, TURN)
}
ENTRY e {
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  zero = s32[] constant(0)
  i = s32[] copy(zero)
  t = (s32[], f32[4], f32[4], f32[4]) tuple(i, FIRST)
  w = (s32[], f32[4], f32[4], f32[4]) while(t), condition=cond, body=body
  a = f32[4] get-tuple-element(w), index=1
  ROOT r = f32[4] add(a, x)
}
"""


@pytest.mark.parametrize(
    ("first", "turn", "holds"),
    [
        ("x, x, y", "b, a, c", True),
        ("x, x, y", "b, b, c", True),
        ("x, x, x", "b, c, a", True),
        ("x, y, y", "b, a, c", False),
        ("x, x, y", "b, c, c", False),
    ],
)
def test_parts_of_a_loops_state_that_hold_one_value_are_one_buffer(first: str, turn: str, holds: bool) -> None:
    text = _SWAPPED.replace("FIRST", first).replace("TURN", turn)
    assert ("hazard-overwrite" in _refuted(text)) != holds


_STATE: Final = "(s32[], f32[4], f32[4])"
_ROUNDS: Final = """HloModule m, is_scheduled=true
g {
  a = f32[4] parameter(0)
  ROOT n = f32[4] negate(a)
}
two {
  a = f32[4] parameter(0)
  n = f32[4] negate(a)
  ROOT t = (f32[4], f32[4]) tuple(n, n)
}
cond {
  t = STATE parameter(0)
  k = s32[] get-tuple-element(t), index=0
  n = s32[] constant(3)
  ROOT l = pred[] compare(k, n), direction=LT
}
body {
  t = STATE parameter(0)
  k = s32[] get-tuple-element(t), index=0
  a = f32[4] get-tuple-element(t), index=1
  b = f32[4] get-tuple-element(t), index=2
  one = s32[] constant(1)
  j = s32[] add(k, one)
  v = f32[4] add(a, b)
  w = f32[4] multiply(v, v)
  ROOT u = STATE tuple(j, TURN)
}
ENTRY e {
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  zero = s32[] constant(0)
  i = s32[] copy(zero)
  FIRST
  t = STATE tuple(i, p, q)
  l = STATE while(t), condition=cond, body=body
  r1 = f32[4] get-tuple-element(l), index=1
  r2 = f32[4] get-tuple-element(l), index=2
  ROOT r = f32[4] add(r1, r2)
}
""".replace("STATE", _STATE)
_COPIED: Final = "p = f32[4] copy(x)\n  q = f32[4] bitcast(p)"
_CALLED: Final = "p = f32[4] call(x), to_apply=g\n  q = f32[4] call(%s), to_apply=g"
_BOTH: Final = (
    "c = (f32[4], f32[4]) call(x), to_apply=two\n  d = (f32[4], f32[4]) call(y), to_apply=two\n"
    "  p = f32[4] get-tuple-element(c), index=0\n  q = f32[4] get-tuple-element(%s), index=%s"
)


@pytest.mark.parametrize(
    ("first", "turn", "holds"),
    [
        # One value at first, and one after every turn, though not the same.
        (_COPIED, "v, v", True),
        (_COPIED, "w, w", True),
        (_COPIED, "b, a", True),
        (_COPIED, "v, b", False),
        (_COPIED, "v, w", False),
        ("p = f32[4] copy(x)\n  q = f32[4] copy(y)", "a, b", True),
        ("p = f32[4] copy(x)\n  q = f32[4] copy(y)", "b, a", False),
        # What two calls return are two values, though one instruction makes them.
        (_CALLED % "y", "a, b", True),
        (_CALLED % "y", "b, a", False),
        (_CALLED % "x", "b, a", False),
        (_CALLED % "y", "v, v", False),
        (_BOTH % ("d", 0), "b, a", False),
    ],
)
def test_a_loops_state_whose_parts_are_always_one_value(first: str, turn: str, holds: bool) -> None:
    text = _ROUNDS.replace("FIRST", first).replace("TURN", turn)
    assert ("hazard-overwrite" in _refuted(text)) != holds


def test_what_a_condition_overwrites_is_needed_by_the_body_alone() -> None:
    """Nobody looks at the part of the state behind the loop."""

    def counted(test: str) -> str:
        text = _loop(test, f" m = f32[8] negate(x)\n ROOT u = {_COUNT} tuple(j, m)\n")
        return text.replace("f32[8] get-tuple-element(w), index=1", "s32[] get-tuple-element(w), index=0")

    assert "hazard-overwrite" in _refuted(counted(_WRITE))
    assert _refuted(counted(_READ)) == set()


@pytest.mark.parametrize("read", "cd")
def test_what_branches_hand_back_lies_where_it_lay(read: str) -> None:
    """Nobody copies it: both arrays and the result have one buffer, so that the second array overwrites the first. With
    a copy in each branch they have three."""
    text = _module(
        " c = f32[8] copy(p)\n d = f32[8] copy(p)\n q = pred[] parameter(1)\n"
        " y = f32[8] conditional(q, c, d), true_computation=k, false_computation=k\n z = s32[] constant(0)\n"
        " o = f32[2] constant({1,2})\n w = f32[8] dynamic-update-slice(y, o, z)\n"
        f" n = f32[8] negate({read})\n ROOT r = f32[8] add(w, n)\n",
        "k {\n ROOT x = f32[8] parameter(0)\n}\n",
    )
    assert _refuted(text) == {"hazard-overwrite"}
    copied = text.replace("ROOT x = f32[8] parameter(0)", "x = f32[8] parameter(0)\n ROOT y = f32[8] copy(x)")
    assert _refuted(copied) == set()
