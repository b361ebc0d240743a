"""Operations on tuples and tokens, the done halves of asynchronous pairs, and those that read no operand or only its
shape."""

from __future__ import annotations

from typing import Any, Final

from hloproof.fuzz.operations.generators.builder import Builder, Write, shape

REFUSED: Final = "refused"
"""The name of modules that have no meaning, which the interpreter must refuse."""
_SHARDING: Final = '{kind="sharding", entry={maximal device=0}, exit={maximal device=1}}'
_OPCODES: Final = (
    "tuple get-tuple-element opt-barrier add-dependency domain copy-start copy-done all-gather-done all-reduce-done "
    "collective-permute-done set-dimension-size send recv-done custom-call"
).split()


def control(b: Builder) -> None:
    """The operands of some are tuples, nested ones among them."""
    x, y = (shape(b.box(most=2, elements=12)) for _ in range(2))
    opcode, nested = b.one_of(_OPCODES), f"({x}, ({y}, {x}))"
    match opcode:
        case "tuple":
            b.op(opcode, *(b.one_of((x, y, nested)) for _ in range(b.number(1, 3))))
        case "get-tuple-element":
            b.op(opcode, nested, index=b.number(0, 1))
        case "opt-barrier" | "domain":
            b.op(opcode, b.one_of((x, nested)), domain=_SHARDING if opcode == "domain" else None)
        case "add-dependency":
            b.op(opcode, x, "token[]")
        case "copy-start":
            b.op(opcode, x, result=f"({x}, {x}, u32[])")
        case "copy-done":
            b.op(opcode, f"({x}, {x}, u32[])")
        case "all-gather-done" | "collective-permute-done":
            b.op(opcode, f"({x}, {y if opcode == 'all-gather-done' else x})")
        case "all-reduce-done":
            b.op(opcode, b.one_of((x, f"({x}, {y})")))
        case "send":
            b.op(opcode, x, "token[]", channel_id=1, result=f"({x}, u32[], token[])")
        case "recv-done":
            b.op(opcode, f"({x}, u32[], token[])", channel_id=1)
        case "set-dimension-size":
            dims = b.box(1, 3, 24)
            axis = b.axis(dims)
            bounded = ",".join(f"<={n}" if d == axis else str(n) for d, n in enumerate(dims))
            b.op(opcode, shape(dims), "s32[]", dimensions=[axis], result=f"f32[{bounded}]")
        case _:
            b.op(opcode, x, y, custom_call_target='"f"', result=f"({x}, {y})")


def get_dimension_size(b: Builder) -> None:
    dims = b.sizes(1, 3)
    b.op("get-dimension-size", shape(dims), dimensions=[b.axis(dims)])


def iota(b: Builder) -> None:
    dims = b.sizes(1, 3)
    b.op("iota", iota_dimension=b.axis(dims), result=shape(dims, b.one_of(("s32", "f32", "u8", "c64"))))


def without_meaning(b: Builder) -> None:
    """No run may have a result for these."""
    b.module_name = REFUSED
    match b.number(0, 3):
        case 0:
            b.op("reverse", "f32[<=2]", dimensions=[0])
        case 1:
            dims: dict[str, Any] = {"lhs_contracting_dims": [1], "rhs_contracting_dims": [1], "lhs_ragged_dims": [0]}
            b.op("ragged-dot", "f32[2,3]", "f32[2,3,3]", "s32[2,2]", **dims, rhs_group_dims=[0])
        case 2:
            b.op("bitcast", "f32[2]", result="f32[4]")
        case 3:
            b.header = ", replica_count=3"
            b.op("all-to-all", "f32[3]", "f32[3]")


DRAWN: Final[tuple[Write, ...]] = (control, get_dimension_size, iota, without_meaning)
