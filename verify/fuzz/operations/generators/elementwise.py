"""Every elementwise operation, and scan."""

from __future__ import annotations

from typing import Any, Final

from hloproof.fuzz.operations.generators.builder import Builder, Write, shape
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
_ATTRIBUTES: Final[dict[str, dict[str, Any]]] = {
    "compare": {"direction": "LT"},
    "reduce-precision": {"exponent_bits": 5, "mantissa_bits": 10},
}
_DECLARED: Final = {"convert": "bf16", "stochastic-convert": "bf16"}


def elementwise(b: Builder, most: int = 4) -> None:
    """Any elementwise opcode, with the operand types that it takes."""
    dims, opcode = b.sizes(most=most), b.one_of(tuple(_OPERANDS))
    operands = [k if k.endswith("[]") else shape(dims, k) for k in b.one_of(_OPERANDS[opcode])]
    result = shape(dims, _DECLARED[opcode]) if opcode in _DECLARED else ""
    b.op(opcode, *operands, result=result, **_ATTRIBUTES.get(opcode, {}))


def scan(b: Builder) -> None:
    """Running sums over slices of up to three dimensions: one or two inputs, up to two outputs, one carry; or two, or
    none where every output slice is the sum of the input slices."""
    dims = b.box(least=1)
    axis, inputs, carries = b.axis(dims), b.number(1, 2), b.one_of((0, 1, 1, 1, 2))
    outputs = b.number(0 if carries else 1, 2)
    part, whole = shape([n for d, n in enumerate(dims) if d != axis]), shape(dims)
    names = [f"x{k}" for k in range(inputs)] + [f"c{k}" for k in range(carries)]
    lines, total = [f"{name} = {part} parameter({k})" for k, name in enumerate(names)], names[0]
    for k, name in enumerate(names[1:]):
        lines.append(f"t{k} = add({total}, {name})")
        total = f"t{k}"
    lines.append(f"ROOT r = tuple({', '.join([total] * (outputs + carries))})")
    b.bodies["step"] = "step {\n" + "".join(f"  {line}\n" for line in lines) + "}\n"
    b.op(
        "scan",
        *[whole] * inputs,
        *[part] * carries,
        dimensions=[axis],
        num_carries=carries,
        is_reverse=b.chance(2) or None,
        to_apply="step",
        result="(" + ", ".join([whole] * outputs + [part] * carries) + ")",
    )


DRAWN: Final[tuple[Write, ...]] = (elementwise, scan)
