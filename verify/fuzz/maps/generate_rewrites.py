"""Strategies for maps with what the simplifier owes: instances of its rules, and spellings of one expression.

A case is a line that says what is owed, a map, and where the map is to become another one, that one:

    //becomes nested-floordiv
    (d0) -> ((d0 / 3) / 4), domain: d0 in [0, 99]
    //with
    (d0) -> (d0 / 12), domain: d0 in [0, 99]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise, product
from math import gcd, lcm, prod
from random import Random
from typing import Any, Final

from hypothesis import strategies as st

from hloproof.fuzz.maps.spelled_map import joined, words
from hloproof.models.expressions.expr import Binary, Const, Expr, Operator, Var, substitute
from hloproof.models.expressions.interval import Interval
from hloproof.models.expressions.python_text import function_of
from hloproof.models.maps.indexing_map import Constraint, IndexingMap, RuntimeVariable, Variable
from hloproof.models.maps.text import print_map
from hloproof.models.rules.rule import Computed, Condition, ConstraintRule, ExpressionRule, Rule
from hloproof.models.rules.text import project_rules

AND: Final = "\n//and\n"
"""What stands between cases."""
WITH: Final = "\n//with\n"
"""What stands between a map and the one that it becomes."""
MOST_POINTS: Final = 300
_TRIES: Final = 60
_CONSTANTS: Final = (-7, -5, -4, -3, -2, -1, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 9, 10, 12, 15)
_COEFFICIENTS: Final = (1, 1, 1, 1, 2, 2, 3, 4, 5, -1, -1, -2, -3)

PLAIN: Final = {
    "quotient-and-remainder",
    "joined-remainders",
    "remainder",
    "merged-residues",
    "residue-narrows",
    "floordiv-of-mod",
}
"""Rules whose left side has one expression twice, which other rules may rewrite apart; sums of variables stay."""

Box = dict[str, Interval]
Values = dict[str, int]


def text(owed: str, *maps: IndexingMap) -> str:
    return f"//{owed}\n" + WITH.join(_written(m) for m in maps)


def _written(m: IndexingMap) -> str:
    """Maps with an empty interval are printed without anything of theirs; here they are wanted as they are."""
    return joined(words(m, Random(0)), Random(0))[0] if m.is_trivially_empty else print_map(m)


def map_over(
    box: Mapping[str, Interval], results: Sequence[Expr], constraints: Sequence[tuple[Expr, Interval]] = ()
) -> IndexingMap:
    """The map over variables d0, .., s0, .. in these intervals; one that is missing in between has the value 0."""
    return IndexingMap(
        _variables(box, "d"),
        tuple(results),
        _variables(box, "s"),
        constraints=tuple(Constraint(e, i) for e, i in constraints),
    )


def _variables(box: Mapping[str, Interval], letter: str) -> tuple[Variable, ...]:
    numbers = [int(name[1:]) for name in box if name[0] == letter]
    count = max(numbers, default=-1) + 1
    return tuple(Variable(box.get(f"{letter}{k}", Interval(0, 0))) for k in range(count))


def points_of(box: Mapping[str, Interval]) -> list[tuple[int, ...]]:
    return list(product(*(range(i.lower, i.upper + 1) for i in box.values())))


# --- spellings ---------------------------------------------------------------------------------------------------


def respelled(e: Expr, random: Random) -> Expr:
    """The same expression otherwise written: terms of sums in another order, some of them split or taken together, the
    arguments of min and max exchanged."""
    const, terms = _terms(e)
    parts: list[Expr] = []
    for atom, c in terms:
        again = atom
        if isinstance(atom, Binary):
            lhs, rhs = respelled(atom.lhs, random), respelled(atom.rhs, random)
            turned = atom.op in ("min", "max", "*") and random.random() < 0.5
            again = Binary(atom.op, rhs, lhs) if turned else Binary(atom.op, lhs, rhs)
        if random.random() < 0.15:
            some = random.randint(-3, 3)
            parts.append(_times(again, some))
            c -= some
        if c:
            parts.append(_times(again, c))
    if const and random.random() < 0.2:
        some = random.randint(-4, 4)
        parts.append(Const(some))
        const -= some
    if const or not parts:
        parts.append(Const(const))
    random.shuffle(parts)
    if len(parts) > 1 and random.random() < 0.15:
        cut = random.randint(1, len(parts) - 1)
        negated = _sum([_times(p, -1) for p in parts[:cut]], random)
        parts = [Binary("*", negated, Const(-1)), *parts[cut:]]
    return _sum(parts, random)


def _times(e: Expr, c: int) -> Expr:
    return e if c == 1 else Binary("*", e, Const(c))


def _sum(parts: list[Expr], random: Random) -> Expr:
    parts = list(parts)
    while len(parts) > 1:
        at = random.randrange(len(parts) - 1) if random.random() < 0.3 else 0
        parts[at : at + 2] = [Binary("+", parts[at], parts[at + 1])]
    return parts[0]


def collected(e: Expr) -> dict[Expr, int]:
    """The coefficients of the terms of a sum, operators below them as they are written."""
    found: dict[Expr, int] = {}
    for atom, c in _terms(e)[1]:
        found[atom] = found.get(atom, 0) + c
    return found


def _terms(e: Expr, factor: int = 1) -> tuple[int, list[tuple[Expr, int]]]:
    match e:
        case Const(value):
            return factor * value, []
        case Binary("+", lhs, rhs):
            (a, x), (b, y) = _terms(lhs, factor), _terms(rhs, factor)
            return a + b, x + y
        case Binary("*", Const(value), inner) | Binary("*", inner, Const(value)):
            return _terms(inner, factor * value)
    return 0, [(e, factor)]


# --- instances of rules ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Instance:
    """Metavariables with what they stand for, over a box; `holds`: all conditions hold at every point of it."""

    given: dict[str, Expr]
    box: Box
    holds: bool


def instance(rule: Rule, random: Random) -> Instance | None:
    """Constants and expressions for the metavariables; no variable occurs in two of them, unless the rule compares two
    expressions. None when constants that meet the conditions were not found."""
    sorts = dict(rule.sorts)
    computed = {c.name for c in rule.computed}
    constants = sorted(n for n, sort in sorts.items() if sort == "constant" and n not in computed)
    spoilt = random.random() < 0.15
    found: Instance | None = None
    for _ in range(_TRIES):
        at = _constants(rule, constants, random, spoilt)
        if at is None:
            continue
        found = _with_expressions(rule, at, random)
        if found is not None and (found.holds or spoilt):
            break
    return found


def _constants(rule: Rule, names: Sequence[str], random: Random, spoilt: bool) -> Values | None:
    for _ in range(_TRIES):
        at: Values = {n: random.choice(_CONSTANTS) or (n == "q") for n in names}
        try:
            for c in rule.computed:
                if all(a.free <= at.keys() for a in c.arguments) and c.function not in ("range", "least", "greatest"):
                    at[c.name] = _computed(c, at)
            known = [c for c in rule.conditions if c.lhs.free | c.rhs.free <= at.keys()]
            if spoilt or all(_met(c, at) for c in known):
                return at
        except (ZeroDivisionError, ValueError):
            continue
    return None


def _computed(c: Computed, at: Values) -> int:
    first, *others = function_of(c.arguments, list(at))(**at)
    match c.function:
        case "gcd":
            return gcd(first, *others)
        case "lcm":
            return lcm(first, *others)
        case "inverse":
            return pow(first, -1, others[0])
    return first


def _met(c: Condition, at: Values) -> bool:
    x, y = _sides(c, tuple(at))(**at)
    return _compared(c.op, x, y)


@cache
def _sides(c: Condition, names: tuple[str, ...]) -> Callable[..., tuple[int, ...]]:
    return function_of((c.lhs, c.rhs), names)


def _compared(op: str, x: int, y: int) -> bool:
    return {"==": x == y, "!=": x != y, "<=": x <= y, "<": x < y}[op]


def _with_expressions(rule: Rule, at: Values, random: Random) -> Instance | None:
    names = sorted(n for n, sort in rule.sorts if sort != "constant")
    free = ["d0", "d1", "d2", "s0", "s1"]
    random.shuffle(free)
    box: Box = {}
    given: dict[str, Expr] = {}
    for name in names:
        count = 1 if rule.sort(name) == "variable" else random.choice((0, 1, 1, 1, 2))
        if name == names[0]:
            count = max(count, 1)
        used, free = free[:count], free[count:]
        for v in used:
            low = random.choice((0, 0, 0, 1, 2, -3, 4, 7))
            box[v] = Interval(low, low + random.choice((1, 1, 2, 3, 4, 6, 9)))
        e: Expr = Var(used[0]) if used else Const(random.choice((0, 0, 1, 2, 3, 5)))
        if rule.sort(name) == "expression" and used:
            e = _linear(used, random, rule.name in PLAIN)
            if rule.name in PLAIN and rule.name != "residue-narrows" and random.random() < 0.4:
                e = e // random.choice((2, 3, 4))
        given[name] = e
    compared = [c for c in rule.conditions if c.op == "<=" and {c.lhs, c.rhs} <= {Var(n) for n in names}]
    if compared and random.random() < 0.5:
        less, more = compared[0].lhs, compared[0].rhs
        assert isinstance(less, Var) and isinstance(more, Var)
        given[more.name] = given[less.name] + given[more.name]
    if prod(i.count for i in box.values()) > MOST_POINTS:
        return None
    constants = dict(at)
    everywhere = points_of(box)
    exact = {n: function_of((e,), list(box)) for n, e in given.items()}
    seen = [constants | {n: f(*p)[0] for n, f in exact.items()} for p in everywhere]
    try:
        for c in rule.computed:
            if c.name not in constants:
                found = [_argument(c, tuple(s))(**s)[0] for s in seen]
                constants[c.name] = max(found) if c.function == "greatest" else min(found)
                for s in seen:
                    s[c.name] = constants[c.name]
        holds = all(_compared(c.op, *_sides(c, tuple(seen[0]))(**s)) for c in rule.conditions for s in seen)
    except ZeroDivisionError:
        return None
    return Instance(given | {n: Const(v) for n, v in constants.items()}, box, holds)


@cache
def _argument(c: Computed, names: tuple[str, ...]) -> Callable[..., tuple[int, ...]]:
    return function_of(c.arguments, names)


def _linear(names: Sequence[str], random: Random, plain: bool = False) -> Expr:
    parts = [_times(Var(v), 1 if plain else random.choice(_COEFFICIENTS)) for v in names]
    const = 0 if plain else random.choice((0, 0, 0, 1, 2, -1, -4, 5))
    if const:
        parts.append(Const(const))
    return _sum(parts, random)


# --- cases -------------------------------------------------------------------------------------------------------


@cache
def applied_rules() -> tuple[ExpressionRule, ...]:
    """The rules that the simplifier applies to expressions."""
    rules = (*project_rules("division"), *project_rules("order"), *project_rules("sums"))
    return tuple(r for r in rules if isinstance(r, ExpressionRule))


def rule_case(random: Random) -> str:
    """An instance of a rule, among other terms; where its conditions hold it becomes the right side."""
    rule = random.choice(applied_rules())
    found = instance(rule, random)
    if found is None:
        return spelling_case(random)
    outside, rest = random.choice((1, 1, 1, -1, 2, 3)), _rest(found.box, random)
    before, after = (_times(substitute(e, found.given), outside) + rest for e in (rule.lhs, rule.rhs))
    left = map_over(found.box, (respelled(before, random),))
    divisor = found.given.get("c")
    negative = isinstance(divisor, Const) and divisor.value < 0
    if random.random() < 0.08:
        return text(f"keeps spoilt {rule.name}", map_over(found.box, (_spoilt(before, found.box, random),)))
    if not found.holds or (negative and rule.name in PLAIN):  # quotients by negative numbers are rewritten first
        return text(f"keeps {rule.name}", left)
    return text(f"becomes {rule.name}", widened(left, random), map_over(found.box, (after,)))


def _spoilt(e: Expr, box: Box, random: Random) -> Expr:
    """Another summand somewhere within."""
    if not isinstance(e, Binary) or random.random() < 0.3:
        return e + random.choice((Const(1), Const(-2), Var(random.choice(list(box)))))
    if random.random() < 0.7 or isinstance(e.rhs, Const):
        return Binary(e.op, _spoilt(e.lhs, box, random), e.rhs)
    return Binary(e.op, e.lhs, _spoilt(e.rhs, box, random))


def widened(m: IndexingMap, random: Random) -> IndexingMap:
    """Now and then a wider interval of one variable, and a constraint that says the same as the narrower one."""
    if random.random() < 0.7 or not (m.dims or m.ranges) or m.is_trivially_empty:
        return m
    letter = random.choice("ds") if m.dims and m.ranges else "d" if m.dims else "s"
    variables = list(m.dims if letter == "d" else m.ranges)
    k = random.randrange(len(variables))
    i = variables[k].interval
    wide = Interval(i.lower - random.choice((0, 2)), i.upper + random.choice((1, 3)))
    variables[k] = replace(variables[k], interval=wide)
    v, c, shift = Var(f"{letter}{k}"), random.choice((1, 1, 2, 3, -1, -2)), random.choice((0, 0, 1, -4))
    low, high = sorted((c * i.lower + shift, c * i.upper + shift))
    said = Constraint(respelled(_times(v, c) + shift, random), Interval(low, high))
    constraints = list(m.constraints)
    constraints.insert(random.randint(0, len(constraints)), said)
    wider = replace(m, constraints=tuple(constraints))
    return replace(wider, dims=tuple(variables)) if letter == "d" else replace(wider, ranges=tuple(variables))


def _rest(box: Box, random: Random) -> Expr:
    """Another summand; a variable of its own or none."""
    if random.random() < 0.6:
        return Const(random.choice((0, 0, 0, 1, -2)))
    name = next(n for n in ("s2", "d3") if n not in box and (n == "d3" or random.random() < 0.5))
    box[name] = Interval(0, random.choice((1, 2)))
    return _linear((name,), random)


def constraint_case(random: Random) -> str:
    """An instance of a rule about constraints, beside another constraint or not."""
    rules = project_rules("constraints")
    rule = random.choice([*rules, *(r for r in rules if r.computed for _ in range(2))])
    assert isinstance(rule, ConstraintRule)
    for _ in range(5):
        made = _constraints(rule, random)
        if made is not None and (rule.never or made[1] != "empty"):
            break
    return made[0] if made is not None else spelling_case(random)


def _constraints(rule: ConstraintRule, random: Random) -> tuple[str, str] | None:
    """The case, and what is owed in it."""
    found = instance(rule, random)
    if found is None:
        return None

    def bounded(side: Sequence[Any]) -> list[tuple[Expr, Interval]]:
        out = []
        for b in side:
            low, high = function_of((substitute(b.lower, found.given), substitute(b.upper, found.given)), ())()
            out.append((substitute(b.expr, found.given), Interval(low, high)))
        return out

    try:
        before, after = bounded(rule.before), bounded(rule.after)
    except ZeroDivisionError:
        return None
    results = [Var(random.choice(list(found.box)))]
    left = map_over(found.box, results, [(respelled(e, random), i) for e, i in random.sample(before, len(before))])
    if not found.holds:
        return text(f"keeps {rule.name}", left), "keeps"
    if rule.never or not _meeting(found.box, before):
        return text(f"empty {rule.name}", widened(left, random)), "empty"
    if random.random() < 0.08:
        e, i = random.choice(before)
        return text(f"keeps spoilt {rule.name}", map_over(found.box, results, [(_spoilt(e, found.box, random), i)])), ""
    return text(f"becomes {rule.name}", widened(left, random), map_over(found.box, results, after)), "becomes"


def spelling_case(random: Random) -> str:
    """Two spellings of one sum of variables, remainders and quotients."""
    names = random.sample(["d0", "d1", "d2", "s0", "s1", "d10"], random.choice((1, 2, 2, 3)))
    box = {n: Interval(0, random.choice((1, 2, 3, 4))) for n in names}
    parts: list[Expr] = [_linear(names, random)]
    for _ in range(random.choice((0, 1, 1, 2))):
        inner = _linear(random.sample(names, random.randint(1, len(names))), random)
        op = random.choice(("floordiv", "mod", "ceildiv", "min", "max", "*"))
        other: Expr = Const(random.choice((2, 3, 4, 6, 7, -2, -3)))
        if random.random() < (0.6 if op in ("min", "max", "*") else 0.15):
            other = _linear(random.sample(names, 1), random)
        parts.append(_times(Binary(op, inner, other), random.choice(_COEFFICIENTS)))  # type: ignore[arg-type]
        if random.random() < 0.3:
            other = Const(random.choice((0, 1, 1, 2, 3, 4, 5, -1)))
            parts.append(_times(Binary(op, inner, other), random.choice(_COEFFICIENTS)))  # type: ignore[arg-type]
    if random.random() < 0.2:
        parts.append(Binary("*", Var(names[0]), Var(random.choice(names))))
    e = _sum(parts, random)
    return text("becomes itself", map_over(box, (respelled(e, random),)), map_over(box, (respelled(e, random),)))


def constant_case(random: Random) -> str:
    """Products with zero, and maps without variables, some of which have no point."""
    name = random.choice(("d0", "s0"))
    e = _linear((name,), random)
    if random.random() < 0.5:
        nothing = random.choice((_times(e, 0), Binary("*", Const(0), e % 3), _times(e // 2, 0)))
        used = random.choice((nothing, nothing % 3, Binary("*", nothing, Var(name)), Binary("max", nothing, e)))
        box = {name: Interval(-2, 2)}
        return text("becomes nothing", map_over(box, [used]), map_over(box, [used + 0]))
    value = random.randint(-2, 4)
    m = IndexingMap((), (Const(3),), constraints=(Constraint(Const(value), Interval(0, 2)),))
    return text("keeps constant" if 0 <= value <= 2 else "empty constant", m)


def knowledge_case(random: Random) -> str:
    """What a chain of constraints leaves of a variable is known where the results are simplified."""
    names = random.sample(["d0", "d1", "s0", "s1"], random.choice((2, 3)))
    box = {n: Interval(low, low + random.choice((3, 4, 5))) for n in names for low in (random.choice((0, 0, 1, -3)),)}
    constraints: list[tuple[Expr, Interval]] = []
    for x, y in pairwise(names):
        e = _times(Var(x), random.choice((1, -1, 2, -2, 3, -3))) + _times(Var(y), random.choice((1, -1)))
        constraints.append((e, _within(e, box, random)))
    seen = _meeting(box, constraints)
    if not seen:
        return text("empty knowledge", map_over(box, [Var(names[0])], constraints))
    results: list[Expr] = []
    plain: list[Expr] = []
    for k, name in enumerate(box):
        low, high = min(p[k] for p in seen), max(p[k] for p in seen)
        v, width = Var(name), high - low + 1
        for e, known in (
            ((v - low) // width, Const(0)),
            (Binary("min", v, Const(high)), v),
            (Binary("max", v, Const(low)), v),
            ((v - low) % width, v - low),
            ((v - low + 1) // width, None),
            (Binary("min", v, Const(high - 1)), None),
        ):
            if random.random() < 0.6:
                results.append(respelled(e, random))
                plain.append(e if known is None else known)
    spelled = [(respelled(e, random), i) for e, i in constraints]
    return text(
        "becomes knowledge",
        map_over(box, results, random.sample(spelled, len(spelled))),
        map_over(box, plain, constraints),
    )


def _within(e: Expr, box: Box, random: Random) -> Interval:
    """An interval whose ends are values of the expression, seldom all of them."""
    f = function_of((e,), list(box))
    values = sorted({f(*p)[0] for p in points_of(box)})
    low, high = sorted((random.choice(values), random.choice(values)))
    match random.randrange(4):
        case 0:
            return Interval(low - random.choice((0, 50)) if low == values[0] else values[0], high)
        case 1:
            return Interval(low, values[-1] + random.choice((0, 50)))
    return Interval(low, high)


def _meeting(box: Box, constraints: Sequence[tuple[Expr, Interval]]) -> list[tuple[int, ...]]:
    f = function_of([e for e, _ in constraints], list(box))
    return [p for p in points_of(box) if all(v in i for v, (_, i) in zip(f(*p), constraints, strict=True))]


def implied_case(random: Random) -> str:
    """A constraint that another one implies is left out; with a narrower interval it says more, and stays."""
    x, y, z = random.sample(["d0", "d1", "s0", "s1"], 3)
    box = {n: Interval(0, random.choice((3, 4, 5))) for n in (x, y, z)}
    e = _times(Var(x), random.choice((1, 1, -1))) + _times(Var(y), random.choice((1, -1, 2)))
    base = (e, _within(e, box, random))
    other = _times(Var(z), random.choice((1, -1, 2, 3)))
    e = (_times(e, random.choice((1, -1, 2))) if random.random() < 0.6 else Var(random.choice((x, y)))) + other
    f = function_of((e,), list(box))
    seen = [f(*p)[0] for p in _meeting(box, [base])]
    results = [Var(x), Var(z)]
    slack = random.choice((0, 0, 1, -1))
    implied = (respelled(e, random), Interval(min(seen) - max(slack, 0), max(seen) + slack))
    both = [implied, (respelled(base[0], random), base[1])]
    left = map_over(box, results, random.sample(both, 2))
    if slack < 0:
        return text("keeps implied", left)
    return text("becomes implied", left, map_over(box, results, [base]))


def crowded_case(random: Random) -> str:
    """Twelve constraints, one of which the others imply."""
    names = ["d0", "d1", "d2", "s0", "s1", "s2"]
    random.shuffle(names)
    box = {n: Interval(0, 1) for n in names}
    pairs = [(x, y) for k, x in enumerate(names) for y in names[k + 1 :]]
    chosen = [pairs[0], *random.sample(pairs[1:], 10)]
    kept = [(Var(x) + Var(y), Interval(0, 1)) for x, y in chosen]
    implied = (Var(names[0]) + Var(names[1]) + Var(names[2]), Interval(0, 2))
    spelled = [(respelled(e, random), i) for e, i in (implied, *kept)]
    left = map_over(box, [Var(names[0])], random.sample(spelled, len(spelled)))
    return text("becomes crowded", left, map_over(box, [Var(names[0])], kept))


def residue_case(random: Random) -> str:
    """Remainders of one expression: one constraint is left, or none where they contradict each other."""
    names = random.sample(["d0", "d1", "s0"], random.choice((1, 1, 1, 2)))
    lows = {n: random.choice((0, 0, 1, -5)) for n in names}
    box = {n: Interval(low, low + random.choice((6, 9, 12, 20))) for n, low in lows.items()}
    if len(names) == 2:
        box[names[1]] = Interval(0, 2)
    e = _sum([Var(n) for n in names], random)
    point = {n: random.randint(i.lower, i.upper) for n, i in box.items()}
    at = sum(point.values())
    some = random.choice(((2, 3, 4, 5, 6, 8, 9, 10, 12), (4, 6, 8, 10, 12), (6, 9, 12)))
    moduli = random.choices(some, k=random.choice((1, 2, 2, 3)))
    residues = [at % m for m in moduli]
    if random.random() < 0.4:
        residues[-1] = random.randrange(moduli[-1])
    constraints = [(e % m, Interval(r, r)) for m, r in zip(moduli, residues, strict=True)]
    if random.random() < 0.05:
        constraints.append((Binary("mod", e, Const(0)), Interval(0, 0)))
    results = [Var(names[0])]
    left = map_over(box, results, [(respelled(x, random), i) for x, i in constraints])
    if constraints[-1][0] is Binary("mod", e, Const(0)):
        return text("keeps residues", left)
    seen = _meeting(box, constraints)
    if not seen:
        return text("empty residues", widened(left, random))
    whole = lcm(*moduli)
    values = [sum(p) for p in seen]
    if len(names) == 1:
        box = {names[0]: Interval(min(values), max(values))}
    one = (e % whole, Interval(values[0] % whole, values[0] % whole))
    return text("becomes residues", widened(left, random), map_over(box, results, [one]))


def gap_case(random: Random) -> str:
    """A constraint that no point meets, though the interval lies between values that there are."""
    names = random.sample(["d0", "d1", "s0"], 2)
    box = {n: Interval(0, random.choice((2, 3, 5))) for n in names}
    x, y = (Var(n) for n in names)
    e = random.choice(
        (
            _times(x, random.choice((5, 7))) + _times(y % 3, random.choice((2, 3))),
            _times(x % 4, 4) + _times(Binary("min", y, Const(2)), 3),
            _times(x, 6) + _times(y, 10) + _times(x // 2, 15),
            Binary("*", x, y) + _times(x, 2),
        )
    )
    f = function_of((e,), list(box))
    values = sorted({f(*p)[0] for p in points_of(box)})
    gaps = [(a + 1, b - 1) for a, b in pairwise(values) if b - a > 1]
    if not gaps:
        return spelling_case(random)
    return text("empty gap", map_over(box, [x + y], [(respelled(e, random), Interval(*random.choice(gaps)))]))


def neighbours_case(random: Random) -> str:
    """Two maps over the same variables: what is known of one does not hold in the other."""
    box = {"d0": Interval(0, 5), "d1": Interval(0, 5)}
    e = Var("d0") + _times(Var("d1"), random.choice((1, -1)))
    low, high = (0, 10) if e.rhs == Var("d1") else (-5, 5)  # type: ignore[attr-defined]
    inner = Interval(low + random.choice((1, 2)), high - random.choice((1, 2)))
    outer = Interval(inner.lower - 1, inner.upper + random.choice((0, 1)))
    bounded = [Binary("min", e, Const(inner.upper)), Binary("max", e, Const(inner.lower))]
    results = [(e - inner.lower) // inner.count, *bounded]
    return text("keeps neighbours", map_over(box, results, [(e, inner)]), map_over(box, results, [(e, outer)]))


def known_case(random: Random) -> str:
    """Sums and remainders that a constraint gives one value, in products and beside quotients."""
    x, y, z = random.sample(["d0", "d1", "s0", "s1"], 3)
    box = {n: Interval(0, random.choice((4, 5, 7))) for n in (x, y, z)}
    outside, rest = random.choice((1, 1, 2, -1, 3)), _linear((z,), random)
    if random.random() < 0.5:
        e = _times(Var(x), random.choice((1, 2))) + _times(Var(y), random.choice((1, -1)))
        f = function_of((e,), list(box))
        k = random.choice(sorted({f(*p)[0] for p in points_of(box)})[1:-1])
        pairs = [
            (Binary("*", e + 1, rest), _times(rest, k + 1)),
            (_times(e, outside) + 3, Const(3 + outside * k)),
            ((_times(e, 2) + _times(Var(z), 3)) // 3, (_times(Var(z), 3) + 2 * k) // 3),
        ]
    else:
        by = random.choice((2, 3, 4))
        k = random.randrange(by)
        e = Var(x) % by
        pairs = [
            (_times(Var(x) // by, outside * by) + rest, _times(Var(x), outside) - outside * k + rest),
            (_times(e, outside) + rest, rest + outside * k),
        ]
    chosen = random.choice(pairs)
    facts = [(e, Interval(k, k))]
    left = map_over(box, [respelled(chosen[0], random)], [(respelled(e, random), i) for e, i in facts])
    return text("becomes known", left, map_over(box, [chosen[1]], facts))


def product_case(random: Random) -> str:
    """Common factors and signs of the factors of a product stand outside."""
    x, y = random.sample(["d0", "d1", "s0"], 2)
    box = {n: Interval(-1, 2) for n in (x, y)}
    u, v = Var(x) + random.choice((0, 1, 2, -3)), Var(y) + _times(Var(x), random.choice((0, 1, 2))) + 1
    f, g = random.choice((2, 3, -1, -2, 1)), random.choice((2, 1, -1, 4))
    left = Binary("*", respelled(_times(u, f), random), respelled(_times(v, g), random))
    return text("becomes product", map_over(box, [left]), map_over(box, [_times(Binary("*", v, u), f * g)]))


def digits_case(random: Random) -> str:
    """A quotient and a remainder of `g * x + y` by `g * m`, where y is a digit below g, however it is written."""
    names = random.sample(["d0", "d1", "s0", "s1"], 3)
    g, m = random.choice((2, 3, 4, 5, 6)), random.choice((2, 3, 4, 5))
    low = random.choice((0, 0, 1, 5, -4))
    box = {names[0]: Interval(0, 4), names[1]: Interval(-1, 3), names[2]: Interval(low, low + g - 1)}
    digit = random.choice((Var(names[2]) - low, (low + g - 1) - Var(names[2]), Const(g - 1), Const(0)))
    x = random.choice(
        (
            _times(Var(names[0]), random.choice((1, 3, 5, 7))),
            _times(Var(names[0]), 2) + _times(Var(names[1]), 3),
            _times(Var(names[0]), 2) - _times(Var(names[1]), 5) + 4,
            Var(names[0]) + Var(names[1]) - 2,
        )
    )
    e = respelled(_times(x, g) + digit, random)
    results, plain = [e // (g * m), e % (g * m)], [x // m, _times(x % m, g) + digit]
    if random.random() < 0.3:  # the same as a constraint
        f = function_of((x,), list(box))
        values = sorted({f(*p)[0] for p in points_of(box)})
        low, high = sorted(random.choices(values, k=2))
        above = Interval(g * low, g * high + g - 1)
        return text(
            "becomes digits",
            map_over(box, [Var(names[2])], [(e, above)]),
            map_over(box, [Var(names[2])], [(x, Interval(low, high))]),
        )
    return text("becomes digits", map_over(box, results), map_over(box, plain))


def bounded_case(random: Random) -> str:
    """A constraint that one argument of min or max decides, or that only one of its bounds says something of."""
    x, y = random.sample(["d0", "d1", "s0", "s1"], 2)
    box = {x: Interval(0, 12), y: Interval(0, 3)}
    op: Operator = random.choice(("min", "max"))
    beyond = Var(y) + (random.choice((7, 9)) if op == "min" else random.choice((-4, -6)))
    u = Var(x) + _times(Var(y), random.choice((0, 0, 1))) + (0 if op == "min" else -9)
    f = function_of((u,), list(box))
    values = sorted({f(*p)[0] for p in points_of(box)})
    if random.random() < 0.6:
        low, high = sorted(random.choices(values[1:4] if op == "min" else values[-4:-1], k=2))
        if op == "min" and random.random() < 0.5:  # the upper bound says nothing
            before: tuple[Expr, Interval] = (Binary(op, u, beyond), Interval(low, 50))
            after = (u, Interval(low, values[-1]))
        elif op == "max" and random.random() < 0.5:
            before, after = (Binary(op, u, beyond), Interval(-50, high)), (u, Interval(values[0], high))
        else:
            before, after = (Binary(op, u, beyond), Interval(low, high)), (u, Interval(low, high))
    else:  # one bound is never met, the other needs only the larger summand
        by, at = random.choice((4, 5, 7)), random.choice((1, 2, 3))
        one = _times(Var(x), by) + Var(y)
        if random.random() < 0.5:
            before, after = (one, Interval(-20, by * at + 3)), (Var(x), Interval(0, at))
        else:
            before, after = (one, Interval(by * at, 99)), (Var(x), Interval(at, 12))
    left = map_over(box, [u, Var(y)], [(respelled(before[0], random), before[1])])
    return text("becomes bounded", left, map_over(box, [u, Var(y)], [after]))


def delinearised_case(random: Random) -> str:
    """Digits of a number put together again, the number or its digits being quotients."""
    name = random.choice(("d0", "s0"))
    box = {name: Interval(0, 40), "d1": Interval(0, 2)}
    a, b, c = (random.choice((2, 3, 4)) for _ in range(3))
    x = Var(name) // a
    q, rest = random.choice((1, 2, -1, 3)), _times(Var("d1"), random.choice((0, 1, 2)))
    low, high = x % b, Var(name) // (a * b)
    pairs = [
        (_times(low, q) + _times(high, q * b), _times(x, q)),
        (_times(low, q) + _times(high % c, q * b), _times(x % (b * c), q)),
        (_times(x, q) - _times(high, q * b), _times(low, q)),
    ]
    left, right = random.choice(pairs)
    return text("becomes delinearised", map_over(box, [respelled(left + rest, random)]), map_over(box, [right + rest]))


def deep_case(random: Random) -> str:
    """A sum whose terms are rewritten one after the other, each by a rule within the one before."""
    by = random.choice((2, 3))
    quotients = [_times(Var("d0"), k) // 1009 for k in range(200, 200 + random.choice((3, 8, 11)))]
    box = {"d0": Interval(0, 20)}
    before = _sum([q % by for q in quotients], Random(0)) % by
    return text("becomes deep", map_over(box, [before]), map_over(box, [_sum(list(quotients), Random(0)) % by]))


def range_case(random: Random) -> str:
    """Sums whose range is known exactly, first those of one operator over expressions that share no variable, then
    multiples of a sum whose interval is known; and others, whose range is known to hold every value."""
    names = ["d0", "d1", "s0", "s1"]
    random.shuffle(names)
    box = {
        n: Interval(low, low + random.choice((0, 1, 2, 3, 5)))
        for n in names
        for low in (random.choice((0, 0, 1, 3, -2, -5)),)
    }
    exact: list[Expr] = []
    for _ in range(2):
        op = random.choice(("floordiv", "ceildiv", "mod", "min", "max", "*"))
        x, y = (_linear(some, random, plain=True) for some in (names[:1], names[1:2]))
        sign = random.choice((1, 1, -1))
        left: Expr = _times(x, sign) + random.choice((0, 2, -3))
        fixed = op == "mod" or (op.endswith("div") and 0 in box[names[1]])
        right = Const(random.choice((1, 2, 3, 4, 7, -1, -2, -3))) if fixed else random.choice((y, y, Const(3)))
        atom = Binary(op, left, right)  # type: ignore[arg-type]
        exact.append(_times(atom, random.choice(_COEFFICIENTS)) + _linear(names[2:], random))
    facts: list[tuple[Expr, Interval]] = []
    kind = random.choice(("sum", "sum", "atom", "atoms", "atoms", "none"))
    if kind == "atoms":
        for name, by in zip(names[:2], (random.choice((2, 3, 4)), random.choice((2, 3, 5))), strict=True):
            e = Var(name) % by
            low = random.randrange(by)
            box[name] = Interval(0, 5)
            facts.append((e, Interval(low, min(by - 1, low + random.choice((0, 1))))))
        both = _sum([_times(e, random.choice(_COEFFICIENTS)) for e, _ in facts], random)
        exact = [both + _linear(names[2:], random), both, _times(both, -1) + 3]
    elif kind != "none":
        e = _linear(names[:2], random) if kind == "sum" else Var(names[0]) % random.choice((2, 3, 4, -3))
        f = function_of((e,), list(box))
        values = sorted({f(*p)[0] for p in points_of(box)})
        low, high = sorted((random.choice(values), random.choice(values)))
        facts.append((e, Interval(low, high)))
        exact = [_times(e, random.choice(_COEFFICIENTS)) + _linear(names[2:], random) for _ in range(2)]
        exact.append(_times(e, random.choice((1, 2, -1))) + random.choice((0, 4)))
    loose = [_linear(names[:k], random) for k in (1, 2, 3)]
    return text(f"range {len(exact)}", map_over(box, [*exact, *loose], facts))


def combine_case(random: Random) -> str:
    """Operators over pairs of intervals, without a map."""
    often = ("+", "*", "min", "max", "floordiv", "floordiv", "ceildiv", "mod", "mod", "mod", "mod")
    return "//combine\n" + "".join(f"{random.choice(often)} {_pair_of_intervals(random)}" for _ in range(100))


def _pair_of_intervals(random: Random) -> str:
    x, y = (Interval(low, low + random.choice((-1, 0, 0, 1, 2, 3, 6))) for low in random.choices(range(-8, 9), k=2))
    return f"{x.lower} {x.upper} {y.lower} {y.upper}\n"


def dressed_case(random: Random) -> str:
    """A map with names, runtime variables and their index maps, and a replica part."""
    dims, ranges, runtime = random.choice((0, 1, 2)), random.choice((0, 1, 1, 2)), random.choice((0, 1, 2))
    names = [f"{p}{k}" for p, n in (("d", dims), ("s", ranges), ("rt", runtime)) for k in range(n)]
    lows = {n: random.choice((0, 0, 1, -2)) for n in names}
    box = {n: Interval(low, low + random.choice((1, 2, 3, 4))) for n, low in lows.items()}

    taken: set[str] = set()

    def shown() -> str:
        words = ("runtime", "replica", "id", "variables", "domain", "KNOWN", "EMPTY", "rt9", "d7")
        name = random.choice((*words[: 2 * random.randint(0, 4)], random.choice("abxyz") + str(random.randrange(1000))))
        if random.random() < 0.6 or name in taken:
            return ""
        taken.add(name)
        return name

    def expression(of: Sequence[str]) -> Expr:
        if not of:
            return Const(random.randint(0, 3))
        e = _linear(random.sample(of, random.randint(1, len(of))), random)
        operand = Const(random.choice((2, 3, 4)))
        made = random.choice((e, e % operand, e // operand, Binary("min", e, operand)))
        return respelled(made + (_linear(of[:1], random) if random.random() < 0.3 else 0), random)

    def constraints(of: Sequence[str]) -> tuple[Constraint, ...]:
        out = []
        for _ in range(random.choice((0, 1, 1, 2)) if of else 0):
            low = random.choice((0, 0, 1, -2))
            out.append(Constraint(expression(of), Interval(low, low + random.choice((0, 1, 3, 6)))))
        return tuple(c for c in out if c.expr.free)

    own = tuple(Variable(box[f"d{k}"], shown()) for k in range(dims))
    symbols = tuple(Variable(box[f"s{k}"], shown()) for k in range(ranges))
    index_names = [n for n in names if n[0] != "r"]
    read: list[RuntimeVariable] = []
    for k in range(runtime):
        index = provider = None
        if random.random() < 0.6:
            provider = random.choice(("parameter(1)", "operand(0)", "constant({1, 2})", "some.name"))
            if random.random() < 0.7:
                index = IndexingMap(own, (expression(index_names),), symbols, constraints=constraints(index_names))
                if random.random() < 0.2:
                    index = replace(index, replica=replace(index, results=(expression(index_names),)))
        read.append(RuntimeVariable(box[f"rt{k}"], shown(), provider, index))
    results = tuple(expression(names) for _ in range(random.choice((0, 1, 2))))
    stated = constraints(names)
    if runtime and random.random() < 0.5:
        e = _times(Var("rt0"), random.choice((1, 2, -1, -3))) + random.choice((0, 1, -2))
        stated = (*stated, Constraint(respelled(e, random), _within(e, {"rt0": box["rt0"]}, random)))
    m = IndexingMap(own, results, symbols, tuple(read), stated)
    if random.random() < 0.3:
        plain = tuple(RuntimeVariable(v.interval, v.name) for v in read)
        m = replace(m, replica=IndexingMap(own, (expression(names),), symbols, plain, constraints(names)))
    return text("keeps dressed", m)


def crossed_case(random: Random) -> str:
    """One expression at random, in two spellings."""
    names = random.sample(["d0", "d1", "s0"], random.choice((1, 2, 3)))
    box = {n: Interval(low, low + random.choice((1, 2, 3))) for n in names for low in (random.choice((0, 0, -2, 3)),)}

    def made(depth: int) -> Expr:
        if not depth or random.random() < 0.2:
            return random.choice((Var(random.choice(names)), Var(random.choice(names)), Const(random.randint(-5, 7))))
        op: Operator = random.choice(("+", "+", "*", "floordiv", "floordiv", "mod", "mod", "ceildiv", "min", "max"))
        if op in ("+", "min", "max"):
            return Binary(op, made(depth - 1), made(depth - 1))
        return Binary(op, made(depth - 1), Const(random.choice((2, 2, 3, 4, 6, -1, -2, -3))))

    results = [made(3), made(3)]
    constraints = [(e, _within(made(2), box, random)) for e in (made(2), made(1)) if e.free and random.random() < 0.4]

    def spelled() -> IndexingMap:
        again = [(respelled(e, random), i) for e, i in random.sample(constraints, len(constraints))]
        return map_over(box, [respelled(e, random) for e in results], again)

    return text("becomes itself", spelled(), spelled())


_KINDS: Final = (
    rule_case,
    rule_case,
    rule_case,
    rule_case,
    rule_case,
    constraint_case,
    constraint_case,
    constraint_case,
    spelling_case,
    spelling_case,
    knowledge_case,
    knowledge_case,
    implied_case,
    range_case,
    combine_case,
    dressed_case,
    dressed_case,
    residue_case,
    residue_case,
    gap_case,
    neighbours_case,
    known_case,
    constant_case,
    deep_case,
    product_case,
    digits_case,
    digits_case,
    bounded_case,
    bounded_case,
    delinearised_case,
    crowded_case,
    crossed_case,
)


@st.composite
def rewrite_texts(draw: Any) -> str:
    """A few cases, of different kinds."""
    count, random = draw(st.sampled_from((1, 4, 12, 12, 12))), Random(draw(st.integers(0, 2**60)))
    return AND.join(kind(random) for kind in random.sample(_KINDS, count))  # the draws of Hypothesis repeat themselves
