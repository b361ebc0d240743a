"""Modules with loops, as text."""

from __future__ import annotations

SCAN = """HloModule m
body {
  s = (s32[], f32[4], f32[6,4], f32[6,4], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  h = f32[4] get-tuple-element(s), index=1
  xs = f32[6,4] get-tuple-element(s), index=2
  ys = f32[6,4] get-tuple-element(s), index=3
  k = s32[] get-tuple-element(s), index=4
  zero = s32[] constant(0)
  step = s32[] constant(1)
  x2 = f32[1,4] dynamic-slice(xs, i, zero), dynamic_slice_sizes={1,4}
  x = f32[4] reshape(x2)
  r = f32[4] reverse(h), dimensions={0}
  n = f32[4] add(r, x)
  n2 = f32[1,4] reshape(n)
  y = f32[6,4] dynamic-update-slice(ys, n2, i, zero)
  j = s32[] add(i, step)
  ROOT t = (s32[], f32[4], f32[6,4], f32[6,4], s32[]) tuple(j, n, xs, y, k)
}
condition {
  s = (s32[], f32[4], f32[6,4], f32[6,4], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(4)
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY e {
  h = f32[4] parameter(0)
  xs = f32[6,4] parameter(1)
  ys = f32[6,4] parameter(2)
  k = s32[] parameter(3)
  zero = s32[] constant(0)
  p0 = (s32[], f32[4], f32[6,4], f32[6,4], s32[]) tuple(zero, h, xs, ys, k)
  w = (s32[], f32[4], f32[6,4], f32[6,4], s32[]) while(p0), condition=condition, body=body
  a = f32[6,4] get-tuple-element(w), index=3
  b = f32[4] get-tuple-element(w), index=1
  ROOT t = (f32[6,4], f32[4]) tuple(a, b)
}"""
FROM_K = SCAN.replace("dynamic-slice(xs, i, zero)", "dynamic-slice(xs, k, zero)")
WANDERING = FROM_K.replace("xs, y, k)", "xs, y, m)").replace(
    "  ROOT t = (s32", "  m = s32[] add(k, j)\n  ROOT t = (s32"
)
CALLED = SCAN.replace(
    "body {",
    """at {
  a = f32[6,4] parameter(0)
  i = s32[] parameter(1)
  zero = s32[] constant(0)
  two = s32[] constant(2)
  b = pred[] compare(i, two), direction=GE
  m = s32[] subtract(i, two)
  p = s32[] select(b, m, i)
  ROOT r = f32[1,4] dynamic-slice(a, p, zero), dynamic_slice_sizes={1,4}
}
body {""",
).replace("dynamic-slice(xs, i, zero), dynamic_slice_sizes={1,4}", "call(xs, i), to_apply=at")
WRAPPED = (
    SCAN.replace("ENTRY e {", "loop {")
    .replace("p0 = (", "p0 = (")
    .replace("  zero = s32[] constant(0)\n  p0", "  zero = s32[] parameter(4)\n  p0")
    + """
ENTRY e {
  h = f32[4] parameter(0)
  xs = f32[6,4] parameter(1)
  ys = f32[6,4] parameter(2)
  k = s32[] parameter(3)
  zero = s32[] constant(0)
  ROOT c = (f32[6,4], f32[4]) call(h, xs, ys, k, zero), to_apply=loop
}"""
)

CHOICES = """HloModule m
flip {
  x = f32[4] parameter(0)
  ROOT r = f32[4] reverse(x), dimensions={0}
}
turn {
  x = f32[4] parameter(0)
  a = f32[1] slice(x), slice={[0:1]}
  b = f32[3] slice(x), slice={[1:4]}
  ROOT r = f32[4] concatenate(b, a), dimensions={0}
}
stay {
  x = f32[4] parameter(0)
  ROOT r = f32[4] negate(x)
}
choose {
  i = s32[] parameter(0)
  x = f32[4] parameter(1)
  two = s32[] constant(2)
  m = s32[] remainder(i, two)
  o = f32[4] conditional(i, x, x, x), branch_computations={turn, flip, stay}
  zero = s32[] constant(0)
  even = pred[] compare(m, zero), direction=EQ
  ROOT r = f32[4] conditional(even, o, o), false_computation=flip, true_computation=turn
}
body {
  s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  h = f32[4] get-tuple-element(s), index=1
  step = s32[] constant(1)
  j = s32[] add(i, step)
  n = f32[4] call(i, h), to_apply=choose
  ROOT t = (s32[], f32[4]) tuple(j, n)
}
condition {
  s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(5)
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY e {
  h = f32[4] parameter(0)
  low = s32[] constant(-1)
  p0 = (s32[], f32[4]) tuple(low, h)
  w = (s32[], f32[4]) while(p0), condition=condition, body=body
  ROOT r = f32[4] get-tuple-element(w), index=1
}"""
NESTED = """HloModule m
row {
  s = (s32[], s32[], f32[3,4], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  limit = s32[] get-tuple-element(s), index=1
  xs = f32[3,4] get-tuple-element(s), index=2
  h = f32[4] get-tuple-element(s), index=3
  zero = s32[] constant(0)
  step = s32[] constant(1)
  x2 = f32[1,4] dynamic-slice(xs, limit, i), dynamic_slice_sizes={1,4}
  x = f32[4] reshape(x2)
  r = f32[4] reverse(h), dimensions={0}
  n = f32[4] add(r, x)
  j = s32[] add(i, step)
  ROOT t = (s32[], s32[], f32[3,4], f32[4]) tuple(j, limit, xs, n)
}
more {
  s = (s32[], s32[], f32[3,4], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] get-tuple-element(s), index=1
  ROOT c = pred[] compare(i, n), direction=LT
}
body {
  s = (s32[], f32[3,4], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  xs = f32[3,4] get-tuple-element(s), index=1
  h = f32[4] get-tuple-element(s), index=2
  zero = s32[] constant(0)
  step = s32[] constant(1)
  p0 = (s32[], s32[], f32[3,4], f32[4]) tuple(zero, i, xs, h)
  w = (s32[], s32[], f32[3,4], f32[4]) while(p0), condition=more, body=row
  n = f32[4] get-tuple-element(w), index=3
  j = s32[] add(i, step)
  ROOT t = (s32[], f32[3,4], f32[4]) tuple(j, xs, n)
}
condition {
  s = (s32[], f32[3,4], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY e {
  xs = f32[3,4] parameter(0)
  h = f32[4] parameter(1)
  zero = s32[] constant(0)
  p0 = (s32[], f32[3,4], f32[4]) tuple(zero, xs, h)
  w = (s32[], f32[3,4], f32[4]) while(p0), condition=condition, body=body
  ROOT r = f32[4] get-tuple-element(w), index=2
}"""

_NAMESAKE = """HloModule m
inner {
  p = f32[8] parameter(0)
  j = s32[] parameter(1)
  one = s32[] constant(1)
  k = s32[] add(j, one)
  ROOT s = f32[2] dynamic-slice(p, k), dynamic_slice_sizes={2}
}
body {
  s = (s32[], f32[8], f32[2]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[8] get-tuple-element(s), index=1
  k = s32[] constant(1)
  n = s32[] add(i, k)
  y = f32[2] fusion(x, i), kind=kLoop, calls=inner
  ROOT t = (s32[], f32[8], f32[2]) tuple(n, x, y)
}
cond {
  s = (s32[], f32[8], f32[2]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(4)
  ROOT l = pred[] compare(i, n), direction=LT
}
ENTRY e {
  p = f32[8] parameter(0)
  z = s32[] constant(0)
  y0 = f32[2] parameter(1)
  t = (s32[], f32[8], f32[2]) tuple(z, p, y0)
  w = (s32[], f32[8], f32[2]) while(t), condition=cond, body=body
  ROOT r = f32[2] get-tuple-element(w), index=2
}
"""
"""The start of a slice in a fusion has the name of a constant of the body."""

LOOPS = {
    "a start in a fusion that has the name of a constant outside": _NAMESAKE,
    "a scan": SCAN,
    "no turn": SCAN.replace("constant(4)", "constant(0)"),
    "one turn": SCAN.replace("constant(4)", "constant(1)"),
    "more turns than rows": SCAN.replace("constant(4)", "constant(9)"),
    "downwards": SCAN.replace("constant(1)", "constant(-2)")
    .replace("constant(4)", "constant(-2)")
    .replace("direction=LT", "direction=GT")
    .replace("zero = s32[] constant(0)\n  p0", "zero = s32[] constant(5)\n  p0"),
    "until equal": SCAN.replace("direction=LT", "direction=NE"),
    "the limit first": SCAN.replace("compare(i, n), direction=LT", "compare(n, i), direction=GE"),
    "from a value that stays": FROM_K,
    "from a value that changes": WANDERING,
    "from a place computed in a call": CALLED,
    "inside of a call that gives the start": WRAPPED,
    "branches that the counter chooses": CHOICES,
    "a loop that the outer counter ends": NESTED,
    "a trip count that is right": SCAN.replace("body=body", 'body=body, backend_config={"known_trip_count":{"n":"4"}}'),
}

UNKNOWN = {
    "a start that is not known": SCAN.replace("zero = s32[] constant(0)\n  p0", "zero = s32[] parameter(4)\n  p0"),
    "a step that is not known": SCAN.replace("add(i, step)", "add(i, k)"),
    "a limit that is not known": SCAN.replace("n = s32[] constant(4)", "n = s32[] get-tuple-element(s), index=4"),
    "a limit that is data": SCAN.replace(
        "n = s32[] constant(4)",
        "h = f32[4] get-tuple-element(s), index=1\n  z = f32[1] slice(h), slice={[0:1]}\n  y = f32[] reshape(z)\n"
        "  n = s32[] convert(y)",
    ),
    "more turns than are followed": SCAN.replace("constant(4)", "constant(1000000)"),
    "turns without end": SCAN.replace("step = s32[] constant(1)", "step = s32[] constant(0)"),
    "a trip count that is wrong": LOOPS["a trip count that is right"].replace('"n":"4"', '"n":"5"'),
    "an opcode without a map in the body": SCAN.replace(
        "reverse(h), dimensions={0}", 'custom-call(h), custom_call_target="x"'
    ),
}


def nested(levels: int, turns: int) -> str:
    """Loops inside of loops, each of so many turns, around one reversal."""
    state, counter = "(s32[], f32[4])", "  one = s32[] constant(1)\n  j = s32[] add(i, one)\n"
    head = f"  s = {state} parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n"
    taken = head + "  x = f32[4] get-tuple-element(s), index=1\n"
    tail = f"  ROOT t = {state} tuple(j, y)\n}}\n"
    test = f"more {{\n{head}  n = s32[] constant({turns})\n  ROOT c = pred[] compare(i, n), direction=LT\n}}\n"
    text = f"HloModule m\n{test}b0 {{\n{taken}{counter}  y = f32[4] reverse(x), dimensions={{0}}\n{tail}"
    for k in range(1, levels + 1):
        name = "ENTRY e" if k == levels else f"b{k}"
        start = "  x = f32[4] parameter(0)\n" if k == levels else taken + counter
        text += (
            f"{name} {{\n{start}  z = s32[] constant(0)\n  u = {state} tuple(z, x)\n"
            f"  w = {state} while(u), condition=more, body=b{k - 1}\n"
        )
        y = "y = f32[4] get-tuple-element(w), index=1\n"
        text += f"  ROOT {y}}}\n" if k == levels else f"  {y}{tail}"
    return text


ROWS = """HloModule m
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
body {
  s = (s32[], f32[3,4], f32[5], f32[5]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  h = f32[3,4] get-tuple-element(s), index=1
  g = f32[5] get-tuple-element(s), index=2
  k = f32[5] get-tuple-element(s), index=3
  z = f32[] constant(0)
  r = f32[3] reduce(h, z), dimensions={1}, to_apply=add
  b = f32[3,4] broadcast(r), dimensions={0}
  n = f32[3,4] subtract(h, b)
  v = f32[5] reverse(g), dimensions={0}
  m = f32[5] add(v, k)
  step = s32[] constant(1)
  j = s32[] add(i, step)
  ROOT t = (s32[], f32[3,4], f32[5], f32[5]) tuple(j, n, m, k)
}
condition {
  s = (s32[], f32[3,4], f32[5], f32[5]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(9)
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY e {
  first = s32[] parameter(0)
  h = f32[3,4] parameter(1)
  g = f32[5] parameter(2)
  k = f32[5] parameter(3)
  p0 = (s32[], f32[3,4], f32[5], f32[5]) tuple(first, h, g, k)
  ROOT w = (s32[], f32[3,4], f32[5], f32[5]) while(p0), condition=condition, body=body
}"""
"""Nobody knows how many turns; rows of h do not meet, g is reversed in each turn."""
