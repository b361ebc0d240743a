"""A loop whose first step leads beyond its bound is not run at all.

It begins at 0, runs while below 1, and counts by 2: one turn, in which what it carries is turned around. How often it
turns is computed as the way to the bound by the step, rounded down.

Needs jax alone. Exit status: 1 the defect shows, 0 it does not.
"""

import sys

import jax
import jax.numpy as jnp
from jax import lax

program = jax.jit(lambda x: lax.while_loop(lambda s: s[0] < 1, lambda s: (s[0] + 2, -s[1]), (0, x)))
count, carried = program(jnp.array([1.0, 2.0]))
got = [int(count), *carried.tolist()]
expected = [2, -1.0, -2.0]
print("computed", got)
print("expected", expected)
sys.exit(got != expected)
