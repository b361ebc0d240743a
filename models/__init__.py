"""What things mean: HLO modules, indexing maps, layouts, rules. The standard library only.

Public: `parse_module` and `IndexingMap`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hloproof.models.hlo.parser import parse_module
    from hloproof.models.maps.indexing_map import IndexingMap

__all__ = ["IndexingMap", "parse_module"]


def __getattr__(name: str) -> Any:
    if name == "parse_module":
        from hloproof.models.hlo.parser import parse_module

        return parse_module
    if name == "IndexingMap":
        from hloproof.models.maps.indexing_map import IndexingMap

        return IndexingMap
    raise AttributeError(f"module 'hloproof.models' has no attribute {name!r}")
