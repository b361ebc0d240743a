"""plan-alias: what must share shares: the state of a loop, the results of branches, declared aliases, updates in place.
And what outlives the program lies where it can."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hloproof.claims.asynchronous.judgement import Judgement
from hloproof.memory.plan import Plan, judged, where
from hloproof.models.dataflow.async_chain import declared_aliases
from hloproof.models.dataflow.in_place import in_place_operand
from hloproof.models.hlo.attributes import Aliasing
from hloproof.models.hlo.shape import TupleShape
from hloproof.models.memory.assignment import Key

ALIAS: Final = "plan-alias"
_MAY_COPY: Final = frozenset({"sort", "set-dimension-size"})
"""Work in place, and copy their operands first where these lie elsewhere, or make nothing at all."""


def sharing(plan: Plan) -> Iterator[Judgement]:
    """One judgement for each pair that must share, and for each part of the result."""
    for a, b, why in _pairs(plan):
        one, two = plan.slice(a), plan.slice(b)
        place = plan.place(*a)
        if one is None or two is None:
            if one is not None and plan.values.values[a].phi and plan.values.values[b].optional:
                told = f"{plan.named(a)} merges {plan.named(b)}, which has no slice: nobody writes {where(one)}"
                yield judged(ALIAS, place, told)
            continue  # plan-complete
        if (one.allocation, one.offset) == (two.allocation, two.offset):
            yield judged(ALIAS, place)
        else:
            yield judged(
                ALIAS,
                place,
                f"{plan.named(a)} lies at {where(one)}, {plan.named(b)} at {where(two)}; they are one buffer: {why}",
            )
    yield from _nowhere(plan)
    yield from _results(plan)


def _nowhere(plan: Plan) -> Iterator[Judgement]:
    """Declared aliases of operands, or of parts, that are not there."""
    for name, room in plan.values.rooms.items():
        for i in plan.module.by_name[name].instructions if room == "ordered" else ():
            for e in declared_aliases(i):
                operand = i.operands[e.operand] if 0 <= e.operand < len(i.operands) else None
                there = operand is not None and plan.values.at((operand, e.operand_index)) is not None
                if not there or plan.values.at((i.name, e.output_index)) is None:
                    told = f"output_to_operand_aliasing of {i.name} speaks of operand {e.operand} at "
                    told += f"{{{', '.join(map(str, e.operand_index))}}}, or of a part of the result, that is not there"
                    yield judged(ALIAS, plan.place(i.name), told)


def _pairs(plan: Plan) -> Iterator[tuple[Key, Key, str]]:
    for key, value in plan.values.values.items():
        if value.phi and value.room == "ordered":
            opcode = plan.instruction(key[0]).opcode
            what = "branches hand their results on" if opcode == "conditional" else "a loop hands its state on"
            for source in value.sources:
                yield key, source, f"{what} without a copy"
    for name, room in plan.values.rooms.items():
        for i in plan.module.by_name[name].instructions if room == "ordered" else ():
            yield from _declared(plan, i.name)
    yield from _donated(plan)


def _declared(plan: Plan, name: str) -> Iterator[tuple[Key, Key, str]]:
    """Updates in place, all-reduces in flight, and what an instruction's text declares."""
    i = plan.instruction(name)
    pairs: list[tuple[tuple[int, ...], int, tuple[int, ...], str]] = []
    if i.opcode not in _MAY_COPY:
        pairs += [(*p, f"{i.opcode} works in place") for p in in_place_operand(i)]
    for e in declared_aliases(i):
        if 0 <= e.operand < len(i.operands):
            pairs.append((e.output_index, e.operand, e.operand_index, "output_to_operand_aliasing says so"))
    for output, number, index, why in pairs:
        a, b = plan.values.at((name, output)), plan.values.at((i.operands[number], index))
        if a is not None and b is not None and a != b:
            yield a, b, why


def _donated(plan: Plan) -> Iterator[tuple[Key, Key, str]]:
    entry = plan.module.entry
    found = plan.module.attributes.get("input_output_alias")
    for e in found if isinstance(found, tuple) else ():
        if not isinstance(e, Aliasing) or not 0 <= e.operand < len(entry.parameters):
            continue
        parameter = entry.parameters[e.operand]
        # An entry speaks of one buffer: of a tuple the table, not its elements.
        a = plan.values.at((entry.root_name, e.output_index))
        b = plan.values.at((parameter.name, e.operand_index))
        if a is not None and b is not None and a != b:
            yield a, b, "input_output_alias says so"


def _results(plan: Plan) -> Iterator[Judgement]:
    """What the entry returns lies in an allocation that outlives the run."""
    root = plan.module.entry.root
    for _, key in plan.values.places_in(root.name):
        s = plan.slice(key)
        if s is None and plan.values.values[key].optional and isinstance(plan.values.values[key].shape, TupleShape):
            told = f"nothing says where the table {plan.named(key)} lies, which is returned to the caller"
            yield judged(ALIAS, plan.place(*key), unknown=told)
        if s is None or key not in plan.in_memory:
            continue
        allocation = plan.allocation(s)
        lasting = allocation.maybe_live_out or allocation.whole_output
        problem = None
        returned = f"{plan.named(key)} is returned to the caller and lies at {where(s)}"
        if not lasting or allocation.preallocated_temp:
            problem = f"{returned}, which does not outlive the run"
        elif s.offset:
            problem = f"{returned}: the caller is given allocations, and reads each from its first byte"
        yield judged(ALIAS, plan.place(*key), problem)
