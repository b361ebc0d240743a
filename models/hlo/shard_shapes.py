"""Calls between whole arrays and the parts that devices hold of them: Shardy's, and those of the SPMD partitioner.

`xla.sdy.GlobalToLocalShape` and `SPMDFullToShardShape` give each device its part of an array,
`xla.sdy.LocalToGlobalShape` and `SPMDShardToFullShape` put the parts together. Which part a device has stands in a
sharding, that of each operand or result in Shardy's words, or that of the operand (to parts) and of the call (to
whole arrays) in HLO's. Both are read as the position of each device's part, dimension by dimension; calls with the same
positions are the same. They are markers: nothing happens outside, though Shardy's say so to be kept. What is not
understood (open dimensions, parts of axes, several meshes, manual axes among others, parts of different sizes) stays
opaque.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Final

from hloproof.models.hlo.attributes import Attributes, Quoted, Word
from hloproof.models.hlo.beside import frontend_entries, unread_of_call
from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.hlo.shape import ArrayShape, Shape, TupleShape
from hloproof.models.hlo.text.device_groups import iota_order

Parts = tuple[tuple[int, ...], ...]
"""For each device the position of its part, in parts, per dimension."""

TO_PARTS, TO_WHOLE = "to parts", "to whole"
_SHARDY: Final = {
    "xla.sdy.GlobalToLocalShape": (TO_PARTS, "in_shardings"),
    "xla.sdy.LocalToGlobalShape": (TO_WHOLE, "out_shardings"),
}
_SPMD: Final = {"SPMDFullToShardShape": TO_PARTS, "SPMDShardToFullShape": TO_WHOLE}

_MESH: Final = re.compile(r"\{(\w+) = #sdy\.mesh<\[([^\]]*)\]>\}")
_VALUES: Final = re.compile(r"#sdy\.sharding_per_value<\[([^\x00]*)\]>")
_MANUAL: Final = re.compile(r"#sdy<manual_axes\{([^}]*)\}>")
_OF_SHARDY: Final = frozenset({"xla.sdy.in_shardings", "xla.sdy.out_shardings", "xla.sdy.manual_axes"})
_AXIS: Final = re.compile(r'"(\w+)"=(\d+)')
_ONE_SHARDING: Final = re.compile(r"<@(\w+), \[([^\[\]<>]*)\]>")
_TILES: Final = re.compile(
    r"\{devices=\[([\d,]+)\](?:<=\[([\d,]+)\](?:T\(([\d,]+)\))?|([\d,]+))( last_tile_dim_replicate)?\}"
)


def is_shard_call(i: Instruction) -> bool:
    """Whether the instruction is such a call, understood or not."""
    target = i.attributes.get("custom_call_target") if i.opcode == "custom-call" else None
    return isinstance(target, Quoted | Word) and (target.text in _SHARDY or target.text in _SPMD)


def parts_of_call(module: Module, computation: Computation, i: Instruction) -> tuple[str, list[Parts]] | None:
    """The direction of the call, and the parts of each of its operands; None for any other call."""
    target = i.attributes.get("custom_call_target")
    name = target.text if isinstance(target, Quoted | Word) else ""
    devices = max(1, module.attributes.integer("num_partitions", 1))
    inside = computation.operand_shapes(i)
    results = i.shape.elements if isinstance(i.shape, TupleShape) else (i.shape,)
    if len(inside) != len(results) or module.attributes.integer("replica_count", 1) != 1:
        return None
    if unread_of_call(i.attributes):  # of dimensions that are open, for one
        return None
    found: list[Parts | None]
    if name in _SHARDY:
        direction, which = _SHARDY[name]
        found = _shardy(module, _text(i.attributes, "frontend_attributes"), which, devices)
    elif name in _SPMD and len(inside) == 1:
        direction = _SPMD[name]
        operand = computation.by_name[i.operands[0]]
        whole, part = (operand, i) if direction == TO_PARTS else (i, operand)
        rank = len(results[0].dimensions) if isinstance(results[0], ArrayShape) else 0
        if _text(part.attributes, "sharding") != "{manual}":
            return None
        found = [_tiled(_text(whole.attributes, "sharding"), rank, devices)]
    else:
        return None
    parts = [p for p in found if p is not None]
    if len(parts) != len(results) or len(found) != len(results):
        return None
    for p, operand_shape, result in zip(parts, inside, results, strict=True):
        whole_shape, part_shape = (operand_shape, result) if direction == TO_PARTS else (result, operand_shape)
        if not _fits(p, whole_shape, part_shape):
            return None
    return direction, parts


def written_elsewhere(module: Module, computation: Computation, i: Instruction) -> tuple[object, ...]:
    """What such a call means by what stands outside of it, where that is not understood: how its operands are sharded,
    and the meshes of the module. (Modules for other numbers of devices are not compared.)"""
    meshes = _text(module.attributes, "frontend_attributes")
    operands = tuple(_text(computation.by_name[o].attributes, "sharding") for o in i.operands)
    return meshes, operands


def _text(attributes: Attributes, name: str) -> str:
    value = attributes.get(name)
    return value.text if isinstance(value, Word) else ""


def _fits(parts: Parts, whole: Shape, part: Shape) -> bool:
    """Whether the parts are of one size and fill the array."""
    if not isinstance(whole, ArrayShape) or not isinstance(part, ArrayShape) or whole.element_type != part.element_type:
        return False
    if whole.is_dynamic or part.is_dynamic or not len(whole.dimensions) == len(part.dimensions) == len(parts[0]):
        return False
    counts = [max(p[d] for p in parts) + 1 for d in range(whole.rank)]
    return all(n == m * c for n, m, c in zip(whole.dimensions, part.dimensions, counts, strict=True))


def _shardy(module: Module, text: str, which: str, devices: int) -> list[Parts | None]:
    said, own = (frontend_entries(t) for t in (_text(module.attributes, "frontend_attributes"), text))
    if said is None or own is None or any(k.startswith("xla.sdy.") and k not in _OF_SHARDY for k in own):
        return []
    mesh = _MESH.fullmatch(said.get("xla.sdy.meshes", ""))
    listed = _VALUES.fullmatch(own.get(f"xla.sdy.{which}", "").replace('\\"', '"'))
    manual = _MANUAL.fullmatch(own.get("xla.sdy.manual_axes", "").replace('\\"', '"'))
    if mesh is None or listed is None or manual is None:
        return []
    axes = {name: int(size) for name, size in _AXIS.findall(mesh[2])}
    written = ", ".join(f'"{name}"={size}' for name, size in axes.items())
    if written != mesh[2].strip() or prod(axes.values()) != devices or set(_names(manual[1])) != set(axes):
        return []
    rest = _ONE_SHARDING.sub("", listed[1]).replace(",", "").strip()
    if rest:
        return []
    return [_by_axes(axes, dims) if name == mesh[1] else None for name, dims in _ONE_SHARDING.findall(listed[1])]


def _names(text: str) -> list[str]:
    return re.findall(r'"(\w+)"', text)


def _by_axes(axes: dict[str, int], text: str) -> Parts | None:
    """From `{"x", "y"}, {}`: the axes of each dimension, major first. Devices are numbered row-major over the axes."""
    dimensions = re.findall(r"\{([^{}]*)\}", text)
    if re.sub(r'\{(?:"\w+"(?:, "\w+")*)?\}', "", text).replace(",", "").strip():
        return None
    used = [_names(d) for d in dimensions]
    flat = [a for d in used for a in d]
    if len(set(flat)) != len(flat) or not set(flat) <= set(axes):
        return None
    out = []
    for at in product(*(range(n) for n in axes.values())):
        place = dict(zip(axes, at, strict=True))
        out.append(tuple(_mixed([place[a] for a in d], [axes[a] for a in d]) for d in used))
    return tuple(out)


def _mixed(digits: Sequence[int], sizes: Sequence[int]) -> int:
    out = 0
    for digit, size in zip(digits, sizes, strict=True):
        out = out * size + digit
    return out


def _tiled(text: str, rank: int, devices: int) -> Parts | None:
    """From HLO's sharding of an array of this rank."""
    if text == "{replicated}":
        return ((0,) * rank,) * devices
    found = _TILES.fullmatch(text)
    if found is None:
        return None
    tiles = _numbers(found[1])
    if len(tiles) != rank + bool(found[5]) or prod(tiles) != devices:
        return None
    if found[4]:
        order = _numbers(found[4])
    else:  # the reader has held the sizes against the tiles, and the order against the sizes
        sizes = _numbers(found[2])
        order = iota_order(sizes, _numbers(found[3]) if found[3] else range(len(sizes)))
    if sorted(order) != list(range(devices)):
        return None
    parts = {device: at[:rank] for device, at in zip(order, product(*(range(n) for n in tiles)), strict=True)}
    return tuple(parts[d] for d in range(devices))


def _numbers(text: str) -> list[int]:
    return [int(n) for n in text.split(",")]
