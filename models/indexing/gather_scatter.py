"""Gather and scatter: windows of an operand at places that an index tensor names.

Notation of both: an index vector at each place of the batch; its components are starts for the operand dimensions in
`start_index_map` (gather) or `scatter_dims_to_operand_dims` (scatter). Batching dimensions of the operand follow
dimensions of the index tensor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hloproof.models.errors import NotModelled
from hloproof.models.expressions.expr import Const, Expr
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.body_use import components, overwrites, takes_update
from hloproof.models.hlo.gathered import require_slices
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.shape import ELEMENT_BITS, Shape
from hloproof.models.indexing.box import (
    Builders,
    RangeVariables,
    array,
    data_outputs,
    narrowed,
    one,
    output_shape,
    sizes,
    within,
)
from hloproof.models.indexing.map_set import Kind, OperandMaps
from hloproof.models.maps.indexing_map import (
    Constraint,
    IndexingMap,
    RuntimeVariable,
    Variable,
    boxed,
    dim,
    identity,
    rt,
)


@dataclass(frozen=True)
class _Windows:
    """The dimension numbers of a gather or scatter, under one set of names.

    `windowed` is the tensor that holds the windows: the gather's output, the scatter's updates.
    """

    operand: tuple[int, ...]
    indices: tuple[int, ...]
    windowed: tuple[int, ...]
    offset_dims: tuple[int, ...]
    """Dimensions of `windowed` that run over a window."""
    dropped: tuple[int, ...]
    """Operand dimensions in which the window has one element and no dimension of its own."""
    batching: tuple[int, ...]
    indices_batching: tuple[int, ...]
    start_map: tuple[int, ...]
    vector_dim: int
    window: tuple[int, ...]
    """Window size per operand dimension."""
    index_interval: Interval
    """What the index type can hold."""

    @property
    def batch_dims(self) -> tuple[int, ...]:
        """Dimensions of `windowed` that run over the index tensor, in its order without the vector dimension."""
        return tuple(i for i in range(len(self.windowed)) if i not in self.offset_dims)

    @property
    def batch_sizes(self) -> tuple[int, ...]:
        return tuple(n for i, n in enumerate(self.indices) if i != self.vector_dim)

    @property
    def window_dims(self) -> tuple[int, ...]:
        """Operand dimensions that have a dimension of their own in the window, in order."""
        return tuple(i for i in range(len(self.operand)) if i not in self.dropped and i not in self.batching)

    def batch_position(self, operand_dim: int) -> int:
        """Which entry of a batch index a batching dimension of the operand follows."""
        others = [i for i in range(len(self.indices)) if i != self.vector_dim]
        return others.index(self.indices_batching[self.batching.index(operand_dim)])

    def vector(self, batch: Sequence[Expr], component: Expr) -> tuple[Expr, ...]:
        """The element of the index tensor that holds a component of the vector at a batch index."""
        # A vector dimension beyond the rank: each element of the index tensor is a vector of one component.
        if self.vector_dim >= len(self.indices):
            return tuple(batch)
        return (*batch[: self.vector_dim], component, *batch[self.vector_dim :])

    def starts(
        self,
        dims: tuple[Variable, ...],
        ranges: tuple[Variable, ...],
        batch: Sequence[Expr],
        provider: int,
        clamped: bool,
    ) -> tuple[RuntimeVariable, ...]:
        """A runtime variable per component. Unclamped ones keep the whole range of the index type."""
        found = []
        for k, i in enumerate(self.start_map):
            # XLA clamps the starts of a gather, so that the window fits; those of a scatter it takes as they are, and
            # drops windows that do not fit.
            interval = Interval(0, self.operand[i] - self.window[i]) if clamped else self.index_interval
            index = IndexingMap(dims, self.vector(batch, Const(k)), ranges)
            found.append(RuntimeVariable(interval, provider=f"operand({provider})", index=index))
        return tuple(found)

    def start(self, operand_dim: int) -> Expr:
        """Where the window starts in an operand dimension: a runtime variable, or 0."""
        return rt(self.start_map.index(operand_dim)) if operand_dim in self.start_map else Const(0)


def _index_interval(shape: Shape) -> Interval:
    element = array(shape).element_type
    bits = ELEMENT_BITS.get(element)
    if bits is not None and element.startswith("u"):
        return Interval(0, 2**bits - 1)
    if bits is not None and element.startswith("s"):
        return Interval(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    raise NotModelled(f"indices of type {element}")


def _gather(op: Operation) -> _Windows:
    a = op.attributes
    require_slices(a, sizes(op.shape))
    return _Windows(
        operand=sizes(op.operands[0]),
        indices=sizes(op.operands[1]),
        windowed=sizes(op.shape),
        offset_dims=a.integers("offset_dims"),
        dropped=a.integers("collapsed_slice_dims"),
        batching=a.integers("operand_batching_dims"),
        indices_batching=a.integers("start_indices_batching_dims"),
        start_map=a.integers("start_index_map"),
        vector_dim=a.integer("index_vector_dim", len(sizes(op.operands[1]))),
        window=a.integers("slice_sizes"),
        index_interval=_index_interval(op.operands[1]),
    )


def _scatter(op: Operation) -> _Windows:
    a, count = op.attributes, len(op.operands) // 2
    operand, updates = sizes(op.operands[0]), sizes(op.operands[count + 1])
    dropped, batching = a.integers("inserted_window_dims"), a.integers("input_batching_dims")
    offset_dims = a.integers("update_window_dims")
    own = iter(offset_dims)
    window = tuple(1 if i in dropped or i in batching else updates[next(own)] for i in range(len(operand)))
    return _Windows(
        operand=operand,
        indices=sizes(op.operands[count]),
        windowed=updates,
        offset_dims=offset_dims,
        dropped=dropped,
        batching=batching,
        indices_batching=a.integers("scatter_indices_batching_dims"),
        start_map=a.integers("scatter_dims_to_operand_dims"),
        vector_dim=a.integer("index_vector_dim", len(sizes(op.operands[count]))),
        window=window,
        index_interval=_index_interval(op.operands[count]),
    )


def gather_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """The element at the window's offset from the start, which is clamped so that the window fits; the whole index
    vector is read."""
    w = _gather(op)
    batch = tuple(dim(i) for i in w.batch_dims)
    box = boxed(w.windowed)
    runtime = w.starts(box, (), batch, 1, clamped=True)
    data = IndexingMap(box, _in_operand(w, tuple(dim(i) for i in w.offset_dims), batch), runtime=runtime)
    ranges = RangeVariables()
    component = ranges.new(len(w.start_map))
    vectors = IndexingMap(box, w.vector(batch, component), ranges.done())
    if not w.start_map:
        return one(0, "moves", data), OperandMaps(1, "reads", ())
    return one(0, "moves", data), one(1, "reads", vectors)


def gather_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    """An operand element goes to every batch place whose window covers it; a vector component decides its window."""
    w = _gather(op)
    if operand == 1:
        batch = tuple(dim(i) for i in range(len(w.indices)) if i != w.vector_dim)
        ranges = RangeVariables()
        offsets = tuple(ranges.new(w.windowed[i]) for i in w.offset_dims)
        if not w.start_map:
            return (OperandMaps(0, "reads", ()),)
        m = IndexingMap(boxed(w.indices), _in_windowed(w, offsets, batch), ranges.done())
        return (one(0, "reads", m),)
    box, batch, variables, offsets, constraints = _covering(w)
    runtime = w.starts(box, variables, batch, 1, clamped=True)
    m = IndexingMap(box, _in_windowed(w, offsets, batch), variables, runtime, constraints)
    return (one(0, "moves", m),)


def scatter_output_to_input(op: Operation, output: int) -> tuple[OperandMaps, ...]:
    """An element is its own operand element combined with all updates whose window covers it. Starts are not clamped: a
    window that does not lie inside as a whole is dropped. Which updates those are depends on all index vectors.

    With several operands the combiner may see them all; what it uses says on which an output depends. Of what updates
    overwrite, and of the other operands, it depends on them which elements are read: a bound.
    """
    w, count = _scatter(op), len(op.operands) // 2
    out = sizes(output_shape(op, output))
    box, batch, variables, offsets, constraints = _covering(w)
    runtime = w.starts(box, variables, batch, count, clamped=False)
    constraints = (*_inside(w), *constraints)
    of_updates = IndexingMap(box, _in_windowed(w, offsets, batch), variables, runtime, constraints)
    ranges = RangeVariables()
    all_vectors = w.vector(_free_batch(w, ranges), ranges.new(len(w.start_map)))
    of_indices = IndexingMap(box, all_vectors, ranges.done())
    return (
        *(
            one(n, _of_base(op, n, output), identity(out))
            if n in components(op, output)
            else OperandMaps(n, "reads", ())
            for n in range(count)
        ),
        one(count, "reads", of_indices) if w.start_map else OperandMaps(count, "reads", ()),
        *(
            one(count + 1 + n, "reads", of_updates)
            if takes_update(op, output, n)
            else OperandMaps(count + 1 + n, "reads", ())
            for n in range(count)
        ),
    )


def _of_base(op: Operation, operand: int, output: int) -> Kind:
    """Its own element an output always has, unless updates overwrite it; those of other arrays come in with updates."""
    return "reads" if operand == output and not overwrites(op, operand) else "bound"


def scatter_input_to_output(op: Operation, operand: int) -> tuple[OperandMaps, ...]:
    """An operand to its own places, an index to all that its window may reach, an update to where its index puts it."""
    w, count = _scatter(op), len(op.operands) // 2
    outputs = [n for n, _ in data_outputs(op)]
    if operand < count:
        return tuple(
            one(n, _of_base(op, operand, n), identity(w.operand))
            if operand in components(op, n)
            else OperandMaps(n, "reads", ())
            for n in outputs
        )
    if operand == count:
        if not w.start_map:
            return tuple(OperandMaps(n, "reads", ()) for n in outputs)
        ranges = RangeVariables()
        batch = tuple(dim(i) for i in range(len(w.indices)) if i != w.vector_dim)
        # Where no index moves the window it starts at 0 and reaches no further than its size.
        reach = tuple(n if i in w.start_map else min(n, w.window[i]) for i, n in enumerate(w.operand))
        results = tuple(
            batch[w.batch_position(i)] if i in w.batching else ranges.new(reach[i]) for i in range(len(w.operand))
        )
        m = IndexingMap(boxed(w.indices), results, ranges.done())
        return tuple(one(n, "reads", m) for n in outputs)
    box = boxed(w.windowed)
    batch = tuple(dim(i) for i in w.batch_dims)
    runtime = w.starts(box, (), batch, count, clamped=False)
    placed = _in_operand(w, tuple(dim(i) for i in w.offset_dims), batch)
    m = IndexingMap(box, placed, (), runtime, _inside(w))
    update = operand - count - 1
    return tuple(one(n, "reads", m) if takes_update(op, n, update) else OperandMaps(n, "reads", ()) for n in outputs)


def _in_operand(w: _Windows, offsets: Sequence[Expr], batch: Sequence[Expr]) -> tuple[Expr, ...]:
    """The operand index at these offsets into the window of a batch place."""
    found: list[Expr] = []
    for i in range(len(w.operand)):
        start = w.start(i)
        if i in w.batching:
            found.append(batch[w.batch_position(i)])
        elif i in w.dropped:
            found.append(start)
        else:
            offset = offsets[w.window_dims.index(i)]
            found.append(offset if isinstance(start, Const) else offset + start)
    return tuple(found)


def _in_windowed(w: _Windows, offsets: Sequence[Expr], batch: Sequence[Expr]) -> tuple[Expr, ...]:
    """The index of the tensor of windows at these offsets and batch place."""
    at_offset = dict(zip(w.offset_dims, offsets, strict=True))
    at_batch = dict(zip(w.batch_dims, batch, strict=True))
    return tuple(at_offset[i] if i in at_offset else at_batch[i] for i in range(len(w.windowed)))


def _free_batch(w: _Windows, ranges: RangeVariables) -> tuple[Expr, ...]:
    """A batch index over the dims of the operand: batching dimensions follow it, the others are range variables."""
    follows = {w.batch_position(i): dim(i) for i in w.batching}
    return tuple(follows[j] if j in follows else ranges.new(n) for j, n in enumerate(w.batch_sizes))


def _covering(
    w: _Windows,
) -> tuple[tuple[Variable, ...], tuple[Expr, ...], tuple[Variable, ...], tuple[Expr, ...], tuple[Constraint, ...]]:
    """Over the dims of the operand: the dims, a batch index, its range variables, the offsets of the element into the
    window there, and what makes the window cover the element."""
    ranges = RangeVariables()
    batch = _free_batch(w, ranges)
    kept: dict[int, Interval] = {}
    offsets: list[Expr] = []
    constraints: list[Constraint] = []
    for i in range(len(w.operand)):
        if i in w.batching:
            continue
        start = w.start(i)
        offset = dim(i) if isinstance(start, Const) else dim(i) - start
        if isinstance(start, Const):
            kept[i] = Interval(0, w.window[i] - 1)
        else:
            constraints.append(within(offset, 0, w.window[i] - 1))
        if i not in w.dropped:
            offsets.append(offset)
    return narrowed(w.operand, kept), batch, ranges.done(), tuple(offsets), tuple(constraints)


def _inside(w: _Windows) -> tuple[Constraint, ...]:
    """Every window start leaves the whole window inside the operand."""
    return tuple(within(rt(k), 0, w.operand[i] - w.window[i]) for k, i in enumerate(w.start_map))


BUILDERS: Final[Mapping[str, Builders]] = {
    "gather": Builders(gather_output_to_input, gather_input_to_output),
    "scatter": Builders(scatter_output_to_input, scatter_input_to_output),
}
"""By opcode, both directions."""
