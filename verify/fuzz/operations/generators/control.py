"""Strategies for operations on tuples and tokens, and for the done halves of asynchronous pairs."""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st

from hloproof.fuzz.drawing import Draw
from hloproof.fuzz.operations.generators.operation_text import boxes, braces, one, shape

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
    "set-dimension-size",
    "send",
    "recv-done",
    "custom-call",
)


@st.composite
def control(draw: Draw) -> str:
    """The operands of some are tuples, nested ones among them."""
    first, second = (shape(draw(boxes(maximum=2, most=12))) for _ in range(2))
    opcode = draw(st.sampled_from(OPCODES))
    nested = f"({first}, ({second}, {first}))"
    match opcode:
        case "tuple":
            parts = draw(st.lists(st.sampled_from((first, second, nested)), min_size=1, max_size=3))
            return one(opcode, parts)
        case "get-tuple-element":
            return one(opcode, [nested], f"index={draw(st.integers(0, 1))}")
        case "opt-barrier" | "domain":
            whole = draw(st.sampled_from((first, nested)))
            sharding = 'domain={kind="sharding", entry={maximal device=0}, exit={maximal device=1}}'
            return one(opcode, [whole], sharding if opcode == "domain" else "")
        case "add-dependency":
            return one(opcode, [first, "token[]"])
        case "copy-start":
            return one(opcode, [first], result=f"({first}, {first}, u32[])")
        case "copy-done":
            return one(opcode, [f"({first}, {first}, u32[])"])
        case "all-gather-done" | "collective-permute-done":
            result = second if opcode == "all-gather-done" else first
            return one(opcode, [f"({first}, {result})"])
        case "all-reduce-done":
            whole = draw(st.sampled_from((first, f"({first}, {second})")))
            return one(opcode, [whole])
        case "send":
            return one(opcode, [first, "token[]"], "channel_id=1", result=f"({first}, u32[], token[])")
        case "recv-done":
            return one(opcode, [f"({first}, u32[], token[])"], "channel_id=1")
        case "set-dimension-size":
            dims = draw(boxes(minimum=1, maximum=3, most=24))
            axis = draw(st.integers(0, len(dims) - 1))
            bounded = ",".join(f"<={n}" if d == axis else str(n) for d, n in enumerate(dims))
            return one(opcode, [shape(dims), "s32[]"], f"dimensions={braces([axis])}", result=f"f32[{bounded}]")
    return one(opcode, [first, second], 'custom_call_target="f"', result=f"({first}, {second})")
