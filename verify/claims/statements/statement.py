"""From a statement with many conclusions to small closed obligations.

A statement is a box of variables and hypotheses. Each conclusion drawn from it becomes an obligation of its own that
mentions only what bears on it. Two steps make it small, and neither changes what is said:

- a hypothesis `x == e` with e free of x removes x (its interval stays as a hypothesis about e);
- hypotheses that share no variable, directly or through others, with the conclusion are left out when a point is at
  hand that satisfies them. Without such a point they stay: they may contradict each other, and then the statement is
  empty.

What was removed is put back into a counterexample, so that it is a point of the whole statement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from hloproof.logic.formula import Compare, Formula, conj, conjuncts, free_variables, replace_variables, within
from hloproof.logic.obligation import Obligation
from hloproof.models.expressions.evaluate import evaluate
from hloproof.models.expressions.expr import Binary, Expr, Var, postorder, substitute
from hloproof.models.expressions.interval import Interval
from hloproof.models.stages import checkpoint

Point = dict[str, int]
Describe = Callable[[Point], str]
Replay = Callable[[Point], bool]


@dataclass(frozen=True)
class Part:
    """One obligation of a claim, and how to tell a counterexample to it."""

    obligation: Obligation
    describe: Describe
    """From a model of the obligation to the reader's words."""
    plain: Obligation | None = None
    """The same with nothing removed or left out, where the obligation was made smaller."""
    replay: Replay | None = None
    """Whether a point of `plain` refutes what the claim says of it, with no value named for what is only said to exist.
    None where the obligation names none. Raises TooManySteps."""
    whole: Callable[[Point], Point] = dict
    """From a model of the obligation to a point of `plain`."""
    possible: Replay | None = None
    """Whether arrays can hold what a point of `plain` says is read from them; None where nothing has to be asked."""
    necessary: bool = True
    """False for a step that, with others, is enough for the claim: that it fails refutes nothing."""


@dataclass(frozen=True)
class Statement:
    """For all values of the variables, in their intervals (None: all integers), that satisfy all hypotheses: ..."""

    variables: tuple[tuple[str, Interval | None], ...]
    hypotheses: tuple[Formula, ...] = ()

    def therefore(self, conclusion: Formula, label: str, describe: Describe, replay: Replay | None = None) -> Part:
        """The obligation that the conclusion follows. `describe` and `replay` are called with a point of all the
        variables."""
        reduced = self._reduced
        goal = replace_variables(conclusion, reduced.removed)
        kept_groups, completion = reduced.bearing_on(free_variables(goal))
        names = frozenset[str]().union(free_variables(goal), *(g.names for g in kept_groups))
        variables = tuple((n, i) for n, i in reduced.variables if n in names or (i is not None and i.is_empty))
        hypothesis = conj(*(h for g in kept_groups for h in g.hypotheses))
        obligation = Obligation(variables, goal, hypothesis, label)

        def whole(model: Point) -> Point:
            point = {**completion, **model}
            for name, e in reversed(reduced.removed_in_order):
                point[name] = evaluate(e, point)
            return point

        def told(model: Point) -> str:
            return describe(whole(model))

        plain = Obligation(self.variables, conclusion, conj(*self.hypotheses), f"{label}, stated in full")
        return Part(obligation, told, plain, replay, whole)

    def conclusions(
        self, goals: Iterable[Formula], label: str, describe: Describe, replay: Replay | None = None
    ) -> list[Part]:
        """One part per conjunct of the goals."""
        return [self.therefore(piece, label, describe, replay) for goal in goals for piece in conjuncts(goal)]

    @cached_property
    def _reduced(self) -> _Reduced:
        return _reduce(self)


@dataclass(frozen=True)
class _Group:
    """Hypotheses that hang together through their variables, and a point that satisfies them, if one was found."""

    names: frozenset[str]
    hypotheses: tuple[Formula, ...]
    point: Point | None


@dataclass(frozen=True)
class _Reduced:
    variables: tuple[tuple[str, Interval | None], ...]
    removed: Mapping[str, Expr]
    """Each removed variable over the variables that are left."""
    removed_in_order: Sequence[tuple[str, Expr]]
    groups: Sequence[_Group] = field(default_factory=tuple)

    def bearing_on(self, names: frozenset[str]) -> tuple[list[_Group], Point]:
        """The groups that a conclusion over these variables needs, and values of all that is left out."""
        kept: list[_Group] = []
        completion: Point = {}
        grouped: set[str] = set()
        for group in self.groups:
            grouped |= group.names
            if group.point is None or group.names & names:
                kept.append(group)
            else:
                completion |= group.point
        for name, interval in self.variables:
            if name not in grouped and name not in names:
                completion[name] = interval.lower if interval is not None else 0
        return kept, completion


def _reduce(statement: Statement) -> _Reduced:
    intervals = dict(statement.variables)
    hypotheses = [piece for h in statement.hypotheses for piece in conjuncts(h)]
    order: list[tuple[str, Expr]] = []
    if not any(i is not None and i.is_empty for i in intervals.values()):
        while (found := _definition_of_a_variable(hypotheses, intervals)) is not None:
            checkpoint()
            index, name, e = found
            del hypotheses[index]
            interval = intervals.pop(name)
            if interval is not None:
                hypotheses.extend(conjuncts(within(Var(name), interval)))
            hypotheses = [replace_variables(h, {name: e}) for h in hypotheses]
            order.append((name, e))
    removed: dict[str, Expr] = {}
    for name, e in reversed(order):  # later removals may occur in earlier terms
        removed[name] = substitute(e, removed)
    variables = tuple((n, i) for n, i in statement.variables if n in intervals)
    return _Reduced(variables, removed, order, _groups(hypotheses, dict(variables)))


def _definition_of_a_variable(
    hypotheses: Sequence[Formula], intervals: Mapping[str, Interval | None]
) -> tuple[int, str, Expr] | None:
    """The first hypothesis `x == e` or `e == x` with a variable x of the statement that does not occur in e."""
    for index, h in enumerate(hypotheses):
        if isinstance(h, Compare) and h.op == "==":
            for var, e in ((h.lhs, h.rhs), (h.rhs, h.lhs)):
                if isinstance(var, Var) and var.name in intervals and var.name not in e.free and not _divides(e):
                    return index, var.name, e
    return None


def _divides(e: Expr) -> bool:
    """Whether a division occurs, which duplication would make dearer and whose divisor may be zero."""
    return any(isinstance(n, Binary) and n.op in ("floordiv", "ceildiv", "mod") for n in postorder(e))


def _groups(hypotheses: Sequence[Formula], intervals: Mapping[str, Interval | None]) -> list[_Group]:
    groups: list[tuple[set[str], list[Formula]]] = []
    for h in hypotheses:
        checkpoint()
        names = set(free_variables(h))
        together = [g for g in groups if g[0] & names]
        groups = [g for g in groups if not g[0] & names]
        groups.append((names.union(*(g[0] for g in together)), [*(x for g in together for x in g[1]), h]))
    return [_Group(frozenset(names), tuple(parts), _point(names, parts, intervals)) for names, parts in groups]


def _point(names: set[str], parts: Sequence[Formula], intervals: Mapping[str, Interval | None]) -> Point | None:
    """A point that satisfies the parts: one of a few corners and middles. None when none of them does."""
    from hloproof.logic.evaluate import TooManySteps, holds

    boxes = {n: intervals[n] or Interval(0, 0) for n in sorted(names)}
    if any(i.is_empty for i in boxes.values()):
        return None
    for pick in _PICKS:
        point = {n: pick(i) for n, i in boxes.items()}
        try:
            if all(holds(p, point, steps=200) for p in parts):
                return point
        except TooManySteps:
            continue
    return None


_PICKS: Sequence[Callable[[Interval], int]] = (
    lambda i: i.lower,
    lambda i: i.upper,
    lambda i: (i.lower + i.upper) // 2,
    lambda i: min(i.lower + 1, i.upper),
)
