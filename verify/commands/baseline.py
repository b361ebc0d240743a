"""`hloproof baseline`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import click

from hloproof.commands.check import check_options, checked, merged
from hloproof.results.errors import BadInput
from hloproof.results.findings import KnownFinding
from hloproof.results.plain import say
from hloproof.results.results import exit_status
from hloproof.results.subject import not_looked_at
from hloproof.results.verdict import Exit, Verdict


@click.command("baseline", epilog="Example:  hloproof baseline dumps/ --write baseline.json")
@check_options
@click.option("--write", type=click.Path(path_type=Path), required=True, metavar="FILE", help="The baseline file.")
def command(write: Path, **given: Any) -> int:
    """Write down everything that is not proved today; `check --baseline FILE` then reports only what is not in it.

    Justifications that FILE holds already are kept. Nothing is written where the input was not read to its end,
    or where there is an error of this tool.
    """
    from hloproof.results.baseline import chunks, read
    from hloproof.results.files import write_file

    before = read(write) if write.exists() else ()
    report = checked(merged(given), quiet=False)
    if report.interrupted:
        raise BadInput(f"interrupted: {write} is left as it was")
    for problem in report.problems:
        say(problem.said, err=True)
    if report.problems:
        raise BadInput(f"some input could not be read: {write} is left as it was")
    for r in report.records(undecided_only=True):
        if r.verdict is Verdict.INTERNAL or not_looked_at(r):
            say(f"{r.file}: {r.verdict}: {r.reason}: {write} is left as it was", err=True)
            return int(exit_status({r.verdict}))
    write_file(write, chunks(report, before))
    say(f"{write}: {_told(before, read(write))}")
    return int(Exit.OK)


def _told(before: tuple[KnownFinding, ...], now: tuple[KnownFinding, ...]) -> str:
    """How many findings the file holds, by verdict, and what came and went."""
    verdicts = Counter(k.verdict for k in now)
    said = ", ".join(f"{n} {verdict}" for verdict, n in sorted(verdicts.items()))
    text = f"{len(now)} findings ({said})" if now else "no findings: everything is proved"
    keys = [{(k.fingerprint, k.verdict) for k in side} for side in (before, now)]
    if before:
        text += f"; {len(keys[1] - keys[0])} new, {len(keys[0] & keys[1])} known, {len(keys[0] - keys[1])} gone"
    kept = sum(bool(k.justification) for k in now)
    return text + (f"; {kept} justified" if kept else "")
