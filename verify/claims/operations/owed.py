"""The fixed table of owed claims: opcode x output x operand x direction."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Final

from hloproof.claims.operations.bijective import bijective_parts
from hloproof.claims.operations.converse import converse_parts
from hloproof.claims.operations.definition import Subject, definition_parts, refuted
from hloproof.claims.operations.in_bounds import in_bounds_parts
from hloproof.claims.operations.index_range import index_range_parts
from hloproof.claims.operations.partition import partition_parts
from hloproof.claims.operations.plain_definition import plain_converse, plain_definition
from hloproof.claims.statements.statement import Part, Point
from hloproof.claims.statements.witness import told
from hloproof.claims.statements.wording import subject
from hloproof.definitions import define
from hloproof.definitions.definition import Definition
from hloproof.definitions.variables import array_at, array_in, arrays_of
from hloproof.logic.obligation import Obligation
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.shape import ELEMENT_BITS, ArrayShape, ShapeIndex, leaves
from hloproof.models.indexing.map_set import OperandMaps
from hloproof.models.maps.indexing_map import Direction
from hloproof.models.stages import checkpoint

CLAIMS: Final[Mapping[str, str]] = {
    "in-bounds": "every result lies inside the shape that it indexes, for every point of the domain",
    "definition": "the union of the maps is exactly what the operation means, in both directions",
    "coverage": "whatever an opaque operation may read, the maps cover",
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

BOTH_DIRECTIONS: Final = frozenset({"converse", "bijective"})
"""Claims about the maps of both directions."""

DEFINED: Final = frozenset({"definition", "coverage", "converse"})
"""Claims that need the definition."""

ONLY_A_BOUND: Final = "a bound: whatever may be read is covered, and no more is said"
"""What is told of a definition that is itself a bound, as that of an opaque operation."""

BIJECTIVE: Final = frozenset({"reshape", "transpose", "reverse", "copy", "bitcast"})
"""Opcodes that move every operand element to one place. (A bitcast only between as many elements of as many bits.)"""

_Pair = tuple[int, int, tuple[int, ...]]
"""An output, an operand and a position in the operand's tuple."""


ONE_SOURCE: Final[Mapping[str, Callable[[Operation, ShapeIndex], tuple[int, ShapeIndex]]]] = {
    "get-tuple-element": lambda op, at: (0, (op.attributes.integer("index", -1), *at)),
    "tuple": lambda op, at: (at[0], at[1:]),
}
"""Opcodes each of whose outputs, given by its position, reads one operand array, which can be named without looking at
all of them."""

MANY_PAIRS: Final = 100
"""From this many pairs of output and operand on, those that read nothing are not looked at one by one."""

Build = Callable[[], list[Part]]
Again = Callable[[], Sequence[Obligation]]

MOST_PAIRS: Final = 3000
"""Pairs of an output and an operand, told apart one by one, beyond which an operation is given up."""


KEPT: Final = 20_000
"""How many claims' obligations are remembered."""
_KNOWN: dict[Hashable, tuple[Obligation, ...]] = {}


class _Once:
    """Parts that are built when they are first asked for."""

    __slots__ = ("build", "parts")

    def __init__(self, build: Build) -> None:
        self.build = build
        self.parts: list[Part] | None = None

    def __call__(self) -> list[Part]:
        if self.parts is None:
            self.parts = self.build()
        return self.parts


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
    key: Callable[[], Hashable] | None = None
    """All that the obligations depend on: claims with equal keys owe the same."""
    again: Callable[[], Sequence[Obligation]] | None = None
    """The claim stated a second time, apart from the first; by default the first with nothing left out."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "build", _Once(self.build))

    def obligations(self) -> tuple[Obligation, ...]:
        """What has to be proved. Raises NotModelled where the claim cannot be stated."""
        if self.key is None:
            return tuple(p.obligation for p in self.build())
        key = self.key()
        known = _KNOWN.get(key)
        if known is None:
            # Emptied as a whole: it saves work only, and which claims come again is not known.
            if len(_KNOWN) >= KEPT:
                _KNOWN.clear()
            known = _KNOWN[key] = tuple(p.obligation for p in self.build())
        return known

    def obligations_again(self) -> tuple[Obligation, ...]:
        """The claim stated a second time. Raises NotModelled where it cannot be."""
        if self.again is not None:
            return tuple(self.again())
        return tuple(p.plain or p.obligation for p in self.build())

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the claim takes for granted, in words, and whether it says anything."""
        marked = ("empty: there is nothing to read",) if self.empty else ()
        try:
            return (*self.assume(), *marked)
        except NotModelled:
            return marked

    def describe(self, model: Point, obligation: Obligation) -> str:
        """A counterexample in the reader's terms. Raises KeyError for an obligation that is not of this claim."""
        return self._stating(obligation)[0].describe(dict(model))

    def judge(self, model: Point, obligation: Obligation) -> tuple[str | None, str | None]:
        """A counterexample in the reader's terms, or why it refutes nothing that is claimed. Raises KeyError."""
        return told(self._stating(obligation), dict(model))

    def _stating(self, obligation: Obligation) -> list[Part]:
        """The parts that owe this. Two may owe one obligation, in two sentences; the label says which was asked."""
        matching = [p for p in self.build() if p.obligation == obligation]
        if not matching:
            raise KeyError("the obligation is not one of this claim")
        return sorted(matching, key=lambda p: p.obligation.label != obligation.label)


def owed(op: Operation, index_width: int = 64) -> tuple[OwedClaim, ...]:
    """Every claim that an operation owes, by the table; `index_width` is the width of machine indices in bits.

    An operation without operands owes nothing. Raises NotModelled for an opcode that has no definition.
    """
    if not op.operands:
        return ()
    return tuple(_Table(op, index_width).claims())


def given_up(op: Operation, reason: str) -> tuple[OwedClaim, ...]:
    """What an operation owes beside what every one does, where `owed` raises NotModelled: unknown, for that reason."""
    return tuple(OwedClaim(c, "", partial(_not_modelled, reason)) for c in ("partition",) if op.opcode in PARTITIONED)


class _Table:
    """Builds the claims of one operation; maps and definitions are made once and when first needed."""

    def __init__(self, op: Operation, index_width: int) -> None:
        self.op, self.width = op, index_width
        self.outputs = arrays_of(op.shape)
        # Map builders number all leaves of the result, tokens too; here and in definitions only arrays count.
        self.numbers = [n for n, (_, leaf) in enumerate(leaves(op.shape)) if array_in(leaf) is not None]
        self.forward = cache(self._forward)
        self.backward = cache(self._backward)
        self.by_place = cache(self._by_place)
        self.places = {number: output for output, number in enumerate(self.numbers)}
        self.define = cache(lambda output, operand, position: define(op, output, operand, position))

    def _forward(self, output: int) -> tuple[OperandMaps, ...]:
        from hloproof.models.indexing import output_to_input

        return output_to_input(self.op, self.numbers[output])

    def _backward(self, operand: int) -> tuple[OperandMaps, ...]:
        from hloproof.models.indexing import input_to_output

        found = input_to_output(self.op, operand)
        return tuple(replace(m, operand=self.places[m.operand]) for m in found if m.operand in self.places)

    def _by_place(self, direction: Direction, number: int) -> Mapping[tuple[int, ShapeIndex], list[OperandMaps]]:
        """The maps from an output or operand, by the number and the position that they lead to."""
        found: dict[tuple[int, ShapeIndex], list[OperandMaps]] = {}
        for m in self.forward(number) if direction == "output-to-input" else self.backward(number):
            found.setdefault((m.operand, m.position), []).append(m)
        return found

    def maps(self, about: Subject) -> OperandMaps | None:
        """The maps of a subject; None where there are none. Raises NotModelled as the builders do."""
        if about.direction == "output-to-input":
            found = self.by_place("output-to-input", about.output).get((about.operand, about.position), [])
        else:
            found = self.by_place("input-to-output", about.operand).get((about.output, about.position), [])
        if len(found) > 1:
            # Which of them would be compared with the definition is a choice that nobody may make here.
            raise NotModelled("several sets of maps for the same array")
        return found[0] if found else None

    def claims(self) -> list[OwedClaim]:
        too_many = NotModelled(f"more than {MOST_PAIRS} pairs of an output and an operand")
        told_apart = self.op.opcode not in ONE_SOURCE
        # One output has a pair with every array of the operands; of several outputs most may be known to have none. The
        # pairs of a tuple of thousands of arrays grow with its square; where each output has one source they do not.
        if told_apart and len(self.outputs) == 1 and sum(len(arrays_of(s)) for s in self.op.operands) > MOST_PAIRS:
            raise too_many
        pairs = self._pairs()
        if told_apart and len(pairs) > MOST_PAIRS:
            raise too_many
        out = self._unclaimed({output for output, _, _ in pairs})
        for output, operand, position in pairs:
            if self._exists(output, operand, position):
                out += self._pair(output, self.outputs[output][1], operand, position)
            else:
                words = subject(self.op, output, operand, position, "output-to-input")
                # Maps where the definition has no pair are not ignored: they say that something is read which is not
                # there.
                stray = refuted(f"there are maps for {words}, and {self.op.opcode} has no such pair")
                out.append(OwedClaim("definition", words, lambda stray=stray: [stray]))  # type: ignore[misc]
        if self.op.opcode in PARTITIONED and self.outputs:
            out.append(self._partition())
        return out

    def _unclaimed(self, claimed: set[int]) -> list[OwedClaim]:
        """A definition, unknown, for each output that reads nothing by its definition, and whose maps nobody knows."""
        out: list[OwedClaim] = []
        for output in sorted(set(range(len(self.outputs))) - claimed):
            try:
                self.forward(output)
            except NotModelled as error:
                out.append(OwedClaim("definition", f"output {output}", partial(_not_modelled, str(error))))
        return out

    def _pairs(self) -> list[tuple[int, int, ShapeIndex]]:
        """Every output with every operand array that its definition reads, or that is not known not to be read, or that
        some map names although it should not."""
        op, source = self.op, ONE_SOURCE.get(self.op.opcode)
        if source is not None and len(self.outputs) * sum(len(arrays_of(s)) for s in op.operands) > MANY_PAIRS:
            wanted = {(o, *source(op, at)) for o, (at, _) in enumerate(self.outputs)}
        else:
            places = [(k, at) for k, shape in enumerate(op.operands) for at, _ in arrays_of(shape)]
            wanted = {(o, k, at) for o in range(len(self.outputs)) for k, at in places if self._reads(o, k, at)}
        return sorted(wanted | self._named())

    def _reads(self, output: int, operand: int, position: ShapeIndex) -> bool:
        checkpoint()
        try:
            # Only a definition may say that nothing is read; where there is none the pair is owed, and will be unknown.
            return not nothing_read(self.define(output, operand, position))
        except NotModelled:
            return True

    def _named(self) -> set[tuple[int, int, ShapeIndex]]:
        """The pairs that some map speaks of."""
        named: set[tuple[int, int, ShapeIndex]] = set()
        for output in range(len(self.outputs)):
            checkpoint()
            with suppress(NotModelled):
                named |= {(output, m.operand, m.position) for m in self.forward(output) if m.maps}
        for operand in range(len(self.op.operands)):
            checkpoint()
            with suppress(NotModelled):
                named |= {(m.operand, operand, m.position) for m in self.backward(operand) if m.maps}
        return named

    def _exists(self, output: int, operand: int, position: ShapeIndex) -> bool:
        if not 0 <= output < len(self.outputs) or not 0 <= operand < len(self.op.operands):
            return False
        return array_at(self.op.operands[operand], position) is not None

    def _pair(self, output: int, output_shape: ArrayShape, operand: int, position: ShapeIndex) -> list[OwedClaim]:
        out: list[OwedClaim] = []
        op = self.op
        operand_shape = array_at(op.operands[operand], position)
        assert operand_shape is not None
        empty = not output_shape.elements or not operand_shape.elements

        def defined() -> Definition:
            return self.define(output, operand, position)

        def assumed() -> Sequence[str]:
            return defined().assumptions

        def add(claim: str, about: Subject, build: Build, again: Again | None = None) -> None:
            def key() -> Hashable:
                maps = [self.maps(a) for a in ([about] if claim not in BOTH_DIRECTIONS else both)]
                # Where something is read at run time the operands' shapes decide what a provider may be asked for.
                providers = any(v.runtime for m in maps if m is not None for v in m.maps)
                return (
                    claim,
                    about.direction,
                    output_shape.dimensions,
                    operand_shape.dimensions,
                    tuple((m.kind, m.maps) if m is not None else None for m in maps),
                    defined() if claim in DEFINED else _group_size(defined),
                    self.width,
                    op.operands if providers else (),
                )

            def taken() -> Sequence[str]:
                only = claim in DEFINED and defined().kind == "bound"
                return (*assumed(), ONLY_A_BOUND) if only else assumed()

            words = subject(op, output, operand, position, about.direction)
            out.append(OwedClaim(claim, words, build, taken, empty, key, again))

        directions: tuple[Direction, ...] = ("output-to-input", "input-to-output")
        both = [Subject(op, output, operand, output_shape, operand_shape, d, position) for d in directions]
        meaning = "coverage" if self._is_bound(output, operand, position) else "definition"
        for about in both:
            add("in-bounds", about, lambda a=about: in_bounds_parts(a, self.maps(a), _group_size(defined)))  # type: ignore[misc]
            add(
                meaning,
                about,
                lambda a=about: definition_parts(a, self.maps(a), defined()),  # type: ignore[misc]
                lambda a=about: plain_definition(a, self.maps(a), defined()),  # type: ignore[misc]
            )
            add("index-range", about, lambda a=about: index_range_parts(a, self.maps(a), self.width))  # type: ignore[misc]
        forth, back = both
        add(
            "converse",
            forth,
            lambda: converse_parts(forth, self.maps(forth), self.maps(back), defined()),
            lambda: plain_converse(forth, self.maps(forth), self.maps(back), defined()),
        )
        if op.opcode in BIJECTIVE and _same_places(output_shape, operand_shape):
            add("bijective", forth, lambda: bijective_parts(forth, self.maps(forth), self.maps(back)))
        return out

    def _is_bound(self, output: int, operand: int, position: ShapeIndex) -> bool:
        """All that is known of what is read is a superset: there is no definition to meet."""
        try:
            return self.define(output, operand, position).kind == "bound"
        except NotModelled:
            return False

    def _partition(self) -> OwedClaim:
        op = self.op
        supplying = PARTITIONED[op.opcode](op)
        _, output = self.outputs[0]

        def build() -> list[Part]:
            maps = [m for m in self.forward(0) if m.operand in supplying]
            definitions = [self.define(0, k, ()) for k in supplying]
            # Pieces are told apart by what is read at run time: the definition that names it names it for all of them.
            definition = next((d for d in definitions if d.runtime), definitions[0])
            return partition_parts(op, output, maps, definition)

        return OwedClaim("partition", "output 0", build, empty=not output.elements)


def _same_places(output: ArrayShape, operand: ArrayShape) -> bool:
    """As many elements, of as many bits."""
    bits = [ELEMENT_BITS.get(shape.element_type) for shape in (output, operand)]
    return output.elements == operand.elements and bits[0] == bits[1]


def _not_modelled(reason: str) -> list[Part]:
    raise NotModelled(reason)


def nothing_read(definition: Definition) -> bool:
    """The predicate is written as false."""
    from hloproof.logic.formula import FALSE

    return definition.predicate == FALSE


def _group_size(defined: Callable[[], Definition]) -> int:
    try:
        return defined().group_size
    except NotModelled:
        return 0
