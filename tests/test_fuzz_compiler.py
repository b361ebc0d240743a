"""The campaign against the installed compiler: what its oracles notice, with the interpreter in its place.

One small campaign runs where jax is there."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from hloproof.fuzz.campaign import report_of_all
from hloproof.fuzz.chunk import Chunk, Found
from hloproof.fuzz.compiler.dumps import Refuted, judge_dumps
from hloproof.fuzz.compiler.perturbation import changes, differences, exact_inputs, judged, plain, requests
from hloproof.fuzz.modules.reference import arrays, python_with_jax
from hloproof.fuzz.state import State
from hloproof.fuzz.target import Target
from hloproof.models.errors import InputError
from hloproof.models.hlo.module import Module
from hloproof.models.hlo.parser import parse_module
from hloproof.models.indexing.composition.module_maps import followed_maps, plain_composer
from hloproof.models.indexing.composition.route import OUTPUT_TO_INPUT
from hloproof.models.interpreter.operations.collective import Devices
from hloproof.models.interpreter.run import Machine
from hloproof.models.interpreter.semantics.real import Real
from hloproof.models.interpreter.value import Value
from hloproof.models.maps.text import print_map

SLICED = """HloModule m

ENTRY e {
  p = f32[2,4] parameter(0)
  i = s32[] parameter(1)
  z = s32[] constant(0)
  d = f32[1,4] dynamic-slice(p, i, z), dynamic_slice_sizes={1,4}
  r = f32[4] reshape(d)
  ROOT s = f32[2] slice(r), slice={[1:3]}
}
"""


def _run(module: Module, inputs: tuple[Value, ...]) -> list[list[object]]:
    return [list(a.data) for a in arrays(Machine(module, Real(), Devices(), 0).run([inputs])[0])]


def _wrong(compiled: str) -> set[str]:
    """What changing each element shows when the compiler makes another module of SLICED."""
    module, other = parse_module(SLICED), parse_module(compiled)
    found = set()
    for seed in range(4):  # the start is zero in some, and not in others
        inputs = exact_inputs(module, seed)
        base = _run(other, inputs)
        found |= {judged(c, differences(base, _run(other, c.inputs)))[0] for c in changes(module, inputs, seed)}
    return found - {""}


def test_a_right_compiler_is_not_blamed() -> None:
    assert _wrong(SLICED) == set()


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("slice={[1:3]}", "slice={[0:2]}"),
        ("dynamic-slice(p, i, z)", "dynamic-slice(p, z, z)"),
        (
            "ROOT s = f32[2] slice(r), slice={[1:3]}",
            "k = f32[1] slice(r), slice={[1:2]}\n  ROOT s = f32[2] concatenate(k, k), dimensions={0}",
        ),
    ],
    ids=["another window", "another row", "one element twice"],
)
def test_a_wrong_compiler_is_noticed(right: str, wrong: str) -> None:
    assert _wrong(SLICED.replace(right, wrong))


def test_every_run_has_the_inputs_of_all_parameters() -> None:
    module = parse_module(SLICED)
    inputs = exact_inputs(module, 0)
    runs = requests(inputs, list(changes(module, inputs, 0)))
    assert plain(module)
    assert {len(run) for run in runs} == {2}
    assert all(sum(a["data"] != b["data"] for a, b in zip(runs[0], run, strict=True)) == 1 for run in runs[1:])


def test_what_is_no_number_equals_itself() -> None:
    nan = float("nan")
    assert differences([[nan, 1.0]], [[nan, 2.0]]) == {(0, 1)}


def test_a_pass_that_changes_what_is_computed_is_named(tmp_path: Path) -> None:
    (tmp_path / "m.before_optimizations.txt").write_text(SLICED)
    (tmp_path / "m.0001.p.after_good.before_bad.txt").write_text(SLICED.replace("HloModule m", "HloModule n"))
    (tmp_path / "m.0002.p.after_bad.before_end.txt").write_text(SLICED.replace("[1:3]", "[2:4]"))
    with pytest.raises(Refuted) as error:
        judge_dumps(tmp_path)
    assert error.value.name == "bad"
    (tmp_path / "m.0002.p.after_bad.before_end.txt").unlink()
    told = judge_dumps(tmp_path)
    assert told


def test_a_small_campaign_is_clean() -> None:
    if python_with_jax() is None:
        pytest.skip("jax is not installed")
    from hloproof.fuzz.chunk import first_failure
    from hloproof.fuzz.targets import target

    assert first_failure(target("compiler"), 5, 30) is None


@pytest.mark.parametrize("kind", ["f32", "s32", "pred", "u8"])
def test_a_fold_begins_with_its_neutral_element_whatever_the_type(kind: str) -> None:
    if python_with_jax() is None:
        pytest.skip("jax is not installed")
    from hloproof.fuzz.modules.target_xla import neutral

    body = f"most {{\n  x = {kind}[] parameter(0)\n  y = {kind}[] parameter(1)\n  ROOT z = {kind}[] maximum(x, y)\n}}\n"
    text = (
        f"HloModule m\n{body}ENTRY e {{\n  p0 = {kind}[3] parameter(0)\n  p1 = {kind}[] parameter(1)\n"
        f"  ROOT r = {kind}[] reduce(p0, p1), dimensions={{0}}, to_apply=most\n}}\n"
    )
    lowest = {"f32": "-inf", "s32": "-2147483648", "pred": "false", "u8": "0"}[kind]
    assert f"p1 = {kind}[] constant({lowest})" in neutral(text)


def test_a_scan_without_carries_reads_its_own_slice() -> None:
    """Slices of one element have no range variable: the index of the only one is the output's."""
    module = parse_module(
        "HloModule m\n\nstep {\n  x = f32[] parameter(0)\n  ROOT r = (f32[]) tuple(x)\n}\n"
        "ENTRY e {\n  p = f32[1] parameter(0)\n"
        "  ROOT r = (f32[1]) scan(p), dimensions={0}, num_carries=0, to_apply=step\n}\n"
    )
    (found,) = followed_maps(plain_composer(module), module.entry, module.entry.root, OUTPUT_TO_INPUT)
    assert [print_map(m) for m in found.maps] == ["(d0) -> (d0), domain: d0 in [0, 0]"]


@pytest.mark.parametrize("kind", ["u8", "s32", "pred"])
def test_integers_have_no_triangular_solve(kind: str) -> None:
    text = (
        f"HloModule m\n\nENTRY e {{\n  a = {kind}[1,1] parameter(0)\n  b = {kind}[1,1] parameter(1)\n"
        f"  ROOT r = {kind}[1,1] triangular-solve(a, b), left_side=true, lower=true, transpose_a=NO_TRANSPOSE\n}}\n"
    )
    with pytest.raises(InputError, match="cannot be divided"):
        parse_module(text)


@pytest.mark.parametrize(("result", "kind"), [("u8[3,4]", "reads"), ("s32[3]", "moves")])
def test_a_part_of_an_element_is_none_that_is_moved(result: str, kind: str) -> None:
    module = parse_module(
        f"HloModule m\n\nENTRY e {{\n  p = f32[3] parameter(0)\n  ROOT r = {result} bitcast-convert(p)\n}}\n"
    )
    (found,) = followed_maps(plain_composer(module), module.entry, module.entry.root, OUTPUT_TO_INPUT)
    assert found.kind == kind


def test_a_finding_is_written_with_what_the_target_adds(tmp_path: Path) -> None:
    def dossier(case: str, cause: str, message: str) -> dict[str, str]:
        return {"verdict.txt": f"{cause}: {message}", "before.hlo": case}

    found = Found("compiler", "wrong", "element 0", "HloModule m")
    target = Target("compiler", "", lambda: None, lambda case: (), ".hlo", dossier=dossier)
    state = State.open(tmp_path, 1, 50)
    state.record(Chunk("compiler", 0, 50, failures=[found]), target)
    folder = tmp_path / "failures" / f"{found.key}.found"
    assert {f.name for f in folder.iterdir()} == {"verdict.txt", "before.hlo"}
    assert [file.suffix for _, file in state.failures()] == [".hlo"]


def test_campaigns_are_added_up(tmp_path: Path) -> None:
    target = Target("compiler", "", lambda: None, lambda case: (), ".hlo")
    for seed in (1, 2):
        state = State.open(tmp_path / str(seed), seed, 50)
        chunk = Chunk("compiler", 0, 50, 2.0, Counter({"upstream: a": seed}), repeated=Counter({"wrong": 1}))
        state.record(chunk, target)
    lines = report_of_all([State.open(tmp_path / str(seed), None, 50) for seed in (1, 2)])
    assert lines[0] == "2 campaigns, 100 examples, 4 s"
    assert any(line.split() == ["3", "upstream:", "a"] for line in lines)
    assert any(line.split() == ["FAILS", "2", "times:", "compiler:", "wrong"] for line in lines)


def test_a_finding_has_a_program_that_shows_it() -> None:
    if python_with_jax() is None:
        pytest.skip("jax is not installed")
    from hloproof.fuzz.compiler.target_compiler import dossier

    text = "HloModule m\n\nENTRY e {\n  p0 = s8[3] parameter(0)\n  ROOT r = s8[3] negate(p0)\n}\n"
    found = dossier(text, "compiler: another result", "element 0")
    assert set(found) == {"before.hlo", "after.hlo", "flags.txt", "versions.txt", "show.py", "verdict.txt"}
    compile(found["show.py"], "show.py", "exec")
    assert "negate" in found["after.hlo"]


def test_the_pass_that_is_to_blame_is_named() -> None:
    """A defect of jaxlib 0.10.2, which the ledger has."""
    if python_with_jax() is None:
        pytest.skip("jax is not installed")
    from hloproof.fuzz.compiler.target_compiler import dossier

    text = (
        "HloModule m\n\nENTRY e {\n  p = s32[5] parameter(0)\n  z = s32[] parameter(2)\n  o = s32[] parameter(1)\n"
        "  e = s32[] constant(8)\n  i = s32[] add(o, e)\n"
        "  a = s32[4] dynamic-slice(p, i), dynamic_slice_sizes={4}\n"
        "  ROOT r = s32[2] dynamic-slice(a, z), dynamic_slice_sizes={2}\n}\n"
    )
    found = dossier(text, "compiler: another result", "element 0")
    if "module.hlo" not in found:
        pytest.skip("this release has no such pass")
    assert found["module.hlo"] == text
    assert "--xla_disable_hlo_passes=algsimp" in found["flags.txt"]
    assert parse_module(found["before.hlo"]) != parse_module(found["after.hlo"])
