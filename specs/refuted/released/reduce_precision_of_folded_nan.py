"""A constant NaN reduced to a precision without mantissa bits becomes infinite; of a parameter it stays a NaN.

Needs jax alone. Exit status: 1 the defect shows, 0 it does not.
"""

import sys
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

given = jnp.array([float("nan"), 1.0], jnp.float32)


def f(x: Any) -> Any:
    return lax.reduce_precision(x, 8, 0)


computed = jax.jit(f)(given).astype(jnp.float32).tolist()
folded = jax.jit(lambda: f(given))().astype(jnp.float32).tolist()
print("computed", computed)
print("folded  ", folded)
sys.exit(repr(computed) != repr(folded))
