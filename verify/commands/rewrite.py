"""`hloproof rewrite`."""

from __future__ import annotations

import click

from hloproof.commands.limits import budgeted
from hloproof.results.plain import say


@click.command(
    "rewrite",
    epilog="Example:  hloproof rewrite '(d0) -> (d0 mod 4), domain: d0 in [0, 3]' '(d0) -> (d0), domain: d0 in [0, 3]'",
)
@click.argument("before")
@click.argument("after")
@click.option("--relational", is_flag=True, help="As relations, even where the variables agree.")
@budgeted(60.0)
def command(before: str, after: str, relational: bool) -> int:
    """Prove or refute that the map AFTER may stand where the map BEFORE does.

    Point by point where both have the same variables, else as relations between dims and results.
    """
    from hloproof.claims.maps.rewrite import equality_of, rewrite
    from hloproof.models.maps.text import parse_map
    from hloproof.models.specs.maps import Equality
    from hloproof.results.results import exit_status

    one, two = parse_map(before, "BEFORE"), parse_map(after, "AFTER")
    mode: Equality | None = "relational" if relational else None
    result = rewrite(one, two, mode)
    said = result.counterexample or result.reason
    say(f"{result.verdict} ({equality_of(one, two, mode)})" + (f": {said}" if said else ""))
    return int(exit_status({result.verdict}, bad_input=False))
