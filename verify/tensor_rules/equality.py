"""Are two elements equal wherever the facts hold: cases, congruence, folds by their bijections.

Trusted. Every step is an equality of values: a case split, equal arguments under one operation, two ways to write a
sum. What reorders or rewrites arithmetic holds for integers without bounds and for real numbers, and is noted as such.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, permutations
from typing import Final

from hloproof.logic.formula import FALSE, TRUE, Formula, Not, atoms, conj, disj, eq, le, lt
from hloproof.models.expressions.expr import Const, Expr, Var, maximum, minimum
from hloproof.tensor_rules.digits import expression, polynomial
from hloproof.tensor_rules.facts import Facts
from hloproof.tensor_rules.terms import App, Cond, Elem, Fold, Num, Term, replaced

ORDERED: Final = frozenset({"add", "multiply", "maximum", "minimum", "and", "or"})
"""Operations that may be done in any order: as folds, and as functions of two operands."""
KNOWN: Final = frozenset(
    {
        "add",
        "subtract",
        "multiply",
        "negate",
        "abs",
        "maximum",
        "minimum",
        "clamp",
        "select",
        "compare",
        "and",
        "or",
        "xor",
        "not",
    }
)
_PERMUTED: Final = 5
"""Folds over more variables are compared in the given order only."""


@dataclass(frozen=True)
class Piece:
    """A fold's part: the body for all values of the variables. For sums `factors` are multiplied, times `scale`."""

    variables: tuple[tuple[str, Expr], ...]
    factors: tuple[Term, ...]
    scale: int = 1


@dataclass
class Equality:
    """`reorders` is set when arithmetic was used that floats do not obey bit for bit."""

    facts: Facts
    reorders: bool = False
    mismatch: tuple[Term, Term] | None = None
    _fresh: Iterator[int] = field(default_factory=count)

    def equal(self, left: Term, right: Term, given: Sequence[Formula]) -> bool:
        """Whether the elements are equal at every point where the given facts hold."""
        if left == right:
            return True
        for facts, a in self.cases(left, given):
            for more, b in self.cases(right, facts):
                if a != b and not self._plain(a, b, more) and not self.facts.contradict(more):
                    if self.mismatch is None:
                        self.mismatch = (a, b)
                    return False
        return True

    def cases(self, term: Term, given: Sequence[Formula]) -> Iterator[tuple[tuple[Formula, ...], Term]]:
        """The term without conditions outside of folds, for each way that the conditions can come out."""
        found = _condition(term)
        if found is None:
            yield tuple(given), term
            return
        test = found.test
        decided = self.facts.decides(given, test)
        if decided is not False:
            yield from self.cases(_chosen(term, test, True), given if decided else (*given, test))
        if decided is not True:
            yield from self.cases(_chosen(term, test, False), given if decided is False else (*given, Not(test)))

    # Terms without conditions.

    def _plain(self, a: Term, b: Term, given: Sequence[Formula]) -> bool:
        match a, b:
            case Elem(), Elem():
                return (
                    a.tensor == b.tensor
                    and len(a.at) == len(b.at)
                    and all(self.facts.equal(given, x, y) for x, y in zip(a.at, b.at, strict=True))
                )
            case Num(x), Num(y):
                return self.facts.equal(given, x, y)
            case App(), App() if a.op == b.op and a.key == b.key and len(a.args) == len(b.args):
                if all(self._plain_or_equal(x, y, given) for x, y in zip(a.args, b.args, strict=True)):
                    return True
        for op in ("add", "maximum", "minimum", "and", "or", "multiply"):
            if _folds(a, op) or _folds(b, op):
                return self._same_fold(op, a, b, given)
        if _known(a) or _known(b):
            return self._arithmetic(a, b, given)
        return False

    def _plain_or_equal(self, x: Term, y: Term, given: Sequence[Formula]) -> bool:
        return x == y or self._plain(x, y, given)

    def _arithmetic(self, a: Term, b: Term, given: Sequence[Formula]) -> bool:
        """Both as formulas over unknown values, equal values one unknown."""
        values = _Values(self, given)
        try:
            if _is_truth(a) or _is_truth(b):
                p, q = values.truth(a), values.truth(b)
                goal = disj(conj(p, q), conj(Not(p), Not(q)))
            else:
                goal = eq(values.number(a), values.number(b))
        except _NotKnown:
            return False
        self.reorders = self.reorders or values.reorders
        return self.facts.follows((*given, *values.facts), goal)

    # Folds.

    def _same_fold(self, op: str, a: Term, b: Term, given: Sequence[Formula]) -> bool:
        self.reorders = True
        left, right = self._pieces(op, a, given), self._pieces(op, b, given)
        return self._paired(op, left, right, given)

    def _paired(self, op: str, left: list[Piece], right: list[Piece], given: Sequence[Formula]) -> bool:
        left = [p for p in left if not self._is_empty(op, p, given)]
        right = [p for p in right if not self._is_empty(op, p, given)]
        if len(left) != len(right):
            return False
        if not left:
            return True
        first, rest = left[0], left[1:]
        for n, other in enumerate(right):
            if self._same_piece(op, first, other, given) and self._paired(op, rest, right[:n] + right[n + 1 :], given):
                return True
        return False

    def _is_empty(self, op: str, piece: Piece, given: Sequence[Formula]) -> bool:
        """Whether the piece is what `op` leaves everything unchanged with: nothing at all, or a zero in a sum."""
        if op == "add" and any(f == Num(Const(0)) for f in piece.factors):
            return True
        return any(isinstance(size, Const) and size.value == 0 for _, size in piece.variables) or any(
            self.facts.follows(given, le(size, 0)) for _, size in piece.variables
        )

    def _pieces(self, op: str, term: Term, given: Sequence[Formula]) -> list[Piece]:
        """The parts whose combination by `op` is the term; conditions on one variable of a fold split its range."""
        if isinstance(term, Fold) and term.op == op:
            out = [] if term.init is None else self._pieces(op, term.init, given)
            inside = (*given, *ranges(term.variables))
            for part in self._pieces(op, term.body, inside):
                out += self._split(op, self._without_units(self._renamed(term.variables, part), given), given)
            return out
        if op == "add":
            return self._summands(term, given)
        if isinstance(term, App) and term.op == op:
            return [p for a in term.args for p in self._pieces(op, a, given)]
        return [Piece((), (term,))]

    def _summands(self, term: Term, given: Sequence[Formula]) -> list[Piece]:
        match term:
            case App("add", args):
                return [p for a in args for p in self._pieces("add", a, given)]
            case App("subtract", (x, y)):
                return self._pieces("add", x, given) + [_scaled(p, -1) for p in self._pieces("add", y, given)]
            case App("negate", (x,)):
                return [_scaled(p, -1) for p in self._pieces("add", x, given)]
            case App("multiply", (x, y)):
                return [
                    self._product(p, q) for p in self._pieces("add", x, given) for q in self._pieces("add", y, given)
                ]
            case Num(Const(value)):
                return [Piece((), (), value)] if value else []
            case Cond(test, then, other):
                decided = self.facts.decides(given, test)
                if decided is not None:
                    return self._pieces("add", then if decided else other, given)
        return [Piece((), (term,))]

    def _product(self, p: Piece, q: Piece) -> Piece:
        """The product of two sums' parts: over all pairs of values."""
        q = self._fresh_names(q)
        return Piece((*p.variables, *q.variables), (*p.factors, *q.factors), p.scale * q.scale)

    def _fresh_names(self, p: Piece) -> Piece:
        names = {name: f"f.{next(self._fresh)}" for name, _ in p.variables}
        if not names:
            return p
        values = {old: Var(new) for old, new in names.items()}
        return Piece(
            tuple((names[n], size) for n, size in p.variables),
            tuple(replaced_all(f, values) for f in p.factors),
            p.scale,
        )

    def _renamed(self, variables: Sequence[tuple[str, Expr]], part: Piece) -> Piece:
        return Piece((*variables, *part.variables), part.factors, part.scale)

    def _without_units(self, p: Piece, given: Sequence[Formula]) -> Piece:
        """A variable that takes one value only is that value."""
        kept: list[tuple[str, Expr]] = []
        values: dict[str, Expr] = {}
        for name, size in p.variables:
            if self.facts.equal(given, size, Const(1)):
                values[name] = Const(0)
            else:
                kept.append((name, size))
        return Piece(tuple(kept), tuple(replaced_all(f, values) for f in p.factors), p.scale) if values else p

    def _split(self, op: str, p: Piece, given: Sequence[Formula]) -> list[Piece]:
        """A fold over [0, N) of what depends on `v < n` is one over [0, n) and one over [n, N)."""
        for k, (name, size) in enumerate(p.variables):
            for f in p.factors:
                found = _condition(f)
                if found is None:
                    continue
                inner = {n for n, _ in p.variables}
                cuts = [c for c in _thresholds(found.test, name) if not c.free & inner]
                cut = next((c for c in cuts if self._cuts(given, c, size)), None)
                if cut is None:
                    continue
                low = Piece((*p.variables[:k], (name, cut), *p.variables[k + 1 :]), p.factors, p.scale)
                shifted = tuple(_shifted(g, name, cut) for g in p.factors)
                high = Piece((*p.variables[:k], (name, size - cut), *p.variables[k + 1 :]), shifted, p.scale)
                out: list[Piece] = []
                for half in (low, high):
                    inside = (*given, *ranges(half.variables))
                    settled = [self._settled(g, inside) for g in half.factors]
                    product: list[Piece] = [Piece((), (), half.scale)]
                    for g in settled:
                        parts = self._pieces("add", g, inside) if op == "add" else [Piece((), (g,))]
                        product = [self._product(x, y) for x in product for y in parts]
                    out += [q for part in product for q in self._split(op, self._renamed(half.variables, part), given)]
                return out
        return [p]

    def _cuts(self, given: Sequence[Formula], cut: Expr, size: Expr) -> bool:
        """Whether the place lies in the range, and not known to be one of its ends."""
        if any(self.facts.equal(given, cut, end) for end in (Const(0), size)):
            return False
        return self.facts.follows(given, conj(le(0, cut), le(cut, size)))

    def _settled(self, term: Term, given: Sequence[Formula]) -> Term:
        """The term with conditions that are decided by the facts gone."""
        found = _condition(term)
        if found is None:
            return term
        decided = self.facts.decides(given, found.test)
        return term if decided is None else self._settled(_chosen(term, found.test, decided), given)

    def _same_piece(self, op: str, p: Piece, q: Piece, given: Sequence[Formula]) -> bool:
        if p.scale != q.scale:
            return False
        for mine, theirs in self._alignments(p, q, given):
            inside = (*given, *ranges(mine.variables))
            if self._same_factors(list(mine.factors), list(theirs.factors), inside):
                return True
        return False

    def _alignments(self, p: Piece, q: Piece, given: Sequence[Formula]) -> Iterator[tuple[Piece, Piece]]:
        """Both over the same variables: by a permutation, or where two variables are the digits of one."""
        if len(p.variables) == len(q.variables):
            orders = permutations(q.variables) if len(q.variables) <= _PERMUTED else iter([q.variables])
            for order in orders:
                pairs = list(zip(p.variables, order, strict=True))
                if all(self.facts.equal(given, x, y) for (_, x), (_, y) in pairs):
                    values = {theirs: Var(mine) for (mine, _), (theirs, _) in pairs}
                    yield p, Piece(p.variables, tuple(replaced_all(f, values) for f in q.factors), q.scale)
        elif len(p.variables) == len(q.variables) + 1:
            for mine in self._joined(p, q, given):
                yield from self._alignments(p, mine, given)
        elif len(q.variables) == len(p.variables) + 1:
            for theirs in self._joined(q, p, given):
                yield from self._alignments(theirs, q, given)

    def _joined(self, many: Piece, few: Piece, given: Sequence[Formula]) -> Iterator[Piece]:
        """`few` with one variable c taken apart into digits, c = a * size of b + b, where the sizes multiply so."""
        for k, (c, whole) in enumerate(few.variables):
            for _, high in many.variables:
                for _, low in many.variables:
                    if self.facts.equal(given, whole, high * low):
                        a, b = f"f.{next(self._fresh)}", f"f.{next(self._fresh)}"
                        values = {c: Var(a) * low + Var(b)}
                        variables = (*few.variables[:k], (a, high), (b, low), *few.variables[k + 1 :])
                        yield Piece(variables, tuple(replaced_all(f, values) for f in few.factors), few.scale)

    def _same_factors(self, mine: list[Term], theirs: list[Term], given: Sequence[Formula]) -> bool:
        if len(mine) != len(theirs):
            return False
        if not mine:
            return True
        for n, other in enumerate(theirs):
            if self.equal(mine[0], other, given) and self._same_factors(mine[1:], theirs[:n] + theirs[n + 1 :], given):
                return True
        return False


def ranges(variables: Sequence[tuple[str, Expr]]) -> tuple[Formula, ...]:
    """0 <= v < size for each."""
    return tuple(f for name, size in variables for f in (le(0, Var(name)), lt(Var(name), size)))


def replaced_all(term: Term, values: Mapping[str, Expr]) -> Term:
    return replaced(term, values) if values else term


def _scaled(p: Piece, by: int) -> Piece:
    return Piece(p.variables, p.factors, p.scale * by)


def _condition(term: Term) -> Cond | None:
    """The first condition outside of folds."""
    if isinstance(term, Cond):
        return term
    if isinstance(term, App):
        return next((found for a in term.args if (found := _condition(a)) is not None), None)
    return None


def _chosen(term: Term, test: Formula, holds: bool) -> Term:
    """The term where the test comes out so."""
    if isinstance(term, Cond):
        if term.test == test:
            return _chosen(term.then if holds else term.other, test, holds)
        return Cond(term.test, _chosen(term.then, test, holds), _chosen(term.other, test, holds))
    if isinstance(term, App):
        return App(term.op, tuple(_chosen(a, test, holds) for a in term.args), term.key)
    return term


def _thresholds(test: Formula, name: str) -> Iterator[Expr]:
    """Places n such that a comparison in the test comes out alike for all values of the variable on one side of n."""
    for atom in atoms(test):
        difference = polynomial(atom.lhs - atom.rhs)
        mine = ((name, Var(name)),)
        rest = {m: c for m, c in difference.items() if m != mine}
        if abs(difference.get(mine, 0)) != 1 or any(name in f.free for m in rest for _, f in m):
            continue
        sign = difference[mine]
        # sign * v + rest op 0: v = -sign * rest is where it changes, one further where equality still holds below.
        place = expression({m: -sign * c for m, c in rest.items()})
        yield place + 1 if (sign > 0) == (atom.op == "<=") else place


def _shifted(term: Term, name: str, by: Expr) -> Term:
    return replaced(term, {name: Var(name) + by})


def _folds(term: Term, op: str) -> bool:
    """Whether the term is a fold by `op`, or an arithmetic combination that holds one."""
    if isinstance(term, Fold):
        return term.op == op
    inside = {"add", "subtract", "multiply", "negate"} if op == "add" else {op}
    return isinstance(term, App) and term.op in inside and any(_folds(a, op) for a in term.args)


def _known(term: Term) -> bool:
    return isinstance(term, App) and term.op in KNOWN


def _is_truth(term: Term) -> bool:
    match term:
        case Elem():
            return term.pred
        case App(op, args):
            return op in ("compare", "and", "or", "xor", "not") or (op == "select" and _is_truth(args[1]))
        case Fold(op):
            return op in ("and", "or")
    return False


class _NotKnown(Exception):
    """The term has no meaning as a formula."""


class _Values:
    """Terms as expressions and formulas over unknowns: equal values are one unknown."""

    def __init__(self, owner: Equality, given: Sequence[Formula]) -> None:
        self.owner, self.given = owner, given
        self.facts: list[Formula] = []
        self.reorders = False
        self._unknowns: list[tuple[Term, str]] = []

    def number(self, term: Term) -> Expr:
        match term:
            case Num(value):
                return value
            case App(op, args) if op in KNOWN and not _is_truth(term):
                if op == "select":
                    return self._selected(args)
                parts = [self.number(a) for a in args]
                return self._combined(op, parts)
        return Var(self._unknown(term))

    def _combined(self, op: str, parts: list[Expr]) -> Expr:
        self.reorders = True
        match op, parts:
            case "add", [x, y]:
                return x + y
            case "subtract", [x, y]:
                return x - y
            case "multiply", [x, y]:
                return x * y
            case "negate", [x]:
                return -x
            case "abs", [x]:
                return maximum(x, -x)
            case "maximum", [x, y]:
                return maximum(x, y)
            case "minimum", [x, y]:
                return minimum(x, y)
            case "clamp", [low, x, high]:
                return minimum(maximum(x, low), high)
        raise _NotKnown

    def _selected(self, args: tuple[Term, ...]) -> Expr:
        test, then, other = self.truth(args[0]), self.number(args[1]), self.number(args[2])
        name = Var(f"v.{next(self.owner._fresh)}")
        self.facts.append(disj(conj(test, eq(name, then)), conj(Not(test), eq(name, other))))
        return name

    def truth(self, term: Term) -> Formula:
        match term:
            case Num(Const(value)):
                return TRUE if value else FALSE
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
                return disj(conj(test, self.truth(x)), conj(Not(test), self.truth(y)))
        return eq(Var(self._unknown(term)), 1)

    def _compared(self, direction: str, x: Expr, y: Expr) -> Formula:
        self.reorders = True  # comparisons of floats are not those of numbers where there is no number
        return {"EQ": eq(x, y), "NE": Not(eq(x, y)), "LT": lt(x, y), "LE": le(x, y), "GT": lt(y, x), "GE": le(y, x)}[
            direction
        ]

    def _unknown(self, term: Term) -> str:
        for other, name in self._unknowns:
            if other == term or self.owner._plain(term, other, self.given):
                return name
        name = f"v.{next(self.owner._fresh)}"
        self._unknowns.append((term, name))
        return name
