"""What flies where a computation is handed one array twice, by one of several callers, and what a call ends or begins:
each wrong module stands beside its sound twin."""

from __future__ import annotations

from typing import Final

import pytest
from small_modules import OVER_ONE

from hloproof.claims.asynchronous import judge
from hloproof.models.hlo.parser import parse_module
from hloproof.results.verdict import Verdict

_CROSSING: Final = "flies from one computation into another"
_HEAD: Final = (
    " a = f32[8] parameter(0)\n b = f32[8] parameter(1)\n k = pred[] parameter(2)\n x = f32[8] negate(a)\n"
    " y = f32[8] cosine(a)\n u = f32[8] negate(b)\n v = f32[8] sine(b)\n"
)
_TWO: Final = " p = f32[8] parameter(0)\n q = f32[8] parameter(1)\n"
_UPDATE: Final = " c = f32[2] constant({1,2})\n z = s32[] constant(0)\n e = f32[8] dynamic-update-slice(q, c, z)\n"
_STATE: Final = "(f32[8], f32[8], u32[])"
_FLIES: Final = f" s = {_STATE} copy-start(p)\n{_UPDATE} d = f32[8] copy-done(s)\n ROOT r = f32[8] add(e, d)\n"
_WRITES: Final = (
    ' s = ((f32[8]), f32[8]) custom-call-start(p), custom_call_target="w", output_to_operand_aliasing={{}: (0, {})}\n'
    " t = f32[8] sine(q)\n d = f32[8] custom-call-done(s)\n ROOT r = f32[8] add(t, d)\n"
)
_CALLS: Final = (
    " m = f32[8] call(x, OTHER), to_apply=g\n n = f32[8] call(u, v), to_apply=g\n ROOT r = f32[8] add(m, n)\n"
)


def _told(entry: str, bodies: str, scheduled: bool = True, says: str = "") -> dict[str, set[str]]:
    """What is not proved, with its verdicts, but for what holds as far as it is known where all lies."""
    head = "HloModule m" + ", is_scheduled=true" * scheduled + says
    found = judge(parse_module(f"{head}\n{bodies}ENTRY e {{\n{_HEAD}{entry}}}\n"), lambda _: True, lambda _: False)
    out: dict[str, set[str]] = {}
    for j in found:
        if j.found.verdict is not Verdict.PROVED and _CROSSING not in (j.found.reason or ""):
            out.setdefault(j.claim, set()).add(str(j.found.verdict))
    return out


_HANDED: Final = {
    "a call": (_CALLS, f"g {{\n{_TWO}{_FLIES}}}\n"),
    "a branch": (
        " t = (f32[8], f32[8]) tuple(x, OTHER)\n o = (f32[8], f32[8]) tuple(u, v)\n"
        " ROOT r = f32[8] conditional(k, t, o), true_computation=g, false_computation=g\n",
        "g {\n t = (f32[8], f32[8]) parameter(0)\n p = f32[8] get-tuple-element(t), index=0\n"
        f" q = f32[8] get-tuple-element(t), index=1\n{_FLIES}}}\n",
    ),
    "a call in flight": (
        "".join(
            f" s{n} = ((f32[8], f32[8]), f32[8]) call-start({given}), to_apply=g\n d{n} = f32[8] call-done(s{n})\n"
            for n, given in enumerate(("x, OTHER", "u, v"))
        )
        + " ROOT r = f32[8] add(d0, d1)\n",
        f"g {{\n{_TWO}{_FLIES}}}\n",
    ),
    "a call that writes in a call": (
        _CALLS,
        f"h {{\n q = f32[8] parameter(0)\n{_UPDATE} ROOT r = f32[8] negate(e)\n}}\n"
        f"g {{\n{_TWO} s = {_STATE} copy-start(p)\n e = f32[8] call(q), to_apply=h\n d = f32[8] copy-done(s)\n"
        " ROOT r = f32[8] add(e, d)\n}\n",
    ),
    "a call in a call": (
        _CALLS.replace("to_apply=g", "to_apply=f"),
        f"g {{\n{_TWO}{_FLIES}}}\nf {{\n{_TWO} ROOT r = f32[8] call(p, q), to_apply=g\n}}\n",
    ),
    "what is handed back in flight": (
        " s = ((f32[8]), ()) async-start(x), calls=id\n w = f32[8] async-done(s)\n"
        " ROOT r = f32[8] call(x, OTHER), to_apply=g\n",
        f"id {{\n p = f32[8] parameter(0)\n ROOT r = f32[8] bitcast(p)\n}}\ng {{\n{_TWO}{_FLIES}}}\n",
    ),
}


@pytest.mark.parametrize("way", _HANDED)
def test_what_is_read_in_flight_is_not_written_where_one_array_is_handed_over_twice(way: str) -> None:
    """By one caller, and by another two arrays: no more is known in the computation than that they may be one."""
    entry, bodies = _HANDED[way]
    same, other = ("w", "y") if way == "what is handed back in flight" else ("x", "y")
    told = _told(entry.replace("OTHER", same), bodies)
    assert "unknown" in told["hazard-operand"], told
    assert not _told(entry.replace("OTHER", other), bodies)


@pytest.mark.parametrize(("other", "named"), [("x", True), ("y", False)])
def test_what_is_written_in_flight_is_not_read_where_one_array_is_handed_over_twice(other: str, named: bool) -> None:
    told = _told(_CALLS.replace("OTHER", other), f"g {{\n{_TWO}{_WRITES}}}\n")
    assert ("unknown" in told.get("hazard-output", ())) is named
    assert bool(told) is named


@pytest.mark.parametrize(("other", "named"), [("x", True), ("y", False)])
def test_what_is_read_in_flight_is_not_written_as_declared_without_a_schedule(other: str, named: bool) -> None:
    writes = (
        f' s = {_STATE} copy-start(p)\n e = f32[8] custom-call(q), custom_call_target="w", '
        "output_to_operand_aliasing={{}: (0, {})}, control-predecessors={s}\n"
        " d = f32[8] copy-done(s), control-predecessors={e}\n ROOT r = f32[8] add(e, d)\n"
    )
    told = _told(_CALLS.replace("OTHER", other), f"g {{\n{_TWO}{writes}}}\n", scheduled=False)
    assert told == ({"hazard-operand": {"unknown"}} if named else {})


_ENDS: Final = "ends {\n s = ((f32[8]), ()) parameter(0)\n ROOT d = f32[8] custom-call-done(s)\n}\n"
_BEGUN: Final = (
    ' s = ((f32[8]), ()) custom-call-start(x), custom_call_target="w", output_to_operand_aliasing={{}: (0, {})}\n'
)
_TURN: Final = (
    "turn {\n t = (f32[8], f32[8], s32[]) parameter(0)\n x = f32[8] get-tuple-element(t), index=0\n"
    " y = f32[8] get-tuple-element(t), index=1\n n = s32[] get-tuple-element(t), index=2\n"
    f" one = s32[] constant(1)\n m = s32[] subtract(n, one)\n yc = f32[8] copy(y)\n{_BEGUN}"
    " d = f32[8] ENDS\nLINES ROOT o = (f32[8], f32[8], s32[]) tuple(v, q, m)\n}\n"
    "more {\n t = (f32[8], f32[8], s32[]) parameter(0)\n n = s32[] get-tuple-element(t), index=2\n"
    " z = s32[] constant(0)\n ROOT o = pred[] compare(n, z), direction=GT\n}\n"
)


@pytest.mark.parametrize("ends", ["call(s), to_apply=ends", "custom-call-done(s)"])
@pytest.mark.parametrize("state", ["((f32[8]), ())", "(f32[8], ())"])
def test_what_a_call_ends_lies_where_it_was_written(ends: str, state: str) -> None:
    """Though the result is not promised where it begins; older text has one operand without parentheses."""
    made, read = " v = f32[8] negate(yc)\n", " q = f32[8] sine(d)\n"
    entry = (
        " n = s32[] constant(3)\n t = (f32[8], f32[8], s32[]) tuple(x, y, n)\n"
        " w = (f32[8], f32[8], s32[]) while(t), condition=more, body=turn\n"
        " ROOT r = f32[8] get-tuple-element(w), index=0\n"
    )
    for lines, told in ((made + read, {"hazard-overwrite": {"refuted"}}), (read + made, {})):
        ended = _ENDS if ends.startswith("call") else ""
        bodies = (ended + _TURN.replace("ENDS", ends).replace("LINES", lines)).replace("((f32[8]), ())", state)
        assert _told(entry, bodies) == told


@pytest.mark.parametrize("state", ["((f32[8]), f32[8])", "((f32[8]), ())"])
@pytest.mark.parametrize("written", [False, True])
def test_the_operands_that_a_state_holds_are_no_results(state: str, written: bool) -> None:
    """A call begins what writes in place; what else writes there is wrong all the same."""
    update = " c = f32[2] constant({1,2})\n z = s32[] constant(0)\n q = f32[8] dynamic-update-slice(p, c, z)\n"
    bodies = "starts {\n p = f32[8] parameter(0)\n" + _BEGUN.replace("((f32[8]), ())", state).replace("(x)", "(p)")
    bodies += update + f" ROOT t = ({state}, f32[8]) tuple(s, q)\n}}\n" if written else "}\n"
    entry = f" s = {state} call(x), to_apply=starts\n ROOT d = f32[8] custom-call-done(s)\n"
    if written:
        entry = (
            f" t = ({state}, f32[8]) call(x), to_apply=starts\n s = {state} get-tuple-element(t), index=0\n"
            " q = f32[8] get-tuple-element(t), index=1\n d = f32[8] custom-call-done(s)\n ROOT r = f32[8] add(d, q)\n"
        )
    else:
        bodies = bodies.replace(" s = ", " ROOT s = ")
    assert bool(_told(entry, bodies)) is written


@pytest.mark.parametrize("late", [False, True])
def test_two_arguments_that_one_caller_hands_over_as_one_are_no_two_values_there(late: bool) -> None:
    """Which are read before either is written over."""
    read, write = " n = f32[8] sine(q)\n", " e = f32[8] dynamic-update-slice(p, c, z)\n"
    lines = " c = f32[2] constant({1,2})\n z = s32[] constant(0)\n" + (write + read if late else read + write)
    bodies = (
        f'g {{\n{_TWO}{lines} o = f32[8] custom-call(n), custom_call_target="o", custom_call_has_side_effect=true\n'
    )
    told = _told(_CALLS.replace("OTHER", "x"), bodies + " ROOT r = f32[8] bitcast(e)\n}\n")
    assert set(told) == ({"hazard-overwrite"} if late else set())


_BEGINS: Final = {
    "promised": " s = ((f32[8]), f32[8]) async-start(a), calls=writes\n d = f32[8] async-done(s)\n",
    "by the end": " s = ((f32[8]), ()) async-start(a), calls=writes\n d = f32[8] async-done(s)\n",
    "by an update": " s = ((f32[8]), ()) async-start(a), calls=writes\n w = ((f32[8]), f32[8]) async-update(s)\n"
    " d = f32[8] async-done(w)\n",
    "by the end of a call": " s = ((f32[8]), ()) call-start(a), to_apply=writes\n d = f32[8] call-done(s)\n",
}


@pytest.mark.parametrize("begins", _BEGINS)
@pytest.mark.parametrize("late", [False, True])
def test_what_a_computation_in_flight_makes_in_place_lies_there(begins: str, late: bool) -> None:
    """Also where its result is bound later. The array is given away, so that another result lies there as well."""
    steps = [" o = f32[8] negate(b)\n", " n = f32[8] negate(d)\n"]
    entry = _BEGINS[begins] + "".join(steps if late else reversed(steps)) + " ROOT r = (f32[8], f32[8]) tuple(n, o)\n"
    told = _told(entry, OVER_ONE, says=", input_output_alias={ {1}: (0, {}, may-alias) }")
    assert told == ({"hazard-donation": {"refuted"}} if late else {})


def test_what_flies_may_be_given_a_copy_of_what_it_writes() -> None:
    """Before copies are inserted, of an array that another one in flight reads."""
    text = (
        f"HloModule m\n{OVER_ONE}ENTRY e {{\n{_HEAD} s = ((f32[8]), f32[8], s32[]) async-start(x), calls=writes\n"
        f" d = f32[8] async-done(s)\n t = {_STATE} copy-start(x)\n o = f32[8] copy-done(t)\n"
        " ROOT r = f32[8] add(d, o)\n}\n"
    )
    found = {(j.claim, j.place.instruction): j for j in judge(parse_module(text), lambda _: True, lambda _: False)}
    read = found["hazard-operand", "t"]
    assert read.found.verdict is Verdict.PROVED
    assert read.note == "needs-copy: s may not update x in place while t reads it"


_CHOOSES: Final = {
    "at once": " c = f32[8] conditional(i, x, y), branch_computations={hands, OTHER}\n",
    "in a call": " c = f32[8] call(i, x, y), to_apply=chooses\n",
    "in flight": " s = ((s32[], f32[8], f32[8]), f32[8]) async-start(i, x, y), calls=chooses\n"
    " c = f32[8] async-done(s)\n",
    "in flight, and bound later": " s = ((s32[], f32[8], f32[8]), ()) async-start(i, x, y), calls=chooses\n"
    " c = f32[8] async-done(s)\n",
}


@pytest.mark.parametrize("way", _CHOOSES)
@pytest.mark.parametrize(("other", "wrong"), [("hands", True), ("anew", False)])
def test_what_a_choice_joins_is_joined_for_whoever_calls_it(way: str, other: str, wrong: bool) -> None:
    """Both that it may hand on lie where it does, so that they are one buffer."""
    chooses = " i = s32[] parameter(0)\n x = f32[8] parameter(1)\n y = f32[8] parameter(2)\n" + _CHOOSES["at once"]
    bodies = OVER_ONE + f"chooses {{\n{chooses} ROOT r = f32[8] bitcast(c)\n}}\n"
    entry = " i = s32[] parameter(3)\n" + _CHOOSES[way] + " ROOT r = f32[8] negate(c)\n"
    told = _told(entry.replace("OTHER", other), bodies.replace("OTHER", other))
    assert ("refuted" in told.get("hazard-overwrite", ())) is wrong
    assert any(claim.startswith("hazard") for claim in told) is wrong


@pytest.mark.parametrize(("other", "unknown"), [("x", True), ("y", False)])
@pytest.mark.parametrize("bound", ["at once", "by an update"])
def test_what_flies_reads_and_writes_as_one_however_it_is_bound(bound: str, other: str, unknown: bool) -> None:
    both = "((f32[8], f32[8]), f32[8])"
    starts = {
        "at once": f" w = {both} async-start(p, q), calls=body\n",
        "by an update": f" s = ((f32[8]), f32[8]) async-start(p), calls=body\n w = {both} async-update(s, q)\n",
    }
    bodies = f"body {{\n{_TWO} g = f32[8] call(q), to_apply=writes\n ROOT r = f32[8] add(g, p)\n}}\n"
    bodies += f"g {{\n{_TWO}{starts[bound]} ROOT d = f32[8] async-done(w)\n}}\n"
    told = _told(_CALLS.replace("OTHER", other), OVER_ONE + bodies)
    assert told.get("hazard-overwrite", set()) == ({"unknown"} if unknown else set())


@pytest.mark.parametrize(("reads", "wrong"), [("negate(p)", False), ("add(p, q)", True)])
def test_what_a_computation_in_flight_is_given_and_never_reads_may_be_written_over(reads: str, wrong: bool) -> None:
    bodies = f"first {{\n{_TWO} ROOT r = f32[8] {reads}\n}}\n"
    entry = (
        " w = f32[8] call(x), to_apply=writes\n s = ((f32[8], f32[8]), f32[8]) async-start(w, x), calls=first\n"
        " ROOT d = f32[8] async-done(s)\n"
    )
    assert _told(entry, OVER_ONE + bodies) == ({"hazard-overwrite": {"refuted"}} if wrong else {})


_CARRIES: Final = f"({_STATE}, f32[8])"
_CROSSED: Final = {
    "a call": f" w = {_CARRIES} call(t), to_apply=through\n",
    "a branch": f" k = pred[] constant(true)\n w = {_CARRIES} conditional(k, t, t), true_computation=through, "
    "false_computation=through\n",
    "a loop": f" w = {_CARRIES} while(t), condition=more, body=through\n",
    "a call in a call": f" w = {_CARRIES} call(t), to_apply=calls\n",
}
_THROUGH: Final = (
    f"through {{\n t = {_CARRIES} parameter(0)\n s = {_STATE} get-tuple-element(t), index=0\n"
    f" q = f32[8] get-tuple-element(t), index=1\nWRITES ROOT o = {_CARRIES} tuple(s, e)\n}}\n"
    f"calls {{\n t = {_CARRIES} parameter(0)\n ROOT o = {_CARRIES} call(t), to_apply=through\n}}\n"
    f"more {{\n t = {_CARRIES} parameter(0)\n ROOT o = pred[] constant(false)\n}}\n"
)


@pytest.mark.parametrize("scheduled", [True, False])
@pytest.mark.parametrize("crossed", _CROSSED)
@pytest.mark.parametrize(("other", "unknown"), [("x", True), ("y", False)])
def test_what_crosses_a_computation_in_flight_is_judged_where_that_is_called(
    crossed: str, other: str, unknown: bool, scheduled: bool
) -> None:
    """Where the caller itself is handed one array twice."""
    declared = ' e = f32[8] custom-call(q), custom_call_target="w", output_to_operand_aliasing={{}: (0, {})}\n'
    bodies = _THROUGH.replace("WRITES", _UPDATE if scheduled else declared) + (
        f"g {{\n{_TWO} s = {_STATE} copy-start(p)\n t = {_CARRIES} tuple(s, q)\n{_CROSSED[crossed]}"
        f" f = {_STATE} get-tuple-element(w), index=0\n e = f32[8] get-tuple-element(w), index=1\n"
        " d = f32[8] copy-done(f)\n ROOT r = f32[8] add(e, d)\n}\n"
    )
    told = _told(_CALLS.replace("OTHER", other), bodies, scheduled)
    # What a branch writes may still be kept apart by a copy where there is no schedule.
    unknown = unknown and (scheduled or crossed != "a branch")
    assert told.get("hazard-operand", set()) == ({"unknown"} if unknown else set())
    assert bool(told) is unknown


@pytest.mark.parametrize(("other", "unknown"), [("x", True), ("y", False)])
@pytest.mark.parametrize("inside", [False, True])
def test_what_is_bound_later_may_be_read_before_it_is_written(other: str, unknown: bool, inside: bool) -> None:
    """By the operation that reads and writes one array, which is bound twice."""
    run = (
        f"run {{\n{_TWO} c = f32[2] slice(q), slice={{[0:2]}}\n n = f32[8] sine(q)\n z = s32[] constant(0)\n"
        " e = f32[8] dynamic-update-slice(p, c, z)\n ROOT r = f32[8] add(e, n)\n}\n"
    )
    steps = (
        " s = ((f32[8]), ()) call-start(x), to_apply=run\n"
        f" w = ((f32[8], f32[8]), f32[8]) call-update(s, {other})\n ROOT d = f32[8] call-done(w)\n"
    )
    called = steps.replace("(x)", "(p)").replace(f"(s, {other})", "(s, q)")
    entry = _CALLS.replace("OTHER", other) if inside else steps
    told = _told(entry, run + f"g {{\n{_TWO}{called}}}\n" if inside else run)
    assert told.get("hazard-overwrite", set()) == ({"unknown"} if unknown else set())


@pytest.mark.parametrize(("late", "wrong"), [(False, True), (True, False)])
def test_what_a_computation_in_flight_reads_of_a_tuple_is_read(late: bool, wrong: bool) -> None:
    bodies = (
        "reads {\n t = (f32[8], f32[8]) parameter(0)\n p = f32[8] get-tuple-element(t), index=0\n"
        " ROOT r = f32[8] negate(p)\n}\n"
    )
    write = " w = f32[8] call(x), to_apply=writes\n"
    flies = (
        " t = (f32[8], f32[8]) tuple(x, y)\n s = (((f32[8], f32[8])), f32[8]) call-start(t), to_apply=reads\n"
        " d = f32[8] call-done(s)\n"
    )
    entry = (flies + write if late else write + flies) + " ROOT r = f32[8] add(d, w)\n"
    assert _told(entry, OVER_ONE + bodies) == ({"hazard-overwrite": {"refuted"}} if wrong else {})


_MADE: Final = (
    "out {\n p = f32[8] parameter(0)\n e = f32[8] call(p), to_apply=writes\n"
    " s = ((f32[8]), f32[8]) call-start(e), to_apply=anew\n ROOT o = (((f32[8]), f32[8]), f32[8]) tuple(s, e)\n}\n"
)


@pytest.mark.parametrize(("late", "wrong"), [("x", True), ("a", False)])
def test_what_is_written_and_held_in_flight_is_written(late: str, wrong: bool) -> None:
    """Before what reads it begins; the state that holds it is handed back beside it."""
    entry = (
        " w = (((f32[8]), f32[8]), f32[8]) call(x), to_apply=out\n"
        " s = ((f32[8]), f32[8]) get-tuple-element(w), index=0\n"
        " q = f32[8] get-tuple-element(w), index=1\n d = f32[8] call-done(s)\n"
        f" h = f32[8] sine({late}), control-predecessors={{d}}\n m = f32[8] add(d, h)\n ROOT r = f32[8] add(m, q)\n"
    )
    assert _told(entry, OVER_ONE + _MADE) == ({"hazard-overwrite": {"refuted"}} if wrong else {})


@pytest.mark.parametrize(("given", "unknown"), [("g", True), ("h", True), ("y", False)])
@pytest.mark.parametrize("scheduled", [True, False])
def test_what_an_operation_writes_it_is_not_given(given: str, unknown: bool, scheduled: bool) -> None:
    entry = (
        " s = ((f32[8]), f32[8]) add-start(x)\n g = f32[8] get-tuple-element(s), index=1\n h = f32[8] bitcast(g)\n"
        f" t = ((f32[8], f32[8]), f32[8]) add-update(s, {given})\n ROOT d = f32[8] add-done(t)\n"
    )
    assert _told(entry, "", scheduled) == ({"hazard-output": {"unknown"}} if unknown else {})


@pytest.mark.parametrize(("second", "wrong"), [("{1}: (0, {})", True), ("{1}: (1, {})", False)])
def test_two_results_that_end_in_one_operand_are_two(second: str, wrong: bool) -> None:
    """Though neither is promised."""
    entry = (
        ' s = ((f32[8], f32[8]), ()) custom-call-start(x, y), custom_call_target="w", output_to_operand_aliasing='
        f"{{{{0}}: (0, {{}}), {second}}}\n ROOT d = (f32[8], f32[8]) custom-call-done(s)\n"
    )
    assert ("refuted" in _told(entry, "").get("hazard-overwrite", ())) is wrong


_ADDS: Final = f"adds {{\n{_TWO} ROOT r = f32[8] add(p, q)\n}}\n"
_BOUND: Final = "((f32[8], f32[8]), f32[8])"
_ROUND: Final = {
    "one operation of two operands": (
        _BOUND,
        " s = TYPE call-start(ONE, OTHER), to_apply=adds\n",
        " d = f32[8] call-done(t)\n m = f32[8] cosine(d)\n n = f32[8] sine(d)\n",
        " ROOT d = f32[8] call-done(w)\n",
    ),
    "two copies": (
        f"({_STATE}, {_STATE})",
        f" f = {_STATE} copy-start(ONE)\n g = {_STATE} copy-start(OTHER)\n s = TYPE tuple(f, g)\n",
        f" i = {_STATE} get-tuple-element(t), index=0\n j = {_STATE} get-tuple-element(t), index=1\n"
        " d = f32[8] copy-done(i)\n c = f32[8] copy-done(j)\n m = f32[8] cosine(d)\n n = f32[8] sine(c)\n",
        f" i = {_STATE} get-tuple-element(w), index=0\n j = {_STATE} get-tuple-element(w), index=1\n"
        " d = f32[8] copy-done(i)\n c = f32[8] copy-done(j)\n ROOT r = f32[8] add(d, c)\n",
    ),
    "an operation beside an array": (
        f"({_STATE}, f32[8])",
        f" f = {_STATE} copy-start(ONE)\n s = TYPE tuple(f, OTHER)\n",
        f" i = {_STATE} get-tuple-element(t), index=0\n c = f32[8] get-tuple-element(t), index=1\n"
        " d = f32[8] copy-done(i)\n n = f32[8] add(c, d)\n m = f32[8] cosine(d)\n",
        f" i = {_STATE} get-tuple-element(w), index=0\n c = f32[8] get-tuple-element(w), index=1\n"
        " d = f32[8] copy-done(i)\n ROOT r = f32[8] add(d, c)\n",
    ),
}


@pytest.mark.parametrize("way", _ROUND)
@pytest.mark.parametrize(("other", "wrong"), [("x", True), ("y", False)])
def test_a_loop_that_is_handed_one_array_twice_makes_two_values_of_it(way: str, other: str, wrong: bool) -> None:
    """Which would lie in one buffer: what flies reads it, though no instruction does."""
    state, begins, turns, ends = _ROUND[way]
    again = begins.replace("ONE", "m").replace("OTHER", "n").replace(" s = ", " ROOT s = ").replace("TYPE", state)
    bodies = f"{_ADDS}turn {{\n t = {state} parameter(0)\n{turns}{again}}}\n"
    bodies += f'more {{\n t = {state} parameter(0)\n ROOT o = pred[] custom-call(), custom_call_target="any"\n}}\n'
    entry = begins.replace("ONE", "x").replace("OTHER", other).replace("TYPE", state)
    told = _told(f"{entry} w = {state} while(s), condition=more, body=turn\n{ends}", bodies)
    assert ("refuted" in told.get("hazard-overwrite", set())) is wrong
    assert wrong or not told
