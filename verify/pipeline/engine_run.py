"""The engines as the driver sees them: all obligations in, each outcome reported by its position."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from hloproof.engines.budget import Budget
from hloproof.engines.door import How, prove
from hloproof.logic.obligation import Obligation, Outcome
from hloproof.models.stages import seconds_left
from hloproof.pipeline.options import Options
from hloproof.pipeline.prover import BatchProver

Stages = dict[str, tuple[int, float]]
"""Per stage: how many obligations it was asked for, and milliseconds."""


def how_of(options: Options, stages: Stages | None = None) -> How:
    """How every claim of a check is proved that asks while it is judged. Outcomes are counted into `stages`."""
    return How(
        Budget(seconds=options.obligation_seconds),
        options.cross,
        where="apart",
        cache=options.cache,
        certify=options.certify,
        told=None if stages is None else lambda outcome: _count(stages, outcome),
    )


def batch_engine(options: Options, stages: Stages) -> BatchProver:
    """Workers that can be killed, with the budget, the cache and the number of processes that the options ask for."""

    def run(obligations: Sequence[Obligation], decided: Callable[[int, Outcome], None]) -> None:
        how = replace(how_of(options, stages), where="workers", jobs=options.jobs, total_seconds=seconds_left())
        prove(obligations, how, decided)

    return run


def warm_engine(options: Options, known: dict[str, Outcome]) -> BatchProver:
    """The engines in this process, which need no start, with what was proved before under the same options kept in
    `known` by normal form.

    For a server: the limits are the deterministic ones only.
    """

    def run(obligations: Sequence[Obligation], decided: Callable[[int, Outcome], None]) -> None:
        prove(obligations, replace(how_of(options), where="here", known=known), decided)

    return run


def add_stages(stages: Stages, more: Stages) -> None:
    """Add what the stages did elsewhere."""
    for name, (number, ms) in more.items():
        count, total = stages.get(name, (0, 0.0))
        stages[name] = (count + number, total + ms)


def _count(stages: Stages, outcome: Outcome) -> None:
    """Add the stages of one outcome; the last one, but for the replay of a counterexample, is the one that decided."""
    last = max((place for place, (name, _) in enumerate(outcome.stages) if name != "replay"), default=0)
    for place, (name, ms) in enumerate(outcome.stages):
        count, total = stages.get(name, (0, 0.0))
        decided = place == last and outcome.verdict in ("proved", "refuted")
        stages[name] = (count + decided, total + ms)
