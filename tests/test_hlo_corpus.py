"""Real modules and upstream's own cases, where they are present beside the project: read, printed, read again."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from hloproof.models.errors import InputError
from hloproof.models.hlo.parser import parse_module, parse_modules
from hloproof.models.hlo.printer import print_modules

SHARED = Path(__file__).parents[1].parent / "shared"
pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared material is not present beside the project")

NOT_HLO_TEXT = {
    "hlo_to_mhlo__tests__dynamic_param.hlo",
    "hlo_to_mhlo__tests__simple.hlo",
    "hlo_to_mhlo__tests__spmd_module_sharding.hlo",
}
"""Protocol buffers in text form."""
WRONG_SHAPES = {
    "invalid_concat.hlo": "concatenate along dimension 1",
    "generate_hlo_test_checks_test_input.hlo": "passes f32[4] as parameter 0",
    "operand_upcaster.hlo": "gives s32[8,8]",
    "rewrite_bf16_conv_to_onednn.hlo": "gives bf16[8,0,5,5,32]",
}
"""Test inputs whose declared shapes do not follow from their operands; upstream never verifies them."""


@pytest.mark.longer
def test_round_trip_of_the_corpus() -> None:
    files = sorted((SHARED / "corpus" / "xla").rglob("*.hlo"))
    for folder in ("jax-cpu", "jax-gpu"):
        dumps = sorted(p for p in (SHARED / "corpus" / folder).rglob("*") if p.suffix in (".hlo", ".txt"))
        files += dumps[::13]
    assert len(files) > 300
    for path in files:
        if any(path.name.endswith(name) for name in NOT_HLO_TEXT):
            with pytest.raises(InputError, match="text form"):
                parse_modules(path.read_text(), path.name)
            continue
        wrong = next((message for name, message in WRONG_SHAPES.items() if path.name.endswith(name)), None)
        if wrong is not None:
            with pytest.raises(InputError) as raised:
                parse_modules(path.read_text(), path.name)
            assert wrong in raised.value.message
            continue
        modules = parse_modules(path.read_text(), path.name)
        assert parse_modules(print_modules(modules)) == modules, path.name


def rows() -> list[dict[str, str]]:
    out = []
    for name in ("hlo_text", "async"):
        path = SHARED / "cases" / f"{name}.jsonl"
        if path.exists():
            out += [json.loads(line) for line in path.read_text().splitlines()]
    return [r for r in out if "hlo" in r and not r.get("mutated_after_parse") and r["kind"] != "doc_snippet"]


@pytest.mark.parametrize("row", rows(), ids=lambda r: r["id"])
def test_upstream_cases(row: dict[str, str]) -> None:
    if row["expected"] == "ok":
        modules = parse_modules(row["hlo"])
        assert parse_modules(print_modules(modules)) == modules
    elif row["kind"] == "hlo_parse":
        with pytest.raises(InputError):
            parse_modules(row["hlo"])


def test_a_megabyte_per_second() -> None:
    path = SHARED / "corpus" / "xla" / "xla__backends__cpu__benchmarks__hlo__gemma2_2b_keras_jax.hlo"
    text = path.read_text()
    started = time.process_time()
    parse_module(text)
    assert len(text) / 1e6 / (time.process_time() - started) > 1
