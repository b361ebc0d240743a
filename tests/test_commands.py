"""The small commands: what they print and how they end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hloproof.cli import run
from hloproof.models.specs.folder import specs_folder

EXAMPLE = str(specs_folder() / "examples" / "attention.hlo")


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["claims"], 0, "definition "),
        (["explain", "in-bounds"], 0, "Holds: "),
        (["explain", "async"], 0, "async-chain (async)"),
        (["simplify", "(d0) -> ((d0 * 4) floordiv 4), domain: d0 in [0, 9]"], 0, "(d0) -> (d0), domain: d0 in [0, 9]"),
        (["simplify", "--explain", "(d0) -> (d0 mod 9), domain: d0 in [0, 3]"], 0, "=>"),
        (
            ["rewrite", "(d0) -> (d0 mod 4), domain: d0 in [0, 3]", "(d0) -> (d0), domain: d0 in [0, 3]"],
            0,
            "proved (pointwise)",
        ),
        (
            ["rewrite", "(d0) -> (d0 mod 4), domain: d0 in [0, 4]", "(d0) -> (d0), domain: d0 in [0, 4]"],
            1,
            "refuted (pointwise): d0 = 4: before gives (0), after gives (4)",
        ),
        (["indexing", EXAMPLE, "--instruction", "by_position"], 0, "(d0, d1, d2, d3) -> (d0, d2, d1, d3)"),
        (
            ["indexing", EXAMPLE, "--instruction", "%by_position", "--direction", "input-to-output"],
            0,
            "output 0 (moves)",
        ),
        (["indexing", EXAMPLE, "--instruction", "attention"], 0, "[s0] -> (d0, d1, 0, s0)"),
        (["indexing", EXAMPLE, "--fused"], 0, "parameter(4)"),
    ],
)
def test_what_a_command_says(arguments: list[str], status: int, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == status
    assert said in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["explain", "definitoin"], "did you mean 'definition'"),
        (["simplify", "(d0) -> (d1), domain: d0 in [0, 9]"], "1:10: "),
        (["simplify", "(d0) -> (d0 floordiv d0), domain: d0 in [0, 9]"], "division by zero"),
        (["rewrite", "(d0) -> (d0), domain: d0 in [0, 9]", "(d0) -> (d0"], "AFTER:1:"),
        (
            ["rewrite", "(d0) -> (d0), domain: d0 in [0, 9]", "(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 1]"],
            "dim",
        ),
        (["indexing", EXAMPLE, "--instruction", "by_positoin"], "did you mean 'by_position'"),
        (["indexing", EXAMPLE, "--instruction", "output", "--output", "1"], "no output 1: there is 1"),
        (["indexing", "missing.hlo"], "missing.hlo: no such file"),
        (["baseline", EXAMPLE], "--write"),
    ],
)
def test_what_a_command_refuses(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 2
    captured = capsys.readouterr()
    assert said in captured.err and captured.out == "" and "Traceback" not in captured.err


@pytest.mark.parametrize("direction", ["input-to-output", "output-to-input"])
@pytest.mark.parametrize("more", [(), ("--fused",)])
@pytest.mark.parametrize(
    "root", ["() tuple()", "s32[4] fusion(), kind=kLoop, calls=f", "s32[4] iota(), iota_dimension=0"]
)
def test_what_gives_or_is_given_nothing_has_no_maps(
    root: str, more: tuple[str, ...], direction: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "m.hlo"
    body = "f {\n  ROOT i = s32[4] iota(), iota_dimension=0\n}\n"
    file.write_text(f"HloModule m\n{body}ENTRY e {{\n  ROOT r = {root}\n}}\n")
    assert run(["indexing", str(file), "--direction", direction, *more]) == 0
    assert capsys.readouterr().err == ""


def test_maps_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["indexing", EXAMPLE, "--instruction", "split", "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["instruction"] == "split" and data["direction"] == "output-to-input"
    [operand] = data["operands"]
    assert operand["operand"] == 0 and operand["kind"] == "moves" and len(operand["maps"]) == 1


def test_a_baseline_from_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.rules").write_text("rule halves\n  (x floordiv 2) floordiv 3 => x floordiv 5\n")
    common = ["mine.rules", "--no-cache", "--jobs", "1"]
    assert run(["check", *common]) == 1
    assert run(["baseline", *common, "--write", "known.json"]) == 0
    assert "known.json: 1 findings (1 refuted)" in capsys.readouterr().out
    assert run(["check", *common, "--baseline", "known.json"]) == 0
    assert "against the baseline: 0 new, 1 known, 0 gone" in capsys.readouterr().out
    Path("mine.rules").write_text("rule halves\n  (x floordiv 2) floordiv 3 => x floordiv 6\n")
    capsys.readouterr()
    assert run(["check", *common, "--baseline", "known.json"]) == 0
    assert "no longer found: mine.rules: rule of halves" in capsys.readouterr().out
    Path("mine.rules").write_text("rule halves\n")
    assert run(["baseline", *common, "--write", "known.json"]) == 2
    assert "known.json is left as it was" in capsys.readouterr().err


def test_a_suppression_beside_a_rule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    wrong = "rule halves\n  (x floordiv 2) floordiv 3 => x floordiv 5\n"
    Path("mine.rules").write_text(f"# hloproof: allow rule because it is kept as an example\n{wrong}")
    assert run(["check", "mine.rules", "--no-cache", "--jobs", "1"]) == 0
    Path("mine.rules").write_text(f"# hloproof: allow rule\n{wrong}")
    assert run(["check", "mine.rules", "--no-cache", "--jobs", "1"]) == 2
