"""More plans with one thing wrong (`planted_plans.py`): what is read in another layout than it was written in or beyond
its end, what is in flight without an end, what nothing states of library calls, and what the caller hands over."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from planted_plans import DONATED, PLAIN, WORK, Planted, Together, entry, loop, replaced

_SUM: Final = """%sum (th0: f32[], th1: f32[]) -> f32[] {
  %th0 = f32[] parameter(0)
  %th1 = f32[] parameter(1)
  ROOT %th2 = f32[] add(%th0, %th1)
}
"""
_LESS: Final = """%lt (th0: f32[], th1: f32[]) -> pred[] {
  %th0 = f32[] parameter(0)
  %th1 = f32[] parameter(1)
  ROOT %thc = pred[] compare(%th0, %th1), direction=LT
}
"""
_OVER: Final = (("y", "x"),)


def _two_layouts(what: str, steps: str, other: str = "", header: str = "", pairs: Together = _OVER) -> Planted:
    """x is made in rows, and the steps make y of it: in columns, or in rows as well. THAT is y's shape, ROWS x's."""

    def of(layout: str) -> str:
        body = f"%a = ROWS parameter(0)\n%x = ROWS negate(%a)\n{steps}\nROOT %o = THAT negate(%y)"
        text = entry(body, "a: f32[4,4]", "f32[4,4]", other, header)
        return text.replace("THAT", f"f32[4,4]{layout}").replace("ROWS", "f32[4,4]{1,0}")

    return Planted(what, of("{0,1}"), pairs, pairs, sound=of("{1,0}"))


def _named(what: str, steps: str, other: str = "") -> Planted:
    """y is another name of x."""
    return _two_layouts(what, steps, other, pairs=())


_CALLED: Final = """%c (p: f32[4,4]) -> f32[4,4] {
  %p = THAT parameter(0)
  ROOT %e = THAT negate(%p)
}
"""
_TURN: Final = loop("%w = V negate(%v)\nROOT %t = STATE tuple(%next, %w)")
_PADDED: Final = re.sub(r"(?<!%x = )(?<!%a = )f32\[8\]\{0\}", "f32[8]{0:T(64)}", _TURN)
_CAST: Final = entry("%a = V parameter(0)\n%x = V negate(%a)\n%b = V bitcast(%x)\nROOT %o = V negate(%b)")
_LARGER: Final = re.sub(r"f32\[8\](\S*)( bitcast| negate\(%b\)| \{$)", r"f32[16]\1\2", _CAST, flags=re.MULTILINE)
_BARRIER: Final = _CAST.replace("bitcast", "opt-barrier")
NAMED: Final = [
    Planted("a state of more padding than is handed in", _PADDED, sound=_TURN),
    _named("an element of another layout", "%t = (THAT) tuple(%x)\n%y = THAT get-tuple-element(%t), index=0"),
    _named("an element read in another layout", "%t = (ROWS) tuple(%x)\n%y = THAT get-tuple-element(%t), index=0"),
    _named("an argument of another layout", "%y = THAT call(%x), to_apply=%c", _CALLED),
    _named("a barrier that gives another layout", "%y = THAT opt-barrier(%x)"),
    Planted("a bitcast to more elements", _LARGER, sound=_CAST),
    Planted("a bitcast to more padding", _CAST.replace("%b = f32[8]{0}", "%b = f32[8]{0:T(128)}"), sound=_CAST),
    Planted("another memory", _BARRIER.replace("%b = f32[8]{0}", "%b = f32[8]{0:S(5)}"), sound=_BARRIER),
]

_FUSED: Final = """%fz (p: f32[4,4], q: f32[1,4]) -> f32[4,4] {
  %p = GIVEN parameter(0)
  %q = f32[1,4]{1,0} parameter(1)
  %z = s32[] constant(0)
  ROOT %u = THAT dynamic-update-slice(%p, %q, %z, %z)
}
"""
_ROW: Final = "%u0 = f32[1,4]{1,0} slice(%a), slice={[0:1],[0:4]}\n%z0 = s32[] constant(0)\n"
_FUSED_UPDATE: Final = f"{_ROW}%y = THAT fusion(%x, %u0), kind=kLoop, calls=%fz"
_RINGS: Final = ", replica_count=2"
_SUMMED: Final = "all-reduce(%x), replica_groups={{0,1}}, to_apply=%sum"
_FLYING: Final = f"%s = THAT {_SUMMED.replace('(', '-start(', 1)}\n%y = THAT all-reduce-done(%s)"
MADE: Final = [
    _two_layouts("a sum in another layout", f"%y = THAT {_SUMMED}", _SUM, header=_RINGS),
    _two_layouts("a sum in flight in another layout", _FLYING, _SUM, header=_RINGS, pairs=(("s", "x"),)),
    _two_layouts("a sort in another layout", "%y = THAT sort(%x), dimensions={0}, to_apply=%lt", _LESS),
    _two_layouts("an update in another layout", f"{_ROW}%y = THAT dynamic-update-slice(%x, %u0, %z0, %z0)"),
    _two_layouts("a fused update in another layout", _FUSED_UPDATE, _FUSED.replace("GIVEN", "ROWS")),
]


def _calling(operands: str, target: str, rest: str) -> str:
    """A library call whose result y lies over x."""
    body = "%a = V parameter(0)\n%x = V negate(%a)\n%b = V bitcast(%x)\n%t = (V, V) tuple(%x, %a)\n%q = V abs(%a)\n"
    call = f'%y = V custom-call({operands}), custom_call_target="{target}", {rest}'
    return entry(f"{body}{call}\nROOT %o = V add(%y, %q)")


_DECLARED: Final = "output_to_operand_aliasing={{}: (0, {})}"


_BETA: Final = 'backend_config={"gemm_backend_config":{"beta":0.5}}'


def _declared(what: str, operands: str) -> Planted:
    plain = _calling("%x, %a", "library", _DECLARED)
    return Planted(what, _calling(operands, "library", _DECLARED), _OVER, _OVER, comes_to="unknown", sound=plain)


def _multiplied(what: str, config: str) -> Planted:
    wrong, right = (_calling("%a, %a, %x", "__cublas$gemm", said) for said in (f"backend_config={config}", _BETA))
    return Planted(what, wrong, _OVER, _OVER, comes_to="unknown", sound=right)


LIBRARIES: Final = [
    _declared("a declared alias of what is another operand, too", "%x, %x"),
    _declared("a declared alias of what a bitcast hands over as well", "%x, %b"),
    _declared("a declared alias of what stands in a tuple, too", "%x, %t"),
    _multiplied("a factor in a note", '{"gemm_backend_config":{"note":"\\"beta\\":1","beta":0}}'),
    _multiplied("a factor that is no number", '{"gemm_backend_config":{"beta":1e-e}}'),
    _multiplied("a factor of another field", '{"other":{"beta":1},"gemm_backend_config":{"beta":0}}'),
    _multiplied("a factor of no field", '{"beta":1}'),
    _multiplied("a factor that is a word", '{"gemm_backend_config":{"beta":true}}'),
    _multiplied("a factor of nothing", '{"gemm_backend_config":{"beta":0}}'),
]


def _flight(start: str, done: str, other: str) -> tuple[str, str]:
    """A start without its done, and with it."""
    body = "%a = V parameter(0)\n%x = V negate(%a)\n%tok = token[] after-all()\nSTEPS\n%y = V exponential(%a)\n"
    body += "DONE\n%y2 = V exponential(%a)\nROOT %o = V add(%y, %y2)"
    body = body.replace("STEPS", start)
    return entry(body.replace("DONE\n", ""), other=other), entry(body.replace("DONE", done), other=other)


_STARTS: Final = {
    "copy": ("%s = (V, V, u32[]) copy-start(%x)", "%d = V copy-done(%s)"),
    "send": ("%s = (V, u32[], token[]) send(%x, %tok), channel_id=1", "%d = token[] send-done(%s), channel_id=1"),
    "step": ('%s = ((V), V, s32[]) async-start(%x), async_execution_thread="other", calls=%w', "%d = V async-done(%s)"),
}
_STEP: Final = (
    '%w (p: f32[8]) -> f32[8] {\n  %p = V parameter(0)\n  ROOT %res = V abs(%p)\n}, execution_thread="other"\n'
)


def _endless(what: str) -> Planted:
    start, done = _STARTS[what]
    wrong, right = _flight(start, done, _STEP if what == "step" else "")
    return Planted(f"a {what} without an end", wrong, (("x", "y"),), (("x", "y2"),), comes_to="unknown", sound=right)


_REBUILT: Final = entry("""%a = V parameter(0)
  %x = V negate(%a)
  %s = (V, V, u32[]) copy-start(%x)
  %g0 = V get-tuple-element(%s), index=0
  %g2 = u32[] get-tuple-element(%s), index=2
  %q = V abs(%a)
  %r = (V, V, u32[]) tuple(%g0, %q, %g2)
  %y = V exponential(%a)
  %d = V copy-done(%r)
  ROOT %o = V add(%d, %y)""")
_BY_CALL: Final = entry(
    """%a = V parameter(0)
  %x = V negate(%a)
  %s = ((V), V, s32[]) call-start(%x), async_execution_thread="other", to_apply=%work
  %w = V exponential(%a)
  %d = V call-done(%s)
  %w2 = V exponential(%a)
  ROOT %sum = V add(%w, %d)""",
    other=WORK,
)
IN_FLIGHT: Final = [
    *(_endless(what) for what in _STARTS),
    Planted("a copy that ends with another source", _REBUILT, comes_to="unknown", twin="unknown"),
    Planted("beside: what a call in flight makes", _BY_CALL, (("mid", "w"),), (("mid", "w2"),)),
]

_SIZE: Final = entry(
    """%a = V parameter(0)
  %n0 = s32[] parameter(1)
  %n = s32[] negate(%n0)
  %k = s32[] abs(%n0)
  %b = V negate(%a)
  %r = V set-dimension-size(%b, %n), dimensions={0}
  %kb = s32[8]{0} broadcast(%k), dimensions={}
  %kf = V convert(%kb)
  ROOT %e = V add(%r, %kf)""",
    "a: f32[8], n0: s32[]",
)
_WITHIN: Final = entry(
    "%a = V parameter(0)\n%z = f32[] constant(0)\nROOT %o = f32[] reduce(%a, %z), dimensions={0}, to_apply=%outer",
    result="f32[]",
    other="""%inner (thp: f32[]) -> f32[] {
  %thp = f32[] parameter(0)
  ROOT %thq = f32[] exponential(%thp)
}

%outer (th0: f32[], th1: f32[]) -> f32[] {
  %th0 = f32[] parameter(0)
  %th1 = f32[] parameter(1)
  %th2 = f32[] multiply(%th0, %th1)
  %th3 = f32[] map(%th0), to_apply=%inner
  %th4 = f32[] multiply(%th2, %th3)
  ROOT %th5 = f32[] add(%th4, %th1)
}
""",
)
_PAIR: Final = entry(
    "%a = V parameter(0)\n%x = V negate(%a)\n%y = V abs(%a)\nROOT %o = (V, V) tuple(%x, %y)", result="(f32[8], f32[8])"
)


def _behind(plan: str) -> str:
    """y lies behind the 32 bytes of the parameter d."""
    plan = re.sub(r"allocation \d+: size 32:\n value: <\d+ y @0> .*\n", "", plan)
    return replaced(
        r"(: size )32(, parameter 1, .*\n.*\n)", r"\g<1>96\2 value: <77 y @0> (size=32,offset=64): f32[8]{0}\n"
    )(plan)


def _together(plan: str) -> str:
    """y lies behind x, and both are results."""
    plan = re.sub(r"allocation \d+: size 32, maybe-live-out:\n value: <\d+ y @0> .*\n", "", plan)
    return replaced(
        r"(: size )32(, .*\n value: <\d+ x .*\n)", r"\g<1>96\2 value: <77 y @0> (size=32,offset=64): f32[8]{0}\n"
    )(plan)


_TABLES: Final = entry(
    """%a = (V, V) parameter(0)
  %g = V get-tuple-element(%a), index=0
  %x = V negate(%g)
  %k = V abs(%g)
  ROOT %o = (V, V) tuple(%x, %k)""",
    "a: (f32[8], f32[8])",
    "(f32[8], f32[8])",
    header=", input_output_alias={ {}: (0, {}, may-alias) }",
)
HANDED_OVER: Final = [
    Planted("a table apart from the one that is given away", _TABLES, (), (("o", "a"),)),
    Planted("behind a parameter", DONATED, (("z", "d"),), (("z", "d"),), edit=_behind),
    Planted("two results in one allocation", _PAIR, edit=_together),
    Planted(
        "a parameter of another shape",
        PLAIN,
        edit=replaced(r"parameter 0, shape \|f32\[8\]\|", "parameter 0, shape |s8[99]|"),
    ),
    Planted("a place for what a reducer applies, in the reducer's", _WITHIN, (("th2", "thq"),), comes_to="unknown"),
    Planted("what says the size of a dimension", _SIZE, (("n", "k"),), (("k", "e"),)),
]


def _wide(what: str, step: str, sound: Together = _OVER, other: str = "", header: str = "") -> Planted:
    """y lies over the second half of x, 64 of 128 bytes on; the twin exactly over it."""
    body = f"%a = W parameter(0)\n%x = W negate(%a)\n{step}\nROOT %o = W negate(%y)"
    hlo = entry(body, "a: f32[32]", "f32[32]", other, header).replace(" W ", " f32[32]{0} ")
    shifted = replaced(r"(: size )128(:\n(?: value.*\n)* value: <\d+ y @0> \(size=128,offset=)0", r"\g<1>192\g<2>64")
    return Planted(what, hlo, _OVER, sound, edit=shifted, comes_to="unknown" if "custom" in step else "refuted")


_BLAS: Final = f'%y = W custom-call(%a, %a, %x), custom_call_target="__cublas$gemm", {_BETA}'
_LIBRARY_SUM: Final = "%y = W all-reduce(%x), replica_groups={{0,1}}, to_apply=%sum"
_PAIR_OF: Final = """%fz (p: f32[2,4]) -> (f32[2,4], f32[DIMS]) {
  %p = f32[2,4]{1,0} parameter(0)
  %n = f32[2,4]{1,0} negate(%p)
  %r = f32[DIMS]{1,0} STEP
  ROOT %t = (f32[2,4]{1,0}, f32[DIMS]{1,0}) tuple(%n, %r)
}
"""


def _two_made(step: str, dims: str) -> str:
    """A fusion of two results: the first may lie over what both read."""
    body = """%a = f32[2,4]{1,0} parameter(0)
  %x = f32[2,4]{1,0} negate(%a)
  %y = (f32[2,4]{1,0}, f32[DIMS]{1,0}) fusion(%x), kind=kLoop, calls=%fz
  %y0 = f32[2,4]{1,0} get-tuple-element(%y), index=0
  %y1 = f32[DIMS]{1,0} get-tuple-element(%y), index=1
  ROOT %o = (f32[2,4]{1,0}, f32[DIMS]{1,0}) tuple(%y0, %y1)"""
    text = entry(body, "a: f32[2,4]", "(f32[2,4], f32[DIMS])", _PAIR_OF.replace("STEP", step))
    return text.replace("DIMS", dims)


_FIRST: Final = (("y{0}", "x"),)
_RESHAPED: Final = _two_made("reshape(%p)", "4,2")
_UPDATED: Final = _two_made("SECOND(%p)", "2,4").replace(
    "%n = f32[2,4]{1,0} negate(%p)",
    "%c = s32[] constant(0)\n  %q = f32[1,4]{1,0} constant({{1,2,3,4}})\n"
    "  %n = f32[2,4]{1,0} dynamic-update-slice(%p, %q, %c, %c)",
)
_COLUMNS: Final = entry(
    """%a = f32[4,4]{1,0} parameter(0)
  %x = f32[4,4]{1,0} negate(%a)
  %y = f32[4,2]{1,0} slice(%x), slice={[0:4],[0:2]}
  ROOT %o = f32[4,2]{1,0} negate(%y)""",
    "a: f32[4,4]",
    "f32[4,2]",
)


def _some(start: int) -> str:
    """Two of every four results are elements of x, from start on four apart; the others are zero."""
    fused = f"""%fz (p: f32[16]) -> f32[8] {{
  %p = f32[16]{{0}} parameter(0)
  %z = f32[] constant(0)
  %s = f32[2]{{0}} slice(%p), slice={{[{start}:{start + 8}:4]}}
  %b = f32[2,2]{{1,0}} broadcast(%s), dimensions={{1}}
  %q = f32[2,4]{{1,0}} pad(%b, %z), padding=0_0x2_0
  ROOT %r = V reshape(%q)
}}
"""
    body = "%a = W parameter(0)\n%x = W negate(%a)\n%y = V fusion(%x), kind=kLoop, calls=%fz\nROOT %o = V negate(%y)"
    return entry(body.replace("W", "f32[16]{0}"), "a: f32[16]", "f32[8]", fused)


_PERMUTED: Final = entry(
    "%a = V parameter(0)\n%x = V negate(%a)\n%y = V collective-permute(%x), source_target_pairs={{0,1},{1,0}}\n"
    "ROOT %o = V negate(%y)",
    header=_RINGS,
)
_PRODUCT: Final = _two_layouts("a product in another layout", _BLAS.replace("W", "THAT"))
OVERLAPPING: Final = [
    replace(_PRODUCT, comes_to="unknown"),
    _wide("a negation over the second half", "%y = W negate(%x)"),
    _wide("a sum over the second half", _LIBRARY_SUM, other=_SUM, header=_RINGS),
    _wide("a product over the second half", _BLAS),
    Planted("columns over the matrix", _COLUMNS, _OVER),
    Planted("every other pair of elements", _some(0), _OVER, _OVER, sound=_some(8)),
    Planted("what another device reads", _PERMUTED, _OVER, comes_to="unknown"),
    Planted(
        "a transposed second result",
        _two_made("transpose(%p), dimensions={1,0}", "4,2"),
        _FIRST,
        _FIRST,
        sound=_RESHAPED,
    ),
    Planted(
        "fewer elements of a second result",
        _two_made("slice(%p), slice={[0:2],[0:2]}", "2,2"),
        _FIRST,
        comes_to="unknown",
    ),
    Planted("a second result beside an update", _UPDATED.replace("SECOND", "negate"), _FIRST, comes_to="unknown"),
]

_FLOWN: Final = """%work (p: f32[8], q: f32[2], r: s32[]) -> f32[8] {
  %p = V parameter(0)
  %q = f32[2]{0} parameter(1)
  %r = s32[] parameter(2)
  ROOT %res = V dynamic-update-slice(%p, %q, %r)
}
"""
_FLYING_UPDATE: Final = entry(
    """%a = V parameter(0)
  %z = s32[] constant(0)
  %x = V negate(%a)
  %u = f32[2]{0} slice(%a), slice={[0:2]}
  %s = ((V, f32[2]{0}, s32[]), V, s32[]) async-start(%x, %u, %z), calls=%work
  %w = V exponential(%a)
  %d = V async-done(%s)
  ROOT %o = V add(%w, %d)""",
    other=_FLOWN,
)
_READ_AGAIN: Final = _FLYING_UPDATE.replace("add(%w, %d)", "add(%x, %d)")
_READ_INSIDE: Final = _FLYING_UPDATE.replace(
    "%res = f32[8]{0} dynamic-update-slice(%p, %q, %r)", "%res = f32[8]{0} dynamic-update-slice(%p, %q2, %r)"
).replace("  ROOT %res", "  %q2 = f32[2]{0} slice(%p), slice={[1:3]}\n  ROOT %res")
_FLYING_CALL: Final = entry(
    """%a = V parameter(0)
  %x = V negate(%a)
  %s = ((V, V), V, s32[]) custom-call-start(%x, OTHER), custom_call_target="library", DECLARED
  %w = V exponential(%a)
  %d = V custom-call-done(%s)
  ROOT %o = V add(%w, %d)""".replace("DECLARED", _DECLARED)
)
_UNDER: Final = (("res", "x"),)
IN_FLIGHT.extend(
    [
        Planted("an update in flight apart from its operand", _FLYING_UPDATE, (), _UNDER),
        Planted("an update in flight of what is read again", _READ_AGAIN, _UNDER, _UNDER, sound=_FLYING_UPDATE),
        Planted(
            "an update in flight of a parameter",
            _FLYING_UPDATE.replace("(%x, %u", "(%a, %u"),
            (("res", "a"),),
            _UNDER,
            sound=_FLYING_UPDATE,
        ),
        Planted(
            "an update in flight that reads what it updates",
            _READ_INSIDE,
            _UNDER,
            _UNDER,
            comes_to="unknown",
            sound=_FLYING_UPDATE,
        ),
        Planted("a call in flight apart from its operand", _FLYING_CALL.replace("OTHER", "%a"), (), (("s{1}", "x"),)),
        Planted(
            "a call in flight of one value twice",
            _FLYING_CALL.replace("OTHER", "%x"),
            (("s{1}", "x"),),
            (("s{1}", "x"),),
            sound=_FLYING_CALL.replace("OTHER", "%a"),
        ),
    ]
)

_LARGER_RESULT: Final = entry(
    """%a = V parameter(0)
  %x = V negate(%a)
  %y = f32[16]{0} custom-call(%x), custom_call_target="library", DECLARED
  ROOT %o = f32[16]{0} negate(%y)""".replace("DECLARED", _DECLARED),
    result="f32[16]",
)
_SORTED: Final = f"""{_LESS}
%fz (p: f32[4,4]) -> f32[4,4] {{
  %p = ROWS parameter(0)
  ROOT %st = THAT sort(%p), dimensions={{0}}, to_apply=%lt
}}
"""
_TURNED_INSIDE: Final = """%fz (p: f32[4,4]) -> f32[4,4] {
  %p = ROWS parameter(0)
  ROOT %n = THAT negate(%p)
}
"""
_TWO_ROWS: Final = entry(
    """%a = f32[2,8]{1,0} parameter(0)
  %x = f32[2,8]{1,0} negate(%a)
  %y = f32[2,8]{0,1} opt-barrier(%x)
  ROOT %o = f32[2,8]{0,1} negate(%y)""",
    "a: f32[2,8]",
    "f32[2,8]",
)
_AT_ONCE: Final = entry(
    """%a = V parameter(0)
  %x = V negate(%a)
  %s = (V, V, u32[]) copy-start(%x), backend_config={"is_sync":SAID}
  %y = V exponential(%a)
  %d = V copy-done(%s)
  ROOT %o = V add(%d, %y)"""
)


_BESIDE: Final = """%fz (p: f32[8]) -> (f32[8], f32[4]) {
  %p = V parameter(0)
  %front = f32[4]{0} slice(%p), slice={[0:4]}
  %made = f32[4]{0} negate(%front)
  %read = f32[4]{0} slice(%p), slice={[FROM]}
  %z = s32[] constant(0)
  %u = V dynamic-update-slice(%p, %made, %z)
  ROOT %both = (V, f32[4]{0}) tuple(%u, %read)
}
"""
"""An update of four elements beside an output of four: of two sizes, so that no step is said to make both."""
_TWO_SIZES: Final = entry(
    """%a = V parameter(0)
  %x = V negate(%a)
  %y = (V, f32[4]{0}) fusion(%x), kind=kLoop, calls=%fz
  %y0 = V get-tuple-element(%y), index=0
  %y1 = f32[4]{0} get-tuple-element(%y), index=1
  %y2 = V pad(%y1, %zero), padding=0_4
  ROOT %o = V add(%y0, %y2)""".replace("  %y2", "  %zero = f32[] constant(0)\n  %y2"),
    other=_BESIDE,
)

_REDUCED_BESIDE: Final = entry(
    """%a = f32[8,4]{1,0} parameter(0)
  %x = f32[8,4]{1,0} negate(%a)
  %y = (f32[8,4]{1,0}, V) fusion(%x), kind=kInput, calls=%fz
  %y0 = f32[8,4]{1,0} get-tuple-element(%y), index=0
  %y1 = V get-tuple-element(%y), index=1
  %b = f32[8,4]{1,0} broadcast(%y1), dimensions={0}
  ROOT %o = f32[8,4]{1,0} add(%y0, %b)""",
    "a: f32[8,4]",
    "f32[8,4]",
    _SUM
    + """
%fz (p: f32[8,4]) -> (f32[8,4], f32[8]) {
  %p = f32[8,4]{1,0} parameter(0)
  %zero = f32[] constant(0)
  %rows = V reduce(%p, %zero), dimensions={1}, to_apply=%sum
  %e = f32[8,4]{1,0} exponential(%p)
  ROOT %both = (f32[8,4]{1,0}, V) tuple(%e, %rows)
}
""",
)
_STARTED: Final = entry(
    "%a = V parameter(0)\n%x = V negate(%a)\n%q = V abs(%a)\n%y = V fusion(%x, %q), kind=kLoop, calls=%fz\n"
    "ROOT %o = V add(%y, %q)",
    other="""%fz (p: f32[8], q: f32[8]) -> f32[8] {
  %p = V parameter(0)
  %q0 = V parameter(1)
  %n = f32[4]{0} slice(%q0), slice={[0:4]}
  %s1 = f32[1]{0} slice(FROM), slice={[0:1]}
  %s0 = f32[] reshape(%s1)
  %i = s32[] convert(%s0)
  ROOT %u = V dynamic-update-slice(%p, %n, %i)
}
""",
)
_FIRST_FACTOR, _LAST_TERM = (
    _calling(o, "__cublas$gemm", 'backend_config={"gemm_backend_config":{"beta":0.5}}')
    for o in ("%x, %a, %a", "%a, %a, %x")
)

_OF_A_TUPLE: Final = _calling("%t", "library", _DECLARED.replace("(0, {})", "(0, {0})"))
FURTHER: Final = [
    Planted(
        "a declared alias of what stands in a tuple twice",
        _OF_A_TUPLE.replace("tuple(%x, %a)", "tuple(%x, %x)"),
        _OVER,
        _OVER,
        comes_to="unknown",
        sound=_OF_A_TUPLE,
    ),
    Planted(
        "a declared alias of more bytes",
        _LARGER_RESULT,
        _OVER,
        _OVER,
        comes_to="unknown",
        sound=_calling("%x, %a", "library", _DECLARED),
    ),
    _two_layouts("a fused sort in another layout", "%y = THAT fusion(%x), kind=kInput, calls=%fz", _SORTED),
    replace(
        _two_layouts(
            "a fusion that gives another layout than it has",
            "%y0 = ROWS fusion(%x), kind=kLoop, calls=%fz\n%y = THAT copy(%y0)",
            _TURNED_INSIDE,
            pairs=(("y0", "x"),),
        ),
        comes_to="unknown",
    ),
    Planted(
        "an update beside what is made whole in as many steps",
        _TWO_SIZES.replace("FROM", "0:4"),
        (("y{0}", "x"),),
        (("y{0}", "x"),),
        comes_to="unknown",
        sound=_TWO_SIZES.replace("FROM", "4:8"),
    ),
    Planted("sums of rows over what is read beside", _REDUCED_BESIDE, (("y{1}", "x"),), comes_to="unknown"),
    Planted(
        "an update whose start is read where it writes",
        _STARTED.replace("FROM", "%p"),
        _OVER,
        _OVER,
        comes_to="unknown",
        sound=_STARTED.replace("FROM", "%q0"),
    ),
    Planted("a product over a factor", _FIRST_FACTOR, _OVER, _OVER, comes_to="unknown", sound=_LAST_TERM),
    Planted("rows for columns", _TWO_ROWS, sound=_TWO_ROWS.replace("[2,8]", "[1,8]")),
    Planted("a copy at once", _AT_ONCE.replace("SAID", "false"), _OVER, _OVER, sound=_AT_ONCE.replace("SAID", "true")),
    Planted(
        "a part that lasts as the whole",
        _PAIR,
        edit=replaced(r"maybe-live-out(:\n value: <\d+ x )", r"output shape is |f32[8]|\1"),
    ),
    *(
        Planted(what, _BARRIER, edit=replaced(rf"(, maybe-live-out)?(:\n value: <\d+ {value} )", rf", {said}\g<1>\2"))
        for what, value, said in (
            ("a result said to be of another shape", "o", "output shape is |f32[9]|"),
            ("a value that is said to be the result", "x", "output shape is |f32[8]|"),
        )
    ),
    Planted(
        "a name at another offset",
        _CAST,
        edit=replaced(
            r"(: size )32(:\n value: <\d+ x .*\n)", r"\g<1>96\g<2> value: <77 b @0> (size=32,offset=64): f32[8]{0}\n"
        ),
    ),
    Planted(
        "a name in another allocation",
        _CAST,
        edit=replaced(r"\Z", "allocation 77: size 32:\n value: <77 b @0> (size=32,offset=0): f32[8]{0}\n"),
    ),
]

PLANTED_LAYOUTS: Final = [*NAMED, *MADE, *LIBRARIES, *IN_FLIGHT, *HANDED_OVER, *OVERLAPPING, *FURTHER]
