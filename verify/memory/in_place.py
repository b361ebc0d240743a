"""plan-in-place: where an output lies over an operand of the same instruction, no element is read after the write of
another element has destroyed it, whatever order the elements are made in. By the indexing maps, bit for bit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Final

from hloproof.claims.asynchronous.judgement import Judgement
from hloproof.claims.asynchronous.start_values import Given, StartValues
from hloproof.engines.door import HOW, How, Prove, prove_one
from hloproof.logic.formula import FALSE, TRUE, Formula, Not, conj, eq, le
from hloproof.logic.obligation import Obligation, Outcome
from hloproof.logic.replay import careful
from hloproof.memory.custom_calls import stated_of_custom_call
from hloproof.memory.flights import works_in_place
from hloproof.memory.kernels import KernelReading, Kernels, Making
from hloproof.memory.plan import Plan, judged, laid_out_alike
from hloproof.memory.runtime_values import fails_whatever_is_read
from hloproof.models.dataflow.async_chain import declared_aliases, link_of
from hloproof.models.dataflow.in_place import in_place_operand
from hloproof.models.dataflow.steps import HANDED_ON, SIZES, looks_at_sizes, takes_parts
from hloproof.models.errors import NotModelled
from hloproof.models.expressions.evaluate import evaluate
from hloproof.models.expressions.expr import Const, Expr, Var, substitute
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.module import Instruction
from hloproof.models.hlo.shape import ArrayShape, TupleShape
from hloproof.models.layouts.memory_size import element_bits, is_indexed_alike, is_sized
from hloproof.models.layouts.physical import layout_of, part_count
from hloproof.models.layouts.tiling import position_expression
from hloproof.models.maps.indexing_map import IndexingMap, RuntimeVariable, dim
from hloproof.models.memory.assignment import Key, Slice

IN_PLACE: Final = "plan-in-place"
_ELEMENTWISE_COLLECTIVES: Final = frozenset({"all-reduce", "all-reduce-start"})


def in_place(plan: Plan, how: How = HOW) -> Iterator[Judgement]:
    """One judgement for each output that shares bytes with an operand of the same instruction."""
    kernels = Kernels(plan)
    prove = lru_cache(maxsize=4096)(careful(partial(prove_one, how=how)))
    written: dict[str, list[Key]] = {}
    for key, write in plan.liveness.writes.items():
        if key in plan.in_memory:
            written.setdefault(write.instruction, []).append(key)
    for name, keys in written.items():
        pairs = list(_overlapping(plan, name, keys))
        if pairs:
            yield from _judge(plan, kernels, plan.instruction(name), pairs, prove)


def _overlapping(plan: Plan, name: str, keys: list[Key]) -> Iterator[tuple[Key, int, Key]]:
    """An output, an operand's number, the value read: those that share bytes."""
    for n, value in plan.reads_at(name):
        found = plan.in_memory.get(value)
        if found is None:
            continue
        for key in keys:
            if key != value and plan.overlap(plan.in_memory[key][1], found[1]):
                yield key, n, value


def _judge(
    plan: Plan, kernels: Kernels, i: Instruction, pairs: list[tuple[Key, int, Key]], prove: Prove
) -> Iterator[Judgement]:
    undecided = []
    for key, n, value in pairs:
        found = _by_rule(plan, i, key, n, value)
        if found is None:
            undecided.append((key, n, value))
        else:
            yield found
    if not undecided:
        return
    over: dict[tuple[int, ...], set[Key]] = {}
    for key, _, value in pairs:
        a, b = plan.in_memory[key][1], plan.in_memory[value][1]
        if plan.extent(a) == plan.extent(b):
            over.setdefault(key[1], set()).add(value)
    try:
        makings = kernels.makings(i, over)
    except (NotModelled, LookupError) as reason:
        for key, _, value in undecided:
            text = f"{plan.named(key)} lies over {plan.named(value)}: {reason}"
            yield judged(IN_PLACE, plan.place(*key), unknown=text)
        return
    for key, value in dict.fromkeys((key, value) for key, _, value in undecided):
        yield _Pair(plan, i, kernels, makings, prove).judge(key, value)


def _by_rule(plan: Plan, i: Instruction, key: Key, n: int, value: Key) -> Judgement | None:
    """What is known without maps; None where the maps have to say."""
    place = plan.place(*key)
    exact = plan.extent(plan.in_memory[key][1]) == plan.extent(plan.in_memory[value][1])
    both = f"{plan.named(key)} lies over {plan.named(value)}"
    if i.opcode == "custom-call" or (link_of(i.opcode) is not None and i.opcode not in _ELEMENTWISE_COLLECTIVES):
        if exact and _is_declared(plan, i, key, n, value):
            return judged(IN_PLACE, place, assumptions=(f"{i.name} does what its output_to_operand_aliasing says",))
        alike = laid_out_alike(plan.values.values[key].shape, plan.values.values[value].shape)
        if exact and alike and (note := stated_of_custom_call(i, key[1], n)):
            return judged(IN_PLACE, place, assumptions=(note,))
        if i.opcode == "custom-call":
            return judged(
                IN_PLACE, place, unknown=f"{both}, and nothing states what the custom call {i.name} does then"
            )
        allowed = works_in_place(plan, i, key, value)
        if allowed:
            return judged(IN_PLACE, place, assumptions=(f"what {i.name} runs works in the place of what it is given",))
        if allowed is None:
            return judged(IN_PLACE, place, unknown=f"{both}, which another step of {i.name} may read")
        return judged(IN_PLACE, place, f"{both}, which {i.name} may still read while it writes")
    if i.opcode in _ELEMENTWISE_COLLECTIVES:
        alike = laid_out_alike(plan.values.values[key].shape, plan.instruction(i.operands[n]).shape)
        if exact and alike and n == (key[1][0] if key[1] else 0):
            return judged(IN_PLACE, place, assumptions=(f"{i.opcode} may work in place, element by element",))
        told = f"{both}, which is not the operand that it reduces, or not at the same bytes, or not of the same layout"
        return judged(IN_PLACE, place, told)
    return None


def _is_declared(plan: Plan, i: Instruction, key: Key, n: int, value: Key) -> bool:
    """The text declares that the output lies over this very operand. Where the value stands in another place of the
    operands as well, nothing is declared of that one."""
    standing = sum(v == value for _, v in plan.values.places_in(i.operands[n]))
    return standing == 1 and any(
        e.output_index == key[1] and e.operand == n and plan.values.at((i.operands[n], e.operand_index)) == value
        for e in declared_aliases(i)
    )


class _Pair:
    """One output over one value."""

    def __init__(self, plan: Plan, i: Instruction, kernels: Kernels, makings: tuple[Making, ...], prove: Prove) -> None:
        self._plan, self._i, self._makings, self._odd = plan, i, makings, kernels.not_by_steps(i)
        self._assumption = kernels.assumption(i, makings)
        self._prove, self._undecided = prove, list[Outcome]()

    def judge(self, key: Key, value: Key) -> Judgement:
        place = self._plan.place(*key)
        by_position = {m.position: m for m in self._makings}
        writing = by_position.get(key[1])
        if writing is None:
            return judged(IN_PLACE, place, unknown=f"how {self._i.name} makes {self._plan.named(key)} is not modelled")
        if isinstance(self._plan.values.values[value].shape, TupleShape):
            both = f"{self._plan.named(key)} lies over the table {self._plan.named(value)}"
            return judged(IN_PLACE, place, unknown=f"{both}: which steps look it up is not modelled")
        unknown = self._size_beside(key, value) or self._not_by_steps(key, writing, value)
        for making in self._makings:
            for reading in making.readings:
                if reading.value != value:
                    continue
                problem, why = self._judge_reading(key, writing, making, reading)
                if problem is not None:
                    return judged(IN_PLACE, place, problem)
                unknown = unknown or why
        if unknown is not None:
            internal = any(o.verdict == "internal" for o in self._undecided)
            final = all(o.final for o in self._undecided)
            return judged(IN_PLACE, place, unknown=unknown, internal=internal, final=final)
        return judged(IN_PLACE, place, assumptions=(self._assumption,))

    def _size_beside(self, key: Key, value: Key) -> str | None:
        """Why it is not known that sizes are read before they are written over; None where no step looks at one."""
        shape = self._plan.values.values[value].shape  # a size beside what is written alone lies behind what is read
        sized = isinstance(shape, ArrayShape) and is_sized(shape)
        if not sized or not looks_at_sizes(self._plan.module, self._i):
            return None
        return f"{self._plan.named(key)} lies over {self._plan.named(value)}: {SIZES}"

    def _not_by_steps(self, key: Key, writing: Making, value: Key) -> str | None:
        """Why it is not known that an element is written once, after what its step reads."""
        by_itself = any(
            (output, self._plan.values.at((self._i.operands[n], at))) == (key[1], value)
            for output, n, at in in_place_operand(self._i)
        )
        if writing.way in ("scatter", "sort") or by_itself or self._odd is None:
            return None
        both = f"{self._plan.named(key)} lies over {self._plan.named(value)}"
        return f"{both}: what a {self._odd} writes when is not modelled"

    def _judge_reading(
        self, key: Key, writing: Making, making: Making, reading: KernelReading
    ) -> tuple[str | None, str | None]:
        """What is wrong, or why that is not known; (None, None) where nothing is."""
        both = f"{self._plan.named(key)} lies over {self._plan.named(reading.value)}"
        if writing.way == making.way == "sort" and writing.sort == making.sort and writing.replaced == reading.value:
            return None, None  # operands that lie elsewhere are copied first; then all are sorted in place, together
        if reading.maps.unknown:
            found = self._judge_at_any_time(key, writing, making, reading)
            # What a fusion scatters may be read with the very element that it is combined into.
            if making.way == "scatter" and self._i.opcode == "fusion" and found[0] is not None:
                found = None, f"{both}: {reading.maps.unknown}"
            if found == (None, None):
                return found
            if making.way == "sort" and self._may_be_made_there(key, reading):
                return None, f"{both}: whether {self._i.name} makes what it sorts where it lies is not known"
            if any(r.value == reading.value for r in writing.handed_on):
                return None, f"{both}: {HANDED_ON}"
            return found
        if writing.way in ("scatter", "sort", "reduced"):
            return (
                None,
                f"{both}, which another output reads: which elements a {writing.way} writes when is not modelled",
            )
        for m in reading.maps.maps:
            found = self._judge_map(key, writing, making, reading, m)
            if found != (None, None):
                return found
        return None, None

    def _judge_at_any_time(
        self, key: Key, writing: Making, making: Making, reading: KernelReading
    ) -> tuple[str | None, str | None]:
        """The same of what is read at any time, before and after any element is written."""
        both = f"{self._plan.named(key)} lies over {self._plan.named(reading.value)}"
        if making.way not in ("sort", "scatter"):
            return None, f"{both}: {reading.maps.unknown}"
        if reading.elements is None:  # all of it
            return f"{both}: {reading.maps.unknown}", None
        if writing.way == "scatter":
            return None, f"{both}: which elements a scatter writes is not modelled"
        if writing.way == "reduced":
            writing = _of_each_element(writing)
        known = replace(reading, maps=reading.elements)
        if known.maps.unknown:
            return None, f"{both}: {known.maps.unknown}"
        found = [self._judge_map(key, writing, making, known, m, at_once=False) for m in known.maps.maps]
        return next((f for f in found if f[0] is not None), next((f for f in found if f[1] is not None), (None, None)))

    def _may_be_made_there(self, key: Key, reading: KernelReading) -> bool:
        """What is sorted may be made, element by element, in the place of what it is computed of, and then sorted."""
        alone = next((m for m in reading.made_at if m.position == key[1]), None)
        if alone is None:
            return False
        same = [r for r in alone.readings if r.value == reading.value]
        return all(self._judge_map(key, alone, alone, r, m)[0] is None for r in same for m in r.maps.maps)

    def _judge_map(
        self, key: Key, writing: Making, making: Making, reading: KernelReading, m: IndexingMap, *, at_once: bool = True
    ) -> tuple[str | None, str | None]:
        """The same of one map. Not `at_once`: at any time, which is no step's."""
        both = f"{self._plan.named(key)} lies over {self._plan.named(reading.value)}"
        if m.replica is not None:
            return None, f"{both}: what is read lies on another device"
        a, b = self._plan.in_memory[key][1], self._plan.in_memory[reading.value][1]
        if at_once and _same_places(writing, making, reading, m, a, b):
            return None, None
        if is_sized(writing.written) or is_sized(reading.shape):
            return None, f"{both}: {SIZES}"
        try:
            stated = obligation_of(self._called_by(writing), writing, making, reading, m, a, b, at_once=at_once)
        except NotModelled as reason:
            return None, f"{both}: {reason}"
        outcome = self._prove(stated.obligation)
        if outcome.verdict == "proved":
            return None, None
        kept = [r for r in writing.handed_on if r.value == reading.value] if at_once else []
        if outcome.verdict == "refuted" and kept:  # in another step, then, than one that writes what lies there already
            if any(r.maps.unknown or r.maps.kind == "bound" for r in kept):
                return None, f"{both}: {HANDED_ON}"
            try:
                stated = obligation_of(self._called_by(writing), writing, making, reading, m, a, b, kept)
            except NotModelled as reason:
                return None, f"{both}: {reason}"
            outcome = self._prove(stated.obligation)
            if outcome.verdict == "proved":
                return None, f"{both}: {HANDED_ON}"
        if outcome.verdict != "refuted":
            self._undecided.append(outcome)
            return None, f"{both}: {outcome.reason}"
        if reading.maps.kind == "bound":
            return None, f"{both}: which of its elements are read is known as a bound only"
        if takes_parts(self._plan.module, self._plan.values.computation_of[self._i.name], self._i):
            return None, f"{both}: which part of an element is read is not modelled"
        if at_once and not _comparable(writing, making):
            return (
                None,
                f"{both}: the {writing.count} and {making.count} steps that make them are not known to be the same",
            )
        model = dict(outcome.model)
        runtime = (*m.runtime, *writing.runtime, *(r for k in kept for own in k.maps.maps for r in own.runtime))
        given = self._arguments(stated.values) if runtime else {}
        if given is not None and stated.values.computed:
            small = stated.values.with_small_numbers(stated.obligation)
            tried = ((self._prove(fixed), numbers) for fixed, numbers in small)
            found = next((dict(o.model) | numbers for o, numbers in tried if o.verdict == "refuted"), None)
            model, given = (model, None) if found is None else (found, given)
        if given is None and (_varies(runtime) or not fails_whatever_is_read(stated.obligation, self._prove)):
            return None, f"{both}: whether another element's read meets the write depends on values at run time"
        wrote = ", ".join(str(evaluate(e, model)) for e in stated.element)
        read = ", ".join(str(evaluate(e, model)) for e in stated.index)
        where = ", ".join(f"{whose(model)} is {model[name]}" for name, whose in (given or {}).items() if name in model)
        step = ", ".join(str(model.get(f"d{k}", 0)) for k in range(len(making.steps)))
        reader = f"element [{step}] reads" if at_once else f"the sort of {self._i.name} reads while it writes"
        return (
            f"{both}: element [{wrote}] of {self._plan.named(key)} is written over element [{read}] of "
            f"{self._plan.named(reading.value)}, which {reader}; made in that order it reads what was written"
            + (f" (where {where})" if where else ""),
            None,
        )

    def _called_by(self, writing: Making) -> Given | None:
        """The fusion, where that is what makes the output."""
        computation = self._plan.values.computation_of[self._i.name]
        in_entry = computation is self._plan.module.entry
        return None if writing.inside is computation else Given(computation, self._i, in_entry)

    def _arguments(self, values: StartValues) -> dict[str, Callable[[Mapping[str, int]], str]] | None:
        """For each value that is read at run time the element of an argument of the program that it is, in words: any
        values may be given. None where some value is computed in a way that is not followed, so that it may never come
        up; products are left to be tried."""
        entry = self._plan.module.entry
        given = [i for i, _ in values.outside.values()]
        if not values.multiplied_only or any(
            i.opcode != "parameter" or entry.by_name.get(i.name) is not i for i in given
        ):
            return None
        return {v: partial(_element_words, i.name, index) for v, (i, index) in values.outside.items()}


def _of_each_element(m: Making) -> Making:
    """All that is written at some time."""
    return replace(m, stepped=m.written, element=tuple(dim(k) for k in range(m.written.rank)))


def _element_words(name: str, index: tuple[Expr, ...], model: Mapping[str, int]) -> str:
    return f"{name}[{', '.join(str(evaluate(e, model)) for e in index)}]" if index else name


def _varies(read: Iterable[RuntimeVariable]) -> bool:
    """Steps read different elements: that each number would fail in some step does not say that what all of them read
    does."""
    return any(r.index is not None and any(e.free for e in r.index.results) for r in read)


def _comparable(a: Making, b: Making) -> bool:
    """Which steps of the two are one is known. An update in place has a loop of its own beside other outputs, also
    beside other updates."""
    if a is not b and "window" in (a.way, b.way):
        return False
    return _indexed_alike(a, b) or (a.count == b.count and not any(layout_of(m.stepped).tiles for m in (a, b)))


def _indexed_alike(a: Making, b: Making) -> bool:
    """Equal indices of the two lie in equal places, so that they are one step."""
    return is_indexed_alike(a.stepped, b.stepped)


def _same_places(writing: Making, making: Making, reading: KernelReading, m: IndexingMap, a: Slice, b: Slice) -> bool:
    """Every step reads only the element that lies where it writes: the same index of two arrays laid out alike."""
    alike = _comparable(writing, making) and _indexed_alike(writing, making)
    if a.offset != b.offset or not alike:
        return False
    index = tuple(dim(k) for k in range(len(writing.steps)))
    return (
        m.results == index
        and writing.element == index
        and writing.written.dimensions == reading.shape.dimensions
        and layout_of(writing.written) == layout_of(reading.shape)
        and element_bits(writing.written) == element_bits(reading.shape)
    )


@dataclass(frozen=True, slots=True)
class _Stated:
    """An obligation; the element that is written and the index that is read, in its variables; and the values read at
    run time."""

    obligation: Obligation
    element: tuple[Expr, ...]
    index: tuple[Expr, ...]
    values: StartValues


def obligation_of(
    given: Given | None,
    writing: Making,
    making: Making,
    reading: KernelReading,
    m: IndexingMap,
    a: Slice,
    b: Slice,
    kept: Iterable[KernelReading] = (),
    *,
    at_once: bool = True,
) -> _Stated:
    """For every step w that writes and every step d that reads: they are one step, or the bits lie apart. `kept` are
    reads of the writer itself, of the same value: steps that read there what lies where they write are left out. Not
    `at_once`: what a step reads it may read at any time, so that the bits lie apart. Raises NotModelled."""
    variables: list[tuple[str, Interval | None]] = [(f"w{k}", Interval.of_size(n)) for k, n in enumerate(writing.steps)]
    plain = [(name, interval) for name, interval in m.intervals() if not name.startswith("rt")]
    named = {name for name, _ in plain}  # what every step reads has a map without the steps' index
    plain += [(f"d{k}", Interval.of_size(n)) for k, n in enumerate(making.steps) if f"d{k}" not in named]
    variables += plain
    values = StartValues(writing.inside, {name: i for name, i in variables if i is not None}, given)
    index, hypothesis = values.follow(m, {})
    steps: dict[str, Expr] = {f"d{k}": Var(f"w{k}") for k in range(len(writing.steps))}
    steps |= {f"rt{k}": values.read(r, steps) for k, r in enumerate(writing.runtime)}
    element = tuple(substitute(e, steps) for e in writing.element)
    low, bits = _first_bit(writing.written, element, a)
    other, width = _first_bit(reading.shape, index, b)
    if bits == width and (a.offset - b.offset) * 8 % bits == 0:
        shift = (a.offset - b.offset) * 8 // bits
        position = _position(writing.written, element) + Const(shift) if shift else _position(writing.written, element)
        hypothesis.append(eq(position, _position(reading.shape, index)))
    else:
        hypothesis += [le(low + Const(1), other + Const(width)), le(other + Const(1), low + Const(bits))]
    for shape, own in [(r.shape, own) for r in kept for own in r.maps.maps]:
        if own.ranges or own.replica is not None:
            raise NotModelled(HANDED_ON)
        at, met = values.follow(own, steps)
        begin, size = _first_bit(shape, at, b)
        meets = (le(low + Const(1), begin + Const(size)), le(begin + Const(1), low + Const(bits)))
        hypothesis.append(Not(conj(*met, *((eq(low, begin),) if size == bits else meets))))
    hypothesis += values.facts
    variables += values.variables.items()
    label = "no element is read after the write of another"
    claim = _same_step(writing, making) if at_once else FALSE
    obligation = Obligation(tuple(variables), claim, conj(*hypothesis), label)
    return _Stated(obligation, element, index, values)


def _same_step(writing: Making, making: Making) -> Formula:
    """Outputs of one size are made in the order in which they lie: a step makes what has the same place in each."""
    ours, theirs = ([Var(f"{name}{k}") for k in range(len(m.steps))] for name, m in (("w", writing), ("d", making)))
    if not _comparable(writing, making):
        return FALSE
    if _indexed_alike(writing, making):
        return conj(*(eq(a, b) for a, b in zip(ours, theirs, strict=True))) if ours else TRUE
    return eq(_position(writing.stepped, tuple(ours)), _position(making.stepped, tuple(theirs)))


def _position(shape: ArrayShape, index: tuple[Expr, ...]) -> Expr:
    if part_count(shape) > 1:
        raise NotModelled("an array split over memories")
    return substitute(position_expression(shape), {f"d{k}": e for k, e in enumerate(index)})


def _first_bit(shape: ArrayShape, index: tuple[Expr, ...], s: Slice) -> tuple[Expr, int]:
    bits = element_bits(shape)
    return _position(shape, index) * bits + Const(8 * s.offset), bits
