"""Calls of vendors' libraries are run by their meaning: against the sums that they stand for, written out."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Any

import pytest

from hloproof.equivalence import decide
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.parser import parse_module
from hloproof.models.interpreter.run import run_module

CONFIG = '"activation_mode":"{}","conv_result_scale":{},"side_input_scale":{},"leakyrelu_alpha":0'


def _call(shapes: list[str], result: str, window: str, target: str, config: str = CONFIG.format("kNone", 1, 0)) -> str:
    lines = [f"  p{k} = {s} parameter({k})" for k, s in enumerate(shapes)]
    operands = ", ".join(f"p{k}" for k in range(len(shapes)))
    return (
        "HloModule m\n\nENTRY e {\n" + "\n".join(lines) + f"\n  c = ({result}, u8[64]{{0}}) custom-call({operands}), "
        f'window={{{window}}}, dim_labels=bf0_oi0->bf0, custom_call_target="__cudnn$conv{target}", '
        f'backend_config={{"cudnn_conv_backend_config":{{{config}}}}}\n'
        f"  ROOT r = {result} get-tuple-element(c), index=0\n}}\n"
    )


def _numbers(n: int, seed: int) -> list[float]:
    return [float((k * 7 + seed * 3) % 11 - 5) for k in range(n)]


def _nested(flat: list[float], sizes: tuple[int, ...]) -> Any:
    for n in reversed(sizes[1:]):
        flat = [flat[k : k + n] for k in range(0, len(flat), n)]  # type: ignore[misc]
    return flat


def _by_classes(value: Any) -> Any:
    sizes, inner = [], value
    while isinstance(inner, list):
        sizes.append(list(range(len(inner))))
        inner = inner[0]
    return {"starts": sizes, "values": value}


B, I, O, X, K = 2, 3, 2, 7, 3  # noqa: E741
WINDOWS = [(1, 1, 1, 1), (2, 1, 0, 1), (1, 2, 2, 1), (2, 2, 1, 3)]
"""stride, dilation, padding low, padding high"""


@pytest.mark.parametrize(("stride", "dilation", "low", "high"), WINDOWS)
def test_convolutions_and_their_gradients_are_the_sums_that_they_stand_for(
    stride: int, dilation: int, low: int, high: int
) -> None:
    y_size = (X + low + high - (K - 1) * dilation - 1) // stride + 1
    window = f"size={K} stride={stride} pad={low}_{high} rhs_dilate={dilation}"
    x, w, dy = _numbers(B * I * X, 1), _numbers(O * I * K, 2), _numbers(B * O * y_size, 3)
    y_want, dx_want, dw_want = [0.0] * (B * O * y_size), [0.0] * (B * I * X), [0.0] * (O * I * K)
    for b, i, o, y, k in product(range(B), range(I), range(O), range(y_size), range(K)):
        at = y * stride + k * dilation - low
        if 0 <= at < X:
            x_at, w_at, y_at = (b * I + i) * X + at, (o * I + i) * K + k, (b * O + o) * y_size + y
            y_want[y_at] += x[x_at] * w[w_at]
            dx_want[x_at] += dy[y_at] * w[w_at]
            dw_want[w_at] += x[x_at] * dy[y_at]
    x_shape, w_shape, y_shape = f"f32[{B},{I},{X}]", f"f32[{O},{I},{K}]", f"f32[{B},{O},{y_size}]"
    xs, ws, dys = _nested(x, (B, I, X)), _nested(w, (O, I, K)), _nested(dy, (B, O, y_size))
    runs = [
        (_call([x_shape, w_shape], y_shape, window, "Forward"), [xs, ws], _nested(y_want, (B, O, y_size))),
        (_call([y_shape, w_shape], x_shape, window, "BackwardInput"), [dys, ws], _nested(dx_want, (B, I, X))),
        (_call([x_shape, y_shape], w_shape, window, "BackwardFilter"), [xs, dys], _nested(dw_want, (O, I, K))),
    ]
    for text, given, want in runs:
        assert run_module(parse_module(text), given) == want
        assert run_module(parse_module(text), [_by_classes(v) for v in given]) == want


def test_bias_side_input_and_activation() -> None:
    shapes = ["f32[1,1,3]", "f32[2,1,1]", "f32[2]", "f32[1,2,3]"]
    text = _call(shapes, "f32[1,2,3]", "size=1", "BiasActivationForward", CONFIG.format("kRelu", 2, 0.5))
    side = [[[2.0, 2.0, 2.0], [-8.0, 0.0, 8.0]]]
    found = run_module(parse_module(text), [[[[1.0, 2.0, 3.0]]], [[[1.0]], [[-1.0]]], [1.0, 10.0], side])
    assert found == [[[4.0, 6.0, 8.0], [4.0, 6.0, 8.0]]]


GEMM = """HloModule m

ENTRY e {{
  a = f32[2,3]{{1,0}} parameter(0)
  b = f32[4,3]{{1,0}} parameter(1)
  c = f32[{c}]{{{layout}}} parameter(2)
  g = (f32[2,4]{{1,0}}, s8[99]{{0}}) custom-call(a, b, c), custom_call_target="{target}", backend_config={{"gemm_backend_config":{{{config}"dot_dimension_numbers":{{"lhs_contracting_dimensions":["1"],"rhs_contracting_dimensions":["1"],"lhs_batch_dimensions":[],"rhs_batch_dimensions":[]}}}}}}
  ROOT r = {root}
}}
"""  # noqa: E501
FIRST = "f32[2,4]{1,0} get-tuple-element(g), index=0"
A, BB = [[1.0, 2.0, 3.0], [-1.0, 0.0, 1.0]], [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 1.0]]


def test_products_with_a_summand_or_a_bias() -> None:
    text = GEMM.format(
        c="2,4", layout="1,0", target="__cublas$gemm", config='"alpha_real":2,"alpha_imag":0,"beta":1,', root=FIRST
    )
    c = [[1.0] * 4, [10.0] * 4]
    assert run_module(parse_module(text), [A, BB, c]) == [[3.0, 5.0, 7.0, 13.0], [8.0, 10.0, 12.0, 10.0]]
    # A number that the configuration leaves out is 0.
    assert run_module(parse_module(text.replace('"alpha_real":2,', "")), [A, BB, c]) == c
    text = GEMM.format(
        c="4",
        layout="0",
        target="__cublas$lt$matmul",
        config='"alpha_real":1,"beta":0,"epilogue":"BIAS_RELU",',
        root=FIRST,
    )
    assert run_module(parse_module(text), [A, BB, [0.0, -9.0, 1.0, 0.5]]) == [[1, 0, 4, 6.5], [0, 0, 2, 0.5]]


@pytest.mark.parametrize(
    ("config", "root", "said"),
    [
        ('"alpha_real":1,"beta":1,"epilogue":"GELU",', FIRST, "epilogue"),
        ('"alpha_real":1,"beta":1,"who_knows":1,', FIRST, "settings"),
        ('"alpha_real":1,"beta":0,', FIRST, "operands"),
        ('"alpha_real":1,"beta":1,', "s8[99]{0} negate(s)", "not an array"),
    ],
)
def test_what_is_not_understood_whole_is_not_run(config: str, root: str, said: str) -> None:
    """Scratch memory has no value either."""
    text = GEMM.format(c="2,4", layout="1,0", target="__cublas$gemm", config=config, root=root)
    text = text.replace("  ROOT", "  s = s8[99]{0} get-tuple-element(g), index=1\n  ROOT")
    with pytest.raises(NotModelled, match=said):
        run_module(parse_module(text), [A, BB, [[1.0] * 4] * 2])


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ('"beta":1', '"beta":"abc"', "beta is no number"),
        ('"beta":1', '"beta":true', "beta is no number"),
        ('"alpha_real":1', f'"alpha_real":1{"0" * 309}', "more than that"),
        ('"alpha_real":1', '"alpha_real":[1]', "alpha_real is no number"),
        ('"alpha_imag":0', '"alpha_imag":"0"', "alpha_imag is no number"),
        ('"lhs_contracting_dimensions":["1"]', '"lhs_contracting_dimensions":["a"]', "are no numbers"),
        ('"lhs_contracting_dimensions":["1"]', '"lhs_contracting_dimensions":"1"', "are no numbers"),
        ('"lhs_contracting_dimensions":["1"]', '"lhs_contracting_dimensions":[1.5]', "are no numbers"),
        ('"lhs_contracting_dimensions":["1"]', '"lhs_contracting_dimensions":["-1"]', "are no numbers"),
        ('"lhs_contracting_dimensions":["1"]', '"lhs_contracting_dimensions":["7"]', "of these operands"),
        ('"lhs_contracting_dimensions":["1"]', '"lhs_contracting_dimensions":["2"]', "of these operands"),
        ("custom-call(a, b, c)", "custom-call(a)", "of these operands"),
        ('"lhs_contracting_dimensions":["1"]', '"lhs_contracting_dimensions":["1","1"]', "of these operands"),
        ('"lhs_contracting_dimensions":["1"]', '"lhs_contracting_dimensions":[]', "of these operands"),
        ('"lhs_batch_dimensions":[]', '"lhs_batch_dimensions":["0"]', "of these operands"),
        ('"lhs_contracting_dimensions":["1"]', '"lhs_contracting_dimensions":["0"]', "of these operands"),
        ('"lhs_batch_dimensions"', '"foo":1,"lhs_batch_dimensions"', "other settings"),
        ('"lhs_batch_dimensions"', '"lhsBatchDimensions"', "other settings"),
        ('"beta":1', '"beta":1,"precision_config":{"foo":1}', "other settings"),
        ('"beta":1', '"beta":1,"precision_config":5', "other settings"),
    ],
)
def test_numbers_of_a_product_that_are_none_are_not_run(right: str, wrong: str, said: str) -> None:
    config = '"alpha_real":1,"alpha_imag":0,"beta":1,'
    text = GEMM.format(c="2,4", layout="1,0", target="__cublas$gemm", config=config, root=FIRST)
    given = [A, BB, [[1.0] * 4] * 2]
    assert run_module(parse_module(text.replace('["1"]', "[1]")), given) == run_module(parse_module(text), given)
    with pytest.raises(NotModelled, match=said):
        run_module(parse_module(text.replace(right, wrong)), given)


def test_a_summand_of_as_many_elements_is_of_another_size() -> None:
    text = GEMM.format(c="4,2", layout="1,0", target="__cublas$gemm", config='"alpha_real":1,"beta":1,', root=FIRST)
    with pytest.raises(NotModelled, match="another size"):
        run_module(parse_module(text), [A, BB, [[1.0] * 2] * 4])


BATCHED = """HloModule m

ENTRY e {
  a = f32[2,1,2] parameter(0)
  b = f32[2,2,3] parameter(1)
  g = (f32[2,1,3], s8[8]) custom-call(a, b), custom_call_target="__cublas$gemm", backend_config={"gemm_backend_config":{"alpha_real":1,"alpha_imag":0,"beta":0,"dot_dimension_numbers":{"lhs_contracting_dimensions":["2"],"rhs_contracting_dimensions":["1"],"lhs_batch_dimensions":["0"],"rhs_batch_dimensions":["0"]}}}
  ROOT r = f32[2,1,3] get-tuple-element(g), index=0
}
"""  # noqa: E501


def test_products_in_a_batch() -> None:
    a, b = [[[1.0, 2.0]], [[3.0, 4.0]]], [[[1.0, 0.0, 2.0], [0.0, 1.0, 3.0]], [[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]]]
    assert run_module(parse_module(BATCHED), [a, b]) == [[[1.0, 2.0, 8.0]], [[3.0, 7.0, 4.0]]]
    with pytest.raises(NotModelled, match="of these operands"):
        run_module(parse_module(BATCHED.replace("f32[2,1,3]", "f32[1,3,2]")), [a, b])


def test_each_operand_of_a_product_has_its_own_batch() -> None:
    text = (
        BATCHED.replace("f32[2,1,2]", "f32[2,2,2]")
        .replace("f32[2,2,3]", "f32[2,2,2]")
        .replace("f32[2,1,3]", "f32[2,2,2]")
    ).replace('"rhs_contracting_dimensions":["1"]', '"rhs_contracting_dimensions":["2"]')
    text = text.replace('"rhs_batch_dimensions":["0"]', '"rhs_batch_dimensions":["1"]')
    a, b = ([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]], [[[1.0, 0.0], [0.0, 1.0]], [[2.0, 1.0], [1.0, 3.0]]])
    want = [[[sum(a[n][i][k] * b[j][n][k] for k in range(2)) for j in range(2)] for i in range(2)] for n in range(2)]
    assert run_module(parse_module(text), [a, b]) == want


@pytest.mark.parametrize("rows", [1, 3])
def test_what_is_added_to_a_product_is_of_its_size(rows: int) -> None:
    text = GEMM.format(
        c=f"{rows},4", layout="1,0", target="__cublas$gemm", config='"alpha_real":1,"beta":1,', root=FIRST
    )
    with pytest.raises(NotModelled, match="another size"):
        run_module(parse_module(text), [A, BB, [[1.0] * 4] * rows])


def test_dimensions_of_a_product_are_named_once() -> None:
    text = GEMM.format(
        c="2,4", layout="1,0", target="__cublas$gemm", config='"alpha_real":1,"beta":0,', root="f32[2] copy(f)"
    )
    text = text.replace("f32[4,3]", "f32[3,3]").replace("(a, b, c)", "(a, b)").replace("(f32[2,4]{1,0}", "(f32[2]{0}")
    text = text.replace("  ROOT", "  f = f32[2] get-tuple-element(g), index=0\n  ROOT").replace(
        '"lhs_contracting_dimensions":["1"],"rhs_contracting_dimensions":["1"]',
        '"lhs_contracting_dimensions":["1","1"],"rhs_contracting_dimensions":["0","1"]',
    )
    with pytest.raises(NotModelled, match="of these operands"):
        run_module(parse_module(text), [A, [[1.0] * 3] * 3, [[1.0] * 4] * 2])


@pytest.mark.parametrize(("b", "gives"), [("f32[5,4]{1,0}", "f32[2,5]"), ("f32[5,3]{1,0}", "f32[2,4]")])
def test_a_product_is_along_dimensions_of_one_size_and_gives_what_is_left(b: str, gives: str) -> None:
    """Numbers came of sizes that do not fit; so much as the elements went round."""
    text = GEMM.format(
        c="2,4", layout="1,0", target="__cublas$gemm", config='"alpha_real":1,"beta":0,', root="f32[2,4] copy(f)"
    )
    text = text.replace("f32[4,3]{1,0}", b).replace("(a, b, c)", "(a, b)").replace("(f32[2,4]{1,0}", f"({gives}{{1,0}}")
    text = text.replace("  ROOT", f"  f = {gives} get-tuple-element(g), index=0\n  ROOT").replace(
        "f32[2,4] copy", f"{gives} copy"
    )
    rows, columns = int(b[4]), int(b[6])
    with pytest.raises(NotModelled, match="of these operands"):
        run_module(parse_module(text), [A, [[1.0] * columns] * rows, [[1.0] * 4] * 2])


def test_a_bias_needs_a_dimension() -> None:
    text = GEMM.format(
        c="",
        layout="",
        target="__cublas$gemm",
        config='"alpha_real":1,"beta":0,"epilogue":"BIAS",',
        root="f32[] copy(f)",
    )
    text = text.replace("f32[2,3]{1,0}", "f32[3]{0}").replace("f32[4,3]{1,0}", "f32[3]{0}").replace('["1"]', '["0"]')
    text = text.replace("(f32[2,4]{1,0}", "(f32[]").replace(
        "  ROOT", "  f = f32[] get-tuple-element(g), index=0\n  ROOT"
    )
    with pytest.raises(NotModelled, match="bias"):
        run_module(parse_module(text), [[1.0] * 3, [1.0] * 3, 1.0])


def test_a_convolution_needs_two_operands() -> None:
    with pytest.raises(NotModelled, match="of these operands"):
        run_module(parse_module(_call(["f32[1,1,3]"], "f32[1,2,3]", "size=1", "Forward")), [[[[1.0] * 3]]])


@pytest.mark.parametrize(("scale", "side"), [("true", "0"), ("1", '""'), ("1", "null"), ("1", "false")])
def test_nor_are_they_run_where_inputs_are_equal_in_boxes(scale: str, side: str) -> None:
    config = CONFIG.format("kNone", scale, side)
    given = [[[[1.0, 2.0, 3.0]]], [[[1.0]], [[-1.0]]]]
    text = _call(["f32[1,1,3]", "f32[2,1,1]"], "f32[1,2,3]", "size=1", "Forward", config)
    with pytest.raises(NotModelled, match="others than are known"):
        run_module(parse_module(text), [_by_classes(v) for v in given])


SMALL = (["f32[1,1,3]", "f32[2,1,1]"], "f32[1,2,3]", "size=1", "Forward")
SMALL_GIVEN = ([[[1.0, 2.0, 3.0]]], [[[1.0]], [[-1.0]]])


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ('"algorithm":{"foo":1}', '"algorithm":{"algo_id":"1","math_type":"TENSOR_OP_MATH","tuning_knobs":{"2":"3"}}'),
        ('"algorithm":5', '"algorithm":{}'),
        ('"leakyrelu_alpha":"abc"', '"leakyrelu_alpha":0.5'),
        ('"conv_result_scale":true', '"conv_result_scale":1'),
        ('"foo":1', '"side_input_scale":0'),
    ],
)
def test_all_that_is_set_of_a_convolution_is_known(said: str, known: str) -> None:
    """Below the names that are known, too: such a call was proved to be its convolution."""
    sum_of_products = "HloModule m\n\nENTRY e {\n  x = f32[1,1,3] parameter(0)\n  w = f32[2,1,1] parameter(1)\n"
    sum_of_products += "  ROOT c = f32[1,2,3] convolution(x, w), window={size=1}, dim_labels=bf0_oi0->bf0\n}\n"
    scale = "" if "scale" in said else '"conv_result_scale":1,'
    wrong, right = (parse_module(_call(*SMALL, f"{scale}{c}")) for c in (said, known))
    before = parse_module(sum_of_products)
    assert decide(before, right, "real").verdict == "proved"
    assert run_module(right, [*SMALL_GIVEN]) == run_module(before, [*SMALL_GIVEN])
    assert decide(before, wrong, "real").verdict == "unknown"
    for given in (SMALL_GIVEN, tuple(map(_by_classes, SMALL_GIVEN))):
        with pytest.raises(NotModelled, match="others than are known"):
            run_module(wrong, [*given])


def test_a_convolution_times_nothing_is_not_run() -> None:
    """What is left out is 0, and what a library makes of that nobody says."""
    text = _call(*SMALL, '"activation_mode":"kNone"')
    plain = "HloModule m\n\nENTRY e {\n  x = f32[1,1,3] parameter(0)\n  w = f32[2,1,1] parameter(1)\n"
    plain += "  ROOT c = f32[1,2,3] convolution(x, w), window={size=1}, dim_labels=bf0_oi0->bf0\n}\n"
    assert decide(parse_module(plain), parse_module(text), "real").verdict == "unknown"
    for given in (SMALL_GIVEN, tuple(map(_by_classes, SMALL_GIVEN))):
        with pytest.raises(NotModelled, match="times nothing"):
            run_module(parse_module(text), [*given])


def test_a_convolution_times_two_is_run_for_what_it_is_where_inputs_are_equal_in_boxes() -> None:
    twice = parse_module(_call(*SMALL, '"conv_result_scale":2'))
    want = [[[2.0, 4.0, 6.0], [-2.0, -4.0, -6.0]]]
    for given in (SMALL_GIVEN, tuple(map(_by_classes, SMALL_GIVEN))):
        assert run_module(twice, [*given]) == want


@pytest.mark.parametrize(("sizes", "groups"), [(("1,1,5", "1,1,3", "1,1,3"), 2), (("4,4,5", "4,4,1", "4,4,5"), 2)])
def test_a_library_convolution_whose_batch_is_in_groups_is_not_run(sizes: tuple[str, ...], groups: int) -> None:
    """Nothing holds its sizes against the groups; there was a division by zero."""
    x, w, y = (f"f32[{s}]" for s in sizes)
    text = _call([x, w], y, f"size={sizes[1][-1]}", "Forward").replace(
        ", custom_call_target", f", batch_group_count={groups}, custom_call_target"
    )
    with pytest.raises(NotModelled, match="batch is in groups"):
        run_module(parse_module(text), [_nested(_numbers(prod(n), k), n) for k, n in enumerate(map(_sizes, sizes[:2]))])


@pytest.mark.parametrize(
    ("name", "sizes"), [("BackwardInput", ("1,2,3", "2,1,1", "1,2,3")), ("BackwardFilter", ("1,2,3", "1,2,3", "2,1,1"))]
)
def test_the_gradient_of_a_library_convolution_in_groups_is_not_run(name: str, sizes: tuple[str, ...]) -> None:
    one, other, result = (f"f32[{s}]" for s in sizes)
    text = _call([one, other], result, "size=1", name)
    text = text.replace(", custom_call_target", ", feature_group_count=2, custom_call_target")
    with pytest.raises(NotModelled, match="in groups"):
        run_module(parse_module(text), [_nested(_numbers(prod(n), k), n) for k, n in enumerate(map(_sizes, sizes[:2]))])


def test_a_convolution_is_run_where_all_words_beside_it_are_known() -> None:
    text = _call(*SMALL)
    for given in (SMALL_GIVEN, tuple(map(_by_classes, SMALL_GIVEN))):
        for said, known in (("foo", False), ("_xla_compute_type", True)):
            module = parse_module(text.replace(", backend", f', frontend_attributes={{{said}="1"}}, backend'))
            if known:
                assert run_module(module, [*given]) == run_module(parse_module(text), [*SMALL_GIVEN])
            else:
                with pytest.raises(NotModelled, match="foo"):
                    run_module(module, [*given])


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(",")))


def test_a_bias_lies_along_the_last_dimension_in_memory() -> None:
    config = '"alpha_real":1,"beta":0,"epilogue":"BIAS",'
    text = GEMM.format(c="4", layout="0", target="__cublas$lt$matmul", config=config, root=FIRST)
    given = [A, BB, [0.0, -9.0, 1.0, 0.5]]
    assert run_module(parse_module(text), given) == [[1.0, -7.0, 4.0, 6.5], [-1.0, -9.0, 2.0, 0.5]]
    turned = text.replace("(f32[2,4]{1,0}", "(f32[2,4]{0,1}").replace("r = f32[2,4]{1,0}", "r = f32[2,4]{0,1}")
    with pytest.raises(NotModelled, match="bias"):
        run_module(parse_module(turned), given)


@pytest.mark.parametrize("name", ["conv_result_scale", "side_input_scale"])
@pytest.mark.parametrize("wrong", ['"abc"', "1" + "0" * 309, "true", "null"])
def test_numbers_of_a_convolution_that_are_none_are_not_run_nor_matched(name: str, wrong: str) -> None:
    shapes = ["f32[1,1,3]", "f32[2,1,1]", "f32[2]", "f32[1,2,3]"]
    text = _call(shapes, "f32[1,2,3]", "size=1", "BiasActivationForward", CONFIG.format("kRelu", 1, 0.5))
    before = '"conv_result_scale":1' if name == "conv_result_scale" else '"side_input_scale":0.5'
    assert before in text
    planted = parse_module(text.replace(before, f'"{name}":{wrong}'))
    with pytest.raises(NotModelled):
        run_module(planted, [[[[1.0, 2.0, 3.0]]], [[[1.0]], [[-1.0]]], [1.0, 10.0], [[[0.0] * 3] * 2]])
    assert decide(planted, planted, "exact").verdict == "proved"
    for pair in ((planted, parse_module(text)), (parse_module(text), planted)):
        assert decide(*pair, "real").verdict == "unknown"


@pytest.mark.parametrize(
    ("said", "silent", "named"),
    [
        ('backend_config={"foo":"1",', 'backend_config={"operationQueueId":"1",', "more than that"),
        ("literal=s32[] 1, backend_config={", "schedule=SCHEDULE_LATEST, backend_config={", "literal"),
        ('frontend_attributes={foo="1"}, backend_config={', "frontend_attributes={}, backend_config={", "foo"),
    ],
)
def test_what_is_written_beside_a_call_is_read_by_a_table(said: str, silent: str, named: str) -> None:
    config = '"alpha_real":1,"beta":1,'
    text = GEMM.format(c="2,4", layout="1,0", target="__cublas$gemm", config=config, root=FIRST)
    given = [A, BB, [[1.0] * 4] * 2]
    assert run_module(parse_module(text.replace("backend_config={", silent)), given) == run_module(
        parse_module(text), given
    )
    with pytest.raises(NotModelled, match=named):
        run_module(parse_module(text.replace("backend_config={", said)), given)


def test_a_bitcast_between_widths_keeps_the_bytes() -> None:
    module = parse_module(
        "HloModule m\n\nENTRY e {\n  p = s32[2,3]{0,1} parameter(0)\n  ROOT b = s8[2,3,4]{2,0,1} bitcast(p)\n}\n"
    )
    given = [[0x04030201, 2, 3], [5, -1, 256]]
    bytes_of = [[[v >> 8 * k & 255 for k in range(4)] for v in row] for row in given]
    want = [[[v - 256 if v > 127 else v for v in four] for four in row] for row in bytes_of]
    assert run_module(module, [given]) == want
    back = parse_module(
        "HloModule m\n\nENTRY e {\n  p = s8[2,3,4]{2,0,1} parameter(0)\n  ROOT b = s32[2,3]{0,1} bitcast(p)\n}\n"
    )
    assert run_module(back, [want]) == given
