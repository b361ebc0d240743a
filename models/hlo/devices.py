"""How many devices a module runs on."""

from __future__ import annotations

from hloproof.models.hlo.attributes import Word
from hloproof.models.hlo.module import Module


def device_counts(module: Module) -> tuple[int, int]:
    """`replica_count` and `num_partitions` of the module's header; 1 where it does not say."""
    return _count(module, "replica_count"), _count(module, "num_partitions")


def _count(module: Module, name: str) -> int:
    value = module.attributes.get(name)
    if isinstance(value, Word) and value.text.isdecimal():
        return int(value.text)
    return value if isinstance(value, int) and not isinstance(value, bool) else 1
