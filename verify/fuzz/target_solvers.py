"""Target `solvers`: isl, Z3, the structural stages and enumeration give one answer to random obligations."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from math import prod
from typing import Final

from verify.budget import Budget
from verify.evaluate import TooManySteps, is_counterexample, truth
from verify.fuzz.generate_maps import obligation_texts
from verify.fuzz.predicate import python_expression
from verify.fuzz.target import Failure, Target
from verify.obligation import Obligation
from verify.portfolio import prove
from verify.reproduction import from_json

MOST_POINTS: Final = 600
BUDGET: Final = Budget(isl_operations=2_000_000, z3_rlimit=2_000_000, enumeration_points=20_000, seconds=10)


def examine(text: str) -> tuple[str, ...]:
    from verify import encode_isl, encode_z3, enumerate_points
    from verify.engine import GaveUp, NotExpressible

    obligation = from_json(json.loads(text))
    answers: dict[str, dict[str, int] | None] = {}
    engines: dict[str, Callable[[], dict[str, int] | None]] = {
        "isl": lambda: encode_isl.find_counterexample(obligation, BUDGET.isl_operations),
        "z3": lambda: encode_z3.find_counterexample(obligation, BUDGET.z3_rlimit),
        "enumeration": lambda: enumerate_points.find_counterexample(obligation, BUDGET.enumeration_points),
    }
    covered = []
    for name, ask in engines.items():
        try:
            answers[name] = ask()
        except (GaveUp, NotExpressible, TooManySteps):
            covered.append(f"{name} passes")
            continue
        covered.append(f"{name} answers")
        _replays(obligation, name, answers[name])
    _evaluated(obligation, answers)
    said = {name: "refuted" if model is not None else "proved" for name, model in answers.items()}
    outcome = prove(obligation, BUDGET)
    if outcome.verdict != "unknown":
        said["portfolio"] = outcome.verdict
        if outcome.verdict == "refuted":
            _replays(obligation, "portfolio", dict(outcome.model))
    if len(set(said.values())) > 1:
        raise Failure("solvers: engines disagree", ", ".join(f"{n}: {v}" for n, v in sorted(said.items())))
    return (*covered, *set(said.values()))


def _evaluated(obligation: Obligation, answers: dict[str, dict[str, int] | None]) -> None:
    """The judge of counterexamples against formulas written out in Python, at every point of a small box; the first
    point that fails is the answer `points`."""
    intervals = [i for _, i in obligation.variables if i is not None]
    if len(intervals) < len(obligation.variables) or prod(i.count for i in intervals) > MOST_POINTS:
        return
    names = [name for name, _ in obligation.variables]
    scope = {"any": any, "range": range, "min": min, "max": max}
    written = [
        eval(f"lambda {', '.join(names)}: {python_expression(f)}", dict(scope))
        for f in (obligation.hypothesis, obligation.conclusion)
    ]
    answers["points"] = None
    for values in product(*(range(i.lower, i.upper + 1) for i in intervals)):
        point = dict(zip(names, values, strict=True))
        for formula, by_python in zip((obligation.hypothesis, obligation.conclusion), written, strict=True):
            try:
                judged = truth(formula, point)
            except TooManySteps:
                continue
            if judged is not by_python(*values):
                raise Failure("solvers: the evaluator is wrong at a point", f"{point}: {judged}")
        if answers["points"] is None and written[0](*values) and not written[1](*values):
            answers["points"] = point


def _replays(obligation: Obligation, name: str, model: dict[str, int] | None) -> None:
    try:
        if model is not None and not is_counterexample(obligation, model):
            raise Failure(f"solvers: a counterexample of {name} does not replay", str(model))
    except TooManySteps:
        return


TARGET = Target(
    "solvers", "isl, Z3, structure and enumeration agree on random obligations", obligation_texts, examine, ".json", ""
)
