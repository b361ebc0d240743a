"""Target `async`: what a hazard is said to be is replayed: who, when, which buffer, and whether the mending mends.

What stands in a counterexample is read back from its text and looked up in the buffers that `oracle_flights` has given
to every value, and in its steps.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from hloproof.claims.asynchronous.judgement import NEEDS_COPY, Judgement
from hloproof.claims.asynchronous.timeline import BEGINS, ENDS, Row, rows_of
from hloproof.fuzz.asynchronous.oracle_flights import Cell, Flight, Program, Step, moments
from hloproof.fuzz.target import Failure
from hloproof.models.hlo.module import Module

_WRITES: Final = re.compile(r"(\S+) \(line (\d+)\) writes the buffer of (\S+), which (\S+) reads until it is done")
_TOUCHES: Final = re.compile(
    r"(\S+) \(line (\d+)\) (reads|writes) (\S+), the buffer that (\S+) is writing until it is done"
)
_OVERWRITES: Final = re.compile(
    r"(\S+) \(line (\d+)\) overwrites (\S+), which "
    r"(?:is part of the result of (\S+)|is read by (\S+) \(line (\d+)\) afterwards)"
)
_TWO: Final = re.compile(r"(\S+) and (\S+) lie in one buffer, and both are needed")
ARGUMENTS: Final = re.compile(
    r"\S+ overwrites argument (\d+)((?:\{[\d,]*\})?) of (\S+) in place, and argument (\d+)((?:\{[\d,]*\})?), which .*"
)
_WAIT: Final = re.compile(r"  mended by control-predecessors=\{%(\S+)\} on (\S+)")
_COPY: Final = re.compile(r"  mended by a copy of (\S+)(?: for (\S+), or by finishing (\S+) first)?")


def check_words(module: Module, program: Program, judgements: Iterable[Judgement]) -> None:
    """Raises Failure where the words about a hazard are not true."""
    words = _Words(module, program)
    for j in judgements:
        if j.place.computation != module.entry_name:
            continue
        if j.problem is None:
            words.note(j)
        elif j.claim in ("hazard-operand", "hazard-output"):
            words.in_flight(j, j.problem)
        else:
            words.overwritten(j, j.problem)


class _Words:
    def __init__(self, module: Module, program: Program) -> None:
        self.module, self.program = module, program
        self.step = {s.name: s for s in program.steps}
        self.number = {s.name: n for n, s in enumerate(program.steps)}
        self._moments: list[tuple[frozenset[str], Step]] | None = None

    def _true(self, what: str, holds: bool, j: Judgement) -> None:
        if not holds:
            raise Failure(f"async: {j.claim} says what is not so: {what}", f"{j.place}: {j.problem or j.note}")

    def _line(self, name: str) -> int:
        return self.module.entry.by_name[name].position.line

    def cell(self, spot: str) -> Cell | None:
        """What lies at a spot such as `v{0,1}`."""
        name, _, index = spot.rstrip("}").partition("{")
        tree = self.program.values.get(name)
        for k in map(int, filter(None, index.split(","))):
            if not isinstance(tree, tuple) or k >= len(tree):
                return None
            tree = tree[k]
        return tree if isinstance(tree, Cell) else None

    def moments(self) -> list[tuple[frozenset[str], Step]]:
        """Every step with every set of steps that can have run before."""
        if self._moments is None:
            if self.program.scheduled:
                names = [s.name for s in self.program.steps]
                self._moments = [(frozenset(names[:n]), s) for n, s in enumerate(self.program.steps)]
            else:
                first = [s for s in self.program.steps if not s.waits and not s.reads and not s.writes]
                gone = {s.name for s in first}
                rest = [
                    Step(s.name, s.waits - gone, s.reads, s.writes, s.spared)
                    for s in self.program.steps
                    if s.name not in gone
                ]
                self._moments = [(before, self.step[s.name]) for before, s in moments(rest)]
        return self._moments

    def _flights(self, opening: str) -> list[Flight]:
        return [f for f in self.program.flights if f.opening == opening]

    def _during(self, flight: Flight) -> list[Step]:
        return [
            s
            for done, s in self.moments()
            if flight.opening in done and flight.closing not in done and s.name not in flight.links
        ]

    def _read(self, flight: Flight) -> set[int]:
        return {self.program.same.get(b, b) for b in flight.reads}

    def _held(self, flight: Flight) -> set[int]:
        return {self.program.buffer(c) for c in flight.writes}

    # -- operations in flight -----------------------------------------------------------------------------------------

    def in_flight(self, j: Judgement, problem: str) -> None:
        first = problem.splitlines()[0]
        (flight, *_) = self._flights(j.place.instruction)
        if j.claim == "hazard-operand":
            found = _WRITES.fullmatch(first)
            self._true("it has the form", found is not None, j)
            assert found is not None
            name, line, what, start = found.groups()
            act, spot = "writes", what
            self._true("the operation reads that buffer", self._in(what, self._read(flight)), j)
            self._true("it is written", self._touches(self.step[name].writes, self._read(flight)), j)
        else:
            found = _TOUCHES.fullmatch(first)
            self._true("it has the form", found is not None, j)
            assert found is not None
            name, line, act, spot, start = found.groups()
            self._true("the operation writes that buffer", self._in(spot, self._held(flight)), j)
            cells_of = self.step[name].reads if act == "reads" else self.step[name].writes
            self._true("it is touched", self._touches(cells_of, self._held(flight)), j)
            if act == "reads":
                self._true("that is read", self.cell(spot) in self.step[name].reads, j)
            if act == "reads" and not self.program.scheduled:
                self._true("the new content is read", any(c in flight.writes for c in self.step[name].reads), j)
            elif act == "writes":
                self._true("it makes that", self.cell(spot) in self.step[name].writes, j)
        self._true("the line", self._line(name) == int(line), j)
        opcode = self.module.entry.by_name[start].opcode
        is_start = opcode.endswith("-start") or opcode in ("send", "recv")
        self._true("the start", is_start and start in flight.links, j)
        self._true("it can run then", name in {s.name for s in self._during(flight)}, j)
        self._rows(j, problem, flight, name, act)
        self._mended(j, problem.splitlines()[-1], flight, name)

    def _in(self, spot: str, buffers: set[int]) -> bool:
        cell = self.cell(spot)
        return cell is not None and self.program.buffer(cell) in buffers

    def _touches(self, touched: list[Cell], buffers: set[int]) -> bool:
        return any(self.program.buffer(c) in buffers for c in touched)

    def _rows(self, j: Judgement, problem: str, flight: Flight, name: str, act: str) -> None:
        rows = {row.what.partition(" = ")[0]: row for row in rows_of(problem)}
        self._true("who is shown", set(rows) == {flight.opening, name, flight.closing}, j)
        at = [rows[n].time for n in (flight.opening, name, flight.closing)]
        self._true("the order", at == sorted(set(at)), j)
        self._true(
            "the marks",
            rows[flight.opening].mark.startswith(BEGINS)
            and rows[flight.closing].mark == ENDS
            and rows[name].mark.startswith(act),
            j,
        )
        what = rows[flight.opening].mark.removeprefix(BEGINS + ": ")
        wanted = self._read(flight) if j.claim == "hazard-operand" else self._held(flight)
        self._true("what is in flight", self._in(what, wanted), j)
        self._shown(j, rows)

    def _shown(self, j: Judgement, rows: dict[str, Row]) -> None:
        for name, row in rows.items():
            i = self.module.entry.by_name[name]
            self._true("a row's line", row.line == i.position.line, j)
            self._true("a row's instruction", row.what.startswith(f"{name} = {i.opcode}("), j)
            if self.program.scheduled:
                self._true("a row's time", row.time == self.number[name], j)

    def _mended(self, j: Judgement, last: str, flight: Flight, name: str) -> None:
        """Waiting for the end mends it, where the end does not wait for the name itself."""
        can_wait = any(name not in done for done, s in self.moments() if s.name == flight.closing)
        if can_wait:
            found = _WAIT.fullmatch(last)
            self._true("waiting mends it", found is not None and found.groups() == (flight.closing, name), j)
        else:
            found = _COPY.fullmatch(last)
            self._true("a copy mends it", found is not None and found.groups()[1:] == (name, flight.opening), j)

    # -- contents that are gone ---------------------------------------------------------------------------------------

    def overwritten(self, j: Judgement, problem: str) -> None:
        first = problem.splitlines()[0]
        two = _TWO.fullmatch(first)
        if two is not None:
            a, b = self.cell(two[1]), self.cell(two[2])
            self._true(
                "two in one buffer",
                a is not None
                and b is not None
                and a != b
                and self.program.buffer(a) == self.program.buffer(b)
                and self.program.maker[a.version] == self.program.maker[b.version],
                j,
            )
            return
        given = ARGUMENTS.match(first)
        if given is not None:
            self._true("two arguments", (given[1], given[2]) != (given[4], given[5]), j)
            return
        found = _OVERWRITES.fullmatch(first)
        self._true("it has the form", found is not None, j)
        assert found is not None
        name, line, spot, result, reader, read_line = found.groups()
        cell = self.cell(spot)
        self._true("that lies somewhere", cell is not None, j)
        assert cell is not None
        maker, buffer = self.program.maker[cell.version], self.program.buffer(cell)
        self._true("who makes it", spot.partition("{")[0] == maker == j.place.instruction, j)
        self._true("the line", self._line(name) == int(line), j)
        others = [c for c in self.step[name].writes if c.version != cell.version]
        self._true("it is overwritten", self._touches(others, {buffer}), j)
        self._true("it is overwritten later", self.number[maker] < self.number[name], j)
        if result is not None:
            self._true("it is part of the result", result == self.module.entry_name and cell in self.program.result, j)
            reader = self.module.entry.root_name
        else:
            self._true("it is read", cell in self.step[reader].reads and self._line(reader) == int(read_line), j)
            self._true("it is not part of the result", cell not in self.program.result, j)
            self._true("it is read later", self.number[name] < self.number[reader], j)
        rows = {row.what.partition(" = ")[0]: row for row in rows_of(problem)}
        self._true("who is shown", set(rows) == {maker, name, reader}, j)
        self._true(
            "the marks",
            rows[maker].mark == f"makes {spot}"
            and rows[name].mark == "writes the same buffer"
            and (reader == name or rows[reader].mark == f"needs {spot}"),
            j,
        )
        self._shown(j, rows)
        mended = _COPY.fullmatch(problem.splitlines()[-1])
        self._true("a copy mends it", mended is not None and mended[1] == spot and mended[2] is None, j)

    # -- notes --------------------------------------------------------------------------------------------------------

    def note(self, j: Judgement) -> None:
        """A compiler is told of the copies that it must make, and of no others."""
        if j.claim not in ("hazard-operand", "hazard-output"):
            return
        wanted: set[str] = set()
        for flight in self._flights(j.place.instruction) if not self.program.scheduled else ():
            for step in self._during(flight):
                if j.claim == "hazard-operand":
                    wanted |= {
                        f"{step.name} may not update"
                        for c in step.spared
                        if self.program.buffer(c) in self._read(flight)
                    }
                else:
                    wanted |= {
                        f"{step.name} reads"
                        for c in step.reads
                        if self.program.buffer(c) in self._held(flight) and c not in flight.writes
                    }
        said = (j.note or "").removeprefix(f"{NEEDS_COPY}: ")
        if not wanted:
            self._true("no copy is needed", not said, j)
        else:
            self._true("a copy is needed", any(said.startswith(w + " ") for w in wanted), j)
            (spot,) = re.findall(r"(?:update|reads) (\S+?)(?:,| in place)", said)[:1]
            flight = self._flights(j.place.instruction)[0]
            buffers = self._read(flight) if j.claim == "hazard-operand" else self._held(flight)
            self._true("the copy is of that", self._in(spot, buffers), j)
