"""Fusions in the buffer of an operand: what XLA miscompiles is refuted with the two elements, its sound twin proved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pytest

from hloproof.pipeline.driver import check_hlo
from hloproof.pipeline.options import Options


def _module(body: str, given: str, result: str = "f32[8]", rest: str = "", shape: str = "f32[8]") -> str:
    return (
        f"HloModule m, is_scheduled=true\nfused {{\n{body}}}\nENTRY e {{\n x = {shape} parameter(0)\n"
        f" i = s32[] parameter(1)\n c = {shape} copy(x)\n d = f32[2,4] bitcast(c)\n"
        f" ROOT f = {result} fusion({given}), kind=kLoop, calls=fused{rest}\n}}\n"
    ).replace(" d = f32[2,4] bitcast(c)\n", " d = f32[2,4] bitcast(c)\n" if "d" in given else "")


def _twice(start: int) -> str:
    """One buffer for both parameters: elements 0 to 3 of the one go into the other."""
    return _module(
        " p = f32[8] parameter(0)\n q = f32[8] parameter(1)\n s = f32[4] slice(q), slice={[0:4]}\n"
        f" k = s32[] constant({start})\n ROOT u = f32[8] dynamic-update-slice(p, s, k)\n",
        "c, c",
    )


def _bitcast_twice(start: int) -> str:
    """The same, the second time as two rows of four."""
    return _module(
        " p = f32[8] parameter(0)\n q = f32[2,4] parameter(1)\n s = f32[1,4] slice(q), slice={[0:1],[0:4]}\n"
        f" t = f32[4] reshape(s)\n k = s32[] constant({start})\n ROOT u = f32[8] dynamic-update-slice(p, t, k)\n",
        "c, d",
    )


def _declared(text: str) -> str:
    return _module(
        f" p = f32[8] parameter(0)\n ROOT r = f32[8] {text}\n", "c", rest=", output_to_operand_aliasing={{}: (0, {})}"
    )


def _through_bitcast(more: str, value: str, target: str = "bitcast(p)") -> str:
    """A column of a matrix that is a bitcast of the parameter, computed from the parameter."""
    return _module(
        f" p = f32[4,1,4] parameter(0)\n b = f32[4,4] {target}\n"
        " s = f32[4,1,1] slice(p), slice={[0:4],[0:1],[1:2]}\n r = f32[4,1] reshape(s)\n"
        f"{more} z = s32[] constant(0)\n o = s32[] constant(1)\n"
        f" ROOT u = f32[4,4] dynamic-update-slice(b, {value}, z, o)\n",
        "c",
        "f32[4,4]",
        shape="f32[4,1,4]",
    )


_ROW: Final = (
    " s2 = f32[1,1,4] slice(p), slice={[0:1],[0:1],[0:4]}\n r2 = f32[4,1] reshape(s2)\n a = f32[4,1] add(r, r2)\n"
)
_CHAIN: Final = " b1 = f32[16] bitcast(p)\n b2 = f32[2,8] bitcast(b1)\n b3 = f32[4,4] bitcast(b2)\n"


def _at(write: str, read: str, computed: str, size: int = 3) -> str:
    """Elements at a start are read and, negated, written at another."""
    return _module(
        f" p = f32[8] parameter(0)\n i = s32[] parameter(1)\n one = s32[] constant(1)\n j = s32[] {computed}\n"
        f" s = f32[{size}] dynamic-slice(p, {read}), dynamic_slice_sizes={{{size}}}\n n = f32[{size}] negate(s)\n"
        f" ROOT u = f32[8] dynamic-update-slice(p, n, {write})\n",
        "c, i",
    )


PAIRS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "one buffer twice": (_twice(2), (_twice(4), _twice(0))),
    "one buffer twice, as a bitcast": (_bitcast_twice(2), (_bitcast_twice(4), _bitcast_twice(0))),
    "a declared alias": (_declared("reverse(p), dimensions={0}"), (_declared("negate(p)"),)),
    "an update of a bitcast": (
        _through_bitcast(_ROW, "a"),
        (
            _through_bitcast("", "r"),
            _through_bitcast(" n = f32[4,1] negate(r)\n", "n"),
            _through_bitcast(_CHAIN, "r").replace("dynamic-update-slice(b,", "dynamic-update-slice(b3,"),
        ),
    ),
    "a computed start": (
        _at("j", "i", "add(i, one)"),
        (
            _at("j", "j", "add(i, one)"),
            _at("j", "i", "copy(i)"),
            _at("j", "i", "add(i, one)", size=1),
            _at("j", "j", "multiply(i, i)"),
        ),
    ),
}


def _verdicts(text: str) -> dict[str, tuple[str, str]]:
    found = [r for r in check_hlo(text, Options(jobs=1)).records() if r.claim.startswith("hazard")]
    return {r.claim: (r.verdict.value, r.counterexample or r.reason or "") for r in found if r.instruction == "f"}


@pytest.mark.parametrize(("broken", "sound"), PAIRS.values(), ids=PAIRS)
def test_what_is_read_after_it_was_overwritten_is_told(broken: str, sound: tuple[str, ...]) -> None:
    verdict, words = _verdicts(broken)["hazard-in-place"]
    assert verdict == "refuted"
    assert "is computed from" in words
    assert "with element [" in words
    for text in sound:
        assert _verdicts(text)["hazard-in-place"][0] == "proved"


def test_the_two_elements_are_those_that_differ_on_the_machine() -> None:
    """As seen on a CPU: row 0 is read for the column that holds one of its elements."""
    _, words = _verdicts(_through_bitcast(_ROW, "a"))["hazard-in-place"]
    assert "element [1, 1] of f is computed from p[0, 0, 1]" in words


def test_a_start_that_wraps_round_is_not_the_next_element() -> None:
    """i + 1 past the largest number is the smallest, so that the window lies at 0 and what is read at 7."""
    text = _at("j", "i", "add(i, one)").replace("dynamic-slice(p, i)", "dynamic-slice(q, i)")
    text = text.replace(" p = f32[8] parameter(0)\n", " p = f32[8] parameter(0)\n q = f32[8] negate(p)\n")
    assert _verdicts(text)["hazard-in-place"][0] == "refuted"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (_at("j", "i", "multiply(i, i)"), "is computed: not followed"),
        (_through_bitcast(_ROW, "a", "reshape(p)"), "whether it works in place"),
    ],
)
def test_what_is_not_followed_is_unknown(text: str, why: str) -> None:
    verdict, words = _verdicts(text)["hazard-in-place"]
    assert verdict == "unknown"
    assert why in words


def test_a_reshape_that_reads_what_it_overwrites_itself_is_proved() -> None:
    assert _verdicts(_through_bitcast("", "r", "reshape(p)"))["hazard-in-place"][0] == "proved"


def test_a_start_that_is_read_from_the_buffer_that_is_written_is_unknown() -> None:
    text = _module(
        " p = s32[8] parameter(0)\n s = s32[1] slice(p), slice={[0:1]}\n k = s32[] reshape(s)\n"
        " v = s32[2] constant({1,2})\n ROOT u = s32[8] dynamic-update-slice(p, v, k)\n",
        "c",
        "s32[8]",
        shape="s32[8]",
    )
    assert _verdicts(text)["hazard-in-place"][0] == "unknown"
