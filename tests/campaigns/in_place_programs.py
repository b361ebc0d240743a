"""A campaign of programs that update arrays in place, compiled by the installed jax.

    python tests/campaigns/in_place_programs.py --count 300 --seed 0

Each program doubles an array, looks at it through a chain of reshapes, and writes into it (dynamic_update_slice, a
scatter that sets or adds) what it reads of it: the same window, a slice, another window, the window turned round, a
part of the array before the reshapes, a sum over all of it. Starts are constants, arguments, or computed from these.
The modules and memory plans that the compiler leaves are judged by `hazard-in-place` and `plan-in-place`, and each
program is run, compiled and operation by operation, on a number of arguments. The table tells how often the verdicts
and the runs go together; the same --seed gives the same programs. The status is 1 where a program that goes wrong is
proved. Modules and plans stay in --keep. The Python with jax is this one, or the one named by HLOPROOF_XLA_PYTHON.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from math import prod
from pathlib import Path
from typing import Any, Final

SIZES: Final = (8, 12, 16, 24, 30, 36)
RUNS: Final = 24
"""Arguments that each program is run on."""
_NUMBERED: Final = re.compile(r"[\w.\-]*\d[\w.\-]*")


def factors(n: int, draw: random.Random, rank: int) -> tuple[int, ...]:
    """Sizes whose product is n."""
    primes, left, p = [], n, 2
    while left > 1:
        while left % p == 0:
            primes.append(p)
            left //= p
        p += 1
    draw.shuffle(primes)
    sizes = [1] * rank
    for p in primes:
        sizes[draw.randrange(rank)] *= p
    return tuple(sizes)


class Compiled:
    """The operations of programs, for the compiler."""

    def __init__(self) -> None:
        import jax.numpy as jnp
        from jax import lax

        self.np: Any = jnp
        self.window, self.update = lax.dynamic_slice, lax.dynamic_update_slice

    def scatter(self, x: Any, places: Any, values: Any, adds: bool) -> Any:
        return x.at[places].add(values) if adds else x.at[places].set(values)


class Plain:
    """The same with numbers, one operation after the other."""

    def __init__(self) -> None:
        import numpy as np

        self.np: Any = np

    def _places(self, x: Any, starts: Any, sizes: Any) -> Any:
        clamped = (max(0, min(int(b), n - w)) for b, n, w in zip(starts, x.shape, sizes, strict=True))
        return tuple(slice(b, b + w) for b, w in zip(clamped, sizes, strict=True))

    def window(self, x: Any, starts: Any, sizes: Any) -> Any:
        return x[self._places(x, starts, sizes)]

    def update(self, x: Any, value: Any, starts: Any) -> Any:
        made = x.copy()
        made[self._places(x, starts, value.shape)] = value
        return made

    def scatter(self, x: Any, places: Any, values: Any, adds: bool) -> Any:
        """Places outside are left out; of several values for one the last stays."""
        made = x.copy()
        for place, value in zip(places, values, strict=True):
            if place < len(made):
                made[place] = made[place] + value if adds else value
        return made


def program(draw: random.Random) -> tuple[Callable[..., Any], tuple[int, ...], str, bool]:
    """A function of operations, an array, two integers and four more; the array's sizes and type; and whether its
    memory may be used."""
    n = draw.choice(SIZES)
    shape = factors(n, draw, draw.choice([1, 2, 2, 3]))
    kind = draw.choice(["update", "update", "update", "set", "set", "add"])
    target = factors(n, draw, draw.choice([1, 2, 2, 3]))
    chain = [factors(n, draw, draw.choice([1, 2, 3])) for _ in range(draw.randrange(3))]
    window = tuple(draw.randint(1, size) for size in target)
    starts = [draw.choice(_starts(size - w, draw)) for size, w in zip(target, window, strict=True)]
    ways = ["same", "slice", "next", "turned", "before", "in rows", "all"]
    parts = [(draw.choice(ways), draw.random()) for _ in range(draw.choice([1, 1, 2]))]
    is_regular = draw.random() < 0.5
    element_type = draw.choice(["float32", "int32"])
    is_donated = draw.random() < 0.3

    def f(ops: Any, x: Any, i: Any, j: Any, a: Any) -> Any:
        doubled = x * 2 + 1
        seen = doubled
        for sizes in (*chain, target):
            seen = seen.reshape(sizes)
        at = [_start(ops, what, i, j, a) for what in starts]
        count = prod(window)

        def part(how: str, where: float) -> Any:
            begins = [int(where * (size - w + 1)) for size, w in zip(target, window, strict=True)]
            first = int(where * (n - count + 1))
            match how:
                case "same":
                    return ops.window(seen, at, window)
                case "slice":
                    return seen[tuple(slice(b, b + w) for b, w in zip(begins, window, strict=True))]
                case "next":
                    return ops.window(seen, [e + 1 for e in at], window)
                case "turned":
                    return ops.np.flip(ops.window(seen, at, window))
                case "before":
                    return doubled.reshape(-1)[first : first + count].reshape(window)
                case "in rows":
                    return ops.window(seen, at, window).reshape(-1)[::-1].reshape(window)
            return ops.np.broadcast_to(ops.np.sum(doubled).astype(x.dtype), window)

        value = part(*parts[0])
        for other in parts[1:]:
            value = value + part(*other)
        if kind == "update":
            return ops.update(seen, value, at)
        places = (i + ops.np.arange(count) * 2) if is_regular else ops.np.repeat(a, -(-count // 4))[:count]
        return ops.scatter(seen.reshape(-1), places, value.reshape(-1), kind == "add")

    return f, shape, element_type, is_donated


def _starts(room: int, draw: random.Random) -> list[tuple[str, int]]:
    """The ways to say where something begins, with a number each."""
    named = [("constant", draw.randint(0, room)), ("i", 0), ("2i + 1", 0), ("i + n", draw.randint(0, 3))]
    return [*named, ("least", draw.randint(0, 3)), ("looked up", draw.randint(0, 3)), ("i + j", 0), ("i * j", 0)]


def _start(ops: Any, what: tuple[str, int], i: Any, j: Any, a: Any) -> Any:
    name, number = what
    match name:
        case "i":
            return i
        case "2i + 1":
            return 2 * i + 1
        case "i + n":
            return i + number
        case "least":
            return ops.np.minimum(i, number)
        case "looked up":
            return a[number]
        case "i + j":
            return i + j
        case "i * j":
            return i * j
    return ops.np.int32(number)


def make(folder: Path, count: int, seed: int) -> None:
    """Compiles all programs, leaves modules and plans in the folder, and writes `wrong.json`: for each program that
    gives another result than its operations one by one the arguments, that result, and what was found."""
    os.environ["XLA_FLAGS"] = f"--xla_dump_to={folder} --xla_dump_hlo_as_text --xla_dump_hlo_module_re=jit_program_.*"
    os.environ["JAX_PLATFORMS"] = "cpu"
    import jax
    import numpy as np

    wrong: dict[int, Any] = {}
    for number in range(count):
        f, shape, element_type, is_donated = program(random.Random(f"{seed}-{number}"))
        named = partial(f, Compiled())
        named.__name__ = f"program_{number}"  # type: ignore[attr-defined]
        compiled = jax.jit(named, donate_argnums=(0,) if is_donated else ())
        x = (np.arange(prod(shape)).reshape(shape) + 1).astype(element_type)
        draw = random.Random(f"arguments {seed}-{number}")
        for _ in range(RUNS):
            numbers = [draw.randint(0, 5), draw.randint(0, 5), [draw.randint(0, 6) for _ in range(4)]]
            more = (np.int32(numbers[0]), np.int32(numbers[1]), np.array(numbers[2], np.int32))
            one, two = f(Plain(), x, *more), np.asarray(compiled(x, *more))
            if not np.array_equal(one, two):
                wrong.setdefault(number, {"arguments": numbers, "expected": one.tolist(), "found": two.tolist()})
    (folder / "wrong.json").write_text(json.dumps(wrong))


def judged(module: Path) -> tuple[str, str, list[str]]:
    """The verdicts on the module and on its plan, and why something is unknown."""
    from hloproof.pipeline.driver import check_hlo
    from hloproof.pipeline.memory_plans import check_files
    from hloproof.pipeline.options import Options, Selection

    options = Options(jobs=1, selection=Selection(only=("hazard-in-place",)))
    own = [r for r in check_hlo(module.read_text(), options).records() if r.claim == "hazard-in-place"]
    assignment = module.with_name(module.stem + "-buffer-assignment.txt")
    report = check_files(str(module), str(assignment), lambda name: name == "plan-in-place")
    plan = [r for r in report.records() if r.claim == "plan-in-place"]
    reasons = [
        f"{r.claim}: {_NUMBERED.sub('N', r.reason)}" for r in (*own, *plan) if r.verdict == "unknown" and r.reason
    ]
    return _one([str(r.verdict) for r in own]), _one([str(r.verdict) for r in plan]), reasons


def _one(verdicts: list[str]) -> str:
    return next((v for v in ("refuted", "unknown", "proved") if v in verdicts), "nothing owed")


def modules(folder: Path) -> Iterator[tuple[int, Path]]:
    for path in folder.glob("*jit_program_*.cpu_after_optimizations.txt"):
        found = re.search(r"jit_program_(\d+)\.", path.name)
        if found is not None:
            yield int(found[1]), path


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--make", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.make is not None:
        make(given.make, given.count, given.seed)
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        python = os.environ.get("HLOPROOF_XLA_PYTHON", sys.executable)
        numbers = ["--count", str(given.count), "--seed", str(given.seed)]
        subprocess.run([python, __file__, "--make", str(folder.resolve()), *numbers], check=True)
        return told(folder)


def told(folder: Path) -> int:
    """Prints the table; the exit status."""
    wrong = {int(n): found for n, found in json.loads((folder / "wrong.json").read_text()).items()}
    table: Counter[tuple[str, str, str]] = Counter()
    examples: defaultdict[tuple[str, str, str], list[int]] = defaultdict(list)
    reasons: Counter[str] = Counter()
    for number, path in sorted(modules(folder)):
        in_module, in_plan, why = judged(path)
        key = in_module, in_plan, "goes wrong" if number in wrong else "runs right"
        table[key] += 1
        examples[key].append(number)
        reasons.update(why)
    print(f"{'hazard-in-place':18}{'plan-in-place':18}{'compiled':14}programs")
    for key, count in table.most_common():
        print(f"{key[0]:18}{key[1]:18}{key[2]:14}{count:8}  {', '.join(map(str, examples[key][:8]))}")
    for why, count in reasons.most_common():
        print(f"{count:8}  {why}")
    missed = [n for key in table if key[2] == "goes wrong" and "refuted" not in key[:2] for n in examples[key]]
    for number in missed:
        print(f"program {number} goes wrong and is not refuted: {wrong[number]['arguments']}")
    return int(any(key[2] == "goes wrong" and "proved" in key[:2] and "refuted" not in key[:2] for key in table))


if __name__ == "__main__":
    sys.exit(main())
