"""`hloproof check`."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import click

from hloproof.commands.limits import SECONDS
from hloproof.models.stages import Run, running, stage
from hloproof.pipeline.folders import find_sources, told
from hloproof.pipeline.options import Options, Selection
from hloproof.pipeline.sources import KINDS
from hloproof.processes.age import age
from hloproof.report.destinations import FORMATS
from hloproof.results.errors import BadInput
from hloproof.results.plain import say


def check_options(command: Any) -> Any:
    """The arguments and options that say what to check and how; `check` and `baseline` share them."""
    for option in reversed(
        (
            click.argument("paths", nargs=-1),
            click.option(
                "--config",
                type=click.Path(path_type=Path),
                help="Read settings from this file; default: hloproof.toml or pyproject.toml.",
            ),
            click.option(
                "--kind", type=click.Choice(KINDS), help="Treat every named file as this kind, whatever its suffix."
            ),
            click.option(
                "--include", multiple=True, metavar="GLOB", help="In folders, check only files that match (repeatable)."
            ),
            click.option(
                "--exclude", multiple=True, metavar="GLOB", help="In folders, skip files that match (repeatable)."
            ),
            click.option(
                "--only", multiple=True, metavar="CLAIM", help="Check only this claim or family (repeatable)."
            ),
            click.option("--skip", multiple=True, metavar="CLAIM", help="Skip this claim or family (repeatable)."),
            click.option(
                "--instruction",
                "instructions",
                multiple=True,
                metavar="NAME",
                help="Check only this instruction (repeatable).",
            ),
            click.option("--jobs", "-j", type=click.IntRange(0), help="Worker processes; 0 is one per core."),
            click.option(
                "--cross",
                is_flag=True,
                default=None,
                help="Require two engines that share no encoder to agree (not of pairs).",
            ),
            click.option("--obligation-seconds", type=SECONDS, help="Limit for one obligation; default 10."),
            click.option("--item-seconds", type=SECONDS, help="Limit for one rule, map or layout; default 120."),
            click.option("--total-seconds", type=SECONDS, help="Limit for the whole check; what is left is unknown."),
            click.option("--cache", type=click.Path(path_type=Path), help="Where the proof cache is kept."),
            click.option("--no-cache", is_flag=True, default=None, help="Do not read or write the proof cache."),
            click.option(
                "--certify",
                type=click.Path(path_type=Path),
                metavar="DIR",
                help="Write proof certificates to this folder.",
            ),
            click.option(
                "--cluster", metavar="tcp://HOST:PORT", help="Check files on the workers of a Dask scheduler."
            ),
            click.option("--layout-sensitive", is_flag=True, default=None, help="Require layouts to agree."),
            click.option(
                "--after-copy-insertion",
                is_flag=True,
                default=None,
                help="All copies are there: buffers are shared as in a scheduled module, in every order left open.",
            ),
            click.option("--index-width", type=click.Choice((32, 64)), help="Bits of an index; default 64."),
        )
    ):
        command = option(command)
    return command


@click.command(
    "check",
    epilog="Examples:\n\n\b\n  hloproof check model.hlo\n  hloproof check dumps/ --only definition --format json",
    context_settings={"max_content_width": 110},
)
@check_options
@click.option("--format", "form", type=click.Choice(tuple(FORMATS)), help="Format of standard output; default text.")
@click.option("--output", multiple=True, metavar="FORMAT=FILE", help="Also write a report to FILE (repeatable).")
@click.option("--svg", metavar="FILE", help="Draw the schedules of refuted hazards; same as --output svg=FILE.")
@click.option("--baseline", type=click.Path(path_type=Path), help="Report only findings that are not in this baseline.")
@click.option("--allow-unknown", is_flag=True, default=None, help="Report what is unknown as a warning.")
@click.option(
    "--strict", is_flag=True, default=None, help="Count unknown claims about hloproof's own maps as errors too."
)
@click.option(
    "--severity", multiple=True, metavar="CLAIM=LEVEL", help="Report this claim as error, warning or off (repeatable)."
)
@click.option("--fail-fast", is_flag=True, default=None, help="Stop at the first refutation.")
@click.option("--stats", is_flag=True, help="Show how many claims each stage decided, and how long it took.")
@click.option("--quiet", "-q", is_flag=True, help="Print findings only.")
@click.option(
    "--verbose", "-v", is_flag=True, help="List every unknown claim, and the opcodes that are not fully proved."
)
def command(**given: Any) -> int:
    """Prove or refute what HLO modules, rewrite rules, indexing maps and layouts claim.

    PATHS are files, folders, or - for standard input.
    """
    from hloproof.report import text
    from hloproof.report.destinations import Style, write_standard_output
    from hloproof.results.files import write_file
    from hloproof.results.findings import judge

    with running(Run()) as around:
        around.seconds["starting"] = age()
        with stage("settings"):
            settings = merged(given)
            form = settings.get("format") or "text"
            if form not in FORMATS:
                raise BadInput(f"format {form!r}: one of {', '.join(FORMATS)}")
            outputs = [_output(o) for o in settings.get("output", ())]
            outputs += [_output(f"svg={given['svg']}")] if given["svg"] else []
            policy = _policy(settings)
        report = checked(settings, given["quiet"])
        with stage("reporting"):
            comments = tuple(c for f in report.files for c in f.suppressions)
            judged = judge(report, replace(policy, comments=comments))
            for problem in report.problems:
                print(problem.said, file=sys.stderr)
            for also, path in outputs:
                pieces = FORMATS[also](judged, Style())
                first = next(pieces, None)
                if first is not None or also != "svg":  # a report without findings may be empty; an old one is replaced
                    write_file(path, chain([first or ""], pieces))
                else:
                    say(f"Nothing to draw, as no hazard is refuted: {path} is not written.", err=True)
            colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
            write_standard_output(form, judged, Style(given["verbose"] - given["quiet"], colour))
    if given["stats"]:
        used = os.times()
        processor = (used.user + used.system, used.children_user + used.children_system)
        for line in text.stage_lines(report, around.seconds, age(), processor):
            print(line, file=sys.stdout if form == "text" else sys.stderr)
    return int(judged.exit_status())


def merged(given: dict[str, Any]) -> dict[str, Any]:
    """The settings of the configuration, with what the command line says in their place.

    Raises BadInput for a configuration that cannot be read.
    """
    from hloproof.pipeline.configuration import read_configuration

    settings = read_configuration(Path.cwd(), given["config"])
    names = {"form": "format"}
    told = {names.get(k, k.replace("_", "-")): v for k, v in given.items() if v is not None and v != ()}
    if "cache" in told:
        settings.pop("no-cache", None)
    settings |= told
    if not settings.get("paths"):
        raise click.UsageError("Missing argument 'PATHS...'.")
    return settings


def checked(settings: dict[str, Any], quiet: bool) -> Any:
    """The report of a check with these settings. Raises BadInput."""
    with stage("loading"):
        from hloproof.claims.catalogue import unknown_name
        from hloproof.engines.store import default_path
        from hloproof.pipeline.driver import check
        from hloproof.pipeline.progress import progress_bar

    only, skip = tuple(settings.get("only", ())), tuple(settings.get("skip", ()))
    for name in (*only, *skip):
        if sentence := unknown_name(name):
            raise BadInput(sentence)
    options = Options(
        Selection(only, skip, tuple(settings.get("instructions", ()))),
        jobs=settings.get("jobs", 0),
        cross=settings.get("cross", False),
        obligation_seconds=settings.get("obligation-seconds", 10.0),
        item_seconds=settings.get("item-seconds", 120.0),
        total_seconds=settings.get("total-seconds"),
        cache=None if settings.get("no-cache") else Path(settings.get("cache") or default_path()),
        certify=settings.get("certify"),
        fail_fast=settings.get("fail-fast", False),
        layout_sensitive=settings.get("layout-sensitive", False),
        after_copy_insertion=settings.get("after-copy-insertion", False),
        index_width=settings.get("index-width", 64),
        kind=settings.get("kind"),
        include=tuple(settings.get("include", ())),
        exclude=tuple(settings.get("exclude", ())),
    )
    if options.certify is not None:  # better now than in each worker
        options.certify.mkdir(parents=True, exist_ok=True)
    with progress_bar(not quiet) as progress:
        if settings.get("cluster"):
            from hloproof.pipeline.cluster import check_on, cluster_executor

            if options.certify is not None:
                raise BadInput("--certify: certificates are written where a check runs, and none on a --cluster")
            others: list[str] = []
            sources = find_sources(settings["paths"], options.kind, options.include, options.exclude, others)
            with cluster_executor(settings["cluster"]) as executor:
                report = check_on(executor, sources, options, progress)
            report.passed_over += others
        else:
            report = check(settings["paths"], options, progress)
    if report.passed_over and not quiet:
        say(told(report.passed_over), err=True)
    return report


def _output(text: str) -> tuple[str, Path]:
    form, equals, path = text.partition("=")
    if not equals or not path or form not in FORMATS:
        raise BadInput(f"--output {text!r}: write FORMAT=FILE, the format one of {', '.join(FORMATS)}")
    if not Path(path).parent.is_dir():  # better now than after the check
        raise BadInput(f"{path}: no such file or directory")
    return form, Path(path)


def _policy(settings: dict[str, Any]) -> Any:
    from hloproof.claims.catalogue import unknown_name
    from hloproof.results.baseline import read
    from hloproof.results.findings import SEVERITIES, Policy

    severity = dict(settings["severity"]) if isinstance(settings.get("severity"), dict) else {}
    for text in settings.get("severity", ()) if not severity else ():
        claim, _, level = text.partition("=")
        if level not in SEVERITIES:
            raise BadInput(f"--severity {text!r}: write CLAIM=LEVEL, the level one of {', '.join(SEVERITIES)}")
        severity[claim] = level
    for claim in severity:
        if sentence := unknown_name(claim):
            raise BadInput(sentence)
    baseline = settings.get("baseline")
    return Policy(
        settings.get("allow-unknown", False),
        severity,
        read(Path(baseline)) if baseline else (),
        against_baseline=bool(baseline),
        strict=settings.get("strict", False),
    )
