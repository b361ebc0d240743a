"""The ledger of defects: every entry can be shown again, and the page says what the ledger says."""

from __future__ import annotations

import ast
import subprocess

import pytest
from ledger_page import EFFECTS, PAGE, ROOT, Defect, defects, lines

from hloproof.fuzz.compiler.known import KNOWN
from hloproof.fuzz.modules.reference import python_with_jax

RUN = [d for d in defects() if d["how"] == "run"]
READ = [d for d in defects() if d["how"] != "run"]


def test_the_page_is_written_from_the_ledger() -> None:
    """tests/ledger_page.py writes it anew."""
    assert PAGE.read_text(encoding="utf-8") == "\n".join(lines()) + "\n"


def test_names_are_told_apart_and_effects_are_known() -> None:
    names = [d["name"] for d in defects()]
    assert len(set(names)) == len(names)
    assert {d["effect"] for d in defects()} <= set(EFFECTS)


@pytest.mark.parametrize("defect", READ, ids=lambda d: d["name"])
def test_what_was_read_stands_in_the_file_that_is_checked(defect: Defect) -> None:
    file = ROOT / defect["replay"].removeprefix("hloproof check ")
    words = {".rules": "rule", ".map": "map", ".hlo": "HloModule"}
    assert f"{words[file.suffix]} {defect['entry']}\n" in file.read_text(encoding="utf-8")


@pytest.mark.parametrize("defect", RUN, ids=lambda d: d["name"])
def test_what_was_run_has_a_program_that_needs_jax_alone(defect: Defect) -> None:
    program = ROOT / defect["replay"].removeprefix("python ")
    text = program.read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(text))
    assert "hloproof" not in text


def test_every_program_and_every_known_defect_is_in_the_ledger() -> None:
    programs = {f"python {p.relative_to(ROOT)}" for p in (ROOT / "specs" / "refuted" / "released").glob("*.py")}
    assert programs == {d["replay"] for d in RUN}
    assert {k.name for k in KNOWN} <= {d["name"] for d in RUN}


@pytest.mark.parametrize("defect", RUN, ids=lambda d: d["name"])
def test_the_released_package_shows_it(defect: Defect) -> None:
    """Seen with jaxlib 0.10.2; another release may have mended it."""
    python = python_with_jax()
    if python is None:
        pytest.skip("jax is not installed")
    version = subprocess.run(
        [python, "-c", "import jaxlib; print(jaxlib.__version__)"], capture_output=True, text=True, check=True
    ).stdout.strip()
    if f"jaxlib {version}," not in defect["version"]:
        pytest.skip(f"jaxlib {version} is another release")
    ended = subprocess.run([python, ROOT / defect["replay"].removeprefix("python ")], capture_output=True, check=False)
    assert ended.returncode == 1
