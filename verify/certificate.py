"""Certificates: an obligation as SMT-LIB 2 text that says `unsat` when it holds, and proving them again from the files.

A manifest holds the digest of every file, so that a changed one is found.
"""

from __future__ import annotations

import hashlib
import json
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from verify.encode_smtlib import to_smtlib
from verify.normal_form import key
from verify.obligation import Obligation, Outcome

MANIFEST: Final = "manifest.jsonl"

State = Literal["proved", "not proved", "tampered", "missing", "not listed"]


@dataclass(frozen=True)
class Rechecked:
    """What became of one certificate: `detail` is what the solver said, or what is wrong with the file."""

    name: str
    state: State
    detail: str = ""


def write(obligation: Obligation, outcome: Outcome, folder: Path) -> Path:
    """Write the SMT-LIB text of the obligation, a proof by cvc5 where it is installed, and their line of the manifest.

    Returns the path of the text. The same obligation is written once.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{key(obligation)}.smt2"
    if path.exists():
        return path
    text = to_smtlib(obligation)
    path.write_text(text, encoding="utf-8")
    line = {"file": path.name, "sha256": _digest(text), "label": obligation.label, "engines": list(outcome.engines)}
    with (folder / MANIFEST).open("a", encoding="utf-8") as manifest:
        manifest.write(json.dumps(line) + "\n")
    return path


def recheck(folder: Path, solver: str | None = None, seconds: float = 60.0) -> Iterator[Rechecked]:
    """Prove every certificate of the folder again, from the files alone.

    `solver` is a command that is given the path of an SMT-LIB file and prints `unsat`; None means cvc5 as installed.
    Raises FileNotFoundError when the folder has no manifest, and ImportError when cvc5 is asked for and absent.
    """
    listed: dict[str, str] = {}
    for line in (folder / MANIFEST).read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        listed[entry["file"]] = entry["sha256"]
    for name, digest in listed.items():
        path = folder / name
        if not path.is_file():
            yield Rechecked(name, "missing", "the manifest names it")
        elif _digest(path.read_text(encoding="utf-8")) != digest:
            yield Rechecked(name, "tampered", "its SHA-256 is not the one in the manifest")
        else:
            said = _ask_command(solver, path, seconds) if solver else _ask_cvc5(path, seconds)
            yield Rechecked(name, "proved" if said == "unsat" else "not proved", said)
    for path in sorted(folder.glob("*.smt2")):
        if path.name not in listed:
            yield Rechecked(path.name, "not listed", "the manifest does not name it")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _ask_command(command: str, path: Path, seconds: float) -> str:
    try:
        done = subprocess.run([*shlex.split(command), str(path)], capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return f"no answer within {seconds:g} seconds"
    except OSError as error:
        return f"{command}: {error.strerror}"
    lines = done.stdout.split()
    return lines[0] if lines else f"no output (status {done.returncode}) {done.stderr.strip()[:200]}"


def _ask_cvc5(path: Path, seconds: float) -> str:
    from verify.cvc5_engine import decide

    said, _ = decide(path.read_text(encoding="utf-8"), milliseconds=int(seconds * 1000))
    return said
