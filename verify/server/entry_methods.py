"""Methods about maps, layouts, entries of spec files and claims: all that needs no module.

Implementations are imported when a method is first called.
"""

from __future__ import annotations

from typing import Any

from hloproof.server.method import BadParameters, listener


def parse_map(map: str) -> dict[str, str]:
    """The map in canonical text. Raises InputError."""
    from hloproof.models.maps.text import parse_map, print_map

    return {"map": print_map(parse_map(map))}


def compose(first: str, second: str) -> dict[str, str]:
    """The second map after the first. Raises InputError, and BadParameters where they do not fit."""
    from hloproof.models.maps.indexing_map import compose
    from hloproof.models.maps.text import parse_map, print_map

    consumer, producer = parse_map(first), parse_map(second)
    try:
        return {"map": print_map(compose(consumer, producer))}
    except ValueError as error:
        raise BadParameters(str(error)) from error


def rewrite(before: str, after: str) -> dict[str, Any]:
    """Whether two maps are equal at every point, as `hloproof rewrite` says it. Raises InputError."""
    from hloproof.claims.maps.rewrite import equality_of, rewrite
    from hloproof.models.maps.text import parse_map

    one, two = parse_map(before), parse_map(after)
    result = rewrite(one, two)
    return {
        "verdict": str(result.verdict),
        "counterexample": result.counterexample,
        "reason": result.reason,
        "equality": equality_of(one, two),
    }


def simplify(map: str, rescale: bool = False, remove_unused: bool = False) -> dict[str, Any]:
    """The simplified map, its derivation, and the verdict that both are equal. Raises InputError."""
    from hloproof.claims.maps.simplified import simplified
    from hloproof.models.maps.text import parse_map, print_map

    result = simplified(parse_map(map), rescale=rescale, remove_unused=remove_unused)
    why = {"counterexample": result.found.counterexample, "reason": result.found.reason}
    return {
        "map": print_map(result.map),
        "derivation": [str(step) for step in result.derivation],
        "verdict": str(result.found.verdict),
        **{name: told for name, told in why.items() if told},
    }


def rules(text: str) -> dict[str, Any]:
    """The verdicts on a text that is a `.rules` file. Raises InputError."""
    return _entries("rules", text)


def tensor_rules(text: str) -> dict[str, Any]:
    """The verdicts on a text that is a `.trules` file. Raises InputError."""
    return _entries("trules", text)


def maps(text: str) -> dict[str, Any]:
    """The verdicts on a text that is a `.map` file. Raises InputError."""
    return _entries("map", text)


def layouts(text: str) -> dict[str, Any]:
    """The verdicts on a text that is a `.layout` file. Raises InputError."""
    return _entries("layout", text)


def _entries(kind: str, text: str) -> dict[str, Any]:
    """The verdicts on the entries of a text that is a file of this kind."""
    from hloproof.models.errors import InputError
    from hloproof.models.line_ends import with_line_ends
    from hloproof.pipeline.driver import check_text
    from hloproof.pipeline.options import Options
    from hloproof.report.json_report import obligations
    from hloproof.results.results import Report

    found = check_text("", kind, text, Options(jobs=1), here=True, progress=listener.get())
    for problem in found.problems:
        lines = with_line_ends(text).split("\n")
        line = lines[problem.line - 1] if 0 < problem.line <= len(lines) else ""
        raise InputError(problem.message, problem.line, problem.column, line)
    report = Report([found])
    return {"verdict": str(report.verdict), "obligations": obligations(report)}


def claims() -> dict[str, Any]:
    """Every claim of the catalogue."""
    from hloproof.claims.catalogue import CATALOGUE

    return {"claims": [_explained(entry) for entry in CATALOGUE.values()]}


def explain(claim: str) -> dict[str, Any]:
    """One claim, or all of a family. Raises BadParameters for an unknown name."""
    from hloproof.claims.catalogue import CATALOGUE, unknown_name
    from hloproof.results.verdict import family

    found = [e for e in CATALOGUE.values() if claim == e.name]
    found = found or [e for e in CATALOGUE.values() if claim == family(e.name)]
    if not found:
        raise BadParameters(unknown_name(claim) or f"no claim {claim!r}")
    return {"claims": [_explained(entry) for entry in found]}


def _explained(entry: Any) -> dict[str, Any]:
    return {
        "name": entry.name,
        "about": entry.about,
        "sentence": entry.sentence,
        "meaning": entry.meaning,
        "holds": entry.holds,
        "fails": entry.fails,
        "on_request": entry.on_request,
    }


def layout(
    shape: str, index: list[int] | None = None, linear_index: int | None = None, maps: bool = False, compare: str = ""
) -> dict[str, Any]:
    """What `hloproof layout` says of a shape; indices count from 0. Raises BadParameters where one does not fit."""
    from hloproof.queries.layouts import answer, compared, maps_of

    try:
        found = answer(shape, index=None if index is None else tuple(index), linear_index=linear_index)
        if maps:
            found["maps"] = maps_of(shape)
        if compare:
            found["compare"] = compared(shape, compare)
        return found
    except (LookupError, ValueError) as error:
        raise BadParameters(str(error.args[0])) from error
