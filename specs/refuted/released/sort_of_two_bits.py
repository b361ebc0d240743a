"""Sorting int2 or uint2 gives numbers that were not there.

The result is not even a permutation of the operand: elements are compared and moved at the wrong places in memory.

Needs jax alone. Exit status: 1 the defect shows, 0 it does not.
"""

import sys

import jax
import jax.numpy as jnp
from jax import lax

given = jnp.array([1, -1, 0, -2, 1, 0]).astype(jnp.int2)
got = jax.jit(lax.sort)(given).astype(jnp.int32).tolist()
expected = [-2, -1, 0, 0, 1, 1]
print("computed", got)
print("expected", expected)
sys.exit(got != expected)
