"""Every block of the documentation is run: files are written, commands end as the page says, what is shown was said."""

from __future__ import annotations

import importlib.util
import re
import shlex
import sys
from importlib import metadata
from pathlib import Path

import pytest
from claims_page import PAGE as CLAIMS
from claims_page import page as claims_page

from hloproof.cli import run
from hloproof.models.tensor_rules.text import parse_tensor_rules

DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted(DOCS.glob("*.md"))
_FENCE = re.compile(r"(?:<!-- (?P<what>[\w]+):?(?P<words>[^>]*?)-->\n)?```\w*\n(?P<text>.*?)```", re.DOTALL)
_LINK = re.compile(r"\]\((?!https?:)([^)#]+)")
_ELSEWHERE = {"protocol.md"}
"""Pages whose examples another test runs."""


def _has(package: str, version: str = "") -> bool:
    if importlib.util.find_spec(package) is None:
        return False
    return not version or metadata.version(package) == version


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_the_blocks_of_a_page_do_what_it_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Markers: `file: NAME` is written; `run: STATUS [PACKAGE]` are commands, `python: [PACKAGE [VERSION]]` a script,
    left out where the package is missing; each line of `shown` stands in what the commands before it said."""
    if page.name in _ELSEWHERE:
        pytest.skip("its examples are run by the test of the server")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    said = ""
    for block in _FENCE.finditer(page.read_text(encoding="utf-8")):
        words = (block["words"] or "").split()
        match block["what"]:
            case "file":
                Path(words[0]).parent.mkdir(parents=True, exist_ok=True)
                Path(words[0]).write_text(block["text"], encoding="utf-8")
            case "run":
                if len(words) > 1 and not _has(words[1]):
                    continue
                said = ""
                for line in block["text"].splitlines():
                    name, *arguments = shlex.split(line)
                    assert name == "hloproof"
                    cached = {"check", "passes", "baseline"} & {arguments[0]}
                    assert run([*arguments, *(["--no-cache"] if cached else [])]) == int(words[0]), line
                    told = capfd.readouterr()
                    said += told.out + told.err
            case "shown":
                for line in block["text"].splitlines():
                    assert line in said, said
            case "python":
                if not words or _has(*words):
                    exec(compile(block["text"], str(page), "exec"), {"__name__": page.stem})
            case _:
                pytest.fail(f"a block that nothing runs: {block['text'][:60]!r}")
    for name in ("nested", "test_model"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_links_inside_the_project_lead_somewhere(page: Path) -> None:
    for target in _LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_every_page_can_be_reached_from_the_first() -> None:
    reached, waiting = set(), ["index.md"]
    while waiting:
        name = waiting.pop()
        if name not in reached and name.endswith(".md"):
            reached.add(name)
            waiting += _LINK.findall((DOCS / name).read_text(encoding="utf-8"))
    assert {p.name for p in PAGES} <= reached


def test_the_page_of_claims_is_that_of_the_catalogue() -> None:
    """tests/claims_page.py writes it anew."""
    now = CLAIMS.read_text(encoding="utf-8")
    assert claims_page(now) == now


def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    """Links between pages are checked by the generator."""
    pytest.importorskip("sphinx")
    pytest.importorskip("myst_parser")
    import subprocess

    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", str(DOCS), str(tmp_path / "site")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "site" / "first_rule.html").is_file()


def test_the_table_of_tensor_rules_has_every_rule() -> None:
    """tests/tensor_rules_table.py writes it anew."""
    table = (DOCS / "tensor_rules_table.md").read_text(encoding="utf-8")
    folder = DOCS.parent / "specs" / "tensor_rules"
    names = [r.name for f in sorted(folder.glob("*.trules")) for r in parse_tensor_rules(f.read_text(), f.name)]
    assert re.findall(r"^\| ([\w-]+) \| (?:proved|refuted) \|", table, re.MULTILINE) == names
