"""Which elements folds combine: reduce, dot, windows. Written once, over any arithmetic; see movement.py.

Trusted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from hloproof.elements.movement import Offset, Test, spread

T = TypeVar("T")
X = TypeVar("X", bound=Offset)


def reduced(at: Sequence[T], folded: Sequence[T], dims: Sequence[int]) -> tuple[T, ...]:
    """The operand's index: dimensions `dims`, ascending, are folded over, the others are the result's."""
    kept, inner = iter(at), iter(folded)
    order = sorted(dims)
    return tuple(next(inner) if d in order else next(kept) for d in range(len(at) + len(folded)))


def contracted(
    at: Sequence[T],
    folded: Sequence[T],
    batch: tuple[Sequence[int], Sequence[int]],
    contract: tuple[Sequence[int], Sequence[int]],
    ranks: tuple[int, int],
) -> tuple[tuple[T, ...], tuple[T, ...]]:
    """The indices of a dot's operands: the result has batch dimensions first, then the free ones of the left and of the
    right; `folded` are the contracted ones in the order of `contract`."""
    free = iter(at[len(batch[0]) :])
    out: list[tuple[T, ...]] = []
    for b, c, rank in zip(batch, contract, ranks, strict=True):
        row: list[T] = []
        for d in range(rank):
            if d in b:
                row.append(at[list(b).index(d)])
            elif d in c:
                row.append(folded[list(c).index(d)])
            else:
                row.append(next(free))
        out.append(tuple(row))
    return out[0], out[1]


def windowed(x: X, w: X, size: Any, stride: Any, dilation: Any, low: Any, base: Any) -> tuple[X, tuple[Test[X], ...]]:
    """Where output x and window position w read an operand of this size whose elements stand `base` apart after
    `low` elements of padding, and that they read one."""
    return spread(x * stride + w * dilation - low, size, base)
