"""Part of hazard-overwrite: what a called computation writes while another of its arguments lies in the same buffer.

Inside, the two are two parameters, whose buffers nobody there knows to be one; only the caller does. An operation that
writes one operand and reads another of the same buffer is like that: which of the two comes first is its own business.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import permutations
from typing import Final

from hloproof.claims.asynchronous.judgement import Judgement, judged, same_shape
from hloproof.claims.asynchronous.orders import Orders
from hloproof.models.dataflow.accesses import Access, Spot, Summary
from hloproof.models.dataflow.async_chain import Link, link_of
from hloproof.models.dataflow.value_flow import HloPosition, called, only_asks
from hloproof.models.dataflow.versions import LocalBuffers
from hloproof.models.hlo.module import Instruction
from hloproof.models.hlo.opcodes import IN_STEPS
from hloproof.models.hlo.shape import ShapeIndex

_Key = tuple[int, ShapeIndex]
_NOTHING: Final = Access()
_OrdersOf = Callable[[str], Orders]
"""The orders in which a computation may run, by its name."""


def shared_arguments(local: LocalBuffers, orders_of: _OrdersOf) -> Iterator[Judgement]:
    """Owed by every instruction that runs computations and hands one of them a buffer that is written: in place, or
    by a loop that puts the next state there."""
    for i in local.computation.instructions:
        bodies = [
            (name, given, local.summaries[name]) for name, given in local.callees.bodies(i) if name in local.summaries
        ]
        moved = _laid_otherwise(local, i)
        if moved is not None:
            yield judged("hazard-overwrite", HloPosition(local.computation.name, i.name), unknown=moved)
        writes = any(a.writer is not None for _, _, s in bodies for a in s.accesses.values())
        unknown: str | None = None
        if i.opcode == "while":
            problem = _in_a_loop(local, i, [(name, summary) for name, _, summary in bodies], orders_of)
            asked = (body for body in bodies if body[0] == called(i, "condition"))
            unknown = next((u for n, g, s in asked if (u := _at_once(local, n, g, s)) is not None), None)
        elif writes:
            found = (_in_a_call(local, name, given, summary, orders_of(name)) for name, given, summary in bodies)
            problem = next((p for p in found if p is not None), None)
            unknown = next((u for n, g, s in bodies if (u := _at_once(local, n, g, s)) is not None), None)
        else:
            continue
        if not writes and problem is None:
            continue
        yield judged("hazard-overwrite", HloPosition(local.computation.name, i.name), problem, unknown)
    yield from _written_and_read(local)


def _laid_otherwise(local: LocalBuffers, i: Instruction) -> str | None:
    """What a loop, branch or call is handed, and hands back, lies in one buffer on both sides, and so in one layout."""
    for body, given in local.callees.bodies(i) if i.opcode in IN_STEPS else ():
        inner = local.module.by_name[body]
        shapes = [local.computation.by_name[name].shape for name in given]
        pairs = list(zip(shapes, (p.shape for p in inner.parameters), strict=False))
        if not only_asks(i, body):
            pairs.append((i.shape, inner.root.shape))
        if not all(same_shape(a, b, layouts=True) for a, b in pairs):
            return f"{body} lays out what it is handed, or hands back, as {i.name} does not"
    return None


_JUDGED_ELSEWHERE: Final = IN_STEPS | {"fusion"}
"""What runs a computation: above, and in hazard-in-place."""
_ELEMENT_BY_ELEMENT: Final = frozenset({"dynamic-update-slice"})
"""An update of an array by that very array, all of it: each element is written over itself."""


def _written_and_read(local: LocalBuffers) -> Iterator[Judgement]:
    """Operations that write in the buffer of an operand and are given that buffer once more."""
    here = local.computation.name
    updates = (p.instruction for p in local.buffers.chains.of_role("update") if p.computation == here)
    for name in dict.fromkeys((*(w.writer for w in local.writes), *updates)):
        i = local.computation.by_name[name]
        link = link_of(i.opcode)
        opcode = i.opcode if link is None or link.form == "explicit" else link.opcode
        ran = local.buffers.chains.runs(i) is not None or opcode in _JUDGED_ELSEWHERE | _ELEMENT_BY_ELEMENT
        given = _given(local, name, link)
        # Of a start what its computation does with the operands is told above; an update binds some of them only.
        at_once = ran and (link is None or (link.role == "start" and given == i.operands))
        if at_once or (link is not None and link.role == "done"):
            continue
        written = {local.buffer(w.operand) for w in local.writes if w.writer == name}
        held = Counter(local.buffer(spot) for operand in given for spot in local.leaves(operand))
        twice = [buffer for buffer in written if held[buffer] > 1]
        if twice:
            said = f"whether {name} reads the buffer of {twice[0][0]}, which it is given twice, before it writes there"
            yield judged("hazard-overwrite", HloPosition(local.computation.name, name), unknown=said)


def _given(local: LocalBuffers, name: str, link: Link | None) -> tuple[str, ...]:
    """The operands of an instruction; of a start or update those that its chain binds in this computation."""
    if link is None or link.role == "done":
        return local.computation.by_name[name].operands
    chains = local.buffers.chains
    starts = sorted(begun(local, local.computation.name, name))
    bound = (p for start in starts for _, p in chains.binds(start))
    return tuple(p.instruction for p in bound if p.computation == local.computation.name)


def _by_buffer(local: LocalBuffers, given: list[str], summary: Summary) -> Mapping[Spot, list[_Key]]:
    """The parts of a body's parameters that it touches, by the caller's buffer in which they lie."""
    out: dict[Spot, list[_Key]] = {}
    for number, index in summary.accesses:
        if number < len(given):
            out.setdefault(local.buffer((given[number], index)), []).append((number, index))
    return out


def _in_a_call(local: LocalBuffers, name: str, given: list[str], summary: Summary, orders: Orders) -> str | None:
    """A body runs once: what it reads of one argument it reads before it writes the other. What it hands back of one
    lies where the other was written, and whoever needs it then is told by its caller's own buffers."""
    for keys in _by_buffer(local, given, summary).values():
        for written in keys:
            first = summary.accesses[written]
            for other in keys if first.writer is not None else ():
                access = summary.accesses[other]
                # What one operation reads and writes, bound step by step or not, is told of it (`_at_once`).
                late = next(
                    (
                        r
                        for r in access.reads
                        for w in first.writes
                        if not orders.must_precede(r, w) and begun(local, name, r).isdisjoint(begun(local, name, w))
                    ),
                    None,
                )
                if other != written and late is not None:
                    return _told(name, first, written, f"which {late} reads", other)
    return None


def _at_once(local: LocalBuffers, name: str, given: list[str], summary: Summary) -> str | None:
    """One instruction of a body writes one argument and reads another that lies in the same buffer, which the body does
    not know: what all callers hand over as one array is one argument in a summary."""
    for keys in _by_buffer(local, given, summary).values():
        for written, other in permutations(keys, 2):
            first, second = summary.accesses[written], summary.accesses[other]
            # What an update binds is written or read by the operation that has begun.
            reads = {s for r in second.reads for s in begun(local, name, r)}
            both = next((w for w in first.writes if not reads.isdisjoint(begun(local, name, w))), None)
            if both is not None:
                return (
                    f"whether {both} of {name} reads {_part(*other)} before it writes {_part(*written)}, in one buffer"
                )
    return None


def begun(local: LocalBuffers, computation: str, name: str) -> frozenset[HloPosition]:
    """The starts of the operation in flight that an instruction is a link of; else where it stands."""
    chains, here = local.buffers.chains, HloPosition(computation, name)
    return chains.starts.get(here) or frozenset({here})


def _in_a_loop(
    local: LocalBuffers, i: Instruction, bodies: list[tuple[str, Summary]], orders_of: _OrdersOf
) -> str | None:
    """A body runs again and again: what one turn writes of one part the next one finds in the other. What the condition
    writes is gone before the body, and before whoever uses the result."""
    state = i.operands[0]
    parts: dict[_Key, Access] = {}
    for _, summary in bodies:
        for key, access in summary.accesses.items():
            old = parts.get(key, _NOTHING)
            parts[key] = Access(old.reads + access.reads, old.writes + access.writes)
    body = next((s for name, s in bodies if name == called(i, "body")), None)
    replaced = {w.operand[1] for w in local.writes if w.writer == i.name and w.operand[0] == state}
    for at in sorted(replaced):
        for (_, index), access in parts.items():
            # A constant that the loop replaces lies there as a copy: the result tells where that is.
            lies_there = local.buffer((i.name, index)) == local.buffer((i.name, at))
            if index != at and access.reader is not None and lies_there and not local.one_part(i, index, at):
                first = parts.get((0, at), _NOTHING)
                return _told(i.name, first, (0, at), f"which {access.reader} reads", (0, index))
    asked = next((name for name, _ in bodies if name == called(i, "condition")), None)
    return None if asked is None else _in_a_condition(local, i, asked, body, orders_of)


def _in_a_condition(
    local: LocalBuffers, i: Instruction, name: str, body: Summary | None, orders_of: _OrdersOf
) -> str | None:
    """What a condition writes is needed by the body, whoever uses the result, the next turn, or itself."""
    summary, orders = local.summaries[name], orders_of(name)
    for (_, at), access in summary.accesses.items():
        if access.writer is None:
            continue
        # Which parts are one array each computation knows of itself alone, by all that run it.
        there = local.buffer((i.name, at))
        ones = [(0, part) for spot, part in local.leaves(i.name) if local.buffer((spot, part)) == there]
        read = body is not None and any(body.accesses.get(key, _NOTHING).reader for key in ones)
        handed = body is not None and any(key in body.passes.values() for key in ones)
        used = any(_is_used(local, i, part, orders_of(local.computation.name)) for _, part in ones)
        late = any(
            not orders.must_precede(r, w) and begun(local, name, r).isdisjoint(begun(local, name, w))
            for key in ones
            if key != (0, at)
            for r in summary.accesses.get(key, _NOTHING).reads
            for w in access.writes
        )
        if read or handed or used or late:
            return f"{access.writer} of the condition {name} overwrites {_part(0, at)} of the state, which is needed"
    return None


def _is_used(local: LocalBuffers, i: Instruction, at: ShapeIndex, orders: Orders) -> bool:
    version = local.version.get((i.name, at), (i.name, at))
    ends = [local.version.get(spot, spot) for spot in local.leaves(local.computation.root_name)]
    later = (x for x in local.computation.instructions if x is not i and not orders.must_precede(x.name, i.name))
    return version in ends or any(local.version.get(s, s) == version for x in later for s in local.reads(x.name))


def _told(name: str, first: Access, written: _Key, why: str, other: _Key) -> str:
    writer = first.writer or name
    return (
        f"{writer} overwrites {_part(*written)} of {name} in place, and {_part(*other)}, {why} afterwards, lies in "
        "the same buffer\n  mended by a copy of one of them"
    )


def _part(number: int, index: ShapeIndex) -> str:
    return f"argument {number}" + ("{" + ",".join(map(str, index)) + "}" if index else "")
