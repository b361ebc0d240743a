"""Obligations drawn at random: small ones that can be read point by point, and such as only engines reach.

Labels say what an engine owes besides the truth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Final

from hloproof.fuzz.drawing import Writer
from hloproof.fuzz.engines.law_tables import OTHERS, OUTRIGHT_LAWS
from hloproof.fuzz.letters import compared
from hloproof.logic.formula import (
    FALSE,
    TRUE,
    And,
    Comparator,
    Compare,
    Exists,
    Formula,
    Not,
    Or,
    conj,
    eq,
    free_variables,
    le,
    lt,
    ne,
)
from hloproof.logic.obligation import Obligation
from hloproof.models.expressions.evaluate import UndefinedValue, apply_operator, evaluate
from hloproof.models.expressions.expr import Binary, Const, Expr, Operator, Var, lift, maximum, minimum
from hloproof.models.expressions.interval import Interval

OUTRIGHT: Final = "a law of quotients"
"""The label of what isl's encoder settles before isl is asked: its normal form of quotients makes both sides one."""

DIGITS: Final = "digits"
"""The label of what the stage of digits takes apart to where both sides are written the same."""

_DIVISORS: Final = (2, 3, 2, 3, 4, 6, 12, 5, 8, 1, -1, -2, -3, -4, -6, 0, 0)
_FACTORS: Final = (1, -1, 2, -2, 3, 4, 6, -3, -4, 12, 8, 5, 1, 1, -1, 2, 0, 0)
_FAR: Final = (2**31, 2**40, -(2**40), 2**62, 2**63, 2**63 - 1, -(2**63), 2**64, 2**80)
_EXTENTS: Final = (1, 2, 3, 5, 8, 97, 128, 2**31, 2**40)
_KINDS: Final = ("floordiv", "mod", "ceildiv", "floordiv", "mod", "+", "*", "min", "max")
_COMPARATORS: Final[tuple[Comparator, ...]] = ("==", "!=", "<=", "<")
_RATHER_EQUAL: Final[tuple[Comparator, ...]] = ("==", "==", "==", "!=", "!=", "<=", "<")


# --- terms and formulas --------------------------------------------------------------------------------------------


def affine(w: Writer, names: Sequence[str], most: int = 2) -> Expr:
    """A short sum of multiples of variables and a constant."""
    total: Expr | None = None
    for _ in range(w.number(1, most)):
        term, factor = Var(w.one_of(names)), w.one_of(_FACTORS)
        more: Expr = term if factor == 1 else term * factor
        total = more if total is None else total + more
    assert total is not None
    constant = w.number(-9, 12) if w.chance(2) else 0
    return total + constant if constant else total


def _term(w: Writer, names: Sequence[str], depth: int, symbolic: bool, far: int = 0) -> Expr:
    """`symbolic`: products of what varies, and divisors that vary. `far`: constants are near it."""
    if not depth or w.chance(6):
        kind = w.number(0, 5)
        if kind < 2:
            return Var(w.one_of(names))
        return Const(w.number(-9, 12) + far) if kind == 2 else affine(w, names)
    op: Operator = w.one_of(_KINDS)
    left = _term(w, names, depth - 1, symbolic, far)
    if op in ("floordiv", "mod", "ceildiv"):
        if symbolic and w.chance(2):
            return Binary(op, left, _term(w, names, 0, symbolic))
        return Binary(op, left, Const(w.one_of(_DIVISORS) + (far if far and w.chance(2) else 0)))
    if op == "*" and not symbolic:
        constant = Const(w.one_of(_FACTORS))
        return Binary("*", left, constant) if w.chance(2) else Binary("*", constant, left)
    return Binary(op, left, _term(w, names, depth - 1, symbolic, far))


def _formula(w: Writer, names: Sequence[str], depth: int, symbolic: bool, far: int = 0, bound: int = 0) -> Formula:
    kind = w.number(0, 8) if depth else 0
    if w.chance(12):  # true or false wherever it stands
        return Compare(w.one_of(_COMPARATORS), Const(0), Const(w.one_of((-1, 0, 1))))
    if kind <= 1:
        left = _term(w, names, w.number(1, 2), symbolic, far)
        return Compare(w.one_of(_COMPARATORS), left, _term(w, names, w.number(0, 1), symbolic, far))
    if kind <= 4:
        made = tuple(_formula(w, names, depth - 1, symbolic, far, bound) for _ in range(w.number(0, 3)))
        return And(made) if kind <= 3 else Or(made)
    if kind == 5:
        return Not(_formula(w, names, depth - 1, symbolic, far, bound))
    fresh = [f"w{bound + k}" for k in range(w.one_of((1, 1, 1, 2, 2, 0)))]
    if fresh and w.chance(8):
        fresh[0] = w.one_of(names)  # it hides one
    variables = tuple((name, interval(w, 4)) for name in fresh)
    part = _formula(w, list(dict.fromkeys([*names, *fresh])), depth - 1, symbolic, far, bound + len(fresh))
    if fresh and w.chance(2):  # an equation that ties what is bound to what is free
        tied = eq(affine(w, names), affine(w, fresh))
        part = conj(tied, part) if w.chance(2) else And((part, tied))
    return Exists(variables, part)


def _clauses(w: Writer, names: Sequence[str], depth: int) -> Formula:
    """Connectives of several parts, over atoms that are short, true, false or undefined."""
    if not depth:
        if w.chance(7):
            first = Var("v0")
            settled: Formula = w.one_of((And(), Or(), lt(0, 0), le(0, 0), eq(Const(1) // 0, 0), eq(first % 0, first)))
            return settled
        term = affine(w, names)
        if w.chance(4):
            term = Binary(w.one_of(("min", "max", "floordiv", "mod")), term, Const(w.one_of(_DIVISORS)))
        return Compare(w.one_of(_RATHER_EQUAL), term, affine(w, names, 1))
    if depth > 1 and w.chance(2):  # clauses without a row beside them
        pair = Or(tuple(eq(affine(w, names, 1), affine(w, names, 1)) for _ in range(2)))
        more = _clauses(w, names, 0)
        beside: Formula = w.one_of((And((pair, more)), And((more, pair)), Or((Not(pair), more))))
        return beside
    made = tuple(_clauses(w, names, w.number(0, depth - 1)) for _ in range(w.number(2, 3)))
    whole = And(made) if w.chance(2) else Or(made)
    return Not(whole) if w.chance(3) else whole


def interval(w: Writer, widest: int = 9, base: int = 0) -> Interval:
    """Near `base`; at times a point, rarely empty."""
    low = base + w.one_of((0, 0, 0, 1, 2, -3, -7))
    return Interval(low, low + w.number(-1 if w.chance(12) else 0, widest))


def over(w: Writer, names: Sequence[str], widest: int, base: int = 0) -> tuple[tuple[str, Interval], ...]:
    return tuple((name, interval(w, widest, base)) for name in names)


def _named(count: int) -> list[str]:
    return [f"v{k}" for k in range(count)]


# --- obligations that are read ---------------------------------------------------------------------------------------


def small(w: Writer) -> Obligation:
    """Every operator, undefined divisions, nested and negated quantifiers, over a box of some hundred points."""
    symbolic, names = w.chance(2), _named(w.number(1, 3))
    variables = over(w, names, (14, 9, 6)[len(names) - 1])
    hypothesis = _formula(w, names, 1, symbolic) if w.chance(2) else TRUE
    return Obligation(variables, _formula(w, names, w.number(0, 3), symbolic), hypothesis)


def quantified(w: Writer) -> Obligation:
    """Quantifiers inside one another, around terms that may be undefined in a part of the box only."""
    symbolic, outer = w.chance(2), _named(w.number(1, 2))
    names = [*outer, "w0", "w1"]
    part = _formula(w, names, w.number(0, 1), True, bound=2) if symbolic else _clauses(w, names, 2)
    if w.chance(2):
        operator: Operator = w.one_of(("floordiv", "mod", "ceildiv"))
        uneven = Binary(operator, Var(w.one_of(("w0", "w1"))), _term(w, ["w0", "w1"], 0, symbolic))
        more = Compare(w.one_of(_COMPARATORS), uneven + affine(w, [*outer, "w0"]), affine(w, ["w1"], 1))
        part = w.one_of((And((part, more)), Or((more, part)), more))
    inner: Formula = Exists(((w.one_of(("w1", "w1", "w0")), interval(w, 4)),), part)
    if w.chance(6):
        inner = Exists((), part)
    inner = w.one_of((inner, Not(inner), Or((Compare("<", Var("w0"), Const(0)), inner))))
    bound = [("w0", interval(w, 4))]
    if "w1" in free_variables(inner):  # the inner quantifier binds w0 again
        bound.append(("w1", interval(w, 3)))
    whole: Formula = Exists(tuple(bound), inner)
    if w.chance(4):  # parts that have no bound variable in common
        apart = [_clauses(w, [name, *outer], w.number(0, 1)) for name in ("w0", "w1", *outer)]
        whole = Exists(over(w, ("w0", "w1"), 4), And(tuple(apart[: w.number(2, 3)])))
    whole = Not(whole) if w.chance(2) else whole
    hypothesis, conclusion = (TRUE, whole) if w.chance(2) else (whole, _formula(w, outer, 0, False))
    return Obligation(over(w, outer, 5), conclusion, hypothesis)


def clausal(w: Writer) -> Obligation:
    """Conjunctions of disjunctions of conjunctions over a small box."""
    names = _named(w.number(1, 2))
    hypothesis = _clauses(w, names, w.number(1, 2))
    return Obligation(over(w, names, 4), _clauses(w, names, w.number(0, 2)), hypothesis)


def far_away(w: Writer) -> Obligation:
    """A small box far away from zero, beside constants that machine words do not hold."""
    far, names = w.one_of(_FAR), _named(w.number(1, 2))
    hypothesis = _formula(w, names, 0, False, far) if w.chance(2) else TRUE
    return Obligation(over(w, names, 5, far), _formula(w, names, 1, False, far), hypothesis)


def box(w: Writer) -> Obligation:
    """One operator over a box of bound variables, beside a constant or a third variable near to what it attains."""
    op: Operator = w.one_of(("+", "*", "floordiv", "ceildiv", "mod", "mod", "min", "max"))
    x, low, constant = interval(w, 7), w.one_of((1, 2, 3, 5, -3, -1, -6, 0, -2)), w.chance(2)
    y = Interval(low, low + w.one_of((1, 1, 2, 4)) - 1)
    left = Binary(op, Var("w0"), Const(low) if constant else Var("w1"))
    a, b, width = w.one_of((x.lower, x.upper)), w.one_of((low, low if constant else y.upper)), w.one_of((0, 0, 1, 2))
    near = apply_operator(op, a, b or 1) + w.one_of((0, -1, 1)) - w.one_of((0, width))
    sides = w.shuffled([left, Var("w2") if width else Const(near)])
    bound = (("w0", x), ("w1", y), ("w2", Interval(near, near + width)))
    return Obligation((), Exists(bound, Compare(w.one_of(_COMPARATORS), *sides)))


def connected(w: Writer) -> Obligation:
    """Connectives of two to five atoms, some of them true, false or undefined, over a few points."""
    u, v = Var("u"), Var("v")

    def atom() -> Formula:
        x, c = w.one_of((u, v)), w.number(-1, 2)
        atoms = (
            eq(x, c),
            eq(x, c),
            ne(x, c),
            ne(x, c),
            le(x, c),
            eq(0, 1),
            eq(0, 0),
            eq(Const(c) // 0, 0),
            eq(x // 0, c),
        )
        ends = (le(c, maximum(u, v)), le(minimum(u, v), c), le(maximum(u, v) + x, c), le(c, minimum(u, v + 1)))
        found: Formula = w.one_of((*atoms, *ends))
        return found

    pair, apart, more = Or((atom(), atom())), And((atom(), atom())), atom()
    forms = (
        Or((And((ne(u, 0), ne(v, w.number(0, 1)))), more)),
        And((pair, more)),
        Or((apart, more)),
        Or((And((pair, atom())), more)),
        And((Or((apart, more)), pair)),
        Or((And((pair, eq(0, 1))), more)),
        And((Or((And((pair, Or((atom(), atom())))), atom())), more)),
    )
    f: Formula = w.one_of(forms)
    hypothesis, conclusion = w.one_of(((f, FALSE), (TRUE, f), (Not(f), FALSE), (TRUE, Not(f))))
    return Obligation((("u", Interval(-1, 2)), ("v", Interval(-1, 2))), conclusion, hypothesis)


def divided(w: Writer) -> Obligation:
    """Quotients by what varies at a single point, near to what they are, or quantifiers inside one another."""
    u, v, k, inner = Var("u"), Var("v"), Var("k"), Var("z")
    point = {"u": w.number(-5, 5), "v": w.number(-2, 2), "k": w.one_of((1, 2, 3, 0, 0, -1, -2, -3))}
    operator: Operator = w.one_of(("floordiv", "ceildiv", "mod"))
    quotient = Binary(operator, u * w.one_of((1, 3, -2)), w.one_of((k, k, k + 1, Const(w.one_of((2, 0, -1, -3))))))
    try:
        near = evaluate(quotient, point) + w.one_of((0, 0, 1, -1))
    except UndefinedValue:
        near = 0
    beside = Binary(operator, quotient.lhs, k * k + 1) if w.chance(3) else Const(near)
    atom = Compare(w.one_of(_COMPARATORS), quotient, beside)
    reach = Interval(0, 1), Interval(0, 2)
    found = Exists((("z", w.one_of(reach)),), eq(inner, Var("w") + w.one_of((0, 0, 1))))
    everywhere = Not(Exists((("w", w.one_of(reach)),), Not(found)))
    f: Formula = w.one_of((atom, atom, Not(atom), And((atom, le(u, v))), Or((atom, le(u, v))), everywhere))
    hypothesis, conclusion = w.one_of(((f, FALSE), (TRUE, f)))
    variables = tuple((name, Interval.point(value)) for name, value in point.items())
    return Obligation((*variables, ("idle", Interval.point(0))), conclusion, hypothesis)


# --- obligations of any size -----------------------------------------------------------------------------------------


def law(w: Writer, outright: bool = False) -> Obligation:
    """Equations that hold for all integers, some by one off; with `outright` such as isl's encoder settles."""
    names = _named(w.number(1, 3))
    at = {"f": affine(w, names), "g": affine(w, names, 3)}
    at |= {letter: Const(w.number(*ends)) for letter, ends in (("k", (-20, 20)), ("p", (0, 20)), ("n", (-20, -1)))}
    at |= {letter: Const(w.one_of((2, 3, 4, 5, 6, 7, 8, 12, 128))) for letter in "ab"}
    variables = tuple((name, w.one_of((None, Interval(-3, 11), Interval(0, 2**40)))) for name in names)
    if outright or w.chance(2):
        return Obligation(variables, compared(w.one_of(OUTRIGHT_LAWS), at), label=OUTRIGHT)
    stated = compared(w.one_of((*OUTRIGHT_LAWS, *OTHERS)), at)
    return Obligation(variables, Compare(stated.op, stated.lhs, stated.rhs + w.one_of((0, 1, -1))))


def digits(w: Writer) -> Obligation:
    """An index taken apart in one shape and put together in another, of any size, at times with an error in it."""
    sizes = [w.one_of(_EXTENTS) for _ in range(w.number(1, 3))]
    names = _named(len(sizes))
    flat: Expr = Const(0)
    for name, n in zip(names, sizes, strict=True):
        flat = flat * n + Var(name)
    split = w.one_of((2, 3, 8, 128, sizes[-1], sizes[-1] * sizes[0]))
    whole = (flat // split) * split + (flat + w.one_of((0, 0, 0, 1, -1))) % split
    made: list[Formula] = [eq(whole, flat)] if w.chance(2) else []
    for k, (name, n) in enumerate(zip(names, sizes, strict=True)):
        if w.chance(2):
            digit = w.one_of((flat, whole)) // prod(sizes[k + 1 :]) % n
            made.append(Compare(w.one_of(("==", "==", "<=")), digit, Var(name)))
    wide = w.one_of((0, 0, 0, 1))
    variables = tuple((name, Interval(0, n - 1 + wide)) for name, n in zip(names, sizes, strict=True))
    return Obligation(variables, conj(*made), lt(affine(w, names), affine(w, names)) if w.chance(4) else TRUE)


def digit_chain(w: Writer) -> Obligation:
    """Equations of digits that hold in every shape: an index put together, taken apart, and put together again."""
    sizes = [w.one_of((2, 3, 4, 8, 128, 2**31)) for _ in range(w.number(2, 3))]
    names, strides = _named(len(sizes)), [prod(sizes[k + 1 :]) for k in range(len(sizes))]
    first, last, tail = Var(names[0]), Var(names[-1]), sizes[-1]
    lead: Expr = first * strides[0]
    flat = lead
    for name, stride in zip(names[1:-1], strides[1:-1], strict=True):
        flat = flat + Var(name) * stride
    flat = flat + last
    split = strides[w.number(0, len(sizes) - 2)] * w.one_of((1, 1, 2, 3))
    more, rest = w.number(-3, 3), w.number(0, tail - 1)
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
    if not w.chance(4):
        return Obligation(variables, w.one_of(chains), label=DIGITS)
    # One name bound twice: what is a digit under one quantifier need not be one under the other.
    scoped = eq((first * 3 + Var("w")) // 3, first)
    reaches = [Interval(0, 2), Interval(w.one_of((0, -1)), w.one_of((2, 3)))]
    twice = [Exists((("w", reach),), scoped) for reach in w.shuffled(reaches)]
    made = w.one_of((And, Or))((twice[0], Not(twice[1]) if w.chance(2) else twice[1]))
    return Obligation(variables[:1], made, label=DIGITS if reaches[0] == reaches[1] else "")


def wide(w: Writer) -> Obligation:
    """Sets of indices of any size: what a linear form of bound variables reaches, in the hypothesis and owed."""
    a, x = w.number(1, 7), Var("v0")
    form, bound = Var("w0") * a + w.number(-3, 7), [("w0", Interval(0, w.one_of(_EXTENTS) - 1))]
    if w.chance(2):
        bound.append(("w1", Interval(0, w.number(0, 6))))
        form = form + Var("w1")
    member = Exists(tuple(bound), Compare(w.one_of(_RATHER_EQUAL), x, form))
    remainder = Compare(w.one_of(_COMPARATORS), (x + w.number(-3, 3)) % a, lift(w.number(0, 6)))
    given, owed = w.one_of(
        (
            (member, remainder),
            (remainder, member),
            (Not(member), remainder),
            (And((remainder, le(0, x))), Not(member)),
            (TRUE, Or((member, remainder))),
        )
    )
    variables = (("v0", w.one_of((Interval(0, 2**40), Interval(-5, 60), None))), ("idle", None))
    return Obligation(variables[: w.number(1, 2)], owed, given)


KINDS: Final[tuple[Callable[[Writer], Obligation], ...]] = (
    *(small, small, clausal, clausal, quantified, quantified),
    *(far_away, law, digits, digit_chain, wide, box, connected, divided),
)
