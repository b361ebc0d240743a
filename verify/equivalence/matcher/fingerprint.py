"""A number for each tensor: what it holds when every input is filled with one number.

Movement does not change it, nor do the laws of real numbers, so two tensors whose numbers differ are not worth pairing.
None where the value would depend on the index.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite, prod
from random import Random
from typing import Any, Final

from hloproof.equivalence.elements import ELEMENTWISE
from hloproof.equivalence.evaluation import attributes_of
from hloproof.equivalence.goals import Goal
from hloproof.equivalence.graph import Node, operands_first
from hloproof.equivalence.reductions import combiner
from hloproof.equivalence.terms import App, Cond, Elem, Fold, Num, Term, value_of
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import ConvolutionDimensions, Window
from hloproof.models.interpreter.semantics.element_type import COMPLEX, INTEGERS, from_bits
from hloproof.models.interpreter.semantics.real import Real

_Number = float | int | bool | None
_REAL: Final = Real()
MOVING: Final = frozenset(
    {"broadcast", "reshape", "transpose", "reverse", "slice", "dynamic-slice", "gather", "bitcast-same", "sort"}
)
MIXING: Final = frozenset({"pad", "concatenate", "dynamic-update-slice", "conditional"})


class Fingerprints:
    """Numbers of nodes and terms, remembered."""

    def __init__(self) -> None:
        self.known: dict[Node, _Number] = {}

    def node(self, root: Node) -> _Number:
        known = self.known
        for node in operands_first(root, known):
            known[node] = sound(self._node(node, [known[o] for o in node.operands]))
        return known[root]

    def _node(self, node: Node, of: list[_Number]) -> _Number:
        head = node.head
        if head == "parameter":
            return filling(node.serial, node.type)
        if head in ("free", "bound"):  # states of loops: which of them are one is still to be found out
            return filling(0, node.type)
        if head == "constant":
            return from_bits(node.type, node.key[1]) if node.key[0] == "all" and node.type not in COMPLEX else None
        if head in ELEMENTWISE:
            return applied(head, [o.type for o in node.operands], node.type, node.key, of)
        if head in MOVING:
            return of[0]
        if head == "bitcast":
            return of[0] if node.type == node.operands[0].type else None
        if head in MIXING:
            parts = of[:2] if head in ("pad", "dynamic-update-slice") else of[1:] if head == "conditional" else of
            return parts[0] if all(p is not None and p == parts[0] for p in parts) else None
        if head == "reduce" and len(node.operands) == 2:
            folded = prod(node.operands[0].sizes) // max(1, prod(node.sizes))
            return reduced(_operation(node), folded, of[0], of[1])
        if head == "dot":
            folded = prod(node.operands[0].sizes[d] for d in node.attributes.integers("lhs_contracting_dims"))
            return times(folded, of[0], of[1])
        if head == "convolution":
            return self._convolution(node, of)
        return None

    def _convolution(self, node: Node, of: list[_Number]) -> _Number:
        window, labels = node.attributes.get("window"), node.attributes.get("dim_labels")
        dims = window.dimensions if isinstance(window, Window) else ()
        if not isinstance(labels, ConvolutionDimensions):
            return None
        if any(d.padding_low > 0 or d.padding_high > 0 or d.base_dilation != 1 for d in dims):
            return None
        per_group = node.operands[1].sizes[labels.kernel_input_feature]
        return times(per_group * prod(d.size for d in dims), of[0], of[1])

    def term(self, term: Term) -> _Number:
        match term:
            case Elem(node, _):
                return self.node(node)
            case App(op, type_, args, key):
                types = [a.node.type if isinstance(a, Elem) else getattr(a, "type", type_) for a in args]
                return sound(applied(op, types, type_, key, [self.term(a) for a in args]))
            case Cond(_, then, other):
                a = self.term(then)
                return a if a is not None and a == self.term(other) else None
            case Fold(head, _, _, sizes, bodies, sides):
                of = [self.term(b) for b in bodies]
                if head[0] == "contract":
                    return sound(times(prod(sizes), of[0], of[1]))
                return sound(reduced(combiner(term), prod(sizes), of[0], self.term(sides[0])))
            case Num() if not term.form.is_constant:
                return None
            case _:
                found: Any = value_of(term)
                return found if isinstance(found, bool | int | float) else None

    def differ(self, goal: Goal) -> bool:
        """Whether the two sides hold two numbers."""
        a, b = self.term(goal.left), self.term(goal.right)
        if a is None or b is None:
            return False
        if isinstance(a, int) and isinstance(b, int):
            return a != b
        return abs(a - b) > 1e-2 * max(abs(a), abs(b)) + 1e-4


def sound(value: Any) -> _Number:
    """A value that fingerprints may be made of; None for others, floats that are none or large among them."""
    if isinstance(value, bool | int):
        return value
    return value if isinstance(value, float) and isfinite(value) and abs(value) < 1e30 else None


def filling(seed: int, type_: str) -> _Number:
    """The value that stands for all elements of a tensor of a type; the same for the same seed. None for complex
    numbers."""
    source = Random(seed)
    if type_ == "pred":
        return source.random() < 0.5
    if type_ in INTEGERS:
        return source.randrange(0, 2 if type_.endswith(("1", "2")) else 7)
    return None if type_ in COMPLEX else source.uniform(0.5, 1.5)


def applied(op: str, types: list[str], type_: str, key: Any, of: list[_Number]) -> _Number:
    """An elementwise operation on values, floats in 64 bits; None where an operand has no value, or the result none."""
    if op == "select" and of[0] is None:
        return of[1] if of[1] == of[2] else None
    if not of or any(v is None for v in of):
        return None
    wide = ["f64" if t not in INTEGERS and t != "pred" else t for t in types]
    result = "f64" if type_ not in INTEGERS and type_ != "pred" else type_
    try:
        function: Callable[..., Any] = _REAL.function(op, wide, result, attributes_of(key))
        return sound(function(*of))
    except (NotModelled, ValueError, OverflowError, ZeroDivisionError, TypeError, KeyError):
        return None


def _operation(node: Node) -> str | None:
    """The operation of a reduce, read as `combiner` reads it from a fold."""
    return combiner(Fold(("reduce", node.bodies, 0), node.type, 0, (), ()))


def reduced(op: str | None, count: int, of: _Number, initial: _Number) -> _Number:
    """The fold of `count` equal elements from an initial value by an operation; None where that is not known."""
    if of is None or initial is None or op is None:
        return None
    match op:
        case "add" if not isinstance(of, bool):
            return of * count + initial
        case "maximum":
            return max(of, initial)
        case "minimum":
            return min(of, initial)
        case "and" if isinstance(of, bool):
            return of and bool(initial)
        case "or" if isinstance(of, bool):
            return of or bool(initial)
    return None


def times(count: int, a: _Number, b: _Number) -> _Number:
    """count * a * b: a contraction over `count` equal elements. None where a factor has no value."""
    return None if a is None or b is None else count * a * b
