"""Texts that look like HLO and mean nothing are refused at their place; beside each stands its accepted twin."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from hloproof.models.errors import InputError
from hloproof.models.hlo.parser import each_module, parse_module, parse_modules
from hloproof.models.hlo.printer import print_module

ADD = "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] add(a, b) }\n"
GT = "gt { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = pred[] compare(a, b), direction=GT }\n"
P = "p = f32[2,3]{1,0} parameter(0)\n"
V = "p = f32[8] parameter(0)\n"


@dataclass(frozen=True)
class Pair:
    """A wrong text, where it is wrong, and the words of the refusal; `right` replaces `wrong` in the accepted twin."""

    text: str
    wrong: str
    right: str
    at: str
    words: str

    def refused(self) -> str:
        return self.text.replace("@", self.wrong)

    def accepted(self) -> str:
        return self.text.replace("@", self.right)


def entry(*lines: str, head: str = "HloModule m\n", before: str = "") -> str:
    return head + before + "ENTRY e {\n" + "".join(lines) + "\n}\n"


BOX = "p = f32[4,3,3] parameter(0)\ni = s32[2,1] parameter(1)\n"
TAKEN = "start_index_map={0}, index_vector_dim=1, slice_sizes={1,1,3}"
PUT = "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add"
NUMBERS = [
    *(
        Pair(
            entry(
                "p = f32[2] parameter(0)\n",
                "ROOT r = f32[2] batch-norm-inference(p, p, p, p, p), epsilon=@, feature_index=0",
            ),
            wrong,
            "1e-05",
            "4:62",
            f"epsilon takes a number, found '{wrong}'",
        )
        for wrong in ("1_0", "+1", ".5", "inf", "1e400", "true")
    ),
    *(
        Pair(entry(f"ROOT c = {kind}[2] constant({{@,0}})"), "true", "1", "3:1", "found 'true'")
        for kind in ("s32", "u8", "f32", "bf16")
    ),
    Pair(
        entry(V, "ROOT r = f32[8] negate(p), frontend_attributes=@"),
        '"a"',
        '{a="b"}',
        "4:48",
        "frontend_attributes takes no string",
    ),
]

IN_ORDER = [
    Pair(
        entry(BOX, f"ROOT r = f32[2,3] gather(p, i), offset_dims={{1}}, collapsed_slice_dims={{@}}, {TAKEN}"),
        "1,0",
        "0,1",
        "5:1",
        "collapsed_slice_dims of gather are in ascending order",
    ),
    Pair(
        entry(
            BOX,
            "u = f32[2,3] parameter(2)\n",
            f"ROOT r = f32[4,3,3] scatter(p, i, u), update_window_dims={{1}}, inserted_window_dims={{@}}, {PUT}",
            before=ADD,
        ),
        "1,0",
        "0,1",
        "9:1",
        "inserted_window_dims of scatter are in ascending order",
    ),
    Pair(
        entry(
            BOX,
            "u = f32[2,3,3] parameter(2)\n",
            f"ROOT r = f32[4,3,3] scatter(p, i, u), update_window_dims={{@}}, inserted_window_dims={{0}}, {PUT}",
            before=ADD,
        ),
        "2,1",
        "1,2",
        "9:1",
        "update_window_dims of scatter are in ascending order",
    ),
    Pair(
        entry(
            "p = f32[4] parameter(0)\nq = @[4] parameter(1)\n",
            "ROOT r = (f32[4], @[4]) all-to-all(p, q), replica_groups={{0,1}}",
        ),
        "s32",
        "f32",
        "5:1",
        "all-to-all exchanges arrays of the same shape",
    ),
    Pair(
        entry(
            "p = f32[4] parameter(0)\nq = @[4] parameter(1)\n",
            "ROOT r = f32[4] batch-norm-inference(p, q, p, p, p), epsilon=0.1, feature_index=0",
        ),
        "s32",
        "bf16",
        "5:1",
        "batch-norm-inference of different element types: f32[4], s32[4]",
    ),
]

DOUBLED = "f (x: f32[4]) @ {\n x = f32[4] parameter(0)\n ROOT y = f32[4] add(x, x)\n}\n"
V4 = "p = f32[4] parameter(0)\n"
CALLING = entry(V4, "ROOT r = f32[4] call(p), to_apply=f", before=DOUBLED)
HEADS = [
    Pair(CALLING, "", "-> f32[4]", "2:16", "expected '->' after the parameters"),
    Pair(CALLING, "-> bf16[4]", "-> f32[4]{0}", "2:18", "the result of f is declared as bf16[4], its root is f32[4]"),
]

ATTRIBUTES = [
    Pair(
        entry(V4, "ROOT r = f32[4] call(p), to_apply=f@", before=DOUBLED.replace("@", "-> f32[4]")),
        ", output_to_operand_aliasing={{}: (0, {})}",
        ", is_composite=true",
        "8:38",
        "call takes no attribute output_to_operand_aliasing",
    ),
    Pair(entry(P, "ROOT r = f32[2,3] reverse(p), @={0,1}"), "dimensins", "dimensions", "4:31", "mean 'dimensions'"),
    Pair(entry(P, "ROOT r = f32[2,3] reverse(p)@"), "", ", dimensions={0}", "4:1", "reverse needs dimensions="),
    Pair(
        entry(
            "a = f32[4,4] parameter(0)\nb = f32[4,1] parameter(1)\n",
            "ROOT r = f32[4,1] triangular-solve(a, b), left_side=true, @=true",
        ),
        "lowr",
        "lower",
        "5:59",
        "did you mean 'lower'?",
    ),
    Pair(
        entry(V, "z = f32[] constant(0)\nROOT r = f32[] reduce(p, z), to_apply=add@", before=ADD),
        "",
        ", dimensions={0}",
        "8:1",
        "reduce needs dimensions=",
    ),
    Pair(
        entry(
            "p = f32[5,2] parameter(0)\ni = s32[3,1] parameter(1)\n",
            "ROOT g = f32[3,2] gather(p, i), offset_dims={1}, @index_vector_dim=1, slice_sizes={1,2}",
        ),
        "start_index_map={0}, ",
        "start_index_map={0}, collapsed_slice_dims={0}, ",
        "5:1",
        "gather needs collapsed_slice_dims=",
    ),
    Pair(
        entry(
            "p = f32[4] parameter(0)\ns = f32[2] parameter(1)\nz = f32[] constant(0)\n",
            "ROOT r = f32[4] select-and-scatter(p, s, z), window={size=2 stride=2}, scatter=add@",
            before=ADD + GT,
        ),
        "",
        ", select=gt",
        "12:1",
        "needs select=",
    ),
    Pair(entry(P, "ROOT r = f32[2,3] negate(p), @=8"), "dimension", "backend_config", "4:30", "takes no attribute"),
    Pair(entry(P, "ROOT r = f32[2,3] copy(p), @={0}"), "metadat", "metadata", "4:28", "did you mean 'metadata'?"),
    Pair(
        entry(P, "ROOT r = f32[2,3] custom-call(p)@, custom_call_has_side_effect=true"),
        "",
        ', custom_call_target="x"',
        "4:1",
        "custom-call needs custom_call_target=",
    ),
    Pair(
        entry(P, "ROOT r = f32[2,3] copy(p)", head="HloModule m, @={ {}: (0, {}, may-alias) }\n"),
        "input_output_alais",
        "input_output_alias",
        "1:14",
        "HloModule takes no attribute",
    ),
    Pair(
        entry(P, "ROOT r = f32[2,3] copy(p)").rstrip() + ', @="t"\n',
        "execution_tread",
        "execution_thread",
        "5:4",
        "a computation takes no attribute",
    ),
    Pair(
        entry(V, "ROOT c = f32[8] conditional(i, p, p)@", before="")
        .replace(V, V + "i = s32[] parameter(1)\n")
        .replace("HloModule m\n", "HloModule m\nf { p = f32[8] parameter(0) }\n"),
        ", true_computation=f",
        ", branch_computations={f, f}",
        "6:1",
        "conditional needs branch_computations= or true_computation= and false_computation=",
    ),
]

OPCODES = [
    Pair(entry(P, "ROOT r = f32[2,3] @(p)"), "negat", "negate", "4:19", "did you mean 'negate'?"),
    Pair(entry(P, "ROOT r = f32[3,2] @(p), dimensions={1,0}"), "tranpose", "transpose", "4:19", "mean 'transpose'?"),
    Pair(entry(V, "ROOT r = f32[@] atan(p)"), "5", "8", "4:1", "atan of its operands gives f32[8]"),
    Pair(entry(P, "ROOT r = f32[2,3] @(p)"), "frobnicate", "shuffle", "4:19", "unknown opcode 'frobnicate'"),
    Pair(entry(P, "ROOT r = f32[2,3] add(p@)"), "", ", p", "4:1", "add takes 2 operands, found 1"),
]


COLLECTIVE = "HloModule m, replica_count=4, num_partitions=2\n"
ADD_S32 = ADD.replace("f32", "s32")
SELECT_AND_SCATTER = (
    "p = f32[4] parameter(0)\ns = f32[2] parameter(1)\nz = f32[] constant(0)\n"
    "ROOT r = f32[4] select-and-scatter(p, s, z), window={size=2 stride=2}, select=@, scatter=add"
)
SCATTER = (
    "p = f32[5,2] parameter(0)\nq = f32[5,2] parameter(1)\ni = s32[3,1] parameter(2)\nu = @ parameter(3)\n"
    "v = f32[3,2] parameter(4)\n"
    "ROOT r = (f32[5,2], f32[5,2]) scatter(p, q, i, v, u), update_window_dims={1}, inserted_window_dims={0}, "
    "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=two"
)
TWO = (
    "two { a = f32[] parameter(0)\nb = f32[] parameter(1)\nc = f32[] parameter(2)\nd = f32[] parameter(3)\n"
    "ROOT r = (f32[], f32[]) tuple(a, b) }\n"
)

VALUES = [
    Pair(
        entry(P, "ROOT f = f32[2,3] fusion(p), kind=@, calls=f", before="f { p = f32[2,3] parameter(0) }\n"),
        "kLoopy",
        "kLoop",
        "5:35",
        "did you mean 'kLoop'?",
    ),
    Pair(entry("ROOT @= f32[] constant(1)"), "", "c ", "3:5", "the name of an instruction"),
    Pair(
        entry(P, "ROOT r = f32[2,3] copy(p)", head="HloModule m, input_output_alias={ {}: (@, {}, may-alias) }\n"),
        "1",
        "0",
        "1:14",
        "names parameter 1; the entry has 1",
    ),
    Pair(
        entry(P, "ROOT r = f32[2,3] copy(p)", head="HloModule m, input_output_alias={ {}: (0, {@}, may-alias) }\n"),
        "0",
        "",
        "1:14",
        "names {0} of parameter 0, which is f32[2,3]{1,0}",
    ),
    Pair(
        entry("p = @ parameter(0)\n", "ROOT r = f32[6] iota(), iota_dimension=0").replace(
            "HloModule m", "HloModule m, is_scheduled=true, input_output_alias={ {}: (0, {}, must-alias) }"
        ),
        "f32[5]",
        "s32[2,3]",
        "1:33",
        "which has another size",
    ),
    Pair(
        entry(
            "p = (f32[], f32[]) parameter(0)\n",
            "ROOT r = (f32[], f32[]) copy(p)",
            head="HloModule m, input_output_alias={ {0}: (0, {1}), {1}: (0, {@}) }\n",
        ),
        "1",
        "0",
        "1:14",
        "joins {1} of parameter 0 with two places of the result",
    ),
    Pair(
        entry(P, "ROOT r = f32[2,3] copy(p)", head="HloModule m, buffer_donor={ (@, {}) }\n"),
        "2",
        "0",
        "1:14",
        "buffer_donor names parameter 2",
    ),
    Pair(
        entry(
            V, "ROOT r = f32[8] all-reduce(p), replica_groups={{0,1},{2,@}}, to_apply=add", head=COLLECTIVE, before=ADD
        ),
        "4",
        "3",
        "7:1",
        "name 4; the module has 4 replicas",
    ),
    Pair(
        entry(V, "ROOT r = f32[8] collective-permute(p), source_target_pairs={{0,1},{1,@}}", head=COLLECTIVE),
        "4",
        "3",
        "4:1",
        "target 4 in source_target_pairs is none of the 4 replicas",
    ),
    Pair(
        entry(V, "ROOT r = f32[8] collective-permute(p), channel_id=1, source_target_pairs={{0,@}}", head=COLLECTIVE),
        "2",
        "1",
        "4:1",
        "target 2 in source_target_pairs is none of the 2 partitions",
    ),
    Pair(
        entry(V, "ROOT r = f32[8] collective-permute(p), source_target_pairs={{0,1},{@,2}}"),
        "0",
        "1",
        "4:1",
        "source 0 appears more than once",
    ),
    Pair(
        entry(
            V,
            "ROOT r = f32[8] all-reduce(p), @use_global_device_ids=true, replica_groups={{0}}, to_apply=add",
            before=ADD,
        ),
        "",
        "channel_id=1, ",
        "7:1",
        "use_global_device_ids of all-reduce needs channel_id=",
    ),
    Pair(
        entry("p = c64[4] parameter(0)\n", "ROOT r = c64[4] fft(p), fft_type=FFT, fft_length={@}"),
        "-1",
        "4",
        "4:1",
        "the lengths of fft are not negative",
    ),
    Pair(
        entry("a = f32[4] parameter(0)\nb = @[4] parameter(1)\n", "ROOT r = c64[4] complex(a, b)"),
        "f64",
        "f32",
        "5:1",
        "complex of different element types",
    ),
    Pair(
        entry("c = @[4] parameter(0)\na = f32[4] parameter(1)\n", "ROOT r = f32[4] select(c, a, a)"),
        "s32",
        "pred",
        "5:1",
        "a predicate, found s32",
    ),
    Pair(
        entry(V, "z = @ constant(0)\nROOT r = f32[] reduce(p, z), dimensions={0}, to_apply=add", before=ADD),
        "s32[]",
        "f32[]",
        "8:1",
        "has another element type",
    ),
    Pair(
        entry(V, "z = f32[] constant(0)\nROOT r = f32[] reduce(p, z), dimensions={0}, to_apply=add", before="@"),
        ADD_S32,
        ADD,
        "8:1",
        "takes elements of type f32, but is s32[]",
    ),
    Pair(
        entry(
            V, "z = f32[] constant(0)\nROOT r = f32[8] reduce-window(p, z), window={size=1}, to_apply=add", before="@"
        ),
        ADD_S32,
        ADD,
        "8:1",
        "takes elements of type f32, but is s32[]",
    ),
    Pair(
        entry(V, "u = @ parameter(1)\ni = s32[] parameter(2)\nROOT r = f32[8] dynamic-update-slice(p, u, i)"),
        "s32[2]",
        "bf16[2]",
        "6:1",
        "does not fit the operand",
    ),
    Pair(entry(SELECT_AND_SCATTER, before=ADD + GT), "add", "gt", "12:1", "select of select-and-scatter gives pred[]"),
    Pair(entry(SCATTER, before=TWO), "f32[3,1]", "f32[3,2]", "13:1", "updates of different sizes"),
    Pair(entry(SCATTER, before=TWO), "s32[3,2]", "bf16[3,2]", "13:1", "another element type"),
    Pair(entry("ROOT c = f32[] constant(nan(@))"), "0x800000", "0x7fffff", "3:1", "does not fit the 23 bits of f32"),
    Pair(entry("ROOT c = bf16[] constant(nan(@))"), "0x0", "0x1", "3:1", "does not fit the 7 bits"),
    Pair(
        entry("ROOT c = f32[] constant(1)", head='HloModule m, debug_attributes={ {"c"}:({log_mode=@}) }\n'),
        "fusion_debuger",
        "fusion_debugger",
        "1:50",
        "did you mean 'fusion_debugger'?",
    ),
    Pair(
        entry(V, 'ROOT c = f32[8] custom-call(p), custom_call_target="t", api_version=@'),
        "API_VERSION_UNSPECIFIED",
        "API_VERSION_TYPED_FFI",
        "4:69",
        "api_version takes one of",
    ),
    Pair(
        entry(
            "p = (f32[2], f32[3]) parameter(0), parameter_replication={true,false@}\n", "ROOT t = (f32[2]) tuple()"
        ).replace("ROOT t = (f32[2]) tuple()", "ROOT t = () tuple()"),
        ",true",
        "",
        "3:1",
        "has 3 entries, and p holds 2 arrays",
    ),
    Pair(
        entry(
            "c = @[] parameter(0)\n" + V.replace("(0)", "(1)"),
            "ROOT r = f32[8] conditional(c, p, p), branch_computations={f, f}",
            before="f { p = f32[8] parameter(0) }\n",
        ),
        "pred",
        "s32",
        "6:1",
        "true_computation= and false_computation=, no list",
    ),
    Pair(
        entry(V, "ROOT r = f32[8] @(p), result_accuracy={mode=highest}"),
        "abs",
        "tanh",
        "4:25",
        "no attribute result_accuracy",
    ),
    Pair(
        entry("a = @[4] parameter(0)\n", "ROOT r = pred[4] compare(a, a), direction=LT, type=SIGNED"),
        "u32",
        "s32",
        "4:1",
        "compare of u32 is of type UNSIGNED",
    ),
    Pair(entry("ROOT i = @[4] iota(), iota_dimension=0"), "pred", "s8", "3:1", "iota counts"),
    Pair(
        entry(V, 'ROOT c = f32[8] custom-call(p), custom_call_target="t", literal=s32[2]{0} {1@}'),
        "",
        ", 2",
        "4:75",
        "expects 2 elements",
    ),
]

ACCEPTED = {
    "literals of custom calls": [
        entry(V, f'ROOT c = f32[8] custom-call(p), custom_call_target="t", literal={literal}, schedule=SCHEDULE_NONE')
        for literal in (
            "f32[] 1.5",
            "f32[] -nan(0x7f)",
            "s32[2]{0} {1, 2}",
            "s32[1] {7}",
            "(f32[2], s32[]) ({1, 2}, 3)",
            "f32[3]{0} {...}",
        )
    ],
    "line ends of old Macs": ["HloModule m\rENTRY e {\r // a comment\r ROOT c = f32[] constant(1)\r}\r"],
    "one instruction without names": [
        "f32[4] negate(f32[4])",
        "f32[4] add(f32[4] %p, f32[4] %q)",
        "negate(f32[4] p)",
        "f32[4] fusion(f32[4]), kind=kLoop, calls={ p = f32[4] parameter(0)\n ROOT r = f32[4] negate(p) }",
        "(f32[4], f32[]) tuple(f32[4], f32[])",
    ],
    "no ROOT": [
        "e { a = f32[] constant(1)\n b = f32[] constant(2) }",
        "e (p: f32[]) -> f32[] { p = f32[] parameter(0) }",
    ],
}


@pytest.mark.parametrize("text", [t for texts in ACCEPTED.values() for t in texts])
def test_accepted_and_printed_to_equal_text(text: str) -> None:
    module = parse_module(text)
    assert parse_module(print_module(module)) == module


def test_without_root_the_last_instruction_is_the_result() -> None:
    module = parse_module("e { a = f32[] constant(1)\n b = f32[] negate(a)\n c = f32[2] iota(), iota_dimension=0 }")
    assert module.entry.root.name == "c"


PRINTED = "HloModule m, entry_computation_layout={(f32[8]{0})->f32[8]{0}}\n\n"
CALLED = "%f (p: f32[8]) -> f32[8] {\n  %p = f32[8]{0} parameter(0)\n  ROOT %r = f32[8]{0} negate(%p)\n}\n\n"
MAIN = CALLED.replace("%f", "ENTRY %e")


@pytest.mark.parametrize(
    ("text", "entry"),
    [
        (PRINTED + CALLED + MAIN, "e"),
        (PRINTED + CALLED, None),  # a dump that was cut: what is left has the shapes that the header names
        (PRINTED + CALLED + CALLED.replace("%f", "%g").replace("[8]", "[9]"), None),
        ("HloModule m\n" + CALLED, "f"),  # by hand, as XLA reads it too
        (PRINTED + CALLED.replace("ROOT ", ""), "f"),
    ],
)
def test_what_a_compiler_printed_ends_with_its_entry(text: str, entry: str | None) -> None:
    if entry is None:
        with pytest.raises(InputError, match="ends before its ENTRY computation") as error:
            parse_module(text)
        assert (error.value.line, error.value.column) == (1, 1)
    else:
        assert parse_module(text).entry.name == entry


def test_one_bad_module_leaves_the_others_of_its_file() -> None:
    good = "HloModule m\nENTRY e { ROOT c = f32[] constant(1) }\n"
    bad = "HloModule m\nENTRY e { ROOT c = f32[] constnt(1) }\n"
    found = list(each_module("// -----\n".join([good, bad, good, bad]), "f.hlo"))
    assert [isinstance(f, InputError) for f in found] == [False, True, False, True]
    assert str(found[1]).startswith("f.hlo:5:") and str(found[3]).startswith("f.hlo:11:")
    with pytest.raises(InputError, match=r"f\.hlo:5:"):
        parse_modules("// -----\n".join([good, bad, good, bad]), "f.hlo")
    assert all(isinstance(f, InputError) for f in each_module("", "f.hlo"))


@pytest.mark.parametrize("pair", [*NUMBERS, *IN_ORDER, *HEADS, *ATTRIBUTES, *OPCODES, *VALUES], ids=lambda p: p.words)
def test_refused_at_its_place_and_the_twin_is_read(pair: Pair) -> None:
    parse_module(pair.accepted())
    with pytest.raises(InputError) as raised:
        parse_module(pair.refused(), "m.hlo")
    assert pair.words in raised.value.message
    assert f"{raised.value.line}:{raised.value.column}" == pair.at, str(raised.value)
    assert raised.value.render().endswith("^")
