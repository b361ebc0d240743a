"""Which files a check reads, and as what: one table from suffix to kind."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Final

from hloproof.models.errors import InputError
from hloproof.models.line_ends import with_line_ends
from hloproof.pipeline.dump_names import place_of
from hloproof.results.errors import BadInput
from hloproof.results.files import LARGEST, STANDARD_INPUT, read_named

SUFFIXES: Final[dict[str, str]] = {
    ".hlo": "hlo",
    ".txt": "hlo",  # pass dumps: module_0003.jit_f.0012.simplification.after_cse.before_dce.txt
    ".pb": "hlo",  # protocol buffers: module_0003.jit_f.before_optimizations.hlo.pb
    ".rules": "rules",
    ".trules": "trules",
    ".map": "map",
    ".pairs": "pairs",
    ".layout": "layout",
}
KINDS: Final[tuple[str, ...]] = tuple(dict.fromkeys(SUFFIXES.values()))
"""The kinds of input, as `--kind` names them."""

REFUSED: Final[dict[bytes, str]] = {
    b"PK\x03\x04": "is a zip archive; unpack it first",
    b"\x28\xb5\x2f\xfd": "is zstd-compressed; decompress it first (unzstd)",
    b"BZh": "is bzip2-compressed; decompress it first (bunzip2)",
    b"\xfd7zXZ": "is xz-compressed; decompress it first (unxz)",
}
"""How compressed files begin, and what to do with them."""

GZIP: Final = b"\x1f\x8b"

PACKED: Final[tuple[str, ...]] = (".gz", ".zst", ".bz2", ".xz", ".zip")
"""The suffixes of compressed files: what is packed is an input where it is one without. What is not read is told."""


@dataclass(frozen=True)
class Source:
    """One file to check. `name` is the path as it is reported, with `/` between folders; `-` for standard input."""

    name: str
    kind: str

    def read(self) -> str:
        """The text. Raises BadInput when it cannot be read or is not text."""
        return text_of_file(read_named(self.name), self.name)


def text_of_file(data: bytes, name: str) -> str:
    """The text of a file: unpacked, and out of a protocol buffer where its name says that it is one.

    Raises BadInput for what is no text, InputError for a buffer that is no module.
    """
    data = unpacked(data, name)
    if suffix_of(Path(name)) == ".pb" and not data.startswith(tuple(REFUSED)):
        from hloproof.models.hlo.proto.text import hlo_text

        return hlo_text(data, name)
    return decode(data, name)


def unpacked(data: bytes, name: str) -> bytes:
    """The data, out of gzip where it is in it. Raises BadInput for a damaged file and for one beyond `LARGEST`,
    which is counted before anything is kept."""
    if not data.startswith(GZIP):
        return data
    try:
        length = 0
        for piece in _inflated(data):
            length += len(piece)
            if length > LARGEST:
                raise BadInput(f"{name} unpacks to more than {LARGEST >> 20} MiB")
        return b"".join(_inflated(data))
    except zlib.error as error:
        raise BadInput(f"{name} is a damaged gzip file: {error}") from error
    except EOFError as error:
        raise BadInput(f"{name} is a damaged gzip file: it ends too early") from error


def _inflated(data: bytes) -> Iterator[bytes]:
    """What is in gzip, in pieces: a file may be several packed ones, one behind the other, which unpack to all of them.
    Raises EOFError where the end is missing, and zlib.error where something else stands behind it."""
    stream = zlib.decompressobj(wbits=31)
    for start in range(0, len(data), _PACKED):
        part = data[start : start + _PACKED]
        while part:
            if stream.eof:
                if not (part := part.lstrip(b"\0")):  # what fills up a block of a tape
                    break
                stream = zlib.decompressobj(wbits=31)
            yield stream.decompress(part, _UNPACKED)
            part = stream.unused_data if stream.eof else stream.unconsumed_tail
    yield stream.flush()
    if not stream.eof:
        raise EOFError


_PACKED: Final = 1 << 16
_UNPACKED: Final = 1 << 20
"""Bytes that are unpacked at once, before and after."""


def decode(data: bytes, name: str) -> str:
    """UTF-8 text without its byte order mark. Raises BadInput that says what the data is where that can be told."""
    for magic, what in REFUSED.items():
        if data.startswith(magic):
            raise BadInput(f"{name} {what}")
    head = data[:4096]
    if b"\0" in head or _control_bytes(head) > len(head) // 20:
        raise BadInput(f"{name} is binary; a module in a protocol buffer is read from a file that is named *.hlo.pb")
    try:
        return with_line_ends(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise BadInput(f"{name}:{line}:{column}: not UTF-8 text") from error


def _control_bytes(head: bytes) -> int:
    return sum(1 for b in head if b < 9 or 13 < b < 32)


def find_sources(
    paths: Iterable[str], kind: str | None = None, include: Sequence[str] = (), exclude: Sequence[str] = ()
) -> list[Source]:
    """The files named and the files of known suffix inside the folders named, each once, in stable order.

    Of a folder's `.txt` files those are taken that hold an HLO module, or nothing at all where by their names they are
    to hold one: a folder of dumps has reports, memory plans and machine code beside the modules. Of `.pb` files that
    are not named `*.hlo.pb`, those are taken that can be read as one.
    `include` and `exclude` are patterns as of a shell, for paths below the folders.

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
            inside = list(inputs_in(place, include, exclude))
            if not inside:
                raise BadInput(f"{path}: no input in this folder; looked for {', '.join(SUFFIXES)}")
            found |= {s.name: s for s in inside}
        elif place.exists() or place.is_symlink():
            name = place.as_posix()
            name = f"./{name}" if name == STANDARD_INPUT else name  # a file of that name
            found[name] = Source(name, kind or _kind_of(place))
        else:
            raise BadInput(f"{path}: no such file or folder")
    return list(found.values())


def inputs_in(folder: Path, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> Iterator[Source]:
    """The files of known suffix below a folder; raises BadInput as `find_sources` does."""
    for place in all_below(folder):
        below = place.relative_to(folder).as_posix()
        if _is_chosen(below, include, exclude) and _is_input(place):
            suffix = suffix_of(place)
            if suffix != ".pb" or (_holds_a_buffer(place) and not _is_known_without(place, folder, include, exclude)):
                yield Source(place.as_posix(), SUFFIXES[suffix])


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


def _is_input(place: Path) -> bool:
    suffix = suffix_of(place)
    there = place.is_file() or _leads_nowhere(place)
    return suffix in SUFFIXES and there and (suffix != ".txt" or _holds_a_module(place))


def _leads_nowhere(place: Path) -> bool:
    """A link to what is not there, or to itself: whoever reads it says so, rather than pass it over in silence. Editors
    mark what they have open by links that lead nowhere, `.#name`."""
    return place.is_symlink() and not place.exists() and not place.name.startswith(".#")


def _is_known_without(place: Path, folder: Path, include: Sequence[str], exclude: Sequence[str]) -> bool:
    """The compiler has written the same module as text too, and that is read."""
    plain = module_name(place)
    texts = (place.with_name(f"{plain}{end}{packed}") for packed in ("", ".gz") for end in (".txt", ".hlo"))
    return any(_is_chosen(text.relative_to(folder).as_posix(), include, exclude) and _is_input(text) for text in texts)


def _holds_a_buffer(place: Path) -> bool:
    """`X.hlo.pb` is a module, and one that cannot be read is told; other buffers are of many kinds, and are modules
    where they can be read as one."""
    if without_packing(place.name).lower().endswith(".hlo.pb"):
        return True
    try:
        Source(place.as_posix(), "hlo").read()
    except (BadInput, InputError):
        return False
    return True


def suffix_of(place: Path) -> str:
    """The suffix that says what a file is, in small letters: `.hlo` of `a.hlo.gz` and of `A.HLO`."""
    return Path(without_packing(place.name)).suffix.lower()


def without_packing(name: str) -> str:
    """The name of what is packed: `a.hlo` of `a.hlo.gz`."""
    return name[: -len(suffix)] if (suffix := Path(name).suffix).lower() in PACKED else name


def module_name(place: Path) -> str:
    """The name of a module's file without what says that it is one: `a` of `a.txt`, `a.hlo.pb` and `a.HLO.GZ`."""
    plain = Path(without_packing(place.name))
    is_hlo_buffer = plain.suffix.lower() == ".pb" and Path(plain.stem).suffix.lower() == ".hlo"
    return Path(plain.stem).stem if is_hlo_buffer else plain.stem


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


def _holds_a_module(place: Path) -> bool:
    """Whether the beginning of a text looks like HLO; one that cannot be read is left to whoever reads it whole."""
    size = 1 << 16
    while True:
        try:
            with place.open("rb") as file:
                head = file.read(size)
        except OSError:
            return True
        whole = len(head) < size
        if head.startswith(GZIP):
            head = _beginning(head, size)
        if head.startswith(tuple(REFUSED)):  # what is in it cannot be seen here
            return True
        if head.startswith(_REPORTS):
            return False
        # Letters of two or four bytes, too: whoever reads it says that it is no UTF-8, rather than pass it over.
        text = with_line_ends(head.replace(b"\0", b"").decode("utf-8", "replace").lstrip("\ufeff\ufffd"))
        bare = _COMMENTS.sub("", text).strip()
        if whole and not bare:  # a disk was full, or a machine was switched off: whoever reads it says so
            return place_of(without_packing(place.name)) is not None
        if bare:
            return _MODULE.search(bare) is not None or _BEGINNING.match(bare) is not None
        size *= 16  # nothing but a comment until here


def _beginning(packed: bytes, size: int) -> bytes:
    """What the beginning of a packed file unpacks to, no more than some of it."""
    out = b""
    with suppress(zlib.error, EOFError):
        for piece in _inflated(packed):
            out += piece
            if len(out) >= size:
                break
    return out


_REPORTS: Final = (b"BufferAssignment:", b"HloLiveRange", b"Total bytes used:", b"; ModuleID")
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
