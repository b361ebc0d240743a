"""Strategies for operations that fold, contract or order whole lines."""

from __future__ import annotations

from hypothesis import strategies as st

from hloproof.fuzz.drawing import Draw
from hloproof.fuzz.operations.generators.operation_text import (
    CROSSED,
    LESS,
    braces,
    fold,
    one,
    pair_sum,
    positive,
    shape,
    sizes,
)


@st.composite
def reduce(draw: Draw) -> str:
    """One array, over any of its dimensions, none included."""
    dims = draw(sizes())
    chosen = draw(st.lists(st.sampled_from(range(len(dims))), unique=True)) if dims else []
    name, body = draw(fold())
    return one("reduce", [shape(dims), shape([])], f"dimensions={braces(chosen)}, to_apply={name}", body)


@st.composite
def mapped(draw: Draw) -> str:
    """Two arrays of one shape, with all dimensions named."""
    dims, (name, body) = draw(sizes(maximum=3)), draw(fold())
    s = shape(dims)
    return one("map", [s, s], f"dimensions={braces(range(len(dims)))}, to_apply={name}", body)


@st.composite
def reduce_variadic(draw: Draw) -> str:
    """Two arrays, over at least one dimension; the computation keeps them apart or crosses them."""
    dims = draw(sizes(minimum=1, maximum=3, of=positive))
    chosen = draw(st.lists(st.sampled_from(range(len(dims))), min_size=1, unique=True))
    return one(
        "reduce",
        [shape(dims), shape(dims), shape([]), shape([])],
        f"dimensions={braces(chosen)}, to_apply=both",
        draw(st.sampled_from((pair_sum(), CROSSED))),
    )


@st.composite
def sort(draw: Draw) -> str:
    """One array along any dimension, rising or falling."""
    dims = draw(sizes(minimum=1, maximum=3))
    axis = draw(st.integers(0, len(dims) - 1))
    less = LESS.replace("direction=LT", f"direction={draw(st.sampled_from(('LT', 'GT')))}")
    return one("sort", [shape(dims)], f"dimensions={braces([axis])}, to_apply=less", less)


@st.composite
def sort_variadic(draw: Draw) -> str:
    """By either array, the other follows."""
    dims = draw(sizes(minimum=1, maximum=2))
    axis, s = draw(st.integers(0, len(dims) - 1)), shape(dims)
    lines = "".join(f"  {n} = f32[] parameter({k})\n" for k, n in enumerate("abcd"))
    order = draw(st.sampled_from(("a, b", "c, d", "d, c")))
    less = f"less {{\n{lines}  ROOT z = pred[] compare({order}), direction=LT\n}}\n"
    return one("sort", [s, s], f"dimensions={braces([axis])}, to_apply=less", less)


@st.composite
def topk(draw: Draw) -> str:
    """k from 1 to the size of the last dimension, of the largest or the smallest."""
    dims = draw(sizes(minimum=1, maximum=2, of=positive))
    k = draw(st.integers(1, dims[-1]))
    largest = draw(st.sampled_from(("true", "true", "false")))
    return one("topk", [shape(dims)], f"k={k}, largest={largest}")


@st.composite
def fft(draw: Draw) -> str:
    """c64 over the last one to three dimensions."""
    dims = draw(sizes(minimum=1, maximum=3, of=positive))
    lengths = dims[draw(st.integers(max(0, len(dims) - 3), len(dims) - 1)) :]
    return one("fft", [shape(dims, "c64")], f"fft_type=FFT, fft_length={braces(lengths)}")


@st.composite
def triangular(draw: Draw) -> str:
    """cholesky or triangular-solve, with all its flags."""
    n, m, batch = draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw(sizes(maximum=1, of=positive))
    lower = draw(st.sampled_from(("true", "false")))
    matrix = shape([*batch, n, n])
    if draw(st.booleans()):
        return one("cholesky", [matrix], f"lower={lower}")
    left = draw(st.sampled_from(("true", "false")))
    right = shape([*batch, *((n, m) if left == "true" else (m, n))])
    unit, op = draw(st.sampled_from(("true", "false"))), draw(st.sampled_from(("NO_TRANSPOSE", "TRANSPOSE")))
    attributes = f"left_side={left}, lower={lower}, unit_diagonal={unit}, transpose_a={op}"
    return one("triangular-solve", [matrix, right], attributes)


@st.composite
def batch_norm(draw: Draw) -> str:
    """In inference, with any feature dimension."""
    dims = draw(sizes(minimum=draw(st.sampled_from((1, 2, 2))), maximum=3, of=positive))
    axis = draw(st.integers(0, len(dims) - 1))
    v = shape([dims[axis]])
    return one("batch-norm-inference", [shape(dims), v, v, v, v], f"epsilon=0.1, feature_index={axis}")


@st.composite
def batch_norm_tuple(draw: Draw) -> str:
    """In training or its gradient, with any feature dimension."""
    dims = draw(sizes(minimum=draw(st.sampled_from((1, 2, 2))), maximum=3, of=positive))
    axis = draw(st.integers(0, len(dims) - 1))
    s, v = shape(dims), shape([dims[axis]])
    attributes = f"epsilon=0.1, feature_index={axis}"
    if draw(st.booleans()):
        return one("batch-norm-training", [s, v, v], attributes)
    return one("batch-norm-grad", [s, v, v, v, s], attributes)
