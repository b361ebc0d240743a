"""Shapes of tuples, calls, control flow, tokens and data transfer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from hloproof.models.hlo.attributes import ComputationRef
from hloproof.models.hlo.inference.common import Request, ShapeError, Signature
from hloproof.models.hlo.shape import ArrayShape, Shape, TokenShape, TupleShape
from hloproof.models.hlo.text.lexer import Scanner
from hloproof.models.hlo.text.shapes import print_shape, read_shape

_TOKEN = TokenShape()


def tuple_(request: Request) -> Shape:
    """The tuple of the operands' shapes."""
    return TupleShape(request.operands)


def get_tuple_element(request: Request) -> Shape:
    """The element number `index`, counted from 0."""
    operand = request.operands[0]
    index = request.attributes.get("index")
    if not isinstance(index, int):
        raise ShapeError("get-tuple-element needs index=")
    if not isinstance(operand, TupleShape):
        raise ShapeError(f"the operand of get-tuple-element must be a tuple, but is {print_shape(operand)}")
    if not 0 <= index < len(operand.elements):
        raise ShapeError(f"get-tuple-element: index {index} out of bounds of a tuple of {len(operand.elements)}")
    return operand.elements[index]


def same_as_operand(request: Request) -> Shape:
    """The shape of the first operand."""
    return request.operands[0]


def opt_barrier(request: Request) -> Shape:
    """One operand of any shape."""
    return request.operands[0]


def after_all(request: Request) -> Shape:
    """A token."""
    return _TOKEN


def add_dependency(request: Request) -> Shape:
    """The shape of the first operand; the second is a token."""
    if not isinstance(request.operands[1], TokenShape):
        raise ShapeError("the second operand of add-dependency is a token")
    return request.operands[0]


def infeed(request: Request) -> Shape | None:
    """As declared: a tuple that is not empty."""
    shape = request.declared
    if not isinstance(shape, TupleShape) or not shape.elements:
        raise ShapeError("infeed must have a non-empty tuple shape, (data, token[])")
    return None


def outfeed(request: Request) -> Shape:
    """A token."""
    return _TOKEN


def send(request: Request) -> Shape | None:
    """(operand, context, token)."""
    if not isinstance(request.operands[1], TokenShape):
        raise ShapeError("the second operand of send is a token")
    return _transfer_tuple(request)


def recv(request: Request) -> Shape | None:
    """(data, context, token)."""
    if not isinstance(request.operands[0], TokenShape):
        raise ShapeError("the operand of recv is a token")
    return _transfer_tuple(request)


def _transfer_tuple(request: Request) -> Shape | None:
    shape = request.declared
    if not isinstance(shape, TupleShape) or len(shape.elements) != 3:
        shown = "nothing" if shape is None else print_shape(shape)
        raise ShapeError(f"{request.opcode} gives (data, context, token[]), found {shown}")
    data = request.operands[0] if request.opcode == "send" else shape.elements[0]
    return TupleShape((data, shape.elements[1], _TOKEN))


def send_done(request: Request) -> Shape | None:
    """A token. A declared tuple is left to the claims about chains: loops that carry a send write it so."""
    return None if isinstance(request.declared, TupleShape) else _TOKEN


def recv_done(request: Request) -> Shape | None:
    """(data, token) of the operand's (data, context, token)."""
    operand = request.operands[0]
    if not isinstance(operand, TupleShape) or len(operand.elements) != 3:
        raise ShapeError(f"the operand of recv-done is (data, context, token[]), found {print_shape(operand)}")
    declared = request.declared
    if isinstance(declared, TupleShape) and len(declared.elements) == 2 and declared.elements[1] == _TOKEN:
        return None  # whether the data is what the recv returns is a claim about the chain
    return TupleShape((operand.elements[0], _TOKEN))


def _check_call(request: Request, callee: Signature, operands: tuple[Shape, ...], what: str, exact: bool) -> None:
    """Each parameter takes its operand. Without `exact` further operands may be left over."""
    if len(callee.parameters) > len(operands) or (exact and len(callee.parameters) != len(operands)):
        raise ShapeError(
            f"{request.opcode} passes {len(operands)} operands to {what}, which has {len(callee.parameters)} parameters"
        )
    for i, (parameter, operand) in enumerate(zip(callee.parameters, operands, strict=False)):
        if parameter is not operand and not request.compatible(parameter, operand):
            raise ShapeError(
                f"{request.opcode} passes {print_shape(operand)} as parameter {i} of {what}, "
                f"which is {print_shape(parameter)}"
            )


def _named(request: Request, *names: str) -> tuple[str, Signature]:
    for name in names:
        value = request.attributes.get(name)
        if isinstance(value, ComputationRef):
            return value.name, request.signatures[value.name]
    raise ShapeError(f"{request.opcode} needs {names[0]}=")


def call(request: Request) -> Shape:
    """The result of the computation that is called, whose parameters fit the operands exactly."""
    name, callee = _named(request, "to_apply")
    _check_call(request, callee, request.operands, name, exact=True)
    return callee.result


def fusion(request: Request) -> Shape:
    """Operands beyond the parameters are tolerated, as upstream's verifier does."""
    name, callee = _named(request, "calls")
    _check_call(request, callee, request.operands, name, exact=False)
    return callee.result


def while_(request: Request) -> Shape:
    """The shape of the state, which condition and body take and the body gives back."""
    state = request.operands
    condition_name, condition = _named(request, "condition")
    body_name, body = _named(request, "body")
    _check_call(request, condition, state, condition_name, exact=True)
    _check_call(request, body, state, body_name, exact=True)
    if not _is_predicate(condition.result):
        raise ShapeError(f"the condition of while gives pred[], found {print_shape(condition.result)}")
    if not request.compatible(body.result, state[0]):
        raise ShapeError(
            f"the body of while gives {print_shape(body.result)}, but its state is {print_shape(state[0])}"
        )
    return state[0]


def _is_predicate(shape: Shape) -> bool:
    return isinstance(shape, ArrayShape) and shape.element_type == "pred" and not shape.dimensions


def conditional(request: Request) -> Shape:
    """One selector, then one operand per branch."""
    listed = request.attributes.get("branch_computations")
    names: list[str] = []
    if isinstance(listed, tuple):
        names = [value.name for value in listed if isinstance(value, ComputationRef)]
    else:
        names = [_named(request, which)[0] for which in ("true_computation", "false_computation")]
    selector = request.array(0)
    if selector.dimensions or selector.element_type not in ("pred", "s32"):
        raise ShapeError(f"the selector of conditional is pred[] or s32[], found {print_shape(selector)}")
    if selector.element_type == "pred" and isinstance(listed, tuple):
        raise ShapeError("a conditional by a predicate has true_computation= and false_computation=, no list")
    if selector.element_type == "s32" and not isinstance(listed, tuple):
        raise ShapeError("a conditional by a number has branch_computations=")
    if not names or (selector.element_type == "pred" and len(names) != 2):
        raise ShapeError(f"conditional by {selector.element_type} has {len(names)} branches")
    if len(request.operands) != len(names) + 1:
        raise ShapeError(
            f"conditional with {len(names)} branches takes {len(names) + 1} operands, found {len(request.operands)}"
        )
    result: Shape | None = None
    for name, operand in zip(names, request.operands[1:], strict=True):
        branch = request.signatures[name]
        _check_call(request, branch, (operand,), name, exact=True)
        if result is not None and not request.compatible(branch.result, result):
            raise ShapeError(f"the branches of conditional give {print_shape(result)} and {print_shape(branch.result)}")
        result = result or branch.result
    assert result is not None
    return result


def custom_call(request: Request) -> Shape | None:
    """Its shape must be written; operand layout constraints must fit the operands."""
    if request.declared is None:
        raise ShapeError("the shape of custom-call must be written")
    constraints = request.attributes.get("operand_layout_constraints")
    if constraints is None:
        return None
    scanner = Scanner(getattr(constraints, "text", "{}"))
    scanner.expect("{", "before the operand layout constraints")
    shapes: list[Shape] = []
    while not scanner.accept("}"):
        if shapes:
            scanner.expect(",", "between shapes")
        shapes.append(read_shape(scanner))
    if len(shapes) != len(request.operands):
        raise ShapeError(f"{len(shapes)} operand layout constraints for {len(request.operands)} operands")
    for i, (shape, operand) in enumerate(zip(shapes, request.operands, strict=True)):
        if not request.compatible(shape, operand):
            raise ShapeError(
                f"the layout constraint {print_shape(shape)} of operand {i} is not compatible with "
                f"operand shape {print_shape(operand)}"
            )
    return None


def scan(request: Request) -> Shape | None:
    """As declared; what follows from the body is not computed here."""
    request.integers("dimensions")
    if request.declared is None:
        raise ShapeError("the shape of scan must be written")
    if request.callee("to_apply") is None:
        raise ShapeError("scan needs to_apply=")
    return None


ROWS: Final = """
scan                      | 1+   |                      | to_apply dimensions num_carries | is_reverse is_associative
shuffle                   | 1    | opaque               |                                |
add-dependency            | 2    | token                |                                |
after-all                 | 0+   | token                |                                |
call                      | 0+   | composed             | to_apply                       | is_composite
conditional               | 1+   | composed             | branch_computations/true_computation+false_computation |
custom-call               | 0+   |                      | custom_call_target             | @custom
domain                    | 1    | hands-on             |                                | domain
fusion                    | 0+   | composed             | kind calls                     | output_to_operand_aliasing
get-tuple-element         | 1    |                      | index                          |
infeed                    | 0-1  | token                |                                | infeed_config
opt-barrier               | 1    | hands-on             |                                |
outfeed                   | 1-2  | token                |                                | outfeed_shape outfeed_config
tuple                     | 0+   |                      |                                |
while                     | 1    | composed             | condition body                 |
recv                      | 1    | own source >recv-done |                               | channel_id is_host_transfer
recv-done                 | 1    | own                  |                                | channel_id is_host_transfer
send                      | 2    | own >send-done       |                                | channel_id is_host_transfer
send-done                 | 1    | own token            |                                | channel_id is_host_transfer
"""
"""The rows of these opcodes, as `models/hlo/opcodes.py` reads them."""

RULES: Final[Mapping[str, Callable[[Request], Shape | None]]] = {
    "tuple": tuple_,
    "get-tuple-element": get_tuple_element,
    "domain": same_as_operand,
    "opt-barrier": opt_barrier,
    "after-all": after_all,
    "add-dependency": add_dependency,
    "infeed": infeed,
    "outfeed": outfeed,
    "send": send,
    "recv": recv,
    "send-done": send_done,
    "recv-done": recv_done,
    "call": call,
    "fusion": fusion,
    "while": while_,
    "conditional": conditional,
    "custom-call": custom_call,
    "scan": scan,
}
"""Their shapes. `shuffle` has none: nothing is known of it."""
