"""Two modules of equal values are proved equal only where the one after keeps each array for as long as it is read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hloproof.cli import run
from hloproof.models.hlo.parser import parse_module
from hloproof.queries.certificates import certificate_text, recheck_text
from hloproof.queries.equivalence import compare
from hloproof.queries.kept_arrays import overwritten

MODULE = """HloModule m{flags}

ENTRY e {{
  p = f32[8] parameter(0)
  u = f32[2] parameter(1)
  i = s32[] parameter(2)
  x = f32[8] negate(p)
  c = f32[8] {copied}
  y = f32[8] dynamic-update-slice({updated}, u, i)
  ROOT s = f32[8] add(x, y)
}}
"""
SCHEDULED = ", is_scheduled=true"
KEPT = MODULE.format(flags=SCHEDULED, copied="copy(x)", updated="c")
LOST = MODULE.format(flags=SCHEDULED, copied="copy(p)", updated="x")
TWICE = LOST.replace(
    "ROOT s = f32[8] add(x, y)",
    "z = f32[8] dynamic-update-slice(y, u, i)\n  q = f32[8] add(x, y)\n  ROOT s = f32[8] add(q, z)",
)
FREE = MODULE.format(flags="", copied="copy(x)", updated="c"), MODULE.format(flags="", copied="copy(p)", updated="x")
FLOWN = """HloModule m{flags}

ENTRY e {{
  p = f32[8] parameter(0)
  u = f32[2] parameter(1)
  i = s32[] parameter(2)
  x = f32[8] negate(p)
  s = (f32[8], f32[8], u32[]) copy-start(x)
  {first}
  {second}
  ROOT r = f32[8] add(d, y)
}}
"""


def flown(flags: str, first: str, second: str) -> str:
    return FLOWN.format(flags=flags, first=first, second=second)


UPDATE, DONE = "y = f32[8] dynamic-update-slice(x, u, i)", "d = f32[8] copy-done(s)"


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        (KEPT, LOST, "unknown"),
        (LOST, KEPT, "proved"),
        # As wrong as it was: the pass has changed nothing.
        (LOST, LOST, "proved"),
        (KEPT, KEPT, "proved"),
        (FREE[0], LOST, "unknown"),
        # Copies are still to come.
        (*FREE, "proved"),
        (KEPT, FREE[1], "proved"),
        (flown(SCHEDULED, DONE, UPDATE), flown(SCHEDULED, UPDATE, DONE), "unknown"),
        (flown("", DONE, UPDATE), flown("", UPDATE, DONE), "proved"),
    ],
)
def test_a_pass_that_loses_a_copy_is_not_proved(before: str, after: str, verdict: str) -> None:
    found = compare(parse_module(before), parse_module(after))
    assert found.verdict.value == verdict
    assert (verdict == "unknown") == ("in the module after is refuted" in found.reason)


def test_what_was_overwritten_before_excuses_as_much() -> None:
    """One array was lost before, and another is after it."""
    assert compare(parse_module(LOST), parse_module(LOST)).verdict.value == "proved"
    once, twice = parse_module(LOST), parse_module(TWICE)
    assert overwritten(once, once, 10.0) == "" != overwritten(once, twice, 10.0)


def test_what_there_is_no_time_for_is_not_known() -> None:
    assert "ran out" in overwritten(parse_module(KEPT), parse_module(LOST), 0.0)


def test_a_certificate_is_held_to_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """That of two modules of which nothing is overwritten says nothing of others: the texts are its own."""
    right = compare(parse_module(LOST), parse_module(KEPT))
    assert right.certificate is not None
    assert recheck_text(certificate_text(LOST, KEPT, right.certificate), "c").verdict.value == "proved"
    # Proofs of equal values go both ways.
    free = compare(parse_module(FREE[0]), parse_module(FREE[1]))
    assert free.certificate is not None
    found = recheck_text(certificate_text(FREE[0], LOST, free.certificate), "c")
    assert found.verdict.value == "unknown" and "hazard-overwrite of x" in found.reason
    for name, text in (("before.hlo", KEPT), ("after.hlo", LOST)):
        (tmp_path / name).write_text(text)
    status = run(["equiv", str(tmp_path / "before.hlo"), str(tmp_path / "after.hlo"), "--format", "json"])
    assert status == 3 and json.loads(capsys.readouterr().out)["verdict"] == "unknown"
