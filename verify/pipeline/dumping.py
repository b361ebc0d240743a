"""Runs a program with XLA's dumps turned on."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from hloproof.results.errors import BadInput


def run_with_dumps(program: Sequence[str], folder: Path) -> None:
    """Runs the program in a process of its own, with its output on standard error, and every pass dumped to `folder`.

    Flags of the environment are kept, JAX's cache of compilations is not used. Raises BadInput when the program cannot
    be started or ends with another status than 0.
    """
    environment = environment_with_dumps(folder)
    try:
        status = subprocess.run(program, env=environment, stdout=sys.stderr.fileno(), check=False).returncode
    except OSError as error:
        raise BadInput(f"{program[0]}: {(error.strerror or str(error)).lower()}") from error
    if status:
        raise BadInput(f"{' '.join(program)}: ended with status {status}")


def environment_with_dumps(folder: Path) -> dict[str, str]:
    """The environment of a process that dumps every pass to `folder`, which is made, and has to be empty.

    Raises BadInput where it is not.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise BadInput(f"{folder} is not empty; dumps of two runs cannot be told apart")
    dumps = f"--xla_dump_to={folder.resolve()} --xla_dump_hlo_as_text --xla_dump_hlo_pass_re=.*"
    return {
        **os.environ,
        "XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} {dumps}".strip(),
        "JAX_ENABLE_COMPILATION_CACHE": "false",
    }
