"""How many fusions are composed per second: `python tests/benchmarks/fusion_speed.py [FILES]`.

Every fusion of the files (default: the corpus beside the project) from each of its outputs to its operands, simplified,
each module by a composer of its own. Processor time, in milliseconds.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from time import process_time

from hloproof.models.hlo.module import Module
from hloproof.models.hlo.parser import parse_modules
from hloproof.models.hlo.shape import leaves
from hloproof.models.indexing.composition.module_maps import composer_of, instruction_maps

CORPUS = Path(__file__).resolve().parents[2].parent / "shared" / "corpus"


def timings(module: Module) -> Iterator[tuple[float, int, str]]:
    """Milliseconds, number of instructions inside, and name of every fusion."""
    composer = composer_of(module)
    for computation in module.computations:
        for i in computation.instructions:
            if i.opcode == "fusion":
                start = process_time()
                for output in range(len(list(leaves(i.shape)))):
                    instruction_maps(composer, computation, i, "output-to-input", output)
                inside = module.by_name[i.attributes.computations()[0]].instructions
                yield 1000 * (process_time() - start), len(inside), i.name


def main(arguments: list[str]) -> None:
    files = [Path(a) for a in arguments] or sorted(CORPUS.glob("*/*/after.hlo")) + sorted(CORPUS.glob("xla/*.hlo"))
    found: list[tuple[float, int, str]] = []
    for path in files:
        try:
            modules = parse_modules(path.read_text(), str(path))
        except Exception as error:  # a benchmark says what it leaves out and goes on
            print(f"left out {path.name}: {error}", file=sys.stderr)
            continue
        for module in modules:
            found += [(ms, n, f"{name} of {path.parent.name}/{path.name}") for ms, n, name in timings(module)]
    if not found:
        print("no fusions")
        return
    found.sort()
    median = found[len(found) // 2][0]
    four = [ms for ms, n, _ in found if n == 4]
    print(f"{len(found)} fusions in {sum(f[0] for f in found) / 1000:.1f} s")
    most = found[len(found) * 9 // 10][0]
    print(f"median {median:.2f} ms, {1000 / max(median, 1e-3):.0f} a second; 90% under {most:.1f} ms")
    if four:
        print(f"of four instructions: {len(four)}, {1000 * len(four) / max(sum(four), 1e-3):.0f} a second")
    for ms, n, name in found[-3:]:
        print(f"slowest: {ms:.0f} ms, {n} instructions, {name}")


if __name__ == "__main__":
    main(sys.argv[1:])
