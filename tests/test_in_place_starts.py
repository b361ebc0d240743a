"""Where an update in place begins, by numbers that are read, named and computed inside of a fusion."""

from __future__ import annotations

from typing import Final

import pytest

from hloproof.claims.asynchronous import judge
from hloproof.models.hlo.parser import parse_module

_INNER: Final = (
    "inner {\n p = f32[8] parameter(0)\n j = s32[] parameter(1)\n one = s32[] constant(BY)\n NAME = s32[] add(j, one)\n"
    " ROOT s = f32[2] dynamic-slice(p, NAME), dynamic_slice_sizes={2}\n}\n"
)


def _found(body: str, given: str, others: str = "", size: int = 8) -> set[str]:
    """The verdicts on a fusion that updates a copy of its first operand."""
    entry = f" x0 = f32[{size}] parameter(0)\n t = {given} parameter(1)\n x = f32[{size}] copy(x0)\n"
    text = (
        f"HloModule m, is_scheduled=true\n{others}fused {{\n p = f32[{size}] parameter(0)\n{body}}}\n"
        f"ENTRY e {{\n{entry} ROOT f = f32[{size}] fusion(x, t), kind=kLoop, calls=fused\n}}\n"
    )
    found = judge(parse_module(text), lambda claim: claim == "hazard-in-place", lambda _: False)
    return {str(j.found.verdict) for j in found}


@pytest.mark.parametrize("name", ["k", "kk"])
def test_a_start_in_a_nested_fusion_is_not_one_of_the_same_name_outside(name: str) -> None:
    """The one is a parameter, and the other one is computed from it."""
    body = " k = s32[] parameter(1)\n q = f32[2] fusion(p, k), kind=kLoop, calls=inner\n"
    body += " ROOT d = f32[8] dynamic-update-slice(p, q, k)\n"
    inner = _INNER.replace("NAME", name).replace("BY", "1")
    assert _found(body, "s32[]", inner) == {"unknown"}


def test_nor_is_it_a_constant_of_the_same_name() -> None:
    body = " t = s32[] parameter(1)\n k = s32[] constant(2)\n q = f32[2] fusion(p, t), kind=kLoop, calls=inner\n"
    body += " ROOT d = f32[8] dynamic-update-slice(p, q, k)\n"
    assert _found(body, "s32[]", _INNER.replace("NAME", "k").replace("BY", "1")) == {"unknown"}


_BITCAST: Final = (
    " t = s32[2,2]{LAYOUT} parameter(1)\n b = s32[4]{0} bitcast(t)\n k1 = s32[1] slice(b), slice={[1:2]}\n"
    " k = s32[] reshape(k1)\n l1 = s32[1,1]{LAYOUT} slice(t), slice={[0:1],[1:2]}\n l = s32[] reshape(l1)\n"
    " q = f32[2] dynamic-slice(p, l), dynamic_slice_sizes={2}\n ROOT d = f32[8] dynamic-update-slice(p, q, k)\n"
)


@pytest.mark.parametrize(("layout", "verdict"), [("0,1", "unknown"), ("1,0", "proved")])
def test_what_a_bitcast_moves_is_followed_in_row_major_order_alone(layout: str, verdict: str) -> None:
    assert _found(_BITCAST.replace("LAYOUT", layout), f"s32[2,2]{{{layout}}}") == {verdict}


@pytest.mark.parametrize(("narrow", "verdict"), [("s8", "refuted"), ("s64", "proved")])
def test_a_start_that_was_narrower_meanwhile_has_wrapped(narrow: str, verdict: str) -> None:
    body = (
        f" k = s32[] parameter(1)\n a = {narrow}[] convert(k)\n l = s32[] convert(a)\n"
        " q = f32[2] dynamic-slice(p, l), dynamic_slice_sizes={2}\n ROOT d = f32[512] dynamic-update-slice(p, q, k)\n"
    )
    assert _found(body, "s32[]", size=512) == {verdict}


_SUM: Final = "sum {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b)\n}\n"


@pytest.mark.parametrize(("by", "verdict"), [(1, "refuted"), (4, "proved")])
def test_two_numbers_of_one_array_differ_where_their_places_do(by: int, verdict: str) -> None:
    """What is read for one place may lie where another one is written."""
    numbers = {"three": 3, "zero": 0, "by": by}
    body = " t = s32[4] parameter(1)\n" + "".join(
        f" {n}0 = s32[] constant({v})\n {n} = s32[4] broadcast({n}0), dimensions={{}}\n" for n, v in numbers.items()
    )
    body += (
        " most = s32[4] minimum(t, three)\n at = s32[4] maximum(most, zero)\n next = s32[4] add(at, by)\n"
        " g = f32[4] gather(p, next), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, "
        "index_vector_dim=1, slice_sizes={1}\n"
        " ROOT d = f32[8] scatter(p, at, g), update_window_dims={}, inserted_window_dims={0}, "
        "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum\n"
    )
    assert _found(body, "s32[4]", _SUM) == {verdict}
