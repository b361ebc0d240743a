"""`hloproof equiv`."""

from __future__ import annotations

from pathlib import Path

import click

from hloproof.commands.limits import SECONDS
from hloproof.results.plain import say


@click.command(
    "equiv",
    epilog="Examples:\n\n\b\n  hloproof equiv before.hlo after.hlo\n"
    "  hloproof equiv before.hlo after.hlo --tier exact --certificate proof.json",
)
@click.argument("before")
@click.argument("after")
@click.option(
    "--tier",
    type=click.Choice(("exact", "real", "rounding")),
    default="rounding",
    show_default=True,
    help="The weakest identities that a proof may use: exact bit for bit, over the reals, or up to rounding.",
)
@click.option("--budget", type=SECONDS, default=10.0, show_default=True, help="Seconds.")
@click.option("--certificate", type=click.Path(path_type=Path), metavar="FILE", help="Write the proof to FILE.")
@click.option("--inputs", type=click.Path(path_type=Path), metavar="FILE", help="Write the inputs that refute to FILE.")
@click.option("--format", "form", type=click.Choice(("text", "json", "html")), default="text", show_default=True)
def command(
    before: str, after: str, tier: str, budget: float, certificate: Path | None, inputs: Path | None, form: str
) -> int:
    """Prove that two modules, BEFORE and AFTER a pass, compute the same, or show inputs on which they differ.

    Each is a file of HLO text with one module, or - for standard input. Parameters and results must agree in number,
    element types, sizes and nesting; layouts may differ. Exit status: 0 proved, 1 refuted, 2 modules that cannot be
    read or do not fit each other, 3 unknown.
    """
    import json

    from hloproof.pipeline.sources import Source
    from hloproof.queries.certificates import certificate_text
    from hloproof.queries.equivalence import compare, one_module, tier_named
    from hloproof.report.equivalence import text_lines
    from hloproof.results.files import write_file
    from hloproof.results.results import exit_status

    if before == after == "-":
        raise click.UsageError("Only one of the two can be standard input.")
    for path in (certificate, inputs):
        if path is not None and not path.parent.is_dir():
            raise click.ClickException(f"{path}: no such file or directory")
    texts = [Source(name, "hlo").read() for name in (before, after)]
    modules = [one_module(text, name) for text, name in zip(texts, (before, after), strict=True)]
    answer = compare(modules[0], modules[1], tier_named(tier), budget, after)
    if certificate is not None and answer.certificate is not None:
        write_file(certificate, [certificate_text(texts[0], texts[1], answer.certificate)])
    if inputs is not None and answer.refutation is not None:
        write_file(inputs, [json.dumps(answer.refutation.inputs) + "\n"])
    if form == "json":
        click.echo(json.dumps({**answer.as_json(), "verdict": str(answer.verdict)}))
    elif form == "html":
        from hloproof.report.html.comparisons import of_pair

        said = {**answer.as_json(), "verdict": str(answer.verdict)}
        say("".join(of_pair(said, (before, texts[0]), (after, texts[1]))))
    else:
        for line in text_lines(answer, before, after):
            say(line)
    return int(exit_status({answer.verdict}))
