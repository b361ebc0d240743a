"""Two modules compared, and a compiler's memory plan judged."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hloproof.library.checking import Checked
from hloproof.library.reading import is_text, parse, text_of
from hloproof.models.errors import InputError
from hloproof.results.verdict import Verdict

if TYPE_CHECKING:
    from hloproof.equivalence.answer import Tier
    from hloproof.memory.plan import Plan
    from hloproof.queries.equivalence import Answer


@dataclass(frozen=True, repr=False)
class Equivalence:
    """What is said about two modules: proved with the identities that it rests on, refuted with inputs, or unknown."""

    verdict: Verdict
    reason: str
    axioms: tuple[tuple[str, str], ...]
    """The identities beyond movement that the proof uses, each with its tier: exact, real or rounding."""
    inputs: list[Any] | None
    """Refuting inputs, one value per parameter, as `hloproof run --inputs` reads them."""
    answer: Answer

    @property
    def tier(self) -> str | None:
        """The weakest tier that the proof uses; None where there is no proof."""
        tiers = ("exact", "real", "rounding")
        return tiers[max((tiers.index(t) for _, t in self.axioms), default=0)] if self else None

    def __bool__(self) -> bool:
        """True where it is proved."""
        return self.verdict is Verdict.PROVED

    def __str__(self) -> str:
        from hloproof.report.equivalence import text_lines

        return "\n".join(text_lines(self.answer, "before", "after"))

    def __repr__(self) -> str:
        return f"<Equivalence: {str(self).splitlines()[0]}>"

    def _repr_html_(self) -> str:
        head, *rest = str(self).splitlines()
        return f"<b>{escape(head)}</b>" + (f"<pre>{escape(chr(10).join(rest))}</pre>" if rest else "")


@dataclass(frozen=True, repr=False)
class MemoryPlan:
    """A memory plan, judged; in a notebook it draws itself, conflicts in red."""

    checked: Checked
    plan: Plan

    @property
    def verdict(self) -> Verdict:
        return self.checked.verdict

    def __bool__(self) -> bool:
        """True where every claim is proved."""
        return bool(self.checked)

    def __str__(self) -> str:
        return str(self.checked)

    def __repr__(self) -> str:
        return f"<MemoryPlan: {str(self).splitlines()[0]}>"

    def _repr_svg_(self) -> str | None:
        """The allocation with a conflict, else the one with the most values; None where it cannot be drawn."""
        from hloproof.models.errors import NotModelled
        from hloproof.report.memory_svg import chunks

        try:
            return "".join(chunks(self.plan))
        except (LookupError, NotModelled):
            return None


def equivalent(before: object, after: object, *, tier: Tier = "rounding", budget_seconds: float = 10.0) -> Equivalence:
    """Whether two modules compute the same for all inputs. Sources are those of `parse`.

    `tier` is the weakest identity that a proof may use: exact (bit for bit), real (over the reals) or rounding. Raises
    InputError for what is no module, and for modules whose parameters or results do not fit each other.

    >>> twice = equivalent("ROOT r = s32[4] add(s32[4] p, s32[4] p)", "ROOT r = s32[4] multiply(s32[4] p, s32[4] p)")
    >>> twice.verdict
    <Verdict.REFUTED: 'refuted'>
    >>> equivalent(
    ...     "ROOT r = f32[4,2] transpose(f32[2,4] p), dimensions={1,0}",
    ...     "ROOT r = f32[4,2] transpose(f32[2,4] q), dimensions={1,0}",
    ... ).tier
    'exact'
    """
    from hloproof.queries.equivalence import compare, tier_named

    answer = compare(parse(before), parse(after), tier_named(tier), budget_seconds)
    refutation = answer.refutation
    inputs = None if refutation is None else refutation.inputs
    return Equivalence(answer.verdict, answer.reason, answer.axioms, inputs, answer)


def memory_plan(module: object, assignment: object = None) -> MemoryPlan:
    """Judge the memory plan of a compiled module: both as text or paths; the plan that lies beside a path is found.

    Raises InputError for what is no scheduled module or no plan, OSError for a file that cannot be read.

    >>> module = '''HloModule m, is_scheduled=true, entry_computation_layout={(f32[4]{0})->f32[4]{0}}
    ... ENTRY e {
    ...   a = f32[4]{0} parameter(0)
    ...   ROOT r = f32[4]{0} negate(a)
    ... }'''
    >>> plan = '''BufferAssignment:
    ... allocation 0: size 16, parameter 0, shape |f32[4]| at ShapeIndex {}:
    ...  value: <0 a @0> (size=16,offset=0): f32[4]{0}
    ... allocation 1: size 16, output shape is |f32[4]|, maybe-live-out:
    ...  value: <1 r @0> (size=16,offset=0): f32[4]{0}
    ... '''
    >>> memory_plan(module, plan).verdict
    <Verdict.PROVED: 'proved'>
    """
    from hloproof.memory.plan import Plan
    from hloproof.models.memory.assignment import parse_assignment
    from hloproof.pipeline.memory_plans import check_plan, plan_beside

    if assignment is None:
        path = fspath(module) if isinstance(module, str | PathLike) and not _is_module_text(module) else ""
        assignment = path and plan_beside(path)
        if not assignment:
            raise InputError("no memory plan was given, and none lies beside the module", 1, 1, file=path)
    hlo, name = text_of(module)
    if isinstance(assignment, str) and "\n" in assignment:
        plan, plan_name = assignment, ""
    else:
        plan, plan_name = text_of(Path(str(assignment)))
    report = check_plan(hlo, plan, name, plan_name)
    return MemoryPlan(Checked(report, hlo), Plan(parse(hlo), parse_assignment(plan, plan_name)))


def _is_module_text(source: object) -> bool:
    return isinstance(source, str) and is_text(source)
