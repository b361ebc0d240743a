"""The verdicts on all entries of a spec text, one record each, in this process. Each raises InputError."""

from __future__ import annotations

from hloproof.claims.rules.claims import check_rule
from hloproof.engines.door import HOW, How
from hloproof.models.rules.text import parse_rules
from hloproof.models.specs.layouts import parse_layouts
from hloproof.models.specs.maps import parse_map_specs
from hloproof.pipeline.layout_specs import check_layout
from hloproof.pipeline.map_specs import check_map_spec
from hloproof.results.verdict import ClaimResult


def check_rules_text(text: str, file: str, cross: bool = False) -> list[ClaimResult]:
    return [check_rule(rule, file, How(cross=cross)) for rule in parse_rules(text, file)]


def check_maps_text(text: str, file: str, how: How = HOW) -> list[ClaimResult]:
    return [check_map_spec(spec, file, how) for spec in parse_map_specs(text, file)]


def check_layouts_text(text: str, file: str, how: How = HOW) -> list[ClaimResult]:
    return [check_layout(spec, file, how) for spec in parse_layouts(text, file)]
