"""A check over many files on any executor of concurrent.futures: local processes, or a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import CancelledError, Executor, Future
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from typing import Final

from hloproof.models.errors import InputError
from hloproof.pipeline.driver import PlanText, all_named_found, check_text, plan_of, problem_of
from hloproof.pipeline.items import unreadable
from hloproof.pipeline.options import Options
from hloproof.pipeline.prover import Progress
from hloproof.pipeline.record_cache import source_digest
from hloproof.pipeline.sources import Source
from hloproof.results.errors import BadInput
from hloproof.results.results import FileResults, InputProblem, Report
from hloproof.results.verdict import Verdict


@contextmanager
def cluster_executor(address: str) -> Iterator[Executor]:
    """The workers of a Dask scheduler at `tcp://host:port`. Raises BadInput where there is none."""
    try:
        distributed = import_module("distributed")
    except ImportError as error:
        raise BadInput("--cluster needs dask.distributed: pip install 'hloproof[cluster]'") from error
    try:
        client = distributed.Client(address, timeout=10)
    except (OSError, TimeoutError, ValueError) as error:
        raise BadInput(f"no cluster at {address}: {error}") from error
    with client, client.get_executor(retries=3) as executor:
        yield executor


_OTHER: Final = "a worker of the cluster has another hloproof, or other solvers, than asks it: install the same there"


def _check(source: Source, text: str, plan: PlanText | None, options: Options, code: bytes) -> FileResults:
    """On a worker, which may have no such files, or others of these names. One whose code is not that of who asks says
    nothing: its verdicts would be told as ours."""
    if source_digest() != code:
        problem = InputProblem(source.name, _OTHER, rendered=f"{source.name}: {_OTHER}")
        return FileResults(source.name, source.kind, problems=[problem])
    return check_text(source.name, source.kind, text, options, plan=lambda _name, _kind: plan)


def check_on(
    executor: Executor, sources: Iterable[Source], options: Options, progress: Progress | None = None
) -> Report:
    """Check every file as one task; files are read here, and reported in the order given.

    Workers keep no cache and write no certificates. A task whose worker is lost is run again by a cluster that does so;
    else its file is an internal error. Raises BadInput where an instruction that was asked for is in no module.
    """
    there = replace(options, jobs=1, cache=None, certify=None, fail_fast=False)
    waiting: list[FileResults | tuple[Source, Future[FileResults]]] = []
    for source in sources:
        try:
            text, plan = source.read(), plan_of(source.name, source.kind)
        except BadInput as error:
            problem = InputProblem(source.name, str(error), rendered=str(error))
            waiting.append(FileResults(source.name, source.kind, problems=[problem]))
        except InputError as error:  # a buffer that is no module
            waiting.append(FileResults(source.name, source.kind, problems=[problem_of(source.name, error)]))
        else:
            waiting.append((source, executor.submit(_check, source, text, plan, there, source_digest())))
    report = Report([])
    for number, entry in enumerate(waiting, 1):
        if isinstance(entry, FileResults):
            report.files.append(entry)
            continue
        source, future = entry
        try:
            report.files.append(future.result())
        except KeyboardInterrupt:
            report.interrupted = True
            for rest in waiting[number - 1 :]:
                if not isinstance(rest, FileResults):
                    rest[1].cancel()
            break
        except (CancelledError, Exception) as error:
            failed = FileResults(source.name, source.kind)
            failed.others.append(unreadable(source.name, f"{type(error).__name__}: {error}", Verdict.INTERNAL))
            report.files.append(failed)
        if progress is not None:
            progress(number, len(waiting), source.name)
    if not report.interrupted and report.verdict is not Verdict.INTERNAL:
        all_named_found(report, options)
    return report
