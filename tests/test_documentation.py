"""Every block of the documentation is run: files are written, commands end as the page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hloproof.cli import run
from hloproof.models.tensor_rules.text import parse_tensor_rules

DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted(DOCS.glob("*.md"))
_BLOCK = re.compile(r"<!-- (?P<what>file|run): (?P<word>[^ ]+) -->\n```\w*\n(?P<text>.*?)```", re.DOTALL)
_LINK = re.compile(r"\]\((?!https?:)([^)#]+)")


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_the_blocks_of_a_page_do_what_it_says(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for block in _BLOCK.finditer(page.read_text(encoding="utf-8")):
        if block["what"] == "file":
            Path(block["word"]).write_text(block["text"], encoding="utf-8")
            continue
        for line in block["text"].splitlines():
            assert line.startswith("hloproof ")
            assert run([*line.split()[1:], "--no-cache"]) == int(block["word"]), line


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_links_inside_the_project_lead_somewhere(page: Path) -> None:
    for target in _LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_the_table_of_tensor_rules_has_every_rule() -> None:
    """tests/tensor_rules_table.py writes it anew."""
    table = (DOCS / "tensor_rules_table.md").read_text(encoding="utf-8")
    folder = DOCS.parent / "specs" / "tensor_rules"
    names = [r.name for f in sorted(folder.glob("*.trules")) for r in parse_tensor_rules(f.read_text(), f.name)]
    assert re.findall(r"^\| ([\w-]+) \| (?:proved|refuted) \|", table, re.MULTILINE) == names
