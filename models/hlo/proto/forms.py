"""How the fields of an instruction are written as attributes, one by one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from ctypes import c_float
from typing import Any, Final

from hloproof.models.errors import InputError
from hloproof.models.hlo.proto.literals import literal_text
from hloproof.models.hlo.proto.shapes import shape_of
from hloproof.models.hlo.proto.shardings import sharding_text
from hloproof.models.hlo.proto.wire import Message
from hloproof.models.hlo.text.attributes import WORDS
from hloproof.models.hlo.text.lexer import Scanner
from hloproof.models.hlo.text.shapes import print_shape

_NAME: Final = re.compile(r"[\w.$:@-]+")

_FFT: Final = ("FFT", "IFFT", "RFFT", "IRFFT")

_TRANSPOSES: Final = ("", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")

_PRECISIONS: Final = ("default", "high", "highest", "packed_nibble")

_APIS: Final = (
    "",
    "",  # the original one is not written
    "API_VERSION_STATUS_RETURNING",
    "API_VERSION_STATUS_RETURNING_UNIFIED",
    "API_VERSION_TYPED_FFI",
)


def plain(name: str) -> str:
    """The name, if it is one word of the text. Raises ValueError."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name[:60]!r} is no name")
    return name


def braces(values: Sequence[int]) -> str:
    """`{1,2}`, without blanks."""
    return "{" + ",".join(map(str, values)) + "}"


def named(names: Sequence[str], number: int) -> str:
    """The name of a number of an enumeration. Raises ValueError for one that has none."""
    if not 0 <= number < len(names):
        raise ValueError(f"{number} is none of the {len(names)} that are known here: {', '.join(filter(None, names))}")
    return names[number]


_Form = Callable[[str, Any], Iterator[str]]


def _plain(word: str, default: Any = None) -> _Form:
    def form(opcode: str, value: Any) -> Iterator[str]:
        if value != default or default is None:
            yield f"{word}={_shown(0 if value is None else value)}"

    return form


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return braces(value) if isinstance(value, list) else str(value)


def _epsilon(opcode: str, value: Any) -> Iterator[str]:
    """In as few digits as tell it from other numbers of its type, as it stands in a text."""
    number = 0.0 if value is None else value
    texts = (f"{number:.{digits}g}" for digits in range(1, 10))
    yield f"epsilon={next((text for text in texts if c_float(float(text)).value == number), number)}"


def _list(word: str) -> _Form:
    def form(opcode: str, value: Any) -> Iterator[str]:
        yield f"{word}={braces(value or [])}"

    return form


def _flag(word: str) -> _Form:
    def form(opcode: str, value: Any) -> Iterator[str]:
        if value:
            yield f"{word}=true"

    return form


def _dimensions(opcode: str, value: Any) -> Iterator[str]:
    if opcode == "iota":
        if len(value or ()) != 1:
            raise ValueError("an iota that does not count along one dimension")
        yield f"iota_dimension={value[0]}"
    else:
        yield f"dimensions={braces(value or [])}"


def _numbers(*lists: str, number: str = "") -> _Form:
    """Dimension numbers: lists that are left out where empty, unless the text needs them."""

    def form(opcode: str, value: Any) -> Iterator[str]:
        given: Message = value or {}
        for name in lists:
            optional = "batch" in name or opcode in ("dot", "ragged-dot")
            if given.get(name) or not optional:
                yield f"{name}={braces(given.get(name, []))}"
        if number:
            yield f"{number}={given.get(number, 0)}"

    return form


def _window(opcode: str, value: Any) -> Iterator[str]:
    dims = (value or {}).get("dimensions", [])
    if not dims:
        if opcode == "reduce-window":
            yield "window={}"
        return

    def joined(name: str) -> str:
        return "x".join(str(int(d.get(name, 0))) for d in dims)

    parts = [f"size={joined('size')}"]
    if any(d.get("stride", 0) != 1 for d in dims):
        parts.append(f"stride={joined('stride')}")
    if any(d.get("low", 0) or d.get("high", 0) for d in dims):
        parts.append("pad=" + "x".join(f"{d.get('low', 0)}_{d.get('high', 0)}" for d in dims))
    for word, name in (("lhs_dilate", "base_dilation"), ("rhs_dilate", "window_dilation")):
        if any(d.get(name, 0) != 1 for d in dims):
            parts.append(f"{word}={joined(name)}")
    if any(d.get("reversal") for d in dims):
        parts.append(f"rhs_reversal={joined('reversal')}")
    yield f"window={{{' '.join(parts)}}}"


def _conv(opcode: str, value: Any) -> Iterator[str]:
    given: Message = value or {}

    def side(first: str, second: str, spatial: str, signs: str) -> str:
        places = given.get(spatial, [])
        out = [""] * (len(places) + 2)
        out[given.get(first, 0)], out[given.get(second, 0)] = signs[0], signs[1]
        for n, place in enumerate(places):
            out[place] = str(n)
        return "".join(out)

    lhs = side("input_batch", "input_feature", "input_spatial", "bf")
    kernel = side("kernel_input", "kernel_output", "kernel_spatial", "io")
    output = side("output_batch", "output_feature", "output_spatial", "bf")
    yield f"dim_labels={lhs}_{kernel}->{output}"


def _slices(opcode: str, value: Any) -> Iterator[str]:
    def one(s: Message) -> str:
        stride = s.get("stride", 0)
        return f"[{s.get('start', 0)}:{s.get('limit', 0)}{f':{stride}' if stride != 1 else ''}]"

    yield f"slice={{{', '.join(map(one, value or []))}}}"


def _padding(opcode: str, value: Any) -> Iterator[str]:
    def one(d: Message) -> str:
        inner = d.get("interior", 0)
        return f"{d.get('low', 0)}_{d.get('high', 0)}{f'_{inner}' if inner else ''}"

    yield "padding=" + "x".join(map(one, (value or {}).get("dimensions", [])))


def _precision(opcode: str, value: Any) -> Iterator[str]:
    if value.get("algorithm"):
        raise ValueError("the algorithm of a dot is not read from protocol buffers; give the text")
    operands = value.get("operands", [])
    if any(operands):
        yield f"operand_precision={{{','.join(named(_PRECISIONS, n) for n in operands)}}}"


def _triangular(opcode: str, value: Any) -> Iterator[str]:
    given: Message = value or {}
    for name in ("left_side", "lower", "unit_diagonal"):
        yield f"{name}={_shown(bool(given.get(name, False)))}"
    if not (transpose := named(_TRANSPOSES, given.get("transpose", 0))):
        raise ValueError("a triangular solve does not say whether it transposes")
    yield f"transpose_a={transpose}"


def _cholesky(opcode: str, value: Any) -> Iterator[str]:
    yield f"lower={_shown(bool((value or {}).get('lower', False)))}"


def _groups(opcode: str, value: Any) -> Iterator[str]:
    yield f"replica_groups={{{','.join(braces(g.get('ids', [])) for g in value)}}}"


def _device_list(opcode: str, value: Any) -> Iterator[str]:
    if "iota" in value:
        yield from _iota_groups(opcode, value["iota"])
    if value.get("groups"):
        yield from _groups(opcode, value["groups"])


def _iota_groups(opcode: str, value: Any) -> Iterator[str]:
    yield f"replica_groups=[{value.get('groups', 0)},{value.get('size', 0)}]<={_transposed(value)}"


def _mesh_groups(opcode: str, value: Any) -> Iterator[str]:
    """The axes of a mesh of devices that a group spans: by number, since names may be any text."""
    mesh: Message = value.get("mesh", {})
    sizes = ",".join(f"{n}={axis.get('size', 0)}" for n, axis in enumerate(mesh.get("axes", [])))
    order = _transposed(mesh["iota"]) if "iota" in mesh else ",".join(map(str, mesh.get("device_ids", [])))
    spanned = ",".join(map(_spanned, value.get("axes", [])))
    yield f"replica_groups=mesh[{sizes}]{f', device_ids=({order})' if order else ''} {{{spanned}}}"


def _spanned(axis: Message) -> str:
    """An axis of a mesh, or a part of one."""
    part: Message | None = axis.get("part")
    return f"{axis.get('number', 0)}" + ("" if part is None else f":({part.get('before', 0)}){part.get('size', 0)}")


def _transposed(value: Message) -> str:
    """`[2,2]T(1,0)`: numbers from 0 on, laid out over these sizes and transposed."""
    order = f"T({braces(value.get('transpose', []))[1:-1]})" if len(value.get("reshape", [])) > 1 else ""
    return f"[{braces(value.get('reshape', []))[1:-1]}]{order}"


def _pairs(opcode: str, value: Any) -> Iterator[str]:
    pairs = (f"{{{p.get('source', 0)},{p.get('target', 0)}}}" for p in value)
    yield f"source_target_pairs={{{','.join(pairs)}}}"


def _aliasing(opcode: str, value: Any) -> Iterator[str]:
    told = (
        f"{braces(a.get('output', []))}: ({a.get('operand', 0)}, {braces(a.get('operand_index', []))})" for a in value
    )
    yield f"output_to_operand_aliasing={{{', '.join(told)}}}"


def _shapes(opcode: str, value: Any) -> Iterator[str]:
    yield f"operand_layout_constraints={{{', '.join(print_shape(shape_of(s)) for s in value)}}}"


_ESCAPED: Final = {n: f"\\{n:03o}" for n in (*range(32), 127) if chr(n) != "\t"} | {
    ord("\\"): "\\\\",
    ord('"'): '\\"',
    ord("\n"): "\\n",
    ord("\r"): "\\r",
}
"""What is no text by its number: a reader of text refuses it, and takes a carriage return for the end of a line."""
_BARE: Final = re.compile(r"[^\x00-\x08\x0b-\x1f\x7f]*")
"""What may stand without quotes: all but that."""


def _quoted(text: str) -> str:
    return '"' + text.translate(_ESCAPED) + '"'


def _constrained(opcode: str, value: Any) -> Iterator[str]:
    """Of a call the shapes of its operands tell it; one without operands has the layout of its result fixed."""
    if value and opcode != "custom-call":
        yield "constrain_layout=true"


def _stable(opcode: str, value: Any) -> Iterator[str]:
    """Of a topk it is always told: a text that leaves it out means that it is."""
    if value or opcode == "topk":
        yield f"is_stable={_shown(bool(value))}"


def _literal(opcode: str, value: Any) -> Iterator[str]:
    shape = shape_of(value["shape"])
    yield f"literal={print_shape(shape)} {literal_text(value, shape)}"


def _sharding(opcode: str, value: Any) -> Iterator[str]:
    yield f"sharding={sharding_text(value)}"


def _replication(opcode: str, value: Any) -> Iterator[str]:
    if value.get("leaves"):
        yield f"parameter_replication={{{','.join(map(_shown, value['leaves']))}}}"


def _accuracy(opcode: str, value: Any) -> Iterator[str]:
    if "tolerance" in value:
        bounds = ", ".join(f"{name}={value['tolerance'].get(name, 0)}" for name in ("atol", "rtol", "ulps"))
        yield f"result_accuracy={{tolerance={{{bounds}}}}}"
    elif value.get("mode"):
        yield f"result_accuracy={{mode={named(('default', 'highest'), value['mode'])}}}"


def _config(opcode: str, value: Any) -> Iterator[str]:
    if not value:
        return
    try:
        text = value.decode("utf-8")
    except UnicodeDecodeError:
        # Bytes that are no text: a backslash of theirs is two, so that none is taken for the number of a byte.
        yield f'backend_config="{_octal(value)}"'
        return
    # Braces are enough for the compiler, whose own dictionaries are no JSON; room around them is not between them.
    yield f"backend_config={text if _is_group(text) else _quoted(text)}"


def _octal(value: bytes) -> str:
    """The bytes in a quoted string, those that are no ASCII by their numbers."""
    return "".join(_quoted(chr(byte))[1:-1] if byte < 128 else f"\\{byte:03o}" for byte in value)


def frontend_attributes(value: Message) -> Iterator[str]:
    """Those of a module, or of an instruction, by name: a buffer may hold them in any order. What is between braces
    stands without quotes."""
    entries = sorted((e.get("key", ""), e.get("value", "")) for e in value.get("map", []))
    if entries:
        # Inside of other braces brackets count as well: one alone is no group there.
        told = ",".join(
            f"{plain(key)}={text if _is_group(text) and _is_group(f'{{{text}}}') else _quoted(text)}"
            for key, text in entries
        )
        yield f"frontend_attributes={{{told}}}"


def _is_group(text: str) -> bool:
    scanner = Scanner(text)
    try:
        return text.startswith("{") and _BARE.fullmatch(text) is not None and scanner.group(letters=True) == text
    except InputError:
        return False


def _frontend(opcode: str, value: Any) -> Iterator[str]:
    yield from frontend_attributes(value)


def _metadata(opcode: str, value: Any) -> Iterator[str]:
    told = [
        f"{name}={_quoted(given) if isinstance(given, str) else given}"
        for name, given in value.items()
        if given not in ("", 0)
    ]
    if told:
        yield f"metadata={{{' '.join(told)}}}"


def _word(word: str, names: Sequence[str]) -> _Form:
    def form(opcode: str, value: Any) -> Iterator[str]:
        name = named(names, value or 0)
        if name:
            yield f"{word}={name}"

    return form


def _text(word: str) -> _Form:
    def form(opcode: str, value: Any) -> Iterator[str]:
        if value:
            yield f"{word}={_quoted(value)}"

    return form


def _tuple_index(opcode: str, value: Any) -> Iterator[str]:
    if opcode == "get-tuple-element":
        yield f"index={value or 0}"


def _fusion_kind(opcode: str, value: Any) -> Iterator[str]:
    if value:
        yield f"kind={plain(value)}"


def _comparison(word: str) -> _Form:
    def form(opcode: str, value: Any) -> Iterator[str]:
        if opcode == "compare" and value:
            yield f"{word}={plain(value)}"

    return form


def _positive(word: str) -> _Form:
    def form(opcode: str, value: Any) -> Iterator[str]:
        if value and value > 0:
            yield f"{word}={value}"

    return form


def _type(opcode: str, value: Any) -> Iterator[str]:
    """Only the order that the operand's type does not imply is written."""
    if value == "TOTALORDER":
        yield f"type={value}"
    elif value not in (None, "", *WORDS["type"]):
        raise ValueError(f"a comparison of the type '{value}', which is none of {', '.join(WORDS['type'])}")


def _thread(opcode: str, value: Any) -> Iterator[str]:
    if value not in (None, "", "main"):
        yield f"async_execution_thread={_quoted(value)}"


FORMS: Final[Mapping[str, _Form]] = {
    "metadata": _metadata,
    "fusion_kind": _fusion_kind,
    "tuple_index": _tuple_index,
    "dimensions": _dimensions,
    "window": _window,
    "conv": _conv,
    "slices": _slices,
    "exponent_bits": _plain("exponent_bits"),
    "mantissa_bits": _plain("mantissa_bits"),
    "dynamic_slice_sizes": _list("dynamic_slice_sizes"),
    "padding": _padding,
    "distribution": _word("distribution", ("", "rng_uniform", "rng_normal")),
    "epsilon": _epsilon,
    "feature_index": _plain("feature_index"),
    "channel_id": _positive("channel_id"),
    "target": _text("custom_call_target"),
    "dot": _numbers("lhs_batch_dims", "rhs_batch_dims", "lhs_contracting_dims", "rhs_contracting_dims"),
    "fft_type": lambda opcode, value: _word("fft_type", _FFT)(opcode, value) if opcode == "fft" else iter(()),
    "fft_length": _list("fft_length"),
    "gather": _numbers(
        *("offset_dims", "collapsed_slice_dims", "start_index_map"),
        *("operand_batching_dims", "start_indices_batching_dims"),
        number="index_vector_dim",
    ),
    "gather_sizes": _list("slice_sizes"),
    "scatter": _numbers(
        *("update_window_dims", "inserted_window_dims", "scatter_dims_to_operand_dims"),
        *("input_batching_dims", "scatter_indices_batching_dims"),
        number="index_vector_dim",
    ),
    "backend_config": _config,
    "groups": _groups,
    "device_list": _device_list,
    "iota_groups": _iota_groups,
    "mesh_groups": _mesh_groups,
    "feature_groups": _plain("feature_group_count", 1),
    "batch_groups": _plain("batch_group_count", 1),
    "precision": _precision,
    "pairs": _pairs,
    "operand_shapes": _shapes,
    "constrain_layout": _constrained,
    "literal": _literal,
    "sharding": _sharding,
    "replication": _replication,
    "accuracy": _accuracy,
    "triangular": _triangular,
    "cholesky": _cholesky,
    "is_host_transfer": _flag("is_host_transfer"),
    "is_stable": _stable,
    "comparison": _comparison("direction"),
    "comparison_type": _type,
    "side_effect": _flag("custom_call_has_side_effect"),
    "delta": _plain("delta"),
    "indices_are_sorted": _flag("indices_are_sorted"),
    "unique_indices": _flag("unique_indices"),
    "frontend": _frontend,
    "rng_algorithm": lambda opcode, value: (
        _word("algorithm", ("rng_default", "rng_three_fry", "rng_philox"))(opcode, value)
        if opcode == "rng-bit-generator"
        else iter(())
    ),
    "use_global_device_ids": _flag("use_global_device_ids"),
    "aliasing": _aliasing,
    "api_version": _word("api_version", _APIS),
    "thread": _thread,
    "k": _positive("k"),
    "largest": lambda opcode, value: iter([f"largest={_shown(bool(value))}"]) if opcode == "topk" else iter(()),
    "is_prefetch": _flag("is_cross_program_prefetch"),
    "prefetch_index": _plain("cross_program_prefetch_index"),
}
"""How each field is written; one without a form here must be empty."""
