"""lax.argmax of an int2 array ends in an internal error of the pass reduce-decomposer.

It requires the inputs of a reduction over two arrays to have one layout; element sizes E(2) and none differ.

Needs jax alone. Exit status: 1 the defect shows, 0 it does not.
"""

import sys

import jax
import jax.numpy as jnp
from jax import lax

given = jnp.array([0, 1, -1, 1]).astype(jnp.int2)
try:
    print("computed", jax.jit(lambda x: lax.argmax(x, 0, jnp.int32))(given))
except jax.errors.JaxRuntimeError as error:
    print("refused", str(error)[:400])
    sys.exit(1)
