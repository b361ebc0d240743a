"""Random small modules: the hazards found are those that brute force finds by running every order on marked buffers.

The brute force knows nothing of dependencies as sets or of alias classes: it gives every value a buffer while it runs,
writes a mark into it, and compares the mark when the value is read.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from hloproof.claims.asynchronous import judge
from hloproof.models.hlo.parser import parse_module

CLAIMS = ("hazard-order", "hazard-operand", "hazard-output", "hazard-overwrite", "hazard-donation")
"""Not whether a parameter may be written: here each may."""
WRITES = 'custom_call_target="w", output_to_operand_aliasing={{}: (0, {})}'


@dataclass
class Op:
    name: str
    kind: str  # parameter, negate, write, start, peek0, peek1, done, sum
    operands: list[str]
    control: list[str] = field(default_factory=list)


def text(ops: list[Op], scheduled: bool) -> str:
    lines = ["HloModule m" + (", is_scheduled=true" if scheduled else ""), "ENTRY e {"]
    for n, op in enumerate(ops):
        inside = ", ".join(op.operands)
        control = f", control-predecessors={{{', '.join(op.control)}}}" if op.control else ""
        right = {
            "parameter": f"f32[8] parameter({n})",
            "negate": f"f32[8] negate({inside})",
            "sum": f'f32[8] custom-call({inside}), custom_call_target="sum"',
            "write": f"f32[8] custom-call({inside}), {WRITES}",
            "update": f"f32[8] dynamic-update-slice({inside}, {inside}, zero)",
            "start": f"(f32[8], f32[8], u32[]) copy-start({inside})",
            "peek0": f"f32[8] get-tuple-element({inside}), index=0",
            "peek1": f"f32[8] get-tuple-element({inside}), index=1",
            "done": f"f32[8] copy-done({inside})",
            "zero": "s32[] constant(0)",
        }[op.kind]
        lines.append(f"  {'ROOT ' if op is ops[-1] else ''}{op.name} = {right}{control}")
    return "\n".join([*lines, "}"])


def generate(dice: random.Random, scheduled: bool) -> list[Op]:
    ops = [Op("p0", "parameter", []), Op("p1", "parameter", []), Op("zero", "zero", [])]
    arrays = ["p0", "p1"]
    starts: list[str] = []
    for n in range(dice.randint(3, 5)):
        kind = dice.choice(["negate", "write", "start", "peek0", "peek1", "update" if scheduled else "write", "done"])
        if kind in ("peek0", "peek1", "done") and not starts:
            kind = "start"
        if kind in ("peek0", "peek1"):
            op = Op(f"v{n}", kind, [dice.choice(starts)])
            arrays.append(op.name)
        elif kind == "done":
            op = Op(f"v{n}", kind, [starts.pop(dice.randrange(len(starts)))])
            arrays.append(op.name)
        else:
            op = Op(f"v{n}", kind, [dice.choice(arrays)])
            (starts if kind == "start" else arrays).append(op.name)
        if dice.random() < 0.3:
            op.control.append(dice.choice([o.name for o in ops if o.kind not in ("parameter", "zero")] or ["p0"]))
        ops.append(op)
    for n, start in enumerate(starts):
        ops.append(Op(f"f{n}", "done", [start]))
        arrays.append(f"f{n}")
    ops.append(Op("r", "sum", [dice.choice(arrays), dice.choice(arrays)]))
    return ops


def orders(ops: list[Op]) -> Iterator[list[Op]]:
    """All orders that dependencies allow."""
    by_name = {op.name: op for op in ops}

    def extend(done: list[Op], left: list[Op]) -> Iterator[list[Op]]:
        if not left:
            yield done
        names = {op.name for op in done}
        for op in left:
            if all(o in names for o in (*op.operands, *op.control)):
                yield from extend([*done, op], [o for o in left if o is not op])

    first = [op for op in ops if op.kind in ("parameter", "zero")]
    assert by_name
    yield from extend(first, [op for op in ops if op not in first])


def breaks(order: list[Op], scheduled: bool) -> bool:
    """Running the operations in this order reads or writes a buffer that is in use, or reads what was overwritten."""
    buffer: dict[str, int] = {}
    mark: dict[int, str] = {}
    means: dict[str, str] = {}
    source: dict[str, str] = {}
    flying: dict[str, tuple[int, int]] = {}  # start: buffer read, buffer written

    def fresh(name: str) -> None:
        buffer[name] = len(mark)
        mark[len(mark)] = means[name] = name

    def stale(name: str) -> bool:
        return scheduled and mark[buffer[name]] != means[name]

    for op in order:
        if op.kind in ("parameter", "zero"):
            fresh(op.name)
        elif op.kind in ("negate", "sum", "write", "update", "start"):
            if any(stale(o) for o in op.operands):
                return True
            touched = [buffer[o] for o in op.operands]
            if any(out in touched for _, out in flying.values()):
                return True
            if op.kind in ("write", "update"):
                target = touched[0]
                if any(read == target for read, _ in flying.values()):
                    return True
                buffer[op.name], mark[target], means[op.name] = target, op.name, op.name
            else:
                fresh(op.name)
            if op.kind == "start":
                source[op.name] = op.operands[0]
                flying[op.name] = (touched[0], buffer[op.name])
        else:
            start = op.operands[0]
            origin = source[start] if op.kind == "peek1" else start
            buffer[op.name], means[op.name] = buffer[origin], means[origin]
            if op.kind == "done":
                del flying[start]
    return False


def refuted(ops: list[Op], scheduled: bool, copies_inserted: bool) -> bool:
    module = parse_module(text(ops, scheduled))
    said = judge(module, CLAIMS.__contains__, lambda c: False, after_copy_insertion=copies_inserted)
    return any(j.problem is not None for j in said)


@pytest.mark.parametrize(("scheduled", "copies_inserted"), [(True, False), (True, True), (False, False), (False, True)])
def test_hazards_are_those_of_brute_force(scheduled: bool, copies_inserted: bool) -> None:
    dice = random.Random(7)
    seen = {True: 0, False: 0}
    shares = scheduled or copies_inserted
    for _ in range(600):
        ops = generate(dice, shares)
        expected = any(breaks(o, shares) for o in ([ops] if scheduled else orders(ops)))
        assert refuted(ops, scheduled, copies_inserted) == expected, text(ops, scheduled)
        seen[expected] += 1
    assert min(seen.values()) > 50
