"""Top-k in its three forms, and sorts that lose operands: what is proved, and neighbours that must not be."""

from __future__ import annotations

import pytest
from red_pairs import entry, proved, unproved

from hloproof.equivalence import decide
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.parser import parse_module
from hloproof.models.interpreter.run import run_module
from hloproof.queries.equivalence import compare


def order(name: str, direction: str, more: str = ", type=TOTALORDER", type_: str = "f32") -> str:
    """A comparator of the first of two operands."""
    return f"""{name} {{
  a = {type_}[] parameter(0)
  b = {type_}[] parameter(1)
  c = s32[] parameter(2)
  d = s32[] parameter(3)
  ROOT r = pred[] compare(a, b), direction={direction}{more}
}}
"""


BITS = """bits {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = s32[] parameter(2)
  d = s32[] parameter(3)
  z = s32[] constant(0)
  t = s32[] constant(2147483647)
  x = s32[] bitcast-convert(a)
  n = pred[] compare(x, z), direction=LT
  u = s32[] xor(t, x)
  v = s32[] select(n, u, x)
  y = s32[] bitcast-convert(b)
  m = pred[] compare(y, z), direction=LT
  w = s32[] xor(t, y)
  s = s32[] select(m, w, y)
  ROOT r = pred[] compare(v, s), direction=GT
}
"""
RESULT = "(f32[2,3], s32[2,3])"


def top(largest: str = "true", k: int = 3) -> str:
    result = f"(f32[2,{k}], s32[2,{k}])"
    line = f"  ROOT r = {result} topk(p), k={k}, largest={largest}\n"
    return "HloModule m\n\nENTRY e {\n  p = f32[2,5] parameter(0)\n" + line + "}\n"


def call(comparator: str, name: str) -> str:
    return (
        f"HloModule m\n\n{comparator}\nENTRY e {{\n  p = f32[2,5] parameter(0)\n  ROOT r = {RESULT} custom-call(p), "
        f'custom_call_target="TopK", called_computations={{{name}}}\n}}\n'
    )


def by_sort(
    comparator: str, name: str, stable: str = ", is_stable=true", part: str = "0:3", counted: int = 1, sorted_: int = 1
) -> str:
    return f"""HloModule m

{comparator}
ENTRY e {{
  p = f32[2,5] parameter(0)
  i = s32[2,5] iota(), iota_dimension={counted}
  s = (f32[2,5], s32[2,5]) sort(p, i), dimensions={{{sorted_}}}{stable}, to_apply={name}
  a = f32[2,5] get-tuple-element(s), index=0
  b = s32[2,5] get-tuple-element(s), index=1
  c = f32[2,3] slice(a), slice={{[0:2], [{part}]}}
  d = s32[2,3] slice(b), slice={{[0:2], [{part}]}}
  ROOT r = {RESULT} tuple(c, d)
}}
"""


GT, LT, PLAIN = order("gt", "GT"), order("lt", "LT"), order("plain", "GT", "")
SOUND = [
    (top(), by_sort(GT, "gt")),
    (by_sort(GT, "gt"), top()),
    (top("false"), by_sort(LT, "lt")),
    (by_sort(GT, "gt"), call(GT, "gt")),
    (top(), call(GT, "gt")),
    (top(), call(BITS, "bits")),
    (by_sort(BITS, "bits"), call(BITS, "bits")),
    (by_sort(GT, "gt"), by_sort(BITS, "bits")),
]
OF_TWO = GT.replace("  c = s32[] parameter(2)\n  d = s32[] parameter(3)\n", "")
OF_THREE = GT.replace("  d = s32[] parameter(3)\n", "")
OF_FLOATS = GT.replace("s32[]", "f32[]")
OF_ONES = OF_TWO.replace("f32[] parameter", "f32[1] parameter").replace(
    "ROOT r = pred[] compare(a, b)", "x = f32[] reshape(a)\n  y = f32[] reshape(b)\n  ROOT r = pred[] compare(x, y)"
)
BY_POSITION = """  t = pred[] compare(a, b), direction=GT, type=TOTALORDER
  u = pred[] compare(b, a), direction=GT, type=TOTALORDER
  x = pred[] or(t, u)
  y = pred[] compare(c, d), direction={}
  ROOT r = pred[] select(x, t, y)
"""
LATER_LAST, LATER_FIRST = (
    GT.replace("  ROOT r = pred[] compare(a, b), direction=GT, type=TOTALORDER\n", BY_POSITION.format(d))
    for d in ("LT", "GT")
)
OF_LINES = OF_THREE.replace("c = s32[] parameter(2)", "c = s32[2] parameter(2)")
ALWAYS = """always {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] constant(true)
}
"""
UNSOUND = [
    (top(), by_sort(LT, "lt")),  # ascending
    (top("false"), by_sort(GT, "gt")),
    (top(), by_sort(PLAIN, "plain")),  # of -0.0 and 0.0, and of NaN, another order
    (top(), by_sort(GT, "gt", "")),  # ties in any order
    (top(), by_sort(GT, "gt", part="1:4")),
    (top(), by_sort(GT, "gt", part="2:5")),
    (top(), by_sort(GT, "gt", counted=0)),  # counts lines, not positions
    (top(), by_sort(GT, "gt", sorted_=0)),
    (top(), call(LT, "lt")),  # the library's call sorts downwards whatever it is told
    (by_sort(LT, "lt"), call(LT, "lt")),
    (by_sort(PLAIN, "plain"), call(PLAIN, "plain")),
    (call(GT, "gt"), call(GT, "gt").replace('"TopK"', '"TopKInt"')),
]


def verdict(before: str, after: str) -> str:
    return decide(parse_module(before), parse_module(after)).verdict.value


@pytest.mark.parametrize(("before", "after"), SOUND)
def test_proved(before: str, after: str) -> None:
    assert verdict(before, after) == "proved"


@pytest.mark.parametrize(("before", "after"), UNSOUND)
def test_not_proved(before: str, after: str) -> None:
    assert verdict(before, after) == "unknown"


OTHER_ORDERS = [LT, PLAIN, OF_THREE, OF_FLOATS, OF_ONES, OF_LINES, ALWAYS, LATER_FIRST, GT + LT.replace("lt {", "x {")]


@pytest.mark.parametrize("comparator", OTHER_ORDERS)
def test_a_call_that_is_told_another_order_is_not_run(comparator: str) -> None:
    """It sorts downwards, or as it is told: nobody says which, and neither refutes."""
    name = comparator.split()[0]
    told = parse_module(call(comparator, f"{name}, x" if "x {" in comparator else name))
    given = [[[1.0, -0.0, 0.0, 2.0, 1.0], [5.0, 4.0, 3.0, 2.0, 1.0]]]
    with pytest.raises(NotModelled, match="TopK"):
        run_module(told, given)
    if comparator == LT:
        for other in map(parse_module, (top(), top("false"))):
            assert compare(other, told).verdict == compare(told, other).verdict == "unknown"


@pytest.mark.parametrize(
    "shape", ["f32[2,3]", "(f32[],s32[])", "(f32[2,3],s32[2,3],s32[])", "(s32[2,3],s32[2,3])", "(f32[3,2],s32[3,2])",
              "(f32[2,9],s32[2,9])", "(f32[2,3],s32[2,2])", "(f32[2,3],s32[3])", "()", "(f32[2,3],f32[2,3])",
              "(f32[2,3],s64[2,3])", "(f32[2,3],s32[2,3],s32[2,3])", "(f32[2,3],u8[2,3])"]
)  # fmt: skip
def test_a_call_whose_results_have_other_shapes_is_not_run(shape: str) -> None:
    text = call(GT, "gt").replace(RESULT, shape)
    with pytest.raises(NotModelled):
        run_module(parse_module(text), [[[1.0, -0.0, 0.0, 2.0, 1.0], [5.0, 4.0, 3.0, 2.0, 1.0]]])


@pytest.mark.parametrize("type_", ["c64", "c128"])
def test_complex_numbers_have_no_order(type_: str) -> None:
    """There was an error of Python's."""
    text = f"HloModule m\n\nENTRY e {{\n  p = {type_}[2] parameter(0)\n  q = {type_}[2] parameter(1)\n"
    given = [[[1.0, 2.0], [1.0, 0.0]]] * 2
    for direction in ("EQ", "NE"):
        equal = parse_module(f"{text}  ROOT r = pred[2] compare(p, q), direction={direction}\n}}\n")
        assert run_module(equal, given) == [direction == "EQ"] * 2
    first = f"(  ROOT r = ({type_}[1], s32[1]) topk(p), k=1, largest=true\n}}\n"[1:]
    for ordered in ("  ROOT r = pred[2] compare(p, q), direction=GT\n}\n", first):
        for semantics in ("real", "hashed"):
            with pytest.raises(NotModelled):
                run_module(parse_module(text + ordered), given, semantics=semantics)


@pytest.mark.parametrize("folded", ["reduce(p, z), dimensions={0}", "reduce-window(p, z), window={size=2}"])
def test_sums_of_complex_numbers_have_no_largest(folded: str) -> None:
    """There was an error of Python's where these are told apart by numbers."""
    gives = "c64[]" if folded.startswith("reduce(") else "c64[1]"
    start = "c {{\n  a = c64[] parameter(0)\n  b = c64[] parameter(1)\n  ROOT r = c64[] {}(a, b)\n}}\n"
    rest = "ENTRY e {\n  p = c64[2] parameter(0)\n  z = c64[] constant((0,0))\n"
    rest += f"  ROOT r = {gives} {folded}, to_apply=c\n}}\n"
    one, two = (f"HloModule m\n\n{start.format(op)}{rest}" for op in ("maximum", "minimum"))
    assert verdict(one, two) == "unknown"
    assert verdict(one, one) == "proved"


@pytest.mark.parametrize(("comparator", "name"), [(GT, "gt"), (BITS, "bits"), (OF_TWO, "gt"), (LATER_LAST, "gt")])
def test_a_call_that_is_told_the_descending_order_is_run(comparator: str, name: str) -> None:
    told = parse_module(call(comparator, name))
    given = [[[1.0, -0.0, 0.0, 2.0, 1.0], [5.0, 4.0, 3.0, 2.0, 1.0]]]
    assert run_module(told, given) == run_module(parse_module(top()), given)
    assert compare(parse_module(top("false")), told).verdict == "refuted"


def lines(comparator: str, name: str, operands: str, results: int, root: int, stable: str = ", is_stable=true") -> str:
    shape = ", ".join(["f32[4]", "s32[4]", "f32[4]"][:results])
    sort = f"sort({operands}), dimensions={{0}}{stable}, to_apply={name}"
    body = (
        f"  ROOT r = f32[4] {sort}\n"
        if results == 1
        else f"  s = ({shape}) {sort}\n  ROOT r = {['f32', 's32', 'f32'][root]}[4] get-tuple-element(s), index={root}\n"
    )
    return (
        f"HloModule m\n\n{comparator}\nENTRY e {{\n  p = f32[4] parameter(0)\n  i = s32[4] parameter(1)\n"
        f"  q = f32[4] parameter(2)\n{body}}}\n"
    )


def comparator(name: str, count: int, compared: int, direction: str, more: str = "") -> str:
    types = ["f32", "s32", "f32"]
    args = "".join(f"  a{n} = {types[n // 2]}[] parameter({n})\n" for n in range(2 * count))
    pair = f"a{2 * compared}, a{2 * compared + 1}"
    return f"{name} {{\n{args}  ROOT r = pred[] compare({pair}), direction={direction}{more}\n}}\n"


TOTAL = ", type=TOTALORDER"
ONE, TWO, THREE = (comparator("f", n, 0, "LT", TOTAL) for n in (1, 2, 3))
LOSING = [
    (lines(THREE, "f", "p, i, q", 3, 0), lines(ONE, "f", "p", 1, 0), True),
    (lines(THREE, "f", "p, i, q", 3, 1), lines(TWO, "f", "p, i", 2, 1), True),
    (lines(comparator("f", 2, 0, "LT"), "f", "p, i", 2, 0), lines(comparator("f", 1, 0, "LT"), "f", "p", 1, 0), True),
    # The values are bound by the total order alone, the others by stability.
    (lines(TWO, "f", "p, i", 2, 0, ""), lines(ONE, "f", "p", 1, 0), True),
    (lines(TWO, "f", "p, i", 2, 1, ""), lines(TWO, "f", "p, i", 2, 1), False),
    (
        lines(comparator("f", 2, 0, "LT"), "f", "p, i", 2, 0, ""),
        lines(comparator("f", 1, 0, "LT"), "f", "p", 1, 0),
        False,
    ),
    (
        lines(comparator("f", 2, 0, "LE"), "f", "p, i", 2, 0, ""),
        lines(comparator("f", 1, 0, "LE"), "f", "p", 1, 0),
        False,
    ),
    # Where neither is stable, the second operand may decide which of -0 and 0 comes first.
    (
        lines(comparator("f", 2, 0, "LT"), "f", "p, i", 2, 0, ""),
        lines(comparator("f", 1, 0, "LT"), "f", "p", 1, 0, ""),
        False,
    ),
    # An operand that the comparator reads cannot go.
    (lines(comparator("f", 2, 1, "LT"), "f", "p, i", 2, 0), lines(ONE, "f", "p", 1, 0), False),
    (lines(THREE, "f", "p, i, q", 3, 0), lines(ONE, "f", "q", 1, 0), False),
    (lines(THREE, "f", "p, i, q", 3, 2), lines(ONE, "f", "q", 1, 0), False),
    (lines(TWO, "f", "p, i", 2, 0), lines(comparator("f", 1, 0, "GT", TOTAL), "f", "p", 1, 0), False),
]


@pytest.mark.parametrize(("before", "after", "equal"), LOSING)
def test_operands_that_play_no_part(before: str, after: str, equal: bool) -> None:
    assert verdict(before, after) == ("proved" if equal else "unknown")


def test_a_comparator_that_applies_a_function_keeps_its_arguments() -> None:
    """The arguments of what it applies go by the names of its own."""

    def ordered_by(compared: str, operands: str, root: int) -> str:
        return f"""HloModule m

add {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}}

f {{
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  c = f32[] parameter(2)
  d = f32[] parameter(3)
  z = f32[] constant(0)
  e = f32[2] broadcast(c), dimensions={{}}
  g = f32[] reduce(e, z), dimensions={{0}}, to_apply=add
  h = f32[2] broadcast(d), dimensions={{}}
  i = f32[] reduce(h, z), dimensions={{0}}, to_apply=add
  ROOT r = pred[] compare({compared}), direction=LT
}}

ENTRY e {{
  k = s32[4] parameter(0)
  x = f32[4] parameter(1)
  y = f32[4] parameter(2)
  s = (s32[4], f32[4]) sort({operands}), dimensions={{0}}, is_stable=true, to_apply=f
  ROOT r = f32[4] get-tuple-element(s), index={root}
}}
"""

    assert verdict(ordered_by("g, i", "k, x", 1), ordered_by("g, i", "k, x", 1)) == "proved"
    assert verdict(ordered_by("g, i", "k, x", 1), ordered_by("i, g", "k, x", 1)) == "unknown"
    assert verdict(ordered_by("g, i", "k, x", 1), ordered_by("g, i", "k, y", 1)) == "unknown"


def by_function(alone: bool, kept: str) -> str:
    """The second operand, sorted by what a reduce keeps of two of its elements: what it starts from (a, b), or what it
    meets (c, d); with the first operand beside it or alone."""
    beside = "" if alone else "  a0 = f32[] parameter(0)\n  b0 = f32[] parameter(1)\n"
    first = 0 if alone else 2
    line = (
        "ROOT r = s32[4] sort(q), dimensions={0}, is_stable=true, to_apply=less"
        if alone
        else "t = (f32[4], s32[4]) sort(p, q), dimensions={0}, is_stable=true, to_apply=less\n"
        "  ROOT r = s32[4] get-tuple-element(t), index=1"
    )
    return f"""HloModule m

keep {{
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  c = s32[] parameter(2)
  d = s32[] parameter(3)
  ROOT r = (s32[], s32[]) tuple({kept})
}}

less {{
{beside}  x = s32[] parameter({first})
  y = s32[] parameter({first + 1})
  v = s32[1] reshape(x)
  w = s32[1] reshape(y)
  z = s32[] constant(0)
  k = (s32[], s32[]) reduce(v, w, z, z), dimensions={{0}}, to_apply=keep
  m = s32[] get-tuple-element(k), index=0
  n = s32[] get-tuple-element(k), index=1
  ROOT r = pred[] compare(m, n), direction=LT
}}

ENTRY e {{
  p = f32[4] parameter(0)
  q = s32[4] parameter(1)
  {line}
}}
"""


def test_the_arguments_of_functions_that_a_comparator_applies_keep_their_names() -> None:
    """Those of the comparator are counted anew where an operand is left out; those of what it applies are others."""
    before, after = by_function(False, "c, d"), by_function(True, "a, b")
    given = [[0.0] * 4, [3, 1, 2, 0]]
    assert run_module(parse_module(before), given) == [0, 1, 2, 3]
    assert run_module(parse_module(after), given) == given[1]
    assert decide(parse_module(before), parse_module(after)).verdict == "unknown"
    assert decide(parse_module(before), parse_module(before)).verdict == "proved"


@pytest.mark.parametrize("direction", ["GT", "GE", "EQ", "NE"])
def test_among_truth_values_an_order_is_not_another(direction: str) -> None:
    """0 and -0 are one number, and two in a total order."""

    def made(more: str, turned: bool) -> str:
        return entry(
            "x = f32[] parameter(0)",
            "y = f32[] parameter(1)",
            "p = pred[] parameter(2)",
            f"a = pred[] compare(x, y), direction={direction}{more}",
            f"ROOT r = pred[] and({'p, a' if turned else 'a, p'})",
        )

    unproved(made(TOTAL, False), made("", True), "exact")
    proved(made(TOTAL, False), made(TOTAL, True), "exact")
