"""A point refutes a map only where some contents of the arrays give it: two variables that read one element hold one
value, however it is written where they read."""

from __future__ import annotations

import pytest
from claimed_in_modules import checked

from hloproof.claims.maps.defined import UndefinedMap
from hloproof.claims.maps.rewrite import rewrite
from hloproof.models.maps.text import parse_map

ROW = "domain: d0 in [0, 2]"
Q = f"{ROW}, q in [0, 3]"
HERE = f"a; (d0) -> (d0), {ROW}"


def read(one: str, other: str, result: str, more: str = "") -> str:
    return (
        f"(d0){{rt0, rt1}} -> ({result}), {ROW}, rt0 in [0, 3], rt1 in [0, 3]{more}\n"
        f"runtime variables:\nrt0: {one}\nrt1: {other}"
    )


def of_device(device: str) -> str:
    return f"{HERE}; replica id: (d0) -> ({device}), {ROW}"


def of_read_device(device: str) -> str:
    return f"a; (d0){{q}} -> (d0), {Q}; replica id: (d0){{q}} -> ({device}), {Q}; reading {{q = b; (d0) -> (), {ROW}}}"


P = f"{ROW}, p in [0, 7]"
OWN = f"a; (d0){{p}} -> (d0), {P}; replica id: (d0){{p}} -> (p), {P}; reading {{p = reader}}"
DIVIDED = "10 floordiv rt0"
POSITIVE = ", rt1 in [1, 3]"
ONE_ELEMENT = {
    "of one device": read(of_device("0"), of_device("d0 - d0"), DIVIDED, POSITIVE),
    "of one device, where they are apart": read(of_device("0"), of_device("d0 - d0"), "10 floordiv (rt0 - rt1 + 1)"),
    "of the own place, in words and not": read(OWN, HERE, DIVIDED, POSITIVE),
    "of one device that is read": read(of_read_device("q"), of_read_device("q * 2 - q"), DIVIDED, POSITIVE),
}
TWO_ELEMENTS = {
    "of two devices": read(of_device("0"), of_device("1"), DIVIDED, POSITIVE),
    "of devices that are read": read(of_read_device("q"), of_read_device("3 - q"), DIVIDED, POSITIVE),
}


@pytest.mark.parametrize("text", ONE_ELEMENT.values(), ids=ONE_ELEMENT)
def test_no_point_is_told_that_no_contents_give(text: str) -> None:
    m = parse_map(text)
    assert rewrite(m, m).verdict != "refuted"


@pytest.mark.parametrize("text", TWO_ELEMENTS.values(), ids=TWO_ELEMENTS)
def test_a_point_is_told_that_some_contents_give(text: str) -> None:
    m = parse_map(text)
    with pytest.raises(UndefinedMap, match="division by zero possible: rt0 is 0 at "):
        rewrite(m, m)


SUM = "x = s32[4] parameter(0)\ny = s32[4] parameter(1)\nROOT r = s32[4] add(x, y)"


@pytest.mark.parametrize(
    ("one", "other", "verdict"),
    [("d0 floordiv (d0 + 1)", "0", "unknown"), ("d0", "3 - d0", "refuted"), ("d0, d0", "d0, d0", "refuted")],
)
def test_what_is_read_beside_an_operation_is_one_value_at_one_element(one: str, other: str, verdict: str) -> None:
    row = "domain: d0 in [0, 3]"
    found = checked(
        SUM,
        f"output-to-input 0 (d0){{rt0, rt1}} -> (d0 + rt0 - rt1), {row}, rt0 in [-9, 9], rt1 in [-9, 9]\n"
        f"    runtime variables:\n    rt0: operand(1); (d0) -> ({one}), {row}\n"
        f"    rt1: operand(1); (d0) -> ({other}), {row}",
    )
    assert found.verdict == verdict


SIZED = "y = s32[<=4] set-dimension-size(y0, c), dimensions={0}\nROOT r = s32[<=8] concatenate(x, y), dimensions={0}"


@pytest.mark.parametrize(
    ("array", "verdict"),
    [
        (f"y0 = s32[4] parameter(1)\nc = s32[] constant(3)\n{SIZED}", "unknown"),
        ("y = s32[<=4] parameter(1)\nROOT r = s32[<=8] concatenate(x, y), dimensions={0}", "refuted"),
    ],
)
def test_an_array_that_is_made_may_have_one_size_only(array: str, verdict: str) -> None:
    found = checked(
        f"x = s32[4] parameter(0)\n{array}",
        "output-to-input 0 (d0){rt0} -> (d0), domain: d0 in [0, 3], rt0 in [2, 4], rt0 in [3, 3]\n"
        "    runtime variables:\n    rt0: sizes(operand(1)); (d0) -> (0), domain: d0 in [0, 3]",
    )
    assert found.verdict == verdict


def test_a_size_is_no_element_of_its_array() -> None:
    """y[0] may be anything, and so the map may speak nowhere."""
    found = checked(
        "x = s32[<=4] parameter(0)\ny = s32[<=4] parameter(1)\nROOT r = s32[<=4] add(x, y)",
        "output-to-input 0 (d0){rt0, rt1} -> (d0), domain: d0 in [0, 3], rt0 in [0, 4], rt1 in [0, 4], "
        "rt0 - rt1 in [0, 0]\n    runtime variables:\n    rt0: sizes(operand(1)); (d0) -> (0), domain: d0 in [0, 3]\n"
        "    rt1: operand(1); (d0) -> (0), domain: d0 in [0, 3]",
    )
    assert found.verdict == "unknown"


ROW4 = "domain: d0 in [0, 3]"


@pytest.mark.parametrize(
    ("text", "clause", "verdict"),
    [
        (  # constants are what they are
            "x = s32[4] parameter(0)\ny = s32[4] constant({5, 5, 5, 5})\nROOT r = s32[4] add(x, y)",
            f"(d0){{rt0}} -> (d0 + rt0 - 5), {ROW4}, rt0 in [-9, 9]\n"
            f"    runtime variables:\n    rt0: operand(1); (d0) -> (d0), {ROW4}",
            "unknown",
        ),
        (  # and what is computed may be one number only
            "x = s32[4] parameter(0)\nz = s32[4] parameter(1)\ny = s32[4] subtract(z, z)\nROOT r = s32[4] add(x, y)",
            f"(d0){{rt0}} -> (d0 + rt0), {ROW4}, rt0 in [-9, 9]\n"
            f"    runtime variables:\n    rt0: operand(1); (d0) -> (d0), {ROW4}",
            "unknown",
        ),
        (
            "x = s32[4] parameter(0)\ny = s32[4] parameter(1)\nROOT r = s32[4] add(x, y)",
            f"(d0){{rt0}} -> (d0 + rt0), {ROW4}, rt0 in [-9, 9]\n"
            f"    runtime variables:\n    rt0: operand(1); (d0) -> (d0), {ROW4}",
            "refuted",
        ),
        (  # a start that is made of an iota
            "x = f32[4] parameter(0)\ni = s32[4] iota(), iota_dimension=0\nROOT r = f32[4] gather(x, i), "
            "offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}",
            f"(d0) -> (d0), {ROW4}",
            "unknown",
        ),
        (
            "x = f32[4] parameter(0)\ni = s32[4] parameter(1)\nROOT r = f32[4] gather(x, i), "
            "offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}",
            f"(d0) -> (d0), {ROW4}",
            "refuted",
        ),
    ],
)
def test_what_is_not_given_may_not_be_anything(text: str, clause: str, verdict: str) -> None:
    assert checked(text, f"output-to-input 0 {clause}").verdict == verdict


@pytest.mark.parametrize(("other", "verdict"), [("x", "unknown"), ("y", "refuted")])
def test_one_array_that_is_chosen_twice_holds_one_value(other: str, verdict: str) -> None:
    found = checked(
        "g = pred[4] parameter(0)\nx = s32[4] parameter(1)\ny = s32[4] parameter(2)\n"
        f"ROOT r = s32[4] select(g, x, {other})",
        f"output-to-input 1 (d0){{rt0, rt1}} -> (d0 + rt0 - rt1), {ROW4}, rt0 in [-9, 9], rt1 in [-9, 9]\n"
        f"    runtime variables:\n    rt0: operand(1); (d0) -> (0), {ROW4}\n    rt1: operand(2); (d0) -> (0), {ROW4}",
    )
    assert found.verdict == verdict


def test_a_pair_is_not_one_because_some_value_would_make_it_one() -> None:
    """Of y = [1, 0] no element that is read twice is even and odd."""
    found = checked(
        "x = s32[4] parameter(0)\ny = s32[4] parameter(1)\nROOT r = s32[4] add(x, y)",
        "output-to-input 0 (d0)[s0]{rt0} -> (d0), domain: d0 in [0, 3], s0 in [0, 1], rt0 in [0, 9], "
        "s0 - rt0 mod 2 in [0, 0]\n    runtime variables:\n"
        "    rt0: operand(1); (d0)[s0] -> (s0), domain: d0 in [0, 3], s0 in [0, 1]",
    )
    assert found.verdict == "unknown"


@pytest.mark.parametrize(
    ("size", "result", "interval", "verdict"),
    [
        (5, "d0", "1, 3", "proved"),
        (5, "d0 + rt0 - rt0", "-2, -1", "proved"),
        (5, "d0 + rt0 floordiv 4", "1, 3", "proved"),
        (5, "d0 + rt0", "1, 3", "refuted"),
        (8, "d0", "10, 12", "refuted"),
        (8, "d0 + rt0", "10, 12", "refuted"),
        (8, "d0 + rt0 - 9", "10, 12", "refuted"),
        (8, "d0 + rt0", "0, 3", "proved"),
    ],
)
def test_a_start_that_is_cut_to_what_the_operation_never_reads(
    size: int, result: str, interval: str, verdict: str
) -> None:
    """It is another value than that of the operation, which may matter or not."""
    row = "domain: d0 in [0, 4]"
    found = checked(
        f"x = f32[{size}] parameter(0)\ni = s32[] parameter(1)\n"
        "ROOT r = f32[5] dynamic-slice(x, i), dynamic_slice_sizes={5}",
        f"output-to-input 0 (d0){{rt0}} -> ({result}), {row}, rt0 in [{interval}]\n"
        f"    runtime variables:\n    rt0: operand(1); (d0) -> (), {row}",
    )
    assert found.verdict == verdict


def test_what_says_where_may_be_cut_in_two_ways_that_have_nothing_in_common() -> None:
    """One number read for both places, cut to 1 for the first and to 5 for the second: two elements."""

    def by(low: int, high: int) -> str:
        return f"a; (d0){{q}} -> (q), {ROW}, q in [{low}, {high}]; reading {{q = b; (d0) -> (d0), {ROW}}}"

    m = parse_map(read(by(0, 1), by(5, 7), DIVIDED, POSITIVE))
    with pytest.raises(UndefinedMap, match="division by zero possible: rt0 is 0 at "):
        rewrite(m, m)
