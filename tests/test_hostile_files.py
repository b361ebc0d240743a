"""Files, streams and requests that are broken in every way: the user's error, told in a line, and never ours."""

from __future__ import annotations

import gzip
import json
import os
import random
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

from hloproof.cli import run
from hloproof.pipeline import sources
from hloproof.report.destinations import FORMATS
from hloproof.results import files
from hloproof.results.errors import BadInput
from hloproof.results.files import LARGEST, read_file

GOOD = "HloModule m\nENTRY e {\n  p = f32[4] parameter(0)\n  ROOT r = f32[4] negate(p)\n}\n"
MANY = "9" * 5000
WRONG = b"layout a\n  shape f32[4]{0}\n  formula (d0) -> (d0 floordiv d0), domain: d0 in [0, 3]\n"


def hloproof(folder: Path, *arguments: str, shell: str = "", stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """A run in a process of its own; `shell` is what a shell does with its streams."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache"), "PYTHONIOENCODING": "utf-8:strict"}
    command = ["bash", "-c", f'"$@" {shell}', "-", sys.executable, "-m", "hloproof", *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, input=stdin, capture_output=True, timeout=120, check=False
    )


IDENTITY = (
    "map a\n  hlo\n    p = f32[4] parameter(0)\n    ROOT r = f32[4] negate(p)\n"
    "  output-to-input {} (d0) -> (d0), domain: d0 in [0, 3]{}\n"
)
SUMMED = (
    "HloModule m, replica_count=4\nf {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)"
    "\n}}\nENTRY e {{\n  p = f32[4] parameter(0)\n"
    "  ROOT r = f32[4] all-reduce(p), replica_groups=mesh['a'=4]{{{}}}, to_apply=f\n}}\n"
)

FILES = [
    ("m.map", b"", 2, "no entry in this file"),
    ("m.layout", b"", 2, "no entry in this file"),
    ("m.rules", b"", 2, "no entry in this file"),
    ("m.pairs", b"", 2, "no entry in this file"),
    ("m.pairs", b"# nothing\n", 2, "no entry in this file"),
    ("m.trules", b"", 2, "no rule in this file"),
    ("m.hlo", b"", 2, "no HLO module"),
    ("m.rules", b"// nothing\n", 2, ""),
    (
        "m.map",
        b"map a\n  hlo\n    p = f32[2] parameter(0)\n    ROOT c = f32[2] copy(p)\n"
        b"  hlo-after\n    p = f32[2] parameter(0)\n    R",
        2,
        "expected '='",
    ),
    ("m.layout", WRONG, 1, ""),
    ("m.rules", b"rule a\n  for s in [l, u] => nothing\n  when s > 3\n", 2, "a condition is about the constants"),
    ("m.layout", f"layout a\n  shape f32[{MANY}]\n".encode(), 2, "64 bits"),
    ("m.rules", f"rule a\n  x * {MANY} => x\n".encode(), 2, ""),
    ("m.layout", f"layout a\n  shape f32[4]{{0}}\n  padded {MANY}\n".encode(), 2, "a number of at most 1000 digits"),
    ("m.layout", f"layout a\n  shape f32[4]{{0}}\n  position [1] = {MANY}\n".encode(), 2, "at most 1000 digits"),
    ("m.map", IDENTITY.format(MANY, "").encode(), 2, "a number of at most 1000 digits"),
    (
        "m.map",
        IDENTITY.format(0, f"\n    runtime variables: rt0: operand({MANY}); (d0) -> (0), domain: d0 in [0, 3]")
        .replace(
            "(d0) -> (d0), domain: d0 in [0, 3]", "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 3]", 1
        )
        .encode(),
        3,
        "a runtime variable with the provider",
    ),
    ("m.hlo", SUMMED.format(MANY).encode(), 2, "is not a valid axis name or index"),
    ("m.hlo", f"HloModule m\nENTRY e {{ ROOT c = s32[] constant({MANY}) }}".encode(), 2, ""),
    ("m.hlo", b"HloModule m\nENTRY e { ROOT c = s32[] constant(\xff) }", 2, "not UTF-8 text"),
]


@pytest.mark.parametrize(("name", "data", "status", "words"), FILES)
def test_files(name: str, data: bytes, status: int, words: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    done = hloproof(tmp_path, "check", "--no-cache", name)
    said = (done.stdout + done.stderr).decode()
    assert done.returncode == status and words in said and "internal" not in said, said


BROKEN_JSON = [b"\xff\xfe[1]", b"[" * 200_000, f"[{MANY}]".encode(), b"", b"{"]


@pytest.mark.parametrize("data", BROKEN_JSON, ids=["no UTF-8", "nested", "digits", "empty", "open"])
@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "m.hlo", "--inputs", "x.json"),
        ("check", "--no-cache", "--baseline", "x.json", "m.hlo"),
        ("recheck", "x.json"),
    ],
    ids=["inputs", "baseline", "certificate"],
)
def test_json_of_users(data: bytes, arguments: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "m.hlo").write_text(GOOD)
    (tmp_path / "x.json").write_bytes(data)
    done = hloproof(tmp_path, *arguments)
    assert done.returncode == 2 and b"x.json" in done.stderr and b"internal" not in done.stderr, done.stderr


@pytest.mark.parametrize(
    "line", [b"\xff", b"[" * 100_000, b"1", b'{"file": "a"}', b'{"file": "../a", "sha256": {"../a": "1"}}']
)
def test_manifests(line: bytes, tmp_path: Path) -> None:
    (tmp_path / "manifest.jsonl").write_bytes(line + b"\n")
    done = hloproof(tmp_path, "recheck", ".")
    assert done.returncode == 2 and done.stderr.startswith(b"Error: ") and b"internal" not in done.stderr


STREAMS = [
    (("check", "--no-cache", "m.hlo"), ">&-", 0),
    (("check", "--no-cache", "m.hlo"), "2>&-", 0),
    (("check", "--no-cache", "-"), "<&-", 2),
    (("check", "--no-cache", "m.hlo"), "<&- >&- 2>&-", 0),
    (("check", "--no-cache", "m.hlo"), "> /dev/full", 2),
    (("check", "--no-cache", "wrong.layout"), "> /dev/full", 2),
    (("rewrite", "(d0) -> (d0), domain: d0 in [0, 3]", "(d0) -> (0), domain: d0 in [0, 3]"), "> /dev/full", 2),
    (("--version",), "> /dev/full", 2),
    (("layout", "f32[4]"), "> /dev/full", 2),
    (("layout", "f32[8,128]{1,0:T(8,128)}"), "| true; exit ${PIPESTATUS[0]}", 0),
    (("check", "--no-cache", "wrong.layout"), "| true; exit ${PIPESTATUS[0]}", 1),
]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize(("arguments", "shell", "status"), STREAMS)
def test_standard_streams(arguments: tuple[str, ...], shell: str, status: int, tmp_path: Path) -> None:
    (tmp_path / "m.hlo").write_text(GOOD)
    (tmp_path / "wrong.layout").write_bytes(WRONG)
    done = hloproof(tmp_path, *arguments, shell=shell)
    assert done.returncode == status and b"internal" not in done.stderr, done.stderr


def test_names_of_files_that_are_no_text(tmp_path: Path) -> None:
    name = os.fsdecode(b"\xff a\n.hlo")
    (tmp_path / name).write_text(GOOD)
    broken = os.fsdecode(b"\xfe b.hlo")
    (tmp_path / broken).write_text(GOOD.replace("f32[4] negate", "f32[5] negate"))
    for form in FORMATS:
        for names, status in (((name,), 0), ((name, broken), 2)):
            done = hloproof(tmp_path, "check", "--no-cache", *names, "--format", form, "--output", f"{form}=out")
            assert done.returncode == status and b"internal error" not in done.stderr, done.stderr
            written = (tmp_path / "out").read_text(encoding="utf-8") if form != "svg" else ""
            assert written == done.stdout.decode().replace("\r", "")
    assert hloproof(tmp_path, "check", os.fsdecode(b"\xfe.hlo")).returncode == 2


def test_ids_that_json_cannot_hold_are_refused(tmp_path: Path) -> None:
    requests = [
        b'{"jsonrpc":"2.0","id":%s,"method":"version"}' % i for i in (b"1e400", b"-1e400", MANY.encode(), b"1.5")
    ]
    done = hloproof(tmp_path, "serve", stdin=b"\n".join(requests) + b"\n")
    answers = [json.loads(line, parse_constant=lambda name: pytest.fail(name)) for line in done.stdout.splitlines()]
    assert [a.get("error", {}).get("code") for a in answers] == [-32600, -32600, -32700, None]
    assert answers[3]["id"] == 1.5


# --- files that do not end, or that nobody writes


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "--no-cache", "--kind", "hlo", "/dev/zero"),
        ("check", "--no-cache", "--baseline", "/dev/zero", "m.hlo"),
        ("equiv", "m.hlo", "/dev/zero"),
        ("memory", "m.hlo", "/dev/zero"),
    ],
    ids=lambda a: " ".join(a),
)
def test_a_file_that_does_not_end_is_given_up(arguments: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "m.hlo").write_text(GOOD)
    done = hloproof(tmp_path, *arguments)
    assert done.returncode == 2 and b"/dev/zero holds more than 256 MiB" in done.stdout + done.stderr


def test_a_file_without_end_that_begins_as_text_is_refused_by_its_size(tmp_path: Path) -> None:
    with (tmp_path / "m.hlo").open("wb") as file:
        file.truncate(LARGEST + 1)
    with pytest.raises(BadInput, match="larger than 1024 MiB"):
        read_file(tmp_path / "m.hlo")


def test_a_pipe_that_nobody_writes_ends_with_the_time_of_the_run(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "m.hlo")
    done = hloproof(tmp_path, "check", "--no-cache", "--total-seconds", "0.2", "m.hlo")
    assert done.returncode == 3 and b"the total time ran out" in done.stdout


def test_pipes_in_folders_are_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """What has the name of an input is told, and was passed over; so is a device behind a link."""
    monkeypatch.chdir(tmp_path)
    names = ("before_optimizations.txt", "0001.p.after_a.before_b.txt", "m.hlo", "c.hlo-buffer-assignment.txt")
    for name in (*names, "m.hlo.pb", "M.HLO.GZ", "notes"):
        os.mkfifo(tmp_path / name)
        (tmp_path / "good.hlo").write_text(GOOD)
        for command in ("check --no-cache .", "passes --no-cache .", "memory ."):
            known = command.startswith("check") and name == "notes"
            assert run(command.split()) == (0 if known else 2)
            assert (f"{name}: a pipe, socket or device" in capfd.readouterr().err) == (name != "notes")
        assert run(["check", "--no-cache", ".", "--exclude", name]) == 0
        (tmp_path / name).unlink()
    (tmp_path / "0001.p.after_a.before_b.txt").symlink_to(os.devnull)
    assert run(["check", "--no-cache", "."]) == run(["passes", "--no-cache", "."]) == 2


def test_a_name_of_several_lines_is_told_on_one(tmp_path: Path) -> None:
    for name, text in (("a\n::error file=x::b.hlo", GOOD), ("c\n  0 refuted\x1b[2K.hlo", "HloModule m\n")):
        (tmp_path / name.replace("/", "_")).write_text(text)
    done = hloproof(tmp_path, "check", "--no-cache", ".")
    lines = (done.stdout + done.stderr).decode().split("\n")
    assert done.returncode == 2 and not [line for line in lines if line.lstrip().startswith(("::", "0 refuted"))]
    assert any("a\\n::error" in line for line in lines)


PIPES = (
    *("equiv m.hlo PIPE", "graph PIPE", "run PIPE", "run m.hlo --inputs PIPE", "run m.hlo --memory PIPE"),
    *("memory m.hlo PIPE", "memory PIPE m.hlo", "indexing PIPE", "analyze PIPE", "aliases PIPE", "recheck folder"),
    *(
        "check --no-cache --kind hlo PIPE",
        "check --baseline PIPE m.hlo",
        "check --config PIPE m.hlo",
        "baseline m.hlo --write PIPE",
    ),
    *("check --no-cache m.hlo --output json=PIPE", "equiv m.hlo m.hlo --certificate PIPE", "graph m.hlo --output PIPE"),
    *(
        "layout f32[4] --svg PIPE",
        "check --no-cache --certify PIPE m.hlo",
        "equiv PIPE -",
        "check -",
        "run m.hlo --inputs -",
    ),
)


@pytest.mark.parametrize("command", PIPES)
def test_no_command_waits_without_end_at_a_pipe(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Neither at one that nobody writes into, nor at one that nobody reads from, nor at an idle standard input."""
    (tmp_path / "m.hlo").write_text(GOOD)
    (tmp_path / "folder").mkdir()
    for place in (tmp_path / "PIPE", tmp_path / "folder" / "manifest.jsonl"):
        os.mkfifo(place)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(files, "PATIENCE", 0.1)
    source, sink = os.pipe()
    with os.fdopen(source) as idle, os.fdopen(sink, "w"):
        monkeypatch.setattr(sys, "stdin", idle)
        assert run(command.split()) == 2
    said = "".join(capfd.readouterr())
    assert "a pipe that " in said or "PIPE: file exists" in said, said


def test_a_pipe_whose_writer_is_slow_is_read_to_its_end(tmp_path: Path) -> None:
    (tmp_path / "m.hlo").write_text(GOOD)
    for command in ("equiv <(sleep 0.3; cat m.hlo) m.hlo", "equiv m.hlo - < <(cat m.hlo)", "check --no-cache - <m.hlo"):
        shell = f"{sys.executable} -m hloproof {command}"
        assert subprocess.run(["bash", "-c", shell], cwd=tmp_path, capture_output=True, check=False).returncode == 0


AMOUNTS = (
    *(
        "check m.hlo --total-seconds",
        "check m.hlo --obligation-seconds",
        "check m.hlo --item-seconds",
        "run m.hlo --budget",
    ),
    *("equiv m.hlo m.hlo --budget", "passes . --budget", "recheck . --seconds", "serve --seconds", "fuzz maps --time"),
    *("serve --request-megabytes", "serve --worker-megabytes", "serve --megabytes"),
)


@pytest.mark.parametrize("command", AMOUNTS)
@pytest.mark.parametrize("amount", ["0", "-1", "nan", "inf", "-inf", "1e308", "1e400", MANY, "x", ""])
def test_amounts_that_nothing_can_keep_are_bad_usage(
    command: str, amount: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "m.hlo").write_text(GOOD)
    monkeypatch.chdir(tmp_path)
    assert run([*command.split(), amount]) == 2
    assert "Invalid value for" in capsys.readouterr().err


SETTINGS = (
    *(f"jobs = {MANY}", f"total-seconds = {MANY}", "paths = " + "[" * 100_000, "= 1", "\xff"),
    *("[tool]\nhloproof = 3", "[severity]\n[severity]", "x = 1979-13-45", "index-width = 64.5"),
)


@pytest.mark.parametrize("text", SETTINGS, ids=lambda t: t[:16])
def test_settings_that_are_broken(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "m.hlo").write_text(GOOD)
    (tmp_path / "hloproof.toml").write_bytes(text.encode("latin1"))
    monkeypatch.chdir(tmp_path)
    assert run(["check", "--no-cache", "m.hlo"]) == 2 and "hloproof.toml: " in capsys.readouterr().err


CAMPAIGNS = (
    *(("[", ""), ("{}", ""), ("[" * 100_000, ""), ('{"seed": "x", "chunk_size": 1}', ""), ("\xff", "")),
    *(('{"seed": 1, "chunk_size": -1}', ""), (f'{{"seed": 1, "chunk_size": {MANY}}}', ""), ("3", "")),
    *(('{"seed": 1, "chunk_size": 25}', line) for line in ("[]", "{}", '{"target": "maps"}', "1", '{"target": [1]}')),
    ('{"seed": 1, "chunk_size": 25, "corpus": 1}', ""),
)


@pytest.mark.parametrize(("head", "lines"), CAMPAIGNS, ids=lambda t: t[:16])
@pytest.mark.parametrize("command", ["fuzz --report .", "fuzz maps --examples 1 --state ."])
def test_campaigns_that_are_broken(
    command: str,
    head: str,
    lines: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "campaign.json").write_bytes(head.encode("latin1"))
    (tmp_path / "chunks.jsonl").write_text(lines + "\n")
    monkeypatch.chdir(tmp_path)
    assert run(command.split()) == 2 and "internal" not in capsys.readouterr().err


@pytest.mark.parametrize("value", ["nan", "inf", "1e308", "-1.0", "true"])
def test_settings_hold_amounts_that_can_be_kept(
    value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "m.hlo").write_text(GOOD)
    (tmp_path / "hloproof.toml").write_text(f"total-seconds = {value}\n")
    monkeypatch.chdir(tmp_path)
    assert run(["check", "--no-cache", "m.hlo"]) == 2 and "a positive number, at most" in capsys.readouterr().err


PLACES = (
    *("check --no-cache --certify m.hlo m.hlo", "check --no-cache --certify /proc/x m.hlo", "check LONG.hlo"),
    *("equiv m.hlo m.hlo --certificate .", "equiv m.hlo m.hlo --certificate /dev/full", "equiv LONG m.hlo"),
    *("passes --keep m.hlo -- true", "passes --keep /proc/x -- true", "fuzz maps --examples 1 --state m.hlo/x"),
    *("layout f32[4] --svg /dev/full", "graph m.hlo --output m.hlo/x", "check --no-cache m.hlo --output json=LONG"),
)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("command", PLACES)
def test_places_that_cannot_be_read_or_written_are_told(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "m.hlo").write_text(GOOD)
    monkeypatch.chdir(tmp_path)
    assert run(command.replace("LONG", "a" * 300).split()) == 2
    assert "internal" not in capsys.readouterr().err
    assert (tmp_path / "m.hlo").read_text() == GOOD


@pytest.mark.parametrize("size", [0, 1, 65_535, 1 << 20, (1 << 20) + 1, 3_000_000])
def test_packed_files_are_unpacked_whole(size: int) -> None:
    for data in (b"ab\n" * (size // 3), random.Random(size).randbytes(size)):
        packed = gzip.compress(data)
        assert sources.unpacked(packed, "a") == data
        with pytest.raises(BadInput, match="ends too early"):
            sources.unpacked(packed[:-1], "a")


def test_a_bomb_is_counted_before_it_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "LARGEST", 1 << 25)
    bomb = gzip.compress(b"\n" * ((1 << 25) + 1))
    tracemalloc.start()
    try:
        with pytest.raises(BadInput, match="unpacks to more than 32 MiB"):
            sources.unpacked(bomb, "a")
        assert tracemalloc.get_traced_memory()[1] < 1 << 23
    finally:
        tracemalloc.stop()
