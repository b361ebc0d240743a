"""Maps of operations as texts written by hand, for what the executable path does not count."""

from __future__ import annotations

from typing import Any

import pytest

from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import Attributes, Word
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.text.shapes import parse_shape
from hloproof.models.indexing import input_to_output, output_to_input
from hloproof.models.indexing.table import opcodes
from hloproof.models.maps.text import print_map


def _op(opcode: str, result: str, operands: list[str], **attributes: Any) -> Operation:
    pairs = tuple(attributes.items())
    return Operation(opcode, parse_shape(result), tuple(parse_shape(s) for s in operands), Attributes(pairs))


def _texts(sets: Any) -> dict[Any, list[str]]:
    return {(s.operand, *s.position) if s.position else s.operand: [print_map(m) for m in s.maps] for s in sets}


SORT = _op("sort", "(f32[2,5], s32[2,5])", ["f32[2,5]", "s32[2,5]"], dimensions=(1,))
TOPK = _op("topk", "(f32[2,3], s32[2,3])", ["f32[2,5]"], k=3, largest=True)
SOLVE: Any = {"left_side": True, "lower": True, "transpose_a": Word("NO_TRANSPOSE"), "unit_diagonal": False}
SCALED: Any = {"lhs_contracting_dims": (1,), "rhs_contracting_dims": (1,)}
NORM = _op("batch-norm-training", "(f32[2,4,3], f32[3], f32[3])", ["f32[2,4,3]", "f32[3]", "f32[3]"], feature_index=2)
GRAD = _op(
    "batch-norm-grad",
    "(f32[4,3], f32[3], f32[3])",
    ["f32[4,3]", "f32[3]", "f32[3]", "f32[3]", "f32[4,3]"],
    feature_index=1,
)
SCAN = _op("scan", "(f32[4], f32[])", ["f32[4]", "f32[]"], dimensions=(0,), num_carries=1)
COPY_START = _op("copy-start", "(f32[2], f32[2], u32[])", ["f32[2]"])
GATHER_START = _op("all-gather-start", "(f32[2], f32[4])", ["f32[2]"], dimensions=(0,))

FORWARDS: list[tuple[Any, ...]] = [
    (
        SORT,
        1,
        {
            0: ["(d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 1], d1 in [0, 4], s0 in [0, 4]"],
            1: ["(d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 1], d1 in [0, 4], s0 in [0, 4]"],
        },
    ),
    (TOPK, 0, {0: ["(d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 1], d1 in [0, 2], s0 in [0, 4]"]}),
    (
        _op("triangular-solve", "f32[3,2]", ["f32[3,3]", "f32[3,2]"], **SOLVE),
        0,
        {
            0: [
                "(d0, d1)[s0, s1] -> (s0, s1), domain: d0 in [0, 2], d1 in [0, 1], s0 in [0, 2], s1 in [0, 2], "
                "d0 - s0 in [0, 2], s0 - s1 in [0, 2]"
            ],
            1: ["(d0, d1)[s0] -> (s0, d1), domain: d0 in [0, 2], d1 in [0, 1], s0 in [0, 2], d0 - s0 in [0, 2]"],
        },
    ),
    (
        _op(
            "triangular-solve",
            "f32[3,2]",
            ["f32[3,3]", "f32[3,2]"],
            **{**SOLVE, "transpose_a": Word("TRANSPOSE"), "unit_diagonal": True},
        ),
        0,
        {
            0: [
                "(d0, d1)[s0, s1] -> (s1, s0), domain: d0 in [0, 2], d1 in [0, 1], s0 in [0, 2], s1 in [0, 2], "
                "s0 - d0 in [0, 2], s1 - s0 in [1, 2]"
            ],
            1: ["(d0, d1)[s0] -> (s0, d1), domain: d0 in [0, 2], d1 in [0, 1], s0 in [0, 2], s0 - d0 in [0, 2]"],
        },
    ),
    (_op("select-and-scatter", "f32[6]", ["f32[6]", "f32[3]", "f32[]"], window=None), 0, None),
    (
        _op("scaled-dot", "f32[4,5]", ["f8e4m3fn[4,8]", "f8e4m3fn[5,8]", "bf16[4,2]", "bf16[]"], **SCALED),
        0,
        {
            0: ["(d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 3], d1 in [0, 4], s0 in [0, 7]"],
            1: ["(d0, d1)[s0] -> (d1, s0), domain: d0 in [0, 3], d1 in [0, 4], s0 in [0, 7]"],
            2: ["(d0, d1)[s0] -> (d0, s0 / 4), domain: d0 in [0, 3], d1 in [0, 4], s0 in [0, 7]"],
            3: ["(d0, d1)[s0] -> (), domain: d0 in [0, 3], d1 in [0, 4], s0 in [0, 7]"],
        },
    ),
    (
        NORM,
        0,
        {
            0: [
                "(d0, d1, d2)[s0, s1] -> (s0, s1, d2), domain: d0 in [0, 1], d1 in [0, 3], d2 in [0, 2], s0 in [0, 1], "
                "s1 in [0, 3]"
            ],
            1: ["(d0, d1, d2) -> (d2), domain: d0 in [0, 1], d1 in [0, 3], d2 in [0, 2]"],
            2: ["(d0, d1, d2) -> (d2), domain: d0 in [0, 1], d1 in [0, 3], d2 in [0, 2]"],
        },
    ),
    (NORM, 2, {0: ["(d0)[s0, s1] -> (s0, s1, d0), domain: d0 in [0, 2], s0 in [0, 1], s1 in [0, 3]"], 1: [], 2: []}),
    (
        GRAD,
        1,
        {
            0: ["(d0)[s0] -> (s0, d0), domain: d0 in [0, 2], s0 in [0, 3]"],
            1: [],
            2: ["(d0) -> (d0), domain: d0 in [0, 2]"],
            3: ["(d0) -> (d0), domain: d0 in [0, 2]"],
            4: ["(d0)[s0] -> (s0, d0), domain: d0 in [0, 2], s0 in [0, 3]"],
        },
    ),
    (GRAD, 2, {0: [], 1: [], 2: [], 3: [], 4: ["(d0)[s0] -> (s0, d0), domain: d0 in [0, 2], s0 in [0, 3]"]}),
    (
        SCAN,
        0,
        {
            0: ["(d0)[s0] -> (s0), domain: d0 in [0, 3], s0 in [0, 3], d0 - s0 in [0, 3]"],
            1: ["(d0) -> (), domain: d0 in [0, 3]"],
        },
    ),
    (SCAN, 1, {0: ["()[s0] -> (s0), domain: s0 in [0, 3]"], 1: ["() -> ()"]}),
    (
        _op("fft", "c64[2,5]", ["f32[2,8]"], fft_length=(8,)),
        0,
        {0: ["(d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 1], d1 in [0, 4], s0 in [0, 7]"]},
    ),
    (_op("bitcast-convert", "s8[3,4]", ["f32[3]"]), 0, {0: ["(d0, d1) -> (d0), domain: d0 in [0, 2], d1 in [0, 3]"]}),
    (
        _op("bitcast-convert", "f32[3]", ["s8[3,4]"]),
        0,
        {0: ["(d0)[s0] -> (d0, s0), domain: d0 in [0, 2], s0 in [0, 3]"]},
    ),
    (_op("bitcast", "s16[8]", ["f32[4]"]), 0, {0: ["(d0) -> (d0 / 2), domain: d0 in [0, 7]"]}),
    (_op("bitcast", "f32[4]", ["s16[8]"]), 0, {0: ["(d0)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 3], s0 in [0, 1]"]}),
    (
        _op("bitcast", "f32[32,128]{1,0:T(8,128)}", ["f32[4,8,128]{2,1,0:T(8,128)}"]),
        0,
        {0: ["(d0, d1) -> (d0 / 8, d0 mod 8, d1), domain: d0 in [0, 31], d1 in [0, 127]"]},
    ),
    (
        _op("get-tuple-element", "(f32[5], f32[3])", ["(f32[2], (f32[5], f32[3]))"], index=1),
        1,
        {(0, 1, 1): ["(d0) -> (d0), domain: d0 in [0, 2]"]},
    ),
    (COPY_START, 0, {0: ["(d0) -> (d0), domain: d0 in [0, 1]"]}),
    (COPY_START, 2, {}),
    (_op("copy-done", "f32[2]", ["(f32[2], f32[2], u32[])"]), 0, {(0, 0): ["(d0) -> (d0), domain: d0 in [0, 1]"]}),
    (GATHER_START, 0, {0: ["(d0) -> (d0), domain: d0 in [0, 1]"]}),
    (
        GATHER_START,
        1,
        {0: ["(d0) -> (d0 mod 2), domain: d0 in [0, 3]\nreplica id:\n(d0) -> (d0 / 2), domain: d0 in [0, 3]"]},
    ),
    (_op("all-gather-done", "f32[4]", ["(f32[2], f32[4])"]), 0, {(0, 1): ["(d0) -> (d0), domain: d0 in [0, 3]"]}),
    (
        _op("recv-done", "(f32[2], token[])", ["(f32[2], u32[], token[])"]),
        0,
        {(0, 0): ["(d0) -> (d0), domain: d0 in [0, 1]"]},
    ),
    (
        _op("custom-call", "f32[2]", ["f32[3]", "(f32[], f32[4])"]),
        0,
        {
            0: ["(d0)[s0] -> (s0), domain: d0 in [0, 1], s0 in [0, 2]"],
            (1, 0): ["(d0) -> (), domain: d0 in [0, 1]"],
            (1, 1): ["(d0)[s0] -> (s0), domain: d0 in [0, 1], s0 in [0, 3]"],
        },
    ),
    (_op("iota", "s32[3]", [], iota_dimension=0), 0, {}),
    (_op("get-dimension-size", "s32[]", ["f32[3]"], dimensions=(0,)), 0, {0: []}),
    (_op("reverse", "f32[0,3]", ["f32[0,3]"], dimensions=(0,)), 0, {0: ["KNOWN EMPTY"]}),
]

BACKWARDS = [
    (
        SORT,
        0,
        {
            0: ["(d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 1], d1 in [0, 4], s0 in [0, 4]"],
            1: ["(d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 1], d1 in [0, 4], s0 in [0, 4]"],
        },
    ),
    (
        TOPK,
        0,
        {
            0: ["(d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 1], d1 in [0, 4], s0 in [0, 2]"],
            1: ["(d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 1], d1 in [0, 4], s0 in [0, 2]"],
        },
    ),
    (NORM, 1, {0: ["(d0)[s0, s1] -> (s0, s1, d0), domain: d0 in [0, 2], s0 in [0, 1], s1 in [0, 3]"], 1: [], 2: []}),
    (
        GRAD,
        4,
        {
            0: ["(d0, d1)[s0] -> (s0, d1), domain: d0 in [0, 3], d1 in [0, 2], s0 in [0, 3]"],
            1: ["(d0, d1) -> (d1), domain: d0 in [0, 3], d1 in [0, 2]"],
            2: ["(d0, d1) -> (d1), domain: d0 in [0, 3], d1 in [0, 2]"],
        },
    ),
    (
        SCAN,
        0,
        {
            0: ["(d0)[s0] -> (s0), domain: d0 in [0, 3], s0 in [0, 3], s0 - d0 in [0, 3]"],
            1: ["(d0) -> (), domain: d0 in [0, 3]"],
        },
    ),
    (
        _op("triangular-solve", "f32[3,2]", ["f32[3,3]", "f32[3,2]"], **SOLVE),
        1,
        {0: ["(d0, d1)[s0] -> (s0, d1), domain: d0 in [0, 2], d1 in [0, 1], s0 in [0, 2], s0 - d0 in [0, 2]"]},
    ),
    (
        _op("select", "f32[2,3]", ["pred[]", "f32[2,3]", "f32[2,3]"]),
        0,
        {0: ["()[s0, s1] -> (s0, s1), domain: s0 in [0, 1], s1 in [0, 2]"]},
    ),
    (
        _op("tuple", "(f32[2], (f32[3], f32[4]))", ["f32[2]", "(f32[3], f32[4])"]),
        1,
        {(1, 0): ["(d0) -> (d0), domain: d0 in [0, 2]"], (2, 1): ["(d0) -> (d0), domain: d0 in [0, 3]"]},
    ),
    (
        GATHER_START,
        0,
        {
            0: ["(d0) -> (d0), domain: d0 in [0, 1]"],
            1: [
                "(d0)[s0] -> (d0 + s0 * 2), domain: d0 in [0, 1], s0 in [0, 1]\nreplica id:\n"
                "(d0)[s0] -> (s0), domain: d0 in [0, 1], s0 in [0, 1]"
            ],
        },
    ),
]


def _id(value: Any) -> str:
    return value.opcode if isinstance(value, Operation) else ""


@pytest.mark.parametrize(("op", "output", "expected"), FORWARDS, ids=_id)
def test_output_to_input(op: Operation, output: int, expected: Any) -> None:
    if expected is None:
        with pytest.raises(NotModelled):
            output_to_input(op, output)
        return
    assert _texts(output_to_input(op, output)) == expected


@pytest.mark.parametrize(("op", "operand", "expected"), BACKWARDS, ids=_id)
def test_input_to_output(op: Operation, operand: int, expected: Any) -> None:
    assert _texts(input_to_output(op, operand)) == expected


NOT_MODELLED = [
    (_op("reverse", "f32[<=4]", ["f32[<=4]"], dimensions=(0,)), "dynamic dimension"),
    (_op("reshape", "f32[<=4]", ["f32[2,<=2]"]), "dynamic dimension"),
    (_op("concatenate", "f32[8]", ["f32[<=4]", "f32[4]"], dimensions=(0,)), "into one of a fixed size"),
    (_op("broadcast", "f32[3]", ["f32[1]"], dimensions=(0,)), "broadcast of"),
    (_op("all-reduce", "f32[4]", ["f32[4]"]), None),
    (_op("dot", "f32[]", ["f32[4]", "f32[4]"], lhs_contracting_dims=(0,), rhs_contracting_dims=(0,)), None),
    (_op("dot", "f32[]", ["f32[4]", "f32[4]", "u16[4]"], sparsity="L.0@2:4", lhs_contracting_dims=(0,)), "sparse dot"),
    (_op("while", "f32[4]", ["f32[4]"]), "composed through"),
    (_op("nonsense", "f32[4]", ["f32[4]"]), "no indexing map for opcode nonsense"),
]


@pytest.mark.parametrize(("op", "why"), NOT_MODELLED, ids=_id)
def test_what_is_not_modelled_says_so(op: Operation, why: str | None) -> None:
    if why is None:
        assert output_to_input(op)
        return
    for direction in (output_to_input, input_to_output):
        with pytest.raises(NotModelled, match=why):
            direction(op)


def test_elementwise_operations_take_dynamic_dimensions() -> None:
    op = _op("add", "f32[<=4]", ["f32[<=4]", "f32[<=4]"])
    assert _texts(output_to_input(op))[0] == ["(d0) -> (d0), domain: d0 in [0, 3]"]


def test_every_known_opcode_has_builders() -> None:
    from hloproof.models.hlo.opcodes import KNOWN

    assert KNOWN - opcodes() <= {"collective-reduce", "dynamic-reshape", "shuffle"}
