"""Modules of a few elementwise operations on any element types; their arguments are the corners of the types."""

from __future__ import annotations

from random import Random
from typing import Any, Final

from hypothesis import strategies as st

from hloproof.fuzz.drawing import Draw
from hloproof.models.hlo.module import Module
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.interpreter.semantics.element_type import INTEGERS, highest, lowest, rounded, width
from hloproof.models.interpreter.semantics.small_float import SMALL, decode_small
from hloproof.models.interpreter.value import Array, Value

NAME: Final = "corners"
"""Of the modules: their arguments are not small numbers."""
_COUNT: Final = 16
_FLOATS: Final = ("f32", "f16", "bf16", "f64", *(k for k in SMALL if k != "f8e8m0fnu"))
_WHOLE: Final = ("s2", "u2", "s4", "u4", "s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64")
_BINARY: Final = ("add", "subtract", "multiply", "maximum", "minimum")
_OF_INTEGERS: Final = (
    "divide",
    "remainder",
    "and",
    "or",
    "xor",
    "shift-left",
    "shift-right-arithmetic",
    "shift-right-logical",
)
_UNARY_OF_INTEGERS: Final = ("not", "popcnt", "count-leading-zeros", "negate")
_UNARY_OF_FLOATS: Final = ("abs", "negate", "sign", "floor", "ceil", "round-nearest-even", "round-nearest-afz")


@st.composite
def corner_modules(draw: Draw) -> str:
    """One to three operations in a chain."""
    kind = draw(st.sampled_from((*_FLOATS, *_WHOLE)))
    lines, last = [f"p0 = {kind}[{_COUNT}] parameter(0)", f"p1 = {kind}[{_COUNT}] parameter(1)"], "p0"
    other = "p1"
    for k in range(draw(st.integers(1, 3))):
        choices = [*_BINARY, "convert", "compare", "clamp"]
        choices += [*_OF_INTEGERS, *_UNARY_OF_INTEGERS] if kind in INTEGERS else [*_UNARY_OF_FLOATS, "reduce-precision"]
        opcode, name = draw(st.sampled_from(choices)), f"v{k}"
        result, given, more = kind, last, ""
        if opcode in (*_BINARY, *_OF_INTEGERS):
            given = f"{last}, {other}"
        elif opcode == "clamp":
            given = f"{other}, {last}, {other}"
        elif opcode == "compare":
            direction = draw(st.sampled_from(("EQ", "NE", "LT", "GE")))
            lines.append(f"c{k} = pred[{_COUNT}] compare({last}, {other}), direction={direction}")
            opcode, given = "select", f"c{k}, {other}, {last}"
        elif opcode == "convert":
            result = draw(st.sampled_from((*_FLOATS, *_WHOLE)))
        elif opcode == "reduce-precision":
            exponent, mantissa = draw(st.integers(2, 8)), draw(st.integers(1, 10))
            more = f", exponent_bits={exponent}, mantissa_bits={mantissa}"
        lines.append(f"{name} = {result}[{_COUNT}] {opcode}({given}){more}")
        last = name
        other = other if result == kind else name
        kind = result
    lines[-1] = f"ROOT {lines[-1]}"
    return f"HloModule {NAME}\n\nENTRY e {{\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


def corner_inputs(module: Module, seed: int) -> tuple[Value, ...]:
    """The extremes of the types, what is next to them, zeros, ones, infinities and NaN; no subnormal f32."""
    random = Random(seed)
    found: list[Value] = []
    for p in module.entry.parameters:
        assert isinstance(p.shape, ArrayShape)
        kind = p.shape.element_type
        data = [rounded(kind, random.choice(_corners(kind))) for _ in range(p.shape.elements)]
        found.append(Array(kind, p.shape.dimensions, data))
    return tuple(found)


def _corners(kind: str) -> list[Any]:
    if kind == "pred":
        return [False, True]
    if kind in INTEGERS:
        low, high = int(lowest(kind)), int(highest(kind))
        near = (low, low + 1, -3, -1, 0, 1, 2, 3, width(kind) - 1, width(kind), high // 2, high - 1, high)
        return [v for v in near if low <= v <= high]
    if kind in SMALL:
        return [decode_small(kind, code) for code in range(1 << SMALL[kind].bits)]
    infinity = float("inf")
    return [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        1.5,
        2.5,
        -2.5,
        127.5,
        -128.5,
        255.5,
        3e4,
        -1e5,
        2.0**31,
        infinity,
        -infinity,
        infinity - infinity,
    ]
