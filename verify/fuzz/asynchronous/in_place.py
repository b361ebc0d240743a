"""Fused updates in place, drawn, and carried out in the buffer that they read, in every order of their elements."""

from __future__ import annotations

from itertools import permutations
from typing import Final

from hypothesis import strategies as st

from hloproof.fuzz.asynchronous.forms import S
from hloproof.fuzz.asynchronous.structure import Body, Drawn
from hloproof.fuzz.drawing import Draw
from hloproof.models.hlo.module import Computation, Module
from hloproof.models.hlo.shape import ArrayShape


@st.composite
def in_place_modules(draw: Draw) -> str:
    """A fusion that updates a window of a vector with what it computes from the vector itself."""
    m = Drawn(draw)
    b, size = Body(m, "fused"), m.number(2, 6)
    window = min(m.number(1, 3), size)
    whole, arrays = f"f32[{size}]", list[str]()
    given = ((whole, "v"), (S, "i"), (S, "j"))
    for k, (shape, name) in enumerate(given):
        b.add(shape, f"parameter({k})", name)
    b.add(S, f"constant({m.number(-1, size)})", "c")
    b.add("f32[]", "constant(0)", "zero")
    for _ in range(m.number(1, 3)):
        match m.one_of(("slice", "at", "at", "reverse", "sum", "other", *(("add", "turn") if arrays else ()))):
            case "slice" | "reverse" as kind:
                low = m.number(0, size - window)
                source = b.add(whole, "reverse(v), dimensions={0}") if kind == "reverse" else "v"
                text = f"slice({source}), slice={{[{low}:{low + window}]}}"
            case "at":
                text = f"dynamic-slice(v, {m.one_of(('i', 'i', 'j', 'c'))}), dynamic_slice_sizes={{{window}}}"
            case "sum":
                total = b.add("f32[]", "reduce(v, zero), dimensions={0}, to_apply=add")
                text = f"broadcast({total}), dimensions={{}}"
            case "turn":
                text = f"reverse({m.one_of(arrays)}), dimensions={{0}}"
            case "add":
                text = f"add({m.one_of(arrays)}, {m.one_of(arrays)})"
            case _:
                text = "broadcast(zero), dimensions={}"
        arrays.append(b.add(f"f32[{window}]", text))
    b.close(b.add(whole, f"dynamic-update-slice(v, {arrays[-1]}, {m.one_of(('i', 'i', 'c'))})"))
    entry = Body(m, "e")
    for k, (shape, name) in enumerate(given):
        entry.add(shape, f"parameter({k})", name)
    root = entry.add(whole, "fusion(v, i, j), kind=kLoop, calls=fused", "f")
    return m.text("in_place", entry, root, ", is_scheduled=true")


_OUTSIDE: Final = 2
"""Start indices are tried so far beyond both ends."""

Terms = tuple[object, ...]


def broken_in_place(module: Module) -> set[tuple[str, str]]:
    """(claim, instruction) of the fusion, if it spoils itself."""
    return {("hazard-in-place", module.entry.root_name)} if spoils_itself(module) else set()


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
