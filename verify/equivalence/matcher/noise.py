"""How far a sampled float may be off: identities of the weaker tiers round otherwise, and what cancels keeps the error.

Not trusted. A float is taken to be right up to `UNIT` of itself; one that may be further off carries how far, in its
own unit, as a `Noisy`. So numbers far below 1, which is what most gradients are, can still be told apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Final

UNIT: Final = 1e-6
"""The relative error of inputs and constants."""
RELATIVE: Final = 3e-3
"""Two numbers that are nearer than this part of the larger are never told apart."""
LIPSCHITZ: Final = frozenset({"tanh", "sine", "cosine", "logistic", "atan2", "erf"})
"""Functions that make no error larger."""
TINY: Final = 1e-300


class Noisy(float):
    """A float and the absolute error that it may have."""

    __slots__ = ("noise",)
    noise: float


def noise_of(value: Any) -> float:
    """The absolute error that a number may have: none for integers."""
    if isinstance(value, Noisy):
        return value.noise
    return 0.0 if isinstance(value, int) else UNIT * abs(value)


def noisy(value: float, noise: float) -> float:
    """The number with this error; as it is where that is no more than any float has."""
    if not noise > UNIT * abs(value):
        return value
    out = Noisy(value)
    out.noise = noise
    return out


def after(op: str, args: Sequence[Any], value: Any) -> Any:
    """The value of an operation with the error that follows from those of the operands."""
    if type(value) is not float:
        return value
    if op in ("add", "subtract"):
        return noisy(value, sum(map(noise_of, args)))
    if not any(isinstance(a, Noisy) for a in args):
        return value
    relative = sum(noise_of(a) / max(abs(a), TINY) for a in args)
    match op:
        case "multiply":
            a, b = args
            return noisy(value, abs(a) * noise_of(b) + abs(b) * noise_of(a))
        case "exponential":
            return noisy(value, abs(value) * noise_of(args[0]))
        case "log":
            return noisy(value, relative)
        case "divide" | "sqrt" | "rsqrt" | "cbrt" | "power":
            return noisy(value, abs(value) * relative)
        case _ if op in LIPSCHITZ:
            return noisy(value, sum(map(noise_of, args)))
    return noisy(value, max(abs(value), 1.0) * relative)


def total(values: Sequence[Any], times: Any = 1) -> Any:
    """The sum of numbers, times a number without error."""
    value = sum(values) * times
    return noisy(value, sum(map(noise_of, values)) * abs(times)) if type(value) is float else value


def multiplied(values: Sequence[Any]) -> Any:
    """The product of numbers."""
    value = prod(values)
    if type(value) is not float or not any(isinstance(v, Noisy) for v in values):
        return value
    rest = [noise_of(v) * abs(prod([*values[:k], *values[k + 1 :]])) for k, v in enumerate(values)]
    return noisy(value, sum(rest))
