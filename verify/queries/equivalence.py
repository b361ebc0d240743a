"""Two modules: proved equal, refuted by a run that shows a difference, or unknown.

The prover comes first, as it is fast; where it takes long, the refuter has a look; what is left of the budget is the
refuter's. A proof that speaks of real numbers stands where runs show that both modules lose none whatever they are
given, and any proof where the module after keeps each array for as long as it is read.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic
from typing import Any, Final

from hloproof.equivalence.answer import TIERS, Certificate, Mismatch, Result, Tier
from hloproof.equivalence.boundary import check_boundary
from hloproof.equivalence.configurations import unknown_of_module
from hloproof.equivalence.decide import decide
from hloproof.equivalence.refuting.lost_numbers import where_constants_are_lost
from hloproof.equivalence.refuting.refute import Refutation, Refuter
from hloproof.equivalence.refuting.witness import where_a_number_is_lost
from hloproof.models.errors import InputError
from hloproof.models.hlo.beside import unknown_in
from hloproof.models.hlo.module import Module
from hloproof.models.hlo.parser import parse_modules
from hloproof.queries.kept_arrays import overwritten
from hloproof.results.verdict import Verdict

_PROVING: Final = 0.4
"""The part of the budget that the prover may use up."""
_GLANCE: Final = 0.2
"""The part that the refuter may use up before the prover goes on, and once more where it suspects something."""
_BESIDE: Final = 0.05
"""The part that a run beside a proof may use up: most end in less, and of what takes long nothing is said."""
_WATCHED: Final = 0.15
"""The part that runs of each module may use up which show that it loses no constant: without any the proof does not
stand."""


@dataclass(frozen=True)
class Answer:
    """What is said about two modules. `mismatch` goes with unknown, `certificate` with proved."""

    verdict: Verdict
    reason: str
    axioms: tuple[tuple[str, Tier], ...] = ()
    mismatch: Mismatch | None = None
    certificate: Certificate | None = None
    refutation: Refutation | None = None
    seconds: float = 0.0

    def as_json(self) -> dict[str, Any]:
        """For `hloproof serve` and `--format json`. There is no fourth verdict: a claim of the matcher that the checker
        denies is unknown, with that reason."""
        verdict = Verdict.UNKNOWN if self.verdict is Verdict.INTERNAL else self.verdict
        return {
            "verdict": str(verdict),
            "reason": self.reason,
            "axioms": [{"name": name, "tier": tier} for name, tier in self.axioms],
            "counterexample": self.refutation.as_json() if self.refutation else None,
            "mismatch": self.mismatch.as_json() if self.mismatch and not self.refutation else None,
            "seconds": round(self.seconds, 6),
        }


def tier_named(name: str) -> Tier:
    """The tier of this name. Raises LookupError with a sentence."""
    for tier in TIERS:
        if tier == name:
            return tier
    raise LookupError(f"tier is {', '.join(TIERS[:-1])} or {TIERS[-1]}, not {name!r}")


def one_module(text: str, file: str = "") -> Module:
    """The only module of a text. Raises InputError."""
    found = parse_modules(text, file)
    if len(found) != 1:
        raise InputError(f"{len(found)} modules where one was expected", 1, 1, file=file)
    return found[0]


def compare(
    before: Module, after: Module, tier: Tier = "rounding", budget_seconds: float = 10.0, file: str = ""
) -> Answer:
    """Whether both give equal results for all inputs. Raises InputError, with lines of `after`, when parameters or
    results do not fit each other."""
    start = monotonic()
    try:
        check_boundary(before, after, file)
    except InputError as error:
        if not _partitioned(before, after):
            raise
        return Answer(Verdict.UNKNOWN, f"what SPMD partitioning does is not modelled: {error}")
    refuter = Refuter(before, after)
    found: Refutation | str | None = None

    def glance() -> bool:
        nonlocal found
        found = refuter.glance(_GLANCE * budget_seconds)
        return found is not None

    result = decide(before, after, tier, _PROVING * budget_seconds, glance)
    if result.verdict is Verdict.UNKNOWN and found is None:
        found = refuter.find(budget_seconds - (monotonic() - start))
    result = standing(before, after, result, budget_seconds - (monotonic() - start), budget_seconds)
    seconds = monotonic() - start
    if isinstance(found, Refutation):
        if unread := sorted(_unread(before) | _unread(after)):
            told = f"not known is what these say: {', '.join(unread)}; without them {found.reason}"
            return Answer(Verdict.UNKNOWN, told, seconds=seconds)
        return Answer(Verdict.REFUTED, found.reason, refutation=found, seconds=seconds)
    reason = f"{result.reason}; {found}" if found else result.reason
    return Answer(result.verdict, reason, result.axioms, result.mismatch, result.certificate, seconds=seconds)


def standing(before: Module, after: Module, result: Result, seconds: float, budget_seconds: float) -> Result:
    """The result, or unknown: a proof over real numbers where a run shows a number that is lost, or none ends, and any
    proof where the module after does not keep an array for as long as it is read."""
    deadline = monotonic() + seconds
    if result.verdict is Verdict.PROVED and any(of != "exact" for _, of in result.axioms):
        told = where_a_number_is_lost(before, after, min(seconds, _BESIDE * budget_seconds))
        for module, name in () if told else ((before, "before"), (after, "after")):
            lost = where_constants_are_lost(module, min(deadline - monotonic(), _WATCHED * budget_seconds))
            told = told or (f"of the module {name}: {lost}" if lost else "")
        result = Result(Verdict.UNKNOWN, f"equal over the real numbers, but {told}") if told else result
    if result.verdict is Verdict.PROVED:
        told = overwritten(before, after, deadline - monotonic())
        result = Result(Verdict.UNKNOWN, f"equal as the texts say, but {told}") if told else result
    return result


def _unread(module: Module) -> frozenset[str]:
    """What is written beside operations, or the module, and is not known: it may change what is computed."""
    return unknown_in(module) | {f"{name} of the module" for name, _ in unknown_of_module(module)}


def _partitioned(before: Module, after: Module) -> bool:
    """One of the two is a program for several partitions: its parameters may be shards of the other's."""
    return any(m.attributes.integer("num_partitions", 1) > 1 for m in (before, after))
