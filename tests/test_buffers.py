"""Alias classes: what must share a buffer, what may, and what does not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from hloproof.commands.aliases import command
from hloproof.models.dataflow.alias_classes import Buffers
from hloproof.models.dataflow.value_flow import HloPosition
from hloproof.models.hlo.parser import parse_module

LOOP = """body { s = (f32[4], s32[]) parameter(0) x = f32[4] get-tuple-element(s), index=0
  k = s32[] get-tuple-element(s), index=1 n = f32[4] negate(x) ROOT t = (f32[4], s32[]) tuple(n, k) }
cond { c = (f32[4], s32[]) parameter(0) ROOT more = pred[] constant(true) }
ENTRY e { p = f32[4] parameter(0) i = s32[] parameter(1) init = (f32[4], s32[]) tuple(p, i)
  w = (f32[4], s32[]) while(init), condition=cond, body=body ROOT r = f32[4] get-tuple-element(w), index=0 }"""
BRANCHES = """a { x = f32[4] parameter(0) ROOT n = f32[4] negate(x) }
b { ROOT y = f32[4] parameter(0) }
ENTRY e { p = pred[] parameter(0) q = f32[4] parameter(1) v = f32[4] abs(q)
  ROOT c = f32[4] conditional(p, v, q), true_computation=a, false_computation=b }"""
CALLS = """f { x = f32[4] parameter(0) ROOT n = f32[4] negate(x) }
ENTRY e { p = f32[4] parameter(0) ROOT c = f32[4] call(p), to_apply=f }"""
UPDATES = """f { base = f32[8] parameter(0) part = f32[2] parameter(1) k = s32[] parameter(2) n = f32[2] negate(part)
  ROOT d = f32[8] dynamic-update-slice(base, n, k) }
ENTRY e { p = f32[8] parameter(0) u = f32[2] parameter(1) i = s32[] parameter(2)
  d = f32[8] dynamic-update-slice(p, u, i) ROOT z = f32[8] fusion(d, u, i), kind=kLoop, calls=f }"""
PAIRS = """ENTRY e { p = f32[8] parameter(0) t = token[] after-all()
  s = (f32[8], f32[8], u32[]) copy-start(p) d = f32[8] copy-done(s)
  g = (f32[8], f32[16]) all-gather-start(p), dimensions={0}, replica_groups={{0,1}} h = f32[16] all-gather-done(g)
  m = (f32[8], f32[8]) collective-permute-start(p), source_target_pairs={{0,1}} n = f32[8] collective-permute-done(m)
  a = f32[8] all-reduce-start(p), replica_groups={}, to_apply=add b = f32[8] all-reduce-done(a)
  q = (f32[8], u32[], token[]) send(p, t), channel_id=1 o = token[] send-done(q), channel_id=1
  v = (f32[8], u32[], token[]) recv(t), channel_id=2 w = (f32[8], token[]) recv-done(v), channel_id=2
  ROOT r = f32[8] add(d, n) }
add { x = f32[] parameter(0) y = f32[] parameter(1) ROOT z = f32[] add(x, y) }"""
LATE = """two { x = f32[4] parameter(0) y = f32[4] parameter(1) ROOT z = f32[4] add(x, y) }
ENTRY e { p = f32[4] parameter(0) q = f32[4] parameter(1)
  s = ((f32[4]), (), s32[]) async-start(p), calls=two, output_to_operand_aliasing={{1}: (1, {})}
  u = ((f32[4], f32[4]), (), s32[]) async-update(s, q) ROOT d = f32[4] async-done(u) }"""
SUMS = """add { x = f32[] parameter(0) y = f32[] parameter(1) ROOT z = f32[] add(x, y) }
ENTRY e { p = f32[4] parameter(0)
  s = ((f32[4]), f32[2], s32[]) reduce-scatter-start(p), dimensions={0}, replica_groups={{0,1}}, to_apply=add
  t = ((f32[4]), f32[2], s32[]) reduce-scatter-start(p), dimensions={0}, replica_groups={{0,1}}, to_apply=add
  d = f32[2] reduce-scatter-done(s) ROOT o = f32[2] reduce-scatter-done(t) }"""
OTHERS = """ENTRY e { p = (f32[4], f32[4]) parameter(0) t = token[] after-all()
  o = (f32[4], f32[4]) opt-barrier(p) x = f32[4] get-tuple-element(o), index=0 b = f32[2,2] bitcast(x)
  y = f32[4] add-dependency(x, t) c = f32[4] copy(x) tc = (f32[4], f32[4]) copy(p)
  k = (f32[4], f32[4]) custom-call(p), custom_call_target="f", output_to_operand_aliasing={{0}: (0, {1})}
  n = f32[4] negate(x) ROOT r = f32[4] add(n, c) }"""
DONATED = (
    "HloModule m, input_output_alias={{ {{}}: (0, {{}}{kind}) }}\n"
    "ENTRY e {{ p = f32[4] parameter(0) ROOT n = f32[4] negate(p) }}"
)

# text, one place, another, whether they must share, whether they may
ALIASES = [
    (LOOP, "e/p", "body/s{0}", True, True),
    (LOOP, "body/s{0}", "body/n", True, True),
    (LOOP, "e/r", "cond/c{0}", True, True),
    (LOOP, "e/i", "body/k", True, True),
    (LOOP, "e/p", "e/i", False, False),
    (BRANCHES, "e/v", "a/x", True, True),
    (BRANCHES, "e/c", "a/n", True, True),
    (BRANCHES, "e/c", "e/q", True, True),
    (BRANCHES, "e/v", "e/c", False, False),
    (CALLS, "e/p", "f/x", True, True),
    (CALLS, "e/c", "f/n", True, True),
    (CALLS, "e/p", "e/c", False, False),
    (UPDATES, "e/p", "e/d", False, True),
    (UPDATES, "e/d", "e/z", False, True),
    (UPDATES, "e/u", "e/z", False, False),
    (PAIRS, "e/p", "e/s{1}", True, True),
    (PAIRS, "e/s{0}", "e/d", True, True),
    (PAIRS, "e/p", "e/d", False, False),
    (PAIRS, "e/p", "e/g{0}", True, True),
    (PAIRS, "e/g{1}", "e/h", True, True),
    (PAIRS, "e/p", "e/m{0}", True, True),
    (PAIRS, "e/m{1}", "e/n", True, True),
    (PAIRS, "e/p", "e/n", False, False),
    (PAIRS, "e/a", "e/b", True, True),
    (PAIRS, "e/p", "e/a", False, True),
    (PAIRS, "e/p", "e/q{0}", True, True),
    (PAIRS, "e/v{0}", "e/w{0}", True, True),
    (SUMS, "e/d", "e/o", False, False),
    (SUMS, "e/p", "add/x", False, False),
    (SUMS, "e/d", "add/z", False, False),
    (LATE, "e/p", "e/u{0,0}", True, True),
    (LATE, "e/q", "e/u{0,1}", True, True),
    (LATE, "e/q", "two/y", True, True),
    (LATE, "e/q", "e/d", True, True),
    (LATE, "two/z", "e/d", True, True),
    (LATE, "e/p", "e/d", False, False),
    (OTHERS, "e/p{0}", "e/b", True, True),
    (OTHERS, "e/x", "e/y", True, True),
    (OTHERS, "e/x", "e/c", False, False),
    (OTHERS, "e/p{0}", "e/tc{0}", True, True),
    (OTHERS, "e/p", "e/tc", False, False),
    (OTHERS, "e/p{1}", "e/k{0}", True, True),
    (OTHERS, "e/p{1}", "e/k{1}", False, False),
    (DONATED.format(kind=", must-alias"), "e/p", "e/n", True, True),
    (DONATED.format(kind=", may-alias"), "e/p", "e/n", False, True),
    (DONATED.format(kind=""), "e/p", "e/n", False, True),
]


def place(text: str) -> HloPosition:
    computation, _, rest = text.partition("/")
    name, _, index = rest.rstrip("}").partition("{")
    return HloPosition(computation, name, tuple(int(k) for k in index.split(",") if k))


@pytest.mark.parametrize(("text", "a", "b", "must", "may"), ALIASES)
def test_what_shares_a_buffer(text: str, a: str, b: str, must: bool, may: bool) -> None:
    buffers = Buffers(parse_module(text))
    assert (buffers.must_share(place(a), place(b)), buffers.may_share(place(a), place(b))) == (must, may)


def test_the_command_prints_classes(tmp_path: Path) -> None:
    file = tmp_path / "m.hlo"
    file.write_text(UPDATES)
    plain = CliRunner().invoke(command, [str(file)])
    assert plain.exit_code == 0 and "e/z" not in plain.output and "f/base" in plain.output
    wide = CliRunner().invoke(command, [str(file), "--may", "--format", "json"])
    classes = json.loads(wide.output)[0]["classes"]
    shared = next(c for c in classes if any(p["place"] == "p" for p in c["places"]))
    assert shared["shape"] == "f32[8]"
    assert [(p["computation"], p["place"], p["must"]) for p in shared["places"] if p["computation"] == "e"] == [
        ("e", "p", False),
        ("e", "d", True),
        ("e", "z", False),
    ]
