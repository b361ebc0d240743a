"""Values read at run time in the obligations of updates in place: shared where two uses read one element, and tried one
by one where a plan is to be refuted whatever they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from hloproof.logic.formula import atoms, replace_variables
from hloproof.logic.obligation import Obligation, Outcome
from hloproof.models.expressions.expr import Binary, Const, Expr, Var, maximum, minimum, postorder
from hloproof.models.expressions.interval import Interval
from hloproof.models.maps.indexing_map import IndexingMap, RuntimeVariable

MOST_VALUES: Final = 64
"""Values at run time that are tried one by one."""


def fails_whatever_is_read(obligation: Obligation, prove: Callable[[Obligation], Outcome]) -> bool:
    """The obligation fails whatever the values read at run time are: each of a few possible ones is tried."""
    read = [(name, interval) for name, interval in obligation.variables if name.startswith("v")]
    if len(read) != 1:
        return False
    [(name, interval)] = read
    if interval is None:
        interval = _clamp_of(obligation, name)
    if interval is None or interval.is_empty or interval.upper - interval.lower >= MOST_VALUES:
        return False
    rest = tuple(v for v in obligation.variables if v[0] != name)
    for value in range(interval.lower, interval.upper + 1):
        fixed = Obligation(
            rest,
            replace_variables(obligation.conclusion, {name: Const(value)}),
            replace_variables(obligation.hypothesis, {name: Const(value)}),
        )
        if prove(fixed).verdict != "refuted":
            return False
    return True


def _clamp_of(obligation: Obligation, name: str) -> Interval | None:
    """The interval that every use clamps a value into, which stands for all other values; None where there is none."""
    found: Interval | None = None
    for atom in atoms(obligation.hypothesis):
        for inner in (*postorder(atom.lhs), *postorder(atom.rhs)):
            clamp = _as_clamp(inner, name)
            if clamp is not None:
                known = found or clamp
                found = Interval(min(known.lower, clamp.lower), max(known.upper, clamp.upper))
    return found


def _as_clamp(e: Expr, name: str) -> Interval | None:
    """max(lower, min(value, upper))."""
    match e:
        case Binary("max", Const(lower), Binary("min", Var(inner), Const(upper))) if inner == name:
            return Interval(lower, upper)
    return None


class RuntimeValues:
    """Values read at run time: one variable for each element that is read, clamped as each use says."""

    def __init__(self, variables: list[tuple[str, Interval | None]]) -> None:
        self._variables = variables
        self._names: dict[tuple[str | None, IndexingMap | None], tuple[str, Interval]] = {}

    def value(self, r: RuntimeVariable) -> Expr:
        index = None if r.index is None or not r.index.results else r.index
        if r.provider is None or index is not None:
            # An element that depends on the step: any value inside the interval.
            name = f"v{len(self._variables)}"
            self._variables.append((name, r.interval))
            return Var(name)
        found = self._names.get((r.provider, index))
        if found is None:
            name = f"v{len(self._variables)}"
            self._variables.append((name, None))
            found = self._names[r.provider, index] = (name, r.interval)
        lower, upper = r.interval.lower, r.interval.upper
        return maximum(Const(lower), minimum(Var(found[0]), Const(upper)))
