"""Operations whose elements are chosen by index operands at run time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from hloproof.definitions.definition import Define, Definition, Kind, RuntimeRead
from hloproof.definitions.variables import d, identity, operand_array, output_array, r, require_static, values_of, x
from hloproof.logic.formula import FALSE, TRUE, Formula, Not, conj, eq, le, lt, within
from hloproof.models.errors import NotModelled
from hloproof.models.expressions.expr import Const, Expr
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.module import Operation, Uses
from hloproof.models.hlo.shape import ArrayShape


def dynamic_slice(op: Operation, output: int, operand: int) -> Definition:
    """Output element d is operand element start + d, each start clamped so that the slice stays inside."""
    out, into = output_array(op, output), operand_array(op, operand)
    if operand > 0:
        return Definition("reads", out.dimensions, into.dimensions, TRUE)
    for shape in (out, into):
        require_static("dynamic-slice", shape)
    starts = _starts(op, 1, out.dimensions)
    parts = [eq(x(i), d(i) + r(i)) for i in range(out.rank)]
    return Definition("moves", out.dimensions, into.dimensions, conj(*parts), runtime=starts)


def dynamic_update_slice(op: Operation, output: int, operand: int) -> Definition:
    """The update replaces a box of its size; its start is clamped so that the box stays inside."""
    out, into = output_array(op, output), operand_array(op, operand)
    if operand > 1:
        return Definition("reads", out.dimensions, into.dimensions, TRUE)
    update = operand_array(op, 1)
    for shape in (out, update):
        require_static("dynamic-update-slice", shape)
    starts = _starts(op, 2, update.dimensions)
    if operand == 1:
        parts = [eq(d(i), x(i) + r(i)) for i in range(out.rank)]
        return Definition("moves", out.dimensions, into.dimensions, conj(*parts), runtime=starts)
    replaced = conj(*(within(d(i) - r(i), Interval.of_size(n)) for i, n in enumerate(update.dimensions)))
    return Definition("moves", out.dimensions, into.dimensions, conj(identity(out.rank), Not(replaced)), runtime=starts)


def _starts(op: Operation, first: int, sizes: Sequence[int]) -> tuple[RuntimeRead, ...]:
    """One start per dimension: a scalar operand each, or the elements of one vector (an older form)."""
    base = operand_array(op, 0)
    vector = len(op.operands) == first + 1 and operand_array(op, first).rank == 1
    if not vector and len(op.operands) != first + base.rank:
        raise NotModelled(f"{op.opcode} without one start per dimension")
    reads: list[RuntimeRead] = []
    for i, (n, size) in enumerate(zip(base.dimensions, sizes, strict=True)):
        if size > n:
            raise NotModelled(f"{op.opcode} of {size} elements from {n}")
        where: tuple[int, tuple[Expr, ...]] = (first, (Const(i),)) if vector else (first + i, ())
        reads.append(_start(where, n - size, operand_array(op, where[0])))
    return tuple(reads)


def gather(op: Operation, output: int, operand: int) -> Definition:
    """The output dimensions outside offset_dims choose an index vector; it says where the slice starts, clamped so that
    the slice stays inside; the offset dimensions walk the slice."""
    out, into = output_array(op, output), operand_array(op, operand)
    base, indices = operand_array(op, 0), operand_array(op, 1)
    for shape in (out, base, indices):
        require_static("gather", shape)
    offsets = op.attributes.integers("offset_dims")
    at = _index_position(op, indices, [d(i) for i in range(out.rank) if i not in offsets])
    if operand == 1:
        return Definition("reads", out.dimensions, into.dimensions, _at_index(indices, at))
    sizes = op.attributes.integers("slice_sizes")
    collapsed = op.attributes.integers("collapsed_slice_dims")
    batching = op.attributes.integers("operand_batching_dims")
    mapped = op.attributes.integers("start_index_map")
    walked = [j for j in range(base.rank) if j not in collapsed and j not in batching]
    if len(sizes) != base.rank or len(walked) != len(offsets) or any(sizes[j] != 1 for j in (*collapsed, *batching)):
        raise NotModelled("gather whose slice does not fit its output")
    if any(size > n for size, n in zip(sizes, base.dimensions, strict=True)):
        raise NotModelled("gather of a slice larger than its operand")
    terms = _batched(batching, op.attributes.integers("start_indices_batching_dims"), at)
    for j, i in zip(walked, offsets, strict=True):
        terms.setdefault(j, []).append(d(i))
    for k, j in enumerate(mapped):
        terms.setdefault(j, []).append(r(k))
    reads = tuple(
        _start((1, _element(indices, at, k)), base.dimensions[j] - sizes[j], indices) for k, j in enumerate(mapped)
    )
    parts = [eq(x(j), _sum(terms.get(j, []))) for j in range(base.rank)]
    return Definition("moves", out.dimensions, into.dimensions, conj(*parts), runtime=reads)


def scatter(op: Operation, output: int, operand: int) -> Definition:
    """Output element d combines input element d with every update element that lands on it.

    The dimensions of an update outside update_window_dims choose an index vector, which says where the update's window
    starts. It is not clamped: a window that is not wholly inside is dropped. Which index vectors land where is only
    known at run time, so an output element depends on all index vectors of its batch whose windows can reach it. The
    combiner takes the arrays, then the updates, and its results are arrays again: an output depends on those that it
    needs, by way of the others too. Where the combiner does not need what was there, which elements are read depends on
    where updates land.
    """
    arrays = len(op.operands) // 2
    needed = _needed(op.uses, output, arrays)
    out, into = output_array(op, output), operand_array(op, operand)
    base, indices, update = operand_array(op, 0), operand_array(op, arrays), operand_array(op, arrays + 1)
    for shape in (base, indices, update):
        require_static("scatter", shape)
    assumed = tuple(
        f"scatter: {name} holds" for name in ("unique_indices", "indices_are_sorted") if op.attributes.flag(name)
    )
    batching = op.attributes.integers("input_batching_dims")
    index_batching = op.attributes.integers("scatter_indices_batching_dims")
    if operand != arrays and (operand if operand < arrays else operand - 1) not in needed:
        return Definition("reads", out.dimensions, into.dimensions, FALSE, assumptions=assumed)
    if operand < arrays:
        keeps = operand == output and (op.uses is None or operand in op.uses[operand])
        kind: Kind = "reads" if keeps else "bound"
        return Definition(kind, out.dimensions, into.dimensions, identity(out.rank), assumptions=assumed)
    windows = op.attributes.integers("update_window_dims")
    inserted = op.attributes.integers("inserted_window_dims")
    mapped = op.attributes.integers("scatter_dims_to_operand_dims")
    walked = [j for j in range(base.rank) if j not in inserted and j not in batching]
    if len(walked) != len(windows):
        raise NotModelled("scatter whose update does not fit its input")
    at = _index_position(op, indices, [x(i) for i in range(update.rank) if i not in windows])
    terms = _batched(batching, index_batching, at)
    extent = dict.fromkeys(range(base.rank), 1)
    for j, i in zip(walked, windows, strict=True):
        terms.setdefault(j, []).append(x(i))
        extent[j] = update.dimensions[i]
    if operand == arrays:
        same = [eq(d(j), x(i)) for j, i in zip(batching, index_batching, strict=True)]
        # Where no index moves the window it starts at 0.
        reached = [lt(d(j), extent[j]) for j in range(base.rank) if j not in mapped and j not in batching]
        reached += [le(extent[j], base.dimensions[j]) for j in mapped]
        return Definition(
            "reads", out.dimensions, into.dimensions, conj(*same, *reached), assumptions=assumed, multiplicity=False
        )
    inside: list[Formula] = []
    for k, j in enumerate(mapped):
        terms.setdefault(j, []).append(r(k))
        inside.append(within(r(k), Interval(0, base.dimensions[j] - extent[j])))
    values = _values_of(indices)
    reads = tuple(RuntimeRead(arrays, _element(indices, at, k), values, clamped=False) for k in range(len(mapped)))
    parts = [eq(d(j), _sum(terms.get(j, []))) for j in range(base.rank)]
    return Definition(
        "reads", out.dimensions, into.dimensions, conj(*parts, *inside), runtime=reads, assumptions=assumed
    )


def _needed(uses: Uses | None, output: int, arrays: int) -> frozenset[int]:
    """The numbers of the combiner's parameters, arrays then updates, on which a result comes to depend."""
    if uses is None:
        return frozenset(range(2 * arrays))
    needed = {output}
    for _ in range(arrays):
        needed |= {p for n in needed if n < arrays for p in uses[n]}
    return frozenset(needed)


StartVector = list[Expr | None]
"""Per dimension of the index array its coordinate; None for the dimension along which an index vector lies."""


def _index_position(op: Operation, indices: ArrayShape, coordinates: Sequence[Expr]) -> StartVector:
    """Where the index vector lies that these coordinates choose. With index_vector_dim one past the last dimension the
    vectors have one component each and no dimension of their own."""
    vector_dim = op.attributes.integer("index_vector_dim", indices.rank)
    at: StartVector = list(coordinates)
    if not 0 <= vector_dim <= indices.rank:
        raise NotModelled(f"{op.opcode} with index_vector_dim={vector_dim}")
    if vector_dim < indices.rank:
        at.insert(vector_dim, None)
    if len(at) != indices.rank:
        raise NotModelled(f"{op.opcode} whose output does not fit its indices")
    return at


def _element(indices: ArrayShape, at: StartVector, component: int) -> tuple[Expr, ...]:
    return tuple(Const(component) if e is None else e for e in at)


def _at_index(indices: ArrayShape, at: StartVector) -> Formula:
    """x is a component of the index vector."""
    return conj(*(eq(x(i), e) for i, e in enumerate(at) if e is not None))


def _batched(operand_dims: Sequence[int], index_dims: Sequence[int], at: StartVector) -> dict[int, list[Expr]]:
    """Operand batching dimensions follow the coordinates of the index array's batching dimensions."""
    terms: dict[int, list[Expr]] = {}
    for j, i in zip(operand_dims, index_dims, strict=True):
        coordinate = at[i]
        if coordinate is None:
            raise NotModelled("a batching dimension along the index vectors")
        terms[j] = [coordinate]
    return terms


def _sum(terms: Sequence[Expr]) -> Expr:
    total: Expr = Const(0) if not terms else terms[0]
    for e in terms[1:]:
        total = total + e
    return total


def _start(where: tuple[int, tuple[Expr, ...]], last: int, indices: ArrayShape) -> RuntimeRead:
    """A start in [0, last], as far as the element's type reaches."""
    held = values_of(indices)
    return RuntimeRead(*where, Interval(0, last if held is None else min(last, held.upper)), held=held)


def _values_of(indices: ArrayShape) -> Interval:
    """All values of the element type."""
    found = values_of(indices)
    if found is None:
        raise NotModelled(f"indices of type {indices.element_type}")
    return found


DEFINITIONS: Final[Mapping[str, Define]] = {
    "dynamic-slice": dynamic_slice,
    "dynamic-update-slice": dynamic_update_slice,
    "gather": gather,
    "scatter": scatter,
}
"""By opcode."""
