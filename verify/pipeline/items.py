"""Files that hold a list of things judged one by one (rules, layouts, maps): each judged in a worker, and kept."""

from __future__ import annotations

import pickle
import signal
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass
from os import cpu_count
from time import monotonic
from typing import Any, Final

from hloproof.engines.budget import end_with_parent
from hloproof.engines.door import How
from hloproof.pipeline.engine_run import Stages, add_stages, how_of
from hloproof.pipeline.options import Options
from hloproof.pipeline.prover import Progress
from hloproof.pipeline.record_cache import RecordCache
from hloproof.results.verdict import ClaimResult, Verdict


@dataclass(frozen=True)
class ItemKind:
    """One kind of file: the claim that selects it, its reader, and the judge of one item."""

    claim: str
    record_kind: str
    parse: Callable[[str, str], Sequence[Any]]
    judge: Callable[[Any, str, How], ClaimResult]


def _parse_rules(text: str, file: str) -> Sequence[Any]:
    from hloproof.models.rules.text import parse_rules

    return parse_rules(text, file)


def _judge_rule(item: Any, file: str, how: How) -> ClaimResult:
    from hloproof.claims.rules.claims import check_rule

    return check_rule(item, file, how.cross)


def _parse_layouts(text: str, file: str) -> Sequence[Any]:
    from hloproof.models.specs.layouts import parse_layouts

    return parse_layouts(text, file)


def _judge_layout(item: Any, file: str, how: How) -> ClaimResult:
    from hloproof.pipeline.layout_specs import check_layout

    return check_layout(item, file, how)


def _parse_maps(text: str, file: str) -> Sequence[Any]:
    from hloproof.models.specs.maps import parse_map_specs

    return parse_map_specs(text, file)


def _judge_map(item: Any, file: str, how: How) -> ClaimResult:
    from hloproof.pipeline.map_specs import check_map_spec

    return check_map_spec(item, file, how)


def _parse_tensor_rules(text: str, file: str) -> Sequence[Any]:
    from hloproof.models.tensor_rules.text import parse_tensor_rules
    from hloproof.tensor_rules.prove import check_form

    rules = parse_tensor_rules(text, file)
    for rule in rules:
        check_form(rule)
    return rules


def _judge_tensor_rule(item: Any, file: str, how: How) -> ClaimResult:
    from hloproof.tensor_rules.judge import check_tensor_rule

    return check_tensor_rule(item, file, how)


ITEM_KINDS: Final[dict[str, ItemKind]] = {
    "rules": ItemKind("rule", "rule", _parse_rules, _judge_rule),
    "layout": ItemKind("layout", "layout", _parse_layouts, _judge_layout),
    "trules": ItemKind("tensor-rule", "rule", _parse_tensor_rules, _judge_tensor_rule),
    "map": ItemKind("definition", "map", _parse_maps, _judge_map),
}


@dataclass(frozen=True)
class Item:
    """One thing to judge, and where it stands."""

    kind: str
    file: str
    content: Any


def judge_item(item: Item, options: Options) -> tuple[ClaimResult, Stages]:
    """The verdict on one item, and what the engines' stages did; an exception of the judge is an internal verdict."""
    kind, stages = ITEM_KINDS[item.kind], Stages()
    try:
        return kind.judge(item.content, item.file, how_of(options, stages)), stages
    except Exception as error:
        return undecided(item, f"{type(error).__name__}: {error}", Verdict.INTERNAL), stages


def judge_items(
    items: Sequence[Item],
    options: Options,
    stages: Stages,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Iterable[tuple[int, ClaimResult]]:
    """Each item's position and verdict, as they are decided; what is in the cache is first. What the engines' stages
    did is added to `stages`.

    `executor` is any from concurrent.futures; by default local processes. What the total time leaves undecided is
    unknown. KeyboardInterrupt ends the workers and goes on.
    """
    cache = RecordCache(options.cache)
    keys = [pickle.dumps((item.kind, item.file, item.content, options.cross)) for item in items] if items else []
    todo: list[int] = []
    done = 0
    for number, key in enumerate(keys):
        kept = cache.get(key)
        if kept is None:
            todo.append(number)
        else:
            done += 1
            yield number, kept
    if not todo:
        return
    pool = executor or ProcessPoolExecutor(min(options.jobs or cpu_count() or 1, len(todo)), initializer=_quiet)
    started = monotonic()
    pending: dict[Future[tuple[ClaimResult, Stages]], int] = {
        pool.submit(judge_item, items[n], options): n for n in todo
    }
    try:
        for future in as_completed(list(pending), timeout=options.total_seconds):
            number = pending.pop(future)
            try:
                result, spent = future.result()
                add_stages(stages, spent)
            except BrokenProcessPool:
                result = undecided(items[number], "the worker ended before it answered")
            else:
                cache.put(keys[number], result)
            done += 1
            if progress is not None:
                progress(done, len(items), result.instruction)
            yield number, result
            if options.fail_fast and result.verdict is Verdict.REFUTED:
                break
        reason = "not tried: the check ended at the first refutation (--fail-fast)"
    except TimeoutError:
        reason = f"the total time ran out after {monotonic() - started:.0f} s (--total-seconds)"
    except (KeyboardInterrupt, GeneratorExit):
        _end(pool, executor is None)
        raise
    finally:
        cache.close()
    _end(pool, executor is None and bool(pending))
    for number in pending.values():
        yield number, undecided(items[number], reason)


def undecided(item: Item, reason: str, verdict: Verdict = Verdict.UNKNOWN) -> ClaimResult:
    """A record that says only why there is no verdict."""
    kind = ITEM_KINDS[item.kind]
    name = str(getattr(item.content, "name", ""))
    line, column = getattr(item.content, "line", 0), getattr(item.content, "column", 0)
    return ClaimResult(
        f"{item.file}#{name}/{kind.claim}",
        kind.record_kind,
        item.file,
        "",
        line,
        column,
        name,
        kind.claim,
        verdict,
        reason=reason,
    )


def unreadable(file: str, reason: str, verdict: Verdict) -> ClaimResult:
    """The record of a file that was not read to its end: for want of time, or because of an error of this tool."""
    return ClaimResult(f"{file}#/input", "spec", file, "", 0, 0, "", "input", verdict, reason=reason)


class InThisProcess(Executor):
    """Runs what it is given at once; for workers that may not have processes of their own."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


def _quiet() -> None:
    """Workers leave Ctrl-C to the process that started them, and end with it."""
    end_with_parent()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _end(pool: Executor, by_force: bool) -> None:
    """End the pool: at once where `by_force`, without waiting for what is in hand; else when its workers have ended, so
    that nothing of it is left for the interpreter to clean up."""
    processes = list((getattr(pool, "_processes", None) or {}).values()) if by_force else []
    pool.shutdown(wait=not by_force, cancel_futures=True)
    for process in processes:
        with suppress(OSError, ValueError):
            process.terminate()
