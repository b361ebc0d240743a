"""`hloproof memory`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import click

from hloproof.commands.limits import SECONDS
from hloproof.pipeline.options import Selection
from hloproof.report.destinations import FORMATS
from hloproof.results.errors import BadInput
from hloproof.results.plain import say


@click.command(
    "memory",
    epilog="Examples:\n\n\b\n  hloproof memory dumps/\n  hloproof memory module.txt plan.txt --svg plan.svg",
    context_settings={"max_content_width": 110},
)
@click.argument("path")
@click.argument("assignment", required=False)
@click.option("--only", multiple=True, metavar="CLAIM", help="Check only this claim (repeatable).")
@click.option("--skip", multiple=True, metavar="CLAIM", help="Skip this claim (repeatable).")
@click.option(
    "--jobs", "-j", type=click.IntRange(0), default=0, help="Worker processes for a folder; 0 is one per core."
)
@click.option(
    "--cross", is_flag=True, help="Ask two engines that share no encoder, and run small plans that hold with memory."
)
@click.option("--budget", type=SECONDS, default=300.0, show_default=True, help="Seconds for each plan.")
@click.option("--format", "form", type=click.Choice(tuple(FORMATS)), default="text", help="Format of standard output.")
@click.option(
    "--svg", type=click.Path(path_type=Path), help="Draw the plan: time across, bytes upward, conflicts in red."
)
@click.option("--allocation", type=int, metavar="N", help="Draw this allocation; default: the one with a conflict.")
@click.option("--baseline", type=click.Path(path_type=Path), help="Report only findings that are not in this baseline.")
@click.option("--allow-unknown", is_flag=True, help="Report what is unknown as a warning.")
@click.option("--quiet", "-q", is_flag=True, help="Print findings only.")
@click.option(
    "--verbose", "-v", is_flag=True, help="List every unknown claim, and the opcodes that are not fully proved."
)
def command(path: str, assignment: str | None, form: str, svg: Path | None, **given: Any) -> int:
    """Prove or refute the memory plan of a compiled program.

    PATH is a scheduled module (*after_optimizations.txt of --xla_dump_to), with its plan beside it
    (*after_optimizations-buffer-assignment.txt) or named as ASSIGNMENT; or a folder of such dumps.
    """
    from hloproof.claims.catalogue import unknown_name
    from hloproof.pipeline.folders import told
    from hloproof.pipeline.memory_plans import Plans, check_plans, takes_a_plan
    from hloproof.report.destinations import Style, write_standard_output
    from hloproof.results.baseline import read
    from hloproof.results.findings import Policy, judge

    for name in (*given["only"], *given["skip"]):
        if sentence := unknown_name(name):
            raise BadInput(sentence)
    selection = Selection(given["only"], given["skip"])
    if not takes_a_plan(selection.takes_claim):
        raise BadInput("none of the claims that are asked for is about memory plans; `hloproof claims` lists them")
    others: list[str] = []
    pairs = _pairs(path, assignment, others)
    if others and not given["quiet"]:
        say(told(others), err=True)
    if svg is not None and len(pairs) != 1:
        raise BadInput(f"{path}: --svg draws one plan, and here are {len(pairs)}")
    report = check_plans(pairs, Plans(given["budget"], selection, given["cross"]), given["jobs"])
    baseline = given["baseline"]
    known = read(baseline) if baseline else ()
    judged = judge(report, Policy(given["allow_unknown"], baseline=known, against_baseline=bool(baseline)))
    for problem in report.problems:
        print(problem.said, file=sys.stderr)
    if svg is not None and not report.problems:
        _draw(*pairs[0], svg, given["allocation"])
    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    write_standard_output(form, judged, Style(given["verbose"] - given["quiet"], colour))
    return int(judged.exit_status())


def _pairs(path: str, assignment: str | None, others: list[str]) -> list[tuple[str, str]]:
    """Modules with their plans, and what is passed over in a folder. Raises BadInput where there is none."""
    from hloproof.pipeline.memory_plans import plan_beside, plans_in

    if assignment is not None:
        return [(path, assignment)]
    if Path(path).is_dir():
        found = list(plans_in(path, others))
        if not found:
            raise BadInput(f"{path}: no memory plan in this folder; looked for *-buffer-assignment.txt beside modules")
        return found
    if not Path(path).exists():
        raise BadInput(f"{path}: no such file or directory")
    beside = plan_beside(path)
    if beside is None:
        stem = Path(path).name.rpartition(".")[0]
        raise BadInput(f"{path}: no memory plan beside it; looked for {stem}-buffer-assignment.txt")
    return [(path, beside)]


def _draw(module: str, assignment: str, svg: Path, allocation: int | None) -> None:
    from hloproof.memory.plan import Plan
    from hloproof.models.errors import NotModelled
    from hloproof.models.hlo.parser import parse_module
    from hloproof.models.memory.assignment import parse_assignment
    from hloproof.pipeline.sources import Source
    from hloproof.report.memory_svg import chunks
    from hloproof.results.files import write_file

    texts = [Source(p, "hlo").read() for p in (module, assignment)]
    plan = Plan(parse_module(texts[0], module), parse_assignment(texts[1], assignment))
    try:
        write_file(svg, chunks(plan, allocation))
    except LookupError as error:
        raise BadInput(f"{assignment}: {error.args[0]}") from error
    except NotModelled as error:
        raise BadInput(f"{module}: {error}") from error
