"""Tensor rules as data. What the operations mean is not said here.

A written dimension is a group: one dimension, or with `...` any number of dimensions that are treated alike. In a
group of several the names that are written with `...` stand for one number each: `k...` at rank 2 is `k.0, k.1`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from hloproof.models.errors import InputError
from hloproof.models.expressions.expr import Comparator, Expr


@dataclass(frozen=True, slots=True)
class GroupEntry:
    """An expression for one group; `each` where it stands for every member of a group of several."""

    value: Expr
    each: bool = False


@dataclass(frozen=True, slots=True)
class Comparison:
    """`lhs op rhs`; with `each` for every member of the groups."""

    op: Comparator
    lhs: Expr
    rhs: Expr
    each: bool = False


@dataclass(frozen=True, slots=True)
class Alternatives:
    """One of the alternatives holds; each is a list of comparisons that all hold."""

    alternatives: tuple[tuple[Comparison, ...], ...]
    text: str


@dataclass(frozen=True, slots=True)
class Name:
    """A declared tensor."""

    name: str
    line: int = field(default=0, compare=False)
    column: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class NumberLiteral:
    """A constant scalar: an integer, or with `truth` true (1) or false (0)."""

    value: int
    truth: bool = False


@dataclass(frozen=True, slots=True)
class Infinity:
    """A constant scalar beyond all numbers; of integers it is the largest or least of their type."""

    negative: bool


@dataclass(frozen=True, slots=True)
class Call:
    """An operation on tensors. An attribute is a list of entries, or a word."""

    op: str
    args: tuple[Tensor, ...]
    attributes: tuple[tuple[str, tuple[GroupEntry, ...] | str], ...] = ()
    line: int = field(default=0, compare=False)
    column: int = field(default=0, compare=False)

    def entries(self, name: str) -> tuple[GroupEntry, ...] | None:
        """The list of this name; None where there is none."""
        found = dict(self.attributes).get(name)
        return None if isinstance(found, str) else found

    def word(self, name: str, default: str = "") -> str:
        """The word of this name."""
        found = dict(self.attributes).get(name)
        return found if isinstance(found, str) else default


Tensor = Name | NumberLiteral | Infinity | Call
NumberKind = Literal["reals", "integers"]


@dataclass(frozen=True)
class TensorRule:
    """`left => right` for tensors of the declared shapes, where the conditions hold.

    `indices` are scalars that are read at run time and may be any integer; `each_index` those written with `...`.
    """

    name: str
    tensors: tuple[tuple[str, tuple[GroupEntry, ...]], ...]
    indices: tuple[GroupEntry, ...]
    conditions: tuple[Alternatives, ...]
    left: Tensor
    right: Tensor
    predicates: frozenset[str] = frozenset()
    """Names of tensors that hold truth values."""
    kinds: tuple[NumberKind, ...] = ()
    """What elements are: `reals`, `integers`, or where the rule does not say so, both."""
    assumed: tuple[Tensor, ...] = ()
    """Truths that hold at every index of the result."""
    devices: Expr | None = None
    """How many devices there are, for rules about collectives."""
    expect: Literal["proved", "refuted"] = "proved"
    note: str = ""
    source: str = ""
    line: int = 0
    column: int = 0
    file: str = field(default="", compare=False)
    lines: tuple[str, ...] = field(default=(), repr=False, compare=False)

    def calls(self) -> Iterator[Call]:
        """The operations of both sides and of what is assumed."""
        stack: list[Tensor] = [self.left, self.right, *self.assumed]
        while stack:
            node = stack.pop()
            if isinstance(node, Call):
                yield node
                stack += node.args

    def side_entries(self) -> Iterator[GroupEntry]:
        """The entries of the attributes of all operations."""
        for call in self.calls():
            for _, value in call.attributes:
                if not isinstance(value, str):
                    yield from value

    def error(self, message: str, line: int = 0, column: int = 0) -> InputError:
        """An error at a place of the rule, or at its head."""
        at = line or self.line
        return InputError(message, at, column or self.column, self.lines[at - 1] if self.lines else "", self.file)
