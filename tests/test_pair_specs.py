"""Wrong rewrites of compilers as two modules, each beside its sound twin: refuted and proved as they say."""

from __future__ import annotations

import pytest

from hloproof.models.errors import InputError
from hloproof.models.interpreter.run import run_module
from hloproof.models.specs.folder import specs_folder
from hloproof.pipeline.driver import check_text
from hloproof.pipeline.options import Options
from hloproof.pipeline.pair_specs import PairSpec, parse_pairs
from hloproof.queries.equivalence import compare

FILE = specs_folder() / "equivalence" / "known_bugs.pairs"
PAIRS = parse_pairs(FILE.read_text(encoding="utf-8"), FILE.name)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda p: p.name)
def test_a_pair_is_what_it_says(pair: PairSpec) -> None:
    answer = compare(pair.before, pair.after, budget_seconds=60)
    expected = ("proved", "unknown") if pair.expect == "not-refuted" else (pair.expect,)
    assert str(answer.verdict) in expected, answer.reason
    found = answer.refutation
    if found is not None and found.replicas * found.partitions == 1:
        assert run_module(pair.before, found.inputs) != run_module(pair.after, found.inputs)


def test_every_wrong_rewrite_has_a_sound_twin() -> None:
    wrong = {p.name.removesuffix("-wrong") for p in PAIRS if p.expect == "refuted"}
    assert wrong == {p.name.removesuffix("-sound") for p in PAIRS if p.expect != "refuted"} and len(wrong) >= 15
    assert all(p.source.startswith("https://") for p in PAIRS)


def test_check_reports_pairs_like_other_specs() -> None:
    text = FILE.read_text(encoding="utf-8")
    some = "pair " + "pair ".join(text.split("\npair ")[k] + "\n" for k in (1, 2))
    options = Options(jobs=1)
    results = check_text("f.pairs", "pairs", some, options, here=True)
    records = list(results.records())
    assert [(r.claim, str(r.verdict)) for r in records] == [("pair", "proved")] * 2
    assert "as expected" in str(records[0].reason) and records[0].related and records[0].line == 1
    # An expectation that is not met: what differs is refuted, what is equal cannot be refuted.
    turned = some.replace("expect proved", "expect X").replace("expect refuted", "expect proved")
    turned = turned.replace("expect X", "expect refuted")
    results = check_text("f.pairs", "pairs", turned, options, here=True)
    assert [str(r.verdict) for r in results.records()] == ["refuted", "refuted"]
    assert "inputs" in str(next(iter(results.records())).counterexample)
    assert check_text("f.pairs", "pairs", "pair a\n", options, here=True).problems


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("pair\n", "f:1:1"),
        ("nothing\n", "f:1:1"),
        ("pair a\n  expect maybe\n", "f:1:1"),
        ("pair a\n  expct proved\n", "f:2:3"),
        ("pair a\n  expect proved\n\nHloModule m\n", "f:1:1"),
        ("# c\npair a\n  expect proved\n\nHloModule m\nENTRY e {\n  ROOT p = f32[] nothing()\n}\n=>\nx\n", "f:7:"),
    ],
)
def test_a_file_that_is_wrong_says_where(text: str, place: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_pairs(text, "f")
    assert str(caught.value).startswith(place)
