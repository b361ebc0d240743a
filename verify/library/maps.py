"""Indexing maps: of an instruction, simplified, compared."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Literal

from hloproof.library.reading import parse
from hloproof.models.indexing import OperandMaps
from hloproof.models.maps.indexing_map import Direction, IndexingMap
from hloproof.models.maps.text import parse_map, print_map
from hloproof.results.verdict import Found, Verdict


@dataclass(frozen=True)
class Maps:
    """The maps between one array of an instruction and all arrays on the other side, one set for each."""

    instruction: str
    direction: Direction
    operands: tuple[OperandMaps, ...]

    def __str__(self) -> str:
        what = "operand" if self.direction == "output-to-input" else "output"
        lines: list[str] = []
        for s in self.operands:
            rest = f": unknown, {s.unknown}" if s.unknown else "" if s.maps else ": nothing"
            lines.append(f"{what} {s.operand} ({s.kind}){rest}")
            lines += [f"  {line}" for m in s.maps for line in print_map(m).splitlines()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return f"<b>{escape(self.instruction)}</b>, {self.direction}<pre>{escape(str(self))}</pre>"


@dataclass(frozen=True)
class Compared:
    """Whether two maps are the same relation, or one lies in the other; with the point that tells them apart."""

    verdict: Verdict
    claim: Literal["pointwise", "relational", "included"]
    counterexample: str | None = None
    reason: str | None = None

    def __bool__(self) -> bool:
        """True where it is proved."""
        return self.verdict is Verdict.PROVED


@dataclass(frozen=True)
class Simplified:
    """A simpler map, the steps that led there, and the verdict on their being equal at every point."""

    map: IndexingMap
    derivation: tuple[str, ...]
    verdict: Verdict

    def __str__(self) -> str:
        return print_map(self.map)

    def _repr_html_(self) -> str:
        steps = "".join(f"<li><code>{escape(step)}</code></li>" for step in self.derivation)
        return f"<code>{escape(str(self))}</code> ({self.verdict})<ol>{steps}</ol>"


def maps(
    source: object,
    instruction: str = "",
    direction: Direction = "output-to-input",
    *,
    output: int = 0,
    operand: int = 0,
    fused: bool = False,
    layout: Literal["logical", "physical"] = "logical",
) -> Maps:
    """The indexing maps of an instruction of a module; '' is the root of the entry computation.

    `output` says which array of a tuple is followed to the operands, `operand` which operand to the outputs. A fusion's
    maps are composed through its computation; `fused` goes on through the whole entry computation. With `layout`
    physical dimensions are in the order of memory, the most major first. Raises InputError for text that is no module,
    LookupError for an instruction, output, operand, direction or layout that is not there, NotModelled.

    >>> print(maps("ROOT r = f32[8,4] transpose(f32[4,8] p), dimensions={1,0}"))
    operand 0 (moves)
      (d0, d1) -> (d1, d0), domain: d0 in [0, 7], d1 in [0, 3]
    """
    from hloproof.queries.indexing import answer, direction_named, find_instruction, layout_named

    module, way, order = parse(source), direction_named(direction), layout_named(layout)
    _, found = find_instruction(module, instruction)
    sets = answer(module, instruction, way, output=output, input=operand, fused=fused, layout=order)
    return Maps(found.name, direction, sets)


def simplify(map: str | IndexingMap) -> Simplified:
    """The simplified map with its proof. Raises InputError for text that is no map.

    >>> print(simplify("(d0) -> ((d0 * 4 + 3) / 4), domain: d0 in [0, 9]"))
    (d0) -> (d0), domain: d0 in [0, 9]
    """
    from hloproof.claims.maps.simplified import simplified

    result = simplified(_map(map))
    return Simplified(result.map, tuple(str(step) for step in result.derivation), result.found.verdict)


def equal(before: str | IndexingMap, after: str | IndexingMap) -> Compared:
    """Whether two maps are equal: at every point where they have the same variables, as relations otherwise.

    Raises InputError for text that is no map, and for maps that cannot be compared.

    >>> equal("(d0) -> (d0 mod 4), domain: d0 in [0, 9]", "(d0) -> (d0), domain: d0 in [0, 9]").verdict
    <Verdict.REFUTED: 'refuted'>
    """
    from hloproof.claims.maps.rewrite import equality_of, rewrite

    one, two = _map(before), _map(after)
    result = rewrite(one, two)
    return Compared(result.verdict, equality_of(one, two), result.counterexample, result.reason)


def included(inner: str | IndexingMap, outer: str | IndexingMap) -> Compared:
    """Whether every pair (dims, result) of one map is one of the other. Raises as `equal` does.

    >>> first = "(d0) -> (d0 * 4), domain: d0 in [0, 3]"
    >>> row = "(d0)[s0] -> (d0 * 4 + s0), domain: d0 in [0, 3], s0 in [0, 3]"
    >>> bool(included(first, row)), bool(included(row, first))
    (True, False)
    """
    from hloproof.claims.maps.rewrite import judged_in_both_readings, require_comparable

    one, two = _map(inner), _map(outer)
    if not (one.is_trivially_empty or two.is_trivially_empty):
        require_comparable(one, two)
    found = judged_in_both_readings(_included, one, two)
    return Compared(found.verdict, "included", found.counterexample, found.reason)


def _included(maps: tuple[IndexingMap, IndexingMap]) -> Found:
    from hloproof.claims.maps.dedup import deduplicate
    from hloproof.claims.maps.rewrite import rewrite

    for m in maps:
        valued = rewrite(m, m)  # a map that has no value somewhere is an error, as it is for `equal`
        if valued.verdict is not Verdict.PROVED:
            return Found(Verdict.UNKNOWN, reason=valued.reason)
    found = deduplicate(maps, containment=True)
    if 0 in dict(found.empty) or found.same or any(c.map == 0 for c in found.contained):
        return Found(Verdict.PROVED)
    for apart in found.apart:
        if 0 in apart.inside:
            return Found(Verdict.REFUTED, counterexample=", ".join(f"{name} = {value}" for name, value in apart.point))
    reason = next((why for _, _, why in found.undecided), "no point outside was found, and no proof")
    return Found(Verdict.UNKNOWN, reason=reason)


def _map(given: str | IndexingMap) -> IndexingMap:
    return given if isinstance(given, IndexingMap) else parse_map(given)
