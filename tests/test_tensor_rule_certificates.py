"""Certificates of tensor rules: written by `check --certify`, accepted by `recheck`, and not for any other rule."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hloproof.cli import run
from hloproof.engines.certificate import MANIFEST, enter
from hloproof.engines.door import How
from hloproof.models.tensor_rules.text import parse_tensor_rules
from hloproof.queries.certificates import recheck_tensor_rules
from hloproof.results.verdict import Verdict
from hloproof.tensor_rules.certificate import denied
from hloproof.tensor_rules.judge import check_tensor_rule

TEXT = """# of slices
rule slice-of-slice
  A: [k...]
  slice(slice(A, start=[s...], limit=[t...]), start=[u...], limit=[v...]) =>
  slice(A, start=[(s + u)...], limit=[(s + v)...])

# the other one
rule reverse-twice
  A: [n]
  reverse(reverse(A, dims=[0]), dims=[0]) => A
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("certificates")
    for rule in parse_tensor_rules(TEXT):
        assert check_tensor_rule(rule, how=How(certify=path)).verdict is Verdict.PROVED
    return path


def shown(folder: Path) -> frozenset[str]:
    return frozenset(p.stem for p in folder.glob("*.smt2"))


def test_what_is_written_is_accepted(folder: Path) -> None:
    found = dict(recheck_tensor_rules(folder, shown(folder)))
    assert found == {"slice-of-slice.trule.json": "", "reverse-twice.trule.json": ""}


def test_an_obligation_that_was_not_shown_is_missed(folder: Path) -> None:
    found = dict(recheck_tensor_rules(folder, frozenset()))
    assert "were not shown" in found["slice-of-slice.trule.json"]


def test_rules_of_one_name_have_a_certificate_each(tmp_path: Path) -> None:
    """That of the second took the place of the first."""
    texts = [
        f"rule a\n  A: [n]\n  {side} => A\n"
        for side in ("negate(negate(A))", "reverse(reverse(A, dims=[0]), dims=[0])")
    ]
    for text in (*texts, *texts):
        (rule,) = parse_tensor_rules(text)
        assert check_tensor_rule(rule, how=How(certify=tmp_path)).verdict is Verdict.PROVED
    rules = {json.loads(p.read_text())["rule"] for p in tmp_path.glob("*.trule.json")}
    assert rules == set(texts) and len(list(tmp_path.glob("*.trule.json"))) == 2


@pytest.mark.parametrize(
    ("spoil", "status", "said"),
    [
        (lambda p: None, 0, "1 proved"),  # without any obligation: nothing could be rechecked, for want of a manifest
        (lambda p: p.unlink(), 2, "1 missing"),
        (lambda p: p.write_text(p.read_text() + " "), 2, "1 tampered"),
        (lambda p: p.with_name("b.trule.json").write_text(p.read_text()), 2, "1 not listed"),
    ],
)
def test_a_certificate_of_a_rule_is_named_in_the_manifest(
    spoil: Callable[[Path], Any], status: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One that was taken away or changed was not missed."""
    (rule,) = parse_tensor_rules("rule a\n  A: [n]\n  negate(negate(A)) => A\n")
    check_tensor_rule(rule, how=How(certify=tmp_path))
    spoil(tmp_path / "a.trule.json")
    assert run(["recheck", str(tmp_path)]) == status and said in capsys.readouterr().out


def test_a_rule_whose_obligations_no_solver_showed_is_not_proved(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for said, word, status in (("unknown", "not proved", 3), ("unsat", "proved", 0)):
        assert run(["recheck", str(folder), "--solver", f"echo {said}"]) == status
        assert f"slice-of-slice.trule.json: {word}" in capsys.readouterr().out


def test_a_certificate_that_is_not_accepted_has_the_status_of_an_unknown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The manifest names it as it is, and no obligation is open beside it."""
    (rule,) = parse_tensor_rules("rule a\n  A: [n]\n  negate(negate(A)) => A\n")
    check_tensor_rule(rule, how=How(certify=tmp_path))
    path = tmp_path / "a.trule.json"
    text = path.read_text().replace("negate(negate(A))", "negate(A)")
    path.write_text(text)
    (tmp_path / MANIFEST).unlink()
    enter(tmp_path, {path.name: text}, "a", ["isl"])
    assert run(["recheck", str(tmp_path)]) == 3
    assert "1 not proved" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["{", '{"schema": "hloproof-tensor-rule/1", "rule": "rule", "obligations": []}'])
def test_a_certificate_that_cannot_be_read_is_not_passed_over(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.trule.json").write_text(text)
    [(name, reason)] = recheck_tensor_rules(tmp_path, ())
    assert name == "a.trule.json" and reason


def test_what_a_refuted_rule_needs_is_not_written(tmp_path: Path) -> None:
    (rule,) = parse_tensor_rules("rule wrong\n  A: [n]\n  reverse(A, dims=[0]) => A\n")
    check_tensor_rule(rule, how=How(certify=tmp_path))
    assert not list(tmp_path.glob("*.trule.json"))


WRONG = "rule wrong\n  A: [n]\n  reverse(A, dims=[0]) => A\n"
TAMPERED: dict[str, Callable[[dict[str, Any]], Any]] = {
    "another bound": lambda d: {**d, "rule": d["rule"].replace("(s + u)", "(s + u + 1)")},
    "another rule": lambda d: {**d, "rule": WRONG},
    # All that is said of it is true of an attempt that failed.
    "another rule, at no rank": lambda d: {**d, "rule": WRONG, "ranks": [], "obligations": []},
    "two rules": lambda d: {**d, "rule": TEXT},
    "an obligation less": lambda d: {**d, "obligations": d["obligations"][1:]},
    "an obligation that nobody showed": lambda d: {**d, "obligations": [*d["obligations"], "0" * 32]},
    "another tier": lambda d: {**d, "tier": "real"},
    "more ranks": lambda d: {**d, "ranks": [0, 1, 2, 3, 4]},
    "another schema": lambda d: {**d, "schema": "hloproof-equivalence/1"},
    "no rule": lambda d: {k: v for k, v in d.items() if k != "rule"},
    "a list": lambda d: [d],
}


@pytest.mark.parametrize("change", TAMPERED.values(), ids=TAMPERED)
def test_a_certificate_that_was_changed_is_denied(folder: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    data = json.loads((folder / "slice-of-slice.trule.json").read_text())
    assert denied(data, shown(folder)) == ""
    assert denied(change(data), shown(folder))
