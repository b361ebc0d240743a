"""All rules that a published prover lists are stated here and proved, with HLO's clamps where starts are dynamic."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tensor_rule_cases import rules_of_the_project

PEERS = Path(__file__).parents[1].parent / "shared" / "peers" / "tensorright_rules.json"


def test_every_rule_of_the_peer_is_stated() -> None:
    if not PEERS.exists():
        pytest.skip("../shared is not here")
    sources = [(r.source, r.expect) for r in rules_of_the_project() if r.source.startswith("TensorRight ")]
    stated = {match[0]: expect for source, expect in sources if (match := re.search(r"\w+/\w+", source))}
    listed = {entry["id"] for entry in json.loads(PEERS.read_text(encoding="utf-8"))}
    assert len(listed) == 120
    assert listed <= set(stated)
    assert set(stated.values()) == {"proved"}
