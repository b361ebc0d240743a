"""Attribute values as text, and back: `dimensions={0,1}`, `window={size=3x3}`, `dim_labels=b01f_01io->b01f`.

A table says which names take which kind of value. Names that are not in it are kept: as integers, words or, with
anything else between braces, as the text that was written.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from hloproof.models.errors import InputError
from hloproof.models.hlo.attributes import (
    Aliasing,
    AttributeValue,
    BufferDonor,
    ComputationRef,
    ConvolutionDimensions,
    DevicePairs,
    PaddingDimension,
    Quoted,
    ReplicaGroups,
    SliceDimension,
    Window,
    Word,
)
from hloproof.models.hlo.opcodes import BODIES, suggestion
from hloproof.models.hlo.text.device_groups import read_device_pairs, read_iota, read_replica_groups
from hloproof.models.hlo.text.lexer import COMMENT, Scanner
from hloproof.models.hlo.text.literal import LiteralError, check_literal
from hloproof.models.hlo.text.shapes import read_shape
from hloproof.models.hlo.text.windows import (
    print_convolution,
    print_padding,
    print_window,
    read_convolution,
    read_padding,
    read_window,
)

COMPUTATIONS: Final = frozenset({"branch_computations", "called_computations"})
COMPUTATION: Final = BODIES - COMPUTATIONS
"""Attributes that name one computation of the module, or hold its instructions between braces."""
TEXT: Final = frozenset(
    {
        "metadata",
        "backend_config",
        "frontend_attributes",
        "origin",
        "original_value",
        "statistics",
        "origin_recovery_table",
        "sparsity_config",
        "precision_config",
        "stack_frame_index",
    }
)
"""Kept as written."""
INTEGER_LISTS: Final = frozenset(
    {
        "dimensions",
        "dynamic_slice_sizes",
        "slice_sizes",
        "fft_length",
        "offset_dims",
        "collapsed_slice_dims",
        "start_index_map",
        "operand_batching_dims",
        "start_indices_batching_dims",
        "update_window_dims",
        "inserted_window_dims",
        "scatter_dims_to_operand_dims",
        "input_batching_dims",
        "scatter_indices_batching_dims",
        "lhs_batch_dims",
        "rhs_batch_dims",
        "lhs_contracting_dims",
        "rhs_contracting_dims",
        "lhs_ragged_dims",
        "rhs_group_dims",
        "permutation",
    }
)
INTEGERS: Final = frozenset(
    {
        "index",
        "iota_dimension",
        "k",
        "feature_index",
        "exponent_bits",
        "mantissa_bits",
        "channel_id",
        "feature_group_count",
        "batch_group_count",
        "index_vector_dim",
        "delta",
        "num_carries",
        "replica_count",
        "num_partitions",
        "cross_program_prefetch_index",
        "all_reduce_id",
    }
)
BOOLEANS: Final = frozenset(
    {
        "is_scheduled",
        "indices_are_sorted",
        "unique_indices",
        "use_global_device_ids",
        "is_host_transfer",
        "is_stable",
        "constrain_layout",
        "largest",
        "custom_call_has_side_effect",
        "has_dynamic_root",
        "is_associative",
        "is_composite",
        "lower",
        "left_side",
        "unit_diagonal",
        "is_reverse",
        "use_auto_spmd_partitioning",
        "is_cross_program_prefetch",
    }
)
WORDS: Final[dict[str, tuple[str, ...]]] = {
    "api_version": (
        "API_VERSION_ORIGINAL",
        "API_VERSION_STATUS_RETURNING",
        "API_VERSION_STATUS_RETURNING_UNIFIED",
        "API_VERSION_TYPED_FFI",
    ),
    "direction": ("EQ", "NE", "GE", "GT", "LE", "LT"),
    "distribution": ("rng_uniform", "rng_normal"),
    "fft_type": ("FFT", "IFFT", "RFFT", "IRFFT"),
    "kind": ("kLoop", "kInput", "kOutput", "kCustom"),
    "mode": ("cross_replica", "cross_partition", "cross_replica_and_partition", "flattened_id"),
    "padding_type": ("PADDING_INVALID", "PADDING_VALID", "PADDING_SAME"),
    "schedule": ("SCHEDULE_NONE", "SCHEDULE_LATEST", "SCHEDULE_EARLIEST"),
    "transpose_a": ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"),
    "type": ("FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"),
}
"""Attributes that take one of a few words."""
LOG_MODES: Final = ("default", "fusion_debugger")

_BARE = re.compile(r"[^,\s{}()\[\]\"/]*")
_SIMPLE_LIST = re.compile(r"\{\s*(?:-?[A-Za-z0-9_.\-%]+(?:\s*,\s*-?[A-Za-z0-9_.\-%]+)*+)?\s*\}", re.ASCII)
_INTEGER = re.compile(r"-?[0-9]{1,19}", re.ASCII)
_LIST_OF_INTEGERS = re.compile(r"\{[-0-9,\s]*\}", re.ASCII)
_LOG_MODE = re.compile(r"\blog_mode\s*=\s*([A-Za-z0-9_]*)", re.ASCII)
_PLAIN_SHAPE = re.compile(r"[a-z][a-z0-9]*\[[0-9,\s]*\]", re.ASCII)
_NUMBER = re.compile(r"[-+]?nan\(0x[0-9a-f]+\)|[^,\s{}()\[\]\"/]*", re.ASCII | re.IGNORECASE)
_SHARDING_DEVICES = re.compile(r"devices=")
_COMPUTATION_NAME = re.compile(r"%?[A-Za-z0-9_.\-]+", re.ASCII)

Nested = Callable[[Scanner, str], ComputationRef]
"""Reads a computation written between braces as the value of the named attribute."""

_known: dict[tuple[str, str], AttributeValue] = {}
_KNOWN_LIMIT: Final = 1 << 16


def read_attribute(scanner: Scanner, name: str, nested: Nested) -> AttributeValue:
    """The value of attribute `name` at the cursor, which stands behind the `=`. Raises InputError."""
    scanner.skip()
    start = scanner.pos
    first = scanner.text[start : start + 1]
    if name in COMPUTATION:
        if first == "{":
            return nested(scanner, name)
        return ComputationRef(scanner.name("the name of a computation"))
    if first == '"':
        return Quoted(scanner.string("a string"))
    if name in TEXT:
        return Word(scanner.group() if first == "{" else _bare(scanner))
    if name in COMPUTATIONS:
        return _read_computations(scanner)
    reader = _READERS.get(name)
    if reader is None:
        raw = scanner.group() if first in "{[(" and first else _bare(scanner)
        key = name, raw
        value = _known.get(key)
        if value is None:
            value = _generic(scanner, name, raw, start)
            _remember(key, value)
        return value
    if first == "{":
        raw = scanner.group()
        value = _known.get((name, raw))
        if value is not None:
            return value
        scanner.pos = start
    value = reader(scanner)
    _remember((name, scanner.text[start : scanner.pos]), value)
    return value


def _remember(key: tuple[str, str], value: AttributeValue) -> None:
    if len(_known) >= _KNOWN_LIMIT:
        _known.clear()
    _known[key] = value


def _bare(scanner: Scanner) -> str:
    found = scanner.match(_BARE)
    return found.group() if found else ""


def _generic(scanner: Scanner, name: str, raw: str, start: int) -> AttributeValue:
    """The value of the text `raw`, which starts at `start`."""
    if name in INTEGERS:
        if not _INTEGER.fullmatch(raw) or not -(2**63) <= int(raw) < 2**63:
            raise scanner.error(f"{name} takes an integer of at most 64 bits, found '{raw[:40]}'", start)
        return int(raw)
    if name in BOOLEANS and raw in ("1", "0"):
        return raw == "1"
    if raw in ("true", "false"):
        return raw == "true"
    if name in BOOLEANS:
        raise scanner.error(f"{name} is true or false, found '{raw[:40]}'", start)
    if name == "epsilon":
        try:
            return float(raw)
        except ValueError:
            raise scanner.error(f"{name} takes a number, found '{raw[:40]}'", start) from None
    if name in WORDS and raw not in WORDS[name]:
        raise scanner.error(_not_a_word(name, raw, WORDS[name]), start)
    if raw.startswith("{"):
        plain = COMMENT.sub("", raw) if "/" in raw else raw
        if _SIMPLE_LIST.fullmatch(plain):
            entries = [e.strip() for e in plain[1:-1].split(",")] if plain[1:-1].strip() else []
            if _LIST_OF_INTEGERS.fullmatch(plain) and all(_INTEGER.fullmatch(e) for e in entries):
                return tuple(int(e) for e in entries) if entries or name in INTEGER_LISTS else Word("{}")
            if name not in INTEGER_LISTS and name != "sharding":
                return tuple(Word(e) for e in entries)
        if name in INTEGER_LISTS and "{" not in raw[1:]:
            raise scanner.error(f"{name} takes a list of integers such as {{0,1}}, found '{raw[:40]}'", start)
        return Word(raw)
    if name in INTEGER_LISTS:
        raise scanner.error(f"{name} takes a list of integers such as {{0,1}}, found '{raw[:40]}'", start)
    if _INTEGER.fullmatch(raw):
        return int(raw)
    return Word(raw)


def _not_a_word(name: str, raw: str, known: tuple[str, ...]) -> str:
    return f"{name} takes one of {', '.join(known)}, found '{raw[:60]}'{suggestion(raw[:60], known)}"


def _debug_attributes(scanner: Scanner) -> Word:
    """`{ {"name"}:({log_mode=default,callback_id=1}) }`: kept as written, with a log mode that exists."""
    scanner.skip()
    start = scanner.pos
    raw = scanner.group()
    for found in _LOG_MODE.finditer(raw):
        if found.group(1) not in LOG_MODES:
            raise scanner.error(_not_a_word("log_mode", found.group(1), LOG_MODES), start + found.start(1))
    return Word(raw)


def _read_computations(scanner: Scanner) -> tuple[ComputationRef, ...]:
    """`{%a, %b}`, or one name without braces."""
    if scanner.peek() != "{":
        return (ComputationRef(scanner.name("the name of a computation")),)
    scanner.expect("{", "before the names of computations")
    names: list[ComputationRef] = []
    while not scanner.accept("}"):
        if names:
            scanner.expect(",", "or '}' among the names of computations")
        names.append(ComputationRef(scanner.name("the name of a computation")))
    return tuple(names)


def _read_predecessors(scanner: Scanner) -> tuple[Word, ...]:
    scanner.expect("{", "before the names of control predecessors")
    names: list[Word] = []
    while not scanner.accept("}"):
        if names:
            scanner.expect(",", "or '}' among the names of control predecessors")
        names.append(Word(scanner.name("the name of an instruction")))
    return tuple(names)


def _read_slice(scanner: Scanner) -> tuple[SliceDimension, ...]:
    """`{[0:8:2], [1:3]}`."""
    scanner.expect("{", "before the ranges of a slice")
    ranges: list[SliceDimension] = []
    while not scanner.accept("}"):
        if ranges:
            scanner.expect(",", "or '}' among the ranges of a slice")
        scanner.expect("[", "before a range of a slice")
        start = scanner.integer("the start of a range")
        scanner.expect(":", "after the start of a range")
        limit = scanner.integer("the limit of a range")
        stride = scanner.integer("the stride of a range") if scanner.accept(":") else 1
        scanner.expect("]", "after a range of a slice")
        ranges.append(SliceDimension(start, limit, stride))
    return tuple(ranges)


def _read_index(scanner: Scanner) -> tuple[int, ...]:
    """A position in a tuple tree, `{}` or `{0,1}`."""
    scanner.expect("{", "at the start of a position in a tuple")
    values: list[int] = []
    while not scanner.accept("}"):
        if values:
            scanner.expect(",", "or '}' in a position in a tuple")
        at = scanner.pos
        values.append(scanner.integer("a tuple index"))
        if values[-1] < 0:
            raise scanner.error("a tuple index is not negative", at)
    return tuple(values)


def _read_aliasing(scanner: Scanner) -> tuple[Aliasing, ...]:
    """`{ {0}: (0, {}, may-alias), {1}: (1, {}) }`."""
    scanner.expect("{", "at the start of the aliasing description")
    entries: list[Aliasing] = []
    while not scanner.accept("}"):
        if entries:
            scanner.expect(",", "or '}' at the end of the aliasing description")
        output = _read_index(scanner)
        scanner.expect(":", "after the output's position")
        scanner.expect("(", "before the number of an operand")
        operand = scanner.integer("the number of an operand")
        scanner.expect(",", "after the number of an operand")
        index = _read_index(scanner)
        kind = ""
        if scanner.accept(","):
            at = scanner.pos
            kind = scanner.word("may-alias or must-alias")
            if kind not in ("may-alias", "must-alias"):
                raise scanner.error(f"expected may-alias or must-alias, found '{kind}'", at)
        scanner.expect(")", "at the end of an aliasing entry")
        entries.append(Aliasing(output, operand, index, kind))
    return tuple(entries)


def _read_donors(scanner: Scanner) -> tuple[BufferDonor, ...]:
    """`{ (0, {0}), (1, {}) }`."""
    scanner.expect("{", "at the start of the donors")
    entries: list[BufferDonor] = []
    while not scanner.accept("}"):
        if entries:
            scanner.expect(",", "or '}' among the donors")
        scanner.expect("(", "before the number of a parameter")
        parameter = scanner.integer("the number of a parameter")
        scanner.expect(",", "after the number of a parameter")
        index = _read_index(scanner)
        scanner.expect(")", "at the end of a donor")
        entries.append(BufferDonor(parameter, index))
    return tuple(entries)


def _shapes_between_braces(scanner: Scanner) -> Word:
    """`{f32[2]{0}, (s32[])}`: checked, and kept as written."""
    start = scanner.pos
    scanner.expect("{", "before a list of shapes")
    first = True
    while not scanner.accept("}"):
        if not first:
            scanner.expect(",", "or '}' in a list of shapes")
        first = False
        read_shape(scanner)
    return Word(scanner.text[start : scanner.pos].strip())


def _one_shape(scanner: Scanner) -> Word:
    scanner.skip()
    start = scanner.pos
    read_shape(scanner)
    return Word(scanner.text[start : scanner.pos])


def _entry_layout(scanner: Scanner) -> Word:
    """`{(f32[2]{0})->f32[2]{0}}`: checked, and kept as written."""
    scanner.skip()
    start = scanner.pos
    scanner.expect("{", "before the layout of the entry computation")
    scanner.expect("(", "before the parameters' shapes")
    first = True
    while not scanner.accept(")"):
        if not first:
            scanner.expect(",", "or ')' among the parameters' shapes")
        first = False
        read_shape(scanner)
    scanner.expect("->", "before the result's shape")
    read_shape(scanner)
    scanner.expect("}", "after the layout of the entry computation")
    return Word(scanner.text[start : scanner.pos])


def _typed_literal(scanner: Scanner) -> Word:
    """`literal=s32[2]{0} {1, 2}` of a custom call: a shape and a value of it. What stands between braces behind a shape
    is its layout; where nothing follows that, it is the value."""
    scanner.skip()
    start = scanner.pos
    plain = _PLAIN_SHAPE.match(scanner.text, start, scanner.end)
    try:
        shape = read_shape(scanner)
        if plain is not None and scanner.peek() in (",", "}", ""):
            raise scanner.error("expected the value of the literal")
    except InputError:
        if plain is None:
            raise
        scanner.pos = start
        shape = read_shape(Scanner(plain.group()))
        scanner.pos = plain.end()
    scanner.skip()
    at = scanner.pos
    if scanner.peek() in ("{", "("):
        raw = scanner.group()
    else:
        found = scanner.match(_NUMBER)
        raw = found.group() if found else ""
    try:
        check_literal(COMMENT.sub(" ", raw) if "/" in raw else raw, shape)
    except LiteralError as error:
        raise scanner.error(str(error), at) from None
    return Word(scanner.text[start : scanner.pos])


def _sharding(scanner: Scanner) -> Word:
    """Kept as written; the number of devices must fit the tile assignment."""
    scanner.skip()
    start = scanner.pos
    if scanner.peek() != "{":
        return Word(_bare(scanner))
    raw = scanner.group()
    for found in _SHARDING_DEVICES.finditer(raw):
        inner = Scanner(scanner.text, scanner.file, start + found.end(), scanner.pos)
        inner.share_lines(scanner)
        _check_devices(inner)
    return Word(raw)


def _check_devices(scanner: Scanner) -> None:
    """`[2,2]0,1,2,3` or `[2,2]<=[4]`."""
    start = scanner.pos
    sizes: list[int] = []
    scanner.expect("[", "before a tile assignment")
    while not scanner.accept("]"):
        if sizes:
            scanner.expect(",", "or ']' in a tile assignment")
        sizes.append(scanner.integer("a size of the tile assignment"))
    if scanner.accept("<="):
        scanner.pos = start
        read_iota(scanner)
        return
    count, total = 0, 1
    for size in sizes:
        total *= size
    while _INTEGER.match(scanner.text, scanner.pos):
        scanner.integer("a device id")
        count += 1
        before = scanner.pos
        if not scanner.accept(",") or not scanner.peek().isdigit():
            scanner.pos = before
            break
    if count != total:
        raise scanner.error(f"the list of {count} devices does not match the tile assignment size {total}", start)


def _result_accuracy(scanner: Scanner) -> Word:
    """`{mode=highest}` or `{tolerance={rtol=0.5, atol=1.0, ulps=2}}`."""
    scanner.skip()
    start = scanner.pos
    raw = scanner.group() if scanner.peek() == "{" else _bare(scanner)
    plain = "".join(raw.split())
    mode = re.fullmatch(r"\{mode=([A-Za-z]+)\}", plain)
    if mode:
        if mode.group(1).lower() not in ("default", "highest"):
            raise scanner.error(f"the mode of result_accuracy is default or highest, found '{mode.group(1)}'", start)
    elif not re.fullmatch(r"\{tolerance=\{((atol|rtol|ulps)=[-+0-9.eE]+,?)*\}\}", plain):
        raise scanner.error("result_accuracy is {mode=..} or {tolerance={atol=.., rtol=.., ulps=..}}", start)
    return Word(raw)


_READERS: Final[dict[str, Callable[[Scanner], AttributeValue]]] = {
    "window": read_window,
    "dim_labels": read_convolution,
    "padding": read_padding,
    "slice": _read_slice,
    "replica_groups": read_replica_groups,
    "source_target_pairs": read_device_pairs,
    "control-predecessors": _read_predecessors,
    "output_to_operand_aliasing": _read_aliasing,
    "input_output_alias": _read_aliasing,
    "buffer_donor": _read_donors,
    "sharding": _sharding,
    "operand_layout_constraints": _shapes_between_braces,
    "outfeed_shape": _one_shape,
    "shape": _one_shape,
    "entry_computation_layout": _entry_layout,
    "literal": _typed_literal,
    "result_accuracy": _result_accuracy,
    "debug_attributes": _debug_attributes,
}


def print_attribute(name: str, value: AttributeValue) -> str:
    """`name=value`, read back by `read_attribute`."""
    return f"{name}={_print_value(name, value)}"


def _index(index: tuple[int, ...]) -> str:
    return "{" + ",".join(map(str, index)) + "}"


def _print_value(name: str, value: AttributeValue) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return repr(value)
        case Word():
            return value.text
        case Quoted():
            return f'"{value.text}"'
        case ComputationRef():
            return "%" + value.name
        case Window():
            return print_window(value)
        case ConvolutionDimensions():
            return print_convolution(value)
        case ReplicaGroups():
            return value.text
        case DevicePairs():
            return "{" + ",".join(f"{{{a},{b}}}" for a, b in value.pairs) + "}"
        case ():
            return "" if name == "padding" else "{}"
        case tuple():
            return _print_list(name, value)


def _print_list(name: str, values: tuple[object, ...]) -> str:
    percent = "%" if name == "control-predecessors" else ""
    entries: list[str] = []
    for value in values:
        match value:
            case PaddingDimension():
                return print_padding(values)  # type: ignore[arg-type]
            case Word():
                entries.append(percent + value.text)
            case ComputationRef():
                entries.append("%" + value.name)
            case SliceDimension():
                stride = "" if value.stride == 1 else f":{value.stride}"
                entries.append(f"[{value.start}:{value.limit}{stride}]")
            case Aliasing():
                kind = f", {value.kind}" if value.kind else ""
                entries.append(f"{_index(value.output_index)}: ({value.operand}, {_index(value.operand_index)}{kind})")
            case BufferDonor():
                entries.append(f"({value.parameter}, {_index(value.parameter_index)})")
            case _:
                entries.append(str(value))
    separator = "," if all(isinstance(v, int) for v in values) else ", "
    return "{" + separator.join(entries) + "}"
