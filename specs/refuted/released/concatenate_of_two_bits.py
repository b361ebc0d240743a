"""Concatenating int2 or uint2 arrays ends the process.

The CPU compiler aborts on a failed check while it emits the concatenation.

Needs jax alone; the program runs in a process of its own. Exit status: 1 the defect shows, 0 it does not.
"""

import subprocess
import sys

PROGRAM = """import jax, jax.numpy as jnp
given = jnp.arange(24).astype(jnp.uint2)
print(jax.jit(lambda x, y: jnp.concatenate([x, y]))(given, given))"""

ended = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
print("computed", ended.stdout.strip() or "nothing")
print("the process ended with", ended.returncode)
sys.exit(ended.returncode < 0)
