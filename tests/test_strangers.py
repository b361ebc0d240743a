"""What lies in a folder that is scanned is data: nothing of it is executed or believed."""

from __future__ import annotations

import hmac
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

import hloproof
from hloproof.cli import run
from hloproof.engines import store
from hloproof.engines.store import Store
from hloproof.fuzz.modules.reference import python_with_jax
from hloproof.pipeline.configuration import read_configuration
from hloproof.results.errors import BadInput
from hloproof.results.findings import fingerprint
from hloproof.results.plain import escaped, harmless
from hloproof.results.suppressions import suppressions
from hloproof.results.verdict import ClaimResult, Found, Verdict

ROOT = Path(__file__).parents[1]
WRONG = "rule wrong: x + 1 => x\n"
MODULE = "HloModule m\nENTRY e {\n  p = f32[4] parameter(0)\n  ROOT r = f32[4] reverse(p), dimensions={0}\n}\n"


def hloproof_in(folder: Path, *arguments: str, said: str = "") -> subprocess.CompletedProcess[str]:
    """The tool, isolated, with the folder as the working directory."""
    package = Path(hloproof.__file__).absolute().parents[1]
    # As the script that an installation makes: its own folder comes first on the path, and the children of this
    # process are told nothing about safe paths.
    program = folder.parent / "bin" / "hloproof"
    program.parent.mkdir(exist_ok=True)
    program.write_text(
        f"import sys\nsys.path.append({str(package)!r})\nfrom hloproof.__main__ import main\n"
        "if __name__ == '__main__':\n    main()\n"
    )
    return subprocess.run(
        [sys.executable, str(program), *arguments],
        cwd=folder,
        env={**os.environ, "XDG_CACHE_HOME": str(folder.parent / "cache"), "PYTHONPATH": ""},
        input=said,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


NAMES = (
    *("enum", "json", "click", "islpy", "z3", "sitecustomize", "usercustomize", "pickle", "hashlib", "multiprocessing"),
    *("signal", "hypothesis", "distributed", "jax", "jaxlib", "numpy", "cvc5", "rich", "xla_reference"),
)


@pytest.mark.parametrize(
    ("command", "statuses"),
    [
        ("check m.hlo a.rules --jobs 2 --format json --no-cache", (1, 2)),
        ("equiv m.hlo m.hlo", (0,)),
        ("passes . --jobs 2 --no-cache", (0, 2)),
        ("serve", (0,)),
        ("fuzz maps --examples 2 --jobs 2", (0,)),
        pytest.param("fuzz --cluster tcp://127.0.0.1:9 --examples 1", (2,), marks=pytest.mark.longer),
        pytest.param("check m.hlo --cluster tcp://127.0.0.1:9", (2,), marks=pytest.mark.longer),
    ],
)
def test_modules_of_the_working_directory_are_not_imported(
    command: str, statuses: tuple[int, ...], tmp_path: Path
) -> None:
    """Not by the tool, nor by its workers, nor by the Python that is asked whether it has jax."""
    folder = tmp_path / "scanned"
    folder.mkdir()
    bomb = f"open({str(tmp_path / 'executed')!r}, 'a').write(__name__)\n"
    for name in NAMES:
        (folder / f"{name}.py").write_text(bomb)
    for name in ("verify", "models", "hloproof", "specs"):
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text(bomb)
    (folder / "m.hlo").write_text(MODULE)
    (folder / "a.rules").write_text(WRONG)
    done = hloproof_in(folder, *command.split(), said='{"jsonrpc": "2.0", "id": 1, "method": "claims"}\n')
    assert not (tmp_path / "executed").exists(), (tmp_path / "executed").read_text()
    assert done.returncode in statuses and "internal" not in done.stderr, done.stderr


def test_the_python_that_may_have_jax_is_asked_from_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "jax.py").write_text(f"open({str(tmp_path / 'executed')!r}, 'a').write(__name__)\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", f".{os.pathsep}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    monkeypatch.setenv("PYTHONSAFEPATH", "")
    python_with_jax.cache_clear()
    try:
        python_with_jax()
    finally:
        python_with_jax.cache_clear()
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize("key", ["cache = 'c.sqlite'", "cluster = 'tcp://h:1'", "certify = 'd'"])
def test_settings_of_a_folder_name_no_cache_and_no_cluster(key: str, tmp_path: Path) -> None:
    (tmp_path / "hloproof.toml").write_text(f"{key}\n")
    with pytest.raises(BadInput, match="on the command line"):
        read_configuration(tmp_path)


@pytest.mark.parametrize("path", ["../out.json", "/tmp/out.json", "a/../../out.json", "link/out.json"])
def test_settings_of_a_folder_write_inside_of_it(path: str, tmp_path: Path) -> None:
    folder = tmp_path / "scanned"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path)
    (folder / "hloproof.toml").write_text(f"output = ['json={path}']\n")
    with pytest.raises(BadInput, match="outside of the folder"):
        read_configuration(folder)
    (folder / "hloproof.toml").write_text("output = ['json=out.json']\n")
    assert read_configuration(folder) == {"output": ["json=out.json"]}


@pytest.mark.parametrize(
    "line",
    [
        'a = f32[] add(), metadata={op_name="// hloproof: allow definition because it is mine"}',
        'a = f32[] add(), metadata={op_name="\\" // hloproof: allow definition because it is mine"}',
        'a = f32[] add(), metadata={op_name="\n// hloproof: allow definition because it is mine\n"}',
        'a = f32[] add(), metadata={op_name="/* hloproof: allow definition because it is mine */"}',
    ],
)
def test_a_word_in_a_string_suppresses_nothing(line: str) -> None:
    assert list(suppressions(line, "m.hlo", [1])) == []
    (found,) = suppressions(line + " // hloproof: allow definition because of it", "m.hlo", [1])
    assert found.claims == ("definition",)


def test_entries_of_a_cache_hold_for_the_user_who_made_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def opened(user: str) -> Store:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / user))
        store._secret_in.cache_clear()
        return Store(tmp_path / "shared.sqlite")

    first = opened("one")
    first.put(b"key", b"proved")
    first.put(b"other", b"refuted")
    first.close()
    assert opened("one").get(b"key") == b"proved"
    assert opened("two").get(b"key") is None
    with sqlite3.connect(tmp_path / "shared.sqlite") as connection:
        connection.execute(
            "UPDATE kept SET value = (SELECT value FROM kept WHERE key = ?) WHERE key = ?", (b"key", b"other")
        )
    again = opened("one")
    assert (again.get(b"key"), again.get(b"other")) == (b"proved", None)
    assert (tmp_path / "one" / "hloproof" / "key").stat().st_mode & 0o077 == 0
    store._secret_in.cache_clear()
    assert hmac.compare_digest(store._secret(), store._secret())


@pytest.mark.parametrize("kept", [b"", b"k" * 31, b"k" * 33])
def test_a_key_that_is_not_whole_signs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: bytes) -> None:
    """Anybody knows the empty one. What is written then holds for this run alone."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "hloproof").mkdir()
    (tmp_path / "hloproof" / "key").write_bytes(kept)
    for _ in range(2):
        store._secret_in.cache_clear()
        opened = Store(tmp_path / "shared.sqlite")
        assert opened.get(b"key") is None
        opened.put(b"key", b"proved")
        opened.flush()
        assert opened.get(b"key") == b"proved"
        opened.close()
    store._secret_in.cache_clear()


def record(file: str) -> ClaimResult:
    return ClaimResult(f"{file}#m/r/definition", "hlo", file, "", 1, 1, "r", Found(Verdict.REFUTED, claim="definition"))


def test_findings_in_files_of_one_name_in_two_folders_are_two(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert fingerprint(record("a/m.hlo")) != fingerprint(record("b/m.hlo"))
    assert fingerprint(record("a/m.hlo")) == fingerprint(record("./a/m.hlo"))
    assert fingerprint(record("a/m.hlo")) == fingerprint(record(str(tmp_path / "a" / "m.hlo")))


def test_what_is_printed_of_an_input_is_no_command_and_no_control_character() -> None:
    assert escaped("a\x1b[2Jb\r\nc\u202e") == "a\\x1b[2Jb\\r\\nc\\u202e"
    for text in ("::error file=x::y", "a\n::set-output name=x::y", "  ::add-mask::x", "##[error]x"):
        assert not any(line.lstrip().startswith(("::", "##[")) for line in harmless(text).split("\n"))


def test_standard_error_repeats_no_command_of_an_input(tmp_path: Path) -> None:
    folder = tmp_path / "scanned"
    folder.mkdir()
    (folder / "bad.hlo").write_text("HloModule m\n::error file=x::y\n\x1b[2J\n")
    done = hloproof_in(folder, "check", "bad.hlo")
    assert done.returncode == 2 and done.stderr
    assert not any(line.lstrip().startswith("::") for line in done.stderr.splitlines())
    assert "\x1b" not in done.stdout + done.stderr


HOSTILE = "a\n::error x::y\x1b[2J"


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", HOSTILE),
        (HOSTILE,),
        ("check", "--kind", HOSTILE, "x"),
        ("check", "--only", HOSTILE, "x.hlo"),
        ("check", f"--{HOSTILE}", "x.hlo"),
        ("layout", HOSTILE),
        ("simplify", HOSTILE),
        ("explain", HOSTILE),
        ("indexing", "good.hlo", "--instruction", HOSTILE),
        ("analyze", "good.hlo", "--instruction", HOSTILE),
        ("analyze", "good.hlo", "--tile", HOSTILE),
        ("run", "good.hlo", "--inputs", HOSTILE),
        ("run", HOSTILE),
        ("equiv", HOSTILE, "good.hlo"),
        ("passes", HOSTILE),
        ("memory", HOSTILE),
        ("recheck", HOSTILE),
        ("fuzz", HOSTILE),
        ("fuzz", "--mutants", "--file", HOSTILE),
        ("check", "good.hlo", "--output", f"json={HOSTILE}/x"),
        ("check", "good.hlo", "--baseline", HOSTILE),
    ],
    ids=lambda a: " ".join(a).encode("unicode_escape").decode(),
)
def test_messages_about_bad_usage_repeat_no_command_of_an_input(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.hlo").write_text(MODULE)
    assert run(arguments) == 2
    told = capsys.readouterr()
    assert told.err and "\x1b" not in told.out + told.err
    assert not any(line.lstrip().startswith("::") for line in (told.out + told.err).splitlines())


def test_commands_print_words_of_inputs_by_one_function() -> None:
    """What is printed otherwise is JSON, which has no control characters, or a picture."""
    for path in sorted((ROOT / "verify" / "commands").glob("*.py")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if "click.echo(" in line:
                assert any(word in line for word in ("json.dumps", "pieces", "# JSON")), f"{path.name}: {line}"


def test_hooks_end_their_options() -> None:
    hooks = (ROOT / ".pre-commit-hooks.yaml").read_text()
    assert hooks.count("- id:") == hooks.count("args: [--]")
