"""The leading zeros of a constant int32 -1, which has none, are -32; of a parameter they are 0.

Needs jax alone. Exit status: 1 the defect shows, 0 it does not.
"""

import sys
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

given = jnp.array([-1, -2, 1, 0], jnp.int32)


def f(x: Any) -> Any:
    return lax.clz(x)


computed = jax.jit(f)(given).astype(jnp.int32).tolist()
folded = jax.jit(lambda: f(given))().astype(jnp.int32).tolist()
print("computed", computed)
print("folded  ", folded)
sys.exit(repr(computed) != repr(folded))
