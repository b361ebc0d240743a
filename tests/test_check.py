"""`hloproof check` from files to exit status, on modules small enough to know the answer."""

from __future__ import annotations

import gzip
import io
import json
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import hloproof.models.indexing
from hloproof.cli import run
from hloproof.models.hlo.module import Operation
from hloproof.models.indexing import OperandMaps
from hloproof.models.maps.indexing_map import identity
from hloproof.models.specs.folder import specs_folder
from hloproof.pipeline.file_cache import FileCache
from hloproof.pipeline.options import Options, Selection

ROOT = Path(__file__).parents[1]
EXAMPLE = str(specs_folder() / "examples" / "attention.hlo")
REVERSE = "HloModule m\n\nENTRY e {\n  p = f32[4] parameter(0)\n  ROOT r = f32[4] reverse(p), dimensions={0}\n}\n"
OPAQUE = "HloModule m\n\nENTRY e {\n  p = f32[4] parameter(0)\n  ROOT r = f32[4] shuffle(p)\n}\n"


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working folder and a cache of its own for every test."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def check(*arguments: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    status = run(["check", "--jobs", "1", *arguments])
    said = capsys.readouterr()
    return status, said.out, said.err


def check_json(*arguments: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, Any]:
    status, out, _ = check(*arguments, "--format", "json", capsys=capsys)
    return status, json.loads(out)


def test_the_example_is_proved(capsys: pytest.CaptureFixture[str]) -> None:
    status, data = check_json(EXAMPLE, capsys=capsys)
    assert status == 0
    summary = data["summary"]
    assert summary["proved"] > 150 and summary["refuted"] == summary["unknown"] == summary["internal"] == 0
    assert all(c["complete"] == c["instructions"] for c in summary["per_opcode"].values())
    schema = json.loads((ROOT / "verify" / "report" / "schema.json").read_text())
    pytest.importorskip("jsonschema").validate(data, schema)


def test_the_second_time_the_cache_answers_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    def timeless(data: Any) -> Any:
        return {**data, "obligations": [{**o, "ms": 0} for o in data["obligations"]]}

    first, second = (check_json(EXAMPLE, capsys=capsys) for _ in range(2))
    assert timeless(first[1]) == timeless(second[1])
    assert all(o["ms"] == 0 for o in second[1]["obligations"])


def test_the_output_does_not_depend_on_jobs(capsys: pytest.CaptureFixture[str]) -> None:
    reports = []
    for jobs in ("1", "2"):
        assert run(["check", EXAMPLE, "--no-cache", "--format", "json", "--jobs", jobs]) == 0
        reports.append(re.sub(r'"ms": [0-9.]+', "", capsys.readouterr().out))
    assert reports[0] == reports[1]


def wrong_reverse(op: Operation, output: int = 0) -> tuple[OperandMaps, ...]:
    return (OperandMaps(0, "moves", (identity(op.operands[0].dimensions),)),)  # type: ignore[union-attr]


def test_a_wrong_map_is_refuted_in_the_readers_terms(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("m.hlo").write_text(REVERSE)
    monkeypatch.setattr(hloproof.models.indexing, "output_to_input", wrong_reverse)
    status, out, _ = check("m.hlo", "--no-cache", capsys=capsys)
    assert status == 1
    assert re.search(r"m\.hlo:5:3: refuted definition of r: output\[\d\] reads operand 0 at \[\d\]", out)
    status, out, _ = check("m.hlo", "--no-cache", "--only", "in-bounds", capsys=capsys)
    assert status == 0 and "refuted" not in out
    status, out, _ = check("m.hlo", "--no-cache", "--only", "definition", "--severity", "definition=off", capsys=capsys)
    assert status == 0


def test_fail_fast_ends_with_the_refutation(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("m.hlo").write_text(REVERSE)
    monkeypatch.setattr(hloproof.models.indexing, "output_to_input", wrong_reverse)
    Path("n.hlo").write_text(REVERSE.replace("r =", "later ="))
    status, out, _ = check("m.hlo", "n.hlo", "--no-cache", "--fail-fast", capsys=capsys)
    assert status == 1 and "refuted" in out


def test_an_opcode_that_is_not_known_is_unknown_with_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    Path("m.hlo").write_text(OPAQUE)
    status, data = check_json("m.hlo", capsys=capsys)
    assert status == 0 and check("m.hlo", "--strict", capsys=capsys)[0] == 3, "our maps are no finding of the user's"
    assert data["summary"]["per_opcode"]["shuffle"] == {"instructions": 1, "complete": 0}
    assert any("shuffle" in o["reason"] for o in data["obligations"] if o["verdict"] == "unknown")
    assert check("m.hlo", "--strict", "--allow-unknown", capsys=capsys)[0] == 0


def test_a_bad_module_does_not_take_the_rest_of_its_file_with_it(capsys: pytest.CaptureFixture[str]) -> None:
    bad = REVERSE.replace("reverse", "revers")
    Path("m.hlo").write_text("// -----\n".join([REVERSE, bad, REVERSE]))
    status, out, err = check("m.hlo", capsys=capsys)
    assert status == 2 and "2 modules, 4 instructions" in out and "1 of its modules cannot be read" in out
    assert err.startswith("m.hlo:12:19: unknown opcode 'revers'; did you mean 'reverse'?")
    Path("m.hlo").write_text("// -----\n".join([REVERSE, "// expect: error\n" + bad, "// expect: proved\n" + REVERSE]))
    assert check("m.hlo", capsys=capsys)[0] == 0
    # The error of another module is not the one that is expected.
    Path("m.hlo").write_text("// -----\n".join([bad, "// expect: error\n" + REVERSE]))
    status, out, err = check("m.hlo", "--no-cache", capsys=capsys)
    assert status == 2 and "expected to be an error, and it can be read" in out + err


def test_a_bad_file_does_not_take_the_others_with_it(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.hlo").write_text("HloModule a\n\nENTRY e {\n  ROOT p = f32[4] parameter(\n}\n")
    Path("b.hlo").write_text(REVERSE)
    status, out, err = check("a.hlo", "b.hlo", capsys=capsys)
    assert status == 2 and "b.hlo: 2 instructions" in out
    place, _, caret = err.partition("\n")
    assert re.match(r"a\.hlo:\d+:\d+: ", place) and "^" in caret and "Traceback" not in err


def test_folders_standard_input_and_kinds(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    Path("dumps/inner").mkdir(parents=True)
    Path("dumps/inner/module_0001.m.txt").write_text(REVERSE)
    Path("dumps/notes.md").write_text("not an input")
    status, out, _ = check("dumps", capsys=capsys)
    assert status == 0 and out.startswith("dumps/inner/module_0001.m.txt: 2 instructions")
    Path("m.dump").write_text(REVERSE)
    assert check("m.dump", capsys=capsys)[0] == 2
    assert check("m.dump", "--kind", "hlo", capsys=capsys)[0] == 0
    stdin = io.TextIOWrapper(io.BytesIO(REVERSE.encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    status, out, _ = check("-", capsys=capsys)
    assert status == 0 and out.startswith("-: 2 instructions")


def test_modules_of_one_name_in_one_file_are_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    Path("m.hlo").write_text(REVERSE + "\n// -----\n\n" + REVERSE)
    _, data = check_json("m.hlo", capsys=capsys)
    ids = [o["id"] for o in data["obligations"]]
    assert len(set(ids)) == len(ids) and {o["module"] for o in data["obligations"]} == {"m", "m@2"}
    assert {o["line"] for o in data["obligations"]} == {5, 14}


def test_one_instruction(capsys: pytest.CaptureFixture[str]) -> None:
    status, data = check_json(EXAMPLE, "--instruction", "by_position", capsys=capsys)
    assert status == 0 and {o["instruction"] for o in data["obligations"]} == {"by_position"}
    status, _, err = check(EXAMPLE, "--instruction", "nobody", capsys=capsys)
    assert status == 2 and "no instruction 'nobody'" in err


def test_several_reports_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, _ = check(EXAMPLE, "--output", "sarif=a.sarif", "--output", "junit=b.xml", capsys=capsys)
    assert status == 0 and json.loads(Path("a.sarif").read_text())["runs"][0]["results"] == []
    assert "<testsuite " in Path("b.xml").read_text()
    _, data = check_json(EXAMPLE, "--output", "text=c.txt", capsys=capsys)
    assert data["schema"] == "hloproof/1" and "attention.hlo: 50 instructions" in Path("c.txt").read_text()
    status, _, err = check(EXAMPLE, "--output", "sarf=a.sarif", capsys=capsys)
    assert status == 2 and "FORMAT=FILE" in err
    status, _, err = check(EXAMPLE, "--output", "json=missing/a.json", capsys=capsys)
    assert status == 2 and "missing/a.json: no such file" in err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('pahts = ["a"]', "unknown key 'pahts'; did you mean 'paths'"),
        ('jobs = "two"', "jobs is a whole number"),
        ("jobs = true", "jobs is a whole number"),
        ('severity = {definition = "loud"}', "severity is a table"),
        ("paths = [", "hloproof.toml"),
        ('only = ["definitoin"]', "did you mean 'definition'"),
        ('format = "yaml"', "yaml"),
    ],
)
def test_a_broken_configuration_is_one_line(text: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("hloproof.toml").write_text(text)
    status, out, err = check(EXAMPLE, capsys=capsys)
    assert status == 2 and said in err and out == "" and "Traceback" not in err


def test_settings_are_read_and_the_command_line_goes_before_them(capsys: pytest.CaptureFixture[str]) -> None:
    Path("m.hlo").write_text(OPAQUE)
    lines = ("[tool.hloproof]", 'paths = ["m.hlo"]', "strict = true", "allow-unknown = true", 'format = "json"')
    Path("pyproject.toml").write_text("\n".join(lines))
    status = run(["check", "--jobs", "1"])
    assert status == 0 and json.loads(capsys.readouterr().out)["summary"]["unknown"] > 0
    Path("hloproof.toml").write_text('paths = ["m.hlo"]\nstrict = true\n')
    assert run(["check", "--jobs", "1"]) == 3
    assert capsys.readouterr().out.startswith("m.hlo: 2 instructions")
    status, out, _ = check(EXAMPLE, capsys=capsys)
    assert status == 0 and "attention" in out


def test_nothing_is_coloured_when_it_is_piped(capsys: pytest.CaptureFixture[str]) -> None:
    assert "\x1b" not in check(EXAMPLE, capsys=capsys)[1]


def module_of_many(count: int) -> str:
    """A module with as many different operations."""
    lines = [f"  p{n} = f32[{n + 2},{n + 3}] parameter({n})" for n in range(count)]
    lines += [f"  r{n} = f32[{(n + 2) * (n + 3)}] reshape(p{n})" for n in range(count)]
    shapes = ", ".join(f"f32[{(n + 2) * (n + 3)}]" for n in range(count))
    names = ", ".join(f"r{n}" for n in range(count))
    return "HloModule m\n\nENTRY e {\n" + "\n".join(lines) + f"\n  ROOT t = ({shapes}) tuple({names})\n}}\n"


def started(arguments: Sequence[str], **more: Any) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "hloproof", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more
    )


def test_ctrl_c_reports_what_is_known_and_ends_with_130() -> None:
    command = ["check", EXAMPLE, "-", "--kind", "hlo", "--no-cache", "--jobs", "1"]
    process = started(command, start_new_session=True, stdin=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(module_of_many(1500).encode())  # more than a pipe holds: it is being read when this returns
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert b"Traceback" not in err
    assert b"interrupted" in out


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="no device /dev/full on this system")
def test_a_full_disk_under_the_report_is_one_line() -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "hloproof", "check", EXAMPLE, "--format", "json"],
            check=False,
            stdout=full,
            stderr=subprocess.PIPE,
        )
    assert done.returncode == 2 and done.stderr.count(b"\n") == 1 and b"no space left" in done.stderr


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="no device /dev/full on this system")
def test_what_cannot_be_told_is_no_verdict(tmp_path: Path) -> None:
    """With a full disk under the standard error the status was 120, whatever was found."""
    (tmp_path / "nothing").write_text("")  # passed over, which is told
    for text, status in (("ROOT p = f32[4] parameter(0)", 0), ("ROOT p = f32[4] nothing()", 2)):
        (tmp_path / "m.hlo").write_text(f"HloModule m\nENTRY e {{ {text} }}\n")
        with open("/dev/full", "wb") as full:
            command = [sys.executable, "-m", "hloproof", "check", str(tmp_path), "--no-cache"]
            assert subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=full).returncode == status


def test_a_reader_that_goes_away_is_no_error() -> None:
    command = f"{sys.executable} -m hloproof check {EXAMPLE} --format json | head -c 100; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], check=False, capture_output=True)
    assert b"Traceback" not in done.stderr and done.returncode in (0, 141)


def test_the_library_says_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    import hloproof

    report = hloproof.check([EXAMPLE])
    assert report.verdict is hloproof.Verdict.PROVED and report.exit_status() == 0


def test_every_claim_that_is_owed_is_in_the_catalogue() -> None:
    from hloproof.claims import CLAIMS
    from hloproof.claims.asynchronous import CLAIMS as MODULE_CLAIMS
    from hloproof.claims.catalogue import CATALOGUE
    from hloproof.pipeline.items import ITEM_KINDS

    owed = {*CLAIMS, *(c.name for c in MODULE_CLAIMS), *(k.claim for k in ITEM_KINDS.values())}
    assert owed <= set(CATALOGUE)
    assert {c.name for c in MODULE_CLAIMS if c.on_request} == {e.name for e in CATALOGUE.values() if e.on_request}


def test_a_damaged_cache_costs_nothing_but_a_warning(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "proofs.sqlite"
    path.write_bytes(b"SQLite format 3\0" + bytes(range(256)) * 40)
    Path("m.hlo").write_text(REVERSE)
    Path("m.rules").write_text("rule halves\n  (x floordiv 2) floordiv 3 => x floordiv 6\n")
    status, _, err = check("m.hlo", "m.rules", "--cache", str(path), capsys=capsys)
    assert status == 0 and "Traceback" not in err


def test_what_is_kept_follows_the_text_and_what_is_asked(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    cache = ("--cache", str(tmp_path / "proofs.sqlite"))
    Path("m.hlo").write_text(REVERSE)
    assert check("m.hlo", *cache, capsys=capsys)[0] == 0
    Path("m.hlo").write_text(OPAQUE)
    for _ in range(2):
        status, out, _ = check("m.hlo", *cache, capsys=capsys)
        assert status == 0 and "shuffle" in out
    assert check("m.hlo", "--only", "bijective", *cache, capsys=capsys)[0] == 0
    Path("m.rules").write_text("rule halves\n  (x floordiv 2) floordiv 3 => x floordiv 5\n")
    for _ in range(2):
        assert check("m.rules", *cache, capsys=capsys)[0] == 1
    Path("m.rules").write_text("rule halves\n  (x floordiv 2) floordiv 3 => x floordiv 6\n")
    assert check("m.rules", *cache, capsys=capsys)[0] == 0


def test_a_kept_file_answers_with_an_internal_error_never(tmp_path: Path) -> None:
    """What is not final, or wrong, is not kept: the next run decides anew."""
    from hloproof.models.errors import Position
    from hloproof.pipeline.file_cache import FileCache
    from hloproof.pipeline.options import Options
    from hloproof.results.results import FileResults, InstructionResult, ModuleResults, OperationVerdicts, Site
    from hloproof.results.verdict import Found, Verdict

    cache = FileCache(Options(cache=tmp_path / "proofs.sqlite"))
    for number, (verdict, final, kept) in enumerate(
        [
            (Verdict.PROVED, True, True),
            (Verdict.UNKNOWN, True, True),
            (Verdict.UNKNOWN, False, False),
            (Verdict.INTERNAL, True, False),
            (Verdict.REFUTED, True, True),
        ]
    ):
        claim = Found(claim="definition", verdict=verdict, reason="because", final=final)
        site = Site("r", "reverse", Position(5, 3))
        module = ModuleResults("m", [InstructionResult("e", site, OperationVerdicts((claim,)))])
        results = FileResults("m.hlo", "hlo", modules=[module])
        key = cache.key("m.hlo", f"text {number}")
        cache.put(key, results)
        found = cache.get(key, FileResults("m.hlo", "hlo"))
        assert (found is not None) == kept
        if found is not None:
            assert [r.verdict for r in found.records()] == [verdict]


def test_a_kept_file_holds_no_record_without_a_verdict(tmp_path: Path) -> None:
    from hloproof.pipeline.file_cache import FileCache
    from hloproof.pipeline.items import unreadable
    from hloproof.pipeline.options import Options
    from hloproof.results.results import FileResults
    from hloproof.results.verdict import Verdict

    cache = FileCache(Options(cache=tmp_path / "proofs.sqlite"))
    for verdict, kept in ((Verdict.PROVED, True), (Verdict.UNKNOWN, False), (Verdict.INTERNAL, False)):
        key = cache.key("m.hlo", str(verdict))
        cache.put(key, FileResults("m.hlo", "hlo", others=[unreadable("m.hlo", "because", verdict)]))
        assert (cache.get(key, FileResults("m.hlo", "hlo")) is not None) == kept


@pytest.mark.parametrize(
    ("text", "wanted", "verdict", "status"),
    [
        (OPAQUE, "proved", "unknown", 3),
        (OPAQUE, "unknown", "proved", 0),
        (OPAQUE, "refuted", "unknown", 3),
        (OPAQUE.replace("shuffle", "negate"), "proved", "proved", 0),
        (OPAQUE.replace("shuffle", "negate"), "refuted definition", "refuted", 1),
    ],
)
def test_an_expectation_is_met_or_is_not(
    text: str, wanted: str, verdict: str, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("m.hlo").write_text(f"// expect: {wanted}\n{text}", encoding="utf-8")
    found, out, _ = check("m.hlo", "--no-cache", "--format", "json", capsys=capsys)
    records = {o["claim"]: o["verdict"] for o in json.loads(out)["obligations"]}
    assert (records["expectation"], found) == (verdict, status)


OPEN = """HloModule open

ENTRY e {
  p = f32[4]{0} parameter(0)
  s = ((f32[4]{0}), f32[4]{0}, s32[]) async-start(p), calls=w
  ROOT r = f32[4]{0} negate(p)
}

w {
  q = f32[4]{0} parameter(0)
  ROOT n = f32[4]{0} negate(q)
}
"""


@pytest.mark.longer
def test_the_modules_that_come_with_it_are_what_they_are_expected_to_be(capsys: pytest.CaptureFixture[str]) -> None:
    for folder in ("async", "refuted"):
        assert check(str(specs_folder() / folder), "--no-cache", "-q", capsys=capsys)[0] == 0, folder


EXPECTED = [
    # A claim that nobody makes holds of nothing; it was said to be proved.
    ("// expect: proved definitoin\n" + REVERSE, (), 2),
    ("// expect: proved definition\n" + REVERSE, (), 0),
    ("// expect: proved hazard-output\n" + REVERSE, (), 1),
    ("// expect: refuted async-chian\n" + OPEN, (), 2),
    # A family stands for its claims.
    ("// expect: refuted async\n" + OPEN, (), 0),
    ("// expect: proved async\n" + OPEN, (), 1),
    # One expectation for one module, wherever the line between two of them begins.
    ("// expect: refuted\n// expect: proved\n" + REVERSE, (), 2),
    ("// expect: refuted\n" + OPEN + "  // -----\n" + OPEN, (), 1),
    ("// expect: refuted\n" + OPEN + "  // -----\n// expect: refuted\n" + OPEN, (), 0),
    # What was not asked for neither meets an expectation nor breaks it.
    ("// expect: refuted\n" + OPEN, ("--only", "in-bounds"), 0),
    ("// expect: refuted\n" + OPEN, ("--instruction", "r"), 0),
    ("// expect: refuted\n" + OPEN, ("--instruction", "s"), 0),
    ("// expect: refuted async-chain in-bounds\n" + OPEN, ("--only", "async-chain"), 0),
    ("// expect: refuted in-bounds\n" + OPEN, ("--only", "async-chain"), 1),
    ("// expect: refuted in-bounds\n" + OPEN, ("--only", "in-bounds"), 1),
]


@pytest.mark.parametrize(("text", "options", "status"), EXPECTED)
def test_an_expectation_is_about_what_is_claimed_of_one_module(
    text: str, options: Sequence[str], status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("m.hlo").write_text(text)
    assert check("m.hlo", "--no-cache", *options, capsys=capsys)[0] == status


@pytest.mark.parametrize(
    ("expected", "found", "counts"),
    [
        (None, "refuted", "refuted"),
        ("proved", "refuted", "refuted"),
        ("proved", "unknown", "unknown"),
        ("refuted", "refuted", "proved"),
        ("refuted", "proved", "refuted"),
        ("refuted", "unknown", "unknown"),
        ("refuted", "internal", "internal"),
        ("refuted", "vacuous", "vacuous"),
        ("unknown", "unknown", "proved"),
        ("unknown", "proved", "refuted"),
        ("unknown", "refuted", "refuted"),
        ("unknown", "internal", "internal"),
    ],
)
def test_what_an_expectation_makes_of_a_verdict(expected: str | None, found: str, counts: str) -> None:
    """Nothing counts as proved but what is proved, or is the very verdict that was expected."""
    from hloproof.results.expectation import met
    from hloproof.results.verdict import Found, Verdict

    told = met(expected, Found(Verdict(found), counterexample="at 3" if found == "refuted" else None))
    assert told.verdict == counts
    assert (told.counterexample is None) == (counts != "refuted")
    late = Found(Verdict.UNKNOWN, reason="not tried", final=False)  # what time ran out for is no unknown to expect
    assert met(expected, late) == late


REPORTS = {
    "module_0001.jit_f.after_optimizations-buffer-assignment.txt": (
        "BufferAssignment:\nallocation 0: size 16, parameter 0, shape |f32[4]| at ShapeIndex {}:\n"
        " value: <0 p @0> (size=16,offset=0): f32[4]{0}\n"
        "allocation 1: size 16, output shape is |f32[4]|, maybe-live-out:\n"
        " value: <1 r @0> (size=16,offset=0): f32[4]{0}\n"
    ),
    "module_0001.jit_f.after_optimizations-live-range.txt": "HloLiveRange (max 3):\n  InstructionSequence:\n    0:p\n",
    "module_0001.jit_f.thunk_sequence.txt": "000: kernel @fusion\n",
    "module_0001.jit_f.ir-no-opt.ll": "; ModuleID = 'm'\ndefine void @f() {\n}\n",
}
"""What a compiler writes into a folder of dumps beside its modules."""


def test_a_folder_of_dumps_is_taken_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    for name, text in REPORTS.items():
        Path("dumps", name).parent.mkdir(exist_ok=True)
        Path("dumps", name).write_text(text)
    Path("dumps/module_0001.jit_f.before_optimizations.txt").write_text(REVERSE)
    scheduled = REVERSE.replace("HloModule m", "HloModule m, is_scheduled=true")
    Path("dumps/module_0001.jit_f.after_optimizations.txt.gz").write_bytes(gzip.compress(scheduled.encode()))
    status, out, err = check("dumps", capsys=capsys)
    assert (status, err) == (0, "") and "2 files, 4 instructions" in out
    assert check("dumps", "--exclude", "*.gz", capsys=capsys)[1].startswith("dumps/module_0001.jit_f.before")
    assert check("dumps", "--include", "*after*", capsys=capsys)[1].startswith("dumps/module_0001.jit_f.after")


def test_a_bomb_of_zeros_is_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("hloproof.pipeline.sources.LARGEST", 1 << 20)
    Path("m.hlo.gz").write_bytes(gzip.compress(bytes(2 << 20)))
    status, _, err = check("m.hlo.gz", capsys=capsys)
    assert status == 2 and "unpacks to more than 1 MiB" in err


BROKEN = REVERSE.replace("f32[4] reverse(p)", "f32[5] reverse(p)")
PACKED = {
    "two packed files": (gzip.compress(REVERSE.encode()) + gzip.compress(f"// -----\n{REVERSE}".encode()), 0),
    "the second of them is wrong": (gzip.compress(REVERSE.encode()) + gzip.compress(f"// -----\n{BROKEN}".encode()), 2),
    "the second of them ends too early": (gzip.compress(REVERSE.encode()) + gzip.compress(b"")[:-4], 2),
    "something else behind": (gzip.compress(REVERSE.encode()) + b"HloModule", 2),
    "zeros behind, as a tape has them": (gzip.compress(REVERSE.encode()) + bytes(700), 0),
    "an empty one before": (gzip.compress(b"") + gzip.compress(REVERSE.encode()), 0),
}


@pytest.mark.parametrize("what", PACKED)
def test_all_of_a_packed_file_is_read(what: str, capsys: pytest.CaptureFixture[str]) -> None:
    data, expected = PACKED[what]
    Path("m.hlo.gz").write_bytes(data)
    Path("dumps").mkdir()
    Path("dumps/m.txt.gz").write_bytes(data)
    for path in ("m.hlo.gz", "dumps"):
        assert check(path, capsys=capsys)[0] == expected, path


ASKED = [
    {"selection": Selection(only=("layout",))},
    {"selection": Selection(skip=("layout",))},
    {"selection": Selection(instructions=("r",))},
    {"cross": True},
    {"obligation_seconds": 1.0},
    {"layout_sensitive": True},
    {"after_copy_insertion": True},
    {"index_width": 32},
]


@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: next(iter(asked)))
def test_what_was_kept_of_another_question_is_no_answer(asked: dict[str, Any]) -> None:
    plain, other = (FileCache(Options(cache=Path("kept.db"), **more)) for more in ({}, asked))
    keys = [cache.key("m.hlo", REVERSE) for cache in (plain, other, plain)]
    assert keys[0] and keys[0] == keys[2] != keys[1]
    others = [("n.hlo", REVERSE), ("m.hlo", OPAQUE), ("m.hlo", REVERSE + "x")]
    with_plans = [("m.hlo", REVERSE, plan) for plan in (("p", "x"), ("p", ""), ("q", "x"), ("px", ""))]
    made = {keys[0], *(plain.key(*given) for given in others), *(plain.key(*given) for given in with_plans)}
    assert len(made) == 8
    plain.close()
    other.close()


def test_a_claim_that_was_left_out_before_is_judged_now(capsys: pytest.CaptureFixture[str]) -> None:
    Path("m.hlo").write_text(OPEN)
    assert check("m.hlo", "--only", "in-bounds", capsys=capsys)[0] == 0
    assert check("m.hlo", "--instruction", "r", capsys=capsys)[0] == 0
    assert check("m.hlo", capsys=capsys)[0] == 1
