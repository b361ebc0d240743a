"""Operations that move elements: every output element is an operand element, or the padding value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Final

from hloproof.definitions.definition import Define, Definition
from hloproof.definitions.run_time_sizes import SizesRead, is_dynamic, require_dynamic
from hloproof.definitions.variables import d, identity, linear, operand_array, output_array, require_static, x
from hloproof.logic.formula import Formula, conj, disj, eq, lt, ne
from hloproof.models.errors import NotModelled
from hloproof.models.expressions.expr import Const, Expr
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


def concatenate(op: Operation, output: int, operand: int) -> Definition:
    """Operand k starts, along the dimension, where the operands before it end: at the sum of their sizes, of which some
    may be known at run time only. Padding behind a dynamic size is not taken."""
    out, into = output_array(op, output), operand_array(op, operand)
    (axis,) = op.attributes.integers("dimensions")
    begins, dynamic = _fixed_begins(op)
    if not dynamic:
        parts = [eq(d(i), x(i) + begins[operand]) if i == axis else eq(d(i), x(i)) for i in range(out.rank)]
        return Definition("moves", out.dimensions, into.dimensions, conj(*parts))
    require_dynamic("concatenate", out, axis)
    sizes = SizesRead(op)
    ends = [sizes.size(k, axis) for k in dynamic]
    offset = _sum_of([e for k, e in zip(dynamic, ends, strict=True) if k < operand], begins[operand])
    parts = [eq(d(i), x(i) + offset) if i == axis else eq(d(i), x(i)) for i in range(out.rank)]
    if operand in dynamic:
        parts.append(lt(x(axis), sizes.size(operand, axis)))
    exists = lt(d(axis), _sum_of(ends, begins[-1]))
    return Definition("moves", out.dimensions, into.dimensions, conj(*parts), runtime=sizes.reads, exists=exists)


@remembered
def _fixed_begins(op: Operation) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """How many places the operands of static sizes take before each operand, and all together; and the numbers of the
    operands whose size is dynamic."""
    (axis,) = op.attributes.integers("dimensions")
    shapes = [operand_array(op, k) for k in range(len(op.operands))]
    dynamic = tuple(k for k, s in enumerate(shapes) if is_dynamic(s, axis))
    static = (0 if is_dynamic(s, axis) else s.dimensions[axis] for s in shapes)
    return tuple(accumulate(static, initial=0)), dynamic


def _sum_of(terms: Sequence[Expr], number: int) -> Expr:
    total: Expr = Const(number)
    for e in terms:
        total = total + e
    return total


def pad(op: Operation, output: int, operand: int) -> Definition:
    """Operand element x stands at low + x * (interior + 1); what no element lands on is the padding value.

    Interior padding comes first, then the edges; a negative edge removes positions, be they elements or holes. Along a
    dynamic dimension the last element is the one before its size, and the high edge follows it.
    """
    out, into = output_array(op, output), operand_array(op, 0)
    padding = _padding_dimensions(op)
    if len(padding) != out.rank:
        raise NotModelled("pad without one entry per dimension")
    sizes = SizesRead(op)
    there: list[Formula] = []
    elements: list[Formula] = []
    holes: list[Formula] = []
    for i, p in enumerate(padding):
        dynamic = is_dynamic(into, i) and p != _NO_PADDING
        n = sizes.size(0, i) if dynamic else into.dimensions[i]
        step = p.interior + 1
        if not isinstance(n, int):
            require_dynamic("pad", out, i)
            elements.append(lt(x(i), n))
            around = p.low + p.high
            some = conj(lt(0, n), lt(d(i), n + (n - 1) * p.interior + around))
            there.append(disj(some, conj(eq(n, 0), lt(d(i), around))))
        holes += [lt(d(i), p.low), lt((n - 1) * step + p.low, d(i))]
        if p.interior:
            holes.append(ne((d(i) - p.low) % step, 0))
    exists = conj(*there)
    if operand == 0:
        parts = [eq(d(i), x(i) * (p.interior + 1) + p.low) for i, p in enumerate(padding)]
        predicate = conj(*parts, *elements, *there)
        return Definition("moves", out.dimensions, into.dimensions, predicate, runtime=sizes.reads, exists=exists)
    if operand_array(op, operand).rank:
        raise NotModelled("a padding value that is no scalar")
    predicate = conj(disj(*holes), *there)
    return Definition("moves", out.dimensions, (), predicate, runtime=sizes.reads, exists=exists)


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


DEFINITIONS: Final[Mapping[str, Define]] = {
    "broadcast": broadcast,
    "concatenate": concatenate,
    "copy": copy,
    "pad": pad,
    "reshape": reshape,
    "reverse": reverse,
    "slice": slice_,
    "transpose": transpose,
}
"""By opcode."""
