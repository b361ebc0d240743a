"""Which fields of a buffer may differ between two modules that are proved to be one.

Buffers that JAX wrote are changed in one place each, every field of every message by opcode. What is still read and
proved to be the same module must differ in nothing that says what is computed: the fields, and the ways of changing
them, stand in a list here, with the reason of each. Those that are passed over whatever they hold are in the list of
test_protobuf.py.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from hloproof.equivalence import decide
from hloproof.models.errors import InputError
from hloproof.models.hlo.parser import parse_module
from hloproof.models.hlo.proto.schema import SCHEMA
from hloproof.models.hlo.proto.text import hlo_text

DATA: Final = Path(__file__).parent / "data" / "protobuf"
FILES: Final = ("f8.after", "f7.before", "f3.after", "f4.after", "f2.before", "f5.before")
Tree = list[list[Any]]
"""Fields of a message: number, wire type, and a number, bytes or a tree."""

LEFT_OUT, OTHER, TURNED, LONGER, TWICE = "left out", "other", "turned", "longer", "twice"

SAYS_NOTHING: Final = {
    ("Module", "name", OTHER): "a name",
    ("Computation", "name", OTHER): "a name",
    ("Instruction", "name", OTHER): "a name",
    ("Instruction", "metadata", LEFT_OUT): "notes of who wrote it",
    ("Module", "frames", LEFT_OUT): "notes of who wrote it",
    ("Module", "frontend", LEFT_OUT): "there is nothing in it",
    ("Instruction", "frontend", LEFT_OUT): "there is nothing in it",
    ("Attributes", "map", LEFT_OUT): "a name that the table of names calls silent",
    ("Entry", "value", LEFT_OUT): "of such a name",
    ("Entry", "value", OTHER): "of such a name",
    ("Module", "buffer_donor", LEFT_OUT): "there is nothing in it",
    ("Module", "input_output_alias", LEFT_OUT): "there is nothing in it",
    ("Module", "device_assignment", LEFT_OUT): "on which devices it runs, of a module that knows none",
    ("Module", "host_program_shape", LEFT_OUT): "where the arrays lie that it is given",
    ("Module", "schedule", LEFT_OUT): "in which order operations run that have no effects",
    ("Schedule", "sequences", TWICE): "a map, in which the last of a key counts",
    ("Shape", "layout", LEFT_OUT): "the order that is meant where none is told",
    ("Layout", "tail_padding", LEFT_OUT): "how much room an array takes",
    ("Shape", "dynamic", LEFT_OUT): "no size is known at run time only",
    ("Shape", "dynamic", LONGER): "no size is known at run time only",
    ("Instruction", "feature_groups", LEFT_OUT): "one group",
    ("Instruction", "batch_groups", LEFT_OUT): "one group",
    ("Instruction", "comparison_type", LEFT_OUT): "as the type of what is compared says",
    ("Instruction", "precision", LEFT_OUT): "the one that is meant where none is told",
    ("Precision", "operands", LEFT_OUT): "the one that is meant where none is told",
    ("Precision", "operands", LONGER): "the one that is meant where none is told",
    ("Instruction", "sparsity_config", LEFT_OUT): "there is nothing in it",
    ("Instruction", "aliasing", TWICE): "the same is said twice",
    ("Instruction", "dimensions", TURNED): "a reversal along them all, in any order",
    ("Instruction", "operands", TURNED): "proved: a product in the other order",
    ("Literal", "u64", OTHER): "proved: numbers below 3 that are shifted by 33 bits instead of 32",
    ("Slice", "stride", OTHER): "proved: one element is taken",
}
"""The kind of message, the field, and how it differs."""


def varint(number: int) -> bytes:
    out = b""
    while number > 127:
        out, number = out + bytes([number & 127 | 128]), number >> 7
    return out + bytes([number])


def number_at(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return value, at


def tree_of(data: bytes, message: str) -> Tree:
    out: Tree = []
    at = 0
    while at < len(data):
        key, at = number_at(data, at)
        value: Any
        if key & 7 == 0:
            value, at = number_at(data, at)
        else:
            length, at = number_at(data, at) if key & 7 == 2 else (4 if key & 7 == 5 else 8, at)
            value, at = data[at : at + length], at + length
        field = SCHEMA[message][key >> 3]
        out.append([key >> 3, key & 7, tree_of(value, field.kind) if field.kind in SCHEMA else value])
    return out


def bytes_of(tree: Tree) -> bytes:
    out = b""
    for number, wire, value in tree:
        told = varint(value) if wire == 0 else bytes_of(value) if isinstance(value, list) else value
        out += varint(number << 3 | wire) + (varint(len(told)) if wire == 2 else b"") + told
    return out


def places(tree: Tree, message: str, opcode: str = "") -> Iterator[tuple[Tree, int, str, str]]:
    """The fields: the message that holds it, at which place, the kind of message, and in which instruction."""
    if message == "Instruction":
        opcode = next(value for number, _, value in tree if number == 2).decode()
    for at, (number, _, value) in enumerate(tree):
        field = SCHEMA[message][number]
        yield tree, at, message, opcode
        if isinstance(value, list) and not field.ignored and field.name not in ("metadata", "frames"):
            yield from places(value, field.kind, opcode)


def changed(tree: Tree, at: int, message: str) -> Iterator[tuple[str, Tree]]:
    """The message with one of its fields changed, and how."""
    number, wire, value = tree[at]
    field = SCHEMA[message][number]
    before, behind = tree[:at], tree[at + 1 :]

    def instead(new: Any) -> Tree:
        return [*before, [number, wire, new], *behind]

    yield LEFT_OUT, before + behind
    if wire == 0:
        yield OTHER, instead(1 - value if field.kind == "bool" and value < 2 else value + 1)
    elif field.kind in ("int", "uint", "bool") and field.repeated:
        numbers, k = [], 0
        while k < len(value):
            one, k = number_at(value, k)
            numbers.append(one)
        for how, new in (
            (OTHER, [1 - n if field.kind == "bool" else n + 1 for n in numbers[:1]] + numbers[1:]),
            (TURNED, numbers[::-1]),
            (LONGER, [*numbers, 0]),
        ):
            if new != numbers:
                yield how, instead(b"".join(map(varint, new)))
    elif isinstance(value, list):
        if field.repeated:
            yield TWICE, [*before, tree[at], *tree[at:]]
    elif field.kind == "text":
        yield OTHER, instead(value + b"x")
    elif value:
        yield OTHER, instead(bytes([value[0] ^ 1]) + value[1:])


@pytest.mark.longer
def test_fields_that_may_differ_say_nothing_of_what_is_computed() -> None:
    seen: set[tuple[str, ...]] = set()
    found: dict[tuple[str, str, str], str] = {}
    for name in FILES:
        data = gzip.decompress((DATA / f"{name}.hlo.pb.gz").read_bytes())
        module = parse_module(hlo_text(data))
        tree = tree_of(data, "Module")
        for holder, at, message, opcode in places(tree, "Module"):
            field = SCHEMA[message][holder[at][0]]
            plain = field.name in ("name", "metadata", "frontend") or message in ("Shape", "Layout")
            if field.ignored or (key := (message, field.name, "" if plain else opcode)) in seen:
                continue
            seen.add(key)
            own = [*holder]
            for how, new in changed(own, at, message):
                holder[:] = new
                try:
                    same = decide(module, parse_module(hlo_text(bytes_of(tree))), "exact", 5.0).verdict == "proved"
                except InputError:
                    same = False
                holder[:] = own
                if same:
                    found.setdefault((message, field.name, how), f"{opcode} in {name}")
    assert {key: place for key, place in found.items() if key not in SAYS_NOTHING} == {}
    assert SAYS_NOTHING.keys() - found.keys() == set()
