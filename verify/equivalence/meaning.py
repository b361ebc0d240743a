"""What of an instruction takes part in its identity: attributes that mean something, without names.

Trusted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from hloproof.equivalence.computed_identities import ACCURACY
from hloproof.equivalence.graph import Node
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import (
    NON_SEMANTIC,
    Attributes,
    ComputationRef,
    DevicePairs,
    Quoted,
    ReplicaGroups,
    Word,
)
from hloproof.models.hlo.beside import PEERS, frontend_entries, letters
from hloproof.models.hlo.module import Computation, Instruction
from hloproof.models.hlo.shape import ELEMENT_BITS, ArrayShape, BufferShape, Layout, Shape, TupleShape
from hloproof.models.hlo.text.lexer import Scanner
from hloproof.models.hlo.text.shapes import print_shape, read_shape
from hloproof.models.layouts.physical import physical_order

EFFECTS: Final = frozenset(
    {"infeed", "outfeed", "send", "recv", "send-done", "recv-done", "rng", "rng-get-and-update-state"}
)
"""Operations that two occurrences of may give two results, or that are seen outside."""

PROMISES: Final = frozenset({"indices_are_sorted", "unique_indices"})
"""What an operation promises about its indices: where it holds the result is the same, where not it is undefined. It is
no part of what identifies the operation, so promises that are new have to be told."""

_IGNORED: Final = (NON_SEMANTIC | PROMISES) | {
    "channel_id",  # a number without meaning of its own; whether there is one is kept
    "execution_threads",
    "async_execution_thread",
    "output_to_operand_aliasing",  # but for custom calls
    "operand_layout_constraints",  # of calls: see `memory_key`
    "schedule",
}


SHAPED: Final = frozenset({"custom-call", "infeed", "recv", "rng-bit-generator"})
"""Operations of which the shapes of all results say something that operands and attributes do not: how much is read,
or made. A result that is left out of a module is part of the operation still."""

_IN_BYTES: Final = frozenset({"infeed", "recv", "send"})
"""Operations that exchange bytes with another program, which knows the layouts that their shapes tell."""

_OUTSIDE: Final = PEERS | {"infeed", "outfeed"}
"""Operations that are done by the devices that their sharding names."""

_OF_CALLS: Final = frozenset({"backend_config", "frontend_attributes", "sharding"})
"""Attributes that take part in the meaning of a custom call."""


OF_DEVICES: Final = ("replica_groups", "source_target_pairs", "channel_id", "use_global_device_ids", "mode")
"""Attributes that say which devices take part in a collective operation."""

CARRIED: Final = "_xla_send_recv_validation"
"""Says in which turns of a loop a permutation carries anything at all: in all others what arrives is left open."""


COUNTED: Final = "known_trip_count"
"""Says how many turns a loop takes."""


def carried_when(i: Instruction) -> str:
    """The turns in which a permutation, a send or a recv is said to carry something; empty where nothing is said."""
    # What is said of a start is said of its call.
    if not i.opcode.startswith(("collective-permute", "async-")) and i.opcode not in PEERS:
        return ""
    written = _text(i.attributes.get("frontend_attributes") or Word("{}"))
    entries = frontend_entries(written)
    if entries is None:  # it may be among them
        return f"in {written}"
    return f"in {entries[CARRIED]}" if CARRIED in entries else ""


def called_as(i: Instruction) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The computations that an instruction calls, with what each is called as: by the names of the attributes, not by
    their order in the text."""
    if not i.attributes.computations():  # most call none
        return ()
    pairs = sorted(i.attributes.pairs, key=lambda pair: pair[0])
    named = ((name, tuple(Attributes(((name, value),)).computations())) for name, value in pairs)
    return tuple((name, called) for name, called in named if called)


def called_in_order(i: Instruction) -> tuple[str, ...]:
    """The same without what they are called as."""
    return tuple(name for _, called in called_as(i) for name in called)


def attribute_key(i: Instruction, opcode: str) -> tuple[Any, ...]:
    """The attributes of meaning, sorted by name, with called computations as how many there are."""
    out: list[tuple[str, Any]] = []
    for name, value in i.attributes.pairs:
        if name == "literal" and "..." in _text(value):
            raise NotModelled(f"{i.opcode} {i.name}, whose literal is left out")
        if name == "channel_id":
            # A number without meaning of its own, but for peers that have to name the same one.
            out.append((name, _plain(value) if opcode in PEERS else True))
        elif opcode in PEERS and name == "frontend_attributes":
            out.append((name, _text(value)))
        elif name == "dimensions" and opcode == "map":
            continue
        elif isinstance(value, DevicePairs) and "slice_sizes" in i.attributes:
            out.append((name, value.pairs))  # of slices: the k-th of a device's pairs carries its k-th slice
        elif name == "api_version" and _plain(value) == "API_VERSION_ORIGINAL":
            continue  # what a call without it has
        elif (name in _OF_CALLS and opcode == "custom-call") or (name == "sharding" and opcode in _OUTSIDE):
            out.append((name, letters(value)))
        elif name == "output_to_operand_aliasing" and opcode == "custom-call":
            # What is called may leave parts of a result as it found them, which is then the operand.
            out.append((name, frozenset(value) if isinstance(value, tuple) else value))
        elif name == ACCURACY:
            if "".join(_text(value).split()).lower() != "{mode=default}":
                out.append((name, _text(value)))
        elif opcode == "topk" and name == "largest":
            out += [] if value is True else [(name, value)]  # the largest where nothing is said
        elif opcode == "topk" and name == "is_stable":
            out += [] if value is True else [(name, value)]  # the first of equal elements where nothing is said
        elif name not in _IGNORED and value is not False:
            out.append((name, _plain(value)))
    if opcode == "compare":
        out = [pair for pair in out if pair[0] != "type" or pair[1] == "TOTALORDER"]
    return tuple(sorted(out, key=lambda pair: pair[0]))


def _text(value: Any) -> str:
    return value.text if isinstance(value, Quoted | Word) else repr(value)


def _plain(value: Any) -> Any:
    if isinstance(value, ComputationRef):
        return "computation"
    if isinstance(value, Word | Quoted):
        return letters(value)
    if isinstance(value, ReplicaGroups):
        return tuple(sorted(value.groups))  # a device finds its group by being in it
    if isinstance(value, DevicePairs):
        return tuple(sorted(value.pairs))
    if isinstance(value, tuple):
        return tuple(_plain(v) for v in value)
    return repr(value) if isinstance(value, float) else value  # 0.0 and -0.0 are two numbers


def shapes_key(opcode: str, shape: Shape) -> tuple[Any, ...]:
    """Element types, sizes and perhaps layouts of all results of an operation whose results those say something about,
    else nothing."""
    layouts = tuple(layouts_of(shape)) if opcode in _IN_BYTES else ()
    if opcode not in SHAPED:
        return layouts
    if isinstance(shape, TupleShape):
        return (*(_shape_key(s) for s in shape.elements), *layouts)
    return (_shape_key(shape), *layouts)


def _shape_key(shape: Shape) -> tuple[Any, ...]:
    if isinstance(shape, TupleShape):
        return tuple(_shape_key(s) for s in shape.elements)
    return (shape.element_type, shape.dimensions) if isinstance(shape, ArrayShape) else (print_shape(shape),)


def signature(function: Computation) -> tuple[Any, ...]:
    """What a function that a call is handed takes and gives: element types, sizes, nesting and layouts. Who applies it
    hands it bytes."""
    shapes = *(p.shape for p in function.parameters), function.root.shape
    return tuple((_shape_key(shape), tuple(layouts_of(shape))) for shape in shapes)


def memory_key(i: Instruction, computation: Computation) -> tuple[Any, ...]:
    """The layouts that a call demands of its operands, or has where it demands none, and gives its results.

    What it calls reads bytes, so the same function over other layouts is another function of the arrays. A convolution
    of cuDNN is told the layouts that its arrays have.
    """
    given = demanded_shapes(i)
    if not given and _text(i.attributes.get("custom_call_target")).startswith("__cudnn$conv"):
        return ()
    given = given or computation.operand_shapes(i)
    return tuple(order for shape in (*given, i.shape) for order in layouts_of(shape))


def demanded_shapes(i: Instruction) -> tuple[Shape, ...]:
    """The shapes, with their layouts, in which a call or an outfeed wants its first operands; () where it is silent."""
    told = i.attributes.get("operand_layout_constraints") or i.attributes.get("outfeed_shape")
    if not isinstance(told, Word):
        return ()
    scanner = Scanner(told.text)
    if i.opcode == "outfeed":
        return (read_shape(scanner),)
    scanner.expect("{", "before the operand layout constraints")
    shapes: list[Shape] = []
    while not scanner.accept("}"):
        shapes.append(read_shape(scanner))
        scanner.accept(",")
    return tuple(shapes)


def layouts_of(shape: Shape) -> Iterator[tuple[Any, ...]]:
    """How the bytes of each array lie: order, room of an element, and what a layout says beyond these."""
    if isinstance(shape, TupleShape):
        for inner in shape.elements:
            yield from layouts_of(inner)
    elif isinstance(shape, BufferShape):
        yield from layouts_of(shape.inner)
    elif isinstance(shape, ArrayShape):
        yield physical_order(shape), room(shape), _beyond_order(shape)


def _beyond_order(shape: ArrayShape) -> Layout:
    """What a layout says of bytes beside the order of dimensions and the room of an element: tiles, padding, what lies
    before the data, and the forms of sparse arrays. Which memory it lies in says nothing of them."""
    return replace(shape.layout or Layout(()), minor_to_major=(), element_bits=0, memory_space=0)


def layout_key(shape: Shape) -> tuple[Any, ...]:
    """Element type, sizes and order of memory, most major first. Raises NotModelled where a layout says more."""
    if not isinstance(shape, ArrayShape):
        raise NotModelled("a bitcast of a shape that is no array")
    if _beyond_order(shape) != Layout(()):
        raise NotModelled("a bitcast between layouts that are tiled, padded or sparse")
    return shape.element_type, shape.dimensions, physical_order(shape)


COMBINED: Final = frozenset({"all-reduce", "all-gather", "reduce-scatter", "collective-permute"})
"""Collectives that do to each of several operands what they do to one: combining and splitting them changes nothing."""


def combined(opcode: str, shape: Shape, operands: Sequence[Node]) -> tuple[Shape, ...] | None:
    """The shapes of the results of a collective over several operands, one for each; None for anything else."""
    if opcode not in COMBINED or not isinstance(shape, TupleShape) or len(shape.elements) != len(operands):
        return None
    fit = all(
        isinstance(part, ArrayShape) and part.element_type == node.type
        for part, node in zip(shape.elements, operands, strict=True)
    )
    return shape.elements if fit else None


def room(shape: Shape) -> int:
    """The bits that an element takes in memory: those that the layout says, else whole bytes."""
    assert isinstance(shape, ArrayShape)
    said = shape.layout.element_bits if shape.layout is not None else 0
    return said or -(-ELEMENT_BITS[shape.element_type] // 8) * 8
