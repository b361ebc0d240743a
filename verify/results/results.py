"""What a check found: verdicts shared by equal operations, per instruction, per file, and their sums."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from hloproof.models.errors import Position
from hloproof.models.hlo.module import Instruction
from hloproof.results.plain import escaped, harmless
from hloproof.results.verdict import ClaimResult, Exit, Found, Verdict

_WORST: tuple[Verdict, ...] = (
    Verdict.INTERNAL,
    Verdict.REFUTED,
    Verdict.VACUOUS,
    Verdict.TRIVIAL,
    Verdict.UNKNOWN,
    Verdict.PROVED,
)
"""From worst to best: what a group is called when its members differ."""


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The worst of them; proved when there is none."""
    present = set(verdicts)
    return next((v for v in _WORST if v in present), Verdict.PROVED)


class OperationVerdicts:
    """The claims of one operation, filled in when they are decided."""

    __slots__ = ("claims",)

    def __init__(self, claims: tuple[Found, ...] = ()) -> None:
        self.claims = claims

    @property
    def complete(self) -> bool:
        return all(c.verdict is Verdict.PROVED for c in self.claims)


@dataclass(frozen=True, slots=True)
class Site:
    """What a report says of an instruction: the rest of it is not kept."""

    name: str
    opcode: str
    position: Position

    @classmethod
    def of(cls, instruction: Instruction) -> Site:
        return cls(instruction.name, instruction.opcode, instruction.position)


@dataclass(slots=True)
class InstructionResult:
    """One instruction with the verdicts of its operation, and those that concern it alone."""

    computation: str
    instruction: Site
    shared: OperationVerdicts
    own: list[Found] = field(default_factory=list)

    def claims(self) -> Sequence[Found]:
        return (*self.shared.claims, *self.own) if self.own else self.shared.claims

    @property
    def complete(self) -> bool:
        return self.shared.complete and all(c.verdict is Verdict.PROVED for c in self.own)


@dataclass
class ModuleResults:
    """One module of a file: its instructions in the order of the text."""

    module: str
    """The name in the header, made unique within the file."""
    instructions: list[InstructionResult] = field(default_factory=list)

    def records(self, file: str, undecided_only: bool = False) -> Iterator[ClaimResult]:
        """One record per instruction and claim. With `undecided_only`, those that are not proved."""
        for r in self.instructions:
            if undecided_only and r.complete:
                continue
            i = r.instruction
            for c in r.claims():
                if undecided_only and c.verdict is Verdict.PROVED:
                    continue
                yield ClaimResult(
                    f"{file}#{self.module}/{r.computation}/{i.name}/{c.claim}",
                    "instruction",
                    file,
                    self.module,
                    i.position.line,
                    i.position.column,
                    i.name,
                    c,
                )


@dataclass(frozen=True)
class InputProblem:
    """A file or a part of it that could not be read. `rendered` has the line and a caret where there is a place."""

    file: str
    message: str
    line: int = 0
    column: int = 0
    rendered: str = ""

    @property
    def said(self) -> str:
        """What is told of it; the name of the file is one line, whatever it holds."""
        text = self.rendered or self.message
        return harmless(text.replace(self.file, escaped(self.file)) if self.file else text)


@dataclass(frozen=True)
class Comment:
    """`hloproof: allow CLAIM because REASON` beside a rule or an instruction, for records at `line` of `file`."""

    file: str
    line: int
    claims: tuple[str, ...]
    justification: str


@dataclass(frozen=True, slots=True)
class ModuleExpectation:
    """What a module of a file is expected to be. `line` is where it says so, from 1."""

    verdict: str
    claims: tuple[str, ...]
    line: int
    asked_for: bool = True
    """All that it speaks of was asked for; where not, that it is not met says nothing."""


@dataclass
class FileResults:
    """One file: modules with instructions, or results of another kind (rules, maps, layouts), or a problem."""

    file: str
    kind: str
    modules: list[ModuleResults] = field(default_factory=list)
    others: list[ClaimResult] = field(default_factory=list)
    problems: list[InputProblem] = field(default_factory=list)
    suppressions: tuple[Comment, ...] = ()
    entries: int = 0
    """How many rules, layouts or maps were read, whichever of them were asked for."""
    expected: dict[str, ModuleExpectation] = field(default_factory=dict)
    """What the file says of its modules, by name."""

    def records(self, undecided_only: bool = False) -> Iterator[ClaimResult]:
        """Every record, in the order of the text."""
        for m in self.modules:
            yield from m.records(self.file, undecided_only)
        for r in self.others:
            if not (undecided_only and r.verdict is Verdict.PROVED):
                yield r

    def counts(self) -> Counter[Verdict]:
        """How many claims got which verdict."""
        out: Counter[Verdict] = Counter(r.verdict for r in self.others)
        times: Counter[OperationVerdicts] = Counter()
        for m in self.modules:
            for i in m.instructions:
                times[i.shared] += 1
                for c in i.own:
                    out[c.verdict] += 1
        for shared, n in times.items():
            for c in shared.claims:
                out[c.verdict] += n
        return out

    @property
    def instructions(self) -> int:
        return sum(len(m.instructions) for m in self.modules)


@dataclass
class OpcodeCounts:
    """Instructions of one opcode, and how many of them have all their owed claims proved."""

    instructions: int = 0
    complete: int = 0


@dataclass
class Report:
    """All files of a check, in the order given."""

    files: list[FileResults]
    interrupted: bool = False
    passed_over: list[str] = field(default_factory=list)
    """What lies in the folders, is no input, and is not known to be none."""
    stages: dict[str, tuple[int, float]] = field(default_factory=dict)
    """Per engine stage: obligations it decided, and milliseconds."""
    times: dict[str, float] = field(default_factory=dict)
    """Per stage of this process, its seconds without the stages inside of it; workers run beside `waiting`."""

    def records(self, undecided_only: bool = False) -> Iterator[ClaimResult]:
        for f in self.files:
            yield from f.records(undecided_only)

    def counts(self) -> Counter[Verdict]:
        return sum((f.counts() for f in self.files), Counter())

    def per_opcode(self) -> dict[str, OpcodeCounts]:
        """Completeness by opcode, opcodes in alphabetical order."""
        out: dict[str, OpcodeCounts] = {}
        for f in self.files:
            for m in f.modules:
                for i in m.instructions:
                    entry = out.get(i.instruction.opcode)
                    if entry is None:
                        entry = out[i.instruction.opcode] = OpcodeCounts()
                    entry.instructions += 1
                    entry.complete += i.complete
        return dict(sorted(out.items()))

    @property
    def problems(self) -> list[InputProblem]:
        return [p for f in self.files for p in f.problems]

    @property
    def verdict(self) -> Verdict:
        """Refuted if anything is; else unknown if anything is, could not be read, or was left when somebody
        interrupted; else proved. Nothing owed is proved."""
        unfinished = bool(self.problems) or self.interrupted
        return worst([*self.counts(), *([Verdict.UNKNOWN] if unfinished else [])])

    def exit_status(self) -> Exit:
        return exit_status(self.counts(), bool(self.problems), self.interrupted)


def exit_status(verdicts: Iterable[Verdict], bad_input: bool = False, interrupted: bool = False) -> Exit:
    """The status that wins when several apply: interrupted, internal, bad input, refuted, unknown, proved. Every
    command that judges ends with it."""
    verdicts = set(verdicts)
    if interrupted:
        return Exit.INTERRUPTED
    if Verdict.INTERNAL in verdicts:
        return Exit.INTERNAL
    if bad_input:
        return Exit.BAD_INPUT
    if verdicts & {Verdict.REFUTED, Verdict.VACUOUS, Verdict.TRIVIAL}:
        return Exit.REFUTED
    if Verdict.UNKNOWN in verdicts:
        return Exit.UNKNOWN
    return Exit.OK
