"""Which arrays an array depends on, without saying which elements: a walk over instructions, not over maps.

Time goes with the size of the computation, so that the body of a loop, which is followed whole in any case, is not
composed. Every operand array of an ordinary instruction counts, so the answer is a superset.
"""

from __future__ import annotations

from typing import Final

from hloproof.models.hlo.module import Computation
from hloproof.models.hlo.shape import ShapeIndex, leaves
from hloproof.models.indexing.box import holds_data

_HANDS_ON: Final = frozenset({"copy", "opt-barrier"})


def parameter_positions(computation: Computation, instruction: str, position: ShapeIndex) -> frozenset[ShapeIndex]:
    """The arrays of parameter 0 that the array at `position` of an instruction may depend on."""
    seen = {(instruction, position)}
    stack = [(instruction, position)]
    found: set[ShapeIndex] = set()

    def push(name: str, at: ShapeIndex) -> None:
        if (name, at) not in seen:
            seen.add((name, at))
            stack.append((name, at))

    while stack:
        name, at = stack.pop()
        i = computation.by_name[name]
        if i.opcode == "parameter":
            found.add(at)
        elif i.opcode == "tuple" and at:
            push(i.operands[at[0]], at[1:])
        elif i.opcode == "get-tuple-element":
            push(i.operands[0], (i.attributes.integer("index", 0), *at))
        elif i.opcode in _HANDS_ON:
            push(i.operands[0], at)
        else:
            for operand in i.operands:
                for leaf_at, leaf in leaves(computation.by_name[operand].shape):
                    if holds_data(leaf):
                        push(operand, leaf_at)
    return frozenset(found)


def is_handed_on(computation: Computation, position: ShapeIndex) -> bool:
    """The root's array at `position` is parameter 0's array at the same position, through tuples and copies."""
    name, at = computation.root_name, position
    while True:
        i = computation.by_name[name]
        if i.opcode == "parameter":
            return at == position
        if i.opcode == "tuple" and at:
            name, at = i.operands[at[0]], at[1:]
        elif i.opcode == "get-tuple-element":
            name, at = i.operands[0], (i.attributes.integer("index", 0), *at)
        elif i.opcode in _HANDS_ON:
            name = i.operands[0]
        else:
            return False
