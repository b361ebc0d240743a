"""What a check found, in every format: golden files, schemas, and independent readers."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from report_sample import instruction, sample

from hloproof.report import json_report
from hloproof.report.destinations import FORMATS, Style
from hloproof.report.json_report import encoded
from hloproof.results.baseline import chunks as baseline_chunks
from hloproof.results.baseline import read as read_baseline
from hloproof.results.errors import BadInput
from hloproof.results.files import write_file
from hloproof.results.findings import KnownFinding, Policy, fingerprint, judge
from hloproof.results.results import Comment, FileResults, InstructionResult, ModuleResults, OperationVerdicts, Report
from hloproof.results.suppressions import BadSuppression, suppressions
from hloproof.results.verdict import Exit, Found, Verdict

GOLDEN = Path(__file__).parent / "golden"


def written(form: str, policy: Policy | None = None, verbosity: int = 0) -> str:
    return "".join(FORMATS[form](judge(sample(), policy or Policy()), Style(verbosity)))


@pytest.mark.parametrize(
    ("name", "form", "verbosity"),
    [
        ("report.txt", "text", 0),
        ("report_verbose.txt", "text", 1),
        ("report_quiet.txt", "text", -1),
        ("report.json", "json", 0),
        ("report.xml", "junit", 0),
        ("report.github", "github", 0),
    ],
)
def test_reports_are_as_kept(name: str, form: str, verbosity: int) -> None:
    """With HLOPROOF_WRITE_GOLDEN=1 the files are written anew, to be read before they are committed."""
    text = written(form, verbosity=verbosity)
    if os.environ.get("HLOPROOF_WRITE_GOLDEN"):
        (GOLDEN / name).write_text(text)
    assert text == (GOLDEN / name).read_text()


def json_schema() -> Any:
    return json.loads(json_report.SCHEMA_FILE.read_text())


def test_json_is_valid_by_its_schema() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    data = json.loads(written("json"))
    jsonschema.Draft202012Validator.check_schema(json_schema())
    jsonschema.validate(data, json_schema())
    assert data["schema"] == "hloproof/1"
    assert data["summary"]["per_opcode"] == {
        "copy": {"instructions": 2, "complete": 2},
        "slice": {"instructions": 1, "complete": 0},
        "x": {"instructions": 2, "complete": 0},
    }
    counts = {v: sum(o["verdict"] == v for o in data["obligations"]) for v in map(str, Verdict)}
    assert counts == {v: data["summary"][v] for v in counts}
    assert len({o["id"] for o in data["obligations"]}) == len(data["obligations"])


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("obligations", 0, "verdict"), "maybe"),
        (("obligations", 0, "counterexample"), "proved, and yet"),
        (("obligations", 3, "counterexample"), None),
        (("obligations", 4, "reason"), None),
        (("obligations", 0, "line"), -1),
        (("summary", "proved"), "3"),
        (("schema",), "hloproof/2"),
    ],
)
def test_the_schema_refuses_what_is_wrong(path: tuple[Any, ...], value: Any) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    data = json.loads(written("json"))
    place = data
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(data, json_schema())


def test_junit_is_read_back_by_an_independent_reader() -> None:
    junitparser = pytest.importorskip("junitparser")
    suites = list(junitparser.JUnitXml.fromstring(written("junit").encode()))
    cases = {(s.name, c.name): [type(r).__name__ for r in c.result] for s in suites for c in s}
    assert cases == {
        ("dumps/m.hlo", "copy.1"): [],
        ("dumps/m.hlo", "copy.2"): [],
        ("dumps/m.hlo", "slice"): ["Failure"],
        ("dumps/m.hlo", "x.1"): ["Skipped"],
        ("dumps/m.hlo", "x.2"): ["Skipped"],
        ("my rules.rules", "sound"): [],
        ("my rules.rules", "wrong"): ["Failure"],
        ("my rules.rules", "empty"): ["Failure"],
        ("my rules.rules", "same"): ["Failure"],
        ("bad.hlo", "input"): ["Error"],
    }
    assert [(s.tests, s.failures, s.errors, s.skipped) for s in suites] == [(5, 1, 0, 2), (4, 3, 0, 0), (1, 0, 1, 0)]


@pytest.mark.parametrize("claim", ["definition", "async-chain", "input"])
@pytest.mark.parametrize("verdict", Verdict)
def test_junit_fails_where_the_status_does(verdict: Verdict, claim: str) -> None:
    """What is unknown, and counts, was skipped there, beside status 3."""
    found = OperationVerdicts((Found(claim=claim, verdict=verdict, reason="why"),))
    module = ModuleResults("m", [InstructionResult("e", instruction("x", "x", 2), found)])
    report = Report([FileResults("m.hlo", "hlo", modules=[module])])
    known = tuple(KnownFinding(fingerprint(r), str(verdict), "x") for r in report.records(undecided_only=True))
    for policy in (
        Policy(),
        Policy(strict=True),
        Policy(allow_unknown=True),
        Policy(severity={claim: "warning"}),
        Policy(severity={claim: "off"}),
        Policy(baseline=known),
    ):
        judged = judge(report, policy)
        suite = ElementTree.fromstring("".join(FORMATS["junit"](judged, Style())))
        assert bool(suite.findall(".//failure") + suite.findall(".//error")) == (judged.exit_status() is not Exit.OK)


def test_junit_skips_what_is_unknown_of_our_reading() -> None:
    junitparser = pytest.importorskip("junitparser")
    unknown = OperationVerdicts((Found(claim="definition", verdict=Verdict.UNKNOWN, reason="opcode x"),))
    module = ModuleResults("m", [InstructionResult("e", instruction("x", "x", 2), unknown)])
    report = Report([FileResults("m.hlo", "hlo", modules=[module])])
    [suite] = junitparser.JUnitXml.fromstring("".join(FORMATS["junit"](judge(report, Policy()), Style())).encode())
    [case] = suite
    assert case.result[0].message == "opcode x" and type(case.result[0]).__name__ == "Skipped"


def test_sarif_is_read_back_by_an_independent_reader(tmp_path: Path) -> None:
    loader = pytest.importorskip("sarif.loader")
    path = tmp_path / "a.sarif"
    path.write_text(written("sarif"))
    records = loader.load_sarif_file(str(path)).get_records()
    assert sorted((r["Location"], r["Line"], r["Code"], r["Severity"]) for r in records) == [
        ("dumps/m.hlo", 6, "definition", "error"),
        ("dumps/m.hlo", 7, "definition", "warning"),
        ("dumps/m.hlo", 8, "definition", "warning"),
        ("my%20rules.rules", 5, "rule", "error"),
        ("my%20rules.rules", 9, "rule", "error"),
        ("my%20rules.rules", 12, "rule", "error"),
    ]


def test_sarif_is_valid_by_the_published_schema() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((Path(__file__).parent / "data" / "sarif-schema-2.1.0.json").read_text())
    known = KnownFinding(fingerprint(next(sample().records(undecided_only=True))), "refuted", "x", "upstream does so")
    comments = (Comment("dumps/m.hlo", 7, ("definition",), "x is ours"),)
    log = json.loads(written("sarif", Policy(baseline=(known,), comments=comments)))
    jsonschema.validate(log, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**log, "not in the standard": 1}, schema)
    kinds = [s["kind"] for r in log["runs"][0]["results"] for s in r.get("suppressions", ())]
    assert kinds == ["external", "inSource"]
    for path, value in ((("runs", 0, "results", 0, "level"), "fatal"), (("version",), "2.0")):
        wrong = json.loads(json.dumps(log))
        place = wrong
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, schema)


def test_sarif_names_both_sides_of_a_rule_and_keeps_fingerprints() -> None:
    run = json.loads(written("sarif"))["runs"][0]
    [wrong] = [r for r in run["results"] if "wrong" in r["message"]["text"]]
    assert wrong["relatedLocations"][0]["physicalLocation"]["region"] == {"startLine": 6, "startColumn": 3}
    rules = [r["id"] for r in run["tool"]["driver"]["rules"]]
    assert all(rules[r["ruleIndex"]] == r["ruleId"] for r in run["results"])
    prints = [r["partialFingerprints"]["hloproof/v1"] for r in run["results"]]
    assert len(set(prints)) == len(prints)


def test_a_fingerprint_depends_on_the_path_and_not_on_the_line() -> None:
    record = next(r for r in sample().records() if r.instruction == "slice" and r.claim == "definition")
    assert fingerprint(replace(record, line=60, column=9)) == fingerprint(record)
    moved = replace(record, file="elsewhere/m.hlo", id=record.id.replace("dumps", "elsewhere"))
    assert fingerprint(moved) != fingerprint(record)  # two files of one name are two
    assert fingerprint(replace(record, id=record.id.replace("slice", "slice.2"))) != fingerprint(record)
    assert fingerprint(replace(record, kind="spec")) != fingerprint(record)


def test_annotations_cannot_break_out_of_their_line() -> None:
    for line in written("github").splitlines():
        assert line.startswith(("::error ", "::warning "))


def test_the_exit_status_counts_what_the_policy_counts() -> None:
    report = sample()
    report.files.pop()  # the one that could not be read
    assert judge(report, Policy()).exit_status() is Exit.REFUTED
    assert judge(report, Policy(severity={"definition": "off", "rule": "off"})).exit_status() is Exit.OK
    assert judge(report, Policy(severity={"definition": "warning", "rule": "warning"})).exit_status() is Exit.OK
    assert judge(report, Policy(severity={"rule": "off"})).exit_status() is Exit.REFUTED
    report.files[0].modules[0].instructions.pop(2)  # the refuted one
    assert judge(report, Policy(severity={"rule": "off"})).exit_status() is Exit.OK
    strict = Policy(severity={"rule": "off"}, strict=True)
    assert judge(report, strict).exit_status() is Exit.UNKNOWN
    assert judge(report, replace(strict, allow_unknown=True)).exit_status() is Exit.OK


def test_an_internal_error_is_never_excused() -> None:
    wrong = OperationVerdicts((Found(claim="definition", verdict=Verdict.INTERNAL, reason="engines disagree"),))
    module = ModuleResults("m", [InstructionResult("e", instruction("x", "x", 2), wrong)])
    report = Report([FileResults("m.hlo", "hlo", modules=[module])])
    known = tuple(KnownFinding(fingerprint(r), str(r.verdict), "x") for r in report.records())
    policy = Policy(True, {"definition": "off"}, known, (Comment("m.hlo", 2, ("definition",), "because"),))
    assert judge(report, policy).exit_status() is Exit.INTERNAL


def test_a_baseline_hides_what_it_lists_and_tells_what_has_gone(tmp_path: Path) -> None:
    report = sample()
    report.files.pop()
    path = tmp_path / "baseline.json"
    write_file(path, baseline_chunks(report))
    known = read_baseline(path)
    judged = judge(report, Policy(baseline=known))
    assert judged.new == [] and judged.gone == [] and judged.exit_status() is Exit.OK
    report.files[0].modules[0].instructions.pop(2)
    judged = judge(report, Policy(baseline=known))
    assert [k.what for k in judged.gone] == ["dumps/m.hlo: definition of slice"] and judged.exit_status() is Exit.OK
    text = "".join(FORMATS["text"](judged, Style()))
    assert "no longer found: dumps/m.hlo: definition of slice (refuted)" in text
    fewer = tuple(k for k in known if "x.1" not in k.what)
    assert [f.record.instruction for f in judge(report, Policy(baseline=fewer)).new] == ["x.1"]


def test_a_refutation_is_new_where_the_baseline_knew_an_unknown() -> None:
    report = sample()
    known = tuple(KnownFinding(fingerprint(r), "unknown", "x") for r in report.records(undecided_only=True))
    assert "slice" in [f.record.instruction for f in judge(report, Policy(baseline=known)).new]


def test_justifications_are_kept_when_a_baseline_is_written_again() -> None:
    first = next(iter(sample().records(undecided_only=True)))
    before = (KnownFinding(fingerprint(first), str(first.verdict), "x", "known upstream"),)
    entries = json.loads("".join(baseline_chunks(sample(), before)))["findings"]
    assert [e["justification"] for e in entries if e["fingerprint"] == before[0].fingerprint] == ["known upstream"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "not JSON"),
        ("[]", "not a baseline"),
        ('{"schema": "hloproof/1"}', "not a baseline"),
        ('{"schema": "hloproof-baseline/1", "findings": []}', "an older form"),
        ('{"schema": "hloproof-baseline/3", "findings": []}', "not a baseline"),
        ('{"schema": "hloproof-baseline/2", "findings": [3]}', "entry 1"),
        ('{"schema": "hloproof-baseline/2", "findings": [{"verdict": "refuted"}]}', "no fingerprint"),
    ],
)
def test_a_broken_baseline_is_refused(content: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    path.write_text(content)
    with pytest.raises(BadInput, match=said):
        read_baseline(path)


def test_suppressions_beside_the_text() -> None:
    text = (
        "HloModule m\n"
        "// hloproof: allow definition because x is ours\n"
        "\n"
        "x.1 = f32[] x()\n"
        "y = f32[] y() // hloproof: allow in-bounds, async because of that\n"
    )
    assert list(suppressions(text, "m.hlo", [4, 5])) == [
        Comment("m.hlo", 4, ("definition",), "x is ours"),
        Comment("m.hlo", 5, ("in-bounds", "async"), "of that"),
    ]
    for wrong in ("# hloproof: allow definition", "# hloproof: allow because x", "hloproof: allow rule because x"):
        with pytest.raises(BadSuppression):
            list(suppressions(wrong, "m.hlo", [1]))


def test_a_suppression_hides_its_finding_and_one_that_matches_nothing_is_told() -> None:
    report = sample()
    report.files.pop()
    comments = (
        Comment("dumps/m.hlo", 6, ("definition",), "upstream does so"),
        Comment("dumps/m.hlo", 4, ("definition",), "x"),
    )
    judged = judge(report, Policy(comments=comments))
    assert "slice" not in [f.record.instruction for f in judged.new] and judged.stale == [comments[1]]
    assert "this suppression of definition matches nothing" in "".join(FORMATS["text"](judged, Style()))
    [hidden] = [r for r in json.loads("".join(FORMATS["json"](judged, Style())))["obligations"] if "suppressed" in r]
    assert hidden["suppressed"] == "upstream does so" and hidden["instruction"] == "slice"


def test_shared_records_are_encoded_like_single_ones() -> None:
    for line, record in zip(encoded(sample()), sample().records(), strict=True):
        data = json.loads(line)
        assert (data["id"], data["line"], data["claim"]) == (record.id, record.line, record.claim)
        assert (data["verdict"], data["reason"]) == (record.verdict, record.reason)


def test_a_report_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "report.json"

    def pieces() -> Any:
        yield "{"
        raise OSError(28, "No space left on device")

    with pytest.raises(BadInput, match="no space left"):
        write_file(path, pieces())
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(BadInput, match="no such file"):
        write_file(tmp_path / "missing" / "report.json", ["{}"])
    write_file(path, ["{}"])
    with pytest.raises(BadInput):
        write_file(path, pieces())
    assert path.read_text() == "{}"


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    """A report renamed over a device took the device away."""
    pipe = tmp_path / "report"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_file(pipe, ["one", " two"])
    assert os.read(reader, 100) == b"one two" and pipe.is_fifo()
    os.close(reader)
