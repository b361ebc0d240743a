"""`hloproof explain`."""

from __future__ import annotations

import click

from hloproof.results.plain import say


@click.command("explain", epilog="Example:  hloproof explain definition")
@click.argument("claim")
def command(claim: str) -> None:
    """Say what a claim means, with an example that holds and one that does not."""
    from textwrap import fill

    from hloproof.claims.catalogue import CATALOGUE, unknown_name
    from hloproof.results.verdict import family

    entries = [e for e in CATALOGUE.values() if claim in (e.name, family(e.name))]
    if claim in CATALOGUE:
        entries = [CATALOGUE[claim]]
    if not entries:
        raise click.ClickException(unknown_name(claim) or f"no claim {claim!r}")
    for n, e in enumerate(entries):
        if n:
            say()
        say(f"{e.name} ({e.about}): {e.sentence}\n")
        say(fill(e.meaning, 100) + "\n")
        say(fill(f"Holds: {e.holds}", 100, subsequent_indent="       "))
        say(fill(f"Fails: {e.fails}", 100, subsequent_indent="       "))
