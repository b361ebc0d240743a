"""Runs programs written in JAX, on CPU: a program of its own, for a Python where jax is installed.

A program is text: ARGUMENTS, a list of types and sizes; DONATED, numbers of arguments; SPECS, a list of mesh axes by
argument and dimension, or None for one device; and `def program`. One request and one answer per line, in JSON:
`{"program": text}` gives `{"hlo": text}`, what JAX hands to the compiler for one device; with `"runs"`, a list of
inputs as in xla_reference.py, it gives `{"runs": outputs of each}`, compiled with the arguments donated and laid over
the devices. `{"error": text}` otherwise.
"""

from __future__ import annotations

from typing import Any

from xla_reference import jax, jnp, serve, to_array, to_list  # type: ignore[import-not-found]  # sets the flags


def _namespace(text: str) -> dict[str, Any]:
    found: dict[str, Any] = {"jax": jax, "jnp": jnp, "lax": jax.lax}
    exec(compile(text, "program.py", "exec"), found)
    return found


def _jitted(given: dict[str, Any], on_devices: bool) -> Any:
    program, specs = given["program"], given["SPECS"]
    if not on_devices:
        return jax.jit(program, keep_unused=True)
    if specs is None:
        return jax.jit(program, donate_argnums=given["DONATED"], keep_unused=True)
    mesh = jax.make_mesh((2, 2), ("x", "y"), devices=jax.devices("cpu")[:4])
    place = [jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*s)) for s in specs]
    return jax.jit(program, in_shardings=tuple(place), donate_argnums=given["DONATED"], keep_unused=True)


def run(request: dict[str, Any]) -> dict[str, Any]:
    given = _namespace(request["program"])
    if "runs" not in request:
        shapes = [jax.ShapeDtypeStruct(sizes, getattr(jnp, kind)) for kind, sizes in given["ARGUMENTS"]]
        return {"hlo": _jitted(given, False).lower(*shapes).compiler_ir("hlo").as_hlo_text(print_large_constants=True)}
    jitted = _jitted(given, True)
    found = []
    for inputs in request["runs"]:
        results = jax.tree.leaves(jitted(*[to_array(a) for a in inputs]))
        found.append([{"type": str(r.dtype), "data": to_list(r)} for r in results])
    return {"runs": found}


if __name__ == "__main__":
    serve(run)
