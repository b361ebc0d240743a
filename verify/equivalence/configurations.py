"""What is written beside operations and is no part of HLO: promises, and what nobody here knows.

Trusted. Most of it has no meaning (see `models/hlo/beside.py`). A promise that only the module after makes is told with
the proof. What is not known may change what is computed in any way: the result is then that of a function of its own,
known by what is written, applied to what the operation gives without it and to the operands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from hloproof.equivalence.graph import Graph, Node
from hloproof.equivalence.meaning import (
    CARRIED,
    COUNTED,
    PROMISES,
    attribute_key,
    called_as,
    called_in_order,
    carried_when,
)
from hloproof.equivalence.value_trees import ValueTree, in_flight, leaves_of, rebuilt
from hloproof.models.hlo.attributes import Quoted, Word
from hloproof.models.hlo.beside import Beside, beside, frontend_entries, replicated
from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.hlo.text.shapes import print_shape
from hloproof.models.indexing.composition.trip_count import stated_count, stated_states

Promise = tuple[Any, ...]
"""The name, the opcode, and all that decides whether it holds."""

_OF_MODULES: Final = frozenset({"fingerprint_before_lhs"})
"""Attributes of a module that say nothing of it; those of Shardy say where arrays lie, and are read where a call asks
for it."""


def written_beside(i: Instruction, computation: Computation) -> tuple[tuple[Beside, ...], tuple[Any, ...]]:
    """What counts of it, and what it is said of beside operands: the operation, and shapes with their orders of memory,
    since bytes are told by their places."""
    found = beside(i)
    if not found:
        return (), ()
    shapes = (*(print_shape(s) for s in computation.operand_shapes(i)), print_shape(i.shape))
    return found, (i.opcode, attribute_key(i, i.opcode), shapes)


def form_of(module: Module, name: str) -> tuple[Any, ...]:
    """A computation as it is written, without names: of words that are not known nobody can say what they change in
    it."""
    number: dict[str, int] = {}
    out: list[tuple[Any, ...]] = []
    for i in module.by_name[name].operands_first:
        number[i.name] = len(number)
        given = tuple(number[o] for o in i.operands)
        own = i.opcode, attribute_key(i, i.opcode), print_shape(i.shape), i.literal, i.parameter_number, beside(i)
        out.append((*own, given, called_forms(module, i), i.name == module.by_name[name].root_name))
    return tuple(out)


def called_forms(module: Module, i: Instruction) -> tuple[tuple[str, tuple[Any, ...]], ...]:
    """The computations that an instruction calls, in the same way, each with what it is called as."""
    return tuple((name, tuple(form_of(module, n) for n in called)) for name, called in called_as(i))


def stated_by(module: Module, i: Instruction) -> tuple[Any, ...]:
    """What an instruction promises, and what all that it calls does, each in its place: `form_of` leaves it out."""
    own = tuple(name for name in sorted(PROMISES) if i.attributes.flag(name)), carried_when(i)
    loop = (stated_count(i), stated_states(i)) if i.opcode == "while" else ()
    called = tuple(
        tuple(stated_by(module, inner) for inner in module.by_name[name].operands_first) for name in called_in_order(i)
    )
    return own, loop, called


def promises_of(
    found: Sequence[Beside], about: tuple[Any, ...], path: tuple[Any, ...], operands: Sequence[Node]
) -> Iterator[Promise]:
    """The promises among it, where the operation stands."""
    for b in found:
        if b.kind == "promise":
            yield b.name.partition(".")[2], *about, path, tuple(operands), b.value


def unknown_key(found: Sequence[Beside], about: tuple[Any, ...]) -> tuple[Any, ...]:
    """What tells an operation with unknown words beside it from others; () where none are."""
    words = sorted((b.name, b.value) for b in found if b.kind == "unknown")
    return ("beside", *about, tuple(words)) if words else ()


def of_unknown(graph: Graph, value: ValueTree, key: tuple[Any, ...], operands: Sequence[Node]) -> ValueTree:
    """What an operation gives with unknown words beside it: a call of which nothing is known."""
    leaves = (
        graph.node("custom-call", leaf.type, leaf.sizes, (*operands, leaf), (*key, n))
        for n, leaf in enumerate(leaves_of(value))
    )
    # What is known by its tensors alone, or not at all, stays so.
    flying = (runs and (key, tuple(operands), n, runs) for n, runs in enumerate(in_flight(value)))
    return rebuilt(value, leaves, flying)


def label_of(promise: Promise) -> str:
    """What a proof says that rests on it."""
    name, opcode, *_ = promise
    return f"promised: {name} of {opcode}"


def labels_in(module: Module, i: Instruction) -> frozenset[str]:
    """Those of all that an instruction promises, and of what all that it calls does."""
    names = {name for name in PROMISES if i.attributes.flag(name)} | ({CARRIED} if carried_when(i) else set())
    names |= {b.name.partition(".")[2] for b in beside(i) if b.kind == "promise"}
    if i.opcode == "while":
        names |= {name for name, _ in stated_states(i)} | (set() if stated_count(i) is None else {COUNTED})
    called = (inner for name in called_in_order(i) for inner in module.by_name[name].operands_first)
    return frozenset(label_of((name, i.opcode)) for name in names).union(*(labels_in(module, c) for c in called))


def promises_of_module(module: Module) -> Iterator[Promise]:
    """What is promised of the entry's parameters."""
    for number, parameter in enumerate(module.entry.parameters):
        if told := replicated(parameter):
            yield "parameter_replication", "parameter", number, told


def unknown_of_module(module: Module) -> frozenset[tuple[str, str]]:
    """What is written beside the whole module and is not known, with its names."""
    value = module.attributes.get("frontend_attributes") or Word("{}")
    text = value.text if isinstance(value, Word | Quoted) else repr(value)
    entries = frontend_entries(text) if text.strip() != "" else {}
    if entries is None:
        return frozenset({("frontend_attributes", text)})
    return frozenset(
        (f"frontend_attributes.{name}", said)
        for name, said in entries.items()
        if not name.startswith("xla.sdy.") and name not in _OF_MODULES
    )
