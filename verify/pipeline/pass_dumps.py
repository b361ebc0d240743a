"""Folders of pass dumps, as XLA writes them with --xla_dump_hlo_pass_re: which files are of one module, in what order.

    module_0004.jit_f.before_optimizations.txt
    module_0004.jit_f.0005.simplification.after_algsimp.before_dce.txt
    module_0004.jit_f.0023.copy-insertion.after_removing_unnecessary_copies.txt
    module_0004.jit_f.cpu_after_optimizations.txt

The part before the number is the module's; it is missing where a folder holds the dumps of one module only. Files
beside them (memory plans, machine code, graphs) are left alone.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Final

from hloproof.pipeline.dump_names import FIRST, LAST, is_without_name, place_of
from hloproof.pipeline.folders import entries
from hloproof.pipeline.sources import Source, without_packing
from hloproof.results.errors import BadInput

UNNAMED: Final = "no dump by its name"
"""What stands for the pass of a module whose file has no name of a dump."""


@dataclass(frozen=True)
class Dump:
    """One file: the module as it was after a pass of a pipeline."""

    path: Path
    pipeline: str
    after: str
    order: int = 0
    """Where it stands by its name."""
    digest: bytes = b""
    """Of the text as it was found; nothing where that was not looked at, as there is nothing to compare it with."""

    def read(self) -> str:
        """The text. Raises BadInput, also where it is another than was found: a compiler may still write its dumps, and
        what is said of two pairs is said of one text between them."""
        text = Source(str(self.path), "hlo").read()
        if self.digest and digest_of(text) != self.digest:
            raise BadInput(f"{self.path}: changed since the folder was looked into")
        return text


def digest_of(text: str) -> bytes:
    """What tells texts apart."""
    return sha256(text.encode()).digest()


@dataclass(frozen=True)
class Change:
    """Two consecutive dumps whose texts differ. `name` is the pass that stands between them."""

    name: str
    before: Dump
    after: Dump


@dataclass(frozen=True)
class Dumps:
    """The dumps of one module, first to last, without those that repeat the one before."""

    module: str
    dumps: tuple[Dump, ...]
    left_out: tuple[tuple[int, Dump], ...]
    """The files that were left out, as their text is that of the file before, each behind the number of `dumps` that
    come before it."""
    is_apart: bool = False
    """These may be dumps of another module of the folder, whose name was too long for the names of these files."""

    @property
    def repeated(self) -> int:
        """How many files repeat the one before."""
        return len(self.left_out)

    @property
    def is_cut_short(self) -> bool:
        """What the compiler began with is there, which it writes first, and what it ended with is not: it was killed,
        or a disk was full."""
        there = {d.after for d in (*self.dumps, *(d for _, d in self.left_out))}
        return FIRST in there and LAST not in there

    @property
    def at_one_place(self) -> tuple[Dump, Dump] | None:
        """Two that differ and stand at one place by their names: a compiler counts the dumps of a module, so these are
        of two compilations, of which one may have written over the other."""
        for n, dump in self.left_out:  # is a text with the one before, not with one of its number that follows
            if n < len(self.dumps) and self.dumps[n].order == dump.order:
                return dump, self.dumps[n]
        return next(((a, b) for a, b in pairwise(self.dumps) if a.order == b.order), None)

    def changes(self, since: str = "") -> list[Change]:
        """Consecutive pairs; with `since` from this pass, or the first of this pipeline, on, whether or not it changed
        anything itself: none where there is none of this name."""
        found = [Change(b.after, a, b) for a, b in zip(self.dumps, self.dumps[1:], strict=False)]
        return found[min(self._places(since), default=len(found)) :] if since else found

    def has(self, since: str) -> bool:
        """Whether there is a dump after this pass, or of this pipeline."""
        return bool(self._places(since))

    def _places(self, since: str) -> list[int]:
        places = [max(n - 1, 0) for n, d in enumerate(self.dumps) if since in (d.after, d.pipeline)]
        return places + [n - 1 for n, d in self.left_out if since in (d.after, d.pipeline)]


def find_dumps(folder: Path, others: list[str] | None = None) -> list[Dumps]:
    """The modules of a folder, by name. What is a module and has no name of a dump is one of its own: nothing says what
    to compare it with, and it may be what a compiler wrote last. What is passed over, without being known to be no
    input, is added to `others`.

    Raises BadInput when it is no folder or holds no dumps.
    """
    if not folder.is_dir():
        raise BadInput(f"{folder}: no such folder")
    inside = entries(folder)
    numbered: dict[str, list[Dump]] = {}
    for e in inside:
        if e.place.parent == folder and (found := place_of(without_packing(e.place.name))) is not None:
            dump = Dump(e.place, found.pipeline, found.after, found.order)
            numbered.setdefault(found.module, []).append(dump)
    modules = []
    for module, dumps in numbered.items():
        dumps.sort(key=lambda dump: (dump.order, dump.path.name))
        found_of = _without_repeats(module, dumps)
        modules.append(replace(found_of, is_apart=is_without_name(module, numbered)))
    if not any(len(d.dumps) + d.repeated > 1 for d in modules):
        raise BadInput(
            f"{folder} holds no pass dumps; XLA writes them with "
            "XLA_FLAGS='--xla_dump_to=DIR --xla_dump_hlo_as_text --xla_dump_hlo_pass_re=.*'"
        )
    known = {dump.path for dumps in numbered.values() for dump in dumps}
    for e in inside:
        if e.use == "input" and e.source.kind == "hlo" and e.place not in known:
            modules.append(Dumps(e.place.relative_to(folder).as_posix(), (Dump(e.place, "", UNNAMED),), ()))
    if others is not None:
        others += [e.place.as_posix() for e in inside if e.use == "other" and e.place not in known]
    return sorted(modules, key=lambda d: d.module)


def _without_repeats(module: str, dumps: Sequence[Dump]) -> Dumps:
    kept: list[Dump] = []
    repeated: list[tuple[int, Dump]] = []
    last = b""
    for dump in dumps:
        digest = digest_of(dump.read())
        if digest != last:
            kept.append(replace(dump, digest=digest))
        else:
            repeated.append((len(kept), dump))
        last = digest
    return Dumps(module, tuple(kept), tuple(repeated))


_STANDARD_ERROR: Final = 2
"""The descriptor; what Python calls so may be no file, as in a notebook."""


def run_with_dumps(program: Sequence[str], folder: Path) -> None:
    """Runs the program in a process of its own, with its output on standard error, and every pass dumped to `folder`.

    Flags of the environment are kept but those that leave modules out, JAX's cache of compilations is not used. Raises
    BadInput when the program cannot be started or ends with another status than 0.
    """
    environment = environment_with_dumps(folder)
    try:
        status = subprocess.run(program, env=environment, stdout=_STANDARD_ERROR, check=False).returncode
    except OSError as error:
        raise BadInput(f"{program[0]}: {(error.strerror or str(error)).lower()}") from error
    if status:
        raise BadInput(f"{' '.join(program)}: ended with status {status}")


DUMP_FLAGS: Final[Mapping[str, str | bool | int]] = {
    "xla_dump_hlo_as_text": True,
    "xla_dump_hlo_pass_re": ".*",
    "xla_dump_hlo_pipeline_re": ".*",
    "xla_dump_hlo_module_re": ".*",
    "xla_dump_max_hlo_modules": -1,
    "xla_dump_include_timestamp": True,
}
"""What a compiler is told besides the folder. The last flag of a name counts: where those of the environment leave
modules or passes out, nobody would be told. Of two processes each counts its modules from 0: only the time before their
names keeps one from writing over the dumps of the other."""


def environment_with_dumps(folder: Path) -> dict[str, str]:
    """The environment of a process that dumps every pass to `folder`, which is made, and has to be empty.

    Raises BadInput where it is not, and where flags cannot name it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise BadInput(f"{folder} is not empty; dumps of two runs cannot be told apart")
    place = str(folder.resolve())
    if any(c.isspace() or c in "'\"" for c in place):
        raise BadInput(f"{place}: XLA_FLAGS cannot name a folder with blanks or quotes")
    dumps = " ".join(f"--{name}={value}" for name, value in {"xla_dump_to": place, **DUMP_FLAGS}.items())
    return {
        **os.environ,
        "XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} {dumps}".strip(),
        "JAX_ENABLE_COMPILATION_CACHE": "false",
    }
