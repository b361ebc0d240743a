"""Writes docs/what_has_been_found.md from specs/refuted/ledger.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
LEDGER: Final = ROOT / "specs" / "refuted" / "ledger.toml"
PAGE: Final = ROOT / "docs" / "what_has_been_found.md"
EFFECTS: Final[Mapping[str, str]] = {
    "wrong result": "Programs that compute something else than they say.",
    "crash": "The process ends.",
    "refusal": "A valid program is not compiled: a pass breaks the module, or fails on it.",
    "wrong analysis": "An analysis says something else than holds; what is built on it may do anything.",
    "wrong document": "The document and the code, or the document and itself, do not agree.",
}
"""What a defect does to a program, worst first."""

Defect = Mapping[str, str]


def defects() -> list[Defect]:
    found: list[Defect] = tomllib.loads(LEDGER.read_text(encoding="utf-8"))["defect"]
    return found


def lines() -> Iterator[str]:
    every = defects()
    run = [d for d in every if d["how"] == "run"]
    yield "# What has been found"
    yield ""
    yield "For compiler engineers. Written by `tests/ledger_page.py` from `specs/refuted/ledger.toml`; every entry is"
    yield "shown again by one command. Entries that were *run* need the released package alone (`pip install jax`), not"
    yield "this project; the others were *read*, in code, in a test or in a document, and are refuted by"
    yield "`hloproof check` as they stand there."
    yield ""
    yield f"{len(every)} defects; {len(run)} of them run on a released jaxlib."
    yield ""
    yield "| effect | run | read |"
    yield "|---|---|---|"
    for effect in EFFECTS:
        own = [d for d in every if d["effect"] == effect]
        yield f"| {effect} | {sum(d in run for d in own)} | {sum(d not in run for d in own)} |"
    for effect, meaning in EFFECTS.items():
        yield from ("", f"## {effect.capitalize()}", "", meaning)
        for d in every:
            if d["effect"] == effect:
                yield from _entry(d)


def _entry(d: Defect) -> Iterator[str]:
    yield from ("", f"### {d['name']}", "")
    yield f"- Claimed: {d['claim']}"
    yield f"- Counterexample: {d['counterexample']}"
    yield f"- Source: {d['source']} ({d['version']}); {d['how']}."
    yield f"- See it: `{d['replay']}`" + (f"; upstream: {d['see']}." if "see" in d else "")
    yield f"- Status: {d['status']}."


def main() -> None:
    PAGE.write_text("\n".join(lines()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
