"""Target `solvers`: isl, Z3, the structural stages and enumeration give one answer to random obligations.

Where the domain is small the answer is read off point by point. Every engine has to decide what lies in its fragment,
every counterexample is replayed, and the judge of counterexamples is itself held against the reading.
"""

from __future__ import annotations

import json
import tempfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from math import prod
from pathlib import Path
from typing import Any, Final

from models.expr import Binary, Const, Expr, Var, postorder
from models.interpreter.expression import apply_operator
from models.interval import Interval
from verify.budget import Budget
from verify.evaluate import TooManySteps, is_counterexample, truth
from verify.formula import And, Compare, Exists, Formula, Not, Or
from verify.fuzz.generate_obligations import OUTRIGHT, obligation_texts
from verify.fuzz.target import Failure, Target
from verify.fuzz.three_valued import Point, points, read, work
from verify.obligation import Obligation
from verify.portfolio import prove
from verify.reproduction import from_json

MOST_WORK: Final = 6000
"""So many comparisons are made point by point, at most."""
BUDGET: Final = Budget(isl_operations=2_000_000, z3_rlimit=2_000_000, enumeration_points=2_000, seconds=10)

Answer = Point | None
"""A counterexample, or None for: there is none."""


def examine(text: str) -> tuple[str, ...]:
    obligation = from_json(json.loads(text))
    turn = zlib.crc32(text.encode())
    answers: dict[str, Answer] = {}
    linear = all(_is_linear(e) for e in _terms(obligation))
    small = _work(obligation) <= MOST_WORK
    if small:
        failing = _read(obligation)
        answers["points"] = failing[0] if failing else None
        _at_single_points(obligation, failing, linear, turn)
    for formula in (obligation.hypothesis, obligation.conclusion):
        _settled_at_once(formula)
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
    from verify import encode_isl, encode_smtlib, encode_z3, enumerate_points

    def by_tactics() -> Answer:
        encoded = encode_z3.encode(obligation)
        if turn % 16 == 2:
            _own_contexts(obligation, encoded.solver.ctx)
        encoded.solver.set("rlimit", BUDGET.z3_rlimit)
        return _satisfied(str(encoded.solver.check()), lambda: encoded.values(encoded.solver.model()))

    def by_text() -> Answer:
        said, values = encode_z3.decide(encode_smtlib.to_smtlib(obligation), BUDGET.z3_rlimit)
        names = encode_smtlib.variable_names(obligation).items()
        return _satisfied(said, lambda: {name: values.get(written, 0) for name, written in names})

    ways: tuple[tuple[str, Callable[[], Answer]], ...] = (
        ("z3", lambda: encode_z3.find_counterexample(obligation, BUDGET.z3_rlimit)),
        ("z3 quickly", lambda: encode_z3.find_counterexample_quickly(obligation, BUDGET.z3_rlimit)),
        ("z3 by tactics", by_tactics),
        ("z3 on SMT-LIB", by_text),
    )
    yield "isl", None, lambda: encode_isl.find_counterexample(obligation, BUDGET.isl_operations)
    if obligation.label == OUTRIGHT:
        yield "isl without a step", True, lambda: encode_isl.find_counterexample(obligation, 0)
    name, ask = ways[turn % len(ways)]
    few = _work(obligation) <= MOST_WORK and (_size(obligation) or 0) <= BUDGET.enumeration_points
    yield name, few and _is_easy(obligation), ask
    size = _size(obligation)
    most = size if few and size else BUDGET.enumeration_points
    yield "enumeration", few, lambda: enumerate_points.find_counterexample(obligation, most)
    yield "portfolio", few or None, lambda: _portfolio(obligation, cross=turn % 7 == 0)


def _at_single_points(obligation: Obligation, failing: list[Point], linear: bool, turn: int) -> None:
    """The engines on the obligation at one point of its domain: where it fails they have to find that point, where it
    does not there is none to be found, wherever else the obligation fails."""
    from verify import encode_isl, encode_z3

    chosen = [p for n, p in enumerate(points(obligation)) if n % (1 + (_size(obligation) or 0) // 3) == turn % 3]
    for point in [*failing[-1:], *failing[len(failing) // 2 :][:1], *chosen]:
        at = replace(obligation, variables=tuple((n, Interval.point(point[n])) for n, _ in obligation.variables))
        expected = point if point in failing else None
        asked: list[tuple[str, bool, Callable[[], Answer]]] = [
            ("isl", linear, partial(encode_isl.find_counterexample, at, BUDGET.isl_operations))
        ]
        if turn % 4 == 1 or not linear:
            quickly = partial(encode_z3.find_counterexample_quickly, at, BUDGET.z3_rlimit)
            asked.append(("z3 quickly", _is_easy(at), quickly))
        for name, owed, ask in asked:
            answered, answer = _asked(ask)
            if not answered and owed:
                raise Failure(f"solvers: {name} does not decide a single point", str(point))
            if answered and answer != expected:
                raise Failure(f"solvers: {name} is wrong at a point", f"{point}: {answer}")


def _asked(ask: Callable[[], Answer]) -> tuple[bool, Answer]:
    """Whether the engine answered, and its answer."""
    from verify.encode_isl import context
    from verify.engine import GaveUp

    try:
        return True, ask()
    except (GaveUp, TooManySteps):
        return False, None
    finally:
        if context().get_max_operations() != 0:
            raise Failure("solvers: isl's limit outlives its question", "")


def _own_contexts(obligation: Obligation, context: Any) -> None:
    """Questions have contexts of their own, unless one is given."""
    from verify import encode_z3

    other = encode_z3.encode(obligation, True).solver.ctx
    if other is context or encode_z3.encode(obligation, True, other).solver.ctx is not other:
        raise Failure("solvers: questions to Z3 share a context, or do not where they should", "")


def _limits(obligation: Obligation, refuted: bool) -> None:
    """A counterexample takes isl a step; what does not reach is no answer. Reasons to give up are told apart."""
    from verify import encode_isl, encode_z3, enumerate_points
    from verify.engine import OutOfMemory

    if refuted and _asked(lambda: encode_isl.find_counterexample(obligation, encode_isl.OPERATIONS_PER_STEP - 1))[0]:
        raise Failure("solvers: isl's limit is not kept", "")
    answered, answer = _asked(lambda: encode_isl.find_counterexample(obligation, encode_isl.OPERATIONS_PER_STEP))
    if answered and (answer is not None) is not refuted:
        raise Failure("solvers: isl is wrong within a small limit", "")
    fewer = (_size(obligation) or 0) - 1
    asked = 0 <= fewer < BUDGET.enumeration_points
    if asked and _asked(lambda: enumerate_points.find_counterexample(obligation, fewer))[0]:
        raise Failure("solvers: more points are enumerated than are allowed", "")
    for reason, memory in (("max. memory exceeded", True), ("memout", True), ("canceled", False), ("", False)):
        if isinstance(encode_z3.given_up(reason, 1), OutOfMemory) is not memory:
            raise Failure("solvers: Z3 gives up for another reason than it says", reason)


def _satisfied(said: str, model: Callable[[], Point]) -> Answer:
    from verify.engine import GaveUp

    if said not in ("sat", "unsat"):
        raise GaveUp(said)
    return model() if said == "sat" else None


def _portfolio(obligation: Obligation, cross: bool) -> Answer:
    from verify.engine import GaveUp

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


def _terms(f: Obligation | Formula) -> list[Expr]:
    """All distinct terms, parts of terms included."""
    match f:
        case Obligation():
            return [*_terms(f.hypothesis), *_terms(f.conclusion)]
        case Compare(_, lhs, rhs):
            return [*postorder(lhs), *postorder(rhs)]
        case Not(part) | Exists(_, part):
            return _terms(part)
        case And(parts) | Or(parts):
            return [e for p in parts for e in _terms(p)]


def _is_linear(e: Expr) -> bool:
    """Products have a side without variables, divisors have none."""
    if not isinstance(e, Binary) or e.op in ("+", "min", "max"):
        return True
    return not e.rhs.free or (e.op == "*" and not e.lhs.free)


def _is_easy(obligation: Obligation) -> bool:
    """Linear, and no value has to be found under a quantifier: Z3 decides it."""
    return all(_is_linear(e) for e in _terms(obligation)) and not (
        _has_exists(obligation.hypothesis) or _has_exists(obligation.conclusion)
    )


def _has_exists(f: Formula) -> bool:
    match f:
        case Compare():
            return False
        case Not(part):
            return _has_exists(part)
        case And(parts) | Or(parts):
            return any(map(_has_exists, parts))
        case Exists():
            return True


def _size(obligation: Obligation) -> int | None:
    intervals = [i for _, i in obligation.variables]
    return None if None in intervals else prod(i.count for i in intervals if i is not None)


def _work(obligation: Obligation) -> float:
    """How many comparisons a reading of the whole domain makes."""
    size = _size(obligation)
    return float("inf") if size is None else size * (1 + work(obligation.hypothesis) + work(obligation.conclusion))


# the judge of counterexamples


def _read(obligation: Obligation) -> list[Point]:
    """The points that fail, by reading; on the way the judge is tried at some of the points."""
    hypothesis, conclusion = read(obligation.hypothesis), read(obligation.conclusion)
    every = max(1, (_size(obligation) or 0) // JUDGED)
    failing: list[Point] = []
    for n, point in enumerate(points(obligation)):
        given, owed = hypothesis(point), conclusion(point)
        fails = given is True and owed is not True
        if fails:
            failing.append(point)
        if n % every == 0 or (fails and len(failing) == 1):
            _judged(obligation.hypothesis, point, given)
            _judged(obligation.conclusion, point, owed)
            if is_counterexample(obligation, point) is not fails:
                raise Failure("solvers: the judge of counterexamples is wrong", str(point))
    if failing:
        _outside(obligation, failing[0])
    return failing


JUDGED: Final = 40
"""About so many points of a domain are given to the judge."""


def _judged(f: Formula, point: Point, reading: bool | None) -> None:
    try:
        found = truth(f, point, _boxes(f))
    except TooManySteps as error:
        raise Failure("solvers: the evaluator looks at more boxes than there are", str(point)) from error
    if found is not reading:
        raise Failure("solvers: the evaluator is wrong at a point", f"{point}: {found}, not {reading}")


def _boxes(f: Formula) -> int:
    """How many boxes a search can look at that halves them: twice as many as points, under each of them again."""
    match f:
        case Compare():
            return 0
        case Not(part):
            return _boxes(part)
        case And(parts) | Or(parts):
            return sum(map(_boxes, parts))
        case Exists(variables, part):
            return 2 * prod(i.count for _, i in variables) * (1 + _boxes(part))


def _outside(obligation: Obligation, point: Point) -> None:
    """A point beside the domain, or without a value, is no counterexample."""
    for name, interval in obligation.variables:
        beside = [{k: v for k, v in point.items() if k != name}]
        if interval is not None:
            beside += [{**point, name: interval.lower - 1}, {**point, name: interval.upper + 1}]
        if any(is_counterexample(obligation, p) for p in beside):
            raise Failure("solvers: a counterexample outside of the domain", f"{point}, {name}")


def _settled_at_once(f: Formula) -> None:
    """Where intervals settle a comparison of one operator with a constant or variable, the evaluator sees it in one
    look: its bounds are those that are attained."""
    match f:
        case Exists(variables, Compare(op, lhs, rhs)) if lhs.free | rhs.free <= dict(variables).keys():
            pass
        case _:
            return
    apart = lhs.free.isdisjoint(rhs.free) and not _is_deep(lhs) and not _is_deep(rhs)
    if not apart or not 0 < prod(i.count for _, i in variables) <= MOST_BOX:
        return
    axes = {name: range(i.lower, i.upper + 1) for name, i in variables}
    sides = [_hull(e, axes) for e in (lhs, rhs)]
    if None in sides:
        return
    (l0, l1), (r0, r1) = (side for side in sides if side is not None)
    always, never = {
        "==": (l0 == l1 == r0 == r1, l1 < r0 or r1 < l0),
        "!=": (l1 < r0 or r1 < l0, l0 == l1 == r0 == r1),
        "<=": (l1 <= r0, r1 < l0),
        "<": (l1 < r0, r1 <= l0),
    }[op]
    if always or never:
        try:
            found = truth(f, {}, 1)
        except TooManySteps as error:
            raise Failure("solvers: the evaluator does not see what intervals settle", f"{sides}") from error
        if found is not always:
            raise Failure("solvers: the evaluator is wrong about a box", f"{sides}: {found}")


MOST_BOX: Final = 400


def _is_deep(e: Expr) -> bool:
    return isinstance(e, Binary) and (isinstance(e.lhs, Binary) or isinstance(e.rhs, Binary) or e.lhs is e.rhs)


def _hull(e: Expr, axes: dict[str, range]) -> tuple[int, int] | None:
    """Least and greatest value; None where it may divide by zero."""
    if not isinstance(e, Binary):
        values = axes[e.name] if isinstance(e, Var) else [e.value] if isinstance(e, Const) else []
        return min(values), max(values)
    found = [_hull(part, axes) for part in (e.lhs, e.rhs)]
    (x0, x1), (y0, y1) = (side for side in found if side is not None)
    if e.op in ("floordiv", "ceildiv", "mod") and y0 <= 0 <= y1:
        return None
    if e.op == "mod" and y0 != y1:  # not attained; those of a long enough dividend
        return (0, y1 - 1) if y0 > 0 else (y0 + 1, 0)
    attained = [apply_operator(e.op, a, b) for a in range(x0, x1 + 1) for b in range(y0, y1 + 1)]
    return min(attained), max(attained)


TARGET = Target(
    "solvers", "isl, Z3, structure and enumeration agree on random obligations", obligation_texts, examine, ".json", ""
)
"""Obligations of `generate_obligations`."""
