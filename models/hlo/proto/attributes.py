"""Attributes of an instruction, out of its fields, as the text that the parser reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from hloproof.models.hlo.proto.forms import FORMS
from hloproof.models.hlo.proto.schema import ELEMENT_TYPES
from hloproof.models.hlo.proto.wire import Message

_BASIC: Final = frozenset(
    {"name", "opcode", "shape", "literal", "parameter", "id", "operands", "predecessors", "called"}
)
"""Fields that stand elsewhere in the line."""

_BODIES: Final[Mapping[str, tuple[str, ...]]] = {
    "while": ("body", "condition"),
    "choice": ("true_computation", "false_computation"),
    "select-and-scatter": ("select", "scatter"),
    "fusion": ("calls",),
    "async-start": ("calls",),
    "async-update": ("calls",),
    "async-done": ("calls",),
    "all-reduce": ("to_apply",),
}
"""What an opcode calls the computations that it names, in their order; others with one call it to_apply. A choice is a
conditional by a predicate."""
_PRED: Final = next(number for number, name in ELEMENT_TYPES.items() if name == "pred")

_ALWAYS: Final[Mapping[str, Sequence[str]]] = {
    "get-tuple-element": ("tuple_index",),
    "fft": ("fft_type",),
    "triangular-solve": ("triangular",),
    "cholesky": ("cholesky",),
    "broadcast": ("dimensions",),
    "reduce": ("dimensions",),
    "transpose": ("dimensions",),
    "reverse": ("dimensions",),
    "map": ("dimensions",),
    "gather": ("gather", "gather_sizes"),
    "scatter": ("scatter",),
    "iota": ("dimensions",),
    "dynamic-slice": ("dynamic_slice_sizes",),
    "slice": ("slices",),
    "pad": ("padding",),
    "batch-norm-training": ("epsilon", "feature_index"),
    "batch-norm-inference": ("epsilon", "feature_index"),
    "batch-norm-grad": ("epsilon", "feature_index"),
    "rng-get-and-update-state": ("delta",),
    "rng-bit-generator": ("rng_algorithm",),
    "topk": ("k", "largest", "is_stable"),
    "convolution": ("window", "conv"),
    "reduce-window": ("window",),
    "select-and-scatter": ("window",),
    "reduce-precision": ("exponent_bits", "mantissa_bits"),
}
"""Fields that an opcode has even where a buffer leaves them out, as their value is zero or empty."""


def attributes(i: Message, operands: Sequence[Message], called: Sequence[str], before: Sequence[str]) -> Iterator[str]:
    """One text per attribute. Raises ValueError for a field that has none."""
    opcode: str = i["opcode"]
    if i.get("constrain_layout") and not i.get("operand_shapes") and opcode == "custom-call":
        yield "operand_layout_constraints={}"
    if i.get("operand_shapes") and not i.get("constrain_layout"):
        raise ValueError(f"{opcode} %{i['name']} has shapes of operands whose layouts it does not constrain")
    by_truth = opcode == "conditional" and [o["shape"].get("type") for o in operands[:1]] == [_PRED]
    yield from _called("choice" if by_truth else opcode, called)
    if before:
        yield f"control-predecessors={{{', '.join(f'%{name}' for name in before)}}}"
    for name in dict.fromkeys((*i, *_ALWAYS.get(opcode, ()))):
        if name in _BASIC and not (name == "literal" and opcode == "custom-call"):
            continue
        form = FORMS.get(name)
        if form is None:
            if i[name] not in (0, False, "", b"", [], {}):
                raise ValueError(f"{name} of {opcode} %{i['name']} is not read from protocol buffers; give the text")
            continue
        yield from form(opcode, i.get(name))


def _called(opcode: str, called: Sequence[str]) -> Iterator[str]:
    names = [f"%{c}" for c in called]
    if opcode == "conditional":
        yield f"branch_computations={{{', '.join(names)}}}"
    elif opcode == "custom-call" and names:
        yield f"called_computations={{{', '.join(names)}}}"
    elif names:
        words = _BODIES.get(opcode, ("to_apply",))
        if len(words) != len(names) and len(set(names)) == 1:
            words = words[:1]  # one computation for each of several results
            names = names[:1]
        yield from (f"{word}={name}" for word, name in zip(words, names, strict=True))
