"""Target `async`: hazards of operations in flight against all orders of small computations, tried one by one.

A case is one computation with copies in flight, readers, and opaque calls that write the buffer of their operand. A
scheduled module has one order, an unscheduled one every order that its operands allow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from hypothesis import strategies as st

from models.hlo.module import Instruction, Module
from models.hlo.parser import parse_module
from verify.asynchronous import judge
from verify.fuzz.target import Failure, Target

Draw = Callable[[st.SearchStrategy[Any]], Any]

_ALIASED: Final = 'custom_call_target="f", output_to_operand_aliasing={{}: (0, {})}'


@st.composite
def cases(draw: Draw) -> str:
    """At most nine instructions besides the parameters and the root; every copy is finished."""
    lines = ["  a = f32[4] parameter(0)\n", "  b = f32[4] parameter(1)\n"]
    values, flights, shown = ["a", "b"], list[str](), list[str]()
    for n in range(draw(st.integers(2, 6))):
        kind = draw(st.sampled_from(("start", "start", "done", "read", "write", "write", "look", "look")))
        if kind == "start" and len(flights) < 2:
            lines.append(f"  s{n} = (f32[4], f32[4], u32[]) copy-start({draw(st.sampled_from(values))})\n")
            flights.append(f"s{n}")
        elif kind == "done" and flights:
            s = flights.pop(draw(st.integers(0, len(flights) - 1)))
            lines.append(f"  d{n} = f32[4] copy-done({s})\n")
            values.append(f"d{n}")
        elif kind == "look" and flights and not shown:
            lines.append(f"  g{n} = f32[4] get-tuple-element({draw(st.sampled_from(flights))}), index=0\n")
            shown.append(f"g{n}")
        elif kind == "write":
            lines.append(f"  w{n} = f32[4] custom-call({draw(st.sampled_from(values))}), {_ALIASED}\n")
            values.append(f"w{n}")
        else:
            lines.append(f"  r{n} = f32[4] negate({draw(st.sampled_from([*values, *shown, *shown]))})\n")
            values.append(f"r{n}")
    for k, s in enumerate(flights):
        lines.append(f"  e{k} = f32[4] copy-done({s})\n")
        values.append(f"e{k}")
    roots = values[-3:]
    lines.append(f"  ROOT t = ({', '.join('f32[4]' for _ in roots)}) tuple({', '.join(roots)})\n")
    header = ", is_scheduled=true" if draw(st.booleans()) else ""
    return f"HloModule case{header}\n\nENTRY e {{\n{''.join(lines)}}}\n"


@dataclass(frozen=True, slots=True)
class Program:
    """Instructions without parameters and root, and the buffer that each value lies in."""

    steps: tuple[Instruction, ...]
    buffer: dict[str, str]

    @classmethod
    def of(cls, module: Module) -> Program:
        buffer: dict[str, str] = {}
        for i in module.entry.instructions:
            # A copy-start stands for its destination; its done and a view of it lie there too.
            shares = i.opcode in ("custom-call", "copy-done", "get-tuple-element")
            buffer[i.name] = buffer[i.operands[0]] if shares else i.name
        return cls(tuple(i for i in module.entry.instructions if i.opcode not in ("parameter", "tuple")), buffer)


def orders(steps: Sequence[Instruction]) -> Iterator[list[str]]:
    """Every order in which operands come before users."""
    names = {i.name for i in steps}
    waits = {i.name: {o for o in i.operands if o in names} for i in steps}
    stack: list[list[str]] = [[]]
    while stack:
        order = stack.pop()
        if len(order) == len(steps):
            yield order
            continue
        done = set(order)
        stack.extend([*order, name] for name, needed in waits.items() if name not in done and needed <= done)


def hazards(program: Program, order: Sequence[str]) -> set[tuple[str, str]]:
    """(claim, start) for every claim that this order breaks."""
    at = {name: k for k, name in enumerate(order)}
    by_name = {i.name: i for i in program.steps}
    found: set[tuple[str, str]] = set()
    for start in (i for i in program.steps if i.opcode == "copy-start"):
        (done,) = (i for i in program.steps if i.opcode == "copy-done" and i.operands[0] == start.name)
        source, target = program.buffer[start.operands[0]], program.buffer[start.name]
        for name in order[at[start.name] + 1 : at[done.name]]:
            i = by_name[name]
            if i.opcode == "custom-call" and program.buffer[i.operands[0]] == source:
                found.add(("hazard-operand", start.name))
            if i.opcode in ("negate", "custom-call", "copy-start") and program.buffer[i.operands[0]] == target:
                found.add(("hazard-output", start.name))
    return found


def examine(text: str) -> tuple[str, ...]:
    module = parse_module(text)
    program = Program.of(module)
    expected: set[tuple[str, str]] = set()
    given = [i.name for i in program.steps]
    scheduled = module.attributes.flag("is_scheduled")
    for order in [given] if scheduled else orders(program.steps):
        expected |= hazards(program, order)
    claims = ("hazard-operand", "hazard-output")
    for j in judge(module, lambda name: name in claims, lambda name: name in claims):
        key = (j.claim, j.place.instruction)
        if j.unknown is not None:
            expected.discard(key)
            continue
        if (j.problem is not None) != (key in expected):
            wrong = "refuted where every order is free of it" if j.problem else "proved where an order breaks it"
            how = "scheduled" if scheduled else "unscheduled"
            raise Failure(f"async: {j.claim} of {how} modules is {wrong}", f"{key[1]}: {j.problem}")
        if key in expected:
            expected.discard(key)
    if expected:
        claim, start = min(expected)
        raise Failure(f"async: {claim} says nothing of a broken start", start)
    copies = any(i.opcode == "copy-start" for i in program.steps)
    broken = sorted({claim for claim, _ in hazards(program, given)})
    return (
        "scheduled" if scheduled else "unscheduled", "with copies" if copies else "without copies",
        *(f"{claim} broken in the order of the text" for claim in broken),
    )  # fmt: skip


TARGET = Target("async", "hazards of copies in flight against every order of the instructions", cases, examine, ".hlo")
