"""A module in a protocol buffer as HLO text, so that there is one reader of modules.

Read are HloProto, as XLA dumps it (`--xla_dump_hlo_as_proto`), and HloModuleProto, as JAX gives it. A field that is set
and has no place in the text is an error, and so is a module whose meaning hangs on numbers of devices that the buffer
does not hold.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from typing import Any, Final

from hloproof.models.errors import InputError
from hloproof.models.hlo.opcodes import COLLECTIVES, IN_STEPS
from hloproof.models.hlo.proto.attributes import attributes
from hloproof.models.hlo.proto.forms import braces, frontend_attributes, plain
from hloproof.models.hlo.proto.literals import literal_text
from hloproof.models.hlo.proto.schema import SCHEMA
from hloproof.models.hlo.proto.shapes import shape_of
from hloproof.models.hlo.proto.wire import Message, read
from hloproof.models.hlo.shape import ArrayShape, Shape, leaves
from hloproof.models.hlo.text.shapes import print_shape

_DEVICES: Final = COLLECTIVES | {"partition-id", "replica-id", "send", "recv"}
_ALIAS: Final = {0: "may-alias", 1: "may-alias", 2: "must-alias"}


def hlo_text(data: bytes, file: str = "") -> str:
    """The text of the module. Raises InputError for what is no such buffer, or has parts that are not read."""
    try:
        return "\n".join(_module(_read(data))) + "\n"
    except (ValueError, LookupError, TypeError, struct.error) as error:
        said = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise InputError(f"this protocol buffer cannot be read as a module: {said}", 1, 1, file=file) from error


def _read(data: bytes) -> Message:
    """The module alone, or inside of HloProto: there field 1 is a message, here a name."""
    try:
        outer = read(data, "Hlo", SCHEMA)
    except ValueError:
        return read(data, "Module", SCHEMA)
    module: Message = outer.get("module", {})
    if "computations" in module:
        return module
    return read(data, "Module", SCHEMA)


def _module(m: Message) -> Iterator[str]:
    computations: list[Message] = m.get("computations", [])
    if not computations:
        raise ValueError("it has no computations")
    names = {_id(c): plain(c["name"]) for c in computations}
    if len(names) != len(computations):
        raise ValueError("two computations have one id")
    if m.get("entry_id", 0) not in names:
        raise ValueError("the computation at which it begins is not in it")
    yield ", ".join([f"HloModule {plain(m['name'])}", *_header(m, computations)])
    yield ""
    yield from _frames(m.get("frames", {}))
    orders = _orders(m, names)
    for c in computations:
        yield from _computation(c, names, _id(c) == m.get("entry_id", 0), orders.get(_id(c)))
        yield ""


def _orders(m: Message, names: dict[int, str]) -> dict[int, Sequence[int]]:
    """The ids of instructions in the order of the schedule, by computation. Raises ValueError where there is a schedule
    and one that runs step by step is not in it: the order in which it stands here says nothing."""
    if "schedule" not in m:
        return {}
    found = {
        s.get("computation", 0): s.get("order", {}).get("ids", []) for s in m.get("schedule", {}).get("sequences", [])
    }
    called = (i for c in m["computations"] for i in c.get("instructions", []) if i["opcode"] in IN_STEPS)
    for number in (m.get("entry_id", 0), *(k for i in called for k in i.get("called", []))):
        if number not in found:
            raise ValueError(f"the schedule leaves out {names.get(number, number)}")
    if unknown := set(found) - set(names):
        raise ValueError(f"the schedule is about computations that are not in it: {sorted(unknown)}")
    return found


def _header(m: Message, computations: Sequence[Message]) -> Iterator[str]:
    if "schedule" in m:
        yield "is_scheduled=true"
    if m.get("is_dynamic"):
        raise ValueError("a module that is dynamic as a whole")
    devices = m.get("device_assignment")
    if devices is not None:
        counts = devices.get("replicas", 0), devices.get("computations", 0)
        if min(counts) < 1:
            raise ValueError("its assignment of devices has none")
        yield f"replica_count={counts[0]}"
        yield f"num_partitions={counts[1]}"
    elif any(i["opcode"] in _DEVICES for c in computations for i in c.get("instructions", [])):
        raise ValueError(
            "the numbers of replicas and partitions are not in it, and collectives need them; give the text"
        )
    aliases = m.get("input_output_alias", {}).get("entries", [])
    if aliases:
        told = (
            f"{braces(a.get('output', []))}: ({a.get('parameter', 0)}, {braces(a.get('parameter_index', []))}, "
            f"{_ALIAS[a.get('kind', 0)]})"
            for a in aliases
        )
        yield f"input_output_alias={{ {', '.join(told)} }}"
    donors = m.get("buffer_donor", {}).get("entries", [])
    if donors:
        told = (f"({d.get('parameter', 0)}, {braces(d.get('parameter_index', []))})" for d in donors)
        yield f"buffer_donor={{ {', '.join(told)} }}"
    if "host_program_shape" in m:
        whole = m["host_program_shape"]
        parameters = ", ".join(print_shape(shape_of(s)) for s in whole.get("parameters", []))
        yield f"entry_computation_layout={{({parameters})->{print_shape(shape_of(whole['result']))}}}"
    yield from frontend_attributes(m.get("frontend", {}))


def _frames(frames: Message) -> Iterator[str]:
    """The blocks that lead from instructions to lines of the user's program."""
    rows: tuple[tuple[str, str, Callable[[Any], str]], ...] = (
        ("FileNames", "files", lambda f: f'"{_escaped(f)}"'),
        ("FunctionNames", "functions", lambda f: f'"{_escaped(f)}"'),
        (
            "FileLocations",
            "locations",
            lambda at: (
                f"{{file_name_id={at.get('file', 0)} function_name_id={at.get('function', 0)} "
                f"line={at.get('line', 0)} column={at.get('column', 0)}}}"
            ),
        ),
        (
            "StackFrames",
            "frames",
            lambda f: f"{{file_location_id={f.get('location', 0)} parent_frame_id={f.get('parent', 0) + 1}}}",
        ),
    )
    for title, name, shown in rows:
        if frames.get(name):
            yield title
            yield from (f"{n} {shown(row)}" for n, row in enumerate(frames[name], 1))
            yield ""


def _computation(c: Message, names: dict[int, str], entry: bool, order: Sequence[int] | None) -> Iterator[str]:
    instructions: list[Message] = c.get("instructions", [])
    by_id = {_id(i): i for i in instructions}
    root = c.get("root_id", 0)
    if len(by_id) != len(instructions):
        raise ValueError(f"two instructions of {c['name']} have one id")
    if root not in by_id:
        raise ValueError(f"the root of {c['name']} is not in it")
    for i in instructions:
        plain(i["name"])
        plain(i["opcode"])
    if order is not None:
        if sorted(order) != sorted(by_id):
            raise ValueError(f"the schedule of {c['name']} is not about its instructions")
        instructions = [by_id[k] for k in order]
    yield f"{'ENTRY ' if entry else ''}%{c['name']} {{"
    for i in instructions:
        operands = [by_id[k] for k in i.get("operands", [])]
        before = [by_id[k]["name"] for k in i.get("predecessors", [])]
        called = [names[k] for k in i.get("called", [])]
        yield f"  {'ROOT ' if _id(i) == root else ''}{_instruction(i, operands, called, before)}"
    yield f'}}, execution_thread="{c["thread"]}"' if c.get("thread") not in (None, "", "main") else "}"


def _instruction(i: Message, operands: Sequence[Message], called: Sequence[str], before: Sequence[str]) -> str:
    shape = shape_of(i["shape"])
    opcode = i["opcode"]
    if opcode == "parameter":
        inside = str(i.get("parameter", 0))
    elif opcode == "constant":
        inside = literal_text(i["literal"], _of_literal(i["literal"], shape))
    else:
        inside = ", ".join(f"%{o['name']}" for o in operands)
    parts = [f"%{i['name']} = {print_shape(shape)} {opcode}({inside})", *attributes(i, operands, called, before)]
    return ", ".join(parts)


def _of_literal(literal: Message, shape: Shape) -> Shape:
    """The shape of a constant with the orders of memory in which its numbers stand. Raises ValueError where the two
    are shapes of different arrays, or name different orders."""
    own = shape_of(literal["shape"])
    for (_, one), (_, other) in zip_longest(leaves(own), leaves(shape), fillvalue=((), None)):
        if not isinstance(one, ArrayShape) or not isinstance(other, ArrayShape):
            raise ValueError("a constant that is no array")
        if (one.element_type, one.dimensions) != (other.element_type, other.dimensions):
            raise ValueError(f"a constant of shape {print_shape(shape)} has numbers of shape {print_shape(own)}")
        if one.layout and other.layout and one.layout.minor_to_major != other.layout.minor_to_major:
            raise ValueError(f"a constant of shape {print_shape(shape)} has its numbers in another order")
    return own


def _id(m: Message) -> int:
    """A number that is 0 is left out."""
    number: int = m.get("id", 0)
    return number


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
