"""The command line: commands, help, exit statuses, bad usage and bad input."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click
import pytest

from hloproof.cli import COMMANDS, hloproof, run

ROOT = Path(__file__).parents[1]


def hloproof_process(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "hloproof", *arguments], capture_output=True, text=True, cwd=cwd, check=False
    )


def test_version_is_said() -> None:
    done = hloproof_process("--version")
    assert done.stdout.startswith("hloproof ") and done.returncode == 0


def test_version_imports_no_solver() -> None:
    solvers = "{'z3', 'islpy', 'cvc5', 'rich'}"
    code = f"import sys, hloproof.cli as c; c.run(['--version']); print(sorted({solvers} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_has_help_with_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([name, "--help"]) == 0
    said = capsys.readouterr().out
    assert "Example" in said and f"hloproof {name}" in said


def test_help_fits_a_screen(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    assert len(capsys.readouterr().out.splitlines()) <= 40


def test_the_table_names_real_commands() -> None:
    context = click.Context(hloproof)
    for name in hloproof.list_commands(context):
        command = hloproof.get_command(context, name)
        assert command is not None and command.name == name


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["chekc"], "did you mean 'check'"),
        (["check"], "Missing argument"),
        (["check", "--no-such-option", "x.hlo"], "No such option"),
        (["check", "missing.hlo"], "no such file or folder"),
        (["check", "README.md"], "unknown suffix '.md'"),
        (["check", "models"], "no input in this folder"),
        (["check", "--only", "definitoin", "specs/examples/attention.hlo"], "did you mean 'definition'"),
        (["check", "--obligation-seconds", "0", "specs/examples/attention.hlo"], "obligation-seconds"),
    ],
)
def test_bad_usage_is_one_message_and_status_2(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    assert run(arguments) == 2
    captured = capsys.readouterr()
    assert said in captured.err and captured.out == "" and "Traceback" not in captured.err


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\x1f\x8b\x08\x00junk", "gzip"),
        (b"PK\x03\x04junk", "zip"),
        (b"\x0a\x08jit_main\x12\x04main\x00\x01", "protocol buffer"),
        (bytes(range(256)) * 4, "binary"),
        (b"HloModule m\n\nENTRY e {\n  ROOT p = f32[2] para\xffmeter(0)\n}\n", ":4:23: not UTF-8"),
        (b"HloModule m\n\nENTRY e {\n  ROOT p = f32[2] parameter(0\n}\n", ":"),
    ],
)
def test_bad_files_are_one_clear_message_and_status_2(
    content: bytes, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.hlo"
    path.write_bytes(content)
    assert run(["check", str(path)]) == 2
    captured = capsys.readouterr()
    assert "bad.hlo" in captured.err and said in captured.err and "Traceback" not in captured.out + captured.err


def test_the_public_names() -> None:
    import hloproof
    import hloproof.models

    assert {"check", "parse", "Verdict"} < set(hloproof.__all__) and hloproof.Verdict.PROVED.value == "proved"
    assert {"parse_module", "IndexingMap"} == set(hloproof.models.__all__) and callable(hloproof.models.parse_module)
    with pytest.raises(AttributeError):
        _ = hloproof.nothing
