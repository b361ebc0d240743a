"""Two modules with calls of libraries: what is run of them, what is one with what, and what refutes nothing."""

from __future__ import annotations

import pytest

from hloproof.models.errors import NotModelled
from hloproof.models.hlo.parser import parse_module
from hloproof.models.interpreter.run import run_module
from hloproof.queries.equivalence import compare

SMALL = ("f32[1,1,3]", "f32[1,1,1]", "f32[1,1,3]")
WIDE = ("f32[1,1,40]", "f32[1,1,1]", "f32[1,1,40]")
MIXED = ("bf16[1,1,40]", "bf16[1,1,1]", "f32[1,1,40]")


def module(body: str, header: str = "") -> str:
    return f"HloModule m{header}\n\nENTRY e {{\n{body}}}\n"


def convolved(
    end: str,
    target: str = "Forward",
    operands: str = "x, w",
    shapes: tuple[str, str, str] = SMALL,
    activation: str = "kNone",
    scale: int = 1,
    side: int = 0,
    beside: str = "",
) -> str:
    """`end` is what becomes of the convolution c, an operation of that name or lines of text."""
    x, w, y = shapes
    config = f'{{"activation_mode":"{activation}","conv_result_scale":{scale},"side_input_scale":{side}}}'
    return module(
        f"  x = {x} parameter(0)\n  w = {w} parameter(1)\n  b = f32[1] parameter(2)\n"
        f"  k = ({y}, u8[0]) custom-call({operands}), window={{size=1}}, dim_labels=bf0_oi0->bf0{beside}, "
        f'custom_call_target="__cudnn$conv{target}", backend_config={{"cudnn_conv_backend_config":{config}}}\n'
        f"  c = {y} get-tuple-element(k), index=0\n" + (f"  ROOT r = {y} {end}(c)\n" if end.isalpha() else end)
    )


def plain(end: str) -> str:
    """The convolution of the opcode, or with a bias and x beside it."""
    return module(
        "  x = f32[1,1,3] parameter(0)\n  w = f32[1,1,1] parameter(1)\n  b = f32[1] parameter(2)\n"
        "  c = f32[1,1,3] convolution(x, w), window={size=1}, dim_labels=bf0_oi0->bf0\n" + end
    )


BIASED = "  bb = f32[1,1,3] broadcast(b), dimensions={1}\n  d = f32[1,1,3] add(c, bb)\n"
TWICE = (
    "  two = f32[] constant(2)\n  tt = f32[1,1,3] broadcast(two), dimensions={}\n  m = f32[1,1,3] multiply(c, tt)\n"
    "  n = f32[1,1,3] negate(m)\n  ROOT r = f32[1,1,3] negate(n)\n"
)
CUT = BIASED + (
    "  z = f32[] constant(0)\n  s = f32[] constant(6)\n  zz = f32[1,1,3] broadcast(z), dimensions={}\n"
    "  ss = f32[1,1,3] broadcast(s), dimensions={}\n  ROOT r = f32[1,1,3] clamp(zz, d, ss)\n"
)


def multiplied(layout: str, end: str, bias: str = "f32[2]", beside: str = "", of_bias: bool = True) -> str:
    numbers = (
        '{"lhs_contracting_dimensions":["1"],"rhs_contracting_dimensions":["0"],"lhs_batch_dimensions":[],'
        '"rhs_batch_dimensions":[]}'
    )
    config = (
        f'{{"alpha_real":1,"beta":0,"dot_dimension_numbers":{numbers},"epilogue":"{"BIAS" if of_bias else "DEFAULT"}"}}'
    )
    return module(
        f"  a = f32[2,2]{{1,0}} parameter(0)\n  b = f32[2,2]{{1,0}} parameter(1)\n  v = {bias} parameter(2)\n"
        f"  c = f32[2,2]{{{layout}}} custom-call(a, b{', v' if of_bias else ''}){beside}, "
        f'custom_call_target="__cublas$lt$matmul", backend_config={{"gemm_backend_config":{config}}}\n'
        f"  ROOT r = f32[2,2]{{{layout}}} {end}(c)\n"
    )


def sharded(order: str, end: str) -> str:
    return module(
        f"  p = f32[4] parameter(0), sharding={{devices=[2]{order}}}\n"
        '  c = f32[2] custom-call(p), custom_call_target="SPMDFullToShardShape", sharding={manual}\n' + end,
        ", num_partitions=2",
    )


EXCHANGED = (
    "  q = f32[2] collective-permute(c), channel_id=1, source_target_pairs={{0,1},{1,0}}\n  n = f32[2] negate(q)\n"
    "  ROOT r = f32[2] abs(n)\n"
)


def activated(end: str, operands: str = "x, w, b", activation: str = "kNone", side: int = 0) -> str:
    return convolved(end, "BiasActivationForward", operands, activation=activation, side=side)


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        (convolved("negate"), convolved("abs"), "refuted"),
        (convolved("negate", shapes=WIDE), convolved("abs", shapes=WIDE), "refuted"),
        # What is not understood is not run, whether in all elements or in classes of them.
        (convolved("negate", side=1), convolved("abs", side=1), "unknown"),
        (convolved("negate", side=1, shapes=WIDE), convolved("abs", side=1, shapes=WIDE), "unknown"),
        (
            convolved("negate", operands="x, w, b", shapes=WIDE),
            convolved("abs", operands="x, w, b", shapes=WIDE),
            "unknown",
        ),
        (convolved("negate", shapes=MIXED), convolved("abs", shapes=MIXED), "unknown"),
        # The configuration is part of what is computed.
        (convolved("copy", scale=2), convolved(TWICE), "unknown"),
        (convolved(CUT), activated("copy", activation="kRelu6"), "unknown"),
        (plain(BIASED + "  ROOT r = f32[1,1,3] copy(d)\n"), activated("copy"), "proved"),
        (plain(BIASED + "  ROOT r = f32[1,1,3] add(d, x)\n"), activated("copy", "x, w, b, x", side=1), "proved"),
        (plain(BIASED + "  ROOT r = f32[1,1,3] add(d, x)\n"), activated("copy", "x, w, b, x, x", side=1), "unknown"),
        (multiplied("1,0", "negate"), multiplied("1,0", "abs"), "refuted"),
        # A bias along another dimension of memory, or of another type, is not known.
        (multiplied("1,0", "negate"), multiplied("0,1", "abs"), "unknown"),
        (multiplied("1,0", "negate", "s32[2]"), multiplied("1,0", "abs", "s32[2]"), "unknown"),
        # What a convolution has a product has not.
        (multiplied("1,0", "negate", of_bias=False), multiplied("1,0", "abs", of_bias=False), "refuted"),
        *(
            (
                multiplied("1,0", "negate", of_bias=False, beside=f", {said}"),
                multiplied("1,0", "abs", of_bias=False, beside=f", {said}"),
                "unknown",
            )
            for said in ("feature_group_count=2", "batch_group_count=2", "window={size=1}", "dim_labels=bf0_oi0->bf0")
        ),
        # Which part of an array a device has is written at the parameter, not at the call.
        (sharded("<=[2]", "  ROOT r = f32[2] abs(c)\n"), sharded("1,0", EXCHANGED), "unknown"),
    ],
)
def test_what_is_run_of_a_call_is_what_it_computes(before: str, after: str, verdict: str) -> None:
    assert compare(parse_module(before), parse_module(after), budget_seconds=5.0).verdict.value == verdict


@pytest.mark.parametrize(
    ("x", "w", "y", "beside"),
    [
        ("f32[1,2,3]", "f32[3,1,1]", "f32[1,3,3]", ", feature_group_count=2"),
        ("f32[1,1,3]", "f32[1,1,1]", "f32[2,1,3]", ""),
    ],
    ids=["features that do not divide", "another batch"],
)
def test_sizes_of_no_convolution_are_not_run(x: str, w: str, y: str, beside: str) -> None:
    with pytest.raises(NotModelled, match="sizes are not those"):
        run_module(parse_module(convolved("copy", shapes=(x, w, y), beside=beside)), None)


WORD = ', frontend_attributes={foo="1"}'
PAIRS = "source_target_pairs={{0,1},{1,0}}"


@pytest.mark.parametrize(
    ("call", "word", "header"),
    [
        ('custom-call(p), custom_call_target="Sharding"', WORD, ""),
        ('custom-call(p), custom_call_target="MoveToHost"', WORD, ""),
        ('custom-call(p), custom_call_target="xla_builder.math.Tan"', WORD, ""),
        ('custom-call(p), custom_call_target="Sharding"', ', statistics={visualizing_index=0,name="n"}', ""),
        (
            f"collective-permute(p), {PAIRS}",
            ", frontend_attributes={_xla_send_recv_validation={{1,2},{1,2}}}",
            ", replica_count=2",
        ),
    ],
)
def test_words_that_one_module_alone_says_refute_nothing(call: str, word: str, header: str) -> None:
    """What the other computes alike was taken for what this one does, and its words were not asked for."""

    def made(said: str, end: str) -> str:
        return module(f"  p = f32[4] parameter(0)\n  c = f32[4] {call}{said}\n  ROOT r = f32[4] {end}(c)\n", header)

    pairs = {(a, b): (made(a, "negate"), made(b, "abs")) for a in ("", word) for b in ("", word)}
    told = {k: compare(parse_module(one), parse_module(two)).verdict.value for k, (one, two) in pairs.items()}
    assert told.pop(("", "")) == "refuted"
    if "statistics" not in word:  # a note, of which nothing is asked
        assert set(told.values()) == {"unknown"}


HIGH = "f32[" + ",".join("2" * 26) + "]"


def test_arrays_of_many_dimensions_are_not_filled_part_by_part() -> None:
    """Dimensions of two elements have no fewer parts: there would be 67 million."""
    before = module(f"  p = {HIGH} parameter(0)\n  ROOT r = {HIGH} sine(p)\n")
    found = compare(parse_module(before), parse_module(before.replace("sine", "cosine")))
    assert found.verdict.value == "unknown" and "are not filled" in found.reason


def test_nor_are_they_for_very_many_devices() -> None:
    before = module("  ROOT r = f32[] constant(1)\n", ", replica_count=200000000")
    found = compare(parse_module(before), parse_module(before.replace("constant(1)", "constant(2)")))
    assert found.verdict.value == "unknown" and "are not filled" in found.reason
