"""The campaign of mutated inputs finds what it should, and a few of its inputs end well."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from campaigns import mutated_inputs
from campaigns.mutated_inputs import KINDS, Ended, Kind, attempt, mutated


@pytest.mark.parametrize("name", sorted(KINDS))
def test_each_kind_is_read_as_it_stands_and_mutated_ends_well(name: str, tmp_path: Path) -> None:
    kind, dice = KINDS[name], random.Random(1)
    seed = kind.seeds()[0]
    plain = attempt(kind, seed, tmp_path)
    assert plain.finding() is None and (plain.status == 0 or name == "manifest"), plain
    ended = attempt(kind, mutated(seed, dice), tmp_path)
    assert ended.finding() is None, ended


def test_what_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = Ended(2, 0.1, 100, "m.hlo:1:1: expected", False, False)
    assert good.finding() is None
    for wrong in (
        Ended(4, 0.1, 100, "", False, False),
        Ended(-9, 0.1, 100, "", False, False),
        Ended(0, 13.0, 100, "", False, False),
        Ended(0, 0.1, 2000, "", False, False),
        Ended(0, 0.1, 100, "", True, False),
        Ended(0, 0.1, 100, "Traceback (most recent call last)", False, False),
        Ended(0, 0.1, 100, "hloproof: internal error: KeyError", False, False),
    ):
        assert wrong.finding() is not None
    monkeypatch.setattr("hloproof.cli.run", lambda _: 1 / 0)
    assert attempt(Kind("m.hlo", list, ("check",)), b"", tmp_path).finding() == "status 4"
    assert mutated_inputs.mutated(b"rule a", random.Random(3)) == mutated(b"rule a", random.Random(3))
