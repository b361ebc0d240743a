"""The targets by name, each imported when it is asked for."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Final

from verify.fuzz.target import Target

MODULES: Final[dict[str, str]] = {
    "maps": "verify.fuzz.target_maps",
    "rewrites": "verify.fuzz.target_rewrites",
    "rules": "verify.fuzz.target_rules",
    "solvers": "verify.fuzz.target_solvers",
    "ops": "verify.fuzz.target_operations",
    "layouts": "verify.fuzz.target_layouts",
    "async": "verify.fuzz.target_async",
    "modules": "verify.fuzz.target_modules",
    "compositions": "verify.fuzz.target_compositions",
    "text": "verify.fuzz.target_text",
    "xla": "verify.fuzz.target_xla",
}
"""Where each target of a campaign is defined, as the module's TARGET."""

PROVERS: Final[dict[str, str]] = {"specs": "verify.fuzz.target_specs"}
"""Targets that draw from a fixed list; mutants are tried on them, campaigns are not."""


@cache
def target(name: str) -> Target:
    """The target of this name. Raises KeyError for another name, and ModuleNotFoundError without Hypothesis."""
    found: Target = import_module((MODULES | PROVERS)[name]).TARGET
    return found
