"""lax.top_k of an int4 (or int2) array is refused by the compiler's own verifier.

The pass topk-decomposer gives its s32 iota the operand's layout with the element size of four bits, E(4).

Needs jax alone. Exit status: 1 the defect shows, 0 it does not.
"""

import sys

import jax
import jax.numpy as jnp
from jax import lax

given = jnp.arange(6).astype(jnp.int4)
try:
    print("computed", jax.jit(lambda x: lax.top_k(x, 2))(given))
except jax.errors.JaxRuntimeError as error:
    print("refused", str(error)[:400])
    sys.exit(1)
