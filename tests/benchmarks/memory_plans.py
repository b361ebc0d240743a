"""A memory plan of many values: a scheduled chain of fusions whose plan reuses places as soon as they are free."""

from __future__ import annotations

import resource
from time import perf_counter, process_time

from hloproof.models.hlo.parser import parse_module
from hloproof.models.memory.assignment import parse_assignment
from hloproof.pipeline.memory_plans import plan_results

VALUES = 40_000
SLOTS = 64
"""Values that are needed at once; each lies at a place of its own."""
BYTES = 4096


def large_plan(values: int = VALUES, slots: int = SLOTS) -> tuple[str, str]:
    """A module of so many fusions, and its plan: value k reads values k - 1 and k - slots + 1, and lies where value
    k - slots did."""
    shape = f"f32[{BYTES // 4}]{{0}}"
    lines = [
        "HloModule large, is_scheduled=true\n",
        f"%fused (p: {shape}, q: {shape}) -> {shape} {{",
        f"  %p = {shape} parameter(0)",
        f"  %q = {shape} parameter(1)",
        f"  ROOT %s = {shape} add(%p, %q)",
        "}\n",
        f"ENTRY %main (a: {shape}) -> {shape} {{",
        f"  %a = {shape} parameter(0)",
    ]
    plan = [
        "BufferAssignment:",
        f"allocation 0: size {BYTES}, parameter 0, shape |f32[{BYTES // 4}]| at ShapeIndex {{}}:",
        f" value: <0 a @0> (size={BYTES},offset=0): {shape}",
        f"allocation 1: size {BYTES}, output shape is |f32[{BYTES // 4}]|, maybe-live-out:",
        f" value: <1 v{values} @0> (size={BYTES},offset=0): {shape}",
        f"allocation 2: size {BYTES * slots}, preallocated-temp:",
    ]
    for k in range(1, values + 1):
        left = f"v{k - 1}" if k > 1 else "a"
        right = f"v{k - slots + 1}" if k >= slots else "a"
        root = "ROOT " if k == values else ""
        lines.append(f"  {root}%v{k} = {shape} fusion(%{left}, %{right}), kind=kLoop, calls=%fused")
        if k < values:
            plan.append(f" value: <{k + 1} v{k} @0> (size={BYTES},offset={k % slots * BYTES}): {shape}")
    return "\n".join([*lines, "}", ""]), "\n".join([*plan, ""])


def memory_plan_row(values: int = VALUES) -> dict[str, object]:
    """How long the plan takes from its texts to verdicts, and the most memory that this process has had."""
    hlo, assignment = large_plan(values)
    begin, busy = perf_counter(), process_time()
    results = plan_results(parse_module(hlo), parse_assignment(assignment))
    seconds, busy = perf_counter() - begin, process_time() - busy
    verdicts = {str(c.verdict) for i in results.instructions for c in i.claims()}
    claims = sum(len(i.claims()) for i in results.instructions)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return {
        "values": values + 1,
        "claims": claims,
        "verdicts": sorted(verdicts),
        "seconds": round(seconds, 2),
        "processor_seconds": round(busy, 2),
        "peak_mib": peak,
    }


if __name__ == "__main__":
    print(memory_plan_row())
