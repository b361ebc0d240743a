"""Looks for inputs on which two modules differ, by running both.

A difference counts when three readings agree on it: the numbers of the element types; the same numbers with other
roundings (`perturbed`), which may move neither result to the other; and residues without rounding (`hashed`), which
still differ at that element, or else, where nothing is narrower than f32, the first two differ widely and for two
inputs, and no comparison hangs on rounding. A NaN counts where one module has it for all inputs and the other for none.
Inputs on which a decision hangs on a NaN show nothing, as laws of the reals end there, nor do those on which its bits
are looked at. What `before` leaves open, as the order of equal elements, is decided both ways and may explain nothing,
and indices keep the promises made of them. So neither the order of a sum, nor a folded constant, nor a call that nobody
has modelled, nor a law of exp that hashes do not know makes a refutation.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import islice
from math import isfinite, isnan
from time import monotonic
from typing import Any, Final

from hloproof.equivalence.answer import Place
from hloproof.equivalence.refuting.bits_of_nan import Observed
from hloproof.equivalence.refuting.guilty import guilty
from hloproof.equivalence.refuting.inputs import CHOICES, Choice, given_inputs
from hloproof.equivalence.refuting.machine import BoundedMachine, MachineSite, RecordingMachine, TooLong, until
from hloproof.equivalence.refuting.restricted import TuplePath, part, restricted, work
from hloproof.equivalence.refuting.shared_values import SharedValues
from hloproof.equivalence.refuting.spread import NARROW, WIDE, Leaf, differing, leaves_of
from hloproof.equivalence.refuting.turned import BrokenPromise, TurnedMachine, leaves_open
from hloproof.models.dataflow.async_sugar import desugar
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.module import Module, device_counts
from hloproof.models.hlo.shape import ArrayShape, leaves
from hloproof.models.interpreter.operations.collective import Devices, Stuck
from hloproof.models.interpreter.semantics.hashed import Hashed
from hloproof.models.interpreter.semantics.perturbed import Perturbed
from hloproof.models.interpreter.semantics.real import Real
from hloproof.models.interpreter.semantics.semantics import Scalars
from hloproof.models.interpreter.semantics.small_float import FLOATS, SMALL
from hloproof.models.interpreter.value import BadArgument, Element, NestedList, Value

_SAMPLES: Final = (1, 2)
"""Seeds of the perturbed runs."""
_ROUNDS: Final = 2
"""How often the choices are gone through, each time with another seed."""
_GLANCES: Final = 3
"""So many choices of inputs are looked at first."""
_ENOUGH: Final = 6
"""For so many choices of inputs one of two modules has to have no number, or to decide on what is none, and for none
another, to be wrong."""
_SUSPECTS: Final = 3
"""So many arrays of a result are looked at more closely for one choice of inputs."""
_OUTSIDE: Final = frozenset({"rng", "rng-get-and-update-state", "infeed", "recv"})
"""Values from outside follow the order in which they are asked for, which a pass may change."""


@dataclass(frozen=True)
class Refutation:
    """Inputs, and the first element of the result that differs on them."""

    inputs: list[NestedList]
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


class Refuter:
    """The search for inputs on which two modules differ. Both have the same parameters and results."""

    def __init__(self, before: Module, after: Module) -> None:
        self._given = before, after
        self._search: _Search | None = None
        self._tried: set[tuple[int, bool, str]] = set()
        self._problems: dict[bool, str] = {}
        """Why modules could not be run on inputs in parts (True), and on inputs of all elements (False)."""

    def glance(self, seconds: float) -> Refutation | None:
        """Looks at few choices of inputs, which are enough for most pairs that differ, and at more where these make it
        likely that they do; a closer look may take `seconds` more."""
        found = self._find(seconds, 1, CHOICES[:_GLANCES], at_a_glance=True)
        if not isinstance(found, Refutation) and self._search is not None and self._search.suspected:
            found = self._find(seconds, 1, CHOICES, at_a_glance=True)
        return found if isinstance(found, Refutation) else None

    def find(self, seconds: float) -> Refutation | str:
        """A refutation, or why there is none: a sentence. What was tried at a glance is not tried again."""
        return self._find(seconds, _ROUNDS, CHOICES)

    def _find(
        self, seconds: float, rounds: int, choices: Sequence[Choice], at_a_glance: bool = False
    ) -> Refutation | str:
        deadline = monotonic() + seconds
        if self._search is None:
            before, after = map(desugar, self._given)
            counts = device_counts(before)
            if counts != device_counts(after):
                return "the two are for different numbers of devices"
            if asked := _outside(before, after):
                return f"not run: what {asked} gives depends on when it is asked"
            self._search = _Search(before, after, Devices(*(max(1, n) for n in counts)))
        for seed in range(rounds):
            for in_parts in (True, False):
                for choice in choices:
                    left = deadline - monotonic()
                    if left <= 0:
                        return self._said() or "the budget ran out while both were run"
                    if in_parts in self._problems:
                        break
                    if at_a_glance and not in_parts and True not in self._problems:
                        return ""
                    if (seed, in_parts, choice.name) in self._tried:
                        continue
                    # Inputs in parts take little time if any; of the others the first may take all that is left.
                    end = deadline - left / 2 if in_parts or seed or choice is not CHOICES[0] else deadline
                    latest = deadline + seconds if at_a_glance else deadline
                    found = self._attempt(choice, seed, in_parts, end, latest, at_a_glance)
                    if found is not None:
                        return found
        told = f"run on {2 * _ROUNDS * len(CHOICES)} choices of inputs, both give the same"
        if self._search.blind:
            told += ", but for some where the bits of a NaN are looked at, which show nothing"
        return self._said() or told

    def _attempt(
        self, choice: Choice, seed: int, in_parts: bool, end: float, latest: float, at_a_glance: bool
    ) -> Refutation | None:
        assert self._search is not None
        try:
            with until(latest):
                found = self._search.attempt(choice, seed, end, latest, in_parts)
        except TooLong as error:
            if not at_a_glance and (in_parts or monotonic() >= latest):
                self._problems[in_parts] = f"not run: {error}"
        except (NotModelled, Stuck, BadArgument) as error:
            self._problems[in_parts] = f"not run: {error}"
        except (ArithmeticError, LookupError, TypeError, ValueError, RecursionError) as error:
            self._problems[in_parts] = f"not run: {type(error).__name__}: {error}"
        else:
            self._tried.add((seed, in_parts, choice.name))
            return found
        return None

    def _said(self) -> str:
        """What kept the modules from being run on inputs of all elements."""
        return self._problems.get(False, "")


def refute(before: Module, after: Module, budget_seconds: float) -> Refutation | str:
    """A refutation, or why there is none: a sentence. Both modules have the same parameters and results."""
    return Refuter(before, after).find(budget_seconds)


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

    def __init__(self, before: Module, after: Module, devices: Devices) -> None:
        self._modules: tuple[Module, Module] = (before, after)
        self._devices = devices
        kinds = set().union(*(_kinds(m) for m in self._modules))
        self._precise = not kinds & {"f16", "bf16", *SMALL}
        # Types of few digits that one of the two does not know are nothing that rounding brings in.
        self._own = frozenset(_kinds(before) ^ _kinds(after)) & SMALL.keys()
        self.blind = False
        """Some inputs showed nothing, as the bits of a NaN were looked at."""
        self.suspected = False
        """Numbers differed for some inputs, whatever the reason."""
        self._wide: set[TuplePath] = set()
        """Where a difference that residues do not show has been seen for other inputs."""
        self._agreed: set[TuplePath] = set()
        """Where both gave the same for some inputs."""
        self._astray: dict[TuplePath, int] = {}
        """For how many inputs `after` alone decides on what is no number, and differs."""
        self._lost: int | None = 0
        """For how many inputs `after` had no number where `before` had one; None when it had one for some inputs."""

    def attempt(self, choice: Choice, seed: int, deadline: float, latest: float, in_parts: bool) -> Refutation | None:
        """Runs both on inputs of a choice, until `deadline`; what is worth a closer look may take until `latest`.
        Raises TooLong, NotModelled, Stuck, BadInput."""
        given = given_inputs(self._modules[0], self._devices, choice, seed, in_parts, deadline=deadline)
        observed = Observed()
        plain = self._both(self._modules, observed, given, deadline)
        if observed.bits_of_nan:
            self.blind = True
            return None
        before, after = leaves_of(plain.results)
        lost = _without_number([before], [after])
        if lost is None:
            self._lost = None
        if self._lost is None:
            suspects = _suspects(before, after)
            self._agreed.update(leaf.position for leaf in before if leaf.position not in suspects)
        else:
            suspects = [] if lost is None else [before[lost[0]].position]
        self.suspected = self.suspected or bool(suspects)
        suspects.sort(key=lambda path: work(restricted(self._modules[1], path)[0].entry))
        for path in suspects[:_SUSPECTS]:
            found = self._closer(path, given, plain.results, latest)
            if found is not None:
                return found
        return None

    def _closer(
        self, path: TuplePath, given: Sequence[NestedList], plain: Sequence[Sequence[Value]], deadline: float
    ) -> Refutation | None:
        """Whether the array at `path` of the result differs under the other readings too."""
        (before, ours), (after, theirs) = (restricted(m, path) for m in self._modules)
        modules, taken = (before, after), min(ours, theirs)
        if ours != theirs:
            modules, taken = self._modules, 0
        rest = path[taken:]
        results = [[part(v, path[:taken]) for v in side] for side in plain]
        precise = self._precise
        astray = False
        sampled: list[list[Value]] = []
        for sample in _SAMPLES:
            noisy = Perturbed(sample, self._own)
            run = self._both(modules, noisy, given, deadline)
            ours_outside, theirs_outside = run.outside
            # Where the one has no number whatever is put in, what follows from that in the other is no matter.
            if ours_outside - theirs_outside:
                return None
            astray = astray or (self._lost is None and bool(theirs_outside - ours_outside))
            if astray and path in self._agreed:
                return None
            precise = precise and not (noisy.close_decision or ours_outside or theirs_outside)
            sampled += run.results
        run = self._both(modules, Hashed(self._own), given, deadline, recording=True)
        results += [*run.results, *sampled]
        if leaves_open(modules[0]):
            try:
                results.append(self._otherwise(modules[0], given, deadline))
            except BrokenPromise:
                return None
        digests = run.digests[0], run.digests[1]
        leaves = [[leaf for leaf in side if leaf.position == rest] for side in leaves_of(results)]
        hashed, samples = leaves[2:4], [leaves[n::2][:1] + leaves[n::2][2:] for n in (0, 1)]
        found = _first(samples, hashed) if self._lost is None else _without_number(*samples)
        if self._lost is not None:
            self._lost += found is not None
            if self._lost < _ENOUGH:
                return None
        if astray and found is not None:
            self._astray[path] = self._astray.get(path, 0) + 1
            if self._astray[path] < _ENOUGH:
                return None
        if found is None:
            # Where floats decide what is read, residues may decide alike for both: a wide difference will do then, if
            # it shows for two inputs, and no decision is taken on a few digits, or on what is no number.
            found = _first(samples, None) if precise else None
            if found is None or path not in self._wide:
                self._wide |= {path} if found is not None else set()
                return None
        n, k = found
        b, a = leaves[0][n], leaves[1][n]
        return Refutation(
            given[0] if self._devices.count == 1 else list(given),
            self._devices.replicas,
            self._devices.partitions,
            b.device,
            path,
            b.index(k),
            b.array.data[k],
            a.array.data[k],
            *guilty(*modules, *digests, rest),
        )

    def _otherwise(self, module: Module, given: Sequence[NestedList], deadline: float) -> list[Value]:
        """What the module gives where it decides otherwise what it leaves open: one more sample of it."""
        machine = TurnedMachine(module, Real(), self._devices, deadline)
        return machine.run([machine.read_inputs(one) for one in given])

    def _both(
        self,
        modules: tuple[Module, Module],
        scalars: Scalars,
        given: Sequence[NestedList],
        deadline: float,
        recording: bool = False,
    ) -> _Runs:
        """Both modules under one semantics; what they compute alike is computed once."""
        shared = SharedValues(scalars.outside if isinstance(scalars, Perturbed) else None)
        machine = RecordingMachine if recording else BoundedMachine
        machines = [machine(m, scalars, self._devices, deadline, shared) for m in modules]
        inputs = [machines[0].read_inputs(one) for one in given]
        machines[1].compact = machines[0].compact
        results, outside = [], []
        for m in machines:
            results.append(m.run(inputs))
            outside.append(shared.taken())
        digests = [m.digests for m in machines if isinstance(m, RecordingMachine)]
        return _Runs(results, outside, digests)


@dataclass(frozen=True)
class _Runs:
    """Of two modules under one semantics."""

    results: list[list[Value]]
    """Per device."""
    outside: list[frozenset[Hashable]]
    """Decisions on what no real number is."""
    digests: list[dict[MachineSite, list[int]]]
    """What each instruction gave, where it was recorded."""


def _kinds(module: Module) -> set[str]:
    """The element types that occur."""
    shapes = (leaf for c in module.computations for i in c.instructions for _, leaf in leaves(i.shape))
    return {s.element_type for s in shapes if isinstance(s, ArrayShape)}


def _suspects(before: Sequence[Leaf], after: Sequence[Leaf]) -> list[TuplePath]:
    """Places in the result at which some device has different values; integers and predicates first, as they are
    exact."""
    found = {
        b.position: b.array.element_type in FLOATS
        for b, a in zip(before, after, strict=True)
        for _ in islice(differing(b.array.element_type, [b.array.data], [a.array.data]), 1)
    }
    return sorted(found, key=lambda path: (found[path], path))


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
