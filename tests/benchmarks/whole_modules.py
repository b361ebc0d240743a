"""Whole modules: `python tests/benchmarks/whole_modules.py [--json FILE]`.

`hloproof check` in a process of its own: seconds, processor seconds of all its processes and peak memory, for generated
modules of 1, 5, 10, 20 and 40 thousand instructions and for the largest one of the corpus, cold and with a warm cache.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LARGEST = ROOT.parent / "shared/corpus/xla/xla__tools__benchmarks__hlo__hlo_mixtral_8x7b_bf16_1x8.hlo"
SIZES = (1_000, 5_000, 10_000, 20_000, 40_000)


@dataclass(frozen=True)
class Run:
    """One run. `megabytes` is the peak of the largest process."""

    module: str
    instructions: int
    cache: str
    status: int
    seconds: float
    processor_seconds: float
    megabytes: float


def module_text(instructions: int, seed: int = 0) -> str:
    """A module of about so many instructions: layers of the same few shapes, as models have."""
    draw = random.Random(seed)
    heads, length, width = 8, 128, 512
    lines = [f"  x0 = f32[{length},{width}] parameter(0)", f"  w = f32[{width},{width}] parameter(1)"]
    layer = 0
    while len(lines) < instructions:
        x, y = f"x{layer}", f"x{layer + 1}"
        chunk = draw.choice([32, 64])
        cube = f"f32[{length},{heads},{width // heads}]"
        lines += [
            f"  a{layer} = f32[{length},{width}] dot({x}, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}",
            f"  b{layer} = {cube} reshape(a{layer})",
            f"  c{layer} = f32[{heads},{length},{width // heads}] transpose(b{layer}), dimensions={{1,0,2}}",
            f"  d{layer} = f32[{heads},{length},{chunk}] slice(c{layer}), "
            f"slice={{[0:{heads}], [0:{length}], [0:{chunk}]}}",
            f"  z{layer} = f32[] constant(0)",
            f"  e{layer} = f32[{heads},{length},{width // heads}] pad(d{layer}, z{layer}), "
            f"padding=0_0x0_0x0_{width // heads - chunk}",
            f"  f{layer} = {cube} transpose(e{layer}), dimensions={{1,0,2}}",
            f"  g{layer} = f32[{length},{width}] reshape(f{layer})",
            f"  {y} = f32[{length},{width}] add({x}, g{layer})",
        ]
        layer += 1
    lines[-1] = lines[-1].replace("  x", "  ROOT x", 1)
    return "HloModule generated\n\nENTRY main {\n" + "\n".join(lines) + "\n}\n"


def check(name: str, path: Path, cache: Path, kind: str) -> Run:
    environment = dict(os.environ)
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "hloproof", "check", "-q", "--cache", str(cache), str(path)],
        cwd=path.parent,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
    )
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    count = sum(" = " in line for line in path.read_text(encoding="utf-8").splitlines())
    # What a process waited for counts into its own usage: the workers are in it.
    return Run(name, count, kind, process.returncode, seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def main() -> None:
    arguments = argparse.ArgumentParser(description="Benchmark of hloproof check on whole modules.")
    arguments.add_argument("--json", type=Path, help="write the table here as JSON")
    chosen = arguments.parse_args()
    runs: list[Run] = []
    columns = f"{'cache':>6} {'status':>6} {'seconds':>8} {'cpu':>8} {'MB':>7} {'us/instruction':>15}"
    print(f"{'module':20} {'instructions':>12} {columns}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        modules: list[tuple[str, Path]] = []
        for size in SIZES:
            path = folder / f"generated_{size}.hlo"
            path.write_text(module_text(size), encoding="utf-8")
            modules.append((f"generated {size // 1000}k", path))
        if LARGEST.is_file():
            modules.append(("largest of corpus", LARGEST))
        for label, path in modules:
            cache = folder / f"{path.stem}.sqlite"
            for kind in ("cold", "warm"):
                run = check(label, path, cache, kind)
                runs.append(run)
                each = run.processor_seconds / run.instructions * 1e6
                print(
                    f"{run.module:20} {run.instructions:12} {run.cache:>6} {run.status:6} {run.seconds:8.2f} "
                    f"{run.processor_seconds:8.2f} {run.megabytes:7.0f} {each:15.0f}",
                    flush=True,
                )
    if chosen.json:
        chosen.json.write_text(json.dumps([asdict(r) for r in runs], indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
