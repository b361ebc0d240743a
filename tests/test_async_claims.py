"""Each claim about asynchronous chains: a planted violation is refuted, and its minimal repair is proved."""

from __future__ import annotations

import pytest

from models.hlo.parser import parse_module
from verify.asynchronous import CLAIMS, judge

COPY = """HloModule m
ENTRY e {
  p = f32[4]{0:S(1)} parameter(0)
  s = (f32[4]{0:S(2)}, f32[4]{0:S(1)}, u32[]) copy-start(p)
  d = f32[4]{0:S(2)} copy-done(s)
  ROOT r = f32[4]{0:S(2)} negate(d)
}
"""

WRAPPED = """HloModule m
c {
  a = f32[4] parameter(0)
  b = f32[4] parameter(1)
  ROOT x = f32[4] custom-call(a, b), custom_call_target="foo"
}
ENTRY e {
  p = f32[4] parameter(0)
  q = f32[4] parameter(1)
  s = ((f32[4]), f32[4], s32[]) async-start(p), calls=c
  u = ((f32[4], f32[4]), f32[4], s32[]) async-update(s, q)
  ROOT d = f32[4] async-done(u)
}
"""

LOOP = """HloModule m
c {
  a = f32[4] parameter(0)
  ROOT x = f32[4] custom-call(a), custom_call_target="foo"
}
cond {
  p = (f32[4], ((f32[4]), f32[4], s32[])) parameter(0)
  ROOT t = pred[] constant(true)
}
body {
  p = (f32[4], ((f32[4]), f32[4], s32[])) parameter(0)
  h = ((f32[4]), f32[4], s32[]) get-tuple-element(p), index=1
  d = f32[4] async-done(h)
  s = ((f32[4]), f32[4], s32[]) async-start(d), calls=c
  ROOT r = (f32[4], ((f32[4]), f32[4], s32[])) tuple(d, s)
}
ENTRY e {
  p = f32[4] parameter(0)
  s = ((f32[4]), f32[4], s32[]) async-start(p), calls=c
  i = (f32[4], ((f32[4]), f32[4], s32[])) tuple(p, s)
  w = (f32[4], ((f32[4]), f32[4], s32[])) while(i), condition=cond, body=body
  h = ((f32[4]), f32[4], s32[]) get-tuple-element(w), index=1
  ROOT d = f32[4] async-done(h)
}
"""

BRANCHES = """HloModule m
take {
  h = (f32[4]{0:S(2)}, f32[4], u32[]) parameter(0)
  ROOT d = f32[4]{0:S(2)} copy-done(h)
}
also {
  h = (f32[4]{0:S(2)}, f32[4], u32[]) parameter(0)
  ROOT d = f32[4]{0:S(2)} copy-done(h)
}
ENTRY e {
  p = f32[4] parameter(0)
  k = pred[] parameter(1)
  s = (f32[4]{0:S(2)}, f32[4], u32[]) copy-start(p)
  ROOT r = f32[4]{0:S(2)} conditional(k, s, s), true_computation=take, false_computation=also
}
"""

PAIRS = "frontend_attributes={_xla_send_recv_source_target_pairs="
TRANSFER = """HloModule m, is_scheduled=true
ENTRY e {
  x = f32[] constant(0)
  t = token[] after-all()
  v = (f32[], u32[], token[]) recv(t), channel_id=1, frontend_attributes={_xla_send_recv_source_target_pairs={{0,1}}}
  s = (f32[], u32[], token[]) send(x, t), channel_id=1, frontend_attributes={_xla_send_recv_source_target_pairs={{0,1}}}
  sd = token[] send-done(s), channel_id=1
  vd = (f32[], token[]) recv-done(v), channel_id=1
  ROOT r = f32[] get-tuple-element(vd), index=0
}
"""

BUFFERS = """HloModule m
ENTRY e {
  p = f32[4] parameter(0)
  b = b(f32[4]) custom-call(p), custom_call_target="Pin", output_to_operand_aliasing={{}: (0, {})}
  k = b(f32[4]) custom-call(b), custom_call_target="write", output_to_operand_aliasing={{}: (0, {})}
  ROOT r = f32[4] custom-call(k), custom_call_target="Unpin", output_to_operand_aliasing={{}: (0, {})}
}
"""

GATHER = """HloModule m
ENTRY e {
  p = f32[2,3] parameter(0)
  s = (f32[2,3], f32[4,3]) all-gather-start(p), dimensions={0}, replica_groups={{0,1}}
  ROOT d = f32[4,3] all-gather-done(s)
}
"""

PERMUTE = """HloModule m
ENTRY e {
  p = f32[4]{0:S(1)} parameter(0)
  s = (f32[4]{0:S(1)}, f32[4]{0:S(2)}) collective-permute-start(p), source_target_pairs={{0,1},{1,0}}
  ROOT d = f32[4]{0:S(2)} collective-permute-done(s)
}
"""

ALIASED = WRAPPED.replace("calls=c\n  u", "calls=c, output_to_operand_aliasing={{1}: (1, {})}\n  u")

SOUND = {
    "copy": COPY, "wrapped": WRAPPED, "loop": LOOP, "branches": BRANCHES, "transfer": TRANSFER, "buffers": BUFFERS,
    "gather": GATHER, "permute": PERMUTE, "aliased": ALIASED,
}  # fmt: skip

# (claim, sound module, what is replaced, by what): one replacement breaks the claim; undoing it is the repair.
PLANTED = [
    ("async-chain", COPY, "ROOT r = f32[4]{0:S(2)} negate(d)",
     "d2 = f32[4]{0:S(2)} copy-done(s)\n  ROOT r = f32[4]{0:S(2)} add(d, d2)"),
    ("async-chain", COPY, "d = f32[4]{0:S(2)} copy-done(s)", "d = f32[4]{0:S(2)} get-tuple-element(s), index=0"),
    ("async-chain", COPY, "d = f32[4]{0:S(2)} copy-done(s)",
     "p2 = f32[4]{0:S(2)} parameter(1)\n  c = u32[] parameter(2)\n"
     "  k = (f32[4]{0:S(2)}, f32[4]{0:S(1)}, u32[]) tuple(p2, p, c)\n  d = f32[4]{0:S(2)} copy-done(k)"),
    ("async-chain", LOOP, "ROOT r = (f32[4], ((f32[4]), f32[4], s32[])) tuple(d, s)",
     "ROOT r = (f32[4], ((f32[4]), f32[4], s32[])) tuple(d, h)"),
    ("async-chain", BRANCHES, "ROOT r = f32[4]{0:S(2)} conditional",
     "d = f32[4]{0:S(2)} copy-done(s)\n  ROOT r = f32[4]{0:S(2)} conditional"),
    ("async-done", PERMUTE, "ROOT d = f32[4]{0:S(2)} coll", "ROOT d = f32[4]{0:S(1)} coll"),
    ("async-done", WRAPPED, "ROOT d = f32[4] async", "ROOT d = f32[5] async"),
    ("async-shape", COPY, "(f32[4]{0:S(2)}, f32[4]{0:S(1)}, u32[]) copy-start",
     "(f32[4]{0:S(1)}, f32[4]{0:S(2)}, u32[]) copy-start"),
    ("async-shape", WRAPPED, "s = ((f32[4]), f32[4], s32[])", "s = ((f32[5]), f32[4], s32[])"),
    ("async-shape", WRAPPED, "s = ((f32[4]), f32[4], s32[])", "s = ((f32[4]), f32[6], s32[])"),
    ("async-shape", GATHER, "s = (f32[2,3], f32[4,3])", "s = (f32[4,3], f32[4,3])"),
    ("async-binding", WRAPPED, "async-done(u)", "async-done(s)"),
    ("async-computation", WRAPPED, "ROOT x = f32[4] custom-call(a, b)",
     "n = f32[4] negate(a)\n  ROOT x = f32[4] custom-call(n, b)"),
    ("async-computation", WRAPPED, "ROOT d = f32[4] async-done(u)",
     "d = f32[4] async-done(u)\n  ROOT z = f32[4] call(d, q), to_apply=c"),
    ("async-thread", WRAPPED, "ROOT d = f32[4] async-done(u)",
     "d = f32[4] async-done(u)\n  s2 = ((f32[4], f32[4]), f32[4], s32[]) async-start(d, q), calls=c, "
     'async_execution_thread="one"\n  ROOT d2 = f32[4] async-done(s2)'),
    ("async-alias", ALIASED, "{{1}: (1, {})}", "{{1}: (2, {})}"),
    ("async-alias", ALIASED, "{{1}: (1, {})}", "{{1,0}: (1, {})}"),
    ("async-channel", TRANSFER, "sd = token[] send-done(s), channel_id=1", "sd = token[] send-done(s), channel_id=2"),
    ("async-channel", TRANSFER, "ROOT r = f32[] get-tuple-element(vd), index=0",
     "g = f32[] get-tuple-element(vd), index=0\n  ROOT r = (f32[], (f32[], u32[], token[])) tuple(g, v)"),
    ("collective-deadlock", TRANSFER, f"send(x, t), channel_id=1, {PAIRS}{{{{0,1}}}}",
     f"send(x, t), channel_id=1, {PAIRS}{{{{1,2}}}}"),
    ("collective-deadlock", TRANSFER, "{{0,1}}", "{{0,1},{1,0}}"),
    ("collective-deadlock", TRANSFER, "{{0,1}}", "{{0,1},{2,1}}"),
    ("buffer-alias", BUFFERS, ', custom_call_target="write", output_to_operand_aliasing={{}: (0, {})}',
     ', custom_call_target="write"'),
    ("buffer-alias", BUFFERS, "custom-call(k), custom", "custom-call(b), custom"),
]  # fmt: skip


def problems(text: str, layout_sensitive: bool = True) -> set[str]:
    """The claims that are not proved for a module."""
    found = judge(parse_module(text), lambda _: True, lambda _: False, layout_sensitive)
    return {j.claim for j in found if j.problem or j.unknown}


@pytest.mark.parametrize("name", SOUND)
def test_sound_modules_are_proved(name: str) -> None:
    assert not problems(SOUND[name])


@pytest.mark.parametrize(("claim", "text", "old", "new"), PLANTED)
def test_a_planted_violation_is_refuted(claim: str, text: str, old: str, new: str) -> None:
    assert old in text
    assert claim in problems(text.replace(old, new)), f"{claim} does not see it"


def test_a_recv_that_waits_for_a_send_behind_it_is_a_deadlock() -> None:
    crossed = TRANSFER.replace("{{0,1}}", "{{0,1},{1,2}}")
    lines = crossed.splitlines()
    done = next(n for n, line in enumerate(lines) if "recv-done" in line)
    send = next(n for n, line in enumerate(lines) if " send(" in line)
    lines.insert(send, lines.pop(done))
    # Device 1 waits for device 0, which waits for nobody: no deadlock along a line of devices.
    assert "collective-deadlock" not in problems("\n".join(lines))
    circle = "\n".join(lines).replace("{{0,1},{1,2}}", "{{0,1},{1,2},{2,0}}")
    assert "collective-deadlock" in problems(circle)


def test_the_strict_reading_runs_only_when_it_is_named() -> None:
    strict = judge(parse_module(LOOP), lambda c: c == "async-linear", lambda _: True)
    assert any(j.problem for j in strict)
    assert not any(j.problem for j in judge(parse_module(COPY), lambda c: c == "async-linear", lambda _: True))
    assert not list(judge(parse_module(LOOP), lambda c: c == "async-linear", lambda _: False))


def test_every_claim_has_a_planted_violation() -> None:
    covered = {claim for claim, *_ in PLANTED} | {"async-linear"}
    chains = {c.name for c in CLAIMS if c.name.startswith(("async-", "collective-", "buffer-"))}
    assert chains <= covered
