"""An update in place reads an element that it has overwritten, where its target is a bitcast of the buffer.

Column 1 becomes itself plus row 0, whose element 1 lies in that column. The fused update works in place: element
[1, 1] is computed from row 0, element 1, after that was overwritten. Without the reshape the compiler makes a copy.

Needs jax alone. Exit status: 1 the defect shows, 0 it does not.
"""

import sys
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax


def update(x: Any) -> Any:
    rows = x * 2 + 1
    matrix = rows.reshape(4, 4)
    column = rows[:, 0, 1:2] + rows[0:1, 0, :].reshape(4, 1)
    return lax.dynamic_update_slice(matrix, column, (0, 1))


given = jnp.arange(16).reshape(4, 1, 4)
got = jax.jit(update)(given).tolist()
expected = update(given).tolist()
print("computed", got)
print("expected", expected)
sys.exit(got != expected)
