"""Nothing that is named is passed over: how files are found, where their lines end, what their plans are, and what is
kept of them from run to run."""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Mapping
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from memory_cases import CHAIN, CHAIN_PLAN
from small_modules import ADD, BAD, ONE, TAKE

from hloproof.cli import run
from hloproof.engines.certificate import enter
from hloproof.library.jax_programs import validate_dumps
from hloproof.models.errors import Position
from hloproof.pipeline import folders
from hloproof.pipeline.driver import check_hlo, check_text
from hloproof.pipeline.folders import find_sources
from hloproof.pipeline.options import Options, Selection
from hloproof.pipeline.pass_dumps import find_dumps
from hloproof.pipeline.passes import PassOptions, validate
from hloproof.results.errors import BadInput
from hloproof.results.results import (
    FileResults,
    InstructionResult,
    ModuleResults,
    OperationVerdicts,
    Report,
    Site,
    worst,
)
from hloproof.results.verdict import Found, Verdict

RULE, WRONG_RULE = "rule a\n  x + 0 => x\n", "rule a\n  x + 1 => x\n"
MAP = "map a\n  map (d0) -> (d0), domain: d0 in [0, 4]\n  becomes (d0) -> (d0 + {}), domain: d0 in [0, 4]\n"
LAYOUT = "layout a\n  shape f32[2,3]{{1,0}}\n  bytes {}\n"
TENSOR_RULE = "rule a\n  A: [n]\n  negate(negate(A)) => {}\n"
PAIR = f"pair a\n  expect proved\n{ONE}=>\n{ONE}"
EXPECTED = f"// expect: proved\n{ONE}"

SPECS = {
    "a.rules": (RULE, WRONG_RULE),
    "a.map": (MAP.format(0), MAP.format(1)),
    "a.layout": (LAYOUT.format(24), LAYOUT.format(25)),
    "a.trules": (TENSOR_RULE.format("A"), TENSOR_RULE.format("negate(A)")),
    "a.pairs": (PAIR, PAIR.replace("proved", "refuted")),
    "a.hlo": (EXPECTED, EXPECTED.replace("proved", "refuted")),
}
"""By the name of a file: one that holds, and one that does not."""


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working folder and a cache of its own for every test."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.mark.parametrize("name", SPECS)
@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_a_line_ends_for_all_readers_where_it_does_for_one(name: str, end: str) -> None:
    """Behind a comment that ends in a carriage return nothing was read, nor an expectation that is not at the start."""
    comment = "// note\n" if name.endswith(".hlo") else "# note\n"
    for text, verdict in zip(SPECS[name], (Verdict.PROVED, Verdict.REFUTED), strict=True):
        read = check_text(name, name[2:], (comment + text).replace("\n", end), Options(), here=True)
        assert not read.problems and worst(read.counts()) is verdict


@pytest.mark.parametrize("name", SPECS)
def test_a_file_without_an_entry_is_no_proof(name: str) -> None:
    """An empty one, as a full disk leaves it behind, was proved unless it was to hold a module."""
    for text in ("", "\n", "// nothing\n" if name.endswith(".hlo") else "# nothing\n"):
        Path(name).write_text(text)
        assert run(["check", name]) == 2


HIDDEN: Mapping[str, bytes] = {
    "letters of two bytes": BAD.encode("utf-16"),
    "letters of two bytes without a mark": BAD.encode("utf-16-be"),
    "a mark of the order of bytes": BAD.encode("utf-8-sig"),
    "carriage returns": f"// note\n{BAD}".replace("\n", "\r").encode(),
    "a long comment": b"// " + b"x" * 70_000 + b"\n" + BAD.encode(),
    "a long comment, packed": gzip.compress(b"/* " + b"x" * 70_000 + b"*/" + BAD.encode()),
    "a comment before each": b"/* */ " + BAD.replace("ENTRY", "/* */ ENTRY").encode(),
}


HEADERLESS: Mapping[str, str] = {
    "the entry is far down": "%f (p: (f32[4], s32[])) -> f32[4]{0} {\n" + "  %n = f32[4]{0} negate(%p)\n" * 3_000,
    "parameters on lines of their own": "%f (p: f32[4],\n  q: (f32[4], s32[])) -> f32[4] {\n" + "  %n = x\n" * 9_000,
    "an instruction alone": "// why\nROOT r = f32[8,4]{1,0} transpose(f32[4,8]{1,0} p), dimensions={1,0}\n",
    "an empty tuple alone": "t = () tuple()\n",
}


@pytest.mark.parametrize("what", HEADERLESS)
def test_a_module_without_a_header_is_found_among_texts(what: str) -> None:
    """As far as the beginning tells it."""
    Path("d").mkdir()
    Path("d/n.txt").write_text(HEADERLESS[what])
    assert [s.name for s in find_sources(["d"])] == ["d/n.txt"]
    for words in ("Notes (see: f32)\n", "if (x) {\n", "x: 3\n", "a (" + ") -> " * 9_000, "\n" * 60_000 + "total"):
        Path("d/n.txt").write_text(words)
        with pytest.raises(BadInput, match="no input in this folder"):
            find_sources(["d"])


@pytest.mark.parametrize("name", ["M.HLO", "m.Txt", "m.hlo.GZ"])
def test_a_suffix_in_capitals_is_one(name: str) -> None:
    Path("d").mkdir()
    Path("d/a.hlo").write_text(ONE)
    Path("d", name).write_bytes(gzip.compress(BAD.encode()) if name.endswith("GZ") else BAD.encode())
    assert run(["check", "d", "-q"]) == 1
    assert run(["check", f"d/{name}", "-q"]) == 1


PACKINGS = {".zst": b"\x28\xb5\x2f\xfd", ".bz2": b"BZh9", ".xz": b"\xfd7zXZ", ".zip": b"PK\x03\x04"}


@pytest.mark.parametrize("name", ["b.hlo", "b.txt", "b.rules", "b.hlo.pb", "b.HLO"])
@pytest.mark.parametrize("packing", PACKINGS)
def test_what_is_packed_in_a_way_that_is_not_read_is_told(
    name: str, packing: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Named it was an error, and in a folder it was passed over."""
    Path("d").mkdir()
    Path("d/a.hlo").write_text(ONE)
    Path("d", name + packing).write_bytes(PACKINGS[packing] + b"rest")
    for path in ("d", f"d/{name}{packing}"):
        assert run(["check", path]) == 2 and "it first" in capsys.readouterr().err
    Path("d", name + packing).rename(f"d/notes{packing}")
    assert run(["check", "d"]) == 0


@pytest.mark.parametrize(
    ("name", "data", "status"),
    [
        ("m.before_optimizations.txt", b"", 2),
        ("m.gfx942_gpu_after_optimizations.txt", b"\0" * 512, 2),
        ("m.0001.p.after_x.txt", b"// nothing\n", 2),
        ("m.0001.p.after_x.before_y.txt.gz", b"", 2),
        ("m.0001.p.after_x.before_y.txt.gz", gzip.compress(b"", mtime=0), 2),
        ("notes.txt", b"", 0),
        ("m.before_optimizations-memory-usage-report.txt", b"", 0),
        ("m.before_optimizations.txt", b"what the compiler wrote", 0),  # of what is no module the name says nothing
    ],
)
def test_a_dump_that_is_empty_is_told(name: str, data: bytes, status: int) -> None:
    """A disk was full, or a machine was switched off: in a folder the file was taken for no module, and passed over."""
    Path("d").mkdir()
    Path("d/a.hlo").write_text(ONE)
    Path("d", name).write_bytes(data)
    assert run(["check", "d"]) == status


@pytest.mark.parametrize("name", ["a.rules", "a.trules", "a.hlo"])
def test_a_folder_for_certificates_is_one(name: str) -> None:
    """That it is a file was an error of this tool, told by a worker."""
    Path(name).write_text(SPECS[name][0])
    Path("p").write_text("")
    assert run(["check", name, "--certify", "p"]) == 2
    assert run(["check", name, "--certify", "q/r"]) == 0 and Path("q/r").is_dir()


def test_a_plan_or_a_dump_that_is_packed_in_such_a_way_is_told() -> None:
    Path("m.hlo").write_text(ONE)
    Path("m-buffer-assignment.txt.zst").write_bytes(PACKINGS[".zst"])
    assert run(["check", "m.hlo"]) == 2
    folder = dumps(a=(ADD, f"{ADD} "))
    (folder / "a.cpu_after_optimizations.txt.zst").write_bytes(PACKINGS[".zst"])
    assert run(["passes", str(folder)]) == 2


def test_a_file_that_is_called_as_standard_input_is() -> None:
    Path("-").write_text(BAD)
    assert [s.name for s in find_sources(["./-", "-"], "hlo")] == ["./-", "-"]
    assert run(["check", "./-", "--kind", "hlo", "-q"]) == 1


def test_folders_that_link_to_each_other_come_to_an_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """There are as many ways through ten such as there are orders of ten."""
    for one in range(6):
        Path(f"d/{one}").mkdir(parents=True)
        for other in range(6):
            Path(f"d/{one}/{other}").symlink_to(f"../{other}")
    Path("d/a.hlo").write_text(ONE)
    monkeypatch.setattr(folders, "_LINKED", 100)
    assert run(["check", "d"]) == 2 and "behind links" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["text", "json", "sarif", "junit", "github", "html", "baseline"])
def test_a_name_that_is_no_text_is_reported(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What is told apart by its name was an internal error."""
    name = os.fsdecode(b"\xff.hlo")
    try:
        Path(name).write_text(BAD)
    except OSError:
        pytest.skip("this file system takes names that are text")
    if form == "baseline":
        assert run(["baseline", name, "--write", "b.json"]) == 0
        assert run(["check", name, "--baseline", "b.json", "-q"]) == 0
    else:
        out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace")
        with redirect_stdout(out):
            assert run(["check", name, "--format", form]) == 1


def test_certificates_are_not_promised_of_a_cluster(capsys: pytest.CaptureFixture[str]) -> None:
    """None were written, and nothing was said."""
    Path("m.hlo").write_text(ONE)
    assert run(["check", "m.hlo", "--cluster", "tcp://127.0.0.1:1", "--certify", "p"]) == 2
    assert "--certify" in capsys.readouterr().err


@pytest.mark.parametrize("what", HIDDEN)
def test_a_module_among_the_texts_of_a_folder_is_found(what: str) -> None:
    """Reports that lie beside modules are passed over, and so were these modules."""
    Path("d").mkdir()
    Path("d/m.hlo").write_text(ONE)
    Path("d/report.txt").write_text("// Total time: 5 ms\n" + "thread 1: fusion\n" * 9_000)
    assert run(["check", "d", "-q"]) == 0
    Path("d/n.txt.gz" if HIDDEN[what].startswith(b"\x1f\x8b") else "d/n.txt").write_bytes(HIDDEN[what])
    assert run(["check", "d", "-q"]) == (2 if "two bytes" in what else 1)


def test_folders_behind_links_are_looked_into(monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("d/inside", "elsewhere"):
        Path(folder).mkdir(parents=True)
    Path("d/m.hlo").write_text(ONE)
    Path("d/inside/back").symlink_to("../../d")  # one that leads back is not followed without end
    assert run(["check", "d"]) == 0
    Path("d/link").symlink_to("../elsewhere")
    assert run(["check", "d"]) == 0
    Path("elsewhere/n.hlo").write_text(BAD)
    assert run(["check", "d"]) == 1
    assert run(["check", "d", "--exclude", "link/*"]) == 0

    def closed(self: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", closed)
    assert run(["check", "d"]) == 2


def test_an_empty_name_is_not_the_working_folder(capsys: pytest.CaptureFixture[str]) -> None:
    """As of a variable that is not set."""
    Path("m.hlo").write_text(ONE)
    assert run(["check", "."]) == 0
    assert run(["check", ""]) == 2 and "empty name" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("module", "plan"),
    [
        ("m.hlo", "m-buffer-assignment.txt"),
        ("m.hlo", "m-buffer-assignment.txt.gz"),
        ("m.txt.gz", "m-buffer-assignment.txt.gz"),
        ("module.hlo", "assignment.txt"),
        ("M.TXT.GZ", "M-buffer-assignment.txt"),
        ("m.hlo.GZ", "m-buffer-assignment.txt"),
    ],
)
def test_a_plan_is_found_packed_and_behind_a_broken_link(module: str, plan: str) -> None:
    data = ONE.encode()
    Path(module).write_bytes(gzip.compress(data) if module.lower().endswith(".gz") else data)
    assert run(["check", module]) == 0
    Path(plan).write_bytes(gzip.compress(b"no plan") if plan.endswith(".gz") else b"no plan")
    assert run(["check", module]) == 2
    Path(plan).write_bytes(b"")  # kept was what is known without one, as if an empty plan were none
    assert run(["check", module]) == 2
    Path(plan).unlink()
    Path(plan).symlink_to("gone")
    assert run(["check", module]) == 2


def test_the_plan_of_a_buffer_is_named_like_that_of_its_text() -> None:
    from hloproof.pipeline.memory_plans import plan_beside, plans_in

    Path("d").mkdir()
    Path("d/m-buffer-assignment.txt").write_text("")
    assert plan_beside("d/m.hlo.pb") == "d/m-buffer-assignment.txt" == plan_beside("d/m.hlo.pb.gz")
    assert list(plans_in("d")) == [("d/m.txt", "d/m-buffer-assignment.txt")]  # which is not there: status 2
    assert run(["memory", "d"]) == 2
    for name in ("m.hlo.pb", "m.txt"):
        Path("d", name).write_text("")
        assert list(plans_in("d")) == [(f"d/{name}", "d/m-buffer-assignment.txt")]


def test_an_expectation_in_a_name_is_none() -> None:
    """What stands in a string came from whoever named things."""
    for text, status in ((BAD, 1), (f"// expect: refuted\n{BAD}", 0)):
        for name in ("x", "x\n// expect: refuted async-chain\n"):
            Path("m.hlo").write_text(text.replace("add(%a, %a)", f'add(%a, %a), metadata={{op_name="{name}"}}'))
            assert run(["check", "m.hlo"]) == status


@pytest.mark.parametrize("around", ["/*\n{}*/\n", "/* x\n\n{} */", "{}"])
def test_an_expectation_that_is_taken_out_is_none(around: str) -> None:
    for expected, status in (("refuted", 1), ("proved", 0)):
        text = BAD if expected == "refuted" else ONE
        Path("m.hlo").write_text(around.format(f"// expect: {expected}\n") + text)
        assert run(["check", "m.hlo"]) == (status if "/*" in around else 0)


@pytest.mark.parametrize("paths", [["m.txt"], ["."]])
def test_a_folder_with_the_name_of_a_plan_is_no_reason_to_judge_none(paths: list[str]) -> None:
    Path("m.txt").write_text(CHAIN)
    assert run(["check", *paths, "--no-cache"]) == 0
    Path("m-buffer-assignment.txt").mkdir()
    assert run(["check", *paths, "--no-cache"]) == 2


def test_a_string_that_is_not_closed_turns_no_name_of_the_next_module_into_a_comment() -> None:
    broken = '// expect: error\nHloModule "x\nENTRY {\n// -----\n'
    allow = "// hloproof: allow async-chain because x"
    named = BAD.replace("parameter(0)", f'parameter(0), metadata={{op_name="{allow}"}}')
    beside = BAD.replace("copy-start(%a)", f"copy-start(%a) {allow}")
    for text, status in ((named, 1), (beside, 0)):
        for before in ("", broken):
            Path("m.hlo").write_text(before + text)
            assert run(["check", "m.hlo", "--no-cache"]) == status


@pytest.mark.parametrize("width", ["64.0", "32.0", "true", "[64]", "63"])
def test_a_width_is_a_whole_number(width: str) -> None:
    Path("m.hlo").write_text(ONE)
    Path("hloproof.toml").write_text("index-width = 64\n")
    assert run(["check", "m.hlo"]) == 0
    Path("hloproof.toml").write_text(f"index-width = {width}\n")
    assert run(["check", "m.hlo"]) == 2


def dumps(**modules: tuple[str, ...]) -> Path:
    """A new folder with the dumps of modules: after the passes x1, x2 and so on."""
    folder = Path(f"dumps_{len(list(Path().iterdir()))}")
    folder.mkdir()
    for module, texts in modules.items():
        for n, text in enumerate(texts, 1):
            (folder / f"{module}.000{n}.p.after_x{n}.txt").write_text(text)
    return folder


def test_passes_begin_where_one_is_that_changed_nothing() -> None:
    """All passes behind it were left out."""
    folder = dumps(a=(ADD, ADD, TAKE), b=(ADD, f"{ADD} ", f"{ADD}  "))
    [a, b] = find_dumps(folder)
    assert [[c.name for c in d.changes(since)] for since in ("", "x2", "x3", "p") for d in (a, b)] == [
        ["x3"],
        ["x2", "x3"],
        ["x3"],
        ["x2", "x3"],
        ["x3"],
        ["x3"],
        ["x3"],
        ["x2", "x3"],
    ]
    assert a.changes("x4") == [] and not a.has("x4") and b.has("x1")
    assert run(["passes", str(folder), "--since", "x2", "--no-cache"]) == 1
    assert run(["passes", str(folder), "--since", "x4", "--no-cache"]) == 2


@pytest.mark.parametrize(
    ("modules", "more", "status"),
    [
        ({"a": (ADD, f"{ADD} ")}, (), 0),
        ({"a": (ADD, ADD)}, (), 0),
        ({"a": (ADD, f"{ADD} "), "b": (ADD,)}, (), 3),  # nothing to compare it with
        ({"a": ("", "")}, (), 3),  # a disk was full: the same, and no modules
        ({"a": (ADD, f"{ADD} ", f"{ADD} ")}, ("--since", "x3"), 0),
        ({"a": (ADD, "", "")}, ("--since", "x3"), 3),
        ({"a": (ADD, f"{ADD} "), "b": (ADD, ADD, ADD)}, ("--since", "x2"), 0),
        ({"a": (ADD, ADD, f"{ADD} "), "b": (ADD, f"{ADD} ")}, ("--since", "x3"), 3),  # where b would begin nobody knows
    ],
)
def test_a_module_of_which_nothing_is_compared_is_told(
    modules: dict[str, tuple[str, ...]], more: tuple[str, ...], status: int
) -> None:
    assert run(["passes", str(dumps(**modules)), "--no-cache", *more]) == status


def test_a_dump_whose_name_has_two_lines_is_one() -> None:
    folder = dumps(a=(ADD, f"{ADD} "))
    assert run(["passes", str(folder), "--no-cache"]) == 0
    (folder / "a.0003.p.after_x\n3.txt").write_text(TAKE)
    assert run(["passes", str(folder), "--no-cache"]) == 1


def test_a_time_before_the_name_of_a_dump_is_no_number_of_a_pass() -> None:
    """With --xla_dump_include_timestamp all modules were one chain: another program came behind a first one."""
    folder = dumps(
        **{"1795412078588646.module_0004.jit_f": (ADD, f"{ADD} "), "1795412078929095.module_0006": (TAKE,) * 2}
    )
    assert [(d.module, len(d.dumps) + d.repeated) for d in find_dumps(folder)] == [
        ("1795412078588646.module_0004.jit_f", 2),
        ("1795412078929095.module_0006", 2),
    ]
    assert run(["passes", str(folder), "--no-cache"]) == 0


@pytest.mark.parametrize(
    ("names", "status"),
    [
        (("module_0004", "module_0004.jit_f"), 3),
        (("17.module_0004", "17.module_0004.jit_f"), 3),
        (("module_0004", "module_0005.jit_f"), 0),
        (("module_0004.jit_f", "module_0004.jit_f.g"), 0),
        (("module_0004", "module_00040.jit_f"), 0),
    ],
)
def test_dumps_whose_module_has_too_long_a_name_are_told(names: tuple[str, ...], status: int) -> None:
    """XLA leaves the name out of those files alone that would have too long a one: what one pass did between a file
    with it and one without was not looked at."""
    folder = dumps(**dict.fromkeys(names, (ADD, f"{ADD} ")))
    assert run(["passes", str(folder), "--no-cache"]) == status


@pytest.mark.parametrize(
    ("more", "text", "status"),
    [
        ("a.0002.q.after_x2", TAKE, 3),  # passes of the one and of the other were one chain
        ("a.0002.p.after_x3", f"{ADD}  ", 3),
        ("a.0002.o.after_x2", ADD, 3),  # and repeats the one before
        ("a.0002.p.after_x3", f"{ADD} ", 0),  # one dump, packed or copied
        ("a.0003.p.after_x3", f"{ADD}  ", 0),
        ("a.gpu_after_optimizations", f"{ADD}  ", 3),
        ("a.amd_after_optimizations", f"{ADD} ", 3),  # the first of two that are last repeats the one before
    ],
)
def test_two_compilations_that_wrote_into_one_folder_are_told(more: str, text: str, status: int) -> None:
    """A compiler counts the dumps of a module: two of one number are of two runs, and nobody knows what one lost."""
    folder = dumps(a=(ADD, f"{ADD} "))
    (folder / "a.cpu_after_optimizations.txt").write_text(f"{ADD}   ")
    (folder / f"{more}.txt").write_text(text)
    assert run(["passes", str(folder), "--no-cache"]) == status


@pytest.mark.parametrize("text", [f"{ADD} ", f"{ADD}  ", TAKE])
@pytest.mark.parametrize("cache", [True, False])
def test_a_dump_that_changes_while_it_is_judged_is_not_proved(text: str, cache: bool) -> None:
    """What comes before it is compared with what it was, and what comes after it with what it is now."""
    folder = dumps(a=(ADD, f"{ADD} ", f"{ADD}  "))
    options = PassOptions(jobs=1, cache=Path("kept") if cache else None)
    found = find_dumps(folder)
    (folder / "a.0002.p.after_x2.txt").write_text(text)
    verdicts = [j.verdict for j in validate(found, options).judged]
    same = "proved" if text == f"{ADD} " else "unknown"
    assert verdicts == [same, same, "proved"]  # the last is first to last
    (folder / "a.0002.p.after_x2.txt").write_text(f"{ADD} ")
    assert [j.verdict for j in validate(found, options).judged] == ["proved"] * 3
    assert [j.verdict for j in validate(find_dumps(folder), options).judged] == ["proved"] * 3


@pytest.mark.parametrize("device", ["cpu", "gpu", "sm_8.0_gpu", "sm_9.0a_gpu", "gfx942_gpu", "tpu_v4"])
def test_the_last_dump_is_that_of_any_device(device: str) -> None:
    """Those of GPUs by AMD, and of architectures with a letter, were passed over: the last module was that before."""
    folder = dumps(**{"module_1.jit_f": (ADD, f"{ADD} ")})
    (folder / f"module_1.jit_f.{device}_after_optimizations.txt").write_text(f"{ADD}  ")
    [found] = find_dumps(folder)
    assert [d.after for d in found.dumps] == ["x1", "x2", "after_optimizations"]
    assert run(["passes", str(folder), "--no-cache"]) == 0
    (folder / f"module_1.jit_f.{device}_after_optimizations.txt").write_text(TAKE)
    assert run(["passes", str(folder), "--no-cache"]) == 1


@pytest.mark.parametrize(
    ("names", "status"),
    [
        (("before_optimizations", "0001.p.after_x1", "cpu_after_optimizations"), 0),
        (("before_optimizations", "0001.p.after_x1"), 3),
        (("before_optimizations", "0001.p.after_x1", "0002.p.after_x2"), 3),
        (("before", "0001.p.after_x1", "after"), 0),
        (("before", "0001.p.after_x1"), 3),
        (("0001.p.after_x1", "0002.p.after_x2"), 0),  # of some passes, as somebody chose them
        (("0001.p.after_x1", "sm_9.0_gpu_after_optimizations"), 0),
    ],
)
@pytest.mark.parametrize("repeats", [False, True])
def test_a_compilation_whose_end_is_not_there_is_not_proved(names: tuple[str, ...], status: int, repeats: bool) -> None:
    """The compiler was killed, or the disk was full: it was proved from first to last, and what it made nobody saw."""
    Path("dumps").mkdir()
    for n, name in enumerate(names):
        Path(f"dumps/module_1.jit_f.{name}.txt").write_text(ADD + " " * (n and not repeats))
    for more in ([], ["--since", "x1"]):
        assert run(["passes", "dumps", "--no-cache", *more]) == status
    assert bool(validate_dumps("dumps")) == (status == 0)


@pytest.mark.parametrize(
    ("name", "data", "status"),
    [
        ("a.003.p.after_x3.txt", TAKE.encode(), 3),
        ("a.0003.p.x3.hlo", TAKE.encode(), 3),
        ("a.0003.p.after_x3.TXT", TAKE.encode(), 3),
        ("rest/a.0003.p.after_x3.txt", TAKE.encode(), 3),
        ("a.0003.p.after_x3.hlo.pb", b"", 3),
        ("a.0002.p.after_x2.hlo.pb", b"", 0),  # the same as the text beside it
        ("a.cpu_after_optimizations-memory-usage-report.txt", b"Total bytes used: 5", 0),
        ("notes.txt", b"Notes", 0),
        ("a.rules", WRONG_RULE.encode(), 0),
    ],
)
def test_a_module_that_is_no_dump_by_its_name_is_told(
    name: str, data: bytes, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """It was passed over: behind it may stand what the compiler wrote last."""
    folder = dumps(a=(ADD, f"{ADD} "))
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_bytes(data)
    assert run(["passes", str(folder), "--no-cache"]) == status
    assert ("is that of no dump" in capsys.readouterr().out) == (status == 3)
    assert run(["passes", str(folder), "--no-cache", "--since", "x2"]) == status
    for form in ("json", "html"):
        assert run(["passes", str(folder), "--no-cache", "--format", form]) == status


def test_a_dump_behind_a_broken_link_is_not_passed_over() -> None:
    folder = dumps(a=(ADD, f"{ADD} "))
    (folder / "a.0003.p.after_x3.txt").symlink_to("gone")
    assert run(["passes", str(folder)]) == 2


def test_a_file_that_was_not_read_to_its_end_is_never_allowed(capsys: pytest.CaptureFixture[str]) -> None:
    """The time was over, and with what is unknown being allowed, or known from before, all was well."""
    Path("m.hlo").write_text(BAD)
    late = ["m.hlo", "-j", "1", "--no-cache", "--total-seconds", "0.000001"]
    assert run(["check", *late, "--allow-unknown"]) == 3
    assert run(["baseline", *late, "--write", "b.json"]) == 3 and not Path("b.json").exists()
    assert "left as it was" in capsys.readouterr().err
    assert run(["baseline", "m.hlo", "--write", "b.json"]) == 0
    assert run(["check", "m.hlo", "--baseline", "b.json"]) == 0
    assert run(["check", *late, "--baseline", "b.json"]) == 3


def test_no_baseline_is_written_of_an_error_of_this_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was left out, and what was written down said that everything is proved."""

    def failing(*_: object) -> object:
        raise RuntimeError

    Path("m.hlo").write_text(ONE)
    assert run(["baseline", "m.hlo", "--no-cache", "--write", "a.json"]) == 0
    monkeypatch.setattr("hloproof.pipeline.driver.check_count", failing)
    assert run(["baseline", "m.hlo", "--no-cache", "--write", "b.json"]) == 4 and not Path("b.json").exists()


@pytest.mark.parametrize("verdict", Verdict)
def test_a_baseline_knows_no_error_of_this_tool(verdict: Verdict, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor one about an instruction of a file that was read."""
    found = OperationVerdicts((Found(verdict, claim="async-chain", reason="why"),))
    site = Site("s", "copy-start", Position(1, 1))
    module = ModuleResults("m", [InstructionResult("e", site, found)])
    report = Report([FileResults("m.hlo", "hlo", modules=[module])])
    monkeypatch.setattr("hloproof.commands.baseline.checked", lambda *_, **__: report)
    assert run(["baseline", "m.hlo", "--write", "b.json"]) == (4 if verdict is Verdict.INTERNAL else 0)
    assert Path("b.json").exists() == (verdict is not Verdict.INTERNAL)


def test_what_is_asked_of_memory_is_about_plans(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing was judged, and the status was 0."""
    Path("m.txt").write_text(ONE)
    Path("m-buffer-assignment.txt").write_text("no plan")
    for asked in (["--only", "definition"], ["--skip", "plan"]):
        assert run(["memory", "m.txt", *asked]) == 2 and "about memory plans" in capsys.readouterr().err
    assert run(["memory", "m.txt", "--only", "plan-constant"]) == 2 and "no plan" in capsys.readouterr().err


def test_an_instruction_that_is_not_in_a_text_is_an_error() -> None:
    """Of one by another name nothing was owed, and nothing of nothing is refuted."""
    for name, found in (("p", True), ("q", False)):
        options = Options(Selection(instructions=(name,)))
        if found:
            assert check_hlo(ONE, options).verdict is Verdict.PROVED
        else:
            with pytest.raises(BadInput, match="no instruction 'q'"):
                check_hlo(ONE, options)


def test_a_check_that_is_interrupted_proves_nothing() -> None:
    """The files that were not read are not in its report."""
    from hloproof.library.checking import Checked

    assert Checked(Report([])) and not Checked(Report([], interrupted=True))


RECHECKED: Mapping[str, tuple[Mapping[str, str | None], str, int]] = {
    "as it was": ({}, "unsat", 0),
    "no answer": ({}, "unknown", 3),
    "a counterexample": ({}, "sat", 1),
    "one is gone": ({"b.smt2": None}, "unsat", 2),
    "a proof is gone": ({"b.proof": None}, "unsat", 2),
    "one is changed": ({"b.smt2": "(check-sat) "}, "unsat", 2),
    "a proof is changed": ({"b.proof": ""}, "unsat", 2),
    "one more": ({"c.smt2": "(check-sat)"}, "unsat", 2),
    "one more proof": ({"c.proof": "()"}, "unsat", 2),
    "one more rule": ({"c.trule.json": "{}"}, "unsat", 2),
    "one more note": ({"c.txt": "why"}, "unsat", 0),
    "changed, and a counterexample": ({"b.smt2": ""}, "sat", 2),
}
"""What is done to a folder of certificates, what a solver says then, and the status."""


@pytest.mark.parametrize("what", RECHECKED)
def test_certificates_are_those_that_the_manifest_names(what: str) -> None:
    changes, said, status = RECHECKED[what]
    Path("p").mkdir()
    for name in "ab":
        enter(Path("p"), {f"{name}.smt2": "(check-sat)", f"{name}.proof": "()"}, "why", ["isl"])
        Path(f"p/{name}.smt2").write_text("(check-sat)")
        Path(f"p/{name}.proof").write_text("()")
    for name, text in changes.items():
        Path("p", name).unlink() if text is None else Path("p", name).write_text(text)
    assert run(["recheck", "p", "--solver", f"echo {said}"]) == status


@pytest.mark.parametrize(
    ("one", "other", "status"),
    [("unsat", "sat", 1), ("a timeout", "sat", 1), ("sat", "unknown", 1), ("no", "unsat", 3)],
)
def test_the_worst_that_a_solver_says_of_certificates_is_the_status(one: str, other: str, status: int) -> None:
    for name in "ab":
        enter(Path(), {f"{name}.smt2": "(check-sat)"}, "why", ["isl"])
        Path(f"{name}.smt2").write_text("(check-sat)")
    Path("solver").write_text(f"case $1 in a.smt2) echo {one};; *) echo {other};; esac")
    assert run(["recheck", ".", "--solver", "sh solver"]) == status


def test_no_certificate_is_named_in_the_entry_of_another_file(capsys: pytest.CaptureFixture[str]) -> None:
    """It was listed, and no solver would have been asked about it."""
    texts = {"a.txt": "why", "a.smt2": "(check-sat)"}
    enter(Path(), texts, "why", ["isl"])
    for name, text in texts.items():
        Path(name).write_text(text)
    assert run(["recheck", ".", "--solver", "echo unsat"]) == 2
    assert "an entry of its own" in capsys.readouterr().err


def test_the_plan_of_one_module_is_not_judged_beside_two(capsys: pytest.CaptureFixture[str]) -> None:
    Path("module.hlo").write_text(CHAIN)
    Path("assignment.txt").write_text(CHAIN_PLAN)
    assert run(["check", "module.hlo", "--only", "plan"]) == 0
    Path("module.hlo").write_text(f"{CHAIN}\n// -----\n{ONE}")
    for more in ((), ("--allow-unknown",)):
        assert run(["check", "module.hlo", "--only", "plan", *more]) == 3
        assert "lies beside 2: it is not judged" in capsys.readouterr().out
    assert run(["check", "module.hlo", "--skip", "plan"]) == 0


def test_a_folder_of_no_certificates_proves_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    Path("d").mkdir()
    Path("d/manifest.jsonl").write_text("")
    assert run(["recheck", "d"]) == 2 and "names none" in capsys.readouterr().err
