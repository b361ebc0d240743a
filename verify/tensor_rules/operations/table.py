"""The table of operations: how each is read, and with which attributes.

Trusted. Written from the operations' meaning; tests hold it against the executable path at random sizes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from hloproof.models.expressions.expr import Const
from hloproof.models.tensor_rules.rule import Call, Infinity, Name, NumberLiteral, Tensor
from hloproof.tensor_rules.operations import collectives, dynamic, folds, movement
from hloproof.tensor_rules.operations.elementwise import elementwise
from hloproof.tensor_rules.operations.meaning import Meaning, Symbolic, flat
from hloproof.tensor_rules.terms import App, Elem, Num


@dataclass(frozen=True)
class OperationRow:
    """How one is read: `operands` 0 for any number."""

    meaning: Callable[[Meaning, Call, list[Symbolic]], Symbolic]
    operands: int
    attributes: frozenset[str]


def _names(*names: str) -> frozenset[str]:
    return frozenset(names)


OPERATIONS: Final[dict[str, OperationRow]] = {
    "concatenate": OperationRow(movement.concatenate, 0, _names("dim")),
    "slice": OperationRow(movement.slice_, 1, _names("start", "limit", "stride")),
    "pad": OperationRow(movement.pad, 2, _names("low", "high", "interior")),
    "reverse": OperationRow(movement.reverse, 1, _names("dims")),
    "transpose": OperationRow(movement.transpose, 1, _names("dims")),
    "broadcast": OperationRow(movement.broadcast, 1, _names("shape", "dims")),
    "reshape": OperationRow(movement.reshape, 1, _names("shape")),
    "bitcast": OperationRow(movement.reshape, 1, _names("shape")),
    "iota": OperationRow(movement.iota, 0, _names("shape", "dim")),
    "constant": OperationRow(movement.constant, 0, _names("value")),
    "dynamic-slice": OperationRow(dynamic.dynamic_slice, 1, _names("start", "size")),
    "dynamic-update-slice": OperationRow(dynamic.dynamic_update_slice, 2, _names("start")),
    "gather": OperationRow(dynamic.dynamic_slice, 1, _names("start", "size")),
    "scatter": OperationRow(dynamic.scatter, 2, _names("start")),
    "reduce": OperationRow(folds.reduce, 0, _names("dims", "op")),
    "dot": OperationRow(folds.dot, 2, _names("lhs_contract", "rhs_contract", "lhs_batch", "rhs_batch")),
    "convolution": OperationRow(folds.convolution, 2, _names("stride", "low", "high", "base_dilation", "dilation")),
    "reduce-window": OperationRow(folds.reduce_window, 1, _names("size", "stride", "op")),
    "all-reduce": OperationRow(collectives.all_reduce, 1, _names("op")),
    "all-gather": OperationRow(collectives.all_gather, 1, _names("dim")),
    "reduce-scatter": OperationRow(collectives.reduce_scatter, 1, _names("dim", "op")),
    "all-to-all": OperationRow(collectives.all_to_all, 1, _names("dim")),
    "collective-permute": OperationRow(collectives.collective_permute, 1, _names("shift")),
}
"""Operations that are not elementwise. `bitcast` keeps the row-major position, as between default layouts."""
COLLECTIVES: Final = _names("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute")


def read(m: Meaning, node: Tensor) -> Symbolic:
    """The tensor that a side stands for.

    Raises InputError for what is no operation, or an operation that does not fit its operands.
    """
    match node:
        case NumberLiteral(value, truth):
            return Symbolic((), lambda _: Num(Const(value)), truth)
        case Infinity(negative):
            return Symbolic((), lambda _: App("infinity", (), "-" if negative else "+"))
        case Name(name):
            return _declared(m, name)
        case Call():
            args = [read(m, a) for a in node.args]
            numbers = [e for _, value in node.attributes if not isinstance(value, str) for e in value]
            m.owe(*(d for e in numbers for d in m.defined(e)))
            found = OPERATIONS.get(node.op)
            if found is None:
                return elementwise(m, node, args)
            for key, _ in node.attributes:
                if key not in found.attributes:
                    names = ", ".join(sorted(found.attributes)) or "none"
                    raise m.error(node, f"{node.op} has no attribute {key!r}; it has: {names}")
            if found.operands and len(args) != found.operands:
                raise m.error(node, f"{node.op} takes {found.operands} operands, not {len(args)}")
            if not found.operands and node.op == "reduce" and not args:
                raise m.error(node, "reduce takes a tensor")
            return found.meaning(m, node, args)


def _declared(m: Meaning, name: str) -> Symbolic:
    pred = name in m.rule.predicates
    if m.devices is None:
        return Symbolic(m.shapes[name], lambda at: Elem(name, flat(at), pred), pred)
    return Symbolic(m.shapes[name], lambda at: Elem(name, (m.device, *flat(at)), pred), pred)
