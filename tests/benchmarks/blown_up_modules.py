"""Modules of programs that once took minutes: `python tests/benchmarks/blown_up_modules.py [--write FOLDER]`.

An iterative solver in nested loops and the gradient of a transformer with scan, made by the JAX of the Python that
HLOPROOF_XLA_PYTHON names, before and after its CPU compiler has optimised them; an unrolled train step, before; and the
two found by hand that lie beside the repository. `hloproof check` of each as in `large_modules.py`: processor seconds
of all its processes and peak memory, with one worker and without a cache.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.large_modules import check

FINDINGS: Final = Path(__file__).resolve().parents[2].parent / "shared/findings"
FOUND: Final = {"a gather whose maps multiply": "slow_gather.hlo", "nested loops": "c60slow.hlo"}

PROGRAMS: Final = '''
import sys
from pathlib import Path
import jax
import jax.numpy as jnp
from jax import lax

jax.config.update("jax_enable_x64", True)

def solver(u, f):
    """Conjugate gradients on a grid, in each of many steps in time, all with known numbers of turns."""
    def laplace(v):
        p = jnp.pad(v, 1)
        return 4 * v - p[2:, 1:-1] - p[:-2, 1:-1] - p[1:-1, 2:] - p[1:-1, :-2]
    def time_step(n, u):
        def turn(_, state):
            x, r, p, rs = state
            ap = laplace(p) + p
            alpha = rs / jnp.sum(p * ap)
            x, r = x + alpha * p, r - alpha * ap
            new = jnp.sum(r * r)
            return x, r, r + new / rs * p, new
        b = u + f[n % 4]
        return lax.fori_loop(0, 20, turn, (jnp.zeros_like(b), b, b, jnp.sum(b * b)))[0]
    return lax.fori_loop(0, 10, time_step, u)

def block(x, w):
    q, k, v, o, up, down = w
    def norm(y):
        return (y - y.mean(-1, keepdims=True)) * lax.rsqrt(y.var(-1, keepdims=True) + 1e-5)
    def heads(y):
        return y.reshape(*y.shape[:2], 4, -1).transpose(0, 2, 1, 3)
    y = norm(x)
    a = jnp.einsum("bhqd,bhkd->bhqk", heads(y @ q), heads(y @ k))
    a = jax.nn.softmax(jnp.where(jnp.tril(jnp.ones(a.shape[-2:], bool)), a, -1e9))
    x = x + jnp.einsum("bhqk,bhkd->bhqd", a, heads(y @ v)).transpose(0, 2, 1, 3).reshape(x.shape) @ o
    return x + jax.nn.gelu(norm(x) @ up) @ down

def with_scan(x, ws):
    return jnp.sum(lax.scan(lambda h, w: (block(h, w), None), x, ws)[0] ** 2)

def unrolled(x, ws):
    for n in range(ws[0].shape[0]):
        x = block(x, [w[n] for w in ws])
    return jnp.sum(x**2)

def weights(layers):
    sizes = [(32, 32)] * 4 + [(32, 64), (64, 32)]
    return [jnp.ones((layers, *s), jnp.float32) for s in sizes]

def step(x, ws):
    return [w - 0.1 * g for w, g in zip(ws, jax.grad(unrolled, 1)(x, ws))]

x = jnp.ones((2, 16, 32), jnp.float32)
grid = (jnp.ones((16, 16)), jnp.ones((4, 16, 16)))
programs = {
    "solver": (solver, grid),
    "transformer_scan_grad": (jax.grad(with_scan, 1), (x, weights(3))),
    "unrolled_train_step": (step, (x, weights(64))),
}
for name, (function, arguments) in programs.items():
    lowered = jax.jit(function).lower(*arguments)
    Path(sys.argv[1], f"{name}_before.hlo").write_text(lowered.as_text("hlo"))
    if not name.startswith("unrolled"):
        Path(sys.argv[1], f"{name}_after.hlo").write_text(lowered.compile().as_text())
'''


def main() -> None:
    arguments = argparse.ArgumentParser(description="Benchmark of hloproof check on modules that once took minutes.")
    arguments.add_argument("--write", type=Path, help="write the modules into this folder, and check nothing")
    arguments.add_argument("--limit", type=float, default=200.0, help="seconds of wall time for one module")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = given.write or Path(name)
        modules = [(what, FINDINGS / file) for what, file in FOUND.items() if (FINDINGS / file).is_file()]
        python = os.environ.get("HLOPROOF_XLA_PYTHON")
        if python:
            subprocess.run([python, "-c", PROGRAMS, str(folder)], check=True)
            modules += [(path.stem, path) for path in sorted(folder.glob("*.hlo"))]
        else:
            print("HLOPROOF_XLA_PYTHON names no Python with JAX: without the compiled programs", file=sys.stderr)
        print(f"{'module':30} {'instructions':>12} {'status':>6} {'cpu':>8} {'MB':>7}")
        for what, path in () if given.write else modules:
            run = check(what, path, given.limit, [])
            print(
                f"{run.kind:30} {run.instructions:12} {run.status:6} {run.processor_seconds:8.2f} {run.megabytes:7.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
