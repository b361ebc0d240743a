"""Where a flight begins and ends: at what an update promises, not where the state is only looked at, and nowhere where
nobody finishes it; and what is taken out of a state while it is written. Each wrong module stands beside its twin."""

from __future__ import annotations

from typing import Final

import pytest
from small_modules import OVER_ONE

from hloproof.claims.asynchronous import judge
from hloproof.models.hlo.parser import parse_module
from hloproof.results.verdict import Verdict

_HEAD: Final = " a = f32[8] parameter(0)\n b = pred[] parameter(1)\n x = f32[8] negate(a)\n y = f32[8] cosine(a)\n"


def _judged(entry: str, bodies: str, scheduled: bool = True) -> dict[str, set[Verdict]]:
    """Verdicts by claim."""
    head = "HloModule m" + ", is_scheduled=true" * scheduled
    out: dict[str, set[Verdict]] = {}
    for j in judge(parse_module(f"{head}\n{bodies}ENTRY e {{\n{_HEAD}{entry}}}\n"), lambda _: True, lambda _: False):
        out.setdefault(j.claim, set()).add(j.found.verdict)
    return out


def _wrong(found: dict[str, set[Verdict]]) -> dict[str, Verdict]:
    """The worst verdict of each claim that is not proved."""
    worst = {claim: Verdict.REFUTED if Verdict.REFUTED in told else Verdict.UNKNOWN for claim, told in found.items()}
    return {claim: verdict for claim, verdict in worst.items() if found[claim] != {Verdict.PROVED}}


_UPDATED: Final = {
    "generic": ("async-start(x), calls=anew", "async-update(s)", "async-done"),
    "sugared": ("negate-start(x)", "negate-update(s)", "negate-done"),
}
_READ: Final = " r = f32[8] get-tuple-element(u), index=1\n n = f32[8] negate(r)\n"


@pytest.mark.parametrize("form", _UPDATED)
@pytest.mark.parametrize("scheduled", [True, False])
@pytest.mark.parametrize("late", [False, True])
def test_what_an_update_promises_is_in_flight_from_there(form: str, scheduled: bool, late: bool) -> None:
    """Though it binds no operand."""
    start, update, done = _UPDATED[form]
    end = f" d = f32[8] {done}(u)\n"
    entry = f" s = ((f32[8]), ()) {start}\n u = ((f32[8]), f32[8]) {update}\n"
    entry += f"{end} n = f32[8] negate(d)\n" if late else _READ + end
    found = _judged(f"{entry} ROOT v = f32[8] add(d, n)\n", OVER_ONE, scheduled)
    assert _wrong(found) == ({} if late else {"hazard-output": Verdict.REFUTED})


@pytest.mark.parametrize(("read", "wrong"), [("r", True), ("x", False)])
def test_what_an_update_promises_in_a_call_is_in_flight_there(read: str, wrong: bool) -> None:
    inside = " u = ((f32[8]), f32[8], u32[]) async-update(s)\n" + _READ.replace("negate(r)", f"negate({read})")
    inside += " d = f32[8] async-done(u)\n ROOT v = f32[8] add(n, d)\n"
    bodies = f"{OVER_ONE}ends {{\n s = ((f32[8]), (), u32[]) parameter(0)\n x = f32[8] parameter(1)\n{inside}}}\n"
    entry = " s = ((f32[8]), (), u32[]) async-start(x), calls=anew\n ROOT v = f32[8] call(s, y), to_apply=ends\n"
    assert _wrong(_judged(entry, bodies)) == ({"hazard-output": Verdict.REFUTED} if wrong else {})


_COPY: Final = "(f32[8], f32[8], u32[])"
_CARRIED: Final = {
    "a copy": (_COPY, "copy-start(x)"),
    "a send": ("(f32[8], u32[], token[])", "send(x, o), channel_id=1"),
    "a computation": ("((f32[8]), f32[8], u32[])", "async-start(x), calls=anew"),
}


@pytest.mark.parametrize("carried", _CARRIED)
@pytest.mark.parametrize(("written", "wrong"), [("x", True), ("y", False)])
def test_what_a_loop_carries_on_and_nobody_finishes_is_in_flight_to_the_end(
    carried: str, written: str, wrong: bool
) -> None:
    state, start = _CARRIED[carried]
    parts = "".join(
        f" {name} = {shape} get-tuple-element(t), index={n}\n"
        for n, (name, shape) in enumerate((("s", state), ("p", "f32[8]"), ("k", "pred[]")))
    )
    whole = f"({state}, f32[8], pred[])"
    bodies = (
        f"{OVER_ONE}turn {{\n t = {whole} parameter(0)\n{parts} c = f32[2] constant({{1,2}})\n z = s32[] constant(0)\n"
    )
    bodies += f" n = f32[8] dynamic-update-slice(p, c, z)\n m = pred[] not(k)\n ROOT r = {whole} tuple(s, n, m)\n}}\n"
    bodies += f"more {{\n t = {whole} parameter(0)\n ROOT k = pred[] get-tuple-element(t), index=2\n}}\n"
    entry = (
        f" q = pred[] not(b)\n o = token[] after-all()\n s = {state} {start}\n t0 = {whole} tuple(s, {written}, q)\n"
    )
    entry += f" t = {whole} while(t0), condition=more, body=turn\n ROOT p = f32[8] get-tuple-element(t), index=1\n"
    told = _wrong(_judged(entry, bodies))
    assert told.get("hazard-operand") == (Verdict.REFUTED if wrong else None)
    assert wrong or not told


_SENT: Final = "((f32[8]), f32[8])"
_SMALL: Final = " c = f32[2] constant({1,2})\n z = s32[] constant(0)\n"
_FOR_EVER: Final = {
    "before the loop": (
        f" w = f32[8] dynamic-update-slice(READ, c, z)\n l = {_SENT} while(s), condition=asks, body=stays\n"
        " ROOT r = f32[8] negate(w)\n",
        "hazard-operand",
    ),
    "where no loop is entered": (
        " l = f32[8] conditional(b, s, s), true_computation=carries, false_computation=drops\n"
        " w = f32[8] dynamic-update-slice(READ, c, z)\n ROOT r = f32[8] add(l, w)\n",
        "hazard-operand",
    ),
    "by who reads the result": (
        f" g = f32[8] get-tuple-element(s), index=1\n n = f32[8] negate(GIVEN)\n l = {_SENT} while(s), condition=asks, "
        "body=stays\n ROOT r = f32[8] negate(n)\n",
        "hazard-output",
    ),
}


@pytest.mark.parametrize("where", _FOR_EVER)
@pytest.mark.parametrize("wrong", [True, False])
def test_what_a_loop_without_end_carries_on_is_let_pass_for_its_own_start_alone(where: str, wrong: bool) -> None:
    lines, claim = _FOR_EVER[where]
    bodies = f"asks {{\n s = {_SENT} parameter(0)\n ROOT o = pred[] constant(true)\n}}\n"
    bodies += f"stays {{\n ROOT s = {_SENT} parameter(0)\n}}\n"
    if "carries" in lines:
        ends = ' ROOT r = f32[8] custom-call(), custom_call_target="any"\n}\n'
        bodies += f"carries {{\n s = {_SENT} parameter(0)\n l = {_SENT} while(s), condition=asks, body=stays\n{ends}"
        bodies += f"drops {{\n s = {_SENT} parameter(0)\n{ends}"
    read, given = ("x", "g") if wrong else ("y", "y")
    entry = f'{_SMALL} s = {_SENT} custom-call-start(x), custom_call_target="f"\n'
    entry += lines.replace("READ", read).replace("GIVEN", given)
    assert _wrong(_judged(entry, bodies)) == ({claim: Verdict.REFUTED} if wrong else {})


_WITH_IT: Final = {
    "a start that nobody ends": (' ROOT r = ((f32[8]), f32[8]) custom-call-start(h), custom_call_target="f"\n', True),
    "a pair of its own": (
        " f = (f32[8], f32[8], u32[]) copy-start(h)\n v = f32[8] copy-done(f)\n"
        ' ROOT r = ((f32[8]), f32[8]) custom-call-start(v), custom_call_target="f"\n',
        False,
    ),
    "a start that ends in the turn": (
        " f = ((f32[8]), f32[8]) negate-start(h)\n v = f32[8] negate-done(f)\n"
        ' ROOT r = ((f32[8]), f32[8]) custom-call-start(v), custom_call_target="f"\n',
        False,
    ),
    "a read": (
        ' v = f32[8] negate(h)\n ROOT r = ((f32[8]), f32[8]) custom-call-start(v), custom_call_target="f"\n',
        False,
    ),
}


@pytest.mark.parametrize("begins", _WITH_IT)
@pytest.mark.parametrize("for_ever", [True, False])
def test_the_next_turn_may_begin_with_what_nobody_ever_finishes(begins: str, for_ever: bool) -> None:
    """As in XLA's own tests, and with nothing that is waited for."""
    lines, passes = _WITH_IT[begins]
    asked = "constant(true)" if for_ever else 'custom-call(), custom_call_target="any"'
    bodies = f"asks {{\n s = {_SENT} parameter(0)\n ROOT o = pred[] {asked}\n}}\n"
    bodies += f"turns {{\n s = {_SENT} parameter(0)\n h = f32[8] get-tuple-element(s), index=1\n{lines}}}\n"
    entry = f' s = {_SENT} custom-call-start(x), custom_call_target="f"\n'
    found = _judged(f"{entry} ROOT l = {_SENT} while(s), condition=asks, body=turns\n", bodies, scheduled=False)
    told = found["hazard-output"]
    assert (Verdict.REFUTED in told, told == {Verdict.PROVED}) == (
        (False, True) if passes and for_ever else (True, False)
    )


def test_a_start_of_a_loop_without_end_does_not_write_what_is_read() -> None:
    state = "(((f32[8]), f32[8]), f32[8])"
    bodies = f"asks {{\n t = {state} parameter(0)\n ROOT o = pred[] constant(true)\n}}\n"
    bodies += f"turns {{\n t = {state} parameter(0)\n p = f32[8] get-tuple-element(t), index=1\n"
    begun = 'custom-call-start(p), custom_call_target="w", output_to_operand_aliasing={{}: (0, {})}'
    bodies += f" q = ((f32[8]), f32[8]) {begun}\n"
    bodies += " v = f32[8] custom-call-done(q)\n n = f32[8] negate(v)\n s = ((f32[8]), f32[8]) negate-start(n)\n"
    bodies += f" ROOT r = {state} tuple(s, n)\n}}\n"
    entry = f" s = ((f32[8]), f32[8]) negate-start(x)\n t = {state} tuple(s, y)\n"
    found = _judged(f"{entry} ROOT l = {state} while(t), condition=asks, body=turns\n", bodies, scheduled=False)
    assert Verdict.UNKNOWN in found["hazard-operand"]


@pytest.mark.parametrize("scheduled", [True, False])
@pytest.mark.parametrize("ends", ["ends", "ends_too"])
def test_what_ends_an_operation_may_be_called_by_what_that_runs(ends: str, scheduled: bool) -> None:
    """It is a circle of nobody's calls, and once ended without an end."""
    state = "((f32[8]), f32[8], u32[])"
    end = f"NAME {{\n s = {state} parameter(0)\n ROOT d = f32[8] async-done(s)\n}}\n"
    bodies = OVER_ONE + end.replace("NAME", "ends") + (end.replace("NAME", ends) if ends != "ends" else "")
    bodies += f"inner {{\n x = f32[8] parameter(0)\n t = {state} async-start(x), calls=anew\n"
    bodies += f" ROOT c = f32[8] call(t), to_apply={ends}\n}}\n"
    bodies += "runs {\n x = f32[8] parameter(0)\n ROOT c = f32[8] call(x), to_apply=inner\n}\n"
    entry = f" s = {state} async-start(x), calls=runs\n ROOT c = f32[8] call(s), to_apply=ends\n"
    found = _judged(entry, bodies, scheduled)
    assert found["hazard-output"] == {Verdict.UNKNOWN if scheduled and ends == "ends" else Verdict.PROVED}


@pytest.mark.parametrize(("read", "wrong"), [("g", True), ("x", False)])
def test_what_an_operation_hands_back_unfinished_is_in_flight_to_its_end(read: str, wrong: bool) -> None:
    state = "(f32[8], u32[], token[])"
    bodies = "gets {\n x = f32[8] parameter(0)\n o = token[] parameter(1)\n"
    bodies += f" s = {state} recv(o), channel_id=1\n g = f32[8] get-tuple-element(s), index=0\n"
    bodies += f' v = f32[8] negate({read})\n ROOT t = ({state}, f32[8]) tuple(s, v)\n}}, execution_thread="other"\n'
    entry = (
        f" o = token[] after-all()\n s = ((f32[8], token[]), ({state}, f32[8]), u32[]) async-start(x, o), calls=gets, "
    )
    entry += f'async_execution_thread="other"\n d = ({state}, f32[8]) async-done(s)\n'
    found = _judged(f"{entry} ROOT v = f32[8] get-tuple-element(d), index=1\n", bodies)
    assert _wrong(found) == ({"hazard-output": Verdict.REFUTED} if wrong else {})


_TAKEN: Final = {
    "declared": ('custom-call-start(x), custom_call_target="w", output_to_operand_aliasing={{}: (0, {})}', True),
    "in a computation": ("async-start(x), calls=writes", True),
    "handed back": ("async-start(x), calls=hands", False),
    "made anew": ("async-start(x), calls=anew", False),
}


@pytest.mark.parametrize("taken", _TAKEN)
@pytest.mark.parametrize("by", ["sine(o)", "copy-done(c)"])
def test_no_copy_comes_between_a_state_and_what_is_taken_out_of_it(taken: str, by: str) -> None:
    """Before copies are inserted: an operand that is read before it is handed over may be copied first."""
    start, writes = _TAKEN[taken]
    done = start.split("-start")[0] + "-done"
    state = "((f32[8]), f32[8])"
    takes = " h = (f32[8]) get-tuple-element(s), index=0\n o = f32[8] get-tuple-element(h), index=0\n"
    entry = f" s = {state} {start}\n{takes}"
    entry += f" c = {_COPY} copy-start(o)\n" if "(c)" in by else ""
    entry += f" n = f32[8] {by}\n d = f32[8] {done}(s)\n ROOT v = f32[8] add(n, d)\n"
    assert _judged(entry, OVER_ONE, scheduled=False)["hazard-output"] == {Verdict.UNKNOWN if writes else Verdict.PROVED}
    if writes:
        assert Verdict.REFUTED in _wrong(_judged(entry, OVER_ONE)).values()
        before = entry.replace(takes, "").replace("(o)", "(x)")
        assert Verdict.UNKNOWN not in _judged(before, OVER_ONE, scheduled=False)["hazard-output"]


_FLAG: Final = "(pred[], pred[], u32[])"
_PEEKS: Final = {
    "a call": (" g = pred[] call(s), to_apply=peeks\n", ""),
    "a call in a call": (
        " g = pred[] call(s), to_apply=asks_others\n",
        f"asks_others {{\n s = {_FLAG} parameter(0)\n ROOT g = pred[] call(s), to_apply=peeks\n}}\n",
    ),
    "a branch": (
        ' q = pred[] custom-call(), custom_call_target="any"\n'
        " g = pred[] conditional(q, s, s), true_computation=peeks, false_computation=peeks\n",
        "",
    ),
}
_ASKS: Final = {
    "is what is asked": (" ROOT r = pred[] opt-barrier(g)\n", 0),
    "is read": (" ROOT r = pred[] not(g)\n", 0),
    "is written": (
        ' ROOT r = pred[] custom-call(g), custom_call_target="w", output_to_operand_aliasing={{}: (0, {})}\n',
        1,
    ),
}


@pytest.mark.parametrize("peeks", _PEEKS)
@pytest.mark.parametrize("asks", _ASKS)
@pytest.mark.parametrize("wrong", [True, False])
def test_what_only_looks_at_a_state_does_not_end_it(peeks: str, asks: str, wrong: bool) -> None:
    """As conditions do: a turn ends it, or what stands behind the loop. What is being copied may be read."""
    (lines, others), (root, part) = _PEEKS[peeks], _ASKS[asks]
    if not wrong:
        root, part = " ROOT r = pred[] not(g)\n", 1
    bodies = f"peeks {{\n s = {_FLAG} parameter(0)\n ROOT g = pred[] get-tuple-element(s), index={part}\n}}\n{others}"
    bodies += f"more {{\n s = {_FLAG} parameter(0)\n{lines}{root}}}\n"
    bodies += f"turn {{\n s = {_FLAG} parameter(0)\n d = pred[] copy-done(s)\n n = pred[] not(d)\n"
    bodies += f" ROOT t = {_FLAG} copy-start(n)\n}}\n"
    entry = f" q = pred[] not(b)\n s = {_FLAG} copy-start(q)\n"
    entry += f" t = {_FLAG} while(s), condition=more, body=turn\n ROOT d = pred[] copy-done(t)\n"
    told = set().union(*_judged(entry, bodies).values())
    assert (Verdict.REFUTED in told, told == {Verdict.PROVED}) == (wrong, not wrong)
