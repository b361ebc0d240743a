"""Opcode to evaluation, for the operations that concern one device and call no computation on tensors."""

from __future__ import annotations

import re
from math import prod
from typing import Final

from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import NON_SEMANTIC, Attributes, ComputationRef, Quoted
from hloproof.models.hlo.beside import unread_of_call
from hloproof.models.hlo.opcodes import SCALAR, UNARY
from hloproof.models.hlo.shape import ArrayShape, Shape, TupleShape, leaves
from hloproof.models.interpreter.operations import (
    contraction,
    dynamic_sizes,
    gather_scatter,
    linear_algebra,
    movement,
    normalization,
    reduction,
    window,
)
from hloproof.models.interpreter.operations.elementwise import elementwise
from hloproof.models.interpreter.operations.library_calls import LIBRARY_CALLS
from hloproof.models.interpreter.semantics.element_type import COMPLEX
from hloproof.models.interpreter.semantics.small_float import FLOATS
from hloproof.models.interpreter.step import Execute, Step
from hloproof.models.interpreter.value import Array, Classed, Element, InFlight, Token, Value, filled

LARGEST: Final = 1 << 24
"""Tensors of more elements are not evaluated: an element takes 32 bytes, so that these are half a gigabyte."""

_IDENTITY_CALLS: Final = frozenset({"Sharding", "MoveToHost", "MoveToDevice", "AllocateBuffer", "Pin", "Unpin"})
_OF_PLACES: Final = re.compile(r"unspecified_dims=\[[0-9, ]*\]", re.ASCII)
"""Says where parts of an array are to lie, of which nothing is seen in its elements."""
_MATH: Final = UNARY - set("convert count-leading-zeros imag is-finite not popcnt real reduce-precision".split())
"""Functions of a number of any type of floats that give one of the same type."""
_COMPARATORS: Final = ("called_computations", "to_apply")


def _first(step: Step) -> Value:
    return step.operands[0]


def _tuple(step: Step) -> Value:
    return tuple(step.operands)


def _element(step: Step) -> Value:
    whole, index = step.operands[0], step.attributes.integer("index", 0)
    parts = whole.elements if isinstance(whole, InFlight) else whole
    if not isinstance(parts, tuple):
        raise NotModelled("get-tuple-element of something that is not a tuple")
    return parts[index]


def _token(step: Step) -> Value:
    return Token()


def _at(position: int) -> Execute:
    def done(step: Step) -> Value:
        whole = step.operands[0]
        if not isinstance(whole, tuple):
            raise NotModelled(f"{step.instruction.opcode} of something that is not a tuple")
        return whole[position]

    return done


def _copy_start(step: Step) -> Value:
    """(destination, source, context)."""
    return _with_context(step, (step.operands[0], step.operands[0]))


def _with_context(step: Step, parts: tuple[Value, ...]) -> Value:
    shapes = getattr(step.instruction.shape, "elements", ())
    return (*parts, *(filled(s) for s in shapes[len(parts) :]))


def custom_call(step: Step) -> Value:
    """Known targets by their meaning; others only as uninterpreted functions of all their operands. Raises NotModelled
    where the text says another shape than the meaning gives: nobody else holds the one against the other."""
    found = _called(step)
    if not _has_shape(found, step.instruction.shape):
        raise NotModelled("a call whose result has another shape than what it stands for")
    return found


def _has_shape(value: Value, shape: Shape) -> bool:
    """Whether the parts that hold elements have the types and sizes of the shape's, or these are known later only. What
    stands for scratch memory holds none, and no tuple is an array."""
    if isinstance(shape, TupleShape):
        if not isinstance(value, tuple) or len(value) != len(shape.elements):
            return False
        return all(_has_shape(v, s) for v, s in zip(value, shape.elements, strict=True))
    if isinstance(value, Array | Classed) and isinstance(shape, ArrayShape):
        return any(shape.dynamic) or (value.element_type, value.sizes) == (shape.element_type, shape.dimensions)
    return isinstance(value, Token)


def is_known_call(attributes: Attributes) -> bool:
    """Whether the target of a custom call is one that has a meaning here, though perhaps not with all that it says."""
    target = _target(attributes)
    return target in _IDENTITY_CALLS or target in LIBRARY_CALLS or target.startswith(("TopK", "xla_builder.math."))


def _target(attributes: Attributes) -> str:
    named = attributes.get("custom_call_target")
    return named.text if isinstance(named, Quoted) else str(named)


def _called(step: Step) -> Value:
    target = _target(step.attributes)
    attributes, single = step.attributes, len(step.operands) == 1
    if single and target in _IDENTITY_CALLS and not unread_of_call(attributes, *_of_places(attributes)):
        given, gives = (
            [(at, type(s)) for at, s in leaves(i)] for i in (step.operand_shapes[0], step.instruction.shape)
        )
        if given != gives:
            raise NotModelled(f"{target} from parts of one kind to those of another")
        return step.operands[0]
    name = target.removeprefix("xla_builder.math.").lower()
    if single and target.startswith("xla_builder.math.") and name in _MATH and not unread_of_call(attributes):
        kind = step.array(0).element_type
        if kind not in FLOATS and (kind not in COMPLEX or name == "abs"):
            raise NotModelled(f"{target} of {kind}")
        function = step.function(name, kind, 1)
        return Array(kind, step.array(0).sizes, [function(v) for v in step.array(0).data])
    if single and target == "TopK" and not unread_of_call(attributes, *_COMPARATORS):
        return reduction.top_k_call(step)
    if target in LIBRARY_CALLS and step.scalars.name != "counted":
        return LIBRARY_CALLS[target](step)
    kept = [(k, v) for k, v in step.attributes.pairs if k not in NON_SEMANTIC and not isinstance(v, ComputationRef)]
    name = f"custom-call {target} {sorted((k, repr(v)) for k, v in kept)}"
    arguments: list[Element] = []
    pending = list(step.operands)
    while pending:
        value = pending.pop(0)
        if isinstance(value, Array):
            arguments += [int(v) if isinstance(v, bool) else v for v in value.data]
        elif isinstance(value, tuple):
            pending[:0] = value
    return _uninterpreted(step, step.instruction.shape, name, arguments)


def _of_places(attributes: Attributes) -> tuple[str, ...]:
    """The attributes of a call that gives what it is given which say where its parts are to lie, and no more."""
    said = attributes.get("backend_config")
    return ("backend_config",) if isinstance(said, Quoted) and _OF_PLACES.fullmatch(said.text) else ()


def _uninterpreted(step: Step, shape: Shape, name: str, arguments: list[Element]) -> Value:
    made: dict[tuple[int, ...], Value] = {}
    # All arguments are hashed once; each element then hashes that and its position.
    for position, leaf in leaves(shape):
        if not isinstance(leaf, ArrayShape):
            made[position] = Token()
            continue
        whole = step.scalars.uninterpreted(name, "u64", arguments, 0)
        if whole is None:
            raise NotModelled(f"{name.split(' [')[0]}: what it computes is not known")
        kind = leaf.element_type
        at = f"{name} {position}"
        made[position] = Array(
            kind,
            leaf.dimensions,
            [step.scalars.uninterpreted(at, kind, [whole], k) for k in range(prod(leaf.dimensions))],
        )
    return _assembled(shape, made, ())


def _assembled(shape: Shape, made: dict[tuple[int, ...], Value], at: tuple[int, ...]) -> Value:
    if at in made:
        return made[at]
    return tuple(_assembled(s, made, (*at, k)) for k, s in enumerate(getattr(shape, "elements", ())))


OPERATIONS: Final[dict[str, Execute]] = {
    **dict.fromkeys(SCALAR, elementwise),
    "add-dependency": _first,
    "after-all": _token,
    "all-gather-done": _at(1),
    "all-reduce-done": _first,
    "collective-permute-done": _at(1),
    "copy-done": _at(0),
    "copy-start": _copy_start,
    "custom-call": custom_call,
    "domain": _first,
    "get-tuple-element": _element,
    "opt-barrier": _first,
    "outfeed": _token,
    "tuple": _tuple,
    **contraction.EXECUTIONS,
    **dynamic_sizes.EXECUTIONS,
    **gather_scatter.EXECUTIONS,
    **linear_algebra.EXECUTIONS,
    **movement.EXECUTIONS,
    **normalization.EXECUTIONS,
    **reduction.EXECUTIONS,
    **window.EXECUTIONS,
}
"""Every opcode that is executed one operation at a time, from the tables of the subjects."""
