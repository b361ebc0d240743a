"""A run beside a proof over the real numbers: where one module gives a number, so does the other.

Identities of the weaker tiers hold of real numbers, under conditions that are read off terms. A number that does not
fit into its type, or is divided by and should not be, is where such a condition forgets something; where constants
alone are to blame it shows for nearly all inputs. A number that its type takes for zero shows where it comes out: one
element is zero in one module and not in the other, whatever the inputs. The run shares no code with the prover.
"""

from __future__ import annotations

from cmath import isfinite
from collections.abc import Hashable
from dataclasses import dataclass, field
from itertools import product
from time import monotonic
from typing import Final

from hloproof.equivalence.refuting.bits_of_nan import Observed
from hloproof.equivalence.refuting.inputs import NEAR_ONE, ZEROS, Choice, inputs_in_time
from hloproof.equivalence.refuting.machine import NOT_RUN, BoundedMachine, devices_of, until
from hloproof.equivalence.refuting.shared_values import SharedValues
from hloproof.equivalence.refuting.spread import Leaf, leaves_of
from hloproof.models.dataflow.async_sugar import desugar
from hloproof.models.hlo.module import Module
from hloproof.models.interpreter.semantics.element_type import COMPLEX
from hloproof.models.interpreter.semantics.small_float import FLOATS
from hloproof.models.interpreter.value import Value

_Pairs = list[tuple[Leaf, Leaf]]
_SMALL: Final = (ZEROS, NEAR_ONE, Choice("few", (-1.0, 0.0, 0.5, 1.0), "few", coarse=True))
"""Zero, and numbers that are neither large nor near it: what is computed from others may end in an infinity."""
_SEEDS: Final = 2
_OFTEN: Final = 3
"""Inputs for which an element has to be zero in one module alone."""
_BOTH: Final = 255
"""Said in place of their number where an element is zero in neither module, for some inputs."""


def where_a_number_is_lost(before: Module, after: Module, seconds: float) -> str:
    """A sentence on an element that is a number before and none after, for some small inputs, or zero in one of the two
    alone, for all of them that do not make it zero in both. Empty where there is none among those tried, or where the
    two cannot be run in the time. What has no value before may be anything after. Both have the same parameters and
    results, and are for the same number of devices."""
    deadline = monotonic() + seconds
    zeros = _Zeros()
    modules = desugar(before), desugar(after)
    devices = devices_of(before)
    for choice, seed in product(_SMALL, range(_SEEDS)):
        for in_parts in (True, False):
            if monotonic() >= deadline:
                return zeros.told()
            observed = Observed()
            try:
                with until(deadline):
                    given = inputs_in_time(modules[0], devices, choice, seed, in_parts, deadline)
                    shared = SharedValues()
                    machines = [BoundedMachine(m, observed, devices, deadline, shared) for m in modules]
                    inputs = [machines[0].read_inputs(one) for one in given]
                    machines[1].compact = machines[0].compact
                    results: list[list[Value]] = [m.run(inputs) for m in machines]
                    pairs = [] if observed.bits_of_nan else _of_floats(*leaves_of(results))
            except NOT_RUN:
                continue
            if found := _lost(pairs):
                return found
            zeros.count(pairs)
            break
    return zeros.told()


def _of_floats(before: list[Leaf], after: list[Leaf]) -> _Pairs:
    return [(b, a) for b, a in zip(before, after, strict=True) if b.array.element_type in FLOATS | COMPLEX]


def _lost(pairs: _Pairs) -> str:
    for ours, theirs in pairs:
        for k, (b, a) in enumerate(zip(ours.array.data, theirs.array.data, strict=True)):
            if isfinite(b) and not isfinite(a):
                return f"{_element(ours, k)} is {b:.9g} before and {a:.9g} after for some small inputs"
    return ""


@dataclass
class _Zeros:
    """Elements that are zero in one module alone, over several inputs."""

    counts: dict[Hashable, tuple[Leaf, bytearray]] = field(default_factory=dict)
    """Of the elements of each array: for how many inputs, or `_BOTH`."""

    def count(self, pairs: _Pairs) -> None:
        for n, (ours, theirs) in enumerate(pairs):
            key = n, ours.array.sizes, tuple(map(tuple, ours.firsts))
            _, counts = self.counts.setdefault(key, (ours, bytearray(len(ours.array.data))))
            for k, (b, a) in enumerate(zip(ours.array.data, theirs.array.data, strict=True)):
                if b and a:
                    counts[k] = _BOTH
                elif (b or a) and isfinite(b) and isfinite(a) and counts[k] != _BOTH:
                    counts[k] += 1

    def told(self) -> str:
        for leaf, counts in self.counts.values():
            for k, n in enumerate(counts):
                if _OFTEN <= n < _BOTH:
                    return f"{_element(leaf, k)} is zero in one of the two alone for all small inputs tried"
        return ""


def _element(leaf: Leaf, k: int) -> str:
    where = f"element {list(leaf.index(k))}"
    return f"{where} of result {'.'.join(map(str, leaf.position))}" if leaf.position else where
