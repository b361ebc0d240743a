"""Claims about a module as a whole, attached to the instructions that they concern."""

from __future__ import annotations

from hloproof.claims.asynchronous import judge
from hloproof.claims.asynchronous.judgement import Judgement
from hloproof.models.hlo.module import Module
from hloproof.models.hlo.shape import BufferShape, leaves
from hloproof.pipeline.options import Options
from hloproof.results.results import ClaimVerdict, ModuleResults
from hloproof.results.verdict import Verdict

ENGINE = "value-flow"
"""What decides these claims: the forwarding relation of hloproof.models.dataflow.value_flow, followed to its end."""


def attach(module: Module, results: ModuleResults, options: Options) -> None:
    """Add to each instruction's results what is claimed of it as part of its module."""
    if not options.after_copy_insertion and not _concerned(module):
        return
    selection = options.selection
    found: dict[tuple[str, str], list[ClaimVerdict]] = {}
    for j in judge(
        module,
        lambda c: selection.takes_claim(c),
        lambda c: selection.takes_claim(c, on_request=True),
        options.layout_sensitive,
        options.after_copy_insertion,
    ):
        found.setdefault((j.place.computation, j.place.instruction), []).append(_verdict(j))
    for r in results.instructions:
        r.own.extend(found.get((r.computation, r.instruction.name), ()))


def _concerned(module: Module) -> bool:
    """Some instruction is asynchronous or of buffer type, or the order of the text is a schedule, in which buffers are
    reused; most modules are neither, and need no value flow."""
    return module.attributes.flag("is_scheduled") or any(
        i.opcode.endswith(("-start", "-update", "-done"))
        or i.opcode in ("send", "recv")
        or (i.opcode == "custom-call" and any(isinstance(s, BufferShape) for _, s in leaves(i.shape)))
        for c in module.computations
        for i in c.instructions
    )


def _verdict(j: Judgement) -> ClaimVerdict:
    if j.problem is not None:
        return ClaimVerdict(j.claim, Verdict.REFUTED, (ENGINE,), counterexample=j.problem)
    if j.unknown is not None:
        return ClaimVerdict(j.claim, Verdict.UNKNOWN, reason=j.unknown)
    return ClaimVerdict(j.claim, Verdict.PROVED, (ENGINE,), reason=j.note)
