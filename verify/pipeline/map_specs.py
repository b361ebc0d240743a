"""Map specs judged: maps of an instruction by the definition of its operation, maps through several instructions by the
composition, maps against maps and modules against modules by the one equality of maps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from time import perf_counter

from hloproof.claims.maps.defined import UndefinedMap
from hloproof.claims.maps.rewrite import rewrite, second_prover
from hloproof.claims.maps.two_readings import under_both, with_remainders_from_zero
from hloproof.engines.door import HOW, How, prove_one
from hloproof.models.errors import InputError, NotModelled, Position
from hloproof.models.hlo.beside import unknown_in
from hloproof.models.specs.maps import ClaimedMaps, MapSpec
from hloproof.pipeline.claimed_maps import as_defined, composed_as_said, same_modules
from hloproof.queries.indexing import find_instruction
from hloproof.results.expectation import met, met_problem
from hloproof.results.verdict import ClaimResult, Found, Related, Verdict

COMPOSED = frozenset({"fusion", "call"})
"""Opcodes whose maps are those of the computation that they call."""


def check_map_spec(spec: MapSpec, file: str = "", how: How = HOW) -> ClaimResult:
    """The verdict on one spec, at the clause that it is about. An expectation that is met counts as proved; one that is
    not, as refuted."""
    started = perf_counter()
    place, judged = (None, met_problem(spec.problem)) if spec.expect == "error" else _judged(spec, how)
    found = judged if spec.expect == "error" else met(spec.expect, judged)
    if found.verdict is Verdict.PROVED or found.verdict is not judged.verdict:
        place = None  # what is said is about the entry
    line, column = (spec.line, spec.column) if place is None else (place.line, place.column)
    return ClaimResult(
        f"{file}#{spec.name}",
        "map",
        file,
        "",
        line,
        column,
        spec.name,
        replace(found, claim="definition", ms=(perf_counter() - started) * 1e3),
        related=() if place is None else (Related(spec.line, spec.column, f"the entry {spec.name}"),),
    )


def _judged(spec: MapSpec, how: How) -> tuple[Position | None, Found]:
    """The worst of what is found, and the clause that it is about."""
    engines: set[str] = set()
    unknown: tuple[Position | None, Found] | None = None
    try:
        for place, found in _statements(spec, how):
            engines |= set(found.engines)
            if found.verdict in (Verdict.REFUTED, Verdict.INTERNAL):
                return place, found
            if found.verdict is not Verdict.PROVED:
                unknown = unknown or (place, found)
    except NotModelled as error:
        return None, Found(Verdict.UNKNOWN, reason=f"not modelled: {error}")
    except (InputError, LookupError) as error:
        return None, Found(Verdict.UNKNOWN, reason=str(error.args[0]))
    return unknown or (None, Found(Verdict.PROVED, tuple(sorted(engines))))


def _statements(spec: MapSpec, how: How) -> Iterator[tuple[Position | None, Found]]:
    for (mode, other), place in zip(spec.equal, spec.equal_positions, strict=True):
        assert spec.map is not None
        try:
            found = rewrite(spec.map, other, mode, how)
        except UndefinedMap as error:
            yield place, Found(Verdict.REFUTED, counterexample=error.message)
            continue
        yield place, found
    if spec.module is None:
        return
    for module in filter(None, (spec.module, spec.after)):
        if words := unknown_in(module):
            raise NotModelled(f"it is not known what {', '.join(sorted(words))} says")
    ask, again = partial(prove_one, how=how), second_prover(how)
    computation, instruction = find_instruction(spec.module, spec.instruction)

    def judged(claimed: ClaimedMaps) -> Found:
        assert spec.module is not None
        if spec.follow or instruction.opcode in COMPOSED:
            return composed_as_said(spec, spec.module, claimed, ask, again)
        return as_defined(spec, computation, instruction, claimed, ask)

    for claimed in spec.claimed:
        from_zero = replace(claimed, maps=tuple(map(with_remainders_from_zero, claimed.maps)))
        yield claimed.position, under_both(judged, claimed, from_zero)
    if spec.after is not None:
        for found in same_modules(spec, spec.module, spec.after, ask, again):
            yield spec.after_position, found
