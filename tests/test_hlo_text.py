"""HLO text is read and printed: modules, computations, shorthand, attributes."""

from __future__ import annotations

from pathlib import Path

import pytest

from hloproof.models.hlo.attributes import (
    Aliasing,
    BufferDonor,
    ComputationRef,
    ConvolutionDimensions,
    DevicePairs,
    PaddingDimension,
    Quoted,
    ReplicaGroups,
    SliceDimension,
    Window,
    WindowDimension,
    Word,
)
from hloproof.models.hlo.module import Module
from hloproof.models.hlo.parser import parse_module, parse_modules
from hloproof.models.hlo.printer import print_module, print_modules
from hloproof.models.hlo.text.attributes import print_attribute, read_attribute
from hloproof.models.hlo.text.lexer import Scanner
from hloproof.models.hlo.text.shapes import print_shape

DATA = Path(__file__).parent / "data"


def entry(*lines: str, head: str = "HloModule m") -> Module:
    """A module whose entry computation consists of these lines, read, printed and read again."""
    body = "\n".join(f"  {line}" for line in lines)
    module = parse_module(f"{head}\nENTRY e {{\n{body}\n}}\n")
    assert parse_module(print_module(module)) == module
    return module


@pytest.mark.parametrize("name", ["attention_block.hlo", "three_modules.hlo"])
def test_files_print_to_text_that_reads_back_equal(name: str) -> None:
    modules = parse_modules((DATA / name).read_text(), name)
    printed = print_modules(modules)
    assert parse_modules(printed) == modules
    assert print_modules(parse_modules(printed)) == printed


def test_header_preamble_and_roots() -> None:
    module = parse_module((DATA / "attention_block.hlo").read_text())
    assert (module.name, module.entry_name, module.entry.root_name) == ("attention_block", "main", "result")
    assert module.attributes.get("replica_count") == 4
    assert module.attributes.get("input_output_alias") == (Aliasing((1,), 0, (), "may-alias"),)
    assert module.preamble[0] == "FileNames" and len(module.preamble) == 8
    assert [p.name for p in module.entry.parameters] == ["q", "k", "i"]
    assert module.entry.by_name["updated"].attributes.get("control-predecessors") == (Word("reduced"),)


def test_several_modules_keep_the_lines_of_the_file() -> None:
    first, second, third = parse_modules((DATA / "three_modules.hlo").read_text(), "three_modules.hlo")
    assert (first.name, second.name, second.entry_name, third.name) == ("first", "sum", "sum", "fusion")
    assert first.entry.instructions[0].position.line == 6
    assert second.entry.by_name["r"].position.line == 20
    assert third.position.line == 25


def test_a_single_instruction_has_its_operands_as_parameters() -> None:
    module = parse_module("%m = f32[2,4] multiply(f32[2,4]{1,0} %b, f32[2,4] %x)")
    assert [(p.name, p.parameter_number) for p in module.entry.parameters] == [("b", 0), ("x", 1)]
    nameless = parse_module("m = f32[2] multiply(f32[2], f32[2])")
    assert len(nameless.entry.parameters) == 2


def test_instructions_inside_operands_get_names_of_their_own() -> None:
    module = entry("add = add(f32[10] parameter(0), f32[10] parameter(1))", "ROOT add2 = add(add, add(add, add))")
    names = [i.name for i in module.entry.instructions]
    assert names == ["parameter", "parameter.1", "add", "add.1", "add2"]
    assert module.entry.root.operands == ("add", "add.1")


def test_tuple_elements_can_be_named_by_index() -> None:
    module = entry("p = (f32[2], (f32[3], f32[4])) parameter(0)", "ROOT r = add(%p#1#0, f32[3] %p#1#0)")
    elements = [i for i in module.entry.instructions if i.opcode == "get-tuple-element"]
    assert len(elements) == 2
    assert print_shape(module.entry.root.shape) == "f32[3]"


def test_the_last_instruction_is_the_root_when_it_alone_can_be() -> None:
    assert entry("a = f32[] parameter(0)", "b = f32[] negate(a)").entry.root_name == "b"


def test_comments_stand_anywhere() -> None:
    module = entry("/* a { */ ROOT c = /*x*/f32[2]{0} constant({1, /*i1=1*/ 2}) // } end")
    assert module.entry.root.literal == "{1, 2}"


ATTRIBUTES = [
    ('"a\\"b"', "custom_call_target", Quoted('a\\"b')),
    (
        "{size=3x2 stride=1x2 pad=0_1x-1_0 rhs_reversal=1x0}",
        "window",
        Window((WindowDimension(3, 1, 0, 1, reversal=True), WindowDimension(2, 2, -1, 0))),
    ),
    ("{pad=1_1 size=1}", "window", Window((WindowDimension(1, 1, 1, 1),))),
    ("b01f_01io->b01f", "dim_labels", ConvolutionDimensions(0, 3, (1, 2), 2, 3, (0, 1), 0, 3, (1, 2))),
    ("?b01f_0?1io->b01?f", "dim_labels", Word("?b01f_0?1io->b01?f")),
    ("0_0_0x-1_2_1", "padding", (PaddingDimension(0, 0), PaddingDimension(-1, 2, 1))),
    ("{[0:8:2], [1:3]}", "slice", (SliceDimension(0, 8, 2), SliceDimension(1, 3))),
    ("{{0,1},{1,0}}", "source_target_pairs", DevicePairs(((0, 1), (1, 0)))),
    ("{}", "output_to_operand_aliasing", ()),
    ("1e-05", "epsilon", 1e-05),
    ("{}", "dimensions", ()),
    ("{0, /*c*/ 1}", "dimensions", (0, 1)),
    ("{highest,default}", "operand_precision", (Word("highest"), Word("default"))),
    ("{{1,8},{1,8}}", "slice_sizes", Word("{{1,8},{1,8}}")),
    ("true", "is_host_transfer", True),
    ("s32[2]{0} {1, 2}", "literal", Word("s32[2]{0} {1, 2}")),
    ('{"a":"}", "b":[1]}', "backend_config", Word('{"a":"}", "b":[1]}')),
    ("{tolerance={rtol=0.5, atol=1.0, ulps=2}}", "result_accuracy", Word("{tolerance={rtol=0.5, atol=1.0, ulps=2}}")),
]


@pytest.mark.parametrize(("text", "name", "value"), ATTRIBUTES)
def test_attribute_values(text: str, name: str, value: object) -> None:
    """Whatever the opcode, an attribute's name says how its value is read, and its text is read back."""
    read = read_attribute(Scanner(text), name, _no_computation)
    assert read == value
    printed = print_attribute(name, read).partition("=")[2]
    assert read_attribute(Scanner(printed), name, _no_computation) == value


def _no_computation(_scanner: Scanner, name: str) -> ComputationRef:
    raise AssertionError(f"{name} holds no computation")


def test_donors_in_the_header() -> None:
    module = entry("ROOT p = (f32[], f32[]) parameter(0)", head="HloModule m, buffer_donor={ (0, {0}), (0, {1}) }")
    assert module.attributes.get("buffer_donor") == (BufferDonor(0, (0,)), BufferDonor(0, (1,)))


GROUPS = [
    ("{{0,2},{1,3}}", ((0, 2), (1, 3))),
    ("{}", ()),
    ("[2,2]<=[4]", ((0, 1), (2, 3))),
    ("[2,2]<=[2,2]T(1,0)", ((0, 2), (1, 3))),
    ("[3,2]<=[2,3]T(1,0)", ((0, 3), (1, 4), (2, 5))),
    ("mesh['a'=2,'b'=2] {'a'}", ((0, 2), (1, 3))),
    ("mesh['a'=2,'b'=2] {'b'}", ((0, 1), (2, 3))),
    ("mesh['a'=2,'b'=2] {'b','a'}", ((0, 2, 1, 3),)),
    ("mesh['a'=4] {'a':(1)2}", ((0, 2), (1, 3))),
    ("mesh['a'=4] {'a':(2)2}", ((0, 1), (2, 3))),
]


@pytest.mark.parametrize(("text", "groups"), GROUPS)
def test_replica_groups(text: str, groups: tuple[tuple[int, ...], ...]) -> None:
    module = entry("p = f32[2] parameter(0)", f"ROOT c = f32[2] collective-broadcast(p), replica_groups={text}")
    value = module.entry.root.attributes.get("replica_groups")
    assert isinstance(value, ReplicaGroups) and value.groups == groups


def test_sugar_of_asynchronous_operations_is_kept() -> None:
    module = entry(
        "p = f32[10] parameter(0)",
        's = ((f32[10]), f32[20], s32[]) custom-call-start(p), custom_call_target="foo"',
        "u = ((f32[10]), f32[20], s32[]) custom-call-update(s)",
        "ROOT d = f32[20] custom-call-done(u)",
    )
    assert [i.opcode for i in module.entry.instructions][1:] == [
        "custom-call-start",
        "custom-call-update",
        "custom-call-done",
    ]
