"""Threads and warps: who makes which element, how far apart neighbours read, how many sectors a warp touches; against
lists of all threads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from hloproof.analysis import warps
from hloproof.analysis.coalescing import Stride
from hloproof.analysis.launch import (
    Launch,
    first_of_warp,
    lane_map,
    parse_launch,
    parse_thread_map,
    request_map,
    thread_map,
)
from hloproof.analysis.warps import warp_reads
from hloproof.engines.portfolio import prove
from hloproof.models.expressions.evaluate import evaluate
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.hlo.text.shapes import parse_shape
from hloproof.models.layouts.memory_size import element_bits
from hloproof.models.layouts.tiling import position_of
from hloproof.models.maps.indexing_map import IndexingMap
from hloproof.models.maps.text import parse_map

Index = tuple[int, ...]


def array(text: str) -> ArrayShape:
    found = parse_shape(text)
    assert isinstance(found, ArrayShape)
    return found


def in_memory_order(shape: ArrayShape) -> list[Index]:
    """The elements of an array, sorted by where they lie; tiles do not count."""
    plain = replace(shape, layout=replace(shape.layout, tiles=()) if shape.layout else None)
    elements = product(*(range(n) for n in shape.dimensions))
    return sorted(elements, key=lambda index: position_of(plain, index))


def made_by(launch: Launch, output: ArrayShape) -> Iterator[tuple[tuple[int, int, int, int], Index]]:
    """((block, thread, chunk, place), element) of everything that the threads make."""
    order = in_memory_order(output)
    blocks = launch.blocks_for(len(order))
    for number, element in enumerate(order):
        rest, place = divmod(number, launch.vector)
        rest, thread = divmod(rest, launch.threads)
        chunk, block = divmod(rest, blocks)
        yield (block, thread, chunk, place), element


def reads(m: IndexingMap, element: Index) -> Iterator[tuple[Index, Index]]:
    """(range values, operand element) of one output element."""
    dims = {f"d{i}": v for i, v in enumerate(element)}
    if any(v not in d.interval for v, d in zip(element, m.dims, strict=True)):
        return
    for values in product(*(range(v.interval.lower, v.interval.upper + 1) for v in m.ranges)):
        at = dims | {f"s{j}": v for j, v in enumerate(values)}
        if all(evaluate(c.expr, at) in c.interval for c in m.constraints):
            yield values, tuple(evaluate(e, at) for e in m.results)


def all_reads(
    m: IndexingMap, launch: Launch, output: ArrayShape, operand: ArrayShape
) -> dict[tuple[int, ...], dict[tuple[int, int], int]]:
    """For every warp (block, chunk, number, range values): (lane, place) to the position that is read."""
    found: dict[tuple[int, ...], dict[tuple[int, int], int]] = {}
    for (block, thread, chunk, place), element in made_by(launch, output):
        warp, lane = divmod(thread, launch.warp)
        for values, read in reads(m, element):
            found.setdefault((block, chunk, warp, *values), {})[lane, place] = position_of(operand, read)
    return found


def check(m: IndexingMap, launch: Launch, output: ArrayShape, operand: ArrayShape) -> warps.WarpReads:
    """Compares the answer with the list of all reads."""
    answer = warp_reads(m, launch, output, operand)
    listed = all_reads(m, launch, output, operand)
    pairs = [(lane, r[lane + 1, p] - at) for r in listed.values() for (lane, p), at in r.items() if (lane + 1, p) in r]
    _agrees(answer.threads, pairs)
    if answer.vector is not None:
        places = [
            (p, r[lane, p + 1] - at) for r in listed.values() for (lane, p), at in r.items() if (lane, p + 1) in r
        ]
        _agrees(answer.vector, places)
    s = answer.sectors
    in_sector = launch.sector * 8 // element_bits(operand)
    most = max((len({at // in_sector for at in r.values()}) for r in listed.values()), default=0)
    assert s is not None and s.seen <= most <= s.most, (s, most)
    assert not s.exact or s.most == most
    for r in listed.values():
        for (lane, place), at in r.items():
            p = lane * launch.vector + place
            other = r.get(divmod(p + 1, launch.vector))
            if (p + 1) % answer.contiguous and other is not None:
                assert other == at + 1
    return answer


def _agrees(s: Stride, pairs: list[tuple[int, int]]) -> None:
    assert s.verdict == "proved"
    if not s.block:
        assert not pairs
    elif s.distance is None:
        assert len({d for _, d in pairs}) > 1
    else:
        assert all(d == s.distance for at, d in pairs if s.block >= s.size or (at + 1) % s.block)


SQUARE = "(d0, d1) -> ({}), domain: d0 in [0, 19], d1 in [0, 23]"
CASES = [
    (SQUARE.format("d0, d1"), "f32[20,24]", "f32[20,24]", "2,64", 4),
    (SQUARE.format("d0, d1"), "f32[20,24]", "f32[20,24]", "2,64,4", 16),
    (SQUARE.format("d0, d1"), "f32[20,24]{0,1}", "f32[20,24]", "2,64", 20),
    (SQUARE.format("d0, d1"), "f32[20,24]{0,1}", "f32[20,24]{0,1}", "2,64", 4),
    (SQUARE.format("d1, d0"), "f32[20,24]", "f32[24,20]", "2,96", 24),
    (SQUARE.format("d1"), "f32[20,24]", "f32[24]", "2,64", 3),
    (SQUARE.format("d0"), "f32[20,24]", "f32[20]", "2,64", 1),
    (SQUARE.format("0"), "f32[20,24]", "f32[1]", "2,64", 1),
    (SQUARE.format("d0, 23 - d1"), "f32[20,24]", "f32[20,24]", "2,64", 4),
    (SQUARE.format("d0 + 1, d1 + 1"), "f32[20,24]", "f32[22,26]", "2,64", 6),
    (SQUARE.format("d0, d1"), "f32[20,24]", "f32[20,24]{1,0:T(8,128)}", "2,64", 4),
    (SQUARE.format("d0, d1"), "bf16[20,24]", "bf16[20,24]{1,0:T(8,128)(2,1)}", "2,64", 4),
    (SQUARE.format("d0, d1"), "s4[20,24]", "s4[20,24]{1,0:E(4)}", "2,64,2", 1),
    (SQUARE.format("d0, d1"), "f32[20,24]", "c128[20,24]", "2,48", 16),
    ("(d0)[s0] -> (d0, s0), domain: d0 in [0, 63], s0 in [0, 9]", "f32[64]", "f32[64,10]", "2,64", 32),
    ("(d0)[s0] -> (s0, d0), domain: d0 in [0, 63], s0 in [0, 9]", "f32[64]", "f32[10,64]", "2,64", 4),
    ("(d0) -> (d0 - 3), domain: d0 in [3, 60]", "f32[64]", "f32[58]", "1,64", 5),
    ("() -> ()", "f32[]", "f32[]", "1,1", 1),
]


@pytest.mark.parametrize(("text", "output", "operand", "shape", "most"), CASES)
def test_warps_touch_so_many_sectors(text: str, output: str, operand: str, shape: str, most: int) -> None:
    answer = check(parse_map(text), parse_launch(shape), array(output), array(operand))
    assert answer.sectors is not None and answer.sectors.exact and answer.sectors.most == most


@st.composite
def launches(draw: st.DrawFn) -> tuple[IndexingMap, Launch, ArrayShape, ArrayShape]:
    """A random map between small arrays, with a random launch of few threads."""
    sizes = draw(st.lists(st.integers(1, 9), min_size=1, max_size=3))
    results, bounds = [], []
    for _ in range(draw(st.integers(1, 2))):
        terms = [f"d{i} * {draw(st.integers(0, 3))}" for i in range(len(sizes))]
        terms += [f"s0 * {draw(st.integers(0, 2))}", str(draw(st.integers(0, 3)))]
        inner = " + ".join(terms)
        divisor = draw(st.integers(2, 7))
        results.append(draw(st.sampled_from([inner, f"({inner}) / {divisor}", f"({inner}) mod {divisor}"])))
        bounds.append(3 * sum(sizes) + 9)
    domain = [f"d{i} in [0, {n - 1}]" for i, n in enumerate(sizes)] + [f"s0 in [0, {draw(st.integers(0, 2))}]"]
    if draw(st.booleans()):
        domain.append(f"d0 + s0 in [{draw(st.integers(0, 1))}, {draw(st.integers(1, 9))}]")
    dims = ", ".join(f"d{i}" for i in range(len(sizes)))
    m = parse_map(f"({dims})[s0] -> ({', '.join(results)}), domain: {', '.join(domain)}")
    order = ",".join(map(str, draw(st.permutations(range(len(sizes))))))
    output = array(f"f32[{','.join(map(str, sizes))}]{{{order}}}")
    kind = draw(st.sampled_from(["u8", "f16", "f32", "f64"]))
    inner_order = ",".join(map(str, draw(st.permutations(range(len(results))))))
    tile = draw(st.sampled_from(["", ":T(4)", ":T(2,4)"]))
    operand = array(f"{kind}[{','.join(map(str, bounds))}]{{{inner_order}{tile}}}")
    blocks = draw(st.one_of(st.none(), st.integers(1, 3)))
    warp, vector = draw(st.sampled_from([1, 2, 4, 6, 8])), draw(st.integers(1, 3))
    launch = Launch(draw(st.integers(1, 20)), blocks, vector, warp, draw(st.sampled_from([8, 16, 32])))
    return m, launch, output, operand


@settings(max_examples=60, deadline=None)
@given(launches())
def test_random_launches(case: tuple[IndexingMap, Launch, ArrayShape, ArrayShape]) -> None:
    check(*case)


@settings(max_examples=30, deadline=None)
@given(launches())
def test_bounds_hold_where_warps_cannot_be_listed(case: tuple[IndexingMap, Launch, ArrayShape, ArrayShape]) -> None:
    limits = warps.FEW_POINTS, warps.MOST_POINTS
    warps.FEW_POINTS = warps.MOST_POINTS = 0  # type: ignore[misc]
    try:
        check(*case)
    finally:
        warps.FEW_POINTS, warps.MOST_POINTS = limits  # type: ignore[misc]


@settings(max_examples=60, deadline=None)
@given(launches())
def test_every_element_is_made_once_as_the_maps_say(case: tuple[IndexingMap, Launch, ArrayShape, ArrayShape]) -> None:
    _, launch, output, _ = case
    expected = dict(made_by(launch, output))
    found = {}
    threads = thread_map(launch, output)
    for dims in product(*(range(v.interval.count) for v in threads.dims)):
        for (chunk, place), element in reads(threads, dims):
            key = (dims[3], dims[0], chunk, place)
            assert key not in found
            found[key] = element
    assert found == expected
    for m in (request_map(launch, output), lane_map(launch, output)):
        made = [e for dims in product(*(range(v.interval.count) for v in m.dims)) for _, e in reads(m, dims)]
        assert sorted(made) == sorted(expected.values())


LARGE = [
    ("(d0, d1) -> (d1, d0), domain: d0 in [0, 999999], d1 in [0, 9]", "f32[1000000,10]", "f32[10,1000000]", 20),
    ("(d0, d1) -> (d0, d1), domain: d0 in [0, 99999], d1 in [0, 99]", "f32[100000,100]", "f32[100000,100]", 4),
    ("(d0, d1) -> (d1), domain: d0 in [0, 9999999], d1 in [0, 9]", "f32[10000000,10]", "f32[10]", 2),
    ("(d0)[s0] -> (d0 * 3 + s0), domain: d0 in [0, 9999999], s0 in [0, 2]", "f32[10000000]", "f32[30000000]", 12),
    (
        "(d0, d1, d2)[s0] -> (d0, s0, d1), domain: d0 in [0, 69], d1 in [0, 69], d2 in [0, 69], s0 in [0, 69]",
        "f32[70,70,70]",
        "f32[70,70,70]",
        2,
    ),
    ("(d0, d1) -> (d0, d1 / 7), domain: d0 in [0, 9999999], d1 in [0, 76]", "f32[10000000,77]", "f32[10000000,11]", 2),
]


@pytest.mark.parametrize(("text", "output", "operand", "most"), LARGE)
def test_large_arrays_are_not_listed(text: str, output: str, operand: str, most: int) -> None:
    answer = warp_reads(parse_map(text), Launch(256), array(output), array(operand))
    assert answer.sectors is not None and answer.sectors.exact and answer.sectors.most == most
    assert answer.sectors.method != "every warp looked at"


def gather(column: str) -> IndexingMap:
    box = "d0 in [0, 999], d1 in [0, 127]"
    return parse_map(
        f"(d0, d1){{rt0}} -> (rt0, d1), domain: {box}, rt0 in [0, 4999]\nruntime variables:\n"
        f"rt0: parameter(1); (d0, d1) -> ({column}), domain: {box}"
    )


def test_rows_found_at_run_time_are_contiguous_inside() -> None:
    answer = warp_reads(gather("d0"), Launch(256), array("f32[1000,128]"), array("f32[5000,128]"))
    assert answer.sectors is not None
    assert (answer.threads.distance, answer.sectors.most, answer.sectors.exact) == (1, 4, True)


@pytest.mark.parametrize(
    ("read", "vector", "together"),
    [
        ("d0", 1, 32),
        ("d0", 2, 64),
        # Threads lie side by side within a block of two, and then it goes on elsewhere.
        ("(d0 mod 2) * 100 + d0 floordiv 2", 1, 1),
        ("(d0 mod 2) * 100 + d0 - d0 mod 2", 2, 1),
        ("(d0 floordiv 2) * 10 + d0 mod 2", 2, 2),
        ("(d0 floordiv 2) * 2 + d0 mod 2", 2, 64),
        ("(d0 floordiv 4) * 10 + d0 mod 4", 2, 4),
        # Three of the four of a thread: groups of three would not begin where threads do.
        ("(d0 floordiv 4) * 20 + (d0 mod 4) floordiv 3 * 9 + (d0 mod 4) mod 3", 4, 1),
    ],
)
def test_places_side_by_side(read: str, vector: int, together: int) -> None:
    m = parse_map(f"(d0) -> ({read}), domain: d0 in [0, 63]")
    assert warp_reads(m, Launch(32, 1, vector), array("f32[64]"), array("f32[400]")).contiguous == together


def test_a_row_per_thread_found_at_run_time_is_a_bound() -> None:
    answer = warp_reads(gather("d1"), Launch(256), array("f32[1000,128]"), array("f32[5000,128]"))
    assert answer.sectors is not None
    assert answer.threads.distance is None and answer.threads.runtime and answer.sectors.most == 32


def test_a_wrong_bound_is_refuted() -> None:
    """Planted: classes that span one sector less than they do, and warps said to repeat too soon."""
    from hloproof.analysis.coalescing import operand_position
    from hloproof.models.maps.indexing_map import compose
    from hloproof.models.simplifier.simplify import simplify

    output, operand = array("f32[100000,10]"), array("f32[10,100000]")
    m = parse_map("(d0, d1) -> (d1, d0), domain: d0 in [0, 99999], d1 in [0, 9]")
    request = simplify(compose(request_map(Launch(256), output), m)).map
    search = warps._Search(request, operand_position(request, operand) // 8, 32, first_of_warp(Launch(256)), (10,))
    assert prove(search._obligation(1, 32, 1)).verdict == "proved"
    assert prove(search._obligation(32, 1, 3)).verdict == "refuted"
    assert prove(search._in_a_row(10, 9 * 12500 + 1)).verdict == "proved"
    assert prove(search._in_a_row(10, 9 * 12500)).verdict == "refuted"
    assert prove(search._repeats(5, 2)).verdict == "proved"
    assert prove(search._repeats(5, 3)).verdict == prove(search._repeats(4, 2)).verdict == "refuted"


SHAPES = [
    ("8,128", Launch(128, 8)),
    ("8,128,4", Launch(128, 8, 4)),
    ("threads=128", Launch(128)),
    ("vector=2, threads=64", Launch(64, None, 2)),
    ("blocks=3,threads=5,unroll=2", Launch(5, 3, 2)),
]
WRONG = [
    ("128", "BLOCKS,THREADS"),
    ("1,2,3,4", "BLOCKS,THREADS"),
    ("8,x", "positive number"),
    ("8,0", "positive number"),
    ("blocks=8", "number of threads"),
    ("threads=8,threads=9", "twice"),
    ("thread=8", "expected blocks="),
    ("threads=8,4", "expected blocks="),
    ("8,-1", "positive number"),
    ("8,32,4096", "at a time"),
    ("8,x8", "positive number"),
]


@pytest.mark.parametrize(("text", "launch"), SHAPES)
def test_launch_shapes_as_text(text: str, launch: Launch) -> None:
    assert parse_launch(text) == launch


@pytest.mark.parametrize(("text", "said"), WRONG)
def test_wrong_launch_shapes_are_refused(text: str, said: str, tmp_path: Path) -> None:
    from hloproof.commands.analyze import command

    with pytest.raises(ValueError, match=said):
        parse_launch(text)
    path = tmp_path / "m.hlo"
    path.write_text("HloModule m\nENTRY e {\n  ROOT p = f32[2] parameter(0)\n}\n")
    done = CliRunner().invoke(command, [str(path), "--launch", text])
    assert done.exit_code == 2 and "--launch" in done.output and "Traceback" not in done.output


def test_the_command_needs_a_launch_for_warps(tmp_path: Path) -> None:
    from hloproof.commands.analyze import command

    path = tmp_path / "m.hlo"
    path.write_text("HloModule m\nENTRY e {\n  ROOT p = f32[2] parameter(0)\n}\n")
    for option in (["--warp", "16"], ["--sector", "64"], ["--launch", "1,2", "--warp", "0"]):
        assert CliRunner().invoke(command, [str(path), *option]).exit_code == 2


TRANSPOSED = """HloModule m
ENTRY e {
  p0 = f32[64,64] parameter(0)
  ROOT t = f32[64,64] transpose(p0), dimensions={1,0}
}"""


def test_the_command_tells_how_warps_read(tmp_path: Path) -> None:
    from hloproof.commands.analyze import command

    path = tmp_path / "m.hlo"
    path.write_text(TRANSPOSED)
    arguments = [str(path), "--instruction", "t", "--launch", "blocks=4,threads=128"]
    told = CliRunner().invoke(command, arguments)
    assert told.exit_code == 0
    assert told.output.splitlines()[1:] == [
        "  output 0 by 4 blocks of 128 threads, 1 element each, 8 times: "
        "(th_x, th_y, th_z, bl_x, bl_y, bl_z)[chunk_id, unroll_id] -> "
        "(th_x / 64 + bl_x * 2 + chunk_id * 8, th_x mod 64), domain: th_x in [0, 127], th_y in [0, 0], "
        "th_z in [0, 0], bl_x in [0, 3], bl_y in [0, 0], bl_z in [0, 0], chunk_id in [0, 7], unroll_id in [0, 0]",
        "  output 0 <- operand 0 p0: reads 4096 of 4096 elements (100.0%), each by 1 output element; enumeration",
        "    map 0: (d0, d1) -> (d1, d0), domain: d0 in [0, 63], d1 in [0, 63]",
        "      along dimension 1: 64 elements apart (proved)",
        "      along dimension 0: contiguous (proved)",
        "      by thread: (th_x, th_y, th_z, bl_x, bl_y, bl_z)[chunk_id, unroll_id] -> "
        "(th_x mod 64, th_x / 64 + bl_x * 2 + chunk_id * 8), domain: th_x in [0, 127], th_y in [0, 0], "
        "th_z in [0, 0], bl_x in [0, 3], bl_y in [0, 0], bl_z in [0, 0], chunk_id in [0, 7], unroll_id in [0, 0]",
        "      neighbouring threads: 64 elements apart (proved)",
        "      a warp of 32 touches at most 32 sectors of 32 bytes (reached; counting); elements side by side need 4",
    ]
    data = json.loads(CliRunner().invoke(command, [*arguments, "--format", "json"]).output)["instructions"][0]
    assert data["launch"]["outputs"][0]["chunks"] == 8
    threads = data["operands"][0]["maps"][0]["threads"]
    assert threads["neighbours"]["distance"] == 64 and threads["side_by_side"] == 1
    assert threads["sectors"] == {"most": 32, "seen": 32, "exact": True, "best": 4, "method": "counting", "engines": []}


UPSTREAM = [
    (
        "f32[100,200,300]",
        "1008,128,4",
        "(((bl_x * 16 + th_x floordiv 8) floordiv 3 + chunk_id * 5376) floordiv 625) mod 100, "
        "(((bl_x * 128 + th_x) floordiv 3 + chunk_id * 43008) floordiv 25) mod 200, "
        "(th_x * 4 + bl_x * 512 + chunk_id * 516096) mod 300 + unroll_id",
        "th_x in [0, 127], th_y in [0, 0], th_z in [0, 0], bl_x in [0, 1007], bl_y in [0, 0], bl_z in [0, 0], "
        "chunk_id in [0, 11], unroll_id in [0, 3], (th_x + bl_x * 128) * 4 + chunk_id * 516096 in [0, 5999996]",
    ),
    (
        "f32[10,20,30]",
        "threads=128",
        "(bl_x * 128 + th_x) floordiv 600, ((bl_x * 128 + th_x) floordiv 30) mod 20, (bl_x * 128 + th_x) mod 30",
        "th_x in [0, 127], th_y in [0, 0], th_z in [0, 0], bl_x in [0, 46], bl_y in [0, 0], bl_z in [0, 0], "
        "chunk_id in [0, 0], unroll_id in [0, 0], bl_x * 128 + th_x in [0, 5999]",
    ),
    (
        "f32[42,10,20]",
        "66,128",
        "((bl_x * 16 + th_x floordiv 8) floordiv 25) mod 42, ((bl_x * 32 + th_x floordiv 4) floordiv 5) mod 10, "
        "(th_x + bl_x * 128) mod 20",
        "th_x in [0, 127], th_y in [0, 0], th_z in [0, 0], bl_x in [0, 65], bl_y in [0, 0], bl_z in [0, 0], "
        "chunk_id in [0, 0], unroll_id in [0, 0], th_x + bl_x * 128 in [0, 8399]",
    ),
]


@pytest.mark.parametrize(("output", "shape", "results", "domain"), UPSTREAM)
def test_threads_make_what_upstream_says_they_make(output: str, shape: str, results: str, domain: str) -> None:
    """The maps that XLA's tests of its loop and scatter emitters expect are the tool's, point by point: proved."""
    from hloproof.claims.operations.simplified import same_points

    heads = "(th_x, th_y, th_z, bl_x, bl_y, bl_z)[chunk_id, unroll_id]"
    claimed = parse_map(f"{heads} -> ({results}), domain: {domain}")
    own = thread_map(parse_launch(shape), array(output))
    assert {prove(p.obligation).verdict for p in same_points(own, claimed)} == {"proved"}
    wrong = parse_map(
        f"{heads} -> ({results.replace('mod 10', 'mod 9').replace(' * 128', ' * 127')}), domain: {domain}"
    )
    assert "refuted" in {prove(p.obligation).verdict for p in same_points(own, wrong)}


# A block of 32 x 4 threads turns a tile of 32 x 32: neighbours along th_x are neighbours along the first dimension.
TURNED = (
    "(th_x, th_y, bl_x, bl_y)[i] -> (bl_x * 32 + th_x, bl_y * 32 + th_y + i * 4), "
    "domain: th_x in [0, 31], th_y in [0, 3], bl_x in [0, 1], bl_y in [0, 2], i in [0, 7]"
)
GIVEN = [
    (TURNED, 32, 32),
    (TURNED.replace("bl_x * 32 + th_x, bl_y * 32 + th_y", "bl_y * 16 + th_y, bl_x * 32 + th_x"), 32, 5),
    (TURNED, 64, 32),
    ("(th_x, bl_x) -> (bl_x, th_x), domain: th_x in [0, 95], bl_x in [0, 63]", 32, 4),
    ("(th_x, th_y) -> (th_y, th_x * 5), domain: th_x in [0, 9], th_y in [0, 20]", 32, 20),
    (
        "(th_x, bl_x)[i] -> (bl_x, i * 40 + th_x), domain: th_x in [0, 39], bl_x in [0, 63], i in [0, 2], "
        "i * 40 + th_x in [0, 95]",
        32,
        4,
    ),
]


@pytest.mark.parametrize(("text", "warp", "most"), GIVEN)
def test_threads_as_a_map_says(text: str, warp: int, most: int) -> None:
    launch = parse_thread_map(text, warp)
    output, threads = array("f32[64,96]"), launch.map
    assert threads is not None
    identity = parse_map("(d0, d1) -> (d0, d1), domain: d0 in [0, 63], d1 in [0, 95]")
    answer = warp_reads(identity, launch, output, output)
    inside = [i for i, v in enumerate(threads.dims) if v.name.startswith("th_")]
    listed: dict[tuple[object, ...], dict[int, int]] = {}
    for dims in product(*(range(v.interval.count) for v in threads.dims)):
        number, stride = 0, 1
        for i in inside:
            number, stride = number + dims[i] * stride, stride * threads.dims[i].interval.count
        block = tuple(x for i, x in enumerate(dims) if i not in inside)
        for values, element in reads(threads, dims):
            listed.setdefault((block, values, number // warp), {})[number % warp] = position_of(output, element)
    _agrees(
        answer.threads, [(lane, r[lane + 1] - at) for r in listed.values() for lane, at in r.items() if lane + 1 in r]
    )
    assert answer.sectors is not None and answer.sectors.exact
    assert answer.sectors.most == max(len({at // 8 for at in r.values()}) for r in listed.values()) == most


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--thread-map", TURNED, "--launch", "1,2"], "exclude"),
        (["--thread-map", "(d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 3]"], "th_x"),
        (["--thread-map", "(th_x) -> (th_x, th_x), domain: th_x in [1, 3]"], "count from 0"),
        (["--thread-map", "(th_x) -> (th_x), domain: th_x in [0, 3]"], "rank 2"),
        (["--thread-map", "(th_x) -> th_x"], "--thread-map"),
    ],
)
def test_wrong_thread_maps_are_refused(arguments: list[str], said: str, tmp_path: Path) -> None:
    from hloproof.commands.analyze import command

    path = tmp_path / "m.hlo"
    path.write_text(TRANSPOSED)
    done = CliRunner().invoke(command, [str(path), "--instruction", "t", *arguments])
    assert done.exit_code == 2 and said in done.output and "Traceback" not in done.output


def test_the_command_takes_a_thread_map(tmp_path: Path) -> None:
    from hloproof.commands.analyze import command

    path = tmp_path / "m.hlo"
    path.write_text(TRANSPOSED)
    told = CliRunner().invoke(command, [str(path), "--instruction", "t", "--thread-map", TURNED]).output
    assert "output 0 by 6 blocks of 128 threads, 1 element each, 8 times: (th_x, th_y, bl_x, bl_y)[i]" in told
    assert "neighbouring threads: contiguous (proved)" in told and "at most 4 sectors of 32 bytes (reached" in told
