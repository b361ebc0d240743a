"""Shapes out of protocol buffers."""

from __future__ import annotations

from typing import Final

from hloproof.models.hlo.proto.schema import ELEMENT_TYPES
from hloproof.models.hlo.proto.wire import Message
from hloproof.models.hlo.shape import (
    ArrayShape,
    BufferShape,
    Layout,
    OpaqueShape,
    Shape,
    SplitConfig,
    Tile,
    TokenShape,
    TupleShape,
)

_COMBINE: Final = -(1 << 63)
"""How a tile's `*` stands in a buffer."""


def shape_of(m: Message) -> Shape:
    """The shape of a message. Raises ValueError for element types and layouts that are not read."""
    kind = ELEMENT_TYPES.get(m.get("type", 0))
    if kind not in ("tuple", "buffer") and m.get("elements"):
        raise ValueError(f"a shape of type {kind} has parts")
    if kind in ("tuple", "buffer", "token", "opaque") and m.get("dimensions"):
        raise ValueError(f"a shape of type {kind} has dimensions")
    match kind:
        case "tuple":
            return TupleShape(tuple(shape_of(e) for e in m.get("elements", [])))
        case "token":
            return TokenShape()
        case "opaque":
            return OpaqueShape()
        case "buffer":
            inner = shape_of(m["elements"][0])
            if not isinstance(inner, ArrayShape):
                raise ValueError("a buffer of what is no array")
            return BufferShape(inner)
        case None | "invalid":
            raise ValueError(f"element type {m.get('type', 0)} is not known here")
    dynamic = tuple(m.get("dynamic", []))
    if any(dynamic) and len(dynamic) != len(m.get("dimensions", [])):
        raise ValueError(f"a shape of {len(m.get('dimensions', []))} dimensions says of {len(dynamic)} what is dynamic")
    layout = _layout(m["layout"]) if "layout" in m else None
    if layout == Layout(()) and not m.get("dimensions"):  # that of a scalar has nothing to say
        layout = None
    return ArrayShape(kind, tuple(m.get("dimensions", [])), dynamic if any(dynamic) else (), layout)


def _layout(m: Message) -> Layout:
    if any(m.get("level_types", [])) or "physical_shape" in m:
        raise ValueError("layouts of sparse arrays are not read from protocol buffers")
    return Layout(
        tuple(m.get("minor_to_major", [])),
        tuple(Tile(tuple(-1 if n == _COMBINE else n for n in t.get("dimensions", []))) for t in m.get("tiles", [])),
        tail_padding=0 if m.get("tail_padding", 0) == 1 else m.get("tail_padding", 0),
        element_bits=m.get("element_bits", 0),
        memory_space=m.get("memory_space", 0),
        split_configs=tuple(
            SplitConfig(s.get("dimension", 0), tuple(s.get("indices", []))) for s in m.get("splits", [])
        ),
        dynamic_prefix_bytes=m.get("prefix_bytes", 0),
        index_type=_pointer(m.get("index_type", 0)),
        pointer_type=_pointer(m.get("pointer_type", 0)),
    )


def _pointer(number: int) -> str:
    return ELEMENT_TYPES[number] if number else ""
