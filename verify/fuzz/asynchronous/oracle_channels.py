"""Target `async`: sends and recvs tried in every order in which devices can run, buffers followed by hand, and fused
updates carried out in the buffer that they read, in every order of their elements."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import Final

from hloproof.models.hlo.attributes import Aliasing
from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.hlo.shape import ArrayShape, BufferShape, Shape, TupleShape

Routes = tuple[tuple[int, int], ...]

# -- channels ----------------------------------------------------------------------------------------------------------


def pairs_of(i: Instruction) -> Routes:
    """The device pairs in the text of the frontend attributes."""
    value = i.attributes.get("frontend_attributes")
    numbers = [int(n) for n in re.findall(r"\d+", str(getattr(value, "text", "")).partition("target_pairs")[2])]
    return tuple(zip(numbers[::2], numbers[1::2], strict=True))


def broken_channels(module: Module) -> set[tuple[str, str]]:
    """(claim, instruction) of what a module of sends and recvs breaks."""
    entry = module.entry
    broken: set[tuple[str, str]] = set()
    for i in entry.instructions:
        if i.opcode in ("send", "recv"):
            users = {u.name for u in entry.instructions if i.name in u.operands}
            if len(users) != 1:
                broken.add(("async-channel", i.name))
        elif i.opcode in ("send-done", "recv-done"):
            begun = entry.by_name[i.operands[0]]
            for key in ("channel_id", "is_host_transfer"):
                mine, theirs = i.attributes.get(key), begun.attributes.get(key)
                if mine is not None and theirs is not None and mine != theirs:
                    broken.add(("async-channel", i.name))
    hosts = [i for i in entry.instructions if i.opcode in ("send", "recv") and i.attributes.flag("is_host_transfer")]
    for n, i in enumerate(hosts):
        first = next(h for h in hosts if (h.opcode, _channel(h)) == (i.opcode, _channel(i)))
        if n and pairs_of(first) != pairs_of(i):
            broken.add(("async-channel", i.name))
    return broken | {("collective-deadlock", name) for name in _deadlocks(module)}


def _channel(i: Instruction) -> str:
    return str(i.attributes.get("channel_id"))


def _deadlocks(module: Module) -> set[str]:
    """Transfers whose pairs are wrong in themselves, have no partner, or that some device waits for without end."""
    steps = [i for i in module.entry.instructions if i.opcode in ("send", "recv", "recv-done")]
    transfers = [i for i in steps if i.opcode != "recv-done" and pairs_of(i)]
    found: set[str] = set()
    for i in transfers:
        pairs = pairs_of(i)
        if len({a for a, _ in pairs}) < len(pairs) or len({b for _, b in pairs}) < len(pairs) or _circular(pairs):
            found.add(i.name)
        other = "recv" if i.opcode == "send" else "send"
        own = [x for x in transfers if (x.opcode, _channel(x), pairs_of(x)) == (i.opcode, _channel(i), pairs)]
        partners = [x for x in transfers if (x.opcode, _channel(x), pairs_of(x)) == (other, _channel(i), pairs)]
        if len(partners) < len(own):
            found.add(i.name)
    return found | _stuck(module, steps)


def _circular(pairs: Routes) -> bool:
    reached = set(pairs)
    while True:
        more = {(a, d) for a, b in reached for c, d in pairs if b == c} - reached
        if not more:
            return any(a == b for a, b in reached)
        reached |= more


def _stuck(module: Module, steps: Sequence[Instruction]) -> set[str]:
    """The recvs at whose done some device stands when nobody can go on: every order in which devices move is tried,
    and all must end alike."""
    devices = sorted({d for i in steps for pair in pairs_of(i) for d in pair})
    begin = (0,) * len(devices)
    seen, stack, ends = {begin}, [begin], set()
    while stack:
        at = stack.pop()
        following = []
        for k, d in enumerate(devices):
            if at[k] < len(steps) and _can_go(module, steps, devices, at, d, steps[at[k]]):
                following.append((*at[:k], at[k] + 1, *at[k + 1 :]))
        if not following:
            ends.add(at)
        for n in following:
            if n not in seen:
                seen.add(n)
                stack.append(n)
    (end,) = ends
    return {steps[n].operands[0] for n in end if n < len(steps)}


def _can_go(
    module: Module,
    steps: Sequence[Instruction],
    devices: Sequence[int],
    at: tuple[int, ...],
    device: int,
    step: Instruction,
) -> bool:
    """A recv-done needs, of each source, one more send than was taken of it before; all else goes on at once."""
    if step.opcode != "recv-done":
        return True
    pairs = pairs_of(module.entry.by_name[step.operands[0]])
    own = at[devices.index(device)]
    taken = sum(
        1 for s in steps[:own] if s.opcode == "recv-done" and pairs_of(module.entry.by_name[s.operands[0]]) == pairs
    )
    for source, target in pairs:
        if target == device:
            sent = sum(1 for s in steps[: at[devices.index(source)]] if s.opcode == "send" and pairs_of(s) == pairs)
            if sent <= taken:
                return False
    return True


# -- buffers -----------------------------------------------------------------------------------------------------------


def _buffers(shape: Shape, at: tuple[int, ...] = ()) -> list[tuple[int, ...]]:
    if isinstance(shape, TupleShape):
        return [found for k, s in enumerate(shape.elements) for found in _buffers(s, (*at, k))]
    return [at] if isinstance(shape, BufferShape) else []


def _part(shape: Shape, at: tuple[int, ...]) -> Shape | None:
    for k in at:
        if not isinstance(shape, TupleShape) or k >= len(shape.elements):
            return None
        shape = shape.elements[k]
    return shape.inner if isinstance(shape, BufferShape) else shape


def broken_buffers(module: Module) -> set[tuple[str, str]]:
    """(claim, instruction) of every instruction that loses a buffer, makes one of nothing, or is its second taker."""
    entry = module.entry
    broken: set[str] = set()
    takers: dict[tuple[str, tuple[int, ...]], list[str]] = {}
    made: dict[tuple[str, tuple[int, ...]], tuple[str, tuple[int, ...]]] = {}
    for i in entry.instructions:
        shapes = [entry.by_name[o].shape for o in i.operands]
        for at in _buffers(i.shape):
            where = (i.name, at)
            if i.opcode == "get-tuple-element":
                made[where] = made[i.operands[0], (i.attributes.integer("index", 0), *at)]
            elif i.opcode == "tuple":
                made[where] = made[i.operands[at[0]], at[1:]]
            else:
                made[where] = where
        if i.opcode == "custom-call":
            if _loses(i, shapes):
                broken.add(i.name)
            for name in dict.fromkeys(i.operands):
                for at in _buffers(entry.by_name[name].shape):
                    takers.setdefault(made[name, at], []).append(i.name)
    for at in _buffers(entry.root.shape):
        takers.setdefault(made[entry.root_name, at], []).append(entry.root_name)
    for names in takers.values():
        broken |= set(names[1:]) - {names[0]}
    return {("buffer-alias", name) for name in broken}


def _loses(i: Instruction, shapes: list[Shape]) -> bool:
    value = i.attributes.get("output_to_operand_aliasing")
    entries = [e for e in value if isinstance(e, Aliasing)] if isinstance(value, tuple) else []
    taken = Counter((e.operand, e.operand_index) for e in entries)
    if any(taken[n, at] != 1 for n, s in enumerate(shapes) for at in _buffers(s)):
        return True
    given = {e.output_index for e in entries}
    if any(at not in given for at in _buffers(i.shape)):
        return True
    for e in entries:
        out = _part(i.shape, e.output_index)
        back = _part(shapes[e.operand], e.operand_index) if e.operand < len(shapes) else None
        if out is None or back is None or not isinstance(out, ArrayShape) or not isinstance(back, ArrayShape):
            return True
        if (out.element_type, out.dimensions) != (back.element_type, back.dimensions):
            return True
    return False


# -- updates in place --------------------------------------------------------------------------------------------------

_OUTSIDE: Final = 2
"""Start indices are tried so far beyond both ends."""

Terms = tuple[object, ...]


def spoils_itself(module: Module) -> bool:
    """For some start indices and some order of the elements of the update, carrying out the fusion in the buffer of its
    parameter gives another result than carrying it out aside."""
    body = module.by_name["fused"]
    shape = body.by_name["v"].shape
    assert isinstance(shape, ArrayShape)
    (size,) = shape.dimensions
    begin = Terms(("v", k) for k in range(size))
    indices = range(-_OUTSIDE, size + _OUTSIDE)
    for i in indices:
        for j in indices:
            update = body.by_name[body.root.operands[1]]
            window = update.shape
            assert isinstance(window, ArrayShape)
            (width,) = window.dimensions
            first = _start(body, body.root.operands[2], i, j, size - width)
            aside = list(begin)
            for d in range(width):
                aside[first + d] = element(body, update.name, d, begin, i, j)
            for order in permutations(range(width)):
                memory = list(begin)
                for d in order:
                    memory[first + d] = element(body, update.name, d, tuple(memory), i, j)
                if memory != aside:
                    return True
    return False


def _start(body: Computation, name: str, i: int, j: int, most: int) -> int:
    step = body.by_name[name]
    value = {"i": i, "j": j}[name] if step.opcode == "parameter" else int(step.literal or "0")
    return max(0, min(value, most))


def element(body: Computation, name: str, at: int, memory: Terms, i: int, j: int) -> object:
    """One element of an instruction as a term over what the memory holds now."""
    step = body.by_name[name]
    shape = step.shape
    assert isinstance(shape, ArrayShape)
    match step.opcode:
        case "parameter":
            return memory[at]
        case "slice":
            bounds = step.attributes.get("slice")
            assert isinstance(bounds, tuple)
            return element(body, step.operands[0], at + bounds[0].start, memory, i, j)  # type: ignore[union-attr]
        case "dynamic-slice":
            first = _start(body, step.operands[1], i, j, len(memory) - shape.dimensions[0])
            return element(body, step.operands[0], at + first, memory, i, j)
        case "reverse":
            return element(body, step.operands[0], shape.dimensions[0] - 1 - at, memory, i, j)
        case "add":
            return ("add", *(element(body, o, at, memory, i, j) for o in step.operands))
        case "broadcast":
            source = body.by_name[step.operands[0]]
            return ("sum", *memory) if source.opcode == "reduce" else "zero"
    raise AssertionError(step.opcode)


def steps_of(module: Module) -> Iterator[str]:
    """The opcodes of the computation `fused`, in order."""
    return (i.opcode for i in module.by_name["fused"].instructions)
