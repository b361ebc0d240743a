"""Numbers that a module loses whatever it is given: a witness against proofs over real numbers.

What is lost for all inputs is lost in every run; so a module is run on a few, and each operation is watched, also those
that functions make of elements. One that loses something in each run that gives it numbers, and no others, loses it for
constants alone, as far as these runs tell. Nothing is asked of the form of the program. The run shares no code with the
prover.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import prod
from random import Random
from time import monotonic
from typing import Final

from hloproof.equivalence.refuting.inputs import NEAR_ONE, ZEROS, Choice, inputs_in_time
from hloproof.equivalence.refuting.machine import NOT_RUN, BoundedMachine, MachineSite, TooLong, devices_of, until
from hloproof.equivalence.refuting.watched_numbers import WatchedNumbers
from hloproof.models.dataflow.async_sugar import desugar
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import Attributes
from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.hlo.shape import ArrayShape, leaves
from hloproof.models.interpreter.compact.dispatch import compacted
from hloproof.models.interpreter.operations.collective import Devices
from hloproof.models.interpreter.operations.dispatch import is_known_call
from hloproof.models.interpreter.semantics.small_float import FLOATS, SMALL
from hloproof.models.interpreter.source_of_values import random_value
from hloproof.models.interpreter.value import Array, Classed, Value

CHOICES: Final = (ZEROS, NEAR_ONE, Choice("positive", (0.25, 0.5, 1.0, 2.0), "small"))
"""Zero, of which nothing is lost but what constants make; and others, of which functions that are not zero there make
other numbers."""
_TYPE: Final = re.compile(r"(?<=_)(?:tf|bf|fp|f)[0-9]+")
"""What names a type in the name of an algorithm."""
_OPAQUE: Final = frozenset(
    {"custom-call", "fft", "infeed", "recv", "recv-done", "rng", "rng-bit-generator", "rng-get-and-update-state"}
)
"""Operations of which proofs know nothing but that they are functions, or give something."""
_MOST_MADE_UP: Final = 100_000
"""Elements that what is not modelled gives; with more the run ends."""


def where_constants_are_lost(module: Module, seconds: float) -> str:
    """A sentence on an operation that loses a number in each run, or on why that is not known, as no run ended in the
    time; empty where there is none."""
    deadline = monotonic() + seconds
    module = desugar(module)
    devices = devices_of(module)
    lost: dict[MachineSite, str] = {}
    kept: set[MachineSite] = set()
    ended, problem = False, ""
    for choice in CHOICES:
        for in_parts in (True, False):
            watching = WatchedNumbers()
            machine = _Watched(module, watching, devices, deadline)
            problem = _problem(machine, choice, in_parts, deadline)
            lost.update(watching.lost)
            if not problem:
                ended = True
                # In a run that is cut off an operation may not have come to where it loses something.
                kept |= machine.seen - watching.lost.keys() - watching.blind
            if not problem or monotonic() >= deadline:
                break
    for site, what in lost.items():
        if site not in kept:
            return f"{what} at {site[1]} of {site[0]}, whatever the module is given"
    return "" if ended else f"no run shows that it loses no constant: {problem}"


def _problem(machine: _Watched, choice: Choice, in_parts: bool, deadline: float) -> str:
    """Why a run does not come to its end; empty where it does."""
    try:
        with until(deadline):
            given = inputs_in_time(machine.module, machine.devices, choice, 0, in_parts, deadline)
            machine.run([machine.read_inputs(one) for one in given])
    except NOT_RUN as error:
        return str(error) or type(error).__name__
    return ""


class _Watched(BoundedMachine):
    """What nobody knows may be anything, and goes on with small numbers."""

    def __init__(self, module: Module, watching: WatchedNumbers, devices: Devices, deadline: float) -> None:
        super().__init__(module, watching, devices, deadline)
        self._watching = watching
        self.seen: set[MachineSite] = set()
        """What was computed."""

    def _instruction(
        self, i: Instruction, computation: Computation, operands: list[tuple[Value, ...]], devices: Sequence[int]
    ) -> list[Value]:
        site = computation.name, i.name
        around, self._watching.site = self._watching.site, site
        try:
            # Not shared with what computes the same: each operation is watched by itself.
            found = self._in_time(i, computation, operands, devices)
            self._watch_algorithm(i, [value for values in operands for value in values], found)
            self.seen.add(site)
        except NotModelled:
            # What has a meaning, and cannot be run, may lose anything.
            if i.opcode not in _OPAQUE or (self.compact and is_known_call(i.attributes)):
                raise
            found = [self._made_up(i, d) for d in devices]
        finally:
            self._watching.site = around
        return found

    def _watch_algorithm(self, i: Instruction, operands: Sequence[Value], found: Sequence[Value]) -> None:
        """A contraction may compute in other types than its operands and its result have, as it says."""
        for name in _TYPE.findall(str(i.attributes.get("algorithm") or "")):
            for value in (*operands, *found):
                if isinstance(value, Array | Classed) and value.element_type in FLOATS:
                    # Numbers of 8 bits are as they are given; nobody says which ones others become.
                    given = {"tf32": "f32"}.get(name, name)
                    to = given if given in FLOATS else value.element_type if value.element_type in SMALL else "f8e4m3fn"
                    convert = self._watching.function("convert", [value.element_type], to, Attributes())
                    for element in value.data:
                        convert(element)

    def _made_up(self, i: Instruction, device: int) -> Value:
        size = sum(prod(leaf.dimensions) for _, leaf in leaves(i.shape) if isinstance(leaf, ArrayShape))
        if size > _MOST_MADE_UP:
            raise TooLong(f"{size} elements are not made up")
        made = random_value(i.shape, self.scalars, Random(f"{i.name} {device}"))
        return compacted(made) if self.compact else made
