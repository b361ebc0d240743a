"""What narrows the claims on buffers: without it each of these modules would get a wrong verdict."""

from __future__ import annotations

import pytest

from hloproof.claims.asynchronous import judge
from hloproof.models.errors import InputError
from hloproof.models.hlo.parser import parse_module
from hloproof.results.verdict import Verdict

SCHEDULED = "HloModule m, is_scheduled=true"
TURNS = """cond {
  x = f32[8] parameter(0)
  ROOT more = pred[] constant(false)
}
body {
  x = f32[8] parameter(0)
  u = f32[2] constant({1, 2})
  i = s32[] constant(0)
  ROOT o = f32[8] dynamic-update-slice(x, u, i)
}
"""

TABLE = """HloModule m, is_scheduled=true
ENTRY e {{
  p = f32[8] parameter(0)
  u = f32[2] parameter(1)
  i = s32[] parameter(2)
  a = f32[8] negate(p)
  b = f32[8] exponential(p)
  t = (f32[8], f32[8]) tuple(a, b)
  w = f32[8] dynamic-update-slice(a, u, i)
  c = (f32[8], f32[8]) copy(t)
  g = f32[8] get-tuple-element(c), index={}
  ROOT r = f32[8] add(g, w)
}}
"""
"""A copy of a tuple takes its table: only what is read behind it must have stayed what it was."""

CHOSEN = """HloModule m
one {{
  a = (f32[8], f32[8]) parameter(0)
  ROOT x = f32[8] get-tuple-element(a), index=0
}}
two {{
  a = (f32[8], f32[8]) parameter(0)
  ROOT x = f32[8] get-tuple-element(a), index=1
}}
ENTRY e {{
  p = f32[8] parameter(0)
  q = f32[8] parameter(1)
  o = f32[8] parameter(2)
  which = pred[] parameter(3)
  s = (f32[8], f32[8], u32[]) copy-start(p)
  part = f32[8] get-tuple-element(s), index={}
  t = (f32[8], f32[8]) tuple(part, q)
  v = (f32[8], f32[8]) tuple(o, q)
  c = f32[8] conditional(which, t, v), true_computation=one, false_computation=two
  d = f32[8] copy-done(s), control-predecessors={{c}}
  ROOT r = f32[8] add(c, d)
}}
"""
"""Branches that touch nothing and hand on different arrays: what is chosen is read there, in flight or not."""

GIVEN_AWAY = """HloModule m, is_scheduled=true, input_output_alias={{ {{}}: (0, {{}}, may-alias) }}
f {{
  p = f32[8] parameter(0)
  u = f32[2] parameter(1)
  i = s32[] parameter(2)
  first = f32[8] negate(p)
  w = f32[8] dynamic-update-slice(p, u, i)
  then = f32[8] negate({})
  ROOT r = f32[8] add(then, w)
}}
ENTRY e {{
  p = f32[8] parameter(0)
  u = f32[2] parameter(1)
  i = s32[] parameter(2)
  ROOT r = f32[8] call(p, u, i), to_apply=f
}}
"""
"""The caller of the program gives away a parameter of the entry, not the one that another computation calls so."""

FIRST_STATE = f"""{SCHEDULED}
f {{{{
  ROOT c = f32[8] constant({{{{...}}}})
}}}}
{TURNS.replace("{", "{{").replace("}", "}}")}
ENTRY e {{{{
  c = f32[8] {{}}
  ROOT w = f32[8] while(c), condition=cond, body=body
}}}}
"""
"""The text around a loop shows that its first state is a constant, or a call, whatever the constant is called there."""

AFTERWARDS = f"""{SCHEDULED}
{TURNS.replace("{", "{{").replace("}", "}}")}
ENTRY e {{{{
  c = f32[8] constant({{{{...}}}})
  u = f32[2] parameter(0)
  i = s32[] parameter(1)
  w = f32[8] while(c), condition=cond, body=body
  ROOT d = f32[8] dynamic-update-slice({{}}, u, i)
}}}}
"""
"""The constant that a loop begins with stands for its value: what the loop gives may be written, and it may not."""

NAMESAKE = """HloModule m, is_scheduled=true, input_output_alias={{ {{0}}: (0, {{}}, may-alias) }}
f {{
  k = f32[8] constant({{...}})
  n = f32[8] negate(k)
  ROOT r = (f32[8], f32[8]) tuple(k, n)
}}
ENTRY e {{
  p = f32[8] parameter(0)
  c = (f32[8], f32[8]) call(), to_apply=f
  k = f32[8] get-tuple-element(c), index=0
  n = f32[8] get-tuple-element(c), index=1
  ROOT r = (f32[8]) tuple({})
}}
"""
"""The module says where the entry's result lies, not where the result of another computation does whose root has the
same name."""

STARTED = """HloModule m
one {{
  x = f32[8] parameter(0)
  ROOT s = (f32[8], f32[8], u32[]) copy-start(x)
}}
two {{
  y = f32[8] parameter(0)
  ROOT s = (f32[8], f32[8], u32[]) copy-start(y)
}}
ENTRY e {{
  p = f32[8] parameter(0)
  which = pred[] parameter(1)
  c = (f32[8], f32[8], u32[]) conditional(which, p, p), true_computation=one, false_computation=two
  part = f32[8] get-tuple-element(c), index=0
  d = f32[8] copy-done(c)
  n = f32[8] negate({})
  ROOT r = f32[8] add(d, n)
}}
"""
"""What branches begin is in flight from where they are chosen."""


def carried(run: str, *given: str) -> str:
    """Two times an operation is in flight while a computation writes an array: what it carries the first time may be
    the array that is written, the second time it is another one."""
    turns = "".join(
        f"""
  s{n} = (f32[8], f32[8], u32[]) copy-start({carries})
  t{n} = ((f32[8], f32[8], u32[]), f32[8]) tuple(s{n}, {written})
  c{n} = ((f32[8], f32[8], u32[]), f32[8]) {run.replace("STATE", f"t{n}")}
  k{n} = (f32[8], f32[8], u32[]) get-tuple-element(c{n}), index=0
  w{n} = f32[8] get-tuple-element(c{n}), index=1
  d{n} = f32[8] copy-done(k{n})
  a{n} = f32[8] add(d{n}, w{n})"""
        for n, (carries, written) in enumerate((("{}", "a"), given))
    )
    body = """{{
  t = ((f32[8], f32[8], u32[]), f32[8]) parameter(0)
  k = (f32[8], f32[8], u32[]) get-tuple-element(t), index=0
  x = f32[8] get-tuple-element(t), index=1
  u = f32[2] constant({{1, 2}})
  i = s32[] constant(0)
  w = f32[8] dynamic-update-slice(x, u, i)
  n = f32[8] negate(w)
  ROOT o = ((f32[8], f32[8], u32[]), f32[8]) tuple(k, n)
}}
"""
    return f"""{SCHEDULED}
one {body}two {body}ENTRY e {{{{
  p = f32[8] parameter(0)
  which = pred[] parameter(1)
  a = f32[8] negate(p)
  b = f32[8] exponential(p)
  c = f32[8] tanh(p)
  d = f32[8] sine(p){turns}
  ROOT r = f32[8] add(a0, a1)
}}}}
"""


BRANCHES = "conditional(which, STATE, STATE), true_computation=one, false_computation=two"

CASES = {
    "a copy of a tuple": (TABLE, "0", "1", {("hazard-overwrite", "e.a")}),
    "a choice among arrays": (CHOSEN, "0", "1", {("hazard-output", "e.s")}),
    "a parameter that is called as one that is given away": (GIVEN_AWAY, "p", "first", {("hazard-overwrite", "f.p")}),
    "a constant that is called as what hands it back": (
        FIRST_STATE,
        "call(), to_apply=f",
        "constant({...})",
        {("hazard-constant", "e.w")},
    ),
    "what two branches begin": (STARTED, "part", "d", {("hazard-output", "e.c")}),
    "what a call writes in flight for one of two": (
        carried("call(STATE), to_apply=one", "c", "d"),
        "a",
        "b",
        {("hazard-operand", "e.s0")},
    ),
    "what branches write in flight for one of two": (
        carried(BRANCHES, "c", "d"),
        "a",
        "b",
        {("hazard-operand", "e.s0")},
    ),
    "what a loop gives that began with a constant": (AFTERWARDS, "c", "w", {("hazard-constant", "e.d")}),
    "a root that is called as the entry's": (NAMESAKE, "k", "n", {("hazard-constant", "e.r")}),
}


def _not_proved(text: str) -> set[tuple[str, str]]:
    judgements = list(judge(parse_module(text), lambda claim: True, lambda claim: False))
    open_ = [j for j in judgements if j.found.verdict is not Verdict.PROVED]
    # Of two runs of one that flies the wrong one is told, and no other is proved.
    open_ = [j for j in open_ if "flies from one computation into another" not in (j.found.reason or "")]
    assert all(j.problem is not None for j in open_), open_
    return {(j.claim, f"{j.place.computation}.{j.place.instruction}") for j in open_}


@pytest.mark.parametrize(("text", "broken", "sound", "claims"), CASES.values(), ids=CASES)
def test_just_what_is_wrong_is_refuted(text: str, broken: str, sound: str, claims: set[tuple[str, str]]) -> None:
    assert _not_proved(text.format(broken)) == claims
    assert not _not_proved(text.format(sound))


@pytest.mark.parametrize("run", ["call(a), to_apply=one", BRANCHES.replace("STATE", "a")])
def test_what_runs_in_steps_lies_on_both_sides_as_one_says(run: str) -> None:
    rows, columns = "f32[4,4]{1,0}", "f32[4,4]{0,1}"

    def reasons(given: str, back: str) -> set[str | None]:
        """Of all that is not proved."""
        body = f"{{ x = {given} parameter(0)  ROOT y = {back} negate(x) }}"
        steps = f"p = {rows} parameter(0)  which = pred[] parameter(1)  a = {rows} negate(p)  c = {rows} {run}"
        text = f"{SCHEDULED}\none {body}\ntwo {body}\nENTRY e {{ {steps}  ROOT r = {rows} negate(c) }}\n"
        found = [j.found for j in judge(parse_module(text), lambda claim: True, lambda claim: False)]
        return {f.reason for f in found if f.verdict is not Verdict.PROVED}

    assert not reasons(rows, rows)
    told = {"one lays out what it is handed, or hands back, as c does not"}
    assert reasons(columns, rows) == reasons(rows, columns) == told


@pytest.mark.parametrize("given", ["", "x = f32[8] parameter(0)  y = f32[8] parameter(1)"], ids=["none", "two"])
def test_a_loop_passes_its_body_one_operand(given: str) -> None:
    """Whose part of the state lies where rests on it."""
    body = f"body {{ {given}  ROOT o = f32[8] constant({{...}}) }}"
    cond = TURNS.partition("body")[0]
    entry = "ENTRY e { p = f32[8] parameter(0)  ROOT w = f32[8] while(p), condition=cond, body=body }"
    with pytest.raises(InputError, match="while passes 1 operands to body"):
        parse_module(f"{SCHEDULED}\n{cond}{body}\n{entry}\n")


PREDICATE = """HloModule m, is_scheduled=true
b1 {
  x1 = f32[8] parameter(0)
  ROOT r1 = f32[8] negate(x1)
}
b2 {
  x2 = f32[8] parameter(0)
  ROOT r2 = f32[8] exponential(x2)
}
ENTRY e {
  p = f32[8] parameter(0)
  q0 = pred[] parameter(1)
  q = pred[] not(q0)
  kept = pred[] copy(q)
  w = pred[] custom-call(q), custom_call_target="w", output_to_operand_aliasing={{}: (0, {})}
  c = f32[8] conditional(QUESTION, p, p), true_computation=b1, false_computation=b2
  ROOT r = (f32[8], pred[]) tuple(c, w)
}
"""


@pytest.mark.parametrize(("question", "verdicts"), [("q", {"proved", "refuted"}), ("kept", {"proved"})])
def test_a_conditional_reads_what_it_decides_by(question: str, verdicts: set[str]) -> None:
    found = judge(
        parse_module(PREDICATE.replace("QUESTION", question)), lambda c: c == "hazard-overwrite", lambda _: False
    )
    assert {str(j.found.verdict) for j in found} == verdicts


WRITTEN_BY_A_CONDITION = """HloModule m, is_scheduled=true
body {
  s = (f32[8], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=1
  one = s32[] constant(1)
  f = f32[] convert(i)
  nx = s32[] add(i, one)
  n = f32[8] broadcast(f), dimensions={}
  ROOT t = (f32[8], s32[]) tuple(n, nx)
}
cond {
  c = (f32[8], s32[]) parameter(0)
  x = f32[8] get-tuple-element(c), index=0
  u = f32[2] constant({1, 2})
  z = s32[] constant(0)
  d = f32[8] dynamic-update-slice(x, u, z)
  sl = f32[1] slice(d), slice={[3:4]}
  v = f32[] reshape(sl)
  lim = f32[] constant(8)
  ROOT q = pred[] compare(v, lim), direction=LT
}
ENTRY e {
  p = f32[8] parameter(0)
  zero = s32[] constant(0)
  first = s32[] copy(zero)
  y = f32[8] negate(p)
  init = (f32[8], s32[]) tuple(y, first)
  w = (f32[8], s32[]) while(init), condition=cond, body=body
  ROOT r = RESULT
}
"""


@pytest.mark.parametrize(
    ("result", "verdicts"),
    [
        ("f32[8] get-tuple-element(w), index=0", {"proved", "refuted"}),
        ("s32[] get-tuple-element(w), index=1", {"proved"}),
    ],
)
def test_what_a_condition_writes_last_stays_in_the_state(result: str, verdicts: set[str]) -> None:
    """Nobody reads it inside; behind the loop it is the result."""
    found = judge(
        parse_module(WRITTEN_BY_A_CONDITION.replace("RESULT", result)),
        lambda c: c == "hazard-overwrite",
        lambda _: False,
    )
    assert {str(j.found.verdict) for j in found} == verdicts
