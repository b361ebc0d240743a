"""A sample of the errors that can be planted in the map builders; `planted_errors.py` tries them all."""

from __future__ import annotations

from random import Random

import pytest
from planted_errors import BUILDERS, Mutant, judge, mutants, operations, originals, verdict

ALL = mutants()
SAMPLE = [m for name in BUILDERS for m in Random(7).sample([x for x in ALL if x.module == name], 6)]


def test_nothing_is_refuted_without_a_planted_error() -> None:
    wrong = {op.opcode: found for op in operations() if (found := verdict(op))[0] not in ("proved", "unknown")}
    assert not wrong


@pytest.mark.parametrize("mutant", SAMPLE, ids=str)
def test_a_planted_error_is_refuted(mutant: Mutant) -> None:
    result, why = judge(mutant)
    assert result in ("refuted", "same", "crashed", "withheld"), (str(mutant), result, why)


def test_the_builders_come_back_unharmed() -> None:
    from planted_errors import answers

    judge(SAMPLE[0])
    assert tuple(answers(op) for op in operations()) == originals()


@pytest.mark.parametrize(
    "change", ["Add becomes Sub", "Sub becomes Add", "becomes 1", "1 becomes 2", "one index lower", "branches swapped"]
)
def test_changes_of_every_kind_are_refuted(change: str) -> None:
    """Not all are harmless or caught by the builder itself: one of a few is refuted, in words that name elements."""
    tried = [m for m in ALL if change in m.change]
    for mutant in Random(3).sample(tried, min(12, len(tried))):
        result, why = judge(mutant)
        if result == "refuted" and ("output" in why or "operand" in why):
            return
    pytest.fail(f"none of twelve changes of the kind {change!r} was refuted")
