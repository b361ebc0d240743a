"""Target `rewrites`: what the simplifier owes beyond the meaning: rules that fire, one form, exact ranges, places."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from itertools import product
from typing import Final

from hloproof.fuzz.maps.generate_rewrites import AND, WITH, rewrite_texts
from hloproof.fuzz.maps.map_laws import WEIGHT, BeforeAndAfter, check_printed, nodes, operations, simplified
from hloproof.fuzz.maps.readings import meaning, size
from hloproof.fuzz.maps.rule_instances import applied_rules, collected
from hloproof.fuzz.target import Failure, Target
from hloproof.models.errors import InputError
from hloproof.models.expressions.bounds import combine, range_of
from hloproof.models.expressions.evaluate import UndefinedValue, apply_operator
from hloproof.models.expressions.expr import Expr, postorder
from hloproof.models.expressions.interval import Interval
from hloproof.models.maps.indexing_map import IndexingMap
from hloproof.models.maps.text import KNOWN_EMPTY, parse_map, print_map
from hloproof.models.simplifier import rewriter
from hloproof.models.simplifier.linear import linear_of
from hloproof.models.simplifier.measure import smaller
from hloproof.models.simplifier.rewriter import Rewriter
from hloproof.models.simplifier.simplify import simplify

MOST_POINTS: Final = 4_000

OTHER_FORMS: Final = {"mod-two-of-negated", "mod-of-mod", "same-expression"}
"""Rules whose two sides may end in forms that differ: what is left is no larger than the right side as it stands."""


def examine(text: str) -> tuple[str, ...]:
    return tuple(word for case in text.split(AND) for word in _examine(case))


def _examine(text: str) -> tuple[str, ...]:
    head, _, body = text.partition("\n")
    word, _, name = head.removeprefix("//").partition(" ")
    if word in _ON_TEXTS:
        _ON_TEXTS[word](name, body)
        return (word,)
    first, *others = (parse_map(part) for part in body.split(WITH))
    check_printed(first, body)
    if size(first) > MOST_POINTS:
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
    found = simplified(first)
    if name in {r.name for r in applied_rules()} and others and not found.steps and _reduced(found):
        raise Failure("rewrites: a result without a derivation", print_map(found.after))
    if word == "empty" and found.points:
        raise AssertionError("the case says that there are no points, and there are")
    for other in others:
        if word == "becomes":
            _becomes(found.after, other, name)
        else:
            simplified(other)
    return tuple(f"step {s.rule}" for s in found.steps)


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


def _reduced(s: BeforeAndAfter) -> bool:
    """Operations on something other than constants have gone."""
    inner = [n for root in s.m.results for n in nodes(root) if n.op in WEIGHT]
    return any(any(collected(n.lhs).values()) for n in inner) and not operations(s.after)


# --- ranges ------------------------------------------------------------------------------------------------------


def _ranges(m: IndexingMap, exact: int) -> None:
    """The first results' ranges are exact at the points that meet the constraints, the others hold all values."""
    facts = {c.expr: c.interval for c in m.constraints}
    box = dict(m.intervals())
    seen = [r for r in meaning(m).values() if r is not None]
    for k, e in enumerate(m.results if seen else ()):
        hull = Interval(min(r[k] for r in seen), max(r[k] for r in seen))
        stated = {"rewriter": Rewriter(box, facts).range(linear_of(e)), "subexpressions": range_of(e, box, facts)}
        if not all(found.contains(hull) for found in stated.values()):
            raise Failure("rewrites: a value outside the range", f"{e!r}: {stated}, {hull}")
        whole = not facts or any(part in facts for part in postorder(e))
        if k < exact and (stated["rewriter"] != hull or (whole and stated["subexpressions"] != hull)):
            raise Failure("rewrites: a range is too wide", f"{e!r}: {stated}, {hull}")


def _combined(name: str, body: str) -> None:
    """An operator over two intervals: exact, but for remainders by divisors of more than one value."""
    for line in body.splitlines():
        op, *bounds = line.split()
        x, y = (Interval(*map(int, ends)) for ends in (bounds[:2], bounds[2:]))
        found, values = combine(op, x, y), []
        for a, b in product(range(x.lower, x.upper + 1), range(y.lower, y.upper + 1)):
            try:
                values.append(apply_operator(op, a, b))
            except UndefinedValue:
                continue
        if not values:
            if not found.is_empty:
                raise Failure("rewrites: a range without values", f"{line}: {found}")
            continue
        hull = Interval(min(values), max(values))
        if not found.contains(hull):
            raise Failure("rewrites: a value outside the range", f"{line}: {found}, {hull}")
        if found != (_remainders(x, y) if op == "mod" and not y.is_point else hull):
            raise Failure("rewrites: a range is too wide", f"{line}: {found}, {hull}")


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


def _spelled(name: str, body: str) -> None:
    """Another spelling reads as the same map."""
    one, other = (parse_map(text) for text in body.split(WITH))
    if one != other or one.display_names() != other.display_names():
        raise Failure("rewrites: another spelling, another map", body)
    if parse_map(" KNOWN\nEMPTY ") != KNOWN_EMPTY:
        raise Failure("rewrites: the empty map reads as another", "")


def _refused(name: str, body: str) -> None:
    """A text with an error planted is refused at its place."""
    line, column, what = name.split(" ", 2)
    try:
        parse_map(body)
    except InputError as error:
        if (error.line, error.column) != (int(line), int(column)):
            raise Failure(f"rewrites: {what} is found elsewhere", f"{error}, expected {name}: {body}") from error
        return
    raise Failure(f"rewrites: {what} is taken", body)


_ON_TEXTS: Final[dict[str, Callable[[str, str], None]]] = {
    "combine": _combined,
    "spelled": _spelled,
    "refused": _refused,
}
"""Cases that are not a map to be simplified, by their first word."""

TARGET = Target(
    "rewrites", "rules fire where they can, one form, exact ranges, places of errors", rewrite_texts, examine, ".map"
)
