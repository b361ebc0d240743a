"""Identities between scalar terms, as data: name, tier, element types, and both sides as patterns.

Trusted. *exact*: bit for bit for the types (a NaN's payload aside); *real*: over real numbers; *rounding*: a rounding
is left out or put in. `x + 0` on floats, `x - x` and `0 * x` are not here: they are wrong for -0.0, infinity and NaN.
What the letters of a pattern mean stands in `patterns.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from hloproof.equivalence.answer import Tier
from hloproof.equivalence.computed_identities import SPECIAL, has_no_reciprocal, is_rounded_reciprocal
from hloproof.equivalence.patterns import BitPattern, View, built, matches, read_pattern
from hloproof.equivalence.terms import App, Term, type_of
from hloproof.models.interpreter.semantics.element_type import COMPLEX, INTEGERS, UNSIGNED
from hloproof.models.interpreter.semantics.small_float import FLOATS, NUMBERS

KINDS: Final[dict[str, frozenset[str]]] = {
    "integers": INTEGERS,
    "unsigned": UNSIGNED,
    "floats": NUMBERS,
    "predicates": frozenset({"pred"}),
    "with nan": NUMBERS - {"f4e2m1fn"},  # where 0/0 is -0.0
    "numbers": INTEGERS | FLOATS | COMPLEX,
    "ordered": INTEGERS | NUMBERS,
    "bits": INTEGERS | {"pred"},
    "all": INTEGERS | FLOATS | COMPLEX | {"pred"},
}


@dataclass(frozen=True)
class Identity:
    """`left` = `right` where what `x` stands for (`p` where there is no `x`) is of the types `on`."""

    name: str
    tier: Tier
    on: str
    left: str
    right: str

    @cached_property
    def sides(self) -> tuple[BitPattern, BitPattern]:
        return read_pattern(self.left), read_pattern(self.right)


def _table(text: str) -> Iterator[Identity]:
    for line in text.strip().splitlines():
        name, tier, on, equation = (part.strip() for part in line.split("|"))
        left, right = equation.split(" = ")
        yield Identity(name, tier, on, left, right)  # type: ignore[arg-type]


TABLE: Final = tuple(
    _table("""
times one             | exact | ordered    | multiply(x, 1) = x
remainder by one      | exact | integers   | remainder(x, 1) = 0
divided by one        | exact | ordered    | divide(x, 1) = x
plus zero             | exact | integers   | add(x, 0) = x
plus negative zero    | exact | floats     | add(x, -0.0) = x
minus zero            | exact | ordered    | subtract(x, 0) = x
times zero            | exact | integers   | multiply(x, 0) = 0
minus itself          | exact | integers   | subtract(x, x) = 0
negated twice         | exact | ordered    | negate(negate(x)) = x
not twice             | exact | bits       | not(not(x)) = x
and true              | exact | predicates | and(x, true) = x
and false             | exact | predicates | and(x, false) = false
or false              | exact | predicates | or(x, false) = x
or true               | exact | predicates | or(x, true) = true
xor true              | exact | predicates | xor(x, true) = not(x)
xor false             | exact | predicates | xor(x, false) = x
xor zero              | exact | integers   | xor(x, 0) = x
or zero               | exact | integers   | or(x, 0) = x
and zero              | exact | integers   | and(x, 0) = 0
and itself            | exact | bits       | and(x, x) = x
or itself             | exact | bits       | or(x, x) = x
equal to false        | exact | predicates | eq(x, false) = not(x)
equal to true         | exact | predicates | eq(x, true) = x
not equal to false    | exact | predicates | ne(x, false) = x
not equal to true     | exact | predicates | ne(x, true) = not(x)
equal to itself       | exact | bits       | eq(x, x) = true
differs from itself   | exact | bits       | ne(x, x) = false
below zero            | exact | unsigned   | lt(x, 0) = false
not below zero        | exact | unsigned   | ge(x, 0) = true
below itself          | exact | bits       | lt(x, x) = false
not below itself      | exact | bits       | le(x, x) = true
above zero            | exact | integers   | le(1, x) = lt(0, x)
below both            | exact | ordered    | and(lt(x, y), lt(x, z)) = lt(x, minimum(y, z))
below and above       | exact | ordered    | and(lt(x, y), gt(z, x)) = lt(x, minimum(y, z))
larger above one      | exact | ordered    | gt(maximum(x, y), y) = gt(x, y)
below the larger      | exact | ordered    | lt(y, maximum(x, y)) = lt(y, x)
clamped twice         | exact | ordered    | clamp(l, clamp(l, x, h), h) = clamp(l, x, h)
product of sizes      | exact | ordered    | multiply(abs(x), abs(x)) = multiply(x, x)
remainder twice       | exact | ordered    | remainder(remainder(x, y), y) = remainder(x, y)
bounded from below    | exact | integers   | lt(maximum(x, 0), 0) = false
choice of one         | exact | all        | select(p, x, x) = x
choice turned         | exact | all        | select(not(p), x, y) = select(p, y, x)
choice of a choice    | exact | all        | select(p, select(p, x, y), z) = select(p, x, z)
choice after a choice | exact | all        | select(p, x, select(p, y, z)) = select(p, x, z)
choice of true        | exact | all        | select(p, true, false) = p
choice of false       | exact | all        | select(p, false, true) = not(p)
choice or             | exact | predicates | select(p, true, x) = or(p, x)
choice and            | exact | predicates | select(p, x, false) = and(p, x)
shift by nothing      | exact | integers   | shift-left(x, 0) = x
shift down by nothing | exact | integers   | shift-right-logical(x, 0) = x
shift by no sign      | exact | integers   | shift-right-arithmetic(x, 0) = x
maximum of one        | exact | ordered    | maximum(x, x) = x
minimum of one        | exact | ordered    | minimum(x, x) = x
power of one          | exact | floats     | power(x, 1) = x
size of a size        | exact | ordered    | abs(abs(x)) = abs(x)
subtraction           | exact | ordered    | subtract(x, y) = add(x, negate(y))
sign of a product     | exact | floats     | multiply(negate(x), y) = negate(multiply(x, y))
sign of a quotient    | exact | with nan   | divide(negate(x), y) = negate(divide(x, y))
times minus one       | exact | ordered    | multiply(x, -1) = negate(x)
clamp                 | exact | ordered    | clamp(l, x, h) = minimum(maximum(l, x), h)
greater               | exact | all        | gt(x, y) = lt(y, x)
greater or equal      | exact | all        | ge(x, y) = le(y, x)
not less              | exact | integers   | not(lt(x, y)) = le(y, x)
not less or equal     | exact | integers   | not(le(x, y)) = lt(y, x)
not equal             | exact | all        | not(eq(x, y)) = ne(x, y)
not unequal           | exact | all        | not(ne(x, y)) = eq(x, y)
of either             | exact | predicates | not(and(x, y)) = or(not(x), not(y))
of neither            | exact | predicates | not(or(x, y)) = and(not(x), not(y))
reciprocal            | real  | floats     | divide(x, y) = multiply(x, divide(1, y))
product of powers of e| real  | floats     | multiply(exponential(x), exponential(y)) = exponential(add(x, y))
reciprocal of root    | real  | floats     | divide(1, sqrt(x)) = rsqrt(x)
square                | real  | floats     | power(x, 2) = multiply(x, x)
root as power         | real  | floats     | power(x, 0.5) = sqrt(x)
cube                  | real  | floats     | power(x, 3) = multiply(x, multiply(x, x))
sigmoid               | real  | floats     | logistic(x) = divide(1, add(1, exponential(negate(x))))
logarithm shifted     | real  | floats     | log-plus-one(x) = log(add(x, 1))
exponential shifted   | real  | floats     | exponential-minus-one(x) = subtract(exponential(x), 1)
""")
)


def rewritten(identity: Identity, term: App, view: View) -> Term | None:
    """The right side for a term that the left side matches at its root; None where it does not."""
    left, right = identity.sides
    for bound in matches(left, term, {}, view):
        if type_of(bound.get("x", bound.get("p", term))) in KINDS[identity.on]:
            return built(right, bound, type_of(term))
    return None


KEEPS_NAN: Final = frozenset(
    {"negated twice", "size of a size", "bits through another type", "the accuracy of a function left out"}
    | {i.name for i in TABLE if i.name.startswith("choice")}
)
"""Identities that keep the bits of a NaN as well: nothing is computed but the sign, and no sign is moved."""
POWERS_OF_E: Final = "product of powers of e"
"""Of a power that is zero, however large the other one is, it does not hold."""
RECIPROCAL: Final = frozenset({"reciprocal", "divided by a constant"})
"""Identities that divide by multiplying with what is 1 divided by the divisor."""
IDENTITIES: Final[dict[str, Identity]] = {i.name: i for i in TABLE}


def apply(name: str, term: App, view: View) -> tuple[Term, Tier] | None:
    """The term that the identity makes of this one, and its tier; None where it does not apply. Raises KeyError."""
    if name in SPECIAL:
        tier, function = SPECIAL[name]
        found = function(term, view)
    else:
        identity = IDENTITIES[name]
        if name == "reciprocal" and len(term.args) == 2 and has_no_reciprocal(term.type, view(term.args[1])):
            return None
        tier, found = identity.tier, rewritten(identity, term, view)
    # The reciprocal of a constant is the constant that the type holds for it, and is computed as such.
    if name in RECIPROCAL and found is not None and is_rounded_reciprocal(term.type, view(term.args[1])):
        tier = "rounding"
    return None if found is None else (found, tier)
