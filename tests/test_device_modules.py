"""Modules on several devices whose calls hold chains of collectives: every claim has an answer, and maps that pass
devices are one where they are one relation, and not otherwise."""

from __future__ import annotations

import pytest

from hloproof.claims.catalogue import families
from hloproof.claims.maps import dedup
from hloproof.fuzz.modules import target_modules
from hloproof.fuzz.target import Failure
from hloproof.models.hlo.parser import parse_module
from hloproof.pipeline.driver import check_hlo
from hloproof.pipeline.options import Options, Selection
from hloproof.queries.indexing import answer

_RING = "source_target_pairs={{0,1},{1,2},{2,3},{3,0}}"
_STAY = "source_target_pairs={{0,0},{1,1},{2,2},{3,3}}"
_ALL = "replica_groups={{0,1,2,3}}"

BODIES: dict[str, str] = {
    "an element and its neighbour's": f"c = f32[8] collective-permute(x), {_RING}\n ROOT y = f32[8] add(x, c)",
    "three permutations, the second and third meet nowhere": (
        "a = f32[8] collective-permute(x), source_target_pairs={{2,3},{1,0}}\n"
        " b = f32[8] collective-permute(a), source_target_pairs={{1,0},{3,1}}\n"
        " ROOT y = f32[8] collective-permute(b), source_target_pairs={{3,1},{2,3},{1,0},{0,2}}"
    ),
    "a slice at run time, then two permutations": (
        "d = f32[8] dynamic-slice(x, i), dynamic_slice_sizes={8}\n"
        f" c = f32[8] collective-permute(d), {_RING}\n ROOT y = f32[8] collective-permute(c), {_RING}"
    ),
    "one's own element on one device, a neighbour's on the others": (
        "p = u32[] partition-id()\n z = u32[] constant(0)\n b = pred[] compare(p, z), direction=EQ\n"
        f" c = f32[8] collective-permute(x), {_RING}\n ROOT y = f32[8] select(b, x, c)"
    ),
    "stretches of one's own and a neighbour's": (
        f"c = f32[8] collective-permute(x), {_RING}\n r = f32[1] slice(c), slice={{[0:1]}}\n"
        " t = f32[7] slice(x), slice={[0:7]}\n ROOT y = f32[8] concatenate(r, t), dimensions={0}"
    ),
    "a sum of all devices and one's own": (
        f"g = f32[8] all-to-all(x), {_ALL}, dimensions={{0}}\n ROOT y = f32[8] add(x, g)"
    ),
}


def _module(body: str) -> str:
    return (
        f"HloModule m, replica_count=4\nf {{\n x = f32[8] parameter(0)\n i = s32[] parameter(1)\n {body}\n}}\n"
        "ENTRY e {\n p = f32[8] parameter(0)\n k = s32[] parameter(1)\n"
        " ROOT w = f32[8] call(p, k), to_apply=f\n}\n"
    )


def _verdicts(text: str) -> set[tuple[str, str]]:
    options = Options(Selection(only=(*families(), "dedup")), jobs=1)
    return {(r.claim, r.verdict.value) for r in check_hlo(text, options).records()}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_a_chain_of_collectives_in_a_call_has_an_answer(body: str) -> None:
    found = {verdict for _, verdict in _verdicts(_module(body))}
    assert found <= {"proved", "unknown"}


def _maps(body: str) -> int:
    (first, *_) = answer(parse_module(_module(body)), "w")
    return len(first.maps)


def test_a_permutation_that_moves_nothing_reads_ones_own_element() -> None:
    assert _maps(f"c = f32[8] collective-permute(x), {_STAY}\n ROOT y = f32[8] add(x, c)") == 1


def test_a_permutation_that_leaves_a_device_out_is_not_ones_own_element() -> None:
    pairs = "source_target_pairs={{0,0},{1,1},{2,2}}"
    assert _maps(f"c = f32[8] collective-permute(x), {pairs}\n ROOT y = f32[8] add(x, c)") == 2


_TWO_GROUPS = (
    "s = f32[4] slice(x), slice={{[0:4]}}\n a = f32[8] all-gather(s), replica_groups={}, dimensions={{0}}\n"
    " b = f32[8] all-gather(s), replica_groups={}, dimensions={{0}}\n ROOT y = f32[8] add(a, b)"
)


def test_positions_in_different_groups_are_not_one_map() -> None:
    body = _TWO_GROUPS.format("{{0,1},{2,3}}", "{{0,2},{1,3}}")
    assert _maps(body) == 2
    assert ("dedup", "unknown") in _verdicts(_module(body))


def test_positions_in_equal_groups_are_one_map() -> None:
    body = _TWO_GROUPS.format("{{0,1},{2,3}}", "{{0,1},{2,3}}")
    assert _maps(body) == 1
    assert {v for c, v in _verdicts(_module(body)) if c == "dedup"} == {"proved"}


def test_the_target_finds_maps_compared_that_pass_other_numbers_of_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dedup, "comparable", lambda maps, tables, devices: [list(range(len(maps)))])
    monkeypatch.setattr(dedup, "with_own_place", lambda maps, devices: tuple(maps))
    with pytest.raises(Failure, match="internal"):
        # Of other sizes than above: what was composed and judged there is remembered.
        target_modules.examine(_module(BODIES["an element and its neighbour's"]).replace("f32[8]", "f32[12]"))
