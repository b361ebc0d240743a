"""A run with memory: the scheduled module is evaluated with every value stored as bytes at its place in the plan.

Beside the memory the values themselves are kept, and whoever reads must find the bytes of the value that it reads. An
operation in flight works early, late or in between; a result over an operand is made in blocks, forwards, backwards and
shuffled, each block from the bytes that are there then. The first byte that is not as it should be ends the run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from hloproof.memory.machine import Differs, FlightTime, MemoryMachine, OverwrittenRead, RunOrder
from hloproof.memory.plan import Plan
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.text.literal import LiteralError
from hloproof.models.interpreter.operations.collective import Devices, Stuck
from hloproof.models.memory.assignment import Key, place_text

WAYS: Final[tuple[tuple[FlightTime, RunOrder], ...]] = (
    ("early", "forwards"),
    ("late", "backwards"),
    ("between", "shuffled"),
)
"""How operations in flight and results over operands are run, one after the other."""


@dataclass(frozen=True, slots=True)
class ReplayLimits:
    """A plan of more bytes is not run; a run that computes more elements is given up."""

    bytes: int
    work: int


BRIEF: Final = ReplayLimits(1 << 18, 100_000)
"""Below a second: for the report of a refuted plan."""
LONG: Final = ReplayLimits(1 << 24, 30_000_000)
"""Some minutes: for a run that was asked for."""


def replay(plan: Plan, seed: int = 0, budget: ReplayLimits = BRIEF) -> OverwrittenRead | None:
    """The first difference that some way of running the plan shows; None where no way does.

    Raises NotModelled where the module cannot be run, or not within the budget.
    """
    size = sum(a.size for a in plan.assignment.allocations)
    if size > budget.bytes:
        raise NotModelled(f"the plan has {size} bytes, and at most {budget.bytes} are run")
    missing = next(
        (k for k, v in plan.values.values.items() if v.room == "ordered" and not v.optional and _lost(plan, k)), None
    )
    if missing is not None:
        raise NotModelled(f"{place_text(missing)} has no place inside an allocation")
    for flight, order in WAYS:
        try:
            _run(plan, seed, flight, order, budget.work)
        except Differs as found:
            return found.difference
        except (Stuck, LiteralError, LookupError, ValueError, TypeError, OverflowError) as reason:
            raise NotModelled(f"the module cannot be run: {reason}") from reason
    return None


def witness(plan: Plan) -> str:
    """A sentence for a report: what a run with memory shows of a refuted plan, or why there is none."""
    try:
        found = replay(plan)
    except NotModelled as reason:
        return f"no run with memory: {reason}"
    except Exception as error:  # the plan is refuted without the run; an error of it takes nothing back
        return f"no run with memory: it ended with {type(error).__name__}: {error}"
    if found is not None:
        return str(found)
    ways = "; ".join(f"operations in flight {flight}, elements {order}" for flight, order in WAYS)
    return f"a run with memory on inputs of seed 0 does not show it ({ways})"


def _lost(plan: Plan, key: Key) -> bool:
    s = plan.slice(key)
    return s is None or plan.extent(s)[1] > plan.allocation(s).size


def _run(plan: Plan, seed: int, flight: FlightTime, order: RunOrder, work: int) -> None:
    attributes = plan.module.attributes
    counts = [max(1, attributes.integer(name, 1)) for name in ("replica_count", "num_partitions")]
    machine = MemoryMachine(plan, Devices(counts[0], counts[1]), seed, flight, order, work)
    machine.start()
    machine.run(machine.random_inputs())
