"""Target `async`: what a hazard is said to be is replayed: who, when, which buffer, and whether the mending mends.

What stands in a counterexample is read back from its text and looked up in the steps and flights of `oracle_flights`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from typing import Final

from hloproof.claims.asynchronous.judgement import Judgement
from hloproof.claims.asynchronous.timeline import BEGINS, ENDS, Row, rows_of
from hloproof.fuzz.asynchronous.oracle_flights import Cell, Flight, Program, Step, cells, moments
from hloproof.fuzz.target import Failure
from hloproof.models.hlo.module import Module

_ACT: Final = re.compile(r"(\S+) \(line (\d+)\) (reads|writes|overwrites) ")
_READER: Final = re.compile(r"is read by (\S+) \(line")
ARGUMENTS: Final = re.compile(
    r"\S+ overwrites argument (\d+)((?:\{[\d,]*\})?) of (\S+) in place, and argument (\d+)((?:\{[\d,]*\})?), which .*"
)


def check_words(module: Module, program: Program, judgements: Iterable[Judgement]) -> None:
    """Raises Failure where the words about a hazard are not true."""
    words = _Words(module, program)
    for j in judgements:
        if j.place.computation != module.entry_name:
            continue
        if j.problem is None:
            words.note(j)
            continue
        acting = _ACT.match(j.problem)
        rows = {row.what.partition(" = ")[0]: row for row in rows_of(j.problem)}
        if acting is not None and rows:
            words.shown(j, rows)
            words.true("the line", words.line(acting[1]) == int(acting[2]), j)
            say = words.in_flight if j.claim in ("hazard-operand", "hazard-output") else words.overwritten
            say(j, j.problem, acting[1], acting[3], rows)


class _Words:
    def __init__(self, module: Module, program: Program) -> None:
        self.module, self.program = module, program
        self.step = {s.name: s for s in program.steps}
        self.number = {s.name: n for n, s in enumerate(program.steps)}

    def true(self, what: str, holds: bool, j: Judgement) -> None:
        if not holds:
            raise Failure(f"async: {j.claim} says what is not so: {what}", f"{j.place}: {j.problem or j.note}")

    def line(self, name: str) -> int:
        return self.module.entry.by_name[name].position.line

    @cached_property
    def moments(self) -> list[tuple[frozenset[str], Step]]:
        """Every step with every set of steps that can have run before."""
        if self.program.scheduled:
            names = [s.name for s in self.program.steps]
            return [(frozenset(names[:n]), s) for n, s in enumerate(self.program.steps)]
        first = {s.name for s in self.program.steps if not s.waits and not s.reads and not s.writes}
        rest = [Step(s.name, s.waits - first) for s in self.program.steps if s.name not in first]
        return [(before, self.step[s.name]) for before, s in moments(rest)]

    def _during(self, flight: Flight) -> list[Step]:
        return [
            s
            for done, s in self.moments
            if flight.opening in done and flight.closing not in done and s.name not in flight.links
        ]

    def _buffers(self, flight: Flight, claim: str) -> set[int]:
        """Those that the operation reads, or that it writes."""
        if claim == "hazard-operand":
            return {self.program.same.get(b, b) for b in flight.reads}
        return {self.program.buffer(c) for c in flight.writes}

    def _lies_in(self, cells: list[Cell], buffers: set[int]) -> bool:
        return any(self.program.buffer(c) in buffers for c in cells)

    def shown(self, j: Judgement, rows: dict[str, Row]) -> None:
        times = [row.time for row in rows.values()]
        self.true("the order", times == sorted(set(times)), j)
        for name, row in rows.items():
            i = self.module.entry.by_name[name]
            self.true("a row", row.line == i.position.line and row.what.startswith(f"{name} = {i.opcode}("), j)
            self.true("a row's time", not self.program.scheduled or row.time == self.number[name], j)

    def in_flight(self, j: Judgement, problem: str, name: str, act: str, rows: dict[str, Row]) -> None:
        flight = next(f for f in self.program.flights if f.opening == j.place.instruction)
        touched = self.step[name].reads if act == "reads" else self.step[name].writes
        self.true("it touches that buffer", self._lies_in(touched, self._buffers(flight, j.claim)), j)
        self.true("it can run then", name in {s.name for s in self._during(flight)}, j)
        self.true("who is shown", list(rows) == [flight.opening, name, flight.closing], j)
        begins, does, ends = (row.mark for row in rows.values())
        self.true("the marks", begins.startswith(BEGINS) and does.startswith(act) and ends == ENDS, j)
        last = problem.splitlines()[-1]
        # Waiting for the end mends it, where the end does not wait for the name itself.
        if any(name not in done for done, s in self.moments if s.name == flight.closing):
            mended = last == f"  mended by control-predecessors={{%{flight.closing}}} on {name}"
        else:
            mended = last.endswith(f" for {name}, or by finishing {flight.opening} first")
        self.true("the mending", mended, j)

    def overwritten(self, j: Judgement, problem: str, name: str, act: str, rows: dict[str, Row]) -> None:
        """A value is made, its buffer written, and the value needed: by a reader or as part of the result."""
        named = _READER.search(problem)
        maker, reader = j.place.instruction, named[1] if named is not None else self.module.entry.root_name
        made = [c for c in cells(self.program.values[maker]) if self.program.maker[c.version] == maker]
        lost = {self.program.buffer(c) for c in made}
        needed = self.program.result if named is None else self.step[reader].reads
        self.true("it is overwritten", self._lies_in(self.step[name].writes, lost), j)
        self.true("it is needed", any(c in made for c in needed), j)
        self.true("it is read later", self.number[maker] < self.number[name] and name in (reader, *rows), j)
        self.true("who is shown", set(rows) == {maker, name, reader}, j)
        self.true("who makes it", rows[maker].mark.startswith(f"makes {maker}"), j)
        self.true("who writes it", rows[name].mark == "writes the same buffer", j)
        self.true("who needs it", reader == name or rows[reader].mark.startswith(f"needs {maker}"), j)
        last = problem.splitlines()[-1]
        self.true("the mending", last.startswith(f"  mended by a copy of {maker}"), j)

    def note(self, j: Judgement) -> None:
        """A compiler is told of the copies that it must make, and of no others."""
        if j.claim not in ("hazard-operand", "hazard-output"):
            return
        wanted = False
        for flight in self.program.flights if not self.program.scheduled else ():
            if flight.opening == j.place.instruction:
                buffers = self._buffers(flight, j.claim)
                for step in self._during(flight):
                    told = step.spared
                    if j.claim == "hazard-output":
                        told = [c for c in step.reads if c not in flight.writes]
                    wanted = wanted or self._lies_in(told, buffers)
        self.true("a copy is needed, or is not", bool(j.note) == wanted, j)
