"""What a check of asynchronous instructions says of one instruction, and how shapes are compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from hloproof.engines.door import HOW, How
from hloproof.models.dataflow.async_chain import AsyncChains
from hloproof.models.dataflow.value_flow import HloPosition
from hloproof.models.hlo.beside import UnknownInside, unknown_of_order
from hloproof.models.hlo.module import Module
from hloproof.models.hlo.shape import ArrayShape, BufferShape, Shape, TupleShape
from hloproof.results.verdict import Found, Verdict

NEEDS_COPY: Final = "needs-copy"
"""Begins the note on what holds only because a compiler inserts a copy."""


VALUE_FLOW: Final = "value-flow"
"""Who decides these claims where no engine is asked: where values go, and the order in which buffers are touched."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What was found of one instruction as a part of its module: see `judged`, which makes them."""

    place: HloPosition
    found: Found

    @property
    def claim(self) -> str:
        return self.found.claim

    @property
    def problem(self) -> str | None:
        """What breaks the claim; None where nothing is known to."""
        return self.found.counterexample

    @property
    def note(self) -> str | None:
        """What a reader should know although the claim holds."""
        return self.found.reason if self.found.verdict is Verdict.PROVED else None


def judged(
    claim: str,
    place: HloPosition,
    problem: str | None = None,
    unknown: str | None = None,
    *,
    note: str | None = None,
    engines: tuple[str, ...] = (),
    assumptions: tuple[str, ...] = (),
    internal: bool = False,
    final: bool = True,
    by: str = VALUE_FLOW,
) -> Judgement:
    """A claim is refuted where there is a problem, not known where something is unknown, and holds otherwise.

    `engines` were asked where `by` did not decide alone. `internal`: `unknown` is an error of this tool. `final` is
    false where another run may know more.
    """
    if problem is not None:
        return Judgement(place, Found(Verdict.REFUTED, (by, *engines), problem, claim=claim))
    if unknown is not None:
        verdict = Verdict.INTERNAL if internal else Verdict.UNKNOWN
        return Judgement(place, Found(verdict, reason=unknown, claim=claim, final=final))
    return Judgement(place, Found(Verdict.PROVED, (by, *engines), reason=note, assumptions=assumptions, claim=claim))


def unless_said(judgements: Iterable[Judgement], words: Callable[[HloPosition], Iterable[str]]) -> Iterator[Judgement]:
    """What holds only where nothing that is not known is said beside the operations: `words` gives what is said that
    concerns an instruction."""
    for j in judgements:
        said = sorted(words(j.place)) if j.found.verdict is Verdict.PROVED else ()
        reason = f"it is not known what {', '.join(said)} says"
        yield judged(j.claim, j.place, unknown=reason) if said else j


def words_at(module: Module) -> Callable[[HloPosition], frozenset[str]]:
    """What is not known of the order of the module, and beside an instruction or inside of what it calls."""
    everywhere, inside = unknown_of_order(module), UnknownInside(module)

    def words(place: HloPosition) -> frozenset[str]:
        computation = module.find(place.computation)
        i = None if computation is None else computation.by_name.get(place.instruction)
        return everywhere if i is None else everywhere | inside.of(i)

    return words


def by_instruction(judgements: Iterable[Judgement]) -> dict[tuple[str, str], list[Found]]:
    """What was found, by computation and instruction, in the order in which it was said."""
    out: dict[tuple[str, str], list[Found]] = {}
    for j in judgements:
        out.setdefault((j.place.computation, j.place.instruction), []).append(j.found)
    return out


@dataclass(frozen=True)
class Context:
    """What every check looks at."""

    chains: AsyncChains
    layout_sensitive: bool = False
    after_copy_insertion: bool = False
    """Buffers are shared as in a scheduled module: the copies that keep values apart are all there."""
    how: How = HOW
    """How the engines are asked, where a check needs them."""

    @property
    def ordered(self) -> bool:
        """The order of the text is the schedule, as only a module can say of itself. In others instructions may run in
        every order that dependencies allow."""
        return self.chains.module.attributes.flag("is_scheduled")

    @property
    def shares(self) -> bool:
        """No copy will be inserted any more: what compilers put into one buffer lies in one."""
        return self.after_copy_insertion or self.ordered

    def same(self, a: Shape, b: Shape) -> bool:
        """Equal shapes; layouts count when asked for and both are written."""
        return same_shape(a, b, self.layout_sensitive)


def same_shape(a: Shape, b: Shape, layouts: bool) -> bool:
    """Equal element types, sizes and tuple trees; with `layouts`, equal layouts where both have one."""
    match a, b:
        case TupleShape(), TupleShape():
            return len(a.elements) == len(b.elements) and all(
                same_shape(x, y, layouts) for x, y in zip(a.elements, b.elements, strict=True)
            )
        case ArrayShape(), ArrayShape():
            if layouts and a.layout is not None and b.layout is not None and a.layout != b.layout:
                return False
            return replace(a, layout=None) == replace(b, layout=None)
        case BufferShape(), BufferShape():
            return same_shape(a.inner, b.inner, layouts)
        case _:
            return type(a) is type(b)


def is_prefix(part: Shape, whole: Shape, layouts: bool) -> bool:
    """`part` is `whole` with elements missing at the right ends of its tuples: what is bound so far."""
    if not isinstance(part, TupleShape):
        return same_shape(part, whole, layouts)
    if not isinstance(whole, TupleShape):
        return not part.elements
    return len(part.elements) <= len(whole.elements) and all(
        is_prefix(x, y, layouts) for x, y in zip(part.elements, whole.elements, strict=False)
    )


def at_index(shape: Shape, index: Sequence[int]) -> Shape | None:
    """The shape at a position of the tuple tree, or None where there is no such position."""
    for i in index:
        if not isinstance(shape, TupleShape) or not 0 <= i < len(shape.elements):
            return None
        shape = shape.elements[i]
    return shape


def elements_of(shape: Shape | None) -> tuple[Shape, ...] | None:
    """The elements of a tuple, or None for anything else."""
    return shape.elements if isinstance(shape, TupleShape) else None
