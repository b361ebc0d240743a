"""The steps of a fusion that works in place, and the obligation that no step reads what another one has overwritten.

A step of an update makes one element of the update and writes it; otherwise a step makes one element of the result.
Steps run in any order. Elements of results of one size, none of them an update, are made in the same steps: those in
the same place, which have one index where both lie in one order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hloproof.claims.asynchronous.start_values import Given, StartValues
from hloproof.logic.formula import FALSE, Formula, Not, conj, eq
from hloproof.logic.obligation import Obligation
from hloproof.models.dataflow.steps import HANDED_ON
from hloproof.models.errors import NotModelled
from hloproof.models.expressions.expr import Expr, Var, substitute
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.module import Computation, Instruction
from hloproof.models.hlo.shape import ArrayShape, ShapeIndex
from hloproof.models.indexing.composition.composer import Composer
from hloproof.models.indexing.composition.route import INPUT_TO_OUTPUT
from hloproof.models.layouts.memory_size import check_one_memory, element_bits, is_indexed_alike
from hloproof.models.layouts.physical import layout_of, part_count
from hloproof.models.layouts.tiling import position_expression
from hloproof.models.maps.indexing_map import IndexingMap


@dataclass(frozen=True, slots=True)
class Written:
    """What a fusion writes into the buffer of a parameter: `value`, element by element, into a window of an array that
    lies there. Without `update` the window is the whole result."""

    result: str
    """The part of the root, by its instruction."""
    number: int
    """The parameter."""
    update: Instruction | None
    declared: bool
    """The module says so; otherwise a compiler does it where it can."""
    doubt: str = ""
    """Where it is not known that the window lies in the parameter's own bytes: what would have to be known."""
    at: ShapeIndex = ()
    """Which part of the fusion's result it is."""

    @property
    def value(self) -> str:
        return self.result if self.update is None else self.values[0]

    @property
    def values(self) -> tuple[str, ...]:
        """All arrays whose elements are written."""
        if self.update is None:
            return (self.result,)
        if self.update.opcode == "scatter":
            return self.update.operands[len(self.update.operands) // 2 + 1 :]
        return self.update.operands[1:2]

    @property
    def starts(self) -> tuple[str, ...]:
        """What says where."""
        if self.update is None:
            return ()
        if self.update.opcode == "scatter":
            return self.update.operands[len(self.update.operands) // 2 :][:1]
        return self.update.operands[2:]


@dataclass(frozen=True, slots=True)
class FusedWriter:
    """Where each step writes: into `target`, one element of `made`. `window` are the sizes of the steps."""

    target: ArrayShape
    made: ArrayShape
    update: Instruction | None = None

    @property
    def window(self) -> tuple[int, ...]:
        return self.made.dimensions


@dataclass(frozen=True, slots=True)
class FusedReader:
    """An instruction of the fused computation that is computed beside the writing. `made` is its array, where the steps
    of the writer compute it, one element each; None where every step may compute it, or an unknown one."""

    name: str
    made: ArrayShape | None
    also: str
    """What it is beside what is written; empty for that."""


@dataclass(frozen=True, slots=True)
class Stated:
    """An obligation; the element that is written and the index that is read, in its variables; the values read at run
    time; and whether it is said in which step the reading happens."""

    obligation: Obligation
    element: tuple[Expr, ...]
    index: tuple[Expr, ...]
    values: StartValues
    one_order: bool


def writer_of(body: Computation, written: Written) -> FusedWriter:
    """Raises NotModelled."""
    update = written.update
    target = body.by_name[written.result if update is None else update.operands[0]].shape
    value = body.by_name[written.value].shape
    if not isinstance(target, ArrayShape) or not isinstance(value, ArrayShape):
        raise NotModelled("a fusion in place on something that is no array")
    return FusedWriter(target, value, update)


def state(
    composer: Composer,
    body: Computation,
    given: Given,
    writer: FusedWriter,
    reader: FusedReader,
    number: int,
    m: IndexingMap,
    kept: Iterable[tuple[int, IndexingMap]] = (),
) -> Stated:
    """For every step w that writes, and every step d of the reader: what they touch lies apart, or d is w. `kept` are
    reads of the writer itself, each with its parameter: steps that read there what lies where they write are left out.
    Raises NotModelled."""
    source = body.parameters[number].shape
    if not isinstance(source, ArrayShape):
        raise NotModelled("a fusion in place on something that is no array")
    if m.replica is not None:
        raise NotModelled("what is read lies on another device")
    variables = [(f"w{k}", Interval.of_size(n)) for k, n in enumerate(writer.window)]
    variables += [(name, interval) for name, interval in m.intervals() if not name.startswith("rt")]
    values = StartValues(body, dict(variables), given)
    element, met = _element(composer, body, writer, values)
    index, read = values.follow(m, {})
    met += read + _in_one_place(writer.target, element, source, index)
    if not reader.also and writer.update is not None and writer.update.opcode == "scatter":
        met += values.follow(_scattered(composer, body, writer.update), {})[1]  # what lies outside is dropped
    for n, own in kept:
        shape = body.parameters[n].shape
        if not isinstance(shape, ArrayShape) or own.ranges or own.replica is not None:
            raise NotModelled(HANDED_ON)
        at, read = values.follow(own, {f"d{k}": Var(f"w{k}") for k in range(len(own.dims))})
        met.append(Not(conj(*read, *_in_one_place(writer.target, element, shape, at))))
    steps = _same_step(writer, reader, len(m.dims))
    every = (*variables, *values.variables.items())
    label = "no element is read after it was overwritten"
    obligation = Obligation(every, FALSE if steps is None else steps, conj(*values.facts, *met), label)
    return Stated(obligation, element, index, values, steps is not None)


def _in_one_place(a: ArrayShape, at: tuple[Expr, ...], b: ArrayShape, index: tuple[Expr, ...]) -> list[Formula]:
    """These elements lie in the same place. Raises NotModelled."""
    check_one_memory(a, b)
    if element_bits(a) != element_bits(b):
        raise NotModelled("a bitcast between elements of other widths")
    if a.dimensions == b.dimensions and layout_of(a) == layout_of(b):
        return [eq(x, y) for x, y in zip(at, index, strict=True)]
    return [eq(_position(a, at), _position(b, index))]


def _element(
    composer: Composer, body: Computation, writer: FusedWriter, values: StartValues
) -> tuple[tuple[Expr, ...], list[Formula]]:
    """The element that step w writes, and when it does. Raises NotModelled."""
    element: list[Expr] = [Var(f"w{k}") for k in range(len(writer.window))]
    update = writer.update
    if update is None:
        return tuple(element), []
    if update.opcode == "scatter":
        m = _scattered(composer, body, update)
        return values.follow(m, {f"d{k}": e for k, e in enumerate(element)})
    starts = update.operands[2:]
    if len(starts) != writer.target.rank or len(element) != writer.target.rank:
        raise NotModelled("the start indices are not scalars")
    for k, name in enumerate(starts):
        start = values.start(name, Interval(0, writer.target.dimensions[k] - writer.window[k]))
        if start is None:
            raise NotModelled("the start indices are not scalars")
        element[k] = start + element[k]
    return tuple(element), []


def _scattered(composer: Composer, body: Computation, update: Instruction) -> IndexingMap:
    """From an element of the updates to the element that it is combined into."""
    if len(update.operands) != 3:
        raise NotModelled("a fused scatter of several arrays: what it writes is not followed")
    found = composer.plain(body, update, INPUT_TO_OUTPUT, 2)
    if len(found) != 1 or found[0].unknown or len(found[0].maps) != 1 or found[0].maps[0].ranges:
        raise NotModelled("a fused scatter whose updates are not followed")
    return found[0].maps[0]


def _same_step(writer: FusedWriter, reader: FusedReader, rank: int) -> Formula | None:
    """Step w is step d; None where it is not said in which step the reader's elements are computed."""
    one, other = writer.made, reader.made
    if other is None or other.rank != rank:
        return None
    if is_indexed_alike(one, other):
        return conj(*(eq(Var(f"w{k}"), Var(f"d{k}")) for k in range(rank)))
    if one.elements != other.elements or layout_of(one).tiles or layout_of(other).tiles:
        return None
    made = _position(one, tuple(Var(f"w{k}") for k in range(one.rank)))
    return eq(made, _position(other, tuple(Var(f"d{k}") for k in range(rank))))


def _position(shape: ArrayShape, index: tuple[Expr, ...]) -> Expr:
    if part_count(shape) > 1:
        raise NotModelled("an array split over memories")
    return substitute(position_expression(shape), {f"d{k}": e for k, e in enumerate(index)})
