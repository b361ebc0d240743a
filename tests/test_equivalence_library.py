"""Calls of cuDNN as `equiv` takes them: element by element what the executable path computes, whatever the window."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from test_equivalence_elements import element
from test_interpreter_library_calls import CONFIG, WINDOWS, K, _call, _nested, _numbers

from hloproof.equivalence.decide import decide
from hloproof.equivalence.graph import Node
from hloproof.equivalence.indices import constant
from hloproof.equivalence.library import call
from hloproof.equivalence.reading import GraphReader
from hloproof.equivalence.terms import App, Elem, Fold, Term
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.parser import parse_module
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.interpreter.run import run_module

X = 7


def values(text: str, given: list[Any]) -> None:
    """Every element of the result, by the table of calls and as it is run."""
    module = parse_module(text)
    (node,) = GraphReader().read(module, 0).results
    expected = run_module(module, given)
    for at in product(*map(range, node.sizes)):
        value = expected
        for i in at:
            value = value[i]
        assert element(_term(node, at), given) == value, at


def _term(node: Node, at: tuple[int, ...]) -> Term:
    found = call(Elem(node, tuple(constant(i) for i in at)), 0)
    assert found is not None
    return found[1]


@pytest.mark.parametrize("reversal", [0, 1])
@pytest.mark.parametrize(("stride", "dilation", "low", "high"), WINDOWS)
@pytest.mark.parametrize("kind", ["Forward", "BackwardInput", "BackwardFilter"])
def test_convolutions_and_their_gradients(
    kind: str, stride: int, dilation: int, low: int, high: int, reversal: int
) -> None:
    if reversal and kind == "BackwardFilter":
        pytest.skip("not run: the gradient by a mirrored kernel")
    y = (X + low + high - (K - 1) * dilation - 1) // stride + 1
    window = f"size={K} stride={stride} pad={low}_{high} rhs_dilate={dilation} rhs_reversal={reversal}"
    shapes = {"x": (2, 2, X), "w": (3, 2, K), "y": (2, 3, y)}
    first, second, out = {"Forward": tuple("xwy"), "BackwardInput": tuple("ywx"), "BackwardFilter": tuple("xyw")}[kind]
    texts = [f"f32[{','.join(map(str, shapes[s]))}]" for s in (first, second, out)]
    text = _call(texts[:2], texts[2], window, kind)
    given = []
    for k, s in enumerate((first, second)):
        a, b, c = shapes[s]
        given.append(_nested(_numbers(a * b * c, k + 1), shapes[s]))
    values(text, given)


def test_bias_side_input_and_activation() -> None:
    shapes = ["f32[1,1,3]", "f32[2,1,1]", "f32[2]", "f32[1,2,3]"]
    text = _call(shapes, "f32[1,2,3]", "size=1", "BiasActivationForward", CONFIG.format("kRelu", 1, 0.5))
    module = parse_module(text)
    assert all(isinstance(p.shape, ArrayShape) for p in module.entry.parameters)
    side = [[[2.0, 2.0, 2.0], [-8.0, 0.0, 8.0]]]
    values(text, [[[[1.0, 2.0, 3.0]]], [[[1.0]], [[-1.0]]], [1.0, 10.0], side])


@pytest.mark.parametrize(
    ("config", "more"),
    [
        (CONFIG.format("kNone", 2, 0), ""),
        (CONFIG.format("kRelu6", 1, 0), ""),
        (CONFIG.format("kNone", 1, 1), ""),
        (CONFIG.format("kNone", 1, 0) + ',"unheard_of":1', ""),
        (CONFIG.format("kNone", 1, 0), ", batch_group_count=2"),
    ],
)
def test_what_is_not_understood_whole_is_opaque(config: str, more: str) -> None:
    text = _call(["f32[2,2,7]", "f32[3,2,3]"], "f32[2,3,5]", "size=3", "Forward", config)
    module = parse_module(text.replace(", dim_labels", f"{more}, dim_labels"))
    (node,) = GraphReader().read(module, 0).results
    assert isinstance(node, Node) and call(Elem(node, tuple(constant(0) for _ in node.sizes)), 0) is None


def _gradient(reverse: bool) -> str:
    """The gradient by the filter as an operation of HLO, or its mirror image."""
    return (
        "HloModule m\n\nENTRY e {\n  p0 = f32[2,2,7] parameter(0)\n  p1 = f32[2,3,5] parameter(1)\n"
        "  c = f32[3,2,3] convolution(p0, p1), window={size=5}, dim_labels=fb0_io0->fb0\n"
        f"  ROOT r = f32[3,2,3] {'reverse(c), dimensions={2}' if reverse else 'copy(c)'}\n}}\n"
    )


@pytest.mark.parametrize("reversal", [0, 1])
def test_the_gradient_by_a_mirrored_kernel_is_mirrored(reversal: int) -> None:
    """It is not run, so that it is compared with an operation."""
    text = _call(["f32[2,2,7]", "f32[2,3,5]"], "f32[3,2,3]", f"size=3 rhs_reversal={reversal}", "BackwardFilter")
    for reverse in (False, True):
        found = decide(parse_module(text), parse_module(_gradient(reverse)), "rounding", 5.0).verdict
        assert (found == "proved") is (reverse == bool(reversal)), (found, reverse)


def test_three_operands_of_a_plain_convolution_are_opaque() -> None:
    shapes = ["f32[2,2,7]", "f32[3,2,3]", "f32[3]"]
    for given, known in ((shapes, False), (shapes[:2], True)):
        (node,) = GraphReader().read(parse_module(_call(given, "f32[2,3,5]", "size=3", "Forward")), 0).results
        assert (call(Elem(node, tuple(constant(0) for _ in node.sizes)), 0) is not None) is known


def test_the_precision_of_a_call_is_that_of_its_contraction() -> None:
    """Over real numbers it is told that factors are not rounded: one of another precision is another contraction."""
    plain = _call(["f32[2,2,7]", "f32[3,2,3]"], "f32[2,3,5]", "size=3", "Forward")
    precise = plain.replace(", dim_labels", ", operand_precision={highest,highest}, dim_labels")
    heads = set()
    for text in (plain, precise):
        (node,) = GraphReader().read(parse_module(text), 0).results
        term = _term(node, (0, 0, 0))
        assert isinstance(term, Fold)
        heads.add(term.head)
    assert len(heads) == 2


@pytest.mark.parametrize(
    ("activation", "known"),
    [
        ("kNone", True),
        ("kRelu", True),
        *((name, False) for name in ("kLeakyRelu", "kElu", "kRelu6", "kReluX", "kSigmoid", "kTanh", "kBandPass")),
    ],
)
def test_an_activation_that_is_not_in_the_table_makes_a_call_opaque(activation: str, known: bool) -> None:
    config = CONFIG.format(activation, 1, 0)
    text = _call(["f32[1,1,3]", "f32[2,1,1]", "f32[2]"], "f32[1,2,3]", "size=1", "BiasActivationForward", config)
    (node,) = GraphReader().read(parse_module(text), 0).results
    assert (call(Elem(node, tuple(constant(0) for _ in node.sizes)), 0) is not None) is known


@pytest.mark.parametrize(("spread", "y", "known"), [(1, 5, True), (2, 11, False)])
def test_a_gradient_by_an_input_that_is_spread_is_opaque(spread: int, y: int, known: bool) -> None:
    """The gradient by it reads every second place of what the formula gives."""
    text = _call([f"f32[2,3,{y}]", "f32[3,2,3]"], "f32[2,2,7]", f"size=3 lhs_dilate={spread}", "BackwardInput")
    (node,) = GraphReader().read(parse_module(text), 0).results
    assert (call(Elem(node, tuple(constant(0) for _ in node.sizes)), 0) is not None) is known


@pytest.mark.parametrize(
    ("kind", "shapes", "result", "alone", "known"),
    [
        ("Forward", ["f32[2,4,7]", "f32[4,2,3]"], "f32[2,4,5]", "f32[4,4,3]", True),
        ("BackwardInput", ["f32[2,4,5]", "f32[4,2,3]"], "f32[2,4,7]", "f32[4,4,3]", False),
        ("BackwardFilter", ["f32[2,4,7]", "f32[2,4,5]"], "f32[4,2,3]", "f32[4,4,3]", False),
    ],
)
def test_gradients_of_groups_are_opaque(kind: str, shapes: list[str], result: str, alone: str, known: bool) -> None:
    """What the formulas say of the gradients is said of one group."""
    grouped = _call(shapes, result, "size=3", kind).replace(", dim_labels", ", feature_group_count=2, dim_labels")
    whole = [alone if x == "f32[4,2,3]" else x for x in (*shapes, result)]
    for text, understood in ((grouped, known), (_call(whole[:2], whole[2], "size=3", kind), True)):
        (node,) = GraphReader().read(parse_module(text), 0).results
        assert (call(Elem(node, tuple(constant(0) for _ in node.sizes)), 0) is not None) is understood


@pytest.mark.parametrize(
    ("kind", "shapes", "result"),
    [
        ("Forward", ["f32[2,2,7]", "f32[3,2,3]"], "f32[2,3,6]"),
        ("Forward", ["f32[2,2,7]", "f32[3,2,4]"], "f32[2,3,5]"),
        ("Forward", ["f32[2,3,7]", "f32[3,2,3]"], "f32[2,3,5]"),
        ("BackwardInput", ["f32[2,2,7]", "f32[3,2,3]"], "f32[2,3,5]"),
        ("BackwardFilter", ["f32[2,2,7]", "f32[3,2,3]"], "f32[2,3,5]"),
    ],
)
def test_a_call_whose_sizes_do_not_fit_is_opaque_and_not_run(kind: str, shapes: list[str], result: str) -> None:
    module = parse_module(_call(shapes, result, "size=3", kind))
    (node,) = GraphReader().read(module, 0).results
    assert isinstance(node, Node) and call(Elem(node, tuple(constant(0) for _ in node.sizes)), 0) is None
    with pytest.raises(NotModelled, match="sizes are not those"):
        run_module(module, None)


@pytest.mark.parametrize(
    ("changed", "shape"),
    [
        (2, "f32[1]"),
        (2, "f32[3]"),
        (2, "f32[1,2]"),
        (2, "f32[]"),
        (3, "f32[1,2,1]"),
        (3, "f32[2,3]"),
        (2, "f16[2]"),
        (3, "s8[1,2,3]"),
        (1, "f16[2,1,1]"),
        (0, "f32[1,1,3]"),
    ],
)
def test_bias_and_side_input_are_of_the_sizes_and_the_type_of_the_result(changed: int, shape: str) -> None:
    """What a library makes of others is not known; the last row changes nothing."""
    shapes = ["f32[1,1,3]", "f32[2,1,1]", "f32[2]", "f32[1,2,3]"]
    given = [shape if k == changed else s for k, s in enumerate(shapes)]
    module = parse_module(_call(given, "f32[1,2,3]", "size=1", "BiasActivationForward", CONFIG.format("kNone", 1, 1)))
    (node,) = GraphReader().read(module, 0).results
    found = call(Elem(node, tuple(constant(0) for _ in node.sizes)), 0)
    assert (found is not None) is (given == shapes)
    if given != shapes and shape.startswith("f32"):
        with pytest.raises(NotModelled, match="sizes are not those"):
            run_module(module, None)


def test_an_activation_is_an_operation_of_its_own() -> None:
    shapes = ["f32[1,1,3]", "f32[2,1,1]", "f32[2]"]
    text = _call(shapes, "f32[1,2,3]", "size=1", "BiasActivationForward", CONFIG.format("kRelu", 1, 0))
    (node,) = GraphReader().read(parse_module(text), 0).results
    term = _term(node, (0, 0, 0))
    assert isinstance(term, App) and term.op == "maximum"


@pytest.mark.parametrize("kind", ["token[]", "b(f32[1,1,3])", "opaque[]"])
def test_a_call_whose_result_is_no_array_is_opaque(kind: str) -> None:
    """The compiler takes any shape of a call; there was an internal error."""
    scaled = [
        _call(["f32[1,1,3]", "f32[1,1,1]"], kind, "size=1", "Forward", CONFIG.format("kNone", n, 0)) for n in (1, 2)
    ]
    one, two = (parse_module(text) for text in scaled)
    assert decide(one, one).verdict.value == "proved"
    assert decide(one, two).verdict.value == "unknown"
