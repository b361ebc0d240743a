"""Operations that move elements: every output element is an operand element, or the padding value."""

from __future__ import annotations

from itertools import accumulate

from hloproof.definitions.definition import Definition
from hloproof.definitions.variables import d, identity, linear, operand_array, output_array, require_static, x
from hloproof.logic.formula import Formula, conj, disj, eq, lt, ne
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import PaddingDimension, SliceDimension
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.remembered import remembered

_NO_PADDING = PaddingDimension(0, 0, 0)


def copy(op: Operation, output: int, operand: int) -> Definition:
    """Output element d is operand element d, whatever the layouts."""
    out, into = output_array(op, output), operand_array(op, operand)
    if into.dimensions != out.dimensions:
        raise NotModelled(f"{op.opcode} of {into.dimensions} into {out.dimensions}")
    return Definition("moves", out.dimensions, into.dimensions, identity(out.rank))


def broadcast(op: Operation, output: int, operand: int) -> Definition:
    """Operand dimension j lies along output dimension dimensions[j]; along the others the operand is repeated."""
    out, into = output_array(op, output), operand_array(op, operand)
    along = op.attributes.integers("dimensions")
    if len(set(along)) != into.rank or tuple(out.dimensions[i] for i in along) != into.dimensions:
        raise NotModelled(f"broadcast of {into.dimensions} into {out.dimensions} along {along}")
    parts = [eq(x(j), d(i)) for j, i in enumerate(along)]
    return Definition("moves", out.dimensions, into.dimensions, conj(*parts))


def transpose(op: Operation, output: int, operand: int) -> Definition:
    """Output dimension i is operand dimension dimensions[i]."""
    out, into = output_array(op, output), operand_array(op, operand)
    permutation = op.attributes.integers("dimensions")
    if sorted(permutation) != list(range(out.rank)):
        raise NotModelled(f"transpose by {permutation}")
    return Definition(
        "moves", out.dimensions, into.dimensions, conj(*(eq(d(i), x(j)) for i, j in enumerate(permutation)))
    )


def reverse(op: Operation, output: int, operand: int) -> Definition:
    """Along the given dimensions, of n elements, element i comes from n - 1 - i."""
    out, into = output_array(op, output), operand_array(op, operand)
    turned = op.attributes.integers("dimensions")
    require_static("reverse", into, turned)
    parts = [eq(d(i) + x(i), n - 1) if i in turned else eq(d(i), x(i)) for i, n in enumerate(into.dimensions)]
    return Definition("moves", out.dimensions, into.dimensions, conj(*parts))


def reshape(op: Operation, output: int, operand: int) -> Definition:
    """The row-major position is kept."""
    out, into = output_array(op, output), operand_array(op, operand)
    if (out.is_dynamic or into.is_dynamic) and out.dimensions != into.dimensions:
        raise NotModelled("reshape with dynamic dimensions")
    if out.elements != into.elements:
        raise NotModelled(f"reshape of {into.elements} elements into {out.elements}")
    position_out = linear([d(i) for i in range(out.rank)], out.dimensions)
    position_in = linear([x(j) for j in range(into.rank)], into.dimensions)
    return Definition("moves", out.dimensions, into.dimensions, eq(position_out, position_in))


def slice_(op: Operation, output: int, operand: int) -> Definition:
    """Output element i is operand element start + i * stride, dimension by dimension."""
    out, into = output_array(op, output), operand_array(op, operand)
    parts: list[Formula] = []
    for i, bounds in enumerate(_slice_dimensions(op)):
        parts.append(eq(x(i), d(i) * bounds.stride + bounds.start))
    if len(parts) != out.rank:
        raise NotModelled("slice without one entry per dimension")
    return Definition("moves", out.dimensions, into.dimensions, conj(*parts))


@remembered
def _ends(op: Operation) -> tuple[list[int], int]:
    """Where each operand of a concatenate ends along its dimension, and how many at the beginning have static sizes
    there."""
    (axis,) = op.attributes.integers("dimensions")
    shapes = [operand_array(op, k) for k in range(len(op.operands))]
    static = next((k for k, s in enumerate(shapes) if s.dynamic and s.dynamic[axis]), len(shapes))
    return list(accumulate(s.dimensions[axis] for s in shapes)), static


def concatenate(op: Operation, output: int, operand: int) -> Definition:
    """Operand k starts, along the dimension, where the operands before it end."""
    out, into = output_array(op, output), operand_array(op, operand)
    (axis,) = op.attributes.integers("dimensions")
    ends, static = _ends(op)
    if operand > static:
        require_static("concatenate", operand_array(op, static), (axis,))
    offset = ends[operand - 1] if operand else 0
    parts = [eq(d(i), x(i) + offset) if i == axis else eq(d(i), x(i)) for i in range(out.rank)]
    return Definition("moves", out.dimensions, into.dimensions, conj(*parts))


def pad(op: Operation, output: int, operand: int) -> Definition:
    """Operand element x stands at low + x * (interior + 1); what no element lands on is the padding value.

    Interior padding comes first, then the edges; a negative edge removes positions, be they elements or holes.
    """
    out, into = output_array(op, output), operand_array(op, 0)
    padding = _padding_dimensions(op)
    if len(padding) != out.rank:
        raise NotModelled("pad without one entry per dimension")
    require_static("pad", into, [i for i, p in enumerate(padding) if p != _NO_PADDING])
    if operand == 0:
        parts = [eq(d(i), x(i) * (p.interior + 1) + p.low) for i, p in enumerate(padding)]
        return Definition("moves", out.dimensions, into.dimensions, conj(*parts))
    if operand_array(op, operand).rank:
        raise NotModelled("a padding value that is no scalar")
    holes: list[Formula] = []
    for i, (p, n) in enumerate(zip(padding, into.dimensions, strict=True)):
        step = p.interior + 1
        holes += [lt(d(i), p.low), lt((n - 1) * step + p.low, d(i))]
        if p.interior:
            holes.append(ne((d(i) - p.low) % step, 0))
    return Definition("moves", out.dimensions, (), disj(*holes))


def _slice_dimensions(op: Operation) -> tuple[SliceDimension, ...]:
    value = op.attributes.get("slice")
    if not isinstance(value, tuple):
        raise NotModelled("slice without bounds")
    return tuple(v for v in value if isinstance(v, SliceDimension))


def _padding_dimensions(op: Operation) -> tuple[PaddingDimension, ...]:
    value = op.attributes.get("padding")
    if not isinstance(value, tuple):
        return ()
    return tuple(v for v in value if isinstance(v, PaddingDimension))
