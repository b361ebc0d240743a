"""Alias classes as data for the command line and the server."""

from __future__ import annotations

from typing import Any

from hloproof.models.dataflow.alias_classes import Buffers, shape_at
from hloproof.models.hlo.module import Module
from hloproof.models.hlo.text.shapes import print_shape


def alias_classes(module: Module, may: bool = False, everything: bool = False) -> list[dict[str, Any]]:
    """The classes in the order of their first places. `must` says of each place whether it shares with the first one in
    every compilation; without `may` all do. Classes of one place are left out unless `everything` is asked for."""
    buffers = Buffers(module)
    out: list[dict[str, Any]] = []
    for found in buffers.classes(may):
        if len(found.places) < 2 and not everything:
            continue
        first = found.places[0]
        shape = shape_at(module.by_name[first.computation].by_name[first.instruction].shape, first.index)
        out.append(
            {
                "shape": print_shape(shape, layout=False) if shape is not None else "",
                "places": [
                    {
                        "computation": p.computation,
                        "instruction": p.instruction,
                        "index": list(p.index),
                        "place": str(p),
                        "must": buffers.must_share(first, p),
                    }
                    for p in found.places
                ],
            }
        )
    return out
