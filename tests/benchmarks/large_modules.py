"""Modules that grow in one way each: `python tests/benchmarks/large_modules.py [--size 50000] [--only NAME]`.

`hloproof check` in a process of its own, with one worker and without a cache: processor seconds of all its processes
and peak memory. No module of 50,000 instructions is to take more than 20 processor seconds; a run is ended after
--limit seconds of wall time.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from hloproof.processes.process import end_with_parent

ADD: Final = "add {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT r = f32[] add(a, b)\n}\n"


def _entry(lines: list[str], head: str = "", computations: str = "") -> str:
    return (
        f"HloModule large{head}\n\n{computations}\nENTRY main {{\n" + "\n".join("  " + line for line in lines) + "\n}\n"
    )


def _rooted(lines: list[str]) -> list[str]:
    return [*lines[:-1], "ROOT " + lines[-1]]


def elementwise(size: int) -> str:
    """One chain of equal operations."""
    lines = ["x0 = f32[64,64] parameter(0)"]
    lines += [f"x{n + 1} = f32[64,64] add(x{n}, x{max(0, n - 7)})" for n in range(size)]
    return _entry(_rooted(lines))


def shapes(size: int) -> str:
    """No two operations are equal: every shape is another."""
    lines = []
    for n in range(size // 4):
        a, b = n % 200 + 1, n // 200 + 1
        lines += [
            f"p{n} = f32[{a},{b}] parameter({n})",
            f"t{n} = f32[{b},{a}] transpose(p{n}), dimensions={{1,0}}",
            f"r{n} = f32[{a * b}] reshape(t{n})",
            f"v{n} = f32[{a * b}] negate(r{n})",
        ]
    return _entry(_rooted(lines))


def slices(size: int) -> str:
    """Slices, pads and concatenates of one array at ever other places."""
    lines = ["x = f32[100000] parameter(0)", "z = f32[] constant(0)"]
    for n in range(size // 3):
        lines += [
            f"s{n} = f32[40] slice(x), slice={{[{n}:{n + 40}]}}",
            f"d{n} = f32[{80 + n % 977}] pad(s{n}, z), padding={n % 977}_40",
            f"c{n} = f32[{160 + n % 977}] concatenate(d{n}, s{n}, s{max(0, n - 1)}), dimensions={{0}}",
        ]
    return _entry(_rooted(lines))


def _body(n: int, name: str = "f") -> str:
    k = n % 61 + 1
    return (
        f"{name}{n} {{\n  p = f32[64,{k + 1}] parameter(0)\n  s = f32[64,{k}] slice(p), slice={{[0:64], [1:{k + 1}]}}\n"
        f"  t = f32[{k},64] transpose(s), dimensions={{1,0}}\n  c = f32[] constant({n})\n"
        f"  b = f32[{k},64] broadcast(c), dimensions={{}}\n  m = f32[{k},64] multiply(t, b)\n"
        f"  ROOT r = f32[64,{k}] transpose(m), dimensions={{1,0}}\n}}\n"
    )


def fusions(size: int) -> str:
    """Many fusions, each with a computation of its own."""
    count = size // 9
    lines, bodies = [], []
    for n in range(count):
        k = n % 61 + 1
        bodies.append(_body(n))
        lines.append(f"p{n} = f32[64,{k + 1}] parameter({n})")
        lines.append(f"x{n} = f32[64,{k}] fusion(p{n}), kind=kLoop, calls=f{n}")
    return _entry(_rooted(lines), "", "".join(bodies))


def _one_fusion(lines: list[str]) -> str:
    """A module whose only operation is a fusion with these lines as its body, from f32[64,64] to f32[64,64]."""
    body = "body {\n" + "\n".join("  " + x for x in _rooted(lines)) + "\n}\n"
    entry = ["p = f32[64,64] parameter(0)", "ROOT r = f32[64,64] fusion(p), kind=kLoop, calls=body"]
    return _entry(entry, "", body)


def fused_chain(size: int) -> str:
    """One fusion with a body of `size` instructions."""
    lines = ["p = f32[64,64] parameter(0)", "x0 = f32[64,64] negate(p)"]
    for n in range(size // 3):
        lines += [
            f"t{n} = f32[64,64] transpose(x{n}), dimensions={{1,0}}",
            f"b{n} = f32[4096] bitcast(t{n})",
            f"x{n + 1} = f32[64,64] reshape(b{n})",
        ]
    return _one_fusion(lines)


def fused_fan(size: int) -> str:
    """One fusion whose body reads its operand in ever more ways: every step joins two paths."""
    lines = ["p = f32[64,64] parameter(0)", "x0 = f32[64,64] negate(p)"]
    for n in range(size // 2):
        lines += [
            f"t{n} = f32[64,64] {'transpose' if n % 2 else 'reverse'}(x{n}), dimensions={{{'1,0' if n % 2 else '0'}}}",
            f"x{n + 1} = f32[64,64] add(t{n}, x{n})",
        ]
    return _one_fusion(lines)


def fused_stencils(size: int) -> str:
    """One fusion: steps of a stencil, each of which reads three neighbours."""
    lines = ["p = f32[64,64] parameter(0)", "z = f32[] constant(0)", "x0 = f32[64,64] negate(p)"]
    for n in range(size // 7):
        lines += [
            f"l{n} = f32[63,64] slice(x{n}), slice={{[0:63], [0:64]}}",
            f"q{n} = f32[64,64] pad(l{n}, z), padding=1_0x0_0",
            f"h{n} = f32[63,64] slice(x{n}), slice={{[1:64], [0:64]}}",
            f"w{n} = f32[64,64] pad(h{n}, z), padding=0_1x0_0",
            f"a{n} = f32[64,64] add(q{n}, w{n})",
            f"m{n} = f32[64,64] multiply(a{n}, x{n})",
            f"x{n + 1} = f32[64,64] add(m{n}, x{n})",
        ]
    return _one_fusion(lines)


def calls(size: int) -> str:
    """Computations that call each other in one long chain."""
    out = ["c0 {\n  p = f32[8,9] parameter(0)\n  ROOT r = f32[9,8] transpose(p), dimensions={1,0}\n}\n"]
    depth = size // 4
    for n in range(1, depth):
        out.append(
            f"c{n} {{\n  p = f32[8,9] parameter(0)\n  v = f32[8,9] reverse(p), dimensions={{{n % 2}}}\n"
            f"  x = f32[8,9] add(v, p)\n  ROOT r = f32[9,8] call(x), to_apply=c{n - 1}\n}}\n"
        )
    entry = ["p = f32[8,9] parameter(0)", f"ROOT r = f32[9,8] call(p), to_apply=c{depth - 1}"]
    return _entry(entry, "", "".join(out))


def shared_calls(size: int) -> str:
    """Computations that call the next one twice: the calls double with every level."""
    out = ["c0 {\n  p = f32[8,8] parameter(0)\n  ROOT r = f32[8,8] transpose(p), dimensions={1,0}\n}\n"]
    depth = size // 5
    for n in range(1, depth):
        out.append(
            f"c{n} {{\n  p = f32[8,8] parameter(0)\n  v = f32[8,8] reverse(p), dimensions={{{n % 2}}}\n"
            f"  x = f32[8,8] call(v), to_apply=c{n - 1}\n  y = f32[8,8] call(p), to_apply=c{n - 1}\n"
            f"  ROOT r = f32[8,8] add(x, y)\n}}\n"
        )
    entry = ["p = f32[8,8] parameter(0)", f"ROOT r = f32[8,8] call(p), to_apply=c{depth - 1}"]
    return _entry(entry, "", "".join(out))


def _state(width: int) -> str:
    return "(s32[], " + ", ".join(["f32[8,8]"] * width) + ")"


def _loop(name: str, width: int, trips: int, body: list[str], results: list[str]) -> str:
    """A counted loop over `width` arrays; `body` may use c (the counter), s0, s1, ..., and `results` are its names."""
    state = _state(width)
    head = [f"p = {state} parameter(0)", "c = s32[] get-tuple-element(p), index=0"]
    head += [f"s{n} = f32[8,8] get-tuple-element(p), index={n + 1}" for n in range(width)]
    tail = [
        "one = s32[] constant(1)",
        "next = s32[] add(c, one)",
        f"ROOT r = {state} tuple(next, {', '.join(results)})",
    ]
    lines = "\n".join("  " + x for x in [*head, *body, *tail])
    condition = (
        f"{name}_until {{\n  p = {state} parameter(0)\n  c = s32[] get-tuple-element(p), index=0\n"
        f"  k = s32[] constant({trips})\n  ROOT r = pred[] compare(c, k), direction=LT\n}}\n"
    )
    return f"{name}_body {{\n{lines}\n}}\n{condition}"


def nested_loops(size: int) -> str:
    """Loops in loops, four deep, with small fusions in every body: an iterative solver."""
    width, each = 6, max(1, size // (4 * 30))
    out, fused = [], []
    inner: list[str] = []
    count = 0
    for level in range(4):
        body: list[str] = list(inner)
        now = [f"g{n}" for n in range(width)] if inner else [f"s{n}" for n in range(width)]
        for n in range(each):
            at, k = n % width, count % 7
            fused.append(
                f"f{count} {{\n  a = f32[8,8] parameter(0)\n  b = f32[8,8] parameter(1)\n"
                f"  t = f32[8,8] transpose(a), dimensions={{1,0}}\n  i = s32[] constant({k % 5})\n"
                f"  s = f32[1,8] slice(b), slice={{[{k}:{k + 1}], [0:8]}}\n  q = f32[8] reshape(s)\n"
                f"  w = f32[8,8] broadcast(q), dimensions={{1}}\n  m = f32[8,8] multiply(t, w)\n"
                f"  u = f32[8,8] dynamic-update-slice(m, s, i, i)\n  ROOT r = f32[8,8] add(u, a)\n}}\n"
            )
            body.append(f"x{n} = f32[8,8] fusion({now[at]}, {now[(at + 1) % width]}), kind=kLoop, calls=f{count}")
            now[at] = f"x{n}"
            count += 1
        out.append(_loop(f"l{level}", width, 5 + level, body, now))
        inner = [
            "zero = s32[] constant(0)",
            f"t = {_state(width)} tuple(zero, {', '.join(f's{n}' for n in range(width))})",
            f"w = {_state(width)} while(t), condition=l{level}_until, body=l{level}_body",
            *(f"g{n} = f32[8,8] get-tuple-element(w), index={n + 1}" for n in range(width)),
        ]
    entry = [f"s{n} = f32[8,8] parameter({n})" for n in range(width)] + inner + ["ROOT r = f32[8,8] add(g0, g1)"]
    return _entry(entry, "", "".join(fused) + "".join(out))


def scans(size: int) -> str:
    """Many loops one after the other, as layers of a model: each reads one row of each array in each turn."""
    out, lines = [], ["x0 = f32[8,8] parameter(0)", "y0 = f32[8,8] parameter(1)", "zero = s32[] constant(0)"]
    for n in range(size // 27):
        body = [
            "z = s32[] constant(0)",
            "row = f32[1,8] dynamic-slice(s0, c, z), dynamic_slice_sizes={1,8}",
            f"k = f32[] constant({n})",
            "b = f32[1,8] broadcast(k), dimensions={}",
            "m = f32[1,8] multiply(row, b)",
            "u = f32[8,8] dynamic-update-slice(s1, m, c, z)",
            "v = f32[8,8] transpose(s0), dimensions={1,0}",
        ]
        out.append(_loop(f"l{n}", 2, 8, body, ["v", "u"]))
        lines += [
            f"t{n} = {_state(2)} tuple(zero, x{n}, y{n})",
            f"w{n} = {_state(2)} while(t{n}), condition=l{n}_until, body=l{n}_body",
            f"x{n + 1} = f32[8,8] get-tuple-element(w{n}), index=1",
            f"y{n + 1} = f32[8,8] get-tuple-element(w{n}), index=2",
        ]
    lines.append("e = f32[8,8] add(x1, y1)")
    return _entry(_rooted(lines), "", "".join(out))


def wide_loop(size: int) -> str:
    """One loop over a state of thousands of arrays."""
    width = size // 4
    body = [f"n{k} = f32[8,8] transpose(s{(k + 1) % width}), dimensions={{1,0}}" for k in range(width)]
    loop = _loop("l", width, 7, body, [f"n{k}" for k in range(width)])
    lines = [f"p{n} = f32[8,8] parameter({n})" for n in range(width)]
    lines += [
        "zero = s32[] constant(0)",
        f"t = {_state(width)} tuple(zero, {', '.join(f'p{n}' for n in range(width))})",
        f"w = {_state(width)} while(t), condition=l_until, body=l_body",
        "g = f32[8,8] get-tuple-element(w), index=1",
    ]
    return _entry(_rooted(lines), "", loop)


def tuples(size: int) -> str:
    """A tuple of a third of the instructions, taken apart again."""
    width = size // 3
    lines = [f"p{n} = f32[4] parameter({n})" for n in range(width)]
    lines.append(f"t = ({', '.join(['f32[4]'] * width)}) tuple({', '.join(f'p{n}' for n in range(width))})")
    lines += [f"g{n} = f32[4] get-tuple-element(t), index={n}" for n in range(width)]
    lines += [f"v{n} = f32[4] negate(g{n})" for n in range(width)]
    return _entry(_rooted(lines))


def concatenate(size: int) -> str:
    """Concatenates of 10,000 operands."""
    width = 10_000
    lines = [f"p{n} = f32[{n % 3 + 1}] parameter({n})" for n in range(width)]
    total, names = sum(n % 3 + 1 for n in range(width)), ", ".join(f"p{n}" for n in range(width))
    lines += [
        f"c{k} = f32[{total}] concatenate({names}), dimensions={{0}}" for k in range(max(1, (size - width) // width))
    ]
    return _entry(_rooted(lines))


def scheduled(size: int) -> str:
    """A scheduled module: arrays are updated in place again and again, beside copies in flight."""
    lines = [
        "x0 = f32[64,64] parameter(0)",
        "u = f32[1,64] parameter(1)",
        "i0 = s32[] parameter(2)",
        "z = s32[] constant(0)",
    ]
    for n in range(size // 6):
        lines += [
            f"s{n} = (f32[64,64], f32[64,64], u32[]) copy-start(x{n})",
            f"i{n + 1} = s32[] add(i{n}, z)",
            f"v{n} = f32[1,64] negate(u)",
            f"d{n} = f32[64,64] copy-done(s{n})",
            f"y{n} = f32[64,64] dynamic-update-slice(d{n}, v{n}, i{n}, z)",
            f"x{n + 1} = f32[64,64] negate(y{n})",
        ]
    return _entry(_rooted(lines), ", is_scheduled=true")


def in_flight(size: int) -> str:
    """All copies of a scheduled module are in flight at once."""
    count = size // 3
    lines = [f"p{n} = f32[64] parameter({n})" for n in range(count)]
    lines += [f"s{n} = (f32[64], f32[64], u32[]) copy-start(p{n})" for n in range(count)]
    lines += [f"d{n} = f32[64] copy-done(s{n})" for n in range(count)]
    return _entry(_rooted(lines), ", is_scheduled=true")


def collectives(size: int) -> str:
    """Asynchronous collectives with channels, one after the other."""
    lines = ["x0 = f32[64] parameter(0)"]
    for n in range(size // 3):
        lines += [
            f"s{n} = f32[64] all-reduce-start(x{n}), channel_id={n + 1}, replica_groups={{{{0,1,2,3}}}}, "
            "use_global_device_ids=true, to_apply=add",
            f"v{n} = f32[64] negate(x{n})",
            f"x{n + 1} = f32[64] all-reduce-done(s{n})",
        ]
    return _entry(_rooted(lines), ", is_scheduled=true, num_partitions=4", ADD)


def reducers(size: int) -> str:
    """Every reduce has a computation of its own."""
    out, lines = [], ["z = f32[] constant(0)"]
    for n in range(size // 6):
        out.append(f"r{n} {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT m = f32[] add(a, b)\n}}\n")
        lines.append(f"p{n} = f32[{n % 99 + 1},{n // 99 + 1}] parameter({n})")
        lines.append(f"x{n} = f32[{n % 99 + 1}] reduce(p{n}, z), dimensions={{1}}, to_apply=r{n}")
    return _entry(_rooted(lines), "", "".join(out))


def branches(size: int) -> str:
    """A conditional of thousands of branches."""
    count = size // 4
    out = []
    for n in range(count):
        out.append(
            f"b{n} {{\n  p = f32[8,8] parameter(0)\n  t = f32[8,8] transpose(p), dimensions={{1,0}}\n"
            f"  ROOT v = f32[8,8] reverse({'t' if n % 2 else 'p'}), dimensions={{{n % 3 % 2}}}\n}}\n"
        )
    lines = ["i = s32[] parameter(0)", "p = f32[8,8] parameter(1)"]
    names = ", ".join(f"b{n}" for n in range(count))
    lines.append(f"ROOT c = f32[8,8] conditional(i{', p' * count}), branch_computations={{{names}}}")
    return _entry(lines, "", "".join(out))


def aliases(size: int) -> str:
    """Every result lies over a parameter, as in a training step with donated arguments."""
    count = size // 2
    pairs = ", ".join(f"{{{n}}}: ({n}, {{}}, may-alias)" for n in range(count))
    lines = [f"p{n} = f32[64] parameter({n})" for n in range(count)]
    lines += [f"v{n} = f32[64] negate(p{n})" for n in range(count - 1)]
    names = ", ".join([*(f"v{n}" for n in range(count - 1)), f"p{count - 1}"])
    lines.append(f"ROOT t = ({', '.join(['f32[64]'] * count)}) tuple({names})")
    return _entry(lines, f", is_scheduled=true, input_output_alias={{ {pairs} }}")


def gathers(size: int) -> str:
    """Lookups: each reads at the indices that the one before has found."""
    lines = ["t = s32[1000] parameter(0)", "i0 = s32[64,1] parameter(1)"]
    for n in range(size // 2):
        lines += [
            f"g{n} = s32[64,1] gather(t, i{n}), offset_dims={{1}}, collapsed_slice_dims={{}}, start_index_map={{0}}, "
            "index_vector_dim=1, slice_sizes={1}",
            f"i{n + 1} = s32[64,1] add(g{n}, i{n})",
        ]
    return _entry(_rooted(lines))


def fused_gathers(size: int) -> str:
    """Chains of lookups inside of fusions."""
    out, lines = [], ["t = s32[1000] parameter(0)", "i0 = s32[64,1] parameter(1)"]
    steps = 6
    for n in range(size // (2 * steps + 4)):
        body = ["t = s32[1000] parameter(0)", "i0 = s32[64,1] parameter(1)"]
        for k in range(steps):
            body += [
                f"g{k} = s32[64,1] gather(t, i{k}), offset_dims={{1}}, collapsed_slice_dims={{}}, "
                "start_index_map={0}, index_vector_dim=1, slice_sizes={1}",
                f"i{k + 1} = s32[64,1] add(g{k}, i{k})",
            ]
        body[-1] = "ROOT " + body[-1]
        out.append(f"f{n} {{\n" + "\n".join("  " + x for x in body) + "\n}\n")
        lines.append(f"i{n + 1} = s32[64,1] fusion(t, i{n}), kind=kLoop, calls=f{n}")
    return _entry(_rooted(lines), "", "".join(out))


KINDS: Final[dict[str, Callable[[int], str]]] = {
    f.__name__: f
    for f in (
        elementwise, shapes, slices, fusions, fused_chain, fused_fan, fused_stencils, calls, shared_calls, nested_loops,
        scans, wide_loop, tuples, concatenate, scheduled, in_flight, collectives, reducers, branches, aliases, gathers,
        fused_gathers,
    )
}  # fmt: skip


@dataclass(frozen=True)
class Run:
    """One run; status -9 where it was ended at the limit. `megabytes` is the peak of the largest process."""

    kind: str
    instructions: int
    status: int
    processor_seconds: float
    megabytes: float
    said: str


def check(kind: str, path: Path, limit: float, more: list[str]) -> Run:
    text = path.read_text(encoding="utf-8")
    command = [sys.executable, "-m", "hloproof", "check", "--no-cache", "--jobs", "1", str(path), *more]
    with tempfile.TemporaryFile() as out:
        # In a session of its own, so that its workers can be ended with it, and never without this process.
        process = subprocess.Popen(
            command, stdout=out, stderr=out, env=dict(os.environ), start_new_session=True, preexec_fn=end_with_parent
        )
        ending = threading.Timer(limit, lambda: os.killpg(process.pid, signal.SIGKILL))
        ending.daemon = True
        ending.start()
        _, status, used = os.wait4(process.pid, 0)
        ending.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        said = out.read().decode("utf-8", "replace").strip()
    count = sum(" = " in line for line in text.splitlines())
    return Run(kind, count, process.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, said)


def main() -> None:
    arguments = argparse.ArgumentParser(description="Benchmark of hloproof check on modules that grow in one way each.")
    arguments.add_argument("--size", type=int, default=50_000)
    arguments.add_argument("--only", choices=tuple(KINDS), action="append")
    arguments.add_argument("--limit", type=float, default=200.0)
    arguments.add_argument("--verbose", action="store_true", help="also print what the check said")
    arguments.add_argument("--write", type=Path, help="write the modules into this folder, and check nothing")
    arguments.add_argument("--json", type=Path)
    arguments.add_argument("more", nargs="*", help="options for check, behind --")
    given = arguments.parse_args()
    runs = []
    print(f"{'module':16} {'instructions':>12} {'status':>6} {'cpu':>8} {'MB':>7}")
    with tempfile.TemporaryDirectory() as name:
        for kind in given.only or KINDS:
            path = (given.write or Path(name)) / f"{kind}.hlo"
            path.write_text(KINDS[kind](given.size), encoding="utf-8")
            if given.write:
                continue
            run = check(kind, path, given.limit, given.more)
            runs.append(run)
            last = run.said.splitlines()[-1][:110] if run.said else ""
            print(
                f"{run.kind:16} {run.instructions:12} {run.status:6} {run.processor_seconds:8.2f} {run.megabytes:7.0f} "
                f"{last}",
                flush=True,
            )
            if given.verbose:
                print(run.said)
    if given.json:
        given.json.write_text(json.dumps([asdict(r) for r in runs], indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
