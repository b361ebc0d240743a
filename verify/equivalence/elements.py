"""What an element of each operation is, in elements of its operands.

Trusted, and written once: the checker reads these rules, and tests hold them against the interpreter.
Movement is index substitution, with `Cond` where the source depends on the index; elementwise operations are `App`;
reduce, dot, convolution and reduce-window are `Fold`s. What has no rule is opaque: equal where its operands are.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Final

from hloproof.elements import movement
from hloproof.equivalence import elements_bits
from hloproof.equivalence.elements_folds import convolution, dot, reduce, reduce_window
from hloproof.equivalence.elements_indexed import dynamic_slice, dynamic_update_slice, gather, scatter
from hloproof.equivalence.graph import Node
from hloproof.equivalence.indices import ZERO, At, Lin, constant
from hloproof.equivalence.placing import placed
from hloproof.equivalence.terms import App, Elem, Fold, Term, from_pattern, from_value, number
from hloproof.models.hlo.attributes import PaddingDimension, SliceDimension
from hloproof.models.hlo.opcodes import BINARY, UNARY
from hloproof.models.hlo.shape import ELEMENT_BITS
from hloproof.models.interpreter.semantics.element_type import INTEGERS, from_bits

ELEMENTWISE: Final = (UNARY | BINARY | {"select", "clamp"}) - {"copy", "bitcast-convert", "stochastic-convert"}


def unfold(node: Node, at: At, place: int) -> Term | None:
    """One step: the element of `node` at `at` in other terms, None where the operation is opaque. Variables of folds
    take the places from `place` on."""
    if node.head in ELEMENTWISE:
        return elementwise(node, at)
    if node.head in MOVEMENT:
        return MOVEMENT[node.head](node, at)
    if node.head in FOLDS:
        found = FOLDS[node.head](node, at, place)
        return of_nothing(found) if isinstance(found, Fold) and 0 in found.sizes else found
    return None


def of_nothing(fold: Fold) -> Term:
    """A fold over an empty box: 0 for a contraction, and what the others begin with."""
    return from_value(fold.type, 0) if fold.head[0] == "contract" else fold.sides[fold.head[2]]


def may_be_empty(node: Node) -> bool:
    """Whether a fold may run over nothing."""
    inner = node.operands[0] if node.head == "output" else node
    return inner.head in FOLDS and any(0 in o.sizes for o in inner.operands)


def elementwise(node: Node, at: At) -> Term:
    """The operation on the operands' elements at the same index, scalars at their only one. Converting to the type that
    is there is nothing."""
    args = tuple(Elem(o, at if o.sizes else ()) for o in node.operands)
    if node.head == "convert" and node.type == node.operands[0].type:
        return args[0]
    return App(node.head, node.type, args, node.key)


def _broadcast(node: Node, at: At) -> Term:
    return placed(movement.broadcast(at, node.attributes.integers("dimensions")), node.operands)


def _reshape(node: Node, at: At) -> Term:
    operand = node.operands[0]
    return Elem(operand, reshaped(at, node.sizes, operand.sizes))


def reshaped(at: At, sizes: tuple[int, ...], source: tuple[int, ...]) -> At:
    """The index vector of the same row-major position under other sizes; groups of dimensions with equal products are
    taken apart, so that forms stay small. Without elements there is no index to be wrong about."""
    if 0 in sizes:
        return (ZERO,) * len(source)
    out: list[Lin] = []
    i = j = 0
    while i < len(sizes) or j < len(source):
        first, second = i, j
        left = sizes[i] if i < len(sizes) else 1
        right = source[j] if j < len(source) else 1
        i, j = min(i + 1, len(sizes)), min(j + 1, len(source))
        # The shortest groups of dimensions whose products agree: inside of one the position is split, between them
        # nothing moves.
        while left != right:
            if left < right:
                left, i = left * sizes[i], i + 1
            else:
                right, j = right * source[j], j + 1
        position = movement.row_major(at[first:i], sizes[first:i], ZERO)
        while second < j and source[second] == 1:
            out.append(ZERO)
            second += 1
        out.extend(movement.unravel(position, source[second:j]))  # within the sizes, so its first digit has no modulus
    return tuple(out)


def _transpose(node: Node, at: At) -> Term:
    return placed(movement.transpose(at, node.attributes.integers("dimensions")), node.operands)


def _reverse(node: Node, at: At) -> Term:
    return placed(movement.reverse(at, node.sizes, node.attributes.integers("dimensions")), node.operands)


def _slice(node: Node, at: At) -> Term:
    parts = node.attributes.get("slice")
    assert isinstance(parts, tuple)
    dims = [p for p in parts if isinstance(p, SliceDimension)]
    return placed(movement.slice_(at, [p.start for p in dims], [p.stride for p in dims]), node.operands)


def _pad(node: Node, at: At) -> Term:
    parts = node.attributes.get("padding")
    assert isinstance(parts, tuple)
    dims = [p for p in parts if isinstance(p, PaddingDimension)]
    cases = movement.pad(at, node.operands[0].sizes, [p.low for p in dims], [p.interior for p in dims])
    return placed(cases, node.operands)


def _concatenate(node: Node, at: At) -> Term:
    (d,) = node.attributes.integers("dimensions")
    # Empty operands hold no place; with them two would begin at the same one.
    operands = [o for o in node.operands if o.sizes[d]]
    starts = [sum(o.sizes[d] for o in operands[:k]) for k in range(len(operands))]
    return placed(movement.concatenate(at, d, starts), operands)


def _iota(node: Node, at: At) -> Term | None:
    return number(node.type, at[node.attributes.integer("iota_dimension", 0)] if at else ZERO)


def _constant(node: Node, at: At) -> Term | None:
    """Constants that are the same everywhere, that count evenly, or whose place is known."""
    assert isinstance(node.key, tuple)
    kind, held = node.key
    if kind == "all":
        return from_pattern(node.type, held)
    if kind != "bits":
        return None
    position = movement.row_major(at, node.sizes, ZERO)
    if position.is_constant:
        return from_pattern(node.type, held[position.constant])
    if node.type in INTEGERS:
        steps = _even_steps([int(from_bits(node.type, b)) for b in held], node.sizes)
        if steps is not None:
            first, coefficients = steps
            return number(node.type, sum((x * c for x, c in zip(at, coefficients, strict=True)), constant(first)))
    return None


def _even_steps(values: list[int], sizes: tuple[int, ...]) -> tuple[int, list[int]] | None:
    """values[i] as first + sum of coefficient * index, if it is so everywhere."""
    strides = [prod(sizes[d + 1 :]) for d in range(len(sizes))]
    coefficients = [values[s] - values[0] if n > 1 else 0 for s, n in zip(strides, sizes, strict=True)]
    for position, value in enumerate(values):
        index = [(position // s) % n for s, n in zip(strides, sizes, strict=True)]
        if value != values[0] + sum(c * k for c, k in zip(coefficients, index, strict=True)):
            return None
    return values[0], coefficients


def _bitcast(node: Node, at: At) -> Term | None:
    """The physical position is kept, under the orders of memory of both shapes."""
    assert isinstance(node.key, tuple)
    _, (kind, source, source_order), (_, sizes, order) = node.key
    if kind != node.type and ELEMENT_BITS[kind] != ELEMENT_BITS[node.type]:
        total = prod(source) * ELEMENT_BITS[kind]
        same = total == prod(sizes) * ELEMENT_BITS[node.type] and source == node.operands[0].sizes
        return elements_bits.bitcast(node, at, source, source_order, order) if same else None
    if prod(source) != prod(sizes):
        return None
    physical = reshaped(
        tuple(at[d] for d in order), tuple(sizes[d] for d in order), tuple(source[d] for d in source_order)
    )
    out = [ZERO] * len(source)
    for x, d in zip(physical, source_order, strict=True):
        out[d] = x
    moved = Elem(node.operands[0], tuple(out))
    return moved if kind == node.type else App("bitcast-convert", node.type, (moved,))


def _bitcast_convert(node: Node, at: At) -> Term | None:
    (operand,) = node.operands
    if operand.type == node.type:
        return Elem(operand, at)
    if ELEMENT_BITS[operand.type] != ELEMENT_BITS[node.type]:
        return elements_bits.bitcast_convert(node, at)
    if (operand.type == "pred") != (node.type == "pred"):
        return None
    return App("bitcast-convert", node.type, (Elem(operand, at),))


def _conditional(node: Node, at: At) -> Term:
    """Branch 0 for true where the selector is a predicate; else the branch of this number, the last for all others."""
    selector, *branches = node.operands
    terms: list[Term] = [Elem(b, at) for b in branches]
    chosen: Term = Elem(selector, ())
    if selector.type == "pred":
        return App("select", node.type, (chosen, terms[0], terms[1]))
    # Any number beyond the branches takes the last one, as XLA says; so it is what all tests fall through to.
    out = terms[-1]
    for k in range(len(terms) - 2, -1, -1):
        is_k = App("compare", "pred", (chosen, from_pattern(selector.type, k)), (("direction", "EQ"),))
        out = App("select", node.type, (is_k, terms[k], out))
    return out


def _map(node: Node, at: At) -> Term | None:
    """The function applied to the operands' elements, where it is made of elementwise operations."""
    done: dict[Node, Term] = {}
    stack = [node.bodies[0]]
    while stack:
        inner = stack[-1]
        if inner in done:
            stack.pop()
            continue
        if inner.head == "bound":
            done[inner] = Elem(node.operands[inner.key[1]], at)
        elif inner.head == "constant":
            done[inner] = Elem(inner, ())
        elif inner.head in ELEMENTWISE and not inner.sizes:
            waiting = [o for o in inner.operands if o not in done]
            stack.extend(waiting)
            if not waiting:
                done[inner] = App(inner.head, inner.type, tuple(done[o] for o in inner.operands), inner.key)
        else:
            return None
    return done[node.bodies[0]]


MOVEMENT: Final[dict[str, Callable[[Node, At], Term | None]]] = {
    "broadcast": _broadcast,
    "reshape": _reshape,
    "transpose": _transpose,
    "reverse": _reverse,
    "slice": _slice,
    "pad": _pad,
    "concatenate": _concatenate,
    "iota": _iota,
    "constant": _constant,
    "bitcast": _bitcast,
    "bitcast-convert": _bitcast_convert,
    "conditional": _conditional,
    "map": _map,
    "dynamic-slice": dynamic_slice,
    "dynamic-update-slice": dynamic_update_slice,
    "gather": gather,
}
FOLDS: Final[dict[str, Callable[[Node, At, int], Term | None]]] = {
    "reduce": reduce,
    "reduce-window": reduce_window,
    "dot": dot,
    "convolution": convolution,
    "output": reduce,
    "scatter": scatter,
}
