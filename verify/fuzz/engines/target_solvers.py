"""Target `solvers`: isl, Z3, the structural stages and enumeration give one answer to random obligations.

Where the domain is small the answer is read off point by point. Every engine has to decide what lies in its fragment,
every counterexample is replayed, and the judge of counterexamples is itself held against the reading.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from hypothesis import strategies as st

from hloproof.engines import enumeration as enumerate_points
from hloproof.engines.budget import Budget
from hloproof.engines.gave_up import GaveUp, OutOfMemory
from hloproof.engines.isl import encode as encode_isl
from hloproof.engines.isl.basic_sets import context
from hloproof.engines.portfolio import prove
from hloproof.engines.smtlib import encode as encode_smtlib
from hloproof.engines.z3 import encode as encode_z3
from hloproof.fuzz.drawing import Replayed, from_choices
from hloproof.fuzz.engines.generate_obligations import KINDS, OUTRIGHT, connected, divided, law
from hloproof.fuzz.engines.judge_checks import attained, failing_points, settled_at_once
from hloproof.fuzz.engines.reading import Point, has_exists, points, size_of, terms, work
from hloproof.fuzz.engines.structural_checks import structure
from hloproof.fuzz.engines.symbolic_checks import symbolic
from hloproof.fuzz.target import Failure, Target
from hloproof.logic.evaluate import TooManySteps, is_counterexample
from hloproof.logic.obligation import Obligation
from hloproof.logic.reproduction import from_json, to_json
from hloproof.models.expressions.expr import Binary, Expr
from hloproof.models.expressions.interval import Interval

CHOICES: Final = 160
"""The small things that are asked beside an obligation take about so many."""
CHOICES_OF_OBLIGATION: Final = 500
MOST_WORK: Final = 6000
"""So many comparisons are made point by point, at most."""
BUDGET: Final = Budget(isl_operations=2_000_000, z3_rlimit=2_000_000, enumeration_points=2_000, seconds=10)

GO_ON: Final = 1
"""isl's number for what to do at an error: say so, and go on."""

Answer = Point | None
"""A counterexample, or None for: there is none."""


def _case(w: Replayed) -> str:
    """An obligation, and the choices of the small things that are asked beside it."""
    beside = w.some(CHOICES).hex()
    obligation = w.one_of(KINDS)(w)
    return json.dumps({"choices": beside, "label": obligation.label, **to_json(obligation)})


def cases() -> st.SearchStrategy[str]:
    return from_choices(_case, CHOICES + CHOICES_OF_OBLIGATION)


def examine(text: str) -> tuple[str, ...]:
    data = json.loads(text)
    obligation, w = from_json(data), Replayed(bytes.fromhex(data.get("choices", "")))
    turn = w.number(0, 2**16 - 1)
    answers: dict[str, Answer] = {}
    linear = _all_linear(obligation)
    small = _work(obligation) <= MOST_WORK
    if small:
        failing = failing_points(obligation)
        answers["points"] = failing[0] if failing else None
        _at_single_points(obligation, failing, turn, also_z3=turn % 4 == 1)
    for formula in (obligation.hypothesis, obligation.conclusion):
        settled_at_once(formula)
    beside = (connected, divided)[turn % 2](w)
    _at_single_points(beside, failing_points(beside), turn)
    if _asked(partial(encode_isl.find_counterexample, law(w, outright=True), 0)) != (True, None):
        raise Failure("solvers: isl's encoder does not settle a law of quotients", text)
    for check in (attained, partial(structure, obligation), *((symbolic,) if turn % 3 == 0 else ())):
        check(w)
    covered = ["linear" if linear else "not linear", "read" if small else "too large to be read"]
    for name, owed, ask in _engines(obligation, turn):
        answered, answer = _asked(ask)
        if answered:
            _replays(obligation, name, answer)
            answers[name] = answer
        elif linear if owed is None else owed:
            raise Failure(f"solvers: {name} does not decide what it can", text)
        covered.append(f"{name} {'answers' if answered else 'passes'}")
    if "isl" in answers:
        _limits(obligation, answers["isl"] is not None)
    said = {name: "refuted" if model is not None else "proved" for name, model in answers.items()}
    if len(set(said.values())) > 1:
        raise Failure("solvers: engines disagree", ", ".join(f"{n}: {v}" for n, v in sorted(said.items())))
    if "points" in answers and "enumeration" in answers and answers["points"] != answers["enumeration"]:
        raise Failure("solvers: enumeration does not find the first counterexample", str(answers))
    return (*covered, *set(said.values()))


# what is asked


def _engines(obligation: Obligation, turn: int) -> Iterator[tuple[str, bool | None, Callable[[], Answer]]]:
    """The engines that are asked: name, whether it owes an answer (None: where the obligation is linear), question.

    Of the ways to Z3 one is asked, in turn, since they cost most.
    """
    few = _work(obligation) <= MOST_WORK and (size_of(obligation) or 0) <= BUDGET.enumeration_points
    limit = BUDGET.z3_rlimit if few else BUDGET.z3_rlimit // 20

    def by_tactics() -> Answer:
        encoded = encode_z3.encode(obligation)
        if turn % 16 == 2:
            _own_contexts(obligation, encoded.solver.ctx)
        encoded.solver.set("rlimit", limit)
        return _satisfied(str(encoded.solver.check()), lambda: encoded.values(encoded.solver.model()))

    def by_text() -> Answer:
        said, values = encode_z3.decide(encode_smtlib.to_smtlib(obligation), limit)
        names = encode_smtlib.variable_names(obligation).items()
        return _satisfied(said, lambda: {name: values.get(written, 0) for name, written in names})

    ways: tuple[tuple[str, Callable[[], Answer]], ...] = (
        ("z3", lambda: encode_z3.find_counterexample(obligation, limit)),
        ("z3 quickly", lambda: encode_z3.find_counterexample_quickly(obligation, limit)),
        ("z3 by tactics", by_tactics),
        ("z3 on SMT-LIB", by_text),
    )
    yield "isl", None, lambda: encode_isl.find_counterexample(obligation, BUDGET.isl_operations)
    if obligation.label == OUTRIGHT:
        yield "isl without a step", True, lambda: encode_isl.find_counterexample(obligation, 0)
    name, ask = ways[turn % len(ways)]
    yield name, few and _is_easy(obligation), ask
    size = size_of(obligation)
    most = size if few and size else BUDGET.enumeration_points
    yield "enumeration", few, lambda: enumerate_points.find_counterexample(obligation, most)
    yield "portfolio", few or None, lambda: _portfolio(obligation, cross=turn % 7 == 0)


def _at_single_points(obligation: Obligation, failing: list[Point], turn: int, also_z3: bool = False) -> None:
    """The engines on the obligation at one point of its domain: where it fails they have to find that point, where it
    does not there is none to be found, wherever else the obligation fails."""
    linear, every = _all_linear(obligation), 1 + (size_of(obligation) or 0) // 3
    chosen = [p for n, p in enumerate(points(obligation)) if n % every == turn % every]
    some = [*failing[-1:], *failing[len(failing) // 2 :][:1], *chosen]
    for k, point in enumerate(some):
        if point in some[:k]:
            continue
        at = replace(obligation, variables=tuple((n, Interval.point(point[n])) for n, _ in obligation.variables))
        ways = [("isl", linear, partial(encode_isl.find_counterexample, at, BUDGET.isl_operations))]
        if also_z3 or not linear:
            quickly = partial(encode_z3.find_counterexample_quickly, at, BUDGET.z3_rlimit)
            ways.append(("z3 quickly", _is_easy(at), quickly))
        for name, owed, ask in ways:
            answered, answer = _asked(ask)
            if not answered and owed:
                raise Failure(f"solvers: {name} does not decide a single point", str(point))
            if answered and answer != (point if point in failing else None):
                raise Failure(f"solvers: {name} is wrong at a point", f"{point}: {answer}")


def _asked(ask: Callable[[], Answer]) -> tuple[bool, Answer]:
    """Whether the engine answered, and its answer."""
    try:
        return True, ask()
    except (GaveUp, TooManySteps):
        return False, None
    finally:
        if context().get_max_operations() != 0 or context().get_on_error() != GO_ON:
            raise Failure("solvers: isl is left with a limit, or ends the process at an error", "")


def _own_contexts(obligation: Obligation, context: Any) -> None:
    """Questions have contexts of their own, unless one is given."""
    other = encode_z3.encode(obligation).solver.ctx
    if other is context or encode_z3.encode(obligation, context=other).solver.ctx is not other:
        raise Failure("solvers: questions to Z3 share a context, or do not where they should", "")


def _limits(obligation: Obligation, refuted: bool) -> None:
    """A counterexample takes isl a step; what does not reach is no answer. Reasons to give up are told apart."""
    if refuted and _asked(lambda: encode_isl.find_counterexample(obligation, encode_isl.OPERATIONS_PER_STEP - 1))[0]:
        raise Failure("solvers: isl's limit is not kept", "")
    answered, answer = _asked(lambda: encode_isl.find_counterexample(obligation, encode_isl.OPERATIONS_PER_STEP))
    if answered and (answer is not None) is not refuted:
        raise Failure("solvers: isl is wrong within a small limit", "")
    fewer = (size_of(obligation) or 0) - 1
    asked = 0 <= fewer < BUDGET.enumeration_points
    if asked and _asked(lambda: enumerate_points.find_counterexample(obligation, fewer))[0]:
        raise Failure("solvers: more points are enumerated than are allowed", "")
    for reason, memory in (("max. memory exceeded", True), ("memout", True), ("canceled", False), ("", False)):
        if isinstance(encode_z3.given_up(reason, 1), OutOfMemory) is not memory:
            raise Failure("solvers: Z3 gives up for another reason than it says", reason)


def _satisfied(said: str, model: Callable[[], Point]) -> Answer:
    if said not in ("sat", "unsat"):
        raise GaveUp(said)
    return model() if said == "sat" else None


def _portfolio(obligation: Obligation, cross: bool) -> Answer:
    outcome = prove(obligation, BUDGET, cross, Path(tempfile.gettempdir()))
    if outcome.verdict == "internal":
        raise Failure("solvers: the portfolio contradicts itself", outcome.reason)
    if outcome.verdict == "unknown":
        raise GaveUp(outcome.reason)
    return dict(outcome.model) if outcome.verdict == "refuted" else None


def _replays(obligation: Obligation, name: str, model: Answer) -> None:
    try:
        if model is not None and not is_counterexample(obligation, model):
            raise Failure(f"solvers: a counterexample of {name} does not replay", str(model))
    except TooManySteps:
        return


# what lies in whose fragment


def _is_linear(e: Expr) -> bool:
    """Products have a side without variables, divisors have none."""
    if not isinstance(e, Binary) or e.op in ("+", "min", "max"):
        return True
    return not e.rhs.free or (e.op == "*" and not e.lhs.free)


def _all_linear(obligation: Obligation) -> bool:
    return all(map(_is_linear, terms(obligation.hypothesis, obligation.conclusion)))


def _is_easy(obligation: Obligation) -> bool:
    """Linear, and no value has to be found under a quantifier: Z3 decides it."""
    return _all_linear(obligation) and not any(map(has_exists, (obligation.hypothesis, obligation.conclusion)))


def _work(obligation: Obligation) -> float:
    """How many comparisons a reading of the whole domain makes."""
    size = size_of(obligation)
    return float("inf") if size is None else size * (1 + work(obligation.hypothesis) + work(obligation.conclusion))


TARGET = Target(
    "solvers", "isl, Z3, structure and enumeration agree on random obligations", cases, examine, ".json", ""
)
