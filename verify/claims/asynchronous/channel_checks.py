"""Claims about send and recv: channels shared by the right instructions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hloproof.claims.asynchronous.chain_checks import is_finished_outside
from hloproof.claims.asynchronous.judgement import Context, Judgement, judged
from hloproof.models.dataflow.async_chain import AsyncChains
from hloproof.models.dataflow.value_flow import HloPosition
from hloproof.models.hlo.attributes import AttributeValue
from hloproof.models.hlo.module import Instruction
from hloproof.models.hlo.shape import Shape, TupleShape
from hloproof.models.hlo.text.shapes import print_shape

_TRANSFERS: Final = ("send", "recv")


def async_channel(context: Context) -> Iterator[Judgement]:
    """A send or recv has one consumer; its done is on the same channel; host transfers of one kind that share a
    channel have the same attributes."""
    chains = context.chains
    first: dict[tuple[str, AttributeValue | None], tuple[Instruction, Shape | None]] = {}
    for place, link in chains.links.items():
        if link.form != "explicit" or link.opcode not in _TRANSFERS:
            continue
        i = chains.flow.instruction(place)
        if link.role == "done":
            yield judged("async-channel", place, _other_channel(chains, place, i))
            continue
        users = chains.module.by_name[place.computation].users[place.instruction]
        problem = None
        if len(users) != 1 and not is_finished_outside(chains, place) and not _is_root(chains, place):
            problem = f"{i.name} has {len(users)} consumers; one is expected"
        if i.attributes.flag("is_host_transfer"):
            moved = _moved(chains, place)
            other, theirs = first.setdefault((i.opcode, i.attributes.get("channel_id")), (i, moved))
            if _host_attributes(other) != _host_attributes(i):
                problem = f"{i.name} and {other.name} share a channel to the host but differ in attributes"
            elif theirs is not None and moved is not None and not context.same(theirs, moved):
                sizes = f"move {print_shape(theirs)} and {print_shape(moved)}"
                problem = f"{other.name} and {i.name} share a channel to the host but {sizes}"
        yield judged("async-channel", place, problem)


def _moved(chains: AsyncChains, place: HloPosition) -> Shape | None:
    """What a send or recv moves."""
    i = chains.flow.instruction(place)
    if i.opcode == "send":
        return chains.module.by_name[place.computation].by_name[i.operands[0]].shape if i.operands else None
    return i.shape.elements[0] if isinstance(i.shape, TupleShape) and i.shape.elements else None


def _is_root(chains: AsyncChains, place: HloPosition) -> bool:
    return chains.module.by_name[place.computation].root_name == place.instruction


def _host_attributes(i: Instruction) -> tuple[AttributeValue | None, ...]:
    return tuple(i.attributes.get(k) for k in ("channel_id", "is_host_transfer", "frontend_attributes"))


def _other_channel(chains: AsyncChains, place: HloPosition, i: Instruction) -> str | None:
    for start in sorted(chains.starts[place]):
        before = chains.flow.instruction(start)
        mine, theirs = i.attributes.get("channel_id"), before.attributes.get("channel_id")
        if mine is not None and theirs is not None and mine != theirs:
            return f"{i.name} has channel_id={mine}, but {before.name}, which it may finish, channel_id={theirs}"
        # Where nothing is said it is no transfer to the host.
        if i.attributes.flag("is_host_transfer") != before.attributes.flag("is_host_transfer"):
            return f"of {i.name} and {before.name}, which it may finish, one is a transfer to the host"
    return None
