"""The table of opcodes: each row is complete, and what an opcode lacks elsewhere is named here."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hloproof.definitions import IN_TUPLES, TABLE
from hloproof.models.errors import InputError
from hloproof.models.hlo.inference.infer import has_rule
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
    "shuffle": {"maps", "definition", "execution", "shape rule"},
}
"""What is not modelled, and why nobody should look for it: random numbers and data from outside have no one value."""

BY_THE_MACHINE = (
    COLLECTIVES
    | COMPOSED
    | {"constant", "parameter", "partition-id", "replica-id", "scan", "send", "send-done", "recv", "recv-done"}
)
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


IN_FOUR_FILES = {
    "models/hlo/inference/movement.py": (
        "mirror | 1 | | |",
        "def mirror(request: Request) -> Shape:\n    return request.array(0)\n",
        '"mirror": mirror',
    ),
    "models/indexing/movement.py": (
        "",
        "def mirror_maps(op: Operation, number: int) -> tuple[OperandMaps, ...]:\n"
        "    box = bounds(op.shape)\n"
        "    turned = tuple(plus(-dim(i), n - 1) for i, n in enumerate(box))\n"
        '    return (one(0, "moves", IndexingMap(boxed(box), turned)),)\n',
        '"mirror": Builders(mirror_maps, mirror_maps)',
    ),
    "models/interpreter/operations/movement.py": (
        "",
        "def mirror(step: Step) -> Value:\n    return step.result(list(reversed(step.array(0).data)))\n",
        '"mirror": mirror',
    ),
    "verify/definitions/movement.py": (
        "",
        "def mirror(op: Operation, output: int, operand: int) -> Definition:\n"
        "    sizes = operand_array(op, operand).dimensions\n"
        "    parts = [eq(d(i) + x(i), n - 1) for i, n in enumerate(sizes)]\n"
        '    return Definition("moves", sizes, sizes, conj(*parts))\n',
        '"mirror": mirror',
    ),
}
"""An operation that turns an array around, as CONTRIBUTING says it is added: a row, functions, and their entries."""


def test_an_opcode_is_added_in_four_files(tmp_path: Path) -> None:
    """Everything else reads the tables: the module is parsed, its maps are proved, and it is executed."""
    root = Path(__file__).parents[1]
    copy = tmp_path / "hloproof"
    shutil.copytree(root / "verify", copy, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in ("models", "specs"):
        shutil.copytree(root / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name, (row, function, entry) in IN_FOUR_FILES.items():
        path = copy / name.removeprefix("verify/")
        text = path.read_text(encoding="utf-8")
        if row:
            text = text.replace('ROWS: Final = """\n', f'ROWS: Final = """\n{row}\n')
        head, table, rest = re.split(r"^((?:RULES|BUILDERS|EXECUTIONS|DEFINITIONS): Final.*\{\n)", text, flags=re.M)
        path.write_text(f"{head}{function}\n\n{table}    {entry},\n{rest}", encoding="utf-8")
    module = tmp_path / "m.hlo"
    module.write_text(
        "HloModule m\nENTRY e {\n p = s32[2,3] iota(), iota_dimension=1\n ROOT r = s32[2,3] mirror(p)\n}\n"
    )
    run: dict[str, Any] = {
        "capture_output": True,
        "text": True,
        "cwd": tmp_path,
        "env": {**os.environ, "PYTHONPATH": str(tmp_path)},
    }
    checked = subprocess.run([sys.executable, "-m", "hloproof", "check", "m.hlo", "--no-cache"], check=False, **run)
    assert checked.returncode == 0 and "proved" in checked.stdout, checked.stdout + checked.stderr
    executed = subprocess.run([sys.executable, "-m", "hloproof", "run", "m.hlo"], check=False, **run)
    assert "2, 1, 0" in executed.stdout, executed.stdout + executed.stderr
