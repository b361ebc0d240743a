"""Constants: the integer -1 to the power -8 is 0, where parameters give 1.

A program that jax does not write, since it has no power of integers; so it is given as a module.

Needs jax alone. Exit status: 1 the defect shows, 0 it does not.
"""

import sys

import jax
import jax.numpy as jnp
from jax._src.lib import xla_client
from jaxlib import _hlo

TEXT = """HloModule m

ENTRY e {
  p0 = s32[2] parameter(0)
  p1 = s32[2] parameter(1)
  b0 = s32[2] constant({-1, -1})
  b1 = s32[2] constant({-8, -3})
  computed = s32[2] power(p0, p1)
  folded = s32[2] power(b0, b1)
  ROOT r = (s32[2], s32[2]) tuple(computed, folded)
}
"""
proto = _hlo.hlo_module_from_text(TEXT).as_serialized_hlo_module_proto()
program = xla_client._xla.mlir.xla_computation_to_mlir_module(_hlo.XlaComputation(proto))
device = jax.devices("cpu")[0]
devices = xla_client.DeviceList((device,))
executable = device.client.compile_and_load(program, devices, xla_client.CompileOptions())
given = [jax.device_put(jnp.array(v).astype(jnp.int32), device) for v in ([-1, -1], [-8, -3])]
results = executable.execute_sharded(given).disassemble_into_single_device_arrays()
computed, folded = (r[0].astype(jnp.int32).tolist() for r in results)
print("computed", computed)
print("folded  ", folded)
sys.exit(computed != folded)
