"""Strategies for obligations: small ones that can be read point by point, and such as only engines reach.

An obligation is a JSON text, in the form of a reproduction file. Its label says what an engine owes besides the truth.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import prod
from typing import Final

from hypothesis import strategies as st

from hloproof.fuzz.drawing import Draw
from hloproof.logic.formula import TRUE, And, Compare, Exists, Formula, Not, Or, conj, eq, free_variables, le, lt
from hloproof.logic.obligation import Obligation
from hloproof.logic.reproduction import to_json
from hloproof.models.expressions.evaluate import apply_operator
from hloproof.models.expressions.expr import Binary, Const, Expr, Operator, Var, lift, maximum, minimum
from hloproof.models.expressions.interval import Interval

OUTRIGHT: Final = "a law of quotients"
"""The label of what isl's encoder settles before isl is asked: its normal form of quotients makes both sides one."""

DIGITS: Final = "digits"
"""The label of what the stage of digits takes apart to where both sides are written the same."""

_divisors = st.sampled_from((2, 3, 2, 3, 4, 6, 12, 5, 8, 1, -1, -2, -3, -4, -6, 0, 0))
_factors = st.sampled_from((1, -1, 2, -2, 3, 4, 6, -3, -4, 12, 8, 5, 1, 1, -1, 2, 0, 0))
_small = st.integers(-9, 12)
_far = st.sampled_from((2**31, 2**40, -(2**40), 2**62, 2**63, 2**63 - 1, -(2**63), 2**64, 2**80))
_comparators = st.sampled_from(("==", "!=", "<=", "<"))
_kinds = st.sampled_from(("floordiv", "mod", "ceildiv", "floordiv", "mod", "+", "*", "min", "max"))


@st.composite
def _affine(draw: Draw, names: Sequence[str], most: int = 2) -> Expr:
    """A short sum of multiples of variables and a constant."""
    total: Expr | None = None
    for _ in range(draw(st.integers(1, most))):
        term: Expr = Var(draw(st.sampled_from(tuple(names))))
        factor = draw(_factors)
        term = term if factor == 1 else term * factor
        total = term if total is None else total + term
    assert total is not None
    constant = draw(_small) if draw(st.booleans()) else 0
    return total + constant if constant else total


@st.composite
def _terms(draw: Draw, names: Sequence[str], depth: int, symbolic: bool, far: int = 0) -> Expr:
    """`symbolic`: products of what varies, and divisors that vary. `far`: constants are near it."""
    if not depth or not draw(st.integers(0, 5)):
        kind = draw(st.integers(0, 5))
        if kind < 2:
            return Var(draw(st.sampled_from(tuple(names))))
        return draw(_affine(names)) if kind < 5 else Const(draw(_small) + far)
    op: Operator = draw(_kinds)
    left: Expr = draw(_terms(names, depth - 1, symbolic, far))
    if op in ("floordiv", "mod", "ceildiv"):
        if symbolic and draw(st.booleans()):
            return Binary(op, left, draw(_terms(names, 0, symbolic)))
        divisor = draw(_divisors)
        return Binary(op, left, Const(divisor + far if far and draw(st.booleans()) else divisor))
    if op == "*" and not symbolic:
        constant = Const(draw(_factors))
        return Binary("*", left, constant) if draw(st.booleans()) else Binary("*", constant, left)
    return Binary(op, left, draw(_terms(names, depth - 1, symbolic, far)))


@st.composite
def _formulas(draw: Draw, names: Sequence[str], depth: int, symbolic: bool, far: int = 0, bound: int = 0) -> Formula:
    kind = draw(st.integers(0, 8)) if depth else 0
    if not draw(st.integers(0, 11)):  # true or false wherever it stands
        return Compare(draw(_comparators), Const(0), Const(draw(st.sampled_from((-1, 0, 1)))))
    if kind <= 1:
        left = draw(_terms(names, draw(st.integers(1, 2)), symbolic, far))
        return Compare(draw(_comparators), left, draw(_terms(names, draw(st.integers(0, 1)), symbolic, far)))
    if kind <= 4:
        parts = tuple(draw(st.lists(_formulas(names, depth - 1, symbolic, far, bound), max_size=3)))
        return And(parts) if kind <= 3 else Or(parts)
    if kind == 5:
        return Not(draw(_formulas(names, depth - 1, symbolic, far, bound)))
    count = draw(st.sampled_from((1, 1, 1, 2, 2, 0)))
    fresh = [f"w{bound + k}" for k in range(count)]
    if fresh and not draw(st.integers(0, 7)):
        fresh[0] = draw(st.sampled_from(tuple(names)))  # it hides one
    variables = tuple((name, draw(_intervals(4))) for name in fresh)
    inner = list(dict.fromkeys([*names, *fresh]))
    part = draw(_formulas(inner, depth - 1, symbolic, far, bound + count))
    if fresh and draw(st.booleans()):  # an equation that ties what is bound to what is free
        tied = eq(draw(_affine(names)), draw(_affine(fresh)))
        part = conj(tied, part) if draw(st.booleans()) else And((part, tied))
    return Exists(variables, part)


@st.composite
def _intervals(draw: Draw, widest: int = 9, base: int = 0) -> Interval:
    """Near `base`; at times a point, rarely empty."""
    low = base + draw(st.sampled_from((0, 0, 0, 1, 2, -3, -7)))
    return Interval(low, low + draw(st.integers(-1 if draw(st.integers(0, 11)) == 0 else 0, widest)))


def _text(obligation: Obligation) -> str:
    return json.dumps({"label": obligation.label, **to_json(obligation)})


@st.composite
def small_obligations(draw: Draw, symbolic: bool = False) -> str:
    """Every operator, undefined divisions, nested and negated quantifiers, over a box of some hundred points."""
    names = [f"v{k}" for k in range(draw(st.integers(1, 3)))]
    widest = (14, 9, 6)[len(names) - 1]
    variables = tuple((name, draw(_intervals(widest))) for name in names)
    hypothesis = draw(_formulas(names, 1, symbolic)) if draw(st.booleans()) else TRUE
    return _text(Obligation(variables, draw(_formulas(names, draw(st.integers(0, 3)), symbolic)), hypothesis))


@st.composite
def quantified_obligations(draw: Draw, symbolic: bool = False) -> str:
    """Quantifiers inside one another, around terms that may be undefined in a part of the box only."""
    outer = [f"v{k}" for k in range(draw(st.integers(1, 2)))]
    names = [*outer, "w0", "w1"]
    part = draw(_formulas(names, draw(st.integers(0, 1)), symbolic, bound=2) if symbolic else _clauses(names, 2))
    if draw(st.booleans()):
        operator = draw(st.sampled_from(("floordiv", "mod", "ceildiv")))
        uneven = Binary(operator, Var(draw(st.sampled_from(("w0", "w1")))), draw(_terms(["w0", "w1"], 0, symbolic)))
        more = Compare(draw(_comparators), uneven + draw(_affine([*outer, "w0"])), draw(_affine(["w1"], 1)))
        part = draw(st.sampled_from((And((part, more)), Or((more, part)), more)))
    inner: Formula = Exists(((draw(st.sampled_from(("w1", "w1", "w0"))), draw(_intervals(4))),), part)
    if not draw(st.integers(0, 5)):
        inner = Exists((), part)
    inner = draw(st.sampled_from((inner, Not(inner), Or((Compare("<", Var("w0"), Const(0)), inner)))))
    bound: list[tuple[str, Interval]] = [("w0", draw(_intervals(4)))]
    if "w1" in free_variables(inner):  # the inner quantifier binds w0 again
        bound.append(("w1", draw(_intervals(3))))
    whole: Formula = Exists(tuple(bound), inner)
    if not draw(st.integers(0, 3)):  # parts that have no bound variable in common
        parts = [draw(_clauses([name, *outer], draw(st.integers(0, 1)))) for name in ("w0", "w1", *outer)]
        both = tuple((name, draw(_intervals(4))) for name in ("w0", "w1"))
        whole = Exists(both, And(tuple(parts[: draw(st.integers(2, 3))])))
    whole = Not(whole) if draw(st.booleans()) else whole
    variables = tuple((name, draw(_intervals(5))) for name in outer)
    hypothesis, conclusion = (TRUE, whole) if draw(st.booleans()) else (whole, draw(_formulas(outer, 0, False)))
    return _text(Obligation(variables, conclusion, hypothesis))


_decided = st.sampled_from((And(), Or(), lt(0, 0), le(0, 0), eq(Const(1) // 0, 0), eq(Var("v0") % 0, Var("v0"))))
_rather_equal = st.sampled_from(("==", "==", "==", "!=", "!=", "<=", "<"))


@st.composite
def _clauses(draw: Draw, names: Sequence[str], depth: int) -> Formula:
    """Connectives of several parts, over atoms that are short, true, false or undefined."""
    if not depth:
        if not draw(st.integers(0, 6)):
            settled: Formula = draw(_decided)
            return settled
        term: Expr = draw(_affine(names))
        if not draw(st.integers(0, 3)):
            term = Binary(draw(st.sampled_from(("min", "max", "floordiv", "mod"))), term, Const(draw(_divisors)))
        return Compare(draw(_rather_equal), term, draw(_affine(names, 1)))
    if depth > 1 and draw(st.booleans()):  # clauses without a row beside them
        pair = Or(tuple(eq(draw(_affine(names, 1)), draw(_affine(names, 1))) for _ in range(2)))
        more = draw(_clauses(names, 0))
        beside: Formula = draw(st.sampled_from((And((pair, more)), And((more, pair)), Or((Not(pair), more)))))
        return beside
    parts = tuple(draw(_clauses(names, draw(st.integers(0, depth - 1)))) for _ in range(draw(st.integers(2, 3))))
    made: Formula = And(parts) if draw(st.booleans()) else Or(parts)
    return made if draw(st.integers(0, 2)) else Not(made)


@st.composite
def clausal_obligations(draw: Draw) -> str:
    """Conjunctions of disjunctions of conjunctions over a small box."""
    names = [f"v{k}" for k in range(draw(st.integers(1, 2)))]
    variables = tuple((name, draw(_intervals(4))) for name in names)
    hypothesis = draw(_clauses(names, draw(st.integers(1, 2))))
    return _text(Obligation(variables, draw(_clauses(names, draw(st.integers(0, 2)))), hypothesis))


@st.composite
def far_obligations(draw: Draw) -> str:
    """A small box far away from zero, beside constants that machine words do not hold."""
    far = draw(_far)
    names = [f"v{k}" for k in range(draw(st.integers(1, 2)))]
    variables = tuple((name, draw(_intervals(5, far))) for name in names)
    hypothesis = draw(_formulas(names, 0, False, far)) if draw(st.booleans()) else TRUE
    return _text(Obligation(variables, draw(_formulas(names, 1, False, far)), hypothesis))


_divisor = st.sampled_from((2, 3, 4, 5, 6, 7, 8, 12, 128))
_extents = st.sampled_from((1, 2, 3, 5, 8, 97, 128, 2**31, 2**40))


@st.composite
def laws(draw: Draw) -> str:
    """Equations that hold for all integers, some by one off."""
    names = [f"v{k}" for k in range(draw(st.integers(1, 3)))]
    f, g = draw(_affine(names)), draw(_affine(names, 3))
    a, b, k = draw(_divisor), draw(_divisor), draw(st.integers(-20, 20))
    sure = [
        eq((f * a + k) // a, f + k // a),
        eq((f * a + k) // (a * b), (f + k // a) // b),
        eq((f // a + k) // b, (f + a * k) // (a * b)),
        eq(f // -a, -f // a),
        eq(f % -a, -(-f % a)),
        eq(f.ceildiv(a), -(-f // a)),
        eq(f.ceildiv(-a), -(f // a)),
        eq((f % a) + f // a * a, f),
        eq((f // a) // b * b + f // a % b, f // a),
        eq((maximum(f, g) + g) // a, maximum((f + g) // a, (g + g) // a)),
        eq((g - minimum(f, g)) // a, maximum((g - f) // a, (g - g) // a)),
        eq(maximum(f, f), f),
        le(minimum(f, f), f),
    ]
    others = [
        eq((minimum(f, g) * k + g) // a, _end(k < 0, (f * k + g) // a, (g * k + g) // a)),
        eq((maximum(f, g) * k + k) // -a, _end(k < 0, -(f * k + k) // a, -(g * k + k) // a)),
        eq((f + g * a) % a, f % a),
        le(maximum(f, g) + minimum(f, g), f + g),
        lt(f, maximum(f, maximum(g, f // a)) + 1),
    ]
    variables = tuple((name, draw(st.sampled_from((None, Interval(-3, 11), Interval(0, 2**40))))) for name in names)
    kind = draw(st.integers(0, 3))
    if kind < 2:
        return _text(Obligation(variables, draw(st.sampled_from(sure)), label=OUTRIGHT))
    law = draw(st.sampled_from((*sure, *others)))
    assert isinstance(law, Compare)
    return _text(Obligation(variables, Compare(law.op, law.lhs, law.rhs + draw(st.sampled_from((0, 1, -1))))))


def _end(lower: bool, f: Expr, g: Expr) -> Expr:
    return maximum(f, g) if lower else minimum(f, g)


@st.composite
def digit_obligations(draw: Draw) -> str:
    """An index taken apart in one shape and put together in another, of any size, at times with an error in it."""
    rank = draw(st.integers(1, 3))
    sizes = [draw(_extents) for _ in range(rank)]
    names = [f"v{k}" for k in range(rank)]
    flat: Expr = Const(0)
    for name, n in zip(names, sizes, strict=True):
        flat = flat * n + Var(name)
    split = draw(st.sampled_from((2, 3, 8, 128, sizes[-1], sizes[-1] * sizes[0])))
    shift = draw(st.sampled_from((0, 0, 0, 1, -1)))
    whole = (flat // split) * split + (flat + shift) % split
    strides = [1]
    for n in reversed(sizes[1:]):
        strides.insert(0, strides[0] * n)
    parts: list[Formula] = [eq(whole, flat)] if draw(st.booleans()) else []
    for name, n, stride in zip(names, sizes, strides, strict=True):
        if draw(st.booleans()):
            digit = flat // stride % n if draw(st.booleans()) else whole // stride % n
            parts.append(Compare(draw(st.sampled_from(("==", "==", "<="))), digit, Var(name)))
    wide = draw(st.sampled_from((0, 0, 0, 1)))
    variables = tuple((name, Interval(0, n - 1 + wide)) for name, n in zip(names, sizes, strict=True))
    hypothesis = lt(draw(_affine(names)), draw(_affine(names))) if draw(st.integers(0, 3)) == 0 else TRUE
    return _text(Obligation(variables, conj(*parts), hypothesis))


@st.composite
def digit_chains(draw: Draw) -> str:
    """Equations of digits that hold in every shape: an index put together, taken apart, and put together again."""
    sizes = [draw(st.sampled_from((2, 3, 4, 8, 128, 2**31))) for _ in range(draw(st.integers(2, 3)))]
    names = [f"v{k}" for k in range(len(sizes))]
    strides = [prod(sizes[k + 1 :]) for k in range(len(sizes))]
    first, last, lead, tail = Var(names[0]), Var(names[-1]), Var(names[0]) * strides[0], sizes[-1]
    flat: Expr = lead
    for name, stride in zip(names[1:-1], strides[1:-1], strict=True):
        flat = flat + Var(name) * stride
    flat = flat + last
    split = strides[draw(st.integers(0, len(sizes) - 2))] * draw(st.sampled_from((1, 1, 2, 3)))
    more, rest = draw(st.integers(-3, 3)), draw(st.integers(0, tail - 1))
    chains = [
        *(eq(flat // strides[k] % sizes[k], Var(names[k])) for k in range(1, len(sizes) - 1)),
        eq(flat % tail, last),
        eq(flat // strides[0], first),
        eq((flat // split) * split + flat % split, flat),
        eq((flat // split) * (split * 3) + (flat % split) * 3 + last, flat * 3 + last),
        eq(flat % strides[0] + lead, flat),
        *(eq(flat // tail // sizes[1], first) for _ in sizes[2:]),
        eq((first * tail + last + more * tail) // tail, first + more),
        eq((first * tail + (rest + tail)) % tail, Const(rest)),
        eq((first * (2 * tail) + last * 2 + 1) // (2 * tail), first),
        eq((first * (2 * tail) + last * 2 + 1) % (2 * tail), last * 2 + 1),
    ]
    variables = tuple((name, Interval(0, n - 1)) for name, n in zip(names, sizes, strict=True))
    if draw(st.integers(0, 3)):
        return _text(Obligation(variables, draw(st.sampled_from(chains)), label=DIGITS))
    # One name bound twice: what is a digit under one quantifier need not be one under the other.
    scoped = eq((first * 3 + Var("w")) // 3, first)
    reaches = [Interval(0, 2), Interval(draw(st.sampled_from((0, -1))), draw(st.sampled_from((2, 3))))]
    twice = [Exists((("w", reach),), scoped) for reach in (reaches if draw(st.booleans()) else reaches[::-1])]
    made = draw(st.sampled_from((And, Or)))((twice[0], Not(twice[1]) if draw(st.booleans()) else twice[1]))
    return _text(Obligation(variables[:1], made, label=DIGITS if reaches[0] == reaches[1] else ""))


@st.composite
def wide_obligations(draw: Draw) -> str:
    """Sets of indices of any size: what a linear form of bound variables reaches, in the hypothesis and owed."""
    reach = Interval(0, draw(_extents) - 1)
    a, k = draw(st.integers(1, 7)), draw(st.integers(-3, 7))
    first, second = Var("w0"), Var("w1")
    form = first * a + k
    bound: list[tuple[str, Interval]] = [("w0", reach)]
    if draw(st.booleans()):
        bound.append(("w1", Interval(0, draw(st.integers(0, 6)))))
        form = form + second
    x = Var("v0")
    member = Exists(tuple(bound), Compare(draw(_rather_equal), x, form))
    remainder = Compare(draw(_comparators), (x + draw(st.integers(-3, 3))) % a, lift(draw(st.integers(0, 6))))
    given_, owed = draw(
        st.sampled_from(
            (
                (member, remainder),
                (remainder, member),
                (Not(member), remainder),
                (And((remainder, le(0, x))), Not(member)),
                (TRUE, Or((member, remainder))),
            )
        )
    )
    variables = (("v0", draw(st.sampled_from((Interval(0, 2**40), Interval(-5, 60), None)))), ("idle", None))
    return _text(Obligation(variables if draw(st.booleans()) else variables[:1], owed, given_))


@st.composite
def boxes(draw: Draw) -> str:
    """One operator over a box of bound variables, beside a constant or a third variable near to what it attains."""
    op: Operator = draw(st.sampled_from(("+", "*", "floordiv", "ceildiv", "mod", "mod", "min", "max")))
    x = draw(_intervals(7))
    low, count = draw(st.sampled_from((1, 2, 3, 5, -3, -1, -6, 0, -2))), draw(st.sampled_from((1, 1, 2, 4)))
    y = Interval(low, low + count - 1)
    constant = draw(st.booleans())
    left = Binary(op, Var("w0"), Const(low) if constant else Var("w1"))
    a = draw(st.sampled_from((x.lower, x.upper)))
    b = draw(st.sampled_from((y.lower, low if constant else y.upper)))
    width = draw(st.sampled_from((0, 0, 1, 2)))
    near = apply_operator(op, a, b or 1) + draw(st.sampled_from((-1, 0, 1))) - draw(st.sampled_from((0, width)))
    right = Var("w2") if width else Const(near)
    lhs, rhs = (left, right) if draw(st.booleans()) else (right, left)
    bound = [("w0", x), ("w1", y), ("w2", Interval(near, near + width))]
    return _text(Obligation((), Exists(tuple(bound), Compare(draw(_comparators), lhs, rhs))))


def obligation_texts() -> st.SearchStrategy[str]:
    """An obligation as JSON, in the form of a reproduction file."""
    return st.one_of(
        small_obligations(),
        small_obligations(symbolic=True),
        clausal_obligations(),
        clausal_obligations(),
        quantified_obligations(),
        quantified_obligations(symbolic=True),
        far_obligations(),
        laws(),
        digit_obligations(),
        digit_chains(),
        wide_obligations(),
        boxes(),
    )
