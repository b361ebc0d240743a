"""What is kept from run to run answers the question that was asked, by this code, of this text, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from importlib import metadata
from pathlib import Path
from typing import Any, Final

import pytest
from report_sample import instruction
from small_modules import ADD, BAD

from hloproof.cli import run
from hloproof.engines import door
from hloproof.engines.door import How, prove_one
from hloproof.engines.store import fingerprint
from hloproof.logic.formula import le
from hloproof.logic.obligation import Obligation, Outcome
from hloproof.models.expressions.expr import Var
from hloproof.models.expressions.interval import Interval
from hloproof.pipeline import driver, items, passes
from hloproof.pipeline.file_cache import FileCache
from hloproof.pipeline.items import Item, judge_items
from hloproof.pipeline.options import Options, Selection
from hloproof.pipeline.pass_dumps import find_dumps
from hloproof.pipeline.record_cache import RecordCache
from hloproof.results.errors import BadInput
from hloproof.results.results import FileResults, InputProblem, InstructionResult, ModuleResults, OperationVerdicts
from hloproof.results.verdict import ClaimResult, Found, Verdict

KEPT = Options(cache=Path("kept.db"))


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working folder and a cache of its own for every test."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.mark.parametrize(
    ("comment", "status"),
    [("", 1), ("// hloproof: allow async-chain because of a test", 0), ("// hloproof: allow async-chain", 2)],
)
def test_a_file_that_is_kept_has_its_suppressions(comment: str, status: int) -> None:
    """The right ones, and one that cannot be read is no reason to keep what was found without it."""
    Path("m.hlo").write_text(BAD.replace("copy-start(%a)", f"copy-start(%a) {comment}"))
    assert [run(["check", "m.hlo"]) for _ in range(3)] == [status] * 3


@pytest.mark.parametrize(("name", "text"), [("a.rules", "rule a\n  (x * 6) floordiv 3 => x * 2\n"), ("m.hlo", ADD)])
def test_what_is_kept_is_proved_again_where_certificates_are_wanted(name: str, text: str) -> None:
    """A verdict from a run before has none: nothing was written, and the check ended with 0."""
    Path(name).write_text(text)
    assert [run(["check", name, *more]) for more in ((), (), ("--certify", "c"))] == [0] * 3
    assert list(Path("c").glob("*.smt2"))


def whole(*own: Found, where: str = "own") -> FileResults:
    """The results of a file with one instruction of which this alone is told, or what it shares with others, or the
    file."""
    shared = OperationVerdicts((Found(Verdict.PROVED, claim="layout"), *(own if where == "shared" else ())))
    one = InstructionResult("e", instruction("x", "copy", 4), shared, list(own) if where == "own" else [])
    others = [ClaimResult("m.hlo#", "spec", "m.hlo", "", 1, 1, "", found) for found in own] if where == "file" else []
    return FileResults("m.hlo", "hlo", modules=[ModuleResults("m", [one])], others=others)


@pytest.mark.parametrize(
    ("found", "kept"),
    [
        (Found(Verdict.REFUTED, claim="async-chain", counterexample="why"), True),
        (Found(Verdict.UNKNOWN, claim="async-chain", reason="why", final=False), False),
        (Found(Verdict.INTERNAL, claim="async-chain", reason="why"), False),
    ],
)
@pytest.mark.parametrize("where", ["own", "shared", "file"])
def test_what_concerns_one_instruction_alone_decides_too(found: Found, kept: bool, where: str) -> None:
    cache, results = FileCache(KEPT), whole(found, where=where)
    cache.put(cache.key("m.hlo", "text"), results)
    got = cache.get(cache.key("m.hlo", "text"), FileResults("m.hlo", "hlo"))
    assert (got is not None) == kept
    if got is not None:
        assert list(got.records()) == list(results.records())
    results.problems.append(InputProblem("m.hlo", "why"))
    cache.put(cache.key("m.hlo", "other"), results)
    assert cache.get(cache.key("m.hlo", "other"), FileResults("m.hlo", "hlo")) is None
    cache.close()


def test_a_file_is_kept_by_its_name_its_text_and_the_plan_beside_it() -> None:
    """What ends a text is no plan, and an empty plan is another than none."""
    cache = FileCache(KEPT)
    plans = [None, ("", ""), ("p", ""), ("", "p"), ("p", "b"), ("q", "b"), ("pb", "")]
    asked = [(name, text, plan) for name in ("m", "ma") for text in ("", "b", "pb", "apb") for plan in plans]
    assert len({cache.key(*one) for one in asked}) == len(asked)
    cache.close()


OTHER: Final[dict[str, tuple[Any, ...]]] = {
    "selection": (Selection(("layout",)), Selection((), ("layout",)), Selection((), (), ("layout",))),
    "cross": (True,),
    "obligation_seconds": (9.0,),
    "layout_sensitive": (True,),
    "after_copy_insertion": (True,),
    "index_width": (32,),
}
"""What makes another question of a file, by the option."""
SAME: Final = frozenset(
    "jobs item_seconds item_megabytes total_seconds cache fail_fast kind include exclude certify".split()
)
"""What only says how much is answered, and which files are asked about; with certificates nothing is kept."""


def test_a_file_is_kept_by_all_that_makes_another_question_of_it() -> None:
    assert OTHER.keys() | SAME == {f.name for f in fields(Options)}
    asked = [KEPT, *(replace(KEPT, **{name: value}) for name, values in OTHER.items() for value in values)]
    caches = [FileCache(options) for options in (*asked, replace(KEPT, certify=Path("proofs")))]
    keys = [cache.key("m.hlo", "text") for cache in caches]
    assert len(set(keys)) == len(keys) and keys[-1] == b""
    for cache in caches:
        cache.close()


@pytest.mark.parametrize("ended", [False, True])
def test_nothing_is_kept_of_a_check_whose_time_is_over(ended: bool) -> None:
    """Something may have been left out for want of time of which no record tells."""
    one, two = driver._Check(KEPT), FileCache(KEPT)
    key = two.key("m.hlo", "text")
    one._keys[key] = whole()
    one.keep(ended)
    assert (two.get(key, FileResults("m.hlo", "hlo")) is None) == ended
    two.close()


def test_whether_the_time_of_a_check_was_over_is_told_to_what_keeps(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[bool] = []
    monkeypatch.setattr(driver._Check, "keep", lambda _self, ended: said.append(ended))
    Path("m.hlo").write_text(ADD)
    for seconds in (None, 1e-6):
        driver.check("m.hlo", replace(KEPT, total_seconds=seconds))
    assert said == [False, True]


def test_an_entry_is_kept_by_its_kind_its_file_and_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal entries of two files are told at their own places."""

    def judged(item: Any, file: str, how: How) -> ClaimResult:
        asked.append((item, file))
        return ClaimResult(f"{file}#{item}", "map", file, "", 1, 1, item, Found(Verdict.PROVED, claim="definition"))

    def of_layout(item: Any, file: str, how: How) -> ClaimResult:
        return replace(judged(item, file, how), kind="layout")

    for kind, judge in (("map", judged), ("layout", of_layout)):
        monkeypatch.setitem(items.ITEM_KINDS, kind, replace(items.ITEM_KINDS[kind], judge=judge))
    listed = [Item("map", "m", "a"), Item("map", "n", "a"), Item("layout", "m", "a"), Item("map", "m", "b")]
    told = [(i.kind, i.file) for i in listed]
    for count in (4, 0):
        asked: list[tuple[str, str]] = []
        found: dict[int, ClaimResult] = {}
        judge_items(listed, KEPT, {}, found.__setitem__, here=True)
        assert len(asked) == count and [(found[n].kind, found[n].file) for n in range(4)] == told


def test_what_memory_or_time_decided_is_not_remembered_in_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Obligation((("x", Interval(0, 9)),), le(Var("x"), 9))
    for final in (False, True):
        known: dict[str, Outcome] = {}
        answers = [Outcome("unknown", reason="why", final=final), Outcome("proved", ("isl",))]
        monkeypatch.setattr(door, "_here", lambda *_, a=answers: a.pop(0))
        assert [prove_one(asked, How(known=known)).verdict for _ in range(2)][1] == ("unknown" if final else "proved")


PASSES = passes.PassOptions(cache=Path("kept.db"), jobs=1)


@pytest.mark.parametrize(
    ("change", "answer", "asked"),
    [
        ({}, {}, 0),
        ({"tier": "exact"}, {}, 1),
        ({"budget_seconds": 9.0}, {}, 1),
        ({"since": "x2", "jobs": 2}, {}, 0),
        ({}, {"final": False}, 1),
        ({}, {"final": False, "verdict": "internal"}, 1),
        ({}, {"verdict": "unknown"}, 0),
    ],
)
def test_an_answer_about_passes_is_that_to_the_same_question(
    change: dict[str, Any], answer: dict[str, Any], asked: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in (1, 2):
        Path(f"a.000{n}.p.after_x{n}.txt").write_text(ADD + " " * n)
    calls: list[int] = []

    def answered(todo: list[Any], _jobs: int, _judging: object, told: Callable[[int, dict[str, Any]], None]) -> None:
        calls.append(len(todo))
        for n, _ in enumerate(todo):
            told(n, {"verdict": "proved", "reason": "", "axioms": [], "seconds": 0.0, **answer})

    monkeypatch.setattr(passes, "work_on", answered)
    for options in (PASSES, replace(PASSES, **change)):
        passes.validate(find_dumps(Path()), options)
    assert calls == [1, asked]
    monkeypatch.setattr(passes, "source_digest", lambda: b"of other code")
    passes.validate(find_dumps(Path()), PASSES)
    assert calls == [1, asked, 1]


@pytest.mark.parametrize("change", ["", "before", "after", "gone"])
def test_files_that_changed_meanwhile_are_unknown_and_not_kept(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What they are now is not what was found: nothing is said of it."""
    files = {side: Path(f"a.000{n}.p.after_x{n}.txt") for n, side in enumerate(("before", "after"), 1)}
    for n, file in enumerate(files.values()):
        file.write_text(ADD + " " * n)

    def slow(todo: list[Any], _jobs: int, judging: Any, told: Callable[[int, dict[str, Any]], None]) -> None:
        if change == "gone":
            files["after"].unlink()
        elif change:
            files[change].write_text(f"{ADD}// more\n")
        try:
            told(0, judging.begin()(todo[0]))
        except BadInput as error:
            told(0, judging.failed(todo[0], error))

    monkeypatch.setattr(passes, "work_on", slow)
    [first] = passes.validate(find_dumps(Path()), PASSES).judged
    assert first.verdict == ("unknown" if change else "proved")
    for n, file in enumerate(files.values()):
        file.write_text(ADD + " " * n)
    monkeypatch.setattr(passes, "work_on", lambda *_: None)
    [found] = passes.validate(find_dumps(Path()), PASSES).judged
    assert found.cached == (change == "")


def test_a_worker_that_fails_is_an_error_of_this_tool_and_one_that_is_lost_is_none(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both were unknown, and neither is kept."""
    for n in (1, 2):
        Path(f"a.000{n}.p.after_x{n}.txt").write_text(ADD + " " * n)
    for ends, status, kept in (("lost", 3, 0), ("failed", 4, 0), ("", 0, 1)):

        def work(todo: list[Any], _: int, work: Any, told: Callable[[int, Any], None], ends: str = ends) -> None:
            why: Any = "died" if ends == "lost" else KeyError("x")
            for n, one in enumerate(todo):
                told(n, getattr(work, ends)(one, why) if ends else work.begin()(one))

        monkeypatch.setattr(passes, "work_on", work)
        assert run(["passes", ".", "--cache", "c.db"]) == status
        assert ("internal error: KeyError" in capsys.readouterr().out) == (ends == "failed")
        found = passes.validate(find_dumps(Path()), replace(PASSES, cache=Path("c.db")))
        assert sum(j.cached for j in found.judged) == kept


def test_what_another_run_may_decide_is_not_kept() -> None:
    cache = RecordCache(KEPT.cache)
    for verdict in Verdict:
        record = ClaimResult("m#a", "map", "m", "", 1, 1, "a", Found(verdict, reason="why", claim="definition"))
        cache.put(str(verdict).encode(), record)
        known = verdict not in (Verdict.UNKNOWN, Verdict.INTERNAL)
        assert (cache.get(str(verdict).encode()) == record) == known
    cache.close()


def test_what_is_kept_depends_on_files_their_places_and_the_solvers(monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("a", "b/c"):
        Path(folder).mkdir(parents=True)
    Path("a/m.py").write_text("x = 1")
    seen = {fingerprint([Path("a")])}
    Path("b/n.py").write_text("x = 1")
    seen.add(fingerprint([Path("b")]))
    Path("b/n.py").rename("b/c/n.py")
    seen.add(fingerprint([Path("b")]))
    seen.add(fingerprint([Path("b")], [Path("a/m.py")]))
    version = metadata.version
    for package in ("islpy", "z3-solver", "cvc5"):
        with monkeypatch.context() as patched:
            patched.setattr(metadata, "version", lambda name, p=package: "0" if name == p else version(name))
            seen.add(fingerprint([Path("a")]))
    Path("a/m.py").write_text("x = 2")
    seen.add(fingerprint([Path("a")]))
    seen.add(fingerprint([Path("b")], [Path("a/m.py")]))
    assert len(seen) == 9


def test_certificates_are_written_of_a_file_that_is_kept() -> None:
    text = "HloModule m\nENTRY e { p = f32[4] parameter(0)\n ROOT r = f32[4] reverse(p), dimensions={0} }\n"
    Path("m.hlo").write_text(text)
    for more in ([], ["--certify", "proofs"]):
        assert run(["check", "m.hlo", "--cache", "kept.db", *more]) == 0
    assert list(Path("proofs").glob("*.smt2"))
