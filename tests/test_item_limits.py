"""Rules, maps and layouts have limits of their own: one that is late, starved or ends its worker costs only itself."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hloproof.pipeline.driver import check
from hloproof.pipeline.options import Options
from hloproof.processes.process import Process
from hloproof.results.results import Report
from hloproof.results.verdict import Exit, Verdict

FILES = {
    "rules": "".join(f"rule r{n}\n  x + {n} - {n} => x\n" for n in range(4)),
    "layout": "".join(f"layout r{n}\n  shape f32[{n + 2},3]{{0,1}}\n" for n in range(4)),
    "map": "".join(
        f"map r{n}\n  map (d0) -> (d0 + 0), domain: d0 in [0, {n}]\n  becomes (d0) -> (d0), domain: d0 in [0, {n}]\n"
        for n in range(4)
    ),
    "trules": "".join(f"rule r{n}\n  A: [{n}]\n  reverse(reverse(A, dims=[0]), dims=[0]) => A\n" for n in range(4)),
}


def checked(kind: str, folder: Path, **options: object) -> Report:
    (folder / f"m.{kind}").write_text(FILES[kind])
    return check(str(folder / f"m.{kind}"), Options(jobs=1, **options))  # type: ignore[arg-type]


def sent_to_the_second(signal_number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever worker gets the second item is sent a signal; it has begun, since it has answered the first."""
    ask = Process.ask

    def asked(self: Process, number: int, what: object) -> None:
        ask(self, number, what)
        if number == 1:
            os.kill(self.process.pid, signal_number)

    monkeypatch.setattr(Process, "ask", asked)


@pytest.mark.parametrize("kind", FILES)
def test_each_kind_is_judged_in_the_order_of_its_text(kind: str, tmp_path: Path) -> None:
    report = checked(kind, tmp_path)
    assert [(r.instruction, r.verdict) for r in report.records()] == [(f"r{n}", Verdict.PROVED) for n in range(4)]


@pytest.mark.parametrize("kind", FILES)
def test_a_worker_that_dies_costs_one_item(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent_to_the_second(signal.SIGKILL, monkeypatch)
    report = checked(kind, tmp_path)
    verdicts = [r.verdict for r in report.records()]
    assert verdicts == [Verdict.PROVED, Verdict.UNKNOWN, Verdict.PROVED, Verdict.PROVED]
    assert "the worker died (signal SIGKILL)" in str(list(report.records())[1].reason)
    assert report.exit_status() is Exit.UNKNOWN


def test_an_item_that_is_late_says_which_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped for ever, as one that does not end."""
    sent_to_the_second(signal.SIGSTOP, monkeypatch)
    report = checked("rules", tmp_path, item_seconds=6.0)
    assert [r.verdict for r in report.records()] == [Verdict.PROVED, Verdict.UNKNOWN, Verdict.PROVED, Verdict.PROVED]
    assert list(report.records())[1].reason == "no verdict within 6 seconds (--item-seconds)"


@pytest.mark.parametrize("kind", FILES)
def test_an_item_without_memory_says_which_limit(kind: str, tmp_path: Path) -> None:
    report = checked(kind, tmp_path, item_megabytes=16)
    assert {(r.verdict, r.reason) for r in report.records()} == {(Verdict.UNKNOWN, "out of memory (16 MB per worker)")}


def test_the_total_time_leaves_items_undecided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent_to_the_second(signal.SIGSTOP, monkeypatch)
    report = checked("rules", tmp_path, total_seconds=6.0)
    assert [r.verdict for r in report.records()] == [Verdict.PROVED, *[Verdict.UNKNOWN] * 3]
    assert "--total-seconds" in str(list(report.records())[3].reason)


def test_the_first_refutation_ends_the_check(tmp_path: Path) -> None:
    (tmp_path / "m.rules").write_text("rule wrong\n  x + 1 => x\n" + FILES["rules"])
    report = check(str(tmp_path), Options(jobs=1, fail_fast=True))
    assert [r.verdict for r in report.records()] == [Verdict.REFUTED, *[Verdict.UNKNOWN] * 4]
    assert "--fail-fast" in str(list(report.records())[1].reason)


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_no_worker_outlives_the_check(ending: signal.Signals, tmp_path: Path) -> None:
    (tmp_path / "m.rules").write_text("".join(f"rule r{n}\n  x * {n} + x => x * {n + 1}\n" for n in range(500)))
    command = [sys.executable, "-m", "hloproof", "check", "m.rules", "--no-cache", "--jobs", "2", "-q"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        children: list[str] = []
        while len(children) < 2 and process.poll() is None:
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        process.send_signal(ending)
        process.wait(60)
    assert len(children) == 2
    for _ in range(3000):
        if not any(_runs(pid) for pid in children):
            return
        time.sleep(0.01)
    raise AssertionError("a worker outlives the check")


def _runs(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.mark.parametrize(
    ("name", "head"), [("a.rules", "rule a\n  "), ("a.layout", "layout a\n  shape f32[4]\n  formula (d0) -> (")]
)
def test_a_spec_that_takes_long_to_read_is_given_up(name: str, head: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(head + "x + " * 1_000_000 + "x => x\n")
    report = check([str(tmp_path / name)], Options(jobs=1, total_seconds=0.2))
    (record,) = report.records()
    assert (record.verdict, record.claim) == (Verdict.UNKNOWN, "input")
    assert "--total-seconds" in str(record.reason) and "'reading'" in str(record.reason)
