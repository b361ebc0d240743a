"""`hloproof run`."""

from __future__ import annotations

import json
from typing import Any

import click

from hloproof.commands.limits import budgeted
from hloproof.results.plain import say
from hloproof.results.verdict import Exit


@click.command(
    "run",
    epilog="Examples:\n\n\b\n  hloproof run model.hlo --seed 7\n"
    "  hloproof run model.hlo --inputs inputs.json --semantics hashed",
)
@click.argument("module")
@click.option("--inputs", metavar="FILE", help="JSON: a list with one value per parameter, as nested lists.")
@click.option("--seed", type=int, default=0, show_default=True, help="Inputs (without --inputs) and random numbers.")
@click.option("--semantics", type=click.Choice(("real", "hashed")), default="real", show_default=True)
@click.option("--replicas", type=click.IntRange(1), help="Default: the module's replica_count, or 1.")
@click.option("--partitions", type=click.IntRange(1), help="Default: the module's num_partitions, or 1.")
@click.option("--memory", metavar="ASSIGNMENT", help="Run with every value at its place of this memory plan.")
@budgeted(300.0)
def command(
    module: str,
    inputs: str | None,
    seed: int,
    semantics: str,
    replicas: int | None,
    partitions: int | None,
    memory: str | None,
) -> int | None:
    """Evaluate MODULE, a file of HLO text or - for standard input, and print the result as JSON.

    Tuples are lists, tokens null, complex numbers pairs [re, im]; NaN and infinities are spelled as Python's json does.
    With several devices: a list with one result per device. Under `hashed` a float is an integer that changes whenever
    a different element moves there.

    An input may be written in short, for arrays of any size: {"starts": [[0, 3], [0, 1]], "values": [[1, 2], [3, 4]]}
    cuts each dimension into ranges, given by where they begin, and has one value for each box of ranges.

    With --memory values are stored as bytes at their places, operations in flight work early, late and in between, and
    results over operands are made in several orders; the first reader that finds other bytes than were written is told.
    """
    if memory is not None:
        return _with_memory(module, memory, seed)
    from hloproof.models.errors import NotModelled
    from hloproof.models.hlo.parser import parse_modules
    from hloproof.models.interpreter.operations.collective import Stuck
    from hloproof.models.interpreter.value import BadArgument
    from hloproof.pipeline.sources import Source
    from hloproof.queries.running import run_once
    from hloproof.results.files import STANDARD_INPUT, read_named, value_of

    found = parse_modules(Source(module, "hlo").read(), module)
    given = None
    if inputs is not None:
        if inputs == module == STANDARD_INPUT:
            raise click.UsageError("Only one of MODULE and --inputs can be standard input.")
        given = value_of(read_named(inputs), inputs)
        if not isinstance(given, list):
            raise click.ClickException(f"{inputs}: expected a list with one value per parameter")
    if len(found) > 1:
        raise click.ClickException(f"{len(found)} modules where one was expected")
    try:
        result = run_once(found[0], given, semantics, replicas, partitions, seed)
    except BadArgument as error:
        raise click.ClickException(str(error)) from error
    except (NotModelled, Stuck) as error:
        notes = " ".join(getattr(error, "__notes__", ()))
        say(f"{module}: not evaluated: {error} {notes}".rstrip(), err=True)
        return int(Exit.UNKNOWN)
    click.echo(_text(result, {}))  # JSON
    return None


def _text(value: Any, known: dict[int, str]) -> str:
    """The JSON of nested lists; rows that are the same list are written once."""
    if not isinstance(value, (list, tuple)) or not any(isinstance(v, (list, tuple)) for v in value):
        return json.dumps(value, default=_number)
    parts = []
    for v in value:
        text = known.get(id(v))
        if text is None:
            text = _text(v, known)
            if isinstance(v, list):
                known[id(v)] = text
        parts.append(text)
    return f"[{', '.join(parts)}]"


def _with_memory(module: str, assignment: str, seed: int) -> int:
    from hloproof.memory.plan import Plan
    from hloproof.memory.replay import LONG, WAYS, replay
    from hloproof.models.errors import NotModelled
    from hloproof.models.hlo.parser import parse_module
    from hloproof.models.memory.assignment import parse_assignment
    from hloproof.pipeline.sources import Source

    hlo, text = (Source(path, "hlo").read() for path in (module, assignment))
    plan = Plan(parse_module(hlo, module), parse_assignment(text, assignment))
    try:
        found = replay(plan, seed, LONG)
    except NotModelled as reason:
        say(f"{module}: not run: {reason}", err=True)
        return int(Exit.UNKNOWN)
    if found is not None:
        say(f"{module}: {found}")
        return int(Exit.REFUTED)
    say(f"{module}: every reader found what was written, in {len(WAYS)} ways to run the plan")
    return int(Exit.OK)


def _number(value: object) -> object:
    if isinstance(value, complex):
        return [value.real, value.imag]
    raise TypeError(f"no JSON for {value!r}")
