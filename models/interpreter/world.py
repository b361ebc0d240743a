"""What the devices of a running module see of the world: their numbers, random bits, infeeds, sends and receives."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from hloproof.models.errors import NotModelled
from hloproof.models.hlo.module import Instruction
from hloproof.models.interpreter.in_flight import rest, source_device, target_devices
from hloproof.models.interpreter.operations.collective import Devices
from hloproof.models.interpreter.semantics.semantics import Scalars
from hloproof.models.interpreter.source_of_values import random_value, rng, rng_bit_generator
from hloproof.models.interpreter.step import Step
from hloproof.models.interpreter.value import Array, Classed, Token, Value


class World:
    """Of one run: random streams go on from one occurrence to the next, and what was sent is kept by its channel."""

    def __init__(self, devices: Devices, seed: int) -> None:
        self._devices, self._seed = devices, seed
        self._counters: dict[tuple[str, int], int] = {}
        self._sent: dict[tuple[int, int, int], tuple[int, Value]] = {}
        """By channel, device that sends and device that receives: how often it was sent, and what was last."""
        self._taken: dict[tuple[int, int, int], int] = {}
        """How much of that has been received."""
        self._sources: dict[tuple[int, int], list[int | None]] = {}
        """By channel and device: where each transfer comes from that is under way, as `source_device` says it."""

    def operation(self, step: Step, device: int) -> Value:
        """An operation that sees the device's number, the outside world or a random source. Raises NotModelled for any
        other, and for what was not sent before it is received."""
        i, opcode = step.instruction, step.instruction.opcode
        channel = i.attributes.integer("channel_id", 0)
        match opcode:
            case "partition-id" | "replica-id":
                parts = self._devices.partitions
                number = device % parts if opcode == "partition-id" else device // parts
                return step.result([step.scalars.constant(step.shape.element_type, number)])
            case "rng":
                return rng(step, self._random(opcode, device))
            case "rng-bit-generator":
                return rng_bit_generator(step, self._seed)
            case "infeed" | "rng-get-and-update-state":
                return random_value(i.shape, step.scalars, self._random(opcode, device))
            case "send":
                for target in target_devices(i, device):
                    times, _ = self._sent.get((channel, device, target), (0, None))
                    self._sent[channel, device, target] = (times + 1, step.operands[0])
                return (step.operands[0], *rest(i.shape, 1))
            case "recv":
                self._sources.setdefault((channel, device), []).append(source_device(i, device))
                data = random_value(i.shape, step.scalars, self._random(opcode, device))
                return data if isinstance(data, tuple) else (data,)
            case "send-done":
                return Token()
            case "recv-done":
                data = step.operands[0]
                host = data[0] if isinstance(data, tuple) else data
                return (self._received(i, device, host, step.scalars), Token())
            case _:
                raise NotModelled(f"the opcode {opcode}")

    def _random(self, opcode: str, device: int) -> Random:
        """A stream for one occurrence: it depends on the seed, the opcode, and how many came before."""
        number = self._counters.get((opcode, device), 0)
        self._counters[opcode, device] = number + 1
        return Random(f"{self._seed} {opcode} {number} {device}")

    def _received(self, done: Instruction, device: int, host: Value, scalars: Scalars) -> Value:
        """What the device of the matching pair has sent on the channel; zeros for a device that is no target. Where
        there are no pairs, what the host gives in a transfer with it, else what the device itself has sent."""
        channel = done.attributes.integer("channel_id", 0)
        under_way = self._sources.get((channel, device), [])
        if len(set(under_way)) > 1:
            raise NotModelled(f"device {device} receives from several devices at once on channel {channel}")
        source = under_way.pop() if under_way else None
        if source is None and done.attributes.flag("is_host_transfer"):
            return host
        if source is None:
            source = device
        if source < 0:
            return _zeros(host, scalars)
        times, sent = self._sent.get((channel, source, device), (0, host))
        taken = self._taken.get((channel, source, device), 0)
        if times <= taken:
            raise NotModelled(f"device {source} has not yet sent anything to device {device} on channel {channel}")
        if times > taken + 1:  # of two that are under way nobody says which arrives first
            raise NotModelled(f"device {source} has sent several times on channel {channel}")
        self._taken[channel, source, device] = times
        return sent


def _zeros(like: Value, scalars: Scalars) -> Value:
    if isinstance(like, Array):
        zero = scalars.constant(like.element_type, 0)
        return Array(like.element_type, like.sizes, [zero] * len(like.data))
    if isinstance(like, Classed):
        return replace(like, data=[scalars.constant(like.element_type, 0)] * len(like.data))
    return tuple(_zeros(v, scalars) for v in like) if isinstance(like, tuple) else like
