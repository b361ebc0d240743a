"""The search over alternatives: a point of rows and clauses, or that there is none.

Only `sample_component`, a solver's answer on rows that hang together, says that there is no point. Around it: clauses
are narrowed by what rows say outright, then alternative by alternative; parts that share no column are searched apart
and remembered; a clause that ties such parts together is split first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Final

from hloproof.engines.gave_up import GaveUp
from hloproof.engines.isl.affine_rows import AffineRow, Conjunction, SearchNode, components
from hloproof.logic.miniscope import Groups

FEW_BRANCHES: Final = 8
"""So many combinations of alternatives are tried as they are; more are narrowed first, one alternative at a time."""

Solution = dict[int, int]
"""Column to value; columns left out are free."""


class ClauseSearch:
    """A search with a limit of steps. `definitions` gives each defined column its meaning, to be added wherever the
    column is used; `sample_component` gives a point of rows, or None when they have none."""

    def __init__(
        self,
        definitions: Mapping[int, Conjunction],
        sample_component: Callable[[list[AffineRow]], Solution | None],
        steps: int,
    ) -> None:
        self.definitions, self.sample_component, self.steps = definitions, sample_component, steps
        self.solved: dict[tuple[frozenset[AffineRow], frozenset[tuple[int, ...]]], Solution | None] = {}
        self.samples: dict[frozenset[AffineRow], Solution | None] = {}

    def find(self, top: Conjunction) -> Solution | None:
        """A point of the conjunction, column to value (columns left out are free), or None when there is none."""
        if top.absurd:
            return None
        node = SearchNode([], {}, [], frozenset())
        return self._solve(node) if node.add(top.rows, top.clauses) else None

    def _solve(self, node: SearchNode) -> Solution | None:
        """A point of the node, or None. Recursion is as deep as clauses nest in choices, no deeper."""
        self.step()
        if not self._define(node) or not self._narrow(node):
            return None
        many = len(node.clauses) > 1 and prod(map(len, node.clauses)) > FEW_BRANCHES
        if many and (self._sample(node.rows) is None or not self._filter(node)):
            return None
        if not node.clauses:
            return self._sample(node.rows)
        point: Solution = {}
        parts = self._independent(node)
        # The simplest part first: one without a point ends the search, whatever the others hold.
        for rows, clauses in sorted(parts, key=lambda part: len(part[1])):
            if not clauses:
                found = self._sample(rows)
            else:
                # By identity: alternatives are made once and live as long as the search; to look into them would cost
                # more than it saves.
                key = (frozenset(rows), frozenset(tuple(map(id, clause)) for clause in clauses))
                if key not in self.solved:
                    self.solved[key] = self._choose(rows, clauses, node)
                found = self.solved[key]
            if found is None:
                return None
            point |= found
        return point

    def _choose(self, rows: list[AffineRow], clauses: list[list[Conjunction]], node: SearchNode) -> Solution | None:
        """Try the alternatives of one clause."""
        first = self._joint(rows, clauses)
        others = clauses[:first] + clauses[first + 1 :]
        columns = {c for r in rows for c in r.columns}
        for alternative in clauses[first]:
            branch = SearchNode(rows, node.bounds, others, node.known & columns)
            if branch.add(alternative.rows, alternative.clauses):
                found = self._solve(branch)
                if found is not None:
                    return found
        return None

    def _joint(self, rows: list[AffineRow], clauses: list[list[Conjunction]]) -> int:
        """The clause over the most columns where the rest falls apart without it; else the shortest clause."""
        if len(clauses) > 2:
            widest = max(range(len(clauses)), key=lambda i: len(self._columns_of(clauses[i])))
            rest = SearchNode(rows, {}, clauses[:widest] + clauses[widest + 1 :], frozenset())
            if sum(bool(inside) for _, inside in self._independent(rest)) > 1:
                return widest
        return min(range(len(clauses)), key=lambda i: len(clauses[i]))

    def _independent(self, node: SearchNode) -> list[tuple[list[AffineRow], list[list[Conjunction]]]]:
        """Rows and clauses in groups that share no column, the definitions of a clause's columns counted in."""
        groups = Groups()
        row_columns = [r.columns for r in node.rows]
        clause_columns = [tuple(sorted(self._columns_of(clause))) for clause in node.clauses]
        for columns in (*row_columns, *clause_columns):
            groups.join(columns)
        parts: dict[int, tuple[list[AffineRow], list[list[Conjunction]]]] = {}
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
            new = {c for r in part.rows for c in r.columns} - found
            found |= new
            pending += [self.definitions[c] for c in new if c in self.definitions]
        return found

    def _define(self, node: SearchNode) -> bool:
        """Add the definitions of the columns that the rows use. False when they contradict."""
        while True:
            needed = [c for c in {c for r in node.rows for c in r.columns} - node.known if c in self.definitions]
            if not needed:
                return True
            node.known = node.known | set(needed)
            for c in needed:
                if not node.add(self.definitions[c].rows, self.definitions[c].clauses):
                    return False

    def _narrow(self, node: SearchNode) -> bool:
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

    def _filter(self, node: SearchNode) -> bool:
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

    def _is_possible(self, node: SearchNode, alternative: Conjunction) -> bool:
        """Whether the alternative's rows go with the rows of the node, which go together by themselves."""
        self.step()
        trial = SearchNode(node.rows, node.bounds, [], node.known)
        if not trial.add(alternative.rows, []) or not self._define(trial):
            return False
        new = trial.rows[len(node.rows) :]
        touched = {c for r in new for c in r.columns}
        beside, reached = node.rows, True
        while reached:  # the rows that share columns with the new ones, directly or not
            reached, apart = False, []
            for row in beside:
                if touched.isdisjoint(row.columns):
                    apart.append(row)
                else:
                    new.append(row)
                    touched.update(row.columns)
                    reached = True
            beside = apart
        return self._sample(new) is not None

    def step(self) -> None:
        self.steps -= 1
        if self.steps < 0:
            raise GaveUp("the search over alternatives before isl is too long")

    def _sample(self, rows: list[AffineRow]) -> Solution | None:
        """A point of all rows; None when some component has none."""
        point: Solution = {}
        # The largest first: the more rows hang together, the likelier they contradict each other.
        for component in sorted(components(rows), key=len, reverse=True):
            key = frozenset(component)
            if key not in self.samples:
                self.samples[key] = self.sample_component(component)
            found = self.samples[key]
            if found is None:
                return None
            point |= found
        return point
