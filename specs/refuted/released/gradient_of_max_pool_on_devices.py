"""The gradient of a max-pool whose windows overlap is wrong where the pooled dimension is laid over devices.

Windows (1, 2), (2, 3), (3, 4) of 1, 2, 3, 4 choose the second element each: 0, 1, 1, 1, as one device has it. On two
devices it is 0, 0, 1, 1: the part of the source that a device gets from its neighbour is not kept from a window that
begins before the first.

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


def pooled(x: Any) -> Any:
    return lax.reduce_window(x, -jnp.inf, lax.max, (2,), (1,), "VALID").sum()


laid = NamedSharding(jax.make_mesh((2,), ("x",)), PartitionSpec("x"))
given = jnp.array([1.0, 2.0, 3.0, 4.0])
expected = jax.jit(jax.grad(pooled))(given).tolist()
got = jax.jit(jax.grad(pooled), in_shardings=laid)(given).tolist()
print("on one device ", expected)
print("on two devices", got)
sys.exit(got != expected)
