"""Fusions that work in place: what they read of the buffer lies outside of what they write, or is the element itself.

A fusion works in place where it ends in an update of a parameter, and where it declares a result as the alias of an
operand. Its elements are made in any order, so none may be read after another one was written over it. Where the same
bytes have two names, through bitcasts or because a fusion is handed one buffer twice, positions in memory are compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from hloproof.claims.asynchronous.computation_checks import aliasing_of
from hloproof.claims.asynchronous.hazard_checks import scene_of
from hloproof.claims.asynchronous.judgement import NEEDS_COPY, Context, Judgement
from hloproof.claims.asynchronous.start_values import StartValues
from hloproof.engines.door import How, prove_one
from hloproof.logic.formula import Formula, conj, eq, within
from hloproof.logic.obligation import Obligation, Outcome
from hloproof.models.dataflow.in_place import fused_in_place, parameter_behind, updating
from hloproof.models.dataflow.value_flow import Place, called
from hloproof.models.errors import NotModelled
from hloproof.models.expressions.evaluate import evaluate
from hloproof.models.expressions.expr import Expr, Var, substitute
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.indexing.composition.composer import Composer
from hloproof.models.indexing.composition.module_maps import followed_maps, plain_composer
from hloproof.models.indexing.composition.route import OUTPUT_TO_INPUT
from hloproof.models.indexing.map_set import OperandMaps
from hloproof.models.layouts.memory_size import element_bits
from hloproof.models.layouts.physical import layout_of, part_count
from hloproof.models.layouts.tiling import position_expression
from hloproof.models.maps.indexing_map import IndexingMap

CLAIM = "hazard-in-place"
_SAME_POSITIONS = frozenset({"bitcast", "reshape"})


@dataclass(frozen=True, slots=True)
class _Written:
    """What a fusion writes into the buffer of a parameter: `value`, element by element, into a window of an array that
    lies there. Without `update` the window is the whole result."""

    result: str
    """The part of the root, by its instruction."""
    number: int
    """The parameter."""
    update: Instruction | None
    declared: bool
    """The module says so; otherwise a compiler does it where it can."""
    sure: bool = True
    """The window lies in the parameter's own bytes, not in what a reshape may have copied."""

    def shape(self, body: Computation) -> ArrayShape | None:
        """The array that is written into."""
        name = self.result if self.update is None else self.update.operands[0]
        found = body.by_name[name].shape
        return found if isinstance(found, ArrayShape) else None

    @property
    def value(self) -> str:
        return self.result if self.update is None else self.update.operands[1]


def hazard_in_place(context: Context) -> Iterator[Judgement]:
    """Owed by every fusion that ends in an update of one of its parameters, or declares a result as an operand's
    alias."""
    module = context.chains.module
    composer: Composer | None = None
    for computation in module.computations:
        for i in computation.instructions:
            body = module.find(called(i, "calls")) if i.opcode == "fusion" else None
            for written in _written_by(module, i, body) if body is not None else ():
                assert body is not None
                composer = composer or plain_composer(module)
                place = Place(computation.name, i.name)
                numbers = _in_one_buffer(context, computation, i, written.number)
                found = _Fusion(composer, body, place, context.how).judge(written, numbers)
                if found.problem is not None and not written.sure:
                    found = Judgement(CLAIM, place, unknown=f"whether it works in place: if so, {found.problem}")
                elif found.problem is not None and not written.declared and not context.scheduled:
                    # Whether a fusion works in place is not decided before copies are inserted.
                    found = Judgement(CLAIM, place, note=f"{NEEDS_COPY}: not in place, for {found.problem}")
                yield found


def _written_by(module: Module, i: Instruction, body: Computation) -> Iterator[_Written]:
    root = body.root
    results = root.operands if root.opcode == "tuple" else (root.name,)
    seen: set[tuple[tuple[int, ...], int]] = set()
    for output, number, _ in fused_in_place(module, i):
        name = results[output[0]] if output else root.name
        seen.add((output, number))
        yield _Written(name, number, updating(body.by_name, name), False)
    for entry in aliasing_of(i):
        key = (entry.output_index, entry.operand)
        named = len(entry.output_index) == (1 if root.opcode == "tuple" else 0)
        inside = not entry.output_index or entry.output_index[0] < len(results)
        if named and inside and key not in seen and not entry.operand_index and 0 <= entry.operand < len(i.operands):
            seen.add(key)
            yield _Written(
                results[entry.output_index[0]] if entry.output_index else root.name, entry.operand, None, True
            )
    for k, name in enumerate(results):
        output = (k,) if root.opcode == "tuple" else ()
        update = updating(body.by_name, name)
        if update is None or parameter_behind(body, update.operands[0]) is not None:
            continue
        behind = _behind_reshapes(body, update.operands[0])
        if behind is not None and behind < len(i.operands) and (output, behind) not in seen:
            yield _Written(name, behind, update, False, sure=False)


def _behind_reshapes(body: Computation, name: str) -> int | None:
    """The parameter whose elements, in the order of memory, an array has; None where it has others."""
    i = body.by_name[name]
    while i.opcode in _SAME_POSITIONS:
        i = body.by_name[i.operands[0]]
    return i.parameter_number if i.opcode == "parameter" else None


def _in_one_buffer(context: Context, computation: Computation, i: Instruction, number: int) -> tuple[int, ...]:
    """The operands that lie in the buffer of operand `number`, itself first."""
    others = [n for n in range(len(i.operands)) if n != number]
    if not others:
        return (number,)
    local = scene_of(context).locals.get(computation.name)

    def buffer(n: int) -> object:
        name = i.operands[n]
        return name if local is None or (name, ()) not in local.version else local.buffer((name, ()))

    return (number, *(n for n in others if buffer(n) == buffer(number)))


class _Fusion:
    """One fusion, and how what is owed of it is proved."""

    def __init__(self, composer: Composer, body: Computation, place: Place, how: How) -> None:
        self._composer, self._body, self._place, self._how = composer, body, place, how

    def judge(self, written: _Written, numbers: tuple[int, ...]) -> Judgement:
        """Nothing that lies in the buffer is read after it was written."""
        body, update = self._body, written.update
        root = body.root
        others = [n for n in dict.fromkeys(root.operands) if n != written.result] if root.opcode == "tuple" else []
        try:
            for other in others:
                if self._reads(other, numbers):
                    name = body.parameters[written.number].name
                    return self._unknown(f"the result {other} of the fusion reads {name}, too")
            if update is not None and update.opcode == "scatter":
                # A scatter's operands come first, as many as updates; what else it names must not read the buffer.
                if any(self._reads(n, numbers) for n in update.operands[len(update.operands) // 2 :]):
                    return self._unknown("a fused scatter that reads its buffer: what it writes is not followed")
                return Judgement(CLAIM, self._place)
            for name in update.operands[2:] if update is not None else ():
                if self._reads(name, numbers):
                    return self._unknown(f"the start index {name} is read from the buffer that is written")
            return self._window(written, self._reads(written.value, numbers))
        except NotModelled as reason:
            return self._unknown(str(reason))

    def _unknown(self, why: str) -> Judgement:
        return Judgement(CLAIM, self._place, unknown=why)

    def _reads(self, name: str, numbers: tuple[int, ...]) -> list[OperandMaps]:
        """What an instruction of the body reads of some parameters."""
        i = self._body.by_name[name]
        if not isinstance(i.shape, ArrayShape):
            raise NotModelled(f"the result {name} of the fusion is no array")
        found = followed_maps(self._composer, self._body, i, OUTPUT_TO_INPUT)
        return [s for s in found if s.operand in numbers and (s.maps or s.unknown)]

    def _window(self, written: _Written, reads: list[OperandMaps]) -> Judgement:
        engines: set[str] = set()
        for found in reads:
            if found.unknown:
                return self._unknown(found.unknown)
            for m in found.maps:
                values = StartValues(self._body)
                obligation, element, index = obligation_of(self._body, written, found.operand, m, values)
                outcome = prove_one(obligation, self._how)
                engines |= set(outcome.engines)
                if outcome.verdict == "refuted":
                    judgement = self._refuted(written, found, values, outcome, element, index)
                    return replace(judgement, engines=tuple(sorted(engines)))
                if outcome.verdict != "proved":
                    internal = outcome.verdict == "internal"
                    return replace(self._unknown(outcome.reason), internal=internal, final=outcome.final)
        return Judgement(CLAIM, self._place, engines=tuple(sorted(engines)))

    def _refuted(
        self,
        written: _Written,
        found: OperandMaps,
        values: StartValues,
        outcome: Outcome,
        element: tuple[Expr, ...],
        index: tuple[Expr, ...],
    ) -> Judgement:
        """What a counterexample to one map's obligation shows, if what is read there is followed exactly."""
        name = self._body.parameters[found.operand].name
        if values.computed:
            return self._unknown(f"the start index {values.computed[0]} is computed: not followed")
        if found.kind == "bound":
            return self._unknown(f"what the update reads of {name} is known as a bound only")
        model = dict(outcome.model)
        own = {f"w{k}": model.get(f"d{k}", 0) for k in range(len(element))}
        read = ", ".join(str(evaluate(e, model)) for e in index)
        made = ", ".join(str(evaluate(e, model | own)) for e in element)
        over = ", ".join(str(evaluate(e, model)) for e in element)
        what = "the result" if written.update is None else f"the update in place of {written.update.name}"
        line = self._body.by_name[written.result if written.update is None else written.update.name].position.line
        return Judgement(
            CLAIM,
            self._place,
            f"element [{made}] of {self._place.instruction} is computed from {name}[{read}], which {what} (line "
            f"{line}) overwrites as well, with element [{over}]",
        )


def obligation_of(
    body: Computation, written: _Written, number: int, m: IndexingMap, values: StartValues
) -> tuple[Obligation, tuple[Expr, ...], tuple[Expr, ...]]:
    """For every element w that is written and every element d that is made from what it reads: the two lie apart, or d
    is w. With the element that w is written to and the index that d reads. Raises NotModelled."""
    target, source = written.shape(body), body.parameters[number].shape
    window = body.by_name[written.value].shape
    if target is None or not isinstance(source, ArrayShape) or not isinstance(window, ArrayShape):
        raise NotModelled("a fusion in place on something that is no array")
    if m.replica is not None:
        raise NotModelled("what is read lies on another device")
    variables = [(f"w{k}", Interval.of_size(n)) for k, n in enumerate(window.dimensions)]
    variables += [(name, interval) for name, interval in m.intervals() if not name.startswith("rt")]
    reads = {f"rt{k}": values.read(r) for k, r in enumerate(m.runtime)}
    element: list[Expr] = [Var(f"w{k}") for k in range(window.rank)]
    if written.update is not None:
        names = written.update.operands[2:]
        if len(names) != target.rank or window.rank != target.rank:
            raise NotModelled("the start indices are not scalars")
        for k, (name, size, extent) in enumerate(zip(names, target.dimensions, window.dimensions, strict=True)):
            start = values.start(name, Interval(0, size - extent))
            if start is None:
                raise NotModelled("the start indices are not scalars")
            element[k] = start + element[k]
    index = tuple(substitute(e, reads) for e in m.results)
    met: list[Formula] = [within(substitute(c.expr, reads), c.interval) for c in m.constraints]
    if target.dimensions == source.dimensions and layout_of(target) == layout_of(source):
        met += [eq(a, b) for a, b in zip(element, index, strict=True)]
    else:
        if element_bits(target) != element_bits(source):
            raise NotModelled("a bitcast between elements of other widths")
        met.append(eq(_position(target, tuple(element)), _position(source, index)))
    same = conj(*(eq(Var(f"w{k}"), Var(f"d{k}")) for k in range(window.rank)))
    every = (*variables, *values.variables.items())
    return Obligation(every, same, conj(*met), "no element is read after it was overwritten"), tuple(element), index


def _position(shape: ArrayShape, index: tuple[Expr, ...]) -> Expr:
    if part_count(shape) > 1:
        raise NotModelled("an array split over memories")
    return substitute(position_expression(shape), {f"d{k}": e for k, e in enumerate(index)})
