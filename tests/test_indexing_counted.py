"""Maps of single operations against the executable path: which operand elements went into each output element, and how
often, in both directions. Shapes are small and awkward; every element is looked at."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product
from math import prod
from random import Random
from typing import Any

import pytest
from map_points import Pair, counted

from hloproof.models.errors import NotModelled
from hloproof.models.expressions.expr import Const
from hloproof.models.hlo.module import Module, Operation
from hloproof.models.hlo.parser import parse_module
from hloproof.models.hlo.shape import ArrayShape, leaves
from hloproof.models.indexing import input_to_output, output_to_input
from hloproof.models.indexing.table import opcodes
from hloproof.models.interpreter.run import run_module
from hloproof.models.interpreter.semantics.counted import reads, tags

_ADD = "add {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n"

CASES = {
    "broadcast": ("f32[2,3]", "f32[3,2,4,3] broadcast(p0), dimensions={1,3}"),
    "broadcast of a scalar": ("f32[]", "f32[2,3] broadcast(p0), dimensions={}"),
    "transpose": ("f32[2,3,4]", "f32[4,2,3] transpose(p0), dimensions={2,0,1}"),
    "reverse": ("f32[2,3,4]", "f32[2,3,4] reverse(p0), dimensions={0,2}"),
    "slice": ("f32[9,7]", "f32[3,2] slice(p0), slice={[1:8:3], [5:7]}"),
    "reshape split": ("f32[12]", "f32[2,3,2] reshape(p0)"),
    "reshape regroup": ("f32[4,6]", "f32[3,8] reshape(p0)"),
    "reshape with ones": ("f32[1,6,1,2]", "f32[2,3,1,2,1] reshape(p0)"),
    "reshape to nothing": ("f32[0,3]", "f32[3,0,2] reshape(p0)"),
    "concatenate": ("f32[2,1] f32[2,3] f32[2,0]", "f32[2,4] concatenate(p0, p1, p2), dimensions={1}"),
    "pad interior": ("f32[3,2] f32[]", "f32[9,3] pad(p0, p1), padding=1_1_2x0_1_0"),
    "pad negative": ("f32[5,3] f32[]", "f32[6,2] pad(p0, p1), padding=-2_-1_1x-1_0_0"),
    "pad nothing": ("f32[3] f32[]", "f32[3] pad(p0, p1), padding=0_0_0"),
    "pad an empty array": ("f32[0,2] f32[]", "f32[3,2] pad(p0, p1), padding=1_2_0x0_0_0"),
    "select by a scalar": ("pred[] f32[2,3] f32[2,3]", "f32[2,3] select(p0, p1, p2)"),
    "clamp by scalars": ("f32[] f32[4] f32[]", "f32[4] clamp(p0, p1, p2)"),
    "add": ("f32[2,3] f32[2,3]", "f32[2,3] add(p0, p1)"),
    "bitcast": ("f32[2,6]", "f32[3,4] bitcast(p0)"),
    "bitcast of layouts": ("f32[2,6]{0,1}", "f32[3,4]{0,1} bitcast(p0)"),
    "copy": ("f32[2,3]{0,1}", "f32[2,3]{1,0} copy(p0)"),
    "reduce": ("f32[2,3,4] f32[]", "f32[3] reduce(p0, p1), dimensions={2,0}, to_apply=add"),
    "reduce nothing": ("f32[2,3] f32[]", "f32[2,3] reduce(p0, p1), dimensions={}, to_apply=add"),
    "dot": (
        "f32[2,3,4] f32[4,2,5]",
        "f32[2,3,5] dot(p0, p1), lhs_batch_dims={0}, rhs_batch_dims={1}, lhs_contracting_dims={2}, "
        "rhs_contracting_dims={0}",
    ),
    "reduce-window": (
        "f32[7,4] f32[]",
        "f32[4,3] reduce-window(p0, p1), window={size=3x2 stride=2x1 pad=2_3x-1_1 rhs_dilate=2x1}, to_apply=add",
    ),
    "reduce-window with holes": (
        "f32[4] f32[]",
        "f32[4] reduce-window(p0, p1), window={size=3 stride=2 pad=1_1 lhs_dilate=2}, to_apply=add",
    ),
    "convolution": (
        "f32[2,5,6,2] f32[3,2,2,4]",
        "f32[2,3,3,4] convolution(p0, p1), window={size=3x2 stride=2x2 pad=1_1x0_1 rhs_reversal=1x0}, "
        "dim_labels=b01f_01io->b01f",
    ),
    "convolution, dilated": (
        "f32[1,4,1] f32[2,1,2]",
        "f32[1,7,2] convolution(p0, p1), window={size=2 pad=-1_3 lhs_dilate=2 rhs_dilate=2}, dim_labels=b0f_0io->b0f",
    ),
    "convolution, feature groups": (
        "f32[1,4,6] f32[2,2,6]",
        "f32[1,3,6] convolution(p0, p1), window={size=2}, dim_labels=b0f_0io->b0f, feature_group_count=3",
    ),
    "convolution, batch groups": (
        "f32[4,3,2] f32[2,2,4]",
        "f32[2,2,4] convolution(p0, p1), window={size=2}, dim_labels=b0f_0io->b0f, batch_group_count=2",
    ),
    "fft": ("c64[2,4]", "c64[2,4] fft(p0), fft_type=FFT, fft_length={4}"),
    "dynamic-slice": ("f32[5,4] s32[] s32[]", "f32[2,3] dynamic-slice(p0, p1, p2), dynamic_slice_sizes={2,3}"),
    "dynamic-update-slice": ("f32[5,4] f32[2,3] s32[] s32[]", "f32[5,4] dynamic-update-slice(p0, p1, p2, p3)"),
    "gather": (
        "f32[5,4,3] s32[2,6]",
        "f32[6,2,3] gather(p0, p1), offset_dims={1,2}, collapsed_slice_dims={1}, start_index_map={1,0}, "
        "index_vector_dim=0, slice_sizes={2,1,3}",
    ),
    "gather with batching": (
        "f32[3,5] s32[3,2,1]",
        "f32[3,2,2] gather(p0, p1), offset_dims={2}, collapsed_slice_dims={}, operand_batching_dims={0}, "
        "start_indices_batching_dims={0}, start_index_map={1}, index_vector_dim=2, slice_sizes={1,2}",
    ),
    "scatter": (
        "f32[5,4] s32[3,2] f32[3,2,2]",
        "f32[5,4] scatter(p0, p1, p2), update_window_dims={1,2}, inserted_window_dims={}, "
        "scatter_dims_to_operand_dims={1,0}, index_vector_dim=1, to_apply=add",
    ),
    "scatter of rows": (
        "f32[5,4] s32[3] f32[3,4]",
        "f32[5,4] scatter(p0, p1, p2), update_window_dims={1}, inserted_window_dims={0}, "
        "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
    ),
    "tuple": ("f32[2] f32[3]", "(f32[2], f32[3]) tuple(p0, p1)"),
}
UNCOUNTED = {"dynamic-slice", "dynamic-update-slice", "gather", "scatter", "pad", "reduce", "reduce-window"}


def _module(operands: str, root: str) -> Module:
    lines = [f"  p{n} = {shape} parameter({n})" for n, shape in enumerate(operands.split())]
    body = "\n".join([*lines, f"  ROOT r = {root}"])
    return parse_module(f"HloModule m\n\n{_ADD}ENTRY e {{\n{body}\n}}\n")


def _nested(sizes: tuple[int, ...], flat: list[int]) -> Any:
    if not sizes:
        return flat[0]
    step = prod(sizes[1:])
    return [_nested(sizes[1:], flat[i * step : (i + 1) * step]) for i in range(sizes[0])]


def _inputs(op: Operation, tagged: int, seed: int) -> list[Any]:
    """The tagged operand counts, integers are starts (some outside), everything else is zero."""
    random, out = Random(seed), []
    for n, shape in enumerate(op.operands):
        assert isinstance(shape, ArrayShape)
        count = shape.elements
        if n == tagged:
            flat = tags(count)
        elif shape.element_type == "s32":
            flat = [random.randint(-1, 5) for _ in range(count)]
        else:
            flat = [0] * count
        out.append(_nested(shape.dimensions, flat))
    return out


def executed(module: Module, op: Operation, operand: int, output: int, seed: int) -> Counter[Pair]:
    """(output index, operand index) pairs with how often the element was used, by running the module."""
    result = run_module(module, _inputs(op, operand, seed), semantics="counted")
    shapes = [leaf for _, leaf in leaves(op.shape)]
    if len(shapes) > 1:
        result = result[output]
    out, into = shapes[output], op.operands[operand]
    assert isinstance(out, ArrayShape) and isinstance(into, ArrayShape)
    found: Counter[Pair] = Counter()
    indices = list(product(*(range(n) for n in into.dimensions)))
    for d in product(*(range(n) for n in out.dimensions)):
        element = result
        for i in d:
            element = element[i]
        for x, times in zip(indices, reads(int(element), len(indices)), strict=True):
            if times:
                found[d, x] = times
    return found


def _reader(op: Operation, seed: int, tagged: int) -> Any:
    inputs = _inputs(op, tagged, seed)

    def read(provider: str, index: tuple[int, ...]) -> int:
        value = inputs[int(provider.removeprefix("operand(").removesuffix(")"))]
        for i in index:
            value = value[i]
        return int(value)

    return read


def _counted_operands(op: Operation) -> list[int]:
    """Operands whose reads the executable path counts: not indices, not initial or padding values, not scalars."""
    scalars = op.opcode in UNCOUNTED
    return [
        n
        for n, s in enumerate(op.operands)
        if isinstance(s, ArrayShape) and s.element_type not in ("s32", "pred") and not (scalars and not s.dimensions)
    ]


@pytest.mark.parametrize("name", CASES)
def test_maps_are_what_is_executed(name: str) -> None:
    module = _module(*CASES[name])
    op = Operation.of(module.entry.root, module.entry)
    for seed in range(3 if "s32" in CASES[name][0] else 1):
        for output in range(len(list(leaves(op.shape)))):
            sets = {s.operand: s for s in output_to_input(op, output)}
            for operand in _counted_operands(op):
                expected = executed(module, op, operand, output, seed)
                read = _reader(op, seed, operand)
                maps = sets[operand].maps if operand in sets else ()
                found = counted(maps, read)
                assert found == _usual(op, operand, expected, found), (name, operand)
                backwards = [s for s in input_to_output(op, operand) if s.operand == output]
                converse = counted([m for s in backwards for m in s.maps], read)
                assert Counter({(d, x): n for (x, d), n in converse.items()}) == found, (name, operand)


def _usual(op: Operation, operand: int, expected: Counter[Pair], found: Counter[Pair]) -> Counter[Pair]:
    """What was executed; a kernel is read at padded positions too, against zeros that execution leaves out."""
    if op.opcode == "convolution" and operand == 1:
        assert set(expected) <= set(found)
        return found
    return expected


PLANTED = ["slice", "pad interior", "reduce-window", "dynamic-slice", "gather", "scatter", "dot"]


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_error_is_seen(name: str) -> None:
    module = _module(*CASES[name])
    op = Operation.of(module.entry.root, module.entry)
    operand = 2 if name == "scatter" else 0
    expected = executed(module, op, operand, 0, 0)
    m = next(s for s in output_to_input(op) if s.operand == operand).maps[0]
    wrong = [replace(m, results=(m.results[0] + Const(1), *m.results[1:]))]
    wrong += [replace(m, constraints=m.constraints[1:])] if m.constraints else []
    wrong += [replace(m, ranges=m.ranges[:-1], results=(*m.results[:-1], Const(0)))] if name == "dot" else []
    wrong += [replace(m, runtime=m.runtime[1:] + m.runtime[:1])] if len(m.runtime) > 1 else []
    seen = []
    for w in wrong:
        different = False
        for seed in range(4):
            expected = executed(module, op, operand, 0, seed)
            try:
                different |= counted([w], _reader(op, seed, operand)) != expected
            except IndexError:
                different = True
        seen.append(different)
    assert all(seen), (name, seen)


def test_every_opcode_answers_or_says_why() -> None:
    op = Operation("no-such-opcode", ArrayShape("f32"), ())
    with pytest.raises(NotModelled, match="no-such-opcode"):
        output_to_input(op)
    assert {"add", "gather", "scatter", "all-to-all", "topk", "scan", "while"} <= opcodes()
