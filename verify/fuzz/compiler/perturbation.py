"""What the installed compiler reads, seen from outside: one input element is changed, and the outputs that change with
it are those that the maps say. An element that the maps say is not read changes nothing; one that is moved changes
where it is moved to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Final

from hloproof.fuzz.modules.oracle_composed import provided
from hloproof.fuzz.modules.reference import arrays, encoded
from hloproof.models.hlo.module import Module
from hloproof.models.hlo.shape import ArrayShape, leaves
from hloproof.models.indexing.composition.module_maps import followed_maps, plain_composer
from hloproof.models.indexing.composition.route import OUTPUT_TO_INPUT
from hloproof.models.indexing.map_set import Kind
from hloproof.models.interpreter.maps import reader, relation
from hloproof.models.interpreter.observed import Recorder
from hloproof.models.interpreter.semantics.element_type import INTEGERS, highest, rounded
from hloproof.models.interpreter.value import Array, Value, flat_index, strides

MOST: Final = 24
"""Elements that are changed, one at a time."""

Outputs = list[list[Any]]
"""The elements of every result, as the compiler's process tells them."""


@dataclass(frozen=True)
class Change:
    """One element of a parameter has another value: which outputs the maps say that concerns, by kind."""

    parameter: int
    element: int
    inputs: tuple[Value, ...]
    concerned: dict[tuple[int, int], Kind]
    """By result and element."""
    unknown: bool
    """Of some result it is not known."""


def exact_inputs(module: Module, seed: int) -> tuple[Value, ...]:
    """Small integers as numbers of any type, none of them zero: sums and products of few of them are exact."""
    random = Random(seed)
    return tuple(whole_numbers(p.shape, random) for p in module.entry.parameters)


def whole_numbers(shape: Any, random: Random) -> Value:
    """An array of small integers."""
    assert isinstance(shape, ArrayShape)
    kind = shape.element_type
    if kind == "pred":
        return Array(kind, shape.dimensions, [random.random() < 0.5 for _ in range(shape.elements)])
    if kind in INTEGERS:
        top = min(highest(kind), 3)
        return Array(kind, shape.dimensions, [random.randint(0, top) for _ in range(shape.elements)])
    chosen = [v for v in (-3.0, -2.0, -1.0, 1.0, 2.0, 3.0, 4.0) if rounded(kind, v) == v]
    return Array(kind, shape.dimensions, [rounded(kind, random.choice(chosen)) for _ in range(shape.elements)])


def plain(module: Module) -> bool:
    """The parameters are arrays of fixed sizes, so that single elements of them can be changed."""
    return all(isinstance(p.shape, ArrayShape) and not p.shape.is_dynamic for p in module.entry.parameters)


def changes(module: Module, inputs: tuple[Value, ...], seed: int) -> Iterator[Change]:
    """Up to MOST elements changed. Raises NotModelled for what the interpreter does not run."""
    recorder = Recorder(module)
    recorder.seed = seed
    recorder.run([inputs])
    concerned, unknown = _concerned(module, recorder)
    all_elements = [(p, e) for p, v in enumerate(inputs) if isinstance(v, Array) for e in range(len(v.data))]
    random = Random(seed)
    random.shuffle(all_elements)
    for parameter, element in all_elements[:MOST]:
        changed = _changed(inputs, parameter, element)
        if changed is not None:
            found = concerned.get((parameter, element), {})
            yield Change(parameter, element, changed, found, parameter in unknown)


def _changed(inputs: tuple[Value, ...], parameter: int, element: int) -> tuple[Value, ...] | None:
    value = inputs[parameter]
    assert isinstance(value, Array)
    old, kind = value.data[element], value.element_type
    if kind == "pred":
        new: Any = not old
    elif kind in INTEGERS:
        new = old + 1 if old < highest(kind) else 0
    else:
        new = next((v for v in (rounded(kind, x) for x in (6.0, 4.0, 2.0, 0.5)) if v != old), None)
    if new is None or new == old:
        return None
    data = [*value.data[:element], new, *value.data[element + 1 :]]
    return (*inputs[:parameter], replace(value, data=data), *inputs[parameter + 1 :])


def _concerned(
    module: Module, recorder: Recorder
) -> tuple[dict[tuple[int, int], dict[tuple[int, int], Kind]], set[int]]:
    """By parameter and element the output elements that read it, and the parameters of which that is not known."""
    composer, entry = plain_composer(module), module.entry
    found: dict[tuple[int, int], dict[tuple[int, int], Kind]] = {}
    unknown: set[int] = set()
    results = [leaf for _, leaf in leaves(entry.root.shape)]
    numbers = {p.parameter_number or 0: n for n, p in enumerate(entry.parameters)}
    shapes = {p.parameter_number or 0: p.shape for p in entry.parameters}
    number_of_array = 0
    for number, leaf in enumerate(results):
        if not isinstance(leaf, ArrayShape):
            continue
        for s in followed_maps(composer, entry, entry.root, OUTPUT_TO_INPUT, number):
            if s.unknown:
                unknown.add(numbers[s.operand])
                continue
            shape = shapes[s.operand]
            assert isinstance(shape, ArrayShape)
            providers = provided(recorder, s.maps)
            for m in s.maps:
                for out, read in relation(m, reader(m, providers)):
                    place = (numbers[s.operand], flat_index(read, strides(shape.dimensions)))
                    at = (number_of_array, flat_index(out, strides(leaf.dimensions)))
                    known = found.setdefault(place, {})
                    known[at] = s.kind if known.get(at, s.kind) == s.kind else "reads"
        number_of_array += 1
    return found, unknown


def requests(inputs: tuple[Value, ...], all_changes: Sequence[Change]) -> list[list[dict[str, Any]]]:
    """The inputs of each run: first as they are, then with one change each."""
    return [[encoded(a) for v in given for a in arrays(v)] for given in (inputs, *(c.inputs for c in all_changes))]


def differences(base: Outputs, now: Outputs) -> set[tuple[int, int]]:
    """The result and element of all that differ; what is not a number equals itself."""
    return {
        (n, k)
        for n, (a, b) in enumerate(zip(base, now, strict=True))
        for k, (x, y) in enumerate(zip(a, b, strict=True))
        if x != y and not (x != x and y != y)
    }


def judged(change: Change, seen: set[tuple[int, int]]) -> tuple[str, str, Counter[str]]:
    """What is wrong and where, both empty where nothing is; how many of the outputs that read it were seen to."""
    told: Counter[str] = Counter()
    if change.unknown:
        return "", "", Counter({"not known": 1})
    where = f"parameter {change.parameter}, element {change.element}"
    more = sorted(seen - set(change.concerned))
    if more:
        return "an output changes with an element that it does not read by the maps", f"{where}: output {more[0]}", told
    for at, kind in change.concerned.items():
        told[f"{kind}: {'changes' if at in seen else 'does not change'}"] += 1
        if kind == "moves" and at not in seen:
            return "an element that is moved by the maps does not arrive", f"{where}: output {at}", told
    return "", "", told
