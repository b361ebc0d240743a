"""Operations that fold: reduce, dot, convolution, reduce-window.

Trusted. Which elements they combine is said in hloproof.elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hloproof.elements import folds
from hloproof.elements.movement import Test
from hloproof.logic.formula import eq, le
from hloproof.models.expressions.expr import Expr, Var, maximum, minimum
from hloproof.models.tensor_rules.rule import Call
from hloproof.tensor_rules.digits import canonical
from hloproof.tensor_rules.operations.arithmetic import ONE, ZERO, Sym, minus, plus, times
from hloproof.tensor_rules.operations.elementwise import check_alike
from hloproof.tensor_rules.operations.meaning import Group, Meaning, RuleIndex, Symbolic, each, held
from hloproof.tensor_rules.terms import App, Cond, Fold, Num, Term

COMBINERS: Final = ("add", "maximum", "minimum", "and", "or", "multiply")
Variables = list[tuple[str, Expr]]


def combiner(m: Meaning, call: Call, a: Symbolic) -> str:
    """What the operation folds with."""
    op = call.word("op")
    if op not in COMBINERS:
        raise m.error(call, f"{call.op} needs op=, one of {', '.join(COMBINERS)}")
    if a.pred != (op in ("and", "or")):
        raise m.error(call, f"op={op} does not go with these elements")
    return op


def over(m: Meaning, sizes: Sequence[Expr], variables: Variables) -> tuple[Expr, ...]:
    """New variables of a fold, one for each size."""
    names = [m.variable("r") for _ in sizes]
    variables += zip(names, sizes, strict=True)
    return tuple(map(Var, names))


def reduce(m: Meaning, call: Call, args: list[Symbolic]) -> Symbolic:
    """The fold over `dims`, with or without an initial scalar."""
    a = args[0]
    dims = m.numbers(call, "dims")
    for d in dims:
        m.group(call, a, d)
    if len(args) > 2 or (len(args) == 2 and args[1].groups):
        raise m.error(call, "reduce takes a tensor and at most one initial scalar")
    op = combiner(m, call, a)
    check_alike(m, call, *zip(call.args, args, strict=True))

    def at(index: RuleIndex) -> Term:
        variables: Variables = []
        inner = [over(m, g.sizes, variables) for d, g in enumerate(a.groups) if d in dims]
        init = args[1].at(()) if len(args) == 2 else None
        return Fold(op, tuple(variables), a.at(folds.reduced(index, inner, dims)), init)

    return Symbolic(tuple(g for d, g in enumerate(a.groups) if d not in dims), at, a.pred)


def _numbers(m: Meaning, call: Call, args: list[Symbolic]) -> list[Symbolic]:
    if any(a.pred for a in args):
        raise m.error(call, f"{call.op} is about numbers here, and has truth values")
    return args


def dot(m: Meaning, call: Call, args: list[Symbolic]) -> Symbolic:
    """Batch dimensions first, then the free ones of the left and of the right."""
    a, b = _numbers(m, call, args)
    contract = m.numbers(call, "lhs_contract", True), m.numbers(call, "rhs_contract", True)
    batch = m.numbers(call, "lhs_batch", True), m.numbers(call, "rhs_batch", True)
    for mine, other in (contract, batch):
        if len(mine) != len(other):
            raise m.error(call, "dot names as many dimensions of the left as of the right")
        for x, y in zip(mine, other, strict=True):
            g, h = m.group(call, a, x), m.group(call, b, y)
            if g.each != h.each:
                raise m.error(call, "dot pairs dimensions of different kinds")
            m.owe(*(eq(s, t) for s, t in zip(g.sizes, h.sizes, strict=True) if s is not t))
    if any(set(c) & set(b) for c, b in zip(contract, batch, strict=True)):
        raise m.error(call, "a dimension of dot is either contracted or a batch dimension")
    free = [
        [d for d in range(len(t.groups)) if d not in contract[k] and d not in batch[k]] for k, t in enumerate((a, b))
    ]
    groups = (*(a.groups[d] for d in batch[0]), *(a.groups[d] for d in free[0]), *(b.groups[d] for d in free[1]))

    def at(index: RuleIndex) -> Term:
        variables: Variables = []
        shared = [over(m, a.groups[d].sizes, variables) for d in contract[0]]
        left, right = folds.contracted(index, shared, batch, contract, (len(a.groups), len(b.groups)))
        return Fold("add", tuple(variables), App("multiply", (a.at(left), b.at(right))))

    return Symbolic(groups, at)


def convolution(m: Meaning, call: Call, args: list[Symbolic]) -> Symbolic:
    """Input [batch, spatial, feature], kernel [spatial, feature, output], both by these places; cross-correlation."""
    a, w = _numbers(m, call, args)
    if len(a.groups) != 3 or len(w.groups) != 3:
        raise m.error(call, "convolution takes [batch, spatial, feature] and [spatial, feature, output]")
    spatial, window = a.groups[1], w.groups[0]
    if spatial.each != window.each or a.groups[2].each != w.groups[1].each:
        raise m.error(call, "convolution pairs dimensions of different kinds")
    m.owe(*(eq(s, t) for s, t in zip(a.groups[2].sizes, w.groups[1].sizes, strict=True) if s is not t))
    one = (spatial,)
    stride, low = m.listed(call, "stride", one, 1)[0], m.listed(call, "low", one, 0)[0]
    high = m.listed(call, "high", one, 0)[0]
    base, dilation = m.listed(call, "base_dilation", one, 1)[0], m.listed(call, "dilation", one, 1)[0]
    sizes = []
    for n, k, s, lo, hi, p, q in zip(spatial.sizes, window.sizes, stride, low, high, base, dilation, strict=True):
        m.owe(le(1, s), le(1, p), le(1, q))
        padded = plus(plus(dilated(n, p), lo), hi)
        m.owe(le(0, padded), le(1, k))
        sizes.append(windows(padded, dilated(k, q), s))

    def at(index: RuleIndex) -> Term:
        tests: list[Test[Sym]] = []
        source: list[Expr] = []
        variables: Variables = []
        inside = over(m, window.sizes, variables)
        for x, v, n, s, lo, p, q in zip(index[1], inside, spatial.sizes, stride, low, base, dilation, strict=True):
            place, reads = folds.windowed(Sym(x), Sym(v), Sym(n), Sym(s), Sym(q), Sym(lo), Sym(p))
            source.append(canonical(place.e))
            tests += reads
        feature = over(m, a.groups[2].sizes, variables)
        read = Cond(held(tests), a.at((index[0], tuple(source), feature)), Num(ZERO))
        return Fold("add", tuple(variables), App("multiply", (read, w.at((inside, feature, index[2])))))

    return Symbolic((a.groups[0], Group(tuple(sizes), spatial.each), w.groups[2]), at)


def dilated(n: Expr, step: Expr) -> Expr:
    """How far `n` elements reach that stand `step` apart."""
    return n if step is ONE else plus(times(maximum(n - 1, 0), step), minimum(n, 1))


def windows(length: Expr, reach: Expr, stride: Expr) -> Expr:
    """How many windows fit."""
    if stride is ONE:
        return maximum(0, plus(minus(length, reach), 1))
    return maximum(0, (minus(length, reach) // stride) + 1)


def reduce_window(m: Meaning, call: Call, args: list[Symbolic]) -> Symbolic:
    """Without padding and dilation."""
    (a,) = args
    op = combiner(m, call, a)
    extents, strides = m.listed(call, "size", a.groups), m.listed(call, "stride", a.groups, 1)
    sizes = []
    for g, window, stride in zip(a.groups, extents, strides, strict=True):
        for w, s in zip(window, stride, strict=True):
            m.owe(le(1, w), le(1, s))
        sizes.append(tuple(windows(n, w, s) for n, w, s in zip(g.sizes, window, stride, strict=True)))

    def at(index: RuleIndex) -> Term:
        variables: Variables = []
        source = []
        for xs, window, stride in zip(index, extents, strides, strict=True):
            row = []
            for x, w, s in zip(xs, window, stride, strict=True):
                (v,) = (ZERO,) if w is ONE else over(m, (w,), variables)
                row.append(plus(times(x, s), v))
            source.append(tuple(row))
        return Fold(op, tuple(variables), a.at(tuple(source)))

    return Symbolic(each(a.groups, sizes), at, a.pred)
