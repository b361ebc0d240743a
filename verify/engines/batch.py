"""Many obligations at once: equal ones proved once, known ones taken from the cache, the others given to workers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from hloproof.engines.cache import Cache
from hloproof.engines.worker import OnResult, Task, prove_many
from hloproof.logic.normal_form import key
from hloproof.logic.obligation import Obligation, Outcome


@dataclass(frozen=True)
class Settings:
    """How to prove a batch. `jobs` 0 means one worker per core; `cache` None means no cache."""

    task: Task = field(default_factory=Task)
    jobs: int = 0
    total_seconds: float | None = None
    cache: Path | None = None
    certify: Path | None = None
    """The folder for certificates of what was proved, or None."""
    warn: Callable[[str], None] | None = None


def prove_all(obligations: Sequence[Obligation], settings: Settings, on_result: OnResult) -> None:
    """Prove every obligation and report each by its position. Positions come in no particular order.

    KeyboardInterrupt and whatever `on_result` raises end the run; what was decided is in the cache.
    """
    groups: dict[str, list[int]] = {}
    for number, obligation in enumerate(obligations):
        try:
            groups.setdefault(key(obligation), []).append(number)
        except KeyError as error:  # not closed: who stated it is wrong, and the others are not to suffer
            reason = f"the obligation `{obligation.label}` has a variable {error} that it does not declare"
            on_result(number, Outcome("internal", reason=reason))

    def report(group: Sequence[int], outcome: Outcome) -> None:
        values = [v for _, v in outcome.model]
        for position, number in enumerate(group):
            names = [name for name, _ in obligations[number].variables]
            mine = replace(outcome, model=tuple(zip(names, values, strict=True)) if values else ())
            # The time is counted once.
            on_result(number, mine if position == 0 else replace(mine, ms=0.0, stages=(("equal", 0.0),)))

    cache = Cache(settings.cache, settings.warn) if settings.cache is not None else None
    try:
        open_groups: list[tuple[str, list[int]]] = []
        for digest, group in groups.items():
            known = cache and cache.get(obligations[group[0]], settings.task.budget, settings.task.cross, digest)
            if known:
                _certify(settings, obligations[group[0]], known)
                report(group, known)
            else:
                open_groups.append((digest, group))

        def decided(position: int, outcome: Outcome) -> None:
            digest, group = open_groups[position]
            name = _certify(settings, obligations[group[0]], outcome)
            if cache:
                cache.put(obligations[group[0]], outcome, settings.task.budget, settings.task.cross, digest, name)
            report(group, outcome)

        prove_many(
            [obligations[group[0]] for _, group in open_groups],
            settings.jobs,
            settings.task,
            decided,
            settings.total_seconds,
        )
    finally:
        if cache:
            cache.close()


def _certify(settings: Settings, obligation: Obligation, outcome: Outcome) -> str:
    """Write the certificate of what was proved; returns its file's name, '' where there is none."""
    if settings.certify is None or outcome.verdict != "proved":
        return ""
    from hloproof.engines.certificate import write

    return write(obligation, outcome, settings.certify).name
