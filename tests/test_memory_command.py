"""`hloproof memory`: what is found beside what, what is printed, what is drawn, and the exit status."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from memory_cases import CHAIN, CHAIN_PLAN, changed

from hloproof.cli import run

SPOILED = changed(CHAIN_PLAN, "<4 y @0> (size=128,offset=128)", "<4 y @0> (size=128,offset=64)")
NAME = "module_0001.jit_f.cpu_after_optimizations"


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """A folder as the compiler fills it."""
    (tmp_path / f"{NAME}.txt").write_text(CHAIN)
    (tmp_path / f"{NAME}-buffer-assignment.txt").write_text(CHAIN_PLAN)
    (tmp_path / f"{NAME}-live-range.txt").write_text("HloLiveRange (max 7):\n")
    return tmp_path


def test_the_plan_is_found_beside_the_module_and_in_a_folder(dump: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["memory", str(dump / f"{NAME}.txt")]) == 0
    alone = capsys.readouterr().out
    assert run(["memory", str(dump)]) == 0
    assert capsys.readouterr().out == alone
    assert "proved" in alone


def test_check_of_a_dump_judges_the_plan_as_well(dump: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["check", str(dump), "--only", "plan", "--no-cache", "--format", "json"]
    assert run(arguments) == 0
    claims = {o["claim"] for o in json.loads(capsys.readouterr().out)["obligations"]}
    assert claims >= {"plan-complete", "plan-size", "plan-interference", "plan-alias", "plan-constant"}
    (dump / f"{NAME}-buffer-assignment.txt").write_text(SPOILED)
    assert run(arguments) == 1


def test_a_plan_that_is_named_is_taken(dump: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = dump / "other.txt"
    other.write_text(SPOILED)
    assert run(["memory", str(dump / f"{NAME}.txt"), str(other)]) == 1
    told = capsys.readouterr().out
    assert "plan-interference" in told and "reads x" in told


@pytest.mark.parametrize("form", ["json", "sarif", "junit", "github"])
def test_reports_are_written_in_every_format(dump: Path, form: str, capsys: pytest.CaptureFixture[str]) -> None:
    (dump / f"{NAME}-buffer-assignment.txt").write_text(SPOILED)
    assert run(["memory", str(dump), "--format", form]) == 1
    assert "plan-interference" in capsys.readouterr().out


def test_only_the_claims_that_are_named(dump: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["memory", str(dump), "--only", "plan-size", "--format", "json"]) == 0
    assert {o["claim"] for o in json.loads(capsys.readouterr().out)["obligations"]} == {"plan-size"}
    assert run(["memory", str(dump), "--only", "plan-sizes"]) == 2
    assert "did you mean 'plan-size'?" in capsys.readouterr().err


def test_the_drawing_shows_every_value_of_an_allocation(dump: Path) -> None:
    svg = dump / "plan.svg"
    assert run(["memory", str(dump / f"{NAME}.txt"), "--svg", str(svg), "--allocation", "4"]) == 0
    text = svg.read_text()
    ElementTree.fromstring(text)
    assert all(f"<title>{name}: bytes" in text for name in "xyz") and "#c0392b" not in text


def test_the_drawing_shows_the_conflict_in_red(dump: Path) -> None:
    (dump / f"{NAME}-buffer-assignment.txt").write_text(SPOILED)
    svg = dump / "plan.svg"
    assert run(["memory", str(dump / f"{NAME}.txt"), "--svg", str(svg)]) == 1
    assert svg.read_text().count("#c0392b") == 3  # x, while y and z are written over it, and these two


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.txt"], "nowhere.txt: no such file or directory"),
        (["lonely.txt"], "looked for lonely-buffer-assignment.txt"),
        (["empty"], "no memory plan in this folder"),
        (["lonely.txt", "bad.txt"], "bad.txt:1:1: expected 'BufferAssignment:' in the first line"),
        (["lonely.txt", "good.txt", "--svg", "x.svg", "--allocation", "9"], "the plan has no allocation 9"),
    ],
)
def test_what_cannot_be_read_is_said(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lonely.txt").write_text(CHAIN)
    (tmp_path / "good.txt").write_text(CHAIN_PLAN)
    (tmp_path / "bad.txt").write_text("nothing\n")
    (tmp_path / "empty").mkdir()
    assert run(["memory", *arguments]) == 2
    assert message in capsys.readouterr().err
