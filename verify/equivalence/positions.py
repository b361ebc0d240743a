"""The step `positions`: sums by the positions that they read, so that partial and windowed sums can be compared.

Trusted. Holds for operations that associate and commute, folded from a neutral value. A fold, a fold of folds, and
several of them joined by the operation become one fold over all positions of the tensor that is read: a position
contributes where a part reads it, and the neutral value elsewhere. Two such folds are equal where they are so at each
position.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hloproof.equivalence.goals import Goal, assume
from hloproof.equivalence.indices import ZERO, Lin, Var, constant, variable
from hloproof.equivalence.kernel import Denied, Rules, owed_beside
from hloproof.equivalence.reductions import associates, combiner, is_neutral
from hloproof.equivalence.terms import App, Cond, Elem, Fold, Num, Term, TermSubstitution, type_of, variables_of

MOST_PARTS = 16
MOST_VARIABLES = 8
MOST_STEPS = 400


@dataclass(frozen=True)
class _Part:
    """The fold of `body` over the box of `sizes`, whose variables stand at the places from that of the goal on."""

    sizes: tuple[int, ...]
    body: Term


@dataclass
class _Sums:
    """Takes one goal apart; `op` is the operation, `neutral` the value that changes nothing."""

    rules: Rules
    goal: Goal
    op: str
    type: str
    neutral: Term
    steps: int = 0
    met: list[Term] = field(default_factory=list)
    """The sums that are taken apart, within one another too."""

    def parts(self, term: Term) -> list[_Part]:
        """The summands of a term, each a fold, an element or another term."""
        head = self.opened(term, self.goal.next)
        if isinstance(head, App) and head.op == self.op and head.type == self.type:
            self.met.append(head)
            out = [p for a in head.args for p in self.parts(a)]
            if len(out) > MOST_PARTS:
                raise Denied("too many parts")
            return out
        found = self.spread(term, self.goal.next)
        return [] if found is None else [found]

    def opened(self, term: Term, place: int) -> Term:
        return self.rules.terms.opened(self.rules.terms.settle(term, self.goal.facts), place)

    def spread(self, term: Term, place: int) -> _Part | None:
        """Folds of guarded folds as one; None for the neutral value."""
        head = self.opened(term, place)
        self.steps += 1
        if self.steps > MOST_STEPS or place - self.goal.next > MOST_VARIABLES:
            raise Denied("too many folds")
        if isinstance(head, Cond):
            then, other = self.spread(head.then, place), self.spread(head.other, place)
            if then is None and other is None:
                return None
            sizes = (then or other or _Part((), head)).sizes
            if then is not None and other is not None and then.sizes != other.sizes:
                raise Denied("cases of two boxes")
            bodies = (p.body if p is not None else self.neutral for p in (then, other))
            return _Part(sizes, Cond(head.test, *bodies))
        if isinstance(head, Fold) and combiner(head) == self.op and head.head[0] == "reduce" and head.type == self.type:
            if not is_neutral(self.op, self.type, self.rules.terms.settle(head.sides[0], self.goal.facts)):
                raise Denied("a fold from another value")
            self.met.append(head)
            moved = {head.place + k: variable(place + k, n) for k, n in enumerate(head.sizes)}
            inner = self.spread(TermSubstitution(moved)(head.bodies[0]), place + len(head.sizes))
            return None if inner is None else _Part(head.sizes + inner.sizes, inner.body)
        if head == self.neutral:
            return None
        return _Part((), self.rules.terms.settle(term, self.goal.facts))

    def read(self, part: _Part) -> Elem:
        """The element that a part is about, whose index says what its positions are."""
        own = self.places(part)
        stack = [part.body]
        found: Elem | None = None
        seen: set[Term] = set()
        while stack:
            term = self.rules.terms.settle(stack.pop(), self.goal.facts)
            if term in seen:
                continue
            seen.add(term)
            if isinstance(term, Elem):
                if own & {v.place for x in term.at for v in variables_of(Num("s32", x))}:
                    return term
                found = found or term
            elif isinstance(term, Cond):
                stack += [term.other, term.then]
            elif isinstance(term, App):
                stack += reversed(term.args)
        if found is None:
            raise Denied("no element is read")
        return found

    def places(self, part: _Part) -> set[int]:
        # A variable over one value is 0 wherever it stands.
        return {self.goal.next + k for k, n in enumerate(part.sizes) if n > 1}


def positions(rules: Rules, goal: Goal) -> list[Goal]:
    """Two sums of parts, compared position by position."""
    op, type_, neutral = _operation(rules, goal)
    sums = _Sums(rules, goal, op, type_, neutral)
    sides = [sums.parts(goal.left), sums.parts(goal.right)]
    first = next((p for side in sides for p in side if sums.places(p)), None)
    if first is None:
        raise Denied("nothing is folded")
    shape, dimensions = _dimensions(sums, first)
    associates(rules, op, type_, *sums.met)
    together = _Together(op, neutral)
    goals: list[Goal] = []
    bodies: list[Term] = []
    for number, side in enumerate(sides):
        terms: list[Term] = []
        for part in side:
            body, owed = _by_position(sums, number, part, shape, dimensions)
            terms.append(body)
            goals += owed
        out = neutral
        for term in terms:
            out = together(out, term)
        bodies.append(out)
    return [*goals, goal.about(bodies[0], bodies[1], goal.next + len(dimensions))]


@dataclass
class _Together:
    """Both contributions, case by case: beside the neutral value each is itself."""

    op: str
    neutral: Term
    done: dict[tuple[Term, Term], Term] = field(default_factory=dict)

    def __call__(self, a: Term, b: Term) -> Term:
        if a == self.neutral:
            return b
        if b == self.neutral:
            return a
        found = self.done.get((a, b))
        if found is None:
            if len(self.done) > MOST_STEPS:
                raise Denied("too many cases")
            if isinstance(a, Cond):
                found = Cond(a.test, self(a.then, b), self(a.other, b))
            elif isinstance(b, Cond):
                found = Cond(b.test, self(a, b.then), self(a, b.other))
            else:
                found = App(self.op, type_of(a), (a, b))
            self.done[a, b] = found
        return found


def _operation(rules: Rules, goal: Goal) -> tuple[str, str, Term]:
    """The operation of the first fold on either side, its type and its neutral value."""
    for term in (goal.left, goal.right):
        head = rules.terms.opened(rules.terms.settle(term, goal.facts), goal.next)
        for _ in range(MOST_PARTS):
            if not isinstance(head, App) or not head.args:
                break
            head = rules.terms.opened(rules.terms.settle(head.args[0], goal.facts), goal.next)
        if isinstance(head, Fold) and head.head[0] == "reduce":
            op = combiner(head)
            initial = rules.terms.settle(head.sides[0], goal.facts)
            if op is not None and is_neutral(op, head.type, initial) and type_of(goal.left) == head.type:
                return op, head.type, initial
    raise Denied("not a fold from a neutral value")


def _dimensions(sums: _Sums, part: _Part) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The sizes of the tensor that is read, and its dimensions along which it is folded."""
    element = sums.read(part)
    own = sums.places(part)
    along = [k for k, x in enumerate(element.at) if own & {v.place for v in variables_of(Num("s32", x))}]
    return element.node.sizes, tuple(along)


def _by_position(
    sums: _Sums, side: int, part: _Part, shape: tuple[int, ...], dimensions: tuple[int, ...]
) -> tuple[Term, list[Goal]]:
    """What the part of a side contributes at the position whose variables stand at the places from that of the goal on;
    and that it contributes nothing at what would lie outside of the tensor."""
    goal = sums.goal
    element = sums.read(part)
    if element.node.sizes != shape or any(n < 1 for n in shape):
        raise Denied("tensors of two shapes")
    at_position = [variable(goal.next + k, shape[d]) for k, d in enumerate(dimensions)]
    places = sums.places(part)
    solved: dict[int, Lin] = {}
    tests: list[Lin] = []
    goals: list[Goal] = []
    inside = goal.next + len(part.sizes)
    for position, d in zip(at_position, dimensions, strict=True):
        mine, rest = _taken_apart(element.at[d], places)
        moved = position - rest
        stride = 1
        for n, (atom, c) in enumerate(mine):
            # Coefficients 1, n1, n1 * n2, ... make the variables digits of the position: each position is met once, and
            # the variables follow from it.
            if c != stride or atom.place in solved:
                raise Denied("positions that are not counted one by one")
            digit = moved // stride
            if n + 1 < len(mine):
                digit = digit % atom.size
            else:
                # The highest digit has no modulus: beyond its size the part has no such point.
                tests += [digit, constant(atom.size - 1) - digit]
            solved[atom.place] = digit
            stride *= atom.size
        if not mine:
            tests += [moved, -moved]
        # The fold that comes out runs over the positions of the tensor, so that nothing may be added at others.
        for outside in (-element.at[d] - 1, element.at[d] - shape[d]):
            owed = assume(owed_beside(goal, side, part.body, sums.neutral, inside), outside)
            if owed is not None:
                goals.append(owed)
    # A variable in no index: each position would be added as often as it has values.
    if set(solved) != places:
        raise Denied("elements that are read several times")
    for k, n in enumerate(part.sizes):
        if n == 1:
            solved[goal.next + k] = ZERO
    if any(n < 1 for n in part.sizes):
        raise Denied("an empty fold")
    body = TermSubstitution(solved)(part.body)
    for test in reversed(tests):
        body = Cond(test, body, sums.neutral)
    return body, goals


def _taken_apart(form: Lin, places: set[int]) -> tuple[list[tuple[Var, int]], Lin]:
    """The fold's variables in an index with their coefficients, ascending, and the rest, in which there are none."""
    mine: list[tuple[Var, int]] = []
    rest = form
    for atom, c in form.terms.items():
        if isinstance(atom, Var) and atom.place in places:
            mine.append((atom, c))
            rest = rest - Lin(0, {atom: c})
    if any(v.place in places for v in variables_of(Num("s32", rest))):
        raise Denied("positions that are not linear")
    return sorted(mine, key=lambda item: item[1]), rest
