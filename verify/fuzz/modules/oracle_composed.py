"""Part of target `compositions`: composed maps in both directions, of every array of tuples, against what a run is seen
to read; values read at run time are those of the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from unittest.mock import patch

from hloproof.fuzz.modules.generate_calls import STRUCTURE
from hloproof.fuzz.modules.reference import arrays
from hloproof.fuzz.target import Failure
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.module import Computation, Module
from hloproof.models.hlo.shape import ArrayShape, Index, leaves
from hloproof.models.indexing.composition import composer as composer_module
from hloproof.models.indexing.composition.composer import Composer
from hloproof.models.indexing.composition.module_maps import composer_of, followed_maps, plain_composer
from hloproof.models.indexing.composition.route import Reached, Route, join
from hloproof.models.indexing.composition.tidy import used_variables_only
from hloproof.models.indexing.map_set import Kind, OperandMaps
from hloproof.models.interpreter.maps import Reader, reader, relation
from hloproof.models.interpreter.observed import Recorder, observed_reads
from hloproof.models.interpreter.value import Array, flat_index, indices, strides
from hloproof.models.maps.indexing_map import Direction, IndexingMap, identity
from hloproof.models.maps.text import print_map
from hloproof.models.simplifier.simplify import simplify

IndexPairs = set[tuple[Index, Index]]
"""An output element and the parameter element that it reads."""
Between = tuple[int, int, Index]
"""The number of an output, a parameter's, and a place in the parameter's tuple."""


@dataclass(frozen=True, slots=True)
class _Walk:
    """What following an array came to: whether something was given up, the most maps that led to one array anywhere and
    out here, and compositions as the composer counts them and as they were made."""

    given_up: bool
    most: int
    here: int
    joins: int
    composed: int


DIRECTIONS: tuple[Direction, ...] = ("output-to-input", "input-to-output")


def examine_composed(module: Module, seed: int) -> tuple[str, ...]:
    """Raises Failure where composed maps and a run differ, where maps are not simplified or what is simplified is not
    written down once, and where more or less is given up than the limits say."""
    recorder = Recorder(module)
    recorder.seed = seed
    recorder.run(recorder.random_inputs())
    seen = _seen(module, list(arrays(observed_reads(recorder))))
    plain, simplifying = plain_composer(module), composer_of(module)
    if any(s.unknown.startswith("more than ") for composer in (plain, simplifying) for _, _, s in _answers(composer)):
        return ("given up at a limit",)  # as is stated of modules in which maps multiply
    covered = []
    for composer in (plain, simplifying):
        for direction, key, s in _answers(composer):
            covered.append(_compare(recorder, direction, s, key, seen[key]))
            composed = [m for m in s.maps if m != identity([v.interval.count for v in m.dims])]
            # Compared as a reader sees them: the order in which constraints are kept depends on names that are gone.
            again = [used_variables_only(simplify(m).map) for m in composed]
            if composer is simplifying and [*map(print_map, again)] != [*map(print_map, composed)]:
                raise Failure("compositions: maps are not simplified", f"{key}: {s.maps}")
    before = [m for m, _ in simplifying.joins.simplified]
    changed = [m for m in before if used_variables_only(simplify(m).map) == m]
    if len(set(before)) < len(before) or changed or plain.joins.simplified:
        raise Failure("compositions: what is simplified is not noted once", str(len(before)))
    if not before and list(_answers(plain)) != list(_answers(simplifying)):
        raise Failure("compositions: what is simplified is not noted", str(seed))
    _callees(module)
    if not any(i.opcode == "while" for c in module.computations for i in c.instructions):
        _limits(module)  # loops count what they compose apart
    _sites(module, [m for _, _, s in _answers(plain) for m in s.maps])
    return tuple(dict.fromkeys(covered))


def _answers(composer: Composer) -> Iterator[tuple[Direction, Between, OperandMaps]]:
    """Of every array of the root, then of every array of a parameter."""
    entry = composer.module.entry
    for direction in DIRECTIONS:
        for start in [entry.root] if direction == "output-to-input" else entry.parameters:
            for number, (place, leaf) in enumerate(leaves(start.shape)):
                if not isinstance(leaf, ArrayShape):
                    continue
                for s in followed_maps(composer, entry, start, direction, number):
                    own = start.parameter_number or 0
                    yield (
                        direction,
                        (number, s.operand, s.position) if direction == "output-to-input" else (s.operand, own, place),
                        s,
                    )


def _walk(module: Module, limits: Mapping[str, int], again: bool = False) -> _Walk:
    """Follows the first array of the root backwards under these limits of the composer; `again`: a second time."""
    composer, root = plain_composer(module), module.entry.root
    place = next(p for p, leaf in leaves(root.shape) if isinstance(leaf, ArrayShape))
    most = composed = 0

    def reached_by(routes: Mapping[Route, Kind], unknown: str = "") -> Reached:
        """What is called has arrays of its own, which more maps may lead to than to any array out here."""
        nonlocal most
        most = max(most, len(routes))
        return Reached(routes, unknown)

    def joined(first: Route, second: Route, direction: Direction) -> Route:
        nonlocal composed
        composed += join(first, second, direction) is not first
        return counted(first, second, direction)

    counted = composer.joins.joined
    with ExitStack() as stack:
        stack.enter_context(patch.object(composer.joins, "joined", joined))
        for name, value in {**limits, "Reached": reached_by}.items():
            stack.enter_context(patch.object(composer_module, name, value))
        if again:
            composer.backwards(module.entry, root, place)
        before, composed = composer.joins.count, 0
        reached = composer.backwards(module.entry, root, place).values()
    here = max(len(r.routes) for r in reached)
    return _Walk(any(r.unknown for r in reached), most, here, composer.joins.count - before, composed)


def _limits(module: Module) -> None:
    """At the least limits nothing is given up, below them something is. Compositions are counted, nothing else is."""
    free, deep = _walk(module, {}), _depth(module, module.entry)
    if free.joins != free.composed:
        raise Failure("compositions: compositions are counted otherwise", f"{free.joins}, not {free.composed}")
    for limits in ({"MOST_MAPS": free.most}, {"MOST_JOINS": free.joins}, {"DEEPEST_NESTING": deep}):
        if _walk(module, limits).given_up != free.given_up:
            raise Failure("compositions: given up before the limit", str(limits))
    later = max(free.joins, _walk(module, {}, again=True).joins)
    if _walk(module, {"MOST_JOINS": later}, again=True).given_up:
        raise Failure("compositions: joins of an earlier walk count", str(free.joins))
    if free.here > 1 and not _walk(module, {"MOST_MAPS": free.here - 1}).given_up:
        raise Failure("compositions: not given up beyond the limit", f"{free.here} maps")
    if deep and module.name == STRUCTURE and not _walk(module, {"DEEPEST_NESTING": 0}).given_up:
        raise Failure("compositions: not given up beyond the limit", f"{deep} calls deep")


def _callees(module: Module) -> None:
    """Computations that are not there, or take another number of values, are not entered."""
    for i in module.entry.instructions:
        if i.opcode in ("call", "fusion"):
            (name,), arity = i.attributes.computations(), len(i.operands)
            composer = plain_composer(module)
            if composer.callee(i, name, arity).name != name:
                raise Failure("compositions: another computation is called", name)
            for other, count in (("no such computation", arity), (name, arity + 1)):
                try:
                    composer.callee(i, other, count)
                except NotModelled:
                    continue
                raise Failure("compositions: a computation is entered that does not fit", f"{other} of {count}")


def _depth(module: Module, computation: Computation) -> int:
    inner = [
        n
        for i in computation.instructions
        if i.opcode in ("call", "fusion", "while")
        for n in i.attributes.computations()
    ]
    return max((1 + _depth(module, module.by_name[n]) for n in inner), default=0)


def _sites(module: Module, maps: Iterable[IndexingMap]) -> None:
    """A value is named with the call it is made in only where its computation is called twice, or has a name of
    another."""
    calls = Counter(n for c in module.computations for i in c.instructions for n in i.attributes.computations())
    own = [
        (i.name, c) for c in module.computations for i in c.instructions if i.opcode not in ("parameter", "constant")
    ]
    names = Counter(name for name, _ in own)
    for r in (r for m in maps for r in m.runtime):
        *sites, name = (r.provider or "").split("/")
        homes = [c for n, c in own if n == name]
        if not sites or len(homes) != 1:
            continue
        (home,) = homes
        if calls[home.name] == 1 and all(names[n] == 1 for n, c in own if c is home):
            callers = {
                i.name for c in module.computations for i in c.instructions if home.name in i.attributes.computations()
            }
            if sites[-1] in callers:
                raise Failure("compositions: a name is qualified that is the only one", str(r.provider))


def provided(recorder: Recorder, maps: Iterable[IndexingMap]) -> dict[str, Array]:
    """What the run has of the values that maps name. Names of calls that tell values apart are all given, so the
    shortest path that passes them is meant."""
    found: dict[str, Array] = {}
    waiting = [r for m in maps for r in m.runtime]
    while waiting:
        r = waiting.pop()
        waiting += r.index.runtime if r.index is not None else ()
        name = r.provider or ""
        if name in found:
            continue
        if name.startswith(("parameter(", "constant(")):
            found[name] = recorder.providers()[name]
            continue
        *sites, own = name.split("/")
        paths = [p for p in recorder.values if p[-1] == own and _passes(p, sites)]
        value = recorder.values[min(paths, key=len)] if paths else None
        if not isinstance(value, Array):
            raise Failure("compositions: maps name what no run has", name)
        found[name] = value
    return found


def _passes(path: Sequence[str], sites: Sequence[str]) -> bool:
    names = iter(path[:-1])
    return all(site in names for site in sites)


def _seen(module: Module, results: list[Array]) -> dict[Between, IndexPairs]:
    found: dict[Between, IndexPairs] = {}
    count = 0
    for p in module.entry.parameters:
        for place, leaf in leaves(p.shape):
            if not isinstance(leaf, ArrayShape):
                continue
            where = list(indices(leaf.dimensions))
            for n, result in enumerate(results):
                found[n, p.parameter_number or 0, place] = {
                    (out, index)
                    for out, read in zip(indices(result.sizes), result.data, strict=True)
                    for k, index in enumerate(where)
                    if read >> count + k & 1
                }
            count += len(where)
    return found


def _compare(recorder: Recorder, direction: Direction, s: OperandMaps, key: Between, seen: IndexPairs) -> str:
    if s.unknown:
        raise Failure("compositions: given up", f"{direction} {key}: {s.unknown}")
    providers = provided(recorder, s.maps)
    stated: IndexPairs = set()
    for m in s.maps:
        pairs = relation(m, partial(_read, m, reader(m, providers)))
        stated |= {p if direction == "output-to-input" else p[::-1] for p in pairs}
    if seen - stated:
        raise Failure(f"compositions: {direction} maps miss a read", f"{key}: {sorted(seen - stated)[0]}")
    if stated - seen and s.kind != "bound":
        raise Failure(f"compositions: {direction} maps state a read that is none", f"{key}: {sorted(stated - seen)[0]}")
    if s.kind == "moves":
        _same_values(recorder, key, stated)
    return f"{direction}: {s.kind}"


def _read(m: IndexingMap, plain: Reader, k: int, dims: Index, ranges: Index) -> int:
    """Where a variable reads nothing, no value of it may lead anywhere."""
    try:
        return plain(k, dims, ranges)
    except LookupError:
        return m.runtime[k].interval.lower


def _same_values(recorder: Recorder, key: Between, moved: IndexPairs) -> None:
    """What is moved has the value that it had."""
    entry, (output, parameter, place) = recorder.module.entry, key
    root = list(arrays(recorder.values[entry.root_name,]))[output]
    own = next(p for p in entry.parameters if p.parameter_number == parameter)
    source = recorder.values[own.name,]
    for i in place:
        assert isinstance(source, tuple)
        source = source[i]
    assert isinstance(source, Array)
    for out, index in moved:
        x, y = root.data[flat_index(out, strides(root.sizes))], source.data[flat_index(index, strides(source.sizes))]
        if x != y and x == x:
            raise Failure("compositions: what is said to be moved is another value", f"{key}: {out} from {index}")
