"""Certificates: an obligation as SMT-LIB 2 text that says `unsat` when it holds, and proving them again from the files.

A manifest holds the digest of every file, so that a changed one is found.
"""

from __future__ import annotations

import hashlib
import json
import shlex
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from hloproof.engines.smtlib.encode import to_smtlib
from hloproof.logic.normal_form import key
from hloproof.logic.obligation import Obligation, Outcome

MANIFEST: Final = "manifest.jsonl"
_TEXT: Final = ".smt2"

PROOF_RLIMIT: Final = 200_000
"""cvc5's resource limit for a proof; without one the text stands alone."""

_State = Literal["proved", "not proved", "tampered", "missing", "not listed"]


@dataclass(frozen=True)
class Rechecked:
    """What became of one certificate: `detail` is what the solver said, or what is wrong with the file."""

    name: str
    state: _State
    detail: str = ""


def write(obligation: Obligation, outcome: Outcome, folder: Path) -> Path:
    """Write the SMT-LIB text of the obligation, a proof by cvc5 where it is installed and finds one, and their line of
    the manifest. Returns the path of the text. The same obligation is written once.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{key(obligation)}{_TEXT}"
    if path.exists():
        return path
    text = to_smtlib(obligation)
    path.write_text(text, encoding="utf-8")
    files = {path.name: text}
    proof = _proof(text)
    if proof:
        path.with_suffix(".proof").write_text(proof, encoding="utf-8")
        files[path.with_suffix(".proof").name] = proof
    enter(folder, files, obligation.label, outcome.engines)
    return path


def enter(folder: Path, files: Mapping[str, str], label: str, engines: Sequence[str]) -> None:
    """Name files in the manifest of a folder, by their texts; the first is what the line is about."""
    digests = {name: _digest(text) for name, text in files.items()}
    line = {"file": next(iter(files)), "sha256": digests, "label": label, "engines": list(engines)}
    with (folder / MANIFEST).open("a", encoding="utf-8") as manifest:
        manifest.write(json.dumps(line) + "\n")


def _proof(text: str) -> str:
    """cvc5's proof (in its Cooperating Proof Calculus) that the text is unsatisfiable; '' where there is none."""
    from hloproof.engines.smtlib.cvc5 import decide, is_installed

    if not is_installed():
        return ""
    said, proof = decide(f"(set-option :produce-proofs true)\n{text}(get-proof)\n", PROOF_RLIMIT)
    return proof + "\n" if said == "unsat" else ""


def recheck(
    folder: Path, solver: str | None = None, seconds: float = 60.0, read: Callable[[Path], bytes] = Path.read_bytes
) -> Iterator[Rechecked]:
    """Prove every certificate of the folder again, from the files alone. Of one that is no SMT-LIB text it is only told
    where it is not the one that the manifest names: it is for whoever reads it.

    `solver` is a command that is given the path of an SMT-LIB file and prints `unsat`; None means cvc5 as installed.
    `read` is how a file of the folder is read.
    Raises FileNotFoundError when the folder has no manifest, and ImportError when cvc5 is asked for and absent.
    """
    listed: set[str] = set()
    for number, line in enumerate(read(folder / MANIFEST).decode().splitlines(), 1):
        name, digests = _listed(line, f"{folder / MANIFEST}:{number}")
        listed.update(digests)
        found = _rechecked(folder, name, digests, solver, seconds, read)
        if found is not None:
            yield found
    for path in sorted(p for end in (_TEXT, ".proof", ".trule.json") for p in folder.glob(f"*{end}")):
        if path.name not in listed:
            yield Rechecked(path.name, "not listed", "the manifest does not name it")


def _listed(line: str, place: str) -> tuple[str, dict[str, str]]:
    """The file that a line of the manifest is about, and the digests of its parts. Raises ValueError."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{place}: not JSON: {error}") from error
    name = entry.get("file") if isinstance(entry, dict) else None
    digests = entry.get("sha256") if isinstance(entry, dict) else None
    if not isinstance(name, str) or not isinstance(digests, dict) or name not in digests:
        raise ValueError(f"{place}: an entry of a manifest has file= and its digests in sha256=")
    if any(part != name and part.endswith(_TEXT) for part in digests):
        raise ValueError(f"{place}: a certificate has an entry of its own")
    for part, digest in digests.items():
        if not isinstance(digest, str) or Path(part).name != part or "\0" in part:
            raise ValueError(f"{place}: {part!r} names no file of this folder, or its digest is no text")
    return name, digests


def _rechecked(
    folder: Path, name: str, digests: dict[str, str], solver: str | None, seconds: float, read: Callable[[Path], bytes]
) -> Rechecked | None:
    texts: dict[str, str] = {}
    for part, digest in digests.items():
        path = folder / part
        if not path.is_file():
            return Rechecked(part, "missing", "the manifest names it")
        texts[part] = read(path).decode()
        if _digest(texts[part]) != digest:
            return Rechecked(part, "tampered", "its SHA-256 is not the one in the manifest")
    if not name.endswith(_TEXT):
        return None
    said = _ask_command(solver, folder / name, seconds) if solver else _ask_cvc5(texts[name], seconds)
    return Rechecked(name, "proved" if said == "unsat" else "not proved", said)


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


def _ask_cvc5(text: str, seconds: float) -> str:
    from hloproof.engines.smtlib.cvc5 import decide

    said, _ = decide(text, milliseconds=int(seconds * 1000))
    return said
