"""`hloproof simplify`."""

from __future__ import annotations

import click

from hloproof.commands.limits import budgeted
from hloproof.results.plain import say


@click.command("simplify", epilog="Example:  hloproof simplify '(d0) -> ((d0 * 4) floordiv 4), domain: d0 in [0, 9]'")
@click.argument("map_text", metavar="MAP")
@click.option("--explain", is_flag=True, help="Print each step with the rule that it applies.")
@click.option("--rescale", is_flag=True, help="Also rescale range variables whose values have gaps.")
@click.option("--remove-unused", is_flag=True, help="Also remove variables that nothing uses.")
@click.option("--format", "form", type=click.Choice(("text", "html")), default="text", show_default=True)
@budgeted(60.0)
def command(map_text: str, explain: bool, rescale: bool, remove_unused: bool, form: str) -> int:
    """Print an indexing map simplified, and prove that it means the same."""
    from hloproof.claims.maps.simplified import simplified
    from hloproof.models.maps.text import parse_map, print_map
    from hloproof.results.results import exit_status
    from hloproof.results.verdict import Verdict

    before = parse_map(map_text)
    result = simplified(before, rescale=rescale, remove_unused=remove_unused)
    if form == "html":
        from hloproof.report.html.comparisons import of_simplification

        say("".join(of_simplification(before, result)))
    else:
        if explain:
            for step in result.derivation:
                say(f"  {step}")
        say(print_map(result.map))
    if result.found.verdict is not Verdict.PROVED:
        why = result.found.counterexample or result.found.reason
        say(f"{result.found.verdict}: that the map means the same" + (f": {why}" if why else ""), err=True)
    return int(exit_status({result.found.verdict}, bad_input=False))
