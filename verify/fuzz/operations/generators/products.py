"""Sums of products: dot, ragged-dot, scaled-dot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from hloproof.fuzz.operations.generators.builder import EXTENTS, Builder, Sizes, Write, shape


@dataclass(frozen=True)
class Side:
    """An operand of a product: its sizes, and where batch, contracting and free dimensions stand in it."""

    sizes: list[int]
    batch: list[int]
    contracting: list[int]
    free: list[int]


def _sides(b: Builder, extents: Sizes = EXTENTS, groups: int = 0) -> tuple[Side, Side]:
    """Up to two dimensions of each kind; with `groups` the right has one free dimension of that size more."""
    shared = [("batch", n) for n in b.sizes(most=2, of=extents)] + [
        ("contracting", n) for n in b.sizes(most=2, of=extents)
    ]
    found = []
    for more in ([], [groups] if groups else []):
        free = [("free", n) for n in (*more, *b.sizes(most=2, of=extents))]
        everything = [*enumerate(shared), *enumerate(free, 9)]
        # Free dimensions keep their order among themselves; the others may stand anywhere.
        in_order = iter(range(9, 9 + len(free)))
        order = [next(in_order) if k >= 9 else k for k, _ in b.shuffled(everything)]
        of, at = dict(everything), {k: i for i, k in enumerate(order)}
        places = {
            kind: [at[k] for k, (own, _) in everything if own == kind] for kind in ("batch", "contracting", "free")
        }
        found.append(Side([of[k][1] for k in order], **places))
    return found[0], found[1]


def _attributes(lhs: Side, rhs: Side) -> dict[str, Any]:
    """Which dimensions correspond; batch dimensions are left out where there are none."""
    found: dict[str, Any] = {}
    for name, side in (("lhs", lhs), ("rhs", rhs)):
        found |= {f"{name}_batch_dims": side.batch or None, f"{name}_contracting_dims": side.contracting}
    return found


def dot(b: Builder) -> None:
    lhs, rhs = _sides(b)
    b.op("dot", shape(lhs.sizes), shape(rhs.sizes), **_attributes(lhs, rhs))


def ragged_dot(b: Builder) -> None:
    """Cut along a free dimension of the left, a contracting one or a batch one; sizes given once or for every place."""
    groups = b.number(1, 3)
    lhs, rhs = _sides(b, (1, 2, 2, 3), b.one_of((0, groups, groups)))
    has_group = rhs.free and rhs.sizes[rhs.free[0]] == groups
    cases = [(k, getattr(lhs, k)) for k in (("free",) if has_group else ()) + ("contracting", "batch")]
    cases = [(kind, places) for kind, places in cases if places]
    if not cases:
        lhs, rhs, cases, groups = Side([2, 3], [], [1], [0]), Side([2, 3, 2], [], [1], [0, 2]), [("free", [0])], 2
    kind, places = b.one_of(cases)
    ragged = b.one_of(places)
    before = [] if kind == "batch" else [*lhs.batch, *(d for d in places if d < ragged)]
    counts = [*(lhs.sizes[d] for d in before), groups] if b.chance(2) else [groups]
    group_dims = rhs.free[:1] if kind == "free" else []
    attributes = {**_attributes(lhs, rhs), "lhs_ragged_dims": [ragged], "rhs_group_dims": group_dims}
    b.op("ragged-dot", shape(lhs.sizes), shape(rhs.sizes), shape(counts, "s32"), **attributes)


def scaled_dot(b: Builder) -> None:
    """Each dimension of a scale divides its operand's."""
    sides = _sides(b, (1, 2, 2, 3, 4))
    scales = [[b.one_of([m for m in range(1, n + 1) if n % m == 0]) for n in s.sizes] for s in sides]
    if b.chance(6):
        scales[b.number(0, 1)] = []  # one number
    b.op("scaled-dot", *(shape(s) for s in (*(side.sizes for side in sides), *scales)), **_attributes(*sides))


DRAWN: Final[tuple[Write, ...]] = (dot, ragged_dot, scaled_dot)
