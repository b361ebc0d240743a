"""Maps through loops whose number of turns is known, against the executable path; a bound for all other loops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from executed_fusions import compared

from models.hlo.module import Instruction
from models.hlo.parser import parse_module
from models.indexing.module_maps import composer_of, followed_maps, instruction_maps
from models.indexing.providers import resolved
from models.indexing.turns import known_turns

SCAN = """HloModule m
body {
  s = (s32[], f32[4], f32[6,4], f32[6,4], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  h = f32[4] get-tuple-element(s), index=1
  xs = f32[6,4] get-tuple-element(s), index=2
  ys = f32[6,4] get-tuple-element(s), index=3
  k = s32[] get-tuple-element(s), index=4
  zero = s32[] constant(0)
  step = s32[] constant(1)
  x2 = f32[1,4] dynamic-slice(xs, i, zero), dynamic_slice_sizes={1,4}
  x = f32[4] reshape(x2)
  r = f32[4] reverse(h), dimensions={0}
  n = f32[4] add(r, x)
  n2 = f32[1,4] reshape(n)
  y = f32[6,4] dynamic-update-slice(ys, n2, i, zero)
  j = s32[] add(i, step)
  ROOT t = (s32[], f32[4], f32[6,4], f32[6,4], s32[]) tuple(j, n, xs, y, k)
}
condition {
  s = (s32[], f32[4], f32[6,4], f32[6,4], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(4)
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY e {
  h = f32[4] parameter(0)
  xs = f32[6,4] parameter(1)
  ys = f32[6,4] parameter(2)
  k = s32[] parameter(3)
  zero = s32[] constant(0)
  p0 = (s32[], f32[4], f32[6,4], f32[6,4], s32[]) tuple(zero, h, xs, ys, k)
  w = (s32[], f32[4], f32[6,4], f32[6,4], s32[]) while(p0), condition=condition, body=body
  a = f32[6,4] get-tuple-element(w), index=3
  b = f32[4] get-tuple-element(w), index=1
  ROOT t = (f32[6,4], f32[4]) tuple(a, b)
}"""
FROM_K = SCAN.replace("dynamic-slice(xs, i, zero)", "dynamic-slice(xs, k, zero)")
WANDERING = FROM_K.replace("  ROOT t = (s32", "  m = s32[] add(k, j)\n  ROOT t = (s32").replace("xs, y, k)", "xs, y, m)")
CALLED = SCAN.replace("body {", """at {
  a = f32[6,4] parameter(0)
  i = s32[] parameter(1)
  zero = s32[] constant(0)
  two = s32[] constant(2)
  b = pred[] compare(i, two), direction=GE
  m = s32[] subtract(i, two)
  p = s32[] select(b, m, i)
  ROOT r = f32[1,4] dynamic-slice(a, p, zero), dynamic_slice_sizes={1,4}
}
body {""").replace("dynamic-slice(xs, i, zero), dynamic_slice_sizes={1,4}", "call(xs, i), to_apply=at")
WRAPPED = SCAN.replace("ENTRY e {", "loop {").replace("p0 = (", "p0 = (").replace(
    "  zero = s32[] constant(0)\n  p0", "  zero = s32[] parameter(4)\n  p0"
) + """
ENTRY e {
  h = f32[4] parameter(0)
  xs = f32[6,4] parameter(1)
  ys = f32[6,4] parameter(2)
  k = s32[] parameter(3)
  zero = s32[] constant(0)
  ROOT c = (f32[6,4], f32[4]) call(h, xs, ys, k, zero), to_apply=loop
}"""

LOOPS = {
    "a scan": SCAN,
    "no turn": SCAN.replace("constant(4)", "constant(0)"),
    "one turn": SCAN.replace("constant(4)", "constant(1)"),
    "more turns than rows": SCAN.replace("constant(4)", "constant(9)"),
    "downwards": SCAN.replace("constant(1)", "constant(-2)").replace("constant(4)", "constant(-2)").replace(
        "direction=LT", "direction=GT").replace("zero = s32[] constant(0)\n  p0", "zero = s32[] constant(5)\n  p0"),
    "until equal": SCAN.replace("direction=LT", "direction=NE"),
    "the limit first": SCAN.replace("compare(i, n), direction=LT", "compare(n, i), direction=GE"),
    "from a value that stays": FROM_K,
    "from a value that changes": WANDERING,
    "from a place computed in a call": CALLED,
    "inside of a call that gives the start": WRAPPED,
    "a trip count that is right": SCAN.replace("body=body", 'body=body, backend_config={"known_trip_count":{"n":"4"}}'),
}  # fmt: skip


def differences(text: str) -> set[str]:
    """What is seen to be wrong, over some seeds, in every array and direction; a bound is wrong, too."""
    module = parse_module(text)
    found = set()
    for seed in range(3):
        try:
            comparison = compared(module, module.entry, seed)
        except LookupError as error:
            found.add(str(error))
        else:
            found.add(comparison.difference or comparison.skipped)
    return found


@pytest.mark.parametrize("name", LOOPS)
def test_loops_of_known_turns_are_exact(name: str) -> None:
    assert differences(LOOPS[name]) == {""}


UNKNOWN = {
    "a start that is not known": SCAN.replace("zero = s32[] constant(0)\n  p0", "zero = s32[] parameter(4)\n  p0"),
    "a step that is not known": SCAN.replace("add(i, step)", "add(i, k)"),
    "a limit that is not known": SCAN.replace("n = s32[] constant(4)", "n = s32[] get-tuple-element(s), index=4"),
    "a limit that is data": SCAN.replace(
        "n = s32[] constant(4)",
        "h = f32[4] get-tuple-element(s), index=1\n  z = f32[1] slice(h), slice={[0:1]}\n  y = f32[] reshape(z)\n"
        "  n = s32[] convert(y)",
    ),
    "more turns than are followed": SCAN.replace("constant(4)", "constant(1000000)"),
    "turns without end": SCAN.replace("step = s32[] constant(1)", "step = s32[] constant(0)"),
    "a trip count that is wrong": LOOPS["a trip count that is right"].replace('"n":"4"', '"n":"5"'),
    "an opcode without a map in the body": SCAN.replace(
        "reverse(h), dimensions={0}", 'custom-call(h), custom_call_target="x"'),
}  # fmt: skip


@pytest.mark.parametrize("name", UNKNOWN)
def test_other_loops_are_a_bound(name: str) -> None:
    module = parse_module(UNKNOWN[name])
    composer = composer_of(module)
    loop = module.entry.by_name["w"]
    sets = followed_maps(composer, module.entry, loop, "output-to-input", 1)
    assert {s.kind for s in sets if s.maps or s.unknown} == {"bound"}
    changed = instruction_maps(composer, module.entry, loop, "input-to-output", 0)
    assert {s.kind for s in changed if s.maps and s.position == (1,)} == {"bound"}
    kept = instruction_maps(composer, module.entry, loop, "output-to-input", 2)
    assert {s.kind for s in kept if s.maps} == {"moves"}


def _plant_turns(wrong: Callable[[tuple[Any, ...]], tuple[Any, ...]]) -> Callable[[Any], None]:
    def plant(patch: Any) -> None:
        patch.setattr("models.indexing.loops.known_turns", lambda *a: (found := known_turns(*a)) and wrong(found))

    return plant


def _plant_no_clamp(patch: Any) -> None:
    patch.setattr("models.indexing.loops.min", lambda a, b: a, raising=False)
    patch.setattr("models.indexing.loops.max", lambda a, b: a, raising=False)


def _plant_one_name(patch: Any) -> None:
    def wrong(maps: Any, source: Any, site: str) -> Any:
        return resolved(maps, source, site.split("[")[0] + "[0]")

    patch.setattr("models.indexing.loops.resolved", wrong)


def _plant_values_that_change_taken_for_the_first(patch: Any) -> None:
    import models.indexing.loops as loops

    right = loops._initial

    def wrong(loop: Any, provider: str) -> Instruction | None:
        return right(replace(loop, depends=dict.fromkeys(loop.depends)), provider)

    patch.setattr(loops, "_initial", wrong)


PLANTED: dict[str, tuple[Callable[[Any], None], list[str]]] = {
    "one turn less": (_plant_turns(lambda t: t[:-1]), ["a scan", "one turn", "downwards"]),
    "the first counter in every turn": (
        _plant_turns(lambda t: t[:1] * len(t)), ["a scan", "from a place computed in a call"],
    ),
    "turns in the other order": (_plant_turns(lambda t: t[::-1]), ["a scan", "downwards"]),
    "counters not clamped": (_plant_no_clamp, ["more turns than rows", "downwards"]),
    "values of all turns taken for one": (_plant_one_name, ["from a value that changes"]),
    "values that change taken for the first": (
        _plant_values_that_change_taken_for_the_first, ["from a value that changes"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("planted", "name"), [(p, n) for p, (_, names) in PLANTED.items() for n in names])
def test_planted_errors_of_loops_are_seen(planted: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    PLANTED[planted][0](monkeypatch)
    assert differences(LOOPS[name]) != {""}
