"""Operations that move elements, and numbers that are there from the start.

Trusted. What they read is said in hloproof.elements; here stand the sizes of their results, and what HLO demands.
"""

from __future__ import annotations

from collections.abc import Sequence

from hloproof.elements import movement
from hloproof.logic.formula import eq, le
from hloproof.models.expressions.expr import Expr, maximum
from hloproof.models.tensor_rules.rule import Call
from hloproof.tensor_rules.digits import product
from hloproof.tensor_rules.operations.arithmetic import ONE, ZERO, Sym, minus, plus, syms, times
from hloproof.tensor_rules.operations.elementwise import check_alike
from hloproof.tensor_rules.operations.meaning import (
    Group,
    Meaning,
    RuleIndex,
    Symbolic,
    each,
    flat,
    placed,
    regrouped,
    sizes_of,
)
from hloproof.tensor_rules.terms import Num, Term


def places(index: RuleIndex) -> tuple[Sym, ...]:
    """The index as the numbers that `elements` computes with, one for each dimension."""
    return syms(flat(index))


def dimensions(groups: Sequence[Group], numbers: Sequence[int]) -> list[int]:
    """Numbers of groups as numbers of dimensions."""
    first = [sum(len(g.sizes) for g in groups[:n]) for n in range(len(groups))]
    return [d for n in numbers for d in range(first[n], first[n] + len(groups[n].sizes))]


def concatenate(m: Meaning, call: Call, args: list[Symbolic]) -> Symbolic:
    """Owes that sizes are equal in all dimensions but `dim`, which is no group."""
    d = m.number(call, "dim")
    if not args or any(len(a.groups) != len(args[0].groups) for a in args):
        raise m.error(call, "concatenate takes tensors of as many dimensions")
    if m.group(call, args[0], d).each:
        raise m.error(call, "concatenate goes along one dimension, not along a group")
    check_alike(m, call, *zip(call.args, args, strict=True))
    total: Expr = ZERO
    starts = []
    for a in args:
        for n, (x, y) in enumerate(zip(args[0].groups, a.groups, strict=True)):
            if x.each != y.each:
                raise m.error(call, "the operands of concatenate have other dimensions")
            if n != d:
                m.owe(*(eq(s, t) for s, t in zip(x.sizes, y.sizes, strict=True) if s is not t))
        starts.append(Sym(total))
        total = plus(total, a.groups[d].sizes[0])
    (along,) = dimensions(args[0].groups, (d,))
    groups = list(args[0].groups)
    groups[d] = Group((total,))
    return Symbolic(
        tuple(groups), lambda at: placed(movement.concatenate(places(at), along, starts), args), args[0].pred
    )


def slice_(m: Meaning, call: Call, args: list[Symbolic]) -> Symbolic:
    """Owes 0 <= start <= limit <= size and 1 <= stride in each dimension."""
    (a,) = args
    starts = m.listed(call, "start", a.groups)
    limits = m.listed(call, "limit", a.groups)
    strides = m.listed(call, "stride", a.groups, 1)
    sizes = []
    for group, start, limit, stride in zip(a.groups, starts, limits, strides, strict=True):
        row = []
        for n, s, t, p in zip(group.sizes, start, limit, stride, strict=True):
            m.owe(le(0, s), le(s, t), le(t, n), le(1, p))
            row.append(minus(t, s) if p is ONE else minus(t, s).ceildiv(p))
        sizes.append(tuple(row))
    begins, steps = syms(flat(tuple(starts))), syms(flat(tuple(strides)))
    return Symbolic(each(a.groups, sizes), lambda at: placed(movement.slice_(places(at), begins, steps), args), a.pred)


def pad(m: Meaning, call: Call, args: list[Symbolic]) -> Symbolic:
    """Owes that interiors, and the sizes that come out, are not negative."""
    a, filler = args
    if filler.groups:
        raise m.error(call, "the second operand of pad is a scalar")
    check_alike(m, call, *zip(call.args, args, strict=True))
    lows, highs = m.listed(call, "low", a.groups), m.listed(call, "high", a.groups, 0)
    interiors = m.listed(call, "interior", a.groups, 0)
    sizes = []
    for group, low, high, interior in zip(a.groups, lows, highs, interiors, strict=True):
        row = []
        for n, lo, hi, between in zip(group.sizes, low, high, interior, strict=True):
            holes = times(between, maximum(n - 1, 0)) if between is not ZERO else ZERO
            size = plus(plus(plus(n, holes), lo), hi)
            m.owe(le(0, between), le(0, size))
            row.append(size)
        sizes.append(tuple(row))
    low_ends, gaps = syms(flat(tuple(lows))), syms(flat(tuple(interiors)))
    return Symbolic(
        each(a.groups, sizes), lambda at: placed(movement.pad(places(at), syms(a.sizes), low_ends, gaps), args), a.pred
    )


def reverse(m: Meaning, call: Call, args: list[Symbolic]) -> Symbolic:
    """The dimensions `dims` from the last index to the first."""
    (a,) = args
    turned = m.numbers(call, "dims")
    for d in turned:
        m.group(call, a, d)
    dims = dimensions(a.groups, turned)
    return Symbolic(a.groups, lambda at: placed(movement.reverse(places(at), syms(a.sizes), dims), args), a.pred)


def transpose(m: Meaning, call: Call, args: list[Symbolic]) -> Symbolic:
    """Dimension i of the result is dimension `dims[i]` of the operand."""
    (a,) = args
    order = m.numbers(call, "dims")
    if sorted(order) != list(range(len(a.groups))):
        raise m.error(call, "dims of transpose names each dimension of the operand once")
    dims = dimensions(a.groups, order)
    return Symbolic(
        tuple(a.groups[d] for d in order), lambda at: placed(movement.transpose(places(at), dims), args), a.pred
    )


def broadcast(m: Meaning, call: Call, args: list[Symbolic]) -> Symbolic:
    """Dimension i of the operand is dimension `dims[i]` of `shape`; owes that their sizes are equal."""
    (a,) = args
    groups = m.shape(call)
    order = m.numbers(call, "dims", optional=True)
    if len(order) != len(a.groups):
        raise m.error(call, f"dims of broadcast has {len(order)} entries, the operand {len(a.groups)} dimensions")
    if any(p >= len(groups) or groups[p].each != g.each for p, g in zip(order, a.groups, strict=True)):
        raise m.error(call, "dims of broadcast names dimensions of the shape")
    for p, g in zip(order, a.groups, strict=True):
        m.owe(*(eq(x, y) for x, y in zip(groups[p].sizes, g.sizes, strict=True) if x is not y))
    m.owe(*(le(0, s) for s in sizes_of(groups)))
    dims = dimensions(groups, order)
    return Symbolic(groups, lambda at: placed(movement.broadcast(places(at), dims), args), a.pred)


def reshape(m: Meaning, call: Call, args: list[Symbolic]) -> Symbolic:
    """Owes that there are as many elements, and sizes that are not negative."""
    (a,) = args
    groups = m.shape(call)
    sizes = sizes_of(groups)
    m.owe(eq(product(a.sizes), product(sizes)))
    m.owe(*(le(0, s) for s in sizes))
    return Symbolic(groups, lambda at: a.at(regrouped(reshaped(flat(at), sizes, a.sizes), a.groups)), a.pred)


def reshaped(at: Sequence[Expr], sizes: Sequence[Expr], source: Sequence[Expr]) -> list[Expr]:
    """The index under sizes `source` of the element at `at` under `sizes`, row-major.

    Dimensions of size 1 have index 0. Leading and trailing dimensions that are written alike are kept; what lies
    between goes through the position.
    """
    mine = [(x, n) for x, n in zip(at, sizes, strict=True) if n is not ONE]
    left = [k for k, n in enumerate(source) if n is not ONE]
    out: list[Expr] = [ZERO] * len(source)
    while mine and left and mine[0][1] is source[left[0]]:
        out[left.pop(0)] = mine.pop(0)[0]
    while mine and left and mine[-1][1] is source[left[-1]]:
        out[left.pop()] = mine.pop()[0]
    position = movement.row_major(syms([x for x, _ in mine]), syms([n for _, n in mine]), Sym(ZERO))
    for k, x in zip(left, movement.unravel(position, syms([source[k] for k in left])), strict=True):
        out[k] = x.e
    return out


def iota(m: Meaning, call: Call, args: list[Symbolic]) -> Symbolic:
    """The index along `dim`; owes sizes that are not negative."""
    groups = m.shape(call)
    d = m.number(call, "dim")
    if args or d >= len(groups) or groups[d].each:
        raise m.error(call, "iota takes no operands, and dim= names one dimension of shape=")
    m.owe(*(le(0, s) for g in groups for s in g.sizes))
    return Symbolic(groups, lambda at: Num(at[d][0]))


def constant(m: Meaning, call: Call, args: list[Symbolic]) -> Symbolic:
    """A scalar that holds an integer of the rule."""
    entries = call.entries("value")
    if args or entries is None or len(entries) != 1 or entries[0].each:
        raise m.error(call, "constant takes value=, one number")
    value: Term = Num(entries[0].value)
    return Symbolic((), lambda _: value)
