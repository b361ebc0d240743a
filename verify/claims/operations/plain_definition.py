"""The claims `definition` and `converse` stated a second time, from maps and definitions as they stand.

Under `cross` nothing may rest on one statement, since all engines consume it. Here nothing is solved for, matched or
left out, and nothing is shared with the first statements: range variables of a map that has to hold a pair are
quantified, and what is read at run time is a number for each element that somebody reads, the same one for the same
element.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Final

from hloproof.claims.operations.definition import Subject
from hloproof.claims.statements.contents import provider_operand
from hloproof.claims.statements.elimination import Membership, solve
from hloproof.definitions.definition import Definition
from hloproof.logic.formula import (
    FALSE,
    Compare,
    Exists,
    Formula,
    conj,
    conjuncts,
    disj,
    eq,
    ne,
    replace_variables,
    within,
)
from hloproof.logic.obligation import Obligation
from hloproof.models.errors import NotModelled
from hloproof.models.expressions.expr import Binary, Const, Expr, Var, postorder, substitute
from hloproof.models.expressions.interval import Interval
from hloproof.models.indexing.map_set import OperandMaps
from hloproof.models.maps.indexing_map import Direction, IndexingMap

MOST_READINGS: Final = 64
"""Ways to say which of the elements that are read a map reads, beyond which there is no second statement."""


@dataclass
class _Memory:
    """What elements hold that are read at run time: a number for each element that is named, of any size. Elements are
    those of an operand, or of the vector of its sizes."""

    held: dict[tuple[tuple[int, bool], tuple[Expr, ...]], str] = field(default_factory=dict)
    intervals: dict[str, Interval] = field(default_factory=dict)

    def value(self, operand: tuple[int, bool], index: tuple[Expr, ...]) -> Var:
        return Var(self.held.setdefault((operand, index), f"v{len(self.held)}"))

    @property
    def variables(self) -> tuple[tuple[str, Interval | None], ...]:
        return tuple((name, self.intervals.get(name)) for name in self.held.values())

    @property
    def one_value_each(self) -> list[Formula]:
        """Two elements of one operand are different, or hold one value."""
        return [
            disj(*(ne(x, y) for x, y in zip(a[1], b[1], strict=True)), eq(Var(m), Var(n)))
            for (a, m), (b, n) in combinations(self.held.items(), 2)
            if a[0] == b[0] and len(a[1]) == len(b[1])
        ]


@dataclass(frozen=True)
class _Points:
    """The points of a map: variables, what holds, and the pair and the position that each stands for."""

    variables: tuple[tuple[str, Interval], ...]
    holds: Formula
    source: tuple[Expr, ...]
    target: tuple[Expr, ...]
    position: Expr

    def pair(self, direction: Direction) -> tuple[tuple[Expr, ...], tuple[Expr, ...]]:
        """Output and operand coordinates."""
        return (self.source, self.target) if direction == "output-to-input" else (self.target, self.source)


def plain_definition(about: Subject, maps: OperandMaps | None, definition: Definition) -> list[Obligation]:
    """What the claim owes. Raises NotModelled where this cannot say it."""
    listed = () if maps is None else maps.maps
    _only_numbers_divide(listed)
    out = [_covered(about, listed, definition)]
    if definition.kind == "bound":
        return out
    out += [_inside(about, m, definition) for m in listed]
    if definition.multiplicity:
        out += _counted_once(about.direction, listed, definition)
    return out


def plain_converse(
    about: Subject, forth: OperandMaps | None, back: OperandMaps | None, definition: Definition
) -> list[Obligation]:
    """Every pair of one direction is a pair of the other. Raises NotModelled where this cannot say it."""
    there, again = (() if m is None else m.maps for m in (forth, back))
    _only_numbers_divide((*there, *again))
    ways: tuple[tuple[Sequence[IndexingMap], Sequence[IndexingMap], Direction, Direction], ...] = (
        (there, again, "output-to-input", "input-to-output"),
        (again, there, "input-to-output", "output-to-input"),
    )
    out: list[Obligation] = []
    for these, others, mine, theirs in ways:
        for m in these:
            memory = _Memory()
            own = _points(m, "a", memory)
            output, operand = own.pair(mine)
            source, target = (output, operand) if theirs == "output-to-input" else (operand, output)
            goals = [g for n, o in enumerate(others) for g in _members(o, source, target, own.position, memory, n)]
            out.append(_obligation((*own.variables, *_reader(definition)), [own.holds], disj(*goals), memory))
    return out


def _only_numbers_divide(maps: Iterable[IndexingMap]) -> None:
    """No divisor of a map is more than a number, so that every term has a value."""
    for m in maps:
        roots = [*m.results, *(c.expr for c in m.constraints)]
        roots += [e for v in m.runtime if v.index is not None for e in v.index.results]
        for e in (e for root in roots for e in postorder(root)):
            if isinstance(e, Binary) and e.op in ("floordiv", "ceildiv", "mod") and not isinstance(e.rhs, Const):
                raise NotModelled("a divisor that is no number has no second statement")


def _obligation(
    variables: Iterable[tuple[str, Interval]], given: Sequence[Formula], goal: Formula, memory: _Memory
) -> Obligation:
    own: dict[str, Interval | None] = dict(variables)
    own |= dict(memory.variables)
    return Obligation(tuple(own.items()), goal, conj(*given, *memory.one_value_each), "stated a second time")


def _reader(definition: Definition) -> tuple[tuple[str, Interval], ...]:
    """The reader's own position in its group, the same for everybody; the only one where nobody else's is read."""
    return (("p", Interval.of_size(max(1, definition.group_size))),)


def _points(m: IndexingMap, letter: str, memory: _Memory) -> _Points:
    """The map at variables of its own, which begin with the letter."""
    into: dict[str, Expr] = {n: Var(f"{letter}_{n}") for n, _ in m.intervals() if not n.startswith("rt")}
    for k, v in enumerate(m.runtime):
        operand = provider_operand(v)
        if operand is None:
            into[f"rt{k}"] = _clamped(Var("p"), v.interval)
        else:
            index = _index(v.index, into)
            into[f"rt{k}"] = _clamped(memory.value(operand, index), v.interval)
    boxes = tuple((f"{letter}_{n}", i) for n, i in m.intervals() if not n.startswith("rt"))
    return _Points(
        boxes,
        _domain(m, into),
        tuple(into[f"d{i}"] for i in range(len(m.dims))),
        tuple(substitute(e, into) for e in m.results),
        _position(m, into),
    )


def _members(
    m: IndexingMap, source: Sequence[Expr], target: Sequence[Expr], position: Expr, memory: _Memory, number: int
) -> Iterator[Formula]:
    """That the map leads from source to target, one formula for each choice of the elements that it reads, among those
    that are read already. A map that reads one nobody else reads reads one of its own."""
    into: dict[str, Expr] = {f"d{i}": e for i, e in enumerate(source)}
    bound = tuple((f"t{j}_{number}", v.interval) for j, v in enumerate(m.ranges))
    into |= {f"s{j}": Var(name) for j, (name, _) in enumerate(bound)}
    names = {name for name, _ in bound}
    choices: list[list[tuple[Expr, Formula]]] = []
    for v in m.runtime:
        operand = provider_operand(v)
        if operand is None:
            choices.append([(_clamped(Var("p"), v.interval), conj())])
            continue
        index = _index(v.index, into)
        if not any(e.free & names for e in index):
            memory.value(operand, index)
        choices.append(
            [
                (_clamped(Var(name), v.interval), conj(*(eq(a, b) for a, b in zip(index, at, strict=True))))
                for (whose, at), name in memory.held.items()
                if whose == operand and len(at) == len(index)
            ]
        )
    ways = list(product(*choices))
    if len(ways) > MOST_READINGS:
        raise NotModelled("too many elements read at run time for a second statement")
    for chosen in ways:
        at = into | {f"rt{k}": value for k, (value, _) in enumerate(chosen)}
        body = conj(
            _domain(m, at),
            *(within(at[f"d{i}"], v.interval) for i, v in enumerate(m.dims)),
            *(same for _, same in chosen),
            *(eq(substitute(e, at), t) for e, t in zip(m.results, target, strict=True)),
            eq(_position(m, at), position),
        )
        yield Exists(bound, body) if bound else body


def _index(index: IndexingMap | None, into: dict[str, Expr]) -> tuple[Expr, ...]:
    if index is None or index.runtime or index.replica is not None or index.constraints:
        raise NotModelled("an element that is itself read at run time has no second statement")
    return tuple(substitute(e, into) for e in index.results)


def _domain(m: IndexingMap, into: dict[str, Expr]) -> Formula:
    """The constraints, and those of the map to another device with its intervals."""
    parts = [within(substitute(c.expr, into), c.interval) for c in m.constraints]
    if m.replica is not None:
        parts += [within(substitute(c.expr, into), c.interval) for c in m.replica.constraints]
        parts += [within(into[name], i) for name, i in m.replica.intervals() if name in into]
    return conj(*parts)


def _position(m: IndexingMap, into: dict[str, Expr]) -> Expr:
    """The position of the device that is read: the reader's own where the map names none."""
    return Var("p") if m.replica is None else substitute(m.replica.results[0], into)


def _clamped(held: Expr, interval: Interval) -> Expr:
    return Binary("min", Binary("max", held, Const(interval.lower)), Const(interval.upper))


def _meaning(definition: Definition, pair: dict[str, Expr], memory: _Memory) -> Formula:
    """The predicate at a pair, its runtime values taken from memory; the iteration variables stay free."""
    at = dict(pair)
    for k, r in enumerate(definition.runtime):
        held = memory.value((r.operand, r.of_sizes), tuple(substitute(e, pair) for e in r.index))
        at[f"r{k}"] = _clamped(held, r.interval) if r.clamped else held
        interval = r.held if r.clamped else r.interval
        if interval is not None:
            memory.intervals[held.name] = interval
    return replace_variables(definition.predicate, at)


def _pair(output: Sequence[Expr], operand: Sequence[Expr], position: Expr, definition: Definition) -> dict[str, Expr]:
    into: dict[str, Expr] = {f"d{i}": e for i, e in enumerate(output)}
    into |= {f"x{j}": e for j, e in enumerate(operand)}
    return into | {"q": position} if definition.group_size else into


def _inside(about: Subject, m: IndexingMap, definition: Definition) -> Obligation:
    """Every pair of the map is one of the definition."""
    memory = _Memory()
    own = _points(m, "a", memory)
    output, operand = own.pair(about.direction)
    meant = _meaning(definition, _pair(output, operand, own.position, definition), memory)
    sizes = definition.output_sizes if about.direction == "output-to-input" else definition.operand_sizes
    group = [within(own.position, Interval.of_size(definition.group_size))] if definition.group_size else []
    goal = conj(  # that results lie in their shape is a claim of its own
        *group,
        *(within(e, Interval.of_size(n)) for e, n in zip(own.source, sizes, strict=True)),
        Exists(definition.iteration, meant) if definition.iteration else meant,
    )
    return _obligation((*own.variables, *_reader(definition)), [own.holds], goal, memory)


def _covered(about: Subject, maps: Sequence[IndexingMap], definition: Definition) -> Obligation:
    """Every pair of the definition is one of a map."""
    memory = _Memory()
    output = [Var(f"d{i}") for i in range(len(definition.output_sizes))]
    operand = [Var(f"x{j}") for j in range(len(definition.operand_sizes))]
    position = Var("q") if definition.group_size else Var("p")
    meant = _meaning(definition, {}, memory)
    source, target = (output, operand) if about.direction == "output-to-input" else (operand, output)
    goals = [g for n, m in enumerate(maps) for g in _members(m, source, target, position, memory, n)]
    boxes = [(f"d{i}", Interval.of_size(n)) for i, n in enumerate(definition.output_sizes)]
    boxes += [(f"x{j}", Interval.of_size(n)) for j, n in enumerate(definition.operand_sizes)]
    boxes += [("q", Interval.of_size(definition.group_size))] if definition.group_size else []
    variables = (*boxes, *definition.iteration, *_reader(definition))
    return _obligation(variables, [meant], disj(*goals) if goals else FALSE, memory)


def _counted_once(direction: Direction, maps: Sequence[IndexingMap], definition: Definition) -> list[Obligation]:
    """The definition counts each pair once, and so do the maps together. Raises NotModelled where a pair may be read
    several times: how maps and definition go together then is stated once only."""
    equations = [
        Membership(p.lhs - p.rhs, Interval.point(0))
        for p in conjuncts(definition.predicate)
        if isinstance(p, Compare) and p.op == "=="
    ]
    if len(solve(dict(definition.iteration), equations)) < len(definition.iteration):
        raise NotModelled("how often an element is read, where one output reads it several times, is stated once only")
    out = [_iterated_once(definition)] if definition.iteration else []
    for m in maps:
        if m.ranges:
            out.append(_apart(direction, m, m, definition, [f"s{j}" for j in range(len(m.ranges))]))
    return out + [_apart(direction, a, b, definition, []) for a, b in combinations(maps, 2)]


def _iterated_once(definition: Definition) -> Obligation:
    memory = _Memory()
    again: dict[str, Expr] = {n: Var(f"{n}_") for n, _ in definition.iteration}
    meant = _meaning(definition, {}, memory)
    boxes = [(f"d{i}", Interval.of_size(n)) for i, n in enumerate(definition.output_sizes)]
    boxes += [(f"x{j}", Interval.of_size(n)) for j, n in enumerate(definition.operand_sizes)]
    boxes += [("q", Interval.of_size(definition.group_size))] if definition.group_size else []
    boxes += [*definition.iteration, *((f"{n}_", i) for n, i in definition.iteration)]
    goal = conj(*(eq(Var(n), e) for n, e in again.items()))
    return _obligation((*boxes, *_reader(definition)), [meant, replace_variables(meant, again)], goal, memory)


def _apart(
    direction: Direction, a: IndexingMap, b: IndexingMap, definition: Definition, same: Sequence[str]
) -> Obligation:
    """A point of each with the same pair are one point: they have the same values of these range variables, and there
    are none with no range variables at all."""
    memory = _Memory()
    first, second = _points(a, "a", memory), _points(b, "b", memory)
    ends = zip(
        (*(e for half in first.pair(direction) for e in half), first.position),
        (*(e for half in second.pair(direction) for e in half), second.position),
        strict=True,
    )
    given = [first.holds, second.holds, *(eq(x, y) for x, y in ends)]
    goal = conj(*(eq(Var(f"a_{n}"), Var(f"b_{n}")) for n in same)) if same else FALSE
    return _obligation((*first.variables, *second.variables, *_reader(definition)), given, goal, memory)
