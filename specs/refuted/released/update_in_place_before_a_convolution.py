"""An update in place reads an element that it has overwritten, where a convolution reads the result.

The elements 2, 4 are written one place to the right of where they are read. Working from the left in one buffer, the
second is read after the first was written over it: 2, 2, 2 in place of 2, 2, 4.

Needs jax alone. Exit status: 1 the defect shows, 0 it does not.
"""

import sys
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax


def update(x: Any) -> Any:
    start = x[0, 0, 0].astype(jnp.int32)
    moved = lax.dynamic_update_slice(x, x[:1, :1, :2], (start, start, start))
    kernel = (lax.iota(jnp.float32, 2) - 2).reshape(2, 1, 1)
    return lax.conv_general_dilated(moved, kernel, (1,), ((0, 0),))


given = jnp.array([2.0, 4.0, 3.0]).reshape(1, 1, 3)
got = jax.jit(update)(given).tolist()
expected = update(given).tolist()
print("computed", got)
print("expected", expected)
sys.exit(got != expected)
