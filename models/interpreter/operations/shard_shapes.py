"""Calls between whole arrays, of which every device has a copy, and the parts that each device works on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import Attributes, SliceDimension
from hloproof.models.hlo.module import Instruction
from hloproof.models.hlo.shape import ArrayShape, Shape, TupleShape
from hloproof.models.hlo.shard_shapes import TO_PARTS, Parts
from hloproof.models.interpreter.step import Step, static
from hloproof.models.interpreter.value import Value

Apply = Callable[[Step], Value]
"""One operation without devices."""
_DIMENSIONS: Final = "dimensions"


def run_parts(direction: str, parts: Sequence[Parts], steps: Mapping[int, Step], apply: Apply) -> dict[int, Value]:
    """The value on each device. Raises NotModelled where devices are missing."""
    if sorted(steps) != list(range(len(parts[0]))):
        raise NotModelled("parts of an array where not all devices are there")
    out: dict[int, Value] = {}
    for device, step in steps.items():
        shape = step.instruction.shape
        shapes = shape.elements if isinstance(shape, TupleShape) else (shape,)
        found = tuple(
            _part(step, k, one, at[device], apply)
            if direction == TO_PARTS
            else _whole(steps, k, one, at, device, apply)
            for k, (one, at) in enumerate(zip(shapes, parts, strict=True))
        )
        out[device] = found if isinstance(shape, TupleShape) else found[0]
    return out


def _part(step: Step, k: int, shape: Shape, at: Sequence[int], apply: Apply) -> Value:
    sizes = static(shape, "custom-call").dimensions
    bounds = tuple(SliceDimension(p * n, (p + 1) * n) for p, n in zip(at, sizes, strict=True))
    return _done(step, "slice", static(shape, "custom-call"), [step.operands[k]], [step.operand_shapes[k]],
                 Attributes((("slice", bounds),)), apply)  # fmt: skip


def _whole(steps: Mapping[int, Step], k: int, shape: Shape, parts: Parts, device: int, apply: Apply) -> Value:
    """The parts side by side; of a part that several devices have, this device's own, or else that of the first."""
    step, kind = steps[device], static(shape, "custom-call").element_type
    held = {at: steps[d].operands[k] for d, at in reversed([*enumerate(parts)])}
    held[parts[device]] = step.operands[k]
    sizes = static(step.operand_shapes[k], "custom-call").dimensions
    for d in reversed(range(len(sizes))):
        rows: dict[tuple[int, ...], list[Value]] = {}
        for at in sorted(held):
            rows.setdefault(at[:d], []).append(held[at])
        small = ArrayShape(kind, sizes)
        count = len(next(iter(rows.values())))
        sizes = (*sizes[:d], sizes[d] * count, *sizes[d + 1 :])
        large, along = ArrayShape(kind, sizes), Attributes(((_DIMENSIONS, (d,)),))
        held = {
            at: _done(step, "concatenate", large, row, [small] * count, along, apply) if count > 1 else row[0]
            for at, row in rows.items()
        }
    return held[()]


def _done(
    step: Step,
    opcode: str,
    shape: ArrayShape,
    operands: Sequence[Value],
    shapes: Sequence[Shape],
    attributes: Attributes,
    apply: Apply,
) -> Value:
    names = tuple(f"x{n}" for n in range(len(operands)))
    instruction = Instruction(step.instruction.name, opcode, shape, names, attributes)
    return apply(replace(step, instruction=instruction, operands=tuple(operands), operand_shapes=tuple(shapes)))
