"""Whether a map is plain, as the maps of single operations are: nothing in it that changes nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from hloproof.models.expressions.bounds import range_of
from hloproof.models.expressions.expr import Binary, Const, Expr, postorder, substitute
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.shape import ELEMENT_BITS, ArrayShape, Shape
from hloproof.models.interpreter.maps import relation
from hloproof.models.maps.indexing_map import READER, Constraint, IndexingMap, Variable, rng

_NEUTRAL: Final = {"+": 0, "*": 1, "floordiv": 1, "ceildiv": 1, "mod": 1}
"""The right operand with which an operator has no use."""


REGIONS: Final = frozenset(
    {"pad", "dynamic-slice", "dynamic-update-slice", "gather", "scan", "scatter", "triangular-solve"}
)
"""Opcodes whose constraints tell places of a box apart; all of what they allow comes up."""
POSITIONS: Final = frozenset({"reshape", "bitcast"})
"""Opcodes whose maps go through row-major positions."""


def not_plain(m: IndexingMap, op: Operation) -> str:
    """What the map of one operation has to no purpose: arithmetic on constants alone, an operator with its neutral
    constant, a range variable of one value (regions of a padded box may have such), an equal constraint twice, a
    variable read at run time that nothing depends on, a reader of whom there is one; where places are told apart, a
    bound that no place comes to; where positions are taken apart, a remainder of what is smaller already. Empty when
    there is nothing of the kind.

    A bitcast may go through positions in memory instead; where both arrays fill whole rows of equal tiles, or none has
    tiles, its map is that of a reshape of the dimensions in the order of memory, without constraints."""
    opcode = op.opcode
    if opcode == "bitcast":
        if not _rows_are_whole(op.operands[0], op.shape):
            return ""
        if m.constraints:
            return "constraints over whole rows"
    positions = m.replica.results if m.replica is not None else ()
    for root in (*m.results, *(c.expr for c in m.constraints), *positions):
        for e in postorder(root):
            if isinstance(e, Binary) and isinstance(e.rhs, Const):
                if isinstance(e.lhs, Const):
                    return f"{e} is a constant"
                if _NEUTRAL.get(e.op) == e.rhs.value:
                    return f"{e.op} {e.rhs.value}"
                if e.op == "mod" and opcode in POSITIONS and _is_below(m, e.lhs, e.rhs.value):
                    return f"{e} is {e.lhs}"
    for j, v in enumerate(m.ranges):
        if v.interval.count == 1 and opcode != "pad":
            return f"s{j} has one value"
    if len(set(m.constraints)) < len(m.constraints):
        return "a constraint comes twice"
    if any(not c.expr.free for c in m.constraints):
        return "a constraint on a constant"
    if opcode in REGIONS and not m.is_trivially_empty:
        intervals = dict(m.intervals())
        for c in m.constraints:
            if not range_of(c.expr, intervals).contains(c.interval):
                return f"{c.expr} never comes to a bound of {c.interval}"
    if opcode == "dynamic-update-slice" and m.runtime and not _is_of_nothing(m) and not _all_come_up(m):
        return "indices that never come up"
    used = frozenset[str]().union(*(e.free for e in (*m.results, *positions)), *(c.expr.free for c in m.constraints))
    for k, r in enumerate(m.runtime):
        if f"rt{k}" not in used:
            return f"rt{k} is not used"
        if r.provider == READER and r.interval.count == 1 and not opcode.startswith("collective-permute"):
            return "there is one reader"
    return ""


def _all_come_up(m: IndexingMap) -> bool:
    """Every index of every dimension is that of some point, for some values of what is read at run time."""
    moved = {f"rt{k}": rng(k) for k in range(len(m.runtime))}
    constraints = tuple(Constraint(substitute(c.expr, moved), c.interval) for c in m.constraints)
    read = tuple(Variable(r.interval) for r in m.runtime)
    found = relation(IndexingMap(m.dims, (), read, constraints=constraints))
    return all(len({d[i] for d, _ in found}) == v.interval.count for i, v in enumerate(m.dims))


def _is_of_nothing(m: IndexingMap) -> bool:
    """Between arrays of which one has no elements."""
    return Interval.of_size(0) in (*(v.interval for v in m.dims), *(c.interval for c in m.constraints))


def _is_below(m: IndexingMap, e: Expr, limit: int) -> bool:
    """The expression lies in [0, limit - 1] at all points of the domain, of which there are some."""
    found = [results[0] for _, results in relation(replace(m, results=(e,), replica=None))]
    return bool(found) and min(found) >= 0 and max(found) < limit


def _in_memory(shape: ArrayShape) -> list[int]:
    """The sizes, most major in memory first."""
    order = range(shape.rank) if shape.layout is None else reversed(shape.layout.minor_to_major)
    return [shape.dimensions[d] for d in order]


def _tiles(shape: ArrayShape) -> list[tuple[int, ...]]:
    return [] if shape.layout is None else [t.dimensions for t in shape.layout.tiles]


def element_bits(shape: ArrayShape) -> int:
    """How many bits of memory an element takes."""
    own = shape.layout.element_bits if shape.layout is not None else 0
    return own or max(8, ELEMENT_BITS[shape.element_type])


def _rows_are_whole(operand: Shape, result: Shape) -> bool:
    """Positions can be counted without regard to tiles: there are none; or equal ones over equal sizes; or equal ones,
    the first spanning all the others, over sizes that differ only at or above the first tile's most major dimension,
    where both are multiples of the tile."""
    assert isinstance(operand, ArrayShape) and isinstance(result, ArrayShape)
    here, there, tiles = _in_memory(operand), _in_memory(result), _tiles(operand)
    if tiles != _tiles(result):
        return False
    if not tiles or here == there:
        return True
    reach = len(tiles[0])
    if reach < max(map(len, tiles)) or -1 in tiles[0] or len(here) < reach or len(there) < reach:
        return False
    below = reach - 1
    same_below = here[len(here) - below :] == there[len(there) - below :]
    multiples = all(sizes[-reach] % tiles[0][0] == 0 for sizes in (here, there))
    return same_below and multiples and element_bits(operand) == element_bits(result)
