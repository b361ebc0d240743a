"""Wrong HLO text is refused at its place, with a sentence; never anything but InputError, in bounded time."""

from __future__ import annotations

import random
import re
import time
from pathlib import Path

import pytest

from hloproof.models.errors import InputError
from hloproof.models.hlo.parser import parse_module, parse_modules
from hloproof.models.hlo.printer import print_modules

DATA = Path(__file__).parent / "data"
P = "p = f32[2,3]{1,0} parameter(0)"
V = "v = f32[8] parameter(0)"
Z = "z = f32[] constant(0)"

# Lines of an entry computation, the line (of the computation, from 1) that is at fault, and part of the message.
WRONG = [
    ([P, "ROOT t = f32[2,3] transpose(p), dimensions={1,0}"], 2, "gives f32[3,2]"),
    ([P, "ROOT t = f32[3,2] transpose(p), dimensions={1,1}"], 2, "twice"),
    ([P, "ROOT t = f32[3,2] transpose(p), dimensions={1,2}"], 2, "out of range"),
    ([P, "ROOT s = f32[2,2] slice(p), slice={[0:2], [2:4]}"], 2, "out of bounds"),
    ([P, "ROOT s = f32[2,2] slice(p), slice={[0:2]}"], 2, "as many ranges"),
    ([P, "ROOT s = f32[2,3] slice(p), slice={[0:2], [0:3:0]}"], 2, "not positive"),
    ([P, "ROOT r = f32[7] reshape(p)"], 2, "same number of elements"),
    ([P, "ROOT b = f32[3,2] broadcast(p), dimensions={0,1}"], 2, "elements into dimension"),
    ([P, "ROOT b = f32[2,3,4] broadcast(p), dimensions={0}"], 2, "names 1"),
    ([P, V, "ROOT a = f32[2,3] copy(p)"], 2, "duplicate parameter number"),
    ([P, "q = f32[3] parameter(1)", "ROOT a = f32[2,3] add(p, q)"], 3, "different shapes"),
    ([P, "ROOT n = f32[2,3] negate(x)"], 2, "x of n is not defined"),
    ([P, "ROOT p = f32[2,3] negate(p)"], 2, "duplicate name"),
    (["a = f32[] negate(b)", "ROOT b = f32[] negate(a)"], 1, "cycle: a -> b -> a"),
    (["a = f32[] negate(b)", "b = f32[] constant(1)", "ROOT c = f32[] add(a, b)"], 1, "defined only later"),
    (["a = f32[] negate(a)"], 1, "cycle"),
    ([V, "w = f32[8] negate(v), control-predecessors={x}", "ROOT x = f32[8] negate(w)"], 3, "cycle through control"),
    ([V, "ROOT w = f32[8] negate(v), control-predecessors={y}"], 2, "'y' of w is not defined"),
    (["a = f32[] parameter(0)", "ROOT b = f32[] parameter(2)"], 2, "number 1 is missing"),
    (["ROOT a = f32[] constant(1)", "ROOT b = f32[] constant(2)"], 2, "only one ROOT"),
    ([P, "ROOT n = f32[2,3] negate(p, p)"], 2, "takes 1 operand"),
    ([P, "ROOT n = f32[2,3] negate(f32[3,2] p)"], 2, "declared operand shape"),
    ([P, "ROOT g = f32[2,3] get-tuple-element(p), index=0"], 2, "must be a tuple"),
    (["p = (f32[]) parameter(0)", "ROOT g = f32[] get-tuple-element(p), index=1"], 2, "out of bounds"),
    ([P, Z, "ROOT d = f32[2,5] pad(p, z), padding=0_0x1_1_1"], 3, "gives f32[2,7]"),
    ([P, Z, "ROOT d = f32[2,3] pad(p, z), padding=0_0_-1x0_0"], 3, "negative"),
    ([P, "ROOT c = f32[2,6] concatenate(p, p), dimensions={0}"], 2, "gives f32[4,3]"),
    ([P, "ROOT d = f32[2,2] dot(p, p), lhs_contracting_dims={1}, rhs_contracting_dims={0}"], 2, "different sizes"),
    ([V, "ROOT d = f32[] dot(v, v, v), lhs_contracting_dims={0}, rhs_contracting_dims={0}"], 2, "only a sparse one"),
    ([V, "ROOT d = f32[9] dynamic-slice(v, v), dynamic_slice_sizes={9}"], 2, "integers"),
    (["i = s32[] parameter(1)", V, "ROOT d = f32[9] dynamic-slice(v, i), dynamic_slice_sizes={9}"], 3, "takes 9"),
    (["ROOT i = f32[4] iota(), iota_dimension=1"], 1, "iota_dimension"),
    ([V, "ROOT c = pred[8] compare(v, v), direction=XX"], 2, "direction"),
    ([V, "ROOT c = s32[8] and(v, v)"], 2, "integral"),
    ([V, "ROOT w = f32[8] while(v), condition=c, body=b"], 2, "is not defined"),
    (["ROOT c = f32[2] constant({1})"], 1, "expects 2 elements"),
    (["ROOT c = f32[2] constant({1,{2}})"], 1, "sees larger"),
    (["ROOT c = f16[] constant(-65520)"], 1, "out of range"),
    (["ROOT c = s4[] constant(8)"], 1, "out of range"),
    (["ROOT c = f32[1]{1} constant({1})"], 1, "no permutation"),
    ([P, "ROOT n = f32[2,3] reverse(p), dimensions={0}, dimensions={1}"], 2, "given twice"),
    ([P, "ROOT n = f32[2,3] all-to-all(p), channel_id=x"], 2, "takes an integer"),
    ([P, "ROOT c = f32[2,3] copy(p), sharding={devices=[2,2]<=[16]}"], 2, "does not match"),
    ([P, "ROOT c = f32[2,3] copy(p), sharding={devices=[2,2]0,1,2}"], 2, "does not match"),
    ([P, "ROOT c = f32[2,3] custom-call(p), dim_labels=9?????_io->bf"], 2, "dimension numbers"),
    ([P, "ROOT c = f32[2,3] custom-call(p), window={size=1x1 rhs_reversal=1}"], 2, "rhs_reversal"),
    ([P, "ROOT c = f32[2,3] all-to-all(p), replica_groups={{0,1},{1}}"], 2, "twice"),
    ([P, "ROOT c = f32[2,3] all-to-all(p), replica_groups=mesh['a'=2] {'b'}"], 2, "not a valid axis"),
    ([P, "ROOT c = f32[2,3] exponential(p), result_accuracy={mode=high}"], 2, "default or highest"),
    ([V, "s = ((f32[8]), f32[8], u32[]) all-gather-update(v)", "ROOT d = f32[8] copy(v)"], 2, "async-update"),
    ([V, "ROOT s = ((f32[8]), f32[8], u32[]) send-start(v)"], 2, "explicit asynchronous opcodes send"),
    ([V, "ROOT s = ((f32[8]), f32[8], u32[]) frob-start(v)"], 2, "unknown opcode"),
    ([V, "ROOT s = f32[8] slice-start(v), slice={[0:8]}"], 2, "in the form"),
    (
        [V, "s = ((f32[8]), f32[4], u32[]) slice-start(v), slice={[8:12]}", "ROOT d = f32[4] slice-done(s)"],
        2,
        "out of bounds",
    ),
    (
        [
            "t = (f32[8], f32[8]) parameter(0)",
            "s = (((f32[8], f32[8])), f32[8], u32[]) get-tuple-element-start(t)",
            "ROOT d = f32[8] get-tuple-element-done(s)",
        ],
        2,
        "needs index=",
    ),
    (
        [
            V,
            "w = f32[3] parameter(1)",
            "s = ((f32[8]), f32[8], u32[]) add-start(v)",
            "u = ((f32[8], f32[3]), f32[8], u32[]) add-update(s, w)",
            "ROOT d = f32[8] add-done(u)",
        ],
        3,
        "different shapes",
    ),
    ([V, "ROOT s = f32[8] async-done()"], 2, "at least 1"),
    ([P, "ROOT /* never closed"], 2, "never closed"),
    ([P, 'ROOT c = f32[2,3] custom-call(p), custom_call_target="x'], 2, "custom_call_target"),
    ([P, "ROOT c = f32[2,3] copy(p), metadata={a{"], 2, "never closed"),
    ([P, "ROOT c = f32[2,3] copy(p), metadata={a /* }"], 2, "comment is never closed"),
    # What the compiler takes letter by letter swallowed the operations up to the end of the comment.
    ([P, "c = f32[2,3] copy(p), frontend_attributes={x={/*}}", "ROOT d = f32[2,3] copy(p), metadata={*/}}"],
     2, "comment may not begin"),
    ([P, "ROOT c = f32[2,3] copy(p), backend_config={{/*}}, backend_config={*/}"], 2, "comment may not begin"),
    ([P, "ROOT c = f32[2,3] copy(p), frontend_attributes={x={//}}"], 2, "comment may not begin"),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "at", "message"), WRONG, ids=[w[0][-1][:60] for w in WRONG])
def test_refused_at_the_instruction(lines: list[str], at: int, message: str) -> None:
    text = "HloModule m\nENTRY e {\n" + "\n".join(f"  {line}" for line in lines) + "\n}\n"
    with pytest.raises(InputError) as raised:
        parse_module(text, "m.hlo")
    error = raised.value
    assert error.line == at + 2, str(error)
    assert str(error).startswith(f"m.hlo:{at + 2}:")
    if message != "custom_call_target":
        assert message in error.message
    assert "\n" in error.render() and error.render().endswith("^")


COMMENTED = [
    'metadata={op_name="x" // }\n  }',
    'metadata={op_name="x" /* } */}',
    'metadata={op_name="//" }',
    'backend_config={"a":"/*"}',
    'frontend_attributes={a={"//"},b="/*"}',
    "slice={[0:2], /*index=1*/[0:3]}",
    "slice={[0:2], // }\n [0:3]}",
]


@pytest.mark.parametrize("said", COMMENTED)
def test_comments_between_braces_are_read_as_the_compiler_reads_them(said: str) -> None:
    root = f"ROOT c = f32[2,3] {'slice' if said.startswith('slice') else 'copy'}(p), {said}"
    assert parse_module(f"HloModule m\nENTRY e {{\n  {P}\n  {root}\n}}\n").entry.root.name == "c"


WHOLE_TEXTS = [
    ("", "no HLO module"),
    ("// nothing\n", "no HLO module"),
    ("\x1f\x8b\x08\x00", "gzip"),
    ("\n\x05main\x12\x01", "protocol buffer"),
    ("PK\x03\x04", "zip"),
    ('hlo_module {\n  name: "m"\n}', "text form"),
    ("HloModule m", "no computation"),
    ("HloModule thi$ str1ng makes# N0 sen$e @all!*&^%$", "found '$'"),
    ("HloModule m\nENTRY a { ROOT x = f32[] constant(1) }\nENTRY b { ROOT x = f32[] constant(1) }", "only one ENTRY"),
    ("a { ROOT x = f32[] constant(1) }\na { ROOT x = f32[] constant(1) }", "already a computation"),
    ("e { }", "no instructions"),
    ("e { ROOT x = f32[] constant(1)", "never closed"),
    ("HloModule m, input_output_alias={ {0, 0}: (0, {0}), (0, {1}) }", "expected '{'"),
    ("f { ROOT c = f32[] call(), to_apply=g }\ng { ROOT c = f32[] call(), to_apply=f }", "cycle"),
    ("e (p: f32[2]) -> f32[3] { ROOT p = f32[2] parameter(0) }", "declared as f32[3]"),
]


def test_a_sparse_dot_sums_over_more_than_its_operand_holds() -> None:
    """As the compiler has it: of 32 elements the left operand holds two of four."""
    given = ["p = f16[4,16] parameter(0)", "q = f16[32,3] parameter(1)", "m = u16[4,2] parameter(2)"]

    def dot(size: str, told: str) -> str:
        root = f"ROOT d = f32[{size}] dot(p, q, m), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}{told}"
        return "\n".join(["HloModule m", "ENTRY e {", *given, root, "}"])

    assert parse_module(dot("4,3", ", sparsity=L.1@2:4")).entry.root.opcode == "dot"
    for size, told, message in (
        ("4,3", "", "only a sparse one"),
        ("4,4", ", sparsity=L.1@2:4", "gives"),
        ("4,3", ", sparsity=L.1@2:4, lhs_batch_dims={0}, rhs_batch_dims={1}", "batch dimensions of different sizes"),
    ):
        with pytest.raises(InputError, match=message):
            parse_module(dot(size, told))


@pytest.mark.parametrize(("text", "message"), WHOLE_TEXTS)
def test_whole_texts_refused(text: str, message: str) -> None:
    with pytest.raises(InputError) as raised:
        parse_modules(text, "f")
    assert message in raised.value.message


def test_two_modules_are_too_many_for_one() -> None:
    one = "e { ROOT x = f32[] constant(1) }\n"
    with pytest.raises(InputError, match="2 modules"):
        parse_module(one + "// -----\n" + one)


HOSTILE = {
    "operands nested deeply": "ROOT r = " + "f32[] negate(" * 100_000,
    "tuples nested deeply": "ROOT r = " + "(" * 1_000_000,
    "computations nested deeply": "ROOT r = f32[] call(), to_apply={ x = f32[] call(), to_apply={ " * 20_000,
    "braces nested deeply": "ROOT r = f32[] custom-call(), metadata={" + "{" * 1_000_000,
    "a long line of junk": "ROOT r = " + "x" * 20_000_000,
    "a long list": "ROOT r = f32[] custom-call(" + "a," * 3_000_000,
    "a long comment": "/*" + "*" * 20_000_000,
    "a long string": 'ROOT r = f32[] custom-call(), custom_call_target="' + "\\" * 5_000_001,
    "many digits": "ROOT r = f32[" + "9" * 1_000_000 + "] parameter(0)",
    "a large integer literal": "ROOT r = s32[] constant(" + "9" * 1_000_000 + ")",
    "many devices": "ROOT r = f32[] custom-call(), replica_groups=[1,9000000000]<=[9000000000]",
    "a large mesh": "ROOT r = f32[] custom-call(), replica_groups=mesh['a'=99999999,'b'=99999999] {'a'}",
    "binary behind a header": "".join(chr(c) for c in range(1, 256)) * 100,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_refused_in_bounded_time(name: str) -> None:
    started = time.process_time()
    with pytest.raises(InputError) as raised:
        parse_module("HloModule m\nENTRY e {\n" + HOSTILE[name])
    assert len(raised.value.render()) < 1000
    assert time.process_time() - started < 10


FRAGMENTS = [
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ",",
    "=",
    '"',
    "/*",
    "*/",
    "//",
    "\\",
    "%",
    "#0",
    "0",
    "-1",
    "<=",
    "?",
    "\n",
    "9223372036854775808",
    "f32[",
    "f32[2]",
    "{1,0}",
    "ROOT ",
    "ENTRY ",
    "parameter(0)",
    "\x00",
    "é",
    "calls=",
    "-done",
    "-start",
    "nan",
    "...",
    "slice={[0:1]}",
    "tuple(",
    "b(",
    "T(2)",
    "mesh[",
]


def mutated(text: str, dice: random.Random) -> str:
    for _ in range(dice.randint(1, 4)):
        at, kind = dice.randrange(len(text) + 1), dice.random()
        if kind < 0.3:
            text = text[:at] + dice.choice(FRAGMENTS) + text[at:]
        elif kind < 0.5:
            text = text[:at] + text[at + dice.randint(1, 8) :]
        elif kind < 0.6:
            text = text[:at]
        elif kind < 0.75:
            other = dice.randrange(len(text) + 1)
            text = text[:at] + text[other : other + dice.randint(1, 40)] + text[at:]
        elif numbers := list(re.finditer(r"\d+", text)):
            number = dice.choice(numbers)
            text = text[: number.start()] + str(dice.choice([0, 1, 3, 7, -1, 10**6, 2**63])) + text[number.end() :]
    return text


@pytest.mark.parametrize("seed", range(8))
def test_mutated_text_gives_modules_that_print_or_an_input_error(seed: int) -> None:
    dice = random.Random(seed)
    texts = [path.read_text() for path in sorted(DATA.glob("*.hlo"))]
    accepted = 0
    for _ in range(250):
        text = mutated(dice.choice(texts), dice)
        try:
            modules = parse_modules(text)
        except InputError as error:
            assert error.render()
            continue
        accepted += 1
        assert parse_modules(print_modules(modules)) == modules
    assert accepted, "the mutations are so coarse that nothing is left to compare"


DOT = "ROOT r = f32[2,2] dot(p, p), lhs_contracting_dims={1}, rhs_contracting_dims={0}, "
ONE_OF_A_FEW = [
    (DOT + "algorithm=rng_philox", DOT + "algorithm=dot_bf16_bf16_f32_x9"),
    (DOT + 'algorithm="dot_f32_f32_f32"', DOT + "algorithm=dot_f32_f32_f32"),
    (DOT + "algorithm=3", DOT + "algorithm=unset"),
    (DOT + "operand_precision={high,foo}", DOT + "operand_precision={high,highest}"),
    (DOT + "operand_precision=high", DOT + "operand_precision={}"),
    (DOT + "operand_precision={0,1}", DOT + "operand_precision={default,packed_nibble}"),
    ('ROOT r = pred[2,2] compare(p, p), direction="LT"', "ROOT r = pred[2,2] compare(p, p), direction=LT"),
    ('ROOT r = f32[2,2] cholesky(p), lower="true"', "ROOT r = f32[2,2] cholesky(p), lower=true"),
    ('ROOT r = f32[2,2] reverse(p), dimensions="0"', "ROOT r = f32[2,2] reverse(p), dimensions={0}"),
    ("ROOT r = (u64[2], u32[4]) rng-bit-generator(s), algorithm=dot_f32_f32_f32",
     "ROOT r = (u64[2], u32[4]) rng-bit-generator(s), algorithm=rng_three_fry"),
    ("ROOT r = f32[1,1,2] convolution(y, x), window={size=1}, dim_labels=bf0_oi0->bf0, conv_kind=foo",
     "ROOT r = f32[1,1,2] convolution(y, x), window={size=1}, dim_labels=bf0_oi0->bf0, conv_kind=fprop"),
]  # fmt: skip


@pytest.mark.parametrize(("wrong", "right"), ONE_OF_A_FEW, ids=[w for w, _ in ONE_OF_A_FEW])
def test_words_are_those_of_the_list_of_their_attribute(wrong: str, right: str) -> None:
    lines = "HloModule m\n\nENTRY e {\n  p = f32[2,2] parameter(0)\n  s = u64[2] parameter(1)\n"
    lines += "  y = f32[1,1,2] parameter(2)\n  x = f32[1,1,1] parameter(3)\n"
    assert parse_modules(f"{lines}  {right}\n}}\n")
    with pytest.raises(InputError, match=r"takes|one of"):
        parse_modules(f"{lines}  {wrong}\n}}\n")
