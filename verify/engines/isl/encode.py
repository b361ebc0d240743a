"""Obligations to isl: is the set of counterexamples empty?

`basic_sets` hands rows to isl. The counterexamples are written as a conjunction of affine rows over columns and of
clauses (alternatives of conjunctions). A column is a variable of the obligation, a quotient, a minimum or maximum, or a
variable bound by an `Exists` that must hold; quotients are total functions of what they divide, so their rows may
stand anywhere. `clause_search` goes through the alternatives; rows that hang together become one isl basic set, sampled
once. An `Exists` that must not hold is the complement of isl's projection.

isl is positional. Columns are numbered here, by scope and name, and `basic_set` alone turns numbers into positions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import gcd
from typing import Final, Literal

import islpy as isl

from hloproof.engines.gave_up import GaveUp, NotExpressible
from hloproof.engines.isl.affine_rows import CONSTANT, Affine, AffineRow, Conjunction, combine, is_constant, plus, scale
from hloproof.engines.isl.basic_sets import basic_set, context, integer, sample_component
from hloproof.engines.isl.clause_search import ClauseSearch
from hloproof.logic.formula import And, Compare, Exists, Formula, Not, Or
from hloproof.logic.miniscope import separated
from hloproof.logic.obligation import Obligation
from hloproof.models.expressions.expr import Binary, Const, Expr, Var
from hloproof.models.expressions.interval import Interval

FEW_EXTREMA: Final = 4
"""So many minima and maxima of one form are written out; with more the formula would grow too much."""

FEW_BOUNDS: Final = 16
"""So many rows a bound of minima and maxima may become; with more, what is left of them stays as it is."""

FEW_EQUATIONS: Final = 4
"""Of so many equations owed, each is proved with those before it at hand; of more, the rows would outweigh the help."""

_FLIPPED: Final = {"min": "max", "max": "min"}

Mode = Literal["true", "false", "not true", "not false"]
"""What a formula is asked to be. With undefined atoms, not true is more than false."""

_OPPOSITE: Final[dict[Mode, Mode]] = {
    "true": "false",
    "false": "true",
    "not true": "not false",
    "not false": "not true",
}
_COMPLEMENT: Final[dict[Mode, Mode]] = {
    "true": "not true",
    "not true": "true",
    "false": "not false",
    "not false": "false",
}


def version() -> str:
    """The name and version of isl."""
    return f"isl {isl.version.VERSION_TEXT}"


def find_counterexample(obligation: Obligation, max_operations: int) -> dict[str, int] | None:
    """Values of the obligation's variables at which it fails, or None when isl shows that there are none.

    Raises NotExpressible, and GaveUp at the limit of operations. (isl reports the limit through whatever call it was
    in, so every error of isl counts as giving up: it never becomes an answer.)
    """
    ctx = context()
    ctx.reset_operations()
    ctx.set_max_operations(max_operations)
    try:
        return _Encoder(max_operations // OPERATIONS_PER_STEP).counterexample(obligation)
    except isl.Error as error:
        raise GaveUp(f"isl stopped within its limit of {max_operations} operations") from error
    finally:
        ctx.set_max_operations(0)
        ctx.reset_operations()


OPERATIONS_PER_STEP: Final = 1000
"""A step of the search over alternatives counts as so many of isl's operations."""


class _Scope:
    """Where a name means a column; an inner scope belongs to an `Exists`, outer ones enclose it."""

    def __init__(self, parent: _Scope | None = None) -> None:
        self.parent = parent
        self.names: dict[str, int] = {}
        self.own: set[int] = set()
        self.cache: dict[Expr, Affine] = {}

    def column(self, name: str) -> int:
        scope: _Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.parent
        raise KeyError(name)


class _Encoder:
    def __init__(self, steps: int) -> None:
        self.columns = 0
        self.owner: list[_Scope] = []
        self.definitions: dict[int, Conjunction] = {}  # quotient, minimum, maximum: the column to its meaning
        self.quotients: dict[tuple[tuple[tuple[int, int], ...], int], int] = {}
        self.quotient_of: dict[int, tuple[tuple[tuple[int, int], ...], int]] = {}
        self.extrema: dict[tuple[str, tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]], int] = {}
        self.extremum_of: dict[int, tuple[str, Affine, Affine]] = {}
        self.search = ClauseSearch(self.definitions, sample_component, steps)

    def counterexample(self, obligation: Obligation) -> dict[str, int] | None:
        scope = _Scope()
        found = Conjunction()
        for name, interval in obligation.variables:
            self._declare(scope, name, interval, found)
        found.join(self.lower(obligation.hypothesis, "true", scope))
        if not found.absurd:
            found.join(self.lower(obligation.conclusion, "not true", scope))
        sample = self.search.find(found)
        if sample is None:
            return None
        return {name: sample.get(scope.names[name], 0) for name, _ in obligation.variables}

    # columns

    def _column(self, scope: _Scope) -> int:
        self.owner.append(scope)
        scope.own.add(self.columns)
        self.columns += 1
        return self.columns - 1

    def _declare(self, scope: _Scope, name: str, interval: Interval | None, into: Conjunction) -> int:
        column = scope.names[name] = self._column(scope)
        if interval is not None:
            into.add_row({column: 1, CONSTANT: -interval.lower}, False)
            into.add_row({column: -1, CONSTANT: interval.upper}, False)
        return column

    def _innermost(self, scope: _Scope, forms: Iterable[Affine]) -> _Scope:
        """The innermost scope, from `scope` outwards, that owns a column of the forms; the outermost when none does."""
        used = {c for f in forms for c in f if c != CONSTANT}
        here = scope
        while here.parent is not None and not (used & here.own):
            here = here.parent
        return here

    # terms

    def affine(self, root: Expr, scope: _Scope) -> Affine | None:
        """`root` as an affine form; None where it divides by the constant zero. Raises NotExpressible."""
        done = scope.cache
        if root in done:
            return done[root]
        stack = [root]
        while stack:
            e = stack[-1]
            if e in done:
                stack.pop()
                continue
            if isinstance(e, Binary) and (e.lhs not in done or e.rhs not in done):
                stack += [part for part in (e.rhs, e.lhs) if part not in done]
                continue
            stack.pop()
            if isinstance(e, Const):
                done[e] = {CONSTANT: e.value} if e.value else {}
            elif isinstance(e, Var):
                done[e] = {scope.column(e.name): 1}
            elif isinstance(e, Binary):
                made = self._binary(e.op, done[e.lhs], done[e.rhs], scope)
                if made is None:
                    return None
                done[e] = made
        return done[root]

    def _binary(self, op: str, x: Affine, y: Affine, scope: _Scope) -> Affine | None:
        if op == "+":
            return combine(x, 1, y, 1)
        if op == "*":
            if not is_constant(y):
                x, y = y, x
            if not is_constant(y):
                raise NotExpressible("a product of two terms that are not constant")
            return scale(x, y.get(CONSTANT, 0))
        if op in ("min", "max"):
            return self._extremum(op, x, y, scope)
        if not is_constant(y):
            raise NotExpressible("a divisor that is not constant")
        divisor = y.get(CONSTANT, 0)
        if divisor == 0:
            return None
        if op == "floordiv":
            return self._floordiv(x, divisor, scope)
        if op == "ceildiv":
            return scale(self._floordiv(scale(x, -1), divisor, scope), -1)
        if op == "mod":
            return combine(x, 1, self._floordiv(x, divisor, scope), -divisor)
        raise ValueError(f"no such operator: {op}")

    def _floordiv(self, x: Affine, divisor: int, scope: _Scope) -> Affine:
        if divisor < 0:
            x, divisor = scale(x, -1), -divisor
        # (g * f + k) floordiv (g * c) = (f + k floordiv g) floordiv c
        common = gcd(divisor, *(v for c, v in x.items() if c != CONSTANT))
        rest = {c: v // common for c, v in x.items() if v // common}
        divisor //= common
        if divisor == 1:
            return rest
        ends = [c for c in rest if c in self.extremum_of]
        if ends and len(ends) <= FEW_EXTREMA:
            # A quotient by a positive divisor is monotone: it goes inside the minimum or maximum.
            op, one, other = self.extremum_of[ends[0]]
            by = rest.pop(ends[0])
            return self._extremum(
                op if by > 0 else _FLIPPED[op],
                self._floordiv(combine(rest, 1, one, by), divisor, scope),
                self._floordiv(combine(rest, 1, other, by), divisor, scope),
                scope,
            )
        columns = [c for c in rest if c != CONSTANT]
        if len(columns) == 1 and rest[columns[0]] == 1 and columns[0] in self.quotient_of:
            # (f floordiv a + k) floordiv b = (f + a * k) floordiv (a * b): quotients of one form share columns.
            form, by = self.quotient_of[columns[0]]
            flat = combine(dict(form), 1, {CONSTANT: rest.get(CONSTANT, 0)}, by)
            return self._floordiv(flat, by * divisor, scope)
        key = (tuple(sorted(rest.items())), divisor)
        column = self.quotients.get(key)
        if column is None:
            column = self.quotients[key] = self._column(self._innermost(scope, [rest]))
            meaning = self.definitions[column] = Conjunction()
            self.quotient_of[column] = key
            meaning.add_row(combine(rest, 1, {column: 1}, -divisor), False)
            meaning.add_row(plus(combine({column: 1}, divisor, rest, -1), divisor - 1), False)
        return {column: 1}

    def _extremum(self, op: str, x: Affine, y: Affine, scope: _Scope) -> Affine:
        if x == y:
            return x
        key = (op, tuple(sorted(x.items())), tuple(sorted(y.items())))
        column = self.extrema.get(key)
        if column is None:
            column = self.extrema[key] = self._column(self._innermost(scope, [x, y]))
            self.extremum_of[column] = (op, x, y)
            own: Affine = {column: 1}
            beyond = [combine(own, 1, e, -1) if op == "max" else combine(e, 1, own, -1) for e in (x, y)]
            cases = [Conjunction(), Conjunction()]
            for case, (that, other) in zip(cases, (beyond, reversed(beyond)), strict=True):
                case.add_row(that, True)
                case.add_row(other, False)
            meaning = self.definitions[column] = Conjunction()
            meaning.add_clause(cases)
        return {column: 1}

    # formulas

    def lower(self, formula: Formula, mode: Mode, scope: _Scope) -> Conjunction:
        """Rows and clauses that hold exactly where `formula` is as `mode` asks (definitions of columns apart)."""
        match formula:
            case Not(part):
                return self.lower(part, _OPPOSITE[mode], scope)
            case Compare():
                return self._compare(formula, mode, scope)
            case And(parts) | Or(parts):
                return self._connective(parts, isinstance(formula, And) == (mode in ("true", "not false")), mode, scope)
            case Exists():
                if mode in ("true", "not false"):
                    inner, result = _Scope(scope), Conjunction()
                    # Columns of an Exists that must hold are further columns of the branch it stands in.
                    for name, interval in formula.variables:
                        self._declare(inner, name, interval, result)
                    result.join(self.lower(formula.part, mode, inner))
                    return result
                return self._not_exists(formula, _COMPLEMENT[mode], scope)

    def _connective(self, parts: Sequence[Formula], all_of: bool, mode: Mode, scope: _Scope) -> Conjunction:
        result = Conjunction()
        if all_of:
            for p in parts:
                result.join(self.lower(p, mode, scope))
                if result.absurd:
                    break
        else:
            alternatives: list[Conjunction] = []
            settled: list[AffineRow] = []
            for p in parts:
                one = self.lower(p, mode, scope)
                # The first part that fails will do, so those before it may be taken to hold: equations help.
                before = list(settled)
                if mode == "not true" and len(parts) <= FEW_EQUATIONS and isinstance(p, Compare) and p.op == "==":
                    settled += self.lower(p, "true", scope).rows
                # An alternative that is itself only alternatives is spliced in.
                spliced = one.clauses[0] if not one.rows and len(one.clauses) == 1 and not one.absurd else [one]
                alternatives += [replace(a, rows=[*before, *a.rows]) for a in spliced] if before else spliced
            result.add_clause(alternatives)
        return result

    def _compare(self, atom: Compare, mode: Mode, scope: _Scope) -> Conjunction:
        result = Conjunction()
        left, right = self.affine(atom.lhs, scope), self.affine(atom.rhs, scope)
        if left is None or right is None:
            result.absurd = mode in ("true", "false")
            return result
        positive = mode in ("true", "not false")
        gap, opposite = combine(right, 1, left, -1), combine(left, 1, right, -1)
        match atom.op:
            case "==" | "!=":
                if (atom.op == "==") == positive:
                    result.add_row(gap, True)
                else:
                    above, below = Conjunction(), Conjunction()
                    above.add_row(plus(gap, -1), False)
                    below.add_row(plus(opposite, -1), False)
                    result.add_clause([above, below])
            case "<=" | "<":
                strict = (atom.op == "<") == positive
                form = gap if positive else opposite
                self._at_least_zero(plus(form, -1) if strict else form, result)
        return result

    def _at_least_zero(self, form: Affine, result: Conjunction) -> None:
        """Add `form >= 0`. Where it bounds a maximum from above or a minimum from below, it bounds both arguments."""
        pending = [form]
        while pending:
            here = pending.pop()
            few = len(result.rows) < FEW_BOUNDS
            for c, v in here.items():
                if few and c in self.extremum_of and (self.extremum_of[c][0] == "max") == (v < 0):
                    _, one, other = self.extremum_of[c]
                    rest = {k: w for k, w in here.items() if k != c}
                    pending += [combine(rest, 1, one, v), combine(rest, 1, other, v)]
                    break
            else:
                result.add_row(here, False)

    def _not_exists(self, formula: Exists, mode: Mode, scope: _Scope) -> Conjunction:
        """The complement of the projection of the points where the body is as `mode` asks."""
        separate = separated(formula)
        if separate is not None:
            # A product of independent parts: its complement is the union of theirs.
            return self._connective(separate, False, _COMPLEMENT[mode], scope)
        inner, body = _Scope(scope), Conjunction()
        for name, interval in formula.variables:
            self._declare(inner, name, interval, body)
        body.join(self.lower(formula.part, mode, inner))
        result = Conjunction()
        if body.absurd:
            return result
        projected: isl.Set | None = None
        branches = list(self.branches(body, inner))
        outer = sorted({c for rows in branches for r in rows for c in r.columns if not self._is_inside(c, inner)})
        for rows in branches:
            hidden = sorted({c for r in rows for c in r.columns} - set(outer))
            basic = basic_set([*outer, *hidden], rows)
            part = isl.Set.from_basic_set(basic).project_out(isl.dim_type.set, len(outer), len(hidden))
            projected = part if projected is None else projected.union(part)
        if projected is None:
            return result
        rest = isl.Set.universe(projected.get_space()).subtract(projected).remove_redundancies()
        alternatives: list[Conjunction] = []
        for basic in rest.get_basic_sets():
            alternatives.append(self._from_isl(basic, outer, scope))
        result.add_clause(alternatives)
        return result

    def _is_inside(self, column: int, scope: _Scope) -> bool:
        here: _Scope | None = self.owner[column]
        while here is not None:
            if here is scope:
                return True
            here = here.parent
        return False

    def _from_isl(self, basic: isl.BasicSet, outer: Sequence[int], scope: _Scope) -> Conjunction:
        """The constraints of a basic set over `outer`; its local variables become columns."""
        kind = isl.dim_type
        local = [self._column(scope) for _ in range(basic.dim(kind.div))]
        order = [*outer, *local, CONSTANT]
        result = Conjunction()
        for matrix, is_equality in (
            (basic.equalities_matrix(kind.set, kind.div, kind.param, kind.cst), True),
            (basic.inequalities_matrix(kind.set, kind.div, kind.param, kind.cst), False),
        ):
            for i in range(matrix.rows()):
                values = (integer(matrix.get_element_val(i, j)) for j in range(len(order)))
                result.add_row({c: v for c, v in zip(order, values, strict=True) if v}, is_equality)
        return result

    def branches(self, body: Conjunction, inner: _Scope) -> Iterator[list[AffineRow]]:
        """The disjunctive normal form of a body: the rows of each branch, with the definitions of inner columns."""
        pending: list[tuple[list[AffineRow], list[list[Conjunction]], frozenset[int]]] = [
            (body.rows, body.clauses, frozenset())
        ]
        while pending:
            rows, clauses, defined = pending.pop()
            needed = [
                c
                for c in {c for r in rows for c in r.columns} - defined
                if c in self.definitions and self._is_inside(c, inner)
            ]
            if needed:
                more, choices = list(rows), list(clauses)
                for c in needed:
                    more += self.definitions[c].rows
                    choices += self.definitions[c].clauses
                pending.append((more, choices, defined | set(needed)))
            elif clauses:
                self.search.step()
                for alternative in reversed(clauses[0]):
                    pending.append((rows + alternative.rows, clauses[1:] + alternative.clauses, defined))
            else:
                yield rows
