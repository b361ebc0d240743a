"""What all of shape inference uses: the error, the signature of a computation, compatibility, and operand checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hloproof.models.errors import Position
from hloproof.models.hlo.attributes import Attributes, ComputationRef
from hloproof.models.hlo.shape import UNBOUNDED, ArrayShape, BufferShape, Shape, TupleShape
from hloproof.models.hlo.text.shapes import print_shape

FLOATS: Final = frozenset(
    {
        "f4e2m1fn",
        "f8e8m0fnu",
        "f8e3m4",
        "f8e4m3",
        "f8e4m3fn",
        "f8e4m3b11fnuz",
        "f8e4m3fnuz",
        "f8e5m2",
        "f8e5m2fnuz",
        "f16",
        "bf16",
        "f32",
        "f64",
    }
)
COMPLEX: Final = frozenset({"c64", "c128"})
INTEGERS: Final = frozenset({"s1", "s2", "s4", "s8", "s16", "s32", "s64", "u1", "u2", "u4", "u8", "u16", "u32", "u64"})
_PRECISION: Final = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}


class ShapeError(Exception):
    """An instruction whose shape does not follow from its operands and attributes."""

    def __init__(self, message: str, position: Position | None = None) -> None:
        super().__init__(message)
        self.position = position


@dataclass(frozen=True, slots=True)
class Signature:
    """The shapes of a computation's parameters, by number, and of its root."""

    parameters: tuple[Shape, ...]
    result: Shape


@dataclass(frozen=True, slots=True)
class Request:
    """What the shape of one instruction depends on."""

    opcode: str
    operands: tuple[Shape, ...]
    attributes: Attributes
    declared: Shape | None
    signatures: Mapping[str, Signature]
    exactly: bool = False
    """Whether no floating-point type is taken for one of another precision."""

    def array(self, number: int) -> ArrayShape:
        """Operand `number`, which must be an array."""
        shape = self.operands[number]
        if not isinstance(shape, ArrayShape):
            raise ShapeError(f"operand {number} of {self.opcode} must be an array, but is {print_shape(shape)}")
        return shape

    def arrays(self) -> tuple[ArrayShape, ...]:
        return tuple(self.array(i) for i in range(len(self.operands)))

    def integers(self, name: str) -> tuple[int, ...]:
        try:
            return self.attributes.integers(name)
        except TypeError:
            raise ShapeError(f"{name} of {self.opcode} is not a list of integers") from None

    def dimensions(self, rank: int, name: str = "dimensions") -> tuple[int, ...]:
        """The list of dimension numbers `name`: each in [0, rank), none twice."""
        found = self.integers(name)
        return check_dimensions(found, rank, f"{name} of {self.opcode}")

    def one_dimension(self, rank: int) -> int:
        found = self.dimensions(rank)
        if len(found) != 1:
            raise ShapeError(f"{self.opcode} needs exactly one entry in dimensions, found {len(found)}")
        return found[0]

    def declared_array(self) -> ArrayShape:
        if self.declared is None:
            raise ShapeError(f"the shape of {self.opcode} cannot be inferred; it must be written")
        if not isinstance(self.declared, ArrayShape):
            raise ShapeError(f"{self.opcode} gives an array, but is declared as {print_shape(self.declared)}")
        return self.declared

    def same_type(self, a: str, b: str) -> bool:
        """Equal element types; the precision of floating-point types is not compared but where asked to."""
        return a == b or (not self.exactly and same_type(a, b))

    def compatible(self, declared: Shape, inferred: Shape) -> bool:
        """As the function of this name; the precision of floating-point types is compared where asked to."""
        return compatible(declared, inferred, self.exactly)

    def check_scalars(self, body: Signature, wanted: Sequence[str], what: str = "the computation") -> None:
        """The parameters of a computation on elements are scalars of these types, by number. Raises ShapeError."""
        if len(body.parameters) != len(wanted):
            raise ShapeError(f"{what} of {self.opcode} needs {len(wanted)} parameters, found {len(body.parameters)}")
        for n, (parameter, kind) in enumerate(zip(body.parameters, wanted, strict=True)):
            if (
                not isinstance(parameter, ArrayShape)
                or parameter.dimensions
                or not self.same_type(parameter.element_type, kind)
            ):
                raise ShapeError(
                    f"parameter {n} of {what} of {self.opcode} takes elements of type {kind}, "
                    f"but is {print_shape(parameter)}"
                )

    def callee(self, *names: str) -> Signature | None:
        """The signature of the computation that one of these attributes names; None when there is none."""
        for name in names:
            value = self.attributes.get(name)
            if isinstance(value, ComputationRef):
                return self.signatures.get(value.name)
        return None


def check_dimensions(found: Sequence[int], rank: int, what: str) -> tuple[int, ...]:
    """The numbers as given, each from 0 to rank - 1 and none twice. Raises ShapeError, which calls them `what`."""
    for dimension in found:
        if not 0 <= dimension < rank:
            raise ShapeError(f"dimension {dimension} in {what} is out of range: the array has {rank} dimensions")
    if len(set(found)) != len(found):
        raise ShapeError(f"{what} names a dimension twice")
    return tuple(found)


def same_size(a: int, b: int) -> bool:
    """Sizes that may be equal at run time."""
    return a == b or UNBOUNDED in (a, b)


def same_sizes(a: Sequence[int], b: Sequence[int]) -> bool:
    """As many dimensions, each with sizes that may be equal at run time."""
    return a == b or (len(a) == len(b) and all(same_size(x, y) for x, y in zip(a, b, strict=True)))


def same_type(a: str, b: str) -> bool:
    """Equal element types, the precision of floating-point types aside: HLO allows mixed precision."""
    return a == b or (a in FLOATS and b in FLOATS) or (a in COMPLEX and b in COMPLEX)


def wider(a: str, b: str) -> str:
    """The element type of an operation on both, where they differ in precision only."""
    if a == b or a not in FLOATS or b not in FLOATS:
        return a
    return a if _PRECISION.get(a, 8) >= _PRECISION.get(b, 8) else b


def compatible(declared: Shape, inferred: Shape, exactly: bool = False) -> bool:
    """The same tuple tree with the same sizes and element types; layouts, dynamic dimensions and, unless `exactly`, the
    precision of floating-point types are not compared. A buffer is compatible with the array it holds only if both are
    buffers."""
    if declared is inferred or declared == inferred:
        return True
    pending: list[tuple[Shape, Shape]] = [(declared, inferred)]
    while pending:
        a, b = pending.pop()
        if isinstance(a, BufferShape) and isinstance(b, BufferShape):
            a, b = a.inner, b.inner
        if isinstance(a, ArrayShape) and isinstance(b, ArrayShape):
            if a.element_type != b.element_type and (exactly or not same_type(a.element_type, b.element_type)):
                return False
            if not same_sizes(a.dimensions, b.dimensions):
                return False
        elif isinstance(a, TupleShape) and isinstance(b, TupleShape):
            if len(a.elements) != len(b.elements):
                return False
            pending.extend(zip(a.elements, b.elements, strict=True))
        elif type(a) is not type(b):
            return False
    return True


def tuple_unless_one(shapes: Sequence[Shape]) -> Shape:
    """The only shape, or the tuple of several: the result of variadic operations."""
    return shapes[0] if len(shapes) == 1 else TupleShape(tuple(shapes))


def shown(shapes: Sequence[Shape]) -> str:
    """Shapes for a message, with commas between them."""
    return ", ".join(print_shape(s) for s in shapes)
