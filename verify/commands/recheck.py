"""`hloproof recheck`."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("recheck", epilog="Example:  hloproof recheck certificates/ --solver z3")
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--solver", metavar="CMD", help="Given the path of an SMT-LIB file, prints unsat. Default: cvc5.")
@click.option("--seconds", type=click.FloatRange(0, min_open=True), default=60.0, help="For one certificate.")
@click.option("--quiet", "-q", is_flag=True, help="Only what is not proved.")
def command(folder: Path, solver: str | None, seconds: float, quiet: bool) -> int:
    """Prove the certificates of a folder again, which `hloproof check --certify` wrote.

    Only the files are used: their digests are compared with the manifest, and a solver is asked. Exit status: 0 all
    proved, 1 a solver finds a counterexample, 2 a file was changed, added or taken away, 3 a solver gives no answer.
    """
    from collections import Counter

    from hloproof.engines.certificate import recheck
    from hloproof.results.verdict import Exit

    states: Counter[str] = Counter()
    said: set[str] = set()
    try:
        for result in recheck(folder, solver, seconds):
            states[result.state] += 1
            if result.state == "not proved":
                said.add(result.detail)
            if result.state != "proved" or not quiet:
                click.echo(f"{result.name}: {result.state}{f' ({result.detail})' if result.state != 'proved' else ''}")
    except FileNotFoundError as error:
        raise click.ClickException(f"{folder} has no manifest: hloproof check --certify writes one") from error
    except ImportError as error:
        raise click.ClickException("cvc5 is not installed: install hloproof[certify], or name a --solver") from error
    click.echo(", ".join(f"{n} {state}" for state, n in sorted(states.items())) or "no certificates")
    if states.keys() & {"tampered", "missing", "not listed"}:
        return int(Exit.BAD_INPUT)
    if "sat" in said:
        return int(Exit.REFUTED)
    return int(Exit.UNKNOWN if said else Exit.OK)
