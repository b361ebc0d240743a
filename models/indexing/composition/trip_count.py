"""Loops whose number of turns follows from constants: what their counters hold in each turn.

The condition is evaluated on what single integers hold, starting from the constants that the loop is given, until it
says no: then the number of turns is a fact, and so is every value that is computed from counters alone. Where it cannot
be evaluated, where there are more than MOST_TURNS, or where a `known_trip_count` says otherwise, nothing is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hloproof.models.hlo.beside import TRIP_COUNT, count_of, in_one_order, stated
from hloproof.models.hlo.module import Computation, Instruction
from hloproof.models.hlo.shape import ShapeIndex, TupleShape, leaves
from hloproof.models.indexing.composition.known_scalars import GivenScalar, KnownScalars, is_single_integer

MOST_TURNS: Final = 64
"""Turns up to which a loop is followed turn by turn."""

State = Mapping[ShapeIndex, int]
"""What single integers of the state hold, where it is known, by their position."""

_OF_TURNS: Final = ("known_init_step", "known_induction_variable", "dynamic_variable_tuple_indices")


def known_turns(
    scalars: KnownScalars,
    computation: Computation,
    instruction: Instruction,
    condition: Computation,
    body: Computation,
    given: GivenScalar,
) -> tuple[State, ...] | None:
    """The states of the turns of a loop; None where it is not known how many there are. `given` is what is known of the
    parameters of the computation that the loop stands in."""
    states, are_all = first_turns(scalars, computation, instruction, condition, body, given)
    return states if are_all else None


def first_turns(
    scalars: KnownScalars,
    computation: Computation,
    instruction: Instruction,
    condition: Computation,
    body: Computation,
    given: GivenScalar,
) -> tuple[tuple[State, ...], bool]:
    """The states of the first turns of a loop that are known to be taken, and whether there are no others."""
    places = [at for at, leaf in leaves(instruction.shape) if is_single_integer(leaf)]
    (start,) = instruction.operands
    stated = stated_count(instruction)
    state = _integers(scalars, computation, start, places, given)
    states: list[State] = []
    while len(states) <= MOST_TURNS:
        decision = scalars.value(condition, condition.root_name, (), given_by(state))
        if decision is None:
            return tuple(states), False
        if not decision:
            return (tuple(states), True) if stated is None or stated == len(states) else ((), False)
        states.append(state)
        state = _integers(scalars, body, body.root_name, places, given_by(state))
    return tuple(states), False


def stated_count(instruction: Instruction) -> int | None:
    """The number of turns that the loop's backend_config states; None where it states none, or is not understood."""
    said = stated(instruction.attributes.get("backend_config"), TRIP_COUNT)
    return None if said is None else count_of(said)


def stated_states(instruction: Instruction) -> tuple[tuple[str, str], ...]:
    """What else the loop's backend_config says of its states: names of fields, with their values as written."""
    config = instruction.attributes.get("backend_config")
    found = ((name, stated(config, name)) for name in _OF_TURNS)
    return tuple((name, in_one_order(value)) for name, value in found if value is not None)


def states_spoken_of(instruction: Instruction) -> tuple[int, ...] | None:
    """The parts of the loop's state of which `stated_states` speaks; None where it may speak of any."""
    config = instruction.attributes.get("backend_config")
    counter = stated(config, "known_induction_variable")
    if counter is not None and (not isinstance(counter, dict) or not counter.keys() <= {"tuple_index"}):
        return None
    dynamic = stated(config, "dynamic_variable_tuple_indices")
    if dynamic is not None and not isinstance(dynamic, list):
        return None
    written = [*(dynamic or ()), *(() if counter is None else (counter.get("tuple_index", "0"),))]
    numbers = [int(n) for n in map(str, written) if n.isascii() and n.isdigit() and len(n) < 9]
    known = len(numbers) == len(written) and (counter is not None or stated(config, "known_init_step") is None)
    parts = instruction.shape.elements if isinstance(instruction.shape, TupleShape) else ()
    flat = not any(isinstance(part, TupleShape) for part in parts)
    return tuple(numbers) if known and flat and all(n < len(parts) for n in numbers) else None


def _integers(
    scalars: KnownScalars, computation: Computation, name: str, places: list[ShapeIndex], given: GivenScalar
) -> dict[ShapeIndex, int]:
    found = {at: scalars.value(computation, name, at, given) for at in places}
    return {at: value for at, value in found.items() if value is not None}


def given_by(state: State) -> GivenScalar:
    """What the one parameter of a body or condition holds in a state."""
    return lambda number, at: state.get(at)
