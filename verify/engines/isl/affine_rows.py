"""Affine rows over numbered columns, conjunctions of them with clauses, and how they fall apart.

A row says `form == 0` or `form >= 0` for an affine form with integer coefficients. No solver is used here: a row is
decided only where it has no columns, or against another row of the same linear form.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import gcd
from typing import Final

from hloproof.logic.miniscope import Groups

CONSTANT: Final = -1
"""The key of the constant term in an affine form."""

Affine = dict[int, int]
"""Column to coefficient; no zero coefficients."""

Coefficients = tuple[tuple[int, int], ...]
"""Columns and coefficients, by column, without a constant; the first coefficient positive."""


def combine(x: Affine, a: int, y: Affine, b: int) -> Affine:
    """a * x + b * y."""
    result = dict(x) if a == 1 else scale(x, a)
    for c, v in y.items():
        total = result.get(c, 0) + b * v
        if total:
            result[c] = total
        else:
            result.pop(c, None)
    return result


def scale(x: Affine, a: int) -> Affine:
    """a * x."""
    return {c: a * v for c, v in x.items()} if a else {}


def plus(x: Affine, constant: int) -> Affine:
    """x + constant."""
    return combine(x, 1, {CONSTANT: 1}, constant)


def is_constant(x: Affine) -> bool:
    """Whether no column has a part in it; the empty form is 0."""
    return not x or (len(x) == 1 and CONSTANT in x)


class AffineRow:
    """`form == 0` or `form >= 0`, and the inclusive bounds of its linear form that it states (None: none)."""

    __slots__ = ("_hash", "columns", "form", "is_equality", "linear", "lower", "upper")

    def __init__(self, form: tuple[tuple[int, int], ...], constant: int, is_equality: bool) -> None:
        """`form` by column, without the constant."""
        self.form = (*form, (CONSTANT, constant)) if constant else form
        self.is_equality = is_equality
        self.columns = tuple(c for c, _ in form)
        self.lower: int | None
        self.upper: int | None
        # A row and its opposite are about one linear form, so that lower and upper bounds of it meet in one entry.
        if form[0][1] > 0:
            self.linear, self.lower, self.upper = form, -constant, -constant if is_equality else None
        else:
            self.linear = tuple((c, -v) for c, v in form)
            self.lower, self.upper = constant if is_equality else None, constant
        self._hash = hash((self.form, is_equality))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, AffineRow)
            and self._hash == other._hash
            and self.is_equality == other.is_equality
            and self.form == other.form
        )


@dataclass
class Conjunction:
    """Rows and clauses that all hold; a clause is a list of conjunctions of which one holds."""

    rows: list[AffineRow] = field(default_factory=list)
    clauses: list[list[Conjunction]] = field(default_factory=list)
    absurd: bool = False

    def add_row(self, form: Affine, is_equality: bool) -> None:
        """Add `form == 0` or `form >= 0`, tightened to coprime coefficients; a row without columns is decided here."""
        constant = form.get(CONSTANT, 0)
        divisor = gcd(*(v for c, v in form.items() if c != CONSTANT))
        if divisor == 0:
            self.absurd = self.absurd or (constant != 0 if is_equality else constant < 0)
            return
        # The linear form is a multiple of the divisor wherever its columns are integers; the constant is none.
        if is_equality and constant % divisor:
            self.absurd = True
            return
        # Over the integers the constant of an inequality may be rounded down with the coefficients: 2x - 3 >= 0 is x -
        # 2 >= 0.
        row = sorted((c, v // divisor) for c, v in form.items() if c != CONSTANT)
        self.rows.append(AffineRow(tuple(row), constant // divisor, is_equality))

    def join(self, other: Conjunction) -> None:
        self.rows += other.rows
        self.clauses += other.clauses
        self.absurd = self.absurd or other.absurd

    def add_clause(self, alternatives: list[Conjunction]) -> None:
        """Add that one of the alternatives holds. A clause that is kept has columns in each of its alternatives."""
        alternatives = [a for a in alternatives if not a.absurd]
        if any(not a.rows and not a.clauses for a in alternatives):  # it holds as it stands
            return
        if not alternatives:
            self.absurd = True
        elif len(alternatives) == 1:
            self.join(alternatives[0])
        else:
            self.clauses.append(alternatives)


class SearchNode:
    """A place in the search: rows, what they say of each linear form outright, and clauses still open."""

    def __init__(
        self,
        rows: list[AffineRow],
        bounds: dict[Coefficients, tuple[int | None, int | None]],
        clauses: list[list[Conjunction]],
        known: frozenset[int],
    ) -> None:
        self.rows, self.bounds, self.clauses = list(rows), dict(bounds), list(clauses)
        self.known = known
        """Columns whose definitions are in."""

    def add(self, rows: list[AffineRow], clauses: list[list[Conjunction]]) -> bool:
        """Add rows and clauses. False when a row contradicts another of the same linear form."""
        for row in rows:
            says = self._says(row)
            if says is False:
                return False
            if says is None:
                self.rows.append(row)
                linear, lower, upper = row.linear, row.lower, row.upper
                old_lower, old_upper = self.bounds.get(linear, (None, None))
                self.bounds[linear] = (
                    old_lower if lower is None or (old_lower is not None and old_lower > lower) else lower,
                    old_upper if upper is None or (old_upper is not None and old_upper < upper) else upper,
                )
        self.clauses += clauses
        return True

    def _says(self, row: AffineRow) -> bool | None:
        """Whether the rows imply or contradict `row` by what they say of its own linear form; None: neither."""
        known = self.bounds.get(row.linear)
        if known is None:
            return None
        lower, upper = row.lower, row.upper
        known_lower, known_upper = known
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


def components(rows: list[AffineRow]) -> list[list[AffineRow]]:
    """The rows, grouped so that no two groups share a column."""
    groups = Groups()
    for row in rows:
        groups.join(row.columns)
    parts: dict[int, list[AffineRow]] = {}
    for row in rows:
        parts.setdefault(groups.find(row.columns[0]), []).append(row)
    return list(parts.values())
