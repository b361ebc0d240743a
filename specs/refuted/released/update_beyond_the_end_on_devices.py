"""An update that begins beyond the end of an array is lost where the updated dimension is laid over devices.

The start of a dynamic-update-slice is clamped, so that the update fits: one element at 9 of 8 is written to the last
element, as one device does it. Two devices leave the array as it is; so with start 8, and for longer updates at starts
that are constant.

Needs jax alone. Exit status: 1 the defect shows, 0 it does not.
"""

import os
import sys
from typing import Any

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import NamedSharding, PartitionSpec


def updated(x: Any, start: Any) -> Any:
    return lax.dynamic_update_slice(x, x[:1] + 100, (start,))


mesh = jax.make_mesh((2,), ("x",))
laid = (NamedSharding(mesh, PartitionSpec("x")), NamedSharding(mesh, PartitionSpec()))
given = (jnp.arange(8.0), jnp.int32(9))
expected = jax.jit(updated)(*given).tolist()
got = jax.jit(updated, in_shardings=laid)(*given).tolist()
print("on one device ", expected)
print("on two devices", got)
sys.exit(got != expected)
