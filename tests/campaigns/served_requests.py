"""How much memory `hloproof serve` holds, its workers included, while it answers many requests.

    python tests/campaigns/served_requests.py --count 50000 --method check

Prints a line now and then, and at the end the most that was held and the seconds of processor time. Ends with 1 when
it was more than --megabytes, or when an answer was an error.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from typing import Any, Final

from hloproof.processes.process import tree_megabytes

HLO: Final = """HloModule m
ENTRY e {
  p = f32[4,6]{1,0} parameter(0)
  ROOT t = f32[6,4]{1,0} transpose(p), dimensions={1,0}
}
"""
MAP: Final = "(d0)[s0] -> (d0 * 4 + s0), domain: d0 in [0, 3], s0 in [0, 3], d0 + s0 in [0, 5]"
REQUESTS: Final[dict[str, dict[str, Any]]] = {
    "check": {"hlo": HLO},
    "layout": {"shape": "f32[5,130]{1,0:T(8,128)}", "index": [1, 2]},
    "simplify": {"map": MAP},
    "parse_module": {"hlo": HLO},
    "equiv": {"before": HLO, "after": HLO},
    "version": {},
}
IN_FLIGHT: Final = 16


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=50_000)
    parser.add_argument("--method", choices=tuple(REQUESTS), default="check")
    parser.add_argument("--megabytes", type=float, default=300)
    parser.add_argument("--jobs", type=int, default=1, help="Workers of the server.")
    given = parser.parse_args()
    command = [sys.executable, "-m", "hloproof", "serve", "--jobs", str(given.jobs)]
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": given.method, "params": REQUESTS[given.method]}) + "\n"
    most, first, errors, start = 0.0, 0.0, 0, time.monotonic()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None and server.stdout is not None
        asked = 0
        for answered in range(1, given.count + 1):
            while asked < given.count and asked - answered < IN_FLIGHT:
                server.stdin.write(line)
                asked += 1
            server.stdin.flush()
            errors += '"result":' not in server.stdout.readline()
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
