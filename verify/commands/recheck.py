"""`hloproof recheck`."""

from __future__ import annotations

from pathlib import Path

import click

from hloproof.commands.limits import SECONDS
from hloproof.results.plain import say


@click.command(
    "recheck", epilog="Examples:\n\n\b\n  hloproof recheck certificates/ --solver z3\n  hloproof recheck proof.json"
)
@click.argument("folder", metavar="PATH", type=click.Path(path_type=Path, exists=True))
@click.option("--solver", metavar="CMD", help="A program that reads an SMT-LIB file and prints unsat; default: cvc5.")
@click.option("--seconds", type=SECONDS, default=60.0, help="Limit for one certificate.")
@click.option("--quiet", "-q", is_flag=True, help="Print only what is not proved.")
def command(folder: Path, solver: str | None, seconds: float, quiet: bool) -> int:
    """Prove again the certificates of a folder, which `hloproof check --certify` wrote, or the one of a file, which
    `hloproof equiv --certificate` wrote.

    Only the files are used. The certificate of a tensor rule names obligations of its folder: the rule is taken apart
    again, with no other help. Of a folder the digests are compared with the manifest, and a solver is asked; a file is
    read by the checker of equivalence alone. Exit status: 0 all proved, 1 a solver finds a counterexample, 2 a file was
    changed, added or taken away, or is no certificate, 3 no answer, or a proof that is not accepted.
    """
    from collections import Counter

    if folder.is_file():
        return _equivalence(folder)
    from hloproof.engines.certificate import recheck
    from hloproof.queries.certificates import recheck_tensor_rules
    from hloproof.results.files import read_bytes
    from hloproof.results.results import exit_status
    from hloproof.results.verdict import Verdict

    states: Counter[str] = Counter()
    said: set[str] = set()
    shown: set[str] = set()
    try:
        for result in recheck(folder, solver, seconds, lambda path: read_bytes(path, str(path))):
            states[result.state] += 1
            if result.state == "proved":
                shown.add(Path(result.name).stem)
            if result.state == "not proved":
                said.add(result.detail)
            if result.state != "proved" or not quiet:
                say(f"{result.name}: {result.state}{f' ({result.detail})' if result.state != 'proved' else ''}")
        for name, reason in recheck_tensor_rules(folder, shown):
            states["not proved" if reason else "proved"] += 1
            said |= {"not accepted"} if reason else set()
            if reason or not quiet:
                say(f"{name}: {'not proved (' + reason + ')' if reason else 'proved'}")
    except FileNotFoundError as error:
        raise click.ClickException(f"{folder} has no manifest: hloproof check --certify writes one") from error
    except (OSError, ValueError) as error:
        raise click.ClickException(str(error)) from error
    except ImportError as error:
        raise click.ClickException("cvc5 is not installed: install hloproof[certify], or name a --solver") from error
    if not states:
        raise click.ClickException(f"{folder} has no certificates: its manifest names none")
    say(", ".join(f"{n} {state}" for state, n in sorted(states.items())))
    verdicts = [Verdict.REFUTED if word == "sat" else Verdict.UNKNOWN for word in said]
    return int(exit_status(verdicts, bool(states.keys() - {"proved", "not proved"})))


def _equivalence(file: Path) -> int:
    from hloproof.queries.certificates import recheck_text
    from hloproof.results.files import read_file
    from hloproof.results.results import exit_status

    result = recheck_text(read_file(file), str(file))
    say(f"{file}: {result.verdict}{f': {result.reason}' if result.reason else ''}")
    for name, tier in result.axioms:  # as `equiv` does: what it rests on is part of the answer
        say(f"  by {name} ({tier})")
    return int(exit_status({result.verdict}))
