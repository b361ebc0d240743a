"""Memory plans checked: the texts of a module and of its plan, to a report like that of any other check.

A dump of the compiler (`--xla_dump_to=DIR --xla_dump_hlo_as_text`) has the plan of `X.txt` in
`X-buffer-assignment.txt`; beside a `module.hlo` it may stand as `assignment.txt`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from hloproof.claims.asynchronous.judgement import by_instruction
from hloproof.engines.door import HOW, How
from hloproof.memory.judge import CLAIMS, judge
from hloproof.models.errors import InputError
from hloproof.models.hlo.module import Module
from hloproof.models.memory.assignment import BufferAssignment, parse_assignment
from hloproof.models.stages import OutOfTime, Run, running
from hloproof.pipeline.folders import PLAN, entries, plan_of_module
from hloproof.pipeline.items import unreadable
from hloproof.pipeline.options import Selection
from hloproof.pipeline.sources import Source, module_name, suffix_of, without_packing
from hloproof.processes.alarm import at_most
from hloproof.processes.pool import work_on
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
from hloproof.results.verdict import Verdict


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
    found = plan_of_module(place.with_name(module_name(place)))
    return None if found is None else str(found)


def takes_a_plan(takes: Callable[[str], bool]) -> bool:
    """Some claim about plans is wanted."""
    return any(map(takes, CLAIMS))


def plans_in(folder: str, others: list[str] | None = None) -> Iterator[tuple[str, str]]:
    """The modules below a folder that have a plan beside them, with it, in the order of their names: as text where they
    are both text and protocol buffer. A plan whose module is not there comes with the name that its text would have.
    What is passed over, without being known to be no input, is added to `others`."""
    inside = entries(Path(folder))
    known: set[str] = set()
    for suffixes in ((".txt", ".hlo"), (".pb",)):
        for e in inside:
            if suffix_of(e.place) in suffixes:
                plan = plan_beside(str(e.place))
                if plan is not None and plan not in known:
                    known.add(plan)
                    yield str(e.place), plan
    rest = [e.place for e in inside if e.use == "plan" and str(e.place) not in known]
    for place in rest:
        plain = str(place.with_name(without_packing(place.name)))
        if plain.lower().endswith(PLAN):
            yield f"{plain[: -len(PLAN)]}.txt", str(place)
        elif others is not None:  # what begins as a plan does, and has another name
            others.append(place.as_posix())
    if others is not None:
        others += [e.place.as_posix() for e in inside if e.use == "other"]


def check_files(
    module: str, assignment: str, takes: Callable[[str], bool] = lambda _: True, how: How = HOW
) -> FileResults:
    """Check the plan of a module, both given as paths. What cannot be read is a problem of the results."""
    results = FileResults(module, "memory")
    try:
        hlo, plan = (Source(path, "hlo").read() for path in (module, assignment))
        return check_plan(hlo, plan, module, assignment, takes, how).files[0]
    except BadInput as error:
        results.problems.append(InputProblem(module, str(error), rendered=str(error)))
    except InputError as error:
        results.problems.append(
            InputProblem(error.file or module, error.message, error.line, error.column, error.render())
        )
    return results


@dataclass(frozen=True)
class Plans:
    """What a worker is told that checks plans: how long one may take, and which claims are asked for."""

    budget: float
    selection: Selection
    cross: bool = False
    """Two engines must agree, and a run with memory."""
    megabytes: int = 4096

    @property
    def seconds(self) -> float:
        return 1.5 * self.budget + 5

    @property
    def late(self) -> str:
        return f"no answer within {self.seconds:g} seconds (--budget {self.budget:g})"

    def begin(self) -> Callable[[tuple[str, str]], FileResults]:
        return self.checked

    def checked(self, pair: tuple[str, str]) -> FileResults:
        """The results for one module and its plan; unknown where the budget ran out."""

        def over() -> OutOfTime:
            return OutOfTime(f"the total time ran out (--budget {self.budget:g})")

        try:
            with running(Run(self.budget, limit="--budget")), at_most(self.budget, over):
                return check_files(*pair, self.selection.takes_claim, How(cross=self.cross))
        except OutOfTime as error:
            return self.lost(pair, str(error))

    def lost(self, asked: tuple[str, str], reason: str) -> FileResults:
        return FileResults(asked[0], "memory", others=[unreadable(asked[0], reason, Verdict.UNKNOWN)])

    def failed(self, asked: tuple[str, str], error: Exception) -> FileResults:
        said = f"{type(error).__name__}: {error}"
        return FileResults(asked[0], "memory", others=[unreadable(asked[0], said, Verdict.INTERNAL)])


def check_plans(pairs: Sequence[tuple[str, str]], plans: Plans, jobs: int) -> Report:
    """Check the plans of modules, given as paths: a few in this process, many in processes of their own.
    KeyboardInterrupt ends it, and what is known by then is told."""
    report = Report([])
    found: dict[int, FileResults] = {}
    workers = min(jobs or os.cpu_count() or 1, len(pairs) // 8)
    try:
        if workers < 2:
            for n, pair in enumerate(pairs):
                found[n] = plans.checked(pair)
        else:
            work_on(pairs, workers, plans, found.__setitem__, ahead=2)
    except KeyboardInterrupt:
        report.interrupted = True
    report.files += [found.get(n) or plans.lost(pair, "not tried: interrupted") for n, pair in enumerate(pairs)]
    return report


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
