"""Runs within what rules speak of: fractions where numbers can be told apart, and no answer where they cannot."""

from __future__ import annotations

import pytest
from red_pairs import entry

from hloproof.models.hlo.parser import parse_module
from hloproof.tensor_rules.exact import OutsideTheRule, run_exactly

TWICE = (
    "x = f64[] parameter(0)",
    "root = f64[] sqrt(x)",
    "y = f64[] multiply(root, root)",
    "ROOT r = pred[] compare(y, x), direction=EQ",
)


@pytest.mark.parametrize(("square", "equal"), [(4.0, True), (2.0, None)])
def test_numbers_that_may_be_equal_but_for_60_digits_are_not_compared(square: float, equal: bool | None) -> None:
    module = parse_module(entry(*TWICE))
    if equal is None:
        with pytest.raises(OutsideTheRule, match="equal but for rounding"):
            run_exactly(module, [square], 1, False)
    else:
        assert run_exactly(module, [square], 1, False) is equal


def test_a_dot_is_summed_in_fractions() -> None:
    """In floats 0.1 + 0.2 is 0.30000000000000004, which is neither the sum of the two nor 0.3."""
    module = parse_module(
        entry(
            "x = f64[2] parameter(0)",
            "one = f64[] constant(1)",
            "ones = f64[2] broadcast(one), dimensions={}",
            "d = f64[] dot(x, ones), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
            "first = f64[1] slice(x), slice={[0:1]}",
            "second = f64[1] slice(x), slice={[1:2]}",
            "a = f64[] reshape(first)",
            "b = f64[] reshape(second)",
            "s = f64[] add(a, b)",
            "ROOT r = pred[] compare(d, s), direction=EQ",
        )
    )
    assert run_exactly(module, [[0.1, 0.2]], 1, False) is True


ROOT = ("x = f64[] parameter(0)", "a = f64[] sqrt(x)", "y = f64[] multiply(a, a)")
POWER = ("x = f64[] parameter(0)", "a = f64[] log(x)", "y = f64[] exponential(a)")
ONE = ("o = f64[] divide(y, x)", "ROOT r = f64[] log(o)")
VECTORS = (
    *("m = f64[] negate(x)", "v = f64[1] reshape(y)", "w = f64[1] reshape(m)", "e = f64[] constant(1)"),
    *("s = f64[2] concatenate(v, w), dimensions={0}", "b = f64[2] broadcast(e), dimensions={}"),
    "ROOT r = f64[] dot(s, b), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
)


@pytest.mark.parametrize(
    "last",
    [
        ("ROOT r = f64[] remainder(y, x)",),
        ("ROOT r = f64[] subtract(y, x)",),
        ("ROOT r = f64[] subtract(x, y)",),
        ONE,
        VECTORS,
    ],
)
@pytest.mark.parametrize("made", [ROOT, POWER])
def test_what_is_nothing_but_the_rounding_of_60_digits_is_no_number(
    made: tuple[str, ...], last: tuple[str, ...]
) -> None:
    """The machine has 0 for it, and the remainder of what falls short by it is the divisor itself."""
    module = parse_module(entry(*made, *last))
    with pytest.raises(OutsideTheRule):
        run_exactly(module, [3.0 if made is POWER else 3.5], 1, False)
    assert run_exactly(parse_module(entry("x = f64[] parameter(0)", "y = f64[] copy(x)", *last)), [3.5], 1, False) == 0


@pytest.mark.parametrize("opcode", ["remainder", "subtract"])
def test_what_is_more_than_rounding_is_a_number(opcode: str) -> None:
    module = parse_module(entry(*ROOT, "z = f64[] constant(1.5)", f"ROOT r = f64[] {opcode}(y, z)"))
    assert float(run_exactly(module, [3.5], 1, False)) == pytest.approx(0.5 if opcode == "remainder" else 2)


def test_products_beyond_the_type_are_no_numbers_though_their_sum_is() -> None:
    lines = ("x = f64[2] parameter(0)", "y = f64[2] negate(x)", "v = f64[4] concatenate(x, y), dimensions={0}")
    square = "s = f64[4] concatenate(x, x), dimensions={0}"
    dot = "ROOT r = f64[] dot(v, s), lhs_contracting_dims={0}, rhs_contracting_dims={0}"
    with pytest.raises(OutsideTheRule):
        run_exactly(parse_module(entry(*lines, square, dot)), [[1e200, 2.0]], 1, False)
    assert run_exactly(parse_module(entry(*lines, square, dot)), [[1e100, 1e100]], 1, False) == 0


def test_fractions_whose_sum_is_beyond_the_type_are_no_number_of_it() -> None:
    """Each is 1e200 or so; an exact sum of their squares is no infinity, and was an error of its own."""
    lines = ("x = f64[2] parameter(0)", "e = f64[2] exponential(x)")
    dot = "ROOT r = f64[] dot(e, e), lhs_contracting_dims={0}, rhs_contracting_dims={0}"
    with pytest.raises(OutsideTheRule, match="a sum beyond"):
        run_exactly(parse_module(entry(*lines, dot)), [[460.0, 461.0]], 1, False)
    assert float(run_exactly(parse_module(entry(*lines, dot)), [[0.0, 0.0]], 1, False)) == 2


@pytest.mark.parametrize("exponent", [-800.0, -1e30])
def test_a_power_of_e_that_the_machine_has_as_zero_is_no_number_of_it(exponent: float) -> None:
    """Nor is the second of 60 digits."""
    module = parse_module(entry("x = f64[] parameter(0)", "ROOT r = f64[] exponential(x)"))
    with pytest.raises(OutsideTheRule):
        run_exactly(module, [exponent], 1, False)
