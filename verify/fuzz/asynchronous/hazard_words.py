"""What a hazard is said to be is one of the true sentences: who, when, which buffer, and whether the mending mends.

The sentences are made from the steps and cells of the simulation, and what stands in a counterexample is looked up
among them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from hloproof.claims.asynchronous.judgement import NEEDS_COPY, Judgement
from hloproof.claims.asynchronous.timeline import BEGINS, ENDS, rows_of
from hloproof.fuzz.asynchronous.simulation import Cell, Flight, Program, Step, during
from hloproof.fuzz.target import Failure

ARGUMENTS: Final = re.compile(
    r"\S+ overwrites argument (\d+(?:\{[\d,]*\})?) of (\S+) in place, and argument (?!\1,)(\d+(?:\{[\d,]*\})?), which "
)
Marks = Mapping[str, Collection[str]]
"""Instructions that a timeline shows, in order, each with the marks that are true of it."""


def _braced(index: Sequence[int]) -> str:
    return "{" + ",".join(map(str, index)) + "}" if index else ""


class Words:
    """The true sentences about one program. Methods raise Failure where another one is said."""

    def __init__(self, program: Program) -> None:
        self.program, self.computation = program, program.computation
        self.step = {s.name: s for s in program.steps}
        self.number = {s.name: n for n, s in enumerate(program.steps)}
        self.spots: dict[Cell, list[str]] = {}
        for name, value in program.values.items():
            for at, cell in value.items():
                self.spots.setdefault(cell, []).append(name + _braced(at))

    def check(self, judgements: Iterable[Judgement]) -> None:
        """Whatever is said of the computation is so."""
        for j in judgements:
            if j.place.computation != self.computation.name:
                continue
            if j.claim in ("hazard-operand", "hazard-output"):
                self._note(j) if j.problem is None else self._in_flight(j, j.problem)
            elif j.problem is not None:
                self._overwritten(j, j.problem)

    def _true(self, what: str, holds: bool, j: Judgement) -> None:
        if not holds:
            raise Failure(f"async: {j.claim} says what is not so: {what}", f"{j.place}: {j.problem or j.note}")

    def _who(self, name: str) -> str:
        return f"{name} (line {self.computation.by_name[name].position.line})"

    def _named(self, cells: Iterable[Cell], buffers: Collection[int]) -> list[str]:
        return [spot for c in cells if self.program.buffer(c) in buffers for spot in self.spots.get(c, ())]

    def _shown(self, j: Judgement, marks: Marks, mended: Collection[str]) -> None:
        """The timeline shows these instructions in their order, and the last line is one of those that mend it."""
        assert j.problem is not None
        rows = rows_of(j.problem)
        self._true("who is shown", [r.what.partition(" = ")[0] for r in rows] == list(marks), j)
        for n, row in enumerate(rows):
            name = row.what.partition(" = ")[0]
            i = self.computation.by_name[name]
            self._true("a row's instruction", row.what.startswith(f"{name} = {i.opcode}("), j)
            self._true("a row's line", row.line == i.position.line, j)
            self._true("a row's time", row.time == self.number[name] or not self.program.scheduled, j)
            self._true("the order", n == 0 or rows[n - 1].time < row.time, j)
            self._true("a row's mark", row.mark in marks[name], j)
        self._true("what mends it", j.problem.splitlines()[-1] in mended, j)

    # -- operations in flight -----------------------------------------------------------------------------------------

    def _touched(self, operand: bool, flight: Flight, step: Step) -> Iterator[tuple[str, str]]:
        """What is wrong with a step during a flight, and how its row is marked."""
        cells = flight.reads if operand else flight.writes
        buffers, start = {self.program.buffer(c) for c in cells}, flight.links[0]
        if operand and any(self.program.buffer(c) in buffers for c in step.writes):
            for spot in self._named(self.spots, buffers):
                act = f"writes the buffer of {spot}"
                yield f"{self._who(step.name)} {act}, which {start} reads until it is done", act
        for act, touched in () if operand else (("reads", step.reads), ("writes", step.writes)):
            older = act == "reads" and not self.program.scheduled
            for spot in self._named([c for c in touched if not older or c in flight.writes], buffers):
                said = f"{self._who(step.name)} {act} {spot}, the buffer that {start} is writing until it is done"
                yield said, f"{act} {spot}"

    def _in_flight(self, j: Judgement, problem: str) -> None:
        flight = next(f for f in self.program.flights if f.opening == j.place.instruction)
        operand = j.claim == "hazard-operand"
        steps = {s.name: s for before, s in self.program.moments if during(flight, before, s)}
        true = {said: (s, act) for s in steps.values() for said, act in self._touched(operand, flight, s)}
        self._true("the first line", problem.splitlines()[0] in true, j)
        step, act = true[problem.splitlines()[0]]
        buffers = {self.program.buffer(c) for c in (flight.reads if operand else flight.writes)}
        spots = self._named(self.spots, buffers)
        # Waiting for the end mends it, where the end does not wait for the step itself.
        if any(step.name not in before for before, s in self.program.moments if s.name == flight.closing):
            mended = [f"  mended by control-predecessors={{%{flight.closing}}} on {step.name}"]
        else:
            finished = f"for {step.name}, or by finishing {flight.opening} first"
            mended = [f"  mended by a copy of {spot} {finished}" for spot in spots]
        begins = [f"{BEGINS}: {spot}" for spot in spots]
        self._shown(j, {flight.opening: begins, step.name: [act], flight.closing: [ENDS]}, mended)

    def _note(self, j: Judgement) -> None:
        """A compiler is told of the copies that it must make, and of no others."""
        wanted: set[str] = set()
        for flight in self.program.flights if not self.program.scheduled else ():
            if flight.opening != j.place.instruction:
                continue
            operand = j.claim == "hazard-operand"
            buffers = {self.program.buffer(c) for c in (flight.reads if operand else flight.writes)}
            for step in (s for before, s in self.program.moments if during(flight, before, s)):
                cells = step.spared if operand else [c for c in step.reads if c not in flight.writes]
                for spot in self._named(self.spots, {self.program.buffer(c) for c in cells} & buffers):
                    if operand:
                        said = f"{step.name} may not update {spot} in place while {flight.links[0]} reads it"
                    else:
                        said = f"{step.name} reads {spot}, whose buffer {flight.links[0]} writes"
                    wanted.add(f"{NEEDS_COPY}: {said}")
        self._true("the copy that is needed", j.note in wanted if wanted else not j.note, j)

    # -- contents that are gone ---------------------------------------------------------------------------------------

    def _overwritten(self, j: Judgement, problem: str) -> None:
        program, name, lines = self.program, j.place.instruction, problem.splitlines()
        first, last = lines[0], lines[-1]
        if ARGUMENTS.match(first):
            return
        own = [
            (spot, cell)
            for cell, spots in self.spots.items()
            for spot in spots
            if spot.partition("{")[0] == program.maker[cell.version] == name
        ]
        pairs = [(a, b) for a, c in own for b, d in own if c != d and program.buffer(c) == program.buffer(d)]
        if first in {f"{a} and {b} lie in one buffer, and both are needed" for a, b in pairs}:
            return
        for _, one, other, p, q in program.joined:
            parts = f"{name}{_braced(p)} and {name}{_braced(q)}"
            if first == f"{one} returns one buffer for {parts}, into which {other} writes two values":
                self._true("what mends it", last == f"  mended by a copy of one of them in {one}", j)
                return
        true = {said: found for spot, cell in own for said, *found in self._gone(spot, cell)}
        self._true("the first line", first in true, j)
        spot, writer, reader = true[first]
        marks = {name: [f"makes {spot}"], writer: ["writes the same buffer"]}
        marks.setdefault(reader, [f"needs {spot}"])
        self._shown(j, marks, [f"  mended by a copy of {spot}"])

    def _gone(self, spot: str, cell: Cell) -> Iterator[tuple[str, str, str, str]]:
        """Who writes over a content, and who needs it afterwards."""
        program, made = self.program, self.number[self.program.maker[cell.version]]
        for n, step in enumerate(program.steps[made + 1 :], made + 1):
            if all(program.buffer(c) != program.buffer(cell) or c.version == cell.version for c in step.writes):
                continue
            said = f"{self._who(step.name)} overwrites {spot}, which is"
            if cell in program.result:
                yield (
                    f"{said} part of the result of {self.computation.name}",
                    spot,
                    step.name,
                    self.computation.root_name,
                )
            else:
                for r in (s.name for s in program.steps[n + 1 :] if cell in s.reads):
                    yield f"{said} read by {self._who(r)} afterwards", spot, step.name, r
