"""Campaigns: every target finds nothing on a few examples, and finds what is planted; the folder survives."""

from __future__ import annotations

import ast
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

import hloproof.models.simplifier.simplify
from hloproof.cli import run as command_line
from hloproof.fuzz import campaign, chunk
from hloproof.fuzz.asynchronous import target_async
from hloproof.fuzz.campaign import Limits
from hloproof.fuzz.chunk import Chunk, Found, run_chunk
from hloproof.fuzz.drawing import Replayed
from hloproof.fuzz.engines import target_solvers
from hloproof.fuzz.layouts import layout_checks
from hloproof.fuzz.maps import map_laws
from hloproof.fuzz.mutation.reach import draw
from hloproof.fuzz.operations import predicate
from hloproof.fuzz.state import State
from hloproof.fuzz.target import Failure
from hloproof.fuzz.targets import MODULES, target
from hloproof.fuzz.targets import target as find_target
from hloproof.models.expressions.expr import Const, Var
from hloproof.models.interpreter.rules import try_instance
from hloproof.models.maps.indexing_map import IndexingMap
from hloproof.models.rules.text import parse_rules
from hloproof.processes.alarm import at_most

RUNS_HERE = [name for name in MODULES if name not in ("xla", "compiler", "programs")]  # these need jax


@pytest.mark.parametrize("name", RUNS_HERE)
def test_a_target_finds_nothing_on_a_few_examples(name: str) -> None:
    found = run_chunk(name, seed=1, number=0, examples=25)
    assert [f.cause for f in found.failures] == []
    assert found.examples >= 5
    assert found.coverage


def test_the_same_seed_gives_the_same_examples() -> None:
    first, second = (run_chunk("layouts", seed=4, number=2, examples=30) for _ in range(2))
    assert first.coverage == second.coverage
    assert first.coverage != run_chunk("layouts", seed=5, number=2, examples=30).coverage


@pytest.mark.parametrize("name", ["maps", "rewrites", "rules", "solvers", "layouts"])
def test_examples_are_not_copies_of_one_another(name: str) -> None:
    """Of what is drawn piece by piece Hypothesis makes most examples by copying pieces of earlier ones."""
    assert len(draw(target(name), 1, 60)) >= 55


def test_choices_that_are_missing_are_the_first_ones() -> None:
    w = Replayed(bytes([1, 5, 1, 0, 7]))
    assert [w.number(0, 3), w.one_of("abc"), w.number(0, 1000), w.chance(2)] == [1, "c", 256, True]
    assert (w.number(-4, 9), w.one_of("abc"), w.chance(1000), w.some(3)) == (-4, "a", False, b"")


def wrong_position(shape: Any, index: Any) -> int:
    return sum(index)


def wrong_simplify(m: IndexingMap) -> Any:
    found = hloproof.models.simplifier.simplify.simplify(m)
    results = tuple(Const(0) if r == Var("d0") else r for r in found.map.results)
    return hloproof.models.simplifier.simplify.Simplified(
        IndexingMap(m.dims, results, m.ranges, m.runtime, m.constraints), m
    )


def wrong_prove(*arguments: Any) -> Any:
    from hloproof.logic.obligation import Outcome

    return Outcome("proved", ("isl",))


PLANTED: list[tuple[str, Any, str, Callable[..., Any]]] = [
    ("layouts", layout_checks, "position_of", wrong_position),
    ("maps", map_laws, "simplify", wrong_simplify),
    ("rewrites", map_laws, "simplify", lambda m: hloproof.models.simplifier.simplify.Simplified(m, m)),
    ("solvers", target_solvers, "prove", wrong_prove),
    ("async", target_async, "judge", lambda module, wanted, named: iter(())),
]


_LONGER: Final = {"rewrites", "solvers", "async"}


@pytest.mark.parametrize(
    ("name", "place", "attribute", "wrong"),
    [pytest.param(*p, id=p[0], marks=[pytest.mark.longer] if p[0] in _LONGER else []) for p in PLANTED],
)
def test_a_planted_error_is_found_and_made_small(
    name: str, place: Any, attribute: str, wrong: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(place, attribute, wrong)
    found = run_chunk(name, seed=1, number=0, examples=200)
    assert found.failures
    failure = min(found.failures, key=lambda f: len(f.case))
    assert len(failure.case) < 900
    with pytest.raises(Failure):
        chunk.examine(find_target(name), failure.case)
    monkeypatch.undo()
    chunk.examine(find_target(name), failure.case)


def test_a_wrong_definition_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from hloproof.fuzz.operations import oracle_operations

    right = predicate.count_reads

    def wrong(definition: Any, read: Any, own: int = 0) -> Any:
        found = right(definition, read, own)
        return type(found)({key: n for key, n in found.items() if any(key[0]) or len(found) < 3})

    monkeypatch.setattr(oracle_operations, "count_reads", wrong)
    found = run_chunk("ops", seed=1, number=0, examples=30)
    assert any("misses a read" in f.cause for f in found.failures)


def test_a_crash_and_an_endless_example_are_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*arguments: Any) -> int:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr(layout_checks, "position_of", crash)
    assert any("ZeroDivisionError" in f.cause for f in run_chunk("layouts", 1, 0, 20).failures)
    with pytest.raises(chunk.TookTooLong), at_most(0.05, lambda: chunk.TookTooLong("late")):
        time.sleep(5)


def test_a_campaign_resumes_and_a_torn_line_is_left_out(tmp_path: Path) -> None:
    state = State.open(tmp_path, 7, 10)
    campaign.run(state, ["layouts"], Limits(examples=20))
    assert state.done["layouts"] == {0, 1}
    with (tmp_path / "chunks.jsonl").open("a") as out:
        out.write('{"target": "layouts", "chunk": 2, "exam')
    again = State.open(tmp_path, None, 99)
    assert (again.seed, again.chunk_size, again.done["layouts"]) == (7, 10, {0, 1})
    assert again.examples == state.examples
    with pytest.raises(ValueError, match="seed 7"):
        State.open(tmp_path, 8, 10)


def test_the_time_of_a_campaign_ends_a_chunk_where_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An example that would last for ever, and a failure that is being made small, among them."""
    over = run_chunk("layouts", 1, 0, 20, until=time.time())
    assert (over.whole, over.examples, over.failures) == (False, 0, [])
    monkeypatch.setattr(layout_checks, "position_of", lambda *_: time.sleep(20))
    endless = run_chunk("layouts", 1, 0, 20, until=time.time() + 0.5)
    assert not endless.whole and not endless.failures
    end = time.time() + 3600
    seen: list[str] = []

    def crash(*_: Any) -> int:
        seen.append("")
        raise ZeroDivisionError("planted")

    monkeypatch.setattr(layout_checks, "position_of", crash)
    monkeypatch.setattr(time, "time", lambda: end + 1 if len(seen) > 3 else end - 1)
    found = run_chunk("layouts", 1, 0, 20, until=end)
    assert not found.whole and [f.cause.split()[0] for f in found.failures] == ["ZeroDivisionError"]
    state = State.open(tmp_path, 0, 20)
    state.record(found, target("layouts"))
    assert state.next_chunk("layouts", set()) == 0 and len(state.failures()) == 1
    assert State.open(tmp_path, 0, 20).next_chunk("layouts", set()) == 0


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_workers_of_a_campaign_end_with_it(ending: signal.Signals, tmp_path: Path) -> None:
    program = [
        sys.executable,
        "-m",
        "hloproof",
        "fuzz",
        "layouts",
        "--time",
        "300",
        "-j",
        "1",
        "--state",
        str(tmp_path),
    ]
    with subprocess.Popen(program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        lines = tmp_path / "chunks.jsonl"
        while not lines.exists() and running.poll() is None:
            time.sleep(0.02)
        children = Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text().split()
        running.send_signal(ending)
        running.wait(60)
    assert children
    for _ in range(3000):
        if not any(_runs(int(pid)) for pid in children):
            return
        time.sleep(0.01)
    raise AssertionError("a worker outlives its campaign")


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_a_campaign_that_is_killed_keeps_what_was_done(tmp_path: Path) -> None:
    program = [sys.executable, "-m", "hloproof", "fuzz", "layouts", "--time", "60", "-j", "1", "--state", str(tmp_path)]
    running = subprocess.Popen(program, cwd=Path(__file__).parents[1], stdout=subprocess.DEVNULL)
    lines = tmp_path / "chunks.jsonl"
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and not (lines.exists() and lines.read_text().count("\n") >= 1):
        time.sleep(0.05)
    running.kill()
    running.wait()
    assert State.open(tmp_path, None, 1).done["layouts"]


def test_failures_are_written_once_per_cause_and_replayed_first(tmp_path: Path, capsys: Any) -> None:
    state = State.open(tmp_path, 0, 10)
    found = Found("layouts", "layouts: a cause", "what is wrong\nin two lines", "f32[2,3]{1,0}")
    assert state.record(Chunk("layouts", 0, 5, failures=[found]), target("layouts")) == [found]
    assert state.record(Chunk("layouts", 1, 5, failures=[found]), target("layouts")) == []
    (file,) = [f for f in (tmp_path / "failures").iterdir() if f.suffix == ".layout"]
    assert file.read_text().endswith("f32[2,3]{1,0}")
    assert [(name, problem) for name, _, problem in campaign.replay(state)] == [("layouts", None)]
    snippet = next((tmp_path / "failures").glob("test_*.py"))
    scope: dict[str, Any] = {}
    exec(snippet.read_text(), scope)
    next(v for k, v in scope.items() if k.startswith("test_"))()
    assert command_line(["fuzz", "layouts", "--state", str(tmp_path), "--examples", "10", "-j", "1"]) == 0
    assert "holds now" in capsys.readouterr().out
    assert command_line(["fuzz", "--report", str(tmp_path)]) == 0
    assert "FAILS     2 times: layouts: a cause" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "values", "outcome"),
    [
        ("rule r\n  (x * a) floordiv a => x\n  when a > 0\n", {"x": 5, "a": 3}, "holds"),
        ("rule r\n  (x * a) floordiv a => x\n  when a > 0\n", {"x": 5, "a": -3}, "inapplicable"),
        ("rule r\n  x mod a => x\n", {"x": 5, "a": 3}, "fails"),
        ("rule r\n  x floordiv a => x\n", {"x": 5, "a": 0}, "inapplicable"),
    ],
)
def test_a_rule_at_a_point(text: str, values: dict[str, int], outcome: str) -> None:
    (rule,) = parse_rules(text)
    assert try_instance(rule, values) == outcome


def test_the_state_is_plain_json(tmp_path: Path) -> None:
    state = State.open(tmp_path, 3, 10)
    campaign.run(state, ["text"], Limits(examples=10))
    (line,) = (json.loads(one) for one in (tmp_path / "chunks.jsonl").read_text().splitlines())
    assert {"target", "chunk", "examples", "seconds", "coverage", "causes"} == set(line)


def test_sites_of_planted_errors_and_the_changed_source() -> None:
    from hloproof.fuzz.mutation.sites import mutated, sites

    body = "return (g(a), g(b)) if a + 1 < b else zip(a, strict=True)"
    source = f'def f(a, b):\n    """A sum of 1."""\n    {body}\n\nX = 1 + 1\n'
    found = sites("f.py", source)
    changes = ["element 0 is left out", "element 1 is left out", "+ becomes -", "1 becomes 2", "< becomes <="]
    assert sorted(s.change for s in found) == sorted(changes)
    (less,) = [s for s in found if s.change == "< becomes <="]
    assert "a + 1 <= b" in ast.unparse(mutated(source, less.number))


def test_a_planted_change_of_a_map_builder_is_noticed_in_a_child_only() -> None:
    from hloproof.fuzz.mutation import mutants

    sites = mutants.all_sites(["models/indexing/movement.py"])
    site = next(s for s in sites if s.function == "reverse_output_to_input")
    reach = mutants.explored(1, [site.file], 1, {"ops": 400})
    assert not reach.failing
    score = mutants.run([site], reach)
    assert [name for _, name, _ in score.caught] == ["ops"]
    assert "mutant score 100.0%" in mutants.lines(score)[-1]
    assert not run_chunk("ops", 1, 1, 20).failures


def test_examples_are_explored_no_longer_than_asked() -> None:
    from hloproof.fuzz.mutation import mutants
    from hloproof.fuzz.mutation.reach import trace_cases

    files = ["models/indexing/movement.py"]
    assert not mutants.explored(1, files, 1, {"ops": 400}, seconds=0.0).examples
    cases = draw(find_target("ops"), 1, 5)
    assert len(trace_cases("ops", cases, files).cases) == len(cases)
    assert not trace_cases("ops", cases, files, until=0.0).cases


def test_a_changed_condition_of_a_rule_is_refuted_or_proved_to_be_right() -> None:
    from hloproof.fuzz.mutation import mutants
    from hloproof.fuzz.mutation.reach import Reach

    chosen = [s for s in mutants.all_sites(["specs/rules/order.rules"]) if s.function == "min-of-less"]
    assert [s.change for s in chosen] == ["x <= y is left out", "x <= y: <= becomes <"]
    score = mutants.run(chosen, Reach())
    assert [name for _, name, _ in score.caught] == ["the prover of rules: refuted"]
    assert [reason for _, reason in score.equivalent] == ["the changed rule is proved"]


def test_every_change_listed_as_equivalent_is_one_and_has_a_reason() -> None:
    from hloproof.fuzz.mutation import mutants
    from hloproof.fuzz.mutation.mutants import known_equivalent

    listed = known_equivalent()
    assert not set(listed) - {s.key for s in mutants.all_sites()}, "listed, but no longer in the source"
    assert all(listed.values())
