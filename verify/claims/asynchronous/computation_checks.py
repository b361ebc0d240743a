"""Claims about what a chain computes: which computation, who else calls it, on which thread, with which aliasing."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Final

from hloproof.claims.asynchronous.judgement import Context, Judgement, at_index, judged, same_shape
from hloproof.models.dataflow.async_chain import MAIN_THREAD, AsyncChains, Wrapped, declared_aliases, link_of, text_of
from hloproof.models.dataflow.value_flow import HloPosition, called
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import Aliasing
from hloproof.models.hlo.beside import frontend_entries
from hloproof.models.hlo.module import Computation, Instruction
from hloproof.models.hlo.shape import BufferShape, Shape, ShapeIndex, TupleShape
from hloproof.models.hlo.text.shapes import print_shape

_HARMLESS: Final = frozenset({"parameter", "opt-barrier", "after-all"})
"""Opcodes that may stand beside the root of a wrapped computation."""

_GROUP: Final = "_collectives_group"
"""A frontend attribute: the computation is a group of operations started together."""


def async_computation(context: Context) -> Iterator[Judgement]:
    """On the main thread the wrapped computation is one operation on parameters; only asynchronous instructions call
    it; and every link that names a computation names the one of its start."""
    chains = context.chains
    for place in chains.of_role("start"):
        if chains.links[place].form == "explicit":
            continue
        try:
            yield judged("async-computation", place, _wrapped_problem(chains, place))
        except NotModelled as reason:
            yield judged("async-computation", place, unknown=str(reason))
    for place in chains.of_role("update", "done"):
        named = called(chains.flow.instruction(place), "calls")
        if named is not None:
            yield judged("async-computation", place, _other_computation(chains, place, named))


def _wrapped_problem(chains: AsyncChains, start: HloPosition) -> str | None:
    """Raises NotModelled."""
    i = chains.flow.instruction(start)
    # What sugar names belongs to the operation inside: a fusion-start wraps one fusion, whatever that computes.
    body = chains.module.find(called(i, "calls")) if chains.links[start].form == "generic" else None
    if body is None:
        return None
    for computation, caller in chains.flow.callers[body.name]:
        if HloPosition(computation.name, caller.name) not in chains.links:
            return f"{body.name} is also called by {caller.name}, a {caller.opcode}"
    extra = [x for x in body.instructions if x.name != body.root_name and x.opcode not in _HARMLESS]
    if chains.thread(i) != MAIN_THREAD or not extra:
        return None
    handed = frontend_entries(text_of(i, "frontend_attributes") or "{}")
    if handed is None:
        raise NotModelled("its frontend_attributes are no list of names, each given once")
    return None if _GROUP in handed else f"{body.name} holds {extra[0].name} beside its parameters and root"


def _other_computation(chains: AsyncChains, place: HloPosition, named: str) -> str | None:
    mine = chains.module.find(named)
    for start in sorted(chains.starts[place]):
        theirs = chains.module.find(chains.wrapped(start).computation)
        if mine is None or theirs is None or mine.name == theirs.name:
            continue
        if _anonymous(mine) != _anonymous(theirs):
            begun = f"{start.instruction}, which calls {theirs.name}"
            return f"{place.instruction} calls {mine.name}, but may belong to {begun}"
    return None


def _anonymous(computation: Computation) -> tuple[object, ...]:
    """A computation without the names in it: equal for equal computations. Called computations count by name."""
    number = {i.name: n for n, i in enumerate(computation.instructions)}

    def plain(i: Instruction) -> tuple[object, ...]:
        kept = tuple((k, v) for k, v in i.attributes.pairs if k != "metadata")
        return (i.opcode, i.shape, tuple(number[o] for o in i.operands), kept, i.parameter_number, i.literal)

    return (number[computation.root_name], *(plain(i) for i in computation.instructions))


def async_thread(context: Context) -> Iterator[Judgement]:
    """All links of a chain, the computation it calls, and that computation's other callers agree on the thread."""
    chains = context.chains
    for place, link in chains.links.items():
        if link.form != "explicit":
            yield judged("async-thread", place, _thread_problem(chains, place))


def _thread_problem(chains: AsyncChains, place: HloPosition) -> str | None:
    i = chains.flow.instruction(place)
    own = text_of(i, "async_execution_thread")
    starts = [place] if chains.links[place].role == "start" else sorted(chains.starts[place])
    for start in starts:
        thread = chains.thread(chains.flow.instruction(start))
        if own is not None and own != thread:
            return f"{i.name} is on thread {own}, but {start.instruction} on {thread}"
    body = chains.module.find(chains.runs(i))
    if body is not None and chains.links[place].role == "start":
        thread, set_by_text = chains.thread(i), "execution_thread" in body.attributes
        if set_by_text and chains.thread_of(body) != thread:
            return f"{i.name} is on thread {thread}, but {body.name} on {chains.thread_of(body)}"
        for _, caller in chains.flow.callers[body.name]:
            other = text_of(caller, "async_execution_thread")
            if other is not None and other != thread:
                return f"{i.name} calls {body.name} on thread {thread}, but {caller.name} on {other}"
    return None


def async_alias(context: Context) -> Iterator[Judgement]:
    """Declared aliasing of a start or update names operands and positions that exist and have equal shapes."""
    chains = context.chains
    for place in chains.of_role("start", "update"):
        i, link = chains.flow.instruction(place), chains.links[place]
        entries = aliasing_of(i)
        if link.form == "explicit" or not entries:
            continue
        problem = None
        for entry in entries:
            problem = problem or _alias_problem(context, place, i, entry)
        problem = problem or _other_operand(chains, place, i) or _one_for_two(i)
        yield judged("async-alias", place, problem)


def _other_operand(chains: AsyncChains, place: HloPosition, i: Instruction) -> str | None:
    """Position {0} of what a start or update returns holds the operands bound so far, each where it is."""
    is_update = chains.links[place].role == "update"
    before = chains.bound_before(place) if is_update else 0
    nested = isinstance(at_index(i.shape, (0,)), TupleShape)
    for entry, told in zip(declared_aliases(i), aliasing_of(i), strict=True):
        # Older text has the only operand itself at {0}.
        at = entry.output_index[1:] if nested else (0, *entry.output_index[1:])
        if entry.output_index[:1] != (0,) or not at:
            continue
        number, part = at[0], at[1:]
        if number < before:
            same = (entry.operand, entry.operand_index) == (0, entry.output_index)
        else:
            stands = number - before + is_update
            names = [i.operands[n] if n < len(i.operands) else str(n) for n in (entry.operand, stands)]
            same = names[0] == names[1] and entry.operand_index == part
        if not same:
            return f"{i.name} aliases the place of one operand to another: {_words(told)}"
    return None


def aliasing_of(instruction: Instruction) -> tuple[Aliasing, ...]:
    """The entries of `output_to_operand_aliasing`."""
    value = instruction.attributes.get("output_to_operand_aliasing")
    return tuple(v for v in value if isinstance(v, Aliasing)) if isinstance(value, tuple) else ()


def _alias_problem(context: Context, place: HloPosition, i: Instruction, entry: Aliasing) -> str | None:
    chains = context.chains
    if entry.operand < 0:
        return f"{i.name} aliases operand {entry.operand}, which is negative"
    if chains.links[place].role == "update":
        operands = chains.module.by_name[place.computation].operand_shapes(i)
        if entry.operand >= len(operands):
            return f"{i.name} aliases operand {entry.operand}, but has {len(operands)}"
        return _unlike(context, i, entry, at_index(i.shape, entry.output_index), operands[entry.operand])
    wrapped = chains.wrapped(place)
    operands = wrapped.parameters if wrapped.parameters is not None else chains.bound_operands(place)
    if entry.operand >= len(operands):
        return f"{i.name} aliases operand {entry.operand}, but the chain has {len(operands)}"
    if chains.links[place].form == "generic" and not entry.output_index:
        return f"{i.name} aliases its whole output; a position such as {{1}} is expected"
    output = _output_shape(wrapped, operands, i, entry, chains.links[place].form == "generic")
    return _unlike(context, i, entry, output, operands[entry.operand])


def declared_alias(context: Context, i: Instruction, operands: tuple[Shape, ...]) -> str | None:
    """What is wrong with the aliasing that an opaque call or a fusion declares."""
    for entry in aliasing_of(i):
        if not 0 <= entry.operand < len(operands):
            return f"{i.name} aliases operand {entry.operand}, but has {len(operands)}"
        problem = _unlike(context, i, entry, at_index(i.shape, entry.output_index), operands[entry.operand])
        if problem is not None:
            return problem
    return _one_for_two(i)


def _one_for_two(i: Instruction) -> str | None:
    """A part of the result that is to lie in two arrays, or two that are to lie in one. Position {0} of what a start
    returns holds the operands, not a result."""
    is_link = link_of(i.opcode) is not None
    pairs = [
        (e, own)
        for e, own in zip(declared_aliases(i), aliasing_of(i), strict=True)
        if not (is_link and e.output_index[:1] == (0,))
    ]
    for (a, told), (b, other) in combinations(pairs, 2):
        names = [i.operands[e.operand] if e.operand < len(i.operands) else str(e.operand) for e in (a, b)]
        one_result = _overlap(a.output_index, b.output_index)
        one_operand = names[0] == names[1] and _overlap(a.operand_index, b.operand_index)
        if one_result != one_operand:
            what = "one part of its result to two operands" if one_result else "two parts of its result to one operand"
            return f"{i.name} aliases {what}: {_words(told)} and {_words(other)}"
    return None


def _overlap(a: ShapeIndex, b: ShapeIndex) -> bool:
    return a[: len(b)] == b[: len(a)]


def _unlike(context: Context, i: Instruction, entry: Aliasing, output: Shape | None, whole: Shape) -> str | None:
    """What is wrong with an alias of this part of the result and a position of `whole`, the operand."""
    operand = at_index(whole, entry.operand_index)
    if output is None or operand is None:
        return f"{i.name} aliases a position that does not exist: {_words(entry)}"
    if same_shape(_plain(output), _plain(operand), context.layout_sensitive):
        return None
    return f"{i.name} aliases {print_shape(output)} to {print_shape(operand)}: {_words(entry)}"


def _plain(shape: Shape) -> Shape:
    return shape.inner if isinstance(shape, BufferShape) else shape


def _output_shape(
    wrapped: Wrapped, operands: tuple[Shape, ...], i: Instruction, entry: Aliasing, generic: bool
) -> Shape | None:
    """The shape at the aliased output, when everything is bound. Sugar speaks of the wrapped operation's result."""
    if not generic:
        return None if wrapped.result is None else at_index(wrapped.result, entry.output_index)
    contexts = i.shape.elements[2:] if isinstance(i.shape, TupleShape) else ()
    result = wrapped.result if wrapped.result is not None else TupleShape()
    return at_index(TupleShape((TupleShape(operands), result, *contexts)), entry.output_index)


def _words(entry: Aliasing) -> str:
    def braces(index: tuple[int, ...]) -> str:
        return "{" + ",".join(map(str, index)) + "}"

    return f"{braces(entry.output_index)}: ({entry.operand}, {braces(entry.operand_index)})"
