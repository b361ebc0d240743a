"""Dimensions whose size is known at run time only: what lies behind the size takes no part."""

from __future__ import annotations

from math import prod

import pytest

from hloproof.claims.operations.definition import Subject, definition_parts
from hloproof.claims.operations.plain_definition import plain_definition
from hloproof.definitions import define
from hloproof.engines.door import How, prove
from hloproof.fuzz.modules.oracle_composed import provided
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.parser import parse_module
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.indexing import output_to_input
from hloproof.models.indexing.composition.module_maps import followed_maps, plain_composer
from hloproof.models.indexing.composition.route import OUTPUT_TO_INPUT
from hloproof.models.indexing.map_set import OperandMaps
from hloproof.models.interpreter.maps import reader, relation
from hloproof.models.interpreter.observed import Recorder, observed_reads
from hloproof.models.interpreter.run import run_module
from hloproof.models.interpreter.value import Array, flat_index, indices, strides
from hloproof.models.maps.text import parse_map, print_map
from hloproof.models.specs.maps import parse_map_specs
from hloproof.pipeline.driver import check_hlo
from hloproof.pipeline.map_specs import check_map_spec
from hloproof.pipeline.options import Options
from hloproof.results.verdict import Verdict

ADD = "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] add(a, b) }\n"
TWO = (
    "two { a = f32[] parameter(0)\n b = s32[] parameter(1)\n c = f32[] parameter(2)\n d = s32[] parameter(3)\n"
    " e = f32[] add(a, c)\n f = s32[] add(b, d)\n ROOT r = (f32[], s32[]) tuple(e, f) }\n"
)
GIVEN = (
    " p = f32[3,2] parameter(0)\n q = f32[2,2] parameter(1)\n n = s32[] parameter(2)\n z = f32[] constant(0)\n"
    " s = f32[<=3,2] set-dimension-size(p, n), dimensions={0}\n"
)

ENDS = {
    "reduce": "ROOT r = f32[2] reduce(s, z), dimensions={0}, to_apply=add",
    "reduce over all": "ROOT r = f32[] reduce(s, z), dimensions={0,1}, to_apply=add",
    "reduce keeps": "ROOT r = f32[<=3] reduce(s, z), dimensions={1}, to_apply=add",
    "concatenate": "ROOT r = f32[<=8,2] concatenate(s, q, s), dimensions={0}",
    "concatenate behind": "ROOT r = f32[<=5,2] concatenate(q, s), dimensions={0}",
    "concatenate aside": "ROOT r = f32[<=3,4] concatenate(s, s), dimensions={1}",
    "pad": "ROOT r = f32[<=6,4] pad(s, z), padding=2_1x1_1",
    "pad with holes": "ROOT r = f32[<=10,2] pad(s, z), padding=1_2_2x0_0",
    "pad that crops": "ROOT r = f32[<=5,2] pad(s, z), padding=-1_-1_2x0_0",
    "pad that crops the end": "ROOT r = f32[<=4,2] pad(s, z), padding=2_-1x0_0",
    "pad aside": "ROOT r = f32[<=3,3] pad(s, z), padding=0_0x1_0",
    "one after the other": "m = f32[<=3,2] negate(s)\n c = f32[<=5,2] concatenate(m, q), dimensions={0}\n"
    " d = f32[<=8,2] pad(c, z), padding=1_2x0_0\n t = f32[2,<=8] transpose(d), dimensions={1,0}\n"
    " ROOT r = f32[2] reduce(t, z), dimensions={1}, to_apply=add",
}


def module_of(end: str) -> str:
    return f"HloModule m\n{ADD}ENTRY e {{\n{GIVEN} {end}\n}}\n"


@pytest.mark.parametrize("name", ENDS)
def test_every_claim_is_proved_and_stated_twice(name: str) -> None:
    report = check_hlo(module_of(ENDS[name]), Options(cross=True))
    assert set(report.counts()) == {Verdict.PROVED}


@pytest.mark.parametrize("size", [0, 1, 2, 3])
@pytest.mark.parametrize("name", ENDS)
def test_maps_lead_to_what_is_read_when_the_program_runs(name: str, size: int) -> None:
    module = parse_module(module_of(ENDS[name]))
    inputs = (_array((3, 2)), _array((2, 2)), Array("s32", (), [size]))
    recorder = Recorder(module)
    try:
        recorder.run([inputs])
    except NotModelled as why:
        assert "cuts away more" in str(why) and "crops" in name
        return
    seen = observed_reads(recorder)
    assert isinstance(seen, Array)
    bound = module.entry.root.shape
    assert isinstance(bound, ArrayShape)
    first = {0: 0, 1: 6, 2: 10}
    read: dict[tuple[int, ...], int] = dict.fromkeys(indices(seen.sizes), 0)
    for s in followed_maps(plain_composer(module), module.entry, module.entry.root, OUTPUT_TO_INPUT, 0):
        assert not s.unknown
        into = module.entry.parameters[s.operand].shape
        assert isinstance(into, ArrayShape)
        for m in s.maps:
            for out, element in relation(m, reader(m, provided(recorder, s.maps))):
                if out in read:  # what lies beyond the result's size is nobody's
                    assert all(0 <= k < n for k, n in zip(element, into.dimensions, strict=True))
                    read[out] |= 1 << first[s.operand] + flat_index(element, strides(into.dimensions))
    assert {out: bits & 1023 for out, bits in read.items()} == {
        out: bits & 1023 for out, bits in zip(indices(seen.sizes), seen.data, strict=True)
    }


def _array(sizes: tuple[int, ...]) -> Array:
    return Array("f32", sizes, [float(k + 1) for k in range(prod(sizes))])


@pytest.mark.parametrize(
    ("name", "size", "expected"),
    [
        ("reduce", 2, [4.0, 6.0]),
        ("reduce", 0, [0.0, 0.0]),
        ("concatenate behind", 1, [[7.0, 8.0], [9.0, 10.0], [1.0, 2.0]]),
        ("pad with holes", 2, [[0.0, 0.0], [1.0, 2.0], [0.0, 0.0], [0.0, 0.0], [3.0, 4.0], [0.0, 0.0], [0.0, 0.0]]),
    ],
)
def test_what_runs_gives_what_is_there(name: str, size: int, expected: object) -> None:
    given = [[[1, 2], [3, 4], [5, 6]], [[7, 8], [9, 10]], size]
    assert run_module(parse_module(module_of(ENDS[name])), given) == expected


def test_a_parameter_may_be_shorter_than_its_bound() -> None:
    text = (
        f"HloModule m\n{ADD}ENTRY e {{\n p = f32[<=4] parameter(0)\n z = f32[] constant(0)\n"
        " n = s32[] get-dimension-size(p), dimensions={0}\n"
        " t = f32[] reduce(p, z), dimensions={0}, to_apply=add\n ROOT r = (s32[], f32[]) tuple(n, t)\n}\n"
    )
    assert run_module(parse_module(text), [[1, 2]]) == (2, 3.0)
    assert run_module(parse_module(text), [[1, 2, 3, 4]]) == (4, 10.0)


@pytest.mark.parametrize(
    ("end", "why"),
    [
        ("ROOT r = f32[<=3,2] reverse(s), dimensions={0}", "reverse"),
        ("ROOT r = f32[6] reshape(s)", "reshape"),
        ("ROOT r = f32[<=3,2] set-dimension-size(s, n), dimensions={0}", ""),
    ],
)
def test_what_has_no_meaning_is_not_run(end: str, why: str) -> None:
    module = parse_module(module_of(end))
    given = [[[1, 2], [3, 4], [5, 6]], [[7, 8], [9, 10]]]
    if why:
        with pytest.raises(NotModelled, match=why):
            run_module(module, [*given, 2])
    with pytest.raises(NotModelled, match="the size 4 of a dimension of 3"):
        run_module(module, [*given, 4])


NO_MEANING = [
    ("f32[8] concatenate(q, q), dimensions={0}", "fixed size"),
    ("f32[3,5] pad(p, z), padding=0_0x1_0", "fixed size"),
    ("(f32[3], s32[3]) reduce(p, i, z, k), dimensions={1}, to_apply=two", "where the others have none"),
]


@pytest.mark.parametrize(("end", "why"), NO_MEANING)
def test_sizes_that_do_not_go_together_have_no_map_and_no_definition(end: str, why: str) -> None:
    given = " p = f32[3,<=4] parameter(0)\n q = f32[<=4] parameter(1)\n i = s32[3,4] parameter(2)\n"
    given += " z = f32[] constant(0)\n k = s32[] constant(0)\n"
    module = parse_module(f"HloModule m\n{ADD}{TWO}ENTRY e {{\n{given} ROOT r = {end}\n}}\n")
    op = Operation.of(module.entry.root, module.entry)
    with pytest.raises(NotModelled, match=why):
        output_to_input(op, 0)
    with pytest.raises(NotModelled):
        define(op, 0, 0)


PLANTED = [
    # what the map of the operand says, and the shape and the root it is said of
    ("()[s0] -> (s0), domain: s0 in [0, 3]", "f32[<=4]", "f32[] reduce(p, z), dimensions={0}, to_apply=add"),
    (
        "()[s0]{rt0} -> (s0), domain: s0 in [0, 3], rt0 in [0, 4], s0 - rt0 in [-4, 0]\n"
        "runtime variables:\nrt0: sizes(operand(0)); () -> (0)",
        "f32[<=4]",
        "f32[] reduce(p, z), dimensions={0}, to_apply=add",
    ),
    (
        "()[s0, s1]{rt0} -> (s0, s1), domain: s0 in [0, 3], s1 in [0, 3], rt0 in [0, 4], s0 - rt0 in [-4, -1]\n"
        "runtime variables:\nrt0: sizes(operand(0)); () -> (1)",
        "f32[<=4,4]",
        "f32[] reduce(p, z), dimensions={0,1}, to_apply=add",
    ),
    (
        "()[s0]{rt0} -> (s0), domain: s0 in [0, 3], rt0 in [0, 4], s0 - rt0 in [-4, -1]\n"
        "runtime variables:\nrt0: sizes(operand(1)); () -> (0)",
        "f32[<=4]",
        "f32[] reduce(p, z), dimensions={0}, to_apply=add",
    ),
    ("(d0) -> (d0), domain: d0 in [0, 3]", "f32[<=4]", "f32[<=8] concatenate(p, p), dimensions={0}"),
    ("(d0) -> (d0 - 1), domain: d0 in [1, 4]", "f32[<=4]", "f32[<=6] pad(p, z), padding=1_1"),
]
RIGHT = (
    "()[s0]{rt0} -> (s0), domain: s0 in [0, 3], rt0 in [0, 4], s0 - rt0 in [-4, -1]\n"
    "runtime variables:\nrt0: sizes(operand(0)); () -> (0)"
)


@pytest.mark.parametrize(("text", "shape", "root"), PLANTED)
def test_maps_that_read_the_padding_are_refuted_by_both_statements(text: str, shape: str, root: str) -> None:
    assert _verdicts(text, shape, root) == ("refuted", "refuted")


def test_the_right_map_as_text_is_proved() -> None:
    _, shape, root = PLANTED[0]
    assert _verdicts(RIGHT, shape, root) == ("proved", "proved")
    assert print_map(parse_map(RIGHT)) == RIGHT


def _verdicts(text: str, shape: str, root: str) -> tuple[str, str]:
    given = f" p = {shape} parameter(0)\n z = f32[] constant(0)\n"
    module = parse_module(f"HloModule m\n{ADD}ENTRY e {{\n{given} ROOT r = {root}\n}}\n")
    op = Operation.of(module.entry.root, module.entry)
    out, into = op.shape, op.operands[0]
    assert isinstance(out, ArrayShape) and isinstance(into, ArrayShape)
    definition = define(op, 0, 0)
    about = Subject(op, 0, 0, out, into, "output-to-input")
    maps = OperandMaps(0, definition.kind, (parse_map(text),))
    one = prove([p.obligation for p in definition_parts(about, maps, definition)], How(where="here"))
    two = prove(plain_definition(about, maps, definition), How(where="here"))
    return tuple("refuted" if any(o.verdict == "refuted" for o in said) else "proved" for said in (one, two))  # type: ignore[return-value]


def set_sizes(result: str, size: str = "", parameter: str = "f32[4]") -> str:
    """A module that sets the size of an array, or gives another array of it."""
    return (
        f"    p = {parameter} parameter(0)\n    n = s32[] parameter(1)\n    m = s32[] parameter(2)\n"
        f"    two = s32[] constant(2)\n    {size}\n    ROOT r = {result}\n"
    )


SET = "s = f32[<=4] set-dimension-size(p, {}), dimensions={{0}}"
NEGATED = "f32[<=4] negate(s)"
LENGTHS = [
    # What the two modules give, and whether both read the same.
    (set_sizes(NEGATED, SET.format("two")), set_sizes("f32[<=4] copy(s)", SET.format("two")), "proved"),
    (set_sizes(NEGATED, SET.format("n")), set_sizes("f32[<=4] copy(s)", SET.format("n")), "proved"),
    (set_sizes(NEGATED, SET.format("n")), set_sizes(NEGATED, SET.format("m")), "refuted"),
    (set_sizes(NEGATED, SET.format("two")), set_sizes(NEGATED, SET.format("two").replace("two", "three").replace(
        "s = ", "three = s32[] constant(3)\n    s = ")), "refuted"),
    (set_sizes(NEGATED, SET.format("two")), set_sizes("f32[4] negate(p)"), "unknown"),
    (set_sizes("f32[<=4] negate(p)", parameter="f32[<=4]"), set_sizes(
        "f32[<=4] copy(p)", parameter="f32[<=4]"), "proved"),
    (set_sizes("f32[<=4] negate(p)", parameter="f32[<=4]"), set_sizes("f32[4] negate(p)"), "unknown"),
    (set_sizes("f32[<=4] negate(p)", parameter="f32[<=4]"), set_sizes(
        NEGATED, SET.format("two"), parameter="f32[<=4]"), "refuted"),
    (set_sizes(NEGATED, SET.format("q").replace("s = ", "q = s32[] multiply(two, two)\n    s = ")),
     set_sizes(NEGATED, SET.format("q").replace("s = ", "q = s32[] add(two, two)\n    s = ")), "unknown"),
    (set_sizes('f32[<=4] custom-call(p), custom_call_target="f"'),
     set_sizes('f32[<=4] custom-call(p), custom_call_target="g"'), "unknown"),
]  # fmt: skip


WITH_ADD = "    HloModule m\n" + "".join(f"    {line}\n" for line in ADD.splitlines()) + "    ENTRY e {\n"


def squared(result: str, *sizes: str, parameter: str = "f32[4,4]") -> str:
    """A module that sets sizes one after the other: the name of each with its shape, what it is set to, and where."""
    lines = ["three = s32[] constant(3)", "zero = s32[] constant(0)", "z = f32[] constant(0)"]
    before = "p"
    for size in sizes:
        shape, value, dimension = size.split()
        lines.append(f"s{len(lines)} = {shape} set-dimension-size({before}, {value}), dimensions={{{dimension}}}")
        before = f"s{len(lines) - 1}"
    return set_sizes(result.format(before), "\n    ".join(lines), parameter)


ROWS, COLUMNS, BOTH = "f32[<=4,4]", "f32[4,<=4]", "f32[<=4,<=4]"
TURNED = f"{COLUMNS} transpose({{}}), dimensions={{{{1,0}}}}"
KEPT = f"{BOTH} negate({{}})"
PAIR = "(f32[<=4], f32[<=4]) tuple(a, b)"
EMPTY_PAIR = f"({BOTH}, {BOTH}) tuple(a, {{}})"
EMPTY = "\n".join(
    (
        f"e = {ROWS} set-dimension-size(p, zero), dimensions={{0}}",
        f"    a = {BOTH} set-dimension-size(e, n), dimensions={{1}}",
        f"    b = {BOTH} set-dimension-size(e, m), dimensions={{1}}",
    )
)
TWO_SIZES = (
    "three = s32[] constant(3)\n    a = f32[<=4] set-dimension-size(p, {}), dimensions={{0}}\n"
    "    b = f32[<=4] set-dimension-size(p, {}), dimensions={{0}}"
)
NONE_READ = (
    "z = f32[] constant(0)\n    rows = f32[<=3] reduce(p, z), dimensions={{1}}, to_apply=add\n"
    "    columns = f32[<=3] reduce(p, z), dimensions={{0}}, to_apply=add\n"
    "    none = f32[<=3] pad({}, z), padding=3_-3"
)
PADDED = "f32[<=5] pad(none, z), padding={}"
LENGTHS += [
    # The size of a dimension is that of the dimension it was before.
    (squared(TURNED, f"{ROWS} two 0"), squared(TURNED, f"{ROWS} two 0"), "proved"),
    (squared(TURNED, f"{ROWS} two 0"), squared(TURNED, f"{ROWS} three 0"), "refuted"),
    # Each dimension has a size of its own, in whatever order they are set.
    (squared(KEPT, f"{ROWS} two 0", f"{BOTH} three 1"), squared(KEPT, f"{COLUMNS} three 1", f"{BOTH} two 0"), "proved"),
    (squared(KEPT, f"{ROWS} two 0", f"{BOTH} three 1"), squared(KEPT, f"{ROWS} three 0", f"{BOTH} two 1"), "refuted"),
    # So has each array.
    (set_sizes(PAIR, TWO_SIZES.format("two", "three")), set_sizes(PAIR, TWO_SIZES.format("two", "three")), "proved"),
    (set_sizes(PAIR, TWO_SIZES.format("two", "three")), set_sizes(PAIR, TWO_SIZES.format("three", "two")), "refuted"),
    (squared(KEPT, f"{ROWS} two 0", f"{BOTH} three 1"), squared(KEPT, f"{ROWS} two 0", f"{BOTH} two 1"), "refuted"),
    (set_sizes(PAIR, TWO_SIZES.format("two", "three")), set_sizes(PAIR, TWO_SIZES.format("two", "two")), "refuted"),
    (set_sizes("f32[4] negate(p)", parameter="f32[<=4]"), set_sizes(
        "f32[<=4] negate(p)", parameter="f32[<=4]"), "unknown"),
    # Padding gives another size, and what it holds may be read nowhere.
    (WITH_ADD + set_sizes("f32[<=3] copy(none)", NONE_READ.format("rows"), "f32[<=3,<=3]") + "    }\n",
     WITH_ADD + set_sizes("f32[<=3] copy(none)", NONE_READ.format("columns"), "f32[<=3,<=3]") + "    }\n", "unknown"),
    (WITH_ADD + set_sizes(PADDED.format("0_2"), NONE_READ.format("rows"), "f32[<=3,<=3]") + "    }\n",
     WITH_ADD + set_sizes(PADDED.format("0_0_1"), NONE_READ.format("rows"), "f32[<=3,<=3]") + "    }\n", "unknown"),
    # Of an array of a fixed size nobody says which of the two sizes the sum has.
    (set_sizes("f32[<=4] add(s, p)", SET.format("two")), set_sizes("f32[<=4] add(s, p)", SET.format("two")), "unknown"),
    # Arrays without elements have sizes too, and nothing is read that would show it.
    (squared(KEPT, f"{ROWS} zero 0", f"{BOTH} n 1"), squared(KEPT, f"{ROWS} zero 0", f"{BOTH} n 1"), "proved"),
    (squared(KEPT, f"{ROWS} zero 0", f"{BOTH} n 1"), squared(KEPT, f"{ROWS} zero 0", f"{BOTH} m 1"), "unknown"),
    (set_sizes(EMPTY_PAIR.format("a"), f"zero = s32[] constant(0)\n    {EMPTY}", "f32[4,4]"),
     set_sizes(EMPTY_PAIR.format("b"), f"zero = s32[] constant(0)\n    {EMPTY}", "f32[4,4]"), "unknown"),
]  # fmt: skip


def given(*lines: str) -> str:
    """A module that gives the last of its lines, of arrays of sizes known at run time."""
    *first, last = ("p = f32[<=3,<=3] parameter(0)", "q = f32[<=3] parameter(1)", "w = f32[<=3] parameter(2)",
                    "n = s32[] parameter(3)", "c = f32[3] parameter(4)", "v = f32[<=3,<=3] parameter(5)",
                    "z = f32[] constant(0)", *lines)  # fmt: skip
    return WITH_ADD + "".join(f"    {line}\n" for line in (*first, f"ROOT {last}")) + "    }\n"


ADDED, TURNED_P = "a = f32[<=3] add({}, {})", "t = f32[<=3,<=3] transpose(p), dimensions={1,0}"
SUMMED = "r = f32[] reduce({}, z), dimensions={{0}}, to_apply=add"
ADDED_TWICE = "a = f32[<=3,<=3] add({})\n    b = f32[<=3,<=3] add(a, v)"
SUMMED_ALL = "r = f32[] reduce(b, z), dimensions={0,1}, to_apply=add"
NO_ROWS = "o = s32[] constant(0)\n    s = f32[<=3,<=3] set-dimension-size({}, o), dimensions={{0}}"
FIVE = "r = f32[<=5] set-dimension-size(f, n), dimensions={0}"
LEFT_OUT = (
    "m = s32[] constant({...})",
    "ones = f32[3] constant({1, 1, 1})",
    "r = f32[<=3] set-dimension-size(ones, m), dimensions={0}",
)
BYTE = ("x = f32[300] parameter(6)", "i = u8[] parameter(7)")
LENGTH = "s = f32[<=3] set-dimension-size(c, n), dimensions={0}"
LENGTHS += [
    # What lies beyond a size is no element, so that it is not read for in one module alone.
    (given(LENGTH, "r = f32[<=3] negate(s)"), given(LENGTH, "r = f32[<=3] concatenate(s), dimensions={0}"), "unknown"),
    (given(LENGTH, "r = f32[<=3] negate(s)"), given(LENGTH, "t = (f32[<=3]) tuple(s)",
        "r = f32[<=3] get-tuple-element(t), index=0"), "unknown"),
    # Both are given the same, sizes too; each dimension of each parameter has one of its own.
    (given(SUMMED.format("q")), given("a = f32[<=3] copy(q)", SUMMED.format("a")), "proved"),
    (given(SUMMED.format("q")), given(SUMMED.format("w")), "refuted"),
    (given("r = f32[<=3] reduce(p, z), dimensions={1}, to_apply=add"),
     given("r = f32[<=3] reduce(p, z), dimensions={0}, to_apply=add"), "unknown"),
    (given(NO_ROWS.format("p"), "r = f32[<=3,<=3] copy(s)"), given(NO_ROWS.format("p"), "r = f32[<=3,<=3] negate(s)"),
     "proved"),
    (given(NO_ROWS.format("p"), "r = f32[<=3,<=3] copy(s)"), given(TURNED_P, NO_ROWS.format("t"),
        "r = f32[<=3,<=3] copy(s)"), "unknown"),
    # What is added has one size, whichever of the operands is asked for it.
    (given(ADDED.format("q", "w"), SUMMED.format("a")), given(ADDED.format("w", "q"), SUMMED.format("a")), "proved"),
    (given(ADDED.format("q", "w"), SUMMED.format("a")), given(ADDED.format("q", "q"), SUMMED.format("a")), "refuted"),
    (given(TURNED_P, ADDED_TWICE.format("p, t"), SUMMED_ALL), given(TURNED_P, ADDED_TWICE.format("t, p"), SUMMED_ALL),
     "proved"),
    # Where the elements are that are there is asked beside what is read for them.
    (given("f = f32[5] pad(c, z), padding=0_0_1", FIVE), given("b = f32[3,2] broadcast(c), dimensions={0}",
        "e = f32[6] reshape(b)", "f = f32[5] slice(e), slice={[0:5]}", FIVE), "refuted"),
    # No one says how long the arrays are that are given as one, or what a number is that the text leaves out.
    (given("r = (f32[<=3], f32[2]) parameter(6)"), given("r = (f32[<=3], f32[2]) parameter(6)"), "unknown"),
    (given(*LEFT_OUT), given(*LEFT_OUT), "unknown"),
    # A number that says where is read has its type: none beyond 255.
    (given(*BYTE, "r = f32[1] dynamic-slice(x, i), dynamic_slice_sizes={1}"), given(*BYTE,
        "f = f32[256] slice(x), slice={[0:256]}", "r = f32[1] dynamic-slice(f, i), dynamic_slice_sizes={1}"), "proved"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "verdict"), LENGTHS)
def test_modules_that_give_arrays_of_other_lengths_are_not_alike(before: str, after: str, verdict: str) -> None:
    """An element that one module alone gives is read for in that one alone, and no map says how many there are."""
    (entry,) = parse_map_specs(f"map a\n  hlo\n{before}  hlo-after\n{after}", "x.map")
    assert check_map_spec(entry, "x.map").verdict.value == verdict
