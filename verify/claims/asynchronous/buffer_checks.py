"""Claims about values of buffer type, `b(f32[4])`: what goes in comes out, once, and has one writer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import reduce
from operator import add, or_
from typing import Final

from hloproof.claims.asynchronous.computation_checks import aliasing_of, declared_alias
from hloproof.claims.asynchronous.judgement import Context, Judgement, judged
from hloproof.models.dataflow.async_chain import AsyncChains
from hloproof.models.dataflow.value_flow import HloPosition
from hloproof.models.hlo.module import Computation, Instruction
from hloproof.models.hlo.opcodes import HANDS_ON
from hloproof.models.hlo.shape import BufferShape, leaves
from hloproof.models.hlo.text.shapes import print_shape

_FORWARDS: Final = HANDS_ON | {"tuple", "get-tuple-element", "parameter"}


def buffer_alias(context: Context) -> Iterator[Judgement]:
    """Every operand of buffer type that an instruction takes, it declares as aliased by exactly one of its results; Pin
    and Unpin alias operand 0; no buffer value is taken twice; and what opaque calls and fusions declare as aliased
    exists and has one shape."""
    chains = context.chains
    for computation in chains.module.computations:
        writers = _writers(chains, computation)
        for i in computation.instructions:
            declares = i.opcode in ("custom-call", "fusion") and bool(aliasing_of(i))
            if declares or _touches_buffers(computation, i):
                place = HloPosition(computation.name, i.name)
                problem = declared_alias(context, i, computation.operand_shapes(i)) if declares else None
                problem = problem or _pass_through(context, computation, i)
                if problem is None and i.name in writers:
                    problem = writers[i.name]
                yield judged("buffer-alias", place, problem)


def _buffers(shape: object) -> tuple[tuple[int, ...], ...]:
    return tuple(at for at, leaf in leaves(shape) if isinstance(leaf, BufferShape))  # type: ignore[arg-type]


def _touches_buffers(computation: Computation, i: Instruction) -> bool:
    return any(_buffers(s) for s in (i.shape, *computation.operand_shapes(i)))


def _declares(chains: AsyncChains, computation: Computation, i: Instruction) -> bool:
    """The instruction is one that must say where its buffers go: an opaque call, or the start of one."""
    if i.opcode == "custom-call":
        return True
    link = chains.links.get(HloPosition(computation.name, i.name))
    return link is not None and link.form == "sugared" and link.role == "start" and link.opcode == "custom-call"


def _pass_through(context: Context, computation: Computation, i: Instruction) -> str | None:
    if not _declares(context.chains, computation, i):
        return None
    entries = aliasing_of(i)
    taken = Counter((e.operand, e.operand_index) for e in entries)
    for n, shape in enumerate(computation.operand_shapes(i)):
        for at in _buffers(shape):
            times = taken[n, at]
            if times != 1:
                aliases = "no result" if not times else f"{times} results"
                return f"operand {n} of {i.name} is a buffer; declared as its alias: {aliases}, where one is expected"
    if i.opcode == "custom-call":
        given = {e.output_index for e in entries}
        for at in _buffers(i.shape):
            if at not in given and computation.operand_shapes(i):
                return f"{i.name} returns a buffer {print_shape(i.shape)} that aliases none of its operands"
    return None


def _writers(chains: AsyncChains, computation: Computation) -> dict[str, str]:
    """For each instruction that takes a buffer value which is taken before, by another one or by itself, the words for
    it."""
    takers: dict[HloPosition, list[str]] = {}
    for i in computation.instructions:
        given = [_values(chains, computation, name) for name in i.operands] if i.opcode not in _FORWARDS else []
        # Of all branches one runs.
        taken = reduce(or_ if i.opcode == "conditional" else add, given, Counter[HloPosition]())
        # Whatever makes it: what the caller gets nobody takes here.
        taken += _values(chains, computation, i.name) if i.name == computation.root_name else Counter()
        for value, times in taken.items():
            takers.setdefault(value, []).extend([i.name] * times)
    out: dict[str, str] = {}
    for value, names in takers.items():
        for name in names[1:]:
            who = f"twice by {name}" if name == names[0] else f"by {names[0]} and by {name}"
            out[name] = f"the buffer value {value} is taken {who}"
    return out


def _values(chains: AsyncChains, computation: Computation, name: str) -> Counter[HloPosition]:
    """The buffer values in a result, each as often as it stands there."""
    found = _buffers(computation.by_name[name].shape)
    return Counter(_made_at(chains, HloPosition(computation.name, name, at)) for at in found)


def _made_at(chains: AsyncChains, place: HloPosition) -> HloPosition:
    """Where a buffer value is made, within its computation: behind tuples and barriers."""
    while True:
        i = chains.flow.instruction(place)
        if i.opcode not in _FORWARDS or i.opcode == "parameter":
            return place
        back = chains.flow.sources(place)
        if not back:
            return place
        place = back[0]
