"""Of an operation of which nothing is known nobody knows either whether two that look alike are one."""

from __future__ import annotations

import pytest
from red_pairs import entry, one

from hloproof.equivalence import decide
from hloproof.models.hlo.opcodes import OPCODES
from hloproof.models.hlo.parser import parse_module

OPAQUE = sorted(o for o, row in OPCODES.items() if "opaque" in row.traits)
NEGATED = "f {\n  x = f32[] parameter(0)\n  ROOT y = f32[] negate(x)\n}\n"


def test_there_is_such_an_operation() -> None:
    assert OPAQUE == ["shuffle"]


@pytest.mark.parametrize("opcode", OPAQUE)
@pytest.mark.parametrize("written", ["", ", seed=1", ", to_apply=f", ", applies=f", ', with="f -> r"'])
def test_not_even_a_module_and_itself_are_proved(opcode: str, written: str) -> None:
    """What an attribute names may be a function, whatever it is called and however it is written."""
    at = entry("p = f32[4] parameter(0)", f"ROOT r = f32[4] {opcode}(p){written}", before=NEGATED)
    inside = one("f32[4]", "ROOT r = f32[4] fusion(p), kind=kLoop, calls=f")
    inside = inside.replace(
        "ENTRY", f"g {{\n  x = f32[4] parameter(0)\n  ROOT y = f32[4] {opcode}(x){written}\n}}\n\nENTRY"
    ).replace("calls=f", "calls=g")
    inside = inside.replace("g {", NEGATED + "\ng {", 1)
    for text in (at, inside):
        result = decide(parse_module(text), parse_module(text), "rounding")
        assert (result.verdict, f"{opcode} " in result.reason) == ("unknown", True), result.reason
