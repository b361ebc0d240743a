"""Maps composed through computations: against hand-written texts, upstream's cases, and the executable path."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from map_points import counted

from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.hlo.parser import parse_module
from hloproof.models.hlo.shape import ArrayShape, leaves
from hloproof.models.indexing.composition.module_maps import (
    composer_of,
    followed_maps,
    instruction_maps,
    plain_composer,
)
from hloproof.models.maps.indexing_map import IndexingMap, compose, rt
from hloproof.models.maps.text import parse_map, print_map

SHARED = Path(__file__).parents[1].parent / "shared"
needs_shared = pytest.mark.skipif(not (SHARED / "cases").is_dir(), reason="upstream's cases are not beside the project")


def _texts(text: str, output: int = 0, direction: Any = "output-to-input", name: str = "") -> dict[int, list[str]]:
    module = parse_module(text)
    found = module.entry.by_name[name] if name else module.entry.root
    sets = followed_maps(composer_of(module), module.entry, found, direction, output)
    return {s.operand: sorted(print_map(m) for m in s.maps) for s in sets}


def test_an_array_and_its_transpose() -> None:
    text = """HloModule m
ENTRY e {
  p0 = f32[20,20] parameter(0)
  t = f32[20,20] transpose(p0), dimensions={1,0}
  ROOT a = f32[20,20] add(p0, t)
}"""
    box = ", domain: d0 in [0, 19], d1 in [0, 19]"
    assert _texts(text) == {0: ["(d0, d1) -> (d0, d1)" + box, "(d0, d1) -> (d1, d0)" + box]}


def test_two_transposes_that_are_one_map() -> None:
    text = """HloModule m
ENTRY e {
  p0 = f32[20,10,50] parameter(0)
  a = f32[20,10,50] negate(p0)
  b = f32[50,10,20] transpose(p0), dimensions={2,1,0}
  c = f32[20,10,50] transpose(b), dimensions={2,1,0}
  ROOT d = f32[20,10,50] add(a, c)
}"""
    assert _texts(text) == {0: ["(d0, d1, d2) -> (d0, d1, d2), domain: d0 in [0, 19], d1 in [0, 9], d2 in [0, 49]"]}


def test_reshapes_that_cancel() -> None:
    text = """HloModule m
ENTRY e {
  p0 = f32[8,16] parameter(0)
  a = f32[4,32] reshape(p0)
  b = f32[128] reshape(a)
  ROOT c = f32[8,16] reshape(b)
}"""
    assert _texts(text) == {0: ["(d0, d1) -> (d0, d1), domain: d0 in [0, 7], d1 in [0, 15]"]}


SOFTMAX = """HloModule m
max { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] maximum(a, b) }
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }
ENTRY e {
  p0 = f32[2,65,125] parameter(0)
  low = f32[] constant(-inf)
  zero = f32[] constant(0)
  m = f32[2,65] reduce(p0, low), dimensions={2}, to_apply=max
  bm = f32[2,65,125] broadcast(m), dimensions={0,1}
  s = f32[2,65,125] subtract(p0, bm)
  x = f32[2,65,125] exponential(s)
  t = f32[2,65] reduce(x, zero), dimensions={2}, to_apply=add
  bt = f32[2,65,125] broadcast(t), dimensions={0,1}
  ROOT d = f32[2,65,125] divide(x, bt)
}"""


def test_softmax_reads_the_element_and_its_row() -> None:
    box = ", domain: d0 in [0, 1], d1 in [0, 64], d2 in [0, 124]"
    assert _texts(SOFTMAX) == {
        0: ["(d0, d1, d2) -> (d0, d1, d2)" + box, f"(d0, d1, d2)[s0] -> (d0, d1, s0){box}, s0 in [0, 124]"]
    }


def test_by_producer_and_epilogue() -> None:
    module = parse_module(SOFTMAX)
    composer, entry = composer_of(module), module.entry
    groups = composer.backwards(entry, entry.root, ())
    assert {name for name, _ in groups} == {"p0", "low", "zero", "m", "bm", "s", "x", "t", "bt", "d"}
    (row,) = groups["t", ()].different()
    assert print_map(row.map) == "(d0, d1, d2) -> (d0, d1), domain: d0 in [0, 1], d1 in [0, 64], d2 in [0, 124]"
    (out,) = followed_maps(composer, entry, entry.by_name["t"], "input-to-output")
    assert [print_map(m) for m in out.maps] == [
        "(d0, d1)[s0] -> (d0, d1, s0), domain: d0 in [0, 1], d1 in [0, 64], s0 in [0, 124]"
    ]


def _doubling(levels: int) -> str:
    lines = [f"  p0 = f32[{levels + 4}] parameter(0)"]
    before = "p0"
    for k in range(levels):
        size = levels + 3 - k
        lines += [
            f"  a{k} = f32[{size}] slice({before}), slice={{[0:{size}]}}",
            f"  b{k} = f32[{size}] slice({before}), slice={{[1:{size + 1}]}}",
            f"  c{k} = f32[{size}] add(a{k}, b{k})",
        ]
        before = f"c{k}"
    return "HloModule m\nENTRY e {\n" + "\n".join(lines) + f"\n  ROOT r = f32[4] negate({before})\n}}"


def test_work_follows_different_maps_and_not_paths() -> None:
    assert len(_texts(_doubling(60))[0]) == 61  # 2^60 paths.
    composer = composer_of(module := parse_module(_doubling(60)))
    followed_maps(composer, module.entry, module.entry.root, "output-to-input")
    assert composer.joins.count < 10_000


def test_a_read_through_an_unknown_opcode_spoils_only_what_is_behind_it() -> None:
    text = """HloModule m
ENTRY e {
  p0 = f32[4] parameter(0)
  p1 = f32[4] parameter(1)
  d = f32[<=4] parameter(2)
  r = f32[<=4] reverse(d), dimensions={0}
  c = f32[4] custom-call(r), custom_call_target="x"
  n = f32[4] negate(p1)
  t = f32[4] add(c, n)
  ROOT a = f32[4] multiply(t, p0)
}"""
    module = parse_module(text)
    found = followed_maps(composer_of(module), module.entry, module.entry.root, "output-to-input")
    sets = {s.operand: s for s in found}
    assert sets[2].unknown.startswith("reverse r:") and not sets[2].maps
    assert sets[0].maps and sets[1].maps and not sets[0].unknown


def test_computations_that_call_themselves_are_unknown() -> None:
    call = Instruction("c", "call", ArrayShape("f32", (4,)), ("p",), _to_apply("f"))
    parameter = Instruction("p", "parameter", ArrayShape("f32", (4,)), (), parameter_number=0)
    f = Computation("f", (parameter, call), "c")
    module = Module("m", (f, replace(f, name="e")), "e")
    (s,) = instruction_maps(plain_composer(module), module.entry, call, "output-to-input")
    assert "calls itself" in s.unknown
    wrong = Computation("g", (parameter, replace(parameter, name="q", parameter_number=1)), "p")
    module = Module("m", (wrong, Computation("e", (parameter, replace(call, attributes=_to_apply("g"))), "c")), "e")
    (s,) = instruction_maps(plain_composer(module), module.entry, module.entry.root, "output-to-input")
    assert "hands 1 values to g, which takes 2" in s.unknown


def _to_apply(name: str) -> Any:
    from hloproof.models.hlo.attributes import Attributes, ComputationRef

    return Attributes((("to_apply", ComputationRef(name)),))


def test_loops_keep_what_the_body_hands_on() -> None:
    text = """HloModule m
body {
  s = (s32[], f32[4], f32[3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[4] get-tuple-element(s), index=1
  y = f32[3] get-tuple-element(s), index=2
  one = s32[] constant(1)
  j = s32[] add(i, one)
  z = f32[4] negate(x)
  ROOT t = (s32[], f32[4], f32[3]) tuple(j, z, y)
}
condition {
  s = (s32[], f32[4], f32[3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(9)
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY e {
  p0 = (s32[], f32[4], f32[3]) parameter(0)
  w = (s32[], f32[4], f32[3]) while(p0), condition=condition, body=body
  ROOT t = (f32[3], f32[4]) custom-call(w), custom_call_target="x"
}"""
    module = parse_module(text)
    loop = module.entry.by_name["w"]
    composer = composer_of(module)
    kept = {s.position: s for s in instruction_maps(composer, module.entry, loop, "output-to-input", 2)}
    assert kept[2,].kind == "moves" and not kept[1,].maps and not kept[0,].maps
    changed = {s.position: s for s in instruction_maps(composer, module.entry, loop, "output-to-input", 1)}
    assert changed[1,].kind == "bound" and changed[0,].maps and not changed[2,].maps


GATHERS = """HloModule m, replica_count=4
ENTRY e {
  p0 = f32[2,3] parameter(0)
  a = f32[4,3] all-gather(p0), replica_groups={{0,2},{1,3}}, dimensions={0}
  ROOT b = f32[4,6] all-gather(a), replica_groups=GROUPS, dimensions={1}
}"""


def test_two_collectives_name_each_step_or_one_where_groups_agree() -> None:
    same = parse_module(GATHERS.replace("GROUPS", "{{0,2},{1,3}}"))
    (s,) = followed_maps(composer_of(same, 4), same.entry, same.entry.root, "output-to-input")
    (m,) = s.maps
    assert m.replica is not None and len(m.replica.results) == 1
    other = parse_module(GATHERS.replace("GROUPS", "{{0,1},{2,3}}"))
    (s,) = followed_maps(composer_of(other, 4), other.entry, other.entry.root, "output-to-input")
    (m,) = s.maps
    assert m.replica is not None and [_replica_text(m, k) for k in range(2)] == ["d1 / 3", "d0 / 2"]


def _replica_text(m: IndexingMap, k: int) -> str:
    from hloproof.models.expressions.expr import to_text

    assert m.replica is not None
    return to_text(m.replica.results[k])


STARTS = """HloModule m
ENTRY e {
  p0 = f32[20,30] parameter(0)
  i = s32[] parameter(1)
  j = s32[] parameter(2)
  a = f32[10,20] dynamic-slice(p0, i, j), dynamic_slice_sizes={10,20}
  ROOT b = f32[3,5] dynamic-slice(a, j, i), dynamic_slice_sizes={3,5}
}"""


def test_runtime_variables_keep_their_providers_and_clamps() -> None:
    (text,) = _texts(STARTS)[0]
    head, *providers = text.split("\n")
    assert head == (
        "(d0, d1){rt0, rt1, rt2, rt3} -> (d0 + rt0 + rt2, d1 + rt1 + rt3), domain: d0 in [0, 2], d1 in [0, 4], "
        "rt0 in [0, 10], rt1 in [0, 10], rt2 in [0, 7], rt3 in [0, 15]"
    ), head
    index = "(d0, d1) -> (), domain: d0 in [0, 2], d1 in [0, 4]"
    assert providers[1:] == [
        f"rt0: parameter(1); {index}",
        f"rt1: parameter(2); {index}",
        f"rt2: parameter(2); {index}",
        f"rt3: parameter(1); {index}",
    ]


def test_long_chains_of_lookups_are_bounded_work() -> None:
    lines = ["  p0 = f32[9] parameter(0)", "  i0 = s32[9,1] parameter(1)"]
    for k in range(300):
        lines.append(
            f"  i{k + 1} = s32[9,1] gather(i0, i{k}), offset_dims={{1}}, collapsed_slice_dims={{0}}, "
            "start_index_map={0}, index_vector_dim=1, slice_sizes={1,1}"
        )
    lines.append(
        "  ROOT g = f32[9] gather(p0, i300), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, "
        "index_vector_dim=1, slice_sizes={1}"
    )
    module = parse_module("HloModule m\nENTRY e {\n" + "\n".join(lines) + "\n}")
    composer = composer_of(module)
    found = followed_maps(composer, module.entry, module.entry.root, "output-to-input")
    sets = {s.operand: s for s in found}
    assert len(sets[0].maps) == 1 and "different maps" in sets[1].unknown
    assert composer.joins.count < 10_000


def test_an_index_that_is_itself_looked_up() -> None:
    first = parse_map(
        "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 6]\n"
        "runtime variables:\nrt0: a; (d0) -> (), domain: d0 in [0, 3]"
    )
    second = parse_map(
        "(d0){rt0} -> (rt0), domain: d0 in [0, 9], rt0 in [0, 99]\n"
        "runtime variables:\nrt0: b; (d0) -> (d0, 1), domain: d0 in [0, 9]"
    )
    m = compose(first, second)
    assert m.results == (rt(0),) and m.runtime[0].provider == "b"
    index = m.runtime[0].index
    assert index is not None and [v.provider for v in index.runtime] == ["a"]
    memory: dict[str, Callable[[Sequence[int]], int]] = {"a": lambda i: 2, "b": lambda i: 10 * i[0] + i[1]}
    found = sorted(counted([m], lambda provider, i: memory[provider](i)))
    assert found == [((d,), (10 * (d + 2) + 1,)) for d in range(4)]


# --- upstream's cases ---------------------------------------------------------------------------------------------


def _grouped_rows() -> list[Any]:
    path = SHARED / "cases" / "hlo_indexing.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return [r for r in rows if r["call"].startswith(("ComputeGrouped", "ComputeEpilogue"))]


@needs_shared
@pytest.mark.parametrize("row", _grouped_rows(), ids=lambda r: r["id"].split(".", 2)[2])
def test_grouped_and_epilogue_cases_of_upstream(row: Any) -> None:
    mapcheck = _mapcheck()
    module = parse_module(row["hlo"])
    composer, computation = composer_of(module), module.entry
    if row.get("epilogue_parent") or row.get("fusion") == "ForInstruction(root)":
        computation = module.by_name[module.entry.root.attributes.computations()[0]]

    def instruction(path: str) -> Instruction:
        found = computation.root
        tail = path.split(".roots[0]")[-1] if ".roots[0]" in path else path
        for step in tail.split(".operand(")[1:]:
            found = computation.by_name[found.operands[int(step.rstrip(")"))]]
        return found

    if row.get("epilogue_parent"):
        start = computation.by_name[row["epilogue_parent"].lstrip("%")]
        (s,) = followed_maps(composer, computation, start, "input-to-output")
        assert [mapcheck.compare(e, print_map(m)) for e, m in zip(row["expected"], s.maps, strict=True)] == ["same"]
        return
    groups = composer.backwards(computation, instruction(row["instruction"]), ())
    wanted = (
        row["expected"]
        if row["expected_form"] == "grouped"
        else [{"instruction": row["group_key"], "maps": row["expected"]}]
    )
    for group in wanted:
        maps = [r.map for r in groups[instruction(group["instruction"]).name, ()].different()]
        verdicts = [mapcheck.compare(e, print_map(m)) for e, m in zip(group["maps"], maps, strict=True)]
        assert verdicts == ["same"] * len(group["maps"]), [print_map(m) for m in maps]


def _always(value: int, provider: str, index: object) -> int:
    return value


def _mapcheck() -> Any:
    sys.path.insert(0, str(SHARED / "tools"))
    try:
        mapcheck = import_module("mapcheck")
    finally:
        sys.path.pop(0)
    return mapcheck


def test_leaves_of_nested_tuples_are_counted_in_order() -> None:
    module = parse_module("""HloModule m
ENTRY e {
  p0 = f32[2] parameter(0)
  p1 = f32[3] parameter(1)
  a = (f32[3], f32[2]) tuple(p1, p0)
  b = (f32[2], (f32[3], f32[2])) tuple(p0, a)
  ROOT g = (f32[3], f32[2]) get-tuple-element(b), index=1
}""")
    assert [place for place, _ in leaves(module.entry.root.shape)] == [(0,), (1,)]
    sets = followed_maps(composer_of(module), module.entry, module.entry.root, "output-to-input", 1)
    assert [len(s.maps) for s in sets] == [1, 0]


def test_values_of_two_calls_of_one_computation_are_two_values() -> None:
    text = """HloModule m
f {
  p = f32[9] parameter(0)
  x = s32[] parameter(1)
  one = s32[] constant(1)
  i = s32[] add(x, one)
  ROOT s = f32[5] dynamic-slice(p, i), dynamic_slice_sizes={5}
}
g {
  p = f32[5] parameter(0)
  x = s32[] parameter(1)
  i = s32[] negate(x)
  ROOT s = f32[2] dynamic-slice(p, i), dynamic_slice_sizes={2}
}
ENTRY e {
  p0 = f32[9] parameter(0)
  x0 = s32[] parameter(1)
  a = f32[5] call(p0, x0), to_apply=f
  ROOT b = f32[2] call(a, x0), to_apply=g
}"""
    (found,) = _texts(text)[0]
    assert "rt0: a/i;" in found and "rt1: b/i;" in found


def test_what_is_asked_of_a_start_does_not_change_how_it_is_clamped() -> None:
    """Element 0 of the concatenation is read where the start, clamped into [0, 1], is 0; a start of 1 reads p1."""
    texts = _texts("""HloModule m
ENTRY e {
  p0 = f32[1] parameter(0)
  p1 = f32[1] parameter(1)
  i = s32[] parameter(2)
  c = f32[2] concatenate(p0, p1), dimensions={0}
  ROOT d = f32[1] dynamic-slice(c, i), dynamic_slice_sizes={1}
}""")
    for operand in (0, 1):
        module_map = parse_map(texts[operand][0])
        for held in (-3, 0, 1, 5):
            found = counted([module_map], partial(_always, held))
            assert bool(found) == (min(max(held, 0), 1) == operand)


KNOWN_STARTS = """HloModule m
ENTRY e {
  p0 = f32[33,8] parameter(0)
  i = INDEX
  z = s32[] constant(0)
  ROOT a = f32[4,8] dynamic-slice(p0, i, z), dynamic_slice_sizes={4,8}
}"""
IOTA = """HloModule m
ENTRY e {
  p0 = f32[3,76] parameter(0)
  iota = s64[5,1] iota(), iota_dimension=0
  ROOT gather = f32[5,1,76] gather(p0, iota), offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={0},
    index_vector_dim=1, slice_sizes={1,76}
}"""


def test_known_starts_are_put_in_and_clamped() -> None:
    (inside,) = _texts(KNOWN_STARTS.replace("INDEX", "s32[] constant(7)"))[0]
    assert inside == "(d0, d1) -> (d0 + 7, d1), domain: d0 in [0, 3], d1 in [0, 7]"
    (outside,) = _texts(KNOWN_STARTS.replace("INDEX", "s32[] constant(99)"))[0]
    assert outside.endswith("rt0: constant(99); (d0, d1) -> (), domain: d0 in [0, 3], d1 in [0, 7]")
    (unknown,) = _texts(KNOWN_STARTS.replace("INDEX", "s32[] parameter(1)"))[0]
    assert "rt0: parameter(1)" in unknown
    texts = _texts(IOTA)[0]
    assert texts == [
        "(d0, d1, d2) -> (2, d2), domain: d0 in [3, 4], d1 in [0, 0], d2 in [0, 75]",
        "(d0, d1, d2) -> (d0, d2), domain: d0 in [0, 2], d1 in [0, 0], d2 in [0, 75]",
    ]


def test_composed_maps_hold_each_read_once() -> None:
    """How often an element is read on the way is not kept: not in a sum of equal elements, not through equal maps."""
    text = """HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }
ENTRY e {
  p0 = f32[8] parameter(0)
  b = f32[8,100] broadcast(p0), dimensions={0}
  z = f32[] constant(0)
  r = f32[8] reduce(b, z), dimensions={1}, to_apply=add
  ROOT a = f32[8] add(r, p0)
}"""
    assert _texts(text)[0] == ["(d0) -> (d0), domain: d0 in [0, 7]"]
