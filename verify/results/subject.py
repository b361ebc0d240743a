"""Whose work a claim is about: what the user brought, or this tool's reading of it."""

from __future__ import annotations

from collections import Counter
from typing import Final

from hloproof.results.results import Report
from hloproof.results.verdict import ClaimResult, Verdict

READING: Final = frozenset(
    {"in-bounds", "definition", "coverage", "converse", "partition", "bijective", "index-range", "dedup", "simplify"}
)
"""Claims of instructions about the indexing maps that this tool makes of them. All others are about what was given:
shapes and layouts, chains and hazards, aliases, memory plans, rules, and maps that were claimed."""


def about_reading(r: ClaimResult) -> bool:
    """Whether a record is about this tool's reading of a module, not about the module."""
    return r.kind == "instruction" and r.claim in READING


def not_looked_at(r: ClaimResult) -> bool:
    """Whether a record says that an input, or a part of one, was not read to its end: there is no claim that could be
    allowed to be unknown, or be known from before."""
    return r.claim == "input"


def reading_counts(report: Report) -> Counter[Verdict]:
    """How many claims about this tool's reading got which verdict."""
    out: Counter[Verdict] = Counter()
    for f in report.files:
        for m in f.modules:
            for i in m.instructions:
                out.update(c.verdict for c in i.claims() if c.claim in READING)
    return out
