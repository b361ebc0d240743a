"""What a body ignores is not read: sort, map and scatter, beside their twins whose bodies use everything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pytest

from hloproof.models.hlo.parser import parse_module
from hloproof.pipeline.driver import check_hlo
from hloproof.pipeline.options import Options
from hloproof.queries.indexing import answer

_FOUR: Final = " a = f32[] parameter(0)\n b = f32[] parameter(1)\n c = f32[] parameter(2)\n d = f32[] parameter(3)\n"
_TWO: Final = " a = f32[] parameter(0)\n b = f32[] parameter(1)\n"


def _module(body: str, root: str) -> str:
    given = " x = f32[4] parameter(0)\n y = f32[4] parameter(1)\n i = s32[2,1] parameter(2)\n"
    given += " u = f32[2] parameter(3)\n v = f32[2] parameter(4)\n"
    return f"HloModule m\nbody {{\n{body}}}\nENTRY e {{\n{given} ROOT r = {root}, to_apply=body\n}}\n"


def _sort(comparator: str) -> str:
    return _module(_FOUR + comparator, "(f32[4], f32[4]) sort(x, y), dimensions={0}")


def _map(body: str) -> str:
    return _module(_TWO + body, "f32[4] map(x, y), dimensions={0}")


_DIMS: Final = "update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1"


def _scatter(body: str) -> str:
    return _module(_TWO + body, f"f32[4] scatter(x, i, u), {_DIMS}")


def _scatters(body: str) -> str:
    return _module(_FOUR + body, f"(f32[4], f32[4]) scatter(x, y, i, u, v), {_DIMS}")


_BY_KEY: Final = " ROOT r = pred[] compare(a, b), direction=LT\n"
_BY_BOTH: Final = (
    " k = pred[] compare(a, b), direction=LT\n l = pred[] compare(c, d), direction=LT\n ROOT r = pred[] and(k, l)\n"
)
_APART: Final = " s = f32[] add(a, c)\n t = f32[] add(b, d)\n ROOT r = (f32[], f32[]) tuple(s, t)\n"
_CROSSED: Final = " s = f32[] add(a, c)\n t = f32[] add(a, d)\n ROOT r = (f32[], f32[]) tuple(s, t)\n"

READS: Final[Mapping[str, tuple[str, int, tuple[tuple[int, str], ...]]]] = {
    "keys do not read a payload": (_sort(_BY_KEY), 0, ((0, "reads"),)),
    "a payload reads the keys": (_sort(_BY_KEY), 1, ((0, "reads"), (1, "reads"))),
    "keys that are compared together": (_sort(_BY_BOTH), 0, ((0, "reads"), (1, "reads"))),
    "map by one operand": (_map(" ROOT r = f32[] negate(b)\n"), 0, ((1, "reads"),)),
    "map by both": (_map(" ROOT r = f32[] add(a, b)\n"), 0, ((0, "reads"), (1, "reads"))),
    "an overwriting scatter": (_scatter(" ROOT r = f32[] copy(b)\n"), 0, ((0, "bound"), (1, "reads"), (2, "reads"))),
    "an adding scatter": (_scatter(" ROOT r = f32[] add(a, b)\n"), 0, ((0, "reads"), (1, "reads"), (2, "reads"))),
    "a scatter that drops its updates": (_scatter(" ROOT r = f32[] copy(a)\n"), 0, ((0, "reads"), (1, "reads"))),
    "two scatters in one": (_scatters(_APART), 0, ((0, "reads"), (2, "reads"), (3, "reads"))),
    "two scatters of which one sees the other": (
        _scatters(_CROSSED),
        1,
        ((0, "bound"), (1, "bound"), (2, "reads"), (3, "reads"), (4, "reads")),
    ),
}


@pytest.mark.parametrize(("text", "output", "expected"), READS.values(), ids=READS)
def test_an_operand_is_read_where_the_body_needs_it(
    text: str, output: int, expected: tuple[tuple[int, str], ...]
) -> None:
    found = answer(parse_module(text), "r", output=output)
    assert tuple((s.operand, s.kind) for s in found if s.maps) == expected


@pytest.mark.parametrize("text", [t for t, _, _ in READS.values()], ids=READS)
def test_the_maps_meet_their_definitions(text: str) -> None:
    verdicts = {r.claim: r.verdict.value for r in check_hlo(text, Options(jobs=1)).records() if r.instruction == "r"}
    assert set(verdicts.values()) <= {"proved"}
    assert {"definition", "converse"} <= verdicts.keys()


@pytest.mark.parametrize("direction", ["input-to-output"])
def test_both_directions_agree(direction: str) -> None:
    module = parse_module(_sort(_BY_KEY))
    assert [s.operand for s in answer(module, "r", direction, input=1) if s.maps] == [1]
    assert [s.operand for s in answer(module, "r", direction, input=0) if s.maps] == [0, 1]
