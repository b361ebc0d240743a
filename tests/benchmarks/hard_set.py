"""The generated hard set: obligations that naive encodings are slow on, each true one beside a false neighbour."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import prod

from hloproof.logic.formula import Formula, conj, eq, le, lt, within
from hloproof.logic.obligation import Obligation
from hloproof.models.expressions.expr import Const, Expr, Var, maximum, minimum
from hloproof.models.expressions.interval import Interval

Sizes = Sequence[int]


def linearize(index: Sequence[Expr], sizes: Sizes) -> Expr:
    """Row-major position of an index."""
    position: Expr = Const(0)
    for i, n in zip(index, sizes, strict=True):
        position = position * n + i
    return position


def delinearize(position: Expr, sizes: Sizes) -> list[Expr]:
    """The index at a row-major position; the first coordinate has no `mod`, as in XLA's reshape maps."""
    index: list[Expr] = []
    stride = 1
    for axis in reversed(range(len(sizes))):
        quotient = position // stride if stride > 1 else position
        index.append(quotient % sizes[axis] if axis > 0 else quotient)
        stride *= sizes[axis]
    return index[::-1]


def box(sizes: Sizes, prefix: str = "d") -> tuple[tuple[str, Interval], ...]:
    return tuple((f"{prefix}{i}", Interval.of_size(n)) for i, n in enumerate(sizes))


def names(sizes: Sizes, prefix: str = "d") -> list[Expr]:
    return [Var(f"{prefix}{i}") for i in range(len(sizes))]


def all_equal(xs: Sequence[Expr], ys: Sequence[Expr]) -> Formula:
    return conj(*(eq(x, y) for x, y in zip(xs, ys, strict=True)))


def reshape_chain(shapes: Sequence[Sizes], label: str, wrong: bool = False) -> Obligation:
    """Reshaping through all of the shapes and back to the first is the identity. `wrong` swaps two sizes on the way
    back down, which is another function (unless they are equal)."""
    index: list[Expr] = names(shapes[0])
    for before, after in zip(shapes, [*shapes[1:], shapes[0]], strict=True):
        position = linearize(index, before)
        if wrong and after is shapes[0]:
            position = position + 1
        index = delinearize(position, after)
    return Obligation(box(shapes[0]), all_equal(index, names(shapes[0])), label=label)


def same_digits(shapes: Sequence[Sizes], label: str, wrong: bool = False) -> Obligation:
    """From a linear index: its index in the last shape by way of all of them is the one made directly. `wrong` takes
    the shapes on the way one element further."""
    total = prod(shapes[0])
    position: Expr = Var("i")
    for sizes in shapes:
        position = linearize(delinearize(position, sizes), sizes)
    by_way = delinearize(position + int(wrong), shapes[-1])
    direct = delinearize(Var("i"), shapes[-1])
    return Obligation((("i", Interval.of_size(total)),), all_equal(by_way, direct), label=label)


def digits_in_bounds(shapes: Sequence[Sizes], label: str) -> Obligation:
    """The index reached through all of the shapes lies within the last."""
    index: list[Expr] = names(shapes[0])
    for before, after in pairwise(shapes):
        index = delinearize(linearize(index, before), after)
    inside = conj(*(within(e, Interval.of_size(n)) for e, n in zip(index, shapes[-1], strict=True)))
    return Obligation(box(shapes[0]), inside, label=label)


def two_ways(shapes: Sequence[Sizes], label: str) -> Obligation:
    """Through all of the shapes, or from the first to the last at once: the same index, by relation: a position of the
    last shape that one way reaches from d, the other reaches too."""
    first, last = shapes[0], shapes[-1]
    index: list[Expr] = names(first)
    for before, after in pairwise(shapes):
        index = delinearize(linearize(index, before), after)
    target = names(last, "x")
    direct = delinearize(linearize(names(first), first), last)
    return Obligation((*box(first), *box(last, "x")), all_equal(target, direct), all_equal(index, target), label)


def tiled_position(index: Sequence[Expr], sizes: Sizes, tiles: Sequence[Sizes]) -> Expr:
    """The linear position under tiles, each applied to the suffix of the dimensions that the one before made."""
    parts, extents = list(index), list(sizes)
    for tile in tiles:
        at = len(parts) - len(tile)
        outer = [e // t for e, t in zip(parts[at:], tile, strict=True)]
        inner = [e % t for e, t in zip(parts[at:], tile, strict=True)]
        counts = [-(-n // t) for n, t in zip(extents[at:], tile, strict=True)]
        parts, extents = parts[:at] + outer + inner, extents[:at] + counts + list(tile)
    return linearize(parts, extents)


def tiling_one_to_one(sizes: Sizes, tiles: Sequence[Sizes], label: str) -> Obligation:
    d, e = names(sizes, "d"), names(sizes, "e")
    same = eq(tiled_position(d, sizes, tiles), tiled_position(e, sizes, tiles))
    return Obligation((*box(sizes, "d"), *box(sizes, "e")), all_equal(d, e), same, label)


def tiling_in_bounds(sizes: Sizes, tiles: Sequence[Sizes], extent: int, label: str) -> Obligation:
    position = tiled_position(names(sizes), sizes, tiles)
    return Obligation(box(sizes), within(position, Interval.of_size(extent)), label=label)


def nest(r: random.Random, depth: int, label: str, wrong: bool) -> Obligation:
    """(((d floordiv a) floordiv b) ...) is d floordiv (a * b * ...), with mods folded back in between."""
    d: Expr = Var("d0")
    e, divisor = d, 1
    for _ in range(depth):
        k = r.choice([2, 3, 5, 7, 10, 12])
        e = (((e // k) * k) + e % k) // k
        divisor *= k
    return Obligation((("d0", Interval(0, 2**40)),), eq(e, d // (divisor + wrong)), label=label)


def symbolic(label: str, kind: int) -> Obligation:
    x, y, a, b = Var("x"), Var("y"), Var("a"), Var("b")
    variables = tuple((v, None) for v in "xyab")
    positive = conj(lt(0, a), lt(0, b))
    inside = conj(positive, le(0, y), lt(y, a))
    statements: list[tuple[Formula, Formula]] = [
        (inside, eq((x * a + y) // a, x)),
        (inside, eq((x * a + y) % a, y)),
        (positive, eq((x // a) * a + x % a, x)),
        (positive, eq((x % a) % a, x % a)),
        (conj(positive, le(0, x)), le(x // a, x)),
        (positive, eq((x + a) // a, x // a + 1)),
        (positive, eq((x + a * b) % a, x % a)),
        (positive, eq((x // a) // b, x // (a * b))),
        (inside, eq(minimum(maximum(y, 0), a + -1), y)),
        (positive, eq((x % a) // a, 0)),
        (conj(positive, le(0, x), lt(x, a * b)), lt(x // a, b)),
        (positive, eq((x // a) % b * a + x % a, x % (a * b))),
        (positive, eq((x // a) // b, x // (a + b))),  # false
        (positive, eq((x + y) // a, x // a + y // a)),  # false
        (positive, eq((x % (a * b)) % b, x % a)),  # false
    ]
    hypothesis, conclusion = statements[kind % len(statements)]
    return Obligation(variables, conclusion, hypothesis, label)


COPRIME_CHAINS: list[list[Sizes]] = [
    [(7, 11, 13), (13, 77)],
    [(7, 11, 13), (91, 11), (143, 7)],
    [(6, 35), (10, 21), (14, 15)],
    [(30, 77), (42, 55), (66, 35), (70, 33)],
    [(1023, 1025), (1025, 1023)],
    [(17, 19, 23), (23, 19, 17)],
    [(2, 3, 5, 7), (7, 5, 3, 2), (35, 6), (10, 21)],
    [(12, 18), (18, 12), (8, 27)],
    [(50257, 768), (768, 50257)],
    [(127, 129, 64), (129, 127, 64), (64, 129, 127)],
]
ALIGNED_CHAINS: list[list[Sizes]] = [
    [(2, 3, 4, 5), (6, 20), (120,)],
    [(1024, 768), (1024, 12, 64), (2, 512, 768)],
    [(8, 128, 4096), (1024, 32, 128), (8, 128, 32, 128)],
    [(2**20, 2**20), (2**40,), (2**10, 2**30)],
    [(3, 2**38), (3 * 2**19, 2**19), (2**19, 3 * 2**19)],
    [(2,) * 12, (4,) * 6, (8,) * 4, (4096,)],
    [(2, 3) * 6, (6,) * 6, (36,) * 3],
    [(3, 5, 7, 2, 2, 2, 3, 5, 2, 2, 2, 2), (105, 8, 15, 16), (840, 240)],
]
TILINGS: list[tuple[Sizes, list[Sizes]]] = [
    ((100, 200), [(8, 128)]),
    ((1024, 512), [(8, 128)]),
    ((1024, 512), [(8, 128), (2, 1)]),
    ((2047, 50257), [(8, 128)]),
    ((2047, 50257), [(8, 128), (4, 1)]),
    ((16, 1023, 1025), [(8, 128), (2, 1)]),
    ((3, 5, 7), [(2, 2), (2, 1)]),
    ((33, 129, 65), [(8, 128), (4, 1)]),
    ((1000001,), [(512,), (128,), (4, 1)]),
    ((2**20 + 7, 2**19 + 3), [(8, 128), (4, 1)]),
]


def hard_set(seed: int = 0) -> Iterator[Obligation]:
    """About 160 obligations; the same for the same seed."""
    r = random.Random(seed)
    for kind, chains in (("coprime", COPRIME_CHAINS), ("aligned", ALIGNED_CHAINS)):
        for number, chain in enumerate(chains):
            yield reshape_chain(chain, f"{kind} reshape chain {number}")
            yield reshape_chain(chain, f"{kind} reshape chain {number}, shifted", wrong=True)
            yield same_digits(chain, f"{kind} digits {number}")
            yield same_digits(chain, f"{kind} digits {number}, shifted", wrong=True)
            yield digits_in_bounds(chain, f"{kind} digits {number} in bounds")
            yield two_ways(chain, f"{kind} reshape chain {number}, two ways")
    for number, (sizes, tiles) in enumerate(TILINGS):
        label = f"tiling {number}"
        yield tiling_one_to_one(sizes, tiles, f"{label} one to one")
        extents = list(sizes)
        at = len(extents) - len(tiles[0])
        padded = prod(extents[:at]) * prod(-(-n // t) * t for n, t in zip(extents[at:], tiles[0], strict=True))
        rows = tiles[1:] and len(tiles[1]) != len(tiles[0])
        yield tiling_in_bounds(sizes, tiles, padded * (4 if rows else 1), f"{label} in bounds")
        yield tiling_in_bounds(sizes, tiles, padded // 2, f"{label} in half the bounds")
    for depth in (2, 4, 6, 8, 10, 12):
        yield nest(r, depth, f"nest of depth {depth}", False)
        yield nest(r, depth, f"nest of depth {depth}, wrong divisor", True)
    for kind_number in range(15):
        yield symbolic(f"symbolic {kind_number}", kind_number)
