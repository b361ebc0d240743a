"""What each form of an operation reads: definitions beside direct readings of one small case each, every pair of
elements looked at, and the forms that have no definition.

Where the other tests draw operations at random or take them from programs, these are the forms that seldom occur.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any, Final

import pytest
from test_definitions import Index, boxes, held, times

from hloproof.definitions import define
from hloproof.definitions.definition import Definition
from hloproof.definitions.variables import arrays_of, values_of
from hloproof.logic.evaluate import holds
from hloproof.models.errors import InputError, NotModelled
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.body_use import body_uses
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.parser import parse_module
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.hlo.text.shapes import parse_shape
from hloproof.pipeline.driver import check_hlo
from hloproof.pipeline.options import Options
from hloproof.results.verdict import Verdict

_BODIES: Final = """HloModule m
add { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT s = f32[] add(a, b) }
ge { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = pred[] compare(a, b), direction=GE }
step { a = f32[] parameter(0)
 b = f32[] parameter(1)
 s = f32[] add(a, b)
 ROOT t = (f32[], f32[]) tuple(s, s) }
alone { a = f32[] parameter(0)
 ROOT t = (f32[]) tuple(a) }
rows { a = f32[2] parameter(0)
 b = f32[2] parameter(1)
 s = f32[2] add(a, b)
 ROOT t = (f32[2], f32[2]) tuple(s, s) }
"""
_FOUR: Final = "".join(f" a{n} = f32[] parameter({n})\n" for n in range(4))
_BODIES_OF_FOUR: Final = f"""two {{
{_FOUR} s = f32[] add(a0, a2)
 t = f32[] add(a1, a3)
 ROOT r = (f32[], f32[]) tuple(s, t) }}
twice {{
{_FOUR} s = f32[] add(a0, a2)
 t = f32[] add(a1, a3)
 ROOT r = (f32[], f32[], f32[], f32[]) tuple(s, t, s, t) }}
first_and_fourth {{
{_FOUR} ROOT r = pred[] compare(a0, a3), direction=LT }}
second_and_third {{
{_FOUR} ROOT r = pred[] compare(a1, a2), direction=LT }}
"""


def operation(operands: str, root: str, replicas: int = 1, partitions: int = 1) -> Operation:
    lines = [f" p{n} = {shape} parameter({n})" for n, shape in enumerate(operands.split(" ; "))]
    body = "\n".join([*lines, f" ROOT r = {root}"])
    module = parse_module(f"{_BODIES}{_BODIES_OF_FOUR}ENTRY e {{\n{body}\n}}\n")
    return Operation.of(module.entry.root, module.entry, replicas, partitions, body_uses(module, module.entry.root))


Reading = Callable[[Index, Index], bool]


def same(d: Index, x: Index) -> bool:
    return d == x


def none(d: Index, x: Index) -> bool:
    return False


def every(d: Index, x: Index) -> bool:
    return True


def _place_in_tiles(x: Index) -> int:
    """f32[3,2,4]{2,1,0:T(*,2,2)}: the first two dimensions are one of six, in tiles of two by two."""
    row, column = 2 * x[0] + x[1], x[2]
    return (row // 2 * 2 + column // 2) * 4 + row % 2 * 2 + column % 2


Where = tuple[int, ...]
"""(output, operand, *position in the operand's tuple)."""
FORMS: Final[Mapping[str, tuple[str, str, dict[Where, Reading]]]] = {
    "bitcast to bytes": ("f32[2]", "u8[8] bitcast(p0)", {(0, 0): lambda d, x: d[0] // 4 == x[0]}),
    "bitcast from bytes": ("u8[8]", "f32[2] bitcast(p0)", {(0, 0): lambda d, x: x[0] // 4 == d[0]}),
    "bitcast of packed halves": ("s4[8]{0:E(4)}", "s8[4] bitcast(p0)", {(0, 0): lambda d, x: x[0] // 2 == d[0]}),
    "bitcast of halves in bytes": ("s4[4]", "s8[4] bitcast(p0)", {(0, 0): same}),
    "bitcast of bools in words": ("pred[2]{0:E(32)}", "u8[8] bitcast(p0)", {(0, 0): lambda d, x: d[0] // 4 == x[0]}),
    "bitcast of combined dimensions": (
        "f32[3,2,4]{2,1,0:T(*,2,2)}",
        "f32[24] bitcast(p0)",
        {(0, 0): lambda d, x: d[0] == _place_in_tiles(x)},
    ),
    "bitcast of a line in tiles of two rows": (
        "f32[4]{0:T(2,2)}",
        "f32[2,2,2] bitcast(p0)",
        {(0, 0): lambda d, x: d == (x[0] // 2, 0, x[0] % 2)},
    ),
    "bitcast of three rows in tiles of two": (
        "f32[3,2]{1,0:T(2,2)}",
        "f32[2,2,2] bitcast(p0)",
        {(0, 0): lambda d, x: d == (x[0] // 2, x[0] % 2, x[1])},
    ),
    "dot whose sides keep two dimensions and one": (
        "f32[2,3,4] ; f32[4,5]",
        "f32[2,3,5] dot(p0, p1), lhs_contracting_dims={2}, rhs_contracting_dims={0}",
        {(0, 0): lambda d, x: d[:2] == x[:2], (0, 1): lambda d, x: d[2] == x[1]},
    ),
    "dot whose batch dimensions change places": (
        "f32[2,3,4] ; f32[3,2,4]",
        "f32[3,2] dot(p0, p1), lhs_batch_dims={1,0}, rhs_batch_dims={0,1}, lhs_contracting_dims={2}, "
        "rhs_contracting_dims={2}",
        {(0, 0): lambda d, x: d == (x[1], x[0]), (0, 1): lambda d, x: d == x[:2]},
    ),
    "ragged-dot by rows, with a batch": (
        "f32[5,2,3] ; f32[2,2,3,4] ; s32[2]",
        "f32[2,5,4] ragged-dot(p0, p1, p2), lhs_batch_dims={1}, rhs_batch_dims={1}, lhs_contracting_dims={2}, "
        "rhs_contracting_dims={2}, lhs_ragged_dims={0}, rhs_group_dims={0}",
        {(0, 0): lambda d, x: d[:2] == (x[1], x[0]), (0, 1): lambda d, x: (d[0], d[2]) == (x[1], x[3]), (0, 2): every},
    ),
    "ragged-dot along what is summed": (
        "f32[2,5] ; f32[5,3] ; s32[4]",
        "f32[4,2,3] ragged-dot(p0, p1, p2), lhs_contracting_dims={1}, rhs_contracting_dims={0}, lhs_ragged_dims={1}",
        {(0, 0): lambda d, x: d[1] == x[0], (0, 1): lambda d, x: d[2] == x[1], (0, 2): every},
    ),
    "ragged-dot along the batch": (
        "f32[2,3,4] ; f32[2,4,5] ; s32[2]",
        "f32[2,3,5] ragged-dot(p0, p1, p2), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, "
        "rhs_contracting_dims={1}, lhs_ragged_dims={0}",
        {(0, 0): lambda d, x: d[:2] == x[:2], (0, 1): lambda d, x: (d[0], d[2]) == (x[0], x[2]), (0, 2): none},
    ),
    "tuple of equal arrays": (
        "f32[2] ; f32[2]",
        "(f32[2], f32[2]) tuple(p0, p1)",
        {(0, 0): same, (0, 1): none, (1, 0): none, (1, 1): same},
    ),
    "get-tuple-element of one of two tuples": (
        "((f32[2], f32[2]), (f32[2], f32[2]))",
        "(f32[2], f32[2]) get-tuple-element(p0), index=1",
        {(0, 0, 0, 0): none, (0, 0, 1, 0): same, (0, 0, 1, 1): none, (1, 0, 0, 1): none, (1, 0, 1, 1): same},
    ),
    "add-dependency": ("f32[2] ; token[]", "f32[2] add-dependency(p0, p1)", {(0, 0): same}),
    "opt-barrier of a tuple": (
        "(f32[2], f32[2])",
        "(f32[2], f32[2]) opt-barrier(p0)",
        {(0, 0, 0): same, (0, 0, 1): none, (1, 0, 0): none, (1, 0, 1): same},
    ),
    "domain": ("f32[2]", 'f32[2] domain(p0), domain={kind="sharding", entry={}, exit={}}', {(0, 0): same}),
    "copy-start": ("f32[2]", "(f32[2], f32[2], u32[]) copy-start(p0)", {(0, 0): same, (1, 0): same, (2, 0): none}),
    "copy-done": (
        "(f32[2], f32[2], u32[])",
        "f32[2] copy-done(p0)",
        {(0, 0, 0): same, (0, 0, 1): none, (0, 0, 2): none},
    ),
    "collective-permute-done": (
        "(f32[2], f32[2], u32[], u32[])",
        "f32[2] collective-permute-done(p0)",
        {(0, 0, 0): none, (0, 0, 1): same, (0, 0, 2): none},
    ),
    "all-reduce-done of two": (
        "(f32[2], f32[2])",
        "(f32[2], f32[2]) all-reduce-done(p0)",
        {(0, 0, 0): same, (0, 0, 1): none, (1, 0, 0): none, (1, 0, 1): same},
    ),
    "recv-done": (
        "(f32[2], u32[], token[])",
        "(f32[2], token[]) recv-done(p0), channel_id=1",
        {(0, 0, 0): same, (0, 0, 1): none},
    ),
    "recv-done of a tuple": (
        "((f32[2], f32[2]), u32[], token[])",
        "((f32[2], f32[2]), token[]) recv-done(p0), channel_id=1",
        {(0, 0, 0, 0): same, (0, 0, 0, 1): none, (1, 0, 0, 0): none, (1, 0, 0, 1): same, (0, 0, 1): none},
    ),
    "send of a tuple": (
        "(f32[2], f32[2]) ; token[]",
        "((f32[2], f32[2]), u32[], token[]) send(p0, p1), channel_id=1",
        {(0, 0, 0): same, (0, 0, 1): none, (1, 0, 0): none, (1, 0, 1): same, (2, 0, 0): none},
    ),
    "set-dimension-size": (
        "f32[3] ; s32[]",
        "f32[<=3] set-dimension-size(p0, p1), dimensions={0}",
        {(0, 0): same, (0, 1): every},
    ),
    "rng": ("f32[] ; f32[]", "f32[3] rng(p0, p1), distribution=rng_uniform", {(0, 0): every, (0, 1): every}),
    "custom-call": ("f32[2]", 'f32[3] custom-call(p0), custom_call_target="t"', {(0, 0): every}),
    "scan without carries": (
        "f32[3]",
        "(f32[3]) scan(p0), dimensions={0}, num_carries=0, to_apply=alone",
        {(0, 0): same},
    ),
    "scan of nothing": (
        "f32[0] ; f32[]",
        "(f32[0], f32[]) scan(p0, p1), dimensions={0}, num_carries=1, to_apply=step",
        {(1, 1): every},
    ),
    "sort by the first value of the one and the second of the other": (
        "f32[2] ; f32[2]",
        "(f32[2], f32[2]) sort(p0, p1), dimensions={0}, to_apply=first_and_fourth",
        {(0, 0): every, (0, 1): every, (1, 0): every, (1, 1): every},
    ),
    "sort by the second value of the one and the first of the other": (
        "f32[2] ; f32[2]",
        "(f32[2], f32[2]) sort(p0, p1), dimensions={0}, to_apply=second_and_third",
        {(0, 0): every, (0, 1): every, (1, 0): every, (1, 1): every},
    ),
    "triangular-solve of two batches": (
        "f32[2,2,2] ; f32[2,2,1]",
        "f32[2,2,1] triangular-solve(p0, p1), left_side=true, lower=true, transpose_a=ADJOINT, unit_diagonal=false",
        {
            # Backwards: the last equation has one unknown.
            (0, 0): lambda d, x: d[0] == x[0] and d[1] <= x[2] <= x[1],
            (0, 1): lambda d, x: d[0] == x[0] and d[1] <= x[1],
        },
    ),
    "batch-norm-inference": (
        "f32[2,3] ; f32[3] ; f32[3] ; f32[3] ; f32[3]",
        "f32[2,3] batch-norm-inference(p0, p1, p2, p3, p4), epsilon=0.1, feature_index=1",
        {(0, 0): same, **{(0, k): lambda d, x: d[1] == x[0] for k in range(1, 5)}},
    ),
    "select-and-scatter of windows that begin before the first": (
        "f32[3] ; f32[2] ; f32[]",
        "f32[3] select-and-scatter(p0, p1, p2), window={size=2 stride=2 pad=1_0}, select=ge, scatter=add",
        # Windows of the padded array: {pad, 0} and {1, 2}.
        {(0, 0): lambda d, x: (d[0] == 0) == (x[0] == 0), (0, 1): lambda d, x: (d[0] > 0) == (x[0] == 1)},
    ),
    "select-and-scatter of windows that begin behind the first": (
        "f32[5] ; f32[2] ; f32[]",
        "f32[5] select-and-scatter(p0, p1, p2), window={size=2 stride=2 pad=-1_0}, select=ge, scatter=add",
        {
            (0, 0): lambda d, x: d[0] > 0 and x[0] > 0 and (d[0] - 1) // 2 == (x[0] - 1) // 2,
            (0, 1): lambda d, x: d[0] > 0 and (d[0] - 1) // 2 == x[0],
        },
    ),
    "select-and-scatter of windows that overlap": (
        "f32[4] ; f32[2] ; f32[]",
        "f32[4] select-and-scatter(p0, p1, p2), window={size=3}, select=ge, scatter=add",
        # Windows {0, 1, 2} and {1, 2, 3}.
        {(0, 0): lambda d, x: {d[0], x[0]} != {0, 3}, (0, 1): lambda d, x: x[0] <= d[0] <= x[0] + 2},
    ),
    "select-and-scatter that leaves the end": (
        "f32[5] ; f32[2] ; f32[]",
        "f32[5] select-and-scatter(p0, p1, p2), window={size=2 stride=2}, select=ge, scatter=add",
        {(0, 0): lambda d, x: d[0] < 4 and d[0] // 2 == x[0] // 2, (0, 1): lambda d, x: d[0] // 2 == x[0]},
    ),
}


def definitions_of(op: Operation, where: Where) -> Definition:
    return define(op, where[0], where[1], where[2:])


@pytest.mark.parametrize("name", FORMS)
def test_a_form_reads_what_it_says(name: str) -> None:
    operands, root, readings = FORMS[name]
    op = operation(operands, root)
    for where, expected in readings.items():
        found = definitions_of(op, where)
        for d in boxes(found.output_sizes):
            for x in boxes(found.operand_sizes):
                assert (times(found, d, x) > 0) == expected(d, x), (where, d, x)


OnDevice = Callable[[Index, Index, int, int], bool]
"""Output element, operand element, position of the reader, position of the device read."""


def _own(d: Index, x: Index, p: int, q: int) -> bool:
    return d == x


def _folded(d: Index, x: Index, p: int, q: int) -> bool:
    return d == x


def _nothing(d: Index, x: Index, p: int, q: int) -> bool:
    return False


def _anything(d: Index, x: Index, p: int, q: int) -> bool:
    return True


def _gathered(d: Index, x: Index, p: int, q: int) -> bool:
    return d[0] == 2 * q + x[0]


def _exchanged(output: int, operand: int) -> OnDevice:
    return lambda d, x, p, q: q == output and p == operand and d == x


_PAIR: Final = "replica_groups={{0,1}}"
ON_DEVICES: Final[Mapping[str, tuple[str, str, tuple[int, int], dict[tuple[int, int], tuple[int, OnDevice]]]]] = {
    "all-reduce of two": (
        "f32[2] ; f32[2]",
        f"(f32[2], f32[2]) all-reduce(p0, p1), {_PAIR}, to_apply=add",
        (2, 1),
        {(0, 0): (2, _folded), (0, 1): (2, _nothing), (1, 0): (2, _nothing), (1, 1): (2, _folded)},
    ),
    "all-reduce over one empty group is over all": (
        "f32[2]",
        "f32[2] all-reduce(p0), replica_groups={{}}, to_apply=add",
        (4, 1),
        {(0, 0): (4, _folded)},
    ),
    "all-reduce over a channel is over all partitions of its replicas": (
        "f32[2]",
        f"f32[2] all-reduce(p0), channel_id=1, {_PAIR}, to_apply=add",
        (2, 3),
        {(0, 0): (6, _folded)},
    ),
    "all-reduce over a channel without groups is over all devices": (
        "f32[2]",
        "f32[2] all-reduce(p0), channel_id=1, replica_groups={}, to_apply=add",
        (2, 3),
        {(0, 0): (6, _folded)},
    ),
    "all-reduce of global ids": (
        "f32[2]",
        f"f32[2] all-reduce(p0), channel_id=1, use_global_device_ids=true, {_PAIR}, to_apply=add",
        (1, 3),
        {(0, 0): (2, _folded)},
    ),
    "all-to-all over a channel is over partitions": (
        "f32[6]",
        "f32[6] all-to-all(p0), channel_id=1, replica_groups={}, dimensions={0}",
        (2, 3),
        {(0, 0): (3, lambda d, x, p, q: d[0] // 2 == q and x[0] == 2 * p + d[0] % 2)},
    ),
    "all-to-all of two operands": (
        "f32[2] ; f32[2]",
        f"(f32[2], f32[2]) all-to-all(p0, p1), {_PAIR}",
        (2, 1),
        {(k, n): (2, _exchanged(k, n)) for k, n in product(range(2), repeat=2)},
    ),
    "collective-permute over a channel is over partitions": (
        "f32[2]",
        "f32[2] collective-permute(p0), channel_id=1, source_target_pairs={{0,1}}",
        (1, 3),
        {(0, 0): (3, lambda d, x, p, q: d == x and (q, p) == (0, 1))},
    ),
    "collective-broadcast of two": (
        "f32[2] ; f32[2]",
        f"(f32[2], f32[2]) collective-broadcast(p0, p1), {_PAIR}",
        (2, 1),
        {
            (0, 0): (2, lambda d, x, p, q: q == 0 and d == x),
            (0, 1): (2, _nothing),
            (1, 0): (2, _nothing),
            (1, 1): (2, lambda d, x, p, q: q == 0 and d == x),
        },
    ),
    "all-gather-start of two": (
        "f32[2] ; f32[2]",
        f"((f32[2], f32[2]), (f32[4], f32[4])) all-gather-start(p0, p1), {_PAIR}, dimensions={{0}}",
        (2, 1),
        {
            (0, 0): (0, _own),
            (0, 1): (0, _nothing),
            (1, 0): (0, _nothing),
            (1, 1): (0, _own),
            (2, 0): (2, _gathered),
            (2, 1): (0, _nothing),
            (3, 0): (0, _nothing),
            (3, 1): (2, _gathered),
        },
    ),
    "collective-permute-start": (
        "f32[2]",
        "(f32[2], f32[2], u32[], u32[]) collective-permute-start(p0), source_target_pairs={{0,1}}",
        (2, 1),
        {
            (0, 0): (0, _own),
            (1, 0): (2, lambda d, x, p, q: d == x and (q, p) == (0, 1)),
            (2, 0): (0, _nothing),
            (3, 0): (0, _nothing),
        },
    ),
    "ragged-all-to-all": (
        "f32[3] ; f32[4] ; s64[2] ; s64[2] ; s64[2] ; s64[2]",
        f"f32[4] ragged-all-to-all(p0, p1, p2, p3, p4, p5), {_PAIR}",
        (2, 1),
        {
            (0, 0): (2, _anything),
            (0, 1): (2, lambda d, x, p, q: p == q and d == x),
            **{(0, k): (2, _anything) for k in range(2, 6)},
        },
    ),
}


@pytest.mark.parametrize("name", ON_DEVICES)
def test_a_form_reads_the_right_devices(name: str) -> None:
    operands, root, devices, readings = ON_DEVICES[name]
    op = operation(operands, root, *devices)
    for (output, operand), (size, expected) in readings.items():
        found = define(op, output, operand)
        assert found.group_size == size, (output, operand)
        ranks = list(product(range(size or 1), repeat=2))
        for d, x, (p, q) in product(boxes(found.output_sizes), boxes(found.operand_sizes), ranks):
            read = times(found, d, x, more={"p": p, "q": q}) > 0
            assert read == expected(d, x, p, q), (output, operand, d, x, p, q)


RunTime = tuple[str, str, Where, Sequence[Any], Reading]
"""What is held at run time: sizes where sizes are read, else the elements of an operand."""
AT_RUN_TIME: Final[Mapping[str, RunTime]] = {
    "dynamic-slice by one vector of starts": (
        "f32[5,4] ; s32[2]",
        "f32[2,3] dynamic-slice(p0, p1), dynamic_slice_sizes={2,3}",
        (0, 0),
        [None, [2, 9]],
        lambda d, x: x == (d[0] + 2, d[1] + 1),
    ),
    "dynamic-update-slice by one vector of starts": (
        "f32[5,4] ; f32[2,3] ; s32[2]",
        "f32[5,4] dynamic-update-slice(p0, p1, p2)",
        (0, 1),
        [None, None, [2, -1]],
        lambda d, x: d == (x[0] + 2, x[1]),
    ),
    "reduce of two, each of its own size": (
        "f32[<=3] ; f32[<=3] ; f32[] ; f32[]",
        "(f32[], f32[]) reduce(p0, p1, p2, p3), dimensions={0}, to_apply=two",
        (0, 1),
        [[3], [2]],
        lambda d, x: x[0] < 2,
    ),
    "concatenate with what is behind the dynamic one": (
        "f32[<=3] ; f32[2]",
        "f32[<=5] concatenate(p0, p1), dimensions={0}",
        (0, 1),
        [[2]],
        lambda d, x: d[0] == x[0] + 2,
    ),
    "pad that cuts off the last": (
        "f32[<=3] ; f32[]",
        "f32[<=2] pad(p0, p1), padding=0_-1",
        (0, 0),
        [[2]],
        lambda d, x: d == x == (0,),
    ),
    "pad behind a dynamic size": (
        "f32[<=3] ; f32[]",
        "f32[<=5] pad(p0, p1), padding=1_1",
        (0, 1),
        [[2]],
        lambda d, x: d[0] in (0, 3),
    ),
}


@pytest.mark.parametrize("name", AT_RUN_TIME)
def test_a_form_reads_what_is_held_at_run_time(name: str) -> None:
    operands, root, where, inputs, expected = AT_RUN_TIME[name]
    found = definitions_of(operation(operands, root), where)
    for d, x in product(boxes(found.output_sizes), boxes(found.operand_sizes)):
        assert (times(found, d, x, inputs) > 0) == expected(d, x), (d, x)


@pytest.mark.parametrize(("operand", "size"), [(0, 0), (0, 3), (1, 1), (1, 2)])
def test_what_there_is_of_a_concatenation_is_the_same_for_every_operand(operand: int, size: int) -> None:
    found = define(operation("f32[<=3] ; f32[2]", "f32[<=5] concatenate(p0, p1), dimensions={0}"), 0, operand)
    runtime = held(found, {}, [[size]])
    there = [d for (d,) in boxes(found.output_sizes) if holds(found.exists, {"d0": d} | runtime)]
    assert there == list(range(size + 2))


@pytest.mark.parametrize(
    ("element_type", "expected"),
    [
        ("s8", Interval(-128, 127)),
        ("u8", Interval(0, 255)),
        ("s32", Interval(-(2**31), 2**31 - 1)),
        ("u64", Interval(0, 2**64 - 1)),
        ("pred", None),
        ("f32", None),
    ],
)
def test_the_values_of_a_type(element_type: str, expected: Interval | None) -> None:
    shape = parse_shape(f"{element_type}[2]")
    assert isinstance(shape, ArrayShape)
    assert values_of(shape) == expected


@pytest.mark.parametrize(("element_type", "last"), [("s8", 127), ("u8", 255), ("s32", 998)])
def test_a_start_goes_no_further_than_its_type(element_type: str, last: int) -> None:
    op = operation(f"f32[1000] ; {element_type}[]", "f32[2] dynamic-slice(p0, p1), dynamic_slice_sizes={2}")
    assert [read.interval for read in define(op, 0, 0).runtime] == [Interval(0, last)]


def test_arrays_in_buffers_count_as_arrays() -> None:
    shape = parse_shape("(b(f32[2]), token[], f32[3])")
    assert [(at, found.dimensions) for at, found in arrays_of(shape)] == [((0,), (2,)), ((2,), (3,))]


@pytest.mark.parametrize(("slices", "kind"), [("f32[3]", "reads"), ("f32[3,2]", "bound")])
def test_what_a_scan_over_longer_slices_reads_is_a_bound(slices: str, kind: str) -> None:
    carry, body = ("f32[]", "step") if kind == "reads" else ("f32[2]", "rows")
    op = operation(
        f"{slices} ; {carry}", f"({slices}, {carry}) scan(p0, p1), dimensions={{0}}, num_carries=1, to_apply={body}"
    )
    assert {define(op, output, operand).kind for output in range(2) for operand in range(2)} == {kind}


def test_the_last_carry_of_no_slices_is_its_own_first() -> None:
    op = operation(
        "f32[0] ; f32[0] ; f32[] ; f32[]",
        "(f32[0], f32[0], f32[], f32[]) scan(p0, p1, p2, p3), dimensions={0}, num_carries=2, to_apply=twice",
    )
    found = {(k, n): times(define(op, k, n), (), ()) for k in (2, 3) for n in (2, 3)}
    assert found == {(2, 2): 1, (2, 3): 0, (3, 2): 0, (3, 3): 1}


_SCATTER: Final = (
    "f32[4] scatter(p0, p1, p2), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
    "index_vector_dim=1, to_apply=add"
)


@pytest.mark.parametrize("flag", ["unique_indices", "indices_are_sorted"])
@pytest.mark.parametrize("operand", range(3))
def test_what_a_scatter_promises_is_assumed_by_name(flag: str, operand: int) -> None:
    op = operation("f32[4] ; s32[2,1] ; f32[2]", f"{_SCATTER}, {flag}=true")
    assert define(op, 0, operand).assumptions == (f"scatter: {flag} holds",)


_DYNAMIC: Final = "over the dynamic dimension"
_CONV: Final = "f32[1,3,4] convolution(p0, p1), window={size=2}, dim_labels=b0f_0io->b0f"
_GATHER: Final = "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}"
NO_DEFINITION: Final[Sequence[tuple[str, str, int, str]]] = [
    ("f32[4]", "f32[<=4] bitcast(p0)", 0, _DYNAMIC),
    ("f32[<=4]", "f32[4] bitcast(p0)", 0, _DYNAMIC),
    ("f32[4]{0:S(1)}", "f32[4]{0} bitcast(p0)", 0, "memory spaces 0 and 1"),
    ("f32[4]{0:M(8)}", "f32[4]{0} bitcast(p0)", 0, "metadata"),
    ("f32[4]{0:SC(0:2)}", "f32[4] bitcast(p0)", 0, "split over memories"),
    ("f32[<=2]", f"f32[<=4] all-gather(p0), {_PAIR}, dimensions={{0}}", 0, _DYNAMIC),
    ("f32[<=4]", f"f32[<=2] reduce-scatter(p0), {_PAIR}, dimensions={{0}}, to_apply=add", 0, _DYNAMIC),
    ("f32[<=4]", f"f32[<=4] all-to-all(p0), {_PAIR}, dimensions={{0}}", 0, _DYNAMIC),
    (
        "f32[2] ; f32[2]",
        "(f32[2], f32[2]) all-to-all(p0, p1), replica_groups={{0,1,2}}",
        0,
        "2 operands over groups of 3",
    ),
    ("f32[4] ; f32[4]", f"(f32[4], f32[4]) all-to-all(p0, p1), {_PAIR}, dimensions={{0}}", 1, "blocks do not fit"),
    (
        "f32[2] ; f32[2]",
        "((f32[2], f32[2]), (f32[2], f32[2])) collective-permute-start(p0, p1), source_target_pairs={{0,1}}",
        0,
        "several operands",
    ),
    (
        "f32[2]",
        f"(f32[3], f32[4]) all-gather-start(p0), {_PAIR}, dimensions={{0}}",
        0,
        "does not hold its operand first",
    ),
    (
        "f32[<=3] ; f32[3] ; f32[] ; f32[]",
        "(f32[], f32[]) reduce(p0, p1, p2, p3), dimensions={0}, to_apply=two",
        1,
        "dynamic",
    ),
    (
        "f32[2,<=3] ; f32[<=3,2]",
        "f32[2,2] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        0,
        _DYNAMIC,
    ),
    (
        "f32[<=5,3] ; f32[2,3,4] ; s32[2]",
        "f32[<=5,4] ragged-dot(p0, p1, p2), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, "
        "rhs_group_dims={0}",
        0,
        _DYNAMIC,
    ),
    (
        "f32[2,4] ; f32[4,3] ; f32[2,3] ; f32[1,3]",
        "f32[2,3] scaled-dot(p0, p1, p2, p3), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        2,
        "does not divide",
    ),
    (
        "f32[2,4] ; f32[4,3] ; u16[2,1]",
        "f32[2,3] dot(p0, p1, p2), lhs_contracting_dims={1}, rhs_contracting_dims={0}, sparsity=L.1@2:4",
        0,
        "sparse dot",
    ),
    ("f32[<=4] ; s32[]", "f32[2] dynamic-slice(p0, p1), dynamic_slice_sizes={2}", 0, _DYNAMIC),
    ("f32[<=4] ; f32[2] ; s32[]", "f32[<=4] dynamic-update-slice(p0, p1, p2)", 0, _DYNAMIC),
    ("f32[4] ; f32[<=2] ; s32[]", "f32[4] dynamic-update-slice(p0, p1, p2)", 1, _DYNAMIC),
    ("f32[<=3,4] ; s32[2,1]", f"f32[2,4] gather(p0, p1), {_GATHER}", 0, _DYNAMIC),
    ("f32[3,4] ; s32[<=2,1]", f"f32[<=2,4] gather(p0, p1), {_GATHER}", 0, _DYNAMIC),
    ("f32[<=4] ; s32[2,1] ; f32[2]", f"{_SCATTER}".replace("f32[4]", "f32[<=4]"), 0, _DYNAMIC),
    ("f32[4] ; s32[<=2,1] ; f32[<=2]", _SCATTER, 2, _DYNAMIC),
    ("f32[?]", "f32[?] negate(p0)", 0, "unbounded dimension"),
    ("f32[<=4]", "f32[<=4] reverse(p0), dimensions={0}", 0, _DYNAMIC),
    ("f32[<=4]", "f32[2,2] reshape(p0)", 0, "dynamic dimensions"),
    ("f32[4]", "f32[<=2,2] reshape(p0)", 0, "dynamic dimensions"),
    ("f32[<=4]", "f32[<=4] sort(p0), dimensions={0}, to_apply=ge", 0, _DYNAMIC),
    ("f32[2,<=4]", "(f32[2,3], s32[2,3]) topk(p0), k=3, largest=true", 0, _DYNAMIC),
    ("c64[<=2,4]", "c64[<=2,4] fft(p0), fft_type=FFT, fft_length={4}", 0, _DYNAMIC),
    ("f32[<=3] ; f32[]", "(f32[<=3], f32[]) scan(p0, p1), dimensions={0}, num_carries=1, to_apply=step", 0, _DYNAMIC),
    ("f32[<=2,3,3]", "f32[<=2,3,3] cholesky(p0), lower=true", 0, _DYNAMIC),
    (
        "f32[2,2] ; f32[2,<=3]",
        "f32[2,<=3] triangular-solve(p0, p1), left_side=true, lower=true, transpose_a=NO_TRANSPOSE, unit_diagonal=true",
        1,
        _DYNAMIC,
    ),
    ("f32[<=4] ; f32[]", "f32[<=3] reduce-window(p0, p1), window={size=2}, to_apply=add", 0, _DYNAMIC),
    ("f32[<=4] ; f32[]", "f32[<=5] reduce-window(p0, p1), window={size=1 pad=1_0}, to_apply=add", 0, _DYNAMIC),
    (
        "f32[<=4] ; f32[3] ; f32[]",
        "f32[<=4] select-and-scatter(p0, p1, p2), window={size=2}, select=ge, scatter=add",
        0,
        _DYNAMIC,
    ),
    (
        "f32[4] ; f32[<=3] ; f32[]",
        "f32[4] select-and-scatter(p0, p1, p2), window={size=2}, select=ge, scatter=add",
        0,
        _DYNAMIC,
    ),
    (
        "f32[4] ; f32[2] ; f32[]",
        "f32[4] select-and-scatter(p0, p1, p2), window={size=2 rhs_dilate=2}, select=ge, scatter=add",
        0,
        "dilation",
    ),
    (
        "f32[4] ; f32[6] ; f32[]",
        "f32[4] select-and-scatter(p0, p1, p2), window={size=2 lhs_dilate=2}, select=ge, scatter=add",
        0,
        "dilation",
    ),
    ("f32[1,<=4,1] ; f32[2,1,4]", _CONV.replace("[1,3,4]", "[1,<=3,4]"), 0, _DYNAMIC),
    ("f32[1,4,1] ; f32[2,1,4]", f"{_CONV}, sparsity_config={{lhs={{dimension=1}}}}", 0, "sparsity"),
    ("f32[1,4,1] ; f32[2,1,4]", f"{_CONV}, conv_kind=wgrad", 0, "kind for a library"),
]


@pytest.mark.parametrize(("operands", "root", "operand", "reason"), NO_DEFINITION)
def test_what_cannot_be_said_has_no_definition(operands: str, root: str, operand: int, reason: str) -> None:
    with pytest.raises(NotModelled, match=reason):
        define(operation(operands, root), 0, operand)


MISFITS: Final[Sequence[tuple[str, str]]] = [
    ("s32[3]", "u8[3,2] bitcast-convert(p0)"),
    ("u8[3,3]", "s32[3] bitcast-convert(p0)"),
    ("s32[3]", "u8[3] bitcast-convert(p0)"),
    ("f32[2,4]{1,0:T(2,*)}", "f32[8] bitcast(p0)"),
    ("f32[2]", "f32[2] all-reduce(p0), replica_groups={{0,1},{1,2}}, to_apply=add"),
    ("f32[2]", f"f32[6] all-gather(p0), {_PAIR}, dimensions={{0}}"),
    ("f32[2]", "f32[4] all-gather(p0), replica_groups={{0},{1}}, dimensions={0}"),
    ("f32[6]", f"f32[2] reduce-scatter(p0), {_PAIR}, dimensions={{0}}, to_apply=add"),
    ("f32[2]", "f32[2] collective-permute(p0), source_target_pairs={{0,1},{2,1}}"),
    ("f32[2,3]", "f32[3] get-tuple-element(p0), index=0"),
    ("(f32[2], f32[3])", "f32[3] get-tuple-element(p0), index=0"),
    ("(f32[2], f32[3])", "f32[2] all-reduce-done(p0)"),
    ("pred[4] ; f32[] ; f32[4]", "f32[4] select(p0, p1, p2)"),
    ("f32[4] ; f32[] ; f32[4]", "f32[4] clamp(p0, p1, p2)"),
    ("f32[4]", "f32[3] negate(p0)"),
    ("f32[4]", "f32[3] copy(p0)"),
    ("f32[2,2]", "f32[2,2] broadcast(p0), dimensions={0,0}"),
    ("f32[2,3]", "f32[3,2] broadcast(p0), dimensions={0,1}"),
    ("f32[6]", "f32[2,2] reshape(p0)"),
    ("f32[4] ; f32[2]", "f32[4] pad(p0, p1), padding=0_0"),
    ("f32[4] ; s32[]", "f32[5] dynamic-slice(p0, p1), dynamic_slice_sizes={5}"),
    ("f32[4,4] ; s32[]", "f32[2,2] dynamic-slice(p0, p1), dynamic_slice_sizes={2,2}"),
    ("f32[3,4] ; s32[2,1]", f"f32[2,4] gather(p0, p1), {_GATHER}".replace("{1,4}", "{2,4}")),
    ("f32[3,4] ; s32[2,1]", f"f32[2,5] gather(p0, p1), {_GATHER}".replace("{1,4}", "{1,5}")),
    ("f32[3,4] ; s32[2,1]", f"f32[2,4] gather(p0, p1), {_GATHER}".replace("index_vector_dim=1", "index_vector_dim=3")),
    (
        "f32[2] ; s32[1,1] ; f32[1,3]",
        "f32[2] scatter(p0, p1, p2), update_window_dims={1}, inserted_window_dims={}, "
        "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
    ),
    (
        "f32[3,5] ; s32[3,2,1]",
        "f32[3,2,2] gather(p0, p1), offset_dims={2}, collapsed_slice_dims={}, operand_batching_dims={0}, "
        "start_indices_batching_dims={2}, start_index_map={1}, index_vector_dim=2, slice_sizes={1,2}",
    ),
    ("f32[1,4,3] ; f32[2,1,4]", f"{_CONV}, feature_group_count=2"),
    ("f32[1,4,3] ; f32[2,1,3]", f"{_CONV}, feature_group_count=3"),
    ("f32[3,4,1] ; f32[2,1,4]", f"{_CONV}, batch_group_count=3"),
    ("f32[1,4,1] ; f32[2,1,4]", _CONV.replace("size=2", "size=2x2")),
    ("f32[1,4,1] ; f32[2,1,4]", _CONV.replace("size=2", "size=2 stride=0")),
    ("f32[1,4,1] ; f32[0,1,4]", _CONV.replace("size=2", "size=0").replace("[1,3,4]", "[1,5,4]")),
    ("f32[1,4,2] ; f32[2,1,4]", f"{_CONV}, feature_group_count=2, batch_group_count=2"),
]


@pytest.mark.parametrize(("operands", "root"), MISFITS)
def test_what_does_not_fit_is_refused_or_has_no_definition(operands: str, root: str) -> None:
    with pytest.raises((InputError, NotModelled)):
        op = operation(operands, root)
        for output in range(len(arrays_of(op.shape))):
            for operand in range(len(op.operands)):
                define(op, output, operand)


@pytest.mark.parametrize(
    "body",
    [
        " t = token[] after-all()\n r = (D, u32[], token[]) recv(t), channel_id=1\n"
        " ROOT d = (D, token[]) recv-done(r), channel_id=1\n",
        " t = token[] after-all()\n p = D parameter(0)\n s = (D, u32[], token[]) send(p, t), channel_id=1\n"
        " ROOT d = token[] send-done(s), channel_id=1\n",
    ],
)
@pytest.mark.parametrize("data", ["f32[2]", "(f32[2], f32[3])", "((f32[2]), s32[])"])
def test_what_is_sent_and_received_may_be_a_tuple(body: str, data: str) -> None:
    report = check_hlo(f"HloModule m\nENTRY e {{\n{body.replace('D', data)}}}\n", Options(jobs=1))
    assert set(report.counts()) == {Verdict.PROVED}
