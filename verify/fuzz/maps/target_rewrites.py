"""Target `rewrites`: what the simplifier owes beyond the meaning: rules that fire, one form, exact ranges, places."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from itertools import product
from math import prod
from random import Random
from typing import Final

from hloproof.fuzz.maps.generate_rewrites import AND, WITH, rewrite_texts
from hloproof.fuzz.maps.rule_instances import applied_rules, collected
from hloproof.fuzz.maps.spelled_map import joined, refused, words
from hloproof.fuzz.target import Failure, Target
from hloproof.models.errors import InputError
from hloproof.models.expressions.bounds import combine, range_of
from hloproof.models.expressions.evaluate import UndefinedValue, apply_operator
from hloproof.models.expressions.expr import Binary, Const, Expr, postorder
from hloproof.models.expressions.interval import Interval
from hloproof.models.expressions.python_text import function_of
from hloproof.models.expressions.text import Reader, expression
from hloproof.models.hlo.shape import Index
from hloproof.models.maps.indexing_map import IndexingMap
from hloproof.models.maps.text import KNOWN_EMPTY, parse_map, print_map
from hloproof.models.rules.text import project_rules
from hloproof.models.simplifier import rewriter
from hloproof.models.simplifier.linear import linear_of
from hloproof.models.simplifier.measure import smaller
from hloproof.models.simplifier.rewriter import Rewriter, RewriteStep
from hloproof.models.simplifier.simplify import is_empty, simplify

MOST_POINTS: Final = 4_000
Meaning = dict[Index, Index | None]
"""The results at every point of the domain; None where they are not defined."""

OTHER_FORMS: Final = {"mod-two-of-negated", "mod-of-mod", "same-expression"}
"""Rules whose two sides may end in forms that differ: what is left is no larger than the right side as it stands."""


def examine(text: str) -> tuple[str, ...]:
    return tuple(word for case in text.split(AND) for word in _examine(case))


def _examine(text: str) -> tuple[str, ...]:
    head, _, body = text.partition("\n")
    word, _, name = head.removeprefix("//").partition(" ")
    if word == "combine":
        for line in body.splitlines():
            op, *bounds = line.split()
            _combined(op, [int(n) for n in bounds])
        return (word,)
    first, *others = (parse_map(part) for part in body.split(WITH))
    _printed(first, body)
    if name == "dressed":
        _spelled(first, Random(text))
    if _size(first) > MOST_POINTS:
        return ("too large",)
    if word == "range":
        _ranges(first, int(name))
        return (head,)
    with _shallow() if name == "deep" else nullcontext():
        return (head, *_simplified(word, name, first, others))


@contextmanager
def _shallow() -> Iterator[None]:
    """Rules may call for each other three deep, so that sums of a few terms need another round."""
    before, rewriter._DEEP = rewriter._DEEP, 3  # type: ignore[misc]
    try:
        yield
    finally:
        rewriter._DEEP = before  # type: ignore[misc]


def _simplified(word: str, name: str, first: IndexingMap, others: list[IndexingMap]) -> tuple[str, ...]:
    before = meaning(first)
    result = simplify(first)
    _kept(first, before, result.map)
    _remembered(first, result.map)
    steps = result.derivation
    _derived(first, before, steps[:20])
    _narrowings(first, result.map, steps)
    if name in {r.name for r in applied_rules()} and others and not steps and _reduced(first, result.map):
        raise Failure("rewrites: a result without a derivation", print_map(result.map))
    if word == "empty" and before:
        raise AssertionError("the case says that there are no points, and there are")
    for other in others:
        if word == "becomes":
            _becomes(result.map, other, name)
        else:
            _kept(other, meaning(other), simplify(other).map)
    return tuple(f"step {s.rule}" for s in steps)


def _size(m: IndexingMap) -> int:
    return prod(i.count for _, i in m.intervals())


# --- meaning -----------------------------------------------------------------------------------------------------


def meaning(m: IndexingMap) -> Meaning:
    """Runtime variables take every value of their intervals."""
    names = [n for n, _ in m.intervals()]
    f = function_of([*(c.expr for c in m.constraints), *m.results], names)
    n = len(m.constraints)
    found: Meaning = {}
    for point in product(*(range(i.lower, i.upper + 1) for _, i in m.intervals())):
        try:
            values = f(*point)
        except ZeroDivisionError:
            found[point] = None
            continue
        if all(v in c.interval for v, c in zip(values, m.constraints, strict=False)):
            found[point] = values[n:]
    return found


def _kept(m: IndexingMap, before: Meaning, after: IndexingMap) -> None:
    """The same variables, points and results; no points have one form, and no map becomes larger."""
    shape = [len(v) for v in (m.dims, m.ranges, m.runtime, m.results)]
    if [len(v) for v in (after.dims, after.ranges, after.runtime, after.results)] != shape:
        raise Failure("rewrites: other variables or results", print_map(after))
    if after.display_names() != m.display_names():
        raise Failure("rewrites: other names", print_map(after))
    if [v.provider for v in after.runtime] != [v.provider for v in m.runtime]:
        raise Failure("rewrites: other providers", print_map(after))
    if not before:
        _nothing(m, after)
        return
    found = meaning(after)
    undefined = {p for p, r in before.items() if r is None}
    if any(r is None for p, r in found.items() if p not in undefined):
        raise Failure("rewrites: undefined at a point", print_map(after))
    if {p: r for p, r in found.items() if p not in undefined} != {p: r for p, r in before.items() if r is not None}:
        raise Failure("rewrites: other points", print_map(after))
    for old, new in zip(m.runtime, after.runtime, strict=True):
        if old.provider is not None and old.interval != new.interval:
            raise Failure("rewrites: another clamp", print_map(after))
        if new.index != (None if old.index is None else simplify(old.index).map):
            raise Failure("rewrites: another index map", print_map(after))
    if after.replica != (None if m.replica is None else simplify(m.replica).map):
        raise Failure("rewrites: another replica part", print_map(after))
    if simplify(after).map != after:
        raise Failure("rewrites: simplifying again changes the map", print_map(after))
    if is_empty(m) and any(r is not None for r in before.values()):
        raise Failure("rewrites: a map with points is said to be empty", print_map(m))
    if len(after.constraints) > len(m.constraints) + len([v for v in m.runtime if v.provider is not None]):
        raise Failure("rewrites: more constraints", print_map(after))
    if _operations(after) > _operations(m):
        raise Failure("rewrites: more operations", print_map(after))


def _nothing(m: IndexingMap, after: IndexingMap) -> None:
    """The one form of a map without points."""
    variables = [i for _, i in after.intervals()]
    plain = all(i.is_empty for i in variables) and all(e == Const(0) for e in after.results) and after.replica is None
    if not plain or len({(i.lower, i.upper) for i in variables}) > 1:
        raise Failure("rewrites: an empty domain is not recognised", print_map(after))
    said = () if variables else KNOWN_EMPTY.constraints
    if after.constraints != said or print_map(after) != "KNOWN EMPTY":
        raise Failure("rewrites: an empty map of another form", repr(after))
    found = is_empty(m)
    if simplify(after).map != after or found is False or (found is None and _size(m) < 500):
        raise Failure("rewrites: an empty map does not stay", repr(after))


_WEIGHT: Final = {"floordiv": 1, "ceildiv": 3, "mod": 1, "min": 1, "max": 1}


def _operations(m: IndexingMap) -> int:
    roots = (*m.results, *(c.expr for c in m.constraints))
    return sum(_WEIGHT.get(e.op, 0) for root in roots for e in _nodes(root))


def _nodes(root: Expr) -> Iterator[Binary]:
    """Every operation, as often as it is written."""
    todo = [root]
    while todo:
        e = todo.pop()
        if isinstance(e, Binary):
            yield e
            todo += (e.lhs, e.rhs)


def _remembered(m: IndexingMap, after: IndexingMap) -> None:
    """What is kept from earlier maps answers for equal ones, names apart."""

    def renamed(x: IndexingMap) -> IndexingMap:
        return replace(x, dims=tuple(replace(v, name=f"n{k}") for k, v in enumerate(x.dims)))

    again = simplify(renamed(m)).map
    if again != after or again.display_names() != renamed(after).display_names():
        raise Failure("rewrites: other names, another answer", print_map(again))


# --- forms -------------------------------------------------------------------------------------------------------


def _becomes(after: IndexingMap, other: IndexingMap, name: str) -> None:
    expected = simplify(other).map
    if after == expected:
        return
    found, wanted = _attained(after), _attained(expected)
    if found == wanted:
        return
    message = f"{print_map(after)}, expected {print_map(expected)}"
    if name not in OTHER_FORMS:
        both = zip(after.results, expected.results, strict=True)
        if found[1] == wanted[1] and all(a == b or smaller(linear_of(a), linear_of(b)) for a, b in both):
            return
        raise Failure(f"rewrites: {name} is not applied", message)
    pairs = zip(after.results, other.results, strict=True)
    if any(smaller(linear_of(b), linear_of(a)) for a, b in pairs) or len(found[1]) > len(wanted[1]):
        raise Failure(f"rewrites: {name} leaves more than its right side", message)


def _attained(m: IndexingMap) -> tuple[object, dict[Expr, Interval]]:
    """The map without its constraints; these with no more than the values that the variables' intervals allow."""
    box = dict(m.intervals())
    held = {c.expr: c.interval.intersect(range_of(c.expr, box)) for c in m.constraints}
    return replace(m, constraints=()), held


# --- derivations -------------------------------------------------------------------------------------------------


def _names_of_rules() -> set[str]:
    return {r.name for kind in ("division", "sums", "order", "constraints") for r in project_rules(kind)}


def _derived(m: IndexingMap, before: Meaning, steps: tuple[RewriteStep, ...]) -> None:
    """Every step names a rule, and holds at the points of the domain."""
    names = [n for n, _ in m.intervals()]
    points = [p for p, r in before.items() if r is not None][:60]
    for step in steps:
        if step.rule not in _names_of_rules():
            raise Failure("rewrites: a step without a rule", str(step))
        if step.before == step.after:
            raise Failure("rewrites: a step that changes nothing", str(step))
        if str(step) != f"{step.rule}: {step.before} => {step.after}":
            raise Failure("rewrites: a step is shown otherwise", str(step))
        if step.after == "no points" or " ... " in step.before:  # as long texts are cut
            continue
        before_step, after_step = (_values(_side(text), names, points) for text in (step.before, step.after))
        for p, x, y in zip(points, before_step, after_step, strict=True):
            if x is not None and y is not None and x != y:
                raise Failure("rewrites: a step does not hold", f"{step} at {p}")


def _narrowings(m: IndexingMap, after: IndexingMap, steps: tuple[RewriteStep, ...]) -> None:
    """Every interval that became narrower is what some step comes to."""
    if m.is_trivially_empty and [s.rule for s in steps] != ["no-interval"]:
        raise Failure("rewrites: an empty interval is not told", print_map(m))
    for (name, old), (_, new) in zip(m.intervals(), after.intervals(), strict=True):
        told = any(f"{name} in {new}" in s.after for s in steps)
        if old != new and not new.is_empty and not told:
            raise Failure("rewrites: an interval that no step tells", f"{name} in {new}")


def _reduced(m: IndexingMap, after: IndexingMap) -> bool:
    """Operations on something other than constants have gone."""
    inner = [n for root in m.results for n in _nodes(root) if n.op in _WEIGHT]
    return any(any(collected(n.lhs).values()) for n in inner) and not _operations(after)


Side = list[tuple[Expr, Interval | None]]


def _side(text: str) -> Side:
    """An expression, or constraints; `always` is none of them and `never` one that fails."""
    if text in ("always", "never"):
        return [] if text == "always" else [(Const(0), Interval(1, 1))]
    reader = Reader(text)
    out: Side = []
    while not reader.at_end:
        e = expression(reader, None)
        interval = None
        if reader.at("in"):
            found = []
            for word in ("in", "["):
                reader.expect(word)
            for closing in (",", "]"):
                sign = -1 if reader.at("-") and reader.take() else 1
                found.append(sign * reader.number())
                reader.take()
                reader.expect(closing)
            interval = Interval(*found)
        out.append((e, interval))
        if reader.at(","):
            reader.take()
    return out


def _values(side: Side, names: list[str], points: list[Index]) -> list[object]:
    """The value of an expression at each point; of constraints, whether they all hold; None where it is undefined."""
    f = function_of([e for e, _ in side], names)
    found: list[object] = []
    for p in points:
        try:
            values = f(*p)
        except ZeroDivisionError:
            found.append(None)
            continue
        whole = all(i is None or v in i for v, (_, i) in zip(values, side, strict=True))
        found.append(values[0] if len(side) == 1 and side[0][1] is None else whole)
    return found


# --- ranges ------------------------------------------------------------------------------------------------------


def _ranges(m: IndexingMap, exact: int) -> None:
    """The first results' ranges are exact at the points that meet the constraints, the others hold all values."""
    facts = {c.expr: c.interval for c in m.constraints}
    box = dict(m.intervals())
    seen = [r for r in meaning(m).values() if r is not None]
    for k, e in enumerate(m.results):
        values = [r[k] for r in seen]
        if not values:
            continue
        hull = Interval(min(values), max(values))
        stated = {"rewriter": Rewriter(box, facts).range(linear_of(e))}
        stated["subexpressions"] = range_of(e, box, facts)
        for what, found in stated.items():
            if not found.contains(hull):
                raise Failure(f"rewrites: a value outside the range ({what})", f"{e!r}: {found}, {hull}")
        whole = not facts or any(part in facts for part in postorder(e))
        if k < exact and (stated["rewriter"] != hull or (whole and stated["subexpressions"] != hull)):
            raise Failure("rewrites: a range is too wide", f"{e!r}: {stated}, {hull}")


def _combined(op: str, bounds: list[int]) -> None:
    """An operator over two intervals: exact, but for remainders by divisors of more than one value."""
    x, y = Interval(*bounds[:2]), Interval(*bounds[2:])
    found = combine(op, x, y)
    values = []
    for a, b in product(range(x.lower, x.upper + 1), range(y.lower, y.upper + 1)):
        try:
            values.append(apply_operator(op, a, b))
        except UndefinedValue:
            continue
    if not values:
        if not found.is_empty:
            raise Failure("rewrites: a range without values", f"{op} {x} {y}: {found}")
        return
    hull = Interval(min(values), max(values))
    if not found.contains(hull):
        raise Failure("rewrites: a value outside the range", f"{op} {x} {y}: {found}, {hull}")
    if op == "mod" and not y.is_point:
        hull = _remainders(x, y)
    if found != hull:
        raise Failure("rewrites: a range is too wide", f"{op} {x} {y}: {found}, {hull}")


def _remainders(x: Interval, y: Interval) -> Interval:
    """Remainders by positive divisors lie below the largest, and are no larger than what is divided where that is not
    negative, nothing else where it is smaller than all divisors; those by negative ones lie above the least."""
    parts = []
    if y.upper > 0:
        highest = y.upper - 1 if x.lower < 0 else min(y.upper - 1, x.upper)
        small = x.lower >= 0 and x.upper < max(1, y.lower)
        parts.append((x.lower, x.upper) if small else (0, highest))
    if y.lower < 0:
        parts.append((y.lower + 1, 0))
    return Interval(min(low for low, _ in parts), max(high for _, high in parts))


# --- texts -------------------------------------------------------------------------------------------------------


def _printed(m: IndexingMap, body: str) -> None:
    """Names are read as they stand; what is printed reads as the same map with the same names."""
    head = "" if body.startswith("KNOWN EMPTY") else body.partition("->")[0]
    if list(m.display_names().values()) != re.findall(r"[A-Za-z_][\w.]*", head):
        raise Failure("rewrites: names are read as others", head)
    text = print_map(m)
    if text == "KNOWN EMPTY":
        return
    again = parse_map(text)
    if again != m or again.display_names() != m.display_names():
        raise Failure("rewrites: printing and parsing changes a map", text)
    for one, other in (
        (m.replica, again.replica),
        *((v.index, w.index) for v, w in zip(m.runtime, again.runtime, strict=True)),
    ):
        if one is not None and other is not None and one.display_names() != other.display_names():
            raise Failure("rewrites: printing and parsing changes names", text)


def _spelled(m: IndexingMap, random: Random) -> None:
    """Another spelling reads as the same map; a spelling with an error planted is refused at its place."""
    text, _ = joined(words(m, random), random)
    again = parse_map(text)
    if again != m or again.display_names() != m.display_names():
        raise Failure("rewrites: another spelling, another map", text)
    wrong = [*refused(m, random), ("a word after all", "KNOWN EMPTY or", (1, 13)), ("half", "KNOWN or", (1, 1))]
    for what, text, place in wrong:
        try:
            parse_map(text)
        except InputError as error:
            if (error.line, error.column) != place:
                raise Failure(f"rewrites: {what} is found elsewhere", f"{error}, expected {place}: {text}") from error
            continue
        raise Failure(f"rewrites: {what} is taken", text)
    if parse_map(" KNOWN\nEMPTY ") != KNOWN_EMPTY:
        raise Failure("rewrites: the empty map reads as another", "")


TARGET = Target(
    "rewrites", "rules fire where they can, one form, exact ranges, places of errors", rewrite_texts, examine, ".map"
)
