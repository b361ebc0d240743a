"""The one door: two modules in, an answer out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Final

from hloproof.equivalence.answer import Certificate, Mismatch, Result, Tier
from hloproof.equivalence.boundary import check_boundary, given_away
from hloproof.equivalence.checker import check
from hloproof.equivalence.configurations import unknown_of_module
from hloproof.equivalence.effects import paired
from hloproof.equivalence.endings import TAKEN_FOR_GRANTED, Ending, is_taken_for_granted, may_not_end, promised_by_text
from hloproof.equivalence.goals import Goal
from hloproof.equivalence.graph import Graph
from hloproof.equivalence.handed_on import otherwise
from hloproof.equivalence.kernel import Denied, Rules, equal_tensors
from hloproof.equivalence.matcher import find_proof
from hloproof.equivalence.matcher.search import Aside
from hloproof.equivalence.reading import GraphReader, ReadModule
from hloproof.equivalence.statements import each
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.module import Module, device_counts
from hloproof.results.verdict import Verdict

_SHORT: Final = 0.3
"""Seconds in which most proofs are found that are found at all."""

_SLIPS: Final = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)
"""What a slip of the matcher may raise: it is not trusted, and its errors are told as errors of this tool."""


def decide(
    before: Module,
    after: Module,
    tier: Tier = "rounding",
    budget_seconds: float = 10.0,
    look_aside: Callable[[], bool] | None = None,
) -> Result:
    """Whether the entries of both modules give equal results for all inputs, with identities of `tier` or stronger.

    `proved` means that the checker accepted the certificate. Never refutes; `look_aside` is asked once where the search
    takes long, and ends it by answering True. Raises InputError when the parameters or
    results of the two differ in number, types or nesting.
    """
    check_boundary(before, after)
    start = perf_counter()
    aside = None if look_aside is None else Aside(start + _SHORT, look_aside)
    try:
        graph, goals, assumed = read_both(before, after)
    except NotModelled as error:
        return Result(Verdict.UNKNOWN, f"not modelled: {error}")
    except Denied as error:
        return Result(Verdict.UNKNOWN, str(error))
    try:
        steps, failed, reason = find_proof(Rules(graph, tier), goals, start + budget_seconds, aside)
    except NotModelled as error:
        return Result(Verdict.UNKNOWN, f"not modelled: {error}")
    except RecursionError:
        return Result(Verdict.UNKNOWN, "the terms are nested too deeply")
    except _SLIPS as error:
        return Result(Verdict.INTERNAL, f"the matcher failed: {type(error).__name__}: {error}")
    if steps is None:
        if graph.unknown:
            reason = f"{reason}; not known is what these say: {', '.join(sorted(graph.unknown))}"
        return Result(Verdict.UNKNOWN, reason, mismatch=failed)
    # A new set of rules: what the matcher remembered, settled or counted as used is not there when its steps are read.
    rules = Rules(graph, tier)
    try:
        check(rules, goals, steps)
    except Denied as error:
        return Result(Verdict.INTERNAL, f"the checker denies what the matcher claims: {error}")
    except NotModelled as error:
        return Result(Verdict.UNKNOWN, f"not modelled: {error}")
    except RecursionError:
        return Result(Verdict.UNKNOWN, "the terms are nested too deeply")
    return Result(Verdict.PROVED, "", _axioms(rules, assumed), Certificate(tier, steps))


def recheck(before: Module, after: Module, certificate: Certificate) -> Result:
    """The checker alone on a certificate that was written before. Raises InputError as `decide` does."""
    check_boundary(before, after)
    try:
        graph, goals, assumed = read_both(before, after)
    except (NotModelled, Denied) as error:
        return Result(Verdict.UNKNOWN, str(error))
    rules = Rules(graph, certificate.tier)
    steps: Any = certificate.proof
    if not isinstance(steps, list):
        return Result(Verdict.UNKNOWN, "the certificate holds no list of steps")
    try:
        check(rules, goals, steps)
    except (Denied, NotModelled, RecursionError) as error:
        return Result(Verdict.UNKNOWN, f"the certificate was not accepted: {error}")
    return Result(Verdict.PROVED, "", _axioms(rules, assumed), certificate)


@dataclass(frozen=True, slots=True)
class Assumed:
    """What any proof of two modules takes for granted, by its names, and the loops of which one that does not look at
    them takes for granted that they end."""

    always: frozenset[str]
    loops: tuple[Ending, ...]
    before: tuple[Ending, ...]
    """The loops of the module before."""


def _axioms(rules: Rules, assumed: Assumed) -> tuple[tuple[str, Tier], ...]:
    """All that the proof rests on: the identities used, with their tiers, and what is assumed whatever the tier."""
    always: dict[str, Tier] = dict.fromkeys(assumed.always, "exact")
    if is_taken_for_granted(assumed.before, assumed.loops, rules.follows, rules.ended):
        always[TAKEN_FOR_GRANTED] = "exact"
    return tuple(sorted({**rules.used, **always}.items()))


def read_both(before: Module, after: Module) -> tuple[Graph, list[Goal], Assumed]:
    """Both modules in one graph; what is to be shown: each result, and each effect, agrees; and what a proof assumes:
    the promises of `after` that `before` does not make, and that a loop which is left out ends.

    Raises NotModelled, and Denied when the effects of the two cannot be paired.
    """
    # Partition and replica ids are free nodes of the graph; with other counts they would range over other devices.
    if device_counts(before) != device_counts(after):
        raise Denied("the modules run on different numbers of devices")
    if names := sorted({name for name, _ in unknown_of_module(before) ^ unknown_of_module(after)}):
        raise NotModelled(f"{', '.join(names)} of a module, of which it is not known what it says")
    if new := given_away(after) - given_away(before):
        raise NotModelled(f"parameter {min(new)[0]}, which callers of the module after alone must give away")
    if lost := otherwise(after):
        owed = otherwise(before)  # before layouts are assigned what is demanded may still be owed
        if debt := next((found for found in lost if found not in owed), None):
            raise NotModelled(f"{debt[0]}, which lies otherwise than is demanded")
    reader = GraphReader()
    try:
        ours, theirs = reader.read(before, 0), reader.read(after, 1)
    except RecursionError:
        raise NotModelled("computations that call each other too deeply") from None
    counts = len(ours.effects.nodes), len(theirs.effects.nodes)
    if counts[0] != counts[1]:
        raise Denied(f"{counts[0]} effects (infeed, outfeed, random numbers, ...) became {counts[1]}")
    goals = [g for a, b in zip(ours.results, theirs.results, strict=True) for g in equal_tensors(a, b)]
    # Effects are owed like results: a module that prints or sends something else computes something else.
    for a, b in paired(ours.effects, theirs.effects, after.attributes.flag("is_scheduled")):
        goals += equal_tensors(a, b)
    assumed = reader.graph.assumed | promised_anew(reader, ours, theirs)
    loops = may_not_end(reader.graph, ours.endings, theirs.endings)
    return reader.graph, goals, Assumed(frozenset(assumed), loops, ours.endings)


def promised_anew(reader: GraphReader, before: ReadModule, after: ReadModule) -> set[str]:
    """What the module after promises and the module before does not rest on, or, of what nobody reads, does not say.
    Raises Denied where it is not so."""
    statements, told = reader.statements, set[str]()
    new = statements.not_licensed(after.needed, statements.always(before.needed)) | after.stated & ~before.stated
    for promise in each(new):
        counted = [e for e in after.endings if e.counts == promise]
        if not counted or promised_by_text(reader.graph, counted):
            told.add(statements.label(promise))
    return told


__all__ = ["Mismatch", "decide", "recheck"]
