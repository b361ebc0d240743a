"""Goals: two terms to be shown equal for all values of their variables, under facts; and terms brought to a head.

Trusted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import gcd

from hloproof.equivalence.elements import ELEMENTWISE, FOLDS, may_be_empty, unfold
from hloproof.equivalence.evaluation import evaluate, integer
from hloproof.equivalence.indices import Digit, Lin, Var, variable
from hloproof.equivalence.terms import (
    App,
    Cond,
    Elem,
    Fold,
    Lit,
    Num,
    Term,
    TermSubstitution,
    is_static,
    type_of,
    value_form,
    values_in,
)
from hloproof.models.interpreter.semantics.element_type import INTEGERS, highest, lowest

DEEPEST = 24
"""Operations on integers that are written out inside one another."""
KnownForms = tuple[Lin, ...]
"""Forms known to be at least 0."""


@dataclass(frozen=True, slots=True)
class Goal:
    """left = right wherever all facts hold. Variables run over their boxes; their places lie below `next`."""

    next: int
    facts: KnownForms
    left: Term
    right: Term
    exact: bool = False
    """Owed bit for bit, whatever tier is asked for: somebody reads the bits, of which equal real numbers have several
    (those of 0 and -0.0, or of a sum that is rounded otherwise)."""

    def about(self, left: Term, right: Term, next_: int | None = None) -> Goal:
        """The goal that these are equal under the same facts, as exactly."""
        return Goal(self.next if next_ is None else next_, self.facts, left, right, self.exact)


def holds(form: Lin, facts: KnownForms) -> bool | None:
    """Whether form >= 0 follows, or its contrary does, from one fact or from two together; None where neither is seen.

    A fact that shares no atom with the others can only make a bound worse, so it is passed over.
    """
    if form.lo >= 0:
        return True
    if form.hi < 0:
        return False
    near = [f for f in facts if not form.terms.keys().isdisjoint(f.terms)]
    if not near:
        return None
    # Over the integers the contrary of form >= 0.
    contrary = -form - 1
    for fact in near:
        if _least(form, fact) >= 0:
            return True
        if _least(contrary, fact) >= 0:
            return False
    for fact in near:
        for other in facts:
            if other is fact or (
                form.terms.keys().isdisjoint(other.terms) and fact.terms.keys().isdisjoint(other.terms)
            ):
                continue
            if _least(form, fact, other) >= 0:
                return True
            if _least(contrary, fact, other) >= 0:
                return False
    return None


def _least(form: Lin, *facts: Lin) -> int:
    """A lower bound of the form less the facts."""
    terms = dict(form.terms)
    out = form.constant
    for fact in facts:
        # The facts are at least 0, so that the form is at least what is left without them; and that is bounded by its
        # atoms.
        out -= fact.constant
        for atom, c in fact.terms.items():
            terms[atom] = terms.get(atom, 0) - c
    for atom, c in terms.items():
        if c:
            out += c * (atom.lo if c > 0 else atom.hi)
    return out


@dataclass
class Terms:
    """Brings terms to a head, and remembers."""

    settled: dict[tuple[Term, KnownForms], Term] = field(default_factory=dict)
    read: dict[Term, Lin] = field(default_factory=dict)

    def settle(self, term: Term, facts: KnownForms) -> Term:
        """Follows movement, evaluates what is static and decides cases, until the head is an element of an operation
        that computes or is opaque, a number, an undecided case, a fold, or an elementwise operation."""
        key = (term, facts)
        found = self.settled.get(key)
        if found is None:
            found = self.settled[key] = self._settle(term, facts)
        return found

    def _settle(self, term: Term, facts: KnownForms) -> Term:
        while True:
            match term:
                case Elem(node, at):
                    if not node.static and (node.head in ELEMENTWISE or node.head in FOLDS):
                        if node.head == "select" and node.operands[0].static:
                            term = self.opened(term, 0)
                            continue
                        if node.head == "convert" and node.type == node.operands[0].type:
                            term = Elem(node.operands[0], at)
                            continue
                        opened = self.opened(term, 0) if may_be_empty(node) else term
                        if isinstance(opened, Fold) or opened == term:
                            return term
                        term = opened
                        continue
                    found = unfold(node, self.known(at), 0)
                    if found is None:
                        return Elem(node, self.known(at))
                    term = found
                case Cond(test, then, other):
                    test = self.known((test,))[0]
                    decided = holds(test, facts)
                    if decided is None:
                        return Cond(test, then, other)
                    term = then if decided else other
                case App(op, type_, args, key):
                    moved = self._applied(op, type_, args, key, facts)
                    if moved is None:
                        return term
                    term = moved
                case _:
                    return term

    def opened(self, term: Term, place: int) -> Term:
        """An element of a computing operation in terms of its operands; anything else as it is."""
        if isinstance(term, Elem):
            found = unfold(term.node, term.at, place)
            return term if found is None else found
        return term

    def known(self, at: tuple[Lin, ...]) -> tuple[Lin, ...]:
        """Forms with the values of static terms put in, and terms of other values settled, so that equal ones meet."""
        if not any(values_in(x) for x in at):
            return at
        values: dict[Term, Lin] = {}
        for x in at:
            for value in values_in(x):
                values[value.term] = self.form_of(value.term)
        substitute = TermSubstitution({}, values).forms
        return tuple(substitute(x) for x in at)

    def form_of(self, term: Term, depth: int = 0) -> Lin:
        """The value of a term of an integer type as a form: integer arithmetic is written out where it cannot leave the
        type, so that clamped and shifted starts meet."""
        form = self.read.get(term)
        if form is None:
            form = self._form_of(self.settle(term, ()), depth)
            # What was cut off by the depth of another term is not remembered as this one's form.
            if not depth:
                self.read[term] = form
        return form

    def _form_of(self, head: Term, depth: int) -> Lin:
        opened = self.opened(head, 0) if depth < DEEPEST and type_of(head) in INTEGERS else head
        if isinstance(opened, App) and all(type_of(a) in INTEGERS for a in opened.args):
            forms = [self.form_of(a, depth + 1) for a in opened.args]
            found = forms[0] if opened.op == "convert" else integer(opened.op, opened.type, forms)
            # What may wrap round is no form.
            if found is not None and lowest(opened.type) <= found.lo and found.hi <= highest(opened.type):
                return found
        return value_form(head)

    def _applied(self, op: str, type_: str, args: tuple[Term, ...], key: object, facts: KnownForms) -> Term | None:
        """One step of an elementwise operation with a static operand; None when there is none."""
        if op == "select" and is_static(args[0]):
            chosen = self.settle(args[0], facts)
            if isinstance(chosen, Lit):
                return args[1] if chosen.bits else args[2]
            if isinstance(chosen, Cond):
                return _through(chosen, lambda p: App("select", type_, (p, *args[1:]), key))
            return None
        if not all(is_static(a) for a in args):
            return None
        heads = tuple(self.settle(a, facts) for a in args)
        for k, head in enumerate(heads):
            if isinstance(head, Cond):
                before, after = heads[:k], heads[k + 1 :]
                then, other = (App(op, type_, (*before, p, *after), key) for p in (head.then, head.other))
                return Cond(head.test, then, other)
        numbers = tuple(h for h in heads if isinstance(h, Num | Lit))
        return evaluate(op, type_, numbers, key) if len(numbers) == len(heads) else None


def _through(cond: Cond, make: Callable[[Term], Term]) -> Cond:
    return Cond(cond.test, make(cond.then), make(cond.other))


def assume(goal: Goal, form: Lin) -> Goal | None:
    """The goal where also form >= 0 holds; None where that is impossible. A bound of one variable shrinks its box."""
    decided = holds(form, goal.facts)
    if decided is not None:
        return goal if decided else None
    form = _reduced(form)
    if len(form.terms) == 1:
        ((atom, c),) = form.terms.items()
        if isinstance(atom, Digit) and atom.modulus == 0:
            if c > 0:  # of // a >= m
                return assume(goal, atom.of - -(form.constant // c) * atom.divisor)
            # of // a <= m is of <= (m + 1) * a - 1
            return assume(goal, (form.constant // -c + 1) * atom.divisor - 1 - atom.of)
        if isinstance(atom, Var):
            low = max(0, -(form.constant // c)) if c > 0 else 0
            high = atom.size - 1 if c > 0 else min(atom.size - 1, form.constant // -c)
            if low > high:
                return None
            return replaced(goal, {atom.place: variable(atom.place, high - low + 1) + low}, goal.next)
    return Goal(goal.next, (*goal.facts, form), goal.left, goal.right, goal.exact)


def _reduced(form: Lin) -> Lin:
    """The same condition with coprime coefficients."""
    # The constant is rounded down, as the form is at least 0 at integers only.
    g = gcd(*form.terms.values())
    return Lin(form.constant // g, {a: c // g for a, c in form.terms.items()}) if g > 1 else form


def replaced(goal: Goal, by_place: dict[int, Lin], next_: int) -> Goal | None:
    """The goal with forms for variables; None when a fact fails everywhere."""
    substitute = TermSubstitution(by_place)
    facts: list[Lin] = []
    for fact in goal.facts:
        new = substitute.forms(fact)
        if new.hi < 0:
            return None
        if new.lo < 0:
            facts.append(new)
    return Goal(next_, tuple(facts), substitute(goal.left), substitute(goal.right), goal.exact)
