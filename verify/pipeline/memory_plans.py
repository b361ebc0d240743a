"""Memory plans checked: the texts of a module and of its plan, to a report like that of any other check.

A dump of the compiler (`--xla_dump_to=DIR --xla_dump_hlo_as_text`) has the plan of `X.txt` in
`X-buffer-assignment.txt`; beside a `module.hlo` it may stand as `assignment.txt`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from hloproof.claims.asynchronous.judgement import by_instruction
from hloproof.engines.door import HOW, How
from hloproof.memory.judge import CLAIMS, judge
from hloproof.models.errors import InputError
from hloproof.models.hlo.module import Module
from hloproof.models.memory.assignment import BufferAssignment, parse_assignment
from hloproof.pipeline.sources import Source
from hloproof.results.errors import BadInput
from hloproof.results.results import (
    FileResults,
    InputProblem,
    InstructionResult,
    ModuleResults,
    OperationVerdicts,
    Report,
    Site,
)


def check_plan(
    hlo: str,
    assignment: str,
    module_file: str = "",
    assignment_file: str = "",
    takes: Callable[[str], bool] = lambda _: True,
    how: How = HOW,
) -> Report:
    """Check the plan of one module. Raises InputError when either text is wrong."""
    from hloproof.models.hlo.parser import parse_module

    module = parse_module(hlo, module_file)
    plan = parse_assignment(assignment, assignment_file)
    results = FileResults(module_file, "memory")
    results.modules.append(plan_results(module, plan, takes, how))
    return Report([results])


def plan_beside(module: str) -> str | None:
    """The path of the plan that lies beside a module's file; None where there is none."""
    place = Path(module)
    stem = place.name.removesuffix(".gz").rpartition(".")[0]
    names = [f"{stem}-buffer-assignment.txt", *(["assignment.txt"] if stem == "module" else [])]
    found = next((n for n in names if stem and (place.parent / n).is_file()), None)
    return None if found is None else str(place.with_name(found))


def takes_a_plan(takes: Callable[[str], bool]) -> bool:
    """Some claim about plans is wanted."""
    return any(map(takes, CLAIMS))


def plans_in(folder: str) -> Iterator[tuple[str, str]]:
    """The modules below a folder that have a plan beside them, with it, in the order of their names."""
    for place in sorted(Path(folder).rglob("*")):
        if place.suffix in (".txt", ".hlo") and place.is_file():
            plan = plan_beside(str(place))
            if plan is not None:
                yield str(place), plan


def check_files(module: str, assignment: str, takes: Callable[[str], bool] = lambda _: True) -> FileResults:
    """Check the plan of a module, both given as paths. What cannot be read is a problem of the results."""
    results = FileResults(module, "memory")
    try:
        hlo, plan = (Source(path, "hlo").read() for path in (module, assignment))
        return check_plan(hlo, plan, module, assignment, takes).files[0]
    except BadInput as error:
        results.problems.append(InputProblem(module, str(error), rendered=str(error)))
    except InputError as error:
        results.problems.append(
            InputProblem(error.file or module, error.message, error.line, error.column, error.render())
        )
    return results


def attach_plan(
    module: Module, results: ModuleResults, assignment: BufferAssignment, takes: Callable[[str], bool], how: How = HOW
) -> None:
    """Add what the plan of a module owes to the results of its instructions."""
    own = {(r.computation, r.instruction.name): r for r in results.instructions}
    for r in plan_results(module, assignment, takes, how).instructions:
        known = own.get((r.computation, r.instruction.name))
        if known is not None:
            known.own.extend(r.own)


def plan_results(
    module: Module, assignment: BufferAssignment, takes: Callable[[str], bool] = lambda _: True, how: How = HOW
) -> ModuleResults:
    """What the plan owes, per instruction, in the order of the text."""
    found = by_instruction(judge(module, assignment, takes, how))
    results = ModuleResults(module.name)
    for computation in module.computations:
        for i in computation.instructions:
            own = found.get((computation.name, i.name))
            if own:
                site = Site.of(i)
                results.instructions.append(InstructionResult(computation.name, site, OperationVerdicts(), own))
    return results
