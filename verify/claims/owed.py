"""The fixed table of owed claims: opcode x output x operand x direction."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from models.errors import NotModelled
from models.hlo.module import Operation
from models.hlo.shape import ArrayShape, Shape, leaves
from models.indexing.map_set import OperandMaps
from verify.claims.bijective import bijective_parts
from verify.claims.converse import converse_parts
from verify.claims.definition import Subject, definition_parts
from verify.claims.in_bounds import in_bounds_parts
from verify.claims.index_range import index_range_parts
from verify.claims.partition import partition_parts
from verify.claims.relation import Direction
from verify.claims.statement import Part, Point
from verify.claims.wording import subject
from verify.definitions import define
from verify.definitions.definition import Definition
from verify.obligation import Obligation

CLAIMS: Final[Mapping[str, str]] = {
    "in-bounds": "every result lies inside the shape that it indexes, for every point of the domain",
    "definition": "the union of the maps is exactly what the operation means, in both directions",
    "converse": "output-to-input and input-to-output maps are converse relations",
    "partition": "every output element comes from exactly one operand",
    "bijective": "the map is one to one and onto, and the other direction undoes it",
    "index-range": "no intermediate value leaves the signed integers of the index width",
}
"""Each claim about the maps of an instruction, in words."""

PARTITIONED: Final[Mapping[str, Callable[[Operation], Sequence[int]]]] = {
    "concatenate": lambda op: range(len(op.operands)),
    "pad": lambda op: (0, 1),
    "dynamic-update-slice": lambda op: (0, 1),
}
"""Opcodes whose output is put together from operands, and which operands supply elements."""

BIJECTIVE: Final = frozenset({"reshape", "transpose", "reverse", "copy", "bitcast"})
"""Opcodes that move every operand element to one place. (A bitcast only where the element counts are equal.)"""

Pair = tuple[int, int, tuple[int, ...]]
"""An output, an operand and a position in the operand's tuple."""


def _all_operands(op: Operation) -> list[Pair]:
    inputs = [(k, at) for k, shape in enumerate(op.operands) for at, _ in arrays(shape)]
    return [(n, k, at) for n, (k, at) in enumerate(inputs)]


def _one_element(op: Operation) -> list[Pair]:
    index = op.attributes.integer("index", -1)
    inputs = [at for at, _ in arrays(op.operands[0]) if at[:1] == (index,)]
    return [(n, 0, at) for n, at in enumerate(inputs)]


PASSED_ON: Final[Mapping[str, Callable[[Operation], Sequence[Pair]]]] = {
    "tuple": _all_operands,
    "get-tuple-element": _one_element,
}
"""Opcodes that hand on arrays of tuples, and which array of an operand each output is; every other pair of arrays has
nothing to do with each other, by definition."""

Build = Callable[[], list[Part]]


@dataclass(frozen=True, eq=False)
class OwedClaim:
    """One claim about one output, operand and direction, not yet proved."""

    claim: str
    subject: str
    """In words, such as `output 0 -> operand 1`."""
    build: Build
    assume: Callable[[], Sequence[str]] = field(default=tuple)
    empty: bool = False
    """There is nothing to read: some array of the claim has no elements."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "build", cache(self.build))

    def obligations(self) -> tuple[Obligation, ...]:
        """What has to be proved. Raises NotModelled where the claim cannot be stated."""
        return tuple(p.obligation for p in self.build())

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the claim takes for granted, in words."""
        try:
            return tuple(self.assume())
        except NotModelled:
            return ()

    def describe(self, model: Point, obligation: Obligation) -> str:
        """A counterexample in the reader's terms. Raises KeyError for an obligation that is not of this claim."""
        matching = [p for p in self.build() if p.obligation == obligation]
        if not matching:
            raise KeyError("the obligation is not one of this claim")
        best = next((p for p in matching if p.obligation.label == obligation.label), matching[0])
        return best.describe(dict(model))


def owed(op: Operation, index_width: int = 64) -> tuple[OwedClaim, ...]:
    """Every claim that an operation owes, by the table; `index_width` is the width of machine indices in bits.

    An operation without operands owes nothing. Raises NotModelled for an opcode that has no definition.
    """
    if not op.operands:
        return ()
    return tuple(_Table(op, index_width).claims())


def arrays(shape: Shape) -> list[tuple[tuple[int, ...], ArrayShape]]:
    """The arrays inside a shape, each with its tuple position, in order. Outputs are numbered so."""
    return [(at, leaf) for at, leaf in leaves(shape) if isinstance(leaf, ArrayShape)]


class _Table:
    """Builds the claims of one operation; maps and definitions are made once and when first needed."""

    def __init__(self, op: Operation, index_width: int) -> None:
        self.op, self.width = op, index_width
        self.outputs = arrays(op.shape)
        self.forward = cache(self._forward)
        self.backward = cache(self._backward)
        self.define = cache(lambda output, operand, position: define(op, output, operand, position))

    def _forward(self, output: int) -> tuple[OperandMaps, ...]:
        from models.indexing import output_to_input

        return output_to_input(self.op, output)

    def _backward(self, operand: int) -> tuple[OperandMaps, ...]:
        from models.indexing import input_to_output

        return input_to_output(self.op, operand)

    def maps(self, about: Subject) -> OperandMaps | None:
        """The maps of a subject; None where there are none. Raises NotModelled as the builders do."""
        if about.direction == "output-to-input":
            found = [m for m in self.forward(about.output) if m.operand == about.operand]
        else:
            found = [m for m in self.backward(about.operand) if m.operand == about.output]
        found = [m for m in found if m.position == about.position]
        if len(found) > 1:
            raise NotModelled("several sets of maps for the same array")
        return found[0] if found else None

    def claims(self) -> list[OwedClaim]:
        out: list[OwedClaim] = []
        inputs = [(k, at, leaf) for k, shape in enumerate(self.op.operands) for at, leaf in arrays(shape)]
        passed_on = PASSED_ON.get(self.op.opcode)
        near = None if passed_on is None else self._named() | set(passed_on(self.op))
        for output, (_, output_shape) in enumerate(self.outputs):
            for operand, position, operand_shape in inputs:
                # A tuple of hundreds of arrays has tens of thousands of pairs, nearly all of them without anything.
                if near is not None and (output, operand, position) not in near:
                    continue
                if self._concerned(output, operand, position):
                    out += self._pair(output, output_shape, operand, operand_shape, position)
        if self.op.opcode in PARTITIONED and self.outputs:
            out.append(self._partition())
        return out

    def _named(self) -> set[Pair]:
        """The pairs that some map is about, in either direction."""
        out: set[Pair] = set()
        for output in range(len(self.outputs)):
            out |= {(output, m.operand, m.position) for m in self.forward(output)}
        for operand in range(len(self.op.operands)):
            out |= {(m.operand, operand, m.position) for m in self.backward(operand)}
        return out

    def _concerned(self, output: int, operand: int, position: tuple[int, ...]) -> bool:
        """Whether the pair owes anything: the definition reads it, or some map or the lack of a meaning says more."""
        try:
            if not nothing_read(self.define(output, operand, position)):
                return True
            named = [(m.operand, m.position) for m in self.forward(output)]
            named += [(operand, m.position) for m in self.backward(operand) if m.operand == output]
            return (operand, position) in named
        except NotModelled:
            return True

    def _pair(
        self, output: int, output_shape: ArrayShape, operand: int, operand_shape: ArrayShape, position: tuple[int, ...]
    ) -> list[OwedClaim]:
        out: list[OwedClaim] = []
        op = self.op
        empty = not output_shape.elements or not operand_shape.elements

        def defined() -> Definition:
            return self.define(output, operand, position)

        def assumed() -> Sequence[str]:
            return defined().assumptions

        def add(claim: str, about: Subject, build: Build) -> None:
            words = subject(op, output, operand, position, about.direction)
            out.append(OwedClaim(claim, words, build, assumed, empty))

        directions: tuple[Direction, ...] = ("output-to-input", "input-to-output")
        both = [Subject(op, output, operand, output_shape, operand_shape, d, position) for d in directions]
        for about in both:
            add("in-bounds", about, lambda a=about: in_bounds_parts(a, self.maps(a), _group_size(defined)))  # type: ignore[misc]
            add("definition", about, lambda a=about: definition_parts(a, self.maps(a), defined()))  # type: ignore[misc]
            add("index-range", about, lambda a=about: index_range_parts(a, self.maps(a), self.width))  # type: ignore[misc]
        forth, back = both
        add("converse", forth, lambda: converse_parts(forth, self.maps(forth), self.maps(back), defined()))
        if op.opcode in BIJECTIVE and output_shape.elements == operand_shape.elements:
            add("bijective", forth, lambda: bijective_parts(forth, self.maps(forth), self.maps(back)))
        return out

    def _partition(self) -> OwedClaim:
        op = self.op
        supplying = PARTITIONED[op.opcode](op)
        _, output = self.outputs[0]

        def build() -> list[Part]:
            maps = [m for m in self.forward(0) if m.operand in supplying]
            runtime = next((self.define(0, k, ()).runtime for k in supplying if self.define(0, k, ()).runtime), ())
            return partition_parts(op, output, maps, runtime)

        return OwedClaim("partition", "output 0", build, empty=not output.elements)


def nothing_read(definition: Definition) -> bool:
    """The predicate is written as false."""
    from verify.formula import FALSE

    return definition.predicate == FALSE


def _group_size(defined: Callable[[], Definition]) -> int:
    try:
        return defined().group_size
    except NotModelled:
        return 0
