"""Strategies for operations with a window: strides that do not divide, negative padding, dilation on both sides,
windows larger than what they slide over.
"""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from hloproof.fuzz.drawing import Draw
from hloproof.fuzz.operations.generators.operation_text import CROSSED, GE, fold, one, positive, shape, sizes


@st.composite
def window_dimension(draw: Draw, size: int, base_dilation: bool = True, reversal: bool = False) -> dict[str, int]:
    """Fields of one window dimension, no wider than what is left of the base when it is cropped."""
    taps = draw(st.integers(1, 3))
    stride, window_dilation = draw(st.integers(1, 3)), draw(st.sampled_from((1, 1, 2)))
    dilation = draw(st.sampled_from((1, 1, 2, 3))) if base_dilation else 1
    low, high = draw(st.integers(-1, 3)), draw(st.integers(-1, 3))
    spread = (size - 1) * dilation + 1 if size else 0
    if spread + low + high < 0:
        low, high = 0, 0
    return {
        "size": taps,
        "stride": stride,
        "low": low,
        "high": high,
        "lhs": dilation,
        "rhs": window_dilation,
        "reversal": int(reversal and draw(st.booleans())),
    }


def window_text(dims: Sequence[dict[str, int]]) -> str:
    def joined(name: str) -> str:
        return "x".join(str(d[name]) for d in dims)

    text = f"size={joined('size')} stride={joined('stride')} pad=" + "x".join(f"{d['low']}_{d['high']}" for d in dims)
    text += f" lhs_dilate={joined('lhs')} rhs_dilate={joined('rhs')}"
    if any(d["reversal"] for d in dims):
        text += f" rhs_reversal={joined('reversal')}"
    return "{" + text + "}"


@st.composite
def reduce_window(draw: Draw) -> str:
    """Of one array, or of two at once; without dimensions now and then."""
    dims = draw(sizes(maximum=2))
    window = [draw(window_dimension(n)) for n in dims]
    s = shape(dims)
    text = f"window={window_text(window)}, " if dims else ""
    if draw(st.integers(0, 3)) == 0:
        operands = [s, s, shape([]), shape([])]
        return one("reduce-window", operands, f"{text}to_apply=both", CROSSED)
    name, body = draw(fold())
    return one("reduce-window", [s, shape([])], f"{text}to_apply={name}", body)


@st.composite
def select_and_scatter(draw: Draw) -> str:
    dims = draw(sizes(minimum=1, maximum=2, of=positive))
    window = [draw(window_dimension(n, base_dilation=False)) for n in dims]
    for w in window:
        w["rhs"] = 1
        w["low"], w["high"] = max(0, w["low"]), max(0, w["high"])
    places = [
        max(0, (n + w["low"] + w["high"] - w["size"]) // w["stride"] + 1) for n, w in zip(dims, window, strict=True)
    ]
    text = window_text(window).replace(f" lhs_dilate={'x'.join('1' for _ in dims)}", "")
    name, body = draw(fold())
    direction = draw(st.sampled_from(("GE", "GE", "GT", "LE", "LT")))
    return one(
        "select-and-scatter",
        [shape(dims), shape(places), shape([])],
        f"window={text}, select=ge, scatter={name}",
        GE.replace("direction=GE", f"direction={direction}") + body,
    )


@st.composite
def convolution(draw: Draw) -> str:
    rank = draw(st.integers(0, 2))
    spatial = [draw(positive) for _ in range(rank)]
    window = [draw(window_dimension(n, reversal=True)) for n in spatial]
    batch, features, outputs = draw(st.integers(1, 2)), draw(st.integers(1, 2)), draw(st.integers(1, 2))
    groups, batch_groups = 1, 1
    match draw(st.sampled_from(("plain", "feature", "batch"))):
        case "feature":
            groups = draw(st.integers(1, 3))
        case "batch":
            batch_groups = draw(st.integers(1, 3))
    letters = [str(k) for k in range(rank)]
    lhs_order = draw(st.permutations(["b", "f", *letters]))
    rhs_order = draw(st.permutations(["i", "o", *letters]))
    out_order = draw(st.permutations(["b", "f", *letters]))
    out_features = outputs * groups * batch_groups
    lhs = {"b": batch * batch_groups, "f": features * groups, **{str(k): n for k, n in enumerate(spatial)}}
    rhs = {"i": features, "o": out_features, **{str(k): w["size"] for k, w in enumerate(window)}}
    attributes = f"dim_labels={''.join(lhs_order)}_{''.join(rhs_order)}->{''.join(out_order)}"
    if rank:
        attributes = f"window={window_text(window)}, {attributes}"
    if groups > 1:
        attributes += f", feature_group_count={groups}"
    if batch_groups > 1:
        attributes += f", batch_group_count={batch_groups}"
    operands = [shape([lhs[c] for c in lhs_order]), shape([rhs[c] for c in rhs_order])]
    return one("convolution", operands, attributes)
