"""Steps of a random JAX program that move elements, or compute each from those at one place."""

from __future__ import annotations

from math import prod
from typing import Final

from hypothesis import strategies as st

from hloproof.fuzz.compiler.program_text import Program, Value, index, indices, step_of

_FLOATS: Final = ("float32", "float32", "float32", "float32", "bfloat16", "float16", "float64")
_TYPES: Final = (
    *_FLOATS,
    "int32",
    "int32",
    "int8",
    "uint8",
    "uint32",
    "int16",
    "int4",
    "uint4",
    "bool",
    "float8_e4m3fn",
)


@step_of()
def flip_step(p: Program, v: Value) -> None:
    axis = p.between(0, len(v[2]) - 1)
    p.add(v[1], v[2], f"jnp.flip({v[0]}, {axis})")


@step_of(2)
def transpose_step(p: Program, v: Value) -> None:
    order = tuple(p.draw(st.permutations(range(len(v[2])))))
    p.add(v[1], tuple(v[2][d] for d in order), f"jnp.transpose({v[0]}, {order})")


@step_of()
def reshape_step(p: Program, v: Value) -> None:
    whole = prod(v[2])
    sizes = p.draw(st.sampled_from(_factored(whole)))
    p.add(v[1], sizes, f"{v[0]}.reshape({sizes})")


def _factored(n: int) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = [(n,), (n, 1), (1, n)]
    found += [(d, n // d) for d in range(2, n) if n % d == 0]
    found += [(d, 2, n // d // 2) for d in range(1, n) if n % (2 * d) == 0]
    return found


@step_of()
def pad_step(p: Program, v: Value) -> None:
    parts, sizes = [], []
    for n in v[2]:
        low, high, inner = p.between(-2, 3), p.between(-2, 3), p.between(0, 2)
        size = n + low + high + max(0, n - 1) * inner
        if size < 0 or n == 0:
            low, high, inner, size = 0, 1, 0, n + 1
        parts.append((low, high, inner))
        sizes.append(size)
    p.add(v[1], tuple(sizes), f"lax.pad({v[0]}, jnp.array({p.between(0, 1)}, {v[0]}.dtype), {parts})")


@step_of()
def slice_step(p: Program, v: Value) -> None:
    text, sizes = [], []
    for n in v[2]:
        low = p.between(0, n)
        high, step = p.between(low, n), p.between(1, 3)
        text.append(f"{low}:{high}:{step}")
        sizes.append(len(range(low, high, step)))
    p.add(v[1], tuple(sizes), f"{v[0]}[{', '.join(text)}]")


@step_of()
def dynamic_slice_step(p: Program, v: Value) -> None:
    sizes = tuple(p.between(0, n) for n in v[2])
    starts = ", ".join(index(p) for _ in v[2])
    p.add(v[1], sizes, f"lax.dynamic_slice({v[0]}, ({starts},), {sizes})")


@step_of()
def update_step(p: Program, v: Value) -> None:
    sizes = tuple(p.between(0 if n == 0 else 1, n) for n in v[2])
    starts = ", ".join(index(p) for _ in v[2])
    part = ", ".join(f":{n}" for n in sizes)
    other = p.of_type(v[1], v[2]) or v[0]
    p.add(v[1], v[2], f"lax.dynamic_update_slice({v[0]}, {other}[{part}], ({starts},))")


@step_of()
def concatenate_step(p: Program, v: Value) -> None:
    axis = p.between(0, len(v[2]) - 1)
    other = p.of_type(v[1], v[2]) or v[0]
    sizes = tuple(2 * n if d == axis else n for d, n in enumerate(v[2]))
    p.add(v[1], sizes, f"jnp.concatenate([{v[0]}, {other}], {axis})")


@step_of()
def take_step(p: Program, v: Value) -> None:
    axis, count = p.between(0, len(v[2]) - 1), p.between(1, 4)
    if v[2][axis] == 0:
        return
    mode = p.one_of(("clip", "wrap", "fill"))
    sizes = tuple(count if d == axis else n for d, n in enumerate(v[2]))
    fill = ", fill_value=0" if mode == "fill" else ""
    where = f"jnp.array({indices(p, v[2][axis], count)})"
    p.add(v[1], sizes, f"jnp.take({v[0]}, {where}, axis={axis}, mode={mode!r}{fill})")


@step_of()
def scatter_step(p: Program, v: Value) -> None:
    n, count = v[2][0], p.between(1, 4)
    if n == 0:
        return
    how = p.one_of(("add", "max", "min", "multiply"))
    mode = p.one_of(("clip", "drop", "promise_in_bounds"))
    where = indices(p, n, count)
    if mode == "promise_in_bounds":
        where = str(sorted(p.between(0, n - 1) for _ in range(count)))
    if v[1] == "bool":
        how = p.one_of(("max", "min"))
    p.add(v[1], v[2], f"{v[0]}.at[jnp.array({where})].{how}({p.between(1, 3)}, mode={mode!r})")


@step_of()
def binary_step(p: Program, v: Value) -> None:
    other = p.of_type(v[1], v[2]) or v[0]
    if v[1] == "bool":
        p.add("bool", v[2], f"{v[0]} {p.one_of(('&', '|', '^'))} {other}")
    elif v[1].startswith(("int", "uint")):
        how = p.one_of(
            ("add", "sub", "mul", "max", "min", "div", "rem", "shift_left", "shift_right_logical", "bitwise_xor")
        )
        p.add(v[1], v[2], f"lax.{how}({v[0]}, {other})")
    else:
        p.add(v[1], v[2], f"lax.{p.one_of(('add', 'sub', 'mul', 'max', 'min'))}({v[0]}, {other})")


@step_of()
def select_step(p: Program, v: Value) -> None:
    other = p.of_type(v[1], v[2]) or v[0]
    axis = p.between(0, len(v[2]) - 1)
    mask = f"lax.broadcasted_iota(jnp.int32, {v[2]}, {axis}) < {index(p)}"
    p.add(v[1], v[2], f"jnp.where({mask}, {v[0]}, {other})")


@step_of(0)
def convert_step(p: Program, v: Value) -> None:
    kind = p.one_of(_TYPES)
    p.add(kind, v[2], f"{v[0]}.astype(jnp.{'bool_' if kind == 'bool' else kind})")


@step_of(2)
def mapped_step(p: Program, v: Value) -> None:
    rows, n = v[2][0], v[2][1]
    if n == 0 or rows == 0:
        return
    size = p.between(1, n)
    starts = f"jnp.array({[p.between(-2, n + 1) for _ in range(rows)]})"
    if p.between(0, 1):
        text = f"jax.vmap(lambda x, i: lax.dynamic_slice_in_dim(x, i, {size}, 0))({v[0]}, {starts})"
        p.add(v[1], (rows, size, *v[2][2:]), text)
    else:
        text = f"jax.vmap(lambda x, i: lax.dynamic_update_slice_in_dim(x, x[:{size}], i, 0))({v[0]}, {starts})"
        p.add(v[1], v[2], text)


@step_of()
def bits_step(p: Program, v: Value) -> None:
    """Bits read as a type of the same width."""
    other = {"float32": "int32", "int32": "uint32", "bfloat16": "int16", "int8": "uint8", "float16": "int16"}.get(v[1])
    if other is not None:
        p.add(other, v[2], f"lax.bitcast_convert_type({v[0]}, jnp.{other})")


@step_of()
def rolled_step(p: Program, v: Value) -> None:
    p.add(v[1], v[2], f"jnp.roll({v[0]}, {index(p)}, {p.between(0, len(v[2]) - 1)})")
