"""Strategies for every elementwise operation, and for scan."""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st

from hloproof.fuzz.drawing import Draw
from hloproof.fuzz.operations.generators.operation_text import boxes, one, shape, sizes
from hloproof.models.hlo.opcodes import BINARY, UNARY

_WHOLE: Final = ("s32", "u8", "s64")
_OPERANDS: Final[dict[str, tuple[tuple[str, ...], ...]]] = {
    **dict.fromkeys(sorted(UNARY), (("f32",),)),
    **dict.fromkeys(sorted(BINARY), (("f32", "f32"),)),
    **dict.fromkeys(("popcnt", "count-leading-zeros", "not"), tuple((k,) for k in _WHOLE)),
    **dict.fromkeys(
        ("and", "mulhi", "or", "xor", "shift-left", "shift-right-arithmetic", "shift-right-logical"),
        tuple((k, k) for k in _WHOLE),
    ),
    "imag": (("c64",),),
    "real": (("c64",),),
    "stochastic-convert": (("f32", "u32"),),
    "select": (("pred", "f32", "f32"), ("pred[]", "f32", "f32")),
    "clamp": (("f32", "f32", "f32"), ("f32[]", "f32", "f32[]")),
    "compare": (("f32", "f32"),),
}
"""Types of operands by opcode; all have the sizes of the result but for those that have `[]`."""
_ATTRIBUTES: Final = {"compare": "direction=LT", "reduce-precision": "exponent_bits=5, mantissa_bits=10"}
_DECLARED: Final = {"convert": "bf16", "stochastic-convert": "bf16"}


@st.composite
def elementwise(draw: Draw, most: int = 4) -> str:
    """Any elementwise opcode, with the operand types that it takes."""
    dims = draw(sizes(maximum=most))
    opcode = draw(st.sampled_from(tuple(_OPERANDS)))
    operands = [k if k.endswith("[]") else shape(dims, k) for k in draw(st.sampled_from(_OPERANDS[opcode]))]
    result = shape(dims, _DECLARED[opcode]) if opcode in _DECLARED else ""
    return one(opcode, operands, _ATTRIBUTES.get(opcode, ""), result=result)


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
        lines.append(f"  t{k} = add({total}, {name})\n")
        total = f"t{k}"
    lines.append(f"  ROOT r = tuple({', '.join([total] * (outputs + carries))})\n")
    reverse = ", is_reverse=true" if draw(st.booleans()) else ""
    return one(
        "scan",
        [whole] * inputs + [part] * carries,
        f"dimensions={{{axis}}}, num_carries={carries}{reverse}, to_apply=step",
        f"step {{\n{''.join(lines)}}}\n",
        result="(" + ", ".join([whole] * outputs + [part] * carries) + ")",
    )
