"""Simplifies the domain of a map: the intervals of its variables and its constraints, by rules about constraints.

The domain stays the same set of points. A constraint is rewritten with what the intervals of the variables say, never
with what it says itself; every step leaves fewer constraints, or smaller expressions, or narrower intervals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations
from typing import Final

from hloproof.models.expressions.expr import Binary, Expr, Var, to_text
from hloproof.models.expressions.interval import Interval
from hloproof.models.rules.rule import ConstraintRule
from hloproof.models.rules.text import project_rules
from hloproof.models.simplifier.linear import Linear, key, linear_of
from hloproof.models.simplifier.match import Bindings, Pattern, compile_pattern, match, solve, value
from hloproof.models.simplifier.measure import Measure, measure
from hloproof.models.simplifier.rewriter import Rewriter, RewriteStep
from hloproof.models.stages import checkpoint

_MOST: Final = 12
"""With more constraints than these it is not tried which of them the others imply."""
_NARROWING_ROUNDS: Final = 8
"""Rounds in which constraints narrow the intervals of variables, for what is known where results are simplified."""
_ROUNDS: Final = 50
"""Rounds over all constraints; each makes progress, and two or three are enough for what compilers write."""


@dataclass
class Domain:
    """Intervals of the variables by canonical name, and constraints: interval by expression. `empty` once known."""

    intervals: dict[str, Interval]
    constraints: dict[Expr, Interval]
    empty: bool = False
    steps: list[RewriteStep] = field(default_factory=list)
    explain: bool = False
    """Whether steps are noted."""

    def note(self, rule: str, before: Sequence[tuple[Expr, Interval]], after: Sequence[tuple[Expr, Interval]]) -> None:
        if self.explain:
            self.steps.append(RewriteStep(rule, _shown(before), _shown(after) if after else "always"))

    def note_empty(self, rule: str, before: Sequence[tuple[Expr, Interval]]) -> None:
        self.empty = True
        if self.explain:
            self.steps.append(RewriteStep(rule, _shown(before), "never"))


@dataclass(frozen=True, slots=True)
class _Compiled:
    rule: ConstraintRule
    patterns: tuple[Pattern, ...]


@cache
def _rules() -> tuple[tuple[_Compiled, ...], tuple[_Compiled, ...]]:
    """The rules about one constraint, and those about two."""
    one: list[_Compiled] = []
    two: list[_Compiled] = []
    for rule in project_rules("constraints"):
        assert isinstance(rule, ConstraintRule), rule.name
        known: set[str] = set()
        compiled = _Compiled(rule, tuple(compile_pattern(b.expr, rule, known) for b in rule.before))
        (one if len(rule.before) == 1 else two).append(compiled)
    return tuple(one), tuple(two)


def simplify_domain(
    intervals: Mapping[str, Interval], constraints: Sequence[tuple[Expr, Interval]], explain: bool = False
) -> Domain:
    """The domain, as simple as the rules make it. No interval of a variable may be empty."""
    d = Domain(dict(intervals), {}, explain=explain)
    # In an order of their own, so that the domain does not depend on how the text lists them.
    pending = sorted(constraints, key=lambda c: (key(c[0]), c[1]))
    for _ in range(_ROUNDS):
        before = (dict(d.intervals), dict(d.constraints))
        # Without the constraints: one that is simplified by what it says itself would vanish.
        rewriter = Rewriter(d.intervals, explain=explain)
        todo = [(rewriter.simplify(e), i) for e, i in pending] + [
            (rewriter.simplify(e), i) for e, i in sorted(d.constraints.items(), key=lambda c: key(c[0]))
        ]
        d.steps += rewriter.steps or ()
        pending, d.constraints = [], {}
        for e, i in todo:
            _add(d, linear_of(e), i, rewriter)
        _pairs(d, rewriter)
        if d.empty:
            d.constraints = {}
        if (d.intervals, d.constraints) == before or not d.constraints:
            break
    if len(d.constraints) > 1:
        _drop_implied(d)
    return d


def _add(d: Domain, s: Linear, interval: Interval, rewriter: Rewriter) -> None:
    """Rewrites one constraint until no rule applies, and puts what is left into the domain."""
    while not d.empty:
        checkpoint()
        found = _one_step(d, s, interval, rewriter)
        if found is None:
            break
        if not found:
            return
        s, interval = found[0]
        s = linear_of(rewriter.simplify(s.expr))
    if d.empty:
        return
    e = s.expr
    if isinstance(e, Var):
        _store(d, e, interval, d.intervals[e.name])
    elif e in d.constraints:
        _store(d, e, interval, d.constraints[e])
    else:
        d.constraints[e] = interval


def _store(d: Domain, e: Expr, new: Interval, old: Interval) -> None:
    both = new.intersect(old)
    if both != old:
        d.note("same-expression", ((e, old), (e, new)), ((e, both),))
    if isinstance(e, Var):
        d.intervals[e.name] = both
    else:
        d.constraints[e] = both
    d.empty |= both.is_empty


def _one_step(d: Domain, s: Linear, interval: Interval, rewriter: Rewriter) -> list[tuple[Linear, Interval]] | None:
    """What one constraint becomes: None when no rule applies, an empty list when it says nothing."""
    for compiled in _rules()[0]:
        rule = compiled.rule
        for b in _match_one(compiled, 0, s, interval, {}, rewriter):
            bound = rewriter.computed(rule, b)
            if bound is None or not all(rewriter.holds(c, bound) for c in rule.conditions):
                continue
            if rule.never:
                d.note_empty(rule.name, ((s.expr, interval),))
                return []
            after = _instances(rule, bound, rewriter)
            if after and not _progress(after[0][0], s):
                continue
            d.note(rule.name, ((s.expr, interval),), [(t.expr, i) for t, i in after])
            return after
    return None


def _match_one(
    compiled: _Compiled, at: int, s: Linear, interval: Interval, b: Bindings, rewriter: Rewriter
) -> Iterator[Bindings]:
    pattern = compiled.rule.before[at]
    for found in match(compiled.patterns[at], s, b, rewriter):
        lower = solve(pattern.lower, interval.lower, found)
        upper = None if lower is None else solve(pattern.upper, interval.upper, lower)
        if upper is not None:
            yield upper


def _instances(rule: ConstraintRule, b: Bindings, rewriter: Rewriter) -> list[tuple[Linear, Interval]]:
    out: list[tuple[Linear, Interval]] = []
    for bounded in rule.after:
        low, high = value(bounded.lower, b), value(bounded.upper, b)
        assert low is not None, f"{rule.name}: the conditions leave the right side undefined"
        assert high is not None, f"{rule.name}: the conditions leave the right side undefined"
        out.append((rewriter.finish(rewriter.build(bounded.expr, b)), Interval(low, high)))
    return out


def _progress(after: Linear, before: Linear) -> bool:
    return _size(after) < _size(before)


def _size(s: Linear) -> tuple[Measure, int, int, int]:
    """What a step about one constraint makes smaller: the expression, its constant, a common factor, its sign."""
    content = s.content()
    return measure(s), int(s.const != 0), content, int(bool(s.terms) and s.terms[0][1] < 0)


def _pairs(d: Domain, rewriter: Rewriter) -> None:
    """Applies the rules about two constraints of one expression, remainders of it included, until none applies."""
    while not d.empty and _pair_step(d, rewriter):
        pass


def _pair_step(d: Domain, rewriter: Rewriter) -> bool:
    # Two constraints have rules only where both are about remainders of one expression; all pairs would be many.
    groups: dict[Expr, list[Expr]] = {}
    for e in sorted(d.constraints, key=key):
        if isinstance(e, Binary) and e.op == "mod":
            groups.setdefault(e.lhs, []).append(e)
    for inner, members in groups.items():
        if isinstance(inner, Var):
            members = [inner, *members]
        for first, second in combinations(members, 2):
            if _joined(d, first, second, rewriter):
                return True
    return False


def _joined(d: Domain, first: Expr, second: Expr, rewriter: Rewriter) -> bool:
    """One step about two constraints, the first of which may be a variable's interval."""
    x, y = _interval(d, first), _interval(d, second)
    for compiled in _rules()[1]:
        rule = compiled.rule
        for b in _match_one(compiled, 0, linear_of(first), x, {}, rewriter):
            for both in _match_one(compiled, 1, linear_of(second), y, b, rewriter):
                bound = rewriter.computed(rule, both)
                if bound is None or not all(rewriter.holds(c, bound) for c in rule.conditions):
                    continue
                after = [] if rule.never else _instances(rule, bound, rewriter)
                if not rule.never and not _fewer(after, {first: x, second: y}):
                    continue
                if rule.never:
                    d.note_empty(rule.name, ((first, x), (second, y)))
                else:
                    d.note(rule.name, ((first, x), (second, y)), [(s.expr, i) for s, i in after])
                for old in (first, second):
                    d.constraints.pop(old, None)
                for s, i in after:
                    if isinstance(s.expr, Var):
                        d.intervals[s.expr.name] = i
                        d.empty |= i.is_empty
                    else:
                        _add(d, s, i, rewriter)
                return True
    return False


def _fewer(after: list[tuple[Linear, Interval]], before: dict[Expr, Interval]) -> bool:
    """Fewer constraints, or the same with narrower intervals."""
    if len(after) < len(before):
        return True
    same = {s.expr: i for s, i in after}
    return same.keys() == before.keys() and all(before[e].contains(i) for e, i in same.items()) and same != before


def _interval(d: Domain, e: Expr) -> Interval:
    return d.intervals[e.name] if isinstance(e, Var) else d.constraints[e]


def _drop_implied(d: Domain) -> None:
    """Leaves out what the other constraints imply, one at a time, the last first."""
    if len(d.constraints) > _MOST:
        return
    waiting = sorted(d.constraints, key=key)
    while waiting:
        e = waiting.pop()
        others = {o: i for o, i in d.constraints.items() if o is not e}
        knowledge = known_intervals(d.intervals, others)
        if knowledge is None:
            return  # There are no points.
        found = Rewriter(knowledge, others)
        r = found.range(linear_of(e))
        if d.constraints[e].contains(r):
            d.note("implied", ((e, d.constraints[e]),), ())
            del d.constraints[e]


def known_intervals(
    intervals: Mapping[str, Interval], constraints: Mapping[Expr, Interval]
) -> dict[str, Interval] | None:
    """The intervals of variables, narrowed by what the sums in constraints leave; None when nothing is left.

    Knowledge about the points of the domain: to be used on results, never to rewrite the constraints it comes from.
    """
    known = dict(intervals)
    for _ in range(_NARROWING_ROUNDS):
        changed = False
        ranges = Rewriter(known)
        for e, interval in constraints.items():
            s = linear_of(e)
            total = ranges.range(s)
            for atom, c in s.terms:
                if not isinstance(atom, Var):
                    continue
                own = known[atom.name]
                rest = ranges.range(s.plus(linear_of(atom), -c))
                # c * atom lies in [l - max(rest), u - min(rest)].
                low, high = interval.lower - rest.upper, interval.upper - rest.lower
                bound = Interval(-(-low // c), high // c) if c > 0 else Interval(-(high // -c), -low // -c)
                narrowed = own.intersect(bound)
                if narrowed.is_empty:
                    return None
                if narrowed != own:
                    known[atom.name] = narrowed
                    changed = True
            if total.intersect(interval).is_empty:
                return None
        if not changed:
            break
    return known


def _shown(constraints: Sequence[tuple[Expr, Interval]]) -> str:
    return ", ".join(f"{to_text(e)} in {i}" for e, i in constraints)
