"""The executable reading with an end: it stops when its time is over, and remembers what was computed where."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import lru_cache
from math import prod
from time import monotonic
from typing import Final

from hloproof.equivalence.meaning import carried_when
from hloproof.equivalence.refuting.shared_values import SharedValues
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import ConvolutionDimensions, Window
from hloproof.models.hlo.module import Computation, Instruction, Module, device_counts
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.interpreter.compact.dispatch import COMPACT
from hloproof.models.interpreter.operations.collective import Devices, Stuck
from hloproof.models.interpreter.run import Machine
from hloproof.models.interpreter.semantics.hashed import PRIME
from hloproof.models.interpreter.semantics.semantics import Scalars
from hloproof.models.interpreter.value import Array, BadArgument, Classed, Token, Value
from hloproof.processes.alarm import at_most

_PRODUCTS_PER_SECOND: Final = {"real": 2e7, "perturbed": 5e6, "hashed": 8e6}
"""How many products a second are added up, roughly: enough to leave undone what would never end."""
_REMEMBERED: Final = 8
"""Values of one instruction that are told apart; later turns of a loop are not."""

_LEAST: Final = 1e-6
"""Seconds that an alarm is set to at least: 0 would set none."""

_BASE: Final = 0x1D2C3B4A59687

MachineSite = tuple[str, str]
"""A computation and an instruction of it."""


class TooLong(Exception):
    """The evaluation would not end, or did not, in the time that it had."""


NOT_RUN: Final = (
    TooLong, NotModelled, Stuck, BadArgument, ArithmeticError, LookupError, TypeError, ValueError, RecursionError,
)  # fmt: skip
"""What a run beside a proof may end with: inputs of its own making need not fit what the module does with them."""


def devices_of(module: Module) -> Devices:
    """Those that the module's header names."""
    return Devices(*(max(1, n) for n in device_counts(module)))


def until(deadline: float) -> AbstractContextManager[None]:
    """Raises TooLong in the body when the deadline has passed: no single operation or input outlasts it."""
    return at_most(max(deadline - monotonic(), _LEAST), lambda: TooLong("the budget ran out in a run"))


class BoundedMachine(Machine):
    """A machine that raises TooLong at an instruction that begins, or would surely end, after `deadline`."""

    def __init__(
        self, module: Module, scalars: Scalars, devices: Devices, deadline: float, shared: SharedValues | None = None
    ) -> None:
        super().__init__(module, scalars, devices, 0)
        self._deadline, self._shared = deadline, shared or SharedValues()
        self._literals = self._shared.literals

    def _instruction(
        self, i: Instruction, computation: Computation, operands: list[tuple[Value, ...]], devices: Sequence[int]
    ) -> list[Value]:
        def compute() -> list[Value]:
            return self._in_time(i, computation, operands, devices)

        return self._shared.value(self.module, computation, i, operands, devices, compute)

    def _in_time(
        self, i: Instruction, computation: Computation, operands: list[tuple[Value, ...]], devices: Sequence[int]
    ) -> list[Value]:
        left = self._deadline - monotonic()
        work = 0 if self.compact and i.opcode in COMPACT else _products(i, computation) * len(devices)
        if carried_when(i):
            raise NotModelled("a permutation, or a transfer, that carries nothing in some turns")
        if left < 0 or work > left * _PRODUCTS_PER_SECOND.get(self.scalars.name, 5e6):
            raise TooLong(f"the budget ran out at {i.name}")
        return super()._instruction(i, computation, operands, devices)


class RecordingMachine(BoundedMachine):
    """Keeps a digest of every value that an instruction had."""

    def __init__(
        self, module: Module, scalars: Scalars, devices: Devices, deadline: float, shared: SharedValues | None = None
    ) -> None:
        super().__init__(module, scalars, devices, deadline, shared)
        self.digests: dict[MachineSite, list[int]] = {}

    def evaluate(
        self, computation: Computation, arguments: Sequence[Sequence[Value]], devices: Sequence[int]
    ) -> list[Value]:
        for p in computation.parameters:
            self._keep((computation.name, p.name), [a[p.parameter_number or 0] for a in arguments])
        return super().evaluate(computation, arguments, devices)

    def _instruction(
        self, i: Instruction, computation: Computation, operands: list[tuple[Value, ...]], devices: Sequence[int]
    ) -> list[Value]:
        found = super()._instruction(i, computation, operands, devices)
        self._keep((computation.name, i.name), found)
        return found

    def _keep(self, site: MachineSite, values: Sequence[Value]) -> None:
        seen = self.digests.setdefault(site, [])
        if len(seen) < _REMEMBERED:
            seen.append(hash(tuple(_digest(v) for v in values)))


def _digest(value: Value) -> int:
    """Equal for equal elements in the same row-major order, whatever their dimensions."""
    if isinstance(value, Array):
        return hash(tuple(value.data))
    if isinstance(value, Classed):
        return _polynomial(value)
    if isinstance(value, tuple):
        return hash(tuple(_digest(v) for v in value))
    return hash(type(value) is Token)


def _polynomial(x: Classed) -> int:
    """The sum of element * base^position over all elements, by classes: the same for every way to cut them."""
    total = [0] if 0 in x.sizes else [1]
    stride = prod(x.sizes)
    for classes, n in zip(x.classes, x.sizes, strict=True):
        stride //= max(1, n)
        own = _powers(classes, stride)
        total = [t * p % PRIME for t in total for p in own]
    return sum(hash(v) % PRIME * t for v, t in zip(x.data, total, strict=True)) % PRIME


@lru_cache(512)
def _powers(classes: tuple[int, ...], stride: int) -> tuple[int, ...]:
    """For each class the sum of base^(index * stride)."""
    out = [0] * (max(classes, default=-1) + 1)
    step, power = pow(_BASE, stride, PRIME), 1
    for c in classes:
        out[c] += power
        power = power * step % PRIME
    return tuple(v % PRIME for v in out)


def _products(i: Instruction, computation: Computation) -> int:
    """How many numbers a sum of products multiplies; how many elements an instruction reads and writes otherwise."""
    if not isinstance(i.shape, ArrayShape):
        return 0
    size = i.shape.elements
    if i.opcode == "dot":
        left = computation.by_name[i.operands[0]].shape
        if isinstance(left, ArrayShape):
            return size * prod(left.dimensions[d] for d in i.attributes.integers("lhs_contracting_dims"))
    labels, window = i.attributes.get("dim_labels"), i.attributes.get("window")
    if i.opcode == "convolution" and isinstance(labels, ConvolutionDimensions):
        kernel = computation.by_name[i.operands[1]].shape
        if isinstance(kernel, ArrayShape):
            taps = (*labels.kernel_spatial, labels.kernel_input_feature)
            return size * prod(kernel.dimensions[d] for d in taps)
    if i.opcode == "reduce-window" and isinstance(window, Window):
        return size * prod(d.size for d in window.dimensions)
    return size
