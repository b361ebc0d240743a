"""Obligations to isl: is the set of counterexamples empty?

The only module that imports islpy. The counterexamples are written as a conjunction of affine rows over columns and of
clauses (alternatives of conjunctions). A column is a variable of the obligation, a quotient, a minimum or maximum, or a
variable bound by an `Exists` that must hold; quotients are total functions of what they divide, so their rows may
stand anywhere. The clauses are searched depth first; the rows of a branch fall apart into components that share no
column, and each component becomes one isl basic set, sampled once. An `Exists` that must not hold is the complement of
isl's projection.

isl is positional. The table from names to positions is here and nowhere else: column numbers are ours, `_Component`
turns them into positions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import gcd, prod
from typing import Any, Final, Literal

import islpy as isl

from models.expr import Binary, Const, Expr, Var, postorder
from models.interval import Interval
from verify.engine import GaveUp, NotExpressible
from verify.formula import And, Compare, Exists, Formula, Not, Or
from verify.obligation import Obligation

CONSTANT: Final = -1
"""The key of the constant term in an affine form."""

_MACHINE: Final = 2**63
"""islpy takes integers below this as they are."""

Affine = dict[int, int]
"""Column to coefficient; no zero coefficients."""

FEW_EXTREMA: Final = 4
"""So many minima and maxima of one form are written out; with more the formula would grow too much."""

FEW_EQUATIONS: Final = 4
"""Of so many equations owed, each is proved with those before it at hand; of more, the rows would outweigh the help."""

_FLIPPED: Final = {"min": "max", "max": "min"}

FEW_BRANCHES: Final = 8
"""So many combinations of alternatives are tried as they are; more are narrowed first, one alternative at a time."""

Mode = Literal["true", "false", "not true", "not false"]
"""What a formula is asked to be. With undefined atoms, not true is more than false."""

_OPPOSITE: Final[dict[Mode, Mode]] = {
    "true": "false", "false": "true", "not true": "not false", "not false": "not true",
}  # fmt: skip
_COMPLEMENT: Final[dict[Mode, Mode]] = {
    "true": "not true", "not true": "true", "false": "not false", "not false": "false",
}  # fmt: skip


_context: isl.Context | None = None


def context() -> isl.Context:
    """The one isl context of this process."""
    global _context
    if _context is None:
        _context = isl.Context()
        _context.set_on_error(1)  # continue: errors become exceptions, not prints and aborts
    return _context


def version() -> str:
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


@dataclass(frozen=True)
class Row:
    """`form == 0` or `form >= 0`."""

    form: tuple[tuple[int, int], ...]
    is_equality: bool

    def columns(self) -> Iterator[int]:
        return (c for c, _ in self.form if c != CONSTANT)

    def bounds(self) -> tuple[Linear, int | None, int | None]:
        """The row as a lower and an upper bound, inclusive, of its linear form."""
        constant = self.form[-1][1] if self.form[-1][0] == CONSTANT else 0
        linear = self.form[:-1] if constant else self.form
        if linear[0][1] > 0:
            return linear, -constant, -constant if self.is_equality else None
        return tuple((c, -v) for c, v in linear), constant if self.is_equality else None, constant


@dataclass
class Conjunction:
    rows: list[Row] = field(default_factory=list)
    clauses: list[list[Conjunction]] = field(default_factory=list)
    absurd: bool = False

    def add_row(self, form: Affine, is_equality: bool) -> None:
        """Add `form == 0` or `form >= 0`, tightened to coprime coefficients; a row without columns is decided here."""
        constant = form.get(CONSTANT, 0)
        divisor = gcd(*(v for c, v in form.items() if c != CONSTANT))
        if divisor == 0:
            self.absurd = self.absurd or (constant != 0 if is_equality else constant < 0)
            return
        if is_equality and constant % divisor:
            self.absurd = True
            return
        row = sorted((c, v // divisor) for c, v in form.items() if c != CONSTANT)
        if constant // divisor:
            row.append((CONSTANT, constant // divisor))
        self.rows.append(Row(tuple(row), is_equality))

    def join(self, other: Conjunction) -> None:
        self.rows += other.rows
        self.clauses += other.clauses
        self.absurd = self.absurd or other.absurd

    def add_clause(self, alternatives: list[Conjunction]) -> None:
        alternatives = [a for a in alternatives if not a.absurd]
        if not alternatives:
            self.absurd = True
        elif len(alternatives) == 1:
            self.join(alternatives[0])
        else:
            self.clauses.append(alternatives)


Linear = tuple[tuple[int, int], ...]
"""Columns and coefficients, by column, without a constant; the first coefficient positive."""


class _Node:
    """A place in the search: rows, what they say of each linear form outright, and clauses still open."""

    def __init__(
        self, rows: list[Row], bounds: dict[Linear, tuple[int | None, int | None]],
        clauses: list[list[Conjunction]], known: frozenset[int],
    ) -> None:  # fmt: skip
        self.rows, self.bounds, self.clauses = list(rows), dict(bounds), list(clauses)
        self.known = known
        """Columns whose definitions are in."""

    def add(self, rows: list[Row], clauses: list[list[Conjunction]]) -> bool:
        """Add rows and clauses. False when a row contradicts another of the same linear form."""
        for row in rows:
            says = self._says(row)
            if says is False:
                return False
            if says is None:
                self.rows.append(row)
                linear, lower, upper = row.bounds()
                old_lower, old_upper = self.bounds.get(linear, (None, None))
                self.bounds[linear] = (
                    old_lower if lower is None or (old_lower is not None and old_lower > lower) else lower,
                    old_upper if upper is None or (old_upper is not None and old_upper < upper) else upper,
                )
        self.clauses += clauses
        return True

    def _says(self, row: Row) -> bool | None:
        """Whether the rows imply or contradict `row` by what they say of its own linear form; None: neither."""
        linear, lower, upper = row.bounds()
        known_lower, known_upper = self.bounds.get(linear, (None, None))
        if lower is not None and known_upper is not None and known_upper < lower:
            return False
        if upper is not None and known_lower is not None and known_lower > upper:
            return False
        above = lower is None or (known_lower is not None and known_lower >= lower)
        below = upper is None or (known_upper is not None and known_upper <= upper)
        return True if above and below else None

    def open_alternatives(self, clause: list[Conjunction]) -> list[Conjunction] | None:
        """The alternatives that no row contradicts outright; None when one of them holds outright."""
        left: list[Conjunction] = []
        for alternative in clause:
            says = [self._says(row) for row in alternative.rows]
            if False in says:
                continue
            if None not in says and not alternative.clauses:
                return None
            left.append(alternative)
        return left


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
        self.steps = steps
        self.columns = 0
        self.owner: list[_Scope] = []
        self.definitions: dict[int, Conjunction] = {}  # quotient, minimum, maximum: the column to its meaning
        self.quotients: dict[tuple[tuple[tuple[int, int], ...], int], int] = {}
        self.quotient_of: dict[int, tuple[tuple[tuple[int, int], ...], int]] = {}
        self.extrema: dict[tuple[str, tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]], int] = {}
        self.extremum_of: dict[int, tuple[str, Affine, Affine]] = {}
        self.solved: dict[tuple[frozenset[Row], frozenset[tuple[int, ...]]], dict[int, int] | None] = {}
        self.samples: dict[frozenset[Row], dict[int, int] | None] = {}

    def counterexample(self, obligation: Obligation) -> dict[str, int] | None:
        scope = _Scope()
        found = Conjunction()
        for name, interval in obligation.variables:
            self._declare(scope, name, interval, found)
        found.join(self.lower(obligation.hypothesis, "true", scope))
        if not found.absurd:
            found.join(self.lower(obligation.conclusion, "not true", scope))
        sample = self.search(found)
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
            into.absurd = into.absurd or interval.is_empty
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
        for e in postorder(root):
            if e in done:
                continue
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
            return _combine(x, 1, y, 1)
        if op == "*":
            if not _is_constant(y):
                x, y = y, x
            if not _is_constant(y):
                raise NotExpressible("a product of two terms that are not constant")
            return _combine(x, y.get(CONSTANT, 0), {}, 0)
        if op in ("min", "max"):
            return self._extremum(op, x, y, scope)
        if not _is_constant(y):
            raise NotExpressible("a divisor that is not constant")
        divisor = y.get(CONSTANT, 0)
        if divisor == 0:
            return None
        if op == "floordiv":
            return self._floordiv(x, divisor, scope)
        if op == "ceildiv":
            return _combine(self._floordiv(_combine(x, -1, {}, 0), divisor, scope), -1, {}, 0)
        if op == "mod":
            return _combine(x, 1, self._floordiv(x, divisor, scope), -divisor)
        raise ValueError(f"no such operator: {op}")

    def _floordiv(self, x: Affine, divisor: int, scope: _Scope) -> Affine:
        if divisor < 0:
            x, divisor = _combine(x, -1, {}, 0), -divisor
        if divisor == 1:
            return x
        ends = [c for c in x if c in self.extremum_of]
        if 0 < len(ends) <= FEW_EXTREMA:
            # A quotient by a positive divisor is monotone: it goes inside the minimum or maximum.
            op, one, other = self.extremum_of[ends[0]]
            by = x[ends[0]]
            rest = {c: v for c, v in x.items() if c != ends[0]}
            return self._extremum(
                op if by > 0 else _FLIPPED[op],
                self._floordiv(_combine(rest, 1, one, by), divisor, scope),
                self._floordiv(_combine(rest, 1, other, by), divisor, scope),
                scope,
            )  # fmt: skip
        # The multiples of the divisor come out exactly: (c * f + g) floordiv c = f + g floordiv c.
        whole = {c: v // divisor for c, v in x.items() if v // divisor}
        rest = {c: v % divisor for c, v in x.items() if v % divisor}
        common = gcd(divisor, *(v for c, v in rest.items() if c != CONSTANT))
        if common == divisor or not any(c != CONSTANT for c in rest):
            return whole
        whole, rest = {}, dict(x)
        common = gcd(divisor, *(v for c, v in rest.items() if c != CONSTANT))
        if common > 1:  # (g * f + k) floordiv (g * c) = (f + k floordiv g) floordiv c
            rest = {c: v // common for c, v in rest.items() if v // common}
        divisor //= common
        inner = next(iter(c for c in rest if c != CONSTANT))
        if rest[inner] == 1 and len(rest) - (CONSTANT in rest) == 1 and inner in self.quotient_of:
            # (f floordiv a + k) floordiv b = (f + a * k) floordiv (a * b): quotients of one form share their columns.
            form, by = self.quotient_of[inner]
            flat = self._floordiv(_combine(dict(form), 1, {CONSTANT: rest.get(CONSTANT, 0)}, by), by * divisor, scope)
            return _combine(whole, 1, flat, 1)
        key = (tuple(sorted(rest.items())), divisor)
        column = self.quotients.get(key)
        if column is None:
            column = self.quotients[key] = self._column(self._innermost(scope, [rest]))
            meaning = self.definitions[column] = Conjunction()
            self.quotient_of[column] = key
            meaning.add_row(_combine(rest, 1, {column: 1}, -divisor), False)
            meaning.add_row(_combine(_combine(rest, -1, {column: 1}, divisor), 1, {CONSTANT: divisor - 1}, 1), False)
        return _combine(whole, 1, {column: 1}, 1)

    def _extremum(self, op: str, x: Affine, y: Affine, scope: _Scope) -> Affine:
        if x == y:
            return x
        key = (op, tuple(sorted(x.items())), tuple(sorted(y.items())))
        column = self.extrema.get(key)
        if column is None:
            column = self.extrema[key] = self._column(self._innermost(scope, [x, y]))
            self.extremum_of[column] = (op, x, y)
            sign = 1 if op == "max" else -1
            over_x, over_y = _combine({column: 1}, sign, x, -sign), _combine({column: 1}, sign, y, -sign)
            is_x, is_y = Conjunction(), Conjunction()
            is_x.add_row(over_x, True)
            is_x.add_row(over_y, False)
            is_y.add_row(over_y, True)
            is_y.add_row(over_x, False)
            meaning = self.definitions[column] = Conjunction()
            meaning.add_clause([is_x, is_y])
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
            settled: list[Row] = []
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
        gap = _combine(right, 1, left, -1)  # right - left
        match atom.op:
            case "==" | "!=":
                if (atom.op == "==") == positive:
                    result.add_row(gap, True)
                else:
                    above, below = Conjunction(), Conjunction()
                    above.add_row(_combine(gap, 1, {CONSTANT: 1}, -1), False)
                    below.add_row(_combine(gap, -1, {CONSTANT: 1}, -1), False)
                    result.add_clause([above, below])
            case "<=" | "<":
                strict = (atom.op == "<") == positive
                form = gap if positive else _combine(gap, -1, {}, 0)
                self._at_least_zero(_combine(form, 1, {CONSTANT: 1}, -1) if strict else form, result)
        return result

    def _at_least_zero(self, form: Affine, result: Conjunction) -> None:
        """Add `form >= 0`. Where it bounds a maximum from above or a minimum from below, it bounds both arguments."""
        pending, count = [form], 0
        while pending:
            here = pending.pop()
            count += 1
            for c, v in here.items():
                if count < 2**FEW_EXTREMA and c in self.extremum_of and (self.extremum_of[c][0] == "max") == (v < 0):
                    _, one, other = self.extremum_of[c]
                    rest = {k: w for k, w in here.items() if k != c}
                    pending += [_combine(rest, 1, one, v), _combine(rest, 1, other, v)]
                    break
            else:
                result.add_row(here, False)

    def _not_exists(self, formula: Exists, mode: Mode, scope: _Scope) -> Conjunction:
        """The complement of the projection of the points where the body is as `mode` asks."""
        separate = _separated(formula)
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
        outer = sorted({c for rows in branches for r in rows for c in r.columns() if not self._is_inside(c, inner)})
        for rows in branches:
            hidden = sorted({c for r in rows for c in r.columns()} - set(outer))
            basic = _basic_set([*outer, *hidden], rows)
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
                values = (matrix.get_element_val(i, j).to_python() for j in range(len(order)))
                result.add_row({c: v for c, v in zip(order, values, strict=True) if v}, is_equality)
        return result

    def branches(self, body: Conjunction, inner: _Scope) -> Iterator[list[Row]]:
        """The disjunctive normal form of a body: the rows of each branch, with the definitions of inner columns."""
        pending: list[tuple[list[Row], list[list[Conjunction]], frozenset[int]]] = [
            (body.rows, body.clauses, frozenset())
        ]
        while pending:
            rows, clauses, defined = pending.pop()
            needed = [
                c for c in {c for r in rows for c in r.columns()} - defined
                if c in self.definitions and self._is_inside(c, inner)
            ]  # fmt: skip
            if needed:
                more, choices = list(rows), list(clauses)
                for c in needed:
                    more += self.definitions[c].rows
                    choices += self.definitions[c].clauses
                pending.append((more, choices, defined | set(needed)))
            elif clauses:
                self._step()
                for alternative in reversed(clauses[0]):
                    pending.append((rows + alternative.rows, clauses[1:] + alternative.clauses, defined))
            else:
                yield rows

    # search

    def search(self, top: Conjunction) -> dict[int, int] | None:
        """A point of the conjunction, column to value (columns left out are free), or None when there is none."""
        if top.absurd:
            return None
        node = _Node([], {}, [], frozenset())
        return self._solve(node) if node.add(top.rows, top.clauses) else None

    def _solve(self, node: _Node) -> dict[int, int] | None:
        """A point of the node, or None. Recursion is as deep as clauses nest in choices, no deeper."""
        self._step()
        if not self._define(node) or not self._narrow(node):
            return None
        many = len(node.clauses) > 1 and prod(map(len, node.clauses)) > FEW_BRANCHES
        if many and (self._sample(node.rows) is None or not self._filter(node)):
            return None
        if not node.clauses:
            return self._sample(node.rows)
        point: dict[int, int] = {}
        parts = self._independent(node)
        for rows, clauses in sorted(parts, key=lambda part: len(part[1])):
            if not clauses:
                found = self._sample(rows)
            else:
                key = (frozenset(rows), frozenset(tuple(map(id, clause)) for clause in clauses))
                if key not in self.solved:
                    self.solved[key] = self._choose(rows, clauses, node)
                found = self.solved[key]
            if found is None:
                return None
            point |= found
        return point

    def _choose(self, rows: list[Row], clauses: list[list[Conjunction]], node: _Node) -> dict[int, int] | None:
        """Try the alternatives of one clause."""
        first = self._joint(rows, clauses)
        others = clauses[:first] + clauses[first + 1 :]
        columns = {c for r in rows for c in r.columns()}
        for alternative in clauses[first]:
            branch = _Node(rows, node.bounds, others, node.known & columns)
            if branch.add(alternative.rows, alternative.clauses):
                found = self._solve(branch)
                if found is not None:
                    return found
        return None

    def _joint(self, rows: list[Row], clauses: list[list[Conjunction]]) -> int:
        """The clause over the most columns where the rest falls apart without it; else the shortest clause."""
        if len(clauses) > 2:
            widest = max(range(len(clauses)), key=lambda i: len(self._columns_of(clauses[i])))
            rest = _Node(rows, {}, clauses[:widest] + clauses[widest + 1 :], frozenset())
            if sum(bool(inside) for _, inside in self._independent(rest)) > 1:
                return widest
        return min(range(len(clauses)), key=lambda i: len(clauses[i]))

    def _independent(self, node: _Node) -> list[tuple[list[Row], list[list[Conjunction]]]]:
        """Rows and clauses in groups that share no column, the definitions of a clause's columns counted in."""
        groups = _Groups()
        row_columns = [list(r.columns()) for r in node.rows]
        clause_columns = [sorted(self._columns_of(clause)) for clause in node.clauses]
        for columns in (*row_columns, *clause_columns):
            groups.join(columns)
        parts: dict[int, tuple[list[Row], list[list[Conjunction]]]] = {}
        for row, columns in zip(node.rows, row_columns, strict=True):
            parts.setdefault(groups.find(columns[0]), ([], []))[0].append(row)
        for clause, columns in zip(node.clauses, clause_columns, strict=True):
            parts.setdefault(groups.find(columns[0]), ([], []))[1].append(clause)
        return list(parts.values())

    def _columns_of(self, clause: list[Conjunction]) -> set[int]:
        found: set[int] = set()
        pending = list(clause)
        while pending:
            part = pending.pop()
            pending += [a for inner in part.clauses for a in inner]
            new = {c for r in part.rows for c in r.columns()} - found
            found |= new
            pending += [self.definitions[c] for c in new if c in self.definitions]
        return found

    def _define(self, node: _Node) -> bool:
        """Add the definitions of the columns that the rows use. False when they contradict."""
        while True:
            needed = [
                c for c in {c for r in node.rows for c in r.columns()} - node.known if c in self.definitions
            ]  # fmt: skip
            if not needed:
                return True
            node.known = node.known | set(needed)
            for c in needed:
                if not node.add(self.definitions[c].rows, self.definitions[c].clauses):
                    return False

    def _narrow(self, node: _Node) -> bool:
        """Drop alternatives that contradict a row outright and clauses that hold outright; join what is left alone.
        False when a clause has no alternative left."""
        changed = True
        while changed:
            changed = False
            clauses, node.clauses = node.clauses, []
            for n, clause in enumerate(clauses):
                left = node.open_alternatives(clause)
                if left is None:
                    continue
                if not left:
                    return False
                if len(left) > 1:
                    node.clauses.append(left)
                    continue
                node.clauses += clauses[n + 1 :]
                if not node.add(left[0].rows, left[0].clauses) or not self._define(node):
                    return False
                changed = True
                break
        return True

    def _filter(self, node: _Node) -> bool:
        """The same, with isl as the judge of each alternative beside the rows of the node."""
        while True:
            for n, clause in enumerate(node.clauses):
                left = [a for a in clause if self._is_possible(node, a)]
                if not left:
                    return False
                if len(left) == 1:
                    del node.clauses[n]
                    if not node.add(left[0].rows, left[0].clauses) or not self._define(node) or not self._narrow(node):
                        return False
                    break
                node.clauses[n] = left
            else:
                return True

    def _is_possible(self, node: _Node, alternative: Conjunction) -> bool:
        """Whether the alternative's rows go with the rows of the node, which go together by themselves."""
        self._step()
        trial = _Node(node.rows, node.bounds, [], node.known)
        if not trial.add(alternative.rows, []) or not self._define(trial):
            return False
        new = trial.rows[len(node.rows) :]
        touched = {c for r in new for c in r.columns()}
        beside, reached = node.rows, True
        while reached:  # the rows that share columns with the new ones, directly or not
            reached, apart = False, []
            for row in beside:
                if touched.isdisjoint(row.columns()):
                    apart.append(row)
                else:
                    new.append(row)
                    touched.update(row.columns())
                    reached = True
            beside = apart
        return self._sample(new) is not None

    def _step(self) -> None:
        self.steps -= 1
        if self.steps < 0:
            raise GaveUp("the search over alternatives before isl is too long")

    def _sample(self, rows: list[Row]) -> dict[int, int] | None:
        """A point of all rows; None when some component has none."""
        point: dict[int, int] = {}
        components = _components(rows)
        for component in sorted(components, key=len, reverse=True):
            key = frozenset(component)
            if key not in self.samples:
                self.samples[key] = _sample_component(component)
            found = self.samples[key]
            if found is None:
                return None
            point |= found
        return point


def _separated(formula: Exists) -> list[Formula] | None:
    """Formulas whose conjunction is `formula`, each over its own share of the bound variables (or over none), or None
    when it is all one."""
    if not isinstance(formula.part, And):
        return None
    intervals = dict(formula.variables)
    groups = _Groups()
    numbers = {name: i for i, name in enumerate(intervals)}
    parts = _conjuncts(formula.part)
    bound = [[numbers[name] for name in _free_names(p) if name in numbers] for p in parts]
    for used in bound:
        groups.join(used)
    shares: dict[int, list[Formula]] = {}
    separate: list[Formula] = []
    for part, used in zip(parts, bound, strict=True):
        if used:
            shares.setdefault(groups.find(used[0]), []).append(part)
        else:
            separate.append(part)
    idle = tuple((n, i) for n, i in intervals.items() if groups.find(numbers[n]) not in shares)
    if len(shares) + len(separate) + bool(idle) <= 1:
        return None
    for leader, share in shares.items():
        mine = tuple((n, i) for n, i in intervals.items() if groups.find(numbers[n]) == leader)
        separate.append(Exists(mine, And(tuple(share)) if len(share) > 1 else share[0]))
    if any(i.is_empty for _, i in idle):
        separate.append(Or())
    return separate


def _free_names(f: Formula) -> frozenset[str]:
    match f:
        case Compare(_, lhs, rhs):
            return lhs.free | rhs.free
        case Not(part):
            return _free_names(part)
        case And(parts) | Or(parts):
            return frozenset().union(*map(_free_names, parts))
        case Exists(variables, part):
            return _free_names(part) - {name for name, _ in variables}


def _conjuncts(f: Formula) -> list[Formula]:
    return [p for part in f.parts for p in _conjuncts(part)] if isinstance(f, And) else [f]


def _combine(x: Affine, a: int, y: Affine, b: int) -> Affine:
    """a * x + b * y."""
    result = {c: a * v for c, v in x.items()} if a else {}
    for c, v in y.items():
        total = result.get(c, 0) + b * v
        if total:
            result[c] = total
        else:
            result.pop(c, None)
    return result


def _is_constant(x: Affine) -> bool:
    return not x or (len(x) == 1 and CONSTANT in x)


class _Groups:
    """Columns that belong together (union and find)."""

    def __init__(self) -> None:
        self.leader: dict[int, int] = {}

    def find(self, c: int) -> int:
        leader = self.leader
        while leader.setdefault(c, c) != c:
            leader[c] = leader[leader[c]]
            c = leader[c]
        return c

    def join(self, columns: Sequence[int]) -> None:
        for c in columns[1:]:
            self.leader[self.find(c)] = self.find(columns[0])


def _components(rows: list[Row]) -> list[list[Row]]:
    """The rows, grouped so that no two groups share a column."""
    groups = _Groups()
    for row in rows:
        groups.join(list(row.columns()))
    parts: dict[int, list[Row]] = {}
    for row in rows:
        parts.setdefault(groups.find(next(row.columns())), []).append(row)
    return list(parts.values())


def _basic_set(columns: Sequence[int], rows: Iterable[Row]) -> isl.BasicSet:
    """The basic set of the rows, column i of `columns` at position i."""
    ctx = context()
    position = {c: i for i, c in enumerate(columns)}
    position[CONSTANT] = len(columns)
    space = isl.Space.set_alloc(ctx, 0, len(columns))
    matrices: list[Any] = []
    unique = dict.fromkeys(rows)
    for is_equality in (True, False):
        chosen = [r for r in unique if r.is_equality == is_equality]
        matrix = isl.Mat.alloc(ctx, 0, len(position)).add_zero_rows(len(chosen))
        for i, row in enumerate(chosen):
            for c, v in row.form:
                small = -_MACHINE <= v < _MACHINE
                matrix = matrix.set_element_val(i, position[c], v if small else isl.Val(str(v), ctx))
        matrices.append(matrix)
    kind = isl.dim_type
    return isl.BasicSet.from_constraint_matrices(space, *matrices, kind.set, kind.div, kind.param, kind.cst)


def _sample_component(rows: list[Row]) -> dict[int, int] | None:
    columns = sorted({c for r in rows for c in r.columns()})
    point = _basic_set(columns, rows).sample_point()
    if point.is_void():
        return None
    return {c: point.get_coordinate_val(isl.dim_type.set, i).to_python() for i, c in enumerate(columns)}
