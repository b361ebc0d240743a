"""Operations with a window: strides that do not divide, negative padding, dilation on both sides, windows larger than
what they slide over."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from hloproof.fuzz.operations.generators.builder import FOLDS, POSITIVE, Builder, Write, shape
from hloproof.models.hlo.attributes import Window, WindowDimension


def _dimension(b: Builder, size: int) -> WindowDimension:
    """One window dimension, no wider than what is left of the base when it is cropped."""
    taps, stride, dilation = b.number(1, 3), b.number(1, 3), b.one_of((1, 1, 2, 3))
    low, high = b.number(-1, 3), b.number(-1, 3)
    spread = (size - 1) * dilation + 1 if size else 0
    if spread + low + high < 0:
        low, high = 0, 0
    return WindowDimension(taps, stride, low, high, dilation, b.one_of((1, 1, 2)))


def reduce_window(b: Builder) -> None:
    """Of one array, or of two at once; without dimensions now and then."""
    dims = b.sizes(most=2)
    window = Window(tuple(_dimension(b, n) for n in dims)) if dims else None
    count = 2 if b.chance(4) else 1
    fold = "crossed" if count == 2 else b.one_of(FOLDS)
    b.op("reduce-window", *[shape(dims)] * count, *["f32[]"] * count, window=window, to_apply=fold)


def select_and_scatter(b: Builder) -> None:
    dims = b.sizes(1, 2, POSITIVE)
    window = [
        replace(w, padding_low=max(0, w.padding_low), padding_high=max(0, w.padding_high))
        for w in (replace(_dimension(b, n), base_dilation=1, window_dilation=1) for n in dims)
    ]
    places = [
        max(0, (n + w.padding_low + w.padding_high - w.size) // w.stride + 1) for n, w in zip(dims, window, strict=True)
    ]
    b.op(
        "select-and-scatter",
        *(shape(dims), shape(places), "f32[]"),
        window=Window(tuple(window)),
        select=b.one_of(("is_GE", "is_GE", "is_GT", "is_LE", "is_LT")),
        scatter=b.one_of(FOLDS),
    )


def convolution(b: Builder) -> None:
    spatial = b.sizes(most=2, of=POSITIVE)
    window = [replace(_dimension(b, n), reversal=b.chance(2)) for n in spatial]
    batch, features, outputs = b.number(1, 2), b.number(1, 2), b.number(1, 2)
    attributes: dict[str, Any] = {"window": Window(tuple(window))} if window else {}
    groups, counts = {"feature": 1, "batch": 1}, b.one_of((None, "feature", "batch"))
    if counts:
        groups[counts] = b.number(1, 3)
    letters = [str(k) for k in range(len(spatial))]
    lhs_order, rhs_order, out_order = (b.shuffled([*some, *letters]) for some in ("bf", "io", "bf"))
    attributes["dim_labels"] = f"{''.join(lhs_order)}_{''.join(rhs_order)}->{''.join(out_order)}"
    attributes |= {f"{kind}_group_count": n for kind, n in groups.items() if n > 1}
    lhs = {"b": batch * groups["batch"], "f": features * groups["feature"], **dict(zip(letters, spatial, strict=True))}
    rhs = {"i": features, "o": outputs * groups["feature"] * groups["batch"]}
    rhs |= {c: w.size for c, w in zip(letters, window, strict=True)}
    b.op("convolution", shape([lhs[c] for c in lhs_order]), shape([rhs[c] for c in rhs_order]), **attributes)


DRAWN: Final[tuple[Write, ...]] = (reduce_window, select_and_scatter, convolution)
