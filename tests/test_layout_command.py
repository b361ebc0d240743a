"""`hloproof layout`, the server's method of the same name, and the pictures."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from hloproof.cli import run
from hloproof.models.errors import InputError, NotModelled
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.hlo.text.shapes import parse_shape
from hloproof.queries.layouts import answer, compared
from hloproof.report.layout_svg import LIMIT, SliceTooLarge, draw


def array(text: str) -> ArrayShape:
    shape = parse_shape(text)
    assert isinstance(shape, ArrayShape)
    return shape


def test_the_answer_of_the_document() -> None:
    found = answer("F32[3,5]{1,0:T(2,2)}", index=(2, 3))
    keys = ("shape", "physical_dimensions", "linear_index", "elements", "padding", "verdict")
    assert {k: found[k] for k in keys} == {
        "shape": "f32[3,5]{1,0:T(2,2)}",
        "physical_dimensions": [3, 5],
        "linear_index": 17,
        "elements": 15,
        "padding": 9,
        "verdict": "proved",
    }
    assert [o["claim"] for o in found["obligations"]] == [
        "one-to-one",
        "inside",
        "onto",
        "inverse",
        "padding",
        "two-readings",
        "contiguous",
        "contiguous",
    ]
    assert all(o["verdict"] == "proved" for o in found["obligations"])
    assert found["contiguous"] == [
        {"dimension": 0, "run": 2, "stride": 2, "bits": 32},
        {"dimension": 1, "run": 2, "stride": 1, "bits": 64},
    ]
    assert found["replication"] == 1
    json.dumps(found)


def test_positions_and_padding() -> None:
    assert answer("f32[8]{0:T(2,2)}", linear_index=9)["index"] == [5]
    assert answer("f32[8]{0:T(2,2)}", linear_index=10)["index"] is None
    split = answer("f32[8]{0:SC(0:3)}", index=(4,))
    assert (split["part"], split["linear_index"]) == (1, 1)


@pytest.mark.parametrize(
    ("text", "index", "linear", "error"),
    [
        ("f32[3,5]", (3, 0), None, ValueError),
        ("f32[3,5]", (1,), None, ValueError),
        ("f32[3,5]", None, 15, ValueError),
        ("f32[?]", (1,), None, LookupError),
        ("(f32[2], s32[])", (1,), None, LookupError),
        ("token[]", None, None, LookupError),
        ("f32[3", None, None, InputError),
    ],
)
def test_what_cannot_be_asked(
    text: str, index: tuple[int, ...] | None, linear: int | None, error: type[Exception]
) -> None:
    with pytest.raises(error):
        answer(text, index, linear)


def test_tuples_are_answered_leaf_by_leaf() -> None:
    found = answer("(f32[3], (s4[7]{0:E(4)}, token[]))")
    assert [(leaf["path"], leaf["elements"], leaf["transfer_bytes"]) for leaf in found["leaves"]] == [
        ([0], 3, 12),
        ([1, 0], 7, 4),
    ]
    assert (found["elements"], found["verdict"]) == (10, "proved")


def test_assumptions_are_told() -> None:
    assert answer("f32[3]")["assumptions"] == ["no layout is given: row-major, without tiles"]
    assert answer("f32[<=3]{0}")["assumptions"] == ["dynamic dimensions take the space of their bound"]
    sparse = answer("f32[8,8]{1,0:D(D,C)}")
    assert (sparse["verdict"], sparse["reason"]) == ("unknown", "not modelled: the positions of a sparse array")


def test_what_lies_before_the_data_is_told() -> None:
    assert "8 bytes of metadata, M(8)" in " ".join(answer("f32[<=4]{0:M(8)}")["assumptions"])
    assert "metadata" not in " ".join(answer("f32[<=4]{0}")["assumptions"])


def test_comparison() -> None:
    found = compared("f32[3,5]{1,0:T(2,2)}", "f32[3,5]{0,1}")
    assert (found["verdict"], found["bitcast"]) == ("refuted", "refuted")
    assert compared("f32[5,1]{1,0}", "f32[5,1]{0,1}")["verdict"] == "proved"
    assert compared("f32[8]", "s32[8]")["verdict"] == "proved"
    torn = compared("f32[8]", "bf16[8]")
    assert (torn["verdict"], [o["verdict"] for o in torn["obligations"][:2]]) == ("refuted", ["proved", "refuted"])
    moved = compared("f32[16,3,17]{1,2,0}", "f32[16,51]{0,1}")
    assert (moved["verdict"], moved["decomposition"]["reshaped"]) == ("proved", "f32[51,16]{1,0}")


@pytest.mark.parametrize(
    ("arguments", "status", "told"),
    [
        (
            ["bf16[16,1023,1025]{2,1,0:T(8,128)(2,1)}", "--index", "3,17,5", "--linear", "12345"],
            0,
            ["18,874,368", "position 3,557,387, bit 56,918,192", "index [0, 9, 412]"],
        ),
        (["f32[3,5]{1,0:T(2,2)}", "--compare", "f32[3,5]"], 1, ["element [0, 2] lies at position 4"]),
        (["f32[8]", "--compare", "bf16[8]"], 1, ["takes 256 bits of memory, bf16[8] takes 128"]),
        (["f32[8]", "--compare", "s32[8]"], 0, ["compared with s32[8]"]),
        (["f32[?,?]{1,0:T(8,128)(2,1)}"], 0, ["for all sizes"]),
        (["u32[]{:T(128)}", "--index", ""], 0, ["position 0"]),
        (["f32[8,8]{1,0:D(D,C)}"], 3, ["not modelled"]),
        (["(f32[2], s32[])"], 0, ["{0}", "{1}"]),
        (
            ["f32[3,5]{1,0:T(2,2)}", "--maps"],
            0,
            ["index-to-position: (d0, d1) -> (", "position-to-index: (d0) -> (", "d0 in [0, 23]"],
        ),
        (["f32[8]{0:SC(0:3)}", "--maps"], 0, ["position-to-index: not modelled: "]),
    ],
)
def test_command(arguments: list[str], status: int, told: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["layout", *arguments]) == status
    out = capsys.readouterr().out
    for words in told:
        assert words in out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["f32[3,5]{1,1}"], "no permutation"),
        (["f32[3,5]", "--index", "3,3"], "outside of the shape"),
        (["f32[3,5]", "--index", "a"], "expected numbers"),
        (["f32[3,5]", "--linear", "15"], "outside of the memory"),
        (["token[]"], "no elements in memory"),
        (["f32[3,5]", "--svg", "/nowhere/at/all.svg"], "/nowhere/at/all.svg"),
    ],
)
def test_bad_usage(arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["layout", *arguments]) == 2
    assert told in capsys.readouterr().err


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["layout", "f32[3,5]{1,0:T(2,2)}", "--compare", "f32[3,5]", "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["compare"]["obligations"][0]["verdict"] == "refuted"


# Pictures


def numbers(svg: str) -> list[str]:
    root = ElementTree.fromstring(svg)
    texts = [e.text or "" for e in root.iter("{http://www.w3.org/2000/svg}text")]
    return [t for t in texts if t.isdecimal()]


@pytest.mark.parametrize(
    ("text", "array_first"),
    [
        ("f32[3,5]{1,0:T(2,2)}", ["0", "1", "4", "5", "8", "2", "3", "6", "7", "10", "12", "13", "16", "17", "20"]),
        ("f32[2,3]{0,1}", ["0", "1", "2", "3", "4", "5"]),
        ("u32[]{:T(8)}", ["0"]),
        ("f32[5]{0:T(4)}", ["0", "1", "2", "3", "4"]),
    ],
)
def test_pictures_number_every_element_twice(text: str, array_first: list[str]) -> None:
    found = numbers(draw(array(text)))
    assert found[: len(array_first)] == array_first
    assert found[len(array_first) :] == sorted(array_first, key=int)  # memory, in order


def test_inner_tiles_are_outlined() -> None:
    plain = draw(array("bf16[4,8]{1,0:T(2,4)}"))
    inner = draw(array("bf16[4,8]{1,0:T(2,4)(2,1)}"))
    assert "#c62828" not in plain
    assert inner.count("#c62828") == 32  # 16 in the array, 16 in memory


def test_slices_of_higher_rank() -> None:
    first, second = draw(array("f32[2,3,4]")), draw(array("f32[2,3,4]"), (1,))
    assert numbers(first)[0] == "0"
    assert numbers(second)[0] == "12"
    assert "[1, :, :]" in second
    with pytest.raises(ValueError, match="outside"):
        draw(array("f32[2,3,4]"), (2,))


def test_large_pictures_are_cut_at_whole_tiles() -> None:
    svg = draw(array("bf16[16,1023,1025]{2,1,0:T(8,128)(2,1)}"))
    assert "the first 32 of 1023 by 128 of 1025" in svg
    assert len(numbers(svg)) == 2 * LIMIT
    with pytest.raises(SliceTooLarge):
        draw(array("f32[100000]{0:T(100000)}"))
    with pytest.raises(NotModelled):
        draw(array("f32[0]"))


def test_svg_file(tmp_path: Path) -> None:
    path = tmp_path / "figure.svg"
    assert run(["layout", "f32[3,5]{1,0:T(2,2)}", "--svg", str(path)]) == 0
    assert ElementTree.parse(path).getroot().tag.endswith("svg")
