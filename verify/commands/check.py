"""`hloproof check`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from verify.sources import KINDS

FORMATS = ("text", "json")


@click.command(
    "check",
    epilog="""Examples:  hloproof check model.hlo
    hloproof check dumps/ --only definition --format json""",
)
@click.argument("paths", nargs=-1, required=True)
@click.option("--kind", type=click.Choice(KINDS), help="Take every named file as this, whatever its suffix.")
@click.option("--only", multiple=True, metavar="CLAIM", help="Only this claim or family (again for more).")
@click.option("--skip", multiple=True, metavar="CLAIM", help="Not this claim or family.")
@click.option("--instruction", "instructions", multiple=True, metavar="NAME", help="Only this instruction.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True)
@click.option("--jobs", "-j", type=click.IntRange(0), default=0, help="Worker processes; 0 is one per core.")
@click.option("--cross", is_flag=True, help="Prove each obligation by two engines that share no encoder.")
@click.option("--fail-fast", is_flag=True, help="Stop at the first refutation.")
@click.option("--stats", is_flag=True, help="Say which engine stage decided how much.")
@click.option("--obligation-seconds", type=click.FloatRange(0, min_open=True), default=10.0, show_default=True)
@click.option("--total-seconds", type=click.FloatRange(0, min_open=True), help="For all; the rest is unknown.")
@click.option("--cache", type=click.Path(path_type=Path), help="The proof cache; default in the user's cache folder.")
@click.option("--no-cache", is_flag=True, help="Neither read nor write the proof cache.")
@click.option("--layout-sensitive", is_flag=True, help="Layouts of operands and results have to agree.")
@click.option("--after-copy-insertion", is_flag=True, help="The order in the text is the schedule.")
@click.option("--quiet", "-q", is_flag=True, help="Findings only.")
@click.option("--verbose", "-v", is_flag=True, help="Every unknown by itself, and opcodes that are not complete.")
def command(
    paths: tuple[str, ...], kind: str | None, only: tuple[str, ...], skip: tuple[str, ...],
    instructions: tuple[str, ...], form: str, jobs: int, cross: bool, fail_fast: bool, stats: bool,
    obligation_seconds: float, total_seconds: float | None, cache: Path | None, no_cache: bool, layout_sensitive: bool,
    after_copy_insertion: bool, quiet: bool, verbose: bool,
) -> int:  # fmt: skip
    """Prove or refute what HLO modules, rewrite rules, indexing maps and layouts claim.

    PATHS are files, folders, or - for standard input.
    """
    from verify.cache import default_path
    from verify.claim_catalogue import unknown_name
    from verify.driver import check
    from verify.options import Options, Selection
    from verify.progress import progress_bar
    from verify.report import json_report, text
    from verify.sources import BadInput

    for name in (*only, *skip):
        if sentence := unknown_name(name):
            raise click.BadParameter(sentence)
    options = Options(
        Selection(only, skip, instructions), jobs, cross, obligation_seconds, total_seconds,
        cache=None if no_cache else cache or default_path(), fail_fast=fail_fast, layout_sensitive=layout_sensitive, after_copy_insertion=after_copy_insertion, kind=kind,
    )
    try:
        with progress_bar(not quiet) as progress:
            report = check(paths, options, progress)
    except BadInput as error:
        raise click.ClickException(str(error)) from error
    for problem in report.problems:
        print(problem.rendered or problem.message, file=sys.stderr)
    if form == "json":
        sys.stdout.writelines(json_report.chunks(report))
    else:
        colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
        for line in text.lines(report, verbose - quiet, colour):
            print(line)
    if stats:
        for line in text.stage_lines(report):
            print(line, file=sys.stderr if form == "json" else sys.stdout)
    return int(report.exit_status())
