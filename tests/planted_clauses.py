"""Plans with one thing wrong, each beside its sound twin: one for each clause that errors planted there had passed by.
See `planted_plans`."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from planted_plans import Planted, Together, entry, loop, planned, replaced

_OVER: Final = (("y", "x"),)
_SUM: Final = """%sum (th0: f32[], th1: f32[]) -> f32[] {
  %th0 = f32[] parameter(0)
  %th1 = f32[] parameter(1)
  ROOT %th2 = f32[] add(%th0, %th1)DEAD
}
"""
_AT_ONCE: Final = ', backend_config={"is_sync":true}'


def _steps(body: str, given: str = "a: f32[8]", result: str = "f32[8]", other: str = "", header: str = "") -> str:
    return entry(f"%a = V parameter(0)\n%x = V negate(%a)\n{body}", given, result, other, header)


def _ended(no: str) -> str:
    return (
        """HloModule m, is_scheduled=true

%yes (p: F) -> f32[8] {
  %p = F parameter(0)
  ROOT %d = V copy-done(%p)
}

%no (q: F) -> f32[8] {
  %q = F parameter(0)
NO}

ENTRY %main (a: f32[8], c: pred[]) -> f32[8] {
  %a = V parameter(0)
  %c = pred[] parameter(1)
  %x = V negate(%a)
  %s = F copy-start(%x)
  %r = V conditional(%c, %s, %s), true_computation=%yes, false_computation=%no
  %y = V exponential(%a)
  ROOT %o = V add(%r, %y)
}
""".replace("NO", no)
        .replace("F", "(V, V, u32[])")
        .replace("V", "f32[8]{0}")
    )


_ONE_END: Final = _ended("  %z = f32[] constant(0)\n  ROOT %n = V broadcast(%z), dimensions={}\n")
_BOTH_END: Final = _ended("  %e = V copy-done(%q)\n  ROOT %n = V negate(%e)\n")


def carried(begin: str, held: str, end: str, keep: str = "") -> str:
    """What `begin` starts in one turn ends in the next; `held` is what the loop carries."""
    return (
        """HloModule m, is_scheduled=true, replica_count=2

SUM
%body (s: (s32[], F)) -> (s32[], F) {
  %s = (s32[], F) parameter(0)
  %i = s32[] get-tuple-element(%s), index=0
  %f = F get-tuple-element(%s), index=1
  %d = V END(%f)
  %e = V exponential(%d)
  %s1 = F BEGIN(%e)ATTRIBUTES
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  ROOT %t = (s32[], F) tuple(%next, %s1)
}

%cond (c: (s32[], F)) -> pred[] {
  %c = (s32[], F) parameter(0)
  %j = s32[] get-tuple-element(%c), index=0
  %ten = s32[] constant(10)
  ROOT %less = pred[] compare(%j, %ten), direction=LT
}

ENTRY %main (a: f32[8]) -> f32[8] {
  %a = V parameter(0)
  %zero = s32[] constant(0)
  %start = s32[] copy(%zero)
  %x = V negate(%a)
  %s0 = F BEGIN(%x)ATTRIBUTES
  %init = (s32[], F) tuple(%start, %s0)
  %loop = (s32[], F) while(%init), condition=%cond, body=%body
  %lf = F get-tuple-element(%loop), index=1
  %ld = V END(%lf)
  ROOT %o = V negate(%ld)
}
""".replace("BEGIN", begin)
        .replace("END", end)
        .replace("ATTRIBUTES", keep)
        .replace("F", held)
        .replace("V", "f32[8]{0}")
        .replace("SUM", _SUM.replace("DEAD", ""))
    )


_SUMS: Final = carried("all-reduce-start", "V", "all-reduce-done", ", replica_groups={{0,1}}, to_apply=%sum")
_COPIES: Final = carried("copy-start", "(V, V, u32[])", "copy-done")
_IN_THEIR_PLACES: Final[Together] = (("s0", "x"), ("s1", "e"))
_NEVER: Final = loop(
    "%f = (V, V, u32[]) get-tuple-element(%s), index=2\n%w = V negate(%v)\nROOT %t = STATE tuple(%next, %w, %f)",
    3,
    after="  ROOT %lo = f32[8]{0} get-tuple-element(%loop), index=1\n",
)
_WITHOUT_END: Final = (
    _NEVER.replace("(s32[], f32[8]{0}, f32[8]{0})", "(s32[], f32[8]{0}, (f32[8]{0}, f32[8]{0}, u32[]))")
    .replace("(s32[], f32[8], f32[8])", "(s32[], f32[8], (f32[8], f32[8], u32[]))")
    .replace("  %init =", "  %kk = (f32[8]{0}, f32[8]{0}, u32[]) copy-start(%a)\n  %init =")
)
_TO_START: Final = _COPIES.replace(
    "  %d = f32[8]{0} copy-done(%f)",
    """  %g = f32[8]{0} get-tuple-element(%f), index=0
  %s2 = (f32[8]{0}, f32[8]{0}, u32[]) copy-start(READ)
  %d2 = f32[8]{0} copy-done(%s2)
  %d = f32[8]{0} copy-done(%f)""",
)
_COPY: Final = _steps(
    f"""%s = (V, V, u32[]) copy-start(%x){_AT_ONCE}
  %y = V exponential(%a)
  %d = V copy-done(%s)
  ROOT %o = V add(%d, %y)"""
)
_WORK: Final = """%work (p: f32[8]) -> f32[8] {
  %p = V parameter(0)
  ROOT %res = V abs(%p)
}, execution_thread="other"
"""
_BARE: Final = _steps(
    """%s = (V, V, s32[]) async-start(%x), async_execution_thread="other", calls=%workSAID
  %y = V exponential(%a)
  %d = V async-done(%s)
  ROOT %o = V add(%d, %y)""",
    other=_WORK,
)
_UPDATING: Final = """%work (p: f32[4,4], q: f32[1,4], z: s32[]) -> f32[4,4] {
  %p = f32[4,4]{1,0} parameter(0)
  %q = f32[1,4]{1,0} parameter(1)
  %z = s32[] parameter(2)
  ROOT %res = THAT dynamic-update-slice(%p, %q, %z, %z)
}, execution_thread="other"
"""
_UPDATED: Final = entry(
    """%a = f32[4,4]{1,0} parameter(0)
  %i = s32[] parameter(1)
  %x = f32[4,4]{1,0} negate(%a)
  %u = f32[1,4]{1,0} slice(%a), slice={[0:1],[0:4]}
  %s = (HELD, THAT, s32[]) async-start(%x, %u, %i), async_execution_thread="other", calls=%work
  %d = THAT async-done(%s)
  ROOT %o = THAT negate(%d)""",
    "a: f32[4,4], i: s32[]",
    "f32[4,4]",
    _UPDATING,
).replace("HELD", "(f32[4,4]{1,0}, f32[1,4]{1,0}, s32[])")
_SEVERAL: Final = _steps(
    """%k = V abs(%a)
  %s = ((V, V), (V, V)) all-to-all-start(%x, %k), replica_groups={{0,1}}
  %d = (V, V) all-to-all-done(%s)
  %d0 = V get-tuple-element(%d), index=0
  %d1 = V get-tuple-element(%d), index=1
  ROOT %o = V add(%d0, %d1)""",
    header=", replica_count=2",
)
_RECEIVED: Final = (
    """HloModule m, is_scheduled=true

%body (s: (s32[], R)) -> (s32[], R) {
  %s = (s32[], R) parameter(0)
  %i = s32[] get-tuple-element(%s), index=0
  %f = R get-tuple-element(%s), index=1
  %rd = (V, token[]) recv-done(%f), channel_id=1
  %tok = token[] after-all()
  %r1 = R recv(%tok), channel_id=1
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  ROOT %t = (s32[], R) tuple(%next, %r1)
}

%cond (c: (s32[], R)) -> pred[] {
  %c = (s32[], R) parameter(0)
  %j = s32[] get-tuple-element(%c), index=0
  %ten = s32[] constant(10)
  ROOT %less = pred[] compare(%j, %ten), direction=LT
}

ENTRY %main (a: f32[8]) -> f32[8] {
  %a = V parameter(0)
  %zero = s32[] constant(0)
  %start = s32[] copy(%zero)
  %t0 = token[] after-all()
  %r0 = R recv(%t0), channel_id=1
  %y = V exponential(%a)
  %init = (s32[], R) tuple(%start, %r0)
  %loop = (s32[], R) while(%init), condition=%cond, body=%body
  %lf = R get-tuple-element(%loop), index=1
  %ld = (V, token[]) recv-done(%lf), channel_id=1
  %g = V get-tuple-element(%ld), index=0
  %y2 = V negate(%y)
  ROOT %o = V add(%g, %y2)
}
""".replace("R,", "RR,")
    .replace("R)", "(V, u32[], token[]))")
    .replace(" R ", " (V, u32[], token[]) ")
    .replace("V", "f32[8]{0}")
)


def _squared(second: str, tiles: str) -> str:
    text = """%a = R parameter(0)
  %x = R negate(%a)
  %y = (R, C) fusion(%x), kind=kLoop, calls=%fz
  %y0 = R get-tuple-element(%y), index=0
  %y1 = C get-tuple-element(%y), index=1
  ROOT %o = (R, C) tuple(%y0, %y1)"""
    fused = f"""%fz (p: f32[4,4]) -> (f32[4,4], f32[4,4]) {{
  %p = R parameter(0)
  %q = R exponential(%p)
  %b = f32[2,2,2,2]{{3,2,1,0}} bitcast(%p)
  %c = f32[2,2,2,2]{{3,2,1,0}} transpose(%b), dimensions={{{second}}}
  %r = C reshape(%c)
  ROOT %t = (R, C) tuple(%q, %r)
}}
"""
    text = entry(text, "a: f32[4,4]", "(f32[4,4], f32[4,4])", fused)
    return re.sub(r"\bR\b", "f32[4,4]{1,0}", re.sub(r"\bC\b", f"f32[4,4]{{1,0{tiles}}}", text))


def _chosen(first: int, second: int) -> str:
    fused = f"""%fz (p: f32[8], q: pred[]) -> f32[8] {{
  %p = V parameter(0)
  %q = pred[] parameter(1)
  %k = s32[] constant({first})
  %l = s32[] constant({second})
  %i = s32[] select(%q, %k, %l)
  %u = f32[2]{{0}} slice(%p), slice={{[2:4]}}
  ROOT %r = V dynamic-update-slice(%p, %u, %i)
}}
"""
    steps = "%c = pred[] parameter(1)\n%y = V fusion(%x, %c), kind=kLoop, calls=%fz\nROOT %o = V negate(%y)"
    return _steps(steps, "a: f32[8], c: pred[]", other=fused)


_SIZED: Final = """%a = V parameter(0)
  %n = s32[] parameter(1)
  %z = f32[] constant(0)
  %x = THIS custom-call(%a, %n), custom_call_target="SliceToDynamic"
  %y = THAT STEP
  ROOT %o = V custom-call(%y), custom_call_target="PadToStatic\""""


def _sized(this: str, that: str, step: str) -> str:
    text = entry(_SIZED, "a: f32[8], n: s32[]")
    return text.replace("THIS", this).replace("THAT", that).replace("STEP", step)


_NEGATED: Final = _sized("f32[8]{0}", "f32[8]{0}", "negate(%x)")
_SMALL: Final = _sized("f32[8]{0}", "f32[1]{0}", "slice(%x), slice={[1:2]}")


def _barred(this: str, that: str) -> str:
    text = """%a = V parameter(0)
  %x = THIS custom-call(%a), custom_call_target="make"
  %y = THAT opt-barrier(%x)
  ROOT %o = V custom-call(%y), custom_call_target="use\""""
    return entry(text).replace("THIS", this).replace("THAT", that)


def _added(shape: str) -> str:
    """A library adds its product in the place of x."""
    text = """%a = f32[4,4]{1,0} parameter(0)
  %x = THIS custom-call(%a), custom_call_target="make"
  %y = f32[4,4]{1,0} custom-call(%a, %a, %x), custom_call_target="__cublas$gemm", SCALED
  ROOT %o = f32[4,4]{1,0} negate(%y)"""
    scaled = 'backend_config={"gemm_backend_config":{"beta":1}}'
    return entry(text, "a: f32[4,4]", "f32[4,4]").replace("THIS", shape).replace("SCALED", scaled)


_LISTED: Final = _steps("%b = V bitcast(%x)\nROOT %o = V negate(%b)")


def _listing(line: str) -> Planted:
    shown = replaced(r"(value: <\d+ x .*\n)", rf"\1 value: <77 b {line}\n")
    return Planted(f"a name listed as {line}", _LISTED, edit=shown)


_FAR: Final = entry(
    """%a = V parameter(0)
  %x = f32[8]{0:S(5)} copy(%a)
  %s = ((f32[8]{0:S(5)}), V, s32[]) async-start(%x), async_execution_thread="other", calls=%work
  %d = V async-done(%s)
  ROOT %o = V negate(%d)""",
    other=_WORK,
)
_REDUCED: Final = entry(
    "%a = V parameter(0)\n%z = f32[] constant(0)\nROOT %o = f32[] reduce(%a, %z), dimensions={0}, to_apply=%sum",
    result="f32[]",
    other=_SUM.replace("DEAD", "\n  %th3 = f32[] negate(%th1)"),
)
_APPLIED: Final = entry(
    """%a = V parameter(0)
  %y = V custom-call(%a), custom_call_target="foo", called_computations={%c}
  ROOT %o = V abs(%y)""",
    other="""%c (thp: f32[8]) -> f32[8] {
  %thp = V parameter(0)
  %thq = V negate(%thp)
  ROOT %thr = V reverse(%thq), dimensions={0}
}
""",
)

_FLYING: Final = _steps(
    """%s = ((V), V, u32[]) custom-call-start(%x), custom_call_target="a", output_to_operand_aliasing={{}: OPERAND}
  %d = V custom-call-done(%s)
  ROOT %o = V negate(%d)"""
)
_NAMED: Final = _FLYING.replace(", output_to_operand_aliasing={{}: OPERAND}", "")

_CALLED: Final = entry("""%a = V parameter(0)
  %x = V negate(%a)
  %y = V custom-call(%x), custom_call_target="foo", output_to_operand_aliasing={{}: (0, {})}
  ROOT %o = V negate(%y)""")
CLAUSES: Final = [
    Planted("a copy that ends in one branch", _ONE_END, _OVER, comes_to="unknown", sound=_BOTH_END),
    Planted("a copy that a loop carries on for ever", _WITHOUT_END, comes_to="unknown", sound=_COPIES),
    Planted("sums that a loop carries", _SUMS, _IN_THEIR_PLACES, comes_to="unknown", sound=_COPIES),
    Planted(
        "a carried copy, read by another",
        _TO_START.replace("READ", "%g"),
        comes_to="unknown",
        sound=_TO_START.replace("READ", "%i")
        .replace("2 = (f32[8]{0}, f32[8]{0}", "2 = (s32[], s32[]")
        .replace("%d2 = f32[8]{0}", "%d2 = s32[]"),
    ),
    Planted("the table of a copy at once", _COPY, (("y", "s"),), _OVER),
    Planted(
        "an operand in flight that the state does not name, or at once",
        _BARE.replace("SAID", ""),
        _OVER,
        _OVER,
        sound=_BARE.replace("SAID", _AT_ONCE),
    ),
    Planted(
        "an update in flight in another layout",
        _UPDATED.replace("THAT", "f32[4,4]{0,1}"),
        (("res", "x"),),
        (("res", "x"),),
        sound=_UPDATED.replace("THAT", "f32[4,4]{1,0}"),
    ),
    Planted(
        "parts of a hidden result without a place",
        _SEVERAL,
        edit=replaced(r"allocation \d+: size 32:\n value: <\d+ s\{1,0\} .*\n", ""),
        comes_to="unknown",
    ),
    Planted("what a loop receives", _RECEIVED, (("y", "loop{1,0}"),)),
    Planted(
        "results of which one has tiles",
        _squared("0,2,1,3", ":T(2,2)"),
        (("y{0}", "x"),),
        (("y{0}", "x"),),
        comes_to="unknown",
        sound=_squared("0,1,2,3", ""),
    ),
    Planted("an update where a choice says", _chosen(2, 3), _OVER, _OVER, sound=_chosen(2, 2), comes_to="unknown"),
    Planted(
        "elements over what stands before them",
        _NEGATED.replace("%y = f32[8]{0}", "%y = f32[8]{0:M(64)}"),
        _OVER,
        _OVER,
        comes_to="unknown",
        sound=_NEGATED,
    ),
    Planted(
        "elements over the size of what is read",
        _sized("f32[<=8]{0}", "f32[9]{0}", "pad(%x, %z), padding=0_1"),
        _OVER,
        _OVER,
        comes_to="unknown",
        sound=_sized("f32[8]{0}", "f32[9]{0}", "pad(%x, %z), padding=0_1"),
    ),
    Planted(
        "a size over what is read",
        _SMALL.replace("%y = f32[1]{0}", "%y = f32[<=1]{0}"),
        _OVER,
        _OVER,
        comes_to="unknown",
        sound=_SMALL,
    ),
    *(
        Planted(f"a sum over {shape}", _added(shape), _OVER, _OVER, comes_to="unknown", sound=_added("f32[4,4]{1,0}"))
        for shape in ("s32[4,4]{1,0}", "f32[2,8]{1,0}")
    ),
    Planted("other widths", _barred("s4[8]{0}", "s4[8]{0:E(4)}"), sound=_barred("s4[8]{0:E(4)}", "s4[8]{0:E(4)}")),
    _listing("@0> (size=32,offset=0): s32[8]{0}"),
    _listing("@0> (size=320,offset=0): f32[8]{0}"),
    _listing("@5> (size=32,offset=0): f32[8]{0}"),
    _listing("(phi) @0> (size=32,offset=0): f32[8]{0}"),
    *(
        Planted(
            f"an alias of {operand} that is not there",
            _FLYING.replace("OPERAND", operand),
            (("s{1}", "x"),),
            sound=_NAMED,
        )
        for operand in ("(7, {})", "(-1, {})", "(0, {3})")
    ),
    Planted(
        "an alias of a result that is not there",
        _CALLED.replace("{{}: (0", "{{3}: (0"),
        sound=_CALLED.replace(", output_to_operand_aliasing={{}: (0, {})}", ""),
    ),
    Planted("both operands of a reducer", _REDUCED, (("th0", "th1"),), (("th0", "th2"),)),
    Planted("the result of a reducer", _REDUCED, (("th2", "th3"),), (("th1", "th3"),)),
    Planted("arrays in what is applied", _APPLIED, (("thr", "thq"),), (("thr", "thp"),), comes_to="unknown"),
]


@dataclass(frozen=True)
class Right:
    """A plan of an unusual kind that is right."""

    what: str
    hlo: str
    together: Together = ()
    edit: Callable[[str], str] = str

    @property
    def plan(self) -> str:
        return self.edit(planned(self.hlo, self.together))


_EARLY: Final = _COPIES.replace("%e = f32[8]{0} exponential(%d)", "%e = f32[8]{0} exponential(%g)").replace(
    "  %d = f32[8]{0} copy-done", "  %g = f32[8]{0} get-tuple-element(%f), index=0\n  %d = f32[8]{0} copy-done"
)
_BESIDE: Final = """%sum (th0: f32[], th1: f32[]) -> f32[] {
  %th0 = f32[] parameter(0)
  %th1 = f32[] parameter(1)
  ROOT %th2 = f32[] add(%th0, %th1)
}

%fz (p: f32[4,2], q: f32[4]) -> (f32[4], f32[4], f32[9]) {
  %p = f32[4,2]{1,0} parameter(0)
  %q = f32[4]{0} parameter(1)
  %z = f32[] constant(0)
  %w = f32[9]{0} broadcast(%z), dimensions={}
  %b = f32[4,2]{1,0} broadcast(%q), dimensions={0}
  %m = f32[4,2]{1,0} multiply(%p, %b)
  %r = f32[4]{0} reduce(%p, %z), dimensions={1}, to_apply=%sum
  %r2 = f32[4]{0} reduce(%m, %z), dimensions={1}, to_apply=%sum
  ROOT %t = (f32[4]{0}, f32[4]{0}, f32[9]{0}) tuple(%r, %r2, %w)
}
"""
_TWO_SUMS: Final = entry(
    """%a = f32[4,2]{1,0} parameter(0)
  %g = f32[4]{0} parameter(1)
  %x = f32[4]{0} negate(%g)
  %y = (f32[4]{0}, f32[4]{0}, f32[9]{0}) fusion(%a, %x), kind=kInput, calls=%fz
  %y0 = f32[4]{0} get-tuple-element(%y), index=0
  %y1 = f32[4]{0} get-tuple-element(%y), index=1
  ROOT %o = f32[4]{0} add(%y0, %y1)""",
    "a: f32[4,2], g: f32[4]",
    "f32[4]",
    _BESIDE,
)
RIGHT: Final = [
    Right(
        "a token that is returned and lies nowhere",
        entry(
            """%a = V parameter(0)
  %t = token[] after-all()
  %x = V negate(%a)
  ROOT %o = (V, token[]) tuple(%x, %t)""",
            result="(f32[8], token[])",
        ),
        (),
        lambda plan: replaced("allocation 3", "allocation 2")(
            replaced("allocation 2", "allocation 1")(replaced(r"allocation 1: size 0.*\n value: .* t @0.*\n", "")(plan))
        ),
    ),
    Right("a width that says what is so anyway", _barred("f32[8]{0:E(32)}", "f32[8]{0}")),
    Right(
        "an operand in another memory, whose parameter is named without it",
        _FAR,
        (),
        replaced(r": size 32(:\n value: <\d+ x )@0", r": size 32, color 5\g<1>@5"),
    ),
    Right(
        "a name that nobody reads", _steps("%y = V exponential(%a)\n%b = V bitcast(%x)\nROOT %o = V negate(%y)"), _OVER
    ),
    Right(
        "arrays beside each other in what is applied",
        _APPLIED,
        (("thr", "thq"),),
        replaced(r"(size )32(, thread-local:\n value: .* thq .*\n value: .* thr .*offset=)0", r"\g<1>96\g<2>64"),
    ),
    Right(
        "a carried copy at once, read early",
        _EARLY.replace(")ATTRIBUTES", ")")
        .replace("copy-start(%e)", f"copy-start(%e){_AT_ONCE}")
        .replace("copy-start(%x)", f"copy-start(%x){_AT_ONCE}"),
    ),
    Right("two sums beside a larger result", _TWO_SUMS, (("y{0}", "x"),)),
    Right("two sums beside a smaller result", _TWO_SUMS.replace("f32[9]", "f32[5]"), (("y{0}", "x"),)),
]

_LIBRARY: Final = _steps(
    """%k = V abs(%a)
  %t = (V, V) tuple(%x, %k)
  %y = (V, V) custom-call(ARGUMENT), custom_call_target="library", output_to_operand_aliasing={{1}: OPERAND}
  %y0 = V get-tuple-element(%y), index=0
  %y1 = V get-tuple-element(%y), index=1
  ROOT %o = V add(%y0, %y1)"""
)
_HALVES: Final = entry(
    "%a = THAT parameter(0)\n%x = THAT negate(%a)\n%y = THAT STEP\nROOT %o = THAT DONE(%y)", "a: c128[32]", "c128[32]"
).replace("THAT", "c128[32]{0}")


def _at(offset: int, name: str = "y") -> Callable[[str], str]:
    pattern = rf"(: size )512(:\n(?: value.*\n)* value: <\d+ {name} @0> \(size=512,offset=)0"
    return replaced(pattern, rf"\g<1>{512 + offset}\g<2>{offset}")


CLAIMED: Final = [
    # What another claim refutes as well: a claim, an instruction, and what the claim says of it.
    (
        "plan-in-place",
        "y",
        "unknown",
        _LIBRARY.replace("ARGUMENT", "%x").replace("OPERAND", "(0, {})"),
        (("y{0}", "x"),),
        str,
    ),
    (
        "plan-in-place",
        "y",
        "unknown",
        _LIBRARY.replace("ARGUMENT", "%t").replace("OPERAND", "(0, {1})"),
        (("y{1}", "x"),),
        str,
    ),
    ("plan-in-place", "y", "refuted", _HALVES.replace("STEP", "negate(%x)").replace("DONE", "negate"), _OVER, _at(8)),
    ("plan-in-place", "y", "proved", _HALVES.replace("STEP", "negate(%x)").replace("DONE", "negate"), _OVER, str),
]
