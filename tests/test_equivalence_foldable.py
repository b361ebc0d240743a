"""The table of what is computed from constants: each operation on each type, and each number that is left out."""

from __future__ import annotations

from itertools import product

import pytest

from hloproof.equivalence.constant_folds import _Alike
from hloproof.equivalence.elements import ELEMENTWISE
from hloproof.equivalence.evaluation import attributes_of, evaluate
from hloproof.equivalence.foldable import FOLDABLE, ROWS, row_of
from hloproof.equivalence.literals import bits_of
from hloproof.equivalence.terms import Lit, Num, from_pattern, from_value
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.opcodes import BINARY, UNARY
from hloproof.models.hlo.shape import ELEMENT_BITS

FLOATS = {"f64", "f32", "f16", "bf16"}
WHOLE = {f"{sign}{n}" for sign in "su" for n in (8, 16, 32, 64)}
ONE_TYPE = {
    "add": FLOATS | WHOLE, "subtract": FLOATS | WHOLE, "multiply": FLOATS | WHOLE, "divide": FLOATS | WHOLE,
    "negate": FLOATS | WHOLE, "abs": FLOATS | WHOLE, "maximum": FLOATS | WHOLE, "minimum": FLOATS | WHOLE,
    "clamp": FLOATS | WHOLE, "sqrt": FLOATS, "floor": FLOATS, "ceil": FLOATS, "sign": WHOLE, "remainder": WHOLE,
    "shift-left": WHOLE, "shift-right-arithmetic": WHOLE, "shift-right-logical": WHOLE, "and": WHOLE | {"pred"},
    "or": WHOLE | {"pred"}, "xor": WHOLE | {"pred"}, "not": WHOLE | {"pred"},
}  # fmt: skip
SMALL = {"f8e5m2", "f8e4m3", "f8e3m4", "f8e4m3fn", "f8e4m3b11fnuz", "f8e4m3fnuz", "f8e5m2fnuz"}
COUNT = {"bitcast-convert": 1, "select": 3, "clamp": 3, **dict.fromkeys(BINARY, 2), **dict.fromkeys(UNARY, 1)}


@pytest.mark.parametrize("op", sorted(ELEMENTWISE | FOLDABLE))
def test_an_operation_is_computed_on_the_types_of_its_row_alone(op: str) -> None:
    for kind, other in product(ELEMENT_BITS, repeat=2):
        match op:
            case "convert":
                expected = {kind, other} <= FLOATS | WHOLE | {"pred"} | SMALL
            case "bitcast-convert":
                expected = {kind, other} <= FLOATS | WHOLE | SMALL | {"f8e8m0fnu"}
            case "compare":
                expected = kind in FLOATS | WHOLE and other == "pred"
            case "select":
                expected = kind == other and kind in FLOATS | WHOLE | {"pred"}
            case _:
                expected = kind == other and kind in ONE_TYPE.get(op, ())
        types = ["pred", kind, kind] if op == "select" else [kind] * COUNT[op]
        assert (row_of(op, types, other) is not None) == expected, (op, kind, other)
        if COUNT[op] > 1 and kind != other:
            mixed = ["pred", kind, other] if op == "select" else [kind, *[other] * (COUNT[op] - 1)]
            assert row_of(op, mixed, other if op != "compare" else "pred") is None, (op, mixed)


def test_no_operation_has_two_rows_that_say_different_things() -> None:
    for op, kind in product(FOLDABLE, ELEMENT_BITS):
        assert sum(op in r.operations.split() and kind in r.kinds for r in ROWS) < 2 or op == "convert"


def found(op: str, kind: str, *given: object, to: str = "", total: bool = False) -> object:
    key = (("direction", "LT"), *((("type", "TOTALORDER"),) if total else ())) if op == "compare" else ()
    types = ["pred", kind, kind] if op == "select" else [kind] * len(given)
    args = tuple(from_value(t, v) for t, v in zip(types, given, strict=True))
    result = evaluate(op, to or ("pred" if op == "compare" else kind), args, key)
    if result is None:
        return None
    assert isinstance(result, Num | Lit)
    return result.bits if isinstance(result, Lit) else result.form.constant


NAN, INFINITY = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("op", "kind", "given", "to", "left_out"),
    [
        ("add", "f32", (1.5, 2.5), "", False),
        ("add", "f32", (1.5, NAN), "", True),
        ("add", "f32", (1.5, INFINITY), "", True),
        ("add", "f32", (3e38, 3e38), "", True),
        ("multiply", "f32", (1e-20, 1e-20), "", True),
        ("multiply", "f32", (1e-40, 1.0), "", True),
        ("sqrt", "f32", (-1.0,), "", True),
        ("divide", "f32", (1.0, 0.0), "", True),
        ("negate", "f32", (INFINITY,), "", False),
        ("negate", "f32", (1e-40,), "", True),
        ("abs", "f32", (NAN,), "", True),
        ("maximum", "f32", (-INFINITY, 0.0), "", False),
        ("maximum", "f32", (-0.0, 0.0), "", True),
        ("minimum", "f32", (NAN, 0.0), "", True),
        ("clamp", "f32", (0.0, 5.0, 1.0), "", False),
        ("clamp", "f32", (0.0, -0.0, 1.0), "", True),
        ("clamp", "f32", (2.0, 1.5, 1.0), "", True),
        ("clamp", "s8", (2, 1, 1), "", True),
        ("clamp", "s8", (1, 1, 1), "", False),
        ("compare", "f32", (-0.0, 0.0), "", False),
        ("compare", "f32", (1e-40, 1.0), "", True),
        ("compare", "f32", (NAN, 1.0), "", True),
        ("select", "f32", (True, 1e-40, 1.0), "", True),
        ("select", "f32", (True, 1.0, 2.0), "", False),
        ("divide", "s8", (7, 0), "", True),
        ("remainder", "s8", (7, 0), "", True),
        ("divide", "s8", (-128, -1), "", True),
        ("remainder", "s8", (-128, -1), "", True),
        ("divide", "s8", (-127, -1), "", False),
        ("shift-left", "s8", (1, 7), "", False),
        ("shift-left", "s8", (1, 8), "", True),
        ("shift-right-arithmetic", "s8", (1, -1), "", True),
        ("convert", "f32", (127.5,), "s8", False),
        ("convert", "f32", (128.0,), "s8", True),
        ("convert", "f32", (-129.0,), "s8", True),
        ("convert", "f32", (NAN,), "s8", True),
        ("convert", "s32", (300,), "s8", False),
        ("convert", "f32", (1e-40,), "pred", True),
        ("convert", "f32", (70000.0,), "f16", True),
        ("convert", "f64", (1.0004882812500003,), "f16", True),
        ("convert", "f32", (416.0,), "f8e4m3fn", False),
        ("convert", "f32", (400.0,), "f8e4m3fn", True),
        ("convert", "f32", (-0.0,), "f8e4m3fnuz", True),
        ("convert", "f32", (0.0,), "f8e4m3fnuz", False),
        ("convert", "f32", (1000.0,), "f8e4m3fn", True),
        ("bitcast-convert", "u8", (1,), "pred", True),
        ("bitcast-convert", "u8", (1,), "s8", False),
        ("bitcast-convert", "u8", (1,), "s16", True),
        ("bitcast-convert", "s32", (-1,), "f32", False),
    ],
)
def test_a_number_that_is_left_out_is_not_computed(
    op: str, kind: str, given: tuple[object, ...], to: str, left_out: bool
) -> None:
    assert (found(op, kind, *given, to=to) is None) == left_out


def test_a_total_order_hangs_on_no_sign_of_a_zero() -> None:
    assert found("compare", "f32", -0.0, 0.0, total=True) is None
    assert found("compare", "f32", -0.0, 1.0, total=True) == 1


def test_a_sum_of_bytes_is_that_of_two_bytes() -> None:
    """All pairs, by arithmetic of its own."""
    for x, y in product(range(256), repeat=2):
        a, b = from_pattern("s8", x), from_pattern("s8", y)
        for op, out in (("add", x + y), ("subtract", x - y), ("multiply", x * y), ("xor", x ^ y), ("and", x & y)):
            result = evaluate(op, "s8", (a, b), ())
            assert isinstance(result, Num)
            assert bits_of("s8", result.form.constant) == out % 256


def test_only_a_predicate_chooses() -> None:
    assert row_of("select", ["pred", "f32", "f32"], "f32") is not None
    assert row_of("select", ["u8", "f32", "f32"], "f32") is None


@pytest.mark.parametrize(
    ("op", "type_", "given", "key", "taken"),
    [
        ("add", "f32", (1.5, 2.5), (), True),
        ("add", "f32", (1.5, NAN), (), False),
        ("compare", "pred", (-0.0, 0.0), (("direction", "LT"),), True),
        ("compare", "pred", (-0.0, 0.0), (("direction", "LT"), ("type", "TOTALORDER")), False),
        ("exponential", "f32", (1.0,), (), False),
    ],
)
def test_a_fold_computes_on_the_numbers_of_the_table(
    op: str, type_: str, given: tuple[float, ...], key: object, taken: bool
) -> None:
    computed = _Alike().function(op, ["f32"] * len(given), type_, attributes_of(key))
    if taken:
        computed(*given)
        return
    with pytest.raises(NotModelled):
        computed(*given)
