"""How many dimensions a group `k...` has to be tried with, until more of them bring nothing new.

Trusted. A rule says the same of every member of a group, and conditions are conjunctions over the members: what holds
at some members of a larger group holds at the group of these members alone. So where a rule fails, few members show it:
one at which the element that is read is another, and one for each window that the index has to miss before what lies
below is read. That many dimensions are tried. It is otherwise where the sizes of a group are multiplied with each
other, as by a reshape or a sum over the group: with two elements along each of its dimensions there are 2, 4, 8, ...,
and what holds of these need not hold of 16. There a rule must let the sizes of the group be any.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from hloproof.logic.formula import Compare, Formula, free_variables
from hloproof.models.expressions.expr import Const, Expr, Var
from hloproof.models.tensor_rules.rule import Call, Comparison, GroupEntry, Name, Tensor, TensorRule
from hloproof.tensor_rules.operations.meaning import Group, Meaning, Symbolic, declared_sizes
from hloproof.tensor_rules.operations.table import read

_FEWEST: Final = (1, 0, 2, 3)
"""In the order in which they are tried."""
_MOST: Final = 7


def ranks(rule: TensorRule) -> tuple[int, ...]:
    """The numbers of dimensions to try; (0,) for a rule without groups."""
    if not has_groups(rule):
        return (0,)
    needed = _needed(rule)
    return (*_FEWEST, *range(max(_FEWEST) + 1, (needed if needed <= _MOST else 0) + 1))


def larger_ranks_open(rule: TensorRule) -> str:
    """Why groups of more dimensions may be another matter; empty where they are not."""
    if not has_groups(rule):
        return ""
    if _needed(rule) > _MOST:
        return f"groups of more than {_MOST} dimensions may be another matter: an index may miss so many windows"
    if not _any_sizes(rule) and any(_multiplies(rule, c) for c in rule.calls()):
        return f"groups of more than {max(_FEWEST)} dimensions may be another matter: their sizes are multiplied"
    return ""


def has_groups(rule: TensorRule) -> bool:
    """Whether something of the rule is written with `...`."""
    return any(e.each for e in _entries(rule)) or any(c.each for c in _comparisons(rule))


def _entries(rule: TensorRule) -> list[GroupEntry]:
    return [*(e for _, entries in rule.tensors for e in entries), *rule.indices, *rule.side_entries()]


def _comparisons(rule: TensorRule) -> list[Comparison]:
    return [c for condition in rule.conditions for part in condition.alternatives for c in part]


def _needed(rule: TensorRule) -> int:
    return sum(map(_missed, (rule.left, rule.right, *rule.assumed))) + 1


def _missed(node: Tensor) -> int:
    """How many windows an index may have to miss, each along another dimension, on its way to one element."""
    if not isinstance(node, Call):
        return 0
    below = [_missed(a) for a in node.args]
    match node.op:
        case "pad":  # what misses the operand reads a scalar
            return max(1, *below)
        case "dynamic-update-slice" | "scatter":
            return max(below[-1], 1 + below[0]) if below else 1
        case "concatenate":
            return max(below, default=0)
    return sum(below)


def _any_sizes(rule: TensorRule) -> bool:
    """Whether nothing says how large the members of a group are, but that they are at least 0 or 1. What a group has
    come to by an operation counts as well: padded by 1, what had one element has two. So does what the operations of
    the left side demand: where [1:2] is taken there are two elements."""
    for c in _comparisons(rule):
        if c.each and not (c.op == "<=" and c.lhs in (Const(0), Const(1)) and isinstance(c.rhs, Var)):
            return False
    m = Meaning(rule, 1)
    for node in (rule.left, *rule.assumed):
        read(m, node)
    if not all(_leaves_open(m, f) for f in (*m.wellformed, *declared_sizes(m))):
        return False
    counted = any(_multiplies(rule, c) for c in rule.calls() if c.op != "reduce-window")
    nodes: list[Tensor] = [*rule.calls(), *(Name(name) for name, _ in rule.tensors)]
    return all(s in (Const(0), Const(1)) or _its_own(m, s) for node in nodes for s in _sizes(m, node, counted))


def _leaves_open(m: Meaning, formula: Formula) -> bool:
    """Whether what is demanded leaves the members of groups any sizes, at rank 1. Sizes may be equal, as those that a
    reshape multiplies are, and windows no larger than what they lie in."""
    if not any(m.member(Var(name), 0).free & free_variables(formula) for name in m.aggregated):
        return True
    match formula:
        case Compare("==") | Compare("<=", Const(0 | 1), Var()):
            return True
        case Compare("<=", lhs, rhs):
            return lhs is rhs or (_its_own(m, lhs) and _its_own(m, rhs))
    return False


def _sizes(m: Meaning, node: Tensor, counted: bool) -> list[Expr]:
    """The sizes of the groups at rank 1. Of windows their own: how many there are is any number where these are, unless
    their number is multiplied (`counted`), as those of windows and places may be too."""
    groups = read(m, node).groups
    windows = isinstance(node, Call) and node.op == "reduce-window" and node.entries("stride") is None
    if isinstance(node, Call) and windows and not counted:
        return [w for g, own in zip(groups, m.listed(node, "size", groups), strict=True) if g.each for w in own]
    return [s for g in groups if g.each for s in g.sizes]


def _its_own(m: Meaning, size: Expr) -> bool:
    """Whether each member of the group has a size of its own by this name, at rank 1."""
    return size in {m.member(Var(name), 0) for name in m.aggregated}


def _multiplies(rule: TensorRule, call: Call) -> bool:
    """Whether the sizes of a group are multiplied with each other: elements are counted, or added up, over a group."""
    m = Meaning(rule, 1)
    match call.op:
        case "reshape" | "bitcast":
            source, result = (_long(read(m, t)) for t in (call.args[0], call))
            while source and result and source[0] == result[0]:
                del source[0], result[0]
            while source and result and source[-1] == result[-1]:
                del source[-1], result[-1]
            return any(g.each for g in (*source, *result))
        case "reduce":
            return _grouped(m, call.args[0], m.numbers(call, "dims"))
        case "dot":
            return _grouped(m, call.args[0], m.numbers(call, "lhs_contract", True))
        case "convolution":
            return _grouped(m, call.args[1], (0, 1))
        case "reduce-window":
            windows = m.listed(call, "size", read(m, call.args[0]).groups)
            return _grouped(m, call.args[0], [d for d, own in enumerate(windows) if own != (Const(1),)])
    return False


def _long(tensor: Symbolic) -> list[Group]:
    """The dimensions that are not of size 1."""
    return [g for g in tensor.groups if g.each or g.sizes != (Const(1),)]


def _grouped(m: Meaning, node: Tensor, dims: Iterable[int]) -> bool:
    """Whether one of these dimensions is a group."""
    groups = read(m, node).groups
    return any(groups[d].each for d in dims)
