"""What a check is asked to do."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from hloproof.results.verdict import family

LONGEST: Final = 1e6
"""Seconds that any limit may have: eleven days, which clocks and systems can wait."""


@dataclass(frozen=True)
class Selection:
    """Which claims and which instructions. A name in `only` or `skip` is a claim or a family.

    Empty `only` means every claim that is not left to be named; `skip` is taken off after.
    """

    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    instructions: tuple[str, ...] = ()

    def takes_claim(self, claim: str, on_request: bool = False) -> bool:
        """Whether the claim is wanted. One that is `on_request` is wanted only where `only` names the claim itself."""
        if claim in self.skip or family(claim) in self.skip:
            return False
        if on_request:
            return claim in self.only
        return not self.only or claim in self.only or family(claim) in self.only

    def takes_all(self, claims: Collection[str]) -> bool:
        """Whether these claims are wanted of all instructions; without any, whether all claims are."""
        if self.instructions or (not claims and (self.only or self.skip)):
            return False
        return all(map(self.takes_claim, claims))

    def takes_instruction(self, name: str) -> bool:
        return not self.instructions or name in self.instructions


@dataclass(frozen=True)
class Options:
    """How to check. Seconds are wall time; None means no limit. `jobs` 0 means one per core."""

    selection: Selection = field(default_factory=Selection)
    jobs: int = 0
    cross: bool = False
    obligation_seconds: float = 10.0
    item_seconds: float = 120.0
    """For one rule, map or layout, with all that it asks of the engines."""
    item_megabytes: int = 2048
    total_seconds: float | None = None
    cache: Path | None = None
    """The proof cache; None means no cache."""
    certify: Path | None = None
    fail_fast: bool = False
    layout_sensitive: bool = False
    after_copy_insertion: bool = False
    index_width: int = 64
    kind: str | None = None
    """Takes every named file as this kind, whatever its suffix."""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    """Patterns of the files inside folders that are taken, or passed over."""
