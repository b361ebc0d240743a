"""Plans in which a result lies over an operand of what is not made element by element, or not by one loop, each beside
its sound twin: see `planted_plans`."""

from __future__ import annotations

import re
from typing import Final

from planted_clauses import carried
from planted_plans import Planted, Together, entry, replaced

_OVER: Final[Together] = (("y", "x"),)
_FIRST: Final[Together] = (("y{0}", "x"),)
_SQUARE: Final = "f32[4,4]{1,0}"
_APPLIED: Final = """%sum (th0: f32[], th1: f32[]) -> f32[] {
  %th0 = f32[] parameter(0)
  %th1 = f32[] parameter(1)
  ROOT %th2 = f32[] add(%th0, %th1)
}

%ge (thg0: f32[], thg1: f32[]) -> pred[] {
  %thg0 = f32[] parameter(0)
  %thg1 = f32[] parameter(1)
  ROOT %thg2 = pred[] compare(%thg0, %thg1), direction=GE
}
"""
_SELECTED: Final = "window={size=1x1}, select=%ge, scatter=%sum"
_SINGLE: Final = "lhs_batch_dims={0,1}, rhs_batch_dims={0,1}, lhs_contracting_dims={}, rhs_contracting_dims={}"


def _squares(step: str, other: str = "") -> str:
    body = f"""%a = S parameter(0)
  %x = S negate(%a)
  %w = S abs(%a)
  %z = f32[] constant(0)
  {step}
  ROOT %o = S negate(%y)"""
    return entry(body, "a: f32[4,4]", "f32[4,4]", _APPLIED + other).replace(" S ", f" {_SQUARE} ")


def _fused_square(step: str) -> str:
    """A fusion of three operands: a square over which the result may lie, another one, and a number."""
    body = f"""
%fz (p: f32[4,4], q: f32[4,4], n: f32[]) -> f32[4,4] {{
  %p = S parameter(0)
  %q = S parameter(1)
  %n = f32[] parameter(2)
  {step}
}}
"""
    return _squares("%y = S fusion(%x, %w, %z), kind=kLoop, calls=%fz", body)


_LISTED: Final = (
    _squares(f"%y = S select-and-scatter(%x, %w, %z), {_SELECTED}"),
    _squares(f"%y = S select-and-scatter(%w, %x, %z), {_SELECTED}"),
    _fused_square(f"ROOT %r = S select-and-scatter(%p, %q, %n), {_SELECTED}"),
)
_WITHIN: Final = """
%in (ip: f32[4,4], iq: f32[4,4], in: f32[]) -> f32[4,4] {
  %ip = S parameter(0)
  %iq = S parameter(1)
  %in = f32[] parameter(2)
  ROOT %ir = STEP
}

%mid (mp: f32[4,4], mq: f32[4,4], mn: f32[]) -> f32[4,4] {
  %mp = S parameter(0)
  %mq = S parameter(1)
  %mn = f32[] parameter(2)
  ROOT %mr = S fusion(%mp, %mq, %mn), kind=kLoop, calls=%in
}
"""


def _fused_within(step: str) -> str:
    """A fusion in a fusion in a fusion."""
    text = _fused_square("ROOT %r = S fusion(%p, %q, %n), kind=kLoop, calls=%mid")
    return text.replace("%fz (", _WITHIN.replace("STEP", step).replace("= S ", f"= {_SQUARE} ") + "\n%fz (", 1)


_PRODUCT: Final = _squares(f"%y = S dot(%x, %w), {_SINGLE}")
_FUSED_PRODUCT: Final = _fused_square(f"ROOT %r = S dot(%p, %q), {_SINGLE}")


def _two(body: str) -> str:
    """A fusion of x and two more operands with two results, the first of which may lie over x."""
    text = """%a = V parameter(0)
  %i = s32[2,1]{1,0} parameter(1)
  %x = V negate(%a)
  %u = f32[2]{0} slice(%a), slice={[0:2]}
  %y = (V, V) fusion(%x, %i, %u), kind=kLoop, calls=%fz
  %y0 = V get-tuple-element(%y), index=0
  %y1 = V get-tuple-element(%y), index=1
  ROOT %o = V add(%y0, %y1)"""
    fused = f"""
%fz (p: f32[8], q: s32[2,1], v: f32[2]) -> (f32[8], f32[8]) {{
  %p = V parameter(0)
  %q = s32[2,1]{{1,0}} parameter(1)
  %v = f32[2]{{0}} parameter(2)
  {body}
}}
"""
    return entry(text, "a: f32[8], i: s32[2,1]", other=_APPLIED + fused)


_SCATTERS: Final = """%s = V scatter(%p, %q, %v), WHERE, to_apply=%sum
  %n = V NEXT
  ROOT %t = (V, V) tuple(%s, %n)""".replace(
    "WHERE", "update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1"
)
_SORTS: Final = """%s = V sort(%p), dimensions={0}, to_apply=%ge
  %n = V NEXT
  ROOT %t = (V, V) tuple(%s, %n)"""
_BESIDE_ZEROS: Final = "broadcast(%z), dimensions={}"
_ZERO: Final = "%z = f32[] constant(0)\n  "

_INTO_ANOTHER: Final = entry(
    """%a = V parameter(0)
  %x = V negate(%a)
  %w = V abs(%a)
  %y = V fusion(%w, %x), kind=kLoop, calls=%fz
  ROOT %o = V negate(%y)""",
    other="""%fz (p: f32[8], q: f32[8]) -> f32[8] {
  %p = V parameter(0)
  %q = V parameter(1)
  %u = f32[4]{0} slice(%q), slice={[4:8]}
  %z = s32[] constant(0)
  ROOT %d = V dynamic-update-slice(%p, %u, %z)
}
""",
)
"""What is updated lies at w; the update is read of x."""


def _sized(root: str, inner: str = "", shape: str = "f32[<=8]{0}") -> str:
    """A fusion of an array of dynamic size and of a number, with two results."""
    return (
        entry(
            """%a = V parameter(0)
  %n = s32[] parameter(1)
  %m = s32[] negate(%n)
  %x = SHAPE custom-call(%a, %n), custom_call_target="SliceToDynamic"
  %y = (SHAPE, OTHER) fusion(%x, %m), kind=kLoop, calls=%fz
  %y1 = OTHER get-tuple-element(%y), index=1
  ROOT %o = OTHER copy(%y1)""",
            "a: f32[8], n: s32[]",
            "OUT",
            other=inner
            + """%fz (p: BARE, q: s32[]) -> (BARE, OUT) {
  %p = SHAPE parameter(0)
  %q = s32[] parameter(1)
  ROOT_HERE
}
""".replace("ROOT_HERE", root),
        )
        .replace("SHAPE", shape)
        .replace("BARE", shape.split("{")[0])
    )


_NUMBERS: Final = ("s32[4]{0}", "s32[4]")
_SIZE_INSIDE: Final = """%in (ip: f32[<=8], iq: s32[]) -> s32[4] {
  %ip = f32[<=8]{0} parameter(0)
  %iq = s32[] parameter(1)
  %ig = s32[] NUMBER
  ROOT %ib = s32[4]{0} broadcast(%ig), dimensions={}
}

"""
_NESTED: Final = """%ng = f32[<=8]{0} negate(%p)
  %st = f32[<=8]{0} SET
  %b = s32[4]{0} fusion(%p, %q), kind=kLoop, calls=%in
  ROOT %r = (f32[<=8]{0}, s32[4]{0}) tuple(%st, %b)"""
_SET: Final = "set-dimension-size(%ng, %q), dimensions={0}"


def _numbers(text: str) -> str:
    return text.replace("OTHER", _NUMBERS[0]).replace("OUT", _NUMBERS[1])


_SIZE_IN_A_FUSION_WITHIN: Final = _numbers(
    _sized(
        _NESTED.replace("SET", "abs(%ng)"), _SIZE_INSIDE.replace("NUMBER", "get-dimension-size(%ip), dimensions={0}")
    )
)
_NONE_WITHIN: Final = _numbers(
    _sized(_NESTED.replace("SET", "abs(%ng)"), _SIZE_INSIDE.replace("NUMBER", "negate(%iq)"))
)


def _both_sized(first: str) -> str:
    """The second result has the size of the operand, over which the first one lies."""
    text = _sized(f"""%ng = f32[<=8]{{0}} negate(%p)
  %st = f32[<=8]{{0}} {first}
  %b = f32[<=8]{{0}} exponential(%p)
  ROOT %r = (f32[<=8]{{0}}, f32[<=8]{{0}}) tuple(%st, %b)""")
    return text.replace("OTHER", "f32[<=8]{0}").replace("OUT", "f32[<=8]")


_CUBLAS: Final = """%a = S parameter(0)
  %x = S negate(%a)
  %l = S abs(%a)
  %r = S exponential(%a)
  %y = (S, S) custom-call(%l, %r, %x), custom_call_target="__cublas$gemm", backend_config=SCALED
  %y0 = S get-tuple-element(%y), index=0
  %y1 = S get-tuple-element(%y), index=1
  ROOT %o = S add(%y0, %y1)"""
_GEMM: Final = (
    entry(_CUBLAS.replace("SCALED", '{"gemm_backend_config":{"beta":1}}'), "a: f32[4,4]", "f32[4,4]")
    .replace("S ", f"{_SQUARE} ")
    .replace("(S,", f"({_SQUARE},")
    .replace("S)", f"{_SQUARE})")
)

_TWICE: Final = entry(
    """%a = V parameter(0)
  %x = V negate(%a)
  %s = ((V), V, s32[]) async-start(%x), async_execution_thread="other", calls=%work
  %d = V async-done(%s)
  %w = V exponential(%a)
  %s2 = ((V), V, s32[]) async-start(%d), async_execution_thread="other", calls=%CALLED
  %w2 = V exponential(%w)
  %d2 = V async-done(%s2)
  %e = V add(%w, %w2)
  ROOT %sum = V add(%e, %d2)""",
    other="""%work (p: f32[8]) -> f32[8] {
  %p = V parameter(0)
  %mid = V negate(%p)
  ROOT %res = V abs(%mid)
}, execution_thread="other"

%again (p2: f32[8]) -> f32[8] {
  %p2 = V parameter(0)
  %mid2 = V negate(%p2)
  ROOT %res2 = V abs(%mid2)
}, execution_thread="other"
""",
)
_DONE_TABLES: Final = entry(
    """%a = V parameter(0)
  %c = pred[] parameter(1)
  %s = ((V), (V, V), s32[]) async-start(%a), async_execution_thread="other", calls=%work
  %r = (V, V) conditional(%c, %s, %s), true_computation=%yes, false_computation=%no
  %g = V get-tuple-element(%r), index=1
  ROOT %o = V negate(%g)""",
    "a: f32[8], c: pred[]",
    other="""%work (p: f32[8]) -> (f32[8], f32[8]) {
  %p = V parameter(0)
  %one = V negate(%p)
  %two = V abs(%p)
  ROOT %t = (V, V) tuple(%one, %two)
}, execution_thread="other"

%yes (q: ((f32[8]), (f32[8], f32[8]), s32[])) -> (f32[8], f32[8]) {
  %q = ((V), (V, V), s32[]) parameter(0)
  ROOT %d1 = (V, V) async-done(%q)
}

%no (k: ((f32[8]), (f32[8], f32[8]), s32[])) -> (f32[8], f32[8]) {
  %k = ((V), (V, V), s32[]) parameter(0)
  ROOT %d2 = (V, V) async-done(%k)
}
""",
)
_DONE_RETURNED: Final = entry(
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

_CHOSEN: Final = entry(
    """%a = V parameter(0)
  %c = pred[] parameter(1)
  %x = V negate(%a)
  %y = V fusion(%x, %c), kind=kLoop, calls=%fz
  ROOT %o = V negate(%y)""",
    "a: f32[8], c: pred[]",
    other="""%turned (t: f32[8]) -> f32[8] {
  %t = V parameter(0)
  ROOT %tr = V reverse(%t), dimensions={0}
}

%as_is (s: f32[8]) -> f32[8] {
  %s = V parameter(0)
  ROOT %sn = V negate(%s)
}

%fz (p: f32[8], q: pred[]) -> f32[8] {
  %p = V parameter(0)
  %q = pred[] parameter(1)
  ROOT %r = V conditional(%q, %p, %p), true_computation=%turned, false_computation=%as_is
}
""",
)


def _shifted(at: int) -> str:
    """The first three elements are written from the given one on."""
    return entry(
        """%a = V parameter(0)
  %x = V negate(%a)
  %y = V fusion(%x), kind=kLoop, calls=%fz
  ROOT %o = V negate(%y)""",
        other=f"""%fz (p: f32[8]) -> f32[8] {{
  %p = V parameter(0)
  %u = f32[3]{{0}} slice(%p), slice={{[0:3]}}
  %z = s32[] constant({at})
  ROOT %d = V dynamic-update-slice(%p, %u, %z)
}}
""",
    )


def _sum_of_a_row(row: str) -> str:
    """Each of two elements is the sum of the second row: where that begins hangs on the size of the first."""
    return entry(
        f"""%a = V parameter(0)
  %n = s32[] parameter(1)
  %x = f32[2,{row}]{{1,0}} custom-call(%a, %n), custom_call_target="SliceToDynamic"
  %y = f32[2]{{0}} fusion(%x), kind=kLoop, calls=%fz
  ROOT %o = f32[2]{{0}} negate(%y)""",
        "a: f32[8], n: s32[]",
        "f32[2]",
        other=f"""{_APPLIED}
%fz (p: f32[2,{row}]) -> f32[2] {{
  %p = f32[2,{row}]{{1,0}} parameter(0)
  %s = f32[1,{row}]{{1,0}} slice(%p), slice={{[1:2], [0:4]}}
  %z = f32[] constant(0)
  %r = f32[] reduce(%s, %z), dimensions={{0,1}}, to_apply=%sum
  ROOT %b = f32[2]{{0}} broadcast(%r), dimensions={{}}
}}
""",
    )


def _beside_a_sum(step: str) -> str:
    """The sum of what the first result is written over."""
    return entry(
        """%a = V parameter(0)
  %x = V negate(%a)
  %w = V abs(%a)
  %y = (V, f32[]) fusion(%x, %w), kind=kInput, calls=%fz
  %y0 = V get-tuple-element(%y), index=0
  %y1 = f32[] get-tuple-element(%y), index=1
  %y2 = V broadcast(%y1), dimensions={}
  ROOT %o = V add(%y0, %y2)""",
        other=f"""{_APPLIED}
%fz (p: f32[8], q: f32[8]) -> (f32[8], f32[]) {{
  %p = V parameter(0)
  %q = V parameter(1)
  %z = s32[] constant(0)
  %n = f32[] constant(0)
  %d = V {step}
  %r = f32[] reduce(%p, %n), dimensions={{0}}, to_apply=%sum
  ROOT %t = (V, f32[]) tuple(%d, %r)
}}
""",
    )


_WITH_A_TOKEN: Final = entry(
    """%a = V parameter(0)
  %x = V negate(%a)
  %t = token[] after-all()
  ROOT %o = (V, token[]) tuple(%x, %t)""",
    result="(f32[8], token[])",
)

CARRIED: Final = (
    carried("async-start", "((V), V, s32[])", "async-done")
    .replace("async-start(%x)", "async-start(%x), calls=%work0")
    .replace("async-start(%e)", "async-start(%e), calls=%work1")
    .replace(
        "%body (s",
        "".join(
            f"""%work{k} (w{k}: f32[8]) -> f32[8] {{
  %w{k} = f32[8]{{0}} parameter(0)
  ROOT %r{k} = f32[8]{{0}} abs(%w{k})
}}

"""
            for k in range(2)
        )
        + "%body (s",
        1,
    )
)
"""Of one step each: what a loop carries on needs no bytes of its own until its end is known."""

_PLAIN: Final = entry(
    "%a = V parameter(0)\n%x = V negate(%a)\n%k = V constant({1,2,3,4,5,6,7,8})\nROOT %o = V add(%x, %k)"
)
TWO_PARTS: Final = entry(
    """%a = (V, V) parameter(0)
  %p = V get-tuple-element(%a), index=0
  %q = V get-tuple-element(%a), index=1
  ROOT %o = V add(%p, %q)""",
    "a: (f32[8], f32[8])",
)
_GATHERED: Final = entry(
    """%a = V parameter(0)
  %x = V negate(%a)
  %s = ((V, V), (f32[16]{0}, f32[16]{0})) all-gather-start(%x, %a), replica_groups={{0,1}}, dimensions={0}
  %d = (f32[16]{0}, f32[16]{0}) all-gather-done(%s)
  %w = V exponential(%a)
  %g = f32[16]{0} get-tuple-element(%d), index=0
  %h = V slice(%g), slice={[0:8]}
  ROOT %o = V add(%h, %w)""",
    header=", replica_count=2",
)


def in_one_parameter(plan: str) -> str:
    """The second part of a parameter is put into the allocation of the first."""
    second = re.search(
        r"allocation \d+: size 32, parameter 0, shape \|f32\[8\]\| at ShapeIndex \{1\}:\n( value: .*\n)", plan
    )
    assert second is not None
    return re.sub(r"( value: <\d+ a\{0\} .*\n)", rf"\1{second[1]}", plan.replace(second[0], ""))


PLACED: Final = [
    Planted(
        "a constant that begins later",
        _PLAIN,
        edit=replaced(r"size 32(, constant:\n value: <\d+ k @0> \(size=32,offset=)0", r"size 96\g<1>64"),
    ),
    Planted(
        "a result among temporaries",
        _PLAIN,
        edit=replaced(r"maybe-live-out(:\n value: <\d+ o )", r"maybe-live-out, preallocated-temp\1"),
    ),
    Planted("two parts of a parameter in one place", TWO_PARTS, edit=in_one_parameter),
    Planted("over the table of several that are gathered", _GATHERED, (("w", "d"),), (("w", "s"),)),
]
KERNELS: Final = [
    *PLACED,
    Planted(
        "an update of the whole beside a sum",
        _beside_a_sum("dynamic-update-slice(%p, %q, %z)"),
        _FIRST,
        _FIRST,
        comes_to="unknown",
        sound=_beside_a_sum("add(%p, %q)"),
    ),
    Planted("one step that a loop carries on", CARRIED, (("r1", "next"),)),
    Planted("a token is returned", _WITH_A_TOKEN, (("x", "a"),)),
    Planted(
        "a select-and-scatter in a fusion in a fusion",
        _fused_within(f"S select-and-scatter(%ip, %iq, %in), {_SELECTED}"),
        _OVER,
        _OVER,
        comes_to="unknown",
        sound=_fused_within("S add(%ip, %iq)"),
    ),
    Planted("an update of what is read before it", _shifted(1), _OVER, _OVER, sound=_shifted(0)),
    Planted(
        "elements of a row that lies nobody knows where",
        _sum_of_a_row("<=4"),
        _OVER,
        _OVER,
        comes_to="unknown",
        sound=_sum_of_a_row("4"),
    ),
    Planted("what one branch in a fusion may read", _CHOSEN, _OVER, comes_to="unknown"),
    *(
        Planted(f"a select-and-scatter over what it is given, {n}", h, _OVER, comes_to="unknown")
        for n, h in enumerate(_LISTED)
    ),
    Planted("a product of single elements", _PRODUCT, _OVER, _OVER, comes_to="unknown", sound=_FUSED_PRODUCT),
    Planted(
        "a scatter over what another result reads",
        _two(_SCATTERS.replace("NEXT", "negate(%p)")),
        _FIRST,
        _FIRST,
        comes_to="unknown",
        sound=_two(_ZERO + _SCATTERS.replace("NEXT", _BESIDE_ZEROS)),
    ),
    Planted(
        "a sort over what another result reads",
        _two(_SORTS.replace("NEXT", "negate(%p)")),
        _FIRST,
        _FIRST,
        comes_to="unknown",
        sound=_two(_ZERO + _SORTS.replace("NEXT", _BESIDE_ZEROS)),
    ),
    Planted("an update elsewhere than in place", _INTO_ANOTHER, _OVER, (("y", "w"),)),
    Planted(
        "a size that a fusion in a fusion reads",
        _SIZE_IN_A_FUSION_WITHIN,
        _FIRST,
        _FIRST,
        comes_to="unknown",
        sound=_NONE_WITHIN,
    ),
    Planted(
        "a size that is set over one that another result has",
        _both_sized(_SET),
        _FIRST,
        _FIRST,
        comes_to="unknown",
        sound=_both_sized("abs(%ng)"),
    ),
    Planted("a workspace over the addend of a product", _GEMM, (("y{1}", "x"),), _FIRST, comes_to="unknown"),
    Planted(
        "what is run by two starts",
        _TWICE.replace("CALLED", "work"),
        (("mid", "w"),),
        (("mid", "w"),),
        comes_to="unknown",
        sound=_TWICE.replace("CALLED", "again"),
    ),
    Planted(
        "a table of branches that no branch writes",
        _DONE_TABLES,
        edit=lambda plan: re.sub(r" value: <\d+ d[12]\{\} .*\n", "", plan),
    ),
    Planted(
        "a table for the caller that lies nowhere",
        _DONE_RETURNED,
        edit=replaced(r"allocation \d+: .*\n value: <\d+ d\{\} .*\n", ""),
        comes_to="unknown",
    ),
]
