"""Strategies for operations that move elements, and elementwise ones."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from hypothesis import strategies as st

from hloproof.fuzz.drawing import Draw
from hloproof.fuzz.operations.generators.operation_text import boxes, braces, extent, one, shape, sizes


@st.composite
def copy(draw: Draw) -> str:
    s = shape(draw(sizes()))
    return one("copy", [s])


@st.composite
def broadcast(draw: Draw) -> str:
    result = draw(boxes())
    chosen = draw(st.lists(st.sampled_from(range(len(result))), unique=True)) if result else []
    return one("broadcast", [shape([result[d] for d in chosen])], f"dimensions={braces(chosen)}", result=shape(result))


@st.composite
def reshape(draw: Draw) -> str:
    primes = draw(st.lists(st.sampled_from((1, 2, 2, 3, 5)), max_size=5))
    if draw(st.integers(0, 9)) == 0:
        primes = [*primes, 0]
    grouped = [_grouped(draw, primes), _grouped(draw, draw(st.permutations(primes)))]
    return one("reshape", [shape(grouped[1])], result=shape(grouped[0]))


def _grouped(draw: Draw, factors: Sequence[int]) -> list[int]:
    """A factorisation of the product of the factors."""
    out: list[int] = []
    for f in factors:
        if out and draw(st.booleans()):
            out[-1] *= f
        else:
            out.append(f)
    return out


@st.composite
def transpose(draw: Draw) -> str:
    dims = draw(boxes())
    order = draw(st.permutations(range(len(dims))))
    return one("transpose", [shape(dims)], f"dimensions={braces(order)}")


@st.composite
def reverse(draw: Draw) -> str:
    dims = draw(boxes(minimum=1))
    chosen = draw(st.lists(st.sampled_from(range(len(dims))), unique=True))
    return one("reverse", [shape(dims)], f"dimensions={braces(chosen)}")


@st.composite
def slice_(draw: Draw) -> str:
    dims, bounds = draw(boxes()), []
    for n in dims:
        start = draw(st.sampled_from((0, 0, min(1, n), min(2, n), draw(st.integers(0, n)))))
        limit = draw(st.sampled_from((n, n, max(start, n - 1), draw(st.integers(start, n)))))
        stride = draw(st.integers(1, 4))
        bounds.append(f"[{start}:{limit}:{stride}]")
    return one("slice", [shape(dims)], f"slice={braces(bounds)}")


@st.composite
def pad(draw: Draw) -> str:
    dims, padding = draw(boxes(maximum=3, most=20)), []
    most = 4 - len(dims) if len(dims) < 3 else 1
    for n in dims:
        interior = draw(st.integers(0, most))
        full = n + max(0, n - 1) * interior
        # Low edges that crop more than there is are made good by the high one.
        low = draw(st.integers(-min(most + 1, full + 1), most))
        least = max(-most - 1, -(full + low))
        high = draw(st.integers(least, max(least, most)))
        padding.append(f"{low}_{high}_{interior}")
    return one("pad", [shape(dims), shape([])], f"padding={'x'.join(padding)}" if dims else "padding=")


@st.composite
def concatenate(draw: Draw) -> str:
    dims = draw(boxes(minimum=1, maximum=3, most=12))
    axis = draw(st.integers(0, len(dims) - 1))
    parts = draw(st.lists(extent, min_size=1, max_size=4))
    operands = [shape([*dims[:axis], n, *dims[axis + 1 :]]) for n in parts]
    return one("concatenate", operands, f"dimensions={braces([axis])}")


@st.composite
def bitcast_convert(draw: Draw) -> str:
    dims = draw(sizes(maximum=3))
    match draw(st.sampled_from(("same", "narrower", "wider"))):
        case "same":
            return one("bitcast-convert", [shape(dims)], result=shape(dims, "s32"))
        case "narrower":
            wide, narrow, parts = draw(st.sampled_from((("f32", "u8", 4), ("f32", "s16", 2), ("f64", "f32", 2))))
            return one("bitcast-convert", [shape(dims, wide)], result=shape([*dims, parts], narrow))
    wide, narrow = draw(st.sampled_from((("f32", "u16"), ("f64", "f32"), ("f64", "s32"))))
    return one("bitcast-convert", [shape([*dims, 2], narrow)], result=shape(dims, wide))


@st.composite
def bitcast(draw: Draw) -> str:
    """Between arrays that are given by their sizes in the order of memory; tiles where there are two dimensions."""
    case = draw(st.sampled_from(("reordered", "regrouped", "retiled", "width", "width")))
    if case == "reordered":
        sizes, tiles = draw(boxes(maximum=4, most=30)), draw(_tiles)
        return _bitcast(draw, sizes, tiles, sizes, tiles)
    if case == "retiled":
        tile = draw(st.sampled_from(((2, 2), (2, 3), (3, 2), (4,), (2,))))
        sizes = [draw(st.integers(1, 2)) * n for n in tile]
        text = f"T({','.join(map(str, tile))})"
        return _bitcast(draw, sizes, text, [prod(sizes)] if draw(st.booleans()) else sizes, "")
    factors = [n for n in draw(st.lists(st.sampled_from((1, 2, 2, 3, 5)), max_size=4)) if n]
    if draw(st.integers(0, 15)) == 0:
        factors = [*factors, 0]
    one_side, other = _grouped(draw, factors), _grouped(draw, draw(st.permutations(factors)))
    if case == "regrouped":
        return _bitcast(draw, one_side, "", other, "")
    wide, narrow = draw(st.sampled_from((("f32", "u16"), ("s32", "u8"), ("u16", "s8"), ("c64", "f32"), ("f32", "s32"))))
    parts = {"c64": 2, "f32": 2 if narrow == "u16" else 1, "s32": 4, "u16": 2}[wide]
    split = [*other, parts] if draw(st.booleans()) else _grouped(draw, [*draw(st.permutations(factors)), parts])
    sides = ((one_side, wide), (split, narrow))
    (first, kind), (second, kind_to) = sides if draw(st.booleans()) else sides[::-1]
    return _bitcast(draw, first, "", second, "", kind, kind_to)


_tiles = st.sampled_from(
    ("", "", "T(2)", "T(2,3)", "T(2,2)", "T(4,2)(2,1)", "T(2,2)(2)", "T(*,2)", "T(2,3,2)", "T(2)(2,2)")
)


@st.composite
def bitcast_rows(draw: Draw) -> str:
    """Equal tiles over equal sizes below, and whole rows of tiles on both sides; or all but one of these."""
    combined = draw(st.integers(0, 7)) == 0
    tile = (1, 2) if combined else draw(st.sampled_from(((2, 3), (2, 2), (3, 2), (2,), (2,), (2,), (2, 1, 2))))
    below = [draw(st.sampled_from((n, 2 * n, n + 1, 1))) for n in tile[1:]]
    rows = [draw(st.sampled_from((1, 2, 2, 3))) for _ in range(draw(st.integers(1, 2)))]
    but = draw(st.sampled_from(("nothing", "nothing", "bits", "below", "rows", "rank", "tiles", "more tiles")))
    last = tile[0] * draw(st.integers(1, 2)) + (but == "rows")
    to = [*_grouped(draw, rows), last] if draw(st.booleans()) else [prod(rows) * last]
    kind, below_to = "f32", below
    match but:
        case "bits":
            kind, to = "u16", [*to[:-1], to[-1] * 2]
        case "below":
            below_to = draw(st.permutations(below))
        case "rank":
            to, below_to = [prod(to) * prod(below)], []
    text = "T(*,2)" if combined else f"T({','.join(map(str, tile))})" + draw(st.sampled_from(("", "", "(2,1)", "(2)")))
    text += "(2,1)" if but == "more tiles" else ""
    sides = ([*rows, last, *below], text, "f32"), ([*to, *below_to], "" if but == "tiles" else text, kind)
    (sizes, tiles, first), (sizes_to, tiles_to, second) = sides if draw(st.booleans()) else sides[::-1]
    return _bitcast(draw, sizes, tiles, sizes_to, tiles_to, first, second)


def _bitcast(
    draw: Draw,
    sizes: Sequence[int],
    tiles: str,
    to: Sequence[int],
    tiles_to: str,
    kind: str = "f32",
    kind_to: str = "f32",
) -> str:
    return one("bitcast", [_laid(draw, sizes, tiles, kind)], result=_laid(draw, to, tiles_to, kind_to))


def _laid(draw: Draw, sizes: Sequence[int], tiles: str, kind: str) -> str:
    """An array with these sizes in the order of memory; tiles only where it has as many dimensions."""
    order = draw(st.permutations(range(len(sizes))))
    dims = [n for _, n in sorted(zip(order, sizes, strict=True))]
    ending = f":{tiles}" if tiles and sizes else ""
    if not sizes or (not ending and list(order) == sorted(order) and draw(st.booleans())):
        return shape(dims, kind)
    return f"{shape(dims, kind)}{{{','.join(map(str, reversed(order)))}{ending}}}"
