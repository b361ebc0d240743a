"""`hloproof fuzz`."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hloproof.commands.limits import SECONDS
from hloproof.fuzz.target import CORPUS
from hloproof.fuzz.targets import MODULES
from hloproof.results.plain import say
from hloproof.results.verdict import Exit

if TYPE_CHECKING:
    from hloproof.fuzz.state import State


@click.command(
    "fuzz",
    epilog="Examples:\n\n\b\n  hloproof fuzz ops maps --time 60 --state campaign\n  hloproof fuzz --report campaign",
)
@click.argument("targets", nargs=-1, type=click.Choice(tuple(MODULES)))
@click.option(
    "--state", type=click.Path(path_type=Path, file_okay=False), help="The campaign's folder; resumed if it exists."
)
@click.option("--time", "seconds", type=SECONDS, help="Seconds for all. Default 60.")
@click.option("--examples", type=click.IntRange(1), help="Examples per target.")
@click.option(
    "--corpus",
    metavar="DIR",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Target compiler takes the HLO modules of this folder, as they are and with small changes.",
)
@click.option("--seed", type=int, help="Default 0. Same seed, same examples.")
@click.option("--jobs", "-j", type=click.IntRange(0), default=0, help="Worker processes; 0 is one per core.")
@click.option("--cluster", metavar="ADDRESS", help="Run on the Dask cluster of this scheduler (tcp://host:port).")
@click.option("--mutants", is_flag=True, help="Plant errors and count which of them are noticed.")
@click.option("--sample", type=click.IntRange(1), help="Draw this many mutants at random; default: all.")
@click.option("--with-equivalent", is_flag=True, help="Also try mutants that are listed as equivalent.")
@click.option("--file", "files", multiple=True, metavar="FILE", help="Plant errors in this file only (repeatable).")
@click.option(
    "--report",
    "reports",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Print the state of a campaign, or of several added up (also all below a folder), and run nothing.",
)
def command(
    targets: tuple[str, ...],
    state: Path | None,
    seconds: float | None,
    examples: int | None,
    corpus: Path | None,
    seed: int | None,
    jobs: int,
    reports: tuple[Path, ...],
    mutants: bool,
    sample: int | None,
    files: tuple[str, ...],
    cluster: str | None,
    with_equivalent: bool,
) -> int:
    """Try random maps, rules, obligations, operations, layouts, modules and texts against what must hold of them.

    Without TARGETS, all that can run here are tried. Failures are minimised and written to the campaign's folder; those
    that it holds are replayed first.
    """
    from tempfile import mkdtemp

    from hloproof.fuzz import campaign
    from hloproof.fuzz.state import State

    if reports:
        for line in campaign.report_of_all(_states(reports)):
            say(line)
        return int(Exit.OK)
    if mutants:
        return _mutants(sample, files, seed or 0, jobs or os.cpu_count() or 1, seconds, with_equivalent)
    chosen = targets or _runnable()
    _importable(chosen)
    folder = state or Path(mkdtemp(prefix="hloproof-fuzz-"))
    try:
        kept = State.open(folder, seed, campaign.CHUNK, corpus)
    except ValueError as error:
        raise click.ClickException(str(error)) from error
    os.environ.pop(CORPUS, None)
    if kept.corpus is not None:
        os.environ[CORPUS] = str(kept.corpus)
        _programs(kept.corpus)
    still = 0
    for name, file, problem in campaign.replay(kept):
        still += problem is not None
        say(f"replayed {name} {file.name}: {problem or 'holds now'}")
    limits = campaign.Limits(seconds if seconds or examples else 60.0, examples)
    show = _display if sys.stderr.isatty() else None
    executor: Callable[[int], Executor] = campaign.local
    at_once = jobs or os.cpu_count() or 1
    if cluster is not None:
        executor, at_once = _cluster(cluster)
    try:
        new = campaign.run(kept, chosen, limits, at_once, show, executor)
    except KeyboardInterrupt:
        for line in campaign.report(kept):
            say(line)
        say(f"interrupted; the campaign is kept in {folder}", err=True)
        return int(Exit.INTERRUPTED)
    if show is not None:
        say("", err=True)
    for line in campaign.report(kept):
        say(line)
    for failure in new:
        say(f"new failure of {failure.target}: {failure.cause}: {failure.message}")
    if not (new or still or kept.examples.total()):
        say("nothing was tried within the time", err=True)
        return int(Exit.UNKNOWN)
    return int(Exit.REFUTED if new or still else Exit.OK)


def _states(folders: Sequence[Path]) -> list[State]:
    """The campaigns of these folders, and of those below them."""
    from hloproof.fuzz import campaign
    from hloproof.fuzz.state import State

    found = dict.fromkeys(file.parent.resolve() for folder in folders for file in sorted(folder.rglob("campaign.json")))
    if not found:
        raise click.ClickException(f"{folders[0]} holds no campaign")
    return [State.open(folder, None, campaign.CHUNK) for folder in found]


def _programs(folder: Path) -> None:
    """Says what the folder holds for target `compiler`."""
    from hloproof.fuzz.compiler.corpus_programs import corpus

    found = corpus(folder)
    if not found.programs:
        raise click.ClickException(f"{folder} holds no program for one device: {found}")
    say(f"{folder}: {found}")


def _cluster(address: str) -> tuple[Callable[[int], Executor], int]:
    from hloproof.fuzz.cluster import executor

    try:
        return executor(address)
    except ModuleNotFoundError as error:
        raise click.ClickException("--cluster needs dask.distributed: install hloproof[cluster]") from error
    except OSError as error:
        raise click.ClickException(f"no Dask scheduler answers at {address}: {error}") from error


def _mutants(
    count: int | None, files: tuple[str, ...], seed: int, jobs: int, seconds: float | None, with_equivalent: bool
) -> int:
    """Prints the score; refuted when it is under 98% or something fails as it is, unknown where nothing was tried."""
    from hloproof.fuzz.mutation import mutants

    unknown = [f for f in files if f not in mutants.watched()]
    if unknown:
        raise click.ClickException(f"no mutants are made of {unknown[0]}; known: {', '.join(mutants.watched())}")
    chosen = mutants.sample(count, seed, files or None)

    def show(score: mutants.Score, total: int) -> None:
        print(f"\r{score.done} of {total} mutants, {score.percent:.1f}%", end="", file=sys.stderr, flush=True)

    display = show if sys.stderr.isatty() else None
    begun, score, ending = time.monotonic(), mutants.Score(), None
    failing: Sequence[str] = ()
    half = math.inf if seconds is None else seconds / 2
    try:
        reach = mutants.explored(seed, {s.file for s in chosen}, jobs, seconds=half)
        failing = reach.failing
        for cause in failing:
            say(f"fails without an error planted: {cause}", err=True)
        left = None if seconds is None else max(0.0, seconds - (time.monotonic() - begun))
        mutants.run(chosen, reach, seed, 120.0, jobs, left, display, with_equivalent, score)
    except KeyboardInterrupt:
        say(f"interrupted: {score.done} of {len(chosen)} mutants were tried", err=True)
        ending = Exit.INTERRUPTED
    if ending is None and failing:  # where all fails, all is noticed
        ending = Exit.REFUTED
    if ending is None and not score.judged:  # of nothing all is noticed
        say("nothing was tried", err=True)
        ending = Exit.UNKNOWN
    for line in mutants.lines(score):
        say(line)
    return int(ending or (Exit.OK if score.percent >= 98 else Exit.REFUTED))


def _runnable() -> tuple[str, ...]:
    """All targets but those that need the real compiler, unless that is here."""
    from hloproof.fuzz.modules.reference import python_with_jax

    return tuple(
        name for name in MODULES if name not in ("xla", "compiler", "programs") or python_with_jax() is not None
    )


def _importable(names: tuple[str, ...]) -> None:
    from hloproof.fuzz.targets import target

    for name in names:
        try:
            target(name)
        except ModuleNotFoundError as error:
            if error.name == "hypothesis":
                raise click.ClickException("fuzzing needs Hypothesis: install hloproof[fuzz]") from error
            raise click.ClickException(f"the target {name} cannot run here: {error}") from error


def _display(progress: object) -> None:
    from hloproof.fuzz.campaign import Progress

    assert isinstance(progress, Progress)
    text = (
        f"\r{progress.examples} examples, {progress.rate:.0f}/s, {progress.covered} covered, "
        f"{progress.failures} failures"
    )
    print(f"{text:78s}", end="", file=sys.stderr, flush=True)
