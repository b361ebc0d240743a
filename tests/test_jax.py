"""`hloproof.jax`: programs from the function on. What needs the compiler is tried where jax is installed, the rest on
dumps made by hand."""

from __future__ import annotations

import doctest
import importlib.util
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import hloproof
import hloproof.jax
from hloproof.library import jax_programs
from hloproof.models.hlo.source_lines import SourceLine, SourceLines
from hloproof.results.verdict import Verdict

pytest_plugins = ["pytester"]
needs_jax = pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="jax is not installed")

TABLES = """
FileNames
1 "train.py"
2 "model.py"

FunctionNames
1 "<module>"
2 "attention"

FileLocations
1 {file_name_id=1 function_name_id=1 line=40 end_line=40 column=6 end_column=56}
2 {file_name_id=2 function_name_id=2 line=7 end_line=7 column=11 end_column=34}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}
"""
BEFORE = f"""HloModule jit_f
{TABLES}

ENTRY main {{
  x = s32[8] parameter(0), metadata={{op_name="x"}}
  first = s32[4] slice(x), slice={{[1:5]}}, metadata={{op_name="jit(f)/slice" stack_frame_id=2}}
  ROOT r = s32[4] negate(first), metadata={{op_name="jit(f)/neg" stack_frame_id=1}}
}}
"""
WRONG = BEFORE.replace("[1:5]", "[2:6]")
RIGHT = BEFORE.replace("first", "renamed")


def dumps(folder: Path, *texts: str) -> Path:
    """A folder as the compiler leaves it, with one pass between two texts."""
    names = ["before_optimizations", "0001.simplification.after_algsimp.before_dce", "cpu_after_optimizations"]
    for name, text in zip(names, texts, strict=False):
        (folder / f"module_0001.jit_f.{name}.txt").write_text(text)
    return folder


def test_frames_lead_to_lines_innermost_first() -> None:
    module = hloproof.parse(BEFORE)
    lines = SourceLines(module)
    inner, outer = SourceLine("model.py", 7, "attention"), SourceLine("train.py", 40, "<module>")
    assert lines.stack(module.entry.by_name["first"]) == (inner, outer)
    assert lines.stack(module.entry.root) == (outer,)
    assert lines.op_name(module.entry.by_name["first"]) == "jit(f)/slice"
    assert lines.of(module.entry.by_name["x"]) is None
    assert lines.nearest("main", "x") == inner  # that of its user
    assert lines.nearest("main", "nobody") is None


@pytest.mark.parametrize(
    ("metadata", "line"),
    [
        ('{op_name="n" source_file="a \\"b\\".py" source_line=3}', SourceLine('a "b".py', 3)),
        ("{stack_frame_id=9}", None),
        ("{}", None),
    ],
)
def test_metadata_in_the_older_form_and_without_tables(metadata: str, line: SourceLine | None) -> None:
    module = hloproof.parse(f"ROOT r = f32[4] negate(f32[4] p), metadata={metadata}")
    assert SourceLines(module).of(module.entry.root) == line


def test_a_fusion_without_metadata_has_the_line_of_its_root() -> None:
    text = """HloModule m
f {
  p = f32[4] parameter(0)
  ROOT n = f32[4] negate(p), metadata={source_file="a.py" source_line=3}
}
ENTRY e {
  p = f32[4] parameter(0)
  ROOT r = f32[4] fusion(p), kind=kLoop, calls=f
}"""
    module = hloproof.parse(text)
    assert SourceLines(module).of(module.entry.root) == SourceLine("a.py", 3)


def test_a_refuted_pass_is_told_at_the_line_of_the_program(tmp_path: Path) -> None:
    found = hloproof.jax.validate_dumps(dumps(tmp_path, BEFORE, WRONG, WRONG))
    assert not found and found.verdict == "refuted"
    first = found.findings[0]
    assert first.source == SourceLine("model.py", 7, "attention") and "algsimp" in first.what
    assert "model.py:7 in attention: refuted" in str(found)
    assert "model.py:7" in found._repr_html_() and repr(found).startswith("<Validated: refuted")


def test_passes_that_keep_the_program_are_proved(tmp_path: Path) -> None:
    found = hloproof.jax.validate_dumps(dumps(tmp_path, BEFORE, RIGHT, RIGHT))
    assert found and not found.findings and "proved" in str(found)


def test_a_memory_plan_beside_the_dumps_is_judged(tmp_path: Path) -> None:
    from memory_cases import CHAIN, CHAIN_PLAN, changed

    sourced = CHAIN.replace("multiply(%a, %b)", 'multiply(%a, %b), metadata={source_file="chain.py" source_line=5}')
    spoiled = changed(CHAIN_PLAN, "<4 y @0> (size=128,offset=128)", "<4 y @0> (size=128,offset=64)")
    dumps(tmp_path, sourced, sourced.replace("HloModule ", "HloModule x"), sourced)
    (tmp_path / "module_0001.jit_f.cpu_after_optimizations-buffer-assignment.txt").write_text(spoiled)
    found = hloproof.jax.validate_dumps(tmp_path)
    assert any("plan-interference" in f.what and f.source is not None for f in found.findings), str(found)


class Compiled:
    """What `jax.jit(f).lower(x).compile()` offers."""

    def __init__(self, text: str) -> None:
        self.text = text

    def as_text(self) -> str:
        return self.text


def test_check_tells_the_line_of_the_program() -> None:
    text = """HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  never_done = (f32[4], f32[4], u32[]) copy-start(x), metadata={source_file="a.py" source_line=3}
  ROOT r = f32[4] negate(x)
}"""
    found = hloproof.jax.check(Compiled(text))
    assert found.findings, str(found)
    assert found.source_of(found.findings[0]) == SourceLine("a.py", 3)
    assert "(from a.py:3)" in str(found) and "a.py:3" in found._repr_html_()


def test_what_is_compiled_already_has_no_passes_left() -> None:
    with pytest.raises(hloproof.InputError, match="give the function"):
        hloproof.jax.validate(Compiled(BEFORE))
    with pytest.raises(hloproof.InputError, match="no arguments"):
        hloproof.jax.check(Compiled(BEFORE), 7)


@pytest.mark.parametrize(("own", "here"), [((), False), ((("xla_backend_optimization_level", 0),), True), (None, True)])
def test_what_is_validated_is_compiled_as_the_program_is(
    own: tuple[object, ...] | None, here: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`compiler_options` of `jit`, and settings of JAX, were left out: another compilation was proved than that which
    runs. Where JAX does not say which options there are, it is compiled here too."""
    environments, flags = [], []

    class Lowered:
        _lowering = SimpleNamespace() if own is None else SimpleNamespace(_compiler_options_kvs=own)

        def as_text(self, debug_info: bool = False) -> str:
            return BEFORE

        def compile(self, compiler_options: dict[str, Any]) -> None:
            flags.append(compiler_options)

    def child(_: object, env: dict[str, str], **__: Any) -> Any:
        environments.append(env)
        return SimpleNamespace(returncode=0)

    values = {"jax_disable_most_optimizations": True, "jax_optimization_level": "O3", "jax_xla_profile_version": None}
    fake = SimpleNamespace(config=SimpleNamespace(values=values), default_backend=lambda: "cpu")
    monkeypatch.setitem(sys.modules, "jax", fake)
    monkeypatch.setattr(subprocess, "run", child)
    note = jax_programs._compile(Lowered(), tmp_path / "m.mlir", tmp_path / "dumps")
    assert (len(flags), len(environments), "in this process" in note) == ((1, 0, True) if here else (0, 1, False))
    for env in environments:
        assert env["JAX_DISABLE_MOST_OPTIMIZATIONS"] == "True" and env["JAX_OPTIMIZATION_LEVEL"] == "O3"
        assert "JAX_XLA_PROFILE_VERSION" not in env and f"--xla_dump_to={tmp_path / 'dumps'}" in env["XLA_FLAGS"]


def test_without_jax_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "jax", None)
    for ask in (hloproof.jax.check, hloproof.jax.validate):
        with pytest.raises(ImportError, match="pip install jax"):
            ask(lambda x: x, 1)


def test_the_examples_are_true() -> None:
    failed, tried = doctest.testmod(jax_programs)
    assert not failed and tried


@pytest.mark.parametrize(
    ("after", "options", "ends"),
    [(RIGHT, "", "passed"), (WRONG, "", "failed"), (WRONG, "allow_unknown=True", "failed")],
)
def test_the_fixture_fails_a_test_whose_program_is_not_proved(
    pytester: pytest.Pytester, tmp_path: Path, after: str, options: str, ends: str
) -> None:
    folder = dumps(tmp_path, BEFORE, after, after)
    pytester.makepyfile(
        f"""
        from hloproof.library import jax_programs

        def test_it(hloproof_validate, monkeypatch):
            def recorded(f, *args, **options):
                return jax_programs.validate_dumps({str(folder)!r})

            monkeypatch.setattr(jax_programs, "validate", recorded)
            assert hloproof_validate(print, 1, {options})
        """
    )
    known = entry_points(group="pytest11", name="hloproof")  # where the package is installed it is loaded by itself
    plugin = () if known else ("-p", "hloproof.pytest_plugin")
    result = pytester.runpytest_inprocess(*plugin, "-p", "no:xdist", "-p", "no:cacheprovider")
    result.assert_outcomes(**{ends: 1})
    if ends == "failed":
        result.stdout.fnmatch_lines(["*model.py:7 in attention: refuted*"])


@pytest.mark.parametrize("verdict", Verdict)
@pytest.mark.parametrize("allow", [False, True])
def test_the_fixture_allows_what_is_unknown_and_nothing_else(
    pytester: pytest.Pytester, verdict: Verdict, allow: bool
) -> None:
    passes = verdict is Verdict.PROVED or (allow and verdict is Verdict.UNKNOWN)
    pytester.makepyfile(
        f"""
        from hloproof.library import jax_programs
        from hloproof.results.verdict import Verdict

        class Found:
            verdict = Verdict({str(verdict)!r})

            def __bool__(self):
                return self.verdict is Verdict.PROVED

        def test_it(hloproof_validate, monkeypatch):
            monkeypatch.setattr(jax_programs, "validate", lambda *_: Found())
            hloproof_validate(print, allow_unknown={allow})
        """
    )
    known = entry_points(group="pytest11", name="hloproof")
    plugin = () if known else ("-p", "hloproof.pytest_plugin")
    result = pytester.runpytest_inprocess(*plugin, "-p", "no:xdist", "-p", "no:cacheprovider")
    result.assert_outcomes(**{"passed" if passes else "failed": 1})


@needs_jax
def test_a_program_is_compiled_in_a_process_of_its_own_and_validated() -> None:
    import jax.numpy as jnp

    def f(x: Any, y: Any) -> Any:
        return jnp.sum(jnp.transpose(x) @ y, axis=0)

    found = hloproof.jax.validate(f, jnp.ones((4, 8)), jnp.ones((4, 5)))
    assert found and not found.note and found.passes.judged and found.plans


@needs_jax
def test_a_program_with_options_of_its_own_is_compiled_with_them() -> None:
    import jax
    import jax.numpy as jnp

    options = {"xla_disable_hlo_passes": "fusion"}
    lowered = jax.jit(lambda x, w: jnp.tanh(x @ w).sum(axis=0), compiler_options=options).lower(*[jnp.ones((8, 8))] * 2)
    found = hloproof.jax.validate(lowered)
    assert found and "compiler_options" in found.note


@needs_jax
def test_a_wrong_fold_of_the_compiler_is_found_at_its_line() -> None:
    """jax 0.10.2 folds nested dynamic slices and leaves the outer start unclamped."""
    import jax
    import jax.numpy as jnp

    def nested(x: Any, i: Any, j: Any) -> Any:
        return jax.lax.dynamic_slice(jax.lax.dynamic_slice(x, (i,), (4,)), (j,), (2,))

    found = hloproof.jax.validate(nested, jnp.arange(10.0), 8, 0)
    if jax.__version__ == "0.10.2":
        assert found.verdict == "refuted"
        assert found.findings[0].source is not None and found.findings[0].source.file == __file__
