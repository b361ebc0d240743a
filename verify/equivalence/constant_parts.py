"""Numbers that follow from constants alone, also as some elements of a tensor whose others are given: whether a type
loses them.

Trusted. Over real numbers nothing is lost; but a product of constants that is too small for its type is zero whatever
the inputs are, and one that is too large is no number. So bounds are kept on the magnitudes of such numbers, as their
types have them. Of those that nothing is known of any magnitude is possible, and what makes them smaller loses them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import exp, inf, isfinite, prod, sqrt
from typing import Final

from hloproof.equivalence.computed_identities import SIGNIFICANT, held_number, holds_all, is_near
from hloproof.equivalence.elements import FOLDS, MOVEMENT
from hloproof.equivalence.graph import Node, operands_first
from hloproof.equivalence.literals import literal_of
from hloproof.equivalence.magnitudes import LARGEST_GIVEN
from hloproof.equivalence.terms import App, Cond, Elem, Fold, Lit, Num, Term, may_be_flushed, type_of, value_of
from hloproof.models.interpreter.semantics.element_type import COMPLEX, INTEGERS, from_bits, highest, lowest
from hloproof.models.interpreter.semantics.small_float import FLOATS, NUMBERS, largest, smallest_normal


@dataclass(frozen=True, slots=True)
class Magnitude:
    """Bounds on numbers: none but zero has a magnitude below `least`, which is infinite where all are zero; all are
    from `lowest` to `highest`, both included. Or some are `lost`, and no more is said. Beside these may be `masked`
    ones: powers of e that may be zero, and of which no more is known. There are no bounds for a tensor of which no
    element follows from constants alone."""

    least: float
    lowest: float
    highest: float
    lost: bool = False
    masked: bool = False

    @property
    def most(self) -> float:
        """The largest magnitude."""
        return max(-self.lowest, self.highest)

    @property
    def one_sign(self) -> bool:
        return self.lowest >= 0 or self.highest <= 0


NOTHING: Final = Magnitude(inf, 0, 0)
"""What follows from constants alone and is no number, as an infinity, or no other number than zero."""
LOST: Final = Magnitude(0, 0, 0, True)
MASKED: Final = Magnitude(inf, 0, 0, masked=True)
"""Nothing but such powers, and their products."""
_STAYS_MASKED: Final = frozenset({"abs", "convert", "copy", "divide", "multiply", "negate"})
"""Operations that are zero again where what they are given is."""
_DIVIDES_BY: Final = {"divide": 1, "power": 0, "rsqrt": 0}
"""Operations that divide, as polynomials read them, by the operand at this place."""
_COMPLEX_KEPT: Final = frozenset({"complex", "copy", "negate"})
"""Operations that give complex numbers of the same magnitude."""
_NEAREST: Final = 2.0**-66
"""A number of f64 is not nearer to a zero of the sine or cosine than this, but to zero itself."""


def joined(parts: Iterable[Magnitude | None]) -> Magnitude | None:
    """The numbers of all of these."""
    found = [p for p in parts if p is not None]
    if not found or any(p.lost for p in found):
        return LOST if found else None
    return Magnitude(
        min(p.least for p in found),
        min(p.lowest for p in found),
        max(p.highest for p in found),
        masked=any(p.masked for p in found),
    )


def anything(type_: str) -> Magnitude:
    """Numbers of the type of which nothing is known."""
    if type_ in INTEGERS or type_ == "pred":
        return Magnitude(1, *((0, 1) if type_ == "pred" else (float(lowest(type_)), float(highest(type_)))))
    most = largest(type_) if type_ in NUMBERS else inf
    return Magnitude(0, -most, most)


def fitted(type_: str, part: Magnitude) -> Magnitude:
    """These numbers, rounded to the type; lost where one has no number next to it there."""
    if part.least == inf:
        return part
    if type_ not in NUMBERS or not part.most or not isfinite(part.most) or not is_near(type_, Fraction(part.most)):
        return LOST
    if part.least == part.most:
        kept = is_near(type_, Fraction(part.least)) and not may_be_flushed(type_, part.least)
    else:
        kept = part.least >= smallest_normal(type_)
    return part if kept else LOST


def after(op: str, type_: str, given: Sequence[Magnitude | None], types: Sequence[str]) -> Magnitude | None:
    """What an operation makes of such numbers, where all that it is given are."""
    if op in ("select", "clamp", "maximum", "minimum"):
        return joined(p for p, t in zip(given, types, strict=True) if t == type_ or op != "select")
    divisor = given[_DIVIDES_BY[op]] if op in _DIVIDES_BY else None
    if divisor is not None and divisor.masked:
        return LOST
    parts = [p for p in given if p is not None]
    if len(parts) < len(given) or not parts:
        return None
    if any(p.lost for p in parts):
        return LOST
    if type_ in COMPLEX and op not in _COMPLEX_KEPT:
        return LOST
    if MASKED in parts:
        if op in ("add", "subtract") and type_ in FLOATS:
            return anything(type_)
        return MASKED if op in _STAYS_MASKED and type_ in FLOATS else None
    if type_ not in FLOATS:
        return anything(type_)
    found = _of_floats(op, type_, parts, types)
    masked = op in _STAYS_MASKED and any(p.masked for p in parts)
    return replace(found, masked=True) if masked and found is not None and not found.lost else found


def _of_floats(op: str, type_: str, parts: Sequence[Magnitude], types: Sequence[str]) -> Magnitude | None:
    first = parts[0]
    match op:
        case "copy":
            return first
        case "negate":
            return _turned(first)
        case "abs" if types[0] == type_:
            return Magnitude(first.least, 0, first.most)
        case "add":
            return _sum(type_, first, parts[1])
        case "subtract":
            return _sum(type_, first, _turned(parts[1]))
        case "multiply" if any(p.least == p.most == 1 for p in parts):  # by 0, 1 and -1
            other = parts[1] if first.least == first.most == 1 else first
            return Magnitude(other.least, -other.most, other.most)
        case "multiply":
            return fitted(type_, _product(first, parts[1]))
        case "divide":
            return _quotient(type_, first, parts[1])
        case "convert":
            return first if holds_all(type_, types[0]) else fitted(type_, first)
        case "sqrt" if first.lowest >= 0:
            return fitted(type_, Magnitude(_root(first.least), 0, _root(first.highest)))
        case "rsqrt" if first.lowest >= 0 and first.most:
            return _quotient(type_, Magnitude(1, 1, 1), Magnitude(_root(first.least), 0, _root(first.highest)))
        case "exponential":
            # What it makes zero is meant to be, as where exponents are masked; but nothing is divided by it.
            return MASKED if vanishes(type_, first) else fitted(type_, Magnitude(*_powers_of_e(first)))
        case "logistic":
            return fitted(type_, Magnitude(_power_of_e(min(0.0, first.lowest)) / 2, 0, 1))
        case "tanh" | "erf":
            return fitted(type_, Magnitude(min(first.least, 1.0) / 2, -1, 1))
        case "sine" | "cosine":
            return fitted(type_, Magnitude(min(first.least / 2, _NEAREST) if op == "sine" else _NEAREST, -1, 1))
        case "exponential-minus-one":
            return fitted(type_, Magnitude(min(first.least, 1.0) / 2, -1, _power_of_e(first.highest)))
        case "sign":
            return Magnitude(1, -1, 1)
        case "power" if parts[1].lowest == parts[1].highest:
            return _raised(type_, first, parts[1].lowest)
        case "power" | "atan2" | "reduce-precision" | "tan" | "abs":
            return LOST
        case "floor" | "ceil" | "round-nearest-afz" | "round-nearest-even":
            return Magnitude(1, first.lowest - 1, first.highest + 1)
    return anything(type_)


def vanishes(type_: str, exponent: Magnitude | None) -> bool:
    """Whether a power of e with an exponent that follows from constants alone may be zero."""
    if exponent is None:
        return False
    return exponent.lost or type_ not in NUMBERS or _power_of_e(exponent.lowest) < smallest_normal(type_)


def _turned(part: Magnitude) -> Magnitude:
    return Magnitude(part.least, -part.highest, -part.lowest)


def _sum(type_: str, a: Magnitude, b: Magnitude, count: int = 1) -> Magnitude:
    """a and `count` numbers of b. What two numbers cancel to is a multiple of the last digit of the smaller one."""
    least = min(a.least, b.least)
    same = (a.lowest >= 0 and b.lowest >= 0) or (a.highest <= 0 and b.highest <= 0)
    if not same and (inf not in (a.least, b.least) or count > 1) and least < inf:
        least = least * 2.0 ** (1 - SIGNIFICANT[type_]) if type_ in SIGNIFICANT else 0.0
    # What is rounded grows by no more than twice what is added to it.
    grown = 2 * count if count > 1 else 1
    found = Magnitude(least, a.lowest + grown * min(b.lowest, 0.0), a.highest + grown * max(b.highest, 0.0))
    too_large = type_ not in NUMBERS or not isfinite(found.most) or held_number(type_, Fraction(found.most)) is None
    return LOST if too_large else found


def _product(a: Magnitude, b: Magnitude) -> Magnitude:
    if inf in (a.least, b.least):
        return NOTHING
    corners = [x * y for x in (a.lowest, a.highest) for y in (b.lowest, b.highest)]
    return Magnitude(a.least * b.least, min(corners), max(corners)) if all(map(isfinite, corners)) else LOST


def _quotient(type_: str, a: Magnitude, b: Magnitude) -> Magnitude:
    if b.least == inf:
        return NOTHING  # divided by zero it is no number
    if a.least == inf:
        return a
    if not b.least or not a.least:
        return LOST
    most = a.most / b.least
    one_sign = a.one_sign and b.one_sign
    positive = (a.lowest >= 0) == (b.lowest >= 0)
    bounds = (0.0 if one_sign and positive else -most, 0.0 if one_sign and not positive else most)
    return fitted(type_, Magnitude(a.least / b.most, *bounds))


def _raised(type_: str, part: Magnitude, exponent: float) -> Magnitude:
    """A power with this exponent."""
    if not exponent:
        return Magnitude(1, 1, 1)
    signed = part.lowest < 0 and exponent % 2 != 0
    return _between(type_, part, (exponent,), signed)


def _multiplied(type_: str, part: Magnitude, count: int) -> Magnitude:
    """A product of up to so many, and at least one."""
    return _between(type_, part, (1, count), part.lowest < 0)


def _between(type_: str, part: Magnitude, exponents: Sequence[float], signed: bool) -> Magnitude:
    if part.least == inf:
        return NOTHING
    if not part.least:
        return LOST
    try:
        ends = sorted(float(x**e) for x in (part.least, part.most) for e in exponents)
    except OverflowError:
        return LOST
    return fitted(type_, Magnitude(ends[0], -ends[-1] if signed else 0, ends[-1]))


def _root(number: float) -> float:
    return sqrt(number) if isfinite(number) else number


def _powers_of_e(part: Magnitude) -> tuple[float, float, float]:
    least = _power_of_e(part.lowest)
    return least, least, _power_of_e(part.highest)


def _power_of_e(number: float) -> float:
    try:
        return exp(number)
    except OverflowError:
        return inf


@dataclass
class ConstantParts:
    """Remembers the bounds of tensors."""

    known: dict[Node, Magnitude | None] = field(default_factory=dict)
    terms: dict[Term, Magnitude | None] = field(default_factory=dict)

    def loses(self, term: Term) -> bool:
        """Whether some number that follows from constants alone may be lost in the computation of the term."""
        found = self.of(term)
        return found is not None and found.lost

    def of(self, term: Term) -> Magnitude | None:
        """The numbers that the term may be, where it follows from constants alone."""
        if term not in self.terms:
            self.terms[term] = self._of_term(term)
        return self.terms[term]

    def _of_term(self, term: Term) -> Magnitude | None:
        match term:
            case Num(type_, form):
                least = 1.0 if form.lo <= 0 <= form.hi else float(min(abs(form.lo), abs(form.hi)))
                return Magnitude(inf if form.lo == form.hi == 0 else least, float(form.lo), float(form.hi))
            case Lit():
                return _numbers([value_of(term)], term.type)
            case Elem(node, _):
                return self._of_node(node)
            case App(op, type_, args):
                return after(op, type_, [self.of(a) for a in args], [type_of(a) for a in args])
            case Cond(_, then, other):
                return joined((self.of(then), self.of(other)))
            case Fold(head, type_, _, sizes, bodies, sides):
                if head[0] == "contract":
                    given = [self._converted(self.of(b), type_of(b), type_) for b in bodies]
                    return self._summed(type_, after("multiply", type_, given, [type_, type_]), None, prod(sizes))
                if head[0] == "reduce" and len(bodies) == 1:
                    return self._folded(head[1], type_, self.of(bodies[0]), self.of(sides[0]), prod(sizes))
                # What is written, or folded with more than one other, may be anything that functions make of it.
                folded = joined(self.of(t) for t in (*bodies, *sides) if type_of(t) == type_)
                return folded if folded is None else joined((folded, anything(type_)))

    def _of_node(self, root: Node) -> Magnitude | None:
        for node in operands_first(root, self.known):
            self.known[node] = self._made(node)
        return self.known[root]

    def _made(self, node: Node) -> Magnitude | None:
        given, types = [self.known[o] for o in node.operands], [o.type for o in node.operands]
        alike = [p for p, t in zip(given, types, strict=True) if t == node.type]
        match node.head:
            case "constant":
                bits = literal_of(node.key, 1)
                known = None if bits is None else [from_bits(node.type, b) for b in set(bits)]
                return anything(node.type) if known is None else _numbers(known, node.type)
            case "iota":
                last = float(max(node.sizes, default=1) - 1)
                return fitted(node.type, Magnitude(1, 0, last)) if node.type in FLOATS else Magnitude(1, 0, last)
            case "parameter" | "free" | "bound":
                return None
            case "reduce" | "reduce-window" if len(node.operands) == 2:
                body = given[0] if node.head == "reduce" else joined(given)
                count = prod(node.operands[0].sizes)
                return self._folded(node.bodies, node.type, body, given[1], count)
            case "dot" | "convolution":
                factors = [self._converted(p, t, node.type) for p, t in zip(given, types, strict=True)]
                product = after("multiply", node.type, factors[:2], [node.type] * 2)
                return self._summed(node.type, product, None, prod(node.operands[0].sizes))
            case "scatter" if len(node.operands) == 3:
                written = joined((given[0], given[2]))
                count = prod(node.operands[2].sizes)
                return joined((written, self._folded(node.bodies, node.type, given[2], given[0], count)))
            case "output" if node.operands[0].head in ("sort", *FOLDS):
                inner = [self.known[o] for o in node.operands[0].operands if o.type == node.type]
                kept = joined(inner)
                return kept if kept is None or node.operands[0].head == "sort" else joined((kept, anything(node.type)))
            case "while" | "custom-call" | "output":  # what they hand on is not looked for
                return anything(node.type) if node.of_constants else None
            case "bitcast-convert" | "bitcast" if types[0] == node.type:
                return given[0]
            case "bitcast-convert" | "bitcast" | "map":
                found = joined(given)
                if found is None:
                    return joined(map(self._of_node, node.bodies))
                return joined((found, anything(node.type)))
            case "sort":
                return joined(alike)
            case _ if node.head in MOVEMENT or (node.head in LARGEST_GIVEN and node.head not in ("abs", "negate")):
                return joined(alike)
            case _ if node.bodies:
                found = joined(given)
                return found if found is None else joined((found, anything(node.type)))
        return after(node.head, node.type, given, types)

    def _converted(self, part: Magnitude | None, source: str, type_: str) -> Magnitude | None:
        return part if source == type_ else after("convert", type_, [part], [source])

    def _summed(self, type_: str, body: Magnitude | None, start: Magnitude | None, count: int) -> Magnitude | None:
        """The sum of so many of these, and of what it begins with where there is that."""
        if body is None or body.lost:
            return body
        if MASKED in (body, start):
            return None
        if type_ not in FLOATS:
            return anything(type_)
        return _sum(type_, start or NOTHING, body, max(count, 1))

    def _folded(
        self, functions: tuple[Node, ...], type_: str, body: Magnitude | None, start: Magnitude | None, count: int
    ) -> Magnitude | None:
        """What is folded of such numbers, where that from which it begins is one as well."""
        op = functions[0].head if len(functions) == 1 else ""
        bare = op == "bound" or (bool(op) and len({o for o in functions[0].operands if o.head == "bound"}) == 2)
        if bare and op in ("maximum", "minimum", "bound"):
            return joined((body, start))
        if body is None or start is None or MASKED in (body, start):
            return None
        if body.lost or start.lost:
            return LOST
        if bare and op == "add":
            return self._summed(type_, body, start, count)
        if bare and op == "multiply" and type_ in FLOATS:
            return after("multiply", type_, [_multiplied(type_, body, count), start], [type_, type_])
        return anything(type_)


def _numbers(values: Iterable[object], type_: str) -> Magnitude:
    """Bounds on those that are numbers."""
    if type_ in COMPLEX:
        return anything(type_)
    found = [float(v) for v in values if isinstance(v, int | float) and isfinite(v)]
    if not found:
        return NOTHING
    # What may be taken for zero where it is used may have any magnitude.
    least = min((0.0 if may_be_flushed(type_, v) else abs(v) for v in found if v), default=inf)
    return Magnitude(least, min(found), max(found))
