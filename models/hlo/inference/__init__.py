from __future__ import annotations
from dataclasses import dataclass
from models.errors import Position
from models.hlo.shape import *
class ShapeError(Exception):
    position: Position | None = None
@dataclass(frozen=True, slots=True)
class Signature:
    parameters: tuple[Shape, ...]
    result: Shape
def compatible(a,b): return True
def infer(opcode, operands, attributes, declared, signatures):
    if opcode=="get-tuple-element" and isinstance(operands[0],TupleShape): return operands[0].elements[attributes.integer("index",0)]
    return declared or (operands[0] if operands else None)
