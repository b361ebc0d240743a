"""What each opcode has to do with other devices, and what is written at those that wait for some: two tables.

An opcode that stands in no row, an attribute that stands in no row and a call of a library that is not listed are not
known, and nothing is proved of who waits for whom where they stand. A test holds the tables to the opcodes and
attributes that the reader takes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Final, Literal, cast

from hloproof.models.hlo.attributes import Quoted, Word
from hloproof.models.hlo.beside import FRONTEND, beside, frontend_entries, kind_of, rows_of
from hloproof.models.hlo.module import Instruction
from hloproof.models.hlo.opcodes import async_sugar

Waits = Literal["function", "varies", "own", "order", "runs", "begins", "ends", "transfer", "all", "first", "unknown"]

OF_OPCODES: Final = """
function | abs acos acosh add and asin asinh atan atan2 atanh bitcast bitcast-convert broadcast cbrt ceil cholesky
function | batch-norm-grad batch-norm-inference batch-norm-training clamp compare complex concatenate constant
function | convert convolution copy cosh cosine count-leading-zeros divide domain dot dynamic-reshape dynamic-slice
function | dynamic-update-slice erf exponential exponential-minus-one fft floor gather get-dimension-size
function | get-tuple-element imag iota is-finite log log-plus-one logistic map maximum minimum mulhi multiply negate not
function | opt-barrier or pad parameter popcnt power ragged-dot real reduce reduce-precision reduce-window remainder
function | reshape reverse rng-bit-generator round-nearest-afz round-nearest-even rsqrt scaled-dot scan select
function | set-dimension-size shift-left shift-right-arithmetic shift-right-logical sign sine sinh slice sort sqrt
function | stochastic-convert subtract tan tanh topk transpose triangular-solve tuple xor
varies | scatter select-and-scatter
own | infeed outfeed partition-id replica-id rng rng-get-and-update-state
order | add-dependency after-all async-update
runs | call conditional fusion while
begins | async-start copy-start
ends | all-gather-done all-reduce-done async-done collective-permute-done copy-done recv-done send-done
transfer | recv send
all | all-gather all-gather-start all-reduce all-reduce-start all-to-all reduce-scatter
first | collective-broadcast collective-permute collective-permute-start ragged-all-to-all
unknown | collective-reduce custom-call shuffle
"""
"""`function`: waits for no device, and gives all devices the same for the same operands; `varies`: in which order it
takes what falls on one place is left open; `own`: it gives each device something of its own. `order`: orders, or goes
on with what has begun. `runs`: does what its computations do. `transfer`: in pairs. `all`: waits for all of its group,
whose data it needs; `first`: for those of the group whose data come to this device, and others perhaps."""

OF_ATTRIBUTES: Final = """
read | channel_id is_host_transfer replica_groups source_target_pairs use_global_device_ids mode
read | body branch_computations calls condition false_computation to_apply true_computation
read | backend_config frontend_attributes sharding
silent | async_execution_thread constrain_layout dimensions is_composite kind output_to_operand_aliasing slice_sizes
silent | control-predecessors metadata origin original_value parameter_replication statistics
silent | has_dynamic_root
unknown | all_reduce_id async_group_id
"""
"""What is written at opcodes that wait or run others: read, without meaning for who waits for whom, or not known."""

LIBRARIES: Final = (
    "__cublas$*",
    "__cudnn$*",
    "__cusolver$*",
    "__onednn$*",
    "__cub$*",
    "AllocateBuffer",
    "CreateBuffer",
    "LayoutConstraint",
    "MoveToDevice",
    "MoveToHost",
    "PadToStatic",
    "Pin",
    "Sharding",
    "SliceToDynamic",
    "SPMDFullToShardShape",
    "SPMDShardToFullShape",
    "TopK",
    "Unpin",
    "annotate_device_placement",
    "lapack_*",
    "xla.sdy.*",
)
"""Targets of custom calls that compute, or mark something, on one device."""

_FRONTEND: Final = rows_of(FRONTEND, fields=False)


def _words(table: str) -> Iterator[tuple[str, str]]:
    for line in table.strip().splitlines():
        kind, _, names = line.partition(" | ")
        yield from ((name, kind) for name in names.split())


PARTS: Final = cast(Mapping[str, Waits], dict(_words(OF_OPCODES)))
KINDS: Final = dict(_words(OF_ATTRIBUTES))


def parting(*parts: Waits) -> frozenset[str]:
    """The opcodes of these rows."""
    return frozenset(name for name, part in PARTS.items() if part in parts)


def part_of(opcode: str) -> Waits:
    """The row of an opcode, or of the one that sugar wraps."""
    sugar = async_sugar(opcode)
    if sugar is not None and sugar[1] != "start":
        return "ends" if sugar[1] == "done" else "order"
    return PARTS.get(sugar[0] if sugar is not None else opcode, "unknown")


def not_known(i: Instruction) -> str | None:
    """What of an instruction that may wait for other devices is not known; None where all is."""
    part = part_of(i.opcode)
    if part == "unknown" and not _is_of_a_library(i):
        return f"whom the {i.opcode} {i.name} waits for"
    said = next((name for name, _ in i.attributes.pairs if part != "unknown" and KINDS.get(name) != _known(name)), None)
    said = said or next((b.name for b in beside(i) if b.kind == "unknown"), None)
    sharding = i.attributes.get("sharding")
    if said is None and isinstance(sharding, Word | Quoted) and "maximal" in sharding.text:
        said = "sharding"
    return None if said is None else f"what {said} says of {i.name}"


def _known(name: str) -> str:
    return "silent" if KINDS.get(name) == "silent" else "read"


def _is_of_a_library(i: Instruction) -> bool:
    target = i.attributes.get("custom_call_target")
    return isinstance(target, Word | Quoted) and any(fnmatchcase(target.text, known) for known in LIBRARIES)


def said_of_transfer(i: Instruction) -> Mapping[str, str]:
    """The attributes of frontends that a send or recv has and that count; none where they cannot be told."""
    value = i.attributes.get("frontend_attributes")
    entries = frontend_entries(value.text) if isinstance(value, Word | Quoted) else None
    return {name: text for name, text in (entries or {}).items() if kind_of(i.opcode, name, _FRONTEND) != "silent"}


def carries_in_some_turns(i: Instruction) -> bool:
    """A permutation that says in which turns of a loop its pairs carry anything."""
    return "_xla_send_recv_validation" in said_of_transfer(i)
