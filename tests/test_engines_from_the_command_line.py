"""Engines as the command line shows them: certificates, cross checks, and errors planted in a solver's encoder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hloproof.logic import reproduction
from hloproof.results.verdict import Exit

ROOT = Path(__file__).resolve().parents[1]

MODULE = """HloModule m

ENTRY e {
  p = f32[6,8] parameter(0)
  r = f32[4,12] reshape(p)
  t = f32[12,4] transpose(r), dimensions={1,0}
  ROOT s = f32[5,4] slice(t), slice={[1:11:2], [0:4]}
}
"""


def hloproof(*arguments: object, cwd: Path, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command line; modules in `path` are found first, in the workers too."""
    found = os.pathsep.join(str(p) for p in (path, os.environ.get("PYTHONPATH")) if p)
    return subprocess.run(
        [sys.executable, "-m", "hloproof", *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": found, "XDG_CACHE_HOME": str(cwd / "cache")},
    )


@pytest.fixture
def module(tmp_path: Path) -> Path:
    path = tmp_path / "m.hlo"
    path.write_text(MODULE)
    return path


PLANTED = {
    "a counterexample out of thin air": (
        "encode.find_counterexample = lambda o, n: {v: i.lower if i else 0 for v, i in o.variables}",
        (),
    ),
    "two solvers that disagree": (
        "encode.find_counterexample = lambda o, n: {v: 10**9 for v, _ in o.variables}",
        ("--cross",),
    ),
}


@pytest.mark.parametrize(("planted", "options"), PLANTED.values(), ids=PLANTED)
def test_a_planted_encoder_error_is_status_4_with_a_reproduction(
    module: Path, tmp_path: Path, planted: str, options: tuple[str, ...]
) -> None:
    (tmp_path / "sitecustomize.py").write_text(f"from hloproof.engines.isl import encode\n{planted}\n")
    done = hloproof("check", "--no-cache", *options, module, cwd=tmp_path, path=tmp_path)
    assert done.returncode == Exit.INTERNAL, done.stderr
    files = list(tmp_path.glob("hloproof-internal-*.json"))
    assert any(f.name in done.stdout for f in files)
    assert all(reproduction.read(f).variables is not None for f in files)
    reasons = {json.loads(f.read_text())["reason"] for f in files}
    assert any(("disagree" if options else "does not replay") in r for r in reasons)


def test_cross_names_two_engines(module: Path, tmp_path: Path) -> None:
    done = hloproof("check", "--no-cache", "--cross", "--format", "json", module, cwd=tmp_path)
    assert done.returncode == Exit.OK, done.stdout + done.stderr
    assert {"isl", "z3"} <= {e for e in ("isl", "z3") if f'"{e}"' in json.dumps(json.loads(done.stdout))}


def test_certificates_from_check_to_recheck(module: Path, tmp_path: Path) -> None:
    pytest.importorskip("cvc5")
    folder = tmp_path / "certificates"
    assert hloproof("check", "--certify", folder, module, cwd=tmp_path).returncode == Exit.OK
    assert hloproof("recheck", folder, cwd=tmp_path).returncode == Exit.OK
    victim = min(folder.glob("*.smt2"))
    victim.write_text(victim.read_text().replace("assert", "assert ", 1))
    done = hloproof("recheck", folder, cwd=tmp_path)
    assert done.returncode == Exit.BAD_INPUT
    assert f"{victim.name}: tampered" in done.stdout


def test_what_is_known_from_an_earlier_run_is_certified_too(tmp_path: Path) -> None:
    (tmp_path / "m.trules").write_text("rule twice\n  A: [n]\n  reverse(reverse(A, dims=[0]), dims=[0]) => A\n")
    cache, folder = ("--cache", tmp_path / "c.sqlite"), tmp_path / "certificates"
    for more in ((), ("--certify", folder)):
        assert hloproof("check", "m.trules", *cache, *more, cwd=tmp_path).returncode == Exit.OK
    assert list(folder.glob("*.trule.json"))


def test_recheck_says_what_a_solver_denies(module: Path, tmp_path: Path) -> None:
    folder = tmp_path / "certificates"
    assert hloproof("check", "--certify", folder, module, cwd=tmp_path).returncode == Exit.OK
    assert hloproof("recheck", folder, "--solver", "echo sat", cwd=tmp_path).returncode == Exit.REFUTED
    assert hloproof("recheck", folder, "--solver", "echo unknown", cwd=tmp_path).returncode == Exit.UNKNOWN
    assert hloproof("recheck", tmp_path, cwd=tmp_path).returncode == Exit.BAD_INPUT


def test_stats_name_the_stages(module: Path, tmp_path: Path) -> None:
    first = hloproof("check", "--stats", module, cwd=tmp_path)
    assert "isl" in first.stdout
    again = hloproof("check", "--stats", module, cwd=tmp_path)
    assert "cache" in again.stdout


WHOLE = {"starting", "settings", "loading", "finding files", "reading", "waiting for engines", "putting together"}


@pytest.mark.parametrize("more", [(), ("--skip", "definition"), ("--format", "json", "--cross")], ids=" ".join)
def test_stats_account_for_the_whole_run(module: Path, tmp_path: Path, more: tuple[str, ...]) -> None:
    """Every stage once, from the start of the process to the written report; the sum is what is told, and no more than
    the process is old."""
    done = hloproof("check", "--stats", "--no-cache", *more, module, cwd=tmp_path)
    table = (done.stderr if "json" in more else done.stdout).partition("stage  ")[2].splitlines()[1:]
    times = {line[:28].rstrip(): float(line[28:]) for line in table if len(line[28:].split()) == 1}
    assert len(times) == sum(len(line[28:].split()) == 1 for line in table)
    told, age = times.pop("all of this process"), times.pop("since it began")
    assert times.pop("processor time") > 0 and times.pop("processor time of workers") >= 0
    assert {*WHOLE, "reporting"} <= times.keys()
    assert told == pytest.approx(sum(times.values()), abs=0.1 * len(times))
    assert told <= age + 20  # which is known to a hundredth of a second
