"""How we know: obligations, solvers, verdicts, reports. Public: `check` and `Verdict`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hloproof.pipeline.driver import check
    from hloproof.results.verdict import Verdict

__all__ = ["Verdict", "check"]


def __getattr__(name: str) -> Any:
    if name == "check":
        from hloproof.pipeline.driver import check

        return check
    if name == "Verdict":
        from hloproof.results.verdict import Verdict

        return Verdict
    raise AttributeError(f"module 'hloproof' has no attribute {name!r}")
