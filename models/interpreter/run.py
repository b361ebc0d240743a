"""Runs a module: `run_module(module, inputs)`."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, Final, Literal

from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import ComputationRef
from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.hlo.shape import ArrayShape, BufferShape, Shape, TupleShape, leaves
from hloproof.models.hlo.shard_shapes import is_shard_call, parts_of_call
from hloproof.models.hlo.text.literal import parse_literal
from hloproof.models.interpreter.compact.dispatch import applied as compact
from hloproof.models.interpreter.compact.dispatch import compacted
from hloproof.models.interpreter.compact.reading import read_starts
from hloproof.models.interpreter.computation_order import EvaluationOrder, plan
from hloproof.models.interpreter.in_flight import flight_elements, started
from hloproof.models.interpreter.operations.collective import COLLECTIVES, Devices
from hloproof.models.interpreter.operations.collective import run as run_collective
from hloproof.models.interpreter.operations.dispatch import LARGEST, OPERATIONS
from hloproof.models.interpreter.operations.dynamic_sizes import at_actual_sizes, has_dynamic_sizes
from hloproof.models.interpreter.operations.scalar_body import scalar_body
from hloproof.models.interpreter.operations.scan import run_scan
from hloproof.models.interpreter.operations.shard_shapes import run_parts
from hloproof.models.interpreter.semantics.counted import Counted
from hloproof.models.interpreter.semantics.hashed import Hashed
from hloproof.models.interpreter.semantics.real import Real
from hloproof.models.interpreter.semantics.semantics import Scalars
from hloproof.models.interpreter.source_of_values import random_value
from hloproof.models.interpreter.step import Body, Step
from hloproof.models.interpreter.value import (
    Array,
    BadArgument,
    InFlight,
    NestedList,
    Token,
    Value,
    elements,
    to_nested,
)
from hloproof.models.interpreter.world import World

Semantics = Literal["real", "hashed", "counted"]
_SEMANTICS: Final[dict[str, type[Scalars]]] = {"real": Real, "hashed": Hashed, "counted": Counted}

DEEPEST: Final = 150
"""Calls that nest deeper are not evaluated."""
MOST_TRIPS: Final = 1_000_000
"""A loop that runs longer is given up."""
IN_BODY: Final = -1
"""For a device where a body is applied to elements: whose they are is not known there."""


def run_module(
    module: Module,
    inputs: Sequence[NestedList] | None = None,
    semantics: Semantics = "real",
    replicas: int = 1,
    partitions: int = 1,
    seed: int = 0,
) -> Any:
    """The value of the entry computation's root.

    `inputs` holds one value per entry parameter: nested lists of numbers, tuples (or lists) for tuples, None for a
    token. With several devices (replicas * partitions) it holds one such sequence per device, and the answer is a list
    with one value per device, replica-major. Without inputs they are made from the seed, as are random numbers and
    infeeds. Under `hashed` an integer given for a float is taken as a residue, and results of floating-point type are
    residues.

    Raises BadArgument when an input does not fit, NotModelled for what has no known meaning, and collective.Stuck when
    a collective waits for a device that never comes.
    """
    devices = Devices(replicas, partitions)
    machine = Machine(module, _SEMANTICS[semantics](), devices, seed)
    if inputs is None:
        given = machine.random_inputs()
    elif devices.count == 1:
        given = [machine.read_inputs(inputs)]
    elif len(inputs) == devices.count:
        given = [machine.read_inputs(one) for one in inputs]
    else:
        raise BadArgument(f"inputs for {len(inputs)} devices where there are {devices.count}")
    results = [to_nested(v) for v in machine.run(given)]
    return results[0] if devices.count == 1 else results


class Machine:
    """Devices that evaluate one module in lock-step: values are kept per device, collectives see all of them."""

    def __init__(self, module: Module, scalars: Scalars, devices: Devices, seed: int) -> None:
        self.module, self.scalars, self.devices, self.seed = module, scalars, devices, seed
        self._plans: dict[str, EvaluationOrder] = {}
        self._bodies: dict[str, Body] = {}
        self._literals: dict[tuple[str, Shape], Value] = {}
        self._world = World(devices, seed)
        self._depth = 0
        self.compact = False
        """Large arrays are kept by classes of their indices."""

    def run(self, given: Sequence[tuple[Value, ...]]) -> list[Value]:
        """The root's value on each device, from the parameters of each."""
        return self.evaluate(self.module.entry, given, range(self.devices.count))

    def read_inputs(self, inputs: Sequence[NestedList]) -> tuple[Value, ...]:
        """Public values of the entry's parameters, checked against their shapes."""
        parameters = self.module.entry.parameters
        if len(inputs) != len(parameters):
            raise BadArgument(f"{len(inputs)} inputs where the entry computation has {len(parameters)} parameters")
        return tuple(
            self.read_value(p.shape, v, f"input {n}") for n, (p, v) in enumerate(zip(parameters, inputs, strict=True))
        )

    def read_value(self, shape: Shape, nested: NestedList, what: str) -> Value:
        if isinstance(shape, ArrayShape) and isinstance(nested, dict):
            self.compact = True
            return read_starts(shape, nested, self.scalars, what)
        if isinstance(shape, ArrayShape):
            kind, constant = shape.element_type, self.scalars.constant
            sizes = _actual_sizes(shape, nested)
            data = elements(nested, sizes, kind, what)
            try:
                return Array(kind, sizes, [constant(kind, v) for v in data])
            except (TypeError, ValueError, OverflowError) as error:
                raise BadArgument(f"{what}: {error}") from error
        if isinstance(shape, BufferShape):
            return self.read_value(shape.inner, nested, what)
        if isinstance(shape, TupleShape):
            if not isinstance(nested, (list, tuple)) or len(nested) != len(shape.elements):
                raise BadArgument(f"{what} is not a tuple of {len(shape.elements)}")
            parts = enumerate(zip(shape.elements, nested, strict=True))
            return tuple(self.read_value(s, v, f"{what}.{k}") for k, (s, v) in parts)
        return Token()

    def random_inputs(self) -> list[tuple[Value, ...]]:
        """Inputs of each device, from the seed: they depend on the parameter's number and shape, not on its name.
        Raises NotModelled for a parameter that is too large to be evaluated."""
        for p in self.module.entry.parameters:  # before the elements of the others are drawn
            _refuse_large(p.shape)
        return [
            tuple(
                random_value(p.shape, self.scalars, Random(f"{self.seed} input {p.parameter_number} {device}"))
                for p in self.module.entry.parameters
            )
            for device in range(self.devices.count)
        ]

    def evaluate(
        self, computation: Computation, arguments: Sequence[Sequence[Value]], devices: Sequence[int]
    ) -> list[Value]:
        """The root's value per device of `devices`, from the parameters' values per device."""
        if self._depth >= DEEPEST:
            raise NotModelled(f"calls nest deeper than {DEEPEST}")
        self._depth += 1
        try:
            return self._evaluate(computation, arguments, devices)
        finally:
            self._depth -= 1

    def _evaluate(
        self, computation: Computation, arguments: Sequence[Sequence[Value]], devices: Sequence[int]
    ) -> list[Value]:
        steps = self._plan(computation)
        values: dict[str, list[Value]] = {}
        for i, dead in zip(steps.instructions, steps.dead, strict=True):
            if i.opcode == "parameter":
                values[i.name] = [a[i.parameter_number or 0] for a in arguments]
                continue
            operands = [values[o] for o in i.operands]
            per_device = [tuple(column[k] for column in operands) for k in range(len(devices))]
            try:
                values[i.name] = self._instruction(i, computation, per_device, devices)
            except NotModelled as reason:
                if not getattr(reason, "__notes__", None):
                    reason.add_note(f"at instruction {i.name} of computation {computation.name}")
                raise
            # Only now: an instruction may be its own operands' last reader, and on all devices.
            for name in dead:
                del values[name]
        return values[computation.root_name]

    def _plan(self, computation: Computation) -> EvaluationOrder:
        found = self._plans.get(computation.name)
        if found is None:
            found = self._plans[computation.name] = plan(computation)
        return found

    def _instruction(
        self, i: Instruction, computation: Computation, operands: list[tuple[Value, ...]], devices: Sequence[int]
    ) -> list[Value]:
        opcode = i.opcode
        # Arrays by classes of indices are small whatever their sizes.
        if not self.compact:
            _refuse_large(i.shape)
        if opcode == "constant":
            return [self._literal(i)] * len(devices)
        if opcode in ("call", "fusion"):
            return self.evaluate(self._called(i, "to_apply" if opcode == "call" else "calls"), operands, devices)
        if opcode == "while":
            return self._while(i, [o[0] for o in operands], devices)
        if opcode == "conditional":
            return self._conditional(i, operands, devices)
        if opcode == "scan":
            body = self._called(i, "to_apply")
            return run_scan(i, operands, lambda given: self.evaluate(body, given, devices))
        if opcode in ("async-start", "async-update", "async-done"):
            return self._asynchronous(i, operands, devices)
        shapes = computation.operand_shapes(i)
        steps = {
            d: Step(i, o, shapes, self.scalars, self._body, self._parameters)
            for d, o in zip(devices, operands, strict=True)
        }
        plain = opcode.removesuffix("-start")
        if opcode not in OPERATIONS and IN_BODY in devices:
            raise NotModelled(f"{opcode} in what is applied to each element")
        if plain in COLLECTIVES:
            results = run_collective(plain, steps, self.devices)
            if opcode != plain:
                return [started(steps[d], results[d]) for d in devices]
            return [results[d] for d in devices]
        if is_shard_call(i) and (parted := parts_of_call(self.module, computation, i)) is not None:
            apply = (lambda step: compact(step, self._single)) if self.compact else _plain
            found = run_parts(*parted, steps, apply)
            return [found[d] for d in devices]
        operation = OPERATIONS.get(opcode)
        if operation is not None:
            if has_dynamic_sizes((i.shape, *shapes)):
                return [at_actual_sizes(steps[d], operation) for d in devices]
            if self.compact:
                return [compact(steps[d], self._single) for d in devices]
            return [operation(steps[d]) for d in devices]
        return [self._world.operation(steps[d], d) for d in devices]

    def _single(self, name: str) -> str:
        """The opcode of a computation that is one operation on its two parameters in order; '' of any other."""
        found = self.module.by_name[name]
        order = tuple(p.name for p in found.parameters)
        return found.root.opcode if len(order) == 2 and found.root.operands == order else ""

    def _called(self, i: Instruction, attribute: str) -> Computation:
        found = i.attributes.get(attribute)
        if not isinstance(found, ComputationRef) or found.name not in self.module.by_name:
            raise NotModelled(f"{i.opcode} without {attribute}")
        return self.module.by_name[found.name]

    def _body(self, name: str) -> Body:
        found = self._bodies.get(name)
        if found is None:
            computation = self.module.by_name[name]

            def evaluate(arguments: Sequence[Value]) -> Value:
                return self.evaluate(computation, [arguments], [IN_BODY])[0]

            order = self._plan(computation).instructions
            found = self._bodies[name] = scalar_body(computation, order, self.scalars, self._literal, evaluate)
        return found

    def _parameters(self, name: str) -> tuple[Shape, ...]:
        return tuple(p.shape for p in self.module.by_name[name].parameters)

    def _literal(self, i: Instruction) -> Value:
        key = (i.literal or "", i.shape)
        found = self._literals.get(key)
        if found is None:
            if "..." in key[0]:
                raise NotModelled("a constant whose value the text leaves out")
            nested = parse_literal(key[0], i.shape)
            found = self.read_value(i.shape, nested, f"constant {i.name}")
            if self.compact:
                found = compacted(found)
            self._literals[key] = found
        return found

    def _while(self, i: Instruction, states: list[Value], devices: Sequence[int]) -> list[Value]:
        condition, body = self._called(i, "condition"), self._called(i, "body")
        current = dict(zip(devices, states, strict=True))
        running = list(devices)
        for _ in range(MOST_TRIPS):
            answers = self.evaluate(condition, [(current[d],) for d in running], running)
            running = [d for d, a in zip(running, answers, strict=True) if isinstance(a, Array) and a.data[0]]
            if not running:
                return [current[d] for d in devices]
            after = self.evaluate(body, [(current[d],) for d in running], running)
            current.update(zip(running, after, strict=True))
        raise NotModelled(f"{i.name} runs more than {MOST_TRIPS} times")

    def branch(self, i: Instruction, selector: Value) -> int:
        """The number of the branch that is taken. A predicate takes the first when true; an index outside of the
        branches takes the last."""
        if not isinstance(selector, Array):
            raise NotModelled("conditional without a selector")
        number, last = self.scalars.integer(selector.data[0]), len(branch_names(i)) - 1
        if selector.element_type == "pred":
            return 0 if number else 1
        return number if 0 <= number <= last else last

    def _conditional(self, i: Instruction, operands: list[tuple[Value, ...]], devices: Sequence[int]) -> list[Value]:
        names = branch_names(i)
        chosen: dict[int, list[int]] = {}
        for k, o in enumerate(operands):
            chosen.setdefault(self.branch(i, o[0]), []).append(k)
        results: dict[int, Value] = {}
        for number, members in sorted(chosen.items()):
            branch = self.module.by_name[names[number]]
            arguments = [(operands[k][number + 1],) for k in members]
            results.update(zip(members, self.evaluate(branch, arguments, [devices[k] for k in members]), strict=True))
        return [results[k] for k in range(len(operands))]

    def _asynchronous(self, i: Instruction, operands: list[tuple[Value, ...]], devices: Sequence[int]) -> list[Value]:
        """The wrapped computation runs as soon as all its operands are bound; done answers its result."""
        before: list[InFlight] = []
        if i.opcode == "async-start":
            name = self._called(i, "calls").name
            before = [InFlight(name, o) for o in operands]
        else:
            for o in operands:
                if not isinstance(o[0], InFlight):
                    raise NotModelled(f"{i.opcode} of something that was not started")
                before.append(InFlight(o[0].computation, (*o[0].operands, *o[1:]), o[0].result))
        computation = self.module.by_name[before[0].computation]
        complete = all(len(b.operands) == len(computation.parameters) for b in before)
        if complete and before[0].result is None:
            results = self.evaluate(computation, [b.operands for b in before], devices)
            before = [InFlight(b.computation, b.operands, r) for b, r in zip(before, results, strict=True)]
        if i.opcode != "async-done":
            return [InFlight(b.computation, b.operands, b.result, flight_elements(i.shape, b)) for b in before]
        if not complete:
            raise BadArgument(f"{i.name} ends an operation that has not been given all its operands")
        return [b.result if b.result is not None else Token() for b in before]


def _actual_sizes(shape: ArrayShape, nested: NestedList) -> tuple[int, ...]:
    """The sizes of a value that is given for a shape: along a dynamic dimension it may be shorter than the bound."""
    sizes: list[int] = []
    for k, bound in enumerate(shape.dimensions):
        dynamic = bool(shape.dynamic) and shape.dynamic[k] and isinstance(nested, (list, tuple))
        sizes.append(min(len(nested), bound) if dynamic else bound)
        nested = nested[0] if isinstance(nested, (list, tuple)) and nested else None
    return tuple(sizes)


def _plain(step: Step) -> Value:
    return OPERATIONS[step.instruction.opcode](step)


def branch_names(i: Instruction) -> tuple[str, ...]:
    """The computations of a conditional by their number; of a predicate's the one for true is the first."""
    pair = [i.attributes.get(name) for name in ("true_computation", "false_computation")]
    named = tuple(p.name for p in pair if isinstance(p, ComputationRef))
    return named or i.attributes.computations()


def _refuse_large(shape: Shape) -> None:
    for _, leaf in leaves(shape):
        if isinstance(leaf, ArrayShape) and leaf.elements > LARGEST:
            raise NotModelled(f"a tensor of {leaf.elements} elements is larger than {LARGEST}")
