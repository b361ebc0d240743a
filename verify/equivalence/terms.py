"""Elements as terms: what one element of a tensor is made of.

Trusted. Terms are data; `unfold` in `elements` says what an `Elem` stands for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Final

from hloproof.equivalence.graph import Node
from hloproof.equivalence.indices import (
    Atom,
    Clamp,
    Digit,
    Lin,
    Substituted,
    TermValue,
    Var,
    constant,
    of_atom,
    variables,
)
from hloproof.models.hlo.shape import ELEMENT_BITS
from hloproof.models.interpreter.semantics.element_type import INTEGERS, from_bits, highest, lowest, rounded, to_bits
from hloproof.models.interpreter.value import Element

EXACT_INTEGERS: Final = {"f64": 2**53, "f32": 2**24, "bf16": 2**8, "f16": 2**11}
"""Up to this magnitude a float type holds every integer."""


@dataclass(frozen=True, slots=True)
class Elem:
    """The element of a tensor at an index vector within its sizes."""

    node: Node
    at: tuple[Lin, ...]
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.node, self.at)))

    def __hash__(self) -> int:
        return self._hash


@dataclass(frozen=True, slots=True)
class App:
    """An elementwise operation on elements; `key` holds its attributes."""

    op: str
    type: str
    args: tuple[Term, ...]
    key: Any = ()
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.op, self.type, self.args, self.key)))

    def __hash__(self) -> int:
        return self._hash


@dataclass(frozen=True, slots=True)
class Num:
    """An integer, as an element of an integer type that holds it or of a float type that holds it exactly."""

    type: str
    form: Lin


@dataclass(frozen=True, slots=True)
class Lit:
    """A number of any other kind, by its bits."""

    type: str
    bits: int


@dataclass(frozen=True, slots=True)
class Cond:
    """`then` where the form is at least 0, else `other`."""

    test: Lin
    then: Term
    other: Term
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.test, self.then, self.other)))

    def __hash__(self) -> int:
        return self._hash


@dataclass(frozen=True, slots=True)
class Fold:
    """A fold over the box of the variables at `place`, `place + 1`, ... of the given sizes.

    `head` names what is folded with what, `sides` are terms outside of the box (initial values).
    """

    head: Any
    type: str
    place: int
    sizes: tuple[int, ...]
    bodies: tuple[Term, ...]
    sides: tuple[Term, ...] = ()


Term = Elem | App | Num | Lit | Cond | Fold


def type_of(term: Term) -> str:
    """The element type of a term; of a choice that of its branches, which have one type."""
    while isinstance(term, Cond):
        term = term.then
    return term.node.type if isinstance(term, Elem) else term.type


def number(type_: str, form: Lin) -> Num | Lit | None:
    """An integer as an element of the type; None where the type may not hold it."""
    if type_ in INTEGERS:
        fits = int(lowest(type_)) <= form.lo and form.hi <= int(highest(type_))
    else:
        most = EXACT_INTEGERS.get(type_, -1)
        fits = -most <= form.lo and form.hi <= most
    if fits:
        return Num(type_, form)
    # A known number is rounded as the type has it; a form that may leave the exact range would be rounded at some of
    # its values only.
    if not form.is_constant or type_ in ("pred", "f8e8m0fnu") or not rounds_alike(type_, form.constant):
        return None
    return from_value(type_, form.constant)


def rounds_alike(type_: str, value: object) -> bool:
    """Whether a number becomes the same one of the type directly and through f32, as compilers have it for types of 16
    bits: XLA goes through f32 where it runs, and not where it folds constants. False may be said of any number."""
    if type_ not in ("f16", "bf16") or not isinstance(value, int | float):
        return True
    single = rounded("f32", value)
    if single == value or not isinstance(single, float) or not isfinite(single):
        return True
    # Rounded twice is rounded otherwise only in the middle between two neighbours.
    near = abs(single) * 2**-23
    return bool(rounded(type_, single - near) == rounded(type_, single + near))


SMALLEST_NORMAL: Final = {"f64": 2.0**-1022, "f32": 2.0**-126, "bf16": 2.0**-126, "f8e8m0fnu": 2.0**-126}
"""Types that are computed where subnormal numbers may be; the others are computed in f32, which holds theirs as normal
ones."""


def may_be_flushed(type_: str, value: object) -> bool:
    """Whether processors may take the number for 0: XLA has its code run so, and not what it folds at compile time."""
    return isinstance(value, float) and 0 < abs(value) < SMALLEST_NORMAL.get(type_, 0)


def from_value(type_: str, value: object) -> Num | Lit:
    """A Python number rounded to the type."""
    held = rounded(type_, value)
    bits = to_bits(type_, held)
    return from_pattern(type_, bits)


def from_pattern(type_: str, bits: int) -> Num | Lit:
    """The element with these bits; whole floats but -0.0 are numbers too, so that they meet counted ones."""
    held = from_bits(type_, bits)
    if type_ in INTEGERS:
        return Num(type_, constant(int(held)))
    most = EXACT_INTEGERS.get(type_, -1)
    if (
        isinstance(held, float)
        and -most <= held <= most
        and held == int(held)
        and to_bits(type_, float(int(held))) == bits
    ):
        return Num(type_, constant(int(held)))
    return Lit(type_, bits)


def value_of(term: Term) -> Element | None:
    """The Python number of a constant term; None for others."""
    if isinstance(term, Lit):
        return from_bits(term.type, term.bits)
    if isinstance(term, Num) and term.form.is_constant:
        return rounded(term.type, term.form.constant)
    return None


def has_zero(type_: str) -> bool:
    """Whether this is the type of an array's elements and holds a zero, which sums begin with and convolutions pad
    with."""
    return type_ in ELEMENT_BITS and value_of(from_value(type_, 0)) == 0


def is_static(term: Term) -> bool:
    """Whether the term follows from constants and indices alone."""
    match term:
        case Elem(node, _):
            return node.static
        case Num() | Lit():
            return True
        case App(args=args):
            return all(is_static(a) for a in args)
        case Cond(_, then, other):
            return is_static(then) and is_static(other)
        case Fold():
            return False


def follows_from_constants(term: Term) -> bool:
    """Whether nothing that the term is made of is given from outside."""
    match term:
        case Elem(node, _):
            return node.of_constants
        case Num() | Lit():
            return True
        case App(args=args):
            return all(map(follows_from_constants, args))
        case Cond(_, then, other):
            return follows_from_constants(then) and follows_from_constants(other)
        case Fold(bodies=bodies, sides=sides):
            return all(map(follows_from_constants, (*bodies, *sides)))


def variables_of(term: Term) -> frozenset[Var]:
    """All variables in the term, those of folds included."""
    out: set[Var] = set()
    stack = [term]
    while stack:
        match stack.pop():
            case Elem(_, at):
                for x in at:
                    out |= variables(x, variables_of)
            case App(args=args):
                stack.extend(args)
            case Num(_, form):
                out |= variables(form, variables_of)
            case Cond(test, then, other):
                out |= variables(test, variables_of)
                stack += [then, other]
            case Fold(bodies=bodies, sides=sides):
                stack += [*bodies, *sides]
            case Lit():
                pass
    return frozenset(out)


def integer_bounds(type_: str) -> tuple[int, int]:
    """The lowest and the highest value of an integer type, or of pred; both included."""
    return (0, 1) if type_ == "pred" else (int(lowest(type_)), int(highest(type_)))


def value_form(term: Term) -> Lin:
    """The integer that a term of an integer type stands for, as a form."""
    if isinstance(term, Num):
        return term.form
    lo, hi = integer_bounds(type_of(term))
    return of_atom(TermValue(term, lo, hi))


@dataclass
class TermSubstitution:
    """Forms for variables, in terms; `values` maps terms of values to forms that replace them."""

    by_place: dict[int, Lin]
    values: dict[Term, Lin] = field(default_factory=dict)
    done: dict[Term, Term] = field(default_factory=dict)
    forms: Substituted = field(init=False)

    def __post_init__(self) -> None:
        self.forms = Substituted(self.by_place, self.value)

    def value(self, term: Term) -> Lin:
        if term in self.values:
            return self.values[term]
        return value_form(self(term))

    def __call__(self, term: Term) -> Term:
        found = self.done.get(term)
        if found is None:
            found = self.done[term] = self._made(term)
        return found

    def _made(self, term: Term) -> Term:
        form = self.forms
        match term:
            case Elem(node, at):
                return Elem(node, tuple(form(x) for x in at)) if at else term
            case App(op, type_, args, key):
                return App(op, type_, tuple(self(a) for a in args), key)
            case Num(type_, of):
                return Num(type_, form(of))
            case Lit():
                return term
            case Cond(test, then, other):
                return Cond(form(test), self(then), self(other))
            case Fold(head, type_, place, sizes, bodies, sides):
                # Places are never used twice on one way down, so that nothing is captured; this asks whether that is
                # so.
                if any(place <= p < place + len(sizes) for p in self.by_place):
                    raise ValueError("a variable of a fold cannot be replaced from outside")
                return Fold(head, type_, place, sizes, tuple(map(self, bodies)), tuple(map(self, sides)))


def values_in(form: Lin) -> list[TermValue]:
    """The values that a form is made of, outermost ones only."""
    out: list[TermValue] = []
    stack: list[Atom] = list(form.terms)
    while stack:
        match stack.pop():
            case TermValue() as v:
                out.append(v)
            case Digit(of) | Clamp(of):
                stack.extend(of.terms)
            case Var():
                pass
    return out
