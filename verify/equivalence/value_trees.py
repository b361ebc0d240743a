"""What instructions give, as trees: nodes in tuples and in flight, and beside them what is over where they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hloproof.equivalence.effects import Earlier, Standing
from hloproof.equivalence.graph import Node
from hloproof.models.hlo.shape import ArrayShape, BufferShape, Shape, TupleShape
from hloproof.models.hlo.text.shapes import print_shape

ValueTree = Any
"""A node, a list of values for a tuple, or a `Pending`."""


@dataclass(frozen=True)
class Pending:
    """What a start has in flight: its done, which may lie behind updates, answers with the result."""

    result: ValueTree
    runs: tuple[Any, ...] | None = ()
    """The form of what an `async-start` runs, and what it is given, also what comes to nothing there; () of a start
    without a computation of its own, and None where it may be one of several."""


def leaves_of(value: ValueTree) -> Iterator[Node]:
    """The tensors of a value, from left to right, those of operations in flight included."""
    if isinstance(value, list):
        for element in value:
            yield from leaves_of(element)
    elif isinstance(value, Pending):
        yield from leaves_of(value.result)
    else:
        yield value


def count_of(value: ValueTree) -> int:
    """How many tensors a value has."""
    return sum(1 for _ in leaves_of(value))


def flies(value: ValueTree) -> bool:
    """Whether something of a value is in flight, so that nobody may read it before its done."""
    return any(map(flies, value)) if isinstance(value, list) else isinstance(value, Pending)


def has_shape(value: ValueTree, shape: Shape) -> bool:
    """Whether a value is nested as the shape, and holds arrays of its sizes and element types, and tokens and the like
    where it names them; no array is one whose size is known at run time. Of an operation in flight the shape names more
    than the result, and nothing is said here."""
    if isinstance(value, Pending):
        return True
    if isinstance(shape, TupleShape) or isinstance(value, list):
        if not isinstance(shape, TupleShape) or not isinstance(value, list) or len(value) != len(shape.elements):
            return False
        return all(has_shape(part, inner) for part, inner in zip(value, shape.elements, strict=True))
    if isinstance(shape, ArrayShape):
        return (value.type, value.sizes) == (shape.element_type, shape.dimensions) and not shape.is_dynamic
    named = BufferShape(shape.inner.without_layout()) if isinstance(shape, BufferShape) else shape
    return bool(value.type == print_shape(named))


def nesting_of(value: ValueTree) -> tuple[Any, ...]:
    """How tensors are nested in a value: () for one of them."""
    if isinstance(value, list):
        return ("tuple", *map(nesting_of, value))
    return ("in flight", nesting_of(value.result)) if isinstance(value, Pending) else ()


def parts_of(over: Any, like: ValueTree) -> list[Earlier]:
    """What is over, for each leaf of a value; one `Earlier` stands for all parts of a tuple."""
    if isinstance(like, Pending):
        return parts_of(over, like.result)
    if not isinstance(like, list):
        return [over if isinstance(over, Earlier) else Standing(over).every]
    spread = over if isinstance(over, list) else [over] * len(like)
    return [leaf for part, inner in zip(spread, like, strict=True) for leaf in parts_of(part, inner)]


def in_parts(like: ValueTree, leaves: Iterator[Earlier]) -> Any:
    """What is over, leaf by leaf, in the tuple tree of `like`."""
    if isinstance(like, Pending):
        return in_parts(like.result, leaves)
    return [in_parts(part, leaves) for part in like] if isinstance(like, list) else next(leaves)


def in_flight(value: ValueTree) -> tuple[tuple[Any, ...] | None, ...]:
    """What each start that a value holds runs; behind a start what is in flight inside of its result."""
    if isinstance(value, list):
        return tuple(runs for part in value for runs in in_flight(part))
    return (value.runs, *in_flight(value.result)) if isinstance(value, Pending) else ()


def open_starts(value: ValueTree) -> list[tuple[Any, ...] | None]:
    """The same where each may be another start: only what has no computation of its own is known, by its tensors."""
    return [runs if runs == () else None for runs in in_flight(value)]


def rebuilt(like: ValueTree, nodes: Iterator[Node], runs: Iterator[tuple[Any, ...] | None]) -> ValueTree:
    """The nodes in the tuple tree of `like`, and what the starts in it run, in the order of `in_flight`."""
    if isinstance(like, list):
        return [rebuilt(element, nodes, runs) for element in like]
    if isinstance(like, Pending):
        own = next(runs)  # before what is in flight inside
        return Pending(rebuilt(like.result, nodes, runs), own)
    return next(nodes)
