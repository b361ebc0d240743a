"""Writes docs/tensor_rules_table.md: every tensor rule of the project with its verdict."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import process_time

from hloproof.models.tensor_rules.rule import TensorRule
from hloproof.models.tensor_rules.text import parse_tensor_rules
from hloproof.tensor_rules.judge import judged
from hloproof.tensor_rules.prove import RuleProof

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "docs" / "tensor_rules_table.md"


def rows(timed: bool = True) -> Iterator[str]:
    """The lines of the table; without times where they are to be compared."""
    for path in sorted((ROOT / "specs" / "tensor_rules").glob("*.trules")):
        yield f"\n## {path.stem}\n"
        yield "| rule | verdict | tier | conditions | ranks | source |" + (" ms |" if timed else "")
        yield "|---|---|---|---|---|---|" + ("---|" if timed else "")
        for rule in parse_tensor_rules(path.read_text(encoding="utf-8"), path.name):
            begun = process_time()
            found, proof = judged(rule)
            ms = (process_time() - begun) * 1000
            verdict = "refuted" if rule.expect == "refuted" and found.verdict == "proved" else str(found.verdict)
            ranks = f"{proof.ranks[0]} to {proof.ranks[-1]}" if len(proof.ranks) > 1 else ""
            cells = [
                rule.name,
                verdict,
                proof.tier if proof.proved else "",
                "; ".join(_conditions(rule, proof)),
                ranks,
                rule.source,
            ]
            yield f"| {' | '.join(cells)} |" + (f" {ms:.0f} |" if timed else "")


def _conditions(rule: TensorRule, proof: RuleProof) -> Iterator[str]:
    for c in rule.conditions:
        yield c.text + (" (not needed)" if c.text in proof.not_needed else "")
    yield from (f"of {kind}" for kind in rule.kinds)
    yield from ["of some elements"] * bool(rule.assumed)


def main() -> None:
    TABLE.write_text(
        "# The tensor rules of the project\n\nWritten by `tests/tensor_rules_table.py`; times are of one processor.\n"
        + "\n".join(rows())
        + "\n"
    )


if __name__ == "__main__":
    main()
