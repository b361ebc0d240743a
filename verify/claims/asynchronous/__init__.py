"""Claims about asynchronous instructions: chains, shapes, threads, channels, buffers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from hloproof.claims.asynchronous.buffer_checks import buffer_alias
from hloproof.claims.asynchronous.chain_checks import async_chain, async_linear
from hloproof.claims.asynchronous.channel_checks import async_channel
from hloproof.claims.asynchronous.computation_checks import async_alias, async_computation, async_thread
from hloproof.claims.asynchronous.constant_checks import hazard_constant
from hloproof.claims.asynchronous.deadlock_checks import collective_deadlock
from hloproof.claims.asynchronous.hazard_checks import (
    hazard_donation,
    hazard_operand,
    hazard_output,
    hazard_overwrite,
    unless_it_crosses,
)
from hloproof.claims.asynchronous.in_place_checks import hazard_in_place
from hloproof.claims.asynchronous.judgement import Context, Judgement, judged, unless_said, words_at
from hloproof.claims.asynchronous.orders import hazard_order
from hloproof.claims.asynchronous.shape_checks import async_binding, async_done, async_shape
from hloproof.engines.door import HOW, How
from hloproof.models.dataflow.async_chain import AsyncChains
from hloproof.models.dataflow.value_flow import HloPosition
from hloproof.models.hlo.module import Module
from hloproof.models.stages import OutOfTime, checkpoint, stage

Check = Callable[[Context], Iterator[Judgement]]


@dataclass(frozen=True, slots=True)
class ModuleClaim:
    """A claim about the instructions of a whole module."""

    name: str
    check: Check
    on_request: bool = False
    """Runs only when it is named."""


CLAIMS: Final[tuple[ModuleClaim, ...]] = (
    ModuleClaim("async-chain", async_chain),
    ModuleClaim("async-done", async_done),
    ModuleClaim("async-shape", async_shape),
    ModuleClaim("async-binding", async_binding),
    ModuleClaim("async-computation", async_computation),
    ModuleClaim("async-thread", async_thread),
    ModuleClaim("async-alias", async_alias),
    ModuleClaim("async-channel", async_channel),
    ModuleClaim("async-linear", async_linear, on_request=True),
    ModuleClaim("collective-deadlock", collective_deadlock),
    ModuleClaim("buffer-alias", buffer_alias),
    ModuleClaim("hazard-order", hazard_order),
    ModuleClaim("hazard-operand", hazard_operand),
    ModuleClaim("hazard-output", hazard_output),
    ModuleClaim("hazard-overwrite", hazard_overwrite),
    ModuleClaim("hazard-donation", hazard_donation),
    ModuleClaim("hazard-constant", hazard_constant),
    ModuleClaim("hazard-in-place", hazard_in_place),
)

_OF_BUFFERS: Final = frozenset(
    {"hazard-operand", "hazard-output", "hazard-overwrite", "hazard-donation", "hazard-constant", "hazard-in-place"}
)
"""Claims that hold only where it is known which arrays lie in one buffer."""


def judge(
    module: Module,
    wanted: Callable[[str], bool],
    named: Callable[[str], bool],
    layout_sensitive: bool = False,
    after_copy_insertion: bool = False,
    how: How = HOW,
) -> Iterator[Judgement]:
    """What every wanted claim says of every instruction that owes it. A claim that runs on request must be `named`.

    Where the time is over, the claims that are left are unknown, each said once, at the root of the entry computation.
    """
    chosen = [c for c in CLAIMS if wanted(c.name) and (not c.on_request or named(c.name))]
    context: Context | None = None
    words = words_at(module)
    for claim in chosen:
        try:
            with stage(claim.name):
                checkpoint()
                if context is None:
                    context = Context(AsyncChains(module), layout_sensitive, after_copy_insertion, how)
                found = list(_in_time(claim.check(context)))
                if claim.name.startswith("hazard-"):
                    found = list(unless_said(found, words))
                if claim.name in _OF_BUFFERS:
                    found = list(unless_it_crosses(context, found))
        except OutOfTime as error:
            found = [judged(claim.name, HloPosition(module.entry.name, module.entry.root_name), unknown=str(error))]
        yield from found


def _in_time(judgements: Iterator[Judgement]) -> Iterator[Judgement]:
    for j in judgements:
        checkpoint()
        yield j
