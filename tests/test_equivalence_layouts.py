"""Layouts are no part of what is computed, but where bytes are handed to who knows them by their places: two calls, or
two exchanges with another program, that differ in one part of a layout are two."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from red_pairs import entry, one, proved, unproved

from hloproof.equivalence import decide
from hloproof.models.hlo.parser import parse_module


def demanded(kind: str, demands: str, given: str, result: str = "f32[8]{0}") -> str:
    return one(
        f"{kind}{given}",
        f'ROOT r = {result} custom-call(p), custom_call_target="f", operand_layout_constraints={{{kind}{demands}}}',
    )


OF_BYTES = {
    "the bits of an element": ("s4[8]", "{0:E(4)}"),
    "room behind": ("f32[8]", "{0:L(16)}"),
    "parts": ("f32[8]", "{0:SC(0:4)}"),
    "bytes in front": ("f32[8]", "{0:M(8)}"),
    "a sparse array": ("f32[8]", "{0:D(C)}"),
}


@pytest.mark.parametrize(("kind", "layout"), OF_BYTES.values(), ids=OF_BYTES)
def test_a_call_that_demands_a_layout_knows_all_of_it(kind: str, layout: str) -> None:
    unproved(demanded(kind, "{0}", ""), demanded(kind, layout, layout), "rounding")
    unproved(demanded("f32[8]", "{0}", "", f"{kind}{{0}}"), demanded("f32[8]", "{0}", "", kind + layout), "rounding")
    proved(demanded(kind, "{0}", ""), demanded(kind, "{0:S(1)}", "{0:S(1)}"), "exact")


def given_buffer(layout: str) -> str:
    return one(
        "f32[8]",
        f'b = b(f32[2,4]{layout}) custom-call(p), custom_call_target="f", operand_layout_constraints={{f32[8]{{0}}}}',
        'ROOT r = f32[8] custom-call(b), custom_call_target="g"',
    )


def test_a_buffer_that_a_call_gives_has_a_layout() -> None:
    unproved(given_buffer("{1,0}"), given_buffer("{0,1}"), "rounding")
    proved(given_buffer("{1,0}"), given_buffer(""), "exact")


def fed(layout: str) -> str:
    return entry(
        "t = token[] after-all()",
        f"i = ((f32[2,3]{layout}), token[]) infeed(t)",
        f"g = (f32[2,3]{layout}) get-tuple-element(i), index=0",
        f"ROOT r = f32[2,3]{layout} get-tuple-element(g), index=0",
    )


def handed(layout: str) -> str:
    return one(
        f"f32[2,3]{layout}",
        "t = token[] after-all()",
        f"s = (f32[2,3]{layout}, u32[], token[]) send(p, t), channel_id=1, is_host_transfer=true",
        "ROOT d = token[] send-done(s), channel_id=1, is_host_transfer=true",
    )


def taken(layout: str) -> str:
    return entry(
        "t = token[] after-all()",
        f"s = (f32[2,3]{layout}, u32[], token[]) recv(t), channel_id=1, is_host_transfer=true",
        f"d = (f32[2,3]{layout}, token[]) recv-done(s), channel_id=1, is_host_transfer=true",
        f"ROOT r = f32[2,3]{layout} get-tuple-element(d), index=0",
    )


@pytest.mark.parametrize("exchanged", [fed, handed, taken])
def test_what_another_program_gives_or_takes_lies_as_it_says(exchanged: Callable[[str], str]) -> None:
    unproved(exchanged("{1,0}"), exchanged("{0,1}"), "rounding")
    proved(exchanged("{1,0}"), exchanged(""), "exact")


def seen_as(layout: str) -> str:
    return one(f"f32[8]{layout}", "ROOT r = f32[2,4] bitcast(p)")


def test_a_bitcast_of_what_does_not_lie_side_by_side_is_not_modelled() -> None:
    proved(seen_as(""), seen_as("{0:S(1)}"), "exact")
    for layout in ("{0:D(C)}", "{0:M(8)}", "{0:L(16)}", "{0:SC(0:4)}", "{0:T(4)}"):
        module = parse_module(seen_as(layout))
        assert decide(module, module).reason.startswith("not modelled: a bitcast between layouts")


def told(literal: str) -> str:
    return one("f32[4]", f'ROOT r = f32[4] custom-call(p), custom_call_target="f", literal=s32[2] {literal}')


def test_a_literal_of_a_call_that_is_left_out_may_be_any() -> None:
    module = parse_module(told("{...}"))
    assert (
        decide(module, parse_module(told("{...}"))).reason == "not modelled: custom-call r, whose literal is left out"
    )
    unproved(told("{1,2}"), told("{1,3}"), "rounding")
    proved(told("{1,2}"), told("{1,2}"), "exact")
