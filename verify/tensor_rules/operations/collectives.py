"""Operations among all devices of a rule: each tensor has its elements on every device.

Trusted. Device d of the group is d itself; `devices p` says how many there are.
"""

from __future__ import annotations

from hloproof.logic.formula import eq
from hloproof.models.expressions.expr import Expr
from hloproof.models.tensor_rules.rule import Call
from hloproof.tensor_rules.digits import quotient, remainder
from hloproof.tensor_rules.operations.arithmetic import minus, plus, times
from hloproof.tensor_rules.operations.folds import Variables, combiner, over
from hloproof.tensor_rules.operations.meaning import Group, Meaning, RuleIndex, Symbolic
from hloproof.tensor_rules.terms import Fold, Term


def _devices(m: Meaning, call: Call) -> Expr:
    if m.devices is None:
        raise m.error(call, f"{call.op} is about several devices; say how many: devices p")
    return m.devices


def _along(m: Meaning, call: Call, a: Symbolic) -> tuple[int, Expr]:
    """The dimension named by dim=, and its size."""
    d = m.number(call, "dim")
    if m.group(call, a, d).each:
        raise m.error(call, f"{call.op} goes along one dimension, not along a group")
    return d, a.groups[d].sizes[0]


def _sized(a: Symbolic, d: int, size: Expr) -> tuple[Group, ...]:
    return tuple(Group((size,)) if k == d else g for k, g in enumerate(a.groups))


def _moved(index: RuleIndex, d: int, x: Expr) -> RuleIndex:
    return (*index[:d], (x,), *index[d + 1 :])


def all_reduce(m: Meaning, call: Call, args: list[Symbolic]) -> Symbolic:
    """The element at the same index, folded over the devices."""
    (a,) = args
    count, op = _devices(m, call), combiner(m, call, a)

    def at(index: RuleIndex) -> Term:
        variables: Variables = []
        (device,) = over(m, (count,), variables)
        with m.on(device):
            return Fold(op, tuple(variables), a.at(index))

    return Symbolic(a.groups, at, a.pred)


def all_gather(m: Meaning, call: Call, args: list[Symbolic]) -> Symbolic:
    """Part n of the gathered dimension is the operand on device n."""
    (a,) = args
    count, (d, size) = _devices(m, call), _along(m, call, a)

    def at(index: RuleIndex) -> Term:
        (x,) = index[d]
        with m.on(quotient(x, size)):
            return a.at(_moved(index, d, remainder(x, size)))

    return Symbolic(_sized(a, d, times(size, count)), at, a.pred)


def _part(m: Meaning, size: Expr, count: Expr) -> Expr:
    """What each device has of a dimension that is dealt out."""
    m.owe(eq(remainder(size, count), 0))
    return quotient(size, count)


def reduce_scatter(m: Meaning, call: Call, args: list[Symbolic]) -> Symbolic:
    """The reader's own part of the scattered dimension, folded over the devices."""
    (a,) = args
    count, (d, size), op = _devices(m, call), _along(m, call, a), combiner(m, call, a)
    part = _part(m, size, count)

    def at(index: RuleIndex) -> Term:
        variables: Variables = []
        (x,) = index[d]
        source = plus(times(m.device, part), x)
        (device,) = over(m, (count,), variables)
        with m.on(device):
            return Fold(op, tuple(variables), a.at(_moved(index, d, source)))

    return Symbolic(_sized(a, d, part), at, a.pred)


def all_to_all(m: Meaning, call: Call, args: list[Symbolic]) -> Symbolic:
    """The form of one array: part k of the dimension comes from device k, whose part for this device it is."""
    (a,) = args
    count, (d, size) = _devices(m, call), _along(m, call, a)
    part = _part(m, size, count)

    def at(index: RuleIndex) -> Term:
        (x,) = index[d]
        source = plus(times(m.device, part), remainder(x, part))
        with m.on(quotient(x, part)):
            return a.at(_moved(index, d, source))

    return Symbolic(a.groups, at, a.pred)


def collective_permute(m: Meaning, call: Call, args: list[Symbolic]) -> Symbolic:
    """Every device sends to the one `shift` places on, around the end."""
    (a,) = args
    count, entries = _devices(m, call), call.entries("shift")
    if entries is None or len(entries) != 1 or entries[0].each:
        raise m.error(call, "collective-permute takes shift=, one number")
    shift = entries[0].value

    def at(index: RuleIndex) -> Term:
        with m.on(remainder(minus(m.device, shift), count)):
            return a.at(index)

    return Symbolic(a.groups, at, a.pred)
