"""Runs HLO modules with the real compiler, on CPU: a program of its own, for a Python where jax is installed.

One request and one answer per line, in JSON. Request: `{"hlo": text, "inputs": [{"type", "sizes", "data"}]}` with the
elements in row-major order, complex numbers as pairs; on several replicas `"replicas": [inputs, ...]` instead. Answer:
`{"outputs": [{"type", "data"}], "optimized": text}` with the elements of a tuple result one after the other, or
`{"error": text}`; of replicas `{"replicas": [outputs, ...], "optimized": text}`. With `"runs"`, a list of inputs, the
module is compiled once and the answer has `"runs"`, the outputs of each. More flags for the compiler are taken from
HLOPROOF_XLA_FLAGS.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ["XLA_FLAGS"] = (
    "--xla_allow_excess_precision=false --xla_cpu_enable_fast_math=false --xla_force_host_platform_device_count=6 "
    + os.environ.get("HLOPROOF_XLA_FLAGS", "")
)

import jax
import jax.numpy as jnp
from jax._src.lib import xla_client
from jaxlib import _hlo

jax.config.update("jax_enable_x64", True)

_NAMED = {
    "f64": "float64",
    "f32": "float32",
    "f16": "float16",
    "c64": "complex64",
    "c128": "complex128",
    "pred": "bool",
    "bf16": "bfloat16",
    "f8e5m2": "float8_e5m2",
    "f8e4m3": "float8_e4m3",
    "f8e4m3fn": "float8_e4m3fn",
    "f8e4m3b11fnuz": "float8_e4m3b11fnuz",
    "f8e4m3fnuz": "float8_e4m3fnuz",
    "f8e5m2fnuz": "float8_e5m2fnuz",
    "f8e3m4": "float8_e3m4",
    "f4e2m1fn": "float4_e2m1fn",
    "f8e8m0fnu": "float8_e8m0fnu",
}


def dtype(name: str) -> Any:
    return getattr(jnp, _NAMED.get(name) or ("int" if name[0] == "s" else "uint") + name[1:])


def to_array(given: dict[str, Any]) -> Any:
    kind, data = given["type"], given["data"]
    if kind in ("c64", "c128"):
        data = [complex(*v) for v in data]
    if kind in ("s4", "u4", "s2", "u2"):
        return jnp.array(data, dtype=jnp.int32).astype(dtype(kind)).reshape(given["sizes"])
    return jnp.array(data, dtype=dtype(kind)).reshape(given["sizes"])


def to_list(array: Any) -> list[Any]:
    """The elements, converted on the host: the compiler takes numbers below the normal ones for zero. They are read in
    the type that was asked for; the compiler may hold s32 as u32."""
    flat = jax.device_get(array).reshape(-1).view(array.dtype)
    name = str(flat.dtype)
    if "complex" in name:
        return [[v.real, v.imag] for v in flat.tolist()]
    if "float" in name:
        return list(flat.astype("float64").tolist())
    if "int" in name and name not in ("int64", "uint64"):
        flat = flat.astype("int64")
    return list(flat.tolist())


def run(request: dict[str, Any]) -> dict[str, Any]:
    module = _hlo.hlo_module_from_text(request["hlo"])
    computation = _hlo.XlaComputation(module.as_serialized_hlo_module_proto())
    text = xla_client._xla.mlir.xla_computation_to_mlir_module(computation)
    given = request.get("replicas") or [request.get("inputs", [])]
    devices = jax.devices("cpu")[: len(given)]
    options = xla_client.CompileOptions()
    options.num_replicas = len(devices)
    numbers = jax.device_get(jnp.arange(len(devices), dtype=jnp.int32)[:, None]).copy()
    options.device_assignment = xla_client.DeviceAssignment.create(numbers)
    executable = devices[0].client.compile_and_load(text, xla_client.DeviceList(tuple(devices)), options)
    optimized = executable.hlo_modules()[0].to_string()
    if request.get("compile_only"):
        return {"optimized": optimized}
    if "runs" in request:
        return {"runs": [_run_once(executable, [g], devices)[0] for g in request["runs"]], "optimized": optimized}
    found = _run_once(executable, given, devices)
    answer = {"replicas": found} if "replicas" in request else {"outputs": found[0]}
    return {**answer, "optimized": optimized}


def _run_once(executable: Any, given: list[Any], devices: list[Any]) -> list[Any]:
    """The outputs of each device."""
    arguments = [_placed(list(parts), devices) for parts in zip(*given, strict=True)]
    results = executable.execute_sharded(arguments).disassemble_into_single_device_arrays()
    return [[{"type": str(r[k].dtype), "data": to_list(r[k])} for r in results] for k in range(len(devices))]


def _placed(parts: list[dict[str, Any]], devices: list[Any]) -> Any:
    """One array whose parts lie on the devices. Raises ValueError for several scalars, which no such array has."""
    arrays = [jax.device_put(to_array(p), d) for p, d in zip(parts, devices, strict=True)]
    if len(arrays) == 1:
        return arrays[0]
    if not arrays[0].shape:
        raise ValueError("a scalar on several devices")
    sharding = jax.sharding.NamedSharding(jax.sharding.Mesh(devices, ("x",)), jax.sharding.PartitionSpec("x"))
    whole = (arrays[0].shape[0] * len(arrays), *arrays[0].shape[1:])
    return jax.make_array_from_single_device_arrays(whole, sharding, arrays)


def serve(answered: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Answers the requests of standard input, one a line, until it ends."""
    for line in sys.stdin:
        try:
            answer = answered(json.loads(line))
        except Exception as problem:
            answer = {"error": f"{type(problem).__name__}: {str(problem)[:2000]}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    serve(run)
