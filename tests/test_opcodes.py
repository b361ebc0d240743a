"""The table of opcodes: each row is complete, and what an opcode lacks elsewhere is named here."""

from __future__ import annotations

import pytest

from hloproof.definitions import IN_TUPLES, TABLE
from hloproof.models.errors import InputError
from hloproof.models.hlo.inference import has_rule
from hloproof.models.hlo.opcodes import (
    COLLECTIVES,
    COMPOSED,
    ELEMENTWISE,
    FIRST_CLASS_PAIRS,
    OPCODES,
    TRAITS,
    having,
    row_of,
)
from hloproof.models.hlo.parser import parse_module
from hloproof.models.indexing.table import opcodes as with_maps
from hloproof.models.interpreter.operations.dispatch import OPERATIONS

LACKS = {
    "collective-reduce": {"maps", "definition"},
    "dynamic-reshape": {"maps", "definition"},
    "rng": {"execution"},
    "rng-bit-generator": {"execution"},
    "rng-get-and-update-state": {"execution"},
    "infeed": {"execution"},
    "set-dimension-size": {"execution"},
    "shuffle": {"maps", "definition", "execution", "shape rule"},
}
"""What is not modelled, and why nobody should look for it: random numbers and data from outside have no one value."""

BY_THE_MACHINE = COLLECTIVES | COMPOSED | {"constant", "parameter", "partition-id", "replica-id", "scan"}
BY_THE_MACHINE |= {"send", "send-done", "recv", "recv-done"}
"""Executed where computations, devices and channels are known, not one operation at a time."""


def lacks(opcode: str) -> set[str]:
    row = OPCODES[opcode]
    missing = set()
    if opcode not in with_maps():
        missing.add("maps")
    if not (opcode in TABLE or opcode in IN_TUPLES or "source" in row.traits or opcode in COMPOSED):
        missing.add("definition")
    if opcode not in OPERATIONS and opcode not in BY_THE_MACHINE:
        missing.add("execution")
    if not has_rule(opcode):
        missing.add("shape rule")
    return missing


@pytest.mark.parametrize("opcode", OPCODES)
def test_every_opcode_has_maps_a_definition_an_execution_and_a_shape_rule(opcode: str) -> None:
    assert lacks(opcode) == LACKS.get(opcode, set())


def test_nothing_is_registered_under_a_name_that_is_no_opcode() -> None:
    for registered in (with_maps(), TABLE, IN_TUPLES, OPERATIONS):
        assert set(registered) <= OPCODES.keys()


def test_rows_are_whole() -> None:
    used = {trait for row in OPCODES.values() for trait in row.traits}
    assert used == TRAITS.keys()
    for row in OPCODES.values():
        assert row.most is None or row.fewest <= row.most
        assert row.done is None or row.done in OPCODES
        assert row.missing(row.attributes) is None
        for entry in row.required:
            assert row.missing(row.attributes - set(entry.replace("/", " ").replace("+", " ").split())), entry
    assert having("elementwise") == ELEMENTWISE and ELEMENTWISE.isdisjoint(COLLECTIVES)
    assert FIRST_CLASS_PAIRS["send"] == "send-done" and len(FIRST_CLASS_PAIRS) == 6


def test_sugared_names_take_what_the_wrapped_opcode_takes() -> None:
    start, done = row_of("slice-start"), row_of("slice-done")
    assert start is not None and done is not None
    assert start.required == ("slice",) and start.takes("async_execution_thread")
    assert done.required == () and done.fewest == 1
    assert row_of("copy-update") is None and row_of("frob-start") is None


@pytest.mark.parametrize("opcode", sorted(o for o in ELEMENTWISE if OPCODES[o].most in (1, 2)))
def test_elementwise_opcodes_refuse_results_of_other_sizes(opcode: str) -> None:
    """`f32[5] atan(f32[4])` is no operation, whatever the opcode."""
    kind, result = "f32", "f32"
    if opcode in ("real", "imag"):
        kind = "c64"
    elif opcode == "complex":
        result = "c64"
    elif opcode in ("is-finite", "compare"):
        result = "pred"
    elif opcode in ("and", "or", "xor", "not", "popcnt", "count-leading-zeros", "mulhi") or opcode.startswith("shift"):
        kind = result = "s32"
    second = "u32" if opcode == "stochastic-convert" else kind
    operands = "p" if OPCODES[opcode].most == 1 else "p, q"
    extra = {"compare": ", direction=EQ", "reduce-precision": ", exponent_bits=5, mantissa_bits=3"}.get(opcode, "")
    text = (
        f"e {{\n p = {kind}[4] parameter(0)\n q = {second}[4] parameter(1)\n"
        f" ROOT r = {result}[%d] {opcode}({operands}){extra}\n}}"
    )
    assert parse_module(text % 4).entry.root.opcode == opcode
    with pytest.raises(InputError, match="4:2: r is declared as"):
        parse_module(text % 5)
