"""The entry point of `hloproof` and of `python -m hloproof`."""

from __future__ import annotations

import signal
import sys


def main() -> None:
    """Run the command line on the arguments of the process and end it with the exit status."""
    from hloproof.cli import run
    from hloproof.streams import flushed, settle

    settle()
    for ending in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        if signal.getsignal(ending) is signal.SIG_DFL:  # as Ctrl-C: what is known is told
            signal.signal(ending, signal.default_int_handler)
    status = run(sys.argv[1:])
    if (why := flushed()) is not None and status in (0, 1, 3):
        print(f"Error: standard output: {why}", file=sys.stderr)
        status = 2
    sys.exit(status)


if __name__ == "__main__":
    main()
