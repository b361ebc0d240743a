"""hloproof proves or refutes what tensor compilers claim about the movement of data.

The library is what stands in `__all__`: `parse`, `maps`, `simplify`, `equal`, `included`, `layout`, `check`,
`equivalent`, `memory_plan`. Each is imported when it is first used, so that `import hloproof` costs nothing. Programs
in JAX have a module of their own: `import hloproof.jax`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from hloproof.library.checking import Checked, check
    from hloproof.library.layouts import Layout, layout
    from hloproof.library.maps import Compared, Maps, Simplified, equal, included, maps, simplify
    from hloproof.library.pairs import Equivalence, MemoryPlan, equivalent, memory_plan
    from hloproof.library.reading import parse, parse_all
    from hloproof.models.errors import InputError, NotModelled
    from hloproof.results.verdict import Verdict

__all__ = [
    "Checked",
    "Compared",
    "Equivalence",
    "InputError",
    "Layout",
    "Maps",
    "MemoryPlan",
    "NotModelled",
    "Simplified",
    "Verdict",
    "check",
    "equal",
    "equivalent",
    "included",
    "layout",
    "maps",
    "memory_plan",
    "parse",
    "parse_all",
    "simplify",
]

_HOMES: Final = {
    "hloproof.library.checking": ("Checked", "check"),
    "hloproof.library.layouts": ("Layout", "layout"),
    "hloproof.library.maps": ("Compared", "Maps", "Simplified", "equal", "included", "maps", "simplify"),
    "hloproof.library.pairs": ("Equivalence", "MemoryPlan", "equivalent", "memory_plan"),
    "hloproof.library.reading": ("parse", "parse_all"),
    "hloproof.models.errors": ("InputError", "NotModelled"),
    "hloproof.results.verdict": ("Verdict",),
}
_HOME_OF: Final = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'hloproof' has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
