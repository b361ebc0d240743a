"""A scan over no elements is refused by the compiler's own verifier.

The pass scan_expander makes a loop that slices one element out of none. The final carry is the initial one.

Needs jax alone. Exit status: 1 the defect shows, 0 it does not.
"""

import sys
from typing import Any

import jax
import jax.numpy as jnp
from jax._src.lib import xla_client
from jaxlib import _hlo

MODULE = """HloModule m

step {
  x = f32[] parameter(0)
  c = f32[] parameter(1)
  t = f32[] add(x, c)
  ROOT r = (f32[], f32[]) tuple(t, t)
}

ENTRY e {
  p = f32[0] parameter(0)
  c = f32[] parameter(1)
  s = (f32[0], f32[]) scan(p, c), dimensions={0}, num_carries=1, to_apply=step
  ROOT r = f32[] get-tuple-element(s), index=1
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


try:
    print("computed", run(MODULE, jnp.zeros(0), jnp.float32(1)))
except jax.errors.JaxRuntimeError as error:
    print("refused", str(error)[:400])
    sys.exit(1)
