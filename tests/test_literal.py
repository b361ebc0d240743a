"""The text of constants: values as nested lists, and what is refused."""

from __future__ import annotations

import math
import random

import pytest

from hloproof.models.hlo.text import literal
from hloproof.models.hlo.text.literal import LiteralError, check_literal, parse_literal
from hloproof.models.hlo.text.shapes import parse_shape

READ = [
    ("42", "s32[]", 42),
    ("true", "pred[]", True),
    ("{1, 0, true}", "pred[3]", [True, False, True]),
    ("{ { 1, 2 }, { 3, 4.5 } }", "f32[2,2]", [[1.0, 2.0], [3.0, 4.5]]),
    ("{1e-05, -inf, -.5}", "f32[3]", [1e-05, -math.inf, -0.5]),
    ("00000000000000000000007", "f32[]", 7.0),
    ("1.5e-38", "f8e8m0fnu[]", 1.5e-38),
    ("{(1, 2), (-3, 0.5)}", "c64[2]", [1 + 2j, -3 + 0.5j]),
    ("( { {1}, {2} }, {2, 42}, () )", "(f32[2,1], s8[2], ())", ([[1.0], [2.0]], [2, 42], ())),
    ("{}", "f32[0]", []),
    ("{{},{}}", "f32[2,0]", [[], []]),
    ("{...}", "f32[3,4]", None),
    ("7", "s8[2,2]", [[7, 0], [0, 0]]),
    ("true", "pred[2]", [True, False]),
    ("7", "f32[1]", [7.0]),
    ("{-8, 7}", "s4[2]", [-8, 7]),
    ("-1", "u64[]", 2**64 - 1),
    ("65519", "f16[]", 65519.0),
    ("1.0004882812500003", "f16[]", 1.00048828125),
    ("{1.000488281251, 0.5}", "f16[2]", [1.00048828125, 0.5]),
    ("1.0004882812500003", "f32[]", 1.0004882812500003),
]


@pytest.mark.parametrize(("text", "shape", "value"), READ)
def test_values(text: str, shape: str, value: object) -> None:
    assert parse_literal(text, parse_shape(shape)) == value
    check_literal(text, parse_shape(shape))


@pytest.mark.parametrize("text", ["nan", "-nan", "-nan(0x7f)"])
def test_not_a_number(text: str) -> None:
    value = parse_literal(text, parse_shape("bf16[]"))
    assert isinstance(value, float) and math.isnan(value)


REFUSED = [
    ("", "f32[]", "ends|found ''"),
    ("x", "f32[]", "expected a number"),
    ("1.5", "s32[]", "expected an integer"),
    ("{1,2", "s32[2]", "ends"),
    ("{1}}", "s32[1]", "expected the end"),
    ("{1,{2}}", "f32[2]", "sees larger"),
    ("{1, 2, 3, 4}", "f32[2,2]", "but sees 1"),
    ("{{1, 2}, {3, 4}, {5, 6}}", "f32[2,2]", "expects 2 elements"),
    ("{{1, 2}}", "f32[2,2]", "expects 2 elements"),
    ("-65520", "f16[]", "out of range"),
    ("1e100", "bf16[]", "out of range"),
    ("-1.8e308", "f64[]", "out of range"),
    ("-1", "u4[]", "out of range"),
    ("8", "s4[]", "out of range"),
    ("(0, -1e100)", "c64[]", "out of range"),
    ("1", "token[]", "cannot have"),
    ("1", "f32[2,0]", "expected '{'"),
    ("(1, 2)", "c64[2]", "expected '{'"),
    ("1", "f8e8m0fnu[2]", "expected '{'"),
    ("0x1p3", "f32[]", "expected a number"),
    ("+1", "f32[]", "expected a number"),
    ("+1", "s32[]", "expected an integer"),
    (".5", "f32[]", "expected a number"),
    ("+inf", "f32[]", "expected a number"),
    ("Inf", "f32[]", "expected a number"),
    ("NaN", "f32[]", "expected a number"),
    ("+nan", "f32[]", "expected a number"),
    ("nan(0X1)", "f32[]", "expected a number"),
    ("1", "c64[]", "at the start of a complex"),
    ("{(1, 2), 3}", "c64[2]", "at the start of a complex"),
    ("(true, 1)", "c64[]", "expected a number"),
    ("(1, false)", "c128[]", "expected a number"),
    ("0", "f8e8m0fnu[]", "neither zero nor negative"),
    ("-2.0", "f8e8m0fnu[]", "neither zero nor negative"),
    ("16367644253910825167088567451648", "f32[]", "out of range"),
    ("9" * 5000, "s32[]", "out of range"),
]


@pytest.mark.parametrize(("text", "shape", "message"), REFUSED)
def test_refused(text: str, shape: str, message: str) -> None:
    for reader in (parse_literal, check_literal):
        with pytest.raises(LiteralError, match=message):
            reader(text, parse_shape(shape))


def test_rows_read_at_once_are_rows_read_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    dice = random.Random(3)
    odd = ["1", "-2", "3.5", "true", "127", "255", "-128", "300", "1e3", "nan", "70000", "99999999999", " 7 ", "x", "{"]

    def write(sizes: list[int], plain: str) -> str:
        if not sizes:
            return dice.choice(odd) if dice.random() < 0.05 else plain
        count = sizes[0] + (dice.random() < 0.03)
        return "{" + dice.choice([",", ", "]).join(write(sizes[1:], plain) for _ in range(count)) + "}"

    cases = []
    for _ in range(3000):
        kind, plain = dice.choice([("s8", "7"), ("u8", "0"), ("s32", "-3"), ("f32", "2.5"), ("pred", "true")])
        sizes = [dice.randint(0, 3) for _ in range(dice.randint(1, 3))]
        cases.append((write(sizes, plain), parse_shape(f"{kind}[{','.join(map(str, sizes))}]")))

    def answers() -> list[object]:
        out: list[object] = []
        for text, shape in cases:
            try:
                out.append(repr(parse_literal(text, shape)))
                check_literal(text, shape)
            except LiteralError:
                out.append(LiteralError)
        return out

    at_once = answers()
    monkeypatch.setattr(literal, "_PLAIN_ROWS", {})
    assert answers() == at_once
    assert 100 < at_once.count(LiteralError) < 2900
