"""Errors that are planted in asynchronous modules: what is spoiled, how, and the claim that it must break."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from hloproof.fuzz.drawing import Writer

Type = str | tuple["Type", ...]


def text_of(shape: Type) -> str:
    return shape if isinstance(shape, str) else f"({', '.join(map(text_of, shape))})"


def _exchanged(shape: Type, old: str, new: str) -> Type:
    """The type with another one in the first place where `old` stands."""
    if isinstance(shape, str):
        return new if shape == old else shape
    for k, inner in enumerate(shape):
        if (other := _exchanged(inner, old, new)) != inner:
            return (*shape[:k], other, *shape[k + 1 :])
    return shape


@dataclass(frozen=True, slots=True)
class Link:
    """A start, update or done before it is written, or a taker of buffers: `begun` are the attributes of the start,
    `said` its own, `besides` instructions that come before."""

    role: str
    opcode: str
    begun: str
    operands: tuple[str, ...]
    shape: Type
    said: str
    besides: tuple[str, ...] = ()


Spoil = Callable[[Link, Writer], Link]


@dataclass(frozen=True, slots=True)
class Slip:
    """An error: the claim that it breaks, and the link that is spoiled, or '' where the course of the chain is changed.
    `where` is a part of the attributes of the links that it can be made at. Where buffers go and devices wait, one that
    is made may do no harm: what it breaks is found out by the oracles there."""

    claim: str
    roles: str = ""
    spoil: Spoil = lambda link, w: link
    where: str = ""

    def fits(self, link: Link) -> bool:
        return link.role in self.roles.split() and self.where in (link.said if link.role == "start" else link.begun)


def _other_shape(link: Link, w: Writer) -> Link:
    """Another type or size in the first array. What elementwise operations return follows from what is bound."""
    if link.opcode == "exponential-done":
        return link
    return replace(link, shape=_exchanged(link.shape, "f32[4]", w.one_of(("f32[2]", "s32[4]", "f32[4,1]"))))


def _other_thread(link: Link, w: Writer) -> Link:
    generic = link.opcode.startswith(("async", "call", "exponential")) and "aside" not in link.begun
    return replace(link, said='async_execution_thread="aside"') if generic else link


def _says(link: Link, old: str, new: str) -> Link:
    return replace(link, said=link.said.replace(old, new))


SLIPS: Final[dict[str, Slip]] = {
    "start's shape": Slip("async-shape", "start", _other_shape),
    "update's shape": Slip("async-shape", "update", _other_shape),
    "another context": Slip(
        "async-shape", "update", lambda link, w: replace(link, shape=_exchanged(link.shape, "s32[]", "u32[]"))
    ),
    "done's shape": Slip("async-done", "done", _other_shape),
    "another computation": Slip(
        "async-computation", "update done", lambda link, w: replace(link, said="calls=reads"), "calls=opaque"
    ),
    "another thread": Slip("async-thread", "update done", _other_thread),
    "main says aside": Slip("async-thread", "start", lambda link, w: _says(link, '"aside"', '"main"'), "=aside"),
    "busy on main": Slip("async-computation", "start", lambda link, w: replace(link, said="calls=more"), "calls=more"),
    "called elsewhere": Slip(
        "async-computation",
        "start",
        lambda link, w: replace(link, besides=("call(p), to_apply=opaque",)),
        "calls=opaque",
    ),
    "another kind": Slip(
        "async-chain",
        "done",
        lambda link, w: replace(link, opcode="all-reduce-done" if link.opcode == "copy-done" else "copy-done"),
    ),
    "no operation": Slip("async-chain", "done", lambda link, w: replace(link, operands=("p",))),
    "two dones": Slip("async-chain"),
    "no done": Slip("async-chain"),
    "idle branch": Slip("async-chain"),
    "twice in a loop": Slip("async-chain"),
    "looked at": Slip("async-linear"),
    "not bound": Slip("async-binding"),
}
"""Errors in chains, each with the claim that it breaks at the link that it spoils, or at the start of the chain."""

CHANNEL_SLIPS: Final[dict[str, Slip]] = {
    "another channel": Slip("async-channel", "done", lambda link, w: replace(link, said="channel_id=3")),
    "silent done": Slip("", "done", lambda link, w: replace(link, said="")),
    "other devices": Slip("collective-deadlock", "recv", lambda link, w: replace(link, said=link.begun)),
    "sent twice": Slip("async-channel"),
    "not sent": Slip("collective-deadlock"),
    "not received": Slip("collective-deadlock"),
    "to the host": Slip("async-channel"),
    "round about": Slip("collective-deadlock"),
}
"""Errors in sends and recvs."""

BUFFER_SLIPS: Final[dict[str, Slip]] = {
    "no alias": Slip("buffer-alias", "taker", lambda link, w: replace(link, said="")),
    "another operand": Slip("buffer-alias", "taker", lambda link, w: _says(link, "{}: (0,", "{}: (1,")),
    "another result": Slip("buffer-alias", "taker", lambda link, w: _says(link, "{}:", "{0}:")),
    "one operand twice": Slip("buffer-alias", "taker", lambda link, w: _says(link, "(1,", "(0,")),
    "one result only": Slip(
        "buffer-alias", "taker", lambda link, w: _says(link, "{0}: (0, {}), {1}: (1, {})", "{}: (0, {})")
    ),
    "another size": Slip(
        "buffer-alias", "taker", lambda link, w: replace(link, shape=_exchanged(link.shape, "b(f32[4])", "b(f32[8])"))
    ),
    "taken twice": Slip("buffer-alias"),
}
"""Errors where buffers are taken and handed back."""
