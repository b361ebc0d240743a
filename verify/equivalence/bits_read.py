"""Which operations tell numbers apart that are equal over the reals: those that look at bits.

Trusted. Equal real numbers have several patterns of bits: those of 0 and -0.0, and of sums that are rounded otherwise.
So what an operation is given whose result is made of the bits is owed bit for bit, whatever tier is asked for. A total
order of floats is that of the real numbers but for the two zeros, and the angle of a point, with what is made of it,
goes by the sign of a zero. These two zeros a proof over the reals may take for one, and then says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Literal

from hloproof.equivalence.computed_identities import TOTAL_BITS
from hloproof.equivalence.graph import Node
from hloproof.equivalence.indices import variable
from hloproof.equivalence.patterns import View
from hloproof.equivalence.terms import App, Elem, Term, type_of, value_of
from hloproof.models.interpreter.semantics.element_type import COMPLEX, highest
from hloproof.models.interpreter.semantics.small_float import FLOATS

ZEROS: Final = "both zeros are one where signs of zeros are looked at"
"""The name of what is assumed, of the tier real."""
_CUT: Final = frozenset(
    {"acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "log", "log-plus-one", "power", "rsqrt", "sqrt"}
)
"""Functions of complex numbers that are cut along an axis: the sign of a zero says on which side a number lies."""

Looks = Literal["", "order", "bits"]
"""At what an operation looks beyond the numbers: at nothing, at which of both zeros a zero is, at bits."""


def looks_at(op: str, type_: str, operands: Sequence[str], key: object) -> Looks:
    """Of one operation, by its result's element type and those of its operands."""
    if not operands or operands[0] not in FLOATS | COMPLEX:
        return ""
    if op in ("atan2", "topk") or (op in _CUT and operands[0] in COMPLEX):
        return "order"
    if op == "compare":
        return "order" if isinstance(key, tuple) and ("type", "TOTALORDER") in key else ""
    return "bits" if op in ("bitcast", "bitcast-convert") and type_ != operands[0] else ""


def node_looks_at(node: Node, view: View) -> Looks:
    """Of a tensor's operation with the functions that it applies."""
    own = looks_at(node.head, node.type, [o.type for o in node.operands], node.key)
    found = {own, functions_look_at(node.bodies, view)}
    return "bits" if "bits" in found else "order" if "order" in found else ""


def functions_look_at(functions: Iterable[Node], view: View) -> Looks:
    """Of functions that are applied. A total order that is written out in bits is one."""
    found: set[Looks] = set()
    seen, stack = set(functions), [*functions]
    while stack:
        looks, at = _looks(stack[-1], view)
        inner = stack.pop()
        found.add(looks)
        new = {*at, *inner.bodies} - seen
        seen |= new
        stack += new
    return "bits" if "bits" in found else "order" if "order" in found else ""


def _looks(node: Node, view: View) -> tuple[Looks, Sequence[Node]]:
    """At what an operation looks, its functions aside, and in which tensors: its operands, or two floats that it puts
    in order."""
    if node.head == "compare" and 0 not in node.sizes:
        at = tuple(variable(k, n) for k, n in enumerate(node.sizes))
        floats = [x.node for x in ordered_floats(view(Elem(node, at)), view) if isinstance(x, Elem)]
        if len(floats) == 2:
            return "order", floats
    return looks_at(node.head, node.type, [o.type for o in node.operands], node.key), node.operands


def below(roots: Iterable[Node]) -> frozenset[Node]:
    """The nodes that these are made of, themselves among them, with the functions that are applied."""
    seen = set(roots)
    stack = [*seen]
    while stack:
        node = stack.pop()
        new = {*node.operands, *node.bodies} - seen
        seen |= new
        stack += new
    return frozenset(seen)


def read_beyond_numbers(roots: Iterable[Node], view: View, zeros: bool) -> frozenset[Node]:
    """The nodes of which something below is made that looks at bits, or at an order; with `zeros` at bits alone."""
    roots = [*roots]
    if not any(looks_at(n.head, n.type, [o.type for o in n.operands], n.key) for n in below(roots)):
        return frozenset()
    kinds = ("bits",) if zeros else ("bits", "order")
    found: list[Node] = []
    seen, stack = set(roots), [*roots]
    while stack:
        node = stack.pop()
        looks, at = _looks(node, view)
        if looks in kinds:
            found += at
        # What a function looks at is what the operation is given that applies it.
        if node.bodies and functions_look_at(node.bodies, view) in kinds:
            found += (*node.operands, *node.bodies)
        new = set(at) - seen
        seen |= new
        stack += new
    return below(found)


def ordered_floats(term: Term, view: View) -> list[Term]:
    """The two floats that a comparison puts in total order by their bits, those of negative ones turned over; nothing
    for any other term."""
    if not isinstance(term, App) or term.op != "compare":
        return []
    found = [x for x in (_turned(view(a), view) for a in term.args) if x is not None]
    # Patterns of two types are not in the order of their numbers.
    return found if len(found) == 2 and type_of(found[0]) == type_of(found[1]) else []


def _turned(term: Term, view: View) -> Term | None:
    if not isinstance(term, App) or term.op != "select":
        return None
    negative, turned, pattern = map(view, term.args)
    if not isinstance(pattern, App) or pattern.op != "bitcast-convert":
        return None
    (x,) = pattern.args
    below = isinstance(negative, App) and negative.op == "compare" and ("direction", "LT") in negative.key
    over = isinstance(turned, App) and turned.op == "xor"
    if TOTAL_BITS.get(type_of(x)) != pattern.type or not below or not over:
        return None
    assert isinstance(negative, App) and isinstance(turned, App)
    first, zero = map(view, negative.args)
    mask = [t for t in map(view, turned.args) if t != pattern]
    fits = first == pattern and value_of(zero) == 0 and [value_of(t) for t in mask] == [highest(pattern.type)]
    return x if fits else None
