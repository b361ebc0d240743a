"""Strategies for every elementwise operation, for map, and for scan."""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st

from hloproof.fuzz.drawing import ADD, Draw
from hloproof.fuzz.operations.generators.operation_text import boxes, braces, one, shape, sizes

_UNARY: Final = (
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "cbrt",
    "ceil",
    "cosh",
    "cosine",
    "erf",
    "exponential",
    "exponential-minus-one",
    "floor",
    "log",
    "log-plus-one",
    "logistic",
    "round-nearest-afz",
    "round-nearest-even",
    "rsqrt",
    "sign",
    "sine",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
)
_BINARY: Final = ("atan2", "divide", "maximum", "minimum", "multiply", "power", "remainder", "subtract")
_OF_INTEGERS: Final = ("and", "mulhi", "or", "xor", "shift-left", "shift-right-arithmetic", "shift-right-logical")
_OF_ONE_INTEGER: Final = ("not", "popcnt", "count-leading-zeros")
_OTHERS: Final = ("complex", "imag", "real", "is-finite", "reduce-precision", "stochastic-convert", "map")


@st.composite
def elementwise_more(draw: Draw) -> str:
    dims = draw(sizes())
    s = shape(dims)
    opcode = draw(st.sampled_from((*_UNARY, *_BINARY, *_OF_INTEGERS, *_OF_ONE_INTEGER, *_OTHERS)))
    if opcode in _UNARY:
        return one(s, opcode, [s])
    if opcode in _BINARY:
        return one(s, opcode, [s, s])
    whole = shape(dims, draw(st.sampled_from(("s32", "u8", "s64"))))
    if opcode in _OF_INTEGERS:
        return one(whole, opcode, [whole, whole])
    if opcode in _OF_ONE_INTEGER:
        return one(whole, opcode, [whole])
    pairs = shape(dims, "c64")
    match opcode:
        case "complex":
            return one(pairs, opcode, [s, s])
        case "imag" | "real":
            return one(s, opcode, [pairs])
        case "is-finite":
            return one(shape(dims, "pred"), opcode, [s])
        case "reduce-precision":
            return one(s, opcode, [s], "exponent_bits=5, mantissa_bits=10")
        case "stochastic-convert":
            return one(shape(dims, "bf16"), opcode, [s, shape(dims, "u32")])
    return one(s, "map", [s, s], f"dimensions={braces(range(len(dims)))}, to_apply=add", ADD)


@st.composite
def scan(draw: Draw) -> str:
    """Running sums over slices of up to three dimensions: one or two inputs, up to two outputs, one carry; or two, or
    none where every output slice is the sum of the input slices."""
    dims = draw(boxes().filter(bool))
    axis = draw(st.integers(0, len(dims) - 1))
    inputs, carries = draw(st.integers(1, 2)), draw(st.sampled_from((0, 1, 1, 1, 2)))
    outputs = draw(st.integers(0 if carries else 1, 2))
    part, whole = shape([n for d, n in enumerate(dims) if d != axis]), shape(dims)
    names = [f"x{k}" for k in range(inputs)] + [f"c{k}" for k in range(carries)]
    lines = [f"  {name} = {part} parameter({k})\n" for k, name in enumerate(names)]
    total = names[0]
    for k, name in enumerate(names[1:]):
        lines.append(f"  t{k} = {part} add({total}, {name})\n")
        total = f"t{k}"
    count = outputs + carries
    inside = "(" + ", ".join([part] * count) + ")"
    lines.append(f"  ROOT r = {inside} tuple({', '.join([total] * count)})\n")
    result = "(" + ", ".join([whole] * outputs + [part] * carries) + ")"
    reverse = ", is_reverse=true" if draw(st.booleans()) else ""
    return one(
        result,
        "scan",
        [whole] * inputs + [part] * carries,
        f"dimensions={{{axis}}}, num_carries={carries}{reverse}, to_apply=step",
        f"step {{\n{''.join(lines)}}}\n",
    )
