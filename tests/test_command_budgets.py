"""Commands that answer one question end in time and within their memory, and say which limit it was."""

from __future__ import annotations

import gc
import resource
import signal
import sys
import time
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from importlib import import_module
from pathlib import Path
from types import FrameType

import pytest

from hloproof.cli import COMMANDS, run
from hloproof.commands import limits
from hloproof.processes.alarm import at_most, at_most_more
from hloproof.results.verdict import Exit

SLOW_MAP = "(d0) -> (" + " + ".join(f"(d0 floordiv {k}) * {k}" for k in range(2, 900)) + "), domain: d0 in [0, 9999]"
LOOP = """HloModule m
more { s = (s32[], f32[64,64]) parameter(0)
  n = s32[] get-tuple-element(s), index=0
  k = s32[] constant(900000)
  ROOT r = pred[] compare(n, k), direction=LT }
body { s = (s32[], f32[64,64]) parameter(0)
  n = s32[] get-tuple-element(s), index=0
  x = f32[64,64] get-tuple-element(s), index=1
  one = s32[] constant(1)
  m = s32[] add(n, one)
  y = f32[64,64] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = (s32[], f32[64,64]) tuple(m, y) }
ENTRY e { p = (s32[], f32[64,64]) parameter(0)
  ROOT w = (s32[], f32[64,64]) while(p), condition=more, body=body }
"""
LARGE = """HloModule m
ENTRY e { p = f32[] parameter(0)
  b = f32[4096,4096] broadcast(p), dimensions={}
  n = f32[4096,4096] negate(b)
  i = f32[4096,4096] iota(), iota_dimension=0
  a = f32[4096,4096] add(n, i)
  ROOT c = f32[4096,4096] cosine(a) }
"""
ONE = "HloModule m\nENTRY e {\n  p = f32[4] parameter(0)\n  ROOT r = f32[4] reverse(p), dimensions={0}\n}\n"


# A file that is opened just when the alarm rings, of a module that is imported, is closed with a warning.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "loop.hlo", "--budget", "0.3"),
        ("simplify", SLOW_MAP, "--budget", "0.01"),
        ("rewrite", SLOW_MAP, SLOW_MAP.replace("d0", "d1"), "--budget", "0.01"),
        ("layout", "f32[5,130]{1,0:T(8,128)}", "--budget", "1e-6"),
        ("indexing", "one.hlo", "--budget", "1e-6"),
        ("analyze", "one.hlo", "--instruction", "r", "--budget", "1e-6"),
        ("aliases", "one.hlo", "--budget", "1e-6"),
    ],
    ids=lambda a: a[0],
)
def test_a_command_that_takes_longer_than_its_budget_is_unknown(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop.hlo").write_text(LOOP)
    (tmp_path / "one.hlo").write_text(ONE)
    assert run(arguments) == Exit.UNKNOWN
    assert "--budget" in capsys.readouterr().err
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_a_parameter_that_is_too_large_is_not_drawn(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Beside it stands a small one, which would be drawn after it."""
    text = "HloModule m\nENTRY e { p = f32[2147483648] parameter(0) ROOT q = f32[8] parameter(1) }\n"
    (tmp_path / "wide.hlo").write_text(text, encoding="utf-8")
    assert run(["run", str(tmp_path / "wide.hlo")]) == Exit.UNKNOWN
    assert "a tensor of 2147483648 elements is larger than" in "".join(capfd.readouterr())


@pytest.mark.parametrize(("head", "options"), [("", ["--replicas", "65537"]), (", replica_count=1000000000000", [])])
def test_so_many_devices_are_not_run(
    head: str, options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "m.hlo").write_text(f"HloModule m{head}\nENTRY e {{ ROOT p = f32[8] parameter(0) }}\n")
    assert run(["run", str(tmp_path / "m.hlo"), *options]) == Exit.UNKNOWN
    assert "devices are more than 65536" in capsys.readouterr().err


def test_a_run_that_takes_more_than_its_memory_is_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(limits, "MEGABYTES", 100)
    (tmp_path / "large.hlo").write_text(LARGE)
    before = resource.getrlimit(resource.RLIMIT_AS)
    assert run(["run", str(tmp_path / "large.hlo")]) == Exit.UNKNOWN
    assert "out of memory (100 MB)" in capsys.readouterr().err
    assert resource.getrlimit(resource.RLIMIT_AS) == before


def test_an_alarm_that_comes_while_its_body_is_left_is_its_last() -> None:
    """It would be raised outside of the body else, again and again."""
    before = signal.getsignal(signal.SIGALRM)

    def now(frame: FrameType, event: str, given: object) -> None:
        if event == "call" and frame.f_code.co_name == "__exit__":
            signal.raise_signal(signal.SIGALRM)

    sys.setprofile(now)
    try:
        with at_most(60.0, lambda: LookupError("late")):
            pass
    finally:
        sys.setprofile(None)
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0.0


def _late(name: str) -> Callable[[], LookupError]:
    return lambda: LookupError(name)


@pytest.mark.parametrize("outer, inner", [(0.01, 60.0), (60.0, 0.01)])
def test_of_two_alarms_the_one_whose_time_is_over_rings(outer: float, inner: float) -> None:
    told = "outer" if outer < inner else "inner"
    with pytest.raises(LookupError, match=told), at_most(outer, _late("outer")), at_most(inner, _late("inner")):
        time.sleep(30)
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_an_alarm_rings_behind_one_that_was_set_inside_of_it() -> None:
    with pytest.raises(LookupError, match="outer"), at_most(0.05, _late("outer")):
        with at_most(60.0, _late("inner")):
            pass
        with pytest.raises(LookupError, match="inner"), at_most(0.001, _late("inner")):
            time.sleep(30)
        time.sleep(30)
    before = signal.getsignal(signal.SIGALRM)
    with pytest.raises(LookupError, match="outer"), at_most(0.01, _late("outer")):
        with suppress(LookupError), at_most(60.0, _late("inner")):
            time.sleep(30)  # the outer one gets lost
        time.sleep(30)
    assert signal.getsignal(signal.SIGALRM) is before


def test_an_alarm_that_rings_while_one_is_set_inside_of_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was never told, and the one inside rang at once."""
    ask = signal.getitimer

    def asked(which: int) -> tuple[float, float]:
        if ask(which)[0]:
            signal.raise_signal(signal.SIGALRM)
        return ask(which)

    with pytest.raises(LookupError, match="outer"), at_most(0.05, _late("outer")):
        time.sleep(0.04)
        monkeypatch.setattr(signal, "getitimer", asked)
        with at_most(60.0, _late("inner")):
            time.sleep(30)


@pytest.mark.parametrize("every", [0.0, 0.02])
def test_the_alarm_of_somebody_else_rings_as_it_would(every: float) -> None:
    rung: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: rung.append(number))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.01, every)
        with at_most(60.0, _late("inner")):
            until = time.monotonic() + 0.2
            while time.monotonic() < until:
                time.sleep(0.01)
        assert rung and (every or len(rung) == 1)
        assert signal.getitimer(signal.ITIMER_REAL)[1] == pytest.approx(every)
        behind = len(rung)
        time.sleep(0.1)
        assert (len(rung) > behind) == bool(every)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _busy(*_: object) -> None:
    end = time.monotonic() + 0.05
    while time.monotonic() < end:
        pass


class _Held:
    """Something that can be referred to weakly."""


class _GoesSlowly:
    def __del__(self) -> None:
        _busy()


def _collect() -> None:
    gc.callbacks.append(_busy)
    try:
        gc.collect()
    finally:
        gc.callbacks.remove(_busy)


def _drop_what_is_watched() -> None:
    held = _Held()
    _watch = weakref.ref(held, _busy)
    del held


def _drop_what_goes_slowly() -> None:
    _GoesSlowly()


@pytest.mark.parametrize("where", [_collect, _drop_what_is_watched, _drop_what_goes_slowly])
@pytest.mark.parametrize("inside", [nullcontext, lambda: at_most(60.0, _late("inner"))])
def test_an_alarm_that_rings_where_nothing_can_be_raised_is_told_behind_it(
    where: Callable[[], None], inside: Callable[[], AbstractContextManager[None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is raised in what Python calls by itself is lost, with a warning: the suite failed by one such now and
    then, and what rang there rang again half a second later."""
    lost: list[object] = []
    gc.collect()  # what lies about by now may have callbacks of its own
    monkeypatch.setattr(sys, "unraisablehook", lost.append)
    monkeypatch.setattr("hloproof.processes.alarm.AGAIN", 30.0)
    before = sys.unraisablehook
    with pytest.raises(LookupError, match="outer"), at_most(0.02, _late("outer")), inside():
        where()
        time.sleep(10)
        raise AssertionError("it rang only once")
    assert not lost and sys.unraisablehook == before


@pytest.mark.parametrize("rung", [False, True])
def test_what_others_raise_where_nothing_can_be_is_told_as_ever(rung: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when the alarm has rung, and somebody has passed over it."""
    lost: list[str] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda what: lost.append(str(what.exc_value)))
    held = _Held()

    def fails(_: object) -> None:
        raise ValueError("its own")

    _watch = weakref.ref(held, fails)
    with pytest.raises(LookupError) if rung else nullcontext(), at_most(0.01 if rung else 60.0, _late("late")):
        with suppress(LookupError):
            time.sleep(30 if rung else 0)
        del held
    assert lost == ["its own"]


def test_what_passes_over_the_first_interruption_meets_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hloproof.processes.alarm.AGAIN", 0.01)
    with pytest.raises(LookupError), at_most(0.01, lambda: LookupError("late")):
        try:
            time.sleep(30)
        except LookupError:
            time.sleep(30)


def test_what_is_interrupted_and_ends_as_if_nothing_was_is_late_all_the_same() -> None:
    """A callback of the garbage collector or a library may lose what is raised."""
    with pytest.raises(LookupError), at_most(0.01, lambda: LookupError("late")), suppress(LookupError):
        time.sleep(30)
    with at_most(60.0, lambda: LookupError("late")), suppress(LookupError):
        raise LookupError("another one")
    with pytest.raises(ValueError, match="its own"), at_most(0.01, lambda: LookupError("late")):
        with suppress(LookupError):
            time.sleep(30)
        raise ValueError("its own")


def test_memory_is_limited_in_the_body_alone() -> None:
    with pytest.raises(MemoryError), at_most_more(50):
        bytearray(200 << 20)
    assert len(bytearray(200 << 20)) == 200 << 20


def test_every_command_that_answers_has_a_limit() -> None:
    """Of time, by one name or the other. explain and claims only print, lsp is asked by an editor."""
    without = {"explain", "claims", "baseline", "recheck", "memory", "lsp"}
    for name in COMMANDS.keys() - without:
        command = import_module(f"hloproof.commands.{COMMANDS[name].module}").command
        options = {option for parameter in command.params for option in parameter.opts}
        assert options & {"--budget", "--total-seconds", "--seconds", "--time"}, name
