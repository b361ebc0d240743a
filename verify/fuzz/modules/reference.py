"""The real compiler in a process of its own, and the comparison of its results with the interpreter's."""

from __future__ import annotations

import json
import math
import os
import select
import subprocess
import sys
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Final

from hloproof.models.hlo.module import Module
from hloproof.models.hlo.shape import ArrayShape, Shape
from hloproof.models.interpreter.operations.collective import Devices
from hloproof.models.interpreter.run import Machine
from hloproof.models.interpreter.semantics.element_type import INTEGERS, highest, lowest, rounded
from hloproof.models.interpreter.semantics.real import Real
from hloproof.models.interpreter.value import Array, Value, arrays
from hloproof.processes.process import isolate_children

DIED = "the reference process died"
HANGS = "the reference process does not answer"
REFERENCE = Path(__file__).with_name("xla_reference.py")


@cache
def python_with_jax() -> str | None:
    """A Python that has jax: the one named by HLOPROOF_XLA_PYTHON, or this one; None when neither has."""
    isolate_children()
    for candidate in (os.environ.get("HLOPROOF_XLA_PYTHON"), sys.executable):
        if (
            candidate
            and subprocess.run(
                [candidate, "-c", "import jax, jaxlib._hlo"], capture_output=True, check=False
            ).returncode
            == 0
        ):
            return candidate
    return None


class Xla:
    """A running reference process; it is started again when it ends, or takes longer than `seconds` for an answer."""

    def __init__(self, flags: str = "", seconds: float = 120.0, script: Path = REFERENCE) -> None:
        if python_with_jax() is None:
            raise RuntimeError("no Python with jax")
        self._flags, self._seconds, self._script = flags, seconds, script
        self._process = self._started()

    def _started(self) -> subprocess.Popen[str]:
        pipe, environment = subprocess.PIPE, {**os.environ, "HLOPROOF_XLA_FLAGS": self._flags}
        return subprocess.Popen(
            [str(python_with_jax()), str(self._script)],
            stdin=pipe,
            stdout=pipe,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**environment, "PYTHONPATH": str(REFERENCE.parent)},
        )

    @property
    def process_id(self) -> int:
        return self._process.pid

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        try:
            late = not select.select([self._process.stdout], [], [], self._seconds)[0]
            line = "" if late else self._process.stdout.readline()
        except BaseException:  # whoever asks next must not be given this answer
            self._again()
            raise
        if not line:
            self._again()
            return {"error": HANGS if late else DIED}
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _again(self) -> None:
        self.close()
        self._process = self._started()

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()  # closes the pipes


def encoded(value: Array) -> dict[str, Any]:
    """An array as JSON; complex numbers are pairs."""
    data = [[v.real, v.imag] if isinstance(v, complex) else v for v in value.data]
    return {"type": value.element_type, "sizes": list(value.sizes), "data": data}


_ABOVE: Final = (0.0, 1.0, 0.5, 1.5, 2.5, 0.3, 7.7, 100.25, 3e4, 1e38, math.inf)
_CORNERS: Final = (*_ABOVE, *(-x for x in _ABOVE), math.nan)


def corner_value(shape: Shape, random: Random) -> Value:
    """An array of extreme and special numbers of its type."""
    assert isinstance(shape, ArrayShape)
    kind = shape.element_type
    if kind == "pred":
        chosen: list[Any] = [False, True]
    elif kind in INTEGERS:
        low, high = lowest(kind), highest(kind)
        chosen = [v for v in (low, low + 1, -7, -2, -1, 0, 1, 2, 3, 9, 31, 32, 64, high - 1, high) if low <= v <= high]
    else:
        chosen = [*_CORNERS, random.uniform(-3, 3), random.uniform(-300, 300)]
    if kind in ("c64", "c128"):
        chosen = [complex(random.uniform(-3, 3), random.uniform(-3, 3)) for _ in range(9)]
    return Array(kind, shape.dimensions, [rounded(kind, random.choice(chosen)) for _ in range(shape.elements)])


def disagreement(
    text: str,
    module: Module,
    xla: Xla,
    seed: int = 0,
    tolerance: float = 2e-5,
    corners: bool = False,
    noise: float = 0.0,
) -> str | None:
    """Where the interpreter and the real compiler differ on random inputs, in words; None when they agree."""
    return compare(text, module, xla, seed, tolerance, corners, noise)[0]


def compare(
    text: str,
    module: Module,
    xla: Xla,
    seed: int = 0,
    tolerance: float = 2e-5,
    corners: bool = False,
    noise: float = 0.0,
) -> tuple[str | None, str]:
    """Where the interpreter and the real compiler differ on random inputs, and the text of the optimised module.

    Floating-point results agree within the tolerance, relative to the largest magnitude of the array, or to one unit in
    the last place of narrow types. Where `noise` is given, they may differ by so much of the largest magnitude of all
    results: large summands may cancel in one of them.
    """
    machine = Machine(module, Real(), Devices(), seed)
    inputs = machine.random_inputs()
    if corners:
        random = Random(seed)
        inputs = [tuple(corner_value(p.shape, random) for p in module.entry.parameters)]
    parameters = [encoded(a) for v in inputs[0] for a in arrays(v)]
    answer = xla.ask({"hlo": text, "inputs": parameters})
    if "error" in answer:
        return f"reference: {answer['error']}", ""
    optimized = answer["optimized"]
    own = list(arrays(machine.run(inputs)[0]))
    theirs = answer["outputs"]
    if len(own) != len(theirs):
        return f"{len(own)} results against {len(theirs)}", optimized
    floor = noise * max((abs(v) for a in own for v in a.data if isinstance(v, float) and math.isfinite(v)), default=0.0)
    for k, (a, b) in enumerate(zip(own, theirs, strict=True)):
        found = _first_difference(a, b["data"], tolerance, corners, floor)
        if found:
            return f"result {k} ({a.element_type}{list(a.sizes)}): {found}", optimized
    return None, optimized


_ULP = {"f16": 1e-3, "bf16": 8e-3, "f8e5m2": 0.26, "f8e4m3fn": 0.13, "f8e4m3": 0.13, "f4e2m1fn": 0.51}


def _first_difference(a: Array, theirs: list[Any], tolerance: float, each: bool, floor: float) -> str | None:
    if len(a.data) != len(theirs):
        return f"{len(a.data)} elements against {len(theirs)}"
    finite = [abs(v) for v in a.data if isinstance(v, (float, complex)) and math.isfinite(abs(v))]
    relative = max(tolerance, _ULP.get(a.element_type, 0))
    allowed = max(floor, relative * max([1.0, *finite]))
    wrong = []
    for n, (x, given) in enumerate(zip(a.data, theirs, strict=True)):
        y = number(given)
        if each and isinstance(x, float) and math.isfinite(x):
            allowed = relative * max(abs(x), 1e-3)
        if not close(x, y, allowed):
            wrong.append((n, x, y))
    return f"{len(wrong)} of {len(theirs)} differ, first {wrong[0]}" if wrong else None


def number(v: Any) -> Any:
    """Complex numbers are pairs in JSON."""
    return complex(*v) if isinstance(v, list) else v


def close(x: Any, y: Any, allowed: float = 0.0) -> bool:
    """Equal, or as near as allowed; what is no number equals itself."""
    if isinstance(x, complex):
        return close(x.real, y.real, allowed) and close(x.imag, y.imag, allowed)
    if isinstance(x, float):
        if math.isnan(x) or math.isnan(y):
            return math.isnan(x) and math.isnan(y)
        return bool(x == y or abs(x - y) <= allowed)
    return bool(x == y)


__all__ = ["DIED", "HANGS", "Xla", "arrays", "close", "disagreement", "encoded", "number", "python_with_jax"]
