"""How one instruction makes its results: step by step, what a step reads and what it writes.

A step is an index. In most operations and fusions the step of an index reads what the indexing maps say and then writes
that element of every output (outputs of one size are made together); the steps run in any order, also at once. An
update in place has a step for each element of the update only. A reduction beside outputs of its input's size takes
part in the step of each input element. Scatter and sort have rules of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import prod
from typing import Final, Literal

from hloproof.memory.plan import Plan, laid_out_alike
from hloproof.models.dataflow.alias_classes import shape_at
from hloproof.models.dataflow.async_chain import text_of
from hloproof.models.dataflow.in_place import updating
from hloproof.models.dataflow.steps import computes, handed_on, not_by_steps
from hloproof.models.dataflow.value_flow import called
from hloproof.models.errors import NotModelled
from hloproof.models.expressions.expr import Expr
from hloproof.models.hlo.module import Computation, Instruction
from hloproof.models.hlo.shape import ArrayShape, leaves
from hloproof.models.indexing.box import bounds, holds_data
from hloproof.models.indexing.composition.module_maps import followed_maps, plain_composer
from hloproof.models.indexing.composition.route import INPUT_TO_OUTPUT, OUTPUT_TO_INPUT
from hloproof.models.indexing.map_set import OperandMaps
from hloproof.models.maps.indexing_map import RuntimeVariable, dim, identity
from hloproof.models.memory.assignment import Key

Way = Literal["each", "window", "reduced", "scatter", "sort"]

TOGETHER: Final = (
    "outputs of one size are made together in {what}: the step of an index reads everything it needs, then writes that "
    "element of each (the one in the same place where sizes or layouts differ); steps run in any order"
)
REDUCED: Final = (
    "each input element of a reduction in {what} is read once, in the step that makes the other outputs' element "
    "of the same index"
)


@dataclass(frozen=True, slots=True)
class KernelReading:
    """What the steps of one output read of one value, as maps over the step's index."""

    value: Key
    shape: ArrayShape
    maps: OperandMaps
    elements: OperandMaps | None = None
    """Where it is not known when a step reads: which elements it reads at some time; None where any may be."""
    made_at: tuple[Making, ...] = ()
    """Of what a sort reads: how it may make of this, element by element, what an output is sorted from, in the place of
    that output."""


@dataclass(frozen=True, slots=True)
class Making:
    """How one output is made. `stepped` is the array that has a step for each of its elements; element `element` (over
    the step's index d0, d1, ...) of an array of shape `written` is what a step writes, or None where that is not one
    element for each step (scatter, sort)."""

    position: tuple[int, ...]
    way: Way
    stepped: ArrayShape
    written: ArrayShape
    element: tuple[Expr, ...]
    runtime: tuple[RuntimeVariable, ...]
    readings: tuple[KernelReading, ...]
    inside: Computation
    """Whose instructions the maps name, and `runtime`."""
    replaced: Key | None = None
    """The value that the operation updates in place, whose other elements stay: not read by any step."""
    sort: str = ""
    """The sort that makes it: its results are made together, those of another sort are not."""
    handed_on: tuple[KernelReading, ...] = ()
    """Those of the readings whose elements may be written as they are."""

    @property
    def steps(self) -> tuple[int, ...]:
        """The sizes of the index."""
        return self.stepped.dimensions

    @property
    def count(self) -> int:
        return prod(self.steps)


class Kernels:
    """The makings of a plan's instructions."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._composer = plain_composer(plan.module)

    def makings(self, i: Instruction, over: dict[tuple[int, ...], set[Key]]) -> tuple[Making, ...]:
        """One for each array of the result. `over` says which values lie exactly where an output does: only there can
        an update be in place. Raises NotModelled."""
        computation = self._plan.values.computation_of[i.name]
        if i.opcode != "fusion":
            return tuple(self._plain(computation, i, over))
        body = self._plan.module.find(called(i, "calls"))
        if body is None:
            raise NotModelled(f"the fused computation of {i.name} is not there")
        self._check_borders(computation, i, body)
        found = [self._output(computation, i, body, at, leaf, over) for at, leaf in _arrays(i)]
        return tuple(self._with_reductions(computation, i, body, found))

    def assumption(self, i: Instruction, makings: tuple[Making, ...]) -> str:
        """What is assumed of the code that is made for an instruction."""
        kind = text_of(i, "kind")
        what = f"a {kind} fusion" if kind else i.opcode
        text = TOGETHER.format(what=what)
        return text + "; " + REDUCED.format(what=what) if any(m.way == "reduced" for m in makings) else text

    def not_by_steps(self, i: Instruction) -> str | None:
        """What of an instruction may not be made by steps; None where everything is, as far as it has no rule of its
        own."""
        odd = next(not_by_steps(self._plan.module, i), None)
        return None if odd is None else odd.opcode if odd is i else f"{odd.opcode} {odd.name}"

    # -- plain instructions -----------------------------------------------------------------------------------------

    def _plain(self, c: Computation, i: Instruction, over: dict[tuple[int, ...], set[Key]]) -> Iterator[Making]:
        for at, leaf in _arrays(i):
            if i.opcode == "dynamic-update-slice" and self._is_over(i, 0, over, at):
                yield self._window(c, i, i, at, lambda n: self._reads_of_operand(c, i, n))
                continue
            index = tuple(dim(k) for k in range(leaf.rank))
            way: Way = "each"
            if i.opcode in ("scatter", "sort"):
                way = "scatter" if i.opcode == "scatter" else "sort"
                k = at[0] if at else 0
                count = len(i.operands) if way == "sort" else len(i.operands) // 2
                own = {n for n in range(count) if self._is_over(i, n, over, (n,) if at else ())}
                into = self._plan.values.at((i.operands[k], ())) if k in own else None
                readings = tuple(
                    r for n in range(len(i.operands)) if n not in own for r in self._whole_operand(c, i, n)
                )
                kept = tuple(self._whole_operand(c, i, k)) if way == "sort" and _sorts_nothing(i, leaf) else ()
                sort = i.name if way == "sort" else ""
                yield Making(at, way, leaf, leaf, index, (), readings, c, into, sort, kept)
                continue
            sets = self._composer.plain(c, i, OUTPUT_TO_INPUT, _number(i, at))
            plain = tuple(self._named(c, i, sets))
            kept = () if computes(self._plan.module, c, i) else plain
            yield Making(at, way, leaf, leaf, index, (), plain, c, handed_on=kept)

    def _is_over(self, i: Instruction, n: int, over: dict[tuple[int, ...], set[Key]], at: tuple[int, ...]) -> bool:
        """The result lies exactly over operand `n` and has its layout: what is not written stays an element of it."""
        alike = laid_out_alike(shape_at(i.shape, at), self._plan.instruction(i.operands[n]).shape)
        return alike and self._plan.values.at((i.operands[n], ())) in over.get(at, ())

    def _named(self, c: Computation, i: Instruction, sets: tuple[OperandMaps, ...]) -> Iterator[KernelReading]:
        for s in sets:
            value = self._plan.values.at((i.operands[s.operand], s.position))
            shape = dict(leaves(c.by_name[i.operands[s.operand]].shape)).get(s.position)
            if value is not None and isinstance(shape, ArrayShape) and (s.maps or s.unknown):
                yield KernelReading(value, shape, s)

    def _whole_operand(self, c: Computation, i: Instruction, n: int) -> Iterator[KernelReading]:
        """Any element of operand `n` may be read at any step."""
        for at, leaf in leaves(c.by_name[i.operands[n]].shape):
            value = self._plan.values.at((i.operands[n], at))
            if value is not None and isinstance(leaf, ArrayShape):
                yield KernelReading(
                    value, leaf, OperandMaps(n, "bound", (), at, f"{i.opcode} reads it while it writes")
                )

    def _reads_of_operand(self, c: Computation, i: Instruction, n: int) -> Iterator[KernelReading]:
        """What the steps read of operand `n` of an unfused update: the update element by element, the starts whole."""
        shape = c.by_name[i.operands[n]].shape
        value = self._plan.values.at((i.operands[n], ()))
        if value is not None and isinstance(shape, ArrayShape):
            yield KernelReading(value, shape, OperandMaps(n, "reads", (identity(bounds(shape)),)))

    # -- fusions ----------------------------------------------------------------------------------------------------

    def _check_borders(self, c: Computation, i: Instruction, body: Computation) -> None:
        """The fused computation takes the operands and gives the results as they lie outside. Raises NotModelled."""
        pairs = [(p.name, p.shape, c.by_name[i.operands[p.parameter_number or 0]].shape) for p in body.parameters]
        for name, inner, outer in (*pairs, (body.root_name, body.root.shape, i.shape)):
            for at, leaf in leaves(outer):
                if isinstance(leaf, ArrayShape) and not laid_out_alike(leaf, shape_at(inner, at)):
                    raise NotModelled(f"{name} of {body.name} is laid out otherwise than what {i.name} has for it")

    def _output(
        self,
        c: Computation,
        i: Instruction,
        body: Computation,
        at: tuple[int, ...],
        leaf: ArrayShape,
        over: dict[tuple[int, ...], set[Key]],
    ) -> Making:
        made, inner = _maker(body, at)
        update = updating(body.by_name, made.name)
        replaced = None if update is None else self._parameter_value(i, body, update.operands[0])
        alike = update is not None and laid_out_alike(update.shape, body.by_name[update.operands[0]].shape)
        if update is not None and alike and replaced in over.get(at, ()):
            if update.opcode == "scatter":
                return self._fused_scatter(c, i, body, at, leaf, update, replaced)
            return self._window(
                c, i, update, at, lambda n: self._followed(c, i, body, update.operands[n]), body, replaced
            )
        if made.opcode == "sort":
            return self._fused_sort(c, i, body, at, leaf, made, inner, over)
        sets = followed_maps(self._composer, body, body.root, OUTPUT_TO_INPUT, _number(i, at))
        index = tuple(dim(k) for k in range(leaf.rank))
        found = tuple(self._named(c, i, sets))
        kept = found if handed_on(self._plan.module, body, [made.name]) else ()
        return Making(at, "each", leaf, leaf, index, (), found, body, handed_on=kept)

    def _parameter_value(self, i: Instruction, body: Computation, name: str) -> Key | None:
        """The caller's value behind a parameter of the fusion, through bitcasts."""
        inner = body.by_name[name]
        while inner.opcode == "bitcast":
            inner = body.by_name[inner.operands[0]]
        if inner.opcode != "parameter":
            return None
        return self._plan.values.at((i.operands[inner.parameter_number or 0], ()))

    def _followed(self, c: Computation, i: Instruction, body: Computation, name: str) -> Iterator[KernelReading]:
        yield from self._named(c, i, followed_maps(self._composer, body, body.by_name[name], OUTPUT_TO_INPUT))

    def _window(
        self,
        c: Computation,
        i: Instruction,
        update: Instruction,
        at: tuple[int, ...],
        reads: Callable[[int], Iterator[KernelReading]],
        body: Computation | None = None,
        replaced: Key | None = None,
    ) -> Making:
        """An update in place: a step for each element of the update, which writes it at start + index."""
        inside = c if body is None else body
        window, target = inside.by_name[update.operands[1]].shape, update.shape
        if not isinstance(window, ArrayShape) or not isinstance(target, ArrayShape):
            raise NotModelled("an update of no array")
        found = self._composer.plain(inside, update, INPUT_TO_OUTPUT, 1)
        if len(found) != 1 or len(found[0].maps) != 1:
            raise NotModelled("an update whose window is not one box")
        m = found[0].maps[0]
        written, starts = tuple(reads(1)), [r for n in range(2, len(update.operands)) for r in reads(n)]
        if body is None:
            replaced = self._plan.values.at((i.operands[0], ()))
        moved = body is None or handed_on(self._plan.module, body, [update.operands[1]])
        readings = (*written, *starts)
        return Making(
            at,
            "window",
            window,
            target,
            m.results,
            m.runtime,
            readings,
            inside,
            replaced,
            handed_on=written if moved else (),
        )

    def _fused_scatter(
        self,
        c: Computation,
        i: Instruction,
        body: Computation,
        at: tuple[int, ...],
        leaf: ArrayShape,
        update: Instruction,
        replaced: Key | None,
    ) -> Making:
        """What is scattered, and where, may be read at any time while elements are written."""
        into = len(update.operands) // 2
        names = dict.fromkeys(update.operands[into:])
        told = f"the scatter of {i.name} reads it while it writes"
        readings = tuple(_meanwhile(r, told) for name in names for r in self._followed(c, i, body, name))
        index = tuple(dim(k) for k in range(leaf.rank))
        return Making(at, "scatter", leaf, leaf, index, (), readings, body, replaced)

    def _fused_sort(
        self,
        c: Computation,
        i: Instruction,
        body: Computation,
        at: tuple[int, ...],
        leaf: ArrayShape,
        made: Instruction,
        inner: tuple[int, ...],
        over: dict[tuple[int, ...], set[Key]],
    ) -> Making:
        """Sort works in place on operand k where output k lies over it; what the other operands read is read before."""
        k = inner[0] if inner else 0
        replaced = self._parameter_value(i, body, made.operands[k])
        if replaced not in over.get(at, ()) or not _is_sorted_alike(body, made, k):
            replaced = None
        own = set()
        outputs: dict[int, list[tuple[int, ...]]] = {}
        for place, _ in _arrays(i):
            other, result = _maker(body, place)
            if other is made:
                n = result[0] if result else 0
                outputs.setdefault(n, []).append(place)
                into = self._parameter_value(i, body, made.operands[n])
                if into in over.get(place, ()) and _is_sorted_alike(body, made, n):
                    own.add(n)
        told = f"the sort of {i.name} reads it while it writes"
        index = tuple(dim(d) for d in range(leaf.rank))
        readings = []
        for n, name in enumerate(made.operands):
            if n not in own:
                found = tuple(self._followed(c, i, body, name))
                kept = found if handed_on(self._plan.module, body, [name]) else ()
                sorted_ = shape_at(made.shape, (n,) if len(made.operands) > 1 else ())
                assert isinstance(sorted_, ArrayShape)
                # As the sort has it: what the fusion gives may be a bitcast of that.
                places = tuple(dim(d) for d in range(sorted_.rank))
                made_at = tuple(
                    Making(place, "each", sorted_, sorted_, places, (), found, body, handed_on=kept)
                    for place in outputs.get(n, ())
                )
                readings += [replace(_meanwhile(r, told), made_at=made_at) for r in found]
        one = shape_at(made.shape, inner)
        as_it_is = isinstance(one, ArrayShape) and _sorts_nothing(made, one)
        kept = tuple(self._followed(c, i, body, made.operands[k])) if as_it_is else ()
        return Making(at, "sort", leaf, leaf, index, (), tuple(readings), body, replaced, made.name, kept)

    def _with_reductions(
        self, c: Computation, i: Instruction, body: Computation, found: list[Making]
    ) -> Iterator[Making]:
        """Reductions beside outputs of their input's size are put into the steps of these."""
        most = max((m.count for m in found if m.way == "each"), default=0)
        for m in found:
            if m.count == most:
                yield m
                continue
            made, _ = _maker(body, m.position)
            while made.opcode == "bitcast":
                made = body.by_name[made.operands[0]]
            shape = body.by_name[made.operands[0]].shape if made.opcode == "reduce" else None
            if not isinstance(shape, ArrayShape) or shape.elements != most:
                yield m
                continue
            inputs = made.operands[: len(made.operands) // 2]
            initial = made.operands[len(made.operands) // 2 :]
            readings = tuple(r for name in (*inputs, *initial) for r in self._followed(c, i, body, name))
            kept = readings if m.handed_on else ()
            yield Making(m.position, "reduced", shape, m.written, (), (), readings, body, handed_on=kept)


def _arrays(i: Instruction) -> list[tuple[tuple[int, ...], ArrayShape]]:
    return [(at, leaf) for at, leaf in leaves(i.shape) if isinstance(leaf, ArrayShape) and holds_data(leaf)]


def _meanwhile(reading: KernelReading, told: str) -> KernelReading:
    """Which is read at any time."""
    unknown = OperandMaps(reading.maps.operand, "bound", (), reading.maps.position, told)
    return replace(reading, maps=unknown, elements=reading.maps)


def _sorts_nothing(sort: Instruction, made: ArrayShape) -> bool:
    """Every element stays where it is: there is one along the dimension that is sorted, or none."""
    (dimension,) = sort.attributes.integers("dimensions") or (0,)
    return made.rank == 0 or made.dimensions[dimension] <= 1


def _is_sorted_alike(body: Computation, sort: Instruction, n: int) -> bool:
    """Result `n` of a sort has the layout of operand `n`."""
    result = shape_at(sort.shape, (n,) if len(sort.operands) > 1 else ())
    return laid_out_alike(result, body.by_name[sort.operands[n]].shape)


def _number(i: Instruction, at: tuple[int, ...]) -> int:
    return [place for place, _ in leaves(i.shape)].index(at)


def _maker(body: Computation, at: tuple[int, ...]) -> tuple[Instruction, tuple[int, ...]]:
    """The instruction of a fused computation that makes shape index `at` of the root, and its own shape index there."""
    i = body.root
    while True:
        if i.opcode == "tuple" and at:
            i, at = body.by_name[i.operands[at[0]]], at[1:]
        elif i.opcode == "get-tuple-element":
            i, at = body.by_name[i.operands[0]], (i.attributes.integer("index", 0), *at)
        elif i.opcode == "bitcast" and not at and body.by_name[i.operands[0]].opcode in ("sort", "get-tuple-element"):
            i = body.by_name[i.operands[0]]
        else:
            return i, at
