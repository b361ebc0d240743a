"""Looks for inputs on which two modules differ, by running both.

A difference counts when three readings agree on it: the numbers of the element types; the same numbers with other
roundings (`perturbed`), which may move neither result to the other; and residues without rounding (`hashed`), which
still differ at that element, or else, where nothing is narrower than f32, the first two differ widely and for two
inputs, and no comparison hangs on rounding. A NaN counts where one module has it for all inputs and the other for none.
Inputs on which a decision hangs on a NaN show nothing, as laws of the reals end there. So neither the order of
a sum, nor a folded constant, nor a call that nobody has modelled, nor a law of exp that hashes do not know makes a
refutation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, isnan
from time import monotonic
from typing import Any, Final

from hloproof.equivalence.answer import Place
from hloproof.equivalence.refuting.guilty import guilty
from hloproof.equivalence.refuting.inputs import CHOICES, Choice, given_inputs
from hloproof.equivalence.refuting.machine import BoundedMachine, OutOfTime, RecordingMachine
from hloproof.equivalence.refuting.shared_values import SharedValues
from hloproof.equivalence.refuting.spread import NARROW, WIDE, Leaf, differing, leaves_of
from hloproof.models.dataflow.async_sugar import desugar
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.module import Module
from hloproof.models.hlo.shape import ArrayShape, leaves
from hloproof.models.interpreter.operations.collective import Devices, Stuck
from hloproof.models.interpreter.semantics.hashed import Hashed
from hloproof.models.interpreter.semantics.perturbed import Perturbed
from hloproof.models.interpreter.semantics.real import Real
from hloproof.models.interpreter.semantics.semantics import Scalars
from hloproof.models.interpreter.semantics.small_float import FLOATS, SMALL
from hloproof.models.interpreter.value import BadInput, Element, Nested, Value

_SAMPLES: Final = (1, 2)
"""Seeds of the perturbed runs."""
_ROUNDS: Final = 2
"""How often the choices are gone through, each time with another seed."""
_ENOUGH: Final = 6
"""For so many choices of inputs one of two modules has to have no number, and for none other one, to be wrong."""
_OUTSIDE: Final = frozenset({"rng", "rng-get-and-update-state", "infeed", "recv"})
"""Values from outside follow the order in which they are asked for, which a pass may change."""


@dataclass(frozen=True)
class Refutation:
    """Inputs, and the first element of the result that differs on them."""

    inputs: list[Nested]
    """One value per parameter; with several devices one such list per device."""
    replicas: int
    partitions: int
    device: int
    position: tuple[int, ...]
    """Of the array in the result's tuple; empty when the result is an array."""
    index: tuple[int, ...]
    before: Element
    after: Element
    before_place: Place | None
    after_place: Place | None

    @property
    def reason(self) -> str:
        """One sentence."""
        where = f"element {list(self.index)}"
        if self.position:
            where += f" of result {'.'.join(map(str, self.position))}"
        if self.replicas * self.partitions > 1:
            where += f" on device {self.device}"
        names = [f"%{p.instruction} (line {p.line})" for p in (self.before_place, self.after_place) if p is not None]
        parted = f"; they part at {' and '.join(names)}" if names else ""
        return f"{where} is {_shown(self.before)} before and {_shown(self.after)} after{parted}"

    def as_json(self) -> dict[str, Any]:
        """`inputs` as `hloproof run --inputs` reads them."""
        devices = {"replicas": self.replicas, "partitions": self.partitions, "device": self.device}
        return {
            "inputs": self.inputs,
            **(devices if self.replicas * self.partitions > 1 else {}),
            "position": list(self.position),
            "index": list(self.index),
            "values": [_number(self.before), _number(self.after)],
            "instructions": [None if p is None else p.as_json() for p in (self.before_place, self.after_place)],
        }


def refute(before: Module, after: Module, budget_seconds: float) -> Refutation | str:
    """A refutation, or why there is none: a sentence. Both modules have the same parameters and results."""
    deadline = monotonic() + budget_seconds
    before, after = desugar(before), desugar(after)
    counts = [
        (max(1, m.attributes.integer("replica_count", 1)), max(1, m.attributes.integer("num_partitions", 1)))
        for m in (before, after)
    ]
    if counts[0] != counts[1]:
        return "the two are for different numbers of devices"
    if asked := _outside(before, after):
        return f"not run: what {asked} gives depends on when it is asked"
    search = _Search(before, after, Devices(*counts[0]), deadline)
    problems: dict[bool, str] = {}
    for seed in range(_ROUNDS):
        for in_parts in (True, False):
            for choice in CHOICES:
                left = deadline - monotonic()
                if left <= 0:
                    return _said(problems) or "the budget ran out while both were run"
                if in_parts in problems:
                    break
                # Inputs in parts take little time if any; of the others the first may take all that is left.
                end = deadline - left / 2 if in_parts or seed or choice is not CHOICES[0] else deadline
                try:
                    found = search.attempt(choice, seed, end, in_parts)
                except OutOfTime as error:
                    if in_parts or monotonic() >= deadline:
                        problems[in_parts] = f"not run: {error}"
                except (NotModelled, Stuck, BadInput) as error:
                    problems[in_parts] = f"not run: {error}"
                except (ArithmeticError, LookupError, TypeError, ValueError, RecursionError) as error:
                    problems[in_parts] = f"not run: {type(error).__name__}: {error}"
                else:
                    if found is not None:
                        return found
    return _said(problems) or f"both give the same on {2 * _ROUNDS * len(CHOICES)} choices of inputs"


def _said(problems: Mapping[bool, str]) -> str:
    """What kept the modules from being run on inputs of all elements."""
    return problems.get(False, "")


def _outside(before: Module, after: Module) -> str:
    """The first opcode that asks the world outside, unless both modules ask once, alike, and outside of any loop."""
    for opcode in sorted(_OUTSIDE):
        asked = [
            [(i.shape, c is m.entry) for c in m.computations for i in c.instructions if i.opcode == opcode]
            for m in (before, after)
        ]
        if asked[0] != asked[1] or len(asked[0]) > 1 or not all(entry for _, entry in asked[0]):
            return opcode
    return ""


class _Search:
    """Two modules that are run side by side."""

    def __init__(self, before: Module, after: Module, devices: Devices, deadline: float) -> None:
        self._modules: tuple[Module, Module] = (before, after)
        self._devices, self._deadline = devices, deadline
        kinds = set().union(*(_kinds(m) for m in self._modules))
        self._precise = not kinds & {"f16", "bf16", *SMALL}
        self._wide = False
        """A difference that residues do not show has been seen for other inputs."""
        self._lost: int | None = 0
        """For how many inputs `after` had no number where `before` had one; None when it had one for some inputs."""
        self._left_before = False

    def attempt(self, choice: Choice, seed: int, deadline: float, in_parts: bool) -> Refutation | None:
        """Runs both on inputs of a choice. Raises OutOfTime, NotModelled, Stuck, BadInput."""
        given = given_inputs(self._modules[0], self._devices, choice, seed, in_parts)
        runs = [self._both(Real(), given, deadline)]
        plain = leaves_of(runs[0])
        if _without_number([plain[0]], [plain[1]]) is None:
            self._lost = None
        if self._lost is None and not _suspect(*plain):
            return None
        # Types of few digits that one of the two does not know are nothing that rounding brings in.
        own = frozenset(_kinds(self._modules[0]) ^ _kinds(self._modules[1])) & SMALL.keys()
        # What is worth a closer look may take all the time that is left.
        machines: list[RecordingMachine] = []
        runs.append(self._both(Hashed(own), given, self._deadline, machines))
        precise = self._precise
        for sample in _SAMPLES:
            noisy = Perturbed(sample, own)
            runs.append(self._both(noisy, given, self._deadline))
            if noisy.left_the_reals and (self._lost is None or self._left_before):
                return None
            precise = precise and not noisy.close_decision
        leaves = leaves_of([side for run in runs for side in run])
        hashed, samples = leaves[2:4], [leaves[n::2][:1] + leaves[n::2][2:] for n in (0, 1)]
        found = _first(samples, hashed) if self._lost is None else _without_number(*samples)
        if self._lost is not None:
            self._lost += found is not None
            if self._lost < _ENOUGH:
                return None
        if found is None:
            # Where floats decide what is read, residues may decide alike for both: a wide difference will do then, if
            # it shows for two inputs, and no decision is taken on a few digits.
            found = _first(samples, None) if precise else None
            if found is None or not self._wide:
                self._wide |= found is not None
                return None
        leaf, k = found
        b, a = leaves[0][leaf], leaves[1][leaf]
        places = guilty(*self._modules, machines[0].digests, machines[1].digests, b.position)
        return Refutation(
            given[0] if self._devices.count == 1 else list(given),
            self._devices.replicas,
            self._devices.partitions,
            b.device,
            b.position,
            b.index(k),
            b.array.data[k],
            a.array.data[k],
            *places,
        )

    def _both(
        self,
        scalars: Scalars,
        given: Sequence[Nested],
        deadline: float,
        recording: list[RecordingMachine] | None = None,
    ) -> list[list[Value]]:
        """The results of both modules under one semantics; what they compute alike is computed once."""
        shared = SharedValues()
        machine = BoundedMachine if recording is None else RecordingMachine
        machines = [machine(m, scalars, self._devices, deadline, shared) for m in self._modules]
        inputs = [machines[0].read_inputs(one) for one in given]
        machines[1].compact = machines[0].compact
        if recording is not None:
            recording += [m for m in machines if isinstance(m, RecordingMachine)]
        results = []
        for m in machines:
            results.append(m.run(inputs))
            if isinstance(scalars, Perturbed) and m is machines[0]:
                self._left_before = scalars.left_the_reals
        return results


def _kinds(module: Module) -> set[str]:
    """The element types that occur."""
    shapes = (leaf for c in module.computations for i in c.instructions for _, leaf in leaves(i.shape))
    return {s.element_type for s in shapes if isinstance(s, ArrayShape)}


def _suspect(before: Sequence[Leaf], after: Sequence[Leaf]) -> bool:
    return any(
        True
        for b, a in zip(before, after, strict=True)
        for _ in differing(b.array.element_type, [b.array.data], [a.array.data])
    )


def _first(
    samples: Sequence[Sequence[Sequence[Leaf]]], hashed: Sequence[Sequence[Leaf]] | None
) -> tuple[int, int] | None:
    """The number of the leaf, and of its element, that differs in all samples, and in residues where given."""
    for n, leaf in enumerate(samples[0][0]):
        ours, theirs = ([run[n].array.data for run in side] for side in samples)
        for k in differing(leaf.array.element_type, ours, theirs, WIDE if hashed is None else NARROW):
            if hashed is None or hashed[0][n].array.data[k] != hashed[1][n].array.data[k]:
                return n, k
    return None


def _without_number(before: Sequence[Sequence[Leaf]], after: Sequence[Sequence[Leaf]]) -> tuple[int, int] | None:
    """The number of the leaf, and of its element, that is a number in all runs of `before` and in none of `after`."""
    for n, leaf in enumerate(before[0]):
        if leaf.array.element_type in FLOATS:
            ours, theirs = ([run[n].array.data for run in side] for side in (before, after))
            for k in range(len(leaf.array.data)):
                if all(isfinite(d[k]) for d in ours) and all(isnan(d[k]) for d in theirs):
                    return n, k
    return None


def _shown(value: Element) -> str:
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def _number(value: Element) -> Any:
    return [value.real, value.imag] if isinstance(value, complex) else value


__all__ = ["Refutation", "refute"]
