"""Reducing an f16 to the precision that it has keeps subnormal numbers of a parameter, and makes constants zero.

Needs jax alone. Exit status: 1 the defect shows, 0 it does not.
"""

import sys
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

given = jnp.array([2.0**-20, 1.0], jnp.float32).astype(jnp.float16)


def f(x: Any) -> Any:
    return lax.reduce_precision(x, 5, 10)


computed = jax.jit(f)(given).astype(jnp.float32).tolist()
folded = jax.jit(lambda: f(given))().astype(jnp.float32).tolist()
print("computed", computed)
print("folded  ", folded)
sys.exit(repr(computed) != repr(folded))
