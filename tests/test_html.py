"""HTML reports: what the cards hold, that hostile text stays text, and that a browser shows them without complaint."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import chromium
import pytest
from memory_cases import CHAIN, CHAIN_PLAN, changed
from report_sample import sample

from hloproof.cli import run
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.hlo.text.shapes import parse_shape
from hloproof.models.layouts.tiling import position_of
from hloproof.report.html.findings import page_of, pieces
from hloproof.report.html.flow import Arrow, draw, flow_of
from hloproof.report.html.layout_tiles import tiles_of
from hloproof.results.findings import Policy, judge

ROOT = Path(__file__).parents[1]
HAZARD = """HloModule m, is_scheduled=true

ENTRY e {
  x = f32[4] parameter(0)
  s = (f32[4], f32[4], u32[]) copy-start(x), metadata={source_file="a.py" source_line=3}
  z = f32[4] custom-call(x), custom_call_target="w", output_to_operand_aliasing={{}: (0, {})}
  d = f32[4] copy-done(s)
  ROOT r = f32[4] add(z, d)
}
"""
LAYOUTS = """layout big
  shape bf16[32,48]{1,0:T(8,128)(2,1)}
  padded 15

layout wrong-formula
  shape f32[3,5]{1,0:T(2,2)}
  formula (d0, d1) -> ((d0 floordiv 2) * 8 + (d1 floordiv 2) * 4 + (d0 mod 2) * 2 + d1 mod 2),
    domain: d0 in [0, 2], d1 in [0, 4]
"""
BEFORE = """HloModule m

ENTRY e {
  x = s32[8] parameter(0)
  first = s32[4] slice(x), slice={[1:5]}
  ROOT r = s32[4] negate(first)
}
"""
SPOILED = changed(CHAIN_PLAN, "<4 y @0> (size=128,offset=128)", "<4 y @0> (size=128,offset=64)")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Something wrong of every kind."""
    (tmp_path / "hazard.hlo").write_text(HAZARD)
    (tmp_path / "wrong.layout").write_text(LAYOUTS)
    (tmp_path / "plan.hlo").write_text(CHAIN)
    (tmp_path / "plan-buffer-assignment.txt").write_text(SPOILED)
    refuted = (ROOT / "specs" / "refuted" / "xla_tests.map").read_text().replace("  expect refuted\n", "")
    (tmp_path / "wrong.map").write_text(refuted)
    return tmp_path


@pytest.mark.parametrize(
    ("told", "arrows"),
    [
        (
            "output[0, 0, 2] reads operand 0 at [0, 1, 0] by the map, and by the definition of pad it does not",
            (Arrow("by the map", "operand 0 [0, 1, 0]", False), Arrow("by the definition", None, True)),
        ),
        (
            "d0 = 0, d1 = 3: the module before gives (0, 0, 1), which the module after does not give at these dims",
            (Arrow("the module before", "0, 0, 1", None), Arrow("the module after", None, None)),
        ),
        ("x = 9: before gives (6), after gives (3)", (Arrow("before", "6", None), Arrow("after", "3", None))),
        (
            "x0 = 4, x1 = 7: the left side is 0, the right side 1; to see it again: hloproof ...",
            (Arrow("left side", "0", None), Arrow("right side", "1", None)),
        ),
        (
            "element [1] of result 0 is 0.25 before and 1.5 after; they part at %a (line 3)",
            (Arrow("before", "0.25", True), Arrow("after", "1.5", False)),
        ),
    ],
)
def test_a_counterexample_about_places_is_a_flow(told: str, arrows: tuple[Arrow, ...]) -> None:
    found = flow_of(told)
    assert found is not None and found.arrows == arrows
    picture = draw(found)
    assert picture.startswith("<svg") and all(a.at is None or a.at in picture for a in arrows)


@pytest.mark.parametrize("told", ["", "padded is 24, not 15", "s has no matching done", "no a with a > 0, a < 0"])
def test_what_is_not_about_places_has_no_flow(told: str) -> None:
    assert flow_of(told) is None


@pytest.mark.parametrize(
    "text",
    [
        "bf16[32,48]{1,0:T(8,128)(2,1)}",
        "f32[3,5]{1,0:T(2,2)}",
        "f32[7,5]{0,1:T(2,2)}",
        "f32[2,5,9]{2,1,0:T(4,4)}",
        "f32[5,200]{1,0}",
        "f32[300]{0:T(128)}",
        "f32[]",
        "s8[5,70]{1,0:T(8,128)(4,1)}",
    ],
)
def test_every_cell_of_a_tile_has_the_position_of_its_element(text: str) -> None:
    shape = parse_shape(text)
    assert isinstance(shape, ArrayShape)
    found = tiles_of(shape)
    assert found is not None
    high, wide = found["tile"]
    rows, columns = shape.layout.minor_to_major[1::-1] if shape.layout and shape.rank > 1 else (None, shape.rank - 1)
    for i in range(found["rows"]):
        for j in range(found["columns"]):
            index = [i if k == rows else j if k == columns else 0 for k in range(shape.rank)]
            told = found["base"][i // high][j // wide] + found["inner"][i % high][j % wide]
            assert told == position_of(shape, index)


def test_a_layout_whose_tiles_are_not_together_has_no_picture() -> None:
    shape = parse_shape("f32[4,6,5]{2,1,0:T(*,2,3)}")
    assert isinstance(shape, ArrayShape)
    assert tiles_of(shape) is None


def test_a_card_has_its_text_its_place_and_what_can_be_drawn(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from hloproof.pipeline.driver import check

    page = page_of(judge(check(str(folder)), Policy()))
    pictures = {
        card.claim: [p.title.split(": ")[0].split(" in memory")[0] for p in card.pictures] for card in page.cards
    }
    assert pictures["hazard-operand"] == ["The schedule"]
    assert pictures["plan-interference"] == ["The memory plan"]
    assert pictures["layout"] == ["f32[3,5]{1,0:T(2,2)}"]
    assert pictures["definition"] == ["Where the index leads"]
    hazard = next(card for card in page.cards if card.claim == "hazard-operand")
    assert hazard.source == "a.py:3" and "copy-start" in hazard.excerpt
    assert page.totals["refuted"] == len(page.cards)


def test_hostile_text_stays_text() -> None:
    report = sample()
    report.files[0].file = "<script>alert(1)</script>.hlo"
    text = "".join(pieces(judge(report, Policy())))
    assert "<script>alert" not in text and "&lt;script&gt;alert" in text
    assert text.count("<script>") == 1 and "default-src 'none'" in text


def test_a_clean_run_writes_no_empty_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module = str(ROOT / "specs" / "examples" / "attention.hlo")
    drawing, page = tmp_path / "a.svg", tmp_path / "a.html"
    assert run(["check", module, "--svg", str(drawing), "--output", f"html={page}"]) == 0
    assert not drawing.exists() and "Nothing to draw" in capsys.readouterr().err
    text = page.read_text()
    assert "<svg" not in text and 'class="picture"' not in text and "184</b> proved" in text


def test_two_modules_stand_side_by_side_with_the_cut(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [str(tmp_path / "before.hlo"), str(tmp_path / "after.hlo")]
    for name, text in zip(names, (BEFORE, BEFORE.replace("[1:5]", "[2:6]")), strict=True):
        Path(name).write_text(text)
    assert run(["equiv", *names, "--format", "html"]) == 1
    text = capsys.readouterr().out
    assert text.count('<li value="5" class="cut">') == 2 and "The element that differs" in text
    assert run(["equiv", names[0], names[0], "--format", "html"]) == 0
    assert "by movement of data alone" in capsys.readouterr().out


def test_passes_are_filtered_by_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = BEFORE.replace("[1:5]", "[2:6]")
    dumps = {
        "before_optimizations": BEFORE,
        "0001.simplification.after_algsimp.before_dce": wrong,
        "0002.simplification.after_dce.before_cse": wrong.replace("first", "renamed"),
    }
    for name, text in dumps.items():
        (tmp_path / f"m.{name}.txt").write_text(text)
    assert run(["passes", str(tmp_path), "--format", "html", "--no-cache", "--jobs", "1"]) == 1
    text = capsys.readouterr().out
    assert "<option>algsimp</option>" in text and 'data-group="dce"' in text and "the first pass that changes" in text


def test_a_derivation_is_told_step_by_step(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simplify", "(d0) -> ((d0 * 4 + 3) / 4), domain: d0 in [0, 9]", "--format", "html"]) == 0
    text = capsys.readouterr().out
    assert 'class="steps"' in text and "(d0 * 4 + 3) / 4" in text


@pytest.fixture(scope="module")
def browser() -> Iterator[chromium.Page]:
    if chromium.PROGRAM is None:
        pytest.skip("no Chromium is installed")
    with chromium.page() as page:
        yield page


@pytest.mark.parametrize(("scheme", "background"), [("light", "rgb(255, 255, 255)"), ("dark", "rgb(20, 23, 26)")])
def test_a_browser_shows_the_page_by_keyboard_and_without_complaint(
    folder: Path, tmp_path: Path, browser: chromium.Page, scheme: str, background: str
) -> None:
    page = tmp_path / "report.html"
    assert run(["check", str(folder), "--no-cache", "-q", "--format", "text", "--output", f"html={page}"]) == 1
    browser.complaints.clear()
    browser.requests.clear()
    browser.look(scheme)
    browser.open(page)
    assert browser.run("getComputedStyle(document.body).backgroundColor") == background
    shown = "document.querySelectorAll('.card:not([hidden])').length"
    every = browser.run(shown)
    assert every > 4
    browser.key("j", "j")
    browser.key("j", "j")
    assert browser.run("[...document.querySelectorAll('.card')].indexOf(document.activeElement)") == 1
    browser.key("Enter")
    assert browser.run("[...document.activeElement.querySelectorAll('details')].every((d) => d.open)")
    browser.key("/", "/")
    assert browser.run("document.activeElement.id") == "text"
    for letter in "hazard":
        browser.key(letter, letter)
    assert 0 < browser.run(shown) < every
    browser.key("Escape")
    assert browser.run(shown) == every
    browser.run("document.querySelector('#claim').value = 'layout'")
    browser.run("document.querySelector('#claim').dispatchEvent(new Event('input')) && 0")
    assert browser.run(shown) == 2
    browser.run("document.querySelector('.layout .block').focus()")
    browser.key("ArrowDown")
    cells = "[...document.querySelectorAll('.layout .frame')][1].querySelectorAll('text')"
    told = browser.run(f"[...{cells}].map((t) => t.textContent)")
    assert told[128 + 1 : 128 + 4] == ["1024", "1026", "1028"]  # after the heads of 128 columns and of the row
    wide = "[...document.querySelectorAll('.layout .frame')][1].querySelector('svg').getBoundingClientRect().width"
    before = browser.run(wide)
    browser.run("document.querySelector('.layout button[aria-label=\"zoom in\"]').click()")
    assert browser.run(wide) > before
    assert browser.complaints == []
    assert [r for r in browser.requests if not r.startswith("data:")] == [page.as_uri()]


def test_a_complaint_would_be_noticed(tmp_path: Path, browser: chromium.Page) -> None:
    page = tmp_path / "bad.html"
    page.write_text("<!doctype html><link rel=icon href='data:,'><script>console.error('x'); nothing()</script>")
    browser.complaints.clear()
    browser.open(page)
    assert browser.run("1") == 1 and len(browser.complaints) >= 2


def test_the_data_of_a_layout_survives_the_page(folder: Path, browser: chromium.Page, tmp_path: Path) -> None:
    page = tmp_path / "layouts.html"
    run(["check", str(folder / "wrong.layout"), "--no-cache", "-q", "--output", f"html={page}"])
    browser.open(page)
    data = json.loads(browser.run("document.querySelector('.layout').dataset.layout"))
    assert data["tile"] == [8, 128] and len(data["base"]) == 4
