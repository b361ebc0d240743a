"""Which devices take part: forms of replica groups and shardings, the same ones written otherwise, and other ones."""

from __future__ import annotations

from typing import Final

import pytest
from spec_texts import check_maps_text
from test_equivalence_shard_shapes import shardy, spmd

from hloproof.equivalence import decide
from hloproof.models.hlo.parser import parse_module
from hloproof.results.verdict import Verdict

_SUM: Final = "sum {\n x = f32[] parameter(0)\n y = f32[] parameter(1)\n ROOT r = f32[] add(x, y)\n}\n"
_GLOBAL: Final = ", channel_id=1, use_global_device_ids=true"
_FOUR: Final = "num_partitions=4"
_EIGHT: Final = "num_partitions=8"
_REPLICAS: Final = "replica_count=4"


def module(root: str, head: str = _FOUR) -> str:
    return f"HloModule m, {head}\n{_SUM}ENTRY e {{\n p = f32[4] parameter(0)\n ROOT r = {root}\n}}\n"


def gathered(groups: str, size: int = 2) -> str:
    """An all-gather over groups of a size; eight devices where the groups name them."""
    head = _EIGHT if size * 4 > 8 or "7" in groups or "8" in groups or "2,2,2" in groups or "4,2" in groups else _FOUR
    return module(f"f32[{4 * size}] all-gather(p){_GLOBAL}, replica_groups={groups}, dimensions={{0}}", head)


def of_four(groups: str, size: int = 4) -> str:
    return module(f"f32[{4 * size}] all-gather(p){_GLOBAL}, replica_groups={groups}, dimensions={{0}}")


def reduced(groups: str | None, more: str = _GLOBAL, head: str = _FOUR) -> str:
    said = "" if groups is None else f", replica_groups={groups}"
    return module(f"f32[4] all-reduce(p){more}{said}, to_apply=sum", head)


def exchanged(groups: str) -> str:
    return module(f"f32[4] all-to-all(p), channel_id=1, replica_groups={groups}, dimensions={{0}}")


def broadcast(groups: str) -> str:
    return module(f"f32[4] collective-broadcast(p), channel_id=1, replica_groups={groups}")


def permuted(pairs: str) -> str:
    return module(f"f32[4] collective-permute(p), channel_id=1, source_target_pairs={pairs}")


def scattered(groups: str) -> str:
    return module(f"f32[2] reduce-scatter(p){_GLOBAL}, replica_groups={groups}, dimensions={{0}}, to_apply=sum")


def own_id(head: str) -> str:
    return f"HloModule m, {head}\nENTRY e {{\n a = u32[] partition-id()\n ROOT r = f32[] convert(a)\n}}\n"


def outfed(sharding: str) -> str:
    return (
        "HloModule m, num_partitions=4\nENTRY e {\n p = f32[] parameter(0)\n t = token[] after-all()\n"
        f" o = token[] outfeed(p, t), outfeed_shape=f32[], sharding={{{sharding}}}\n ROOT r = f32[] negate(p)\n}}\n"
    )


def into_parts(sharding: str, part: str = "4,8", partitions: int = 4, out: str = "maximal device=0") -> str:
    """Only what the operand of the call to parts says differs."""
    return spmd(sharding, out, part=part, partitions=partitions)


COPIED: Final = module("f32[4] copy(p)")
_MANUAL: Final = "last_tile_dims={manual}"

SAME: Final = {
    "listed or counted": (gathered("[2,2]<=[4]"), gathered("{{0,1},{2,3}}")),
    "counted in columns": (gathered("[2,2]<=[2,2]T(1,0)"), gathered("{{0,2},{1,3}}")),
    "turned into itself": (gathered("[2,2]<=[2,2]T(0,1)"), gathered("[2,2]<=[4]")),
    "eight in two": (gathered("[2,4]<=[8]", 4), gathered("{{0,1,2,3},{4,5,6,7}}", 4)),
    "eight in two, columns": (gathered("[2,4]<=[4,2]T(1,0)", 4), gathered("{{0,2,4,6},{1,3,5,7}}", 4)),
    "eight in four, columns": (gathered("[4,2]<=[2,4]T(1,0)"), gathered("{{0,4},{1,5},{2,6},{3,7}}")),
    "three axes, the last two turned": (gathered("[4,2]<=[2,2,2]T(0,2,1)"), gathered("{{0,2},{1,3},{4,6},{5,7}}")),
    "three axes, the last one first": (gathered("[4,2]<=[2,2,2]T(2,0,1)"), gathered("{{0,2},{4,6},{1,3},{5,7}}")),
    "groups in another order": (gathered("{{2,3},{0,1}}"), gathered("{{0,1},{2,3}}")),
    "an axis of a mesh": (gathered("mesh['a'=2,'b'=2] {'a'}"), gathered("{{0,2},{1,3}}")),
    "the other axis of a mesh": (gathered("mesh['a'=2,'b'=2] {'b'}"), gathered("{{0,1},{2,3}}")),
    "both axes of a mesh": (of_four("mesh['a'=2,'b'=2] {'a','b'}"), of_four("{{0,1,2,3}}")),
    "both axes of a mesh, turned": (of_four("mesh['a'=2,'b'=2] {'b','a'}"), of_four("{{0,2,1,3}}")),
    "a mesh whose devices are listed": (
        gathered("mesh['a'=2,'b'=2], device_ids=(0,2,1,3) {'a'}"),
        gathered("{{0,1},{2,3}}"),
    ),
    "an exchange counted in columns": (exchanged("[1,4]<=[2,2]T(1,0)"), exchanged("{{0,2,1,3}}")),
    "pairs in another order": (permuted("{{0,1},{1,2}}"), permuted("{{1,2},{0,1}}")),
    "tiles listed": (spmd("devices=[4,1]<=[4]"), spmd("devices=[4,1]0,1,2,3")),
    "tiles in columns": (spmd("devices=[2,2]<=[2,2]T(1,0)", part="4,4"), spmd("devices=[2,2]0,2,1,3", part="4,4")),
    "tiles over three axes": (
        spmd("devices=[4,2]<=[2,2,2]T(2,0,1)", part="2,4", partitions=8),
        spmd("devices=[4,2]0,2,4,6,1,3,5,7", part="2,4", partitions=8),
    ),
    "copies of a tile in any order": (
        spmd("devices=[2,1,2]0,1,2,3 last_tile_dim_replicate", part="4,8"),
        spmd("devices=[2,1,2]1,0,3,2 last_tile_dim_replicate", part="4,8"),
    ),
    "outfed by the same device": (outfed("maximal device=1"), outfed("maximal device=1")),
    "what is not understood, said of the same devices": (
        into_parts(f"devices=[2,1,2]<=[4] {_MANUAL}"),
        into_parts(f"devices=[2,1,2]<=[4] {_MANUAL}"),
    ),
}

OTHER: Final = {
    "columns for rows": (gathered("[2,2]<=[2,2]T(1,0)"), gathered("{{0,1},{2,3}}")),
    "the inverse order of axes": (gathered("[4,2]<=[2,2,2]T(2,0,1)"), gathered("{{0,4},{1,5},{2,6},{3,7}}")),
    "another order in a group": (gathered("{{1,0},{2,3}}"), gathered("{{0,1},{2,3}}")),
    "the other axis": (gathered("mesh['a'=2,'b'=2] {'a'}"), gathered("mesh['a'=2,'b'=2] {'b'}")),
    "the axes turned": (of_four("mesh['a'=2,'b'=2] {'b','a'}"), of_four("mesh['a'=2,'b'=2] {'a','b'}")),
    "other devices of a mesh": (
        gathered("mesh['a'=2,'b'=2], device_ids=(0,2,1,3) {'a'}"),
        gathered("mesh['a'=2,'b'=2] {'a'}"),
    ),
    "all or pairs": (reduced("{}", "", _REPLICAS), reduced("{{0,1},{2,3}}", "", _REPLICAS)),
    "among partitions or replicas": (reduced("{{0}}", ", channel_id=1"), reduced("{{0}}", "")),
    "devices or replicas": (
        reduced("{{0,1}}", head="replica_count=1, num_partitions=2"),
        reduced("{{0,1}}", ", channel_id=1", "replica_count=2"),
    ),
    "ids of devices or of replicas": (
        reduced("{{0,1},{2,3}}", head="replica_count=2, num_partitions=2"),
        reduced("{{0,1}}", ", channel_id=1", "replica_count=2, num_partitions=2"),
    ),
    "more replicas": (reduced("{}", "", _REPLICAS), reduced("{}", "", "replica_count=2")),
    "more partitions": (reduced("{{0}}", ", channel_id=1"), reduced("{{0}}", ", channel_id=1", "num_partitions=2")),
    "the own number among more": (own_id(_FOUR), own_id("num_partitions=1")),
    "the own number or nought": (
        own_id(_FOUR),
        "HloModule m, num_partitions=4\nENTRY e {\n ROOT r = f32[] constant(0)\n}\n",
    ),
    "an exchange in another order": (exchanged("{{0,1,2,3}}"), exchanged("{{0,2,1,3}}")),
    "a broadcast from another": (broadcast("{{0,1,2,3}}"), broadcast("{{1,0,2,3}}")),
    "pairs turned": (permuted("{{0,1},{1,2}}"), permuted("{{1,0},{2,1}}")),
    "one that gets nothing": (permuted("{{0,0},{1,1},{2,2}}"), COPIED),
    "a scatter in another order": (scattered("{{0,1},{2,3}}"), scattered("{{1,0},{2,3}}")),
    "tiles of other devices": (spmd("devices=[4,1]<=[4]"), spmd("devices=[4,1]0,1,3,2")),
    "tiles in rows": (spmd("devices=[2,2]<=[2,2]T(1,0)", part="4,4"), spmd("devices=[2,2]<=[4]", part="4,4")),
    "tiles by the inverse order": (
        spmd("devices=[4,2]<=[2,2,2]T(2,0,1)", part="2,4", partitions=8),
        spmd("devices=[4,2]0,4,1,5,2,6,3,7", part="2,4", partitions=8),
    ),
    "copies of other tiles": (
        spmd("devices=[2,1,2]<=[4] last_tile_dim_replicate", part="4,8"),
        spmd("devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate", part="4,8"),
    ),
    "put together otherwise": (spmd("devices=[4,1]<=[4]", "devices=[4,1]0,1,3,2"), spmd("devices=[4,1]<=[4]")),
    "fewer tiles than devices": (spmd("devices=[4,1]<=[4]", partitions=8), spmd("devices=[4,1]0,1,3,2", partitions=8)),
    # What is not understood stays a call of its own, of what its operand says too.
    "manual among tiles": (
        into_parts(f"devices=[2,1,2]<=[4] {_MANUAL}"),
        into_parts(f"devices=[2,1,2]<=[2,2]T(1,0) {_MANUAL}"),
    ),
    "replicated among tiles": (
        into_parts("devices=[2,1,2]<=[4] last_tile_dims={replicated}"),
        into_parts("devices=[2,1,2]<=[2,2]T(1,0) last_tile_dims={replicated}"),
    ),
    "two kinds behind the tiles": (
        into_parts("devices=[2,1,2,1]<=[4] last_tile_dims={manual, replicated}"),
        into_parts("devices=[2,1,1,2]<=[4] last_tile_dims={manual, replicated}"),
    ),
    "on one device": (into_parts("maximal device=0", "8,8"), into_parts("maximal device=1", "8,8")),
    "uneven tiles": (into_parts("devices=[3,1]<=[3]", "3,8", 3), into_parts("devices=[3,1]2,1,0", "3,8", 3)),
    "tiles with a note": (
        into_parts('devices=[4,1]<=[4] metadata={op_name="a"}', "2,8"),
        into_parts('devices=[4,1]0,1,3,2 metadata={op_name="a"}', "2,8"),
    ),
    "axes of another mesh": (shardy(mesh='"x"=4], device_ids=[0,1,3,2'), shardy(mesh='"x"=4], device_ids=[1,0,2,3')),
    "parts of an axis": (shardy('{"x":(1)2}, {}', "4,8"), shardy('{"x":(2)2}, {}', "4,8")),
    "outfed by another device": (outfed("maximal device=0"), outfed("maximal device=1")),
}


@pytest.mark.parametrize(("before", "after"), SAME.values(), ids=SAME)
def test_the_same_devices_written_otherwise(before: str, after: str) -> None:
    for one, two in ((before, after), (after, before)):
        assert decide(parse_module(one), parse_module(two), "exact", 5.0).verdict is Verdict.PROVED


@pytest.mark.parametrize(("before", "after"), OTHER.values(), ids=OTHER)
def test_other_devices_are_not_proved(before: str, after: str) -> None:
    for one, two in ((before, after), (after, before)):
        assert decide(parse_module(one), parse_module(two), "rounding", 5.0).verdict in ("unknown", "refuted")


def said(before: str, after: str) -> str:
    """Two modules beside each other in a map spec."""
    texts = ["".join(f"    {line}\n" for line in text.rstrip().split("\n")) for text in (before, after)]
    (found,) = check_maps_text(f"map a\n  hlo\n{texts[0]}  hlo-after\n{texts[1]}", "x.map")
    return found.verdict.value


READ: Final = ("all-gather", "all-to-all", "collective-permute", "reduce-scatter", "all-reduce")


@pytest.mark.parametrize("table", [SAME, OTHER], ids=["the same", "others"])
def test_map_specs_compare_them_likewise(table: dict[str, tuple[str, str]]) -> None:
    tried = 0
    for name, (before, after) in table.items():
        if not all(any(f" {op}(" in text for op in READ) for text in (before, after)) or "mesh" in before:
            continue
        tried += 1
        found = said(before, after)
        assert found in (("proved", "unknown") if table is SAME else ("refuted", "unknown")), name
    assert tried >= 9
