"""Fused updates in place: what the update reads of its buffer lies outside the window, or is the element it writes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hloproof.claims.asynchronous.judgement import NEEDS_COPY, Context, Judgement
from hloproof.engines.door import How, prove_one
from hloproof.logic.formula import Formula, conj, disj, eq, lt, within
from hloproof.logic.obligation import Obligation, Outcome
from hloproof.models.dataflow.in_place import fused_in_place, updating
from hloproof.models.dataflow.value_flow import Place, called
from hloproof.models.errors import NotModelled
from hloproof.models.expressions.expr import Const, Expr, Var, substitute
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.module import Computation, Instruction
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.indexing.composition.composer import Composer
from hloproof.models.indexing.composition.module_maps import followed_maps, plain_composer
from hloproof.models.indexing.composition.providers import provider_name
from hloproof.models.indexing.composition.route import OUTPUT_TO_INPUT
from hloproof.models.indexing.map_set import OperandMaps
from hloproof.models.maps.indexing_map import IndexingMap, RuntimeVariable

CLAIM = "hazard-in-place"


def hazard_in_place(context: Context) -> Iterator[Judgement]:
    """Owed by every fusion that ends in a dynamic-update-slice of one of its parameters."""
    module = context.chains.module
    composer: Composer | None = None
    for computation in module.computations:
        for i in computation.instructions:
            pairs = fused_in_place(module, i)
            if not pairs:
                continue
            composer = composer or plain_composer(module)
            body = module.by_name[called(i, "calls") or ""]
            place = Place(computation.name, i.name)
            for output, number, _ in pairs:
                found = _judge(composer, body, place, output, number, context.how)
                if found.problem is not None and not context.scheduled:
                    # Whether a fusion works in place is not decided before copies are inserted.
                    found = Judgement(CLAIM, place, note=f"{NEEDS_COPY}: not in place, for {found.problem}")
                yield found


def _judge(
    composer: Composer, body: Computation, place: Place, output: tuple[int, ...], number: int, how: How
) -> Judgement:
    root = body.root
    name = root.operands[output[0]] if output else root.name
    update = updating(body.by_name, name)
    parameter = body.parameters[number]
    assert update is not None
    others = [n for n in dict.fromkeys(root.operands) if n != name] if output else []
    try:
        for other in others:
            if any(s.maps or s.unknown for s in _reads(composer, body, body.by_name[other], number)):
                return Judgement(CLAIM, place, unknown=f"the result {other} of the fusion reads {parameter.name}, too")
        # A scatter's operands come first, as many as updates; what else it names must not read the buffer at all.
        into = len(update.operands) // 2 if update.opcode == "scatter" else 1
        reads = [s for n in update.operands[into:] for s in _reads(composer, body, body.by_name[n], number)]
    except NotModelled as reason:
        return Judgement(CLAIM, place, unknown=str(reason))
    if not any(s.maps or s.unknown for s in reads):
        return Judgement(CLAIM, place)
    if update.opcode == "scatter":
        return Judgement(CLAIM, place, unknown="a fused scatter that reads its buffer: what it writes is not followed")
    if update.operands[0] != parameter.name:
        return Judgement(CLAIM, place, unknown="the update goes into a bitcast of the parameter")
    reads = _reads(composer, body, body.by_name[update.operands[1]], number)
    engines: set[str] = set()
    for found in reads:
        if found.unknown:
            return Judgement(CLAIM, place, unknown=found.unknown)
        for m in found.maps:
            obligation, starts, positions = obligation_of(body, update, m)
            if obligation is None:
                return Judgement(CLAIM, place, unknown="the start indices are not scalars")
            outcome = prove_one(obligation, how)
            engines |= set(outcome.engines)
            if outcome.verdict == "refuted":
                judgement = _refuted(body, place, update, parameter, found, m, outcome, starts, positions)
                return replace(judgement, engines=tuple(sorted(engines)))
            if outcome.verdict != "proved":
                return Judgement(
                    CLAIM, place, unknown=outcome.reason, internal=outcome.verdict == "internal", final=outcome.final
                )
    return Judgement(CLAIM, place, engines=tuple(sorted(engines)))


def _reads(composer: Composer, body: Computation, i: Instruction, number: int) -> list[OperandMaps]:
    """What an instruction of the body reads of a parameter."""
    return [s for s in followed_maps(composer, body, i, OUTPUT_TO_INPUT) if s.operand == number]


def _refuted(
    body: Computation,
    place: Place,
    update: Instruction,
    parameter: Instruction,
    found: OperandMaps,
    m: IndexingMap,
    outcome: Outcome,
    starts: tuple[Expr, ...],
    positions: tuple[Expr, ...],
) -> Judgement:
    """What a counterexample to one map's obligation shows, if what is read there is followed exactly."""
    computed = [r.provider for r in m.runtime if not (r.provider or "").startswith("parameter(")]
    computed += [n for n in update.operands[2:] if body.by_name[n].opcode not in ("parameter", "constant")]
    if computed:
        return Judgement(CLAIM, place, unknown=f"the start index {computed[0]} is computed: not followed")
    if found.kind == "bound":
        return Judgement(CLAIM, place, unknown=f"what the update reads of {parameter.name} is known as a bound only")
    values = dict(outcome.model)
    index = ", ".join(str(_value(e, values)) for e in positions)
    writes = ", ".join(str(_value(s, values) + values.get(f"d{k}", 0)) for k, s in enumerate(starts))
    return Judgement(
        CLAIM,
        place,
        f"element [{writes}] of {place.instruction} is computed from {parameter.name}[{index}], which the update in "
        f"place of {update.name} (line {update.position.line}) overwrites as well",
    )


def _value(e: Expr, values: dict[str, int]) -> int:
    from hloproof.models.expressions.evaluate import evaluate

    return evaluate(e, values)


def obligation_of(
    body: Computation, update: Instruction, m: IndexingMap
) -> tuple[Obligation | None, tuple[Expr, ...], tuple[Expr, ...]]:
    """For every element d of the update and every element that it reads: that one is not written, or it is the element
    that d itself is written to. With the starts of the window and the index read, as expressions of the obligation."""
    target, window = body.by_name[update.operands[0]].shape, body.by_name[update.operands[1]].shape
    if not isinstance(target, ArrayShape) or not isinstance(window, ArrayShape):
        return None, (), ()
    variables = dict(m.intervals())
    known: dict[tuple[str, IndexingMap | None], str] = {}
    for k, r in enumerate(m.runtime):
        if r.provider is not None:
            known[r.provider, _scalar(r)] = f"rt{k}"
    starts: list[Expr] = []
    names = update.operands[2:]
    for k, (size, extent) in enumerate(zip(target.dimensions, window.dimensions, strict=True)):
        bound = Interval(0, size - extent)
        if len(names) != target.rank:
            return None, (), ()
        source = body.by_name[names[k]]
        literal = source.literal if source.opcode == "constant" else None
        if literal is not None and literal.lstrip("-").isdigit():
            starts.append(Const(min(max(int(literal), 0), bound.upper)))
            continue
        same = known.get((provider_name(source), None))
        if same is not None and variables[same] == bound:
            starts.append(Var(same))
        else:
            variables[f"start{k}"] = bound
            starts.append(Var(f"start{k}"))
    read = tuple(substitute(e, {}) for e in m.results)
    inside: list[Formula] = [eq(e, s + Var(f"d{k}")) for k, (e, s) in enumerate(zip(read, starts, strict=True))]
    outside: list[Formula] = []
    for e, s, extent in zip(read, starts, window.dimensions, strict=True):
        outside += [lt(e, s), lt(s + (extent - 1), e)]
    hypothesis = conj(*(within(c.expr, c.interval) for c in m.constraints))
    conclusion = disj(conj(*inside), *outside)
    label = "no element is read after it was overwritten"
    return Obligation(tuple(variables.items()), conclusion, hypothesis, label), tuple(starts), read


def _scalar(r: RuntimeVariable) -> IndexingMap | None:
    """None where the runtime variable is a scalar, so that its index says nothing; the index otherwise."""
    return None if r.index is None or not r.index.results else r.index
