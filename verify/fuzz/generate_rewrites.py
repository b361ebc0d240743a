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

from models.expr import Binary, Const, Expr, Var, substitute
from models.indexing_map import Constraint, IndexingMap, RuntimeVariable, Variable
from models.interpreter.maps import python_text
from models.interval import Interval
from models.map_text import print_map
from models.rule_text import project_rules
from models.rules import Computed, Condition, ConstraintRule, ExpressionRule, Rule
from verify.fuzz.generate_maps import maps
from verify.fuzz.spelled_map import joined, words

WITH: Final = "\n//with\n"
"""What stands between a map and the one that it becomes."""
MOST_POINTS: Final = 300
_TRIES: Final = 60
_CONSTANTS: Final = (-7, -5, -4, -3, -2, -1, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 9, 10, 12, 15)
_COEFFICIENTS: Final = (1, 1, 1, 1, 2, 2, 3, 4, 5, -1, -1, -2, -3)

PLAIN: Final = {
    "quotient-and-remainder", "joined-remainders", "remainder", "merged-residues", "residue-narrows", "floordiv-of-mod",
}  # fmt: skip
"""Rules whose left side has one expression twice, which other rules may rewrite apart; sums of variables stay."""

Box = dict[str, Interval]
Values = dict[str, int]


def text(owed: str, *maps: IndexingMap) -> str:
    return f"//{owed}\n" + WITH.join(_written(m) for m in maps)


def _written(m: IndexingMap) -> str:
    """Maps with an empty interval are printed without anything of theirs; here they are wanted as they are."""
    return joined(words(m, Random(0)), Random(0))[0] if m.is_trivially_empty else print_map(m)


def map_over(box: Mapping[str, Interval], results: Sequence[Expr],
    constraints: Sequence[tuple[Expr, Interval]] = ()) -> IndexingMap:
    """The map over variables d0, .., s0, .. in these intervals; one that is missing in between has the value 0."""
    return IndexingMap(
        _variables(box, "d"), tuple(results), _variables(box, "s"),
        constraints=tuple(Constraint(e, i) for e, i in constraints),
    )  # fmt: skip


def _variables(box: Mapping[str, Interval], letter: str) -> tuple[Variable, ...]:
    numbers = [int(name[1:]) for name in box if name[0] == letter]
    count = max(numbers, default=-1) + 1
    return tuple(Variable(box.get(f"{letter}{k}", Interval(0, 0))) for k in range(count))


def values_at(expressions: Sequence[Expr], names: Sequence[str]) -> Callable[..., tuple[int, ...]]:
    """The values of expressions as a Python function of the variables' values."""
    lines, results = python_text(expressions, "t")
    body = "\n    ".join([*lines, f"return ({''.join(r + ', ' for r in results)})"])
    scope: dict[str, Any] = {}
    exec(f"def values({', '.join(names)}):\n    {body}", scope)
    made: Callable[..., tuple[int, ...]] = scope["values"]
    return made


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
    first, *others = values_at(c.arguments, list(at))(**at)
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
    return values_at((c.lhs, c.rhs), names)


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
            low = random.choice((0, 0, 0, 1, 2, -3))
            box[v] = Interval(low, low + random.choice((1, 1, 2, 3, 4, 6, 9)))
        e: Expr = Var(used[0]) if used else Const(random.choice((0, 0, 1, 2, 3, 5)))
        if rule.sort(name) == "expression" and used:
            e = _linear(used, random, rule.name in PLAIN)
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
    exact = {n: values_at((e,), list(box)) for n, e in given.items()}
    seen = [constants | {n: f(*p)[0] for n, f in exact.items()} for p in everywhere]
    try:
        for c in rule.computed:
            if c.name not in constants:
                found = [_argument(c, tuple(s))(**s)[0] for s in seen]
                constants[c.name] = max(found) if c.function == "greatest" else min(found)
                for s in seen:
                    s[c.name] = constants[c.name]
        holds = all(
            _compared(c.op, *_sides(c, tuple(seen[0]))(**s)) for c in rule.conditions for s in seen
        )
    except ZeroDivisionError:
        return None
    return Instance(given | {n: Const(v) for n, v in constants.items()}, box, holds)


@cache
def _argument(c: Computed, names: tuple[str, ...]) -> Callable[..., tuple[int, ...]]:
    return values_at(c.arguments, names)


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
    if not found.holds or (negative and rule.name in PLAIN):  # quotients by negative numbers are rewritten first
        return text(f"keeps {rule.name}", left)
    return text(f"becomes {rule.name}", left, map_over(found.box, (after,)))


def _rest(box: Box, random: Random) -> Expr:
    """Another summand; a variable of its own or none."""
    if random.random() < 0.6:
        return Const(random.choice((0, 0, 0, 1, -2)))
    name = next(n for n in ("s2", "d3") if n not in box and (n == "d3" or random.random() < 0.5))
    box[name] = Interval(0, random.choice((1, 2)))
    return _linear((name,), random)


def constraint_case(random: Random) -> str:
    """An instance of a rule about constraints, beside another constraint or not."""
    rule = random.choice(project_rules("constraints"))
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
            low, high = values_at((substitute(b.lower, found.given), substitute(b.upper, found.given)), ())()
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
        return text(f"empty {rule.name}", left), "empty"
    return text(f"becomes {rule.name}", left, map_over(found.box, results, after)), "becomes"


def spelling_case(random: Random) -> str:
    """Two spellings of one sum of variables, remainders and quotients."""
    names = random.sample(["d0", "d1", "d2", "s0", "s1", "d10"], random.choice((1, 2, 2, 3)))
    box = {n: Interval(0, random.choice((1, 2, 3, 4))) for n in names}
    parts: list[Expr] = [_linear(names, random)]
    for _ in range(random.choice((0, 1, 1, 2))):
        inner = _linear(random.sample(names, random.randint(1, len(names))), random)
        op = random.choice(("floordiv", "mod", "ceildiv", "min", "max", "*"))
        other: Expr = Const(random.choice((2, 3, 4, 6, 7, -2, -3)))
        if op in ("min", "max", "*") and random.random() < 0.6:
            other = _linear(random.sample(names, 1), random)
        parts.append(_times(Binary(op, inner, other), random.choice(_COEFFICIENTS)))  # type: ignore[arg-type]
    e = _sum(parts, random)
    return text("becomes itself", map_over(box, (respelled(e, random),)), map_over(box, (respelled(e, random),)))


def knowledge_case(random: Random) -> str:
    """What a chain of constraints leaves of a variable is known where the results are simplified."""
    names = random.sample(["d0", "d1", "s0", "s1"], random.choice((2, 2, 3)))
    box = {n: Interval(low, low + random.choice((3, 4, 5))) for n in names for low in (random.choice((0, 0, 1, -3)),)}
    constraints: list[tuple[Expr, Interval]] = []
    for x, y in pairwise(names):
        e = _times(Var(x), random.choice((1, 1, -1, 2, -2, 3))) + _times(Var(y), random.choice((1, -1)))
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
            ((v - low) // width, Const(0)), (Binary("min", v, Const(high)), v), (Binary("max", v, Const(low)), v),
            ((v - low) % width, v - low), ((v - low + 1) // width, None), (Binary("min", v, Const(high - 1)), None),
        ):  # fmt: skip
            if random.random() < 0.4:
                results.append(respelled(e, random))
                plain.append(e if known is None else known)
    spelled = [(respelled(e, random), i) for e, i in constraints]
    return text("becomes knowledge", map_over(box, results, random.sample(spelled, len(spelled))),
        map_over(box, plain, constraints))


def _within(e: Expr, box: Box, random: Random) -> Interval:
    """An interval whose ends are values of the expression, seldom all of them."""
    f = values_at((e,), list(box))
    values = sorted({f(*p)[0] for p in points_of(box)})
    low, high = sorted((random.choice(values), random.choice(values)))
    match random.randrange(4):
        case 0:
            return Interval(low - random.choice((0, 50)) if low == values[0] else values[0], high)
        case 1:
            return Interval(low, values[-1] + random.choice((0, 50)))
    return Interval(low, high)


def _meeting(box: Box, constraints: Sequence[tuple[Expr, Interval]]) -> list[tuple[int, ...]]:
    f = values_at([e for e, _ in constraints], list(box))
    return [p for p in points_of(box) if all(v in i for v, (_, i) in zip(f(*p), constraints, strict=True))]


def implied_case(random: Random) -> str:
    """A constraint that another one implies is left out; with a narrower interval it says more, and stays."""
    x, y, z = random.sample(["d0", "d1", "s0", "s1"], 3)
    box = {n: Interval(0, random.choice((3, 4, 5))) for n in (x, y, z)}
    e = _times(Var(x), random.choice((1, 1, -1))) + _times(Var(y), random.choice((1, -1, 2)))
    base = (e, _within(e, box, random))
    other = _times(Var(z), random.choice((1, -1, 2, 3)))
    e = (_times(e, random.choice((1, -1, 2))) if random.random() < 0.6 else Var(random.choice((x, y)))) + other
    f = values_at((e,), list(box))
    seen = [f(*p)[0] for p in _meeting(box, [base])]
    results = [Var(x), Var(z)]
    slack = random.choice((0, 0, 1, -1))
    implied = (respelled(e, random), Interval(min(seen) - max(slack, 0), max(seen) + slack))
    both = [implied, (respelled(base[0], random), base[1])]
    left = map_over(box, results, random.sample(both, 2))
    if slack < 0:
        return text("keeps implied", left)
    return text("becomes implied", left, map_over(box, results, [base]))


def range_case(random: Random) -> str:
    """Sums whose range is known exactly, first those of one operator over expressions that share no variable, then
    multiples of a sum whose interval is known; and others, whose range is known to hold every value."""
    names = ["d0", "d1", "s0", "s1"]
    random.shuffle(names)
    box = {n: Interval(low, low + random.choice((0, 1, 2, 3, 5))) for n in names
        for low in (random.choice((0, 0, 1, 3, -2, -5)),)}  # fmt: skip
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
    kind = random.choice(("sum", "sum", "atom", "none"))
    if kind != "none":
        e = _linear(names[:2], random) if kind == "sum" else Var(names[0]) % random.choice((2, 3, 4, -3))
        f = values_at((e,), list(box))
        values = sorted({f(*p)[0] for p in points_of(box)})
        low, high = sorted((random.choice(values), random.choice(values)))
        facts.append((e, Interval(low, high)))
        exact = [_times(e, random.choice(_COEFFICIENTS)) + _linear(names[2:], random) for _ in range(2)]
        exact.append(_times(e, random.choice((1, 2, -1))) + random.choice((0, 4)))
    loose = [_linear(names[:k], random) for k in (1, 2, 3)]
    return text(f"range {len(exact)}", map_over(box, [*exact, *loose], facts))


def combine_case(random: Random) -> str:
    """One operator over two intervals, without a map."""
    x, y = (Interval(low, low + random.choice((-1, 0, 0, 1, 2, 3, 6))) for low in random.choices(range(-8, 9), k=2))
    op = random.choice(("+", "*", "min", "max", "floordiv", "floordiv", "ceildiv", "ceildiv", "mod", "mod", "mod"))
    return f"//combine {op}\n{x.lower} {x.upper} {y.lower} {y.upper}\n"


def dressed_case(random: Random) -> str:
    """A map with names, runtime variables and their index maps, and a replica part."""
    dims, ranges, runtime = random.choice((0, 1, 2)), random.choice((0, 1, 1, 2)), random.choice((0, 1, 2))
    names = [f"{p}{k}" for p, n in (("d", dims), ("s", ranges), ("rt", runtime)) for k in range(n)]
    lows = {n: random.choice((0, 0, 1, -2)) for n in names}
    box = {n: Interval(low, low + random.choice((1, 2, 3, 4))) for n, low in lows.items()}

    def shown() -> str:
        return random.choice(("", "", "", random.choice("abxyz") + str(random.randrange(1000))))

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
        read.append(RuntimeVariable(box[f"rt{k}"], shown(), provider, index))
    results = tuple(expression(names) for _ in range(random.choice((0, 1, 2))))
    m = IndexingMap(own, results, symbols, tuple(read), constraints(names))
    if random.random() < 0.3:
        plain = tuple(RuntimeVariable(v.interval, v.name) for v in read)
        m = replace(m, replica=IndexingMap(own, (expression(names),), symbols, plain, constraints(names)))
    return text("keeps dressed", m)


_KINDS: Final = (
    rule_case, rule_case, rule_case, rule_case, constraint_case, constraint_case, spelling_case, knowledge_case,
    knowledge_case, implied_case, range_case, combine_case, dressed_case, dressed_case,
)  # fmt: skip


@st.composite
def rewrite_texts(draw: Any) -> str:
    random = Random(f"{draw(st.integers(0, 2**40))} {draw(st.integers(0, 2**40))}")
    if random.random() < 0.15:
        m = draw(maps(widest=4))
        again = replace(
            m, results=tuple(respelled(e, random) for e in m.results),
            constraints=tuple(Constraint(respelled(c.expr, random), c.interval) for c in reversed(m.constraints)),
        )  # fmt: skip
        return text("becomes itself", m, again)
    return random.choice(_KINDS)(random)
