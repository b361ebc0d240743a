"""The interpreter agrees with the real compiler on CPU. Needs jax, in this Python or in HLOPROOF_XLA_PYTHON.

By default one case per opcode is tried; HLOPROOF_XLA_ALL=1 tries every case and the whole corpus.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from xla_cases import all_cases, elementwise

from hloproof.fuzz.modules.reference import Xla, disagreement, python_with_jax
from hloproof.models.hlo.parser import parse_module

EVERYTHING = bool(os.environ.get("HLOPROOF_XLA_ALL"))
CORPUS = Path(__file__).parents[1].parent / "shared" / "corpus" / "jax-cpu"

EXPLAINED = {
    "power-s32": "XLA's CPU compiler multiplies out the six lowest bits of an integer exponent only",
    "power-u32": "XLA's CPU compiler multiplies out the six lowest bits of an integer exponent only",
}
"""Cases on extreme numbers where the two differ, and why."""

ROUNDING = {
    "transformer_encoder_grad": (
        "sums of magnitude 1e6, in another order. The gradient of the key's bias is zero in exact arithmetic "
        "(it moves all scores alike): what either computes is what does not cancel"
    )
}
"""Programs of the corpus compared with a looser tolerance, and relative to the largest number of all results."""


def one_per_opcode(cases: list[tuple[str, str]]) -> list[tuple[str, str]]:
    if EVERYTHING:
        return cases
    chosen = {name.rpartition("-")[0] or name: (name, text) for name, text in cases}
    return list(chosen.values())


@pytest.fixture(scope="module")
def xla() -> Iterator[Xla]:
    if python_with_jax() is None:
        pytest.skip("jax is not installed")
    process = Xla()
    yield process
    process.close()


@pytest.mark.parametrize(("name", "text"), one_per_opcode(list(all_cases())), ids=lambda v: v if "\n" not in v else "")
def test_results_agree_on_random_inputs(xla: Xla, name: str, text: str) -> None:
    assert disagreement(text, parse_module(text), xla, seed=len(name)) is None


@pytest.mark.parametrize(
    ("name", "text"), one_per_opcode(list(elementwise())), ids=lambda v: v if "\n" not in v else ""
)
def test_results_agree_on_extreme_numbers(xla: Xla, name: str, text: str) -> None:
    found = disagreement(text, parse_module(text), xla, seed=len(name), corners=True)
    assert found is None or name in EXPLAINED, found


def test_a_wrong_operation_is_noticed(xla: Xla) -> None:
    text = dict(elementwise())["add-f32"]
    assert disagreement(text, parse_module(text.replace("add(a, b)", "subtract(a, b)")), xla) is not None


def programs() -> list[str]:
    if not CORPUS.is_dir():
        return []
    names = sorted(f.parent.name for f in CORPUS.glob("*/before.hlo"))
    return names if EVERYTHING else names[::6]


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not beside the project")
@pytest.mark.parametrize("name", programs())
def test_real_programs_agree(xla: Xla, name: str) -> None:
    text = (CORPUS / name / "before.hlo").read_text()
    tolerance = 1e-3 if name in ROUNDING else 2e-5
    noise = 1e-6 if name in ROUNDING else 0.0
    assert disagreement(text, parse_module(text), xla, tolerance=tolerance, noise=noise) is None
