"""What a run is seen to read: which elements of its parameters went into each element of its result.

Two runs. The first has real numbers, and every instruction's value is kept: start indices and trip decisions among
them. The second has sets of parameter elements in place of numbers, written as integers with a bit per element; where a
number decides what is read, the one of the first run is taken. Called computations on scalars (reducers, combiners,
comparators) count as functions of all their arguments, as they do in the definitions of the operations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from operator import or_
from typing import Final

from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import Attributes
from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.hlo.shape import ArrayShape, Shape, TupleShape, leaves
from hloproof.models.interpreter.operations.collective import Devices
from hloproof.models.interpreter.run import Machine
from hloproof.models.interpreter.semantics.counted import Counted
from hloproof.models.interpreter.semantics.real import Real
from hloproof.models.interpreter.semantics.semantics import Function, Scalars
from hloproof.models.interpreter.step import Body
from hloproof.models.interpreter.value import Array, Element, Token, Value, filled, indices
from hloproof.models.maps.indexing_map import array_of_sizes, instruction_of

_Path = tuple[str, ...]
"""Where an instruction is evaluated: the names of the instructions whose computations it is evaluated in, then its own.
Turn n of a loop is named `loop[n]`, the decision to take it `loop?n`; branch n of a conditional `conditional[n]`."""

_AtIndex = Callable[[tuple[int, ...]], int]
"""The set that an element's index goes with."""

_STARTS: Final = {"dynamic-slice": 1, "dynamic-update-slice": 2, "gather": 1, "set-dimension-size": 1}
"""Operations that are told where or how far to read, and their first operand that tells it."""
_SOURCES: Final = frozenset({"constant", "iota", "rng", "rng-bit-generator", "partition-id", "replica-id"})
"""Operations that read nothing."""


class _Traced(Machine):
    """A machine for one device that knows where it is."""

    def __init__(self, module: Module, scalars: Scalars) -> None:
        super().__init__(module, scalars, Devices(), 0)
        self.path: list[str] = []

    def _instruction(
        self, i: Instruction, computation: Computation, operands: list[tuple[Value, ...]], devices: Sequence[int]
    ) -> list[Value]:
        self.path.append(i.name)
        try:
            return super()._instruction(i, computation, operands, devices)
        finally:
            self.path.pop()

    def turn(self, i: Instruction, what: str, computation: str, state: Value, devices: Sequence[int]) -> Value:
        """One evaluation of a loop's body or condition."""
        self.path[-1] = i.name + what
        try:
            return self.evaluate(self._called(i, computation), [(state,)], devices)[0]
        finally:
            self.path[-1] = i.name

    def _conditional(self, i: Instruction, operands: list[tuple[Value, ...]], devices: Sequence[int]) -> list[Value]:
        self.path[-1] = f"{i.name}[{self.branch(i, operands[0][0])}]"
        return super()._conditional(i, operands, devices)


class Recorder(_Traced):
    """A run with real numbers that keeps the value of every instruction."""

    def __init__(self, module: Module) -> None:
        super().__init__(module, Real())
        self.values: dict[_Path, Value] = {}
        self.trips: dict[_Path, int] = {}
        """How many turns each loop took."""

    def evaluate(
        self, computation: Computation, arguments: Sequence[Sequence[Value]], devices: Sequence[int]
    ) -> list[Value]:
        for p in computation.parameters:
            self.values[(*self.path, p.name)] = arguments[0][p.parameter_number or 0]
        return super().evaluate(computation, arguments, devices)

    def _instruction(
        self, i: Instruction, computation: Computation, operands: list[tuple[Value, ...]], devices: Sequence[int]
    ) -> list[Value]:
        found = super()._instruction(i, computation, operands, devices)
        self.values[(*self.path, i.name)] = found[0]
        return found

    def _body(self, name: str) -> Body:
        found, kept = super()._body(name), self.values

        def run(arguments: Sequence[Element]) -> tuple[Element, ...]:
            self.values = {}  # What a reducer's instructions hold is nobody's to ask.
            try:
                return found(arguments)
            finally:
                self.values = kept

        return run

    def _while(self, i: Instruction, states: list[Value], devices: Sequence[int]) -> list[Value]:
        state, trips = states[0], 0
        while True:
            decision = self.turn(i, f"?{trips}", "condition", state, devices)
            if not (isinstance(decision, Array) and decision.data[0]):
                self.trips[tuple(self.path)] = trips
                return [state]
            state = self.turn(i, f"[{trips}]", "body", state, devices)
            trips += 1

    def literal(self, constant: Instruction) -> Value:
        """What a constant holds."""
        return self._literal(constant)

    def providers(self) -> Mapping[str, Array]:
        """The values by the texts that name them in the maps of the module."""
        return _Providers(self)


class _Providers(Mapping[str, Array]):
    """`parameter(n)`, `constant(literal)`, an instruction's name, or `site/name`: evaluated inside of `site`."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder, self._entry = recorder, recorder.module.entry
        self._values = recorder.values
        self._by_name: dict[str, list[_Path]] = {}
        for path in recorder.values:
            self._by_name.setdefault(path[-1], []).append(path)
        self._constants = {
            f"constant({i.literal})": i
            for c in recorder.module.computations
            for i in c.instructions
            if i.opcode == "constant"
        }

    def __getitem__(self, provider: str) -> Array:
        sized = array_of_sizes(provider)
        if sized is not None:
            sizes = self[sized].sizes
            return Array("s32", (len(sizes),), list(sizes))
        for p in self._entry.parameters:
            if provider == f"parameter({p.parameter_number})":
                return _array(self._values[p.name,], provider)
        constant = self._constants.get(provider)
        if constant is not None:
            return _array(self._recorder.literal(constant), provider)
        *sites, name = provider.split("/")
        found = [path for path in self._by_name.get(instruction_of(name), ()) if _passes(path, sites)]
        if not found:
            raise KeyError(provider)
        if len(found) > 1:
            raise LookupError(f"{provider} may be any of {len(found)} values")
        return _array(self._values[found[0]], provider)

    def __contains__(self, provider: object) -> bool:
        try:
            return isinstance(self[str(provider)], Array)
        except KeyError:
            return False

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return len(self._values)


def _passes(path: _Path, sites: Sequence[str]) -> bool:
    """The sites are passed on this path, in this order."""
    names = iter(path[:-1])
    return all(site in names for site in sites)


def _array(value: Value, provider: str) -> Array:
    if not isinstance(value, Array):
        raise LookupError(f"{provider} is no array")
    return value


class _Sets(Counted):
    """Elements are sets of parameter elements; numbers that are written or made read nothing."""

    def __init__(self) -> None:
        super().__init__(union=True)

    def constant(self, element_type: str, value: Element) -> Element:
        return 0

    def function(self, opcode: str, operands: Sequence[str], result: str, attributes: Attributes) -> Function:
        return _union


class _Reads(_Traced):
    """A run with sets, guided by the values of a run with numbers."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__(recorder.module, _Sets())
        self._recorder = recorder

    def _instruction(
        self, i: Instruction, computation: Computation, operands: list[tuple[Value, ...]], devices: Sequence[int]
    ) -> list[Value]:
        if i.opcode in _SOURCES:
            return [filled(i.shape)]
        first = _first_start(i)
        if first is None:
            return super()._instruction(i, computation, operands, devices)
        last = first + 1 if i.opcode == "scatter" else len(i.operands)
        told = tuple(self._recorder.values[(*self.path, name)] for name in i.operands[first:last])
        (given,) = operands
        guided = (*given[:first], *told, *given[last:])
        (result,) = super()._instruction(i, computation, [guided], devices)
        starts = [x for x in given[first:last] if isinstance(x, Array)]
        update = computation.by_name[i.operands[-1]].shape if i.opcode == "scatter" else None
        return [_joined(result, reads_of_starts(i, starts, update))]

    def _body(self, name: str) -> Body:
        outputs = len(list(leaves(self.module.by_name[name].root.shape)))
        return lambda arguments: (_union(*arguments),) * outputs

    def _while(self, i: Instruction, states: list[Value], devices: Sequence[int]) -> list[Value]:
        state = states[0]
        for trip in range(self._recorder.trips[tuple(self.path)]):
            state = self.turn(i, f"[{trip}]", "body", state, devices)
        return [state]

    def _conditional(self, i: Instruction, operands: list[tuple[Value, ...]], devices: Sequence[int]) -> list[Value]:
        selector = self._recorder.values[(*self.path[:-1], i.operands[0])]
        (given,) = operands
        (result,) = super()._conditional(i, [(selector, *given[1:])], devices)
        decides = _union(*given[0].data) if isinstance(given[0], Array) else 0
        return [_joined(result, lambda _: decides)]


def _first_start(i: Instruction) -> int | None:
    """The first operand that tells where to read; None for operations that need no telling."""
    if i.opcode == "scatter":
        return len(i.operands) // 2
    return _STARTS.get(i.opcode)


def reads_of_starts(i: Instruction, starts: Sequence[Array], update: Shape | None = None) -> _AtIndex:
    """What an output element reads of the operands that say where to read.

    A slice's starts decide every element; a gather's element follows the index vector of its batch place; which
    updates reach an element of a scatter depends on all index vectors, of the same batch where there are batching
    dimensions; `update` is the shape of the scatter's updates. No index moves a window along a dimension that they do
    not name, so what lies beyond it there reads none.
    """
    a = i.attributes
    if i.opcode not in ("gather", "scatter"):
        everything = _union(*(v for x in starts for v in x.data))
        return lambda _: everything
    (x,) = starts
    vector = a.integer("index_vector_dim", len(x.sizes))
    others = [d for d in range(len(x.sizes)) if d != vector]
    reach: dict[int, int] = {}
    if i.opcode == "gather":
        named = a.integers("start_index_map")
        offset = a.integers("offset_dims")
        followed = dict(zip(others, (k for k in range(_rank(i.shape)) if k not in offset), strict=True))
    else:
        named, batching = a.integers("scatter_dims_to_operand_dims"), a.integers("input_batching_dims")
        followed = dict(zip(a.integers("scatter_indices_batching_dims"), batching, strict=True))
        reach = _window(i, update)
        reach = {d: n for d, n in reach.items() if d not in named and d not in batching}
    if not named:
        return lambda _: 0
    groups: dict[tuple[int, ...], int] = {}
    kept = sorted(followed)
    for index, element in zip(indices(x.sizes), x.data, strict=True):
        key = tuple(index[d] for d in kept)
        groups[key] = groups.get(key, 0) | element

    def at(out: tuple[int, ...]) -> int:
        if any(out[d] >= n for d, n in reach.items()):
            return 0
        return groups.get(tuple(out[followed[d]] for d in kept), 0)

    return at


def _window(scatter: Instruction, update: Shape | None) -> dict[int, int]:
    """How many elements of each dimension of a scatter's operand a window covers."""
    a = scatter.attributes
    dropped = {*a.integers("inserted_window_dims"), *a.integers("input_batching_dims")}
    sizes = update.dimensions if isinstance(update, ArrayShape) else ()
    own = iter(a.integers("update_window_dims"))
    shape = next(leaf for _, leaf in leaves(scatter.shape))
    return {d: 1 if d in dropped else sizes[next(own)] for d in range(_rank(shape))}


def _rank(shape: Shape) -> int:
    return shape.rank if isinstance(shape, ArrayShape) else 0


def _joined(value: Value, more: _AtIndex) -> Value:
    if isinstance(value, tuple):
        return tuple(_joined(v, more) for v in value)
    if not isinstance(value, Array):
        return value
    return replace(value, data=[v | more(at) for at, v in zip(indices(value.sizes), value.data, strict=True)])


def _union(*arguments: int) -> int:
    return reduce(or_, arguments, 0)


def tagged(shapes: Sequence[Shape]) -> tuple[Value, ...]:
    """Values of these shapes whose element number k, counted through all of them in order, is the set {k}."""
    count = 0

    def value(shape: Shape) -> Value:
        nonlocal count
        if isinstance(shape, TupleShape):
            return tuple(value(s) for s in shape.elements)
        if not isinstance(shape, ArrayShape):
            return Token()
        first = count
        count += shape.elements
        return Array(shape.element_type, shape.dimensions, [1 << k for k in range(first, count)])

    return tuple(value(s) for s in shapes)


def observed_reads(recorder: Recorder) -> Value:
    """The root of the recorded run's entry, each element the set of the parameter elements that it reads, numbered as
    by `tagged`. Raises NotModelled."""
    shapes = [p.shape for p in recorder.module.entry.parameters]
    for _, leaf in (found for s in shapes for found in leaves(s)):
        if isinstance(leaf, ArrayShape) and leaf.is_dynamic:
            raise NotModelled("a parameter with a dynamic dimension")
    return _Reads(recorder).run([tagged(shapes)])[0]
