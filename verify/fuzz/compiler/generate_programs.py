"""Random programs written in JAX, as text: what program_reference.py runs.

Sizes are ones, primes and zeros; windows go beyond both ends; starts are clamped and indices repeated; loops are nested
in loops, and the whole is mapped or differentiated now and then.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Final

from hypothesis import strategies as st

from hloproof.fuzz.compiler.program_folds import (
    argument_step,
    convolution_step,
    cumulative_step,
    differentiated_step,
    largest_step,
    loop_step,
    pooled_gradient_step,
    product_step,
    reduce_step,
    scanned_step,
    sort_step,
    window_step,
)
from hloproof.fuzz.compiler.program_movement import (
    binary_step,
    bits_step,
    concatenate_step,
    convert_step,
    dynamic_slice_step,
    flip_step,
    mapped_step,
    pad_step,
    reshape_step,
    rolled_step,
    scatter_step,
    select_step,
    slice_step,
    take_step,
    transpose_step,
    update_step,
)
from hloproof.fuzz.compiler.program_text import LARGEST, Program
from hloproof.fuzz.drawing import Draw

MESH: Final = (("x", 2), ("y", 2))
"""The axes that arguments may be laid over, with their sizes."""
_SIZES: Final = (1, 2, 3, 4, 5, 7, 8, 4, 2, 6, 0)

STEPS: Final[dict[str, Callable[[Program], None]]] = {
    "binary": binary_step,
    "flip": flip_step,
    "transpose": transpose_step,
    "reshape": reshape_step,
    "pad": pad_step,
    "slice": slice_step,
    "dynamic-slice": dynamic_slice_step,
    "update": update_step,
    "concatenate": concatenate_step,
    "take": take_step,
    "scatter": scatter_step,
    "reduce": reduce_step,
    "argument": argument_step,
    "cumulative": cumulative_step,
    "sort": sort_step,
    "select": select_step,
    "convert": convert_step,
    "product": product_step,
    "window": window_step,
    "pooled": pooled_gradient_step,
    "convolution": convolution_step,
    "loop": loop_step,
    "loop-again": loop_step,
    "scanned": scanned_step,
    "mapped": mapped_step,
    "differentiated": differentiated_step,
    "bits": bits_step,
    "rolled": rolled_step,
    "largest": largest_step,
}
"""The steps by name."""


@st.composite
def programs(draw: Draw) -> str:
    """A program with its arguments; on four devices now and then."""
    p = Program(draw)
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


def _spec(p: Program, sizes: tuple[int, ...]) -> str:
    """Which axis of the mesh each dimension is laid over: one that divides its size."""
    left, chosen = [a for a, _ in MESH], []
    for n in sizes:
        axis = left[p.between(0, len(left) - 1)] if left and n % 2 == 0 and n and p.between(0, 3) else None
        if axis is not None:
            left.remove(axis)
        chosen.append(repr(axis))
    return f"({', '.join(chosen)}{',' if chosen else ''})"
