"""An `Exists` over a conjunction, as a conjunction over disjoint shares of its variables."""

from __future__ import annotations

from collections.abc import Sequence

from hloproof.logic.formula import And, Exists, Formula, Or, free_variables


class Groups:
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


def separated(formula: Exists) -> list[Formula] | None:
    """Formulas whose conjunction is `formula`, each over its own share of the bound variables (or over none), or None
    when it is all one."""
    if not isinstance(formula.part, And):
        return None
    intervals = dict(formula.variables)
    groups = Groups()
    numbers = {name: i for i, name in enumerate(intervals)}
    parts = _conjuncts(formula.part)
    bound = [[numbers[name] for name in free_variables(p) if name in numbers] for p in parts]
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


def _conjuncts(f: Formula) -> list[Formula]:
    return [p for part in f.parts for p in _conjuncts(part)] if isinstance(f, And) else [f]
