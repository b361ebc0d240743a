"""Whether what constants alone compute in a term are numbers: over real numbers nothing is shown of the sum of 3e38 and
3e38, which is none, or of what is regrouped so that it is summed up.

Trusted. Asked in one place, where `Rules.use` records something weaker than exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from math import inf, isfinite, prod
from typing import Final

from hloproof.equivalence.definedness import Definedness
from hloproof.equivalence.elements_indexed import NOTHING
from hloproof.equivalence.graph import Node
from hloproof.equivalence.terms import App, Cond, Fold, Term, follows_from_constants, type_of
from hloproof.models.interpreter.semantics.element_type import COMPLEX, rounded
from hloproof.models.interpreter.semantics.small_float import FLOATS, NUMBERS

MOST_CASES: Final = 64
"""Constants that one element of a fold may be; of more nothing is known."""


class _TooManyCases(Exception):
    """An element may be more constants than are looked at."""


def factors(fold: Fold) -> App:
    """What a contraction sums up: the product of its bodies, each converted to its type."""
    args = tuple(b if type_of(b) == fold.type else App("convert", fold.type, (b,)) for b in fold.bodies)
    return App("multiply", fold.type, args)


@dataclass(frozen=True)
class ConstantsAlone:
    """`settle` brings a term to its head."""

    settle: Callable[[Term], Term]
    definedness: Definedness

    def are_numbers(self, whole: Term) -> bool:
        """Whether they are in the term, and in what it is made of by operations that are not closed."""
        stack = [whole]
        while stack:
            term = self.settle(stack.pop())
            if type_of(term) not in FLOATS | COMPLEX:
                continue
            match term:
                case Fold(bodies=bodies):
                    if not self._is_held(term):
                        return False
                    stack += (factors(term),) if term.head[0] == "contract" else bodies
                case App(args=args) if not follows_from_constants(term):
                    stack += args
                case App(op=op):
                    if op != NOTHING and not self.definedness.everywhere(term):
                        return False
                case Cond(_, then, other):
                    stack += (then, other)
        return True

    def _is_held(self, fold: Fold) -> bool:
        """Whether the type holds what the fold makes of those elements that are constants, in whatever groups."""
        summed = factors(fold) if fold.head[0] == "contract" else None
        functions: tuple[Node, ...] = () if summed else fold.head[1]
        op = "add" if summed else functions[0].head if len(functions) == 1 else ""
        if op not in ("add", "multiply") or (len(fold.bodies) > 1 and not summed):
            return not follows_from_constants(fold) or self.definedness.everywhere(fold)
        try:
            elements = self._cases(summed or fold.bodies[0])
            starts = [s for side in fold.sides for s in self._cases(side)]
        except _TooManyCases:
            return False
        if not all(map(self.definedness.everywhere, (*elements, *starts))):
            return False
        if not elements:
            return True
        largest, start = (max(map(self.definedness.magnitudes.of, of), default=0.0) for of in (elements, starts))
        count = prod(fold.sizes)
        # What is rounded grows by no more than twice what is added to it, or by twice as much as it is multiplied by.
        if op == "add":
            most = start + (largest if count == 1 else 2 * count * largest)
        else:
            most = max(start, 1.0) * (largest if count == 1 else _power(2 * largest, count) if largest > 1 else 1.0)
        held = rounded(fold.type, most) if fold.type in NUMBERS and isfinite(most) else inf
        return isinstance(held, float) and isfinite(held)

    def _cases(self, term: Term) -> list[Term]:
        """The terms that it is where it is made of constants alone. An update that goes elsewhere is none."""
        head = self.settle(term)
        if isinstance(head, Cond):
            found = self._cases(head.then) + self._cases(head.other)
        elif isinstance(head, App) and head.op == NOTHING:
            found = []
        elif isinstance(head, App):
            cases = [self._cases(a) for a in head.args]
            if prod(map(len, cases)) > MOST_CASES:
                raise _TooManyCases
            found = [replace(head, args=args) for args in product(*cases)]
        else:
            found = [head] if follows_from_constants(head) else []
        if len(found) > MOST_CASES:
            raise _TooManyCases
        return list(dict.fromkeys(found))


def _power(base: float, exponent: int) -> float:
    try:
        return base**exponent
    except OverflowError:
        return inf
