"""A slice of a slice, with a start that is out of bounds: `hloproof passes -- python nested_slices.py`."""

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax


def window(x: Any, i: int, j: int) -> Any:
    """The two elements from j on of the four elements of x from i on."""
    return lax.dynamic_slice(lax.dynamic_slice(x, (i,), (4,)), (j,), (2,))


print(jax.jit(window)(jnp.arange(10.0), 8, 0))
