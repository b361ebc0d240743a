"""Modules of a folder as input of target `compiler`: what becomes of them, what is changed, and who is blamed."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from hypothesis import HealthCheck, Phase

from hloproof.fuzz.compiler import corpus_judging
from hloproof.fuzz.compiler.corpus_mutations import MUTATIONS, mutants
from hloproof.fuzz.compiler.corpus_programs import LARGEST, NAME, corpus, cost
from hloproof.fuzz.compiler.corpus_shapes import settled
from hloproof.fuzz.modules.reference import DIED, python_with_jax
from hloproof.fuzz.state import State
from hloproof.fuzz.target import CORPUS, Failure
from hloproof.models.errors import InputError
from hloproof.models.hlo.inference.infer import ShapeError
from hloproof.models.hlo.parser import parse_module
from hloproof.models.hlo.printer import print_module
from hloproof.models.interpreter.operations.collective import Devices
from hloproof.models.interpreter.run import Machine
from hloproof.models.interpreter.semantics.real import Real

LARGE = """HloModule fused, is_scheduled=true

%sum {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}

%fused {
  p = f32[1024,512]{0,1} parameter(0)
  z = f32[] constant(0)
  r = f32[1024] reduce(p, z), dimensions={1}, to_apply=%sum
  b = f32[32,32]{1,0} bitcast(r)
  ROOT s = f32[16,32]{1,0} slice(b), slice={[0:32:2], [0:32]}
}

ENTRY %main {
  p = f32[1024,512]{0,1} parameter(0)
  ROOT f = f32[16,32]{1,0} fusion(p), kind=kInput, calls=%fused, metadata={op_name="f"}
}
"""
SMALL = """HloModule small

ENTRY e {
  a = f32[4,6] parameter(0)
  b = f32[4,6] parameter(1)
  n = f32[4,6] negate(a)
  s = f32[4,6] subtract(n, b)
  c = f32[] constant(2)
  p = f32[5,9] pad(s, c), padding=0_1x1_2
  t = f32[9,5] transpose(p), dimensions={1,0}
  ROOT r = f32[4,2] slice(t), slice={[1:9:2], [0:2]}
}
"""
SENDS = "HloModule s\n\nENTRY e {\n  ROOT i = u32[] partition-id()\n}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.hlo").write_text(LARGE + "\n// -----\n" + SMALL)
    (tmp_path / "b.hlo").write_text(SENDS)
    (tmp_path / "c.hlo").write_text("HloModule broken\n\nENTRY e {\n")
    return tmp_path


def _drawn(folder: Path, count: int) -> list[str]:
    found: list[str] = []

    @hypothesis.seed(3)
    @hypothesis.settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @hypothesis.given(mutants(corpus(folder).programs))
    def body(text: str) -> None:
        found.append(text)

    body()
    return found


def test_modules_become_small_programs_and_what_is_left_out_is_told(folder: Path) -> None:
    found = corpus(folder)
    assert (len(found.programs), found.read) == (2, 4)
    assert str(found) == "4 modules read, 2 programs; left out: 1 partition-id, 1 cannot be read"
    for module in found.programs:
        text = print_module(module)
        assert parse_module(text) == module
        assert cost(module) <= LARGEST
        assert not re.search(r"fusion|bitcast|\{\d,\d\} |metadata|is_scheduled", text)
        Machine(module, Real(), Devices(), 0).run(Machine(module, Real(), Devices(), 0).random_inputs())


def test_every_change_is_drawn_and_most_of_them_are_valid(folder: Path) -> None:
    texts = _drawn(folder, 400)
    kinds = {k for t in texts for k in re.search(r"changed: (.*?) \*/", t)[1].split(", ")}  # type: ignore[index]
    not_here = {"window", "dimension labels", "slice sizes", "direction", "iota dimension"}
    assert kinds == {"nothing", *MUTATIONS.keys()} - not_here
    refused = 0
    for text in texts:
        try:
            assert parse_module(text).name == NAME
        except InputError:
            refused += 1
    assert 0 < refused < len(texts) / 4
    assert len(set(texts)) > 150


def test_a_tuple_that_is_given_is_made_of_its_arrays(tmp_path: Path) -> None:
    (tmp_path / "t.hlo").write_text(
        "HloModule t\nENTRY e {\n a = f32[2] parameter(1)\n p = (f32[2], (s32[3])) parameter(0)\n"
        " q = f32[2] get-tuple-element(p), index=0\n ROOT s = f32[2] subtract(a, q)\n}\n"
    )
    (module,) = corpus(tmp_path).programs
    assert [(p.name, p.parameter_number) for p in module.entry.parameters] == [("p.0", 0), ("p.1.0", 1), ("a", 2)]
    assert parse_module(print_module(module)) == module


def test_shapes_follow_a_size_that_is_changed() -> None:
    module = settled(parse_module(SMALL), lambda n: 7 if n == 6 else n)
    assert [i.shape.dimensions for i in module.entry.instructions if i.name in "apt"] == [(4, 7), (5, 10), (10, 5)]  # type: ignore[union-attr]
    sum_of_two = "a = f32[4,6] parameter(0)\n b = f32[24] parameter(1)\n c = f32[4,6] reshape(b)\n"
    other = parse_module("HloModule m\nENTRY e {\n" + sum_of_two + "ROOT s = f32[4,6] add(a, c)\n}\n")
    with pytest.raises(ShapeError):
        settled(other, lambda n: 23 if n == 24 else n)


def _answers(answer: dict[str, Any]) -> Callable[[], Any]:
    return lambda: type("Compiler", (), {"ask": lambda self, request: answer})()


def test_what_only_one_of_the_two_refuses_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    error = InputError("expected 3 operands of %x", 1, 1)
    for answer, blamed in (
        ({"optimized": ""}, "the compiler accepts what is refused: expected _ operands of _"),
        ({"error": DIED}, "the process ends"),
    ):
        monkeypatch.setattr(corpus_judging, "plain_compiler", _answers(answer))
        with pytest.raises(Failure, match=blamed):
            corpus_judging.refused_by_us("HloModule corpus", error)
    monkeypatch.setattr(corpus_judging, "plain_compiler", _answers({"error": "INVALID_ARGUMENT: no"}))
    assert corpus_judging.refused_by_us("HloModule corpus", error) == {"both refuse": 1}


def test_a_campaign_keeps_its_folder(tmp_path: Path, folder: Path) -> None:
    State.open(tmp_path / "state", 1, 5, folder)
    assert State.open(tmp_path / "state", None, 5).corpus == folder.resolve()
    with pytest.raises(ValueError, match="has modules of"):
        State.open(tmp_path / "state", None, 5, tmp_path / "state")


def test_the_compiler_is_right_on_a_small_folder_and_blamed_for_a_planted_difference(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if python_with_jax() is None:
        pytest.skip("jax is not installed")
    from hloproof.fuzz.chunk import first_failure
    from hloproof.fuzz.compiler import judging
    from hloproof.fuzz.targets import target

    monkeypatch.setenv(CORPUS, str(folder))
    assert first_failure(target("compiler"), 4, 25) is None
    asked = judging._asked

    def planted(xla: Any, request: dict[str, Any]) -> dict[str, Any]:
        return asked(xla, {**request, "hlo": request["hlo"].replace(" negate(", " abs(")})

    monkeypatch.setattr(judging, "_asked", planted)
    found = first_failure(target("compiler"), 4, 25)
    assert found is not None
    assert found.cause == "compiler: another result than the interpreter's"
    assert "negate" in found.case
