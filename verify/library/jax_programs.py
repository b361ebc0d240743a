"""Programs written in JAX: checked and validated from the function on, with findings at lines of Python.

`hloproof.jax` hands on what stands here.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from hloproof.equivalence.answer import Tier
from hloproof.library.checking import Checked
from hloproof.library.checking import check as check_source
from hloproof.models.errors import InputError
from hloproof.models.hlo.source_lines import SourceLine, SourceLines
from hloproof.pipeline.folders import told
from hloproof.pipeline.memory_plans import check_files, plans_in
from hloproof.pipeline.options import Options
from hloproof.pipeline.pass_dumps import DUMP_FLAGS, environment_with_dumps, find_dumps
from hloproof.pipeline.passes import Compilation, JudgedChange, PassOptions
from hloproof.pipeline.passes import validate as validate_passes
from hloproof.results.errors import BadInput
from hloproof.results.results import FileResults, worst
from hloproof.results.verdict import Verdict

HOW_TO_GET_JAX: Final = "JAX is not installed in this Python; `pip install jax`, or `pip install 'hloproof[xla]'`"


@dataclass(frozen=True)
class Located:
    """What was found about a pass, or about a claim on the memory plan, and the Python line that it is about.

    `source` is None where the compiler's text names none.
    """

    what: str
    verdict: Verdict
    why: str
    instruction: str = ""
    source: SourceLine | None = None

    def __str__(self) -> str:
        place = f"{self.source}: " if self.source else ""
        of = f" at %{self.instruction}" if self.instruction else ""
        return f"{place}{self.verdict}: {self.what}{of}: {self.why}"


@dataclass(frozen=True, repr=False)
class Validated:
    """A compilation, pass by pass, and its memory plans; `findings` has what is not proved.

    `note` tells where the program was compiled when that is not a process of its own, and what was passed over.
    """

    passes: Compilation
    plans: tuple[FileResults, ...]
    findings: tuple[Located, ...]
    note: str = ""

    @property
    def verdict(self) -> Verdict:
        """The worst of all."""
        return worst([f.verdict for f in self.findings])

    def __bool__(self) -> bool:
        """True where every pass, the compilation as a whole, and every memory plan is proved."""
        return not self.findings

    def __repr__(self) -> str:
        return f"<Validated: {str(self).splitlines()[0]}>"

    def __str__(self) -> str:
        changes = sum(not j.whole for j in self.passes.judged)
        claims = sum(plan.counts().total() for plan in self.plans)
        head = f"{self.verdict}: {changes} passes changed something, {claims} claims about memory plans"
        return "\n".join((head, *([self.note] if self.note else []), *map(str, self.findings)))

    def _repr_html_(self) -> str:
        head = "<tr><th>verdict</th><th>what</th><th>line</th><th>why</th></tr>"
        rows = "".join(
            f"<tr><td>{escape(f.verdict)}</td><td>{escape(f.what)}</td><td>{escape(str(f.source or ''))}</td>"
            f"<td>{escape(f.why)}</td></tr>"
            for f in self.findings
        )
        return f"<p>{escape(str(self).splitlines()[0])}</p>" + (f"<table>{head}{rows}</table>" if rows else "")


def check(f: Any, *args: Any, options: Options | None = None, **kwargs: Any) -> Checked:
    """Check the compiled program of a function: every claim about its module, each with the Python line it is about.

    `f` is a function, a jitted one, or what `lower` or `compile` gave (then without arguments). Raises ImportError
    where JAX is needed and missing.

    >>> class Compiled:  # stands for jax.jit(f).lower(x).compile()
    ...     def as_text(self):
    ...         return "ROOT r = f32[8,4] transpose(f32[4,8] p), dimensions={1,0}"
    >>> bool(check(Compiled()))
    True
    """
    lowered = _lowered(f, args, kwargs)
    return check_source(lowered.compile() if hasattr(lowered, "compile") else lowered, options)


def validate(
    f: Any, *args: Any, tier: Tier = "rounding", budget_seconds: float = 10.0, jobs: int = 1, **kwargs: Any
) -> Validated:
    """Compile a function, and prove or refute that every pass kept what it computes, and that its memory plan holds.

    The compiler runs in a process of its own with its dumps turned on and the settings of JAX that are made here. Where
    that process cannot compile the program (a device that only this one has), or not as it is compiled (`jit` is given
    `compiler_options`), it is compiled here, and `note` says so. `tier` and `budget_seconds`, for each
    pass, are those of `hloproof passes`; more `jobs` than one are processes that are forked, which JAX may not
    survive. Raises ImportError without JAX, BadInput where the compiler fails.
    """
    lowered = _lowered(f, args, kwargs)
    with TemporaryDirectory(prefix="hloproof-") as folder:
        dumps = Path(folder) / "dumps"
        note = _compile(lowered, Path(folder) / "module.mlir", dumps)
        return validate_dumps(dumps, tier=tier, budget_seconds=budget_seconds, jobs=jobs, note=note)


def validate_dumps(
    folder: str | Path, *, tier: Tier = "rounding", budget_seconds: float = 10.0, jobs: int = 1, note: str = ""
) -> Validated:
    """As `validate`, of the dumps of a compilation that lie in a folder already. Raises BadInput where there are none.

    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "m.before_optimizations.txt").write_text("ROOT r = s32[4] add(s32[4] p, s32[4] p)")
    ...     _ = Path(folder, "m.after_optimizations.txt").write_text("ROOT r = s32[4] multiply(s32[4] p, s32[4] p)")
    ...     print(validate_dumps(folder).verdict)
    refuted
    """
    folder = Path(folder)
    others: list[str] = []
    found = validate_passes(find_dumps(folder, others), PassOptions(tier, budget_seconds, jobs))
    plans = tuple(check_files(*pair) for pair in plans_in(str(folder)))
    findings = [*filter(None, map(_of_pass, found.judged))]
    findings += [located for plan in plans for located in _of_plan(plan)]
    return Validated(found, plans, tuple(findings), "\n".join(filter(None, (note, told(others) if others else ""))))


def _lowered(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What JAX makes of a function and its arguments before the compiler; what is lowered or compiled as it is."""
    if hasattr(f, "as_text"):
        if args or kwargs:
            raise InputError("what is lowered already takes no arguments", 1, 1)
        return f
    try:
        import jax
    except ImportError as error:
        raise ImportError(HOW_TO_GET_JAX) from error
    jitted = f if hasattr(f, "lower") else jax.jit(f)
    return jitted.lower(*args, **kwargs)


def _compile(lowered: Any, module: Path, dumps: Path) -> str:
    """Compiles with dumps. The note that is owed to the reader; raises BadInput where the compiler crashes."""
    if not hasattr(lowered, "compile"):
        raise InputError("the passes of a compiled program are gone; give the function, or what it is lowered to", 1, 1)
    try:
        import jax
    except ImportError as error:
        raise ImportError(HOW_TO_GET_JAX) from error
    environment = {**environment_with_dumps(dumps), **_settings(jax.config.values)}
    # What `jit` was given beside the function is in no text; a JAX that does not say what it was given compiles here.
    own = getattr(getattr(lowered, "_lowering", None), "_compiler_options_kvs", None)
    if own == ():
        module.write_text(lowered.as_text(debug_info=True), encoding="utf-8")
        child = [sys.executable, str(Path(__file__).with_name("compile_child.py")), str(module), jax.default_backend()]
        ended = subprocess.run(child, env=environment, capture_output=True, text=True, check=False)
        if ended.returncode < 0:
            raise BadInput(f"the compiler was ended by signal {-ended.returncode}: {_last_line(ended.stderr)}")
        if not ended.returncode:
            return ""
        why = f"as one of its own could not: {_last_line(ended.stderr)}"
    else:
        why = "for which it has compiler_options"
    lowered.compile(compiler_options={"xla_dump_to": str(dumps), **DUMP_FLAGS})
    return f"compiled in this process, {why}"


_SETTINGS: Final = (
    *("jax_use_shardy_partitioner", "jax_exec_time_optimization_effort", "jax_memory_fitting_effort"),
    *("jax_optimization_level", "jax_memory_fitting_level", "jax_disable_most_optimizations"),
    *("jax_compiler_enable_remat_pass", "jax_xla_profile_version"),
)
"""What JAX reads when it tells the compiler how to compile, and stands in no text."""


def _settings(values: Mapping[str, Any]) -> dict[str, str]:
    """The environment in which these settings are those of a new process."""
    return {name.upper(): str(values[name]) for name in _SETTINGS if values.get(name) is not None}


def _last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "no message")


def _of_pass(j: JudgedChange) -> Located | None:
    """What is to be told of a pass, at the line of the first of the two instructions that names one."""
    if j.verdict == Verdict.PROVED:
        return None
    said = j.answer.get("counterexample") or j.answer.get("mismatch") or {}
    places = said.get("instructions") or (None, None)
    source, name = None, ""
    for place, dump in zip(places, (j.change.before, j.change.after), strict=True):
        if place is not None:
            name = name or place["instruction"]
            source = source or _nearest(dump.path, place["computation"], place["instruction"])
    what = (
        "the whole compilation" if j.whole else f"pass {j.change.name} of {j.change.after.pipeline or 'the compiler'}"
    )
    return Located(what, Verdict(j.verdict), str(j.answer["reason"]), name, source)


def _of_plan(plan: FileResults) -> Iterator[Located]:
    for problem in plan.problems:
        yield Located("memory plan", Verdict.UNKNOWN, problem.rendered or problem.message)
    for r in plan.records(undecided_only=True):
        computation = r.id.split("/")[-3]
        source = _nearest(Path(r.file), computation, r.instruction)
        yield Located(f"memory plan, {r.claim}", r.verdict, r.counterexample or r.reason or "", r.instruction, source)


def _nearest(path: Path, computation: str, instruction: str) -> SourceLine | None:
    lines = _lines_of(path)
    return None if lines is None else lines.nearest(computation, instruction)


@lru_cache(maxsize=4)
def _lines_of(path: Path) -> SourceLines | None:
    from hloproof.models.hlo.parser import parse_modules
    from hloproof.pipeline.sources import Source

    try:
        return SourceLines(parse_modules(Source(str(path), "hlo").read(), str(path))[0])
    except (InputError, BadInput, IndexError):
        return None
