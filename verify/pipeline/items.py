"""Files that hold a list of things judged one by one (rules, layouts, maps): each judged in a worker, and kept."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from hloproof.engines.door import How
from hloproof.models.stages import OutOfTime, seconds_left
from hloproof.pipeline.engine_run import Stages, add_stages, how_of
from hloproof.pipeline.options import Options
from hloproof.pipeline.prover import Progress
from hloproof.pipeline.record_cache import RecordCache
from hloproof.processes.pool import work_on
from hloproof.results.verdict import ClaimResult, Found, Verdict


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

    return check_rule(item, file, how)


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


def _parse_pairs(text: str, file: str) -> Sequence[Any]:
    from hloproof.pipeline.pair_specs import parse_pairs

    return parse_pairs(text, file)


def _judge_pair(item: Any, file: str, how: How) -> ClaimResult:
    from hloproof.pipeline.pair_specs import check_pair

    return check_pair(item, file)


ITEM_KINDS: Final[dict[str, ItemKind]] = {
    "rules": ItemKind("rule", "rule", _parse_rules, _judge_rule),
    "layout": ItemKind("layout", "layout", _parse_layouts, _judge_layout),
    "trules": ItemKind("tensor-rule", "rule", _parse_tensor_rules, _judge_tensor_rule),
    "pairs": ItemKind("pair", "spec", _parse_pairs, _judge_pair),
    "map": ItemKind("definition", "map", _parse_maps, _judge_map),
}


@dataclass(frozen=True)
class Item:
    """One thing to judge, and where it stands."""

    kind: str
    file: str
    content: Any


@dataclass(frozen=True)
class Judging:
    """What a worker is told that judges items."""

    options: Options

    @property
    def seconds(self) -> float:
        return self.options.item_seconds

    @property
    def megabytes(self) -> int:
        return self.options.item_megabytes

    @property
    def late(self) -> str:
        return f"no verdict within {self.options.item_seconds:g} seconds (--item-seconds)"

    def begin(self) -> Callable[[Item], tuple[ClaimResult, Stages]]:
        return self._judge

    def _judge(self, item: Item) -> tuple[ClaimResult, Stages]:
        stages = Stages()
        return ITEM_KINDS[item.kind].judge(item.content, item.file, how_of(self.options, stages)), stages

    def here(self, item: Item) -> tuple[ClaimResult, Stages]:
        """The verdict by this process."""
        try:
            return self._judge(item)
        except Exception as error:
            return self.failed(item, error)

    def lost(self, asked: Item, reason: str) -> tuple[ClaimResult, Stages]:
        return undecided(asked, reason), Stages()

    def failed(self, asked: Item, error: Exception) -> tuple[ClaimResult, Stages]:
        if isinstance(error, OutOfTime):
            return self.lost(asked, str(error))
        return undecided(asked, f"{type(error).__name__}: {error}", Verdict.INTERNAL), Stages()


def judge_items(
    items: Sequence[Item],
    options: Options,
    stages: Stages,
    decided: Callable[[int, ClaimResult], None],
    progress: Progress | None = None,
    here: bool = False,
) -> None:
    """Tell `decided` each item's position and verdict, as they are known; what is in the cache is first, and nothing
    is where certificates are to be written. What the engines' stages did is added to `stages`.

    Each is judged by a process that is killed when the item's seconds or megabytes are over; then the item, and no
    other, is unknown. So is what the total time leaves undecided. KeyboardInterrupt ends the workers and goes on.
    `here`: in this process and without limits, for whoever has changed the code of this process.
    """
    cache = RecordCache(None if options.certify is not None else options.cache)
    keys = [pickle.dumps((item.kind, item.file, item.content, options.cross)) for item in items] if items else []
    todo: list[int] = []
    done = 0

    def answered(position: int, answer: tuple[ClaimResult, Stages]) -> None:
        nonlocal done
        number, (result, spent) = todo[position], answer
        add_stages(stages, spent)
        cache.put(keys[number], result)
        done += 1
        if progress is not None:
            progress(done, len(items), result.instruction)
        told.add(number)
        decided(number, result)
        if options.fail_fast and result.verdict is Verdict.REFUTED:
            raise _Enough

    told: set[int] = set()
    try:
        for number, key in enumerate(keys):
            kept = cache.get(key)
            if kept is None:
                todo.append(number)
            else:
                done += 1
                decided(number, kept)
        seconds = seconds_left()
        total = options.total_seconds if seconds is None else seconds
        judging = Judging(options)
        with suppress(_Enough):
            for position, number in enumerate(todo if here else ()):
                answered(position, judging.here(items[number]))
            if not here:
                work_on([items[n] for n in todo], options.jobs, judging, answered, total)
    finally:
        cache.close()
    for number in todo:
        if number not in told:
            decided(
                number, undecided(items[number], "not tried: the check ended at the first refutation (--fail-fast)")
            )


class _Enough(Exception):
    """The first refutation, where that is all that was asked for."""


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
        Found(verdict, reason=reason, claim=kind.claim),
    )


def unreadable(file: str, reason: str, verdict: Verdict) -> ClaimResult:
    """The record of a file that was not read to its end: for want of time, or because of an error of this tool."""
    return ClaimResult(f"{file}#/input", "spec", file, "", 0, 0, "", Found(verdict, reason=reason, claim="input"))
