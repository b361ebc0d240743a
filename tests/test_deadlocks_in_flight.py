"""Devices that wait for one another for ever beside what is in flight. Each is decided by hand."""

from __future__ import annotations

from typing import Final

import pytest
from deadlock_modules import (
    ASIDE,
    CHOSEN,
    STATE,
    computation_of,
    exchanged,
    flat,
    found_of,
    line_of,
    lines_of,
    module_of,
)


def _beside(inside: str, order: str) -> str:
    """The first order runs in flight, beside the second."""
    aside = computation_of("aside", [*lines_of(inside), "q = f32[8] negate(p)"])
    return module_of(lines_of(order), f"{aside}, {ASIDE}\n")


def _sent_in_flight(order: str) -> str:
    """What is in flight begins a send and hands it back; its done ends it."""
    words = {
        "F": f"f = ((token[], f32[8]), {STATE}, u32[]) async-start(t, p), calls=aside, async_{ASIDE}",
        "D": f"fd = {STATE} async-done(f)",
    }
    aside = f"aside {{\n  t = token[] parameter(0)\n  p = f32[8] parameter(1)\n  ROOT {line_of('s2')}\n}}, {ASIDE}\n"
    return module_of([words.get(w) or line_of(w) for w in order.split()], aside)


def _two_received(order: str) -> str:
    """What is in flight hands back two recvs, which its done ends both."""
    handed = f"q = ({STATE}, {STATE}) tuple(r1a, r1b)"
    aside = computation_of("aside", [*lines_of("r1a r1b"), handed], "t = token[] parameter(0)")
    return module_of(lines_of(order), f"{aside}, {ASIDE}\n")


def _two_beside(order: str, threads: str, first: str = "r1 R1", second: str = "sum") -> str:
    """`F` and `D` are the start and the done of the first, `G` and `E` of the second, each on its thread."""
    words, before = dict[str, str](), ""
    for name, inside, thread, begin, end in zip("fg", (first, second), threads, "FG", "DE", strict=True):
        on = f'execution_thread="{thread}"'
        before += f"{computation_of(f'run_{name}', [*lines_of(inside), 'q = f32[8] negate(p)'])}, {on}\n"
        words[begin] = f"{name} = ((f32[8]), f32[8], u32[]) async-start(p), calls=run_{name}, async_{on}"
        words[end] = f"{name}d = f32[8] async-done({name})"
    return module_of([words.get(w) or line_of(w) for w in order.split()], before)


def _choosing(order: str, inside: str, aside: str = "") -> str:
    """`if` stands for a branch with the inner order, beside what flies from `start` to `done`."""
    choice = "y = f32[8] conditional(q, p, p), true_computation=this, false_computation=that"
    words = {"if": f"q = pred[] parameter(1)\n  {choice}"}
    before = f"{computation_of('aside', [*lines_of(aside), 'q = f32[8] negate(p)'])}, {ASIDE}\n"
    before += computation_of("this", [*lines_of(inside), "q = f32[8] negate(p)"]) + "\n"
    before += computation_of("that", ["q = f32[8] negate(p)"]) + "\n"
    return module_of([words.get(w) or line_of(w) for w in order.split()], before, "replica_count=3")


def _ended_behind_its_done(order: str) -> str:
    """A recv in flight that is handed back by the done of its flight, and ended once more."""
    words = {
        "F": f"f = ((token[]), {STATE}, u32[]) async-start(t), calls=aside, async_{ASIDE}",
        "D": f"fd = {STATE} async-done(f)",
        "E": "e = (f32[8], token[]) recv-done(fd), channel_id=1",
    }
    aside = computation_of("aside", lines_of("r1"), "t = token[] parameter(0)")
    return module_of([words.get(w) or line_of(w) for w in order.split()], f"{aside}, {ASIDE}\n")


_BOTH: Final = (
    f"both {{\n  q = pred[] parameter(0)\n  p = f32[8] constant({{1,2,3,4,5,6,7,8}})\n{CHOSEN}}}, "
    'execution_thread="x"\n'
)


def _flown(is_called_again: bool) -> str:
    """A computation with a sum in one branch that is called with a constant, and runs in flight with another number,
    or is called with that constant once more."""
    lines = [
        "own = u32[] replica-id()",
        "zero = u32[] constant(0)",
        "q = pred[] compare(own, zero), direction=EQ",
        "no = pred[] constant(false)",
        "c = f32[8] call(no), to_apply=both",
        *lines_of("r1 s1 R1 S1"),
    ]
    if is_called_again:
        lines.append("d = f32[8] call(no), to_apply=both")
    else:
        lines += ["f = ((pred[]), f32[8], u32[]) async-start(q), calls=both", "fd = f32[8] async-done(f)"]
    this = computation_of("this", lines_of("sum")) + "\n"
    return module_of(lines, this + computation_of("that", ["q = f32[8] negate(p)"]) + "\n" + _BOTH)


def _sent_by_a_branch(idle: str) -> str:
    """One branch sends and leaves in flight who receives; the other leaves what is idle."""
    flight = f"f = ((f32[8]), f32[8], u32[]) async-start(p), calls={{}}, async_{ASIDE}"
    before = f"{computation_of('aside', [*lines_of('r1 R1'), 'q = f32[8] negate(p)'])}, {ASIDE}\n"
    before += f"{computation_of('idle', ['q = f32[8] negate(p)'])}, {ASIDE}\n"
    before += computation_of("this", [*lines_of("s1 S1"), flight.format("aside")]) + "\n"
    sent = lines_of("s1 S1") if idle == "aside" else []
    before += computation_of("that", [*sent, flight.format(idle)]) + "\n"
    y = "y = ((f32[8]), f32[8], u32[]) conditional(q, p, p), true_computation=this, false_computation=that"
    return module_of(
        ["q = pred[] parameter(1)", *lines_of("r1a"), y, *lines_of("R1a s1z S1z"), "yd = f32[8] async-done(y)"], before
    )


def _ends_and_begins(begun: str) -> tuple[str, list[str]]:
    """What a loop of one turn calls, which ends the recv that it is given and hands on what it began; and the lines of
    the loop, which hand back x."""
    state = f"(s32[], {STATE})"
    called = (
        f"turn {{\n  st = {state} parameter(0)\n  k = s32[] get-tuple-element(st), index=0\n"
        f"  a = {STATE} get-tuple-element(st), index=1\n  t = token[] after-all()\n"
        f"  d = (f32[8], token[]) recv-done(a), channel_id=1\n  {begun}\n"
        f"  one = s32[] constant(1)\n  j = s32[] add(k, one)\n  ROOT r = {state} tuple(j, r1n)\n}}\n"
        f"more {{\n  st = {state} parameter(0)\n  k = s32[] get-tuple-element(st), index=0\n"
        "  m = s32[] constant(1)\n  ROOT l = pred[] compare(k, m), direction=LT\n}\n"
    )
    lines = [
        *lines_of("r1a"),
        "zero = s32[] constant(0)",
        f"i = {state} tuple(zero, r1a)",
        f"w = {state} while(i), condition=more, body=turn",
        f"x = {STATE} get-tuple-element(w), index=1",
    ]
    return called, lines


CASES: Final = {
    "the same, not in flight": (flat("r1 sum s1 S1 R1"), "proved"),
    "a sum in flight behind a recv": (_beside("sum", "r1 start done s1 S1 R1"), "unknown"),
    "a sum in flight behind a recv and its send": (_beside("sum", "r1 s1 start done S1 R1"), "proved"),
    "what is in flight sends only after it has received": (_beside("r2 R2 s1 S1", "start r1 R1 s2 S2 done"), "refuted"),
    "the same, and who receives sends first": (_beside("r2 R2 s1 S1", "start r1 s2 S2 R1 done"), "unknown"),
    "a flight that sends behind a recv, over before a sum": (_sent_in_flight("r1 F D sum s1 R1 S1 r2 R2"), "unknown"),
    "a flight that sends behind a recv, over behind it": (_sent_in_flight("r1 F sum s1 D R1 S1 r2 R2"), "proved"),
    "the same, and who receives has sent": (_beside("r2 R2 s1 S1", "s2 S2 start r1 R1 done"), "proved"),
    "what is in flight sends first": (_beside("s1 S1 r2 R2", "start r1 R1 s2 S2 done"), "proved"),
    "a done of what waits for what comes later": (_beside("r2 R2 s1 S1", "start done r1 R1 s2 S2"), "refuted"),
    "a sum in flight beside a recv-done": (_beside("sum", "start r1 R1 s1 S1 done"), "proved"),
    "a sum in flight behind a recv-done": (_beside("sum", "r1 R1 start done s1 S1"), "refuted"),
    "two recvs at one done, one send so far": (
        _two_received("start-two s1a r2 done-two s2 R2 s1b S1a S1b S2"),
        "refuted",
    ),
    "two recvs at one done, and two sends": (_two_received("start-two s1a s1b r2 done-two s2 R2 S1a S1b S2"), "proved"),
    "a call of what is in flight, both with a sum": (_beside("sum", "start r1 R1 call-aside s1 S1 done"), "unknown"),
    "a call of what is in flight, both with a sum that begins and ends": (
        _beside("sum-start sum-done", "start r1 R1 call-aside s1 S1 done"),
        "unknown",
    ),
    # What is sent first is for `r1a`: that the flight takes it, when device 1 is busy elsewhere, holds nobody for ever.
    "a recv before a flight, ended beside it": (
        _beside("r1b R1b", "r1a start s1a r2 s2 R2 r5 s5 R5 r2b s2b R2b r5b s5b R5b R1a sum s1b done r1c R1c cast s1c"),
        "unknown",
    ),
    "a call of what was in flight, both with a sum": (_beside("sum", "start done call-aside r1 s1 R1 S1"), "proved"),
    "two of a device for what one sends": (
        _beside("r1 R1", "start r1a s1a R1a s2 r2 R2 s1b done S1a S1b S2"),
        "unknown",
    ),
    # What flies may be over only when all that began before it is, and before anything else begins.
    **{
        f"two flights on {threads}, {order}": (_two_beside(order, threads), said)
        for threads, order, said in (
            ("xx", "F G E s1 S1 D", "unknown"),
            ("xx", "F G s1 S1 E D", "unknown"),
            ("xx", "s1 S1 F G E D", "proved"),
            ("xx", "G F E s1 S1 D", "proved"),
            ("xy", "F G E s1 S1 D", "unknown"),
            ("xy", "G F E s1 S1 D", "proved"),
        )
    },
    "what is in flight on one device, and a recv on another": (flat("r2 alone-start sum-done s2 S2 R2"), "proved"),
    # What flies may run beside the rest: which transfer is first on a stream is not known, and it holds the other.
    **{
        f"beside a flight with {inside}: {order}": (_beside(inside, order), said)
        for inside, order, said in (
            ("r1 s1 R1 S1", "start r2 s2 R2 S2 done", "unknown"),  # 1 may be at r1 when 0 is at r2
            ("r1 s1 R1 S1", "start done r2 s2 R2 S2", "proved"),
            ("r1 R1", "s1 s5 start r5 R5 done S1 S5", "unknown"),
            ("r1 R1", "s1 s5 start done r5 R5 S1 S5", "proved"),
            ("s1 S1", "start s5 S5 done r1 r5 R1 R5", "unknown"),
            ("r1 s1 R1 S1", "start r2 R2 sum s2 S2 done", "refuted"),  # whoever is first
        )
    },
    "beside a flight on another stream": (
        _beside("r1 s1 R1 S1", "start r2 s2 R2 S2 done").replace(
            '"{{1,0}}"}', '"{{1,0}}",_xla_send_recv_pipeline="1"}'
        ),
        "proved",
    ),
    **{
        f"what a branch may send is waited for before it: {order}": (_choosing(order, "s1b r1 R1 S1b"), said)
        for order, said in (
            ("r1x R1x s6 if r6 R6 s7 r7 R7 s1z", "unknown"),
            ("r1x s1z R1x s6 if r6 R6 s7 r7 R7", "proved"),
        )
    },
    "a send that a flight holds back, and a branch may not": (
        _choosing("start r1x R1x s6 if r6 R6 s7 S6 S7 done", "s1b r1 R1 S1b", "r7 R7 s1 S1"),
        "unknown",
    ),
    "a send that a flight has done, and a branch": (
        _choosing("start s7 S7 done r1x R1x s6 if r6 R6 S6", "s1b r1 R1 S1b", "r7 R7 s1 S1"),
        "proved",
    ),
    **{
        f"a recv that is handed back by its done: {order}": (_ended_behind_its_done(order), said)
        for order, said in (("F D sum s1 S1 E", "unknown"), ("F s1 S1 D E sum", "unknown"), ("F s1 S1 D sum", "proved"))
    },
    "two of a device, one behind the other": (_beside("r1 R1", "start s1a done r1a s1b R1a S1a S1b"), "proved"),
    "a branch by what is given where it also flies": (_flown(False), "unknown"),
    "a branch by what is given where it is called": (_flown(True), "proved"),
    "a branch that sends for what another may leave": (_sent_by_a_branch("idle"), "unknown"),
    "recvs in flight and beside it": (_beside("r1a s1a R1a S1a", "start r1b s1b R1b S1b done"), "unknown"),
    "recvs in flight and behind it": (_beside("r1a s1a R1a S1a", "start done r1b s1b R1b S1b"), "proved"),
    "recvs that a flight begins beside another": (
        _two_received("start-two r1 s1a s1b R1 sum s1c S1a S1b S1c done-two"),
        "unknown",
    ),
    "recvs that a flight begins, and another behind it": (
        _two_received("start-two s1a s1b s1c S1a S1b S1c done-two r1 R1 sum"),
        "proved",
    ),
    "a flight in a group": (
        _beside("sum", "start r1 s1 R1 S1 done").replace("calls=aside,", "calls=aside, async_group_id=3,"),
        "unknown",
    ),
}


@pytest.mark.parametrize(("text", "said"), CASES.values(), ids=CASES)
def test_who_waits_for_ever_is_told_in_flight(text: str, said: str) -> None:
    verdicts = {f.verdict.value for f in found_of(text)}
    assert verdicts and (verdicts == {said} if said == "proved" else said in verdicts)
    assert said == "refuted" or "refuted" not in verdicts


@pytest.mark.parametrize(("ended", "said"), [("", "unknown"), ("f2d = f32[8] async-done(f2)", "proved")])
def test_what_a_thread_leaves_running_runs_on_behind_its_done(ended: str, said: str) -> None:
    def start(name: str, run: str, thread: str) -> str:
        return f'{name} = ((f32[8]), f32[8], u32[]) async-start(p), calls={run}, async_execution_thread="{thread}"'

    second = computation_of("second", [*lines_of("sum"), "q = f32[8] negate(p)"]) + ', execution_thread="y"\n'
    lines = [start("f2", "second", "y"), *([ended] if ended else []), "q = f32[8] negate(p)"]
    first = computation_of("first", lines) + f", {ASIDE}\n"
    entry = [
        *lines_of("r1 s1 R1 S1"),
        start("f", "first", "x"),
        *lines_of("done"),
        "z = f32[8] call(p), to_apply=second",
    ]
    assert {f.verdict.value for f in found_of(module_of(entry, second + first))} == {said}


@pytest.mark.parametrize(
    ("order", "first", "said"),
    [
        ("X sum s1 S1 Y", "ab", "unknown"),
        ("X sum s1 S1 Y", "ba", "unknown"),  # `b` is over, and `a` began first
        ("s1 S1 X sum Y", "ab", "proved"),
        ("s1 S1 X sum Y", "ba", "unknown"),  # `b` may begin when `a` is over
    ],
)
def test_flights_that_change_places_are_all_waited_for(order: str, first: str, said: str) -> None:
    runs = {"x": ("ahead", "s2 S2"), "y": ("behind", "r1 R1")}
    aside = "".join(
        f'{computation_of(run, [*lines_of(inside), "q = f32[8] negate(p)"])}, execution_thread="{on}"\n'
        for on, (run, inside) in runs.items()
    )
    held = "((f32[8]), f32[8], u32[])"
    begun = [
        f'{name} = {held} async-start(p), calls={run}, async_execution_thread="{on}"'
        for name, (on, (run, _)) in zip(first, runs.items(), strict=True)
    ]
    text = exchanged(held, "f32[8] async-done({})", [*sorted(begun), *lines_of("r2 R2")], order, aside)
    text = text.replace('"{{1,0}}"}', '"{{1,0}}",_xla_send_recv_pipeline="1"}')  # no flight holds the other's transfer
    assert {f.verdict.value for f in found_of(text)} == {said}


@pytest.mark.parametrize(("pairs", "said"), [("{{1,2}}", "unknown"), ("{{0,1}}", "proved")])
def test_what_ends_recvs_of_two_kinds_in_flight_is_not_followed(pairs: str, said: str) -> None:
    """In flight a turn ends what is given and begins another recv, which is ended behind the loop."""
    called, lines = _ends_and_begins(line_of("r1n").replace("{{0,1}}", pairs))
    lines += ["xd = (f32[8], token[]) recv-done(x), channel_id=1", "q = f32[8] negate(p)"]
    sent = [line_of("s1a"), line_of("s1b").replace("{{0,1}}", pairs)]
    flight = f"{computation_of('aside', lines)}, {ASIDE}\n"
    text = module_of([*sent, *lines_of("start done")], called + flight, "replica_count=3")
    assert {f.verdict.value for f in found_of(text)} == {said}


@pytest.mark.parametrize(
    ("order", "said"), [("start s1a done sum s1b", "refuted"), ("start s1a s1b done sum", "proved")]
)
def test_a_flight_hands_back_what_its_last_turn_began(order: str, said: str) -> None:
    """In flight a turn ends what is given and begins another recv, which the done of the flight ends."""
    called, lines = _ends_and_begins(line_of("r1n"))
    words = {
        "start": f"f = ((f32[8]), {STATE}, u32[]) async-start(p), calls=aside, async_{ASIDE}",
        "done": f"fd = {STATE} async-done(f)",
    }
    flight = f"{computation_of('aside', lines)}, {ASIDE}\n"
    text = module_of([words.get(w) or line_of(w) for w in order.split()], called + flight)
    verdicts = {f.verdict.value for f in found_of(text)}
    assert said in verdicts and ("proved" in verdicts) == (said == "proved")
