"""A constant NaN of type f8e8m0fnu converted to f32 becomes infinite; of a parameter it stays a NaN.

Needs jax alone. Exit status: 1 the defect shows, 0 it does not.
"""

import sys
from typing import Any

import jax
import jax.numpy as jnp

given = jnp.array([float("nan"), 2.0], jnp.float32).astype(jnp.float8_e8m0fnu)


def f(x: Any) -> Any:
    return x.astype(jnp.float32)


computed = jax.jit(f)(given).astype(jnp.float32).tolist()
folded = jax.jit(lambda: f(given))().astype(jnp.float32).tolist()
print("computed", computed)
print("folded  ", folded)
sys.exit(repr(computed) != repr(folded))
