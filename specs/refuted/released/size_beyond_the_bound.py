"""A size beyond its bound, read at run time, overwrites the heap.

The module is valid. HLO does not say what such a size means in f32[<=4]; the CPU client copies so many elements out
of a buffer of four.

Needs jax alone; the program runs in a process of its own. Exit status: 1 the defect shows, 0 it does not.
"""

import subprocess
import sys

PROGRAM = """import jax, jax.numpy as jnp
from jax._src.lib import xla_client
from jaxlib import _hlo
text = '''HloModule m

ENTRY e {
  p = f32[4] parameter(0)
  n = s32[] parameter(1)
  ROOT r = f32[<=4] set-dimension-size(p, n), dimensions={0}
}
'''
proto = _hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()
program = xla_client._xla.mlir.xla_computation_to_mlir_module(_hlo.XlaComputation(proto))
device = jax.devices('cpu')[0]
devices = xla_client.DeviceList((device,))
executable = device.client.compile_and_load(program, devices, xla_client.CompileOptions())
given = [jax.device_put(v, device) for v in (jnp.arange(4.0), jnp.int32(100_000_000))]
print(executable.execute_sharded(given).disassemble_into_single_device_arrays())"""

ended = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
print("computed", ended.stdout.strip() or "nothing")
print("the process ended with", ended.returncode)
sys.exit(ended.returncode < 0)
