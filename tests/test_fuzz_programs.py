"""Random JAX programs: what is drawn, and, where jax is there, a small campaign and a program that runs as written."""

from __future__ import annotations

import ast

import pytest
from hypothesis import HealthCheck, given, settings

from hloproof.fuzz.compiler.generate_programs import STEPS, programs
from hloproof.fuzz.modules.reference import python_with_jax


@settings(max_examples=60, database=None, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs())
def test_what_is_drawn_is_a_program_with_its_arguments(text: str) -> None:
    parts = {
        t.id: n.value
        for n in ast.parse(text).body
        if isinstance(n, ast.Assign)
        for t in n.targets
        if isinstance(t, ast.Name)
    }
    arguments = ast.literal_eval(parts["ARGUMENTS"])
    specs = ast.literal_eval(parts["SPECS"])
    assert set(ast.literal_eval(parts["DONATED"])) <= set(range(len(arguments)))
    if specs is not None:
        assert [len(s) for s in specs] == [len(sizes) for _, sizes in arguments]
        laid = [n for s, (_, sizes) in zip(specs, arguments, strict=True) for a, n in zip(s, sizes, strict=True) if a]
        assert all(n % 2 == 0 for n in laid)


def test_loops_windows_gradients_and_maps_are_among_the_steps() -> None:
    assert {"loop", "window", "pooled", "convolution", "differentiated", "mapped", "scatter", "take"} <= set(STEPS)


def test_a_small_campaign_is_clean() -> None:
    if python_with_jax() is None:
        pytest.skip("jax is not installed")
    from hloproof.fuzz.chunk import first_failure
    from hloproof.fuzz.targets import target

    assert first_failure(target("programs"), 5, 12) is None


def test_a_program_runs_donated_and_on_devices() -> None:
    if python_with_jax() is None:
        pytest.skip("jax is not installed")
    from hloproof.fuzz.targets import target

    told = target("programs").examine(
        "ARGUMENTS = [('float32', (4,))]\nDONATED = (0,)\nSPECS = [('x',)]\n\n\n"
        "def program(a0):\n    return jnp.flip(a0, 0)\n"
    )
    assert "on several devices" in told


def test_what_goes_wrong_on_devices_is_noticed() -> None:
    """A defect of jaxlib 0.10.2, which the ledger has."""
    if python_with_jax() is None:
        pytest.skip("jax is not installed")
    from hloproof.fuzz.targets import target

    told = target("programs").examine(
        "ARGUMENTS = [('float32', (4,))]\nDONATED = ()\nSPECS = [('x',)]\n\n\n"
        "def program(a0):\n"
        "    return jax.grad(lambda t: lax.reduce_window(t, -jnp.inf, lax.max, (2,), (1,), 'VALID').sum())(a0)\n"
    )
    assert {"upstream: gradient-of-max-pool-on-devices", "on several devices"} & set(told)
