"""What `hloproof passes` prints: a table by pass, the whole compilation, what is not proved; or all of it as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from hloproof.pipeline.passes import WHOLE, Compilation, JudgedChange

_COLUMNS: Final = ("exact", "real", "rounding", "refuted", "unknown")
_IF_ANY: Final = "internal"
"""An error of this tool: a column only where there is one."""
_TIERS: Final = ("exact", "real", "rounding")


def weakest(judged: JudgedChange) -> str:
    """`refuted`, `unknown`, `internal`, or the weakest tier that a proof uses."""
    if judged.verdict != "proved":
        return judged.verdict
    return _TIERS[max((_TIERS.index(a["tier"]) for a in judged.answer["axioms"]), default=0)]


def text_lines(found: Compilation, verbose: bool = False) -> Iterator[str]:
    """The report. `verbose` also shows each pair that is proved."""
    yield from _table(found)
    for module in found.modules:
        of = [j for j in found.judged if j.module == module.module]
        name = module.module or "the module"
        for j in of:
            if not j.whole and (verbose or j.verdict != "proved"):
                yield from _pair(name, j)
        for j in of:
            if j.whole:
                yield f"{name}: first to last: {_said(j)}"
        broken = found.first_broken(module.module)
        if broken is not None:
            yield f"{name}: the first pass that changes what the program computes is {broken.change.name}"
    if found.interrupted:
        yield "interrupted: what was not judged by then is unknown"
    yield _summary(found)


def _table(found: Compilation) -> Iterator[str]:
    rows: dict[str, Counter[str]] = {}
    seconds: dict[str, float] = {}
    for j in found.judged:
        if not j.whole:
            rows.setdefault(j.change.name, Counter())[weakest(j)] += 1
            seconds[j.change.name] = seconds.get(j.change.name, 0.0) + j.seconds
    if not rows:
        return
    width = max(len("pass"), *map(len, rows))
    columns = (*_COLUMNS, *([_IF_ANY] if any(counts[_IF_ANY] for counts in rows.values()) else []))
    yield f"{'pass':{width}}  pairs" + "".join(f"{c:>10}" for c in columns) + "   seconds"
    for name, counts in rows.items():
        cells = "".join(f"{counts[c] or '.':>10}" for c in columns)
        yield f"{name:{width}}  {sum(counts.values()):5}{cells}{seconds[name]:10.2f}"
    yield ""


def _pair(name: str, j: JudgedChange) -> Iterator[str]:
    yield f"{name}: {j.change.name}: {_said(j)}"
    if j.verdict != "proved":
        yield f"  before: {j.change.before.path}"
        yield f"  after:  {j.change.after.path}"


def _said(j: JudgedChange) -> str:
    if j.verdict == "proved":
        return f"proved ({weakest(j)})"
    reason = j.answer["reason"]
    return f"{j.verdict}: {reason}" if reason else j.verdict


def _summary(found: Compilation) -> str:
    counts = Counter(j.verdict for j in found.judged if not j.whole)
    repeated = sum(d.repeated for d in found.modules)
    cached = sum(j.cached for j in found.judged)
    said = (
        ", ".join(f"{counts[v]} {v}" for v in ("proved", "refuted", "unknown", _IF_ANY) if counts[v])
        or "nothing changed"
    )
    return (
        f"{len(found.modules)} modules, {sum(counts.values())} changes: {said}; {repeated} dumps repeat the one before"
        f"{f', {cached} answers from the cache' if cached else ''}; {found.seconds:.1f} s"
    )


def as_json(found: Compilation) -> dict[str, Any]:
    """Everything that was found, as data."""
    modules = []
    for module in found.modules:
        broken = found.first_broken(module.module)
        of = [j for j in found.judged if j.module == module.module]
        modules.append(
            {
                "module": module.module,
                "repeated": module.repeated,
                "changes": [_change(j) for j in of if not j.whole],
                "whole": next((_change(j) for j in of if j.whole), None),
                "first_broken": broken.change.name if broken else None,
            }
        )
    return {
        "schema": "hloproof-passes/1",
        "modules": modules,
        "seconds": round(found.seconds, 3),
        "interrupted": found.interrupted,
    }


def _change(j: JudgedChange) -> dict[str, Any]:
    files = {"before": str(j.change.before.path), "after": str(j.change.after.path)}
    pipeline = {} if j.change.name == WHOLE else {"pipeline": j.change.after.pipeline}
    return {"pass": j.change.name, **pipeline, **files, **j.answer, "cached": j.cached}
