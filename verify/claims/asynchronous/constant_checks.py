"""The claim hazard-constant: what lies in a constant, or in a parameter that the caller keeps, is never written.

Copy insertion puts a copy before such a write. Where none is left to be inserted, the write destroys an array that a
caller still has, or that the next run of the program reads again. `plan-constant` says the same of a memory plan.

Modules that are written by hand give a loop constants for its first state and call themselves scheduled, and XLA's
verifier lets that pass: such a constant stands for its value, and the copy is noted as needed.
"""

from __future__ import annotations

from collections.abc import Iterator

from hloproof.claims.asynchronous.hazard_checks import scene_of
from hloproof.claims.asynchronous.judgement import NEEDS_COPY, Context, Judgement, judged
from hloproof.models.dataflow.accesses import UNSEEN, InPlaceWrite, Spot
from hloproof.models.dataflow.value_flow import HloPosition
from hloproof.models.dataflow.versions import LocalBuffers
from hloproof.models.hlo.attributes import Aliasing, BufferDonor
from hloproof.models.hlo.module import Module
from hloproof.models.hlo.shape import ShapeIndex


def hazard_constant(context: Context) -> Iterator[Judgement]:
    """Owed by every instruction that writes a result into the buffer of an operand, once copies are inserted."""
    if not context.shares:
        return
    donated = _donated(context.chains.module)
    for local in scene_of(context).locals.values():
        is_entry = local.computation is context.chains.module.entry
        fixed: dict[Spot, Spot] = {}
        problems: dict[str, str | None] = {}
        notes: dict[str, str] = {}
        for write in local.writes:  # in the order of the text: what an operand lies in is known
            made = local.version.get(write.operand, write.operand)
            lies = made if _is_fixed(local, made, is_entry, donated) else fixed.get(made)
            said = None
            if lies is not None and _is_first_state(local, write, lies):
                notes.setdefault(write.writer, f"{NEEDS_COPY}: {_told(local, write, lies)}")
            elif lies is not None:
                fixed[write.result] = lies
                said = _told(local, write, lies)
            problems[write.writer] = problems.get(write.writer) or said
        for name, problem in problems.items():
            yield judged("hazard-constant", HloPosition(local.computation.name, name), problem, note=notes.get(name))


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


def _is_first_state(local: LocalBuffers, write: InPlaceWrite, lies: Spot) -> bool:
    """A loop replaces a part of its state that is a constant at first."""
    loop = local.computation.by_name[write.writer]
    return loop.opcode == "while" and local.computation.by_name[lies[0]].opcode == "constant"


def _told(local: LocalBuffers, write: InPlaceWrite, lies: Spot) -> str:
    i, made = local.computation.by_name[write.writer], local.computation.by_name[lies[0]]
    part = lies[0] + ("{" + ",".join(map(str, lies[1])) + "}" if lies[1] else "")
    what = "a constant" if made.opcode == "constant" else "a parameter that is not donated"
    # A body may keep to itself what it writes.
    how = "inside of its computation " if write.result[1][:1] == (UNSEEN,) else ""
    instead = "" if made.opcode == "constant" else ", or by an input_output_alias of it"
    return (
        f"{write.writer} (a {i.opcode}, line {i.position.line}) writes {how}into the buffer of {part} "
        f"(line {made.position.line}), {what}\n  mended by a copy of {part}{instead}"
    )
