"""A scatter with empty index vectors carries out one of its updates.

Both updates go to the only element: 100 + 1 + 10.

Needs jax alone. Exit status: 1 the defect shows, 0 it does not.
"""

import sys
from typing import Any

import jax
import jax.numpy as jnp
from jax._src.lib import xla_client
from jaxlib import _hlo

MODULE = """HloModule m

add {
  x = s32[] parameter(0)
  y = s32[] parameter(1)
  ROOT r = s32[] add(x, y)
}

ENTRY e {
  p = s32[1] parameter(0)
  i = s32[0,2] parameter(1)
  u = s32[2] parameter(2)
  ROOT r = s32[1] scatter(p, i, u), update_window_dims={}, inserted_window_dims={0},
    scatter_dims_to_operand_dims={}, index_vector_dim=0, to_apply=add
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


got = run(MODULE, jnp.array([100]), jnp.zeros((0, 2), jnp.int32), jnp.array([1, 10])).tolist()
expected = [111]
print("computed", got)
print("expected", expected)
sys.exit(got != expected)
