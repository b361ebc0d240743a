"""Strategies for maps with what the simplifier owes: instances of its rules, laws, and spellings of one expression.

A case is a line that says what is owed, a map, and where the map is to become another one, that one:

    //becomes nested-floordiv
    (d0) -> ((d0 / 3) / 4), domain: d0 in [0, 99]
    //with
    (d0) -> (d0 / 12), domain: d0 in [0, 99]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from random import Random
from typing import Final

from hypothesis import strategies as st

from hloproof.fuzz.drawing import Draw, Writer
from hloproof.fuzz.maps.laws import law_case
from hloproof.fuzz.maps.rule_instances import COEFFICIENTS, Owed, constraint_case, linear, meeting, rule_case
from hloproof.fuzz.maps.spelled_map import joined, words
from hloproof.fuzz.maps.spellings import Bounds, Box, all_respelled, map_over, points_of, respelled, times, total
from hloproof.models.expressions.expr import Binary, Const, Expr, Operator, Var
from hloproof.models.expressions.interval import Interval
from hloproof.models.expressions.python_text import function_of
from hloproof.models.maps.indexing_map import Constraint, IndexingMap, RuntimeVariable, Variable
from hloproof.models.maps.text import print_map

AND: Final = "\n//and\n"
"""What stands between cases."""
WITH: Final = "\n//with\n"
"""What stands between a map and the one that it becomes."""


def _text(owed: Owed) -> str:
    what, maps = owed
    return f"//{what}\n" + WITH.join(_written(m) for m in maps)


def _written(m: IndexingMap) -> str:
    """Maps with an empty interval are printed without anything of theirs; here they are wanted as they are."""
    return joined(words(m, Random(0)), Random(0))[0] if m.is_trivially_empty else print_map(m)


def values_of(e: Expr, box: Box) -> list[int]:
    f = function_of((e,), list(box))
    return sorted({f(*p)[0] for p in points_of(box)})


def _within(w: Writer, e: Expr, box: Box) -> Interval:
    """An interval whose ends are values of the expression, seldom all of them."""
    values = values_of(e, box)
    low, high = sorted((w.one_of(values), w.one_of(values)))
    match w.number(0, 3):
        case 0:
            return Interval(values[0] - w.one_of((0, 50)), high)
        case 1:
            return Interval(low, values[-1] + w.one_of((0, 50)))
    return Interval(low, high)


def spelling_case(w: Writer) -> Owed:
    """Expressions at random, some of them under constraints, in two spellings."""
    names = w.shuffled(["d0", "d1", "s0", "d10"], w.one_of((1, 2, 2, 3)))
    box = {n: Interval(low, low + w.number(1, 3)) for n in names for low in (w.one_of((0, 0, 0, -2, 3)),)}

    def made(depth: int) -> Expr:
        if not depth or w.chance(5):
            return Var(w.one_of(names)) if not w.chance(3) else linear(w, w.shuffled(names, 2))
        op: Operator = w.one_of(("+", "floordiv", "mod", "+", "*", "floordiv", "mod", "ceildiv", "min", "max"))
        if op in ("+", "min", "max") or (op == "*" and w.chance(3)):
            return Binary(op, made(depth - 1), made(depth - 1))
        return Binary(op, made(depth - 1), Const(w.one_of((2, 2, 3, 4, 6, -1, -2, -3, 1))))

    results = [made(3), total([linear(w, names), made(2), times(made(2), w.one_of(COEFFICIENTS))])]
    bounds: Bounds = [(e, _within(w, e, box)) for e in (made(2), made(1)) if e.free and w.chance(3)]

    def spelled() -> IndexingMap:
        return map_over(box, [respelled(w, e) for e in results], all_respelled(w, bounds))

    return "becomes itself", (spelled(), spelled())


def knowledge_case(w: Writer) -> Owed:
    """What a chain of constraints leaves of a variable is known where the results are simplified."""
    names = w.shuffled(["d0", "d1", "s0", "s1"], w.one_of((2, 3)))
    box = {n: Interval(low, low + w.number(3, 5)) for n in names for low in (w.one_of((0, 0, 1, -3)),)}
    bounds: Bounds = []
    for x, y in pairwise(names):
        e = times(Var(x), w.one_of((1, -1, 2, -2, 3, -3))) + times(Var(y), w.one_of((1, -1)))
        bounds.append((e, _within(w, e, box)))
    seen = meeting(box, bounds)
    if not seen:
        return "empty knowledge", (map_over(box, [Var(names[0])], bounds),)
    results, plain = list[Expr](), list[Expr]()
    for k, name in enumerate(box):
        low, high = min(p[k] for p in seen), max(p[k] for p in seen)
        v, width = Var(name), high - low + 1
        known: tuple[tuple[Expr, Expr], ...] = (
            ((v - low) // width, Const(0)),
            (Binary("min", v, Const(high)), v),
            (Binary("max", v, Const(low)), v),
            ((v - low) % width, v - low),
            ((v - low + 1) // width, (v - low + 1) // width),
            (Binary("min", v, Const(high - 1)), Binary("min", v, Const(high - 1))),
        )
        results += [respelled(w, e) for e, _ in known]
        plain += [e for _, e in known]
    return "becomes knowledge", (map_over(box, results, all_respelled(w, bounds)), map_over(box, plain, bounds))


def crowded_case(w: Writer) -> Owed:
    """Twelve constraints, one of which the others imply."""
    names = w.shuffled(["d0", "d1", "d2", "s0", "s1", "s2"])
    pairs = [(x, y) for k, x in enumerate(names) for y in names[k + 1 :]]
    kept: Bounds = [(Var(x) + Var(y), Interval(0, 1)) for x, y in [pairs[0], *w.shuffled(pairs[1:], 10)]]
    implied = (total([Var(n) for n in names[:3]]), Interval(0, 2))
    box, results = dict.fromkeys(names, Interval(0, 1)), [Var(names[0])]
    return "becomes crowded", (map_over(box, results, all_respelled(w, [implied, *kept])), map_over(box, results, kept))


def gap_case(w: Writer) -> Owed:
    """A constraint that no point meets, though the interval lies between values that there are."""
    names = w.shuffled(["d0", "d1", "s0"], 2)
    box = {n: Interval(0, w.one_of((2, 3, 5))) for n in names}
    x, y = (Var(n) for n in names)
    forms = (
        times(x, w.one_of((5, 7))) + times(y % 3, w.one_of((2, 3))),
        times(x % 4, 4) + times(Binary("min", y, Const(2)), 3),
        times(x, 6) + times(y, 10) + times(x // 2, 15),
        Binary("*", x, y) + times(x, 2),
        times(x, 7),
    )
    e = w.one_of(forms)
    gaps = [(a + 1, b - 1) for a, b in pairwise(values_of(e, box)) if b - a > 1]
    if not gaps:
        return spelling_case(w)
    return "empty gap", (map_over(box, [x + y], [(respelled(w, e), Interval(*w.one_of(gaps)))]),)


def neighbours_case(w: Writer) -> Owed:
    """Two maps over the same variables: what is known of one does not hold in the other."""
    box = {"d0": Interval(0, 5), "d1": Interval(0, 5)}
    sign = w.one_of((1, -1))
    e, (low, high) = Var("d0") + times(Var("d1"), sign), (0, 10) if sign == 1 else (-5, 5)
    inner = Interval(low + w.number(1, 2), high - w.number(1, 2))
    outer = Interval(inner.lower - 1, inner.upper + w.number(0, 1))
    bounded = [Binary("min", e, Const(inner.upper)), Binary("max", e, Const(inner.lower))]
    results = [(e - inner.lower) // inner.count, *bounded]
    return "keeps neighbours", (map_over(box, results, [(e, inner)]), map_over(box, results, [(e, outer)]))


def deep_case(w: Writer) -> Owed:
    """A sum whose terms are rewritten one after the other, each by a rule within the one before."""
    by, box = w.one_of((2, 3)), {"d0": Interval(0, 20)}
    quotients = [times(Var("d0"), k) // 1009 for k in range(200, 200 + w.one_of((3, 8, 11)))]
    before = total([q % by for q in quotients]) % by
    return "becomes deep", (map_over(box, [before]), map_over(box, [total(quotients) % by]))


def constant_case(w: Writer) -> Owed:
    """A map without variables, which has a point or none."""
    value = w.number(-2, 4)
    m = IndexingMap((), (Const(3),), constraints=(Constraint(Const(value), Interval(0, 2)),))
    return "keeps constant" if 0 <= value <= 2 else "empty constant", (m,)


def range_case(w: Writer) -> Owed:
    """Sums whose range is known exactly, first those of one operator over expressions that share no variable, then
    multiples of a sum whose interval is known; and others, whose range is known to hold every value."""
    names = w.shuffled(["d0", "d1", "s0", "s1"])
    box = {
        n: Interval(low, low + w.one_of((0, 1, 2, 3, 5))) for n in names for low in (w.one_of((0, 0, 1, 3, -2, -5)),)
    }
    exact: list[Expr] = []
    for _ in range(2):
        op: Operator = w.one_of(("floordiv", "ceildiv", "mod", "min", "max", "*"))
        left = times(Var(names[0]), w.one_of((1, 1, -1))) + w.one_of((0, 2, -3))
        fixed = op == "mod" or (op.endswith("div") and 0 in box[names[1]])
        right = Const(w.one_of((1, 2, 3, 4, 7, -1, -2, -3))) if fixed else w.one_of((Var(names[1]), Const(3)))
        exact.append(times(Binary(op, left, right), w.one_of(COEFFICIENTS)) + linear(w, names[2:]))
    facts: Bounds = []
    match w.one_of(("sum", "atom", "atoms", "atoms", "none")):
        case "atoms":
            for name, by in zip(names[:2], (w.one_of((2, 3, 4)), w.one_of((2, 3, 5))), strict=True):
                low = w.number(0, by - 1)
                box[name] = Interval(0, 5)
                facts.append((Var(name) % by, Interval(low, min(by - 1, low + w.number(0, 1)))))
            both = total([times(e, w.one_of(COEFFICIENTS)) for e, _ in facts])
            exact = [both + linear(w, names[2:]), both, times(both, -1) + 3]
        case "sum" | "atom" as kind:
            e = linear(w, names[:2]) if kind == "sum" else Var(names[0]) % w.one_of((2, 3, 4, -3))
            values = values_of(e, box)
            low, high = sorted((w.one_of(values), w.one_of(values)))
            facts.append((e, Interval(low, high)))
            exact = [times(e, w.one_of(COEFFICIENTS)) + linear(w, names[2:]) for _ in range(2)]
            exact.append(times(e, w.one_of((1, 2, -1))) + w.one_of((0, 4)))
    loose = [linear(w, names[:k]) for k in (1, 2, 3)]
    return f"range {len(exact)}", (map_over(box, [*exact, *loose], facts),)


def combine_case(w: Writer) -> str:
    """Operators over pairs of intervals, without a map."""
    lines = []
    for _ in range(12):
        op = w.one_of(("+", "*", "min", "max", "floordiv", "ceildiv", "mod", "mod", "mod"))
        lows = w.number(-8, 8), w.number(-8, 8)
        ends = " ".join(f"{low} {low + w.one_of((0, 1, 2, 3, 6, -1))}" for low in lows)
        lines.append(f"{op} {ends}\n")
    return "//combine\n" + "".join(lines)


def dressed_case(w: Writer) -> Owed:
    """A map with names, runtime variables and their index maps, and a replica part."""
    counts = {"d": w.number(0, 2), "s": w.number(0, 2), "rt": w.number(0, 2)}
    names = [f"{letter}{k}" for letter, n in counts.items() for k in range(n)]
    index_names = [n for n in names if n[0] != "r"]
    box = {n: Interval(low, low + w.number(1, 4)) for n in names for low in (w.one_of((0, 0, 1, -2)),)}
    fresh = w.shuffled(
        ["", "", "", "a", "b", "runtime", "replica", "id", "domain", "KNOWN", "EMPTY", "rt9", "d7", "x1"]
    )

    def expression(of: Sequence[str]) -> Expr:
        if not of:
            return Const(w.number(0, 3))
        e, operand = linear(w, w.shuffled(of, 2)), Const(w.one_of((2, 3, 4)))
        return respelled(w, w.one_of((e, e % operand, e // operand, Binary("min", e, operand))))

    def constraints(of: Sequence[str]) -> tuple[Constraint, ...]:
        made = [
            Constraint(expression(of), Interval(low, low + w.one_of((0, 1, 3, 6)))) for low in (0, -2) if w.chance(2)
        ]
        return tuple(c for c in made if c.expr.free)

    own = tuple(Variable(box[f"d{k}"], fresh.pop()) for k in range(counts["d"]))
    symbols = tuple(Variable(box[f"s{k}"], fresh.pop()) for k in range(counts["s"]))
    read: list[RuntimeVariable] = []
    for k in range(counts["rt"]):
        index = provider = None
        if w.chance(2):
            provider = w.one_of(("parameter(1)", "operand(0)", "constant({1, 2})", "some.name"))
        if provider and w.chance(2):
            index = IndexingMap(own, (expression(index_names),), symbols, constraints=constraints(index_names))
            if w.chance(4):
                index = replace(index, replica=replace(index, results=(expression(index_names),)))
        read.append(RuntimeVariable(box[f"rt{k}"], fresh.pop(), provider, index))
    stated = constraints(names)
    if read and w.chance(2):
        e = times(Var("rt0"), w.one_of((1, 2, -1, -3))) + w.one_of((0, 1, -2))
        stated = (*stated, Constraint(respelled(w, e), _within(w, e, {"rt0": box["rt0"]})))
    m = IndexingMap(own, tuple(expression(names) for _ in range(w.number(0, 2))), symbols, tuple(read), stated)
    if w.chance(3):
        plain = tuple(RuntimeVariable(v.interval, v.name) for v in read)
        m = replace(m, replica=IndexingMap(own, (expression(names),), symbols, plain, constraints(names)))
    return "keeps dressed", (m,)


_KINDS: Final[tuple[tuple[Callable[[Writer], Owed | None], int], ...]] = (
    (rule_case, 5),
    (constraint_case, 4),
    (law_case, 6),
    (spelling_case, 3),
    (knowledge_case, 2),
    (dressed_case, 4),
    (range_case, 2),
    (gap_case, 1),
    (neighbours_case, 1),
    (deep_case, 1),
    (constant_case, 1),
    (crowded_case, 1),
)
"""Kinds of cases with how often each is drawn."""
_DRAWN: Final = tuple(kind for kind, weight in _KINDS for _ in range(weight))


@st.composite
def rewrite_texts(draw: Draw) -> str:
    """A few cases, of any kinds."""
    w = Writer(draw)
    found = []
    for _ in range(w.one_of((1, 4, 9, 9))):
        if w.chance(24):
            found.append(combine_case(w))
        else:
            found.append(_text(w.one_of(_DRAWN)(w) or spelling_case(w)))
    return AND.join(found)
