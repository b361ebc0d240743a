"""Constants of a module as the text that the parser reads."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import product
from math import isinf, isnan, prod
from typing import Any, Final

from hloproof.models.hlo.proto.wire import Message
from hloproof.models.hlo.shape import ArrayShape, Shape, TupleShape

_PACKED: Final = {"s8": "b", "u8": "B", "s16": "h", "u16": "H"}
"""Types that stand as bytes, and how `struct` names them."""
_MANTISSAS: Final = {"f16": (16, 10), "bf16": (16, 7), "f32": (32, 23), "f64": (64, 52)}
"""How many bits a type has, and its mantissa."""
_BYTE_EACH: Final = {"s4": 4, "u4": 4, "s2": 2, "u2": 2}


def literal_text(literal: Message, shape: Shape) -> str:
    """What stands between the parentheses of `constant(...)`. Raises ValueError for types that are not read."""
    if isinstance(shape, TupleShape):
        parts = zip(literal.get("elements", []), shape.elements, strict=True)
        return "(" + ", ".join(literal_text(one, leaf) for one, leaf in parts) + ")"
    if not isinstance(shape, ArrayShape):
        raise ValueError("a constant that is no array")
    values = [_text(v) for v in _values(literal, shape.element_type)]
    if len(values) != prod(shape.dimensions):
        raise ValueError(f"a constant of {prod(shape.dimensions)} elements has {len(values)}")
    return _nested(_in_row_major_order(values, shape), shape.dimensions)


def _values(literal: Message, kind: str) -> Sequence[Any]:
    if kind in ("f16", "bf16"):
        words: bytes = literal.get(kind, b"")
        return [_float(bits, kind) for (bits,) in struct.iter_unpack("<H", words)]
    if kind in _PACKED or kind in _BYTE_EACH:
        data: bytes = literal.get(kind, b"")
        if kind in _BYTE_EACH:
            half = 1 << (_BYTE_EACH[kind] - 1)
            values = [byte & (2 * half - 1) for byte in data]
            return [v - 2 * half if kind.startswith("s") and v >= half else v for v in values]
        return struct.unpack(f"<{len(data) // struct.calcsize(_PACKED[kind])}{_PACKED[kind]}", data)
    if kind not in ("pred", "s32", "s64", "u32", "u64", "f32", "f64", "c64", "c128"):
        raise ValueError(f"constants of {kind} are not read from protocol buffers; give the text of the module")
    found: list[Any] = literal.get(kind, [])
    if kind in ("c64", "c128"):
        parts = [_float(bits, "f32" if kind == "c64" else "f64") for bits in found]
        return list(zip(parts[::2], parts[1::2], strict=True))
    if kind in _MANTISSAS:
        return [_float(bits, kind) for bits in found]
    if kind == "u32":
        return [v & 0xFFFF_FFFF for v in found]
    return found


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"({value[0]}, {value[1]})" if isinstance(value, tuple) else str(value)


def _float(bits: int, kind: str) -> str:
    """A number as text. A NaN is told with its sign and, where it is not the one that calculations give, its bits."""
    size, mantissa = _MANTISSAS[kind]
    forms = {"f16": ("<H", "<e"), "bf16": ("<I", "<f"), "f32": ("<I", "<f"), "f64": ("<Q", "<d")}[kind]
    whole = bits << 16 if kind == "bf16" else bits
    value: float = struct.unpack(forms[1], struct.pack(forms[0], whole))[0]
    if isnan(value):
        payload = bits & (1 << mantissa) - 1
        own = "" if payload == 1 << (mantissa - 1) else f"({payload:#x})"
        return f"{'-' if bits >> (size - 1) else ''}nan{own}"
    if isinf(value):
        return "inf" if value > 0 else "-inf"
    return repr(value).removesuffix(".0")  # of a narrower type too it is that value exactly


def _in_row_major_order(values: Sequence[str], shape: ArrayShape) -> list[str]:
    """Values stand in the order of memory."""
    order = tuple(reversed(range(shape.rank))) if shape.layout is None else shape.layout.minor_to_major
    strides, size = [0] * shape.rank, 1
    for k in order:
        strides[k], size = size, size * shape.dimensions[k]
    indices = product(*(range(n) for n in shape.dimensions))
    return [values[sum(i * s for i, s in zip(index, strides, strict=True))] for index in indices]


def _nested(values: Sequence[str], sizes: Sequence[int]) -> str:
    if not sizes:
        return values[0]
    if not values:
        return "{}" if len(sizes) == 1 else "{ " + ", ".join(_nested([], sizes[1:]) for _ in range(sizes[0])) + " }"
    step = len(values) // sizes[0]
    inner = (_nested(values[n : n + step], sizes[1:]) for n in range(0, len(values), step))
    return "{" + ", ".join(inner) + "}"
