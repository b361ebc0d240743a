"""Modules whose root means nothing, made by one change of one that does: the interpreter refuses all of them.

A text with most of these is refused when it is read, so that only who builds modules himself sees them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from hloproof.fuzz.operations.generators.runs import REFUSED
from hloproof.fuzz.operations.tagged_run import Tagged
from hloproof.fuzz.target import Failure
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import Attributes, DevicePairs, ReplicaGroups, Window
from hloproof.models.hlo.module import Instruction, Module
from hloproof.models.hlo.shape import TupleShape
from hloproof.models.interpreter.run import Machine
from hloproof.models.interpreter.semantics.element_type import INTEGERS
from hloproof.models.interpreter.semantics.real import Real
from hloproof.models.interpreter.value import indices

_NEEDED: Final = {
    "convolution": ("dim_labels",),
    "pad": ("padding",),
    "slice": ("slice",),
    "reduce-window": ("to_apply",),
    "select-and-scatter": ("select", "scatter"),
    "iota": ("iota_dimension",),
}
"""Attributes without which there is no meaning."""


def _with(i: Instruction, name: str, value: Any) -> Instruction:
    """Another value of an attribute, or without it (None)."""
    pairs = [p for p in i.attributes.pairs if p[0] != name]
    return replace(i, attributes=Attributes(tuple(pairs if value is None else [*pairs, (name, value)])))


def deformed(i: Instruction, devices: int) -> Iterator[Instruction]:
    if isinstance(i.attributes.get("replica_groups"), ReplicaGroups):
        yield _with(i, "replica_groups", ReplicaGroups((tuple(range(devices + 1)),), ""))
    if isinstance(i.attributes.get("source_target_pairs"), DevicePairs):
        yield _with(i, "source_target_pairs", DevicePairs(((devices, 0),)))
    for name in _NEEDED.get(i.opcode, ()):
        yield _with(i, name, None)
    window = i.attributes.get("window")
    if isinstance(window, Window) and window.dimensions:
        yield _with(i, "window", None)
        yield _with(i, "window", Window(window.dimensions[:-1]))
        yield _with(i, "window", Window((*window.dimensions, window.dimensions[0])))
    match i.opcode:
        case "convolution":
            yield _with(i, "feature_group_count", 0)
            yield _with(i, "batch_group_count", 0)
        case "dynamic-slice" | "dynamic-update-slice":
            first = 1 if i.opcode == "dynamic-slice" else 2
            if i.operands[first:]:
                yield replace(i, operands=(*i.operands, i.operands[-1]))
        case "collective-permute" if isinstance(i.shape, TupleShape):
            yield replace(i, shape=i.shape.elements[0])


def examine_run(module: Module) -> tuple[str, ...]:
    """A module that is only run, or that must not run."""
    tagged = Tagged(module, 0)
    machine = Machine(module, Real(), tagged.across, 0)
    try:
        found = machine.run(machine.random_inputs())
    except NotModelled as reason:
        if module.name != REFUSED:
            raise Failure(f"{tagged.op.opcode}: does not run", str(reason)) from reason
        return (f"{tagged.op.opcode}: refused by the interpreter",)
    if module.name == REFUSED:
        raise Failure(f"{tagged.op.opcode}: runs what has no meaning", f"{tagged.op}: {found}")
    examine_deformed_runs(tagged)
    if tagged.op.opcode == "iota":
        _examine_tags(tagged)
    return (f"{tagged.op.opcode}: runs",)


def _examine_tags(tagged: Tagged) -> None:
    """Where reads are counted, integers are the numbers that they are, since they may be indices; other constants count
    nothing."""
    ((found,),), axis = tagged.run({}), tagged.op.attributes.integer("iota_dimension", 0)
    is_index = found.element_type in INTEGERS
    if found.data != [d[axis] if is_index else 0 for d in indices(found.sizes)]:
        raise Failure("iota: counts as something that is read", str(found))


def examine_deformed_runs(tagged: Tagged) -> None:
    """Raises Failure where one of them has a result."""
    module = tagged.module
    entry = module.entry
    for changed in deformed(entry.root, tagged.across.count):
        instructions = tuple(changed if i.name == entry.root_name else i for i in entry.instructions)
        computations = tuple(
            replace(c, instructions=instructions) if c.name == entry.name else c for c in module.computations
        )
        machine = Machine(replace(module, computations=computations), Real(), tagged.across, tagged.seed)
        try:
            found = machine.run(machine.random_inputs())
        except NotModelled:
            continue
        raise Failure(f"{changed.opcode}: runs what has no meaning", f"{changed}: {found}")
