"""A tile format proved for all shapes of a rank: `f32[?,?]{1,0:T(8,128)(2,1)}`, every `?` any size.

The chain of steps as for one shape, with symbolic sizes, cut so fine that each sub-goal has one product at most:
dividing one coordinate by one tile size, and joining two coordinates into one number. A sub-goal is stated for every
size that the place can have, so equal ones occur once. That joining two at a time gives the sum of the formula is an
identity between polynomials, in which each quotient and remainder is one unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from hloproof.claims.layouts.claims import LayoutClaim
from hloproof.logic.formula import conj, eq, le, lt
from hloproof.logic.obligation import Obligation
from hloproof.models.errors import NotModelled
from hloproof.models.expressions.expr import Binary, Const, Expr, Var, rebuild
from hloproof.models.hlo.shape import COMBINE, ArrayShape, Tile
from hloproof.models.layouts.physical import check_dense
from hloproof.models.maps.indexing_map import dim


@dataclass(frozen=True, slots=True)
class Coordinate:
    """A coordinate and its size, both over d0, d1, ... and the sizes n0, n1, ..."""

    value: Expr
    size: Expr


@dataclass
class _Goals:
    """The sub-goals of the three claims, each once."""

    one_to_one: dict[Obligation, None] = field(default_factory=dict)
    inside: dict[Obligation, None] = field(default_factory=dict)
    inverse: dict[Obligation, None] = field(default_factory=dict)
    combined: list[Obligation] = field(default_factory=list)
    """Two per combined dimension: its coordinate and its size."""

    def divide(self, t: int) -> None:
        """x to (x floordiv t, x mod t), for any size n of x."""
        x, z, n, tile = Var("x"), Var("z"), Var("n"), Const(t)
        name = f"dividing by {t}"
        self.one_to_one[
            Obligation(
                (("x", None), ("z", None)),
                eq(x, z),
                conj(eq(x // tile, z // tile), eq(x % tile, z % tile)),
                f"{name}: one to one",
            )
        ] = None
        self.inside[
            Obligation(
                (("x", None), ("n", None)),
                conj(le(0, x // tile), lt(x // tile, n.ceildiv(tile)), le(0, x % tile), lt(x % tile, tile)),
                conj(le(0, x), lt(x, n)),
                f"{name}: inside",
            )
        ] = None
        self.inverse[Obligation((("x", None),), eq(x // tile * tile + x % tile, x), label=f"{name}: inverse")] = None

    def join(self, size: Expr) -> None:
        """(x, a) to x * size + a, for any x and 0 <= a < size."""
        x, z, a, b, m = Var("x"), Var("z"), Var("a"), Var("b"), Var("m")
        # Any product of sizes becomes one unknown: the goal is then one for all places with a `?`, and has one product
        # only.
        n = size if isinstance(size, Const) else Var("n")
        own = () if isinstance(size, Const) else (("n", None),)
        name = f"joining with a coordinate of size {size.value}" if isinstance(size, Const) else "joining, any size"
        self.one_to_one[
            Obligation(
                (*own, ("x", None), ("z", None), ("a", None), ("b", None)),
                conj(eq(x, z), eq(a, b)),
                conj(le(0, a), lt(a, n), le(0, b), lt(b, n), eq(x * n + a, z * n + b)),
                f"{name}: one to one",
            )
        ] = None
        self.inside[
            Obligation(
                (*own, ("m", None), ("x", None), ("a", None)),
                conj(le(0, x * n + a), lt(x * n + a, m * n)),
                conj(le(0, x), lt(x, m), le(0, a), lt(a, n)),
                f"{name}: inside",
            )
        ] = None
        self.inverse[
            Obligation(
                (*own, ("x", None), ("a", None)),
                conj(eq((x * n + a) // n, x), eq((x * n + a) % n, a)),
                conj(le(0, a), lt(a, n)),
                f"{name}: inverse",
            )
        ] = None


def is_format(shape: ArrayShape) -> bool:
    """Whether some size is `?`: the claims are then for all sizes there."""
    return any(n < 0 for n in shape.dimensions)


def format_claims(shape: ArrayShape) -> tuple[LayoutClaim, ...]:
    """One to one, inside of the padded size, and inverse, for all sizes of the dimensions `?`.

    Raises NotModelled for split dimensions, `L(n)` and sparse arrays.
    """
    layout = shape.layout
    check_dense(shape)
    if layout is not None and (layout.split_configs or layout.tail_padding):
        raise NotModelled("a layout with split dimensions or tail padding for all sizes")
    goals = _Goals()
    index = _coordinates(shape)
    for tile in layout.tiles if layout is not None else ():
        index = _combine(index, tile, goals)
        index = _divide(index, [t for t in tile.dimensions if t != COMBINE], goals)
    joined = _join(index, goals).value
    composed = _identity(joined, _linear_index(index), "the formula is the composition of the steps")
    kinds = (
        ("one-to-one", "no two elements share a position, for all sizes", goals.one_to_one),
        ("inside", "every position is inside of the padded size, for all sizes", goals.inside),
        ("inverse", "the way back is the inverse, for all sizes", goals.inverse),
    )
    return tuple(
        LayoutClaim(name, statement, (*goals.combined, composed, *found), None, lambda _: "")
        for name, statement, found in kinds
    )


def _coordinates(shape: ArrayShape) -> tuple[Coordinate, ...]:
    """The physical coordinates, most major first; size n<i> where logical dimension i is `?`."""
    order = tuple(range(shape.rank))
    if shape.layout is not None and shape.layout.minor_to_major:
        order = shape.layout.minor_to_major[::-1]
    return tuple(
        Coordinate(dim(i), Const(shape.dimensions[i]) if shape.dimensions[i] >= 0 else Var(f"n{i}")) for i in order
    )


def _combine(index: tuple[Coordinate, ...], tile: Tile, goals: _Goals) -> tuple[Coordinate, ...]:
    """Ones in front for a longer tile; dimensions marked `*` joined into the next. A joined coordinate and its size are
    unknowns from here on, once both readings agree on them."""
    entries = tile.dimensions
    index = (Coordinate(Const(0), Const(1)),) * (len(entries) - len(index)) + index
    out = list(index[: len(index) - len(entries)])
    group: list[Coordinate] = []
    for c, t in zip(index[len(out) :], entries, strict=True):
        group.append(c)
        if t == COMBINE:
            continue
        if len(group) == 1:
            out.append(c)
        else:
            k = len(goals.combined) // 2
            goals.combined += _same_joined(group, _join(group, goals))
            out.append(Coordinate(Var(f"c{k}"), Var(f"m{k}")))
        group = []
    return tuple(out)


def _same_joined(group: Sequence[Coordinate], joined: Coordinate) -> list[Obligation]:
    """The document's way to combine, dimension by dimension from the minor end, gives the same coordinate and size."""
    value, size = group[-1].value, group[-1].size
    for c in reversed(group[:-1]):
        value, size = c.value * size + value, c.size * size
    return [
        _identity(joined.value, value, "the combined coordinate in both readings"),
        _identity(joined.size, size, "the combined size in both readings"),
    ]


def _divide(index: tuple[Coordinate, ...], tile: Sequence[int], goals: _Goals) -> tuple[Coordinate, ...]:
    front = len(index) - len(tile)
    for t in tile:
        goals.divide(t)
    tiled = list(zip(index[front:], tile, strict=True))
    return (
        *index[:front],
        *(Coordinate(c.value // t, _ceildiv(c.size, t)) for c, t in tiled),
        *(Coordinate(c.value % t, Const(t)) for c, t in tiled),
    )


def _ceildiv(size: Expr, t: int) -> Expr:
    return Const(-(-size.value // t)) if isinstance(size, Const) else size.ceildiv(t)


def _join(index: Sequence[Coordinate], goals: _Goals) -> Coordinate:
    """Two at a time, from the most major one on."""
    if not index:
        return Coordinate(Const(0), Const(1))
    whole = index[0]
    for c in index[1:]:
        goals.join(c.size)
        whole = Coordinate(whole.value * c.size + c.value, whole.size * c.size)
    return whole


def _linear_index(index: tuple[Coordinate, ...]) -> Expr:
    """The documents' formula: the sum of the coordinates, each times the product of all sizes behind it."""
    total: Expr = Const(0)
    for k, c in enumerate(index):
        term = c.value
        for behind in index[k + 1 :]:
            term = term * behind.size
        total = total + term
    return total


def _identity(one: Expr, two: Expr, label: str) -> Obligation:
    """one == two for all values of the variables, and of every quotient and remainder in them."""
    unknowns: dict[Expr, Expr] = {}

    def node(op: str, lhs: Expr, rhs: Expr) -> Expr:
        e = Binary(op, lhs, rhs)  # type: ignore[arg-type]
        # The same quotient is the same unknown on both sides; what it is does not matter to the sum.
        return unknowns.setdefault(e, Var(f"u{len(unknowns)}")) if op in ("floordiv", "ceildiv", "mod") else e

    left, right = rebuild(one, lambda e: e, node), rebuild(two, lambda e: e, node)
    return Obligation(tuple((name, None) for name in sorted(left.free | right.free)), eq(left, right), label=label)
