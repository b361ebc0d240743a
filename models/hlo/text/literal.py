"""The text of constants: nested braces of numbers, checked against a shape, and read into nested lists.

`{...}` stands for values that were left out when the text was written.
"""

from __future__ import annotations

import math
import re
from ctypes import c_float
from typing import Final

from hloproof.models.hlo.shape import ArrayShape, BufferShape, Shape, TupleShape
from hloproof.models.hlo.text.shapes import print_shape

Scalar = bool | int | float | complex
Nested = Scalar | list["Nested"] | tuple["Nested", ...] | None
"""None where the text leaves the values out."""

_TOKEN = re.compile(r"[-+]?nan\(0x[0-9a-fA-F]+\)|[{}(),]|\.\.\.|[^\s{}(),]+", re.IGNORECASE)
_NAN = re.compile(r"-?nan(\(0x[0-9a-fA-F]+\))?")
_FINITE = re.compile(r"(-?\d+\.?\d*|-\.\d+)([eE][-+]?\d+)?", re.ASCII)
"""As XLA's lexer has numbers: in decimals, and they begin with a digit or a minus."""
_INTEGER = re.compile(r"-?[0-9]+", re.ASCII)
_MOST_DIGITS: Final = 20
"""Of an integer of 64 bits, zeros in front aside."""
INTEGER_ZERO: Final = re.compile(r"(?<![\w.+-])-0+(?![\w.])", re.ASCII)
"""-0, as XLA writes it for floats; its reader takes it for 0."""
_INFINITE: Final = frozenset({"inf", "-inf"})

LARGEST_FLOAT: Final[dict[str, float]] = {
    "f16": 65504.0,
    "bf16": float.fromhex("0x1.fep127"),
    "f32": float.fromhex("0x1.fffffep127"),
    "f64": float.fromhex("0x1.fffffffffffffp1023"),
    "f4e2m1fn": 6.0,
    "f8e3m4": 15.5,
    "f8e4m3": 240.0,
    "f8e4m3fn": 448.0,
    "f8e4m3b11fnuz": 30.0,
    "f8e4m3fnuz": 240.0,
    "f8e5m2": 57344.0,
    "f8e5m2fnuz": 57344.0,
    "f8e8m0fnu": 2.0**127,
}
_MANTISSA_BITS: Final[dict[str, int]] = {
    "f8e3m4": 4,
    "f8e4m3": 3,
    "f8e5m2": 2,
    "f16": 10,
    "bf16": 7,
    "f32": 23,
    "f64": 52,
}
"""Types that have several NaNs, told apart by these bits."""
_HALF_STEP: Final[dict[str, float]] = {
    "f16": 65520.0,
    "bf16": float.fromhex("0x1.ffp127"),
    "f32": float.fromhex("0x1.ffffffp127"),
}
"""From here on a decimal rounds to infinity."""


def _row_of(number: str) -> re.Pattern[str]:
    return re.compile(rf"\s*\{{\s*{number}(?:\s*,\s*{number})*+\s*\}}", re.ASCII)


_PLAIN_ROWS: Final[dict[str, re.Pattern[str]]] = {
    "pred": _row_of("(?:true|false)"),
    **{f"s{bits}": _row_of(rf"-?\d{{1,{digits}}}(?![\d.])") for bits, digits in ((8, 2), (16, 4), (32, 9), (64, 18))},
    **{f"u{bits}": _row_of(rf"\d{{1,{digits}}}(?![\d.])") for bits, digits in ((8, 2), (16, 4), (32, 9), (64, 18))},
    **dict.fromkeys(("f16", "bf16", "f32", "f64"), _row_of(r"-?\d{1,4}(?:\.\d{1,12})?(?![\d.eExX])")),
}


class LiteralError(Exception):
    """The text does not denote a value of the shape."""


def check_literal(text: str, shape: Shape) -> None:
    """Raises LiteralError when `text` denotes no value of `shape`."""
    if isinstance(shape, ArrayShape) and not shape.dimensions:
        if text != "..." and text != "{...}" and shape.element_type not in ("c64", "c128"):
            _scalar(text, shape.element_type)
            return
    elif text == "{...}" or text == "...":
        return
    _Reader(text, build=False).whole(shape)


def parse_literal(text: str, shape: Shape) -> Nested:
    """The value as nested lists of Python numbers (row-major), tuples for tuple shapes, None where it was left out.

    Predicates are bool, integers int, floating-point numbers float as written (not rounded to the element type; for f16
    to f32, as XLA's reader does), complex ones complex. Rows may be shared: do not change the lists. Raises
    LiteralError.
    """
    return _Reader(text, build=True).whole(shape)


def _scalar(token: str, element_type: str) -> Scalar:
    """One number. Raises LiteralError when it is none or out of the element type's range."""
    if element_type == "pred":
        if token in ("true", "false"):
            return token == "true"
        if token in ("1", "0"):
            return token == "1"
        raise LiteralError(f"expected true or false, found '{token[:40]}'")
    if element_type[0] in "su":
        return _integer(token, element_type)
    return _float(token, element_type)


def _integer(token: str, element_type: str) -> int:
    if not _INTEGER.fullmatch(token):
        raise LiteralError(f"expected an integer of type {element_type}, found '{token[:40]}'")
    value, bits = _number(token, element_type), int(element_type[1:])
    signed = element_type[0] == "s"
    # The minimum of unsigned 64 bits lies below zero upstream, where -1 stands for all bits set.
    low = -(2 ** (bits - 1)) if signed or bits == 64 else 0
    high = 2 ** (bits - 1) - 1 if signed else 2**bits - 1
    if not low <= value <= high:
        raise LiteralError(f"{value} is out of range for literal's primitive type {element_type.upper()}")
    return value % 2**64 if element_type == "u64" else value


def _number(token: str, element_type: str) -> int:
    """An integer of so many digits that 64 bits could hold it. Raises LiteralError for others."""
    if len(token.lstrip("-0")) > _MOST_DIGITS:
        raise LiteralError(f"{token[:40]} is out of range for literal's primitive type {element_type.upper()}")
    return int(token.lstrip("-0") or "0") * (-1 if token[0] == "-" else 1)


def _float(token: str, element_type: str) -> float:
    if nan := _NAN.fullmatch(token):
        if nan.group(1) is not None:
            _check_payload(nan.group(1)[3:-1], element_type)
        return math.nan
    if token in _INFINITE:
        return float(token)
    if not _FINITE.fullmatch(token):
        raise LiteralError(f"expected a number of type {element_type}, found '{token[:40]}'")
    value = _whole(token, element_type) if _INTEGER.fullmatch(token) else float(token)
    largest = LARGEST_FLOAT[element_type]
    if abs(value) > largest and not (element_type in _HALF_STEP and abs(value) < _HALF_STEP[element_type]):
        raise LiteralError(f"{token[:40]} is out of range for literal's primitive type {element_type.upper()}")
    if element_type == "f8e8m0fnu" and value <= 0:
        raise LiteralError(f"f8e8m0fnu has neither zero nor negative numbers, found '{token[:40]}'")
    return _in_single(value) if element_type == "f16" else value


def _whole(token: str, element_type: str) -> float:
    """A number without a point. XLA's reader takes it for an integer of 64 bits, which it wraps round; but -0, which
    its writer prints for negative zero, is that here."""
    value = _number(token, element_type)
    if not -(2**63) <= value < 2**64:
        raise LiteralError(f"{token[:40]} is no integer of 64 bits: a larger {element_type} has a point or an exponent")
    return float(value - 2**64 if value >= 2**63 else value) if value else float(token)


def _in_single(value: float) -> float:
    """The nearest number of f32, through which XLA reads a text into f16: the number is rounded twice."""
    return c_float(value).value


def single(text: str) -> float:
    """A number of f32 that is no infinity, as an attribute. Raises LiteralError for others."""
    value = _float(text, "f32")
    if math.isinf(value):
        raise LiteralError(f"expected a number of type f32, found '{text}'")
    return value


def _check_payload(payload: str, element_type: str) -> None:
    """A payload is written into the bits of the mantissa, and is not zero: that would be an infinity."""
    bits = _MANTISSA_BITS.get(element_type)
    if bits is None:
        raise LiteralError(f"a NaN of type {element_type} has no payload")
    if len(payload) > 20 or not 0 < int(payload, 16) < 1 << bits:
        raise LiteralError(f"the NaN payload {payload[:40]} does not fit the {bits} bits of {element_type}'s mantissa")


class _Reader:
    """A pass over the tokens; without `build` nothing is kept."""

    def __init__(self, text: str, build: bool) -> None:
        self.text, self.pos = text, 0
        self.build = build

    def whole(self, shape: Shape) -> Nested:
        value = self.value(shape)
        if self.peek():
            raise LiteralError(f"expected the end of the literal, found '{self.peek()[:40]}'")
        return value

    def peek(self) -> str:
        """The next token, "" at the end. Tokens are found one by one: literals may be as long as the memory allows."""
        found = _TOKEN.search(self.text, self.pos)
        return found.group() if found else ""

    def take(self, what: str) -> str:
        found = _TOKEN.search(self.text, self.pos)
        if found is None:
            raise LiteralError(f"the literal ends where {what} was expected")
        self.pos = found.end()
        return found.group()

    def accept(self, *tokens: str) -> bool:
        """Take these tokens if they come next."""
        before = self.pos
        for token in tokens:
            if self.peek() != token:
                self.pos = before
                return False
            self.take(token)
        return True

    def expect(self, token: str, where: str) -> None:
        found = self.take(f"'{token}'")
        if found != token:
            raise LiteralError(f"expected '{token}' {where}, found '{found[:40]}'")

    def value(self, shape: Shape) -> Nested:
        match shape:
            case TupleShape():
                self.expect("(", "at the start of a tuple")
                parts: list[Nested] = []
                for i, element in enumerate(shape.elements):
                    if i:
                        self.expect(",", "between the elements of a tuple")
                    parts.append(self.value(element))
                self.expect(")", "at the end of a tuple")
                return tuple(parts)
            case BufferShape():
                return self.value(shape.inner)
            case ArrayShape():
                if self.accept("{", "...", "}") or self.accept("..."):
                    return None
                if shape.dimensions and self.peek() not in ("{", ""):
                    return self.first(shape)
                return self.array(shape)
        raise LiteralError(f"a constant cannot have the shape {print_shape(shape)}")

    def first(self, shape: ArrayShape) -> Nested:
        """One number without braces: XLA's reader takes it for the first element, and the others are zero."""
        if shape.elements == 0 or shape.element_type in ("c64", "c128", "f8e8m0fnu"):  # no zero is written
            raise LiteralError(f"expected '{{' at the start of an array, found '{self.peek()[:40]}'")
        number = self.element(shape.element_type)
        value: Nested = number
        nothing: Nested = type(number)()
        if self.build:
            for size in reversed(shape.dimensions):
                value, nothing = [value, *[nothing] * (size - 1)], [nothing] * size
        return value

    def array(self, shape: ArrayShape) -> Nested:
        rank = shape.rank
        if rank == 0:
            return self.element(shape.element_type)
        if 0 in shape.dimensions and self.accept("{", "}"):
            return []
        stack: list[list[Nested]] = []
        counts: list[int] = []
        while True:
            # Here a value of dimension len(counts) begins.
            depth = len(counts)
            if depth == rank - 1 and (row := self.plain_row(shape.element_type, shape.dimensions[depth])) is not None:
                if not counts:
                    return row
                if self.build:
                    stack[-1].append(row)
            elif depth < rank:
                token = self.take("'{'")
                if token != "{":
                    raise LiteralError(
                        f"expects nested array in rank {rank}, but sees {depth}"
                        if depth
                        else f"expected '{{' at the start of an array, found '{token[:40]}'"
                    )
                if shape.dimensions[depth] == 0:
                    self.expect("}", "in an array without elements")
                    if stack:
                        stack[-1].append([])
                else:
                    stack.append([])
                    counts.append(0)
                    continue
            elif self.peek() == "{":
                raise LiteralError(f"expects nested array in rank {rank}, but sees larger")
            else:
                element = self.element(shape.element_type)
                if self.build:
                    stack[-1].append(element)
            # A value has ended: either the next one follows or its array ends, too.
            while counts:
                counts[-1] += 1
                size, depth = shape.dimensions[len(counts) - 1], len(counts) - 1
                token = self.take("',' or '}'")
                if token == ",":
                    if counts[-1] >= size:
                        raise LiteralError(f"expects {size} elements in dimension {depth}, found more")
                    break
                if token != "}":
                    raise LiteralError(f"expected ',' or '}}', found '{token[:40]}'")
                if counts[-1] != size:
                    raise LiteralError(f"expects {size} elements in dimension {depth}, found {counts[-1]}")
                counts.pop()
                finished = stack.pop()
                if not counts:
                    return finished if self.build else None
                if self.build:
                    stack[-1].append(finished)
            else:
                return []

    def plain_row(self, element_type: str, size: int) -> list[Nested] | None:
        """The innermost braces at once, when they hold `size` numbers of few digits, which no element type's range
        excludes; None otherwise, with nothing read. (Most of a long literal is such rows.)"""
        pattern = _PLAIN_ROWS.get(element_type)
        found = pattern.match(self.text, self.pos) if pattern is not None and size else None
        if found is None or found.group().count(",") != size - 1:
            return None
        self.pos = found.end()
        if not self.build:
            return []
        numbers = found.group().strip()[1:-1].split(",")
        if element_type == "pred":
            return [n.strip() == "true" for n in numbers]
        if element_type[0] in "su":
            return [int(n) for n in numbers]
        return [_in_single(float(n)) if element_type == "f16" else float(n) for n in numbers]

    def element(self, element_type: str) -> Scalar:
        if element_type not in ("c64", "c128"):
            return _scalar(self.take("a number"), element_type)
        part = {"c64": "f32", "c128": "f64"}[element_type]
        self.expect("(", "at the start of a complex number")
        real = _float(self.take("the real part"), part)
        self.expect(",", "between real and imaginary part")
        imaginary = _float(self.take("the imaginary part"), part)
        self.expect(")", "at the end of a complex number")
        return complex(real, imaginary)
