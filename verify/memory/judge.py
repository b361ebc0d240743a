"""All claims about one plan, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from hloproof.claims.asynchronous.judgement import Judgement, unless_said, words_at
from hloproof.engines.door import HOW, How
from hloproof.logic.replay import DISAGREE
from hloproof.memory.complete import COMPLETE, SIZE, complete, sizes
from hloproof.memory.in_place import IN_PLACE, in_place
from hloproof.memory.interference import CONSTANT, INTERFERENCE, interference
from hloproof.memory.names import names
from hloproof.memory.plan import Plan, judged
from hloproof.memory.sharing import ALIAS, sharing
from hloproof.memory.threads import applied
from hloproof.models.dataflow.value_flow import HloPosition
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.module import Module
from hloproof.models.memory.assignment import BufferAssignment
from hloproof.results.verdict import Verdict

CLAIMS: Final = (COMPLETE, SIZE, INTERFERENCE, IN_PLACE, ALIAS, CONSTANT)
RUN: Final = frozenset({INTERFERENCE, IN_PLACE, ALIAS, CONSTANT})
"""Claims of which a run with memory may show that they fail."""


def _checks(how: How) -> tuple[tuple[tuple[str, ...], Callable[[Plan], Iterator[Judgement]]], ...]:
    """The checks, each with the claims that it judges."""
    return (
        ((COMPLETE,), complete),
        ((SIZE,), sizes),
        ((INTERFERENCE, CONSTANT), interference),
        ((INTERFERENCE,), applied),
        ((IN_PLACE,), partial(in_place, how=how)),
        ((ALIAS,), sharing),
        ((ALIAS,), names),
    )


def judge(
    module: Module, assignment: BufferAssignment, takes: Callable[[str], bool] = lambda _: True, how: How = HOW
) -> list[Judgement]:
    """Every claim that `takes` names. A construct that is not modelled makes the claims it concerns unknown. `how` says
    how the engines are asked; where two have to agree, a small plan that holds is also run with memory, which knows
    nothing of the checks. A run that shows a conflict is an error of this tool."""
    try:
        plan = Plan(module, assignment)
    except NotModelled as error:
        return [judged(c, _root(module), unknown=str(error)) for c in CLAIMS if takes(c)]
    if not module.attributes.flag("is_scheduled"):
        reason = "the module is not scheduled (is_scheduled=true): a plan holds for one order only"
        return [judged(c, _root(module), unknown=reason) for c in CLAIMS if takes(c)]
    out: list[Judgement] = []
    words = words_at(module)
    for claims, check in _checks(how):
        if not any(map(takes, claims)):
            continue
        try:
            found = [j for j in check(plan) if takes(j.claim)]
            out += found if RUN.isdisjoint(claims) else unless_said(found, words)
        except NotModelled as reason:
            out += [judged(c, _root(module), unknown=str(reason)) for c in claims if takes(c)]
    if any(j.problem for j in out if j.claim in RUN):
        shown = _witness(plan)
        out = [judged(j.claim, j.place, f"{j.problem}\n{shown}") if j.problem and j.claim in RUN else j for j in out]
    elif how.cross and (conflict := _conflict(plan)):
        out = [_doubted(j, conflict) if j.claim in RUN else j for j in out]
    return out


def _conflict(plan: Plan) -> str:
    """What a run with memory finds wrong with a plan that holds; '' where it finds nothing, or cannot be made."""
    from hloproof.memory.replay import replay

    try:
        found = replay(plan)
    except Exception:  # the run is a second opinion: where it cannot be made the first one stands alone
        return ""
    return "" if found is None else str(found)


def _doubted(judgement: Judgement, conflict: str) -> Judgement:
    if judgement.found.verdict is not Verdict.PROVED:
        return judgement
    reason = f"{DISAGREE}: nothing is wrong by the order of reads and writes, but a {conflict}"
    return judged(judgement.claim, judgement.place, unknown=reason, internal=True)


def _witness(plan: Plan) -> str:
    from hloproof.memory.replay import witness  # the interpreter is imported when a plan is refuted

    return witness(plan)


def _root(module: Module) -> HloPosition:
    return HloPosition(module.entry_name, module.entry.root_name)
