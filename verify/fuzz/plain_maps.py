"""Whether a map is plain, as the maps of single operations are: nothing in it that changes nothing."""

from __future__ import annotations

from typing import Final

from models.expr import Binary, Const, postorder
from models.indexing_map import IndexingMap

_NEUTRAL: Final = {"+": 0, "*": 1, "floordiv": 1, "ceildiv": 1, "mod": 1}
"""The right operand with which an operator has no use."""


def not_plain(m: IndexingMap, is_region: bool = False) -> str:
    """What the map has to no purpose: arithmetic on constants alone, an operator with its neutral constant, a range
    variable of one value (regions of a box may have such), an equal constraint twice, a variable read at run time that
    nothing depends on. Empty when there is nothing of the kind."""
    positions = m.replica.results if m.replica is not None else ()
    for root in (*m.results, *(c.expr for c in m.constraints), *positions):
        for e in postorder(root):
            if isinstance(e, Binary) and isinstance(e.rhs, Const):
                if isinstance(e.lhs, Const):
                    return f"{e} is a constant"
                if _NEUTRAL.get(e.op) == e.rhs.value:
                    return f"{e.op} {e.rhs.value}"
    for j, v in enumerate(m.ranges):
        if v.interval.count == 1 and not is_region:
            return f"s{j} has one value"
    if len(set(m.constraints)) < len(m.constraints):
        return "a constraint comes twice"
    if any(not c.expr.free for c in m.constraints):
        return "a constraint on a constant"
    used = frozenset[str]().union(*(e.free for e in (*m.results, *positions)), *(c.expr.free for c in m.constraints))
    for k in range(len(m.runtime)):
        if f"rt{k}" not in used:
            return f"rt{k} is not used"
    return ""
