"""The targets by name, each imported when it is asked for."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Final

from hloproof.fuzz.target import Target

MODULES: Final[dict[str, str]] = {
    "maps": "hloproof.fuzz.maps.target_maps",
    "rewrites": "hloproof.fuzz.maps.target_rewrites",
    "rules": "hloproof.fuzz.maps.target_rules",
    "solvers": "hloproof.fuzz.engines.target_solvers",
    "ops": "hloproof.fuzz.operations.oracle_operations",
    "layouts": "hloproof.fuzz.layouts.target_layouts",
    "async": "hloproof.fuzz.asynchronous.target_async",
    "modules": "hloproof.fuzz.modules.target_modules",
    "compositions": "hloproof.fuzz.modules.target_compositions",
    "roundings": "hloproof.fuzz.roundings.target_roundings",
    "text": "hloproof.fuzz.modules.target_text",
    "xla": "hloproof.fuzz.modules.target_xla",
    "compiler": "hloproof.fuzz.compiler.target_compiler",
    "programs": "hloproof.fuzz.compiler.target_programs",
}
"""Where each target of a campaign is defined, as the module's TARGET."""

PROVERS: Final[dict[str, str]] = {
    "specs": "hloproof.fuzz.modules.target_specs",
    "recorded": "hloproof.fuzz.modules.target_recorded",
}
"""Targets that draw from a fixed list; mutants are tried on them, campaigns are not."""


@cache
def target(name: str) -> Target:
    """The target of this name. Raises KeyError for another name, and ModuleNotFoundError without Hypothesis."""
    found: Target = import_module((MODULES | PROVERS)[name]).TARGET
    return found
