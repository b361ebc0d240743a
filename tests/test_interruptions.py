"""A command that is told to end says what it knows by then, and nothing that it started goes on."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hloproof.cli import run
from hloproof.fuzz import campaign
from hloproof.fuzz.mutation import mutants
from hloproof.pipeline import memory_plans, passes
from hloproof.pipeline.memory_plans import Plans
from hloproof.pipeline.options import Selection
from hloproof.processes.process import Process
from hloproof.results.results import FileResults
from hloproof.results.verdict import Exit

PLAN = Path(__file__).parent / "data" / "plans" / "branches"
MODULE = "HloModule m\nENTRY e {{\n  p = f32[4] parameter(0)\n  ROOT r = f32[4] {}(p)\n}}\n"
SLOW = "rule slow\n  (x * x * x + y * y * y + z * z * z) mod 114 => 0\n"


def dumps(folder: Path) -> None:
    """Three passes: each changes the one instruction."""
    opcodes = ("negate", "copy", "sine", "cosine")
    (folder / "m.before_optimizations.txt").write_text(MODULE.format("abs"))
    for n, opcode in enumerate(opcodes):
        name = f"000{n}.p.after_a{n}.before_b{n}" if n < 3 else "after_optimizations"
        (folder / f"m.{name}.txt").write_text(MODULE.format(opcode))


@pytest.mark.parametrize("form", ["text", "json"])
def test_passes_that_are_interrupted_tell_what_is_judged(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    dumps(tmp_path)

    def one(parts: list[Any], jobs: int, work: Any, on_result: Callable[[int, Any], None]) -> None:
        on_result(0, work.begin()(parts[0]))
        raise KeyboardInterrupt

    monkeypatch.setattr(passes, "work_on", one)
    assert run(["passes", str(tmp_path), "--no-cache", "--format", form]) == Exit.INTERRUPTED
    told = capsys.readouterr().out
    if form == "text":
        assert "refuted" in told and "not tried: interrupted" in told and "\ninterrupted: what was not judged" in told
    else:
        found = json.loads(told)
        (module,) = found["modules"]
        assert found["interrupted"] and [c["verdict"] for c in module["changes"]] == ["refuted", *["unknown"] * 3]


@pytest.mark.parametrize("form", ["text", "json"])
def test_plans_that_are_interrupted_tell_what_is_judged(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for n in range(3):
        (tmp_path / str(n)).mkdir()
        for file in PLAN.iterdir():
            (tmp_path / str(n) / file.name).write_bytes(file.read_bytes())
    check = memory_plans.check_files
    asked: list[str] = []

    def twice(module: str, *rest: Any) -> FileResults:
        asked.append(module)
        if len(asked) == 2:
            raise KeyboardInterrupt
        return check(module, *rest)

    monkeypatch.setattr(memory_plans, "check_files", twice)
    assert run(["memory", str(tmp_path), "--format", form]) == Exit.INTERRUPTED
    told = capsys.readouterr().out
    if form == "json":
        report = json.loads(told)
        assert report["interrupted"] and {"proved", "unknown"} <= {o["verdict"] for o in report["obligations"]}
    else:
        assert "not tried: interrupted" in told and "interrupted: what was not decided" in told and "proved" in told


def test_plans_have_a_budget(capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(PLAN / "module.hlo"), str(PLAN / "assignment.txt")]
    assert run(["memory", *files, "--budget", "1e-9"]) == Exit.UNKNOWN
    assert "the total time ran out (--budget" in capsys.readouterr().out


def test_an_interrupted_campaign_tells_what_was_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    assert run(["fuzz", "maps", "--examples", "1", "--jobs", "1", "--state", str(tmp_path)]) == Exit.OK
    capsys.readouterr()
    monkeypatch.setattr(campaign, "run", interrupted)
    assert run(["fuzz", "maps", "--state", str(tmp_path)]) == Exit.INTERRUPTED
    told = capsys.readouterr()
    assert "maps" in told.out and f"the campaign is kept in {tmp_path}" in told.err


def test_planted_errors_that_are_interrupted_tell_which_were_noticed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def two_of_three(items: Iterable[Any], *_: Any) -> Iterator[tuple[Any, str, float]]:
        said = iter(("the prover of rules: refuted", mutants.SURVIVED))
        for item, answer in zip(items, said, strict=False):
            yield item, answer, 0.1
        raise KeyboardInterrupt

    monkeypatch.setattr(mutants, "tried", two_of_three)
    assert run(["fuzz", "--mutants", "--sample", "3", "--file", "specs/rules/order.rules"]) == Exit.INTERRUPTED
    told = capsys.readouterr()
    assert "mutant score 50.0%: 1 caught, 1 survived" in told.out
    assert told.err == "interrupted: 2 of 3 mutants were tried\n"


def test_a_command_of_one_question_says_that_it_was_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    (tmp_path / "m.hlo").write_text(MODULE.format("negate"))
    monkeypatch.setattr("hloproof.queries.equivalence.compare", interrupted)
    assert run(["equiv", str(tmp_path / "m.hlo"), str(tmp_path / "m.hlo")]) == Exit.INTERRUPTED
    assert capsys.readouterr().err.strip() == "interrupted"


def test_a_worker_that_nobody_hears_ends_without_a_word(capfd: pytest.CaptureFixture[str]) -> None:
    """Nor one whose work is not told to its end, or not at all."""
    for told in (None, 3, 40, 0):
        worker = Process(Plans(1.0, Selection()))
        worker.ask(0, ("missing.hlo", "missing.txt"))
        if told is None:
            worker.stdout.close()
        elif told < len(worker.outgoing):
            del worker.outgoing[told:]
        while not worker.write():
            time.sleep(0.01)
        worker.stdin.close()
        assert worker.process.wait(60) == 0
        worker.stdout.close()
    assert capfd.readouterr().err == ""


KINDS = {
    "rules": ("a.rules", "".join(SLOW.replace("slow", f"slow{n}") for n in range(20))),
    "maps": ("a.map", "".join(f"map m{n}\n  map (d0) -> (d0), domain: d0 in [0, 9]\n\n" for n in range(400))),
    "layouts": ("a.layout", "".join(f"layout l{n}\n  shape f32[{n + 2},?]{{1,0:T(8,128)}}\n\n" for n in range(60))),
    "modules": (
        "a.hlo",
        "\n// -----\n".join([MODULE.format("negate").replace("[4]", f"[{n}]") for n in range(2, 400)]),
    ),
}


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="no /proc here")
@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("kind", KINDS)
def test_workers_end_with_the_check(kind: str, ending: signal.Signals, tmp_path: Path) -> None:
    """Of each kind of input; a command that still has no worker then ends all the same."""
    name, text = KINDS[kind]
    (tmp_path / name).write_text(text)
    command = [sys.executable, "-m", "hloproof", "check", name, "--no-cache", "--jobs", "2"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        started: list[int] = []
        while not started and process.poll() is None:
            time.sleep(0.01)
            started = children(process.pid)
        process.send_signal(ending)
        _, said = process.communicate(timeout=60)
    assert "Traceback" not in said and "internal" not in said
    for _ in range(6_000):
        if not any(map(runs, started)):
            return
        time.sleep(0.01)
    raise AssertionError("a worker outlives the check")


def children(pid: int) -> list[int]:
    try:
        return [int(n) for n in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False
