"""The wire format of protocol buffers, read by a schema that is data.

A field that is set and that the schema does not know is an error, not passed over: what nobody reads, nobody may prove
something about.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_SIGN: Final = 1 << 63
_DEEPEST: Final = 60
"""Messages inside of each other; tuples of tuples are the deepest of a module."""


class Field(NamedTuple):
    """`kind` is int, uint, bool, float, double, bits32 or bits64 (of a float, as a number: a NaN keeps its own), text,
    bytes, or the name of a message; `ignored` ones are skipped."""

    name: str
    kind: str
    repeated: bool = False
    ignored: bool = False


Schema = Mapping[str, Mapping[int, Field]]
"""By message and number."""
Message = dict[str, Any]
"""By name: numbers, texts, bytes, messages, and lists of these. Fields that are not there are left out."""

_WIRE: Final = {
    "int": VARINT,
    "uint": VARINT,
    "bool": VARINT,
    "float": FIXED32,
    "double": FIXED64,
    "bits32": FIXED32,
    "bits64": FIXED64,
}


def read(data: bytes, message: str, schema: Schema, depth: int = 0) -> Message:
    """The message that the data holds. Raises ValueError for data that is cut off or damaged, has a field that the
    schema does not know, or a message twice that stands alone."""
    if depth > _DEEPEST:
        raise ValueError(f"messages inside of each other deeper than {_DEEPEST}")
    fields = schema[message]
    out: Message = {}
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        number, wire = key >> 3, key & 7
        field = fields.get(number)
        raw, at = _raw(data, at, wire)
        if field is None:  # an empty one, too: what is 0 or empty and has no presence of its own is not written
            raise ValueError(f"field {number} of {message} is not known here")
        if field.ignored:
            continue
        values = _values(raw, wire, field, message, schema, depth)
        if field.repeated:
            out.setdefault(field.name, []).extend(values)
        elif field.name in out and field.kind in schema:
            raise ValueError(f"{field.name} of {message} is given twice")  # of two messages both would count in part
        else:
            out[field.name] = values[-1]
    return out


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise ValueError("a number is cut off")
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value & ((1 << 64) - 1), at
        shift += 7


def _raw(data: bytes, at: int, wire: int) -> tuple[int | bytes, int]:
    if wire == VARINT:
        return _varint(data, at)
    if wire == BYTES:
        length, at = _varint(data, at)
    elif wire in (FIXED32, FIXED64):
        length = 4 if wire == FIXED32 else 8
    else:
        raise ValueError(f"wire type {wire} is not one of this format")
    if at + length > len(data):
        raise ValueError("a field is cut off")
    return data[at : at + length], at + length


def _values(raw: int | bytes, wire: int, field: Field, message: str, schema: Schema, depth: int) -> list[Any]:
    """One value, or those of a packed list."""
    expected = _WIRE.get(field.kind, BYTES)
    if wire == BYTES and expected != BYTES and field.repeated:
        assert isinstance(raw, bytes)
        out, at = [], 0
        while at < len(raw):
            one, at = _raw(raw, at, expected)
            out.append(_value(one, field.kind, schema, depth))
        return out
    if wire != expected:
        raise ValueError(f"{field.name} of {message} has wire type {wire}, not {expected}")
    return [_value(raw, field.kind, schema, depth)]


def _value(raw: int | bytes, kind: str, schema: Schema, depth: int) -> Any:
    if isinstance(raw, int):
        if kind == "bool":
            return bool(raw)
        return raw - 2 * _SIGN if kind == "int" and raw >= _SIGN else raw
    match kind:
        case "float":
            return struct.unpack("<f", raw)[0]
        case "double":
            return struct.unpack("<d", raw)[0]
        case "bits32" | "bits64":
            return int.from_bytes(raw, "little")
        case "text":
            return raw.decode("utf-8")
        case "bytes":
            return raw
        case _:
            return read(raw, kind, schema, depth + 1)
