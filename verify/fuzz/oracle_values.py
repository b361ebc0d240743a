"""Numbers: the interpreter against the second reading of `plain_values` and `plain_collectives`.

What is read where says nothing of padding values, initial values, orders, comparators, bits and devices that get
zeros; numbers do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, Final

from models.hlo.module import Operation
from models.hlo.shape import ArrayShape
from models.interpreter.element_type import INTEGERS, highest, lowest
from models.interpreter.real import Real
from models.interpreter.run import Machine
from models.interpreter.value import Array, Value, indices
from verify.fuzz.plain_collectives import EXCHANGES, everywhere
from verify.fuzz.plain_table import PLAIN
from verify.fuzz.plain_values import Call, Tensor
from verify.fuzz.tagged_run import Tagged, arrays_of
from verify.fuzz.target import Failure

MOVING: Final = frozenset({
    "broadcast", "concatenate", "copy", "dynamic-slice", "dynamic-update-slice", "gather", "pad", "reshape", "reverse",
    "slice", "topk", "transpose",
})  # fmt: skip
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
    if op.opcode in MOVING:
        special = [random.random() < 0.2 for _ in range(count)]
        return [random.choice(_SPECIAL) if s else float(random.randint(-9, 9)) for s in special]
    return [float(random.randint(-9, 9)) for _ in range(count)]


def examine_values(tagged: Tagged, fixed: Sequence[Mapping[int, Array]]) -> None:
    """Raises Failure where a number differs. `fixed` holds, by device, the operands that say where to read."""
    module, op, devices = tagged.module, tagged.op, tagged.across
    if not is_read_twice(op.opcode):
        return
    random = Random(tagged.seed)
    order = [module.entry.by_name[o].parameter_number or 0 for o in module.entry.root.operands]
    given: list[tuple[Value, ...]] = []
    calls: list[Call] = []
    for device in range(devices.count):
        by_number: dict[int, Value] = {}
        tensors: list[Tensor] = []
        for k, (n, shape) in enumerate(zip(order, op.operands, strict=True)):
            assert isinstance(shape, ArrayShape)
            x = fixed[device].get(k) or by_number.get(n)
            if not isinstance(x, Array):
                x = Array(shape.element_type, shape.dimensions, numbers(op, shape, random))
            by_number[n] = x
            tensors.append(dict(zip(indices(shape.dimensions), x.data, strict=True)))
        given.append(tuple(by_number[n] for n in range(len(by_number))))
        calls.append(Call(op, tuple(tensors), module))
    found = Machine(module, Real(), devices, tagged.seed).run(given)
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


def _compare(op: Operation, device: int, output: int, array: Array, tensor: Tensor) -> None:
    where = f"output {output} of device {device}"
    places = list(indices(array.sizes))
    if len(places) != len(array.data) or set(places) != set(tensor):
        raise Failure(f"{op.opcode}: another size", f"{where}: {array.sizes}, {len(array.data)} elements")
    for index, element in zip(places, array.data, strict=True):
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
