"""Devices that evaluate a scheduled module in the order of its text, each with a memory as a plan divides it.

Beside the memory the values themselves are kept, and whoever reads must find the bytes of the value that it reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final, Literal

from hloproof.memory.contents import Bits, decoded, encoded, positions
from hloproof.memory.kernels import Kernels
from hloproof.memory.plan import POINTER_BYTES, Plan
from hloproof.models.dataflow.async_chain import link_of
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.module import Computation, Instruction
from hloproof.models.hlo.shape import ArrayShape, TupleShape, leaves
from hloproof.models.interpreter.operations.collective import Devices
from hloproof.models.interpreter.run import Machine
from hloproof.models.interpreter.semantics.real import Real
from hloproof.models.interpreter.value import Array, InFlight, Value
from hloproof.models.memory.assignment import Key, Slice, place_text
from hloproof.models.memory.forwarding import CALLS, PASS_ON

FlightTime = Literal["early", "late", "between"]
RunOrder = Literal["forwards", "backwards", "shuffled"]

MOST_BLOCKS: Final = 64
"""A result over an operand is made element by element, or in so many blocks."""


@dataclass(frozen=True, slots=True)
class OverwrittenRead:
    """What a run found: `reader` reads `value` and finds other bytes than were written; `element` is the index."""

    reader: str
    value: str
    element: tuple[int, ...]
    wanted: str
    found: str
    flight: FlightTime
    order: RunOrder
    seed: int

    def __str__(self) -> str:
        index = "[" + ", ".join(map(str, self.element)) + "]"
        return (
            f"run with memory (inputs of seed {self.seed}, operations in flight {self.flight}, elements {self.order}): "
            f"{self.reader} finds {self.found} in {self.value}{index}, where {self.wanted} was written"
        )


class Differs(Exception):
    """A read finds other than what was written; the evaluation ends there."""

    def __init__(self, difference: OverwrittenRead) -> None:
        self.difference = difference


class MemoryMachine(Machine):
    """Devices that evaluate a module in the order of its text, with a memory each."""

    def __init__(self, plan: Plan, devices: Devices, seed: int, flight: FlightTime, order: RunOrder, work: int) -> None:
        super().__init__(plan.module, Real(), devices, seed)
        self._plan_of_memory, self._flight, self._order = plan, flight, order
        self._kernels = Kernels(plan)
        self._work_left = work
        self._weights: dict[str, int] = {}
        self._memory: list[dict[int, int]] = []
        self._expected: dict[tuple[int, ArrayShape], tuple[Array, Bits]] = {}

    def start(self) -> None:
        """Memory full of noise, and the constants in it."""
        noise = Random(f"{self.seed} memory")
        allocations = self._plan_of_memory.assignment.allocations
        self._memory = [
            {a.number: noise.getrandbits(8 * a.size + 1) for a in allocations} for _ in range(self.devices.count)
        ]
        for name in self._plan_of_memory.liveness.order.reads:
            i = self._plan_of_memory.instruction(name)
            if i.opcode == "constant":
                self._store_all(i, [self._literal(i)] * self.devices.count, range(self.devices.count))

    # -- memory -----------------------------------------------------------------------------------------------------

    def _bits(self, array: Array, shape: ArrayShape) -> Bits:
        """The bits of an array; the last ones that were asked for are kept."""
        known = self._expected.get((id(array), shape))
        if known is None or known[0] is not array:
            if len(self._expected) > 512:
                self._expected.clear()
            known = self._expected[id(array), shape] = array, encoded(array, shape, self.scalars)
        return known[1]

    def _write(self, device: int, s: Slice, bits: Bits) -> None:
        shift = 8 * s.offset
        now = self._memory[device][s.allocation]
        self._memory[device][s.allocation] = now & ~(bits.mask << shift) | bits.data << shift

    def _store_all(self, i: Instruction, results: Sequence[Value], devices: Sequence[int]) -> None:
        """Everything that an instruction makes goes to its place."""
        for at, key in self._plan_of_memory.values.places_in(i.name):
            owner = self._plan_of_memory.instruction(key[0])
            own = key == (i.name, at) or (
                link_of(i.opcode) is not None and at[:1] == (1,) and owner.name not in self._ordered
            )
            s = self._plan_of_memory.slice(key)
            if not own or s is None or self._plan_of_memory.values.values[key].phi:
                continue
            for device, value in zip(devices, results, strict=True):
                bits = self._of_place(i.name, at, _part(value, at))
                if bits is not None:
                    self._write(device, s, bits)

    @property
    def _ordered(self) -> frozenset[str]:
        return frozenset(self._plan_of_memory.liveness.order.reads)

    def _of_place(self, name: str, at: tuple[int, ...], value: Value | None) -> Bits | None:
        """The bits that stand at a place: of an array, or the addresses of a table."""
        shape = self._shape(name, at)
        if isinstance(shape, ArrayShape) and isinstance(value, Array):
            return self._bits(value, shape)
        if isinstance(shape, TupleShape):
            data = 0
            for k in range(len(shape.elements)):
                data |= self._address(name, (*at, k)) << 8 * POINTER_BYTES * k
            return Bits(data, (1 << 8 * POINTER_BYTES * len(shape.elements)) - 1)
        return None

    def _shape(self, name: str, at: tuple[int, ...]) -> object:
        shape: object = self._plan_of_memory.instruction(name).shape
        for k in at:
            shape = shape.elements[k] if isinstance(shape, TupleShape) else None
        return shape

    def _address(self, name: str, at: tuple[int, ...]) -> int:
        s = self._plan_of_memory.slice(self._plan_of_memory.values.at((name, at)))
        return 0 if s is None else (s.allocation + 1 << 40) + s.offset

    def _check(self, reader: str, name: str, at: tuple[int, ...], value: Value | None, device: int) -> None:
        """The bytes at the place of a value are those of the value. Raises Differs."""
        key = self._plan_of_memory.values.at((name, at))
        s = self._plan_of_memory.slice(key)
        if key is None or s is None:
            return
        bits = self._of_place(name, at, value)
        if bits is None:
            return
        there = self._memory[device][s.allocation] >> 8 * s.offset & bits.mask
        if there != bits.data:
            raise Differs(self._difference(reader, key, name, at, value, there))

    def _difference(
        self, reader: str, key: Key, name: str, at: tuple[int, ...], value: Value | None, there: int
    ) -> OverwrittenRead:
        shape = self._shape(name, at)
        if isinstance(shape, ArrayShape) and isinstance(value, Array):
            found = decoded(there, shape, self.scalars)
            for k, (a, b) in enumerate(zip(value.data, found.data, strict=True)):
                if self.scalars.to_bits(shape.element_type, a) != self.scalars.to_bits(shape.element_type, b):
                    return self._told(reader, place_text(key), _index(k, shape.dimensions), str(a), str(b))
        return self._told(reader, f"the table {place_text(key)}", (), "the addresses of its elements", "others")

    def _told(self, reader: str, value: str, element: tuple[int, ...], wanted: str, found: str) -> OverwrittenRead:
        return OverwrittenRead(reader, value, element, wanted, found, self._flight, self._order, self.seed)

    # -- instructions -----------------------------------------------------------------------------------------------

    def _count(self, i: Instruction) -> None:
        """Counts what an instruction computes. Raises NotModelled when it is too much."""
        weight = self._weights.get(i.name)
        if weight is None:
            weight = 1 + sum(s.elements for _, s in leaves(i.shape) if isinstance(s, ArrayShape))
            if i.opcode == "fusion":
                inside = (self.module.by_name[name] for name in i.attributes.computations())
                weight += sum(
                    s.elements
                    for c in inside
                    for j in c.instructions
                    for _, s in leaves(j.shape)
                    if isinstance(s, ArrayShape)
                )
            elif i.opcode in ("dot", "convolution", "reduce-window"):
                weight *= 16
            self._weights[i.name] = weight
        self._work_left -= weight * self.devices.count
        if self._work_left < 0:
            raise NotModelled("it computes more elements than are run")

    def _evaluate(
        self, computation: Computation, arguments: Sequence[Sequence[Value]], devices: Sequence[int]
    ) -> list[Value]:
        live = self._plan_of_memory.liveness
        if computation.name not in live.order.begins:
            return super()._evaluate(computation, arguments, devices)
        values: dict[str, list[Value]] = {}
        waiting: dict[str, list[str]] = {}
        names = [i.name for i in computation.instructions]
        for n, i in enumerate(computation.instructions):
            for start in waiting.pop(i.name, ()):
                self._work(computation.by_name[start], values, devices)
            if i.opcode == "parameter":
                values[i.name] = [a[i.parameter_number or 0] for a in arguments]
                if computation is self.module.entry:
                    self._store_all(i, values[i.name], devices)
                continue
            operands = [values[o] for o in i.operands]
            per_device = [tuple(column[k] for column in operands) for k in range(len(devices))]
            postponed = self._postponed(i, names, n)
            if postponed is None:
                self._read(i, values, devices)
            if i.opcode == "constant":
                values[i.name] = self._instruction(i, computation, per_device, devices)
                continue
            self._count(i)
            if i.opcode in CALLS:
                values[i.name] = self._instruction(i, computation, per_device, devices)
                continue
            values[i.name] = self._instruction(i, computation, per_device, devices)
            if postponed is not None:
                waiting.setdefault(postponed, []).append(i.name)
            elif not self._in_place(i, computation, values, devices):
                self._store_all(i, values[i.name], devices)
        if computation is self.module.entry:
            self._at_the_end(values, devices)
        return values[computation.root_name]

    def _postponed(self, i: Instruction, names: Sequence[str], n: int) -> str | None:
        """Before which instruction an operation in flight works; None where it works at once."""
        live = self._plan_of_memory.liveness
        link = link_of(i.opcode)
        if link is None or link.role != "start" or self._flight == "early" or live.synchronous(i.name):
            return None
        done = live.dones.get(i.name)
        if done not in names:
            return None
        m = names.index(done)
        return done if self._flight == "late" else names[(n + 1 + m) // 2]

    def _work(self, start: Instruction, values: dict[str, list[Value]], devices: Sequence[int]) -> None:
        """What is in flight reads its operands and writes its results, now."""
        self._read(start, values, devices)
        self._store_all(start, values[start.name], devices)

    def _read(self, i: Instruction, values: dict[str, list[Value]], devices: Sequence[int]) -> None:
        link = link_of(i.opcode)
        if i.opcode in PASS_ON | {"tuple", "after-all", "constant", "while", "call"} or (link and link.role != "start"):
            return
        for name in i.operands[:1] if i.opcode == "conditional" else i.operands:
            for k, device in enumerate(devices):
                value = values[name][k]
                if i.opcode == "get-tuple-element":
                    self._check(i.name, name, (), value, device)
                    continue
                for at, _ in self._plan_of_memory.values.places_in(name):
                    self._check(i.name, name, at, _part(value, at), device)

    def _at_the_end(self, values: dict[str, list[Value]], devices: Sequence[int]) -> None:
        """The caller reads the result, and finds its parameters and the constants as they were."""
        plan, root = self._plan_of_memory, self.module.entry.root_name
        noise = Random(f"{self.seed} after")
        for a in plan.assignment.allocations:
            if not (a.maybe_live_out or a.whole_output or a.constant or a.parameter is not None):
                for memory in self._memory:
                    memory[a.number] = noise.getrandbits(8 * a.size + 1)  # somebody else has it now
        result = [(root, at) for at, _ in plan.values.places_in(root)]
        given = [(p.name, at) for p in self.module.entry.parameters for at, _ in plan.values.places_in(p.name)]
        # Of a parameter the caller may give away some parts and keep others.
        for name, at in (*result, *(place for place in given if plan.liveness.kept(plan.values.values[place]))):
            for k, device in enumerate(devices):
                self._check("the caller", name, at, _part(values[name][k], at), device)
        for name in plan.liveness.order.reads:
            if plan.instruction(name).opcode == "constant":
                for device in devices:
                    self._check("the next run", name, (), self._literal(plan.instruction(name)), device)

    # -- results over operands --------------------------------------------------------------------------------------

    def _in_place(
        self, i: Instruction, computation: Computation, values: dict[str, list[Value]], devices: Sequence[int]
    ) -> bool:
        """Makes a result that lies over an operand block by block; False where none does, or the operation works by a
        rule of its own."""
        plan = self._plan_of_memory
        own = [(at, key) for at, key in plan.values.places_in(i.name) if key == (i.name, at) and key in plan.in_memory]
        read = [(n, key) for n, key in plan.reads_at(i.name) if key in plan.in_memory]
        pairs = [(at, a, n, b) for at, a in own for n, b in read if a != b and self._overlap(a, b)]
        if not pairs or i.opcode in ("sort", "scatter", "custom-call") or link_of(i.opcode) is not None:
            return False
        over: dict[tuple[int, ...], set[Key]] = {}
        for at, a, _, b in pairs:
            if plan.extent(plan.in_memory[a][1]) == plan.extent(plan.in_memory[b][1]):
                over.setdefault(at, set()).add(b)
        makings = {m.position: m for m in self._kernels.makings(i, over)}
        if any(m.way in ("scatter", "sort") for m in makings.values()):
            return False
        most = max(len(positions(m.written)) for m in makings.values())
        lie = {at: positions(self._array(i.name, at)) for at in makings}
        # A step makes what has the same place in each result, whatever its index is there.
        stepwise = {at: sorted(range(most), key=p.__getitem__) for at, p in lie.items() if len(p) == most}
        for block in _blocks(most, self._order, Random(f"{self.seed} {i.name}")):
            for k, device in enumerate(devices):
                operands = tuple(self._loaded(o, values[o][k], device) for o in i.operands)
                self._count(i)
                made = self._instruction(i, computation, [operands], [device])[0]
                for at, elements in stepwise.items():
                    self._store_block(i, at, made, values[i.name][k], [elements[n] for n in block], device)
        for at, key in own:
            if at not in stepwise:
                for k, device in enumerate(devices):
                    bits = self._of_place(i.name, at, _part(values[i.name][k], at))
                    if bits is not None:
                        self._write(device, plan.in_memory[key][1], bits)
        return True

    def _overlap(self, a: Key, b: Key) -> bool:
        plan = self._plan_of_memory
        return plan.overlap(plan.in_memory[a][1], plan.in_memory[b][1]) is not None

    def _array(self, name: str, at: tuple[int, ...]) -> ArrayShape:
        shape = self._shape(name, at)
        assert isinstance(shape, ArrayShape)
        return shape

    def _loaded(self, name: str, value: Value, device: int) -> Value:
        """An operand as memory has it now."""
        s = self._plan_of_memory.slice(self._plan_of_memory.values.at((name, ())))
        if not isinstance(value, Array) or s is None:
            return value
        return decoded(self._memory[device][s.allocation] >> 8 * s.offset, self._array(name, ()), self.scalars)

    def _store_block(
        self, i: Instruction, at: tuple[int, ...], made: Value, true: Value, block: Sequence[int], device: int
    ) -> None:
        """Writes the elements of a block. Raises Differs where one is not what it should be."""
        shape, new, old = self._array(i.name, at), _part(made, at), _part(true, at)
        assert isinstance(new, Array) and isinstance(old, Array)
        kind = shape.element_type
        for k in block:
            if self.scalars.to_bits(kind, new.data[k]) != self.scalars.to_bits(kind, old.data[k]):
                index = _index(k, shape.dimensions)
                text = place_text((i.name, at))
                raise Differs(self._told(i.name, text, index, str(old.data[k]), str(new.data[k])))
        s = self._plan_of_memory.slice((i.name, at))
        if s is not None:
            self._write(device, s, encoded(new, shape, self.scalars, block))


def _blocks(count: int, order: RunOrder, random: Random) -> Iterator[list[int]]:
    """The numbers of all elements, in blocks."""
    numbers = list(range(count))
    if order == "backwards":
        numbers.reverse()
    elif order == "shuffled":
        random.shuffle(numbers)
    size = -(-count // MOST_BLOCKS) or 1
    for k in range(0, count, size):
        yield numbers[k : k + size]


def _part(value: Value | None, at: tuple[int, ...]) -> Value | None:
    """What stands at a shape index of a value."""
    for k in at:
        parts = value.elements if isinstance(value, InFlight) else value
        value = parts[k] if isinstance(parts, tuple) and k < len(parts) else None
    return value


def _index(number: int, sizes: Sequence[int]) -> tuple[int, ...]:
    out = []
    for n in reversed(sizes):
        number, k = divmod(number, n)
        out.append(k)
    return tuple(reversed(out))
