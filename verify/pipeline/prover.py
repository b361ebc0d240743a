"""From owed claims to verdicts: obligations gathered and proved once each, outcomes put back together per claim."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, Protocol

from hloproof.logic.obligation import Obligation, Outcome
from hloproof.logic.replay import replayed
from hloproof.models.errors import NotModelled
from hloproof.models.stages import OutOfTime, checkpoint, stage
from hloproof.pipeline.options import Selection
from hloproof.results.results import OperationVerdicts, worst
from hloproof.results.verdict import Found, Verdict

Progress = Callable[[int, int, str], None]
"""Called with how many obligations are decided, of how many, and the label of the last."""


class Owed(Protocol):
    """What a table of claims says is owed: see hloproof.claims."""

    @property
    def claim(self) -> str: ...
    @property
    def subject(self) -> str: ...
    @property
    def assumptions(self) -> Sequence[str]: ...
    def obligations(self) -> Sequence[Obligation]: ...
    def obligations_again(self) -> Sequence[Obligation]: ...
    def judge(self, model: dict[str, int], obligation: Obligation) -> tuple[str | None, str | None]: ...


BatchProver = Callable[[Sequence[Obligation], Callable[[int, Outcome], None]], None]
"""Proves obligations and reports each by its position; may stop before all are decided (KeyboardInterrupt)."""


ALWAYS_OWED: Final = ("definition", "in-bounds", "index-range", "converse")
"""What every operation with operands owes, the first the first to tell."""

REMEMBERED: Final = 4_096
"""Statements of claims that are recognised when they come again."""


@dataclass(slots=True)
class _Part:
    """One owed claim: its obligations by number, or why there are none."""

    owed: Owed
    numbers: tuple[int, ...] = ()
    failure: tuple[Verdict, str] | None = None
    final: bool = True
    """False where the failure is one of time."""
    again: _Part | None = None
    """The second statement, where one is asked for."""


@dataclass(slots=True)
class _Work:
    verdicts: OperationVerdicts
    parts: list[_Part] = field(default_factory=list)


class Prover:
    """Gathers what operations owe, proves equal obligations once, and fills in the verdicts."""

    def __init__(self, selection: Selection, twice: bool = False) -> None:
        """`twice`: what is proved has to be proved in a second statement too."""
        self._selection, self._twice = selection, twice
        self._works: list[_Work] = []
        self._numbers: dict[Obligation, int] = {}
        self._obligations: list[Obligation] = []
        self._labels: list[str] = []
        self._stated: dict[int, tuple[Sequence[Obligation], tuple[int, ...]]] = {}
        """Statements by identity, which they keep as long as they stand here, and the numbers of their obligations."""
        self.outcomes: list[Outcome | None] = []

    @property
    def distinct(self) -> int:
        """How many different obligations there are."""
        return len(self._obligations)

    @property
    def last_was_stated(self) -> bool:
        """All that was added last could be stated."""
        return bool(self._works) and all(part.failure is None for part in self._works[-1].parts)

    def add(self, owe: Callable[[], Iterable[Owed]], what: str) -> OperationVerdicts:
        """Gather what `owe` returns; the verdicts are filled in by `settle`. `what` names it in the progress display.

        What is not modelled becomes an unknown claim, and an exception an internal one, with its reason.
        """
        work = _Work(OperationVerdicts())
        self._works.append(work)
        try:
            checkpoint()
            for owed in owe():
                if self._selection.takes_claim(owed.claim):
                    part = self._part(owed, owed.obligations, what)
                    if self._twice and part.failure is None:
                        part.again = self._part(owed, owed.obligations_again, what)
                    work.parts.append(part)
        except NotModelled as error:
            self._unowed(work, Verdict.UNKNOWN, str(error))
        except OutOfTime as error:
            self._unowed(work, Verdict.UNKNOWN, str(error), final=False)
        except Exception as error:  # a defect of one operation's table entry must not end the run
            self._unowed(work, Verdict.INTERNAL, _exception(error))
        return work.verdicts

    def _unowed(self, work: _Work, verdict: Verdict, reason: str, final: bool = True) -> None:
        """What an operation owes cannot be said: a failure of its definition, or of the first claim that is asked for
        and that every operation with operands owes. One that is internal or for want of time is never left out."""
        asked = [claim for claim in ALWAYS_OWED if self._selection.takes_claim(claim)]
        if not asked and (verdict is Verdict.INTERNAL or not final):
            asked = ["definition"]
        work.parts += [_Part(_Unowed(claim), failure=(verdict, reason), final=final) for claim in asked[:1]]

    def _part(self, owed: Owed, obligations: Callable[[], Sequence[Obligation]], what: str) -> _Part:
        try:
            with stage(f"stating {owed.claim}"):
                return _Part(owed, self._all_numbers(obligations(), what))
        except NotModelled as error:
            return _Part(owed, failure=(Verdict.UNKNOWN, str(error)))
        except OutOfTime as error:
            return _Part(owed, failure=(Verdict.UNKNOWN, str(error)), final=False)
        except Exception as error:
            return _Part(owed, failure=(Verdict.INTERNAL, _exception(error)))

    def _all_numbers(self, stated: Sequence[Obligation], what: str) -> tuple[int, ...]:
        checkpoint()
        known = self._stated.get(id(stated))
        if known is not None:  # the very same, which equal claims are given
            return known[1]
        numbers = tuple(self._number(o, what) for o in stated)
        if len(self._stated) >= REMEMBERED:
            self._stated.clear()
        self._stated[id(stated)] = (stated, numbers)
        return numbers

    def _number(self, obligation: Obligation, what: str) -> int:
        checkpoint()
        number = self._numbers.get(obligation)
        if number is None:
            number = self._numbers[obligation] = len(self._obligations)
            self._obligations.append(obligation)
            self._labels.append(what)
        return number

    def prove(self, engine: BatchProver, progress: Progress | None = None, fail_fast: bool = False) -> None:
        """Prove everything gathered. On KeyboardInterrupt what is decided stays, and the exception goes on."""
        self.outcomes = [None] * len(self._obligations)
        done = 0

        def decided(number: int, outcome: Outcome) -> None:
            nonlocal done
            outcome = replayed(self._obligations[number], outcome)
            done += self.outcomes[number] is None
            self.outcomes[number] = outcome
            if progress is not None:
                progress(done, len(self._obligations), self._labels[number])
            if fail_fast and outcome.verdict == "refuted":
                raise _Enough

        with suppress(_Enough):
            engine(self._obligations, decided)

    def settle(self, missing: str) -> None:
        """Fill in the verdicts of everything gathered; `missing` is the reason for what was not decided."""
        self.outcomes += [None] * (len(self._obligations) - len(self.outcomes))
        for work in self._works:
            by_claim: dict[str, list[_Part]] = {}
            for part in work.parts:
                by_claim.setdefault(part.owed.claim, []).append(part)
            work.verdicts.claims = tuple(self._claim(name, parts, missing) for name, parts in by_claim.items())

    def _claim(self, name: str, parts: list[_Part], missing: str) -> Found:
        verdicts: list[Verdict] = []
        engines: set[str] = set()
        assumptions: dict[str, None] = {}
        ms, counterexample, final = 0.0, None, True
        reasons: dict[Verdict, str] = {}
        for part in parts:
            assumptions |= dict.fromkeys(part.owed.assumptions)
            if part.failure is not None:
                final = final and part.final
                verdicts.append(part.failure[0])
                reasons.setdefault(part.failure[0], _named(part.owed, part.failure[1]))
            for number in part.numbers:
                outcome = self.outcomes[number] or Outcome("unknown", reason=missing, final=False)
                final = final and outcome.final
                verdict = Verdict(outcome.verdict)
                engines.update(outcome.engines)
                ms += outcome.ms
                if verdict is Verdict.REFUTED and counterexample is None:
                    try:
                        counterexample, doubt = part.owed.judge(dict(outcome.model), self._obligations[number])
                        if doubt is not None:
                            verdict, outcome = Verdict.UNKNOWN, Outcome("unknown", reason=doubt)
                    except OutOfTime:
                        counterexample = ", ".join(f"{name} = {value}" for name, value in outcome.model)
                    except Exception as error:
                        verdict, outcome = Verdict.INTERNAL, Outcome("unknown", reason=_exception(error))
                verdicts.append(verdict)
                if verdict in (Verdict.UNKNOWN, Verdict.INTERNAL):
                    reasons.setdefault(verdict, _named(part.owed, outcome.reason))
        verdict = worst(verdicts)
        if verdict is Verdict.PROVED and self._twice:
            verdict, reason, took, used, final = self._second(parts, missing)
            reasons[verdict] = reason
            ms += took
            engines |= used
        return Found(
            verdict,
            tuple(sorted(engines)),
            counterexample if verdict is Verdict.REFUTED else None,
            reasons.get(verdict) or None,
            tuple(assumptions),
            name,
            ms,
            final,
        )

    def _second(self, parts: list[_Part], missing: str) -> tuple[Verdict, str, float, frozenset[str], bool]:
        """What the second statements say of a claim that is proved in the first: the verdict, its reason, the time, the
        engines, and whether it is final."""
        ms, engines = 0.0, frozenset[str]()
        late: tuple[str, bool] | None = None
        for part in (p for p in parts if p.again is not None):
            assert part.again is not None
            if part.again.failure is not None:
                verdict, reason = part.again.failure
                if verdict is Verdict.INTERNAL:
                    return verdict, reason, ms, engines, True
                late = late or (f"no second statement: {_named(part.owed, reason)}", part.again.final)
            for number in part.again.numbers:
                outcome = self.outcomes[number] or Outcome("unknown", reason=missing, final=False)
                ms += outcome.ms
                engines |= frozenset(outcome.engines)
                if outcome.verdict in ("refuted", "internal"):
                    said = f"proved in one statement and refuted in another, at {dict(outcome.model)}"
                    reason = said if outcome.verdict == "refuted" else outcome.reason
                    return Verdict.INTERNAL, _named(part.owed, reason), ms, engines, True
                if outcome.verdict == "unknown":
                    late = late or (_named(part.owed, f"the second statement: {outcome.reason}"), outcome.final)
        return (Verdict.UNKNOWN, late[0], ms, engines, late[1]) if late else (Verdict.PROVED, "", ms, engines, True)


class _Enough(Exception):
    """The first refutation, where that is all that was asked for."""


@dataclass(frozen=True)
class _Unowed:
    """Stands for the claims of an operation whose table entry could not even be made."""

    claim: str
    subject: str = ""
    assumptions: tuple[str, ...] = ()

    def obligations(self) -> tuple[Obligation, ...]:
        return ()

    def obligations_again(self) -> tuple[Obligation, ...]:
        return ()

    def judge(self, model: dict[str, int], obligation: Obligation) -> tuple[str | None, str | None]:
        raise AssertionError("owes no obligation")


def _named(owed: Owed, reason: str) -> str:
    return f"{owed.subject}: {reason}" if owed.subject else reason


def _exception(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
