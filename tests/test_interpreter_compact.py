"""Arrays by classes of indices give what plain arrays give, for every operation, on the same values."""

from __future__ import annotations

from itertools import pairwise
from math import prod
from random import Random
from typing import Any

import pytest

from hloproof.models.hlo.parser import parse_module
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.interpreter.compact import dispatch
from hloproof.models.interpreter.run import run_module
from hloproof.models.interpreter.value import BadArgument

ADD = "add {\n x = f32[] parameter(0)\n y = f32[] parameter(1)\n ROOT s = f32[] add(x, y)\n}\n"
MAX = ADD.replace("add {", "max {").replace("f32[] add", "f32[] maximum")
ODD = ADD.replace("add {", "odd {").replace("ROOT s", "t").replace("\n}", "\n ROOT s = f32[] subtract(t, x)\n}")
LESS = "less {\n x = f32[] parameter(0)\n y = f32[] parameter(1)\n ROOT s = pred[] compare(x, y), direction=LT\n}\n"
RUNNING = (
    "running {\n x = f32[20]{0} parameter(0)\n y = f32[20]{0} parameter(1)\n s = f32[20]{0} add(x, y)\n"
    " ROOT t = (f32[20]{0}, f32[20]{0}) tuple(s, s)\n}\n"
)

LINES = [
    "f32[4,6,10]{2,1,0} p; f32[10,6,4]{2,1,0} transpose(p), dimensions={2,1,0}",
    "f32[4,6,10]{2,1,0} p; f32[8,30]{1,0} reshape(p)",
    "f32[4,6,10]{2,1,0} p; f32[2,12,1,5,2]{4,3,2,1,0} reshape(p)",
    "f32[12,1,10]{2,1,0} p; f32[3,4,2,5]{3,2,1,0} reshape(p)",
    "f32[4,6,10]{0,2,1} p; f32[60,4]{0,1} bitcast(p)",
    "f32[4,60]{1,0} p; f32[2,2,60]{0,2,1} bitcast(p)",
    "f32[6,10]{1,0} p; f32[3,10,4,6]{3,2,1,0} broadcast(p), dimensions={3,1}",
    "f32[6,30]{1,0} p; f32[2,9]{1,0} slice(p), slice={[1:6:3], [3:30:3]}",
    "f32[6,30]{1,0} p; f32[6,30]{1,0} reverse(p), dimensions={1}",
    "f32[6,8]{1,0} p; f32[] z; f32[10,17]{1,0} pad(p, z), padding=1_3x2_0_1",
    "f32[6,8]{1,0} p; f32[] z; f32[5,20]{1,0} pad(p, z), padding=-1_0x14_-2",
    "f32[6,8]{1,0} p; f32[6,3]{1,0} q; f32[6,19]{1,0} concatenate(p, q, p), dimensions={1}",
    "f32[6,8]{1,0} p; s32[] i; s32[] j; f32[2,8]{1,0} dynamic-slice(p, i, j), dynamic_slice_sizes={2,8}",
    "f32[6,8]{1,0} p; f32[2,7]{1,0} q; s32[] i; s32[] j; f32[6,8]{1,0} dynamic-update-slice(p, q, i, j)",
    "f32[6,8]{1,0} p; f32[6,8]{1,0} q; f32[6,8]{1,0} subtract(p, q)",
    "f32[6,8]{1,0} p; f32[6,8]{1,0} q; pred[6,8]{1,0} compare(p, q), direction=LT",
    "pred[] s; f32[6,8]{1,0} p; f32[6,8]{1,0} q; f32[6,8]{1,0} select(s, p, q)",
    "f32[6,8]{1,0} p; s32[6,8]{1,0} convert(p)",
    "f32[6,8,5]{2,1,0} p; f32[] z; f32[8]{0} reduce(p, z), dimensions={2,0}, to_apply=add",
    "f32[6,8,5]{2,1,0} p; f32[] z; f32[6,5]{1,0} reduce(p, z), dimensions={1}, to_apply=max",
    "f32[6,8,5]{2,1,0} p; f32[] z; f32[6]{0} reduce(p, z), dimensions={1,2}, to_apply=odd",
    "f32[6,8]{1,0} p; f32[9,8]{1,0} q; f32[6,9]{1,0} dot(p, q), lhs_contracting_dims={1}, rhs_contracting_dims={1}",
    "f32[4,6,8]{2,1,0} p; f32[8,4,6]{2,1,0} q; f32[4]{0} dot(p, q), "
    "lhs_batch_dims={0}, rhs_batch_dims={1}, lhs_contracting_dims={2,1}, rhs_contracting_dims={0,2}",
    "f32[4,6,8]{2,1,0} p; f32[5,4,8]{2,1,0} q; f32[4,6,5]{2,1,0} dot(p, q), "
    "lhs_batch_dims={0}, rhs_batch_dims={1}, lhs_contracting_dims={2}, rhs_contracting_dims={2}",
    "f32[2,9,7,4]{3,2,1,0} p; f32[3,2,4,5]{3,2,1,0} q; f32[2,5,4,5]{3,2,1,0} convolution(p, q), "
    "window={size=3x2 stride=2x2 pad=1_1x1_0}, dim_labels=b01f_01io->b01f",
    "f32[2,9,4]{2,1,0} p; f32[3,4,5]{2,1,0} q; f32[2,21,5]{2,1,0} convolution(p, q), "
    "window={size=3 pad=4_4 lhs_dilate=2 rhs_dilate=2 rhs_reversal=1}, dim_labels=b0f_0io->b0f",
    "f32[2,9,4]{2,1,0} p; f32[3,2,6]{2,1,0} q; f32[2,7,6]{2,1,0} convolution(p, q), "
    "window={size=3}, dim_labels=b0f_0io->b0f, feature_group_count=2",
    "f32[9,8]{1,0} p; f32[] z; f32[4,9]{1,0} reduce-window(p, z), "
    "window={size=3x2 stride=2x1 pad=0_0x1_1}, to_apply=add",
    "f32[20]{0} p; f32[] z; f32[20]{0} reduce-window(p, z), window={size=20 pad=19_0}, to_apply=max",
    "f32[9,20]{1,0} p; f32[9,20]{1,0} sort(p), dimensions={1}, to_apply=less",
    "f32[9,20]{1,0} p; f32[9,20]{1,0} sort(p), dimensions={0}, to_apply=less",
    "f32[9,20]{1,0} p; s32[3,2]{1,0} i; f32[3,4]{1,0} gather(p, i), offset_dims={1}, collapsed_slice_dims={0}, "
    "start_index_map={0,1}, index_vector_dim=1, slice_sizes={1,4}",
    "f32[9,20]{1,0} p; s32[7]{0} i; f32[3,7,20]{2,1,0} gather(p, i), offset_dims={0,2}, collapsed_slice_dims={}, "
    "start_index_map={0}, index_vector_dim=1, slice_sizes={3,20}",
    "f32[9,20]{1,0} p; s32[2,1]{1,0} i; f32[2,20]{1,0} q; f32[9,20]{1,0} scatter(p, i, q), to_apply=add, "
    "update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1",
    "f32[9,20]{1,0} p; s32[9,20]{1,0} iota(), iota_dimension=1",
    "f32[9,20]{1,0} p; f32[20]{0} q; (f32[9,20]{1,0},f32[20]{0}) scan(p, q), "
    "dimensions={0}, num_carries=1, to_apply=running",
]


def _text(line: str) -> str:
    *given, last = line.split("; ")
    lines = [f"  {p.rsplit(' ', 1)[1]} = {p.rsplit(' ', 1)[0]} parameter({k})" for k, p in enumerate(given)]
    shape, rest = last.split(" ", 1)
    return (
        f"HloModule m\n\n{ADD}{MAX}{ODD}{LESS}{RUNNING}\nENTRY e {{\n"
        + "\n".join(lines)
        + f"\n  ROOT r = {shape} {rest}\n}}\n"
    )


def _drawn(shape: ArrayShape, random: Random) -> tuple[Any, Any]:
    """One value in short, and written out."""
    sizes, kind = shape.dimensions, shape.element_type
    starts = [sorted({0, *random.sample(range(n), min(n, 2))}) for n in sizes]
    values: dict[str, Any] = {"pred": lambda: random.random() < 0.5, "s32": lambda: random.randint(-1, 9)}
    draw = values.get(kind, lambda: random.randint(-8, 8) / 4)
    flat = [draw() for _ in range(prod(len(s) for s in starts))]

    def nested(data: list[Any], counts: list[int]) -> Any:
        for n in reversed(counts):
            data = [data[k : k + n] for k in range(0, len(data), n)]
        return data[0]

    def out(value: Any, rows: list[list[int]], left: tuple[int, ...]) -> Any:
        if not rows:
            return value
        ends = [*rows[0], left[0]]
        return [out(value[c], rows[1:], left[1:]) for c, (a, b) in enumerate(pairwise(ends)) for _ in range(b - a)]

    short = nested(flat, [len(s) for s in starts])
    return {"starts": starts, "values": short}, out(short, starts, sizes)


@pytest.mark.parametrize("semantics", ["real", "hashed"])
@pytest.mark.parametrize("line", LINES)
def test_an_operation_by_classes_gives_what_it_gives_by_elements(
    line: str, semantics: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "scatter(" not in line and "feature_group_count" not in line:  # these are written out
        monkeypatch.setattr(dispatch, "MOST_PLAIN", 0)
    module = parse_module(_text(line))
    for seed in range(6):
        random = Random(f"{seed} {line}")
        drawn = [_drawn(p.shape, random) for p in module.entry.parameters if isinstance(p.shape, ArrayShape)]
        if semantics == "hashed":  # residues are whole numbers
            drawn = [(_whole(a), _whole(b)) for a, b in drawn]
        short, long = [s for s, _ in drawn], [w for _, w in drawn]
        assert run_module(module, short, semantics) == run_module(module, long, semantics)


def _whole(value: Any) -> Any:
    if isinstance(value, dict):
        return {"starts": value["starts"], "values": _whole(value["values"])}
    if isinstance(value, list):
        return [_whole(v) for v in value]
    return int(value * 4) if isinstance(value, float) else value


def test_sizes_do_not_matter() -> None:
    """A product of matrices that no memory holds, and the mask of a loop that counts."""
    module = parse_module(
        f"HloModule m\n\n{ADD}\nENTRY e {{\n  p = f32[65536,262144]{{1,0}} parameter(0)\n"
        "  t = f32[262144,65536]{1,0} transpose(p), dimensions={1,0}\n"
        "  d = f32[65536,65536]{1,0} dot(p, t), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
        "  z = f32[] constant(0)\n"
        "  ROOT s = f32[] reduce(d, z), dimensions={0,1}, to_apply=add\n}\n"
    )
    given = [{"starts": [[0, 1], [0, 3]], "values": [[1.0, 0.0], [2.0, 0.0]]}]
    total = 3.0 * (1 + 2 * 65535) ** 2  # three columns that are not zero
    assert run_module(module, given) == pytest.approx(total)


def test_devices_exchange_what_they_hold() -> None:
    module = parse_module(
        f"HloModule m, num_partitions=2\n\n{ADD}\nENTRY e {{\n  p = f32[4,6]{{1,0}} parameter(0)\n"
        "  a = f32[8,6]{1,0} all-gather(p), dimensions={0}, replica_groups={{0,1}}, channel_id=1, "
        "use_global_device_ids=true\n"
        "  b = f32[8,6]{1,0} all-reduce(a), replica_groups={{0,1}}, channel_id=2, "
        "use_global_device_ids=true, to_apply=add\n"
        "  c = f32[8,3]{1,0} reduce-scatter(b), dimensions={1}, replica_groups={{0,1}}, channel_id=3, "
        "use_global_device_ids=true, to_apply=add\n"
        "  d = f32[8,3]{1,0} all-to-all(c), dimensions={0}, replica_groups={{0,1}}, channel_id=4\n"
        "  ROOT r = f32[8,3]{1,0} collective-permute(d), source_target_pairs={{1,0}}, channel_id=5\n}\n"
    )
    pairs = [_drawn(ArrayShape("f32", (4, 6)), Random(k)) for k in (1, 2)]
    short, long = [[s] for s, _ in pairs], [[w] for _, w in pairs]
    assert run_module(module, short, partitions=2) == run_module(module, long, partitions=2)


@pytest.mark.parametrize(
    "given",
    [
        {"starts": [[0], [0]]},
        {"starts": [[0]], "values": [1.0]},
        {"starts": [[1], [0]], "values": [[1.0]]},
        {"starts": [[0, 6], [0]], "values": [[1.0], [2.0]]},
        {"starts": [[0, 2, 2], [0]], "values": [[1.0], [2.0], [3.0]]},
        {"starts": [[0], [0]], "values": [1.0]},
    ],
)
def test_a_short_input_that_does_not_fit_is_told(given: Any) -> None:
    module = parse_module("HloModule m\n\nENTRY e {\n  ROOT p = f32[6,8]{1,0} parameter(0)\n}\n")
    with pytest.raises(BadArgument, match="input 0"):
        run_module(module, [given])
