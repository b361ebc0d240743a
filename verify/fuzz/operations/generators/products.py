"""Strategies for sums of products: dot, ragged-dot, scaled-dot."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from hloproof.fuzz.drawing import Draw
from hloproof.fuzz.operations.generators.operation_text import braces, extent, one, shape, sizes


@dataclass(frozen=True)
class Sides:
    """Two operands of a product: their sizes, and where batch, contracting and free dimensions stand in each."""

    sizes: tuple[list[int], list[int]]
    batch: tuple[list[int], list[int]]
    contracting: tuple[list[int], list[int]]
    free: tuple[list[int], list[int]]

    @property
    def attributes(self) -> str:
        found = []
        for side, b, c in zip(("lhs", "rhs"), self.batch, self.contracting, strict=True):
            if b:
                found.append(f"{side}_batch_dims={braces(b)}")
            found.append(f"{side}_contracting_dims={braces(c)}")
        return ", ".join(found)


@st.composite
def products(draw: Draw, extents: st.SearchStrategy[int] = extent, most: int = 2, groups: int = 0) -> Sides:
    """Up to `most` dimensions of each kind; with `groups` the right has one free dimension of that size more."""
    batch, contracting = draw(sizes(maximum=most, of=extents)), draw(sizes(maximum=most, of=extents))
    free = [draw(sizes(maximum=most, of=extents)), draw(sizes(maximum=most, of=extents))]
    placed: list[tuple[list[int], list[int], list[int], list[int]]] = []
    for n, f in enumerate(free):
        own = [groups, *f] if n == 1 and groups else f
        tagged = [("b", k, n) for k, n in enumerate(batch)] + [("c", k, n) for k, n in enumerate(contracting)]
        rest = [("f", k, n) for k, n in enumerate(own)]
        # Free dimensions keep their order among themselves; the others may stand anywhere.
        order = draw(st.permutations(tagged + rest))
        names = iter(rest)
        order = [next(names) if t[0] == "f" else t for t in order]
        at = {(kind, k): i for i, (kind, k, _) in enumerate(order)}
        where = [
            [at[kind, k] for k in range(count)]
            for kind, count in (("b", len(batch)), ("c", len(contracting)), ("f", len(own)))
        ]
        placed.append(([n for _, _, n in order], where[0], where[1], where[2]))
    lhs, rhs = placed
    return Sides((lhs[0], rhs[0]), (lhs[1], rhs[1]), (lhs[2], rhs[2]), (lhs[3], rhs[3]))


@st.composite
def dot(draw: Draw) -> str:
    sides = draw(products())
    return one("dot", [shape(s) for s in sides.sizes], sides.attributes)


@st.composite
def ragged_dot(draw: Draw) -> str:
    """Cut along a free dimension of the left, a contracting one or a batch one; sizes given once or for every place."""
    groups, cases = draw(st.integers(1, 3)), []
    few = st.sampled_from((1, 2, 2, 3))
    sides = draw(products(few, 2, draw(st.sampled_from((0, groups, groups)))))
    has_group = len(sides.sizes[1]) and sides.free[1] and sides.sizes[1][sides.free[1][0]] == groups
    for kind, places in (("free", sides.free[0]), ("contracting", sides.contracting[0]), ("batch", sides.batch[0])):
        if places and (kind != "free" or has_group):
            cases.append((kind, places))
    if not cases:
        return one(
            "ragged-dot",
            ["f32[2,3]", "f32[2,3,2]", "s32[2]"],
            "lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}",
        )
    kind, places = draw(st.sampled_from(cases))
    ragged = draw(st.sampled_from(places))
    group_dims = sides.free[1][:1] if kind == "free" else []
    before = [] if kind == "batch" else [d for d in places if d < ragged]
    whole = [sides.sizes[0][d] for d in (*(sides.batch[0] if kind != "batch" else ()), *before)]
    counts = [*(whole if draw(st.booleans()) else []), groups]
    attributes = f"{sides.attributes}, lhs_ragged_dims={braces([ragged])}, rhs_group_dims={braces(group_dims)}"
    return one("ragged-dot", [*(shape(s) for s in sides.sizes), shape(counts, "s32")], attributes)


@st.composite
def scaled_dot(draw: Draw) -> str:
    """Each dimension of a scale divides its operand's."""
    sides = draw(products(st.sampled_from((1, 2, 2, 3, 4)), 2))
    scales = [[draw(st.sampled_from([m for m in range(1, n + 1) if n % m == 0])) for n in s] for s in sides.sizes]
    if draw(st.integers(0, 5)) == 0:
        scales[draw(st.integers(0, 1))] = []  # one number
    operands = [shape(s) for s in (*sides.sizes, *scales)]
    return one("scaled-dot", operands, sides.attributes)
