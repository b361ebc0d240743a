"""Identities worth trying where two heads do not agree."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from hloproof.equivalence.answer import TIERS, Tier
from hloproof.equivalence.goals import Goal
from hloproof.equivalence.identities import TABLE, apply
from hloproof.equivalence.kernel import ProofStep
from hloproof.equivalence.matcher.folds import cuts
from hloproof.equivalence.matcher.planning import atoms_in, planned_proof
from hloproof.equivalence.matcher.proof import Proof
from hloproof.equivalence.matcher.search import Asking, Search
from hloproof.equivalence.patterns import DIRECTIONS
from hloproof.equivalence.polynomials import Polynomials, TooManyMonomials
from hloproof.equivalence.reductions import combiner
from hloproof.equivalence.rules_folds import IDEMPOTENT
from hloproof.equivalence.rules_polynomials import polynomials, seen
from hloproof.equivalence.terms import App, Fold, Term, type_of, variables_of

EXPANDING = frozenset(
    {"subtraction", "clamp", "greater", "greater or equal", "sign of a product", "sign of a quotient", "reciprocal"}
)
"""They make a term larger or only turn it, so they are used where two heads differ."""
SMALL = 16
"""Folds over more elements are not written out."""
LATE = (
    "the accuracy of a function left out",
    "integer times a predicate",
    "times a predicate",
    "divided by a power of two",
    "narrow arithmetic in f32",
    "narrow function in f32",
    "total order of bits",
    "signed remainder by a power of two",
    "signed quotient by a power of two",
    "unsigned quotient by a power of two",
    "unsigned remainder by a power of two",
)


def _by_operation(names: list[tuple[str, str]]) -> dict[str, list[str]]:
    out: dict[str, list[str]] = {}
    for operation, name in names:
        out.setdefault("compare" if operation in DIRECTIONS else operation, []).append(name)
    return out


SPECIAL_SIMPLIFYING = [
    ("convert", "convert through a wider type"),
    ("bitcast-convert", "bits through another type"),
    ("compare", "comparison of widened numbers"),
    ("maximum", "bound that never binds"),
    ("minimum", "bound that never binds"),
]
SIMPLIFYING = _by_operation(
    [(i.left.split("(")[0], i.name) for i in TABLE if i.name not in EXPANDING and i.tier == "exact"]
    + SPECIAL_SIMPLIFYING
)
EXPANSIONS = _by_operation([(i.left.split("(")[0], i.name) for i in TABLE if i.name in EXPANDING or i.tier != "exact"])


def allowed(search: Search, goal: Goal, tier: Tier) -> bool:
    """The search may use identities of this tier for the goal."""
    return TIERS.index(tier) <= TIERS.index("exact" if goal.exact else search.rules.tier)


def applicable(search: Search, goal: Goal, term: Term, names: list[str]) -> Iterator[str]:
    """Those of the named identities that apply at the term's head and that the tier allows."""
    if not isinstance(term, App):
        return
    for name in names:
        found = apply(name, term, lambda t: seen(search.rules, goal, t))
        if found is not None and allowed(search, goal, found[1]):
            yield name


def simplified(search: Search, goal: Goal, a: Term, b: Term) -> Asking:
    """The first identity that makes a head smaller."""
    for side, term in ((0, a), (1, b)):
        if isinstance(term, App):
            for name in applicable(search, goal, term, SIMPLIFYING.get(term.op, [])):
                return (yield from search.step(goal, ["identity", side, name]))
    return None


def expanded(search: Search, goal: Goal, a: Term, b: Term) -> Asking:
    """Identities that turn a head or make it larger."""
    if isinstance(a, App) and isinstance(b, App) and a.op == b.op and a.key == b.key:
        return None
    for side, term in ((0, a), (1, b)):
        if isinstance(term, App):
            names = [*EXPANSIONS.get(term.op, []), *LATE]
            other = (b, a)[side]
            if not (isinstance(other, App) and other.op == "convert"):
                names = [n for n in names if not n.startswith("narrow")]
            for name in applicable(search, goal, term, names):
                found: Proof | None = yield from search.step(goal, ["identity", side, name])
                if found is not None:
                    return found
    return None


def rounded(search: Search, goal: Goal, a: Term, b: Term) -> Asking:
    """A conversion there and back left out."""
    for side, term in ((0, a), (1, b)):
        if isinstance(term, App) and term.op == "convert":
            for name in applicable(search, goal, term, ["convert there and back"]):
                return (yield from search.step(goal, ["identity", side, name]))
    return None


def ring_proof(search: Search, goal: Goal, a: Term, b: Term) -> Asking:
    """Both sides as polynomials, atoms paired by proofs; shallow ones first: what lies below may be equal as it is."""
    if search.samples is not None:
        return (yield from planned_proof(search, goal, a, b, search.samples))
    shapes = [(through, depth) for through in (False, True) for depth in (2, 4, 8)]
    last: list[Term] = []
    for through, depth in shapes:
        if through and not allowed(search, goal, "rounding"):
            return None
        found = polynomials(search.rules, goal, through)
        if not any(isinstance(t, App) and found.is_arithmetic(t) for t in (a, b)):
            continue
        try:
            left, right = found.read(goal.left, depth), found.read(goal.right, depth)
        except (TooManyMonomials, OverflowError, ValueError):
            break
        if (through and not found.seen) or found.atoms == last:
            continue
        last = found.atoms
        mine, theirs = atoms_in(found, left), atoms_in(found, right)
        pairs: list[list[int]] = []
        for j in sorted(theirs - mine):
            for i in sorted(mine - theirs):
                if type_of(found.atoms[i]) != type_of(found.atoms[j]):
                    continue
                pair = goal.about(found.atoms[i], found.atoms[j])
                if search.hopeless(pair):
                    continue
                shown = yield pair
                if shown is not None:
                    pairs.append([i, j])
                    break
        proof = yield from search.step(goal, ["ring", pairs, through, depth])
        if proof is not None:
            return proof
    return None


def fold_proof(search: Search, goal: Goal, a: Term, b: Term) -> Asking:
    """Folds that need another form first."""
    found: Proof | None
    for side, term in ((0, a), (1, b)):
        other = (b, a)[side]
        if isinstance(term, App) and term.op == "convert" and isinstance(other, Fold) and term.type == other.type:
            found = yield from search.step(goal, ["widened", side])
            if found is not None:
                return found
        if isinstance(term, App) and term.op == "multiply" and isinstance(other, Fold) and combiner(other) == "add":
            found = yield from search.step(goal, ["into sum", side])
            if found is not None:
                return found
        if not isinstance(term, Fold):
            continue
        steps: list[ProofStep] = [["single", side], ["flatten", side]]
        contraction = isinstance(other, Fold) and other.head[0] == "contract"
        if term.head[0] == "contract" and isinstance(other, Fold) and not contraction:
            steps.append(["total", side])
        if combiner(term) == "add" or term.head[0] == "contract":
            steps += [["linear", side, depth] for depth in (1, 2, 4) if takes_out(search, goal, term, depth)]
        small = prod(term.sizes) <= SMALL
        if small and (term.type == "pred" or (isinstance(other, App) and other.op == combiner(term))):
            steps.append(["written out", side])
        if isinstance(other, App) and other.op == "convert":
            steps.append(["widened", side])
        if combiner(term) in IDEMPOTENT:
            steps.append(["repeated", side])
        steps += cuts(search, goal, side, term)
        if combiner(term) == "add" or term.head[0] == "contract":
            steps.append(["distributed", side])
        for step in steps:
            found = yield from search.step(goal, step)
            if found is not None:
                return found
    return None


def positions_proof(search: Search, goal: Goal, a: Term, b: Term) -> Asking:
    """Sums compared by the positions that they read, where the shapes of the folds differ."""
    sums = [isinstance(t, Fold) and t.head[0] == "reduce" and len(t.bodies) == 1 for t in (a, b)]
    if not any(sums) or not all(s or isinstance(t, App) for s, t in zip(sums, (a, b), strict=True)):
        return None
    return (yield from search.step(goal, ["positions"]))


def takes_out(search: Search, goal: Goal, term: Fold, depth: int) -> bool:
    """Whether a factor or a summand would come out of the sum."""
    found = Polynomials(lambda t: seen(search.rules, goal, t))
    try:
        bodies = [found.read(body, depth) for body in term.bodies]
    except (TooManyMonomials, OverflowError, ValueError):
        return False
    if any(len(p) > 1 for p in bodies):
        return True
    own = set(range(term.place, term.place + len(term.sizes)))
    for polynomial in bodies:
        for monomial, c in polynomial.items():
            if c != 1 or any(not own & {v.place for v in variables_of(found.atoms[n])} for n, _ in monomial if n >= 0):
                return True
    return False
