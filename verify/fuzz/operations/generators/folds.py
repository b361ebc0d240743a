"""Operations that fold, contract or order whole lines."""

from __future__ import annotations

from typing import Final

from hloproof.fuzz.operations.generators.builder import FOLDS, POSITIVE, Builder, Write, shape


def mapped(b: Builder) -> None:
    """Two arrays of one shape, with all dimensions named."""
    dims = b.sizes(most=3)
    b.op("map", shape(dims), shape(dims), dimensions=range(len(dims)), to_apply=b.one_of(FOLDS))


def reduce_variadic(b: Builder) -> None:
    """Two arrays, over at least one dimension; the computation keeps them apart or crosses them."""
    dims = b.sizes(1, 3, POSITIVE)
    chosen, s = b.some(range(len(dims)), 1), shape(dims)
    b.op("reduce", s, s, "f32[]", "f32[]", dimensions=chosen, to_apply=b.one_of(("pair_sum", "crossed")))


def sort(b: Builder) -> None:
    """One array along any dimension, rising or falling."""
    dims = b.sizes(1, 3)
    b.op("sort", shape(dims), dimensions=[b.axis(dims)], to_apply=b.one_of(("is_LT", "is_GT")))


def sort_variadic(b: Builder) -> None:
    """By either array, the other follows."""
    dims = b.sizes(1, 2)
    b.op("sort", *[shape(dims)] * 2, dimensions=[b.axis(dims)], to_apply=b.one_of(("by_ab", "by_cd", "by_dc")))


def topk(b: Builder) -> None:
    """k from 1 to the size of the last dimension, of the largest or the smallest."""
    dims = b.sizes(1, 2, POSITIVE)
    b.op("topk", shape(dims), k=b.number(1, dims[-1]), largest=not b.chance(3))


def fft(b: Builder) -> None:
    """c64 over the last one to three dimensions."""
    dims = b.sizes(1, 3, POSITIVE)
    b.op("fft", shape(dims, "c64"), fft_type="FFT", fft_length=dims[b.number(0, len(dims) - 1) :])


def cholesky(b: Builder) -> None:
    n = b.number(1, 3)
    b.op("cholesky", shape([*b.sizes(most=1, of=POSITIVE), n, n]), lower=b.chance(2))


def triangular_solve(b: Builder) -> None:
    """With all its flags."""
    n, m, batch, left = b.number(1, 3), b.number(1, 3), b.sizes(most=1, of=POSITIVE), b.chance(2)
    b.op(
        "triangular-solve",
        shape([*batch, n, n]),
        shape([*batch, n, m] if left else [*batch, m, n]),
        left_side=left,
        lower=b.chance(2),
        unit_diagonal=b.chance(2),
        transpose_a=b.one_of(("NO_TRANSPOSE", "TRANSPOSE")),
    )


def batch_norm(b: Builder) -> None:
    """In inference, with any feature dimension."""
    _normalized(b, "inference", "svvvv")


def batch_norm_tuple(b: Builder) -> None:
    """In training or its gradient, with any feature dimension."""
    _normalized(b, *b.one_of((("training", "svv"), ("grad", "svvvs"))))


def _normalized(b: Builder, mode: str, operands: str) -> None:
    """On arrays of all sizes (s) and on one number for each feature (v)."""
    dims = b.sizes(b.one_of((1, 2, 2)), 3, POSITIVE)
    axis = b.axis(dims)
    shapes = {"s": shape(dims), "v": shape([dims[axis]])}
    b.op(f"batch-norm-{mode}", *(shapes[k] for k in operands), epsilon=0.1, feature_index=axis)


DRAWN: Final[tuple[Write, ...]] = (
    mapped,
    reduce_variadic,
    sort,
    sort_variadic,
    topk,
    fft,
    cholesky,
    triangular_solve,
    batch_norm,
    batch_norm_tuple,
)
