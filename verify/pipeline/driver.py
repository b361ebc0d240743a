"""A check from files to a report: read, gather what is owed, prove, put together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, Final

from hloproof.logic.obligation import Outcome
from hloproof.models.errors import InputError
from hloproof.models.hlo.module import Module, Operation
from hloproof.models.line_ends import with_line_ends
from hloproof.models.stages import OutOfTime, checkpoint, inside, running, seconds_left, stage
from hloproof.pipeline.engine_run import Stages, batch_engine, how_of, warm_engine
from hloproof.pipeline.entry_count import check_count
from hloproof.pipeline.file_cache import FileCache
from hloproof.pipeline.folders import find_sources
from hloproof.pipeline.items import ITEM_KINDS, Item, judge_items, undecided, unreadable
from hloproof.pipeline.memory_plans import plan_beside, takes_a_plan
from hloproof.pipeline.options import Options
from hloproof.pipeline.prover import Progress, Prover
from hloproof.pipeline.sources import Source
from hloproof.processes.alarm import at_most
from hloproof.results.errors import BadInput
from hloproof.results.expectation import expects, met_error, sections, settle
from hloproof.results.results import FileResults, InputProblem, ModuleExpectation, OperationVerdicts, Report
from hloproof.results.suppressions import BadSuppression, suppressions
from hloproof.results.verdict import ClaimResult, Verdict

STATING_SHARE: Final = 0.6
"""The part of the total time that may go before the engines are asked, so that some of what was stated is proved."""


def check(paths: str | Iterable[str], options: Options | None = None, progress: Progress | None = None) -> Report:
    """Check files and folders (or one): HLO modules, rewrite rules, indexing maps, layouts, told apart by suffix.

    Raises BadInput when a path cannot be an input at all (missing, unknown suffix, an empty folder). A file that cannot
    be read or parsed is a problem in the report, and the others are still checked. On Ctrl-C the report says what is
    known so far and is marked as interrupted.
    """
    options = options or Options()
    others: list[str] = []
    report = check_sources(_named([paths] if isinstance(paths, str) else paths, options, others), options, progress)
    report.passed_over += others
    return report


def _named(paths: Iterable[str], options: Options, others: list[str]) -> Iterator[Source]:
    """The sources, looked for when the first is asked for, and what is passed over."""
    with stage("finding files"):
        found = find_sources(paths, options.kind, options.include, options.exclude, others)
    yield from found


def check_sources(sources: Iterable[Source], options: Options, progress: Progress | None = None) -> Report:
    """Check files whose kinds are known."""
    with running(inside(options.total_seconds)) as time:
        with stage("loading"):
            run = _Check(options, progress)
        report = Report([], stages=run.stages, times=time.seconds)
        missing = "not tried"
        try:
            with stage("reading", STATING_SHARE):
                for source in sources:
                    run.tell(0, 0, f"reading {source.name}")
                    report.files.append(run.file(source.name, source.kind, source.read))
            all_named_found(report, options)
            with stage("judging items"):
                run.judge_items()
            with stage("waiting for engines"):
                run.prover.prove(batch_engine(options, run.stages), progress, options.fail_fast)
            missing = "not tried: the check ended at the first refutation (--fail-fast)"
        except KeyboardInterrupt:
            report.interrupted = True
            missing = "not tried: interrupted"
        with stage("putting together"):
            run.prover.settle(missing)
            for results in report.files:
                settle(results)
            run.keep(time.ended)
    if run.kept:
        report.stages["cache"] = (run.kept, 0.0)
    return report


PlanText = tuple[str, str]
"""The path of a memory plan, and its text."""


def plan_of(name: str, kind: str) -> PlanText | None:
    """The plan that lies beside a file of a module; None where there is none. Raises BadInput where it cannot be
    read."""
    path = plan_beside(name) if kind == "hlo" else None
    return None if path is None else (path, Source(path, "hlo").read())


def check_text(
    name: str,
    kind: str,
    text: str,
    options: Options,
    here: bool = False,
    progress: Progress | None = None,
    plan: Callable[[str, str], PlanText | None] = plan_of,
) -> FileResults:
    """Check one file whose text is at hand; for workers elsewhere. `here`: items are judged in this process. `plan`
    says which plan belongs to it: default, the one that lies beside."""
    with running(inside(options.total_seconds)):
        run = _Check(options, progress)
        with stage("reading", STATING_SHARE):
            report = Report([run.file(name, kind, lambda: text, plan)])
        run.judge_items(here)
        run.prover.prove(batch_engine(options, run.stages))
        run.prover.settle("not tried")
    settle(report.files[0])
    return report.files[0]


def check_hlo(
    text: str,
    options: Options,
    known: dict[str, Outcome] | None = None,
    judged: dict[Operation, OperationVerdicts] | None = None,
    progress: Progress | None = None,
) -> Report:
    """Check HLO text in this process, held against what it expects of itself as a file is. `known` keeps what was
    proved from call to call, `judged` the verdicts on operations: between calls with the same options only.

    Raises InputError when the text is wrong, BadInput for an expectation that is none and for an instruction that is
    not there, OutOfTime when it cannot be read in time.
    """
    with running(inside(options.total_seconds)) as time:
        run = _Check(options, progress)
        if judged is not None:
            run.instructions.judged = judged
        results = FileResults("", "hlo")
        with stage("reading", STATING_SHARE):
            run.text(results, text)
        report = Report([results])
        all_named_found(report, options)
        run.prover.prove(warm_engine(options, {} if known is None else known), progress)
        run.prover.settle("not tried")
        settle(results)
        if judged is not None and not time.ended:
            judged.update(run.instructions.fresh)
    return report


def all_named_found(report: Report, options: Options) -> None:
    """Raise BadInput where an instruction that was asked for is in no module."""
    names = options.selection.instructions
    if names and not report.problems:
        found = {r.instruction.name for f in report.files for m in f.modules for r in m.instructions}
        for name in names:
            if name not in found:
                raise BadInput(f"no instruction {name!r} in any module")


def problem_of(name: str, error: InputError) -> InputProblem:
    """What a report says of text that cannot be read."""
    return InputProblem(name, error.message, error.line, error.column, error.render())


def _modules(results: FileResults, text: str) -> list[Module]:
    """The modules that can be read; of the others it is noted why not."""
    from hloproof.models.hlo.parser import each_module

    modules: list[Module] = []
    for found in each_module(text, results.file):
        if isinstance(found, InputError):
            results.problems.append(problem_of(results.file, found))
        else:
            modules.append(found)
    return modules


@dataclass
class _Check:
    """The state of one check."""

    options: Options
    progress: Progress | None = None

    def tell(self, done: int, total: int, what: str) -> None:
        """Show what is going on; a total of 0 is one that is not known."""
        if self.progress is not None:
            self.progress(done, total, what)

    def __post_init__(self) -> None:
        from hloproof.pipeline.instruction_claims import InstructionClaims

        self.items: list[tuple[FileResults, Item]] = []
        self._cache = FileCache(self.options)
        self.kept = 0
        self._keys: dict[bytes, FileResults] = {}
        self._lines: list[int] = []
        """Where the file that is read has what records can be about, whatever of it was asked for."""
        self.prover = Prover(self.options.selection, self.options.cross)
        self.stages: Stages = {}
        self.how = how_of(self.options, self.stages)
        self.instructions = InstructionClaims(self.prover, self.options, self.how, self.tell)

    def file(
        self, name: str, kind: str, read: Callable[[], str], plan_for: Callable[[str, str], PlanText | None] = plan_of
    ) -> FileResults:
        results = FileResults(name, kind)
        self._lines.clear()
        try:
            text, plan = with_line_ends(read()), plan_for(name, kind)
            key = self._cache.key(name, text, plan) if kind == "hlo" else b""
            kept = self._cache.get(key, results) if key else None
            if kept is not None:
                self.kept += kept.counts().total()
                return kept
            self._read(results, text)
            if plan is not None and not results.problems:
                self._plan(results, text, *plan)
            if key and not results.problems:
                self._keys[key] = results
            results.suppressions = tuple(suppressions(text, name, self._lines))
        except BadSuppression as error:
            results.problems.append(InputProblem(name, error.message, error.line, 1, f"{name}:{error.line}: {error}"))
        except BadInput as error:
            results.problems.append(InputProblem(name, str(error), rendered=str(error)))
        except InputError as error:
            results.problems.append(problem_of(name, error))
        except OutOfTime as error:
            results.others.append(unreadable(name, str(error), Verdict.UNKNOWN))
        except Exception as error:  # one file must not take the others with it; this one ends with status 4
            results.others.append(unreadable(name, f"{type(error).__name__}: {error}", Verdict.INTERNAL))
        return results

    def _plan(self, results: FileResults, text: str, file: str, plan: str) -> None:
        """Add what the memory plan beside a module owes."""
        from hloproof.models.hlo.parser import parse_modules
        from hloproof.models.memory.assignment import parse_assignment
        from hloproof.pipeline.memory_plans import attach_plan

        takes = self.options.selection.takes_claim
        if not takes_a_plan(takes):
            return
        modules = parse_modules(text, results.file)
        if len(modules) != 1:
            told = f"{file} is the plan of one module, and lies beside {len(modules)}: it is not judged"
            results.others.append(unreadable(results.file, told, Verdict.UNKNOWN))
            return
        try:
            attach_plan(modules[0], results.modules[0], parse_assignment(plan, file), takes, self.how)
        except InputError as error:
            results.problems.append(problem_of(file, error))

    def keep(self, ended: bool) -> None:
        """Keep the results of whole files for the next run; none where something was given up for want of time."""
        for key, results in self._keys.items() if not ended else ():
            self._cache.put(key, results)
        self._cache.close()

    def text(self, results: FileResults, text: str) -> None:
        """Read HLO text that is no file: what is wrong with it is raised as InputError."""
        from hloproof.models.hlo.parser import parse_modules

        text = with_line_ends(text)
        if not expects(text):
            self.modules(results, parse_modules(text))
            return
        self._expecting(results, text)
        for problem in results.problems:
            line = text.split("\n")[problem.line - 1 : problem.line]
            raise InputError(problem.message, problem.line, problem.column, *line)

    def _read(self, results: FileResults, text: str) -> None:
        match results.kind:
            case "hlo" if expects(text):
                self._expecting(results, text)
            case "hlo":
                modules = _modules(results, text)
                if not results.problems:
                    check_count("hlo", text, len(modules), results.file)
                self.modules(results, modules)
            case other:
                kind = ITEM_KINDS[other]
                with _in_time():
                    items = kind.parse(text, results.file)
                    check_count(other, text, len(items), results.file)
                if not items:
                    raise InputError("there is no entry in this file", 1, 1, file=results.file)
                results.entries = len(items)
                self._lines += [line for item in items for line in _lines_of(other, item)]
                if self.options.selection.takes_claim(kind.claim):
                    self.items += [(results, Item(other, results.file, item)) for item in items]

    def judge_items(self, here: bool = False) -> None:
        """Judge what the files list, each file's records in the order of its text."""
        found: dict[int, ClaimResult] = {}
        items = [item for _, item in self.items]
        try:
            judge_items(items, self.options, self.stages, found.__setitem__, self.progress, here)
        finally:
            for number, (results, item) in enumerate(self.items):
                results.others.append(found.get(number) or undecided(item, "not tried: interrupted"))

    def _expecting(self, results: FileResults, text: str) -> None:
        """A file that says of its modules what they should be found to be."""
        for part, expectation in sections(text, results.file):
            if expectation is not None:
                _require_known(expectation, results.file)
            known = len(results.problems)
            modules = _modules(results, part)
            if len(results.problems) > known and expectation is not None and expectation.verdict == "error":
                results.others.append(met_error(results.file, expectation, results.problems[known]))
                del results.problems[known:]
                continue
            first = len(results.modules)
            self.modules(results, modules)
            if expectation is not None:
                asked_for = self.options.selection.takes_all(expectation.claims)
                about = replace(expectation, asked_for=asked_for)
                results.expected |= {m.module: about for m in results.modules[first:]}
        if not results.problems:
            check_count("hlo", text, len(results.modules) + len(results.others), results.file)

    def modules(self, results: FileResults, modules: Iterable[Module]) -> None:
        seen = Counter(m.module.partition("@")[0] for m in results.modules)
        for module in modules:
            seen[module.name] += 1
            self._lines += [i.position.line for c in module.computations for i in c.instructions]
            label = module.name if seen[module.name] == 1 else f"{module.name}@{seen[module.name]}"
            with stage("gathering"):
                results.modules.append(self.instructions.module(module, label))


def _require_known(expectation: ModuleExpectation, file: str) -> None:
    """What an expectation names are claims or families. Raises BadInput: nothing would be held against a slip of the
    pen, and all of nothing holds."""
    from hloproof.claims.catalogue import unknown_name

    for name in expectation.claims:
        if sentence := unknown_name(name):
            raise BadInput(f"{file}:{expectation.line}: {sentence}")


def _lines_of(kind: str, item: Any) -> Iterator[int]:
    """Where an entry begins, and the clauses of a claim about maps, which are told at their own places."""
    yield item.line
    if kind == "map":
        places = (*item.equal_positions, *(c.position for c in item.claimed), item.after_position)
        yield from (place.line for place in places if place is not None)


def _in_time() -> AbstractContextManager[None]:
    """What is done inside ends with the time of the stage. For the parsers of specs, which do not look at the clock and
    keep nothing that an interruption could leave half done."""

    def late() -> OutOfTime:
        try:
            checkpoint()
        except OutOfTime as error:
            return error
        return OutOfTime("the total time ran out")

    left = seconds_left()
    return nullcontext() if left is None else at_most(left + 0.01, late)
