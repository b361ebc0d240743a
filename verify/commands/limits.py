"""Commands that answer one question have a budget: seconds and memory, after which the answer is unknown."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Final

import click

from hloproof.pipeline.options import LONGEST
from hloproof.processes.alarm import at_most, at_most_more
from hloproof.results.plain import say
from hloproof.results.verdict import Exit

MEGABYTES: Final = 4096
"""What a command may take of memory."""


class _Amount(click.FloatRange):
    """A positive number up to some most: neither infinite nor NaN, which clocks and systems cannot wait for."""

    def __init__(self, most: float) -> None:
        super().__init__(0, most, min_open=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        found = super().convert(value, param, ctx)
        if found != found:
            self.fail(f"{value} is no number.", param, ctx)
        return found


SECONDS: Final = _Amount(LONGEST)
AMOUNT_OF_MEGABYTES: Final = _Amount(1 << 20)
"""Up to a terabyte."""


def budgeted(seconds: float) -> Callable[[Callable[..., int | None]], Callable[..., int | None]]:
    """Gives the function of a command the option --budget; `seconds` is its default."""

    def decorate(function: Callable[..., int | None]) -> Callable[..., int | None]:
        @wraps(function)
        def limited(*arguments: Any, budget: float, **given: Any) -> int | None:
            from hloproof.models.stages import OutOfTime, Run, running

            def late() -> OutOfTime:
                return OutOfTime(f"the total time ran out (--budget {budget:g})")

            try:
                with running(Run(budget, limit="--budget")), at_most(budget, late), at_most_more(MEGABYTES):
                    return function(*arguments, **given)
            except OutOfTime as error:
                say(f"unknown: {error}", err=True)
            except MemoryError:
                say(f"unknown: out of memory ({MEGABYTES} MB)", err=True)
            return int(Exit.UNKNOWN)

        option = click.option(
            "--budget", type=SECONDS, default=seconds, show_default=True, help="Seconds; then it is unknown."
        )
        return option(limited)

    return decorate
