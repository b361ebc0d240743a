"""Negative constants converted to f8e8m0fnu, which has no sign, lose theirs: -2 becomes 2, and 0 becomes 2^-127.

Of a parameter the conversion gives NaN. Negation and subtraction of constants of the type go the same way.

Needs jax alone. Exit status: 1 the defect shows, 0 it does not.
"""

import sys
from typing import Any

import jax
import jax.numpy as jnp

given = jnp.array([-2.0, -0.5, 0.0, 4.0], jnp.float32)


def f(x: Any) -> Any:
    return x.astype(jnp.float8_e8m0fnu)


computed = jax.jit(f)(given).astype(jnp.float32).tolist()
folded = jax.jit(lambda: f(given))().astype(jnp.float32).tolist()
print("computed", computed)
print("folded  ", folded)
sys.exit(repr(computed) != repr(folded))
