"""`hloproof equiv`, `recheck` of its certificates, and `passes`: what they print and how they end."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from hloproof.cli import run
from hloproof.fuzz.modules.reference import python_with_jax
from hloproof.models.hlo.parser import parse_module
from hloproof.models.interpreter.run import run_module
from hloproof.models.specs.folder import specs_folder
from hloproof.pipeline.pass_dumps import environment_with_dumps, find_dumps, run_with_dumps
from hloproof.results.errors import BadInput
from hloproof.server.methods import recheck

BEFORE = """HloModule jit_f

ENTRY main {
  p = f32[6]{0} parameter(0)
  a = f32[6]{0} reverse(p), dimensions={0}
  ROOT s = f32[3]{0} slice(a), slice={[1:4]}
}
"""
AFTER = """HloModule jit_f

ENTRY main {
  p = f32[6]{0} parameter(0)
  b = f32[3]{0} slice(p), slice={[2:5]}
  ROOT s = f32[3]{0} reverse(b), dimensions={0}
}
"""
WRONG = AFTER.replace("[2:5]", "[3:6]")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name, text in (("before", BEFORE), ("after", AFTER), ("wrong", WRONG)):
        (tmp_path / f"{name}.hlo").write_text(text)
    return tmp_path


def test_a_proof_ends_with_0_and_its_certificate_is_proved_again(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    proof = str(files / "proof.json")
    assert run(["equiv", str(files / "before.hlo"), str(files / "after.hlo"), "--certificate", proof]) == 0
    assert capsys.readouterr().out.startswith("proved")
    assert run(["recheck", proof]) == 0
    data = json.loads(Path(proof).read_text())
    changes: tuple[dict[str, object], ...] = ({"after": WRONG}, {"proof": []}, {"proof": "none"})
    for changed in changes:
        Path(proof).write_text(json.dumps({**data, **changed}))
        assert run(["recheck", proof]) == 3
    two = f"{BEFORE}\n// -----\n{WRONG}"  # of which one alone would be looked at
    sides = [json.dumps({**data, side: two}) for side in ("before", "after")]
    for broken in ("{", "{}", json.dumps({**data, "tier": "loose"}), *sides):
        Path(proof).write_text(broken)
        assert run(["recheck", proof]) == 2


SUM = """HloModule m
ENTRY e {{
  x = f32[4]{{0}} parameter(0)
  y = f32[4]{{0}} parameter(1)
  z = f32[4]{{0}} parameter(2)
  a = f32[4]{{0}} add({})
  ROOT r = f32[4]{{0}} add({})
}}
"""


@pytest.mark.parametrize(("after", "weaker"), [(("x, y", "z, a"), False), (("y, z", "x, a"), True)])
def test_recheck_names_what_a_proof_rests_on(
    after: tuple[str, str], weaker: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A proof up to a rounding was told as `proved`, like one bit for bit."""
    for name, sums in (("before", ("x, y", "a, z")), ("after", after)):
        (tmp_path / name).write_text(SUM.format(*sums))
    proof = str(tmp_path / "proof.json")
    assert run(["equiv", *(str(tmp_path / name) for name in ("before", "after")), "--certificate", proof]) == 0
    first = capsys.readouterr().out.splitlines()
    assert run(["recheck", proof]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said == [f"{proof}: proved", *first[1:]] and any("(exact)" not in line for line in said[1:]) == weaker
    axioms = [(a["name"], a["tier"]) for a in recheck(Path(proof).read_text())["axioms"]]
    assert [f"  by {name} ({tier})" for name, tier in axioms] == said[1:]


def test_a_refutation_ends_with_1_and_its_inputs_replay(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [str(files / "before.hlo"), str(files / "wrong.hlo")]
    inputs = files / "inputs.json"
    assert run(["equiv", *paths, "--inputs", str(inputs)]) == 1
    said = capsys.readouterr().out
    assert said.startswith("refuted: element [") and "wrong.hlo:" in said and "inputs: [" in said
    given = json.loads(inputs.read_text())
    assert run_module(parse_module(BEFORE), given) != run_module(parse_module(WRONG), given)
    assert run(["equiv", *paths, "--format", "json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["verdict"] == "refuted" and answer["counterexample"]["inputs"] == given


@pytest.mark.parametrize(
    ("after", "said"),
    [
        (AFTER.replace("f32[6]", "f64[6]", 1), ":4:3: parameter 0 is f64[6]"),
        (AFTER.replace("parameter(0)", "parameter(1)"), "parameter"),
        ("HloModule m\nENTRY e {\n  ROOT t = (f32[3]) tuple(q)\n}\n", ":3:"),
        (AFTER.replace("f32[3]{0} reverse(b), dimensions={0}", "(f32[3]{0}) tuple(b)"), "the result is (f32[3])"),
    ],
)
def test_modules_that_do_not_fit_each_other_are_an_error_at_a_place(
    after: str, said: str, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (files / "other.hlo").write_text(after)
    assert run(["equiv", str(files / "before.hlo"), str(files / "other.hlo")]) == 2
    error = capsys.readouterr().err
    assert "other.hlo:" in error and said in error and "Traceback" not in error


def test_parameters_of_another_size_may_be_the_shards_of_a_partition(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shard = BEFORE.replace("f32[6]", "f32[4]")
    for text, status in ((shard, 2), (shard.replace("jit_f", "jit_f, num_partitions=2"), 3)):
        (files / "after.hlo").write_text(text)
        assert run(["equiv", str(files / "before.hlo"), str(files / "after.hlo")]) == status
    assert "SPMD partitioning" in capsys.readouterr().out


@pytest.mark.parametrize("place", range(2))
def test_one_of_several_modules_is_not_compared_for_all(
    place: int, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first of them is equal to the other side."""
    (files / "wrong.hlo").write_text(f"{BEFORE}// -----\n{WRONG}")
    sides = ("wrong", "before")[:: -1 if place else 1]
    assert run(["equiv", *(str(files / f"{name}.hlo") for name in sides)]) == 2
    assert "2 modules where one was expected" in capsys.readouterr().err


def dumps(folder: Path, *texts: str, module: str = "module_0007.jit_f") -> Path:
    """A folder of dumps of one module; pass n is called `pass-n`."""
    folder.mkdir(exist_ok=True)
    (folder / f"{module}.before_optimizations.txt").write_text(texts[0])
    for n, text in enumerate(texts):
        name = f"{module}.{n:04}.simplification.after_pass-{n}.before_pass-{n + 1}.txt"
        (folder / name).write_text(text)
    (folder / f"{module}.sm_8.0_gpu_after_optimizations.txt").write_text(texts[-1])
    (folder / f"{module}.cpu_after_optimizations-buffer-assignment.txt").write_text("BufferAssignment:\n")
    (folder / f"{module}.ir-with-opt.ll").write_text("; ModuleID\n")
    return folder


def passes(folder: Path, *options: str, status: int, capsys: pytest.CaptureFixture[str]) -> str:
    assert run(["passes", str(folder), "--jobs", "1", *options]) == status
    return capsys.readouterr().out


def test_dumps_are_told_apart_ordered_and_not_repeated(tmp_path: Path) -> None:
    dumps(tmp_path / "d", BEFORE, AFTER, AFTER, WRONG)
    dumps(tmp_path / "d", BEFORE, module="module_0008.jit_g.h")
    first, second = find_dumps(tmp_path / "d")
    assert (first.module, second.module) == ("module_0007.jit_f", "module_0008.jit_g.h")
    assert [c.name for c in first.changes()] == ["pass-1", "pass-3"] and first.repeated == 3
    assert second.changes() == [] and second.repeated == 2
    assert [c.name for c in first.changes("pass-2")] == ["pass-3"]  # it changed nothing, and what came after it did
    assert [c.name for c in first.changes("pass-3")] == ["pass-3"]


def test_the_first_pass_that_breaks_the_program_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = dumps(tmp_path / "d", BEFORE, AFTER, WRONG, WRONG.replace("jit_f", "jit_f2"))
    cache = ("--cache", str(tmp_path / "cache.sqlite"))
    said = passes(folder, *cache, status=1, capsys=capsys)
    assert "the first pass that changes what the program computes is pass-2" in said
    assert "first to last: refuted" in said and "2 proved, 1 refuted" in said
    again = json.loads(passes(folder, *cache, "--format", "json", status=1, capsys=capsys))
    [module] = again["modules"]
    assert module["first_broken"] == "pass-2" and module["whole"]["verdict"] == "refuted"
    assert [(c["pass"], c["verdict"], c["cached"]) for c in module["changes"]] == [
        ("pass-1", "proved", True),
        ("pass-2", "refuted", True),
        ("pass-3", "proved", True),
    ]
    assert "1 changes: 1 proved" in passes(folder, "--no-cache", "--since", "pass-3", status=0, capsys=capsys)


@pytest.mark.parametrize(
    ("verdict", "seconds", "kept"), [("proved", 9.0, True), ("unknown", 0.5, True), ("unknown", 5.0, False)]
)
def test_what_time_may_have_left_open_is_asked_again(
    verdict: str, seconds: float, kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hloproof.pipeline import passes as judging

    asked: list[int] = []

    def answer(todo: list[Any], _jobs: int, _judging: object, answered: Callable[[int, dict[str, Any]], None]) -> None:
        asked.append(len(todo))
        for n, _ in enumerate(todo):
            answered(n, {"verdict": verdict, "reason": "", "seconds": seconds})

    monkeypatch.setattr(judging, "work_on", answer)
    found = find_dumps(dumps(tmp_path / "d", BEFORE, AFTER))
    for _ in range(2):
        judging.validate(found, judging.PassOptions(budget_seconds=10, jobs=1, cache=tmp_path / "c"))
    assert asked == [1, 0 if kept else 1]


def test_a_compilation_without_errors_ends_with_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = passes(dumps(tmp_path / "d", BEFORE, AFTER), "--no-cache", status=0, capsys=capsys)
    assert "1 proved" in said and "refuted" not in said.splitlines()[-1]


def test_a_folder_without_dumps_is_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["passes", str(tmp_path)]) == 2
    assert "--xla_dump_hlo_pass_re" in capsys.readouterr().err
    assert run(["passes"]) == 2
    assert run(["passes", str(tmp_path / "none")]) == 2


PROGRAM = """
import os, pathlib, re
folder = pathlib.Path(re.search("--xla_dump_to=([^ ]+)", os.environ["XLA_FLAGS"])[1])
for n, text in enumerate({texts!r}):
    (folder / f"module_0000.jit_f.{{n:04}}.all.after_pass-{{n}}.before_end.txt").write_text(text)
raise SystemExit({status})
"""


@pytest.mark.parametrize(("texts", "ends", "status"), [((BEFORE, AFTER), 0, 0), ((BEFORE, WRONG), 0, 1), ((), 5, 2)])
def test_a_program_is_run_with_dumps_turned_on(
    texts: tuple[str, ...], ends: int, status: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "train.py"
    program.write_text(PROGRAM.format(texts=texts, status=ends))
    assert run(["passes", "--no-cache", "--jobs", "1", "--", sys.executable, str(program)]) == status
    assert ("ended with status 5" in capfd.readouterr().err) == (ends == 5)


def test_no_flag_of_the_environment_leaves_modules_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """XLA takes the last flag of a name; of the modules that were left out nobody was told."""
    few = "--xla_dump_hlo_module_re=.*g.* --xla_dump_max_hlo_modules=1 --xla_dump_hlo_pipeline_re=fus.*"
    monkeypatch.setenv("XLA_FLAGS", f"{few} --xla_dump_include_timestamp=False --xla_force=2")
    flags = environment_with_dumps(tmp_path / "d")["XLA_FLAGS"].split()
    last = dict(flag.split("=", 1) for flag in flags if "=" in flag)
    assert {last[f"--xla_dump_hlo_{what}_re"] for what in ("module", "pass", "pipeline")} == {".*"}
    assert last["--xla_dump_max_hlo_modules"] == "-1" and last["--xla_force"] == "2"
    assert last["--xla_dump_include_timestamp"] == "True"  # two processes would write over each other


@pytest.mark.parametrize("name", ["with blanks", "quo'ted", 'twice"'])
def test_a_folder_that_no_flag_can_name_is_bad_input(name: str, tmp_path: Path) -> None:
    """Flags end at a blank: the program was run, and nothing dumped."""
    assert run(["passes", "--keep", str(tmp_path / name), "--", sys.executable, "-c", "raise SystemExit(7)"]) == 2
    with pytest.raises(BadInput, match="cannot name"):
        environment_with_dumps(tmp_path / name)


def test_two_processes_do_not_write_over_each_others_dumps(tmp_path: Path) -> None:
    """Each counts its modules from 0: of two programs of equal names one was proved, and of the other nothing said."""
    python = python_with_jax()
    if python is None:
        pytest.skip("jax is not installed")
    program = "import sys, jax; jax.jit(lambda x: x * {}).lower(1.0).compile()"
    script = tmp_path / "two.py"
    each = [[python, "-c", program.format(n)] for n in (2, 3)]
    script.write_text(f"import subprocess\nfor one in {each!r}:\n    subprocess.run(one, check=True)\n")
    run_with_dumps([sys.executable, str(script)], tmp_path / "d")
    assert [d.module.split(".", 1)[1] for d in find_dumps(tmp_path / "d")] == ["module_0000.jit__lambda"] * 2


def test_compressed_dumps_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for n, text in enumerate((BEFORE, AFTER)):
        (tmp_path / f"{n:04}.all.after_pass-{n}.before_end.txt.gz").write_bytes(gzip.compress(text.encode()))
    assert "1 proved" in passes(tmp_path, "--no-cache", status=0, capsys=capsys)


def test_json_holds_the_answer_of_every_pair(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = dumps(tmp_path / "d", BEFORE, AFTER)
    found: dict[str, Any] = json.loads(passes(folder, "--no-cache", "--format", "json", status=0, capsys=capsys))
    [change] = found["modules"][0]["changes"]
    assert {"pass", "pipeline", "before", "after", "verdict", "reason", "axioms", "counterexample"} <= change.keys()


@pytest.mark.skipif(find_spec("jax") is None, reason="jax is not installed: pip install '.[xla]'")
def test_the_example_of_the_readme_meets_the_defect(capsys: pytest.CaptureFixture[str]) -> None:
    example = str(specs_folder() / "examples" / "nested_slices.py")
    assert run(["passes", "--no-cache", "--jobs", "1", "--", sys.executable, example]) == 1
    assert "the first pass that changes what the program computes is algsimp" in capsys.readouterr().out
