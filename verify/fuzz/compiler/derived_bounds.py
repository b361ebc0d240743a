"""What the compiled module may answer: numbers that no order of evaluation changes, or bounds on what rounding may do.

The bounds are derived, operation by operation, by the semantics `bounded` of the interpreter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import isfinite
from random import Random
from typing import Any, Final

from hloproof.fuzz.compiler.perturbation import whole_numbers
from hloproof.fuzz.modules.reference import arrays
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.module import Module
from hloproof.models.hlo.shape import ArrayShape, Shape, leaves
from hloproof.models.interpreter.operations.collective import Devices
from hloproof.models.interpreter.run import Machine
from hloproof.models.interpreter.semantics.bounded import Bounded
from hloproof.models.interpreter.semantics.bounded_number import Number, Undecided, Unsettled
from hloproof.models.interpreter.semantics.element_type import rounded
from hloproof.models.interpreter.semantics.small_float import FLOATS
from hloproof.models.interpreter.value import Array, Element, Value

_BY_OTHER_MEANS: Final = frozenset(
    "triangular-solve cholesky fft batch-norm-training batch-norm-inference batch-norm-grad custom-call rng "
    "rng-bit-generator".split()
)
"""Compilers compute these by algorithms that are not the definition in another order."""
EXACTLY: Final = "elements that are equal"
WITHIN: Final = "elements within a derived bound"
LEFT_OPEN: Final = "elements left open"
CHOSEN: Final = "elements within a chosen bound"

MOST: Final = 20_000
"""Elements of all instructions; of larger modules the bounds would take too long."""

Results = list[list[Element]]
"""By result, the elements in row-major order."""


def bounds(module: Module, inputs: Sequence[Value]) -> Results | None:
    """The elements of every result under the semantics `bounded`; empty where what the module does hangs on rounding,
    None where the bounds of some operation are not known, or
    the module is large."""
    if (
        any(i.opcode in _BY_OTHER_MEANS for c in module.computations for i in c.instructions)
        or _elements(module) > MOST
    ):
        return None
    scalars = Bounded()
    try:
        given = tuple(_bounded(scalars, v) for v in inputs)
        return [list(a.data) for a in arrays(Machine(module, scalars, Devices(), 0).run([given])[0])]
    except NotModelled:
        return None
    except Undecided:
        return []


def _elements(module: Module) -> int:
    shapes = [s for c in module.computations for i in c.instructions for _, s in leaves(i.shape)]
    return sum(s.elements for s in shapes if isinstance(s, ArrayShape))


def _bounded(scalars: Bounded, value: Value) -> Value:
    if isinstance(value, Array):
        kind = value.element_type
        return Array(kind, value.sizes, [scalars.constant(kind, v) for v in value.data])
    return tuple(_bounded(scalars, v) for v in value) if isinstance(value, tuple) else value


def rough_inputs(module: Module, seed: int) -> tuple[Value, ...] | None:
    """Numbers of many magnitudes and all digits in the place of small whole ones; None where no parameter is of a
    floating-point type. Integers stay small: they are indices, often."""
    if not any(_is_float(p.shape) for p in module.entry.parameters):
        return None
    random = Random(seed ^ 1)
    return tuple(_rough(p.shape, random) for p in module.entry.parameters)


def _is_float(shape: Shape) -> bool:
    return isinstance(shape, ArrayShape) and shape.element_type in FLOATS


def _rough(shape: Shape, random: Random) -> Value:
    if not _is_float(shape):
        return whole_numbers(shape, random)
    assert isinstance(shape, ArrayShape)
    reach = random.choice((0.5, 2.0, 8.0))

    def number() -> float:
        return float(random.choice((-1, 1)) * random.uniform(1, 2) * 2.0 ** random.uniform(-reach, reach))

    kind = shape.element_type
    return Array(kind, shape.dimensions, [rounded(kind, number()) for _ in range(shape.elements)])


def outside(allowed: Results, theirs: Sequence[Sequence[Any]], told: Counter[str]) -> str:
    """The first element that is not what it may be, in words; '' where there is none. Elements are counted."""
    for n, (a, b) in enumerate(zip(allowed, theirs, strict=bool(allowed))):
        for k, (x, y) in enumerate(zip(a, b, strict=True)):
            how, said = _judged(x, y)
            told[how] += 1
            if said:
                return f"output {n}, element {k}: {y}, not {said}"
    return ""


def _judged(x: Element, y: Any) -> tuple[str, str]:
    """How an element is compared, and what it should be where it is not that."""
    if isinstance(x, Unsettled):
        return LEFT_OPEN, ""
    if not isinstance(x, Number):
        return EXACTLY, "" if x == y else str(x)
    value = x.once if x.once is not None else x.low
    if x.once is not None or x.point:
        return EXACTLY, "" if value == y or (value != value and y != y) else str(value)
    if x.open:
        return LEFT_OPEN, ""
    return WITHIN, "" if isfinite(y) and x.low <= y <= x.high else f"within [{x.low!r}, {x.high!r}]"


__all__ = ["CHOSEN", "EXACTLY", "LEFT_OPEN", "WITHIN", "bounds", "outside", "rough_inputs"]
