"""Strategies for modules of calls and tuples: one computation called twice, instructions of the same name in several,
starts computed where they are used, nested tuples taken apart in another order."""

from __future__ import annotations

import re
from typing import Final

from hypothesis import strategies as st

from hloproof.fuzz.drawing import Draw

NAME: Final = "structure"
_WHOLE: Final = "(f32[2,3], (f32[4], f32[2,3]))"
"""What every computation takes first and gives; a number comes second."""

_LINES: Final = (
    ("a", "a = f32[2,3] reverse(a0), dimensions={1}"),
    ("a", "a1 = f32[3,2] transpose(a0), dimensions={1,0}\n  a = f32[2,3] reshape(a1)"),
    ("a", "a = f32[2,3] add(a0, c0)"),
    (
        "a",
        "j = s32[] add(i, i)\n  z = s32[] constant(0)\n  a1 = f32[1,3] dynamic-slice(a0, j, z), "
        "dynamic_slice_sizes={1,3}\n  a = f32[2,3] concatenate(a1, a1), dimensions={0}",
    ),
    ("a", "a = f32[2,3] copy(a0)"),
    (
        "a",
        "j = s32[] negate(i)\n  z = s32[] constant(0)\n  a1 = f32[1,3] dynamic-slice(a0, j, z), "
        "dynamic_slice_sizes={1,3}\n  a2 = f32[1,3] slice(a0), slice={[1:2],[0:3]}\n"
        "  a = f32[2,3] concatenate(a1, a2), dimensions={0}",
    ),
    ("b", "b1 = f32[2] slice(b0), slice={[1:3]}\n  f = f32[] constant(0)\n  b = f32[4] pad(b1, f), padding=1_1"),
    (
        "b",
        "j = s32[] negate(i)\n  b1 = f32[2] dynamic-slice(b0, j), dynamic_slice_sizes={2}\n"
        "  b = f32[4] concatenate(b1, b1), dimensions={0}",
    ),
    ("b", "j = s32[] add(i, i)\n  b1 = f32[1] constant({7})\n  b = f32[4] dynamic-update-slice(b0, b1, j)"),
    ("b", "b = f32[4] reverse(b0), dimensions={0}"),
    (
        "b",
        "zero = s32[] constant(0)\n  t0 = (s32[], f32[4]) tuple(zero, b0)\n"
        "  t1 = (s32[], f32[4]) while(t0), condition=goes_on, body=turn\n"
        "  b = f32[4] get-tuple-element(t1), index=1",
    ),
    ("c", "c1 = f32[6] reshape(c0)\n  c2 = f32[6] reverse(c1), dimensions={0}\n  c = f32[2,3] reshape(c2)"),
    ("c", "c = f32[2,3] multiply(c0, a0)"),
    (
        "c",
        "c1 = s32[] multiply(i, i)\n  z = s32[] constant(1)\n  c2 = f32[1,1] dynamic-slice(c0, c1, z), "
        "dynamic_slice_sizes={1,1}\n  c3 = f32[] reshape(c2)\n  c = f32[2,3] broadcast(c3), dimensions={}",
    ),
)
"""Which part is changed, and how, from a0, b0, c0 and i."""
_LOOP: Final = """goes_on {
  state = (s32[], f32[4]) parameter(0)
  k = s32[] get-tuple-element(state), index=0
  two = s32[] constant(2)
  ROOT less = pred[] compare(k, two), direction=LT
}
turn {
  state = (s32[], f32[4]) parameter(0)
  k = s32[] get-tuple-element(state), index=0
  one = s32[] constant(1)
  next = s32[] add(k, one)
  x = f32[4] get-tuple-element(state), index=1
  cut = f32[3] slice(x), slice={[1:4]}
  first = f32[1] slice(x), slice={[0:1]}
  y = f32[4] concatenate(cut, first), dimensions={0}
  ROOT all = (s32[], f32[4]) tuple(next, y)
}
"""
_ALL_BUT_J: Final = re.compile(r"(?<![\w=.])(w\d?|i|o\d|m\d|a[0-2]?|n0?|b[01]?|c[023]?|f|r)(?![\w(=])")
_GIVEN: Final = re.compile(r"(?<![\w=.])(w|i)(?![\w(=])")
_NAMES: Final = re.compile(r"(?<![\w=.])(w\d?|i|o\d|m\d|a[0-2]?|n0?|b[01]?|c[0-3]?|j|z|f|r)(?![\w(=])")


@st.composite
def structures(draw: Draw) -> str:
    """Up to three computations, each calling those before it, or some of them twice."""
    made: list[str] = []
    bodies, own_names = [], draw(st.sampled_from((None, _NAMES, _NAMES, _GIVEN, _ALL_BUT_J)))
    for n in range(draw(st.integers(1, 3))):
        name = f"body{n}"
        body = _body(draw, made)
        body = own_names.sub(f"q{n}_" + r"\1", body) if own_names else body
        bodies.append(f"{name} {{\n{body}}}\n")
        made.append(name)
    return f"HloModule {NAME}\n\n{_LOOP}{''.join(bodies)}\nENTRY e {{\n{_body(draw, made, at_least=1)}}}\n"


def _body(draw: Draw, made: list[str], at_least: int = 0) -> str:
    lines = [f"w = {_WHOLE} parameter(0)", "i = s32[] parameter(1)"]
    whole, count = "w", draw(st.integers(at_least, 2)) if made else 0
    for k in range(count):
        called = draw(st.sampled_from(made))
        number = draw(st.sampled_from(("i", f"m{k}", f"m{k}")))
        if number != "i":
            lines.append(f"m{k} = s32[] {draw(st.sampled_from(('negate(i)', 'negate(i)', 'add(i, i)')))}")
        how = draw(st.sampled_from(("call({}), to_apply=", "fusion({}), kind=kLoop, calls=")))
        lines.append(f"w{k} = {_WHOLE} {how.format(f'{whole}, {number}')}{called}")
        whole = f"w{k}"
        if draw(st.integers(0, 3)) == 0:
            lines.append(f"o{k} = {_WHOLE} opt-barrier({whole})")
            whole = f"o{k}"
    lines += [
        f"a0 = f32[2,3] get-tuple-element({whole}), index=0",
        f"n0 = (f32[4], f32[2,3]) get-tuple-element({whole}), index=1",
        "b0 = f32[4] get-tuple-element(n0), index=0",
        "c0 = f32[2,3] get-tuple-element(n0), index=1",
    ]
    now = {part: f"{part}0" for part in "abc"}
    part, text = draw(st.sampled_from(_LINES))
    lines.append(text)
    now[part] = part
    if draw(st.booleans()):
        now["a"], now["c"] = now["c"], now["a"]
    lines.append(f"n = (f32[4], f32[2,3]) tuple({now['b']}, {now['c']})")
    lines.append(f"ROOT r = {_WHOLE} tuple({now['a']}, n)")
    return "".join(f"  {line}\n" for line in lines)
