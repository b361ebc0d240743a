"""Integer powers look at the six lowest bits of the exponent only.

3 to the 100th, modulo 2**32. The exponent 64 gives 1.

Needs jax alone. Exit status: 1 the defect shows, 0 it does not.
"""

import sys
from typing import Any

import jax
import jax.numpy as jnp
from jax._src.lib import xla_client
from jaxlib import _hlo

MODULE = """HloModule m

ENTRY e {
  x = s32[2] parameter(0)
  y = s32[2] parameter(1)
  ROOT r = s32[2] power(x, y)
}
"""


def run(text: str, *inputs: Any) -> Any:
    """The first result of a module of HLO text."""
    proto = _hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()
    program = xla_client._xla.mlir.xla_computation_to_mlir_module(_hlo.XlaComputation(proto))
    device = jax.devices("cpu")[0]
    devices = xla_client.DeviceList((device,))
    executable = device.client.compile_and_load(program, devices, xla_client.CompileOptions())
    given = [jax.device_put(v, device) for v in inputs]
    return executable.execute_sharded(given).disassemble_into_single_device_arrays()[0][0]


got = run(MODULE, jnp.array([3, 3]), jnp.array([100, 64])).tolist()
expected = [(pow(3, n, 2**32) + 2**31) % 2**32 - 2**31 for n in (100, 64)]
print("computed", got)
print("expected", expected)
sys.exit(got != expected)
