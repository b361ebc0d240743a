"""An unsigned index beyond 2**31 is clipped to the first element, not the last.

`mode="clip"` clamps indices that are out of bounds. The index is made an int32 first, and is negative then. This is
the array library's doing: lax.gather with the same unsigned index gives the last element.

Needs jax alone. Exit status: 1 the defect shows, 0 it does not.
"""

import sys

import jax
import jax.numpy as jnp

given = jnp.array([4_000_000_000, 25], dtype=jnp.uint32)
got = jax.jit(lambda x, i: x.at[i].get(mode="clip"))(jnp.arange(30), given).tolist()
expected = [29, 25]
print("computed", got)
print("expected", expected)
sys.exit(got != expected)
