"""Maps through loops whose number of turns is known, against the executable path; a bound for all other loops."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from executed_fusions import compared
from loop_modules import LOOPS, ROWS, SCAN, UNKNOWN, nested
from random_fusions import loop_text

from hloproof.models.hlo.module import Computation, Instruction, Module
from hloproof.models.hlo.parser import parse_module, parse_modules
from hloproof.models.hlo.shape import ArrayShape, TupleShape, leaves
from hloproof.models.indexing.composition.calls import taken_branch as taken
from hloproof.models.indexing.composition.families import _family as family
from hloproof.models.indexing.composition.known_scalars import is_single_integer
from hloproof.models.indexing.composition.loops import _any_turns as any_turns
from hloproof.models.indexing.composition.loops import loop_of
from hloproof.models.indexing.composition.module_maps import composer_of, followed_maps, instruction_maps
from hloproof.models.indexing.composition.providers import resolved
from hloproof.models.indexing.composition.trip_count import known_turns
from hloproof.models.maps.text import print_map

MOST_WORK = 100_000
"""Steps and compositions, many times fewer than turns or paths."""
SHARED = Path(__file__).parents[1].parent / "shared"


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


def test_what_does_not_meet_in_a_turn_does_not_meet_in_any_number_of_them() -> None:
    module = parse_module(ROWS)
    composer = composer_of(module)

    def maps(output: int, operand: int) -> list[str]:
        sets = followed_maps(composer, module.entry, module.entry.root, "output-to-input", output)
        return [print_map(m) for s in sets if s.operand == operand for m in s.maps]

    box = "domain: d0 in [0, 2], d1 in [0, 3]"
    assert maps(1, 1) == [f"(d0, d1) -> (d0, d1), {box}", f"(d0, d1)[s0] -> (d0, s0), {box}, s0 in [0, 3]"]
    assert maps(1, 2) == [] and maps(1, 0) == [f"(d0, d1) -> (), {box}"]
    assert maps(2, 2) == ["(d0) -> (d0), domain: d0 in [0, 4]", "(d0) -> (-d0 + 4), domain: d0 in [0, 4]"]
    assert maps(3, 3) == ["(d0) -> (d0), domain: d0 in [0, 4]"]
    assert {compared(module, module.entry, seed).difference for seed in range(6)} == {""}


def test_rows_of_a_scan_of_many_turns_are_told_apart() -> None:
    text = SCAN.replace("constant(4)", "constant(1000)").replace("reverse(h), dimensions={0}", "copy(h)")
    module = parse_module(text)
    sets = followed_maps(composer_of(module), module.entry, module.entry.root, "output-to-input", 1)
    assert [(s.kind, [print_map(m) for m in s.maps]) for s in sets if s.operand == 1] == [
        ("bound", ["(d0)[s0] -> (s0, d0), domain: d0 in [0, 3], s0 in [0, 5]"])
    ]


def from_an_unknown_start(seed: int) -> str:
    """A random loop whose counter starts at a value that is not known."""
    text = loop_text(seed)
    before, after = text.split("  first = s32[] constant(")
    return before + "  first = s32[] parameter(4)" + after[after.index(")") + 1 :]


def random_bounds(seeds: range) -> list[tuple[int, str]]:
    found = []
    for seed in seeds:
        module = parse_module(from_an_unknown_start(seed))
        difference = compared(module, module.entry, seed).difference
        if difference:
            found.append((seed, difference))
    return found


def test_bounds_of_random_loops_hold_what_is_executed() -> None:
    assert random_bounds(range(150)) == []


def test_a_bound_that_ends_too_early_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*arguments: Any) -> Any:
        found = any_turns(*arguments)
        return found and {at: maps[:1] for at, maps in found.items()}

    monkeypatch.setattr("hloproof.models.indexing.composition.loops._any_turns", wrong)
    assert random_bounds(range(60)) != []
    module = parse_module(ROWS)
    assert {compared(module, module.entry, seed).difference for seed in range(6)} != {""}


def _plant_turns(wrong: Callable[[tuple[Any, ...]], tuple[Any, ...]]) -> Callable[[Any], None]:
    def plant(patch: Any) -> None:
        patch.setattr(
            "hloproof.models.indexing.composition.loops.known_turns",
            lambda *a: (found := known_turns(*a)) and wrong(found),
        )

    return plant


def _plant_no_clamp(patch: Any) -> None:
    patch.setattr("hloproof.models.indexing.composition.loops.min", lambda a, b: a, raising=False)
    patch.setattr("hloproof.models.indexing.composition.loops.max", lambda a, b: a, raising=False)


def _plant_one_name(patch: Any) -> None:
    def wrong(maps: Any, source: Any, site: str) -> Any:
        return resolved(maps, source, site.split("[")[0] + "[0]")

    patch.setattr("hloproof.models.indexing.composition.loops.resolved", wrong)


def _plant_values_that_change_taken_for_the_first(patch: Any) -> None:
    import hloproof.models.indexing.composition.loops as loops

    right = loops._initial

    def wrong(loop: Any, provider: str) -> Instruction | None:
        return right(replace(loop, depends=dict.fromkeys(loop.depends)), provider)

    patch.setattr(loops, "_initial", wrong)


def _plant_another_branch(patch: Any) -> None:
    def wrong(*arguments: Any) -> int | None:
        found = taken(*arguments)
        return found and found - 1

    patch.setattr("hloproof.models.indexing.composition.calls.taken_branch", wrong)


def _plant_what_another_turn_found(patch: Any) -> None:
    patch.setattr("hloproof.models.indexing.composition.known_values.KnownValues.turns_for", lambda *_: ())


def _plant_families(patch: Any) -> None:
    """Runs of a family are taken to be one longer than they are."""

    def wrong(m: Any, skeleton: Any, run: Any) -> Any:
        return family(m, skeleton, [*run, tuple(2 * b - a for a, b in zip(run[-2], run[-1], strict=True))])

    patch.setattr("hloproof.models.indexing.composition.families._family", wrong)


PLANTED: dict[str, tuple[Callable[[Any], None], list[str]]] = {
    "one turn less": (_plant_turns(lambda t: t[:-1]), ["a scan", "one turn", "downwards"]),
    "the first counter in every turn": (
        _plant_turns(lambda t: t[:1] * len(t)),
        ["a scan", "from a place computed in a call"],
    ),
    "turns in the other order": (_plant_turns(lambda t: t[::-1]), ["a scan", "downwards"]),
    "counters not clamped": (_plant_no_clamp, ["more turns than rows", "downwards"]),
    "values of all turns taken for one": (_plant_one_name, ["from a value that changes"]),
    "values that change taken for the first": (
        _plant_values_that_change_taken_for_the_first,
        ["from a value that changes"],
    ),
    "another branch": (_plant_another_branch, ["branches that the counter chooses"]),
    "what was found in another turn": (
        _plant_what_another_turn_found,
        ["branches that the counter chooses", "a loop that the outer counter ends"],
    ),
    "families too long": (_plant_families, ["a scan", "downwards"]),
}


@pytest.mark.parametrize(("planted", "name"), [(p, n) for p, (_, names) in PLANTED.items() for n in names])
def test_planted_errors_of_loops_are_seen(planted: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    PLANTED[planted][0](monkeypatch)
    assert differences(LOOPS[name]) != {""}


# --- loops of real modules ----------------------------------------------------------------------------------------

LARGEST = 300_000
"""Elements of the result times elements of the initial state of the loops that are executed."""


def alone(module: Module, computation: Computation, loop: Instruction) -> Module:
    """The loop as an entry of its own: single integers that are known as constants, all else as parameters."""
    state = loop.shape
    assert isinstance(state, TupleShape)
    composer = composer_of(module)
    found: list[Instruction] = []
    parameters = 0
    for k, shape in enumerate(state.elements):
        value = composer.known.value(computation, loop.operands[0], (k,)) if is_single_integer(shape) else None
        if value is None:
            found.append(Instruction(f"alone{k}", "parameter", shape, parameter_number=parameters))
            parameters += 1
        else:
            found.append(Instruction(f"alone{k}", "constant", shape, literal=str(value)))
    start = Instruction("start_alone", "tuple", state, tuple(i.name for i in found))
    entry = Computation("alone", (*found, start, replace(loop, operands=("start_alone",))), loop.name)
    return replace(module, computations=(*module.computations, entry), entry_name="alone")


def known_loops() -> Iterator[tuple[str, Module, int]]:
    for path in sorted((SHARED / "corpus").glob("jax-*/*/*.hlo")):
        for module in parse_modules(path.read_text(), str(path)):
            composer = composer_of(module)
            for computation in module.computations:
                for i in computation.instructions:
                    if i.opcode == "while" and loop_of(composer, computation, i).turns is not None:
                        size = sum(leaf.elements for _, leaf in leaves(i.shape) if isinstance(leaf, ArrayShape))
                        yield f"{path.parent.name}/{path.name} {i.name}", alone(module, computation, i), size * size


@pytest.mark.skipif(not (SHARED / "corpus").is_dir(), reason="the corpus is not beside the project")
def test_loops_of_real_modules_are_what_is_executed() -> None:
    found = [(name, compared(module, module.entry)) for name, module, pairs in known_loops() if pairs <= LARGEST]
    assert [(name, c.difference or c.skipped) for name, c in found if c.difference or c.skipped] == []
    assert len(found) > 10


def test_turns_are_one_family() -> None:
    module = parse_module(SCAN.replace("add(r, x)", "add(x, x)"))
    sets = followed_maps(composer_of(module), module.entry, module.entry.root, "output-to-input")
    assert [[print_map(m) for m in s.maps] for s in sets if s.operand == 1] == [
        ["(d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 3]"]
    ]


def test_what_is_followed_turn_by_turn_is_claimed_and_proved() -> None:
    from hloproof.pipeline.driver import check_hlo
    from hloproof.pipeline.options import Options, Selection

    records = [r for r in check_hlo(SCAN, Options(jobs=1)).records() if r.instruction == "w"]
    assert {r.claim for r in records} >= {"definition", "in-bounds", "simplify"}
    assert {r.verdict for r in records} == {"proved"}
    # Which of the maps of a loop are one is told where that is asked for, by name.
    assert "dedup" not in {r.claim for r in records}
    asked = check_hlo(SCAN, Options(Selection(only=("dedup",)), jobs=1)).records()
    assert ("dedup", "proved") in {(r.claim, r.verdict) for r in asked if r.instruction == "w"}


def test_a_loop_that_takes_too_long_to_follow_is_a_bound_in_every_array() -> None:
    """Each turn reads 40 rows more: far more maps than are followed."""
    size = 3_000
    slices = "\n".join(f"  x{k} = f32[{size - 41}] slice(h), slice={{[{k}:{size - 41 + k}]}}" for k in range(40))
    sums = "\n".join(f"  y{k} = f32[{size - 41}] add({'x0' if k == 0 else f'y{k - 1}'}, x{k})" for k in range(40))
    text = f"""HloModule m
body {{
  s = (s32[], f32[{size}], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  h = f32[{size}] get-tuple-element(s), index=1
  g = f32[4] get-tuple-element(s), index=2
{slices}
{sums}
  z = f32[] constant(0)
  p = f32[{size}] pad(y39, z), padding=0_41
  step = s32[] constant(1)
  j = s32[] add(i, step)
  r = f32[4] reverse(g), dimensions={{0}}
  ROOT t = (s32[], f32[{size}], f32[4]) tuple(j, p, r)
}}
condition {{
  s = (s32[], f32[{size}], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(40)
  ROOT c = pred[] compare(i, n), direction=LT
}}
ENTRY e {{
  h = f32[{size}] parameter(0)
  g = f32[4] parameter(1)
  zero = s32[] constant(0)
  p0 = (s32[], f32[{size}], f32[4]) tuple(zero, h, g)
  ROOT w = (s32[], f32[{size}], f32[4]) while(p0), condition=condition, body=body
}}"""
    module = parse_module(text)
    for output in (2, 1):
        composer = composer_of(module)
        sets = instruction_maps(composer, module.entry, module.entry.root, "output-to-input", output)
        assert {s.kind for s in sets if s.maps} == {"bound"}
        assert composer.joins.count + composer.joins.followed < MOST_WORK


@pytest.mark.parametrize(("levels", "turns", "kind"), [(3, 3, "moves"), (40, 1, "moves"), (14, 2, "bound")])
def test_work_in_nested_loops_is_bounded(levels: int, turns: int, kind: str) -> None:
    module = parse_module(nested(levels, turns))
    composer = composer_of(module)
    (s,) = followed_maps(composer, module.entry, module.entry.root, "output-to-input")
    assert s.kind == kind
    assert composer.joins.count + composer.joins.followed < MOST_WORK
    if kind == "moves":
        odd = turns**levels % 2
        assert [print_map(m) for m in s.maps] == [f"(d0) -> ({'-d0 + 3' if odd else 'd0'}), domain: d0 in [0, 3]"]


def test_values_through_exponentially_many_calls_are_found_once_each() -> None:
    parameters = "  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n"
    text = f"HloModule m\nf0 {{\n{parameters}  ROOT r = s32[] subtract(a, b)\n}}\n"
    for k in range(1, 50):
        text += (
            f"f{k} {{\n{parameters}  c = s32[] call(a, b), to_apply=f{k - 1}\n"
            f"  d = s32[] call(b, a), to_apply=f{k - 1}\n  ROOT r = s32[] add(c, d)\n}}\n"
        )
    text += "ENTRY e {\n  x = s32[] constant(5)\n  y = s32[] constant(2)\n"
    text += "  ROOT r = s32[] call(x, y), to_apply=f49\n}\n"
    module = parse_module(text)
    assert composer_of(module).known.value(module.entry, "r") == 0


def test_tokens_in_the_state_hold_no_elements() -> None:
    text = SCAN.replace("(s32[], f32[4], f32[6,4], f32[6,4], s32[])", "(s32[], f32[4], f32[6,4], f32[6,4], token[])")
    text = text.replace("k = s32[] get-tuple-element", "k = token[] get-tuple-element")
    text = text.replace("k = s32[] parameter", "k = token[] parameter")
    module = parse_module(text)
    loop = module.entry.by_name["w"]
    composer = composer_of(module)
    for output in range(4):
        found = instruction_maps(composer, module.entry, loop, "output-to-input", output)
        assert {s.kind for s in found} <= {"moves", "reads"}
    assert instruction_maps(composer, module.entry, loop, "input-to-output", 0)
    sets = followed_maps(composer_of(module), module.entry, module.entry.root, "output-to-input", 0)
    assert not any(s.unknown for s in sets)
