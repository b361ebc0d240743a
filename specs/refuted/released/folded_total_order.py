"""Constants are compared by the partial order of floats where the total order is asked for.

In the total order 1 is less than NaN, NaN equals itself, and -0 is less than 0, as it is computed of parameters.

Needs jax alone. Exit status: 1 the defect shows, 0 it does not.
"""

import sys
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

first, second = jnp.array([1.0, jnp.nan, -0.0]), jnp.array([jnp.nan, jnp.nan, 0.0])


def f(x: Any, y: Any) -> Any:
    return [lax.lt_to_p.bind(x, y), lax.eq_to_p.bind(x, y)]


computed = [r.tolist() for r in jax.jit(f)(first, second)]
folded = [r.tolist() for r in jax.jit(lambda: f(first, second))()]
print("computed", computed)
print("folded  ", folded)
sys.exit(computed != folded)
