"""What lies in a folder, and what becomes of it: the one place where that is decided, for every command.

Each entry is an input, a memory plan, or what is known to lie beside inputs. What is none of them is told as passed
over; nothing is left out in silence.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Final, Literal

from hloproof.models.errors import InputError
from hloproof.models.line_ends import with_line_ends
from hloproof.pipeline.dump_names import place_of
from hloproof.pipeline.sources import (
    GZIP,
    PACKED,
    REFUSED,
    SUFFIXES,
    Source,
    beginning,
    module_name,
    suffix_of,
    without_packing,
)
from hloproof.results.errors import BadInput
from hloproof.results.files import STANDARD_INPUT
from hloproof.results.plain import escaped

PLAN: Final = "-buffer-assignment.txt"
"""How the name of a module's memory plan ends."""

BESIDE: Final[frozenset[str]] = frozenset(
    ".ll .bc .s .o .a .so .ptx .cubin .sass .hsaco .dot .html .css .js .json .jsonl .pbtxt .debug_options .mlir .log "
    ".out .err .md .rst .pdf .png .svg .csv .tsv .toml .yaml .yml .ini .cfg .xml .sarif .lock .sqlite .db .npy .npz "
    ".py .pyc .ipynb .sh .c .cc .cpp .cu .h .hpp .smt2 .proof .plan .textproto".split()
)
"""The suffixes of what compilers and people leave beside modules: it is no input, and is not told."""

_REPORT_NAMES: Final = (
    *("-buffer-assignment-values.txt", "-buffer-assignment.pb", "-live-range.txt", "thunk_sequence.txt"),
    *("-memory-usage-report.txt", "-memory-usage-report.pb", "compile_options.pb", "topology.pb"),
)
"""How the names end of the reports of XLA, and of what it was asked."""

Use = Literal["input", "plan", "beside", "other"]


@dataclass(frozen=True)
class FolderEntry:
    """What lies in a folder, or in one inside, and is no folder."""

    place: Path
    use: Use

    @property
    def source(self) -> Source:
        """The file to check, where it is an input."""
        return Source(self.place.as_posix(), SUFFIXES[suffix_of(self.place)])


def find_sources(
    paths: Iterable[str],
    kind: str | None = None,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    others: list[str] | None = None,
) -> list[Source]:
    """The files named and the inputs inside the folders named, each once, in stable order.

    `include` and `exclude` are patterns as of a shell, for paths below the folders. What is passed over in folders,
    without being known to be no input, is added to `others`.

    Raises BadInput for a missing path, a named file of unknown suffix (unless `kind` says what it is) and a folder
    without any input.
    """
    found: dict[str, Source] = {}
    for path in paths:
        if path == STANDARD_INPUT:
            found[path] = Source(path, kind or "hlo")
            continue
        place = Path(path)
        if not path:  # a variable of a shell that nobody has set; `Path` takes it for the working folder
            raise BadInput("an empty name is no file or folder")
        if place.is_dir():
            inside = entries(place, include, exclude)
            sources = {e.place.as_posix(): e.source for e in inside if e.use == "input"}
            if not sources:
                raise BadInput(f"{path}: no input in this folder; looked for {', '.join(SUFFIXES)}")
            found |= sources
            if others is not None:
                others += passed_over(inside)
        elif place.exists() or place.is_symlink():
            name = place.as_posix()
            name = f"./{name}" if name == STANDARD_INPUT else name  # a file of that name
            found[name] = Source(name, kind or _kind_of(place))
        else:
            raise BadInput(f"{path}: no such file or folder")
    return list(found.values())


def entries(folder: Path, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> list[FolderEntry]:
    """Everything below a folder that is chosen and no folder, in the order of the paths.

    Raises BadInput where a folder cannot be looked into, and for a pipe or device that has the name of an input: it
    would be waited for.
    """
    below = {p: p.relative_to(folder) for p in all_below(folder)}
    places = [p for p in below if _is_chosen(below[p].as_posix(), include, exclude)]
    found = {p: _use(p) for p in places if not p.is_dir() and suffix_of(p) != ".pb"}
    for place in places:
        if suffix_of(place) == ".pb" and not place.is_dir():
            found[place] = _use_of_buffer(place, found)
    found |= {p: "beside" for p, use in found.items() if use == "other" and _is_known(below[p])}
    return [FolderEntry(p, found[p]) for p in places if p in found]


def _is_known(below: Path) -> bool:
    """Whether what is no input lies beside inputs by its name; that in hidden folders is nobody's."""
    plain = Path(without_packing(below.name))
    is_hidden = any(part.startswith(".") for part in below.parts)
    return is_hidden or plain.suffix.lower() in BESIDE or plain.name.endswith(_REPORT_NAMES)


def passed_over(inside: Sequence[FolderEntry]) -> list[str]:
    """The names of what is read as nothing, and is not known to be no input: plans, too, that no module has."""
    modules = {e.place.parent / module_name(e.place) for e in inside if e.use == "input" and e.source.kind == "hlo"}
    plans = {plan for m in modules if (plan := plan_of_module(m)) is not None}
    return [e.place.as_posix() for e in inside if e.use == "other" or (e.use == "plan" and e.place not in plans)]


def told(others: Sequence[str]) -> str:
    """One line about what was passed over."""
    more = f" and {len(others) - _TOLD} more" if len(others) > _TOLD else ""
    return f"Passed over, as nothing says that they are inputs: {', '.join(map(escaped, others[:_TOLD]))}{more}"


_TOLD: Final = 5
"""So many names are told."""


def plan_of_module(module: Path) -> Path | None:
    """The plan that lies beside a module, given by its path without suffixes; None where there is none."""
    names = [f"{module.name}{PLAN}", *(["assignment.txt"] if module.name == "module" else [])]
    # A link that leads nowhere is one, and so is a folder or a pipe: whoever reads it says so.
    places = (module.with_name(name + end) for name in names for end in ("", *PACKED) if module.name)
    return next((p for p in places if _is_there(p)), None)


def _is_there(place: Path) -> bool:
    try:
        return place.exists() or place.is_symlink()
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:  # of which there is none
            raise
        return False


def all_below(folder: Path) -> list[Path]:
    """What is in a folder and in those inside, in the order of the paths. A link to a folder is one, unless it leads
    back to where it stands in. Raises BadInput where one cannot be looked into: all in it would be passed over; and
    where links to folders lead to folders with such links, so that there is no end of ways."""
    found: list[Path] = []
    waiting = [(folder, frozenset({folder.resolve()}), False)]
    linked = 0
    while waiting:
        inside, above, is_linked = waiting.pop()
        linked += is_linked
        if linked > _LINKED:
            raise BadInput(f"{folder.as_posix()}: more than {_LINKED} folders behind links; name those to look into")
        try:
            places = list(inside.iterdir())
        except OSError as error:
            raise BadInput(f"{inside.as_posix()}: {(error.strerror or str(error)).lower()}") from error
        found += places
        for place in places:
            if place.is_dir() and (real := place.resolve()) not in above:
                waiting.append((place, above | {real}, place.is_symlink()))
    return sorted(found)


_LINKED: Final = 4_000
"""So many links to folders are followed."""


def _is_chosen(below: str, include: Sequence[str], exclude: Sequence[str]) -> bool:
    if include and not any(fnmatch(below, pattern) for pattern in include):
        return False
    return not any(fnmatch(below, pattern) for pattern in exclude)


def _use(place: Path) -> Use:
    """What a file is that is no protocol buffer."""
    plain = Path(without_packing(place.name))
    if place.is_symlink() and not place.exists() and place.name.startswith(".#"):
        return "beside"  # so editors mark what they have open
    is_plan = plain.name.lower().endswith(PLAN)
    if is_plan or suffix_of(place) in SUFFIXES:
        _require_file(place)
        return "plan" if is_plan else "input" if suffix_of(place) != ".txt" else _use_of_text(place)
    return "other"


def _require_file(place: Path) -> None:
    """Raises BadInput for a pipe, a socket or a device. What is gone, or a link to it, is told by whoever reads it."""
    if place.exists() and not place.is_file():
        raise BadInput(f"{place.as_posix()}: a pipe, socket or device with the name of an input; name it to read it")


def _use_of_buffer(place: Path, found: Mapping[Path, Use]) -> Use:
    """`X.hlo.pb` is a module, and one that cannot be read is told; other buffers are of many kinds, and are modules
    where they can be read as one. Those whose module the compiler has written as text too are not read."""
    _require_file(place)
    plain = module_name(place)
    texts = (place.with_name(f"{plain}{end}{packed}") for packed in ("", ".gz") for end in (".txt", ".hlo"))
    if any(found.get(text) == "input" for text in texts):
        return "beside"
    if without_packing(place.name).lower().endswith(".hlo.pb"):
        return "input"
    try:
        Source(place.as_posix(), "hlo").read()
    except (BadInput, InputError):
        return "other"
    return "input"


_COMMENTS: Final = re.compile(r"/\*.*?(?:\*/|\Z)|//[^\n]*", re.DOTALL)
_MODULE: Final = re.compile(
    r"^[^\S\n]*(?:HloModule\b|ENTRY\b|%?[\w.-]+ (?:\((?=[^\n]*\) -> )[^\n]*)?\{[^\S\n]*$)", re.MULTILINE
)
"""How a module's header, or a computation, begins."""
_BEGINNING: Final = re.compile(
    r"(?:ROOT\s+)?%?[\w.-]+\s*=\s*(?:\(\)|\(*\w+\[)|%?[\w.-]+\s*\([\w.%-]+:\s*(?:\(\)|\(*\w+\[)"
)
"""How a text begins that has no header: with an instruction, or with a computation whose parameters are on lines of
their own."""


def _use_of_text(place: Path) -> Use:
    """Whether the beginning of a text looks like HLO; one that cannot be read is left to whoever reads it whole."""
    size = 1 << 16
    while True:
        try:
            with place.open("rb") as file:
                head = file.read(size)
        except OSError:
            return "input"
        whole = len(head) < size
        if head.startswith(GZIP):
            head = beginning(head, size)
        if head.startswith(tuple(REFUSED)):  # what is in it cannot be seen here
            return "input"
        if head.startswith(_PLAN_BEGINS):
            return "plan"
        if head.lstrip().startswith(_REPORTS):
            return "beside"
        # Letters of two or four bytes, too: whoever reads it says that it is no UTF-8, rather than pass it over.
        text = with_line_ends(head.replace(b"\0", b"").decode("utf-8", "replace").lstrip("\ufeff\ufffd"))
        bare = _COMMENTS.sub("", text).strip()
        if whole and not bare:  # a disk was full, or a machine was switched off: whoever reads it says so
            return "other" if place_of(without_packing(place.name)) is None else "input"
        if bare:
            return "input" if _MODULE.search(bare) or _BEGINNING.match(bare) else "other"
        size *= 16  # nothing but a comment until here


_PLAN_BEGINS: Final = b"BufferAssignment:"
_REPORTS: Final = (b"HloLiveRange", b"Total bytes used:", b"Memory Space:", b"; ModuleID")
"""How the files begin that a compiler writes beside its modules."""


def _kind_of(place: Path) -> str:
    kind = SUFFIXES.get(suffix_of(place))
    if kind is not None:
        return kind
    from difflib import get_close_matches

    known = ", ".join(SUFFIXES)
    near = get_close_matches(place.suffix, SUFFIXES, n=1)
    hint = f" (did you mean {near[0]}?)" if near else ""
    raise BadInput(f"{place.as_posix()}: unknown suffix {place.suffix!r}{hint}; known: {known}; or give --kind")
