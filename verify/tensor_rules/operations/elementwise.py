"""Operations on elements by themselves.

Trusted.
"""

from __future__ import annotations

from typing import Final

from hloproof.models.hlo.opcodes import ELEMENTWISE
from hloproof.models.hlo.opcodes import KNOWN as OPCODES
from hloproof.models.tensor_rules.rule import Call, Infinity, NumberLiteral, Tensor
from hloproof.tensor_rules.operations.meaning import Meaning, Symbolic
from hloproof.tensor_rules.scalar_operations import FUNCTIONS, KNOWN
from hloproof.tensor_rules.terms import App


def elementwise(m: Meaning, call: Call, args: list[Symbolic]) -> Symbolic:
    """Known operations on elements, and any other name: a function that nothing is known of. Scalars go with any."""
    if not args:
        raise m.error(call, f"{call.op!r} is no operation that a rule may name, and has no operands")
    if call.op in _WRITTEN_HERE:
        raise m.error(call, f"{call.op} is written {call.op.removeprefix('bitwise-')}, of integers (type integers)")
    if call.op in _OTHER:
        raise m.error(call, f"{call.op} does not go element by element, and no rule can be about it")
    _check_kinds(m, call, args)
    shaped = [a for a in args if a.groups]
    first = shaped[0] if shaped else args[0]
    for n, (node, other) in enumerate(zip(call.args, args, strict=True)):
        written = not other.groups and isinstance(node, NumberLiteral | Infinity)
        if other is not first and not (shaped and (written or (not other.groups and n in _SCALARS.get(call.op, ())))):
            m.same_sizes(call, first, other)
    key = call.word("direction")
    for name, value in call.attributes:
        if name != "direction" or call.op != "compare" or not isinstance(value, str):
            raise m.error(call, f"{call.op} has no attribute {name!r}")
    wanted = ARITY.get(call.op)
    if wanted is not None and wanted != len(args):
        raise m.error(call, f"{call.op} takes {wanted} operands, not {len(args)}")
    if call.op == "compare" and key not in DIRECTIONS:
        raise m.error(call, f"compare needs direction=, one of {', '.join(DIRECTIONS)}")
    op = call.op
    logical = op in ("and", "or", "xor", "not")
    if logical and not all(a.pred or is_either(n) for a, n in zip(args, call.args, strict=True)):
        if m.rule.kinds != ("integers",) or any(a.pred for a in args):
            raise m.error(call, f"{op} takes truth values (pred NAME), or integers only (type integers)")
        op, logical = f"bitwise-{op}", False
    if op.startswith("shift-") and m.rule.kinds != ("integers",):
        raise m.error(call, f"{op} takes integers; say so: type integers")
    if op in FUNCTIONS and m.rule.kinds == ("integers",):
        raise m.error(call, f"{op} is of real numbers, and the rule says: type integers")
    if call.op == "select" and not (args[0].pred or is_either(call.args[0])):
        raise m.error(call, "the first operand of select holds truth values; say so: pred NAME")
    pred = call.op == "compare" or logical or (call.op == "select" and (args[1].pred or args[2].pred))
    return Symbolic(first.groups, lambda at: App(op, tuple(a.at(at if a.groups else ()) for a in args), key), pred)


def is_either(node: Tensor) -> bool:
    """Whether it is 0 or 1, written as a number, which may be meant as false or true."""
    return isinstance(node, NumberLiteral) and not node.truth and node.value in (0, 1)


def check_alike(m: Meaning, call: Call, *operands: tuple[Tensor, Symbolic]) -> None:
    """Raises InputError where some of the operands hold truth values and others numbers."""
    if len({a.pred for node, a in operands if not is_either(node)}) > 1:
        raise m.error(call, f"{call.op} has truth values beside numbers")


def _check_kinds(m: Meaning, call: Call, args: list[Symbolic]) -> None:
    operands = list(zip(call.args, args, strict=True))
    match call.op:
        case "compare":
            check_alike(m, call, *operands)
        case "select":
            check_alike(m, call, *operands[1:])
        case "and" | "or" | "xor" | "not":
            pass
        case op if op in ARITY and any(a.pred for a in args):
            raise m.error(call, f"{op} is about numbers here, and has truth values")


_SCALARS: Final = {"select": (0,), "clamp": (0, 2)}
"""The operands that may be scalars beside arrays, by their numbers."""
_OTHER: Final = OPCODES - ELEMENTWISE - {"copy", "opt-barrier"} | {"map"}
"""Opcodes whose elements are not made of the operands' elements at the same index alone. Other words may be functions
of a rule's own."""
ARITY: Final = {
    **dict.fromkeys(("negate", "abs", "not", "sqrt", "rsqrt", "log", "log-plus-one", "logistic"), 1),
    **dict.fromkeys(("exponential", "exponential-minus-one"), 1),
    **dict.fromkeys(("add", "subtract", "multiply", "divide", "remainder", "power", "maximum", "minimum"), 2),
    **dict.fromkeys(("shift-left", "shift-right-logical", "shift-right-arithmetic"), 2),
    **dict.fromkeys(("compare", "and", "or", "xor"), 2),
    **dict.fromkeys(("clamp", "select"), 3),
}
"""Operations on elements whose meaning is known: numbers without bounds, truth values."""
_WRITTEN_HERE: Final = KNOWN - frozenset(ARITY)
"""What only a proof calls so: a rule's own function of the name would have its meaning."""
DIRECTIONS: Final = ("EQ", "NE", "LT", "LE", "GT", "GE")
