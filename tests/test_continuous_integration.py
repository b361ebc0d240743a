"""The pre-commit hooks and the action: against their schemas, and run for real where that takes no hosted runner.

What installs the project into a fresh environment takes minutes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]

SOUND = "rule halves\n  (x floordiv 2) floordiv 3 => x floordiv 6\n"
WRONG = "rule halves\n  (x floordiv 2) floordiv 3 => x floordiv 5\n"
SOUND_MAP = """map reversed
  hlo
    p = f32[4] parameter(0)
    ROOT r = f32[4] reverse(p), dimensions={0}
  output-to-input 0 (d0) -> (3 - d0), domain: d0 in [0, 3]
"""
WRONG_MAP = SOUND_MAP.replace("3 - d0", "d0")
CONFIGURATION = """repos:
- repo: {clone}
  rev: {revision}
  hooks: [{{id: hloproof-rules}}, {{id: hloproof-maps}}, {{id: hloproof-hlo}}]
"""
MODULE = "HloModule m\n\nENTRY e {\n  p = f32[4] parameter(0)\n  ROOT r = f32[4] reverse(p), dimensions={0}\n}\n"


def run(*command: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )


def yaml_of(name: str) -> Any:
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load((ROOT / name).read_text())


def test_the_hooks_are_valid() -> None:
    clientlib = pytest.importorskip("pre_commit.clientlib")
    hooks = clientlib.load_manifest(str(ROOT / ".pre-commit-hooks.yaml"))
    assert {h["id"] for h in hooks} == {"hloproof-rules", "hloproof-maps", "hloproof-hlo"}


def test_the_action_is_valid_by_its_schema() -> None:
    pytest.importorskip("check_jsonschema")
    done = run(
        sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-actions", "action.yml", cwd=ROOT
    )
    assert done.returncode == 0, done.stdout + done.stderr


def check_step() -> str:
    [step] = [s for s in yaml_of("action.yml")["runs"]["steps"] if s.get("id") == "check"]
    return str(step["run"])


@pytest.mark.parametrize(
    ("name", "text", "status"),
    [("mine.rules", SOUND, 0), ("mine.rules", WRONG, 1), ("mine.map", SOUND_MAP, 0), ("mine.map", WRONG_MAP, 1)],
)
def test_the_shell_step_of_the_action_as_it_stands(name: str, text: str, status: int, tmp_path: Path) -> None:
    """The step that checks, with the command of this environment where the action would have installed it."""
    (tmp_path / "hloproof" / "bin").mkdir(parents=True)
    command = tmp_path / "hloproof" / "bin" / "hloproof"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m hloproof "$@"\n')
    command.chmod(0o755)
    (tmp_path / name).write_text(text)
    places = {name: str(tmp_path / name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    done = run(
        "bash",
        "-e",
        "-o",
        "pipefail",
        "-c",
        check_step(),
        cwd=tmp_path,
        RUNNER_TEMP=str(tmp_path),
        HLOPROOF_PATHS=name,
        HLOPROOF_ARGUMENTS="--jobs 1",
        **places,
    )
    assert done.returncode == status, done.stderr
    outputs = dict(line.split("=", 1) for line in Path(places["GITHUB_OUTPUT"]).read_text().splitlines())
    assert outputs["status"] == str(status) and Path(outputs["sarif"]).is_file()
    assert name in Path(places["GITHUB_STEP_SUMMARY"]).read_text()
    assert (f"::error file={name}" in done.stdout) == bool(status)


def test_the_shell_step_says_so_when_there_is_no_report(tmp_path: Path) -> None:
    places = {name: str(tmp_path / name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    done = run("bash", "-e", "-c", check_step(), cwd=tmp_path, RUNNER_TEMP=str(tmp_path), **places)
    assert done.returncode == 127 and "no report" in Path(places["GITHUB_STEP_SUMMARY"]).read_text()


@pytest.mark.longer
def test_hooks_catch_a_wrong_rule_and_a_wrong_map_in_a_repository_made_from_nothing(tmp_path: Path) -> None:
    pytest.importorskip("pre_commit")
    if shutil.which("git") is None:
        pytest.skip("no git")
    clone, work = tmp_path / "clone", tmp_path / "work"
    assert run("git", "clone", "--quiet", str(ROOT), str(clone), cwd=tmp_path).returncode == 0
    revision = run("git", "rev-parse", "HEAD", cwd=clone).stdout.strip()
    work.mkdir()
    run("git", "init", "--quiet", cwd=work)
    (work / ".pre-commit-config.yaml").write_text(CONFIGURATION.format(clone=clone, revision=revision))
    (work / "model.hlo").write_text(MODULE)

    def hooks(rules: str, map_text: str) -> subprocess.CompletedProcess[str]:
        (work / "mine.rules").write_text(rules)
        (work / "mine.map").write_text(map_text)
        run("git", "add", "-A", cwd=work)
        return run(
            sys.executable, "-m", "pre_commit", "run", "--all-files", cwd=work, PRE_COMMIT_HOME=str(tmp_path / "home")
        )

    caught = hooks(WRONG, WRONG_MAP)
    assert caught.returncode == 1, caught.stdout
    assert "refuted rule of halves" in caught.stdout and "mine.map:5:3: refuted" in caught.stdout
    mended = hooks(SOUND, SOUND_MAP)
    assert mended.returncode == 0, mended.stdout
