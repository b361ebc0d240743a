"""`hloproof serve`."""

from __future__ import annotations

import click


@click.command("serve", epilog="""Example:  echo '{"jsonrpc":"2.0","id":1,"method":"version"}' | hloproof serve""")
def command() -> int:
    """Answer JSON-RPC 2.0 requests, one per line on standard input, one answer per line on standard output.

    Methods: parse_map, parse_module, indexing, compose, rewrite, simplify, check, equiv, memory, layout, version,
    shutdown.
    """
    from hloproof.server.serve import serve_standard_streams

    return serve_standard_streams()
