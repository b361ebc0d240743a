"""The engines as the driver sees them: all obligations in, each outcome reported by its position."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hloproof.logic.obligation import Obligation, Outcome
from hloproof.pipeline.options import Options
from hloproof.pipeline.prover import Engine

Stages = dict[str, tuple[int, float]]
"""Per stage: how many obligations it was asked for, and milliseconds."""


def batch_engine(options: Options, stages: Stages) -> Engine:
    """Workers that can be killed, with the budget, the cache and the number of processes that the options ask for."""

    def run(obligations: Sequence[Obligation], decided: Callable[[int, Outcome], None]) -> None:
        from hloproof.engines.batch import Settings, prove_all
        from hloproof.engines.budget import Budget
        from hloproof.engines.worker import Task

        def counted(number: int, outcome: Outcome) -> None:
            _count(stages, outcome)
            decided(number, outcome)

        task = Task(Budget(seconds=options.obligation_seconds), options.cross)
        settings = Settings(task, options.jobs, options.total_seconds, options.cache, options.certify)
        prove_all(obligations, settings, counted)

    return run


def warm_engine(known: dict[str, Outcome]) -> Engine:
    """The engines in this process, which need no start, with what was proved before kept in `known` by normal form.

    For a server: the limits are the deterministic ones only.
    """

    def run(obligations: Sequence[Obligation], decided: Callable[[int, Outcome], None]) -> None:
        from dataclasses import replace

        from hloproof.engines.portfolio import prove
        from hloproof.logic.normal_form import key

        for number, obligation in enumerate(obligations):
            form = key(obligation)
            outcome = known.get(form)
            if outcome is None:
                outcome = known[form] = prove(obligation)
            names = [name for name, _ in obligation.variables]
            model = tuple(zip(names, (v for _, v in outcome.model), strict=True)) if outcome.model else ()
            decided(number, replace(outcome, model=model))

    return run


def _count(stages: Stages, outcome: Outcome) -> None:
    """Add the stages of one outcome; the last one, but for the replay of a counterexample, is the one that decided."""
    last = max((place for place, (name, _) in enumerate(outcome.stages) if name != "replay"), default=0)
    for place, (name, ms) in enumerate(outcome.stages):
        count, total = stages.get(name, (0, 0.0))
        decided = place == last and outcome.verdict in ("proved", "refuted")
        stages[name] = (count + decided, total + ms)
