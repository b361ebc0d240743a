"""Small JAX programs of every class that a compiler treats apart: each gives a function and its arguments."""

# The programs are read by no type checker: jax is not among what the project needs.
# mypy: ignore-errors

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import jax
import jax.numpy as jnp
from jax import lax

PROGRAMS: Final[dict[str, Callable[[], tuple[Any, ...]]]] = {}


def program(make: Callable[[], tuple[Any, ...]]) -> Callable[[], tuple[Any, ...]]:
    PROGRAMS[make.__name__] = make
    return make


def f32(*sizes: int) -> Any:
    return jnp.zeros(sizes, jnp.float32)


def i32(*sizes: int) -> Any:
    return jnp.zeros(sizes, jnp.int32)


# ---- data movement


@program
def transposes_and_reshapes():
    return lambda x: x.transpose(2, 0, 1).reshape(6, 8)[::-1, 1:7:2], f32(4, 6, 2)


@program
def space_to_depth():
    return lambda x: x.reshape(2, 3, 2, 3, 2, 4).transpose(0, 1, 3, 2, 4, 5).reshape(2, 9, 16), f32(2, 6, 6, 4)


@program
def roll_and_tile():
    return lambda x: jnp.tile(jnp.roll(x, 2, 1), (2, 1)) + jnp.repeat(x, 2, 0), f32(3, 5)


@program
def pad_modes():
    return lambda x: jnp.pad(x, ((1, 2), (0, 1))) + jnp.pad(x, ((1, 2), (0, 1)), mode="edge"), f32(3, 4)


@program
def concatenate_halves():
    def rotate(x):
        a, b = jnp.split(x, 2, axis=-1)
        return jnp.concatenate([-b, a], axis=-1)

    return rotate, f32(2, 3, 8)


@program
def stack_and_unstack():
    return lambda x, y: jnp.stack([x, y], 1).reshape(4, -1) * jnp.stack([y, x], 0).reshape(4, -1), f32(4, 5), f32(4, 5)


@program
def diagonal_and_trace():
    return lambda x: jnp.diag(jnp.diagonal(x)) + jnp.trace(x), f32(5, 5)


@program
def triangles():
    return lambda x: jnp.tril(x, 1) @ jnp.triu(x, -1), f32(6, 6)


# ---- indices


@program
def dynamic_slices():
    def f(x, i, j):
        return lax.dynamic_slice(lax.dynamic_slice(x, (i, j), (5, 4)), (j, i), (2, 2))

    return f, f32(8, 8), jnp.int32(3), jnp.int32(1)


@program
def cache_update():
    def f(cache, new, at):
        cache = lax.dynamic_update_slice(cache, new, (0, at, 0))
        return cache, cache[:, :4].sum(1)

    return f, f32(2, 16, 4), f32(2, 1, 4), jnp.int32(5)


@program
def embedding_lookup():
    return lambda table, ids: table[ids] * 2.0, f32(11, 4), i32(3, 5)


@program
def gather_rows_and_columns():
    return lambda x, i, j: x[i][:, j] + jnp.take_along_axis(x, i[:, None] % 6, 1)[: i.size], f32(4, 6), i32(4), i32(3)


@program
def scatter_add_and_set():
    return lambda x, i, u: x.at[i].add(u).at[i[::-1]].set(0.5), f32(9), i32(4), f32(4)


@program
def segment_sums():
    return lambda x, s: jax.ops.segment_sum(x, s, 5), f32(12, 3), i32(12)


@program
def one_hot_product():
    return lambda ids, w: jax.nn.one_hot(ids, 7) @ w, i32(5), f32(7, 3)


# ---- folds


@program
def sums_and_means():
    return lambda x: (x.sum(0), x.mean((1, 2)), x.max(-1), x.prod(1)), f32(3, 4, 5)


@program
def variances():
    return lambda x: (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5), f32(4, 8)


@program
def arg_max_and_min():
    return lambda x: (jnp.argmax(x, 0), jnp.argmin(x, 1)), f32(5, 6)


@program
def logsumexp():
    return lambda x: jax.nn.logsumexp(x, axis=-1) - jax.nn.log_softmax(x)[:, 0], f32(4, 7)


@program
def prefix_sums():
    return lambda x: jnp.cumsum(x, 1) + jnp.flip(jnp.cumsum(jnp.flip(x, 0), 0), 0), f32(4, 40)


@program
def associative_scan():
    def combine(a, b):
        return a[0] * b[0], b[0] * a[1] + b[1]

    return lambda a, b: lax.associative_scan(combine, (a, b)), f32(16, 3), f32(16, 3)


@program
def pooling():
    def f(x):
        ones = (1, 2, 2, 1)
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), ones, "SAME") + lax.reduce_window(
            x, 0.0, lax.add, (1, 2, 2, 1), ones, "VALID"
        )

    return f, f32(1, 8, 8, 2)


# ---- products


@program
def matrix_chain():
    return lambda a, b, c: (a @ b @ c).T + 1.0, f32(4, 5), f32(5, 6), f32(6, 3)


@program
def batched_products():
    return (
        lambda q, k: jnp.einsum("bhqd,bhkd->bhqk", q, k) + jnp.einsum("bhqd,bhqd->bhq", q, q)[..., None],
        f32(2, 2, 4, 3),
        f32(2, 2, 4, 3),
    )


@program
def outer_and_inner():
    return lambda x, y: jnp.outer(x, y) * jnp.dot(x, x) + jnp.kron(x, y).reshape(4, 3), f32(4), f32(3)


@program
def convolution_same():
    def f(x, w):
        return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    return f, f32(1, 6, 6, 2), f32(3, 3, 2, 3)


@program
def convolution_strided_grouped():
    def f(x, w):
        return lax.conv_general_dilated(
            x, w, (2, 2), [(1, 0), (0, 1)], rhs_dilation=(1, 2), feature_group_count=2,
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
        )  # fmt: skip

    return f, f32(1, 7, 7, 4), f32(2, 2, 2, 4)


@program
def convolution_gradient():
    def loss(x, w):
        y = lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return (y * y).sum()

    return jax.grad(loss, (0, 1)), f32(1, 6, 6, 2), f32(3, 3, 2, 2)


# ---- networks


@program
def attention():
    def f(q, k, v):
        s = jnp.einsum("qd,kd->qk", q, k) / 2.0
        s = jnp.where(jnp.arange(6)[:, None] >= jnp.arange(6), s, -jnp.inf)
        return jax.nn.softmax(s) @ v

    return f, f32(6, 4), f32(6, 4), f32(6, 4)


@program
def multilayer_gradient():
    def loss(w, x):
        for m in w:
            x = jnp.tanh(x @ m)
        return (x**2).mean()

    return jax.grad(loss), [f32(4, 5), f32(5, 5), f32(5, 2)], f32(3, 4)


@program
def rotary_embedding():
    def f(x):
        angle = jnp.arange(4.0)[:, None] / 10.0 ** (jnp.arange(3.0) / 3)
        a, b = x[..., ::2], x[..., 1::2]
        c, s = jnp.cos(angle), jnp.sin(angle)
        return jnp.stack([a * c - b * s, a * s + b * c], -1).reshape(x.shape)

    return f, f32(2, 4, 6)


@program
def experts_by_top_k():
    def f(x, w):
        value, chosen = lax.top_k(jax.nn.softmax(x @ w), 2)
        return (jax.nn.one_hot(chosen, 4) * value[..., None]).sum(1)

    return f, f32(5, 3), f32(3, 4)


@program
def layer_norm_gradient():
    def loss(x, g):
        y = (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-6) * g
        return (y**3).sum()

    return jax.grad(loss, (0, 1)), f32(4, 6), f32(6)


# ---- control


@program
def counted_loop():
    return lambda x: lax.fori_loop(0, 5, lambda i, s: s * 0.5 + x[i], jnp.zeros(3)), f32(5, 3)


@program
def scanned_cells():
    def f(xs, w):
        def step(h, x):
            h = jnp.tanh(h @ w + x)
            return h, h.sum()

        return lax.scan(step, jnp.zeros(4), xs)

    return f, f32(6, 4), f32(4, 4)


@program
def loop_on_data():
    return lambda x: lax.while_loop(lambda s: s[0] < 10, lambda s: (s[0] + 3, s[1] * 2.0), (x, jnp.ones(2))), jnp.int32(
        0
    )


@program
def conditions():
    def f(p, i, x):
        y = lax.cond(p, lambda v: v + 1, lambda v: v.T.reshape(v.shape), x)
        return lax.switch(i, [jnp.sin, jnp.cos, lambda v: v[::-1]], y)

    return f, jnp.bool_(True), jnp.int32(1), f32(3, 2)


@program
def checkpointed_gradient():
    def loss(x, w):
        step = jax.checkpoint(lambda h: jnp.sin(h @ w))
        return step(step(x)).sum()

    return jax.grad(loss, (0, 1)), f32(3, 4), f32(4, 4)


# ---- order


@program
def sorts():
    return lambda x, y: (jnp.sort(x, 0), jnp.argsort(y), lax.sort((x[:, 0], y), num_keys=1)), f32(6, 3), f32(6)


@program
def median_and_search():
    return lambda x, v: (jnp.median(x), jnp.searchsorted(x, v)), f32(9), f32(4)


# ---- types and bits


@program
def bfloat_products():
    def f(x, w):
        return (x.astype(jnp.bfloat16) @ w).astype(jnp.float32) * 0.1 + x[:, :3]

    return f, f32(4, 5), jnp.zeros((5, 3), jnp.bfloat16)


@program
def integer_arithmetic():
    return (
        lambda a, b: (a // (b | 1), a % 7, a << 2, lax.population_count(a ^ b), abs(a).astype(jnp.uint8)),
        i32(9),
        i32(9),
    )


@program
def pack_and_unpack_bits():
    def f(x):
        bits = (x[:, None] >> jnp.arange(8, dtype=jnp.uint8)) & 1
        return bits, (bits << jnp.arange(8, dtype=jnp.uint8)).sum(1).astype(jnp.uint8)

    return f, jnp.zeros(6, jnp.uint8)


@program
def bitcast_types():
    return lambda x: lax.bitcast_convert_type(
        lax.bitcast_convert_type(x, jnp.uint16) & 0x7FFF, jnp.bfloat16
    ), jnp.zeros((4, 6), jnp.bfloat16)


@program
def quantized_product():
    def f(x, w, scale):
        q = jnp.clip(jnp.round(x / scale), -127, 127).astype(jnp.int8)
        return jnp.dot(q, w, preferred_element_type=jnp.int32).astype(jnp.float32) * scale

    return f, f32(3, 8), jnp.zeros((8, 4), jnp.int8), jnp.float32(0.1)


@program
def complex_transform():
    return lambda x: jnp.fft.irfft(jnp.fft.rfft(x) * (1 + 2j), n=8) + jnp.abs(jnp.fft.fft(x)), f32(3, 8)


@program
def random_dropout():
    def f(key, x):
        keep = jax.random.bernoulli(jax.random.wrap_key_data(key), 0.8, x.shape)
        return jnp.where(keep, x / 0.8, 0.0)

    return f, jnp.zeros(2, jnp.uint32), f32(4, 4)


@program
def select_and_clip():
    return lambda x, y: jnp.where(x > y, jnp.clip(x, -1, 1), jnp.minimum(y, 0)) + jax.nn.relu(x), f32(3, 5), f32(3, 5)
