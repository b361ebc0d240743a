"""How much memory `hloproof serve` holds, its workers included, while it answers many requests.

    python tests/campaigns/served_requests.py --count 50000 --method check

`--method mixture` sends all of them in turn, each differing a little from those before it, so that nothing is answered
from memory.

Prints a line now and then, and at the end the most that was held and the seconds of processor time. Ends with 1 when
it was more than --megabytes, or when an answer was an error.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

from hloproof.processes.process import tree_megabytes

HLO: Final = """HloModule m
ENTRY e {
  p = f32[4,6]{1,0} parameter(0)
  ROOT t = f32[6,4]{1,0} transpose(p), dimensions={1,0}
}
"""
MAP: Final = "(d0)[s0] -> (d0 * 4 + s0), domain: d0 in [0, 3], s0 in [0, 3], d0 + s0 in [0, 5]"
PLAN: Final = Path(__file__).parents[1] / "data" / "plans" / "branches"
PLAN_FILES: Final = {"hlo": "module.hlo", "assignment": "assignment.txt"}
REQUESTS: Final[dict[str, dict[str, Any]]] = {
    "check": {"hlo": HLO},
    "layout": {"shape": "f32[5,130]{1,0:T(8,128)}", "index": [1, 2]},
    "simplify": {"map": MAP},
    "parse_module": {"hlo": HLO},
    "equiv": {"before": HLO, "after": HLO},
    "version": {},
    "compose": {"first": MAP, "second": "(d0) -> (d0, 0), domain: d0 in [0, 15]"},
    "rewrite": {"before": MAP, "after": MAP},
    "indexing": {"hlo": HLO, "instruction": "t"},
    "rules": {"text": "rule a\n  x + 0 => x\n"},
    "maps": {"text": f"map a\n  map {MAP}\n  equals {MAP}\n"},
    "layouts": {"text": "layout a\n  shape f32[5,130]{1,0:T(8,128)}\n"},
    "memory": {name: (PLAN / file).read_text(encoding="utf-8") for name, file in PLAN_FILES.items()},
    "aliases": {"hlo": HLO},
    "run": {"hlo": HLO},
    "explain": {"claim": "definition"},
}
MIXTURE: Final = "mixture"
IN_FLIGHT: Final = 16


def line(method: str, number: int) -> str:
    """The request of this number: of a mixture another method each time, and another size of its arrays each round."""
    parameters = REQUESTS[method] if method != MIXTURE else {}
    if method == MIXTURE:
        method = tuple(REQUESTS)[number % len(REQUESTS)]
        size = 4 + number // len(REQUESTS) % 1000
        parameters = {
            name: re.sub(r"\b4,6\b", f"{size},6", value).replace("6,4]", f"6,{size}]").replace("5,130", f"{size},130")
            if isinstance(value, str)
            else value
            for name, value in REQUESTS[method].items()
        }
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=50_000)
    parser.add_argument("--method", choices=(*REQUESTS, MIXTURE), default="check")
    parser.add_argument("--megabytes", type=float, default=300)
    parser.add_argument("--jobs", type=int, default=1, help="Workers of the server.")
    given = parser.parse_args()
    command = [sys.executable, "-m", "hloproof", "serve", "--jobs", str(given.jobs)]
    most, first, errors, start = 0.0, 0.0, 0, time.monotonic()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None and server.stdout is not None
        asked = 0
        for answered in range(1, given.count + 1):
            while asked < given.count and asked - answered < IN_FLIGHT:
                server.stdin.write(line(given.method, asked))
                asked += 1
            server.stdin.flush()
            answer = server.stdout.readline()
            if '"result":' not in answer:
                errors += 1
                print(answer[:300], end="", flush=True)
            if answered % 100 == 0:
                held = tree_megabytes(server.pid)
                first = first or held
                most = max(most, held)
                if answered % 5000 == 0:
                    print(f"{answered:6} answered, {held:.0f} MB now, {most:.0f} at most", flush=True)
        server.stdin.close()
        _, status, used = os.wait4(server.pid, 0)
        server.returncode = status
    print(
        f"{given.count} x {given.method}: {most:.0f} MB at most, {first:.0f} after the first hundred, {errors} errors, "
        f"{used.ru_utime + used.ru_stime:.0f} s of processor time, {time.monotonic() - start:.0f} s"
    )
    return int(errors > 0 or most > given.megabytes)


if __name__ == "__main__":
    sys.exit(main())
