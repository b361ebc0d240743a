"""Strategies for operations on tuples and tokens, and for the done halves of asynchronous pairs."""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st

from hloproof.fuzz.drawing import Draw
from hloproof.fuzz.operations.generators.operation_text import boxes, braces, one, shape, sizes

OPCODES: Final = (
    "tuple",
    "get-tuple-element",
    "opt-barrier",
    "add-dependency",
    "domain",
    "copy-start",
    "copy-done",
    "all-gather-done",
    "all-reduce-done",
    "collective-permute-done",
    "get-dimension-size",
    "send",
    "recv-done",
    "custom-call",
)


@st.composite
def control(draw: Draw) -> str:
    """The operands of some are tuples, nested ones among them."""
    first, second = (shape(draw(sizes(maximum=2))) for _ in range(2))
    opcode = draw(st.sampled_from(OPCODES))
    nested = f"({first}, ({second}, {first}))"
    match opcode:
        case "tuple":
            parts = draw(st.lists(st.sampled_from((first, second, nested)), min_size=1, max_size=3))
            return one(f"({', '.join(parts)})", opcode, parts)
        case "get-tuple-element":
            index, result = draw(st.sampled_from(((0, first), (1, f"({second}, {first})"))))
            return one(result, opcode, [nested], f"index={index}")
        case "opt-barrier" | "domain":
            whole = draw(st.sampled_from((first, nested)))
            sharding = 'domain={kind="sharding", entry={maximal device=0}, exit={maximal device=1}}'
            return one(whole, opcode, [whole], sharding if opcode == "domain" else "")
        case "add-dependency":
            return one(first, opcode, [first, "token[]"])
        case "copy-start":
            return one(f"({first}, {first}, u32[])", opcode, [first])
        case "copy-done":
            return one(first, opcode, [f"({first}, {first}, u32[])"])
        case "all-gather-done" | "collective-permute-done":
            result = second if opcode == "all-gather-done" else first
            return one(result, opcode, [f"({first}, {result})"])
        case "all-reduce-done":
            whole = draw(st.sampled_from((first, f"({first}, {second})")))
            return one(whole, opcode, [whole])
        case "send":
            return one(f"({first}, u32[], token[])", opcode, [first, "token[]"], "channel_id=1")
        case "recv-done":
            return one(f"({first}, token[])", opcode, [f"({first}, u32[], token[])"], "channel_id=1")
        case "get-dimension-size":
            sized = shape(draw(sizes(minimum=1, maximum=2)))
            return one("s32[]", opcode, [sized], "dimensions={0}")
    return one(f"({first}, {second})", opcode, [first, second], 'custom_call_target="f"')


@st.composite
def set_dimension_size(draw: Draw) -> str:
    dims = draw(boxes(minimum=1, maximum=3, most=24))
    axis = draw(st.integers(0, len(dims) - 1))
    result = ",".join(f"<={n}" if d == axis else str(n) for d, n in enumerate(dims))
    return one(f"f32[{result}]", "set-dimension-size", [shape(dims), "s32[]"], f"dimensions={braces([axis])}")
