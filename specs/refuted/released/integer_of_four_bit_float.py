"""An f4e2m1fn that is 6, its largest number, converted to an integer is the largest integer.

The bound that tells what is beyond the integer type is itself converted to f4e2m1fn, where it saturates to 6.

Needs jax alone. Exit status: 1 the defect shows, 0 it does not.
"""

import sys

import jax
import jax.numpy as jnp

given = jnp.array([6.0, -6.0, 4.0]).astype(jnp.float4_e2m1fn)
got = jax.jit(lambda x: x.astype(jnp.int32))(given).tolist()
expected = [6, -6, 4]
print("computed", got)
print("expected", expected)
sys.exit(got != expected)
