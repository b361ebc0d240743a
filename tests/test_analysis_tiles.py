"""Tile propagation: what a tile of the output needs, against lists of all that each tile reads."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from hloproof.analysis.propagation import OperandTile, TileDimension, _Inside, operand_tile
from hloproof.analysis.report import analyze
from hloproof.engines.door import HOW
from hloproof.engines.portfolio import prove
from hloproof.models.expressions.evaluate import evaluate
from hloproof.models.expressions.expr import to_text
from hloproof.models.hlo.parser import parse_module
from hloproof.models.interpreter.maps import domain_points
from hloproof.models.maps.indexing_map import IndexingMap
from hloproof.models.maps.text import parse_map

Index = tuple[int, ...]


def check(m: IndexingMap, tile: tuple[int, ...], contents: int = 0) -> OperandTile:
    """Compares the answer with what each tile reads; runtime variables hold made-up numbers."""
    found = operand_tile(m, tile)
    assert found.enclosing == "proved"
    held: dict[Index, dict[str, int]] = {}

    def read(k: int, dims: Index, ranges: Index) -> int:
        v = m.runtime[k]
        assert v.index is not None
        at = {f"d{i}": x for i, x in enumerate(dims)} | {f"s{j}": x for j, x in enumerate(ranges)}
        value = Random(repr((contents, v.provider, [evaluate(e, at) for e in v.index.results]))).randint(-9, 30)
        place = tuple(x // t for x, t in zip(dims, tile, strict=True))
        held.setdefault(place, {})[f"rt{k}"] = min(max(value, v.interval.lower), v.interval.upper)
        return value

    by_tile: dict[Index, set[Index]] = {}
    for dims, (_, results, _) in domain_points(m, read):
        by_tile.setdefault(tuple(x // t for x, t in zip(dims, tile, strict=True)), set()).add(results)
    whole = 0
    reached = [False] * len(m.results)
    spans = [range(v.interval.lower // t, v.interval.upper // t + 1) for t, v in zip(tile, m.dims, strict=True)]
    for place in product(*spans):
        base = {f"b{i}": b for i, b in enumerate(place)} | held.get(place, {})
        values = by_tile.get(place, set())
        lines = [_line(d, base) for d in found.dimensions] if values or found.exact else []
        assert values <= set(product(*lines)) if values else True
        for i in range(len(lines)):
            if values and {lines[i][0], lines[i][-1]} <= {v[i] for v in values}:
                reached[i] = True
        if all(
            n == 1 or (v.interval.lower <= b * t and b * t + t - 1 <= v.interval.upper)
            for b, t, v, n in zip(place, tile, m.dims, map(len, spans), strict=True)
        ):
            whole += 1
            assert not found.exact or values == set(product(*lines))
        else:
            assert found.border
    assert whole or not found.exact
    if by_tile and not m.runtime:
        assert all(r for r, d in zip(reached, found.dimensions, strict=True) if d.smallest and (whole or not d.exact))
    return found


def _line(d: TileDimension, at: dict[str, int]) -> list[int]:
    return [evaluate(d.offset, at) + k * d.stride for k in range(d.size)]


BOX = ", domain: d0 in [0, 63], d1 in [0, 127]"
TILES = [
    ("(d0, d1) -> (d1, d0)" + BOX, (16, 32), True),
    ("(d0, d1) -> (d1, d0)" + BOX, (10, 50), True),
    ("(d0, d1)[s0] -> (d0, s0)" + BOX + ", s0 in [0, 9]", (16, 32), True),
    ("(d0, d1) -> (d0 * 128 + d1)" + BOX, (16, 128), True),
    ("(d0, d1) -> (d0 * 128 + d1)" + BOX, (16, 32), False),
    ("(d0, d1) -> (d1 / 8, d0)" + BOX, (16, 32), True),
    ("(d0, d1) -> (d1 / 8, d0)" + BOX, (16, 12), True),
    ("(d0, d1) -> (d1 / 8, d0)" + BOX, (16, 7), False),
    ("(d0, d1) -> (d1 / 64, d1 mod 64, 63 - d0)" + BOX, (16, 32), True),
    ("(d0, d1) -> (d1 / 64, d1 mod 64)" + BOX, (1, 128), True),
    ("(d0, d1)[s0] -> (d0 * 2 + s0, d1)" + BOX + ", s0 in [0, 2]", (16, 32), True),
    ("(d0, d1)[s0] -> (d0 * 4 + s0, d1)" + BOX + ", s0 in [0, 2]", (16, 32), False),
    ("(d0, d1) -> (d0, d0)" + BOX, (16, 32), False),
    ("(d0, d1) -> ((d0 + d1) / 3)" + BOX, (16, 32), False),
    ("(d0, d1) -> (d0, d1 mod 12)" + BOX, (16, 32), True),
    ("(d0, d1) -> (d0, d1 mod 12)" + BOX, (16, 8), False),
    ("(d0, d1) -> (d0 - 5, d1), domain: d0 in [5, 40], d1 in [0, 127]", (16, 32), True),
    ("(d0, d1) -> (d0 - 5, d1), domain: d0 in [5, 20], d1 in [0, 127]", (16, 32), False),  # no whole tile
    ("(d0, d1) -> (d0 - 5, d1), domain: d0 in [5, 20], d1 in [0, 127]", (64, 32), True),
    ("(d0, d1)[s0] -> (d0 + s0 - 1, d1)" + BOX + ", s0 in [0, 2], d0 + s0 in [1, 64]", (16, 32), False),
    ("(d0)[s0] -> (d0, s0), domain: d0 in [0, 7], s0 in [0, 7], d0 - s0 in [-3, 3]", (8,), False),  # a band
    ("(d0, d1) -> ()" + BOX, (16, 32), True),
    ("(d0, d1) -> (d0 * 2, d1 * 3 + 1)" + BOX, (7, 5), True),
]


@pytest.mark.parametrize(("text", "tile", "exact"), TILES)
def test_operand_tiles_hold_what_is_read(text: str, tile: tuple[int, ...], exact: bool) -> None:
    assert check(parse_map(text), tile).exact is exact


OFFSETS = [
    ("(d0, d1) -> (d1, 63 - d0)" + BOX, (16, 32), ["exactly 32 from b1 * 32", "exactly 16 from b0 * -16 + 48"]),
    ("(d0, d1) -> (d0 * 2, d1 / 8)" + BOX, (16, 32), ["exactly 16 from b0 * 32, stride 2", "exactly 4 from b1 * 4"]),
    ("(d0, d1) -> (d0, d1 / 8)" + BOX, (16, 7), ["exactly 16 from b0 * 16", "at most 2 from (b1 * 7) / 8"]),
]


@pytest.mark.parametrize(("text", "tile", "said"), OFFSETS)
def test_offsets_are_told_over_the_position_of_the_tile(text: str, tile: tuple[int, ...], said: list[str]) -> None:
    assert [str(d) for d in operand_tile(parse_map(text), tile).dimensions] == said


@st.composite
def tiled_maps(draw: st.DrawFn) -> tuple[IndexingMap, tuple[int, ...]]:
    """A small map of the kinds that compositions have, and a tile that need not divide it."""
    sizes = draw(st.lists(st.integers(1, 11), min_size=1, max_size=2))
    names = [f"d{i}" for i in range(len(sizes))] + ["s0"]
    domain = []
    for i, n in enumerate(sizes):
        low = draw(st.sampled_from([0, 0, 0, min(2, n - 1)]))
        domain.append(f"d{i} in [{low}, {n - 1}]")
    domain.append(f"s0 in [0, {draw(st.integers(0, 2))}]")
    results = []
    for _ in range(draw(st.integers(1, 2))):
        e = " + ".join(f"{n} * {draw(st.sampled_from([0, 0, 1, 1, -1, 2, 3, 5]))}" for n in names)
        e = f"{e} + {draw(st.integers(0, 3))}"
        divisor = draw(st.integers(2, 6))
        results.append(draw(st.sampled_from([e, e, f"({e}) / {divisor}", f"({e}) mod {divisor}"])))
    if draw(st.booleans()):
        domain.append(f"d0 + s0 in [{draw(st.integers(0, 2))}, {draw(st.integers(2, 12))}]")
    dims = ", ".join(names[:-1])
    m = parse_map(f"({dims})[s0] -> ({', '.join(results)}), domain: {', '.join(domain)}")
    return m, tuple(draw(st.integers(1, n + 1)) for n in sizes)


@settings(max_examples=120, deadline=None)
@given(tiled_maps())
def test_random_maps_and_tiles(case: tuple[IndexingMap, tuple[int, ...]]) -> None:
    m, tile = case
    check(m, tuple(min(t, v.interval.upper + 1) for t, v in zip(tile, m.dims, strict=True)))


def at_run_time(index: str) -> IndexingMap:
    return parse_map(
        "(d0, d1){rt0} -> (d0 + rt0, d1), domain: d0 in [0, 7], d1 in [0, 9], rt0 in [0, 5]\nruntime variables:\n"
        f"rt0: table; (d0, d1) -> ({index}), domain: d0 in [0, 7], d1 in [0, 9]"
    )


@pytest.mark.parametrize(
    ("index", "tile", "exact", "offset"),
    [
        ("", (4, 5), True, "rt0 + b0 * 4"),
        ("d0 / 4", (4, 5), False, "b0 * 4"),
        ("d0", (1, 5), True, "rt0 + b0"),
        ("d1", (4, 5), False, "b0 * 4"),
        ("d0", (4, 5), False, "b0 * 4"),
    ],
)
def test_runtime_values_that_move_inside_the_tile_are_any(
    index: str, tile: tuple[int, ...], exact: bool, offset: str
) -> None:
    for contents in range(5):
        found = check(at_run_time(index), tile, contents)
        assert found.exact is exact and to_text(found.dimensions[0].offset) == offset


def test_planted_errors_are_refuted() -> None:
    """A progression moved by one, or shorter by one, does not enclose; a longer one is not read whole."""
    from dataclasses import replace

    from hloproof.models.expressions.expr import substitute

    m = parse_map("(d0, d1) -> (d0 * 2 + 3, d1 / 4), domain: d0 in [0, 63], d1 in [0, 127]")
    inside = _Inside(m, (16, 32), HOW)
    for e in m.results:
        placed = substitute(e, inside.split)
        right = inside._progression(placed)
        assert prove(inside._encloses(placed, right)).verdict == "proved" and inside._is_onto([(placed, right)])
        for wrong in (replace(right, offset=right.offset + 1), replace(right, size=right.size - 1)):
            assert prove(inside._encloses(placed, wrong)).verdict == "refuted"
        assert not inside._is_onto([(placed, replace(right, size=right.size + 1))])
        assert not inside._is_smallest(placed, replace(right, size=right.size + 1))


OPERATIONS = """HloModule m
strided {
  p = f32[40,12] parameter(0)
  ROOT s = f32[13,6] slice(p), slice={[1:40:3], [0:12:2]}
}
reversed {
  p = f32[13,6] parameter(0)
  ROOT r = f32[13,6] reverse(p), dimensions={0,1}
}
padded {
  p = f32[5,6] parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[13,6] pad(p, z), padding=2_2_1x0_0
}
broadcasted {
  p = f32[6] parameter(0)
  ROOT r = f32[13,6] broadcast(p), dimensions={1}
}
add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT a = f32[] add(x, y)
}
reduced {
  p = f32[13,7,6] parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[13,6] reduce(p, z), dimensions={1}, to_apply=add
}
reshaped {
  p = f32[78] parameter(0)
  ROOT r = f32[13,6] reshape(p)
}
split {
  p = f32[26,3] parameter(0)
  ROOT r = f32[13,6] reshape(p)
}
product {
  p = f32[13,7] parameter(0)
  q = f32[7,6] parameter(1)
  ROOT r = f32[13,6] dot(p, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
joined {
  p = f32[5,6] parameter(0)
  q = f32[8,6] parameter(1)
  ROOT r = f32[13,6] concatenate(p, q), dimensions={0}
}
windows {
  p = f32[28,6] parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[13,6] reduce-window(p, z), window={size=4x1 stride=2x1 pad=1_0x0_0}, to_apply=add
}
ENTRY e {
  a = f32[40,12] parameter(0)
  b = f32[13,6] parameter(1)
  c = f32[5,6] parameter(2)
  d = f32[6] parameter(3)
  f = f32[13,7,6] parameter(4)
  g = f32[78] parameter(5)
  h = f32[26,3] parameter(6)
  i = f32[13,7] parameter(7)
  j = f32[7,6] parameter(8)
  k = f32[8,6] parameter(9)
  l = f32[28,6] parameter(10)
  f0 = f32[13,6] fusion(a), kind=kLoop, calls=strided
  f1 = f32[13,6] fusion(b), kind=kLoop, calls=reversed
  f2 = f32[13,6] fusion(c), kind=kLoop, calls=padded
  f3 = f32[13,6] fusion(d), kind=kLoop, calls=broadcasted
  f4 = f32[13,6] fusion(f), kind=kLoop, calls=reduced
  f5 = f32[13,6] fusion(g), kind=kLoop, calls=reshaped
  f6 = f32[13,6] fusion(h), kind=kLoop, calls=split
  f7 = f32[13,6] fusion(i, j), kind=kLoop, calls=product
  f8 = f32[13,6] fusion(c, k), kind=kLoop, calls=joined
  f9 = f32[13,6] fusion(l), kind=kLoop, calls=windows
  ROOT t = tuple(f0, f1, f2, f3, f4, f5, f6, f7, f8, f9)
}"""


@pytest.mark.parametrize("tile", [(1, 1), (4, 3), (5, 4), (13, 6), (3, 6), (16, 2)])
def test_tiles_of_operations(tile: tuple[int, int]) -> None:
    seen = 0
    for found in analyze(parse_module(OPERATIONS), tile=tile):
        for operand in found.operands:
            for m in operand.maps:
                cut = tuple(min(t, v.interval.upper + 1) for t, v in zip(tile, m.map.dims, strict=True))
                assert m.tile == check(m.map, cut)
                seen += 1
    assert seen >= 12


def test_a_tile_of_the_wrong_rank_is_refused(tmp_path: Path) -> None:
    from hloproof.commands.analyze import command

    with pytest.raises(ValueError, match="2 sizes"):
        operand_tile(parse_map(TILES[0][0]), (4,))
    path = tmp_path / "m.hlo"
    path.write_text(OPERATIONS)
    done = CliRunner().invoke(command, [str(path), "--tile", "4"])
    assert done.exit_code == 2 and "1 sizes" in done.output and "rank 2" in done.output
    for wrong in ("4,", "4,0", "4,x", "-1,2", ","):
        done = CliRunner().invoke(command, [str(path), "--tile", wrong])
        assert done.exit_code == 2 and "list of positive sizes" in done.output
    done = CliRunner().invoke(command, [str(path), "--instruction", "nothing", "--tile", "4,4"])
    assert done.exit_code == 2 and "nothing" in done.output


def test_the_command_tells_tiles(tmp_path: Path) -> None:
    from hloproof.commands.analyze import command

    path = tmp_path / "m.hlo"
    path.write_text(OPERATIONS)
    shown = CliRunner().invoke(command, [str(path), "--tile", "4,3"]).output
    assert "tile (exact, proved, tiles at the border read less): [exactly 4 from b0 * 12 + 1, stride 3]" in shown
    assert "tile (smallest enclosing, proved" in shown
