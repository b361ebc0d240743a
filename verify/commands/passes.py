"""`hloproof passes`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from hloproof.commands.limits import SECONDS
from hloproof.results.plain import say


class _WithProgram(click.Command):
    """Keeps what stands behind `--` apart."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--" in args:
            place = args.index("--")
            ctx.obj = args[place + 1 :]
            args = args[:place]
        return super().parse_args(ctx, args)


@click.command(
    "passes", cls=_WithProgram, epilog="Examples:\n\n\b\n  hloproof passes dumps/\n  hloproof passes -- python train.py"
)
@click.argument("folder", metavar="DIR", required=False, type=click.Path(path_type=Path))
@click.option("--tier", type=click.Choice(("exact", "real", "rounding")), default="rounding", show_default=True)
@click.option("--budget", type=SECONDS, default=10.0, show_default=True, help="Seconds for each pass.")
@click.option("--since", metavar="PASS", default="", help="Start at this pass or pipeline.")
@click.option("--jobs", "-j", type=click.IntRange(0), default=0, help="Worker processes; 0 is one per core.")
@click.option("--module", "only", metavar="NAME", default="", help="Validate only modules whose name contains this.")
@click.option("--cache", type=click.Path(path_type=Path), help="Where the proof cache is kept.")
@click.option("--no-cache", is_flag=True, help="Do not read or write the proof cache.")
@click.option("--keep", type=click.Path(path_type=Path), metavar="DIR", help="Keep the program's dumps in this folder.")
@click.option("--format", "form", type=click.Choice(("text", "json", "html")), default="text", show_default=True)
@click.option("--verbose", "-v", is_flag=True, help="Also list the passes that are proved.")
@click.pass_context
def command(
    ctx: click.Context,
    folder: Path | None,
    tier: str,
    budget: float,
    since: str,
    jobs: int,
    only: str,
    cache: Path | None,
    no_cache: bool,
    keep: Path | None,
    form: str,
    verbose: bool,
) -> int:
    """Validate every pass of a compilation: that the module computes after it what it computed before.

    DIR holds what XLA writes with --xla_dump_to=DIR --xla_dump_hlo_as_text --xla_dump_hlo_pass_re=.*; or give a program
    behind `--`, which is run with these flags set. Exit status: 0 every pass is proved, 1 a pass is refuted, 2 nothing
    to read, 3 something is unknown, 4 an error of this tool.
    """
    import json
    from contextlib import ExitStack
    from tempfile import TemporaryDirectory

    from hloproof.engines.store import default_path
    from hloproof.pipeline.folders import told
    from hloproof.pipeline.pass_dumps import find_dumps, run_with_dumps
    from hloproof.pipeline.passes import PassOptions, validate
    from hloproof.pipeline.progress import progress_bar
    from hloproof.queries.equivalence import tier_named
    from hloproof.report.passes import as_json, text_lines
    from hloproof.results.results import exit_status
    from hloproof.results.verdict import Verdict

    program: list[str] = ctx.obj or []
    if bool(program) == (folder is not None):
        raise click.UsageError("Give a folder of dumps, or a program behind --.")
    with ExitStack() as stack:
        if program:
            folder = keep or Path(stack.enter_context(TemporaryDirectory(prefix="hloproof-")))
            run_with_dumps(program, folder)
        assert folder is not None
        others: list[str] = []
        modules = [d for d in find_dumps(folder, others) if only in d.module]
        if others:
            say(told(others), err=True)
        if not modules:
            raise click.ClickException(f"no module of {folder} has {only!r} in its name")
        if since and not any(d.has(since) for d in modules):
            raise click.ClickException(f"{folder} holds no pass or pipeline {since!r}")
        kept = None if no_cache else cache or default_path()
        options = PassOptions(tier_named(tier), budget, jobs, since, kept)
        with progress_bar() as progress:
            found = validate(modules, options, progress)
        if form == "html":  # while the dumps of a program are there
            from hloproof.report.html.comparisons import of_passes

            say("".join(of_passes(found)))
    if form == "json":
        json.dump(as_json(found), sys.stdout)
        say()
    elif form == "text":
        for line in text_lines(found, verbose):
            say(line)
        if program and keep is None and found.verdicts - {"proved"}:
            say("The dumps are removed; --keep DIR leaves them there.")
    return int(exit_status(map(Verdict, found.verdicts), interrupted=found.interrupted))
