"""How many elements the images of indexing maps have, by isl.

The second file that knows isl, beside the encoder of obligations: it counts, which no other engine can, and answers no
obligation. Sets are built with isl's own arithmetic. Of a set, coordinates that the others determine are left out; what
remains is counted as a product of smaller sets where isl shows that it is one: progressions, and other sets slice by
slice or point by point within a limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Final

import islpy as isl

from hloproof.engines.gave_up import GaveUp, NotExpressible
from hloproof.engines.isl.basic_sets import context
from hloproof.models.expressions.expr import Binary, Const, Expr, Var, postorder
from hloproof.models.maps.indexing_map import IndexingMap

_OPERATIONS: Final = 3_000_000
FEW_POINTS: Final = 2_000
"""Points of a set that are counted one by one."""
MOST_POINTS: Final = 200_000
"""The same for sets of one dimension, which cannot be cut any further."""
MOST_SLICES: Final = 4_096


def count_image(maps: Sequence[IndexingMap], operations: int = _OPERATIONS) -> int:
    """How many different result tuples the maps have together; runtime variables may hold any value of their interval.

    Raises GaveUp and NotExpressible.
    """
    return _limited(lambda: _count(_union([_relation(m).range() for m in maps])), operations)


def count_pairs(maps: Sequence[IndexingMap], operations: int = _OPERATIONS) -> int:
    """How many different (dims, results) pairs the maps have together. Raises likewise."""
    return _limited(lambda: _count_pairs(maps), operations)


def count_values(m: IndexingMap, names: Sequence[str], operations: int = _OPERATIONS) -> int:
    """How many different values these variables have together over the domain of a map. Raises likewise."""

    def count() -> int:
        points = _domain(m)
        for k, (name, _) in reversed(list(enumerate(m.intervals()))):
            if name not in names:
                points = points.project_out(isl.dim_type.set, k, 1)
        return _count(points)

    return _limited(count, operations)


def _count_pairs(maps: Sequence[IndexingMap]) -> int:
    relations = [(m, _relation(m)) for m in maps]
    kept: list[tuple[IndexingMap, Any]] = []
    for k, (m, r) in enumerate(relations):
        others = [o for _, o in kept] + [o for _, o in relations[k + 1 :]]
        # What others contain adds nothing, and a union with it is harder to take apart.
        if not any(r.is_subset(o) for o in others):
            kept.append((m, r))
    if all(a.is_disjoint(b) for k, (_, a) in enumerate(kept) for _, b in kept[k + 1 :]):
        return sum(_pairs_of_one(m, r) for m, r in kept)
    return _count(_union([r.wrap().flatten() for _, r in kept]))


def _pairs_of_one(m: IndexingMap, relation: Any) -> int:
    """Where a pair comes from one point of the domain only, points are counted, whose set is simpler."""
    full = _relation(m, len(m.dims) + len(m.ranges) + len(m.runtime))
    dims = isl.Set.universe(isl.Space.set_alloc(context(), 0, len(m.dims)))
    kept = isl.Map.from_domain_and_range(full.domain(), dims)
    for k in range(len(m.dims)):
        kept = kept.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
    if kept.flat_range_product(full).is_injective():
        return _count(full.domain())
    return _count(relation.wrap().flatten())


def _limited(count: Any, operations: int) -> int:
    ctx = context()
    ctx.reset_operations()
    ctx.set_max_operations(operations)
    try:
        return int(count())
    except isl.Error as error:
        raise GaveUp(f"isl stopped counting within its limit of {operations} operations") from error
    finally:
        ctx.set_max_operations(0)
        ctx.reset_operations()


def _relation(m: IndexingMap, kept: int | None = None) -> Any:
    """{dims -> results}, range and runtime variables quantified away; or {first `kept` variables -> results}."""
    domain = _domain(m)
    columns = _columns(m)
    space = domain.get_space()
    local = isl.LocalSpace.from_space(space)
    results = isl.PwAffList.alloc(context(), max(1, len(m.results)))
    for e in m.results:
        results = results.add(_function(e, columns, local))
    target = isl.Space.map_from_domain_and_range(space, isl.Space.set_alloc(context(), 0, len(m.results)))
    function = isl.MultiPwAff.from_pw_aff_list(target, results)
    relation = isl.Map.from_multi_pw_aff(function).intersect_domain(domain)
    kept = len(m.dims) if kept is None else kept
    return relation.project_out(isl.dim_type.in_, kept, len(columns) - kept)


def _columns(m: IndexingMap) -> dict[str, int]:
    return {name: k for k, (name, _) in enumerate(m.intervals())}


def _domain(m: IndexingMap) -> Any:
    """The points of the domain: values of all variables."""
    columns = _columns(m)
    domain = isl.Set.universe(isl.Space.set_alloc(context(), 0, len(columns)))
    local = isl.LocalSpace.from_space(domain.get_space())
    for name, interval in m.intervals():
        column = isl.PwAff.from_aff(isl.Aff.var_on_domain(local, isl.dim_type.set, columns[name]))
        domain = _bounded(domain, column, interval.lower, interval.upper, local)
    for c in m.constraints:
        domain = _bounded(domain, _function(c.expr, columns, local), c.interval.lower, c.interval.upper, local)
    return domain


def _bounded(domain: Any, column: Any, lower: int, upper: int, local: Any) -> Any:
    return domain.intersect(column.ge_set(_number(lower, local))).intersect(column.le_set(_number(upper, local)))


def _number(value: int, local: Any) -> Any:
    return isl.PwAff.from_aff(isl.Aff.zero_on_domain(local).add_constant_val(isl.Val.int_from_si(context(), value)))


def _function(root: Expr, columns: dict[str, int], local: Any) -> Any:
    done: dict[Expr, Any] = {}
    for e in postorder(root):
        if isinstance(e, Const):
            done[e] = _number(e.value, local)
        elif isinstance(e, Var):
            done[e] = isl.PwAff.from_aff(isl.Aff.var_on_domain(local, isl.dim_type.set, columns[e.name]))
        elif isinstance(e, Binary):
            done[e] = _binary(e, done[e.lhs], done[e.rhs])
    return done[root]


def _binary(e: Binary, x: Any, y: Any) -> Any:
    match e.op:
        case "+":
            return x.add(y)
        case "min":
            return x.min(y)
        case "max":
            return x.max(y)
        case "*" if isinstance(e.rhs, Const):
            return x.scale_val(isl.Val.int_from_si(context(), e.rhs.value))
        case "*" if isinstance(e.lhs, Const):
            return y.scale_val(isl.Val.int_from_si(context(), e.lhs.value))
        case "floordiv" | "mod" | "ceildiv" if isinstance(e.rhs, Const) and e.rhs.value > 0:
            divisor = isl.Val.int_from_si(context(), e.rhs.value)
            if e.op == "mod":
                return x.mod_val(divisor)
            quotient = x.scale_down_val(divisor)
            return quotient.floor() if e.op == "floordiv" else quotient.ceil()
    raise NotExpressible(f"isl cannot count with {e.op} of these operands")


def _union(sets: Sequence[Any]) -> Any:
    out = sets[0]
    for s in sets[1:]:
        out = out.union(s)
    return out


def _count(s: Any) -> int:
    if s.is_empty():
        return 0
    if not s.is_bounded():
        raise NotExpressible("an unbounded set")
    # Disjoint, since sizes are added; coalesced before, since fewer pieces are made of it.
    pieces = s.coalesce().make_disjoint().get_basic_sets()
    return sum(_count_piece(isl.Set.from_basic_set(p)) for p in pieces)


def _count_piece(s: Any) -> int:
    """Without the coordinates that the others determine, factor by factor."""
    if s.is_empty():
        return 0
    s = _independent(s)
    total = 1
    for factor in _factors(s):
        total *= _count_factor(factor)
    return total


def _independent(s: Any) -> Any:
    """The set without coordinates that the others determine: as many elements."""
    kind = isl.dim_type
    for k in reversed(range(s.dim(kind.set))):
        rest = s.dim(kind.set) - 1
        # As a map from the other coordinates to this one: a function adds no element.
        if rest and isl.Map.from_domain(s).move_dims(kind.out, 0, kind.in_, k, 1).is_single_valued():
            s = s.project_out(kind.set, k, 1)
    return s


def _factors(s: Any) -> list[Any]:
    """Sets of which the set is the product, in other coordinates; the set alone where none are found."""
    kind = isl.dim_type
    rank = s.dim(kind.set)
    groups = _groups(s, rank)
    if len(groups) < 2:
        return [s]
    cylinder = isl.Set.universe(s.get_space())
    for g in groups:
        part = s
        for k in range(rank):
            if k not in g:
                part = part.eliminate(kind.set, k, 1)
        cylinder = cylinder.intersect(part)
    # The groups are read off constraints as they happen to be written: it is a product only where isl says so.
    if not cylinder.is_equal(s):
        return [s]
    return [_projected(s, g) for g in groups]


def _projected(s: Any, kept: set[int]) -> Any:
    for k in reversed(range(s.dim(isl.dim_type.set))):
        if k not in kept:
            s = s.project_out(isl.dim_type.set, k, 1)
    return s


def _groups(s: Any, rank: int) -> list[set[int]]:
    """Coordinates that hang together: those that some constraint ties."""
    kind = isl.dim_type
    groups = [{k} for k in range(rank)]
    for basic in s.remove_redundancies().get_basic_sets():
        # Columns beyond the rank are the quotients that isl introduced: they tie coordinates together and are none
        # themselves.
        local = basic.dim(kind.div)
        ties: list[set[int]] = []
        for matrix in (
            basic.equalities_matrix(kind.set, kind.div, kind.param, kind.cst),
            basic.inequalities_matrix(kind.set, kind.div, kind.param, kind.cst),
        ):
            for i in range(matrix.rows()):
                values = [matrix.get_element_val(i, j).to_python() for j in range(rank + local)]
                ties.append({j for j, v in enumerate(values) if v})
        for tie in ties:
            together = [g for g in groups if g & tie]
            groups = [g for g in groups if not g & tie]
            if together or tie:
                groups.append(set().union(tie, *together))
    return [own for g in groups if (own := {k for k in g if k < rank})]


def _count_factor(s: Any) -> int:
    rank = s.dim(isl.dim_type.set)
    if rank == 0:
        return 1
    if rank == 1:
        count = _progression(s)
        if count is not None:
            return count
    extents = [int(s.dim_max_val(k).to_python()) - int(s.dim_min_val(k).to_python()) + 1 for k in range(rank)]
    box = prod(extents)
    if box <= FEW_POINTS or (rank == 1 and box <= MOST_POINTS):
        return int(s.count_val().to_python())
    # The shortest side gives the fewest slices, and each is a set of one dimension less.
    k = min(range(rank), key=lambda i: extents[i])
    if extents[k] > MOST_SLICES or rank == 1:
        raise GaveUp(f"a set of up to {box} elements that is no product of simpler ones")
    low = int(s.dim_min_val(k).to_python())
    slices = (s.fix_val(isl.dim_type.set, k, isl.Val.int_from_si(context(), low + v)) for v in range(extents[k]))
    return sum(_count(x.project_out(isl.dim_type.set, k, 1)) for x in slices)


def _progression(line: Any) -> int | None:
    """The number of elements of lower, lower + step, ..., upper; None for any other set of one dimension."""
    low, high = int(line.dim_min_val(0).to_python()), int(line.dim_max_val(0).to_python())
    step = int(line.get_stride(0).to_python())
    step = step if step > 0 else 1
    local = isl.LocalSpace.from_space(line.get_space())
    column = isl.PwAff.from_aff(isl.Aff.var_on_domain(local, isl.dim_type.set, 0))
    all_steps = _bounded(isl.Set.universe(line.get_space()), column, low, high, local)
    offset = column.sub(_number(low, local)).mod_val(isl.Val.int_from_si(context(), step))
    all_steps = all_steps.intersect(offset.eq_set(_number(0, local)))
    if line.is_equal(all_steps):
        return (high - low) // step + 1
    return None
