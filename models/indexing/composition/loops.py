"""Maps through while loops: turn by turn where the number of turns is known, else a bound.

A loop whose number of turns follows from constants is composed turn by turn, from the last turn to the first or the
other way round, and is as exact as its body. Counters are known in each turn, so slices that they place are known;
other values that a turn reads are named `loop[turn]/provider`.

Where the turns are not known or too many, or the maps too many, a bound is given. It holds what any number of turns
may read, whatever is read at run time, where that comes to an end: rows that do not meet in a turn do not meet in
many. Else, and where the body is large or holds an opcode without a map, it says that an array which the body changes
may depend on all of every array that the loop makes it depend on.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Final

from hloproof.models.errors import NotModelled
from hloproof.models.expressions.expr import Const
from hloproof.models.hlo.attributes import ComputationRef
from hloproof.models.hlo.module import Computation, Instruction
from hloproof.models.hlo.shape import Shape, ShapeIndex, leaves
from hloproof.models.indexing.box import bounds, holds_data, whole
from hloproof.models.indexing.composition.composer import Composer
from hloproof.models.indexing.composition.dependence import is_handed_on, parameter_positions
from hloproof.models.indexing.composition.families import with_families
from hloproof.models.indexing.composition.joins import FollowedTooFar
from hloproof.models.indexing.composition.known_scalars import GivenScalar
from hloproof.models.indexing.composition.providers import resolved, without_runtime
from hloproof.models.indexing.composition.route import Route, RouteStep, better_kind, joint_kind, route_of
from hloproof.models.indexing.composition.tidy import with_any_value
from hloproof.models.indexing.composition.trip_count import State, given_by, known_turns
from hloproof.models.indexing.map_set import Kind
from hloproof.models.maps.indexing_map import READER, Direction, IndexingMap, identity

MOST_LOOP_MAPS: Final = 256
"""Different maps between two arrays of a loop's state beyond which the bound is given."""
MOST_BOUND_MAPS: Final = 16
"""Maps between two arrays of a loop's state that are a bound themselves, beyond which the simple bound is given."""
MOST_ROUNDS: Final = 12
"""Turns after which a loop of any number of turns must lead to no new maps, else the simplest bound is given."""
MOST_VALUES: Final = 1 << 20
"""Values of what is read at run time up to which such a loop is followed."""
MOST_LOOP_SIZE: Final = 10_000
"""Arrays that a turn changes times instructions of a turn up to which the body of a loop is composed."""
MOST_LOOP_JOINS: Final = 16_384
"""Steps and compositions in one direction through a loop, those in the loops inside of it included, beyond which the
bound is given."""

_Dependences = dict[ShapeIndex, frozenset[ShapeIndex] | None]
_Routes = dict[Route, Kind]
_Maps = dict[ShapeIndex, tuple[IndexingMap, ...]]


@dataclass(frozen=True)
class Loop:
    """A while instruction, what it calls, and what is known of its turns (None: not how many)."""

    computation: Computation
    instruction: Instruction
    body: Computation
    decides: frozenset[ShapeIndex]
    """The arrays of the state that decide whether another turn is taken."""
    depends: _Dependences
    turns: tuple[State, ...] | None
    small: bool = True
    """Its body is small enough to be composed."""
    exact: dict[Direction, dict[ShapeIndex, tuple[RouteStep, ...]]] = field(default_factory=dict, compare=False)
    """The steps through all turns from the arrays that could be followed, once they have been asked for."""
    any_turns: dict[Direction, dict[ShapeIndex, _Maps]] = field(default_factory=dict, compare=False)
    """The same for the maps of any number of turns."""


def loop_reads(
    composer: Composer, computation: Computation, instruction: Instruction, position: ShapeIndex
) -> tuple[RouteStep, ...]:
    """From one array of the result to the arrays of the initial state."""
    return _steps(composer, loop_of(composer, computation, instruction), position, "output-to-input")


def loop_writes(
    composer: Composer, computation: Computation, instruction: Instruction, position: ShapeIndex
) -> tuple[RouteStep, ...]:
    """From one array of the initial state to the arrays of the result."""
    return _steps(composer, loop_of(composer, computation, instruction), position, "input-to-output")


def loop_of(composer: Composer, computation: Computation, instruction: Instruction) -> Loop:
    """What is known of a while instruction. Raises NotModelled when it calls no condition and body of one value."""
    key = ("loop", computation.name, instruction.name, composer.known.turns_for(computation))
    return composer.kept(key, lambda: _loop_of(composer, computation, instruction))


def _loop_of(composer: Composer, computation: Computation, instruction: Instruction) -> Loop:
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
    decides = parameter_positions(test, test.root_name, ())
    depends = _dependences(instruction, decides, turn)
    changed = sum(1 for found in depends.values() if found is not None)
    small = changed * _instructions(composer, turn) <= MOST_LOOP_SIZE
    return Loop(computation, instruction, turn, decides, depends, turns if small else None, small)


def _instructions(composer: Composer, computation: Computation) -> int:
    """How many instructions a computation holds, with those of all that it calls."""
    seen, waiting = {computation.name}, [computation]
    count = 0
    while waiting:
        current = waiting.pop()
        count += len(current.instructions)
        for i in current.instructions:
            for name in i.attributes.computations():
                callee = composer.module.by_name.get(name)
                if callee is not None and name not in seen:
                    seen.add(name)
                    waiting.append(callee)
    return count


def _steps(composer: Composer, loop: Loop, position: ShapeIndex, direction: Direction) -> tuple[RouteStep, ...]:
    if position not in loop.depends:
        return ()
    # Backwards it comes from itself alone; forwards it may go into others on the way, which the turns have to say.
    if loop.depends[position] is None and direction == "output-to-input":
        here = bounds(dict(leaves(loop.instruction.shape))[position])
        return (RouteStep(0, position, "moves", (Route(identity(here)),)),)
    if loop.turns is not None and direction not in loop.exact:
        loop.exact[direction] = _all_turns(composer, loop, loop.turns, direction)
    exact = loop.exact.get(direction, {}).get(position)
    return _bound(composer, loop, position, direction) if exact is None else exact


def followed_turn_by_turn(composer: Composer, computation: Computation, instruction: Instruction) -> bool:
    """The maps of a while instruction are composed from its turns, where its body has maps, and are no mere bound."""
    try:
        loop = loop_of(composer, computation, instruction)
    except NotModelled:
        return False
    return loop.turns is not None


# --- a bound ------------------------------------------------------------------------------------------------------


def _bound(composer: Composer, loop: Loop, position: ShapeIndex, direction: Direction) -> tuple[RouteStep, ...]:
    """An array that the body hands on unchanged is the initial one. Any other may be what any number of turns makes of
    the initial state, and depends on all that decides the number of turns."""
    if direction not in loop.any_turns:
        loop.any_turns[direction] = _all_any_turns(composer, loop, direction) if loop.small else {}
    reached = loop.any_turns[direction].get(position)
    # How many turns there are depends on what decides about them; so does everything that a turn changes.
    deciding = _closure(loop.depends, loop.decides)
    if direction == "output-to-input":
        wholly = deciding if reached is not None else _closure(loop.depends, {position})
    else:
        changed = {at for at, found in loop.depends.items() if found is not None}
        if reached is None:
            wholly = {at for at in changed if position in _closure(loop.depends, {at})}
        else:
            wholly = changed if position in deciding else set()
    found: list[RouteStep] = []
    kept = direction == "input-to-output" and loop.depends[position] is None
    if kept:
        found.append(RouteStep(0, position, "moves", (Route(identity(bounds(_leaf(loop, position)))),)))
    for at in loop.depends:
        if at in wholly:
            found.append(RouteStep(0, at, "bound", (_whole(loop, position, at),)))
        elif reached is not None and at in reached and not (kept and at == position):
            found.append(RouteStep(0, at, "bound", tuple(Route(m) for m in reached[at])))
    return tuple(found)


def _whole(loop: Loop, position: ShapeIndex, at: ShapeIndex) -> Route:
    return Route(whole(bounds(_leaf(loop, position)), bounds(_leaf(loop, at))))


def _leaf(loop: Loop, position: ShapeIndex) -> Shape:
    return dict(leaves(loop.instruction.shape))[position]


def _all_any_turns(composer: Composer, loop: Loop, direction: Direction) -> dict[ShapeIndex, _Maps]:
    """`_any_turns` of every array, as long as the limit of the loop as a whole allows."""
    found: dict[ShapeIndex, _Maps] = {}
    with composer.joins.following(MOST_LOOP_JOINS) as limit:
        for position in loop.depends:
            try:
                maps = _any_turns(composer, loop, position, direction, limit)
            except (NotModelled, FollowedTooFar):
                continue
            if maps is not None:
                found[position] = maps
    return found


def _any_turns(composer: Composer, loop: Loop, position: ShapeIndex, direction: Direction, limit: int) -> _Maps | None:
    """The maps of no turn, one turn, and so on, until there are no new ones, whatever is read at run time; None where
    they do not come to an end soon, or the body holds what has no map."""
    start = identity(bounds(_leaf(loop, position)))
    found: dict[ShapeIndex, dict[IndexingMap, None]] = {position: {start: None}}
    latest: dict[ShapeIndex, list[IndexingMap]] = {position: [start]}
    for _ in range(MOST_ROUNDS):
        fresh: dict[ShapeIndex, list[IndexingMap]] = {}
        for at, maps in latest.items():
            for step in composer.through(loop.body, direction, 0, at):
                known = found.setdefault(step.position, {})
                composer.joins.followed += len(maps) * len(step.routes)
                if step.unknown or not all(_is_plain(r) for r in step.routes) or composer.joins.followed > limit:
                    return None
                for m, r in product(maps, step.routes):
                    joined = composer.joins.joined(Route(m), Route(with_any_value(r.map)), direction).map
                    if joined not in known and not joined.is_trivially_empty:
                        known[joined] = None
                        fresh.setdefault(step.position, []).append(joined)
                if len(known) > MOST_BOUND_MAPS:
                    return None
        if not fresh:
            return {at: tuple(maps) for at, maps in found.items() if maps}
        # Only what is new is led through another turn: the maps of n turns are joined to a turn once.
        latest = fresh
    return None


def _is_plain(r: Route) -> bool:
    """The route passes no collective, and what it reads at run time has few values."""
    return r.map.replica is None and all(
        v.provider != READER and v.interval.count <= MOST_VALUES for v in r.map.runtime
    )


def _dependences(instruction: Instruction, decides: frozenset[ShapeIndex], turn: Computation) -> _Dependences:
    """For each array of the state the arrays that one turn, or the decision to take it, makes it from; None where the
    body hands it on unchanged."""
    found: _Dependences = {}
    for at, leaf in leaves(instruction.shape):
        if not holds_data(leaf):
            continue
        if is_handed_on(turn, at):
            found[at] = None
        else:
            # The array itself: without a turn it is what it was at first.
            found[at] = decides | {at} | parameter_positions(turn, turn.root_name, at)
    return found


def _closure(depends: _Dependences, start: Iterable[ShapeIndex]) -> set[ShapeIndex]:
    reached = set(start)
    waiting = list(reached)
    while waiting:
        for at in depends.get(waiting.pop()) or ():
            if at not in reached:
                reached.add(at)
                waiting.append(at)
    return reached


# --- turn by turn -------------------------------------------------------------------------------------------------


def _all_turns(
    composer: Composer, loop: Loop, turns: tuple[State, ...], direction: Direction
) -> dict[ShapeIndex, tuple[RouteStep, ...]]:
    """The steps through all turns from every array that can be followed; from none where that takes too much, so that
    the answer does not depend on what is asked first."""
    found: dict[ShapeIndex, tuple[RouteStep, ...]] = {}
    with composer.joins.following(MOST_LOOP_JOINS) as limit:
        for position in loop.depends:
            try:
                steps = _turn_by_turn(composer, loop, turns, position, direction, limit)
            except NotModelled:
                continue
            except FollowedTooFar:
                return {}
            if not any(s.kind == "bound" and len(s.routes) > MOST_BOUND_MAPS for s in steps):
                found[position] = steps
    return found


def _turn_by_turn(
    composer: Composer, loop: Loop, turns: tuple[State, ...], position: ShapeIndex, direction: Direction, limit: int
) -> tuple[RouteStep, ...]:
    """The steps through all turns. Raises NotModelled where they cannot be followed."""
    shapes = dict(leaves(loop.instruction.shape))
    here: dict[ShapeIndex, _Routes] = {position: {Route(identity(bounds(shapes[position]))): "moves"}}
    order = range(len(turns))
    # From the result back the last turn comes first.
    for turn in reversed(order) if direction == "output-to-input" else order:
        key = (loop.computation.name, loop.instruction.name, turn)
        with composer.known.in_turn(key, loop.body, given_by(turns[turn])):
            here = _one_turn(composer, loop, turns, turn, here, direction, limit)
    return tuple(
        RouteStep(0, at, kind, _families([r for r, k in routes.items() if k == kind]))
        for at, routes in here.items()
        for kind in dict.fromkeys(routes.values())
    )


def _families(routes: list[Route]) -> tuple[Route, ...]:
    """The routes, those of several turns that are one family as one."""
    plain = with_families(r.map for r in routes if not r.tables)
    return (*(Route(m) for m in plain), *(r for r in routes if r.tables))


def _one_turn(
    composer: Composer,
    loop: Loop,
    turns: tuple[State, ...],
    turn: int,
    here: dict[ShapeIndex, _Routes],
    direction: Direction,
    limit: int,
) -> dict[ShapeIndex, _Routes]:
    after: dict[ShapeIndex, _Routes] = {}
    for at, arrived in here.items():
        composer.joins.followed += 1
        if loop.depends.get(at, ()) is None and direction == "output-to-input":
            _merge(after.setdefault(at, {}), arrived)
            continue
        for step in composer.through(loop.body, direction, 0, at):
            if step.unknown:
                raise NotModelled(step.unknown)
            target = after.setdefault(step.position, {})
            routes = _in_turn(composer, loop, turns, turn, step)
            composer.joins.followed += len(routes) * len(arrived)
            if len(target) > MOST_LOOP_MAPS or composer.joins.followed > limit:
                raise FollowedTooFar
            for second in routes:
                for route, kind in arrived.items():
                    joined, joint = composer.joins.joined(route, second, direction), joint_kind((kind, step.kind))
                    if not joined.map.is_trivially_empty:
                        target[joined] = better_kind(target.get(joined, joint), joint)
    return {at: routes for at, routes in after.items() if routes}


def _merge(target: _Routes, more: _Routes) -> None:
    for route, kind in more.items():
        target[route] = better_kind(target.get(route, kind), kind)


def _in_turn(composer: Composer, loop: Loop, turns: tuple[State, ...], turn: int, step: RouteStep) -> tuple[Route, ...]:
    """The routes of one turn of the body: values that follow from counters put in, others named by the turn."""
    if not any(r.map.runtime for r in step.routes):
        return step.routes
    state = given_by(turns[turn])

    def source(provider: str) -> Instruction | None:
        return _initial(loop, provider)

    return tuple(
        route_of(m, r.tables)
        for r in step.routes
        for m in resolved((_with_counters(composer, loop, r.map, state),), source, f"{loop.instruction.name}[{turn}]")
    )


def _with_counters(composer: Composer, loop: Loop, m: IndexingMap, state: GivenScalar) -> IndexingMap:
    """The map with the runtime variables replaced that read a single integer which is known, clamped."""
    # From the last on, so that the numbers of those before stay what they are.
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
    # Only a part that no turn changes is still the one from before the loop.
    if loop.body.by_name[i.operands[0]].opcode != "parameter" or loop.depends.get((number,), ()) is not None:
        return None
    return loop.computation.by_name[start.operands[number]]
