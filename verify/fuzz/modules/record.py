"""Writes the cases of target `recorded`: random operations on random numbers, and what the real compiler makes of them.

    HLOPROOF_XLA_PYTHON=PYTHON python -m hloproof.fuzz.modules.record

What the compiler refuses is left out, and of results that the semantics leaves open (orders of folds, how often an
initial value is used) those that the interpreter orders otherwise. Anything else that differs is told: it is an error
of one of the two.
"""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from functools import partial
from random import Random
from typing import Any, Final

from hloproof.fuzz.modules.reference import Xla, encoded
from hloproof.fuzz.modules.target_recorded import FILE, MOVING, difference, inputs, interpreted
from hloproof.fuzz.mutation.reach import draw
from hloproof.fuzz.operations.generators.operations import BY_NAME, operation
from hloproof.fuzz.operations.tagged_run import devices_of, random_indices
from hloproof.fuzz.target import Target
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.module import Module, Operation, device_counts
from hloproof.models.hlo.parser import parse_module
from hloproof.models.hlo.printer import print_module
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.interpreter.semantics.element_type import INTEGERS, highest, lowest

DRAWN, KEPT = 60, 20
"""Cases drawn and kept of each kind of operation."""

LEFT_OUT: Final = frozenset(
    {
        "elementwise",
        "fft",
        "batch_norm",
        "batch_norm_tuple",
        "cholesky",
        "triangular_solve",
        "control",
        "scan",
        "without_meaning",
    }
)
"""Kinds whose results are rounded, hang on no number, or are no arrays."""
OPEN: Final = ("=%flip", "=%pair_sum", "=%crossed", " reduce(", "reduce-window(", "select-and-scatter(")
"""Words of modules whose results the semantics leaves open in part."""


def numbers(op: Operation, shape: ArrayShape, random: Random) -> list[Any]:
    """Small integers of the element type, so that no sum is rounded; any where nothing is computed with them."""
    count, kind = shape.elements, shape.element_type
    if kind == "pred":
        return [random.random() < 0.5 for _ in range(count)]
    if kind in INTEGERS:
        low, high = lowest(kind), highest(kind)
        if op.opcode not in ("bitcast", "bitcast-convert"):
            low, high = max(-9, low), min(9, high)
        return [random.randint(low, high) for _ in range(count)]
    special = (math.nan, math.inf, -math.inf, -0.0) if op.opcode in MOVING else (0.0,)
    return [random.choice(special) if random.random() < 0.2 else float(random.randint(-9, 9)) for _ in range(count)]


def arguments(module: Module, random: Random) -> list[list[list[Any]]]:
    """By replica and parameter. Numbers that say where to read are out of bounds now and then."""
    root = module.entry.root
    op = Operation.of(root, module.entry, *device_counts(module))
    given = []
    for _ in range(devices_of(module).count):
        where, by_number = random_indices(op, random), dict[int, list[Any]]()
        for k, (name, shape) in enumerate(zip(root.operands, op.operands, strict=True)):
            assert isinstance(shape, ArrayShape)
            data = where[k].data if k in where else numbers(op, shape, random)
            by_number[module.entry.by_name[name].parameter_number or 0] = data
        given.append([by_number[n] for n in range(len(by_number))])
    return given


def case(text: str, xla: Xla) -> tuple[str | None, str]:
    """The line of a case, and what became of it."""
    module, random = parse_module(text), Random(text)
    if devices_of(module).partitions > 1 or not all(isinstance(p.shape, ArrayShape) for p in module.entry.parameters):
        return None, "not asked"
    given = arguments(module, random)
    values = inputs(module, given)
    answer = xla.ask({"hlo": text, "replicas": [[encoded(a) for a in own] for own in values]})
    if "error" in answer:
        return None, "refused"
    found = [[output["data"] for output in own] for own in answer["replicas"]]
    try:
        differs = difference(interpreted(module, values), found, module.entry.root.opcode in MOVING)
    except NotModelled as reason:
        differs = str(reason)
    if differs is not None:
        if not any(word in text for word in OPEN):
            print(f"differs: {differs}\n{text}", file=sys.stderr)
        return None, "differs"
    return json.dumps({"hlo": text, "given": given, "found": found}, separators=(",", ":")), "recorded"


def main() -> None:
    xla, lines, told = Xla(), list[str](), Counter[str]()
    for name, write in sorted(BY_NAME.items()):
        if name in LEFT_OUT:
            continue
        kept = 0
        for text in draw(Target(name, "", partial(operation, write), lambda text: (), ".hlo"), 0, DRAWN):
            text = print_module(parse_module(text))
            line, became = case(text, xla)
            told[f"{name}: {became}"] += 1
            if line is not None and len(line) < 3000:
                lines.append(line)
                kept += 1
            if kept == KEPT:
                break
    xla.close()
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    for what, count in sorted(told.items()):
        print(f"{count:4d} {what}")


if __name__ == "__main__":
    main()
