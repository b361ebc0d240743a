"""The real compiler in a process of its own, and the comparison of its results with the interpreter's."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from models.hlo.module import Module
from models.interpreter.run import Devices, Machine, Real
from models.interpreter.value import Array, Value

REFERENCE = Path(__file__).with_name("xla_reference.py")


@cache
def python_with_jax() -> str | None:
    """A Python that has jax: the one named by HLOPROOF_XLA_PYTHON, or this one; None when neither has."""
    for candidate in (os.environ.get("HLOPROOF_XLA_PYTHON"), sys.executable):
        if candidate and subprocess.run(
            [candidate, "-c", "import jax, jaxlib._hlo"], capture_output=True, check=False
        ).returncode == 0:
            return candidate
    return None


class Xla:
    """A running reference process."""

    def __init__(self) -> None:
        python = python_with_jax()
        if python is None:
            raise RuntimeError("no Python with jax")
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            [python, str(REFERENCE)], stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
        )

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            self._process = Xla()._process
            return {"error": "the reference process died"}
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


def encoded(value: Array) -> dict[str, Any]:
    data = [[v.real, v.imag] if isinstance(v, complex) else v for v in value.data]
    return {"type": value.element_type, "sizes": list(value.sizes), "data": data}


def arrays(value: Value) -> Iterator[Array]:
    if isinstance(value, Array):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from arrays(part)


def disagreement(text: str, module: Module, xla: Xla, seed: int = 0, tolerance: float = 2e-5) -> str | None:
    """Where the interpreter and the real compiler differ on random inputs, in words; None when they agree.

    Floating-point results agree within the tolerance, relative to the largest magnitude of the array, or to one unit in
    the last place of narrow types.
    """
    machine = Machine(module, Real(), Devices(), seed)
    inputs = machine.random_inputs()
    parameters = [encoded(a) for v in inputs[0] for a in arrays(v)]
    answer = xla.ask({"hlo": text, "inputs": parameters})
    if "error" in answer:
        return f"reference: {answer['error']}"
    own = list(arrays(machine.run(inputs)[0]))
    theirs = answer["outputs"]
    if len(own) != len(theirs):
        return f"{len(own)} results against {len(theirs)}"
    for k, (a, b) in enumerate(zip(own, theirs, strict=True)):
        found = _first_difference(a, b["data"], tolerance)
        if found:
            return f"result {k} ({a.element_type}{list(a.sizes)}): {found}"
    return None


_ULP = {"f16": 1e-3, "bf16": 8e-3, "f8e5m2": 0.26, "f8e4m3fn": 0.13, "f8e4m3": 0.13, "f4e2m1fn": 0.51}


def _first_difference(a: Array, theirs: list[Any], tolerance: float) -> str | None:
    if len(a.data) != len(theirs):
        return f"{len(a.data)} elements against {len(theirs)}"
    finite = [abs(v) for v in a.data if isinstance(v, (float, complex)) and math.isfinite(abs(v))]
    allowed = max(tolerance, _ULP.get(a.element_type, 0)) * max([1.0, *finite])
    wrong = []
    for n, (x, given) in enumerate(zip(a.data, theirs, strict=True)):
        y = complex(*given) if isinstance(given, list) else given
        if not _close(x, y, allowed):
            wrong.append((n, x, y))
    return f"{len(wrong)} of {len(theirs)} differ, first {wrong[0]}" if wrong else None


def _close(x: Any, y: Any, allowed: float) -> bool:
    if isinstance(x, complex):
        return _close(x.real, y.real, allowed) and _close(x.imag, y.imag, allowed)
    if isinstance(x, float):
        if math.isnan(x) or math.isnan(y):
            return math.isnan(x) and math.isnan(y)
        return bool(x == y or abs(x - y) <= allowed)
    return bool(x == y)


__all__ = ["Xla", "arrays", "disagreement", "encoded", "python_with_jax"]
