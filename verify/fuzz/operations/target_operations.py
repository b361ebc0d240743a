"""Target `ops`."""

from __future__ import annotations

from hloproof.fuzz.operations.generators.operations import operations
from hloproof.fuzz.operations.oracle_operations import examine
from hloproof.fuzz.target import Target

TARGET = Target(
    "ops",
    "definitions and maps of one operation against what the interpreter is seen to read, and its numbers "
    "against a second reading",
    operations,
    examine,
    ".hlo",
)
