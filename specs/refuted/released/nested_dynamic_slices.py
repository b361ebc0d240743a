"""A slice of a slice reads other elements where the outer start is out of bounds (openxla issue 49121).

The outer start 8 is clamped to 6, so that the inner slice begins at element 6. The two are folded into one slice
whose start 8 + 0 is clamped once.

Needs jax alone. Exit status: 1 the defect shows, 0 it does not.
"""

import sys
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax


def window(x: Any, i: int, j: int) -> Any:
    return lax.dynamic_slice(lax.dynamic_slice(x, (i,), (4,)), (j,), (2,))


got = jax.jit(window)(jnp.arange(10), 8, 0).tolist()
expected = window(jnp.arange(10), 8, 0).tolist()
print("computed", got)
print("expected", expected)
sys.exit(got != expected)
