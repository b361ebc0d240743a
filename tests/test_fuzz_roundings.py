"""Controls of target `roundings`: its bounds on errors by hand, and a rule that forgets what types lose."""

from __future__ import annotations

from fractions import Fraction

import pytest
from red_pairs import entry

pytest.importorskip("hypothesis")

from hloproof.equivalence.constant_parts import ConstantParts
from hloproof.fuzz.chunk import run_chunk
from hloproof.fuzz.roundings import target_roundings
from hloproof.fuzz.roundings.running_errors import Near, NoNumber, results
from hloproof.fuzz.target import Failure
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.parser import parse_module
from hloproof.queries import equivalence

ROW = ((1.0, 0.5, -2.0),)
X = "x = f32[3] parameter(0)"
SMALL = ("c = f32[] constant(1e-9)", "b = f32[3] broadcast(c), dimensions={}")


def near(*lines: str) -> list[Near]:
    return results(parse_module(entry(*lines)), ROW)


def test_what_is_given_is_not_rounded() -> None:
    assert near(X, "ROOT r = f32[3] negate(x)") == [Near(-Fraction(v), Fraction(0), False) for v in ROW[0]]


@pytest.mark.parametrize(("kind", "constant"), [("f16", 0), ("bf16", 1)])
def test_a_constant_is_what_its_type_holds(kind: str, constant: int) -> None:
    """And an input is what it would be, by as much as the type may lose."""
    small = Fraction(1, 10**9)
    held = near(X, *SMALL, f"n = {kind}[3] convert(b)", "ROOT r = f32[3] convert(n)")
    assert all(x.constant and abs(x.value - constant * small) <= constant * small / 100 for x in held)
    scaled = near(X, *SMALL, "m = f32[3] multiply(x, b)", f"n = {kind}[3] convert(m)", "ROOT r = f32[3] convert(n)")
    assert abs(scaled[0].value - small) <= small / 100 and scaled[0].error > 0 and not scaled[0].constant


def test_roundings_are_not_apart_and_other_numbers_are() -> None:
    third = near(X, "c = f32[3] constant({3, 3, 3})", "ROOT r = f32[3] divide(x, c)")
    times = near(X, "c = f32[3] constant({0.333333343, 0.333333343, 0.3333337})", "ROOT r = f32[3] multiply(x, c)")
    assert [x.apart(y) for x, y in zip(third, times, strict=True)] == [False, False, True]


def test_where_there_is_no_number_nothing_is_compared() -> None:
    with pytest.raises(NoNumber):
        near(X, "y = f32[3] subtract(x, x)", "ROOT r = f32[3] divide(x, y)")
    with pytest.raises(NoNumber):
        near(X, "c = f32[3] constant({1e6, 1, 1})", "ROOT r = f16[3] convert(c)")
    with pytest.raises(NotModelled):
        near(X, "ROOT r = f32[3] tanh(x)")


@pytest.mark.longer
def test_a_constant_that_is_lost_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    given = (X, "b = f32[3] constant({1e-9, 2e-9, 1e-9})")
    through = ("n = f16[3] convert(b)", "w = f32[3] convert(n)", "ROOT r = f32[3] multiply(x, w)")
    case = entry(*given, "ROOT r = f32[3] multiply(x, b)") + "\n// -----\n\n" + entry(*given, *through)
    assert target_roundings.examine(case) == ("unknown",)
    monkeypatch.setattr(ConstantParts, "loses", lambda *_: False)
    for beside in ("where_a_number_is_lost", "where_constants_are_lost"):
        monkeypatch.setattr(equivalence, beside, lambda *_: "")
    with pytest.raises(Failure, match="element 0 is 1e-09 before and 0 after"):
        target_roundings.examine(case)
    found = run_chunk("roundings", seed=3, number=0, examples=60)
    assert any("apart by more than roundings" in f.cause for f in found.failures)
