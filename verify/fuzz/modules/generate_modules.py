"""Strategies for modules of several data movement operations, as text: chains with branches that join again."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final

from hypothesis import strategies as st

from hloproof.fuzz.drawing import ADD, Draw, Writer

LARGEST: Final = 48
"""Elements of a tensor."""


def _shape(dims: Sequence[int]) -> str:
    return f"f32[{','.join(map(str, dims))}]"


class _Writer(Writer):
    """Instructions so far: names and sizes of the tensors that later ones may read."""

    def __init__(self, draw: Draw) -> None:
        super().__init__(draw)
        self.lines: list[str] = []
        self.tensors: list[tuple[str, list[int]]] = []

    def add(self, dims: Sequence[int], text: str) -> None:
        name = f"v{len(self.lines)}"
        self.lines.append(f"  {name} = {_shape(dims)} {text}\n")
        self.tensors.append((name, list(dims)))

    def pick(self) -> tuple[str, list[int]]:
        """Mostly one of the latest tensors."""
        found: tuple[str, list[int]] = self.one_of([*self.tensors[-3:] * 3, *self.tensors])
        return found


def _reshape(w: _Writer) -> None:
    name, dims = w.pick()
    factors = _factors(prod(dims)) if prod(dims) else [*dims]
    order = w.draw(st.permutations(factors))
    result: list[int] = []
    for f in order:
        if result and w.number(0, 1):
            result[-1] *= f
        else:
            result.append(f)
    if w.number(0, 3) == 0:
        result.insert(w.number(0, len(result)), 1)
    w.add(result, f"reshape({name})")


def _factors(n: int) -> list[int]:
    found, f = [], 2
    while n > 1:
        while n % f == 0:
            found.append(f)
            n //= f
        f += 1
    return found


def _transpose(w: _Writer) -> None:
    name, dims = w.pick()
    order = w.draw(st.permutations(range(len(dims))))
    w.add([dims[k] for k in order], f"transpose({name}), dimensions={{{','.join(map(str, order))}}}")


def _slice(w: _Writer) -> None:
    name, dims = w.pick()
    bounds, result = [], []
    for n in dims:
        start = w.number(0, max(0, n - 1))
        limit = w.number(min(n, start + 1), n)
        stride = w.one_of((1, 1, 2, 3))
        bounds.append(f"[{start}:{limit}:{stride}]")
        result.append(-(-(limit - start) // stride))
    w.add(result, f"slice({name}), slice={{{','.join(bounds)}}}")


def _pad(w: _Writer) -> None:
    name, dims = w.pick()
    if not dims:
        return
    padding, result = [], []
    for n in dims:
        interior = w.one_of((0, 0, 1))
        full = n + max(0, n - 1) * interior
        low = w.number(-min(1, full), 2)
        high = w.number(-min(1, full + low), 2)
        padding.append(f"{low}_{high}_{interior}")
        result.append(full + low + high)
    if prod(result) <= LARGEST:
        w.add(result, f"pad({name}, z), padding={'x'.join(padding)}")


def _reverse(w: _Writer) -> None:
    name, dims = w.pick()
    chosen = [k for k in range(len(dims)) if w.number(0, 1)]
    w.add(dims, f"reverse({name}), dimensions={{{','.join(map(str, chosen))}}}")


def _broadcast(w: _Writer) -> None:
    name, dims = w.pick()
    at, size = w.number(0, len(dims)), w.number(1, 3)
    result = [*dims[:at], size, *dims[at:]]
    kept = [k for k in range(len(result)) if k != at]
    if prod(result) <= LARGEST:
        w.add(result, f"broadcast({name}), dimensions={{{','.join(map(str, kept))}}}")


def _concatenate(w: _Writer) -> None:
    name, dims = w.pick()
    if not dims:
        return
    axis = w.number(0, len(dims) - 1)
    fitting = [
        (other, sizes)
        for other, sizes in w.tensors
        if len(sizes) == len(dims)
        and all(a == b for k, (a, b) in enumerate(zip(dims, sizes, strict=True)) if k != axis)
    ]
    other, sizes = w.one_of(fitting)
    result = [*dims[:axis], dims[axis] + sizes[axis], *dims[axis + 1 :]]
    if prod(result) <= LARGEST:
        w.add(result, f"concatenate({name}, {other}), dimensions={{{axis}}}")


def _add(w: _Writer) -> None:
    name, dims = w.pick()
    other, _ = w.one_of([t for t in w.tensors if t[1] == dims])
    w.add(dims, f"add({name}, {other})")


def _reduce(w: _Writer) -> None:
    name, dims = w.pick()
    if not dims:
        return
    axis = w.number(0, len(dims) - 1)
    w.add([n for k, n in enumerate(dims) if k != axis], f"reduce({name}, z), dimensions={{{axis}}}, to_apply=add")


def _dynamic_slice(w: _Writer) -> None:
    name, dims = w.pick()
    if not dims:
        return
    window = [w.number(1, n) if n else 0 for n in dims]
    starts = ", ".join(w.one_of(("i", "j")) for _ in dims)
    w.add(window, f"dynamic-slice({name}, {starts}), dynamic_slice_sizes={{{','.join(map(str, window))}}}")


_STEPS: Final = (
    _reshape,
    _reshape,
    _transpose,
    _transpose,
    _slice,
    _pad,
    _reverse,
    _broadcast,
    _concatenate,
    _add,
    _reduce,
    _dynamic_slice,
)


@st.composite
def movement_modules(draw: Draw, most: int = 8) -> str:
    """Up to `most` operations over two parameters, with two more for start indices; half of them are a fusion."""
    w = _Writer(draw)
    dims = [draw(st.lists(st.sampled_from((1, 2, 2, 3, 4)), max_size=3)) for _ in range(2)]
    for n, d in enumerate(dims):
        w.add(d, f"parameter({n})")
    for step in draw(st.lists(st.sampled_from(_STEPS), min_size=1, max_size=most)):
        step(w)
    starts = "  i = s32[] parameter(2)\n  j = s32[] parameter(3)\n"
    lines = [*w.lines[:2], starts, "  z = f32[] constant(0)\n", *w.lines[2:]]
    lines.append(f"  ROOT root = {_shape(w.tensors[-1][1])} negate({w.tensors[-1][0]})\n")
    root = _shape(w.tensors[-1][1])
    body = "".join(lines)
    if draw(st.booleans()):
        entry = "".join(f"  p{n} = {_shape(d)} parameter({n})\n" for n, d in enumerate(dims)) + starts
        entry += f"  ROOT f = {root} fusion(p0, p1, i, j), kind=kLoop, calls=fused\n"
        return f"HloModule case\n\n{ADD}fused {{\n{body}}}\n\nENTRY e {{\n{entry}}}\n"
    return f"HloModule case\n\n{ADD}ENTRY e {{\n{body}}}\n"
