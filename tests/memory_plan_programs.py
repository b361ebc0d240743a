"""Programs whose memory plans stand in tests/data/plans. `python tests/memory_plan_programs.py FOLDER` compiles them
with jax (extra `xla`, on the CPU) and writes NAME/module.hlo and NAME/assignment.txt below the folder.

They hold what larger collections of plans have little of: conditionals with donated branches, loops inside loops,
elements of four bits, updates in place that read what they write, library calls with declared aliases, collectives.
What tells where a line came from (metadata, file names) is left out.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

Program = tuple[Callable[..., Any], tuple[Any, ...], tuple[int, ...]]
"""A function, the shapes of its arguments, and which of them are donated."""


def programs() -> dict[str, Program]:
    """By name. Imports jax."""
    import jax
    import jax.numpy as jnp
    from jax import lax

    def shape(*sizes: int, kind: Any = jnp.float32) -> Any:
        return jax.ShapeDtypeStruct(sizes, kind)

    square, scalar, nibbles = shape(16, 16), shape(), shape(9, 7, kind=jnp.int4)

    def branches(p: Any, x: Any, y: Any) -> Any:
        return lax.cond(p > 0, lambda x, y: (x + 1, y), lambda x, y: (x * 2, x @ y), x, y)

    def swapping_branch(p: Any, x: Any, y: Any) -> Any:
        return lax.cond(p > 0, lambda x, y: (y, x), lambda x, y: (x.at[3].set(1.0), y), x, y)

    def three_branches(i: Any, x: Any) -> Any:
        return lax.switch(i, [lambda x: x.at[0].add(1.0), lambda x: jnp.sin(x) @ x, lambda x: x[::-1]], x)

    def loops_in_a_loop(x: Any) -> Any:
        def outer(i: Any, x: Any) -> Any:
            x = lax.fori_loop(0, i + 2, lambda j, y: y.at[j].set(jnp.sin(y[i]) + 1), x)
            return x @ x.T * 0.01

        return lax.fori_loop(0, 3, outer, x)

    def swapping_loop(x: Any, y: Any) -> Any:
        return lax.fori_loop(0, 7, lambda _, c: (c[1], c[0] + 1), (x, y))

    def branch_in_a_loop(x: Any, v: Any) -> Any:
        def body(c: Any) -> Any:
            x, v, k = c
            row = k.astype(int)
            x = lax.cond(v[0] > k, lambda x: x.at[row].set(v), lambda x: x.at[:, 0].multiply(2.0), x)
            return x, v + 1, k + 1

        return lax.while_loop(lambda c: (c[2] < 5) & (c[0][0, 0] < 100), body, (x, v, jnp.float32(0)))

    def nibbles_in_place(a: Any) -> Any:
        return a + jnp.int4(1)

    def nibbles_in_a_loop(a: Any) -> Any:
        return lax.fori_loop(0, 3, lambda i, a: a.at[i, :].set(a[i + 1] * jnp.int4(3)), a)

    def shifted_update(x: Any) -> Any:
        return x.at[1:].set(x[:-1] + 1)

    def shifted_window(x: Any) -> Any:
        return lax.dynamic_update_slice(x, x[0:3] * 1.0, (1,))

    def sorted_twice(k: Any) -> Any:
        return lax.sort((k, k), num_keys=1)

    def factored(a: Any, b: Any) -> Any:
        return jnp.linalg.solve(a, b)

    def largest(a: Any) -> Any:
        return lax.top_k(a, 5)

    line = shape(64)
    return {
        "branches": (branches, (scalar, square, square), (1, 2)),
        "swapping_branch": (swapping_branch, (scalar, square, square), (1, 2)),
        "three_branches": (three_branches, (shape(kind=jnp.int32), square), (1,)),
        "loops_in_a_loop": (loops_in_a_loop, (square,), (0,)),
        "swapping_loop": (swapping_loop, (square, square), (0, 1)),
        "branch_in_a_loop": (branch_in_a_loop, (square, shape(16)), (0,)),
        "nibbles_in_place": (nibbles_in_place, (nibbles,), (0,)),
        "nibbles_in_a_loop": (nibbles_in_a_loop, (nibbles,), (0,)),
        "shifted_update": (shifted_update, (square,), ()),
        "shifted_update_donated": (shifted_update, (square,), (0,)),
        "shifted_window": (shifted_window, (line,), ()),
        "shifted_window_donated": (shifted_window, (line,), (0,)),
        "sorted_twice": (sorted_twice, (line,), (0,)),
        "factored": (factored, (square, shape(16)), (1,)),
        "largest": (largest, (line,), ()),
    }


def main(folder: Path) -> None:
    with TemporaryDirectory() as dump:
        os.environ["XLA_FLAGS"] = f"--xla_dump_to={dump} --xla_dump_hlo_as_text --xla_dump_large_constants"
        import jax

        for name, (function, arguments, donated) in programs().items():
            function.__name__ = name
            jax.jit(function, donate_argnums=donated).lower(*arguments).compile()
            [module] = Path(dump).glob(f"*.jit_{name}.*after_optimizations.txt")
            plan = module.with_name(f"{module.stem}-buffer-assignment.txt")
            place = folder / name
            place.mkdir(parents=True, exist_ok=True)
            (place / "module.hlo").write_text(without_origins(module.read_text()))
            (place / "assignment.txt").write_text(plan.read_text())


def without_origins(hlo: str) -> str:
    """The text without metadata and the tables that it refers to."""
    head, _, rest = hlo.partition("\n")
    start = re.search(r"^(?:%|ENTRY)", rest, re.MULTILINE)
    body = rest[start.start() :] if start else rest
    return head + "\n\n" + re.sub(r", metadata=\{[^{}]*\}", "", body)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
