"""Strategies for maps with what the simplifier owes: instances of its rules, laws, and spellings of one expression.

A case is a line that says what is owed, a map, and where the map is to become another one, that one:

    //becomes nested-floordiv
    (d0) -> ((d0 / 3) / 4), domain: d0 in [0, 99]
    //with
    (d0) -> (d0 / 12), domain: d0 in [0, 99]
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Final

from hypothesis import strategies as st

from hloproof.fuzz.drawing import Replayed, Writer, from_choices
from hloproof.fuzz.maps.dressed_maps import dressed, interval
from hloproof.fuzz.maps.laws import law_case
from hloproof.fuzz.maps.rule_instances import Owed, constraint_case, rule_case
from hloproof.fuzz.maps.spelled_map import joined, refused, words
from hloproof.fuzz.maps.spellings import (
    COEFFICIENTS,
    Bounds,
    all_respelled,
    expression,
    linear,
    map_over,
    meeting,
    respelled,
    times,
    total,
    values_of,
    within,
)
from hloproof.models.expressions.expr import Binary, Const, Expr, Operator, Var
from hloproof.models.expressions.interval import Interval
from hloproof.models.maps.indexing_map import IndexingMap
from hloproof.models.maps.text import parse_map, print_map

AND: Final = "\n//and\n"
"""What stands between cases."""
WITH: Final = "\n//with\n"
"""What stands between a map and the one that it becomes."""
_WRAPPED: Final = (("", ""), ('#xla.indexing_map<"', '">'), ("xla_gpu.indexing_map <\n", ", is_simplified: true>"))
"""What may stand around a map where MLIR has it as an attribute."""
CHOICES: Final = 3000
"""A text takes no more, as a rule."""


def _text(owed: Owed) -> str:
    what, maps = owed
    return f"//{what}\n" + WITH.join(_written(m) for m in maps)


def _written(m: IndexingMap) -> str:
    """Maps with an empty interval are printed without anything of theirs; here they are wanted as they are."""
    plain = Replayed(b"")
    return joined(words(m, plain), plain)[0] if m.is_trivially_empty else print_map(m)


def spelling_case(w: Writer) -> Owed:
    """Expressions at random, some of them under constraints, in two spellings."""
    names = w.shuffled(["d0", "d1", "s0", "d10"], w.one_of((1, 2, 2, 3)))
    box = {n: Interval(low, low + w.number(1, 3)) for n in names for low in (w.one_of((0, 0, 0, -2, 3)),)}

    parts = [linear(w, names), expression(w, names, 2), times(expression(w, names, 2), w.one_of(COEFFICIENTS))]
    results, bounded = [expression(w, names, 3), total(parts)], [expression(w, names, depth) for depth in (2, 1)]
    bounds: Bounds = [(e, within(w, e, box)) for e in bounded if e.free and w.chance(3)]

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
        bounds.append((e, within(w, e, box)))
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


def dressed_case(w: Writer) -> str:
    """A map with all that it may have: itself, another spelling of it, and spellings with an error planted."""
    text = _written(dressed(w, [interval(w, 4) for _ in range(w.number(0, 2))]))
    m = parse_map(text)  # its constraints are in the order of their texts
    before, behind = w.one_of(_WRAPPED)
    said = joined(words(m, w), w)[0]
    found = [f"//keeps dressed\n{text}", f"//spelled\n{before}{said}{behind}{WITH}{text}"]
    for what, wrong, (line, column) in refused(m, w):
        found.append(f"//refused {line} {column} {what}\n{wrong}")
    return AND.join(found)


_KINDS: Final[tuple[tuple[Callable[[Writer], Owed | str | None], int], ...]] = (
    (rule_case, 5),
    (constraint_case, 4),
    (law_case, 8),
    (spelling_case, 3),
    (knowledge_case, 2),
    (dressed_case, 4),
    (range_case, 2),
    (gap_case, 1),
    (neighbours_case, 1),
)
"""Kinds of cases with how often each is drawn."""
_DRAWN: Final = tuple(kind for kind, weight in _KINDS for _ in range(weight))


def rewrite_text(w: Replayed) -> str:
    """A few cases, of any kinds."""
    found = []
    for _ in range(w.one_of((1, 4, 6, 8))):
        case = combine_case(w) if w.chance(24) else w.one_of(_DRAWN)(w) or spelling_case(w)
        found.append(case if isinstance(case, str) else _text(case))
    return AND.join(found)


def rewrite_texts() -> st.SearchStrategy[str]:
    return from_choices(rewrite_text, CHOICES)
