"""The opcodes of HLO with their traits: one table, from which every set of opcodes follows.

A row holds the name, the number of operands, the traits, the attributes that must be written and those that may be. Its
facts are those of XLA's parser and verifier. Rows stand beside their shape rules, in the subjects of `inference/`;
maps, definitions and executions are registered under the same names elsewhere. A test names what an opcode lacks.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from hloproof.models.hlo.inference import collective, control, elementwise, gather_scatter, movement, window


@dataclass(frozen=True, slots=True)
class Opcode:
    """What is known of an opcode without looking at an instruction."""

    name: str
    fewest: int
    """The least number of operands."""
    most: int | None
    """The largest number of operands; None where there is no limit."""
    traits: frozenset[str]
    """Words of `TRAITS`."""
    required: tuple[str, ...]
    """Attributes that must be written; of `a/b` either a or all of b, which is joined by `+`."""
    attributes: frozenset[str]
    """All attributes that may be written, the common ones aside."""
    done: str | None
    """The opcode that ends what this one starts, for opcodes that are asynchronous by themselves."""

    @property
    def bodies(self) -> frozenset[str]:
        """The attributes that name computations."""
        return self.attributes & BODIES

    def takes(self, attribute: str) -> bool:
        """Whether the attribute may stand at an instruction of this opcode."""
        return attribute in self.attributes or attribute in COMMON or "opaque" in self.traits

    def missing(self, given: Iterable[str]) -> str | None:
        """The first required attribute that is not given; None when all are."""
        written = set(given)
        for entry in self.required:
            if not any(written.issuperset(way.split("+")) for way in entry.split("/")):
                return entry.replace("/", "= or ").replace("+", "= and ")
        return None


TRAITS: Final[Mapping[str, str]] = {
    "elementwise": "element i of the result depends on the elements i of the operands",
    "accurate": "takes result_accuracy",
    "typed": "elementwise, with a shape rule of its own",
    "collective": "exchanges data between devices",
    "composed": "means what the computations mean that it calls on whole arrays",
    "link": "a link of a generic asynchronous chain",
    "own": "has asynchronous opcodes of its own, or is one, so that -start is not put behind it",
    "source": "reads no data of an operand",
    "hands-on": "its result is its first operand, the same buffer",
    "token": "gives or orders effects, no data",
    "opaque": "nothing is said of what it computes, and any attribute is accepted",
}

BODIES: Final = frozenset(
    [
        "to_apply",
        "calls",
        "condition",
        "body",
        "select",
        "scatter",
        "true_computation",
        "false_computation",
        "branch_computations",
        "called_computations",
    ]
)
"""Attributes that name computations of the module."""

COMMON: Final = frozenset(
    [
        "metadata",
        "backend_config",
        "frontend_attributes",
        "sharding",
        "control-predecessors",
        "origin",
        "original_value",
        "statistics",
        "parameter_replication",
    ]
)
"""Attributes that every opcode takes. They carry no meaning for data, control predecessors aside, which order."""

MODULE_ATTRIBUTES: Final = frozenset(
    [
        "is_scheduled",
        "replica_count",
        "num_partitions",
        "input_output_alias",
        "buffer_donor",
        "alias_passthrough_params",
        "entry_computation_layout",
        "frontend_attributes",
        "allow_spmd_sharding_propagation_to_parameters",
        "allow_spmd_sharding_propagation_to_output",
        "debug_attributes",
        "origin_recovery_table",
        "original_value_recovery_table",
        "use_auto_spmd_partitioning",
        "stack_frame_index",
        "execution_threads",
    ]
)
COMPUTATION_ATTRIBUTES: Final = frozenset({"execution_thread"})

_GROUPS: Final = {
    "@contraction": "lhs_batch_dims rhs_batch_dims lhs_contracting_dims rhs_contracting_dims",
    "@custom": "window dim_labels feature_group_count batch_group_count operand_layout_constraints to_apply "
    "custom_call_has_side_effect called_computations output_to_operand_aliasing padding_type literal "
    "operand_precision schedule api_version",
    "@devices": "replica_groups channel_id",
    "@thread": "async_execution_thread async_group_id",
}


def _row(line: str) -> Opcode:
    name, operands, words, required, optional = (part.strip() for part in line.split("|"))
    fewest, _, most = operands.rstrip("+").partition("-")
    traits = words.split()
    needed = tuple(required.split())
    attributes = set(required.replace("/", " ").replace("+", " ").split())
    for word in optional.split():
        attributes.update(_GROUPS.get(word, word).split())
    if "accurate" in traits:
        attributes.add("result_accuracy")
    done = next((t[1:] for t in traits if t.startswith(">")), None)
    return Opcode(
        name,
        int(fewest),
        None if operands.endswith("+") else int(most or fewest),
        frozenset(t for t in traits if not t.startswith(">")),
        needed,
        frozenset(attributes),
        done,
    )


_TABLE: Final = [
    line
    for subject in (elementwise, movement, window, gather_scatter, control, collective)
    for line in subject.ROWS.splitlines()
]
OPCODES: Final[Mapping[str, Opcode]] = {row.name: row for row in map(_row, filter(str.strip, _TABLE))}
"""Every opcode by its name."""


def having(*traits: str) -> frozenset[str]:
    """The opcodes that have all of these traits."""
    wanted = frozenset(traits)
    assert wanted <= TRAITS.keys()
    return frozenset(name for name, row in OPCODES.items() if wanted <= row.traits)


KNOWN: Final = frozenset(OPCODES)
ELEMENTWISE: Final = having("elementwise")
UNARY: Final = frozenset(n for n in ELEMENTWISE if OPCODES[n].most == 1)
SCALAR: Final = frozenset(n for n in ELEMENTWISE if not OPCODES[n].bodies)
"""Elementwise opcodes that are functions on elements by themselves, without a computation."""
BINARY: Final = frozenset(n for n in ELEMENTWISE if OPCODES[n].most == 2)
COLLECTIVES: Final = having("collective")
WITH_GLOBAL_IDS: Final = frozenset(n for n in COLLECTIVES if "use_global_device_ids" in OPCODES[n].attributes)
"""Collectives whose groups may hold ids of devices; with a channel alone they span all partitions of the replicas in a
group. For the others a channel makes the groups hold partitions."""
FIRST_CLASS_PAIRS: Final[Mapping[str, str]] = {n: row.done for n, row in OPCODES.items() if row.done is not None}
"""Opcodes that start something, and the opcode that ends it."""
FIRST_CLASS: Final = frozenset(n.removesuffix("-start") for n in FIRST_CLASS_PAIRS)
"""Opcodes with asynchronous opcodes of their own."""
COMPOSED: Final = having("composed")
"""Opcodes whose meaning is that of the computations they call."""
IN_STEPS: Final = COMPOSED - having("link") - {"fusion"}
"""Those that run the instructions of their computations one after the other in their own place in the order: a fusion
is one step, and what is in flight runs beside the order."""
HANDS_ON: Final = having("hands-on")
"""Opcodes that give their first operand, tuple tree and buffers and all."""

_SUFFIXES: Final = ("-start", "-update", "-done")
_OWN_LINKS: Final = having("own")
_THREAD: Final = frozenset((*_GROUPS["@thread"].split(), "output_to_operand_aliasing"))


def async_sugar(opcode: str) -> tuple[str, str] | None:
    """The wrapped opcode and the step (`start`, `update`, `done`) of a sugared name such as `custom-call-start`; None
    for any other opcode. Only opcodes that exist and have no asynchronous opcodes of their own are wrapped by sugar."""
    if opcode in KNOWN:
        return None
    for suffix in _SUFFIXES:
        if opcode.endswith(suffix):
            wrapped = opcode[: -len(suffix)]
            if wrapped in KNOWN and wrapped not in _OWN_LINKS:
                return wrapped, suffix[1:]
    return None


_sugared: dict[str, Opcode] = {}


def row_of(opcode: str) -> Opcode | None:
    """The row of an opcode or of a sugared asynchronous name; None where there is no such opcode."""
    row = OPCODES.get(opcode) or _sugared.get(opcode)
    if row is not None or (sugar := async_sugar(opcode)) is None:
        return row
    wrapped, step = OPCODES[sugar[0]], sugar[1]
    start = step == "start"
    row = Opcode(
        opcode,
        0 if start else 1,
        None,
        wrapped.traits & {"opaque"},
        wrapped.required if start else (),
        _THREAD | wrapped.attributes | ({"calls"} if not start else set()),
        None,
    )
    _sugared[opcode] = row
    return row


def suggestion(name: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?` for the known name that is most like this one; empty where none is."""
    close = difflib.get_close_matches(name, sorted(known), n=1)
    return f"; did you mean '{close[0]}'?" if close else ""


def attribute_refusal(row: Opcode, attribute: str) -> str | None:
    """Why the attribute may not stand at an instruction of this opcode, and what may; None where it may."""
    if row.takes(attribute):
        return None
    if attribute == "calls" and "own" in row.traits and "link" not in row.traits:
        return f"{row.name} is an opcode of its own and takes no calls=; write async-start with calls="
    own = ", ".join(sorted(row.attributes))
    return (
        f"{row.name} takes no attribute {attribute}{suggestion(attribute, row.attributes | COMMON)}"
        f"{f'; it takes {own}' if own else ''}"
    )


def refusal(opcode: str) -> str:
    """Why an opcode that is none is refused, and what to write instead."""
    for suffix in _SUFFIXES:
        if not opcode.endswith(suffix):
            continue
        wrapped = opcode[: -len(suffix)]
        if wrapped in FIRST_CLASS:
            start = wrapped if wrapped in ("send", "recv") else f"{wrapped}-start"
            return (
                f"unknown opcode '{opcode}': {wrapped} has the explicit asynchronous opcodes {start} and {wrapped}-done"
                f"; for other steps write async-start, async-update and async-done with calls="
            )
        return (
            f"unknown opcode '{opcode}': the names that end in {suffix} are those of known opcodes, and "
            f"'{wrapped}' is none{suggestion(opcode, (*KNOWN, *(n + suffix for n in KNOWN - _OWN_LINKS)))}"
        )
    return f"unknown opcode '{opcode}'{suggestion(opcode, KNOWN)}"
