"""`hloproof lsp`."""

from __future__ import annotations

import os

import click


@click.command("lsp", epilog="Example, as the command of a language server in an editor:  hloproof lsp")
def command() -> int:
    """Show findings in an editor while one types: a language server on standard input and output.

    For *.rules, *.trules, *.map, *.layout, *.hlo and *.txt. Needs pygls: pip install 'hloproof[lsp]'.
    """
    try:
        from hloproof.server.language import make_server
    except ModuleNotFoundError as error:
        if error.name not in ("pygls", "lsprotocol"):
            raise
        raise click.ClickException("the language server needs pygls: pip install 'hloproof[lsp]'") from error
    with os.fdopen(os.dup(1), "wb") as answers:  # the server closes what it writes to
        make_server().start_io(stdout=answers)
    return 0
