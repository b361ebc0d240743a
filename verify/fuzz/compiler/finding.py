"""A finding of target `compiler` as files: the module before and after, flags, versions, the verdict, and a program
that shows it with the released package alone."""

from __future__ import annotations

import subprocess
from typing import Any, Final

from hloproof.fuzz.compiler.pipeline import WITHOUT, first_guilty
from hloproof.fuzz.modules.reference import Xla, arrays, encoded, python_with_jax
from hloproof.models.errors import InputError, NotModelled
from hloproof.models.hlo.module import Module
from hloproof.models.interpreter.operations.collective import Devices
from hloproof.models.interpreter.run import Machine
from hloproof.models.interpreter.semantics.real import Real
from hloproof.models.interpreter.value import Value

FLAGS: Final = "--xla_allow_excess_precision=false --xla_cpu_enable_fast_math=false"
_SHOW: Final = '''"""{title}

Needs jax alone. Exit status: 1 the results are others than expected, 0 they are not.
"""

import os
import sys

os.environ["XLA_FLAGS"] = "{flags}"

import jax
import jax.numpy as jnp
from jax._src.lib import xla_client
from jaxlib import _hlo

jax.config.update("jax_enable_x64", True)
MODULE = r"""{module}"""
INPUTS = {inputs}  # type, sizes, elements
EXPECTED = {expected}  # None where the interpreter does not say
NAMES = {{"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "pred": "bool", "c64": "complex64"}}


def dtype(kind):
    return getattr(jnp, NAMES.get(kind) or ("int" if kind[0] == "s" else "uint") + kind[1:])


proto = _hlo.hlo_module_from_text(MODULE).as_serialized_hlo_module_proto()
program = xla_client._xla.mlir.xla_computation_to_mlir_module(_hlo.XlaComputation(proto))
device = jax.devices("cpu")[0]
devices = xla_client.DeviceList((device,))
executable = device.client.compile_and_load(program, devices, xla_client.CompileOptions())
given = [jax.device_put(jnp.array(v).astype(dtype(k)).reshape(n), device) for k, n, v in INPUTS]
results = executable.execute_sharded(given).disassemble_into_single_device_arrays()
got = [r[0].reshape(-1).tolist() for r in results]
print("computed", got)
print("expected", EXPECTED)
sys.exit(EXPECTED is not None and got != EXPECTED)
'''


def files(text: str, module: Module, inputs: tuple[Value, ...], cause: str, said: str) -> dict[str, str]:
    """The contents by name. `said` is what the oracle said of the minimised module. Where one pass is to blame, before
    and after are of that pass, and the module stands beside them."""
    expected: list[list[Any]] | None
    try:
        expected = [list(a.data) for a in arrays(Machine(module, Real(), Devices(), 0).run([inputs])[0])]
    except (NotModelled, InputError):
        expected = None
    given = [encoded(a) for v in inputs for a in arrays(v)]
    shown = [(g["type"], g["sizes"], g["data"]) for g in given]
    guilty, before, after = first_guilty(text, given, expected) if expected is not None else ("", "", "")
    named = f"without the pass {guilty} the result is right: {WITHOUT.format(name=guilty)}\n" if guilty else ""
    title = cause.replace('"', "'").splitlines()[0]
    return {
        **({"module.hlo": text} if guilty else {}),
        "before.hlo": before or text,
        "after.hlo": after or _after(text),
        "flags.txt": FLAGS + "\n" + named,
        "versions.txt": _versions(),
        "show.py": _SHOW.format(title=title, flags=FLAGS, module=text, inputs=shown, expected=expected),
        "verdict.txt": f"{cause}\n{said}\n{named}",
    }


def _after(text: str) -> str:
    """The module that the compiler makes, or why there is none."""
    xla = Xla(seconds=60)
    try:
        answer = xla.ask({"hlo": text, "compile_only": True, "inputs": []})
    finally:
        xla.close()
    return str(answer.get("optimized") or f"// {answer.get('error', '')[:400]}".replace("\n", "\n// ")) + "\n"


def _versions() -> str:
    python = python_with_jax()
    assert python is not None
    asked = "import jax, jaxlib; print('jax', jax.__version__, 'jaxlib', jaxlib.__version__)"
    return subprocess.run([python, "-c", asked], capture_output=True, text=True, check=False).stdout
