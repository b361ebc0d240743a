"""How many dimensions a group `k...` has to be tried with, until more of them bring nothing new.

Trusted. A rule says the same of every member of a group, and conditions are conjunctions over the members: what holds
at some members of a larger group holds at the group of these members alone. So where a rule fails, few members show
it: one at which the element that is read is another, and one for each window that the index has to miss before what
lies below is read. That many dimensions are tried.

It is otherwise where the sizes of a group are multiplied with each other, as by a reshape or a sum over the group: of
16 elements three members have one of size 3 or more, and four need not. There a rule must take groups as wholes. Then
the members may be put together to one dimension of as many elements, by their row-major order: reversals,
transpositions, reshapes and sums are the same of it, and a rule whose elements are equal at rank 1 has equal ones at
every rank. What is demanded of sizes, that two are equal, at rank r is so of a member and of the product of all others:
rank 2 shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from hloproof.models.expressions.expr import Expr, Var
from hloproof.models.tensor_rules.rule import Call, Comparison, GroupEntry, Name, Tensor, TensorRule
from hloproof.tensor_rules.digits import product
from hloproof.tensor_rules.operations.arithmetic import ONE, ZERO
from hloproof.tensor_rules.operations.meaning import Group, Meaning, Symbolic, sizes_of
from hloproof.tensor_rules.operations.table import read

_FEWEST: Final = (1, 0, 2, 3)
"""In the order in which they are tried."""
_MOST: Final = 7
_FOLDS: Final = frozenset({"reduce", "dot", "convolution", "reduce-window", "all-reduce", "reduce-scatter"})


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
    if any(_multiplies(rule, c) for c in rule.calls()) and not _as_one(rule):
        why = "their sizes are multiplied, and bounded, computed or cut one by one"
        return f"groups of more than {max(_FEWEST)} dimensions may be another matter: {why}"
    return ""


def has_groups(rule: TensorRule) -> bool:
    """Whether something of the rule is written with `...`."""
    return any(e.each for e in _entries(rule)) or any(c.each for c in _comparisons(rule))


def _entries(rule: TensorRule) -> list[GroupEntry]:
    return [*(e for _, entries in rule.tensors for e in entries), *rule.indices, *rule.side_entries()]


def _comparisons(rule: TensorRule) -> list[Comparison]:
    return [c for condition in rule.conditions for part in condition.alternatives for c in part]


def _needed(rule: TensorRule) -> int:
    folds = any(c.op in _FOLDS for c in rule.calls())
    return sum(_missed(side, folds) for side in (rule.left, rule.right, *rule.assumed)) + 1


def _missed(node: Tensor, folds: bool) -> int:
    """How many windows an index may have to miss, each along another dimension, on its way to one element; where the
    rule `folds`, on the way to all parts of a concatenation."""
    if not isinstance(node, Call):
        return 0
    below = [_missed(a, folds) for a in node.args]
    match node.op:
        case "pad" if len(below) == 2:  # what misses the operand reads the scalar
            return max(below[0], 1 + below[1])
        case "dynamic-update-slice" | "scatter" if len(below) == 2:
            return max(below[1], 1 + below[0])
        case "concatenate" if not folds:
            return max(below, default=0)
    return sum(below)


def _as_one(rule: TensorRule) -> bool:
    """Whether all members of a group may be put together to one dimension, in row-major order: each operation takes
    groups as wholes, their sizes are any numbers, 0 or 1, and what is demanded of the sizes holds of their products."""
    m = Meaning(rule, 1)
    if not all(_of_products(m, c) for c in _comparisons(rule) if c.each):
        return False
    nodes: list[Tensor] = [*rule.calls(), *(Name(name) for name, _ in rule.tensors)]
    sizes = [s for node in nodes for g in read(m, node).groups if g.each for s in g.sizes]
    return all(s in (ZERO, ONE) or _its_own(m, s) for s in sizes) and all(_takes_wholes(m, c) for c in rule.calls())


def _of_products(m: Meaning, c: Comparison) -> bool:
    """Whether what holds of every member of groups holds of their products."""
    lhs, rhs = m.member(c.lhs, 0), m.member(c.rhs, 0)
    return _its_own(m, rhs) and (c.lhs in (ZERO, ONE) if c.op == "<=" else c.op == "==" and _its_own(m, lhs))


def _takes_wholes(m: Meaning, call: Call) -> bool:
    """Whether nothing is cut off, added, put in or gathered along the members of a group."""
    operands = [read(m, a).groups for a in call.args]
    groups = operands[0] if operands else ()

    def has(name: str, wanted: Callable[[Group], Expr], otherwise: int | None = None) -> bool:
        found = m.listed(call, name, groups, otherwise)
        return all(own == (wanted(g),) for g, own in zip(groups, found, strict=True) if g.each)

    match call.op:
        case "slice":
            return has("start", _zero) and has("limit", _size) and has("stride", _one, 1)
        case "pad":
            return has("low", _zero) and has("high", _zero, 0) and has("interior", _zero, 0)
        case "dynamic-slice" | "gather":
            return has("size", _size)
        case "dynamic-update-slice" | "scatter":
            inside = all(g.sizes == own.sizes for g, own in zip(*operands, strict=True) if g.each)
            return inside and (call.op != "scatter" or has("start", _zero))
        case "reduce-window":
            return has("size", _one) and has("stride", _one, 1)
        case "convolution":
            return not groups[1].each
    return True


def _zero(_: Group) -> Expr:
    return ZERO


def _one(_: Group) -> Expr:
    return ONE


def _size(group: Group) -> Expr:
    return group.sizes[0]


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
            rest = (*source, *result)
            grouped = any(g.each for t in (call.args[0], call) for g in read(m, t).groups)
            # A group that is kept is multiplied as well, where sizes beside it have to be equal: unless it is empty.
            return any(g.each for g in rest) or (grouped and product(sizes_of(source)) != product(sizes_of(result)))
        case "reduce":
            return _grouped(m, call.args[0], m.numbers(call, "dims"))
        case "dot":
            return _grouped(m, call.args[0], m.numbers(call, "lhs_contract", True))
        case "convolution":
            return _grouped(m, call.args[1], (0, 1))
        case "reduce-window":
            windows = m.listed(call, "size", read(m, call.args[0]).groups)
            return _grouped(m, call.args[0], [d for d, own in enumerate(windows) if own != (ONE,)])
    return False


def _long(tensor: Symbolic) -> list[Group]:
    """The dimensions that are not of size 1."""
    return [g for g in tensor.groups if g.each or g.sizes != (ONE,)]


def _grouped(m: Meaning, node: Tensor, dims: Iterable[int]) -> bool:
    """Whether one of these dimensions is a group."""
    groups = read(m, node).groups
    return any(groups[d].each for d in dims)
