"""Modules whose parameters are constants, and modules at the corners of the element types."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hloproof.fuzz.compiler.folded import MOST, folded
from hloproof.fuzz.compiler.generate_corners import corner_inputs, corner_modules
from hloproof.fuzz.compiler.perturbation import differences, exact_inputs
from hloproof.fuzz.modules import generate_modules
from hloproof.fuzz.modules.generate_modules import movement_modules
from hloproof.fuzz.modules.reference import arrays, python_with_jax
from hloproof.fuzz.target import Failure
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.module import Module
from hloproof.models.hlo.parser import parse_module
from hloproof.models.interpreter.operations.collective import Devices
from hloproof.models.interpreter.run import Machine
from hloproof.models.interpreter.semantics.real import Real
from hloproof.models.interpreter.value import Value

QUIET = settings(max_examples=60, database=None, deadline=None, suppress_health_check=list(HealthCheck))


def _run(module: Module, inputs: tuple[Value, ...]) -> list[list[object]]:
    return [list(a.data) for a in arrays(Machine(module, Real(), Devices(), 0).run([inputs])[0])]


@QUIET
@given(corner_modules())
def test_constants_give_what_parameters_give(text: str) -> None:
    module = parse_module(text)
    inputs = corner_inputs(module, 3)
    constant = folded(text, inputs)
    assert constant is not None and " parameter(" not in constant
    try:
        expected = _run(module, inputs)
    except NotModelled:
        return
    assert differences(expected, _run(parse_module(constant), ())) == set()


@QUIET
@given(movement_modules())
def test_arrays_of_any_rank_are_written_out(text: str) -> None:
    module = parse_module(text)
    inputs = exact_inputs(module, 0)
    constant = folded(text, inputs)
    if constant is None:
        assert sum(len(a.data) for v in inputs for a in arrays(v)) > MOST
    else:
        assert _run(parse_module(constant), ()) == _run(module, inputs)


@pytest.mark.parametrize(
    ("operation", "kind", "name"),
    [
        ("round-nearest-even(p)", "f8e3m4", "round-of-folded-f8e3m4"),
        ("count-leading-zeros(p)", "s8", "leading-zeros-of-folded-negatives"),
    ],
)
def test_a_wrong_fold_is_noticed(operation: str, kind: str, name: str) -> None:
    """Defects of jaxlib 0.10.2, which the ledger has; the neighbour, which is right, is not taken for one."""
    if python_with_jax() is None:
        pytest.skip("jax is not installed")
    from hloproof.fuzz.compiler.judging import judged_module
    from hloproof.fuzz.compiler.known import known

    text = f"HloModule corners\n\nENTRY e {{\n  p = {kind}[64] parameter(0)\n  ROOT r = {kind}[64] {operation}\n}}\n"
    try:
        judged_module(text, parse_module(text))
    except Failure as failure:
        assert known(failure.cause, failure.message, text) == name
    else:
        pytest.skip("this release folds them rightly")
    right = text.replace(operation, "negate(p)")
    assert "folded" in judged_module(right, parse_module(right))


@QUIET
@given(st.data())
def test_a_module_has_a_root_where_no_step_fits(data: st.DataObject) -> None:
    """A parameter may be larger than anything that steps may make."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(generate_modules, "LARGEST", 1)
        text = data.draw(movement_modules(most=2))
    assert parse_module(text).entry.root.opcode in ("negate", "fusion")
