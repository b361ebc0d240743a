"""Speed of the executable path: points of maps and examples of every fuzz target, per second of processor time.

    python tests/benchmarks/fuzz_speed.py [EXAMPLES]

Examples are drawn, examined and counted as in a campaign, in one process.
"""

from __future__ import annotations

import sys
import time

from hloproof.fuzz.chunk import run_chunk
from hloproof.fuzz.targets import MODULES
from hloproof.models.interpreter.maps import relation
from hloproof.models.maps.text import parse_map

MAP = (
    "(d0, d1)[s0] -> ((d0 * 50 + d1 + s0) / 7, (d0 + s0) mod 5), domain: d0 in [0, 99], d1 in [0, 49], s0 in [0, 9], "
    "d0 + s0 in [0, 80]"
)


def main() -> None:
    examples = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    started = time.process_time()
    count = sum(relation(parse_map(MAP)).values())
    print(f"map points    {count / (time.process_time() - started):10.0f} per second")
    for name in MODULES:
        if name == "xla":
            continue
        run_chunk(name, 0, 0, 20)
        started = time.process_time()
        done = run_chunk(name, 0, 1, examples)
        print(f"{name:13s} {done.examples / (time.process_time() - started):10.0f} examples per second")


if __name__ == "__main__":
    main()
