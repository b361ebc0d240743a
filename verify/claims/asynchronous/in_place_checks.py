"""Fusions that work in place: what they read of the buffer lies outside of what they write, or is the element itself.

A fusion works in place where it ends in an update of a parameter, and where it declares a result as the alias of an
operand. Its elements are made in any order, so none may be read after another one was written over it. Where the same
bytes have two names, through bitcasts or because a fusion is handed one buffer twice, positions in memory are compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

from hloproof.claims.asynchronous.computation_checks import aliasing_of
from hloproof.claims.asynchronous.hazard_checks import scene_of
from hloproof.claims.asynchronous.in_place_flights import (
    HELD,
    declares_its_result,
    told_at_its_start,
    updates_beside,
    with_all_operands,
)
from hloproof.claims.asynchronous.in_place_steps import FusedReader, FusedWriter, Stated, Written, state, writer_of
from hloproof.claims.asynchronous.judgement import NEEDS_COPY, Context, Judgement, judged
from hloproof.claims.asynchronous.loop_turns import turns_of
from hloproof.claims.asynchronous.start_values import Given
from hloproof.engines.door import How, prove_one
from hloproof.logic.obligation import Outcome
from hloproof.logic.replay import careful
from hloproof.models.dataflow.accesses import UNSEEN, InPlaceWrite
from hloproof.models.dataflow.alias_classes import shape_at
from hloproof.models.dataflow.async_chain import link_of, work_of
from hloproof.models.dataflow.in_place import fused_in_place, in_place_operand, is_update, parameter_behind, updating
from hloproof.models.dataflow.steps import HANDED_ON, SIZES, handed_on, looks_at_sizes, not_by_steps
from hloproof.models.dataflow.value_flow import HloPosition, called
from hloproof.models.dataflow.versions import PASS_ON
from hloproof.models.errors import NotModelled
from hloproof.models.expressions.evaluate import evaluate
from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.hlo.opcodes import ELEMENTWISE, IN_STEPS
from hloproof.models.hlo.shape import ArrayShape, Shape, ShapeIndex, TupleShape
from hloproof.models.indexing.composition.composer import Composer
from hloproof.models.indexing.composition.module_maps import followed_maps, plain_composer
from hloproof.models.indexing.composition.route import OUTPUT_TO_INPUT
from hloproof.models.indexing.map_set import OperandMaps
from hloproof.models.layouts.bitcast import is_decomposable, reshape_is_bitcast
from hloproof.models.layouts.memory_size import element_bits, is_sized
from hloproof.models.layouts.physical import check_dense, layout_of
from hloproof.models.maps.indexing_map import IndexingMap
from hloproof.results.verdict import Verdict

CLAIM = "hazard-in-place"
OWN_ARRAY = "what is updated is computed inside of the fusion, so it is not an operand's buffer"
_RESHAPED = "whether it works in place through a reshape, which only a memory plan tells"
_PERHAPS = "whether its result lies where an operand does, as it may by what is called or who calls"
_BOUND_LATER = "which operands it is given after its start, and where its result lies then, is not followed"
_SAME_POSITIONS = frozenset({"bitcast", "reshape"})
_JUDGED_INSIDE = PASS_ON | IN_STEPS | {"async"}
_ONE_BY_ONE = frozenset({"all-reduce", "sort"})
"""Result k may lie where operand k lay, and XLA's runtimes work there; of these a sort begins with copies to there."""
_BY_ELEMENTS = ELEMENTWISE | _ONE_BY_ONE | {"copy", "bitcast-convert"}


def hazard_in_place(context: Context) -> Iterator[Judgement]:
    """Owed by every fusion that ends in an update, or declares a result as an operand's alias; once copies are inserted
    by every instruction that makes its result where it reads, or may do so."""
    module = context.chains.module
    composer: Composer | None = None
    for computation in module.computations:
        for instruction in computation.instructions:
            if told_at_its_start(context, computation, instruction):
                continue
            whole = with_all_operands(context, computation, instruction)
            i = _inside(whole or instruction)
            body = module.find(called(i, "calls")) if i.opcode == "fusion" else None
            if whole is None:
                if _owes(context, computation, i, body):
                    yield judged(CLAIM, HloPosition(computation.name, i.name), unknown=_BOUND_LATER)
                continue
            alone = () if body is None else tuple(_written_by(module, i, body))
            over = sorted(_shared_with_operands(context, computation, whole), key=lambda o: not o.surely)
            arrays = (o for o in over if isinstance(computation.by_name[i.operands[o.number]].shape, ArrayShape))
            by_steps = () if body is None else tuple(arrays)
            yield from _without_steps(computation, i, (o for o in over if o not in by_steps))
            for written in (*alone, *_made_over(body, by_steps, alone)) if body is not None else ():
                assert body is not None
                composer = composer or plain_composer(module)
                place = HloPosition(computation.name, i.name)
                numbers = _in_one_buffer(context, computation, i, written.number)
                given = Given(computation, i, computation is module.entry, turns_of(module, computation))
                fusion = _Fusion(composer, body, given, context.how)
                found = fusion.judge(written, numbers)
                more = _perhaps_in_one_buffer(context, computation, i, written) if found.problem is None else ()
                if found.found.verdict is Verdict.PROVED and more:
                    every = tuple(dict.fromkeys((*numbers, *more)))
                    as_one = found if every == numbers else fusion.judge(written, every)
                    # Nor may two results be written over one array.
                    both = any(w.number in every[1:] for w in alone)
                    if both or as_one.found.verdict is not Verdict.PROVED:
                        found = fusion.may_be_one_array(written)
                if found.problem is not None and written.doubt and context.shares:
                    found = judged(CLAIM, place, unknown=f"{written.doubt}: if so, {found.problem}")
                elif found.problem is not None and not written.declared and not context.shares:
                    # Whether a fusion works in place is not decided before copies are inserted.
                    found = judged(CLAIM, place, note=f"{NEEDS_COPY}: not in place, for {found.problem}")
                yield found
            if body is not None and any(not is_update(body, *p[:2]) for p in fused_in_place(module, i)):
                told = "it makes in place what is no update of a parameter: which steps read and write is not modelled"
                yield judged(CLAIM, HloPosition(computation.name, i.name), unknown=told)
            if body is not None and _declares_another(module, i):
                told = "its result is declared to lie in another operand than the one that it is an update of"
                yield judged(CLAIM, HloPosition(computation.name, i.name), unknown=told)
            if body is not None and _makes_what_it_updates(body):
                yield judged(CLAIM, HloPosition(computation.name, i.name), note=OWN_ARRAY)


@dataclass(frozen=True, slots=True)
class _Over:
    """A part of a result that lies where an operand does."""

    at: ShapeIndex
    number: int
    """The operand's."""
    surely: bool
    """Otherwise it may lie there, by what is called, or who calls."""


def _shared_with_operands(context: Context, computation: Computation, i: Instruction) -> Iterator[_Over]:
    """Results that lie in the buffer of an operand because loops, branches, calls or the module's aliases share it, or
    may do so. What a call runs, or a generic start, is judged inside of it."""
    local = scene_of(context).locals.get(computation.name) if context.shares else None
    if local is None or work_of(i.opcode) in _JUDGED_INSIDE:
        return
    # The result may be bound by an update, and it may not show where an update binds what is written.
    links = [i.name, *(u.name for u in updates_beside(context, computation, i))]
    writes = [w for w in local.writes if w.writer in links]
    unseen = [w.result for w in writes if w.result[1][:1] == (UNSEEN,)]
    # What a fusion reads of what it updates, its maps tell; of any other update the other operands lie elsewhere.
    updated = {w.result: w.operand[0] for w in writes if w.result in unseen or _in_its_place(computation, w)}
    if work_of(i.opcode) == "fusion":
        updated, unseen = {}, []
    for spot in [*chain.from_iterable(local.leaves(name) for name in links), *unseen]:
        if local.version.get(spot, spot) != spot:
            continue
        first = updated.get(spot)
        own = i.operands.index(first) if first in i.operands else None
        # The end of what flies makes nothing: that its result lies where an operand was, its start tells.
        link = link_of(i.opcode)
        ends = link is not None and link.role == "done"
        flew = [place for place, _ in local.where_it_flew(i, spot)] if ends else []
        for n, operand in enumerate(i.operands):
            others = (read for read in local.leaves(operand) if n != own and read not in flew)
            there = [read for read in others if local.place(read) == local.place(spot)]
            if there:
                # Of a fusion in flight the result is what the fusion makes.
                at = spot[1][1:] if i.opcode == "fusion-start" else spot[1]
                yield _Over(at, n, any(local.buffer(read) == local.buffer(spot) for read in there))


def _in_its_place(computation: Computation, write: InPlaceWrite) -> bool:
    """What is not written lies where the operand has it."""
    (name, at), (operand, index) = write.result, write.operand
    return _lie_alike(
        shape_at(computation.by_name[name].shape, at), shape_at(computation.by_name[operand].shape, index)
    )


def _made_over(body: Computation, over: Iterable[_Over], alone: Iterable[Written]) -> Iterator[Written]:
    """What a fusion writes where it reads, beside the results that it updates or declares in that very buffer."""
    places = {(o.at, o.number): o.surely for o in over}
    judged_already = {("", w.at) for w in alone if (w.at, w.number) in places}
    for (at, number), surely in places.items():
        result = _made_at(body, at, number)
        key = (result, () if result == body.root_name else at)
        if ("", at) not in judged_already and key not in judged_already:
            judged_already.add(key)
            yield Written(result, number, None, True, "" if surely else _PERHAPS, key[1])


def _made_at(body: Computation, at: ShapeIndex, number: int) -> str:
    """What a fusion makes as a part of its result in the buffer of a parameter. An array is sorted where it stands, as
    outside of a fusion; of any other step that makes several arrays nothing is known but the whole of it."""
    root = body.root
    if root.opcode == "sort" and not at and parameter_behind(body, root.operands[0]) == number:
        return root.operands[0]
    if len(at) != 1 or not 0 <= at[0] < len(root.operands):
        return body.root_name
    part = root.operands[at[0]]
    known = root.opcode == "tuple" or (root.opcode == "sort" and parameter_behind(body, part) == number)
    return part if known else body.root_name


def _without_steps(computation: Computation, i: Instruction, over: Iterable[_Over]) -> Iterator[Judgement]:
    """An instruction that is no fusion and makes its result where it reads: right element by element, which owes
    nothing."""
    for o in over:
        # Of several arrays that are reduced or sorted in one step one may be written before another is read.
        apart = work_of(i.opcode) in _ONE_BY_ONE and o.at not in ((), (o.number,))
        operand = i.operands[o.number]
        alike = _lie_alike(shape_at(i.shape, o.at), computation.by_name[operand].shape)
        # A sum that XLA gives a second buffer needs one.
        apart = apart or (i.opcode == "all-reduce-start" and not in_place_operand(i))
        if work_of(i.opcode) not in _BY_ELEMENTS or apart or not alike:
            told = f"{i.name} {'makes' if o.surely else 'may make'} its result in the buffer of {operand}: in which "
            told += f"order a {i.opcode} reads and writes is not modelled"
            yield judged(CLAIM, HloPosition(computation.name, i.name), unknown=told)
            return


def _lie_alike(a: Shape | None, b: Shape | None) -> bool:
    """Equal indices lie in equal places of one buffer."""
    if not isinstance(a, ArrayShape) or not isinstance(b, ArrayShape):
        return False
    one, other = (replace(layout_of(x), element_bits=0, tail_padding=0, memory_space=0) for x in (a, b))
    try:
        check_dense(a)
        return (a.dimensions, element_bits(a), one) == (b.dimensions, element_bits(b), other)
    except NotModelled:
        return False  # where their elements lie is not known


def _owes(context: Context, computation: Computation, i: Instruction, body: Computation | None) -> bool:
    """Whether something may be owed of an operation in flight of which not all operands are known."""
    if work_of(i.opcode) in _JUDGED_INSIDE:
        return False
    if context.shares or body is None:
        return context.shares
    declared = aliasing_of(i) or any(declares_its_result(u) for u in updates_beside(context, computation, i))
    given = replace(i, operands=tuple(p.name for p in body.parameters), shape=body.root.shape)
    return bool(declared) or any(True for _ in _written_by(context.chains.module, given, body))


def _inside(i: Instruction) -> Instruction:
    """The fusion that a start wraps; any other instruction as it is."""
    if i.opcode != "fusion-start" or not isinstance(i.shape, TupleShape) or len(i.shape.elements) < HELD:
        return i
    return replace(i, opcode="fusion", shape=i.shape.elements[1])


def _declares_another(module: Module, i: Instruction) -> bool:
    """Compilers take both for one buffer, which only one of them is here."""
    declared = {entry.output_index: entry.operand for entry in aliasing_of(i)}
    return any(declared.get(output, number) != number for output, number, _ in fused_in_place(module, i))


def _makes_what_it_updates(body: Computation) -> bool:
    """Some result is an update of an array that the fusion computes: no operand's buffer is written."""
    results = body.root.operands if body.root.opcode == "tuple" else (body.root.name,)
    updates = [updating(body.by_name, name) for name in results]
    return any(u is not None and _behind_reshapes(body, u.operands[0]) is None for u in updates)


def _written_by(module: Module, i: Instruction, body: Computation) -> Iterator[Written]:
    root = body.root
    results = root.operands if root.opcode == "tuple" else (root.name,)
    seen: set[tuple[tuple[int, ...], int]] = set()
    declared = [(entry.output_index, entry.operand) for entry in aliasing_of(i)]
    for output, number, _ in (p for p in fused_in_place(module, i) if is_update(body, *p[:2])):
        name = results[output[0]] if output else root.name
        seen.add((output, number))
        yield Written(name, number, updating(body.by_name, name), (output, number) in declared, at=output)
    for key in declared:
        if key not in seen and 0 <= key[1] < len(i.operands):
            seen.add(key)
            yield Written(_made_at(body, *key), key[1], None, True, at=key[0])
    for k, name in enumerate(results):
        output = (k,) if root.opcode == "tuple" else ()
        update = updating(body.by_name, name)
        if update is None or parameter_behind(body, update.operands[0]) is not None:
            continue
        behind = _behind_reshapes(body, update.operands[0])
        if behind is not None and behind < len(i.operands) and (output, behind) not in seen:
            yield Written(name, behind, update, False, _RESHAPED, output)


def _behind_reshapes(body: Computation, name: str) -> int | None:
    """The parameter whose elements, in the order of memory, an array has; None where it has others, as behind a reshape
    that is no bitcast by the layouts that are given: that one makes an array of its own."""
    i = body.by_name[name]
    while i.opcode in _SAME_POSITIONS:
        source = body.by_name[i.operands[0]]
        if i.opcode == "reshape" and _moves_elements(source.shape, i.shape):
            return None
        i = source
    return i.parameter_number if i.opcode == "parameter" else None


def _moves_elements(operand: Shape, result: Shape) -> bool:
    """The layouts are written, and by them a reshape does not leave every element at its place in memory."""
    if not isinstance(operand, ArrayShape) or not isinstance(result, ArrayShape):
        return False
    given = operand.layout is not None and result.layout is not None
    return given and is_decomposable(operand, result) and not reshape_is_bitcast(operand, result)


def _in_one_buffer(context: Context, computation: Computation, i: Instruction, number: int) -> tuple[int, ...]:
    """The operands that lie, or of which a part lies, in the buffer of operand `number`, itself first."""
    others = [n for n in range(len(i.operands)) if n != number]
    if not others:
        return (number,)
    local = scene_of(context).locals.get(computation.name)

    def buffers(n: int) -> set[object]:
        name = i.operands[n]
        return {name} if local is None else {name, *(local.buffer(spot) for spot in local.leaves(name))}

    own = buffers(number)
    return (number, *(n for n in others if not own.isdisjoint(buffers(n))))


def _perhaps_in_one_buffer(
    context: Context, computation: Computation, i: Instruction, written: Written
) -> tuple[int, ...]:
    """The operands that may lie in the buffer of what is written: some way in hands over one array twice, or nobody
    knows that none does. Of what a fusion or a custom call runs nothing is known."""
    others = tuple(n for n in range(len(i.operands)) if n != written.number)
    local = scene_of(context).locals.get(computation.name)
    if local is None:
        return others
    if not context.shares and not written.declared:
        return ()  # copies are still to be put in

    def places(n: int) -> list[HloPosition]:
        return [HloPosition(computation.name, *spot) for spot in local.leaves(i.operands[n])]

    own, equal = places(written.number), local.equal
    there = {local.place(spot) for spot in local.leaves(i.operands[written.number])}
    through = not context.shares  # once buffers are shared it is known what lies where, as far as ways in are

    def may_lie_there(n: int) -> bool:
        lies = any(local.place(spot) in there for spot in local.leaves(i.operands[n]))
        return lies or any(equal.may_be_one(a, b, through=through) for a in own for b in places(n))

    return tuple(n for n in others if may_lie_there(n))


class _Fusion:
    """One fusion, and how what is owed of it is proved."""

    def __init__(self, composer: Composer, body: Computation, given: Given, how: How) -> None:
        self._composer, self._body, self._given = composer, body, given
        self._prove = careful(partial(prove_one, how=how))
        self._place = HloPosition(given.computation.name, given.call.name)

    def judge(self, written: Written, numbers: tuple[int, ...]) -> Judgement:
        """Nothing that lies in the buffer is read after it was written."""
        engines: set[str] = set()
        parameters = (self._body.parameters[n] for n in numbers)
        tuples = [p.name for p in parameters if isinstance(p.shape, TupleShape)]
        if tuples:
            return self._unknown(f"what it reads of the tuple {tuples[0]}, a part of which lies there, is not followed")
        if not self._laid_alike(written, numbers):
            return self._unknown(
                "the fused computation lays its arrays out as the fusion does not, or nobody knows how"
            )
        odd = next(self._odd(written), None)
        if odd is not None:
            return self._unknown(f"what the {odd.opcode} {odd.name} inside of the fusion writes when is not modelled")
        try:
            writer = writer_of(self._body, written)
            for reader in self._readers(written, writer):
                for found in self._reads(reader.name, numbers):
                    if found.unknown:
                        return self._unknown(found.unknown)
                    for m in found.maps:
                        problem = self._one(written, writer, reader, numbers, found, m, engines)
                        if problem is not None:
                            return _asked(problem, engines)
        except NotModelled as reason:
            return self._unknown(str(reason))
        shapes = (self._body.parameters[written.number].shape, self._body.by_name[written.result].shape)
        sized = any(isinstance(s, ArrayShape) and is_sized(s) for s in shapes)
        if sized and looks_at_sizes(self._composer.module, self._given.call):
            return self._unknown(SIZES)
        return judged(CLAIM, self._place, engines=tuple(sorted(engines)))

    def may_be_one_array(self, written: Written) -> Judgement:
        """What is judged apart is not known to be so."""
        name, inside = self._given.call.operands[written.number], self._given.computation.name
        return self._unknown(f"whether {name} and another operand are one array in {inside} is not known")

    def _odd(self, written: Written) -> Iterator[Instruction]:
        """What is not made by one step for each element, and neither judged as an update, here or as another result,
        nor the sort that is all of the fusion, where what it sorts lies."""
        root, by_name = self._body.root, self._body.by_name
        others = (name for name in root.operands if name != written.result) if root.opcode == "tuple" else ()
        judged_so = [written.update, *(updating(by_name, name) for name in others)]
        # What is sorted lies there, and what it is sorted with is not made of it by the fusion.
        in_its_place = root.opcode == "sort" and written.result != root.name
        if in_its_place and all(parameter_behind(self._body, name) is not None for name in root.operands):
            judged_so.append(root)
        inside = not_by_steps(self._composer.module, self._given.call)
        return (i for i in inside if not any(i is j for j in judged_so))

    def _laid_alike(self, written: Written, numbers: tuple[int, ...]) -> bool:
        """The arrays lie in memory as the fused computation says."""
        call, outside = self._given.call, self._given.computation.by_name
        pairs = [(outside[call.operands[n]].shape, self._body.parameters[n].shape) for n in numbers]
        pairs.append((shape_at(call.shape, written.at) or call.shape, self._body.by_name[written.result].shape))
        if written.update is not None:
            pairs.append((written.update.shape, self._body.by_name[written.update.operands[0]].shape))
        return all(_lie_alike(a, b) for a, b in pairs)

    def _readers(self, written: Written, writer: FusedWriter) -> Iterator[FusedReader]:
        """What is computed while the buffer is written: where to write, what is written, and the other results."""
        root, by_name = self._body.root, self._body.by_name
        for name in dict.fromkeys(written.starts):
            # Looked up in every step: nothing may have been written over it.
            yield FusedReader(name, None, f"the start index {name} is read from the buffer that is written")
        for name in written.values:
            yield FusedReader(name, writer.made, "")
        for k, name in enumerate(root.operands if root.opcode == "tuple" else ()):
            if (k,) == written.at:
                continue
            also = f"the result {name} of the fusion reads {self._body.parameters[written.number].name}, too"
            # Of whole results of one size all that a step makes is made before any is written. An update beside, and
            # what is beside an update, has steps of its own.
            shape = by_name[name].shape
            alike = _lie_alike(shape, shape_at(self._given.call.shape, (k,)))
            together = alike and written.update is None and updating(by_name, name) is None
            yield FusedReader(name, shape if together and isinstance(shape, ArrayShape) else None, also)

    def _unknown(self, why: str) -> Judgement:
        return judged(CLAIM, self._place, unknown=why)

    def _reads(self, name: str, numbers: tuple[int, ...]) -> list[OperandMaps]:
        """What an instruction of the body reads of some parameters."""
        i = self._body.by_name[name]
        if not isinstance(i.shape, ArrayShape):
            raise NotModelled(f"the result {name} of the fusion is no array")
        found = followed_maps(self._composer, self._body, i, OUTPUT_TO_INPUT)
        return [s for s in found if s.operand in numbers and (s.maps or s.unknown)]

    def _one(
        self,
        written: Written,
        writer: FusedWriter,
        reader: FusedReader,
        numbers: tuple[int, ...],
        found: OperandMaps,
        m: IndexingMap,
        engines: set[str],
    ) -> Judgement | None:
        """What is wrong with, or not known of, what one map says is read; None where nothing is."""
        stated = state(self._composer, self._body, self._given, writer, reader, found.operand, m)
        outcome = self._prove(stated.obligation)
        engines |= set(outcome.engines)
        if outcome.verdict == "proved":
            return None
        if outcome.verdict == "refuted":
            if self._holds_in_every_turn(stated, engines):
                return None
            kept = self._kept(written, numbers)
            if kept:  # in another step, then, than one that writes what lies there already
                stated = state(self._composer, self._body, self._given, writer, reader, found.operand, m, kept)
                outcome = self._prove(stated.obligation)
                engines |= set(outcome.engines)
                if outcome.verdict == "proved":
                    return self._unknown(HANDED_ON)
        if outcome.verdict == "refuted":
            return self._refuted(written, reader, found, stated, outcome)
        internal = outcome.verdict == "internal"
        return judged(CLAIM, self._place, unknown=outcome.reason, internal=internal, final=outcome.final)

    def _kept(self, written: Written, numbers: tuple[int, ...]) -> list[tuple[int, IndexingMap]]:
        """What the steps that write read, each with its parameter, if they may hand it on as it is. Raises
        NotModelled."""
        module, update = self._composer.module, written.update
        combiner = None if update is None else module.find(called(update, "to_apply"))
        if combiner is not None:
            chosen = handed_on(module, combiner, [combiner.root_name])
            if 0 in chosen:  # what is there already
                raise NotModelled(HANDED_ON)
            if not chosen:
                return []
        if not handed_on(module, self._body, written.values):
            return []
        found = [s for name in written.values for s in self._reads(name, numbers)]
        if any(s.unknown or s.kind == "bound" for s in found):
            raise NotModelled(HANDED_ON)
        return [(s.operand, m) for s in found for m in s.maps]

    def _holds_in_every_turn(self, stated: Stated, engines: set[str]) -> bool:
        """What fails for some numbers holds for all that the counters of the loop around ever are."""
        if not stated.values.turns.are_all:
            return False
        outcomes = [self._prove(fixed) for fixed, _ in stated.values.in_turns(stated.obligation)]
        engines |= {e for o in outcomes for e in o.engines}
        return all(o.verdict == "proved" for o in outcomes)

    def _model(self, stated: Stated, outcome: Outcome) -> dict[str, int] | None:
        """A counterexample whose values may come up; None where none is known."""
        if not stated.values.computed:
            return dict(outcome.model)
        values = stated.values
        tried = values.in_turns(stated.obligation) if values.counted_only else iter(())
        for fixed, numbers in chain(values.with_small_numbers(stated.obligation), tried):
            found = self._prove(fixed)
            if found.verdict == "refuted":
                return dict(found.model) | numbers
        return None

    def _refuted(
        self, written: Written, reader: FusedReader, found: OperandMaps, stated: Stated, outcome: Outcome
    ) -> Judgement:
        """What a counterexample to one map's obligation shows, if what is read there is followed exactly."""
        name = self._body.parameters[found.operand].name
        if not stated.one_order:
            return self._unknown(f"{reader.also}, and when, against what is written, is not said")
        if found.kind == "bound":
            return self._unknown(f"what the update reads of {name} is known as a bound only")
        model = self._model(stated, outcome)
        if model is None:
            return self._unknown(f"the start index {stated.values.computed[0]} is computed: not followed")
        read = ", ".join(str(evaluate(e, model)) for e in stated.index)
        over = ", ".join(str(evaluate(e, model)) for e in stated.element)
        what = "the result" if written.update is None else f"the update in place of {written.update.name}"
        line = self._body.by_name[written.result if written.update is None else written.update.name].position.line
        step = ", ".join(str(model.get(f"d{k}", 0)) for k in range(reader.made.rank if reader.made else 0))
        if reader.also:
            made = f"element [{step}] of the result {reader.name} of {self._place.instruction}"
        elif written.update is not None and written.update.opcode == "scatter":
            made = f"update [{step}] of {self._place.instruction}"
        else:
            own = {f"w{k}": model.get(f"d{k}", 0) for k in range(len(stated.element))}
            step = ", ".join(str(evaluate(e, model | own)) for e in stated.element)
            made = f"element [{step}] of {self._place.instruction}"
        return judged(
            CLAIM,
            self._place,
            f"{made} is computed from {name}[{read}], which {what} (line {line}) overwrites as well, with element "
            f"[{over}]",
        )


def _asked(j: Judgement, engines: Iterable[str]) -> Judgement:
    """The same, with the engines that were asked where something is refuted."""
    return j if j.problem is None else judged(CLAIM, j.place, j.problem, engines=tuple(sorted(engines)))
