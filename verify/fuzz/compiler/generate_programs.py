"""Random programs written in JAX, as text: what program_reference.py runs.

Sizes are ones, primes and zeros; windows go beyond both ends; starts are clamped and indices repeated; loops are nested
in loops, and the whole is mapped or differentiated now and then.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Final

from hypothesis import strategies as st

from hloproof.fuzz.drawing import Draw

MESH: Final = (("x", 2), ("y", 2))
"""The axes that arguments may be laid over, with their sizes."""
LARGEST: Final = 120
_SIZES: Final = (1, 2, 3, 4, 5, 7, 8, 4, 2, 6, 0)
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

Value = tuple[str, str, tuple[int, ...]]
"""Name, type and sizes."""


class _Program:
    """The lines so far, and the values that later ones may read."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.lines: list[str] = []
        self.values: list[Value] = []

    def between(self, low: int, high: int) -> int:
        return int(self.draw(st.integers(low, high)))

    def one_of(self, choices: tuple[str, ...]) -> str:
        return str(self.draw(st.sampled_from(choices)))

    def pick(self, rank: int = 0) -> Value | None:
        """Mostly one of the latest values, of at least this rank."""
        fit = [v for v in self.values if len(v[2]) >= rank]
        return self.draw(st.sampled_from([*fit[-2:] * 3, *fit])) if fit else None

    def add(self, kind: str, sizes: tuple[int, ...], text: str) -> None:
        if prod(sizes) > LARGEST:
            return
        name = f"v{len(self.lines)}"
        self.lines.append(f"    {name} = {text}")
        self.values.append((name, kind, sizes))

    def of_type(self, kind: str, sizes: tuple[int, ...]) -> str | None:
        """Another value of the same type and sizes."""
        fit = [n for n, k, s in self.values if k == kind and s == sizes]
        return self.one_of(tuple(fit)) if fit else None


@st.composite
def programs(draw: Draw) -> str:
    """A program with its arguments; on four devices now and then."""
    p = _Program(draw)
    arguments = p.between(1, 3)
    for n in range(arguments):
        kind = p.one_of(("float32", "float32", "float32", "int32", "bfloat16", "int8"))
        sizes = tuple(draw(st.sampled_from(_SIZES)) for _ in range(p.between(1, 3)))
        if prod(sizes) > LARGEST:
            sizes = sizes[:1]
        p.values.append((f"a{n}", kind, sizes))
    given = list(p.values)
    for _ in range(p.between(2, 9)):
        kinds = tuple(STEPS)
        STEPS[p.one_of(kinds)](p)
    results = [p.values[-1]] + ([p.pick()] if p.between(0, 3) == 0 else [])
    result = ", ".join(v[0] for v in results if v is not None)
    body = "\n".join(p.lines)
    donated = tuple(n for n in range(arguments) if p.between(0, 3) == 0)
    specs = "None"
    if p.between(0, 1):
        specs = "[" + ", ".join(_spec(p, sizes) for _, _, sizes in given) + "]"
    shown = ", ".join(f"({k!r}, {s!r})" for _, k, s in given)
    names = ", ".join(v[0] for v in given)
    return (
        f"ARGUMENTS = [{shown}]\nDONATED = {donated!r}\nSPECS = {specs}\n\n\n"
        f"def program({names}):\n{body}\n    return {result}\n"
    )


def _spec(p: _Program, sizes: tuple[int, ...]) -> str:
    """Which axis of the mesh each dimension is laid over: one that divides its size."""
    left, chosen = [a for a, _ in MESH], []
    for n in sizes:
        axis = left[p.between(0, len(left) - 1)] if left and n % 2 == 0 and n and p.between(0, 3) else None
        if axis is not None:
            left.remove(axis)
        chosen.append(repr(axis))
    return f"({', '.join(chosen)}{',' if chosen else ''})"


def _step(rank: int = 1) -> Callable[[Callable[[_Program, Value], None]], Callable[[_Program], None]]:
    """A step that works on a value of at least this rank; nothing where there is none."""

    def made(step: Callable[[_Program, Value], None]) -> Callable[[_Program], None]:
        def run(p: _Program) -> None:
            value = p.pick(rank)
            if value is not None:
                step(p, value)

        return run

    return made


@_step()
def _flip(p: _Program, v: Value) -> None:
    axis = p.between(0, len(v[2]) - 1)
    p.add(v[1], v[2], f"jnp.flip({v[0]}, {axis})")


@_step(2)
def _transpose(p: _Program, v: Value) -> None:
    order = tuple(p.draw(st.permutations(range(len(v[2])))))
    p.add(v[1], tuple(v[2][d] for d in order), f"jnp.transpose({v[0]}, {order})")


@_step()
def _reshape(p: _Program, v: Value) -> None:
    whole = prod(v[2])
    sizes = p.draw(st.sampled_from(_factored(whole)))
    p.add(v[1], sizes, f"{v[0]}.reshape({sizes})")


def _factored(n: int) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = [(n,), (n, 1), (1, n)]
    found += [(d, n // d) for d in range(2, n) if n % d == 0]
    found += [(d, 2, n // d // 2) for d in range(1, n) if n % (2 * d) == 0]
    return found


@_step()
def _pad(p: _Program, v: Value) -> None:
    parts, sizes = [], []
    for n in v[2]:
        low, high, inner = p.between(-2, 3), p.between(-2, 3), p.between(0, 2)
        size = n + low + high + max(0, n - 1) * inner
        if size < 0 or n == 0:
            low, high, inner, size = 0, 1, 0, n + 1
        parts.append((low, high, inner))
        sizes.append(size)
    p.add(v[1], tuple(sizes), f"lax.pad({v[0]}, jnp.array({p.between(0, 1)}, {v[0]}.dtype), {parts})")


@_step()
def _slice(p: _Program, v: Value) -> None:
    text, sizes = [], []
    for n in v[2]:
        low = p.between(0, n)
        high, step = p.between(low, n), p.between(1, 3)
        text.append(f"{low}:{high}:{step}")
        sizes.append(len(range(low, high, step)))
    p.add(v[1], tuple(sizes), f"{v[0]}[{', '.join(text)}]")


def _index(p: _Program) -> str:
    """A number that is computed: of an element of some value, or of a constant, beyond the ends now and then."""
    name, kind, sizes = p.values[p.between(0, len(p.values) - 1)]
    shift = p.between(-3, 6)
    if 0 in sizes or kind.startswith("float8") or p.between(0, 1):
        return f"jnp.int32({shift})"
    return f"({name}.reshape(-1)[0].astype(jnp.int32) + {shift})"


@_step()
def _dynamic_slice(p: _Program, v: Value) -> None:
    sizes = tuple(p.between(0, n) for n in v[2])
    starts = ", ".join(_index(p) for _ in v[2])
    p.add(v[1], sizes, f"lax.dynamic_slice({v[0]}, ({starts},), {sizes})")


@_step()
def _update(p: _Program, v: Value) -> None:
    sizes = tuple(p.between(0 if n == 0 else 1, n) for n in v[2])
    starts = ", ".join(_index(p) for _ in v[2])
    part = ", ".join(f":{n}" for n in sizes)
    other = p.of_type(v[1], v[2]) or v[0]
    p.add(v[1], v[2], f"lax.dynamic_update_slice({v[0]}, {other}[{part}], ({starts},))")


@_step()
def _concatenate(p: _Program, v: Value) -> None:
    axis = p.between(0, len(v[2]) - 1)
    other = p.of_type(v[1], v[2]) or v[0]
    sizes = tuple(2 * n if d == axis else n for d, n in enumerate(v[2]))
    p.add(v[1], sizes, f"jnp.concatenate([{v[0]}, {other}], {axis})")


def _indices(p: _Program, n: int, count: int) -> str:
    """Indices of a dimension of n elements: repeated, negative, beyond the end."""
    return str([p.between(-n - 1, n + 1) for _ in range(count)])


@_step()
def _take(p: _Program, v: Value) -> None:
    axis, count = p.between(0, len(v[2]) - 1), p.between(1, 4)
    if v[2][axis] == 0:
        return
    mode = p.one_of(("clip", "wrap", "fill"))
    sizes = tuple(count if d == axis else n for d, n in enumerate(v[2]))
    fill = ", fill_value=0" if mode == "fill" else ""
    where = f"jnp.array({_indices(p, v[2][axis], count)})"
    p.add(v[1], sizes, f"jnp.take({v[0]}, {where}, axis={axis}, mode={mode!r}{fill})")


@_step()
def _scatter(p: _Program, v: Value) -> None:
    n, count = v[2][0], p.between(1, 4)
    if n == 0:
        return
    how = p.one_of(("add", "max", "min", "multiply"))
    mode = p.one_of(("clip", "drop", "promise_in_bounds"))
    where = _indices(p, n, count)
    if mode == "promise_in_bounds":
        where = str(sorted(p.between(0, n - 1) for _ in range(count)))
    if v[1] == "bool":
        how = p.one_of(("max", "min"))
    p.add(v[1], v[2], f"{v[0]}.at[jnp.array({where})].{how}({p.between(1, 3)}, mode={mode!r})")


@_step()
def _reduce(p: _Program, v: Value) -> None:
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


@_step()
def _argument(p: _Program, v: Value) -> None:
    axis = p.between(0, len(v[2]) - 1)
    if v[2][axis] == 0:
        return
    sizes = tuple(n for d, n in enumerate(v[2]) if d != axis)
    p.add("int32", sizes, f"jnp.{p.one_of(('argmax', 'argmin'))}({v[0]}, {axis}).astype(jnp.int32)")


@_step()
def _cumulative(p: _Program, v: Value) -> None:
    if v[1] == "bool":
        return
    how = p.one_of(("cumsum", "cummax", "cummin"))
    reverse = p.one_of(("True", "False"))
    p.add(v[1], v[2], f"lax.{how}({v[0]}, {p.between(0, len(v[2]) - 1)}, reverse={reverse})")


@_step()
def _sort(p: _Program, v: Value) -> None:
    axis = p.between(0, len(v[2]) - 1)
    if p.between(0, 1):
        p.add(v[1], v[2], f"lax.sort({v[0]}, dimension={axis})")
    else:
        text = f"lax.sort(({v[0]}, lax.broadcasted_iota(jnp.int32, {v[2]}, {axis})), dimension={axis}, num_keys=1)[1]"
        p.add("int32", v[2], text)


@_step()
def _binary(p: _Program, v: Value) -> None:
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


@_step()
def _select(p: _Program, v: Value) -> None:
    other = p.of_type(v[1], v[2]) or v[0]
    axis = p.between(0, len(v[2]) - 1)
    mask = f"lax.broadcasted_iota(jnp.int32, {v[2]}, {axis}) < {_index(p)}"
    p.add(v[1], v[2], f"jnp.where({mask}, {v[0]}, {other})")


@_step(0)
def _convert(p: _Program, v: Value) -> None:
    kind = p.one_of(_TYPES)
    p.add(kind, v[2], f"{v[0]}.astype(jnp.{'bool_' if kind == 'bool' else kind})")


@_step(2)
def _product(p: _Program, v: Value) -> None:
    if not v[1].startswith(("float", "bfloat", "int32")) or v[1].startswith("float8"):
        return
    other = p.of_type(v[1], v[2]) or v[0]
    a = p.between(0, len(v[2]) - 1)
    rest = tuple(n for d, n in enumerate(v[2]) if d != a)
    text = f"lax.dot_general({v[0]}, {other}, ((({a},), ({a},)), ((), ())))"
    p.add(v[1], rest + rest, text)


@_step(2)
def _window(p: _Program, v: Value) -> None:
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


@_step(2)
def _pooled_gradient(p: _Program, v: Value) -> None:
    if v[1] != "float32" or 0 in v[2]:
        return
    windows = tuple(p.between(1, 2) for _ in v[2])
    strides = tuple(p.between(1, 3) for _ in v[2])
    pads = tuple((p.between(0, 1), p.between(0, 1)) for _ in v[2])
    inner = f"lax.reduce_window(t, -jnp.inf, lax.max, {windows}, {strides}, {pads})"
    p.add(v[1], v[2], f"jax.grad(lambda t: jnp.where(jnp.isfinite(q := {inner}), q, 0).sum())({v[0]})")


@_step(2)
def _convolution(p: _Program, v: Value) -> None:
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


@_step()
def _loop(p: _Program, v: Value) -> None:
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
        limit = p.one_of((str(trips), f"{_index(p)}"))
        turn = f"(lambda i, s: (i + 1, {step}))(*c)"
        text = f"lax.while_loop(lambda c: c[0] < jnp.minimum({limit}, 5), lambda c: {turn}, (0, {v[0]}))[1]"
        p.add(v[1], v[2], text)


@_step()
def _scanned(p: _Program, v: Value) -> None:
    if v[2][0] == 0 or not v[1].startswith(("float32", "int32", "bfloat16")):
        return
    reverse = p.one_of(("True", "False"))
    text = f"lax.scan(lambda c, x: (c + x, c - x), jnp.zeros_like({v[0]}[0]), {v[0]}, reverse={reverse})[1]"
    p.add(v[1], v[2], text)


@_step(2)
def _mapped(p: _Program, v: Value) -> None:
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


@_step()
def _differentiated(p: _Program, v: Value) -> None:
    if v[1] != "float32" or 0 in v[2]:
        return
    n = v[2][0]
    inner = p.one_of(
        (
            "(t * t).sum()",
            "(jnp.flip(t, 0) * t).sum()",
            f"(t[:{max(1, n - 1)}] * 2).sum()",
            f"(t[jnp.array({_indices(p, n, 3)})] * 3).sum()",
            "jnp.cumsum(t, 0).sum()",
            f"lax.dynamic_slice_in_dim(t, {_index(p)}, 1, 0).sum()",
            "lax.scan(lambda c, x: (c + x, c), jnp.zeros_like(t[0]), t)[1].sum()",
            "jnp.concatenate([t, t * 2], 0).sum()",
        )
    )
    p.add(v[1], v[2], f"jax.grad(lambda t: {inner})({v[0]})")


@_step()
def _bits(p: _Program, v: Value) -> None:
    """Bits read as a type of the same width."""
    other = {"float32": "int32", "int32": "uint32", "bfloat16": "int16", "int8": "uint8", "float16": "int16"}.get(v[1])
    if other is not None:
        p.add(other, v[2], f"lax.bitcast_convert_type({v[0]}, jnp.{other})")


@_step()
def _rolled(p: _Program, v: Value) -> None:
    p.add(v[1], v[2], f"jnp.roll({v[0]}, {_index(p)}, {p.between(0, len(v[2]) - 1)})")


@_step()
def _largest(p: _Program, v: Value) -> None:
    n = v[2][-1]
    if n == 0 or v[1] in ("bool", "int4", "uint4") or v[1].startswith("float8"):
        return
    k = p.between(1, n)
    p.add(v[1], (*v[2][:-1], k), f"lax.top_k({v[0]}, {k})[0]")


STEPS: Final[dict[str, Callable[[_Program], None]]] = {
    "binary": _binary,
    "flip": _flip,
    "transpose": _transpose,
    "reshape": _reshape,
    "pad": _pad,
    "slice": _slice,
    "dynamic-slice": _dynamic_slice,
    "update": _update,
    "concatenate": _concatenate,
    "take": _take,
    "scatter": _scatter,
    "reduce": _reduce,
    "argument": _argument,
    "cumulative": _cumulative,
    "sort": _sort,
    "select": _select,
    "convert": _convert,
    "product": _product,
    "window": _window,
    "pooled": _pooled_gradient,
    "convolution": _convolution,
    "loop": _loop,
    "loop-again": _loop,
    "scanned": _scanned,
    "mapped": _mapped,
    "differentiated": _differentiated,
    "bits": _bits,
    "rolled": _rolled,
    "largest": _largest,
}
"""The steps by name."""
