"""The claim hazard-constant: what lies in a constant, or in a parameter that the caller keeps, is never written.

Copy insertion puts a copy before such a write. Where none is left to be inserted, the write destroys an array that a
caller still has, or that the next run of the program reads again. `plan-constant` says the same of a memory plan.

Modules that are written by hand give a loop constants for its first state and call themselves scheduled, and XLA's
verifier lets that pass: such a constant stands for its value, and the copy is noted as needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from hloproof.claims.asynchronous.hazard_checks import scene_of, unknown_starts
from hloproof.claims.asynchronous.judgement import NEEDS_COPY, Context, Judgement, judged
from hloproof.models.dataflow.accesses import UNSEEN, InPlaceWrite, Spot
from hloproof.models.dataflow.value_flow import HloPosition, branches, called
from hloproof.models.dataflow.versions import LocalBuffers
from hloproof.models.hlo.attributes import Aliasing, BufferDonor
from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.hlo.shape import ShapeIndex


@dataclass(frozen=True, slots=True)
class _Kept:
    """An array that nobody may write: part of a parameter or constant, and the computation that it stands in."""

    computation: Computation
    spot: Spot

    @property
    def made(self) -> Instruction:
        return self.computation.by_name[self.spot[0]]

    @property
    def is_constant(self) -> bool:
        return self.made.opcode == "constant"


_Returned = dict[tuple[str, ShapeIndex], _Kept]
"""The parts of results that are such arrays, by computation."""


def hazard_constant(context: Context) -> Iterator[Judgement]:
    """Owed by every instruction that writes a result into the buffer of an operand, once copies are inserted."""
    if not context.shares:
        return
    yield from unknown_starts(scene_of(context), "hazard-constant")
    locals_ = scene_of(context).locals
    entry = _Entry(context.chains.module)
    returned = _all_returned(locals_.values(), entry)
    for local in locals_.values():
        kept = _kept(local, entry, returned)
        problems: dict[str, str | None] = {}
        notes: dict[str, str] = {}
        for write in local.writes:
            lies, said = kept.get(local.version.get(write.operand, write.operand)), None
            if lies is not None and _is_first_state(local, write, lies):
                notes.setdefault(write.writer, f"{NEEDS_COPY}: {_told(local, write, lies)}")
            elif lies is not None:
                said = _told(local, write, lies)
            problems[write.writer] = problems.get(write.writer) or said
        if local.computation is context.chains.module.entry:
            problems |= _given_elsewhere(local, kept)
        left = _left_in_place(local, returned)
        for name in dict.fromkeys((*problems, *left)):
            place = HloPosition(local.computation.name, name)
            yield judged("hazard-constant", place, problems.get(name), left.get(name), note=notes.get(name))


def _left_in_place(local: LocalBuffers, returned: _Returned) -> dict[str, str]:
    """Loops and conditionals of which a body returns a constant: their results lie in buffers of their own, which other
    turns and branches write, and constants do not."""
    out: dict[str, str] = {}
    for i in local.computation.instructions:
        names = {"while": (called(i, "body"),), "conditional": branches(i)}.get(i.opcode, ())
        for (body, _), lies in returned.items():
            if body in names:
                out[i.name] = f"{body} returns the constant {lies.made.name} where {i.name} has a buffer of its own"
    return out


def _given_elsewhere(local: LocalBuffers, kept: Mapping[Spot, _Kept]) -> dict[str, str | None]:
    """Results that the module puts into the buffer of a parameter, and that lie in one of these arrays."""
    out: dict[str, str | None] = {}
    for output, parameter, _ in local.buffers.declared_by_module():
        spot = (output.instruction, output.index)
        lies = kept.get(local.version.get(spot, spot))
        if lies is not None:
            what = "a constant" if lies.is_constant else "a parameter that is not donated"
            out[spot[0]] = (
                f"the result in the buffer of {parameter} lies in {lies.made.name}, {what}\n  mended by a copy"
            )
    return out


def _all_returned(computations: Iterable[LocalBuffers], entry: _Entry) -> _Returned:
    """What every computation hands back of such arrays: the least fixed point, since what one turn of a loop leaves in
    its state the next turn finds there, and hands on. What a computation hands on of its parameters only its callers
    can tell."""
    returned: _Returned = {}
    while True:
        before = len(returned)
        for local in computations:  # who is called comes first
            kept = _kept(local, entry, returned)
            for spot in local.leaves(local.computation.root_name):
                lies = kept.get(local.version.get(spot, spot))
                if lies is not None:
                    returned.setdefault((local.computation.name, spot[1]), lies)
        if len(returned) == before:
            return returned


def _kept(local: LocalBuffers, entry: _Entry, returned: _Returned) -> dict[Spot, _Kept]:
    """Versions that lie where nobody may write: constants, parameters, what is written over them, what computations
    hand back of them, and what a loop's last turn left in its state. Of a conditional the branches hand back into one
    buffer."""
    writes = {w.result: w for w in local.writes}
    bodies = _bodies_around(local)
    out: dict[Spot, _Kept] = {}
    for version in (spot for spot in local.version if local.version[spot] == spot):
        lies: _Kept | None = None
        if entry.is_fixed(local, version):
            lies = _Kept(local.computation, version)
        elif version in writes:
            write = writes[version]
            lies = out.get(local.version.get(write.operand, write.operand))
            if lies is not None and _is_first_state(local, write, lies):
                lies = None
        elif local.computation.by_name[version[0]].opcode == "parameter":
            lies = next((returned[body, version[1]] for body in bodies if (body, version[1]) in returned), None)
        for body, operands, at in local.callees.handing_back(version):
            handed = local.callees.handed(body, operands, at)
            lies = lies or returned.get((body, at))
            if handed is not None and version not in writes:
                lies = lies or out.get(local.version.get(handed, handed))
        if lies is not None:
            out[version] = lies
    return out


def _bodies_around(local: LocalBuffers) -> list[str]:
    """The bodies of the loops that a computation is body or condition of: what they return it is given."""
    callers = local.buffers.chains.flow.callers[local.computation.name]
    return [body for _, c in callers if c.opcode == "while" and (body := called(c, "body")) is not None]


class _Entry:
    """What the caller of the program gives away, and what it keeps."""

    def __init__(self, module: Module) -> None:
        self._name = module.entry_name
        entries = (module.attributes.get(name) for name in ("input_output_alias", "buffer_donor"))
        self._donated = tuple(
            (e.operand, e.operand_index) if isinstance(e, Aliasing) else (e.parameter, e.parameter_index)
            for found in entries
            for e in (found if isinstance(found, tuple) else ())
            if isinstance(e, Aliasing | BufferDonor)
        )

    def is_fixed(self, local: LocalBuffers, version: Spot) -> bool:
        """Nobody may write where this version lies."""
        i = local.computation.by_name[version[0]]
        if i.opcode != "parameter":
            return i.opcode == "constant"
        # What other computations are given is the business of who runs them. Of a tuple only its table is given away:
        # what is in it is named by indices of its own.
        return local.computation.name == self._name and (i.parameter_number, version[1]) not in self._donated


def _is_first_state(local: LocalBuffers, write: InPlaceWrite, lies: _Kept) -> bool:
    """A loop replaces a part of its state that is a constant at first, as the text around the loop shows."""
    first = local.version.get(write.operand, write.operand)
    shown = lies.is_constant and lies.computation is local.computation and lies.spot == first
    return shown and local.computation.by_name[write.writer].opcode == "while"


def _told(local: LocalBuffers, write: InPlaceWrite, lies: _Kept) -> str:
    i, made = local.computation.by_name[write.writer], lies.made
    part = made.name + ("{" + ",".join(map(str, lies.spot[1])) + "}" if lies.spot[1] else "")
    what = "a constant" if lies.is_constant else "a parameter that is not donated"
    # A body may keep to itself what it writes, and another one hand back what is its own.
    how = "inside of its computation " if write.result[1][:1] == (UNSEEN,) else ""
    where = "" if lies.computation is local.computation else f" of {lies.computation.name}"
    instead = "" if lies.is_constant else ", or by an input_output_alias of it"
    return (
        f"{write.writer} (a {i.opcode}, line {i.position.line}) writes {how}into the buffer of {part}{where} "
        f"(line {made.position.line}), {what}\n  mended by a copy of {part}{instead}"
    )
