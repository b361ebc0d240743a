"""Hazards that a simulation shows, each with every true sentence about it: who, when, which buffer, and what mends it.

A claim is refuted where a sentence can be said, and what stands in its counterexample is one of them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from hloproof.claims.asynchronous.judgement import NEEDS_COPY, Judgement
from hloproof.claims.asynchronous.timeline import BEGINS, ENDS, rows_of
from hloproof.fuzz.asynchronous.simulation import Cell, Disagreement, Flight, Program, Step
from hloproof.fuzz.target import Failure
from hloproof.results.verdict import Verdict

_ARGUMENT: Final = r"argument (\d+(?:\{[\d,]*\})?)"
ARGUMENTS: Final = re.compile(
    rf"\S+ overwrites {_ARGUMENT} of \S+ in place, and (?!argument \1,){_ARGUMENT}, which .*", re.DOTALL
)
"""What bodies do to two of their arguments. Of loops, which turn more than once, nothing is known here."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """The first line of a counterexample, what may stand in the rows of its timeline, and its last line."""

    first: str
    marks: Mapping[str, Collection[str]]
    """Instructions in their order, each with the marks that are true of it."""
    mended: Collection[str]


@dataclass
class Hazards:
    """The sentences about one program, by claim and instruction, and the copies that a compiler has to make."""

    program: Program
    joined: Sequence[Disagreement] = ()
    broken: dict[tuple[str, str], list[Sentence]] = field(default_factory=dict)
    copies: dict[tuple[str, str], set[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.computation, self.donated = self.program.computation, self.program.donated
        self.number = {s.name: n for n, s in enumerate(self.program.steps)}
        self.spots: dict[Cell, list[str]] = {}
        for name, value in self.program.values.items():
            for at, cell in value.items():
                self.spots.setdefault(cell, []).append(name + _braced(at))
        for flight in self.program.flights:
            self._in_flight(flight)
        for name in self.number if self.program.scheduled else ():
            self._gone(name)
        for name, one, other, p, q in self.joined if self.program.scheduled else ():
            parts = f"{name}{_braced(p)} and {name}{_braced(q)}"
            said = f"{one} returns one buffer for {parts}, into which {other} writes two values"
            mended = [f"  mended by a copy of one of them in {one}"]
            self._add("hazard-overwrite", name, Sentence(said, {}, mended))

    def _add(self, claim: str, name: str, sentence: Sentence) -> None:
        self.broken.setdefault((claim, name), []).append(sentence)

    def _who(self, name: str) -> str:
        return f"{name} (line {self.computation.by_name[name].position.line})"

    def _buffers(self, cells: Iterable[Cell]) -> set[int]:
        return {self.program.buffer(c) for c in cells}

    def _named(self, cells: Iterable[Cell], buffers: Collection[int]) -> list[str]:
        return [spot for c in cells if self.program.buffer(c) in buffers for spot in self.spots.get(c, ())]

    # -- operations in flight -----------------------------------------------------------------------------------------

    def _in_flight(self, flight: Flight) -> None:
        """What runs between an opening and its closing, in the order that is given or in some order."""
        found, late = dict[str, Step](), set[str]()
        for before, step in self.program.moments:
            if flight.opening in before and flight.closing not in before and step.name not in flight.links:
                found[step.name] = step
            if step.name == flight.closing:
                late |= self.number.keys() - before
        for step in found.values():
            for operand in (True, False):
                claim = "hazard-operand" if operand else "hazard-output"
                spots = self._named(self.spots, self._buffers(flight.reads if operand else flight.writes))
                # Waiting for the end mends it, where the end does not wait for the step itself.
                mended = [f"  mended by control-predecessors={{%{flight.closing}}} on {step.name}"]
                if step.name not in late:
                    instead = f"for {step.name}, or by finishing {flight.opening} first"
                    mended = [f"  mended by a copy of {spot} {instead}" for spot in spots]
                begun = [f"{BEGINS}: {spot}" for spot in spots]
                for first, act in self._touched(operand, flight, step):
                    marks = {flight.opening: begun, step.name: [act], flight.closing: [ENDS]}
                    self._add(claim, flight.opening, Sentence(first, marks, mended))
                notes = self.copies.setdefault((claim, flight.opening), set())
                notes |= {f"{NEEDS_COPY}: {note}" for note in self._copied(operand, flight, step)}

    def _touched(self, operand: bool, flight: Flight, step: Step) -> Iterator[tuple[str, str]]:
        """What is wrong with a step during a flight, and how its row is marked."""
        buffers, start = self._buffers(flight.reads if operand else flight.writes), flight.links[0]
        if operand:
            for spot in self._named(self.spots, buffers & self._buffers(step.writes)):
                act = f"writes the buffer of {spot}"
                yield f"{self._who(step.name)} {act}, which {start} reads until it is done", act
            return
        # Before copies are inserted an older content of the buffer is not there to be read: a copy is.
        read = [c for c in step.reads if self.program.scheduled or c in flight.writes]
        for act, cells in (("reads", read), ("writes", step.writes)):
            for spot in self._named(cells, buffers):
                said = f"{act} {spot}, the buffer that {start} is writing until it is done"
                yield f"{self._who(step.name)} {said}", f"{act} {spot}"

    def _copied(self, operand: bool, flight: Flight, step: Step) -> Iterator[str]:
        """The copies that a compiler must make where orders are open."""
        start, buffers = flight.links[0], self._buffers(flight.reads if operand else flight.writes)
        cells = step.spared if operand else [c for c in step.reads if c not in flight.writes]
        for spot in self._named(self.spots, self._buffers(cells) & buffers) if not self.program.scheduled else ():
            if operand:
                yield f"{step.name} may not update {spot} in place while {start} reads it"
            else:
                yield f"{step.name} reads {spot}, whose buffer {start} writes"

    # -- contents that are gone ---------------------------------------------------------------------------------------

    def _gone(self, name: str) -> None:
        """Contents made by an instruction that are needed when their buffer holds others."""
        program = self.program
        own = [(spot, c) for spot, c in self._own(name) if program.maker[c.version] == name]
        needed = {*program.result, *(c for s in program.steps for c in s.reads)}
        # What an instruction makes is written, whoever needs it. Two parameters in one buffer are told of the program
        # alone, which is given both; of what it runs they are told where they are handed over.
        is_written = self.computation.by_name[name].opcode != "parameter"
        for spot, cell in own:
            claim = "hazard-donation" if program.buffer(cell) in self.donated else "hazard-overwrite"
            for other, beside in own if is_written and cell in needed else ():
                if beside != cell and program.buffer(beside) == program.buffer(cell):
                    said = f"{spot} and {other} lie in one buffer, and both are made there"
                    self._add(claim, name, Sentence(said, {}, [said]))
            for other in self._given_before(spot, cell) if not is_written else ():
                said = f"{other} and {spot} are two parameters in one buffer"
                self._add(claim, name, Sentence(said, {}, [said]))
            for step in program.steps[self.number[name] + 1 :]:
                if any(program.buffer(c) == program.buffer(cell) and c != cell for c in step.writes):
                    for why, reader in self._needed(cell, step.name):
                        marks = {name: [f"makes {spot}"], step.name: ["writes the same buffer"]}
                        marks.setdefault(reader, [f"needs {spot}"])
                        first = f"{self._who(step.name)} overwrites {spot}, which {why}"
                        self._add(claim, name, Sentence(first, marks, [f"  mended by a copy of {spot}"]))

    def _given_before(self, spot: str, cell: Cell) -> list[str]:
        """The first part of what the program is given that lies in the buffer of this one, if it is another."""
        program = self.program
        if self.computation is not program.module.entry:
            return []
        parameters = [i.name for i in self.computation.instructions if i.opcode == "parameter"]
        given = [part for name in parameters for part in self._own(name)]
        first = next(part for part, other in given if program.buffer(other) == program.buffer(cell))
        return [first] if first != spot else []

    def _own(self, name: str) -> list[tuple[str, Cell]]:
        return [(name + _braced(at), cell) for at, cell in self.program.values[name].items()]

    def _needed(self, cell: Cell, writer: str) -> Iterator[tuple[str, str]]:
        """Who needs a content after this step, in words and by name. What is part of the result, the caller reads."""
        if cell in self.program.result:
            yield f"is part of the result of {self.computation.name}", self.computation.root_name
            return
        for step in self.program.steps[self.number[writer] + 1 :]:
            if cell in step.reads:
                yield f"is read by {self._who(step.name)} afterwards", step.name

    # -- what is said -------------------------------------------------------------------------------------------------

    def check(self, judgements: Iterable[Judgement]) -> None:
        """Raises Failure where something is said of the computation that is not so."""
        for j in judgements:
            key = (j.claim, j.place.instruction)
            if j.place.computation != self.computation.name or ARGUMENTS.match(j.problem or ""):
                continue
            # What is not known may hang on the rest of the module, and notes nothing.
            if j.found.verdict is Verdict.PROVED:
                copies = self.copies.get(key, set())
                self._true("the copy that is needed", j.note in copies if copies else not j.note, j)
            elif j.problem is not None and key in self.broken:
                self._said(j, j.problem.splitlines(), self.broken[key])

    def _true(self, what: str, holds: bool, j: Judgement) -> None:
        if not holds:
            raise Failure(f"async: {j.claim} says what is not so: {what}", f"{j.place}: {j.problem or j.note}")

    def _said(self, j: Judgement, lines: Sequence[str], true: Sequence[Sentence]) -> None:
        sentence = next((s for s in true if s.first == lines[0]), None)
        self._true("the first line", sentence is not None, j)
        assert sentence is not None
        rows = rows_of("\n".join(lines))
        self._true("who is shown", [r.what.partition(" = ")[0] for r in rows] == list(sentence.marks), j)
        for n, (row, (name, marks)) in enumerate(zip(rows, sentence.marks.items(), strict=True)):
            i = self.computation.by_name[name]
            self._true("a row's instruction", row.what.startswith(f"{name} = {i.opcode}("), j)
            self._true("a row's line", row.line == i.position.line, j)
            self._true("a row's time", row.time == self.number[name] or not self.program.scheduled, j)
            self._true("the order", n == 0 or rows[n - 1].time < row.time, j)
            self._true("a row's mark", row.mark in marks, j)
        self._true("what mends it", lines[-1] in sentence.mended, j)


def _braced(index: Sequence[int]) -> str:
    return "{" + ",".join(map(str, index)) + "}" if index else ""
