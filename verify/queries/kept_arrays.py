"""Whether a module keeps each array for as long as it is read.

A proof of equality follows values. In a schedule, and where buffers have to be shared, a module may write over one that
it still needs, and then gives another value than its text says: a pass that loses a copy is wrong though the texts
agree.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from hloproof.claims.asynchronous import judge
from hloproof.claims.asynchronous.judgement import Judgement
from hloproof.engines.door import How
from hloproof.models.hlo.module import Module
from hloproof.models.stages import Run, running
from hloproof.results.verdict import Verdict

_HAZARDS: Final = "hazard-"


def overwritten(before: Module, after: Module, seconds: float) -> str:
    """Why the module after may give other values than its text says, as the one before does not; empty where each array
    is shown to be kept, or the one before is told to be as wrong. So is what takes longer."""
    found, late = _not_kept(after, seconds)
    if late:
        return f"{late}, before it was known whether the module after keeps its arrays"
    if not found:
        return ""
    excuses = Counter((j.claim, j.found.verdict) for j in _not_kept(before, seconds)[0])
    for j in found:
        kind = (j.claim, j.found.verdict)
        excuses[kind] -= 1
        if excuses[kind] < 0:
            said = (j.problem or j.found.reason or "").split("\n", 1)[0]
            return f"{j.claim} of {j.place.instruction} in the module after is {j.found.verdict.value}: {said}"
    return ""


def _not_kept(module: Module, seconds: float) -> tuple[list[Judgement], str]:
    """The hazards that are not proved to be none, and why some were not looked at; of these none is among them."""
    run = Run(max(seconds, 0.0), limit="budget")
    how = How(where="here")  # within the limits of the engines that are counted
    with running(run):
        judged = list(judge(module, lambda claim: claim.startswith(_HAZARDS), lambda _name: False, how=how))
    if run.ended:
        return [], "the time ran out"
    return [j for j in judged if j.found.verdict is not Verdict.PROVED], ""
