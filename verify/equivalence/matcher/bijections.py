"""Bijections between the boxes of two folds that are worth trying, best first."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from math import gcd, prod

from hloproof.equivalence.bits_read import functions_look_at
from hloproof.equivalence.goals import Goal
from hloproof.equivalence.indices import Atom, Lin, Var
from hloproof.equivalence.kernel import Denied, ProofStep
from hloproof.equivalence.matcher.search import Search
from hloproof.equivalence.pinning import forms, pinned
from hloproof.equivalence.reductions import functions_of
from hloproof.equivalence.rules import fold
from hloproof.equivalence.rules_polynomials import seen
from hloproof.equivalence.terms import Cond, Elem, Fold

MOST, MOST_TURNED = 240, 36


def candidates(search: Search, goal: Goal, left: Fold, right: Fold) -> Iterator[ProofStep]:
    """Steps that pair the places of two folds of equally many points, at most MOST orders."""
    if prod(left.sizes) != prod(right.sizes):
        return
    swaps = [False, True] if isinstance(left.head, tuple) and left.head[0] == "contract" else [False]
    tried: set[str] = set()
    first: list[ProofStep] = []
    later: list[ProofStep] = []
    n = 0
    for n, step in enumerate(_orders(left, right)):
        if n > MOST:
            break
        for swapped in swaps:
            full: ProofStep = ["fold", *step, swapped]
            if repr(full) in tried:
                continue
            tried.add(repr(full))
            score = _fit(search, goal, full)
            if score is not None:
                (first if score else later).append(full)
    if search.samples is not None:
        first = [s for s in first if _hopeful(search, goal, s)]
        turnable = later
        later = [] if first else [s for s in later if _hopeful(search, goal, s)]
        windows = any(isinstance(b, Cond) for b in (*left.bodies, *right.bodies))
        if windows and not first and not later and len(swaps) > 1 and n <= MOST_TURNED:
            turned = [s for full in turnable for s in _turned(full) if _fit(search, goal, s)]
            first = [s for s in turned if _hopeful(search, goal, s)]
    elif not first and len(swaps) > 1 and n <= MOST_TURNED:
        first = [s for full in later for s in _turned(full) if _fit(search, goal, s)]
    found = [*first, *later[:6]]
    yield from found
    if functions_look_at(functions_of(left), lambda x: seen(search.rules, goal, x)) == "order":
        yield from ([*step, True] for step in found)


def _hopeful(search: Search, goal: Goal, step: ProofStep) -> bool:
    try:
        return not any(search.hopeless(g) for g in fold(search.rules, goal, *step[1:]))
    except Denied:
        return False


def pins(search: Search, goal: Goal, left: Fold, right: Fold) -> Iterator[ProofStep]:
    """Digits of the larger of two contractions that have one value only."""
    if left.head[0] != "contract" or right.head[0] != "contract":
        return
    counts = prod(left.sizes), prod(right.sizes)
    if not all(counts) or counts[0] == counts[1] or max(counts) % min(counts):
        return
    side = 0 if counts[0] > counts[1] else 1
    fold, ratio = (left, right)[side], max(counts) // min(counts)
    for number, size in enumerate(fold.sizes):
        values = gcd(size, ratio)
        if values == 1:
            continue
        for which, form in enumerate(forms(search.rules, goal, fold, number)):
            if form.hi - form.lo != values - 1 or form.lo:
                continue
            for factor in (0, 1):
                step: ProofStep = ["pinned", side, number, size // values, which, factor]
                if _zero_elsewhere(search, goal, step):
                    yield step


def _zero_elsewhere(search: Search, goal: Goal, step: ProofStep) -> bool:
    """Whether what the step owes could hold: no case of the body that can be met ends in an element as it is."""
    try:
        *owed, _ = pinned(search.rules, goal, *step[1:])
    except Denied:
        return False
    for g in owed:
        term, number = search.rules.heads(g)[:: -1 if step[1] else 1]
        if isinstance(term, Elem) or (term != number and not isinstance(term, Cond)):
            return False
    return True


def _turned(step: ProofStep) -> Iterator[ProofStep]:
    """The same bijection with some digits of the right side counted backwards, as kernels of convolutions are."""
    name, radices, left, right, swapped = step
    for mask in range(1, 1 << min(len(radices), 4)):
        turned = [[[d, bool(mask >> d & 1)] for d, _ in own] for own in right]
        yield [name, radices, left, turned, swapped]


def _orders(left: Fold, right: Fold) -> Iterator[list[object]]:
    """Pairs of orders of both sides' variables, as digits of one mixed-radix number."""
    mine = [k for k, n in enumerate(left.sizes) if n > 1]
    theirs = [k for k, n in enumerate(right.sizes) if n > 1]
    for a in permutations(mine):
        for b in permutations(theirs):
            found = _common(left.sizes, right.sizes, a, b)
            if found is not None:
                yield found


def _common(
    mine: tuple[int, ...], theirs: tuple[int, ...], a: tuple[int, ...], b: tuple[int, ...]
) -> list[object] | None:
    """Both sides' variables over the coarsest digits that both orders are made of."""
    radices: list[int] = []
    out: list[list[list[list[int]]]] = [[[] for _ in mine], [[] for _ in theirs]]
    left, right = [[k, mine[k]] for k in a], [[k, theirs[k]] for k in b]
    while left and right:  # from the most minor end
        k, n = left[-1]
        j, m = right[-1]
        size = n if m % n == 0 else m if n % m == 0 else 0
        if not size:
            return None
        number = len(radices)
        radices.append(size)
        out[0][k].insert(0, [number, False])
        out[1][j].insert(0, [number, False])
        for rest, whole in ((left, n), (right, m)):
            if whole == size:
                rest.pop()
            else:
                rest[-1][1] = whole // size
    if left or right:
        return None
    for digit in (d for own in out for digits in own for d in digits):  # numbered from the most major one
        digit[0] = len(radices) - 1 - digit[0]
    return [radices[::-1], *out]


def _fit(search: Search, goal: Goal, step: ProofStep) -> bool | None:
    """True when a body is the same tensor at the same index, None when it is so at another index."""
    try:
        goals = fold(search.rules, goal, *step[1:])
    except Denied:
        return None
    best = False
    for g in goals:
        a, b = search.rules.heads(g)
        if isinstance(a, Elem) and isinstance(b, Elem):
            if a.node is b.node:
                if a.at == b.at:
                    best = True
                elif any(_variables(x) != _variables(y) for x, y in zip(a.at, b.at, strict=True)) and all(
                    isinstance(atom, Var) for e in (a, b) for x in e.at for atom in x.terms
                ):
                    return None
            elif a.at == b.at and a.node.sizes == b.node.sizes:
                best = True
    return best


def _variables(form: Lin) -> set[Atom]:
    return set(form.terms)
