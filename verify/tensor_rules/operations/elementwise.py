"""Operations on elements by themselves.

Trusted.
"""

from __future__ import annotations

from typing import Final

from hloproof.models.tensor_rules.rule import Call, Infinity, NumberLiteral
from hloproof.tensor_rules.operations.meaning import Meaning, Symbolic
from hloproof.tensor_rules.terms import App


def elementwise(m: Meaning, call: Call, args: list[Symbolic]) -> Symbolic:
    """Known operations on elements, and any other name: a function that nothing is known of. Scalars go with any."""
    if not args:
        raise m.error(call, f"{call.op!r} is no operation that a rule may name, and has no operands")
    shaped = [a for a in args if a.groups]
    first = shaped[0] if shaped else args[0]
    scalars = call.op in ("select", "clamp")
    for other in args:
        if other is not first and (other.groups or (shaped and not scalars)):
            if not other.groups and shaped and isinstance(call.args[args.index(other)], NumberLiteral | Infinity):
                continue
            m.same_sizes(call, first, other)
    key = call.word("direction")
    for name, value in call.attributes:
        if name != "direction" or not isinstance(value, str):
            raise m.error(call, f"{call.op} has no attribute {name!r}")
    wanted = ARITY.get(call.op)
    if wanted is not None and wanted != len(args):
        raise m.error(call, f"{call.op} takes {wanted} operands, not {len(args)}")
    if call.op == "compare" and key not in DIRECTIONS:
        raise m.error(call, f"compare needs direction=, one of {', '.join(DIRECTIONS)}")
    op = call.op
    logical = op in ("and", "or", "xor", "not")
    if logical and not all(a.pred or isinstance(n, NumberLiteral) for a, n in zip(args, call.args, strict=True)):
        if m.rule.kinds != ("integers",) or any(a.pred for a in args):
            raise m.error(call, f"{op} takes truth values (pred NAME), or integers only (type integers)")
        op, logical = f"bitwise-{op}", False
    if op.startswith("shift-") and m.rule.kinds != ("integers",):
        raise m.error(call, f"{op} takes integers; say so: type integers")
    if call.op == "select" and not (args[0].pred or isinstance(call.args[0], NumberLiteral)):
        raise m.error(call, "the first operand of select holds truth values; say so: pred NAME")
    pred = call.op == "compare" or logical or (call.op == "select" and args[1].pred)
    return Symbolic(first.groups, lambda at: App(op, tuple(a.at(at if a.groups else ()) for a in args), key), pred)


ARITY: Final = {
    **dict.fromkeys(("negate", "abs", "not", "sqrt", "rsqrt", "log", "log-plus-one", "logistic"), 1),
    **dict.fromkeys(("exponential", "exponential-minus-one"), 1),
    **dict.fromkeys(("add", "subtract", "multiply", "divide", "remainder", "power", "maximum", "minimum"), 2),
    **dict.fromkeys(("shift-left", "shift-right-logical", "shift-right-arithmetic"), 2),
    **dict.fromkeys(("compare", "and", "or", "xor"), 2),
    **dict.fromkeys(("clamp", "select"), 3),
}
"""Operations on elements whose meaning is known: numbers without bounds, truth values."""
DIRECTIONS: Final = ("EQ", "NE", "LT", "LE", "GT", "GE")
