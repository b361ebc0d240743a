"""The truth of a formula at a point, by search over what is quantified: the judge of every counterexample.

Truth is three-valued: an atom that divides by zero is undefined, a connective is undefined where its defined parts do
not settle it. `Exists` is decided by splitting the box of its variables: a part of the box in which interval arithmetic
settles the body is not split further, and a box of one point is evaluated exactly. Nothing here is shared with the
encoders, the simplifier or `models.bounds`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from models.expr import Binary, Const, Expr, Var, postorder
from verify.formula import And, Compare, Exists, Formula, Not, Or
from verify.obligation import Obligation

STEPS: Final = 200_000
"""How many boxes are looked at before the search gives up."""

Bounds = tuple[int | None, int | None]
"""Lower and upper bound, inclusive; None where there is none."""

_ANY: Final[Bounds] = (None, None)


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
    """All variables have values in their intervals, the hypothesis is true, and the conclusion is not."""
    for name, interval in obligation.variables:
        if name not in values or (interval is not None and values[name] not in interval):
            return False
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

    def status(self, formula: Formula, box: dict[str, Bounds]) -> Status:
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

    def _join(self, parts: tuple[Formula, ...], box: dict[str, Bounds], settles: bool) -> Status:
        """Conjunction where `settles` is False, disjunction where it is True."""
        result: Status = not settles
        for p in parts:
            found = self.status(p, box)
            if found is settles:
                return settles
            if found is _OPEN or (found is _UNDEFINED and result is not _OPEN):
                result = found
        return result

    def _exists(self, formula: Exists, box: dict[str, Bounds]) -> Status:
        start = dict(box)
        for name, interval in formula.variables:
            if interval.is_empty:
                return False
            start[name] = (interval.lower, interval.upper)
        bound = [name for name, _ in formula.variables]
        outer_is_point = all(lo is not None and lo == hi for lo, hi in box.values())
        undefined = False
        pending = [start]
        while pending:
            here = pending.pop()
            self.steps -= 1
            if self.steps < 0:
                raise TooManySteps("the search over quantified variables is too long")
            found = self.status(formula.part, here)
            if found is True:
                return True
            if found is False:
                continue
            if found is _UNDEFINED:
                undefined = True
                continue
            widest = max(bound, key=lambda name: _width(here[name]))
            lower, upper = here[widest]
            assert lower is not None and upper is not None
            if lower == upper:
                assert not outer_is_point
                return _OPEN
            middle = (lower + upper) // 2
            pending.append({**here, widest: (middle + 1, upper)})
            pending.append({**here, widest: (lower, middle)})
        return _UNDEFINED if undefined else False

    def _compare(self, atom: Compare, box: dict[str, Bounds]) -> Status:
        left = self._range(atom.lhs, box)
        right = self._range(atom.rhs, box)
        if left is None or right is None:
            return _UNDEFINED
        (l0, l1, l_defined), (r0, r1, r_defined) = left, right
        found: Status = _OPEN
        if l1 is not None and r0 is not None:
            if l1 < r0:
                found = atom.op != "=="
            elif l1 == r0 and atom.op == "<=":
                found = True
        if l0 is not None and r1 is not None:
            if l0 > r1:
                found = atom.op == "!="
            elif l0 == r1 and atom.op == "<":
                found = False
            elif l0 == r1 and l1 == l0 and r0 == r1:
                found = atom.op in ("==", "<=")
        return found if l_defined and r_defined else _OPEN

    def _range(self, root: Expr, box: Mapping[str, Bounds]) -> tuple[int | None, int | None, bool] | None:
        """Bounds of `root` over the box and whether it is defined at all its points; None: at no point."""
        tape = self.tapes.get(root)
        if tape is None:
            tape = self.tapes[root] = list(postorder(root))
        at: dict[Expr, Bounds] = {}
        defined = True
        for e in tape:
            if isinstance(e, Const):
                at[e] = (e.value, e.value)
            elif isinstance(e, Var):
                at[e] = box[e.name]
            elif isinstance(e, Binary):
                x, y = at[e.lhs], at[e.rhs]
                if e.op in ("floordiv", "ceildiv", "mod"):
                    if y == (0, 0):
                        return None
                    if (y[0] is None or y[0] <= 0) and (y[1] is None or y[1] >= 0):
                        at[e], defined = _ANY, False
                        continue
                at[e] = _apply(e.op, x, y)
        return (*at[root], defined)


def _width(b: Bounds) -> int:
    assert b[0] is not None and b[1] is not None
    return b[1] - b[0]


def _apply(op: str, x: Bounds, y: Bounds) -> Bounds:
    """Bounds of `x op y`; a divisor's bounds do not contain zero. Exact at points."""
    match op:
        case "+":
            return (
                None if x[0] is None or y[0] is None else x[0] + y[0],
                None if x[1] is None or y[1] is None else x[1] + y[1],
            )
        case "*":
            return _product(x, y)
        case "min":
            lower = None if x[0] is None or y[0] is None else min(x[0], y[0])
            return lower, min((b for b in (x[1], y[1]) if b is not None), default=None)
        case "max":
            upper = None if x[1] is None or y[1] is None else max(x[1], y[1])
            return max((b for b in (x[0], y[0]) if b is not None), default=None), upper
        case "floordiv":
            return _floordiv(x, y)
        case "ceildiv":
            low, high = _floordiv(_negate(x), y)
            return _negate((low, high))
        case "mod":
            return _mod(x, y)
    raise ValueError(f"no such operator: {op}")


def _negate(x: Bounds) -> Bounds:
    return (None if x[1] is None else -x[1], None if x[0] is None else -x[0])


def _product(x: Bounds, y: Bounds) -> Bounds:
    if (0, 0) in (x, y):
        return 0, 0
    if None not in x and None not in y:
        corners = [a * b for a in x for b in y]  # type: ignore[operator]
        return min(corners), max(corners)
    if y[0] is None or y[0] != y[1]:
        x, y = y, x
    factor = y[0]
    if factor is None or factor != y[1]:
        return _ANY
    scaled = tuple(None if b is None else b * factor for b in x)
    return (scaled[0], scaled[1]) if factor > 0 else (scaled[1], scaled[0])


def _floordiv(x: Bounds, y: Bounds) -> Bounds:
    if None in y:
        return _ANY
    if None not in x:
        corners = [a // b for a in x for b in y]  # type: ignore[operator]
        return min(corners), max(corners)
    if y[0] != y[1]:
        return _ANY
    divisor = y[0]
    assert divisor is not None
    scaled = tuple(None if b is None else b // divisor for b in x)
    return (scaled[0], scaled[1]) if divisor > 0 else (scaled[1], scaled[0])


def _mod(x: Bounds, y: Bounds) -> Bounds:
    lower, upper = y
    if lower is not None and lower == upper and None not in x:
        first, last = x[0] // lower, x[1] // lower  # type: ignore[operator]
        if first == last:  # one period: the remainder moves with x
            return x[0] - lower * first, x[1] - lower * first  # type: ignore[operator]
    if lower is not None and lower > 0:
        return 0, None if upper is None else upper - 1
    return None if lower is None else lower + 1, 0
