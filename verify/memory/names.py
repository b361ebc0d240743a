"""plan-alias of what is only another name of a value: it is read as it was written, in the layout of its source.

Nothing turns an array over on its way through tuples, loops, branches and calls: where a text gives the name another
type, sizes or layout than its source has, the bytes are taken for another array.
"""

from __future__ import annotations

from collections.abc import Iterator

from hloproof.claims.asynchronous.judgement import Judgement
from hloproof.memory.plan import Plan, array_of, bytes_needed, judged, laid_out_alike
from hloproof.memory.sharing import ALIAS
from hloproof.models.dataflow.alias_classes import shape_at
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.hlo.text.shapes import print_shape
from hloproof.models.layouts.physical import layout_of
from hloproof.models.memory.assignment import Key


def names(plan: Plan) -> Iterator[Judgement]:
    """One judgement for each place whose shape is not that of what stands there."""
    for place, source in plan.values.steps():
        one, other = _shape(plan, place), _shape(plan, source)
        if one is None or other is None:
            continue  # the elements of a tuple are places of their own
        at = plan.place(*place)
        both = f"{plan.named(place)}, {print_shape(one)}, is {plan.named(source)}, {print_shape(other)}"
        opcode = plan.instruction(place[0]).opcode
        try:
            needed, there = bytes_needed(one), bytes_needed(other)
        except NotModelled as reason:
            yield judged(ALIAS, at, unknown=f"{both}: {reason}")
            continue
        if opcode in ("bitcast", "set-dimension-size") and needed > there and not one.is_dynamic:
            yield judged(ALIAS, at, f"{both}: it takes {needed} bytes, of which there are {there}")
        elif opcode not in ("bitcast", "set-dimension-size") and not laid_out_alike(one, other):
            yield judged(ALIAS, at, f"{both}: nothing moves its elements on the way")
        elif _in_order(plan, place) and _in_order(plan, source) and _space(one) != _space(other):
            yield judged(ALIAS, at, f"{both}: nothing moves it to another memory")
        elif one.is_dynamic and (needed > there or opcode == "set-dimension-size"):
            # A size that is set in the place of another is the one that all names of the value have from then on.
            yield judged(ALIAS, at, unknown=f"{both}: where its size is kept is not modelled")


def _in_order(plan: Plan, place: Key) -> bool:
    """Not of what an operation in flight runs, whose parameters may be named without their memory."""
    return plan.values.computation_of[place[0]].name in plan.liveness.order.begins


def _space(shape: ArrayShape) -> int:
    return layout_of(shape).memory_space


def _shape(plan: Plan, key: Key) -> ArrayShape | None:
    return array_of(shape_at(plan.instruction(key[0]).shape, key[1]))
