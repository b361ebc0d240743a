"""Rounding constants of type f8e3m4 to whole numbers gives NaN; the same operation on a parameter rounds.

Needs jax alone. Exit status: 1 the defect shows, 0 it does not.
"""

import sys
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

given = jnp.array([1.5, 2.0, 0.5, 10.0]).astype(jnp.float8_e3m4)


def f(x: Any) -> Any:
    return lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN)


computed = jax.jit(f)(given).astype(jnp.float32).tolist()
folded = jax.jit(lambda: f(given))().astype(jnp.float32).tolist()
print("computed", computed)
print("folded  ", folded)
sys.exit(repr(computed) != repr(folded))
