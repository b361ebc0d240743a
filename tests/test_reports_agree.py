"""What the formats of a report say of random findings, held against counting them by hand."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections import Counter
from random import Random

import pytest
from report_sample import instruction

from hloproof.claims.catalogue import CATALOGUE
from hloproof.report.destinations import FORMATS, Style
from hloproof.results.findings import KnownFinding, Policy, fingerprint, judge
from hloproof.results.results import (
    Comment,
    FileResults,
    InputProblem,
    InstructionResult,
    ModuleResults,
    OperationVerdicts,
    Report,
)
from hloproof.results.subject import about_reading
from hloproof.results.verdict import ClaimResult, Exit, Found, Verdict

CLAIMS = [*list(CATALOGUE)[:6], "async-chain", "rule"]
BAD = {Verdict.REFUTED, Verdict.VACUOUS, Verdict.TRIVIAL}


def some_report(random: Random) -> Report:
    """Files with instructions that share verdicts and have some of their own, entries, and texts that are not read."""

    def found(claim: str = "") -> Found:
        verdict = random.choice([*Verdict, Verdict.PROVED])
        shown = "x\n]]>&<\x00\ud800" if verdict is Verdict.REFUTED else None
        return Found(verdict, counterexample=shown, reason=random.choice(["why", None]), claim=claim)

    files = []
    for name in ("d/a.hlo", "d/b.hlo", "c.hlo")[: random.randint(1, 3)]:
        f = FileResults(name, "hlo")
        for module in ("m", "n")[: random.randint(0, 2)]:
            shared = [OperationVerdicts(tuple(map(found, random.sample(CLAIMS, n)))) for n in (0, 1, 3)]
            rows = [
                InstructionResult(
                    "e",
                    instruction(f"i{n}", "copy", random.randint(1, 5)),
                    random.choice(shared),
                    [found("aliases")] * own,
                )
                for n, own in enumerate(random.choices([0, 0, 1, 2], k=4))
            ]
            f.modules.append(ModuleResults(module, rows))
        for n in range(random.randint(0, 2)):
            line = random.randint(1, 5)
            f.others.append(ClaimResult(f"{name}#r{n}", "rule", name, "", line, 1, f"r{n}", found("rule")))
        if random.random() < 0.15:
            f.problems.append(InputProblem(name, "bad", 1, 1, "bad"))
        files.append(f)
    return Report(files, interrupted=random.random() < 0.1)


def some_policy(random: Random, report: Report) -> Policy:
    wrong = [r for r in report.records(undecided_only=True) if random.random() < 0.2]
    comments = [Comment("d/a.hlo", random.randint(1, 5), (random.choice(CLAIMS),), "t") for _ in range(2)]
    return Policy(
        allow_unknown=random.random() < 0.3,
        severity={random.choice(CLAIMS): random.choice(["off", "warning", "error"])},
        baseline=tuple(KnownFinding(fingerprint(r), str(r.verdict), "") for r in wrong),
        comments=tuple(comments),
        strict=random.random() < 0.3,
    )


def counted(report: Report, policy: Policy) -> list[tuple[ClaimResult, str, bool] | None]:
    """Of each record its level and whether it is known; None of what is proved or switched off."""
    left = Counter((k.fingerprint, k.verdict) for k in policy.baseline)
    out: list[tuple[ClaimResult, str, bool] | None] = []
    for r in report.records():
        names = (r.claim, r.claim.split("-")[0])
        severity = next((policy.severity[n] for n in names if n in policy.severity), "error")
        if r.verdict is Verdict.PROVED or (severity == "off" and r.verdict is not Verdict.INTERNAL):
            out.append(None)
            continue
        entry = (fingerprint(r), str(r.verdict))
        known = left[entry] > 0
        left[entry] -= known
        known |= any((c.file, c.line) == (r.file, r.line) and set(names) & set(c.claims) for c in policy.comments)
        lenient = r.verdict is Verdict.UNKNOWN and (policy.allow_unknown or (about_reading(r) and not policy.strict))
        internal = r.verdict is Verdict.INTERNAL
        warning = not internal and (lenient or severity == "warning")
        out.append((r, "warning" if warning else "error", known and not internal))
    return out


def status(found: list[tuple[ClaimResult, str, bool]], report: Report) -> Exit:
    verdicts = {r.verdict for r, level, known in found if level == "error" and not known}
    if report.interrupted:
        return Exit.INTERRUPTED
    if Verdict.INTERNAL in verdicts:
        return Exit.INTERNAL
    if report.problems:
        return Exit.BAD_INPUT
    return Exit.REFUTED if verdicts & BAD else Exit.UNKNOWN if verdicts else Exit.OK


def cases(found: list[tuple[ClaimResult, str, bool]], report: Report) -> Counter[str]:
    """How many cases of JUnit end in what: one for each instruction and entry, each problem, and an interruption."""
    things: dict[str, list[tuple[Verdict, str]]] = {r.id: [] for f in report.files for r in f.others}
    for f in report.files:
        for m in f.modules:
            things |= {f"{f.file}#{m.module}/e/{i.instruction.name}": [] for i in m.instructions}
    for r, level, known in found:
        if not known:
            things[r.id if r.kind == "rule" else r.id.rpartition("/")[0]].append((r.verdict, level))
    out = Counter({"error": len(report.problems) + report.interrupted})
    for told in things.values():
        verdicts = {v for v, _ in told}
        failed = any(v is not Verdict.INTERNAL and level == "error" for v, level in told)
        skipped = "skipped" if Verdict.UNKNOWN in verdicts else ""
        out["error" if Verdict.INTERNAL in verdicts else "failure" if failed else skipped] += 1
    return out


@pytest.mark.parametrize("seed", range(8))
def test_every_format_counts_the_same(seed: int) -> None:
    random = Random(seed)
    for _ in range(12):
        report = some_report(random)
        policy = some_policy(random, report)
        judged = judge(report, policy)
        told = counted(report, policy)
        found = [t for t in told if t is not None]
        assert judged.exit_status() is status(found, report)
        said = {form: "".join(FORMATS[form](judged, Style())) for form in ("json", "sarif", "junit", "github")}

        data = json.loads(said["json"])
        records = list(report.records())
        assert [(o["id"], o["verdict"]) for o in data["obligations"]] == [(r.id, str(r.verdict)) for r in records]
        assert ["suppressed" in o for o in data["obligations"]] == [t is not None and t[2] for t in told]
        verdicts = Counter(str(r.verdict) for r in records)
        assert {v: data["summary"][v] for v in Verdict} == {v: verdicts[v] for v in Verdict}

        run = json.loads(said["sarif"])["runs"][0]
        levels = [("warning" if r.verdict is Verdict.UNKNOWN else level, known) for r, level, known in found]
        assert [(r["level"], "suppressions" in r) for r in run["results"]] == levels
        assert run["invocations"][0]["exitCode"] == status(found, report)

        suites = ET.fromstring(said["junit"])
        ended = Counter(next((e.tag for e in case), "") for case in suites.iter("testcase"))
        assert +ended == +cases(found, report)
        for attribute, tag in (("tests", None), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            total = sum(int(s.get(attribute, "")) for s in suites.iter("testsuite"))
            assert total == (ended.total() if tag is None else ended[tag])

        new = [r for r, _, known in found if not known]
        once = {(r.file, r.claim, r.reason) for r in new if r.verdict is Verdict.UNKNOWN}
        lines = sum(r.verdict is not Verdict.UNKNOWN for r in new) + len(once)
        assert said["github"].count("\n") == lines + len(report.problems) + report.interrupted
