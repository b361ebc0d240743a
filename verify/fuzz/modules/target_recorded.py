"""Target `recorded`: the interpreter against results of the real compiler, which `record.py` wrote down.

One case a line, in JSON: the text of a module of one operation, the arguments of each replica, and what the compiler's
program answered on each: arrays as lists of their elements in row-major order.
"""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path
from typing import Any, Final

from hypothesis import strategies as st

from hloproof.fuzz.modules.reference import arrays, close, number
from hloproof.fuzz.target import Failure, Target
from hloproof.models.hlo.module import Module
from hloproof.models.hlo.parser import parse_module
from hloproof.models.hlo.shape import ArrayShape, leaves
from hloproof.models.interpreter.operations.collective import Devices
from hloproof.models.interpreter.run import Machine
from hloproof.models.interpreter.semantics.element_type import INTEGERS
from hloproof.models.interpreter.semantics.real import Real
from hloproof.models.interpreter.value import Array

MOVING: Final = frozenset(
    "broadcast concatenate copy dynamic-slice dynamic-update-slice gather pad reshape reverse slice topk "
    "transpose".split()
)
"""These keep every number as it is, zeros with their signs and what is no number among them."""
FILE: Final = Path(__file__).with_name("recorded.jsonl")


@cache
def recorded() -> tuple[str, ...]:
    return tuple(FILE.read_text(encoding="utf-8").splitlines())


def inputs(module: Module, given: list[list[list[Any]]]) -> list[list[Array]]:
    """The arguments of each replica as arrays, from their elements."""
    parameters = sorted(module.entry.parameters, key=lambda p: p.parameter_number or 0)
    shapes = [s for p in parameters for _, s in leaves(p.shape) if isinstance(s, ArrayShape)]
    return [
        [Array(s.element_type, s.dimensions, [number(v) for v in data]) for s, data in zip(shapes, own, strict=True)]
        for own in given
    ]


def interpreted(module: Module, given: list[list[Array]]) -> list[list[Array]]:
    """The arrays that each replica is left with, by its arguments."""
    machine = Machine(module, Real(), Devices(len(given)), 0)
    return [list(arrays(result)) for result in machine.run([tuple(own) for own in given])]


def difference(found: list[list[Array]], expected: list[list[list[Any]]], signed: bool) -> str | None:
    """Where they differ, in words. What is no number equals itself; `signed`: zeros have signs."""
    for replica, (own, theirs) in enumerate(zip(found, expected, strict=True)):
        if len(own) != len(theirs):
            return f"{len(own)} arrays on replica {replica}, recorded {len(theirs)}"
        for output, (array, data) in enumerate(zip(own, theirs, strict=True)):
            where = f"output {output} of replica {replica}"
            if len(array.data) != len(data) or math.prod(array.sizes) != len(data):
                return f"{where} has {len(array.data)} elements, recorded {len(data)}"
            for k, (x, y) in enumerate(zip(array.data, data, strict=True)):
                if isinstance(x, float) and array.element_type in INTEGERS:
                    return f"{where} holds {x} at {k}, which is no {array.element_type}"
                if not _same(x, number(y), signed):
                    return f"{where} is {x} at {k}, recorded {number(y)}"
    return None


def _same(x: Any, y: Any, signed: bool) -> bool:
    if signed and isinstance(x, float) and x == 0.0 and math.copysign(1.0, x) != math.copysign(1.0, y):
        return False
    return close(x, y)


def examine(line: str) -> tuple[str, ...]:
    case = json.loads(line)
    module = parse_module(case["hlo"])
    opcode = module.entry.root.opcode
    found = difference(interpreted(module, inputs(module, case["given"])), case["found"], opcode in MOVING)
    if found is not None:
        raise Failure(f"recorded: another result of {opcode}", found)
    return (opcode,)


TARGET = Target(
    "recorded",
    "operations on numbers against recorded results of the real compiler",
    lambda: st.sampled_from(recorded()),
    examine,
    ".jsonl",
    "",
)
