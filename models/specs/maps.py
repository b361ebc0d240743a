"""Specs of indexing maps: what somebody says that an instruction reads, or that a map is. The grammar is in
specs/README.md."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

from hloproof.models.errors import InputError, Position
from hloproof.models.hlo.module import Module
from hloproof.models.hlo.parser import parse_module
from hloproof.models.maps.indexing_map import Direction, IndexingMap
from hloproof.models.maps.text import parse_map
from hloproof.models.specs.entries import Entry, Expectation, folded_text, number_of, parse_entries, read_expectation

Equality = Literal["pointwise", "relational"]
DIRECTIONS: Final[tuple[Direction, ...]] = get_args(Direction)
EQUALITIES: Final[dict[str, Equality | None]] = {"becomes": None, "equals": "pointwise", "same-relation": "relational"}
"""Clauses that put another map beside the one of `map`, and in which sense they are equal (None: whichever applies)."""
WORDS: Final = frozenset(
    {"hlo", "hlo-after", "instruction", "output", "follow", *DIRECTIONS, "map", *EQUALITIES, "expect", "from", "note"}
)

_NUMBERED: Final = re.compile(r"(\d+)(?=\s)")
_INSTRUCTION: Final = re.compile(r"\s*(?:ROOT\s+)?%?[\w.-]+\s*=")


@dataclass(frozen=True)
class ClaimedMaps:
    """All maps said to lead from an output to one operand, or from an operand to an output; `operand` is the operand's
    number, or the parameter's where maps are followed."""

    direction: Direction
    operand: int
    maps: tuple[IndexingMap, ...]
    position: Position = field(default=Position(0, 0), compare=False)
    """Of the first of the clauses."""


@dataclass(frozen=True)
class MapSpec:
    """One entry. `problem` is set where a text cannot be read, which `expect error` asks for."""

    name: str
    line: int
    column: int
    problem: InputError | None = None
    module: Module | None = None
    after: Module | None = None
    """Said to read the same as `module`, from its parameters."""
    instruction: str = ""
    output: int | None = None
    """Which output of a tuple is meant; without the clause the first, and in a comparison of modules all."""
    follow: bool = False
    claimed: tuple[ClaimedMaps, ...] = ()
    map: IndexingMap | None = None
    equal: tuple[tuple[Equality | None, IndexingMap], ...] = ()
    equal_positions: tuple[Position, ...] = ()
    """Of the clauses of `equal`."""
    after_position: Position | None = None
    expect: Expectation = "proved"
    source: str = ""
    note: str = ""


def parse_map_specs(text: str, file: str = "") -> tuple[MapSpec, ...]:
    """The specs of a file. Raises InputError; a wrong map or module is one unless the entry expects it."""
    return tuple(_spec(e) for e in parse_entries(text, "map", WORDS, file))


def _spec(entry: Entry) -> MapSpec:
    expect = read_expectation(entry.one("expect"))
    head = (entry.name, entry.line, entry.column)
    source, note = folded_text(entry.one("from")), folded_text(entry.one("note"))
    try:
        return _read(entry, expect, source, note)
    except InputError as error:
        if expect != "error" or not error.line:
            raise
        return MapSpec(*head, error, expect=expect, source=source, note=note)


def _read(entry: Entry, expect: Expectation, source: str, note: str) -> MapSpec:
    hlo, after, own = entry.one("hlo"), entry.one("hlo-after"), entry.one("map")
    instruction, output, follow = entry.one("instruction"), entry.one("output"), entry.one("follow")
    claimed: dict[tuple[Direction, int], tuple[IndexingMap, ...]] = {}
    positions: dict[tuple[Direction, int], Position] = {}
    for direction in DIRECTIONS:
        for clause in entry.all(direction):
            number, m = clause.read(_numbered_map)
            positions.setdefault((direction, number), Position(clause.line, clause.column))
            if (direction, number) in claimed and not (m and claimed[direction, number]):
                raise clause.error(f"`nothing` is all that is said of {direction} {number}, and stands alone")
            claimed[direction, number] = (*claimed.get((direction, number), ()), *m)
            if hlo is None:
                raise clause.error(f"{direction} is about the instruction of a clause `hlo`, and there is none")
    compared = [c for c in entry.clauses if c.word in EQUALITIES]
    equal = tuple((EQUALITIES[c.word], c.read(parse_map)) for c in compared)
    if (own is None) != (not equal):
        raise entry.error(f"`map` goes together with one of {', '.join(EQUALITIES)}")
    if hlo is None and own is None:
        raise entry.error("a map spec has a clause `hlo` or a clause `map`")
    if after is not None and hlo is None:
        raise after.error("`hlo-after` goes together with `hlo`")
    for about in (instruction, follow):
        if about is not None and not claimed:
            raise about.error(f"`{about.word}` is about {' and '.join(DIRECTIONS)}, and the entry has neither")
    if instruction is not None and not instruction.text.strip():
        raise instruction.error("expected the name of an instruction after `instruction`")
    if follow is not None and follow.text.strip():
        raise follow.error(f"`follow` stands alone, found {follow.text.strip()!r}")
    if output is not None and hlo is None:
        raise output.error("`output` is about the instruction of a clause `hlo`, and there is none")
    if hlo is not None and after is None and not claimed:
        raise entry.error(f"nothing is said of the instruction: {', '.join(DIRECTIONS)} or hlo-after")
    return MapSpec(
        entry.name,
        entry.line,
        entry.column,
        None,
        None if hlo is None else hlo.read(_module),
        None if after is None else after.read(_module),
        "" if instruction is None else instruction.text.strip(),
        None if output is None else output.read(_output),
        follow is not None,
        tuple(ClaimedMaps(*about, maps, positions[about]) for about, maps in claimed.items()),
        None if own is None else own.read(parse_map),
        equal,
        tuple(Position(c.line, c.column) for c in compared),
        None if after is None else Position(after.line, after.column),
        expect,
        source,
        note,
    )


def _module(text: str) -> Module:
    """A module, or the instructions of one computation. (What is put around these stands on lines of its own.)"""
    first, _, rest = text.partition("\n")
    if not first and _INSTRUCTION.match(rest):
        text = f"ENTRY e {{\n{rest}\n}}"
    return parse_module(text)


def _output(text: str) -> int:
    return number_of(text, "the number of an output")


def _numbered_map(text: str) -> tuple[int, tuple[IndexingMap, ...]]:
    """`0 (d0) -> (d0), domain: ...`, or `0 nothing`."""
    m = _NUMBERED.match(text)
    if m is None:
        raise ValueError("expected the number of an operand and a map")
    if text[m.end() :].strip() == "nothing":
        return number_of(m[1]), ()
    return number_of(m[1]), (parse_map(" " * len(m[1]) + text[len(m[1]) :]),)
