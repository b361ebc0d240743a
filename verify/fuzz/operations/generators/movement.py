"""Operations that move elements. Those of STEPS work on whatever arrays the builder gives them, alone or in a chain."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final

from hloproof.fuzz.operations.generators.builder import Array, Builder, Write, shape
from hloproof.models.hlo.attributes import PaddingDimension, SliceDimension


def copy(b: Builder) -> None:
    x = b.tensor()
    b.op("copy", x, sizes=x.sizes)


def broadcast(b: Builder) -> None:
    """Dimensions of the operand in any order, new ones between them."""
    x = b.tensor(most=3, elements=24)
    sizes = [*x.sizes, *(max(b.least, b.number(0, 3)) for _ in range(b.number(0, max(1, 4 - len(x.sizes)))))]
    order = b.shuffled(range(len(sizes)))
    result = [sizes[k] for k in order]
    dimensions = [order.index(k) for k in range(len(x.sizes))]
    b.op("broadcast", x, sizes=result, result=shape(result), dimensions=dimensions)


def reshape(b: Builder) -> None:
    x = b.tensor()
    factors = [f for n in x.sizes for f in _FACTORS.get(n, (n,))] + [1] * b.number(0, 1)
    sizes = b.grouped(b.shuffled(factors))
    b.op("reshape", x, sizes=sizes, result=shape(sizes))


_FACTORS: Final = {1: (), 4: (2, 2), 6: (2, 3), 8: (2, 2, 2), 9: (3, 3), 10: (2, 5), 12: (2, 2, 3)}


def transpose(b: Builder) -> None:
    x = b.tensor()
    order = b.shuffled(range(len(x.sizes)))
    b.op("transpose", x, sizes=[x.sizes[k] for k in order], dimensions=order)


def reverse(b: Builder) -> None:
    x = b.tensor(least=1)
    b.op("reverse", x, sizes=x.sizes, dimensions=b.some(range(len(x.sizes))))


def slice_(b: Builder) -> None:
    x, bounds = b.tensor(), []
    for n in x.sizes:
        start = b.one_of((0, 0, min(1, n), min(2, n), b.number(0, n)))
        start = max(0, min(start, n - b.least))
        limit = b.one_of((n, n, max(start, n - 1), b.number(start, n)))
        bounds.append(SliceDimension(start, max(limit, min(n, start + b.least)), b.number(1, 4)))
    sizes = [len(range(d.start, d.limit, d.stride)) for d in bounds]
    b.op("slice", x, sizes=sizes, slice=tuple(bounds))


def pad(b: Builder) -> None:
    """Interior padding, and edges that crop: low ones that crop more than there is are made good by the high one."""
    x, padding, sizes = b.tensor(b.least, 3, 20), [], []  # the real compiler reads no padding of a scalar
    most = max(1, 4 - len(x.sizes))
    for n in x.sizes:
        interior = b.number(0, most)
        full = n + max(0, n - 1) * interior
        low = b.number(-min(most + 1, full + 1), most)
        least = max(-most - 1, b.least - (full + low))
        padding.append(PaddingDimension(low, b.number(least, max(least, most)), interior))
        sizes.append(full + low + padding[-1].high)
    b.op("pad", x, b.zero(), sizes=sizes, padding=tuple(padding))


def concatenate(b: Builder) -> None:
    x = b.tensor(1, 3, 12)
    axis = b.axis(x.sizes)
    parts = b.shuffled([x, *b.beside(x, axis)])
    sizes = [*x.sizes[:axis], sum(p.sizes[axis] for p in parts), *x.sizes[axis + 1 :]]
    b.op("concatenate", *parts, sizes=sizes, dimensions=[axis])


def reduce(b: Builder) -> None:
    """Over any of its dimensions, none included."""
    x = b.tensor()
    chosen = b.some(range(len(x.sizes)))
    sizes = [n for k, n in enumerate(x.sizes) if k not in chosen]
    b.op("reduce", x, b.zero(), sizes=sizes, dimensions=chosen, to_apply=b.one_of(b.folds))


def dynamic_slice(b: Builder) -> None:
    """Windows up to the operand, sizes of 0 included."""
    x = b.tensor(most=3, elements=30)
    window = _window(b, x)
    b.op("dynamic-slice", x, *b.starts(len(x.sizes)), sizes=window, dynamic_slice_sizes=window)


def dynamic_update_slice(b: Builder) -> None:
    """Updates up to the operand, sizes of 0 included."""
    x = b.tensor(most=3, elements=30)
    b.op("dynamic-update-slice", x, b.array(_window(b, x)), *b.starts(len(x.sizes)), sizes=x.sizes)


def _window(b: Builder, x: Array) -> list[int]:
    return [max(min(b.least, n), b.one_of((n, max(0, n - 1), b.number(0, n), min(1, n)))) for n in x.sizes]


STEPS: Final[tuple[Write, ...]] = (
    reshape,
    transpose,
    slice_,
    pad,
    reverse,
    broadcast,
    concatenate,
    reduce,
    dynamic_slice,
    dynamic_update_slice,
    copy,
)


def bitcast_convert(b: Builder) -> None:
    dims = b.sizes(most=3)
    whole = (
        ("f32", "s32", 1),
        ("f32", "u8", 4),
        ("f32", "s16", 2),
        ("f32", "u16", 2),
        ("f64", "f32", 2),
        ("f64", "s32", 2),
    )
    wide, narrow, parts = b.one_of(whole)
    sides = shape(dims, wide), shape([*dims, parts] if parts > 1 else dims, narrow)
    operand, result = sides if b.chance(2) else sides[::-1]
    b.op("bitcast-convert", operand, result=result)


def bitcast_of_bits(b: Builder) -> None:
    """Between types of one width, without layouts."""
    kind, kind_to = b.one_of((("f32", "s32"), ("s32", "f32"), ("u8", "s8"), ("f32", "f32")))
    dims = b.sizes(2, 2)
    b.op("bitcast", shape(dims, kind), result=shape([prod(dims)], kind_to))


def bitcast(b: Builder) -> None:
    """Between arrays that are given by their sizes in the order of memory; tiles where there are two dimensions."""
    case = b.one_of(("reordered", "regrouped", "retiled", "width", "width"))
    if case == "reordered":
        sizes, tiles = b.box(elements=30), b.one_of(_TILES)
        return _bitcast(b, (sizes, tiles, "f32"), (sizes, tiles, "f32"))
    if case == "retiled":
        tile = b.one_of(((2, 2), (2, 3), (3, 2), (4,), (2,)))
        sizes = [b.number(1, 2) * n for n in tile]
        text = f"T({','.join(map(str, tile))})"
        return _bitcast(b, (sizes, text, "f32"), ([prod(sizes)] if b.chance(2) else sizes, "", "f32"))
    factors = b.sizes(most=4, of=(1, 2, 2, 3, 5)) + ([0] if b.chance(16) else [])
    one_side, other = b.grouped(factors), b.grouped(b.shuffled(factors))
    if case == "regrouped":
        return _bitcast(b, (one_side, "", "f32"), (other, "", "f32"))
    wide, narrow = b.one_of((("f32", "u16"), ("s32", "u8"), ("u16", "s8"), ("c64", "f32"), ("f32", "s32")))
    parts = {"c64": 2, "f32": 2 if narrow == "u16" else 1, "s32": 4, "u16": 2}[wide]
    split = [*other, parts] if b.chance(2) else b.grouped([*b.shuffled(factors), parts])
    return _bitcast(b, (one_side, "", wide), (split, "", narrow), turned=b.chance(2))


_TILES: Final = ("", "", "T(2)", "T(2,3)", "T(2,2)", "T(4,2)(2,1)", "T(2,2)(2)", "T(*,2)", "T(2,3,2)", "T(2)(2,2)")


def bitcast_rows(b: Builder) -> None:
    """Equal tiles over equal sizes below, and whole rows of tiles on both sides; or all but one of these."""
    combined = b.chance(8)
    tile = (1, 2) if combined else b.one_of(((2, 3), (2, 2), (3, 2), (2,), (2,), (2,), (2, 1, 2)))
    below = [b.one_of((n, 2 * n, n + 1, 1)) for n in tile[1:]]
    rows = [b.one_of((1, 2, 2, 3)) for _ in range(b.number(1, 2))]
    but = b.one_of(("nothing", "nothing", "bits", "below", "rows", "rank", "tiles", "more tiles"))
    last = tile[0] * b.number(1, 2) + (but == "rows")
    to = [*b.grouped(rows), last] if b.chance(2) else [prod(rows) * last]
    kind, below_to = "f32", below
    match but:
        case "bits":
            kind, to = "u16", [*to[:-1], to[-1] * 2]
        case "below":
            below_to = b.shuffled(below)
        case "rank":
            to, below_to = [prod(to) * prod(below)], []
    text = "T(*,2)" if combined else f"T({','.join(map(str, tile))})" + b.one_of(("", "", "(2,1)", "(2)"))
    text += "(2,1)" if but == "more tiles" else ""
    sides = ([*rows, last, *below], text, "f32"), ([*to, *below_to], "" if but == "tiles" else text, kind)
    _bitcast(b, *sides, turned=b.chance(2))


_Laid = tuple[Sequence[int], str, str]
"""Sizes in the order of memory, tiles, type."""


def _bitcast(b: Builder, operand: _Laid, result: _Laid, turned: bool = False) -> None:
    given, made = _laid(b, *operand), _laid(b, *result)
    b.op("bitcast", made if turned else given, result=given if turned else made)


def _laid(b: Builder, sizes: Sequence[int], tiles: str, kind: str) -> str:
    """An array with these sizes in the order of memory; tiles only where it has as many dimensions."""
    order = b.shuffled(range(len(sizes)))
    dims = [n for _, n in sorted(zip(order, sizes, strict=True))]
    ending = f":{tiles}" if tiles and sizes else ""
    if not sizes or (not ending and order == sorted(order) and b.chance(2)):
        return shape(dims, kind)
    return f"{shape(dims, kind)}{{{','.join(map(str, reversed(order)))}{ending}}}"


DRAWN: Final = (*STEPS, bitcast_convert, bitcast_of_bits, bitcast, bitcast_rows)
