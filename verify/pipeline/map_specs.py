"""Map specs judged: maps of an instruction by the definition of its operation, maps through several instructions by the
composition, maps against maps by equality."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import perf_counter

from hloproof.claims.maps.rewrite import rewrite
from hloproof.claims.operations.definition import Subject, definition_parts
from hloproof.claims.operations.in_bounds import in_bounds_parts
from hloproof.claims.statements.statement import Part
from hloproof.definitions import define
from hloproof.engines.door import HOW, How, prove_one
from hloproof.models.errors import InputError, NotModelled
from hloproof.models.hlo.module import Computation, Instruction, Module, Operation
from hloproof.models.hlo.shape import ArrayShape, leaves
from hloproof.models.indexing import OperandMaps
from hloproof.models.maps.indexing_map import IndexingMap
from hloproof.models.maps.text import print_map
from hloproof.models.specs.maps import ClaimedMaps, MapSpec
from hloproof.queries.indexing import answer, find_instruction
from hloproof.results.expectation import met, met_problem
from hloproof.results.verdict import ClaimResult, Found, Verdict

COMPOSED = frozenset({"fusion", "call"})
"""Opcodes whose maps are those of the computation that they call."""


def check_map_spec(spec: MapSpec, file: str = "", how: How = HOW) -> ClaimResult:
    """The verdict on one spec. An expectation that is met counts as proved; one that is not, as refuted."""
    started = perf_counter()
    found = met_problem(spec.problem) if spec.expect == "error" else met(spec.expect, _judged(spec, how))
    return ClaimResult(
        f"{file}#{spec.name}",
        "map",
        file,
        "",
        spec.line,
        spec.column,
        spec.name,
        "definition",
        found.verdict,
        found.engines,
        (perf_counter() - started) * 1e3,
        found.counterexample,
        found.reason,
    )


def _judged(spec: MapSpec, how: How) -> Found:
    engines: set[str] = set()
    unknown: Found | None = None
    try:
        for found in _statements(spec, how):
            engines |= set(found.engines)
            if found.verdict in (Verdict.REFUTED, Verdict.INTERNAL):
                return found
            if found.verdict is not Verdict.PROVED:
                unknown = unknown or found
    except NotModelled as error:
        return Found(Verdict.UNKNOWN, reason=f"not modelled: {error}")
    except (InputError, LookupError) as error:
        return Found(Verdict.UNKNOWN, reason=str(error.args[0]))
    return unknown or Found(Verdict.PROVED, tuple(sorted(engines)))


def _statements(spec: MapSpec, how: How) -> Iterator[Found]:
    for mode, other in spec.equal:
        assert spec.map is not None
        result = rewrite(spec.map, other, mode, how)
        yield Found(result.verdict, result.engines, result.counterexample, result.reason)
    if spec.module is None:
        return
    computation, instruction = find_instruction(spec.module, spec.instruction)
    for claimed in spec.claimed:
        if spec.follow or instruction.opcode in COMPOSED:
            yield _composed(spec, spec.module, claimed, how)
        else:
            yield _by_definition(spec, computation, instruction, claimed, how)
    if spec.after is not None:
        yield from _same_modules(spec, spec.module, spec.after, how)


def _by_definition(
    spec: MapSpec, computation: Computation, instruction: Instruction, claimed: ClaimedMaps, how: How
) -> Found:
    op = Operation.of(instruction, computation)
    outputs = [leaf for _, leaf in leaves(op.shape) if isinstance(leaf, ArrayShape)]
    if not 0 <= claimed.operand < len(op.operands) or not 0 <= spec.output < len(outputs):
        raise NotModelled(f"no operand {claimed.operand} or no output {spec.output} of {instruction.name}")
    operand = op.operands[claimed.operand]
    if not isinstance(operand, ArrayShape):
        raise NotModelled("maps to an operand that is a tuple")
    definition = define(op, spec.output, claimed.operand)
    about = Subject(op, spec.output, claimed.operand, outputs[spec.output], operand, claimed.direction)
    maps = OperandMaps(claimed.operand, definition.kind, claimed.maps)
    parts = [*in_bounds_parts(about, maps), *definition_parts(about, maps, definition)]
    return _proved(parts, how)


def _proved(parts: Sequence[Part], how: How) -> Found:
    engines: set[str] = set()
    unknown: Found | None = None
    for part in parts:
        outcome = prove_one(part.obligation, how)
        engines |= set(outcome.engines)
        if outcome.verdict == "refuted":
            return Found(Verdict.REFUTED, outcome.engines, part.describe(dict(outcome.model)))
        if outcome.verdict != "proved":
            unknown = unknown or Found(Verdict(outcome.verdict), reason=outcome.reason)
    return unknown or Found(Verdict.PROVED, tuple(sorted(engines)))


def _composed(spec: MapSpec, module: Module, claimed: ClaimedMaps, how: How) -> Found:
    """Each claimed map is one of the composition, and each of the composition is claimed."""
    forward = claimed.direction == "output-to-input"
    sets = answer(
        module, spec.instruction, claimed.direction, spec.output, 0 if forward else claimed.operand, fused=spec.follow
    )
    wanted = claimed.operand if forward or spec.follow else spec.output
    found = [m for s in sets if s.operand == wanted for m in s.maps]
    if any(s.unknown for s in sets if s.operand == wanted):
        raise NotModelled(next(s.unknown for s in sets if s.operand == wanted and s.unknown))
    return _same_sets(claimed.maps, found, ("said", "the composition"), how)


def _same_sets(one: Sequence[IndexingMap], two: Sequence[IndexingMap], names: tuple[str, str], how: How) -> Found:
    """Every map of one side is the same relation as one of the other side."""
    engines: set[str] = set()
    for maps, others, name in ((one, two, names[0]), (two, one, names[1])):
        for m in maps:
            results = [rewrite(m, other, "relational", how) for other in others]
            engines |= {e for r in results for e in r.engines}
            if any(r.verdict is Verdict.PROVED for r in results):
                continue
            if all(r.verdict is Verdict.REFUTED for r in results):
                other_name = names[1] if name == names[0] else names[0]
                told = f"{print_map(m)} is a map of {name} and none of {other_name}"
                if len(results) == 1:
                    told += f": {results[0].counterexample}"
                return Found(Verdict.REFUTED, tuple(sorted(engines)), told)
            return Found(Verdict.UNKNOWN, reason=next(r.reason for r in results if r.verdict is not Verdict.REFUTED))
    return Found(Verdict.PROVED, tuple(sorted(engines)))


def _same_modules(spec: MapSpec, before: Module, after: Module, how: How) -> Iterator[Found]:
    """Both modules read the same elements of each parameter."""
    here, there = (
        {s.operand: s for s in answer(m, "", "output-to-input", spec.output, fused=True)} for m in (before, after)
    )
    for number in sorted({*here, *there}):
        sides = [side.get(number) for side in (here, there)]
        for s in sides:
            if s is not None and s.unknown:
                raise NotModelled(s.unknown)
        one, two = (() if s is None else s.maps for s in sides)
        yield _same_sets(one, two, ("the module before", "the module after"), how)
