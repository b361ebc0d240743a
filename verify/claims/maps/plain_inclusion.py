"""That what one map leads to others lead to as well, stated from the maps as they stand: the second statement.

Nothing is solved for, nothing is left out, and nothing is shared with the statements of `compared_maps`: range
variables of the others are quantified, constraints are written down, and what is read at run time is one unclamped
value for each element that is named over the dims.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hloproof.logic.formula import Exists, Formula, conj, disj, eq, ne, within
from hloproof.logic.obligation import Obligation
from hloproof.models.expressions.expr import Binary, Const, Expr, Var, substitute
from hloproof.models.maps.indexing_map import IndexingMap

_Element = tuple[str, tuple[Expr, ...]]


def plain_inclusion(m: IndexingMap, others: Sequence[IndexingMap], quantified: bool = True) -> Obligation | None:
    """Every pair of the map is one of another; without `quantified`, every point is one with the same range variables.

    None where an element that is read is written by more than the dims, so that no value of one name stands for it.
    """
    values: dict[_Element, str] = {}
    read = [_read(x, values) for x in (m, *others)]
    own, theirs = read[0], read[1:]
    if own is None or any(t is None for t in theirs):
        return None
    variables = [(n, i) for n, i in m.intervals() if not n.startswith("rt")]
    results = [substitute(e, own) for e in m.results]
    goals: list[Formula] = []
    for number, (x, at) in enumerate(zip(others, theirs, strict=True)):
        assert at is not None
        new: dict[str, Expr] = {f"s{j}": Var(f"t{j}_{number}") for j in range(len(x.ranges))} if quantified else {}
        body = conj(
            *(within(Var(f"d{i}"), v.interval) for i, v in enumerate(x.dims)),
            *(within(new.get(f"s{j}", Var(f"s{j}")), v.interval) for j, v in enumerate(x.ranges)),
            *(within(substitute(c.expr, {**new, **at}), c.interval) for c in x.constraints),
            *(eq(substitute(e, {**new, **at}), y) for e, y in zip(x.results, results, strict=True)),
        )
        bound = tuple((f"t{j}_{number}", v.interval) for j, v in enumerate(x.ranges))
        goals.append(Exists(bound, body) if bound and quantified else body)
    hypothesis = conj(*(within(substitute(c.expr, own), c.interval) for c in m.constraints), *_one_value_each(values))
    unbounded = [(name, None) for name in values.values()]
    return Obligation((*variables, *unbounded), disj(*goals), hypothesis, "stated a second time")


def _read(m: IndexingMap, values: dict[_Element, str]) -> Mapping[str, Expr] | None:
    """The map's runtime variables as clamped values of elements, each under one name."""
    out: dict[str, Expr] = {}
    for k, v in enumerate(m.runtime):
        index = () if v.index is None else v.index.results
        if v.index is not None and v.index.replica is not None:
            return None
        if any(not name.startswith("d") for e in index for name in e.free):
            return None
        held = Var(values.setdefault((v.provider or "", index), f"v{len(values)}"))
        low, high = v.interval.lower, v.interval.upper
        out[f"rt{k}"] = Binary("min", Binary("max", held, Const(low)), Const(high))
    return out


def _one_value_each(values: Mapping[_Element, str]) -> list[Formula]:
    """Elements of one provider are different, or hold one value."""
    listed = list(values.items())
    return [
        disj(*(ne(x, y) for x, y in zip(a[1], b[1], strict=True)), eq(Var(name), Var(other)))
        for n, (a, name) in enumerate(listed)
        for b, other in listed[n + 1 :]
        if a[0] == b[0] and len(a[1]) == len(b[1])
    ]
