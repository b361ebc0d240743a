"""JAX programs, from the function on: `check(f, *args)`, `validate(f, *args)`, and `validate_dumps(folder)`.

    import hloproof.jax

    hloproof.jax.validate(f, x)  # every pass of the compiler, and its memory plan
    hloproof.jax.check(f, x)     # every claim about the compiled module

Each finding names the line of Python that it is about. JAX itself is imported when it is needed.
"""

from __future__ import annotations

from hloproof.library.jax_programs import Located, Validated, check, validate, validate_dumps

__all__ = ["Located", "Validated", "check", "validate", "validate_dumps"]
