"""A module and a plan of its memory, brought together: which slice each value has, and how many bytes it needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Final

from hloproof.claims.asynchronous import judgement
from hloproof.models.dataflow.value_flow import HloPosition
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.module import Instruction, Module
from hloproof.models.hlo.shape import ArrayShape, BufferShape, OpaqueShape, Shape, TokenShape, TupleShape
from hloproof.models.layouts.memory_size import order_of_elements, transfer_bytes
from hloproof.models.layouts.physical import layout_of
from hloproof.models.memory.assignment import Allocation, BufferAssignment, Key, Slice, place_text
from hloproof.models.memory.liveness import Liveness, Read
from hloproof.models.memory.values import HloValue, HloValues

LIVENESS: Final = "liveness"
"""What decides these claims: values, order and intervals; where bytes are shared in place, the solvers as well."""

judged: Final = partial(judgement.judged, by=LIVENESS)

POINTER_BYTES: Final = 8
"""One entry of a tuple's table."""
METADATA_BYTES: Final = 4
"""What a dynamic dimension keeps behind the data: its size, as s32."""


@lru_cache(maxsize=4096)
def bytes_needed(shape: Shape) -> int:
    """The bytes of an array's layout, padding included, or of a tuple's table. Raises NotModelled."""
    match shape:
        case TupleShape():
            return POINTER_BYTES * len(shape.elements)
        case TokenShape() | OpaqueShape():
            return 0
        case BufferShape():
            return bytes_needed(shape.inner)
        case ArrayShape():
            size = transfer_bytes(shape)
            if shape.is_dynamic:
                size += METADATA_BYTES * shape.rank
            layout = layout_of(shape)
            return size + layout.dynamic_prefix_bytes


def array_of(shape: Shape | None) -> ArrayShape | None:
    """The array that lies in memory: the shape itself, or what a buffer `b(...)` holds; None for tables and tokens."""
    inner = shape.inner if isinstance(shape, BufferShape) else shape
    return inner if isinstance(inner, ArrayShape) else None


def laid_out_alike(a: Shape | None, b: Shape | None) -> bool:
    """Arrays of one type and of equal sizes, whose elements lie at equal offsets. In which memory is another question;
    whether sizes may be smaller, too. Raises NotModelled."""
    if not (isinstance(a, ArrayShape) and isinstance(b, ArrayShape)):
        return False
    same = a.element_type == b.element_type and a.dimensions == b.dimensions
    return same and order_of_elements(a) == order_of_elements(b)


@dataclass(frozen=True)
class Plan:
    """One module under one plan."""

    module: Module
    assignment: BufferAssignment

    @cached_property
    def values(self) -> HloValues:
        return HloValues(self.module)

    @cached_property
    def liveness(self) -> Liveness:
        return Liveness(self.module, self.values)

    def slice(self, key: Key | None) -> Slice | None:
        return None if key is None else self.assignment.by_key.get(key)

    def allocation(self, of: Slice) -> Allocation:
        return self.assignment.by_number[of.allocation]

    @cached_property
    def _needed(self) -> dict[Key, int]:
        return {}

    def extent(self, s: Slice) -> tuple[int, int]:
        """The bytes that the value of a slice uses: what its layout needs, else what the plan says."""
        needed = self._needed.get(s.key)
        if needed is None:
            try:
                value = self.values.values.get(s.key)
                needed = bytes_needed(s.shape if value is None else value.shape)
            except NotModelled:
                needed = s.size
            self._needed[s.key] = needed
        return s.offset, s.offset + needed

    def overlap(self, a: Slice, b: Slice) -> tuple[int, int] | None:
        """The bytes [from, to) that two slices share, or None."""
        if a.allocation != b.allocation:
            return None
        (begin, end), (other, until) = self.extent(a), self.extent(b)
        low, high = max(begin, other), min(end, until)
        return (low, high) if low < high else None

    def instruction(self, name: str) -> Instruction:
        return self.values.instruction[name]

    def named(self, key: Key) -> str:
        """A value as the plan writes it: an instruction, and a shape index where its result is a tuple (`{}` for the
        table of pointers)."""
        i = self.values.instruction.get(key[0])
        table = not key[1] and i is not None and isinstance(i.shape, TupleShape)
        return place_text(key) + ("{}" if table else "")

    def place(self, name: str, at: tuple[int, ...] = ()) -> HloPosition:
        return HloPosition(self.values.computation_of[name].name, name, at)

    @cached_property
    def in_memory(self) -> Mapping[Key, tuple[HloValue, Slice]]:
        """The values of the order, and the constants of what operations apply, that have a slice of at least one
        byte."""
        out = {}
        for key, value in self.values.values.items():
            s = self.assignment.by_key.get(key)
            if s is not None and (value.room == "ordered" or self.liveness.given(value)):
                low, high = self.extent(s)
                if low < high:
                    out[key] = value, s
        return out

    def reads_at(self, name: str) -> Iterator[tuple[int, Key]]:
        """The values that an instruction reads, each with its operand's number."""
        seen = set()
        for n, operand in enumerate(self.instruction(name).operands):
            for _, value in self.values.places_in(operand):
                if (n, value) not in seen:
                    seen.add((n, value))
                    yield n, value


def where(s: Slice) -> str:
    """Where a slice lies, for a sentence."""
    return f"bytes {s.offset} to {s.end} of allocation {s.allocation} (plan line {s.line})"


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """One row of a timeline over the flattened order."""

    instant: int
    instruction: str
    mark: str


def timeline(plan: Plan, steps: list[TimelineRow]) -> str:
    """The rows in order: when, what, its line, and why it is shown."""
    rows = []
    for step in sorted(set(steps), key=lambda s: s.instant):
        i = plan.instruction(step.instruction)
        inside = ", ".join(i.operands[:3]) + (", ..." if len(i.operands) > 3 else "")
        number = str(max(step.instant, 0) // 2)
        rows.append((number, f"{i.name} = {i.opcode}({inside})", f"line {i.position.line}", step.mark))
    widths = [max((len(r[k]) for r in rows), default=0) for k in range(3)]
    return "\n".join(
        f"  {n:>{widths[0]}}  {what:<{widths[1]}}  {line:<{widths[2]}}  {mark}" for n, what, line, mark in rows
    )


def last_read(plan: Plan, key: Key, after: int) -> Read | None:
    """The first read of a value later than an instant, or else its last one."""
    reads = sorted(plan.liveness.reads[key], key=lambda r: r.instant)
    later = [r for r in reads if r.instant > after]
    return later[0] if later else (reads[-1] if reads else None)
