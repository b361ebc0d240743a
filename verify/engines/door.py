"""The one door to the engines: obligations go in, outcomes come out, the same way for every claim.

Equal obligations are proved once. Known ones are taken from the cache, what is new is kept there; certificates are
written for what is proved; every outcome is told to whoever counts. The others are proved in this process, whose limits
are deterministic, or by workers that can be killed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal

from hloproof.engines.budget import DEFAULT, Budget
from hloproof.engines.cache import Cache
from hloproof.engines.worker import OnResult, Task, prove_many
from hloproof.logic.formula import atoms
from hloproof.logic.normal_form import key
from hloproof.logic.obligation import Obligation, Outcome
from hloproof.logic.replay import replayed
from hloproof.models.expressions.expr import Binary, Expr, postorder
from hloproof.models.stages import OutOfTime, checkpoint, seconds_left

Where = Literal["by size", "here", "apart", "workers"]

Prove = Callable[[Obligation], Outcome]
"""The door for whoever asks about one obligation after the other: `prove_one` with its `How`."""

LARGE: Final = 200
"""Obligations with more operators are large: by size they are proved apart."""


@dataclass(frozen=True)
class How:
    """How to prove: decided once for a run, and handed to every claim."""

    budget: Budget = DEFAULT
    cross: bool = False
    """Two engines that share no encoder must agree."""
    where: Where = "by size"
    """here: in this process. workers: by workers, which are killed when time or memory runs out. apart: briefly here,
    by engines whose limits hold, and what they leave by workers. by size: here, the large ones by workers."""
    jobs: int = 1
    """Workers; 0 means one per core."""
    total_seconds: float | None = None
    cache: Path | None = None
    """The file of the proof cache, or None."""
    certify: Path | None = None
    """The folder for certificates of what was proved, or None."""
    reproductions: Path | None = None
    """The folder for files that show an error of this tool; default: the working folder."""
    warn: Callable[[str], None] | None = None
    known: dict[str, Outcome] | None = None
    """What was proved before in this process, by normal form; what is proved is put into it."""
    told: Callable[[Outcome], None] | None = None
    """Is told every outcome, with the time that each stage took."""
    engine: str = ""
    """The one stage that is asked, in this process, within its deterministic limits; '' asks them in their order. For
    rules: they are judged in processes that can be killed, ask hundreds of questions, and know who is good at which."""
    opened: Cache | None = field(default=None, compare=False)
    """The cache, where it is held open: see `held_open`."""

    @property
    def task(self) -> Task:
        return Task(self.budget, self.cross, self.reproductions)


HOW: Final = How()


@contextmanager
def held_open(how: How) -> Iterator[How]:
    """The same, with its cache open until the end: for whoever asks often, and little at a time."""
    if how.cache is None or how.opened is not None:
        yield how
        return
    with Cache(how.cache, how.warn) as cache:
        yield replace(how, opened=cache)


def prove_one(obligation: Obligation, how: How = HOW) -> Outcome:
    """The outcome of one obligation: see `prove`."""
    return prove((obligation,), how)[0]


def prove(obligations: Sequence[Obligation], how: How = HOW, decided: OnResult | None = None) -> tuple[Outcome, ...]:
    """The outcomes, in the order of the obligations; each is told to `decided` by its position as it is known.

    KeyboardInterrupt and whatever `decided` raises end the run; what was decided is in the cache.
    """
    found: dict[int, Outcome] = {}

    def report(number: int, outcome: Outcome) -> None:
        found[number] = outcome
        if how.told is not None:
            how.told(outcome)
        if decided is not None:
            decided(number, outcome)

    groups = _equal(obligations, report)
    if groups:
        with held_open(how) as kept:
            _prove_groups(obligations, groups, kept, report)
    return tuple(found[number] for number in range(len(obligations)))


def _equal(obligations: Sequence[Obligation], report: OnResult) -> dict[str, list[int]]:
    """The positions of equal obligations, by their normal form."""
    groups: dict[str, list[int]] = {}
    for number, obligation in enumerate(obligations):
        try:
            checkpoint()
            # By normal form, so that operations which differ in names alone share a proof; nothing of the simplifier is
            # in it, since a wrong rule would then make two obligations one.
            groups.setdefault(key(obligation), []).append(number)
        except OutOfTime as error:
            report(number, Outcome("unknown", reason=str(error), final=False))
        except KeyError as error:  # not closed: who stated it is wrong, and the others are not to suffer
            reason = f"the obligation `{obligation.label}` has a variable {error} that it does not declare"
            report(number, Outcome("internal", reason=reason))
    return groups


def _prove_groups(obligations: Sequence[Obligation], groups: dict[str, list[int]], how: How, report: OnResult) -> None:
    """One proof for each group of equal obligations."""
    cache = how.opened
    # What one stage says is another fact than what all say, and what it leaves open is so for these limits alone.
    asked = f" {how.engine}" if how.engine else ""
    cross = how.cross and not how.engine
    limits = f"{asked} {how.budget.deterministic()}" if how.engine else " of two" if cross else ""

    def decided(digest: str, outcome: Outcome, new: bool) -> None:
        group = groups[digest]
        name = _certify(how, obligations[group[0]], outcome)
        if how.known is not None and new and outcome.final:
            # What time or memory decided is not remembered: the next request may have more of either.
            how.known[digest + limits] = outcome
        if cache and new:
            cache.put(obligations[group[0]], outcome, how.budget, cross, digest + asked, name)
        values = [v for _, v in outcome.model]
        for position, number in enumerate(group):
            names = [name for name, _ in obligations[number].variables]
            mine = replace(outcome, model=tuple(zip(names, values, strict=True)) if values else ())
            # It was an answer to an obligation with other names, or in another order.
            mine = replayed(obligations[number], mine) if position else mine
            # The time is counted once.
            report(number, mine if position == 0 else replace(mine, ms=0.0, stages=(("equal", 0.0),)))

    apart: list[str] = []
    for digest, group in groups.items():
        obligation = obligations[group[0]]
        before = how.known.get(digest + limits) if how.known is not None else None
        if before is None and cache:
            before = cache.get(obligation, how.budget, cross, digest + asked)
        if before is not None:
            decided(digest, before, False)
            continue
        outcome = _here(obligation, how)
        if outcome is None:
            # Not handed on at once: the workers get all of them together, so that as many are started as there is work
            # for.
            apart.append(digest)
        else:
            decided(digest, outcome, True)

    prove_many(
        [obligations[groups[digest][0]] for digest in apart],
        how.jobs,
        how.task,
        lambda position, outcome: decided(apart[position], outcome, True),
        how.total_seconds if how.total_seconds is not None else seconds_left(),
        how.where == "apart",
    )


def _here(obligation: Obligation, how: How) -> Outcome | None:
    """What is proved in this process; None for what is left to the workers."""
    large = how.where == "by size" and _is_large(obligation)
    # Under `cross` nothing is brief: the second engine is one whose limits do not always hold.
    if not how.engine and (how.where == "workers" or large or (how.where == "apart" and how.cross)):
        return None
    from hloproof.engines import portfolio  # the solvers are imported when they are first needed

    try:
        if how.engine:
            return portfolio.prove_by(how.engine, obligation, how.budget, how.reproductions)
        if how.where == "apart":
            return portfolio.prove_briefly(obligation, how.budget, how.reproductions)
        return portfolio.prove(obligation, how.budget, how.cross, how.reproductions)
    except RecursionError:
        return Outcome("unknown", reason="a formula nested too deeply")
    except OutOfTime as error:
        return Outcome("unknown", reason=str(error), final=False)


def _is_large(obligation: Obligation) -> bool:
    seen: set[Expr] = set()
    for formula in (obligation.hypothesis, obligation.conclusion):
        for atom in atoms(formula):
            for side in (atom.lhs, atom.rhs):
                if side not in seen:
                    seen.update(e for e in postorder(side) if isinstance(e, Binary))
        if len(seen) > LARGE:
            return True
    return False


def _certify(how: How, obligation: Obligation, outcome: Outcome) -> str:
    """Write the certificate of what was proved; returns its file's name, '' where there is none."""
    if how.certify is None or outcome.verdict != "proved":
        return ""
    from hloproof.engines.certificate import write

    return write(obligation, outcome, how.certify).name
