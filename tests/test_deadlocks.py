"""Devices that wait for one another for ever: the claim collective-deadlock on schedules with collective operations,
loops, branches, calls and operations in flight, each decided by hand."""

from __future__ import annotations

from typing import Final

import pytest

from hloproof.claims.asynchronous import device_events, judge
from hloproof.models.hlo.parser import parse_module
from hloproof.results.verdict import Found

_STATE: Final = "(f32[8], u32[], token[])"
_SUM: Final = "add {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n"
_ASIDE: Final = 'execution_thread="x"'
_WORDS: Final = {
    "sum": "sum = f32[8] all-reduce(p), replica_groups={}, to_apply=add",
    "sum-alone": "sum = f32[8] all-reduce(p), replica_groups={{0},{1}}, to_apply=add",
    "sum-start": "sums = f32[8] all-reduce-start(p), replica_groups={}, to_apply=add",
    "sum-done": "sum = f32[8] all-reduce-done(sums)",
    "forth": "moved = f32[8] collective-permute(p), source_target_pairs={{0,1}}",
    "back": "moved = f32[8] collective-permute(p), source_target_pairs={{1,0}}",
    "start": f"f = ((f32[8]), f32[8], u32[]) async-start(p), calls=aside, async_{_ASIDE}",
    "done": "fd = f32[8] async-done(f)",
    "start-two": f"f = ((token[]), ({_STATE}, {_STATE}), u32[]) async-start(t), calls=aside, async_{_ASIDE}",
    "done-two": f"fd = ({_STATE}, {_STATE}) async-done(f)",
    "call": "y = f32[8] call(p), to_apply=inside",
    "again": "z = f32[8] call(p), to_apply=inside",
}


def _line(word: str) -> str:
    """`s1` sends on channel 1 and `r1` receives, from device 0 to 1; on channel 2 it is from 1 to 0. Capital letters
    are their dones, further letters tell those of one channel apart."""
    if word in _WORDS:
        return _WORDS[word]
    name = word[1:]
    pair = "{1,0}" if name[0] == "2" else "{0,1}"
    said = f'channel_id={name[0]}, frontend_attributes={{_xla_send_recv_source_target_pairs="{{{pair}}}"}}'
    return {
        "s": f"s{name} = {_STATE} send(p, t), {said}",
        "r": f"r{name} = {_STATE} recv(t), {said}",
        "S": f"sd{name} = token[] send-done(s{name}), channel_id={name[0]}",
        "R": f"rd{name} = (f32[8], token[]) recv-done(r{name}), channel_id={name[0]}",
    }[word[0]]


def _lines(order: str) -> list[str]:
    return [_line(word) for word in order.split()]


def _computation(name: str, lines: list[str], given: str = "p = f32[8] parameter(0)") -> str:
    token = [] if given.startswith("t =") else ["t = token[] after-all()"]
    *most, root = [given, *token, *lines]
    return f"{name} {{\n" + "".join(f"  {line}\n" for line in most) + f"  ROOT {root}\n}}"


def _module(lines: list[str], before: str = "", devices: str = "replica_count=2") -> str:
    entry = _computation("ENTRY e", [*lines, "n = f32[8] negate(p)"])
    return f"HloModule m, is_scheduled=true, {devices}\n{_SUM}{before}{entry}\n"


def _flat(order: str, devices: str = "replica_count=2") -> str:
    return _module(_lines(order), devices=devices)


def _beside(inside: str, order: str) -> str:
    """The first order runs in flight, beside the second."""
    aside = _computation("aside", [*_lines(inside), "q = f32[8] negate(p)"])
    return _module(_lines(order), f"{aside}, {_ASIDE}\n")


def _two_received(order: str) -> str:
    """What is in flight hands back two recvs, which its done ends both."""
    handed = f"q = ({_STATE}, {_STATE}) tuple(r1a, r1b)"
    aside = _computation("aside", [*_lines("r1a r1b"), handed], "t = token[] parameter(0)")
    return _module(_lines(order), f"{aside}, {_ASIDE}\n")


def _called(inside: str, order: str) -> str:
    return _module(_lines(order), _computation("inside", [*_lines(inside), "q = f32[8] negate(p)"]) + "\n")


_GIVEN: Final = "number = s32[] parameter(1)"
_OWN: Final = "own = u32[] replica-id()\n  number = s32[] convert(own)"


def _loop(turns: str, inside: str, before: str = "", after: str = "") -> str:
    """A loop of so many turns: a number, one that the program is given, one that every device has of its own, or no
    end."""
    state = "(s32[], f32[8], s32[])"
    less = "l = pred[] constant(true)" if turns == "endless" else "l = pred[] compare(k, m), direction=LT"
    body = (
        f"turn {{\n  st = {state} parameter(0)\n  k = s32[] get-tuple-element(st), index=0\n"
        "  p = f32[8] get-tuple-element(st), index=1\n  m = s32[] get-tuple-element(st), index=2\n"
        "  t = token[] after-all()\n"
        + "".join(f"  {line}\n" for line in _lines(inside))
        + f"  one = s32[] constant(1)\n  j = s32[] add(k, one)\n  ROOT r = {state} tuple(j, p, m)\n}}\n"
        f"more {{\n  st = {state} parameter(0)\n  k = s32[] get-tuple-element(st), index=0\n"
        f"  m = s32[] get-tuple-element(st), index=2\n  ROOT {less}\n}}\n"
    )
    number = {"given": _GIVEN, "own": _OWN}.get(turns, f"number = s32[] constant({turns.replace('endless', '1')})")
    lines = [number, *_lines(before), "zero = s32[] constant(0)", f"i = {state} tuple(zero, p, number)"]
    return _module([*lines, f"w = {state} while(i), condition=more, body=turn", *_lines(after)], body)


_CHOICES: Final = {
    "given": "q = pred[] parameter(1)",
    "own": "own = u32[] replica-id()\n  zero = u32[] constant(0)\n  q = pred[] compare(own, zero), direction=EQ",
    "called": "q = pred[] call(), to_apply=who",
    "received": "fed = (pred[], token[]) infeed(t)\n  q = pred[] get-tuple-element(fed), index=0",
    "in flight": "fs = ((), pred[], u32[]) async-start(), calls=who\n  q = pred[] async-done(fs)",
    "part of what flew": 'fs = ((), (pred[], u32[]), u32[]) async-start(), calls=whose, async_execution_thread="x"\n'
    "  fd = (pred[], u32[]) async-done(fs)\n  q = pred[] get-tuple-element(fd), index=0",
    "copied in flight": "g = pred[] parameter(1)\n  fs = (pred[], pred[], u32[]) copy-start(g)\n"
    "  q = pred[] copy-done(fs)",
}
_WHO: Final = (
    "who {\n  own = u32[] partition-id()\n  zero = u32[] constant(0)\n"
    "  ROOT q = pred[] compare(own, zero), direction=EQ\n}\n"
    "whose {\n  own = u32[] partition-id()\n  zero = u32[] constant(0)\n"
    "  q = pred[] compare(own, zero), direction=EQ\n  ROOT r = (pred[], u32[]) tuple(q, own)\n}, "
    'execution_thread="x"\n'
)


def _branches(chosen: str, first: str, second: str, after: str = "") -> str:
    before = _WHO if "who" in _CHOICES[chosen] else ""
    for name, order in (("this", first), ("that", second)):
        before += _computation(name, [*_lines(order), "q = f32[8] negate(p)"]) + "\n"
    choice = "y = f32[8] conditional(q, p, p), true_computation=this, false_computation=that"
    return _module([_CHOICES[chosen], choice, *_lines(after)], before)


CASES: Final = {
    "a sum between a recv-done and its send": (_flat("r1 R1 sum s1 S1"), "refuted"),
    "a sum behind the send": (_flat("r1 s1 sum R1 S1"), "proved"),
    "a sum of each device alone": (_flat("r1 R1 sum-alone s1 S1"), "proved"),
    "a sum of who knows whom": (_flat("r1 R1 sum s1 S1", "replica_count=2, num_partitions=2"), "unknown"),
    "a sum of the replicas of each partition": (_flat("r1 R1 sum s1 S1", "num_partitions=2"), "proved"),
    "a permutation that waits for the one who waits": (_flat("r1 R1 back s1 S1"), "refuted"),
    "a permutation that waits for the other": (_flat("r1 R1 forth s1 S1"), "proved"),
    "a sum that begins before a recv-done": (_flat("sum-start r1 R1 sum-done s1 S1"), "proved"),
    "a sum that begins behind a recv-done": (_flat("r1 R1 sum-start sum-done s1 S1"), "refuted"),
    "a sum that ends behind the send": (_flat("r1 R1 sum-start s1 S1 sum-done"), "proved"),
    "what is in flight sends only after it has received": (_beside("r2 R2 s1 S1", "start r1 R1 s2 S2 done"), "refuted"),
    "the same, and who receives sends first": (_beside("r2 R2 s1 S1", "start r1 s2 S2 R1 done"), "proved"),
    "what is in flight sends first": (_beside("s1 S1 r2 R2", "start r1 R1 s2 S2 done"), "proved"),
    "a done of what waits for what comes later": (_beside("r2 R2 s1 S1", "start done r1 R1 s2 S2"), "refuted"),
    "a sum in flight beside a recv-done": (_beside("sum", "start r1 R1 s1 S1 done"), "proved"),
    "a sum in flight behind a recv-done": (_beside("sum", "r1 R1 start done s1 S1"), "refuted"),
    "two recvs at one done, one send so far": (
        _two_received("start-two s1a r2 done-two s2 R2 s1b S1a S1b S2"),
        "refuted",
    ),
    "two recvs at one done, and two sends": (_two_received("start-two s1a r2 s1b done-two s2 R2 S1a S1b S2"), "proved"),
    "two recv-dones, one send so far": (_flat("r1a r1b s1a r2 R1a R1b s2 R2 s1b S1a S1b S2"), "refuted"),
    "two recv-dones, and two sends": (_flat("r1a r1b s1a r2 s1b R1a R1b s2 R2 S1a S1b S2"), "proved"),
    "a call, and again, that sends": (_called("s1 S1", "call again r1 R1"), "refuted"),
    "a call, and again, and two recvs": (_called("s1 S1", "call again r1 R1 r1b R1b"), "proved"),
    **{
        f"a loop of {n} turns that sends, and one recv": (_loop(n, "s1 S1", after="r1 R1"), said)
        for n, said in (("0", "refuted"), ("1", "proved"), ("2", "refuted"), ("given", "unknown"))
    },
    "a loop of three turns that sends, and three recvs": (_loop("3", "s1 S1", after="r1 R1 r1b R1b r1c R1c"), "proved"),
    "a loop of one turn that sends what is waited for before it": (_loop("1", "s1 S1", before="r1 R1"), "proved"),
    "a loop of no turns that sends what is waited for": (_loop("0", "s1 S1", before="r1 R1"), "refuted"),
    "a loop that the program counts, with both": (_loop("given", "r1 s1 R1 S1"), "proved"),
    "a loop that each device counts, with both": (_loop("own", "r1 s1 R1 S1"), "unknown"),
    "a loop with a send of each kind ahead": (
        _loop("given", "s1 S1 r1 R1 r2 R2 s2 S2", before="r1a s1a s2a S2a", after="R1a S1a r2a R2a"),
        "proved",
    ),
    # The form that compilers let pass: device 0 is said to leave a loop that has no end.
    "a loop without an end": (_loop("endless", "s1 S1 r2 R2", before="r1 R1", after="s2 S2"), "proved"),
    **{
        f"a branch that is {chosen}, with both": (_branches(chosen, "r1 s1 R1 S1", ""), said)
        for chosen, said in (
            ("given", "proved"),
            ("own", "unknown"),
            ("called", "unknown"),
            ("received", "unknown"),
            ("in flight", "unknown"),
            ("part of what flew", "unknown"),
            ("copied in flight", "proved"),
        )
    },
    "a device that is not there": (_flat("r1 s1 R1 S1").replace("{{0,1}}", "{{0,2}}"), "refuted"),
    "a device that may be there": (_flat("r1 s1 R1 S1", "replica_count=1").replace("{{0,1}}", "{{0,2}}"), "proved"),
    "a branch that is own, without any": (_branches("own", "", "", after="r1 s1 R1 S1"), "proved"),
}


def _found(text: str) -> list[Found]:
    return [j.found for j in judge(parse_module(text), lambda c: c == "collective-deadlock", lambda c: False)]


@pytest.mark.parametrize(("text", "said"), CASES.values(), ids=CASES)
def test_who_waits_for_ever_is_told(text: str, said: str) -> None:
    verdicts = {f.verdict.value for f in _found(text)}
    assert verdicts and (verdicts == {said} if said == "proved" else said in verdicts)
    assert said == "refuted" or "refuted" not in verdicts


def _rotated(turn: str, last: str) -> str:
    """A loop that carries two recvs, one each way: a turn begins the next ones, and ends those of the turn before."""
    state = f"(s32[], {_STATE}, {_STATE})"
    carried = {"R1": "rd1b = (f32[8], token[]) recv-done(x), channel_id=1"}
    carried["R2"] = "rd2b = (f32[8], token[]) recv-done(y), channel_id=2"
    body = (
        f"turn {{\n  st = {state} parameter(0)\n  k = s32[] get-tuple-element(st), index=0\n"
        f"  x = {_STATE} get-tuple-element(st), index=1\n  y = {_STATE} get-tuple-element(st), index=2\n"
        "  t = token[] after-all()\n  p = f32[8] constant({1,2,3,4,5,6,7,8})\n"
        + "".join(f"  {carried.get(word) or _line(word)}\n" for word in turn.split())
        + f"  one = s32[] constant(1)\n  j = s32[] add(k, one)\n  ROOT r = {state} tuple(j, r1n, r2n)\n}}\n"
        f"more {{\n  st = {state} parameter(0)\n  k = s32[] get-tuple-element(st), index=0\n"
        "  m = s32[] constant(2)\n  ROOT l = pred[] compare(k, m), direction=LT\n}\n"
    )
    ended = [
        f"x = {_STATE} get-tuple-element(w), index=1",
        f"y = {_STATE} get-tuple-element(w), index=2",
        *(carried.get(word) or _line(word) for word in last.split()),
    ]
    lines = [*_lines("r1 r2 s1 s2 S1 S2"), "zero = s32[] constant(0)", f"i = {state} tuple(zero, r1, r2)"]
    return _module([*lines, f"w = {state} while(i), condition=more, body=turn", *ended], body)


@pytest.mark.parametrize(
    ("turn", "said"),
    [
        ("r1n r2n R1 R2 s1n s2n S1n S2n", "proved"),
        ("R1 R2 r1n r2n s1n s2n S1n S2n", "proved"),
        ("r1n r2n R1 R2 s1n S1n", "refuted"),
        ("r1n r2n R1 R2", "refuted"),
    ],
)
def test_a_turn_ends_what_the_turn_before_began(turn: str, said: str) -> None:
    verdicts = {f.verdict.value for f in _found(_rotated(turn, "R1 R2"))}
    assert verdicts == {said} if said == "proved" else said in verdicts


def test_what_is_taken_for_granted_is_said() -> None:
    assumed = {name: {a for f in _found(CASES[name][0]) for a in f.assumptions} for name in CASES}
    assert assumed["a loop without an end"] == {"the loop w, which has no end, counts once"}
    assert assumed["a branch that is given, with both"] == {"every device is given the same q"}
    assert assumed["a loop that the program counts, with both"] == {"every device is given the same number"}
    assert assumed["a sum behind the send"] == assumed["a loop of 1 turns that sends, and one recv"] == set()


def test_schedules_that_are_too_long_are_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_events, "_MOST_EVENTS", 3)
    (found,) = _found(_flat("r1 s1 R1 S1"))
    assert found.verdict.value == "unknown" and "more than 3" in (found.reason or "")
