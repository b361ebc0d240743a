"""The laws of digits by enumeration: what is taken apart has the value of what was written, wherever it may be used."""

from __future__ import annotations

from itertools import product
from random import Random
from time import monotonic

import pytest

from hloproof.engines.door import How
from hloproof.logic.evaluate import holds
from hloproof.logic.formula import FALSE, Formula, free_variables
from hloproof.models.expressions.evaluate import UndefinedValue, evaluate
from hloproof.models.expressions.expr import Const, Expr, Var, maximum, minimum
from hloproof.models.tensor_rules.text import parse_tensor_rules
from hloproof.tensor_rules import digits, equality, laws, values
from hloproof.tensor_rules.facts import Facts
from hloproof.tensor_rules.prove import prove_rule

a, b, n, m = (Var(name) for name in "abnm")
SIZES = (n, m, n * m, n + m, n * 2, Const(3), n * m + m)
"""Above 0 where `n` and `m` are."""
VALUES = ((-7, -2, -1, 0, 1, 5, 12), (-3, 0, 2, 9), (1, 2, 3), (1, 4))
POINTS = [dict(zip("abnm", p, strict=True)) for p in product(*VALUES)]


def drawn(random: Random, depth: int) -> Expr:
    """An expression whose divisors are above 0."""
    if not depth:
        return random.choice((a, b, n, m, Const(random.randint(-4, 4))))
    x, y = drawn(random, depth - 1), drawn(random, random.randrange(depth))
    return random.choice(
        (x + y, x - y, x * y, x * random.choice(SIZES) + y, minimum(x, y), maximum(x, y))
        + tuple(f(x, random.choice(SIZES)) for f in (Expr.__floordiv__, Expr.__mod__, Expr.ceildiv)) * 2
    )


@pytest.mark.parametrize("seed", range(40))
def test_what_is_taken_apart_keeps_its_value(seed: int) -> None:
    e = drawn(Random(seed), 3)
    by = Random(seed).choice(SIZES)
    positive = frozenset(SIZES)
    written = {
        "polynomial": (e, digits.expression(digits.polynomial(e, positive))),
        "canonical": (e, digits.canonical(e)),
        "tidied": (e, digits.tidied(e, lambda x: x in positive)),
        "quotient": (e // by, digits.quotient(e, by)),
        "remainder": (e % by, digits.remainder(e, by)),
        "product": (e * by, digits.product((e, by))),
    }
    for point in POINTS:
        for law, (before, after) in written.items():
            assert evaluate(before, point) == evaluate(after, point), (law, before, after, point)
    with laws.noted() as uses:
        digits.polynomial(e, positive)
        digits.tidied(e, lambda x: x in positive)
        digits.quotient(e, by)
        digits.remainder(e, by)
    for one, other in map(laws.of_unknowns, uses.identities):
        assert digits.same_polynomial(one, other), (one, other)


def test_a_factor_is_left_out_where_it_is_known_to_be_above_zero() -> None:
    """Where only the product is, both of its factors may be below, and the laws are not about such divisors."""
    e = (a * n) % (a * b)
    assert digits.tidied(e, lambda x: x == a * b) == digits.canonical(e)
    assert digits.tidied(e, lambda x: x in (a, a * b)) != digits.canonical(e)


@pytest.mark.parametrize("seed", range(40))
def test_a_positive_factor_keeps_the_sign(seed: int) -> None:
    random = Random(seed)
    factor = random.choice(SIZES)
    e = drawn(random, 1) * factor + random.choice((-1, 0, 0, 1))
    left = digits.divided_out(e, SIZES, lambda x: x in SIZES)
    for point in POINTS:
        assert (evaluate(e, point) >= 0) is (evaluate(left, point) >= 0), (e, left, point)


def test_a_divisor_below_zero_has_other_digits() -> None:
    """The laws are used where divisors are known to be above 0 alone: of others they are wrong."""
    nested, flat = (a // n) // m, digits.quotient(a // n, m)
    wrong = {"a": 1, "n": 2, "m": -1}
    assert evaluate(nested, {**wrong, "m": 3}) == evaluate(flat, {**wrong, "m": 3})
    assert evaluate(nested, wrong) != evaluate(flat, wrong)
    with pytest.raises(UndefinedValue):
        evaluate(flat, {**wrong, "m": 0})


def test_what_was_divided_before_may_have_been_divided_by_what_is_below_zero() -> None:
    with laws.noted() as uses:
        flat = digits.quotient(a // n, m)
    point = {"a": 7, "n": -2, "m": 3}
    assert evaluate((a // n) // m, point) == evaluate(flat, point)
    assert "nested" in uses.laws
    assert all(holds(f, {"x": 7, "a": -2, "d": 3}) for f in laws.LAWS["nested"].given)


def test_what_is_no_whole_multiple_is_left_in_the_quotient() -> None:
    assert digits.quotient(a * 3 + b * 2, Const(3)) is digits.canonical(a + digits.canonical(b * 2) // 3)
    assert digits.remainder(a * 3 + b * 2, Const(3)) is digits.canonical(b * 2) % 3


def test_sums_that_are_too_long_are_left_as_they_are() -> None:
    many = [Var(f"x{k}") for k in range(30)]
    z = Var("z")  # the last of the names, by whose multiples the others are taken out
    by = digits.product((sum(many, z),))
    e: Expr = sum((z * x for x in many), m)
    for whole in (e % by, e // by, (e % by) * sum(many, b), (e + 1).ceildiv(by)):
        after = digits.expression(digits.polynomial(whole, frozenset((by,))))
        for k in range(1, 4):
            point = {"a": 1, "b": k, "z": 2, "m": 3 * k, **{x.name: k + j for j, x in enumerate(many)}}
            assert evaluate(whole, point) == evaluate(after, point)


POINT = dict(zip("qdrxaf", range(6), strict=True))


@pytest.mark.parametrize("name", laws.LAWS)
def test_two_engines_say_each_law_and_no_law_without_what_it_needs(name: str) -> None:
    """Of divisors and factors above 0 alone."""
    law = laws.LAWS[name]
    facts = Facts(monotonic() + 60, How(cross=True))
    assert facts.unsaid(laws.LawUses({name: None})) == ""
    assert len(facts.engines) >= 2
    for left_out in law.given:
        given = [f for f in law.given if f is not left_out]
        if any("f" in free_variables(f) and "x" in free_variables(f) for f in law.given):
            continue  # what other laws say is there to be quick
        assert facts.ask(given, law.says).verdict != "proved", left_out
        assert any(_fails(law.says, given, p) for p in product((-2, -1, 0, 1, 2), repeat=6)), left_out


def _fails(says: Formula, given: list[Formula], p: tuple[int, ...]) -> bool:
    point = dict(zip(POINT, p, strict=True))
    return all(holds(f, point) for f in given) and not holds(says, point)


def test_a_law_that_does_not_fit_is_found_by_two_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error in how polynomials are divided proves a wrong rule, with one engine or none."""
    (wrong,) = parse_tensor_rules("rule r\n  A: [n]\n  devices p\n  collective-permute(A, shift=p + 1) => A")
    assert not prove_rule(wrong).proved
    right = digits._divided

    def without_constants(p: digits.SizePolynomial, by: Expr) -> tuple[digits.SizePolynomial, digits.SizePolynomial]:
        q, r = right(p, by)
        return q, {m: c for m, c in r.items() if m}

    monkeypatch.setattr(digits, "_divided", without_constants)
    assert prove_rule(wrong).proved
    crossed = prove_rule(wrong, how=How(cross=True))
    assert not crossed.proved
    assert "sums of products are not shown equal" in crossed.open


def test_what_comes_out_alike_by_the_laws_of_digits_names_engines() -> None:
    (rule,) = parse_tensor_rules("rule r\n  A: [n]\n  devices p\n  collective-permute(A, shift=p * q) => A")
    assert prove_rule(rule).engines == ()
    crossed = prove_rule(rule, how=How(cross=True))
    assert crossed.proved
    assert len(crossed.engines) >= 2


def test_a_sum_of_elements_that_is_reckoned_wrongly_is_found_by_two_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    (true,) = parse_tensor_rules("rule r\n  A: [n]\n  multiply(add(A, 1), add(A, -1)) => subtract(multiply(A, A), 1)")
    (wrong,) = parse_tensor_rules("rule r\n  A: [n]\n  add(A, 1) => A")
    assert prove_rule(true).engines == ()
    crossed = prove_rule(true, how=How(cross=True))
    assert crossed.proved and len(crossed.engines) >= 2
    right = digits.polynomial

    def without_constants(e: Expr) -> digits.SizePolynomial:
        return {m: c for m, c in right(e).items() if m}

    monkeypatch.setattr(values, "polynomial", without_constants)
    assert prove_rule(wrong).proved
    crossed = prove_rule(wrong, how=How(cross=True))
    assert not crossed.proved
    assert "sums of products are not shown equal" in crossed.open


PADDED = "pad(A, 0, low=[0], high=[0], interior=[p])"
SUMMED = f"rule r\n  A: [n]\n  when n >= 1, p >= 0\n  reduce({PADDED}, dims=[0], op=add) => reduce(A, dims=[0], op=add)"
TWICE = f"rule r\n  A: [n]\n  when n >= 1, p >= 0\n  negate({PADDED}) => {PADDED.replace('(A', '(negate(A)')}"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        pytest.param(SUMMED, "multiples", marks=pytest.mark.longer),
        pytest.param(SUMMED, "taken apart", marks=pytest.mark.longer),
        (TWICE, "taken apart"),
    ],
)
def test_where_holes_are_left_out_the_laws_are_said(text: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (rule,) = parse_tensor_rules(text)
    crossed = prove_rule(rule, how=How(cross=True))
    assert crossed.proved and len(crossed.engines) >= 2
    monkeypatch.setitem(laws.LAWS, name, laws.DigitLaw(FALSE, ()))
    assert f"{name!r} is not shown" in prove_rule(rule, how=How(cross=True)).open


def test_what_is_put_in_for_an_index_fits_by_two_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    (rule,) = parse_tensor_rules(TWICE)
    right = digits.expression
    monkeypatch.setattr(equality, "expression", lambda p: right(p) * 2)
    assert "sums of products are not shown equal" in prove_rule(rule, how=How(cross=True)).open
