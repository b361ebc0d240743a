"""Modules as protocol buffers: read as the text that the same compiler wrote beside them.

`data/protobuf` holds pairs that JAX wrote of small programs: loops, sorts, convolutions, scatters, gathers, windows,
constants of many types, before and after the compiler.
"""

from __future__ import annotations

import gzip
import json
import re
import struct
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hloproof
from hloproof.cli import run
from hloproof.equivalence import decide
from hloproof.models.errors import InputError
from hloproof.models.hlo.attributes import ComputationRef, Word
from hloproof.models.hlo.module import Module, Operation
from hloproof.models.hlo.parser import parse_module
from hloproof.models.hlo.printer import print_modules
from hloproof.models.hlo.proto.forms import FORMS
from hloproof.models.hlo.proto.schema import SCHEMA
from hloproof.models.hlo.proto.text import hlo_text
from hloproof.models.hlo.proto.wire import Field, read
from hloproof.models.hlo.source_lines import SourceLine, SourceLines
from hloproof.models.hlo.text.shapes import print_shape

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
    # A buffer that does not say that a topk is stable says that it is not, where an older text says nothing.
    return op.opcode, op.shape, op.operands, frozenset(op.attributes.pairs) - {("is_stable", False)}


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
    from hloproof.pipeline.folders import find_sources

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


@pytest.mark.parametrize("name", ["n.pb", "n.pb.gz", "n.PB", "n.snapshot.pb"])
def test_a_buffer_of_another_name_is_a_module_where_it_can_be_read_as_one(name: str, tmp_path: Path) -> None:
    """All that was not named `*.hlo.pb` was passed over in folders."""
    from hloproof.pipeline.folders import find_sources

    data = buffer("f4.before")
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    for other in (b"\x08\x01", b"", message((1, data)), b"\x1f\x8b damaged"):
        (tmp_path / "other.pb").write_bytes(other)
        found = [Path(s.name).name for s in find_sources([str(tmp_path)])]
        (tmp_path / "named.hlo.pb").write_bytes(other)  # says that it is one
        assert {*found, "named.hlo.pb"} == {Path(s.name).name for s in find_sources([str(tmp_path)])}
        (tmp_path / "named.hlo.pb").unlink()
        assert found == ([name, "other.pb"] if other == message((1, data)) else [name])


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
        (module_of(PARAMETER) + b"\x58" + b"\x80" * 10 + b"\x00", "cut off"),
        (b"HloModule m\n", "cannot be read as a module"),
    ],
)
def test_what_is_not_understood_is_an_error(data: bytes, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        hlo_text(data, "m.hlo.pb")


@pytest.mark.parametrize("empty", [b"", 0])
def test_an_unknown_field_is_an_error_even_where_it_is_empty(empty: bytes | int) -> None:
    """A field that is empty and has no presence of its own is not written at all: one that is there says so."""
    with pytest.raises(InputError, match="field 200 of Instruction"):
        hlo_text(module_of(PARAMETER + message((200, empty))))
    assert "parameter(0)" in hlo_text(module_of(PARAMETER + message((98, b""))))
    with pytest.raises(InputError, match="sparsity_config of parameter"):
        hlo_text(module_of(PARAMETER + message((98, b"x"))))


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
    assert kinds - {"int", "uint", "bool", "float", "double", "bits32", "bits64", "text", "bytes"} <= set(SCHEMA)


SILENT = {
    "Hlo": {"buffer_assignment"},
    "Module": {
        *("entry_name", "id", "cross_program_prefetches", "profile_info", "recovery_table", "device_type"),
        *("payloads", "pjrt_id"),
        *("spmd_output_sharding", "spmd_parameters_shardings", "use_auto_spmd_partitioning"),
    },
    "Devices": {"each"},
    "Location": {"end_line", "end_column"},
    "ProgramShape": {"names"},
    "Computation": {"program_shape", "is_fusion"},
    "Layout": {"unique", "ordered"},
    "Instruction": {"statistics", "original_value", "is_composite"},
    "Metadata": {
        *("profile", "size", "working_set", "profile_info", "deduplicated", "scheduling_name"),
        *("end_line", "column", "end_column", "payload"),
    },
    "Sharding": {"tile_shape", "metadata"},
}
"""What is passed over: none of it says what is computed. Whoever adds a field decides that here, too."""


def test_what_is_passed_over_says_nothing_of_what_is_computed() -> None:
    ignored = {message: {f.name for f in fields.values() if f.ignored} for message, fields in SCHEMA.items()}
    assert {message: names for message, names in ignored.items() if names} == SILENT


@given(st.integers(-(2**63), 2**63 - 1), st.lists(st.integers(-(2**63), 2**63 - 1)))
def test_numbers_are_read_packed_or_not_with_their_signs(one: int, many: list[int]) -> None:
    schema = {"M": {1: Field("one", "int"), 2: Field("many", "int", True)}}
    packed = b"".join(varint(n % 2**64) for n in many)
    found = read(message((1, one % 2**64), (2, packed)), "M", schema)
    assert found["one"] == one and found.get("many", []) == many
    alone = read(message(*((2, n % 2**64) for n in many)), "M", schema)
    assert alone.get("many", []) == many


def packed(*values: int) -> bytes:
    return b"".join(map(varint, values))


def array(kind: int, *sizes: int, order: tuple[int, ...] = ()) -> bytes:
    layout = ((5, message((1, packed(*order)))),) if order else ()
    return message((2, kind), (3, packed(*sizes)), *layout)


F32, S32, F64, F16, BF16, C64 = 11, 4, 12, 10, 16, 15
LARGEST = message((2, 13), (4, array(F32, 2)), (4, array(S32, 2)))
SHARDINGS = [
    (message(), "{replicated}"),
    (message((1, 1), (4, packed(3))), "{maximal device=3}"),
    (message((1, 4)), "{manual}"),
    (message((1, 3), (3, packed(2)), (4, packed(1, 0))), "{devices=[2]1,0}"),
    (message((1, 3), (3, packed(2)), (9, packed(2)), (10, packed(0))), "{devices=[2]<=[2]}"),
    (
        message((1, 3), (3, packed(2, 2)), (9, packed(2, 2)), (10, packed(1, 0)), (6, 1)),
        "{devices=[2,2]<=[2,2]T(1,0) last_tile_dim_replicate}",
    ),
    (
        message((1, 3), (3, packed(2, 2)), (9, packed(4)), (8, packed(4))),
        "{devices=[2,2]<=[4] last_tile_dims={manual}}",
    ),
    (message((11, 1), (12, 2), (13, 1)), "{replicated shard_like 2}"),
    (message((1, 2), (5, b""), (5, message((1, 4)))), "{{replicated}, {manual}}"),
]


def applied(opcode: bytes, *more: tuple[int, bytes | int], shape: bytes = SHAPE, number: int = 1) -> Module:
    """An operation on the first so many of one parameter."""
    operands = ((36, b"\x01" * number),) if number else ()
    return parse_module(
        hlo_text(module_of(PARAMETER, message((1, b"r"), (2, opcode), (3, shape), (35, 2), *operands, *more)))
    )


def call(*more: tuple[int, bytes | int], number: int = 1, shape: bytes = SHAPE) -> Module:
    return applied(b"custom-call", (28, b"f"), *more, shape=shape, number=number)


def number(kind: int, field: int, bits: bytes) -> Module:
    shape = array(kind, 1)
    literal = message((1, shape), (field, bits))
    return parse_module(hlo_text(module_of(message((1, b"c"), (2, b"constant"), (3, shape), (35, 1), (8, literal)))))


def of_four(*values: int) -> bytes:
    return message((1, array(S32, 4)), (4, packed(*values)))


def exact(part: int) -> bytes:
    return b"\x09" + struct.pack("<d", 0.5) + message((3, part))


def constant(shape: bytes, own: bytes) -> Module:
    """Four numbers of one shape, told with another one."""
    literal = message((1, own), (4, packed(1, 2, 3, 4)))
    return parse_module(hlo_text(module_of(message((1, b"c"), (2, b"constant"), (3, shape), (35, 1), (8, literal)))))


DIFFERENT: list[tuple[str, list[Module]]] = [
    ("sharding of a call", [call((40, SHARDINGS[0][0])), call((40, SHARDINGS[2][0]))]),
    ("... or none", [call(), call((40, SHARDINGS[2][0]))]),
    ("literal of a call", [call((8, of_four(1, 2, 3, 4))), call((8, of_four(1, 2, 3, 5)))]),
    ("accuracy", [applied(b"exponential"), applied(b"exponential", (91, message((1, 1))))]),
    ("tolerance", [applied(b"exponential", (91, message((2, exact(ulps))))) for ulps in (3, 4)]),
    ("topk", [applied(b"topk", (81, 2), (85, 1), (60, stable), shape=LARGEST) for stable in (0, 1)]),
    ("layout of a result", [call((56, 1), number=0, shape=array(F32, 2, 3, order=o)) for o in ((1, 0), (0, 1))]),
    ("bytes that are no text", [call((43, b"\xff")), call((43, b"\\xff"))]),
    *(("... nor characters", [call((43, bytes([n]))), call((43, chr(n).encode()))]) for n in (0x80, 0xFF)),
    ("... nor numbers of bytes", [call((43, b"\xff")), call((43, b"\xff\\377"))]),
    ("order of numbers", [constant(array(S32, 2, 2), array(S32, 2, 2, order=o)) for o in ((1, 0), (0, 1))]),
    ("NaN", [number(F32, 8, struct.pack("<I", bits)) for bits in (0x7FC00000, 0xFFC00000)]),
    ("its payload", [number(F32, 8, struct.pack("<I", bits)) for bits in (0x7FC00001, 0x7F800001)]),
    ("half a NaN", [number(F16, 11, struct.pack("<H", bits)) for bits in (0x7E00, 0xFE00)]),
    ("its upper half", [number(BF16, 13, struct.pack("<H", bits)) for bits in (0x7FC0, 0x7FC1)]),
    ("a longer one", [number(F64, 9, struct.pack("<Q", bits)) for bits in (0x7FF8 << 48, 0xFFF8 << 48)]),
    ("a part", [number(C64, 12, struct.pack("<II", bits, 0)) for bits in (0x7FC00000, 0xFFC00000)]),
]  # fmt: skip


@pytest.mark.parametrize("pair", [pair for _, pair in DIFFERENT], ids=[name for name, _ in DIFFERENT])
def test_what_an_operation_means_is_read_from_a_buffer(pair: list[Module]) -> None:
    """Each was left out once, so that two modules that differ by it alone were one."""
    before, after = pair
    for one, other, verdict in ((before, after, "unknown"), (before, before, "proved"), (after, after, "proved")):
        assert decide(one, other, "exact").verdict == verdict


@pytest.mark.parametrize(
    ("kind", "data", "said"),
    [
        (21, b"\x0f\x07\x08\x03\xff", [-1, 7, -8, 3, -1]),
        (22, b"\x0f\x07\xf8\x00", [15, 7, 8, 0]),
        (26, b"\x03\x01\x02\xfc", [-1, 1, -2, 0]),
    ],
)
def test_of_a_byte_the_bits_count_that_its_type_has(kind: int, data: bytes, said: list[float]) -> None:
    shape = array(kind, len(data))
    literal = message((1, shape), (kind, data))
    module = hlo_text(module_of(message((1, b"c"), (2, b"constant"), (3, shape), (35, 1), (8, literal))))
    assert numbers(parse_module(module).entry.root.literal) == said


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b'{"a": [1]}', 'backend_config={"a": [1]}'),
        (b'{key = "a}", n = 1 : i64}', 'backend_config={key = "a}", n = 1 : i64}'),
        (b"{sizes:[8]}", "backend_config={sizes:[8]}"),
        (b"{a}, b={c}", 'backend_config="{a}, b={c}"'),
        (b'{"a}', 'backend_config="{\\"a}"'),
        (b"[1]", 'backend_config="[1]"'),
        (b" {}", 'backend_config=" {}"'),
        (b"{a\nb}", "backend_config={a\nb}"),
        (b"{a\rb}", 'backend_config="{a\\rb}"'),
        (b"a\rb\nc", 'backend_config="a\\rb\\nc"'),
        (b"\x01\0\x7f", 'backend_config="\\001\\000\\177"'),
        (b"{\0}", 'backend_config="{\\000}"'),
        (b"{\x7f}", 'backend_config="{\\177}"'),
        (b"\xff\0", 'backend_config="\\377\\000"'),
    ],
)
def test_configurations_between_braces_stand_without_quotes(data: bytes, said: str) -> None:
    """As the compiler prints them, whether they are JSON or not: in quotes they were another one than the text's. What
    is no text, and the end of a line that a reader would take for another one, stands by its number."""
    assert said in print_modules((call((43, data)),))


def test_a_kernel_that_is_turned_along_one_dimension_is_told_so() -> None:
    """A window over two dimensions that is turned along the second, or differs along one otherwise."""
    plain = ((1, 1), (2, 1), (5, 1), (6, 1))
    for more, said in (
        (((7, 1),), "size=1x1 rhs_reversal=0x1"),
        (((3, 1),), "size=1x1 pad=0_0x1_0"),
        (((4, 1),), "size=1x1 pad=0_0x0_1"),
        ((), "size=1x1"),
        (((2, 2),), "size=1x1 stride=1x2"),
        (((5, 2),), "size=1x1 rhs_dilate=1x2"),
        (((6, 2),), "size=1x1 lhs_dilate=1x2"),
    ):
        second = tuple({**dict(plain), **dict(more)}.items())
        (told,) = FORMS["window"]("convolution", {"dimensions": [_window(plain), _window(second)]})
        assert told == f"window={{{said}}}"


def _window(fields: tuple[tuple[int, int], ...]) -> dict[str, Any]:
    return read(message(*fields), "WindowDimension", SCHEMA)


def test_the_algorithm_of_a_dot_is_not_passed_over() -> None:
    dot = message((1, packed(0)), (2, packed(0)))

    def made(*more: tuple[int, bytes | int]) -> str:
        given = message((1, b"p"), (2, b"parameter"), (3, SHAPE), (35, 1))
        shape = (3, array(F32))
        root = message((1, b"r"), (2, b"dot"), shape, (35, 2), (36, packed(1, 1)), (30, dot), (51, message(*more)))
        return hlo_text(module_of(given, root))

    assert "operand_precision={highest,default}" in made((1, packed(2, 0)))
    assert "precision" not in made((1, packed(0, 0)))
    with pytest.raises(InputError, match="algorithm"):
        made((2, 6))


@pytest.mark.parametrize(("data", "text"), SHARDINGS, ids=[text for _, text in SHARDINGS])
def test_shardings_are_written_as_the_compiler_writes_them(data: bytes, text: str) -> None:
    assert call((40, data)).entry.root.attributes.get("sharding") == Word(text)


def test_a_sharding_of_a_kind_that_is_not_known_is_an_error() -> None:
    for data in (message((1, 9)), message((14, b"x")), message((1, 3), (3, packed(2)), (9, packed(2)), (8, packed(3)))):
        with pytest.raises(InputError, match="cannot be read"):
            call((40, data))


def test_which_parameters_are_replicated_is_read() -> None:
    data = module_of(PARAMETER + message((61, message((1, b"\x01")))))
    assert "parameter_replication={true}" in hlo_text(data)


def test_meshes_of_a_module_are_read() -> None:
    def header(*entries: tuple[bytes, bytes]) -> str:
        told = message(*((1, message((1, key), (2, value))) for key, value in entries))
        return hlo_text(module_of(PARAMETER, more=message((19, told)))).splitlines()[0]

    mesh = b'{m = #sdy.mesh<["x"=2]>}'
    assert header((b"xla.sdy.meshes", mesh), (b"a", b"b")) == (
        'HloModule m, frontend_attributes={a="b",xla.sdy.meshes={m = #sdy.mesh<["x"=2]>}}'
    )
    assert 'a="{}}"' in header((b"a", b"{}}"))
    # A reader takes what is no text for another kind of file, and a carriage return for the end of a line.
    assert 'a="{\\000}"' in header((b"a", b"{\0}"))
    assert 'a="{x\\ry}"' in header((b"a", b"{x\ry}"))
    # Behind the brace of all of them a bracket that nothing ends is an error.
    for value in (b"{[}", b"{]}", b"{)(}"):
        assert f'a="{value.decode()}"' in header((b"a", value))
    assert "a={[0]}" in header((b"a", b"{[0]}"))


@pytest.mark.parametrize("said", [b"{/**/}", b"{// \n}", b"{/*}"])
def test_a_configuration_in_which_a_comment_might_begin_stands_in_quotes(said: bytes) -> None:
    told = hlo_text(module_of(PARAMETER + message((43, said))))
    assert 'backend_config="{/' in told and parse_module(told).entry.root.attributes.get("backend_config") is not None


def test_attributes_of_frontends_stand_at_an_operation_as_the_compiler_writes_them() -> None:
    """Between braces without quotes, so that a buffer and its text say the same of it; but not where a reader might
    take a comment for the beginning of one."""
    values = {b"a": b'{"x"}', b"b": b"x", b"c": b"{/*}", b"d": b"{//}", b"e": b'{"//"}'}
    entries = message(*((1, message((1, key), (2, value))) for key, value in values.items()))
    told = hlo_text(module_of(PARAMETER + message((68, entries))))
    assert 'frontend_attributes={a={"x"},b="x",c="{/*}",d="{//}",e={"//"}}' in told


@pytest.mark.parametrize(
    ("own", "said"),
    [
        (array(S32, 2, 2, order=(0, 1)), "in another order"),
        (array(S32, 4), "has numbers of shape s32[4]"),
        (array(F32, 2, 2), "has numbers of shape f32[2,2]"),
        (message((2, 13)), "that is no array"),
    ],
)
def test_the_numbers_of_a_constant_are_of_its_shape(own: bytes, said: str) -> None:
    shape = array(S32, 2, 2, order=(1, 0))
    assert constant(shape, shape).entry.root.opcode == "constant"
    with pytest.raises(InputError, match=re.escape(said)):
        constant(shape, own)


def module_by_ids(computations: list[tuple[int, int, list[int]]], entry: int) -> str:
    """Computations by id, with the id of the root and those of all parameters; a zero is left out."""

    def given(field: int, value: int) -> tuple[tuple[int, int], ...]:
        return ((field, value),) if value else ()

    out = []
    for n, (number, root, ids) in enumerate(computations):
        parameters = [
            message((1, f"p{k}".encode()), (2, b"parameter"), (3, SHAPE), (9, k), *given(35, i))
            for k, i in enumerate(ids)
        ]
        out.append(message((1, f"c{n}".encode()), *((2, p) for p in parameters), *given(5, number), *given(6, root)))
    return hlo_text(message((1, b"m"), *((3, c) for c in out), *given(6, entry)))


def test_an_id_that_is_zero_is_left_out() -> None:
    module = parse_module(module_by_ids([(1, 1, [1]), (0, 0, [1, 0])], 0))
    assert (module.entry.name, module.entry.root.name) == ("c1", "p1")


@pytest.mark.parametrize(
    ("computations", "entry", "said"),
    [
        ([(7, 9, [1, 2])], 7, "the root of c0 is not in it"),
        ([(7, 1, [1, 2])], 8, "at which it begins is not in it"),
        ([(7, 1, [1, 1])], 7, "two instructions of c0 have one id"),
        ([(7, 1, [1]), (7, 1, [1])], 7, "two computations have one id"),
    ],
)
def test_ids_name_one_thing_each(computations: list[tuple[int, int, list[int]]], entry: int, said: str) -> None:
    with pytest.raises(InputError, match=said):
        module_by_ids(computations, entry)


def test_a_conditional_by_a_predicate_names_its_branches() -> None:
    """The first that is called is the one for true."""

    def computation(name: bytes, number: int, *instructions: bytes) -> bytes:
        return message((1, name), *((2, i) for i in instructions), (5, number), (6, len(instructions)))

    def instruction(
        name: bytes, opcode: bytes, number: int, *more: tuple[int, bytes | int], shape: bytes = SHAPE
    ) -> bytes:
        return message((1, name), (2, opcode), (3, shape), (35, number), *more)

    branches = [
        computation(opcode, n, PARAMETER, instruction(b"r", opcode, 2, (36, b"\x01")))
        for n, opcode in enumerate((b"sine", b"cosine"), 1)
    ]
    for kind, word in ((1, "true_computation"), (S32, "branch_computations")):
        choice = instruction(b"c", b"parameter", 2, (9, 1), shape=array(kind))
        chosen = instruction(b"r", b"conditional", 3, (36, b"\x02\x01\x01"), (38, b"\x01\x02"))
        entry = computation(b"e", 3, PARAMETER, choice, chosen)
        root = parse_module(hlo_text(message((1, b"m"), *((3, c) for c in (*branches, entry)), (6, 3)))).entry.root
        assert root.attributes.computations() == ("sine", "cosine")
        named = root.attributes.get(word)
        assert named == (ComputationRef("sine") if kind == 1 else (ComputationRef("sine"), ComputationRef("cosine")))


@pytest.mark.parametrize(("called", "reads"), [(b"\x01", True), (b"\x01\x02", False), (b"\x02\x01", False)])
def test_a_fusion_has_one_body(called: bytes, reads: bool) -> None:
    """Of two bodies none is left out."""
    bodies = [
        message((1, opcode), *((2, i) for i in (PARAMETER, _applied(opcode, (36, b"\x01")))), (5, n), (6, 2))
        for n, opcode in enumerate((b"sine", b"cosine"), 1)
    ]
    fused = _applied(b"fusion", (36, b"\x01"), (38, called), (11, b"kLoop"))
    entry = message((1, b"e"), (2, PARAMETER), (2, fused), (5, 3), (6, 2))
    data = message((1, b"m"), *((3, c) for c in (*bodies, entry)), (6, 3))
    if reads:
        assert parse_module(hlo_text(data)).entry.root.attributes.computations() == ("sine",)
        return
    with pytest.raises(InputError, match="cannot be read"):
        hlo_text(data)


def _applied(opcode: bytes, *more: tuple[int, bytes | int]) -> bytes:
    return message((1, b"r"), (2, opcode), (3, SHAPE), (35, 2), *more)


EDGE = ((1, 2), (2, 1), (5, 1), (6, 1))
"""A dimension of a window: two elements, a stride and two dilations of one."""


def windowed(edge: tuple[tuple[int, int], ...]) -> Module:
    """What a convolution of two elements by two is, with such a window."""
    sides = (array(F32, 1, 2, 1, order=(2, 1, 0)), array(F32, 2, 1, 1, order=(2, 1, 0)))
    given = [message((1, b"p%d" % k), (2, b"parameter"), (3, s), (9, k), (35, k + 1)) for k, s in enumerate(sides)]
    numbers = message((6, packed(0)), (3, 1), (4, 2), (8, 2), (10, 2), (11, packed(1)), (12, packed(1)))
    made = message(
        (1, b"c"), (2, b"convolution"), (3, array(F32, 1, 1, 1, order=(2, 1, 0))), (35, 3), (36, packed(1, 2)),
        (15, message((1, message(*edge)))), (16, numbers), (50, 1), (58, 1),
    )  # fmt: skip
    return parse_module(hlo_text(module_of(*given, made)))


def compared(by: bytes) -> Module:
    given = message((1, b"p"), (2, b"parameter"), (3, FOUR), (35, 1))
    made = (3, array(1, 4, order=(0,))), (35, 2), (36, packed(1, 1)), (63, b"LT"), (72, by)
    return parse_module(hlo_text(module_of(given, message((1, b"c"), (2, b"compare"), *made))))


def cut(*stride: tuple[int, int]) -> Module:
    return applied(b"slice", (17, message((2, 1), *stride)), shape=array(F32, 1, order=(0,)))


def solved(*transpose: tuple[int, int]) -> Module:
    square = array(F32, 2, 2, order=(1, 0))
    given = [message((1, b"p%d" % k), (2, b"parameter"), (3, square), (9, k), (35, k + 1)) for k in (0, 1)]
    options = message((1, 1), (2, 1), *transpose)
    solve = message((1, b"s"), (2, b"triangular-solve"), (3, square), (35, 3), (36, packed(1, 2)), (59, options))
    return parse_module(hlo_text(module_of(*given, solve)))


def headed(*more: tuple[int, bytes | int]) -> Module:
    return parse_module(hlo_text(module_of(PARAMETER, more=message(*more))))


def shaped(shape: bytes) -> Module:
    return parse_module(hlo_text(module_of(message((1, b"p"), (2, b"parameter"), (3, shape), (35, 1)))))


def ordered(*sequences: tuple[int, int]) -> bytes:
    """A schedule: computations, each with its one instruction."""
    return message(*((1, message((1, c), (2, message((1, packed(i)))))) for c, i in sequences))


def counting(*along: int) -> Module:
    return applied(b"iota", *([(14, packed(*along))] if along else []), number=0)


FOUR = array(F32, 4, order=(0,))
WRONG: list[tuple[str, Any, Any, str]] = [
    ("a stride that is left out", lambda: windowed((EDGE[0], *EDGE[2:])), lambda: windowed(EDGE), "stride"),
    ("... of 0", lambda: windowed((EDGE[0], (2, 0), *EDGE[2:])), lambda: windowed(EDGE), "stride"),
    ("a dilation that is left out", lambda: windowed(EDGE[:3]), lambda: windowed(EDGE), "dilat"),
    ("... of the window", lambda: windowed((*EDGE[:2], EDGE[3])), lambda: windowed(EDGE), "dilat"),
    ("a type of comparison", lambda: compared(b"FLO@T"), lambda: compared(b"FLOAT"), "none of FLOAT"),
    ("a slice without stride", cut, lambda: cut((3, 1)), "stride"),
    ("a transposition that is left out", solved, lambda: solved((4, 1)), "transposes"),
    ("... beyond the last", lambda: solved((4, 4)), lambda: solved((4, 3)), "4 is none of the 4"),
    (
        "a number below the first",
        lambda: applied(b"exponential", (91, message((1, 2**64 - 1)))),
        lambda: applied(b"exponential", (91, message((1, 1)))),
        "-1 is none of the 2",
    ),
    (
        "one message given twice",
        lambda: applied(b"exponential", (91, message((1, 1))), (91, message())),
        lambda: applied(b"exponential", (91, message((1, 1)))),
        "accuracy of Instruction is given twice",
    ),
    ("no devices", lambda: headed((15, b"")), lambda: headed((15, message((1, 1), (2, 1)))), "devices has none"),
    ("a schedule of nothing", lambda: headed((7, b"")), lambda: headed((7, ordered((7, 1)))), "leaves out e"),
    (
        "a schedule of what is not there",
        lambda: headed((7, ordered((7, 1), (8, 1)))),
        lambda: headed((7, ordered((7, 1)))),
        "are not in it: [8]",
    ),
    (
        "an order of memory of nothing",
        lambda: shaped(message((2, 11), (3, packed(4)), (5, b""))),
        lambda: shaped(FOUR),
        "no permutation",
    ),
    ("an array with parts", lambda: shaped(FOUR + message((4, FOUR))), lambda: shaped(FOUR), "type f32 has parts"),
    (
        "a tuple with dimensions",
        lambda: shaped(message((2, 13), (4, FOUR), (3, packed(4)))),
        lambda: shaped(message((2, 13), (4, FOUR))),
        "type tuple has dimensions",
    ),
    *(
        (
            f"{name} with dimensions",
            lambda kind=kind: shaped(message((2, kind), (3, packed(4)))),
            lambda kind=kind: shaped(message((2, kind))),
            f"type {name} has dimensions",
        )
        for name, kind in (("token", 17), ("opaque", 14))
    ),
    ("an iota along nothing", counting, lambda: counting(0), "along one dimension"),
    ("... or two dimensions", lambda: counting(0, 0), lambda: counting(0), "along one dimension"),
    (
        "layouts that are not constrained",
        lambda: call((57, FOUR)),
        lambda: call((57, FOUR), (56, 1)),
        "layouts it does not constrain",
    ),
    (
        "too many words of what is dynamic",
        lambda: shaped(FOUR + message((6, packed(1, 0)))),
        lambda: shaped(FOUR + message((6, packed(1)))),
        "says of 2 what is dynamic",
    ),
]


@pytest.mark.parametrize("row", WRONG, ids=[what for what, *_ in WRONG])
def test_what_no_compiler_writes_is_not_read_as_something_else(row: tuple[str, Any, Any, str]) -> None:
    """Each was read as the twin beside it, which is right."""
    _, wrong, right, said = row
    assert right().entry.root
    with pytest.raises(InputError, match=re.escape(said)):
        wrong()


def exchanged(*groups: tuple[int, bytes | int], devices: int = 4) -> Any:
    """The groups of devices of an exchange among so many."""
    assigned = message((15, message((1, devices), (2, 1))))
    exchange = (1, b"r"), (2, b"collective-broadcast"), (3, SHAPE), (35, 2), (36, packed(1))
    found = parse_module(hlo_text(module_of(PARAMETER, message(*exchange, *groups), more=assigned)))
    return found.entry.root.attributes.get("replica_groups")


def mesh(*axes: bytes, order: tuple[tuple[int, bytes], ...] = ()) -> bytes:
    """Axes x of four devices and y of two, and those of them that a group spans."""
    named = ((1, message((1, name), (2, size))) for name, size in ((b"x", 4), (b"y", 2)))
    return message((1, message(*named, *order)), *((2, axis) for axis in axes))


X, Y, HALF_X = message(), message((1, 1)), message((2, message((1, 2), (2, 2))))
TURNED = message((1, packed(2, 4)), (2, packed(1, 0)))
GROUPS: list[tuple[int, bytes, str]] = [
    (87, message((1, message((1, packed(0, 1)))), (1, message((1, packed(2, 3))))), "{{0,1},{2,3}}"),
    (87, message((2, message((1, 2), (2, 4), (3, packed(8))))), "{{0,1,2,3},{4,5,6,7}}"),
    (92, message((1, 2), (2, 4), (3, packed(8))), "{{0,1,2,3},{4,5,6,7}}"),
    (92, message((1, 2), (2, 4), (3, packed(4, 2)), (4, packed(1, 0))), "{{0,2,4,6},{1,3,5,7}}"),
    (93, mesh(Y), "{{0,1},{2,3},{4,5},{6,7}}"),
    (93, mesh(X), "{{0,2,4,6},{1,3,5,7}}"),
    (93, mesh(Y, X), "{{0,2,4,6,1,3,5,7}}"),
    (93, mesh(HALF_X), "{{0,2},{1,3},{4,6},{5,7}}"),
    (93, mesh(Y, order=((2, packed(0, 4, 1, 5, 2, 6, 3, 7)),)), "{{0,4},{1,5},{2,6},{3,7}}"),
    (93, mesh(Y, order=((3, TURNED),)), "{{0,4},{1,5},{2,6},{3,7}}"),
]


@pytest.mark.parametrize(("field", "data", "said"), GROUPS)
def test_short_forms_of_groups_are_read(field: int, data: bytes, said: str) -> None:
    devices = said.count(",") + 1
    assert [*map(list, exchanged((field, data), devices=devices).groups)] == json.loads(
        said.replace("{", "[").replace("}", "]")
    )


@pytest.mark.parametrize("data", [b"", message((1, 2), (2, 3), (3, packed(8))), message((1, 2), (2, 4), (4, b"\x00"))])
def test_groups_that_do_not_fit_are_errors(data: bytes) -> None:
    with pytest.raises(InputError):
        exchanged((92, data), devices=8)


@pytest.mark.parametrize("written", ["0.001", "1e-05", "0.5", "3.4028235e+38", "0", "-0", "1.0000001"])
def test_a_number_is_written_with_as_few_digits_as_tell_it_from_others(written: str) -> None:
    """Where all were written, a buffer was not the module of the text beside it: 0.001 is none of the numbers of 32
    bits."""
    given = (1, b"r"), (2, b"batch-norm-inference"), (3, SHAPE), (35, 2), (36, packed(1, 1, 1, 1, 1))
    epsilon = varint(24 << 3 | 5) + struct.pack("<f", float(written))
    text = hlo_text(module_of(PARAMETER, message(*given) + epsilon))
    assert f"epsilon={written}," in text and parse_module(text).entry.root


def test_the_shape_of_a_program_is_that_of_its_entry() -> None:
    def program(*shapes: bytes) -> Module:
        return headed((4, message(*((1, s) for s in shapes[1:]), (2, shapes[0]))))

    fits = program(SHAPE, SHAPE)
    assert decide(fits, headed(), "exact").verdict == "proved"
    for other in (program(SHAPE), program(array(F32, 5), SHAPE)):
        with pytest.raises(InputError, match="entry_computation_layout"):
            decide(fits, other, "exact")


def test_a_schedule_is_about_all_that_runs_in_steps_and_all_its_instructions() -> None:
    inner = message((1, b"f"), (2, PARAMETER), (5, 3), (6, 1))
    called = message((1, b"n"), (2, b"call"), (3, SHAPE), (35, 2), (36, b"\x01"), (38, 3))
    outer = message((1, b"e"), (2, PARAMETER), (2, called), (5, 7), (6, 2))

    def scheduled(*sequences: tuple[int, tuple[int, ...]]) -> str:
        told = message(*((1, message((1, c), (2, message((1, packed(*ids)))))) for c, ids in sequences))
        return hlo_text(message((1, b"m"), (3, inner), (3, outer), (6, 7), (7, told)))

    assert "is_scheduled=true" in scheduled((3, (1,)), (7, (1, 2)))
    wrong: list[tuple[list[tuple[int, tuple[int, ...]]], str]] = [
        ([(7, (1, 2))], "leaves out f"),
        ([(3, (1,))], "leaves out e"),
        ([(3, (1,)), (7, (1,))], "schedule of e is not about its instructions"),
        ([(3, (1,)), (7, (1, 2, 2))], "schedule of e is not about its instructions"),
    ]
    for sequences, said in wrong:
        with pytest.raises(InputError, match=said):
            scheduled(*sequences)


@pytest.mark.parametrize("opcode", [b"while", b"conditional"])
@pytest.mark.parametrize("called", [(3, 4), (4, 3)])
def test_a_schedule_is_about_each_computation_that_runs_in_steps(opcode: bytes, called: tuple[int, ...]) -> None:
    inner = [message((1, name), (2, PARAMETER), (5, number), (6, 1)) for name, number in ((b"f", 3), (b"g", 4))]
    runs = message((1, b"n"), (2, opcode), (3, SHAPE), (35, 2), (36, packed(1, 1, 1)), (38, packed(*called)))
    outer = message((1, b"e"), (2, PARAMETER), (2, runs), (5, 7), (6, 2))

    def scheduled(*computations: int) -> str:
        ids = {c: (1, 2) if c == 7 else (1,) for c in computations}
        told = message(*((1, message((1, c), (2, message((1, packed(*order)))))) for c, order in ids.items()))
        return hlo_text(message((1, b"m"), *((3, c) for c in (*inner, outer)), (6, 7), (7, told)))

    assert "is_scheduled=true" in scheduled(7, *called)
    for left_out in called:
        with pytest.raises(InputError, match=f"leaves out {'fg'[left_out - 3]}"):
            scheduled(7, *(c for c in called if c != left_out))


@pytest.mark.parametrize(("kind", "word"), [(0, "may-alias"), (1, "may-alias"), (2, "must-alias")])
def test_whether_an_alias_must_be_is_read(kind: int, word: str) -> None:
    alias = message((1, message((4, kind))))
    assert f"input_output_alias={{ {{}}: (0, {{}}, {word}) }}" in hlo_text(
        module_of(PARAMETER, more=message((8, alias)))
    )


_TILE = message((1, packed(8, 128)))
_ANY_BY_128 = message((1, varint(2**63) + packed(128)))
"""`*` is the least number that there is."""


@pytest.mark.parametrize(
    ("told", "text"),
    [
        (((16, 1),), "1,0"),
        (((6, _TILE), (16, 1)), "1,0:T(8,128)"),
        (((6, _TILE), (6, message((1, packed(2, 1)))), (16, 1)), "1,0:T(8,128)(2,1)"),
        (((6, _ANY_BY_128), (16, 1)), "1,0:T(*,128)"),
        (((7, 4), (16, 1)), "1,0:E(4)"),
        (((8, 5), (16, 1)), "1,0:S(5)"),
        (((16, 16),), "1,0:L(16)"),
        (((16, 1), (17, message((2, packed(1))))), "1,0:SC(0:1)"),
        (((6, _TILE), (7, 16), (8, 1), (16, 8)), "1,0:T(8,128)L(8)E(16)S(1)"),
        (((15, 12), (16, 1)), "1,0:M(12)"),
    ],
    ids=lambda row: row if isinstance(row, str) else "",
)
def test_layouts_are_those_that_the_compiler_prints(told: tuple[tuple[int, bytes | int], ...], text: str) -> None:
    shape = message((2, F32), (3, packed(4, 8)), (5, message((1, packed(1, 0)), *told)))
    assert print_shape(shaped(shape).entry.root.shape) == f"f32[4,8]{{{text}}}"


def test_a_layout_of_a_sparse_array_is_not_read() -> None:
    shape = message((2, F32), (3, packed(4, 8)), (5, message((1, packed(1, 0)), (9, packed(0, 1)))))
    with pytest.raises(InputError, match="sparse"):
        shaped(shape)


@pytest.mark.parametrize(("field", "said"), [(67, "indices_are_sorted=true"), (69, "unique_indices=true")])
def test_what_is_promised_of_indices_is_read_from_a_buffer(field: int, said: str) -> None:
    plain = message((1, b"s"), (2, b"scatter"), (3, SHAPE), (35, 2), (36, b"\x01"))
    assert said not in hlo_text(module_of(PARAMETER, plain))
    assert said in hlo_text(module_of(PARAMETER, plain + message((field, 1))))
