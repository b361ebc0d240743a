"""What flies from one computation into another: what is followed there, and where nothing is proved of the buffers of a
module because it is not."""

from __future__ import annotations

from typing import Final

import pytest
from small_modules import OVER_ONE

from hloproof.claims.asynchronous import judge
from hloproof.claims.asynchronous.judgement import Judgement
from hloproof.models.hlo.parser import parse_module
from hloproof.results.verdict import Verdict

_CROSSING: Final = "flies from one computation into another"
_HEAD: Final = (
    " a = f32[8] parameter(0)\n x = f32[8] negate(a)\n y = f32[8] cosine(a)\n u = f32[8] sine(a)\n"
    " k = s32[] constant(0)\n"
)
_TWO: Final = " p = f32[8] parameter(0)\n q = f32[8] parameter(1)\n"
_BODIES: Final = OVER_ONE + "adds {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b)\n}\n"


def _of_buffers(entry: str, bodies: str, scheduled: bool = True) -> list[Judgement]:
    head = "HloModule m" + ", is_scheduled=true" * scheduled
    module = parse_module(f"{head}\n{_BODIES}{bodies}ENTRY e {{\n{_HEAD}{entry}}}\n")
    found = judge(module, lambda name: name.startswith("hazard-") and name != "hazard-order", lambda _: False)
    return list(found)


def _verdicts(entry: str, bodies: str, scheduled: bool = True) -> set[Verdict]:
    return {j.found.verdict for j in _of_buffers(entry, bodies, scheduled)}


_STARTS: Final = {
    "writes what it is given": (
        "((f32[8]), f32[8])",
        'custom-call-start(x), custom_call_target="w", output_to_operand_aliasing={{}: (0, {})}',
        "custom-call-done",
    ),
    "its result is bound at the end": (
        "((f32[8]), ())",
        'custom-call-start(x), custom_call_target="w", output_to_operand_aliasing={{}: (0, {})}',
        "custom-call-done",
    ),
    "writes it in a computation": ("((f32[8]), f32[8], u32[])", "async-start(x), calls=writes", "async-done"),
    "hands it back": ("((f32[8]), f32[8], u32[])", "async-start(x), calls=hands", "async-done"),
    "works anew": ("((f32[8]), f32[8], u32[])", "async-start(x), calls=anew", "async-done"),
    "copies": ("(f32[8], f32[8], u32[])", "copy-start(x)", "copy-done"),
    "a sum": ("f32[8]", "all-reduce-start(x), to_apply=adds", "all-reduce-done"),
}
_WAYS: Final = {
    "it is begun in a call": (
        " s = STATE call(x), to_apply=begins\n d = f32[8] ENDS(s)\n",
        "begins {\n x = f32[8] parameter(0)\n ROOT s = STATE STARTS\n}\n",
    ),
    "it ends in a call": (
        " s = STATE STARTS\n d = f32[8] call(s), to_apply=ends\n",
        "ends {\n s = STATE parameter(0)\n ROOT d = f32[8] ENDS(s)\n}\n",
    ),
    "it goes through branches": (
        " s = STATE STARTS\n t = STATE conditional(k, s, s), branch_computations={stays, stays}\n d = f32[8] ENDS(t)\n",
        "stays {\n s = STATE parameter(0)\n ROOT t = STATE opt-barrier(s)\n}\n",
    ),
    "it goes round in a loop": (
        " s = STATE STARTS\n t = STATE while(s), condition=asks, body=stays\n d = f32[8] ENDS(t)\n",
        "stays {\n s = STATE parameter(0)\n ROOT t = STATE opt-barrier(s)\n}\n"
        "asks {\n s = STATE parameter(0)\n ROOT o = pred[] constant(false)\n}\n",
    ),
    "it stays": (" s = STATE STARTS\n t = STATE opt-barrier(s)\n d = f32[8] ENDS(t)\n", ""),
}


@pytest.mark.parametrize("scheduled", [True, False])
@pytest.mark.parametrize("way", _WAYS)
@pytest.mark.parametrize("start", _STARTS)
def test_where_a_result_lies_that_flies_from_one_computation_into_another_is_not_followed(
    start: str, way: str, scheduled: bool
) -> None:
    """But for what lies in an array of its own, and what all of it is bound at the start of."""
    state, starts, ends = _STARTS[start]
    lines, bodies = (
        text.replace("STATE", state).replace("STARTS", starts).replace("ENDS", ends) for text in _WAYS[way]
    )
    found = _of_buffers(f"{lines} ROOT r = f32[8] sine(d)\n", bodies, scheduled)
    # Without a schedule what is not declared may be given copies, of whatever lies together.
    anew = ("works anew", "copies", "a sum") if scheduled else ("works anew", "copies", "a sum", "hands it back")
    kept = way == "it stays" or start in anew
    assert found and {j.found.verdict for j in found} == {Verdict.PROVED if kept else Verdict.UNKNOWN}
    assert kept or all(_CROSSING in (j.found.reason or "") for j in found)


@pytest.mark.parametrize(("bound", "proved"), [("call(s, y), to_apply=binds", False), ("call-update(s, y)", True)])
@pytest.mark.parametrize("writes", [False, True])
def test_what_another_computation_binds_is_not_followed(bound: str, proved: bool, writes: bool) -> None:
    """Without a schedule, as soon as something is written that is declared."""
    both = "((f32[8], f32[8]), f32[8])"
    bodies = (
        f"both {{\n{_TWO} ROOT r = f32[8] add(p, q)\n}}\n"
        "binds {\n s = ((f32[8]), f32[8]) parameter(0)\n y = f32[8] parameter(1)\n"
        f" ROOT t = {both} call-update(s, y)\n}}\n"
    )
    entry = " s = ((f32[8]), f32[8]) call-start(x), to_apply=both\n"
    entry += f" t = {both} {bound}\n d = f32[8] call-done(t)\n"
    entry += f" w = f32[8] {'call(u), to_apply=writes' if writes else 'sine(u)'}\n ROOT r = f32[8] add(d, w)\n"
    assert _verdicts(entry, bodies, scheduled=False) == {Verdict.PROVED if proved or not writes else Verdict.UNKNOWN}


_PEER: Final = "source_target_pairs={{0,1}}"
_NVSHMEM: Final = ', backend_config={"collective_backend_config":{"backend":"NVSHMEM"}}'
_COPY: Final = "(f32[8], f32[8], u32[])"
_MOVE: Final = "(f32[8], f32[8], u32[], u32[])"
_ENDED: Final = " d = f32[8] DONE(s)\n ROOT r = f32[8] add(d, e)\n"
_PAIRS: Final = {
    "a copy": (_COPY, "copy-start(x)", _ENDED.replace("DONE", "copy-done"), (True, True)),
    "a gather": (
        "(f32[8], f32[16])",
        "all-gather-start(x), dimensions={0}, replica_groups={{0,1}}",
        " d = f32[16] all-gather-done(s)\n ROOT r = f32[8] negate(e)\n",
        (True, True),
    ),
    "a send": (
        "(f32[8], u32[], token[])",
        "send(x, o), channel_id=1",
        " d = token[] send-done(s), channel_id=1\n ROOT r = f32[8] negate(e)\n",
        (True, True),
    ),
    "a move": (
        _MOVE,
        f"collective-permute-start(x), {_PEER}",
        _ENDED.replace("DONE", "collective-permute-done"),
        (True, True),
    ),
    "a move of slices": (
        _MOVE,
        f"collective-permute-start(x, y, i, i), {_PEER}, slice_sizes={{{{8}}}}",
        _ENDED.replace("DONE", "collective-permute-done"),
        (False, False),
    ),
    "a sum": ("f32[8]", "all-reduce-start(x), to_apply=adds", _ENDED.replace("DONE", "all-reduce-done"), (True, False)),
    "a sum in two buffers": (
        "f32[8]",
        f"all-reduce-start(x), to_apply=adds{_NVSHMEM}",
        _ENDED.replace("DONE", "all-reduce-done"),
        (False, False),
    ),
}


@pytest.mark.parametrize("scheduled", [True, False])
@pytest.mark.parametrize("pair", _PAIRS)
def test_what_reads_an_array_that_its_state_does_not_hold_is_not_followed(pair: str, scheduled: bool) -> None:
    """A sum writes where it reads once buffers are shared, so that its result tells, but not with NVSHMEM."""
    state, starts, ends, holds = _PAIRS[pair]
    bodies = f"ends {{\n s = {state} parameter(0)\n q = f32[8] parameter(1)\n e = f32[8] call(q), to_apply=writes\n"
    for written, wrong in (("x", True), ("u", False)):
        entry = " z = s32[] constant(0)\n i = (s32[]) tuple(z)\n o = token[] after-all()\n"
        entry += f" s = {state} {starts}\n ROOT r = f32[8] call(s, {written}), to_apply=ends\n"
        told = _verdicts(entry, f"{bodies}{ends}}}\n", scheduled)
        kept = holds[0 if scheduled else 1] and not wrong
        assert (told == {Verdict.PROVED}) is kept, (written, told)


_UPDATE: Final = " c = f32[2] constant({1,2})\n z = s32[] constant(0)\n e = f32[8] dynamic-update-slice(q, c, z)\n"
_RUNS: Final = {
    "a call begins it": (
        f" mN = ({_COPY}, f32[8]) call(READ, OVER), to_apply=g\n sN = {_COPY} get-tuple-element(mN), index=0\n"
        " bN = f32[8] get-tuple-element(mN), index=1\n dN = f32[8] copy-done(sN)\n rN = f32[8] add(dN, bN)\n",
        f"g {{\n{_TWO} s = {_COPY} copy-start(p)\n{_UPDATE} n = f32[8] negate(e)\n"
        f" ROOT r = ({_COPY}, f32[8]) tuple(s, n)\n}}\n",
    ),
    "a call ends it": (
        f" sN = {_COPY} copy-start(READ)\n rN = f32[8] call(sN, OVER), to_apply=g\n",
        f"g {{\n s = {_COPY} parameter(0)\n q = f32[8] parameter(1)\n{_UPDATE} d = f32[8] copy-done(s)\n"
        " ROOT r = f32[8] add(e, d)\n}\n",
    ),
}


@pytest.mark.parametrize("runs", _RUNS)
@pytest.mark.parametrize("twice", [False, True])
def test_which_of_several_runs_it_is_that_flies_is_not_followed(runs: str, twice: bool) -> None:
    lines, bodies = _RUNS[runs]
    given = [("x", "u"), ("y", "v")] if twice else [("x", "u")]
    entry = " v = f32[8] tan(a)\n" + "".join(
        lines.replace("N", str(n)).replace("READ", read).replace("OVER", written)
        for n, (read, written) in enumerate(given)
    )
    found = _of_buffers(f"{entry} ROOT r = f32[8] add(r0, r{len(given) - 1})\n", bodies)
    assert {j.found.verdict for j in found} == {Verdict.UNKNOWN if twice else Verdict.PROVED}
    assert not twice or all(_CROSSING in (j.found.reason or "") for j in found)


def test_a_call_of_which_nothing_is_left_but_the_start_is_one_of_several_runs() -> None:
    begins = f"g {{\n p = f32[8] parameter(0)\n ROOT s = {_COPY} copy-start(p)\n}}\n"
    entry = " v = f32[8] tan(a)\n" + "".join(f" s{n} = {_COPY} call({of}), to_apply=g\n" for n, of in enumerate("xv"))
    entry += " d0 = f32[8] copy-done(s0)\n d1 = f32[8] copy-done(s1)\n ROOT r = f32[8] add(d0, d1)\n"
    assert _verdicts(entry, begins) == {Verdict.UNKNOWN}


@pytest.mark.parametrize(("written", "wrong"), [("x", True), ("u", False)])
def test_a_call_that_is_given_the_state_and_leaves_it_alone_ends_nothing(written: str, wrong: bool) -> None:
    peeks = f"peeks {{\n t = ({_COPY}, f32[8]) parameter(0)\n q = f32[8] get-tuple-element(t), index=1\n"
    entry = f" s = {_COPY} copy-start(x)\n t = ({_COPY}, f32[8]) tuple(s, y)\n o = f32[8] call(t), to_apply=peeks\n"
    entry += f" e = f32[8] call({written}), to_apply=writes\n d = f32[8] copy-done(s)\n"
    told = _verdicts(
        f"{entry} v = f32[8] add(d, e)\n ROOT r = f32[8] add(v, o)\n", f"{peeks} ROOT n = f32[8] negate(q)\n}}\n"
    )
    assert (Verdict.REFUTED in told, told == {Verdict.PROVED}) == (wrong, not wrong)


@pytest.mark.parametrize(("other", "proved"), [("x", False), ("y", True)])
def test_what_leaves_a_computation_in_flight_is_judged_there_too(other: str, proved: bool) -> None:
    """Which is called from one place, where two callers hand over one array twice, or two."""
    handed = f" m = ({_COPY}, f32[8]) call(p, q), to_apply=g\n s = {_COPY} get-tuple-element(m), index=0\n"
    handed += " b = f32[8] get-tuple-element(m), index=1\n d = f32[8] copy-done(s)\n ROOT r = f32[8] add(d, b)\n"
    bodies = _RUNS["a call begins it"][1] + f"h {{\n{_TWO}{handed}}}\n"
    entry = " v = f32[8] tan(a)\n w = f32[8] tanh(a)\n" + "".join(
        f" r{n} = f32[8] call({given}), to_apply=h\n" for n, given in enumerate((f"x, {other}", "v, w"))
    )
    found = _of_buffers(f"{entry} ROOT r = f32[8] add(r0, r1)\n", bodies)
    in_flight = [j.found.verdict for j in found if (j.claim, j.place.computation) == ("hazard-operand", "g")]
    assert in_flight == [Verdict.PROVED if proved else Verdict.UNKNOWN]


def test_two_runs_that_fly_through_one_loop_are_both_in_flight() -> None:
    """The loop writes what the second of them reads."""
    state = f"({_COPY}, {_COPY}, f32[8], s32[])"
    parts = "".join(
        f" {name} = {shape} get-tuple-element(t), index={n}\n"
        for n, (name, shape) in enumerate((("sa", _COPY), ("sb", _COPY), ("q", "f32[8]"), ("n", "s32[]")))
    )
    bodies = (
        f"starts {{\n p = f32[8] parameter(0)\n ROOT s = {_COPY} copy-start(p)\n}}\n"
        f"turn {{\n t = {state} parameter(0)\n{parts} one = s32[] constant(1)\n m = s32[] subtract(n, one)\n"
        f" o = f32[8] negate(q)\n ROOT r = {state} tuple(sa, sb, o, m)\n}}\n"
        f"more {{\n t = {state} parameter(0)\n n = s32[] get-tuple-element(t), index=3\n z = s32[] constant(0)\n"
        " ROOT c = pred[] compare(n, z), direction=GT\n}\n"
    )
    entry = "".join(f" s{n} = {_COPY} call({given}), to_apply=starts\n" for n, given in enumerate("xy"))
    entry += f" n0 = s32[] copy(k)\n t0 = {state} tuple(s0, s1, y, n0)\n"
    entry += f" t = {state} while(t0), condition=more, body=turn\n{parts}"
    entry += " d0 = f32[8] copy-done(sa)\n d1 = f32[8] copy-done(sb)\n d = f32[8] add(d0, d1)\n"
    assert Verdict.REFUTED in _verdicts(entry + " ROOT r = f32[8] add(d, q)\n", bodies)


_ENDS_AND_BEGINS: Final = (
    f" d = f32[8] copy-done(s)\n q = f32[8] copy(d)\n ROOT t = {_COPY} copy-start(q)\n"  # of an array of its own
)
_EITHER: Final = {
    "a loop may take no turn": (
        f" s = {_COPY} copy-start(x)\nTAKES t = {_COPY} while(s), condition=asks, body=turns\n",
        f"turns {{\n s = {_COPY} parameter(0)\n{_ENDS_AND_BEGINS}}}\n"
        f'asks {{\n s = {_COPY} parameter(0)\n ROOT o = pred[] custom-call(), custom_call_target="any"\n}}\n',
    ),
    "a branch may hand it on": (
        f" s = {_COPY} copy-start(x)\nTAKES t = {_COPY} conditional(k, s, s), branch_computations={{turns, keeps}}\n",
        f"turns {{\n s = {_COPY} parameter(0)\n{_ENDS_AND_BEGINS}}}\nkeeps {{\n ROOT s = {_COPY} parameter(0)\n}}\n",
    ),
    "one of two branches begins it": (
        f" b = ({_COPY}, f32[8]) conditional(k, x, x), branch_computations={{here, there}}\n"
        f" t = {_COPY} get-tuple-element(b), index=0\n o = f32[8] get-tuple-element(b), index=1\n",
        f"here {{\n x = f32[8] parameter(0)\n s = {_COPY} copy-start(x)\nTAKES"
        f" ROOT r = ({_COPY}, f32[8]) tuple(s, TAKEN)\n}}\n"
        f"there {{\n x = f32[8] parameter(0)\n z = f32[8] negate(x)\n s = {_COPY} copy-start(z)\n"
        f" ROOT r = ({_COPY}, f32[8]) tuple(s, x)\n}}\n",
    ),
}


@pytest.mark.parametrize("way", _EITHER)
@pytest.mark.parametrize("meanwhile", ["nothing", "writes what is read", "reads what is written"])
def test_which_of_two_it_is_that_flies_is_not_followed_before_copies_are_inserted(way: str, meanwhile: str) -> None:
    """Once they are, both lie in one buffer, and what is wrong is found."""
    lines, bodies = _EITHER[way]
    reads = meanwhile == "reads what is written"
    takes = " o = f32[8] get-tuple-element(s), index=0\n" if reads else ""
    lines, bodies = (text.replace("TAKES", takes).replace("TAKEN", "o" if reads else "x") for text in (lines, bodies))
    touches = {
        "nothing": "sine(u)",
        "writes what is read": 'custom-call(x), custom_call_target="w", output_to_operand_aliasing={{}: (0, {})}',
        "reads what is written": "negate(o)",
    }[meanwhile]
    entry = f"{lines} e = f32[8] {touches}, control-predecessors={{t}}\n"
    entry += " d = f32[8] copy-done(t), control-predecessors={e}\n ROOT r = f32[8] add(d, e)\n"
    found = _of_buffers(entry, bodies, scheduled=False)
    assert {j.found.verdict for j in found} == {Verdict.PROVED if meanwhile == "nothing" else Verdict.UNKNOWN}
    assert meanwhile == "nothing" or all(_CROSSING in (j.found.reason or "") for j in found)
    assert meanwhile == "nothing" or Verdict.REFUTED in _verdicts(entry, bodies)


_SUM: Final = "all-reduce-start(x), to_apply=adds"
_LOOKED_AT: Final = {
    "as a part": (_COPY, "copy-start(x)", " v = f32[8] get-tuple-element(s), index=0\n w = f32[8] negate(v)\n", True),
    "by another name": ("f32[8]", _SUM, " v = f32[8] bitcast(s)\n w = f32[8] negate(v)\n", True),
    "by a copy": ("f32[8]", _SUM, " w = f32[8] copy(s)\n", True),
    "as an operand": ("f32[8]", _SUM, f" v = {_COPY} copy-start(s)\n w = f32[8] copy-done(v)\n", True),
    "in a call": ("f32[8]", _SUM, " w = f32[8] call(s), to_apply=anew\n", True),
    "as a whole": (_COPY, "copy-start(x)", f" v = {_COPY} copy(s)\n w = f32[8] sine(u)\n", False),
    "beside another": (
        _COPY,
        "copy-start(x)",
        f" v = ({_COPY}, f32[8]) tuple(s, u)\n w = f32[8] get-tuple-element(v), index=1\n",
        False,
    ),
}


@pytest.mark.parametrize("looked", _LOOKED_AT)
def test_what_looks_into_a_state_that_may_be_one_of_two(looked: str) -> None:
    state, starts, looks, into = _LOOKED_AT[looked]
    ends = starts.split("-start")[0] + "-done"
    head = " g = (f32[8], f32[8]) parameter(0)\n x = f32[8] get-tuple-element(g), index=0\n"
    head += f" u = f32[8] get-tuple-element(g), index=1\n s = {state} {starts}\n"
    bodies = f"here {{\n{head}{looks} ROOT r = ({state}, f32[8]) tuple(s, w)\n}}\n"
    bodies += f"there {{\n{head} ROOT r = ({state}, f32[8]) tuple(s, u)\n}}\n"
    entry = " g = (f32[8], f32[8]) tuple(x, u)\n"
    entry += f" b = ({state}, f32[8]) conditional(k, g, g), branch_computations={{here, there}}\n"
    entry += f" s = {state} get-tuple-element(b), index=0\n d = f32[8] {ends}(s)\n ROOT r = f32[8] negate(d)\n"
    told = _verdicts(entry, bodies, scheduled=False)
    assert (told == {Verdict.PROVED}) is not into, told


@pytest.mark.parametrize("handed", ["x, y", "x, x"])
@pytest.mark.parametrize("inside", [False, True])
def test_one_branch_that_is_handed_two_arrays_begins_two(handed: str, inside: bool) -> None:
    """Which of them it is that is read in flight nobody knows before copies are inserted."""
    chooses = f"{_COPY} conditional(k, {handed}), branch_computations={{begins, begins}}\n"
    bodies = f"begins {{\n p = f32[8] parameter(0)\n ROOT s = {_COPY} copy-start(p)\n}}\n"
    entry = f" s = {chooses}"
    if inside:
        given = " x = f32[8] parameter(0)\n y = f32[8] parameter(1)\n k = s32[] parameter(2)\n"
        bodies += f"within {{\n{given} ROOT s = {chooses}}}\n"
        entry = f" s = {_COPY} call(x, y, k), to_apply=within\n"
    entry += ' w = f32[8] custom-call(WRITTEN), custom_call_target="w", output_to_operand_aliasing={{}: (0, {})}'
    entry += (
        ", control-predecessors={s}\n d = f32[8] copy-done(s), control-predecessors={w}\n ROOT r = f32[8] add(d, w)\n"
    )
    one = handed == "x, x"
    assert (Verdict.REFUTED in _verdicts(entry.replace("WRITTEN", "x"), bodies, scheduled=False)) is one
    told = _verdicts(entry.replace("WRITTEN", "u"), bodies, scheduled=False)
    assert told == {Verdict.PROVED if one else Verdict.UNKNOWN}
