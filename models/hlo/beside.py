"""What is written beside an operation: configurations of backends, and attributes that frontends hand through.

Neither is part of HLO, and a backend may do with them what it likes. So nothing of it is passed over by default: a
table says which names have no meaning for what is computed, which are read where their operation is, and which promise
something of it. All else is not known, and whoever claims something of such an operation says `unknown`, and the name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isinf
from typing import Any, Final, Literal

from hloproof.models.errors import InputError
from hloproof.models.hlo.attributes import Attributes, AttributeValue, Quoted, Word
from hloproof.models.hlo.module import Instruction, Module
from hloproof.models.hlo.opcodes import COLLECTIVES, IN_STEPS
from hloproof.models.hlo.shape import leaves
from hloproof.models.hlo.text.lexer import Scanner

Kind = Literal["silent", "read", "promise", "empty", "unknown"]


@dataclass(frozen=True, slots=True)
class Beside:
    """Something that is written beside an operation and counts: a promise, or what nobody here knows."""

    name: str
    """`backend_config.dynamic_slice_config`, say."""
    kind: Literal["promise", "unknown"]
    value: str


CONFIGURATION: Final = """
* | silent | operation_queue_id wait_on_operation_queues force_earliest_schedule device_type | where and when it runs
* | silent | reification_cost | an estimate of time
* | silent | outer_dimension_partitions | how many threads share the work
* | silent | sizes | the tiles of a kernel
* | silent | native_emitter_backend_config | by what the kernel is made
fusion | silent | fusion_config.kind | which kernel is made
fusion | silent | fusion_backend_config.kind fusion_backend_config.triton_gemm_config | which kernel is made
fusion | silent | fusion_backend_config.block_level_fusion_config | the tiles of a kernel
fusion | silent | fusion_backend_config.custom_fusion_config | which kernel does what the computation says
fusion | silent | fusion_backend_config.cudnn_fusion_config.plan_id | which plan is taken
fusion | silent | fusion_backend_config.reification_cost | an estimate of time
fusion | promise | fusion_backend_config.dynamic_memcpy_config | which bytes a copy in its place moves in each turn
@collective | silent | collective_backend_config.is_sync collective_backend_config.is_pipelined | when it runs
@collective | silent | collective_backend_config.no_parallel_custom_call | when it runs
@collective | silent | collective_backend_config.reification_cost | an estimate of time
@collective | silent | collective_backend_config.backend collective_backend_config.collectives_mode | by what it runs
@collective | silent | collective_backend_config.kernel_strategy | by what it runs
@asynchronous | silent | is_sync | when it runs; liveness reads it
while | read | known_trip_count known_init_step known_induction_variable | a promise, which `trip_count` reads
while | read | dynamic_variable_tuple_indices | the same
while | empty | dynamic_variables | not known where there are any
@slice | promise | dynamic_slice_config | which bytes a copy in its place reads or writes in each turn of a loop
"""
"""Opcodes, what becomes of a name, the names, and why: names of fields at the top of a `backend_config`, or below
one of these. Of a name that stands here without a dot everything below is meant. Of one that is `empty` it is known
only that an empty list says nothing."""

FRONTEND: Final = """
* | silent | xla.sdy.* | where parts of arrays lie
* | silent | _xla_compute_type _xla_stream_annotation _scheduling_group_id scheduling_group | where and when it runs
* | silent | keep_original_sequence_order_in_group scheduler_hint | when it runs
* | silent | _xla_buffer_placement | where an array lies
* | silent | _xla_last_modifying_pass xla_interned_metadata | notes of who wrote it
@collective | silent | collective_group_key combiner_key | what is begun together
@caller | silent | _collectives_group | what is begun together
parameter | silent | neff_input_names | the name of what is given
* | silent | inlineable xla_cpu_small_call MUST_FUSE MAXIMAL_FUSE | how it is compiled
* | silent | _xla_collective_matmul fingerprint_before_lhs | how it is compiled
* | silent | grad_x grad_y | of which argument it is a gradient
* | silent | num_batch_dims | handed on from a call of a library, which alone it concerns
call | silent | composite.* | the name of what the call stands for
@permute | read | _xla_send_recv_validation | in which turns it carries anything, a promise (see `carried_when`)
@peer | read | _xla_send_recv_validation | the same
@peer | read | _xla_send_recv_source_target_pairs | between which devices it is (see `device_pairs`)
@peer | read | _xla_send_recv_pipeline | on which stream it runs
@peer | read | _xla_host_transfer_handler_name _xla_host_transfer_rendezvous | with what on the host it is
"""
"""The same of `frontend_attributes`; `*` at the end of a name stands for any rest."""

_SLICES: Final = frozenset({"slice", "dynamic-slice", "dynamic-update-slice", "fusion", "copy", "copy-start"})
_TOGETHER: Final = COLLECTIVES | {"send", "recv", "async"}
"""What devices do together, or may do in flight."""
_ASYNCHRONOUS: Final = re.compile(r"(.*)-(start|update|done)")

_CALLS: Final = frozenset({"custom-call"})
"""What is written beside a call of a library is part of what is called."""
PEERS: Final = frozenset({"send", "recv", "send-done", "recv-done"})
"""Operations whose partner is named by attributes of frontends."""


@dataclass(frozen=True, slots=True)
class NamesRow:
    """A line of a table: opcodes, what becomes of the names, and the names."""

    opcodes: str
    kind: Kind
    names: tuple[str, ...]
    fields: bool
    """Whether they are names of fields, which are written in two ways; attributes of frontends have one name each."""

    def has(self, name: str) -> bool:
        """Whether the name is one of the line."""
        same = _same if self.fields else _same_key
        return any(same(name, n) for n in self.names)

    def means(self, opcode: str) -> bool:
        """Whether it is about operations of this opcode."""
        match self.opcodes:
            case "*":
                return True
            case "@collective":
                return _is_together(opcode)
            case "@asynchronous":
                return _ASYNCHRONOUS.fullmatch(opcode) is not None
            case "@permute":
                return opcode.startswith(("collective-permute", "async-"))
            case "@peer":
                return opcode in PEERS
            case "@caller":
                return opcode in ("call", "async-start", "async-update", "async-done")
            case "@slice":
                return opcode in _SLICES
        return opcode == self.opcodes


def _is_together(opcode: str) -> bool:
    link = _ASYNCHRONOUS.fullmatch(opcode)
    return (opcode if link is None else link[1]) in _TOGETHER


def rows_of(table: str, fields: bool = True) -> tuple[NamesRow, ...]:
    """The lines of a table, of names of fields or of others."""
    out: list[NamesRow] = []
    for line in table.strip().splitlines():
        opcodes, kind, names, _ = (part.strip() for part in line.split(" | "))
        assert kind in ("silent", "read", "promise", "empty")
        out.append(NamesRow(opcodes, kind, tuple(names.split()), fields))  # type: ignore[arg-type]
    return tuple(out)


_CONFIGURATION: Final = rows_of(CONFIGURATION)
_FRONTEND: Final = rows_of(FRONTEND, fields=False)


def _same(name: str, known: str) -> bool:
    """Names of fields may also be written as in `knownTripCount`."""
    return _same_key(name, known) or _plain(name) == _plain(known)


def _same_key(name: str, known: str) -> bool:
    return name.startswith(known[:-1]) if known.endswith("*") else name == known


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def kind_of(opcode: str, name: str, rows: Iterable[NamesRow]) -> Kind:
    """What the name is beside an operation of this opcode, as the table says."""
    return next((r.kind for r in rows if r.means(opcode) and r.has(name)), "unknown")


def beside(i: Instruction) -> tuple[Beside, ...]:
    """What is written beside the instruction and counts. That of calls of libraries is not here: it is part of them, as
    what frontends say of a send or recv is, which tells its partner."""
    out: list[Beside] = []
    for name, value in i.attributes.pairs:
        if name == "backend_config" and i.opcode not in _CALLS:
            out += _of_configuration(i.opcode, value)
        elif name == "frontend_attributes" and i.opcode not in _CALLS | PEERS:
            out += _of_frontend(i.opcode, value)
    return tuple(out)


def unknown_beside(i: Instruction) -> tuple[str, ...]:
    """What is written beside the instruction and is not known here: names, and whose they are."""
    return tuple(f"{b.name} of {i.opcode}" for b in beside(i) if b.kind == "unknown")


def unknown_of_order(module: Module) -> frozenset[str]:
    """What is not known beside operations of which others wait: those that are not over when the next one begins, that
    devices do together, or that run other computations. Nobody can say when such an operation is over, and what it
    holds until then."""
    return frozenset(
        name
        for c in module.computations
        for i in c.instructions
        if i.opcode in IN_STEPS or _is_together(i.opcode) or _ASYNCHRONOUS.fullmatch(i.opcode)
        for name in unknown_beside(i)
    )


def unknown_in(module: Module) -> frozenset[str]:
    """What is written beside the instructions of a module and is not known, as `unknown_beside` tells it, and of what
    frontends say of transfers as well."""
    every = [i for c in module.computations for i in c.instructions]
    return frozenset(name for i in every for name in (*unknown_beside(i), *_unknown_of_transfer(i)))


def _unknown_of_transfer(i: Instruction) -> Sequence[str]:
    said = i.attributes.get("frontend_attributes") if i.opcode in PEERS else None
    return [] if said is None else [f"{b.name} of {i.opcode}" for b in _of_frontend(i.opcode, said)]


class UnknownInside:
    """What is written beside instructions and is not known, in the computations that they call as well."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._found: dict[str, frozenset[str]] = {}

    def of(self, i: Instruction) -> frozenset[str]:
        """The names, for the instruction and all that it calls."""
        waiting = list(i.attributes.computations())
        while waiting:
            name = waiting[-1]
            computation = self._module.by_name.get(name)
            inner = [] if computation is None else computation.instructions
            called = [
                n for k in inner for n in k.attributes.computations() if n not in self._found and n not in waiting
            ]
            if name not in self._found and called:
                waiting += called
                continue
            waiting.pop()
            own = (names for k in inner for names in (unknown_beside(k), *self._below(k)))
            self._found.setdefault(name, frozenset().union(*own))
        return frozenset(unknown_beside(i)).union(*self._below(i))

    def _below(self, i: Instruction) -> list[frozenset[str]]:
        return [self._found.get(name, frozenset()) for name in i.attributes.computations()]


def configuration(value: AttributeValue) -> dict[str, Any] | None:
    """The object that a `backend_config` holds, of which each name is given once; None for anything else, and where
    brackets stand too deep in one another."""
    text = _text(value)
    if isinstance(value, Quoted):
        text = text.replace('\\"', '"')
        if "\\" in text:  # of the quoted text, or of a string in it
            return None
    if _depth(text) > _DEEPEST:
        return None
    for strict in (text, _BARE_NAME.sub(lambda m: m[0] if m[1] is None else f'"{m[1]}"', text)):
        try:
            found = json.loads(strict, object_pairs_hook=_once, parse_int=_whole, parse_float=_Number)
        except (ValueError, RecursionError):
            continue
        return found if isinstance(found, dict) else None
    return None


_DEEPEST: Final = 100
"""Brackets in brackets; configurations have less than ten."""
_BRACKET: Final = re.compile(r'"(?:[^"\\]|\\.)*"|([\[{])|([\]}])', re.DOTALL)


def _depth(text: str) -> int:
    """How many brackets at most are open at once, outside of strings."""
    depth = deepest = 0
    for found in _BRACKET.finditer(text):
        depth += (found[1] is not None) - (found[2] is not None)
        deepest = max(deepest, depth)
    return deepest


_BARE_NAME: Final = re.compile(r'"(?:[^"\\]|\\.)*"|([A-Za-z_]\w*)(?=\s*:)', re.ASCII | re.DOTALL)
"""Names of fields may stand without quotes: the second group, outside of strings."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({_plain(name) for name, _ in pairs}) < len(pairs):
        raise ValueError("a name is given twice")
    return dict(pairs)


class _Number(float):
    """A number with its digits: in a field that nobody knows, two that one double stands for may be two."""

    digits: str

    def __new__(cls, digits: str) -> _Number:
        number = super().__new__(cls, digits)
        if isinf(number):
            raise ValueError("a number that is too large")
        number.digits = digits
        return number

    def __repr__(self) -> str:
        return self.digits


def _whole(digits: str) -> float:
    number = _Number(digits)
    return number if digits == "-0" else int(digits)


OF_ANY_CALL: Final = frozenset(
    {
        "custom_call_target",
        "custom_call_has_side_effect",
        "api_version",
        "schedule",
        "operand_layout_constraints",
        "output_to_operand_aliasing",
        "metadata",
        "origin",
        "original_value",
        "statistics",
        "sharding",
        "control-predecessors",
    }
)
"""What may stand at a call of a library whatever it calls: how, when and in which memory it is called, and notes."""


def unread_of_call(attributes: Attributes, *read: str) -> tuple[str, ...]:
    """What is written at a call of a library beside the attributes that its meaning is read from, and may change that.

    A call takes any attribute. What frontends hand through and the table above does not know is told by its name."""
    out: list[str] = []
    for name, value in attributes.pairs:
        if name == "frontend_attributes" and name not in read:
            out += [b.name for b in _of_frontend("custom-call", value)]
        elif name == "backend_config" and name not in read:
            out += [] if _text(value).strip() in ("", "{}") else [name]
        elif name not in OF_ANY_CALL and name not in read and value is not False:
            out.append(name)
    return tuple(out)


def settings_of_call(attributes: Attributes, own: str) -> dict[str, Any] | None:
    """What stands below the name `own` in the configuration of a call of a library; None where nothing does, or where
    something else is written there that counts."""
    value = attributes.get("backend_config")
    config = None if value is None else configuration(value)
    if config is None:
        return None
    rest = {name: inner for name, inner in config.items() if name != own}
    if any("." in name for name in config):
        return None
    if any(_counted("custom-call", name, inner) for name, inner in rest.items()):
        return None
    found = config.get(own)
    return found if isinstance(found, dict) else None


def factor(settings: dict[str, Any], name: str) -> float | None:
    """A number among the settings, 0 where it is left out; None for anything else."""
    found = settings.get(name, 0)
    return found if isinstance(found, int | float) and not isinstance(found, bool) else None


@lru_cache(maxsize=1 << 12)
def _of_configuration(opcode: str, value: AttributeValue) -> Sequence[Beside]:
    text = _text(value)
    if text.strip() in ("", "{}"):
        return []
    config = configuration(value)
    if config is None or any("." in name for name in config):  # a name of ours is a path, one of theirs never
        return [Beside("backend_config", "unknown", letters(value))]
    return [b for name, inner in config.items() for b in _counted(opcode, name, inner)]


def _counted(opcode: str, name: str, value: Any) -> list[Beside]:
    """What of a field and of those below it counts."""
    kind = kind_of(opcode, name, _CONFIGURATION)
    if kind == "silent" or (kind == "read" and (_plain(name) != _plain(TRIP_COUNT) or count_of(value) is not None)):
        return []
    if kind == "promise":
        return [] if value is None else [_said(_as_known(name), "promise", value)]
    if kind == "empty" and value == []:
        return []
    if isinstance(value, dict) and _leads_on(opcode, name) and not any("." in inner for inner in value):
        return [b for inner, v in value.items() for b in _counted(opcode, f"{name}.{inner}", v)]
    return [_said(name, "unknown", value)]


def _leads_on(opcode: str, name: str) -> bool:
    """Whether the table names fields below this one."""
    depth = name.count(".") + 1
    longer = (n.split(".") for r in _CONFIGURATION if r.means(opcode) for n in r.names)
    return any(len(parts) > depth and _same(name, ".".join(parts[:depth])) for parts in longer)


def stated(value: AttributeValue | None, name: str) -> Any:
    """What a `backend_config` says under the name of a field at its top; None where it is silent, or is no object."""
    found = None if value is None else configuration(value)
    return next((v for k, v in (found or {}).items() if _plain(k) == _plain(name)), None)


def count_of(value: Any) -> int | None:
    """The number of a message `{"n": "5"}`, 0 where it is left out; None for anything else."""
    if not isinstance(value, dict) or not value.keys() <= {"n"}:
        return 0 if value is None else None
    n = value.get("n", 0)
    if isinstance(n, str) and _DIGITS.fullmatch(n):
        return int(n[:20])  # longer ones than the type holds are cut, not turned into numbers
    return n if isinstance(n, int) and not isinstance(n, bool) else None


TRIP_COUNT: Final = "known_trip_count"
_DIGITS: Final = re.compile(r"-?[0-9]+")


def _as_known(name: str) -> str:
    return next(n for r in _CONFIGURATION for n in r.names if _same(name, n))


def _said(name: str, kind: Literal["promise", "unknown"], value: Any) -> Beside:
    return Beside(f"backend_config.{name}", kind, in_one_order(value))


def in_one_order(value: Any) -> str:
    """What a configuration says under a name, with names in one order and numbers by their digits."""
    return repr(_in_order(value))


def _in_order(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _in_order(value[name]) for name in sorted(value)}
    return [_in_order(v) for v in value] if isinstance(value, list) else value


_KEY: Final = re.compile(r"[^\s={},\"]+")
_BARE: Final = re.compile(r"[^\s,{}\"]+")


def frontend_entries(text: str) -> dict[str, str] | None:
    """The attributes by their names, escapes as in a quoted string; None for what is no list of them, or names one
    twice."""
    scanner = Scanner(text)
    out: dict[str, str] = {}
    try:
        scanner.expect("{", "before the attributes")
        while not scanner.accept("}"):
            if out:
                scanner.expect(",", "among the attributes")
            scanner.skip()
            key = scanner.match(_KEY)
            scanner.expect("=", "behind the name of an attribute")
            scanner.skip()
            first = scanner.peek()
            if key is None or key.group() in out:
                return None
            if first == '"':
                out[key.group()] = scanner.string("a value")
            elif first == "{":
                out[key.group()] = scanner.group(letters=True).replace("\\", "\\\\")
            else:
                bare = scanner.match(_BARE)
                if bare is None:
                    return None
                out[key.group()] = bare.group().replace("\\", "\\\\")
    except InputError:
        return None
    return out if scanner.at_end() else None


BETWEEN_DEVICES: Final = "_xla_send_recv_source_target_pairs"
"""The attribute of a send or recv that says between which devices it is."""
_DEVICES: Final = re.compile(r"\{\s*([0-9]{1,18})\s*,\s*([0-9]{1,18})\s*\}")
_LIST_OF_DEVICES: Final = re.compile(rf"\s*\{{\s*(?:{_DEVICES.pattern}(?:\s*,\s*{_DEVICES.pattern})*)?\s*\}}\s*")


def device_pairs(text: str) -> tuple[tuple[int, int], ...] | None:
    """Which device sends to which, as `{{0,1},{1,0}}` says; None for any other text."""
    if _LIST_OF_DEVICES.fullmatch(text) is None:
        return None
    return tuple((int(a), int(b)) for a, b in _DEVICES.findall(text))


@lru_cache(maxsize=1 << 12)
def _of_frontend(opcode: str, value: AttributeValue) -> Sequence[Beside]:
    text = _text(value)
    if text.strip() in ("", "{}"):
        return []
    entries = frontend_entries(text)
    if entries is None:
        return [Beside("frontend_attributes", "unknown", text)]
    return [
        Beside(f"frontend_attributes.{name}", "unknown", told)
        for name, told in entries.items()
        if kind_of(opcode, name, _FRONTEND) == "unknown"
    ]


def letters(value: AttributeValue) -> str:
    """What is written: of two attributes with the same letters neither says more. Whether they stand in quotes is told
    where it matters, since a backslash is an escape there and only there."""
    return repr(value) if "\\" in (text := _text(value)) else text


def _text(value: AttributeValue) -> str:
    return value.text if isinstance(value, Quoted | Word) else repr(value)


def replicated(i: Instruction) -> tuple[bool, ...]:
    """Of which arrays of a parameter it is promised that all replicas are given the same; () where of none."""
    flags = i.attributes.get("parameter_replication")
    if not isinstance(flags, tuple):
        flags = (flags,) * sum(1 for _ in leaves(i.shape)) if flags == Word("{true}") else ()
    told = tuple(f == Word("true") for f in flags)
    return told if any(told) else ()
