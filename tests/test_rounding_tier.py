"""At tier rounding, what is proved of sums of products with constants holds of the exact numbers, but for roundings of
products; an oracle of fractions, which shares nothing with the prover, says by how much they may differ."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from red_pairs import entry

from hloproof.equivalence import rules_polynomials
from hloproof.models.hlo.parser import parse_module
from hloproof.models.interpreter.semantics.element_type import from_bits, rounded, to_bits
from hloproof.queries import equivalence
from hloproof.queries.equivalence import compare
from hloproof.results.verdict import Verdict

BITS = {"f64": 53, "f32": 24, "f16": 11, "bf16": 8}
"""Significant bits of each type, the first one included."""
INPUTS = ("x", "y", "z")


@dataclass(frozen=True)
class Product:
    """An input that is multiplied by constants, one after the other; and divided by the last one, where said so."""

    constants: tuple[float, ...]
    divided: bool

    def exact(self) -> Fraction:
        out = Fraction(1)
        for c in self.constants[:-1]:
            out *= Fraction(c)
        last = Fraction(self.constants[-1])
        return out / last if self.divided else out * last

    @property
    def written(self) -> bool:
        """One constant, as it stands in the module: nobody rounded it."""
        return len(self.constants) == 1 and not self.divided

    def lines(self, kind: str, name: str) -> list[str]:
        out, last = [], name
        for k, c in enumerate(self.constants):
            op = "divide" if self.divided and k == len(self.constants) - 1 else "multiply"
            out.append(f"{name}c{k} = {kind}[] constant({c!r})")
            out.append(f"{name}{k} = {kind}[] {op}({last}, {name}c{k})")
            last = f"{name}{k}"
        return out


def text(kind: str, products: tuple[Product, ...]) -> str:
    """The sum of these products, one of each input."""
    lines = [f"{name} = {kind}[] parameter({k})" for k, name in enumerate(INPUTS[: len(products)])]
    last = ""
    for name, p in zip(INPUTS, products, strict=False):
        lines += p.lines(kind, name)
        mine = f"{name}{len(p.constants) - 1}"
        if last:
            lines.append(f"{last}s = {kind}[] add({last}, {mine})")
        last = f"{last}s" if last else mine
    return entry(*lines[:-1], f"ROOT {lines[-1]}")


def told_apart(kind: str, one: tuple[Product, ...], other: tuple[Product, ...]) -> bool:
    """Some input is multiplied by two numbers that are not one number but for roundings of products."""
    for p, q in zip(one, other, strict=True):
        a, b = p.exact(), q.exact()
        if a == b:
            continue
        if (p.written and q.written) or a * b <= 0:
            return True
        neighbours = 3 if kind in ("f64", "f32") else 1
        if abs(a - b) > neighbours * Fraction(2) ** (1 - BITS[kind]) * max(abs(a), abs(b)):
            return True
    return False


def verdict(kind: str, one: tuple[Product, ...], other: tuple[Product, ...]) -> Verdict:
    return compare(parse_module(text(kind, one)), parse_module(text(kind, other)), "rounding", 2.0).verdict


def number(kind: str, value: float) -> float:
    """What the type holds of it."""
    found = rounded(kind, value)
    assert isinstance(found, float)
    return found


def near(kind: str, value: float, steps: int) -> float:
    """The number so many steps away from it."""
    found = from_bits(kind, max(1, to_bits(kind, value) + steps))
    assert isinstance(found, float)
    return found


@st.composite
def cases(draw: st.DrawFn) -> tuple[str, tuple[Product, ...], tuple[Product, ...]]:
    """Two sums, the second with each product of the first as it is, or in one constant, perhaps steps beside it."""
    kind = draw(st.sampled_from(sorted(BITS)))
    tiny = {"f64": -1074, "f32": -149, "f16": -24, "bf16": -133}[kind]
    exponents = st.integers(-6, 6) | st.integers(tiny // 2 - 3, tiny // 2 + 12)
    mantissas = st.sampled_from((1.0, 1.1, 1.3, 1.5, 1.7, 1.9)) | st.floats(1, 2, exclude_max=True)
    constants = st.builds(lambda m, e: number(kind, m * 2.0**e), mantissas, exponents)
    one, other = [], []
    for _ in range(draw(st.integers(1, len(INPUTS)))):
        p = Product(tuple(draw(st.lists(constants, min_size=1, max_size=2))), draw(st.booleans()))
        folded = number(kind, float(p.exact()))
        if folded == 0 or abs(folded) == float("inf"):
            folded = draw(constants)
        q = Product((near(kind, folded, draw(st.sampled_from((0, 0, 0, 1, -1, 2, -2, 3, 5, -9)))),), False)
        kept = draw(st.integers(0, 3))
        one.append(p)
        other.append(p if kept == 0 else q)
    return (kind, tuple(one), tuple(other)) if draw(st.booleans()) else (kind, tuple(other), tuple(one))


@pytest.mark.longer
@settings(max_examples=150, deadline=None)
@given(cases())
def test_what_is_proved_holds_of_the_exact_numbers(case: tuple[str, tuple[Product, ...], tuple[Product, ...]]) -> None:
    kind, one, other = case
    if verdict(kind, one, other) is Verdict.PROVED:
        assert not told_apart(kind, one, other)


@pytest.mark.parametrize("kind", sorted(BITS))
def test_a_product_that_is_rounded_once_is_the_same(kind: str) -> None:
    p = Product((number(kind, 0.51), number(kind, 3.1)), False)
    q = Product((number(kind, float(p.exact())),), False)
    assert p.exact() != q.exact()
    assert verdict(kind, (p,), (q,)) is Verdict.PROVED


WRONG = {
    "neighbours that stand in the modules": ("f32", (1.1,), 1, lambda t, a, b: abs(a - b) <= 2.0**-20 * abs(a)),
    "numbers of one rounding": (
        "f32",
        (1e-30, 1.3e-15),
        0,
        lambda t, a, b: rounded(t, float(a)) == rounded(t, float(b)),
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_rule_that_is_wrong_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative control: the oracle tells apart what a laxer rule takes for one number."""
    kind, constants, steps, rule = WRONG[name]
    p = Product(tuple(number(kind, c) for c in constants), False)
    q = Product((near(kind, number(kind, float(p.exact())), steps),), False)
    assert verdict(kind, (p,), (q,)) is not Verdict.PROVED
    monkeypatch.setattr(rules_polynomials, "_rounded_otherwise", rule)
    monkeypatch.setattr(equivalence, "where_constants_are_lost", lambda *_: "")
    assert verdict(kind, (p,), (q,)) is Verdict.PROVED
    assert told_apart(kind, (p,), (q,))


def test_steps_are_steps() -> None:
    assert [near("bf16", 1.0, k) for k in (0, 1, 2)] == [1.0, 1.0078125, 1.015625]
    assert all(a < b for a, b in pairwise(near("f32", 1.0, k) for k in range(-3, 3)))
