"""Sums, products and powers of elements as polynomials, for the step `ring`.

Trusted. Over integer types this is arithmetic modulo 2^n and exact; over floats it is arithmetic of real numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from math import isfinite
from typing import Final

from hloproof.equivalence.patterns import View
from hloproof.equivalence.terms import App, Num, Term, follows_from_constants, type_of, value_of
from hloproof.models.interpreter.semantics.element_type import INTEGERS
from hloproof.models.interpreter.semantics.small_float import FLOATS, NUMBERS

_Monomial = tuple[tuple[int, Fraction], ...]
"""Atoms by number, ascending, each with its exponent, none of which is 0."""
Polynomial = dict[_Monomial, Fraction]
_Condition = tuple[str, int]
"""An atom has a `value`, is `other than zero`, or is `not negative`; a sum of terms is an atom of powers here."""
MOST: Final = 256
"""Monomials; a larger product is not multiplied out."""
LONGEST: Final = 1 << 13
"""Bits of a coefficient; squared again and again, or raised to a large power, one is soon too long for any memory."""


class TooManyMonomials(Exception):
    """The polynomial has too many monomials."""


@dataclass
class Polynomials:
    """Reads terms; equal atoms have one number. `names` maps an atom's own number to the one it goes by."""

    view: View
    through_converts: bool = False
    """Conversions between float types are passed over: a rounding is left out."""
    sums_of: Callable[[Term, Polynomials], Polynomial | None] | None = None
    """The polynomial of a sum over a box, in smaller sums; None for everything else."""
    opening: Callable[[int, Term], bool] | None = None
    """Whether the operation with this number is looked into; None for all of them down to a depth."""
    inside: bool = False
    """A sum over a box is being read; those inside it stay closed, as their variables would have the same names."""
    asked: dict[Term, int] = field(default_factory=dict)
    """Operations that `opening` was asked about, by their numbers in the order of asking."""
    atoms: list[Term] = field(default_factory=list)
    numbers: dict[Term, int] = field(default_factory=dict)
    sums: dict[tuple[frozenset[tuple[_Monomial, Fraction]], Fraction], int] = field(default_factory=dict)
    """Numbers of powers of sums, which are atoms of their own, counted down from -1."""
    renamed: dict[int, int] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    """`rounding` when a conversion was passed over."""
    passed: set[str] = field(default_factory=set)
    """The types of the numbers whose conversions were passed over: constants may stand in these."""
    owed: set[_Condition] = field(default_factory=set)
    """Where what has been read has a value."""
    looked_into: list[Term] = field(default_factory=list)
    """Operations on constants alone that are written out, and sums over boxes that are, and those made of them."""
    everywhere: Callable[[Term], bool] = lambda _: False
    """Whether a term has a value for all values of the parameters."""
    loses: Callable[[Term], bool] = lambda _: False
    """Whether constants alone may be computed in a term that its type takes for zero, or an infinity."""

    def read(self, term: Term, depth: int = 1000) -> Polynomial:
        """Iterative, as sums may be long. Below `depth` operations everything is an atom."""
        done: dict[Term, Polynomial] = {}
        stack = [(term, depth)]
        while stack:
            top, left = stack[-1]
            if top in done:
                stack.pop()
                continue
            head = self.view(top)
            closed = self.may_be_no_number(head) or (type_of(head) in FLOATS and self.loses(head))
            operands = (
                head.args
                if isinstance(head, App) and self.is_arithmetic(head) and self.opens(head, left) and not closed
                else ()
            )
            if (
                self.opening
                and not closed
                and self.sums_of
                and not self.inside
                and not isinstance(head, App)
                and self.opens(head, left)
            ):
                summed = self.sums_of(head, self)
                if summed is not None:
                    done[top] = summed
                    if len(summed) > MOST:
                        raise TooManyMonomials
                    stack.pop()
                    continue
            waiting = [(a, left - 1) for a in operands if a not in done]
            if waiting:
                stack.extend(waiting)
                continue
            stack.pop()
            if operands and isinstance(head, App):
                if follows_from_constants(head):
                    self.looked_into.append(head)
                done[top] = self.combined(head, [done[a] for a in operands])
            else:
                done[top] = self.single(head)
            if len(done[top]) > MOST or any(_length(c) > LONGEST for c in done[top].values()):
                raise TooManyMonomials
        return done[term]

    def may_be_no_number(self, head: Term) -> bool:
        """Whether a float is computed from constants alone, and perhaps is an infinity or NaN: the sums and products of
        the numbers would be numbers. It stays an atom."""
        return type_of(head) in FLOATS and follows_from_constants(head) and not self.everywhere(head)

    def opens(self, head: Term, left: int) -> bool:
        if self.opening is None:
            return left > 0
        return self.opening(self.asked.setdefault(head, len(self.asked)), head)

    def is_arithmetic(self, head: App) -> bool:
        integer = head.type in INTEGERS
        if head.op in ("add", "subtract", "multiply", "negate"):
            return integer or head.type in NUMBERS
        if head.op == "convert":
            return self.through_converts and head.type in NUMBERS and type_of(head.args[0]) in FLOATS
        if head.type not in NUMBERS:
            return False
        if head.op == "power":
            exponent = value_of(self.view(head.args[1]))
            return isinstance(exponent, int | float) and isfinite(exponent)
        return head.op in ("divide", "sqrt", "rsqrt")

    def single(self, head: Term) -> Polynomial:
        value = value_of(head)
        if (
            isinstance(value, int | float)
            and not isinstance(value, bool)
            and value == value
            and abs(value) != float("inf")
        ):
            return {(): Fraction(value)} if value else {}
        number = self.numbers.get(head)
        if number is None:
            number = self.numbers[head] = len(self.atoms)
            self.atoms.append(head)
        # The sum may lose the atom, as x - x does: where it has a value is written down before.
        if type_of(head) in FLOATS and not self.everywhere(head):
            self.owed.add(("value", self.renamed.get(number, number)))
        return {((self.renamed.get(number, number), Fraction(1)),): Fraction(1)}

    def combined(self, head: App, of: list[Polynomial]) -> Polynomial:
        match head.op:
            case "add":
                return plus(of[0], of[1])
            case "subtract":
                return plus(of[0], scaled(of[1], Fraction(-1)))
            case "negate":
                return scaled(of[0], Fraction(-1))
            case "multiply":
                return product(of[0], of[1])
            case "divide":
                return product(of[0], self.power(of[1], Fraction(-1)))
            case "sqrt":
                return self.power(of[0], Fraction(1, 2))
            case "rsqrt":
                return self.power(of[0], Fraction(-1, 2))
            case "power":
                return self.power(of[0], Fraction(float(value_of(self.view(head.args[1])) or 0)))
            case _:
                self.seen.add("rounding")
                self.passed.add(type_of(head.args[0]))
                return of[0]

    def power(self, base: Polynomial, exponent: Fraction) -> Polynomial:
        """Single monomials are raised factor by factor; of a sum, integer powers up to 3 are multiplied out."""
        if len(base) == 1:
            ((monomial, c),) = base.items()
            # A root of a product is no product of roots where two factors are negative, nor one of an even power.
            alone = len(monomial) == 1 and all(e.denominator == 1 and e.numerator % 2 for _, e in monomial)
            short = c == 1 or _length(c) * abs(exponent) <= LONGEST
            if (exponent.denominator == 1 and short) or (c == 1 and (not monomial or alone)):
                raised = tuple((a, e * exponent) for a, e in monomial)
                for a, _ in monomial:
                    self.owe(a, exponent)
                return {raised: c**exponent if c != 1 else Fraction(1)}  # type: ignore[dict-item]
        # Larger powers of sums stay atoms: multiplied out they are mostly too long to be compared.
        if exponent in (1, 2, 3):
            out = base
            for _ in range(int(exponent) - 1):
                out = product(out, base)
            return out
        if not base:
            raise TooManyMonomials
        # Roots are named by the root, since s ** (1/2) squared is s only where s is not negative.
        key = (frozenset(base.items()), Fraction(1, 2) if exponent.denominator == 2 else Fraction(1))
        number = self.sums.setdefault(key, -1 - len(self.sums))
        self.owe(number, exponent)
        return {((number, exponent / key[1]),): Fraction(1)}

    def owe(self, atom: int, exponent: Fraction) -> None:
        """The atom is raised to this exponent. A power of a sum is named by the sum, or by its root."""
        if exponent < 0:
            self.owed.add(("other than zero", atom))
        if exponent.denominator != 1:
            self.owed.add(("not negative", atom))

    def shown(self, polynomial: Polynomial) -> set[_Condition]:
        """The conditions without which the polynomial itself has no value."""
        rooted = {number for (_, root), number in self.sums.items() if root.denominator != 1}
        out: set[_Condition] = set()
        for monomial in polynomial:
            for atom, exponent in monomial:
                out.add(("value", atom))
                if exponent < 0:
                    out.add(("other than zero", atom))
                if exponent.denominator != 1 or atom in rooted:
                    out.add(("not negative", atom))
        return out


def _length(number: Fraction) -> int:
    """The bits of the longer part of a quotient."""
    return max(number.numerator.bit_length(), number.denominator.bit_length())


def plus(a: Polynomial, b: Polynomial) -> Polynomial:
    """The sum, without monomials whose coefficient is 0."""
    out = dict(a)
    for m, c in b.items():
        total = out.get(m, Fraction(0)) + c
        if total:
            out[m] = total
        else:
            out.pop(m, None)
    return out


def scaled(a: Polynomial, by: Fraction) -> Polynomial:
    """by * a; `by` is not 0, which would leave monomials with the coefficient 0."""
    return {m: c * by for m, c in a.items()}


def product(a: Polynomial, b: Polynomial) -> Polynomial:
    """The product. Raises TooManyMonomials where the monomials to be multiplied are more than MOST."""
    if len(a) * len(b) > MOST:
        raise TooManyMonomials
    out: Polynomial = {}
    for m, c in a.items():
        for n, d in b.items():
            powers = dict(m)
            for atom, e in n:
                powers[atom] = powers.get(atom, Fraction(0)) + e
            # An exponent that cancels leaves a factor 1; that its base is not zero has been written down as owed.
            key = tuple(sorted((x, e) for x, e in powers.items() if e))
            out = plus(out, {key: c * d})
    return out


def equal_integers(a: Polynomial, b: Polynomial, bits: int) -> bool:
    """Equal modulo 2^bits."""
    return all((a.get(m, Fraction(0)) - b.get(m, Fraction(0))) % 2**bits == 0 for m in a.keys() | b.keys())


__all__ = ["MOST", "Num", "Polynomial", "Polynomials", "TooManyMonomials", "_Monomial", "equal_integers"]
