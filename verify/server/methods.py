"""What `hloproof serve` can be asked. Implementations are imported when a method is first called.

Parameters and results are those of the commands of the same names; docs/protocol.md has an example of each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from hloproof.server.entry_methods import (
    claims,
    compose,
    explain,
    layout,
    layouts,
    maps,
    parse_map,
    rewrite,
    rules,
    simplify,
    tensor_rules,
)
from hloproof.server.method import BadParameters, Method, listener
from hloproof.version import VERSION

PROTOCOL: Final = "hloproof-serve/1"
"""Changes where a client that was written for the one before may fail; more methods, parameters and fields do not."""


def parse_module(hlo: str) -> dict[str, Any]:
    """The modules of a text, printed again, with their names."""
    from hloproof.models.hlo.parser import parse_modules
    from hloproof.models.hlo.printer import print_module

    modules = parse_modules(hlo)
    return {"module": "\n// -----\n".join(print_module(m) for m in modules), "names": [m.name for m in modules]}


def indexing(
    hlo: str,
    direction: str = "output-to-input",
    instruction: str = "",
    output: int = 0,
    input: int = 0,
    fused: bool = False,
    layout: str = "logical",
) -> dict[str, Any]:
    """The maps of one output, or of one operand, of an instruction. Raises BadParameters for what is not there."""
    from hloproof.models.hlo.parser import parse_module
    from hloproof.queries.indexing import answer, as_json, direction_named, layout_named

    try:
        way, order = direction_named(direction), layout_named(layout)
        found = answer(parse_module(hlo), instruction, way, output, input, fused, order)
    except LookupError as error:
        raise BadParameters(str(error.args[0])) from error
    return {"operands": as_json(found)}


_proved_before: Final[dict[str, Any]] = {}
"""What `check` has proved in this process, by normal form."""

MOST_REMEMBERED: Final = 20_000
"""So many proofs are kept at the most."""


def check(
    hlo: str, only: list[str] | None = None, skip: list[str] | None = None, layout_sensitive: bool = False
) -> dict[str, Any]:
    """The report on a module, with what was proved before in this process."""
    from hloproof.claims.catalogue import unknown_name
    from hloproof.pipeline.driver import check_hlo
    from hloproof.pipeline.options import Options, Selection
    from hloproof.report.json_report import obligations

    for name in (*(only or ()), *(skip or ())):
        if sentence := unknown_name(name):
            raise BadParameters(sentence)
    options = Options(Selection(tuple(only or ()), tuple(skip or ())), layout_sensitive=layout_sensitive)
    if len(_proved_before) > MOST_REMEMBERED:
        _proved_before.clear()
    report = check_hlo(hlo, options, _proved_before, progress=listener.get())
    return {"verdict": str(report.verdict), "obligations": obligations(report)}


_NO_PROOF: Final[Mapping[str, Any]] = {"axioms": [], "counterexample": None, "mismatch": None, "seconds": 0.0}


def equiv(
    before: str, after: str, budget: float = 10.0, tier: str = "rounding", certificate: bool = False
) -> dict[str, Any]:
    """Whether two modules compute the same, within a tier."""
    from hloproof.models.stages import OutOfTime
    from hloproof.queries.certificates import certificate_text
    from hloproof.queries.equivalence import compare, one_module, tier_named

    try:
        named = tier_named(tier)
    except LookupError as error:
        raise BadParameters(str(error.args[0])) from error
    if not budget > 0:
        raise BadParameters(f"budget is a positive number of seconds, not {budget}")
    modules = one_module(before, "before"), one_module(after, "after")
    try:
        found = compare(*modules, named, budget, "after")
    except OutOfTime as error:
        return {"verdict": "unknown", "reason": str(error), **_NO_PROOF}
    if not certificate:
        return found.as_json()
    proof = None if found.certificate is None else certificate_text(before, after, found.certificate)
    return {**found.as_json(), "certificate": proof}


def passes(
    modules: list[str], names: list[str] | None = None, pair_budget: float = 10.0, tier: str = "rounding"
) -> dict[str, Any]:
    """Each module against the next, and the first against the last; what the time leaves over is unknown."""
    from hloproof.models.stages import seconds_left

    given = names if names is not None else [str(n) for n in range(len(modules))]
    if len(modules) < 2 or len(given) != len(modules):
        raise BadParameters("passes takes two modules or more, and as many names")
    changes: list[dict[str, Any]] = []
    pairs = [(n, n + 1) for n in range(len(modules) - 1)] + [(0, len(modules) - 1)] * (len(modules) > 2)
    for done, (one, two) in enumerate(pairs):
        report = listener.get()
        if report is not None:
            report(done, len(pairs), given[two])
        left = seconds_left()
        seconds = pair_budget if left is None else min(pair_budget, left)
        if seconds > 0:
            found = equiv(modules[one], modules[two], seconds, tier)
        else:
            found = {"verdict": "unknown", "reason": "the total time ran out (budget)", **_NO_PROOF}
        changes.append({"before": given[one], "after": given[two], **found})
    whole = changes.pop() if len(modules) > 2 else None
    return {"changes": changes, "whole": whole}


def recheck(certificate: str) -> dict[str, Any]:
    """What the checker says of a certificate of equivalence, without a search."""
    from hloproof.queries.certificates import recheck_text

    found = recheck_text(certificate, "certificate")
    axioms = [{"name": name, "tier": tier} for name, tier in found.axioms]
    return {"verdict": str(found.verdict), "reason": found.reason, "axioms": axioms}


def analyze(
    hlo: str, instruction: str = "", tile: list[int] | None = None, launch: str = "", thread_map: str = ""
) -> dict[str, Any]:
    """What each fusion of a module reads, as `hloproof analyze` tells it."""
    from hloproof.analysis.launch import SECTOR, WARP, parse_launch, parse_thread_map
    from hloproof.analysis.printing import as_json
    from hloproof.analysis.report import analyze, ranks_by_name
    from hloproof.models.hlo.parser import parse_modules

    if launch and thread_map:
        raise BadParameters("launch and thread_map exclude each other")
    try:
        shape = parse_launch(launch, WARP, SECTOR) if launch else None
        if thread_map:
            shape = parse_thread_map(thread_map, WARP, SECTOR)
    except ValueError as error:
        raise BadParameters(f"{'thread_map' if thread_map else 'launch'}: {error}") from error
    if tile is not None and not all(isinstance(n, int) and not isinstance(n, bool) and n > 0 for n in tile):
        raise BadParameters(f"tile is a list of positive sizes, not {tile}")
    out: list[dict[str, Any]] = []
    for module in parse_modules(hlo):
        try:
            ranks = {rank for each in ranks_by_name(module, instruction).values() for rank in each}
            for name, given in (("tile", tile), ("thread_map", shape.map.results if shape and shape.map else None)):
                if given is not None and ranks and len(given) not in ranks:
                    raise BadParameters(f"{name} is of {len(given)} numbers, and outputs are of rank {sorted(ranks)}")
            sizes = tuple(tile) if tile is not None else None
            out += [as_json(found) | {"module": module.name} for found in analyze(module, instruction, sizes, shape)]
        except LookupError as error:
            raise BadParameters(str(error.args[0])) from error
    return {"instructions": out}


def aliases(hlo: str, may: bool = False, all: bool = False) -> dict[str, Any]:
    """The alias classes of a module."""
    from hloproof.models.hlo.parser import parse_modules
    from hloproof.queries.aliases import alias_classes

    return {"modules": [{"module": m.name, "classes": alias_classes(m, may, all)} for m in parse_modules(hlo)]}


def run(
    hlo: str,
    inputs: list[Any] | None = None,
    seed: int = 0,
    semantics: str = "real",
    replicas: int | None = None,
    partitions: int | None = None,
) -> dict[str, Any]:
    """The results of a module on given inputs, or on random ones."""
    from hloproof.models.errors import NotModelled
    from hloproof.models.interpreter.operations.collective import Stuck
    from hloproof.models.interpreter.value import BadArgument
    from hloproof.queries.equivalence import one_module
    from hloproof.queries.running import run_once, spelled, unspelled

    if semantics not in ("real", "hashed"):
        raise BadParameters(f"semantics is real or hashed, not {semantics!r}")
    if min(replicas or 1, partitions or 1) < 1:
        raise BadParameters("replicas and partitions are positive")
    module = one_module(hlo)
    try:
        given = None if inputs is None else unspelled(inputs)
        return {"result": spelled(run_once(module, given, semantics, replicas, partitions, seed))}
    except BadArgument as error:
        raise BadParameters(str(error)) from error
    except Stuck as error:
        raise NotModelled(str(error)) from error


def memory(hlo: str, assignment: str) -> dict[str, Any]:
    """The report on a memory plan and its module."""
    from hloproof.pipeline.memory_plans import check_plan
    from hloproof.report.json_report import obligations

    report = check_plan(hlo, assignment)
    return {"verdict": str(report.verdict), "obligations": obligations(report)}


def version() -> dict[str, Any]:
    """The versions of this program and of the protocol."""
    return {
        "name": "hloproof",
        "version": VERSION,
        "protocol": PROTOCOL,
        "schema": "hloproof/1",
        "methods": sorted(METHODS),
    }


def shutdown() -> None:
    """Ends the server when this is answered."""


METHODS: Final[Mapping[str, Method]] = {
    "parse_map": Method(parse_map, {"map": "string"}),
    "parse_module": Method(parse_module, {"hlo": "string"}),
    "compose": Method(compose, {"first": "string", "second": "string"}),
    "indexing": Method(
        indexing,
        {
            "hlo": "string",
            "direction?": "string",
            "instruction?": "string",
            "output?": "integer",
            "input?": "integer",
            "fused?": "boolean",
            "layout?": "string",
        },
    ),
    "rewrite": Method(rewrite, {"before": "string", "after": "string"}),
    "simplify": Method(simplify, {"map": "string", "rescale?": "boolean", "remove_unused?": "boolean"}),
    "check": Method(
        check, {"hlo": "string", "only?": "list of strings", "skip?": "list of strings", "layout_sensitive?": "boolean"}
    ),
    "rules": Method(rules, {"text": "string"}),
    "tensor_rules": Method(tensor_rules, {"text": "string"}),
    "maps": Method(maps, {"text": "string"}),
    "layouts": Method(layouts, {"text": "string"}),
    "equiv": Method(
        equiv,
        {"before": "string", "after": "string", "budget?": "number", "tier?": "string", "certificate?": "boolean"},
    ),
    "passes": Method(
        passes, {"modules": "list of strings", "names?": "list of strings", "pair_budget?": "number", "tier?": "string"}
    ),
    "recheck": Method(recheck, {"certificate": "string"}),
    "analyze": Method(
        analyze,
        {
            "hlo": "string",
            "instruction?": "string",
            "tile?": "list of integers",
            "launch?": "string",
            "thread_map?": "string",
        },
    ),
    "aliases": Method(aliases, {"hlo": "string", "may?": "boolean", "all?": "boolean"}),
    "run": Method(
        run,
        {
            "hlo": "string",
            "inputs?": "list",
            "seed?": "integer",
            "semantics?": "string",
            "replicas?": "integer",
            "partitions?": "integer",
        },
    ),
    "claims": Method(claims),
    "explain": Method(explain, {"claim": "string"}),
    "memory": Method(memory, {"hlo": "string", "assignment": "string"}),
    "layout": Method(
        layout,
        {
            "shape": "string",
            "index?": "list of integers",
            "linear_index?": "integer",
            "maps?": "boolean",
            "compare?": "string",
        },
    ),
    "version": Method(version, at_once=True),
    "shutdown": Method(shutdown, at_once=True),
}
