"""Shapes of collectives and of asynchronous instructions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from hloproof.models.hlo.attributes import ReplicaGroups
from hloproof.models.hlo.inference.common import Request, ShapeError, same_sizes, tuple_unless_one
from hloproof.models.hlo.shape import UNBOUNDED, ArrayShape, Shape, TupleShape, leaves
from hloproof.models.hlo.text.shapes import print_shape


def _group_size(request: Request) -> int:
    """Devices per group; 0 when the text does not say or the groups differ.

    With a channel and without global device ids the groups of these opcodes hold replicas in all their partitions, so
    the number of partitions counts too, and that stands in the header of the module.
    """
    across = request.opcode.startswith(("all-gather", "reduce-scatter")) and "channel_id" in request.attributes
    if across and not request.attributes.flag("use_global_device_ids"):
        return 0
    groups = request.attributes.get("replica_groups")
    if not isinstance(groups, ReplicaGroups) or not groups.groups:
        return 0
    sizes = {len(g) for g in groups.groups}
    return sizes.pop() if len(sizes) == 1 else 0


def all_reduce(request: Request) -> Shape:
    """The operands' shapes; a tuple where there are several."""
    return tuple_unless_one([a.without_layout() for a in request.arrays()])


def all_reduce_start(request: Request) -> Shape | None:
    """The result alone. A declared (operand, result) is left to the claims about chains."""
    if len(request.operands) == 1 and isinstance(request.declared, TupleShape):
        return None
    return all_reduce(request)


def all_reduce_done(request: Request) -> Shape | None:
    """The operand's shape. A declared array behind an operand that is a tuple is left to the claims about chains."""
    if isinstance(request.operands[0], TupleShape) and isinstance(request.declared, ArrayShape):
        return None
    return request.operands[0]


def all_gather(request: Request) -> Shape:
    """Each result is its operand, longer along one dimension by the number of devices in a group."""
    results = request.declared.elements if isinstance(request.declared, TupleShape) else (request.declared,)
    operands = request.arrays()
    if len(results) != len(operands) or request.declared is None:
        raise ShapeError(f"all-gather of {len(operands)} operands is declared with {len(results)} results")
    factor = _group_size(request)
    out: list[Shape] = []
    for operand, result in zip(operands, results, strict=True):
        dimension = request.one_dimension(operand.rank)
        if not isinstance(result, ArrayShape) or result.rank != operand.rank:
            raise ShapeError(f"all-gather of {print_shape(operand)} cannot give {print_shape(request.declared)}")
        size, gathered = operand.dimensions[dimension], result.dimensions[dimension]
        if UNBOUNDED not in (size, gathered) and (
            (factor and gathered != size * factor) or (size and gathered % size) or (not size and gathered)
        ):
            raise ShapeError(
                f"all-gather of {size} elements in dimension {dimension} over groups of {factor or '?'} cannot give "
                f"{gathered}"
            )
        sizes = (*operand.dimensions[:dimension], gathered, *operand.dimensions[dimension + 1 :])
        out.append(ArrayShape(operand.element_type, sizes))
    return tuple_unless_one(out)


def reduce_scatter(request: Request) -> Shape:
    """Each result is its operand, shorter along one dimension by the number of devices in a group."""
    results = request.declared.elements if isinstance(request.declared, TupleShape) else (request.declared,)
    operands = request.arrays()
    if len(results) != len(operands) or request.declared is None:
        raise ShapeError(f"reduce-scatter of {len(operands)} operands is declared with {len(results)} results")
    factor = _group_size(request)
    out: list[Shape] = []
    for operand, result in zip(operands, results, strict=True):
        dimension = request.one_dimension(operand.rank)
        if not isinstance(result, ArrayShape) or result.rank != operand.rank:
            raise ShapeError(f"reduce-scatter of {print_shape(operand)} cannot give {print_shape(request.declared)}")
        size, part = operand.dimensions[dimension], result.dimensions[dimension]
        if UNBOUNDED not in (size, part) and ((factor and part * factor != size) or (part and size % part)):
            raise ShapeError(
                f"reduce-scatter of {size} elements in dimension {dimension} over groups of {factor or '?'} cannot "
                f"give {part}"
            )
        sizes = (*operand.dimensions[:dimension], part, *operand.dimensions[dimension + 1 :])
        out.append(ArrayShape(operand.element_type, sizes))
    return tuple_unless_one(out)


def all_to_all(request: Request) -> Shape:
    """With `dimensions` one array whose dimension is cut and rejoined; without, one array per device of a group."""
    operands = request.arrays()
    if "dimensions" in request.attributes and request.integers("dimensions"):
        out: list[Shape] = []
        for operand in operands:
            dimension = request.one_dimension(operand.rank)
            factor = _group_size(request)
            if factor and operand.dimensions[dimension] % factor:
                raise ShapeError(f"all-to-all cuts {operand.dimensions[dimension]} elements into {factor} parts")
            out.append(operand.without_layout())
        if len(out) == 1 and isinstance(request.declared, TupleShape):
            return TupleShape(tuple(out))
        return tuple_unless_one(out)
    for operand in operands[1:]:
        same = request.same_type(operand.element_type, operands[0].element_type)
        if not same or not same_sizes(operand.dimensions, operands[0].dimensions):
            raise ShapeError("all-to-all exchanges arrays of the same shape")
    return TupleShape(tuple(o.without_layout() for o in operands))


def ragged_all_to_all(request: Request) -> Shape:
    """The shape of the second operand, into which rows are written."""
    return request.array(1).without_layout()


def collective_reduce(request: Request) -> Shape:
    """The operands; with a dynamic root the last operand holds the roots."""
    operands = request.operands[:-1] if request.attributes.flag("has_dynamic_root") else request.operands
    if not operands:
        raise ShapeError(f"{request.opcode} with a dynamic root takes the data before the roots")
    return tuple_unless_one(operands)


def _in_place(request: Request) -> bool:
    """The form that writes into given buffers: (input, output, input offsets, output offsets)."""
    return len(request.operands) == 4 and "slice_sizes" in request.attributes


def collective_permute(request: Request) -> Shape:
    """The operands' shapes; in the form that writes into a given buffer, the shape of that buffer."""
    if _in_place(request):
        return request.operands[1]
    return tuple_unless_one(request.operands)


def pair_start(request: Request) -> Shape | None:
    """all-gather-start and collective-permute-start: (operand, output, contexts...)."""
    shape = request.declared
    if isinstance(shape, ArrayShape):  # older text gives the output alone, as all-reduce-start does
        return all_gather(request) if request.opcode == "all-gather-start" else request.operands[0]
    if not isinstance(shape, TupleShape) or len(shape.elements) < 2:
        shown = "nothing" if shape is None else print_shape(shape)
        raise ShapeError(f"{request.opcode} gives a tuple (operand, output, ...), found {shown}")
    if request.exactly and _types(shape.elements[:2]) != _types(request.operands):
        raise ShapeError(f"{request.opcode} of {print_shape(request.operands[0])} is declared as {print_shape(shape)}")
    return None


def _types(shapes: Sequence[Shape]) -> set[str]:
    """The element types of the arrays."""
    return {leaf.element_type for shape in shapes for _, leaf in leaves(shape) if isinstance(leaf, ArrayShape)}


def pair_done(request: Request) -> Shape:
    """all-gather-done and collective-permute-done: the output inside the operand."""
    operand = request.operands[0]
    if isinstance(operand, ArrayShape):
        return operand
    if not isinstance(operand, TupleShape) or len(operand.elements) < 2:
        raise ShapeError(f"the operand of {request.opcode} is (operand, output, ...), found {print_shape(operand)}")
    return operand.elements[1]


def copy_start(request: Request) -> Shape | None:
    """(destination, source, context)."""
    shape, operand = request.declared, request.operands[0]
    if not isinstance(shape, TupleShape) or len(shape.elements) != 3:
        raise ShapeError("copy-start gives (destination, source, context)")
    return TupleShape((operand, operand, shape.elements[2]))


def copy_done(request: Request) -> Shape:
    """The destination of (destination, source, context)."""
    operand = request.operands[0]
    if not isinstance(operand, TupleShape) or len(operand.elements) != 3:
        raise ShapeError(f"the operand of copy-done is (destination, source, context), found {print_shape(operand)}")
    return operand.elements[0]


def async_state(request: Request) -> Shape | None:
    """async-start, async-update and their sugared names: ((operands), outputs, contexts...); older text writes a single
    operand without its parentheses. Whether the parts fit is a claim of its own."""
    shape = request.declared
    if not isinstance(shape, TupleShape) or len(shape.elements) < 2:
        shown = "nothing" if shape is None else print_shape(shape)
        raise ShapeError(
            f"{request.opcode} expects the shape to be in the form ((operand0, operand1, ...), output, contexts...), "
            f"found {shown}"
        )
    return None


def async_done(request: Request) -> Shape | None:
    """The output inside the operand; operands behind the first bind late."""
    operand = request.operands[0]
    if request.declared is not None:
        return None
    if not isinstance(operand, TupleShape) or len(operand.elements) < 2:
        raise ShapeError(f"the operand of {request.opcode} is ((operands), output, ...), found {print_shape(operand)}")
    return operand.elements[1]


ROWS: Final = """
all-gather                | 1+   | collective own       | dimensions                     | @devices constrain_layout use_global_device_ids
all-reduce                | 1+   | collective own       | to_apply                       | @devices constrain_layout use_global_device_ids mode all_reduce_id
all-to-all                | 1+   | collective           |                                | @devices dimensions constrain_layout
collective-broadcast      | 1+   | collective           |                                | @devices has_dynamic_root
collective-permute        | 1+   | collective own       | source_target_pairs            | channel_id slice_sizes
collective-reduce         | 1+   | collective           | to_apply                       | @devices has_dynamic_root constrain_layout use_global_device_ids mode
ragged-all-to-all         | 6    | collective           |                                | @devices dimensions
reduce-scatter            | 1+   | collective           | dimensions to_apply            | @devices constrain_layout use_global_device_ids mode
all-gather-start          | 1+   | collective own >all-gather-done | dimensions          | @devices constrain_layout use_global_device_ids
all-gather-done           | 1    | own                  |                                | @devices use_global_device_ids
all-reduce-start          | 1+   | collective own >all-reduce-done | to_apply            | @devices constrain_layout use_global_device_ids mode all_reduce_id
all-reduce-done           | 1    | own                  |                                | @devices use_global_device_ids
collective-permute-start  | 1+   | collective own >collective-permute-done | source_target_pairs | channel_id slice_sizes
collective-permute-done   | 1    | own                  |                                | channel_id
copy-start                | 1    | own >copy-done       |                                | cross_program_prefetch_index is_cross_program_prefetch
copy-done                 | 1    | own                  |                                |
async-start               | 0+   | composed link own    | calls                          | @thread output_to_operand_aliasing
async-update              | 1+   | composed link own    |                                | @thread calls output_to_operand_aliasing
async-done                | 1+   | composed link own    |                                | @thread calls output_to_operand_aliasing
"""  # noqa: E501
"""The rows of these opcodes, as `models/hlo/opcodes.py` reads them."""

RULES: Final[Mapping[str, Callable[[Request], Shape | None]]] = {
    "all-reduce": all_reduce,
    "all-reduce-start": all_reduce_start,
    "all-reduce-done": all_reduce_done,
    "all-gather": all_gather,
    "reduce-scatter": reduce_scatter,
    "all-to-all": all_to_all,
    "ragged-all-to-all": ragged_all_to_all,
    "collective-broadcast": collective_reduce,
    "collective-reduce": collective_reduce,
    "collective-permute": collective_permute,
    "all-gather-start": pair_start,
    "collective-permute-start": pair_start,
    "all-gather-done": pair_done,
    "collective-permute-done": pair_done,
    "copy-start": copy_start,
    "copy-done": copy_done,
    "async-start": async_state,
    "async-update": async_state,
    "async-done": async_done,
}
"""Their shapes."""
