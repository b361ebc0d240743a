"""Operations whose starts are read at run time: clamped to [0, dimension - size], or dropped by scatter.

Trusted.
"""

from __future__ import annotations

from collections.abc import Sequence

from hloproof.elements import movement
from hloproof.logic.formula import Formula, conj, le, lt
from hloproof.models.expressions.expr import Expr
from hloproof.models.tensor_rules.rule import Call
from hloproof.tensor_rules.operations.arithmetic import ZERO, Sym, clamped, minus, plus, syms
from hloproof.tensor_rules.operations.elementwise import check_alike
from hloproof.tensor_rules.operations.meaning import Group, Meaning, RuleIndex, Symbolic, each, placed
from hloproof.tensor_rules.operations.movement import places
from hloproof.tensor_rules.terms import Cond, Term


def _starts(m: Meaning, call: Call, groups: Sequence[Group], windows: Sequence[tuple[Expr, ...]]) -> tuple[Sym, ...]:
    """Clamped; every window is owed to fit."""
    out = []
    for group, start, window in zip(groups, m.listed(call, "start", groups), windows, strict=True):
        for n, s, w in zip(group.sizes, start, window, strict=True):
            m.owe(le(0, w), le(w, n))
            out.append(Sym(ZERO if w is n else clamped(s, minus(n, w))))
    return tuple(out)


def dynamic_slice(m: Meaning, call: Call, args: list[Symbolic]) -> Symbolic:
    """Also gather of one window: `gather(A, start=[i, 0...], size=[1, k...])`; the index is clamped."""
    (a,) = args
    sizes = m.listed(call, "size", a.groups)
    starts = _starts(m, call, a.groups, sizes)
    return Symbolic(each(a.groups, sizes), lambda at: placed(movement.dynamic_slice(places(at), starts), args), a.pred)


def _update(m: Meaning, call: Call, args: list[Symbolic]) -> tuple[Symbolic, Symbolic]:
    a, update = args
    check_alike(m, call, *zip(call.args, args, strict=True))
    if [g.each for g in a.groups] != [g.each for g in update.groups]:
        raise m.error(call, f"the update of {call.op} has as many dimensions as the operand")
    return a, update


def dynamic_update_slice(m: Meaning, call: Call, args: list[Symbolic]) -> Symbolic:
    """The update where the index lies in it, from the clamped start on; the operand elsewhere."""
    a, update = _update(m, call, args)
    starts = _starts(m, call, a.groups, [g.sizes for g in update.groups])
    sizes, window = syms(a.sizes), syms(update.sizes)
    return Symbolic(
        a.groups, lambda at: placed(movement.dynamic_update_slice(places(at), sizes, window, starts), args), a.pred
    )


def scatter(m: Meaning, call: Call, args: list[Symbolic]) -> Symbolic:
    """Of one window: dropped whole where any part of it lies outside, never clamped."""
    a, update = _update(m, call, args)
    starts = m.listed(call, "start", a.groups)

    def at(index: RuleIndex) -> Term:
        tests: list[Formula] = []
        source = []
        for xs, ss, own, group in zip(index, starts, update.groups, a.groups, strict=True):
            source.append(tuple(minus(x, s) for x, s in zip(xs, ss, strict=True)))
            for x, s, w, n in zip(xs, ss, own.sizes, group.sizes, strict=True):
                tests += [le(0, s), le(plus(s, w), n), le(s, x), lt(x, plus(s, w))]
        return Cond(conj(*tests), update.at(tuple(source)), a.at(index))

    for own, group in zip(update.groups, a.groups, strict=True):
        m.owe(*(le(w, n) for w, n in zip(own.sizes, group.sizes, strict=True)))
    return Symbolic(a.groups, at, a.pred)
