"""Single integers of a fused computation that say where a window lies, as expressions: one variable for each value
that comes from outside, and the arithmetic on it with constants, which wraps round as the element type does."""

from __future__ import annotations

from typing import Final

from hloproof.models.expressions.expr import Const, Expr, Var, maximum, minimum
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.attributes import SliceDimension
from hloproof.models.hlo.module import Computation, Instruction
from hloproof.models.hlo.shape import ELEMENT_BITS, ArrayShape
from hloproof.models.maps.indexing_map import RuntimeVariable

_HANDS_ON: Final = frozenset({"bitcast", "reshape", "copy"})
_Key = tuple[str, tuple[int, ...]]
"""An instruction, and the element of it."""


class StartValues:
    """The values that one obligation speaks of: `variables` with their intervals, and those that are computed in a way
    that is not followed, so that not every value may come up."""

    def __init__(self, body: Computation) -> None:
        self._body = body
        self._names: dict[_Key, str] = {}
        self.variables: dict[str, Interval] = {}
        self.computed: list[str] = []

    def start(self, name: str, bound: Interval) -> Expr | None:
        """A start index as it is clamped; None where it is no single integer."""
        value = self._value(name)
        return None if value is None else _clamped(value, bound)

    def read(self, r: RuntimeVariable) -> Expr:
        """What a runtime variable of a map of the computation holds, as it is clamped."""
        provider = r.provider or ""
        name = self._named(provider)
        index = () if r.index is None else tuple(e.value if isinstance(e, Const) else -1 for e in r.index.results)
        if name is not None and not index:
            value = self._value(name)
            if value is not None:
                return _clamped(value, r.interval)
        if name is not None and -1 not in index and self._body.by_name[name].opcode == "parameter":
            return _clamped(self._outside(name, index), r.interval)
        # An element that depends on the place, or is not followed: any value inside the interval.
        if name is None or self._body.by_name[name].opcode != "parameter":
            self.computed.append(provider)
        fresh = f"v{len(self.variables)}"
        self.variables[fresh] = r.interval
        return Var(fresh)

    def _named(self, provider: str) -> str | None:
        if provider.startswith("parameter(") and provider.endswith(")"):
            number = int(provider[len("parameter(") : -1])
            return next((p.name for p in self._body.parameters if p.parameter_number == number), None)
        return provider if provider in self._body.by_name else None

    def _value(self, name: str) -> Expr | None:
        """The unclamped value of an instruction that gives a single integer."""
        outer = _integer(self._body.by_name[name])
        if outer is None:
            return None
        offset = 0
        while True:
            i = self._body.by_name[name]
            own = _integer(i)
            if own is None:
                return None
            if i.opcode == "constant":
                literal = (i.literal or "").strip("{} ")
                if not literal.lstrip("-").isdecimal():
                    return None
                return Const(_wrapped_number(int(literal) + offset, outer))
            inside = self._one_step(i)
            if inside is None:
                break
            name, more = inside
            offset += more
            if more and own != outer:
                name, offset = i.name, offset - more  # a sum inside of a conversion wraps round by itself
                break
        i = self._body.by_name[name]
        if i.opcode == "slice" and (element := self._sliced(i)) is not None:
            return _shifted(self._outside(*element), offset, outer)
        if i.opcode != "parameter":
            self.computed.append(name)
        return _shifted(self._outside(name, ()), offset, outer)

    def _one_step(self, i: Instruction) -> tuple[str, int] | None:
        """The operand that an instruction hands on, and what it adds; None where the value is made here."""
        operands = [self._body.by_name[o] for o in i.operands]
        if i.opcode in _HANDS_ON and _integer(operands[0]) == _integer(i):
            return operands[0].name, 0
        if i.opcode == "convert" and _holds_all(_integer(i), _integer(operands[0])):
            return operands[0].name, 0
        if i.opcode in ("add", "subtract") and len(operands) == 2:
            for n, sign in ((1, 1 if i.opcode == "add" else -1), (0, 1)):
                literal = (operands[n].literal or "").strip("{} ") if operands[n].opcode == "constant" else ""
                if literal.lstrip("-").isdecimal() and (n == 1 or i.opcode == "add"):
                    return operands[1 - n].name, sign * int(literal)
        return None

    def _sliced(self, i: Instruction) -> _Key | None:
        """The one element of a parameter that a slice takes."""
        source, bounds = self._body.by_name[i.operands[0]], i.attributes.get("slice")
        if source.opcode != "parameter" or not isinstance(bounds, tuple):
            return None
        starts = tuple(b.start for b in bounds if isinstance(b, SliceDimension))
        return (source.name, starts) if len(starts) == len(bounds) else None

    def _outside(self, name: str, index: tuple[int, ...]) -> Expr:
        key = (name, index)
        if key not in self._names:
            shape = self._body.by_name[name].shape
            assert isinstance(shape, ArrayShape)
            self._names[key] = f"v{len(self.variables)}"
            self.variables[self._names[key]] = _range(shape.element_type)
        return Var(self._names[key])


def _integer(i: Instruction) -> str | None:
    """The element type of a single integer."""
    shape = i.shape
    if not isinstance(shape, ArrayShape) or shape.elements != 1 or shape.element_type not in ELEMENT_BITS:
        return None
    kind = shape.element_type
    return kind if kind[:1] in ("s", "u") and kind[1:].isdecimal() else None


def _range(element_type: str) -> Interval:
    bits = ELEMENT_BITS[element_type]
    return Interval(0, (1 << bits) - 1) if element_type[0] == "u" else Interval(-(1 << bits - 1), (1 << bits - 1) - 1)


def _holds_all(into: str | None, source: str | None) -> bool:
    return into is not None and source is not None and _range(into).contains(_range(source))


def _wrapped_number(value: int, element_type: str) -> int:
    within = _range(element_type)
    return (value - within.lower) % within.count + within.lower


def _shifted(base: Expr, offset: int, element_type: str) -> Expr:
    if not offset:
        return base
    within = _range(element_type)
    moved = (base + Const(offset - within.lower)) % Const(within.count)
    return moved + Const(within.lower) if within.lower else moved


def _clamped(value: Expr, bound: Interval) -> Expr:
    if isinstance(value, Const):
        return Const(min(max(value.value, bound.lower), bound.upper))
    return minimum(maximum(value, Const(bound.lower)), Const(bound.upper))
