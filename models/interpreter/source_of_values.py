"""Values that come from outside the program: random inputs, random number operations, infeeds. All follow a seed."""

from __future__ import annotations

from math import prod
from random import Random

from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import Word
from hloproof.models.hlo.shape import ArrayShape, BufferShape, Shape, TupleShape
from hloproof.models.interpreter.semantics import element_type as types
from hloproof.models.interpreter.semantics.hashed import PRIME
from hloproof.models.interpreter.semantics.random_bits import philox_bits, threefry_bits
from hloproof.models.interpreter.semantics.semantics import Scalars
from hloproof.models.interpreter.semantics.small_float import FLOATS
from hloproof.models.interpreter.step import Step, static
from hloproof.models.interpreter.value import Array, Token, Value


def random_value(shape: Shape, scalars: Scalars, random: Random) -> Value:
    """A value of this shape: predicates, small integers, floats in [-2, 2]; residues under the hashed semantics."""
    match shape:
        case ArrayShape():
            return _random_array(shape, scalars, random)
        case TupleShape(elements):
            return tuple(random_value(e, scalars, random) for e in elements)
        case BufferShape(inner):
            return random_value(inner, scalars, random)
        case _:
            return Token()


def _random_array(shape: ArrayShape, scalars: Scalars, random: Random) -> Array:
    kind, count = shape.element_type, prod(shape.dimensions)
    if kind == "pred":
        data: list[object] = [random.random() < 0.5 for _ in range(count)]
    elif kind in types.INTEGERS:
        low, high = max(-4, types.lowest(kind)), min(12, types.highest(kind))
        data = [random.randint(low, high) for _ in range(count)]
    elif kind in types.COMPLEX:
        data = [complex(random.uniform(-2, 2), random.uniform(-2, 2)) for _ in range(count)]
    elif kind in FLOATS:
        data = [random.uniform(-2, 2) for _ in range(count)]
    else:
        raise NotModelled(f"random elements of type {kind}")
    if scalars.name == "hashed" and kind in FLOATS:
        data = [random.randrange(PRIME) for _ in range(count)]
    elif scalars.name == "hashed" and kind in types.COMPLEX:
        data = [(random.randrange(PRIME), random.randrange(PRIME)) for _ in range(count)]
    return Array(kind, shape.dimensions, [scalars.constant(kind, v) for v in data])


def rng(step: Step, random: Random) -> Value:
    """Independent elements: uniform in [low, high) or normal with mean and deviation."""
    shape, scalars = step.shape, step.scalars
    named = step.attributes.get("distribution")
    distribution = named.text if isinstance(named, Word) else ""
    if scalars.name != "real":
        return random_value(shape, scalars, random)
    first, second = (step.array(k).data[0] for k in range(2))
    count = prod(shape.dimensions)
    if distribution == "rng_normal":
        return step.result([scalars.constant(shape.element_type, random.gauss(first, second)) for _ in range(count)])
    if shape.element_type == "pred":
        return step.result([random.random() < 0.5 for _ in range(count)])
    if shape.element_type in types.INTEGERS:
        if first >= second:
            return step.result([first] * count)
        return step.result([random.randrange(first, second) for _ in range(count)])
    return step.result([scalars.constant(shape.element_type, random.uniform(first, second)) for _ in range(count)])


def rng_bit_generator(step: Step, seed: int) -> Value:
    """(new state, bits). The algorithm that is named is carried out, Philox where none is, as XLA does on CPU and GPU.
    For states of other types than u64 the bits follow the state and the seed in a way of the interpreter's own: the
    same ones wherever the same state is given."""
    shape, state = step.instruction.shape, step.array(0)
    if not isinstance(shape, TupleShape) or len(shape.elements) != 2:
        raise NotModelled("rng-bit-generator whose result is not (state, bits)")
    after, result = (static(element, "rng-bit-generator") for element in shape.elements)
    width = types.width(result.element_type)
    named = step.attributes.get("algorithm")
    algorithm = named.text if isinstance(named, Word) else "rng_default"
    if state.element_type == "u64" and width <= 64 and result.element_type not in types.COMPLEX:
        if algorithm == "rng_three_fry" and len(state.data) == 2:
            numbers, bits = threefry_bits(state.data, result.dimensions, width)
        elif algorithm in ("rng_default", "rng_philox") and len(state.data) in (2, 3):
            numbers, bits = philox_bits(state.data, result.dimensions, width)
        else:
            raise NotModelled(f"rng-bit-generator by {algorithm} from a state of {len(state.data)} elements")
        return (Array("u64", after.dimensions, numbers), _from_bits(step, result, bits))
    own = Random(f"{seed} {algorithm} {[step.scalars.to_bits(state.element_type, v) for v in state.data]}")
    codes = [[own.getrandbits(types.width(a.element_type)) for _ in range(a.elements)] for a in (after, result)]
    return tuple(_from_bits(step, a, c) for a, c in zip((after, result), codes, strict=True))


def _from_bits(step: Step, shape: ArrayShape, codes: list[int]) -> Array:
    data = [step.scalars.from_bits(shape.element_type, c) for c in codes]
    return Array(shape.element_type, shape.dimensions, data)
