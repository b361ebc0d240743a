"""`hloproof analyze`."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import click

from hloproof.commands.limits import budgeted
from hloproof.results.plain import say

if TYPE_CHECKING:
    from hloproof.analysis.launch import Launch

_DIGITS = 20
_NAMED = 6
"""Instructions that a message names."""


@click.command("analyze", epilog="Example:  hloproof analyze specs/examples/attention.hlo --tile 1,2,1,8 --launch 2,32")
@click.argument("module")
@click.option("--instruction", default="", metavar="NAME", help="Default: every fusion of the module.")
@click.option(
    "--tile",
    default="",
    metavar="SIZES",
    help="Sizes of an output tile, such as 32,128; prints the operand tiles it needs.",
)
@click.option(
    "--launch",
    default="",
    metavar="SHAPE",
    help="BLOCKS,THREADS[,VECTOR], or threads=128,vector=4: how threads read that make the output in memory order.",
)
@click.option(
    "--thread-map",
    default="",
    metavar="MAP",
    help="Instead of --launch: '(th_x, ..., bl_x, ...)[...] -> (element), domain: ...', which thread makes what.",
)
@click.option("--warp", type=click.IntRange(1, 1024), metavar="N", help="Threads that read together; default 32.")
@click.option("--sector", type=click.IntRange(1), metavar="BYTES", help="Bytes that memory moves at once; default 32.")
@click.option("--summary", is_flag=True, help="Print one line per fusion, the worst uncoalesced read first.")
@click.option("--format", "form", type=click.Choice(("text", "json")), default="text", show_default=True)
@budgeted(120.0)
def command(
    module: str,
    instruction: str,
    tile: str,
    launch: str,
    thread_map: str,
    warp: int | None,
    sector: int | None,
    summary: bool,
    form: str,
) -> int | None:
    """Report what the fusions of MODULE read: shares of operands, distances in memory, tiles, sectors a warp touches.

    Every count and every distance is proved or marked as a bound. Without --launch, --summary takes 128 threads of one
    element each.
    """
    from hloproof.analysis.printing import as_json, as_lines
    from hloproof.analysis.report import analyze, ranks_by_name
    from hloproof.analysis.summary import as_line, summaries, summary_json
    from hloproof.models.hlo.parser import parse_modules
    from hloproof.pipeline.sources import Source

    sizes = _sizes(tile)
    shape = _launch(launch or ("threads=128" if summary and not thread_map else ""), thread_map, warp, sector)
    modules = parse_modules(Source(module, "hlo").read(), module)
    named = [m for m in modules if instruction and _has(m, instruction)] or modules[:1] if instruction else modules
    by_name = {name: ranks for m in named for name, ranks in ranks_by_name(m, instruction).items()}
    if not by_name and not instruction:
        say(f"{module}: no fusions; --instruction NAME analyzes any instruction", err=form == "json")
    if sizes is not None:
        _check_rank(by_name, len(sizes), f"{tile!r} has {len(sizes)} sizes", "--tile")
    if shape is not None and shape.map is not None:
        _check_rank(by_name, len(shape.map.results), f"it has {len(shape.map.results)} results", "--thread-map")
    out: list[object] = []
    try:
        for m in named:
            each = analyze(m, instruction, sizes, shape)
            for s in summaries(m, each) if summary else ():
                if form == "json":
                    out.append(summary_json(s) | {"module": m.name})
                else:
                    say(as_line(s))
            for found in each:  # none is left after a summary
                if form == "json":
                    out.append(as_json(found) | {"module": m.name})
                else:
                    for line in as_lines(found):
                        say(line)
    except LookupError as error:
        raise click.BadParameter(str(error.args[0]), param_hint="--instruction") from error
    if form == "json":
        click.echo(json.dumps({"instructions": out}, indent=1))
    return None


def _check_rank(by_name: Mapping[str, Collection[int]], rank: int, said: str, option: str) -> None:
    """Says which instructions have outputs of this rank, where only some have. Raises BadParameter where none has."""
    fits = [name for name, ranks in by_name.items() if rank in ranks]
    if not by_name or len(fits) == len(by_name):
        return
    if fits:
        more = f" and {len(fits) - _NAMED} more" if len(fits) > _NAMED else ""
        names = ", ".join(fits[:_NAMED]) + more
        say(f"{option}: {said}, which fits {len(fits)} of {len(by_name)}: {names}", err=True)
        return
    groups: dict[int, list[str]] = {}
    for name, ranks in by_name.items():
        for r in sorted(ranks):
            groups.setdefault(r, []).append(name)
    told = " or ".join(
        f"{r} ({', '.join(names[:_NAMED])}{', ...' if len(names) > _NAMED else ''})"
        for r, names in sorted(groups.items())
    )
    raise click.BadParameter(f"{said}, and what is analyzed has outputs of rank {told}", param_hint=option)


def _sizes(tile: str) -> tuple[int, ...] | None:
    if not tile:
        return None
    words = [w.strip() for w in tile.split(",")]
    # Longer numbers than any size has are not read at all.
    if not all(w.isdecimal() and len(w) < _DIGITS and int(w) > 0 for w in words):
        raise click.BadParameter(f"{tile!r} is no list of positive sizes such as 32,128", param_hint="--tile")
    return tuple(int(w) for w in words)


def _launch(text: str, threads: str, warp: int | None, sector: int | None) -> Launch | None:
    from hloproof.analysis.launch import SECTOR, WARP, parse_launch, parse_thread_map
    from hloproof.models.errors import InputError

    if text and threads:
        raise click.UsageError("--launch and --thread-map exclude each other")
    if not text and not threads:
        for name, value in (("--warp", warp), ("--sector", sector)):
            if value is not None:
                raise click.UsageError(f"{name} says how threads read, and needs --launch or --thread-map")
        return None
    try:
        if threads:
            return parse_thread_map(threads, warp or WARP, sector or SECTOR)
        return parse_launch(text, warp or WARP, sector or SECTOR)
    except (ValueError, InputError) as error:
        raise click.BadParameter(str(error), param_hint="--thread-map" if threads else "--launch") from error


def _has(module: object, name: str) -> bool:
    from hloproof.models.hlo.module import Module

    assert isinstance(module, Module)
    return any(name.removeprefix("%") in c.by_name for c in module.computations)
