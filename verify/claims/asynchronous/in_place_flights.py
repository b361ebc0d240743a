"""What flies as one operation: a start together with the operands, and the result, that its updates bind."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from hloproof.claims.asynchronous.computation_checks import aliasing_of
from hloproof.claims.asynchronous.judgement import Context
from hloproof.models.dataflow.alias_classes import shape_at
from hloproof.models.dataflow.async_chain import work_of
from hloproof.models.dataflow.value_flow import HloPosition, called
from hloproof.models.hlo.module import Computation, Instruction
from hloproof.models.hlo.shape import Shape, ShapeIndex, TupleShape, leaves

HELD: Final = 2
"""A start returns its operands and its result, and contexts after them."""


def _flies(context: Context, place: HloPosition) -> bool:
    """A link of sugar around one operation, which updates may give operands."""
    link = context.chains.links.get(place)
    return link is not None and link.form == "sugared" and link.role != "done"


def told_at_its_start(context: Context, computation: Computation, i: Instruction) -> bool:
    """An update beside all the starts that it may belong to: there what it binds is judged."""
    here = HloPosition(computation.name, i.name)
    starts = context.chains.starts.get(here, frozenset())
    beside = all(_flies(context, place) and place.computation == computation.name for place in (here, *starts))
    return bool(starts) and beside


def updates_beside(context: Context, computation: Computation, start: Instruction) -> list[Instruction]:
    """The updates of a start, if it is one, that stand in its computation."""
    here, chains = HloPosition(computation.name, start.name), context.chains
    members = chains.members.get(here, ()) if _flies(context, here) else ()
    beside = (m for m in members if m.computation == computation.name and chains.links[m].role == "update")
    return [computation.by_name[m.instruction] for m in beside]


def declares_its_result(update: Instruction) -> bool:
    """It says itself where the result lies."""
    return any(entry.output_index[:1] == (1,) for entry in aliasing_of(update))


def with_all_operands(context: Context, computation: Computation, i: Instruction) -> Instruction | None:
    """A start with the operands that its updates bind and with all of its result; None where these are not known. Any
    other instruction as it is."""
    here, chains = HloPosition(computation.name, i.name), context.chains
    if here not in chains.members or not _flies(context, here):
        return i
    operands = chains.bound_beside(here)
    body = chains.module.find(called(i, "calls")) if work_of(i.opcode) == "fusion" else None
    if operands is None or (body is not None and len(operands) != len(body.parameters)):
        return None
    if any(declares_its_result(u) for u in updates_beside(context, computation, i)):
        return None
    promised, result = shape_at(i.shape, (1,)), chains.wrapped(here).result
    if not isinstance(i.shape, TupleShape) or promised is None or result is None or _parts(promised) == _parts(result):
        return replace(i, operands=operands)
    # An empty tuple stands for what is not bound yet.
    shape = replace(i.shape, elements=(i.shape.elements[0], result, *i.shape.elements[HELD:]))
    return replace(i, operands=operands, shape=shape)


def _parts(shape: Shape) -> list[ShapeIndex]:
    return [at for at, _ in leaves(shape)]
