"""A program of a folder, changed or not, through the installed compiler: judged by every oracle of target `compiler`,
and where one of the two refuses it, by what the other says."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from hloproof.fuzz.compiler.judging import judged_module, plain_compiler, refused
from hloproof.fuzz.modules.reference import DIED, HANGS
from hloproof.fuzz.target import Failure
from hloproof.models.errors import InputError
from hloproof.models.hlo.module import Module

_CHANGED = re.compile(r"/\* changed: (.*?) \*/")
_NAMES = re.compile(r"%[\w.\-]+|\b\w+\[[\d,]*\](\{[\d,]*\})?|[-+]?\d+(\.\d+)?|'[^']*'|\"[^\"]*\"")
_NOT_FOR_CPU: Final = (
    "Unknown opcode",
    "UNIMPLEMENTED",
    "not implemented",
    "Unimplemented",
    "not supported",
    "Unsupported",
    "unsupported",
)
"""What the CPU compiler says of valid modules that it does not do, or does not know yet."""


def labels(text: str) -> Counter[str]:
    """What was changed."""
    found = _CHANGED.search(text)
    return Counter(f"changed: {kind}" for kind in (found[1].split(", ") if found else ()))


def judged_program(text: str, module: Module) -> Counter[str]:
    """Raises Failure, also where the compiler refuses what the parser accepts."""
    return judged_module(text, module, _refused)


def refused_by_us(text: str, error: InputError) -> Counter[str]:
    """Raises Failure where the compiler takes what the parser refuses."""
    answer = plain_compiler().ask({"hlo": text, "compile_only": True, "inputs": []})
    if "error" not in answer:
        raise Failure(f"corpus: the compiler accepts what is refused: {shape_of(error.message)}", str(error))
    if answer["error"] in (DIED, HANGS):
        refused(answer["error"])
    return Counter(["both refuse"])


def _refused(error: str) -> str:
    """What a refusal counts as. Raises Failure where it is none of what this compiler does not do."""
    label = refused(error)
    if label.startswith("refused") and not any(word in error for word in _NOT_FOR_CPU):
        raise Failure(f"corpus: the compiler refuses what is accepted: {shape_of(error)}", error[:400])
    return f"not for this compiler: {shape_of(error)}"


def shape_of(message: str) -> str:
    """A message without its names, shapes and numbers, and without the place in the compiler's source."""
    first = re.sub(r"^\w+(Error)?: ", "", message).strip()
    first = re.sub(r"(in function|during context) [^:]*:?|[\w/]+\.(cc|h):\d+", "", first)
    return re.sub(r"\s+", " ", _NAMES.sub("_", first))[:90].strip()
