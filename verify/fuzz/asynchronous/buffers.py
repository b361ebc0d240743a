"""Values of buffer type, drawn, and followed from who makes them to who takes them."""

from __future__ import annotations

from collections import Counter
from typing import Final

from hypothesis import strategies as st

from hloproof.fuzz.asynchronous.forms import F
from hloproof.fuzz.asynchronous.reading import Reading, Spot, declared, part, tree
from hloproof.fuzz.asynchronous.slips import BUFFER_SLIPS, Link, Type
from hloproof.fuzz.asynchronous.structure import Body, Drawn
from hloproof.fuzz.drawing import Draw
from hloproof.models.hlo.module import Instruction, Module
from hloproof.models.hlo.shape import ArrayShape, BufferShape, Index, Shape

_B: Final = "b(f32[4])"
_TAKERS: Final[tuple[tuple[str, tuple[Type, ...], Type], ...]] = (
    *(("Pin", (F,), _B), ("w", (_B,), _B)) * 2,
    ("Unpin", (_B,), F),
    ("w", (_B, _B), (_B, _B)),
    ("", (_B, F), (_B, F)),
)
"""Targets, what they are given, and what they return; '' is a tuple."""


@st.composite
def buffer_modules(draw: Draw) -> str:
    """Pins, writers, tuples and unpins of two arrays, with a slip here and there."""
    m = Drawn(draw)
    b = Body(m, "e")
    for k in range(2):
        b.add(F, f"parameter({k})", f"p{k}")
    for _ in range(m.number(1, 6)):
        slip: str = m.one_of(("",) * 8 + tuple(BUFFER_SLIPS))
        buffers = [name for name, s in b.values if s == _B]
        target, given, result = m.one_of(_TAKERS if len(buffers) > 1 else _TAKERS[:5] if buffers else _TAKERS[:1])
        old = slip == "taken twice" or (len(given) > 1 and m.chance(2))
        operands = [b.pick(F) if s == F else m.one_of(buffers) if old else buffers[-1] for s in given]
        if not target:
            name = b.hidden(result, f"tuple({', '.join(operands)})")
        else:
            aliasing = "{{0}: (0, {}), {1}: (1, {})}" if len(given) > 1 else "{{}: (0, {})}"
            said = f", output_to_operand_aliasing={aliasing}"
            link = Link("taker", "custom-call", "", tuple(operands), result, said)
            link = BUFFER_SLIPS[slip].spoil(link, m) if slip and BUFFER_SLIPS[slip].fits(link) else link
            result = link.shape
            name = b.add(result, f'custom-call({", ".join(operands)}), custom_call_target="{target}"{link.said}')
        for k in range(len(result) if isinstance(result, tuple) else 0):
            b.element(name, result, (k,))
    plain = [(name, s) for name, s in b.values if s == F] + [(n, s) for n, s in b.values if s == _B][-1:]
    root, shape = m.one_of(plain)
    return m.text("buffers", b, b.add((shape,), f"tuple({root})", "root"))


def _buffers(shape: Shape) -> list[Index]:
    return [at for at in tree(shape) if isinstance(part(shape, at), BufferShape)]


def broken_buffers(module: Module) -> set[tuple[str, str]]:
    """(claim, instruction) of every instruction that loses a buffer, makes one of nothing, or is its second taker."""
    entry, values = module.entry, Reading(module).values()
    broken = {i.name for i in entry.instructions if i.opcode == "custom-call" and _loses(module, i)}
    takers: dict[Spot, list[str]] = {}
    for i in entry.instructions:
        taken = i.operands if i.opcode == "custom-call" else (i.name,) if i is entry.root else ()
        for name in taken:
            for at in _buffers(entry.by_name[name].shape):
                (value,) = values[entry.name, name, at]
                takers.setdefault(value, []).append(i.name)
    for names in takers.values():
        broken |= set(names[1:])
    return {("buffer-alias", name) for name in broken}


def _loses(module: Module, i: Instruction) -> bool:
    """An operand is not aliased by just one result, a result by no operand, or two shapes are not one."""
    shapes = [module.entry.by_name[o].shape for o in i.operands]
    entries = declared(i.attributes.get("output_to_operand_aliasing"))
    taken = Counter((e.operand, e.operand_index) for e in entries)
    # Two results cannot be written into one array, nor one into two.
    pairs = {(e.output_index, *(i.operands[e.operand : e.operand + 1]), e.operand_index) for e in entries}
    if len({p[0] for p in pairs}) < len(pairs) or len({p[1:] for p in pairs}) < len(pairs):
        return True
    if any(taken[n, at] != 1 for n, s in enumerate(shapes) for at in _buffers(s)):
        return True
    if not set(_buffers(i.shape)) <= {e.output_index for e in entries}:
        return True
    for e in entries:
        ends = [
            part(i.shape, e.output_index),
            part(shapes[e.operand], e.operand_index) if e.operand < len(shapes) else None,
        ]
        arrays = [s.inner if isinstance(s, BufferShape) else s for s in ends]
        sizes = [(s.element_type, s.dimensions) for s in arrays if isinstance(s, ArrayShape)]
        if len(sizes) < 2 or sizes[0] != sizes[1]:
            return True
    return False
