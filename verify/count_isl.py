"""How many elements the images of indexing maps have, by isl.

The second file that knows isl, beside the encoder of obligations: it counts, which no other engine can, and answers no
obligation. Sets are built with isl's own arithmetic. A set is counted as a product of progressions where isl shows that
it is one, else point by point within a limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import islpy as isl

from models.expr import Binary, Const, Expr, Var, postorder
from models.indexing_map import IndexingMap
from verify.encode_isl import context
from verify.engine import GaveUp, NotExpressible

_OPERATIONS: Final = 3_000_000
MOST_POINTS: Final = 200_000
"""Points of a set that are counted one by one."""


def count_image(maps: Sequence[IndexingMap], operations: int = _OPERATIONS) -> int:
    """How many different result tuples the maps have together; runtime variables may hold any value of their interval.

    Raises GaveUp and NotExpressible.
    """
    return _limited(lambda: _count(_union([_relation(m).range() for m in maps])), operations)


def count_pairs(maps: Sequence[IndexingMap], operations: int = _OPERATIONS) -> int:
    """How many different (dims, results) pairs the maps have together. Raises likewise."""
    return _limited(lambda: _count_pairs(maps), operations)


def _count_pairs(maps: Sequence[IndexingMap]) -> int:
    relations = [_relation(m) for m in maps]
    if all(a.is_disjoint(b) for k, a in enumerate(relations) for b in relations[k + 1 :]):
        return sum(_pairs_of_one(m, r) for m, r in zip(maps, relations, strict=True))
    return _count(_union([r.wrap().flatten() for r in relations]))


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
    variables = list(m.intervals())
    columns = {name: k for k, (name, _) in enumerate(variables)}
    space = isl.Space.set_alloc(context(), 0, len(variables))
    local = isl.LocalSpace.from_space(space)
    domain = isl.Set.universe(space)
    for name, interval in variables:
        column = isl.PwAff.from_aff(isl.Aff.var_on_domain(local, isl.dim_type.set, columns[name]))
        domain = _bounded(domain, column, interval.lower, interval.upper, local)
    for c in m.constraints:
        domain = _bounded(domain, _function(c.expr, columns, local), c.interval.lower, c.interval.upper, local)
    results = isl.PwAffList.alloc(context(), max(1, len(m.results)))
    for e in m.results:
        results = results.add(_function(e, columns, local))
    target = isl.Space.map_from_domain_and_range(space, isl.Space.set_alloc(context(), 0, len(m.results)))
    function = isl.MultiPwAff.from_pw_aff_list(target, results)
    relation = isl.Map.from_multi_pw_aff(function).intersect_domain(domain)
    kept = len(m.dims) if kept is None else kept
    return relation.project_out(isl.dim_type.in_, kept, len(variables) - kept)


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
    pieces = s.coalesce().make_disjoint().get_basic_sets()
    return sum(_count_piece(isl.Set.from_basic_set(p)) for p in pieces)


def _count_piece(s: Any) -> int:
    """A product of progressions, one per dimension, or point by point."""
    rank = s.dim(isl.dim_type.set)
    lines, product = [], None
    for k in range(rank):
        line = s.project_out(isl.dim_type.set, k + 1, rank - k - 1).project_out(isl.dim_type.set, 0, k)
        lines.append(line)
        product = line if product is None else product.flat_product(line)
    if product is None:
        return 1
    counts = [_progression(line) for line in lines]
    if None not in counts and s.is_equal(product):
        total = 1
        for n in counts:
            total *= n or 0
        return total
    box = 1
    for line in lines:
        low, high = line.dim_min_val(0), line.dim_max_val(0)
        box *= int(high.to_python()) - int(low.to_python()) + 1
    if box > MOST_POINTS:
        raise GaveUp(f"a set of up to {box} elements that is no product of progressions")
    return int(s.count_val().to_python())


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
