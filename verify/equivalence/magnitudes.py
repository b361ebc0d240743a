"""How large the numbers are that are computed from constants alone, by a bound on their magnitudes.

Trusted. Every operation is rounded as its type has it, so the bound of a result is the rounded one of what is bounded.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf, isfinite
from typing import Final

from hloproof.equivalence.graph import Node
from hloproof.equivalence.literals import literal_of
from hloproof.equivalence.terms import App, Elem, Num, Term, from_pattern, may_be_flushed, type_of, value_of
from hloproof.models.interpreter.semantics.element_type import INTEGERS, from_bits, highest, lowest, rounded
from hloproof.models.interpreter.semantics.small_float import NUMBERS, largest

LARGEST_GIVEN: Final = frozenset(
    {
        "abs", "broadcast", "clamp", "concatenate", "copy", "dynamic-slice", "dynamic-update-slice", "gather",
        "maximum", "minimum", "negate", "pad", "reshape", "reverse", "select", "slice", "transpose",
    }
)  # fmt: skip
"""Operations that give nothing larger than what they are given."""
ONE_LARGER: Final = frozenset(
    {
        "cbrt", "ceil", "cosine", "erf", "floor", "logistic", "round-nearest-afz", "round-nearest-even", "sign", "sine",
        "tanh",
    }
)  # fmt: skip
"""Functions of floats that give nothing that is larger by more than one."""
_WRAPS: Final = frozenset({"abs", "negate"})
"""Those of them that integers may leave their type by."""


@dataclass
class Magnitudes:
    """Remembers bounds of tensors, both for what has a value and as their types have it."""

    known: dict[Node, float] = field(default_factory=dict)
    apps: dict[App, float] = field(default_factory=dict)

    def of(self, term: Term) -> float:
        """No element of this is larger, or smaller than the negated bound, if it has a value."""
        if isinstance(term, Num):
            return float(max(abs(term.form.lo), abs(term.form.hi)))
        if isinstance(term, Elem):
            return self._of_node(term.node)
        if isinstance(term, App):
            if term not in self.apps:
                self.apps[term] = min(self.after(term.op, term.type, term.args), _most(term.type))
            return self.apps[term]
        value = value_of(term)
        return abs(value) if isinstance(value, int | float) else _most(type_of(term))

    def after(self, op: str, type_: str, given: tuple[Term, ...]) -> float:
        """The bound of what the operation on floats, or the conversion to one, gives; infinity where it is too large
        for the type, or nothing is known."""
        if type_ not in NUMBERS:
            return inf
        sizes = [self.of(t) for t in given]
        match op:
            case "add" | "subtract":
                found = sizes[0] + sizes[1]
            case "multiply":
                found = sizes[0] * sizes[1]
            case "divide":
                divisor = value_of(constant_of(given[1]))
                if not isinstance(divisor, int | float) or divisor == 0 or may_be_flushed(type_, divisor):
                    return inf
                found = sizes[0] / abs(divisor)
            case "convert":
                found = sizes[0]
            case _ if op in LARGEST_GIVEN:
                found = max(sizes)
            case _ if op in ONE_LARGER:
                found = sizes[0] + 1
            case _:
                return inf
        bound = rounded(type_, found) if isfinite(found) else inf
        return bound if isinstance(bound, float) and isfinite(bound) else inf

    def _of_node(self, root: Node) -> float:
        stack = [root]
        while stack:
            node = stack[-1]
            waiting = [o for o in node.operands if o not in self.known] if node.of_constants else []
            if waiting and node not in self.known:
                stack.extend(waiting)
                continue
            stack.pop()
            if node not in self.known:
                self.known[node] = min(self._made(node), _most(node.type))
        return self.known[root]

    def _made(self, node: Node) -> float:
        if not node.of_constants:
            return inf
        if node.head == "constant":
            bits = literal_of(node.key, 1)
            values = [from_bits(node.type, b) for b in set(bits or ())]
            return max((abs(v) for v in values), default=inf)
        if node.head == "iota":
            return float(max(node.sizes, default=1))
        if node.head in LARGEST_GIVEN and not (node.type in INTEGERS and node.head in _WRAPS):
            return max(self.known[o] for o in node.operands)
        return self.after(node.head, node.type, tuple(Elem(o, ()) for o in node.operands))


def constant_of(term: Term) -> Term:
    """The number that all elements of a broadcast constant are; other terms as they are."""
    while isinstance(term, Elem) and term.node.head in ("broadcast", "reshape", "convert"):
        if term.node.head == "convert" and type_of(Elem(term.node.operands[0], ())) != term.node.type:
            return term
        term = Elem(term.node.operands[0], ())
    if isinstance(term, Elem) and term.node.head == "constant" and term.node.key[0] == "all":
        return from_pattern(term.node.type, term.node.key[1])
    return term


def _most(type_: str) -> float:
    """The largest magnitude that numbers of the type have."""
    if type_ == "pred":
        return 1.0
    if type_ in INTEGERS:
        return float(max(abs(int(lowest(type_))), int(highest(type_))))
    return largest(type_) if type_ in NUMBERS else inf
