"""The truth of a formula at a point, by search over what is quantified: the judge of every counterexample.

Truth is three-valued: an atom that divides by zero is undefined, a connective is undefined where its defined parts do
not settle it. `Exists` is decided by splitting the box of its variables: a part of the box in which interval arithmetic
settles the body is not split further, and a box of one point is evaluated exactly. Nothing here is shared with the
encoders, the simplifier or `hloproof.models.expressions.bounds`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, assert_never

from hloproof.logic.formula import And, Compare, Exists, Formula, Not, Or
from hloproof.logic.obligation import FLOOR, Obligation
from hloproof.models.expressions.expr import Binary, Const, Expr, Var, postorder

STEPS: Final = 200_000
"""How many boxes are looked at before the search gives up."""

_Bounds = tuple[int, int]
"""Lower and upper bound, inclusive."""


class TooManySteps(Exception):
    """The search over quantified variables did not end within its limit; nothing is known."""


def holds(formula: Formula, values: Mapping[str, int], steps: int = STEPS) -> bool:
    """Whether `formula` is true where its free variables have `values`; undefined is not true.

    Raises TooManySteps, and KeyError for a free variable without a value.
    """
    return truth(formula, values, steps) is True


def truth(formula: Formula, values: Mapping[str, int], steps: int = STEPS) -> bool | None:
    """True, false, or None where a division by zero leaves it undefined.

    Raises TooManySteps, and KeyError for a free variable without a value.
    """
    search = _Search(steps)
    found = search.status(formula, {name: (v, v) for name, v in values.items()})
    assert found is not _OPEN
    return None if found is _UNDEFINED else bool(found)


def is_counterexample(obligation: Obligation, values: Mapping[str, int], steps: int = STEPS) -> bool:
    """All variables have values in their intervals, the hypothesis is true, and the conclusion is not. Never under
    another rounding than floor, by which alone values are computed here."""
    if obligation.rounding != FLOOR:
        return False
    for name, interval in obligation.variables:
        if name not in values or (interval is not None and values[name] not in interval):
            return False
    # An undefined hypothesis is none that is met, and an undefined conclusion is none that holds: whoever states an
    # obligation has to say that divisors are not zero, and is refuted where it was forgotten.
    return holds(obligation.hypothesis, values, steps) and not holds(obligation.conclusion, values, steps)


class _Mark:
    """A truth value that is not a bool."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


_UNDEFINED: Final = _Mark("undefined")  # at every point of the box
_OPEN: Final = _Mark("open")  # differs within the box, or is not known

Status = bool | _Mark


class _Search:
    def __init__(self, steps: int) -> None:
        self.steps = steps
        self.tapes: dict[Expr, list[Expr]] = {}

    def status(self, formula: Formula, box: dict[str, _Bounds]) -> Status:
        """What `formula` is at all points of `box`. Exact, never open, where the box is a point."""
        match formula:
            case Compare():
                return self._compare(formula, box)
            case Not(part):
                inner = self.status(part, box)
                return inner if isinstance(inner, _Mark) else not inner
            case And(parts):
                return self._join(parts, box, False)
            case Or(parts):
                return self._join(parts, box, True)
            case Exists():
                return self._exists(formula, box)

    def _join(self, parts: tuple[Formula, ...], box: dict[str, _Bounds], settles: bool) -> Status:
        """Conjunction where `settles` is False, disjunction where it is True."""
        result: Status = not settles
        for p in parts:
            found = self.status(p, box)
            # One part settles the whole even where another has no value: `false and undefined` is false, in any order
            # of the parts.
            if found is settles:
                return settles
            # Open is stronger than undefined, which is stronger than what is settled: a part that may still change
            # could settle the whole.
            if found is _OPEN or result is (not settles):
                result = found
        return result

    def _exists(self, formula: Exists, box: dict[str, _Bounds]) -> Status:
        start = dict(box)
        for name, interval in formula.variables:
            if interval.is_empty:
                return False
            start[name] = (interval.lower, interval.upper)
        bound = [name for name, _ in formula.variables]
        result: Status = False
        pending = [start]
        while pending:
            here = pending.pop()
            self.steps -= 1
            if self.steps < 0:
                raise TooManySteps("the search over quantified variables is too long")
            found = self.status(formula.part, here)
            if found is True:
                return True
            # Kept, and the search goes on: a later point that is true makes the whole true.
            if found is _UNDEFINED:
                result = _UNDEFINED
            if found is not _OPEN:
                continue
            widest = max(bound, key=lambda name: here[name][1] - here[name][0], default=None)
            if widest is None or here[widest][0] == here[widest][1]:  # what leaves it open is outside
                return _OPEN
            lower, upper = here[widest]
            middle = (lower + upper) // 2
            pending.append({**here, widest: (middle + 1, upper)})
            pending.append({**here, widest: (lower, middle)})
        return result

    def _compare(self, atom: Compare, box: dict[str, _Bounds]) -> Status:
        left = self._range(atom.lhs, box)
        right = self._range(atom.rhs, box)
        if isinstance(left, _Mark) or isinstance(right, _Mark):
            return _UNDEFINED if _UNDEFINED in (left, right) else _OPEN
        (l0, l1), (r0, r1) = left, right
        equal, apart = l0 == r1 and l1 == r0, l1 < r0 or r1 < l0
        match atom.op:
            case "==":
                always, never = equal, apart
            case "!=":
                always, never = apart, equal
            case "<=":
                always, never = l1 <= r0, r1 < l0
            case "<":
                always, never = l1 < r0, r1 <= l0
            case _:
                assert_never(atom.op)
        return always if always or never else _OPEN

    def _range(self, root: Expr, box: Mapping[str, _Bounds]) -> _Bounds | _Mark:
        """Bounds of `root` over the box; undefined where it divides by zero at all points, open where at some."""
        tape = self.tapes.get(root)
        if tape is None:
            tape = self.tapes[root] = list(postorder(root))
        at: dict[Expr, _Bounds] = {}
        for e in tape:
            if isinstance(e, Const):
                at[e] = (e.value, e.value)
            elif isinstance(e, Var):
                at[e] = box[e.name]
            elif isinstance(e, Binary) and e.lhs in at and e.rhs in at:
                x, y = at[e.lhs], at[e.rhs]
                # Not known, and not undefined: for a part of the box the divisor is another number, and splitting will
                # tell.
                if e.op in ("floordiv", "ceildiv", "mod") and y[0] <= 0 <= y[1]:
                    if y == (0, 0):
                        return _UNDEFINED
                    continue  # nor has anything bounds that it is part of
                at[e] = bounds(e.op, x, y)
        return at.get(root, _OPEN)


def bounds(op: str, x: _Bounds, y: _Bounds) -> _Bounds:
    """Least and greatest value of `x op y` over the box; a divisor's bounds do not contain zero.

    They are attained, but for a remainder by a divisor that varies, which has those of a long enough `x`.
    """
    match op:
        case "+":
            return x[0] + y[0], x[1] + y[1]
        case "*":
            return _hull([a * b for a in x for b in y])
        case "min":
            return min(x[0], y[0]), min(x[1], y[1])
        case "max":
            return max(x[0], y[0]), max(x[1], y[1])
        case "floordiv":
            return _hull([a // b for a in x for b in y])
        case "ceildiv":
            return _hull([-(-a // b) for a in x for b in y])
        case "mod":
            lower, upper = y
            if lower == upper and x[0] // lower == x[1] // lower:  # one period: the remainder moves with x
                return x[0] % lower, x[1] % lower
            return (0, upper - 1) if lower > 0 else (lower + 1, 0)
    raise ValueError(f"no such operator: {op}")


def _hull(corners: list[int]) -> _Bounds:
    return min(corners), max(corners)
