"""Identities: the exact ones hold bit for bit on the values where they could fail; their wrong neighbours are not
proved. Certificates that were tampered with are not accepted for modules that differ."""

from __future__ import annotations

import random
from itertools import product
from math import copysign
from typing import Any

import pytest

from hloproof.equivalence import Certificate, decide, recheck
from hloproof.equivalence.evaluation import attributes_of
from hloproof.equivalence.graph import Graph
from hloproof.equivalence.identities import KINDS, TABLE, Identity, apply
from hloproof.equivalence.patterns import DIRECTIONS, SYMMETRIC, BitPattern, built
from hloproof.equivalence.terms import App, Elem, Term, from_value, type_of, value_of
from hloproof.models.hlo.module import Module
from hloproof.models.hlo.parser import parse_module
from hloproof.models.interpreter.semantics.element_type import INTEGERS, rounded, to_bits
from hloproof.models.interpreter.semantics.real import Real
from hloproof.results.verdict import Verdict

VALUES: dict[str, list[Any]] = {
    "pred": [False, True],
    "s8": [-128, -127, -1, 0, 1, 5, 127],
    "u8": [0, 1, 2, 128, 255],
    "u1": [0, 1],
    "s2": [-2, -1, 0, 1],
    "f4e2m1fn": [s * v for s in (1.0, -1.0) for v in (0.0, 0.5, 1.0, 1.5, 4.0, 6.0)],
    "f8e4m3fnuz": [0.0, 1.0, -1.5, float("nan"), 2.0**-10, -(2.0**-10), 240.0, -240.0],
    "f8e5m2": [0.0, -0.0, 1.0, -1.5, float("inf"), float("-inf"), float("nan"), 2.0**-16, 57344.0],
    "f32": [0.0, -0.0, 1.0, -1.5, float("inf"), float("-inf"), float("nan"), 1e-45, 3.4e38],
}


def letters(pattern: BitPattern) -> set[str]:
    if isinstance(pattern, str):
        return {pattern}
    return set().union(*(letters(p) for p in pattern[1:])) if isinstance(pattern, tuple) else set()  # type: ignore[arg-type]


def value(pattern: Any, bound: dict[str, Any], kind: str) -> tuple[Any, str]:
    """The value of a pattern and its type."""
    if isinstance(pattern, str):
        return bound[pattern], "pred" if pattern == "p" else kind
    if isinstance(pattern, bool):
        return pattern, "pred"
    if isinstance(pattern, float):
        return rounded(kind, int(pattern) if kind in INTEGERS else pattern), kind
    op, *parts = pattern
    args = [value(p, bound, kind) for p in parts]
    key: tuple[tuple[str, str], ...]
    if op in DIRECTIONS:
        key, name, result = (("direction", DIRECTIONS[op]),), "compare", "pred"
    else:
        key, name, result = (), op, args[-1][1]
    function = Real().function(name, [t for _, t in args], result, attributes_of(key))
    return function(*(v for v, _ in args)), result


@pytest.mark.parametrize("identity", [i for i in TABLE if i.tier == "exact"], ids=lambda i: i.name)
def test_exact_identities_hold_bit_for_bit(identity: Identity) -> None:
    left, right = identity.sides
    tried = 0
    for kind in set(VALUES) & KINDS[identity.on]:
        names = sorted(letters(left))
        for values in product(*(VALUES["pred" if n == "p" else kind] for n in names)):
            bound = dict(zip(names, values, strict=True))
            if identity.name == "clamp" and not bound["l"] <= bound["h"]:
                continue
            (a, type_), (b, _) = value(left, bound, kind), value(right, bound, kind)
            both_nan = a != a and b != b
            assert both_nan or to_bits(type_, a) == to_bits(type_, b), (kind, bound, a, b)
            tried += 1
    assert tried


def computed(term: Term) -> Any:
    """The value of a term of constants."""
    if isinstance(term, App):
        function = Real().function(term.op, [type_of(a) for a in term.args], term.type, attributes_of(term.key))
        return function(*map(computed, term.args))
    return value_of(term)


@pytest.mark.parametrize(
    ("name", "op", "kind", "result", "key", "second"),
    [
        ("signed remainder by a power of two", "remainder", "s8", "s8", (), [1, 2, 8, 64]),
        ("signed quotient by a power of two", "divide", "s8", "s8", (), [1, 2, 8, 64]),
        ("unsigned remainder by a power of two", "remainder", "u8", "u8", (), [1, 2, 64, 128]),
        ("unsigned quotient by a power of two", "divide", "u8", "u8", (), [1, 2, 64, 128]),
        ("divided by a power of two", "divide", "f32", "f32", (), [0.5, 2.0, 32.0, -4.0]),
        ("bound that never binds", "maximum", "f32", "f32", (), [float("-inf")]),
        ("bound that never binds", "minimum", "s8", "s8", (), [127]),
        (
            "total order of bits",
            "compare",
            "f32",
            "pred",
            (("direction", "LT"), ("type", "TOTALORDER")),
            [v for v in VALUES["f32"] if v == v],
        ),
        ("narrow arithmetic in f32", "multiply", "bf16", "bf16", (), [3.0, 0.1015625, -1e38]),
    ],
)
def test_computed_identities_hold_bit_for_bit(
    name: str, op: str, kind: str, result: str, key: Any, second: list[Any]
) -> None:
    for x, y in product(VALUES.get(kind, VALUES["f32"]), second):
        if x != x:
            continue
        term = App(op, result, (from_value(kind, x), from_value(kind, y)), key)
        found = apply(name, term, lambda t: t)
        if found is None:  # XLA folds both zeros as one
            assert name == "total order of bits" and x == y == 0 and copysign(1, x) != copysign(1, y)
            continue
        assert found[1] == "exact"
        a, b = computed(term), computed(found[0])
        assert (a != a and b != b) or to_bits(result, a) == to_bits(result, b), (x, y, a, b)


def unary(kind: str, body: str) -> Module:
    return parse_module(
        f"HloModule m\nENTRY e {{\n x = {kind}[4] parameter(0)\n y = {kind}[4] parameter(1)\n"
        f" z = {kind}[4] parameter(2)\n"
        f" zero = {kind}[] constant(0)\n n = {kind}[4] broadcast(zero), dimensions={{}}\n"
        f" one = {kind}[] constant(1)\n o = {kind}[4] broadcast(one), dimensions={{}}\n{body}\n}}\n"
    )


NEVER = {
    "x + 0 on -0.0": ("f32", " ROOT r = f32[4] add(x, n)", " ROOT r = f32[4] copy(x)"),
    "x - x on infinity": ("f32", " ROOT r = f32[4] subtract(x, x)", " ROOT r = f32[4] copy(n)"),
    "0 * x on infinity": ("f32", " ROOT r = f32[4] multiply(x, n)", " ROOT r = f32[4] copy(n)"),
    "reassociation": (
        "bf16",
        " a = bf16[4] add(x, y)\n ROOT r = bf16[4] add(a, z)",
        " a = bf16[4] add(y, z)\n ROOT r = bf16[4] add(x, a)",
    ),
    "x / y as a product": (
        "f32",
        " ROOT r = f32[4] divide(x, y)",
        " i = f32[4] divide(o, y)\n ROOT r = f32[4] multiply(x, i)",
    ),
    "there and back": ("f32", " h = bf16[4] convert(x)\n ROOT r = f32[4] convert(h)", " ROOT r = f32[4] copy(x)"),
    "not less is at least, with NaN": (
        "f32",
        " l = pred[4] compare(x, y), direction=LT\n k = pred[4] not(l)\n ROOT r = f32[4] select(k, x, y)",
        " l = pred[4] compare(x, y), direction=GE\n ROOT r = f32[4] select(l, x, y)",
    ),
}


@pytest.mark.parametrize("name", NEVER)
def test_what_does_not_hold_bit_for_bit_is_not_proved_by_the_exact_tier(name: str) -> None:
    kind, before, after = NEVER[name]
    assert decide(unary(kind, before), unary(kind, after), "exact").verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("name", "tier"), [("reassociation", "real"), ("x / y as a product", "real"), ("there and back", "rounding")]
)
def test_weaker_tiers_prove_it_and_say_so(name: str, tier: str) -> None:
    kind, before, after = NEVER[name]
    result = decide(unary(kind, before), unary(kind, after))
    assert result.verdict is Verdict.PROVED
    assert tier in {t for _, t in result.axioms}


FALSE = {
    "another operand": (" ROOT r = f32[4] add(x, y)", " ROOT r = f32[4] add(x, z)"),
    "a sum for a product": (" ROOT r = f32[4] add(x, y)", " ROOT r = f32[4] multiply(x, y)"),
    "a slice": (
        " s = f32[2] slice(x), slice={[0:2]}\n ROOT r = f32[4] concatenate(s, s), dimensions={0}",
        " s = f32[2] slice(x), slice={[1:3]}\n ROOT r = f32[4] concatenate(s, s), dimensions={0}",
    ),
    "a dot": (
        " m = f32[2,2] reshape(x)\n k = f32[2,2] reshape(y)\n"
        " d = f32[2,2] dot(m, k), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n ROOT r = f32[4] reshape(d)",
        " m = f32[2,2] reshape(x)\n k = f32[2,2] reshape(y)\n"
        " d = f32[2,2] dot(m, k), lhs_contracting_dims={1}, rhs_contracting_dims={1}\n ROOT r = f32[4] reshape(d)",
    ),
}
STEPS: list[list[Any]] = [
    ["keep"], ["again"],
    ["same"], ["generalise"], ["lemma"], ["arguments"], ["arguments", True], ["whole"], ["split", 0], ["split", 1],
    ["fold", [2], [[[0, False]]], [[[0, False]]], False], ["fold", [2], [[[0, False]]], [[[0, True]]], True],
    ["fold", [1], [[]], [[[0, False]]], False], ["ring", [], False, 4], ["ring", [[0, 1]], False, 4],
    ["ring", [[1, 0], [0, 1]], True, 2], ["values", [[0, 0]]], ["enumerate", 0], ["digits", 0, [2, 2]],
    ["digits", 0, [4, 2]], ["single", 0], ["flatten", 1], ["total", 0], ["total", 1], ["linear", 0, 2], ["absurd"],
    ["indices"], ["aligned"], ["chosen", 0, True], ["written out", 0], ["written out", 1], ["loop", [[0, 0]]],
    ["turn", 0], ["stop", 1], ["library", 0], ["identity", 0, "subtraction"], ["identity", 1, "plus negative zero"],
    ["nothing of the kind"], [], ["identity", 5, 7], ["fold"],
]  # fmt: skip


def _is_letter(pattern: object) -> bool:
    return isinstance(pattern, str)


IN_ORDER = [
    i
    for i in TABLE
    if isinstance(i.sides[0], tuple)
    and len(i.sides[0]) == 3
    and i.sides[0][0] not in SYMMETRIC
    and len([*filter(_is_letter, i.sides[0][1:])]) == 1
]
"""Identities of what does not commute, and may not be seen in it the other way round."""


@pytest.mark.parametrize("identity", IN_ORDER, ids=lambda i: i.name)
def test_what_does_not_commute_is_not_turned_round(identity: Identity) -> None:
    graph = Graph()
    left = identity.sides[0]
    kind = next(k for k in ("f32", "u32", "s32", "pred") if k in KINDS[identity.on])
    bound: dict[str, Term] = {
        x: Elem(graph.node("parameter", "pred" if x == "p" else kind, (), (), (x,)), ()) for x in letters(left)
    }
    term = built(left, bound, kind)
    assert isinstance(term, App)
    assert apply(identity.name, term, lambda t: t) is not None
    assert apply(identity.name, App(term.op, term.type, term.args[::-1], term.key), lambda t: t) is None


def test_there_are_such_identities() -> None:
    assert {"minus zero", "divided by one", "power of one", "shift by nothing"} <= {i.name for i in IN_ORDER}


def test_no_list_of_steps_proves_what_is_false() -> None:
    """Six hundred certificates as a broken matcher might write them: proofs of other pairs with steps put in between,
    and steps drawn at random."""
    source = random.Random(7)
    pairs = {n: (unary("f32", a), unary("f32", b)) for n, (a, b) in FALSE.items()}
    right = [decide(unary("f32", a), unary("f32", a)).certificate for a, _ in FALSE.values()]
    kind, one, other = NEVER["there and back"]
    right.append(decide(unary(kind, one), unary(kind, other)).certificate)
    proofs = [c.proof for c in right if c is not None]
    for turn in range(600):
        before, after = pairs[source.choice(sorted(pairs))]
        steps = list(source.choice(proofs)) if turn % 3 == 0 else []
        for _ in range(source.randint(1, 8)):
            steps.insert(source.randint(0, len(steps)), source.choice(STEPS))
        result = recheck(before, after, Certificate("rounding", steps))
        assert result.verdict is Verdict.UNKNOWN, steps


def masked(type_: str, *lines: str) -> Module:
    head = [f"x = {type_}[] parameter(0)", "p = pred[] parameter(1)", f"z = {type_}[] constant(0)"]
    return parse_module("HloModule m\n\nENTRY e {\n" + "".join(f"  {line}\n" for line in [*head, *lines]) + "}\n")


@pytest.mark.parametrize("type_", ["f32", "s32", "u8"])
def test_a_number_times_a_predicate(type_: str) -> None:
    product_ = masked(type_, f"q = {type_}[] convert(p)", f"ROOT r = {type_}[] multiply(q, x)")
    choice = masked(type_, f"ROOT r = {type_}[] select(p, x, z)")
    assert decide(product_, choice).verdict == Verdict.PROVED
    exact = decide(product_, choice, "exact").verdict  # infinity times 0 is no number, and -1 times 0 is -0
    assert exact == (Verdict.UNKNOWN if type_ == "f32" else Verdict.PROVED)
    for other in (
        f"ROOT r = {type_}[] select(p, z, x)",
        f"q = {type_}[] convert(p)\n  ROOT r = {type_}[] add(q, x)",
        f"q = {type_}[] convert(p)\n  ROOT r = {type_}[] select(p, x, q)\n".replace(
            "select(p, x, q)", "select(p, q, x)"
        ),
    ):
        assert decide(product_, masked(type_, other)).verdict == Verdict.UNKNOWN


def test_constants_are_rounded_to_integers_before_they_are_indices() -> None:
    def taken(place: str, function: str) -> Module:
        return parse_module(
            f"HloModule m\n\nENTRY e {{\n  p = f32[9] parameter(0)\n  c = f32[] constant({place})\n"
            f"  f = f32[] {function}(c)\n  i = s32[] convert(f)\n"
            "  d = f32[1] dynamic-slice(p, i), dynamic_slice_sizes={1}\n  ROOT r = f32[] reshape(d)\n}\n"
        )

    def fixed(place: int) -> Module:
        return parse_module(
            "HloModule m\n\nENTRY e {\n  p = f32[9] parameter(0)\n"
            f"  d = f32[1] slice(p), slice={{[{place}:{place + 1}]}}\n"
            "  ROOT r = f32[] reshape(d)\n}\n"
        )

    for place, function, whole in (
        ("3.5", "floor", 3),
        ("3.5", "ceil", 4),
        ("-0.5", "floor", 0),  # clamped
    ):
        for other in range(9):
            verdict = decide(taken(place, function), fixed(other)).verdict
            assert verdict == (Verdict.PROVED if other == whole else Verdict.UNKNOWN)


@pytest.mark.parametrize(
    ("op", "kind", "same"),
    [("sqrt", "f8e3m4", False), ("sqrt", "bf16", True), ("sqrt", "f8e4m3", True), ("abs", "f8e3m4", True)],
)
def test_roots_that_are_rounded_twice_by_way_of_16_bits_are_not_those_of_f32(op: str, kind: str, same: bool) -> None:
    """The root of 0.96875 is 1 by way of f16, as XLA runs it, and 0.96875 by way of f32."""
    x = f"HloModule m\n\nENTRY e {{\n  x = {kind}[] parameter(0)\n"
    narrow = f"{x}  ROOT r = {kind}[] {op}(x)\n}}\n"
    wide = f"{x}  w = f32[] convert(x)\n  s = f32[] {op}(w)\n  ROOT r = {kind}[] convert(s)\n}}\n"
    assert (decide(parse_module(narrow), parse_module(wide), "exact").verdict is Verdict.PROVED) == same


@pytest.mark.parametrize(("to", "same"), [("s8", False), ("u32", False), ("f64", True), ("bf16", True)])
def test_numbers_of_four_bits_become_other_integers_by_way_of_another_type(to: str, same: bool) -> None:
    """XLA makes 127 of 6.0 in s8, and 6 by way of f32."""
    x = "HloModule m\n\nENTRY e {\n  x = f4e2m1fn[] parameter(0)\n"
    direct, through = (
        f"  ROOT r = {to}[] convert(x)\n}}\n",
        f"  w = f32[] convert(x)\n  ROOT r = {to}[] convert(w)\n}}\n",
    )
    pair = parse_module(x + direct), parse_module(x + through)
    assert all((decide(*p, "exact").verdict is Verdict.PROVED) == same for p in (pair, pair[::-1]))
