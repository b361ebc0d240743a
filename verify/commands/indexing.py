"""`hloproof indexing`."""

from __future__ import annotations

import json
from typing import Literal

import click

from hloproof.commands.limits import budgeted
from hloproof.models.indexing.composition.route import DIRECTIONS, OUTPUT_TO_INPUT
from hloproof.results.plain import say


@click.command("indexing", epilog="Example:  hloproof indexing specs/examples/attention.hlo --instruction by_position")
@click.argument("module")
@click.option("--instruction", default="", metavar="NAME", help="Default: the root of the entry computation.")
@click.option("--direction", type=click.Choice(DIRECTIONS), default=OUTPUT_TO_INPUT, show_default=True)
@click.option("--output", type=click.IntRange(0), default=0, help="Which output of a tuple (output to input).")
@click.option("--input", "operand", type=click.IntRange(0), default=0, help="Which operand (input to output).")
@click.option("--fused", is_flag=True, help="Compose through the producers, to the parameters.")
@click.option(
    "--layout",
    type=click.Choice(("logical", "physical")),
    default="logical",
    show_default=True,
    help="physical: dimensions in the order of memory, the most major first.",
)
@click.option("--format", "form", type=click.Choice(("text", "json")), default="text", show_default=True)
@budgeted(60.0)
def command(
    module: str,
    instruction: str,
    direction: str,
    output: int,
    operand: int,
    fused: bool,
    layout: Literal["logical", "physical"],
    form: str,
) -> int | None:
    """Print the indexing maps of an instruction of MODULE, a file of HLO text or - for standard input."""
    from hloproof.models.errors import NotModelled
    from hloproof.models.hlo.parser import parse_modules
    from hloproof.models.maps.text import print_map
    from hloproof.pipeline.sources import Source
    from hloproof.queries.indexing import answer, as_json, find_instruction
    from hloproof.results.verdict import Exit

    modules = parse_modules(Source(module, "hlo").read(), module)
    chosen = next((m for m in modules if _has(m, instruction)), modules[0])
    try:
        _, found = find_instruction(chosen, instruction)
        sets = answer(chosen, instruction, direction, output=output, input=operand, fused=fused, layout=layout)
    except LookupError as error:
        raise click.ClickException(str(error.args[0])) from error
    except NotModelled as error:
        say(f"unknown: {error}", err=True)
        return int(Exit.UNKNOWN)
    if form == "json":
        click.echo(json.dumps({"instruction": found.name, "direction": direction, "operands": as_json(sets)}, indent=1))
        return None
    what = "operand" if direction == OUTPUT_TO_INPUT else "output"
    for s in sets:
        rest = f": unknown, {s.unknown}" if s.unknown else "" if s.maps else ": nothing"
        say(f"{what} {s.operand} ({s.kind}){rest}")
        for m in s.maps:
            for line in print_map(m).splitlines():
                say(f"  {line}")
    return None


def _has(module: object, name: str) -> bool:
    from hloproof.models.hlo.module import Module
    from hloproof.queries.indexing import find_instruction

    assert isinstance(module, Module)
    try:
        find_instruction(module, name)
    except LookupError:
        return False
    return True
