"""Integers of a fused computation that say where something is written or read, as expressions.

One variable for each value that comes from outside, and the arithmetic on it, which wraps round as the element type
does. Choices (select) are facts beside the expression. What is not followed may have any value of its type, and is
named in `computed`, so that nobody refutes by a value that does not come up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product as numbers_of
from typing import Final

from hloproof.claims.asynchronous.integer_arrays import (
    element_before,
    holds_integers,
    hull_of,
    kind_of,
    numbers_in,
    range_of_type,
    rank_of,
)
from hloproof.claims.asynchronous.loop_turns import Turns, part_of_state
from hloproof.logic.formula import FALSE, TRUE, Formula, Not, conj, disj, eq, le, lt, ne, replace_variables, within
from hloproof.logic.obligation import Obligation
from hloproof.models.dataflow.async_chain import text_of
from hloproof.models.expressions.bounds import range_of
from hloproof.models.expressions.evaluate import evaluate
from hloproof.models.expressions.expr import Const, Expr, Var, maximum, minimum, substitute
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.attributes import SliceDimension
from hloproof.models.hlo.module import Computation, Instruction
from hloproof.models.hlo.shape import ArrayShape, ShapeIndex
from hloproof.models.indexing.composition.known_values import has_own_name
from hloproof.models.layouts.tiling import linear_index
from hloproof.models.maps.indexing_map import IndexingMap, RuntimeVariable, instruction_of

SMALL: Final = range(4)
MOST_FACTORS: Final = 2
"""Numbers that are tried for what is multiplied, and how many different values that may be."""

_Index = tuple[Expr, ...]
_Key = tuple[str, _Index]
"""An instruction, and the element of it."""
_Place = tuple[str, tuple[int, ...]]
"""An instruction, and the part of its tuple."""


@dataclass(frozen=True, slots=True)
class Given:
    """A fusion, the computation that it stands in, and whether that is the entry: the program may be given anything,
    but what a loop, a branch or a call hands its computation need not take every value. `turns` are the states that a
    loop's body is given, one after the other, where they are known."""

    computation: Computation
    call: Instruction
    in_entry: bool
    turns: Turns = Turns()


class StartValues:
    """The values that one obligation speaks of: `variables` with their intervals, `facts` that hold of them, and what
    is `computed` in a way that is not followed. `steps` are the intervals of the obligation's other variables. What a
    fused computation is given is followed in the computation of its fusion; what the program is given may be
    anything."""

    def __init__(
        self, body: Computation, steps: Mapping[str, Interval] | None = None, given: Given | None = None
    ) -> None:
        self._body = body
        self._steps = dict(steps or {})
        self._known: dict[_Key, Expr] = {}
        self._congruent: dict[_Key, Expr] = {}
        self._read: dict[_Place, list[tuple[_Index, Expr]]] = {}
        self.variables: dict[str, Interval] = {}
        self.facts: list[Formula] = []
        self.computed: list[str] = []
        self.outside: dict[str, tuple[Instruction, _Index]] = {}
        """Of each variable that stands for what a computation was given: whose element it is, and which."""
        self.products: list[tuple[str, Expr, Expr, Interval]] = []
        """Of each variable that stands for a product of two values: the factors, and what its type can hold."""
        self.counters: dict[str, ShapeIndex] = {}
        """Of each variable that holds a counter of the loop around: the part of the state that it is."""
        self._given = given
        self._caller: StartValues | None = None
        self._calls = self._arbitrary = False
        self._turns = Turns()
        if given is not None:
            # One set of variables for both computations: what the fusion reads and what it is given are one program's
            # values.
            caller = StartValues(given.computation, self._steps)
            caller._calls, caller._arbitrary = True, given.in_entry
            caller.variables, caller.facts = self.variables, self.facts
            caller.computed, caller.outside = self.computed, self.outside
            caller.products, caller.counters, caller._turns = self.products, self.counters, given.turns
            self._caller = caller

    def start(self, name: str, bound: Interval) -> Expr | None:
        """A start index as it is clamped; None where it is no single integer."""
        value = self._single(name)
        return None if value is None else _clamped(value, bound)

    def read(self, r: RuntimeVariable, renamed: Mapping[str, Expr] | None = None) -> Expr:
        """What a runtime variable of a map of the computation holds, as it is clamped."""
        provider = r.provider or ""
        name = self._named(provider)
        if name is not None:
            if r.index is None or not r.index.results:
                value = self._single(name)
                if value is not None:
                    return _clamped(value, r.interval)
            elif not r.index.runtime and r.index.replica is None:
                index = tuple(substitute(e, dict(renamed or {})) for e in r.index.results)
                if len(index) == rank_of(self._body.by_name[name]) and holds_integers(self._body.by_name[name]):
                    return _clamped(self._value(name, index), r.interval)
        self.computed.append(provider)
        return self._fresh(r.interval)

    def follow(self, m: IndexingMap, renamed: Mapping[str, Expr]) -> tuple[tuple[Expr, ...], list[Formula]]:
        """The index that a map of the computation leads to, and when it does."""
        known = {**renamed, **{f"rt{k}": self.read(r, renamed) for k, r in enumerate(m.runtime)}}
        met = [within(substitute(c.expr, known), c.interval) for c in m.constraints]
        # Where a step leads to nothing may be said by its own bounds: of an update that is dropped they are empty.
        steps = ((renamed.get(f"d{k}", Var(f"d{k}")), v.interval) for k, v in enumerate(m.dims))
        met += [within(e, interval) for e, interval in steps if not self._is_within(e, interval)]
        return tuple(substitute(e, known) for e in m.results), met

    def _is_within(self, step: Expr, interval: Interval) -> bool:
        return isinstance(step, Var) and step.name in self._steps and interval.contains(self._steps[step.name])

    def _single(self, name: str) -> Expr | None:
        i = self._body.by_name[name]
        if not holds_integers(i) or not isinstance(i.shape, ArrayShape) or i.shape.elements != 1:
            return None
        return self._value(name, (Const(0),) * i.shape.rank)

    def _named(self, provider: str) -> str | None:
        if provider.startswith("parameter(") and provider.endswith(")"):
            number = int(provider[len("parameter(") : -1])
            return next((p.name for p in self._body.parameters if p.parameter_number == number), None)
        if provider.startswith("constant("):
            named = (i for i in self._body.instructions if i.opcode == "constant")
            return next((i.name for i in named if f"constant({i.literal})" == provider), None)
        # What a parameter here is called may be the name of what a nested fusion computes.
        inside = self._body.by_name.get(instruction_of(provider))
        return inside.name if inside is not None and has_own_name(inside) else None

    @property
    def multiplied_only(self) -> bool:
        """All that is computed in a way that is not followed are products: each stands in both lists once."""
        return len(self.computed) == len(self.products)

    def with_small_numbers(self, obligation: Obligation) -> Iterator[tuple[Obligation, dict[str, int]]]:
        """The obligation for small numbers in place of what is multiplied, where nothing else is computed in a way that
        is not followed, and all of it is given from outside: such numbers may come up."""
        factors = frozenset[str]().union(*(e.free for _, x, y, _ in self.products for e in (x, y)))
        own = {name for name, *_ in self.products}
        read = sorted(factors - own)
        if not read or len(read) > MOST_FACTORS or not self.multiplied_only:
            return
        if any(name not in self.outside for name in read):
            return
        for numbers in numbers_of(SMALL, repeat=len(read)):
            at = dict(zip(read, numbers, strict=True))
            for name, x, y, held in self.products:
                at[name] = evaluate(x, at) * evaluate(y, at)
                if at[name] not in held:
                    break
            else:
                yield _with_numbers(obligation, at), at

    @property
    def turns(self) -> Turns:
        """Of the loop around, whose counters are read."""
        return self._caller._turns if self._caller is not None and self.counters else Turns()

    @property
    def counted_only(self) -> bool:
        """All that is computed in a way that is not followed are counters of the loop around."""
        return len(self.computed) == len(self.counters)

    def in_turns(self, obligation: Obligation) -> Iterator[tuple[Obligation, dict[str, int]]]:
        """The obligation in each turn that is known of the loop around."""
        for state in self.turns.states:
            at = {name: state[part] for name, part in self.counters.items()}
            yield _with_numbers(obligation, at), at

    # -- values -----------------------------------------------------------------------------------------------------

    def _value(self, name: str, index: _Index) -> Expr:
        """One element of an array of integers."""
        key = (name, index)
        if key not in self._known:
            self._known[key] = self._wrapped(self._raw(name, index), kind_of(self._body.by_name[name]))
        return self._known[key]

    def _raw(self, name: str, index: _Index) -> Expr:
        """The element up to multiples of what its type can tell apart; the same expression whenever it is asked."""
        key = (name, index)
        if key not in self._congruent:
            self._congruent[key] = self._made(name, index)
        return self._congruent[key]

    def _made(self, name: str, index: _Index) -> Expr:
        i = self._body.by_name[name]
        kind = kind_of(i)
        operands = [self._body.by_name[o] for o in i.operands]
        match i.opcode:
            case "constant":
                return self._of_constant(i, index)
            case "parameter":
                return self._handed(i, index)
            case "get-tuple-element" if self._calls:
                return self._taken(i, index)
            case "iota":
                return index[i.attributes.integer("iota_dimension", 0)]
            case "copy" | "convert" if holds_integers(operands[0]):
                # Between two types the value itself is what is converted; within one, its residue will do.
                if kind_of(operands[0]) == kind:
                    return self._raw(operands[0].name, index)
                return self._value(operands[0].name, index)
            case "bitcast" | "reshape":
                at = element_before(operands[0], i, index)
                if at is not None:
                    return self._raw(operands[0].name, at)
            case "broadcast":
                at = tuple(index[d] for d in i.attributes.integers("dimensions"))
                return self._raw(operands[0].name, at)
            case "slice":
                given = i.attributes.get("slice")
                bounds = [b for b in given if isinstance(b, SliceDimension)] if isinstance(given, tuple) else []
                if len(bounds) == len(index):
                    moved = [Const(b.start) + e * b.stride for b, e in zip(bounds, index, strict=True)]
                    return self._raw(operands[0].name, tuple(moved))
            case "add":
                return self._raw(i.operands[0], index) + self._raw(i.operands[1], index)
            case "subtract":
                return self._raw(i.operands[0], index) - self._raw(i.operands[1], index)
            case "negate":
                return Const(0) - self._raw(i.operands[0], index)
            case "multiply":
                sides = [self._raw(o, index) for o in i.operands]
                # By a number the product is linear, and modulo 2^n it does not matter where it wrapped round.
                for n in (0, 1):
                    if isinstance(sides[n], Const):
                        return sides[1 - n] * sides[n]
                self.computed.append(name)
                made = self._fresh(range_of_type(kind))
                assert isinstance(made, Var)
                self.products.append((made.name, sides[0], sides[1], range_of_type(kind)))
                return made
            case "minimum" | "maximum":
                x, y = (self._value(o, index) for o in i.operands)
                return minimum(x, y) if i.opcode == "minimum" else maximum(x, y)
            case "clamp":
                low, x, high = (self._value(o, self._scalar(o, index)) for o in i.operands)
                return minimum(maximum(x, low), high)
            case "select":
                return self._chosen(i, index)
        self.computed.append(name)
        return self._fresh(range_of_type(kind))

    def _scalar(self, name: str, index: _Index) -> _Index:
        """The index of what may be one number for all elements."""
        return index if rank_of(self._body.by_name[name]) == len(index) else ()

    def _chosen(self, i: Instruction, index: _Index) -> Expr:
        taken = self._truth(i.operands[0], self._scalar(i.operands[0], index))
        x, y = (self._value(o, index) for o in i.operands[1:])
        if taken is None:
            self.computed.append(i.operands[0])
        if taken == TRUE:
            return x
        if taken == FALSE:
            return y
        # A new variable and a fact, since expressions have no choice; where the truth is not followed it may be either.
        value = self._fresh(hull_of(self._bounds(x), self._bounds(y)) or range_of_type(kind_of(i)))
        either = (eq(value, x), eq(value, y))
        if taken is None:
            self.facts.append(disj(*either))
        else:
            self.facts.append(disj(conj(taken, either[0]), conj(Not(taken), either[1])))
        return value

    def _truth(self, name: str, index: _Index) -> Formula | None:
        """When an element of a pred holds; None where that is not followed."""
        i = self._body.by_name[name]
        if i.opcode == "compare" and all(holds_integers(self._body.by_name[o]) for o in i.operands):
            x, y = (self._value(o, index) for o in i.operands)
            direction = text_of(i, "direction")
            match direction:
                case "EQ":
                    return eq(x, y)
                case "NE":
                    return ne(x, y)
                case "LT":
                    return lt(x, y)
                case "LE":
                    return le(x, y)
                case "GT":
                    return lt(y, x)
                case "GE":
                    return le(y, x)
        if i.opcode in ("and", "or"):
            sides = [self._truth(o, index) for o in i.operands]
            if None not in sides:
                join = conj if i.opcode == "and" else disj
                return join(*(s for s in sides if s is not None))
        if i.opcode == "not" and (inner := self._truth(i.operands[0], index)) is not None:
            return Not(inner)
        if i.opcode == "broadcast":
            return self._truth(i.operands[0], tuple(index[d] for d in i.attributes.integers("dimensions")))
        if i.opcode == "constant" and (i.literal or "").strip("{} ") in ("true", "false"):
            return TRUE if "true" in (i.literal or "") else FALSE
        return None

    def _of_constant(self, i: Instruction, index: _Index) -> Expr:
        shape = i.shape
        assert isinstance(shape, ArrayShape)
        numbers = numbers_in(i)
        if numbers is None or len(numbers) != shape.elements:
            self.computed.append(i.name)
            return self._fresh(range_of_type(shape.element_type))
        if not numbers:
            return Const(0)  # nobody reads an element of none
        if len(set(numbers)) == 1:
            return Const(numbers[0])
        # A table as a disjunction over its places: constants that are starts are short.
        place = linear_index(index, shape.dimensions, Const(0))
        if isinstance(place, Const) and 0 <= place.value < len(numbers):
            return Const(numbers[place.value])
        value = self._fresh(Interval(min(numbers), max(numbers)))
        self.facts.append(disj(*(conj(eq(place, Const(k)), eq(value, Const(n))) for k, n in enumerate(numbers))))
        return value

    def _handed(self, i: Instruction, index: _Index) -> Expr:
        """An element of a parameter: what the fusion gives for it."""
        if self._caller is None or self._given is None:
            return self._outside(i, (i.name, ()), index, i)
        return self._caller._value(self._given.call.operands[i.parameter_number or 0], index)

    def _taken(self, i: Instruction, index: _Index) -> Expr:
        """An element of an array that is taken out of a tuple: what was put in, or the part of what made the tuple."""
        source, path = i, tuple[int, ...]()
        while True:
            if source.opcode == "get-tuple-element":
                path = (source.attributes.integer("index", 0), *path)
                source = self._body.by_name[source.operands[0]]
            elif source.opcode == "tuple" and path:
                source, path = self._body.by_name[source.operands[path[0]]], path[1:]
            else:
                break
        if not path:
            return self._raw(source.name, index)
        return self._outside(i, (source.name, path), index, source)

    def _outside(self, i: Instruction, place: _Place, index: _Index, source: Instruction) -> Expr:
        """An element of what is given from outside by `source`: equal elements of a place are equal values."""
        known = self._read.setdefault(place, [])
        for other, theirs in known:
            if other == index:
                return theirs
        value = self._fresh(range_of_type(kind_of(i)))
        assert isinstance(value, Var)
        self.outside[value.name] = (i, index)
        if self._calls and not (self._arbitrary and source.opcode == "parameter"):
            self.computed.append(i.name)
            part = part_of_state(source, place[1], self._turns)
            if part is not None:
                self.counters[value.name] = part
        for other, theirs in known:
            differs = [ne(a, b) for a, b in zip(index, other, strict=True)]
            if not all(isinstance(a, Const) and isinstance(b, Const) for a, b in zip(index, other, strict=True)):
                self.facts.append(disj(*differs, eq(value, theirs)))
        known.append((index, value))
        return value

    # -- numbers ----------------------------------------------------------------------------------------------------

    def _fresh(self, interval: Interval) -> Expr:
        name = f"v{len(self.variables)}"
        self.variables[name] = interval
        return Var(name)

    def _bounds(self, e: Expr) -> Interval | None:
        try:
            return range_of(e, self._steps | self.variables)
        except KeyError:
            return None

    def _wrapped(self, raw: Expr, kind: str) -> Expr:
        within = range_of_type(kind)
        if isinstance(raw, Const):
            return Const((raw.value - within.lower) % within.count + within.lower)
        found = self._bounds(raw)
        if found is not None and within.contains(found):
            return raw
        moved = (raw + Const(-within.lower)) % Const(within.count)
        return moved + Const(within.lower) if within.lower else moved


def _with_numbers(obligation: Obligation, at: Mapping[str, int]) -> Obligation:
    """The obligation with numbers in place of variables."""
    into: dict[str, Expr] = {name: Const(n) for name, n in at.items()}
    rest = tuple(v for v in obligation.variables if v[0] not in at)
    conclusion, hypothesis = (replace_variables(f, into) for f in (obligation.conclusion, obligation.hypothesis))
    return Obligation(rest, conclusion, hypothesis, obligation.label)


def _clamped(value: Expr, bound: Interval) -> Expr:
    if isinstance(value, Const):
        return Const(min(max(value.value, bound.lower), bound.upper))
    return minimum(maximum(value, Const(bound.lower)), Const(bound.upper))
