"""`hloproof aliases`."""

from __future__ import annotations

import json

import click

from hloproof.commands.limits import budgeted
from hloproof.results.plain import say


@click.command("aliases", epilog="Example:  hloproof aliases specs/examples/attention.hlo --may")
@click.argument("module")
@click.option("--may", is_flag=True, help="Also what a compiler may keep in one buffer: updates in place, may-alias.")
@click.option("--all", "everything", is_flag=True, help="Also classes of a single place.")
@click.option("--format", "form", type=click.Choice(("text", "json")), default="text", show_default=True)
@budgeted(60.0)
def command(module: str, may: bool, everything: bool, form: str) -> None:
    """Print which places of MODULE share a buffer: a place is an instruction and a position in its tuple.

    Classes hold what must share: values handed on, loops, branches, asynchronous operations, declared aliasing.
    """
    from hloproof.models.hlo.parser import parse_modules
    from hloproof.pipeline.sources import Source
    from hloproof.queries.aliases import alias_classes

    modules = parse_modules(Source(module, "hlo").read(), module)
    answer = [{"module": m.name, "classes": alias_classes(m, may, everything)} for m in modules]
    if form == "json":
        click.echo(json.dumps(answer, indent=1))
        return
    for found in answer:
        say(f"module {found['module']}")
        for number, entry in enumerate(found["classes"]):
            assert isinstance(entry, dict)
            say(f"  {number}: {entry['shape']}")
            for place in entry["places"]:
                mark = "" if place["must"] else "  (may)"
                say(f"      {place['computation']}/{place['place']}{mark}")
