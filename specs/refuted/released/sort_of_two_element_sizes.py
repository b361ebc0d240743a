"""Sorting an int4 key with an int2 array beside it ends in an internal error.

`Inputs must have the same shape`, though both have five elements: element sizes are compared as well.

Needs jax alone. Exit status: 1 the defect shows, 0 it does not.
"""

import sys

import jax
import jax.numpy as jnp
from jax import lax

keys = jnp.array([3, -1, 0, -8, 5]).astype(jnp.int4)
others = jnp.arange(5).astype(jnp.int2)
try:
    print("computed", jax.jit(lambda k, v: lax.sort((k, v), num_keys=1))(keys, others))
except jax.errors.JaxRuntimeError as error:
    print("refused", str(error)[:400])
    sys.exit(1)
