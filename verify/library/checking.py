"""Checks of what users have: files and folders, text, and programs that JAX compiles."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from html import escape
from os import PathLike, fspath
from os.path import exists
from pathlib import Path

from hloproof.library.reading import is_text, parse_all, text_of
from hloproof.models.errors import InputError
from hloproof.models.hlo.source_lines import SourceLine, SourceLines
from hloproof.pipeline.options import Options
from hloproof.results.errors import BadInput
from hloproof.results.results import Report
from hloproof.results.verdict import ClaimResult, Verdict


@dataclass(frozen=True, repr=False)
class Checked:
    """What a check found. `report` has every claim; `findings` those that are not proved."""

    report: Report
    text: str = field(default="", repr=False)
    """What was checked, where it is no file."""

    @property
    def verdict(self) -> Verdict:
        """The worst of all; what could not be read, or was left when somebody interrupted, is unknown."""
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

    def source_of(self, found: ClaimResult) -> SourceLine | None:
        """The line of the program that a finding is about, by the metadata of the module; None where it has none."""
        text, parts = self.text, found.id.partition("#")[2].split("/")
        if not (text or found.file) or found.kind != "instruction" or len(parts) < 4:
            return None
        for module, lines in _lines(found.file, text):
            if found.module in (module, ""):
                return lines.nearest(parts[-3], found.instruction)
        return None

    def __bool__(self) -> bool:
        """True where everything is proved, everything could be read, and nobody interrupted it."""
        return self.verdict is Verdict.PROVED

    def __str__(self) -> str:
        counts = self.report.counts()
        numbers = ", ".join(f"{counts[v]} {v}" for v in Verdict if counts[v]) or "nothing is claimed"
        return "\n".join((numbers, *self.problems, *(_line(r, self.source_of(r)) for r in self.findings)))

    def __repr__(self) -> str:
        return f"<Checked: {str(self).splitlines()[0]}>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(r.verdict)}</td><td>{escape(r.claim)}</td><td>{escape(r.instruction)}</td>"
            f"<td>{r.line}</td><td>{escape(str(self.source_of(r) or ''))}</td>"
            f"<td>{escape(r.counterexample or r.reason or '')}</td></tr>"
            for r in self.findings
        )
        head = "<tr><th>verdict</th><th>claim</th><th>instruction</th><th>line</th><th>source</th><th>why</th></tr>"
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
        paths = [fspath(path) for path in source]
        if not paths:
            raise BadInput("no file or folder was given")
        return Checked(check_paths(paths, options))
    text, _ = text_of(source)
    return Checked(check_hlo(text, options or Options()), text)


@lru_cache(maxsize=4)
def _lines(file: str, text: str) -> tuple[tuple[str, SourceLines], ...]:
    """The modules of a file or a text by name; none where it cannot be read."""
    try:
        modules = parse_all(text or Path(file))
    except (InputError, BadInput, OSError):
        return ()
    return tuple((m.name, SourceLines(m)) for m in modules)


def _line(r: ClaimResult, source: SourceLine | None = None) -> str:
    place = f"{r.file}:{r.line}:{r.column}: " if r.file else f"{r.line}:{r.column}: "
    written = f" (from {source})" if source else ""
    return f"{place}{r.verdict}: {r.claim} of {r.instruction or r.id}{written}: {r.counterexample or r.reason or ''}"
