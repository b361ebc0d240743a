"""What the instructions of a module owe, gathered once per different operation."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace
from typing import Final

from hloproof.claims.asynchronous import judge
from hloproof.claims.asynchronous.judgement import by_instruction
from hloproof.engines.door import How
from hloproof.models.dataflow.async_chain import link_of
from hloproof.models.dataflow.async_sugar import desugar, has_sugar
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import Attributes, AttributeValue, ComputationRef
from hloproof.models.hlo.beside import UnknownInside
from hloproof.models.hlo.body_use import body_uses
from hloproof.models.hlo.module import Computation, Instruction, Module, Operation, device_counts
from hloproof.models.hlo.opcodes import COMPOSED
from hloproof.models.hlo.shape import BufferShape, leaves
from hloproof.models.indexing.composition.composer import Composer
from hloproof.models.indexing.composition.module_maps import composer_of
from hloproof.models.stages import OutOfTime
from hloproof.pipeline.equal_bodies import body_key
from hloproof.pipeline.options import Options
from hloproof.pipeline.prover import Owed, Progress, Prover
from hloproof.results.results import InstructionResult, ModuleResults, OperationVerdicts, Site

_ANY_COMPUTATION: Final = ComputationRef("")


class InstructionClaims:
    """Adds what each instruction owes to a prover; equal operations are added once."""

    def __init__(self, prover: Prover, options: Options, how: How, progress: Progress | None = None) -> None:
        self._prover, self._options, self._how, self._progress = prover, options, how, progress
        self.judged: Mapping[Operation, OperationVerdicts] = {}
        """Verdicts of earlier runs."""
        self.fresh: dict[Operation, OperationVerdicts] = {}
        """Those of this run, which are filled in when the prover settles."""
        self._composer: Composer | None = None
        self._unknown: UnknownInside | None = None
        self._first: dict[Hashable, list[Owed]] = {}
        """What the first of several fusions, calls, conditionals or loops with equal bodies owes, by their key."""
        self._equal: dict[Hashable, OperationVerdicts] = {}
        """The verdicts of the others, by the same key."""

    def module(self, module: Module, label: str) -> ModuleResults:
        """All instructions of a module, those of called computations too, in the order of the text."""
        results = ModuleResults(label)
        replicas, partitions = device_counts(module)
        generic = desugar(module) if has_sugar(module) else module
        self._composer = composer_of(generic, replicas, partitions)
        self._unknown = UnknownInside(generic)
        # Bodies are told apart by numbers that the composer of one module gives them: another module's begin anew.
        self._first.clear()
        self._equal.clear()
        takes = self._options.selection.takes_instruction
        total = sum(len(c.instructions) for c in generic.computations)
        for computation in generic.computations:
            if self._progress is not None:
                self._progress(len(results.instructions), total, f"stating {computation.name}")
            for instruction in computation.instructions:
                if takes(instruction.name):
                    verdicts = self._verdicts(computation, instruction, replicas, partitions)
                    results.instructions.append(InstructionResult(computation.name, Site.of(instruction), verdicts))
        _attach_module_claims(module, results, self._options, self._how)
        return results

    def _verdicts(
        self, computation: Computation, instruction: Instruction, replicas: int, partitions: int
    ) -> OperationVerdicts:
        assert self._composer is not None and self._unknown is not None
        uses = body_uses(self._composer.module, instruction)
        operation = Operation.of(instruction, computation, replicas, partitions, uses)
        if instruction.operands and (words := self._unknown.of(instruction)):
            return self._prover.add(lambda: _not_known(operation, words), instruction.name)
        if operation.opcode in COMPOSED:
            return self._composed(computation, instruction, operation)
        operation = _without_bodies(operation)
        known = self.fresh.get(operation) or self.judged.get(operation)
        if known is None:
            width = self._options.index_width
            known = self._prover.add(lambda: _owed(operation, width), f"{instruction.opcode} {instruction.name}")
            self.fresh[operation] = known
        return known

    def _composed(self, computation: Computation, instruction: Instruction, operation: Operation) -> OperationVerdicts:
        """What is composed is stated once for instructions with equal bodies. What was simplified on the way is owed by
        the first of them alone. What could not be stated is not shared: the reason names where it stands."""
        assert self._composer is not None
        try:
            key = body_key(self._composer, computation, instruction, operation)
        except OutOfTime:
            key = None  # what is owed is given up below, with this reason
        if key in self._equal:
            return self._equal[key]
        claims = self._first.get(key) if key is not None else None
        if claims is not None:
            found = self._prover.add(lambda: [c for c in claims if c.claim != "simplify"], instruction.name)
            self._equal[key] = found
            return found
        stated: list[Owed] = []

        def owed() -> Iterable[Owed]:
            for claim in self._owed_composed(computation, instruction):
                stated.append(claim)
                yield claim

        found = self._prover.add(owed, instruction.name)
        if key is not None and self._prover.last_was_stated:
            self._first[key] = stated
        return found

    def _owed_composed(self, computation: Computation, instruction: Instruction) -> Iterable[Owed]:
        """All but which maps of a call, a loop or a conditional are one, unless that is asked for: nothing here leaves
        any of them out, and to tell them apart takes longer than all else that is owed."""
        from hloproof.claims.layouts.owed import owed_layout
        from hloproof.claims.operations.composed import owed

        assert self._composer is not None
        yield from owed_layout(self._composer.operation(computation, instruction))
        asked = instruction.opcode == "fusion" or self._options.selection.takes_claim("dedup", on_request=True)
        for claim in owed(self._composer, computation, instruction, self._options.index_width):
            if claim.claim != "dedup" or asked:
                yield claim


def _owed(operation: Operation, index_width: int) -> Iterable[Owed]:
    from hloproof.claims import owed
    from hloproof.claims.layouts.owed import owed_layout
    from hloproof.claims.operations.owed import given_up

    yield from owed_layout(operation)
    try:
        claims = owed(operation, index_width)
    except NotModelled as error:
        yield from given_up(operation, str(error))
        raise
    yield from claims


def _not_known(operation: Operation, words: Iterable[str]) -> Iterable[Owed]:
    """What is owed of an operation that a backend may take for another one."""
    from hloproof.claims.operations.owed import given_up

    reason = f"it is not known what {', '.join(sorted(words))} says"
    yield from given_up(operation, reason)
    raise NotModelled(reason)


def _without_bodies(operation: Operation) -> Operation:
    """The operation without the names of called computations and the number of its channel: what it reads does not
    depend on them."""
    pairs = operation.attributes.pairs
    if not any(isinstance(v, ComputationRef) or k == "channel_id" for k, v in pairs):
        return operation
    plain: tuple[tuple[str, AttributeValue], ...] = tuple(
        (k, _ANY_COMPUTATION if isinstance(v, ComputationRef) else 1 if k == "channel_id" else v) for k, v in pairs
    )
    return replace(operation, attributes=Attributes(plain))


def _attach_module_claims(module: Module, results: ModuleResults, options: Options, how: How) -> None:
    """Add to each instruction's results what is claimed of it as part of its module."""
    if not options.after_copy_insertion and not _concerned(module):
        return
    selection = options.selection
    judgements = judge(
        module,
        lambda c: selection.takes_claim(c),
        lambda c: selection.takes_claim(c, on_request=True),
        options.layout_sensitive,
        options.after_copy_insertion,
        how,
    )
    found = by_instruction(judgements)
    for r in results.instructions:
        r.own.extend(found.get((r.computation, r.instruction.name), ()))


def _concerned(module: Module) -> bool:
    """Some instruction is asynchronous, of buffer type or declared to alias an operand, or the order of the text is a
    schedule, in which buffers are reused; most modules are none of these, and need no value flow."""
    return module.attributes.flag("is_scheduled") or any(
        link_of(i.opcode) is not None
        or "output_to_operand_aliasing" in i.attributes
        or any(isinstance(s, BufferShape) for _, s in leaves(i.shape))
        for c in module.computations
        for i in c.instructions
    )
