"""Worker processes: killed, starved and crashed ones cost only what they had in hand."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from random_obligations import obligation as random_obligation

from hloproof.engines import cache as cache_module
from hloproof.engines.budget import Budget
from hloproof.engines.cache import Cache, proof_sources
from hloproof.engines.certificate import MANIFEST, recheck, write
from hloproof.engines.door import How
from hloproof.engines.door import prove as prove_apart
from hloproof.engines.portfolio import prove
from hloproof.engines.smtlib import cvc5
from hloproof.engines.store import fingerprint
from hloproof.engines.worker import Task, prove_many
from hloproof.logic.formula import eq, lt, ne
from hloproof.logic.obligation import Obligation, Outcome
from hloproof.models.expressions.expr import Var
from hloproof.models.expressions.interval import Interval
from hloproof.processes import pool as pool_module

x, y, z, d = (Var(name) for name in "xyzd")
EASY = [random_obligation(seed, symbolic=seed % 5 == 0) for seed in range(60)]
ENDLESS = Obligation(
    tuple((n, None) for n in "xyz"), ne(x * x * x + y * y * y + z * z * z, 114), lt(x, y), "sum of three cubes"
)


def all_of(obligations: list[Obligation], jobs: int, task: Task, total: float | None = None) -> list[Outcome]:
    found: dict[int, Outcome] = {}

    def keep(number: int, outcome: Outcome) -> None:
        assert number not in found
        found[number] = outcome

    prove_many(obligations, jobs, task, keep, total)
    return [found[i] for i in range(len(obligations))]


def test_verdicts_do_not_depend_on_jobs() -> None:
    expected = [prove(o) for o in EASY]
    for jobs in (1, 3):
        assert all_of(EASY, jobs, Task()) == expected


def test_an_obligation_without_end_is_killed_and_the_others_go_on() -> None:
    task = Task(Budget(z3_rlimit=10**9, isl_operations=10**9, seconds=1.0))
    obligations = [*EASY[:6], ENDLESS, *EASY[6:12]]
    found = all_of(obligations, 1, task)
    assert found[6].verdict == "unknown"
    assert "1 seconds" in found[6].reason
    assert not found[6].final
    assert [o.verdict for i, o in enumerate(found) if i != 6] == [prove(o).verdict for o in EASY[:12]]


def test_a_slow_caller_is_not_the_workers_fault() -> None:
    found: list[Outcome] = []

    def slowly(number: int, outcome: Outcome) -> None:
        found.append(outcome)
        if len(found) == 1:
            time.sleep(2)

    prove_many(EASY[:16], 2, Task(Budget(seconds=1.5)), slowly)
    assert len(found) == 16
    assert all(o.verdict != "unknown" for o in found)


def test_the_total_time_ends_the_run() -> None:
    task = Task(Budget(z3_rlimit=10**9, isl_operations=10**9, seconds=60))
    found = all_of([EASY[0], ENDLESS, EASY[1]], 1, task, total=5.0)
    assert found[0].verdict == prove(EASY[0]).verdict
    assert [o.final for o in found[1:]] == [False, False]
    assert all("total" in o.reason for o in found[1:])


def test_out_of_memory_is_unknown() -> None:
    task = Task(Budget(megabytes=60))
    found = all_of([ENDLESS], 1, task)
    assert [(o.verdict, o.final) for o in found] == [("unknown", False)], found


def test_killing_workers_at_random_changes_verdicts_only_to_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = [prove(o).verdict for o in EASY]
    obligations = EASY * 4
    pools: list[pool_module._Pool] = []
    begin = pool_module._Pool.__init__

    def watched(self: pool_module._Pool, *arguments: object) -> None:
        begin(self, *arguments)  # type: ignore[arg-type]
        pools.append(self)

    monkeypatch.setattr(pool_module._Pool, "__init__", watched)
    over = threading.Event()

    def kill() -> None:
        draw = random.Random(1)
        while not over.wait(0.2):
            for victim in [w for pool in pools for w in pool.workers if w.process.began and draw.random() < 0.5]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(victim.process.process.pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        found = all_of(obligations, 2, Task())
    finally:
        over.set()
        killer.join()
    for i, outcome in enumerate(found):
        assert outcome.verdict in (expected[i % len(EASY)], "unknown")
        if outcome.verdict == "unknown":
            assert "SIGKILL" in outcome.reason
            assert not outcome.final


def batch(obligations: list[Obligation], how: How) -> list[Outcome]:
    found: dict[int, Outcome] = {}
    prove_apart(obligations, how, found.__setitem__)
    return [found[i] for i in range(len(obligations))]


def test_equal_obligations_are_proved_once_and_counterexamples_keep_their_names() -> None:
    wrong = [Obligation(((n, Interval(3, 9)),), eq(Var(n) // 2 * 2, Var(n))) for n in ("a", "b", "c")]
    found = batch(wrong, How(where="workers"))
    assert [o.verdict for o in found] == ["refuted"] * 3
    assert [o.model[0][0] for o in found] == ["a", "b", "c"]
    assert len([o for o in found if ("equal", 0.0) in o.stages]) == 2


def test_the_cache_returns_what_was_decided(tmp_path: Path) -> None:
    path = tmp_path / "proofs.sqlite"
    first = batch(EASY, How(where="workers", cache=path))
    second = batch(EASY, How(where="workers", cache=path))
    assert [(o.verdict, o.model) for o in first] == [(o.verdict, o.model) for o in second]
    assert all(o.stages[-1][0] in ("cache", "equal") for o in second)


def test_unknown_is_kept_for_its_limits_only(tmp_path: Path) -> None:
    budget, more = Budget(z3_rlimit=1000), Budget(z3_rlimit=2000)
    with Cache(tmp_path / "proofs.sqlite") as cache:
        cache.put(ENDLESS, Outcome("unknown", reason="limits"), budget, False)
        cache.put(EASY[0], Outcome("unknown", reason="time", final=False), budget, False)
        cache.flush()
        assert cache.get(ENDLESS, budget, False) is not None
        assert cache.get(ENDLESS, more, False) is None
        assert cache.get(ENDLESS, budget, True) is None
        assert cache.get(EASY[0], budget, False) is None


def test_a_kept_counterexample_is_replayed(tmp_path: Path) -> None:
    true = Obligation((("d", Interval(0, 9)),), eq(d // 2 * 2 + d % 2, d))
    with Cache(tmp_path / "proofs.sqlite") as cache:
        cache.put(true, Outcome("refuted", ("isl",), (("d", 4),)), Budget(), False)
        cache.flush()
        assert cache.get(true, Budget(), False) is None


@pytest.mark.parametrize("damage", [b"not a database" * 100, b"SQLite format 3\x00" + b"\xff" * 4000])
def test_a_damaged_cache_is_set_aside(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "proofs.sqlite"
    path.write_bytes(damage)
    warnings: list[str] = []
    how = How(where="workers", cache=path, warn=warnings.append)
    assert [o.verdict for o in batch(EASY[:5], how)] == [prove(o).verdict for o in EASY[:5]]
    assert "damaged" in warnings[0]
    assert (tmp_path / "proofs.sqlite.damaged").read_bytes() == damage
    assert len(batch(EASY[:5], how)) == 5
    assert len(warnings) == 1


def test_a_new_file_of_an_engine_makes_another_fingerprint(tmp_path: Path) -> None:
    copies = [tmp_path / f"{n}-{folder.name}" for n, folder in enumerate(proof_sources())]
    for folder, copy in zip(proof_sources(), copies, strict=True):
        shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("__pycache__"))
    assert fingerprint(copies) == fingerprint(proof_sources())
    planted = copies[-1] / "planted" / "engine.py"
    planted.parent.mkdir()
    planted.write_text("answer = None\n")
    assert copies[-1].name.endswith("engines")
    assert fingerprint(copies) != fingerprint(proof_sources())
    planted.unlink()
    copies[0].joinpath("expr.py").write_text("# another meaning\n")
    assert fingerprint(copies) != fingerprint(proof_sources())


def test_two_processes_share_a_cache(tmp_path: Path) -> None:
    path = tmp_path / "proofs.sqlite"
    with Cache(path) as one, Cache(path) as two:
        one.put(EASY[0], prove(EASY[0]), Budget(), False)
        two.put(EASY[1], prove(EASY[1]), Budget(), False)
        one.flush()
        two.flush()
        assert one.get(EASY[1], Budget(), False) is not None
        assert two.get(EASY[0], Budget(), False) is not None


def test_the_cache_survives_being_killed(tmp_path: Path) -> None:
    path = tmp_path / "proofs.sqlite"
    writer = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from random_obligations import obligation
from hloproof.engines.budget import Budget
from hloproof.engines.cache import Cache
from hloproof.logic.obligation import Outcome
cache = Cache(Path(sys.argv[1]))
for seed in range(10**9):
    cache.put(obligation(seed), Outcome("proved", ("isl",)), Budget(), False)
    cache.flush()
    print(seed, flush=True)
"""
    command = [sys.executable, "-c", writer, str(path), str(Path(__file__).parent)]
    for _ in range(3):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[1])
        assert process.stdout is not None
        written = [int(process.stdout.readline()) for _ in range(30)]
        process.kill()
        process.wait()
        process.stdout.close()
        warnings: list[str] = []
        with Cache(path, warnings.append) as cache:
            assert all(cache.get(random_obligation(seed), Budget(), False) is not None for seed in written)
        assert warnings == []


def test_other_engines_do_not_find_old_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Cache(tmp_path / "proofs.sqlite") as cache:
        cache.put(EASY[0], prove(EASY[0]), Budget(), False)
        cache.flush()
        monkeypatch.setattr(cache_module, "engines_fingerprint", lambda: "other")
        assert cache.get(EASY[0], Budget(), False) is None


def test_certificates_are_rechecked_and_tampering_is_found(tmp_path: Path) -> None:
    pytest.importorskip("cvc5")
    batch(EASY, How(where="workers", certify=tmp_path))
    first = list(recheck(tmp_path))
    assert first
    assert all(r.state == "proved" for r in first)
    assert len(list(tmp_path.glob("*.proof"))) > len(first) // 2
    victims = sorted(tmp_path.glob("*.smt2"))
    victims[0].write_text(victims[0].read_text() + "(assert false)")
    victims[1].unlink()
    victims[2].with_suffix(".proof").write_text("nothing")
    (tmp_path / "stray.smt2").write_text("(check-sat)")
    states = {r.name: r.state for r in recheck(tmp_path)}
    assert states[victims[0].name] == "tampered"
    assert states[victims[1].name] == "missing"
    assert states[victims[2].with_suffix(".proof").name] == "tampered"
    assert states["stray.smt2"] == "not listed"
    assert (tmp_path / MANIFEST).is_file()


def test_what_cvc5_does_not_prove_has_no_proof_beside_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    obligation = Obligation((("x", Interval(0, 9)),), lt(x, 10))
    monkeypatch.setattr(cvc5, "is_installed", lambda: True)
    for said, proofs in (("unknown", 0), ("sat", 0), ("unsat", 1)):
        monkeypatch.setattr(cvc5, "decide", lambda *_, said=said: (said, "a model, or why not"))
        assert write(obligation, Outcome("proved", ("isl",)), tmp_path / said).is_file()
        assert len(list((tmp_path / said).glob("*.proof"))) == proofs


def test_recheck_takes_any_solver(tmp_path: Path) -> None:
    batch(EASY[:8], How(where="workers", certify=tmp_path))
    assert {r.detail for r in recheck(tmp_path, "echo unsat")} == {"unsat"}
    assert {r.state for r in recheck(tmp_path, "echo sat")} == {"not proved"}
    assert {r.state for r in recheck(tmp_path, "no-such-solver")} == {"not proved"}


@pytest.mark.parametrize(("megabytes", "status"), [(1, 77), (None, 1)])
def test_a_question_that_cannot_be_read_for_want_of_memory_is_starved(megabytes: int | None, status: int) -> None:
    """To read one may import what it is made of, which ended with an error of the system's: "the worker died"."""
    limit = f"resource.setrlimit(resource.RLIMIT_AS, ({megabytes} << 20,) * 2)" if megabytes else "pass"
    program = (
        "import resource\nfrom hloproof.processes import process\n\ndef fails(*pipes):\n"
        f"    {limit}\n    raise OSError(12, 'Cannot allocate memory')\n\nprocess._work = fails\nprocess.main()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], check=False, stdin=subprocess.DEVNULL, capture_output=True)
    assert done.returncode == status
