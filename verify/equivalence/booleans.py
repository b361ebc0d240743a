"""Predicates as functions of atoms, for the step `boolean`: compared by their truth tables.

Trusted. Bit for bit. Comparisons of integers are atoms `x <= y`, with a constant on the right where there is one;
small reductions by `and` and `or` are written out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any, Final

from hloproof.equivalence.indices import constant
from hloproof.equivalence.patterns import View
from hloproof.equivalence.reductions import combiner, is_neutral
from hloproof.equivalence.terms import App, Elem, Fold, Lit, Term, TermSubstitution, from_value, type_of, value_of
from hloproof.models.interpreter.semantics.element_type import INTEGERS, highest, lowest
from hloproof.models.interpreter.semantics.small_float import FLOATS

MOST_ATOMS: Final = 12
MOST_PARTS: Final = 400
LARGEST_FOLD: Final = 16
Expression = Any
"""True, False, the number of an atom, or an operation and its expressions."""


class TooManyParts(Exception):
    """The predicate is too large."""


@dataclass
class Booleans:
    """Reads predicates; equal atoms have one number. `renamed` maps an atom's own number to the one it goes by."""

    view: View
    open_fold: Any
    """An element as a fold over variables of its own, if it is one; anything else as it is."""
    atoms: list[Term] = field(default_factory=list)
    numbers: dict[Term, int] = field(default_factory=dict)
    renamed: dict[int, int] = field(default_factory=dict)
    parts: int = 0

    def read(self, term: Term) -> Expression:
        self.parts += 1
        if self.parts > MOST_PARTS:
            raise TooManyParts
        head = self.view(term)
        if isinstance(head, Lit) and head.type == "pred":
            return head.bits == 1
        if isinstance(head, Elem):
            head = self.open_fold(head)
        if isinstance(head, Fold):
            return self.written(term, head)
        if not isinstance(head, App) or head.type != "pred":
            return self.atom(head)
        if head.op in ("and", "or", "xor"):
            return (head.op, *map(self.read, head.args))
        if head.op == "not":
            return ("not", self.read(head.args[0]))
        if head.op == "select":
            chosen, then, other = map(self.read, head.args)
            return ("or", ("and", chosen, then), ("and", ("not", chosen), other))
        if head.op == "compare" and len(head.key) == 1:
            return self.compared(head)
        return self.atom(head)

    def atom(self, term: Term) -> int:
        number = self.numbers.get(term)
        if number is None:
            number = self.numbers[term] = len(self.atoms)
            self.atoms.append(term)
        return number

    def written(self, term: Term, fold: Fold) -> Expression:
        """A reduction by `and` or `or` from its neutral value over a small box; others are atoms."""
        op = combiner(fold) if fold.head[0] == "reduce" else None
        small = prod(fold.sizes) <= LARGEST_FOLD and fold.type == "pred" and op in ("and", "or")
        if not small or op is None or not is_neutral(op, "pred", self.view(fold.sides[0])):
            return self.atom(term)
        out: Expression = op == "and"
        for point in product(*map(range, fold.sizes)):
            at = TermSubstitution({fold.place + k: constant(i) for k, i in enumerate(point)})
            out = (op, out, self.read(at(fold.bodies[0])))
        return out

    def compared(self, head: App) -> Expression:
        direction = dict(head.key).get("direction")
        x, y = head.args
        kind = type_of(x)
        if kind == "pred":
            a, b = self.read(x), self.read(y)
            match direction:
                case "EQ":
                    return ("not", ("xor", a, b))
                case "NE":
                    return ("xor", a, b)
                case "LT":
                    return ("and", ("not", a), b)
                case "GT":
                    return ("and", a, ("not", b))
                case "LE":
                    return ("or", ("not", a), b)
                case "GE":
                    return ("or", a, ("not", b))
            return self.atom(head)
        if direction in ("EQ", "NE"):
            found = self.relation("EQ", x, y, symmetric=True)
            return found if direction == "EQ" else ("not", found)
        if kind in INTEGERS:
            match direction:
                case "LE":
                    return self.at_most(kind, x, y)
                case "GE":
                    return self.at_most(kind, y, x)
                case "LT":
                    return ("not", self.at_most(kind, y, x))
                case "GT":
                    return ("not", self.at_most(kind, x, y))
        elif kind in FLOATS and direction in ("GT", "GE"):  # not the contrary of LE and LT: of NaN all are false
            return self.relation("LT" if direction == "GT" else "LE", y, x)
        return self.atom(head)

    def at_most(self, kind: str, x: Term, y: Term) -> Expression:
        """x <= y for integers."""
        low, high = value_of(self.view(x)), value_of(self.view(y))
        if isinstance(high, int):
            return True if high == highest(kind) else self.relation("LE", x, y)
        if isinstance(low, int):
            if low == lowest(kind):
                return True
            return ("not", self.relation("LE", y, from_value(kind, low - 1)))
        return self.relation("LE", x, y)

    def relation(self, direction: str, x: Term, y: Term, symmetric: bool = False) -> int:
        key = (("direction", direction),)
        a, b = self.view(x), self.view(y)
        term, turned = App("compare", "pred", (a, b), key), App("compare", "pred", (b, a), key)
        return self.atom(turned if symmetric and turned in self.numbers else term)

    def table(self, expression: Expression, columns: dict[int, int], full: int) -> int:
        """One bit for each assignment of the atoms."""
        if isinstance(expression, bool):
            return full if expression else 0
        if isinstance(expression, int):
            return columns[self.renamed.get(expression, expression)]
        op, *parts = expression
        values = [self.table(p, columns, full) for p in parts]
        match op:
            case "and":
                return values[0] & values[1]
            case "or":
                return values[0] | values[1]
            case "xor":
                return values[0] ^ values[1]
            case _:
                return full & ~values[0]

    def equal(self, left: Expression, right: Expression) -> bool:
        """Whether both hold for the same assignments. Raises TooManyParts."""
        names = sorted({self.renamed.get(n, n) for e in (left, right) for n in atoms_of(e)})
        if len(names) > MOST_ATOMS:
            raise TooManyParts
        size = 1 << len(names)
        columns = {n: sum(1 << row for row in range(size) if row >> k & 1) for k, n in enumerate(names)}
        full = (1 << size) - 1
        return self.table(left, columns, full) == self.table(right, columns, full)


def atoms_of(expression: Expression) -> Iterator[int]:
    """The numbers of the atoms, as often as they come."""
    if isinstance(expression, bool):
        return
    if isinstance(expression, int):
        yield expression
        return
    for part in expression[1:]:
        yield from atoms_of(part)
