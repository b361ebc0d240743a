"""Memory plans checked: the texts of a module and of its plan, to a report like that of any other check."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from hloproof.claims.asynchronous.judgement import Judgement
from hloproof.memory.judge import judge
from hloproof.models.hlo.module import Module
from hloproof.models.memory.assignment import BufferAssignment, parse_assignment
from hloproof.results.results import (
    ClaimVerdict,
    FileResults,
    InstructionResult,
    ModuleResults,
    OperationVerdicts,
    Report,
    Site,
)
from hloproof.results.verdict import Verdict

ENGINE: Final = "liveness"
"""What decides these claims: values, order and intervals; where bytes are shared in place, the solvers as well."""


def check_plan(
    hlo: str,
    assignment: str,
    module_file: str = "",
    assignment_file: str = "",
    takes: Callable[[str], bool] = lambda _: True,
) -> Report:
    """Check the plan of one module. Raises InputError when either text is wrong."""
    from hloproof.models.hlo.parser import parse_module

    module = parse_module(hlo, module_file)
    plan = parse_assignment(assignment, assignment_file)
    results = FileResults(module_file, "memory")
    results.modules.append(plan_results(module, plan, takes))
    return Report([results])


def plan_results(
    module: Module, assignment: BufferAssignment, takes: Callable[[str], bool] = lambda _: True
) -> ModuleResults:
    """What the plan owes, per instruction, in the order of the text."""
    found: dict[tuple[str, str], list[ClaimVerdict]] = {}
    for j in judge(module, assignment, takes):
        found.setdefault((j.place.computation, j.place.instruction), []).append(_verdict(j))
    results = ModuleResults(module.name)
    for computation in module.computations:
        for i in computation.instructions:
            own = found.get((computation.name, i.name))
            if own:
                site = Site.of(i)
                results.instructions.append(InstructionResult(computation.name, site, OperationVerdicts(), own))
    return results


def _verdict(j: Judgement) -> ClaimVerdict:
    assumptions = () if j.note is None else (j.note,)
    if j.problem is not None:
        return ClaimVerdict(j.claim, Verdict.REFUTED, (ENGINE,), counterexample=j.problem)
    if j.unknown is not None:
        return ClaimVerdict(j.claim, Verdict.UNKNOWN, reason=j.unknown)
    return ClaimVerdict(j.claim, Verdict.PROVED, (ENGINE,), assumptions=assumptions)
