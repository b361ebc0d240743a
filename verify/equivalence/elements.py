"""What an element of each operation is, in elements of its operands.

Trusted, and written once: the checker reads these rules, and tests hold them against the interpreter.
Movement is index substitution, with `Cond` where the source depends on the index; elementwise operations are `App`;
reduce, dot, convolution and reduce-window are `Fold`s. What has no rule is opaque: equal where its operands are.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Final

from hloproof.equivalence import elements_bits
from hloproof.equivalence.elements_folds import convolution, dot, reduce, reduce_window
from hloproof.equivalence.elements_indexed import dynamic_slice, dynamic_update_slice, gather
from hloproof.equivalence.elements_scatter import scatter
from hloproof.equivalence.graph import Node
from hloproof.equivalence.indices import ZERO, Lin, constant, row_major, unravel
from hloproof.equivalence.terms import App, Cond, Elem, Term, from_pattern, number
from hloproof.models.hlo.attributes import PaddingDimension, SliceDimension
from hloproof.models.hlo.opcodes import BINARY, UNARY
from hloproof.models.hlo.shape import ELEMENT_BITS
from hloproof.models.interpreter.semantics.element_type import INTEGERS, from_bits

At = tuple[Lin, ...]
ELEMENTWISE: Final = (UNARY | BINARY | {"select", "clamp"}) - {"copy", "bitcast-convert", "stochastic-convert"}


def unfold(node: Node, at: At, place: int) -> Term | None:
    """One step: the element of `node` at `at` in other terms, None where the operation is opaque. Variables of folds
    take the places from `place` on."""
    if node.head in ELEMENTWISE:
        return elementwise(node, at)
    if node.head in MOVEMENT:
        return MOVEMENT[node.head](node, at)
    if node.head in FOLDS:
        return FOLDS[node.head](node, at, place)
    return None


def inside(x: Lin, size: int, then: Term, other: Term) -> Term:
    """`then` where 0 <= x < size."""
    return Cond(x, Cond(constant(size - 1) - x, then, other), other)


def elementwise(node: Node, at: At) -> Term:
    args = tuple(Elem(o, at if o.sizes else ()) for o in node.operands)
    if node.head == "convert" and node.type == node.operands[0].type:
        return args[0]
    return App(node.head, node.type, args, node.key)


def _broadcast(node: Node, at: At) -> Term:
    operand = node.operands[0]
    dimensions = node.attributes.integers("dimensions")
    return Elem(operand, tuple(at[d] for d in dimensions))


def _reshape(node: Node, at: At) -> Term:
    operand = node.operands[0]
    return Elem(operand, reshaped(at, node.sizes, operand.sizes))


def reshaped(at: At, sizes: tuple[int, ...], source: tuple[int, ...]) -> At:
    """The index vector of the same row-major position under other sizes; groups of dimensions with equal products are
    taken apart, so that forms stay small."""
    out: list[Lin] = []
    i = j = 0
    while i < len(sizes) or j < len(source):
        first, second = i, j
        left = sizes[i] if i < len(sizes) else 1
        right = source[j] if j < len(source) else 1
        i, j = min(i + 1, len(sizes)), min(j + 1, len(source))
        while left != right:
            if left < right:
                left, i = left * sizes[i], i + 1
            else:
                right, j = right * source[j], j + 1
        out.extend(unravel(row_major(at[first:i], sizes[first:i]), source[second:j]))
    return tuple(out)


def _transpose(node: Node, at: At) -> Term:
    out = [ZERO] * len(at)
    for k, d in enumerate(node.attributes.integers("dimensions")):
        out[d] = at[k]
    return Elem(node.operands[0], tuple(out))


def _reverse(node: Node, at: At) -> Term:
    turned = set(node.attributes.integers("dimensions"))
    return Elem(node.operands[0], tuple(node.sizes[d] - 1 - x if d in turned else x for d, x in enumerate(at)))


def _slice(node: Node, at: At) -> Term:
    parts = node.attributes.get("slice")
    assert isinstance(parts, tuple)
    return Elem(
        node.operands[0],
        tuple(x * p.stride + p.start for x, p in zip(at, parts, strict=True) if isinstance(p, SliceDimension)),
    )


def _pad(node: Node, at: At) -> Term:
    operand, filler = node.operands
    parts = node.attributes.get("padding")
    assert isinstance(parts, tuple)
    pad: Term = Elem(filler, ())
    source: list[Lin] = []
    tests: list[tuple[Lin, int, Lin]] = []
    for x, p, size in zip(at, parts, operand.sizes, strict=True):
        assert isinstance(p, PaddingDimension)
        step = p.interior + 1
        shifted = x - p.low
        source.append(shifted // step)
        tests.append((shifted // step, size, shifted % step))
    out: Term = Elem(operand, tuple(source))
    for index, size, hole in reversed(tests):
        out = Cond(-hole, out, pad)  # at least 0 exactly where there is no hole
        out = inside(index, size, out, pad)
    return out


def _concatenate(node: Node, at: At) -> Term:
    (d,) = node.attributes.integers("dimensions")
    offset = 0
    parts: list[tuple[int, Term]] = []
    for operand in node.operands:
        if operand.sizes[d]:
            parts.append((offset, Elem(operand, (*at[:d], at[d] - offset, *at[d + 1 :]))))
        offset += operand.sizes[d]
    out = parts[0][1]
    for start, term in parts[1:]:
        out = Cond(at[d] - start, term, out)
    return out


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
    position = row_major(at, node.sizes)
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
