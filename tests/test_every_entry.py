"""Each thing that lies in a folder is judged, known to be no input, or told: a table of entries that commands walk.

And each command that judges ends with the status that one function says."""

from __future__ import annotations

import ast
import gzip
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest
from memory_cases import CHAIN, CHAIN_PLAN
from small_modules import ADD, BAD, ONE

import hloproof
from hloproof.cli import run
from hloproof.fuzz import campaign
from hloproof.fuzz.mutation import mutants
from hloproof.fuzz.state import State
from hloproof.library.jax_programs import validate_dumps
from hloproof.pipeline.folders import BESIDE, entries
from hloproof.pipeline.sources import SUFFIXES
from hloproof.results.results import exit_status
from hloproof.results.verdict import Exit, Verdict

ZSTD = b"\x28\xb5\x2f\xfd rest"


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working folder and a cache of its own for every test."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def _link(to: str) -> Callable[[Path], None]:
    return lambda place: place.symlink_to(to)


def _deep(place: Path) -> None:
    place.mkdir()
    (place / "b.hlo").write_text(BAD)


def _hidden(place: Path) -> None:
    place.mkdir()
    (place / "HEAD").write_text("")


Written = str | bytes | Callable[[Path], None]
READ, JUDGED, TOLD, KNOWN = "cannot be read", "judged", "told", "known"
UNNAMED, COMPARED = "of no dump", "compared with what is no module"

ENTRIES: Final[Mapping[str, tuple[Written, str, str, str]]] = {
    # by name: what is written, and what becomes of it in check, passes and memory
    "b.hlo": (BAD, JUDGED, UNNAMED, KNOWN),
    "b.HLO": (BAD, JUDGED, UNNAMED, KNOWN),
    "b.hlo.gz": (gzip.compress(BAD.encode(), mtime=0), JUDGED, UNNAMED, KNOWN),
    "b.hlo.gz\n": (b"", TOLD, TOLD, TOLD),
    "b.txt": (BAD, JUDGED, UNNAMED, KNOWN),
    ".b.hlo": (BAD, JUDGED, UNNAMED, KNOWN),
    "c.hlo": (_deep, JUDGED, UNNAMED, KNOWN),
    "d": (_deep, JUDGED, UNNAMED, KNOWN),
    ".d": (_deep, JUDGED, UNNAMED, KNOWN),
    "l": (_link("../elsewhere"), JUDGED, UNNAMED, KNOWN),
    "l.hlo": (_link("../elsewhere/b.hlo"), JUDGED, UNNAMED, KNOWN),
    "back": (_link("."), KNOWN, KNOWN, KNOWN),
    "loop.hlo": (_link("loop.hlo"), READ, UNNAMED, KNOWN),
    "gone.hlo": (_link("nowhere"), READ, UNNAMED, KNOWN),
    "gone.txt": (_link("nowhere"), READ, UNNAMED, KNOWN),
    "gone.pb": (_link("nowhere"), TOLD, TOLD, TOLD),
    "gone.hlo.pb": (_link("nowhere"), READ, UNNAMED, KNOWN),
    "gone": (_link("nowhere"), TOLD, TOLD, TOLD),
    f"{'n' * 250}.hlo": (BAD, JUDGED, UNNAMED, KNOWN),  # with no room for the name of a plan
    ".git": (_hidden, KNOWN, KNOWN, KNOWN),
    ".#b.hlo": (_link("who@where.123"), KNOWN, KNOWN, KNOWN),
    "null.hlo": (_link(os.devnull), READ, READ, READ),
    "pipe.hlo": (os.mkfifo, READ, READ, READ),
    "pipe.pb": (os.mkfifo, READ, READ, READ),
    "pipe": (os.mkfifo, TOLD, TOLD, TOLD),
    "a.zst": (ZSTD, TOLD, TOLD, TOLD),
    "a.hlo.zst": (ZSTD, READ, UNNAMED, KNOWN),
    "a.hlo.pb": (b"\xff", READ, UNNAMED, KNOWN),
    "a.pb": (b"\xff", TOLD, TOLD, TOLD),
    "topology.pb": (b"\xff", KNOWN, KNOWN, KNOWN),
    "one-memory-usage-report.pb": (b"\xff", KNOWN, KNOWN, KNOWN),
    "one-memory-usage-report.txt": ("", KNOWN, KNOWN, KNOWN),
    "other-live-range.txt": (BAD, JUDGED, UNNAMED, KNOWN),
    "values.txt": ("\nTotal bytes used: 8", KNOWN, KNOWN, KNOWN),
    "one.pb": (b"\xff", KNOWN, TOLD, KNOWN),  # beside one.txt, where it is
    "one.hlo.pb": (b"\xff", KNOWN, UNNAMED, KNOWN),
    "a.hlo~": (BAD, TOLD, TOLD, TOLD),
    "a.hlo.bak": (BAD, TOLD, TOLD, TOLD),
    "a": (BAD, TOLD, TOLD, TOLD),
    "empty.hlo": ("", READ, UNNAMED, KNOWN),
    "empty.txt": ("", TOLD, TOLD, TOLD),
    "notes.txt": ("so", TOLD, TOLD, TOLD),
    "notes.md": ("so", KNOWN, KNOWN, KNOWN),
    "a.ll": ("; ModuleID", KNOWN, KNOWN, KNOWN),
    "a.txt": ("; ModuleID", KNOWN, KNOWN, KNOWN),
    "a.rules": ("rule a\n  x + 1 => x\n", JUDGED, KNOWN, KNOWN),
    "a.RULES": ("rule a\n  x + 1 => x\n", JUDGED, KNOWN, KNOWN),
    "a.pairs": (f"pair a\n  expect refuted\n{ADD}=>\n{ADD}", JUDGED, KNOWN, KNOWN),
    "m.after_optimizations.txt": ("", READ, COMPARED, KNOWN),
    "m.0003.p.after_x3.txt": (_link(os.devnull), READ, READ, READ),
    "m.0003.p.after_x3.txt.gz": (b"so", TOLD, COMPARED, TOLD),  # a dump by its name, whatever is in it
    "m.0003.p.after_x3.txt.zst": (ZSTD, READ, READ, KNOWN),
    "m.0003.p.after_x3.hlo": (_link("nowhere"), READ, READ, KNOWN),
    "m.0003.p.after_x3.TXT": (BAD, JUDGED, UNNAMED, KNOWN),
    "one-buffer-assignment.txt": ("no plan", READ, KNOWN, READ),
    "one-buffer-assignment.txt.gz": (b"", READ, KNOWN, READ),
    "one-buffer-assignment.txt.zst": (ZSTD, READ, KNOWN, READ),
    "one-buffer-assignment.TXT": ("no plan", TOLD, KNOWN, READ),
    "two-buffer-assignment.txt": ("no plan", TOLD, KNOWN, READ),
    "two-buffer-assignment.txt.gz": (b"", TOLD, KNOWN, READ),
    "plan.txt": ("BufferAssignment:\n", TOLD, KNOWN, TOLD),
    "chain-buffer-assignment.txt.gz": (b"", TOLD, KNOWN, READ),  # a second one of that module
}


DUMPS: Final = {"m.0001.p.after_x1.txt": ADD, "m.0002.p.after_x2.txt": f"{ADD} "}
PLANS: Final = {"one.txt": ONE, "chain.txt": CHAIN, "chain-buffer-assignment.txt": CHAIN_PLAN}

COMMANDS: Final = {
    "check": (1, {**DUMPS, **PLANS}, "check d --no-cache -j 1 --only async --only plan --only rule --only pair"),
    "passes": (2, DUMPS, "passes d --no-cache -j 1"),
    "memory": (3, PLANS, "memory d -j 1"),
}
"""By command: its column in the table of entries, what lies in the folder besides, and what is asked."""

STATUS: Final = {JUDGED: 1, READ: 2, UNNAMED: 3, COMPARED: 3}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", ENTRIES)
def test_each_entry_of_a_folder_is_judged_known_or_told(
    name: str, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The folder without it ends with status 0."""
    column, besides, asked = COMMANDS[command]
    written, *uses = ENTRIES[name]
    for folder in ("d", "elsewhere"):
        Path(folder).mkdir()
    for place, text in besides.items():
        Path("d", place).write_text(text)
    Path("elsewhere/b.hlo").write_text(BAD)
    place_of_it = Path("d", name)
    if callable(written):
        written(place_of_it)
    else:
        place_of_it.write_bytes(written if isinstance(written, bytes) else written.encode())
    status, use = run(asked.split()), uses[column - 1]
    assert (status, "Passed over" in capsys.readouterr().err) == (STATUS.get(use, 0), use == TOLD)


def test_what_is_passed_over_is_in_the_report(capsys: pytest.CaptureFixture[str]) -> None:
    """A few are named, and all of them in the report; none where nobody asked for more than findings."""
    Path("d").mkdir()
    Path("d/m.hlo").write_text(ONE)
    names = [f"d/{n}.\nodd" for n in range(9)]
    for name in names:
        Path(name).write_text(BAD)
    assert run(["check", "d", "--format", "json"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["passed_over"] == names and said.err.count("\n") == 1 and "and 4 more" in said.err
    assert hloproof.check("d").report.passed_over == names
    assert run(["baseline", "d", "--write", "b.json"]) == 0 and "Passed over" in capsys.readouterr().err
    assert run(["check", "d", "-q", "--exclude", "*[4-8].*"]) == 0 and not capsys.readouterr().err
    assert run(["check", "d/m.hlo", "--format", "json"]) == 0 and "passed_over" not in capsys.readouterr().out


def test_what_a_library_is_given_is_told_too() -> None:
    Path("d").mkdir()
    for name, text in DUMPS.items():
        Path("d", name).write_text(text)
    assert not validate_dumps("d").note
    Path("d/odd").write_text("")
    assert "Passed over" in str(validate_dumps("d"))


def test_no_suffix_is_that_of_an_input_and_of_none() -> None:
    assert not BESIDE & SUFFIXES.keys()


def test_each_thing_in_a_folder_is_an_entry_once() -> None:
    Path("d/in").mkdir(parents=True)
    for name in ("a.hlo", "in/a.hlo", "in/a.txt", "a.pb", "b", "in/.c"):
        Path("d", name).write_text("")
    found = " ".join(e.place.relative_to("d").as_posix() for e in entries(Path("d")))
    assert found == "a.hlo a.pb b in/.c in/a.hlo in/a.txt"


VERDICTS = "proved refuted unknown vacuous trivial internal".split()


@pytest.mark.parametrize("verdict", VERDICTS)
def test_each_command_ends_with_the_status_of_its_verdicts(verdict: str) -> None:
    order = [Exit.INTERRUPTED, Exit.INTERNAL, Exit.BAD_INPUT, Exit.REFUTED, Exit.UNKNOWN, Exit.OK]
    alone = exit_status({Verdict(verdict)})
    for other in VERDICTS:
        for bad in (False, True):
            found = min(alone, exit_status({Verdict(other)}), exit_status((), bad), key=order.index)
            assert exit_status(map(Verdict, (verdict, other)), bad) is found
            assert exit_status({Verdict(verdict)}, bad, interrupted=True) is Exit.INTERRUPTED


SAYS_ITSELF: Final = {
    "fuzz": "what it tries are no verdicts",
    "run": "what is evaluated is no claim",
    "indexing": "it prints, and does not judge",
    "limits": "the time of a command that does not judge is over",
}


def test_no_command_has_a_second_way_from_verdicts_to_a_status() -> None:
    """Each had its own, and each forgot another verdict."""
    folder = Path(str(hloproof.__file__)).parent / "commands"
    for file in folder.glob("*.py"):
        tree = ast.parse(file.read_text("utf-8"))
        own = {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute) and getattr(n.value, "id", "") == "Exit"}
        assert file.stem in SAYS_ITSELF or not own - {"OK"}, f"{file.name} names {own}"


@pytest.mark.parametrize(("tried", "status"), [(0, Exit.UNKNOWN), (3, Exit.OK)])
def test_a_campaign_in_which_nothing_was_tried_is_no_success(
    tried: int, status: Exit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time was over before the first example: all of nothing held, and the score was 100%."""

    def ran(state: State, *_: object) -> list[object]:
        state.examples["maps"] = tried
        return []

    def scored(chosen: Sequence[Any], *given: Any) -> None:
        given[-1].caught += [(site, "x", 0.0) for site in chosen[:tried]]

    monkeypatch.setattr(campaign, "run", ran)
    monkeypatch.setattr(mutants, "explored", lambda *_, **__: SimpleNamespace(failing=[]))
    monkeypatch.setattr(mutants, "run", scored)
    assert run(["fuzz", "maps", "--state", "c", "--time", "1", "-j", "1"]) == status
    assert run(["fuzz", "--mutants", "--sample", "3", "--time", "1", "-j", "1"]) == status


@pytest.mark.parametrize(
    ("failing", "where", "status"),
    [
        ([], "caught", Exit.OK),
        (["maps: KeyError"], "caught", Exit.REFUTED),  # every example that fails has noticed every error
        ([], "impossible", Exit.UNKNOWN),
        ([], "survived", Exit.REFUTED),
    ],
)
def test_planted_errors_are_noticed_by_what_holds_without_them(
    failing: list[str], where: str, status: Exit, monkeypatch: pytest.MonkeyPatch
) -> None:
    def scored(chosen: Sequence[Any], *given: Any) -> None:
        getattr(given[-1], where).extend((site, "x", 0.0) if where == "caught" else site for site in chosen)

    monkeypatch.setattr(mutants, "explored", lambda *_, **__: SimpleNamespace(failing=failing))
    monkeypatch.setattr(mutants, "run", scored)
    assert run(["fuzz", "--mutants", "--sample", "3", "-j", "1"]) == status
