"""Numbers that a module loses whatever it is given: a witness against proofs over real numbers.

A type loses a number where an operation on numbers gives none, or zero, or one too small for all of its digits, and
over real numbers it would give another. What is lost for all inputs is lost in every run; so a module is run on a few,
and each operation is watched, also those that functions make of elements. One that loses something in each run that
comes by it, loses it for constants alone, as far as these runs tell. Nothing is asked of the form of the program.
Powers of e that are zero are meant to be, and what a sum cancels to is not watched. The run shares no code with the
prover.
"""

from __future__ import annotations

from cmath import isfinite
from collections.abc import Callable, Sequence
from math import inf, prod
from random import Random
from time import monotonic
from typing import Final

from hloproof.equivalence.refuting.bits_of_nan import Observed
from hloproof.equivalence.refuting.inputs import NEAR_ONE, ZEROS, Choice, inputs_in_time
from hloproof.equivalence.refuting.machine import NOT_RUN, BoundedMachine, MachineSite, TooLong, devices_of, until
from hloproof.models.dataflow.async_sugar import desugar
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import Attributes
from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.hlo.shape import ArrayShape, leaves
from hloproof.models.interpreter.compact.dispatch import compacted
from hloproof.models.interpreter.operations.collective import Devices
from hloproof.models.interpreter.semantics.element_type import COMPLEX, INTEGERS, PART, highest, lowest
from hloproof.models.interpreter.semantics.semantics import Function
from hloproof.models.interpreter.semantics.small_float import FLOATS, SMALL, largest, smallest_normal
from hloproof.models.interpreter.source_of_values import random_value
from hloproof.models.interpreter.value import Element, Value

CHOICES: Final = (ZEROS, NEAR_ONE, Choice("positive", (0.25, 0.5, 1.0, 2.0), "small"))
"""Zero, of which nothing is lost but what constants make; and others, of which functions that are not zero there make
other numbers."""
_NOT_ZERO: Final = frozenset(
    {
        "asin", "asinh", "atan", "atanh", "cbrt", "convert", "erf", "exponential-minus-one", "log-plus-one", "power",
        "reduce-precision", "rsqrt", "sine", "sqrt", "tan", "tanh",
    }
)  # fmt: skip
"""Operations that are zero over real numbers only where their first operand is."""
_NEVER_ZERO: Final = frozenset({"logistic"})
"""Operations that never are. Powers of e that are zero are meant to be, as where exponents are masked."""
_FLUSHED: Final = frozenset({"bf16", "f32", "f64"})
"""Types whose numbers below the smallest with all digits machines may take for zero."""
_DIGITS: Final = {"f16": 11} | {name: f.mantissa + 1 for name, f in SMALL.items()}
"""Of types that keep such numbers."""
_MOST_MADE_UP: Final = 100_000
"""Elements that what is not modelled gives; with more the run ends."""
_INPUTS: Final[MachineSite] = ("", "")
"""Where elements are read that stand at no operation."""


def where_constants_are_lost(module: Module, seconds: float) -> str:
    """A sentence on an operation that loses a number in each run, or on why that is not known, as no run ended in the
    time; empty where there is none."""
    deadline = monotonic() + seconds
    module = desugar(module)
    devices = devices_of(module)
    lost: dict[MachineSite, str] = {}
    kept: set[MachineSite] = set()
    ended, problem = False, ""
    for choice in CHOICES:
        for in_parts in (True, False):
            watching = _Watching()
            machine = _Watched(module, watching, devices, deadline)
            problem = _problem(machine, choice, in_parts, deadline)
            lost.update(watching.lost)
            if not problem:
                ended = True
                # In a run that is cut off an operation may not have come to where it loses something.
                kept |= machine.seen - watching.lost.keys()
            if not problem or monotonic() >= deadline:
                break
    for site, what in lost.items():
        if site not in kept:
            return f"{what} at {site[1]} of {site[0]}, whatever the module is given"
    return "" if ended else f"no run shows that it loses no constant: {problem}"


def _problem(machine: _Watched, choice: Choice, in_parts: bool, deadline: float) -> str:
    """Why a run does not come to its end; empty where it does."""
    try:
        with until(deadline):
            given = inputs_in_time(machine.module, machine.devices, choice, 0, in_parts, deadline)
            machine.run([machine.read_inputs(one) for one in given])
    except NOT_RUN as error:
        return str(error) or type(error).__name__
    return ""


class _Watching(Observed):
    """The numbers, and a note of where one is lost."""

    def __init__(self) -> None:
        super().__init__()
        self.site = _INPUTS
        self.lost: dict[MachineSite, str] = {}

    def constant(self, element_type: str, value: Element) -> Element:
        found = super().constant(element_type, value)
        # Inputs, which stand at no operation, are as they were chosen.
        of_constant = element_type in FLOATS and value and self.site != _INPUTS and isfinite(value)
        if of_constant and (not isfinite(found) or _is_small(element_type, found, value)):
            self._lose(f"a constant is {value:.9g} and no number of {element_type}")
        return found

    def function(self, opcode: str, operands: Sequence[str], result: str, attributes: Attributes) -> Function:
        plain = super().function(opcode, operands, result, attributes)
        loses = _loses(opcode, operands, result)
        if loses is None:
            return plain

        def watched(*given: Element) -> Element:
            found = plain(*given)
            if loses(given, found):
                self._lose(f"{opcode} gives {_words(found)} of {', '.join(map(_words, given))}")
            return found

        return watched

    def sum_of_products(self, result: str, left: Sequence[Element], right: Sequence[Element]) -> Element:
        found = super().sum_of_products(result, left, right)
        if result in FLOATS or result in COMPLEX:
            if not isfinite(found):
                lost = all(map(isfinite, left)) and all(map(isfinite, right))
            else:
                kind = PART.get(result, result)
                lost = _is_small(kind, found) and any(map(_both, left, right))
                lost = lost and all(abs(a * b) < smallest_normal(kind) for a, b in zip(left, right, strict=True))
            if lost:
                self._lose(f"a sum of products is {_words(found)}")
        return found

    def _lose(self, what: str) -> None:
        self.lost.setdefault(self.site, what)


class _Watched(BoundedMachine):
    """What is not modelled may be anything, and goes on with small numbers."""

    def __init__(self, module: Module, watching: _Watching, devices: Devices, deadline: float) -> None:
        super().__init__(module, watching, devices, deadline)
        self._watching = watching
        self.seen: set[MachineSite] = set()
        """What was computed."""

    def _instruction(
        self, i: Instruction, computation: Computation, operands: list[tuple[Value, ...]], devices: Sequence[int]
    ) -> list[Value]:
        site = computation.name, i.name
        around, self._watching.site = self._watching.site, site
        try:
            # Not shared with what computes the same: each operation is watched by itself.
            found = self._in_time(i, computation, operands, devices)
            self.seen.add(site)
        except NotModelled:
            found = [self._made_up(i, d) for d in devices]
        finally:
            self._watching.site = around
        return found

    def _made_up(self, i: Instruction, device: int) -> Value:
        size = sum(prod(leaf.dimensions) for _, leaf in leaves(i.shape) if isinstance(leaf, ArrayShape))
        if size > _MOST_MADE_UP:
            raise TooLong(f"{size} elements are not made up")
        made = random_value(i.shape, self.scalars, Random(f"{i.name} {device}"))
        return compacted(made) if self.compact else made


def _loses(opcode: str, operands: Sequence[str], result: str) -> Callable[[Sequence[Element], Element], bool] | None:
    """Whether the operation loses a number, from what it is given and what it gives; None where it cannot."""
    if opcode == "convert" and operands[0] in FLOATS and result in INTEGERS:
        low, high = lowest(result), highest(result)
        return lambda given, found: isfinite(given[0]) and not low - 1 < given[0] < high + 1
    kind = PART.get(result, result)
    if kind not in FLOATS or opcode in ("bitcast-convert", "select", "clamp", "maximum", "minimum"):
        return None
    # What is beyond the largest number becomes that one in types that have no infinity and no NaN.
    saturates = kind in SMALL and SMALL[kind].special == "none"
    beyond = largest(kind) * (1 + 2.0 ** -(SMALL[kind].mantissa + 2)) if saturates else inf

    def is_zero(given: Sequence[Element]) -> bool:
        """Whether the result is zero over real numbers, or may be."""
        match opcode:
            case "multiply":
                return not all(given)
            case "divide":
                return not given[0] or not isfinite(given[1])
            case _ if opcode in _NOT_ZERO:
                return not given[0]
        return opcode not in _NEVER_ZERO

    def exact(given: Sequence[Element]) -> Element | None:
        match opcode:
            case "multiply":
                return given[0] * given[1]
            case "divide":
                return given[0] / given[1]
            case "convert":
                return given[0]
        return None

    def loses(given: Sequence[Element], found: Element) -> bool:
        if not isfinite(found):
            return all(map(isfinite, given))
        if saturates and opcode == "convert" and isfinite(given[0]) and abs(given[0]) >= beyond:
            return True
        if opcode == "convert" and isinstance(found, complex):
            parts = ((complex(given[0]).real, found.real), (complex(given[0]).imag, found.imag))
            return any(bool(a) and _is_small(kind, b, a) for a, b in parts)
        return not is_zero(given) and _is_small(kind, found, exact(given))

    return loses


def _is_small(kind: str, found: Element, exact: Element | None = None) -> bool:
    """Whether a result is zero, may be taken for zero, or is further from what is exact than a rounding is of numbers
    with all digits of the type."""
    if not found or (kind in _FLUSHED and abs(found) < smallest_normal(kind)):
        return True
    if exact is None or abs(found) >= smallest_normal(kind):
        return False
    return bool(abs(found - exact) > abs(exact) * 2.0 ** -_DIGITS.get(kind, 0))


def _both(a: Element, b: Element) -> bool:
    return bool(a) and bool(b)


def _words(x: Element) -> str:
    return f"{x:.9g}" if isinstance(x, float | complex) else str(x)
