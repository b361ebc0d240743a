"""The total time binds in every stage; what does not fit is unknown, and says in which stage the time ended."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from itertools import count, pairwise
from pathlib import Path

import pytest

from hloproof.claims.maps.dedup import deduplicate
from hloproof.claims.maps.shifting_maps import difference
from hloproof.claims.operations import owed as owed_module
from hloproof.claims.operations.owed import owed
from hloproof.claims.statements.statement import Statement
from hloproof.definitions import define
from hloproof.definitions.definition import Definition
from hloproof.equivalence.decide import decide
from hloproof.logic.formula import eq
from hloproof.models.errors import NotModelled
from hloproof.models.expressions.expr import Var
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.parser import parse_module
from hloproof.models.hlo.shape import ShapeIndex
from hloproof.models.indexing.composition import joins
from hloproof.models.indexing.composition.module_maps import composer_of, instruction_maps
from hloproof.models.maps.text import parse_map
from hloproof.models.simplifier.simplify import simplify
from hloproof.models.stages import OutOfTime, Run, checkpoint, running, stage
from hloproof.pipeline import driver
from hloproof.pipeline.driver import check, check_hlo
from hloproof.pipeline.equal_bodies import body_key
from hloproof.pipeline.options import Options, Selection
from hloproof.results.results import Report
from hloproof.results.verdict import Exit, Verdict

LOOPS = """HloModule loops

add { a = u32[] parameter(0)
 b = u32[] parameter(1)
 ROOT c = u32[] add(a, b) }

inner {
  s = (u64[], u32[2], u32[2]) parameter(0)
  n = u64[] get-tuple-element(s), index=0
  x = u32[2] get-tuple-element(s), index=1
  at = s32[2,1] constant({{1}, {3}})
  y = u32[2] scatter(x, at, x), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0},
    index_vector_dim=1, to_apply=add
  two = u64[] constant(2)
  m = u64[] add(n, two)
  ROOT r = (u64[], u32[2], u32[2]) tuple(m, y, y)
}

until10 {
  s = (u64[], u32[2], u32[2]) parameter(0)
  n = u64[] get-tuple-element(s), index=0
  k = u64[] constant(10)
  ROOT r = pred[] compare(n, k), direction=NE
}

outer {
  s = (u64[], u32[2], u32[2]) parameter(0)
  n = u64[] get-tuple-element(s), index=0
  x = u32[2] get-tuple-element(s), index=2
  two = u64[] constant(2)
  t = (u64[], u32[2], u32[2]) tuple(two, x, x)
  w = (u64[], u32[2], u32[2]) while(t), condition=until10, body=inner
  y = u32[2] get-tuple-element(w), index=1
  one = u64[] constant(1)
  m = u64[] add(n, one)
  ROOT r = (u64[], u32[2], u32[2]) tuple(m, y, y)
}

until5 {
  s = (u64[], u32[2], u32[2]) parameter(0)
  n = u64[] get-tuple-element(s), index=0
  k = u64[] constant(5)
  ROOT r = pred[] compare(n, k), direction=LT
}

ENTRY e {
  p = u32[2] parameter(0)
  q = u32[2] parameter(1)
  one = u64[] constant(1)
  first = u32[2] reverse(p), dimensions={0}
  t = (u64[], u32[2], u32[2]) tuple(one, p, q)
  w = (u64[], u32[2], u32[2]) while(t), condition=until5, body=outer
  y = u32[2] get-tuple-element(w), index=1
  ROOT last = u32[2] copy(y)
}
"""
"""Nested loops whose maps read many elements at run time: without limits their comparison does not end in minutes."""


def wide(opcode: str, count: int) -> str:
    """A module of one instruction with `count` operands."""
    parameters = "".join(f"  p{i} = f32[1] parameter({i})\n" for i in range(count))
    names = ", ".join(f"p{i}" for i in range(count))
    shape = f"f32[{count}]" if opcode == "concatenate" else "(" + ", ".join(["f32[1]"] * count) + ")"
    tail = ", dimensions={0}" if opcode == "concatenate" else ""
    return f"HloModule wide\nENTRY e {{\n{parameters}  ROOT r = {shape} {opcode}({names}){tail}\n}}\n"


class Ticks:
    """A clock that is one second later each time it is looked at: seconds count looks, not time."""

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> float:
        self.now += 1
        return self.now


def ticking(seconds: float | None) -> Run:
    return Run(seconds, Ticks())


def many_conditions() -> Statement:
    names = [f"x{i}" for i in range(50)]
    equal = tuple(eq(Var(a), Var(b)) for a, b in pairwise(names))
    return Statement(tuple((n, Interval(0, 9)) for n in names), equal)


def compose_loops() -> object:
    module = parse_module(LOOPS)
    loop = module.entry.by_name["w"]
    return instruction_maps(composer_of(module), module.entry, loop, "output-to-input", 1)


MAP = "(d0, d1)[s0] -> (d0 * 4 + d1 + s0), domain: d0 in [0, 9], d1 in [0, 3], s0 in [0, {}], d0 + s0 in [0, 7]"
LOOKUP = "(d0){{rt0}} -> (rt0), domain: d0 in [0, 9], rt0 in [0, 9]\nruntime variables:\nrt0: x; (d0) -> ({}), {}"

NEW = count(100)
"""No map is simplified twice: the second time it is known."""

STAGES: dict[str, Callable[[], object]] = {
    "reading": lambda: parse_module(LOOPS),
    "definitions": lambda: owed(Operation.of(*_instruction(wide("tuple", 50)))),
    "composition": compose_loops,
    "simplification": lambda: simplify(parse_map(MAP.format(next(NEW)))),
    "comparison": lambda: deduplicate([parse_map(MAP.format(n)) for n in range(3, 9)]),
    "statement": lambda: many_conditions().therefore(eq(Var("x0"), Var("x49")), "the same", str),
}


def _instruction(text: str):  # type: ignore[no-untyped-def]
    module = parse_module(text)
    return module.entry.root, module.entry


@pytest.mark.parametrize("name", STAGES)
def test_each_stage_looks_at_the_time(name: str) -> None:
    STAGES[name]()
    run = ticking(4)
    with running(run), pytest.raises(OutOfTime, match=f"--total-seconds.*{name!r}"), stage(name):
        STAGES[name]()
    assert run.ended


def test_without_a_limit_nothing_is_given_up() -> None:
    with running(ticking(None)) as run:
        checkpoint()
    assert not run.ended and run.left() is None


def test_the_time_of_a_stage_is_without_the_stages_inside_of_it() -> None:
    run = ticking(None)
    with running(run), stage("outer"):
        with stage("inner"):
            pass
        with stage("inner"):
            pass
    assert run.seconds == {"inner": 2.0, "outer": 3.0}


def test_a_stage_may_have_a_share_of_what_is_left() -> None:
    run = ticking(100)
    with running(run):
        with pytest.raises(OutOfTime, match="half"), stage("half", 0.5):
            while True:
                checkpoint()
        assert run.left() > 40  # type: ignore[operator]


def checked(text: str, seconds: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **options: object) -> Report:
    (tmp_path / "m.hlo").write_text(text)
    monkeypatch.setattr(driver, "inside", ticking)
    return check([str(tmp_path / "m.hlo")], Options(jobs=1, total_seconds=seconds, **options))  # type: ignore[arg-type]


def test_partial_results_are_told_and_the_rest_is_unknown_with_the_stage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = checked(LOOPS, 4_000, tmp_path, monkeypatch)
    counts = report.counts()
    assert counts[Verdict.PROVED] and counts[Verdict.UNKNOWN] and not counts[Verdict.INTERNAL]
    reasons = {r.reason for r in report.records() if r.verdict is Verdict.UNKNOWN}
    assert any("in the stage 'composition'" in str(r) or "in the stage 'stating" in str(r) for r in reasons)
    assert report.exit_status() is Exit.UNKNOWN
    # Whoever comes last is told too.
    assert {r.verdict for r in report.records() if r.instruction == "last"} == {Verdict.UNKNOWN}


def test_a_claim_alone_that_could_not_be_stated_is_not_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = checked(LOOPS, 400, tmp_path, monkeypatch, selection=Selection(only=("hazard-output",)))
    assert report.exit_status() is Exit.UNKNOWN


def test_a_file_that_cannot_be_read_in_time_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = checked(LOOPS, 10, tmp_path, monkeypatch)
    (record,) = report.records()
    assert (record.verdict, record.claim) == (Verdict.UNKNOWN, "input") and "'reading'" in str(record.reason)


@pytest.mark.parametrize("seconds", [100, 130, 200, 500, 1500])
def test_once_a_file_is_read_each_instruction_is_told_of(
    seconds: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = checked(LOOPS, seconds, tmp_path, monkeypatch)
    assert report.exit_status() is Exit.UNKNOWN and not any(r.claim == "input" for r in report.records())
    told = {r.instruction for r in report.records()}
    assert told >= {i.name for c in parse_module(LOOPS).computations for i in c.instructions if i.operands}
    late = [str(r.reason) for r in report.records() if r.verdict is Verdict.UNKNOWN]
    stages = {reason.rpartition("in the stage ")[2].strip("'") for reason in late}
    named = {"gathering", "composition", "waiting for engines"}
    assert all(name in named or name.startswith("stating ") for name in stages)


def test_what_was_given_up_for_want_of_time_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = tmp_path / "cache" / "proofs.sqlite"
    first = checked(LOOPS, 300, tmp_path, monkeypatch, cache=cache, selection=Selection(skip=("dedup",)))
    second = checked(LOOPS, 10_000_000, tmp_path, monkeypatch, cache=cache, selection=Selection(skip=("dedup",)))
    assert first.counts()[Verdict.UNKNOWN] and second.counts().total() > first.counts().total()


def test_all_the_time_is_accounted_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = checked(LOOPS, 30_000, tmp_path, monkeypatch)
    assert {"reading", "composition", "waiting for engines", "putting together"} <= report.times.keys()


def test_two_maps_are_told_apart_in_time() -> None:
    maps = [parse_map(LOOKUP.format(e, "domain: d0 in [0, 9]")) for e in ("d0", "9 - d0")]
    with running(ticking(3)), pytest.raises(OutOfTime):
        difference(maps[0], maps[1:])


# --- no blow-up: counts of steps, not of seconds


def test_wide_operations_are_stated_in_a_time_that_grows_with_their_width() -> None:
    """Looks at the clock stand for steps: twice as wide is at most a little more than twice as many."""
    steps = {}
    for opcode in ("tuple", "concatenate"):
        for count_ in (100, 200):
            operation = Operation.of(*_instruction(wide(opcode, count_)))
            with running(ticking(None)) as run:
                for claim in owed(operation):
                    claim.obligations()
                steps[opcode, count_] = run._clock.now  # type: ignore[attr-defined]
        assert steps[opcode, 200] <= 2.2 * steps[opcode, 100]


def test_an_access_to_a_wide_tuple_looks_at_one_of_its_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    """A state of thousands of arrays is taken apart by as many accesses."""
    asked: list[int] = []

    def counted(op: Operation, output: int, operand: int, position: ShapeIndex = ()) -> Definition:
        asked.append(output)
        return define(op, output, operand, position)

    monkeypatch.setattr(owed_module, "define", counted)
    access = "  ROOT g = f32[1] get-tuple-element(t), index=7\n}"
    claims = owed(Operation.of(*_instruction(wide("tuple", 300).replace("ROOT r =", "t =").replace("}", access))))
    assert len(asked) <= 4
    assert {c.claim for c in claims} >= {"definition", "in-bounds", "converse"}
    assert all(c.obligations() for c in claims if c.claim == "definition")


def test_an_operation_of_ten_thousand_operands_is_given_up_where_each_has_its_own_map() -> None:
    with pytest.raises(NotModelled, match="more than 3000 pairs"):
        owed(Operation.of(*_instruction(wide("concatenate", 3001))))


def layers(count_: int) -> str:
    """A chain of equal fusions, each with a computation of its own."""
    bodies = "".join(
        f"f{n} {{\n  a{n} = f32[8,4] parameter(0)\n  t{n} = f32[4,8] transpose(a{n}), dimensions={{1,0}}\n"
        f"  b{n} = f32[32] reshape(t{n})\n  ROOT r{n} = f32[8,4] reshape(b{n})\n}}\n"
        for n in range(count_)
    )
    chain = "".join(
        f"  {'ROOT ' if n == count_ - 1 else ''}x{n} = f32[8,4] fusion({'p' if n == 0 else f'x{n - 1}'}), "
        f"kind=kLoop, calls=f{n}\n"
        for n in range(count_)
    )
    return f"HloModule layers\n{bodies}ENTRY e {{\n  p = f32[8,4] parameter(0)\n{chain}}}\n"


def test_fusions_with_equal_bodies_are_composed_once_and_say_the_same() -> None:
    one, many = (check_hlo(layers(n), Options(jobs=1)) for n in (2, 12))
    by_name = {r.instruction.name: r for m in many.files[0].modules for r in m.instructions}
    assert by_name["x1"].shared is by_name["x11"].shared is not by_name["x0"].shared
    assert many.exit_status() is one.exit_status() is Exit.OK
    claims = {c.claim: c.verdict for c in by_name["x11"].shared.claims}
    assert claims == {c.claim: c.verdict for c in by_name["x0"].shared.claims if c.claim != "simplify"}


def test_fusions_that_differ_in_one_attribute_are_not_equal() -> None:
    module = parse_module(
        layers(2).replace("t1 = f32[4,8] transpose(a1), dimensions={1,0}", "t1 = f32[4,8] reshape(a1)")
    )
    composer = composer_of(module)
    fusions = [i for i in module.entry.instructions if i.operands]
    keys = {body_key(composer, module.entry, i, Operation.of(i, module.entry)) for i in fusions}
    assert len(keys) == 2


def test_the_composition_of_a_module_is_given_up_after_so_many_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joins, "MOST_WORK", 3)
    report = check_hlo(layers(1).replace("dimensions={1,0}", "dimensions={1,0}"), Options(jobs=1))
    assert report.exit_status() is Exit.UNKNOWN
    assert any("more than 3 steps" in str(r.reason) for r in report.records() if r.instruction == "x0")


def test_calls_too_deep_to_follow_are_unknown_and_no_error_of_the_tool() -> None:
    call = "c{0} {{\n  p = f32[4] parameter(0)\n  ROOT r = f32[4] call(p), to_apply=c{1}\n}}\n"
    calls = "".join(call.format(n, n - 1) for n in range(1, 2_000))
    entry = "ENTRY e {\n  p = f32[4] parameter(0)\n  ROOT r = f32[4] call(p), to_apply=c1999\n}\n"
    text = f"HloModule deep\nc0 {{\n  p = f32[4] parameter(0)\n  ROOT r = f32[4] negate(p)\n}}\n{calls}{entry}"
    module = parse_module(text)
    result = decide(module, module)
    assert result.verdict is Verdict.UNKNOWN and "too deeply" in result.reason
    verdicts = {r.verdict for r in check_hlo(text, Options(jobs=1)).records()}
    assert verdicts <= {Verdict.PROVED, Verdict.UNKNOWN}


# --- ends


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGHUP])
def test_what_is_known_is_told_when_the_process_is_told_to_end(ending: signal.Signals, tmp_path: Path) -> None:
    (tmp_path / "a.hlo").write_text(wide("tuple", 2))
    command = [sys.executable, "-m", "hloproof", "check", "a.hlo", "-", "--kind", "hlo", "--no-cache"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=tmp_path, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdin is not None
        while _open_files(process.pid) and process.poll() is None:  # until it waits for its input
            pass
        process.send_signal(ending)
        told, _ = process.communicate(timeout=60)
    assert process.returncode == Exit.INTERRUPTED
    assert "a.hlo" in told and "interrupted" in told


def _open_files(pid: int) -> bool:
    """Whether the process has not come to wait for its standard input, in a read of it or in a poll."""
    try:
        return not Path(f"/proc/{pid}/syscall").read_text().startswith(("0 0x0 ", "7 "))
    except OSError:
        return False


def test_a_worker_ends_with_its_parent() -> None:
    program = (
        "import os, signal, subprocess, sys\n"
        "child = 'from hloproof.processes.process import end_with_parent as e; e(); print(flush=1)\\nwhile 1: pass'\n"
        "p = subprocess.Popen([sys.executable, '-c', child], stdout=subprocess.PIPE)\n"
        "p.stdout.readline(); print(p.pid, flush=True); os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    stat = Path(f"/proc/{int(done.stdout)}/stat")
    for _ in range(1_000_000):
        if not stat.exists() or stat.read_text().rsplit(")", 1)[1].split()[0] == "Z":
            return
    raise AssertionError("the worker outlives its parent")
