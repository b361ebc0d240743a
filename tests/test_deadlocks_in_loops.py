"""Devices that wait for one another for ever in loops: what turns begin, hand on and end. Each is decided by hand."""

from __future__ import annotations

from typing import Final

import pytest
from deadlock_modules import (
    ADDS,
    ASIDE,
    STATE,
    SUM,
    WORDS,
    computation_of,
    decided,
    exchanged,
    found_of,
    line_of,
    lines_of,
    module_of,
)

_GIVEN: Final = "number = s32[] parameter(1)"
_OWN: Final = "own = u32[] replica-id()\n  number = s32[] convert(own)"


def _loop(turns: str, inside: str, before: str = "", after: str = "", asked: str = "") -> str:
    """A loop of so many turns: a number, one that the program is given, one that every device has of its own, or no
    end."""
    state = "(s32[], f32[8], s32[])"
    less = "l = pred[] constant(true)" if turns == "endless" else "l = pred[] compare(k, m), direction=LT"
    tested = "".join(f"  {line}\n" for line in (line_of("const"), "t = token[] after-all()", *lines_of(asked)) if asked)
    body = (
        f"turn {{\n  st = {state} parameter(0)\n  k = s32[] get-tuple-element(st), index=0\n"
        "  p = f32[8] get-tuple-element(st), index=1\n  m = s32[] get-tuple-element(st), index=2\n"
        "  t = token[] after-all()\n"
        + "".join(f"  {line}\n" for line in lines_of(inside))
        + f"  one = s32[] constant(1)\n  j = s32[] add(k, one)\n  ROOT r = {state} tuple(j, p, m)\n}}\n"
        f"more {{\n  st = {state} parameter(0)\n  k = s32[] get-tuple-element(st), index=0\n"
        f"  m = s32[] get-tuple-element(st), index=2\n{tested}  ROOT {less}\n}}\n"
    )
    number = {"given": _GIVEN, "own": _OWN}.get(turns, f"number = s32[] constant({turns.replace('endless', '1')})")
    lines = [number, *lines_of(before), "zero = s32[] constant(0)", f"i = {state} tuple(zero, p, number)"]
    return module_of([*lines, f"w = {state} while(i), condition=more, body=turn", *lines_of(after)], body)


def _decided_by_turns(most: str) -> str:
    """A branch by how often another loop turns."""
    parts = (
        "  st = (s32[], u32[]) parameter(0)\n  k = s32[] get-tuple-element(st), index=0\n"
        "  most = u32[] get-tuple-element(st), index=1\n"
    )
    loop = (
        f"fewer {{\n{parts}  c = s32[] convert(most)\n  ROOT l = pred[] compare(k, c), direction=LT\n}}\n"
        f"next {{\n{parts}  one = s32[] constant(1)\n  j = s32[] add(k, one)\n"
        "  ROOT r = (s32[], u32[]) tuple(j, most)\n}\n"
    )
    lines = [
        f"most = u32[] {most}",
        "none = s32[] constant(0)",
        "i = (s32[], u32[]) tuple(none, most)",
        "w = (s32[], u32[]) while(i), condition=fewer, body=next",
        "turned = s32[] get-tuple-element(w), index=0",
        "q = pred[] compare(turned, one), direction=EQ",
    ]
    return decided(lines, loop)


def _turned_beside(said: str) -> str:
    text = _loop("1", "s1 S1", after="r1 R1")
    return text.replace("direction=LT", f"direction=LT{said}")


def _turned_sums(order: str) -> str:
    """A loop that carries a sum in flight: a turn begins the next one, and ends that of the turn before."""
    words = {
        "begin": "an = f32[8] all-reduce-start(p), replica_groups={}, to_apply=add",
        "end": "ad = f32[8] all-reduce-done(x)",
    }
    body = (
        "turn {\n  st = (s32[], f32[8]) parameter(0)\n  k = s32[] get-tuple-element(st), index=0\n"
        "  x = f32[8] get-tuple-element(st), index=1\n  t = token[] after-all()\n"
        "  p = f32[8] constant({1,2,3,4,5,6,7,8})\n"
        + "".join(f"  {words.get(w) or line_of(w)}\n" for w in order.split())
        + "  one = s32[] constant(1)\n  j = s32[] add(k, one)\n  ROOT r = (s32[], f32[8]) tuple(j, an)\n}\n"
        "more {\n  st = (s32[], f32[8]) parameter(0)\n  k = s32[] get-tuple-element(st), index=0\n"
        "  m = s32[] constant(3)\n  ROOT l = pred[] compare(k, m), direction=LT\n}\n"
    )
    lines = [
        line_of("sum-start"),
        "zero = s32[] constant(0)",
        "i = (s32[], f32[8]) tuple(zero, sums)",
        "w = (s32[], f32[8]) while(i), condition=more, body=turn",
        "xx = f32[8] get-tuple-element(w), index=1",
        "last = f32[8] all-reduce-done(xx)",
    ]
    return module_of(lines, body)


def _with(inside: str, text: str) -> str:
    """A computation that runs in flight, in a module that starts it."""
    aside = computation_of("aside", [*lines_of(inside), "q = f32[8] negate(p)"])
    return text.replace(SUM, f"{SUM}{aside}, {ASIDE}\n")


def _loop_in_flight(inside: str, before: str, after: str, run: str = "start done") -> str:
    """A loop that runs in flight between two orders, or is called, of as many turns as four numbers add up to."""
    turn, entry = _loop("given", inside).split("ENTRY e")
    lines = entry.split("\n")
    loop = "\n".join(lines[4:7])
    aside = (
        "aside {\n  p = f32[8] parameter(0)\n  four = s32[4] iota(), iota_dimension=0\n  none = s32[] constant(0)\n"
        "  number = s32[] reduce(four, none), dimensions={0}, to_apply=adds\n"
        f"{loop}\n  ROOT q = f32[8] negate(p)\n}}, {ASIDE}\n"
    )
    return module_of(lines_of(f"{before} {run} {after}"), ADDS + turn.split(SUM)[1] + aside)


def _two_loops(inside: str) -> str:
    """Two loops that the program counts alike, device 1 two turns behind."""
    text = _loop("given", inside, **_TWO_AHEAD)
    loop = next(line for line in text.split("\n") if " while(i)" in line)
    return text.replace(loop, f"{loop}\n{loop.replace('w =', 'w2 =')}")


def _four_devices(inside: str) -> str:
    """Each device is a turn behind the one before it, and the first is let three turns ahead of the last."""
    before, after = "s2a s2b s2c S2a S2b S2c r1a R1a", "s1z S1z r2x r2y r2z R2x R2y R2z"
    text = _loop("given", inside, before=before, after=after).replace("{{0,1}}", "{{0,1},{1,2},{2,3}}")
    return text.replace("{{1,0}}", "{{3,0}}").replace("replica_count=2", "replica_count=4")


_TWO_AHEAD: Final = {"before": "s2a s2b S2a S2b r1a r1b R1a R1b", "after": "s1y s1z S1y S1z r2y r2z R2y R2z"}
"""Device 1 is two turns behind device 0, which is let two turns ahead."""

CASES: Final = {
    **{
        f"a loop of {n} turns that sends, and one recv": (_loop(n, "s1 S1", after="r1 R1"), said)
        for n, said in (("0", "refuted"), ("1", "proved"), ("2", "refuted"), ("given", "unknown"))
    },
    "a loop of three turns that sends, and three recvs": (_loop("3", "s1 S1", after="r1 R1 r1b R1b r1c R1c"), "proved"),
    "a loop of one turn that sends what is waited for before it": (_loop("1", "s1 S1", before="r1 R1"), "proved"),
    "a loop of no turns that sends what is waited for": (_loop("0", "s1 S1", before="r1 R1"), "refuted"),
    "a loop that the program counts, with both": (_loop("given", "r1 s1 R1 S1"), "proved"),
    "a loop that each device counts, with both": (_loop("own", "r1 s1 R1 S1"), "unknown"),
    "a loop of no turns, that is asked once": (_loop("0", "", asked="s1 S1", after="r1 R1"), "proved"),
    "a loop that is asked once more than it turns": (_loop("given", "sum", "s1 S1", asked="r1 R1"), "unknown"),
    "a loop that receives what is sent before it": (_loop("given", "r1 R1", before="s1 S1"), "unknown"),
    # A loop of unknown turns is followed where all that was sent before it is received.
    **{
        f"a loop, with {open_} open across it": (_loop("given", "r2 s2 R2 S2", before=before, after=after), said)
        for open_, before, after, said in (
            ("a recv", "r1 s1", "R1 S1", "unknown"),
            ("a send", "r1 s1 R1", "S1", "proved"),
            ("what is sent", "s1 S1", "r1 R1", "unknown"),
            ("a sum", "r1 s1 R1 S1 sum-start", "sum-done", "unknown"),
            ("nothing", "r1 s1 R1 S1 sum-start sum-done", "", "proved"),
        )
    },
    # The form that compilers let pass: device 0 is said to leave a loop that has no end.
    "a loop without an end": (_loop("endless", "s1 S1 r2 R2", before="r1 R1", after="s2 S2"), "proved"),
    "a sum in a loop that each device counts": (_loop("own", "sum", after="r1 s1 R1 S1"), "unknown"),
    "a sum in a loop that the program counts": (_loop("given", "sum", after="r1 s1 R1 S1"), "proved"),
    # Two turns and four turns are different matters.
    **{
        f"{n} turns, device 1 two turns behind": (_loop(n, "r2 R2 s1 S1 r1 R1 s2 S2", **_TWO_AHEAD), said)
        for n, said in (("2", "proved"), ("3", "refuted"), ("given", "unknown"))
    },
    # The second send lies behind the recv of the first turn, and who sends to that recv meets the others before.
    **{
        f"a send of a second turn behind a recv, {met}": (
            _loop("2", "s1 S1 r2", after="s2 S2 s2b S2b r1 R1 r1b R1b", asked=asked),
            said,
        )
        for met, asked, said in (("all meet at each turn", "sum", "unknown"), ("nobody meets", "", "proved"))
    },
    "a loop in flight": (_loop_in_flight("r1 s1 R1 S1", "", ""), "unknown"),
    "a loop that is called": (_loop_in_flight("r1 s1 R1 S1", "", "", run="call-aside"), "proved"),
    "a loop that is called, device 1 two turns behind": (
        _loop_in_flight("s1 S1 r2 R2 r1 R1 s2 S2", run="call-aside call-aside-again", **_TWO_AHEAD),
        "unknown",
    ),
    "a loop that leaves its recvs open": (_loop("given", "s1 S1 r1"), "unknown"),
    "two loops, device 1 two turns behind": (_two_loops("s1 S1 r2 R2 r1 R1 s2 S2"), "unknown"),
    "four devices, each a turn behind another": (_four_devices("r2 R2 r1 R1 s1 S1 s2 S2"), "unknown"),
    "a loop that sends, and one send too many": (_loop("given", "s1 S1", "r1", "s1z S1z R1"), "unknown"),
    **{
        f"{n} turns, in which all wait first": (_loop(n, "r1 r2 R1 R2 s1 s2 S1 S2"), said)
        for n, said in (("1", "refuted"), ("given", "unknown"))
    },
    "a turn that waits for what comes later, a sum before each turn": (
        _loop("1", "r1 R1", after="s1 S1", asked="sum"),
        "refuted",
    ),
    "a turn that waits for what comes later": (_loop("1", "r1 R1", after="s1 S1"), "proved"),
    **{
        f"two turns with {words} that wait for what comes later": (
            _loop("2", f"{words} r1 R1", after="s1 S1 s1b S1b"),
            said,
        )
        for words, said in (("sum", "refuted"), ("sum-start sum-done", "refuted"), ("sum-alone", "proved"))
    },
    "a loop behind a flight with the same transfers": (
        _with("r1", _loop("given", "r1 s1 R1 S1", before="s1a start done S1a")),
        "proved",
    ),
    "a loop that the program counts sends, and two recvs": (_loop("given", "s1 S1", after="r1 R1 r1b R1b"), "unknown"),
    "a branch by the turns of a loop that each device counts": (_decided_by_turns("replica-id()"), "unknown"),
    "a branch by the turns of a loop that the program counts": (_decided_by_turns("parameter(1)"), "proved"),
    "a turn that ends the sum before": (_turned_sums("end r1 s1 S1 R1 begin"), "proved"),
    "a turn that receives what it sends later, around a sum": (_turned_sums("r1 R1 begin end s1 S1"), "unknown"),
    "a turn that receives what it sends later, behind a sum": (_turned_sums("begin r1 R1 end s1 S1"), "proved"),
    "a loop whose recv waits for the next turn": (
        _loop("given", "r1 s1 R1 sum S1", before="r1a", after="s1z S1z R1a"),
        "unknown",
    ),
    **{
        f"turns that are counted{' and say more' if said else ''}": (_turned_beside(said), verdict)
        for said, verdict in (("", "proved"), (', backend_config={"own":"1"}', "unknown"))
    },
}


@pytest.mark.parametrize(("text", "said"), CASES.values(), ids=CASES)
def test_who_waits_for_ever_is_told_in_loops(text: str, said: str) -> None:
    verdicts = {f.verdict.value for f in found_of(text)}
    assert verdicts and (verdicts == {said} if said == "proved" else said in verdicts)
    assert said == "refuted" or "refuted" not in verdicts


def _rotated(turn: str, last: str) -> str:
    """A loop that carries two recvs, one each way: a turn begins the next ones, and ends those of the turn before."""
    state = f"(s32[], {STATE}, {STATE})"
    carried = {"R1": "rd1b = (f32[8], token[]) recv-done(x), channel_id=1"}
    carried["R2"] = "rd2b = (f32[8], token[]) recv-done(y), channel_id=2"
    body = (
        f"turn {{\n  st = {state} parameter(0)\n  k = s32[] get-tuple-element(st), index=0\n"
        f"  x = {STATE} get-tuple-element(st), index=1\n  y = {STATE} get-tuple-element(st), index=2\n"
        "  t = token[] after-all()\n  p = f32[8] constant({1,2,3,4,5,6,7,8})\n"
        + "".join(f"  {carried.get(word) or line_of(word)}\n" for word in turn.split())
        + f"  one = s32[] constant(1)\n  j = s32[] add(k, one)\n  ROOT r = {state} tuple(j, r1n, r2n)\n}}\n"
        f"more {{\n  st = {state} parameter(0)\n  k = s32[] get-tuple-element(st), index=0\n"
        "  m = s32[] constant(2)\n  ROOT l = pred[] compare(k, m), direction=LT\n}\n"
    )
    ended = [
        f"x = {STATE} get-tuple-element(w), index=1",
        f"y = {STATE} get-tuple-element(w), index=2",
        *(carried.get(word) or line_of(word) for word in last.split()),
    ]
    lines = [*lines_of("r1 s1 r2 s2 S1 S2"), "zero = s32[] constant(0)", f"i = {state} tuple(zero, r1, r2)"]
    return module_of([*lines, f"w = {state} while(i), condition=more, body=turn", *ended], body)


def _handed_on(turns: int, left: str, order: str, inside: str = "") -> str:
    """Two recvs of one channel through turns that hand them on in another order; `X` and `Y` end what is left."""
    state = f"(s32[], {STATE}, {STATE})"
    words = {n.upper(): f"d{n} = (f32[8], token[]) recv-done({n}), channel_id=1" for n in "xya"}
    body = (
        f"turn {{\n  st = {state} parameter(0)\n  k = s32[] get-tuple-element(st), index=0\n"
        f"  a = {STATE} get-tuple-element(st), index=1\n  b = {STATE} get-tuple-element(st), index=2\n"
        "  t = token[] after-all()\n  one = s32[] constant(1)\n  j = s32[] add(k, one)\n"
        + "".join(f"  {words.get(w) or line_of(w)}\n" for w in inside.split())
        + f"  ROOT r = {state} tuple(j, {left})\n}}\n"
        f"more {{\n  st = {state} parameter(0)\n  k = s32[] get-tuple-element(st), index=0\n"
        f"  m = s32[] constant({turns})\n  ROOT l = pred[] compare(k, m), direction=LT\n}}\n"
    )
    lines = [
        "zero = s32[] constant(0)",
        *lines_of("r1a r1b s1a"),
        f"i = {state} tuple(zero, r1a, r1b)",
        f"w = {state} while(i), condition=more, body=turn",
        *(f"{n} = {STATE} get-tuple-element(w), index={k}" for n, k in (("x", 1), ("y", 2))),
        *(words.get(w) or line_of(w) for w in order.split()),
    ]
    return module_of(lines, body)


@pytest.mark.parametrize(
    ("turns", "left", "order", "inside", "said"),
    [
        # Device 0 sends the second only behind a sum with device 1, which waits for it before.
        (1, "b, a", "X sum s1b Y", "", "unknown"),
        (2, "b, a", "Y sum s1b X", "", "unknown"),
        (0, "b, a", "Y sum s1b X", "", "unknown"),
        (1, "b, a", "s1b X sum Y", "", "proved"),
        (1, "r1n, a", "X sum s1b s1c Y", "", "unknown"),
        (1, "r1n, a", "s1b s1c X sum Y", "", "proved"),
        (1, "r1n, b", "s1b s1c Y sum X", "A r1n", "proved"),
        (1, "r1n, b", "s1b Y sum s1c X", "A r1n", "proved"),
        (1, "r1n, b", "s1b X sum s1c Y", "A r1n", "unknown"),
    ],
)
def test_turns_may_hand_on_in_another_order(turns: int, left: str, order: str, inside: str, said: str) -> None:
    if "r1n" in left and "r1n" not in inside:
        inside = f"{inside} r1n"
    assert {f.verdict.value for f in found_of(_handed_on(turns, left, order, inside))} == {said}


@pytest.mark.parametrize(
    ("before", "after", "said"), [("s3a s3b s3c S3a S3b S3c", "", "unknown"), ("s3a s3b S3a S3b", "s3c S3c", "unknown")]
)
def test_the_third_turn_waits_for_what_is_sent_behind_the_loop(before: str, after: str, said: str) -> None:
    state = ", ".join(["s32[]", *[STATE] * 3, "s32[]"])
    parts = [f"  x{n} = {STATE} get-tuple-element(st), index={n}\n" for n in (1, 2, 3)]
    body = (
        f"turn {{\n  st = ({state}) parameter(0)\n  k = s32[] get-tuple-element(st), index=0\n{''.join(parts)}"
        "  m = s32[] get-tuple-element(st), index=4\n  t = token[] after-all()\n"
        "  p = f32[8] constant({1,2,3,4,5,6,7,8})\n  done = (f32[8], token[]) recv-done(x1), channel_id=3\n"
        + "".join(f"  {line}\n" for line in lines_of("s2n S2n r2n R2n r5n s5n S5n"))
        + f"  one = s32[] constant(1)\n  j = s32[] add(k, one)\n  ROOT r = ({state}) tuple(j, x2, x3, r5n, m)\n}}\n"
        f"more {{\n  st = ({state}) parameter(0)\n  k = s32[] get-tuple-element(st), index=0\n"
        "  m = s32[] get-tuple-element(st), index=4\n  ROOT l = pred[] compare(k, m), direction=LT\n}\n"
    )
    ended = [f"y{n} = {STATE} get-tuple-element(w), index={n}" for n in (1, 2, 3)]
    ended += [f"z{n} = (f32[8], token[]) recv-done(y{n}), channel_id=3" for n in (1, 2, 3)]
    lines = [
        _GIVEN,
        *lines_of(f"r3a r3b r3c {before}"),
        "zero = s32[] constant(0)",
        f"i = ({state}) tuple(zero, r3a, r3b, r3c, number)",
        f"w = ({state}) while(i), condition=more, body=turn",
        *lines_of(after),
    ]
    verdicts = {f.verdict.value for f in found_of(module_of([*lines, *ended], body))}
    assert verdicts == {said}


@pytest.mark.parametrize(
    ("turn", "said"),
    [
        ("r1n s1n r2n s2n R1 R2 S1n S2n", "proved"),
        ("R1 R2 r1n s1n r2n s2n S1n S2n", "proved"),
        ("R1 R2 r1n r2n s1n s2n S1n S2n", "unknown"),
        # Runtimes know what a done waits for by its start: where two are open, it may be the younger.
        ("R1 r1n sum s1n S1n R2 r2n s2n S2n", "proved"),
        ("r1n R1 sum s1n S1n R2 r2n s2n S2n", "unknown"),
        ("r1n r2n R1 R2 s1n S1n", "refuted"),
        ("r1n r2n R1 R2", "refuted"),
    ],
)
def test_a_turn_ends_what_the_turn_before_began(turn: str, said: str) -> None:
    verdicts = {f.verdict.value for f in found_of(_rotated(turn, "R1 R2"))}
    assert verdicts == {said} if said == "proved" else said in verdicts


_FIVE: Final = "cdefg"
_AHEAD: Final = " ".join(f"s6{c} S6{c}" for c in _FIVE)


_LEFT: Final = " ".join(f"r6{c} R6{c}" for c in _FIVE)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("r7 R7", "s7 S7", "unknown"),  # two turns hold what one does not
        ("r7 s7 R7 S7", "", "proved"),
        (f"{_AHEAD} r7 R7", f"s7 S7 {_LEFT}", "unknown"),  # and here seven
        ("r7a r7b s7a S7a R7b", "s7b S7b R7a", "unknown"),  # as much is sent as is taken, but not the second
    ],
)
def test_turns_together_hold_what_one_does_not(before: str, after: str, said: str) -> None:
    turn = "s6a S6a r6a R6a s1a S1a r1a R1a"
    text = _loop("given", turn, before, after).replace("replica_count=2", "replica_count=3")
    assert {f.verdict.value for f in found_of(text)} == {said}


@pytest.mark.parametrize(("after", "said"), [("r7 R7 s1z if-none s9", "unknown")])
def test_turns_and_what_happens_where_there_are_none_shut_each_other_out(after: str, said: str) -> None:
    """Devices 0 to 2 wait for ever where there are no turns, and `if-any` is entered, 3 to 5 where there are some, and
    `if-none` is: neither ever happens."""
    words = {
        "if-any": "none = s32[] constant(0)\n  any = pred[] compare(number, none), direction=GT\n"
        "  ya = f32[8] conditional(any, p, p), true_computation=link, false_computation=idle",
        "if-none": "zeros = pred[] not(any)\n"
        "  yb = f32[8] conditional(zeros, p, p), true_computation=other, false_computation=idle",
    }
    parts = {"link": "s6 S6 r6 R6", "other": "s8 S8 r8 R8", "idle": ""}
    before = "".join(computation_of(n, [*lines_of(o), "q = f32[8] negate(p)"]) + "\n" for n, o in parts.items())
    with pytest.MonkeyPatch.context() as patch:
        for word, line in words.items():
            patch.setitem(WORDS, word, line)
        text = _loop("given", "s1 S1 r1b R1b s0 S0 r0 R0", "r1 R1 if-any s7 r9 R9", after)
    text = text.replace(SUM, SUM + before).replace("replica_count=2", "replica_count=6")
    assert {f.verdict.value for f in found_of(text)} == {said}


@pytest.mark.parametrize(("after", "said"), [("r7 R7 s1z", "unknown")])
def test_no_turn_may_hold_what_one_does_not(after: str, said: str) -> None:
    """Device 1 gets on with what the first turn sends; where there is none, it waits for 0, who waits for 2."""
    text = _loop("given", "s1 S1 r1b R1b", "r1 R1 s6 r6 R6 s7", after).replace("replica_count=2", "replica_count=3")
    assert {f.verdict.value for f in found_of(text)} == {said}


@pytest.mark.parametrize(
    ("begun", "order", "said"),
    [
        ("s1a r2 s1b", "X sum s2 S2 R2 Y", "unknown"),  # `X` ends `b`, which is behind the recv
        ("s1a s1b r2", "X sum s2 S2 R2 Y", "proved"),
        ("s1a r2 s1b", "s2 S2 X sum R2 Y", "proved"),
    ],
)
def test_sends_that_change_places_are_all_waited_for(begun: str, order: str, said: str) -> None:
    lines = [line_of(w).replace("s1a =", "a =").replace("s1b =", "b =") for w in begun.split()]
    text = exchanged(STATE, "token[] send-done({}), channel_id=1", lines, f"{order} r1c R1c r1d R1d")
    assert {f.verdict.value for f in found_of(text)} == {said}


def test_sums_that_change_places_are_no_certain_deadlock() -> None:
    """`X` ends `b`, for which nobody is waited; that it ends `a`, for which device 1 would be, is not said."""
    begun = [*lines_of("r1 R1"), WORDS["sum-start"].replace("sums", "a"), WORDS["alone-start"].replace("sums", "b")]
    text = exchanged("f32[8]", "f32[8] all-reduce-done({})", begun, "X s1 S1 Y")
    assert {f.verdict.value for f in found_of(text)} == {"unknown"}


@pytest.mark.parametrize(
    ("order", "said"), [("Y sum s1 S1 X", "refuted"), ("X sum s1 S1 Y", "unknown"), ("s1 S1 X sum Y", "proved")]
)
def test_a_done_ends_the_recv_that_changed_places(order: str, said: str) -> None:
    """`X` ends `b`, whose send is there, and `Y` ends `a`, for which device 1 waits there; which of two recvs that a
    done may end a runtime waits for at it is open."""
    back = [line.replace("{{0,1}}", "{{1,0}}").replace("r1 =", "b =") for line in lines_of("s1back S1back r1")]
    begun = [*back[:2], line_of("r1").replace("r1 =", "a ="), back[2]]
    text = exchanged(STATE, "(f32[8], token[]) recv-done({}), channel_id=1", begun, order)
    verdicts = {f.verdict.value for f in found_of(text)}
    assert said in verdicts and (said == "proved" or "proved" not in verdicts)


@pytest.mark.parametrize(("begun", "said"), [("r1b, r1a", "unknown"), ("late", "proved")])
def test_a_turn_that_hands_on_another_recv_may_end_the_younger(begun: str, said: str) -> None:
    text = _handed_on(1, "b, r1n", "s1b s1c X Y", "const A sum r1n")
    text = text.replace("tuple(zero, r1a, r1b)", f"tuple(zero, {begun.replace('late', 'r1b, r1a')})")
    if begun == "late":
        sends = "".join(f"  {line_of(word)}\n" for word in ("s1b", "s1c"))
        text = text.replace(sends, "").replace("  i = (s32[]", f"{sends}  i = (s32[]")
    assert {f.verdict.value for f in found_of(text)} == {said}


@pytest.mark.parametrize("loops", [1, 2])
@pytest.mark.parametrize("is_sent", [False, True])
def test_a_loop_that_is_given_what_calls_begin_may_end_the_younger(loops: int, is_sent: bool) -> None:
    """Of two recvs that calls begin, a loop is given the second: it ends that, not the first. Another loop before it
    runs the same turn, and is given what its own computation began."""
    state = f"(s32[], {STATE})"
    before = computation_of("opened", lines_of("r1"), "t = token[] parameter(0)") + "\n"
    before += (
        f"turn {{\n  st = {state} parameter(0)\n  k = s32[] get-tuple-element(st), index=0\n"
        f"  g = {STATE} get-tuple-element(st), index=1\n  t = token[] after-all()\n"
        "  p = f32[8] constant({1,2,3,4,5,6,7,8})\n  d = (f32[8], token[]) recv-done(g), channel_id=1\n"
        + "".join(f"  {line}\n" for line in lines_of("sum r1n s1n"))
        + f"  one = s32[] constant(1)\n  j = s32[] add(k, one)\n  ROOT r = {state} tuple(j, r1n)\n}}\n"
        f"more {{\n  st = {state} parameter(0)\n  k = s32[] get-tuple-element(st), index=0\n"
        "  m = s32[] constant(1)\n  ROOT l = pred[] compare(k, m), direction=LT\n}\n"
    )

    def loop(name: str, given: str) -> list[str]:
        return [
            f"i{name} = {state} tuple(zero, {given})",
            f"w{name} = {state} while(i{name}), condition=more, body=turn",
            f"x{name} = {STATE} get-tuple-element(w{name}), index=1",
            f"d{name} = (f32[8], token[]) recv-done(x{name}), channel_id=1",
        ]

    own = [*lines_of("r1f s1f"), *loop("f", "r1f")] if loops == 2 else []
    opened = [f"{name} = {STATE} call(t), to_apply=opened" for name in "ab"]
    sent = lines_of("s1g s1h") if is_sent else lines_of("s1g")
    late = [] if is_sent else lines_of("s1h")
    given = loop("g", "b")
    last = "da = (f32[8], token[]) recv-done(a), channel_id=1"
    lines = ["zero = s32[] constant(0)", *own, *opened, *sent, *given[:2], *late, *given[2:], last]
    assert {f.verdict.value for f in found_of(module_of(lines, before))} == {"proved" if is_sent else "unknown"}


@pytest.mark.parametrize(("after", "said"), [("s7b X", "unknown")])
def test_the_younger_of_two_that_calls_begin_may_be_waited_for_across_turns(after: str, said: str) -> None:
    """Of two recvs that calls begin, the second is ended before a loop, whose two turns hold what one does not."""
    words = {
        "A": f"a = {STATE} call(t), to_apply=opened",
        "B": f"b = {STATE} call(t), to_apply=opened",
        "X": "x = (f32[8], token[]) recv-done(a), channel_id=7",
        "Y": "y = (f32[8], token[]) recv-done(b), channel_id=7",
    }
    opened = computation_of("opened", lines_of("r7"), "t = token[] parameter(0)") + "\n"
    with pytest.MonkeyPatch.context() as patch:
        for word, line in words.items():
            patch.setitem(WORDS, word, line)
        before = "A B s7a Y" if "s7b" in after else "A B s7a s7b Y"
        text = _loop("given", "s6a S6a r6a R6a s1a S1a r1a R1a", before, after)
    text = text.replace(SUM, SUM + opened).replace("replica_count=2", "replica_count=3")
    assert {f.verdict.value for f in found_of(text)} == {said}


def test_what_is_taken_for_granted_of_loops_is_said() -> None:
    assumed = {name: {a for f in found_of(CASES[name][0]) for a in f.assumptions} for name in CASES}
    assert assumed["a loop without an end"] == {"the loop w, which has no end, counts once"}
    assert assumed["a loop that the program counts, with both"] == {"every device is given the same number"}
    assert assumed["a loop of 1 turns that sends, and one recv"] == set()
