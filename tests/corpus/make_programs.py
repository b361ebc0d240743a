"""Compiles the programs of programs.py with pass dumps and keeps the pairs that differ, for tests without a compiler.

    pip install '.[xla]'; python tests/corpus/make_programs.py [--all DIR]

Each program is compiled in a process of its own. Kept are, for as many passes of as many programs as fit into the
size, two consecutive dumps that differ: rare passes first, and for every program the first dump against the last. Paths
of source files, which dumps name, are removed. `--all` leaves everything that was dumped in a folder.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).parent
KEPT: Final = HERE / "pairs.jsonl.gz"
LARGEST_TEXT: Final = 60_000
MOST_PAIRS: Final = 260
"""So that the test over all of them stays short."""

RUN: Final = """
import sys
sys.path.insert(0, {here!r})
import jax, programs
function, *arguments = programs.PROGRAMS[{name!r}]()
jax.jit(function).lower(*arguments).compile()
"""


def dump(name: str, folder: Path) -> None:
    """Compile one program, with every pass dumped to the folder."""
    flags = f"--xla_dump_to={folder} --xla_dump_hlo_as_text --xla_dump_hlo_pass_re=.*"
    environment = {**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu", "JAX_ENABLE_COMPILATION_CACHE": "false"}
    code = RUN.format(here=str(HERE), name=name)
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, stdout=subprocess.DEVNULL)


def scrubbed(text: str) -> str:
    """Without what names places on the machine: tables of files and stack frames."""
    text = re.sub(
        r"^(FileNames|FunctionNames|FileLocations|StackFrames)\n(?:\d+ .*\n)*\n?", "", text, flags=re.MULTILINE
    )
    return re.sub(
        r",? ?(?:source_file=\"[^\"]*\"|source_line=\d+|source_(?:end_)?(?:line|column)=\d+|stack_frame_id=\d+)",
        "",
        text,
    )


def pairs(name: str, folder: Path) -> list[dict[str, Any]]:
    """Consecutive dumps of the program's own module that differ, and the first with the last."""
    numbered = re.compile(r"module_\d+\.jit_\w+\.(\d{4})\..*?\.after_(.+?)(?:\.before_.+)?\.txt")
    modules: dict[str, list[tuple[int, str, str]]] = {}
    for path in sorted(folder.iterdir()):
        if found := numbered.fullmatch(path.name):
            own = modules.setdefault(path.name.split(".")[0], [])
            own.append((int(found[1]), found[2], scrubbed(path.read_text())))
    dumps = max(modules.values(), key=lambda own: len(own[0][2]))
    rows = [
        {"program": name, "pass": b[1], "before": a[2], "after": b[2]}
        for a, b in itertools.pairwise(dumps)
        if a[2] != b[2]
    ]
    return [*rows, {"program": name, "pass": "whole compilation", "before": dumps[0][2], "after": dumps[-1][2]}]


def chosen(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Whole compilations, then pairs of the rarest passes, as many as are kept; small modules before large ones."""
    rows = [r for r in rows if len(r["before"]) + len(r["after"]) < 2 * LARGEST_TEXT]
    whole = [r for r in rows if r["pass"] == "whole compilation"]
    often = Counter(r["pass"] for r in rows)
    others = sorted(
        (r for r in rows if r["pass"] != "whole compilation"), key=lambda r: (often[r["pass"]], len(r["before"]))
    )
    return [*whole, *others[: MOST_PAIRS - len(whole)]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", type=Path, help="also leave every dump there, a folder per program")
    options = parser.parse_args()
    sys.path.insert(0, str(HERE))
    from programs import PROGRAMS

    rows: list[dict[str, Any]] = []
    for name in PROGRAMS:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            try:
                dump(name, folder)
            except subprocess.CalledProcessError as error:
                print(f"{name}: not compiled ({error})", file=sys.stderr)
                continue
            rows += pairs(name, folder)
            if options.all is not None:
                shutil.copytree(folder, options.all / name, dirs_exist_ok=True)
        print(f"{name}: {len(rows)} pairs so far", file=sys.stderr)
    lines = "".join(json.dumps(r) + "\n" for r in chosen(rows))
    KEPT.write_bytes(gzip.compress(lines.encode(), 9, mtime=0))
    print(f"{len(rows)} pairs, {lines.count(chr(10))} kept in {KEPT.stat().st_size} bytes", file=sys.stderr)


if __name__ == "__main__":
    main()
