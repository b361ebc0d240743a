"""A constant infinity converted to f4e2m1fn, which has none, becomes 0; of a parameter it becomes 6, the largest.

Needs jax alone. Exit status: 1 the defect shows, 0 it does not.
"""

import sys
from typing import Any

import jax
import jax.numpy as jnp

given = jnp.array([float("inf"), float("-inf"), 9.0], jnp.float32)


def f(x: Any) -> Any:
    return x.astype(jnp.float4_e2m1fn)


computed = jax.jit(f)(given).astype(jnp.float32).tolist()
folded = jax.jit(lambda: f(given))().astype(jnp.float32).tolist()
print("computed", computed)
print("folded  ", folded)
sys.exit(repr(computed) != repr(folded))
