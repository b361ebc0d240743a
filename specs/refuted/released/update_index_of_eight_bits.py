"""An update is placed by the type of its start: 50 of eight bits in an array of 300 is taken for 41.

A start is cut to the last place at which the update fits, 297. That is computed in the type of the start, where it is
41; a slice at the same start is right.

Needs jax alone. Exit status: 1 the defect shows, 0 it does not.
"""

import sys

import jax
import jax.numpy as jnp
from jax import lax

program = jax.jit(lambda x, i: lax.dynamic_update_slice(x, jnp.array([1.0, 2.0, 3.0]), (i,)))
got = program(jnp.zeros(300), jnp.uint8(50))
places = [n for n, value in enumerate(got.tolist()) if value]
expected = [50, 51, 52]
print("written", places)
print("expected", expected)
sys.exit(places != expected)
