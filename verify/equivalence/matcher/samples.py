"""The number that a term is at one point, for inputs filled with hashed numbers: two terms with different numbers are
not worth pairing.

Not trusted, and no evaluation either: a sum over a large box is its size times the mean of the bodies at the first and
at the last point of the box, sums inside it taken together. That is linear, so distributing sums and taking factors out
keep it, and so do orders of dimensions, merged dimensions, sums of sums, and mostly counting backwards.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product as box
from math import isfinite, prod
from typing import Any, Final

from hloproof.equivalence.elements import ELEMENTWISE, FOLDS, MOVEMENT, unfold
from hloproof.equivalence.evaluation import attributes_of
from hloproof.equivalence.goals import Goal
from hloproof.equivalence.graph import Node, operands_first
from hloproof.equivalence.indices import Clamp, Digit, Lin, TermValue, Var, constant
from hloproof.equivalence.library import call
from hloproof.equivalence.loop_states import FreeState
from hloproof.equivalence.matcher.noise import RELATIVE, after, multiplied, noise_of, total
from hloproof.equivalence.reductions import combiner
from hloproof.equivalence.terms import App, Cond, Elem, Fold, Lit, Num, Term, value_of
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.shape import ELEMENT_BITS
from hloproof.models.interpreter.semantics.element_type import COMPLEX, INTEGERS, from_bits, to_bits
from hloproof.models.interpreter.semantics.real import Real
from hloproof.models.interpreter.semantics.small_float import FLOATS

Sample = float | int | bool | complex | None
_REAL: Final = Real()
FULL: Final = 8
"""Boxes of up to so many points are summed up in full."""
SCATTERED: Final = 256
MOST: Final = 400_000
"""Elements computed; afterwards nothing is known any more."""
DEEP: Final = 60
"""Elements that are computed inside one another before the innermost is computed by itself."""
TRIES: Final = 12
"""Points tried to meet the facts of a goal."""
ABSOLUTE: Final = 1e-6
"""Numbers that are further apart than this beyond the relative error are told apart, whatever may have cancelled."""


class _Missing(Exception):
    """This element has to be known first."""

    def __init__(self, element: tuple[Node, tuple[int, ...]]) -> None:
        self.element = element


class _Unknown(Exception):
    """There is no number."""


class Samples:
    """Numbers of elements, remembered."""

    def __init__(self) -> None:
        self.known: dict[tuple[Node, tuple[int, ...]], Sample] = {}
        self.terms: dict[tuple[Term, int], Sample] = {}
        self.leaves: dict[Node, int] = {}
        self.left = MOST
        self.depth = 0

    def differ(self, goal: Goal) -> bool:
        """Whether the two sides are two numbers at a point that meets the facts."""
        point = self.point(goal)
        return point is not None and apart(self.term(goal.left, point), self.term(goal.right, point))

    def point(self, goal: Goal) -> int | None:
        """The number of a point that meets the facts; None where none was found."""
        for number in range(TRIES if goal.facts else 1):
            try:
                if all(self._holds(fact, number) for fact in goal.facts):
                    return number
            except _Unknown:
                return None
        return None

    def _holds(self, fact: Lin, point: int) -> bool:
        return bool(self._asked(lambda: self._form(fact, {}, point)) >= 0)

    def term(self, term: Term, point: int = 0) -> Sample:
        """The number of the term at the point, None where there is none."""
        key = (term, point)
        if key not in self.terms:
            try:
                self.terms[key] = checked(self._asked(lambda: self._term(term, {}, point)))
            except _Unknown:
                self.terms[key] = None
        return self.terms[key]

    def _asked(self, compute: Callable[[], Any]) -> Any:
        """Computes what is missing first, so that the depth of modules does not matter."""
        waiting: list[tuple[Node, tuple[int, ...]]] = []
        while True:
            self.depth = 0
            try:
                if not waiting:
                    return compute()
                self._element(*waiting[-1])
                waiting.pop()
            except _Missing as missing:
                waiting.append(missing.element)
            except RecursionError:
                raise _Unknown from None

    def _element(self, node: Node, at: tuple[int, ...]) -> Any:
        key = (node, at)
        if key not in self.known:
            if self.depth >= DEEP:
                raise _Missing(key)
            self.depth += 1
            self.left -= 1
            try:
                self.known[key] = checked(self._computed(node, at)) if self.left > 0 else None
            except _Unknown:
                self.known[key] = None
            finally:
                self.depth -= 1
        found = self.known[key]
        if found is None:
            raise _Unknown
        return found

    def _computed(self, node: Node, at: tuple[int, ...]) -> Any:
        head = node.head
        if head == "select":  # the other branch may hold no number
            predicate, *branches = node.operands
            branch = branches[0 if self._element(predicate, at if predicate.sizes else ()) else 1]
            return self._element(branch, at)
        if head in ELEMENTWISE:
            args = [self._element(o, at if o.sizes else ()) for o in node.operands]
            return applied(head, tuple(o.type for o in node.operands), node.type, node.key, args)
        if head == "parameter":
            return hashed((node.serial, at), node)
        term: Term | None = None
        if head in MOVEMENT or head in FOLDS:
            term = unfold(node, tuple(constant(x) for x in at), 0)
        if term is None and head == "output":
            found = call(Elem(node, tuple(constant(x) for x in at)), 0)
            if found is not None:
                return self._term(found[1], {}, 0)
        if term is not None and not isinstance(term, Elem):
            return self._term(term, {}, 0)
        if isinstance(term, Elem) and (term.node, tuple(x.constant for x in term.at)) != (node, at):
            return self._term(term, {}, 0)
        return hashed((node.type, node.sizes, at, self._leaves(node)), node)

    def _leaves(self, root: Node) -> int:
        """A bit for each input that an operation depends on: all that is said of one without a meaning."""
        for node in operands_first(root, self.leaves):
            bits = 0 if node.operands or node.static else 1 << mixed(name_of(node)) % 509
            for operand in node.operands:
                bits |= self.leaves[operand]
            self.leaves[node] = bits
        return self.leaves[root]

    def _term(self, term: Term, places: dict[int, int], point: int) -> Any:
        match term:
            case Elem(node, at):
                return self._element(node, tuple(self._form(x, places, point) for x in at))
            case App("select", _, args):
                return self._term(args[1 if self._term(args[0], places, point) else 2], places, point)
            case App(op, type_, args, key):
                types = tuple(type_of_argument(a) for a in args)
                return applied(op, types, type_, key, [self._term(a, places, point) for a in args])
            case Num(type_, form):
                value = self._form(form, places, point)
                return value if type_ in INTEGERS else float(value)
            case Lit():
                return value_of(term)
            case Cond(test, then, other):
                return self._term(then if self._form(test, places, point) >= 0 else other, places, point)
            case Fold():
                return self._fold(term, places, point)

    def _fold(self, fold: Fold, places: dict[int, int], point: int) -> Any:
        count = prod(fold.sizes)
        if not count:
            raise _Unknown
        if fold.head[0] == "scatter":
            return self._scattered(fold, places, point)
        if fold.head[0] == "contract" or (fold.type != "pred" and combiner(fold) == "add"):
            return self._sum(fold, places, point)
        if count <= FULL:
            points = list(box(*map(range, fold.sizes)))
        else:
            points = [(0,) * len(fold.sizes), tuple(n - 1 for n in fold.sizes)]
        if len(fold.bodies) > 1:
            # Another function: whatever it is, a number that the order of the box does not change.
            return hashed((fold.type, fold.head[2], len(fold.bodies)), None)
        values = [self._term(fold.bodies[0], self._placed(fold, x, places), point) for x in points]
        return self._combined(fold, [*values, self._term(fold.sides[0], places, point)])

    def _placed(self, fold: Fold, x: tuple[int, ...], places: dict[int, int]) -> dict[int, int]:
        return {**places, **{fold.place + k: v for k, v in enumerate(x)}}

    def _combined(self, fold: Fold, values: list[Any]) -> Any:
        match combiner(fold):
            case "add" if fold.type != "pred":
                return total(values)
            case "multiply":
                return multiplied(values)
            case "maximum" | "minimum" if fold.type in COMPLEX:  # they have no order
                raise _Unknown
            case "maximum":
                return max(values)
            case "minimum":
                return min(values)
            case "and" if fold.type == "pred":
                return all(values)
            case "or" | "add" if fold.type == "pred":
                return any(values)
        return hashed((fold.type, combiner(fold), min(map(str, values))), None)

    def _scattered(self, fold: Fold, places: dict[int, int], point: int) -> Any:
        if prod(fold.sizes) > SCATTERED:
            return hashed((fold.type, fold.sizes), None)
        values = []
        for x in box(*map(range, fold.sizes)):
            inner = self._placed(fold, x, places)
            if not self._is_nothing(fold.bodies[0], inner, point):
                values.append(self._term(fold.bodies[0], inner, point))
        return self._combined(fold, [*values, self._term(fold.sides[0], places, point)])

    def _sum(self, fold: Fold, places: dict[int, int], point: int) -> Any:
        ends = [self._end(fold, (last, last), places, point) for last in (False, True)]
        count = ends[0][0]
        if count <= FULL:
            points = box(*map(range, fold.sizes))
            initial = self._term(fold.sides[0], places, point) if fold.sides else 0
            return total([*(self._summand(fold, self._placed(fold, x, places), point) for x in points), initial])
        if fold.head[0] == "contract" and any(isinstance(b, Cond) for b in fold.bodies) and len(fold.sizes) > 1:
            # Variables of windows may run backwards on the other side, which the first one, of features, does not.
            ends += [self._end(fold, (last, not last), places, point) for last in (False, True)]
        return total([value for _, value in ends], count // len(ends) if fold.type in INTEGERS else count / len(ends))

    def _summand(self, fold: Fold, places: dict[int, int], point: int) -> Any:
        values = [self._term(b, places, point) for b in fold.bodies]
        return multiplied(values) if fold.head[0] == "contract" else values[0]

    def _end(self, fold: Fold, last: tuple[bool, bool], places: dict[int, int], point: int) -> tuple[int, Any]:
        """How many points the box has, those of sums right inside included, and the summand at its first or last one;
        the two marks are for the first variable and for the others."""
        count = prod(fold.sizes)
        x = tuple(n - 1 if last[k > 0] else 0 for k, n in enumerate(fold.sizes))
        inner = self._placed(fold, x, places)
        if fold.head[0] != "contract":
            found = self._sum_inside(fold.bodies[0], inner, point)
            if found is not None:
                more, value = self._end(found, last, {}, point)
                return count * more, value
        return count, self._summand(fold, inner, point)

    def _sum_inside(self, body: Term, places: dict[int, int], point: int) -> Fold | None:
        """The sum that a term is, after movement."""
        for _ in range(DEEP):
            if isinstance(body, Fold):
                sums = body.type != "pred" and body.head[0] == "reduce" and combiner(body) == "add"
                return body if sums and not places and prod(body.sizes) else None
            if not isinstance(body, Elem):
                return None
            node, at = body.node, tuple(self._form(x, places, point) for x in body.at)
            if node.head not in ("broadcast", "reshape", "transpose", "bitcast", "reduce", "slice", "reverse"):
                return None
            found = unfold(node, tuple(constant(x) for x in at), 0)
            if found is None:
                return None
            body, places = found, {}
        return None

    def _is_nothing(self, body: Term, places: dict[int, int], point: int) -> bool:
        while isinstance(body, Cond):
            body = body.then if self._form(body.test, places, point) >= 0 else body.other
        return isinstance(body, App) and body.op == "nothing"

    def _form(self, form: Lin, places: dict[int, int], point: int) -> int:
        out = form.constant
        for atom, c in form.terms.items():
            out += c * self._atom(atom, places, point)
        return out

    def _atom(self, atom: Any, places: dict[int, int], point: int) -> int:
        match atom:
            case Var(place, size):
                found = places.get(place)
                return chosen(place, size, point) if found is None else found
            case Digit(of, divisor, modulus):
                value = self._form(of, places, point) // divisor
                return value % modulus if modulus else value
            case Clamp(of, lo, hi):
                return min(max(self._form(of, places, point), lo), hi)
            case TermValue(term):
                return int(self._term(term, places, point))
        raise AssertionError


def name_of(node: Node) -> object:
    """What a leaf is told from others by. States of loops that are not paired yet are all alike."""
    if node.head == "parameter":
        return node.serial
    if isinstance(node.key, FreeState) and len({side for side, _ in node.key.members}) > 1:
        return node.key.members
    return node.head


def type_of_argument(term: Term) -> str:
    """The element type of a term; all cases of a choice have one."""
    while isinstance(term, Cond):
        term = term.then
    return term.node.type if isinstance(term, Elem) else term.type


def chosen(place: int, size: int, point: int) -> int:
    """The value of a variable: somewhere inside."""
    if point == 0:
        return (size * 5 // 8 + place) % size
    return (place * 40503 + point * 30011 + point * place * 17) % 65521 % size


def mixed(key: object) -> int:
    """A number from numbers and words that does not depend on the process."""
    out = 1469598103934665603
    for byte in repr(key).encode():
        out = (out ^ byte) * 1099511628211 % 2**64
    return out ^ out >> 29


def hashed(key: object, node: Node | None) -> Any:
    """A number for an element of an input, of its type: floats between 0.5 and 1.5, divided by the largest size."""
    type_ = node.type if node else key[0]  # type: ignore[index]
    bits = mixed(key)
    if type_ == "pred":
        return bool(bits >> 7 & 1)
    if type_ in INTEGERS:
        return (bits >> 7) % (2 if type_.endswith(("1", "2")) else 7)
    scale = max(node.sizes, default=1) if node and len(node.sizes) > 1 else 1
    value = (0.5 + (bits >> 7) % 10007 / 10007) / max(1, scale)
    if type_ in COMPLEX:
        return complex(value, 0.3 + (bits >> 30) % 10007 / 10007)
    if type_ not in FLOATS:
        raise _Unknown
    return value


def applied(op: str, types: tuple[str, ...], type_: str, key: Any, args: list[Any]) -> Any:
    """An elementwise operation on sampled values. Raises _Unknown where it has no value, or none that is known."""
    if op == "convert" and types[0] in FLOATS and type_ in FLOATS:
        return args[0]
    if op == "bitcast-convert":
        if types[0] not in INTEGERS or ELEMENT_BITS[types[0]] != ELEMENT_BITS[type_]:
            raise _Unknown
        return from_bits(type_, to_bits(types[0], args[0]))
    if op == "map" or op == "nothing":
        raise _Unknown
    try:
        return after(op, args, _function(op, types, type_, key)(*args))
    except (ValueError, OverflowError, ZeroDivisionError, TypeError, KeyError):
        raise _Unknown from None


_FUNCTIONS: dict[object, Any] = {}
_WIDE: Final = {"c64": "c128"}


def _function(op: str, types: tuple[str, ...], type_: str, key: Any) -> Any:
    name = (op, types, type_, key)
    found = _FUNCTIONS.get(name)
    if found is None:
        wide = ["f64" if t in FLOATS else _WIDE.get(t, t) for t in types]
        result = "f64" if type_ in FLOATS else _WIDE.get(type_, type_)
        try:
            found = _REAL.function(op, wide, result, attributes_of(key))
        except (NotModelled, KeyError):
            raise _Unknown from None
        _FUNCTIONS[name] = found
    return found


def checked(value: Any) -> Sample:
    """A value that samples are compared by; None for NaN, for complex numbers with infinite parts, and for anything
    else."""
    if isinstance(value, bool | int):
        return value
    if isinstance(value, complex):
        return value if isfinite(value.real) and isfinite(value.imag) else None
    return value if isinstance(value, float) and value == value else None


def apart(a: Sample, b: Sample) -> bool:
    """Whether both are numbers, and two: integers as they are, floats up to what rounding may do."""
    if a is None or b is None:
        return False
    if isinstance(a, int) and isinstance(b, int):
        return a != b
    if not isfinite(abs(a)) or not isfinite(abs(b)):
        return a != b
    noise = noise_of(a) + noise_of(b) if isinstance(a, float) and isinstance(b, float) else ABSOLUTE
    return abs(a - b) > RELATIVE * max(abs(a), abs(b)) + min(noise, ABSOLUTE)
