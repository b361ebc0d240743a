"""Part of target `modules`: composed maps in both directions, of every array of tuples, against what a run is seen to
read; values read at run time are those of the run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from models.hlo.module import Module
from models.hlo.shape import ArrayShape, leaves
from models.indexing.composer import Composer
from models.indexing.map_set import OperandMaps
from models.indexing.module_maps import composer_of, followed_maps
from models.indexing.route import Direction
from models.indexing_map import IndexingMap
from models.interpreter.maps import reader, relation
from models.interpreter.observed import Recorder, observed_reads
from models.interpreter.value import Array, Value, indices
from verify.fuzz.target import Failure

Index = tuple[int, ...]
Pairs = set[tuple[Index, Index]]
"""An output element and the parameter element that it reads."""
Between = tuple[int, int, Index]
"""The number of an output, a parameter's, and a place in the parameter's tuple."""

DIRECTIONS: tuple[Direction, ...] = ("output-to-input", "input-to-output")


def examine_composed(module: Module, seed: int) -> tuple[str, ...]:
    """Raises Failure where composed maps and a run differ, or where what is simplified is not written down once."""
    recorder = Recorder(module)
    recorder.seed = seed
    recorder.run(recorder.random_inputs())
    seen = _seen(module, list(_arrays(observed_reads(recorder))))
    covered = []
    for composer in (composer_of(module), Composer(module)):
        for direction in DIRECTIONS:
            entry = module.entry
            for start in [entry.root] if direction == "output-to-input" else entry.parameters:
                for number, (place, leaf) in enumerate(leaves(start.shape)):
                    if not isinstance(leaf, ArrayShape):
                        continue
                    for s in followed_maps(composer, entry, start, direction, number):
                        key = (number, s.operand, s.position) if direction == "output-to-input" else (
                            s.operand, start.parameter_number or 0, place)
                        covered.append(_compare(recorder, direction, s, key, seen[key]))
        before = [m for m, _ in composer.simplified]
        if len(set(before)) < len(before) or any(a == b for a, b in composer.simplified):
            raise Failure("modules: what is simplified is noted twice", str(len(before)))
    return tuple(dict.fromkeys(covered))


def _provided(recorder: Recorder, maps: Iterable[IndexingMap]) -> dict[str, Array]:
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
            raise Failure("modules: maps name what no run has", name)
        found[name] = value
    return found


def _passes(path: Sequence[str], sites: Sequence[str]) -> bool:
    names = iter(path[:-1])
    return all(site in names for site in sites)


def _seen(module: Module, results: list[Array]) -> dict[Between, Pairs]:
    found: dict[Between, Pairs] = {}
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
                    for k, index in enumerate(where) if read >> count + k & 1
                }
            count += len(where)
    return found


def _compare(recorder: Recorder, direction: Direction, s: OperandMaps, key: Between, seen: Pairs) -> str:
    if s.unknown:
        return f"{direction}: unknown"
    providers = _provided(recorder, s.maps)
    stated: Pairs = set()
    for m in s.maps:
        pairs = relation(m, reader(m, providers))
        stated |= {p if direction == "output-to-input" else p[::-1] for p in pairs}
    if seen - stated:
        raise Failure(f"modules: {direction} maps miss a read", f"{key}: {sorted(seen - stated)[0]}")
    if stated - seen and s.kind != "bound":
        raise Failure(f"modules: {direction} maps state a read that is none", f"{key}: {sorted(stated - seen)[0]}")
    return f"{direction}: {s.kind}"


def _arrays(value: Value) -> Iterator[Array]:
    if isinstance(value, Array):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from _arrays(part)
