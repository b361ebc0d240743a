"""Operations on small tensors, with results worked out by hand."""

from __future__ import annotations

import cmath
import math
from typing import Any

import pytest

from hloproof.models.errors import NotModelled
from hloproof.models.hlo.parser import parse_module
from hloproof.models.interpreter.run import run_module
from hloproof.models.interpreter.value import BadArgument

ADD = "add {\n x = f32[] parameter(0)\n y = f32[] parameter(1)\n ROOT z = f32[] add(x, y)\n}\n"
ADD_S32 = ADD.replace("f32", "s32")


def run(body: str, *inputs: Any, before: str = "", **options: Any) -> Any:
    text = f"HloModule m\n{before}\nENTRY e {{\n{body}\n}}\n"
    return run_module(parse_module(text), inputs, **options)


def p(kind: str, number: int = 0, name: str = "p") -> str:
    return f" {name} = {kind} parameter({number})\n"


@pytest.mark.parametrize(
    ("body", "inputs", "expected"),
    [
        (
            p("s32[2,3]") + " ROOT r = s32[3,2] transpose(p), dimensions={1,0}",
            [[[1, 2, 3], [4, 5, 6]]],
            [[1, 4], [2, 5], [3, 6]],
        ),
        (p("s32[3]") + " ROOT r = s32[3,2] broadcast(p), dimensions={0}", [[1, 2, 3]], [[1, 1], [2, 2], [3, 3]]),
        (p("s32[2,3]") + " ROOT r = s32[3,2] reshape(p)", [[[1, 2, 3], [4, 5, 6]]], [[1, 2], [3, 4], [5, 6]]),
        (p("s32[5]") + " ROOT r = s32[2] slice(p), slice={[1:5:3]}", [[0, 1, 2, 3, 4]], [1, 4]),
        (p("s32[2]") + p("s32[]", 1, "z") + " ROOT r = s32[5] pad(p, z), padding=1_1_1", [[1, 2], 9], [9, 1, 9, 2, 9]),
        (p("s32[3]") + p("s32[]", 1, "z") + " ROOT r = s32[3] pad(p, z), padding=-1_-1_1", [[1, 2, 3], 9], [9, 2, 9]),
        (p("s32[0]") + p("s32[]", 1, "z") + " ROOT r = s32[2] pad(p, z), padding=1_1_3", [[], 9], [9, 9]),
        (" ROOT r = s32[2,3] iota(), iota_dimension=1", [], [[0, 1, 2], [0, 1, 2]]),
        (
            p("s32[4]") + p("s32[]", 1, "i") + " ROOT r = s32[2] dynamic-slice(p, i), dynamic_slice_sizes={2}",
            [[1, 2, 3, 4], 3],
            [3, 4],
        ),
        (
            p("s32[4]") + p("u8[]", 1, "i") + " ROOT r = s32[2] dynamic-slice(p, i), dynamic_slice_sizes={2}",
            [[1, 2, 3, 4], 255],
            [3, 4],
        ),
        (
            p("s32[4]") + p("s8[]", 1, "i") + " ROOT r = s32[2] dynamic-slice(p, i), dynamic_slice_sizes={2}",
            [[1, 2, 3, 4], 255],
            [1, 2],
        ),
        (
            p("s32[4]") + p("s32[2]", 1, "u") + p("s32[]", 2, "i") + " ROOT r = s32[4] dynamic-update-slice(p, u, i)",
            [[1, 2, 3, 4], [8, 9], 7],
            [1, 2, 8, 9],
        ),
        (p("s8[2]") + " ROOT r = s8[2] add(p, p)", [[100, -100]], [-56, 56]),
        (p("u8[2]") + " ROOT r = u8[2] negate(p)", [[1, 0]], [255, 0]),
        (p("s8[3]") + p("s8[3]", 1, "q") + " ROOT r = s8[3] divide(p, q)", [[-128, 7, -7], [-1, 0, 2]], [-128, -1, -3]),
        (p("s4[2]") + " ROOT r = s4[2] multiply(p, p)", [[3, 5]], [-7, -7]),
        (p("pred[2]") + " ROOT r = s32[2] convert(p)", [[True, False]], [1, 0]),
        (p("f32[3]") + " ROOT r = s8[3] convert(p)", [[300.0, -2.9, math.nan]], [127, -2, 0]),
        (p("bf16[1]") + " ROOT r = bf16[1] add(p, p)", [[1.00390625]], [2.0]),
        (p("f8e4m3fn[2]") + " ROOT r = f8e4m3fn[2] multiply(p, p)", [[1.125, 2.0]], [1.25, 4.0]),
        (p("f32[2]") + " ROOT r = u8[2,4] bitcast-convert(p)", [[1.0, -2.0]], [[0, 0, 128, 63], [0, 0, 0, 192]]),
        (p("u8[1,4]") + " ROOT r = u32[1] bitcast-convert(p)", [[[1, 0, 0, 2]]], [0x02000001]),
        (
            p("s32[3,2]") + p("s32[2,1]", 1, "i") + " ROOT r = s32[2,2] gather(p, i), offset_dims={1}, "
            "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,2}",
            [[[1, 2], [3, 4], [5, 6]], [[7], [-1]]],
            [[5, 6], [1, 2]],
        ),
        (
            p("f32[4]") + " z = f32[] constant(10)\n ROOT r = f32[3] reduce-window(p, z), window={size=2 stride=2 "
            "pad=1_1}, to_apply=add",
            [[1, 2, 3, 4]],
            [21, 15, 24],
        ),
        (
            p("f32[2,3]") + " z = f32[] constant(0)\n ROOT r = f32[3] reduce(p, z), dimensions={0}, to_apply=add",
            [[[1, 2, 3], [4, 5, 6]]],
            [5, 7, 9],
        ),
        (
            p("f32[4]") + p("s32[2,1]", 1, "i") + p("f32[2,2]", 2, "u") + " ROOT r = f32[4] scatter(p, i, u), "
            "update_window_dims={1}, inserted_window_dims={}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, "
            "to_apply=add",
            [[0, 0, 0, 0], [[1], [3]], [[1, 2], [3, 4]]],
            [0, 1, 2, 0],
        ),
        (
            p("f32[1,4,1]") + p("f32[2,1,1]", 1, "k") + " ROOT r = f32[1,3,1] convolution(p, k), window={size=2 "
            "rhs_reversal=1}, dim_labels=b0f_0io->b0f",
            [[[[1], [2], [3], [4]]], [[[10]], [[1]]]],
            [[[21], [32], [43]]],
        ),
        (p("f32[2]") + " ROOT r = (f32[1], s32[1]) topk(p), k=1, largest=true", [[1, 5]], ([5], [1])),
        (
            p("f32[3,2]") + p("f32[2,2,2]", 1, "w") + p("s32[2]", 2, "g") + " ROOT r = f32[3,2] ragged-dot(p, w, g), "
            "lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}",
            [[[1, 0], [0, 1], [1, 1]], [[[1, 2], [3, 4]], [[5, 6], [7, 8]]], [1, 1]],
            [[1, 2], [7, 8], [0, 0]],
        ),
        (p("s32[2,3]{0,1}") + " ROOT r = s32[3,2]{1,0} bitcast(p)", [[[1, 2, 3], [4, 5, 6]]], [[1, 4], [2, 5], [3, 6]]),
        (" p = f32[2,2]{1,0:T(2,128)} parameter(0)\n ROOT r = f32[2,2]{1,0} shuffle(p)", [[[1, 2], [3, 4]]], None),
    ],
)
def test_results(body: str, inputs: list[Any], expected: Any) -> None:
    if expected is None:
        with pytest.raises(NotModelled, match="shuffle"):
            run(body, *inputs)
    else:
        assert run(body, *inputs, before=ADD if "f32" in body else ADD_S32) == expected


def test_while_conditional_call_and_fusion() -> None:
    before = (
        "more {\n t = (s32[], s32[]) parameter(0)\n i = s32[] get-tuple-element(t), index=0\n n = s32[] constant(4)\n"
        " ROOT z = pred[] compare(i, n), direction=LT\n}\n"
        "step {\n t = (s32[], s32[]) parameter(0)\n i = s32[] get-tuple-element(t), index=0\n"
        " a = s32[] get-tuple-element(t), index=1\n one = s32[] constant(1)\n j = s32[] add(i, one)\n"
        " b = s32[] call(a, j), to_apply=times\n ROOT u = (s32[], s32[]) tuple(j, b)\n}\n"
        "times {\n x = s32[] parameter(0)\n y = s32[] parameter(1)\n ROOT z = s32[] multiply(x, y)\n}\n"
        "twice {\n x = s32[] parameter(0)\n ROOT y = s32[] add(x, x)\n}\n"
        "same {\n ROOT x = s32[] parameter(0)\n}\n"
    )
    body = (
        " i = s32[] constant(0)\n a = s32[] constant(1)\n t = (s32[], s32[]) tuple(i, a)\n"
        " w = (s32[], s32[]) while(t), condition=more, body=step\n f = s32[] get-tuple-element(w), index=1\n"
        " k = s32[] parameter(0)\n c = s32[] conditional(k, f, f), branch_computations={same, twice}\n"
        " ROOT g = s32[] fusion(c), kind=kLoop, calls=twice"
    )
    assert run(body, 0, before=before) == 48
    assert run(body, 1, before=before) == 96
    assert run(body, 5, before=before) == 96  # an index outside takes the last branch


COLLECTIVES: list[tuple[str, Any, Any]] = [
    (
        " ROOT r = s32[2] all-reduce(p), replica_groups={{0,2},{1,3}}, to_apply=add",
        [[0, 1], [10, 11], [20, 21], [30, 31]],
        [[20, 22], [40, 42], [20, 22], [40, 42]],
    ),
    (
        " ROOT r = s32[4] all-gather(p), replica_groups={{2,0},{1,3}}, dimensions={0}",
        [[0, 1], [10, 11], [20, 21], [30, 31]],
        [[20, 21, 0, 1], [10, 11, 30, 31]] * 2,
    ),
    (
        " ROOT r = s32[1] reduce-scatter(p), replica_groups={{0,1},{2,3}}, dimensions={0}, to_apply=add",
        [[0, 1], [10, 11], [20, 21], [30, 31]],
        [[10], [12], [50], [52]],
    ),
    (
        " ROOT r = s32[2] all-to-all(p), replica_groups={{0,1},{2,3}}, dimensions={0}",
        [[0, 1], [10, 11], [20, 21], [30, 31]],
        [[0, 10], [1, 11], [20, 30], [21, 31]],
    ),
    (
        " ROOT r = s32[2] collective-permute(p), source_target_pairs={{0,1},{1,2},{3,3}}",
        [[0, 1], [10, 11], [20, 21], [30, 31]],
        [[0, 0], [0, 1], [10, 11], [30, 31]],
    ),
    (
        " ROOT r = s32[2] collective-broadcast(p), replica_groups={{1,0},{3,2}}",
        [[0, 1], [10, 11], [20, 21], [30, 31]],
        [[10, 11], [10, 11], [30, 31], [30, 31]],
    ),
    (
        " i = u32[] replica-id()\n c = s32[] convert(i)\n b = s32[2] broadcast(c), dimensions={}\n"
        " ROOT r = s32[2] add(p, b)",
        [[0, 1], [10, 11], [20, 21], [30, 31]],
        [[0, 1], [11, 12], [22, 23], [33, 34]],
    ),
    (
        " s = ((s32[2]), s32[2]) async-start(p), calls=wrapped\n u = ((s32[2]), s32[2]) async-update(s)\n"
        " ROOT r = s32[2] async-done(u)",
        [[0, 1], [10, 11], [20, 21], [30, 31]],
        [[60, 64]] * 4,
    ),
    (
        " s = (s32[2], s32[2]) collective-permute-start(p), source_target_pairs={{0,1}}\n"
        " ROOT r = s32[2] collective-permute-done(s)",
        [[0, 1], [10, 11], [20, 21], [30, 31]],
        [[0, 0], [0, 1], [0, 0], [0, 0]],
    ),
]


@pytest.mark.parametrize(("body", "given", "expected"), COLLECTIVES)
def test_collectives_over_four_replicas(body: str, given: list[Any], expected: list[Any]) -> None:
    wrapped = "wrapped {\n q = s32[2] parameter(0)\n ROOT o = s32[2] all-reduce(q), to_apply=add\n}\n"
    found = run(p("s32[2]") + body, *([g] for g in given), before=ADD_S32 + wrapped, replicas=4)
    assert found == expected


def test_groups_name_devices_with_global_ids() -> None:
    groups = "channel_id=1, use_global_device_ids=true, replica_groups={{0,3},{1,2}}"
    body = f" ROOT r = s32[] all-reduce(p), {groups}, to_apply=add"
    assert run(p("s32[]") + body, [1], [2], [4], [8], before=ADD_S32, replicas=2, partitions=2) == [9, 6, 6, 9]


def test_a_group_that_is_too_large_is_not_evaluated() -> None:
    with pytest.raises(NotModelled, match="device 1"):
        run(p("s32[]") + " ROOT r = s32[] all-reduce(p), replica_groups={{0,1}}, to_apply=add", 1, before=ADD_S32)


@pytest.mark.parametrize("inputs", [[], [[1, 2]], [[[1], [2], [3]]], [["a", "b", "c"]], [[1, 2, 3], 4]])
def test_inputs_that_do_not_fit_are_refused(inputs: list[Any]) -> None:
    with pytest.raises(BadArgument):
        run(p("f32[3]") + " ROOT r = f32[3] negate(p)", *inputs)


def test_random_numbers_follow_the_seed() -> None:
    body = " a = f32[] constant(0)\n b = f32[] constant(1)\n ROOT r = f32[9] rng(a, b), distribution=rng_uniform"
    assert run(body, seed=1) == run(body, seed=1) != run(body, seed=2)
    assert all(0 <= v < 1 for v in run(body, seed=3))


def test_data_sent_arrives_at_the_target_of_its_pair() -> None:
    pairs = "channel_id=1, frontend_attributes={_xla_send_recv_source_target_pairs={{0,1},{1,2}}}"
    body = (
        f" t = token[] after-all()\n r = (s32[2], u32[], token[]) recv(t), {pairs}\n"
        f" s = (s32[2], u32[], token[]) send(p, t), {pairs}\n d = (s32[2], token[]) recv-done(r), {pairs}\n"
        f" e = token[] send-done(s), {pairs}\n ROOT g = s32[2] get-tuple-element(d), index=0"
    )
    assert run(p("s32[2]") + body, [[1, 2]], [[3, 4]], [[5, 6]], replicas=3) == [[0, 0], [1, 2], [3, 4]]


HOST = ", is_host_transfer=true"
SENT = (" s = (s32[2], u32[], token[]) send(p, t), channel_id=1{0}\n", " d = token[] send-done(s), channel_id=1{0}\n")
RECEIVED = (
    " r = (s32[2], u32[], token[]) recv(t), channel_id=1{0}\n",
    " q = (s32[2], token[]) recv-done(r), channel_id=1{0}\n",
)


@pytest.mark.parametrize("kind", [HOST, ""], ids=["with the host", "with itself"])
def test_what_the_host_gives_is_not_what_it_was_sent(kind: str) -> None:
    """Neither does it matter which comes first; without a host a device is sent what it has sent before, or nothing is
    known."""
    body = p("s32[2]") + " t = token[] after-all()\n{}{}{}{} ROOT g = s32[2] get-tuple-element(q), index=0"
    first, last = ([*SENT, *RECEIVED], [*RECEIVED, *SENT])
    if kind:
        got = [run(body.format(*some).format(kind), [1, 2]) for some in (first, last)]
        assert got[0] == got[1] != [1, 2]
    else:
        assert run(body.format(*first).format(kind), [1, 2]) == [1, 2]
        with pytest.raises(NotModelled, match="has not yet sent anything"):
            run(body.format(*last).format(kind), [1, 2])


def test_the_angle_of_complex_numbers_whose_squares_cancel_is_no_number() -> None:
    """As the compiler has it; there was a division by zero."""
    body = " a = c64[3] constant({(0,0),(1,0),(0,1)})\n b = c64[3] constant({(0,0),(0,1),(0,1)})\n"
    found = run(body + " ROOT r = c64[3] atan2(a, b)")
    assert [cmath.isnan(z) for z in found] == [True, True, False]
    assert found[2] == pytest.approx(math.pi / 4)


@pytest.mark.parametrize("made", ["iota(), iota_dimension=0", 'custom-call(), custom_call_target="f"'])
def test_what_is_made_of_nothing_has_no_size_that_is_known_at_run_time(made: str) -> None:
    with pytest.raises(NotModelled):
        run(f" ROOT r = s32[<=4] {made}")
