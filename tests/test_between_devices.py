"""What each opcode has to do with other devices: every opcode and every attribute of those that wait is in a row."""

from __future__ import annotations

from collections import Counter

import pytest

from hloproof.models.hlo import between_devices
from hloproof.models.hlo.between_devices import KINDS, PARTS, not_known, part_of, parting
from hloproof.models.hlo.opcodes import COLLECTIVES, COMMON, KNOWN, OPCODES, having
from hloproof.models.hlo.parser import parse_module


def test_each_opcode_stands_in_one_row() -> None:
    told = [name for line in between_devices.OF_OPCODES.split("\n") for name in line.partition(" | ")[2].split()]
    assert not [name for name, n in Counter(told).items() if n > 1]
    assert set(told) == KNOWN == PARTS.keys()


def test_each_attribute_of_what_waits_stands_in_one_row() -> None:
    told = [name for line in between_devices.OF_ATTRIBUTES.split("\n") for name in line.partition(" | ")[2].split()]
    assert not [name for name, n in Counter(told).items() if n > 1]
    waiting = {name for name in KNOWN if part_of(name) not in ("function", "varies", "own", "order", "unknown")}
    taken = {name for opcode in waiting - {"copy-start"} for name in OPCODES[opcode].attributes}
    assert set(told) == taken | COMMON == KINDS.keys()


def test_rows_agree_with_traits() -> None:
    assert parting("all", "first") | {"collective-reduce"} == COLLECTIVES
    assert parting("unknown") >= having("opaque")
    assert parting("runs") | {"async-start", "async-update", "async-done"} == having("composed")


@pytest.mark.parametrize(
    ("opcode", "part"),
    [
        ("all-to-all-start", "all"),
        ("all-to-all-done", "ends"),
        ("custom-call-start", "unknown"),
        ("custom-call-update", "order"),
        ("negate-start", "function"),
        ("nothing", "unknown"),
    ],
)
def test_sugar_is_what_it_wraps(opcode: str, part: str) -> None:
    assert part_of(opcode) == part


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('custom-call(p), custom_call_target="foo"', "whom the custom-call x waits for"),
        ('custom-call(p), custom_call_target="TopKinds"', "whom the custom-call x waits for"),
        ('custom-call(p), custom_call_target="Pin"', None),
        ("all-reduce(p), replica_groups={}, to_apply=add", None),
        ("all-reduce(p), replica_groups={}, to_apply=add, all_reduce_id=3", "what all_reduce_id says of x"),
        ("all-reduce(p), replica_groups={}, to_apply=add, sharding={replicated}", None),
        ("all-reduce(p), replica_groups={}, to_apply=add, sharding={maximal device=0}", "what sharding says of x"),
        (
            'all-reduce(p), replica_groups={}, to_apply=add, backend_config={"who":"all"}',
            "what backend_config.who says of x",
        ),
        (
            "all-reduce(p), replica_groups={}, to_apply=add, frontend_attributes={who=all}",
            "what frontend_attributes.who says of x",
        ),
    ],
)
def test_what_is_not_known_is_named(line: str, why: str | None) -> None:
    add = "add {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n"
    module = parse_module(f"HloModule m\n{add}ENTRY e {{\n  p = f32[8] parameter(0)\n  ROOT x = f32[8] {line}\n}}\n")
    assert not_known(module.entry.root) == why
