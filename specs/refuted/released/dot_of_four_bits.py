"""A product of int4 arrays with an int32 result is refused by the compiler's own verifier.

The pass that widens operands gives the s32 conversions the operand's layout with the element size of four bits,
E(4). Convolutions meet the same.

Needs jax alone. Exit status: 1 the defect shows, 0 it does not.
"""

import sys

import jax
import jax.numpy as jnp
from jax import lax

given = jnp.arange(8).astype(jnp.int4)
try:
    print("computed", jax.jit(lambda x: lax.dot(x, x, preferred_element_type=jnp.int32))(given))
except jax.errors.JaxRuntimeError as error:
    print("refused", str(error)[:400])
    sys.exit(1)
