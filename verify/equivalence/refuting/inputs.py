"""Inputs on which two modules are likely to show a difference: few, chosen, and the same in every run.

Floats are short binary fractions, so that sums and products of a few are exact and mean the same under every semantics;
integers lie at and around the sizes that occur in the modules, where starts are clamped and masks begin.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf, prod
from random import Random
from time import monotonic
from typing import Any, Final

from hloproof.equivalence.refuting.domains import positive_parameters
from hloproof.equivalence.refuting.machine import TooLong
from hloproof.equivalence.refuting.short_inputs import parts_of, short
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import Word
from hloproof.models.hlo.module import Instruction, Module
from hloproof.models.hlo.shape import ArrayShape, BufferShape, Shape, TupleShape
from hloproof.models.hlo.shard_shapes import is_shard_call
from hloproof.models.interpreter.operations.collective import Devices
from hloproof.models.interpreter.semantics import element_type as types
from hloproof.models.interpreter.semantics.small_float import FLOATS
from hloproof.models.interpreter.value import Element, NestedList

_LARGEST: Final = 256.0
"""Constants that are larger are no thresholds of inputs."""
MOST_ELEMENTS: Final = 1 << 23
"""Parameters with more elements in all are not filled."""

_FILLED_PER_SECOND: Final = 2e6
"""How many elements of inputs are made up and read in a second, roughly: enough to leave undone what has no time."""


@dataclass(frozen=True)
class Choice:
    """What the elements of one attempt are drawn from."""

    name: str
    floats: tuple[float, ...]
    integers: str
    """`small`: 0 to 8; `few`: 0 to 3; `edges`: around the sizes that occur; `any`: the whole range of the type;
    `extremes`: its ends, and those of the narrower signed type."""
    coarse: bool = False
    """In the first round inputs in parts have very few parts."""
    halved: bool = False
    """In the first round every dimension of inputs in parts has two parts at most, a first element and the others."""
    balanced: bool = False
    """Every other float is the one before, negated: what is summed up is 0 where the count is even."""
    own: bool = False
    """The scalar constants of the module are drawn too: thresholds lie there."""


ZEROS: Final = Choice("zeros", (0.0,), "small")
NEAR_ONE: Final = Choice("small", (-1.0, -0.5, 0.5, 1.0), "small")


def _sixteenths(low: int, high: int) -> tuple[float, ...]:
    return tuple(k / 16 for k in range(low, high + 1) if k)


CHOICES: Final[tuple[Choice, ...]] = (
    Choice("halves", _sixteenths(-32, 32), "edges", coarse=True, halved=True),
    Choice("fractions", _sixteenths(-32, 32), "edges", coarse=True),
    Choice("positive", _sixteenths(1, 32), "small", coarse=True),
    Choice("few", (-1.0, 0.0, 0.5, 1.0), "few", coarse=True),
    Choice("edges", (-8.0, -3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0, 8.0), "edges"),
    Choice("small", _sixteenths(-16, 16), "small"),
    Choice("any", (-64.0, -8.0, -1.0, 0.0, 1.0, 2.0, 64.0, 1024.0), "any"),
    Choice("extremes", _sixteenths(-32, 32), "extremes"),
    Choice("large", tuple(float(k) for k in range(-300, 301) if k), "edges"),
    Choice("balanced", _sixteenths(1, 32), "few", balanced=True),
    Choice("constants", (0.0, 1.0), "edges", own=True),
)


def inputs_in_time(
    module: Module, devices: Devices, choice: Choice, seed: int, in_parts: bool, deadline: float
) -> list[NestedList]:
    """As `given_inputs`, no more than can be filled until the deadline; raises TooLong where it has passed."""
    left = deadline - monotonic()
    if left <= 0:
        raise TooLong("the budget ran out before inputs were made")
    most = min(MOST_ELEMENTS, int(left * _FILLED_PER_SECOND))
    return given_inputs(module, devices, choice, seed, in_parts, most, deadline)


def given_inputs(
    module: Module,
    devices: Devices,
    choice: Choice,
    seed: int,
    in_parts: bool = False,
    most: int = MOST_ELEMENTS,
    deadline: float = inf,
) -> list[NestedList]:
    """One list of values per device, in the form that `hloproof run --inputs` reads for one device; `in_parts`: each
    made of a few boxes of equal elements, so that sizes do not matter; otherwise no more than `most` are filled.

    Raises NotModelled for element types that cannot be filled, and for parameters that are too large, have too many
    parts, or are those of too many devices; TooLong where there are more arrays than are filled until `deadline`.
    """
    parameters = module.entry.parameters
    sizes = _sizes(module)
    few = (1 if choice.halved else 2 if choice.coarse else 0) if in_parts and not seed else 0
    filled = sum(parts_of(p.shape, seed, few) if in_parts else _elements(p.shape) for p in parameters)
    if max(filled, 1) * devices.count > most:
        counted = "parts" if in_parts else "elements"
        raise NotModelled(f"parameters of more than {most} {counted}, all devices together, are not filled")
    if choice.own:
        choice = replace(choice, floats=(*choice.floats, *_constants(module)))
    shared, positive = _shared(module), positive_parameters(module)
    above_zero = replace(choice, balanced=False, floats=tuple(v for v in choice.floats if v > 0) or (1.0,))

    def value(p: Instruction, device: int) -> NestedList:
        if monotonic() > deadline:
            raise TooLong(f"the budget ran out at parameter {p.name} of device {device}")
        own = 0 if p.name in shared else device
        drawn = above_zero if p.parameter_number in positive else choice
        random = Random(f"{seed} {choice.name} {p.parameter_number} {own}")
        if in_parts:
            return short(p.shape, lambda kind: _drawn(kind, drawn, sizes, random), seed, random, few)
        return _value(p.shape, drawn, sizes, random)

    return [[value(p, device) for p in parameters] for device in range(devices.count)]


def _shared(module: Module) -> set[str]:
    """Parameters that every device holds a copy of."""
    if "parameter_replication" in module.entry.root.attributes or any(
        is_shard_call(i) for c in module.computations for i in c.instructions
    ):
        return {p.name for p in module.entry.parameters}
    found = set()
    for p in module.entry.parameters:
        sharding, replicated = p.attributes.get("sharding"), p.attributes.get("parameter_replication")
        text = sharding.text if isinstance(sharding, Word) else ""
        if replicated is not None or "replicate" in text or "maximal" in text:
            found.add(p.name)
    return found


def _elements(shape: Shape) -> int:
    if isinstance(shape, TupleShape):
        return sum(_elements(e) for e in shape.elements)
    if isinstance(shape, BufferShape):
        return _elements(shape.inner)
    return prod(shape.dimensions) if isinstance(shape, ArrayShape) else 0


def _sizes(module: Module) -> tuple[int, ...]:
    """The sizes of dimensions that occur, smallest first."""
    found: set[int] = set()
    for c in module.computations:
        for i in c.instructions:
            if isinstance(i.shape, ArrayShape):
                found.update(i.shape.dimensions)
    return tuple(sorted(found))


def _constants(module: Module) -> tuple[float, ...]:
    """The scalar constants that occur and are exact in every type of more than eight bits."""
    found: set[float] = set()
    for c in module.computations:
        for i in c.instructions:
            if i.opcode == "constant" and isinstance(i.shape, ArrayShape) and i.shape.element_type in FLOATS:
                try:
                    number = float(i.literal or "")
                except ValueError:
                    continue
                if abs(number) <= _LARGEST and number * 8 == int(number * 8):
                    found |= {number, -number}
    return tuple(sorted(found))


def _value(shape: Shape, choice: Choice, sizes: Sequence[int], random: Random) -> NestedList:
    if isinstance(shape, TupleShape):
        return [_value(e, choice, sizes, random) for e in shape.elements]
    if isinstance(shape, BufferShape):
        return _value(shape.inner, choice, sizes, random)
    if not isinstance(shape, ArrayShape):
        return None
    drawn = _drawn(shape.element_type, choice, sizes, random)
    flat: list[Any] = [next(drawn) for _ in range(prod(shape.dimensions))]
    for n in reversed(shape.dimensions):
        flat = [flat[k : k + n] for k in range(0, len(flat), n)] if n else []
    return flat[0] if flat else _empty(shape.dimensions)


def _empty(dimensions: Sequence[int]) -> NestedList:
    """Nested lists of a shape in which some size is 0."""
    if not dimensions:
        return []
    return [_empty(dimensions[1:]) for _ in range(dimensions[0])]


def _drawn(kind: str, choice: Choice, sizes: Sequence[int], random: Random) -> Iterator[Element]:
    if kind == "pred":
        while True:
            yield random.random() < 0.5
    if kind in FLOATS:
        while True:
            number = random.choice(choice.floats)
            yield number
            if choice.balanced:
                yield -number
    if kind in types.COMPLEX:
        while True:
            yield [random.choice(choice.floats), random.choice(choice.floats)]
    if kind not in types.INTEGERS:
        raise NotModelled(f"inputs of type {kind}")
    low, high = types.lowest(kind), types.highest(kind)
    edges = sorted({n + by for n in sizes for by in (-1, 0, 1)} | {-2, -1, 0, 1, 2, 3})
    while True:
        match choice.integers:
            case "few":
                number = random.randint(0, 3)
            case "small":
                number = random.randint(0, 8)
            case "any":
                number = random.randint(low, high) >> random.randrange(max(1, types.width(kind)))
            case "extremes":
                number = random.choice((low, low + 1, high >> 1, (high >> 1) + 1, high - 1, high))
            case _:
                number = random.choice(edges)
                if random.random() < 0.6:  # anywhere below an edge
                    number = random.randint(-2, max(0, number))
        yield min(max(number, low), high)
