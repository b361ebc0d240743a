"""Composed maps of fusions against the executable path, element by element, in both directions, runtime values read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from executed_fusions import body_of, compared, fusions, pairs
from random_fusions import fusion_text, loop_text

from hloproof.models.hlo.parser import parse_module
from hloproof.models.maps.indexing_map import IndexingMap, RuntimeVariable, compose

SHARED = Path(__file__).parents[1].parent / "shared"

LARGEST = 40_000
"""Output elements times operand elements of the fusions that are executed here."""


@pytest.mark.skipif(not (SHARED / "corpus").is_dir(), reason="the corpus is not beside the project")
def test_composed_maps_of_small_fusions_are_what_is_executed() -> None:
    files = sorted((SHARED / "corpus").glob("jax-*/*/after.hlo")) + sorted((SHARED / "corpus" / "xla").glob("*.hlo"))
    found = [
        (f"{path.parent.name}/{path.name} {i.name}", compared(module, body))
        for path, module, i in fusions(files)
        if pairs(body := body_of(module, i)) < LARGEST
    ]
    assert [(name, c.difference or c.skipped) for name, c in found if c.difference or c.skipped] == []
    assert len(found) > 300 and sum(1 for _, c in found if c.values_read) >= 20


_ADD = "add {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n"
_STARTS = "  i = s32[] parameter(1)\n  j = s32[] parameter(2)\n"

FUSIONS = {
    "movement": """
  p0 = f32[3,4] parameter(0)
  p1 = f32[4,3] parameter(1)
  t = f32[3,4] transpose(p1), dimensions={1,0}
  c = f32[6,4] concatenate(p0, t), dimensions={0}
  ROOT s = f32[4,4] slice(c), slice={[1:5], [0:4]}""",
    "a slice": f"""
  p0 = f32[5,9] parameter(0)
{_STARTS}  one = s32[] constant(1)
  k = s32[] add(i, one)
  t = f32[9,5] transpose(p0), dimensions={{1,0}}
  ROOT r = f32[4,3] dynamic-slice(t, k, j), dynamic_slice_sizes={{4,3}}""",
    "a slice of a slice": f"""
  p0 = f32[9,9] parameter(0)
{_STARTS}  a = f32[6,5] dynamic-slice(p0, i, j), dynamic_slice_sizes={{6,5}}
  t = f32[5,6] transpose(a), dimensions={{1,0}}
  ROOT b = f32[2,3] dynamic-slice(t, j, i), dynamic_slice_sizes={{2,3}}""",
    "an update": f"""
  p0 = f32[7,8] parameter(0)
{_STARTS}  u = f32[3,2] parameter(3)
  n = s32[] negate(j)
  d = f32[7,8] dynamic-update-slice(p0, u, i, n)
  r = f32[7,8] reverse(d), dimensions={{1}}
  ROOT s = f32[5,8] slice(r), slice={{[1:6], [0:8]}}""",
    "rows looked up": """
  p0 = f32[6,7,2] parameter(0)
  p1 = s32[2,5] parameter(1)
  t = s32[5,2] transpose(p1), dimensions={1,0}
  g = f32[5,3,2] gather(p0, t), offset_dims={1,2}, collapsed_slice_dims={1}, start_index_map={1,0}, index_vector_dim=1,
    slice_sizes={3,1,2}
  ROOT r = f32[30] reshape(g)""",
    "places looked up twice": """
  p0 = f32[9] parameter(0)
  p1 = s32[6,8] parameter(1)
  p2 = s32[4,2] parameter(2)
  a = s32[4] gather(p1, p2), offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={0,1}, index_vector_dim=1,
    slice_sizes={1,1}
  b = s32[4] reverse(a), dimensions={0}
  ROOT g = f32[4,2] gather(p0, b), offset_dims={1}, collapsed_slice_dims={}, start_index_map={0}, index_vector_dim=1,
    slice_sizes={2}""",
    "places added to": """
  p0 = f32[5,6] parameter(0)
  p1 = s32[3,2] parameter(1)
  p2 = f32[3,2,2] parameter(2)
  s = f32[5,6] scatter(p0, p1, p2), update_window_dims={1,2}, inserted_window_dims={},
    scatter_dims_to_operand_dims={1,0}, index_vector_dim=1, to_apply=add
  ROOT t = f32[6,5] transpose(s), dimensions={1,0}""",
    "two outputs": f"""
  p0 = f32[5,6] parameter(0)
{_STARTS}  a = f32[2,3] dynamic-slice(p0, i, j), dynamic_slice_sizes={{2,3}}
  b = f32[2,3] dynamic-slice(p0, j, i), dynamic_slice_sizes={{2,3}}
  c = f32[4,3] concatenate(a, b), dimensions={{0}}
  ROOT r = (f32[4,3], f32[2,3]) tuple(c, b)""",
    "a call with starts": f"""
  p0 = f32[8,9] parameter(0)
{_STARTS}  k = s32[] negate(j)
  a = f32[5,5] call(p0, i, j), to_apply=cut
  t = f32[5,5] transpose(a), dimensions={{1,0}}
  z = f32[] constant(0)
  b = f32[8,9] pad(t, z), padding=1_2x0_4
  ROOT c = f32[5,5] call(b, k, i), to_apply=cut""",
}
_CUT = """cut {
  x = f32[8,9] parameter(0)
  u = s32[] parameter(1)
  v = s32[] parameter(2)
  w = s32[] add(u, v)
  ROOT s = f32[5,5] dynamic-slice(x, w, v), dynamic_slice_sizes={5,5}
}
"""
SEEDS = range(4)


def differences(name: str) -> set[str]:
    """What is seen to be wrong, over some seeds; an error while reading what the maps name is one, too."""
    module = parse_module(f"HloModule m\n{_ADD}{_CUT}ENTRY e {{{FUSIONS[name]}\n}}\n")
    found = set()
    for seed in SEEDS:
        try:
            comparison = compared(module, module.entry, seed)
        except LookupError as error:
            found.add(str(error))
        else:
            assert not comparison.skipped
            found.add(comparison.difference)
    return found


@pytest.mark.parametrize("name", FUSIONS)
def test_composed_maps_are_what_is_executed(name: str) -> None:
    assert differences(name) == {""}


def random_differences(text: Callable[[int], str], seeds: range) -> list[tuple[int, str]]:
    """Seeds with what is seen to be wrong, or not compared."""
    found = []
    for seed in seeds:
        module = parse_module(text(seed))
        try:
            comparison = compared(module, module.entry, seed)
        except LookupError as error:
            found.append((seed, str(error)))
        else:
            if comparison.difference or comparison.skipped:
                found.append((seed, comparison.difference or comparison.skipped))
    return found


@pytest.mark.parametrize("text", [fusion_text, loop_text])
def test_composed_maps_of_random_computations_are_what_is_executed(text: Callable[[int], str]) -> None:
    assert random_differences(text, range(120)) == []


def _swapped(first: IndexingMap, second: IndexingMap) -> IndexingMap:
    m = compose(first, second)
    return replace(m, results=m.results[::-1])


def _unbounded(first: IndexingMap, second: IndexingMap) -> IndexingMap:
    m = compose(first, second)
    return replace(m, constraints=m.constraints[len(second.constraints) + len(first.constraints) + 1 :])


def _rotated(variables: tuple[RuntimeVariable, ...]) -> tuple[RuntimeVariable, ...]:
    """Each variable keeps its interval and has the provider of the next."""
    return tuple(
        replace(v, provider=w.provider, index=w.index)
        for v, w in zip(variables, (*variables[1:], *variables[:1]), strict=True)
    )


def _rotated_composition(first: IndexingMap, second: IndexingMap) -> IndexingMap:
    m = compose(first, second)
    if len(m.runtime) < 2:
        return m
    return replace(m, runtime=_rotated(m.runtime))


def _in_place(first: IndexingMap, second: IndexingMap) -> IndexingMap:
    """What the producer's variables read is looked up at the consumer's place."""
    m = compose(first, second)
    own = tuple(
        replace(v, index=replace(w.index, dims=m.dims)) if w.index and len(w.index.dims) <= len(m.dims) else v
        for v, w in zip(m.runtime, second.runtime, strict=False)
    )
    return replace(m, runtime=(*own, *m.runtime[len(own) :]))


def _plant_composition(wrong: Callable[[IndexingMap, IndexingMap], IndexingMap]) -> Callable[[Any], None]:
    return lambda patch: patch.setattr("hloproof.models.indexing.composition.route.compose", wrong)


def _plant_slices(patch: Any) -> None:
    import hloproof.models.indexing.dynamic as dynamic

    right = dynamic._starts
    patch.setattr(dynamic, "_starts", lambda *arguments: _rotated(right(*arguments)))


def _plant_vectors(patch: Any) -> None:
    from hloproof.models.indexing.gather_scatter import _Windows

    right = _Windows.starts

    def wrong(*arguments: Any, **named: Any) -> tuple[RuntimeVariable, ...]:
        return _rotated(right(*arguments, **named))

    patch.setattr(_Windows, "starts", wrong)


def _plant_arguments(patch: Any) -> None:
    from hloproof.models.indexing.composition.composer import Composer

    right = Composer.leaving

    def wrong(self: Any, step: Any, computation: Any, operands: Any, site: str = "") -> Any:
        return right(self, step, computation, (operands[0], *operands[2:], *operands[1:2]), site)

    patch.setattr(Composer, "leaving", wrong)


def _plant_one_site(patch: Any) -> None:
    from hloproof.models.indexing.composition.composer import Composer

    patch.setattr(Composer, "site", lambda *_: "")


def _plant_clamps(patch: Any) -> None:
    import hloproof.models.indexing.dynamic as dynamic

    right = dynamic._starts

    def wrong(*arguments: Any) -> tuple[RuntimeVariable, ...]:
        found = right(*arguments)
        widest = max((v.interval for v in found), key=lambda i: i.upper)
        return tuple(replace(v, interval=widest) for v in found)

    patch.setattr(dynamic, "_starts", wrong)


PLANTED: dict[str, tuple[Callable[[Any], None], list[str]]] = {
    "variables swapped": (_plant_composition(_swapped), ["movement", "a slice", "a slice of a slice", "two outputs"]),
    "a domain dropped": (_plant_composition(_unbounded), ["movement"]),
    "runtime variables rotated by composition": (
        _plant_composition(_rotated_composition),
        ["a slice", "a slice of a slice", "an update", "rows looked up", "places added to", "two outputs"],
    ),
    "runtime variables looked up at the consumer's place": (_plant_composition(_in_place), ["places looked up twice"]),
    "starts of slices rotated": (
        _plant_slices,
        ["a slice", "a slice of a slice", "an update", "two outputs", "a call with starts"],
    ),
    "components of index vectors rotated": (
        _plant_vectors,
        ["rows looked up", "places looked up twice", "places added to"],
    ),
    "arguments of a call rotated": (_plant_arguments, ["a call with starts"]),
    "values of two calls taken for one": (_plant_one_site, ["a call with starts"]),
    "clamped as the widest": (_plant_clamps, ["a slice of a slice", "an update", "a call with starts"]),
}


ILL_FORMED = {
    "runtime variables looked up at the consumer's place",
    "arguments of a call rotated",
    "values of two calls taken for one",
}
"""These need providers of one shape, as the cases above have them; few random computations do."""


@pytest.mark.parametrize(("planted", "name"), [(p, n) for p, (_, names) in PLANTED.items() for n in names])
def test_planted_errors_of_composition_are_seen(planted: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    PLANTED[planted][0](monkeypatch)
    assert differences(name) != {""}


@pytest.mark.parametrize("planted", [p for p in PLANTED if p not in ILL_FORMED])
def test_planted_errors_are_seen_in_random_computations(planted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    PLANTED[planted][0](monkeypatch)
    assert random_differences(fusion_text, range(60)) != []
