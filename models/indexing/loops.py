"""Maps through while loops: turn by turn where the number of turns is known, else a bound.

A bound says that an array which the body changes may depend on all of every array that the loop makes it depend on. A
loop whose number of turns follows from constants is composed turn by turn instead, from the last turn to the first or
the other way round, and is as exact as its body. Counters are known in each turn, so slices that they place are known;
other values that a turn reads are named `loop[turn]/provider`. Where the turns are too many, the maps too many, or the
body holds an opcode without a map, the bound is given.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from models.errors import NotModelled
from models.expr import Const
from models.hlo.attributes import ComputationRef
from models.hlo.module import Computation, Instruction
from models.hlo.shape import leaves
from models.indexing.box import bounds, holds_data, whole
from models.indexing.dependence import is_handed_on, parameter_positions
from models.indexing.families import with_families
from models.indexing.known_scalars import Given, Position
from models.indexing.map_set import Kind
from models.indexing.providers import resolved, without_runtime
from models.indexing.route import Direction, Route, joint_kind
from models.indexing.turns import State, given_by, known_turns
from models.indexing_map import IndexingMap, identity

if TYPE_CHECKING:
    from models.indexing.composer import Composer, Step

MOST_LOOP_MAPS: Final = 256
"""Different maps between two arrays of a loop's state beyond which the bound is given."""
MOST_BOUND_MAPS: Final = 16
"""Maps between two arrays of a loop's state that are a bound themselves, beyond which the simple bound is given."""
MOST_LOOP_JOINS: Final = 16_384
"""Steps and compositions in one direction through a loop, those in the loops inside of it included, beyond which the
bound is given."""

_Dependences = dict[Position, frozenset[Position] | None]
_Routes = dict[Route, Kind]


@dataclass(frozen=True)
class Loop:
    """A while instruction, what it calls, and what is known of its turns (None: not how many)."""

    computation: Computation
    instruction: Instruction
    body: Computation
    depends: _Dependences
    turns: tuple[State, ...] | None
    exact: dict[Direction, dict[Position, tuple[Step, ...]]] = field(default_factory=dict, compare=False)
    """The steps through all turns from the arrays that could be followed, once they have been asked for."""


class _TooMuch(Exception):
    """A loop is not followed to its end: the limits are reached."""


def loop_reads(
    composer: Composer, computation: Computation, instruction: Instruction, position: Position
) -> tuple[Step, ...]:
    """From one array of the result to the arrays of the initial state."""
    return _steps(composer, composer.loop(computation, instruction), position, "output-to-input")


def loop_writes(
    composer: Composer, computation: Computation, instruction: Instruction, position: Position
) -> tuple[Step, ...]:
    """From one array of the initial state to the arrays of the result."""
    return _steps(composer, composer.loop(computation, instruction), position, "input-to-output")


def loop_of(composer: Composer, computation: Computation, instruction: Instruction) -> Loop:
    """What is known of a while instruction. Raises NotModelled when it calls no condition and body of one value."""
    condition = instruction.attributes.get("condition")
    body = instruction.attributes.get("body")
    if not isinstance(condition, ComputationRef) or not isinstance(body, ComputationRef):
        raise NotModelled("while without condition and body")
    test = composer.callee(instruction, condition.name, 1)
    turn = composer.callee(instruction, body.name, 1)
    if len(instruction.operands) != 1:
        raise NotModelled(f"while with {len(instruction.operands)} operands")
    known = composer.known
    turns = known_turns(known.scalars, computation, instruction, test, turn, known.given_to(computation))
    return Loop(computation, instruction, turn, _dependences(instruction, test, turn), turns)


def _steps(composer: Composer, loop: Loop, position: Position, direction: Direction) -> tuple[Step, ...]:
    from models.indexing.composer import Step

    if position not in loop.depends:
        return ()
    if loop.depends[position] is None and direction == "output-to-input":
        here = bounds(dict(leaves(loop.instruction.shape))[position])
        return (Step(0, position, "moves", (Route(identity(here)),)),)
    if loop.turns is not None and direction not in loop.exact:
        loop.exact[direction] = _all_turns(composer, loop, loop.turns, direction)
    exact = loop.exact.get(direction, {}).get(position)
    return _bound(loop, position, direction) if exact is None else exact


def followed_turn_by_turn(composer: Composer, computation: Computation, instruction: Instruction) -> bool:
    """The maps of a while instruction are composed from its turns, where its body has maps, and are no mere bound."""
    try:
        loop = composer.loop(computation, instruction)
    except NotModelled:
        return False
    return loop.turns is not None


# --- a bound ------------------------------------------------------------------------------------------------------


def _bound(loop: Loop, position: Position, direction: Direction) -> tuple[Step, ...]:
    """An array that the body hands on unchanged is the initial one. Any other may depend on all of every array that the
    loop makes it depend on, and on what decides the number of turns."""
    from models.indexing.composer import Step

    shapes = dict(leaves(loop.instruction.shape))
    here = bounds(shapes[position])
    if direction == "output-to-input":
        reached = _closure(loop.depends, position)
        return tuple(
            Step(0, at, "bound", (Route(whole(here, bounds(shapes[at]))),)) for at in shapes if at in reached
        )
    found: list[Step] = []
    for at in loop.depends:
        if loop.depends[at] is None:
            if at == position:
                found.append(Step(0, at, "moves", (Route(identity(here)),)))
        elif position in _closure(loop.depends, at):
            found.append(Step(0, at, "bound", (Route(whole(here, bounds(shapes[at]))),)))
    return tuple(found)


def _dependences(instruction: Instruction, test: Computation, turn: Computation) -> _Dependences:
    """For each array of the state the arrays that one turn, or the decision to take it, makes it from; None where the
    body hands it on unchanged."""
    decides = parameter_positions(test, test.root_name, ())
    found: _Dependences = {}
    for at, leaf in leaves(instruction.shape):
        if not holds_data(leaf):
            continue
        if is_handed_on(turn, at):
            found[at] = None
        else:
            found[at] = decides | {at} | parameter_positions(turn, turn.root_name, at)
    return found


def _closure(depends: _Dependences, start: Position) -> set[Position]:
    reached, waiting = {start}, [start]
    while waiting:
        for at in depends.get(waiting.pop()) or ():
            if at not in reached:
                reached.add(at)
                waiting.append(at)
    return reached


# --- turn by turn -------------------------------------------------------------------------------------------------


def _all_turns(
    composer: Composer, loop: Loop, turns: tuple[State, ...], direction: Direction
) -> dict[Position, tuple[Step, ...]]:
    """The steps through all turns from every array that can be followed; from none where that takes too much, so that
    the answer does not depend on what is asked first."""
    found: dict[Position, tuple[Step, ...]] = {}
    with composer.following(MOST_LOOP_JOINS) as limit:
        for position in loop.depends:
            try:
                steps = _turn_by_turn(composer, loop, turns, position, direction, limit)
            except NotModelled:
                continue
            except _TooMuch:
                return {}
            if not any(s.kind == "bound" and len(s.routes) > MOST_BOUND_MAPS for s in steps):
                found[position] = steps
    return found


def _turn_by_turn(
    composer: Composer, loop: Loop, turns: tuple[State, ...], position: Position, direction: Direction, limit: int
) -> tuple[Step, ...]:
    """The steps through all turns. Raises NotModelled where they cannot be followed."""
    from models.indexing.composer import Step

    shapes = dict(leaves(loop.instruction.shape))
    here: dict[Position, _Routes] = {position: {Route(identity(bounds(shapes[position]))): "moves"}}
    order = range(len(turns))
    for turn in reversed(order) if direction == "output-to-input" else order:
        key = (loop.computation.name, loop.instruction.name, turn)
        with composer.known.in_turn(key, loop.body, given_by(turns[turn])):
            here = _one_turn(composer, loop, turns, turn, here, direction, limit)
    return tuple(
        Step(0, at, kind, _families([r for r, k in routes.items() if k == kind]))
        for at, routes in here.items()
        for kind in dict.fromkeys(routes.values())
    )


def _families(routes: list[Route]) -> tuple[Route, ...]:
    """The routes, those of several turns that are one family as one."""
    plain = with_families(r.map for r in routes if not r.tables)
    return (*(Route(m) for m in plain), *(r for r in routes if r.tables))


def _one_turn(
    composer: Composer, loop: Loop, turns: tuple[State, ...], turn: int, here: dict[Position, _Routes],
    direction: Direction, limit: int,
) -> dict[Position, _Routes]:
    from models.indexing.composer import better_kind

    after: dict[Position, _Routes] = {}
    for at, arrived in here.items():
        composer.followed += 1
        if loop.depends.get(at, ()) is None and direction == "output-to-input":
            _merge(after.setdefault(at, {}), arrived)
            continue
        for step in composer.through(loop.body, direction, 0, at):
            if step.unknown:
                raise NotModelled(step.unknown)
            target = after.setdefault(step.position, {})
            routes = _in_turn(composer, loop, turns, turn, step)
            composer.followed += len(routes) * len(arrived)
            if len(target) > MOST_LOOP_MAPS or composer.followed > limit:
                raise _TooMuch
            for second in routes:
                for route, kind in arrived.items():
                    joined, joint = composer.joined(route, second, direction), joint_kind((kind, step.kind))
                    if not joined.map.is_trivially_empty:
                        target[joined] = better_kind(target.get(joined, joint), joint)
    return {at: routes for at, routes in after.items() if routes}


def _merge(target: _Routes, more: _Routes) -> None:
    from models.indexing.composer import better_kind

    for route, kind in more.items():
        target[route] = better_kind(target.get(route, kind), kind)


def _in_turn(composer: Composer, loop: Loop, turns: tuple[State, ...], turn: int, step: Step) -> tuple[Route, ...]:
    """The routes of one turn of the body: values that follow from counters put in, others named by the turn."""
    if not any(r.map.runtime for r in step.routes):
        return step.routes
    state = given_by(turns[turn])

    def source(provider: str) -> Instruction | None:
        return _initial(loop, provider)

    return tuple(
        Route(m, r.tables)
        for r in step.routes
        for m in resolved((_with_counters(composer, loop, r.map, state),), source, f"{loop.instruction.name}[{turn}]")
    )


def _with_counters(composer: Composer, loop: Loop, m: IndexingMap, state: Given) -> IndexingMap:
    """The map with the runtime variables replaced that read a single integer which is known, clamped."""
    for k in reversed(range(len(m.runtime))):
        v = m.runtime[k]
        value = None if v.provider is None else composer.known.named(loop.body, v.provider, state)
        if value is not None:
            m = without_runtime(m, k, Const(min(max(value, v.interval.lower), v.interval.upper)))
        elif v.index is not None and v.index.runtime:
            index = _with_counters(composer, loop, v.index, state)
            runtime = (*m.runtime[:k], replace(v, index=index), *m.runtime[k + 1 :])
            m = replace(m, runtime=runtime, replica=None if m.replica is None else replace(m.replica, runtime=runtime))
    return m


def _initial(loop: Loop, provider: str) -> Instruction | None:
    """The instruction before the loop that holds the value of one in the body which no turn changes."""
    i = loop.body.by_name.get(provider)
    start = loop.computation.by_name[loop.instruction.operands[0]]
    if i is None or i.opcode != "get-tuple-element" or start.opcode != "tuple":
        return None
    number = i.attributes.integer("index", 0)
    if loop.body.by_name[i.operands[0]].opcode != "parameter" or loop.depends.get((number,), ()) is not None:
        return None
    return loop.computation.by_name[start.operands[number]]
