"""A constant start without a sign is taken for a negative number: 200 of eight bits is before the array.

The slice begins at 200 where the start is given when the program runs, and at 0 where it is written in it.

Needs jax alone. Exit status: 1 the defect shows, 0 it does not.
"""

import sys

import jax
import jax.numpy as jnp
from jax import lax

got = jax.jit(lambda x: lax.dynamic_slice(x, (jnp.uint8(200),), (3,)))(jnp.arange(300)).tolist()
expected = [200, 201, 202]
print("computed", got)
print("expected", expected)
sys.exit(got != expected)
