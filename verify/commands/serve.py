"""`hloproof serve`."""

from __future__ import annotations

import click

from hloproof.commands.limits import AMOUNT_OF_MEGABYTES, SECONDS


@click.command("serve", epilog="""Example:  echo '{"jsonrpc":"2.0","id":1,"method":"version"}' | hloproof serve""")
@click.option("--jobs", "-j", type=click.IntRange(0), default=0, help="Requests at once; 0 is one per core.")
@click.option("--seconds", type=SECONDS, default=300.0, show_default=True, help="Without a budget.")
@click.option(
    "--megabytes", type=click.IntRange(64, 1 << 20), default=2048, show_default=True, help="Memory of one worker."
)
@click.option(
    "--request-megabytes", type=AMOUNT_OF_MEGABYTES, default=32.0, show_default=True, help="A longer line is refused."
)
@click.option(
    "--worker-megabytes", type=AMOUNT_OF_MEGABYTES, default=160.0, show_default=True, help="Then it is renewed."
)
@click.option("--schema", is_flag=True, help="Print the protocol as a JSON Schema, and end.")
def command(
    jobs: int, seconds: float, megabytes: int, request_megabytes: float, worker_megabytes: float, schema: bool
) -> int:
    """Answer JSON-RPC 2.0 requests, one per line on standard input, one answer per line on standard output.

    Methods: parse_map, parse_module, indexing, compose, rewrite, simplify, check, rules, tensor_rules, maps, layouts,
    equiv, passes, recheck, analyze, aliases, run, memory, layout, claims, explain, version, shutdown.

    Requests are carried out side by side and answered as they are done. Each takes `budget` (seconds) and `progress`;
    `$/cancel` with its id ends it. The protocol: docs/protocol.md.
    """
    import json

    from hloproof.server.schema import whole
    from hloproof.server.serve import Limits, serve_standard_streams

    if schema:
        click.echo(json.dumps(whole(), indent=1))
        return 0
    limits = Limits(jobs, seconds, megabytes, request_megabytes, worker_megabytes=worker_megabytes)
    return serve_standard_streams(limits)
