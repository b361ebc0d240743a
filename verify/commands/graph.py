"""`hloproof graph`."""

from __future__ import annotations

from pathlib import Path

import click

from hloproof.commands.limits import budgeted


@click.command("graph", epilog="Example:  hloproof graph model.hlo --fusion loop_fusion --output fusion.svg")
@click.argument("module")
@click.option("--fusion", metavar="NAME", default="", help="Draw the body of this fusion, call or loop.")
@click.option("--computation", metavar="NAME", default="", help="Draw this computation; default: the entry.")
@click.option(
    "--output", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Default: standard output."
)
@budgeted(60.0)
def command(module: str, fusion: str, computation: str, output: Path | None) -> int | None:
    """Draw a computation of MODULE as an SVG, with the indexing map of each operand on its arrow.

    A map leads from an element of the instruction to the elements of the operand that it reads. What is cut off is in
    the tool tips.
    """
    from hloproof.pipeline.sources import Source
    from hloproof.queries.equivalence import one_module
    from hloproof.report.graph_svg import GraphTooLarge, chunks
    from hloproof.results.files import write_file

    if fusion and computation:
        raise click.UsageError("--fusion and --computation exclude each other")
    parsed = one_module(Source(module, "hlo").read(), module)
    name = (computation or parsed.entry_name).removeprefix("%")
    if fusion:
        plain = fusion.removeprefix("%")
        found = [c.by_name[plain] for c in parsed.computations if plain in c.by_name]
        if not found:
            raise click.BadParameter(f"no instruction {fusion!r} in module {parsed.name!r}", param_hint="--fusion")
        called = found[0].attributes.computations()
        if not called:
            raise click.BadParameter(f"{plain} is a {found[0].opcode}, and calls nothing", param_hint="--fusion")
        name = called[0]
    drawn = parsed.find(name)
    if drawn is None:
        names = ", ".join(c.name for c in parsed.computations[:6])
        raise click.BadParameter(f"no computation {name!r}; here are {names}", param_hint="--computation")
    try:
        pieces = list(chunks(parsed, drawn))
    except GraphTooLarge as error:
        raise click.ClickException(f"{error}; choose a part with --fusion or --computation") from error
    if output is None:
        click.echo("".join(pieces), nl=False)
    else:
        write_file(output, pieces)
    return None
