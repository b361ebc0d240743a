"""Where a term has a value, over real numbers: quotients, roots and logarithms do not have one everywhere.

Trusted. A proof over real numbers owes that the right side has a value wherever the left one has, so a term that has
one everywhere may be left out of either side, and any other one of the left side alone. Parameters have a value; NaN
and the infinities are none, be they written as constants or as bits, or computed from constants alone.
"""

from __future__ import annotations

from cmath import isfinite
from dataclasses import dataclass, field
from typing import Any, Final

from hloproof.equivalence.computed_identities import holds_all
from hloproof.equivalence.elements import MOVEMENT
from hloproof.equivalence.evaluation import evaluate
from hloproof.equivalence.foldable import FOLDABLE
from hloproof.equivalence.graph import Node
from hloproof.equivalence.loop_states import FreeState
from hloproof.equivalence.magnitudes import LARGEST_GIVEN, ONE_LARGER, Magnitudes, constant_of
from hloproof.equivalence.terms import (
    App,
    Cond,
    Elem,
    Fold,
    Lit,
    Num,
    Term,
    follows_from_constants,
    from_pattern,
    from_value,
    type_of,
    value_of,
)
from hloproof.models.interpreter.semantics.element_type import INTEGERS
from hloproof.models.interpreter.semantics.small_float import FLOATS, NUMBERS

PARTIAL: Final = frozenset(
    {
        "acos", "acosh", "asin", "atan2", "atanh", "batch-norm-grad", "batch-norm-inference", "batch-norm-training",
        "bitcast-convert", "cholesky", "custom-call", "divide", "log", "log-plus-one", "power", "remainder", "rsqrt",
        "sqrt", "tan", "triangular-solve",
    }
)  # fmt: skip
"""Operations on floats that have no value for some numbers, and those of which nothing is known."""
_UNSIGNED_FLOATS: Final = FLOATS - NUMBERS
"""What an operation gives may be a number that these do not hold, and then it gives NaN."""
_STAYS: Final = (
    LARGEST_GIVEN | ONE_LARGER | {"bound", "free", "imag", "is-finite", "output", "parameter", "real", "sort"}
)
"""Operations that give no number that is larger than all that they are given, or than one."""
_CALL: Final = "map"
"""Movement that a function is applied by, of which no more is known than what it is given."""
_GIVEN: Final = frozenset({"parameter", "bound", "free", "constant"})
_WITHOUT: Final[dict[str, float]] = {"maximum": float("-inf"), "minimum": float("inf")}
"""The infinity that the operation gives only where it is given nothing else."""


@dataclass
class Definedness:
    """Remembers of which tensors an element may have no value."""

    nodes: dict[Node, bool] = field(default_factory=dict)
    numbers: dict[Node, Num | Lit | None] = field(default_factory=dict)
    """The number that all elements of a tensor are, where constants alone say so."""
    magnitudes: Magnitudes = field(default_factory=Magnitudes)

    def everywhere(self, term: Term) -> bool:
        """Whether the term has a value for all values of the parameters. False may be said of any term."""
        match term:
            case Num() | Lit():
                return type_of(term) in INTEGERS or type_of(term) == "pred" or _is_finite(term)
            case Elem(node, _):
                return not self.partial(node)
            case Cond(_, then, other):
                return self.everywhere(then) and self.everywhere(other)
            case Fold(head, kind, _, sizes, bodies, sides):
                if head[0] == "reduce" and 0 not in sizes and _begins_with_nothing(head[1], sides):
                    sides = ()
                functions = () if head[0] == "contract" else head[1]
                if any(self.partial(n) for n in functions):
                    return False
                stays = head[0] != "contract" and all(_stays(n.head, kind, [kind]) for n in functions)
                if not stays and follows_from_constants(term):
                    return False
                return all(self.everywhere(t) for t in (*bodies, *sides))
            case App(op, type_, args, key):
                if (
                    all(map(follows_from_constants, args))
                    and not _stays(op, type_, [type_of(a) for a in args])
                    and not self._is_held(op, type_, args, key)
                ):
                    return False
                # Integers have a value everywhere: XLA says what their division by zero gives.
                if type_ in _UNSIGNED_FLOATS:
                    return False
                if type_ in INTEGERS or type_ == "pred" or op not in PARTIAL:
                    return all(self.everywhere(a) for a in args)
                # A constant divisor is the one partial form that is common enough to be worth a look; NaN and the
                # infinities are no real numbers, so they divide nothing.
                return op == "divide" and self.everywhere(args[0]) and _is_a_number(constant_of(args[1]))

    def partial(self, root: Node) -> bool:
        stack = [root]
        while stack:
            node = stack[-1]
            if node in self.nodes:
                stack.pop()
                continue
            waiting = [n for n in _parts(node) if n not in self.nodes]
            if waiting:
                stack.extend(waiting)
                continue
            stack.pop()
            self.numbers[node] = self._number(node)
            known = self.numbers[node]
            if known is not None and node.type in FLOATS:
                self.nodes[node] = not _is_finite(known)
                continue
            none = _may_have_none(node) or not self._node_is_held(node)
            self.nodes[node] = none or any(self.nodes[n] for n in _parts(node))
        return self.nodes[root]

    def _node_is_held(self, node: Node) -> bool:
        """Whether the type holds what is computed from constants alone, whose number is not known; said of everything
        else."""
        if not node.of_constants or _stays(node.head, node.type, [o.type for o in node.operands]):
            return True
        return self._is_held(node.head, node.type, tuple(Elem(o, ()) for o in node.operands), node.key)

    def _is_held(self, op: str, type_: str, given: tuple[Term, ...], key: Any) -> bool:
        """Whether the type holds what the operation gives."""
        known = tuple(x for x in map(self._number_of, given) if x is not None)
        if len(known) < len(given):
            return isfinite(self.magnitudes.after(op, type_, given))
        computed = evaluate(op, type_, known, key)
        return computed is not None and _is_finite(computed)

    def _number_of(self, term: Term) -> Num | Lit | None:
        if isinstance(term, Num | Lit):
            return term if value_of(term) is not None else None
        if not isinstance(term, Elem):
            return None
        self.partial(term.node)
        return self.numbers[term.node]

    def _number(self, node: Node) -> Num | Lit | None:
        if node.head == "constant":
            found = constant_of(Elem(node, ()))
            return found if isinstance(found, Num | Lit) else None
        held = [self.numbers.get(o) for o in node.operands]
        if node.head in ("broadcast", "reshape"):
            return held[0]
        known = tuple(x for x in held if x is not None)
        if node.head not in FOLDABLE or not known or len(known) < len(held):
            return None
        computed = evaluate(node.head, node.type, known, node.key)
        return computed if isinstance(computed, Num | Lit) else None


def _may_have_none(node: Node) -> bool:
    """Whether elements of the tensor may have no value although all that it is made of has one."""
    # Complex numbers too. A custom call that returns a tuple has no float type itself, and its parts may be anything.
    if node.type in INTEGERS or node.type == "pred":
        return False
    if node.type in _UNSIGNED_FLOATS and node.head not in _GIVEN:
        return True
    match node.head:
        case "divide":
            return not _is_a_number(constant_of(Elem(node.operands[1], ())))
        case "constant":
            return not _holds_numbers(node)
        case "iota":  # its last number is the largest
            last = node.sizes[node.attributes.integer("iota_dimension", 0)] - 1 if node.sizes else 0
            return node.type in FLOATS and not _is_finite(from_value(node.type, last))
        case "bitcast":  # to another type it is a `bitcast-convert`
            return isinstance(node.key, tuple) and node.key[1][0] != node.key[2][0]
        case "free":  # what a loop has in the middle of it, if all states have a value
            return isinstance(node.key, FreeState) and not node.key.valued
    return node.head in PARTIAL


def _parts(node: Node) -> tuple[Node, ...]:
    """What the tensor is made of, without the infinity that a maximum or minimum begins with."""
    operands = node.operands
    if node.head in _WITHOUT:
        operands = tuple(o for o in operands if not _is_nothing(node.head, Elem(o, ()))) or operands
    elif (
        node.head == "reduce"
        and len(operands) == 2
        and 0 not in operands[0].sizes
        and _begins_with_nothing(node.bodies, (Elem(operands[1], ()),))
    ):
        operands = operands[:1]
    return (*operands, *node.bodies)


def _begins_with_nothing(functions: tuple[Node, ...], sides: tuple[Term, ...]) -> bool:
    """Whether a fold is the maximum, or minimum, of its elements alone."""
    if len(functions) != 1 or len(sides) != 1 or functions[0].head not in _WITHOUT:
        return False
    bare = {o for o in functions[0].operands if o.head == "bound"}
    return len(bare) == 2 and _is_nothing(functions[0].head, sides[0])


def _stays(op: str, type_: str, given: list[str]) -> bool:
    """Whether the operation gives numbers that the type holds whenever it is given such ones, and numbers."""
    if type_ in INTEGERS or type_ == "pred" or op in _STAYS or op in MOVEMENT.keys() - {_CALL}:
        return True
    if op != "convert":
        return False
    whole = given[0] in INTEGERS and type_ in ("f64", "f32", "bf16")
    return whole or given[0] == type_ or holds_all(type_, given[0])


def _is_nothing(op: str, term: Term) -> bool:
    return value_of(constant_of(term)) == _WITHOUT[op]


def _holds_numbers(node: Node) -> bool:
    """Whether no element of a constant is NaN or an infinity. Of numbers that are left out nothing is known."""
    assert isinstance(node.key, tuple)
    kind, held = node.key
    if kind == "unknown":
        return False
    if kind == "text":
        return "n" not in held.lower()  # of nan and inf, the only words among numbers
    bits = {held} if kind == "all" else set(held)
    return all(_is_finite(from_pattern(node.type, b)) for b in bits)


def _is_a_number(term: Term) -> bool:
    """Whether the term is a constant other than zero, NaN and the infinities."""
    return _is_finite(term) and value_of(term) not in (0, None)


def _is_finite(term: Term) -> bool:
    value = value_of(term)
    # A number that runs over indices has no single value, and is none of the exceptions.
    return isinstance(term, Num) or (isinstance(value, int | float | complex) and isfinite(value))
