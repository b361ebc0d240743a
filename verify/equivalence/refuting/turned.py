"""What a module leaves open, decided the other way: the order of equal elements, of updates and of a reduction, and
what stands beside a triangular factor.

A sort that is not stable may order equal elements as it likes, a scatter may combine updates of one element in any
order, a reduce its elements. Results that hang on that are the module's own choice, and say nothing of another module.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import nan
from typing import Final

from hloproof.equivalence.refuting.machine import BoundedMachine
from hloproof.models.hlo.attributes import Attributes, Window
from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.interpreter.compact.classed import written_out
from hloproof.models.interpreter.semantics.element_type import COMPLEX
from hloproof.models.interpreter.value import Array, Classed, Value, flat_index, indices, strides

_OPEN: Final = frozenset({"cholesky", "gather", "reduce", "reduce-window", "scatter", "sort", "topk"})
_SORTED, _UNIQUE = "indices_are_sorted", "unique_indices"


class BrokenPromise(Exception):
    """Indices are not as the module says that they are: then it has no result."""


def leaves_open(module: Module) -> bool:
    """Whether there is anything that a `TurnedMachine` decides, or a promise that it looks after."""
    return any(_is_open(i) for c in module.computations for i in c.instructions)


def _is_open(i: Instruction) -> bool:
    match i.opcode:
        case "sort":
            return not i.attributes.flag("is_stable")
        case "gather":
            return i.attributes.flag(_SORTED)
        case "topk":
            return i.attributes.get("is_stable") is False
    return i.opcode in _OPEN


class TurnedMachine(BoundedMachine):
    """Decides otherwise than the machine below it where a module leaves something open.

    Raises BrokenPromise where indices are not sorted, or not unique, that are said to be, and NotModelled where an
    array is too large for its order to be turned.
    """

    def _instruction(
        self, i: Instruction, computation: Computation, operands: list[tuple[Value, ...]], devices: Sequence[int]
    ) -> list[Value]:
        # A reduce of a large array in parts takes them as they come: its order is seldom one that shows.
        folds = i.opcode in ("reduce", "reduce-window")
        if not _is_open(i) or (folds and any(isinstance(v, Classed) for o in operands for v in o)):
            return super()._instruction(i, computation, operands, devices)
        arrays = [[v for v in map(written_out, given) if isinstance(v, Array)] for given in operands]
        a = i.attributes
        if i.opcode in ("gather", "scatter"):
            for given in arrays:
                _check_promises(a, given[1 if i.opcode == "gather" else len(given) // 2], i.opcode)
        if i.opcode == "topk" and any(_have_equal(given[0]) for given in arrays):
            raise BrokenPromise("which of equal elements are taken is left open")
        if i.opcode == "cholesky":
            return [_beside_factor(x, a.flag("lower")) for x in super()._instruction(i, computation, operands, devices)]
        turned: list[tuple[Value, ...]] = [tuple(_turned(i, given)) for given in arrays]
        if i.opcode == "reduce-window":
            back = _over_reversed(i, arrays[0][0].sizes)
            return [_reversed_everywhere(x) for x in super()._instruction(back, computation, turned, devices)]
        return super()._instruction(i, computation, turned, devices)


def _over_reversed(i: Instruction, sizes: Sequence[int]) -> Instruction:
    """A reduce-window over arrays whose dimensions are all reversed, with the windows where they were."""
    window = i.attributes.get("window")
    if not isinstance(window, Window):
        return i
    dims = []
    for d, n in zip(window.dimensions, sizes, strict=True):
        width = 1 + (d.size - 1) * d.window_dilation
        room = d.padding_low + d.padding_high + (1 + (n - 1) * d.base_dilation if n else 0)
        beyond = (room - width) % d.stride if room >= width else 0  # what no window reaches, at the high end
        dims.append(replace(d, padding_low=d.padding_high - beyond, padding_high=d.padding_low))
    pairs = tuple((k, Window(tuple(dims)) if k == "window" else v) for k, v in i.attributes.pairs)
    return replace(i, attributes=Attributes(pairs))


def _reversed_everywhere(x: Value) -> Value:
    if isinstance(x, tuple):
        return tuple(map(_reversed_everywhere, x))
    return _reversed(x, range(len(x.sizes))) if isinstance(x, Array) else x


def _have_equal(x: Array) -> bool:
    """Whether two elements of a line along the last dimension are equal, or no numbers."""
    n = x.sizes[-1]
    lines = [x.data[k : k + n] for k in range(0, len(x.data), max(n, 1))]
    return any(len({*line}) < n or any(v != v for v in line) for line in lines)


def _beside_factor(x: Value, lower: bool) -> Value:
    """A triangular factor with no number where anything may stand: in the triangle that is not its own."""
    if not isinstance(x, Array):
        return x
    n = x.sizes[-1]
    places = (divmod(k % (n * n), n) for k in range(len(x.data)))
    own = [j <= i if lower else j >= i for i, j in places]
    anything = complex(nan, nan) if x.element_type in COMPLEX else nan
    return Array(x.element_type, x.sizes, [v if mine else anything for v, mine in zip(x.data, own, strict=True)])


def _turned(i: Instruction, given: list[Array]) -> list[Array]:
    a, half = i.attributes, len(given) // 2
    match i.opcode:
        case "sort":  # which keeps the order of equal elements: those of reversed lines are reversed
            return [_reversed(x, a.integers("dimensions")) for x in given]
        case "reduce":
            return [*(_reversed(x, a.integers("dimensions")) for x in given[:half]), *given[half:]]
        case "reduce-window":
            return [*(_reversed(x, range(len(x.sizes))) for x in given[:half]), *given[half:]]
        case "scatter":
            at, batches = given[half], a.integers("scatter_indices_batching_dims")
            over = [d for d in range(len(at.sizes)) if d != a.integer("index_vector_dim", len(at.sizes))]
            window = a.integers("update_window_dims")
            outside = [d for d in range(len(given[-1].sizes)) if d not in window]
            free = [k for k, d in enumerate(over) if d not in batches]
            updates = [_reversed(x, [outside[k] for k in free]) for x in given[half + 1 :]]
            return [*given[:half], _reversed(at, [over[k] for k in free]), *updates]
    return given


def _reversed(x: Array, dimensions: Iterable[int]) -> Array:
    steps, turned = strides(x.sizes), {*dimensions}
    sizes = x.sizes
    places = ([sizes[d] - 1 - k if d in turned else k for d, k in enumerate(at)] for at in indices(sizes))
    return Array(x.element_type, sizes, [x.data[flat_index(place, steps)] for place in places])


def _check_promises(a: Attributes, at: Array, opcode: str) -> None:
    if not (a.flag(_SORTED) or a.flag(_UNIQUE)):
        return
    vector, steps = a.integer("index_vector_dim", len(at.sizes)), strides(at.sizes)
    to = a.integers("start_index_map" if opcode == "gather" else "scatter_dims_to_operand_dims")
    batches = a.integers("start_indices_batching_dims" if opcode == "gather" else "scatter_indices_batching_dims")
    order = sorted(range(len(to)), key=lambda k: to[k])
    of_batch: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    for place in indices([1 if d == vector else n for d, n in enumerate(at.sizes)]):
        base = flat_index(place, steps)
        step = steps[vector] if vector < len(at.sizes) else 0
        numbers = tuple(int(at.data[base + k * step]) for k in order)
        of_batch.setdefault(tuple(place[d] for d in batches), []).append(numbers)
    for found in of_batch.values():
        if a.flag(_UNIQUE) and len({*found}) < len(found):
            raise BrokenPromise(f"indices of a {opcode} are not unique")
        if a.flag(_SORTED) and found != sorted(found):
            raise BrokenPromise(f"indices of a {opcode} are not sorted")
