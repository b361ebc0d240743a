"""What a sampled number may be off by: small numbers are told apart, what is left by cancelling is not."""

from __future__ import annotations

import pytest

from hloproof.equivalence.matcher.noise import UNIT, after, multiplied, noise_of, noisy, total
from hloproof.equivalence.matcher.samples import apart


@pytest.mark.parametrize(
    ("a", "b", "differ"),
    [
        (1e-11, 2.8e-16, True),
        (1e-31, -3e-28, True),
        (1.0, 1.001, False),
        (0.0, 0.0, False),
        (after("subtract", [1.0, 1.0000001], -1e-7), 0.0, False),
        (after("subtract", [1.0, 0.9], 0.1), 0.2, True),
        (after("multiply", [after("subtract", [1.0, 1.0000001], -1e-7), 5.0], -5e-7), 3e-7, False),
        (after("divide", [1e-18, noisy(1e-9, 1e-6)], 1e-9), 4e-8, False),
        (after("log", [noisy(1.0, 1e-3)], 0.0), 5e-7, False),
        (noisy(1e-3, 1e-2), 2e-3, True),
        (total([1.0, -1.0]), 1e-6, False),
        (total([1e-9, 2e-9], 4), 1e-9, True),
        (multiplied([noisy(1e-9, 1e-6), 7.0]), 5e-7, False),
        (multiplied([1e-9, 7.0]), 5e-9, True),
        (3, 4, True),
        (True, True, False),
    ],
)
def test_numbers_are_told_apart_beyond_their_noise(a: float, b: float, differ: bool) -> None:
    assert apart(a, b) == differ


def test_integers_and_other_functions_keep_what_they_have() -> None:
    assert noise_of(7) == 0.0 and noise_of(2.0) == 2.0 * UNIT
    assert total([1, 2, 3], 2) == 12 and isinstance(total([1, 2, 3], 2), int)
    assert after("exponential", [noisy(0.0, 0.5)], 1.0).noise == 0.5
    assert type(after("cosine", [1.0], 0.54)) is float
