"""The laws of digits by enumeration: what is taken apart has the value of what was written, wherever it may be used."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from hloproof.models.expressions.evaluate import UndefinedValue, evaluate
from hloproof.models.expressions.expr import Const, Expr, Var, maximum, minimum
from hloproof.tensor_rules import digits

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
