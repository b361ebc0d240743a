"""Runtime variables of a module's maps: who provides them by name, and which are known after all.

A start index that is an integer constant inside its interval, or an element of an iota, is no unknown: it is replaced
by its value. Where an iota may leave the interval, it is clamped as the operation says and the map is split: below,
inside, above. A constant outside of the interval stays a runtime variable that names it: its value is not the one used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from hloproof.models.expressions.bounds import range_of
from hloproof.models.expressions.expr import Const, Expr, substitute
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.module import Computation, Instruction
from hloproof.models.hlo.shape import ELEMENT_BITS, ArrayShape
from hloproof.models.indexing.composition.sizes import operand_number, provider_name, with_sizes_followed
from hloproof.models.indexing.composition.tidy import tidied
from hloproof.models.indexing.map_set import OperandMaps
from hloproof.models.maps.indexing_map import (
    READER,
    Constraint,
    IndexingMap,
    RuntimeVariable,
    array_of_sizes,
    rt,
    sizes_of,
)

_Source = Callable[[str], Instruction | None]
"""The instruction that a provider's text stands for; None where it is none."""

_LONGEST_LITERAL: Final = 4096
"""Characters of a literal that are worth reading."""


def named(sets: Iterable[OperandMaps], instruction: Instruction, computation: Computation) -> tuple[OperandMaps, ...]:
    """The maps of an instruction with its operands' names as providers, known values put in."""

    def source(provider: str) -> Instruction | None:
        number = operand_number(provider)
        return None if number is None else computation.by_name[instruction.operands[number]]

    followed = (replace(s, maps=tuple(with_sizes_followed(m, instruction, computation) for m in s.maps)) for s in sets)
    return tuple(replace(s, maps=resolved(s.maps, source)) for s in followed)


def resolved(maps: Iterable[IndexingMap], source: _Source, site: str = "") -> tuple[IndexingMap, ...]:
    """The maps with providers renamed by `source`; runtime variables with known values are replaced by these.

    `site` qualifies the names of instructions that `source` does not know: `site/name`.
    """
    found: list[IndexingMap] = []
    for m in maps:
        if not m.runtime:
            found.append(m)
            continue
        pending = [_renamed(m, source, site)]
        while pending:
            current, values = pending.pop()
            k = next(iter(values), None)
            if k is None:
                # A known start may contradict what the map asks of it, as where a scatter drops a window.
                found.append(tidied(current) if len(current.runtime) < len(m.runtime) else current)
            else:
                pending.extend(reversed(_with_value(current, k, values)))
    filled = tuple(m for m in found if not m.is_trivially_empty)
    return filled or tuple(found[:1])


_Values = dict[int, Expr]
"""Known values of runtime variables, unclamped, over the variables of the map."""


def _renamed(m: IndexingMap, source: _Source, site: str) -> tuple[IndexingMap, _Values]:
    values: _Values = {}
    runtime: list[RuntimeVariable] = []
    for k, v in enumerate(m.runtime):
        provider = source(v.provider) if v.provider is not None else None
        renamed = _renamed_variable(v, source, site)
        if provider is not None:
            value = _value(provider, renamed)
            outside = isinstance(value, Const) and value.value not in v.interval
            if value is not None and not outside:
                values[k] = value
        runtime.append(renamed)
    return _with_runtime(m, tuple(runtime)), values


def _renamed_variable(v: RuntimeVariable, source: _Source, site: str) -> RuntimeVariable:
    sized = array_of_sizes(v.provider or "")
    plain = v.provider if sized is None else sized
    provider = source(plain) if plain is not None else None
    index = v.index
    if index is not None and index.runtime:
        index = replace(index, runtime=tuple(_renamed_variable(inner, source, site) for inner in index.runtime))
    name = plain if provider is None else provider_name(provider)
    if provider is None and site and plain is not None and not _the_same_anywhere(plain):
        name = f"{site}/{plain}"
    return replace(v, provider=name if sized is None or name is None else sizes_of(name), index=index)


def _the_same_anywhere(provider: str) -> bool:
    """What it holds does not depend on who called the computation that it stands in."""
    return provider == READER or provider.startswith("constant(")


def _with_runtime(m: IndexingMap, runtime: tuple[RuntimeVariable, ...]) -> IndexingMap:
    replica = None if m.replica is None else replace(m.replica, runtime=runtime)
    return replace(m, runtime=runtime, replica=replica)


def _value(provider: Instruction, v: RuntimeVariable) -> Expr | None:
    """What the element that the variable reads holds, where that is known: over the variables of the owning map."""
    if v.index is None or v.index.runtime or not isinstance(provider.shape, ArrayShape):
        return None
    if provider.opcode == "constant":
        return _constant(provider, provider.shape, v.index)
    if provider.opcode == "iota":
        axis = provider.attributes.integer("iota_dimension", 0)
        if provider.shape.dimensions[axis] - 1 <= _largest(provider.shape.element_type):
            return v.index.results[axis]
    return None


def _constant(provider: Instruction, shape: ArrayShape, index: IndexingMap) -> Expr | None:
    """An integer scalar, or an element of a short vector at a known place."""
    text = (provider.literal or "").strip()
    if _largest(shape.element_type) < 0 or len(text) > _LONGEST_LITERAL:
        return None
    words = [text] if shape.rank == 0 else text.removeprefix("{").removesuffix("}").split(",")
    place = 0
    if shape.rank == 1 and isinstance(index.results[0], Const) and len(words) == shape.dimensions[0]:
        place = index.results[0].value
    elif shape.rank:
        return None
    word = words[place].strip() if 0 <= place < len(words) else ""
    return Const(int(word)) if word.removeprefix("-").isdecimal() else None


def _largest(element_type: str) -> int:
    bits = ELEMENT_BITS.get(element_type, 0)
    if not element_type.startswith(("s", "u")):
        return -1  # Floats and complex numbers are no indices.
    width: int = bits if element_type.startswith("u") else bits - 1
    return (1 << width) - 1


def _with_value(m: IndexingMap, k: int, values: _Values) -> list[tuple[IndexingMap, _Values]]:
    """The map with runtime variable k replaced by its clamped value, in up to three pieces."""
    interval, value = m.runtime[k].interval, values[k]
    rest = {(j if j < k else j - 1): e for j, e in values.items() if j != k}
    possible = range_of(value, dict(m.intervals()))
    cases: list[tuple[Expr, Constraint | None]]
    if interval.contains(possible):
        cases = [(value, None)]
    else:
        below = Interval(possible.lower, interval.lower - 1)
        above = Interval(interval.upper + 1, possible.upper)
        cases = [
            (Const(interval.lower), Constraint(value, below)),
            (value, Constraint(value, interval)),
            (Const(interval.upper), Constraint(value, above)),
        ]
        cases = [(e, c) for e, c in cases if c is None or not c.interval.intersect(possible).is_empty]
    pieces: list[tuple[IndexingMap, _Values]] = []
    for e, constraint in cases:
        pieces.append((without_runtime(m, k, e, () if constraint is None else (constraint,)), rest))
    return pieces


def without_runtime(m: IndexingMap, k: int, value: Expr, more: tuple[Constraint, ...] = ()) -> IndexingMap:
    """The map with runtime variable k replaced by an expression over its other variables, numbered as before."""
    names = {f"rt{j}": rt(j - 1) for j in range(k + 1, len(m.runtime))}
    into = {**names, f"rt{k}": substitute(value, names)}
    changed = IndexingMap(
        m.dims,
        tuple(substitute(e, into) for e in m.results),
        m.ranges,
        tuple(v for j, v in enumerate(m.runtime) if j != k),
        tuple(Constraint(substitute(c.expr, into), c.interval) for c in m.constraints) + more,
    )
    if m.replica is None:
        return changed
    return replace(changed, replica=replace(changed, results=tuple(substitute(e, into) for e in m.replica.results)))
