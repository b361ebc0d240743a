"""A module evaluated, as the command line and the server ask for it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from hloproof.models.dataflow.async_sugar import desugar
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.module import Module
from hloproof.models.interpreter.run import run_module

_SPELLED: Final = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}

MOST_DEVICES: Final = 65_536
"""Each holds arrays of its own."""


def run_once(
    module: Module,
    inputs: Sequence[Any] | None,
    semantics: str,
    replicas: int | None,
    partitions: int | None,
    seed: int,
) -> Any:
    """The result as nested lists; what is not given is what the module says, or 1.

    Raises BadInput of the interpreter for inputs that do not fit, NotModelled and Stuck for what is not evaluated.
    """
    one = desugar(module)
    counts = [
        n if n is not None else max(1, one.attributes.integer(attribute, 1))
        for n, attribute in ((replicas, "replica_count"), (partitions, "num_partitions"))
    ]
    if counts[0] * counts[1] > MOST_DEVICES:
        raise NotModelled(f"{counts[0] * counts[1]} devices are more than {MOST_DEVICES}")
    return run_module(one, inputs, "hashed" if semantics == "hashed" else "real", counts[0], counts[1], seed)


def spelled(value: Any) -> Any:
    """The same in JSON proper: complex numbers as pairs, NaN and infinities as strings."""
    if isinstance(value, list | tuple):
        return [spelled(v) for v in value]
    if isinstance(value, complex):
        return [spelled(value.real), spelled(value.imag)]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def unspelled(value: Any) -> Any:
    """What `spelled` wrote, read back but for complex numbers, which are read as pairs."""
    if isinstance(value, list):
        return [unspelled(v) for v in value]
    return _SPELLED.get(value, value) if isinstance(value, str) else value
