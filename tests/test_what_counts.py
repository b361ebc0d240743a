"""What stands between a finding and the exit status lets nothing through that it was not meant for: suppressions beside
the text, baselines, expectations, and what is passed over while files are looked for."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from report_sample import instruction

from hloproof.cli import run
from hloproof.engines.door import How
from hloproof.models.errors import InputError
from hloproof.pipeline.cluster import check_on
from hloproof.pipeline.driver import check_sources
from hloproof.pipeline.entry_count import check_count
from hloproof.pipeline.items import unreadable
from hloproof.pipeline.options import Options
from hloproof.pipeline.sources import Source
from hloproof.report.destinations import FORMATS, Style
from hloproof.results.baseline import chunks
from hloproof.results.expectation import settle
from hloproof.results.findings import KnownFinding, Policy, fingerprint, judge
from hloproof.results.results import (
    Comment,
    FileResults,
    InstructionResult,
    ModuleExpectation,
    ModuleResults,
    OperationVerdicts,
    Report,
    exit_status,
)
from hloproof.results.suppressions import suppressions
from hloproof.results.verdict import ClaimResult, Exit, Found, Verdict
from hloproof.server.answering import Answering, Asked

STARTS = """HloModule m

ENTRY %e (a: f32[7,6]) -> f32[7,6] {{
  %a = f32[7,6] parameter(0){beside}
  {above}
  %s = (f32[7,6], f32[7,6], u32[]) copy-start(%a){known}
  %t = (f32[7,6], f32[7,6], u32[]) copy-start(%a)
  ROOT %r = f32[7,6] add(%a, %a)
}}
"""
ALLOW = "// hloproof: allow async because nobody waits for it"


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working folder and a cache of its own for every test."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def refuted(*arguments: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, list[str]]:
    """The exit status, and the instructions of what is told."""
    status = run(["check", "--jobs", "1", "--format", "json", *arguments])
    data = json.loads(capsys.readouterr().out)
    return status, [
        o["instruction"] for o in data["obligations"] if o["verdict"] == "refuted" and "suppressed" not in o
    ]


def test_a_suppression_is_of_the_same_instruction_whichever_are_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    """Beside an instruction that was not asked for it was taken for one of the next."""
    Path("m.hlo").write_text(STARTS.format(beside="", above=ALLOW, known=""))
    assert refuted("m.hlo", capsys=capsys) == (1, ["t"])
    assert refuted("m.hlo", "--instruction", "t", capsys=capsys) == (1, ["t"])
    assert refuted("m.hlo", "--instruction", "s", capsys=capsys) == (0, [])


@pytest.mark.parametrize("mark", ["\u2028", "\u2029", "\x85", "\x0c", "\x0b"])
def test_lines_of_suppressions_are_those_of_the_reader(mark: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What Python calls the end of a line, and readers of modules do not, moved all suppressions below it."""
    text = STARTS.format(beside=f" // one{mark}two", above="", known=f" {ALLOW}")
    Path("m.hlo").write_text(text, encoding="utf-8", newline="")
    assert refuted("m.hlo", capsys=capsys) == (1, ["t"])


def test_a_suppression_stays_in_its_module() -> None:
    text = f"x = f32[] x()\n{ALLOW}\n  // -----\ny = f32[] y()\n"
    assert [c.line for c in suppressions(text, "m.hlo", [1, 4])] == [3]
    assert [c.line for c in suppressions(text.replace("-----", ""), "m.hlo", [1, 4])] == [4]
    old = text.replace("\n", "\r").replace("-----", "")
    assert [c.line for c in suppressions(old, "m.hlo", [1, 4])] == [4]


def test_a_suppression_behind_what_has_no_record_is_of_nothing_below() -> None:
    text = f"x = f32[] x()\n}} {ALLOW}\ny = f32[] y()\n"
    assert [c.line for c in suppressions(text, "m.hlo", [1, 3])] == [2]


MAPS = """map a
  map (d0) -> (d0), domain: d0 in [0, 4]
  # hloproof: allow definition because it is an example
  becomes (d0) -> (d0 + 1), domain: d0 in [0, 4]

map b
  map (d0) -> (d0), domain: d0 in [0, 4]
  becomes (d0) -> (d0 + 1), domain: d0 in [0, 4]
"""


def test_a_suppression_inside_of_an_entry_is_of_its_clause(capsys: pytest.CaptureFixture[str]) -> None:
    Path("m.map").write_text(MAPS)
    assert refuted("m.map", capsys=capsys) == (1, ["b"])


def test_a_claim_has_its_own_severity_before_that_of_its_family(capsys: pytest.CaptureFixture[str]) -> None:
    Path("m.hlo").write_text(
        "HloModule m, is_scheduled=true\n"
        "f {\n p = f32[8] parameter(0)\n ROOT q = f32[8] reverse(p), dimensions={0}\n}\n"
        "ENTRY e {\n a = f32[8] parameter(0)\n c = f32[8] copy(a)\n ROOT r = f32[8] fusion(c), kind=kLoop, calls=f, "
        "output_to_operand_aliasing={{}: (0, {})}\n}\n"
    )
    for own, others, status in (("error", "off", Exit.REFUTED), ("off", "error", Exit.OK)):
        Path("own.toml").write_text(f'[severity]\nhazard = "{others}"\nhazard-in-place = "{own}"\n')
        found, names = refuted("m.hlo", "--config", "own.toml", capsys=capsys)
        assert found == status and (own == "off" or names == ["r"])


def test_a_suppression_beside_one_side_of_a_rule_is_of_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    for at_rule, at_side, status in ((" # SAID", "", Exit.OK), ("", " # SAID", Exit.REFUTED)):
        rule = f"rule sides{at_rule}\n  x floordiv 2 =>\n  x * 2{at_side}\n"
        Path("a.rules").write_text(rule.replace("SAID", "hloproof: allow rule because of the side"))
        assert run(["check", "a.rules", "--jobs", "1"]) == status
        assert ("matches nothing" in capsys.readouterr().out) is (status == Exit.REFUTED)


def test_what_could_not_be_read_is_no_successful_execution(capsys: pytest.CaptureFixture[str]) -> None:
    for opcode, status in (("parameter", Exit.OK), ("paramter", Exit.BAD_INPUT)):
        Path("m.hlo").write_text(f"HloModule m\nENTRY e {{\n ROOT p = f32[8] {opcode}(0)\n}}\n")
        assert run(["check", "m.hlo", "--jobs", "1", "--format", "sarif"]) == status
        (invocation,) = json.loads(capsys.readouterr().out)["runs"][0]["invocations"]
        assert invocation["executionSuccessful"] is (status == Exit.OK)


def twice(*found: Found) -> Report:
    """A report on one instruction of which one claim is stated several times: once for each of its arrays."""
    results = FileResults("m.hlo", "hlo")
    shared = OperationVerdicts((Found(Verdict.PROVED, claim="layout"),))
    one = InstructionResult("entry", instruction("x", "copy", 4), shared, list(found))
    results.modules.append(ModuleResults("m", [one]))
    return Report([results])


def overlap(reason: str) -> Found:
    return Found(Verdict.REFUTED, ("z3",), reason, claim="plan-interference")


def test_each_entry_of_a_baseline_is_of_one_finding() -> None:
    """A second array in conflict was known as soon as the first one was."""
    before, now = twice(overlap("{0}")), twice(overlap("{0}"), overlap("{1}"))
    [record] = before.records(undecided_only=True)
    known = KnownFinding(fingerprint(record), "refuted", "x", "upstream does so")
    judged = judge(now, Policy(baseline=(known,)))
    assert judged.exit_status() is Exit.REFUTED and [f.record.counterexample for f in judged.new] == ["{1}"]
    data = json.loads("".join(FORMATS["json"](judged, Style())))
    assert [o.get("suppressed") for o in data["obligations"]] == [None, "upstream does so", None]
    both = judge(now, Policy(baseline=(known, known)))
    assert both.exit_status() is Exit.OK and both.gone == []
    assert judge(before, Policy(baseline=(known, known))).gone == [known]


def test_a_justification_is_of_a_verdict() -> None:
    """Why something is not known was kept as the reason why its refutation is not told."""
    report = twice(overlap("{0}"))
    [record] = report.records(undecided_only=True)
    entries = {
        verdict: json.loads("".join(chunks(report, (KnownFinding(fingerprint(record), verdict, "x", "why"),))))
        for verdict in ("unknown", "refuted")
    }
    assert [e["findings"][0]["justification"] for e in entries.values()] == ["", "why"]


@pytest.mark.parametrize(("final", "verdict"), [(True, Verdict.PROVED), (False, Verdict.UNKNOWN)])
def test_what_is_late_is_not_the_unknown_that_is_expected(final: bool, verdict: Verdict) -> None:
    [results] = twice(Found(Verdict.UNKNOWN, reason="why", claim="definition", final=final)).files
    results.expected["m"] = ModuleExpectation("unknown", (), 1)
    settle(results)
    assert [r.verdict for r in results.others] == [verdict]


def test_a_link_that_leads_nowhere_is_not_passed_over(capsys: pytest.CaptureFixture[str]) -> None:
    """Inside of a folder it was; one that is named never was."""
    Path("d").mkdir()
    Path("d/m.hlo").write_text("HloModule m\nENTRY e { ROOT p = f32[4] parameter(0) }\n")
    assert run(["check", "d"]) == 0
    Path("d/.#m.hlo").symlink_to("somebody@somewhere:1")  # what an editor leaves beside a file that it has open
    assert run(["check", "d"]) == 0
    for target in ("gone", "n.hlo"):
        Path("d/n.hlo").symlink_to(target)
        assert run(["check", "d"]) == 2 and "d/n.hlo" in capsys.readouterr().err
        Path("d/n.hlo").unlink()


ONE = "HloModule m\nENTRY e { ROOT p = f32[4] parameter(0) }\n"


def test_a_plan_beside_several_modules_is_not_passed_over(capsys: pytest.CaptureFixture[str]) -> None:
    Path("m-buffer-assignment.txt").write_text("no plan")
    Path("m.hlo").write_text(ONE)
    assert run(["check", "m.hlo"]) == 2
    Path("m.hlo").write_text(f"{ONE}// -----\n{ONE}")
    capsys.readouterr()
    assert run(["check", "m.hlo"]) == 3 and "lies beside 2: it is not judged" in capsys.readouterr().out
    assert run(["check", "m.hlo", "--only", "definition"]) == 0


def test_no_module_of_that_name_is_no_proof(capsys: pytest.CaptureFixture[str]) -> None:
    for number in (1, 2):
        Path(f"module_1.m.000{number}.p.after_x{number}.txt").write_text(ONE)
    assert run(["passes", "."]) == 0
    assert run(["passes", ".", "--module", "n"]) == 2 and "'n' in its name" in capsys.readouterr().err


def test_a_buffer_that_is_no_module_costs_one_file_on_a_cluster() -> None:
    Path("m.hlo.pb").write_bytes(b"\x0a\x05abc")
    Path("n.hlo").write_text(ONE)
    sources = [Source("m.hlo.pb", "hlo"), Source("n.hlo", "hlo")]
    with ThreadPoolExecutor(1) as executor:
        there, here = check_on(executor, sources, Options()), check_sources(sources, Options())
    assert there.problems == here.problems != [] and [len(f.modules) for f in there.files] == [0, 1]


def test_what_a_server_has_no_time_for_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was an error of this tool."""
    from hloproof.models.stages import OutOfTime
    from hloproof.pipeline import items

    def late(*_: Any) -> Any:
        raise OutOfTime("the total time ran out (budget)")

    monkeypatch.setitem(items.ITEM_KINDS, "map", replace(items.ITEM_KINDS["map"], judge=late))
    told = Answering(30, 2048).answer(Asked(1, "maps", {"text": MAPS}))["result"]
    assert told["verdict"] == "unknown" and "(budget)" in told["obligations"][0]["reason"]


def test_what_one_engine_proved_is_not_what_two_agree_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry that was kept without `--cross` was the answer with it."""
    from hloproof.pipeline import items
    from hloproof.pipeline.driver import check_text

    def judged(item: Any, file: str, how: How) -> ClaimResult:
        verdict = Verdict.UNKNOWN if how.cross else Verdict.PROVED
        return ClaimResult(file, "map", file, "", 1, 1, item.name, Found(verdict, claim="definition"))

    monkeypatch.setitem(items.ITEM_KINDS, "map", replace(items.ITEM_KINDS["map"], judge=judged))
    for cross in (False, True, False):
        found = check_text("m.map", "map", MAPS, Options(cache=Path("kept.db"), cross=cross), here=True)
        assert {r.verdict for r in found.records()} == {Verdict.UNKNOWN if cross else Verdict.PROVED}


@pytest.mark.parametrize("verdict", list(Verdict))
def test_only_an_internal_error_is_never_excused(verdict: Verdict) -> None:
    report = twice(Found(verdict, reason="why", claim="async-chain"))
    known = tuple(KnownFinding(fingerprint(r), str(verdict), "x") for r in report.records(undecided_only=True))
    beside = (Comment("m.hlo", 4, ("async-chain",), "why"),)
    for policy in (
        Policy(baseline=known),
        Policy(comments=beside),
        Policy(severity={"async": "off"}),
        Policy(allow_unknown=True, severity={"async": "warning"}),
    ):
        judged = judge(report, policy)
        assert judged.exit_status() is (Exit.INTERNAL if verdict is Verdict.INTERNAL else Exit.OK), policy
        assert all((f.known, f.level) == (None, "error") for f in judged.findings if verdict is Verdict.INTERNAL)
    kept = json.loads("".join(chunks(report)))["findings"]
    assert [k["verdict"] for k in kept] == ([] if verdict in (Verdict.INTERNAL, Verdict.PROVED) else [verdict])


def test_a_file_that_was_not_read_to_its_end_is_never_excused() -> None:
    report = Report([FileResults("m.hlo", "hlo", others=[unreadable("m.hlo", "late", Verdict.UNKNOWN)])])
    [record] = report.records()
    known = (KnownFinding(fingerprint(record), "unknown", "x"),)
    for policy in (
        Policy(baseline=known),
        Policy(comments=(Comment("m.hlo", 0, ("input",), "why"),)),
        Policy(severity={"input": "off"}),
        Policy(allow_unknown=True, severity={"input": "warning"}),
    ):
        judged = judge(report, policy)
        assert judged.exit_status() is Exit.UNKNOWN
        assert [(f.known, f.level) for f in judged.findings] == [(None, "error")]
    assert json.loads("".join(chunks(report)))["findings"] == []


ENDS = {
    Verdict.PROVED: (Exit.OK, Exit.BAD_INPUT),
    Verdict.REFUTED: (Exit.REFUTED, Exit.BAD_INPUT),
    Verdict.VACUOUS: (Exit.REFUTED, Exit.BAD_INPUT),
    Verdict.TRIVIAL: (Exit.REFUTED, Exit.BAD_INPUT),
    Verdict.UNKNOWN: (Exit.UNKNOWN, Exit.BAD_INPUT),
    Verdict.INTERNAL: (Exit.INTERNAL, Exit.INTERNAL),
}


@pytest.mark.parametrize("verdict", ENDS)
def test_the_status_of_each_verdict_alone_and_beside_bad_input(verdict: Verdict) -> None:
    assert (exit_status({verdict}, False), exit_status({verdict}, True)) == ENDS[verdict]
    for worse in (Verdict.REFUTED, Verdict.INTERNAL):
        both = exit_status({verdict, worse}, False)
        assert both is (Exit.INTERNAL if Verdict.INTERNAL in (verdict, worse) else Exit.REFUTED)


def test_a_partition_that_cannot_be_stated_is_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    """Asked for alone, nothing was owed by a concatenate of too many operands."""
    count = 3001
    operands = "".join(f"  p{n} = f32[1] parameter({n})\n" for n in range(count))
    names = ", ".join(f"p{n}" for n in range(count))
    Path("m.hlo").write_text(
        f"HloModule m\nENTRY e {{\n{operands}  ROOT r = f32[{count}] concatenate({names}), dimensions={{0}}\n}}\n"
    )
    assert run(["check", "m.hlo", "--strict", "--only", "partition"]) == 3
    assert "more than 3000 pairs" in capsys.readouterr().out


@pytest.mark.parametrize(("kind", "status"), [("instruction", Exit.OK), ("map", Exit.UNKNOWN), ("spec", Exit.UNKNOWN)])
def test_only_our_reading_of_a_module_may_be_unknown(kind: str, status: Exit) -> None:
    """A map that somebody claims is judged by the same claim, and is theirs."""
    found = Found(Verdict.UNKNOWN, reason="why", claim="definition")
    results = FileResults("m", "map", others=[ClaimResult("m#a", kind, "m", "", 1, 1, "a", found)])
    assert judge(Report([results]), Policy()).exit_status() is status
    assert judge(Report([results]), Policy(strict=True)).exit_status() is Exit.UNKNOWN


ENTRIES = {
    "rules": "rule a\n  x + 0 => x\n",
    "trules": "rule a\n  A: [n]\n  A => A\n",
    "layout": "layout a\n  shape f32[2]\n",
    "map": "map a\n  map (d0) -> (d0)\n",
    "pairs": "pair a\n  expect proved\n",
    "hlo": f"{ONE}// -----\n",
}


@pytest.mark.parametrize("kind", ENTRIES)
def test_an_entry_that_the_reader_passes_over_is_told(kind: str) -> None:
    text = 2 * ENTRIES[kind]
    check_count(kind, text, 2)
    for read in (0, 1, 3):
        with pytest.raises(InputError, match="entries were read"):
            check_count(kind, text, read)
