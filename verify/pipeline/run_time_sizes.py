"""Whether two modules give arrays of one size, where sizes are known at run time only.

What lies beyond a size is no element: of an array that is longer in one module, an element reads what the other never
does. No map says how long an array is, so that each size must come from one place in both: from the same dimension of a
parameter, or from one number or one parameter that it is set to. It is followed through what gives its result the sizes
of its operands, and through nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable

from hloproof.definitions.variables import array_in
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.module import Instruction, Module
from hloproof.models.hlo.opcodes import SCALAR
from hloproof.models.hlo.shape import ArrayShape, ShapeIndex, leaves

_SAME_SIZES = SCALAR | {"copy"}
"""What gives its result the sizes of every operand that is no scalar: where these differ the program has no meaning."""


def dynamic_dimensions(shape: ArrayShape) -> tuple[int, ...]:
    """The numbers of the dimensions whose size is known at run time only."""
    return tuple(n for n, flag in enumerate(shape.dynamic) if flag)


def require_one_size(before: Module, after: Module, outputs: Iterable[int]) -> None:
    """Raises NotModelled where the two modules may give arrays of different sizes at run time, by their numbers."""
    given = [list(leaves(m.entry.root.shape)) for m in (before, after)]
    for n in outputs:
        (place, one), (other, two) = ((at, array_in(leaf)) for at, leaf in (g[n] for g in given))
        if one is None or two is None:
            continue
        if dynamic_dimensions(one) != dynamic_dimensions(two):
            raise NotModelled(f"sizes of output {n} that are known at run time in one of the modules only")
        for dimension in dynamic_dimensions(one):
            if _sources(before, place, dimension) != _sources(after, other, dimension):
                raise NotModelled("whether both modules give arrays of one size at run time")


def _sources(module: Module, at: ShapeIndex, dimension: int) -> set[object]:
    """Where the size of a dimension of the result comes from. Raises NotModelled where that is not known."""
    entry, found, seen = module.entry, set[object](), set[object]()
    stack = [(entry.root, at, dimension)]
    while stack:
        i, at, dimension = stack.pop()
        if (i.name, at, dimension) in seen:
            continue
        seen.add((i.name, at, dimension))
        operands = [entry.by_name[name] for name in i.operands]
        if i.opcode == "parameter":
            found.add((i.parameter_number, at, dimension))
        elif i.opcode == "tuple" and at:
            stack.append((operands[at[0]], at[1:], dimension))
        elif i.opcode == "set-dimension-size" and dimension in i.attributes.integers("dimensions"):
            found.add(_set_to(i, operands[1]))
        elif i.opcode == "set-dimension-size":
            stack.append((operands[0], at, dimension))
        elif i.opcode == "transpose":
            stack.append((operands[0], at, i.attributes.integers("dimensions")[dimension]))
        elif i.opcode in _SAME_SIZES and all(_is_dynamic(o, dimension) for o in operands if not _is_scalar(o)):
            stack += [(o, at, dimension) for o in operands if not _is_scalar(o)]
        else:
            raise NotModelled(f"what size {i.opcode} {i.name} gives its result at run time")
    return found


def _set_to(i: Instruction, size: Instruction) -> object:
    """The number or the parameter that a size is set to. Raises NotModelled for anything else."""
    if size.opcode == "constant" and size.literal is not None:
        return size.literal
    if size.opcode == "parameter":
        return size.parameter_number
    raise NotModelled(f"what size {i.name} sets")


def _is_scalar(i: Instruction) -> bool:
    return isinstance(i.shape, ArrayShape) and not i.shape.rank


def _is_dynamic(i: Instruction, dimension: int) -> bool:
    return isinstance(i.shape, ArrayShape) and dimension in dynamic_dimensions(i.shape)
