"""Sugar and the generic form of asynchronous operations are the same module."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import hloproof
from hloproof.claims.asynchronous import judge
from hloproof.models.dataflow.async_sugar import desugar, sugar
from hloproof.models.hlo.module import Module
from hloproof.models.hlo.parser import parse_module
from hloproof.models.hlo.printer import print_module

SHARED = Path(__file__).parents[1].parent / "shared"

SUGARED = {
    "one operand": """ENTRY e {
  p = f32[64] parameter(0)
  s = ((f32[64]), f32[32], s32[]) custom-call-start(p), async_execution_thread="t", custom_call_target="foo"
  u = ((f32[64]), f32[32], s32[]) custom-call-update(s)
  ROOT d = f32[32] custom-call-done(u)
}""",
    "bound late": """foo { x = f32[] parameter(0) y = f32[] parameter(1) ROOT z = f32[] add(x, y) }
ENTRY e {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  s = ((f32[]), (), s32[]) call-start(p), to_apply=foo
  u = ((f32[], f32[]), f32[], s32[]) call-update(s, q)
  ROOT d = f32[] call-done(u)
}""",
    "several in flight": """ENTRY e {
  p = f32[4,6] parameter(0)
  a = ((f32[4,6]), f32[2,6], s32[]) slice-start(p), slice={[0:2], [0:6]}
  b = ((f32[4,6]), f32[2,6], s32[]) slice-start(p), slice={[2:4], [0:6]}
  x = f32[2,6] slice-done(a)
  y = f32[2,6] slice-done(b)
  ROOT r = f32[2,6] add(x, y)
}""",
}

GENERIC = """c {
  p0 = f32[64] parameter(0)
  ROOT op = f32[32] custom-call(p0), custom_call_target="foo"
}
ENTRY e {
  p = f32[64] parameter(0)
  s = ((f32[64]), f32[32], s32[]) async-start(p), calls=c
  u = ((f32[64]), f32[32], s32[]) async-update(s)
  ROOT d = f32[32] async-done(u)
}"""


def verdicts(module: Module) -> set[tuple[str, str]]:
    found = judge(module, lambda c: True, lambda c: False)
    return {(j.claim, j.place.instruction) for j in found if j.problem is not None}


@pytest.mark.parametrize("name", SUGARED)
def test_desugaring_and_sugaring_are_inverse(name: str) -> None:
    module = parse_module(SUGARED[name])
    generic = desugar(module)
    assert generic != module
    assert not any(i.opcode.startswith(("custom-call-", "call-", "slice-")) for i in generic.entry.instructions)
    assert sugar(generic) == module
    assert desugar(generic) == generic
    assert parse_module(print_module(generic)) == generic
    assert not verdicts(generic) and not verdicts(module)


def test_a_computation_with_a_name_of_its_own_becomes_a_call() -> None:
    module = parse_module(GENERIC)
    sugared = sugar(module)
    assert [i.opcode for i in sugared.entry.instructions] == ["parameter", "call-start", "call-update", "call-done"]
    assert desugar(sugared) == module


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared material is not present beside the project")
def test_upstream_modules_keep_their_meaning() -> None:
    count = 0
    for line in (SHARED / "cases" / "async.jsonl").read_text().splitlines():
        row = json.loads(line)
        if "sugared" not in row.get("form", ()) or row["kind"] != "hlo_verify" or row.get("mutated_after_parse"):
            continue
        module = parse_module(row["hlo"])
        generic = desugar(module)
        assert bool(verdicts(generic)) == bool(verdicts(module)), row["id"]
        assert desugar(sugar(generic)) == generic, row["id"]
        count += 1
    assert count > 10


CANNOT_BE = {
    "a dimension that is not there": (
        "s = (f32[2,4], f32[4,4]) all-gather-start(x), replica_groups={{0,1}}, dimensions={8}",
        "ROOT d = f32[4,4] all-gather-done(s)",
        "async-shape",
    ),
    "a permutation into another rank": (
        "s = (f32[2,4], f32[2,4,2]) collective-permute-start(x), source_target_pairs={{0,0}}",
        "ROOT d = f32[2,4,2] collective-permute-done(s)",
        "async-shape",
    ),
    "blocks of a tuple that is an array": (
        "s = ((f32[2,4]), f32[2,4]) all-to-all-start(x), replica_groups={{0,1}}, dimensions={}",
        "ROOT d = f32[2,4] all-to-all-done(s)",
        "async-done",
    ),
    "a sum over nothing that is smaller": (
        "s = ((f32[2,4], f32[]), f32[2]) reduce-start(x, z), dimensions={}, to_apply=sum",
        "ROOT d = f32[2] reduce-done(s)",
        "async-done",
    ),
}


@pytest.mark.parametrize("lines", CANNOT_BE.values(), ids=CANNOT_BE)
def test_what_cannot_be_is_refuted_and_nothing_else_is_said_of_it(lines: tuple[str, str, str]) -> None:
    start, done, claim = lines
    text = (
        "HloModule m, replica_count=2\n"
        "sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }\n"
        "ENTRY e {\n  x = f32[2,4] parameter(0)\n  z = f32[] constant(0)\n"
        f"  {start}\n  {done}\n}}\n"
    )
    found = hloproof.check(text)
    assert found.exit_status() == 1
    assert {(r.claim, r.instruction) for r in found.findings if r.verdict == "refuted"} == {
        (claim, "d" if claim == "async-done" else "s")
    }
    told = [r.reason or "" for r in found.findings if r.claim == "definition" and r.verdict == "unknown"]
    assert told and not any(r.verdict == "internal" for r in found.findings)
    left = desugar(parse_module(text))
    assert print_module(left) == print_module(parse_module(text))
