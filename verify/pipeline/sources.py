"""A file to check, and how its text is read: one table from suffix to kind. What lies in a folder: `folders.py`."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hloproof.models.line_ends import with_line_ends
from hloproof.results.errors import BadInput
from hloproof.results.files import LARGEST, read_named

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


def beginning(packed: bytes, size: int) -> bytes:
    """What the beginning of a packed file unpacks to, no more than some of it."""
    out = b""
    with suppress(zlib.error, EOFError):
        for piece in _inflated(packed):
            out += piece
            if len(out) >= size:
                break
    return out


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
