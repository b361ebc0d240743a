"""Elements as numbers: equations and comparisons between them, as formulas over integers.

Trusted. A number is a quotient of polynomials in values of which nothing is known, by cases. Over *reals* every atom is
made linear (products of unknowns are unknowns of their own) and homogeneous: all unknowns have one denominator `D` of
at least 1. A linear statement that fails for real numbers fails for rational ones, and so for integers over `D`; hence
what is proved here holds for real numbers, and for integers. Over *integers* `D` is 1, division truncates, `x / 0` is
-1 and its remainder x, as in HLO.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count, product
from typing import Final

from hloproof.logic.formula import FALSE, TRUE, Comparator, Compare, Formula, Not, conj, disj, eq, le
from hloproof.models.expressions.expr import Const, Expr, Var, lift
from hloproof.models.tensor_rules.rule import NumberKind
from hloproof.tensor_rules.digits import SizeMonomial, SizePolynomial, expression, polynomial
from hloproof.tensor_rules.laws import note
from hloproof.tensor_rules.scalar_operations import (
    FUNCTIONS,
    KNOWN,
    LARGEST_EXPONENT,
    definition,
    is_total,
    is_truth,
    of_bits,
    unbounded,
)
from hloproof.tensor_rules.terms import App, Num, Term

SHARED: Final = "D"
"""The name of the common denominator; no rule can write it before a dot, and names of a rule have none."""
_CASES: Final = 64
"""More cases are not looked at."""


class NotKnown(Exception):
    """The term has no meaning as a formula."""


@dataclass(frozen=True, slots=True)
class _Case:
    """Where all of `guard` holds, the number is over / under; `under` is not 0 there."""

    guard: tuple[Formula, ...]
    over: Expr
    under: Expr = Const(1)


@dataclass
class Values:
    """Terms as numbers and truths over unknowns; equal values are one unknown.

    `same(a, b)` says whether two terms are equal wherever the first is defined.
    """

    same: Callable[[Term, Term], bool]
    kind: NumberKind
    fresh: Iterator[int] = field(default_factory=count)
    facts: list[Formula] = field(default_factory=list)
    """What holds of the unknowns, where the left side is defined."""
    owed: list[Formula] = field(default_factory=list)
    """That the right side is defined."""
    reorders: bool = False
    on_the_right: bool = False
    _unknowns: list[tuple[Term, str, bool]] = field(default_factory=list)
    """Terms with their names, and whether each is a truth, which is 1, or a number, which is over the denominator."""
    _products: dict[SizeMonomial, str] = field(default_factory=dict)
    _roots: dict[str, Expr] = field(default_factory=dict)
    _exponentials: dict[SizeMonomial, Expr] = field(default_factory=dict)
    _divisions: list[tuple[Expr, Expr, Expr, Expr]] = field(default_factory=list)
    _names: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.shared: Expr = self._made(SHARED, known=True) if self.kind == "reals" else Const(1)
        if self.kind == "reals":
            self.facts.append(le(1, self.shared))

    # Equations.

    def equal(self, a: Term, b: Term) -> Formula:
        """That the two are equal numbers, or both true or both false. Raises NotKnown."""
        if is_truth(a) or is_truth(b):
            p = self.truth(a)
            self.on_the_right = True
            q = self.truth(b)
            return conj(*self.owed, disj(conj(p, q), conj(Not(p), Not(q))))
        left = self.number(a)
        self.on_the_right = True
        right = self.number(b)
        goals = [
            disj(*map(Not, (*x.guard, *y.guard)), self.atom("==", x.over * y.under - y.over * x.under))
            for x, y in product(left, right)
        ]
        return conj(*self.owed, *goals)

    # Atoms.

    def atom(self, op: Comparator, e: Expr) -> Formula:
        """`e op 0` for a polynomial in unknowns."""
        whole = polynomial(e)
        note("", lambda: (e, expression(whole)))
        found = self._rooted(whole)
        if self.kind == "integers":
            return Compare(op, expression(found), Const(0))
        out: Expr = Const(0)
        for monomial, c in found.items():
            mine = tuple(f for f in monomial if self._is_unknown(f[1]))
            part = expression({tuple(f for f in monomial if not self._is_unknown(f[1])): c})
            if len(mine) == 0:
                part = part * self.shared
            else:
                part = part * (mine[0][1] if len(mine) == 1 else self._product(mine))
            out = out + part
        return Compare(op, expression(polynomial(out)), Const(0))

    def _product(self, factors: SizeMonomial) -> Expr:
        name = self._products.get(factors)
        if name is None:
            name = self._products[factors] = f"m.{next(self.fresh)}"
        return Var(name)

    def _rooted(self, p: SizePolynomial) -> SizePolynomial:
        """Squares of roots are what the roots are of."""
        while True:
            for monomial, c in p.items():
                names = [f[1].name for f in monomial if isinstance(f[1], Var) and f[1].name in self._roots]
                twice = next((n for n in names if names.count(n) > 1), None)
                if twice is not None:
                    rest = list(monomial)
                    rest.remove((twice, Var(twice)))
                    rest.remove((twice, Var(twice)))
                    left = {m: k for m, k in p.items() if m != monomial}
                    p = polynomial(expression(left) + expression({tuple(rest): c}) * self._roots[twice])
                    break
            else:
                return p

    def _is_unknown(self, e: Expr) -> bool:
        return isinstance(e, Var) and e.name in self._names

    def _not_zero(self, e: Expr) -> Formula:
        """A product is not zero where no factor is."""
        found = polynomial(e)
        if len(found) == 1:
            [(monomial, _)] = found.items()
            return conj(*(self.atom("!=", f) for _, f in monomial))
        return self.atom("!=", e)

    def _defined(self, guard: tuple[Formula, ...], formula: Formula) -> None:
        """What the term needs to have a value: a fact on the left side, owed on the right."""
        stated = disj(*map(Not, guard), formula)
        (self.owed if self.on_the_right else self.facts).append(stated)

    # Numbers.

    def number(self, term: Term) -> list[_Case]:
        match term:
            case Num(value):
                return [_Case((), value)]
            case App("infinity"):
                raise NotKnown
            case _ if is_truth(term):
                raise NotKnown  # as an unknown it would be over the denominator, where as a truth it is 1
            case App(op, args) if op in KNOWN:
                if op in FUNCTIONS and self.kind == "integers":
                    return [_Case((), Var(self._unknown(term)))]
                if op == "select":
                    return self._selected(args)
                written = unbounded(op, args) or definition(op, args) or of_bits(op, args)
                if written is not None:
                    # The logarithm of a sum, of which nothing more is known, is rounded otherwise than what it defines.
                    self.reorders = self.reorders or op == "log-plus-one"
                    return self.number(written)
                if op in _EITHER_ORDER:
                    return [_Case((), Var(self._unknown(App(op, tuple(sorted(args, key=repr))))))]
                if op in ("log", "power") or op.startswith(("bitwise-", "shift-")):
                    return [_Case((), Var(self._unknown(term)))]
                self.reorders = True
                out: list[_Case] = []
                for parts in product(*map(self.number, args)):
                    guard = tuple(g for p in parts for g in p.guard)
                    out += self._combined(op, guard, parts)
                    if len(out) > _CASES:
                        raise NotKnown
                return out
        return [_Case((), Var(self._unknown(term)))]

    def _combined(self, op: str, guard: tuple[Formula, ...], parts: tuple[_Case, ...]) -> list[_Case]:
        match op, parts:
            case "add", [x, y]:
                return [_sum(guard, x, y, 1)]
            case "subtract", [x, y]:
                return [_sum(guard, x, y, -1)]
            case "multiply", [x, y]:
                return [_Case(guard, _times(x.over, y.over), _times(x.under, y.under))]
            case "negate", [x]:
                return [_Case(guard, -x.over, x.under)]
            case "abs", [x]:
                return self._larger(guard, x, _Case((), -x.over, x.under))
            case "maximum", [x, y]:
                return self._larger(guard, x, y)
            case "minimum", [x, y]:
                return [_Case(c.guard, c.over, c.under) for c in self._larger(guard, x, y, smaller=True)]
            case "clamp", [low, x, high]:
                cases = self._larger(guard, x, low)
                return [d for c in cases for d in self._larger(c.guard, c, high, smaller=True)]
            case "divide", [x, y]:
                if self.kind == "integers":
                    return [_Case(guard, self._truncated(x, y)[0])]
                self._defined(guard, self._not_zero(y.over))
                return [_Case(guard, _times(x.over, y.under), _times(x.under, y.over))]
            case "remainder", [x, y]:
                return [_Case(guard, self._truncated(x, y, guard)[1])]
            case "exponential", [x]:
                return [self._exponential(guard, x)]
            case "sqrt", [x]:
                return [_Case(guard, self._root(guard, x))]
        raise NotKnown

    def _larger(self, guard: tuple[Formula, ...], x: _Case, y: _Case, smaller: bool = False) -> list[_Case]:
        """The larger of two numbers, by cases."""
        test = self._ordered("<=", x, y)
        first, second = (x, y) if smaller else (y, x)
        return [_Case((*guard, test), first.over, first.under), _Case((*guard, Not(test)), second.over, second.under)]

    def _ordered(self, op: Comparator, x: _Case, y: _Case) -> Formula:
        """x op y; both sides times the square of what they are divided by."""
        if x.under is Const(1) and y.under is Const(1):
            return self.atom(op, x.over - y.over)
        if op in ("==", "!="):
            return self.atom(op, x.over * y.under - y.over * x.under)
        return self.atom(op, x.over * x.under * y.under * y.under - y.over * y.under * x.under * x.under)

    def _selected(self, args: tuple[Term, ...]) -> list[_Case]:
        test = self.truth(args[0])
        out: list[_Case] = []
        for chosen, branch in ((test, args[1]), (Not(test), args[2])):
            with self._where(chosen):
                out += [_Case((chosen, *c.guard), c.over, c.under) for c in self.number(branch)]
        return out

    @contextmanager
    def _where(self, chosen: Formula) -> Iterator[None]:
        """What a branch needs, it needs where it is chosen."""
        held = self.owed if self.on_the_right else self.facts
        before = len(held)
        yield
        held[before:] = [disj(Not(chosen), f) for f in held[before:]]

    def _truncated(self, x: _Case, y: _Case, guard: tuple[Formula, ...] = ()) -> tuple[Expr, Expr]:
        """Quotient and remainder of a division that rounds to zero."""
        if x.under is not Const(1) or y.under is not Const(1):
            raise NotKnown
        a, b = expression(polynomial(x.over)), expression(polynomial(y.over))
        if self.kind == "reals":  # here too where the quotient is known: it may be that of a branch alone
            self._defined(guard, self._not_zero(b))
        for over, under, q, r in self._divisions:
            if over is a and under is b:
                return q, r
        q, r = self._made("q", known=False), self._made("r", known=True)
        if self.kind == "integers":
            by_zero = conj(self.atom("==", b), eq(q, -1), self.atom("==", r - a))
        else:
            by_zero = conj(self.atom("==", b), self.atom("==", r))
        zero = self.atom("==", b)
        smaller = disj(self._within(r, b), self._within(r, -b))
        signs = [disj(self.atom("<", -e), self.atom("<=", s)) for e, s in ((a, r), (-a, -r))]
        self.facts.append(disj(by_zero, conj(Not(zero), self.atom("==", a - r - q * b), smaller, *signs)))
        # What the solver would need products for: a number below the divisor is its own remainder,
        alone = disj(self._within(a, b), self._within(a, -b))
        self.facts.append(disj(Not(alone), conj(eq(q, 0), self.atom("==", r - a))))
        # and numbers of one sign that differ by a multiple of the divisor have one remainder.
        for over, under, _, other in self._divisions:
            if under is b and _is_multiple(a - over, b):
                one_sign = disj(
                    conj(self.atom("<=", -a), self.atom("<=", -over)), conj(self.atom("<=", a), self.atom("<=", over))
                )
                self.facts.append(disj(Not(one_sign), self.atom("==", r - other)))
        self._divisions.append((a, b, q, r))
        return q, r

    def _within(self, a: Expr, b: Expr) -> Formula:
        """-b < a < b."""
        return conj(self.atom("<", a - b), self.atom("<", -a - b))

    def _exponential(self, guard: tuple[Formula, ...], x: _Case) -> _Case:
        """exp of a sum is the product of exps; each of them is above 0."""
        if x.under is not Const(1):
            raise NotKnown
        over: Expr = Const(1)
        under: Expr = Const(1)
        for monomial, c in self._rooted(polynomial(x.over)).items():
            if abs(c) > LARGEST_EXPONENT:
                raise NotKnown
            e = self._exponentials.get(monomial)
            if e is None:
                e = self._exponentials[monomial] = self._made("e", known=True)
                self.facts.append(self.atom("<", -e))
            for _ in range(abs(c)):
                over, under = (_times(over, e), under) if c > 0 else (over, _times(under, e))
        return _Case(guard, over, under)

    def _root(self, guard: tuple[Formula, ...], x: _Case) -> Expr:
        if x.under is not Const(1):
            raise NotKnown
        self._defined(guard, self.atom("<=", -x.over))
        of = expression(polynomial(x.over))
        for name, other in self._roots.items():
            if other is of:
                return Var(name)
        root = self._made("s", known=True)
        assert isinstance(root, Var)
        self._roots[root.name] = of
        self.facts.append(self.atom("<=", -root))
        return root

    # Truths.

    def truth(self, term: Term) -> Formula:
        match term:
            case Num(Const(value)):
                return TRUE if value else FALSE
            case App("compare", (x, y), direction) if is_truth(x) or is_truth(y):
                return _ordered_truths(direction, self.truth(x), self.truth(y))
            case App("compare", (x, y), direction):
                return self._compared(direction, self.number(x), self.number(y))
            case App("not", (x,)):
                return Not(self.truth(x))
            case App("and", (x, y)):
                return conj(self.truth(x), self.truth(y))
            case App("or", (x, y)):
                return disj(self.truth(x), self.truth(y))
            case App("xor", (x, y)):
                p, q = self.truth(x), self.truth(y)
                return disj(conj(p, Not(q)), conj(Not(p), q))
            case App("select", (p, x, y)):
                test = self.truth(p)
                with self._where(test):
                    then = self.truth(x)
                with self._where(Not(test)):
                    otherwise = self.truth(y)
                return disj(conj(test, then), conj(Not(test), otherwise))
        return eq(Var(self._unknown(term, truth=True)), 1)

    def _compared(self, direction: str, left: list[_Case], right: list[_Case]) -> Formula:
        self.reorders = True  # comparisons of floats are not those of numbers where there is no number
        out: list[Formula] = []
        for x, y in product(left, right):
            op, turned = _ORDERS[direction]
            out.append(conj(*x.guard, *y.guard, self._ordered(op, y, x) if turned else self._ordered(op, x, y)))
        return disj(*out)

    # Unknowns.

    def _made(self, stem: str, known: bool) -> Expr:
        name = f"{stem}.{next(self.fresh)}"
        if known and stem != SHARED:
            self._names.add(name)
        return Var(name)

    def _alike(self, a: Term, b: Term) -> bool:
        """Whether the second is the first wherever that is defined. Operations of which nothing more is known here are
        alike by their operands only: to ask for them as numbers would be to ask this again."""
        if any(isinstance(t, App) and t.op in KNOWN and not is_truth(t) for t in (a, b)):
            if not (isinstance(a, App) and isinstance(b, App)) or a.op != b.op:
                return False
            return all(x == y or self.same(x, y) for x, y in zip(a.args, b.args, strict=True))
        return self.same(a, b)

    def _unknown(self, term: Term, truth: bool = False) -> str:
        for other, name, true in self._unknowns:
            if true is truth and (other == term or self._alike(other, term)):
                self._has_value(other, name)
                return name
        name = f"v.{next(self.fresh)}"
        self._has_value(term, name)
        if not truth:
            self._names.add(name)
        self._unknowns.append((term, name, truth))
        return name

    def _has_value(self, term: Term, name: str) -> None:
        """That an unknown has a value, where that is not so of all: on the left it may have one in a branch alone; on
        the right it is owed, and of what the left side does not have nothing says so."""
        if self.kind == "reals" and not is_total(term):
            self._defined((), eq(Var(f"has.{name}"), 1))


_EITHER_ORDER: Final = frozenset({"bitwise-and", "bitwise-or", "bitwise-xor"})
_ORDERS: Final[dict[str, tuple[Comparator, bool]]] = {
    "EQ": ("==", False),
    "NE": ("!=", False),
    "LT": ("<", False),
    "LE": ("<=", False),
    "GT": ("<", True),
    "GE": ("<=", True),
}


def _ordered_truths(direction: str, p: Formula, q: Formula) -> Formula:
    """false is less than true."""
    same = disj(conj(p, q), conj(Not(p), Not(q)))
    return {
        "EQ": same,
        "NE": Not(same),
        "LT": conj(Not(p), q),
        "LE": disj(Not(p), q),
        "GT": conj(p, Not(q)),
        "GE": disj(p, Not(q)),
    }[direction]


def _sum(guard: tuple[Formula, ...], x: _Case, y: _Case, sign: int) -> _Case:
    if x.under is y.under:
        return _Case(guard, x.over + y.over * sign, x.under)
    return _Case(guard, _times(x.over, y.under) + _times(y.over, x.under) * sign, _times(x.under, y.under))


def _times(a: Expr, b: Expr) -> Expr:
    return b if a is Const(1) else a if b is Const(1) else a * lift(b)


def _is_multiple(difference: Expr, b: Expr) -> bool:
    """Whether the difference is an integer times the polynomial `b`."""
    p, q = polynomial(difference), polynomial(b)
    if not p:
        return True
    if set(p) != set(q):
        return False
    first = next(iter(q))
    return p[first] % q[first] == 0 and all(p[m] * q[first] == q[m] * p[first] for m in q)
