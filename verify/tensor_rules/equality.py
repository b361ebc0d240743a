"""Are two elements equal wherever the facts hold: cases, congruence, folds by their bijections.

Trusted. Every step is an equality of values: a case split, equal arguments under one operation, two ways to write a
sum. What reorders or rewrites arithmetic holds for integers without bounds and for real numbers, and is noted as such.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, permutations
from typing import Final

from hloproof.logic.formula import Compare, Formula, Not, conj, conjuncts, le, replace_variables
from hloproof.models.expressions.expr import Binary, Const, Expr, Var, substitute
from hloproof.models.tensor_rules.rule import NumberKind
from hloproof.tensor_rules.digits import divided_out, expression, multiple, polynomial, tidied
from hloproof.tensor_rules.facts import Facts
from hloproof.tensor_rules.laws import note
from hloproof.tensor_rules.pieces import (
    FoldPiece,
    alone,
    chosen,
    condition,
    holds_fold,
    is_known,
    ranges,
    replaced_all,
    scaled,
    shifted_by,
    thresholds,
)
from hloproof.tensor_rules.scalar_operations import holds_infinity, is_total
from hloproof.tensor_rules.terms import App, Cond, Elem, Fold, Num, Term, Tidy, replaced, variables_of
from hloproof.tensor_rules.values import NotKnown, Values

_PERMUTED: Final = 5
"""Folds over more variables are compared in the given order only."""


@dataclass
class TermEquality:
    """`reorders` is set when arithmetic was used that floats do not obey bit for bit."""

    facts: Facts
    kind: NumberKind = "reals"
    assumed: tuple[Term, ...] = ()
    """Truths that hold wherever the sides are compared."""
    reorders: bool = False
    mismatch: tuple[Term, Term] | None = None
    _on_the_right: bool = False
    """Whether parts of the right side are looked at: what is left out of them has to have a value, since 0 times what
    has none is none."""
    _fresh: Iterator[int] = field(default_factory=count)

    def equal(self, left: Term, right: Term, given: Sequence[Formula]) -> bool:
        """Whether the elements are equal at every point where the given facts hold."""
        if left == right:
            return True
        found = condition(left) or condition(right)
        if found is None:
            if self._plain(left, right, given) or self.facts.contradict(given):
                return True
            self.mismatch = self.mismatch or (left, right)
            return False
        test = found.test
        decided = self.facts.decides(given, test)
        for holds in (True, False):
            if decided is not None and decided is not holds:
                continue
            a, b = chosen(left, test, holds), chosen(right, test, holds)
            facts = tuple(given) if decided is holds else (*given, test if holds else Not(test))
            if holds and decided is None:
                a, b, facts = self._witnessed(test, a, b, facts)
            if not self.equal(a, b, facts):
                return False
        return True

    def _witnessed(
        self, test: Formula, a: Term, b: Term, given: tuple[Formula, ...]
    ) -> tuple[Term, Term, tuple[Formula, ...]]:
        """Where `e mod s == 0`, e is s times a new integer: put in for a variable that e has once, by itself."""
        for part in conjuncts(test):
            match part:
                case Compare("==", Binary("mod", e, s), Const(0)) if self.facts.is_positive(given, s):
                    of = polynomial(e)
                    name = next((n for n in alone(of) if n not in s.free), None)
                    if name is None:
                        continue
                    sign = of.pop(((name, Var(name)),))
                    whole = Var(f"w.{next(self._fresh)}")
                    value = expression(polynomial((s * whole - expression(of)) * sign))
                    note("taken apart", multiple(substitute(e, {name: value}), s, whole))
                    facts = tuple(replace_variables(f, {name: value}) for f in given)
                    tidy = self._tidy(facts, s)
                    x, y = (tidy.term(replaced(t, {name: value})) for t in (a, b))
                    return x, y, tuple(map(tidy.formula, facts))
        return a, b, given

    def _tidy(self, facts: tuple[Formula, ...], divisor: Expr) -> Tidy:
        """Quotients, remainders and comparisons with positive factors left out, as far as the facts say so."""

        def is_positive(e: Expr) -> bool:
            return self.facts.is_positive(facts, e)

        return Tidy(
            lambda e: tidied(self.facts.settled(facts, e, False), is_positive),
            lambda e: divided_out(e, (divisor,), is_positive),
            lambda e: divided_out(e, (divisor,), is_positive) if () not in polynomial(e) else e,
        )

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
            if holds_fold(a, op) or holds_fold(b, op):
                return self._same_fold(op, a, b, given)
        if is_known(a) or is_known(b):
            return self._arithmetic(a, b, given)
        return False

    def _plain_or_equal(self, x: Term, y: Term, given: Sequence[Formula]) -> bool:
        return x == y or self._plain(x, y, given)

    def _arithmetic(self, a: Term, b: Term, given: Sequence[Formula]) -> bool:
        """Both as numbers, or as truths, over unknown values."""
        values = Values(lambda x, y: self._plain(x, y, given), self.kind, self._fresh)
        try:
            for term in self.assumed:
                values.facts.append(values.truth(term))
            goal = values.equal(a, b)
        except NotKnown:
            return False
        self.reorders = self.reorders or values.reorders
        return self.facts.follows((*given, *values.facts), goal)

    def contradicted(self, given: Sequence[Formula]) -> bool:
        """Whether what is assumed of elements can never hold."""
        values = Values(lambda x, y: self._plain(x, y, given), self.kind, self._fresh)
        try:
            held = [values.truth(term) for term in self.assumed]
        except NotKnown:
            return False
        return self.facts.contradict((*given, *values.facts, *held))

    # Folds.

    def _same_fold(self, op: str, a: Term, b: Term, given: Sequence[Formula]) -> bool:
        """Raises nothing: what may lose its value on the way, and sums with infinities, are not taken apart."""
        if op in ("add", "multiply") and (holds_infinity(a) or holds_infinity(b)):
            return False
        before = self._on_the_right
        try:
            left = self._pieces(op, a, given)
            self._on_the_right = True
            right = self._pieces(op, b, given)
            right = [p for p in right if not self._is_empty(op, p, given)]
        except NotKnown:
            return False
        finally:
            self._on_the_right = before
        self.reorders = True
        return self._paired(op, [p for p in left if not self._is_empty(op, p, given)], right, given)

    def _needs_value(self, terms: Sequence[Term]) -> None:
        """Raises NotKnown for a part of the right side that is left out, and may have no value."""
        if self._on_the_right and self.kind == "reals" and not all(map(is_total, terms)):
            raise NotKnown

    def _not_empty(self, variables: Sequence[tuple[str, Expr]], given: Sequence[Formula]) -> bool:
        return all(self.facts.follows(given, le(1, size)) for _, size in variables)

    def _paired(self, op: str, left: list[FoldPiece], right: list[FoldPiece], given: Sequence[Formula]) -> bool:
        if len(left) != len(right):
            return False
        if not left:
            return True
        first, rest = left[0], left[1:]
        for n, other in enumerate(right):
            if self._same_piece(op, first, other, given) and self._paired(op, rest, right[:n] + right[n + 1 :], given):
                return True
        return False

    def _is_empty(self, op: str, piece: FoldPiece, given: Sequence[Formula]) -> bool:
        """Whether the piece is what `op` leaves everything unchanged with: nothing at all, or a zero in a sum."""
        if op == "add" and any(f == Num(Const(0)) for f in piece.factors):
            self._needs_value(piece.factors)
            return True
        return any(isinstance(size, Const) and size.value == 0 for _, size in piece.variables) or any(
            self.facts.follows(given, le(size, 0)) for _, size in piece.variables
        )

    def _pieces(self, op: str, term: Term, given: Sequence[Formula]) -> list[FoldPiece]:
        """The parts whose combination by `op` is the term; conditions on one variable of a fold split its range."""
        if isinstance(term, Fold) and term.op == op:
            out = [] if term.init is None else self._pieces(op, term.init, given)
            inside = (*given, *ranges(term.variables))
            for part in self._pieces(op, term.body, inside):
                if any(size.free & {name for name, _ in term.variables} for _, size in part.variables):
                    raise NotKnown  # a range that was cut where another begins: pieces are over ranges of their own
                part = self._without_units(self._renamed(term.variables, part), given)
                out += self._split(op, self._without_idle(op, part, given), given)
            return out
        if op == "add":
            return self._summands(term, given)
        if isinstance(term, App) and term.op == op:
            return [p for a in term.args for p in self._pieces(op, a, given)]
        return [FoldPiece((), (term,))]

    def _summands(self, term: Term, given: Sequence[Formula]) -> list[FoldPiece]:
        match term:
            case App("add", args):
                return [p for a in args for p in self._pieces("add", a, given)]
            case App("subtract", (x, y)):
                return self._pieces("add", x, given) + [scaled(p, -1) for p in self._pieces("add", y, given)]
            case App("negate", (x,)):
                return [scaled(p, -1) for p in self._pieces("add", x, given)]
            case App("multiply", (x, y)):
                left, right = self._pieces("add", x, given), self._pieces("add", y, given)
                for sum_of, other in ((left, y), (right, x)):
                    if not sum_of or not all(self._not_empty(p.variables, given) for p in sum_of):
                        self._needs_value((other,))
                return [self._product(p, q) for p in left for q in right]
            case Num(Const(value)):
                return [FoldPiece((), (), value)] if value else []
            case Cond(test, then, other):
                decided = self.facts.decides(given, test)
                if decided is not None:
                    return self._pieces("add", then if decided else other, given)
        return [FoldPiece((), (term,))]

    def _product(self, p: FoldPiece, q: FoldPiece) -> FoldPiece:
        """The product of two sums' parts: over all pairs of values."""
        q = self._fresh_names(q)
        return FoldPiece((*p.variables, *q.variables), (*p.factors, *q.factors), p.scale * q.scale)

    def _fresh_names(self, p: FoldPiece) -> FoldPiece:
        names = {name: f"f.{next(self._fresh)}" for name, _ in p.variables}
        if not names:
            return p
        values = {old: Var(new) for old, new in names.items()}
        return FoldPiece(
            tuple((names[n], size) for n, size in p.variables),
            tuple(replaced_all(f, values) for f in p.factors),
            p.scale,
        )

    def _renamed(self, variables: Sequence[tuple[str, Expr]], part: FoldPiece) -> FoldPiece:
        return FoldPiece((*variables, *part.variables), part.factors, part.scale)

    def _without_units(self, p: FoldPiece, given: Sequence[Formula]) -> FoldPiece:
        """A variable that takes one value only is that value."""
        kept: list[tuple[str, Expr]] = []
        values: dict[str, Expr] = {}
        for name, size in p.variables:
            if self.facts.equal(given, size, Const(1)):
                values[name] = Const(0)
            else:
                kept.append((name, size))
        return FoldPiece(tuple(kept), tuple(replaced_all(f, values) for f in p.factors), p.scale) if values else p

    def _without_idle(self, op: str, p: FoldPiece, given: Sequence[Formula]) -> FoldPiece:
        """A variable on which nothing depends: its size is a factor of a sum, and nothing to what may be repeated."""
        if op == "multiply":
            return p
        kept: list[tuple[str, Expr]] = []
        factors = list(p.factors)
        for name, size in p.variables:
            if any(name in variables_of(f) for f in p.factors):
                kept.append((name, size))
            elif op == "add" and self.facts.follows(given, le(0, size)) and self._countable(p, size, given):
                factors.append(Num(size))
            elif op == "add" or not self.facts.follows(given, le(1, size)):
                kept.append((name, size))
        return FoldPiece(tuple(kept), tuple(factors), p.scale)

    def _countable(self, p: FoldPiece, size: Expr, given: Sequence[Formula]) -> bool:
        """Whether the sum over the size is the size times what is summed: none at all of what has no value is 0."""
        return self.kind == "integers" or all(map(is_total, p.factors)) or self.facts.follows(given, le(1, size))

    def _split(self, op: str, p: FoldPiece, given: Sequence[Formula]) -> list[FoldPiece]:
        """A fold over [0, N) of what depends on `v < n` is one over [0, n) and one over [n, N)."""
        for k, (name, size) in enumerate(p.variables):
            for f in p.factors:
                found = condition(f)
                if found is None:
                    continue
                strided = self._strided(op, p, k, found.test, given)
                if strided is not None:
                    return self._split(op, strided, given)
                inner = {n for n, _ in p.variables}
                cuts = [c for c in thresholds(found.test, name) if not c.free & inner]
                cut = next((c for c in cuts if self._cuts(given, c, size)), None)
                if cut is None:
                    continue
                low = FoldPiece((*p.variables[:k], (name, cut), *p.variables[k + 1 :]), p.factors, p.scale)
                shifted = tuple(shifted_by(g, name, cut) for g in p.factors)
                high = FoldPiece((*p.variables[:k], (name, size - cut), *p.variables[k + 1 :]), shifted, p.scale)
                out: list[FoldPiece] = []
                for half in (low, high):
                    inside = (*given, *ranges(half.variables))
                    settled = [self._settled(g, inside) for g in half.factors]
                    product: list[FoldPiece] = [FoldPiece((), (), half.scale)]
                    for g in settled:
                        parts = self._pieces("add", g, inside) if op == "add" else [FoldPiece((), (g,))]
                        if not parts:
                            self._needs_value(settled)
                        product = [self._product(x, y) for x in product for y in parts]
                    out += [q for part in product for q in self._split(op, self._renamed(half.variables, part), given)]
                return out
        return [p]

    def _strided(self, op: str, p: FoldPiece, k: int, test: Formula, given: Sequence[Formula]) -> FoldPiece | None:
        """A sum over [0, N) of what is 0 unless `v mod s == 0` is one over the multiples v = s * u."""
        name, size = p.variables[k]
        inside = (*given, *ranges(p.variables))
        for part in conjuncts(test):
            match part:
                case Compare("==", Binary("mod", Var() as v, s), Const(0)) if op == "add" and v.name == name:
                    if not self.facts.is_positive(given, s):  # facts of whoever asks: of sizes, not of p's variables
                        continue
                    elsewhere = [self._settled(g, (*inside, Not(part))) for g in p.factors]
                    if not any(g == Num(Const(0)) for g in elsewhere):
                        continue
                    self._needs_value(elsewhere)
                    note("taken apart")
                    note("multiples")
                    count = self.facts.settled(given, size.ceildiv(s))
                    variables = (*p.variables[:k], (name, count), *p.variables[k + 1 :])
                    now = (*given, *ranges(variables))
                    tidy = self._tidy(now, s)
                    factors = [tidy.term(replaced(g, {name: v * s})) for g in p.factors]
                    return FoldPiece(variables, tuple(self._settled(g, now) for g in factors), p.scale)
        return None

    def _cuts(self, given: Sequence[Formula], cut: Expr, size: Expr) -> bool:
        """Whether the place lies in the range, and not known to be one of its ends."""
        if any(self.facts.equal(given, cut, end) for end in (Const(0), size)):
            return False
        return self.facts.follows(given, conj(le(0, cut), le(cut, size)))

    def _settled(self, term: Term, given: Sequence[Formula]) -> Term:
        """The term with conditions that are decided by the facts gone."""
        found = condition(term)
        if found is None:
            return term
        decided = self.facts.decides(given, found.test)
        return term if decided is None else self._settled(chosen(term, found.test, decided), given)

    def _same_piece(self, op: str, p: FoldPiece, q: FoldPiece, given: Sequence[Formula]) -> bool:
        if p.scale != q.scale:
            return False
        for mine, theirs in self._alignments(p, q, given):
            inside = (*given, *ranges(mine.variables))
            if self._same_factors(list(mine.factors), list(theirs.factors), inside):
                return True
        return False

    def _alignments(
        self, p: FoldPiece, q: FoldPiece, given: Sequence[Formula]
    ) -> Iterator[tuple[FoldPiece, FoldPiece]]:
        """Both over the same variables: by a permutation, or where two variables are the digits of one."""
        if len(p.variables) == len(q.variables):
            orders = permutations(q.variables) if len(q.variables) <= _PERMUTED else iter([q.variables])
            for order in orders:
                pairs = list(zip(p.variables, order, strict=True))
                if all(self.facts.equal(given, x, y) for (_, x), (_, y) in pairs):
                    values = {theirs: Var(mine) for (mine, _), (theirs, _) in pairs}
                    yield p, FoldPiece(p.variables, tuple(replaced_all(f, values) for f in q.factors), q.scale)
        elif len(p.variables) == len(q.variables) + 1:
            for mine in self._joined(p, q, given):
                yield from self._alignments(p, mine, given)
        elif len(q.variables) == len(p.variables) + 1:
            for theirs in self._joined(q, p, given):
                yield from self._alignments(theirs, q, given)

    def _joined(self, many: FoldPiece, few: FoldPiece, given: Sequence[Formula]) -> Iterator[FoldPiece]:
        """`few` with one variable c taken apart into digits, c = a * size of b + b, where the sizes multiply so."""
        for k, (c, whole) in enumerate(few.variables):
            for _, high in many.variables:
                for _, low in many.variables:
                    if self.facts.equal(given, whole, high * low):
                        a, b = f"f.{next(self._fresh)}", f"f.{next(self._fresh)}"
                        values = {c: Var(a) * low + Var(b)}
                        variables = (*few.variables[:k], (a, high), (b, low), *few.variables[k + 1 :])
                        yield FoldPiece(variables, tuple(replaced_all(f, values) for f in few.factors), few.scale)

    def _same_factors(self, mine: list[Term], theirs: list[Term], given: Sequence[Formula]) -> bool:
        if len(mine) != len(theirs):
            return False
        if not mine:
            return True
        for n, other in enumerate(theirs):
            if self.equal(mine[0], other, given) and self._same_factors(mine[1:], theirs[:n] + theirs[n + 1 :], given):
                return True
        return False
