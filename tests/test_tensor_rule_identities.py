"""Every identity that `hloproof equiv` uses is an entry of specs/tensor_rules, or is about what rules do not have."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tensor_rule_cases import rules_of_the_project

from hloproof.equivalence.computed_identities import SPECIAL
from hloproof.equivalence.identities import IDENTITIES

ROOT = Path(__file__).parents[1]
RULES = {r.name: r for r in rules_of_the_project()}
ENTRIES = {r.source.removeprefix("equiv: "): r.name for r in RULES.values() if r.source.startswith("equiv: ")}
UNDER_ANOTHER_NAME = {
    "bound that never binds": "maximum-with-minus-infinity",
    "divided by a power of two": "divide-by-constant",
    "divided by a constant": "divide-by-constant",
    "factors out of sums": "multiply-of-constant-and-reduce",
    "sums and products regrouped": "add-reassociates-constants",
    "a contraction is a sum of products": "dot-as-reduce-of-multiply",
    "a product of one summand": "dot-over-one",
    "real arithmetic": "common-factor",
    "integer arithmetic": "common-factor",
    "products with zero left out": "multiply-by-zero",
    "boolean algebra": "equiv-of-either",
}
OF_TYPES = {
    "both zeros are one where signs of zeros are looked at",
    "convert through a wider type",
    "convert there and back",
    "integer times a predicate",
    "times a predicate",
    "comparison of widened numbers",
    "narrow arithmetic in f32",
    "narrow function in f32",
    "conversions between float types left out",
    "constants rounded otherwise",
    "contraction in f32",
    "factors rounded to the type of the sum",
    "the precision of a contraction left out",
    "total order of bits",
    "unsigned quotient by a power of two",
    "signed quotient by a power of two",
    "signed remainder by a power of two",
    "unsigned remainder by a power of two",
    "bits through another type",
}
"""They are about the bits or the range of an element type; a rule speaks of numbers without bounds."""
OF_PROGRAMS = {
    "scatter as a loop",
    "select-and-scatter as a scatter",
    "a reduce takes its elements in any order",
    "the accuracy of a function left out",
    "what a reduction begins with is used once, and for each place on padding",
}
"""They are about loops, libraries, how well they compute, or the order of a run, which no rule has."""


def named_in_the_code() -> set[str]:
    """Names that the steps of `equiv` report as used."""
    out: set[str] = set()
    constants: dict[str, str] = {}
    by_constant: set[str] = set()
    for path in sorted((ROOT / "verify" / "equivalence").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        out |= set(re.findall(r'\.(?:use|tell)\(\s*"([^"]+)"', text))
        constants |= dict(re.findall(r'^([A-Z_]+): Final = "([^"]+)"$', text, re.MULTILINE))
        by_constant |= set(re.findall(r"\.(?:use|tell)\(\s*([A-Z_]+)[,)]", text))
        out |= set(re.findall(r'\(\("([^"]+)", "(?:exact|real|rounding)"\)', text))
    return out | {constants[name] for name in by_constant}


@pytest.mark.parametrize("name", sorted({*IDENTITIES, *SPECIAL, *named_in_the_code()}))
def test_every_identity_is_an_entry(name: str) -> None:
    if name in OF_TYPES | OF_PROGRAMS:
        return
    entry = ENTRIES.get(name) or ENTRIES.get(name.rstrip()) or UNDER_ANOTHER_NAME[name]
    assert RULES[entry].expect == "proved"


def test_no_name_is_excused_that_is_not_used() -> None:
    used = {*IDENTITIES, *SPECIAL, *named_in_the_code()}
    assert used >= set(ENTRIES)
    excused = {*UNDER_ANOTHER_NAME, *OF_TYPES, *OF_PROGRAMS}
    assert excused - used <= {"real arithmetic", "integer arithmetic", "constants rounded otherwise"}
