"""Maps of either direction as the same thing: a relation between output elements and operand elements.

A map from output to input gives operand coordinates over d0..; one from input to output gives output coordinates over
x0... As relations both hold pairs (output element, operand element), so what is said of one can be asked of the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hloproof.claims.statements.elimination import Membership, solve, unmentioned
from hloproof.logic.formula import FALSE, TRUE, Exists, Formula, conj, eq, replace_variables, within
from hloproof.models.expressions.expr import Expr, Var, substitute
from hloproof.models.expressions.interval import Interval
from hloproof.models.maps.indexing_map import Direction, IndexingMap, all_constraints


@dataclass(frozen=True)
class Piece:
    """One map as a set of pairs: for all source and range values in the domain, (output, operand) is a pair.

    Source variables are d0.. or x0.., range variables s0.. with the piece's suffix, runtime variables as they were
    named by whoever made the piece.
    """

    number: int
    direction: Direction
    source: tuple[tuple[str, Interval], ...]
    ranges: tuple[tuple[str, Interval], ...]
    runtime: tuple[tuple[str, Interval], ...]
    constraints: tuple[Membership, ...]
    results: tuple[Expr, ...]
    position: Expr | None = None
    """Collectives: the position in the reader's group of the device that holds the operand element."""

    @property
    def is_empty(self) -> bool:
        """Some interval of the domain is empty."""
        boxes = (*self.source, *self.ranges, *self.runtime)
        return any(i.is_empty for _, i in boxes) or any(c.interval.is_empty for c in self.constraints)

    @property
    def variables(self) -> tuple[tuple[str, Interval], ...]:
        return (*self.source, *self.ranges, *self.runtime)

    @property
    def output(self) -> tuple[Expr, ...]:
        """Coordinates of the output element."""
        return self._source_terms if self.direction == "output-to-input" else self.results

    @property
    def operand(self) -> tuple[Expr, ...]:
        """Coordinates of the operand element."""
        return self.results if self.direction == "output-to-input" else self._source_terms

    @property
    def _source_terms(self) -> tuple[Expr, ...]:
        return tuple(Var(name) for name, _ in self.source)

    @property
    def constraint_formulas(self) -> tuple[Formula, ...]:
        return tuple(within(c.expr, c.interval) for c in self.constraints)

    def membership(
        self, source: Sequence[Expr], target: Sequence[Expr], position: Expr | None, solving: bool = True
    ) -> Formula:
        """That some range values make (source, target) a pair of this piece, at this position.

        Range variables are replaced by what they must be where that can be read off; the others are quantified, and
        all of them unless `solving`. The runtime variables stay free.
        """
        if self.is_empty:
            return FALSE
        at = {name: e for (name, _), e in zip(self.source, source, strict=True)}
        results = [substitute(e, at) for e in self.results]
        conditions = [Membership(e - t, Interval.point(0)) for e, t in zip(results, target, strict=True)]
        placed: Formula = TRUE
        if position is not None and self.position is not None:
            there = substitute(self.position, at)
            conditions.append(Membership(there - position, Interval.point(0)))
            placed = eq(there, position)
        bounds = [Membership(substitute(c.expr, at), c.interval) for c in self.constraints]
        unknowns = dict(self.ranges)
        witness = solve(unknowns, [*conditions, *bounds]) if solving else {}
        free = unmentioned(unknowns, [*conditions, *bounds])  # any value of these will do, and there is one
        body = conj(
            *(eq(e, t) for e, t in zip(results, target, strict=True)),
            placed,
            *(within(c.expr, c.interval) for c in bounds),
            *(within(at[name], i) for name, i in self.source),
            *(within(Var(name), i) for name, i in self.ranges if name in witness),
            *(within(Var(name), i) for name, i in self.runtime),
        )
        body = replace_variables(body, witness)
        rest = tuple((n, i) for n, i in self.ranges if n not in witness and n not in free)
        return Exists(rest, body) if rest else body

    def determined(self, target: Sequence[Expr] | None = None) -> dict[str, Expr]:
        """Range variables that source, results and position leave one value for, each with that value as a term over
        the variables of the piece and the target (the results, where none is given). It is what the variable is
        wherever the domain holds and the results are the target."""
        conditions = [Membership(e - Var(f"y{i}"), Interval.point(0)) for i, e in enumerate(self.results)]
        back = {f"y{i}": e for i, e in enumerate(self.results if target is None else target)}
        if self.position is not None:
            conditions.append(Membership(self.position - Var("y"), Interval.point(0)))
            back["y"] = self.position if target is None else Var("q")
        witness = solve(dict(self.ranges), [*conditions, *self.constraints])
        return {n: substitute(e, back) for n, e in witness.items()}


def piece_of(
    m: IndexingMap, number: int, direction: Direction, runtime: Sequence[tuple[str, Interval]], suffix: str = ""
) -> Piece:
    """The map as a piece: its runtime variables with these names and intervals, its range variables with a suffix that
    tells them from those of another piece."""
    letter = "d" if direction == "output-to-input" else "x"
    into: dict[str, Expr] = {f"d{i}": Var(f"{letter}{i}") for i in range(len(m.dims))}
    into |= {f"s{j}": Var(f"s{j}{suffix}") for j in range(len(m.ranges))}
    into |= {f"rt{k}": Var(name) for k, (name, _) in enumerate(runtime)}
    # The map speaks where both it and its replica map do.
    constraints = tuple(Membership(substitute(c.expr, into), c.interval) for c in all_constraints(m))
    return Piece(
        number,
        direction,
        tuple((f"{letter}{i}", v.interval) for i, v in enumerate(m.dims)),
        tuple((f"s{j}{suffix}", v.interval) for j, v in enumerate(m.ranges)),
        tuple(runtime),
        constraints,
        tuple(substitute(e, into) for e in m.results),
        None if m.replica is None else substitute(m.replica.results[0], into),
    )
