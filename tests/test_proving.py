"""Claims are put together from obligations: equal ones proved once, the worst verdict wins, nothing is assumed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from hloproof.engines import door, portfolio
from hloproof.engines.budget import DEFAULT
from hloproof.engines.cache import Cache
from hloproof.engines.door import How, prove_one
from hloproof.logic.formula import eq, le
from hloproof.logic.obligation import Obligation, Outcome
from hloproof.models.errors import NotModelled
from hloproof.models.expressions.expr import Var
from hloproof.models.expressions.interval import Interval
from hloproof.models.stages import OutOfTime
from hloproof.pipeline.options import Selection
from hloproof.pipeline.prover import Prover
from hloproof.results.results import exit_status, worst
from hloproof.results.verdict import ClaimResult, Exit, Found, Verdict


def at_most(bound: int) -> Obligation:
    """d0 in [0, 9] is at most `bound`."""
    return Obligation((("d0", Interval(0, 9)),), le(Var("d0"), bound))


@dataclass(frozen=True)
class Owed:
    claim: str
    bounds: tuple[int, ...] = (9,)
    subject: str = ""
    assumptions: tuple[str, ...] = ()
    failure: Exception | None = None

    def obligations_again(self) -> Sequence[Obligation]:
        return self.obligations()

    def obligations(self) -> Sequence[Obligation]:
        if self.failure:
            raise self.failure
        return tuple(at_most(b) for b in self.bounds)

    def judge(self, model: dict[str, int], obligation: Obligation) -> tuple[str | None, str | None]:
        return f"d0 = {model['d0']}", None


def answer(obligations: Sequence[Obligation], decided: Callable[[int, Outcome], None]) -> None:
    """An engine that knows these obligations: refuted below 9, given up at 100."""
    for number, o in enumerate(obligations):
        bound = o.conclusion.rhs.value  # type: ignore[union-attr]
        if bound == 100:
            decided(number, Outcome("unknown", reason="too large"))
        elif bound == 200:
            decided(number, Outcome("internal", ("isl", "z3"), reason="engines disagree"))
        elif bound < 9:
            decided(number, Outcome("refuted", ("isl",), (("d0", bound + 1),), ms=1.0))
        else:
            decided(number, Outcome("proved", ("isl",), ms=1.0))


def prove(*owed: Owed, selection: Selection | None = None) -> dict[str, tuple[Verdict, str | None, str | None]]:
    prover = Prover(selection or Selection())
    verdicts = prover.add(lambda: owed, "here")
    prover.prove(answer)
    prover.settle("missing")
    return {c.claim: (c.verdict, c.counterexample, c.reason) for c in verdicts.claims}


@pytest.mark.parametrize(
    ("owed", "verdict", "counterexample", "reason"),
    [
        (Owed("definition"), Verdict.PROVED, None, None),
        (Owed("definition", ()), Verdict.PROVED, None, None),
        (Owed("definition", (9, 10)), Verdict.PROVED, None, None),
        (Owed("definition", (9, 4)), Verdict.REFUTED, "d0 = 5", None),
        (Owed("definition", (9, 100)), Verdict.UNKNOWN, None, "too large"),
        (Owed("definition", (100, 4)), Verdict.REFUTED, "d0 = 5", None),
        (Owed("definition", (4, 200)), Verdict.INTERNAL, None, "engines disagree"),
        (Owed("definition", failure=NotModelled("fft")), Verdict.UNKNOWN, None, "fft"),
        (Owed("definition", failure=KeyError("x")), Verdict.INTERNAL, None, "KeyError: 'x'"),
        (Owed("definition", (100,), "output 0"), Verdict.UNKNOWN, None, "output 0: too large"),
    ],
)
def test_the_worst_obligation_decides_the_claim(
    owed: Owed, verdict: Verdict, counterexample: str | None, reason: str | None
) -> None:
    assert prove(owed) == {"definition": (verdict, counterexample, reason)}


def test_equal_obligations_are_proved_once() -> None:
    prover = Prover(Selection())
    first = prover.add(lambda: [Owed("definition", (9, 10))], "first")
    second = prover.add(lambda: [Owed("converse", (10, 11))], "second")
    assert prover.distinct == 3
    prover.prove(answer)
    prover.settle("missing")
    assert first.complete and second.complete


def test_claims_of_one_name_are_one_record() -> None:
    found = prove(Owed("definition", (9,), "operand 0"), Owed("definition", (4,), "operand 1"), Owed("converse"))
    assert found["definition"][0] is Verdict.REFUTED and found["converse"][0] is Verdict.PROVED


def test_an_operation_without_an_entry_is_unknown_and_not_silent() -> None:
    def owe() -> Sequence[Owed]:
        raise NotModelled("opcode frobnicate")

    prover = Prover(Selection())
    verdicts = prover.add(owe, "x")
    prover.settle("missing")
    assert [(c.verdict, c.reason) for c in verdicts.claims] == [(Verdict.UNKNOWN, "opcode frobnicate")]


def test_what_was_not_decided_is_unknown() -> None:
    prover = Prover(Selection())
    verdicts = prover.add(lambda: [Owed("definition")], "x")

    def stop(obligations: Sequence[Obligation], decided: Callable[[int, Outcome], None]) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prover.prove(stop)
    prover.settle("interrupted")
    assert [(c.verdict, c.reason) for c in verdicts.claims] == [(Verdict.UNKNOWN, "interrupted")]


def test_fail_fast_stops_at_the_first_refutation() -> None:
    prover = Prover(Selection())
    verdicts = prover.add(lambda: [Owed("definition", (9,)), Owed("converse", (4,)), Owed("in-bounds", (10,))], "x")
    prover.prove(answer, fail_fast=True)
    prover.settle("stopped")
    assert [(c.claim, c.verdict) for c in verdicts.claims] == [
        ("definition", Verdict.PROVED),
        ("converse", Verdict.REFUTED),
        ("in-bounds", Verdict.UNKNOWN),
    ]


@pytest.mark.parametrize(
    ("selection", "claims"),
    [
        (Selection(), {"definition", "async-chain", "async-done"}),
        (Selection(only=("definition",)), {"definition"}),
        (Selection(only=("async",)), {"async-chain", "async-done"}),
        (Selection(skip=("async",)), {"definition"}),
        (Selection(only=("async",), skip=("async-done",)), {"async-chain"}),
    ],
)
def test_selection_by_claim_and_family(selection: Selection, claims: set[str]) -> None:
    owed = [Owed(name) for name in ("definition", "async-chain", "async-done")]
    assert set(prove(*owed, selection=selection)) == claims


def test_a_claim_on_request_runs_only_when_it_is_named() -> None:
    assert not Selection().takes_claim("async-linear", on_request=True)
    assert not Selection(only=("async",)).takes_claim("async-linear", on_request=True)
    assert Selection(only=("async-linear",)).takes_claim("async-linear", on_request=True)


@pytest.mark.parametrize(
    ("verdicts", "bad_input", "status"),
    [
        (set(), False, Exit.OK),
        ({Verdict.PROVED}, False, Exit.OK),
        ({Verdict.PROVED, Verdict.UNKNOWN}, False, Exit.UNKNOWN),
        ({Verdict.UNKNOWN, Verdict.REFUTED}, False, Exit.REFUTED),
        ({Verdict.UNKNOWN, Verdict.VACUOUS}, False, Exit.REFUTED),
        ({Verdict.TRIVIAL}, False, Exit.REFUTED),
        ({Verdict.REFUTED}, True, Exit.BAD_INPUT),
        (set(), True, Exit.BAD_INPUT),
        ({Verdict.REFUTED, Verdict.INTERNAL}, True, Exit.INTERNAL),
    ],
)
def test_the_order_of_exit_statuses(verdicts: set[Verdict], bad_input: bool, status: Exit) -> None:
    assert exit_status(verdicts, bad_input) is status


def test_nothing_owed_is_proved() -> None:
    assert worst(()) is Verdict.PROVED


@pytest.mark.parametrize(
    ("only", "failure", "claims"),
    [
        ((), NotModelled("odd"), {"definition": Verdict.UNKNOWN}),
        (("in-bounds",), NotModelled("odd"), {"in-bounds": Verdict.UNKNOWN}),
        (("in-bounds",), KeyError("x"), {"in-bounds": Verdict.INTERNAL}),
        (("async",), NotModelled("odd"), {}),
        (("async",), KeyError("x"), {"definition": Verdict.INTERNAL}),
    ],
)
def test_what_cannot_be_stated_is_told_whatever_is_asked(
    only: tuple[str, ...], failure: Exception, claims: dict[str, Verdict]
) -> None:
    def owe() -> list[Owed]:
        raise failure

    prover = Prover(Selection(only=only))
    verdicts = prover.add(owe, "x")
    prover.prove(answer)
    prover.settle("not tried")
    assert {c.claim: c.verdict for c in verdicts.claims} == claims


def test_the_cache_of_whole_files_depends_on_the_rules(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from hloproof.pipeline.record_cache import source_digest

    before = source_digest()
    (tmp_path / "division.rules").write_text("rule wrong\n  x floordiv c => x\n", encoding="utf-8")
    monkeypatch.setattr("hloproof.models.rules.text.rules_folder", lambda: tmp_path)
    assert source_digest.__wrapped__() != before


@dataclass(frozen=True)
class Speechless(Owed):
    """A counterexample to this cannot be put into words."""

    def judge(self, model: dict[str, int], obligation: Obligation) -> tuple[str | None, str | None]:
        raise KeyError("d7")


def test_a_counterexample_that_cannot_be_told_is_an_error_of_this_tool() -> None:
    assert prove(Speechless("definition", (4,)))["definition"] == (Verdict.INTERNAL, None, "KeyError: 'd7'")


@dataclass(frozen=True)
class Twice(Owed):
    """Proved as it is stated first; `again` are the bounds of the second statement."""

    again: tuple[int, ...] = (9,)
    late: Exception | None = None

    def obligations_again(self) -> Sequence[Obligation]:
        if self.late:
            raise self.late
        return tuple(at_most(b) for b in self.again)


@pytest.mark.parametrize(
    ("owed", "verdict"),
    [
        (Twice("definition"), Verdict.PROVED),
        (Twice("definition", again=(9, 100)), Verdict.UNKNOWN),
        (Twice("definition", again=(9, 4)), Verdict.INTERNAL),
        (Twice("definition", again=(9, 200)), Verdict.INTERNAL),
        (Twice("definition", late=NotModelled("fft")), Verdict.UNKNOWN),
        (Twice("definition", late=KeyError("x")), Verdict.INTERNAL),
    ],
)
def test_what_is_stated_twice_is_proved_twice(owed: Twice, verdict: Verdict) -> None:
    prover = Prover(Selection(), twice=True)
    first = Owed("definition", subject="operand 1")  # what one operand owes does not stand for the other
    verdicts = prover.add(lambda: [first, owed], "here")
    prover.prove(answer)
    prover.settle("missing")
    assert [c.verdict for c in verdicts.claims] == [verdict]


def test_what_is_kept_is_of_this_code(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from hloproof.pipeline import file_cache, record_cache
    from hloproof.pipeline.options import Options

    records = record_cache.RecordCache(tmp_path / "kept.db")
    proved = ClaimResult("x", "rule", "m.rules", "", 1, 1, "r", Found(Verdict.PROVED, claim="rule"))
    records.put(b"key", proved)
    files = file_cache.FileCache(Options(cache=tmp_path / "kept.db"))
    key = files.key("m.hlo", "text")
    assert records.get(b"key") == proved
    for module in (record_cache, file_cache):
        monkeypatch.setattr(module, "source_digest", lambda: b"of other code")
    assert records.get(b"key") is None and files.key("m.hlo", "text") != key
    records.close()
    files.close()


# --- what is kept ------------------------------------------------------------------------------------------------


def _obligation(name: str, most: int) -> Obligation:
    return Obligation(((name, Interval(0, 9)),), le(Var(name), most))


def test_what_one_stage_says_is_no_answer_of_all_and_not_the_other_way_round() -> None:
    """Products say nothing of an obligation without symbolic divisors."""
    asked = _obligation("x", 9)
    for first, second in (("", "products"), ("products", "")):
        known: dict[str, Outcome] = {}
        said = {e: prove_one(asked, How(engine=e, known=known)).verdict for e in (first, second)}
        assert said == {"": "proved", "products": "unknown"}


def test_what_one_engine_proved_is_no_answer_of_two() -> None:
    known: dict[str, Outcome] = {}
    asked = _obligation("x", 9)
    engines = [prove_one(asked, How(cross=cross, known=known)).engines for cross in (False, True, False)]
    assert [len(set(e)) for e in engines] == [1, 2, 1]


@pytest.mark.parametrize("after", [0, 1])
def test_what_was_not_looked_at_for_want_of_time_is_not_final(monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    """Neither where obligations are compared nor where they are proved; a file is kept only where all is final."""
    passed: list[None] = []

    def checkpoint() -> None:
        passed.append(None)
        if len(passed) > after:
            raise OutOfTime("over")

    for module in (door, portfolio):
        monkeypatch.setattr(module, "checkpoint", checkpoint)
    outcome = prove_one(_obligation("x", 9), How(where="here"))
    assert (outcome.verdict, outcome.final) == ("unknown", False) and len(passed) == after + 1


def test_an_answer_to_an_equal_obligation_is_replayed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two that only the normal form takes for one: the counterexample to the first is none to the second."""
    monkeypatch.setattr(door, "key", lambda _: "the same")
    first, second = door.prove((_obligation("x", -1), Obligation((("y", Interval(0, 9)),), eq(Var("y") * 0, 0))))
    assert (first.verdict, second.verdict) == ("refuted", "unknown")


def test_an_outcome_is_the_answer_to_the_question_that_was_asked(tmp_path: Path) -> None:
    """Two engines may have to agree, an unknown may be one of small limits, and a point may be one of nothing."""
    holds, fails, small = _obligation("x", 9), _obligation("x", -1), replace(DEFAULT, isl_operations=1)
    with Cache(tmp_path / "kept.sqlite") as kept:
        kept.put(holds, Outcome("proved"), DEFAULT, False)
        assert kept.get(holds, DEFAULT, False) and kept.get(holds, small, False)
        assert kept.get(holds, DEFAULT, True) is None and kept.get(fails, DEFAULT, False) is None
        kept.put(fails, Outcome("unknown", reason="hard"), small, False)
        assert kept.get(fails, small, False) and kept.get(fails, DEFAULT, False) is None
        for at, found in ((0, True), (-1, False)):
            kept.put(fails, Outcome("refuted", model=(("x", at),)), DEFAULT, False)
            assert (kept.get(fails, DEFAULT, False) is not None) == found
        kept.put(fails, Outcome("internal", reason="they disagree"), DEFAULT, True)
        assert kept.get(fails, DEFAULT, True) is None


def test_what_memory_decided_is_not_kept(tmp_path: Path) -> None:
    asked, how = _obligation("x", 9), How()
    with Cache(tmp_path / "kept.sqlite") as kept:
        for final, found in ((False, False), (True, True)):
            kept.put(asked, Outcome("unknown", reason="no memory", final=final), how.budget, False)
            kept.flush()
            assert (kept.get(asked, how.budget, False) is not None) == found
