"""`hloproof claims`."""

from __future__ import annotations

import click

from hloproof.results.plain import say


@click.command("claims", epilog="Example:  hloproof claims")
def command() -> None:
    """List the claims that check owes, each with what it says."""
    from hloproof.claims.catalogue import CATALOGUE

    width = max(len(name) for name in CATALOGUE)
    for entry in CATALOGUE.values():
        when = " Only when named." if entry.on_request else ""
        say(f"{entry.name:{width}s}  {entry.sentence}{when}")
