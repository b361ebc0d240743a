"""`check` over many files on other executors: what they say is what local processes say, and nothing is lost."""

from __future__ import annotations

from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from memory_cases import CHAIN, CHAIN_PLAN

import hloproof
from hloproof.cli import run
from hloproof.models.specs.folder import specs_folder
from hloproof.pipeline import cluster
from hloproof.pipeline.cluster import check_on, cluster_executor
from hloproof.pipeline.driver import check_sources
from hloproof.pipeline.folders import find_sources
from hloproof.pipeline.options import Options, Selection
from hloproof.pipeline.sources import Source
from hloproof.results.errors import BadInput
from hloproof.results.results import Report
from hloproof.results.verdict import Exit, Verdict


def sources() -> list[Source]:
    return find_sources([str(specs_folder() / "examples"), str(specs_folder() / "async")])


def told(report: Report) -> list[tuple[str, Verdict]]:
    return [(r.id, r.verdict) for r in report.records()]


def test_any_executor_says_the_same() -> None:
    with ThreadPoolExecutor(1) as executor:
        assert told(check_on(executor, sources(), Options())) == told(check_sources(sources(), Options()))


class Elsewhere(Executor):
    """Runs tasks where the files are not."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        away = self._folder.rename(self._folder.with_name("away"))
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        away.rename(self._folder)
        return future


def test_the_memory_plan_beside_a_module_goes_with_it(tmp_path: Path) -> None:
    module = tmp_path / "d" / "module.hlo"
    module.parent.mkdir()
    module.write_text(CHAIN)
    module.with_name("assignment.txt").write_text(
        CHAIN_PLAN.replace("z @0> (size=128,offset=0", "z @0> (size=128,offset=128")
    )
    found = [Source(str(module), "hlo")]
    here, there = check_sources(found, Options(jobs=1)), check_on(Elsewhere(module.parent), found, Options())
    assert told(there) == told(here) and here.verdict is Verdict.REFUTED


def test_an_instruction_that_is_not_there_is_an_error_elsewhere_too() -> None:
    options = Options(Selection(instructions=("nobody",)))
    with ThreadPoolExecutor(1) as executor, pytest.raises(BadInput, match="no instruction 'nobody'"):
        check_on(executor, sources()[:1], options)
    with pytest.raises(BadInput, match="no instruction 'nobody'"):
        hloproof.check(CHAIN, options)


@pytest.mark.parametrize(("code", "status"), [(None, Exit.OK), (b"of a year ago", Exit.BAD_INPUT)])
def test_a_worker_of_another_version_says_nothing(
    code: bytes | None, status: Exit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What an older version takes for proved was told as proved by this one."""

    class Other(Executor):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
            future: Future[Any] = Future()
            with monkeypatch.context() as there:
                if code is not None:
                    there.setattr(cluster, "source_digest", lambda: code)
                future.set_result(fn(*args, **kwargs))
            return future

    (tmp_path / "a.rules").write_text("rule a\n  x + 0 => x\n")
    report = check_on(Other(), [Source(str(tmp_path / "a.rules"), "rules")], Options())
    assert report.exit_status() == status and bool(report.problems) == (status == Exit.BAD_INPUT)


def test_no_certificates_are_promised_of_a_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Workers write none: the check ended with 0, and there was nothing to prove again."""
    (tmp_path / "m.hlo").write_text("HloModule m\nENTRY e { ROOT p = f32[4] parameter(0) }\n")
    monkeypatch.chdir(tmp_path)
    assert run(["check", "m.hlo", "--certify", "c", "--cluster", "tcp://127.0.0.1:1"]) == 2
    assert "none on a --cluster" in capsys.readouterr().err


class Failing(Executor):
    """Loses every task."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_exception(RuntimeError("worker lost"))
        return future


def test_a_task_that_is_lost_is_an_internal_error_and_not_proved() -> None:
    report = check_on(Failing(), sources(), Options())
    assert report.verdict is Verdict.INTERNAL and len(report.files) == len(sources())


def test_a_file_that_cannot_be_read_is_a_problem(tmp_path: Path) -> None:
    report = check_on(Failing(), [Source(str(tmp_path / "missing.hlo"), "hlo")], Options())
    assert [p.file for p in report.problems] == [str(tmp_path / "missing.hlo")]


def test_no_scheduler_is_bad_input(monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")
    client = distributed.Client
    monkeypatch.setattr(distributed, "Client", lambda address, timeout: client(address, timeout=timeout / 10))
    with pytest.raises(BadInput, match="no cluster at"), cluster_executor("tcp://127.0.0.1:1"):
        pass


@pytest.mark.longer
def test_a_real_scheduler_with_two_workers_one_of_them_killed() -> None:
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with cluster, cluster_executor(cluster.scheduler_address) as executor:
        worker = next(iter(cluster.workers.values()))
        futures_report = check_on(_KillsWorker(executor, worker), sources(), Options())
    assert told(futures_report) == told(check_sources(sources(), Options()))


class _KillsWorker(Executor):
    """Hands tasks on, and kills a worker of the cluster after the first."""

    def __init__(self, inner: Executor, worker: Any) -> None:
        self._inner, self._worker, self._count = inner, worker, 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future = self._inner.submit(fn, *args, **kwargs)
        self._count += 1
        if self._count == 1:
            self._worker.process.process.terminate()
        return future


class Interrupted(Executor):
    """Ends with Ctrl-C while the second task is waited for."""

    def __init__(self) -> None:
        self.futures: list[Future[Any]] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.futures.append(future)
        if len(self.futures) == 1:
            future.set_result(fn(*args, **kwargs))
        elif len(self.futures) == 2:
            future.set_exception(KeyboardInterrupt())
        return future


def test_a_check_that_is_interrupted_says_so_and_cancels_the_rest(tmp_path: Path) -> None:
    """What has no answer by then is in no file of the report: by these alone all would be proved."""
    for name in "abc":
        (tmp_path / f"{name}.hlo").write_text("ROOT r = f32[8,4]{1,0} transpose(f32[4,8]{1,0} p), dimensions={1,0}\n")
    report = check_on(executor := Interrupted(), find_sources([str(tmp_path)]), Options())
    assert report.verdict is Verdict.UNKNOWN and len(report.files) == 1
    assert report.interrupted and report.exit_status() is Exit.INTERRUPTED
    assert [f.cancelled() for f in executor.futures] == [False, False, True]


def test_a_buffer_that_is_no_module_costs_itself(tmp_path: Path) -> None:
    (tmp_path / "a.hlo.pb").write_bytes(b"")
    (tmp_path / "b.hlo").write_text("ROOT r = f32[8,4]{1,0} transpose(f32[4,8]{1,0} p), dimensions={1,0}\n")
    with ThreadPoolExecutor(1) as executor:
        report = check_on(executor, find_sources([str(tmp_path)]), Options())
    assert [len(f.problems) for f in report.files] == [1, 0] and report.exit_status() is Exit.BAD_INPUT
    assert report.files[1].instructions
