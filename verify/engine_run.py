"""The engines as the driver sees them: all obligations in, each outcome reported by its position."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter

from verify.obligation import Obligation, Outcome
from verify.options import Options
from verify.proving import Engine


def engine(options: Options, stages: dict[str, tuple[int, float]]) -> Engine:
    """An engine with the budget, the cache and the number of workers that the options ask for; adds to `stages`."""

    def run(obligations: Sequence[Obligation], decided: Callable[[int, Outcome], None]) -> None:
        from verify.budget import Budget
        from verify.portfolio import prove

        started = perf_counter()
        budget = Budget(seconds=options.obligation_seconds)
        for number, obligation in enumerate(obligations):
            if options.total_seconds is not None and perf_counter() - started > options.total_seconds:
                outcome = Outcome("unknown", reason="the total time ran out (--total-seconds)", final=False)
            else:
                outcome = prove(obligation, budget, options.cross)
            for name, ms in outcome.stages:
                count, total = stages.get(name, (0, 0.0))
                stages[name] = (count + (name in outcome.engines), total + ms)
            decided(number, outcome)

    return run
