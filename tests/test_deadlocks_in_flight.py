"""Devices that wait for one another for ever beside what is in flight. Each is decided by hand."""

from __future__ import annotations

from typing import Final

import pytest
from deadlock_modules import ASIDE, CHOSEN, STATE, computation_of, exchanged, found_of, line_of, lines_of, module_of


def _flights(order: str, first: str, second: str = "", on: str = "") -> str:
    """`F` and `D` are the start and the done of the first, `G` and `E` of the second, perhaps on a thread of its own;
    `U` goes on with the first, `X` ends it once more, `C` calls what it runs, and `if` what happens perhaps."""
    words = {
        "X": "fx = f32[8] async-done(f)",
        "U": "fu = ((f32[8]), f32[8], u32[]) async-update(f)",
        "V": "fd = f32[8] async-done(fu)",
        "C": "z = f32[8] call(p), to_apply=run_f",
        "if": "q = pred[] parameter(1)\n  y = f32[8] conditional(q, p, p), true_computation=sums, "
        "false_computation=idle",
    }
    last, before = "q = f32[8] negate(p)", ""
    for name, inside, begin, end in (("f", first, "F", "D"), ("g", second, "G", "E")):
        thread = f', execution_thread="{on}"' if on else ""
        lines = [words.get(w) or line_of(w) for w in inside.split()]
        before += f"{computation_of(f'run_{name}', [*lines, last])}{thread}\n"
        thread = f', async_execution_thread="{on}"' if on else ""
        words[begin] = f"{name} = ((f32[8]), f32[8], u32[]) async-start(p), calls=run_{name}{thread}"
        words[end] = f"{name}d = f32[8] async-done({name})"
    before += "".join(computation_of(n, [*lines_of(o), last]) + "\n" for n, o in (("sums", "sum"), ("idle", "")))
    return module_of([words.get(w) or line_of(w) for w in order.split()], before)


def _second(text: str) -> str:
    """All that is sent from 1 to 0 is on the second stream."""
    return text.replace('"{{1,0}}"}', '"{{1,0}}",_xla_send_recv_pipeline="1"}')


def _handed_back(order: str) -> str:
    """A recv in flight that is handed back by the done of its flight, and ended once more."""
    words = {
        "F": f"f = ((token[]), {STATE}, u32[]) async-start(t), calls=aside",
        "D": f"fd = {STATE} async-done(f)",
        "E": "e = (f32[8], token[]) recv-done(fd), channel_id=1",
    }
    aside = computation_of("aside", lines_of("r1"), "t = token[] parameter(0)")
    return module_of([words.get(w) or line_of(w) for w in order.split()], f"{aside}\n")


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


CASES: Final = {
    # Sends and recvs in flight: the done ends them.
    "a done behind the send": (_flights("s1 F D S1", "r1"), "proved"),
    "a done, a sum, and the send": (_flights("F D sum s1 S1", "r1"), "refuted"),
    "a done of two recvs, behind one send": (_flights("s1a F D sum s1b S1a S1b", "r1a r1b"), "refuted"),
    "a done of two recvs, behind two sends": (_flights("s1a s1b F D sum S1a S1b", "r1a r1b"), "proved"),
    "both, each way": (_flights("F D", "s1 r1 s2 r2"), "proved"),
    "both, each first receives": (_flights("F D", "r1 r2 s1 s2"), "unknown"),
    "both, each first receives, on two streams": (_second(_flights("F D", "r1 r2 s1 s2")), "proved"),
    "a send before its recv is waited for": (_flights("r1 F D R1", "s1"), "proved"),
    "a send behind the done of its recv": (_flights("r1 R1 sum F D", "s1"), "refuted"),
    "the send's done, behind a recv that is not sent": (_flights("r2 F D s2 S2 R2 r1 R1", "s1"), "proved"),
    "the send's done, behind a recv of its own": (_flights("r1 F D sum s1 S1 R1 r2 R2", "s2"), "unknown"),
    # It may run beside what follows: which transfer is first on a stream is not known, and it holds the other.
    "a transfer on its stream beside it": (_flights("F s1 S1 D", "r1"), "unknown"),
    "a transfer on another stream beside it": (_second(_flights("F s2 r2 S2 R2 D", "s1 r1")), "proved"),
    "a sum beside it": (_flights("s1 F sum D S1", "r1"), "unknown"),
    "a sum behind it": (_flights("s1 F D sum S1", "r1"), "proved"),
    "a sum that begins beside it": (_flights("s1 F sum-start D sum-done S1", "r1"), "unknown"),
    "a deadlock beside it, whoever is first": (_flights("F r2 R2 sum s2 S2 D", "r1 s1"), "refuted"),
    "two flights on one stream": (_flights("F G E D", "s1", "r1"), "unknown"),
    "two flights, one behind the other": (_flights("F D G E", "s1", "r1"), "proved"),
    "two flights on two streams": (_second(_flights("F G E D", "s1 r1", "s2 r2")), "proved"),
    # Collective operations in flight are launched where it begins.
    "a sum behind a recv-done": (_flights("r1 R1 F D s1 S1", "sum"), "refuted"),
    "a sum behind a send": (_flights("r1 s1 R1 F D S1", "sum"), "proved"),
    "a sum behind a recv": (_flights("r1 F D s1 S1 R1", "sum"), "unknown"),
    "a sum behind a recv and its send": (_flights("r1 s1 F D S1 R1", "sum"), "proved"),
    "a sum beside a recv-done": (_flights("F r1 R1 s1 S1 D", "sum"), "proved"),
    "a sum on a thread of its own, beside a recv-done": (_flights("F r1 R1 s1 S1 D", "sum", on="x"), "unknown"),
    "a sum on a thread of its own, before a recv-done": (_flights("F D r1 s1 R1 S1", "sum", on="x"), "proved"),
    "a call of what is in flight": (_flights("r1 s1 R1 S1 F C D", "sum"), "unknown"),
    "a call of what was in flight": (_flights("r1 s1 R1 S1 F D C", "sum"), "proved"),
    "the same flight once more": (_flights("r1 s1 R1 S1 F G E D", "sum", "cast"), "proved"),
    "two collective operations": (_flights("r1 s1 R1 S1 F D", "sum cast"), "proved"),
    # Nothing else is followed.
    "dones in flight": (_flights("F D", "r1 s1 R1 S1"), "unknown"),
    "a sum and transfers": (_flights("F D", "r1 s1 sum"), "unknown"),
    "a start in flight": (_flights("r1 s1 R1 S1 F D", "sum-start sum-done"), "unknown"),
    "a call in flight": (_flights("r1 s1 R1 S1 G E", "sum", "C"), "unknown"),
    "a flight in a group": (
        _flights("r1 s1 R1 S1 F D", "sum").replace("calls=run_f", "calls=run_f, async_group_id=3"),
        "unknown",
    ),
    "a done of two collective operations": (_flights("r1 R1 F D s1 S1", "cast sum"), "refuted"),
    "a done of two sends, the second behind a recv": (
        _flights("r1 F D sum s1 S1 R1 r2 R2 r7 R7", "s7 s2").replace("replica_count=2", "replica_count=3"),
        "unknown",
    ),
    # What is open, and how often it is ended.
    "a done twice": (_flights("r1 s1 R1 S1 F D X", "sum"), "unknown"),
    "a done of what goes on": (_flights("s1 F U V S1", "r1"), "proved"),
    "a branch beside it": (_flights("r1 s1 R1 S1 F if D", "sum"), "unknown"),
    "a branch beside its sends": (_flights("r1 F if D R1", "s1"), "unknown"),
    "a branch behind it": (_flights("r1 s1 R1 S1 F D if", "sum"), "proved"),
    "a recv that is handed back, and ended": (_handed_back("s1 S1 F D E"), "unknown"),
    "a recv that is handed back": (_handed_back("s1 S1 F D"), "proved"),
    "a branch by what is given where it also flies": (_flown(False), "unknown"),
    "a branch by what is given where it is called": (_flown(True), "proved"),
}


_SUGARED: Final = {
    "X": "x = ((f32[8]), f32[8], u32[]) all-to-all-start(p), replica_groups={}, dimensions={0}",
    "Y": "y = f32[8] all-to-all-done(x)",
}


@pytest.mark.parametrize(
    ("order", "thread", "said"),
    [
        ("X r1 R1 s1 S1 Y", "", "proved"),
        ("X r1 R1 s1 S1 Y", f", async_{ASIDE}", "unknown"),
        ("X Y r1 s1 R1 S1", f", async_{ASIDE}", "proved"),
    ],
)
def test_a_short_form_may_run_on_a_thread_of_its_own(order: str, thread: str, said: str) -> None:
    lines = [_SUGARED.get(w) or line_of(w) for w in order.split()]
    lines = [line + thread if "-start(" in line else line for line in lines]
    assert {f.verdict.value for f in found_of(module_of(lines))} == {said}


@pytest.mark.parametrize(("text", "said"), CASES.values(), ids=CASES)
def test_who_waits_for_ever_is_told_in_flight(text: str, said: str) -> None:
    verdicts = {f.verdict.value for f in found_of(text)}
    assert verdicts and (verdicts == {said} if said == "proved" else said in verdicts)
    assert said == "refuted" or "refuted" not in verdicts


@pytest.mark.parametrize(("order", "said"), [("Y sum s1 S1 X", "refuted"), ("X sum s1 S1 Y", "unknown")])
def test_a_done_ends_the_flight_that_changed_places(order: str, said: str) -> None:
    """`Y` ends `a`, whose recv is not sent, and `X` ends `b`."""
    runs = {"a": "r1", "b": "s6 r6"}
    aside = "".join(f"{computation_of(f'run_{n}', [*lines_of(o), 'q = f32[8] negate(p)'])}\n" for n, o in runs.items())
    held = "((f32[8]), f32[8], u32[])"
    begun = [f"{name} = {held} async-start(p), calls=run_{name}" for name in runs]
    text = exchanged(held, "f32[8] async-done({})", begun, order, aside).replace("replica_count=2", "replica_count=3")
    verdicts = {f.verdict.value for f in found_of(text)}
    assert said in verdicts and (said == "refuted") == ("refuted" in verdicts)
