"""Checks of what users have: files and folders, text, and programs that JAX compiles."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from os import PathLike, fspath
from os.path import exists

from hloproof.library.reading import is_text, text_of
from hloproof.pipeline.options import Options
from hloproof.results.results import Report
from hloproof.results.verdict import ClaimResult, Verdict


@dataclass(frozen=True)
class Checked:
    """What a check found. `report` has every claim; `findings` those that are not proved."""

    report: Report

    @property
    def verdict(self) -> Verdict:
        """The worst of all."""
        return self.report.verdict

    @property
    def findings(self) -> tuple[ClaimResult, ...]:
        return tuple(self.report.records(undecided_only=True))

    @property
    def problems(self) -> tuple[str, ...]:
        """Files that could not be read: file, line, column, what was expected."""
        return tuple(p.rendered or p.message for p in self.report.problems)

    def exit_status(self) -> int:
        """What `hloproof check` would end with."""
        return int(self.report.exit_status())

    def __bool__(self) -> bool:
        """True where everything is proved and everything could be read."""
        return not self.problems and self.verdict is Verdict.PROVED

    def __str__(self) -> str:
        counts = self.report.counts()
        numbers = ", ".join(f"{counts[v]} {v}" for v in Verdict if counts[v]) or "nothing is claimed"
        return "\n".join((numbers, *self.problems, *map(_line, self.findings)))

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(r.verdict)}</td><td>{escape(r.claim)}</td><td>{escape(r.instruction)}</td>"
            f"<td>{r.line}</td><td>{escape(r.counterexample or r.reason or '')}</td></tr>"
            for r in self.findings
        )
        head = "<tr><th>verdict</th><th>claim</th><th>instruction</th><th>line</th><th>why</th></tr>"
        table = f"<table>{head}{rows}</table>" if rows else ""
        return f"<p>{escape(str(self).splitlines()[0])}</p>{table}"


def check(source: object, options: Options | None = None) -> Checked:
    """Check a path, several, HLO text, or a lowered or compiled JAX function.

    Paths are files or folders of modules, rules, maps and layouts, told apart by suffix. Raises BadInput for a path
    that cannot be an input, InputError for a source that is none; what is wrong inside a file is one of `problems`.

    >>> bool(check("ROOT r = f32[8,4] transpose(f32[4,8] p), dimensions={1,0}"))
    True
    """
    from hloproof.pipeline.driver import check as check_paths
    from hloproof.pipeline.driver import check_hlo

    if isinstance(source, PathLike) or (isinstance(source, str) and (not is_text(source) or exists(source))):
        return Checked(check_paths([fspath(source)], options))
    if isinstance(source, Iterable) and not isinstance(source, str | bytes):
        return Checked(check_paths([fspath(path) for path in source], options))
    text, _ = text_of(source)
    return Checked(check_hlo(text, options or Options()))


def _line(r: ClaimResult) -> str:
    place = f"{r.file}:{r.line}:{r.column}: " if r.file else f"{r.line}:{r.column}: "
    return f"{place}{r.verdict}: {r.claim} of {r.instruction or r.id}: {r.counterexample or r.reason or ''}"
