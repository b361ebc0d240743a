"""Numbers: the interpreter against the second reading of `plain_values` and `plain_collectives`.

What is read where says nothing of padding values, initial values, orders, comparators, bits and devices that get
zeros; numbers do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, Final

from hloproof.fuzz.operations.generators.runs import REFUSED, RUN_ONLY
from hloproof.fuzz.operations.malformed_runs import examine_deformed_runs
from hloproof.fuzz.operations.reference.collectives import EXCHANGES, everywhere
from hloproof.fuzz.operations.reference.table import PLAIN
from hloproof.fuzz.operations.reference.tagged_run import Tagged, arrays_of, random_indices
from hloproof.fuzz.operations.reference.values import Call, Tensor, iota, readable
from hloproof.fuzz.target import Failure
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.module import Module, Operation
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.interpreter.run import Machine
from hloproof.models.interpreter.semantics.element_type import INTEGERS, highest, lowest
from hloproof.models.interpreter.semantics.real import Real
from hloproof.models.interpreter.value import Array, Value, indices

MOVING: Final = frozenset(
    {
        "broadcast",
        "concatenate",
        "copy",
        "dynamic-slice",
        "dynamic-update-slice",
        "gather",
        "pad",
        "reshape",
        "reverse",
        "slice",
        "topk",
        "transpose",
    }
)
"""These keep every number as it is, zeros with their signs and what is no number among them."""
_SPECIAL: Final = (math.nan, math.inf, -math.inf, 0.0, -0.0)


def is_read_twice(opcode: str) -> bool:
    plain = opcode.removesuffix("-start")
    return opcode in PLAIN or plain in EXCHANGES or plain == "collective-permute"


def numbers(op: Operation, shape: ArrayShape, random: Random) -> list[Any]:
    """Small integers of the element type; more than those where nothing is computed with them."""
    count, kind = shape.elements, shape.element_type
    if kind == "pred":
        return [random.random() < 0.5 for _ in range(count)]
    if kind in INTEGERS:
        low, high = lowest(kind), highest(kind)
        if op.opcode not in ("bitcast", "bitcast-convert"):
            low, high = max(-9, low), min(9, high)
        return [random.randint(low, high) for _ in range(count)]
    if kind == "f64":
        return [random.uniform(-9, 9) for _ in range(count)]
    if op.opcode in MOVING:
        special = [random.random() < 0.2 for _ in range(count)]
        return [random.choice(_SPECIAL) if s else float(random.randint(-9, 9)) for s in special]
    return [float(random.randint(-9, 9)) for _ in range(count)]


def examine_run(module: Module) -> tuple[str, ...]:
    """A module that is only run, or that must not run."""
    tagged = Tagged(module, 0)
    op = tagged.op
    refused = module.name == REFUSED or (op.opcode == "bitcast" and not readable(op))
    fixed = [random_indices(op, Random(k)) for k in range(tagged.across.count)]
    try:
        examine_values(tagged, fixed)
    except NotModelled as reason:
        if not refused:
            raise Failure(f"{op.opcode}: does not run", str(reason)) from reason
        return (f"{op.opcode}: refused by the interpreter",)
    if refused:
        raise Failure(f"{op.opcode}: runs what has no meaning", str(op))
    if module.name == RUN_ONLY:
        examine_deformed_runs(tagged)
    if op.opcode == "iota":
        _examine_tags(tagged)
    return (f"{op.opcode}: runs",)


def _examine_tags(tagged: Tagged) -> None:
    """Where reads are counted, integers are the numbers that they are, since they may be indices; other constants count
    nothing."""
    ((found,),) = tagged.run({})
    (expected,) = iota(Call(tagged.op, (), tagged.module))
    is_index = found.element_type in INTEGERS
    if found.data != [n if is_index else 0 for n in expected.values()]:
        raise Failure("iota: counts as something that is read", str(found))


def examine_values(tagged: Tagged, fixed: Sequence[Mapping[int, Array]]) -> None:
    """Raises Failure where a number differs. `fixed` holds, by device, the operands that say where to read. Raises
    NotModelled where the interpreter does."""
    module, op, devices = tagged.module, tagged.op, tagged.across
    if not is_read_twice(op.opcode):
        return
    calls = _calls(tagged, fixed)
    order = [module.entry.by_name[o].parameter_number or 0 for o in module.entry.root.operands]
    given: list[tuple[Value, ...]] = []
    for call in calls:
        by_number: dict[int, Value] = {}
        for n, shape, tensor in zip(order, op.operands, call.operands, strict=True):
            assert isinstance(shape, ArrayShape)
            by_number[n] = Array(shape.element_type, shape.dimensions, list(tensor.values()))
        given.append(tuple(by_number[n] for n in range(len(by_number))))
    found = Machine(module, Real(), devices, tagged.seed).run(given)
    if module.name == REFUSED:
        return
    if op.opcode in PLAIN:
        expected = [PLAIN[op.opcode](c) for c in calls]
    else:
        expected = everywhere(calls, devices.replicas, devices.partitions)
    for device, (result, tensors) in enumerate(zip(found, expected, strict=True)):
        arrays = arrays_of(result)
        if len(arrays) < len(tensors):
            raise Failure(f"{op.opcode}: fewer results than there are", f"{len(arrays)} of {len(tensors)}")
        for output, (array, tensor) in enumerate(zip(arrays, tensors, strict=False)):
            _compare(op, device, output, array, tensor)


def _calls(tagged: Tagged, fixed: Sequence[Mapping[int, Array]]) -> list[Call]:
    """By device, the operation on random numbers; a parameter that is given twice has the same numbers twice."""
    module, op, random = tagged.module, tagged.op, Random(tagged.seed)
    calls: list[Call] = []
    for own in fixed:
        by_name: dict[str, list[Any]] = {}
        tensors: list[Tensor] = []
        for k, (name, shape) in enumerate(zip(module.entry.root.operands, op.operands, strict=True)):
            assert isinstance(shape, ArrayShape)
            data = own[k].data if k in own else numbers(op, shape, random)
            data = by_name.setdefault(name, data)
            tensors.append(dict(zip(indices(shape.dimensions), data, strict=True)))
        calls.append(Call(op, tuple(tensors), module))
    return calls


def _compare(op: Operation, device: int, output: int, array: Array, tensor: Tensor) -> None:
    where = f"output {output} of device {device}"
    places = list(indices(array.sizes))
    if len(places) != len(array.data) or set(places) != set(tensor):
        raise Failure(f"{op.opcode}: another size", f"{where}: {array.sizes}, {len(array.data)} elements")
    for index, element in zip(places, array.data, strict=True):
        if isinstance(element, float) and array.element_type in INTEGERS:
            raise Failure(f"{op.opcode}: an element of another type", f"{where}: {element} in {array.element_type}")
        if not _same(element, tensor[index], op.opcode in MOVING):
            said = f"{where} at {list(index)} is {element}, and should be {tensor[index]}"
            raise Failure(f"{op.opcode}: another value", said)


def _same(a: Any, b: Any, signed: bool) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        if math.isnan(a) or math.isnan(b):
            return math.isnan(a) and math.isnan(b)
        if signed and math.copysign(1.0, a) != math.copysign(1.0, b):
            return False
    return bool(a == b)
