"""A clamp of constant predicates is not what it is of parameters: false between false and true is true.

Needs jax alone. Exit status: 1 the defect shows, 0 it does not.
"""

import sys

import jax
import jax.numpy as jnp
from jax import lax

low = jnp.array([False, False, True, True])
given = jnp.array([False, True, True, False])
high = jnp.array([True, True, False, True])
computed = jax.jit(lax.clamp)(low, given, high).tolist()
folded = jax.jit(lambda: lax.clamp(low, given, high))().tolist()
print("computed", computed)
print("folded  ", folded)
sys.exit(computed != folded)
