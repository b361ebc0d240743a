"""One chunk of a campaign: a number of examples of one target, drawn from a seed, failures minimised.

A chunk depends on the campaign's seed, the target and its own number only, so a campaign may stop anywhere and any
process may do any chunk.
"""

from __future__ import annotations

import math
import time
import traceback
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

from hloproof.fuzz.target import Failure, Target
from hloproof.fuzz.targets import target as find_target
from hloproof.processes.alarm import at_most

SECONDS_PER_EXAMPLE: Final = 30
"""An example that takes longer is a failure of its own."""
MOST_CAUSES: Final = 5
"""So many different causes are minimised per chunk; the rest waits for the next run."""


@dataclass(frozen=True, slots=True)
class Found:
    """A minimised failure."""

    target: str
    cause: str
    message: str
    case: str

    @property
    def key(self) -> str:
        return f"{self.target}-{blake2b(self.cause.encode(), digest_size=5).hexdigest()}"


@dataclass(slots=True)
class Chunk:
    """What a chunk came to. `seconds` is wall time; not `whole` where the time of the campaign ended before."""

    target: str
    number: int
    examples: int
    seconds: float = 0.0
    coverage: Counter[str] = field(default_factory=Counter)
    failures: list[Found] = field(default_factory=list)
    repeated: Counter[str] = field(default_factory=Counter)
    """Failures whose causes were known before, by cause."""
    whole: bool = True


class TookTooLong(Exception):
    """The example's time is up."""


class _CampaignOver(KeyboardInterrupt):
    """The time of the whole campaign is up; Hypothesis lets such an exception pass."""


def examine(chosen: Target, case: str, seconds: float = SECONDS_PER_EXAMPLE) -> tuple[str, ...]:
    """What the case covers. Raises Failure, also for a crash and for a case that takes too long."""
    try:
        with at_most(seconds, lambda: TookTooLong(f"more than {seconds:g} seconds")):
            return chosen.examine(case)
    except Failure:
        raise
    except TookTooLong as error:
        raise Failure("takes too long", str(error)) from error
    except MemoryError as error:
        raise Failure("runs out of memory", str(error)) from error
    except Exception as error:
        raise Failure(_place(error), f"{type(error).__name__}: {error}") from error


_OURS = ("/verify/", "/models/", "/hloproof/")
"""Parts of the paths of our files, in a checkout or installed."""


def _place(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    inner = next((f for f in reversed(frames) if any(part in f.filename for part in _OURS)), frames[-1])
    return f"{type(error).__name__} in {Path(inner.filename).stem}.{inner.name}"


def chunk_seed(seed: int, name: str, number: int) -> int:
    """The seed of a target's chunk: 56 bits, the same on every machine."""
    return int.from_bytes(blake2b(f"{seed} {name} {number}".encode(), digest_size=7).digest(), "big")


def run_chunk(
    name: str, seed: int, number: int, examples: int, known: Collection[str] = (), until: float = math.inf
) -> Chunk:
    """Draws the examples; a failure of a new cause is minimised and the chunk is run again without that cause.

    At `until`, in seconds of `time.time`, it ends wherever it is; a failure that was found is then as small as it got.
    """
    chosen = find_target(name)
    started, causes, found = time.perf_counter(), set(known), list[Found]()
    while True:
        chunk = Chunk(name, number, 0)
        failure = _draw(chosen, chunk, chunk_seed(seed, name, number), examples, causes, until=until)
        if failure is not None:
            found.append(failure)
            causes.add(failure.cause)
        if failure is None or len(found) >= MOST_CAUSES or not chunk.whole:
            break
    chunk.failures = found
    chunk.seconds = time.perf_counter() - started
    return chunk


def first_failure(chosen: Target, seed: int, examples: int) -> Found | None:
    """The first failure of a target, not minimised; None when all examples pass."""
    chunk = Chunk(chosen.name, 0, 0)
    return _draw(chosen, chunk, chunk_seed(seed, chosen.name, 0), examples, (), minimise=False)


def _draw(
    chosen: Target,
    chunk: Chunk,
    seed: int,
    examples: int,
    causes: Collection[str],
    minimise: bool = True,
    until: float = math.inf,
) -> Found | None:
    """Runs the examples up to the first failure of a cause that is not among `causes`; that failure, minimised."""
    from hypothesis.errors import Flaky

    last: list[Found] = []

    def body(case: str) -> None:
        left = until - time.time()
        if left <= 0:
            raise _CampaignOver
        chunk.examples += 1
        try:
            covered = examine(chosen, case, min(left, SECONDS_PER_EXAMPLE))
        except Failure as failure:
            if time.time() >= until:  # it may have been given less time than an example may take
                raise _CampaignOver from failure
            if failure.cause in causes:
                chunk.repeated[failure.cause] += 1
                return
            last.append(Found(chosen.name, failure.cause, failure.message, case))
            raise
        chunk.coverage.update(covered)

    try:
        each_drawn(chosen, seed, examples, body, minimise)
    except _CampaignOver:
        chunk.whole = False
        return last[-1] if last else None
    except Failure as failure:
        # The minimal example is run last.
        return next(f for f in reversed(last) if f.cause == failure.cause)
    except Flaky as error:
        flaky = last[-1] if last else Found(chosen.name, "flaky", str(error), "")
        return Found(chosen.name, f"not the same twice: {flaky.cause}", flaky.message, flaky.case)
    return None


def each_drawn(chosen: Target, seed: int, examples: int, body: Callable[[str], None], minimise: bool = False) -> None:
    """Gives so many cases of a target to `body`, and what it raises is raised; a case that it raises at first is made
    small, if asked for."""
    import hypothesis
    from hypothesis import HealthCheck, Phase

    def run(case: str) -> None:
        body(case)

    options: dict[str, Any] = {
        "max_examples": examples,
        "database": None,
        "deadline": None,
        "print_blob": False,
        "suppress_health_check": list(HealthCheck),
        "phases": [Phase.generate, Phase.shrink] if minimise else [Phase.generate],
        "report_multiple_bugs": False,
    }
    seeded: Any = hypothesis.seed(seed)
    limited: Any = hypothesis.settings(**options)
    given: Any = hypothesis.given(chosen.cases())
    seeded(limited(given(run)))()
