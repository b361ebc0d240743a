"""Writes docs/claims.md: `python tests/claims_page.py`. Claims come from the catalogue; what stands before the first
claim, with blocks that a test runs, is kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from hloproof.claims.catalogue import CATALOGUE

PAGE: Final = Path(__file__).parents[1] / "docs" / "claims.md"
HEAD: Final = "## All claims\n"


def lines() -> Iterator[str]:
    """The page from its generated part on."""
    yield HEAD
    for about in dict.fromkeys(e.about for e in CATALOGUE.values()):
        for e in (e for e in CATALOGUE.values() if e.about == about):
            asked = " Checked when it is named with `--only`." if e.on_request else ""
            yield f"### {e.name}\n\n*Owed by: {e.about}.*{asked} {e.sentence}\n\n{e.meaning}\n\n"
            yield f"- Holds: {e.holds}\n- Fails: {e.fails}\n\n"


def page(now: str) -> str:
    """The page with its generated part written anew."""
    return (now.partition(HEAD)[0] + "\n".join("".join(lines()).splitlines())).rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
