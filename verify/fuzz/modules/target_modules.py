"""Target `modules`: the maps of whole modules against what the interpreter is seen to read, and every claim proved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import Final

from hloproof.fuzz.modules.generate_modules import movement_modules
from hloproof.fuzz.target import Failure, Target
from hloproof.logic.obligation import Outcome
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.module import Module, Operation
from hloproof.models.hlo.parser import parse_module
from hloproof.models.hlo.shape import ArrayShape, Index
from hloproof.models.indexing.composition.module_maps import composer_of, followed_maps
from hloproof.models.indexing.map_set import OperandMaps
from hloproof.models.interpreter.maps import reader, relation
from hloproof.models.interpreter.operations.collective import Devices
from hloproof.models.interpreter.run import Machine
from hloproof.models.interpreter.semantics.counted import Counted, reads, tags
from hloproof.models.interpreter.value import Array, indices
from hloproof.results.results import OperationVerdicts

BITS: Final = 20
_REMEMBERED: Final = 20_000
"""Obligations, or operations, that were judged for modules before: most come again."""

Reads = Counter[tuple[Index, Index]]


def given_values(module: Module) -> list[Array]:
    """The parameters: tagged elements, and for integers numbers that follow from the module's name and size."""
    shapes = [p.shape for p in module.entry.parameters]
    counts = [s.elements if isinstance(s, ArrayShape) and s.element_type == "f32" else 0 for s in shapes]
    random = Random(sum(counts) + len(module.entry.instructions))
    all_tags, base = tags(sum(counts), BITS), 0
    given: list[Array] = []
    for shape, count in zip(shapes, counts, strict=True):
        if not isinstance(shape, ArrayShape):
            raise NotModelled("a parameter that is no array")
        data = all_tags[base : base + count] if count else [random.randint(-2, 5) for _ in range(shape.elements)]
        given.append(Array(shape.element_type, shape.dimensions, data))
        base += count
    return given


def observe(module: Module, given: list[Array]) -> dict[int, Reads]:
    """By parameter of floats: how often each element of the root reads each of its elements."""
    (result,) = Machine(module, Counted(), Devices(), 0).run([tuple(given)])
    if not isinstance(result, Array):
        raise NotModelled("a root that is no array")
    where = [(n, index) for n, x in enumerate(given) if x.element_type == "f32" for index in indices(x.sizes)]
    seen: dict[int, Reads] = {n: Counter() for n, x in enumerate(given) if x.element_type == "f32"}
    for out, element in zip(indices(result.sizes), result.data, strict=True):
        for (n, index), count in zip(where, reads(element, len(where), BITS), strict=True):
            if count:
                seen[n][out, index] = count
    return seen


def examine(text: str) -> tuple[str, ...]:
    module = parse_module(text)
    given = given_values(module)
    seen = observe(module, given)
    providers = {f"parameter({n})": x for n, x in enumerate(given)}
    covered = [
        i.opcode for c in module.computations for i in c.instructions if i.opcode not in ("parameter", "constant")
    ]
    sets = followed_maps(composer_of(module), module.entry, module.entry.root, "output-to-input")
    for s in sets:
        if s.operand in seen:
            covered.append(f"composed {s.kind}")
            _compare(s, providers, seen[s.operand])
    every_claim_holds(text)
    return tuple(dict.fromkeys(covered))


def _compare(s: OperandMaps, providers: Mapping[str, Array], seen: Reads) -> None:
    """What composed maps promise is the relation, not how often an element is read."""
    stated: Reads = Counter()
    for m in s.maps:
        stated.update(relation(m, reader(m, providers)))
    missing = [k for k in seen if k not in stated]
    if missing:
        out, index = missing[0]
        raise Failure(f"modules: composed {s.kind} miss a read", f"{out} reads {index} of parameter {s.operand}")
    extra = [k for k in stated if k not in seen]
    if extra and s.kind != "bound":
        out, index = extra[0]
        raise Failure(
            f"modules: composed {s.kind} state a read that is none", f"{out}, {index} of parameter {s.operand}"
        )


def every_claim_holds(text: str, target: str = "modules") -> None:
    """Every claim that is owed is proved, or unknown with a reason."""
    from hloproof.pipeline.driver import check_hlo
    from hloproof.pipeline.options import Options

    before = remembered()
    before.make_room(_REMEMBERED)
    for record in check_hlo(text, Options(jobs=1), before.outcomes, before.operations).records():
        if record.verdict == "unknown" and record.reason:
            continue
        if record.verdict != "proved":
            said = record.counterexample or record.reason
            raise Failure(f"{target}: {record.claim} is {record.verdict}", f"{record.instruction}: {said}")


@dataclass(frozen=True, slots=True)
class Remembered:
    """What was proved before, for checks that all have the same options."""

    outcomes: dict[str, Outcome] = field(default_factory=dict)
    """By normal form."""
    operations: dict[Operation, OperationVerdicts] = field(default_factory=dict)

    def make_room(self, most: int) -> None:
        """Forgets everything once there is more than that of either."""
        if max(len(self.outcomes), len(self.operations)) > most:
            self.outcomes.clear()
            self.operations.clear()


@cache
def remembered() -> Remembered:
    """The one of this process. Emptied by `cache_clear`."""
    return Remembered()


TARGET = Target(
    "modules",
    "composed maps of random modules against what is read; every claim proved",
    movement_modules,
    examine,
    ".hlo",
)
