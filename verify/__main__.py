"""The entry point of `hloproof` and of `python -m hloproof`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line on the arguments of the process and end it with the exit status."""
    from hloproof.cli import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
