"""The commands of the README, one after the other, cut short where they would take long."""

from __future__ import annotations

import importlib.util
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from hloproof.cli import run

ROOT = Path(__file__).parents[1]
PREFIX = ".venv/bin/hloproof "

SHORT: dict[str, tuple[str, int | None, str]] = {
    "check specs/examples/attention.hlo": ("--no-cache --only in-bounds", 0, ""),
    "passes -- .venv/bin/python specs/examples/nested_slices.py": ("", 1, "jax"),
    "check specs/tensor_rules": ("--no-cache --include historic.trules", 0, ""),
    "analyze specs/examples/attention.hlo --tile 1,2,1,8 --launch blocks=2,threads=32": ("", 0, ""),
    "fuzz --time 1200 --state campaign": ("--time 2 --jobs 1", 0, ""),
    "fuzz --report campaign": ("", 0, ""),
    "fuzz compiler --corpus tests/data --state compiled": ("--examples 1 --jobs 1", 0, "jax"),
    "fuzz programs --state programs": ("--examples 1 --jobs 1", 0, "jax"),
    "fuzz --mutants": ("--sample 1 --time 20 --jobs 1", None, ""),
}
"""What the README runs: what is added to cut it short, the exit status, and the package that it needs. None: 0 or 1, as
the one error that is planted is noticed or not."""


def commands() -> list[str]:
    """The lines of the README's shell blocks that run hloproof, without their comments."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = "\n".join(re.findall(r"```sh\n(.*?)```", text, flags=re.DOTALL))
    lines = [part.strip() for line in blocks.splitlines() for part in line.partition("  #")[0].split("&&")]
    return [line.removeprefix(PREFIX) for line in lines if line.startswith(PREFIX)]


def test_each_command_has_a_row() -> None:
    assert sorted(commands()) == sorted(SHORT)


def test_scripts_that_it_runs_are_there() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    scripts = re.findall(r"^\.venv/bin/python (\S+\.py)", text, flags=re.MULTILINE)
    assert len(scripts) == 2 and all((ROOT / s).is_file() for s in scripts)


def test_the_commands_do_what_they_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the order of the README, since a campaign is made before it is told about."""
    for name in ("specs", "tests/data"):
        shutil.copytree(ROOT / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    for line in commands():
        more, status, needed = SHORT[line]
        if needed and importlib.util.find_spec(needed) is None:
            continue
        # The interpreter that the README makes is the one that runs this.
        words = [sys.executable if word == ".venv/bin/python" else word for word in shlex.split(f"{line} {more}")]
        assert run(words) in ((0, 1) if status is None else (status,)), line
