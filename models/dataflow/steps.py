"""What an instruction makes by steps: one for each element of its result, which writes that element once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from hloproof.models.dataflow.value_flow import called
from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.hlo.opcodes import ELEMENTWISE

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

COMPUTED: Final = (
    ELEMENTWISE - {"and", "bitcast-convert", "clamp", "convert", "copy", "map", "maximum", "minimum", "or", "select"}
    | {"constant", "convolution", "dot", "get-dimension-size", "iota", "partition-id", "reduce", "reduce-window"}
    | {"replica-id"}
)
"""What makes elements anew. What else there is may hand on the elements that it is given, as they are."""

SIZES: Final = "when the size that is kept beside the elements is read and written is not modelled"
"""What is not known of steps that look at sizes, in words."""
HANDED_ON: Final = "what is written there may be what lies there already"
"""The same of steps that may write what they read."""


def not_by_steps(module: Module, i: Instruction) -> Iterator[Instruction]:
    """What of an instruction may not be made by steps: of a fusion the instructions inside, of fusions in it as well;
    else itself. Updates and sorts have rules of their own."""
    body = module.find(called(i, "calls")) if i.opcode == "fusion" else None
    if body is None:
        yield from () if i.opcode in _BY_STEPS else (i,)
        return
    for c in (body, *(module.by_name[name] for name in _fusions_in(module, body))):
        yield from (j for j in c.instructions if j.opcode not in _IN_FUSIONS)


def _fusions_in(module: Module, body: Computation) -> list[str]:
    """What the fusions in a fused computation call, and those in these."""
    out: list[str] = []
    pending = [body]
    while pending:
        names = [n for i in pending.pop().instructions if i.opcode == "fusion" for n in i.attributes.computations()]
        new = [n for n in dict.fromkeys(names) if n not in out and module.find(n) is not None]
        out += new
        pending += [module.by_name[n] for n in new]
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


def hands_on(body: Computation, names: Iterable[str]) -> bool:
    """Elements of these arrays of a fused computation may be elements of parameters that nothing has computed with."""
    pending, seen = list(names), set[str]()
    while pending:
        i = body.by_name[pending.pop()]
        if i.opcode == "parameter":
            return True
        if i.name not in seen and i.opcode not in COMPUTED:
            pending += i.operands
        seen.add(i.name)
    return False
