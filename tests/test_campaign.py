"""The campaign of mutated inputs finds what it should, and a few of its inputs end well."""

from __future__ import annotations

import random
import subprocess
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


def test_a_process_that_is_left_behind_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker in a session of its own, whose parent ends: also by another way than the tool's."""
    mutated_inputs._adopt()

    def leaving(_: object) -> int:
        subprocess.Popen(["sleep", "60"], start_new_session=True)
        return 0

    monkeypatch.setattr("hloproof.cli.run", leaving)
    assert attempt(Kind("m.hlo", list, ("check",)), b"", tmp_path).finding() == "a process is left behind"
    monkeypatch.setattr("hloproof.cli.run", lambda _: 0)
    assert attempt(Kind("m.hlo", list, ("check",)), b"", tmp_path).finding() is None


@pytest.mark.parametrize("name", ["rules", "request", "hlo"])
def test_forked_workers_are_like_fresh_ones(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hloproof.processes.process.start", mutated_inputs.Forked)
    mutated_inputs._adopt()
    ended = attempt(KINDS[name], KINDS[name].seeds()[0], tmp_path)
    assert ended.finding() is None and ended.status == 0, ended


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
