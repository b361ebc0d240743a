"""Modules as protocol buffers: read as the text that the same compiler wrote beside them.

`data/protobuf` holds pairs that JAX wrote of small programs: loops, sorts, convolutions, scatters, gathers, windows,
constants of many types, before and after the compiler.
"""

from __future__ import annotations

import gzip
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hloproof
from hloproof.cli import run
from hloproof.models.errors import InputError
from hloproof.models.hlo.module import Module, Operation
from hloproof.models.hlo.parser import parse_module
from hloproof.models.hlo.proto.schema import SCHEMA
from hloproof.models.hlo.proto.text import hlo_text
from hloproof.models.hlo.proto.wire import Field, read
from hloproof.models.hlo.source_lines import SourceLine, SourceLines

DATA = Path(__file__).parent / "data" / "protobuf"
PAIRS = sorted(DATA.glob("*.hlo.pb.gz"))


def buffer(name: str) -> bytes:
    return gzip.decompress((DATA / f"{name}.hlo.pb.gz").read_bytes())


def numbers(literal: str | None) -> list[float] | None:
    """The numbers of a constant, in order; None where the text leaves them out."""
    if literal is None or "..." in literal:
        return None
    return [float({"true": "1", "false": "0"}.get(w, w)) for w in re.findall(r"[^\s{}(),]+", literal)]


def told(module: Module) -> dict[str, Any]:
    """All that a module says but metadata and the order of attributes."""
    return {
        c.name: [
            (i.name, i.operands, i.parameter_number, i.name == c.root_name, _operation(Operation.of(i, c)))
            for i in c.instructions
        ]
        for c in module.computations
    }


def _operation(op: Operation) -> Any:
    return op.opcode, op.shape, op.operands, frozenset(op.attributes.pairs)


@pytest.mark.parametrize("path", PAIRS, ids=lambda p: p.name.removesuffix(".hlo.pb.gz"))
def test_a_buffer_says_what_the_text_says(path: Path) -> None:
    text = hloproof.parse(path.with_name(path.name.replace(".pb.gz", ".gz")))
    found = hloproof.parse(path)
    assert told(found) == told(text) and found.entry_name == text.entry_name
    assert found.attributes.flag("is_scheduled") == text.attributes.flag("is_scheduled")
    for computation in text.computations:
        for i in computation.instructions:
            if (wanted := numbers(i.literal)) is not None:
                literal = found.by_name[computation.name].by_name[i.name].literal
                assert numbers(literal) == pytest.approx(wanted, rel=1e-6, nan_ok=True)


def test_source_lines_are_kept() -> None:
    module = parse_module(hlo_text(buffer("f8.after")))
    lines = {str(line) for i in module.entry.instructions for line in SourceLines(module).stack(i)}
    assert str(SourceLine("program.py", 3, "g")) in lines


def test_buffers_are_checked_alone_and_in_folders_without_text(tmp_path: Path) -> None:
    path = tmp_path / "m.before_optimizations.hlo.pb"
    path.write_bytes(buffer("f4.before"))
    assert run(["check", str(path), "--no-cache", "-q"]) == 0
    from hloproof.pipeline.sources import find_sources

    assert [Path(s.name).name for s in find_sources([str(tmp_path)])] == [path.name]
    (tmp_path / "m.before_optimizations.txt").write_text("HloModule m\n")
    (tmp_path / "profile.pb").write_bytes(b"\x08\x01")
    assert [Path(s.name).suffix for s in find_sources([str(tmp_path)])] == [".txt"]
    # Passed over for a text that is read, and for no other.
    (tmp_path / "other.txt").write_text("HloModule m\n")
    for told in ({"exclude": ("m.*.txt",)}, {"include": ("*.pb", "other*")}):
        found = {Path(s.name).name for s in find_sources([str(tmp_path)], **told)}
        assert found == {path.name, "other.txt"}
    (tmp_path / "m.before_optimizations.txt").write_text("remarks\n")
    assert {Path(s.name).name for s in find_sources([str(tmp_path)])} == {path.name, "other.txt"}


def message(*fields: tuple[int, bytes | int]) -> bytes:
    """A message on the wire; bytes are texts and messages, numbers are varints."""
    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
        else:
            out += varint(number << 3 | 2) + varint(len(value)) + value
    return out


def varint(value: int) -> bytes:
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


SHAPE = message((2, 11), (3, b"\x04"))
PARAMETER = message((1, b"p"), (2, b"parameter"), (3, SHAPE), (35, 1))


def module_of(*instructions: bytes, more: bytes = b"") -> bytes:
    computation = message((1, b"e"), *((2, i) for i in instructions), (5, 7), (6, len(instructions)))
    return message((1, b"m"), (3, computation), (6, 7)) + more


def test_a_module_alone_and_inside_of_a_larger_buffer_are_the_same() -> None:
    module = module_of(PARAMETER, message((1, b"n"), (2, b"negate"), (3, SHAPE), (35, 2), (36, b"\x01")))
    assert parse_module(hlo_text(module)).entry.root.opcode == "negate"
    assert hlo_text(message((1, module))) == hlo_text(module)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (module_of(message((1, b"p"), (2, b"parameter"), (3, SHAPE), (35, 1), (200, 3))), "field 200 of Instruction"),
        (module_of(message((1, b"p"), (2, b"infeed"), (3, SHAPE), (35, 1), (27, b"x"))), "infeed_config of infeed %p"),
        (module_of(message((1, b"p"), (2, b"replica-id"), (3, SHAPE), (35, 1))), "numbers of replicas and partitions"),
        (module_of(message((1, b"a = f32[]"), (2, b"parameter"), (3, SHAPE), (35, 1))), "is no name"),
        (module_of(message((1, b"p"), (2, b"parameter"), (3, message((2, 99))), (35, 1))), "element type 99"),
        (module_of(PARAMETER)[:-3], "cut off"),
        (b"", "no computations"),
        (b"\xff" * 40, "cut off"),
        (b"HloModule m\n", "cannot be read as a module"),
    ],
)
def test_what_is_not_understood_is_an_error(data: bytes, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        hlo_text(data, "m.hlo.pb")


def test_an_unknown_field_that_is_empty_says_nothing() -> None:
    assert "parameter(0)" in hlo_text(module_of(PARAMETER + message((200, b""))))


@given(st.data())
@settings(max_examples=150)
def test_damaged_buffers_end_in_errors_of_input(data: st.DataObject) -> None:
    original = buffer("f3.before")
    at = data.draw(st.integers(0, len(original) - 1))
    change = data.draw(st.binary(max_size=4))
    changed = original[:at] + change + original[at + data.draw(st.integers(0, 4)) :]
    with suppress(InputError):
        parse_module(hlo_text(changed))


def test_messages_inside_of_each_other_have_a_limit() -> None:
    shape = SHAPE
    for _ in range(500):
        shape = message((2, 13), (4, shape))
    with pytest.raises(InputError, match="deeper than"):
        hlo_text(module_of(message((1, b"p"), (2, b"parameter"), (3, shape), (35, 1))))


def test_every_message_that_the_schema_names_is_there() -> None:
    kinds = {f.kind for fields in SCHEMA.values() for f in fields.values()}
    assert kinds - {"int", "uint", "bool", "float", "double", "text", "bytes"} <= set(SCHEMA)


@given(st.integers(-(2**63), 2**63 - 1), st.lists(st.integers(-(2**63), 2**63 - 1)))
def test_numbers_are_read_packed_or_not_with_their_signs(one: int, many: list[int]) -> None:
    schema = {"M": {1: Field("one", "int"), 2: Field("many", "int", True)}}
    packed = b"".join(varint(n % 2**64) for n in many)
    found = read(message((1, one % 2**64), (2, packed)), "M", schema)
    assert found["one"] == one and found.get("many", []) == many
    alone = read(message(*((2, n % 2**64) for n in many)), "M", schema)
    assert alone.get("many", []) == many
