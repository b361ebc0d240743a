"""Shapes of operations that work element by element, and of those without operands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from hloproof.models.hlo.attributes import Word
from hloproof.models.hlo.inference.common import (
    COMPLEX,
    FLOATS,
    INTEGERS,
    Request,
    ShapeError,
    same_sizes,
    shown,
    wider,
)
from hloproof.models.hlo.shape import ELEMENT_BITS, UNBOUNDED, ArrayShape, OpaqueShape, Shape, TokenShape

_FLOAT_OR_COMPLEX: Final = FLOATS | COMPLEX
_OPERAND_TYPES: Final[dict[str, frozenset[str]]] = {
    **dict.fromkeys(
        (
            "cosine",
            "sine",
            "tan",
            "tanh",
            "exponential",
            "exponential-minus-one",
            "log",
            "log-plus-one",
            "logistic",
            "rsqrt",
            "sqrt",
            "cbrt",
            "acos",
            "acosh",
            "asin",
            "asinh",
            "atan",
            "atanh",
            "cosh",
            "sinh",
        ),
        _FLOAT_OR_COMPLEX,
    ),
    **dict.fromkeys(
        ("floor", "ceil", "round-nearest-afz", "round-nearest-even", "is-finite", "reduce-precision", "erf"), FLOATS
    ),
    **dict.fromkeys(("and", "or", "xor", "not"), INTEGERS | {"pred"}),
    **dict.fromkeys(
        ("mulhi", "shift-left", "shift-right-arithmetic", "shift-right-logical", "popcnt", "count-leading-zeros"),
        INTEGERS,
    ),
    "complex": frozenset({"f32", "f64"}),
}
_DIRECTIONS: Final = frozenset({"EQ", "NE", "GE", "GT", "LE", "LT"})


def _check_type(request: Request, shape: ArrayShape) -> None:
    accepted = _OPERAND_TYPES.get(request.opcode)
    if accepted is not None and shape.element_type not in accepted:
        kinds = "floating-point" if shape.element_type in INTEGERS | {"pred"} else "integral"
        raise ShapeError(f"{request.opcode} takes {kinds} operands, found {shape.element_type}")


def unary(request: Request) -> Shape:
    """The operand's sizes; the element type is the operand's, or what the opcode makes of it."""
    operand = request.operands[0]
    opcode = request.opcode
    if opcode == "copy" and not isinstance(operand, ArrayShape):
        return operand
    shape = request.array(0)
    _check_type(request, shape)
    match opcode:
        case "is-finite":
            return ArrayShape("pred", shape.dimensions)
        case "convert":
            return ArrayShape(request.declared_array().element_type, shape.dimensions)
        case "bitcast-convert":
            return _bitcast_convert(request, shape)
        case "real" | "imag" | "abs" if shape.element_type in COMPLEX:
            return ArrayShape({"c64": "f32", "c128": "f64"}[shape.element_type], shape.dimensions)
    return shape


def _bitcast_convert(request: Request, shape: ArrayShape) -> Shape:
    """Elements of equal width keep the shape; of narrower ones there is a new most minor dimension, wider ones use up
    the last dimension."""
    target = request.declared_array().element_type
    if (shape.element_type in COMPLEX) != (target in COMPLEX):
        raise ShapeError(f"bitcast-convert from {shape.element_type} to {target}: only one of them is complex")
    source_bits, target_bits = ELEMENT_BITS[shape.element_type], ELEMENT_BITS[target]
    if source_bits == target_bits:
        return ArrayShape(target, shape.dimensions)
    if source_bits > target_bits:
        return ArrayShape(target, (*shape.dimensions, source_bits // target_bits))
    ratio = target_bits // source_bits
    if not shape.dimensions or shape.dimensions[-1] not in (ratio, UNBOUNDED):
        raise ShapeError(
            f"bitcast-convert from {shape.element_type} to {target} needs a last dimension of {ratio} elements"
        )
    return ArrayShape(target, shape.dimensions[:-1])


def binary(request: Request) -> Shape:
    """Both operands have the same sizes; nothing is broadcast."""
    a, b = request.operands
    if not isinstance(a, ArrayShape) or not isinstance(b, ArrayShape):
        a, b = request.array(0), request.array(1)
    opcode = request.opcode
    if a is not b:
        if not same_sizes(a.dimensions, b.dimensions):
            raise ShapeError(f"{opcode} of different shapes: {shown((a, b))}; broadcast the operands first")
        if opcode == "complex" and a.element_type != b.element_type:
            raise ShapeError(f"complex of different element types: {shown((a, b))}")
        if opcode != "stochastic-convert" and not request.same_type(a.element_type, b.element_type):
            raise ShapeError(f"{opcode} of different element types: {shown((a, b))}")
    _check_type(request, a)
    if opcode == "compare":
        direction = request.attributes.get("direction")
        if not isinstance(direction, Word) or direction.text not in _DIRECTIONS:
            raise ShapeError(f"compare needs direction= with one of {', '.join(sorted(_DIRECTIONS))}")
        _check_comparison(request, a.element_type)
        return ArrayShape("pred", a.dimensions)
    if opcode == "complex":
        return ArrayShape({"f32": "c64", "f64": "c128"}[a.element_type], a.dimensions)
    if opcode == "stochastic-convert":
        return ArrayShape(request.declared_array().element_type, a.dimensions)
    if a.element_type != b.element_type:
        return replace(a, element_type=wider(a.element_type, b.element_type))
    return a


def _check_comparison(request: Request, element_type: str) -> None:
    """`type=` says how elements are compared, which their type decides but for the total order of numbers."""
    kind = request.attributes.get("type")
    if not isinstance(kind, Word):
        return
    if element_type in FLOATS:
        fitting: tuple[str, ...] = ("FLOAT", "TOTALORDER")
    elif element_type in COMPLEX:
        fitting = ("FLOAT",)
    else:
        fitting = ("SIGNED",) if element_type[0] == "s" else ("UNSIGNED",)
    if kind.text not in fitting:
        raise ShapeError(f"compare of {element_type} is of type {' or '.join(fitting)}, found {kind.text}")


def select(request: Request) -> Shape:
    """The shape of the two values; the predicate is a scalar or has their sizes."""
    predicate, a, b = request.arrays()
    if predicate.element_type != "pred":
        raise ShapeError(f"the first operand of select is a predicate, found {predicate.element_type}")
    if not same_sizes(a.dimensions, b.dimensions) or not request.same_type(a.element_type, b.element_type):
        raise ShapeError(f"select between different shapes: {shown((a, b))}")
    if predicate.dimensions and not same_sizes(predicate.dimensions, a.dimensions):
        raise ShapeError(f"the predicate of select is a scalar or has the operands' sizes: {shown((predicate, a))}")
    return replace(a, element_type=wider(a.element_type, b.element_type))


def clamp(request: Request) -> Shape:
    """The shape of the middle operand; each bound is a scalar or has its sizes."""
    low, operand, high = request.arrays()
    for bound in (low, high):
        if bound.dimensions and not same_sizes(bound.dimensions, operand.dimensions):
            raise ShapeError(f"a bound of clamp is a scalar or has the operand's sizes: {shown((bound, operand))}")
        if not request.same_type(bound.element_type, operand.element_type):
            raise ShapeError(f"clamp of different element types: {shown((bound, operand))}")
    return operand


def map_(request: Request) -> Shape:
    """Operands of the same sizes; the element type is that of the computation's result."""
    operands = request.arrays()
    for operand in operands[1:]:
        if not same_sizes(operand.dimensions, operands[0].dimensions):
            raise ShapeError(f"map of different sizes: {shown(operands)}")
    if "dimensions" in request.attributes and request.integers("dimensions") != tuple(range(operands[0].rank)):
        raise ShapeError(f"map works over all dimensions in order, found dimensions={request.integers('dimensions')}")
    callee = request.callee("to_apply")
    if callee is None:
        raise ShapeError("map needs to_apply=")
    request.check_scalars(callee, [o.element_type for o in operands])
    if not isinstance(callee.result, ArrayShape) or callee.result.dimensions:
        raise ShapeError("the computation of map gives a scalar")
    return ArrayShape(callee.result.element_type, operands[0].dimensions)


def iota(request: Request) -> Shape:
    """As declared, with `iota_dimension` from 0 to rank - 1."""
    shape = request.declared_array()
    dimension = request.attributes.get("iota_dimension")
    if not isinstance(dimension, int) or not 0 <= dimension < shape.rank:
        raise ShapeError(f"iota needs iota_dimension= with one of its {shape.rank} dimensions")
    if shape.element_type == "pred":
        raise ShapeError("iota counts, which predicates cannot")
    return shape


def declared(request: Request) -> Shape | None:
    """The shape must be written and nothing contradicts it here."""
    if request.declared is None:
        raise ShapeError(f"the shape of {request.opcode} must be written")
    return None


def rng(request: Request) -> Shape:
    """Two scalars, the bounds of uniform numbers or mean and deviation of normal ones, of the result's type."""
    shape = request.declared_array()
    for bound in request.arrays():
        if bound.dimensions or bound.element_type != shape.element_type:
            raise ShapeError(f"the operands of rng are {shape.element_type}[], found {shown((bound,))}")
    kind = request.attributes.get("distribution")
    if kind == Word("rng_normal") and shape.element_type not in FLOATS:
        raise ShapeError(f"normal numbers are floating-point numbers, found {shape.element_type}")
    if shape.element_type not in FLOATS | INTEGERS | {"pred"}:
        raise ShapeError(f"rng gives real numbers, found {shape.element_type}")
    return shape


def constant(request: Request) -> Shape | None:
    """As declared: an array, or a tuple."""
    if isinstance(request.declared, TokenShape | OpaqueShape):
        raise ShapeError("a constant is an array or a tuple of arrays")
    return declared(request)


def device_id(request: Request) -> Shape:
    """u32[], for partition-id and replica-id."""
    return ArrayShape("u32")


ROWS: Final = """
abs                       | 1    | elementwise          |                                |
acos                      | 1    | elementwise accurate |                                |
acosh                     | 1    | elementwise accurate |                                |
asin                      | 1    | elementwise accurate |                                |
asinh                     | 1    | elementwise accurate |                                |
atan                      | 1    | elementwise accurate |                                |
atanh                     | 1    | elementwise accurate |                                |
cbrt                      | 1    | elementwise accurate |                                |
ceil                      | 1    | elementwise          |                                |
convert                   | 1    | elementwise          |                                |
cosh                      | 1    | elementwise accurate |                                |
cosine                    | 1    | elementwise accurate |                                |
count-leading-zeros       | 1    | elementwise          |                                |
erf                       | 1    | elementwise accurate |                                |
exponential               | 1    | elementwise accurate |                                |
exponential-minus-one     | 1    | elementwise accurate |                                |
floor                     | 1    | elementwise          |                                |
imag                      | 1    | elementwise          |                                |
is-finite                 | 1    | elementwise          |                                |
log                       | 1    | elementwise accurate |                                |
log-plus-one              | 1    | elementwise accurate |                                |
logistic                  | 1    | elementwise accurate |                                |
negate                    | 1    | elementwise          |                                |
not                       | 1    | elementwise          |                                |
popcnt                    | 1    | elementwise          |                                |
real                      | 1    | elementwise          |                                |
reduce-precision          | 1    | elementwise          | exponent_bits mantissa_bits    |
round-nearest-afz         | 1    | elementwise          |                                |
round-nearest-even        | 1    | elementwise          |                                |
rsqrt                     | 1    | elementwise accurate |                                |
sign                      | 1    | elementwise          |                                |
sine                      | 1    | elementwise accurate |                                |
sinh                      | 1    | elementwise accurate |                                |
sqrt                      | 1    | elementwise accurate |                                |
tan                       | 1    | elementwise accurate |                                |
tanh                      | 1    | elementwise accurate |                                |
add                       | 2    | elementwise          |                                |
and                       | 2    | elementwise          |                                |
atan2                     | 2    | elementwise          |                                |
compare                   | 2    | elementwise          | direction                      | type
complex                   | 2    | elementwise          |                                |
divide                    | 2    | elementwise          |                                |
maximum                   | 2    | elementwise          |                                |
minimum                   | 2    | elementwise          |                                |
mulhi                     | 2    | elementwise          |                                |
multiply                  | 2    | elementwise          |                                |
or                        | 2    | elementwise          |                                |
power                     | 2    | elementwise          |                                |
remainder                 | 2    | elementwise          |                                |
shift-left                | 2    | elementwise          |                                |
shift-right-arithmetic    | 2    | elementwise          |                                |
shift-right-logical       | 2    | elementwise          |                                |
stochastic-convert        | 2    | elementwise          |                                |
subtract                  | 2    | elementwise          |                                |
xor                       | 2    | elementwise          |                                |
clamp                     | 3    | elementwise typed    |                                |
select                    | 3    | elementwise typed    |                                |
bitcast-convert           | 1    |                      |                                |
copy                      | 1    | own                  |                                |
iota                      | 0    | source               | iota_dimension                 |
map                       | 1+   | elementwise          | to_apply                       | dimensions
rng                       | 2    | source               | distribution                   |
rng-get-and-update-state  | 0    | source               | delta                          |
constant                  | 0    | source               |                                |
parameter                 | 0    | source               |                                |
partition-id              | 0    | source               |                                |
replica-id                | 0    | source               |                                |
"""
"""The rows of these opcodes, as `models/hlo/opcodes.py` reads them."""


def _elementwise_of(operands: str) -> list[str]:
    """The elementwise opcodes of so many operands: by the rows, so that a further one needs its row only."""
    cells = [[cell.strip() for cell in line.split("|")] for line in ROWS.splitlines() if line]
    return [name for name, count, traits, *_ in cells if count == operands and "elementwise" in traits]


RULES: Final[Mapping[str, Callable[[Request], Shape | None]]] = {
    **dict.fromkeys(_elementwise_of("1"), unary),
    **dict.fromkeys(_elementwise_of("2"), binary),
    "bitcast-convert": unary,
    "copy": unary,
    "select": select,
    "clamp": clamp,
    "map": map_,
    "iota": iota,
    "parameter": declared,
    "constant": constant,
    "rng": rng,
    "rng-get-and-update-state": declared,
    "partition-id": device_id,
    "replica-id": device_id,
}
"""Their shapes."""
