"""The opcodes of HLO: which exist, which are elementwise, and how asynchronous names are built from others."""

from __future__ import annotations

from typing import Final

UNARY: Final = frozenset(
    {
        "abs",
        "acos",
        "acosh",
        "asin",
        "asinh",
        "atanh",
        "cbrt",
        "ceil",
        "cosine",
        "cosh",
        "count-leading-zeros",
        "erf",
        "exponential",
        "exponential-minus-one",
        "floor",
        "is-finite",
        "imag",
        "real",
        "log",
        "log-plus-one",
        "logistic",
        "negate",
        "not",
        "popcnt",
        "round-nearest-afz",
        "round-nearest-even",
        "rsqrt",
        "sign",
        "sine",
        "sinh",
        "sqrt",
        "tan",
        "tanh",
        "reduce-precision",
        "convert",
        "copy",
        "bitcast-convert",
    }
)
BINARY: Final = frozenset(
    {
        "add",
        "and",
        "atan2",
        "compare",
        "complex",
        "divide",
        "maximum",
        "minimum",
        "multiply",
        "or",
        "power",
        "remainder",
        "shift-left",
        "shift-right-arithmetic",
        "shift-right-logical",
        "stochastic-convert",
        "subtract",
        "xor",
    }
)
FIRST_CLASS: Final = frozenset({"all-gather", "all-reduce", "collective-permute", "copy", "send", "recv"})
"""Opcodes with asynchronous opcodes of their own."""
FIRST_CLASS_PAIRS: Final = {
    "all-gather-start": "all-gather-done",
    "all-reduce-start": "all-reduce-done",
    "collective-permute-start": "collective-permute-done",
    "copy-start": "copy-done",
    "send": "send-done",
    "recv": "recv-done",
}
COLLECTIVES: Final = frozenset(
    {
        "all-gather",
        "all-reduce",
        "all-to-all",
        "ragged-all-to-all",
        "collective-broadcast",
        "collective-permute",
        "collective-reduce",
        "reduce-scatter",
        "all-gather-start",
        "all-reduce-start",
        "collective-permute-start",
    }
)
GENERIC_ASYNC: Final = frozenset({"async-start", "async-update", "async-done"})

KNOWN: Final = (
    UNARY
    | BINARY
    | COLLECTIVES
    | GENERIC_ASYNC
    | frozenset(FIRST_CLASS_PAIRS)
    | frozenset(FIRST_CLASS_PAIRS.values())
    | frozenset(
        {
            "add-dependency",
            "after-all",
            "batch-norm-grad",
            "batch-norm-inference",
            "batch-norm-training",
            "bitcast",
            "broadcast",
            "call",
            "cholesky",
            "clamp",
            "concatenate",
            "conditional",
            "constant",
            "convolution",
            "custom-call",
            "domain",
            "dot",
            "dynamic-reshape",
            "dynamic-slice",
            "dynamic-update-slice",
            "fft",
            "fusion",
            "gather",
            "get-dimension-size",
            "get-tuple-element",
            "infeed",
            "iota",
            "map",
            "opt-barrier",
            "outfeed",
            "pad",
            "parameter",
            "partition-id",
            "ragged-dot",
            "reduce",
            "reduce-window",
            "replica-id",
            "reshape",
            "reverse",
            "rng",
            "rng-bit-generator",
            "rng-get-and-update-state",
            "scaled-dot",
            "scan",
            "scatter",
            "select",
            "select-and-scatter",
            "set-dimension-size",
            "slice",
            "sort",
            "topk",
            "transpose",
            "triangular-solve",
            "tuple",
            "while",
        }
    )
)

_SUFFIXES: Final = ("-start", "-update", "-done")
_OWN_LINKS: Final = FIRST_CLASS | GENERIC_ASYNC | frozenset(FIRST_CLASS_PAIRS) | frozenset(FIRST_CLASS_PAIRS.values())
"""What sugar does not wrap: opcodes with links of their own, and links."""


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


def refusal(opcode: str) -> str | None:
    """Why an opcode that looks asynchronous is none, and what to write instead; None if it is acceptable."""
    if opcode in KNOWN or async_sugar(opcode) is not None:
        return None
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
            f"'{wrapped}' is none"
        )
    return None
