"""Setting one element of a concatenation changes another one too where the concatenated arrays are laid over devices.

Element 3 of 0..7 0..7 is set to 9; on two devices element 8, the first of the second device, becomes 3.

Needs jax alone. Exit status: 1 the defect shows, 0 it does not.
"""

import os
import sys
from typing import Any

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec


def f(x: Any) -> Any:
    return jnp.concatenate([x, x]).at[3].set(9.0)


laid = NamedSharding(jax.make_mesh((2,), ("x",)), PartitionSpec("x"))
given = jnp.arange(8.0)
expected = jax.jit(f)(given).tolist()
got = jax.jit(f, in_shardings=laid)(given).tolist()
print("on one device ", expected)
print("on two devices", got)
sys.exit(got != expected)
