"""Target `roundings`: what is proved at tier rounding is no further apart than roundings are, for some inputs."""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st

from hloproof.fuzz.drawing import from_choices
from hloproof.fuzz.roundings.generate_roundings import pair
from hloproof.fuzz.roundings.running_errors import NoNumber, results
from hloproof.fuzz.target import Failure, Target
from hloproof.models.hlo.parser import parse_modules
from hloproof.queries.equivalence import compare
from hloproof.results.verdict import Verdict

_INPUTS: Final = (
    ((1.0, 1.5, 3.0), (2.0, 0.5, 1.25)),
    ((-1.0, 0.5, 1.75), (3.0, -2.0, 1.0)),
    ((0.0, 0.0, 0.0), (1.0, 1.0, 1.0)),
    ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
)
"""Numbers of every type; zeros show what stands beside them."""
_SECONDS: Final = 1.0
_CHOICES: Final = 160


def examine(text: str) -> tuple[str, ...]:
    before, after = parse_modules(text, "case.hlo")
    answer = compare(before, after, "rounding", _SECONDS)
    if answer.verdict is Verdict.INTERNAL:
        raise Failure("roundings: an internal error", answer.reason)
    if answer.verdict is not Verdict.PROVED:
        return (answer.verdict.value,)
    for inputs in _INPUTS:
        try:
            pairs = list(zip(results(before, inputs), results(after, inputs), strict=True))
        except NoNumber:
            continue
        for k, (one, other) in enumerate(pairs):
            if one.apart(other):
                told = f"element {k} is {float(one.value):g} before and {float(other.value):g} after for {inputs}"
                raise Failure("roundings: proved, and apart by more than roundings", told)
    return (answer.verdict.value, *(f"by {name}" for name, _ in answer.axioms))


def cases() -> st.SearchStrategy[str]:
    return from_choices(pair, _CHOICES)


TARGET = Target(
    "roundings", "proofs at tier rounding against bounds on errors, operation by operation", cases, examine, ".hlo"
)
