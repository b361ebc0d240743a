"""The population count of an int4 counts the bits of its sign extension.

Of -1, whose four bits are set, it is 8, which an int4 shows as -8; of -2 it is 7.

Needs jax alone. Exit status: 1 the defect shows, 0 it does not.
"""

import sys

import jax
import jax.numpy as jnp
from jax import lax

given = jnp.array([-1, -2, -8, 7]).astype(jnp.int4)
got = jax.jit(lax.population_count)(given).astype(jnp.int32).tolist()
expected = [4, 3, 1, 3]
print("computed", got)
print("expected", expected)
sys.exit(got != expected)
