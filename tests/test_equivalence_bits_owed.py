"""What an operation reads the bits of is owed bit for bit at every tier: equal real numbers are not enough."""

from __future__ import annotations

import pytest
from red_pairs import entry, one, proved, unproved

from hloproof.equivalence import Certificate, decide, recheck
from hloproof.equivalence.bits_read import ZEROS, looks_at, node_looks_at, ordered_floats
from hloproof.equivalence.goals import Goal, Terms
from hloproof.equivalence.graph import Graph
from hloproof.equivalence.indices import variable
from hloproof.equivalence.kernel import Rules
from hloproof.equivalence.reading import GraphReader
from hloproof.equivalence.rules import subgoals
from hloproof.equivalence.terms import Cond, Elem
from hloproof.models.hlo.parser import parse_module
from hloproof.results.verdict import Verdict

ZERO = ("n = f32[] constant(0)", "z = f32[4] broadcast(n), dimensions={}")
ORDERS = "order { a = f32[] parameter(0)\n b = f32[] parameter(1)\n i = s32[] parameter(2)\n j = s32[] parameter(3)\n"
TOTAL = ORDERS + " ROOT r = pred[] compare(a, b), direction=LT, type=TOTALORDER\n}\n"
LOWEST_BITS = (
    ORDERS + " o = s32[] constant(1)\n x = s32[] bitcast-convert(a)\n y = s32[] bitcast-convert(b)\n"
    " v = s32[] and(x, o)\n w = s32[] and(y, o)\n ROOT r = pred[] compare(v, w), direction=LT\n}\n"
)
TURNED = (
    ORDERS + " z = s32[] constant(0)\n m = s32[] constant(2147483647)\n"
    " x = s32[] bitcast-convert(a)\n nx = pred[] compare(x, z), direction=LT\n tx = s32[] xor(m, x)\n"
    " sx = s32[] select(nx, tx, x)\n y = s32[] bitcast-convert(b)\n ny = pred[] compare(y, z), direction=LT\n"
    " ty = s32[] xor(y, m)\n sy = s32[] select(ny, ty, y)\n ROOT r = pred[] compare(sx, sy), direction=LT\n}\n"
)
TOTAL_AND_LOWEST_BITS = LOWEST_BITS.replace(
    " ROOT r = pred[] compare(v, w), direction=LT\n",
    " n = pred[] compare(v, w), direction=LT\n t = pred[] compare(a, b), direction=LT, type=TOTALORDER\n"
    " ROOT r = pred[] or(t, n)\n",
)
MADE_OF_BITS = TURNED.replace(
    " y = s32[] bitcast-convert(b)\n",
    " o = s32[] constant(1)\n yb = s32[] bitcast-convert(b)\n yo = s32[] and(yb, o)\n"
    " yf = f32[] bitcast-convert(yo)\n y = s32[] bitcast-convert(yf)\n",
)
"""The total order of a float and of one that is made from the bits of another."""
DEEP = (
    "both { a = f32[] parameter(0)\n b = f32[] parameter(1)\n x = s32[] bitcast-convert(a)\n"
    " y = s32[] bitcast-convert(b)\n v = s32[] and(x, y)\n ROOT r = f32[] bitcast-convert(v)\n}\n"
    "within { v = f32[4] parameter(0)\n o = f32[] constant(1)\n"
    " ROOT r = f32[] reduce(v, o), dimensions={0}, to_apply=both\n}\n"
)
"""A function that applies one which reads bits."""
ARRAYS = (
    "arrays { v = f32[4] parameter(0)\n w = f32[4] parameter(1)\n"
    " ROOT r = pred[4] compare(v, w), direction=LT, type=TOTALORDER\n}\n"
)
MOST = "most { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] maximum(a, b)\n}\n"

OF_BITS = (
    "of_bits { a = f32[] parameter(0)\n b = f32[] parameter(1)\n x = s32[] bitcast-convert(a)\n"
    " y = s32[] bitcast-convert(b)\n v = s32[] add(x, y)\n ROOT r = f32[] convert(v)\n}\n"
)
"""A function of two floats that reads the bits of both."""
GREATER = (
    "greater { a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
    " g = pred[] compare(a, b), direction=GT, type=TOTALORDER\n ROOT r = f32[] select(g, a, b)\n}\n"
)


ANGLE = "angle { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] atan2(b, a)\n}\n"


def plus_zero(*lines: str, kind: str = "f32[4]") -> tuple[str, str]:
    """What is done with f, which is p; and with p + 0, which is 0 where p is -0.0."""
    return one(kind, *ZERO, f"f = {kind} copy(p)", *lines), one(kind, *ZERO, f"f = {kind} add(p, z)", *lines)


def regrouped(*lines: str) -> tuple[str, str]:
    """With (p * q) * s, and with p * (q * s)."""
    given = ("p = f32[4] parameter(0)", "q = f32[4] parameter(1)", "s = f32[4] parameter(2)")
    return (
        entry(*given, "a = f32[4] multiply(p, q)", "f = f32[4] multiply(a, s)", *lines),
        entry(*given, "a = f32[4] multiply(q, s)", "f = f32[4] multiply(p, a)", *lines),
    )


def with_functions(functions: str, pair: tuple[str, str]) -> tuple[str, str]:
    before, after = pair
    return before.replace("ENTRY", functions + "ENTRY"), after.replace("ENTRY", functions + "ENTRY")


def regrouped_as(kind: str, *lines: str) -> tuple[str, str]:
    before, after = regrouped(*lines)
    return before.replace("f32[4]", kind), after.replace("f32[4]", kind)


def called(functions: str, name: str) -> tuple[str, str]:
    """A call of what applies a function to f."""
    call = f'ROOT r = f32[4] custom-call(f), custom_call_target="g", called_computations={{{name}}}'
    return with_functions(functions, plus_zero(call))


def placed(order: str) -> tuple[str, str]:
    """The places of f, sorted."""
    lines = (
        "i = s32[4] iota(), iota_dimension=0",
        "t = (f32[4], s32[4]) sort(f, i), dimensions={0}, is_stable=true, to_apply=order",
        "ROOT r = s32[4] get-tuple-element(t), index=1",
    )
    return with_functions(order, plus_zero(*lines))


def in_order(changed: dict[str, str], direction: str = "LT", swapped: bool = False) -> tuple[str, ...]:
    """Lines that put f and p in total order by their bits, with one thing or another changed."""
    kind = changed.get("kind", "s32")
    mask = changed.get("mask", "2147483647")
    sides = [
        (
            f"{x}b = {kind}[4] {changed.get('read', 'bitcast-convert')}({x})",
            f"{x}n = pred[4] compare({changed.get('tested', x + 'b')}, lb), direction={changed.get('below', 'LT')}",
            f"{x}t = {kind}[4] {changed.get('over', 'xor')}({changed.get('turned', '{}b, mb').format(x, x)})",
            f"{x}s = {kind}[4] select({x}n, {x}t, {x}b)",
        )
        for x in "fp"
    ]
    first, second = ("ps", "fs") if swapped else ("fs", changed.get("second", "ps"))
    return (
        f"l = {kind}[] constant({changed.get('least', '0')})",
        f"lb = {kind}[4] broadcast(l), dimensions={{}}",
        f"m = {kind}[] constant({mask})",
        f"mb = {kind}[4] broadcast(m), dimensions={{}}",
        *sides[1],
        *sides[0],
        f"ROOT r = pred[4] compare({first}, {second}), direction={direction}",
    )


def folded(line: str, function: str = OF_BITS) -> tuple[str, str]:
    """A fold of f, of which k is the first element, by a function; i are indices, o numbers and n is 0."""
    lines = ("i = s32[2] constant({1, 3})", "o = f32[4] constant({1, 2, 3, 4})", "h = f32[1] slice(f), slice={[0:1]}")
    return with_functions(function, plus_zero(*lines, "k = f32[] reshape(h)", line))


SCATTERED = "update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1"


def looped(turn: str, counted: str = "i", result: int = 1) -> tuple[str, str]:
    """A loop over a count and two arrays of four, of which the first begins at f and the second at p."""
    states = "(s32[], f32[4], f32[4])"
    read = f"s = {states} parameter(0)\n i = s32[] get-tuple-element(s), index=0\n"
    read += " a = f32[4] get-tuple-element(s), index=1\n b = f32[4] get-tuple-element(s), index=2\n"
    read += " h = f32[1] slice(a), slice={[0:1]}\n k = f32[] reshape(h)\n m = s32[] bitcast-convert(k)\n"
    functions = f"goes {{ {read} l = s32[] constant(5)\n c = s32[] add(i, m)\n"
    functions += f" ROOT r = pred[] compare({counted}, l), direction=LT\n}}\nturn {{ {read} o = s32[] constant(1)\n"
    functions += f" j = s32[] add(i, o)\n {turn}\n ROOT r = {states} tuple(j, v, w)\n}}\n"
    lines = (
        "o = s32[] constant(0)",
        f"t = {states} tuple(o, f, p)",
        f"l = {states} while(t), condition=goes, body=turn",
        f"ROOT r = f32[4] get-tuple-element(l), index={result}",
    )
    return with_functions(functions, plus_zero(*lines))


IN_ORDER = "compare(a, b), direction=LT, type=TOTALORDER"
SORTED = (
    "e = (f32[4], s32[4]) sort(a, q), dimensions={0}, is_stable=true, to_apply=order\n"
    " v = f32[4] get-tuple-element(e), index=0"
)
READ_AS_BITS = "x = s32[4] bitcast-convert({})\n v = f32[4] convert(x)\n w = f32[4] add(b, b)"
HANDED_ON = "x = s32[4] bitcast-convert(b)\n w = f32[4] copy(a)\n v = f32[4] convert(x)"
NESTED = (
    "inner { s = (s32[], f32[4]) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n"
    " a = f32[4] get-tuple-element(s), index=1\n o = s32[] constant(1)\n j = s32[] add(i, o)\n"
    " x = s32[4] bitcast-convert(a)\n v = f32[4] convert(x)\n ROOT r = (s32[], f32[4]) tuple(j, v)\n}\n"
    "twice { s = (s32[], f32[4]) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n l = s32[] constant(2)\n"
    " ROOT r = pred[] compare(i, l), direction=LT\n}\n"
)
INNER_LOOP = (
    "z = s32[] constant(0)\n t = (s32[], f32[4]) tuple(z, a)\n"
    " l = (s32[], f32[4]) while(t), condition=twice, body=inner\n"
    " v = f32[4] get-tuple-element(l), index=1\n w = f32[4] copy(b)"
)

KEEPING = (
    NESTED.replace("(s32[], f32[4])", "(s32[], f32[4], f32[4])")
    .replace("j = s32[] add", "k = f32[4] get-tuple-element(s), index=2\n j = s32[] add")
    .replace("bitcast-convert(a)", "bitcast-convert(k)")
    .replace("tuple(j, v)", "tuple(j, v, k)")
)
KEPT = INNER_LOOP.replace("(s32[], f32[4])", "(s32[], f32[4], f32[4])").replace("tuple(z, a)", "tuple(z, b, a)")

BITS = {
    "a reduction that reads bits": folded("ROOT r = f32[] reduce(f, n), dimensions={0}, to_apply=of_bits"),
    "what such a reduction begins with": folded("ROOT r = f32[] reduce(p, k), dimensions={0}, to_apply=of_bits"),
    "windows that are reduced so": folded("ROOT r = f32[2] reduce-window(f, n), window={size=3}, to_apply=of_bits"),
    "updates that are scattered so": folded(
        f"u = f32[2] slice(f), slice={{[0:2]}}\n  ROOT r = f32[4] scatter(o, i, u), {SCATTERED}, to_apply=of_bits"
    ),
    "what they are scattered into": folded(
        f"u = f32[2] slice(o), slice={{[0:2]}}\n  ROOT r = f32[4] scatter(f, i, u), {SCATTERED}, to_apply=of_bits"
    ),
    "a state of a loop": looped(READ_AS_BITS.format("a")),
    "a state that another one becomes": looped(HANDED_ON),
    "a state by which a loop ends": looped("v = f32[4] add(a, a)\n w = f32[4] add(b, b)", "c"),
    "a state that a loop within a turn leaves as it is": with_functions(KEEPING, looped(KEPT)),
    "a state of a loop within a turn": with_functions(NESTED, looped(INNER_LOOP)),
    "a sum with zero": plus_zero("ROOT r = s32[4] bitcast-convert(f)"),
    "a sum with zero, in place": plus_zero("ROOT r = s32[4] bitcast(f)"),
    "a product": regrouped("ROOT r = s32[4] bitcast-convert(f)"),
    "halves": plus_zero("ROOT r = u16[4,2] bitcast-convert(f)"),
    "bytes in place": plus_zero("ROOT r = u8[16] bitcast(f)"),
    "a mask of the bits": plus_zero(
        "i = s32[4] bitcast-convert(f)",
        "m = s32[] constant(-2147483648)",
        "b = s32[4] broadcast(m), dimensions={}",
        "ROOT r = s32[4] and(i, b)",
    ),
    "a test of the bits": plus_zero(
        "i = s32[4] bitcast-convert(f)",
        "m = s32[] constant(0)",
        "b = s32[4] broadcast(m), dimensions={}",
        "c = pred[4] compare(i, b), direction=EQ",
        "ROOT r = f32[4] select(c, f, p)",
    ),
    "an index": plus_zero(
        "s = f32[1] slice(f), slice={[0:1]}",
        "i = s32[1] bitcast-convert(s)",
        "j = s32[] reshape(i)",
        "ROOT r = f32[1] dynamic-slice(p, j), dynamic_slice_sizes={1}",
    ),
    "a sort by the lowest bit": placed(LOWEST_BITS),
    "a sort by the lowest bit beside a total order": placed(TOTAL_AND_LOWEST_BITS),
    "a sort by what is made of bits": placed(MADE_OF_BITS),
    "the greatest": with_functions(
        MOST,
        plus_zero(
            "l = f32[] constant(-inf)",
            "m = f32[] reduce(f, l), dimensions={0}, to_apply=most",
            "ROOT r = s32[] bitcast-convert(m)",
        ),
    ),
    "a function inside of one": called(DEEP, "within"),
    "a small float in another shape": regrouped_as("f8e3m4[4]", "ROOT r = u8[2,2] bitcast(f)"),
    "complex numbers in bytes": regrouped_as("c64[4]", "ROOT r = u8[32] bitcast(f)"),
}


@pytest.mark.parametrize(("before", "after"), BITS.values(), ids=BITS)
def test_bits_of_numbers_that_are_equal_over_the_reals_only_are_not_proved(before: str, after: str) -> None:
    unproved(before, after, "rounding")


NUMBERS = {
    "the sum alone": plus_zero("ROOT r = f32[4] negate(f)"),
    "the product alone": regrouped("ROOT r = f32[4] negate(f)"),
    "a number in another type": regrouped("ROOT r = s32[4] convert(f)"),
    "a reduction of numbers": folded("ROOT r = f32[] reduce(f, n), dimensions={0}, to_apply=most", MOST),
    "a state of a loop": looped("v = f32[4] add(a, a)\n w = f32[4] add(b, b)"),
    "a state beside one that is read": looped(
        READ_AS_BITS.format("b").replace("add(b, b)", "copy(b)").replace(" v =", " y =") + "\n v = f32[4] add(a, y)"
    ),
    "a loop within a turn": with_functions(
        NESTED.replace("x = s32[4] bitcast-convert(a)\n v = f32[4] convert(x)", "v = f32[4] add(a, a)"),
        looped(INNER_LOOP),
    ),
}


@pytest.mark.parametrize(("before", "after"), NUMBERS.values(), ids=NUMBERS)
def test_the_numbers_beside_them_are_proved(before: str, after: str) -> None:
    proved(before, after, "real")


def test_bits_that_follow_exactly_are_proved_beside_reals_that_do_not() -> None:
    """One result takes a law of the reals, the other one's bits take none."""
    before, after = plus_zero(
        "g = f32[4] copy(p)", "i = s32[4] bitcast-convert(g)", "ROOT t = (f32[4], s32[4]) tuple(f, i)"
    )
    proved(before, after, "real")
    unproved(before, after.replace("copy(p)", "add(p, z)"), "real")


ORDERED = {
    "a comparison": plus_zero("ROOT r = pred[4] compare(f, z), direction=LT, type=TOTALORDER"),
    "a sort": placed(TOTAL),
    "a reduction": folded("ROOT r = f32[] reduce(f, n), dimensions={0}, to_apply=greater", GREATER),
    "a sort that writes the order out": placed(TURNED),
    "a turn of a loop": looped(f"g = pred[4] {IN_ORDER}\n v = f32[4] select(g, a, b)\n w = f32[4] copy(b)"),
    "a turn of a loop that sorts": with_functions(
        TURNED, looped(f"q = s32[4] iota(), iota_dimension=0\n {SORTED}\n w = f32[4] copy(b)")
    ),
    "a comparison that writes the order out": plus_zero(*in_order({})),
    "a comparison of arrays in a function": called(ARRAYS, "arrays"),
    "the largest of equal ones": plus_zero(
        "k = (f32[2], s32[2]) topk(f), k=2, largest=true", "ROOT r = s32[2] get-tuple-element(k), index=1"
    ),
    "the angle of a point": plus_zero("ROOT r = f32[4] atan2(f, p)"),
    "the logarithm of a complex number": plus_zero("c = c64[4] complex(p, f)", "ROOT r = c64[4] log(c)"),
    "a power of a complex number": plus_zero("c = c64[4] complex(p, f)", "ROOT r = c64[4] power(c, c)"),
    "a reduction to angles": folded("ROOT r = f32[] reduce(f, n), dimensions={0}, to_apply=angle", ANGLE),
}


@pytest.mark.parametrize(("before", "after"), ORDERED.values(), ids=ORDERED)
def test_what_the_sign_of_a_zero_decides_takes_both_zeros_for_one_and_says_so(before: str, after: str) -> None:
    unproved(before, after, "exact")
    found = decide(parse_module(before), parse_module(after), "real", 5.0)
    assert found.verdict == "proved" and (ZEROS, "real") in found.axioms
    same = decide(parse_module(before), parse_module(before), "rounding", 5.0)
    assert same.verdict == "proved" and not same.axioms


CHANGED = {
    "nothing": ({}, True),
    "the mask": ({"mask": "1"}, False),
    "what is taken for zero": ({"least": "5"}, False),
    "the direction of the test": ({"below": "GT"}, False),
    "what is tested": ({"tested": "pb"}, False),
    "how it is turned": ({"over": "or"}, False),
    "bits turned by themselves": ({"turned": "{}b, {}b"}, False),
    "a mask turned by itself": ({"turned": "mb, mb"}, False),
    "the type of the bits": ({"kind": "u32", "mask": "4294967295"}, False),
    "numbers in place of bits": ({"read": "convert"}, False),
    "one side as it is": ({"second": "pb"}, False),
}


@pytest.mark.parametrize(("changed", "orders"), CHANGED.values(), ids=CHANGED)
def test_a_total_order_in_bits_is_that_and_nothing_like_it(changed: dict[str, str], orders: bool) -> None:
    (root,) = GraphReader().read(parse_module(plus_zero(*in_order(changed))[1]), 0).results
    terms = Terms()
    at = (variable(0, 4),)
    found = ordered_floats(terms.opened(Elem(root, at), 1), lambda t: terms.opened(terms.settle(t, ()), 1))
    assert bool(found) is orders
    if "read" not in changed:  # numbers are equal where real numbers are
        before, after = plus_zero(*in_order(changed))
        assert (decide(parse_module(before), parse_module(after), "real", 5.0).verdict == "proved") is orders


@pytest.mark.parametrize(("kind", "orders"), [("f16", True), ("bf16", False)])
def test_bits_of_two_types_are_in_no_order_of_their_numbers(kind: str, orders: bool) -> None:
    """Both are turned over as s16."""
    lines = [line.replace("convert(p)", "convert(g)") for line in in_order({"kind": "s16", "mask": "32767"})]
    zero = ("n = f16[] constant(0)", "z = f16[4] broadcast(n), dimensions={}")
    before, after = (
        parse_module(one("f16[4]", *zero, f"f = f16[4] {made}", f"g = {kind}[4] convert(f)", *lines))
        for made in ("copy(p)", "add(p, z)")
    )
    (root,) = GraphReader().read(after, 0).results
    terms = Terms()
    opened = terms.opened(Elem(root, (variable(0, 4),)), 1)
    assert bool(ordered_floats(opened, lambda t: terms.opened(terms.settle(t, ()), 1))) is orders
    assert (decide(before, after, "real", 5.0).verdict == "proved") is orders


def test_operands_of_an_order_in_bits_may_change_places_where_it_is_equality() -> None:
    (before, _), (_, after) = plus_zero(*in_order({}, "EQ")), plus_zero(*in_order({}, "EQ", swapped=True))
    proved(before, after, "real")


def test_no_step_takes_both_zeros_for_one_where_bits_are_read() -> None:
    numbers, bits = plus_zero("ROOT r = f32[4] negate(f)"), plus_zero("ROOT r = s32[4] bitcast-convert(f)")
    found = decide(parse_module(numbers[0]), parse_module(numbers[1]), "real", 5.0)
    assert found.certificate is not None
    first, *rest = found.certificate.proof
    assert first == ["arguments"]
    for more in ([], [False, True]):
        for before, after in (numbers, bits):
            forged = Certificate("real", [["arguments", *more], *rest])
            told = recheck(parse_module(before), parse_module(after), forged).verdict
            assert told is (Verdict.PROVED if before == numbers[0] and not more else Verdict.UNKNOWN)


def test_what_a_step_leaves_of_what_is_owed_bit_for_bit_is_owed_so() -> None:
    graph = Graph()
    x, y, z = (Elem(graph.node("parameter", "f32", (4,), key=(k,)), (variable(0, 4),)) for k in range(3))
    for exact in (False, True):
        left = subgoals(Rules(graph, "real"), Goal(1, (), Cond(variable(0, 4) - 2, x, y), z, exact), ["split", 0])
        assert [g.exact for g in left] == [exact, exact]


LOOKED_AT = [
    ("bitcast-convert", "s32", ["f32"], (), "bits"),
    ("bitcast", "s32", ["f32"], (), "bits"),
    ("bitcast", "u8", ["c64"], (), "bits"),
    ("bitcast", "f32", ["f32"], (), ""),
    ("bitcast", "f32", ["s32"], (), ""),
    ("convert", "s32", ["f32"], (), ""),
    ("iota", "s32", [], (), ""),
    ("topk", "s32", ["f32"], (), "order"),
    ("topk", "s32", ["s32"], (), ""),
    ("atan2", "f32", ["f32", "f32"], (), "order"),
    ("sqrt", "c64", ["c64"], (), "order"),
    ("sqrt", "f32", ["f32"], (), ""),
    ("exponential", "c64", ["c64"], (), ""),
    ("compare", "pred", ["f32", "f32"], (("direction", "LT"), ("type", "TOTALORDER")), "order"),
    ("compare", "pred", ["f32", "f32"], (("direction", "LT"),), ""),
]


@pytest.mark.parametrize(("op", "type_", "operands", "key", "looks"), LOOKED_AT)
def test_what_an_operation_looks_at(op: str, type_: str, operands: list[str], key: object, looks: str) -> None:
    assert looks_at(op, type_, operands, key) == looks


WITHIN = [(MADE_OF_BITS, "order", "bits"), (TURNED, "order", "order"), (ARRAYS, "arrays", "order")]


@pytest.mark.parametrize(("functions", "name", "looks"), WITHIN)
def test_what_the_functions_of_an_operation_look_at(functions: str, name: str, looks: str) -> None:
    call = f'ROOT r = f32[4] custom-call(f), custom_call_target="g", called_computations={{{name}}}'
    (node,) = GraphReader().read(parse_module(with_functions(functions, plus_zero(call))[0]), 0).results
    terms = Terms()
    assert node_looks_at(node, lambda t: terms.opened(terms.settle(t, ()), 0)) == looks


def test_a_difference_of_ordered_bits_is_no_order() -> None:
    """How far apart two are is another number for each zero."""
    root = "ROOT r = pred[4] compare(fs, ps), direction=LT"
    lines = [line if line != root else "ROOT r = s32[4] subtract(fs, ps)" for line in in_order({})]
    assert "ROOT r = s32[4] subtract(fs, ps)" in lines
    (node,) = GraphReader().read(parse_module(plus_zero(*lines)[1]), 0).results
    terms = Terms()
    difference = terms.opened(Elem(node, (variable(0, 4),)), 1)
    assert ordered_floats(difference, lambda t: terms.opened(terms.settle(t, ()), 1)) == []


def test_an_opaque_call_is_taken_for_a_function_of_numbers() -> None:
    """It could look at the sign of a zero, which the documentation of what to trust says."""
    call = 'ROOT r = f32[4] custom-call(f), custom_call_target="g"'
    before, after = one("f32[4]", *ZERO, "f = f32[4] add(p, z)", call), one("f32[4]", "f = f32[4] copy(p)", call)
    unproved(before, after, "exact")
    proved(before, after, "real")
