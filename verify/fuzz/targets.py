"""The targets by name, each imported when it is asked for."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Final

from verify.fuzz.target import Target

MODULES: Final[dict[str, str]] = {
    "maps": "verify.fuzz.maps.target_maps",
    "rewrites": "verify.fuzz.maps.target_rewrites",
    "rules": "verify.fuzz.maps.target_rules",
    "solvers": "verify.fuzz.engines.target_solvers",
    "ops": "verify.fuzz.operations.target_operations",
    "layouts": "verify.fuzz.layouts.target_layouts",
    "async": "verify.fuzz.asynchronous.target_async",
    "modules": "verify.fuzz.modules.target_modules",
    "compositions": "verify.fuzz.modules.target_compositions",
    "text": "verify.fuzz.modules.target_text",
    "xla": "verify.fuzz.modules.target_xla",
}
"""Where each target of a campaign is defined, as the module's TARGET."""

PROVERS: Final[dict[str, str]] = {"specs": "verify.fuzz.modules.target_specs"}
"""Targets that draw from a fixed list; mutants are tried on them, campaigns are not."""


@cache
def target(name: str) -> Target:
    """The target of this name. Raises KeyError for another name, and ModuleNotFoundError without Hypothesis."""
    found: Target = import_module((MODULES | PROVERS)[name]).TARGET
    return found
