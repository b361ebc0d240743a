"""Simplifies expressions by rules, with what is known of the ranges of variables and of other expressions.

Sums are collected first (specs/rules/arithmetic.rules), then the operators are rewritten from the leaves up, each until
no rule makes it smaller (measure.py). A step that would not make its expression smaller is not taken, whatever
the rule, so that every input ends. Which rule comes first is the order of the files and of the terms, never of hashes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from hloproof.models.expressions.bounds import combine
from hloproof.models.expressions.expr import Binary, Const, Expr, Operator, Var, postorder, to_text
from hloproof.models.expressions.interval import Interval
from hloproof.models.rules.rule import Condition, Rule
from hloproof.models.simplifier.compiled_rules import Compiled, compare, compiled_rules, compute, first_operators
from hloproof.models.simplifier.linear import Linear, constant, factors, key, linear_of, of_atom, product
from hloproof.models.simplifier.match import (
    Bindings,
    NodePattern,
    SumPattern,
    as_sum,
    match,
    match_operands,
    match_parts,
    value,
)
from hloproof.models.simplifier.measure import smaller

_DEEP: Final = 40
"""Rules that call for one another deeper than this wait for the next round over the expression."""


_LONG: Final = 1_000
"""Characters of an expression that a step shows."""


_ZERO: Final = Interval(0, 0)


@dataclass(frozen=True, slots=True)
class RewriteStep:
    """One application of a rule: what it was applied to and what came of it, other rules included."""

    rule: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.before} => {self.after}"


class Rewriter:
    """Simplifies under fixed knowledge: `intervals` of the variables by name, and `facts`, intervals of expressions.

    An interval that is empty makes every answer meaningless; the caller looks for that first.
    """

    def __init__(
        self, intervals: Mapping[str, Interval], facts: Mapping[Expr, Interval] | None = None, explain: bool = False
    ) -> None:
        self._intervals = intervals
        self._atom_facts: dict[Expr, Interval] = {}
        self._sum_facts: list[tuple[Linear, Interval]] = []
        for e, interval in (facts or {}).items():
            # A fact about one atom holds wherever that atom stands; one about a sum is looked for in each sum.
            s = linear_of(e)
            if len(s.terms) == 1 and not s.const and s.terms[0][1] == 1:
                self._atom_facts[e] = interval
            elif s.terms:
                self._sum_facts.append((s, interval))
        self._rules, self._sums, self._bare = compiled_rules()
        self._nodes: dict[tuple[str, Expr, Expr], Linear] = {}
        self._finished: dict[Expr, Linear] = {}
        self._ranges: dict[Expr, Interval] = {}
        self._depth = 0
        self._cut = False
        self.steps: list[RewriteStep] | None = [] if explain else None

    # --- the ways in -----------------------------------------------------------------------------------------------

    def simplify(self, e: Expr) -> Expr:
        """The expression, as simple as the rules make it."""
        while True:
            self._cut = False
            after = self._round(e)
            # Where a rule was cut off for its depth, the next round begins with what there is, and less deep.
            if after is e or not self._cut:
                return after
            e = after

    def range(self, s: Linear) -> Interval:
        """The range of a sum whose atoms are simplified."""
        low = high = s.const
        for atom, c in s.terms:
            r = self._ranges.get(atom) or self._atom_range(atom)
            if c > 0:
                low += c * r.lower
                high += c * r.upper
            else:
                low += c * r.upper
                high += c * r.lower
        found = Interval(low, high)
        for fact, interval in self._sum_facts:
            found = self._narrowed(s, fact, interval, found)
        return found

    def build(self, e: Expr, bindings: Bindings) -> Linear:
        """An instance of a rule's expression, simplified."""
        match e:
            case Const(v):
                return constant(v)
            case Var(name):
                return as_sum(bindings[name])
            case Binary(op, lhs, rhs):
                x, y = self.build(lhs, bindings), self.build(rhs, bindings)
                if op == "+":
                    return x.plus(y)
                if op == "*":  # No rule multiplies expressions.
                    return self._product([x, y])
                return self._node(op, self.finish(x), self.finish(y))
        raise AssertionError(e)

    # --- one round over an expression ------------------------------------------------------------------------------

    def _round(self, root: Expr) -> Expr:
        done: dict[Expr, Linear] = {}

        def of(e: Expr) -> Linear:
            """A product is made when it is asked for, all its factors at once."""
            found = done.get(e)
            if found is None:
                found = done[e] = self._product([done[f] for f in factors(e)])
            return found

        for e in postorder(root):
            match e:
                case Const(v):
                    done[e] = constant(v)
                case Var():
                    done[e] = self._point(of_atom(e))
                case Binary("+", lhs, rhs):
                    done[e] = of(lhs).plus(of(rhs))
                case Binary("floordiv" | "ceildiv" | "mod" | "min" | "max" as op, lhs, rhs):
                    done[e] = self._node(op, self.finish(of(lhs)), self.finish(of(rhs)))
        return self.finish(of(root)).expr

    def _product(self, parts: list[Linear]) -> Linear:
        outside, sums = 1, list[Linear]()
        for p in parts:
            if p.is_const:
                outside *= p.const
            else:
                sums.append(p)
        if len(sums) == 1:
            return sums[0].scale(outside)
        return product((constant(outside), *(self.finish(s) for s in sums)))

    def _node(self, op: Operator, x: Linear, y: Linear) -> Linear:
        """`x op y` for an operator other than + and *; operands are finished."""
        if op in ("min", "max"):
            x, y = self._ordered(x, y)
        k = (op, x.expr, y.expr)
        found = self._nodes.get(k)
        if found is not None:
            return found
        if self._depth >= _DEEP:
            self._cut = True
            return of_atom(Binary(*k))
        self._depth += 1
        # Whether this operator was cut short is asked apart from what was before: it is remembered only if it was not,
        # since asked from less deep it may come out smaller.
        cut, self._cut = self._cut, False
        found = self._rewritten(op, x, y, Binary(*k))
        if not self._cut:
            self._nodes[k] = found
        self._cut |= cut
        self._depth -= 1
        return found

    @staticmethod
    def _ordered(x: Linear, y: Linear) -> tuple[Linear, Linear]:
        return (x, y) if key(x.expr) < key(y.expr) else (y, x)

    def _rewritten(self, op: Operator, x: Linear, y: Linear, atom: Binary) -> Linear:
        before = of_atom(atom)
        known = self._point(before)
        if known is not before:
            return known
        for compiled in self._rules.get(op, ()):
            for bindings in self._operands(compiled, x, y):
                after = self._applied(compiled, bindings)
                if after is not None and smaller(after, before):
                    self._note(compiled, before, after)
                    return after
        return before

    def _operands(self, compiled: Compiled, lhs: Linear, rhs: Linear) -> Iterator[Bindings]:
        p = compiled.pattern
        assert isinstance(p, NodePattern)
        if compiled.divisor:
            if rhs.terms:
                return
            b: Bindings = {compiled.divisor: rhs.const}
            # What asks for the divisor alone is asked before the dividend is taken apart.
            for c in compiled.early:
                if not self._constant_condition(c, b):
                    return
            yield from match(p.lhs, lhs, b, self)
        else:
            yield from match_operands(p, lhs, rhs, {}, self)

    def _applied(self, compiled: Compiled, bindings: Bindings) -> Linear | None:
        rule = compiled.rule
        bound: Bindings | None = bindings
        if rule.computed:
            bound = self.computed(rule, bindings)
        if bound is None:
            return None
        for c in rule.conditions:
            if not self.holds(c, bound):
                return None
        return self.build(rule.rhs, bound)

    # --- sums --------------------------------------------------------------------------------------------------------

    def finish(self, s: Linear) -> Linear:
        """A sum after the rules of sums."""
        if all(isinstance(a, Var) for a, _ in s.terms):
            return s if not self._sum_facts else self._point(s)
        found = self._finished.get(s.expr)
        if found is None:
            found = s
            while True:
                after = self._sum_step(found)
                if after is None:
                    break
                found = after
            found = self._point(found)
            if not self._cut:
                # Under both names: what came out is finished as well.
                self._finished[s.expr] = found
                self._finished[found.expr] = found
        return found

    def _sum_step(self, s: Linear) -> Linear | None:
        operators = {a.op for a, _ in s.terms if isinstance(a, Binary)}
        for compiled in self._sums:
            p = compiled.pattern
            assert isinstance(p, SumPattern)
            if not first_operators(p.parts) & operators:
                continue
            for bindings, left in match_parts(p, 0, s, {}, self):
                after = self._applied(compiled, bindings)
                if after is not None:
                    after = after.plus(left)
                    if smaller(after, s):
                        self._note(compiled, s, after)
                        return after
        return None

    # --- conditions --------------------------------------------------------------------------------------------------

    def _point(self, s: Linear) -> Linear:
        """A constant where the range is one value (the rules whose left side is any expression)."""
        if not s.terms:
            return s
        for compiled in self._bare:
            assert isinstance(compiled.rule.lhs, Var)
            r = self.range(s)
            if not r.is_point:
                return s
            after = self._applied(compiled, {compiled.rule.lhs.name: s})
            if after is not None:
                self._note(compiled, s, after)
                return after
        return s

    def computed(self, rule: Rule, bindings: Bindings) -> Bindings | None:
        """The bindings with the constants that the rule computes; None where one has no value."""
        bound = dict(bindings)
        for c in rule.computed:
            if c.function in ("range", "least", "greatest"):
                r = self._rough(c.arguments[0], bound)
                # From the ranges of what is bound first; the expression is built, which simplifies it, only where that
                # is not exact.
                if not r.is_point and not _divides(c.arguments[0]):
                    r = self.range(self.build(c.arguments[0], bound))
                if c.function == "range" and not r.is_point:
                    return None
                bound[c.name] = r.upper if c.function == "greatest" else r.lower
            else:
                v = compute(c.function, [value(a, bound) for a in c.arguments])
                if v is None:
                    return None
                bound[c.name] = v
        return bound

    def _constant_condition(self, c: Condition, b: Bindings) -> bool | None:
        x, y = value(c.lhs, b), value(c.rhs, b)
        return None if x is None or y is None else compare(c.op, x, y)

    def holds(self, c: Condition, b: Bindings) -> bool:
        """The condition holds over the whole range of the expressions in it."""
        decided = self._constant_condition(c, b)
        if decided is not None:
            return decided
        left, right = self._rough(c.lhs, b), self._rough(c.rhs, b)
        match c.op:  # Often the ranges of the two sides say enough.
            case "<=" if left.upper <= right.lower:
                return True
            case "<" if left.upper < right.lower:
                return True
            case "==" if left.is_point and left == right:
                return True
        if left.lower > right.upper:
            return False
        difference = self.range(self.build(c.rhs, b).plus(self.build(c.lhs, b), -1))
        match c.op:
            case "<=":
                return difference.lower >= 0
            case "==":
                return difference == _ZERO
        return False  # In rules one side of `<` is a constant, and the ranges have said all.

    def _rough(self, e: Expr, b: Bindings) -> Interval:
        """The range of a rule's expression from those of what is bound, nothing built."""
        match e:
            case Const(v):
                return Interval(v, v)
            case Var(name):
                found = b[name]
                return Interval(found, found) if isinstance(found, int) else self.range(found)
            case Binary(op, lhs, rhs):
                return combine(op, self._rough(lhs, b), self._rough(rhs, b))
        raise AssertionError(e)

    # --- ranges ------------------------------------------------------------------------------------------------------

    def _atom_range(self, atom: Expr) -> Interval:
        stack = [atom]
        while stack:
            e = stack[-1]
            if isinstance(e, Binary):
                lhs, rhs = linear_of(e.lhs), linear_of(e.rhs)
                due = [a for s in (lhs, rhs) for a, _ in s.terms if a not in self._ranges]
                if due:
                    stack += due
                    continue
                r = combine(e.op, self.range(lhs), self.range(rhs))
            else:
                assert isinstance(e, Var)
                r = self._intervals[e.name]
            if e in self._atom_facts:
                r = r.intersect(self._atom_facts[e])
            self._ranges[e] = r
            stack.pop()
        return self._ranges[atom]

    def _narrowed(self, s: Linear, fact: Linear, interval: Interval, found: Interval) -> Interval:
        """The range where the sum holds a multiple of one whose interval is known."""
        # The sum is q times the fact's sum and what is left over; its range is that of both added, which is narrower
        # than term by term. The atoms' own ranges are known by now: `range` has asked for them.
        first, c0 = fact.terms[0]
        table = dict(s.terms)
        c = table.get(first, 0)
        q, remainder = divmod(c, c0)
        if not q or remainder or any(table.get(a, 0) != q * k for a, k in fact.terms):
            return found
        low, high = sorted((q * (interval.lower - fact.const), q * (interval.upper - fact.const)))
        left = [(a, k) for a, k in s.terms if a not in dict(fact.terms)]
        low, high = low + s.const, high + s.const
        for atom, k in left:
            r = self._ranges[atom]
            low += k * (r.lower if k > 0 else r.upper)
            high += k * (r.upper if k > 0 else r.lower)
        return found.intersect(Interval(low, high))

    def _note(self, compiled: Compiled, before: Linear, after: Linear) -> None:
        if self.steps is not None:
            self.steps.append(RewriteStep(compiled.rule.name, _short(before.expr), _short(after.expr)))


def _short(e: Expr) -> str:
    """The text of an expression, cut where it is too long to read."""
    text = to_text(e)
    return f"{text[: _LONG // 2]} ... {text[-_LONG // 2 :]}" if text[_LONG:] else text


def _divides(e: Expr) -> bool:
    """A quotient: building it would only be simplifying it in vain."""
    return isinstance(e, Binary) and e.op in ("floordiv", "ceildiv")
