"""Mutants measure the fuzzers: each planted error is given to the targets that should notice it.

All code is imported once; for every mutant the process forks, the child exchanges the code of the changed function in
place, and runs the targets until one fails. A child that crashes or runs too long has noticed the error as well.
"""

from __future__ import annotations

import os
import random
import re
import select
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final

from hypothesis import strategies as st

from verify.fuzz.generate_operations import BY_NAME
from verify.fuzz.mutation import Site, mutated, sites
from verify.fuzz.target import Target
from verify.fuzz.targets import target as find_target

ROOT: Final = Path(__file__).resolve().parents[2]

WATCHED: Final[dict[str, tuple[str, ...]]] = {
    "models/indexing/box.py": ("ops", "modules"),
    "models/indexing/movement.py": ("ops", "modules"),
    "models/indexing/reshape.py": ("ops", "modules"),
    "models/indexing/window.py": ("ops",),
    "models/indexing/contraction.py": ("ops",),
    "models/indexing/reduction.py": ("ops",),
    "models/indexing/gather_scatter.py": ("ops",),
    "models/indexing/dynamic.py": ("ops",),
    "models/indexing/elementwise.py": ("ops",),
    "models/indexing/collective.py": ("ops",),
    "models/indexing/composer.py": ("modules",),
    "models/indexing_map.py": ("maps", "modules"),
    "models/bounds.py": ("maps",),
    "models/domain.py": ("maps",),
    "models/simplify.py": ("maps",),
    "models/rewriter.py": ("maps",),
    "models/match.py": ("maps",),
    "models/linear.py": ("maps",),
    "models/map_text.py": ("maps",),
    "models/tiling.py": ("layouts",),
    "models/physical.py": ("layouts",),
    "models/memory_size.py": ("layouts",),
    "verify/definitions/movement.py": ("ops",),
    "verify/definitions/window.py": ("ops",),
    "verify/definitions/contraction.py": ("ops",),
    "verify/definitions/gather_scatter.py": ("ops",),
    "verify/definitions/whole_lines.py": ("ops",),
    "verify/definitions/elementwise.py": ("ops",),
    "verify/definitions/collective.py": ("ops",),
    "verify/encode_isl.py": ("solvers", "modules"),
    "verify/encode_z3.py": ("solvers",),
    "verify/enumerate_points.py": ("solvers",),
    "verify/evaluate.py": ("solvers",),
    "verify/asynchronous/hazard_checks.py": ("async",),
    "verify/asynchronous/orders.py": ("async",),
    "models/buffers.py": ("async",),
    "models/interpreter/movement.py": ("ops",),
    "models/interpreter/window.py": ("ops",),
    "models/interpreter/contraction.py": ("ops",),
    "models/interpreter/gather_scatter.py": ("ops",),
    "models/interpreter/reduction.py": ("ops",),
    "models/interpreter/collective.py": ("ops",),
    "models/interpreter/layout.py": ("layouts",),
    "models/interpreter/maps.py": ("maps", "ops"),
}
"""Which targets should notice an error in which file."""

_VARIANT: Final = re.compile("-(variadic|batched|tuple|more)$")
_MOVEMENT: Final = ("broadcast", "reshape", "transpose", "reverse", "slice", "pad", "concatenate")
_WINDOWS: Final = ("reduce-window", "select-and-scatter", "convolution")
_DYNAMIC: Final = ("dynamic-slice", "dynamic-update-slice")
_CONTRACTIONS: Final = ("dot", "ragged-dot", "scaled-dot")
_GATHERS: Final = ("gather", "scatter", "scatter-variadic", "scatter-batched")
_LINES: Final = ("reduce", "reduce-variadic", "sort", "sort-variadic", "topk", "fft", "batch-norm", "batch-norm-tuple",
                 "triangular")  # fmt: skip
_COLLECTIVES: Final = ("collective", "collective-more")

ABOUT: Final[dict[str, tuple[str, ...]]] = {
    "models/indexing/movement.py": _MOVEMENT,
    "models/indexing/reshape.py": ("reshape",),
    "models/indexing/window.py": _WINDOWS,
    "models/indexing/contraction.py": (*_CONTRACTIONS, "triangular"),
    "models/indexing/reduction.py": _LINES,
    "models/indexing/gather_scatter.py": _GATHERS,
    "models/indexing/dynamic.py": _DYNAMIC,
    "models/indexing/elementwise.py": ("elementwise", "copy"),
    "models/indexing/collective.py": _COLLECTIVES,
    "verify/definitions/movement.py": _MOVEMENT,
    "verify/definitions/window.py": _WINDOWS,
    "verify/definitions/contraction.py": (*_CONTRACTIONS, "reduce", "reduce-variadic"),
    "verify/definitions/gather_scatter.py": (*_GATHERS, *_DYNAMIC),
    "verify/definitions/whole_lines.py": _LINES,
    "verify/definitions/elementwise.py": ("elementwise",),
    "verify/definitions/collective.py": _COLLECTIVES,
    "models/interpreter/movement.py": (*_MOVEMENT, *_DYNAMIC, "bitcast-convert", "copy"),
    "models/interpreter/window.py": _WINDOWS,
    "models/interpreter/contraction.py": _CONTRACTIONS,
    "models/interpreter/gather_scatter.py": _GATHERS,
    "models/interpreter/reduction.py": ("reduce", "reduce-variadic", "sort", "sort-variadic", "topk"),
    "models/interpreter/collective.py": _COLLECTIVES,
}
"""Which operations a file is about, where the function's name does not tell."""

EQUIVALENT: Final = Path(__file__).with_name("equivalent_mutants.txt")
"""Changes that change no answer, one per line: `file | function | change | reason`."""


@dataclass(slots=True)
class Score:
    """Mutants by what became of them. Seconds are those until the error was noticed."""

    caught: list[tuple[Site, str, float]] = field(default_factory=list)
    survived: list[Site] = field(default_factory=list)
    equivalent: list[tuple[Site, str]] = field(default_factory=list)
    impossible: list[Site] = field(default_factory=list)
    """Changes that could not be put in place; they count for nothing."""

    @property
    def percent(self) -> float:
        judged = len(self.caught) + len(self.survived)
        return 100.0 * len(self.caught) / judged if judged else 100.0


def all_sites(files: Sequence[str] | None = None) -> list[Site]:
    """Every site of the watched files that exist, or of some of them."""
    found: list[Site] = []
    for file in files or WATCHED:
        path = ROOT / file
        if path.is_file():
            found += sites(file, path.read_text(encoding="utf-8"))
    return found


def known_equivalent() -> dict[tuple[str, str, str], str]:
    """(file, function, change) to the reason."""
    found = {}
    for line in EQUIVALENT.read_text(encoding="utf-8").splitlines() if EQUIVALENT.is_file() else ():
        parts = [p.strip() for p in line.split("|")]
        if len(parts) == 4 and not line.startswith("#"):
            found[parts[0], parts[1], parts[2]] = parts[3]
    return found


def plant(site: Site) -> None:
    """Exchanges the code of the changed function in this process. Raises LookupError when it cannot be found."""
    path = ROOT / site.file
    tree = mutated(path.read_text(encoding="utf-8"), site.number)
    module = import_module(site.file.removesuffix(".py").replace("/", "."))
    top = site.function.split(".")[0]
    code = compile(tree, str(path), "exec", dont_inherit=True)
    for owner, function in _functions(module):
        if function.__code__.co_name != top or function.__module__ != module.__name__:
            continue
        new = _code_named(code, owner, top)
        if new is not None and len(new.co_freevars) == len(function.__code__.co_freevars):
            function.__code__ = new


def _code_named(code: CodeType, owner: str, name: str) -> CodeType | None:
    """The code of the function in a module's code, or in the class `owner` there."""
    inside = code
    if owner:
        classes = [c for c in code.co_consts if isinstance(c, CodeType) and c.co_name == owner]
        if not classes:
            return None
        inside = classes[0]
    return next((c for c in inside.co_consts if isinstance(c, CodeType) and c.co_name == name), None)


def _functions(module: ModuleType) -> list[tuple[str, FunctionType]]:
    """The functions of a module and the methods of its classes, below any decoration, each with its class's name."""
    found: list[tuple[str, FunctionType]] = []
    for value in vars(module).values():
        found += [("", f) for f in _below(value)]
        if isinstance(value, type) and value.__module__ == module.__name__:
            found += [(value.__name__, f) for member in vars(value).values() for f in _below(member)]
    return found


def _below(value: Any) -> list[FunctionType]:
    for attribute in ("__wrapped__", "__func__", "fget", "func"):
        inner = getattr(value, attribute, None) if not isinstance(value, (FunctionType, type)) else None
        if inner is not None:
            return _below(inner)
    if isinstance(value, FunctionType):
        wrapped = getattr(value, "__wrapped__", None)
        return [value, *(_below(wrapped) if wrapped is not None else [])]
    return []


def focused(site: Site) -> Target | None:
    """The target `ops` on the operations that the changed function is named after, or that its file is about."""
    found = find_target("ops")
    about = ABOUT.get(site.file)
    if about is None:
        return None
    stems = {k: _VARIANT.sub("", k).replace("-", "_") for k in about}
    named = [k for k, stem in stems.items() if stem in site.function]
    kinds = tuple(k for k in named if not any(stems[k] != stems[o] and stems[k] in stems[o] for o in named)) or about
    return replace(found, cases=lambda: st.sampled_from(kinds).flatmap(lambda k: BY_NAME[k]()))


def notice(site: Site, seed: int, examples: int) -> str | None:
    """The target that fails with the error planted in this process; None when all pass."""
    from verify.fuzz.chunk import first_failure

    for name in WATCHED[site.file]:
        chosen = (focused(site) if name == "ops" else None) or find_target(name)
        if first_failure(chosen, seed, examples) is not None:
            return name
    return None


def _child(site: Site, seed: int, examples: int, out: int) -> None:
    """Never returns."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            plant(site)
        except Exception:
            os.write(out, b"!")
            os._exit(0)
        answer = notice(site, seed, examples) or "-"
    except BaseException as error:
        answer = f"crash ({type(error).__name__})"
    os.write(out, answer.encode())
    os._exit(0)


def run(
    chosen: Sequence[Site], seed: int = 0, examples: int = 150, seconds: float = 60.0, jobs: int = 1,
    total: float | None = None, show: Callable[[Score, int], None] | None = None,
) -> Score:
    """Tries the sites; a child that takes longer than `seconds` counts as having noticed. When `total` seconds are up
    the sites that were not begun are not tried."""
    for name in {t for s in chosen for t in WATCHED[s.file]}:
        find_target(name)
    for file in {s.file for s in chosen}:
        import_module(file.removesuffix(".py").replace("/", "."))
    score, excused = Score(), known_equivalent()
    waiting = list(reversed(chosen))
    begun = time.monotonic()
    running: dict[int, tuple[int, Site, float]] = {}
    while waiting or running:
        if total is not None and time.monotonic() - begun > total:
            waiting.clear()
        while waiting and len(running) < jobs:
            site = waiting.pop()
            reason = excused.get((site.file, site.function, site.change))
            if reason is not None:
                score.equivalent.append((site, reason))
                continue
            reading, writing = os.pipe()
            sys.stdout.flush()
            pid = os.fork()
            if pid == 0:
                os.close(reading)
                _child(site, seed, examples, writing)
            os.close(writing)
            running[reading] = (pid, site, time.monotonic())
        ready, _, _ = select.select(list(running), [], [], 0.5)
        for reading, (pid, site, started) in list(running.items()):
            spent = time.monotonic() - started
            if reading in ready:
                answer = os.read(reading, 200).decode() or "crash"
            elif spent > seconds:
                os.kill(pid, signal.SIGKILL)
                answer = "time"
            else:
                continue
            os.waitpid(pid, 0)
            os.close(reading)
            del running[reading]
            if answer == "!":
                score.impossible.append(site)
            elif answer == "-":
                score.survived.append(site)
            else:
                score.caught.append((site, answer, spent))
            if show is not None:
                show(score, len(chosen))
    return score


def sample(count: int | None, seed: int, files: Sequence[str] | None = None) -> list[Site]:
    """So many sites drawn at random, or all."""
    found = all_sites(files)
    if count is None or count >= len(found):
        return found
    return random.Random(seed).sample(found, count)


def lines(score: Score) -> list[str]:
    """The score in lines of text."""
    out = [f"survived: {site}" for site in score.survived]
    out += [f"not planted: {site}" for site in score.impossible]
    out += [f"equivalent: {site}: {reason}" for site, reason in score.equivalent]
    by = Counter(name for _, name, _ in score.caught)
    times = sorted(seconds for _, _, seconds in score.caught)
    for name, count in sorted(by.items()):
        out.append(f"caught by {name}: {count}")
    files = sorted({s.file for s in score.survived} | {s.file for s, _, _ in score.caught})
    for file in files:
        caught = sum(s.file == file for s, _, _ in score.caught)
        total = caught + sum(s.file == file for s in score.survived)
        out.append(f"{file}: {caught} of {total}")
    if times:
        out.append(f"half of them within {times[len(times) // 2]:.1f} s, all within {times[-1]:.1f} s")
    out.append(
        f"mutant score {score.percent:.1f}%: {len(score.caught)} caught, {len(score.survived)} survived, "
        f"{len(score.equivalent)} equivalent"
    )
    return out
