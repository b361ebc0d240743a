"""The claim `definition`: the union of the maps is exactly the relation that the operation means, no more, no less.

Three things are owed. Every pair of a map is a pair of the definition. Every pair of the definition is a pair of some
map. Where multiplicity is observable no pair is counted twice: inside a map the range variables are determined by
output and operand element, and no two maps share a pair (definitions count each pair once).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Final

from hloproof.claims.statements.contents import of_positions, strays_somewhere
from hloproof.claims.statements.elimination import Membership, solve
from hloproof.claims.statements.relation import Piece
from hloproof.claims.statements.runtime import Matched, match
from hloproof.claims.statements.statement import Part, Point, Statement
from hloproof.claims.statements.wording import at, operand_words, output_words, runtime_words
from hloproof.definitions.definition import Definition
from hloproof.logic.evaluate import TooManySteps, holds
from hloproof.logic.formula import (
    FALSE,
    Compare,
    Exists,
    Formula,
    conj,
    conjuncts,
    disj,
    eq,
    free_variables,
    ne,
    replace_variables,
    within,
)
from hloproof.logic.obligation import Obligation
from hloproof.models.errors import NotModelled
from hloproof.models.expressions.evaluate import evaluate
from hloproof.models.expressions.expr import Binary, Const, Expr, Var, substitute
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.indexing.map_set import OperandMaps
from hloproof.models.maps.indexing_map import Direction, IndexingMap

_MOST_TIMES: Final = 4096
"""Values of range or iteration variables beyond which it is not counted how often an element is read."""


@dataclass(frozen=True)
class Subject:
    """One output and one array of one operand, and the direction of the maps between them."""

    op: Operation
    output: int
    operand: int
    output_shape: ArrayShape
    operand_shape: ArrayShape
    direction: Direction
    position: tuple[int, ...] = ()

    @property
    def output_words(self) -> str:
        return output_words(self.op.shape, self.output)

    @property
    def operand_words(self) -> str:
        return operand_words(self.operand, self.position)


def definition_parts(about: Subject, maps: OperandMaps | None, definition: Definition) -> list[Part]:
    """All that the claim owes. Raises NotModelled where the maps or the definition only bound what is read."""
    if maps is None:
        maps = OperandMaps(about.operand, definition.kind, ())
    # A bound that happens to be exact is not told from one that is not, so it proves no definition.
    if maps.kind == "bound" and definition.kind != "bound":
        raise NotModelled("the maps are only a bound")
    if definition.kind == "bound" and maps.kind != "bound" and maps.maps:
        raise NotModelled(f"the maps are said to be exact, and only a bound is known of {about.op.opcode}")
    wrong = shape_errors(about, maps)
    if wrong:
        return wrong
    parts: list[Part] = []
    if maps.kind == "moves" and definition.kind == "reads":
        parts.append(refuted(f"the maps are marked as moving elements, but {about.op.opcode} computes new ones"))
    if maps.kind == "reads" and definition.kind == "moves" and maps.maps:
        parts.append(refuted(f"the maps are marked as reading elements, and {about.op.opcode} moves them unchanged"))
    if not definition.group_size and any(m.replica is not None for m in maps.maps):
        # Nothing more can be said in terms of a definition that has no positions of devices.
        return [*parts, refuted(f"a map to another device, and {about.op.opcode} reads its own")]
    matched = [match(m, n, about.direction, definition) for n, m in enumerate(maps.maps)]
    # A piece without points owes nothing here; whether something is missing is asked of all pieces together.
    matched = [m for m in matched if not m.piece.is_empty]
    for m in matched:
        parts += m.parts
        if definition.kind != "bound":
            own = of_positions(maps.maps[m.piece.number], definition.group_size)
            parts += (_some_contents(m, p, own, definition) for p in _inside(about, m.piece, definition))
    # Of all maps together: a pair of the definition may be in any of them.
    together = _covered(about, [m.piece for m in matched], definition)
    if definition.kind != "bound" and definition.multiplicity:
        together += _once(about, maps, matched, definition)
    # Two maps may read one value beside what the operation reads, and speak by turns: to have every pair whatever each
    # reads is enough, and more than is asked.
    enough = any(m.reads_more for m in matched)
    return parts + ([replace(p, necessary=False) for p in together] if enough else together)


def _some_contents(m: Matched, part: Part, own: IndexingMap, definition: Definition) -> Part:
    """Where the map mentions what the operation does not read: it strays for some contents."""

    def strays(point: Point) -> bool:
        ends = (v + off for v in point.values() for off in (0, -1, 1))
        return strays_somewhere(own, m.piece.direction, definition, ends)

    return replace(part, replay=strays) if m.reads_more else part


def shape_errors(about: Subject, maps: OperandMaps) -> list[Part]:
    """Refutations of maps with the wrong number of dims or results."""
    source, target = about.output_shape, about.operand_shape
    if about.direction == "input-to-output":
        source, target = target, source
    out: list[Part] = []
    for m in maps.maps:
        if len(m.dims) != source.rank or len(m.results) != target.rank:
            out.append(
                refuted(
                    f"a map with {len(m.dims)} dims and {len(m.results)} results between arrays of rank {source.rank} "
                    f"and {target.rank}"
                )
            )
    return out


def refuted(words: str) -> Part:
    """What is false whatever the values: an obligation that says so."""
    return Part(Obligation((), FALSE, label=words), lambda _: words)


def _inside(about: Subject, piece: Piece, definition: Definition) -> list[Part]:
    """Every pair of the piece is a pair of the definition."""
    into: dict[str, Expr] = {f"d{i}": e for i, e in enumerate(piece.output)}
    into |= {f"x{j}": e for j, e in enumerate(piece.operand)}
    if piece.position is not None:
        into["q"] = piece.position

    def words(point: dict[str, int]) -> str:
        when = runtime_words(point, [n for n, _ in piece.runtime])
        return (
            f"{about.output_words}{at(piece.output, point)} reads {about.operand_words} at "
            f"{at(piece.operand, point)} by the map{when}, and by the definition of {about.op.opcode} it does not"
        )

    own = [v for v in _own_position(definition) if v[0] not in {n for n, _ in piece.runtime}]
    statement = Statement((*piece.variables, *own), piece.constraint_formulas)
    # The dims of a map have boxes of their own; one that is wider than the array would read from indices that are none.
    sizes = about.output_shape if about.direction == "output-to-input" else about.operand_shape
    source = [
        within(Var(name), Interval.of_size(n)) for (name, _), n in zip(piece.source, sizes.dimensions, strict=True)
    ]
    # A predicate that is true of every position says nothing of those that no device of the group has.
    if piece.position is not None and definition.group_size:
        source.append(within(piece.position, Interval.of_size(definition.group_size)))
    predicate = replace_variables(_some_iteration(definition), into)
    goals = [conj(*source), predicate]
    missing = free_variables(predicate) - {n for n, _ in statement.variables}
    # For all of their values: a map that does not mention a start index is right only if it does not matter.
    if missing:  # values read at run time of which the map takes no notice
        extra = tuple((f"r{k}", r.interval) for k, r in enumerate(definition.runtime) if f"r{k}" in missing)
        statement = Statement((*statement.variables, *extra), statement.hypotheses)
    iterations = Exists(definition.iteration, definition.predicate) if definition.iteration else definition.predicate
    whole = conj(*source, replace_variables(iterations, into))
    return statement.conclusions(goals, "maps within definition", words, lambda point: not holds(whole, point))


def _some_iteration(definition: Definition) -> Formula:
    """The predicate for some values of its iteration variables, which are solved for where that is possible."""
    if not definition.iteration:
        return definition.predicate
    unknowns = dict(definition.iteration)
    witness = solve(unknowns, _conditions(definition.predicate))
    bounds = [within(Var(n), i) for n, i in definition.iteration if n in witness]
    body = replace_variables(conj(definition.predicate, *bounds), witness)
    rest = tuple((n, i) for n, i in definition.iteration if n not in witness)
    return Exists(rest, body) if rest else body


def _conditions(predicate: Formula) -> list[Membership]:
    return [
        Membership(p.lhs - p.rhs, Interval.point(0))
        for p in conjuncts(predicate)
        if isinstance(p, Compare) and p.op == "=="
    ]


def _own_position(definition: Definition) -> tuple[tuple[str, Interval], ...]:
    return (("p", Interval.of_size(definition.group_size)),) if definition.group_size else ()


def definition_variables(definition: Definition) -> tuple[tuple[str, Interval], ...]:
    """Every variable of the predicate with its interval: a pair, its positions, iteration and runtime values."""
    out = [(f"d{i}", Interval.of_size(n)) for i, n in enumerate(definition.output_sizes)]
    out += [(f"x{j}", Interval.of_size(n)) for j, n in enumerate(definition.operand_sizes)]
    out += definition.iteration
    out += [(f"r{k}", r.interval) for k, r in enumerate(definition.runtime)]
    if definition.group_size:
        out += [("q", Interval.of_size(definition.group_size)), *_own_position(definition)]
    return tuple(out)


def _covered(about: Subject, pieces: Sequence[Piece], definition: Definition) -> list[Part]:
    """Every pair of the definition is a pair of some piece."""
    output = [Var(f"d{i}") for i in range(len(definition.output_sizes))]
    operand = [Var(f"x{j}") for j in range(len(definition.operand_sizes))]
    position = Var("q") if definition.group_size else None
    source, target = (output, operand) if about.direction == "output-to-input" else (operand, output)
    known = definition_variables(definition)
    loose = {n: i for p in pieces for n, i in p.runtime if n not in dict(known)}
    statement = Statement((*known, *loose.items()), (definition.predicate,))
    runtime = [f"r{k}" for k in range(len(definition.runtime))]

    def words(point: dict[str, int]) -> str:
        where = f" of the device at position {point['q']} of the group" if "q" in point else ""
        when = runtime_words(point, runtime)
        return (
            f"{about.output_words}{at(output, point)} reads {about.operand_words} at {at(operand, point)}{where} by "
            f"the definition of {about.op.opcode}{when}, and by no map"
        )

    goal, whole = (disj(*(p.membership(source, target, position, s) for p in pieces)) for s in (True, False))
    return statement.conclusions([goal], "definition within maps", words, lambda point: not holds(whole, point))


def _once(about: Subject, maps: OperandMaps, matched: Sequence[Matched], definition: Definition) -> list[Part]:
    """No pair is counted twice."""
    parts: list[Part] = []
    if definition.iteration:
        determined = solve(dict(definition.iteration), _conditions(definition.predicate))
        # The definition itself counts a pair more than once (a window that overlaps itself): then "not twice" is the
        # wrong thing to ask.
        if len(determined) < len(definition.iteration):
            return _paired(about, [m.piece for m in matched], definition)
    for m in matched:
        parts += _determined(about, m)
    for k, first in enumerate(matched):
        for other in matched[k + 1 :]:
            parts.append(_apart(about, maps, first, other, definition))
    return parts


def _paired(about: Subject, pieces: Sequence[Piece], definition: Definition) -> list[Part]:
    """An element may be read several times: the map and the definition read it equally often, because the range
    variables that the pair does not determine and the iteration variables go together one by one. Raises NotModelled
    where their intervals do not match."""
    unpaired = "how often an element is read, where one output may read it several times"
    if not pieces:
        return []  # that some map is missing is owed elsewhere
    # With several maps the counts would have to be added up per pair, which no obligation here says.
    if len(pieces) > 1:
        raise NotModelled(unpaired)
    (piece,) = pieces
    determined = piece.determined()
    partner = _partners([v for v in piece.ranges if v[0] not in determined], definition)
    if partner is None:
        raise NotModelled(unpaired)
    into: dict[str, Expr] = {f"d{i}": e for i, e in enumerate(piece.output)}
    into |= {f"x{j}": e for j, e in enumerate(piece.operand)}
    into |= {w: substitute(of_range, into) for _, w, of_range, _ in partner}
    into |= {"q": piece.position} if piece.position is not None else {}
    iteration = [within(into[w], i) for w, i in definition.iteration]

    def read(point: dict[str, int]) -> str:
        return (
            f"{about.output_words}{at(piece.output, point)} reads {about.operand_words} at "
            f"{at(piece.operand, point)} more often by the map than by the definition of {about.op.opcode}"
        )

    of_map = Statement(piece.variables, piece.constraint_formulas)
    iteration += [eq(Var(name), e) for name, e in determined.items()]
    goals = [replace_variables(definition.predicate, into), *iteration]
    parts = of_map.conclusions(goals, "read as often", read, lambda point: _counted(piece, definition, point))
    output = [Var(f"d{i}") for i in range(len(definition.output_sizes))]
    operand = [Var(f"x{j}") for j in range(len(definition.operand_sizes))]
    source, target = (output, operand) if about.direction == "output-to-input" else (operand, output)
    walked: dict[str, Expr] = {n: e for (n, _), e in zip(piece.source, source, strict=True)}
    walked |= {n: substitute(e, walked) for n, e in piece.determined(target).items()}
    walked |= {s: of_iteration for s, _, _, of_iteration in partner}
    goals = [eq(substitute(e, walked), t) for e, t in zip(piece.results, target, strict=True)]
    # That the pair lies in the box of the map is owed above, of every pair of the definition; with it the determined
    # variables lie in theirs, and the others by the way they are paired.
    goals += [replace_variables(c, walked) for c in piece.constraint_formulas]

    def unread(point: dict[str, int]) -> str:
        return (
            f"{about.output_words}{at(output, point)} reads {about.operand_words} at {at(operand, point)} more often "
            f"by the definition of {about.op.opcode} than by the map"
        )

    of_definition = Statement(definition_variables(definition), (definition.predicate,))
    return parts + of_definition.conclusions(
        goals, "read as often", unread, lambda point: _counted(piece, definition, point)
    )


def _counted(piece: Piece, definition: Definition, point: Point) -> bool:
    """Whether the map and the definition read the operand element of a point a different number of times for its
    output element: all values of the range and of the iteration variables are gone through. Raises TooManySteps."""

    def place(own: Sequence[Expr], letter: str) -> dict[str, int]:
        known = all(f"{letter}{k}" in point for k in range(len(own)))
        return {f"{letter}{k}": point[f"{letter}{k}"] if known else evaluate(e, point) for k, e in enumerate(own)}

    pair = {**place(piece.output, "d"), **place(piece.operand, "x")}
    at = {**point, **pair}
    if piece.position is not None and "q" not in at:
        at["q"] = evaluate(piece.position, point)
    letter = "x" if piece.direction == "output-to-input" else "d"
    target = [eq(e, pair[f"{letter}{k}"]) for k, e in enumerate(piece.results)]
    target += [] if piece.position is None else [eq(piece.position, at["q"])]
    target += [within(Var(name), i) for name, i in piece.source]
    by_map = _times(piece.ranges, conj(*target, *piece.constraint_formulas), at)
    return by_map != _times(definition.iteration, definition.predicate, at)


def _times(variables: Sequence[tuple[str, Interval]], formula: Formula, at: Point) -> int:
    """For how many values of the variables the formula is true. Raises TooManySteps."""
    if prod(i.count for _, i in variables) > _MOST_TIMES:
        raise TooManySteps
    names = [n for n, _ in variables]
    values = product(*(range(i.lower, i.upper + 1) for _, i in variables))
    return sum(holds(formula, {**at, **dict(zip(names, v, strict=True))}) for v in values)


def _partners(
    ranges: Sequence[tuple[str, Interval]], definition: Definition
) -> list[tuple[str, str, Expr, Expr]] | None:
    """Pairs of a range variable and an iteration variable: both names, the iteration variable over the range variable
    and x0.., and the other way round; both are one to one for any pair of elements. None where some are left over.

    Partners have the same interval; or the definition reads x == w floordiv n and the range variable is w mod n.
    """
    blocks: dict[str, tuple[Expr, int]] = {}
    for c in conjuncts(definition.predicate):
        if isinstance(c, Compare) and c.op == "==" and isinstance(c.rhs, Binary) and c.rhs.op == "floordiv":
            w, n = c.rhs.lhs, c.rhs.rhs
            if isinstance(w, Var) and isinstance(n, Const) and n.value > 0:
                blocks[w.name] = (c.lhs, n.value)
    left = dict(definition.iteration)
    out: list[tuple[str, str, Expr, Expr]] = []
    for name, interval in ranges:
        same = next((w for w, i in left.items() if i == interval), None)
        if same is not None:
            out.append((name, same, Var(name), Var(same)))
            del left[same]
            continue
        inner = next((w for w in left if w in blocks and Interval.of_size(blocks[w][1]) == interval), None)
        if inner is None:
            return None
        block, size = blocks[inner]
        out.append((name, inner, block * size + Var(name), Var(inner) % size))
        del left[inner]
    return None if left else out


def _determined(about: Subject, m: Matched) -> list[Part]:
    """The range variables of a piece follow from the pair."""
    piece = m.piece
    statement = Statement(piece.variables, piece.constraint_formulas)
    determined = piece.determined()

    def words(point: dict[str, int]) -> str:
        return (
            f"{about.output_words}{at(piece.output, point)} reads {about.operand_words} at "
            f"{at(piece.operand, point)} more than once, for example at "
            + ", ".join(f"{n} = {point[n]}" for n, _ in piece.ranges)
        )

    def twice(point: Point) -> bool:
        reached = [eq(e, evaluate(e, point)) for e in piece.results]
        reached += [] if piece.position is None else [eq(piece.position, evaluate(piece.position, point))]
        other = disj(*(ne(Var(n), point[n]) for n, _ in piece.ranges))
        return holds(Exists(piece.ranges, conj(*reached, *piece.constraint_formulas, other)), point)

    parts: list[Part] = []
    open_names: list[tuple[str, Interval]] = []
    for name, interval in piece.ranges:
        term = determined.get(name)
        if term is not None:
            parts.append(statement.therefore(eq(Var(name), term), "each pair is read once", words, twice))
        elif not interval.is_point:
            open_names.append((name, interval))
    if not open_names:
        return parts
    # Two range points with the same pair are the same point.
    again: dict[str, Expr] = {n: Var(f"{n}_") for n, _ in piece.ranges}
    both = Statement(
        (*piece.variables, *((f"{n}_", i) for n, i in piece.ranges)),
        (
            *piece.constraint_formulas,
            *(replace_variables(c, again) for c in piece.constraint_formulas),
            *(eq(e, substitute(e, again)) for e in piece.results),
            *((eq(piece.position, substitute(piece.position, again)),) if piece.position is not None else ()),
        ),
    )
    goals = [eq(Var(n), again[n]) for n, _ in open_names]
    return parts + both.conclusions(goals, "each pair is read once", words)


def _apart(about: Subject, maps: OperandMaps, first: Matched, other: Matched, definition: Definition) -> Part:
    """Two pieces share no pair."""
    piece = first.piece
    second = match(maps.maps[other.piece.number], other.piece.number, about.direction, definition, suffix="_").piece
    # Both maps at one place, and no value named: what is solved for is a witness for what exists, and none for what
    # does not.
    known = {n for n, _ in piece.variables}
    loose = tuple(v for v in (*second.ranges, *second.runtime) if v[0] not in known)
    same = [eq(a, b) for a, b in zip(second.results, piece.results, strict=True)]
    if piece.position is not None and second.position is not None:
        same.append(eq(second.position, piece.position))
    bounds = [within(Var(n), i) for n, i in (*second.source, *second.runtime)]
    statement = Statement(
        (*piece.variables, *loose), (*piece.constraint_formulas, *second.constraint_formulas, *bounds, *same)
    )

    def words(point: dict[str, int]) -> str:
        return (
            f"{about.output_words}{at(piece.output, point)} reads {about.operand_words} at "
            f"{at(piece.operand, point)} by two maps, number {first.piece.number} and number {second.number}"
        )

    return statement.therefore(FALSE, "no two maps share a pair", words)
