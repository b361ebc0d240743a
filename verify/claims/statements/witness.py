"""When the counterexample of an engine refutes a claim: the one place where that is decided for statements in parts.

An obligation is made smaller than what it says, and may name the one value that something said to exist can have. So a
point at which it fails is looked at once more without any of that: the whole statement is computed there, and the map
and the definition are asked whether they differ. What does not stand then is unknown, with the point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from hloproof.claims.statements.statement import Part, Point
from hloproof.logic.evaluate import TooManySteps, is_counterexample
from hloproof.logic.obligation import Obligation, Outcome
from hloproof.logic.replay import DISAGREE, replayed
from hloproof.models.expressions.evaluate import UndefinedValue


def doubt(part: Part, model: Point) -> str | None:
    """Why a model of the obligation does not refute the claim; None where it does."""
    said = _doubt(part, model)
    if said is None:
        return None
    at = ", ".join(f"{n} = {v}" for n, v in model.items()) or "the only point"
    return f"{part.obligation.label}: {said} ({at})"


def _doubt(part: Part, model: Point) -> str | None:
    if not part.necessary:
        return "a step that is enough and may not be needed fails, which refutes nothing"
    try:
        if not is_counterexample(part.obligation, model):
            return f"{DISAGREE}: the counterexample of a solver does not replay"
        if part.plain is not None and not is_counterexample(part.plain, part.whole(model)):
            return f"{DISAGREE}: the counterexample is none of the whole statement"
        if part.possible is not None and not part.possible(part.whole(model)):
            return "fails for values that are read, and no contents are found that give them"
        if part.replay is not None and not part.replay(part.whole(model)):
            return "fails for the value that was solved for, and holds for another"
    except (TooManySteps, KeyError, UndefinedValue):
        return "fails for the value that was solved for, and others are not gone through"
    return None


def told(parts: Iterable[Part], model: Point) -> tuple[str | None, str | None]:
    """The counterexample in the words of the first part that it refutes, or else why it refutes none of them."""
    first: str | None = None
    for part in parts:
        why = doubt(part, model)
        if why is None:
            return part.describe(dict(model)), None
        first = first or why
    return None, first


def asked(part: Part, prove: Callable[[Obligation], Outcome]) -> Outcome:
    """What a prover says of a part, its refutation replayed on the statement and on what it is about."""
    outcome = replayed(part.obligation, prove(part.obligation))
    why = doubt(part, dict(outcome.model)) if outcome.verdict == "refuted" else None
    return outcome if why is None else Outcome("unknown", reason=why, ms=outcome.ms)
