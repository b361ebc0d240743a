"""Steps of a random JAX program that fold, sort, loop and differentiate."""

from __future__ import annotations

from hloproof.fuzz.compiler.program_text import Program, Value, index, indices, step_of


@step_of()
def reduce_step(p: Program, v: Value) -> None:
    axis = p.between(0, len(v[2]) - 1)
    how = p.one_of(("sum", "max", "min", "sum"))
    if v[2][axis] == 0 and how != "sum":
        return
    kind = v[1] if v[1] != "bool" else "int32" if how == "sum" else "bool"
    if how == "sum" and (v[1].startswith(("int", "uint", "bool"))):
        kind = "int32"
    sizes = tuple(n for d, n in enumerate(v[2]) if d != axis)
    text = f"jnp.{how}({v[0]}, {axis})"
    p.add(kind, sizes, f"{text}.astype(jnp.{kind if kind != 'bool' else 'bool_'})")


@step_of()
def argument_step(p: Program, v: Value) -> None:
    axis = p.between(0, len(v[2]) - 1)
    if v[2][axis] == 0:
        return
    sizes = tuple(n for d, n in enumerate(v[2]) if d != axis)
    p.add("int32", sizes, f"jnp.{p.one_of(('argmax', 'argmin'))}({v[0]}, {axis}).astype(jnp.int32)")


@step_of()
def cumulative_step(p: Program, v: Value) -> None:
    if v[1] == "bool":
        return
    how = p.one_of(("cumsum", "cummax", "cummin"))
    reverse = p.one_of(("True", "False"))
    p.add(v[1], v[2], f"lax.{how}({v[0]}, {p.between(0, len(v[2]) - 1)}, reverse={reverse})")


@step_of()
def sort_step(p: Program, v: Value) -> None:
    axis = p.between(0, len(v[2]) - 1)
    if p.between(0, 1):
        p.add(v[1], v[2], f"lax.sort({v[0]}, dimension={axis})")
    else:
        text = f"lax.sort(({v[0]}, lax.broadcasted_iota(jnp.int32, {v[2]}, {axis})), dimension={axis}, num_keys=1)[1]"
        p.add("int32", v[2], text)


@step_of(2)
def product_step(p: Program, v: Value) -> None:
    if not v[1].startswith(("float", "bfloat", "int32")) or v[1].startswith("float8"):
        return
    other = p.of_type(v[1], v[2]) or v[0]
    a = p.between(0, len(v[2]) - 1)
    rest = tuple(n for d, n in enumerate(v[2]) if d != a)
    text = f"lax.dot_general({v[0]}, {other}, ((({a},), ({a},)), ((), ())))"
    p.add(v[1], rest + rest, text)


@step_of(2)
def window_step(p: Program, v: Value) -> None:
    if not v[1].startswith(("float32", "int32")) or 0 in v[2]:
        return
    how, zero = ("lax.add", "0") if p.between(0, 1) else ("lax.max", "-100")
    parts = [(p.between(1, 3), p.between(1, 3), (p.between(0, 2), p.between(0, 2)), p.between(1, 2)) for _ in v[2]]
    sizes = []
    for n, (window, stride, (low, high), dilated) in zip(v[2], parts, strict=True):
        base = (n - 1) * dilated + 1 + low + high
        sizes.append(0 if base < window else (base - window) // stride + 1)
    windows, strides, pads, dilations = zip(*parts, strict=True)
    text = (
        f"lax.reduce_window({v[0]}, jnp.array({zero}, {v[0]}.dtype), {how}, {windows}, {strides}, {pads}, "
        f"base_dilation={dilations})"
    )
    p.add(v[1], tuple(sizes), text)


@step_of(2)
def pooled_gradient_step(p: Program, v: Value) -> None:
    if v[1] != "float32" or 0 in v[2]:
        return
    windows = tuple(p.between(1, 2) for _ in v[2])
    strides = tuple(p.between(1, 3) for _ in v[2])
    pads = tuple((p.between(0, 1), p.between(0, 1)) for _ in v[2])
    inner = f"lax.reduce_window(t, -jnp.inf, lax.max, {windows}, {strides}, {pads})"
    p.add(v[1], v[2], f"jax.grad(lambda t: jnp.where(jnp.isfinite(q := {inner}), q, 0).sum())({v[0]})")


@step_of(2)
def convolution_step(p: Program, v: Value) -> None:
    if v[1] != "float32" or len(v[2]) != 3 or 0 in v[2]:
        return
    batch, features, length = v[2]
    groups = p.one_of(("none", "feature", "batch"))
    taps = p.between(1, 3)
    low, high, stride, left, right = (
        p.between(-1, 3),
        p.between(-1, 3),
        p.between(1, 3),
        p.between(1, 2),
        p.between(1, 2),
    )
    whole = (length - 1) * left + 1 + low + high
    size = (whole - (taps - 1) * right - 1) // stride + 1
    if whole < (taps - 1) * right + 1 or size < 1:
        return
    extra, inner, outer, batches = "", features, p.between(1, 2), batch
    if groups == "feature":
        extra, inner, outer = f", feature_group_count={features}", 1, features * outer
    elif groups == "batch":
        extra, outer, batches = f", batch_group_count={batch}", batch * outer, 1
    kernel = f"(lax.iota(jnp.float32, {outer * inner * taps}) - 2).reshape({outer}, {inner}, {taps})"
    text = (
        f"lax.conv_general_dilated({v[0]}, {kernel}, ({stride},), (({low}, {high}),), lhs_dilation=({left},), "
        f"rhs_dilation=({right},){extra})"
    )
    p.add(v[1], (batches, outer, size), text)


@step_of()
def loop_step(p: Program, v: Value) -> None:
    """A loop that updates its state in place, or turns it; loops in loops, and by scan, while and fori."""
    n = v[2][0]
    if n == 0 or v[1] == "bool":
        return
    row = "lax.dynamic_index_in_dim(s, i, 0, keepdims=True)"
    step = p.one_of(
        (
            f"lax.dynamic_update_slice_in_dim(s, {row} + s[:1], i, 0)",
            f"lax.dynamic_update_slice_in_dim(s, {row}, {n - 1} - i, 0)",
            "jnp.flip(s, 0) + s",
            "s.at[i].set(s[-1])",
            "s.at[i].add(1)",
            "jnp.where(i % 2 == 0, s, jnp.flip(s, 0))",
            "lax.cond(i < 2, lambda t: jnp.flip(t, 0), lambda t: t.at[0].add(1), s)",
            "lax.fori_loop(0, i, lambda j, t: t.at[j].set(t[i]), s)",
        )
    )
    trips = p.between(0, 4)
    how = p.one_of(("fori", "scan", "while"))
    if how == "fori":
        p.add(v[1], v[2], f"lax.fori_loop(0, {trips}, lambda i, s: {step}, {v[0]})")
    elif how == "scan":
        p.add(v[1], v[2], f"lax.scan(lambda s, i: ({step}, None), {v[0]}, jnp.arange({trips}, dtype=jnp.int32))[0]")
    else:
        limit = p.one_of((str(trips), f"{index(p)}"))
        turn = f"(lambda i, s: (i + 1, {step}))(*c)"
        text = f"lax.while_loop(lambda c: c[0] < jnp.minimum({limit}, 5), lambda c: {turn}, (0, {v[0]}))[1]"
        p.add(v[1], v[2], text)


@step_of()
def scanned_step(p: Program, v: Value) -> None:
    if v[2][0] == 0 or not v[1].startswith(("float32", "int32", "bfloat16")):
        return
    reverse = p.one_of(("True", "False"))
    text = f"lax.scan(lambda c, x: (c + x, c - x), jnp.zeros_like({v[0]}[0]), {v[0]}, reverse={reverse})[1]"
    p.add(v[1], v[2], text)


@step_of()
def differentiated_step(p: Program, v: Value) -> None:
    if v[1] != "float32" or 0 in v[2]:
        return
    n = v[2][0]
    inner = p.one_of(
        (
            "(t * t).sum()",
            "(jnp.flip(t, 0) * t).sum()",
            f"(t[:{max(1, n - 1)}] * 2).sum()",
            f"(t[jnp.array({indices(p, n, 3)})] * 3).sum()",
            "jnp.cumsum(t, 0).sum()",
            f"lax.dynamic_slice_in_dim(t, {index(p)}, 1, 0).sum()",
            "lax.scan(lambda c, x: (c + x, c), jnp.zeros_like(t[0]), t)[1].sum()",
            "jnp.concatenate([t, t * 2], 0).sum()",
        )
    )
    p.add(v[1], v[2], f"jax.grad(lambda t: {inner})({v[0]})")


@step_of()
def largest_step(p: Program, v: Value) -> None:
    n = v[2][-1]
    if n == 0 or v[1] in ("bool", "int4", "uint4") or v[1].startswith("float8"):
        return
    k = p.between(1, n)
    p.add(v[1], (*v[2][:-1], k), f"lax.top_k({v[0]}, {k})[0]")
