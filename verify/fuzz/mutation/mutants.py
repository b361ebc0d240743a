"""Mutants measure the fuzzers: each planted error is given to examples of the targets that run the changed line.

All code is imported once; for every mutant the process forks, the child exchanges the code of the changed function in
place, and examines examples until one fails. A child that crashes or runs too long has noticed the error as well. A
changed condition of a rewrite rule is given to the prover of rules.
"""

from __future__ import annotations

import math
import os
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final

from hloproof.fuzz.chunk import examine
from hloproof.fuzz.mutation.children import tried
from hloproof.fuzz.mutation.reach import ROOT, Reach, explore, forget, module_name
from hloproof.fuzz.mutation.rule_mutants import judged, rule_files, rule_sites
from hloproof.fuzz.mutation.sites import Site, mutated, sites
from hloproof.fuzz.target import Failure
from hloproof.fuzz.targets import target as find_target
from hloproof.processes.process import end_with_parent, isolate_children
from hloproof.results.verdict import Verdict

EQUIVALENT: Final = Path(__file__).with_name("equivalent_mutants.txt")
"""`because REASON` opens a group; below it one change a line, as `Site.key` writes it. `#` opens a comment."""

_BECAUSE: Final = "because "

WATCHED: Final[tuple[str, ...]] = (
    "models/indexing/box.py",
    "models/indexing/movement.py",
    "models/indexing/reshape.py",
    "models/indexing/window.py",
    "models/indexing/contraction.py",
    "models/indexing/reduction.py",
    "models/indexing/gather_scatter.py",
    "models/indexing/dynamic.py",
    "models/indexing/elementwise.py",
    "models/indexing/collective.py",
    "models/indexing/composition/composer.py",
    "models/indexing/composition/joins.py",
    "models/maps/indexing_map.py",
    "models/expressions/bounds.py",
    "models/simplifier/domain.py",
    "models/simplifier/simplify.py",
    "models/simplifier/rewriter.py",
    "models/simplifier/match.py",
    "models/simplifier/linear.py",
    "models/maps/text.py",
    "models/layouts/tiling.py",
    "models/layouts/physical.py",
    "models/layouts/memory_size.py",
    "verify/definitions/movement.py",
    "verify/definitions/window.py",
    "verify/definitions/contraction.py",
    "verify/definitions/gather_scatter.py",
    "verify/definitions/whole_lines.py",
    "verify/definitions/elementwise.py",
    "verify/definitions/collective.py",
    "verify/engines/isl/encode.py",
    "verify/engines/isl/basic_sets.py",
    "verify/engines/z3/encode.py",
    "verify/engines/enumeration.py",
    "verify/logic/evaluate.py",
    "verify/logic/normal_form.py",
    "verify/engines/structural/mixed_radix.py",
    "verify/engines/structural/intervals.py",
    "verify/engines/structural/symbolic_digits.py",
    "verify/claims/maps/equality.py",
    "verify/claims/maps/rewrite.py",
    "verify/claims/rules/statements.py",
    "verify/engines/nonlinear/prove.py",
    "verify/engines/nonlinear/encode_z3.py",
    "verify/engines/nonlinear/products.py",
    "verify/claims/asynchronous/hazard_checks.py",
    "verify/claims/asynchronous/orders.py",
    "models/dataflow/alias_classes.py",
    "models/interpreter/operations/movement.py",
    "models/interpreter/operations/window.py",
    "models/interpreter/operations/contraction.py",
    "models/interpreter/operations/gather_scatter.py",
    "models/interpreter/operations/reduction.py",
    "models/interpreter/operations/collective.py",
    "models/interpreter/layout.py",
    "models/interpreter/maps.py",
)
"""Where errors are planted: map builders, definitions, encoders, the simplifier, layouts, buffers, the interpreter."""

EXAMPLES: Final[dict[str, int]] = {
    "specs": 2000,
    "recorded": 2000,
    "ops": 9000,
    "maps": 2500,
    "rewrites": 800,
    "solvers": 1500,
    "layouts": 900,
    "async": 1500,
    "modules": 1200,
    "compositions": 1200,
    "rules": 300,
}
"""How many examples are drawn of each target."""
MOST: Final = 150
"""A mutant is tried on so many examples of each target that run the changed line."""
SECONDS_PER_EXAMPLE: Final = 15
"""An example that takes longer with an error planted has noticed it; the slowest takes two."""

IMPOSSIBLE, SURVIVED, PROVED = "!", "-", "="
"""What a child answers besides the name of what noticed the error."""


@dataclass(slots=True)
class Score:
    """Mutants by what became of them. Seconds are those until the error was noticed."""

    caught: list[tuple[Site, str, float]] = field(default_factory=list)
    survived: list[Site] = field(default_factory=list)
    equivalent: list[tuple[Site, str]] = field(default_factory=list)
    impossible: list[Site] = field(default_factory=list)
    """Changes that could not be put in place; they count for nothing."""
    unreached: list[Site] = field(default_factory=list)
    """Changes that no example runs; they count as survivors."""

    @property
    def done(self) -> int:
        missed = len(self.survived) + len(self.unreached)
        return missed + len(self.caught) + len(self.equivalent) + len(self.impossible)

    @property
    def judged(self) -> int:
        """How many count: those that were tried, and those that no example reaches."""
        return len(self.caught) + len(self.survived) + len(self.unreached)

    @property
    def percent(self) -> float:
        return 100.0 * len(self.caught) / self.judged if self.judged else 100.0


def all_sites(files: Sequence[str] | None = None) -> list[Site]:
    """Every site of the watched files and of the simplifier's rules, or of some files."""
    found: list[Site] = []
    for file in files or watched():
        found += rule_sites(file) if _is_rule(file) else sites(file, (ROOT / file).read_text(encoding="utf-8"))
    return found


def watched() -> tuple[str, ...]:
    """Every file that errors are planted in."""
    return WATCHED + rule_files()


def _is_rule(file: str) -> bool:
    return file.endswith(".rules")


def plant(site: Site) -> None:
    """Exchanges the code of the changed function in this process. Raises LookupError when it cannot be found."""
    path = ROOT / site.file
    tree = mutated(path.read_text(encoding="utf-8"), site.number)
    module = import_module(module_name(site.file))
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

    def named(inside: CodeType | None, wanted: str) -> CodeType | None:
        constants = () if inside is None else inside.co_consts
        return next((c for c in constants if isinstance(c, CodeType) and c.co_name == wanted), None)

    return named(named(code, owner) if owner else code, name)


def _functions(module: ModuleType) -> list[tuple[str, FunctionType]]:
    """The functions of a module and the methods of its classes, below any decoration, each with its class's name."""
    found: list[tuple[str, FunctionType]] = []
    for value in vars(module).values():
        found += [("", f) for f in _below(value)]
        if isinstance(value, type) and value.__module__ == module.__name__:
            found += [(value.__name__, f) for member in vars(value).values() for f in _below(member)]
    return found


def _below(value: Any) -> list[FunctionType]:
    """The function that a decorated one, a method or a property stands for, and those that it wraps itself."""
    if isinstance(value, FunctionType):
        return [value, *_below(getattr(value, "__wrapped__", None))]
    inner = (getattr(value, attribute, None) for attribute in ("__wrapped__", "__func__", "fget", "func"))
    return next((_below(found) for found in inner if found is not None), [])


def notice(examples: Sequence[tuple[str, str]]) -> str | None:
    """The target of the first example that fails with the error planted in this process; None when all pass."""
    for name, case in examples:
        try:
            examine(find_target(name), case, SECONDS_PER_EXAMPLE)
        except Failure:
            return name
    return None


def _noticed(site: Site, examples: Sequence[tuple[str, str]]) -> str:
    try:
        plant(site)
    except Exception:
        return IMPOSSIBLE
    forget()
    return notice(examples) or SURVIVED


def _judged(site: Site) -> str:
    verdict = judged(site)
    return PROVED if verdict is Verdict.PROVED else f"the prover of rules: {verdict}"


def explored(
    seed: int, files: Collection[str], jobs: int, counts: dict[str, int] = EXAMPLES, seconds: float = math.inf
) -> Reach:
    """Examples of all targets, with the lines of these files that they run; as many as can be traced in this time."""
    files = [f for f in files if not _is_rule(f)]
    if not files:
        return Reach()
    isolate_children()
    with ProcessPoolExecutor(jobs, get_context("spawn"), initializer=end_with_parent) as pool:
        return Reach(tuple(explore(counts, seed, files, pool, time.time() + seconds)))


def examples_for(reach: Reach, site: Site, seed: int, most: int = MOST) -> list[tuple[str, str]]:
    """Those that run the changed line, or else its statement, or else its function."""
    tried_in_turn = (reach.chosen(site.file, range(first, last + 1), most, seed) for first, last in site.ranges)
    return next((found for found in tried_in_turn if found), [])


def run(
    chosen: Sequence[Site],
    reach: Reach,
    seed: int = 0,
    seconds: float = 120.0,
    jobs: int = 1,
    total: float | None = None,
    show: Callable[[Score, int], None] | None = None,
    equivalent_too: bool = False,
    score: Score | None = None,
) -> Score:
    """Tries the sites; a child that takes longer than `seconds` counts as having noticed. When `total` seconds are up
    the sites that were not begun are not tried. Those listed as equivalent are tried only if `equivalent_too`. A
    `score` that is given holds what is known at any time, for a caller that may be interrupted."""
    for name in {name for name, _ in reach.examples}:
        find_target(name)
    for file in {s.file for s in chosen if not _is_rule(s.file)}:
        import_module(module_name(file))
    score = Score() if score is None else score
    excused = {} if equivalent_too else known_equivalent()

    def waiting() -> Iterator[Site]:
        for site in chosen:
            if site.key in excused:
                score.equivalent.append((site, excused[site.key]))
            elif not _is_rule(site.file) and not examples_for(reach, site, seed):
                score.unreached.append(site)
            else:
                yield site

    def answer(site: Site) -> str:
        os.chdir(tempfile.gettempdir())  # an internal error is written down where it happens
        return _judged(site) if _is_rule(site.file) else _noticed(site, examples_for(reach, site, seed))

    for site, said, spent in tried(waiting(), answer, jobs, seconds, math.inf if total is None else total):
        if said == PROVED:
            score.equivalent.append((site, "the changed rule is proved"))
        elif said in (IMPOSSIBLE, SURVIVED):
            (score.survived if said == SURVIVED else score.impossible).append(site)
        else:
            score.caught.append((site, said, spent))
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
    missed = [*score.survived, *score.unreached]
    out = [f"survived: {site}" for site in score.survived]
    out += [f"not reached: {site}" for site in score.unreached]
    out += [f"not planted: {site}" for site in score.impossible]
    reasons = Counter(reason for _, reason in score.equivalent)
    out += [f"equivalent: {count}, because {reason}" for reason, count in reasons.items()]
    by = Counter(name for _, name, _ in score.caught)
    out += [f"caught by {name}: {count}" for name, count in sorted(by.items())]
    caught_in = Counter(site.file for site, _, _ in score.caught)
    all_in = caught_in + Counter(site.file for site in missed)
    out += [f"{file}: {caught_in[file]} of {count}" for file, count in sorted(all_in.items())]
    times = sorted(seconds for _, _, seconds in score.caught)
    if times:
        out.append(f"half of them within {times[len(times) // 2]:.1f} s, all within {times[-1]:.1f} s")
    out.append(
        f"mutant score {score.percent:.1f}%: {len(score.caught)} caught, {len(score.survived)} survived, "
        f"{len(score.unreached)} not reached, {len(score.equivalent)} equivalent"
    )
    return out


def known_equivalent() -> dict[str, str]:
    """Changes that are listed because they change no answer: the reason by the key of the change."""
    found: dict[str, str] = {}
    reason = ""
    for line in EQUIVALENT.read_text(encoding="utf-8").splitlines():
        if line.startswith(_BECAUSE):
            reason = line.removeprefix(_BECAUSE)
        elif line.strip() and not line.startswith("#"):
            found[line.strip()] = reason
    return found
