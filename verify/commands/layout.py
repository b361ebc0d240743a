"""`hloproof layout`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from hloproof.commands.limits import budgeted
from hloproof.results.plain import say


@click.command(
    "layout",
    epilog="Examples:\n\n\b\n  hloproof layout 'bf16[16,1023,1025]{2,1,0:T(8,128)(2,1)}' --index 3,17,5\n"
    "  hloproof layout 'f32[?,?]{1,0:T(8,128)}'    (for all sizes)",
)
@click.argument("shape")
@click.option("--index", metavar="I,J,..", help="Print where this element lies.")
@click.option("--linear", type=click.IntRange(0), metavar="N", help="Print which element lies at this position.")
@click.option("--maps", is_flag=True, help="Print the maps from index to position and back.")
@click.option(
    "--compare",
    metavar="SHAPE",
    help="Check whether SHAPE has the same positions, and whether a bitcast to it is right.",
)
@click.option("--format", "form", type=click.Choice(("text", "json")), default="text", show_default=True)
@click.option(
    "--svg", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Draw the array and its memory."
)
@click.option("--at", metavar="I,..", help="Which slice to draw: the index of all but the last two dimensions.")
@click.option("--cross", is_flag=True, help="Require two engines that share no encoder to agree.")
@budgeted(60.0)
def command(
    shape: str,
    index: str | None,
    linear: int | None,
    maps: bool,
    compare: str | None,
    form: str,
    svg: Path | None,
    at: str | None,
    cross: bool,
) -> int:
    """Say where the elements of SHAPE lie in memory, and prove that each has a place of its own."""
    from hloproof.engines.door import How
    from hloproof.queries.layouts import answer, compared, maps_of
    from hloproof.report.layout_text import lines
    from hloproof.results.results import exit_status
    from hloproof.results.verdict import Verdict

    how = How(cross=cross)
    try:
        found = answer(shape, _numbers(index, "--index"), linear, how)
        if maps:
            found["maps"] = maps_of(shape)
        if compare is not None:
            found["compare"] = compared(shape, compare, how)
        if svg is not None:
            _draw(shape, _numbers(at, "--at") or (), svg)
    except (LookupError, ValueError) as error:
        raise click.ClickException(str(error.args[0])) from error
    if form == "json":
        click.echo(json.dumps(found, indent=1))
    else:
        for line in lines(found):
            say(line)
    verdicts = {Verdict(part["verdict"]) for part in (found, found.get("maps"), found.get("compare")) if part}
    return int(exit_status(verdicts, False))


def _numbers(text: str | None, option: str) -> tuple[int, ...] | None:
    """`3,17,5`; nothing, for a scalar, is the empty index."""
    if text is None:
        return None
    entries = text.strip("[]() ").replace(" ", "").split(",")
    try:
        return tuple(int(e) for e in entries if e or len(entries) > 1)
    except ValueError:
        raise click.BadParameter(f"expected numbers such as 3,17,5, not {text!r}", param_hint=option) from None


def _draw(shape: str, at: tuple[int, ...], path: Path) -> None:
    from hloproof.models.errors import NotModelled
    from hloproof.models.hlo.shape import ArrayShape
    from hloproof.models.hlo.text.shapes import parse_shape
    from hloproof.report.layout_svg import draw
    from hloproof.results.files import write_file

    array = parse_shape(shape)
    if not isinstance(array, ArrayShape):
        raise click.ClickException("--svg draws one array")
    try:
        drawn = draw(array, at)
    except NotModelled as error:
        raise click.ClickException(f"--svg: {error}") from error
    write_file(path, [drawn])
