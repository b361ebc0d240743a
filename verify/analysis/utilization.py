"""Operand utilization: how many of an operand's elements are read, and how often."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from typing import Final

from hloproof.analysis.neighbours import stays
from hloproof.claims.operations.simplified import same_points
from hloproof.claims.statements.linear_form import LinearForm, linear_form
from hloproof.engines.door import prove_one
from hloproof.engines.gave_up import GaveUp, NotExpressible
from hloproof.logic.formula import eq
from hloproof.logic.obligation import Obligation
from hloproof.models.expressions.evaluate import UndefinedValue
from hloproof.models.expressions.expr import Expr, Var, substitute
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.indexing.map_set import OperandMaps
from hloproof.models.interpreter.maps import domain_points
from hloproof.models.maps.indexing_map import Constraint, IndexingMap, Variable, rng, with_devices
from hloproof.models.simplifier.simplify import simplify

FEW_POINTS: Final = 20_000
"""Points of the maps' domains up to which elements are counted one by one at once."""
MOST_POINTS: Final = 1_000_000
"""The same where isl has given up at the first, brief try."""
_BRIEFLY: Final = 300_000
_AT_LENGTH: Final = 3_000_000

WHOLE: Final = "the maps hold all that may be read"
AT_RUN_TIME: Final = "what is read depends on values known at run time"
SIZES: Final = "sizes are known at run time"
"""Why counts are upper bounds."""


@dataclass(frozen=True)
class Utilization:
    """How much of an operand one output reads.

    `elements`: different operand elements read; `pairs`: different pairs of output and operand element, of elements on
    different devices too; `reads`: points of the maps, each map and each value of its range variables once. Upper
    bounds on what any one run reads where `bound` says why they are no more than that; else exact. None where they
    could not be counted, with the reason.
    """

    total: int
    elements: int | None
    pairs: int | None
    reads: int | None
    bound: str
    method: str
    reason: str = ""

    @property
    def exact(self) -> bool:
        """The elements were counted, and every run reads them."""
        return not self.bound and self.elements is not None

    @property
    def share(self) -> Fraction | None:
        """Elements read of all elements; None without a count or without elements."""
        return None if self.elements is None or not self.total else Fraction(self.elements, self.total)

    @property
    def readers_per_element(self) -> Fraction | None:
        """Output elements that an element is read by, on average over the elements read; None for bounds."""
        if self.pairs is None or not self.elements or not self.exact:
            return None
        return Fraction(self.pairs, self.elements)

    @property
    def reads_per_element(self) -> Fraction | None:
        """How often an element is read, on average over the elements read; None for bounds."""
        if self.reads is None or not self.elements or not self.exact:
            return None
        return Fraction(self.reads, self.elements)


def utilization(maps: OperandMaps, operand: ArrayShape) -> Utilization:
    """Counts what one output reads of one operand, over the union of the maps."""
    if any(n < 0 for n in operand.dimensions):
        return Utilization(0, None, None, None, "", "", "an array with unbounded dimensions has no number of elements")
    total = operand.elements
    if maps.unknown:
        return Utilization(total, None, None, None, "", "", maps.unknown)
    filled = [with_devices(m) for m in maps.maps if not m.is_trivially_empty]
    bound = WHOLE if maps.kind == "bound" else ""
    if not filled:
        return Utilization(total, 0, 0, 0, bound, "no maps")
    if len(filled) == 1:
        filled = [_at_any_offset(_in_windows(filled[0]), len(operand.dimensions))]
    at_run_time = [m for m in filled if m.runtime]
    free = [_any_value(m) for m in filled]
    rank = len(operand.dimensions)
    counted, reasons = _counted(free, rank)
    elements, pairs, reads = counted
    method = "isl" if reasons is not None else "enumeration"
    if at_run_time:
        bound = bound or AT_RUN_TIME
        reads, elements, pairs = _in_one_run(filled, elements, pairs)
    why = "; ".join(dict.fromkeys(reasons or ()))
    return Utilization(total, elements, pairs, reads, bound, method, why)


def joint_utilization(sets: Sequence[OperandMaps], each: Sequence[Utilization], operand: ArrayShape) -> Utilization:
    """Counts what all outputs read of one operand together, from the maps and the counts of each output."""
    reading = [(s, u) for s, u in zip(sets, each, strict=True) if s.unknown or u.elements != 0]
    if len(reading) < 2:
        return reading[0][1] if reading else each[0]
    sets, each = [s for s, _ in reading], [u for _, u in reading]
    total, rank = each[0].total, len(operand.dimensions)
    unknown = next((s.unknown for s in sets if s.unknown), "")
    if unknown:
        return Utilization(total, None, None, None, "", "", unknown)
    pairs, reads = _sum([u.pairs for u in each]), _sum([u.reads for u in each])
    filled = [with_devices(m) for s in sets for m in s.maps if not m.is_trivially_empty]
    (elements, _, _), reasons = _counted([_any_value(m) for m in filled], rank, elements_only=True)
    bound = "; ".join(dict.fromkeys(u.bound for u in each if u.bound))
    if any(m.runtime for m in filled):
        bound, elements = bound or AT_RUN_TIME, _least(elements, _sum([u.elements for u in each]))
    why = "; ".join(dict.fromkeys(reasons or ())) if elements is None else ""
    return Utilization(total, elements, pairs, reads, bound, "isl" if reasons is not None else "enumeration", why)


def _in_one_run(
    maps: Sequence[IndexingMap], elements: int | None, pairs: int | None
) -> tuple[int | None, int | None, int | None]:
    """Bounds for a run, in which every runtime variable has one value at each point: reads, elements and pairs."""
    reads = _sum([_reads_in_one_run(m) for m in maps])
    pairs = _least(pairs, reads)
    return reads, _least(elements, pairs), pairs


def _least(x: int | None, y: int | None) -> int | None:
    return y if x is None else x if y is None else min(x, y)


def _sum(counts: Sequence[int | None]) -> int | None:
    return None if any(c is None for c in counts) else sum(c or 0 for c in counts)


def _in_windows(m: IndexingMap) -> IndexingMap:
    """The map seen from windows at runtime values, where these then are of no more consequence: in any run as many
    elements, and as often. The map itself where that is not shown."""
    if not m.runtime:
        return m
    seen = _seen_from_windows(m)
    if seen is m:
        return m
    plain = simplify(seen).map
    used = (*plain.results, *(c.expr for c in plain.constraints))
    if any(n.startswith("rt") for e in used for n in e.free):
        return m
    if any(prove_one(p.obligation).verdict != "proved" for p in same_points(seen, plain)):
        return m
    return replace(plain, runtime=())


def _at_any_offset(m: IndexingMap, rank: int) -> IndexingMap:
    """A window that runtime values only shift, without them: as many elements, and as often, whatever they are."""
    if not m.runtime or any(n.startswith("rt") for c in m.constraints for n in c.expr.free):
        return m
    every = frozenset(n for n, _ in m.intervals() if not n.startswith("rt"))
    if not all(stays(v, every) for v in m.runtime):
        return m
    results: list[Expr] = []
    for e in m.results[:rank]:
        form = linear_form(e)
        values = [a for a in form.terms if not a.free.isdisjoint({f"rt{k}" for k in range(len(m.runtime))})]
        if any(not isinstance(a, Var) for a in values):
            return m
        if not _equal(m, e, form.expression()):
            return m
        for a in values:
            form = form.without(a)
        results.append(form.expression())
    if any(n.startswith("rt") for e in m.results[rank:] for n in e.free):
        return m
    return replace(m, results=(*results, *m.results[rank:]), runtime=())


def _any_value(m: IndexingMap) -> IndexingMap:
    """The map with its runtime variables as range variables: each may hold any value of its interval."""
    if not m.runtime:
        return m
    into: dict[str, Expr] = {f"rt{k}": rng(len(m.ranges) + k) for k in range(len(m.runtime))}
    return IndexingMap(
        m.dims,
        tuple(substitute(e, into) for e in m.results),
        (*m.ranges, *(Variable(v.interval) for v in m.runtime)),
        constraints=tuple(Constraint(substitute(c.expr, into), c.interval) for c in m.constraints),
    )


def _reads_in_one_run(m: IndexingMap) -> int | None:
    """At most so many points of the domain, dims and range variables, for runtime values that no one chooses.

    A dim that has to lie within a window at a runtime value that does not depend on it has so many values as the window
    is wide, whatever the runtime value is.
    """
    from hloproof.engines.isl.count import count_values

    moved = _seen_from_windows(m)
    names = [n for n, _ in moved.intervals() if not n.startswith("rt")]
    try:
        return count_values(moved, names, _AT_LENGTH)
    except (GaveUp, NotExpressible):
        return None


def _seen_from_windows(m: IndexingMap) -> IndexingMap:
    """Each dim with a constraint `dim + runtime values in window` is replaced by its place in the window.

    What these runtime variables read must not move with any dim that is replaced: else one place in the windows could
    stand for several points.
    """
    replaced, used = frozenset[str](), frozenset[str]()
    for i, v in enumerate(m.dims):
        name = f"d{i}"
        for n, c in enumerate(m.constraints):
            form = linear_form(c.expr)
            values = used | frozenset(x for a in form.terms for x in a.free if x != name)
            if form.terms.get(Var(name)) != 1 or not _is_window(form, name):
                continue
            if not all(stays(m.runtime[int(x[2:])], replaced | {name}) for x in values):
                continue
            if not _equal(m, c.expr, form.expression()):
                continue
            replaced, used = replaced | {name}, values
            back = Var(name) - form.without(Var(name)).expression()
            into = {name: back}
            others = [x for k, x in enumerate(m.constraints) if k != n]
            m = replace(
                m,
                dims=tuple(replace(d, interval=c.interval) if k == i else d for k, d in enumerate(m.dims)),
                results=tuple(substitute(e, into) for e in m.results),
                constraints=(
                    *(Constraint(substitute(x.expr, into), x.interval) for x in others),
                    Constraint(back, v.interval),
                ),
            )
            break
    return m


def _is_window(form: LinearForm, name: str) -> bool:
    """Beside the dim there are only runtime values, at least one."""
    rest = [a for a in form.terms if a is not Var(name)]
    return bool(rest) and all(isinstance(a, Var) and a.name.startswith("rt") for a in rest)


def _equal(m: IndexingMap, e: Expr, written: Expr) -> bool:
    """The sum that was found for an expression is the expression: proved."""
    variables = tuple((n, i) for n, i in m.intervals() if n in e.free | written.free)
    return prove_one(Obligation(variables, eq(e, written), label="an expression and its terms")).verdict == "proved"


Counts = tuple[int | None, int | None, int | None]
"""Elements, pairs, reads."""


def _counted(
    maps: Sequence[IndexingMap], rank: int, elements_only: bool = False
) -> tuple[Counts, tuple[str, ...] | None]:
    """The counts; with reasons why some are missing where isl was asked, None where all points were listed.

    With `elements_only`, the maps may have different dims, and nothing is said of pairs and reads.
    """
    points_to_list = sum(prod(i.count for _, i in m.intervals()) for m in maps)
    if points_to_list <= FEW_POINTS:
        return _listed(maps, rank)
    found, reasons = _by_isl(maps, rank, _BRIEFLY, elements_only)
    if reasons:
        if points_to_list <= MOST_POINTS:
            return _listed(maps, rank)
        found, reasons = _by_isl(maps, rank, _AT_LENGTH, elements_only)
    return found, reasons


def _listed(maps: Sequence[IndexingMap], rank: int) -> tuple[Counts, tuple[str, ...] | None]:
    try:
        return enumerated(maps, rank), None
    except UndefinedValue as error:
        return (None, None, None), (f"a divisor that is zero: {error}",)


def _by_isl(
    maps: Sequence[IndexingMap], rank: int, operations: int, elements_only: bool
) -> tuple[Counts, tuple[str, ...]]:
    from hloproof.engines.isl.count import count_image, count_pairs, count_values

    def reads() -> int:
        return sum(count_values(m, [n for n, _ in m.intervals()], operations) for m in maps)

    shapes = [replace(m, results=m.results[:rank]) for m in maps]
    ways: tuple[Callable[[], int], ...] = (
        lambda: count_image(shapes, operations),
        lambda: count_pairs(maps, operations),
        reads,
    )
    counts: list[int | None] = []
    reasons: list[str] = []
    for count in ways[:1] if elements_only else ways:
        try:
            counts.append(count())
        except (GaveUp, NotExpressible) as error:
            counts.append(None)
            reasons.append(str(error))
    counts += [None] * (len(ways) - len(counts))
    return (counts[0], counts[1], counts[2]), tuple(reasons)


def enumerated(maps: Sequence[IndexingMap], rank: int | None = None) -> tuple[int, int, int]:
    """Different elements, different pairs, and points, by listing all points of maps without runtime variables.

    `rank` results are the element, all of them by default. Raises UndefinedValue for a divisor that is zero.
    """
    pairs: set[tuple[tuple[int, ...], tuple[int, ...]]] = set()
    reads = 0
    for m in maps:
        for dims, (_, results, _) in domain_points(m):
            pairs.add((dims, results))
            reads += 1
    return len({x[:rank] for _, x in pairs}), len(pairs), reads
