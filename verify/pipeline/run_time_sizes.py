"""Whether two modules give arrays of one size, where sizes are known at run time only.

What lies beyond a size is no element: of an array that is longer in one module, an element reads what the other never
does. No map says how long an array is, so that each size must come from one place in both: from the same dimension of a
parameter, or from one number or one parameter that it is set to. It is followed through what gives its result the sizes
of its operands, and through nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from hloproof.definitions.variables import array_in
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.module import Instruction, Module
from hloproof.models.hlo.opcodes import SCALAR
from hloproof.models.hlo.shape import ArrayShape, ShapeIndex, leaves
from hloproof.models.indexing.composition.sizes import provider_name

_Placed: TypeAlias = tuple[ShapeIndex, ArrayShape]

_SAME_SIZES = SCALAR | {"copy"}
"""What gives its result the sizes of every operand that is no scalar: where these differ the program has no meaning."""


def dynamic_dimensions(shape: ArrayShape) -> tuple[int, ...]:
    """The numbers of the dimensions whose size is known at run time only."""
    return tuple(n for n, flag in enumerate(shape.dynamic) if flag)


def require_one_form(before: Module, after: Module, outputs: Iterable[int]) -> None:
    """Raises NotModelled where a size, of outputs by their numbers, is known at run time in one module only."""
    for n, ((_, one), (_, two)) in _arrays(before, after, outputs):
        if dynamic_dimensions(one) != dynamic_dimensions(two):
            raise NotModelled(f"sizes of output {n} that are known at run time in one of the modules only")


def require_one_size(before: Module, after: Module, outputs: Iterable[int]) -> None:
    """Raises NotModelled where the two modules, whose outputs have one form, may give arrays of different sizes."""
    for _, ((place, one), (other, _)) in _arrays(before, after, outputs):
        for dimension in dynamic_dimensions(one):
            if _sources(before, place, dimension) != _sources(after, other, dimension):
                raise NotModelled("whether both modules give arrays of one size at run time")


def _arrays(before: Module, after: Module, outputs: Iterable[int]) -> Iterator[tuple[int, list[_Placed]]]:
    """The outputs that are arrays, in both modules then, with where each lies in the results."""
    given = [list(leaves(m.entry.root.shape)) for m in (before, after)]
    for n in outputs:
        held = [(at, array) for at, leaf in (g[n] for g in given) if (array := array_in(leaf)) is not None]
        if held:
            yield n, held


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
        elif i.opcode == "tuple":
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


def _set_to(i: Instruction, size: Instruction) -> str:
    """The number or the parameter that a size is set to. Raises NotModelled for anything else."""
    told = provider_name(size)
    if told.startswith(("constant(", "parameter(")):
        return told
    raise NotModelled(f"what size {i.name} sets")


def _is_scalar(i: Instruction) -> bool:
    return isinstance(i.shape, ArrayShape) and not i.shape.rank


def _is_dynamic(i: Instruction, dimension: int) -> bool:
    return isinstance(i.shape, ArrayShape) and dimension in dynamic_dimensions(i.shape)
