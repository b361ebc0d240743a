"""Claims about the shapes that a chain carries: operands, result, contexts, and what is bound when."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from hloproof.claims.asynchronous.judgement import (
    Context,
    Judgement,
    at_index,
    elements_of,
    is_prefix,
    judged,
    same_shape,
)
from hloproof.models.dataflow.async_chain import RESULT_INDEX, Link
from hloproof.models.dataflow.value_flow import HloPosition
from hloproof.models.hlo.inference.infer import ShapeError, compatible, infer, signatures_of
from hloproof.models.hlo.module import Instruction
from hloproof.models.hlo.shape import ArrayShape, Shape, TokenShape, TupleShape
from hloproof.models.hlo.text.shapes import print_shape

_CONTEXT: Final = ArrayShape("u32", ())
"""What XLA's verifier asks of the context of a transfer or copy in flight, wherever it lies."""


def _words(shape: Shape | None) -> str:
    return "nothing" if shape is None else print_shape(shape)


def async_shape(context: Context) -> Iterator[Judgement]:
    """A start or update returns its operands, and its result as far as bound, at the positions of its form."""
    for place in context.chains.of_role("start", "update"):
        link, i = context.chains.links[place], context.chains.flow.instruction(place)
        if link.form == "explicit":
            problem = _EXPLICIT[link.opcode](context, i, _operand_shapes(context, place))
        else:
            problem = _wrapped_shape(context, place, link, i)
        yield judged("async-shape", place, problem)


def _operand_shapes(context: Context, place: HloPosition) -> tuple[Shape, ...]:
    computation = context.chains.module.by_name[place.computation]
    return computation.operand_shapes(computation.by_name[place.instruction])


def _carried_operands(shape: Shape) -> tuple[Shape, ...] | None:
    """The operand shapes in a chain's shape: `((operands), result, ...)`, or `(operand, result, context)` as older
    texts write it."""
    elements = elements_of(shape)
    if not elements:
        return None
    first = elements[0]
    return first.elements if isinstance(first, TupleShape) else (first,)


def _wrapped_shape(context: Context, place: HloPosition, link: Link, i: Instruction) -> str | None:
    elements = elements_of(i.shape)
    carried = _carried_operands(i.shape)
    if elements is None or carried is None or len(elements) < 2:
        return f"the shape of {i.name} is not ((operands...), result, contexts...): {_words(i.shape)}"
    bound = _operand_shapes(context, place)
    for before in [()] if link.role == "start" else _before(context, place):
        fresh = bound if link.role == "start" else bound[1:]
        expected = (*before, *fresh)
        if len(expected) != len(carried):
            return f"{i.name} carries {len(carried)} operands at {{0}}, but {len(expected)} are bound by then"
        for n, (want, have) in enumerate(zip(expected, carried, strict=True)):
            if not context.same(want, have):
                return f"operand {n} of the chain is {_words(want)}, but {i.name} carries {_words(have)} at {{0,{n}}}"
    if link.role == "update":
        changed = _other_contexts(context, place, elements[2:])
        if changed is not None:
            return changed
    for start in [place] if link.role == "start" else sorted(context.chains.starts[place]):
        wrapped = context.chains.wrapped(start)
        if wrapped.parameters is not None:
            whole = TupleShape(wrapped.parameters)
            if not is_prefix(TupleShape(carried), whole, context.layout_sensitive):
                held = _words(TupleShape(carried))
                return f"{i.name} carries operands {held}, but {wrapped.computation} takes {_words(whole)}"
        if wrapped.result is not None and not is_prefix(elements[1], wrapped.result, context.layout_sensitive):
            promised = _words(elements[1])
            return f"{i.name} promises {promised} at {{1}}, but the computation returns {_words(wrapped.result)}"
    return None


def _other_contexts(context: Context, update: HloPosition, own: tuple[Shape, ...]) -> str | None:
    """The contexts are those of the link before: an update binds operands and results, nothing else. An empty tuple
    stands for a context that is not bound."""
    unbound = TupleShape(())
    for before in sorted(context.chains.previous[update]):
        was = elements_of(context.chains.flow.instruction(before).shape)
        if before.index or was is None:
            continue
        pairs = zip(was[2:], own, strict=False)
        if len(was) - 2 != len(own) or not all(unbound in (a, b) or context.same(a, b) for a, b in pairs):
            held, now = _words(TupleShape(was[2:])), _words(TupleShape(own))
            return f"{update.instruction} carries the contexts {now}, but those of {before.instruction} are {held}"
    return None


def _before(context: Context, place: HloPosition) -> list[tuple[Shape, ...]]:
    """The operand shapes carried by each start or update that this update may continue."""
    shapes = (context.chains.flow.instruction(p).shape for p in sorted(context.chains.previous[place]) if not p.index)
    return [carried for s in shapes if (carried := _carried_operands(s)) is not None]


def async_binding(context: Context) -> Iterator[Judgement]:
    """When a chain is done, all parameters of what it computes are bound; what is bound as result only ever grows."""
    chains = context.chains
    for place in chains.of_role("update", "done"):
        link = chains.links[place]
        if link.form == "explicit":
            continue
        yield judged("async-binding", place, _binding(context, place, link))


def _binding(context: Context, place: HloPosition, link: Link) -> str | None:
    chains = context.chains
    for before in sorted(chains.previous[place]):
        shape = chains.flow.instruction(before).shape
        carried = _carried_operands(shape)
        if before.index or carried is None:
            continue
        if link.role == "done":
            for start in sorted(chains.starts[place]):
                parameters = chains.wrapped(start).parameters
                if parameters is not None and len(carried) < len(parameters):
                    return f"{place.instruction} ends a chain with {len(carried)} of {len(parameters)} operands bound"
        else:
            was, now = at_index(shape, (1,)), at_index(chains.flow.instruction(place).shape, (1,))
            if was is not None and now is not None and not is_prefix(was, now, context.layout_sensitive):
                return f"{before.instruction} had bound {_words(was)} as result, {place.instruction} has {_words(now)}"
    return None


def async_done(context: Context) -> Iterator[Judgement]:
    """What a done returns is the result of the chain that it ends."""
    for place in context.chains.of_role("done"):
        link, i = context.chains.links[place], context.chains.flow.instruction(place)
        if link.form == "explicit":
            problem = _explicit_done(context, place, link, i)
        else:
            problem = None
            for start in sorted(context.chains.starts[place]):
                result = context.chains.wrapped(start).result
                if result is not None and not context.same(result, i.shape):
                    source = f"the computation of {start.instruction}"
                    problem = f"{i.name} returns {_words(i.shape)}, but {source} returns {_words(result)}"
            problem = problem or _not_what_sugar_gives(context, place, link)
        yield judged("async-done", place, problem)


def _not_what_sugar_gives(context: Context, done: HloPosition, link: Link) -> str | None:
    """Sugar stands for one operation, whose result follows from the operands that the chain has bound and from the
    attributes of its start, as that of the plain operation does."""
    chains, i = context.chains, context.chains.flow.instruction(done)
    if link.form != "sugared" or link.opcode == "call":
        return None
    signatures = signatures_of(chains.module)
    for before in sorted(chains.previous[done]):
        carried = None if before.index else _carried_operands(chains.flow.instruction(before).shape)
        for start in sorted(chains.starts[done]) if carried is not None else ():
            attributes = chains.flow.instruction(start).attributes
            try:
                given = infer(link.opcode, carried or (), attributes, i.shape, signatures)
            except ShapeError as error:
                return f"{start.instruction} starts what cannot be: {error}"
            if given is not None and not compatible(i.shape, given):
                whose = f"the {link.opcode} that {start.instruction} starts"
                return f"{i.name} returns {_words(i.shape)}, but {whose} gives {_words(given)}"
    return None


def _explicit_done(context: Context, place: HloPosition, link: Link, i: Instruction) -> str | None:
    if link.opcode in ("send", "recv"):
        shapes = elements_of(i.shape)
        if link.opcode == "send" and isinstance(i.shape, TokenShape):
            return None
        if shapes is None or len(shapes) != 2 or not isinstance(shapes[1], TokenShape):
            return f"{i.name} returns {_words(i.shape)}; " + (
                "a token is expected" if link.opcode == "send" else "(data, token) is expected"
            )
        promised: tuple[int, ...] = (0,)
        have: Shape = shapes[0]
    else:
        promised, have = RESULT_INDEX[link.opcode], i.shape
    for before in sorted(context.chains.previous[place]):
        if before.index or context.chains.links.get(before) is None:
            continue
        want = at_index(context.chains.flow.instruction(before).shape, promised)
        # It is that very buffer: what is scheduled has its layouts and memories.
        layouts = context.layout_sensitive or context.ordered
        if want is None or not same_shape(want, have, layouts):
            where = "{" + ",".join(map(str, promised)) + "}" if promised else ""
            return f"{i.name} returns {_words(have)}, but {before.instruction}{where} is {_words(want)}"
    return None


def _copy_start(context: Context, i: Instruction, operands: tuple[Shape, ...]) -> str | None:
    shapes = elements_of(i.shape)
    if shapes is None or len(shapes) != 3 or not same_shape(shapes[2], _CONTEXT, layouts=False):
        return f"{i.name} returns {_words(i.shape)}; (destination, source, {_words(_CONTEXT)}) is expected"
    # The source is the operand itself, so its layout and memory space count where they are written, in every mode.
    if not same_shape(shapes[1], operands[0], layouts=True):
        return f"the source at {{1}} of {i.name} is {_words(shapes[1])}, but its operand is {_words(operands[0])}"
    if not same_shape(shapes[0], operands[0], layouts=False):
        return f"the destination at {{0}} of {i.name} is {_words(shapes[0])}, but its operand is {_words(operands[0])}"
    return None


def _all_reduce_start(context: Context, i: Instruction, operands: tuple[Shape, ...]) -> str | None:
    want: Shape = operands[0] if len(operands) == 1 else TupleShape(operands)
    if context.same(want, i.shape):
        return None
    return f"{i.name} returns {_words(i.shape)}, but its operands are {_words(want)}"


def _operands_then_result(context: Context, i: Instruction, operands: tuple[Shape, ...]) -> str | None:
    shapes = elements_of(i.shape)
    if shapes is None or len(shapes) < 2:
        return f"{i.name} returns {_words(i.shape)}; (operands, result) is expected"
    first = shapes[0]
    grouped = isinstance(first, TupleShape)
    want: Shape = TupleShape(operands) if grouped or len(operands) != 1 else operands[0]
    if not context.same(want, first):
        return f"{i.name} carries {_words(first)} at {{0}}, but its operands are {_words(want)}"
    if grouped != isinstance(shapes[1], TupleShape):
        return f"{i.name} has {_words(first)} at {{0}} and {_words(shapes[1])} at {{1}}: both or neither is a tuple"
    return None


def _all_gather_start(context: Context, i: Instruction, operands: tuple[Shape, ...]) -> str | None:
    problem, shapes = _operands_then_result(context, i, operands), elements_of(i.shape)
    if problem is not None or shapes is None:
        return problem
    if len(shapes) != 2:
        return f"{i.name} returns {_words(i.shape)}; (operands, result) is expected, and no context"
    try:
        given = infer("all-gather", operands, i.attributes, shapes[1], {})
    except ShapeError as error:
        return f"{i.name} starts what cannot be: {error}"
    if given is not None and not compatible(shapes[1], given):
        return f"{i.name} promises {_words(shapes[1])} at {{1}}, but the all-gather gives {_words(given)}"
    return None


def _collective_permute_start(context: Context, i: Instruction, operands: tuple[Shape, ...]) -> str | None:
    shapes = elements_of(i.shape)
    if "slice_sizes" in i.attributes:
        # What is sent, where it goes, and the offsets in both: the first two are carried, each as it is.
        want = operands[:2]
        same = shapes is not None and len(shapes) > 1 and all(map(context.same, want, shapes[:2]))
        said = f"{i.name} returns {_words(i.shape)}, but sends from and into {_words(TupleShape(want))}"
        return None if same else said
    problem = _operands_then_result(context, i, operands)
    if problem is None and shapes is not None and len(operands) in (1, len(elements_of(shapes[0]) or ())):
        # The destination may lie in another memory or be laid out otherwise.
        same = same_shape(shapes[0], shapes[1], layouts=False)
        return None if same else f"{i.name} changes the shape: {_words(i.shape)}"
    return problem


def _send(context: Context, i: Instruction, operands: tuple[Shape, ...]) -> str | None:
    problem, shapes = _recv(context, i, operands), elements_of(i.shape)
    if problem is not None or shapes is None or context.same(shapes[0], operands[0]):
        return problem
    return f"{i.name} carries {_words(shapes[0])} at {{0}}, but sends {_words(operands[0])}"


def _recv(_: Context, i: Instruction, __: tuple[Shape, ...]) -> str | None:
    # That there are three parts, and tokens where they belong, is held to shape inference where a module is read.
    shapes = elements_of(i.shape)
    if shapes is not None and len(shapes) == 3 and same_shape(shapes[1], _CONTEXT, layouts=False):
        return None
    return f"{i.name} returns {_words(i.shape)}; (data, {_words(_CONTEXT)}, token) is expected"


_EXPLICIT: Final[Mapping[str, Callable[[Context, Instruction, tuple[Shape, ...]], str | None]]] = {
    "copy": _copy_start,
    "all-reduce": _all_reduce_start,
    "all-gather": _all_gather_start,
    "collective-permute": _collective_permute_start,
    "send": _send,
    "recv": _recv,
}
