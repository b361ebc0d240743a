"""What an instruction makes by steps: one for each element of its result, which writes that element once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Final

from hloproof.models.dataflow.value_flow import called
from hloproof.models.hlo.attributes import Window, WindowDimension
from hloproof.models.hlo.inference.common import INTEGERS
from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.hlo.opcodes import ELEMENTWISE
from hloproof.models.hlo.shape import ELEMENT_BITS, ArrayShape

_BY_STEPS: Final = ELEMENTWISE | {
    "bitcast",
    "bitcast-convert",
    "broadcast",
    "concatenate",
    "copy",
    "dynamic-slice",
    "dynamic-update-slice",
    "gather",
    "get-dimension-size",
    "iota",
    "pad",
    "reduce",
    "reduce-window",
    "reshape",
    "reverse",
    "slice",
    "transpose",
}
"""What is made by the step of each element, by itself and in fusions. What else there is may write its result more than
once, as a select-and-scatter does (first the initial value, everywhere), or is the work of a library."""
_IN_FUSIONS: Final = _BY_STEPS | {
    "constant",
    "convolution",
    "dot",
    "fusion",
    "get-tuple-element",
    "parameter",
    "partition-id",
    "replica-id",
    "set-dimension-size",
    "tuple",
}
"""The same in fusions, whose code is made for them, element by element."""

_CHOSEN: Final = frozenset(
    "abs and bitcast-convert ceil clamp complex convert copy floor imag map maximum minimum or real reduce-precision "
    "round-nearest-afz round-nearest-even select sign".split()
)
"""What takes elements one by one, and may give back one of them, or put one together of halves."""
_COMPUTED: Final = (ELEMENTWISE - _CHOSEN) | {
    "constant",
    "convolution",
    "dot",
    "get-dimension-size",
    "iota",
    "partition-id",
    "replica-id",
}
"""What makes elements anew. What else there is may hand on the elements that it is given, as they are."""
_COMBINED: Final = frozenset({"reduce", "reduce-window"})
"""What hands on an element if the function does that it combines them by."""

SIZES: Final = "when the size that is kept beside the elements is read and written is not modelled"
"""What is not known of steps that look at sizes, in words."""
HANDED_ON: Final = "what is written there may be what lies there already"
"""The same of steps that may write what they read."""


def not_by_steps(module: Module, i: Instruction) -> Iterator[Instruction]:
    """What of an instruction may not be made by steps: of a fusion the instructions inside, of fusions in it as well;
    else itself. Updates and sorts have rules of their own."""
    bodies = _fused_by(module, i)
    if not bodies:
        yield from () if i.opcode in _BY_STEPS else (i,)
    for c in bodies:
        yield from (j for j in c.instructions if j.opcode not in _IN_FUSIONS)


def _fused_by(module: Module, i: Instruction) -> list[Computation]:
    """What a fusion runs, and the fusions in it; nothing of any other instruction."""
    body = module.find(called(i, "calls")) if i.opcode == "fusion" else None
    out = [] if body is None else [body]
    for c in out:  # grows while it is walked
        names = [n for j in c.instructions if j.opcode == "fusion" for n in j.attributes.computations()]
        known = {f.name for f in out}
        out += [module.by_name[n] for n in dict.fromkeys(names) if n in module.by_name and n not in known]
    return out


def looks_at_sizes(module: Module, i: Instruction) -> bool:
    """A step of a fusion reads or sets the size that is kept beside the elements of an array: no map says so."""
    pending, seen = list(i.attributes.computations()), set[str]()
    while pending:
        name = pending.pop()
        body = None if name in seen else module.find(name)
        seen.add(name)
        for j in () if body is None else body.instructions:
            if j.opcode in ("get-dimension-size", "set-dimension-size"):
                return True
            pending += j.attributes.computations()
    return False


def computes(module: Module, c: Computation, i: Instruction) -> bool:
    """No element of the result is one that is given to the instruction in the computation. What is computed is made
    anew whatever comes out: a number to which nothing is added is, too. What a function combines in its turn is taken
    to be handed on, and so is what a reduction begins with where it may find nothing to combine."""
    combines = i.opcode in _COMBINED and not _may_find_nothing(c, i)
    function = module.find(called(i, "to_apply")) if combines else None
    return _is_new(i) or (function is not None and not _behind(function, [function.root_name], _is_new))


def handed_on(module: Module, body: Computation, names: Iterable[str]) -> frozenset[int]:
    """The parameters of which elements may be elements of these arrays of a computation, with nothing computed."""
    return _behind(body, names, partial(computes, module, body))


def takes_parts(module: Module, c: Computation, i: Instruction) -> bool:
    """An instruction of the computation, or a step of a fusion, may take a part of an element that it is given: it
    reads the rest for nothing."""
    bodies = _fused_by(module, i)
    parts = ((b, j) for b in bodies for j in b.instructions if _takes_parts(module, b, j))
    return any(handed_on(module, b, j.operands) for b, j in parts) if bodies else _takes_parts(module, c, i)


def _takes_parts(module: Module, body: Computation, i: Instruction) -> bool:
    """By itself, or in a function that it applies."""
    applied = (module.find(name) for name in i.attributes.computations()) if i.opcode != "fusion" else ()
    if any(_takes_parts(module, f, j) for f in applied if f is not None for j in f.instructions):
        return True
    if i.opcode not in ("bitcast-convert", "convert", "real", "imag"):
        return False
    one, other = body.by_name[i.operands[0]].shape, i.shape
    if not isinstance(one, ArrayShape) or not isinstance(other, ArrayShape):
        return True
    if i.opcode == "convert" and one.element_type not in INTEGERS | {"c64", "c128"}:
        return False
    return ELEMENT_BITS[one.element_type] > ELEMENT_BITS[other.element_type]


def _may_find_nothing(c: Computation, i: Instruction) -> bool:
    """There is nothing to reduce, or a whole window may lie in what is around the elements and between them."""
    reduced, window = c.by_name[i.operands[0]].shape, i.attributes.get("window")
    if not isinstance(reduced, ArrayShape) or reduced.elements == 0 or reduced.is_dynamic:
        return True
    dimensions = window.dimensions if isinstance(window, Window) else ()
    return any(_may_miss(d, n) for d, n in zip(dimensions, reduced.dimensions, strict=False))


def _may_miss(d: WindowDimension, size: int) -> bool:
    """A window may hold none of so many elements: before the first, behind the last, or astride them."""
    reach = (d.size - 1) * d.window_dilation + 1
    return max(d.padding_low, d.padding_high) >= reach or d.window_dilation > size or d.base_dilation > 1


def _is_new(i: Instruction) -> bool:
    return i.opcode in _COMPUTED


def _behind(body: Computation, names: Iterable[str], ends: Callable[[Instruction], bool]) -> frozenset[int]:
    """The parameters that these come of, but for those behind an instruction that ends the search."""
    pending, seen, found = list(names), set[str](), set[int]()
    while pending:
        i = body.by_name[pending.pop()]
        if i.parameter_number is not None:
            found.add(i.parameter_number)
        if i.name not in seen and not ends(i):
            pending += i.operands
        seen.add(i.name)
    return frozenset(found)
