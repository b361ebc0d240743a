"""Shapes and layouts as data.

Sizes count elements. A dynamic dimension (`<=n`) holds its upper bound in `dimensions`; an unbounded one (`?`) holds
`UNBOUNDED`. Layout entries are dimension numbers, most minor first, as HLO writes them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from math import prod
from typing import Final

UNBOUNDED: Final = -1
COMBINE: Final = -1
"""The tile entry `*`: this dimension is multiplied into the next more minor one."""

Index = tuple[int, ...]
"""The place of an element: one integer for each dimension."""
ShapeIndex = tuple[int, ...]
"""Where an array lies in a tuple: a path of element numbers; () for an array that lies in none."""


@dataclass(frozen=True, slots=True)
class Tile:
    """One tile, sizes most major first; `COMBINE` stands for `*`."""

    dimensions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SplitConfig:
    """`SC(dim:i,j)`: a logical dimension is split over memories at these indices."""

    dimension: int
    split_indices: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """How an array lies in memory: `{minor_to_major:T(..)L(n)E(n)S(n)...}`. Zero and empty mean absent."""

    minor_to_major: tuple[int, ...]
    tiles: tuple[Tile, ...] = ()
    tail_padding: int = 0
    """`L(n)`: the padded size is rounded up to a multiple of n elements."""
    element_bits: int = 0
    """`E(n)`: bits that an element takes in memory."""
    memory_space: int = 0
    """`S(n)`."""
    split_configs: tuple[SplitConfig, ...] = ()
    dynamic_prefix_bytes: int = 0
    """`M(n)`: bytes of dynamic shape metadata before the data."""
    index_type: str = ""
    """`#(u32)`."""
    pointer_type: str = ""
    """`*(u32)`."""
    physical_shape: ArrayShape | TupleShape | None = None
    """`P(...)`."""
    level_types: tuple[str, ...] = ()
    """`D(D,C)`: how each dimension of a sparse array is stored."""


@dataclass(frozen=True, slots=True)
class ArrayShape:
    """`f32[2,<=3]{1,0}`."""

    element_type: str
    dimensions: tuple[int, ...] = ()
    dynamic: tuple[bool, ...] = ()
    """One flag per dimension, or () when no dimension is dynamic."""
    layout: Layout | None = None

    @property
    def rank(self) -> int:
        return len(self.dimensions)

    @property
    def elements(self) -> int:
        """Number of elements; dynamic dimensions count with their bound."""
        return prod(self.dimensions)

    @property
    def is_dynamic(self) -> bool:
        return any(self.dynamic)

    def without_layout(self) -> ArrayShape:
        return self if self.layout is None else replace(self, layout=None)


@dataclass(frozen=True, slots=True)
class TupleShape:
    """`(f32[2], (s32[], token[]))`."""

    elements: tuple[Shape, ...] = ()

    def __hash__(self) -> int:
        # Each access to a state of thousands of arrays is an operation, and hashes its shape: not all of it every time.
        return hash((len(self.elements), self.elements[:4], self.elements[-4:]))


@dataclass(frozen=True, slots=True)
class TokenShape:
    """`token[]`."""


@dataclass(frozen=True, slots=True)
class OpaqueShape:
    """`opaque[]`."""


@dataclass(frozen=True, slots=True)
class BufferShape:
    """`b(f32[4])`: a value of buffer type."""

    inner: ArrayShape = field(default_factory=lambda: ArrayShape("f32"))


Shape = ArrayShape | TupleShape | TokenShape | OpaqueShape | BufferShape

ELEMENT_BITS: Final[dict[str, int]] = {
    "pred": 8,
    "s1": 1,
    "s2": 2,
    "s4": 4,
    "s8": 8,
    "s16": 16,
    "s32": 32,
    "s64": 64,
    "u1": 1,
    "u2": 2,
    "u4": 4,
    "u8": 8,
    "u16": 16,
    "u32": 32,
    "u64": 64,
    "f4e2m1fn": 4,
    "f8e8m0fnu": 8,
    "f8e3m4": 8,
    "f8e4m3": 8,
    "f8e4m3fn": 8,
    "f8e4m3b11fnuz": 8,
    "f8e4m3fnuz": 8,
    "f8e5m2": 8,
    "f8e5m2fnuz": 8,
    "f16": 16,
    "bf16": 16,
    "f32": 32,
    "f64": 64,
    "c64": 64,
    "c128": 128,
}
"""Bits of one element's value. In memory an element takes whole bytes unless the layout says `E(n)`."""


def leaves(shape: Shape, index: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Shape]]:
    """The non-tuple shapes inside, each with its position in the tuple tree, in order."""
    if isinstance(shape, TupleShape):
        for i, element in enumerate(shape.elements):
            yield from leaves(element, (*index, i))
    else:
        yield index, shape
