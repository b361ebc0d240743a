"""A pad with a negative low end and elements between those of the operand ends the process when it is laid out.

The partitioner stops at a check (get_first_valid_element_offset_on_dilated_shard).

Needs jax alone. Exit status: 1 the defect shows, 0 it does not.
"""

import os
import subprocess
import sys

PROGRAM = """
import jax, jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec
mesh = jax.make_mesh((2,), ("x",))
laid = NamedSharding(mesh, PartitionSpec("x"))
given = jnp.array([2.0, 3.0])
print(jax.jit(lambda x: jax.lax.pad(x, 1.0, [(-1, 2, 2)]), in_shardings=laid)(given))
"""
environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
status = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True).returncode
print("the process ends with", status)
sys.exit(status < 0)
