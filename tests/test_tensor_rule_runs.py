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
