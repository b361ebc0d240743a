"""The claim hazard-constant: what lies in a constant, or in a parameter that the caller keeps, is never written.

Copy insertion puts a copy before such a write. Where none is left to be inserted, the write destroys an array that a
caller still has, or that the next run of the program reads again. `plan-constant` says the same of a memory plan.

Modules that are written by hand give a loop constants for its first state and call themselves scheduled, and XLA's
verifier lets that pass: such a constant stands for its value, and the copy is noted as needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hloproof.claims.asynchronous.hazard_checks import scene_of
from hloproof.claims.asynchronous.judgement import NEEDS_COPY, Context, Judgement, judged
from hloproof.models.dataflow.accesses import UNSEEN, InPlaceWrite, Spot
from hloproof.models.dataflow.value_flow import HloPosition
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
    donated = _donated(context.chains.module)
    returned: _Returned = {}
    for local in scene_of(context).locals.values():  # who is called comes first
        kept = _kept(local, local.computation is context.chains.module.entry, donated, returned)
        problems: dict[str, str | None] = {}
        notes: dict[str, str] = {}
        for write in local.writes:
            lies, said = kept.get(local.version.get(write.operand, write.operand)), None
            if lies is not None and _is_first_state(local, write, lies):
                notes.setdefault(write.writer, f"{NEEDS_COPY}: {_told(local, write, lies)}")
            elif lies is not None:
                said = _told(local, write, lies)
            problems[write.writer] = problems.get(write.writer) or said
        for name, problem in problems.items():
            yield judged("hazard-constant", HloPosition(local.computation.name, name), problem, note=notes.get(name))
        root = local.computation.root_name
        for spot in local.leaves(root):
            lies = kept.get(local.version.get(spot, spot))
            # What a computation hands on of its own parameters only its callers can tell.
            if lies is not None:
                returned[local.computation.name, spot[1]] = lies


def _kept(
    local: LocalBuffers, is_entry: bool, donated: tuple[tuple[int, ShapeIndex], ...], returned: _Returned
) -> dict[Spot, _Kept]:
    """Versions that lie where nobody may write: constants, parameters, what is written over them, and what computations
    hand back of them. Of a conditional the branches hand back into one buffer."""
    writes = {w.result: w for w in local.writes}
    out: dict[Spot, _Kept] = {}
    for version in (spot for spot in local.version if local.version[spot] == spot):
        i = local.computation.by_name[version[0]]
        if _is_fixed(local, version, is_entry, donated):
            out[version] = _Kept(local.computation, version)
        elif version in writes:
            write = writes[version]
            lies = out.get(local.version.get(write.operand, write.operand))
            if lies is not None and not _is_first_state(local, write, lies):
                out[version] = lies
        elif i.opcode in ("call", "conditional"):
            for body, operands in local.bodies(i):
                summary = local.summaries.get(body)
                origin = summary.passes.get(version[1]) if summary is not None else None
                handed = (operands[origin[0]], origin[1]) if origin is not None and origin[0] < len(operands) else None
                lies = returned.get((body, version[1]))
                if handed is not None:
                    lies = lies or out.get(local.version.get(handed, handed))
                if lies is not None:
                    out[version] = lies
                    break
    return out


def _donated(module: Module) -> tuple[tuple[int, ShapeIndex], ...]:
    """Parts of the entry's parameters that the caller gives away, with all that is in them."""
    entries = (module.attributes.get(name) for name in ("input_output_alias", "buffer_donor"))
    return tuple(
        (e.operand, e.operand_index) if isinstance(e, Aliasing) else (e.parameter, e.parameter_index)
        for found in entries
        for e in (found if isinstance(found, tuple) else ())
        if isinstance(e, Aliasing | BufferDonor)
    )


def _is_fixed(local: LocalBuffers, version: Spot, is_entry: bool, donated: tuple[tuple[int, ShapeIndex], ...]) -> bool:
    """Nobody may write where this version lies."""
    i = local.computation.by_name[version[0]]
    if i.opcode != "parameter":
        return i.opcode == "constant"
    # What other computations are given is the business of who runs them.
    return is_entry and not any(n == i.parameter_number and version[1][: len(at)] == at for n, at in donated)


def _is_first_state(local: LocalBuffers, write: InPlaceWrite, lies: _Kept) -> bool:
    """A loop replaces a part of its state that is a constant at first."""
    return local.computation.by_name[write.writer].opcode == "while" and lies.is_constant


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
