"""How we know: obligations, solvers, verdicts, reports. Public: `check` and `Verdict`."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from verify.pipeline.driver import check
    from verify.results.verdict import Verdict

__all__ = ["Verdict", "check"]


def _require_sibling() -> None:
    """Raise ImportError when the `models` that Python finds first is not the folder beside this one."""
    here = Path(__file__).resolve().parent.parent
    spec = find_spec("models")
    origin = spec.origin if spec else None
    found = Path(origin).resolve().parent.parent if origin else None
    if found != here:
        place = f"at {Path(origin).parent}" if origin else "nowhere, or as a folder without __init__.py"
        raise ImportError(
            f"hloproof needs its own package 'models' from {here / 'models'}, but Python finds 'models' {place}; "
            "install hloproof in an environment of its own (pipx install hloproof, or uv tool install hloproof)"
        )


_require_sibling()


def __getattr__(name: str) -> Any:
    if name == "check":
        from verify.pipeline.driver import check

        return check
    if name == "Verdict":
        from verify.results.verdict import Verdict

        return Verdict
    raise AttributeError(f"module 'verify' has no attribute {name!r}")
