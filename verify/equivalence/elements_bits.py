"""Elements whose bits are read in another width: bitcast-convert and bitcast from wide to narrow types and back.

Trusted. The least significant part comes first, as in memory. A narrow element is a shifted and masked wide one; a wide
one is the disjunction of its shifted parts.
"""

from __future__ import annotations

from typing import Final

from hloproof.elements import movement
from hloproof.equivalence.graph import Node
from hloproof.equivalence.indices import ZERO, At, Lin, constant
from hloproof.equivalence.terms import App, Elem, Num, Term, from_value
from hloproof.models.hlo.shape import ELEMENT_BITS

UNSIGNED_OF: Final = {8: "u8", 16: "u16", 32: "u32", 64: "u64"}
WHOLE: Final = frozenset(
    {"s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64", "f16", "bf16", "f32", "f64", "f8e5m2", "f8e4m3fn"}
)
"""Types whose elements fill bytes, and whose every pattern of bits is an element."""


def bits(term: Term, source: str, target: str) -> Term:
    """The bits of an element, as one of another type of the same width."""
    return term if source == target else App("bitcast-convert", target, (term,))


def part(wide: Term, source: str, target: str, number: Lin) -> Term:
    """The narrow element that lies `number` places up in the wide one."""
    whole, narrow = UNSIGNED_OF[ELEMENT_BITS[source]], UNSIGNED_OF[ELEMENT_BITS[target]]
    size = ELEMENT_BITS[target]
    shifted = App("shift-right-logical", whole, (bits(wide, source, whole), Num(whole, number * size)))
    masked = App("and", whole, (shifted, from_value(whole, (1 << size) - 1)))
    return bits(App("convert", narrow, (masked,)), narrow, target)


def together(parts: list[Term], source: str, target: str) -> Term:
    """The wide element of narrow ones, least significant first."""
    whole, narrow = UNSIGNED_OF[ELEMENT_BITS[target]], UNSIGNED_OF[ELEMENT_BITS[source]]
    out: Term | None = None
    for k, term in enumerate(parts):
        widened = App("convert", whole, (bits(term, source, narrow),))
        shifted = App("shift-left", whole, (widened, Num(whole, constant(k * ELEMENT_BITS[source]))))
        out = shifted if out is None else App("or", whole, (out, shifted))
    assert out is not None
    return bits(out, whole, target)


def bitcast_convert(node: Node, at: At) -> Term | None:
    """The wide side lacks the last dimension of the narrow one, which counts the parts."""
    (operand,) = node.operands
    if not {operand.type, node.type} <= WHOLE:
        return None
    wide, narrow = ELEMENT_BITS[operand.type], ELEMENT_BITS[node.type]
    if wide > narrow:
        if node.sizes != (*operand.sizes, wide // narrow):
            return None
        return part(Elem(operand, at[:-1]), operand.type, node.type, at[-1])
    if operand.sizes != (*node.sizes, narrow // wide):
        return None
    parts: list[Term] = [Elem(operand, (*at, constant(k))) for k in range(narrow // wide)]
    return together(parts, operand.type, node.type)


def bitcast(
    node: Node, at: At, source: tuple[int, ...], source_order: tuple[int, ...], order: tuple[int, ...]
) -> Term | None:
    """The same bytes of memory; the orders are most major first."""
    (operand,) = node.operands
    if not {operand.type, node.type} <= WHOLE or 0 in source or 0 in node.sizes:
        return None
    wide, narrow = ELEMENT_BITS[operand.type], ELEMENT_BITS[node.type]
    position = movement.row_major(tuple(at[d] for d in order), tuple(node.sizes[d] for d in order), ZERO)

    def read(place: Lin) -> Term:
        out = [ZERO] * len(source)
        for x, d in zip(movement.unravel(place, tuple(source[d] for d in source_order)), source_order, strict=True):
            out[d] = x
        return Elem(operand, tuple(out))

    if wide > narrow:
        ratio = wide // narrow
        return part(read(position // ratio), operand.type, node.type, position % ratio)
    ratio = narrow // wide
    return together([read(position * ratio + k) for k in range(ratio)], operand.type, node.type)
