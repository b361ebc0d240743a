"""An integer divided by the constant 0 ends the process by a signal (SIGFPE) while it is compiled.

Of parameters the quotient is -1 (all bits set), as the operation is defined; a remainder goes the same way.

Needs jax alone. Exit status: 1 the defect shows, 0 it does not.
"""

import subprocess
import sys

PROGRAM = """
import jax, jax.numpy as jnp
jax.jit(lambda: jax.lax.div(jnp.int32(1), jnp.int32(0)))()
"""
status = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True).returncode
print("the process ends with", status)
sys.exit(status < 0)
