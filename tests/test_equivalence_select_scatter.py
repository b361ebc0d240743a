"""Select-and-scatter expanded to a scatter: proved, held against the interpreter, and neighbours that are not."""

from __future__ import annotations

import random

import pytest

from hloproof.equivalence import decide
from hloproof.equivalence.reading import GraphReader
from hloproof.equivalence.select_scatter import as_scatter
from hloproof.models.hlo.parser import parse_module
from hloproof.models.interpreter.run import run_module

WINDOW = "size=2x3 stride=2x2 pad=0_0x1_1"
SCATTERS = """add {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT r = s32[] add(a, b)
}

last {
  a = s32[] parameter(0)
  ROOT b = s32[] parameter(1)
}

above {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=GE
}
"""


def original(window: str = WINDOW, scatter: str = "add") -> str:
    return (
        f"HloModule m\n\n{SCATTERS}\nENTRY e {{\n  p = s32[4,5] parameter(0)\n  s = s32[2,3] parameter(1)\n"
        "  z = s32[] constant(0)\n"
        f"  ROOT r = s32[4,5] select-and-scatter(p, s, z), window={{{window}}}, select=above, scatter={scatter}\n}}\n"
    )


def expanded(
    window: str = WINDOW,
    scatter: str = "add",
    direction: str = "GE",
    padding: str = "-1",
    start: str = "0",
    order: str = "0,1",
    stays: str = "or(k, n)",
    source: str = "s",
) -> str:
    """What the expander writes, with one thing or another changed."""
    return f"""HloModule m

{SCATTERS}
fold {{
  x = s32[] parameter(0)
  i = s32[] parameter(1)
  j = s32[] parameter(2)
  y = s32[] parameter(3)
  k1 = s32[] parameter(4)
  l1 = s32[] parameter(5)
  ge = pred[] compare(x, y), direction={direction}
  c = s32[] constant({padding})
  a = pred[] compare(i, c), direction=NE
  k = pred[] and(ge, a)
  b = pred[] compare(k1, c), direction=NE
  n = pred[] not(b)
  o = pred[] {stays}
  v = s32[] select(o, x, y)
  w = s32[] select(o, i, k1)
  u = s32[] select(o, j, l1)
  ROOT r = (s32[], s32[], s32[]) tuple(v, w, u)
}}

ENTRY e {{
  p = s32[4,5] parameter(0)
  s = s32[2,3] parameter(1)
  z = s32[] constant({start})
  c = s32[] constant(-1)
  i = s32[4,5] iota(), iota_dimension=0
  j = s32[4,5] iota(), iota_dimension=1
  f = (s32[2,3], s32[2,3], s32[2,3]) reduce-window(p, i, j, z, c, c), window={{{window}}}, to_apply=fold
  g = s32[2,3] get-tuple-element(f), index=1
  h = s32[2,3] get-tuple-element(f), index=2
  k = s32[2,3,1] reshape(g)
  l = s32[2,3,1] reshape(h)
  n = s32[2,3,2] concatenate(k, l), dimensions={{2}}
  o = s32[4,5] broadcast(z), dimensions={{}}
  t = s32[2,3] reverse(s), dimensions={{1}}
  ROOT r = s32[4,5] scatter(o, n, {source}), update_window_dims={{}}, inserted_window_dims={{0,1}},
    scatter_dims_to_operand_dims={{{order}}}, index_vector_dim=2, to_apply={scatter}
}}
""".replace(",\n    scatter_dims", ", scatter_dims")


def verdict(before: str, after: str) -> str:
    return decide(parse_module(before), parse_module(after)).verdict.value


@pytest.mark.parametrize("scatter", ["add", "last"])
def test_it_is_a_scatter(scatter: str) -> None:
    before, after = original(scatter=scatter), expanded(scatter=scatter)
    assert verdict(before, after) == verdict(after, before) == "proved"
    source = random.Random(3)
    for _ in range(20):  # many ties, and numbers below those of the padding
        operand = [[source.randint(-2, 1) for _ in range(5)] for _ in range(4)]
        given = [[source.randint(1, 9) for _ in range(3)] for _ in range(2)]
        assert run_module(parse_module(before), [operand, given]) == run_module(parse_module(after), [operand, given])


def test_that_a_window_of_a_reduction_has_no_order_is_told() -> None:
    """Which of two elements that are equal is selected hangs on the order, which only a select-and-scatter has."""
    told = ("a reduce takes its elements in any order", "exact")
    one, other = parse_module(original()), parse_module(expanded())
    assert told in decide(one, other).axioms and told in decide(other, one).axioms
    assert told not in decide(one, one).axioms and told not in decide(other, other).axioms


@pytest.mark.parametrize(
    "other",
    [
        expanded(direction="GT"),  # of equal elements the last
        expanded(direction="LE"),
        expanded(padding="-2"),  # padding is taken for an element
        expanded(start="1"),
        expanded(order="1,0"),
        expanded(stays="or(ge, n)"),  # the initial value may stay
        expanded(stays="or(k, b)"),
        expanded(source="t"),
        expanded(scatter="last"),
        expanded(window="size=2x3 stride=2x2 pad=0_0x2_0"),
        expanded(window="size=2x3 stride=2x2 pad=0_0x1_1 rhs_reversal=0x1"),  # ties are met in another order
    ],
)
def test_neighbours(other: str) -> None:
    assert verdict(original(), other) == "unknown"


def test_the_order_of_ties_is_kept() -> None:
    """The transposed operand, folded along its own rows first, selects other elements among equal ones."""
    square = original("size=2x2 stride=2x1").replace("s32[2,3]", "s32[2,4]")
    turned = (
        expanded("size=2x2 stride=1x2")
        .replace("s32[2,3", "s32[4,2")
        .replace("p = s32[4,5] parameter(0)\n  s = s32[4,2]", "q = s32[4,5] parameter(0)\n  y = s32[2,4]")
        .replace("s32[4,5] iota", "s32[5,4] iota")
        .replace("o = s32[4,5]", "o = s32[5,4]")
        .replace(
            "  z = s32[] constant(0)\n",
            "  p = s32[5,4] transpose(q), dimensions={1,0}\n"
            "  s = s32[4,2] transpose(y), dimensions={1,0}\n  z = s32[] constant(0)\n",
        )
        .replace("ROOT r = s32[4,5] scatter", "m = s32[5,4] scatter")
    )
    head, tail = turned.rsplit("}", 1)
    turned = head + "  ROOT r = s32[4,5] transpose(m), dimensions={1,0}\n}" + tail
    operand, given = [[0] * 5] * 4, [[1, 2, 3, 4], [5, 6, 7, 8]]
    assert run_module(parse_module(square), [operand, given]) == run_module(parse_module(turned), [operand, given])
    operand = [[1, 0, 1, 0, 1], [0, 1, 0, 1, 0]] * 2
    apart = [[1, 2, 1, 2, 1], [2, 0, 2, 0, 2]] * 2
    ties = [[0, 1, 0, 1, 0], [1, 0, 1, 0, 1]] * 2
    outcomes = [
        run_module(parse_module(square), [x, given]) == run_module(parse_module(turned), [x, given])
        for x in (operand, apart, ties)
    ]
    assert not all(outcomes)
    assert verdict(square, turned) == "unknown"


@pytest.mark.parametrize(
    ("operand", "source", "initial", "result", "sizes", "known"),
    [
        ("s32", "s32", "s32", "s32", (4, 5), True),
        ("s16", "s32", "s32", "s32", (4, 5), False),
        ("s32", "s16", "s32", "s32", (4, 5), False),
        ("s32", "s32", "s16", "s32", (4, 5), False),
        ("s32", "s32", "s32", "s64", (4, 5), False),
        ("s32", "s32", "s32", "s32", (5, 4), False),
    ],
)
def test_what_is_scattered_is_of_the_type_of_what_it_is_scattered_to(
    operand: str, source: str, initial: str, result: str, sizes: tuple[int, ...], known: bool
) -> None:
    """Nothing says where a wider or a narrower number is converted."""
    reader = GraphReader()
    (node,) = reader.read(parse_module(original()), 0).results
    given = [
        reader.graph.node(o.head, type_, o.sizes, o.operands, o.key)
        for o, type_ in zip(node.operands, (operand, source, initial), strict=True)
    ]
    made = reader.graph.node(node.head, result, sizes, given, node.key, node.bodies, node.attributes)
    assert (as_scatter(reader.graph, made) is not None) is known


@pytest.mark.parametrize(("chosen", "known"), [("x", True), ("m", False)])
def test_windows_that_apply_a_function_to_choose_are_no_scatter(chosen: str, known: bool) -> None:
    """Its arguments go by the same names as those of the function that chooses, which are given others."""
    applied = (
        "  v = s32[1] reshape(a)\n  z = s32[] constant(0)\n  x = s32[] copy(a)\n"
        f"  m = s32[] reduce(v, z), dimensions={{0}}, to_apply=last\n  ROOT r = pred[] compare({chosen}, b)"
    )
    text = original().replace("  ROOT r = pred[] compare(a, b)", applied)
    reader = GraphReader()
    (node,) = reader.read(parse_module(text), 0).results
    assert (as_scatter(reader.graph, node) is not None) is known
