"""Strategies for modules of one operation each, as text. Sizes are small, so that every element can be looked at.

Corners come up often: extents zero and one, rank zero, negative padding, strides that do not divide, windows larger
than what they slide over, dilation on both sides, index vectors of several ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from hypothesis import strategies as st

Draw = Callable[[st.SearchStrategy[Any]], Any]

ADD: Final = "add {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT z = f32[] add(x, y)\n}\n"
_COMPARE: Final = "{\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT z = pred[] compare(x, y), direction="
GE: Final = f"ge {_COMPARE}GE\n}}\n"
LESS: Final = f"less {_COMPARE}LT\n}}\n"

extent = st.sampled_from((0, 1, 1, 2, 2, 2, 3, 3, 4, 5))
positive = st.sampled_from((1, 2, 2, 3, 4, 5))


def sizes(minimum: int = 0, maximum: int = 4, of: st.SearchStrategy[int] = extent) -> st.SearchStrategy[list[int]]:
    return st.lists(of, min_size=minimum, max_size=maximum)


def shape(dimensions: Sequence[int], kind: str = "f32") -> str:
    return f"{kind}[{','.join(map(str, dimensions))}]"


def braces(values: Sequence[object]) -> str:
    return "{" + ",".join(map(str, values)) + "}"


def one(
    result: str, opcode: str, operands: Sequence[str], attributes: str = "", before: str = "", header: str = ""
) -> str:
    """A module whose entry applies one operation to its parameters."""
    parameters = "".join(f"  p{k} = {s} parameter({k})\n" for k, s in enumerate(operands))
    names = ", ".join(f"p{k}" for k in range(len(operands)))
    tail = f", {attributes}" if attributes else ""
    root = f"  ROOT r = {result} {opcode}({names}){tail}\n"
    return f"HloModule case{header}\n\n{before}ENTRY e {{\n{parameters}{root}}}\n"


@st.composite
def elementwise(draw: Draw) -> str:
    dims = draw(sizes())
    case = draw(st.sampled_from(("negate", "add", "select", "select-scalar", "clamp", "compare", "convert")))
    s = shape(dims)
    match case:
        case "select" | "select-scalar":
            predicate = shape(dims if case == "select" else [], "pred")
            return one(s, "select", [predicate, s, s])
        case "clamp":
            bound = s if draw(st.booleans()) else shape([])
            return one(s, "clamp", [bound, s, bound])
        case "compare":
            return one(shape(dims, "pred"), "compare", [s, s], "direction=LT")
        case "convert":
            return one(shape(dims, "bf16"), "convert", [s])
        case "add":
            return one(s, "add", [s, s])
    return one(s, case, [s])


@st.composite
def broadcast(draw: Draw) -> str:
    result = draw(sizes())
    chosen = draw(st.lists(st.sampled_from(range(len(result))), unique=True)) if result else []
    return one(shape(result), "broadcast", [shape([result[d] for d in chosen])], f"dimensions={braces(chosen)}")


@st.composite
def reshape(draw: Draw) -> str:
    primes = draw(st.lists(st.sampled_from((1, 2, 2, 3, 5)), max_size=5))
    if draw(st.integers(0, 9)) == 0:
        primes = [*primes, 0]
    grouped = [_grouped(draw, primes), _grouped(draw, draw(st.permutations(primes)))]
    return one(shape(grouped[0]), "reshape", [shape(grouped[1])])


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
    dims = draw(sizes())
    order = draw(st.permutations(range(len(dims))))
    return one(shape([dims[p] for p in order]), "transpose", [shape(dims)], f"dimensions={braces(order)}")


@st.composite
def reverse(draw: Draw) -> str:
    dims = draw(sizes(minimum=1))
    chosen = draw(st.lists(st.sampled_from(range(len(dims))), unique=True))
    return one(shape(dims), "reverse", [shape(dims)], f"dimensions={braces(chosen)}")


@st.composite
def slice_(draw: Draw) -> str:
    dims, result, bounds = draw(sizes()), [], []
    for n in dims:
        start = draw(st.integers(0, n))
        limit = draw(st.integers(start, n))
        stride = draw(st.integers(1, 3))
        bounds.append(f"[{start}:{limit}:{stride}]")
        result.append(-(-(limit - start) // stride))
    return one(shape(result), "slice", [shape(dims)], f"slice={braces(bounds)}")


@st.composite
def pad(draw: Draw) -> str:
    dims, result, padding = draw(sizes(maximum=3)), [], []
    for n in dims:
        interior = draw(st.integers(0, 2))
        full = n + max(0, n - 1) * interior
        low = draw(st.integers(-min(3, full), 3))
        high = draw(st.integers(-min(3, full + low), 3)) if full + low > 0 else draw(st.integers(-(full + low), 3))
        padding.append(f"{low}_{high}_{interior}")
        result.append(full + low + high)
    return one(shape(result), "pad", [shape(dims), shape([])], f"padding={'x'.join(padding)}" if dims else "padding=")


@st.composite
def concatenate(draw: Draw) -> str:
    dims = draw(sizes(minimum=1, maximum=3))
    axis = draw(st.integers(0, len(dims) - 1))
    parts = draw(st.lists(extent, min_size=1, max_size=4))
    operands = [shape([*dims[:axis], n, *dims[axis + 1 :]]) for n in parts]
    result = shape([*dims[:axis], sum(parts), *dims[axis + 1 :]])
    return one(result, "concatenate", operands, f"dimensions={braces([axis])}")


index_types = st.sampled_from(("s32", "u32", "s8", "u8", "s64"))


@st.composite
def dynamic_slice(draw: Draw) -> str:
    dims, kind = draw(sizes(maximum=3)), draw(index_types)
    window = [draw(st.integers(0, n)) for n in dims]
    return one(
        shape(window), "dynamic-slice", [shape(dims), *(shape([], kind) for _ in dims)],
        f"dynamic_slice_sizes={braces(window)}",
    )  # fmt: skip


@st.composite
def dynamic_update_slice(draw: Draw) -> str:
    dims, kind = draw(sizes(maximum=3)), draw(index_types)
    window = [draw(st.integers(0, n)) for n in dims]
    return one(shape(dims), "dynamic-update-slice", [shape(dims), shape(window), *(shape([], kind) for _ in dims)])


@st.composite
def reduce(draw: Draw) -> str:
    dims = draw(sizes())
    chosen = draw(st.lists(st.sampled_from(range(len(dims))), unique=True)) if dims else []
    kept = [n for d, n in enumerate(dims) if d not in chosen]
    return one(
        shape(kept), "reduce", [shape(dims), shape([])], f"dimensions={braces(chosen)}, to_apply=add", ADD
    )


@st.composite
def window_dimension(draw: Draw, size: int, base_dilation: bool = True, reversal: bool = False) -> dict[str, int]:
    """Fields of one window dimension, and `output`, the size that follows."""
    taps = draw(st.integers(1, 3))
    stride, window_dilation = draw(st.integers(1, 3)), draw(st.sampled_from((1, 1, 2)))
    dilation = draw(st.sampled_from((1, 1, 2, 3))) if base_dilation else 1
    low, high = draw(st.integers(-1, 3)), draw(st.integers(-1, 3))
    spread = (size - 1) * dilation + 1 if size else 0
    reach = (taps - 1) * window_dilation + 1
    padded = spread + low + high
    if padded < 0:
        low, high, padded = 0, 0, spread
    output = (padded - reach) // stride + 1 if padded >= reach else 0
    return {
        "size": taps, "stride": stride, "low": low, "high": high, "lhs": dilation, "rhs": window_dilation,
        "reversal": int(reversal and draw(st.booleans())), "output": output,
    }  # fmt: skip


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
    dims = draw(sizes(minimum=1, maximum=2))
    window = [draw(window_dimension(n)) for n in dims]
    result = shape([w["output"] for w in window])
    return one(result, "reduce-window", [shape(dims), shape([])], f"window={window_text(window)}, to_apply=add", ADD)


@st.composite
def select_and_scatter(draw: Draw) -> str:
    dims = draw(sizes(minimum=1, maximum=2, of=positive))
    window = [draw(window_dimension(n, base_dilation=False)) for n in dims]
    for w in window:
        w["rhs"] = 1
        w["low"], w["high"] = max(0, w["low"]), max(0, w["high"])
    for n, w in zip(dims, window, strict=True):
        w["output"] = max(0, (n + w["low"] + w["high"] - w["size"]) // w["stride"] + 1)
    text = window_text(window).replace(f" lhs_dilate={'x'.join('1' for _ in dims)}", "")
    return one(
        shape(dims), "select-and-scatter", [shape(dims), shape([w["output"] for w in window]), shape([])],
        f"window={text}, select=ge, scatter=add", GE + ADD,
    )  # fmt: skip


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
    out = {"b": batch, "f": out_features, **{str(k): w["output"] for k, w in enumerate(window)}}
    attributes = f"dim_labels={''.join(lhs_order)}_{''.join(rhs_order)}->{''.join(out_order)}"
    if rank:
        attributes = f"window={window_text(window)}, {attributes}"
    if groups > 1:
        attributes += f", feature_group_count={groups}"
    if batch_groups > 1:
        attributes += f", batch_group_count={batch_groups}"
    return one(
        shape([out[c] for c in out_order]), "convolution",
        [shape([lhs[c] for c in lhs_order]), shape([rhs[c] for c in rhs_order])], attributes,
    )  # fmt: skip


@st.composite
def dot(draw: Draw) -> str:
    batch, contracting = draw(sizes(maximum=2)), draw(sizes(maximum=2))
    free = [draw(sizes(maximum=2)), draw(sizes(maximum=2))]
    sides: list[list[int]] = []
    places: list[tuple[list[int], list[int]]] = []
    for f in free:
        tagged = [("b", k, n) for k, n in enumerate(batch)] + [("c", k, n) for k, n in enumerate(contracting)]
        rest = [("f", k, n) for k, n in enumerate(f)]
        # Free dimensions keep their order among themselves; the others may stand anywhere.
        order = draw(st.permutations(tagged + rest))
        names = iter(rest)
        order = [next(names) if t[0] == "f" else t for t in order]
        sides.append([n for _, _, n in order])
        at = {(kind, k): i for i, (kind, k, _) in enumerate(order)}
        places.append(([at["b", k] for k in range(len(batch))], [at["c", k] for k in range(len(contracting))]))
    attributes = []
    for side, (b, c) in zip(("lhs", "rhs"), places, strict=True):
        if b:
            attributes.append(f"{side}_batch_dims={braces(b)}")
        attributes.append(f"{side}_contracting_dims={braces(c)}")
    result = shape([*batch, *free[0], *free[1]])
    return one(result, "dot", [shape(s) for s in sides], ", ".join(attributes))


@st.composite
def gather(draw: Draw) -> str:
    operand = draw(sizes(minimum=1, maximum=3, of=positive))
    batch = draw(sizes(maximum=2, of=positive))
    kind = draw(index_types)
    batched = draw(st.integers(0, min(1, len(operand) - 1, len(batch)))) if len(operand) > 1 else 0
    operand_batching = draw(st.permutations(range(len(operand))))[:batched]
    others = [d for d in range(len(operand)) if d not in operand_batching]
    start_map = draw(st.permutations(others))[: draw(st.integers(0, len(others)))]
    window = [1 if d in operand_batching else draw(st.integers(1, n)) for d, n in enumerate(operand)]
    collapsed = sorted(d for d in others if window[d] == 1 and draw(st.booleans()))
    offset_sizes = [window[d] for d in others if d not in collapsed]
    vector_dim = draw(st.integers(0, len(batch)))
    index_dims = [*batch[:vector_dim], len(start_map), *batch[vector_dim:]]
    # A batching dimension of the indices has the operand's size there.
    positions = draw(st.permutations(range(len(batch))))[:batched]
    index_batching = [p if p < vector_dim else p + 1 for p in positions]
    batch = list(batch)
    for d, p, at in zip(operand_batching, positions, index_batching, strict=True):
        batch[p] = operand[d]
        index_dims[at] = operand[d]
    if len(start_map) == 1 and draw(st.booleans()):
        index_dims, vector_dim = batch, len(batch)
        index_batching = list(positions)
    rank = len(batch) + len(offset_sizes)
    offset_dims = sorted(draw(st.permutations(range(rank)))[: len(offset_sizes)])
    result, batch_left, offset_left = [], iter(batch), iter(offset_sizes)
    for d in range(rank):
        result.append(next(offset_left) if d in offset_dims else next(batch_left))
    attributes = (
        f"offset_dims={braces(offset_dims)}, collapsed_slice_dims={braces(collapsed)}, "
        f"start_index_map={braces(start_map)}"
    )
    if batched:
        pairs = sorted(zip(operand_batching, index_batching, strict=True))
        attributes += f", operand_batching_dims={braces([a for a, _ in pairs])}"
        attributes += f", start_indices_batching_dims={braces([b for _, b in pairs])}"
    attributes += f", index_vector_dim={vector_dim}, slice_sizes={braces(window)}"
    return one(shape(result), "gather", [shape(operand), shape(index_dims, kind)], attributes)


@st.composite
def scatter(draw: Draw) -> str:
    operand = draw(sizes(minimum=1, maximum=3, of=positive))
    batch = draw(sizes(maximum=2, of=positive))
    kind = draw(index_types)
    to_operand = draw(st.permutations(range(len(operand))))[: draw(st.integers(0, len(operand)))]
    inserted = sorted(d for d in range(len(operand)) if draw(st.booleans()))
    window = [draw(st.integers(1, n)) for d, n in enumerate(operand) if d not in inserted]
    vector_dim = draw(st.integers(0, len(batch)))
    index_dims = [*batch[:vector_dim], len(to_operand), *batch[vector_dim:]]
    if len(to_operand) == 1 and draw(st.booleans()):
        index_dims, vector_dim = batch, len(batch)
    rank = len(batch) + len(window)
    window_dims = sorted(draw(st.permutations(range(rank)))[: len(window)])
    updates, batch_left, window_left = [], iter(batch), iter(window)
    for d in range(rank):
        updates.append(next(window_left) if d in window_dims else next(batch_left))
    attributes = (
        f"update_window_dims={braces(window_dims)}, inserted_window_dims={braces(inserted)}, "
        f"scatter_dims_to_operand_dims={braces(to_operand)}, index_vector_dim={vector_dim}, to_apply=add"
    )
    return one(shape(operand), "scatter", [shape(operand), shape(index_dims, kind), shape(updates)], attributes, ADD)


@st.composite
def sort(draw: Draw) -> str:
    dims = draw(sizes(minimum=1, maximum=3))
    axis = draw(st.integers(0, len(dims) - 1))
    return one(shape(dims), "sort", [shape(dims)], f"dimensions={braces([axis])}, to_apply=less", LESS)


@st.composite
def fft(draw: Draw) -> str:
    dims = draw(sizes(minimum=1, maximum=3, of=positive))
    lengths = dims[draw(st.integers(max(0, len(dims) - 3), len(dims) - 1)) :]
    c = shape(dims, "c64")
    return one(c, "fft", [c], f"fft_type=FFT, fft_length={braces(lengths)}")


@st.composite
def batch_norm(draw: Draw) -> str:
    dims = draw(sizes(minimum=1, maximum=3, of=positive))
    axis = draw(st.integers(0, len(dims) - 1))
    v = shape([dims[axis]])
    return one(
        shape(dims), "batch-norm-inference", [shape(dims), v, v, v, v], f"epsilon=0.1, feature_index={axis}"
    )


@st.composite
def collective(draw: Draw) -> str:
    devices = draw(st.integers(1, 3))
    groups = "{" + braces(draw(st.permutations(range(devices)))) + "}"
    dims = draw(sizes(minimum=1, maximum=2, of=positive))
    axis = draw(st.integers(0, len(dims) - 1))
    header = f", replica_count={devices}"
    wide = [*dims[:axis], dims[axis] * devices, *dims[axis + 1 :]]
    match draw(st.sampled_from(("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute"))):
        case "all-gather":
            return one(shape(wide), "all-gather", [shape(dims)],
                       f"replica_groups={groups}, dimensions={braces([axis])}", header=header)
        case "reduce-scatter":
            return one(shape(dims), "reduce-scatter", [shape(wide)],
                       f"replica_groups={groups}, dimensions={braces([axis])}, to_apply=add", ADD, header)
        case "all-to-all":
            return one(shape(wide), "all-to-all", [shape(wide)],
                       f"replica_groups={groups}, dimensions={braces([axis])}", header=header)
        case "collective-permute":
            targets = draw(st.permutations(range(devices)))[: draw(st.integers(0, devices))]
            sources = draw(st.permutations(range(devices)))
            pairs = braces([braces(p) for p in zip(sources, targets, strict=False)])
            return one(shape(dims), "collective-permute", [shape(dims)], f"source_target_pairs={pairs}", header=header)
    return one(shape(dims), "all-reduce", [shape(dims)], f"replica_groups={groups}, to_apply=add", ADD, header)


def _pair_sum(kinds: str = "f32") -> str:
    """A body that folds two arrays at once."""
    lines = [f"  {n} = {kinds}[] parameter({k})\n" for k, n in enumerate("abcd")]
    return (
        "both {\n" + "".join(lines) + f"  s = {kinds}[] add(a, c)\n  t = {kinds}[] add(b, d)\n"
        f"  u = {kinds}[] add(s, t)\n  ROOT r = ({kinds}[], {kinds}[]) tuple(u, u)\n}}\n"
    )


@st.composite
def reduce_variadic(draw: Draw) -> str:
    dims = draw(sizes(minimum=1, maximum=3, of=positive))
    chosen = draw(st.lists(st.sampled_from(range(len(dims))), min_size=1, unique=True))
    kept = shape([n for d, n in enumerate(dims) if d not in chosen])
    return one(
        f"({kept}, {kept})", "reduce", [shape(dims), shape(dims), shape([]), shape([])],
        f"dimensions={braces(chosen)}, to_apply=both", _pair_sum(),
    )  # fmt: skip


@st.composite
def sort_variadic(draw: Draw) -> str:
    dims = draw(sizes(minimum=1, maximum=2))
    axis, s = draw(st.integers(0, len(dims) - 1)), shape(dims)
    lines = "".join(f"  {n} = f32[] parameter({k})\n" for k, n in enumerate("abcd"))
    less = f"less {{\n{lines}  ROOT z = pred[] compare(a, b), direction=LT\n}}\n"
    return one(f"({s}, {s})", "sort", [s, s], f"dimensions={braces([axis])}, to_apply=less", less)


@st.composite
def scatter_variadic(draw: Draw) -> str:
    operand, count = draw(positive), draw(positive)
    width = draw(st.integers(1, operand))
    s, u = shape([operand]), shape([count, width])
    return one(
        f"({s}, {s})", "scatter", [s, s, shape([count, 1], draw(index_types)), u, u],
        "update_window_dims={1}, inserted_window_dims={}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, "
        "to_apply=both", _pair_sum(),
    )  # fmt: skip


@st.composite
def scatter_batched(draw: Draw) -> str:
    rows, n, count = draw(positive), draw(positive), draw(positive)
    vector = [rows, count, 1] if draw(st.booleans()) else [rows, count]
    return one(
        shape([rows, n]), "scatter", [shape([rows, n]), shape(vector, draw(index_types)), shape([rows, count])],
        "update_window_dims={}, inserted_window_dims={1}, scatter_dims_to_operand_dims={1}, input_batching_dims={0}, "
        "scatter_indices_batching_dims={0}, index_vector_dim=2, to_apply=add", ADD,
    )  # fmt: skip


@st.composite
def topk(draw: Draw) -> str:
    dims = draw(sizes(minimum=1, maximum=2, of=positive))
    k = draw(st.integers(1, dims[-1]))
    kept = [*dims[:-1], k]
    return one(f"({shape(kept)}, {shape(kept, 's32')})", "topk", [shape(dims)], f"k={k}, largest=true")


@st.composite
def triangular(draw: Draw) -> str:
    n, m, batch = draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw(sizes(maximum=1, of=positive))
    lower = draw(st.sampled_from(("true", "false")))
    matrix = shape([*batch, n, n])
    if draw(st.booleans()):
        return one(matrix, "cholesky", [matrix], f"lower={lower}")
    left = draw(st.sampled_from(("true", "false")))
    right = shape([*batch, *((n, m) if left == "true" else (m, n))])
    unit, op = draw(st.sampled_from(("true", "false"))), draw(st.sampled_from(("NO_TRANSPOSE", "TRANSPOSE")))
    attributes = f"left_side={left}, lower={lower}, unit_diagonal={unit}, transpose_a={op}"
    return one(right, "triangular-solve", [matrix, right], attributes)


@st.composite
def batch_norm_tuple(draw: Draw) -> str:
    dims = draw(sizes(minimum=1, maximum=3, of=positive))
    axis = draw(st.integers(0, len(dims) - 1))
    s, v = shape(dims), shape([dims[axis]])
    attributes = f"epsilon=0.1, feature_index={axis}"
    if draw(st.booleans()):
        return one(f"({s}, {v}, {v})", "batch-norm-training", [s, v, v], attributes)
    return one(f"({s}, {v}, {v})", "batch-norm-grad", [s, v, v, v, s], attributes)


@st.composite
def ragged_dot(draw: Draw) -> str:
    rows, depth, columns, groups = (draw(st.integers(1, 3)) for _ in range(4))
    return one(
        shape([rows, columns]), "ragged-dot", [shape([rows, depth]), shape([groups, depth, columns]), f"s32[{groups}]"],
        "lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}",
    )  # fmt: skip


@st.composite
def scaled_dot(draw: Draw) -> str:
    rows, columns, blocks, size = (draw(st.integers(1, 3)) for _ in range(4))
    depth = blocks * size
    return one(
        shape([rows, columns]), "scaled-dot",
        [shape([rows, depth]), shape([depth, columns]), shape([rows, blocks]), shape([blocks, columns])],
        "lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    )  # fmt: skip


@st.composite
def bitcast_convert(draw: Draw) -> str:
    dims = draw(sizes(maximum=3))
    match draw(st.sampled_from(("same", "narrower", "wider"))):
        case "same":
            return one(shape(dims, "s32"), "bitcast-convert", [shape(dims)])
        case "narrower":
            return one(shape([*dims, 4], "u8"), "bitcast-convert", [shape(dims)])
    return one(shape(dims), "bitcast-convert", [shape([*dims, 2], "u16")])


@st.composite
def copy(draw: Draw) -> str:
    s = shape(draw(sizes()))
    return one(s, "copy", [s])


@st.composite
def collective_more(draw: Draw) -> str:
    devices = draw(st.integers(1, 3))
    group = draw(st.permutations(range(devices)))
    groups, header = "{" + braces(group) + "}", f", replica_count={devices}"
    s = shape(draw(sizes(minimum=1, maximum=2, of=positive)))
    if draw(st.booleans()):
        return one(s, "collective-broadcast", [s], f"replica_groups={groups}", header=header)
    if devices == 1:
        return one(s, "all-reduce", [s], f"replica_groups={groups}, to_apply=add", ADD, header)
    result = f"({', '.join([s] * devices)})"
    return one(result, "all-to-all", [s] * devices, f"replica_groups={groups}", header=header)


BY_NAME: Final[dict[str, Callable[[], st.SearchStrategy[str]]]] = {
    "elementwise": elementwise, "broadcast": broadcast, "reshape": reshape, "transpose": transpose, "reverse": reverse,
    "slice": slice_, "pad": pad, "concatenate": concatenate, "dynamic-slice": dynamic_slice,
    "dynamic-update-slice": dynamic_update_slice, "reduce": reduce, "reduce-window": reduce_window,
    "select-and-scatter": select_and_scatter, "convolution": convolution, "dot": dot, "gather": gather,
    "scatter": scatter, "sort": sort, "fft": fft, "batch-norm": batch_norm, "collective": collective,
    "reduce-variadic": reduce_variadic, "sort-variadic": sort_variadic, "scatter-variadic": scatter_variadic,
    "scatter-batched": scatter_batched, "topk": topk, "triangular": triangular, "batch-norm-tuple": batch_norm_tuple,
    "ragged-dot": ragged_dot, "scaled-dot": scaled_dot, "bitcast-convert": bitcast_convert, "copy": copy,
    "collective-more": collective_more,
}  # fmt: skip
"""Strategies by the kind of operation."""


def operations() -> st.SearchStrategy[str]:
    """A module of one operation, as text."""
    return st.sampled_from(tuple(BY_NAME)).flatmap(lambda name: BY_NAME[name]())
