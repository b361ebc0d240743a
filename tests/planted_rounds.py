"""Plans with one thing wrong, each beside its sound twin: what the next turn of a loop or the end of a flight still
needs, sizes that are kept beside elements, and the steps in which several results are made. See `planted_plans`."""

from __future__ import annotations

import re
from typing import Final

from planted_plans import PLAIN, Planted, Together, entry, loop, replaced

_OVER: Final = (("y", "x"),)
_SUM: Final = """%sum (th0: f32[], th1: f32[]) -> f32[] {
  %th0 = f32[] parameter(0)
  %th1 = f32[] parameter(1)
  ROOT %th2 = f32[] add(%th0, %th1)
}
"""


def _led(hlo: str, computations: str) -> str:
    return hlo.replace("is_scheduled=true\n", f"is_scheduled=true, replica_count=2\n\n{computations}", 1)


_SENT: Final = "all-reduce-start(%k), replica_groups={{0,1}}, to_apply=%sum\n%ard = V all-reduce-done(%ars)"
_ROUND: Final = f"""%kept = V get-tuple-element(%s), index=2
%k = V FROM(%kept)
%ars = V {_SENT}
%w = V add(%v, %ard)
ROOT %t = STATE tuple(%next, %w, %kept)"""
_AFTER: Final = "  ROOT %lo = f32[8]{0} get-tuple-element(%loop), index=1\n"
_ROUNDS: Final = _led(loop(_ROUND, 3, _AFTER, before="  %kk = f32[8]{0} exponential(%a)\n"), _SUM)
_BRANCHES: Final = _led(
    """HloModule m, is_scheduled=true

%yes (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %s = f32[8]{0} all-reduce-start(%p), replica_groups={{0,1}}, to_apply=%sum
  ROOT %d = f32[8]{0} all-reduce-done(%s)
}

%no (q: f32[8]) -> f32[8] {
  %q = f32[8]{0} parameter(0)
  ROOT %n = f32[8]{0} negate(%q)
}

ENTRY %main (a: f32[8], c: pred[]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %c = pred[] parameter(1)
  %x = f32[8]{0} negate(%a)
  %r = f32[8]{0} conditional(%c, %x, %x), true_computation=%yes, false_computation=%no
  ROOT %o = f32[8]{0} add(%r, READ)
}
""",
    _SUM,
)
_ALL: Final = (("s", "x", "r", "n"),)


_OLD: Final = entry(
    """%a = V parameter(0)
  %x = V negate(%a)
  %s = (V, V, u32[]) all-to-all-start(%x), dimensions={0}, replica_groups={{0,1}}
  %d = V all-to-all-done(%s)
  %y = V negate(%a)
  %g = V get-tuple-element(%s), index=0
  %sum = V add(%g, %y)
  ROOT %o = V add(%sum, %d)"""
)
_SORTED: Final = entry(
    """%a = V parameter(0)
  %x = V negate(%a)
  %s = ((V), V, s32[]) async-start(%x), async_execution_thread="other", calls=%work
  %d = V async-done(%s)
  ROOT %o = V negate(%d)""",
    other="""%less (th0: f32[], th1: f32[]) -> pred[] {
  %th0 = f32[] parameter(0)
  %th1 = f32[] parameter(1)
  ROOT %th2 = pred[] compare(%th0, %th1), direction=LT
}

%work (p: V) -> V {
  %p = V parameter(0)
  ROOT %res = V sort(%p), dimensions={0}, to_apply=%less
}, execution_thread="other"
""",
).replace("f32[8]", "f32[32]")


def _moved_on(plan: str) -> str:
    """What is sorted lies half over what it is sorted from."""
    found = r"(size )128(:\n value: <\d+ x @0> .*\n value: <\d+ res @0> \(size=128,offset=)0"
    return replaced(found, r"\g<1>192\g<2>64")(plan)


def _carried(early: str, late: str) -> str:
    """A copy begins in one turn and ends in the next; `EARLY` and `LATE` are what is added up."""
    text = """HloModule m, is_scheduled=true

%body (s: (s32[], F, f32[8])) -> (s32[], F, f32[8]) {
  %s = (s32[], F, V) parameter(0)
  %i = s32[] get-tuple-element(%s), index=0
  %f = F get-tuple-element(%s), index=1
  %acc = V get-tuple-element(%s), index=2
  %old = V get-tuple-element(%f), index=0
  %d = V copy-done(%f)
  %e = V exponential(%d)
  %some = V add(%acc, EARLY)
  %s1 = F copy-start(%e)
  %new = V get-tuple-element(%s1), index=0
  %more = V add(%some, LATE)
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  ROOT %t = (s32[], F, V) tuple(%next, %s1, %more)
}

%cond (c: (s32[], F, f32[8])) -> pred[] {
  %c = (s32[], F, V) parameter(0)
  %j = s32[] get-tuple-element(%c), index=0
  %ten = s32[] constant(10)
  ROOT %less = pred[] compare(%j, %ten), direction=LT
}

ENTRY %main (a: f32[8]) -> f32[8] {
  %a = V parameter(0)
  %zero = s32[] constant(0)
  %start = s32[] copy(%zero)
  %x = V negate(%a)
  %ac = V abs(%a)
  %s0 = F copy-start(%x)
  %init = (s32[], F, V) tuple(%start, %s0, %ac)
  %loop = (s32[], F, V) while(%init), condition=%cond, body=%body
  %lf = F get-tuple-element(%loop), index=1
  %ld = V copy-done(%lf)
  %la = V get-tuple-element(%loop), index=2
  ROOT %o = V add(%ld, %la)
}
"""
    text = text.replace("EARLY", early).replace("LATE", late)
    return text.replace("F", "(V, V, u32[])").replace("V", "f32[8]{0}")


def _begun_twice(read: str) -> str:
    """Each of two branches begins a copy."""
    text = """HloModule m, is_scheduled=true

%yes (p: f32[8]) -> F {
  %p = V parameter(0)
  ROOT %s = F copy-start(%p)
}

%no (q: f32[8]) -> F {
  %q = V parameter(0)
  %n = V negate(%q)
  ROOT %s2 = F copy-start(%q)
}

ENTRY %main (a: f32[8], c: pred[]) -> f32[8] {
  %a = V parameter(0)
  %c = pred[] parameter(1)
  %x = V negate(%a)
  %r = F conditional(%c, %x, %x), true_computation=%yes, false_computation=%no
  %g = V get-tuple-element(%r), index=0
  %y = V exponential(READ)
  %d = V copy-done(%r)
  ROOT %o = V add(%d, %y)
}
"""
    return text.replace("READ", read).replace("F", "(V, V, u32[])").replace("V", "f32[8]{0}")


_WORK: Final = """%work (p: f32[8]) -> f32[8] {
  %p = V parameter(0)
  ROOT %res = V abs(%p)
}, execution_thread="other"
"""
_BARE: Final = entry(
    """%a = V parameter(0)
  %x = V negate(%a)
  %s = (V, V, s32[]) async-start(%x), async_execution_thread="other", calls=%work
  %y = V exponential(%a)
  %d = V async-done(%s)
  %y2 = V add(%d, %y)
  ROOT %o = V negate(%y2)""",
    other=_WORK,
)

_SIZED: Final = """%a = V parameter(0)
  %n = s32[] parameter(1)
  %z = f32[] constant(0)
  %x = f32[<=8]{0} custom-call(%a, %n), custom_call_target="SliceToDynamic"
  """


def _sized(rest: str) -> str:
    return entry(_SIZED + rest, "a: f32[8], n: s32[]", "s32[]")


_SET: Final = _sized(
    """%s1 = f32[<=8]{0} set-dimension-size(%x, %n), dimensions={0}
  %s2 = f32[<=8]{0} STEP
  %g1 = s32[] get-dimension-size(%s1), dimensions={0}
  %g2 = s32[] get-dimension-size(%s2), dimensions={0}
  ROOT %o = s32[] subtract(%g1, %g2)"""
).replace("%s1 = f32[<=8]{0} set-dimension-size(%x, %n), dimensions={0}", "%s1 = f32[<=8]{0} opt-barrier(%x)")
_LONGER: Final = _sized(
    "%y = f32[<=9]{0} pad(%x, %z), padding=0_1\n  ROOT %o = s32[] get-dimension-size(%y), dimensions={0}"
)
_ALIKE: Final = _LONGER.replace("f32[<=9]{0} pad(%x, %z), padding=0_1", "f32[<=8]{0} negate(%x)")
_PREFIXED: Final = _LONGER.replace("f32[<=9]{0} pad(%x, %z), padding=0_1", "f32[<=8]{0:M(64)} negate(%x)")
_HANDED: Final = """%c (p: f32[8]) -> f32[8] {
  %p = THAT parameter(0)
  ROOT %e = THAT negate(%p)
}
"""
_CALLED: Final = entry(
    "%a = V parameter(0)\n%x = V negate(%a)\n%y = THAT call(%x), to_apply=%c\nROOT %o = V negate(%x)", other=_HANDED
)
_APPLIED: Final = entry(
    """%a = V parameter(0)
  %y = V custom-call(%a), custom_call_target="foo", called_computations={%c}
  ROOT %o = V abs(%y)""",
    other="%c (thp: f32[8]) -> f32[8] {\n  %thp = V parameter(0)\n  ROOT %thr = V reverse(%thp), dimensions={0}\n}\n",
)
_CAST: Final = entry("%a = V parameter(0)\n%x = V negate(%a)\n%b = V bitcast(%x)\nROOT %o = V negate(%b)")


def _two_results(second: str) -> str:
    """A fusion with a result in rows and one in columns."""
    text = """%a = R parameter(0)
  %x = R negate(%a)
  %y = (R, C) fusion(%x), kind=kLoop, calls=%fz
  %y0 = R get-tuple-element(%y), index=0
  %y1 = C get-tuple-element(%y), index=1
  %y2 = R copy(%y1)
  ROOT %o = R add(%y0, %y2)"""
    fused = f"""%fz (p: f32[4,4]) -> (f32[4,4], f32[4,4]) {{
  %p = R parameter(0)
  %q = R exponential(%p)
  %r = C {second}
  ROOT %t = (R, C) tuple(%q, %r)
}}
"""
    text = entry(text, "a: f32[4,4]", "f32[4,4]", fused)
    return re.sub(r"\bR\b", "f32[4,4]{1,0}", re.sub(r"\bC\b", "f32[4,4]{0,1}", text))


_FIRST: Final[Together] = (("y{0}", "x"),)

_SORTS: Final = entry(
    """%a = f32[4,4]{1,0} parameter(0)
  %x = f32[4,4]{1,0} negate(%a)
  %y = (f32[4,4]{1,0}, f32[4,4]{1,0}) fusion(%x), kind=kLoop, calls=%fz
  %y0 = f32[4,4]{1,0} get-tuple-element(%y), index=0
  %y1 = f32[4,4]{1,0} get-tuple-element(%y), index=1
  ROOT %o = f32[4,4]{1,0} add(%y0, %y1)""",
    "a: f32[4,4]",
    "f32[4,4]",
    other="""%lt (th0: f32[], th1: f32[]) -> pred[] {
  %th0 = f32[] parameter(0)
  %th1 = f32[] parameter(1)
  ROOT %th2 = pred[] compare(%th0, %th1), direction=LT
}

%fz (p: f32[4,4]) -> (f32[4,4], f32[4,4]) {
  %p = f32[4,4]{1,0} parameter(0)
  %s1 = f32[4,4]{1,0} sort(%p), dimensions={0}, to_apply=%lt
  %s2 = f32[4,4]{1,0} sort(%p), dimensions={1}, to_apply=%lt
  ROOT %r = (f32[4,4]{1,0}, f32[4,4]{1,0}) tuple(%s1, %s2)
}""",
)


def _size_read(size: str) -> str:
    """Every element that a fusion makes is the size of what it is given, or a number."""
    return entry(
        """%a = V parameter(0)
  %n = s32[] parameter(1)
  %x = f32[<=8]{0} custom-call(%a, %n), custom_call_target="SliceToDynamic"
  %y = s32[16]{0} fusion(%x), kind=kLoop, calls=%fz
  ROOT %o = s32[16]{0} negate(%y)""",
        "a: f32[8], n: s32[]",
        "s32[16]",
        other=f"""%fz (p: f32[<=8]) -> s32[16] {{
  %p = f32[<=8]{{0}} parameter(0)
  %g = s32[] {size}
  ROOT %b = s32[16]{{0}} broadcast(%g), dimensions={{}}
}}""",
    )


_SIZE_SET: Final = entry(
    """%a = V parameter(0)
  %n = s32[] parameter(1)
  %m = s32[] negate(%n)
  %x = f32[<=8]{0} custom-call(%a, %n), custom_call_target="SliceToDynamic"
  %y = (f32[<=8]{0}, s32[4]{0}) fusion(%x, %m), kind=kLoop, calls=%fz
  %y1 = s32[4]{0} get-tuple-element(%y), index=1
  ROOT %o = s32[4]{0} negate(%y1)""",
    "a: f32[8], n: s32[]",
    "s32[4]",
    other="""%fz (p: f32[<=8], q: s32[]) -> (f32[<=8], s32[4]) {
  %p = f32[<=8]{0} parameter(0)
  %q = s32[] parameter(1)
  %ng = f32[<=8]{0} negate(%p)
  %st = f32[<=8]{0} set-dimension-size(%ng, %q), dimensions={0}
  %g = s32[] get-dimension-size(%p), dimensions={0}
  %b = s32[4]{0} broadcast(%g), dimensions={}
  ROOT %r = (f32[<=8]{0}, s32[4]{0}) tuple(%st, %b)
}""",
)

_KEPT_FOR_A_CALLEE: Final = loop(
    """%kept = V get-tuple-element(%s), index=2
  %m = V exponential(%v)
  %k = V call(%kept), to_apply=%fn
  %w = V add(%m, %k)
  ROOT %t = STATE tuple(%next, %w, %kept)""",
    3,
    "  ROOT %lo = f32[8]{0} get-tuple-element(%loop), index=1\n",
    before="  %kk = f32[8]{0} exponential(%a)\n",
).replace(
    "is_scheduled=true\n",
    """is_scheduled=true

%fn (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  ROOT %e = f32[8]{0} negate(%p)
}
""",
    1,
)

ROUNDS: Final = [
    Planted("a state that a callee of the next turn reads", _KEPT_FOR_A_CALLEE, (("m", "kk"),)),
    Planted("a callee over a state that the next turn reads", _KEPT_FOR_A_CALLEE, (("e", "kk"),)),
    Planted("two sorts of one operand, the first in its place", _SORTS, _FIRST),
    Planted("two sorts of one operand, the second in its place", _SORTS, (("y{1}", "x"),)),
    Planted(
        "a fused size that every step reads",
        _size_read("get-dimension-size(%p), dimensions={0}"),
        _OVER,
        _OVER,
        comes_to="unknown",
        sound=_size_read("constant(7)"),
    ),
    Planted("a fused size that is set where another result reads it", _SIZE_SET, _FIRST, comes_to="unknown"),
    Planted(
        "a sum in flight over what the next turn takes",
        _ROUNDS.replace("FROM", "opt-barrier"),
        (("ars", "kk"),),
        (("ars", "k"),),
        sound=_ROUNDS.replace("FROM", "negate"),
    ),
    Planted(
        "a sum in flight over what is read after the branches",
        _BRANCHES.replace("READ", "%x"),
        _ALL,
        _ALL,
        sound=_BRANCHES.replace("READ", "%a"),
    ),
    Planted(
        "a carried copy, read before its end", _carried("%old", "%e"), comes_to="unknown", sound=_carried("%d", "%e")
    ),
    Planted(
        "a carried copy, read where it begins", _carried("%e", "%new"), comes_to="unknown", sound=_carried("%e", "%e")
    ),
    Planted("a copy of two branches, read early", _begun_twice("%g"), comes_to="unknown", sound=_begun_twice("%a")),
    Planted("an operand in flight that the state does not name", _BARE, _OVER, (("y2", "x"),)),
    Planted(
        "two sizes of one array",
        _SET.replace("STEP", "set-dimension-size(%x, %n), dimensions={0}"),
        comes_to="unknown",
        sound=_SET.replace("STEP", "opt-barrier(%x)"),
    ),
    Planted("elements over a size", _LONGER, _OVER, _OVER, comes_to="unknown", sound=_ALIKE),
    Planted("elements over what stands before others", _PREFIXED, _OVER, _OVER, comes_to="unknown", sound=_ALIKE),
    Planted(
        "an argument without the size that is read",
        _CALLED.replace("THAT", "f32[<=8]{0}"),
        comes_to="unknown",
        sound=_CALLED.replace("THAT", "f32[8]{0}"),
    ),
    Planted(
        "an array over another in what is applied",
        _APPLIED.replace("f32[8]", "f32[2]"),
        (("thr", "thp"),),
        comes_to="unknown",
        sound=_APPLIED,
    ),
    Planted("a bitcast to another memory", _CAST.replace("%b = f32[8]{0}", "%b = f32[8]{0:S(5)}"), sound=_CAST),
    Planted(
        "results in two layouts, made by places",
        _two_results("negate(%p)"),
        _FIRST,
        _FIRST,
        sound=_two_results("transpose(%p), dimensions={1,0}"),
    ),
    Planted("an operand that older text holds in no tuple", _OLD, (("x", "y"),), (("x", "sum"),)),
    Planted("a sort in flight over a part of its operand", _SORTED, (("x", "res"),), (("x", "res"),), edit=_moved_on),
    Planted("two values of one number", PLAIN, edit=lambda plan: re.sub(r"<\d+ ", "<7 ", plan)),
    Planted("a mark of what is merged", PLAIN, edit=replaced(" @0>", " (phi) @0>")),
    Planted(
        "no mark of what is merged",
        loop("%w = V negate(%v)\nROOT %t = STATE tuple(%next, %w)"),
        edit=replaced(r" \(phi\)", ""),
    ),
]
