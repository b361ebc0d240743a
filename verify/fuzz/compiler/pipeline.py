"""The pass pipeline made smaller: the first pass without which the compiler gives what is expected."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from hloproof.fuzz.compiler.dumps import FLAGS
from hloproof.fuzz.modules.reference import Xla
from hloproof.pipeline.pass_dumps import find_dumps
from hloproof.results.errors import BadInput

WITHOUT: Final = "--xla_disable_hlo_passes={name}"
MOST: Final = 12
"""Passes that are tried, each in a process of its own."""

Outputs = list[list[Any]]


def first_guilty(text: str, inputs: Sequence[dict[str, Any]], expected: Outputs) -> tuple[str, str, str]:
    """The name of the pass, and the modules before and after it; empty where no pass alone is to blame."""
    with tempfile.TemporaryDirectory(prefix="hloproof-passes-") as folder:
        if _outputs(text, inputs, FLAGS.format(folder=folder)) == expected:
            return "", "", ""
        try:
            changes = [c for dumps in find_dumps(Path(folder)) for c in dumps.changes() if _is_of(c.before.path, text)]
        except BadInput:
            return "", "", ""
        for name in list(dict.fromkeys(c.name for c in changes))[:MOST]:
            if _outputs(text, inputs, WITHOUT.format(name=name)) == expected:
                first = next(c for c in changes if c.name == name)
                return name, first.before.read(), first.after.read()
    return "", "", ""


def _is_of(path: Path, text: str) -> bool:
    """The dump is of this module, not of one that places its arguments."""
    return f".{text.split(None, 2)[1].rstrip(',')}." in f".{path.name}"


def _outputs(text: str, inputs: Sequence[dict[str, Any]], flags: str) -> Outputs | None:
    """What the compiler gives with these flags; None where it fails."""
    xla = Xla(flags, seconds=60)
    try:
        answer = xla.ask({"hlo": text, "inputs": list(inputs)})
    finally:
        xla.close()
    return None if "error" in answer else [output["data"] for output in answer["outputs"]]
