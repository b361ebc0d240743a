"""What `hloproof serve` can be asked. Implementations are imported when a method is first called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from hloproof.version import VERSION


class BadParameters(Exception):
    """The parameters are of the right types but make no sense together."""


@dataclass(frozen=True)
class Method:
    """`parameters` maps a name to its type in words; a trailing `?` marks an optional one."""

    run: Callable[..., Any]
    parameters: Mapping[str, str] = field(default_factory=dict)


def parse_map(map: str) -> dict[str, str]:
    from hloproof.models.maps.text import parse_map, print_map

    return {"map": print_map(parse_map(map))}


def parse_module(hlo: str) -> dict[str, Any]:
    from hloproof.models.hlo.parser import parse_modules
    from hloproof.models.hlo.printer import print_module

    modules = parse_modules(hlo)
    return {"module": "\n// -----\n".join(print_module(m) for m in modules), "names": [m.name for m in modules]}


def compose(first: str, second: str) -> dict[str, str]:
    from hloproof.models.maps.indexing_map import compose
    from hloproof.models.maps.text import parse_map, print_map

    consumer, producer = parse_map(first), parse_map(second)
    try:
        return {"map": print_map(compose(consumer, producer))}
    except ValueError as error:
        raise BadParameters(str(error)) from error


def indexing(
    hlo: str,
    direction: str = "output-to-input",
    instruction: str = "",
    output: int = 0,
    input: int = 0,
    fused: bool = False,
) -> dict[str, Any]:
    from hloproof.models.hlo.parser import parse_module
    from hloproof.models.indexing.composition.route import DIRECTIONS
    from hloproof.queries.indexing import answer, as_json

    if direction not in DIRECTIONS:
        raise BadParameters(f"direction is {' or '.join(DIRECTIONS)}, not {direction!r}")
    try:
        found = answer(parse_module(hlo), instruction, direction, output=output, input=input, fused=fused)
    except LookupError as error:
        raise BadParameters(str(error.args[0])) from error
    return {"operands": as_json(found)}


def rewrite(before: str, after: str) -> dict[str, Any]:
    from hloproof.claims.maps.rewrite import rewrite
    from hloproof.models.maps.text import parse_map

    result = rewrite(parse_map(before), parse_map(after))
    return {
        "verdict": str(result.verdict),
        "counterexample": result.counterexample,
        "reason": result.reason,
        "equality": result.equality,
    }


def simplify(map: str, rescale: bool = False, remove_unused: bool = False) -> dict[str, Any]:
    from hloproof.claims.maps.simplified import simplified
    from hloproof.models.maps.text import parse_map, print_map

    result = simplified(parse_map(map), rescale=rescale, remove_unused=remove_unused)
    why = {"counterexample": result.counterexample, "reason": result.reason}
    return {
        "map": print_map(result.map),
        "derivation": [str(step) for step in result.derivation],
        "verdict": str(result.verdict),
        **{name: told for name, told in why.items() if told},
    }


_proved_before: Final[dict[str, Any]] = {}
"""What `check` has proved in this process, by normal form."""


def check(
    hlo: str, only: list[str] | None = None, skip: list[str] | None = None, layout_sensitive: bool = False
) -> dict[str, Any]:
    from hloproof.claims.catalogue import unknown_name
    from hloproof.pipeline.driver import check_hlo
    from hloproof.pipeline.options import Options, Selection
    from hloproof.report.json_report import obligations

    for name in (*(only or ()), *(skip or ())):
        if sentence := unknown_name(name):
            raise BadParameters(sentence)
    options = Options(Selection(tuple(only or ()), tuple(skip or ())), layout_sensitive=layout_sensitive)
    report = check_hlo(hlo, options, _proved_before)
    return {"verdict": str(report.verdict), "obligations": obligations(report)}


def equiv(before: str, after: str, budget: float = 10.0, tier: str = "rounding") -> dict[str, Any]:
    from hloproof.queries.equivalence import compare, one_module, tier_named

    try:
        named = tier_named(tier)
    except LookupError as error:
        raise BadParameters(str(error.args[0])) from error
    if not budget > 0:
        raise BadParameters(f"budget is a positive number of seconds, not {budget}")
    return compare(one_module(before, "before"), one_module(after, "after"), named, budget, "after").as_json()


def memory(hlo: str, assignment: str) -> dict[str, Any]:
    from hloproof.pipeline.memory_plans import check_plan
    from hloproof.report.json_report import obligations

    report = check_plan(hlo, assignment)
    return {"verdict": str(report.verdict), "obligations": obligations(report)}


def layout(shape: str, index: list[int] | None = None, linear_index: int | None = None) -> dict[str, Any]:
    from hloproof.queries.layouts import answer

    try:
        return answer(shape, index=None if index is None else tuple(index), linear_index=linear_index)
    except (LookupError, ValueError) as error:
        raise BadParameters(str(error.args[0])) from error


def version() -> dict[str, str]:
    return {"name": "hloproof", "version": VERSION, "schema": "hloproof/1"}


def shutdown() -> None:
    return None


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
        },
    ),
    "rewrite": Method(rewrite, {"before": "string", "after": "string"}),
    "simplify": Method(simplify, {"map": "string", "rescale?": "boolean", "remove_unused?": "boolean"}),
    "check": Method(
        check, {"hlo": "string", "only?": "list of strings", "skip?": "list of strings", "layout_sensitive?": "boolean"}
    ),
    "equiv": Method(equiv, {"before": "string", "after": "string", "budget?": "number", "tier?": "string"}),
    "memory": Method(memory, {"hlo": "string", "assignment": "string"}),
    "layout": Method(layout, {"shape": "string", "index?": "list of integers", "linear_index?": "integer"}),
    "version": Method(version),
    "shutdown": Method(shutdown),
}
