"""One array of a module's result alone: what it does not need is not run, and says nothing about it."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from hloproof.models.hlo.module import Computation, Module
from hloproof.models.hlo.shape import ArrayShape, leaves
from hloproof.models.interpreter.computation_order import plan
from hloproof.models.interpreter.value import Value

TuplePath = tuple[int, ...]
"""The place of an array in the result's tuple, from the outside in."""


def restricted(module: Module, path: TuplePath) -> tuple[Module, int]:
    """The module with what stands in the root's tuple at `path` as its root, and how much of the path that was: all of
    it, unless the root gets its tuple from another instruction. Effects stay."""
    entry, taken = module.entry, 0
    while taken < len(path) and entry.root.opcode == "tuple":
        entry = replace(entry, root_name=entry.root.operands[path[taken]])
        taken += 1
    if not taken:
        return module, 0
    computations = tuple(entry if c.name == entry.name else c for c in module.computations)
    return replace(module, computations=computations), taken


def work(computation: Computation) -> int:
    """How many elements are computed for the root: what a run takes, roughly."""
    found = (leaf for i in plan(computation).instructions for _, leaf in leaves(i.shape))
    return sum(prod(leaf.dimensions) for leaf in found if isinstance(leaf, ArrayShape))


def part(value: Value, path: TuplePath) -> Value:
    """What stands at `path` in a value."""
    for k in path:
        assert isinstance(value, tuple)
        value = value[k]
    return value
