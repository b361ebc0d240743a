"""Plans with one thing wrong, each beside its sound twin: modules, and which of their values are put in one place.

The plan of a side gives every value a place of its own (`memory_cases.roomy_plan`), but for those of each tuple. An
edit changes the text of the wrong plan."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from memory_cases import roomy_plan

Together = tuple[tuple[str, ...], ...]
_Ending = Literal["refuted", "unknown", "proved"]


@dataclass(frozen=True)
class Planted:
    """`wrong` is refuted, or comes to what `comes_to` says; `right` is proved, or comes to what `twin` says."""

    what: str
    hlo: str
    wrong: Together = ()
    right: Together = ()
    edit: Callable[[str], str] = str
    comes_to: _Ending = "refuted"
    twin: _Ending = "proved"
    sound: str = ""
    """The module of the right side, where that is another."""

    @property
    def modules(self) -> tuple[str, str]:
        return self.hlo, self.sound or self.hlo

    @property
    def plans(self) -> tuple[str, str]:
        wrong, right = self.modules
        return self.edit(planned(wrong, self.wrong)), planned(right, self.right)


def planned(hlo: str, together: Together) -> str:
    """What a comparator or reducer computes belongs to each thread."""
    plan = roomy_plan(hlo, together)
    return re.sub(r"(: size \d+)(:\n value: <\d+ th\w+ )", r"\1, thread-local\2", plan)


def entry(body: str, parameters: str = "a: f32[8]", result: str = "f32[8]", other: str = "", header: str = "") -> str:
    lines = "\n".join("  " + line.strip().replace("V", "f32[8]{0}") for line in body.strip().split("\n"))
    other = "\n".join(line.replace("V", "f32[8]{0}") for line in other.strip().split("\n"))
    return (
        f"HloModule m, is_scheduled=true{header}\n\n{other}\n\nENTRY %main ({parameters}) -> {result} {{\n{lines}\n}}\n"
    )


def replaced(pattern: str, new: str) -> Callable[[str], str]:
    def edit(plan: str) -> str:
        out, count = re.subn(pattern, new, plan, count=1)
        assert count == 1, (pattern, plan)
        return out

    return edit


WORK: Final = """%work (p: f32[8]) -> f32[8] {
  %p = V parameter(0)
  %mid = V negate(%p)
  %mid2 = V exponential(%mid)
  ROOT %res = V abs(%mid2)
}, execution_thread="other"
"""
_CALLS: Final = """%inner (pi: f32[8]) -> f32[8] {
  %pi = V parameter(0)
  %deep = V negate(%pi)
  ROOT %deep2 = V exponential(%deep)
}, execution_thread="other"

%work (p: f32[8]) -> f32[8] {
  %p = V parameter(0)
  %mid = V call(%p), to_apply=%inner
  ROOT %res = V abs(%mid)
}, execution_thread="other"
"""
_BESIDE: Final = """%a = V parameter(0)
  %x = V negate(%a)
  %s = ((V), V, s32[]) async-start(%x), async_execution_thread="other", calls=%work
  %w = V exponential(%a)
  %d = V async-done(%s)
  %w2 = V exponential(%a)
  ROOT %sum = V add(%w, %d)"""
_APART: Final = entry(_BESIDE, other=WORK)
_NESTED: Final = entry(_BESIDE, other=_CALLS)

_RAGGED: Final = entry(
    """%a = V parameter(0)
  %o = V parameter(1)
  %i = s32[2]{0} parameter(2)
  %b = V negate(%o)
  ROOT %r = V ragged-all-to-all(%a, %b, %i, %i, %i, %i), replica_groups={{0,1}}""",
    "a: f32[8], o: f32[8], i: s32[2]",
    header=", replica_count=2",
)
_PIECES: Final = entry(
    """%a = V parameter(0)
  %o = V parameter(1)
  %z = s32[] constant(0)
  %b = V negate(%o)
  %t = (s32[]) tuple(%z)
  ROOT %r = V collective-permute(%a, %b, %t, %t), source_target_pairs={{0,1},{1,0}}, slice_sizes={{4}}""",
    "a: f32[8], o: f32[8]",
    header=", replica_count=2",
)

IN_FLIGHT: Final = [
    Planted("beside: what the first step makes", _APART, (("mid", "w"),), (("mid", "w2"),)),
    Planted("beside: what the second step makes", _APART, (("mid2", "w"),), (("mid2", "w2"),)),
    Planted("beside: over a parameter", _APART, (("mid", "a"),)),
    Planted("beside: its result", _APART, (("res", "w"),)),
    Planted("beside: its operand", _APART, (("x", "w"),), (("x", "w2"),)),
    Planted("beside: two of its own", _APART, (("mid", "mid2"),), comes_to="unknown"),
    Planted("beside: what it calls", _NESTED, (("deep", "w"),), (("deep", "w2"),)),
    Planted("beside: the result of what it calls", _NESTED, (("deep2", "w"),), (("deep2", "w2"),)),
    Planted("a ragged exchange apart from its operand", _RAGGED, (), (("r", "b"),)),
    Planted("a permutation of slices apart from its operand", _PIECES, (), (("r", "b"),), twin="unknown"),
]

_COPIES: Final = entry("""%a = V parameter(0)
  %x = V negate(%a)
  %s = (V, V, u32[]) copy-start(%x)
  %s2 = (V, V, u32[]) copy-start(%x)
  %d = V copy-done(%s)
  %y = V exponential(%a)
  %d2 = V copy-done(%s2)
  %y2 = V add(%d, %d2)
  ROOT %o = V add(%y, %y2)""")
_GATHER: Final = entry(
    """%a = V parameter(0)
  %x = V negate(%a)
  %s = (V, f32[16]{0}) all-gather-start(%x), dimensions={0}, replica_groups={{0,1}}
  %y = V exponential(%a)
  %d = f32[16]{0} all-gather-done(%s)
  %q = V slice(%d), slice={[4:12]}
  ROOT %o = V add(%q, %y)""",
    header=", replica_count=2",
)
_NOTED: Final = _GATHER.replace(
    "dimensions={0}, replica",
    'dimensions={0}, backend_config={"is_sync":false,"device_type":"\\"is_sync\\":true"}, replica',
)
READ_MEANWHILE: Final = [
    Planted("the operand of a gather whose note says that it is synchronous", _NOTED, (("y", "x"),), (("q", "x"),)),
    Planted("a source that a second copy reads", _COPIES, (("y", "x"),), (("y2", "x"),)),
    Planted("the context of a copy", _COPIES, (("y", "s2{2}"),), (("y", "s{2}"),)),
    Planted("the table of a copy", _COPIES, (("y", "s2"),), (("y", "s"),)),
    Planted("the destinations of two copies", _COPIES, (("s{0}", "s2{0}"),)),
    Planted("a destination over its source", _COPIES, (("s{0}", "x"),)),
    Planted("the operand of a gather", _GATHER, (("y", "x"),), (("q", "x"),)),
    Planted("the result of a gather", _GATHER, (("y", "s{1}"),)),
    Planted("a slice over its operand", _GATHER, (("q", "s{1}"),)),
]


def loop(body: str, parts: int = 2, after: str = "", condition: str = "", before: str = "") -> str:
    state = f"(s32[]{', f32[8]{0}' * (parts - 1)})"
    plain = f"(s32[]{', f32[8]' * (parts - 1)})"
    held = "%start, %x" + (", %kk" if parts == 3 else "")
    lines = "\n".join("  " + line.strip() for line in body.strip().split("\n")).replace("V", "f32[8]{0}")
    result = plain if not after else "f32[8]"
    return f"""HloModule m, is_scheduled=true

%body (s: {plain}) -> {plain} {{
  %s = {state} parameter(0)
  %i = s32[] get-tuple-element(%s), index=0
  %v = f32[8]{{0}} get-tuple-element(%s), index=1
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
{lines.replace("STATE", state)}
}}

%cond (c: {plain}) -> pred[] {{
  %c = {state} parameter(0)
  %j = s32[] get-tuple-element(%c), index=0
  %cv = f32[8]{{0}} get-tuple-element(%c), index=1
  %ten = s32[] constant(10)
{condition}  ROOT %less = pred[] compare(%j, %ten), direction=LT
}}

ENTRY %main (a: f32[8]) -> {result} {{
  %a = f32[8]{{0}} parameter(0)
  %zero = s32[] constant(0)
  %start = s32[] copy(%zero)
  %x = f32[8]{{0}} negate(%a)
{before}  %init = {state} tuple({held})
  {"" if after else "ROOT "}%loop = {state} while(%init), condition=%cond, body=%body
{after}}}
"""


_KEPT: Final = "  %keep = f32[8]{0} exponential(%a)\n"
_HELD: Final = "  %kk = f32[8]{0} exponential(%a)\n"
_SEEN: Final = "  %ct = f32[8]{0} negate(%cv)\n"
_AFTER: Final = "  %lv = f32[8]{0} get-tuple-element(%loop), index=1\n"
_SUM: Final = f"{_AFTER}  ROOT %out = f32[8]{{0}} add(%lv, %keep)\n"
_TURN: Final = loop("""%u = V exponential(%v)
  %u2 = V reverse(%u), dimensions={0}
  %w = V add(%u2, %v)
  ROOT %t = STATE tuple(%next, %w)""")
_ROUND: Final = """%w = V negate(%v)
  ROOT %t = STATE tuple(%next, %w)"""
_PASSED: Final = """%inv = V get-tuple-element(%s), index=2
  %u = V exponential(%v)
  %w = V add(%u, %inv)
  ROOT %t = STATE tuple(%next, %w, %inv)"""
_SWAP: Final = """%inv = V get-tuple-element(%s), index=2
  %tmp = V copy(%v)
  %w = V copy(%inv)
  %w2 = V copy(%tmp)
  ROOT %t = STATE tuple(%next, %w, %w2)"""
LOOPS: Final = [
    Planted("a state that the turn still reads", _TURN, (("u", "s{1}"),), (("u", "less"),)),
    Planted("the counter", _TURN, (("u", "s{0}"),)),
    Planted("the state under the condition's result", _TURN, (("less", "c{1}"),), (("less", "u"),)),
    Planted("the counter under the condition's result", _TURN, (("less", "s{0}"),)),
    Planted("a value over the whole loop", loop(_ROUND, after=_SUM, before=_KEPT), (("keep", "s{1}"),)),
    Planted(
        "a value over the loop, in its condition",
        loop(_ROUND, after=_SUM, before=_KEPT, condition=_SEEN),
        (("keep", "ct"),),
        (("ct", "out"),),
    ),
    Planted("a value under the first state's table", loop(_ROUND, after=_SUM, before=_KEPT), (("keep", "init"),)),
    Planted("a state that no turn changes", loop(_PASSED, 3, before=_HELD), (("u", "kk"),), (("u", "less"),)),
    Planted(
        "a state that no turn changes, in the condition",
        loop(_PASSED, 3, before=_HELD, condition=_SEEN),
        (("ct", "kk"),),
        (("ct", "u"),),
    ),
    Planted(
        "a state that no turn changes, read in the next",
        loop(_PASSED, 3, before=_HELD, after=f"{_AFTER}  ROOT %neg = f32[8]{{0}} negate(%lv)\n"),
        (("u", "kk"),),
        (("neg", "kk"),),
    ),
    Planted("what is kept while two states are exchanged", loop(_SWAP, 3, before=_HELD), (("tmp", "kk"),)),
]

_NESTED_LOOPS: Final = """HloModule m, is_scheduled=true

%ib (q: (s32[], f32[8], f32[8])) -> (s32[], f32[8], f32[8]) {
  %q = (s32[], V, V) parameter(0)
  %qi = s32[] get-tuple-element(%q), index=0
  %qv = V get-tuple-element(%q), index=1
  %qk = V get-tuple-element(%q), index=2
  %o1 = s32[] constant(1)
  %qn = s32[] add(%qi, %o1)
  %qw = V add(%qv, %qk)
  ROOT %qt = (s32[], V, V) tuple(%qn, %qw, %qk)
}

%ic (r: (s32[], f32[8], f32[8])) -> pred[] {
  %r = (s32[], V, V) parameter(0)
  %ri = s32[] get-tuple-element(%r), index=0
  %t5 = s32[] constant(5)
  ROOT %rl = pred[] compare(%ri, %t5), direction=LT
}

%body (s: (s32[], f32[8], f32[8])) -> (s32[], f32[8], f32[8]) {
  %s = (s32[], V, V) parameter(0)
  %i = s32[] get-tuple-element(%s), index=0
  %v = V get-tuple-element(%s), index=1
  %k = V get-tuple-element(%s), index=2
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %z0 = s32[] constant(0)
  %zc = s32[] copy(%z0)
  %side = V negate(%v)
  %nv = V copy(%v)
  %in = (s32[], V, V) tuple(%zc, %nv, %side)
  %il = (s32[], V, V) while(%in), condition=%ic, body=%ib
  %iv = V get-tuple-element(%il), index=1
  %tmp = V exponential(%iv)
  %w = V add(%tmp, %k)
  ROOT %t = (s32[], V, V) tuple(%next, %w, %k)
}

%cond (c: (s32[], f32[8], f32[8])) -> pred[] {
  %c = (s32[], V, V) parameter(0)
  %j = s32[] get-tuple-element(%c), index=0
  %ten = s32[] constant(10)
  ROOT %less = pred[] compare(%j, %ten), direction=LT
}

ENTRY %main (a: f32[8]) -> f32[8] {
  %a = V parameter(0)
  %zero = s32[] constant(0)
  %start = s32[] copy(%zero)
  %x = V negate(%a)
  %kk = V exponential(%a)
  %init = (s32[], V, V) tuple(%start, %x, %kk)
  %loop = (s32[], V, V) while(%init), condition=%cond, body=%body
  %lv = V get-tuple-element(%loop), index=1
  ROOT %neg = V reverse(%lv), dimensions={0}
}
""".replace("V", "f32[8]{0}")
NESTED: Final = [
    Planted("an outer state that no turn changes, in the inner loop", _NESTED_LOOPS, (("qw", "kk"),)),
    Planted("an inner state that no turn changes", _NESTED_LOOPS, (("rl", "side"),), (("tmp", "side"),)),
    Planted(
        "an outer state that no turn changes, after the inner loop", _NESTED_LOOPS, (("tmp", "kk"),), (("neg", "kk"),)
    ),
    Planted("the outer counter under the inner one", _NESTED_LOOPS, (("next", "qn"),)),
    Planted("the next count under the inner condition", _NESTED_LOOPS, (("rl", "next"),)),
    Planted("a state that is read again when it is negated", _NESTED_LOOPS, (("w", "side"),)),
    Planted("a result reversed over the state", _NESTED_LOOPS, (("neg", "loop{1}"),)),
]

_CARRIED: Final = """HloModule m, is_scheduled=true

%body (s: (s32[], (f32[8], f32[8], u32[]))) -> (s32[], (f32[8], f32[8], u32[])) {
  %s = (s32[], (V, V, u32[])) parameter(0)
  %i = s32[] get-tuple-element(%s), index=0
  %st = (V, V, u32[]) get-tuple-element(%s), index=1
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %d = V copy-done(%st)
  %n = V exponential(%d)
  %st2 = (V, V, u32[]) copy-start(%n)
  ROOT %t = (s32[], (V, V, u32[])) tuple(%next, %st2)
}

%cond (c: (s32[], (f32[8], f32[8], u32[]))) -> pred[] {
  %c = (s32[], (V, V, u32[])) parameter(0)
  %j = s32[] get-tuple-element(%c), index=0
  %ten = s32[] constant(10)
  ROOT %less = pred[] compare(%j, %ten), direction=LT
}

ENTRY %main (a: f32[8]) -> f32[8] {
  %a = V parameter(0)
  %zero = s32[] constant(0)
  %start = s32[] copy(%zero)
  %x = V negate(%a)
  %kk = V exponential(%a)
  %s0 = (V, V, u32[]) copy-start(%x)
  %init = (s32[], (V, V, u32[])) tuple(%start, %s0)
  %loop = (s32[], (V, V, u32[])) while(%init), condition=%cond, body=%body
  %l1 = (V, V, u32[]) get-tuple-element(%loop), index=1
  %y = V abs(%a)
  %fin = V copy-done(%l1)
  %y2 = V add(%kk, %y)
  ROOT %o = V add(%fin, %y2)
}
""".replace("V", "f32[8]{0}")
CARRIED: Final = [
    Planted("a carried copy's destination", _CARRIED, (("y", "loop{1,0}"),)),
    Planted("a carried copy's source", _CARRIED, (("y", "loop{1,1}"),)),
    Planted("a carried copy's destination under the condition", _CARRIED, (("less", "s{1,0}"),)),
    Planted("a carried copy's source under the condition", _CARRIED, (("less", "s{1,1}"),)),
    Planted("a carried copy's source under the next count", _CARRIED, (("next", "s{1,1}"),)),
]

_STARTED: Final = entry(
    """%a = V parameter(0)
  %x = V negate(%a)
  %s = (V, V, u32[]) call(%x), to_apply=%fn
  %y = V exponential(%a)
  %d = V copy-done(%s)
  %y2 = V exponential(%a)
  %y3 = V add(%y, %y2)
  ROOT %o = V add(%y3, %d)""",
    other="""%fn (p: f32[8]) -> (f32[8], f32[8], u32[]) {
  %p = V parameter(0)
  ROOT %cs = (V, V, u32[]) copy-start(%p)
}""",
)
CARRIED.extend(
    [
        Planted("a source of a copy that a call starts", _STARTED, (("y", "x"),), (("y2", "x"),)),
        Planted("a destination of a copy that a call starts", _STARTED, (("y", "cs{0}"),)),
    ]
)


def _negated(shape: str, plain: str, needed: int, said: int, what: str) -> Planted:
    """Too few bytes for what is between two negations."""
    hlo = entry(
        f"%a = {shape} parameter(0)\n%x = {shape} negate(%a)\nROOT %o = {shape} negate(%x)", f"a: {plain}", plain
    )
    return Planted(what, hlo, edit=replaced(rf"(x @0> \(size=){needed}", rf"\g<1>{said}"))


SIZES: Final = [
    _negated("f32[5,130]{1,0:T(8,128)}", "f32[5,130]", 8192, 2600, "the padding of tiles"),
    _negated("f32[8]{0:M(64)}", "f32[8]", 96, 32, "what stands before an array"),
    _negated("s4[7]{0:E(4)}", "s4[7]", 4, 3, "half a byte"),
    _negated("f32[<=8]{0}", "f32[<=8]", 36, 32, "the length of a dynamic dimension"),
]

_BRANCHES: Final = """%t (p: f32[8]) -> f32[8] {
  %p = V parameter(0)
  %e = V exponential(%p)
  %e2 = V reverse(%e), dimensions={0}
  ROOT %e3 = V add(%e2, %p)
}

%f (y: f32[8]) -> f32[8] {
  %y = V parameter(0)
  %g = V negate(%y)
  ROOT %g2 = V reverse(%g), dimensions={0}
}
"""
_CHOICE: Final = """%c = pred[] parameter(0)
  %a = V parameter(1)
  %x1 = V negate(%a)
  %x2 = V exponential(%a)
  %keep = V abs(%a)
  %if = V conditional(%c, %x1, %x2), true_computation=%t, false_computation=%f
  ROOT %o = V add(%if, %keep)"""
_CHOSEN: Final = entry(_CHOICE, "c: pred[], a: f32[8]", other=_BRANCHES)
_LATER: Final = entry(_CHOICE.replace("%if, %keep", "%if, %x1"), "c: pred[], a: f32[8]", other=_BRANCHES)
_FUNCTION: Final = """%fn (p: f32[8]) -> (f32[8], f32[8]) {
  %p = V parameter(0)
  %e = V exponential(%p)
  %e2 = V reverse(%e), dimensions={0}
  ROOT %r = (V, V) tuple(%e2, %p)
}
"""
_CALLED: Final = entry(
    """%a = V parameter(0)
  %b = V negate(%a)
  %keep = V abs(%a)
  %c = (V, V) call(%b), to_apply=%fn
  %c0 = V get-tuple-element(%c), index=0
  %c1 = V get-tuple-element(%c), index=1
  %q = V reverse(%c0), dimensions={0}
  %q2 = V add(%q, %c1)
  ROOT %o = V add(%q2, %keep)""",
    other=_FUNCTION,
)
BRANCHES: Final = [
    Planted("the argument of a branch that reads it again", _CHOSEN, (("e", "x1"),), (("e", "x2"),)),
    Planted("a value over the conditional", _CHOSEN, (("g", "keep"),), (("g", "e"),)),
    Planted("a value under the result", _CHOSEN, (("if", "keep"),)),
    Planted("a branch that reverses in place", _CHOSEN, (("g", "g2"),), (("g", "x1"),)),
    Planted("the arguments of two branches", _CHOSEN, (("x1", "x2"),)),
    Planted("an argument that is read afterwards, in the other branch", _LATER, (("g", "x1"),), (("g", "x2"),)),
    Planted("a value over a call", _CALLED, (("e", "keep"),), (("e", "o"),)),
    Planted("an operand that a call hands back, under its result", _CALLED, (("e2", "b"),)),
    Planted("an operand that a call hands back, in between", _CALLED, (("e", "b"),)),
    Planted("what a call handed back", _CALLED, (("q", "b"),), (("q", "e"),)),
    Planted("a call that reverses in place", _CALLED, (("e", "e2"),)),
    Planted("a value under a call's table", _CALLED, (("r", "keep"),), (("r", "q"),)),
]

_TREES: Final = entry("""%a = V parameter(0)
  %b = V negate(%a)
  %t = (V, V) tuple(%b, %a)
  %tt = ((V, V), V) tuple(%t, %b)
  %k = V exponential(%a)
  %bar = ((V, V), V) opt-barrier(%tt)
  %g = (V, V) get-tuple-element(%bar), index=0
  %g0 = V get-tuple-element(%g), index=0
  ROOT %o = V add(%g0, %k)""")
_BITCAST: Final = entry("""%a = V parameter(0)
  %b = V negate(%a)
  %bc = f32[2,4]{1,0} bitcast(%b)
  %k = V exponential(%a)
  %z = f32[2,4]{1,0} negate(%bc)
  %zb = V bitcast(%z)
  ROOT %o = V add(%zb, %k)""")
_SHALLOW: Final = entry("""%a = V parameter(0)
  %b = V negate(%a)
  %t = (V, V) tuple(%b, %a)
  %ct = (V, V) copy(%t)
  %k = V exponential(%a)
  %g = V get-tuple-element(%ct), index=0
  ROOT %o = V add(%g, %k)""")
_LENGTH: Final = entry(
    """%a = V parameter(0)
  %n = s32[] parameter(1)
  %b = V negate(%a)
  %k = V exponential(%b)
  %r = f32[<=8]{0} set-dimension-size(%b, %n), dimensions={0}
  ROOT %e = f32[<=8]{0} negate(%r)""",
    "a: f32[8], n: s32[]",
    "f32[<=8]",
)
_GIVEN: Final = """%a = V parameter(0)
  %d = V parameter(1)
  %x = V negate(%a)
  %y = V reverse(%x), dimensions={0}
  %z = V add(%y, %d)
  ROOT %o = (V, V) tuple(%z, %x)"""
_TWO: Final = "a: f32[8], d: f32[8]", "(f32[8], f32[8])"
DONATED: Final = entry(_GIVEN, *_TWO, header=", input_output_alias={ {0}: (1, {}, may-alias) }")
_PARTS: Final = entry(
    """%a = (V, V) parameter(0)
  %a0 = V get-tuple-element(%a), index=0
  %a1 = V get-tuple-element(%a), index=1
  %x = V negate(%a0)
  %y = V reverse(%x), dimensions={0}
  ROOT %o = V add(%y, %a1)""",
    "a: (f32[8], f32[8])",
    header=", buffer_donor={ (0, {0}) }",
)
NAMES: Final = [
    Planted("behind nested tuples and a barrier", _TREES, (("k", "b"),)),
    Planted("an inner table", _TREES, (("k", "t"),)),
    Planted("an outer table", _TREES, (("k", "tt"),)),
    Planted("behind a bitcast", _BITCAST, (("k", "b"),)),
    Planted("a copied table's elements", _SHALLOW, (("k", "b"),)),
    Planted("a copied table", _SHALLOW, (("k", "ct"),), (("k", "t"),)),
    Planted("behind another length", _LENGTH, (("k", "b"),), twin="unknown"),
    Planted("a donated parameter before it is read", DONATED, (("z", "d"), ("y", "d")), (("z", "d"),)),
    Planted("a declared alias", DONATED, (), (("z", "d"),)),
    Planted("two results in one donated buffer", DONATED, (("z", "d"), ("x", "d")), (("z", "d"),)),
    Planted("a parameter that is not donated", entry(_GIVEN, *_TWO), (("z", "d"),)),
    Planted(
        "another parameter is the donor",
        entry(_GIVEN, *_TWO, header=", buffer_donor={ (0, {}) }"),
        (("z", "d"),),
        (("y", "a"),),
    ),
    Planted("another part is donated", _PARTS, (("x", "a{1}"),), (("y", "a{0}"),)),
    Planted("the table of a parameter", _PARTS, (("y", "a"),)),
]


def _middle(step: str, other: str = "") -> str:
    return entry(f"%a = V parameter(0)\n%x = V negate(%a)\n{step}\nROOT %o = V add(%y, %a)", other=other)


_CROSSED: Final = """%fz (p: f32[8], q: f32[8]) -> f32[8] {
  %p = V parameter(0)
  %q = V parameter(1)
  %qr = V reverse(%q), dimensions={0}
  ROOT %z = V add(%p, %qr)
}
"""
_NARROW: Final = _middle("%r = f16[8]{0} convert(%x)\n%y = V convert(%r)")
_SORT: Final = entry(
    """%a = V parameter(0)
  %x = V negate(%a)
  %k = V abs(%a)
  %y = (V, V) sort(%x, %k), dimensions={0}, to_apply=%lt
  %y0 = V get-tuple-element(%y), index=0
  %y1 = V get-tuple-element(%y), index=1
  ROOT %o = V add(%y0, %y1)""",
    other="""%lt (th0: f32[], th1: f32[], th2: f32[], th3: f32[]) -> pred[] {
  %th0 = f32[] parameter(0)
  %th1 = f32[] parameter(1)
  %th2 = f32[] parameter(2)
  %th3 = f32[] parameter(3)
  ROOT %thc = pred[] compare(%th0, %th1), direction=LT
}""",
)
_FUSED_SORT: Final = _SORT.replace(
    "sort(%x, %k), dimensions={0}, to_apply=%lt", "fusion(%x, %k), kind=kInput, calls=%fz"
).replace(
    "\nENTRY",
    """
%fz (p: f32[8], q: f32[8]) -> (f32[8], f32[8]) {
  %p = f32[8]{0} parameter(0)
  %q = f32[8]{0} parameter(1)
  ROOT %st = (f32[8]{0}, f32[8]{0}) sort(%p, %q), dimensions={0}, to_apply=%lt
}

ENTRY""",
)
_TURNED: Final = _middle(
    "%m = f32[4,2]{1,0} reshape(%x)\n%c = f32[4,2]{0,1} copy(%m)\n%n = f32[4,2]{0,1} negate(%c)\n%y = V reshape(%n)"
)
_PART: Final = entry(
    """%a = (V, V) parameter(0)
  %a0 = V get-tuple-element(%a), index=0
  %a1 = V get-tuple-element(%a), index=1
  %x = V add(%a0, %a1)
  ROOT %o = (V, V) tuple(%x, %a0)""",
    "a: (f32[8], f32[8])",
    "(f32[8], f32[8])",
    header=", input_output_alias={ {0}: (0, {1}, may-alias) }",
)
NAMES.append(Planted("an alias of another part", _PART, (("x", "a{0}"),), (("x", "a{1}"),)))
IN_PLACE: Final = [
    Planted("another layout", _TURNED, (("c", "m"),), (("n", "c"),)),
    Planted("a fused sort over its payload", _FUSED_SORT, (("y{0}", "k"),), (("y{0}", "x"), ("y{1}", "k"))),
    Planted("a reverse", _middle("%y = V reverse(%x), dimensions={0}"), (("y", "x"),)),
    Planted("one operand twice", _middle("%y = V fusion(%x, %x), kind=kLoop, calls=%fz", _CROSSED), (("y", "x"),)),
    Planted(
        "a slice over what is read again",
        entry("""%a = V parameter(0)
  %x = V negate(%a)
  %b = f32[4]{0} slice(%x), slice={[0:4]}
  %r = V concatenate(%b, %b), dimensions={0}
  ROOT %o = V add(%r, %x)"""),
        (("b", "x"),),
    ),
    Planted("a wider type", _NARROW, (("y", "r"),)),
    Planted("a narrower type", _NARROW, (("r", "x"),)),
    Planted("a sort's payload", _SORT, (("y{0}", "k"), ("y{1}", "x")), (("y{0}", "x"), ("y{1}", "k"))),
]

PLAIN: Final = entry(
    """%a = V parameter(0)
  %z = f32[] constant(0)
  %x = V negate(%a)
  %k = V constant({1,2,3,4,5,6,7,8})
  %y = V add(%x, %k)
  %e = f32[0]{0} slice(%x), slice={[0:0]}
  %e2 = V pad(%e, %z), padding=0_8
  %w = V add(%e2, %y)
  ROOT %o = (V, f32[]) tuple(%w, %z)""",
    result="(f32[8], f32[])",
)


def _marked(value: str, before: str, after: str) -> Callable[[str], str]:
    """The words of the allocation that a value has."""
    return replaced(rf"({before})(:\n value: <\d+ {value} )", rf"{after}\2")


def _updated_in_a_fusion(made: str) -> str:
    return entry(
        """%a = f32[32]{0} parameter(0)
  %i = s32[] parameter(1)
  %u = f32[2]{0} parameter(2)
  %x = f32[32]{0} negate(%a)
  ROOT %o = f32[32]{0} fusion(%x, %u, %i), kind=kLoop, calls=%f""",
        parameters="a: f32[32], i: s32[], u: f32[2]",
        result="f32[32]",
        other=f"""%f (p: f32[32], q: f32[2], k: s32[]) -> f32[32] {{
 %p = f32[32]{{0}} parameter(0)
 %q = f32[2]{{0}} parameter(1)
 %k = s32[] parameter(2)
 %n = f32[32]{{0}} {made}
 ROOT %d = f32[32]{{0}} dynamic-update-slice(%n, %q, %k)
}}""",
    )


_UPDATED: Final = _updated_in_a_fusion("bitcast(%p)")
_HANDED_OVER = entry(
    """%a = V parameter(0)
  %x = V negate(%a)
  ROOT %o = V exponential(%x)""",
    header=", input_output_alias={ {}: (0, {}, may-alias) }",
)

WORDS: Final = [
    Planted(what, PLAIN, edit=edit)
    for what, edit in {
        "a computed value among constants": _marked("x", ": size 32", r"\1, constant"),
        "a result among constants": _marked("w", ", maybe-live-out", r", constant\1"),
        "a parameter among constants": _marked("a", r"at ShapeIndex \{\}", r"\1, constant"),
        "a parameter's allocation twice": _marked(
            "x", ": size 32", r"\1, parameter 0, shape |f32[8]| at ShapeIndex {}"
        ),
        "a parameter that is not there": _marked("x", ": size 32", r"\1, parameter 7, shape |f32[8]| at ShapeIndex {}"),
        "a part of a parameter that is not there": _marked(
            "x", ": size 32", r"\1, parameter 0, shape |f32[8]| at ShapeIndex {1}"
        ),
        "a parameter in each thread": _marked("a", r"at ShapeIndex \{\}", r"\1, thread-local"),
        "a constant in each thread": _marked("k", ", constant", r"\1, thread-local"),
        "a constant among temporaries": _marked("k", ", constant", r"\1, preallocated-temp"),
        "a parameter among temporaries": _marked("a", r"at ShapeIndex \{\}", r"\1, preallocated-temp"),
        "a result that does not last": _marked("w", ", maybe-live-out", ""),
        "a result's table that does not last": replaced(r", maybe-live-out(:\n value: <\d+ o\{)", r"\1"),
        "a constant result that is none": _marked("z", ", constant, maybe-live-out", ", maybe-live-out"),
        "an empty value beyond the end": replaced(r"(e @0> \(size=0,offset=)0", r"\g<1>64"),
        "four bytes too few": replaced(r"(w @0> \(size=)32", r"\g<1>28"),
        "a value of another memory": replaced("w @0>", "w @1>"),
        "an allocation of another memory": _marked("x", ": size 32", r"\1, color 1"),
        "another memory than the layout's": replaced(r"(: size 32)(:\n value: <\d+ x @)0", r"\1, color 1\g<2>1"),
        "a value that is left out": replaced(r" value: <\d+ y .*\n", ""),
        "a table that is left out": replaced(r" value: <\d+ o\{\} .*\n", ""),
        "a value twice": replaced(r"( value: <\d+ y .*\n)", r"\1\1"),
    }.items()
]

_CONSTANTS: Final = entry("""%a = V parameter(0)
  %k = V constant({1,2,3,4,5,6,7,8})
  %k2 = V constant({8,7,6,5,4,3,2,1})
  %k3 = V constant({1, 2, 3, 4, 5, 6, 7, 8.0})
  %x = V add(%a, %k)
  %y = V add(%x, %k2)
  ROOT %o = V add(%y, %k3)""")
_FOLDED: Final = entry(
    """%a = V parameter(0)
  %s = f32[] parameter(1)
  %x = V negate(%a)
  %i = f32[] negate(%s)
  %f = (V, f32[]) fusion(%x, %i), kind=kLoop, calls=%fz
  %g = V get-tuple-element(%f), index=0
  %h = f32[] get-tuple-element(%f), index=1
  ROOT %o = (V, f32[]) tuple(%g, %h)""",
    "a: f32[8], s: f32[]",
    "(f32[8], f32[])",
    """%sum (th0: f32[], th1: f32[]) -> f32[] {
  %th0 = f32[] parameter(0)
  %th1 = f32[] parameter(1)
  ROOT %th2 = f32[] add(%th0, %th1)
}

%fz (p: f32[8], q: f32[]) -> (f32[8], f32[]) {
  %p = V parameter(0)
  %q = f32[] parameter(1)
  %n = V negate(%p)
  %r = f32[] reduce(%p, %q), dimensions={0}, to_apply=%sum
  ROOT %t = (V, f32[]) tuple(%n, %r)
}
""",
)
_ENDS: Final = """%t (p: (f32[8], f32[8], u32[])) -> f32[8] {
  %p = (V, V, u32[]) parameter(0)
  %d1 = V copy-done(%p)
  %n1 = V abs(%d1)
  ROOT %e1 = V reverse(%n1), dimensions={0}
}

%f (q: (f32[8], f32[8], u32[])) -> f32[8] {
  %q = (V, V, u32[]) parameter(0)
  %d2 = V copy-done(%q)
  ROOT %e2 = V negate(%d2)
}
"""
_TWO_ENDS: Final = entry(
    """%c = pred[] parameter(0)
  %a = V parameter(1)
  %x = V negate(%a)
  %s = (V, V, u32[]) copy-start(%x)
  %y = V exponential(%a)
  %if = V conditional(%c, %s, %s), true_computation=%t, false_computation=%f
  ROOT %o = V add(%if, %y)""",
    "c: pred[], a: f32[8]",
    other=_ENDS,
)
_EARLY: Final = _TWO_ENDS.replace(
    "%d1 = f32[8]{0} copy-done(%p)\n  %n1 = f32[8]{0} abs(%d1)",
    "%pd = f32[8]{0} get-tuple-element(%p), index=0\n  %n1 = f32[8]{0} abs(%pd)\n  %d1 = f32[8]{0} copy-done(%p)",
)
_APART_ENDS: Final = entry(
    """%c = pred[] parameter(0)
  %a = V parameter(1)
  %x = V negate(%a)
  %s = ((V), V, s32[]) async-start(%x), async_execution_thread="other", calls=%work
  %y = V exponential(%a)
  %if = V conditional(%c, %s, %s), true_computation=%t, false_computation=%f
  ROOT %o = V add(%if, %y)""",
    "c: pred[], a: f32[8]",
    other=WORK.replace("%p", "%wp").replace("(p:", "(wp:")
    + _ENDS.replace("(V, V, u32[])", "((V), V, s32[])")
    .replace("(f32[8], f32[8], u32[])", "((f32[8]), f32[8], s32[])")
    .replace("copy-done", "async-done"),
)
_LOOKED_UP: Final = entry(
    """%a = V parameter(0)
  %x = V negate(%a)
  %t = (V, V) tuple(%x, %a)
  %y = V fusion(%t), kind=kLoop, calls=%fz
  ROOT %o = V negate(%y)""",
    other="""%fz (p: (f32[8], f32[8])) -> f32[8] {
  %p = (V, V) parameter(0)
  %p0 = V get-tuple-element(%p), index=0
  %p1 = V get-tuple-element(%p), index=1
  ROOT %z = V add(%p0, %p1)
}
""",
)
_FORGOTTEN: Final = _TWO_ENDS.replace("copy-done(%q)", "get-tuple-element(%q), index=0")
_AT_ONCE: Final = _APART.replace("calls=%work", 'calls=%work, backend_config={"is_sync":true}')


def _two_constants(one: str, other: str) -> str:
    return _CONSTANTS.replace("{1,2,3,4,5,6,7,8}", one).replace("{8,7,6,5,4,3,2,1}", other)


_HIDDEN: Final = _two_constants("{...}", "{...}")
_NANS: Final = _two_constants("{1,2,3,4,5,6,7,nan(0x400001)}", "{1,2,3,4,5,6,7,nan(0x400002)}")
_SENT: Final = entry("""%a = V parameter(0)
  %x = V negate(%a)
  %tok = token[] after-all()
  %s = (V, u32[], token[]) send(%x, %tok), channel_id=1
  %y = V exponential(%a)
  %d = token[] send-done(%s), channel_id=1
  %y2 = V exponential(%y)
  ROOT %o = V negate(%y2)""")
_RECEIVED: Final = entry("""%a = V parameter(0)
  %tok = token[] after-all()
  %r = (V, u32[], token[]) recv(%tok), channel_id=1
  %d = (V, token[]) recv-done(%r), channel_id=1
  %y = V exponential(%a)
  %g = V get-tuple-element(%d), index=0
  %y2 = V add(%y, %g)
  ROOT %o = V reverse(%y2), dimensions={0}""")
_DECIDED: Final = _CHOSEN.replace("%c = pred[] parameter(0)", "%c0 = pred[] parameter(0)\n  %c = pred[] not(%c0)")
_SUMMED: Final = entry(
    """%a = V parameter(0)
  %x = V negate(%a)
  %k = V abs(%a)
  %s = (V, V) all-reduce-start(%x, %k), replica_groups={{0,1}}, to_apply=%sum
  %d = (V, V) all-reduce-done(%s)
  %d0 = V get-tuple-element(%d), index=0
  %d1 = V get-tuple-element(%d), index=1
  ROOT %o = V add(%d0, %d1)""",
    other=_FOLDED[_FOLDED.index("%sum") : _FOLDED.index("%fz")],
    header=", replica_count=2",
)
_AT_ONCE_SUMMED: Final = (
    _SUMMED.replace("all-reduce-start", "all-reduce")
    .replace("  %d = (f32[8]{0}, f32[8]{0}) all-reduce-done(%s)\n", "")
    .replace("(%d)", "(%s)")
)
SHARED: Final = [
    Planted("constants that the text leaves out in one place", _HIDDEN, (("k", "k2"),), comes_to="unknown"),
    Planted("constants of two NaNs in one place", _NANS, (("k", "k2"),), comes_to="unknown"),
    Planted("a destination that is read in the branch where nothing ends", _FORGOTTEN, twin="refuted"),
    Planted("beside: what is done at once", _AT_ONCE, (("mid", "x"),), (("mid", "w"),)),
    Planted("a result over the table of its operand", _LOOKED_UP, (("y", "t"),), (("y", "x"),), comes_to="unknown"),
    Planted("two constants in one place", _CONSTANTS, (("k", "k2"),), (("k", "k3"),)),
    Planted("a result over the initial value of a reduction", _FOLDED, (("f{0}", "i"),), (("f{0}", "x"),)),
    Planted("a source that is read to the end of a copy in two branches", _TWO_ENDS, (("y", "x"),), (("n1", "s{0}"),)),
    Planted("a destination of a copy that ends in two branches", _TWO_ENDS, (("y", "s{0}"),), (("e1", "x"),)),
    Planted("a destination that is read before the copy ends in its branch", _EARLY, twin="refuted"),
    Planted(
        "an update in a fusion over half of its operand",
        _UPDATED,
        (("x", "o"),),
        (("x", "o"),),
        lambda plan: re.sub(
            r"(allocation \d+: size )128(, maybe-live-out:\n value: <\d+ x @0> \(size=128,offset=)0",
            r"\g<1>192\g<2>64",
            plan,
        ),
    ),
    Planted(
        "an update of what is turned round in a fusion over what is turned",
        _updated_in_a_fusion("reverse(%p), dimensions={0}"),
        (("x", "o"),),
        (("x", "o"),),
        sound=_updated_in_a_fusion("negate(%p)"),
    ),
    Planted(
        "a value behind the end of what the caller hands over",
        _HANDED_OVER,
        (("a", "x", "o"),),
        (("a", "x", "o"),),
        lambda plan: re.sub(
            r"(<\d+ x @0> \(size=32,offset=)0",
            r"\g<1>64",
            plan.replace("allocation 0: size 32", "allocation 0: size 128"),
        ),
    ),
    Planted("beside: what ends in two branches", _APART_ENDS, (("y", "mid"),), (("n1", "mid"),)),
]
SHARED.extend(
    [
        Planted("two sums crossed", _AT_ONCE_SUMMED, (("s{0}", "k"), ("s{1}", "x")), (("s{0}", "x"), ("s{1}", "k"))),
        Planted("what is sent, before it is", _SENT, (("y", "x"),), (("y2", "x"),)),
        Planted("what was received", _RECEIVED, (("y", "r{0}"),), (("o", "r{0}"),)),
        Planted("what a conditional decides by", _DECIDED, (("x1", "c"),), (("e", "c"),)),
        Planted(
            "the second operand of a reduction in flight", _SUMMED, (("s{0}", "x"),), (("s{0}", "x"), ("s{1}", "k"))
        ),
    ]
)

PLANTED: Final = [
    *SHARED,
    *IN_FLIGHT,
    *READ_MEANWHILE,
    *LOOPS,
    *NESTED,
    *CARRIED,
    *SIZES,
    *BRANCHES,
    *NAMES,
    *IN_PLACE,
    *WORDS,
]
