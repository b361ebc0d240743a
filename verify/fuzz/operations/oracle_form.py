"""Part of target `ops`: what the answers of one operation look like, whatever the maps in them say.

Every array of the other side is named once; there are no maps of outputs that are none; what is read at run time has
the interval that it is stated to have; pairs of devices are taken together where they lie at one distance.
"""

from __future__ import annotations

from typing import Final

from hloproof.fuzz.target import Failure
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.attributes import ConvolutionDimensions, DevicePairs
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.opcodes import ELEMENTWISE
from hloproof.models.hlo.shape import ArrayShape, leaves
from hloproof.models.indexing import OperandMaps, input_to_output, output_to_input
from hloproof.models.indexing.collective import READER
from hloproof.models.interpreter.semantics.element_type import highest, lowest

PAIRED: Final = ("all-", "collective-", "reduce-scatter", "ragged-all-to-all")
"""Opcodes, by their beginnings, whose outputs and operands go in pairs: the others are not named."""
NUMBERED: Final = ELEMENTWISE | {"copy", "reduce", "reduce-window", "scatter", "set-dimension-size", "sort", "topk"}
"""Opcodes whose maps depend on the output asked for, so that a number that is none is an error."""


def examine_form(op: Operation, group: int) -> None:
    """Raises Failure where an answer is not as it should be. `group` is the devices of a group."""
    outputs = len(list(leaves(op.shape)))
    forwards = [output_to_input(op, n) for n in range(outputs)]
    backwards = [input_to_output(op, n) for n in range(len(op.operands))]
    for direction, answers, others in (
        ("output-to-input", forwards, len(op.operands)),
        ("input-to-output", backwards, outputs),
    ):
        for n, sets in enumerate(answers):
            named = [s.operand for s in sets]
            if not op.opcode.startswith(PAIRED) and sorted(named) != list(range(others)):
                raise Failure(f"{op.opcode}: {direction} maps do not name every array once", f"{n}: {named} of {op}")
            for s in sets:
                _variables(op, direction, s, group)
    if op.opcode == "convolution" and op.attributes.integer("feature_group_count", 1) == 1:
        _feature_is_free(op, backwards[0])
    for n in (-1, outputs):
        if op.opcode in NUMBERED - {"sort"}:
            _is_no_output(op, n)


def _is_no_output(op: Operation, number: int) -> None:
    try:
        found = output_to_input(op, number)
    except ValueError:
        return
    raise Failure(f"{op.opcode}: maps of an output that is none", f"{number}: {found}")


def _feature_is_free(op: Operation, sets: tuple[OperandMaps, ...]) -> None:
    """Without groups of any kind an element goes to all output features, whatever its place."""
    labels = op.attributes.get("dim_labels")
    assert isinstance(labels, ConvolutionDimensions)
    for m in (m for s in sets for m in s.maps if op.attributes.integer("batch_group_count", 1) == 1):
        if any(name.startswith("d") for name in m.results[labels.output_feature].free):
            raise Failure("convolution: input-to-output maps name a group", f"{m} of {op}")


def _variables(op: Operation, direction: str, s: OperandMaps, group: int) -> None:
    last = group - 1
    pairs = op.attributes.get("source_target_pairs")
    if isinstance(pairs, DevicePairs):
        last = max((max(p) for p in pairs.pairs), default=0)
        runs = _runs(pairs)
        if len(s.maps) != runs:
            raise Failure(f"{op.opcode}: {direction} maps of as many runs", f"{len(s.maps)} of {runs}: {op}")
    for r in (r for m in s.maps for r in m.runtime):
        if r.provider == READER and r.interval != Interval(0, last):
            raise Failure(f"{op.opcode}: {direction} maps say who reads", f"{r.interval}, there are {last + 1}")
        if op.opcode == "scatter":
            shape = op.operands[len(op.operands) // 2]
            assert isinstance(shape, ArrayShape)
            held = Interval(lowest(shape.element_type), highest(shape.element_type))
            if r.interval != held:
                raise Failure(f"{op.opcode}: {direction} maps say what indices may be", f"{r.interval}, not {held}")


def _runs(pairs: DevicePairs) -> int:
    """Targets that follow each other and whose sources lie at one distance are one run."""
    source = {target: source for source, target in pairs.pairs}
    return sum(t - 1 not in source or source[t - 1] - (t - 1) != source[t] - t for t in source)
