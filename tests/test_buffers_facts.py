"""Upstream's facts about values and aliases, where they are present beside the project."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from hloproof.models.dataflow.alias_classes import Buffers
from hloproof.models.dataflow.value_flow import HloPosition, called
from hloproof.models.hlo.module import Module
from hloproof.models.hlo.parser import parse_module

SHARED = Path(__file__).parents[1].parent / "shared"
pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared material is not present beside the project")

_STEP = re.compile(r"\.(?:mutable_)?(operand|parameter)\((\d+)\)|\.(root)|\.called_computations\(\)\[0\]")


def resolve(module: Module, path: str) -> tuple[str, str] | None:
    """The computation and instruction that a path such as `entry.root.mutable_operand(0)` names."""
    computation, instruction = module.entry.name, ""
    if path.startswith("%"):
        found = re.match(r"%([\w.\-]+)", path)
        assert found
        instruction = found.group(1)
        owners = [c.name for c in module.computations if instruction in c.by_name]
        if module.entry_name in owners:
            owners = [module.entry_name]
        return (owners[0], instruction) if owners and found.end() == len(path) else None
    if path.startswith("wrapped("):
        found = re.match(r"wrapped\(%([\w.\-]+)\)", path)
        assert found
        i = module.entry.by_name.get(found.group(1))
        while i is not None and not (called(i, "to_apply") or called(i, "calls")) and i.operands:
            i = module.entry.by_name.get(i.operands[0])
        computation = (called(i, "to_apply") or called(i, "calls") or "") if i is not None else ""
    elif path.startswith("FindComputation"):
        found = re.match(r'FindComputation\(module, "([\w.\-]+)"\)', path)
        assert found
        computation = found.group(1)
    else:
        found = re.match(r"entry", path)
        assert found
    if computation not in module.by_name:
        return None
    for step in _STEP.finditer(path, found.end()):
        body = module.by_name[computation]
        if step.group(3):
            instruction = body.root_name
        elif step.group(1) == "parameter":
            instruction = body.parameters[int(step.group(2))].name
        elif step.group(1) == "operand":
            instruction = body.by_name[instruction].operands[int(step.group(2))]
    return computation, instruction


def place(module: Module, at: list[Any]) -> HloPosition | None:
    found = resolve(module, at[0])
    return None if found is None else HloPosition(*found, tuple(at[1]))


def rows() -> list[dict[str, Any]]:
    out = []
    for name in ("async", "dataflow"):
        path = SHARED / "cases" / f"{name}.jsonl"
        if path.exists():
            out += [json.loads(line) for line in path.read_text().splitlines()]
    # One test of upstream runs its analysis twice and asserts different facts of each run.
    return [
        r
        for r in out
        if r.get("facts") and not r.get("mutated_after_parse") and "hlo" in r and "BitcastDefinesValue" not in r["id"]
    ]


@pytest.mark.parametrize("row", rows(), ids=lambda r: r["id"])
def test_structured_facts(row: dict[str, Any]) -> None:
    module = parse_module(row["hlo"])
    excluded = "AsyncCallExcludedThread" in row["id"]
    buffers = Buffers(module, frozenset({"main"}) if excluded else None)
    wrong, judged = [], 0
    for fact in row["facts"]:
        kind, when = fact["fact"], fact.get("when", "")
        if kind == "raw":
            continue
        spots = [place(module, fact[key]) for key in ("at", "a", "b") if key in fact]
        if None in spots or any(p not in buffers.sources for p in spots):
            continue  # the computation of sugar, which the text leaves out
        first = spots[0]
        assert first is not None
        judged += 1
        expected: Any = fact.get("expected", True)
        match kind:
            case "value_defined_at":
                made = buffers.defined_at(first)
                got: Any = made or (when == "ssa_form" and buffers.merges(first))
            case "is_phi":
                got = buffers.merges(first)
            case "values_at":
                wanted = [place(module, v) for v in fact["values"]]
                if None in wanted:
                    continue
                got, expected = buffers.values[first], frozenset(wanted)
                if when == "ssa_form" and buffers.merges(first):
                    continue
            case "live_out_of_module":
                if when == "ssa_form":
                    continue  # the value that merges there has no name here
                got = buffers.leaves_module(first)
            case "same_buffer":
                assert spots[1] is not None
                got = buffers.may_share(first, spots[1])
            case "same_value":
                assert spots[1] is not None
                got = buffers.values[first] == buffers.values[spots[1]]
            case _:
                raise AssertionError(kind)
        if got != expected:
            wrong.append((fact, got))
    assert not wrong, "\n".join(map(str, wrong))


@pytest.mark.parametrize("makes_value", [True, False])
def test_a_bitcast_is_a_value_of_its_own_on_request(makes_value: bool) -> None:
    module = parse_module("ENTRY main { constant = f32[] constant(1) ROOT bitcast = f32[] bitcast(constant) }")
    buffers = Buffers(module, bitcast_makes_value=makes_value)
    constant, bitcast = HloPosition("main", "constant"), HloPosition("main", "bitcast")
    assert buffers.defined_at(bitcast) is makes_value
    assert buffers.leaves_module(constant) is not makes_value
    assert buffers.leaves_module(bitcast) is makes_value
