"""What a loop starts with is its result where it ends before the first turn: it has to be there still, though no body
reads it."""

from __future__ import annotations

import pytest

from hloproof.claims.asynchronous import judge
from hloproof.models.hlo.parser import parse_module
from hloproof.results.verdict import Found, Verdict

MODULE = """HloModule m, is_scheduled=true

turn {{
  s = (f32[8], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=1
  f = f32[] convert(i)
  n = f32[8] broadcast(f), dimensions={{}}
  one = s32[] constant(1)
  next = s32[] add(i, one)
  ROOT t = (f32[8], s32[]) tuple(n, next)
}}

more {{
  c = (f32[8], s32[]) parameter(0)
  k = s32[] get-tuple-element(c), index=1
  most = s32[] constant({most})
  ROOT q = pred[] compare(k, most), direction=LT
}}

ENTRY e {{
  p = f32[8] parameter(0)
  at = s32[] parameter(1)
  u = f32[1] parameter(2)
  turns = s32[] parameter(3)
  zero = s32[] constant(0)
  first = s32[] copy({first})
  x = f32[8] negate(p)
  y = f32[8] {made}
  v = f32[8] negate(y)
  init = (f32[8], s32[]) tuple(x, first)
  w = (f32[8], s32[]) while(init), condition=more, body=turn
  r = f32[8] get-tuple-element(w), index=0
  {root}
}}
"""


def overwrites(text: str) -> list[Found]:
    return [j.found for j in judge(parse_module(text), lambda claim: claim == "hazard-overwrite", lambda _: False)]


OVER = "dynamic-update-slice(x, u, at)"
USED = "ROOT o = f32[8] add(r, v)"


@pytest.mark.parametrize(
    ("made", "first", "most", "root", "verdict"),
    [
        (OVER, "turns", 8, USED, Verdict.REFUTED),
        (OVER, "turns", 8, "ROOT o = (f32[8], f32[8]) tuple(r, v)", Verdict.REFUTED),
        (OVER, "zero", 0, USED, Verdict.REFUTED),
        # The loop takes a turn, and nobody sees what it began with.
        (OVER, "zero", 8, USED, Verdict.PROVED),
        # Nobody asks what the loop gives.
        (OVER, "turns", 8, "ROOT o = f32[8] copy(v)", Verdict.PROVED),
        ("exponential(x)", "turns", 8, USED, Verdict.PROVED),
    ],
)
def test_a_loop_that_may_take_no_turn_gives_what_it_was_given(
    made: str, first: str, most: int, root: str, verdict: Verdict
) -> None:
    found = overwrites(MODULE.format(made=made, first=first, most=most, root=root))
    assert {f.verdict for f in found} - {Verdict.PROVED} == {verdict} - {Verdict.PROVED}
    if verdict is Verdict.REFUTED:
        assert any("read by w" in (f.counterexample or "") for f in found)


FLOATS = MODULE.replace("s32[]) p", "f32[]) p").replace("s32[]) t", "f32[]) t").replace("s32[]) w", "f32[]) w")
for _line in ("i", "one", "next", "k", "most", "turns", "zero", "first"):
    FLOATS = FLOATS.replace(f"  {_line} = s32", f"  {_line} = f32")


@pytest.mark.parametrize(
    ("first", "most", "root", "verdict"),
    [
        ("zero", "8", USED, Verdict.UNKNOWN),
        ("zero", "0", USED, Verdict.UNKNOWN),
        ("turns", "8", USED, Verdict.REFUTED),
        ("zero", "8", "ROOT o = f32[8] copy(v)", Verdict.PROVED),
    ],
)
def test_whether_a_loop_turns_is_not_known_where_constants_say_so_that_are_not_worked_out(
    first: str, most: str, root: str, verdict: Verdict
) -> None:
    found = overwrites(FLOATS.format(made=OVER, first=first, most=most, root=root))
    assert {f.verdict for f in found} - {Verdict.PROVED} == {verdict} - {Verdict.PROVED}
    if verdict is Verdict.UNKNOWN:
        assert any("whether w takes a turn" in (f.reason or "") for f in found)


def test_what_is_wrong_however_often_a_loop_turns_is_refuted_all_the_same() -> None:
    text = FLOATS.format(made=OVER, first="zero", most="8", root="ROOT o = (f32[8], f32[8], f32[8]) tuple(r, v, x)")
    assert Verdict.REFUTED in {f.verdict for f in overwrites(text)}


def test_of_other_loops_constants_say_nothing() -> None:
    text = FLOATS.format(made=OVER, first="turns", most="8", root=USED)
    other = (
        "  c2 = f32[8] copy(p)\n  z2 = f32[] copy(zero)\n  s2 = (f32[8], f32[]) tuple(c2, z2)\n"
        "  w2 = (f32[8], f32[]) while(s2), condition=more, body=turn\n  x ="
    )
    wrong = [f for f in overwrites(text.replace("  x =", other)) if f.verdict is Verdict.REFUTED]
    assert ["overwrites x, which is read by w" in (f.counterexample or "") for f in wrong] == [True]


def test_what_comes_from_outside_is_no_constant() -> None:
    text = FLOATS.format(made=OVER, first="zero", most="8", root=USED)
    called = text.replace("copy(zero)", 'custom-call(zero), custom_call_target="first"')
    assert called != text
    assert Verdict.REFUTED in {f.verdict for f in overwrites(called)}


BEHIND = """HloModule m, is_scheduled=true

turn {
  s = (f32[8], f32[8]) parameter(0)
  b = f32[8] get-tuple-element(s), index=1
  n = f32[8] negate(b)
  ROOT t = (f32[8], f32[8]) tuple(n, b)
}

more {
  c = (f32[8], f32[8]) parameter(0)
  d = f32[8] get-tuple-element(c), index=1
  ROOT q = pred[] custom-call(d), custom_call_target="more"
}

inner {
  g = (f32[8], f32[8]) parameter(0)
  ROOT w = (f32[8], f32[8]) while(g), condition=more, body=turn
}

ENTRY e {
  p = f32[8] parameter(0)
  at = s32[] parameter(1)
  u = f32[1] parameter(2)
  x = f32[8] negate(p)
  y = f32[8] dynamic-update-slice(x, u, at)
  v = f32[8] negate(y)
  z = f32[8] copy(p)
  init = (f32[8], f32[8]) tuple(x, z)
  %LOOP%
  r = f32[8] get-tuple-element(w), index=0
  ROOT o = f32[8] add(r, v)
}
"""


@pytest.mark.parametrize(
    "loop",
    [
        "w = (f32[8], f32[8]) call(init), to_apply=inner",
        "first = (f32[8], f32[8]) while(init), condition=more, body=turn\n"
        "  w = (f32[8], f32[8]) while(first), condition=more, body=turn",
    ],
    ids=["in a call", "behind another"],
)
def test_nor_does_one_that_is_called_or_stands_behind_another(loop: str) -> None:
    text = BEHIND.replace("%LOOP%", loop)
    sound = text.replace(
        "  y = f32[8] dynamic-update-slice(x,", "  x2 = f32[8] copy(x)\n  y = f32[8] dynamic-update-slice(x2,"
    )
    for source, verdicts in ((text, {Verdict.PROVED, Verdict.REFUTED}), (sound, {Verdict.PROVED})):
        assert {f.verdict for f in overwrites(source)} == verdicts


INSIDE = MODULE.replace(
    "ENTRY e {{",
    """inner {{
  g = f32[8] parameter(0)
  from = s32[] {begin}
  init = (f32[8], s32[]) tuple(g, from)
  w = (f32[8], s32[]) while(init), condition=more, body=turn
  ROOT r = f32[8] get-tuple-element(w), index=0
}}

around {{
  ts = (f32[8], s32[]) parameter(0)
  tx = f32[8] get-tuple-element(ts), index=0
  tr = f32[8] call(tx), to_apply=inner
  ti = s32[] get-tuple-element(ts), index=1
  one = s32[] constant(1)
  tn = s32[] add(ti, one)
  ROOT tt = (f32[8], s32[]) tuple(tr, tn)
}}

ENTRY e {{""",
)
for _line in ("init = (f32[8], s32[]) tuple(x, first)", "w = (f32[8], s32[]) while(init), condition=more, body=turn"):
    INSIDE = INSIDE[::-1].replace(f"  {_line}\n"[::-1], "", 1)[::-1]
INSIDE = INSIDE[::-1].replace("r = f32[8] get-tuple-element(w), index=0"[::-1], "{run}"[::-1], 1)[::-1]
ALWAYS, AS_ASKED = "constant(0)", 'custom-call(), custom_call_target="first"'


@pytest.mark.parametrize(
    "run",
    [
        "r = f32[8] call(x), to_apply=inner",
        "r = f32[8] conditional(turns, x, x), branch_computations={inner, inner}",
        "s = (f32[8], s32[]) tuple(x, zero)\n"
        "  l = (f32[8], s32[]) while(s), condition=more, body=around\n"
        "  r = f32[8] get-tuple-element(l), index=0",
    ],
    ids=["a call", "a conditional", "a loop"],
)
@pytest.mark.parametrize(("begin", "verdict"), [(ALWAYS, Verdict.PROVED), (AS_ASKED, Verdict.REFUTED)])
def test_a_loop_that_turns_replaces_what_it_starts_with_wherever_it_runs(
    run: str, begin: str, verdict: Verdict
) -> None:
    found = overwrites(INSIDE.format(made=OVER, first="zero", most=8, root=USED, run=run, begin=begin))
    assert {f.verdict for f in found} - {Verdict.PROVED} == {verdict} - {Verdict.PROVED}


def test_who_hands_on_what_it_was_given_reads_it_though_another_part_is_overwritten() -> None:
    inner = (
        "inner {{\n  a = f32[8] parameter(0)\n  b = f32[8] parameter(1)\n"
        "  c0 = s32[] constant(0)\n  c1 = f32[1] constant({{1}})\n"
        "  d = f32[8] dynamic-update-slice(b, c1, c0)\n  ROOT t2 = (f32[8], f32[8]) tuple(a, d)\n}}\n\nENTRY e {{"
    )
    text = MODULE.replace("ENTRY e {{", inner).replace(
        "  {root}",
        "  q2 = (f32[8], f32[8]) call(x, p), to_apply=inner\n  h = f32[8] get-tuple-element(q2), index=0\n  {root}",
    )
    found = overwrites(
        text.format(made=OVER, first="zero", most=8, root="ROOT o = (f32[8], f32[8], f32[8]) tuple(r, v, h)")
    )
    assert Verdict.REFUTED in {f.verdict for f in found}
