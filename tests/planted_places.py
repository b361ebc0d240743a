"""Plans with one thing wrong, each beside its sound twin: what lies nowhere, what two flights make, and what is applied
to single elements. See `planted_plans`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from planted_kernels import TWO_PARTS, in_one_parameter
from planted_plans import WORK, Planted, entry, loop

_OVER: Final = (("y", "x"),)
_FLIGHTS: Final = entry(
    """%a = V parameter(0)
  %x = V negate(%a)
  %s = ((V), V, s32[]) async-start(%x), async_execution_thread="other", calls=%work
  %s2 = ((V), V, s32[]) async-start(%x), async_execution_thread="other", calls=%work2
  %d = V async-done(%s)
  %d2 = V async-done(%s2)
  ROOT %sum = V add(%d, %d2)""",
    other=WORK
    + """
%work2 (p2: f32[8]) -> f32[8] {
  %p2 = V parameter(0)
  %mid3 = V negate(%p2)
  ROOT %res2 = V abs(%mid3)
}, execution_thread="other"
""",
)
_RETURNED: Final = entry(
    """%a = V parameter(0)
  %s = ((V), (V, V), s32[]) async-start(%a), async_execution_thread="other", calls=%work
  ROOT %d = (V, V) async-done(%s)""",
    result="(f32[8], f32[8])",
    other="""%work (p: f32[8]) -> (f32[8], f32[8]) {
  %p = V parameter(0)
  %one = V negate(%p)
  %two = V abs(%p)
  ROOT %t = (V, V) tuple(%one, %two)
}, execution_thread="other"
""",
)
_TABLE: Final = loop("""%q = (V, V) tuple(%v, %v)
%g = V get-tuple-element(%q), index=0
%w = V negate(%g)
ROOT %t = STATE tuple(%next, %w)""")
_TURNED: Final = entry(
    """%a = V parameter(0)
  %g = pred[] parameter(1)
  %h = pred[] copy(%g)
  %t = (V, V, pred[]) tuple(%a, %a, %h)
  %w = (V, V, pred[]) while(%t), condition=%more, body=%turn
  %x = V get-tuple-element(%w), index=0
  ROOT %o = V negate(%x)""",
    "a: f32[8], g: pred[]",
    other="""%turn (s: (V, V, pred[])) -> (V, V, pred[]) {
  %s = (V, V, pred[]) parameter(0)
  %p = V get-tuple-element(%s), index=0
  %q = V get-tuple-element(%s), index=1
  %n = V STEP(%p)
  %r = pred[] get-tuple-element(%s), index=2
  ROOT %u = (V, V, pred[]) tuple(%q, %n, %r)
}

%more (c: (V, V, pred[])) -> pred[] {
  %c = (V, V, pred[]) parameter(0)
  ROOT %m = pred[] get-tuple-element(%c), index=2
}
""",
)
_EXCHANGED: Final = entry(
    """%a = V parameter(0)
  %x = V negate(%a)
  %y = V all-to-all(%x), dimensions={0}, replica_groups={{0,1}}
  ROOT %o = V negate(%y)""",
    header=", replica_count=2",
)
_APPLIED: Final = """%a = V parameter(0)
  %y = V custom-call(%a, %a, %a), custom_call_target="foo", called_computations={%c}
  ROOT %o = V abs(%y)"""
_UNREAD: Final = entry(
    _APPLIED,
    other="""%c (thp: f32[8], thu: f32[8], thv: f32[8]) -> f32[8] {
  %thp = V parameter(0)
  %thu = V parameter(1)
  %thv = V parameter(2)
  ROOT %thr = V negate(%thp)
}
""",
)
_NUMBERS: Final = entry(
    _APPLIED.replace("%a, %a, %a", "%a"),
    other="""%c (thp: f32[8]) -> f32[8] {
  %thp = V parameter(0)
  %k = V constant({1,2,3,4,5,6,7,8})
  %k2 = V constant({1,2,3,4,5,6,7,NUMBER})
  %thq = V add(%k, %k2)
  ROOT %thr = V add(%thq, %thp)
}
""",
)
_HELD: Final = entry("""%a = V parameter(0)
  %x = b(f32[4,2]{1,0}) custom-call(%a), custom_call_target="CreateBuffer"
  %t = (b(f32[4,2]{1,0}), V) tuple(%x, %a)
  %g = b(f32[4,2]{1,0}) get-tuple-element(%t), index=0
  ROOT %o = V custom-call(%g), custom_call_target="foo\"""")


def _held(layout: str) -> str:
    """The buffer under another name, which says another layout."""
    return _HELD.replace("%g = b(f32[4,2]{1,0})", f"%g = b(f32[4,2]{{{layout}}})")


_AFTERWARDS: Final = entry(
    """%a = f32[] parameter(0)
  %x = f32[] negate(%a)
  %l = f32[] while(%x), condition=%more, body=%half
  ROOT %o = f32[] abs(%l)""",
    "a: f32[]",
    "f32[]",
    other="""%more (m: f32[]) -> pred[] {
  %m = f32[] parameter(0)
  ROOT %less = pred[] compare(%m, %m), direction=LT
  %unread = f32[] negate(%m)
}

%half (h: f32[]) -> f32[] {
  %h = f32[] parameter(0)
  ROOT %n = f32[] negate(%h)
}
""",
)
_HIDDEN: Final = entry("""%a = V parameter(0)
  %s = ((V), b(V), s32[]) custom-call-start(%a), custom_call_target="foo"
  %d = b(V) custom-call-done(%s)
  ROOT %o = V custom-call(%d), custom_call_target="bar\"""")


def _without(name: str) -> Callable[[str], str]:
    """The plan without the allocation of one value."""

    def edit(plan: str) -> str:
        header, *allocations = re.split(r"^(?=allocation )", plan, flags=re.M)
        left = [a for a in allocations if f" {name} @" not in a]
        assert len(left) == len(allocations) - 1, plan
        return header + "".join(re.sub(r"^allocation \d+", f"allocation {n}", a) for n, a in enumerate(left))

    return edit


BUFFERS: Final = [
    Planted("a buffer under another order of its elements", _held("0,1"), sound=_HELD),
    Planted("a buffer under other tiles", _held("1,0:T(2,2)"), sound=_HELD),
    Planted("a buffer in another memory", _held("1,0:S(1)"), sound=_HELD),
    Planted("a buffer in no memory of its layout", _HELD.replace("{1,0}", "{1,0:S(1)}"), sound=_HELD),
    Planted("a hidden buffer that lies nowhere", _HIDDEN, edit=_without("s{1}"), comes_to="unknown"),
]

PLACES: Final = [
    Planted("an array in flight that lies nowhere", _FLIGHTS, edit=_without("mid")),
    Planted("a table in flight that lies nowhere", _RETURNED, edit=_without("t{}"), comes_to="proved"),
    Planted("a table of a turn that lies nowhere", _TABLE, edit=_without("q{}")),
    Planted("two flights over one another", _FLIGHTS, (("mid", "mid3"),)),
    Planted("a flight over its own context", _FLIGHTS, (("mid", "s{2}"),)),
    Planted("a result over what another device reads", _EXCHANGED, _OVER, comes_to="unknown"),
    Planted(
        "a parameter whose names are exchanged in each turn",
        _TURNED.replace("STEP", "negate"),
        sound=_TURNED.replace("STEP", "bitcast"),
    ),
    *BUFFERS,
    Planted("what is made after the condition's result", _AFTERWARDS, (("less", "unread"),)),
    Planted("what is read in what is applied", _UNREAD, (("thp", "thv"),), (("thu", "thv"),)),
    Planted(
        "two constants in what is applied",
        _NUMBERS.replace("NUMBER", "9"),
        (("k", "k2"),),
        (("k", "k2"),),
        sound=_NUMBERS.replace("NUMBER", "8"),
    ),
]

TWICE: Final = [
    # What two claims refute: a claim, an instruction, and what the claim says of it.
    (claim, "a", "refuted", TWO_PARTS, (), in_one_parameter)
    for claim in ("plan-complete", "plan-constant")
]
