"""Attribute values as text, and back: `dimensions={0,1}`, `window={size=3x3}`, `dim_labels=b01f_01io->b01f`.

A table says which names take which kind of value. Names that are not in it are kept: as integers, words or, with
anything else between braces, as the text that was written.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

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
from hloproof.models.hlo.opcodes import BODIES
from hloproof.models.hlo.text.device_groups import read_device_pairs, read_replica_groups
from hloproof.models.hlo.text.lexer import COMMENT, Scanner
from hloproof.models.hlo.text.literal import LiteralError, single
from hloproof.models.hlo.text.structured_attributes import (
    INTEGER,
    bare_word,
    not_a_word,
    read_aliasing,
    read_computations,
    read_debug_attributes,
    read_donors,
    read_entry_layout,
    read_one_shape,
    read_predecessors,
    read_result_accuracy,
    read_shapes,
    read_sharding,
    read_slice,
    read_typed_literal,
)
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
_LETTERS: Final = frozenset({"backend_config", "frontend_attributes"})
"""Take what stands between braces letter by letter."""
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
OF_GENERATORS: Final = ("rng_default", "rng_three_fry", "rng_philox")
OF_PRODUCTS: Final = (
    "unset",
    "dot_any_f8_any_f8_f32",
    "dot_any_f8_any_f8_f32_fast_accum",
    "dot_f16_f16_f16",
    "dot_f16_f16_f32",
    "dot_bf16_bf16_bf16",
    "dot_bf16_bf16_f32",
    "dot_bf16_bf16_f32_x3",
    "dot_bf16_bf16_f32_x6",
    "dot_bf16_bf16_f32_x9",
    "dot_bf16_bf16_fp8x3",
    "dot_bf16_bf16_fp8x4",
    "dot_tf32_tf32_f32",
    "dot_tf32_tf32_f32_x3",
    "dot_f32_f32_f32",
    "dot_f64_f64_f64",
)
"""The algorithms of a dot, as XLA's `PrecisionConfig` lists them."""
PRECISIONS: Final = ("default", "high", "highest", "packed_nibble")
WORDS: Final[dict[str, tuple[str, ...]]] = {
    "algorithm": (*OF_GENERATORS, *OF_PRODUCTS),  # which of them, is the opcode's: see `algorithms_of`
    "api_version": (
        "API_VERSION_ORIGINAL",
        "API_VERSION_STATUS_RETURNING",
        "API_VERSION_STATUS_RETURNING_UNIFIED",
        "API_VERSION_TYPED_FFI",
    ),
    "conv_kind": ("fprop", "dgrad", "wgrad", "unset", "unknown"),
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


def algorithms_of(opcode: str) -> tuple[str, ...]:
    """The words that `algorithm=` may be at an instruction of this opcode; a call of a library may have any of them."""
    if opcode.startswith("custom-call"):
        return WORDS["algorithm"]
    return OF_GENERATORS if opcode.startswith("rng-bit-generator") else OF_PRODUCTS


_SIMPLE_LIST = re.compile(r"\{\s*(?:-?[A-Za-z0-9_.\-%]+(?:\s*,\s*-?[A-Za-z0-9_.\-%]+)*+)?\s*\}", re.ASCII)
_LIST_OF_INTEGERS = re.compile(r"\{[-0-9,\s]*\}", re.ASCII)

_Nested = Callable[[Scanner, str], ComputationRef]
"""Reads a computation written between braces as the value of the named attribute."""

_known: dict[tuple[str, str], AttributeValue] = {}
_KNOWN_LIMIT: Final = 1 << 16


def read_attribute(scanner: Scanner, name: str, nested: _Nested) -> AttributeValue:
    """The value of attribute `name` at the cursor, which stands behind the `=`. Raises InputError."""
    scanner.skip()
    start = scanner.pos
    first = scanner.text[start : start + 1]
    if name in COMPUTATION:
        if first == "{":
            return nested(scanner, name)
        return ComputationRef(scanner.name("the name of a computation"))
    if first == '"':
        text = scanner.string("a string")
        if name in _NO_STRINGS:
            raise scanner.error(f"{name} takes no string, found {scanner.text[start : scanner.pos][:60]}", start)
        return Quoted(text)
    if name in TEXT:
        return Word(scanner.group(name in _LETTERS) if first == "{" else bare_word(scanner))
    if name in COMPUTATIONS:
        return read_computations(scanner)
    reader = _READERS.get(name)
    if reader is None:
        raw = scanner.group() if first in "{[(" and first else bare_word(scanner)
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


def _generic(scanner: Scanner, name: str, raw: str, start: int) -> AttributeValue:
    """The value of the text `raw`, which starts at `start`."""
    if name == "operand_precision":
        if not _SIMPLE_LIST.fullmatch(raw):
            raise scanner.error(f"{name} takes a list such as {{highest,default}}, found '{raw[:40]}'", start)
        words = [e.strip() for e in raw[1:-1].split(",") if raw[1:-1].strip()]
        if wrong := next((e for e in words if e not in PRECISIONS), None):
            raise scanner.error(not_a_word(name, wrong, PRECISIONS), start)
        return tuple(map(Word, words))
    if name in INTEGERS:
        if not INTEGER.fullmatch(raw) or not -(2**63) <= int(raw) < 2**63:
            raise scanner.error(f"{name} takes an integer of at most 64 bits, found '{raw[:40]}'", start)
        return int(raw)
    if name in BOOLEANS and raw in ("1", "0"):
        return raw == "1"
    if name == "epsilon":
        try:
            return single(raw)
        except LiteralError:
            raise scanner.error(f"{name} takes a number, found '{raw[:40]}'", start) from None
    if raw in ("true", "false"):
        return raw == "true"
    if name in BOOLEANS:
        raise scanner.error(f"{name} is true or false, found '{raw[:40]}'", start)
    if name in WORDS and raw not in WORDS[name]:
        raise scanner.error(not_a_word(name, raw, WORDS[name]), start)
    if raw.startswith("{"):
        plain = COMMENT.sub("", raw) if "/" in raw else raw
        if _SIMPLE_LIST.fullmatch(plain):
            entries = [e.strip() for e in plain[1:-1].split(",")] if plain[1:-1].strip() else []
            if _LIST_OF_INTEGERS.fullmatch(plain) and all(INTEGER.fullmatch(e) for e in entries):
                return tuple(int(e) for e in entries) if entries or name in INTEGER_LISTS else Word("{}")
            if name not in INTEGER_LISTS and name != "sharding":
                return tuple(Word(e) for e in entries)
        if name in INTEGER_LISTS and "{" not in raw[1:]:
            raise scanner.error(f"{name} takes a list of integers such as {{0,1}}, found '{raw[:40]}'", start)
        return Word(raw)
    if name in INTEGER_LISTS:
        raise scanner.error(f"{name} takes a list of integers such as {{0,1}}, found '{raw[:40]}'", start)
    if INTEGER.fullmatch(raw):
        return int(raw)
    return Word(raw)


_READERS: Final[dict[str, Callable[[Scanner], AttributeValue]]] = {
    "window": read_window,
    "dim_labels": read_convolution,
    "padding": read_padding,
    "slice": read_slice,
    "replica_groups": read_replica_groups,
    "source_target_pairs": read_device_pairs,
    "control-predecessors": read_predecessors,
    "output_to_operand_aliasing": read_aliasing,
    "input_output_alias": read_aliasing,
    "buffer_donor": read_donors,
    "sharding": read_sharding,
    "operand_layout_constraints": read_shapes,
    "outfeed_shape": read_one_shape,
    "shape": read_one_shape,
    "entry_computation_layout": read_entry_layout,
    "literal": read_typed_literal,
    "result_accuracy": read_result_accuracy,
    "debug_attributes": read_debug_attributes,
}


_NO_STRINGS: Final = {
    *INTEGERS,
    *BOOLEANS,
    *INTEGER_LISTS,
    *WORDS,
    *_READERS,
    "operand_precision",
    "epsilon",
    "frontend_attributes",
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
