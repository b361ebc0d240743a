"""Whether two modules give arrays of one size, where sizes are known at run time only.

What lies beyond a size is no element: of an array that is longer in one module, an element reads what the other never
does. No map says how long an array is, so that the sizes must come from one place: from dynamic parameters, which both
modules are given alike, or from one number or one parameter that all sizes of both are set to.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hloproof.models.errors import NotModelled
from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.hlo.shape import ArrayShape, leaves

_Outputs = Sequence[tuple[int, ArrayShape | None, ArrayShape | None]]
"""The number of an output, and the array that each module gives for it."""


def dynamic_dimensions(shape: ArrayShape) -> tuple[int, ...]:
    """The numbers of the dimensions whose size is known at run time only."""
    return tuple(n for n, flag in enumerate(shape.dynamic) if flag)


def require_one_size(before: Module, after: Module, outputs: _Outputs) -> None:
    """Raises NotModelled where the two modules may give arrays of different sizes at run time."""
    arrays = [(n, one, two) for n, one, two in outputs if one is not None and two is not None]
    for n, one, two in arrays:
        if dynamic_dimensions(one) != dynamic_dimensions(two):
            raise NotModelled(f"sizes of output {n} that are known at run time in one of the modules only")
    if not any(one.is_dynamic for _, one, _ in arrays):
        return
    sources = [frozenset(_sources(m)) for m in (before, after)]
    if len(sources[0] | sources[1]) > 1 or sources[0] != sources[1]:
        raise NotModelled("whether both modules give arrays of one size at run time")


def _sources(module: Module) -> Iterable[object]:
    """Where sizes that are known at run time only come from, all dynamic parameters of the entry being one place."""
    for computation in module.computations:
        for i in computation.instructions:
            if i.opcode == "set-dimension-size":
                yield _set_to(computation, i, module)
            elif i.opcode == "parameter":
                if computation is module.entry and _is_dynamic(i):
                    yield "parameters"
            elif _is_dynamic(i) and not any(_is_dynamic(computation.by_name[name]) for name in i.operands):
                raise NotModelled(f"what size {i.opcode} {i.name} gives its result at run time")


def _set_to(computation: Computation, i: Instruction, module: Module) -> object:
    """The number or the parameter that a size is set to. Raises NotModelled for anything else."""
    size = computation.by_name[i.operands[1]]
    if size.opcode == "constant" and size.literal is not None:
        return size.literal
    if size.opcode == "parameter" and computation is module.entry:
        return size.parameter_number
    raise NotModelled(f"what size {i.name} sets")


def _is_dynamic(i: Instruction) -> bool:
    return any(isinstance(leaf, ArrayShape) and leaf.is_dynamic for _, leaf in leaves(i.shape))
