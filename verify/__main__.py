"""The entry point of `hloproof` and of `python -m hloproof`."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
import threading
from typing import Final

NEW_OBJECTS: Final = 100_000
"""So many more objects than before make the interpreter look for circles that nobody holds. What a check builds lives
to its end and has hardly any, so that looking after every 700, as is the default, took a third of the time."""


def main() -> None:
    """Run the command line on the arguments of the process and end it with the exit status."""
    from hloproof.cli import run
    from hloproof.streams import flushed, settle

    gc.set_threshold(NEW_OBJECTS, 20, 20)
    settle()
    for ending in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        if signal.getsignal(ending) is signal.SIG_DFL:  # as Ctrl-C: what is known is told
            signal.signal(ending, signal.default_int_handler)
    status = run(sys.argv[1:])
    if (why := flushed()) is not None and status in (0, 1, 3):
        print(f"Error: standard output: {why}", file=sys.stderr)
        status = 2
    _end(status)


def _end(status: int) -> None:
    """End the process without taking apart what it holds, which takes as long as a tenth of a check.

    What is registered for the end is done. A thread that still runs is waited for by the ordinary way.
    """
    if threading.active_count() > 1 or sys.gettrace() is not None:
        sys.exit(status)
    atexit._run_exitfuncs()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    main()
