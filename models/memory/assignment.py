"""A memory plan as XLA writes it: `*after_optimizations-buffer-assignment.txt`, read into allocations and slices.

Three kinds of lines: `BufferAssignment:`, `allocation N: size S, ...:` and ` value: <ID NAME{INDEX} @COLOUR> (size=S,
offset=O): SHAPE`. Sizes and offsets count bytes. Older dumps go on with statistics and the values once more; reading
ends there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from hloproof.models.errors import InputError
from hloproof.models.hlo.shape import Shape, ShapeIndex
from hloproof.models.hlo.text.shapes import parse_shape

HEADER: Final = "BufferAssignment:"
_NUMBER: Final = "[0-9]{1,19}"
"""As long as an int64 may be."""
_INDEX: Final = f"(?:{_NUMBER}(?:,{_NUMBER})*)?"
_ALLOCATION: Final = re.compile(rf"allocation ({_NUMBER}): size ({_NUMBER})((?:, .*)?):\s*")
_VALUE: Final = re.compile(
    rf"\s+value: <({_NUMBER}) %?([^\s{{]+)(?:\{{({_INDEX})\}})?( \(phi\))? @(-?{_NUMBER})> "
    rf"\(size=({_NUMBER}),offset=({_NUMBER})\): (.*?)\s*"
)
_AFTER: Final = ("Total bytes used", "Used values:", "BufferAssignment OOM", "BufferAssignment stats:")
_WORDS: Final = re.compile(
    rf", (?:color (?P<color>{_NUMBER})"
    rf"|parameter (?P<parameter>{_NUMBER}), shape \|(?P<shape>[^|]*)\| at ShapeIndex \{{(?P<index>{_INDEX})\}}"
    r"|output shape is \|(?P<output>[^|]*)\|"
    r"|(?P<flag>constant|thread-local|maybe-live-out|preallocated-temp))"
)
_SHAPES: Final = frozenset({"shape", "output"})

Key = tuple[str, ShapeIndex]
"""An instruction's name and a shape index of its result: a value by where it is made."""


@dataclass(frozen=True, slots=True)
class Slice:
    """Where one value lies: bytes [offset, offset + size) of an allocation."""

    id: int
    instruction: str
    index: ShapeIndex
    phi: bool
    colour: int
    size: int
    offset: int
    shape: Shape
    allocation: int
    line: int

    @property
    def key(self) -> Key:
        return self.instruction, self.index

    @property
    def end(self) -> int:
        return self.offset + self.size

    def __str__(self) -> str:
        where = f"allocation {self.allocation}, bytes {self.offset} to {self.end}, line {self.line}"
        return f"{place_text(self.key)} ({where})"


@dataclass(frozen=True, slots=True)
class Allocation:
    """One buffer. `parameter` is the number of the entry parameter that it holds, at `parameter_index`."""

    number: int
    size: int
    line: int
    colour: int = 0
    parameter: int | None = None
    parameter_index: ShapeIndex = ()
    parameter_shape: Shape | None = None
    """The shape that the text gives for that part of the parameter, without layout."""
    output_shape: Shape | None = None
    """`output shape is`, without layout: it holds the root's own array or table, and this is the shape of the root."""
    constant: bool = False
    thread_local: bool = False
    maybe_live_out: bool = False
    preallocated_temp: bool = False
    slices: tuple[Slice, ...] = ()

    @property
    def whole_output(self) -> bool:
        """The text says that it holds the root's own array or table."""
        return self.output_shape is not None


@dataclass(frozen=True)
class BufferAssignment:
    """Allocations in the order of the text, numbered as there."""

    allocations: tuple[Allocation, ...]
    file: str = field(default="", compare=False)

    @cached_property
    def by_number(self) -> Mapping[int, Allocation]:
        return {a.number: a for a in self.allocations}

    @cached_property
    def slices(self) -> tuple[Slice, ...]:
        return tuple(s for a in self.allocations for s in a.slices)

    @cached_property
    def by_key(self) -> Mapping[Key, Slice]:
        """The slice of each value; where a value is listed twice, the first."""
        out: dict[Key, Slice] = {}
        for s in self.slices:
            out.setdefault(s.key, s)
        return out

    @cached_property
    def repeated(self) -> tuple[Slice, ...]:
        """Slices of values that have another one already."""
        return tuple(s for s in self.slices if self.by_key[s.key] is not s)


def place_text(key: Key) -> str:
    """`name{1,0}`, or the name alone for the whole of an instruction."""
    return key[0] + ("{" + ",".join(map(str, key[1])) + "}" if key[1] else "")


def parse_assignment(text: str, file: str = "") -> BufferAssignment:
    """The plan of a text. Raises InputError at the line that is none of the three kinds, or that contradicts
    another."""
    lines = text.splitlines()
    if not lines or lines[0].strip() != HEADER:
        raise InputError(f"expected {HEADER!r} in the first line", 1, 1, lines[0] if lines else "", file)
    allocations: list[tuple[Allocation, list[Slice]]] = []
    seen: set[int] = set()
    for number, line in enumerate(lines[1:], 2):
        if m := _VALUE.fullmatch(line):
            if not allocations:
                raise InputError("a value before any allocation", number, 1, line, file)
            allocations[-1][1].append(_slice(m, allocations[-1][0].number, number, line, file))
        elif m := _ALLOCATION.fullmatch(line):
            allocation = _allocation(m, number, line, file)
            if allocation.number in seen:
                raise InputError(f"there is an allocation {allocation.number} already", number, 12, line, file)
            seen.add(allocation.number)
            allocations.append((allocation, []))
        elif line.startswith(_AFTER):
            break
        elif line.strip():
            column = len(line) - len(line.lstrip()) + 1
            expected = (
                "expected 'allocation N: size S, ...:' or ' value: <ID NAME{INDEX} @COLOUR> (size=S,offset=O): SHAPE'"
            )
            raise InputError(expected, number, column, line, file)
    return BufferAssignment(tuple(replace(a, slices=tuple(s)) for a, s in allocations), file)


def _allocation(m: re.Match[str], number: int, line: str, file: str) -> Allocation:
    words, at = m[3], 0
    found: dict[str, str] = {}
    flags: set[str] = set()
    shapes: dict[str, Shape] = {}
    while at < len(words):
        word = _WORDS.match(words, at)
        if word is None:
            expected = (
                "expected color N, parameter N, shape |S| at ShapeIndex {..}, output shape is |S|, constant, "
                "thread-local, maybe-live-out or preallocated-temp"
            )
            raise InputError(expected, number, m.start(3) + at + 3, line, file)
        new = {k: v for k, v in word.groupdict().items() if v is not None and k != "flag"}
        if new.keys() & found.keys() or word["flag"] in flags:
            raise InputError("this is said of the allocation already", number, m.start(3) + at + 3, line, file)
        shapes |= {k: _shape(new[k], number, m.start(3) + word.start(k), line, file) for k in _SHAPES & new.keys()}
        found |= new
        if word["flag"]:
            flags.add(word["flag"])
        at = word.end()
    return Allocation(
        int(m[1]),
        int(m[2]),
        number,
        int(found.get("color", 0)),
        int(found["parameter"]) if "parameter" in found else None,
        _index(found.get("index", "")),
        shapes.get("shape"),
        shapes.get("output"),
        "constant" in flags,
        "thread-local" in flags,
        "maybe-live-out" in flags,
        "preallocated-temp" in flags,
    )


def _slice(m: re.Match[str], allocation: int, number: int, line: str, file: str) -> Slice:
    shape = _shape(m[8], number, m.start(8), line, file)
    return Slice(
        int(m[1]), m[2], _index(m[3] or ""), bool(m[4]), int(m[5]), int(m[6]), int(m[7]), shape, allocation, number
    )


def _shape(text: str, number: int, at: int, line: str, file: str) -> Shape:
    """The shape of a text that begins at `at` of a line."""
    try:
        return parse_shape(text)
    except InputError as error:
        raise InputError(error.message, number, at + error.column, line, file) from None


def _index(text: str) -> ShapeIndex:
    return tuple(int(k) for k in text.split(",") if k)
