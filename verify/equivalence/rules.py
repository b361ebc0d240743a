"""The steps of a proof: a goal and a step give the goals that are left, or the step is denied.

Trusted. Each step is sound by itself: if all goals that it leaves hold, so does the goal. Steps are lists that JSON can
hold; what they do not say is computed here from the goal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import prod
from typing import Any, Final

from hloproof.equivalence.bits_read import ZEROS, Looks, functions_look_at, looks_at, node_looks_at, ordered_floats
from hloproof.equivalence.booleans import Booleans, TooManyParts
from hloproof.equivalence.elements_folds import IN_ORDER
from hloproof.equivalence.engine_steps import ENGINE_RULES
from hloproof.equivalence.goals import Goal, assume, replaced
from hloproof.equivalence.indices import ZERO, Lin, Var, constant, variable
from hloproof.equivalence.kernel import Denied, ProofStep, Rules, equal_tensors, with_side
from hloproof.equivalence.pinning import pinned
from hloproof.equivalence.positions import positions
from hloproof.equivalence.reductions import COMMUTATIVE, START, associates, combiner, functions_of, start_shows
from hloproof.equivalence.rules_folds import FOLD_RULES
from hloproof.equivalence.rules_loops import LOOP_RULES
from hloproof.equivalence.rules_polynomials import seen
from hloproof.equivalence.rules_scalar import SCALAR_RULES
from hloproof.equivalence.select_scatter import as_scatter
from hloproof.equivalence.terms import (
    App,
    Cond,
    Elem,
    Fold,
    Num,
    Term,
    TermSubstitution,
    type_of,
    value_form,
    values_in,
    variables_of,
)

ATOMIC: Final = frozenset({"parameter", "free", "bound", "constant", "while"})
"""Never equal by equal operands."""
LARGEST_ENUMERATION: Final = 256
ANY_ORDER: Final = "a reduce takes its elements in any order"
"""What is told where a function could tell the order."""


def same(rules: Rules, goal: Goal) -> list[Goal]:
    """Nothing is left to show where both sides are written the same. Raises Denied."""
    left, right = rules.heads(goal)
    if left != right:
        raise Denied("not the same")
    return []


def split(rules: Rules, goal: Goal, side: int) -> list[Goal]:
    """Both cases of an undecided condition."""
    head = rules.heads(goal)[side]
    if not isinstance(head, Cond):
        raise Denied("no case")
    then = with_side(goal, side, head.then)
    other = with_side(goal, side, head.other)
    # The test says `form >= 0`; over integers its opposite is `-form - 1 >= 0`. A case that cannot be leaves no goal.
    cases = [assume(then, head.test), assume(other, -head.test - 1)]
    return [c for c in cases if c is not None]


def arguments(rules: Rules, goal: Goal, swapped: bool = False, zeros: bool = False) -> list[Goal]:
    """The same elementwise operation on equal elements; with `zeros` both zeros are one."""
    left, right = rules.opened(goal)
    if not (isinstance(left, App) and isinstance(right, App)):
        raise Denied("not two elementwise operations")
    if (left.op, left.type, left.key, len(left.args)) != (right.op, right.type, right.key, len(right.args)):
        raise Denied("two operations")
    # A comparison has the type pred whatever it compares, and a conversion may come from any type: equal result types
    # say nothing about the operands.
    if [type_of(a) for a in left.args] != [type_of(a) for a in right.args]:
        raise Denied("operands of two types")
    args = right.args
    if swapped:
        # Equal and not equal are the only directions that do not turn around with their operands.
        symmetric = left.op == "compare" and bool({("direction", "EQ"), ("direction", "NE")} & set(left.key))
        if left.op not in COMMUTATIVE and not symmetric:
            raise Denied(f"{left.op} does not commute")
        rules.leave_nan_open(left.type)  # of two NaNs the first may be the one that is kept
        args = args[::-1]
    if zeros:
        compared = left, App(right.op, right.type, args, right.key)
        floats = [ordered_floats(t, lambda x: seen(rules, goal, x)) for t in compared]
        if all(floats):
            rules.use(ZEROS, "real", (left, right))
            return [goal.about(a, b) for a, b in zip(*floats, strict=True)]
    exact = owed_exactly(rules, looks_at(left.op, left.type, [type_of(a) for a in args], left.key), zeros, left, right)
    return [Goal(goal.next, goal.facts, a, b, exact) for a, b in zip(left.args, args, strict=True)]


def owed_exactly(rules: Rules, looks: Looks, zeros: bool, *terms: Term) -> bool:
    """Whether what the terms are given is owed bit for bit; with `zeros` both zeros are one. Denied where their signs
    are not looked at."""
    if zeros:
        if looks != "order":
            raise Denied("no order of zeros")
        rules.use(ZEROS, "real", terms)
    return looks != "" and not zeros


def whole(rules: Rules, goal: Goal, zeros: bool = False) -> list[Goal]:
    """The same opaque operation on equal tensors, at the same index; `zeros` as for arguments."""
    left, right = rules.elements(goal)
    # Nothing is known of an opaque operation, so not even that it treats two of its elements alike.
    if left.at != right.at:
        raise Denied("two indices")
    a, b = left.node, right.node
    while a.head == b.head == "output" and a.key == b.key and (a.type, a.sizes) == (b.type, b.sizes):
        (a,), (b,) = a.operands, b.operands
    # What has no operands would be equal by vacuity: two parameters are two parameters, and a loop has a rule of its
    # own.
    if a.head in ATOMIC or (a.head, a.type, a.sizes, a.key) != (b.head, b.type, b.sizes, b.key):
        raise Denied("two operations")
    if len(a.operands) != len(b.operands) or len(a.bodies) != len(b.bodies):
        raise Denied("two operations")
    pairs = [*zip(a.operands, b.operands, strict=True), *zip(a.bodies, b.bodies, strict=True)]
    goals = [g for x, y in pairs for g in equal_tensors(x, y)]
    exact = owed_exactly(rules, node_looks_at(a, lambda x: seen(rules, goal, x)), zeros, left, right)
    return [replace(g, exact=True) for g in goals] if exact else goals


def general(rules: Rules, goal: Goal) -> Goal | None:
    """A goal without facts that this one is an instance of: the two tensors at all indices."""
    found = _everywhere(rules, goal)
    return None if found is None else replace(found, exact=goal.exact)


def _everywhere(rules: Rules, goal: Goal) -> Goal | None:
    left, right = rules.heads(goal)
    if not (isinstance(left, Elem) and isinstance(right, Elem)):
        return None
    # The first way takes the indices as they are equal; it forgets the facts, so it may ask for more than is true. Then
    # the steps that follow fail, and nothing wrong is shown.
    if left.at == right.at and left.node.sizes == right.node.sizes:
        found = equal_tensors(left.node, right.node) if left.node.type == right.node.type else []
        return found[0] if found else None
    for one, other in ((left, right), (right, left)):
        # The second way needs one side to be read at every index exactly once: only then is the goal an instance of the
        # one over all of its indices.
        names = _distinct(one)
        if names is None or not {v.place for x in other.at for v in variables_of(Num("s32", x))} <= set(names):
            continue
        substitute = TermSubstitution({p: variable(k, one.node.sizes[k]) for p, k in names.items()})
        at = tuple(variable(k, n) for k, n in enumerate(one.node.sizes))
        new = Elem(one.node, at), Elem(other.node, tuple(substitute.forms(x) for x in other.at))
        return Goal(len(at), (), *(new if one is left else new[::-1]))
    return None


def _distinct(element: Elem) -> dict[int, int] | None:
    """Each variable's place to its dimension, where an element is read at distinct variables that run over it all."""
    out: dict[int, int] = {}
    for k, (x, n) in enumerate(zip(element.at, element.node.sizes, strict=True)):
        # A dimension of one has the index 0 alone, whatever form is written.
        if n == 1:
            continue
        if x.constant or len(x.terms) != 1:
            return None
        ((atom, c),) = x.terms.items()
        # A variable that occurs twice is a diagonal, one that is smaller than the dimension a part of it: neither
        # reaches all indices.
        if not isinstance(atom, Var) or c != 1 or atom.size != n or atom.place in out:
            return None
        out[atom.place] = k
    return out


def fold(
    rules: Rules,
    goal: Goal,
    radices: list[int],
    left_digits: list[Any],
    right_digits: list[Any],
    swapped: bool = False,
    zeros: bool = False,
) -> list[Goal]:
    """Two folds by a bijection of their boxes: both are written over the same new variables, one per digit. For each
    variable of a fold its digits are given, major to minor, as (number, turned); `zeros` as for arguments."""
    left, right = rules.opened(goal)
    if not (isinstance(left, Fold) and isinstance(right, Fold)) or left.type != right.type:
        raise Denied("not two folds")
    # What the functions look at is what they are given, and what they themselves gave before. Those of the left side
    # speak for both, as these are shown to be equal to them whatever they are given.
    exact = owed_exactly(
        rules, functions_look_at(functions_of(left), lambda x: seen(rules, goal, x)), zeros, left, right
    )
    # Some folds fix the order of their elements (a scatter writes later updates over earlier ones), for others XLA
    # leaves it open. Only an order that is kept, or a function that cannot tell, may pass.
    in_order = IN_ORDER in left.head or IN_ORDER in right.head
    if left.head[0] == "scatter" or in_order:
        straight = [[k, False] for k in range(len(radices))]
        if any([list(d) for ds in given for d in ds] != straight for given in (left_digits, right_digits)):
            op = combiner(left)
            if op not in COMMUTATIVE:
                raise Denied("the order is not kept")
            # Commuting is not enough: floats commute, and their sums depend on the order.
            associates(rules, op, left.type, left, right)
        if in_order and left.head[3:] != right.head[3:]:  # only one of them says in which order
            rules.tell(ANY_ORDER)
    elif left.head[0] == "reduce" and combiner(left) not in COMMUTATIVE:
        ours, theirs = ([list(d) for ds in given for d in ds] for given in (left_digits, right_digits))
        if ours != theirs:  # XLA leaves the order open; a function that is not commutative could tell
            rules.tell(ANY_ORDER)
    if left.head[0] == "reduce" and start_shows(rules, goal, left):
        rules.tell(START)
    new = [variable(goal.next + k, n) for k, n in enumerate(radices)]
    # Each factor has a precision of its own, which goes with the factor.
    goals = equal_heads(left, _swapped_precision(right) if swapped else right)
    sides: list[list[Term]] = []
    for term, digits in ((left, left_digits), (right, right_digits)):
        # Both boxes are written over the same digits. That each digit is used once on each side, and that sizes are
        # products, makes it a bijection of the boxes: no element is left out and none is taken twice.
        by_place = joined(term, digits, radices, new)
        sides.append([TermSubstitution(by_place)(body) for body in term.bodies])
    if swapped:
        if left.head[0] != "contract":
            raise Denied("only factors swap")
        rules.leave_nan_open(left.type)
        sides[1].reverse()
    next_ = goal.next + len(radices)
    pairs = [*zip(sides[0], sides[1], strict=True)]
    goals += [goal.about(a, b, next_) for a, b in pairs]
    goals += [goal.about(a, b, next_) for a, b in zip(left.sides, right.sides, strict=True)]
    return [replace(g, exact=True) for g in goals] if exact else goals


def _swapped_precision(term: Fold) -> Fold:
    """A contraction whose factors go by each other's precision; other folds as they are."""
    if term.head[0] != "contract":
        return term
    turned = tuple(p[::-1] if isinstance(p, tuple) else p for p in term.head[1])
    return replace(term, head=("contract", turned))


def equal_heads(left: Fold, right: Fold) -> list[Goal]:
    """The same fold, with functions that agree."""
    if left.head == right.head:
        return []
    kind, *one = left.head[:3]
    other_kind, *other = right.head[:3]
    if kind != "reduce" or other_kind != "reduce" or one[1] != other[1] or len(one[0]) != len(other[0]):
        raise Denied("two folds")
    if any(type_of(a) != type_of(b) for a, b in zip(left.bodies, right.bodies, strict=True)):
        raise Denied("folds of two types")
    return [g for a, b in zip(one[0], other[0], strict=True) for g in equal_tensors(a, b)]


def joined(term: Fold, digits: list[Any], radices: list[int], new: list[Lin]) -> dict[int, Lin]:
    """The fold's variables as mixed-radix numbers of the new ones. Denied unless every digit is used once."""
    if len(digits) != len(term.sizes) or sorted(d for ds in digits for d, _ in ds) != list(range(len(radices))):
        raise Denied("not a bijection")
    out: dict[int, Lin] = {}
    for k, (size, own) in enumerate(zip(term.sizes, digits, strict=True)):
        form = ZERO
        for d, turned in own:
            form = form * radices[d] + (radices[d] - 1 - new[d] if turned else new[d])
        if prod(radices[d] for d, _ in own) != size or any(n < 1 for n in radices):
            raise Denied("not a bijection")
        out[term.place + k] = form
    return out


def values(rules: Rules, goal: Goal, pairs: list[Any]) -> list[Goal]:
    """Values on the right that equal values on the left take their names."""
    left, right = rules.heads(goal)
    ours, theirs = values_of(left), values_of(right)
    goals: list[Goal] = []
    by: dict[Term, Lin] = {}
    for mine, other in pairs:
        a, b = ours[mine], theirs[other]
        # The numbers are compared as integers below; the same bits are another integer in another type.
        if type_of(a) != type_of(b):
            raise Denied("values of two types")
        goals.append(goal.about(a, b))
        # The new goal is about equal values by name only because the goals before it owe that they are equal.
        by[b] = value_form(a)
    if not by:
        raise Denied("no values")
    return [*goals, goal.about(left, TermSubstitution({}, by)(right))]


def values_of(term: Term) -> list[Term]:
    """The terms of values in the indices or the test at the head."""
    forms: tuple[Lin, ...] = ()
    match term:
        case Elem(_, at):
            forms = at
        case Cond(test, _, _):
            forms = (test,)
        case Num(_, form):
            forms = (form,)
    return list(dict.fromkeys(v.term for x in forms for v in values_in(x)))


def _variable(goal: Goal, place: int) -> Var:
    places = variables_of(goal.left) | variables_of(goal.right)
    for fact in goal.facts:
        places |= variables_of(Num("s32", fact))
    (found,) = [v for v in places if v.place == place]
    # A variable of the goal means one fixed index; inside of a fold a place may be bound again.
    if isinstance(goal.left, Fold) or isinstance(goal.right, Fold):
        raise Denied("variables inside a fold")
    return found


def enumerate_(rules: Rules, goal: Goal, place: int) -> list[Goal]:
    """Each value of a variable by itself."""
    found = _variable(goal, place)
    if found.size > LARGEST_ENUMERATION:
        raise Denied("too many values")
    goals = [replaced(goal, {place: constant(k)}, goal.next) for k in range(found.size)]
    return [g for g in goals if g is not None]


def digits(rules: Rules, goal: Goal, place: int, radices: list[int]) -> list[Goal]:
    """A variable as a mixed-radix number of new ones, major to minor."""
    found = _variable(goal, place)
    if prod(radices) != found.size or any(n < 1 for n in radices):
        raise Denied("not a bijection")
    form = ZERO
    for k, n in enumerate(radices):
        form = form * n + variable(goal.next + k, n)
    new = replaced(goal, {place: form}, goal.next + len(radices))
    return [] if new is None else [new]


def boolean(rules: Rules, goal: Goal, pairs: list[Any]) -> list[Goal]:
    """Both predicates as functions of the same atoms; the second atom of each pair goes by the name of the first."""
    if type_of(goal.left) != "pred" or type_of(goal.right) != "pred":
        raise Denied("not two predicates")
    found = booleans(rules, goal)
    try:
        left = found.read(goal.left)
        ours = len(found.atoms)
        right = found.read(goal.right)
        goals: list[Goal] = []
        for mine, other in pairs:
            a, b = found.atoms[mine], found.atoms[other]
            # The second is owed a value where the first has one, which so has to be what the left side is made of.
            if type_of(a) != type_of(b) or mine == other or mine >= ours:
                raise Denied("not two atoms")
            goals.append(goal.about(a, b))
            found.renamed[other] = mine
        # Truth tables over the atoms: every assignment is tried, also those that cannot be, so equality here is
        # stronger than needed and never weaker.
        if not found.equal(left, right):
            raise Denied("two predicates")
    except TooManyParts as error:
        raise Denied("the predicates are too large") from error
    rules.tell("boolean algebra")
    return goals


def booleans(rules: Rules, goal: Goal) -> Booleans:
    """The reader of Boolean expressions for a goal."""
    return Booleans(lambda t: seen(rules, goal, t), lambda t: rules.terms.opened(t, goal.next))


def selected(rules: Rules, goal: Goal, side: int) -> list[Goal]:
    """A select-and-scatter is a scatter to what its windows select."""
    head = rules.heads(goal)[side]
    found = as_scatter(rules.graph, head.node) if isinstance(head, Elem) else None
    if found is None or not isinstance(head, Elem):
        raise Denied("not a select-and-scatter that is a scatter")
    rules.tell("select-and-scatter as a scatter")
    return [with_side(goal, side, Elem(found, head.at))]


_RULES: Final[dict[str, Callable[..., list[Goal]]]] = {
    "same": same,
    "split": split,
    "arguments": arguments,
    "whole": whole,
    "fold": fold,
    "values": values,
    "enumerate": enumerate_,
    "digits": digits,
    "selected": selected,
    "boolean": boolean,
    "positions": positions,
    "pinned": pinned,
    **SCALAR_RULES,
    **FOLD_RULES,
    **LOOP_RULES,
    **ENGINE_RULES,
}
"""`generalise`, `lemma`, `keep` and `again` are steps too: the checker keeps the list of what was shown."""


def subgoals(rules: Rules, goal: Goal, step: ProofStep) -> list[Goal]:
    """The goals that the step leaves. Raises Denied."""
    rule = _RULES.get(step[0]) if step else None
    if rule is None:
        raise Denied(f"no step {step[:1]}")
    rules.owed_exactly = goal.exact
    try:
        found = rule(rules, goal, *step[1:])
        return [replace(g, exact=True) for g in found] if goal.exact else found
    # Steps come from files: whatever a wrong form of them runs into is a step that does not apply, and no crash.
    except (TypeError, IndexError, KeyError, ValueError, AttributeError, ArithmeticError) as error:
        raise Denied(f"{step[0]}: {error}") from error
    finally:
        rules.owed_exactly = False
