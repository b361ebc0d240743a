"""Texts that look like HLO and mean nothing are refused at their place; beside each stands its accepted twin."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from hloproof.models.errors import InputError
from hloproof.models.hlo.parser import parse_module

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


ATTRIBUTES = [
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


@pytest.mark.parametrize("pair", [*ATTRIBUTES, *OPCODES], ids=lambda p: p.words)
def test_refused_at_its_place_and_the_twin_is_read(pair: Pair) -> None:
    parse_module(pair.accepted())
    with pytest.raises(InputError) as raised:
        parse_module(pair.refused(), "m.hlo")
    assert pair.words in raised.value.message
    assert f"{raised.value.line}:{raised.value.column}" == pair.at, str(raised.value)
    assert raised.value.render().endswith("^")
