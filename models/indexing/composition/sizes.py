"""The sizes of dynamic dimensions where instructions stand: followed to the number that set-dimension-size was given.

The size of a dimension of an array is told by what makes the array: set-dimension-size by its second operand, a
concatenate by the sum of its operands' sizes, a pad by what it adds; operations that go element by element or keep a
dimension hand it on. What is not followed is named as `sizes(name)`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from hloproof.models.expressions.expr import Const, Expr, Var, substitute
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.attributes import PaddingDimension
from hloproof.models.hlo.module import Computation, Instruction
from hloproof.models.hlo.opcodes import ELEMENTWISE
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.indexing.box import plus
from hloproof.models.indexing.run_time_sizes import stretch
from hloproof.models.maps.indexing_map import (
    Constraint,
    IndexingMap,
    RuntimeVariable,
    array_of_sizes,
    dim,
    provider_called,
    rt,
    sizes_of,
)

_LONGEST: Final = 64
"""Instructions followed for one size."""


_NUMBER: Final = re.compile(r"0|[1-9][0-9]{0,17}")


def operand_number(provider: str, word: str = "operand") -> int | None:
    """n of `operand(n)`, or of another word, as it is printed; None for any other text."""
    if provider.startswith(word + "(") and provider.endswith(")"):
        digits = provider[len(word) + 1 : -1]
        return int(digits) if _NUMBER.fullmatch(digits) else None
    return None


def provider_name(source: Instruction) -> str:
    """`parameter(n)`, `constant(literal)`, or the instruction's name: a constant whose numbers the text leaves out need
    not be equal to another one that is written so."""
    if source.opcode == "parameter":
        return f"parameter({source.parameter_number})"
    if source.opcode == "constant" and "..." not in (source.literal or ""):
        return f"constant({source.literal})"
    return provider_called(source.name)


def with_sizes_followed(m: IndexingMap, instruction: Instruction, computation: Computation) -> IndexingMap:
    """The map of an instruction with the sizes of its operands told by what makes them."""
    sized = {k: _asked(v) for k, v in enumerate(m.runtime)}
    if all(asked is None for asked in sized.values()):
        return m
    follow = _Sizes(computation)
    into: dict[str, Expr] = {}
    for k, v in enumerate(m.runtime):
        asked = sized[k]
        if asked is None:
            into[f"rt{k}"] = follow.variable(v)
        else:
            follow.reader, follow.left = v, _LONGEST
            into[f"rt{k}"] = follow.size(computation.by_name[instruction.operands[asked[0]]], asked[1])
    changed = IndexingMap(
        m.dims,
        tuple(substitute(e, into) for e in m.results),
        m.ranges,
        tuple(follow.runtime),
        tuple(Constraint(substitute(c.expr, into), c.interval) for c in m.constraints),
    )
    if m.replica is None:
        return changed
    return replace(changed, replica=replace(changed, results=tuple(substitute(e, into) for e in m.replica.results)))


def within_sizes(m: IndexingMap, array: Instruction, computation: Computation) -> IndexingMap:
    """The map where the elements are that an instruction gives: what lies beyond a size is none."""
    assert isinstance(array.shape, ArrayShape)
    follow = _Sizes(computation)
    follow.runtime += m.runtime
    follow.reader = RuntimeVariable(Interval(0, 0), index=IndexingMap(m.dims, ()))
    there: list[Constraint] = []
    for k, bound in enumerate(array.shape.dimensions):
        if array.shape.dynamic and array.shape.dynamic[k]:
            follow.left = _LONGEST
            there.append(Constraint(dim(k) - follow.size(array, k), Interval(-bound, -1)))
    return replace(m, runtime=tuple(follow.runtime), constraints=(*m.constraints, *there))


def _asked(v: RuntimeVariable) -> tuple[int, int] | None:
    """The operand and the dimension whose size a variable is; None for other variables."""
    number = operand_number(array_of_sizes(v.provider or "") or "")
    dimension = v.index.results[0] if v.index is not None and len(v.index.results) == 1 else None
    return None if number is None or not isinstance(dimension, Const) else (number, dimension.value)


class _Sizes:
    """Sizes as expressions over runtime variables, which are gathered here."""

    def __init__(self, computation: Computation) -> None:
        self._by_name = computation.by_name
        self.runtime: list[RuntimeVariable] = []
        self.reader = RuntimeVariable(Interval(0, 0))
        """The variable whose size is followed: its index has the dims of the map."""
        self.left = 0

    def variable(self, v: RuntimeVariable) -> Expr:
        if v not in self.runtime:
            self.runtime.append(v)
        return rt(self.runtime.index(v))

    def size(self, i: Instruction, dimension: int) -> Expr:
        """The size of a dimension of what an instruction gives."""
        shape = i.shape
        if not isinstance(shape, ArrayShape) or not (shape.dynamic and shape.dynamic[dimension]):
            return Const(shape.dimensions[dimension]) if isinstance(shape, ArrayShape) else self._named(i, dimension, 0)
        self.left -= 1
        found = self._followed(i, dimension, shape) if self.left > 0 else None
        return self._named(i, dimension, shape.dimensions[dimension]) if found is None else found

    def _in_words(self, size: Expr) -> str:
        words = {f"rt{k}": Var(f"{v.provider}{v.index and v.index.results}") for k, v in enumerate(self.runtime)}
        return str(substitute(size, words))

    def _named(self, i: Instruction, dimension: int, bound: int) -> Expr:
        return self._read(sizes_of(provider_name(i)), Interval(0, bound), (Const(dimension),))

    def _read(self, provider: str, interval: Interval, index: tuple[Expr, ...]) -> Expr:
        assert self.reader.index is not None
        at = replace(self.reader.index, results=index)
        return self.variable(RuntimeVariable(interval, provider=provider, index=at))

    def _followed(self, i: Instruction, dimension: int, shape: ArrayShape) -> Expr | None:
        operands = [self._by_name[name] for name in i.operands]
        if i.opcode in ELEMENTWISE or i.opcode == "copy":
            # They are one where the program has a meaning: whichever is named, in any order of operands it is the same.
            told = [self.size(o, dimension) for o in operands if _is_dynamic(o, dimension, shape)]
            return min(told, key=self._in_words, default=None)
        match i.opcode:
            case "set-dimension-size":
                (axis,) = i.attributes.integers("dimensions")
                if axis != dimension:
                    return self.size(operands[0], dimension)
                return self._given(operands[1], Interval(0, shape.dimensions[dimension]))
            case "transpose":
                return self.size(operands[0], i.attributes.integers("dimensions")[dimension])
            case "concatenate":
                (axis,) = i.attributes.integers("dimensions")
                parts = [self.size(o, dimension) for o in operands] if axis == dimension else []
                total: Expr | None = parts[0] if parts else None
                for e in parts[1:]:
                    total = e if total is None else total + e
                return total
            case "pad":
                padding = i.attributes.get("padding")
                p = padding[dimension] if isinstance(padding, tuple) else None
                # Where more is cut away than is there, the size has no meaning.
                if not isinstance(p, PaddingDimension) or p.low + p.high < 0:
                    return None
                size = self.size(operands[0], dimension)
                return plus(size if p == PaddingDimension(0, 0, 0) else stretch(p, size), p.low + p.high)
        return None

    def _given(self, number: Instruction, interval: Interval) -> Expr:
        """The scalar that a size is set to."""
        literal = (number.literal or "").strip() if number.opcode == "constant" else ""
        if literal.isdecimal() and int(literal) in interval:
            return Const(int(literal))
        return self._read(provider_name(number), interval, ())


def _is_dynamic(i: Instruction, dimension: int, like: ArrayShape) -> bool:
    shape = i.shape
    same = isinstance(shape, ArrayShape) and shape.dimensions == like.dimensions and bool(shape.dynamic)
    return same and isinstance(shape, ArrayShape) and shape.dynamic[dimension]
