"""A module whose sizes or attributes were changed, with all shapes that follow from them written anew.

The shapes are those that the project's own rules give, from the parameters down. Where an instruction may choose its
sizes (reshape, broadcast) they are fitted to its operand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import prod
from typing import Any, Final

from hloproof.fuzz.compiler.folded import literal_text
from hloproof.models.hlo.attributes import (
    Attributes,
    AttributeValue,
    ComputationRef,
    ConvolutionDimensions,
    SliceDimension,
    Window,
)
from hloproof.models.hlo.inference.infer import ShapeError, Signature, infer
from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.hlo.shape import ArrayShape, Shape, TupleShape
from hloproof.models.interpreter.value import Array

Size = Callable[[int], int]
LEFT_OPEN: Final = "{...}"
"""The literal of a constant whose numbers are not said; `settled` makes some up."""
_FREE: Final = frozenset({"parameter", "constant", "iota", "broadcast", "custom-call"})
_WHOLE: Final = frozenset({"call", "fusion", "while", "conditional"})
"""Opcodes whose computations take the operands as they are."""


def settled(module: Module, size: Size = lambda n: n) -> Module:
    """The module with sizes changed by `size` where they are free. Raises ShapeError where the rest does not fit."""
    settler = _Settler(module, size)
    settler.computation(module.entry_name, None)
    return replace(
        module, computations=tuple(settler.done[c.name] for c in module.computations if c.name in settler.done)
    )


class _Settler:
    def __init__(self, module: Module, size: Size) -> None:
        self.module, self.size = module, size
        self.done: dict[str, Computation] = {}
        self.signatures: dict[str, Signature] = {}

    def computation(self, name: str, given: tuple[Shape, ...] | None) -> None:
        """`given` are the shapes of the parameters, where a caller says them."""
        if name in self.done:
            if given is not None and given != self.signatures[name].parameters:
                raise ShapeError(f"{name} is called with other shapes")
            return
        old = self.module.by_name[name]
        if given is not None and len(given) != len(old.parameters):
            raise ShapeError(f"{name} takes another number of parameters")
        shapes: dict[str, Shape] = {}
        out: list[Instruction] = []
        for i in old.instructions:
            new = self.instruction(i, old, shapes, given)
            shapes[i.name] = new.shape
            out.append(new)
        found = Computation(name, tuple(out), old.root_name, old.attributes)
        self.done[name] = found
        self.signatures[name] = Signature(tuple(p.shape for p in found.parameters), found.root.shape)

    def instruction(
        self, i: Instruction, old: Computation, shapes: dict[str, Shape], given: tuple[Shape, ...] | None
    ) -> Instruction:
        if any(o not in shapes for o in i.operands):
            raise ShapeError(f"{i.name} reads what is computed later")
        before, operands = old.operand_shapes(i), tuple(shapes[o] for o in i.operands)
        self.callees(i, operands)
        attributes = fitted_attributes(i, before, operands, self.size)
        if i.opcode == "parameter" and given is not None:
            return replace(i, shape=given[i.parameter_number or 0])
        declared = self.declared(i, operands)
        shape = infer(i.opcode, operands, attributes, declared, self.signatures) or declared
        layout = i.shape.layout if isinstance(i.shape, ArrayShape) else None
        if isinstance(shape, ArrayShape) and layout is not None and len(layout.minor_to_major) == shape.rank:
            shape = replace(shape, layout=layout)
        literal = i.literal
        if isinstance(shape, ArrayShape) and literal is not None and (shape != i.shape or "..." in literal):
            literal = counted(shape)
        return replace(i, shape=shape, attributes=attributes, literal=literal)

    def callees(self, i: Instruction, operands: tuple[Shape, ...]) -> None:
        operands = tuple(without_layouts(s) for s in operands)
        names = i.attributes.computations()
        for k, name in enumerate(names):
            given: tuple[Shape, ...] | None = operands if i.opcode in _WHOLE else None
            if i.opcode == "conditional":
                given = operands[k + 1 : k + 2]
            self.computation(name, given)

    def declared(self, i: Instruction, operands: tuple[Shape, ...]) -> Shape:
        first = operands[0] if operands else None
        shape = i.shape
        if i.opcode == "reshape" and isinstance(shape, ArrayShape) and isinstance(first, ArrayShape):
            return replace(shape, dimensions=_fitted(tuple(self.size(n) for n in shape.dimensions), first.elements))
        if i.opcode == "broadcast" and isinstance(shape, ArrayShape) and isinstance(first, ArrayShape):
            sizes = [self.size(n) for n in shape.dimensions]
            for at, n in zip(i.attributes.integers("dimensions"), first.dimensions, strict=False):
                if at < len(sizes):
                    sizes[at] = n
            return replace(shape, dimensions=tuple(sizes))
        return sized(shape, self.size) if i.opcode in _FREE else shape


def without_layouts(shape: Shape) -> Shape:
    if isinstance(shape, TupleShape):
        return TupleShape(tuple(without_layouts(e) for e in shape.elements))
    return shape.without_layout() if isinstance(shape, ArrayShape) else shape


def sized(shape: Shape, size: Size) -> Shape:
    if isinstance(shape, TupleShape):
        return TupleShape(tuple(sized(e, size) for e in shape.elements))
    if isinstance(shape, ArrayShape):
        return replace(shape, dimensions=tuple(size(n) for n in shape.dimensions))
    return shape


def _fitted(sizes: tuple[int, ...], elements: int) -> tuple[int, ...]:
    """Sizes of so many elements, of the same rank, as few of them changed as can be. Raises ShapeError."""
    if prod(sizes) == elements:
        return sizes
    for k in range(len(sizes)):
        rest = prod(sizes[:k] + sizes[k + 1 :])
        if rest and elements % rest == 0:
            return (*sizes[:k], elements // rest, *sizes[k + 1 :])
    if not sizes:
        raise ShapeError(f"{elements} elements are no scalar")
    return (elements, *[1] * (len(sizes) - 1))


def counted(shape: ArrayShape) -> str:
    """The literal of a constant of small numbers."""
    kind = shape.element_type
    numbers = [
        k % 2 == 0 if kind == "pred" else k % 2 if kind[1:] in ("1", "2") else 1 + k % 3 for k in range(shape.elements)
    ]
    data: list[Any] = list(map(float, numbers)) if kind[0] in "fb" else numbers
    if kind[0] == "c":
        raise ShapeError("no complex constants are made")
    return literal_text(Array(kind, shape.dimensions, data))


def fitted_attributes(i: Instruction, before: tuple[Shape, ...], after: tuple[Shape, ...], size: Size) -> Attributes:
    """Attributes that name sizes of the operands follow them: limits of slices, sizes of windows and of slices."""
    if before == after or not before or not isinstance(before[0], ArrayShape) or not isinstance(after[0], ArrayShape):
        return i.attributes
    old, new = before[0].dimensions, after[0].dimensions
    if len(old) != len(new):
        return i.attributes

    def fitted(name: str, value: AttributeValue) -> AttributeValue:
        if name == "slice" and isinstance(value, tuple) and len(value) == len(old):
            limits = [v for v in value if isinstance(v, SliceDimension)]
            return tuple(_slice(v, a, b, size) for v, a, b in zip(limits, old, new, strict=True))
        if name in ("dynamic_slice_sizes", "slice_sizes"):
            sizes = i.attributes.integers(name)
            return tuple(_part(n, a, b, size) for n, a, b in zip(sizes, old, new, strict=True))
        if name == "window" and isinstance(value, Window):
            ways, arrays = _window_of(i, before, after)
            if len(ways) == len(value.dimensions) == len(arrays):
                parts = zip(value.dimensions, ways, arrays, strict=True)
                kernel = i.opcode == "convolution"
                return Window(tuple(replace(d, size=b if kernel else _part(d.size, a, b, size)) for d, a, b in parts))
        return value

    return Attributes(tuple((name, fitted(name, value)) for name, value in i.attributes.pairs))


def _window_of(
    i: Instruction, before: tuple[Shape, ...], after: tuple[Shape, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The sizes that the window slides over, or is as large as, before and after."""
    labels = i.attributes.get("dim_labels")
    number = 1 if isinstance(labels, ConvolutionDimensions) else 0
    a, b = before[number], after[number]
    assert isinstance(a, ArrayShape) and isinstance(b, ArrayShape)
    if isinstance(labels, ConvolutionDimensions):
        at = labels.kernel_spatial
        return tuple(a.dimensions[k] for k in at), tuple(b.dimensions[k] for k in at)
    return a.dimensions, b.dimensions


def _part(n: int, old: int, new: int, size: Size) -> int:
    return new if n == old else min(size(n), new)


def _slice(v: SliceDimension, old: int, new: int, size: Size) -> SliceDimension:
    if old == new:
        return v
    limit = _part(v.limit, old, new, size)
    start = min(size(v.start), limit)
    return replace(v, start=max(0, start - 1) if start == limit and v.start < v.limit else start, limit=limit)


def with_instruction(module: Module, computation: Computation, new: Instruction) -> Module:
    """The module with the instruction of this name replaced."""
    made = tuple(new if i.name == new.name else i for i in computation.instructions)
    return with_computation(module, replace(computation, instructions=made))


def with_computation(module: Module, new: Computation) -> Module:
    return replace(module, computations=tuple(new if c.name == new.name else c for c in module.computations))


def called(instruction: Instruction, *names: str) -> list[str]:
    """The computations that these attributes name."""
    values = (instruction.attributes.get(n) for n in names)
    return [v.name for v in values if isinstance(v, ComputationRef)]
