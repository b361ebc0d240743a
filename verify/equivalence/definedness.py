"""Where a term has a value, over real numbers: quotients, roots and logarithms do not have one everywhere.

Trusted. A proof over real numbers owes that the right side has a value wherever the left one has, so a term that has
one everywhere may be left out of either side, and any other one of the left side alone. Parameters have a value.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from hloproof.equivalence.graph import Node
from hloproof.equivalence.terms import App, Cond, Elem, Fold, Lit, Num, Term, from_pattern, type_of, value_of
from hloproof.models.interpreter.semantics.small_float import FLOATS

PARTIAL: Final = frozenset(
    {
        "acos", "acosh", "asin", "atan2", "atanh", "cholesky", "custom-call", "divide", "log", "log-plus-one", "power",
        "remainder", "rsqrt", "sqrt", "triangular-solve",
    }
)  # fmt: skip
"""Operations on floats that have no value for some numbers, and those of which nothing is known."""


@dataclass
class Definedness:
    """Remembers of which tensors an element may have no value."""

    nodes: dict[Node, bool] = field(default_factory=dict)

    def everywhere(self, term: Term) -> bool:
        """Whether the term has a value for all values of the parameters. False may be said of any term."""
        match term:
            case Num() | Lit():
                return True
            case Elem(node, _):
                return not self.partial(node)
            case Cond(_, then, other):
                return self.everywhere(then) and self.everywhere(other)
            case Fold(_, _, _, _, bodies, sides):
                return all(self.everywhere(t) for t in (*bodies, *sides))
            case App(op, type_, args):
                # Integers have a value everywhere: XLA says what their division by zero gives.
                if type_ not in FLOATS or op not in PARTIAL:
                    return all(self.everywhere(a) for a in args)
                # A constant divisor is the one partial form that is common enough to be worth a look; NaN and the
                # infinities are no real numbers, so they divide nothing.
                return op == "divide" and self.everywhere(args[0]) and _is_a_number(_constant(args[1]))

    def partial(self, root: Node) -> bool:
        stack = [root]
        while stack:
            node = stack[-1]
            if node in self.nodes:
                stack.pop()
                continue
            waiting = [n for n in (*node.operands, *node.bodies) if n not in self.nodes]
            if waiting:
                stack.extend(waiting)
                continue
            stack.pop()
            # A custom call that returns a tuple has no float type itself, and its parts may be anything.
            own = node.head in PARTIAL and (node.type in FLOATS or node.type == "tuple")
            if own and node.head == "divide":
                own = not _is_a_number(_constant(Elem(node.operands[1], ())))
            self.nodes[node] = own or any(self.nodes[n] for n in (*node.operands, *node.bodies))
        return self.nodes[root]


def _constant(term: Term) -> Term:
    """The number that all elements of a broadcast constant are; other terms as they are."""
    while isinstance(term, Elem) and term.node.head in ("broadcast", "reshape", "convert"):
        if term.node.head == "convert" and type_of(Elem(term.node.operands[0], ())) != term.node.type:
            return term
        term = Elem(term.node.operands[0], ())
    if isinstance(term, Elem) and term.node.head == "constant" and term.node.key[0] == "all":
        return from_pattern(term.node.type, term.node.key[1])
    return term


def _is_a_number(term: Term) -> bool:
    """Whether the term is a constant other than zero, NaN and the infinities."""
    value = value_of(term)
    return isinstance(value, int | float) and value == value and value not in (0, float("inf"), float("-inf"))
