"""Constants that a plan puts in one place: each needs its own bytes there, before the program and after it."""

from __future__ import annotations

from hloproof.memory.plan import Plan
from hloproof.models.errors import InputError, NotModelled
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.hlo.text.literal import LiteralError, parse_literal
from hloproof.models.memory.assignment import Key, Slice


def other_bytes(plan: Plan, key: Key, s: Slice) -> tuple[str | None, str | None]:
    """What is wrong with where a constant lies, or why that is not known: another one lies over it, and is not these
    bytes. (None, None) where nothing is, and for what is no constant."""
    unknown = None
    if plan.instruction(key[0]).opcode != "constant":
        return None, None
    for other in plan.allocation(s).slices:
        if other.key == key or other.key not in plan.in_memory or plan.instruction(other.key[0]).opcode != "constant":
            continue
        shared = plan.overlap(s, other)
        if shared is None:
            continue
        both = (
            f"{plan.named(key)} and {plan.named(other.key)} are constants that share bytes {shared[0]} to {shared[1]} "
            f"of allocation {s.allocation} (plan lines {s.line} and {other.line})"
        )
        try:
            if not _agree(plan, s, other):
                return f"{both}, which can hold one of them only", None
        except (NotModelled, LiteralError, InputError, ValueError, OverflowError) as reason:
            unknown = f"{both}: {reason}"
    return None, unknown


def _agree(plan: Plan, a: Slice, b: Slice) -> bool:
    """Both want the same bits where both have some. Raises NotModelled, LiteralError."""
    from hloproof.memory.contents import Bits, encoded  # the interpreter is imported where constants meet
    from hloproof.models.interpreter.operations.collective import Devices
    from hloproof.models.interpreter.run import Machine
    from hloproof.models.interpreter.semantics.real import Real
    from hloproof.models.interpreter.value import Array

    machine = Machine(plan.module, Real(), Devices(1, 1), 0)

    def bits(s: Slice) -> Bits:
        i, shape = plan.instruction(s.key[0]), plan.values.values[s.key].shape
        text = i.literal or ""
        if "..." in text or "nan" in text.lower():  # a NaN is read without its payload
            raise NotModelled(f"which bytes {plan.named(s.key)} holds is not read from the text")
        found = machine.read_value(i.shape, parse_literal(text, i.shape), f"constant {i.name}")
        if not isinstance(found, Array) or not isinstance(shape, ArrayShape):
            raise NotModelled(f"{plan.named(s.key)} is no array")
        out = encoded(found, shape, machine.scalars)
        return Bits(out.data << 8 * s.offset, out.mask << 8 * s.offset)

    one, two = bits(a), bits(b)
    return (one.data ^ two.data) & one.mask & two.mask == 0
