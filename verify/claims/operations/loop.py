"""What every while loop owes. Where its number of turns is not known its maps are only a bound, so the claim is about
its structure: what is carried round has the same shape everywhere, position by position. Its body and condition owe
their own claims; the maps of a loop that is followed turn by turn owe what composed maps owe.
"""

from __future__ import annotations

from hloproof.claims.operations.owed import OwedClaim
from hloproof.claims.statements.statement import Part, Point
from hloproof.logic.formula import Formula, conj, eq
from hloproof.logic.obligation import Obligation
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import ComputationRef
from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.hlo.shape import ArrayShape, Shape, leaves


def owed_by_while(module: Module, computation: Computation, instruction: Instruction) -> list[OwedClaim]:
    """That operand, parameters of condition and body, the body's root and the result agree; the condition is a pred."""
    return [OwedClaim("definition", "what is carried round", lambda: _parts(module, computation, instruction))]


def _parts(module: Module, computation: Computation, instruction: Instruction) -> list[Part]:
    body, condition = (_called(module, instruction, name) for name in ("body", "condition"))
    if len(body.parameters) != 1 or len(condition.parameters) != 1 or len(instruction.operands) != 1:
        raise NotModelled("a while loop whose body and condition do not take one value")
    places = {
        "the operand": computation.by_name[instruction.operands[0]].shape,
        "the body's parameter": body.parameters[0].shape,
        "the body's root": body.root.shape,
        "the condition's parameter": condition.parameters[0].shape,
    }
    parts = [_agree(f"{what} has the shape of the result", shape, instruction.shape) for what, shape in places.items()]
    parts.append(_agree("the condition's root is pred[]", condition.root.shape, ArrayShape("pred")))
    return parts


def _called(module: Module, instruction: Instruction, name: str) -> Computation:
    value = instruction.attributes.get(name)
    if not isinstance(value, ComputationRef) or value.name not in module.by_name:
        raise NotModelled(f"a while loop without a {name}")
    return module.by_name[value.name]


def _agree(what: str, one: Shape, other: Shape) -> Part:
    """One obligation: the same places in the tuple trees, and at each the same type, rank and sizes."""
    first, second = dict(leaves(one)), dict(leaves(other))
    goals: list[Formula] = [eq(int(first.keys() == second.keys()), 1)]
    for place in first.keys() & second.keys():
        a, b = first[place], second[place]
        if isinstance(a, ArrayShape) and isinstance(b, ArrayShape):
            goals.append(eq(int(a.element_type == b.element_type), 1))
            goals.append(eq(a.rank, b.rank))
            goals += [eq(m, n) for m, n in zip(a.dimensions, b.dimensions, strict=False)]
        else:
            goals.append(eq(int(type(a) is type(b)), 1))
    goals = list(dict.fromkeys(goals))

    def words(point: Point) -> str:
        return f"not so: {what}"

    return Part(Obligation((), conj(*goals), label=what), words)
