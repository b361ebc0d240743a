"""The claim collective-deadlock beside programs of three devices that are run for everything they may be given."""

from __future__ import annotations

import pytest
from deadlock_programs import choices, made, printed, waits_for_ever

from hloproof.claims.asynchronous import judge
from hloproof.models.hlo.parser import parse_module


def _verdict(text: str) -> str:
    found = [j.found for j in judge(parse_module(text), lambda c: c == "collective-deadlock", lambda c: False)]
    said = {f.verdict.value for f in found}
    if "refuted" in said:
        return "refuted" if any("waits for ever" in (f.counterexample or "") for f in found) else "unpaired"
    return "proved" if said == {"proved"} else "unknown"


def _is_wrong(seed: int) -> tuple[str, bool]:
    """The verdict, and whether a run says otherwise: a proof holds where what is sent goes to who began first, and
    whether what flies runs where it begins or beside the rest, a refutation wherever it goes."""
    program, second = made(seed), frozenset({1, 4, 5, 7}) if seed % 2 else frozenset[int]()
    said = _verdict(printed(program, are_partitions=seed % 3 == 0, second=second))
    if said not in ("proved", "refuted"):
        return said, False
    ways = (False, True) if said == "proved" else (False,)
    runs = ((c, beside) for c in choices(program) for beside in ways)
    stuck = any(waits_for_ever(program, c, said == "proved", seed, second, beside) for c, beside in runs)
    return said, stuck == (said == "proved")


@pytest.mark.parametrize("first", range(0, 400, 100))
def test_verdicts_are_those_of_runs(first: int) -> None:
    found = {seed: _is_wrong(seed) for seed in range(first, first + 100)}
    assert not [seed for seed, (_, is_wrong) in found.items() if is_wrong]
    assert {"proved", "refuted", "unknown"} <= {said for said, _ in found.values()}
