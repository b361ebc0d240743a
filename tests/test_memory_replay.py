"""A run with memory agrees with the proof: what is proved runs, what is refuted comes out different, and a run shows
races that depend on the order of elements and on when an operation in flight works."""

from __future__ import annotations

from pathlib import Path

import pytest
from memory_cases import (
    CHAIN,
    CHAIN_PLAN,
    FLIGHT,
    FLIGHT_PLAN,
    LOOP,
    LOOP_PLAN,
    REVERSED,
    SHIFTED,
    changed,
    judged,
    refuted,
)

from hloproof.cli import run
from hloproof.engines.door import How
from hloproof.memory.judge import RUN, judge
from hloproof.memory.machine import OverwrittenRead
from hloproof.memory.plan import Plan
from hloproof.memory.replay import replay
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.parser import parse_module
from hloproof.models.memory.assignment import parse_assignment
from hloproof.results.verdict import Verdict

PLANS = Path(__file__).parents[1].parent / "shared" / "corpus" / "plans"
WHOLE = CHAIN.replace("{...}", "{" + ", ".join(map(str, range(32))) + "}")


def replayed(hlo: str, assignment: str) -> OverwrittenRead | None:
    return replay(Plan(parse_module(hlo), parse_assignment(assignment)))


@pytest.mark.parametrize(("hlo", "plan"), [(WHOLE, CHAIN_PLAN), (LOOP, LOOP_PLAN), (FLIGHT, FLIGHT_PLAN)])
def test_a_plan_that_is_proved_runs(hlo: str, plan: str) -> None:
    assert refuted(hlo, plan) == {}
    assert replayed(hlo, plan) is None


Z, OUT = "<5 z @0> (size=128,offset=0)", "size 128, output shape is |f32[32]|, maybe-live-out"
C, Y = "<16 c{0} (phi) @0> (size=4,offset=0)", "<4 y @0> (size=128,offset=0)"
SPOILED = [
    (WHOLE, CHAIN_PLAN, Z, Z.replace("offset=0", "offset=128"), "out", "y"),
    (WHOLE, CHAIN_PLAN, OUT, "size 128", "the caller", "out"),
    (LOOP, LOOP_PLAN, C, C.replace("offset=0", "offset=64"), "j", "the table c"),
    (FLIGHT, FLIGHT_PLAN, Y, Y.replace("offset=0", "offset=128"), "start", "x"),
]


@pytest.mark.parametrize(("hlo", "plan", "old", "new", "reader", "value"), SPOILED)
def test_a_plan_that_is_refuted_comes_out_different(
    hlo: str, plan: str, old: str, new: str, reader: str, value: str
) -> None:
    spoiled = changed(plan, old, new).replace("size 4, maybe-live-out", "size 68, maybe-live-out")
    assert refuted(hlo, spoiled)
    found = replayed(hlo, spoiled)
    assert found is not None and (found.reader, found.value) == (reader, value)


def test_an_element_that_another_has_overwritten_is_found_in_some_order() -> None:
    hlo, plan = REVERSED
    assert refuted(hlo, plan) == {"plan-in-place": ["r"]}
    found = replayed(hlo, plan)
    assert found is not None and found.reader == "r"


def test_an_update_that_reads_the_window_it_writes_is_refuted_and_shown() -> None:
    """Historic: a fused update of x[1:4] by x[0:3] in the place of x, which gives x[0] everywhere."""
    hlo, plan = SHIFTED
    assert refuted(hlo, plan) == {"plan-in-place": ["u"]}
    found = replayed(hlo, plan)
    assert found is not None and found.reader == "u"


def test_the_report_says_what_the_run_shows_or_why_there_is_none() -> None:
    spoiled = changed(CHAIN_PLAN, Z, Z.replace("offset=0", "offset=128"))
    told = [r.counterexample or "" for r in judged(WHOLE, spoiled)]
    assert any("run with memory (inputs of seed 0" in t and "out finds" in t for t in told)
    told = [r.counterexample or "" for r in judged(CHAIN, spoiled)]
    assert any("no run with memory: a constant whose value the text leaves out" in t for t in told)


def test_what_cannot_be_run_is_said() -> None:
    with pytest.raises(NotModelled, match="has no place inside an allocation"):
        replayed(WHOLE, changed(CHAIN_PLAN, " value: <4 y @0> (size=128,offset=128): f32[32]{0}\n", ""))


def test_the_command_runs_a_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "m.hlo").write_text(WHOLE)
    (tmp_path / "good.txt").write_text(CHAIN_PLAN)
    (tmp_path / "bad.txt").write_text(changed(CHAIN_PLAN, Z, Z.replace("offset=0", "offset=128")))
    (tmp_path / "opaque.hlo").write_text(CHAIN)
    arguments = ["run", str(tmp_path / "m.hlo"), "--memory"]
    assert run([*arguments, str(tmp_path / "good.txt")]) == 0
    assert "every reader found what was written" in capsys.readouterr().out
    assert run([*arguments, str(tmp_path / "bad.txt")]) == 1
    assert "out finds" in capsys.readouterr().out
    assert run(["run", str(tmp_path / "opaque.hlo"), "--memory", str(tmp_path / "good.txt")]) == 3


@pytest.mark.skipif(not PLANS.is_dir(), reason="the corpus of plans is not beside the project")
def test_real_plans_run() -> None:
    ran = 0
    for name in ("cpu/tril_triu_iota__donated", "gpu/kv_cache_ragged__donated", "gpu/cond_big_state", "cpu/sort_misc"):
        module = PLANS / name / "module.hlo"
        assert replayed(module.read_text(), module.with_name("assignment.txt").read_text()) is None
        ran += 1
    assert ran == 4


def test_an_error_of_the_run_takes_no_verdict_back(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise ArithmeticError("nothing of this kind")

    monkeypatch.setattr("hloproof.memory.replay.replay", fails)
    told = [r.counterexample or "" for r in judged(*REVERSED)]
    assert any("it ended with ArithmeticError" in t for t in told)


@pytest.mark.parametrize(("hlo", "plan", "old", "new", "reader", "value"), [SPOILED[0], SPOILED[3]])
def test_with_two_opinions_a_plan_that_holds_is_run_and_what_the_run_finds_is_an_error_of_this_tool(
    monkeypatch: pytest.MonkeyPatch, hlo: str, plan: str, old: str, new: str, reader: str, value: str
) -> None:
    module, spoiled = parse_module(hlo), parse_assignment(changed(plan, old, new))
    monkeypatch.setattr("hloproof.memory.judge.interference", lambda _: iter(()))
    monkeypatch.setattr("hloproof.memory.judge.in_place", lambda _, how: iter(()))
    assert {j.found.verdict for j in judge(module, spoiled)} == {Verdict.PROVED}
    doubted = [j.found for j in judge(module, spoiled, how=How(cross=True)) if j.claim in RUN]
    assert {f.verdict for f in doubted} == {Verdict.INTERNAL}
    assert all(f"{reader} finds" in (f.reason or "") for f in doubted)
    assert {j.found.verdict for j in judge(module, parse_assignment(plan), how=How(cross=True))} == {Verdict.PROVED}
