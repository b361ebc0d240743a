"""Tables that state one fact agree: what one holds and another lacks is named here, with the reason."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path

import pytest

from hloproof.claims.asynchronous import (
    buffer_checks,
    channel_checks,
    device_choices,
    device_events,
    hazard_checks,
    shape_checks,
    shared_arguments,
)
from hloproof.definitions import IN_TUPLES
from hloproof.equivalence import constant_folds, definedness, effects, handed_on, meaning, reductions, rules_folds
from hloproof.equivalence.refuting import refute
from hloproof.memory import in_place as plans_in_place
from hloproof.memory import sharing
from hloproof.models.dataflow import alias_classes, async_chain, in_flight, value_flow, versions
from hloproof.models.dataflow import in_place as works_in_place
from hloproof.models.hlo import beside, between_devices
from hloproof.models.hlo.opcodes import (
    COLLECTIVES,
    COMPOSED,
    FIRST_CLASS_PAIRS,
    HANDS_ON,
    IN_STEPS,
    KNOWN,
    async_sugar,
    having,
)
from hloproof.models.hlo.parser import parse_module
from hloproof.models.hlo.proto import text as proto_text
from hloproof.models.indexing import collective as collective_maps
from hloproof.models.indexing import table as maps_table
from hloproof.models.interpreter import computation_order
from hloproof.models.interpreter.compact import dispatch as compact_dispatch
from hloproof.models.interpreter.compact import folds as compact_folds
from hloproof.models.interpreter.operations import collective as collective_runs
from hloproof.models.interpreter.operations import dispatch, dynamic_sizes
from hloproof.models.memory import forwarding, liveness, order
from hloproof.tensor_rules import scalar_operations

STARTS = frozenset(FIRST_CLASS_PAIRS)
DONES = frozenset(FIRST_CLASS_PAIRS.values())
LINKS = having("link")
EXCHANGED = frozenset(collective_runs.COLLECTIVES)

Table = Collection[str]
Said = Mapping[str, str]

SAME: dict[str, tuple[Table, Table, Said, Said]] = {
    "one value, one buffer": (
        value_flow._PASS_ON,
        alias_classes._PASS_ON,
        {"copy": "its value is one, its buffer another", "add-dependency": "a case of its own, with the same answer"},
        {"bitcast": "what is in flight is a tuple, and has none"},
    ),
    "touches no element, or is a name in a plan": (
        versions.PASS_ON,
        forwarding.PASS_ON,
        {
            **dict.fromkeys(("tuple", "get-tuple-element"), "a case of its own"),
            **dict.fromkeys(("after-all", "get-dimension-size"), "makes a value"),
            "parameter": "no instruction that runs",
        },
        {"set-dimension-size": "a plan gives it no slice; it is an update for everybody else"},
    ),
    "handed on, in effects and in layouts": (
        effects.HANDED_ON,
        handed_on._FIRST,
        {"copy": "may lay out anew", "copy-done": "gives a part of what it is given, as do two others"},
        {},
    ),
    "handed on between devices": (
        device_events._HANDED_ON,
        value_flow._PASS_ON,
        {},
        {"domain": "what devices do where another sharding begins is not said"},
    ),
    "computations in steps, and fusions": (device_choices._FOLLOWED, IN_STEPS, {"fusion": "is followed as well"}, {}),
    "judged where they are run": (shared_arguments._JUDGED_ELSEWHERE, device_choices._FOLLOWED, {}, {}),
    "runs its computations": (
        between_devices.parting("runs"),
        COMPOSED,
        {},
        dict.fromkeys(LINKS, "begins, goes on or ends"),
    ),
    "sugar that is not followed": (
        hazard_checks._NOT_FOLLOWED,
        versions.PASS_ON | IN_STEPS,
        {},
        {"call": "its computation is followed: the text names it"},
    ),
    "starts and dones": (async_chain.EXPLICIT, STARTS | DONES, {}, {}),
    "results of starts": (in_flight._OUTPUT, async_chain.RESULT_INDEX, {"send": "has no result"}, {}),
    "operands of starts": (in_flight._OPERAND, in_flight._OUTPUT, {}, {}),
    "shapes of starts": (shape_checks._EXPLICIT, in_flight._OUTPUT, {}, {}),
    "what dones give": (
        handed_on._FIRST | handed_on._RESULT.keys(),
        DONES | HANDS_ON,
        {"add-dependency": "gives its first operand"},
        {"recv-done": "a case of its own", "send-done": "gives a token"},
    ),
    "maps of starts": (maps_table._STARTED, STARTS & COLLECTIVES, {}, {}),
    "exchanges": (
        EXCHANGED,
        COLLECTIVES,
        {},
        {**dict.fromkeys(STARTS & COLLECTIVES, "as what they start"), "collective-reduce": "is not modelled"},
    ),
    "maps of exchanges": (collective_maps.BUILDERS, EXCHANGED, {}, {}),
    "what needs the numbers of devices": (
        proto_text._DEVICES,
        COLLECTIVES,
        dict.fromkeys(("partition-id", "replica-id", "send", "recv"), "no collective"),
        {},
    ),
    "done together": (beside._TOGETHER, COLLECTIVES, dict.fromkeys(("send", "recv", "async"), "no collective"), {}),
    "transfers": (device_events.TRANSFERS, between_devices.parting("transfer"), {}, {}),
    "transfers on channels": (channel_checks._TRANSFERS, device_events.TRANSFERS, {}, {}),
    "any order": (reductions.COMMUTATIVE, constant_folds._ANY_ORDER, {}, {}),
    "any grouping": (reductions.COMMUTATIVE, compact_folds.ASSOCIATIVE, {}, {}),
    "the same twice": (
        reductions.COMMUTATIVE,
        rules_folds.IDEMPOTENT,
        dict.fromkeys(("add", "multiply", "xor"), "x + x is not x"),
        {},
    ),
    "values from outside": (
        meaning.EFFECTS,
        refute._OUTSIDE,
        {
            **dict.fromkeys(("send", "send-done", "outfeed"), "give nothing that comes from outside"),
            "recv-done": "hands on what its recv gives",
        },
        {},
    ),
    "seen outside": (
        meaning.EFFECTS,
        computation_order._EFFECTS,
        dict.fromkeys(("infeed", "recv", "recv-done", "rng", "rng-get-and-update-state"), "give what somebody reads"),
        {"parameter": "is given whether or not it is read"},
    ),
}

PARTS: dict[str, tuple[Table, Table]] = {
    "hands on: buffers of one type": (HANDS_ON, buffer_checks._FORWARDS),
    "hands on: definitions": (HANDS_ON, IN_TUPLES),
    "hands on: executions": (HANDS_ON, dispatch.OPERATIONS),
    "hands on: sizes": (HANDS_ON, dynamic_sizes._HANDED_ON),
    "hands on: arrays in parts": (HANDS_ON, compact_dispatch.PASSING),
    "no number at every one, in rules as in modules": (scalar_operations.PARTIAL, definedness.PARTIAL),
    "combines": (meaning.COMBINED, EXCHANGED),
    "reads nothing in a plan": (liveness._READS_NOTHING - {"constant"}, versions.PASS_ON),
    "may copy first": (sharing._MAY_COPY, works_in_place._FIRST_OPERAND | {"scatter", "sort"}),
    "element by element": (shared_arguments._ELEMENT_BY_ELEMENT, works_in_place._FIRST_OPERAND),
    "collectives that are sums": (plans_in_place._ELEMENTWISE_COLLECTIVES, COLLECTIVES),
}


@pytest.mark.parametrize(("one", "other", "more", "less"), SAME.values(), ids=SAME)
def test_tables_of_one_fact_differ_where_it_is_said(one: Table, other: Table, more: Said, less: Said) -> None:
    assert (set(one) - set(other), set(other) - set(one)) == (set(more), set(less))


@pytest.mark.parametrize(("part", "whole"), PARTS.values(), ids=PARTS)
def test_a_table_holds_all_of_another(part: Table, whole: Table) -> None:
    assert set(part) <= set(whole)


def test_results_of_starts_lie_in_one_place() -> None:
    assert {k: v for k, v in in_flight._OUTPUT.items() if v is not None} == async_chain.RESULT_INDEX
    assert {s: async_chain.EXPLICIT[d][1] for s, d in FIRST_CLASS_PAIRS.items()} == {
        s: async_chain.EXPLICIT[s][1] for s in FIRST_CLASS_PAIRS
    }


CALLERS = """HloModule m
b { x = f32[2] parameter(0) ROOT y = f32[2] negate(x) }
c { x = f32[2] parameter(0) ROOT t = pred[] constant(true) }
ENTRY e { p = f32[2] parameter(0) q = pred[] parameter(1)
  call = f32[2] call(p), to_apply=b
  while = f32[2] while(p), condition=c, body=b
  conditional = f32[2] conditional(q, p, p), true_computation=b, false_computation=b
  fusion = f32[2] fusion(p), kind=kLoop, calls=b
  ROOT r = f32[2] add(call, while) }
"""


def test_what_runs_in_steps_is_followed_wherever_steps_are() -> None:
    module = parse_module(CALLERS)
    local = versions.local_buffers(alias_classes.Buffers(module), True)
    callees = local["e"].callees
    assert set(local) == {"b", "c", "e"}
    for i in module.entry.instructions:
        runs = set(i.attributes.computations()) if i.opcode in IN_STEPS else set()
        assert {name for name, _ in callees.bodies(i)} == runs == set(order.runs(i))
        assert {name for name, _, _ in callees.handing_back((i.name, ()))} == runs - {"c"}


ROOMS = Path(__file__).parents[1]


@cache
def literals() -> list[tuple[str, frozenset[str]]]:
    """The sets, tuples and lists of names that are written out, but for those of fuzzing, which shares no table."""
    out = []
    for room in ("models", "verify"):
        for path in sorted((ROOMS / room).rglob("*.py")):
            if "fuzz" in path.parts:
                continue
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Set | ast.Tuple | ast.List):
                    names = [e.value for e in node.elts if isinstance(e, ast.Constant) and isinstance(e.value, str)]
                    out.append((f"{path.relative_to(ROOMS)}:{node.lineno}", frozenset(names)))
    return out


def test_nobody_writes_these_sets_out_again() -> None:
    sets = {"IN_STEPS": IN_STEPS, "HANDS_ON": HANDS_ON}
    again = [(where, name) for where, names in literals() for name, whole in sets.items() if whole <= names]
    allowed = {"compact/dispatch.py", "operations/dynamic_sizes.py", "indexing/control.py"}
    assert not [(where, name) for where, name in again if not any(a in where for a in allowed)]


def test_every_name_among_opcodes_is_one() -> None:
    """A name that no compiler writes, such as the one that an opcode has elsewhere, stands for nothing."""
    others = {"async", "bound", "free", "output", "bitcast-same", "eq", "ne", "infinity"}
    wrong = [
        (where, name)
        for where, names in literals()
        if len(names & KNOWN) >= 3 and len(names - KNOWN) <= len(names) // 4
        for name in names - KNOWN - others
        if async_sugar(name) is None
    ]
    assert not wrong
