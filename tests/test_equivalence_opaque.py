"""Of an operation of which nothing is known all that is written at it counts, and all that it gives."""

from __future__ import annotations

import pytest
from red_pairs import one, proved, unproved

GIVES = "(f32[4], s32[4])"


def shuffled(written: str = "", gives: str = GIVES) -> str:
    return one("f32[4]", f"s = {gives} shuffle(p){written}", "ROOT r = f32[4] get-tuple-element(s), index=0")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (shuffled(", channel_id=1"), shuffled(", channel_id=2")),
        (shuffled(", schedule=SCHEDULE_EARLIEST"), shuffled()),
        (shuffled(", output_to_operand_aliasing={{0}: (0, {})}"), shuffled()),
        (shuffled(", sharding={replicated}"), shuffled(", sharding={maximal device=0}")),
        (shuffled(", replica_groups={{0,1}}"), shuffled(", replica_groups={{1,0}}")),
        (shuffled(', backend_config="a"'), shuffled(', backend_config="b"')),
        (shuffled(', frontend_attributes={a="1"}'), shuffled(', frontend_attributes={a="2"}')),
        (shuffled(", result_accuracy={mode=highest}"), shuffled()),
        (shuffled(), shuffled(gives="(f32[4], s32[8])")),
    ],
)
def test_what_is_written_at_it_counts(before: str, after: str) -> None:
    unproved(before, after, "rounding")


def test_notes_of_who_wrote_it_do_not() -> None:
    proved(shuffled(", seed=1"), shuffled(', seed=1, metadata={op_name="x"}'), "exact")
