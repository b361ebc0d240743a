"""The same input comes to the same by every door: a file, a text, standard input, the server, an editor, a warm cache.

What is kept answers for the text and the settings that it was kept for, and for no others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest
from memory_cases import CHAIN, CHAIN_PLAN

import hloproof
from hloproof.cli import run
from hloproof.pipeline.driver import check_text
from hloproof.pipeline.options import Options
from hloproof.results.errors import BadInput
from hloproof.results.results import Report
from hloproof.server.answering import Answering, Asked

_TURNED: Final = """HloModule turned

ENTRY e {
  p = f32[12,35]{1,0} parameter(0)
  r = f32[7,60]{1,0} reshape(p)
  ROOT t = f32[60,7]{1,0} transpose(r), dimensions={1,0}
}
"""
_READ_IN_FLIGHT: Final = """// expect: EXPECTED
HloModule flight

ENTRY e {
  p = f32[8]{0} parameter(0)
  x = f32[8]{0} negate(p)
  s = (f32[8]{0}, f32[8]{0}, u32[]) copy-start(x)
  ROOT d = f32[8]{0} copy-start-done(s)
}
""".replace("copy-start-done", "copy-done")
_TEXTS: Final = {
    "plain": _TURNED,
    "met": _READ_IN_FLIGHT.replace("EXPECTED", "proved"),
    "not met": _READ_IN_FLIGHT.replace("EXPECTED", "refuted"),
    "an error, as expected": "// expect: error\nENTRY e {\n  ROOT r = f32[4] nothing()\n}\n",
}

Said = list[tuple[str, str, bool]]


def _said(report: Report) -> Said:
    return sorted((r.id.partition("#")[2], str(r.verdict), bool(r.counterexample)) for r in report.records())


def _of_json(records: list[dict[str, Any]]) -> Said:
    return sorted((r["id"].partition("#")[2], r["verdict"], bool(r["counterexample"])) for r in records)


@pytest.mark.parametrize("what", _TEXTS)
@pytest.mark.parametrize("cross", [False, True])
def test_a_text_is_judged_as_the_file_that_holds_it(what: str, cross: bool, tmp_path: Path) -> None:
    file, text, options = tmp_path / "m.hlo", _TEXTS[what], Options(jobs=1, cross=cross)
    file.write_text(text)
    said = _said(hloproof.check(file, options).report)
    assert said
    doors = {
        "text": _said(hloproof.check(text, options).report),
        "editor, cluster": _said(Report([check_text("m.hlo", "hlo", text, options, here=True)])),
    }
    for door in ("cold", "warm"):
        report, crossed = tmp_path / f"{door}.json", ["--cross"] if cross else []
        run(["check", *crossed, "--cache", str(tmp_path / "c"), "--output", f"json={report}", str(file)])
        doors[door] = _of_json(json.loads(report.read_text())["obligations"])
    if not cross:
        answer = Answering(60, 2000).answer(Asked(1, "check", {"hlo": text}))
        doors["server"] = _of_json(answer["result"]["obligations"])
    assert doors == dict.fromkeys(doors, said)


def test_a_text_needs_two_engines_where_two_are_asked_for(tmp_path: Path) -> None:
    file, options = tmp_path / "m.hlo", Options(jobs=1, cross=True)
    file.write_text(_TURNED)
    two = [[r.engines for r in hloproof.check(source, options).report.records()] for source in (file, _TURNED)]
    assert two[0] == two[1]
    assert all("isl" in engines and "z3" in engines for engines in two[1])


def test_an_expectation_that_is_none_is_told_for_a_text_too() -> None:
    with pytest.raises(BadInput, match="expect: proved, refuted, unknown or error"):
        hloproof.check(_READ_IN_FLIGHT.replace("EXPECTED", "maybe"))


def test_a_module_that_ends_with_a_plan_is_none(tmp_path: Path) -> None:
    module, plan = tmp_path / "module.hlo", tmp_path / "assignment.txt"
    command = ["check", "-q", "--cache", str(tmp_path / "c"), str(module)]
    module.write_text(CHAIN)
    plan.write_text(CHAIN_PLAN)
    assert run(command) == 0
    plan.unlink()
    module.write_text(CHAIN + CHAIN_PLAN)
    assert run(command) == 2
