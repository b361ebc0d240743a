"""What facts about sizes say, with engines and without: the one place where tensor rules ask them."""

from __future__ import annotations

from itertools import permutations
from time import monotonic

import pytest

from hloproof.engines.door import How
from hloproof.logic.formula import Formula, eq, le, lt
from hloproof.models.expressions.expr import Const, Expr, Var, maximum, minimum
from hloproof.models.tensor_rules.text import parse_tensor_rules
from hloproof.results.verdict import Verdict
from hloproof.tensor_rules import judge as judging
from hloproof.tensor_rules.equality import TermEquality
from hloproof.tensor_rules.facts import Facts
from hloproof.tensor_rules.judge import check_tensor_rule
from hloproof.tensor_rules.prove import RuleProof, prove_rule
from hloproof.tensor_rules.terms import App, Cond, Elem, Fold, Num, Term

a, b = Var("a"), Var("b")
STATED = [
    ((lt(a, b),), le(a, b), True),
    ((le(a, b),), lt(a, b), False),
    ((le(a + 1, b),), lt(a, b), True),
    ((le(a, b),), le(a, b + 1), True),
    ((le(a, b + 1),), le(a, b), False),
    ((le(a, b),), le(b, a), False),
    ((le(2, a), le(3, b)), le(2, a), True),
]


@pytest.mark.parametrize(("facts", "goal", "follows"), STATED)
def test_a_fact_states_what_has_no_smaller_bound(facts: tuple[Formula, ...], goal: Formula, follows: bool) -> None:
    """Without any engine, and with all of them."""
    assert Facts(monotonic() + 60, only=frozenset()).follows(facts, goal) is follows
    assert Facts(monotonic() + 60).follows(facts, goal) is follows


POSITIVE = [
    ((le(1, a),), a, True),
    ((le(0, a),), a, False),
    ((le(1, a),), a + 1, True),
    ((le(1, a),), a - 1, False),
    ((le(0, a),), a + 1, True),
    ((le(1, a), le(0, b)), a * b, False),
    ((le(1, a), le(1, b)), a * b, True),
    ((le(1, a), le(0, b)), a + b, True),
    ((le(1, a),), a + b, False),
    ((le(1, a), le(1, b)), a - b, False),
    ((), a * 0 + 1, True),
]


@pytest.mark.parametrize(("facts", "e", "positive"), POSITIVE)
def test_what_is_above_zero(facts: tuple[Formula, ...], e: Expr, positive: bool) -> None:
    assert Facts(monotonic() + 60, only=frozenset()).is_positive(facts, e) is positive


def test_what_follows_from_some_facts_follows_from_them_alone() -> None:
    for orders in permutations((((eq(a, 2),), True), ((eq(a, 0),), False), ((), False))):
        facts = Facts(monotonic() + 60)
        for given, follows in orders:
            assert facts.follows(given, lt(1, a * a)) is follows
        # What was shown, and nothing else, is enough to say so again.
        again = Facts(monotonic() + 60, only=frozenset(facts.shown))
        assert again.follows((eq(a, 2),), lt(1, a * a))
        assert not Facts(monotonic() + 60, only=frozenset()).follows((eq(a, 2),), lt(1, a * a))
        assert not again.follows((eq(a, 3),), lt(1, a * a))


@pytest.mark.parametrize(
    ("body", "tier"),
    [
        (
            "reduce(add(A, B), dims=[0], op=add) => add(reduce(A, dims=[0], op=add), reduce(B, dims=[0], op=add))",
            "real",
        ),
        ("reverse(reverse(add(A, B), dims=[0]), dims=[0]) => add(A, B)", "exact"),
        ("log-plus-one(A) => log(add(A, 1))", "real"),
        ("log-plus-one(A) => log-plus-one(A)", "exact"),
    ],
)
def test_sums_in_another_order_are_of_the_reals(body: str, tier: str) -> None:
    (found,) = parse_tensor_rules(f"rule r\n  A: [n]  B: [n]\n  {body}")
    proof = prove_rule(found)
    assert (proof.proved, proof.tier) == (True, tier)


def test_a_proof_that_an_instance_contradicts_is_an_error_of_this_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    (false,) = parse_tensor_rules("rule r\n  A: [n]\n  reverse(A, dims=[0]) => A")
    assert check_tensor_rule(false).verdict is Verdict.REFUTED
    monkeypatch.setattr(judging, "prove_rule", lambda rule, how: RuleProof(True))
    assert check_tensor_rule(false).verdict is Verdict.INTERNAL


n, r, s, t, u, v = map(Var, "nrstuv")
NOTHING = Num(Const(0))


def apart(x: Expr) -> Term:
    return App("multiply", (Elem("B", (x,)), Elem("A", (v,))))


RANGES = [
    # Cut at another variable of the same fold, or of one around it, the ranges are no box.
    (
        Fold("add", (("r", n), ("v", n)), Cond(lt(v, minimum(maximum(r, 0), n)), apart(r), NOTHING)),
        Fold("add", (("t", n), ("v", minimum(maximum(r, 0), n))), apart(t)),
        False,
    ),
    (
        Fold("add", (("r", n),), Fold("add", (("v", n),), Cond(lt(v, r), Elem("A", (v,)), NOTHING))),
        Fold("add", (("v", r),), App("multiply", (Num(n), Elem("A", (v,))))),
        False,
    ),
    (
        Fold("add", (("t", n), ("v", n)), Cond(lt(v, minimum(maximum(r, 0), n)), apart(t), NOTHING)),
        Fold("add", (("t", n), ("v", minimum(maximum(r, 0), n))), apart(t)),
        True,
    ),
    # Multiples of another variable are no steps of a range.
    (
        Fold("add", (("s", n), ("v", n)), Cond(eq(v % (s * s + 1), 0), apart(s), NOTHING)),
        Fold("add", (("t", n), ("u", n.ceildiv(s * s + 1))), App("multiply", (Elem("B", (t,)), Elem("A", (u,))))),
        False,
    ),
]


A_V, B_V = Elem("A", (v,)), Elem("B", (v,))


def multiples(of: Expr, term: Term, step: Expr | int = 3) -> Term:
    return Cond(eq(of % step, 0), term, NOTHING)


CASES = [
    # Of 2 * v = 3 * w no more than v = 3 * w follows, which need not be even.
    (multiples(v * 2, A_V), multiples(v * 2, Cond(eq(v % 2, 0), A_V, B_V)), False),
    (multiples(v * -1, A_V), multiples(v, Cond(eq(v % 3, 0), A_V, B_V)), True),
    # s * w is never 1 where s is 2 or more, and is s where w is 1.
    (multiples(v, Cond(eq(v - 1, 0), A_V, B_V), s), multiples(v, Cond(eq(v - s, 0), A_V, B_V), s), False),
    (multiples(v, Cond(eq(v * s - s, 0), A_V, B_V), s), multiples(v, Cond(eq(v - 1, 0), A_V, B_V), s), True),
]


@pytest.mark.parametrize(("left", "right", "equal"), CASES)
def test_multiples_are_those_of_an_integer(left: Term, right: Term, equal: bool) -> None:
    assert TermEquality(Facts(monotonic() + 60)).equal(left, right, (le(2, s),)) is equal


def test_a_fold_over_less_than_nothing_is_none() -> None:
    left, right = Fold("add", (("v", n),), Elem("B", ())), App("multiply", (Num(n), Elem("B", ())))
    for given, equal in (((le(0, n),), True), ((le(-1, n),), False)):
        assert TermEquality(Facts(monotonic() + 60)).equal(left, right, given) is equal


@pytest.mark.parametrize(("left", "right", "equal"), RANGES)
def test_folds_are_over_ranges_of_their_own(left: Term, right: Term, equal: bool) -> None:
    facts = Facts(monotonic() + 60)
    assert TermEquality(facts).equal(left, right, (le(1, n),)) is equal


@pytest.mark.parametrize("goal", [le(1, a), le(0, a), le(0, a + b)])
def test_what_a_fact_says_two_engines_say_too(goal: Formula) -> None:
    """Under cross-checking: that sizes are above zero, what decides a minimum, and what is asked by itself."""
    given = (le(1, a), le(1, b), le(a, b))
    for cross in (False, True):
        asked = [Facts(monotonic() + 60, How(cross=cross)) for _ in range(3)]
        assert asked[0].follows(given, goal)
        assert asked[1].is_positive(given, a)
        assert asked[2].settled(given, minimum(a, b)) is a
        assert [len(facts.engines) >= 2 for facts in asked] == [cross] * 3
