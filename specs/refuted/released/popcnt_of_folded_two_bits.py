"""The population count of a constant int2 -1 is 0, of -2 it is 3 (shown as -1); of parameters 2 (shown as -2) and 1.

Needs jax alone. Exit status: 1 the defect shows, 0 it does not.
"""

import sys
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

given = jnp.array([-1, -2, 1, 0]).astype(jnp.int2)


def f(x: Any) -> Any:
    return lax.population_count(x)


computed = jax.jit(f)(given).astype(jnp.int32).tolist()
folded = jax.jit(lambda: f(given))().astype(jnp.int32).tolist()
print("computed", computed)
print("folded  ", folded)
sys.exit(repr(computed) != repr(folded))
